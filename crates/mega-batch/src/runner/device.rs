//! [`Desk`]: the evaluations of a batch that a device makes.
//!
//! The calling thread owns the device. Before workers are given a window, what the device can run of
//! it becomes one launch; workers do the rest, as if there were no device. A launch that the device's
//! memory has no room for is made in halves, and a device that fails is asked for nothing more.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, MutexGuard};
use std::time::{Duration, Instant};

use arc_dsl::{Pair, Program, Value};
use gpu_kernels::device::emulated::Emulation;
use gpu_kernels::device::{Device, DeviceError, Unavailable, open};
use gpu_kernels::interface::Representation;
use gpu_kernels::{BailOut, DeviceProgram, Engine, Evaluation, Pool, Results, Verdict};

use super::unit::Unit;
use crate::backend::{Backend, OnDevice};
use crate::batch::Batch;
use crate::outcome::Outcome;
use crate::panics::PANIC;

/// A device with its kernels, whichever it is.
pub(super) trait Launcher: fmt::Debug + Send {
    /// Its name.
    fn name(&self) -> &str;

    /// Bytes of shared memory that an evaluation can have.
    fn shared_bytes(&self) -> u32;

    /// Makes the evaluations in one launch.
    fn run(
        &self,
        programs: &[DeviceProgram],
        pool: &Pool,
        evaluations: &[Evaluation],
    ) -> Result<(Vec<Verdict>, Results), DeviceError>;
}

impl<D: Device + fmt::Debug + Send> Launcher for Engine<D> {
    fn name(&self) -> &str {
        &self.device().information().name
    }

    fn shared_bytes(&self) -> u32 {
        self.device().information().shared_bytes
    }

    fn run(
        &self,
        programs: &[DeviceProgram],
        pool: &Pool,
        evaluations: &[Evaluation],
    ) -> Result<(Vec<Verdict>, Results), DeviceError> {
        let programs = self.load(programs)?;
        Engine::run(self, &programs, pool, evaluations)
    }
}

/// The device of a backend, or why it is not there; nothing for backends that need none.
pub(super) fn open(backend: Backend) -> Option<Result<Box<dyn Launcher>, Unavailable>> {
    match backend {
        Backend::Reference | Backend::Compiled | Backend::Auto => None,
        Backend::Emulated => Some(emulated(&Emulation::default())),
        Backend::Cuda => Some(open::gpu(0).map(boxed)),
    }
}

/// An emulated device.
pub(super) fn emulated(emulation: &Emulation) -> Result<Box<dyn Launcher>, Unavailable> {
    open::emulated(0, emulation).map(boxed)
}

fn boxed<D: Device + fmt::Debug + Send + 'static>(device: D) -> Box<dyn Launcher> {
    Box::new(Engine::new(device))
}

/// What came of an evaluation, and its output where that is kept.
pub(super) type Found = (Outcome, Option<Value>);

/// What a device made of a unit.
#[derive(Debug, Default)]
pub(super) struct Made {
    /// By the place of the evaluation in the unit; nothing where others have to make it. None at all
    /// where the device runs no such program.
    pub(super) found: Vec<Option<Found>>,
    /// The unit's share of the time.
    pub(super) time: Duration,
}

impl Made {
    /// How many evaluations the device made.
    pub(super) fn count(&self) -> usize {
        self.found.iter().flatten().count()
    }
}

/// The device and the programs of one batch on it.
#[derive(Debug)]
pub(super) struct Desk<'b> {
    device: MutexGuard<'b, Box<dyn Launcher>>,
    batch: &'b Batch<'b>,
    keep_outputs: bool,
    /// By the place of the program.
    places: Vec<Place>,
    /// How many evaluations a launch has at most.
    most: usize,
    counts: Counts,
}

/// Where one program stands.
#[derive(Debug)]
struct Place {
    state: State,
    /// How many of its evaluations are still to come.
    left: u64,
}

#[derive(Debug)]
enum State {
    /// No evaluation was due so far.
    New,
    Encoded(Arc<DeviceProgram>),
    /// The host runs it.
    HostOnly,
}

#[derive(Debug, Default)]
struct Counts {
    evaluations: u64,
    bail_outs: BTreeMap<BailOut, u64>,
    /// Evaluations for which there was not memory enough even alone.
    too_large: u64,
    programs: u64,
    host_only: BTreeMap<String, u64>,
    halved: u64,
    failure: Option<String>,
    encoding: Duration,
}

/// An evaluation that the device is to make, and where its result goes.
struct Due<'b> {
    program: u32,
    encoded: Arc<DeviceProgram>,
    pair: &'b Pair,
    unit: usize,
    at: usize,
}

/// Reasons that are ours.
const NO_GRID: &str = "a result that is no grid";
const SHARED: &str = "more values at a time than a block has memory for";
const FULL: &str = "out of device memory";

impl<'b> Desk<'b> {
    /// Room for the programs of the batch.
    pub(super) fn new(
        device: MutexGuard<'b, Box<dyn Launcher>>,
        batch: &'b Batch<'b>,
        keep_outputs: bool,
    ) -> Self {
        let place = |left| Place {
            state: State::New,
            left,
        };
        let evaluations = batch.evaluations_by_program();
        Self {
            device,
            batch,
            keep_outputs,
            places: evaluations.into_iter().map(place).collect(),
            most: usize::MAX,
            counts: Counts::default(),
        }
    }

    /// Makes what the device can make of these units, which come in the order of the batch.
    pub(super) fn evaluate(&mut self, units: &[Unit]) -> Vec<Made> {
        let mut made: Vec<Made> = units.iter().map(|_| Made::default()).collect();
        if self.counts.failure.is_some() {
            return made;
        }
        let mut due = Vec::new();
        for (number, unit) in units.iter().enumerate() {
            if let Some(encoded) = self.encoded(unit.program) {
                made[number].found.resize_with(unit.len, || None);
                let pairs = unit.pairs(self.batch).enumerate();
                due.extend(pairs.map(|(at, (_, pair))| Due {
                    program: unit.program,
                    encoded: Arc::clone(&encoded),
                    pair,
                    unit: number,
                    at,
                }));
            }
        }
        self.make(&due, &mut made);
        for unit in units {
            let place = &mut self.places[unit.program as usize];
            place.left -= (unit.len as u64).min(place.left);
            if place.left == 0 {
                place.state = State::HostOnly;
            }
        }
        made
    }

    /// Launches until everything is made or bailed out of, or the device has failed.
    fn make(&mut self, due: &[Due<'_>], made: &mut [Made]) {
        let mut left = due;
        while !left.is_empty() {
            let (now, later) = left.split_at(left.len().min(self.most));
            let began = Instant::now();
            match self.launch(now) {
                Ok(answers) => {
                    let share = began.elapsed() / now.len() as u32;
                    for (due, answer) in now.iter().zip(answers) {
                        let made = &mut made[due.unit];
                        made.time += share;
                        made.found[due.at] = self.counted(answer);
                    }
                    left = later;
                }
                Err(DeviceError::OutOfMemory { .. }) if now.len() > 1 => {
                    self.counts.halved += 1;
                    self.most = now.len() / 2;
                }
                Err(DeviceError::OutOfMemory { .. }) => {
                    self.counts.too_large += 1;
                    left = later;
                }
                Err(error) => {
                    self.counts.failure = Some(error.to_string());
                    return;
                }
            }
        }
        // Others may have let go of memory when the next window comes.
        self.most = self.most.saturating_mul(2);
    }

    fn counted(&mut self, answer: Result<Found, BailOut>) -> Option<Found> {
        match answer {
            Ok(found) => {
                self.counts.evaluations += 1;
                Some(found)
            }
            Err(bail_out) => {
                *self.counts.bail_outs.entry(bail_out).or_default() += 1;
                None
            }
        }
    }

    /// The program, encoded now if it was not; nothing where the host runs it.
    fn encoded(&mut self, program: u32) -> Option<Arc<DeviceProgram>> {
        let place = &mut self.places[program as usize];
        if let State::New = place.state {
            let began = Instant::now();
            let program = &self.batch.programs()[program as usize];
            place.state = match encoded(program, self.device.shared_bytes()) {
                Ok(encoded) => {
                    self.counts.programs += 1;
                    State::Encoded(Arc::new(encoded))
                }
                Err(reason) => {
                    *self.counts.host_only.entry(reason).or_default() += 1;
                    State::HostOnly
                }
            };
            self.counts.encoding += began.elapsed();
        }
        match &place.state {
            State::Encoded(encoded) => Some(Arc::clone(encoded)),
            State::New | State::HostOnly => None,
        }
    }

    /// What came of each of these evaluations in one launch, or why the device bailed out.
    fn launch(&self, due: &[Due<'_>]) -> Result<Vec<Result<Found, BailOut>>, DeviceError> {
        let mut programs = Vec::new();
        let mut numbers: HashMap<u32, u32> = HashMap::new();
        let mut pool = Pool::default();
        let mut evaluations = Vec::with_capacity(due.len());
        let mut numbered = Vec::with_capacity(due.len());
        for due in due {
            let number = *numbers.entry(due.program).or_insert_with(|| {
                programs.push(DeviceProgram::clone(&due.encoded));
                programs.len() as u32 - 1
            });
            numbered.push(pool.push_grid(&due.pair.input).map(|arguments| {
                let expected = due.pair.output.as_ref();
                evaluations.push(Evaluation {
                    program: number,
                    arguments,
                    // A grid that the device cannot hold is none that it makes.
                    expected: expected.and_then(|grid| pool.push_grid(grid).ok()),
                    fetch: self.keep_outputs,
                });
                evaluations.len() - 1
            }));
        }
        // To panic is to fail: it costs the device and not the batch.
        let run = || self.device.run(&programs, &pool, &evaluations);
        let run = catch_unwind(AssertUnwindSafe(run));
        let (verdicts, results) = run.unwrap_or_else(|_| {
            Err(DeviceError::Lost {
                reason: PANIC.to_owned(),
            })
        })?;
        let answer = |(number, due): (Result<usize, BailOut>, &Due<'_>)| {
            let number = number?;
            let outcome = match (verdicts[number], &due.pair.output) {
                (Verdict::BailedOut { reason, .. }, _) => return Err(reason),
                (_, None) => Outcome::NoExpected,
                (Verdict::Done { right: true, .. }, _) => Outcome::Match,
                (Verdict::Done { right: false, .. }, _) => Outcome::Mismatch,
            };
            let output = self.keep_outputs.then(|| results.value(number));
            match output {
                Some(None) => Err(BailOut::Undefined),
                output => Ok((outcome, output.flatten())),
            }
        };
        Ok(numbered.into_iter().zip(due).map(answer).collect())
    }

    /// What it came to, and how long encoding took.
    pub(super) fn finish(self) -> (OnDevice, Duration) {
        let counts = self.counts;
        let bail_outs = counts.bail_outs.into_iter();
        let mut bail_outs: BTreeMap<String, u64> = bail_outs
            .map(|(bail_out, count)| (bail_out.to_string(), count))
            .collect();
        if counts.too_large > 0 {
            bail_outs.insert(FULL.to_owned(), counts.too_large);
        }
        let device = OnDevice {
            name: self.device.name().to_owned(),
            evaluations: counts.evaluations,
            bail_outs,
            programs: counts.programs,
            programs_host_only: counts.host_only,
            launches_halved: counts.halved,
            failure: counts.failure,
        };
        (device, counts.encoding)
    }
}

/// The program as the device runs it, or why the host runs it.
///
/// Values that are no grids have more types on the host than representations on the device, and are right on
/// no pair.
fn encoded(program: &Program, shared_bytes: u32) -> Result<DeviceProgram, String> {
    let encode = || {
        let form = arc_form::specialise(program).map_err(|error| error.reason.to_string())?;
        gpu_kernels::encode(&form).map_err(|reason| reason.summary())
    };
    let encoded = catch_unwind(encode).unwrap_or_else(|_| Err(PANIC.to_owned()))?;
    if encoded.gives() != Representation::Grid {
        Err(NO_GRID.to_owned())
    } else if encoded.pool_bytes() > shared_bytes {
        Err(SHARED.to_owned())
    } else {
        Ok(encoded)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::num::NonZeroUsize;

    use arc_dsl::{Grid, Limits, Operand, Primitive, ProgramBuilder, Task};
    use gpu_kernels::device::emulated::EmulatedDevice;

    use super::*;
    use crate::options::{Mode, Options};
    use crate::runner::tests::{mixed_batch, pipeline, without_times};
    use crate::runner::{Report, Runner, run};

    fn options(backend: Backend, mode: Mode, keep_outputs: bool) -> Options {
        Options {
            mode,
            backend,
            keep_outputs,
            workers: NonZeroUsize::new(2),
            ..Options::default()
        }
    }

    fn on(device: Result<Box<dyn Launcher>, Unavailable>, mode: Mode, keep: bool) -> Runner {
        let device = device.map_err(|reason| reason.to_string());
        Runner::with_device(&options(Backend::Emulated, mode, keep), Some(device)).unwrap()
    }

    /// Where nothing compiles the kernels, the CPU does everything and there is less to see.
    fn is_there() -> bool {
        EmulatedDevice::fingerprint().is_some()
    }

    /// What the device did, if all evaluations were counted once.
    fn device(report: &Report) -> OnDevice {
        let backends = &report.summary.backends;
        assert_eq!(backends.no_device.is_none(), is_there());
        let device = backends.device.clone().unwrap_or_default();
        let made = backends.compiled + backends.reference + device.evaluations;
        assert_eq!(made, report.summary.totals.evaluations);
        device
    }

    fn sum(counts: &BTreeMap<String, u64>) -> u64 {
        counts.values().sum()
    }

    #[test]
    fn an_emulated_device_gives_what_the_reference_gives() {
        let (programs, tasks) = mixed_batch();
        let batch = Batch::all_pairs(&programs, &tasks);
        for (mode, keep_outputs) in [(Mode::Sequential, true), (Mode::Parallel, false)] {
            let reference = options(Backend::Reference, mode, keep_outputs);
            let expected = run(&batch, &reference).unwrap();
            let report = run(&batch, &options(Backend::Emulated, mode, keep_outputs)).unwrap();
            let results = without_times(&report);
            for (result, expected) in results.iter().zip(&without_times(&expected)) {
                assert_eq!(result, expected, "{}", batch.program(result.0));
            }
            assert_eq!(results.len(), batch.evaluations() as usize);
            assert_eq!(report.summary.totals, expected.summary.totals);
            let device = device(&report);
            if is_there() {
                assert!(device.evaluations > 500, "{device:?}");
                assert!(sum(&device.bail_outs) > 0, "{device:?}");
                let encoded = device.programs + sum(&device.programs_host_only);
                assert_eq!(encoded, programs.len() as u64);
                assert_eq!((device.launches_halved, device.failure), (0, None));
            }
        }
    }

    #[test]
    fn launches_are_halved_until_they_fit() {
        let (programs, tasks) = mixed_batch();
        let batch = Batch::all_pairs(&programs, &tasks);
        let expected = run(&batch, &options(Backend::Reference, Mode::Parallel, false)).unwrap();
        let mut whole = None;
        for bytes in [1 << 30, 150_000, 1_500, 1] {
            let emulation = Emulation {
                bytes,
                ..Emulation::default()
            };
            let report = on(emulated(&emulation), Mode::Parallel, false).run(&batch);
            let report = report.unwrap();
            assert!(without_times(&report) == without_times(&expected));
            let device = device(&report);
            if !is_there() {
                continue;
            }
            let whole = whole.get_or_insert_with(|| device.clone());
            let full = device.bail_outs.get(FULL).copied().unwrap_or_default();
            let through = |device: &OnDevice| device.evaluations + sum(&device.bail_outs);
            assert_eq!(through(&device), through(whole));
            assert_eq!(device.launches_halved > 0, bytes < 1 << 30);
            // In 1,500 bytes some evaluations fit alone, in one byte none does.
            assert_eq!(full > 0, bytes <= 1_500, "{full} at {bytes}");
            assert_eq!(device.evaluations > 0, bytes > 1);
            assert_eq!(device.failure, None);
        }
    }

    /// A device that fails behind so many launches.
    #[derive(Debug)]
    struct Failing {
        device: Box<dyn Launcher>,
        left: Cell<usize>,
        panics: bool,
    }

    impl Launcher for Failing {
        fn name(&self) -> &str {
            self.device.name()
        }

        fn shared_bytes(&self) -> u32 {
            self.device.shared_bytes()
        }

        fn run(
            &self,
            programs: &[DeviceProgram],
            pool: &Pool,
            evaluations: &[Evaluation],
        ) -> Result<(Vec<Verdict>, Results), DeviceError> {
            if self.left.get() == 0 {
                assert!(!self.panics, "half way");
                let reason = "fell off the bus".to_owned();
                return Err(DeviceError::Lost { reason });
            }
            self.left.set(self.left.get() - 1);
            self.device.run(programs, pool, evaluations)
        }
    }

    #[test]
    fn what_a_device_leaves_when_it_fails_the_cpu_does() {
        let (programs, tasks) = mixed_batch();
        let batch = Batch::all_pairs(&programs, &tasks);
        let expected = run(&batch, &options(Backend::Reference, Mode::Parallel, true)).unwrap();
        for (mode, panics) in [(Mode::Sequential, false), (Mode::Parallel, true)] {
            let failing = emulated(&Emulation::default()).map(|device| {
                let left = Cell::new(2);
                Box::new(Failing {
                    device,
                    left,
                    panics,
                }) as Box<dyn Launcher>
            });
            let mut runner = on(failing, mode, true);
            let report = runner.run(&batch).unwrap();
            assert!(without_times(&report) == without_times(&expected));
            let device = device(&report);
            if !is_there() {
                continue;
            }
            let reason = if panics { PANIC } else { "fell off the bus" };
            let failure = format!("the device is lost: {reason}");
            assert_eq!(device.failure.as_ref(), Some(&failure));
            assert!(device.evaluations > 0);
            // It is not asked again.
            let again = runner.run(&batch).unwrap();
            assert!(without_times(&again) == without_times(&expected));
            assert_eq!(again.summary.backends.no_device, Some(failure));
            assert_eq!(again.summary.backends.device, None);
        }
    }

    #[test]
    fn without_a_device_the_cpu_does_as_auto() {
        let (programs, tasks) = mixed_batch();
        let batch = Batch::all_pairs(&programs, &tasks);
        let expected = run(&batch, &options(Backend::Auto, Mode::Parallel, true)).unwrap();
        let mut runner = on(Err(Unavailable::NoDevice), Mode::Parallel, true);
        let reason = "the NVIDIA driver finds no GPU";
        assert_eq!(runner.no_device(), Some(reason));
        let report = runner.run(&batch).unwrap();
        assert!(without_times(&report) == without_times(&expected));
        let mut backends = report.summary.backends;
        assert_eq!(backends.no_device.take().as_deref(), Some(reason));
        backends.backend = Backend::Auto;
        backends.compile_time = expected.summary.backends.compile_time;
        assert_eq!(backends, expected.summary.backends);
    }

    #[test]
    fn within_lower_bounds_no_device_is_opened() {
        let tasks = [Task::default()];
        let programs = [pipeline("solve_a", &[Primitive::Vmirror])];
        let limits = Limits {
            timeout: Some(Duration::from_secs(60)),
            ..Limits::default()
        };
        for backend in [Backend::Emulated, Backend::Cuda] {
            let options = Options {
                limits: limits.clone(),
                ..options(backend, Mode::Sequential, false)
            };
            let mut runner = Runner::new(&options).unwrap();
            let backends = runner.run(&Batch::all_pairs(&programs, &tasks)).unwrap();
            let backends = backends.summary.backends;
            assert_eq!((backends.device, backends.no_device), (None, None));
        }
    }

    #[test]
    fn what_a_device_cannot_hold_is_bailed_out_of_or_wrong() {
        let large = Grid::filled(33, 1, 0);
        let small = Grid::filled(2, 2, 3);
        let pair = |input: &Grid, output: Option<&Grid>| Pair::new(input.clone(), output.cloned());
        let task = Task {
            id: "a".into(),
            train: vec![
                pair(&large, Some(&large)),
                pair(&small, Some(&large)),
                pair(&small, Some(&small)),
                pair(&small, None),
                pair(&Grid::default(), Some(&Grid::default())),
            ],
            test: vec![],
        };
        let mut builder = ProgramBuilder::new("solve_b");
        let factor = Operand::from(Value::Int(17));
        let output = builder.call(Primitive::Upscale, [builder.input(), factor]);
        let upscaled = builder.finish(output.unwrap()).unwrap();
        let programs = [
            pipeline("solve_a", &[Primitive::Vmirror]),
            upscaled,
            pipeline("solve_c", &[Primitive::Height]),
        ];
        let (batch, tasks) = (&programs, [task]);
        let batch = Batch::all_pairs(batch, &tasks);
        let by = |backend| run(&batch, &options(backend, Mode::Sequential, true)).unwrap();
        let (report, expected) = (by(Backend::Emulated), by(Backend::Reference));
        assert_eq!(without_times(&report), without_times(&expected));
        let device = device(&report);
        if is_there() {
            // The large input twice, and what `upscale` makes of the small one.
            let grids = &device.bail_outs["a grid past 32 rows or columns"];
            assert_eq!((*grids, device.programs), (5, 2), "{device:?}");
            assert_eq!(device.programs_host_only[NO_GRID], 1);
        }
    }
}
