//! [`Over`]: the submission that a search begins with, from any source.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use arc_dsl::Grid;
use arc_tasks::{SubmittedGrid, SubmittedTask, Task};
use mega_batch::inputs::InputError;
use mega_batch::{Submission, Submitted};

/// A submission, with its faults by the rules of a competition.
pub(super) struct Over {
    tasks: Vec<OverTask>,
    /// Attempts that it lacks.
    missing: Vec<InputError>,
    /// What else is odd about it.
    notes: Vec<InputError>,
}

struct OverTask {
    submitted: SubmittedTask,
    faults: Vec<InputError>,
}

impl Over {
    /// Reads it. `tasks` are all tasks of the competition, `None` if they are not known.
    ///
    /// # Errors
    /// Malformed attempts, and files that are not submissions.
    pub(super) fn read(path: &Path, tasks: Option<&[Task]>) -> Result<Self, Vec<InputError>> {
        let submitted = Submitted::read(path);
        if !submitted.errors.is_empty() {
            return Err(submitted.errors);
        }
        let of_task = |found: (PathBuf, SubmittedTask)| {
            let submitted = found.1.clone();
            let alone = Submitted {
                tasks: vec![found],
                ..Submitted::default()
            };
            let mut known = tasks.unwrap_or_default().iter();
            let known = known.find(|known| known.id == submitted.task);
            let mut faults = alone.faults(path, known.map_or(&[], std::slice::from_ref));
            if tasks.is_none() {
                faults.retain(|fault| !is_about_task(fault, &submitted));
            }
            OverTask { submitted, faults }
        };
        let mut notes = submitted.notes;
        notes.extend(submitted.extra);
        Ok(Self {
            tasks: submitted.tasks.into_iter().map(of_task).collect(),
            missing: submitted.missing,
            notes,
        })
    }

    /// The submission to begin with when the tasks of these ids are searched, and notes on what happens to faulty
    /// attempts.
    pub(super) fn under(self, searched: &HashSet<&str>) -> (Submission, Vec<InputError>) {
        let missing = self.missing.into_iter().map(|it| InputError {
            // A missing attempt is not an error here.
            message: format!(
                "{}: it is taken for none, and an answer that is found, the input or a single cell stands in its \
                 place",
                it.message.replace(": it counts as wrong", "")
            ),
            ..it
        });
        let mut notes = self.notes;
        notes.extend(missing);
        let mut submission = Submission::default();
        for task in self.tasks {
            let is_searched = searched.contains(&*task.submitted.task);
            let becomes = |fault: &InputError| match is_searched {
                false => "copied into the submission as it is, for the task is not searched",
                true if is_about_task(fault, &task.submitted) => {
                    "as many are handed in as there are test inputs"
                }
                true => {
                    "it is left out, and an answer that is found, the input or a single cell stands in its place"
                }
            };
            notes.extend(task.faults.into_iter().map(|fault| InputError {
                message: format!("{}: {}", fault.message, becomes(&fault)),
                ..fault
            }));
            let tests = task.submitted.tests.into_iter();
            let tests = tests.map(|grids| two_of(grids, is_searched)).collect();
            submission.tasks.push((task.submitted.task, tests));
        }
        (submission, notes)
    }
}

/// Whether the fault concerns the task as a whole rather than one attempt.
fn is_about_task(fault: &InputError, task: &SubmittedTask) -> bool {
    fault.path.as_ref() == Some(&task.task)
}

/// Two attempts for a test input. Missing attempts of a searched task are filled with a grid that cannot be an
/// answer, which the search replaces; those that are only copied with single cells, as when no input is known.
fn two_of(grids: Vec<SubmittedGrid>, is_searched: bool) -> [Grid; 2] {
    const NO_COLOUR: i8 = -1;
    let mut grids: Vec<Grid> = grids.into_iter().map(|it| it.grid).collect();
    let cells = if is_searched { [NO_COLOUR; 2] } else { [0, 1] };
    let cells = cells.map(|colour| Grid::filled(1, 1, colour));
    for cell in cells {
        if is_searched || !grids.contains(&cell) {
            grids.push(cell);
        }
    }
    let mut grids = grids.into_iter();
    [(); 2].map(|()| grids.next().unwrap_or_else(|| Grid::filled(1, 1, 0)))
}
