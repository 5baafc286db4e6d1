//! [`Submission`]: two attempts for each test input, in the format of Kaggle's competitions, and their score.

use std::io::{self, Write};
use std::path::Path;

use arc_dsl::Grid;
use arc_tasks::Task;
use serde::Serialize;

use crate::inputs::InputError;
use crate::results::attempts::Attempts;

mod csv;
mod submitted;

pub use submitted::Submitted;

/// The attempts of all tasks in order: for each task its id, and two grids per test input.
///
/// ```json
/// {"007bbfb7": [{"attempt_1": [[7, 0], [0, 7]], "attempt_2": [[0, 0], [0, 0]]}]}
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Submission {
    /// The tasks.
    pub tasks: Vec<(String, Vec<[Grid; 2]>)>,
}

#[derive(Serialize)]
struct Written<'a> {
    attempt_1: &'a Grid,
    attempt_2: &'a Grid,
}

impl Submission {
    /// The submission for all tasks of a batch.
    pub fn of(attempts: &Attempts<'_>) -> Self {
        let tasks = attempts.batch().tasks().iter().enumerate();
        let tasks = tasks.map(|(at, task)| (task.id.clone(), attempts.of_task(at)));
        Self {
            tasks: tasks.collect(),
        }
    }

    /// Writes it as JSON.
    pub fn write(&self, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
        for (at, (id, attempts)) in self.tasks.iter().enumerate() {
            out.write_all(if at == 0 { b"{" } else { b",\n" })?;
            serde_json::to_writer(&mut *out, id)?;
            out.write_all(b":")?;
            let attempts = attempts.iter().map(|[first, second]| Written {
                attempt_1: first,
                attempt_2: second,
            });
            serde_json::to_writer(&mut *out, &attempts.collect::<Vec<_>>())?;
        }
        out.write_all(if self.tasks.is_empty() {
            b"{}\n"
        } else {
            b"}\n"
        })
    }

    /// Reads a complete file: both attempts for each test input of each task. Returns the first error.
    pub fn read(file: &Path) -> Result<Self, InputError> {
        let submitted = Submitted::read(file);
        let wrong = submitted.errors.into_iter();
        let mut wrong = wrong.chain(submitted.missing).chain(submitted.extra);
        if let Some(error) = wrong.next() {
            return Err(error);
        }
        let tasks = submitted.tasks.into_iter().map(|(_, task)| {
            let tests = task.tests.into_iter().map(|attempts| {
                let mut grids = attempts.into_iter().map(|attempt| attempt.grid);
                let none = || Grid::filled(1, 1, 0);
                [(); 2].map(|()| grids.next().unwrap_or_else(none))
            });
            (task.task, tests.collect())
        });
        Ok(Self {
            tasks: tasks.collect(),
        })
    }
}

/// The known test outputs of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownOutputs<'a> {
    /// The id of the task.
    pub task: &'a str,
    /// One for each test input.
    pub outputs: Vec<&'a Grid>,
}

impl<'a> KnownOutputs<'a> {
    /// The known outputs of tasks; skips tasks whose test outputs are not all known.
    pub fn of_tasks(tasks: &'a [Task]) -> Vec<Self> {
        let solved = tasks.iter().filter_map(|task| {
            let outputs = task
                .test_places()
                .map(|place| task.test.get(place?)?.output.as_ref());
            Some(Self {
                task: &task.id,
                outputs: outputs.collect::<Option<_>>()?,
            })
        });
        solved.collect()
    }
}

/// The score of a submission on one task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TaskScore {
    /// The id of the task.
    pub task: String,
    /// For how many test inputs one of the two attempts is right.
    pub right: usize,
    /// How many test inputs there are.
    pub tests: usize,
    /// For how many test inputs there are attempts; `None` if the task is not in the submission.
    pub attempted: Option<usize>,
}

/// The score of a submission.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct SubmissionScore {
    /// By task, in the order of the solutions.
    pub tasks: Vec<TaskScore>,
    /// Tasks of the submission without a solution.
    pub unknown: Vec<String>,
}

impl SubmissionScore {
    /// The score of Kaggle's competitions: the part of the test inputs with a right attempt.
    pub fn ratio(&self) -> f64 {
        let (right, tests) = self.outputs();
        right as f64 / tests.max(1) as f64
    }

    /// The number of test inputs with a right attempt, and of all.
    pub fn outputs(&self) -> (usize, usize) {
        let tasks = self.tasks.iter();
        tasks.fold((0, 0), |(right, tests), task| {
            (right + task.right, tests + task.tests)
        })
    }

    /// How many tasks are right on all their test inputs.
    pub fn tasks_right(&self) -> usize {
        let tasks = self.tasks.iter();
        tasks
            .filter(|task| task.tests > 0 && task.right == task.tests)
            .count()
    }

    /// The mean over tasks of the part of their test inputs that is right; 0 without tasks.
    pub fn mean_by_task(&self) -> f64 {
        let tasks = self.tasks.iter().filter(|task| task.tests > 0);
        let (count, sum) = tasks.fold((0, 0.0), |(count, sum), task| {
            (count + 1, sum + task.right as f64 / task.tests as f64)
        });
        if count == 0 {
            0.0
        } else {
            sum / f64::from(count)
        }
    }
}

#[cfg(test)]
mod tests;
