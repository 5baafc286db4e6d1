//! [`Clock`]: times of kernels and copies on the first GPU, by its own clock.

use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow, ensure};
use arc_dsl::Grid;
use gpu_kernels::device::cuda::CudaDevice;
use gpu_kernels::device::{Device as _, DeviceError, Entry, Launch, open};
use gpu_kernels::interface::{CopyArguments, EVALUATION_BYTES, ROW_BYTES, Representation};
use gpu_kernels::{Engine, Evaluation, Pool, PoolPlace, encode};

use super::document::Cell;
use super::measure::Load;
use super::plan::BenchMode;
use super::statistics::Spread;

/// The figures of [`Clock::copies`], in bytes a second; within the device, bytes read and bytes written.
pub(super) const COPY: &str = "copy within the device";
const COPY_TO: &str = "copy to the device";
const COPY_FROM: &str = "copy from the device";

/// Threads of a block of the copy kernel.
const THREADS: u32 = 256;

/// Blocks per multiprocessor of the copy kernel: all are tried, since GPUs differ in what suits them best.
const BLOCKS: [u32; 4] = [4, 8, 16, 32];

/// How often a copy is repeated.
const TURNS: usize = 5;

/// Bytes of device memory that a kernel reads and writes for an evaluation from a grid to an output, which it compares
/// with the expected grid.
pub(super) fn bytes_moved() -> u32 {
    3 * Representation::Grid.bytes() + EVALUATION_BYTES
}

/// The first GPU.
pub(super) struct Clock(Engine<CudaDevice>);

impl Clock {
    pub(super) fn open() -> anyhow::Result<Self> {
        Ok(Self(Engine::new(open::gpu(0)?)))
    }

    /// The kernel for a batch of one program, which writes every output; if the device has no memory for it, that.
    pub(super) fn cell(
        &self,
        load: &Load<'_>,
        turns: usize,
    ) -> anyhow::Result<Result<Cell, String>> {
        let (kind, size) = (load.kind, load.size);
        let seconds = match self.kernel(load, turns) {
            Ok(seconds) => Spread::of(&seconds).context("nothing was timed")?,
            Err(error) => {
                let told = format!("{kind}, {size} evaluations a batch, kernel: {error:#}");
                return match error.downcast_ref() {
                    Some(DeviceError::OutOfMemory { .. }) => Ok(Err(told)),
                    _ => Err(anyhow!(told)),
                };
            }
        };
        let mode = BenchMode::Kernel;
        Ok(Ok(Cell::new(kind, size, mode, load.steps()?, seconds)))
    }

    fn kernel(&self, load: &Load<'_>, turns: usize) -> anyhow::Result<Vec<f64>> {
        let batches = load.batches()?;
        let batch = batches.first().context("there is no batch")?;
        let program = batch.programs().first().context("there is no program")?;
        let form = arc_form::specialise(program).map_err(|error| anyhow!("{}", error.reason))?;
        let on_device = encode(&form).map_err(|reason| anyhow!("{reason}"))?;
        let mut pool = Pool::default();
        let mut evaluations = Vec::with_capacity(load.size);
        for job in batch.jobs() {
            for (_, pair) in batch.pairs(batch.task(job)) {
                let expected = pair.output.as_ref();
                evaluations.push(Evaluation {
                    program: 0,
                    arguments: place(&mut pool, &pair.input)?,
                    expected: expected.map(|grid| place(&mut pool, grid)).transpose()?,
                    fetch: true,
                });
            }
        }
        let engine = &self.0;
        let programs = engine.load(&[on_device])?;
        let (pairs, spans) = Evaluation::spans(&evaluations);
        let arguments = engine.upload(&pool, &pairs)?;
        let prepared = engine.prepare(&programs, &arguments, &spans)?;
        engine.launch(&programs, &arguments, &prepared)?;
        let verdicts = engine.verdicts(&prepared)?;
        let wrong = verdicts.iter().filter(|it| it.ended() == Ok(false));
        let wrong = wrong.count();
        ensure!(wrong == 0, "{wrong} outputs are wrong");
        let timed = (0..turns).map(|_| engine.timed(&programs, &arguments, &prepared));
        let timed = timed.map(|time| Ok(time?.as_secs_f64()));
        timed.collect()
    }

    /// The bandwidths of copies of so many bytes, which memory-bound kernels are compared with.
    pub(super) fn copies(&self, bytes: usize) -> anyhow::Result<[(&'static str, f64); 3]> {
        let device = self.0.device();
        let mut from = device.allocate(bytes)?;
        let mut to = device.allocate(bytes)?;
        let mut host = vec![1; bytes];
        let up = fastest(|| {
            let began = Instant::now();
            device.upload(&host, &mut from, 0)?;
            device.synchronize()?;
            Ok(began.elapsed())
        })?;
        let down = fastest(|| {
            let began = Instant::now();
            device.download(&from, 0, &mut host)?;
            Ok(began.elapsed())
        })?;
        let mut within = fastest(|| {
            let begin = device.record()?;
            device.copy(&from, &mut to, bytes)?;
            device.elapsed(&begin, &device.record()?)
        })?;
        for blocks in BLOCKS {
            let launch = Launch {
                entry: Entry::Copy,
                blocks: blocks * device.information().multiprocessors.max(1),
                threads: THREADS,
                shared_bytes: 0,
                arguments: CopyArguments {
                    from: &from,
                    to: &to,
                    count: (bytes / ROW_BYTES as usize) as u32,
                }
                .list(),
            };
            let kernel = fastest(|| {
                let begin = device.record()?;
                device.launch(&launch)?;
                device.elapsed(&begin, &device.record()?)
            })?;
            within = within.min(kernel);
        }
        let moved = [(COPY, 2, within), (COPY_TO, 1, up), (COPY_FROM, 1, down)];
        Ok(moved.map(|(name, times, seconds)| (name, (times * bytes) as f64 / seconds.max(1e-9))))
    }
}

/// Adds a grid.
fn place(pool: &mut Pool, grid: &Grid) -> anyhow::Result<PoolPlace> {
    let place = pool.push_grid(grid);
    place.map_err(|reason| anyhow!("{reason}"))
}

/// The shortest of some turns, in seconds.
fn fastest(mut once: impl FnMut() -> Result<Duration, DeviceError>) -> Result<f64, DeviceError> {
    let mut fastest = f64::INFINITY;
    for _ in 0..TURNS {
        fastest = fastest.min(once()?.as_secs_f64());
    }
    Ok(fastest)
}
