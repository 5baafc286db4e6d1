//! From the train pairs of an ARC task to attempts at its test outputs, each of which is a program.
//!
//! A [`Searcher`] goes through these stages, each in its own module:
//!
//! 1. [`colours`]: the colours of each input are renamed by what it shows.
//! 2. [`size`]: the sizes of the outputs are predicted.
//! 3. [`enumerate`]: calls of the [`language`] are evaluated on all inputs, the cheapest first.
//! 4. [`pieces`]: values that can be painted become bits over the cells of the outputs.
//! 5. [`compose`]: pieces are painted over each other.
//! 6. [`propose`]: [proposers](propose::Proposer) propose answers; stacks of pieces come from one of them.
//! 7. [`rank`]: the best distinct answers, ranked by the [invariants] of the task too, become [attempts](attempt),
//!    each with its program.
//!
//! If colours were renamed and no attempt fits all train pairs, the task is searched again with the original colours.
//!
//! The crate uses no files, threads or clocks. The same task gives the same attempts on every machine.

mod answer;
pub mod attempt;
pub mod colours;
pub mod compose;
pub mod enumerate;
pub mod invariants;
pub mod language;
mod options;
pub mod pieces;
pub mod propose;
pub mod rank;
pub mod rules;
mod searcher;
pub mod size;
#[cfg(test)]
mod testing;

pub use attempt::Attempt;
pub use language::Language;
pub use options::Options;
pub use searcher::{Found, SearchCounts, Searcher};
