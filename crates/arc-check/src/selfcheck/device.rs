//! Whether a device gives what the reference gives: the conformance suite of `gpu-kernels`, by the
//! million.

use crate::conformance::{self, Case, Cases, ProgramTally, Tally};
use gpu_kernels::Engine;
use gpu_kernels::device::emulated::{EmulatedDevice, Emulation, LaneOrder};
use gpu_kernels::device::interpreted::{Interpretation, InterpretedDevice};
use gpu_kernels::device::{Device, DeviceError, Unavailable, open};
use gpu_kernels::operations::OPERATIONS;

use arc_dsl::{Grid, Program, Task};
use rayon::iter::{
    IndexedParallelIterator, IntoParallelIterator, IntoParallelRefIterator, ParallelIterator,
};

/// Cases of an operation that are made and compared at a time: memory stays flat.
const PORTION: u64 = 500;

/// Programs that are run at a time.
const PROGRAMS: usize = 100;

/// A device that can be held against the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checked {
    /// The kernels on the CPU.
    Emulated,
    /// The PTX of the kernels on the CPU.
    Interpreted,
    /// The first NVIDIA GPU.
    Cuda,
}

/// Why nothing could be checked.
#[derive(Debug, thiserror::Error)]
pub enum NotChecked {
    /// There is no such device.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    /// The device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

/// Checks every operation on its share of so many random cases: what came of each, in the order of
/// [`OPERATIONS`]. `done` is told how many are through, in portions.
pub fn operations(
    device: Checked,
    cases: u64,
    seed: u64,
    done: impl Fn(u64) + Sync,
) -> Result<Vec<Tally>, NotChecked> {
    let share = cases.div_ceil(OPERATIONS.len() as u64);
    let rounds: Vec<u64> = (0..share.div_ceil(PORTION)).collect();
    let gpu = match device {
        Checked::Cuda => Some(Engine::new(open::gpu(0)?)),
        Checked::Emulated | Checked::Interpreted => None,
    };
    let mut tallies = vec![Tally::default(); OPERATIONS.len()];
    for round in rounds {
        let count = (share - round * PORTION).min(PORTION);
        let made = (0..OPERATIONS.len()).into_par_iter().map(|opcode| {
            // Seeds next to each other must not make portions alike.
            let number = (opcode as u64).wrapping_mul(0xD1B5_4A32_D192_ED03) ^ round;
            let mut cases = Cases::new(
                seed.wrapping_mul(0x9E37_79B9_7F4A_7C15)
                    .wrapping_add(number),
            );
            let tries = (0..count * 8).filter_map(|_| cases.of(opcode));
            tries.take(count as usize).collect::<Vec<Case>>()
        });
        let checked: Vec<Result<Tally, NotChecked>> = match &gpu {
            Some(engine) => {
                let made: Vec<Vec<Case>> = made.collect();
                made.into_iter()
                    .map(|cases| one_operation(engine, cases))
                    .collect()
            }
            None => made
                .enumerate()
                .map(|(opcode, cases)| match device {
                    Checked::Interpreted => one_operation(&interpreted()?, cases),
                    _ => one_operation(&emulated(opcode as u64 + round)?, cases),
                })
                .collect(),
        };
        for (sum, tally) in tallies.iter_mut().zip(checked) {
            let tally = tally?;
            done(tally.cases());
            sum.add(tally);
        }
    }
    Ok(tallies)
}

fn one_operation<D: Device>(engine: &Engine<D>, cases: Vec<Case>) -> Result<Tally, NotChecked> {
    let mut tally = Tally::default();
    for (_, part) in conformance::check(engine, cases)? {
        tally.add(part);
    }
    Ok(tally)
}

/// An emulated device; its number decides in which order lanes run.
pub(crate) fn emulated(number: u64) -> Result<Engine<EmulatedDevice>, Unavailable> {
    let order = match number % 3 {
        0 => LaneOrder::Ascending,
        1 => LaneOrder::Descending,
        _ => LaneOrder::Random(number),
    };
    let emulation = Emulation {
        order,
        ..Emulation::default()
    };
    Ok(Engine::new(open::emulated(0, &emulation)?))
}

pub(crate) fn interpreted() -> Result<Engine<InterpretedDevice>, Unavailable> {
    let device = open::interpreted(0, &Interpretation::default())?;
    Ok(Engine::new(device))
}

/// Runs every program that the device can run on the inputs of its own task, and compares.
pub fn programs(
    device: Checked,
    programs: &[Program],
    tasks: &[Task],
) -> Result<ProgramTally, NotChecked> {
    let with_inputs = |program: &Program| {
        let own = tasks.iter().filter(|task| task.id == program.task_id());
        let inputs = own.flat_map(|task| task.pairs().map(|(_, pair)| (*pair.input).clone()));
        (program.clone(), inputs.collect::<Vec<Grid>>())
    };
    let all: Vec<_> = programs.par_iter().map(with_inputs).collect();
    let mut sum = ProgramTally::default();
    for (number, part) in all.chunks(PROGRAMS).enumerate() {
        sum.add(match device {
            Checked::Cuda => conformance::programs(&Engine::new(open::gpu(0)?), part)?,
            Checked::Emulated => conformance::programs(&emulated(number as u64)?, part)?,
            Checked::Interpreted => conformance::programs(&interpreted()?, part)?,
        });
    }
    Ok(sum)
}
