//! [`TaskError`]: what is wrong with a text of tasks.

use std::fmt;

/// Why text is not the task, tasks or solutions that it should be, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskError {
    /// The task it is about, where the file holds many.
    pub task: Option<String>,
    /// The line, counted from 1.
    pub line: usize,
    /// The column in bytes, counted from 1: where what was found begins; of broken JSON, where reading it ended.
    pub column: usize,
    /// The JSON path to the value, as `train[0].input[2]`; empty for the whole text.
    pub path: String,
    /// What was found and what was expected.
    pub message: String,
}

impl fmt::Display for TaskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)?;
        if !self.path.is_empty() {
            write!(f, ", {}", self.path)?;
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for TaskError {}
