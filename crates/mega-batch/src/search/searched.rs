//! [`Searched`]: the result of a search for a task, as stored in checkpoints and documents.

use arc_dsl::Grid;
pub use arc_search::SearchCounts;
pub use arc_search::attempt::LayerText as FoundLayer;
pub use arc_search::enumerate::Stopped as SearchEnd;
use arc_search::{Attempt, Found};
use arc_tasks::Task;
use serde::{Deserialize, Serialize};

use crate::run::panics::PANIC;

/// The result of a search for a task. Everything except the time and the bytes is the same in every run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Searched {
    /// Why the task could not be searched; there are no attempts then.
    pub failure: Option<String>,
    /// Why the enumeration of calls ended; `None` if it did not begin, because the size of the outputs could not be
    /// predicted.
    pub stopped: Option<SearchEnd>,
    /// Whether colours were renamed, at least in the first pass.
    pub renamed: bool,
    /// The work that was done.
    pub counts: SearchCounts,
    /// The size of the output of each test pair, rows and columns, if it was predicted.
    pub sizes: Vec<(usize, usize)>,
    /// The attempts, best first.
    pub attempts: Vec<FoundAttempt>,
    /// For each test pair the indices of the attempts that answer it, best first.
    pub answers: Vec<Vec<usize>>,
    /// How long it took.
    pub seconds: f64,
    /// Bytes of the values. They include those from earlier tasks of the same worker.
    pub bytes: u64,
}

/// An attempt, like [`arc_search::Attempt`], with its program as text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FoundAttempt {
    /// On how many train pairs it is right.
    pub fits: u32,
    /// How good it is, by the ranker.
    pub score: f64,
    /// The greatest cost of a piece.
    pub cost: u32,
    /// Whether its program renames colours.
    pub renames: bool,
    /// For each test pair, the properties common to all train pairs that the answer violates.
    pub broken: Vec<Vec<String>>,
    /// The layers, the top one first.
    pub layers: Vec<FoundLayer>,
    /// The program; its name ends in the id of the task, with `_` in place of characters that names cannot contain.
    pub program: String,
    /// The output for each test pair.
    pub outputs: Vec<Grid>,
}

/// The kind of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AttemptKind {
    /// One layer, right on all train pairs.
    Chain,
    /// Several layers, right on all train pairs.
    Stack,
    /// Right on some train pairs.
    Partly,
}

/// How successful the search for a task was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchState {
    /// The outputs of all test pairs are known, and one of the first two answers to each is right.
    Solved,
    /// An attempt is right on all train pairs.
    Fits,
    /// An attempt is right on some train pairs.
    Partly,
    /// There is no attempt.
    Nothing,
}

impl Searched {
    /// The result for a task; its programs are named after the task.
    pub(super) fn of(task: &Task, found: Found) -> Self {
        let Found {
            attempts,
            answers,
            counts,
            stopped,
            sizes,
            renamed,
            bytes,
        } = found;
        let attempts = attempts.into_iter().enumerate();
        Self {
            failure: None,
            stopped,
            renamed,
            counts,
            sizes,
            attempts: attempts
                .map(|(rank, attempt)| FoundAttempt::of(attempt, &program_name(rank, &task.id)))
                .collect(),
            answers,
            seconds: 0.0,
            bytes,
        }
    }

    /// A task that could not be searched.
    pub fn failed(task: &Task, failure: impl Into<String>) -> Self {
        Self {
            failure: Some(failure.into()),
            answers: vec![Vec::new(); task.test.len()],
            ..Self::default()
        }
    }

    /// Whether the search of the task panicked, which is a bug of the engine.
    pub fn has_panicked(&self) -> bool {
        let failure = self.failure.as_deref();
        failure.is_some_and(|failure| failure.starts_with(PANIC))
    }

    /// The grids that answer a test pair, best first.
    pub fn answers_of(&self, test: usize) -> impl Iterator<Item = &Grid> {
        let answers = self.answers.get(test).into_iter().flatten();
        answers.filter_map(move |attempt| self.attempts.get(*attempt)?.outputs.get(test))
    }

    /// The index of the right one among the answers to a test pair.
    pub fn place_of(&self, test: usize, output: &Grid) -> Option<usize> {
        self.answers_of(test).position(|answer| answer == output)
    }

    /// How successful the search was for its task.
    pub fn state(&self, task: &Task) -> SearchState {
        let is_right = |(test, pair): (usize, &arc_tasks::Pair)| {
            let place = self.place_of(test, pair.output.as_ref()?);
            place.filter(|place| *place < 2)
        };
        let mut tests = task.test.iter().enumerate();
        if !task.test.is_empty() && tests.all(|test| is_right(test).is_some()) {
            return SearchState::Solved;
        }
        let train = task.train.len();
        let kinds = self.attempts.iter().map(|attempt| attempt.kind(train));
        match kinds.min() {
            Some(AttemptKind::Chain | AttemptKind::Stack) => SearchState::Fits,
            Some(AttemptKind::Partly) => SearchState::Partly,
            None => SearchState::Nothing,
        }
    }
}

impl FoundAttempt {
    fn of(attempt: Attempt, name: &str) -> Self {
        Self {
            fits: attempt.fits,
            score: attempt.score,
            cost: attempt.cost.into(),
            renames: attempt.renames,
            broken: attempt
                .broken
                .iter()
                .map(|names| names.iter().map(|name| (*name).to_owned()).collect())
                .collect(),
            layers: attempt.layers,
            program: attempt.program.with_name(name.to_owned()).to_string(),
            outputs: attempt.outputs,
        }
    }

    /// The kind of the attempt, for a task with this many train pairs.
    pub fn kind(&self, train: usize) -> AttemptKind {
        match self.layers.len() {
            _ if (self.fits as usize) < train => AttemptKind::Partly,
            0 | 1 => AttemptKind::Chain,
            _ => AttemptKind::Stack,
        }
    }
}

/// The name of the program of the attempt at this rank: it ends in the task's id, with `_` in place of characters
/// that names cannot contain.
pub fn program_name(rank: usize, id: &str) -> String {
    let is_letter = |c: char| c.is_ascii_alphanumeric();
    let id: String = id
        .chars()
        .map(|c| if is_letter(c) { c } else { '_' })
        .collect();
    match rank {
        0 => format!("solve_{id}"),
        1 => format!("second_{id}"),
        2 => format!("third_{id}"),
        _ => format!("attempt{}_{id}", rank + 1),
    }
}
