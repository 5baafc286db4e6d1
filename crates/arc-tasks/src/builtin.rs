//! Built-in programs and tasks, for trying the engine without any data.
//!
//! Each program has a generator of inputs, so tasks of any number and size are created without a download. The programs
//! are not from a public collection, but resemble one in length and in the calls they make; together they call every
//! primitive.
//!
//! ```
//! use arc_tasks::builtin;
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

use crate::task::{Pair, Task};
use arc_dsl::{Grid, Interpreter, Program, Value};
use arc_text::parse_programs;

mod palette;
mod random;
mod scenes;
mod table;
mod things;

use random::Random;
use table::{BuiltinRow, TABLE};

/// The text of all built-in programs, in the form of a solver file.
pub const TEXT: &str = include_str!("builtin/programs.py");

/// What a built-in program does; the benchmark matrix is grouped by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BuiltinKind {
    /// Turns, cuts, joins and scales grids.
    Transform,
    /// Changes colours, not places.
    Colour,
    /// Finds objects, measures and moves them.
    Objects,
    /// Looks for periods, symmetry, lattices and occurrences, or draws lines by rule.
    Pattern,
    /// Calls three or more primitives on grids in a row, without a function value.
    Pipeline,
    /// Does what whole solvers do: function values, loops, several steps of drawing.
    Whole,
}

impl BuiltinKind {
    /// All kinds, in the order of the benchmark matrix.
    pub const ALL: &'static [BuiltinKind] = &[
        BuiltinKind::Transform,
        BuiltinKind::Colour,
        BuiltinKind::Objects,
        BuiltinKind::Pattern,
        BuiltinKind::Pipeline,
        BuiltinKind::Whole,
    ];

    /// Its name, as used in tables and options.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            BuiltinKind::Transform => "transform",
            BuiltinKind::Colour => "colour",
            BuiltinKind::Objects => "objects",
            BuiltinKind::Pattern => "pattern",
            BuiltinKind::Pipeline => "pipeline",
            BuiltinKind::Whole => "whole",
        }
    }
}

impl fmt::Display for BuiltinKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A built-in program and the generator of its inputs.
#[derive(Debug)]
pub struct BuiltIn {
    row: &'static BuiltinRow,
    program: Program,
    text: &'static str,
}

/// All built-in programs, by kind, in the order of their text.
#[must_use]
pub fn all() -> &'static [BuiltIn] {
    static ALL: LazyLock<Vec<BuiltIn>> = LazyLock::new(|| {
        let programs = parse_programs(TEXT).into_iter().filter_map(Result::ok);
        // The tests check that both lists are complete and in the same order.
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
    /// Its id, which is also the id of the tasks created for it.
    #[must_use]
    pub fn id(&self) -> &'static str {
        self.row.id
    }

    /// What it does.
    #[must_use]
    pub fn kind(&self) -> BuiltinKind {
        self.row.kind
    }

    /// The program.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The text that the program was parsed from; the first line after the `def` states the puzzle.
    #[must_use]
    pub fn text(&self) -> &'static str {
        self.text
    }

    /// The fewest rows and columns that its inputs have; smaller ones are never generated.
    #[must_use]
    pub fn min_side(&self) -> usize {
        self.row.recipe.sides.min
    }

    /// The most rows and columns that its inputs have, at most 30: outputs of larger inputs would be larger than the
    /// ARC data allows.
    #[must_use]
    pub fn max_side(&self) -> usize {
        self.row.recipe.sides.max
    }

    /// An input for it: [`min_side`](Self::min_side) to `max_side` rows and columns, colours 0 to 9. The same arguments
    /// give the same input in all versions.
    ///
    /// A `max_side` outside the range of the program is clamped to it.
    #[must_use]
    pub fn input(&self, seed: u64, index: usize, max_side: usize) -> Grid {
        let mut random = Random::new(self.row.id, seed, index as u64);
        self.row.recipe.draw(&mut random, max_side)
    }

    /// The [`input`](Self::input) with the output that the reference interpreter returns for it.
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

    /// A task with this many pairs: training pairs from index 0 on, then the test pairs.
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
