//! [`Task`] and [`Pair`]: what programs are run on.

use std::fmt;
use std::sync::Arc;

use arc_dsl::{Grid, Value};

mod error;
mod file;
mod json;
mod seeds;
mod solutions;
mod structure;
mod submission;
mod text;

pub use error::TaskError;
pub use file::{FileForm, FileProgram, FileTask, TaskFile, bare_id, is_arc_id, may_be_id};
pub use seeds::MAX_CELLS;
pub use solutions::{Solution, Solutions};
pub use submission::{SubmissionFile, SubmittedGrid, SubmittedTask};
pub use text::{broken_json, utf8};

/// The most rows and columns that a grid of the ARC data, and of a submission, has.
pub const MAX_SIDE: usize = 30;

/// The most test inputs of a task whose numbers are places; a higher `pair_index` of a submission is an error.
pub const MAX_TESTS: usize = 100;

/// A task: train pairs, from which the rule is learned, and test pairs, on which programs are judged.
///
/// ```
/// use arc_tasks::Task;
/// let text = r#"{"train": [{"input": [[1, 2]], "output": [[2, 1]]}], "test": [{"input": [[3, 0]]}]}"#;
/// let task = Task::from_json("67a3c6ac", text.as_bytes())?;
/// assert_eq!(task.train[0].input.to_string(), "((1, 2),)");
/// assert_eq!(task.test[0].output, None);
/// # Ok::<(), arc_tasks::TaskError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Task {
    /// The id, such as `007bbfb7`; programs are assigned to tasks by it.
    pub id: String,
    /// The pairs whose outputs a solver is shown.
    pub train: Vec<Pair>,
    /// The pairs whose outputs a solver is asked for.
    pub test: Vec<Pair>,
    /// The pairs of other splits, such as `arc-gen`: they are run too, and counted separately.
    pub others: Vec<OtherSplit>,
    /// The indices of the test pairs in its file that could not be read, ascending. They are missing from `test`, but
    /// submissions and solutions count them.
    pub tests_left_out: Vec<usize>,
}

/// The pairs of a split that is neither `train` nor `test`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OtherSplit {
    /// The key in the data, such as `arc-gen`.
    pub name: String,
    /// The pairs.
    pub pairs: Vec<Pair>,
}

/// An input grid with the expected output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// What a program is given.
    pub input: Arc<Grid>,
    /// What it should return, if known.
    pub output: Option<Grid>,
}

impl Pair {
    /// A pair of these grids; the output may be a grid, or `None` if it is not known.
    pub fn new(input: impl Into<Arc<Grid>>, output: impl Into<Option<Grid>>) -> Self {
        Self {
            input: input.into(),
            output: output.into(),
        }
    }
}

/// The part of a task that a pair belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Split {
    /// [`Task::train`].
    Train,
    /// [`Task::test`].
    Test,
    /// One of [`Task::others`], by its index.
    Other(u32),
}

/// Identifies a pair of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PairId {
    /// The part of the task.
    pub split: Split,
    /// The index in it, counted from 0.
    pub index: u32,
}

/// For example `train[0]`; only the task knows the names of other splits ([`Task::pair_name`]).
impl fmt::Display for PairId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { split, index } = self;
        match split {
            Split::Train => write!(f, "train[{index}]"),
            Split::Test => write!(f, "test[{index}]"),
            Split::Other(split) => write!(f, "other {split}[{index}]"),
        }
    }
}

impl Task {
    /// How many pairs it has.
    #[must_use]
    pub fn pair_count(&self) -> usize {
        let others = self.others.iter().map(|split| split.pairs.len());
        self.train.len() + self.test.len() + others.sum::<usize>()
    }

    /// The train pairs as programs of the typed dialect receive them: a tuple of (input, output) pairs. A missing
    /// output is [`Value::Nothing`].
    #[must_use]
    pub fn train_pairs(&self) -> Value {
        let pair = |pair: &Pair| {
            let output = pair.output.clone().map_or(Value::Nothing, Value::from);
            Value::pair(&Value::Grid(pair.input.clone()), &output)
        };
        Value::tuple(self.train.iter().map(pair).collect())
    }

    /// For each test pair in the task's file, its index in `test`; `None` for a pair that was left out.
    pub fn test_places(&self) -> impl ExactSizeIterator<Item = Option<usize>> {
        let mut next = 0..;
        (0..self.test.len() + self.tests_left_out.len()).map(move |place| {
            let is_kept = !self.tests_left_out.contains(&place);
            is_kept.then(|| next.next()).flatten()
        })
    }

    /// The splits with their pairs, `train` and `test` first.
    pub fn splits(&self) -> impl Iterator<Item = (Split, &[Pair])> {
        let known = [(Split::Train, &*self.train), (Split::Test, &*self.test)];
        let others = self.others.iter().zip(0..);
        known
            .into_iter()
            .chain(others.map(|(split, at)| (Split::Other(at), &*split.pairs)))
    }

    /// All pairs, those of `train` first, then those of `test`.
    pub fn pairs(&self) -> impl Iterator<Item = (PairId, &Pair)> {
        self.splits().flat_map(|(split, pairs)| {
            let numbered = pairs.iter().zip(0..);
            numbered.map(move |(pair, index)| (PairId { split, index }, pair))
        })
    }

    /// Pair number `at` of [`pairs`](Self::pairs), which must exist.
    #[must_use]
    pub fn pair_at(&self, at: usize) -> (PairId, &Pair) {
        let (mut split, mut pairs, mut at) = (Split::Train, &self.train, at);
        if at >= pairs.len() {
            at -= pairs.len();
            (split, pairs) = (Split::Test, &self.test);
            for (number, other) in (0..).zip(&self.others) {
                if at < pairs.len() {
                    break;
                }
                at -= pairs.len();
                (split, pairs) = (Split::Other(number), &other.pairs);
            }
        }
        let index = at as u32;
        (PairId { split, index }, &pairs[at])
    }

    /// The key of a split in the data: `train`, `test` or another one.
    #[must_use]
    pub fn split_name(&self, split: Split) -> &str {
        match split {
            Split::Train => "train",
            Split::Test => "test",
            Split::Other(at) => {
                let other = self.others.get(at as usize);
                other.map_or("other", |split| &split.name)
            }
        }
    }

    /// The name of a pair, such as `train[0]` or `arc-gen[0]`.
    #[must_use]
    pub fn pair_name(&self, id: PairId) -> String {
        format!("{}[{}]", self.split_name(id.split), id.index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_numbered_within_their_split() {
        let pair = |colour| Pair::new(Grid::filled(1, 1, colour), None);
        let other = |name: &str, pairs| OtherSplit {
            name: name.into(),
            pairs,
        };
        let task = Task {
            id: "a".into(),
            train: vec![pair(1), pair(2)],
            test: vec![pair(3), pair(4)],
            others: vec![
                other("arc-gen", vec![pair(5)]),
                other("none", vec![]),
                other("more", vec![pair(6), pair(7)]),
            ],
            tests_left_out: vec![0, 2],
        };
        let names: Vec<_> = task.pairs().map(|(id, _)| task.pair_name(id)).collect();
        let expected = [
            "train[0]",
            "train[1]",
            "test[0]",
            "test[1]",
            "arc-gen[0]",
            "more[0]",
            "more[1]",
        ];
        assert_eq!(names, expected);
        assert_eq!(task.pair_count(), 7);
        for (at, pair) in task.pairs().enumerate() {
            assert_eq!(task.pair_at(at), pair);
        }
    }
}
