//! [`Launcher`]: the executor that makes evaluations of programs on a device, a GPU or an emulated one.
//!
//! It has two lanes, each a stream of the device with buffers of its own, so that one batch is copied
//! while another is computed. Buffers are given out again; programs and the values that they are run on
//! stay on the device under the numbers that whoever prepares batches gives them (`launcher/resident.rs`), so that
//! of an evaluation that has both there, some dozens of bytes are copied.

mod resident;

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gpu_kernels::device::caching::{CachingDevice, MemoryUsage};
use gpu_kernels::device::{Device, DeviceError, Information, Memory, Unavailable};
use gpu_kernels::{
    DeviceProgram, Engine, Evaluation, LaunchConfig, Place, Pool, Prepared, Results, Verdict,
};

use resident::Resident;

use crate::fleet::Executor;
use crate::scheduler::Made;
use crate::stages::Stages;
use crate::work::{Failure, Fallback, Kind};

/// Evaluations that are ready for a device, with a note of whoever prepared them.
#[derive(Debug, Clone, Default)]
pub struct Evaluations<N = ()> {
    /// Their programs, each with a number that names it in every batch.
    pub programs: Vec<(u64, Arc<DeviceProgram>)>,
    /// Their arguments and expected grids, in pools of which each has a number that names it in every batch.
    pub pools: Vec<(u64, Arc<Pool>)>,
    /// The evaluations, each with its program's place in `programs`; where its values lie is said of its pool.
    pub evaluations: Vec<Evaluation>,
    /// The pool of each of them, by its place in `pools`.
    pub pools_of: Vec<u32>,
    /// The kind of each of them, so that what the device bails out of is told by kind; a kind that is not
    /// told is the first one.
    pub kinds: Vec<Kind>,
    /// How many items were skipped when they were prepared, since no device makes them, by kind.
    pub skipped: BTreeMap<Kind, u64>,
    /// What is to be known when they are made.
    pub note: N,
}

impl<N> Evaluations<N> {
    /// All its pools as one, and the evaluations, each with the place of its values in that.
    pub fn gathered(&self) -> (Pool, Vec<Evaluation>) {
        let mut all = Pool::default();
        let begins = self.pools.iter().map(|(_, pool)| Some(all.append(pool)));
        let begins: Vec<_> = begins.collect();
        let evaluations = self.evaluations.iter().zip(&self.pools_of);
        let evaluations = evaluations.map(|(evaluation, pool)| {
            let pool = begins.get(*pool as usize).copied().flatten();
            placed(evaluation, pool)
        });
        (all, evaluations.collect())
    }
}

/// What is not there is refused when a launch is prepared.
const NOWHERE: Place = Place {
    word: u32::MAX,
    unit: u32::MAX,
};

/// The evaluation, whose pool begins there.
fn placed(evaluation: &Evaluation, pool: Option<Place>) -> Evaluation {
    let there = |place: Place| {
        pool.and_then(|first| place.behind(first))
            .unwrap_or(NOWHERE)
    };
    Evaluation {
        arguments: there(evaluation.arguments),
        expected: evaluation.expected.map(there),
        ..*evaluation
    }
}

/// The results of evaluations, in their order.
#[derive(Debug)]
pub struct Answers<N = ()> {
    /// The verdicts.
    pub verdicts: Vec<Verdict>,
    /// The results that were asked for.
    pub results: Results,
    /// What was noted when they were prepared.
    pub note: N,
}

/// How many streams a device has.
const LANES: usize = 2;

/// Opens a device, the first time and after it was lost.
pub type Open<D> = Box<dyn FnMut() -> Result<D, Unavailable> + Send>;

/// A stream of the device.
struct Lane<D: Device> {
    /// Before the device that it is of.
    resident: Resident<D>,
    engine: Engine<D>,
}

/// Makes evaluations on one device; see the [module](self).
pub struct Launcher<D: Device, N = ()> {
    open: Open<D>,
    information: Information,
    config: LaunchConfig,
    lanes: Vec<Lane<CachingDevice<D>>>,
    next: usize,
    noted: PhantomData<fn(N)>,
}

/// A batch on the device, or one that has no evaluations.
#[expect(missing_debug_implementations, reason = "it is memory of a device")]
pub struct Begun<D: Device, N> {
    launched: Option<Launched<D>>,
    kinds: Vec<Kind>,
    skipped: BTreeMap<Kind, u64>,
    note: N,
}

struct Launched<D: Device> {
    lane: usize,
    prepared: Prepared<CachingDevice<D>>,
    /// Before its uploads, between these and its launch, and behind that.
    events: [D::Event; 3],
    footprint: u64,
}

impl From<DeviceError> for Failure {
    fn from(error: DeviceError) -> Self {
        match error {
            DeviceError::OutOfMemory { .. } => Failure::OutOfMemory,
            DeviceError::Lost { reason } => Failure::Lost(reason),
            DeviceError::Kernel { .. } => Failure::Lost(error.to_string()),
            DeviceError::PastEnd { .. }
            | DeviceError::Launch { .. }
            | DeviceError::Driver { .. } => Failure::Failed(error.to_string()),
        }
    }
}

impl<D: Device, N> fmt::Debug for Launcher<D, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut launcher = f.debug_struct("Launcher");
        launcher.field("information", &self.information);
        launcher.finish_non_exhaustive()
    }
}

impl<D: Device, N> Launcher<D, N> {
    /// An executor on the device that this opens, or why there is none.
    pub fn new(mut open: Open<D>, config: LaunchConfig) -> Result<Self, Unavailable> {
        Ok(Self::of(open()?, open, config))
    }

    /// An executor on a device, and what opens it after it was lost.
    pub fn of(device: D, open: Open<D>, config: LaunchConfig) -> Self {
        let information = device.information().clone();
        let mut launcher = Self {
            open,
            information,
            config,
            lanes: Vec::new(),
            next: 0,
            noted: PhantomData,
        };
        launcher.enter(device);
        launcher
    }

    /// Makes lanes of a device. Where there is no memory for a second stream, one has to do.
    fn enter(&mut self, device: D) {
        let first = CachingDevice::new(device);
        let others = (1..LANES).map_while(|_| first.new_stream().ok());
        let others: Vec<_> = others.collect();
        let lanes = std::iter::once(first).chain(others);
        self.lanes = lanes
            .map(|device| Lane {
                resident: Resident::default(),
                engine: Engine::with(device, self.config),
            })
            .collect();
        self.next = 0;
    }

    /// What the device is.
    pub fn information(&self) -> &Information {
        &self.information
    }

    /// Its memory, as its driver has it, and what this holds of it.
    pub fn memory(&self) -> Result<(Memory, MemoryUsage), Failure> {
        let lane = self.lanes.first();
        let lane = lane.ok_or_else(|| Failure::Lost("it is not open".to_owned()))?;
        let device = lane.engine.device();
        Ok((device.memory()?, device.memory_usage()))
    }

    /// The largest batch, of at most so many items, that the device makes: see
    /// [`find_max_batch`](crate::find_max_batch). Memory is given back before and after each attempt, so
    /// that one that did not fit leaves nothing behind.
    pub fn find_max_batch(
        &mut self,
        most: u64,
        mut prepare: impl FnMut(u64) -> Evaluations<N>,
    ) -> Result<Option<u64>, Failure>
    where
        D: Send + 'static,
        D::Buffer: Send,
        N: Send + 'static,
    {
        crate::size::find_max_batch(most, |items| {
            self.clean_up();
            let begun = self.begin(prepare(items))?;
            let made = self.finish(begun).map(drop);
            self.clean_up();
            made
        })
    }

    /// Bytes of device memory that batches could have: those that are free or kept for them.
    fn free(&self) -> Option<u64> {
        let (memory, usage) = self.memory().ok()?;
        Some(memory.free + (usage.reserved - usage.in_use))
    }

    /// Launches a batch on a lane. What stays on the device for later batches makes room where there is none.
    fn launch_on(&mut self, number: usize, batch: &Evaluations<N>) -> Result<Launched<D>, Failure> {
        match self.try_on(number, batch) {
            Err(Failure::OutOfMemory) if self.evict()? => self.try_on(number, batch),
            launched => launched,
        }
    }

    fn try_on(&mut self, number: usize, batch: &Evaluations<N>) -> Result<Launched<D>, Failure> {
        let lane = self.lanes.get_mut(number);
        let Lane { resident, engine } =
            lane.ok_or_else(|| Failure::Lost("it is not open".to_owned()))?;
        let began = engine.device().record()?;
        let evaluations = resident.load(engine, batch)?;
        // What stays on the device is no item's.
        let before = engine.device().memory_usage().in_use;
        let (programs, arguments) = resident.loaded()?;
        let prepared = engine.prepare(programs, arguments, &evaluations)?;
        let after = engine.device().memory_usage().in_use;
        let uploaded = engine.device().record()?;
        engine.launch(programs, arguments, &prepared)?;
        let launched = engine.device().record()?;
        Ok(Launched {
            lane: number,
            prepared,
            events: [began, uploaded, launched],
            footprint: after.saturating_sub(before),
        })
    }

    /// Forgets what stays on the device for later batches; whether there was something.
    fn evict(&mut self) -> Result<bool, DeviceError> {
        let mut held = false;
        for Lane { resident, engine } in &mut self.lanes {
            held |= resident.evict(engine)?;
        }
        Ok(held)
    }
}

/// What was skipped and what was bailed out of, by kind.
fn fallback(skipped: &BTreeMap<Kind, u64>, kinds: &[Kind], verdicts: &[Verdict]) -> Vec<Fallback> {
    let mut by_kind: BTreeMap<Kind, Fallback> = BTreeMap::new();
    let mut of = |kind: Kind, skipped, bailed_out| {
        let of_kind = by_kind.entry(kind).or_default();
        of_kind.kind = kind;
        of_kind.skipped += skipped;
        of_kind.bailed_out += bailed_out;
    };
    for (kind, count) in skipped {
        of(*kind, *count, 0);
    }
    let kinds = kinds.iter().copied().chain(std::iter::repeat(Kind(0)));
    for (verdict, kind) in verdicts.iter().zip(kinds) {
        if let Verdict::BailedOut { .. } = verdict {
            of(kind, 0, 1);
        }
    }
    by_kind.into_values().collect()
}

impl<D: Device + Send + 'static, N: Send + 'static> Executor for Launcher<D, N>
where
    D::Buffer: Send,
{
    type Batch = Evaluations<N>;
    type Answer = Answers<N>;
    type Begun = Begun<D, N>;

    fn lanes(&self) -> usize {
        self.lanes.len().max(1)
    }

    fn begin(&mut self, batch: Evaluations<N>) -> Result<Begun<D, N>, Failure> {
        let launched = if batch.evaluations.is_empty() {
            None
        } else {
            let lane = self.next % self.lanes.len().max(1);
            self.next = lane + 1;
            Some(self.launch_on(lane, &batch)?)
        };
        Ok(Begun {
            launched,
            kinds: batch.kinds,
            skipped: batch.skipped,
            note: batch.note,
        })
    }

    fn finish(&mut self, begun: Begun<D, N>) -> Result<(Answers<N>, Made), Failure> {
        let Begun {
            launched,
            kinds,
            skipped,
            note,
        } = begun;
        let Some(launched) = launched else {
            let (verdicts, results) = (Vec::new(), Results::default());
            let answers = Answers {
                verdicts,
                results,
                note,
            };
            let fallback = fallback(&skipped, &kinds, &[]);
            return Ok((
                answers,
                Made {
                    fallback,
                    ..Made::default()
                },
            ));
        };
        let lane = self.lanes.get(launched.lane);
        let lane = lane.ok_or_else(|| Failure::Lost("it is not open".to_owned()))?;
        let device = lane.engine.device();
        let [before, uploaded, after] = &launched.events;
        let upload = device.elapsed(before, uploaded)?;
        let compute = device.elapsed(uploaded, after)?;
        let downloads = Instant::now();
        let answers = Answers {
            verdicts: lane.engine.verdicts(&launched.prepared)?,
            results: lane.engine.results(&launched.prepared)?,
            note,
        };
        let stages = Stages {
            prepare: Duration::ZERO,
            upload,
            compute,
            download: downloads.elapsed(),
        };
        let footprint = launched.footprint;
        // Its memory is free for the next batch before it is asked how much there is.
        drop(launched);
        let made = Made {
            stages,
            footprint,
            free: self.free(),
            memory: lane.engine.device().memory_usage(),
            fallback: fallback(&skipped, &kinds, &answers.verdicts),
        };
        Ok((answers, made))
    }

    fn recover(&mut self) -> Result<(), Failure> {
        self.lanes.clear();
        let device = (self.open)().map_err(|reason| Failure::Lost(reason.to_string()))?;
        self.enter(device);
        Ok(())
    }

    fn clean_up(&mut self) {
        // Of a device that is lost there is nothing to be given back.
        let _ = self.evict();
        for lane in &self.lanes {
            lane.engine.device().cleanup();
        }
    }
}

#[cfg(test)]
mod tests;
