//! What evaluations cost the host and devices, measured on built-in programs.
//!
//! Each kind of work is made in batches of growing size, as far as a budget of time reaches: small
//! batches show what a batch costs at all, large ones what an evaluation does. A GPU's launch configuration is
//! looked for before that. A device that hangs meanwhile is given up.

mod sample;
mod shapes;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io;
use std::time::{Duration, Instant};

use gpu_kernels::device::{self, Device, DeviceError, Information, Unavailable, open};
use gpu_kernels::interface::EVALUATION_BYTES;
use gpu_kernels::{Arguments, DeviceProgram, Engine, Evaluation, LaunchConfig, Programs};
use gpu_sched::launcher::{Evaluations, Launcher, Open};
use gpu_sched::{Cost, Executor, Failure, Kind, Measured, Policy};

use crate::costs::{KindCost, Learned};
use crate::options::{Merging, Options};
use crate::runner::Runner;

pub use sample::Sample;
pub use shapes::{Best, fastest};

/// The sizes of the batches that are tried. Those that fill a large GPU are past the budget of whoever is slow.
pub const SIZES: [u64; 6] = [1, 8, 64, 512, 4096, 32_768];

/// For how long an executor is measured.
pub const BUDGET: Duration = Duration::from_secs(1);

/// Evaluations of the batch on which launch configurations are tried: on a device that is slow the first few, four times
/// as many while that is fast enough, and at least so many on one that always is.
const FIRST_SHAPE_BATCH: u64 = 64;
const GROWTH: u64 = 4;
const SHAPE_BATCH: u64 = 4096;

/// How many shapes there should be time for on a larger batch.
const SHAPES_WANTED: f64 = 8.0;

/// How many they are on a device that is fast enough: of fewer than fill it, those shapes are the fastest that spread them most, whatever
/// they take where there are enough.
fn shape_batch(device: &Information) -> u64 {
    SHAPE_BATCH.max(*device.suggested_batch().start())
}

/// The size of the batch after one that took so long: none where all are in it, or where so many would take too much of
/// the budget for the shapes that there should be time for.
fn larger_batch(size: u64, all: u64, time: Duration, budget: Duration) -> Option<u64> {
    let larger = (size * GROWTH).min(all);
    let expected = time.as_secs_f64() * larger as f64 / size as f64;
    (larger > size && expected * SHAPES_WANTED <= budget.as_secs_f64()).then_some(larger)
}

/// Proportions of what was only measured in one size.
const GUESS: Cost = Cost {
    overhead: 50e-6,
    bandwidth: f64::INFINITY,
    unit: 5e-6,
};

/// How often a batch is made, of which the median counts.
const ROUNDS: usize = 3;

/// Why an executor could not be measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CalibrationError {
    /// The device is not there, or hangs.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    /// The device failed.
    #[error(transparent)]
    Failed(#[from] Failure),
    /// The host's threads could not be started.
    #[error(transparent)]
    Host(#[from] io::Error),
}

impl From<DeviceError> for CalibrationError {
    fn from(error: DeviceError) -> Self {
        Failure::from(error).into()
    }
}

/// A batch that was made, the median of some of its size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// The kind of its evaluations.
    pub kind: Kind,
    /// How many they were.
    pub items: u64,
    /// How long they took.
    pub seconds: f64,
}

/// What was found of an executor.
#[derive(Debug, Clone)]
pub struct Calibration {
    /// Its costs, by kind.
    pub kinds: BTreeMap<Kind, KindCost>,
    /// What they were learned from.
    pub points: Vec<Point>,
    /// The launch configuration that was the fastest, where several were tried.
    pub shape: Option<Best>,
}

impl Calibration {
    /// What is to be kept of it.
    pub fn learned(&self) -> Learned {
        Learned {
            kinds: self.kinds.clone(),
            tuning: self.shape.map(|best| best.tuning),
        }
    }
}

/// Measures the host, with the threads of a runner of these options, within so much time.
///
/// # Errors
/// The threads cannot be started.
pub fn host(
    options: &Options,
    sample: &Sample,
    budget: Duration,
) -> Result<Calibration, CalibrationError> {
    // Evaluations of one program on several tasks are no search.
    let merging = Merging::Never;
    let mut runner = Runner::new(&Options {
        merging,
        ..options.clone()
    })
    .map_err(io::Error::from)?;
    calibrate(&sample.kinds(), budget, |kind, items| {
        let batch = sample.batch(kind, items);
        let began = Instant::now();
        runner.run_into(&batch, &mut ())?;
        let took = began.elapsed();
        let measured = Measured {
            items: items as f64,
            bytes: 0.0,
            seconds: took.as_secs_f64(),
            copies: 0.0,
        };
        Ok(Some(Trial { measured, took }))
    })
}

/// Measures the device that this opens, within so much time after it is open.
///
/// # Errors
/// It cannot be opened, fails on the way, or hangs: see [`open::TIME_LIMIT`] and [`Policy::time_limit`].
pub fn device<D>(
    mut open: Open<D>,
    sample: &Sample,
    budget: Duration,
) -> Result<Calibration, CalibrationError>
where
    D: Device<Buffer: Send> + Send + 'static,
{
    let (opened, open) = open::within(open::TIME_LIMIT, move || (open(), open))?;
    let (opened, sample) = (opened?, sample.clone());
    let limit = budget + Policy::default().time_limit;
    open::within(limit, move || measured(opened, open, &sample, budget))?
}

/// The same of a device that is open.
fn measured<D>(
    opened: D,
    open: Open<D>,
    sample: &Sample,
    budget: Duration,
) -> Result<Calibration, CalibrationError>
where
    D: Device<Buffer: Send> + Send + 'static,
{
    let began = Instant::now();
    // What stands in for a GPU says nothing of shapes.
    let shape = match opened.information().kind {
        device::Kind::Cuda => {
            let items = shape_batch(opened.information());
            shape(opened.new_stream()?, sample, items, budget / 2)?
        }
        device::Kind::Emulated | device::Kind::Interpreted => None,
    };
    let tuning = shape.map_or_else(LaunchConfig::default, |best| best.tuning);
    let mut launcher = Launcher::<D>::of(opened, open, tuning);

    let information = launcher.information().clone();
    let kinds = sample.kinds_on(&information);
    let left = budget.saturating_sub(began.elapsed());
    let calibration = calibrate(&kinds, left, |kind, items| {
        let began = Instant::now();
        let batch = sample.evaluations(kind, items, &information);
        match make(&mut launcher, batch) {
            Ok(measured) => {
                let took = began.elapsed();
                Ok(Some(Trial { measured, took }))
            }
            Err(Failure::OutOfMemory) => Ok(None),
            Err(failure) => Err(CalibrationError::from(failure)),
        }
    })?;
    Ok(Calibration {
        shape,
        ..calibration
    })
}

/// Makes a batch alone. The time in which it was prepared is not counted: the next one is prepared while
/// this one is made.
fn make<D>(launcher: &mut Launcher<D>, batch: Evaluations) -> Result<Measured, Failure>
where
    D: Device + Send + 'static,
    D::Buffer: Send,
{
    let items = batch.evaluations.len() as f64;
    // What it is run on is on the device from the second batch on.
    let bytes = items * f64::from(EVALUATION_BYTES);
    let began = Instant::now();
    let begun = launcher.begin(batch)?;
    let (_, made) = launcher.finish(begun)?;
    Ok(Measured {
        items,
        bytes,
        seconds: began.elapsed().as_secs_f64(),
        copies: (made.stages.upload + made.stages.download).as_secs_f64(),
    })
}

/// The fastest launch configuration for a batch of all kinds: of so many evaluations, if the device is fast enough for that,
/// otherwise of fewer. `None` if it does not fit into memory.
fn shape<D: Device>(
    device: D,
    sample: &Sample,
    items: u64,
    budget: Duration,
) -> Result<Option<Best>, DeviceError> {
    let mut engine = Engine::new(device);
    let mut find = || {
        let mut next = Some(FIRST_SHAPE_BATCH.min(items));
        let mut grown = None;
        while let Some(size) = next {
            let Some(batch) = OnEngine::new(&engine, sample, size)? else {
                return Ok(None);
            };
            if grown.is_none() {
                // The first launch of all loads the kernel.
                batch.time(&engine)?;
            }
            next = larger_batch(size, items, batch.time(&engine)?, budget);
            grown = Some(batch);
        }
        let Some(batch) = grown else {
            return Ok(None);
        };
        let began = Instant::now();
        fastest(
            || began.elapsed() >= budget,
            |tuning| {
                engine.configure(tuning);
                batch.time(&engine)
            },
        )
    };
    match find() {
        Err(DeviceError::OutOfMemory { .. }) => Ok(None),
        found => found,
    }
}

/// A batch on which launch configurations are tried, on its device.
struct OnEngine<D: Device> {
    programs: Programs<D>,
    arguments: Arguments<D>,
    evaluations: Vec<Evaluation>,
}

impl<D: Device> OnEngine<D> {
    /// So many evaluations of all kinds; `None` if the device runs none.
    fn new(engine: &Engine<D>, sample: &Sample, items: u64) -> Result<Option<Self>, DeviceError> {
        let batch = sample.mixed(items, engine.device().information());
        if batch.evaluations.is_empty() {
            return Ok(None);
        }
        let programs = batch.programs.iter();
        let programs: Vec<_> = programs
            .map(|(_, program)| DeviceProgram::clone(program))
            .collect();
        let (pool, evaluations) = batch.gathered();
        Ok(Some(Self {
            programs: engine.load(&programs)?,
            arguments: engine.upload(&pool)?,
            evaluations,
        }))
    }

    /// What a launch takes in the shape of the engine.
    fn time(&self, engine: &Engine<D>) -> Result<Duration, DeviceError> {
        let prepared = engine.prepare(&self.programs, &self.arguments, &self.evaluations)?;
        engine.timed(&self.programs, &self.arguments, &prepared)
    }
}

/// A batch that was made once.
#[derive(Debug, Clone, Copy)]
struct Trial {
    measured: Measured,
    /// How much of the budget that took.
    took: Duration,
}

/// How far a kind has come.
struct Progress {
    kind: Kind,
    /// The median batch of each size.
    batches: Vec<Trial>,
    /// Whether larger batches are not tried.
    is_through: bool,
}

/// Has batches made, all kinds in one size before the next size, until they would take longer than the
/// budget. `make` says nothing of what does not fit into memory.
fn calibrate<E>(
    kinds: &[Kind],
    budget: Duration,
    mut make: impl FnMut(Kind, u64) -> Result<Option<Trial>, E>,
) -> Result<Calibration, E> {
    let mut points = Vec::new();
    let mut spent = Duration::ZERO;
    let mut progress: Vec<Progress> = kinds
        .iter()
        .map(|&kind| Progress {
            kind,
            batches: Vec::new(),
            is_through: false,
        })
        .collect();
    for items in SIZES {
        for of_kind in progress.iter_mut().filter(|of_kind| !of_kind.is_through) {
            let kind = of_kind.kind;
            let left = budget.saturating_sub(spent);
            if left.is_zero() || of_kind.expected(items) > left.as_secs_f64() {
                of_kind.is_through = true;
                continue;
            }
            // What is made for the first time loads programs, and compiles them.
            let warm_up = usize::from(of_kind.batches.is_empty());
            let mut trials: Vec<Trial> = Vec::new();
            for round in 0..ROUNDS + warm_up {
                let Some(trial) = make(kind, items)? else {
                    of_kind.is_through = true;
                    break;
                };
                spent += trial.took;
                let is_last = spent + trial.took > budget;
                if round >= warm_up || is_last {
                    trials.push(trial);
                }
                if is_last {
                    break;
                }
            }
            trials.sort_by(|a, b| a.measured.seconds.total_cmp(&b.measured.seconds));
            if let Some(median) = trials.get(trials.len() / 2) {
                of_kind.batches.push(*median);
                points.push(Point {
                    kind,
                    items,
                    seconds: median.measured.seconds,
                });
            }
        }
    }
    let kinds = progress.iter().filter_map(|of_kind| {
        let cost = Cost::fit(GUESS, &of_kind.measured())?;
        let batches = of_kind.batches.len() as u64;
        // What is made are programs of which nothing is left.
        let known = KindCost {
            cost,
            left: None,
            batches,
        };
        Some((of_kind.kind, known))
    });
    Ok(Calibration {
        kinds: kinds.collect(),
        points,
        shape: None,
    })
}

impl Progress {
    fn measured(&self) -> Vec<Measured> {
        self.batches.iter().map(|batch| batch.measured).collect()
    }

    /// How many seconds of the budget a batch of this size is expected to take; none before the first one.
    fn expected(&self, items: u64) -> f64 {
        let cost = Cost::fit(GUESS, &self.measured());
        let (Some(last), Some(cost)) = (self.batches.last(), cost) else {
            return 0.0;
        };
        let Measured {
            items: before,
            bytes,
            ..
        } = last.measured;
        let items = items as f64;
        let seconds = |items: f64| cost.seconds(items, bytes / before * items);
        last.took.as_secs_f64() * seconds(items) / seconds(before)
    }
}
