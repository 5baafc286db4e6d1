//! [`Solutions`]: the test outputs of tasks, as in Kaggle's `*_solutions.json`.

use std::collections::{HashMap, HashSet};

use super::Task;
use super::error::TaskError;
use super::seeds::GridsSeed;
use super::text::{Places, Text};
use crate::grid::Grid;

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
            match part.read(GridsSeed) {
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
        for Solution {
            task: id,
            line,
            column,
            outputs,
        } in self.solutions
        {
            let task = tasks.get_mut(&id);
            is_of_these |= task.is_some() || rejected.contains(&id);
            let message = match task {
                Some(task) if task.test_places().len() == outputs.len() => {
                    let places: Vec<_> = task.test_places().collect();
                    for ((at, output), place) in (0..).zip(outputs).zip(places) {
                        let Some(pair) = place.and_then(|place| task.test.get_mut(place)) else {
                            continue;
                        };
                        match &pair.output {
                            None => pair.output = Some(output),
                            Some(known) if *known == output => {}
                            Some(_) => errors.push(TaskError {
                                task: Some(id.clone()),
                                line,
                                column,
                                path: format!("{id}[{at}]"),
                                message: "differs from the output that the task has, which is used"
                                    .to_owned(),
                            }),
                        }
                    }
                    continue;
                }
                Some(task) => format!(
                    "expected {} output{}, one for each test pair of the task, found {}",
                    task.test_places().len(),
                    if task.test_places().len() == 1 {
                        ""
                    } else {
                        "s"
                    },
                    outputs.len(),
                ),
                None if rejected.contains(&id) => continue,
                None => {
                    foreign.push((id, line, column));
                    continue;
                }
            };
            errors.push(TaskError {
                task: Some(id.clone()),
                line,
                column,
                path: id,
                message,
            });
        }
        let others = foreign.len().saturating_sub(1);
        if let Some((id, line, column)) = foreign.into_iter().next().filter(|_| !is_of_these) {
            let more = match others {
                0 => String::new(),
                1 => ", like the other one".to_owned(),
                _ => format!(", like the {others} others"),
            };
            errors.push(TaskError {
                task: Some(id.clone()),
                line,
                column,
                path: id,
                message: format!("a solution for a task that is not among the tasks{more}"),
            });
        }
        errors
    }
}
