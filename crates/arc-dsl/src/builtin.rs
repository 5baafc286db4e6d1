//! Built-in programs and tasks: what the engine is tried on where nobody has data at hand.
//!
//! Each program has a generator of inputs, so that tasks of any number and size are made with no
//! download. They are not a public collection's programs, but resemble one in length and in what
//! they call, and between them call every primitive.
//!
//! ```
//! use arc_dsl::builtin;
//! let program = builtin::get("mirrorpair").expect("it is in the table");
//! let task = program.task(7, 3, 1, 10);
//! assert_eq!((task.id.as_str(), task.train.len(), task.test.len()), ("mirrorpair", 3, 1));
//! let pair = &task.train[0];
//! let width = pair.output.as_ref().map(|output| output.width());
//! assert_eq!(width, Some(2 * pair.input.width()));
//! // The same seed gives the same task, today and in any later version.
//! assert_eq!(program.task(7, 3, 1, 10), task);
//! ```

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, LazyLock};

use crate::grid::Grid;
use crate::interpreter::Interpreter;
use crate::program::Program;
use crate::task::{Pair, Task};
use crate::text::parse_programs;
use crate::value::Value;

mod palette;
mod random;
mod scenes;
mod table;
mod things;

use random::Random;
use table::{Row, TABLE};

/// The text of all built-in programs, as a solver file would have it.
pub const TEXT: &str = include_str!("builtin/programs.py");

/// What a built-in program does, as the benchmark matrix groups them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Turns, cuts, joins and scales grids.
    Transform,
    /// Changes colours, not places.
    Colour,
    /// Finds objects, measures and moves them.
    Objects,
    /// Looks for periods, symmetry, lattices and occurrences, or draws lines by rule.
    Pattern,
    /// Calls three and more primitives on grids in a row, without a function value.
    Pipeline,
    /// Does what whole solvers do: function values, loops, several steps of drawing.
    Whole,
}

impl Kind {
    /// All kinds, in the order of the benchmark matrix.
    pub const ALL: &'static [Kind] = &[
        Kind::Transform,
        Kind::Colour,
        Kind::Objects,
        Kind::Pattern,
        Kind::Pipeline,
        Kind::Whole,
    ];

    /// Its name, as tables and options have it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Kind::Transform => "transform",
            Kind::Colour => "colour",
            Kind::Objects => "objects",
            Kind::Pattern => "pattern",
            Kind::Pipeline => "pipeline",
            Kind::Whole => "whole",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A built-in program and the generator of its inputs.
#[derive(Debug)]
pub struct BuiltIn {
    row: &'static Row,
    program: Program,
    text: &'static str,
}

/// All built-in programs, by kind, in the order of their text.
#[must_use]
pub fn all() -> &'static [BuiltIn] {
    static ALL: LazyLock<Vec<BuiltIn>> = LazyLock::new(|| {
        let programs = parse_programs(TEXT).into_iter().filter_map(Result::ok);
        // The tests see to it that both lists are whole and in one order.
        programs
            .filter_map(|program| {
                let row = TABLE.iter().find(|row| row.id == program.task_id())?;
                let text = definition(program.name());
                Some(BuiltIn { row, program, text })
            })
            .collect()
    });
    &ALL
}

/// The built-in program of this id, as `mirrorpair`.
#[must_use]
pub fn get(id: &str) -> Option<&'static BuiltIn> {
    all().iter().find(|built_in| built_in.id() == id)
}

/// The lines that define the program of this name.
fn definition(name: &str) -> &'static str {
    let start = TEXT.find(&format!("def {name}(")).unwrap_or(TEXT.len());
    let text = &TEXT[start..];
    text.find("\n\n").map_or(text, |end| &text[..=end])
}

impl BuiltIn {
    /// Its id, which is also that of the tasks made for it.
    #[must_use]
    pub fn id(&self) -> &'static str {
        self.row.id
    }

    /// What it does.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.row.kind
    }

    /// The program.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The text that the program was read from; its first line after the `def` says what is asked.
    #[must_use]
    pub fn text(&self) -> &'static str {
        self.text
    }

    /// The fewest rows and columns that its inputs have; smaller ones are not made.
    #[must_use]
    pub fn min_side(&self) -> usize {
        self.row.recipe.sides.min
    }

    /// The most rows and columns that its inputs have, at most 30: larger ones would make outputs
    /// that the ARC data does not allow.
    #[must_use]
    pub fn max_side(&self) -> usize {
        self.row.recipe.sides.max
    }

    /// An input for it: from [`min_side`](Self::min_side) to `max_side` rows and columns of colours
    /// 0 to 9, the same one for the same arguments for ever.
    ///
    /// A `max_side` outside what the program takes is brought within.
    #[must_use]
    pub fn input(&self, seed: u64, index: usize, max_side: usize) -> Grid {
        let mut random = Random::new(self.row.id, seed, index as u64);
        self.row.recipe.draw(&mut random, max_side)
    }

    /// The [`input`](Self::input) with the output that the reference interpreter gives for it.
    pub fn pair(&self, seed: u64, index: usize, max_side: usize) -> Pair {
        let input = Arc::new(self.input(seed, index, max_side));
        let output = Interpreter::default()
            .run(&self.program, Arc::clone(&input))
            .ok();
        let output = output
            .as_ref()
            .and_then(Value::as_grid)
            .map(Cow::into_owned);
        Pair { input, output }
    }

    /// A task of so many pairs: those of index 0 on for training, the next ones for testing.
    #[must_use]
    pub fn task(&self, seed: u64, train: usize, test: usize, max_side: usize) -> Task {
        let pairs = |from, count| (from..from + count).map(|at| self.pair(seed, at, max_side));
        Task {
            id: self.id().to_owned(),
            train: pairs(0, train).collect(),
            test: pairs(train, test).collect(),
            ..Task::default()
        }
    }
}

#[cfg(test)]
mod tests;
