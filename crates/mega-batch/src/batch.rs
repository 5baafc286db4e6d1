//! [`Batch`]: which program is tried on which task.

pub(crate) mod options;

use std::collections::HashMap;

use arc_dsl::Program;
use arc_tasks::{OwnTask, Pair, PairId, Task, TaskIds};
use python_pool::Pool;

use crate::results::escape::escaped;

/// One program tried on all pairs of one task; both are indices into the [`Batch`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Job {
    /// The index of the program.
    pub program: u32,
    /// The index of the task.
    pub task: u32,
}

/// Programs, tasks, and the jobs that combine them.
///
/// The order of the jobs is the order of the results: by program, then by task.
#[derive(Debug, Clone)]
pub struct Batch<'a> {
    programs: &'a [Program],
    tasks: &'a [Task],
    jobs: Jobs,
    train_only: bool,
    /// The number of pairs in the tasks before each one, and in total. Iterating over jobs reads this, since tasks
    /// are scattered in memory.
    pairs_before: Vec<u64>,
    odd_names: OddNames,
    /// Runs its programs in free Python.
    python: Option<&'a Pool>,
}

/// The programs whose names do not say as they are which task they belong to, each with the ids in question.
#[derive(Debug, Clone, Default)]
struct OddNames {
    /// Those that are run on a newer version of the task that they name.
    newest: Vec<String>,
    /// Those that name two tasks, and their indices.
    several: Vec<String>,
    with_several: Vec<u32>,
}

impl OddNames {
    fn add(&mut self, at: u32, program: &Program, own: OwnTask<'_>) {
        let name = escaped(program.name());
        match own {
            OwnTask::Newest { newest, .. } => {
                self.newest.push(format!("{name} on {}", escaped(newest)));
            }
            OwnTask::Several(first, second) => {
                let (first, second) = (escaped(first), escaped(second));
                self.several.push(format!("{name} ({first} and {second})"));
                self.with_several.push(at);
            }
            OwnTask::None | OwnTask::One(_) => {}
        }
    }

    fn notes(&self) -> impl Iterator<Item = String> {
        let told = |odd: &[String], what: &[&str; 2], more: &str| {
            let few = odd.iter().take(Self::TOLD).map(String::as_str);
            let few = few.collect::<Vec<_>>().join(", ");
            let others = match odd.len().saturating_sub(Self::TOLD) {
                0 => String::new(),
                others => format!(" and {others} more"),
            };
            let count = odd.len();
            let what = what[usize::from(count > 1)];
            (count > 0).then(|| format!("{count} {what}: {few}{others}{more}"))
        };
        let newest = [
            "program is run on the newest version of its task",
            "programs are run on the newest versions of their tasks",
        ];
        let several = [
            "program has the ids of two tasks in its name and runs on neither",
            "programs have the ids of two tasks in their names and run on neither",
        ];
        let way_out = "; a line `# task: ID` above the `def` says which one is meant";
        let notes = [
            told(&self.newest, &newest, ""),
            told(&self.several, &several, way_out),
        ];
        notes.into_iter().flatten()
    }

    /// How many of them a note names.
    const TOLD: usize = 5;
}

/// All programs on all tasks are so many jobs that they are computed rather than listed.
#[derive(Debug, Clone)]
enum Jobs {
    AllPairs,
    /// The jobs; and the first evaluation of each, followed by the number of evaluations.
    Listed(Vec<Job>, Vec<u64>),
}

/// Prefix sums, followed by the total.
fn prefix_sums(numbers: impl ExactSizeIterator<Item = u64>) -> Vec<u64> {
    let mut sums = Vec::with_capacity(numbers.len() + 1);
    sums.push(0);
    let so_far = |so_far: &mut u64, number| {
        *so_far += number;
        Some(*so_far)
    };
    sums.extend(numbers.scan(0, so_far));
    sums
}

/// A job that refers to a program or a task that does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("job {at} is of program {} and task {}, which are not both in the batch", job.program, job.task)]
pub struct UnknownJob {
    /// Its index in the list of jobs.
    pub at: usize,
    /// The job.
    pub job: Job,
}

impl<'a> Batch<'a> {
    /// Each program on the task to which it belongs ([`TaskIds`]), or on all to which it may. Programs without a task and tasks without a
    /// program are left out.
    pub fn own_tasks(programs: &'a [Program], tasks: &'a [Task]) -> Self {
        let mut by_id: HashMap<&str, Vec<u32>> = HashMap::new();
        for (at, task) in tasks.iter().enumerate() {
            by_id.entry(&task.id).or_default().push(at as u32);
        }
        let ids = TaskIds::new(by_id.keys().copied());
        let (mut jobs, mut odd_names) = (Vec::new(), OddNames::default());
        for (at, program) in programs.iter().enumerate() {
            let own = ids.own(program);
            odd_names.add(at as u32, program, own);
            let own = ids.run_on(program, own).into_iter();
            let own = own.flat_map(|id| by_id.get(id).into_iter().flatten());
            jobs.extend(own.map(|&task| Job {
                program: at as u32,
                task,
            }));
        }
        Self {
            odd_names,
            ..Self::of(programs, tasks, Some(jobs), false)
        }
    }

    /// What is to be told about programs whose names do not say as they are which task they belong to.
    pub fn notes(&self) -> impl Iterator<Item = String> {
        self.odd_names.notes()
    }

    /// Whether the program at this index is run on no task because its name has the ids of two.
    pub fn has_two_ids(&self, program: u32) -> bool {
        self.odd_names.with_several.binary_search(&program).is_ok()
    }

    /// Every program on every task.
    pub fn all_pairs(programs: &'a [Program], tasks: &'a [Task]) -> Self {
        Self::of(programs, tasks, None, false)
    }

    /// These jobs in this order.
    pub fn listed(
        programs: &'a [Program],
        tasks: &'a [Task],
        jobs: Vec<Job>,
    ) -> Result<Self, UnknownJob> {
        let known = |job: &Job| {
            (job.program as usize) < programs.len() && (job.task as usize) < tasks.len()
        };
        match jobs.iter().position(|job| !known(job)) {
            Some(at) => Err(UnknownJob { at, job: jobs[at] }),
            None => Ok(Self::of(programs, tasks, Some(jobs), false)),
        }
    }

    /// A batch of these jobs, which must be of these programs and tasks, or of every program on every task.
    pub(crate) fn of(
        programs: &'a [Program],
        tasks: &'a [Task],
        jobs: Option<Vec<Job>>,
        train_only: bool,
    ) -> Self {
        let mut batch = Self {
            programs,
            tasks,
            jobs: Jobs::AllPairs,
            train_only,
            pairs_before: Vec::new(),
            odd_names: OddNames::default(),
            python: None,
        };
        let pairs = tasks.iter().map(|task| batch.pair_count(task) as u64);
        batch.pairs_before = prefix_sums(pairs);
        if let Some(jobs) = jobs {
            let starts = prefix_sums(jobs.iter().map(|job| batch.pairs_of(*job) as u64));
            batch.jobs = Jobs::Listed(jobs, starts);
        }
        batch
    }

    /// The same jobs, on the train pairs of their tasks only.
    #[must_use]
    pub fn train_only(self) -> Self {
        let jobs = match self.jobs {
            Jobs::AllPairs => None,
            Jobs::Listed(jobs, _) => Some(jobs),
        };
        Self {
            odd_names: self.odd_names,
            python: self.python,
            ..Self::of(self.programs, self.tasks, jobs, true)
        }
    }

    /// The same jobs, with a pool that runs the programs in free Python. Without one these fail.
    #[must_use]
    pub fn with_python(self, pool: &'a Pool) -> Self {
        let python = Some(pool);
        Self { python, ..self }
    }

    /// What runs the programs in free Python.
    pub(crate) fn python(&self) -> Option<&'a Pool> {
        self.python
    }

    /// How many pairs of a task each of its programs is run on: the first ones.
    pub fn pair_count(&self, task: &Task) -> usize {
        if self.train_only {
            task.train.len()
        } else {
            task.pair_count()
        }
    }

    /// How many pairs a job is run on.
    pub(crate) fn pairs_of(&self, job: Job) -> usize {
        self.pairs_in(job.task as usize)
    }

    /// The same for a task's index.
    pub(crate) fn pairs_in(&self, task: usize) -> usize {
        (self.pairs_before[task + 1] - self.pairs_before[task]) as usize
    }

    /// How many such pairs the tasks before this index have.
    pub(crate) fn pairs_before(&self, task: usize) -> usize {
        self.pairs_before[task] as usize
    }

    /// Whether its jobs are every program on every task.
    pub(crate) fn has_all_pairs(&self) -> bool {
        matches!(self.jobs, Jobs::AllPairs)
    }

    pub(crate) fn is_train_only(&self) -> bool {
        self.train_only
    }

    /// The evaluations of all jobs; with every program on every task, those of one program.
    fn listed_evaluations(&self) -> u64 {
        self.starts().last().copied().unwrap_or_default()
    }

    /// The pairs of a task on which each of its programs is run.
    pub fn pairs<'t>(&self, task: &'t Task) -> impl Iterator<Item = (PairId, &'t Pair)> + use<'t> {
        task.pairs().take(self.pair_count(task))
    }

    /// The programs.
    pub fn programs(&self) -> &'a [Program] {
        self.programs
    }

    /// The tasks.
    pub fn tasks(&self) -> &'a [Task] {
        self.tasks
    }

    /// The program of a job of this batch.
    pub fn program(&self, job: Job) -> &'a Program {
        &self.programs[job.program as usize]
    }

    /// The task of a job of this batch.
    pub fn task(&self, job: Job) -> &'a Task {
        &self.tasks[job.task as usize]
    }

    /// How many jobs there are.
    pub fn job_count(&self) -> usize {
        match &self.jobs {
            Jobs::AllPairs => self.programs.len() * self.tasks.len(),
            Jobs::Listed(jobs, _) => jobs.len(),
        }
    }

    /// The job at index `at`, which must exist.
    pub fn job(&self, at: usize) -> Job {
        match &self.jobs {
            Jobs::AllPairs => Job {
                program: (at / self.tasks.len()) as u32,
                task: (at % self.tasks.len()) as u32,
            },
            Jobs::Listed(jobs, _) => jobs[at],
        }
    }

    /// The jobs in their order.
    pub fn jobs(&self) -> impl ExactSizeIterator<Item = Job> {
        (0..self.job_count()).map(|at| self.job(at))
    }

    /// The number of evaluations: one for every pair of every job.
    pub fn evaluations(&self) -> u64 {
        match &self.jobs {
            Jobs::AllPairs => self.listed_evaluations() * self.programs.len() as u64,
            Jobs::Listed(..) => self.listed_evaluations(),
        }
    }

    /// The first evaluation of each job, followed by the number of evaluations; with every program on every task, for
    /// one program.
    fn starts(&self) -> &[u64] {
        match &self.jobs {
            Jobs::AllPairs => &self.pairs_before,
            Jobs::Listed(_, starts) => starts,
        }
    }

    /// The index of the job of evaluation `at`, and the pair in it; for evaluations beyond the last, the number of
    /// jobs and 0.
    pub(crate) fn evaluation(&self, at: u64) -> (usize, usize) {
        if at >= self.evaluations() {
            return (self.job_count(), 0);
        }
        let (jobs_before, at) = match &self.jobs {
            Jobs::AllPairs => {
                let programs = at / self.listed_evaluations();
                let before = programs as usize * self.tasks.len();
                (before, at % self.listed_evaluations())
            }
            Jobs::Listed(..) => (0, at),
        };
        // The last job that begins at or before `at`; it has pairs.
        let starts = self.starts();
        let job = starts.partition_point(|start| *start <= at) - 1;
        (jobs_before + job, (at - starts[job]) as usize)
    }

    /// The first evaluation of the job at this index; if it has no pairs, of the next one that has.
    pub(crate) fn first_of(&self, job: usize) -> u64 {
        match &self.jobs {
            Jobs::AllPairs => {
                let (program, task) = (job / self.tasks.len(), job % self.tasks.len());
                program as u64 * self.listed_evaluations() + self.pairs_before[task]
            }
            Jobs::Listed(_, starts) => starts[job],
        }
    }

    /// The number of evaluations of each program.
    pub(crate) fn evaluations_by_program(&self) -> Vec<u64> {
        match &self.jobs {
            Jobs::AllPairs => vec![self.listed_evaluations(); self.programs.len()],
            Jobs::Listed(jobs, starts) => {
                let mut evaluations = vec![0; self.programs.len()];
                for (job, ends) in jobs.iter().zip(starts.windows(2)) {
                    evaluations[job.program as usize] += ends[1] - ends[0];
                }
                evaluations
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use arc_dsl::{Grid, ProgramBuilder};

    use super::*;

    fn program(name: &str) -> Program {
        let builder = ProgramBuilder::new(name);
        let input = builder.input();
        builder.finish(input).unwrap()
    }

    fn task(id: &str, pairs: usize) -> Task {
        let pair = Pair::new(Grid::filled(1, 1, 0), None);
        Task {
            id: id.into(),
            train: vec![pair; pairs],
            test: vec![],
            ..Task::default()
        }
    }

    fn job(program: u32, task: u32) -> Job {
        Job { program, task }
    }

    #[test]
    fn each_program_meets_the_tasks_of_its_id() {
        let programs = ["solve_b", "solve_x", "verify_a", "other_b"].map(program);
        let tasks = [task("a", 2), task("b", 3), task("c", 1), task("b", 1)];
        let batch = Batch::own_tasks(&programs, &tasks);
        let jobs: Vec<_> = batch.jobs().collect();
        assert_eq!(
            jobs,
            [job(0, 1), job(0, 3), job(2, 0), job(3, 1), job(3, 3)]
        );
        assert_eq!(batch.evaluations(), 3 + 1 + 2 + 3 + 1);
        assert_eq!(batch.evaluations_by_program(), [4, 0, 2, 4]);
    }

    #[test]
    fn programs_with_odd_names_are_told() {
        let programs = [
            "solve_11aa22bb",
            "solve_11aa22bb_33cc44dd",
            "solve_33cc44dd",
        ]
        .map(program);
        let tasks = [
            task("11aa22bb", 1),
            task("11aa22bb_v2", 1),
            task("33cc44dd", 1),
        ];
        let batch = Batch::own_tasks(&programs, &tasks).train_only();
        assert_eq!(batch.jobs().collect::<Vec<_>>(), [job(0, 1), job(2, 2)]);
        assert_eq!(
            batch.notes().collect::<Vec<_>>(),
            [
                "1 program is run on the newest version of its task: solve_11aa22bb on 11aa22bb_v2",
                "1 program has the ids of two tasks in its name and runs on neither: solve_11aa22bb_33cc44dd \
                 (33cc44dd and 11aa22bb); a line `# task: ID` above the `def` says which one is meant"
            ]
        );
        assert_eq!(Batch::all_pairs(&programs, &tasks).notes().count(), 0);
    }

    #[test]
    fn all_pairs_go_by_program_then_by_task() {
        let programs = ["p_1", "p_2"].map(program);
        let tasks = [task("a", 2), task("b", 3)];
        let batch = Batch::all_pairs(&programs, &tasks);
        let jobs: Vec<_> = batch.jobs().collect();
        assert_eq!(jobs, [job(0, 0), job(0, 1), job(1, 0), job(1, 1)]);
        assert_eq!(batch.evaluations(), 10);
        assert_eq!(batch.evaluations_by_program(), [5, 5]);
        assert_eq!(Batch::all_pairs(&programs, &[]).jobs().len(), 0);
    }

    #[test]
    fn evaluations_are_found_by_their_numbers() {
        let programs = ["p_a", "p_b"].map(program);
        let tasks = [task("a", 2), task("b", 0), task("c", 3), task("d", 0)];
        let jobs = vec![job(1, 3), job(0, 2), job(1, 1), job(1, 0), job(0, 3)];
        for batch in [
            Batch::all_pairs(&programs, &tasks),
            Batch::own_tasks(&programs, &tasks),
            Batch::listed(&programs, &tasks, jobs).unwrap(),
            Batch::all_pairs(&programs, &[]),
        ] {
            let pairs = |job| batch.pair_count(batch.task(job));
            let all = batch.jobs().enumerate();
            let all = all.flat_map(|(at, job)| (0..pairs(job)).map(move |pair| (at, pair)));
            let expected: Vec<_> = all.collect();
            assert_eq!(batch.evaluations(), expected.len() as u64);
            let found = (0..expected.len() as u64).map(|at| batch.evaluation(at));
            assert_eq!(found.collect::<Vec<_>>(), expected);
            for (at, (job, pair)) in (0..).zip(&expected) {
                assert_eq!(batch.first_of(*job) + *pair as u64, at);
            }
            for behind in [0, 1, 100] {
                let at = batch.evaluations() + behind;
                assert_eq!(batch.evaluation(at), (batch.job_count(), 0));
            }
        }
    }

    #[test]
    fn train_pairs_alone_are_run_where_that_is_asked_for() {
        let programs = ["p_a"].map(program);
        let mut task = task("a", 2);
        task.test = task.train.clone();
        let tasks = [task];
        for batch in [
            Batch::all_pairs(&programs, &tasks),
            Batch::own_tasks(&programs, &tasks),
        ] {
            assert_eq!(batch.evaluations(), 4);
            let batch = batch.train_only();
            assert_eq!(batch.evaluations(), 2);
            assert_eq!(batch.evaluations_by_program(), [2]);
            let ids: Vec<_> = batch
                .pairs(&tasks[0])
                .map(|(id, _)| id.to_string())
                .collect();
            assert_eq!(ids, ["train[0]", "train[1]"]);
        }
    }

    #[test]
    fn a_job_of_nothing_is_refused() {
        let programs = [program("p_1")];
        let tasks = [task("a", 2)];
        assert!(Batch::listed(&programs, &tasks, vec![job(0, 0)]).is_ok());
        let error = Batch::listed(&programs, &tasks, vec![job(0, 0), job(0, 1)]).unwrap_err();
        assert_eq!(
            error,
            UnknownJob {
                at: 1,
                job: job(0, 1)
            }
        );
        assert!(Batch::listed(&programs, &tasks, vec![job(1, 0)]).is_err());
    }
}
