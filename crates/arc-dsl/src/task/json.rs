//! One task from JSON text.

use super::error::TaskError;
use super::{Task, TaskFile};

impl Task {
    /// The task that one file's text describes, in any layout that holds one; the id is this one.
    ///
    /// Keys that no layout knows are passed over. Unlike [`TaskFile`], which leaves out what is bad, this
    /// refuses all of it.
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
