//! [`Workload`]: the kinds of work that are measured, and batches of any size of each.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use arc_dsl::builtin::{self, BuiltIn, Kind};
use arc_dsl::generate::Generator;
use arc_dsl::{MAX_SIDE, Program, Task};
use mega_batch::{Batch, Job, UnknownJob};
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A kind of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Workload {
    /// The built-in programs of one kind, each on tasks of its own.
    Of(Kind),
    /// All built-in programs, each on tasks of its own.
    WholePrograms,
    /// Programs that share most of their steps, all on the same tasks, so that the engine merges them.
    Batt,
}

impl Workload {
    /// All kinds, in the order of the tables.
    pub(crate) const ALL: &'static [Self] = &[
        Self::Of(Kind::Transform),
        Self::Of(Kind::Pattern),
        Self::Of(Kind::Pipeline),
        Self::Of(Kind::Colour),
        Self::Of(Kind::Objects),
        Self::WholePrograms,
        Self::Batt,
    ];

    /// The name in tables and documents.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Of(kind) => kind.name(),
            Self::WholePrograms => "whole programs",
            Self::Batt => "batt",
        }
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Serialize for Workload {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Workload {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = Cow::<'de, str>::deserialize(deserializer)?;
        let mut all = Self::ALL.iter().copied();
        all.find(|kind| kind.name() == name).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|kind| kind.name()).collect();
            de::Error::custom(format!(
                "kind `{name}`: expected one of {}",
                names.join(", ")
            ))
        })
    }
}

/// The inputs are the same in every run.
const SEED: u64 = 1;

/// The programs of a family: a built-in program and variations of it. A runner looks at this many programs together
/// to find out what can be merged.
const FAMILY: usize = 256;

/// Pairs of a task on which a family is tried: three train pairs and one test pair.
const TRAIN: usize = 3;
const TEST: usize = 1;
const PAIRS: usize = TRAIN + TEST;

/// The programs of a kind, and tasks for the largest batch.
#[derive(Debug)]
pub(crate) struct Pool {
    programs: Vec<Program>,
    tasks: Vec<Task>,
    /// How many families there are, stored one after the other in `programs`; `None` if each program has tasks of its
    /// own.
    families: Option<usize>,
}

/// A batch of a pool.
#[derive(Debug)]
pub(crate) struct Piece<'p> {
    programs: &'p [Program],
    tasks: Cow<'p, [Task]>,
    jobs: Vec<Job>,
}

impl Piece<'_> {
    /// As a batch for a runner.
    pub(crate) fn batch(&self) -> Result<Batch<'_>, UnknownJob> {
        Batch::listed(self.programs, &self.tasks, self.jobs.clone())
    }
}

impl Pool {
    /// For batches of up to `largest` evaluations.
    pub(crate) fn new(kind: Workload, largest: usize) -> Self {
        let all = builtin::all().iter();
        match kind {
            Workload::Of(kind) => Self::own_tasks(all.filter(|one| one.kind() == kind), largest),
            Workload::WholePrograms => Self::own_tasks(all, largest),
            // As in a search: candidates for whole programs.
            Workload::Batt => Self::batt(all.filter(|one| one.kind() == Kind::Whole), largest),
        }
    }

    /// Each program on tasks of one pair of its own, the programs taking turns.
    fn own_tasks(builtins: impl Iterator<Item = &'static BuiltIn>, largest: usize) -> Self {
        let builtins: Vec<&BuiltIn> = builtins.collect();
        // Small batches rotate through all programs too; the last of them may run past the end.
        let count = largest + builtins.len();
        let task = |at: usize| {
            let builtin = builtins[at % builtins.len()];
            let pair = builtin.pair(SEED, at / builtins.len(), MAX_SIDE);
            Task {
                id: builtin.id().to_owned(),
                train: vec![pair],
                test: vec![],
                ..Task::default()
            }
        };
        let programs = builtins.iter().map(|builtin| builtin.program().clone());
        Self {
            programs: programs.collect(),
            tasks: (0..count).into_par_iter().map(task).collect(),
            families: None,
        }
    }

    /// Families of programs, each tried on tasks of its original program.
    fn batt(builtins: impl Iterator<Item = &'static BuiltIn>, largest: usize) -> Self {
        let builtins: Vec<&BuiltIn> = builtins.collect();
        let family = |builtin: &&BuiltIn| {
            let mut generator = Generator::new(SEED);
            let original = builtin.program().clone();
            let variations: Vec<Program> = (1..FAMILY)
                .map(|_| generator.variation(&original))
                .collect();
            [original].into_iter().chain(variations)
        };
        let task = |at: usize| {
            let seed = SEED + (at / builtins.len()) as u64;
            builtins[at % builtins.len()].task(seed, TRAIN, TEST, MAX_SIDE)
        };
        let count = groups(largest) + builtins.len();
        Self {
            programs: builtins.iter().flat_map(family).collect(),
            tasks: (0..count).into_par_iter().map(task).collect(),
            families: Some(builtins.len()),
        }
    }

    /// The programs of families, each with the first task of its family; empty if each program has tasks of its own.
    pub(crate) fn candidates(&self) -> impl Iterator<Item = (&Program, &Task)> {
        let families = self.families.unwrap_or_default();
        let programs = self.programs.iter().take(families * FAMILY).enumerate();
        programs.filter_map(|(at, program)| Some((program, self.tasks.get(at / FAMILY)?)))
    }

    /// Batches of this size that together go through all programs, or all families.
    pub(crate) fn pieces(&self, size: usize) -> Vec<Piece<'_>> {
        match self.families {
            None => {
                let programs = self.programs.len();
                let starts = (0..programs.max(size)).step_by(size.max(1));
                starts.map(|start| self.own_piece(start, size)).collect()
            }
            Some(families) => {
                let groups = groups(size);
                let starts = (0..families.max(groups)).step_by(groups);
                starts.map(|start| self.family_piece(start, size)).collect()
            }
        }
    }

    fn own_piece(&self, start: usize, size: usize) -> Piece<'_> {
        let job = |at: usize| Job {
            program: ((start + at) % self.programs.len()) as u32,
            task: at as u32,
        };
        let mut jobs: Vec<Job> = (0..size).map(job).collect();
        // Ordered as in a search: all inputs of one program, then the next program.
        jobs.sort_by_key(|job| job.program);
        Piece {
            programs: &self.programs,
            tasks: Cow::Borrowed(&self.tasks[start..start + size]),
            jobs,
        }
    }

    /// Groups from `start` on, each a family on one task.
    fn family_piece(&self, start: usize, size: usize) -> Piece<'_> {
        let families = self.families.unwrap_or(1);
        let count = groups(size);
        let mut tasks: Vec<Task> = self.tasks[start..start + count].to_vec();
        // A batch with one family contains no other programs.
        let known: Range<usize> = if count == 1 {
            let first = start % families * FAMILY;
            first..first + FAMILY
        } else {
            0..self.programs.len()
        };
        let program = |at: usize| {
            let (group, place) = (start + at / FAMILY, at % FAMILY);
            (group % families * FAMILY + place - known.start) as u32
        };
        let whole = size / PAIRS;
        let mut jobs: Vec<Job> = (0..whole)
            .map(|at| Job {
                program: program(at),
                task: (at / FAMILY) as u32,
            })
            .collect();
        let rest = size % PAIRS;
        if rest > 0 {
            // One more program, on some of the pairs of its task.
            let mut task = tasks[whole / FAMILY].clone();
            task.test.clear();
            task.train.truncate(rest);
            jobs.push(Job {
                program: program(whole),
                task: tasks.len() as u32,
            });
            tasks.push(task);
        }
        Piece {
            programs: &self.programs[known],
            tasks: Cow::Owned(tasks),
            jobs,
        }
    }
}

/// How many groups of a family and a task make up a batch of this size.
fn groups(size: usize) -> usize {
    size.div_ceil(FAMILY * PAIRS).max(1)
}

#[cfg(test)]
mod tests {
    use mega_batch::{Options, Runner};

    use super::*;

    #[test]
    fn batches_are_as_large_as_they_are_to_be() {
        for &kind in Workload::ALL {
            let sizes = [1, 2, 3, 7, 10, 100, 1_025, 2_500];
            let pool = Pool::new(kind, 2_500);
            for size in sizes {
                let pieces = pool.pieces(size);
                assert!(!pieces.is_empty());
                for piece in &pieces {
                    assert_eq!(piece.batch().unwrap().evaluations(), size as u64, "{kind}");
                }
            }
        }
    }

    #[test]
    fn batches_go_through_all_programs_or_families() {
        let pool = Pool::new(Workload::Of(Kind::Pipeline), 2);
        let programs = pool.programs.len();
        let pieces = pool.pieces(2);
        assert_eq!(pieces.len(), programs.div_ceil(2));
        let jobs = pieces.iter().flat_map(|piece| &piece.jobs);
        let mut tried: Vec<u32> = jobs.map(|job| job.program).collect();
        tried.sort_unstable();
        tried.dedup();
        assert_eq!(tried.len(), programs);

        let pool = Pool::new(Workload::Batt, 100);
        let families = pool.families.unwrap();
        assert_eq!(pool.programs.len(), families * FAMILY);
        let pieces = pool.pieces(100);
        assert_eq!(pieces.len(), families);
        let mut ids: Vec<&str> = pieces.iter().map(|piece| &*piece.tasks[0].id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), families);
    }

    #[test]
    fn families_are_merged_and_their_first_programs_are_right() {
        let pool = Pool::new(Workload::Batt, 400);
        let mut runner = Runner::new(&Options::default()).unwrap();
        let (mut merged, mut all) = (0, 0);
        for piece in pool.pieces(400) {
            let report = runner.run(&piece.batch().unwrap()).unwrap();
            merged += report.summary.backends.merged;
            all += report.summary.totals.evaluations;
            let first = &report.results[0].pairs;
            assert_eq!(first.len(), PAIRS);
            assert!(
                first
                    .iter()
                    .all(|pair| pair.outcome == mega_batch::Outcome::Match)
            );
        }
        // A batt refuses some programs.
        assert!(merged * 10 > all * 9, "{merged} of {all}");
    }

    #[test]
    fn kinds_are_known_by_their_names() {
        for &kind in Workload::ALL {
            let text = serde_json::to_string(&kind).unwrap();
            assert_eq!(serde_json::from_str::<Workload>(&text).unwrap(), kind);
        }
        let error = serde_json::from_str::<Workload>("\"x\"")
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("kind `x`: expected one of transform, "),
            "{error}"
        );
    }
}
