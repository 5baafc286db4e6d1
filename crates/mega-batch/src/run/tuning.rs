//! Finds the launch configuration in which a GPU evaluates fastest, with built-in programs, and keeps it between runs.
//! A device that hangs is given up.

mod file;
mod shapes;

#[cfg(test)]
mod tests;

use std::ops::Range;
use std::time::{Duration, Instant};

use arc_tasks::{MAX_SIDE, builtin};
use gpu_kernels::device::{Device, DeviceError, DeviceKind, Information, Unavailable, open};
use gpu_kernels::{Arguments, DeviceProgram, Engine, PairPlace, Programs, Span};
use gpu_sched::Policy;
use gpu_sched::launcher::Open;
use gpu_sched::launcher::Pairs;

use crate::run::devices::encoded;

pub use file::{DeviceIdentity, TuningFile, VARIABLE};
pub use shapes::{Best, fastest};

/// How long a device is measured.
pub const BUDGET: Duration = Duration::from_secs(1);

/// The size of the batch on which launch configurations are tried: begins with the first, is multiplied by the second
/// while the device is fast enough, and reaches at least the third on a fast device.
const FIRST_BATCH: u64 = 64;
const GROWTH: u64 = 4;
const FULL_BATCH: u64 = 4096;

/// A larger batch is used only if there is time for this many configurations on it.
const CONFIGURATIONS_WANTED: f64 = 8.0;

/// The batch size for a fast device. A batch that does not fill the device favours configurations that spread it over
/// more blocks, whatever they take on a full device.
fn batch_size(device: &Information) -> u64 {
    FULL_BATCH.max(*device.suggested_batch().start())
}

/// The next batch size after one that took `time`: `None` if it was the last size, or if the next would take too much
/// of the budget to try [`CONFIGURATIONS_WANTED`] configurations.
fn larger_batch(size: u64, all: u64, time: Duration, budget: Duration) -> Option<u64> {
    let larger = (size * GROWTH).min(all);
    let expected = time.as_secs_f64() * larger as f64 / size as f64;
    (larger > size && expected * CONFIGURATIONS_WANTED <= budget.as_secs_f64()).then_some(larger)
}

/// Programs of each magnitude of length, and inputs of each program.
const PROGRAMS: usize = 4;
const INPUTS: usize = 32;

/// The inputs are always the same.
const SEED: u64 = 0;

/// Why a device could not be measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TuningError {
    /// The device is not there, or hangs.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    /// The device failed.
    #[error(transparent)]
    Failed(#[from] DeviceError),
}

/// Opens a device and searches its fastest launch configuration within the budget, which begins when it is open.
/// `None` if no configuration was timed; a simulated device says nothing about them.
///
/// # Errors
/// It cannot be opened, fails on the way, or hangs: see [`open::TIME_LIMIT`] and [`Policy::time_limit`].
pub fn tune<D>(open: Open<D>, budget: Duration) -> Result<Option<Best>, TuningError>
where
    D: Device + Send + 'static,
{
    let device = open::within(open::TIME_LIMIT, open)??;
    let limit = budget + Policy::default().time_limit;
    let best = open::within(limit, move || match device.information().kind {
        DeviceKind::Cuda => {
            let items = batch_size(device.information());
            search(device, items, budget)
        }
        DeviceKind::Emulated | DeviceKind::Interpreted => Ok(None),
    })?;
    Ok(best?)
}

/// The fastest launch configuration for a batch of `items` evaluations if the device is fast enough, otherwise of fewer.
/// `None` if the batch does not fit into memory, or the device can run no program.
fn search<D: Device>(device: D, items: u64, budget: Duration) -> Result<Option<Best>, DeviceError> {
    let sample = Sample::new(device.information().shared_bytes);
    if sample.programs.is_empty() {
        return Ok(None);
    }
    let mut engine = Engine::new(device);
    let mut find = || {
        let mut next = Some(FIRST_BATCH.min(items));
        let mut grown = None;
        while let Some(size) = next {
            let batch = Batch::new(&engine, &sample, size)?;
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

/// Built-in programs of all lengths, with their inputs.
struct Sample {
    programs: Vec<DeviceProgram>,
    /// The inputs and outputs of all programs, and which of them are each program's.
    pairs: Pairs,
    pairs_of: Vec<Range<u32>>,
}

impl Sample {
    /// Programs that a device with so much shared memory can run.
    fn new(shared_bytes: u32) -> Self {
        let mut sample = Self {
            programs: Vec::new(),
            pairs: Pairs::default(),
            pairs_of: Vec::new(),
        };
        let mut of_length = [0; usize::BITS as usize];
        for one in builtin::all() {
            let count = &mut of_length[one.program().steps().len().max(1).ilog2() as usize];
            let Some(encoded) = (*count < PROGRAMS)
                .then(|| encoded(one.program(), shared_bytes).ok())
                .flatten()
            else {
                continue;
            };
            let Pairs { pool, places } = &mut sample.pairs;
            let first = places.len() as u32;
            places.extend((0..INPUTS).filter_map(|index| {
                let pair = one.pair(SEED, index, MAX_SIDE);
                // Built-in inputs are no larger than grids of the data, so they fit on a device.
                Some(PairPlace {
                    arguments: pool.push_grid(&pair.input).ok()?,
                    expected: pair.output.and_then(|grid| pool.push_grid(&grid).ok()),
                })
            }));
            let pairs = first..places.len() as u32;
            if !pairs.is_empty() {
                sample.pairs_of.push(pairs);
                sample.programs.push(encoded);
                *count += 1;
            }
        }
        sample
    }

    /// Evaluations evenly spread over its programs.
    fn spread(&self, items: u64) -> Vec<Span> {
        let programs = self.pairs_of.len().max(1) as u64;
        let (mut spans, mut verdict) = (Vec::new(), 0);
        for (program, pairs) in (0..).zip(&self.pairs_of) {
            let mut left = items / programs + u64::from(u64::from(program) < items % programs);
            while left > 0 {
                let count = (pairs.len() as u64).min(left) as u32;
                spans.push(Span {
                    program,
                    pairs: pairs.start..pairs.start + count,
                    verdict,
                    fetch: false,
                });
                verdict += count;
                left -= u64::from(count);
            }
        }
        spans
    }
}

/// A batch on a device, for trying launch configurations.
struct Batch<D: Device> {
    programs: Programs<D>,
    arguments: Arguments<D>,
    spans: Vec<Span>,
}

impl<D: Device> Batch<D> {
    fn new(engine: &Engine<D>, sample: &Sample, items: u64) -> Result<Self, DeviceError> {
        Ok(Self {
            programs: engine.load(&sample.programs)?,
            arguments: engine.upload(&sample.pairs.pool, &sample.pairs.places)?,
            spans: sample.spread(items),
        })
    }

    /// The time of a launch in the engine's configuration.
    fn time(&self, engine: &Engine<D>) -> Result<Duration, DeviceError> {
        let prepared = engine.prepare(&self.programs, &self.arguments, &self.spans)?;
        engine.timed(&self.programs, &self.arguments, &prepared)
    }
}
