//! [`Submission`]: the two attempts for each test input, as Kaggle's competitions take them, and what
//! they are score.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::io::{self, Write};
use std::path::Path;

use arc_dsl::{Grid, Solutions, Task};
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::attempts::Attempts;
use crate::inputs::{self, InputError};
use crate::json::Rows;

/// The attempts of all tasks, in their order; each with its id and two grids a test input.
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
    attempt_1: Rows<'a>,
    attempt_2: Rows<'a>,
}

impl Submission {
    /// That of all tasks of a batch.
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
                attempt_1: Rows(first),
                attempt_2: Rows(second),
            });
            serde_json::to_writer(&mut *out, &attempts.collect::<Vec<_>>())?;
        }
        out.write_all(if self.tasks.is_empty() {
            b"{}\n"
        } else {
            b"}\n"
        })
    }

    /// Reads a file. An error says where it is no submission.
    pub fn read(file: &Path) -> Result<Self, InputError> {
        let bytes = inputs::read_file(file)?;
        let mut json = serde_json::Deserializer::from_slice(&bytes);
        let read: Result<Read, _> = serde_path_to_error::deserialize(&mut json);
        let error = |path: String, error: &serde_json::Error| {
            // The place stands in front.
            let text = error.to_string();
            let place = format!(" at line {} column {}", error.line(), error.column());
            InputError {
                file: file.to_owned(),
                line: Some(error.line()),
                column: Some(error.column()),
                path: (path != ".").then_some(path),
                message: text.strip_suffix(&place).unwrap_or(&text).to_owned(),
            }
        };
        let Read(tasks) = read.map_err(|it| error(it.path().to_string(), it.inner()))?;
        json.end().map_err(|it| error(".".to_owned(), &it))?;
        let mut seen = HashMap::new();
        for (at, (id, _)) in tasks.iter().enumerate() {
            if let Some(before) = seen.insert(id, at) {
                let message = format!(
                    "task {id} stands there twice, as entry {} and {}: expected each once",
                    before + 1,
                    at + 1
                );
                return Err(InputError::whole(file, message));
            }
        }
        Ok(Self { tasks })
    }

    /// Its score, by the outputs that tasks are known to have.
    pub fn score(&self, solutions: &[KnownOutputs<'_>]) -> SubmissionScore {
        let by_id: HashMap<&str, &[[Grid; 2]]> = self
            .tasks
            .iter()
            .map(|(id, attempts)| (id.as_str(), attempts.as_slice()))
            .collect();
        let tasks = solutions.iter().map(|solved| {
            let attempts = by_id.get(solved.task).copied();
            let is_right = |(at, output): (usize, &&Grid)| {
                attempts
                    .and_then(|attempts| attempts.get(at))
                    .is_some_and(|pair| pair.contains(output))
            };
            let outputs = solved.outputs.iter().enumerate();
            TaskScore {
                task: solved.task.to_owned(),
                right: outputs.filter(|it| is_right(*it)).count(),
                tests: solved.outputs.len(),
                attempted: attempts.map(<[_]>::len),
            }
        });
        let known: HashSet<_> = solutions.iter().map(|it| it.task).collect();
        let unknown = self.tasks.iter().map(|(id, _)| id.as_str());
        SubmissionScore {
            tasks: tasks.collect(),
            unknown: unknown
                .filter(|id| !known.contains(id))
                .map(str::to_owned)
                .collect(),
        }
    }
}

/// The test outputs that a task is known to have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownOutputs<'a> {
    /// The id of the task.
    pub task: &'a str,
    /// One for each test input.
    pub outputs: Vec<&'a Grid>,
}

impl<'a> KnownOutputs<'a> {
    /// Those of a file of solutions.
    pub fn of_solutions(solutions: &'a Solutions) -> Vec<Self> {
        let solutions = solutions.solutions.iter();
        let solved = solutions.map(|solution| Self {
            task: &solution.task,
            outputs: solution.outputs.iter().collect(),
        });
        solved.collect()
    }

    /// Those of tasks whose test outputs are known.
    pub fn of_tasks(tasks: &'a [Task]) -> Vec<Self> {
        let solved = tasks.iter().filter_map(|task| {
            let outputs = task.test.iter().map(|pair| pair.output.as_ref());
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
    /// For how many test inputs one of both attempts is right.
    pub right: usize,
    /// How many test inputs there are.
    pub tests: usize,
    /// For how many there are attempts; nothing where the task is not in the submission.
    pub attempted: Option<usize>,
}

/// What a submission is score.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct SubmissionScore {
    /// By task, those of the solutions.
    pub tasks: Vec<TaskScore>,
    /// Tasks of the submission that have no solution.
    pub unknown: Vec<String>,
}

impl SubmissionScore {
    /// The score of Kaggle's competitions: the part of the test inputs that has a right attempt.
    pub fn ratio(&self) -> f64 {
        let (right, tests) = self.outputs();
        right as f64 / tests.max(1) as f64
    }

    /// Test inputs with a right attempt, of all of them.
    pub fn outputs(&self) -> (usize, usize) {
        let tasks = self.tasks.iter();
        tasks.fold((0, 0), |(right, tests), task| {
            (right + task.right, tests + task.tests)
        })
    }

    /// How many tasks are right on all of their test inputs.
    pub fn tasks_right(&self) -> usize {
        let tasks = self.tasks.iter();
        tasks
            .filter(|task| task.tests > 0 && task.right == task.tests)
            .count()
    }

    /// The mean over the tasks of the part of their test inputs that is right; 0 without tasks.
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

/// What is read: tasks in the order of the file.
struct Read(Vec<(String, Vec<[Grid; 2]>)>);

#[derive(Deserialize)]
struct Attempted {
    attempt_1: GridRead,
    attempt_2: GridRead,
}

/// A grid from a list of its rows.
struct GridRead(Grid);

impl<'de> Deserialize<'de> for GridRead {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let rows = Vec::<Vec<i32>>::deserialize(deserializer)?;
        Grid::from_rows(&rows).map(Self).map_err(D::Error::custom)
    }
}

impl<'de> Deserialize<'de> for Read {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Tasks;
        impl<'de> Visitor<'de> for Tasks {
            type Value = Read;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object that holds for each task a list of attempts")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Read, A::Error> {
                let mut tasks = Vec::new();
                while let Some((id, attempts)) = map.next_entry::<String, Vec<Attempted>>()? {
                    let pairs = attempts.into_iter();
                    let pairs = pairs.map(|it| [it.attempt_1.0, it.attempt_2.0]);
                    tasks.push((id, pairs.collect()));
                }
                Ok(Read(tasks))
            }
        }
        deserializer.deserialize_map(Tasks)
    }
}

#[cfg(test)]
mod tests;
