//! From the train pairs of an ARC task to attempts at its test outputs, each of them a program.
//!
//! A [`Searcher`] goes through these stages, each in a module of its own:
//!
//! 1. [`colours`]: colours are renamed, for each input by what it shows.
//! 2. [`size`]: how large the outputs are is predicted.
//! 3. [`enumerate`]: calls of the [`language`] are made on all inputs, the cheapest first.
//! 4. [`pieces`]: what of it can be painted becomes bits over the cells of the outputs.
//! 5. [`compose`]: pieces are painted over each other.
//! 6. [`propose`]: whoever [proposes](propose::Proposer) answers; stacks of pieces are one of them.
//! 7. [`rank`]: the best different answers, judged by the [invariants] of the task too, become
//!    [attempts](attempt), and each of them a program.
//!
//! Where colours were renamed and no attempt fits all train pairs, a task is searched once more with its colours as
//! they are.
//!
//! It knows no files, threads or clocks. The same task gives the same attempts on every machine.

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
pub use searcher::{Counts, Found, Searcher};
