//! [`Task`] and [`Pair`]: what programs are run on.

use std::fmt;
use std::sync::Arc;

use crate::grid::Grid;

mod error;
mod json;
mod seeds;
mod text;

pub use error::TaskError;
pub use json::{Challenges, Solution, Solutions};
pub use seeds::MAX_SIDE;

/// A task: pairs to learn from and pairs to be judged by.
///
/// ```
/// use arc_dsl::Task;
/// let text = r#"{"train": [{"input": [[1, 2]], "output": [[2, 1]]}], "test": [{"input": [[3, 0]]}]}"#;
/// let task = Task::from_json("67a3c6ac", text.as_bytes())?;
/// assert_eq!(task.train[0].input.to_string(), "((1, 2),)");
/// assert_eq!(task.test[0].output, None);
/// # Ok::<(), arc_dsl::TaskError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Task {
    /// The id, as `007bbfb7`; programs are found by it.
    pub id: String,
    /// The pairs whose outputs a solver is shown.
    pub train: Vec<Pair>,
    /// The pairs whose outputs a solver is asked for.
    pub test: Vec<Pair>,
}

/// An input grid with the output that is expected for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// What a program is given.
    pub input: Arc<Grid>,
    /// What it should return, where that is known.
    pub output: Option<Grid>,
}

impl Pair {
    /// A pair of these grids; the output may be a grid, or `None` where it is not known.
    pub fn new(input: impl Into<Arc<Grid>>, output: impl Into<Option<Grid>>) -> Self {
        Self {
            input: input.into(),
            output: output.into(),
        }
    }
}

/// To which half of a task a pair belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Split {
    /// [`Task::train`].
    Train,
    /// [`Task::test`].
    Test,
}

impl Split {
    /// The key that the data uses: `train` or `test`.
    pub fn name(self) -> &'static str {
        match self {
            Split::Train => "train",
            Split::Test => "test",
        }
    }
}

/// A pair of a task, by its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PairId {
    /// The half of the task.
    pub split: Split,
    /// The place in it, counted from 0.
    pub index: u32,
}

/// As `train[0]`.
impl fmt::Display for PairId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]", self.split.name(), self.index)
    }
}

impl Task {
    /// How many pairs it has.
    pub fn pair_count(&self) -> usize {
        self.train.len() + self.test.len()
    }

    /// All pairs, those of `train` first.
    pub fn pairs(&self) -> impl Iterator<Item = (PairId, &Pair)> {
        let numbered = |split, pairs: &'_ [Pair]| {
            (0..pairs.len() as u32).map(move |index| PairId { split, index })
        };
        let train = numbered(Split::Train, &self.train).zip(&self.train);
        train.chain(numbered(Split::Test, &self.test).zip(&self.test))
    }

    /// The pair at place `at` of [`pairs`](Self::pairs), which must exist.
    pub fn pair_at(&self, at: usize) -> (PairId, &Pair) {
        match at.checked_sub(self.train.len()) {
            None => (
                PairId {
                    split: Split::Train,
                    index: at as u32,
                },
                &self.train[at],
            ),
            Some(at) => (
                PairId {
                    split: Split::Test,
                    index: at as u32,
                },
                &self.test[at],
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_numbered_within_their_split() {
        let pair = |colour| Pair::new(Grid::filled(1, 1, colour), None);
        let task = Task {
            id: "a".into(),
            train: vec![pair(1), pair(2)],
            test: vec![pair(3), pair(4)],
        };
        let names: Vec<_> = task.pairs().map(|(id, _)| id.to_string()).collect();
        assert_eq!(names, ["train[0]", "train[1]", "test[0]", "test[1]"]);
        assert_eq!(task.pair_count(), 4);
        for (at, pair) in task.pairs().enumerate() {
            assert_eq!(task.pair_at(at), pair);
        }
    }
}
