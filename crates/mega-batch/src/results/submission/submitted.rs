//! [`Submitted`]: a submission as read from a file, by whatever program it was written.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use arc_dsl::Grid;
use arc_tasks::{MAX_SIDE, SubmissionFile, SubmittedGrid, SubmittedTask, Task};

use super::{KnownOutputs, SubmissionScore, TaskScore, csv};
use crate::inputs::{InputError, is_arc_id, json_files, other_text, stem, unpacked};

/// A submission with all its errors.
///
/// It is a file of attempts by task, a folder of such files or of one file per task, or the CSV file of the 2020
/// competition.
#[derive(Debug, Clone, Default)]
pub struct Submitted {
    /// The attempts for each task, with their file.
    pub tasks: Vec<(PathBuf, SubmittedTask)>,
    /// Invalid attempts, and files that are not submissions.
    pub errors: Vec<InputError>,
    /// Attempts that are missing, `null` or `[]`: they count as wrong.
    pub missing: Vec<InputError>,
    /// Attempts beyond the second of a test input, once for each file: they do not count.
    pub extra: Vec<InputError>,
    /// The first place of each file whose layout competitions do not take.
    pub layouts: Vec<InputError>,
    /// What is odd but not an error: files in a folder without attempts, test inputs that are known by their place.
    pub notes: Vec<InputError>,
}

impl Submitted {
    /// Reads a file or a folder.
    pub fn read(path: &Path) -> Self {
        let mut read = Self::default();
        if path.is_dir() {
            let walk = json_files(path);
            read.errors.extend(walk.errors);
            read.notes.extend(walk.notes);
            let mut foreign = Vec::new();
            for file in &walk.files {
                read.file(file, &mut foreign);
            }
            if read.tasks.is_empty() {
                read.errors.append(&mut foreign);
            }
            let message = "a folder: expected one file, as competitions have it";
            read.layouts.insert(0, InputError::whole(path, message));
            read.notes
                .extend(foreign.into_iter().map(|error| InputError {
                    message: format!("passed over: {}", error.message),
                    ..error
                }));
        } else {
            let mut foreign = Vec::new();
            read.file(path, &mut foreign);
            read.errors.append(&mut foreign);
        }
        let mut seen: HashSet<&str> = HashSet::new();
        for (file, task) in &read.tasks {
            if !seen.insert(&task.task) {
                let message = "the task stands in another file too: expected each once";
                let error = InputError::at(file, task.line, task.column, message);
                read.errors.push(error.about(&task.task));
            }
        }
        read
    }

    /// Reads a file; if it holds something else, adds the errors that say so to `foreign`.
    fn file(&mut self, file: &Path, foreign: &mut Vec<InputError>) {
        let bytes = match unpacked(file) {
            Ok(bytes) => bytes,
            Err(error) => return self.errors.push(error),
        };
        let found = if csv::is_csv(&bytes) {
            csv::read(&bytes)
        } else if let Some(found) = other_text(file) {
            let begin = String::from_utf8_lossy(&bytes);
            let begin: String = begin
                .lines()
                .next()
                .unwrap_or_default()
                .chars()
                .take(60)
                .collect();
            let message = format!(
                "expected a submission, in JSON or with the columns `output_id` and `output`, found {found} that \
                 begins with `{begin}`"
            );
            return self.errors.push(InputError::at(file, 1, 1, message));
        } else {
            SubmissionFile::read(&stem(file), &bytes)
        };
        let placed = |error| InputError::in_tasks(file, error);
        let errors = found.errors.into_iter().map(placed);
        // A file with a task's id is meant.
        if found.is_foreign && !is_arc_id(&stem(file)) {
            return foreign.extend(errors);
        }
        self.errors.extend(errors);
        self.extra.extend(found.extra.map(placed));
        self.layouts.extend(found.layout.map(placed));
        self.notes.extend(found.notes.into_iter().map(placed));
        self.missing.extend(found.missing.into_iter().map(placed));
        let tasks = found.tasks.into_iter();
        self.tasks.extend(tasks.map(|task| (file.to_owned(), task)));
    }

    /// Its score, against the known outputs of tasks.
    pub fn score(&self, solutions: &[KnownOutputs<'_>]) -> SubmissionScore {
        let by_id: HashMap<&str, &[Vec<SubmittedGrid>]> = self
            .tasks
            .iter()
            .rev()
            .map(|(_, task)| (task.task.as_str(), task.tests.as_slice()))
            .collect();
        let tasks = solutions.iter().map(|solved| {
            let attempts = by_id.get(solved.task).copied();
            let is_right = |(at, output): (usize, &&Grid)| {
                attempts
                    .and_then(|attempts| attempts.get(at))
                    .is_some_and(|attempts| attempts.iter().any(|it| it.grid == **output))
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
        let unknown = self.tasks.iter().map(|(_, task)| task.task.as_str());
        SubmissionScore {
            tasks: tasks.collect(),
            unknown: unknown
                .filter(|id| !known.contains(id))
                .map(str::to_owned)
                .collect(),
        }
    }

    /// Attempts whose `pair_index` is not that of a test input; `count` is how many of these a task has, if it is
    /// known.
    pub fn beyond(&self, count: impl Fn(&str) -> Option<usize>) -> Vec<InputError> {
        let mut errors = Vec::new();
        for (file, task) in self.tasks.iter().filter(|(_, task)| task.is_indexed) {
            let Some(count) = count(&task.task) else {
                continue;
            };
            for (at, attempts) in task.tests.iter().enumerate().skip(count) {
                let more = if count == 1 { "" } else { "s" };
                let message = format!(
                    "the `pair_index` {at} is of no test input: the task has {count} test input{more}, counted from 0"
                );
                errors.extend(attempts.iter().map(|attempt| {
                    let error = InputError::at(file, attempt.line, attempt.column, &*message);
                    error.about(&attempt.path)
                }));
            }
        }
        errors
    }

    /// Why a competition on these tasks would reject it: the first of the [`layouts`](Self::layouts), all
    /// [`errors`](Self::errors), [`missing`](Self::missing) and [`extra`](Self::extra), tasks that are missing or unknown, wrong numbers of test inputs, and grids that are too large or have colours
    /// other than 0 to 9.
    pub fn faults(&self, file: &Path, tasks: &[Task]) -> Vec<InputError> {
        let faults = self.errors.iter().chain(&self.missing).chain(&self.extra);
        let faults = self.layouts.first().into_iter().chain(faults);
        let mut faults: Vec<_> = faults.cloned().collect();
        let expected: HashMap<&str, usize> = tasks
            .iter()
            .map(|task| (task.id.as_str(), task.test_places().len()))
            .collect();
        faults.extend(self.beyond(|task| expected.get(task).copied()));
        for (file, task) in &self.tasks {
            let fault = |message: String| {
                let fault = InputError::at(file, task.line, task.column, message);
                fault.about(&task.task)
            };
            match expected.get(task.task.as_str()) {
                None => faults.push(fault("no task of this id among the tasks".to_owned())),
                Some(&tests) if task.is_indexed && tests < task.tests.len() => {}
                Some(&tests) if tests != task.tests.len() => faults.push(fault(format!(
                    "attempts for {} test inputs: expected {tests}",
                    task.tests.len()
                ))),
                Some(_) => {}
            }
            for attempt in task.tests.iter().flatten() {
                if let Some(message) = fault_of(&attempt.grid) {
                    let fault = InputError::at(file, attempt.line, attempt.column, message);
                    faults.push(fault.about(&attempt.path));
                }
            }
        }
        let handed_in: HashSet<_> = self.tasks.iter().map(|(_, it)| it.task.as_str()).collect();
        let missing = tasks.iter().map(|task| task.id.as_str());
        let has_tests = |id: &str| expected.get(id).is_some_and(|tests| *tests > 0);
        let missing = missing.filter(|id| has_tests(id) && !handed_in.contains(id));
        let message = "no attempts for this task";
        faults.extend(missing.map(|id| InputError::whole(file, message).about(id)));
        faults
    }
}

/// Why a competition rejects a grid.
fn fault_of(grid: &Grid) -> Option<String> {
    let (height, width) = (grid.height(), grid.width());
    if height > MAX_SIDE {
        return Some(format!("grid of {height} rows: expected 1 to {MAX_SIDE}"));
    }
    if width > MAX_SIDE {
        return Some(format!("grid of {width} columns: expected 1 to {MAX_SIDE}"));
    }
    let colour = grid
        .cells()
        .iter()
        .find(|colour| !(0..=9).contains(*colour))?;
    Some(format!("colour {colour}: expected 0 to 9"))
}
