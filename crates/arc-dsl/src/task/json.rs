//! Tasks from JSON text.
//!
//! Two forms are read: a file a task, as the public ARC collections have it, and Kaggle's one file
//! of all tasks by id ([`Challenges`]) with the outputs of the test pairs in another
//! ([`Solutions`]). The data's own rules are enforced here (1 to 30 rows and columns, colours 0 to
//! 9); tasks that are made in memory may hold any grid.

use std::collections::{HashMap, HashSet};

use super::Task;
use super::error::TaskError;
use super::seeds::{GridsSeed, TaskSeed};
use super::text::{Places, Text};
use crate::grid::Grid;

impl Task {
    /// The task that one file's text describes; the files do not say their ids, so the caller does.
    ///
    /// Keys that the format does not know are passed over.
    pub fn from_json(id: impl Into<String>, text: &[u8]) -> Result<Self, TaskError> {
        let text = Text::new(text)?;
        let (train, test) = text.read(TaskSeed)?;
        Ok(Self {
            id: id.into(),
            train,
            test,
        })
    }
}

/// The tasks of one `*_challenges.json`.
///
/// A bad task has its error and the others are read; what stands behind broken JSON is not.
#[derive(Debug, Clone, Default)]
pub struct Challenges {
    /// The tasks that could be read, in the order of the file.
    pub tasks: Vec<Task>,
    /// What was wrong with the others.
    pub errors: Vec<TaskError>,
}

impl Challenges {
    /// Whether the text is of this form rather than of a single task: an object of objects without
    /// the keys of a task.
    pub fn is_form_of(text: &[u8]) -> bool {
        let Ok(text) = Text::new(text) else {
            return false;
        };
        let (entries, _) = text.entries("");
        entries
            .first()
            .is_some_and(|(_, value)| value.get().starts_with('{'))
            && !entries
                .iter()
                .any(|(key, _)| key == "train" || key == "test")
    }

    /// Reads the tasks.
    pub fn from_json(text: &[u8]) -> Self {
        let expected = "an object that holds a task for each id";
        let (tasks, errors) = by_id(text, expected, "task", |id, text| {
            let (train, test) = text.read(TaskSeed)?;
            Ok(Task {
                id: id.to_owned(),
                train,
                test,
            })
        });
        Self { tasks, errors }
    }
}

/// The outputs of one `*_solutions.json`.
#[derive(Debug, Clone, Default)]
pub struct Solutions {
    /// The solutions that could be read, in the order of the file.
    pub solutions: Vec<Solution>,
    /// What was wrong with the others.
    pub errors: Vec<TaskError>,
}

/// The outputs of the test pairs of one task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Solution {
    /// The id of the task.
    pub task: String,
    /// The line where it stands, counted from 1.
    pub line: usize,
    /// The column where it stands, in bytes, counted from 1.
    pub column: usize,
    /// An output a test pair.
    pub outputs: Vec<Grid>,
}

impl Solutions {
    /// Reads the solutions.
    pub fn from_json(text: &[u8]) -> Self {
        let expected = "an object that holds a list of grids for each id";
        let (solutions, errors) = by_id(text, expected, "solution", |id, text| {
            let outputs = text.read(GridsSeed)?;
            Ok(Solution {
                task: id.to_owned(),
                line: text.line,
                column: text.column,
                outputs,
            })
        });
        Self { solutions, errors }
    }

    /// Gives each task its test outputs; solutions that fit no task are the errors.
    ///
    /// Tasks without a solution stay as they are. `rejected` are the ids of tasks that were there
    /// but could not be read: their solutions are no further errors.
    pub fn apply<'t>(
        self,
        tasks: impl IntoIterator<Item = &'t mut Task>,
        rejected: &HashSet<String>,
    ) -> Vec<TaskError> {
        let mut errors = Vec::new();
        let mut tasks: HashMap<String, &mut Task> = tasks
            .into_iter()
            .map(|task| (task.id.clone(), task))
            .collect();
        for Solution {
            task: id,
            line,
            column,
            outputs,
        } in self.solutions
        {
            let message = match tasks.get_mut(&id) {
                Some(task) if task.test.len() == outputs.len() => {
                    for (pair, output) in task.test.iter_mut().zip(outputs) {
                        pair.output = Some(output);
                    }
                    continue;
                }
                Some(task) => format!(
                    "expected {} output{}, one for each test pair of the task, found {}",
                    task.test.len(),
                    if task.test.len() == 1 { "" } else { "s" },
                    outputs.len(),
                ),
                None if rejected.contains(&id) => continue,
                None => "a solution for a task that is not among the challenges".to_owned(),
            };
            errors.push(TaskError {
                task: Some(id.clone()),
                line,
                column,
                path: id,
                message,
            });
        }
        errors
    }
}

/// What `read` makes of each value of the object that the text is, and what was wrong with the
/// others.
fn by_id<T>(
    text: &[u8],
    expected: &'static str,
    what: &str,
    read: impl Fn(&str, &Text<'_>) -> Result<T, TaskError>,
) -> (Vec<T>, Vec<TaskError>) {
    let text = match Text::new(text) {
        Ok(text) => text,
        Err(error) => return (Vec::new(), vec![error]),
    };
    let (mut values, mut errors) = (Vec::new(), Vec::new());
    let (entries, broken) = text.entries(expected);
    let mut seen = HashSet::new();
    let mut places = Places::new(&text);
    for (id, value) in &entries {
        let part = places.part(id, value);
        if !seen.insert(id) {
            let message = format!("the id stands here a second time; the first {what} is used");
            errors.push(part.error(message));
            continue;
        }
        match read(id, &part) {
            Ok(value) => values.push(value),
            Err(error) => errors.push(error),
        }
    }
    errors.extend(broken);
    (values, errors)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::seeds::MAX_SIDE;
    use super::*;
    use crate::grid::Grid;

    fn error(text: &str) -> String {
        Task::from_json("id", text.as_bytes())
            .unwrap_err()
            .to_string()
    }

    /// The error of a task whose first training input is this.
    fn grid_error(grid: &str) -> String {
        error(&format!(
            "{{\"train\": [{{\"input\":\n{grid}}}], \"test\": []}}"
        ))
    }

    #[test]
    fn a_task_is_read_with_keys_it_does_not_know() {
        let text = r#"{"name": {"a": [1]}, "test": [{"input": [[0]]}, {"output": null, "input": [[5, 6]]}],
            "train": [{"output": [[1, 2], [3, 4]], "note": "x", "input": [[9]]}]}"#;
        let error = Task::from_json("x", text.as_bytes()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 1, column 63, test[1].output: expected a grid: a list of rows, found null"
        );
        let text = text.replace("\"output\": null, ", "");
        let task = Task::from_json("x", text.as_bytes()).unwrap();
        assert_eq!(
            (task.id.as_str(), task.train.len(), task.test.len()),
            ("x", 1, 2)
        );
        assert_eq!(
            task.train[0].output.as_ref().unwrap().to_string(),
            "((1, 2), (3, 4))"
        );
        assert_eq!(task.test[1].input.to_string(), "((5, 6),)");
        assert_eq!(task.test[1].output, None);
        assert!(Task::from_json("x", format!("\u{feff}{text}").as_bytes()).is_ok());
    }

    #[test]
    fn bad_grids_are_told_by_place_and_what_was_expected() {
        assert_eq!(
            grid_error("[[1, 2, 3, 4],\n[1, 2, 3, 4],\n[1, 2, 3]]"),
            "line 4, column 9, train[0].input[2]: row of 3 cells where row 0 has 4: \
             the rows of a grid are equally long"
        );
        assert_eq!(
            grid_error("[[1, 10]]"),
            "line 2, column 7, train[0].input[0][1]: colour 10: expected 0 to 9"
        );
        assert_eq!(
            grid_error("[[-1]]"),
            "line 2, column 4, train[0].input[0][0]: colour -1: expected 0 to 9"
        );
        assert_eq!(
            grid_error("[[1.0]]"),
            "line 2, column 5, train[0].input[0][0]: expected a colour: \
             an integer from 0 to 9, found number `1.0`"
        );
        assert_eq!(
            grid_error("[\"12\"]"),
            "line 2, column 5, train[0].input[0]: expected a row: \
             a list of colours, found string \"12\""
        );
        assert_eq!(
            grid_error("[]"),
            "line 2, column 2, train[0].input: grid of 0 rows: expected 1 to 30"
        );
        assert_eq!(
            grid_error("[[1], []]"),
            "line 2, column 8, train[0].input[1]: row of 0 cells: expected 1 to 30"
        );
        let row = format!("[{}]", ["0"; 31].join(","));
        assert_eq!(
            grid_error(&format!("[{row}]")),
            "line 2, column 64, train[0].input[0]: row of 31 cells: expected 1 to 30"
        );
        let rows = ["[0]"; 45].join(",");
        assert_eq!(
            grid_error(&format!("[{rows}]")),
            "line 2, column 181, train[0].input: grid of 45 rows: expected 1 to 30"
        );
        let largest = format!(
            "[{}]",
            vec![format!("[{}]", ["7"; 30].join(",")); 30].join(",")
        );
        let text = format!("{{\"train\": [{{\"input\": {largest}}}], \"test\": []}}");
        let task = Task::from_json("x", text.as_bytes()).unwrap();
        assert_eq!(*task.train[0].input, Grid::filled(30, 30, 7));
    }

    #[test]
    fn numbers_that_are_no_colours_are_told_as_they_were_written() {
        for written in ["-0", "1e+32", "1.5", "-0.0", "100000000000000000000", "1E2"] {
            let column = 4 + written.len();
            let expected = format!(
                "line 2, column {column}, train[0].input[0][1]: expected a colour: \
                 an integer from 0 to 9, found number `{written}`"
            );
            assert_eq!(grid_error(&format!("[[0,{written}]]")), expected);
        }
        let broken = |written: &str| grid_error(&format!("[[3], [{written}]]"));
        let found = |text: &str, end: &str| {
            assert!(text.ends_with(end), "{text}");
        };
        found(
            &broken("007"),
            "invalid number `007`: expected no leading zeros",
        );
        found(
            &broken("-01"),
            "invalid number `-01`: expected no leading zeros",
        );
        found(
            &broken("00"),
            "invalid number `00`: expected no leading zeros",
        );
        found(&broken("1."), "invalid number `1.`: expected more digits");
        found(&broken("-"), "invalid number `-`: expected more digits");
        found(
            &broken("1e999"),
            "number out of range `1e999`: expected an integer from 0 to 9",
        );
        let two = error("{\"train\": [{\"input\": [[1,\n2, -0]]}]}");
        found(&two, "found number `-0`");
    }

    #[test]
    fn bad_tasks_are_told_by_place_and_what_was_expected() {
        assert_eq!(
            error("{\"train\": []}"),
            "line 1, column 13: expected the key `test` with a list of pairs"
        );
        assert_eq!(
            error("{\"test\": []}"),
            "line 1, column 12: expected the key `train` with a list of pairs"
        );
        assert_eq!(
            error("{\"train\": [{\"output\": [[1]]}]}"),
            "line 1, column 28, train[0]: expected the key `input` with a grid"
        );
        assert_eq!(
            error("{\"train\": [], \"train\": []}"),
            "line 1, column 26: the key `train` stands here twice"
        );
        assert_eq!(
            error("{\"train\": {}}"),
            "line 1, column 10, train: expected a list of pairs, found an object"
        );
        assert_eq!(
            error("[1]"),
            "line 1, column 1: expected a task: an object with the keys `train` and `test`, \
             found a list"
        );
        assert_eq!(
            error("{\"train\": [{\"input\": [[1, 2"),
            "line 1, column 27, train[0].input[0]: broken JSON: EOF while parsing a list"
        );
        assert_eq!(
            error("{\"train\": [], \"test\": []} x"),
            "line 1, column 27: broken JSON: trailing characters"
        );
        assert_eq!(
            error(""),
            "line 1, column 1: broken JSON: EOF while parsing a value"
        );
        let error = Task::from_json("x", b"{\n\"a\xff\"}").unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 2, column 3: not UTF-8 text: byte 0xff"
        );
    }

    const CHALLENGES: &str = r#"{
        "aaaa0000": {"train": [{"input": [[1]], "output": [[2]]}], "test": [{"input": [[3]]}]},
        "bbbb0000": {"train": [],
            "test": [{"input": [[3], [44]]}]},
        "aaaa0000": {"train": [], "test": []},
        "cccc0000": {"train": [], "test": [{"input": [[5]]}, {"input": [[6]]}]}}"#;

    fn messages(errors: &[TaskError]) -> Vec<String> {
        errors.iter().map(TaskError::to_string).collect()
    }

    #[test]
    fn a_bad_challenge_does_not_stop_the_others() {
        assert!(Challenges::is_form_of(CHALLENGES.as_bytes()));
        let challenges = Challenges::from_json(CHALLENGES.as_bytes());
        let ids: Vec<_> = challenges
            .tasks
            .iter()
            .map(|task| task.id.as_str())
            .collect();
        assert_eq!(ids, ["aaaa0000", "cccc0000"]);
        assert_eq!(
            messages(&challenges.errors),
            [
                "line 4, column 40, bbbb0000.test[0].input[1][0]: colour 44: expected 0 to 9",
                "line 5, column 21, aaaa0000: the id stands here a second time; the first task is used",
            ]
        );
        assert_eq!(challenges.errors[0].task.as_deref(), Some("bbbb0000"));
    }

    #[test]
    fn challenges_before_broken_json_are_read() {
        let cut = &CHALLENGES[..CHALLENGES.len() - 9];
        let challenges = Challenges::from_json(cut.as_bytes());
        assert_eq!(challenges.tasks.len(), 1);
        assert_eq!(
            challenges.errors.last().unwrap().to_string(),
            "line 6, column 71: broken JSON: EOF while parsing a value"
        );
        let none = Challenges::from_json(b"[]");
        assert_eq!(
            messages(&none.errors),
            ["line 1, column 1: expected an object that holds a task for each id, found a list"]
        );
    }

    /// With lines counted from the start for each task this would take hours.
    #[test]
    fn many_challenges_are_gone_through_once() {
        const TASKS: usize = 200_000;
        for separator in [",", ",\n", ",\n  \n "] {
            let task = |at| format!("\"{at:08x}\": {{\"train\": [], \"test\": []}}{separator}");
            let tasks: Vec<_> = (0..TASKS).map(task).collect();
            let mut text = "{".to_owned() + &tasks.concat();
            let (lines, bytes) = (text.matches('\n').count(), text.len());
            let column = bytes - text.rfind('\n').map_or(0, |at| at + 1) + 1;
            text += "\"bad\": {\"train\": [7], \"test\": []}}";
            let challenges = Challenges::from_json(text.as_bytes());
            assert_eq!(challenges.tasks.len(), TASKS);
            let [error] = challenges.errors.as_slice() else {
                panic!("{:?}", challenges.errors)
            };
            let before = "\"bad\": {\"train\": [".len();
            assert_eq!((error.line, error.column), (lines + 1, column + before));
        }
    }

    #[test]
    fn a_task_is_not_taken_for_challenges() {
        for text in [
            "",
            "[]",
            "{}",
            "{\"train\": {}}",
            "{\"a\": {}, \"test\": 1}",
            "{\"a\": []}",
        ] {
            assert!(!Challenges::is_form_of(text.as_bytes()), "{text}");
        }
        assert!(Challenges::is_form_of(b"{\"a\": {}, broken"));
    }

    #[test]
    fn solutions_are_given_to_their_tasks() {
        let Challenges { mut tasks, errors } = Challenges::from_json(CHALLENGES.as_bytes());
        let rejected = errors.into_iter().filter_map(|error| error.task).collect();
        let solutions = Solutions::from_json(
            br#"{"aaaa0000": [[[7, 7]]],
                "bbbb0000": [[[1]]],
                "cccc0000": [[[1]]],
                "dddd0000": [[[1]]],
                "aaaa0000": [[[8]]],
                "eeee0000": [[[1], [1, 2]]]}"#,
        );
        assert_eq!(
            messages(&solutions.errors),
            [
                "line 5, column 29, aaaa0000: the id stands here a second time; the first solution is used",
                "line 6, column 41, eeee0000[0][1]: row of 2 cells where row 0 has 1: \
                 the rows of a grid are equally long",
            ]
        );
        let errors = solutions.apply(&mut tasks, &rejected);
        assert_eq!(
            messages(&errors),
            [
                "line 3, column 29, cccc0000: expected 2 outputs, one for each test pair of \
                 the task, found 1",
                "line 4, column 29, dddd0000: a solution for a task that is not among the challenges",
            ]
        );
        assert_eq!(
            tasks[0].test[0].output.as_ref().unwrap().to_string(),
            "((7, 7),)"
        );
        assert_eq!(tasks[1].test[0].output, None);
    }

    /// Text that is JSON nearly, so that it gets past the first character.
    fn scraps() -> impl Strategy<Value = String> {
        let scrap = prop::sample::select(vec![
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            "\"train\"",
            "\"test\"",
            "\"input\"",
            "\"output\"",
            "1",
            "10",
            "-1",
            "1e999",
            "null",
            "true",
            "\"\\ud800\"",
            "\n",
            "[[1]]",
            "\u{e9}",
            "{\"train\": [{\"input\": [[",
            "]]}], \"test\": []}",
        ]);
        prop::collection::vec(scrap, 0..12).prop_map(|scraps| scraps.concat())
    }

    fn read_in_every_way(text: &[u8]) {
        let _ = Task::from_json("id", text);
        Challenges::is_form_of(text);
        let Challenges { mut tasks, .. } = Challenges::from_json(text);
        Solutions::from_json(text).apply(&mut tasks, &HashSet::new());
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            read_in_every_way(&bytes);
        }

        #[test]
        fn scraps_of_json_are_read_or_refused(text in scraps()) {
            read_in_every_way(text.as_bytes());
        }

        #[test]
        fn a_grid_is_read_as_it_was_written(
            (height, width, cells) in (1..=MAX_SIDE, 1..=MAX_SIDE).prop_flat_map(|(height, width)| {
                let cells = prop::collection::vec(0i8..10, height * width);
                (Just(height), Just(width), cells)
            })
        ) {
            let grid = Grid::from_cells(height, width, cells);
            let rows: Vec<_> = grid.rows().collect();
            let text = serde_json::json!({ "train": [{ "input": rows }], "test": [] }).to_string();
            let task = Task::from_json("id", text.as_bytes()).unwrap();
            prop_assert_eq!(&*task.train[0].input, &grid);
        }
    }
}
