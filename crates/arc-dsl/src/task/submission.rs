//! [`SubmissionFile`]: the attempts for test inputs, in the format of competitions.

use std::collections::HashSet;

use super::error::TaskError;
use super::seeds::InputSeed;
use super::text::{JsonKind, Places, Text, kind_of};
use crate::grid::Grid;

/// The attempts of a file, and the errors in it.
#[derive(Debug, Clone, Default)]
pub struct SubmissionFile {
    /// The tasks, in the order of the file.
    pub tasks: Vec<SubmittedTask>,
    /// Values that are not attempts in places of attempts, or text that is not a submission.
    pub errors: Vec<TaskError>,
    /// Attempts that are missing or `null`.
    pub missing: Vec<TaskError>,
    /// Whether there is an attempt, valid or not.
    has_attempts: bool,
    /// Whether no attempts were found where attempts should be.
    is_foreign: bool,
}

/// The attempts submitted for a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubmittedTask {
    /// The id.
    pub task: String,
    /// The line of the entry, counted from 1.
    pub line: usize,
    /// The column, in bytes, counted from 1.
    pub column: usize,
    /// For each test input, the attempts that are grids.
    pub tests: Vec<Vec<SubmittedGrid>>,
}

/// An attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubmittedGrid {
    /// The grid.
    pub grid: Grid,
    /// The line of the grid, counted from 1.
    pub line: usize,
    /// The column, in bytes, counted from 1.
    pub column: usize,
    /// The path to it, such as `007bbfb7[0].attempt_1`.
    pub path: String,
}

/// The keys of the attempts for a test input.
const ATTEMPTS: [&str; 2] = ["attempt_1", "attempt_2"];

const TESTS: &str =
    "a list that holds for each test input an object with `attempt_1` and `attempt_2`";

const SUBMISSION: &str = "a submission: an object that holds for each task a list of attempts";

impl SubmissionFile {
    /// Reads the text of a file: attempts by task, or those of a single task, whose id is then `name`.
    #[must_use]
    pub fn read(name: &str, text: &[u8]) -> Self {
        let mut file = Self::default();
        let text = match Text::new(text) {
            Ok(text) => text,
            Err(error) => {
                file.errors.push(error);
                return file;
            }
        };
        if kind_of(text.json) == JsonKind::List {
            file.task(&text, name);
            return file;
        }
        let (entries, broken) = text.entries(SUBMISSION);
        let mut seen = HashSet::new();
        let mut places = Places::new(&text);
        for (id, value) in &entries {
            let part = places.of_key(id, value).of_task(id);
            if seen.insert(id) {
                file.task(&part, id);
            } else {
                let message = "the id stands here a second time: expected each once";
                file.errors.push(part.error(message));
            }
        }
        if file.is_foreign && broken.is_none() {
            file = Self::default();
            let found = if entries.iter().any(|(key, _)| key == "train") {
                "a task"
            } else {
                "objects without any `attempt_1`"
            };
            file.errors
                .push(text.error(format!("expected {SUBMISSION}, found {found}")));
        }
        file.errors.extend(broken);
        file
    }

    fn task(&mut self, text: &Text<'_>, id: &str) {
        let (elements, broken) = text.elements(TESTS);
        if let Some(error) = broken {
            return self.errors.push(error);
        }
        let mut places = Places::new(text);
        let mut tests = Vec::with_capacity(elements.len());
        for (at, element) in elements.iter().enumerate() {
            tests.push(self.test(&places.of_index(at, element)));
        }
        self.tasks.push(SubmittedTask {
            task: id.to_owned(),
            line: text.line,
            column: text.column,
            tests,
        });
    }

    fn test(&mut self, text: &Text<'_>) -> Vec<SubmittedGrid> {
        let (entries, broken) = text.entries("an object with `attempt_1` and `attempt_2`");
        if let Some(error) = broken {
            self.errors.push(error);
            return Vec::new();
        }
        let is_attempt = |(key, _): &(String, _)| key.starts_with("attempt_");
        self.has_attempts |= entries.iter().any(is_attempt);
        self.is_foreign = !self.has_attempts && (self.is_foreign || !entries.is_empty());
        let mut grids = Vec::new();
        let mut places = Places::new(text);
        for (key, value) in &entries {
            let part = places.of_key(key, value);
            if ATTEMPTS.contains(&key.as_str()) {
                grids.extend(self.attempt(&part));
            } else if key.starts_with("attempt_") {
                let message = "an attempt too many: expected `attempt_1` and `attempt_2`";
                self.errors.push(part.error(message));
            }
        }
        for key in ATTEMPTS {
            if !entries.iter().any(|(found, _)| found == key) {
                let message = format!("no `{key}`: it counts as wrong");
                self.missing.push(text.error(message));
            }
        }
        grids
    }

    /// The grid of an attempt, which may also be the `answer` of an object.
    fn attempt(&mut self, text: &Text<'_>) -> Option<SubmittedGrid> {
        if kind_of(text.json) == JsonKind::Object {
            let (entries, _) = text.entries("a grid");
            let answer = entries.iter().find(|(key, _)| key == "answer");
            if let Some((key, value)) = answer {
                return self.grid(&Places::new(text).of_key(key, value));
            }
        }
        self.grid(text)
    }

    fn grid(&mut self, text: &Text<'_>) -> Option<SubmittedGrid> {
        if kind_of(text.json) == JsonKind::Null {
            self.missing
                .push(text.error("no grid but null: it counts as wrong"));
            return None;
        }
        match text.read(InputSeed) {
            Ok(grid) => {
                let place = text.error("");
                Some(SubmittedGrid {
                    grid,
                    line: place.line,
                    column: place.column,
                    path: place.path,
                })
            }
            Err(error) => {
                self.errors.push(error);
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_submission_is_told_once() {
        for (text, found) in [
            (
                r#"{"train": [{"input": [[1]], "output": [[1]]}], "test": [{"input": [[1]]}]}"#,
                "a task",
            ),
            (
                r#"{"a": [{"x": 1}, {"y": 2}], "b": [{"x": 1}]}"#,
                "objects without any `attempt_1`",
            ),
        ] {
            let file = SubmissionFile::read("x", text.as_bytes());
            let [error] = &file.errors[..] else {
                panic!("{:?}", file.errors)
            };
            assert_eq!(
                error.message,
                format!("expected {SUBMISSION}, found {found}")
            );
            assert!(file.missing.is_empty() && file.tasks.is_empty());
        }
        // A submission with missing parts is a different case.
        for text in [
            r#"{"a": [{}]}"#,
            r#"{"a": [{"attempt_1": [[1]]}], "b": [{"x": 1}]}"#,
            "{}",
        ] {
            assert!(SubmissionFile::read("x", text.as_bytes()).errors.is_empty());
        }
    }

    #[test]
    fn what_is_no_attempt_is_told_and_the_others_are_read() {
        let text = br#"{"a": [{"attempt_1": [[1]], "attempt_2": null}, {"attempt_2": {"answer": [[2]], "x": 1}}],
"b": [{"attempt_1": "x", "attempt_2": [[1.5]], "attempt_3": [[1]]}, 7], "c": {}, "a": []}"#;
        let file = SubmissionFile::read("x", text);
        let grids: Vec<_> = file
            .tasks
            .iter()
            .map(|task| {
                let tests = task.tests.iter().flatten();
                (
                    task.task.as_str(),
                    task.tests.len(),
                    tests.map(|it| it.grid.to_string()).collect::<Vec<_>>(),
                )
            })
            .collect();
        assert_eq!(
            grids,
            [
                ("a", 2, vec!["((1,),)".to_owned(), "((2,),)".to_owned()]),
                ("b", 2, vec![])
            ]
        );
        let told =
            |errors: &[TaskError]| errors.iter().map(TaskError::to_string).collect::<Vec<_>>();
        assert_eq!(
            told(&file.missing),
            [
                "line 1, column 42, a[0].attempt_2: no grid but null: it counts as wrong",
                "line 1, column 49, a[1]: no `attempt_1`: it counts as wrong",
            ]
        );
        assert_eq!(
            told(&file.errors),
            [
                "line 2, column 21, b[0].attempt_1: expected a grid: a list of rows, found string \"x\"",
                "line 2, column 41, b[0].attempt_2[0][0]: expected a colour: an integer from -128 to 127, \
                 found number `1.5`",
                "line 2, column 61, b[0].attempt_3: an attempt too many: expected `attempt_1` and `attempt_2`",
                "line 2, column 69, b[1]: expected an object with `attempt_1` and `attempt_2`, found integer `7`",
                "line 2, column 78, c: expected a list that holds for each test input an object with \
                 `attempt_1` and `attempt_2`, found an object",
                "line 2, column 87, a: the id stands here a second time: expected each once",
            ]
        );
        let one = SubmissionFile::read("x", br#"[{"attempt_1": [[1]], "attempt_2": [[1]]}]"#);
        assert_eq!((one.tasks[0].task.as_str(), one.errors.len()), ("x", 0));
    }
}
