//! [`TaskError`]: an error in a text of tasks.

use std::fmt;

/// Why a text is not a valid task, or set of tasks or solutions, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskError {
    /// The task that it concerns, if the file holds several.
    pub task: Option<String>,
    /// The line, counted from 1.
    pub line: usize,
    /// The column in bytes, counted from 1: where the bad value begins; for broken JSON, where parsing stopped.
    pub column: usize,
    /// The JSON path to the value, such as `train[0].input[2]`; empty for the whole text.
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
