//! Whether a device computes what the reference computes: the whole [conformance suite](suite), of the requested
//! size.

use std::fmt;
use std::time::{Duration, Instant};

use crate::agreement::caught;
use crate::conformance::suite::{self, Extent, Failure, Family, Test};
use crate::conformance::{self, Tally};
use crate::simulated::{emulated, interpreted};
use gpu_kernels::Engine;
use gpu_kernels::device::{Device, DeviceError, Unavailable, open};

use arc_dsl::{Grid, Program};
use arc_tasks::{Task, TaskIds};
use rayon::iter::{
    IndexedParallelIterator, IntoParallelIterator, IntoParallelRefIterator, ParallelIterator,
};

/// Programs per launch.
const PROGRAMS: usize = 100;

/// A device to compare with the reference.
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
    #[error("nothing was checked")]
    Unavailable(#[from] Unavailable),
    /// The device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

/// A row of the table: the results of a family of tests.
#[derive(Debug, Clone, Default)]
pub struct FamilyRow {
    /// The name of the family or of another check.
    pub name: &'static str,
    /// The number of its tests.
    pub tests: usize,
    /// The number of tests that failed.
    pub failed: usize,
    /// The results of their cases.
    pub counts: Tally,
    /// The sum of their times; on a CPU device several tests run at once.
    pub time: Duration,
    /// The name of the first test that failed, and why.
    pub first: Option<(String, String)>,
}

impl FamilyRow {
    /// Whether something was compared, and nothing differs.
    pub fn is_passed(&self) -> bool {
        let compared = self.counts.same + self.counts.failing;
        self.failed == 0 && self.tests > 0 && compared > 0
    }

    fn add(&mut self, test: String, ended: Result<Tally, Failure>, time: Duration) {
        self.tests += 1;
        self.time += time;
        match ended {
            Ok(counts) => self.counts.add(counts),
            Err(failure) => {
                self.failed += 1;
                self.first
                    .get_or_insert_with(|| (test, failure.to_string()));
                self.counts.add(failure.counts());
            }
        }
    }
}

/// The results of a device.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// A row per family, in the order of [`Family::ALL`], and further rows.
    pub rows: Vec<FamilyRow>,
}

impl Report {
    /// Whether there are rows, and all of them are passed.
    pub fn is_passed(&self) -> bool {
        !self.rows.is_empty() && self.rows.iter().all(FamilyRow::is_passed)
    }

    /// A row per family, even without tests.
    fn of_families() -> Self {
        let row = |&family: &Family| FamilyRow {
            name: family.name(),
            ..FamilyRow::default()
        };
        Report {
            rows: Family::ALL.iter().map(row).collect(),
        }
    }

    fn add(&mut self, (test, ended, time): TestResult) {
        let at = Family::ALL
            .iter()
            .position(|family| *family == test.family());
        if let Some(row) = at.and_then(|at| self.rows.get_mut(at)) {
            row.add(test.name(), ended, time);
        }
    }
}

/// The table, and the first failure of each row that failed.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<24}{:>6}{:>9}{:>9}{:>9}{:>10}{:>10}{:>8}{:>9}",
            "", "tests", "cases", "same", "errors", "bail-outs", "host only", "differ", "seconds"
        )?;
        for row in &self.rows {
            let counts = &row.counts;
            write!(
                f,
                "{:<24}{:>6}{:>9}{:>9}{:>9}{:>10}{:>10}{:>8}{:>9.1}  ",
                row.name,
                row.tests,
                counts.cases(),
                counts.same,
                counts.failing,
                counts.bailed_out(),
                counts.host_only.values().sum::<u64>(),
                counts.different,
                row.time.as_secs_f64()
            )?;
            match (row.is_passed(), row.failed) {
                (true, _) => writeln!(f, "ok")?,
                (false, 0) => writeln!(f, "nothing compared")?,
                (false, failed) => writeln!(f, "{failed} failed")?,
            }
        }
        for row in &self.rows {
            if let Some((test, why)) = &row.first {
                writeln!(f, "\n{}, {test}: {why}", row.name)?;
            }
        }
        Ok(())
    }
}

/// Runs the suite on a device. Calls `done` for each finished test.
///
/// # Errors
/// The device is unavailable.
pub fn conformance(
    device: Checked,
    extent: Extent,
    done: impl Fn() + Sync,
) -> Result<Report, NotChecked> {
    match device {
        // A GPU runs one launch at a time, and opening it takes seconds.
        Checked::Cuda => one_by_one(
            || Ok(Engine::new(open::gpu(0)?)),
            extent,
            |_| {
                done();
                true
            },
        ),
        Checked::Emulated => {
            emulated(0)?;
            let seed = extent.seed;
            Ok(in_parallel(
                |number| emulated(seed.wrapping_add(number)),
                extent,
                done,
            ))
        }
        Checked::Interpreted => {
            interpreted()?;
            Ok(in_parallel(|_| interpreted(), extent, done))
        }
    }
}

/// A test with its result and duration.
type TestResult = (Test, Result<Tally, Failure>, Duration);

/// Runs a test. A broken device may return invalid values: a panic over them fails only that test.
fn run<D: Device>(test: Test, engine: &Engine<D>, extent: Extent) -> Result<Tally, Failure> {
    let ended = caught(|| test.run(engine, extent));
    ended.unwrap_or_else(|text| Err(Failure::Panicked(text)))
}

/// Runs each test on its own device, opened by the test's number.
fn in_parallel<D: Device>(
    open: impl Fn(u64) -> Result<Engine<D>, Unavailable> + Sync,
    extent: Extent,
    done: impl Fn() + Sync,
) -> Report {
    let tests: Vec<Test> = Test::all().collect();
    let ended: Vec<TestResult> = tests
        .into_par_iter()
        .enumerate()
        // Adjacent tests take about equally long, and the longest are the last.
        .with_max_len(1)
        .map(|(number, test)| {
            let began = Instant::now();
            let engine = open(number as u64).map_err(Failure::from);
            let ended = engine.and_then(|engine| run(test, &engine, extent));
            done();
            (test, ended, began.elapsed())
        })
        .collect();
    let mut report = Report::of_families();
    for ended in ended {
        report.add(ended);
    }
    report
}

/// Runs one test after the other on one device, which is reopened after a failure. `go_on` gets the result of each
/// test and returns whether to run another.
fn one_by_one<D: Device>(
    open: impl Fn() -> Result<Engine<D>, Unavailable>,
    extent: Extent,
    mut go_on: impl FnMut(&Result<Tally, Failure>) -> bool,
) -> Result<Report, NotChecked> {
    let mut engine = Some(open()?);
    let mut report = Report::of_families();
    for test in Test::all() {
        let began = Instant::now();
        let opened = engine.take().map_or_else(&open, Ok);
        let ended = match opened {
            Ok(opened) => {
                let ended = run(test, &opened, extent);
                let is_lost = |failure: &Failure| {
                    matches!(failure, Failure::Device(_) | Failure::Panicked(_))
                };
                if !ended.as_ref().is_err_and(is_lost) {
                    engine = Some(opened);
                }
                ended
            }
            Err(reason) => Err(reason.into()),
        };
        let goes_on = go_on(&ended);
        report.add((test, ended, began.elapsed()));
        if !goes_on {
            break;
        }
    }
    Ok(report)
}

/// Runs every program that the device supports on the inputs of its own task, and compares.
pub fn programs(
    device: Checked,
    programs: &[Program],
    tasks: &[Task],
) -> Result<FamilyRow, NotChecked> {
    let began = Instant::now();
    let ids = TaskIds::new(tasks.iter().map(|task| &*task.id));
    let with_inputs = |program: &Program| {
        let id = ids.of(program);
        let own = tasks.iter().filter(|task| Some(&*task.id) == id);
        let inputs = own.flat_map(|task| task.pairs().map(|(_, pair)| (*pair.input).clone()));
        (program.clone(), inputs.collect::<Vec<Grid>>())
    };
    let all: Vec<_> = programs.par_iter().map(with_inputs).collect();
    let mut sum = Tally::default();
    for (number, part) in all.chunks(PROGRAMS).enumerate() {
        sum.add(match device {
            Checked::Cuda => conformance::programs(&Engine::new(open::gpu(0)?), part)?,
            Checked::Emulated => conformance::programs(&emulated(number as u64)?, part)?,
            Checked::Interpreted => conformance::programs(&interpreted()?, part)?,
        });
    }
    let mut row = FamilyRow {
        name: "given programs",
        ..FamilyRow::default()
    };
    row.add("all".to_owned(), suite::none_differs(sum), began.elapsed());
    Ok(row)
}

#[cfg(test)]
mod tests;
