//! [`Backend`]: what makes the evaluations, the reference interpreter, machines that run compiled
//! programs, or a device.
//!
//! Outcomes do not depend on it. What has no compiled form, and what machines bail out of, the reference evaluates.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use arc_cpu::{BailOut, Compiled};
use arc_dsl::{Limits, Program};
use gpu_sched::Activity;
use serde::{Serialize, Serializer};

use crate::batch::Batch;
use crate::compilers::Compilers;
use crate::executors::{Compilation, Executors};
use crate::panics::PANIC;
use crate::program_cache::{NotCompiled, ProgramCache};

/// What makes the evaluations. The results are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Backend {
    /// The reference interpreter. What ends at one of its bounds a machine is asked for.
    Reference,
    /// Machines that run compiled programs on bit planes. The reference does what they bail out,
    /// and programs that have no compiled form.
    Compiled,
    /// As [`Compiled`](Backend::Compiled), for the programs that are evaluated often enough in the batch
    /// for their [length](Backend::least_evaluations), or were compiled in an earlier one.
    #[default]
    Auto,
    /// The kernels of GPUs, emulated on the CPU: for tests, and slow. Everything else as
    /// [`Auto`](Backend::Auto).
    Emulated,
    /// The PTX that GPUs are given, interpreted on the CPU under checks that a GPU does not make: for
    /// tests, and slower still. Everything else as [`Auto`](Backend::Auto).
    Interpreted,
    /// NVIDIA GPUs, for the programs that they can run, where the scheduler expects them to be through
    /// first. Everything else, and all where there is none, as [`Auto`](Backend::Auto).
    Cuda,
}

impl Backend {
    /// How many evaluations pay for compiling a program of so many steps.
    pub fn least_evaluations(steps: usize) -> u64 {
        match steps {
            0..=2 => 16,
            3..=6 => 4,
            7..=10 => 3,
            11..=25 => 2,
            _ => 1,
        }
    }

    /// Whether machines and devices may evaluate within these bounds.
    ///
    /// They count steps and memory in units of their own, of which they have as many as the bounds are
    /// of the defaults ([`Machine::new`](arc_cpu::Machine::new)). An evaluation ends at a bound where
    /// neither the reference nor a machine, nor a batt, gets to its end within its own: whichever of
    /// them comes first, the others are asked before. Machines know no clock, and their grids may
    /// have any size up to [`GRID_CELLS`](arc_cpu::GRID_CELLS): a timeout, and a lower bound of cells,
    /// are left to the reference alone.
    pub fn allows(limits: &Limits) -> bool {
        limits.timeout.is_none() && limits.max_cells >= arc_cpu::GRID_CELLS
    }

    /// Whether devices may evaluate within these bounds: only where none is below its default.
    pub fn allows_device(limits: &Limits) -> bool {
        let least = Limits::default();
        Self::allows(limits)
            && limits.max_steps >= least.max_steps
            && limits.max_cells >= least.max_cells
            && limits.max_elements >= least.max_elements
            && limits.max_memory >= least.max_memory
            && limits.max_nesting >= least.max_nesting
    }
}

/// The word that reports and the command line use.
impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Backend::Reference => "reference",
            Backend::Compiled => "compiled",
            Backend::Auto => "auto",
            Backend::Emulated => "emulated",
            Backend::Interpreted => "ptx",
            Backend::Cuda => "cuda",
        })
    }
}

impl Serialize for Backend {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Who made an evaluation: see [`Backends`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Maker {
    /// A machine, from the compiled program.
    Machine,
    /// A batt, with other programs.
    Batt,
    /// The reference.
    Reference,
    /// A device.
    Device,
}

/// How many evaluations each [`Maker`] made, by its number.
pub(crate) type ByMaker = [u64; 4];

/// Who made the evaluations of a batch, and why the reference made those that it did: each evaluation that this run made has
/// one maker. Where programs are [left alone](crate::Options::stop_after_wrong) after a wrong pair, bail-outs are counted
/// of evaluations too that were made and not delivered, how many depends on the mode.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Backends {
    /// What was asked for.
    #[serde(rename = "name")]
    pub backend: Backend,
    /// Evaluations that machines made.
    pub compiled: u64,
    /// Evaluations that batts made, of many programs at once.
    pub merged: u64,
    /// Evaluations that the reference made, those that were bailed out among them.
    pub reference: u64,
    /// Evaluations that machines bailed out, by reason.
    pub bail_outs: BTreeMap<String, u64>,
    /// Programs that were compiled.
    pub programs_compiled: u64,
    /// Programs that were evaluated and not compiled, by reason.
    pub programs_not_compiled: BTreeMap<String, u64>,
    /// What the device did, where there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<OnDevice>,
    /// Why there was none, where one was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_device: Option<String>,
    /// How long compiling took, on all workers together.
    #[serde(skip)]
    pub compile_time: Duration,
    /// Calls of the programs that batts took, and those of them that another program had made
    /// before: they depend on which worker has made what.
    #[serde(skip)]
    pub merged_calls: (u64, u64),
}

/// What devices did of a batch. All that they did not, the CPU did.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct OnDevice {
    /// Their names.
    pub name: String,
    /// Evaluations that they made.
    pub evaluations: u64,
    /// Evaluations that they bailed out of, by reason.
    pub bail_outs: BTreeMap<String, u64>,
    /// Programs that they ran.
    pub programs: u64,
    /// Programs that they cannot run, by reason.
    pub programs_host_only: BTreeMap<String, u64>,
    /// Batches for which their memory was too small, and which were made in halves.
    pub launches_halved: u64,
    /// How those failed that failed last or could not be opened: others made their evaluations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// What each device did, by stages, with its name.
    #[serde(serialize_with = "activities")]
    pub activities: Vec<(String, Activity)>,
}

/// What a device did, for documents: times in seconds, memory in bytes.
#[derive(Serialize)]
struct ActivityEntry<'a> {
    name: &'a str,
    batches: u64,
    items: u64,
    split: u64,
    too_large: u64,
    failed: u64,
    stages: StageEntry,
    /// In which it computed nothing.
    wait: f64,
    elapsed: f64,
    memory: MemoryEntry,
}

#[derive(Serialize)]
struct MemoryEntry {
    in_use: u64,
    reserved: u64,
    most: u64,
}

#[derive(Serialize)]
struct StageEntry {
    prepare: f64,
    upload: f64,
    compute: f64,
    download: f64,
}

fn activities<S: Serializer>(
    activities: &[(String, Activity)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let entries = activities.iter().map(|(name, activity)| {
        let Activity { stages, memory, .. } = activity;
        ActivityEntry {
            name,
            batches: activity.batches,
            items: activity.items,
            split: activity.split,
            too_large: activity.too_large,
            failed: activity.failed,
            stages: StageEntry {
                prepare: stages.prepare.as_secs_f64(),
                upload: stages.upload.as_secs_f64(),
                compute: stages.compute.as_secs_f64(),
                download: stages.download.as_secs_f64(),
            },
            wait: activity.waited().as_secs_f64(),
            elapsed: activity.elapsed.as_secs_f64(),
            memory: MemoryEntry {
                in_use: memory.in_use,
                reserved: memory.reserved,
                most: memory.most,
            },
        }
    });
    serializer.collect_seq(entries)
}

/// The programs of a batch as machines run them.
#[derive(Debug)]
pub(crate) struct HostPrograms<'b> {
    programs: &'b [Program],
    compilers: &'b Compilers,
    executors: Executors,
    /// How many programs are left to the reference because of the bounds.
    bounded: u64,
    cache: ProgramCache<Arc<Compiled>>,
}

impl<'b> HostPrograms<'b> {
    /// Room for the programs of the batch.
    pub(crate) fn new(
        batch: &Batch<'b>,
        executors: Executors,
        limits: &Limits,
        compilers: &'b Compilers,
    ) -> Self {
        let (evaluations, bounded) = match executors.compilation {
            Compilation::Never => (Vec::new(), 0),
            _ if Backend::allows(limits) => (batch.evaluations_by_program(), 0),
            _ => {
                let evaluations = batch.evaluations_by_program();
                let evaluated = evaluations.iter().filter(|&&count| count > 0).count();
                (Vec::new(), evaluated as u64)
            }
        };
        Self {
            programs: batch.programs(),
            compilers,
            executors,
            bounded,
            cache: ProgramCache::new(evaluations),
        }
    }

    /// The program, compiled now if it was not; `None` if the reference is to evaluate it.
    pub(crate) fn get(&self, program: u32) -> Option<Arc<Compiled>> {
        self.cache.get(program, |evaluations| {
            let program = &self.programs[program as usize];
            if let Some(kept) = self.compilers.kept(program) {
                return kept.map_err(|reason| reason.to_string().into());
            }
            let least = Backend::least_evaluations(program.steps().len());
            if self.executors.compilation == Compilation::Auto && evaluations < least {
                return Err(NotCompiled::Untried(FEW.to_owned()));
            }
            let compiled = self.compilers.compile(program);
            compiled.map_err(|reason| reason.to_string().into())
        })
    }

    /// So many evaluations of the program are done.
    pub(crate) fn done(&self, program: u32, evaluations: usize) {
        self.cache.done(program, evaluations);
    }

    /// What it came to, with the evaluations by their makers, what workers and batts counted, and what a device did.
    pub(crate) fn backends(
        self,
        made_by: &ByMaker,
        counts: &Counts,
        merged: &MergeCounts,
        device: Option<OnDevice>,
    ) -> Backends {
        let made_by = |maker: Maker| made_by[maker as usize];
        let mut programs = self.cache.finish();
        if self.bounded > 0 {
            let bounded = BOUNDED.to_owned();
            programs.not_compiled.insert(bounded, self.bounded);
        }
        let mut bail_outs: BTreeMap<String, u64> = BTreeMap::new();
        for (bail_out, count) in &counts.bail_outs {
            *bail_outs.entry(bail_out.to_string()).or_default() += count;
        }
        if counts.panics > 0 {
            bail_outs.insert(PANIC.to_owned(), counts.panics);
        }
        Backends {
            backend: self.executors.backend(),
            compiled: made_by(Maker::Machine),
            merged: made_by(Maker::Batt),
            reference: made_by(Maker::Reference),
            bail_outs,
            programs_compiled: programs.compiled,
            programs_not_compiled: programs.not_compiled,
            device: device.map(|device| OnDevice {
                evaluations: made_by(Maker::Device),
                ..device
            }),
            no_device: None,
            compile_time: programs.time,
            merged_calls: (merged.calls, merged.shared),
        }
    }
}

/// Reasons that are ours.
const FEW: &str = "too few evaluations for its length";
const BOUNDED: &str = "a timeout, or fewer cells than a machine's grids may have";

/// What the batts of a worker did.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct MergeCounts {
    /// Calls of the programs that they took.
    pub(crate) calls: u64,
    /// Those of them that were not made again.
    pub(crate) shared: u64,
}

impl MergeCounts {
    /// Adds what another worker counted.
    pub(crate) fn add(&mut self, other: &MergeCounts) {
        self.calls += other.calls;
        self.shared += other.shared;
    }
}

/// What a worker counts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Counts {
    /// Evaluations that its machine passed on.
    pub(crate) bail_outs: BTreeMap<BailOut, u64>,
    /// Those that it bailed out by a panic.
    pub(crate) panics: u64,
}

impl Counts {
    /// Adds what another worker counted.
    pub(crate) fn add(&mut self, other: &Counts) {
        self.panics += other.panics;
        for (&bail_out, count) in &other.bail_outs {
            *self.bail_outs.entry(bail_out).or_default() += count;
        }
    }
}

#[cfg(test)]
mod tests {
    use arc_dsl::{Grid, Pair, Primitive, ProgramBuilder, Task};

    use super::*;
    use crate::batch::Job;
    use crate::options::Options;

    fn program(primitive: Primitive) -> Program {
        let mut builder = ProgramBuilder::new("solve_a");
        let output = builder.call(primitive, [builder.input()]).unwrap();
        builder.finish(output).unwrap()
    }

    #[test]
    fn programs_are_compiled_where_it_pays_and_evicted() {
        let pair = Pair::new(Grid::filled(1, 1, 0), None);
        let task = |pairs| Task {
            id: "a".into(),
            train: vec![pair.clone(); pairs],
            test: vec![],
            ..Task::default()
        };
        let least = Backend::least_evaluations(1) as usize;
        let tasks = [task(least), task(least - 1)];
        let programs = [Primitive::Hmirror, Primitive::Vmirror].map(program);
        let jobs = vec![
            Job {
                program: 0,
                task: 0,
            },
            Job {
                program: 1,
                task: 1,
            },
        ];
        let batch = Batch::listed(&programs, &tasks, jobs).unwrap();
        for (backend, expected) in [
            (Backend::Reference, [false, false]),
            (Backend::Compiled, [true, true]),
            (Backend::Auto, [true, false]),
        ] {
            let compilers = Compilers::default();
            let options = Options {
                backend,
                ..Options::default()
            };
            let executors = options.executors();
            let programs = HostPrograms::new(&batch, executors, &Limits::default(), &compilers);
            let got = [0, 1].map(|program| programs.get(program).is_some());
            assert_eq!(got, expected);
            programs.done(0, least - 1);
            assert_eq!(programs.get(0).is_some(), expected[0]);
            programs.done(0, 1);
            assert!(programs.get(0).is_none());
            let backends = programs.backends(
                &ByMaker::default(),
                &Counts::default(),
                &MergeCounts::default(),
                None,
            );
            let compiled = expected.iter().filter(|&&compiled| compiled).count() as u64;
            assert_eq!(backends.programs_compiled, compiled);
            assert_eq!(backends.compile_time > Duration::ZERO, compiled > 0);
            let left: u64 = backends.programs_not_compiled.values().sum();
            assert_eq!(left, u64::from(backend == Backend::Auto));
        }
    }

    #[test]
    fn timeouts_and_small_grids_are_the_references_and_lower_bounds_no_devices() {
        let with = |change: fn(&mut Limits)| {
            let mut limits = Limits::default();
            change(&mut limits);
            limits
        };
        let machines = |change| Backend::allows(&with(change));
        assert!(machines(|limits| limits.max_steps = 10));
        assert!(machines(|limits| limits.max_memory = 1000));
        assert!(machines(|limits| limits.max_cells = arc_cpu::GRID_CELLS));
        assert!(!machines(
            |limits| limits.max_cells = arc_cpu::GRID_CELLS - 1
        ));
        assert!(!machines(|limits| limits.timeout = Some(Duration::MAX)));
        let allows = |change| Backend::allows_device(&with(change));
        assert!(allows(|_| {}));
        assert!(allows(|limits| limits.max_steps += 1));
        assert!(!allows(|limits| limits.max_steps -= 1));
        assert!(!allows(|limits| limits.max_cells -= 1));
        assert!(!allows(|limits| limits.max_elements -= 1));
        assert!(!allows(|limits| limits.max_memory -= 1));
        assert!(!allows(|limits| limits.max_nesting -= 1));
        assert!(!allows(|limits| limits.timeout = Some(Duration::MAX)));
    }
}
