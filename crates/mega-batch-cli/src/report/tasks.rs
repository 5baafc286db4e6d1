//! [`Tasks`]: the tasks of a run, counted and turned into cards while reading.

use serde::{Deserialize, Deserializer};

use super::bounded::{First, Text, fold_list};
use super::cards::{Card, Cards, PAIRS, Pair, Pairs, StateLabel, right_of};
use super::grids::Grid;
use super::html::{Share, add, bar, percent, program};
use crate::table::thousands;

/// The most programs of a task that are shown.
const BEST: usize = 3;

/// The state of a task.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum TaskState {
    Solved,
    Unsolved,
    Untried,
}

/// By [`TaskState`].
pub(super) const STATES: [StateLabel; 3] = [
    ("solved", "solved"),
    ("unsolved", "unsolved"),
    ("untried", "untried"),
];

/// Bins of the tasks' scores: tenths, and one for all cells right.
pub(super) const STEPS: usize = 11;

/// All tasks.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    pub(super) cards: Cards,
    /// Counts by state, in the order of [`STATES`].
    pub(super) states: [u64; 3],
    /// Tasks by the share of train cells that their best program has right, if they have one.
    pub(super) scores: [u64; STEPS],
    /// Test inputs whose output is known, and those among them with a right attempt.
    pub(super) tests: Share,
}

#[derive(Deserialize)]
#[serde(expecting = "an object, what became of a task")]
struct TaskEntry {
    task: Text,
    state: TaskState,
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

impl Best {
    /// A list item; `train` is the number of train pairs, `tests` the test pairs that are right.
    fn html(&self, train: usize, tests: Share) -> String {
        let mut html = format!(
            "<li>{} <span class=\"facts\">train {} of {} pairs, {} of {} cells{}",
            program(&self.program, self.file.as_ref()),
            thousands(self.train_right),
            thousands(train as u64),
            thousands(self.train_cells_right),
            thousands(self.train_cells),
            tests.of_tests()
        );
        if let Some(steps) = self.steps {
            add!(html, " · {} steps", thousands(steps));
        }
        if let Some(candidates) = self.candidates.filter(|&candidates| candidates > 1) {
            add!(html, " · {} candidates do the same", thousands(candidates));
        }
        html + "</span></li>"
    }
}

impl Tasks {
    fn add(&mut self, entry: TaskEntry) {
        let (state, train) = (entry.state as usize, entry.train.total);
        let mut pairs = Pairs::new(entry.train, entry.test);
        let expected = pairs.expected();
        let (mut names, mut programs, mut outputs) = (Vec::new(), Vec::new(), Vec::new());
        let mut first = None;
        for mut best in entry.best.kept {
            let on_train = std::mem::take(&mut best.train.kept);
            let mut of_program = pairs.grids.places(on_train, pairs.trains);
            let on_tests = std::mem::take(&mut best.test.kept);
            let on_tests = pairs.grids.places(on_tests, expected.len());
            let tests = right_of(&on_tests, &expected, |output, expected| *output == expected);
            of_program.extend(on_tests);
            outputs.push(of_program);
            programs.push(best.html(train, tests));
            let (right, of) = (best.train_cells_right, best.train_cells);
            first.get_or_insert((best.train_right, Share { right, of }));
            names.extend(
                [Some(best.program), best.file]
                    .into_iter()
                    .flatten()
                    .map(|it| it.0),
            );
        }
        let attempts = entry.attempts.kept.into_iter().take(expected.len());
        let attempts = attempts.map(|attempts| {
            let count = attempts.kept.len();
            pairs.grids.places(attempts.kept, count)
        });
        let attempts: Vec<_> = attempts.collect();
        let tests = right_of(&attempts, &expected, |attempts, expected| {
            attempts.contains(&expected)
        });
        self.states[state] += 1;
        self.tests.right += tests.right;
        self.tests.of += tests.of;
        let score = first.and_then(|(_, cells)| cells.ratio());
        if let Some(score) = score {
            self.scores[(score * (STEPS - 1) as f64) as usize] += 1;
        }
        let about = entry.candidates.map(|candidates| {
            let mut text = format!("{} candidates", thousands(candidates));
            if let Some(behaviours) = entry.behaviours {
                add!(text, " of {} behaviours", thousands(behaviours));
            }
            if entry.behaviours_dropped > 0 {
                add!(text, ", {} dropped", thousands(entry.behaviours_dropped));
            }
            text
        });
        self.cards.add(Card {
            id: entry.task,
            state: STATES[state],
            score,
            names,
            told: match first {
                None => "no program gives a grid".to_owned(),
                Some((right, _)) => format!(
                    "{}<span>train {} of {}, {} of cells{}</span>",
                    bar(STATES[state].0, score.unwrap_or(0.0)),
                    thousands(right),
                    thousands(train as u64),
                    percent(score.unwrap_or(0.0)),
                    tests.of_tests()
                ),
            },
            about: about.into_iter().collect(),
            programs,
            pairs_left_out: pairs.left_out,
            data: pairs.data(&outputs, &attempts, None),
        });
    }
}

impl<'de> Deserialize<'de> for Tasks {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        fold_list(
            deserializer,
            "a list of tasks",
            |tasks: &mut Self, entry| {
                tasks.add(entry);
                Ok(())
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::report::cards::{CARDS, GRID_BYTES};

    fn tasks(document: &Value) -> Tasks {
        serde_json::from_value(document.clone()).unwrap()
    }

    fn data(task: &Card) -> Value {
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
        assert_eq!((tasks.cards.total, tasks.states), (2, [0, 1, 1]));
        assert_eq!(tasks.scores.iter().sum::<u64>(), 1);
        assert_eq!(tasks.scores[5], 1);
        assert_eq!(tasks.tests, Share { right: 1, of: 1 });
        let [a, b] = &tasks.cards.kept[..] else {
            panic!("{tasks:?}");
        };
        assert_eq!((a.score, b.score), (None, Some(0.5)));
        assert_eq!(
            data(a),
            json!({"grids": ["1x1:1", "1x1:2", "1x1:3"], "trains": 1, "pairs": [[0, 1], [2, -1]],
                "best": [], "attempts": []})
        );
        let told = "<li><code>p</code> <span class=\"facts\">train 1 of 2 pairs, 1 of 2 cells · test 1 of 1</span></li>";
        assert_eq!(b.programs, [told]);
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
            (tasks.cards.total, tasks.states[0]),
            (CARDS + 3, CARDS as u64 + 3)
        );
        assert_eq!(tasks.cards.kept.len(), CARDS);
        assert_eq!(tasks.cards.kept[0].pairs_left_out, 5);
        assert_eq!(data(&tasks.cards.kept[0])["trains"], PAIRS);
    }

    #[test]
    fn grids_past_the_room_of_a_page_are_left_out() {
        let pair = json!({"input": vec![vec![1; 30]; 30]});
        let task = json!({"task": "a", "state": "untried", "train": [pair], "test": []});
        let bytes = tasks(&json!([task])).cards.kept[0]
            .data
            .as_ref()
            .unwrap()
            .len();
        assert!((900..1100).contains(&bytes), "{bytes}");
        let mut tasks = Tasks::default();
        tasks.cards.grid_bytes = GRID_BYTES - 2 * bytes - 1;
        for _ in 0..4 {
            tasks.add(TaskEntry::deserialize(&task).unwrap());
        }
        let cards = tasks.cards.kept.iter();
        let kept: Vec<_> = cards.map(|card| card.data.is_some()).collect();
        assert_eq!(
            (kept, tasks.cards.without_grids),
            (vec![true, true, false, false], 2)
        );
    }
}
