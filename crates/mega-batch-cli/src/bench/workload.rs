//! [`Workload`]: the kinds of work that are measured, and batches of any size of each.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;

use arc_dsl::generate::Generator;
use arc_dsl::{Grid, Interpreter, Program};
use arc_tasks::builtin::{self, BuiltIn, BuiltinKind};
use arc_tasks::{MAX_SIDE, Pair, Task};
use arc_text::parse_programs;
use mega_batch::{Batch, Job, UnknownJob};
use rayon::iter::{IntoParallelIterator, ParallelIterator};

/// A kind of work.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Workload<'g> {
    /// The built-in programs of one kind, each on tasks of its own.
    Of(BuiltinKind),
    /// All built-in programs, each on tasks of its own.
    WholePrograms,
    /// Programs that share most of their steps, all on the same tasks, so that the engine merges them.
    Batt,
    /// One operation or pipeline, by its place in [`singles`].
    Single(usize),
    /// The given programs, each evaluation on a pair of the program's own task.
    Given(&'g Given),
    /// The given programs on all pairs of all tasks.
    Crossing(&'g Given),
}

/// Programs of the user, and tasks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Given {
    pub(crate) programs: Vec<Program>,
    pub(crate) tasks: Vec<Task>,
}

/// The kinds by which the tuning guides' figures are judged, in the order of the tables.
pub(crate) const OF_GUIDES: [Workload<'static>; 7] = [
    Workload::Of(BuiltinKind::Transform),
    Workload::Of(BuiltinKind::Pattern),
    Workload::Of(BuiltinKind::Pipeline),
    Workload::Of(BuiltinKind::Colour),
    Workload::Of(BuiltinKind::Objects),
    Workload::WholePrograms,
    Workload::Batt,
];

impl Workload<'_> {
    /// The name in tables and documents.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Of(kind) => kind.name().to_owned(),
            Self::WholePrograms => "whole programs".to_owned(),
            Self::Batt => "batt".to_owned(),
            Self::Single(at) => singles().nth(*at).unwrap_or_default().0,
            Self::Given(_) => "given programs".to_owned(),
            Self::Crossing(_) => "given programs on all tasks".to_owned(),
        }
    }

    /// Whether each program is right on its tasks.
    pub(crate) fn is_all_right(&self) -> bool {
        !matches!(self, Self::Batt | Self::Given(_) | Self::Crossing(_))
    }
}

/// Operations that do little besides reading a grid and writing one.
pub(crate) const BOUND_BY_MEMORY: [&str; 5] =
    ["identity", "rot90", "hmirror", "dmirror", "replace"];

/// Operations by family of `kernels/ops`, each with what makes a grid of its result, computed from the grid `I`.
/// Hardly any grid makes them bail out, which would leave the device less to do than the CPU.
#[rustfmt::skip]
const OPERATIONS: &[(&str, &str)] = &[
    ("identity", "identity(I)"),
    ("rot90", "rot90(I)"),
    ("hmirror", "hmirror(I)"),
    ("dmirror", "dmirror(I)"),
    ("crop", "crop(I, (0, 0), (5, 5))"),
    ("replace", "replace(I, 0, 5)"),
    ("mostcolor", "canvas(mostcolor(I), (3, 3))"),
    ("fill, ofcolor", "fill(I, 5, ofcolor(I, 0))"),
    ("cover, leastcolor", "cover(I, ofcolor(I, leastcolor(I)))"),
    ("upscale", "upscale(crop(I, (0, 0), (10, 10)), 3)"),
    ("downscale", "downscale(I, 2)"),
    ("multiply", "canvas(3, subtract(multiply(shape(I), 2), shape(I)))"),
    ("vmirror of a patch", "fill(I, 5, vmirror(ofcolor(I, mostcolor(I))))"),
    ("difference", "fill(I, 5, difference(asindices(I), ofcolor(I, 0)))"),
    ("centerofmass", "fill(I, 5, initset(centerofmass(asindices(I))))"),
    ("shift", "fill(I, 5, shift(ofcolor(I, 0), (1, 2)))"),
    ("box", "fill(I, 5, box(asindices(I)))"),
    ("connect", "fill(I, 5, connect((0, 0), shape(I)))"),
    ("gravitate", "fill(I, 5, initset(gravitate(ofcolor(I, leastcolor(I)), ofcolor(I, mostcolor(I)))))"),
    ("objects", "cover(I, merge(objects(I, True, False, True)))"),
    ("objects of many colours", "cover(I, merge(objects(I, False, True, True)))"),
    ("partition", "cover(I, merge(partition(I)))"),
    ("colorfilter", "cover(I, merge(colorfilter(objects(I, True, False, True), leastcolor(I))))"),
    ("argmax", "fill(I, 5, argmax(objects(I, True, False, False), size))"),
    ("occurrences", "fill(I, 5, occurrences(I, asobject(crop(I, (0, 0), (2, 2)))))"),
    ("hperiod", "canvas(5, astuple(hperiod(asobject(I)), 3))"),
];

/// Ten operations that keep a grid's cells, or its size up to a rotation, so that a program on padded tensors does
/// the same. `{}` is the result of the previous operation, `{2}` of the one before that. `tensors.py` has the same
/// ten.
const PIPELINE: [&str; 10] = [
    "rot90({})",
    "replace({}, 1, 2)",
    "vmirror({})",
    "switch({}, 3, 4)",
    "dmirror({})",
    "hmirror({})",
    "cellwise({}, {2}, 0)",
    "rot180({})",
    "replace({}, 5, 7)",
    "cmirror({})",
];

/// The lengths of the pipelines, in operations.
pub(crate) const PIPELINES: [usize; 4] = [1, 3, 10, 30];

/// The name of a pipeline.
pub(crate) fn pipeline(operations: usize) -> String {
    format!("pipeline of {operations}")
}

/// The text of a pipeline of this many operations: the ten, repeated.
fn pipeline_text(operations: usize) -> String {
    let name = |number: usize| match number {
        0 => "I".to_owned(),
        number => format!("x{number}"),
    };
    let mut text = "def pipeline(I):\n".to_owned();
    for (number, call) in (1..=operations).zip(PIPELINE.iter().cycle()) {
        let call = call.replace("{}", &name(number - 1));
        let call = call.replace("{2}", &name(number.saturating_sub(2)));
        // Writing into a string cannot fail.
        let _ = writeln!(text, "    x{number} = {call}");
    }
    let _ = writeln!(text, "    return {}", name(operations));
    text
}

/// The pipelines and the operations: names and texts.
pub(crate) fn singles() -> impl Iterator<Item = (String, String)> {
    let operation = |(name, call): &(&str, &str)| {
        let text = format!("def operation(I):\n    return {call}\n");
        ((*name).to_owned(), text)
    };
    let pipelines = PIPELINES.map(|operations| (pipeline(operations), pipeline_text(operations)));
    pipelines
        .into_iter()
        .chain(OPERATIONS.iter().map(operation))
}

/// Inputs of the built-in tasks, of all sizes from 1 x 1 on, taken from the tasks in turn.
fn grids(count: usize) -> impl ParallelIterator<Item = Grid> {
    let tasks = builtin::all();
    let input = move |at: usize| tasks[at % tasks.len()].input(SEED, at / tasks.len(), MAX_SIDE);
    (0..count).into_par_iter().map(input)
}

/// The most distinct grids of a single operation.
const DISTINCT: usize = 100_000;

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
    order: Order,
}

/// Which programs are run on which tasks.
#[derive(Debug)]
enum Order {
    /// Each task has one pair; these programs take turns on them.
    Turns(Vec<u32>),
    /// This many families, stored one after the other, each tried on tasks of its own.
    Families(usize),
    /// Every program on every task, which has one pair.
    All,
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

/// A task of one pair.
fn of_one(id: &str, pair: Pair) -> Task {
    Task {
        id: id.to_owned(),
        train: vec![pair],
        ..Task::default()
    }
}

impl Pool {
    /// For batches of up to `largest` evaluations.
    pub(crate) fn new(kind: &Workload<'_>, largest: usize) -> Self {
        let all = builtin::all().iter();
        match kind {
            Workload::Of(kind) => Self::own_tasks(all.filter(|one| one.kind() == *kind), largest),
            Workload::WholePrograms => Self::own_tasks(all, largest),
            // As in a search: candidates for whole programs.
            Workload::Batt => {
                Self::batt(all.filter(|one| one.kind() == BuiltinKind::Whole), largest)
            }
            Workload::Single(at) => Self::single(*at, largest),
            Workload::Given(given) => Self::given(given, largest),
            Workload::Crossing(given) => Self {
                programs: given.programs.clone(),
                tasks: given.tasks.iter().flat_map(apart).collect(),
                order: Order::All,
            },
        }
    }

    /// Each program on tasks of one pair of its own, the programs taking turns.
    fn own_tasks(builtins: impl Iterator<Item = &'static BuiltIn>, largest: usize) -> Self {
        let builtins: Vec<&BuiltIn> = builtins.collect();
        // Small batches rotate through all programs too; the last of them may run past the end.
        let count = largest + builtins.len();
        let task = |at: usize| {
            let builtin = builtins[at % builtins.len()];
            of_one(
                builtin.id(),
                builtin.pair(SEED, at / builtins.len(), MAX_SIDE),
            )
        };
        let programs = builtins.iter().map(|builtin| builtin.program().clone());
        Self {
            programs: programs.collect(),
            tasks: (0..count).into_par_iter().map(task).collect(),
            order: Order::Turns((0..builtins.len() as u32).collect()),
        }
    }

    /// One program on the grids for which it has an output; they are repeated as needed, each time in memory of its
    /// own.
    fn single(at: usize, largest: usize) -> Self {
        let text = singles().nth(at).unwrap_or_default().1;
        let programs: Vec<Program> = parse_programs(&text).into_iter().flatten().collect();
        let task = |input: Grid| {
            let input = Arc::new(input);
            let value = Interpreter::default().run(programs.first()?, Arc::clone(&input));
            let output = value.ok()?.as_grid().map(Cow::into_owned);
            output
                .is_some()
                .then(|| of_one("grid", Pair { input, output }))
        };
        let distinct = grids((largest + 1).min(DISTINCT)).filter_map(task);
        let distinct: Vec<Task> = distinct.collect();
        Self {
            tasks: distinct.into_iter().cycle().take(largest + 1).collect(),
            programs,
            order: Order::Turns(vec![0]),
        }
    }

    /// Each program on the pairs of its own task, repeated as needed, each time in memory of its own.
    fn given(given: &Given, largest: usize) -> Self {
        let own = Batch::own_tasks(&given.programs, &given.tasks);
        let evaluations = own.jobs().flat_map(|job| {
            let tasks = apart(own.task(job)).into_iter();
            tasks.map(move |task| (job.program, task))
        });
        let (turns, tasks): (Vec<u32>, Vec<Task>) = evaluations.unzip();
        let count = largest + turns.len();
        Self {
            programs: given.programs.clone(),
            tasks: tasks.into_iter().cycle().take(count).collect(),
            order: Order::Turns(turns),
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
            order: Order::Families(builtins.len()),
        }
    }

    /// Whether there is nothing to evaluate.
    pub(crate) fn is_empty(&self) -> bool {
        self.programs.is_empty() || self.tasks.is_empty()
    }

    /// Batches of this size that together go through all programs, or all families.
    pub(crate) fn pieces(&self, size: usize) -> Vec<Piece<'_>> {
        match &self.order {
            _ if self.is_empty() => Vec::new(),
            Order::Turns(turns) => {
                let starts = (0..turns.len().max(size)).step_by(size.max(1));
                starts
                    .map(|start| self.own_piece(turns, start, size))
                    .collect()
            }
            Order::Families(families) => {
                let groups = groups(size);
                let starts = (0..(*families).max(groups)).step_by(groups);
                starts
                    .map(|start| self.family_piece(*families, start, size))
                    .collect()
            }
            Order::All => vec![self.crossing(size)],
        }
    }

    fn own_piece(&self, turns: &[u32], start: usize, size: usize) -> Piece<'_> {
        let job = |at: usize| Job {
            program: turns[(start + at) % turns.len()],
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

    /// Evaluations taken evenly from all.
    fn crossing(&self, size: usize) -> Piece<'_> {
        let tasks = self.tasks.len();
        let all = self.programs.len() * tasks;
        let jobs = (0..size).map(|at| {
            let at = if size < all {
                at * all / size
            } else {
                at % all
            };
            Job {
                program: (at / tasks) as u32,
                task: (at % tasks) as u32,
            }
        });
        Piece {
            programs: &self.programs,
            tasks: Cow::Borrowed(&self.tasks),
            jobs: jobs.collect(),
        }
    }

    /// Groups from `start` on, each a family on one task.
    fn family_piece(&self, families: usize, start: usize, size: usize) -> Piece<'_> {
        let count = groups(size);
        let mut tasks: Vec<Task> = self.tasks[start..start + count].to_vec();
        // A batch with one family contains no other programs.
        let known = if count == 1 {
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

/// Tasks of one pair each.
fn apart(task: &Task) -> Vec<Task> {
    let pairs = task.pairs().map(|(_, pair)| pair.clone());
    pairs.map(|pair| of_one(&task.id, pair)).collect()
}

/// How many groups of a family and a task make up a batch of this size.
fn groups(size: usize) -> usize {
    size.div_ceil(FAMILY * PAIRS).max(1)
}

#[cfg(test)]
mod tests {
    use mega_batch::{Options, Outcome, Runner};

    use super::*;

    fn given() -> Given {
        let task = builtin::all()[0].task(1, 2, 1, 10);
        let [own, other] = [0, 1].map(|at| builtin::all()[at].program().clone());
        Given {
            programs: vec![other, own],
            tasks: vec![task],
        }
    }

    #[test]
    fn batches_are_as_large_as_they_are_to_be() {
        let given = given();
        let others = [
            Workload::Single(0),
            Workload::Given(&given),
            Workload::Crossing(&given),
        ];
        for kind in OF_GUIDES.into_iter().chain(others) {
            let sizes = [1, 2, 3, 7, 10, 100, 1_025, 2_500];
            let pool = Pool::new(&kind, 2_500);
            for size in sizes {
                let pieces = pool.pieces(size);
                assert!(!pieces.is_empty());
                for piece in &pieces {
                    let evaluations = piece.batch().unwrap().evaluations();
                    assert_eq!(evaluations, size as u64, "{kind:?}");
                }
            }
        }
    }

    #[test]
    fn batches_go_through_all_programs_or_families() {
        let pool = Pool::new(&Workload::Of(BuiltinKind::Pipeline), 2);
        let programs = pool.programs.len();
        let pieces = pool.pieces(2);
        assert_eq!(pieces.len(), programs.div_ceil(2));
        let jobs = pieces.iter().flat_map(|piece| &piece.jobs);
        let mut tried: Vec<u32> = jobs.map(|job| job.program).collect();
        tried.sort_unstable();
        tried.dedup();
        assert_eq!(tried.len(), programs);

        let pool = Pool::new(&Workload::Batt, 100);
        let families = pool.programs.len() / FAMILY;
        let pieces = pool.pieces(100);
        assert_eq!(pieces.len(), families);
        let mut ids: Vec<&str> = pieces.iter().map(|piece| &*piece.tasks[0].id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), families);
    }

    #[test]
    fn families_are_merged_and_their_first_programs_are_right() {
        let pool = Pool::new(&Workload::Batt, 400);
        let mut runner = Runner::new(&Options::default()).unwrap();
        let (mut merged, mut all) = (0, 0);
        for piece in pool.pieces(400) {
            let report = runner.run(&piece.batch().unwrap()).unwrap();
            merged += report.summary.backends.merged;
            all += report.summary.totals.evaluations;
            let first = &report.results[0].pairs;
            assert_eq!(first.len(), PAIRS);
            assert!(first.iter().all(|pair| pair.outcome == Outcome::Match));
        }
        // A batt refuses some programs.
        assert!(merged * 10 > all * 9, "{merged} of {all}");
    }

    #[test]
    fn given_programs_are_run_on_their_own_pairs_or_on_all() {
        let given = given();
        let jobs = |kind: Workload<'_>, size| {
            let pool = Pool::new(&kind, size);
            let jobs = pool.pieces(size).remove(0).jobs.into_iter();
            jobs.map(|job| (job.program, job.task)).collect::<Vec<_>>()
        };
        let own: Vec<(u32, u32)> = (0..4).map(|task| (1, task)).collect();
        assert_eq!(jobs(Workload::Given(&given), 4), own);
        let all = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)];
        assert_eq!(jobs(Workload::Crossing(&given), 6), all);
        assert_eq!(jobs(Workload::Crossing(&given), 2), [(0, 0), (1, 0)]);
        assert_eq!(jobs(Workload::Crossing(&given), 7)[6], (0, 0));
        assert!(Pool::new(&Workload::Given(&Given::default()), 4).is_empty());
    }

    #[test]
    fn every_operation_and_pipeline_gives_grids_on_the_device_too() {
        for (at, (name, text)) in singles().enumerate() {
            let program = parse_programs(&text).remove(0).unwrap();
            let form = arc_form::specialise(&program).unwrap();
            let on_device = gpu_kernels::encode(&form).unwrap();
            if let Some(operations) = name.strip_prefix("pipeline of ") {
                // No step is folded away.
                assert_eq!(on_device.len().to_string(), operations);
            }
            let pool = Pool::new(&Workload::Single(at), 400);
            let inputs = pool.tasks.iter().map(|task| &task.train[0].input);
            let first = Arc::as_ptr(&pool.tasks[0].train[0].input);
            let distinct = inputs.skip(1).position(|input| Arc::as_ptr(input) == first);
            assert!(
                distinct.is_none_or(|count| count > 360),
                "{name}: {distinct:?}"
            );
        }
        for name in BOUND_BY_MEMORY {
            assert!(singles().any(|(known, _)| known == name), "{name}");
        }
    }

    #[test]
    fn grids_are_of_all_sizes() {
        let sides: Vec<usize> = grids(3_000).map(|grid| grid.height()).collect();
        assert_eq!(sides.iter().min(), Some(&1));
        assert_eq!(sides.iter().max(), Some(&MAX_SIDE));
    }

    #[test]
    fn a_pipeline_goes_on_where_the_ten_end() {
        let text = pipeline_text(13);
        assert!(text.contains("    x7 = cellwise(x6, x5, 0)\n"), "{text}");
        assert!(text.contains("    x11 = rot90(x10)\n"), "{text}");
        assert!(text.ends_with("    return x13\n"), "{text}");
    }
}
