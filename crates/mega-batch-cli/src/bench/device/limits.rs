//! [`Limits`]: the limits of a device, which hold for every program.

use std::fmt;
use std::time::Instant;

use arc_dsl::Grid;
use gpu_kernels::device::{Device, DeviceError, Entry, Launch};
use gpu_kernels::interface::{CopyArguments, ROW_BYTES};
use gpu_kernels::{Engine, Evaluation, Place, Pool};
use serde::Serialize;

use super::plan::Plan;
use super::timing::{Effort, Timing, repeat};
use super::work::Work;

/// Threads of a block of the copy kernel.
const THREADS: u32 = 256;

/// Blocks per multiprocessor of the copy kernel: all are tried, since GPUs differ in what suits them best.
const BLOCKS: [u32; 4] = [4, 8, 16, 32];

/// The limits of a device, which hold for every program.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Limits {
    /// How soon there is a first result.
    pub(crate) start: Start,
    /// One evaluation of no instructions: the time on the device, and the time from the launch until it is known to
    /// be finished.
    pub(crate) launch: Timing,
    /// See `launch`.
    pub(crate) launch_wall: Timing,
    /// One evaluation of no instructions, from a packed grid on the host to its result on the host.
    pub(crate) one_result: Timing,
    /// Copies within the device.
    pub(crate) copies: Vec<Copy>,
    /// Bytes read and written per second by the fastest of the largest copies.
    pub(crate) copy_bytes_per_second: f64,
    /// Bytes per second from the host to the device, in the largest copy.
    pub(crate) upload_bytes_per_second: f64,
    /// Bytes per second from the device to the host, in the largest copy.
    pub(crate) download_bytes_per_second: f64,
}

/// Seconds until the first result.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Start {
    /// Until the device was open and its kernels loaded.
    pub(crate) device: f64,
    /// From opening the device to its first result on the host.
    pub(crate) first_result: f64,
    /// From reading the command line to the first result.
    pub(crate) from_command: f64,
}

/// Copies of one size within the device.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Copy {
    /// Who copies: the driver, or our kernel with a number of blocks per multiprocessor.
    pub(crate) by: String,
    /// Bytes that are read, and as many that are written.
    pub(crate) bytes: usize,
    /// Its time on the device.
    pub(crate) time: Timing,
    /// Bytes read and written per second.
    pub(crate) bytes_per_second: f64,
}

/// The limits, and the sizes of copies that did not fit, with the reason.
type Measured = (Limits, Vec<(usize, String)>);

/// Runs the program that returns its input on one small grid.
pub(super) fn first_result<D: Device>(
    engine: &Engine<D>,
    identity: &Work,
) -> Result<(), DeviceError> {
    let (pool, evaluation) = one();
    let programs = engine.load(&identity.on_device)?;
    engine.run(&programs, &pool, &[evaluation])?;
    Ok(())
}

/// A grid of 3 x 3, and its evaluation.
fn one() -> (Pool, Evaluation) {
    let mut pool = Pool::default();
    // Such a grid fits the device's format.
    let place = pool
        .push_grid(&Grid::filled(3, 3, 1))
        .unwrap_or(Place::default());
    let evaluation = Evaluation {
        program: 0,
        arguments: place,
        expected: None,
        fetch: true,
        hash: false,
    };
    (pool, evaluation)
}

/// Measures the limits.
pub(super) fn measure<D: Device>(
    engine: &Engine<D>,
    plan: &Plan,
    identity: &Work,
    start: Start,
) -> Result<Measured, DeviceError> {
    let effort = Effort {
        repetitions: plan.repetitions * 10,
        time: plan.time / 100,
    };
    let device = engine.device();
    let (pool, evaluation) = one();
    let programs = engine.load(&identity.on_device)?;
    let arguments = engine.upload(&pool)?;
    let prepared = engine.prepare(&programs, &arguments, &[evaluation])?;
    engine.launch(&programs, &arguments, &prepared)?;
    device.synchronize()?;
    let launch = repeat(effort, || engine.timed(&programs, &arguments, &prepared))?;
    let launch_wall = repeat(effort, || {
        let began = Instant::now();
        engine.launch(&programs, &arguments, &prepared)?;
        device.synchronize()?;
        Ok::<_, DeviceError>(began.elapsed())
    })?;
    let one_result = repeat(effort, || {
        let began = Instant::now();
        engine.run(&programs, &pool, &[evaluation])?;
        Ok::<_, DeviceError>(began.elapsed())
    })?;

    let mut limits = Limits {
        start,
        launch,
        launch_wall,
        one_result,
        copies: Vec::new(),
        copy_bytes_per_second: 0.0,
        upload_bytes_per_second: 0.0,
        download_bytes_per_second: 0.0,
    };
    let mut left_out = Vec::new();
    for &bytes in &plan.copies {
        match copies(device, bytes, effort, &mut limits) {
            Err(error @ DeviceError::OutOfMemory { .. }) => {
                left_out.push((bytes, error.to_string()));
            }
            result => result?,
        }
    }
    Ok((limits, left_out))
}

/// Measures copies of one size in all ways; the bandwidths are those of the largest size that fits.
fn copies<D: Device>(
    device: &D,
    bytes: usize,
    effort: Effort,
    limits: &mut Limits,
) -> Result<(), DeviceError> {
    let mut from = device.allocate(bytes)?;
    let mut to = device.allocate(bytes)?;
    let mut host = vec![1; bytes];
    let upload = repeat(effort, || {
        let began = Instant::now();
        device.upload(&host, &mut from, 0)?;
        device.synchronize()?;
        Ok::<_, DeviceError>(began.elapsed())
    })?;
    let download = repeat(effort, || {
        let began = Instant::now();
        device.download(&from, 0, &mut host)?;
        Ok::<_, DeviceError>(began.elapsed())
    })?;
    drop(host);

    let mut fastest: f64 = 0.0;
    let mut note = |by: String, time: Timing| {
        let bytes_per_second = time.rate(2.0 * bytes as f64);
        fastest = fastest.max(bytes_per_second);
        limits.copies.push(Copy {
            by,
            bytes,
            time,
            bytes_per_second,
        });
    };
    let driver = repeat(effort, || {
        let begin = device.record()?;
        device.copy(&from, &mut to, bytes)?;
        let end = device.record()?;
        device.elapsed(&begin, &end)
    })?;
    note("driver".to_owned(), driver);
    for blocks in BLOCKS {
        let multiprocessors = device.information().multiprocessors.max(1);
        let launch = Launch {
            entry: Entry::Copy,
            blocks: blocks * multiprocessors,
            threads: THREADS,
            shared_bytes: 0,
            arguments: CopyArguments {
                from: &from,
                to: &to,
                count: (bytes / ROW_BYTES as usize) as u32,
            }
            .list(),
        };
        let kernel = repeat(effort, || {
            let begin = device.record()?;
            device.launch(&launch)?;
            let end = device.record()?;
            device.elapsed(&begin, &end)
        })?;
        note(format!("kernel, {blocks} blocks a multiprocessor"), kernel);
    }
    limits.copy_bytes_per_second = fastest;
    limits.upload_bytes_per_second = upload.rate(bytes as f64);
    limits.download_bytes_per_second = download.rate(bytes as f64);
    Ok(())
}

/// One line for each limit.
impl fmt::Display for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Start {
            device,
            first_result,
            from_command,
        } = self.start;
        for (name, seconds) in [
            ("device opened in", device),
            ("first result after", first_result),
            ("from the command's start", from_command),
        ] {
            writeln!(f, "{name:<40}{:>12.1} ms", seconds * 1e3)?;
        }
        for (name, timing) in [
            ("empty launch, by the device's clock", &self.launch),
            ("empty launch, until it is through", &self.launch_wall),
            ("one grid there and back", &self.one_result),
        ] {
            writeln!(f, "{name:<40}{:>12.1} us", timing.seconds * 1e6)?;
        }
        for (name, rate) in [
            ("copy within the device", self.copy_bytes_per_second),
            ("copy to the device", self.upload_bytes_per_second),
            ("copy from the device", self.download_bytes_per_second),
        ] {
            writeln!(f, "{name:<40}{:>12.1} GB/s", rate / 1e9)?;
        }
        Ok(())
    }
}
