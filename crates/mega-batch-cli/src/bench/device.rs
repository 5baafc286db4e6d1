//! The benchmark of the device path: the limits of a device, every family of operations, pipelines and whole programs
//! in batches of 1 to 1,000,000 grids, and the same on the CPU in the same run.
//!
//! The grids are inputs of the built-in tasks, of all sizes. Every batch is run once before it is timed, and its
//! results are compared with those of the CPU: a difference ends the benchmark. Batches that do not fit into memory,
//! and sizes for which there is no time, are left out and listed.

use std::fmt;
use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::time::{Duration, Instant};

use gpu_kernels::Engine;
use gpu_kernels::device::{self, Device, DeviceError, Unavailable, open};
use serde::Serialize;

use crate::table::thousands;
use mega_batch::VERSION;
use mega_batch::devices::{Host, simulated};

mod cpu;
mod export;
mod inputs;
mod levers;
mod limits;
mod plan;
mod row;
mod timing;
mod work;

pub(crate) use export::export;
pub(crate) use levers::Lever;
pub(crate) use limits::{Limits, Start};
pub(crate) use plan::{Plan, Target};
pub(crate) use row::{Heading, Row};
pub(crate) use timing::Timing;
pub(crate) use work::Given;

use cpu::Cpu;
use inputs::{Input, Inputs, Load, too_many_for_host};
use plan::{Budget, DISTINCT, predicted};
use timing::Effort;
use work::Work;

/// What was measured.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Document {
    /// The version of the engine.
    pub(crate) engine_version: &'static str,
    /// The commit that it was built from, if the caller knows it.
    pub(crate) commit: Option<String>,
    /// The device's name.
    pub(crate) device: String,
    /// A note that the figures are not those of a GPU; `None` if they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<&'static str>,
    /// Major and minor compute capability; for an emulated device, that of the GPU it emulates.
    pub(crate) compute_capability: (u32, u32),
    /// The CUDA version of the driver; `None` if there is no driver.
    pub(crate) driver: Option<(u32, u32)>,
    /// Multiprocessors.
    pub(crate) multiprocessors: u32,
    /// Bytes of device memory.
    pub(crate) memory: u64,
    /// The host; the CPU columns were measured on its cores.
    pub(crate) machine: Machine,
    /// Threads used for the columns of all cores.
    pub(crate) workers: usize,
    /// The time limit in seconds.
    pub(crate) allowed_seconds: f64,
    /// The time taken in seconds.
    pub(crate) seconds: f64,
    /// The limits that hold for every program.
    pub(crate) limits: Limits,
    /// Grids packed per second for the device, on one core of the host, in the largest batch.
    pub(crate) packed_per_second: f64,
    /// A row for each work and size.
    pub(crate) rows: Vec<Row>,
    /// The batch sizes from which the device is faster.
    pub(crate) break_even: Vec<BreakEven>,
    /// Launches with other settings.
    pub(crate) levers: Vec<Lever>,
    /// Built-in programs that the device does not run.
    pub(crate) host_only_programs: usize,
    /// Given programs that the device does not run, or that have no task.
    pub(crate) given_left_out: usize,
    /// What was planned and is missing.
    pub(crate) left_out: Vec<LeftOut>,
}

/// The machine that a device's benchmark was run on.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Machine {
    /// The processor's name, or its architecture where the system does not tell.
    pub(crate) cpu: String,
    /// Cores that this process may use.
    pub(crate) cores: usize,
    /// The operating system.
    pub(crate) os: &'static str,
}

/// The smallest batch from which on the device is faster than the CPU, by wall-clock time; `None` if it is slower
/// even in the largest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct BreakEven {
    /// The work.
    pub(crate) name: String,
    /// Fetching verdicts only, against one core.
    pub(crate) verdicts_than_one_core: Option<usize>,
    /// Fetching verdicts only, against all cores.
    pub(crate) verdicts_than_all_cores: Option<usize>,
    /// Fetching results, against one core.
    pub(crate) fetched_than_one_core: Option<usize>,
    /// Fetching results, against all cores.
    pub(crate) fetched_than_all_cores: Option<usize>,
}

/// What was planned and is missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct LeftOut {
    /// The work; `None` for all.
    pub(crate) name: Option<String>,
    /// Grids, or bytes for copies; `None` for all sizes.
    pub(crate) size: Option<usize>,
    /// Why it was left out.
    pub(crate) reason: String,
    /// Whether the reason is that device and CPU gave different results.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) differs: bool,
}

impl LeftOut {
    fn new(name: Option<&str>, size: Option<usize>, reason: String) -> Self {
        Self {
            name: name.map(str::to_owned),
            size,
            reason,
            differs: false,
        }
    }
}

/// A result that differs between the device and the CPU.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name} differs\n{program}  on {input}\n  CPU:    {expected}\n  device: {found}")]
pub(crate) struct Difference {
    name: String,
    program: String,
    input: String,
    expected: String,
    found: String,
}

impl Difference {
    fn error(work: &Work, input: &Input, expected: String, found: String) -> DeviceBenchError {
        let difference = Self {
            name: work.name.clone(),
            program: work.programs[input.program as usize].to_string(),
            input: arc_dsl::Value::from((*input.grid).clone()).to_string(),
            expected,
            found,
        };
        Box::new(difference).into()
    }
}

/// Why there is no document.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DeviceBenchError {
    /// There is no such device.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    /// The device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The threads of the CPU could not be started.
    #[error("the workers cannot be started")]
    Workers(#[from] io::Error),
    /// The device's result differs from the CPU's.
    #[error(transparent)]
    Difference(#[from] Box<Difference>),
    /// The CPU's result differs from the reference.
    #[error("{name}, {grids} grids: the CPU has {wrong} wrong outputs")]
    Cpu {
        /// What was run.
        name: String,
        /// Evaluations.
        grids: usize,
        /// Those of them that were wrong.
        wrong: usize,
    },
    /// The device's result was malformed, or the host code has a bug.
    #[error("the host panicked over what the device gave")]
    Panicked,
    /// A program of the benchmark cannot be built.
    #[error("a program of the benchmark: {0}")]
    Program(String),
}

/// Progress reports while measuring.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Progress<'t> {
    /// What bounds every program.
    Limits(&'t Limits),
    /// A row that is finished.
    Row(&'t Row),
}

/// Measures the plan, reporting what is finished. `began` is when the command was started; the time limit counts from
/// there.
pub(crate) fn measure(
    plan: &Plan,
    given: &Given,
    began: Instant,
    mut tell: impl FnMut(Progress<'_>),
) -> Result<Document, DeviceBenchError> {
    let asked = Instant::now();
    match plan.target {
        Target::Cuda => {
            let device = open::gpu(0)?;
            on(device, (plan, given), began, asked, &mut tell)
        }
        Target::Emulated => {
            let device = simulated::emulated()?;
            on(device, (plan, given), began, asked, &mut tell)
        }
    }
}

/// Opens the first NVIDIA GPU and runs one evaluation on it.
pub(crate) fn start(began: Instant) -> Result<Start, DeviceBenchError> {
    let asked = Instant::now();
    let (_, _, start) = begun(open::gpu(0)?, began, asked)?;
    Ok(start)
}

/// The first result of a device that was just opened.
fn begun<D: Device>(
    device: D,
    began: Instant,
    asked: Instant,
) -> Result<(Engine<D>, Work, Start), DeviceBenchError> {
    let identity = Work::identity().map_err(DeviceBenchError::Program)?;
    let opened = asked.elapsed();
    let engine = Engine::new(device);
    limits::first_result(&engine, &identity)?;
    let start = Start {
        device: opened.as_secs_f64(),
        first_result: asked.elapsed().as_secs_f64(),
        from_command: began.elapsed().as_secs_f64(),
    };
    Ok((engine, identity, start))
}

fn on<D: Device>(
    device: D,
    (plan, given): (&Plan, &Given),
    began: Instant,
    asked: Instant,
    tell: &mut dyn FnMut(Progress<'_>),
) -> Result<Document, DeviceBenchError> {
    let (engine, identity, start) = begun(device, began, asked)?;
    let (limits, no_copies) = limits::measure(&engine, plan, &identity, start)?;
    tell(Progress::Limits(&limits));

    let no_copies = no_copies.into_iter();
    let mut left_out: Vec<LeftOut> = no_copies
        .map(|(bytes, reason)| LeftOut::new(Some("copy"), Some(bytes), reason))
        .collect();
    let mut singles = Vec::new();
    for made in Work::singles() {
        match made {
            Ok(work) => singles.push(work),
            Err((name, reason)) => left_out.push(LeftOut::new(Some(&name), None, reason)),
        }
    }
    let (programs, tasks, host_only_programs) = Work::programs();
    let (batts, batt_inputs) = Work::batts();
    let (given, given_inputs, given_left_out) = Work::given(given);
    let cpu = Cpu::new(plan.workers)?;
    let most = |sizes: &[usize]| sizes.last().map_or(0, |size| *size.min(&DISTINCT));
    let grids = cpu.install(|| Inputs::grids(most(&plan.sizes)));
    let most_pairs = most(&plan.program_sizes);
    let pairs = cpu.install(|| Inputs::pairs(&tasks, most_pairs));
    let batt_inputs = cpu.install(|| Inputs::of(&batts.programs, &batt_inputs, most_pairs));
    let given_inputs = cpu.install(|| Inputs::of(&given.programs, &given_inputs, most_pairs));
    let mut of_many = vec![([&programs], &pairs), ([&batts], &batt_inputs)];
    if !given.programs.is_empty() {
        of_many.push(([&given], &given_inputs));
    }

    let mut run = Run {
        engine,
        budget: Budget::new(plan, singles.len(), of_many.len()),
        plan,
        began,
        cpu,
        copy: limits.copy_bytes_per_second,
        rows: Vec::new(),
        levers: Vec::new(),
        left_out,
        packed_per_second: 0.0,
        last: None,
    };
    let singles: Vec<&Work> = singles.iter().collect();
    let mut parts: Vec<(&[&Work], &Inputs)> = vec![(&singles, &grids)];
    parts.extend(of_many.iter().map(|(work, inputs)| (&work[..], *inputs)));
    for &size in &plan.sizes {
        run.size(size, &parts, tell)?;
    }

    let about = run.engine.device().information().clone();
    let host = Host::this();
    Ok(Document {
        engine_version: VERSION,
        commit: None,
        note: (about.kind != device::Kind::Cuda).then_some("not run on a GPU"),
        device: about.name,
        compute_capability: about.capability,
        driver: about.driver,
        multiprocessors: about.multiprocessors,
        memory: about.bytes,
        machine: Machine {
            cpu: host.cpu,
            cores: host.threads,
            os: std::env::consts::OS,
        },
        workers: run.cpu.workers(),
        allowed_seconds: plan.time.as_secs_f64(),
        seconds: began.elapsed().as_secs_f64(),
        limits,
        packed_per_second: run.packed_per_second,
        break_even: break_even(&run.rows),
        rows: run.rows,
        levers: run.levers,
        host_only_programs,
        given_left_out,
        left_out: run.left_out,
    })
}

/// A benchmark in progress.
struct Run<'p, D: Device> {
    engine: Engine<D>,
    budget: Budget,
    plan: &'p Plan,
    began: Instant,
    cpu: Cpu,
    /// Bandwidth of copies, in bytes per second.
    copy: f64,
    rows: Vec<Row>,
    levers: Vec<Lever>,
    left_out: Vec<LeftOut>,
    packed_per_second: f64,
    /// The previous size, and how long one pass over everything took there.
    last: Option<(usize, Duration)>,
}

impl<D: Device> Run<'_, D> {
    fn leave_out(&mut self, name: Option<&str>, size: usize, reason: String) {
        self.left_out.push(LeftOut::new(name, Some(size), reason));
    }

    /// Measures all works in batches of this size, unless memory or time does not suffice.
    fn size(
        &mut self,
        size: usize,
        parts: &[(&[&Work], &Inputs)],
        tell: &mut dyn FnMut(Progress<'_>),
    ) -> Result<(), DeviceBenchError> {
        let left = self.budget.left(self.began.elapsed());
        let needed = self.last.map_or(Duration::ZERO, |(before, once)| {
            predicted(once, before, size)
        });
        let reason = too_many_for_host(size).or_else(|| {
            (needed > left || left.is_zero()).then(|| {
                format!(
                    "no time: it may take {:.0} s, and {:.0} s are left",
                    needed.as_secs_f64().ceil(),
                    left.as_secs_f64()
                )
            })
        });
        if let Some(reason) = reason {
            self.leave_out(None, size, reason);
            return Ok(());
        }
        let mut once = Duration::ZERO;
        for &(works, inputs) in parts {
            let is_of_many = works.iter().any(|work| work.section.is_of_many());
            if is_of_many && !self.plan.program_sizes.contains(&size) {
                continue;
            }
            let began = Instant::now();
            let load = Load::new(inputs, size);
            let packing = began.elapsed();
            once += packing;
            // The pool has one word per grid.
            let packed = load.pool.words().len() as f64;
            self.packed_per_second = packed / packing.as_secs_f64().max(1e-9);
            once += self.load(size, works, &load, tell)?;
        }
        self.last = Some((size, once));
        Ok(())
    }

    /// Measures works on one load. Returns how long it would take without repetitions.
    fn load(
        &mut self,
        size: usize,
        works: &[&Work],
        load: &Load<'_>,
        tell: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Duration, DeviceBenchError> {
        let arguments = match self.engine.upload(&load.pool) {
            Err(error @ DeviceError::OutOfMemory { .. }) => {
                for work in works {
                    self.budget.skip(size);
                    self.leave_out(Some(&work.name), size, error.to_string());
                }
                return Ok(Duration::ZERO);
            }
            uploaded => uploaded?,
        };
        let mut once = Duration::ZERO;
        for work in works {
            let spent = self.began.elapsed();
            if self.budget.left(spent).is_zero() {
                self.budget.skip(size);
                self.leave_out(Some(&work.name), size, "no time is left".to_owned());
                continue;
            }
            let effort = self.budget.next(size, spent);
            let (engine, cpu) = (&self.engine, &mut self.cpu);
            let measured = panic::catch_unwind(AssertUnwindSafe(|| {
                row::measure(engine, cpu, work, load, &arguments, effort)
            }));
            let measured = match measured {
                Ok(measured) => measured,
                // A broken device may return something that is no value at all.
                Err(_) if self.plan.goes_on => Err(DeviceBenchError::Panicked),
                Err(panic) => panic::resume_unwind(panic),
            };
            match measured {
                Ok(measured) => {
                    once += measured.once;
                    let mut row = measured.row;
                    let share = row.bytes_per_second / self.copy;
                    row.share_of_copy = share.is_finite().then_some(share);
                    tell(Progress::Row(&row));
                    self.rows.push(row);
                }
                Err(DeviceBenchError::Device(error @ DeviceError::OutOfMemory { .. })) => {
                    self.leave_out(Some(&work.name), size, error.to_string());
                    continue;
                }
                Err(error @ (DeviceBenchError::Difference(_) | DeviceBenchError::Panicked))
                    if self.plan.goes_on =>
                {
                    self.leave_out(Some(&work.name), size, error.to_string());
                    if let Some(left) = self.left_out.last_mut() {
                        left.differs = true;
                    }
                    continue;
                }
                Err(error) => return Err(error),
            }
            if size == self.plan.lever_size && levers::takes_part(work) {
                let effort = Effort {
                    time: self.plan.time / 100,
                    ..effort
                };
                match levers::measure(&mut self.engine, work, load, &arguments, effort) {
                    Ok(levers) => self.levers.extend(levers),
                    Err(error @ DeviceError::OutOfMemory { .. }) => {
                        let name = format!("{}, other cuts", work.name);
                        self.leave_out(Some(&name), size, error.to_string());
                    }
                    Err(error) => return Err(error.into()),
                }
            }
        }
        Ok(once)
    }
}

/// For each work, the batch sizes from which the device is faster.
pub(crate) fn break_even(rows: &[Row]) -> Vec<BreakEven> {
    let mut names: Vec<&str> = Vec::new();
    for row in rows {
        if !names.contains(&row.name.as_str()) {
            names.push(&row.name);
        }
    }
    let of = |name: &str| {
        // The rows of a work are ordered by size.
        let rows: Vec<&Row> = rows.iter().filter(|row| row.name == name).collect();
        let from = |device: fn(&Row) -> Timing, cpu: fn(&Row) -> Timing| {
            let slower = |row: &&Row| device(row).seconds >= cpu(row).seconds;
            let first = rows.iter().rposition(slower).map_or(0, |last| last + 1);
            rows.get(first).map(|row| row.grids)
        };
        BreakEven {
            name: name.to_owned(),
            verdicts_than_one_core: from(|row| row.verdicts, |row| row.one_core),
            verdicts_than_all_cores: from(|row| row.verdicts, |row| row.all_cores),
            fetched_than_one_core: from(|row| row.fetched, |row| row.one_core),
            fetched_than_all_cores: from(|row| row.fetched, |row| row.all_cores),
        }
    };
    names.into_iter().map(of).collect()
}

/// The text below the rows: limits, break-even sizes, launch settings, and what was left out.
impl fmt::Display for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.limits)?;
        writeln!(
            f,
            "{:<24}{:>32}{:>32}",
            "faster than the CPU", "verdicts only", "results fetched"
        )?;
        writeln!(
            f,
            "{:<24}{:>16}{:>16}{:>16}{:>16}",
            "from so many grids on", "one core", "all cores", "one core", "all cores"
        )?;
        let grids = |size: Option<usize>| {
            size.map_or_else(|| "never".to_owned(), |size| thousands(size as u64))
        };
        for row in &self.break_even {
            writeln!(
                f,
                "{:<24}{:>16}{:>16}{:>16}{:>16}",
                row.name,
                grids(row.verdicts_than_one_core),
                grids(row.verdicts_than_all_cores),
                grids(row.fetched_than_one_core),
                grids(row.fetched_than_all_cores)
            )?;
        }
        writeln!(f)?;
        for lever in &self.levers {
            writeln!(f, "{lever}")?;
        }
        for left in &self.left_out {
            let name = left.name.as_deref().unwrap_or("everything");
            match left.size {
                Some(size) => write!(f, "left out: {name}, {}", thousands(size as u64))?,
                None => write!(f, "left out: {name}")?,
            }
            writeln!(f, ": {}", left.reason)?;
        }
        write!(f, "\n{}", self.device)?;
        if let Some(note) = self.note {
            write!(f, ", {note}")?;
        }
        write!(
            f,
            "; {}, {} workers; {:.0} s",
            self.machine.cpu, self.workers, self.seconds
        )
    }
}

#[cfg(test)]
mod tests {
    use gpu_sim::emulated::{EmulatedDevice, Emulation};

    use super::*;

    /// A document of an emulated device with this much memory in bytes; `None` if there is no emulated device.
    fn measured(plan: &Plan, bytes: u64) -> Option<Document> {
        EmulatedDevice::fingerprint()?;
        let emulation = Emulation {
            bytes,
            ..Emulation::default()
        };
        let device = gpu_sim::open::emulated(0, &emulation).unwrap();
        let now = Instant::now();
        let mut told = 0;
        let given = Given::default();
        let tell = &mut |_: Progress<'_>| told += 1;
        let document = on(device, (plan, &given), now, now, tell).unwrap();
        // The limits, and each row.
        assert_eq!(told, 1 + document.rows.len());
        Some(document)
    }

    fn plan() -> Plan {
        Plan {
            sizes: vec![1, 150],
            program_sizes: vec![150],
            lever_size: 1,
            copies: vec![1 << 12, 1 << 20],
            ..Plan::quick(Target::Emulated)
        }
    }

    #[test]
    fn what_does_not_fit_the_device_is_listed() {
        let Some(document) = measured(&plan(), 200_000) else {
            return;
        };
        let copies: Vec<usize> = document
            .limits
            .copies
            .iter()
            .map(|copy| copy.bytes)
            .collect();
        assert!(copies.iter().all(|bytes| *bytes == 1 << 12), "{copies:?}");
        let copy = document.left_out.first().unwrap();
        assert_eq!(
            (copy.name.as_deref(), copy.size),
            (Some("copy"), Some(1 << 20))
        );
        // Results that are not grids may fit; everything planned is either there or listed.
        let singles = document.rows.iter().filter(|row| row.grids == 1).count();
        let others = document.rows.len() - singles;
        // The built-in programs and the batts are measured in the larger size only.
        assert_eq!(others + document.left_out.len() - 1, singles + 2);
        let turned = |row: &&Row| row.name == "rot90" && row.grids == 150;
        assert_eq!(document.rows.iter().filter(turned).count(), 0);
        for left in &document.left_out {
            assert!(left.reason.starts_with("out of device memory"), "{left:?}");
        }
        assert!(
            document
                .to_string()
                .contains("left out: rot90, 150: out of")
        );
    }

    #[test]
    fn sizes_for_which_there_is_no_time_are_listed() {
        let plan = Plan {
            time: Duration::ZERO,
            ..plan()
        };
        let Some(document) = measured(&plan, 1 << 30) else {
            return;
        };
        assert!(document.rows.is_empty() && document.break_even.is_empty());
        let sizes: Vec<Option<usize>> = document.left_out.iter().map(|left| left.size).collect();
        assert_eq!(sizes, [Some(1), Some(150)]);
        assert!(document.left_out.iter().all(|left| left.name.is_none()));
        assert!(
            document
                .to_string()
                .contains("left out: everything, 150: no time")
        );
    }

    #[test]
    fn a_document_says_what_it_is_of() {
        let Some(document) = measured(&plan(), 1 << 30) else {
            return;
        };
        assert_eq!(document.left_out, []);
        assert!(!document.levers.is_empty());
        let json = serde_json::to_value(&document).unwrap();
        assert_eq!(json["device"], "emulated device");
        assert_eq!(json["note"], "not run on a GPU");
        assert_eq!(json["driver"], serde_json::Value::Null);
        let row = &json["rows"][0];
        assert_eq!(row["section"], "operation");
        // A grid is read and a grid is written, 516 bytes each, and 64 bytes around.
        assert_eq!(row["bytes_per_grid"], 1_096.0);
        for key in [
            "kernel",
            "kernel_verdicts",
            "fetched",
            "verdicts",
            "one_core",
            "all_cores",
        ] {
            assert!(row[key]["seconds"].as_f64().unwrap() > 0.0, "{key}");
        }
    }

    #[test]
    fn the_device_is_faster_from_where_it_stays_so() {
        let Some(document) = measured(&plan(), 1 << 30) else {
            return;
        };
        let row = |grids, device: f64, cpu: f64| {
            let timing = |seconds| Timing {
                seconds,
                least: seconds,
                greatest: seconds,
                repetitions: 1,
            };
            Row {
                name: "a".to_owned(),
                grids,
                verdicts: timing(device),
                fetched: timing(device * 2.0),
                one_core: timing(cpu),
                all_cores: timing(cpu / 2.0),
                ..document.rows[0].clone()
            }
        };
        let rows = [
            row(1, 1.0, 2.0),
            row(10, 3.0, 2.0),
            row(100, 3.0, 4.0),
            row(200, 3.0, 7.0),
        ];
        let expected = BreakEven {
            name: "a".to_owned(),
            verdicts_than_one_core: Some(100),
            verdicts_than_all_cores: Some(200),
            fetched_than_one_core: Some(200),
            fetched_than_all_cores: None,
        };
        assert_eq!(break_even(&rows), [expected]);
    }
}
