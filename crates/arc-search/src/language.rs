//! [`Language`]: what a search calls and starts with, and the costs.
//!
//! A language is text. It has four parts, each after a line with its name in brackets; `#` begins a comment:
//!
//! ```text
//! [kinds]
//! 3: object objects
//! [calls]
//! 2 grid -> grid: rot90 hmirror
//! 3* grid grid -> grid: exclusive
//! 4 objects -> object: largest
//! [seeds]
//! 0 grid: I
//! 1 number: ONE TWO
//! [colours]
//! 1 colour: COLOUR
//! ```
//!
//! A line of calls has the bits that it takes to say that a value of the resulting kind is such a call, the kinds of
//! the arguments and of the result, and the operations: primitives or [derived operations](DERIVED). A star means
//! that the first two arguments commute. Kinds are finer than types, which distinguish neither colours from numbers
//! nor functions by their purpose. Seeds are what every program may start with, as expressions of the DSL without
//! blanks; colour seeds are instantiated for each colour of a task, which replaces `COLOUR`. The kind `blank` has one
//! value, which exists once the size of the output is [predicted](crate::size): a grid of that size in colour 0.
//!
//! The cost of a call is its bits plus the costs of its arguments. The section `kinds` adds charges to values of
//! kinds that programs seldom need; a call is given back the charges of its arguments, and costs at
//! least 1.

mod costs;
mod counts;
mod producer;
mod table;

#[cfg(test)]
mod derived {
    mod testing;
    mod tests;
}

use std::fmt;

use arc_dsl::{Primitive, Program};
use arc_text::ParseError;

pub use costs::Costs;
pub use counts::{CostError, Use, UseCounts};
pub use producer::Producer;
use table::MOST_COST;

/// The kinds that the search itself uses: those that can be painted or that say how large a grid is.
pub const KNOWN_KINDS: [&str; 6] = ["grid", "object", "indices", "colour", "number", "blank"];

/// The derived operations of the [default](Language::default) language: functions of the public dialect that call
/// primitives and the functions above them, in a file per family: colours and two grids, lines, areas and their
/// borders, symmetry and tilings, parts, objects, choices.
///
/// In them 0 is the background, *empty*, whatever the most common colour is, and cells that are not empty are *shown*. A
/// *thing* is a component of shown cells of any colours, a *piece* one of a single colour, a *blob* the locations of a
/// thing, and a *gap* a component of empty cells.
pub const DERIVED: &str = concat!(
    include_str!("language/derived/grids.py"),
    "\n",
    include_str!("language/derived/lines.py"),
    "\n",
    include_str!("language/derived/areas.py"),
    "\n",
    include_str!("language/derived/symmetry.py"),
    "\n",
    include_str!("language/derived/parts.py"),
    "\n",
    include_str!("language/derived/objects.py"),
    "\n",
    include_str!("language/derived/choices.py")
);

/// The calls and seeds of the default language.
const TABLE: &str = include_str!("language/table.txt");

/// A kind of value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Kind(u8);

impl Kind {
    /// Grids.
    pub const GRID: Kind = Kind(0);
    /// Sets of cells.
    pub const OBJECT: Kind = Kind(1);
    /// Sets of locations.
    pub const INDICES: Kind = Kind(2);
    /// Colours.
    pub const COLOUR: Kind = Kind(3);
    /// Integers that are no colours.
    pub const NUMBER: Kind = Kind(4);
    /// The empty grid of the output's size.
    pub const BLANK: Kind = Kind(5);

    /// Its index among the [kinds](Language::kinds).
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// An operation that can be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    /// A primitive.
    Primitive(Primitive),
    /// The function with this index in [`Language::functions`].
    Function(u16),
}

/// Operations of the same cost, arguments and result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LanguageRow {
    /// The bits that it takes to say that a value of this kind is such a call.
    pub bits: u8,
    /// Whether the first two arguments commute.
    pub commutes: bool,
    /// The kinds of the arguments, 1 to 4.
    pub takes: Vec<Kind>,
    /// The kind of the result.
    pub gives: Kind,
    /// The operations that can be called.
    pub operations: Vec<Operation>,
}

/// A value that a program may start with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seed {
    /// The bits that it takes to say that a value of this kind is this one.
    pub bits: u8,
    /// Its kind.
    pub kind: Kind,
    /// The expression, in the DSL.
    pub expression: String,
}

/// What an expression consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LanguagePart {
    /// A call: its row, and the index of the operation in the row.
    Call(u16, u16),
    /// The seed with this index.
    Seed(u16),
    /// The seed for each colour with this index.
    ColourSeed(u16),
}

/// What a search calls and starts with; see the [module](self).
#[derive(Debug, Clone)]
pub struct Language {
    kinds: Vec<String>,
    functions: Vec<Program>,
    rows: Vec<LanguageRow>,
    seeds: Vec<Seed>,
    colour_seeds: Vec<Seed>,
    /// The extra charge of each kind.
    charges: Vec<u8>,
    costs: Option<Costs>,
}

/// Why a text is not a language.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LanguageError {
    /// A derived operation is invalid.
    #[error("derived operations: {0}")]
    Function(#[from] ParseError),
    /// A line of the table is invalid.
    #[error("line {line} of the table: expected {expected}, found {found}")]
    Line {
        /// The line, counted from 1.
        line: usize,
        /// What the line should have there.
        expected: &'static str,
        /// What it has instead.
        found: String,
    },
}

impl Default for Language {
    /// The language of this crate.
    fn default() -> Self {
        match Self::parse(DERIVED, TABLE) {
            Ok(language) => language.with_costs(Some(Costs::default())),
            // A test parses it.
            Err(_) => Self::empty(),
        }
    }
}

impl Language {
    fn empty() -> Self {
        Self {
            kinds: KNOWN_KINDS.map(str::to_owned).to_vec(),
            functions: Vec::new(),
            rows: Vec::new(),
            seeds: Vec::new(),
            colour_seeds: Vec::new(),
            charges: vec![0; KNOWN_KINDS.len()],
            costs: None,
        }
    }

    /// The kind of this name, which may be a new one; `None` if there are too many.
    fn kind(&mut self, name: &str) -> Option<Kind> {
        let known = self.kinds.iter().position(|kind| kind == name);
        let at = known.unwrap_or_else(|| {
            self.kinds.push(name.to_owned());
            self.charges.push(0);
            self.kinds.len() - 1
        });
        u8::try_from(at).ok().filter(|at| *at < 64).map(Kind)
    }

    /// The names of the kinds; the first are the [`KNOWN_KINDS`].
    pub fn kinds(&self) -> &[String] {
        &self.kinds
    }

    /// The kind with this index.
    pub fn kind_at(&self, place: usize) -> Option<Kind> {
        let place = u8::try_from(place).ok();
        place
            .filter(|place| usize::from(*place) < self.kinds.len())
            .map(Kind)
    }

    /// The derived operations.
    pub fn functions(&self) -> &[Program] {
        &self.functions
    }

    /// The rows of calls, in the order in which they are tried at the same cost.
    pub fn rows(&self) -> &[LanguageRow] {
        &self.rows
    }

    /// The values that every program may start with.
    pub fn seeds(&self) -> &[Seed] {
        &self.seeds
    }

    /// The seeds for each colour of a task, with `COLOUR` for the colour.
    pub fn colour_seeds(&self) -> &[Seed] {
        &self.colour_seeds
    }

    /// The cost of such a call without its arguments: its bits, and the charge of its kind less those of its
    /// arguments; at least 1.
    pub fn cost(&self, row: &LanguageRow) -> u8 {
        let charge = |kind: &Kind| i32::from(self.charges[kind.index()]);
        let taken: i32 = row.takes.iter().map(charge).sum();
        (i32::from(row.bits) + charge(&row.gives) - taken).clamp(1, MOST_COST.into()) as u8
    }

    /// The cost of a seed: its bits and the charge of its kind.
    pub(crate) fn cost_of_seed(&self, seed: &Seed) -> u8 {
        seed.bits.saturating_add(self.charges[seed.kind.index()])
    }

    /// This language without its derived operations: primitives alone.
    #[must_use]
    pub fn of_primitives(mut self) -> Self {
        for row in &mut self.rows {
            row.operations
                .retain(|operation| matches!(operation, Operation::Primitive(_)));
        }
        self
    }

    /// This language with a cost of 1 for every operation, including those in seeds: the cost of a value is then the
    /// number of operations in it.
    #[must_use]
    pub fn by_size(mut self) -> Self {
        for row in &mut self.rows {
            row.bits = 1;
        }
        for seed in self.seeds.iter_mut().chain(&mut self.colour_seeds) {
            let calls = seed.expression.matches('(').count();
            seed.bits = calls.min(MOST_COST.into()) as u8;
        }
        self.charges.fill(0);
        self.with_costs(None)
    }

    /// This language with these costs of calls of primitives on each other.
    #[must_use]
    pub fn with_costs(self, costs: Option<Costs>) -> Self {
        Self { costs, ..self }
    }

    /// The costs of calls of primitives on each other, learned from programs; `None` if they are not used.
    pub fn costs(&self) -> Option<&Costs> {
        self.costs.as_ref()
    }

    /// The name of an operation.
    pub fn name(&self, operation: Operation) -> &str {
        match operation {
            Operation::Primitive(primitive) => primitive.name(),
            Operation::Function(number) => self.functions[usize::from(number)].name(),
        }
    }

    fn parameters(&self, operation: Operation) -> usize {
        match operation {
            Operation::Primitive(primitive) => primitive.parameters().len(),
            Operation::Function(number) => self.functions[usize::from(number)].inputs().len(),
        }
    }
}

/// The program text of an expression, for this colour.
pub(crate) fn seed_text(expression: &str, colour: i32) -> String {
    let expression = expression.replace("COLOUR", &colour.to_string());
    format!("def seed(I):\n    return {expression}\n")
}

impl fmt::Display for Language {
    /// Writes its size only.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operations: usize = self.rows.iter().map(|row| row.operations.len()).sum();
        let (rows, functions) = (self.rows.len(), self.functions.len());
        write!(
            f,
            "{operations} operations in {rows} rows, {functions} of them derived functions"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_of_the_crate_is_one() {
        let language = Language::parse(DERIVED, TABLE);
        assert!(language.is_ok(), "{}", language.unwrap_err());
        assert!(!Language::default().rows().is_empty());
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let error = |table: &str| Language::parse("", table).unwrap_err().to_string();
        for (table, expected) in [
            (
                "2 grid -> grid: trim",
                "line 1 of the table: expected [kinds] or [calls] first, found `2 grid -> grid: trim`",
            ),
            (
                "[call]",
                "line 1 of the table: expected [kinds], [calls], [seeds] or [colours], found `[call]`",
            ),
            (
                "[calls]\n101 grid -> grid: trim",
                "line 2 of the table: expected at most 100 bits, found `101`",
            ),
            (
                "[kinds]\n3 object",
                "line 2 of the table: expected `charge: kinds`, found `3 object`",
            ),
            (
                "[calls]\n2 grid -> grid: trim fill",
                "line 2 of the table: expected an operation that takes this number of arguments, found `fill`",
            ),
            (
                "[calls]\n# none\n2 grid: trim",
                "line 3 of the table: expected `kinds -> kind`, found `grid`",
            ),
            (
                "[seeds]\n2 grid: trim(",
                "line 2 of the table: expected expressions of the DSL without blanks, found `trim(`",
            ),
            (
                "[calls]\n2* grid -> grid: trim",
                "line 2 of the table: expected 1 to 4 kinds, with a star the first two alike, found `grid -> grid`",
            ),
            (
                "[calls]\n2* grid blank -> grid: hconcat",
                "line 2 of the table: expected 1 to 4 kinds, with a star the first two alike, found `grid blank -> grid`",
            ),
        ] {
            assert_eq!(error(table), expected);
        }
        let error = Language::parse("def f(a): return g(a)", "").unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("derived operations: line 1, column 18: unknown primitive `g`")
        );
    }
}
