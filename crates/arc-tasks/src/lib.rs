//! ARC tasks: [`Task`] and [`Pair`], their JSON and that of submissions, which programs belong to which task
//! ([`TaskIds`]), and [`builtin`] programs with tasks of any number and size.
//!
//! The crate is pure: it uses no files, threads or devices.

pub mod builtin;
mod task;
mod task_ids;

pub use task::{
    FileForm, FileProgram, FileTask, MAX_CELLS, MAX_SIDE, MAX_TESTS, OtherSplit, Pair, PairId,
    Solution, Solutions, Split, SubmissionFile, SubmittedGrid, SubmittedTask, Task, TaskError,
    TaskFile, bare_id, broken_json, is_arc_id, may_be_id, utf8,
};
pub use task_ids::{OwnTask, TaskIds, is_common_name, says_no_task, says_nothing, whole_folder};
