//! Reads one task from JSON text.

use super::error::TaskError;
use super::{Task, TaskFile};

impl Task {
    /// The task in the text of one file, in any layout for a single task, with this id.
    ///
    /// Unknown keys are ignored. Unlike [`TaskFile`], which skips bad parts, this fails if any part is bad.
    pub fn from_json(id: impl Into<String>, text: &[u8]) -> Result<Self, TaskError> {
        let id = id.into();
        let mut file = TaskFile::read(&id, text);
        if !file.errors.is_empty() {
            return Err(file.errors.swap_remove(0));
        }
        let count = file.tasks.len();
        match (file.tasks.pop(), count) {
            (Some(task), 1) => Ok(Task { id, ..task.task }),
            _ => Err(TaskError {
                task: None,
                line: 1,
                column: 1,
                path: String::new(),
                message: format!("expected one task, found {count}"),
            }),
        }
    }
}
