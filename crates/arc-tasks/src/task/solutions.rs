//! [`Solutions`]: the test outputs of tasks, as in Kaggle's `*_solutions.json`.

use std::collections::{HashMap, HashSet};

use arc_dsl::Grid;

use super::Task;
use super::error::TaskError;
use super::seeds::{GridsSeed, InputSeed};
use super::structure::is_grid;
use super::text::{Places, Text};

/// The outputs of one `*_solutions.json`.
#[derive(Debug, Clone, Default)]
pub struct Solutions {
    /// The solutions that could be read, in the order of the file.
    pub solutions: Vec<Solution>,
    /// The errors in the others.
    pub errors: Vec<TaskError>,
}

/// The outputs of the test pairs of one task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Solution {
    /// The id of the task.
    pub task: String,
    /// The line of the entry, counted from 1.
    pub line: usize,
    /// The column of the entry, in bytes, counted from 1.
    pub column: usize,
    /// One output for each test pair.
    pub outputs: Vec<Grid>,
}

impl Solution {
    /// An error about it, or about a part of it.
    fn error(&self, part: &str, message: String) -> TaskError {
        TaskError {
            task: Some(self.task.clone()),
            line: self.line,
            column: self.column,
            path: format!("{}{part}", self.task),
            message,
        }
    }
}

impl Solutions {
    /// Reads the solutions.
    #[must_use]
    pub fn from_json(text: &[u8]) -> Self {
        match Text::new(text) {
            Ok(text) => Self::of(&text),
            Err(error) => Self {
                solutions: Vec::new(),
                errors: vec![error],
            },
        }
    }

    pub(super) fn of(text: &Text<'_>) -> Self {
        let mut read = Self::default();
        let (entries, broken) = text.entries("an object that holds a list of grids for each id");
        let mut seen = HashSet::new();
        let mut places = Places::new(text);
        for (id, value) in &entries {
            let part = places.of_key(id, value).of_task(id);
            if !seen.insert(id) {
                let message = "the id stands here a second time; the first solution is used";
                read.errors.push(part.error(message));
                continue;
            }
            // Of one test pair it may be the grid itself.
            let outputs = if is_grid(value.get()) {
                part.read(InputSeed).map(|grid| vec![grid])
            } else {
                part.read(GridsSeed)
            };
            match outputs {
                Ok(outputs) => read.solutions.push(Solution {
                    task: id.to_owned(),
                    line: part.line,
                    column: part.column,
                    outputs,
                }),
                Err(error) => read.errors.push(error),
            }
        }
        read.errors.extend(broken);
        read
    }

    /// Sets the test outputs of each task; returns errors for solutions that do not fit their task.
    ///
    /// Solutions of other tasks are ignored, since the given tasks may be a part of those in the file. But if no
    /// solution is for any of the given tasks, that is an error, since the file is for other tasks.
    ///
    /// Tasks without a solution are not changed. `rejected` are the ids of tasks that could not be read: their
    /// solutions cause no further errors.
    pub fn apply<'t>(
        self,
        tasks: impl IntoIterator<Item = &'t mut Task>,
        rejected: &HashSet<String>,
    ) -> Vec<TaskError> {
        let mut errors = Vec::new();
        let (mut is_of_these, mut foreign) = (false, Vec::new());
        let mut tasks: HashMap<String, &mut Task> = tasks
            .into_iter()
            .map(|task| (task.id.clone(), task))
            .collect();
        for solution in self.solutions {
            let Some(task) = tasks.get_mut(&solution.task) else {
                if rejected.contains(&solution.task) {
                    is_of_these = true;
                } else {
                    foreign.push(solution);
                }
                continue;
            };
            is_of_these = true;
            let places: Vec<_> = task.test_places().collect();
            let (count, found) = (places.len(), solution.outputs.len());
            if count != found {
                let outputs = if count == 1 { "output" } else { "outputs" };
                errors.push(solution.error(
                    "",
                    format!(
                        "expected {count} {outputs}, one for each test pair of the task, found {found}"
                    ),
                ));
                continue;
            }
            for (at, (output, place)) in solution.outputs.iter().zip(places).enumerate() {
                let pair = place.and_then(|place| task.test.get_mut(place));
                let known = pair.map(|pair| pair.output.get_or_insert_with(|| output.clone()));
                if known.is_some_and(|known| known != output) {
                    let message = "differs from the output that the task has, which is used";
                    errors.push(solution.error(&format!("[{at}]"), message.to_owned()));
                }
            }
        }
        if let [first, others @ ..] = &foreign[..]
            && !is_of_these
        {
            let more = match others.len() {
                0 => String::new(),
                1 => ", like the other one".to_owned(),
                others => format!(", like the {others} others"),
            };
            let message = format!("a solution for a task that is not among the tasks{more}");
            errors.push(first.error("", message));
        }
        errors
    }
}
