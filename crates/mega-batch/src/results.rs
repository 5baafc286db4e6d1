//! What comes out of a run: outcomes, their summary and document, attempts and submissions.

pub(crate) mod attempts;
pub(crate) mod escape;
pub(crate) mod json;
pub(crate) mod outcome;
pub(crate) mod score;
pub(crate) mod sink;
pub(crate) mod submission;
pub(crate) mod summary;
