//! Measures the cost of evaluations on the host and on devices, with built-in programs.
//!
//! Runs batches of each kind of work in growing sizes until a time budget is used up: small batches show the overhead
//! of a batch, large ones the cost of an evaluation. Before that it searches a GPU's fastest launch configuration. A
//! device that hangs is given up.

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

/// The batch sizes. Those that fill a large GPU exceed the budget of slow executors.
pub const SIZES: [u64; 6] = [1, 8, 64, 512, 4096, 32_768];

/// How long an executor is measured.
pub const BUDGET: Duration = Duration::from_secs(1);

/// The size of the batch on which launch configurations are tried: begins with the first, is multiplied by the second
/// while the device is fast enough, and reaches at least the third on a fast device.
const FIRST_SHAPE_BATCH: u64 = 64;
const GROWTH: u64 = 4;
const SHAPE_BATCH: u64 = 4096;

/// A larger batch is used only if there is time for this many configurations on it.
const SHAPES_WANTED: f64 = 8.0;

/// The batch size for a fast device. A batch that does not fill the device favours configurations that spread it over
/// more blocks, whatever they take on a full device.
fn shape_batch(device: &Information) -> u64 {
    SHAPE_BATCH.max(*device.suggested_batch().start())
}

/// The next batch size after one that took `time`: `None` if it was the last size, or if the next would take too much
/// of the budget to try [`SHAPES_WANTED`] configurations.
fn larger_batch(size: u64, all: u64, time: Duration, budget: Duration) -> Option<u64> {
    let larger = (size * GROWTH).min(all);
    let expected = time.as_secs_f64() * larger as f64 / size as f64;
    (larger > size && expected * SHAPES_WANTED <= budget.as_secs_f64()).then_some(larger)
}

/// The proportions of costs that were measured in only one size.
const GUESS: Cost = Cost {
    overhead: 50e-6,
    bandwidth: f64::INFINITY,
    unit: 5e-6,
};

/// How often a batch is run; the median counts.
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

/// The median run of a batch size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// The kind of its evaluations.
    pub kind: Kind,
    /// How many there were.
    pub items: u64,
    /// How long they took.
    pub seconds: f64,
}

/// The measurements of an executor.
#[derive(Debug, Clone)]
pub struct Calibration {
    /// Its costs, by kind.
    pub kinds: BTreeMap<Kind, KindCost>,
    /// The measurements behind them.
    pub points: Vec<Point>,
    /// The fastest launch configuration, if several were tried.
    pub shape: Option<Best>,
}

impl Calibration {
    /// The results to keep.
    pub fn learned(&self) -> Learned {
        Learned {
            kinds: self.kinds.clone(),
            tuning: self.shape.map(|best| best.tuning),
        }
    }
}

/// Measures the host, with the threads of a runner with these options, within the budget.
///
/// # Errors
/// The threads cannot be started.
pub fn host(
    options: &Options,
    sample: &Sample,
    budget: Duration,
) -> Result<Calibration, CalibrationError> {
    // Evaluations of one program on several tasks are not a search.
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

/// Opens a device and measures it within the budget, which begins when it is open.
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

/// The same for an open device.
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
    // A simulated device says nothing about launch configurations.
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
        match run_batch(&mut launcher, batch) {
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

/// Runs a batch alone. Its preparation is not counted: in a run the next batch is prepared while one is computed.
fn run_batch<D>(launcher: &mut Launcher<D>, batch: Evaluations) -> Result<Measured, Failure>
where
    D: Device + Send + 'static,
    D::Buffer: Send,
{
    let items = batch.evaluations.len() as f64;
    // From the second batch on, its values are resident on the device.
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

/// The fastest launch configuration for a batch of all kinds: of `items` evaluations if the device is fast enough,
/// otherwise of fewer. `None` if the batch does not fit into memory.
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
            let Some(batch) = TuningBatch::new(&engine, sample, size)? else {
                return Ok(None);
            };
            if grown.is_none() {
                // The very first launch loads the kernel.
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

/// A batch on a device, for trying launch configurations.
struct TuningBatch<D: Device> {
    programs: Programs<D>,
    arguments: Arguments<D>,
    evaluations: Vec<Evaluation>,
}

impl<D: Device> TuningBatch<D> {
    /// A batch of `items` evaluations of all kinds; `None` if the device runs none.
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

    /// The time of a launch in the engine's configuration.
    fn time(&self, engine: &Engine<D>) -> Result<Duration, DeviceError> {
        let prepared = engine.prepare(&self.programs, &self.arguments, &self.evaluations)?;
        engine.timed(&self.programs, &self.arguments, &prepared)
    }
}

/// One run of a batch.
#[derive(Debug, Clone, Copy)]
struct Trial {
    measured: Measured,
    /// The part of the budget that it used.
    took: Duration,
}

/// The progress of a kind.
struct KindProgress {
    kind: Kind,
    /// The median run of each size.
    batches: Vec<Trial>,
    /// Whether larger batches are not tried.
    is_finished: bool,
}

/// Runs batches, all kinds in one size before the next size, until they would take longer than the budget. `run`
/// returns `None` for a batch that does not fit into memory.
fn calibrate<E>(
    kinds: &[Kind],
    budget: Duration,
    mut run: impl FnMut(Kind, u64) -> Result<Option<Trial>, E>,
) -> Result<Calibration, E> {
    let mut points = Vec::new();
    let mut spent = Duration::ZERO;
    let mut progress: Vec<KindProgress> = kinds
        .iter()
        .map(|&kind| KindProgress {
            kind,
            batches: Vec::new(),
            is_finished: false,
        })
        .collect();
    for items in SIZES {
        for of_kind in progress.iter_mut().filter(|of_kind| !of_kind.is_finished) {
            let kind = of_kind.kind;
            let left = budget.saturating_sub(spent);
            if left.is_zero() || of_kind.expected(items) > left.as_secs_f64() {
                of_kind.is_finished = true;
                continue;
            }
            // The first run loads and compiles programs.
            let warm_up = usize::from(of_kind.batches.is_empty());
            let mut trials: Vec<Trial> = Vec::new();
            for round in 0..ROUNDS + warm_up {
                let Some(trial) = run(kind, items)? else {
                    of_kind.is_finished = true;
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
        // Calibration programs are ones of which nothing falls back.
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

impl KindProgress {
    fn measured(&self) -> Vec<Measured> {
        self.batches.iter().map(|batch| batch.measured).collect()
    }

    /// The expected seconds of a batch of this size; 0 before the first run.
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
