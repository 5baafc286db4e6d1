//! The one conformance suite, on every device that there may be: a device that is not here is
//! reported as ignored.
//!
//! `ARC_CASES` sets the number of random cases an operation and device (240), `ARC_SEED` the seed.
//! A test is named after device and operation, so that `cargo test --test conformance -- rot90`
//! runs one operation on all.

use std::process::ExitCode;

use arc_check::conformance::{self, Cases, ResultTally};
use arc_dsl::generate::Generator;
use arc_dsl::{Grid, Primitive, Program, Value, builtin};
use gpu_kernels::batch::{Column, GridBatch};
use gpu_kernels::device::cuda::CudaDevice;
use gpu_kernels::device::emulated::{EmulatedDevice, Emulation, LaneOrder};
use gpu_kernels::device::{Device, Unavailable, open};
use gpu_kernels::operations::OPERATIONS;
use gpu_kernels::{BailOut, Engine};
use libtest_mimic::{Arguments, Failed, Trial};

/// A device of the suite, made anew for each test.
trait Backend: Copy + Send + 'static {
    type Device: Device;
    fn device(self) -> Result<Self::Device, Unavailable>;
}

#[derive(Clone, Copy)]
struct Emulated(LaneOrder);

impl Backend for Emulated {
    type Device = EmulatedDevice;

    fn device(self) -> Result<EmulatedDevice, Unavailable> {
        let emulation = Emulation {
            order: self.0,
            ..Emulation::default()
        };
        open::emulated(0, &emulation)
    }
}

#[derive(Clone, Copy)]
struct Cuda;

impl Backend for Cuda {
    type Device = CudaDevice;

    fn device(self) -> Result<CudaDevice, Unavailable> {
        open::gpu(0)
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    let orders = [
        ("emulated, lanes ascending", LaneOrder::Ascending),
        ("emulated, lanes descending", LaneOrder::Descending),
        ("emulated, lanes at random", LaneOrder::Random(7)),
    ];
    for (name, order) in orders {
        instantiate(name, Emulated(order), &mut trials);
    }
    instantiate("cuda", Cuda, &mut trials);
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// The suite for one device.
fn instantiate<B: Backend>(name: &str, backend: B, trials: &mut Vec<Trial>) {
    let missing = backend.device().err();
    if let Some(reason) = &missing {
        eprintln!("{name}: ignored: {reason}");
    }
    let mut add = |test: &str, run: fn(B, usize) -> Result<(), Failed>, opcode: usize| {
        let run = move || run(backend, opcode);
        let trial = Trial::test(format!("{name}::{test}"), run);
        trials.push(trial.with_ignored_flag(missing.is_some()));
    };
    for (opcode, operation) in OPERATIONS.iter().enumerate() {
        add(operation.name, random_cases::<B>, opcode);
    }
    add(
        "built-in programs",
        |backend, _| built_in_programs(backend),
        0,
    );
    add("random programs", |backend, _| random_programs(backend), 0);
    add(
        "results of any type",
        |backend, _| results_of_any_type(backend),
        0,
    );
    add(
        "batches of every size",
        |backend, _| batches_of_every_size(backend),
        0,
    );
    add(
        "grids of every size",
        |backend, _| grids_of_every_size(backend),
        0,
    );
}

fn setting(name: &str, otherwise: u64) -> u64 {
    let set = std::env::var(name).ok();
    set.and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

fn random_cases<B: Backend>(backend: B, opcode: usize) -> Result<(), Failed> {
    let engine = Engine::new(backend.device()?);
    let mut cases = Cases::new(setting("ARC_SEED", 1) ^ (opcode as u64) << 32);
    let count = setting("ARC_CASES", 240) as usize;
    let made: Vec<_> = (0..count * 8)
        .filter_map(|_| cases.of(opcode))
        .take(count)
        .collect();
    let total = made.len();
    let tally = conformance::check(&engine, made)?
        .remove(&opcode)
        .unwrap_or_default();
    if let Some(first) = &tally.first {
        return Err(format!(
            "{} of {total} cases differ; the first:\n{first}",
            tally.different
        )
        .into());
    }
    // A row that is hardly ever compared shows nothing.
    let least = (count as u64 / 8).min(30);
    if total < count || tally.same < least {
        return Err(format!("{total} cases made, too few compared: {tally}").into());
    }
    Ok(())
}

fn all_same(tally: &conformance::ProgramTally, least: u64) -> Result<(), Failed> {
    if let Some(first) = &tally.first {
        return Err(format!(
            "{} evaluations differ; the first:\n{first}",
            tally.different
        )
        .into());
    }
    if tally.same < least {
        return Err(format!("too few compared: {tally:?}").into());
    }
    Ok(())
}

fn built_in_programs<B: Backend>(backend: B) -> Result<(), Failed> {
    let inputs =
        |built_in: &builtin::BuiltIn| (0..12).map(|pair| built_in.input(5, pair, 30)).collect();
    let programs: Vec<(Program, Vec<Grid>)> = builtin::all()
        .iter()
        .map(|built_in| (built_in.program().clone(), inputs(built_in)))
        .collect();
    all_same(
        &conformance::programs(&Engine::new(backend.device()?), &programs)?,
        200,
    )
}

fn random_programs<B: Backend>(backend: B) -> Result<(), Failed> {
    let mut generator = Generator::new(setting("ARC_SEED", 1));
    let mut programs = Vec::new();
    for number in 0..2000 {
        let program = generator.program(1 + number % 12)?;
        let inputs = (0..3).filter_map(|_| match generator.value(arc_dsl::Type::Grid) {
            Value::Grid(grid) => Some((*grid).clone()),
            _ => None,
        });
        let inputs = inputs.collect();
        programs.push((program, inputs));
    }
    all_same(
        &conformance::programs(&Engine::new(backend.device()?), &programs)?,
        300,
    )
}

/// Programs with loops and lists, and every primitive on whatever it takes: what each gives is
/// compared where it is, since lists stay on the device.
fn results_of_any_type<B: Backend>(backend: B) -> Result<(), Failed> {
    let engine = Engine::new(backend.device()?);
    let count = setting("ARC_CASES", 240) * 5;
    let mut tally = ResultTally::default();
    for portion in 0..count.div_ceil(300) {
        let seed = setting("ARC_SEED", 1)
            .wrapping_mul(0x9E37_79B9_7F4A_7C15)
            .wrapping_add(portion);
        let cases = conformance::random_results(seed, 300.min(count - portion * 300));
        tally.add(conformance::results(&engine, cases)?);
    }
    if let Some(first) = &tally.first {
        let different = tally.different;
        return Err(format!("{different} results differ; the first:\n{first}").into());
    }
    if tally.with_arena < count / 8 || tally.failing < count / 200 {
        return Err(format!("too few compared: {tally:?}").into());
    }
    // Bounds of memory and rounds are hardly ever met.
    let full = tally.bail_outs.get(&BailOut::Arena).copied().unwrap_or(0)
        + tally.bail_outs.get(&BailOut::Rounds).copied().unwrap_or(0);
    if full > count / 100 {
        return Err(format!("too many need more memory or rounds: {tally:?}").into());
    }
    Ok(())
}

/// As many grids as end in the middle of a warp's work, and many.
fn batches_of_every_size<B: Backend>(backend: B) -> Result<(), Failed> {
    let engine = Engine::new(backend.device()?);
    for count in [0, 1, 31, 32, 33, 100_000] {
        let grids: Vec<Grid> = (0..count)
            .map(|number| {
                let mut grid = Grid::filled(1 + number % 3, 1 + number % 5, 0);
                grid.cells_mut()[0] = (number % 10) as i8;
                grid
            })
            .collect();
        let mirrored = engine.batch_hmirror(&GridBatch::new(&grids))?;
        if mirrored.len() != count {
            return Err(format!("{} results of {count}", mirrored.len()).into());
        }
        for (grid, result) in grids.iter().zip(mirrored.grids()) {
            let result = result?;
            let mut rows: Vec<&[i8]> = grid.rows().collect();
            rows.reverse();
            if result.width() != grid.width() || !result.rows().eq(rows) {
                return Err(format!("{grid:?} gives {result:?}").into());
            }
        }
    }
    Ok(())
}

/// All sizes up to what the device holds, and past it.
fn grids_of_every_size<B: Backend>(backend: B) -> Result<(), Failed> {
    let engine = Engine::new(backend.device()?);
    let interpreter = arc_dsl::Interpreter::default();
    let mut grids = Vec::new();
    for height in 1..=34usize {
        for width in 1..=34usize {
            let cells = (0..height * width).map(|at| (at * at % 10) as i8).collect();
            grids.push(Grid::from_cells(height, width, cells));
        }
    }
    let batch = GridBatch::new(&grids);
    for primitive in [Primitive::Rot90, Primitive::Hmirror, Primitive::Mostcolor] {
        let results = engine.batch(primitive, None, &[Column::Grids(&batch)])?;
        for (grid, result) in grids.iter().zip(results) {
            let fits = grid.height() <= 32 && grid.width() <= 32;
            let value = Value::from(grid.clone());
            let expected = interpreter.call(&Value::from(primitive), &[&value])?;
            if result
                != if fits {
                    Ok(expected)
                } else {
                    Err(BailOut::Grid)
                }
            {
                return Err(format!("{primitive} of {grid:?} gives {result:?}").into());
            }
        }
    }
    Ok(())
}
