//! [`Row`]: one work in batches of one size, on the device and on the CPU.

use std::fmt;
use std::time::{Duration, Instant};

use arc_dsl::Value;
use gpu_kernels::device::{Device, DeviceError};
use gpu_kernels::interface::{EVALUATION_BYTES, Representation};
use gpu_kernels::{Arguments, Engine, Evaluation, Results, Verdict};
use serde::Serialize;

use super::cpu::Cpu;
use super::inputs::Load;
use super::timing::{Effort, Timing, repeat};
use super::work::{Section, Work};
use super::{DeviceBenchError, Difference};
use crate::table::thousands;

/// The most results of a batch that are compared with the CPU's; they are spread evenly over it.
const COMPARED: usize = 1_000;

/// The times of one work in a batch of one size. All times are seconds for the whole batch.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Row {
    /// The section of the benchmark.
    pub(crate) section: Section,
    /// The operation or pipeline.
    pub(crate) name: String,
    /// Its family.
    pub(crate) family: &'static str,
    /// How many programs take turns.
    pub(crate) programs: usize,
    /// The mean number of instructions of an evaluation.
    pub(crate) operations: f64,
    /// Evaluations of the batch, one grid each.
    pub(crate) grids: usize,
    /// The kernel alone, by the device's clock, writing results to device memory.
    pub(crate) kernel: Timing,
    /// The kernel alone, writing only verdicts.
    pub(crate) kernel_verdicts: Timing,
    /// Wall-clock time from packed grids on the host to results on the host: allocating memory, uploading arguments,
    /// preparing evaluations, running, fetching verdicts and results, freeing memory.
    pub(crate) fetched: Timing,
    /// Wall-clock time with the arguments already on the device: preparing evaluations, running, fetching verdicts.
    pub(crate) verdicts: Timing,
    /// The part of `verdicts` that goes into preparing evaluations, on the host.
    pub(crate) prepare: Timing,
    /// The compiled programs, run by a machine on one core.
    pub(crate) one_core: Timing,
    /// The same on all workers.
    pub(crate) all_cores: Timing,
    /// Grids per second by `kernel`.
    pub(crate) kernel_per_second: f64,
    /// Instructions per second by `kernel`, over all grids.
    pub(crate) operations_per_second: f64,
    /// The mean number of bytes of device memory that the kernel reads and writes for an evaluation.
    pub(crate) bytes_per_grid: f64,
    /// Bytes per second by `kernel`.
    pub(crate) bytes_per_second: f64,
    /// As a share of the bandwidth of a copy.
    pub(crate) share_of_copy: Option<f64>,
    /// Results that were compared with the CPU's; all were equal.
    pub(crate) compared: usize,
    /// Evaluations with an expected grid whose result the device found to match it.
    pub(crate) right: usize,
    /// Evaluations that the device bailed out of, including those that fail.
    pub(crate) bail_outs: usize,
}

/// A measured row, and the time that measuring it once takes.
#[derive(Debug)]
pub(super) struct Measured {
    pub(super) row: Row,
    pub(super) once: Duration,
}

/// Measures a work on a load whose arguments are on the device.
pub(super) fn measure<D: Device>(
    engine: &Engine<D>,
    cpu: &mut Cpu,
    work: &Work,
    load: &Load<'_>,
    arguments: &Arguments<D>,
    effort: Effort,
) -> Result<Measured, DeviceBenchError> {
    let began = Instant::now();
    let programs = engine.load(&work.on_device)?;
    let fetching = load.fetching();

    // The first launch warms up; its results are checked.
    let (verdicts, results) = engine.run(&programs, &load.pool, &fetching)?;
    let checked = check(cpu, work, load, &verdicts, &results)?;
    drop(results);

    let part = effort.part(6);
    let prepared = engine.prepare(&programs, arguments, &fetching)?;
    engine.launch(&programs, arguments, &prepared)?;
    let kernel = repeat(part, || engine.timed(&programs, arguments, &prepared))?;
    drop(prepared);

    let prepared = engine.prepare(&programs, arguments, &load.evaluations)?;
    engine.launch(&programs, arguments, &prepared)?;
    let unfetched = engine.verdicts(&prepared)?;
    let at = verdicts.iter().zip(&unfetched).position(|(a, b)| a != b);
    if let Some(at) = at {
        let [expected, found] = [verdicts[at], unfetched[at]].map(|verdict| format!("{verdict:?}"));
        return Err(Difference::error(work, load.inputs[at], expected, found));
    }
    let kernel_verdicts = repeat(part, || engine.timed(&programs, arguments, &prepared))?;
    drop(prepared);
    let warm = began.elapsed();

    let mut preparing = Vec::new();
    let verdicts = repeat(part, || {
        let began = Instant::now();
        let prepared = engine.prepare(&programs, arguments, &load.evaluations)?;
        preparing.push(began.elapsed());
        engine.launch(&programs, arguments, &prepared)?;
        engine.verdicts(&prepared)?;
        Ok::<_, DeviceError>(began.elapsed())
    })?;
    let prepare = Timing::of(&preparing).unwrap_or(verdicts);
    let fetched = repeat(part, || {
        let began = Instant::now();
        let results = engine.run(&programs, &load.pool, &fetching)?;
        let took = began.elapsed();
        drop(results);
        Ok::<_, DeviceError>(took)
    })?;

    let one_core = repeat(part, || right(work, load, cpu.one_core(work, load)))?;
    let all_cores = repeat(part, || right(work, load, cpu.all_cores(work, load)))?;

    let grids = load.len();
    let operations = mean(load, |evaluation| {
        work.on_device[evaluation.program as usize].len() as f64
    });
    let bytes_per_grid = mean(load, |evaluation| moved(work, evaluation));
    let seconds = [verdicts, fetched, one_core, all_cores].map(|timing| timing.seconds);
    Ok(Measured {
        once: warm + Duration::from_secs_f64(seconds.iter().sum()),
        row: Row {
            section: work.section,
            name: work.name.clone(),
            family: work.family,
            programs: work.programs.len(),
            operations,
            grids,
            kernel,
            kernel_verdicts,
            fetched,
            verdicts,
            prepare,
            one_core,
            all_cores,
            kernel_per_second: kernel.rate(grids as f64),
            operations_per_second: kernel.rate(grids as f64 * operations),
            bytes_per_grid,
            bytes_per_second: kernel.rate(grids as f64 * bytes_per_grid),
            share_of_copy: None,
            compared: checked.compared,
            right: checked.right,
            bail_outs: checked.bail_outs,
        },
    })
}

/// The time, if all outputs of the CPU are right.
fn right(
    work: &Work,
    load: &Load<'_>,
    (time, wrong): (Duration, usize),
) -> Result<Duration, DeviceBenchError> {
    if wrong == 0 {
        return Ok(time);
    }
    Err(DeviceBenchError::Cpu {
        name: work.name.clone(),
        grids: load.len(),
        wrong,
    })
}

fn mean(load: &Load<'_>, of: impl Fn(&Evaluation) -> f64) -> f64 {
    let sum: f64 = load.evaluations.iter().map(of).sum();
    sum / load.len().max(1) as f64
}

/// Bytes of device memory that an evaluation reads and writes, its result fetched.
fn moved(work: &Work, evaluation: &Evaluation) -> f64 {
    let result = work.on_device[evaluation.program as usize].gives().bytes();
    let grid = Representation::Grid.bytes();
    let expected = evaluation.expected.map_or(0, |_| grid);
    f64::from(grid + EVALUATION_BYTES + expected + result)
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Checked {
    compared: usize,
    right: usize,
    bail_outs: usize,
}

/// Compares with the CPU's results: every verdict whose output is known, and a sample of the results.
fn check(
    cpu: &mut Cpu,
    work: &Work,
    load: &Load<'_>,
    verdicts: &[Verdict],
    results: &Results,
) -> Result<Checked, DeviceBenchError> {
    let mut checked = Checked::default();
    let each = load.len().div_ceil(COMPARED).max(1);
    for (number, (verdict, input)) in verdicts.iter().zip(&load.inputs).enumerate() {
        let Verdict::Done { right, .. } = *verdict else {
            checked.bail_outs += 1;
            continue;
        };
        match &input.expected {
            Some(_) if right => checked.right += 1,
            Some(expected) => {
                let expected = Some(Value::from(expected.clone()));
                let (expected, found) = (shown(expected), shown(results.value(number)));
                return Err(Difference::error(work, input, expected, found));
            }
            None => {}
        }
        if number % each > 0 {
            continue;
        }
        let expected = cpu.expected(work, input);
        let value = results.value(number);
        if value != expected {
            let (expected, found) = (shown(expected), shown(value));
            return Err(Difference::error(work, input, expected, found));
        }
        checked.compared += 1;
    }
    Ok(checked)
}

fn shown(value: Option<Value>) -> String {
    value.map_or_else(|| "an error".to_owned(), |value| value.to_string())
}

/// The header line above the rows.
pub(crate) struct Heading;

impl fmt::Display for Heading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let title = "grids a second:";
        writeln!(f, "{title:>50}")?;
        write!(
            f,
            "{:<24}{:>10}{:>16}{:>16}{:>16}{:>14}{:>14}{:>8}{:>8}",
            "", "grids", "kernel", "verdicts", "fetched", "one core", "all cores", "GB/s", "copy"
        )
    }
}

/// The row as a line under the [`Heading`].
impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rate = |timing: &Timing| thousands(timing.rate(self.grids as f64) as u64);
        write!(
            f,
            "{:<24}{:>10}{:>16}{:>16}{:>16}{:>14}{:>14}{:>8.1}",
            self.name,
            thousands(self.grids as u64),
            rate(&self.kernel),
            rate(&self.verdicts),
            rate(&self.fetched),
            rate(&self.one_core),
            rate(&self.all_cores),
            self.bytes_per_second / 1e9,
        )?;
        match self.share_of_copy {
            Some(share) => write!(f, "{:>7.0}%", share * 100.0),
            None => write!(f, "{:>8}", "-"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use gpu_sim::emulated::{EmulatedDevice, Emulation};

    use super::*;
    use crate::bench::device::inputs::Inputs;

    #[test]
    fn a_difference_is_an_error() {
        if EmulatedDevice::fingerprint().is_none() {
            return;
        }
        let engine = Engine::new(gpu_sim::open::emulated(0, &Emulation::default()).unwrap());
        let mut cpu = Cpu::new(NonZeroUsize::new(1)).unwrap();
        let inputs = Inputs::grids(20);
        let load = Load::new(&inputs, 20);
        let arguments = engine.upload(&load.pool).unwrap();
        let effort = Effort {
            repetitions: 1,
            time: Duration::ZERO,
        };
        let mut works: Vec<Work> = Work::singles().into_iter().map(Result::unwrap).collect();
        let mirror = works
            .iter()
            .position(|work| work.name == "hmirror")
            .unwrap();
        let mut turn = works.remove(mirror - 1);
        assert_eq!(turn.name, "rot90");
        let mut measured =
            |work: &Work| measure(&engine, &mut cpu, work, &load, &arguments, effort);
        assert_eq!(measured(&turn).unwrap().row.compared, 20);
        turn.compiled = works.remove(mirror - 1).compiled;
        match measured(&turn) {
            Err(error @ DeviceBenchError::Difference(_)) => {
                let text = error.to_string();
                assert!(text.starts_with("rot90 differs"), "{text}");
                assert!(text.contains("CPU:") && text.contains("device:"), "{text}");
            }
            other => panic!("{other:?}"),
        }
    }
}
