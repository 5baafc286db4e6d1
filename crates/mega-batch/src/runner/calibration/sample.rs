//! [`Sample`]: built-in programs for measuring executors, by kind of work.

use std::collections::BTreeMap;
use std::sync::Arc;

use arc_dsl::builtin::{self, BuiltIn};
use arc_dsl::{MAX_SIDE, Program, Task};
use gpu_kernels::device::Information;
use gpu_kernels::{DeviceProgram, Evaluation, Pool};
use gpu_sched::Kind;
use gpu_sched::launcher::Evaluations;

use crate::batch::{Batch, Job};
use crate::devices;
use crate::runner::device::encoded;

/// Programs per kind, and inputs per program.
const PROGRAMS: usize = 4;
const INPUTS: usize = 32;

/// The inputs are always the same.
const SEED: u64 = 0;

/// Programs of one kind of work, with their inputs.
#[derive(Debug)]
struct KindPrograms {
    programs: Vec<Program>,
    /// One task for each input: those of the first program, then those of the next one.
    tasks: Vec<Task>,
    /// By index of the program, with the number that identifies it on a device; `None` if only the host can run it.
    encoded: Vec<Option<(u64, Arc<DeviceProgram>)>>,
}

/// Programs and inputs for measurements, by kind of work. If a device can run any programs of a kind, only such are
/// used, so that host and devices are measured on the same ones. Clones share the data.
#[derive(Debug, Clone)]
pub struct Sample {
    kinds: Arc<BTreeMap<Kind, KindPrograms>>,
}

impl Sample {
    /// Selects from the built-in programs.
    pub fn builtin() -> Self {
        let mut by_kind: BTreeMap<Kind, Vec<(&BuiltIn, Option<DeviceProgram>)>> = BTreeMap::new();
        for one in builtin::all() {
            let kind = devices::kind(one.program());
            let of_kind = by_kind.entry(kind).or_default();
            of_kind.push((one, encoded(one.program(), u32::MAX).ok()));
        }
        let mut number = 0;
        let of_kind = |(kind, mut all): (Kind, Vec<(&BuiltIn, Option<DeviceProgram>)>)| {
            if all.iter().any(|(_, encoded)| encoded.is_some()) {
                all.retain(|(_, encoded)| encoded.is_some());
            }
            all.truncate(PROGRAMS);
            let mut of_kind = KindPrograms {
                programs: Vec::new(),
                tasks: Vec::new(),
                encoded: Vec::new(),
            };
            for (one, encoded) in all {
                number += 1;
                of_kind.programs.push(one.program().clone());
                of_kind
                    .encoded
                    .push(encoded.map(|encoded| (number, Arc::new(encoded))));
                of_kind.tasks.extend((0..INPUTS).map(|index| Task {
                    id: one.id().to_owned(),
                    train: vec![one.pair(SEED, index, MAX_SIDE)],
                    test: Vec::new(),
                    ..Task::default()
                }));
            }
            (kind, of_kind)
        };
        Self {
            kinds: Arc::new(by_kind.into_iter().map(of_kind).collect()),
        }
    }

    /// The kinds of work.
    pub fn kinds(&self) -> Vec<Kind> {
        self.kinds.keys().copied().collect()
    }

    /// The kinds for which this device can run programs.
    pub(crate) fn kinds_on(&self, device: &Information) -> Vec<Kind> {
        let kinds = self.kinds.iter();
        kinds
            .filter(|(_, of_kind)| of_kind.on(device).next().is_some())
            .map(|(kind, _)| *kind)
            .collect()
    }

    /// A batch of `items` evaluations of a kind for the host, evenly spread over its programs.
    pub(super) fn batch(&self, kind: Kind, items: u64) -> Batch<'_> {
        let Some(of_kind) = self.kinds.get(&kind) else {
            return Batch::all_pairs(&[], &[]);
        };
        let (programs, tasks) = (&of_kind.programs, &of_kind.tasks);
        let mut jobs: Vec<Job> = (0..items as usize)
            .map(|item| {
                let (program, input) = (item % programs.len(), item / programs.len() % INPUTS);
                Job {
                    program: program as u32,
                    task: (program * INPUTS + input) as u32,
                }
            })
            .collect();
        // As in a search: all evaluations of one program, then the next program.
        jobs.sort_by_key(|job| job.program);
        // Every job refers to a program and a task of its kind.
        Batch::listed(programs, tasks, jobs).unwrap_or(Batch::all_pairs(&[], &[]))
    }

    /// The same for a device.
    pub(super) fn evaluations(&self, kind: Kind, items: u64, device: &Information) -> Evaluations {
        let of_kind = self.kinds.get(&kind);
        let programs = of_kind.map(|of_kind| of_kind.on(device));
        spread(&programs.into_iter().flatten().collect::<Vec<_>>(), items)
    }

    /// The same over all kinds, for a device.
    pub(super) fn mixed(&self, items: u64, device: &Information) -> Evaluations {
        let programs = self.kinds.values().flat_map(|of_kind| of_kind.on(device));
        spread(&programs.collect::<Vec<_>>(), items)
    }
}

/// A program on a device, and the tasks with its inputs.
type OnDevice<'a> = (&'a (u64, Arc<DeviceProgram>), &'a [Task]);

impl KindPrograms {
    /// The programs that this device can run.
    fn on(&self, device: &Information) -> impl Iterator<Item = OnDevice<'_>> {
        let most = device.shared_bytes;
        let programs = self.encoded.iter().zip(self.tasks.chunks(INPUTS));
        programs
            .filter_map(|(encoded, tasks)| Some((encoded.as_ref()?, tasks)))
            .filter(move |((_, program), _)| program.pool_bytes() <= most)
    }
}

fn spread(programs: &[OnDevice<'_>], items: u64) -> Evaluations {
    let mut batch = Evaluations::default();
    if programs.is_empty() {
        return batch;
    }
    let mut held = vec![Vec::new(); programs.len()];
    for (at, (program, tasks)) in programs.iter().enumerate() {
        batch.programs.push((*program).clone());
        let pairs = tasks.iter().flat_map(|task| &task.train);
        // Pools have the same number in every batch.
        for (number, pair) in (program.0 * INPUTS as u64..).zip(pairs) {
            let mut pool = Pool::default();
            // Built-in inputs are no larger than grids of the data, so they fit on a device.
            let Ok(arguments) = pool.push_grid(&pair.input) else {
                continue;
            };
            let expected = pair.output.as_ref();
            let evaluation = Evaluation {
                program: at as u32,
                arguments,
                expected: expected.and_then(|grid| pool.push_grid(grid).ok()),
                fetch: false,
                hash: false,
            };
            held[at].push((batch.pools.len() as u32, evaluation));
            batch.pools.push((number, Arc::new(pool)));
        }
    }
    for item in 0..items as usize {
        let of_program = &held[item % programs.len()];
        if of_program.is_empty() {
            continue;
        }
        let (pool, evaluation) = of_program[item / programs.len() % of_program.len()];
        batch.evaluations.push(evaluation);
        batch.pools_of.push(pool);
    }
    batch
}
