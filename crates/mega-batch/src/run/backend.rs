//! [`Backends`]: how many evaluations the reference interpreter, machines, batts and devices did, and why; and the
//! compiled programs of a batch.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use arc_cpu::{BailOut, Compiled};
use arc_dsl::Program;
use gpu_sched::Activity;
use serde::{Deserialize, Serialize, Serializer};

use crate::batch::Batch;
use crate::batch::options::{Backend, Options};
use crate::run::compilers::Compilers;
use crate::run::executors::{Compilation, Executors};
use crate::run::panics::PANIC;
use crate::run::program_cache::{NotCompiled, ProgramCache};

/// The executor that evaluated a program on a pair: see [`Backends`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EvaluatedBy {
    /// A machine, which ran the compiled program.
    Machine,
    /// A batt, together with other programs.
    Batt,
    /// The reference interpreter.
    Reference,
    /// A device.
    Device,
    /// The pool of the batch, which runs programs in free Python.
    Python,
}

/// The number of evaluations by each executor, indexed by [`EvaluatedBy`].
pub(crate) type CountsByEvaluator = [u64; 5];

/// How many evaluations of a batch each executor did, and why the reference did its share. Each evaluation of this run
/// counts for one executor. If programs [stop](crate::Options::stop_after_wrong) after a wrong pair, bail-outs also
/// count evaluations that were not delivered; how many depends on the mode.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Backends {
    /// The requested backend.
    #[serde(rename = "name", skip_deserializing)]
    pub backend: Backend,
    /// Evaluations by machines.
    pub compiled: u64,
    /// Evaluations by batts, of many programs at once.
    pub merged: u64,
    /// Evaluations by the reference, including those that a machine bailed out of.
    pub reference: u64,
    /// Evaluations of programs in free Python.
    #[serde(skip_serializing_if = "is_none")]
    pub python: u64,
    /// Evaluations that machines bailed out of, by reason.
    pub bail_outs: BTreeMap<String, u64>,
    /// How long others took for what machines bailed out of, by reason, summed over workers.
    #[serde(skip)]
    pub bail_out_times: BTreeMap<String, Duration>,
    /// Programs that were compiled.
    pub programs_compiled: u64,
    /// Programs that were evaluated but not compiled, by reason.
    pub programs_not_compiled: BTreeMap<String, u64>,
    /// The work of the devices, if there were any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<OnDevice>,
    /// Why there was no device, if one was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_device: Option<String>,
    /// The time spent compiling for machines and encoding for devices, summed over workers.
    #[serde(skip)]
    pub compile_time: Duration,
    /// The number of calls in the programs that batts evaluated, and how many of them were shared with an earlier
    /// program. They depend on which worker evaluated what.
    #[serde(skip)]
    pub merged_calls: (u64, u64),
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes it")]
fn is_none(count: &u64) -> bool {
    *count == 0
}

/// The work of devices on a batch. The CPU did the rest.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct OnDevice {
    /// Their names.
    pub name: String,
    /// Evaluations that they finished.
    pub evaluations: u64,
    /// Evaluations that they bailed out of, by reason.
    pub bail_outs: BTreeMap<String, u64>,
    /// Programs that they ran.
    pub programs: u64,
    /// Programs that they cannot run, by reason.
    pub programs_host_only: BTreeMap<String, u64>,
    /// Batches that did not fit their memory, and were run in halves.
    pub launches_halved: u64,
    /// The last failures, and why devices could not be opened; other executors did their evaluations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// The name and the activity of each device.
    #[serde(serialize_with = "activities", skip_deserializing)]
    pub activities: Vec<(String, Activity)>,
}

/// [`Activity`] as documents contain it: times in seconds, memory in bytes.
#[derive(Serialize)]
struct ActivityEntry<'a> {
    name: &'a str,
    batches: u64,
    items: u64,
    split: u64,
    too_large: u64,
    failed: u64,
    stages: StageEntry,
    /// The time in which it computed nothing.
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
    /// How many programs only the reference may evaluate because of the limits.
    bounded: u64,
    /// Whether programs have verdicts.
    with_verdicts: bool,
    cache: ProgramCache<Arc<Compiled>>,
}

impl<'b> HostPrograms<'b> {
    /// Nothing is compiled yet.
    pub(crate) fn new(
        batch: &Batch<'b>,
        executors: Executors,
        options: &Options,
        compilers: &'b Compilers,
    ) -> Self {
        let (evaluations, bounded) = match executors.compilation {
            Compilation::Never => (Vec::new(), 0),
            _ if Backend::allows(&options.limits) => (batch.evaluations_by_program(), 0),
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
            with_verdicts: !options.needs_outputs()
                && batch.jobs().len() / TASKS >= batch.programs().len(),
            cache: ProgramCache::new(evaluations),
        }
    }

    /// The program, compiled now if it was not; `None` if the reference has to evaluate it.
    pub(crate) fn get(&self, program: u32) -> Option<Arc<Compiled>> {
        self.cache.get(program, |evaluations| {
            let program = &self.programs[program as usize];
            if program.python().is_some() {
                return Err(NotCompiled::Untried(IN_PYTHON.to_owned()));
            }
            if let Some(kept) = self.compilers.kept(program, self.with_verdicts) {
                return kept.map_err(|reason| reason.to_string().into());
            }
            let least = Backend::least_evaluations(program.steps().len());
            if self.executors.compilation == Compilation::Auto && evaluations < least {
                return Err(NotCompiled::Untried(FEW.to_owned()));
            }
            let compiled = self.compilers.compile(program, self.with_verdicts);
            compiled.map_err(|reason| reason.to_string().into())
        })
    }

    /// Records finished evaluations of the program.
    pub(crate) fn done(&self, program: u32, evaluations: usize) {
        self.cache.done(program, evaluations);
    }

    /// The summary, from the evaluations by executor, the counters of workers and batts, and the work of devices.
    pub(crate) fn backends(
        self,
        evaluated_by: &CountsByEvaluator,
        counts: &BackendCounts,
        merged: &MergeCounts,
        device: Option<OnDevice>,
    ) -> Backends {
        let evaluated_by = |by: EvaluatedBy| evaluated_by[by as usize];
        let mut programs = self.cache.finish();
        if self.bounded > 0 {
            let bounded = BOUNDED.to_owned();
            programs.not_compiled.insert(bounded, self.bounded);
        }
        let mut bail_outs: BTreeMap<String, u64> = BTreeMap::new();
        for (bail_out, count) in &counts.bail_outs {
            *bail_outs.entry(bail_out.to_string()).or_default() += count;
        }
        let mut bail_out_times: BTreeMap<String, Duration> = BTreeMap::new();
        for (bail_out, time) in &counts.times {
            *bail_out_times.entry(bail_out.to_string()).or_default() += *time;
        }
        if counts.panics > 0 {
            bail_outs.insert(PANIC.to_owned(), counts.panics);
        }
        Backends {
            backend: self.executors.backend(),
            compiled: evaluated_by(EvaluatedBy::Machine),
            merged: evaluated_by(EvaluatedBy::Batt),
            reference: evaluated_by(EvaluatedBy::Reference),
            python: evaluated_by(EvaluatedBy::Python),
            bail_outs,
            bail_out_times,
            programs_compiled: programs.compiled,
            programs_not_compiled: programs.not_compiled,
            device: device.map(|device| OnDevice {
                evaluations: evaluated_by(EvaluatedBy::Device),
                ..device
            }),
            no_device: None,
            compile_time: programs.time,
            merged_calls: (merged.calls, merged.shared),
        }
    }
}

/// On how many tasks programs run on average if verdicts pay: most programs are wrong on all tasks but one.
const TASKS: usize = 16;

/// Reasons that [`HostPrograms`] gives.
const IN_PYTHON: &str = "in free Python";
const FEW: &str = "too few evaluations for its length";
const BOUNDED: &str = "a timeout, or fewer cells than a machine's grids may have";

/// The counters of a worker's batts.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct MergeCounts {
    /// Calls in the programs that they evaluated.
    pub(crate) calls: u64,
    /// Calls among these whose values they already had.
    pub(crate) shared: u64,
}

impl MergeCounts {
    /// Adds the counters of another worker.
    pub(crate) fn add(&mut self, other: &MergeCounts) {
        self.calls += other.calls;
        self.shared += other.shared;
    }
}

/// Why the machine of a worker passed evaluations on.
#[derive(Debug, Clone, Default)]
pub(crate) struct BackendCounts {
    /// Evaluations that it bailed out of, by reason.
    pub(crate) bail_outs: BTreeMap<BailOut, u64>,
    /// How long others took for these.
    pub(crate) times: BTreeMap<BailOut, Duration>,
    /// Evaluations on which it panicked.
    pub(crate) panics: u64,
}

impl BackendCounts {
    /// Adds the counters of another worker.
    pub(crate) fn add(&mut self, other: &BackendCounts) {
        self.panics += other.panics;
        for (&bail_out, count) in &other.bail_outs {
            *self.bail_outs.entry(bail_out).or_default() += count;
        }
        for (&bail_out, time) in &other.times {
            *self.times.entry(bail_out).or_default() += *time;
        }
    }
}

#[cfg(test)]
mod tests {
    use arc_dsl::{Grid, Limits, Primitive, ProgramBuilder};
    use arc_tasks::{Pair, Task};

    use super::*;
    use crate::batch::Job;

    fn program(primitive: Primitive) -> Program {
        let mut builder = ProgramBuilder::new("solve_a");
        let output = builder.call(primitive, [builder.input()]).unwrap();
        builder.finish(output).unwrap()
    }

    #[test]
    fn programs_are_compiled_if_it_pays_and_evicted() {
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
            let programs = HostPrograms::new(&batch, executors, &options, &compilers);
            let got = [0, 1].map(|program| programs.get(program).is_some());
            assert_eq!(got, expected);
            programs.done(0, least - 1);
            assert_eq!(programs.get(0).is_some(), expected[0]);
            programs.done(0, 1);
            assert!(programs.get(0).is_none());
            let backends = programs.backends(
                &CountsByEvaluator::default(),
                &BackendCounts::default(),
                &MergeCounts::default(),
                None,
            );
            let compiled = expected.iter().filter(|&&compiled| compiled).count() as u64;
            assert_eq!(backends.programs_compiled, compiled);
            assert_eq!(backends.compile_time > Duration::ZERO, compiled > 0);
            let not_compiled: u64 = backends.programs_not_compiled.values().sum();
            assert_eq!(not_compiled, u64::from(backend == Backend::Auto));
        }
    }

    #[test]
    fn machines_allow_no_timeout_and_no_low_cell_limit_and_devices_no_lowered_limit() {
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
