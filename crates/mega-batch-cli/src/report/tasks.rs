//! [`Tasks`]: the results of each task, with its grids, counted and packed while reading.

use serde::{Deserialize, Deserializer, Serialize};

use super::bounded::{First, Text, fold_list};
use super::grids::{Grid, Grids, Place};
use super::outcomes::Program;

/// The most tasks with a card; the totals include all.
const CARDS: usize = 2000;

/// The most bytes of grids on a page; tasks past that have a card without grids.
const GRID_BYTES: usize = 32 << 20;

/// The most pairs of a task that are drawn, train and test each.
pub(super) const PAIRS: usize = 12;

/// The most programs of a task that are shown.
const BEST: usize = 3;

/// The state of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum State {
    Solved,
    Unsolved,
    Untried,
}

impl State {
    pub(super) const ALL: [State; 3] = [State::Solved, State::Unsolved, State::Untried];

    /// The word for people; it is also the CSS class of its colour.
    pub(super) fn word(self) -> &'static str {
        match self {
            State::Solved => "solved",
            State::Unsolved => "unsolved",
            State::Untried => "untried",
        }
    }
}

/// Bins of the tasks' scores: tenths, and one for all cells right.
pub(super) const STEPS: usize = 11;

/// How much of a document is on the page.
#[derive(Debug, Default)]
pub(super) struct Room {
    /// How many tasks there are.
    pub(super) total: usize,
    /// Tasks with a card, but without grids for lack of room.
    pub(super) without_grids: usize,
    grid_bytes: usize,
}

impl Room {
    /// Counts a task; returns whether there is room for its card, and removes its grids if there is none for them.
    pub(super) fn add(&mut self, data: &mut Option<String>) -> bool {
        self.total += 1;
        if self.total > CARDS {
            return false;
        }
        let bytes = data.as_ref().map_or(0, String::len);
        if self.grid_bytes + bytes > GRID_BYTES {
            *data = None;
            self.without_grids += 1;
        } else {
            self.grid_bytes += bytes;
        }
        true
    }
}

/// All tasks.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    /// Those with a card, in the document's order.
    pub(super) cards: Vec<Task>,
    pub(super) room: Room,
    /// Counts by [`State`].
    pub(super) states: [u64; 3],
    /// Tasks by the share of train cells that their best program has right, if they have one.
    pub(super) scores: [u64; STEPS],
    /// Test inputs whose output is known, and those among them with a right attempt.
    pub(super) tests: Share,
}

/// A count out of a total.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Share {
    pub(super) right: u64,
    pub(super) of: u64,
}

impl Share {
    /// The share from 0 to 1; `None` if the total is 0.
    pub(super) fn ratio(self) -> Option<f64> {
        (self.of > 0).then(|| (self.right as f64 / self.of as f64).clamp(0.0, 1.0))
    }

    /// How many outputs are right, of those whose expected grid is known.
    pub(super) fn of_right<T>(
        outputs: &[T],
        expected: &[Place],
        is_right: impl Fn(&T, Place) -> bool,
    ) -> Self {
        let known = outputs
            .iter()
            .zip(expected)
            .filter(|(_, place)| place.exists());
        known.fold(Self::default(), |share, (output, expected)| Self {
            right: share.right + u64::from(is_right(output, *expected)),
            of: share.of + 1,
        })
    }
}

/// A task with a card.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) id: Text,
    pub(super) state: State,
    pub(super) candidates: Option<u64>,
    pub(super) behaviours: Option<u64>,
    pub(super) behaviours_dropped: u64,
    /// Pairs that are not drawn.
    pub(super) pairs_left_out: usize,
    pub(super) best: Vec<Ranked>,
    /// The test inputs with a right attempt.
    pub(super) tests: Share,
    /// Its grids as a line of JSON, if there is room.
    pub(super) data: Option<String>,
}

impl Task {
    /// The share of train cells that the best program has right.
    pub(super) fn score(&self) -> Option<f64> {
        self.best.first()?.train_cells.ratio()
    }
}

/// One of the best programs of a task.
#[derive(Debug)]
pub(super) struct Ranked {
    pub(super) program: Program,
    pub(super) steps: Option<u64>,
    /// How many candidates have this behaviour.
    pub(super) candidates: Option<u64>,
    pub(super) train_pairs: Share,
    pub(super) train_cells: Share,
    /// Test pairs whose output is known.
    pub(super) tests: Share,
}

/// The grids of a task as the script reads them.
#[derive(Serialize)]
struct Data {
    /// The distinct grids.
    grids: Vec<String>,
    /// How many of the pairs are train pairs.
    trains: usize,
    /// Input and expected output of each pair.
    pairs: Vec<[Place; 2]>,
    /// The output of each of the best programs on each pair.
    best: Vec<Vec<Place>>,
    /// What is submitted for each test pair.
    attempts: Vec<Vec<Place>>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object, what became of a task")]
struct Entry {
    task: Text,
    state: State,
    candidates: Option<u64>,
    behaviours: Option<u64>,
    #[serde(default)]
    behaviours_dropped: u64,
    train: First<Pair, PAIRS>,
    test: First<Pair, PAIRS>,
    #[serde(default)]
    best: First<Best, BEST>,
    #[serde(default)]
    attempts: First<First<Option<Grid>, 2>, PAIRS>,
}

#[derive(Deserialize)]
#[serde(expecting = "a pair with an input")]
pub(super) struct Pair {
    pub(super) input: Grid,
    pub(super) output: Option<Grid>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object, one of the best programs")]
struct Best {
    program: Text,
    file: Option<Text>,
    steps: Option<u64>,
    candidates: Option<u64>,
    train_right: u64,
    train_cells_right: u64,
    train_cells: u64,
    train: First<Option<Grid>, PAIRS>,
    #[serde(default)]
    test: First<Option<Grid>, PAIRS>,
}

/// Input and expected output of each pair, the train pairs first.
pub(super) fn pairs(
    grids: &mut Grids,
    train: First<Pair, PAIRS>,
    test: First<Pair, PAIRS>,
) -> Vec<[Place; 2]> {
    let pairs = train.kept.into_iter().chain(test.kept);
    pairs
        .map(|pair| [Some(pair.input), pair.output].map(|grid| grids.place(grid)))
        .collect()
}

impl Tasks {
    fn add(&mut self, entry: Entry) {
        let mut task = Task::new(entry);
        self.states[task.state as usize] += 1;
        self.tests.right += task.tests.right;
        self.tests.of += task.tests.of;
        if let Some(score) = task.score() {
            self.scores[(score * (STEPS - 1) as f64) as usize] += 1;
        }
        if self.room.add(&mut task.data) {
            self.cards.push(task);
        }
    }
}

impl Task {
    fn new(entry: Entry) -> Self {
        let mut grids = Grids::default();
        let trains = entry.train.kept.len();
        let train_pairs = entry.train.total as u64;
        let pairs_left_out = entry.train.left_out() + entry.test.left_out();
        let pairs = pairs(&mut grids, entry.train, entry.test);
        let expected: Vec<Place> = pairs[trains..].iter().map(|&[_, output]| output).collect();

        let (mut best, mut outputs) = (Vec::new(), Vec::new());
        for ranked in entry.best.kept {
            let mut of_program = grids.places(ranked.train.kept, trains);
            let on_tests = grids.places(ranked.test.kept, expected.len());
            let tests =
                Share::of_right(&on_tests, &expected, |output, expected| output.is(expected));
            of_program.extend(on_tests);
            outputs.push(of_program);
            best.push(Ranked {
                program: Program {
                    name: ranked.program,
                    file: ranked.file,
                },
                steps: ranked.steps,
                candidates: ranked.candidates,
                train_pairs: Share {
                    right: ranked.train_right,
                    of: train_pairs,
                },
                train_cells: Share {
                    right: ranked.train_cells_right,
                    of: ranked.train_cells,
                },
                tests,
            });
        }

        let attempts = entry.attempts.kept.into_iter().take(expected.len());
        let attempts = attempts.map(|attempts| {
            let attempts = attempts.kept.into_iter();
            attempts.map(|grid| grids.place(grid)).collect()
        });
        let attempts: Vec<Vec<Place>> = attempts.collect();
        let tests = Share::of_right(&attempts, &expected, |attempts, expected| {
            attempts.iter().any(|attempt| attempt.is(expected))
        });

        let data = Data {
            grids: grids.into_texts(),
            trains,
            pairs,
            best: outputs,
            attempts,
        };
        Self {
            id: entry.task,
            state: entry.state,
            candidates: entry.candidates,
            behaviours: entry.behaviours,
            behaviours_dropped: entry.behaviours_dropped,
            pairs_left_out,
            best,
            tests,
            data: serde_json::to_string(&data).ok(),
        }
    }
}

impl<'de> Deserialize<'de> for Tasks {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        fold_list(deserializer, "a list of tasks", Tasks::add)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn tasks(document: &Value) -> Tasks {
        serde_json::from_value(document.clone()).unwrap()
    }

    fn data(task: &Task) -> Value {
        serde_json::from_str(task.data.as_deref().unwrap()).unwrap()
    }

    #[test]
    fn what_a_task_lacks_is_not_there_and_nothing_is_out_of_step() {
        let pair = json!({"input": [[1]], "output": [[2]]});
        let open = json!({"input": [[3]]});
        let tasks = tasks(&json!([
            {"task": "a", "state": "untried", "train": [pair], "test": [open], "later": {}},
            {"task": "b", "state": "unsolved", "train": [pair, pair], "test": [pair, open],
             "best": [{"program": "p", "train_right": 1, "train_cells_right": 1, "train_cells": 2,
                "train": [[[2]]], "test": [[[2]], [[7]], [[8]]]}],
             "attempts": [[[[5]], [[2]]], [[[7]], null]]}
        ]));
        assert_eq!((tasks.room.total, tasks.states), (2, [0, 1, 1]));
        assert_eq!(tasks.scores.iter().sum::<u64>(), 1);
        assert_eq!(tasks.scores[5], 1);
        assert_eq!(tasks.tests, Share { right: 1, of: 1 });
        let [a, b] = &tasks.cards[..] else {
            panic!("{tasks:?}");
        };
        assert_eq!((a.score(), b.score()), (None, Some(0.5)));
        assert_eq!(
            data(a),
            json!({"grids": ["1x1:1", "1x1:2", "1x1:3"], "trains": 1, "pairs": [[0, 1], [2, -1]],
                "best": [], "attempts": []})
        );
        assert_eq!(b.best[0].tests, Share { right: 1, of: 1 });
        assert_eq!(b.best[0].train_pairs, Share { right: 1, of: 2 });
        assert_eq!(
            data(b),
            json!({"grids": ["1x1:1", "1x1:2", "1x1:3", "1x1:7", "1x1:5"], "trains": 2,
                "pairs": [[0, 1], [0, 1], [0, 1], [2, -1]], "best": [[1, -1, 1, 3]],
                "attempts": [[4, 1], [3, -1]]})
        );
    }

    #[test]
    fn many_tasks_and_many_pairs_are_counted_and_not_kept() {
        let pair = json!({"input": [[1]], "output": [[2]]});
        let task = json!({"task": "a", "state": "solved", "train": vec![pair.clone(); PAIRS + 5],
            "test": [pair]});
        let tasks = tasks(&json!(vec![task; CARDS + 3]));
        assert_eq!(
            (tasks.room.total, tasks.states[0]),
            (CARDS + 3, CARDS as u64 + 3)
        );
        assert_eq!(tasks.cards.len(), CARDS);
        assert_eq!(tasks.cards[0].pairs_left_out, 5);
        assert_eq!(data(&tasks.cards[0])["trains"], PAIRS);
    }

    #[test]
    fn grids_past_the_room_of_a_page_are_left_out() {
        let pair = json!({"input": vec![vec![1; 30]; 30]});
        let task = json!({"task": "a", "state": "untried", "train": [pair], "test": []});
        let entry = || Entry::deserialize(&task).unwrap();
        let bytes = Task::new(entry()).data.unwrap().len();
        assert!((900..1100).contains(&bytes), "{bytes}");
        let mut tasks = Tasks::default();
        tasks.room.grid_bytes = GRID_BYTES - 2 * bytes - 1;
        for _ in 0..4 {
            tasks.add(entry());
        }
        let kept: Vec<_> = tasks.cards.iter().map(|task| task.data.is_some()).collect();
        assert_eq!(
            (kept, tasks.room.without_grids),
            (vec![true, true, false, false], 2)
        );
    }
}
