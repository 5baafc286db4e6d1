//! [`Launcher`]: the executor that evaluates programs on a device, a GPU or an emulated one.
//!
//! It has two lanes, each a stream of the device with its own buffers, so that one batch is copied while another is
//! computed. A caching allocator reuses buffers. Programs and the pairs that they run on stay on the device under
//! the numbers that the caller gives them (`launcher/resident.rs`), so that of a program and pairs that are resident only
//! [which they are](Span) is copied, and a byte an evaluation back.

mod resident;

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gpu_kernels::device::caching::{CachingDevice, MemoryUsage};
use gpu_kernels::device::{Device, DeviceError, Information, Memory, Unavailable};
use gpu_kernels::{DeviceProgram, Engine, PairPlace, Pool, Prepared, Results, Span, Verdict};

use resident::Resident;

use crate::failure::Failure;
use crate::fleet::Executor;
use crate::scheduler::Made;
use crate::stages::Stages;

/// Pairs, and the pool that has their values.
#[derive(Debug, Clone, Default)]
pub struct Pairs {
    /// The values.
    pub pool: Pool,
    /// Where in it each pair lies.
    pub places: Vec<PairPlace>,
}

/// Evaluations that are ready for a device, with a note of the caller.
#[derive(Debug, Clone, Default)]
pub struct Evaluations<N = ()> {
    /// Their programs, each with a number that names it in every batch.
    pub programs: Vec<(u64, Arc<DeviceProgram>)>,
    /// Their pairs, in groups. Each group has a number that names it in every batch.
    pub pairs: Vec<(u64, Arc<Pairs>)>,
    /// The evaluations, by index into `pairs`. Of a span `program` is an index into `programs`, and `pairs` are indices
    /// within the group.
    pub spans: Vec<(u32, Span)>,
    /// The first of the verdicts that are no items of the window, but tell something of its programs.
    pub others: u32,
    /// Returned with the answers.
    pub note: N,
}

/// The results of evaluations.
#[derive(Debug)]
pub struct Answers<N = ()> {
    /// The verdicts, where their spans say.
    pub verdicts: Vec<Verdict>,
    /// The results that were asked for.
    pub results: Results,
    /// The note of the batch.
    pub note: N,
}

/// How many streams a device has.
const LANES: usize = 2;

/// Opens a device, the first time and after it was lost.
pub type Open<D> = Box<dyn FnMut() -> Result<D, Unavailable> + Send>;

/// A stream of the device with its resident data.
struct Lane<D: Device> {
    /// Dropped before the device that it belongs to.
    resident: Resident<D>,
    engine: Engine<D>,
}

/// Runs evaluations on one device; see the [module](self).
pub struct Launcher<D: Device, N = ()> {
    open: Open<D>,
    information: Information,
    lanes: Vec<Lane<CachingDevice<D>>>,
    next: usize,
    note_type: PhantomData<fn(N)>,
}

/// A batch on the device, or one that has no evaluations.
#[expect(missing_debug_implementations, reason = "it is memory of a device")]
pub struct Begun<D: Device, N> {
    launched: Option<Launched<D>>,
    note: N,
}

struct Launched<D: Device> {
    lane: usize,
    prepared: Prepared<CachingDevice<D>>,
    /// Recorded before the uploads, between uploads and launch, and after the launch.
    events: [D::Event; 3],
    footprint: u64,
    /// Where the verdicts of its items are.
    items: Vec<Range<u32>>,
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
    /// Opens the device.
    pub fn new(mut open: Open<D>) -> Result<Self, Unavailable> {
        Ok(Self::of(open()?, open))
    }

    /// An executor on an open device; `open` reopens it after it was lost.
    pub fn of(device: D, open: Open<D>) -> Self {
        let information = device.information().clone();
        let mut launcher = Self {
            open,
            information,
            lanes: Vec::new(),
            next: 0,
            note_type: PhantomData,
        };
        launcher.create_lanes(device);
        launcher
    }

    /// Creates the lanes on a device. If there is no memory for a second stream, one has to do.
    fn create_lanes(&mut self, device: D) {
        let first = CachingDevice::new(device);
        let others = (1..LANES).map_while(|_| first.new_stream().ok());
        let others: Vec<_> = others.collect();
        let lanes = std::iter::once(first).chain(others);
        self.lanes = lanes
            .map(|device| Lane {
                resident: Resident::default(),
                engine: Engine::new(device),
            })
            .collect();
        self.next = 0;
    }

    /// The description of the device.
    pub fn information(&self) -> &Information {
        &self.information
    }

    /// The device's memory as its driver reports it, and what this launcher uses of it.
    pub fn memory(&self) -> Result<(Memory, MemoryUsage), Failure> {
        let lane = self.lanes.first();
        let lane = lane.ok_or_else(|| Failure::Lost("it is not open".to_owned()))?;
        let device = lane.engine.device();
        Ok((device.memory()?, device.memory_usage()))
    }

    /// Bytes of device memory that batches could use: those that are free or cached.
    fn free_memory(&self) -> Option<u64> {
        let (memory, usage) = self.memory().ok()?;
        Some(memory.free + (usage.reserved - usage.in_use))
    }

    /// Launches a batch on a lane. If memory runs out, evicts the resident data and tries again.
    fn launch_on(&mut self, number: usize, batch: &Evaluations<N>) -> Result<Launched<D>, Failure> {
        match self.try_launch_on(number, batch) {
            Err(Failure::OutOfMemory) if self.evict()? => self.try_launch_on(number, batch),
            launched => launched,
        }
    }

    fn try_launch_on(
        &mut self,
        number: usize,
        batch: &Evaluations<N>,
    ) -> Result<Launched<D>, Failure> {
        let lane = self.lanes.get_mut(number);
        let Lane { resident, engine } =
            lane.ok_or_else(|| Failure::Lost("it is not open".to_owned()))?;
        let began = engine.device().record()?;
        let spans = resident.load(engine, batch)?;
        // Resident data is not counted as memory of items.
        let before = engine.device().memory_usage().in_use;
        let (programs, arguments) = resident.loaded()?;
        let prepared = engine.prepare(programs, arguments, &spans)?;
        let after = engine.device().memory_usage().in_use;
        let uploaded = engine.device().record()?;
        engine.launch(programs, arguments, &prepared)?;
        let launched = engine.device().record()?;
        Ok(Launched {
            lane: number,
            prepared,
            events: [began, uploaded, launched],
            footprint: after.saturating_sub(before),
            items: spans
                .iter()
                .filter(|span| span.verdict < batch.others)
                .map(|span| span.verdict..span.verdict + span.pairs.len() as u32)
                .collect(),
        })
    }

    /// Evicts what stays on the device for later batches; returns whether there was anything.
    fn evict(&mut self) -> Result<bool, DeviceError> {
        let mut held = false;
        for Lane { resident, engine } in &mut self.lanes {
            held |= resident.evict(engine)?;
        }
        Ok(held)
    }
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
        let launched = if batch.spans.is_empty() {
            None
        } else {
            let lane = self.next % self.lanes.len().max(1);
            self.next = lane + 1;
            Some(self.launch_on(lane, &batch)?)
        };
        Ok(Begun {
            launched,
            note: batch.note,
        })
    }

    fn finish(&mut self, begun: Begun<D, N>) -> Result<(Answers<N>, Made), Failure> {
        let Begun { launched, note } = begun;
        let Some(launched) = launched else {
            let answers = Answers {
                verdicts: Vec::new(),
                results: Results::default(),
                note,
            };
            return Ok((answers, Made::default()));
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
        let Launched {
            footprint, items, ..
        } = &launched;
        let footprint = *footprint;
        let verdicts =
            |items: &Range<u32>| &answers.verdicts[items.start as usize..items.end as usize];
        let tried = items.iter().map(Range::len).sum::<usize>() as u64;
        let done = items.iter().flat_map(verdicts).filter(|it| it.is_done());
        let answered = done.count() as u64;
        // Free the batch's memory before measuring free memory.
        drop(launched);
        let made = Made {
            stages,
            tried,
            answered,
            footprint,
            free: self.free_memory(),
            memory: lane.engine.device().memory_usage(),
        };
        Ok((answers, made))
    }

    fn recover(&mut self) -> Result<(), Failure> {
        self.lanes.clear();
        let device = (self.open)().map_err(|reason| Failure::Lost(reason.to_string()))?;
        self.create_lanes(device);
        Ok(())
    }

    fn clean_up(&mut self) {
        // A lost device has nothing to release.
        let _ = self.evict();
        for lane in &self.lanes {
            lane.engine.device().cleanup();
        }
    }
}

#[cfg(test)]
mod tests;
