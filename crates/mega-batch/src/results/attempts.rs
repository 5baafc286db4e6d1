//! [`Attempts`]: for each task, its candidates grouped by behaviour, the best of them, and the grids for a
//! submission.

mod details;

use std::cmp::Reverse;
use std::io;

use arc_dsl::{Grid, Value};
use arc_tasks::{PairId, Split, Task};
use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_128;

use crate::batch::{Batch, Job};
use crate::results::outcome::{Outcome, PairResult};
use crate::results::score::Score;
use crate::results::sink::Sink;

pub use details::TaskDetails;

/// Candidates of a task with the same outputs on all of its pairs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Behaviour {
    /// The hash of their outputs.
    pub digest: u128,
    /// How many candidates there are.
    pub candidates: u64,
    /// The shortest candidate, the first one if there are several, as an index into the batch.
    pub program: u32,
    /// Its steps.
    pub steps: usize,
    /// How many train pairs are right.
    pub train_right: u32,
    /// How many cells of the train pairs are right.
    pub train_cells_right: u32,
    /// Their output for each test pair; `None` if it is not a grid.
    pub tests: Vec<Option<Grid>>,
}

impl Behaviour {
    /// Better behaviours come first.
    fn rank(&self) -> impl Ord + use<> {
        (
            Reverse((self.train_right, self.train_cells_right, self.candidates)),
            self.steps,
            self.program,
        )
    }
}

/// The candidates of a task, grouped by behaviour.
#[derive(Debug, Clone, Default)]
pub struct Behaviours {
    /// How many candidates there were.
    pub candidates: u64,
    /// How many behaviours there were: those that are kept, and those [`dropped`](Self::dropped).
    pub behaviours: u64,
    /// How many of the worst were dropped because there were too many; one that occurs again later is counted again.
    pub dropped: u64,
    kept: FxHashMap<u128, Behaviour>,
}

impl Behaviours {
    /// The most behaviours of a task that are kept.
    pub const MOST: usize = 64;

    fn add(&mut self, behaviour: Behaviour) {
        self.candidates += 1;
        if let Some(known) = self.kept.get_mut(&behaviour.digest) {
            known.candidates += 1;
            let shorter = (behaviour.steps, behaviour.program) < (known.steps, known.program);
            if shorter {
                (known.steps, known.program) = (behaviour.steps, behaviour.program);
            }
            return;
        }
        self.behaviours += 1;
        self.kept.insert(behaviour.digest, behaviour);
        if self.kept.len() > Self::MOST {
            let mut ranks: Vec<_> = self
                .kept
                .values()
                .map(|it| (it.rank(), it.digest))
                .collect();
            ranks.sort_unstable();
            for (_, digest) in &ranks[Self::MOST / 2..] {
                self.kept.remove(digest);
            }
            self.dropped += (ranks.len() - Self::MOST / 2) as u64;
        }
    }

    /// The kept behaviours, best first.
    pub fn ranked(&self) -> Vec<&Behaviour> {
        let mut ranked: Vec<_> = self.kept.values().collect();
        ranked.sort_unstable_by_key(|it| it.rank());
        ranked
    }
}

/// Groups the candidates of each task as their results come.
///
/// A candidate is a program that was run on all pairs of a task. Candidates with the same outputs on all of them form
/// one [`Behaviour`]. The ranking uses only train pairs: how many pairs are right, how many cells, how many
/// candidates agree, and how short the shortest candidate is. Expected outputs of test pairs, if known, do not
/// matter.
///
/// This is a [`Sink`] for batches that run with [`Options::scores`](crate::Options::scores). Its size depends on the
/// number of tasks, not of programs.
#[derive(Debug)]
pub struct Attempts<'a> {
    batch: Batch<'a>,
    by_task: Vec<Behaviours>,
    current: Option<Current>,
    has_changed: bool,
}

/// The candidate whose results are coming in.
#[derive(Debug)]
struct Current {
    job: Job,
    /// How many results are still to come.
    left: usize,
    /// The concatenated digests of its outputs.
    digests: Vec<u8>,
    train_right: u32,
    train_cells_right: u32,
    tests: Vec<Option<Grid>>,
}

impl Current {
    fn new(job: Job, batch: &Batch<'_>) -> Self {
        let task = &batch.tasks()[job.task as usize];
        Self {
            job,
            left: batch.pair_count(task),
            digests: Vec::new(),
            train_right: 0,
            train_cells_right: 0,
            tests: vec![None; task.test.len()],
        }
    }

    fn add(&mut self, pair: PairId, is_right: bool, score: Option<Score>, grid: Option<&Grid>) {
        self.left -= 1;
        let digest = score.map_or(FAILED, |score| score.digest);
        self.digests.extend(digest.to_le_bytes());
        match pair.split {
            Split::Train => {
                self.train_right += u32::from(is_right);
                self.train_cells_right += score.map_or(0, |score| score.cells_right);
            }
            Split::Test => self.tests[pair.index as usize] = grid.cloned(),
            Split::Other(_) => {}
        }
    }

    fn behaviour(self, steps: usize) -> Behaviour {
        Behaviour {
            digest: xxh3_128(&self.digests),
            candidates: 1,
            program: self.job.program,
            steps,
            train_right: self.train_right,
            train_cells_right: self.train_cells_right,
            tests: self.tests,
        }
    }
}

/// The digest of a pair without output.
const FAILED: u128 = u128::MAX;

impl<'a> Attempts<'a> {
    /// Attempts of a batch, without candidates yet.
    pub fn new(batch: &Batch<'a>) -> Self {
        Self {
            batch: batch.clone(),
            by_task: batch
                .tasks()
                .iter()
                .map(|_| Behaviours::default())
                .collect(),
            current: None,
            has_changed: true,
        }
    }

    /// The batch.
    pub fn batch(&self) -> &Batch<'a> {
        &self.batch
    }

    /// The behaviours of each task, by index.
    pub fn by_task(&self) -> &[Behaviours] {
        &self.by_task
    }

    /// Adds the last candidate, unless results are missing because the batch was ended.
    pub fn finish(&mut self) {
        let Some(current) = self.current.take() else {
            return;
        };
        if current.left > 0 {
            return;
        }
        let Job { program, task } = current.job;
        let program = &self.batch.programs()[program as usize];
        let steps = match program.python() {
            // Lines take the place of steps.
            Some(_) => program.to_string().lines().count(),
            None => program.steps().len(),
        };
        self.has_changed = true;
        self.by_task[task as usize].add(current.behaviour(steps));
    }

    /// Adds the next result of the current candidate.
    pub(crate) fn add(&mut self, result: &PairResult) {
        if let Some(current) = &mut self.current {
            let grid = result.output.as_ref().and_then(Value::as_grid);
            let is_right = result.outcome == Outcome::Match;
            current.add(result.pair, is_right, result.score, grid.as_deref());
        }
    }

    /// Adds a candidate that is not a program of the batch, with its output on each pair of its task; `number` and
    /// `steps` identify and rank it in place of a program.
    pub(crate) fn add_candidate<'g>(
        &mut self,
        task: usize,
        (number, steps): (u32, usize),
        gives: impl IntoIterator<Item = Option<&'g Grid>>,
    ) {
        self.finish();
        let batch = self.batch.clone();
        let pairs = batch.tasks()[task].pairs();
        let job = Job {
            program: number,
            task: task as u32,
        };
        let mut current = Current::new(job, &batch);
        for ((id, pair), grid) in pairs.zip(gives) {
            let expected = pair.output.as_ref();
            let score = grid.map(|grid| Score::of(grid, expected));
            current.add(id, expected.is_some() && grid == expected, score, grid);
        }
        self.has_changed = true;
        self.by_task[task].add(current.behaviour(steps));
    }

    /// Whether candidates were added since the last call.
    pub(crate) fn has_changed(&mut self) -> bool {
        std::mem::take(&mut self.has_changed)
    }

    /// For each test input of a task the two grids for the submission: the first two different ones in the ranking of
    /// its behaviours. If there are fewer, the input itself and a single black cell are used.
    pub fn of_task(&self, task: usize) -> Vec<[Grid; 2]> {
        let ranked = self.by_task[task].ranked();
        let task = &self.batch.tasks()[task];
        handed_in_for(task, |_, at| {
            let found = ranked.iter().filter_map(|it| it.tests.get(at)?.as_ref());
            handed_in(found, &task.test[at].input)
        })
    }

    /// Whether the task has train pairs and a candidate is right on all of them.
    pub fn fits_train(&self, task: usize) -> bool {
        let pairs = self.batch.tasks()[task].train.len();
        let ranked = self.by_task[task].ranked();
        let best = ranked.first().map_or(0, |best| best.train_right as usize);
        pairs > 0 && best == pairs
    }
}

/// The attempts for all test inputs, numbered as in the task's file: `of` gets the index there and the one in
/// [`Task::test`]. A test pair that could not be read gets attempts too, so that later ones keep their indices.
pub(crate) fn handed_in_for(
    task: &Task,
    mut of: impl FnMut(usize, usize) -> [Grid; 2],
) -> Vec<[Grid; 2]> {
    let places = task.test_places().enumerate();
    let attempts = places.map(|(place, at)| match at {
        Some(at) => of(place, at),
        None => [0, 1].map(|colour| Grid::filled(1, 1, colour)),
    });
    attempts.collect()
}

/// The first two different grids that can be answers. If there are fewer, the input itself and a single black cell
/// are used.
pub(crate) fn handed_in<'g>(found: impl Iterator<Item = &'g Grid>, input: &Grid) -> [Grid; 2] {
    let fallbacks = [input.clone(), Grid::filled(1, 1, 0), Grid::filled(1, 1, 1)];
    let mut grids: Vec<&Grid> = Vec::with_capacity(2);
    let found: Vec<&Grid> = found.filter(|grid| is_valid(grid)).collect();
    let fallbacks = fallbacks.iter().filter(|grid| is_valid(grid));
    for grid in found.into_iter().chain(fallbacks) {
        if !grids.contains(&grid) {
            grids.push(grid);
        }
        if grids.len() == 2 {
            break;
        }
    }
    [grids[0].clone(), grids[1].clone()]
}

/// Whether a grid can be an answer: 1 to 30 rows and columns of the ten colours.
fn is_valid(grid: &Grid) -> bool {
    let side = 1..=arc_tasks::MAX_SIDE;
    side.contains(&grid.height())
        && side.contains(&grid.width())
        && grid.cells().iter().all(|cell| (0..=9).contains(cell))
}

impl Sink for Attempts<'_> {
    fn job(&mut self, job: Job) -> io::Result<()> {
        self.finish();
        self.current = Some(Current::new(job, &self.batch));
        Ok(())
    }

    fn pair(&mut self, _: Job, result: PairResult) -> io::Result<()> {
        self.add(&result);
        Ok(())
    }

    fn skipped(&mut self, _: Job) -> io::Result<()> {
        if let Some(current) = &mut self.current {
            current.left -= 1;
            current.digests.extend(FAILED.to_le_bytes());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
