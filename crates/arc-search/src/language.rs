//! [`Language`]: what a search calls and begins with, and what each of it costs.
//!
//! A language is text. It has three parts, each after a line with its name in brackets; `#` begins a comment:
//!
//! ```text
//! [calls]
//! 2 grid -> grid: rot90 hmirror
//! 3* grid grid -> grid: overlay
//! [seeds]
//! 0 grid: I
//! 1 number: ONE TWO
//! [colours]
//! 1 colour: COLOUR
//! ```
//!
//! A line of calls says what one more such call costs, the kinds of what it takes and gives, and what is
//! called: primitives, or functions of the [derived operations](Language::functions); with a star the order
//! of the first two arguments, which are of one kind, is all one. Kinds are finer than types, which tell neither a colour from a
//! number nor what a function is for. Seeds are what every program may begin with, as expressions of the
//! DSL; those of colours are made for each colour that a task has, `COLOUR` standing for it. The kind `blank`
//! has one value, which is there once the size of the output is [predicted](crate::size): a grid of that size
//! in colour 0.

mod costs;
mod counts;
pub mod derived;
mod producer;

use std::fmt;

use arc_dsl::{ParseError, Primitive, Program, parse_functions, parse_programs};
use rustc_hash::FxHashMap;

pub use costs::Costs;
pub use counts::{CostError, Counts, Entropies, Use};
pub use producer::Producer;

/// The kinds that the search itself knows: what can be painted, or says how large a grid is.
pub const KNOWN_KINDS: [&str; 6] = ["grid", "object", "indices", "colour", "number", "blank"];

/// The derived operations of the [default](Language::default) language, as functions of the public dialect.
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

/// Its calls and seeds.
const TABLE: &str = include_str!("language/table.txt");

/// A kind of values.
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

    /// Its place among the [kinds](Language::kinds).
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// What is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    /// A primitive.
    Primitive(Primitive),
    /// The function at this place of [`Language::functions`].
    Function(u16),
}

/// Operations that cost the same and take and give the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// What one more such call costs; at least 1.
    pub cost: u8,
    /// Whether the order of the first two arguments is all one.
    pub commutes: bool,
    /// The kinds of the arguments, 1 to 4.
    pub takes: Vec<Kind>,
    /// The kind of the result.
    pub gives: Kind,
    /// What is called.
    pub operations: Vec<Operation>,
}

/// What a program may begin with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seed {
    /// What it costs.
    pub cost: u8,
    /// Its kind.
    pub kind: Kind,
    /// The expression, of the DSL.
    pub expression: String,
}

/// What a search calls and begins with, see the [module](self).
#[derive(Debug, Clone)]
pub struct Language {
    kinds: Vec<String>,
    functions: Vec<Program>,
    rows: Vec<Row>,
    seeds: Vec<Seed>,
    colour_seeds: Vec<Seed>,
    costs: Costs,
}

/// Why a text is no language.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LanguageError {
    /// A derived operation is wrong.
    #[error("derived operations: {0}")]
    Function(#[from] ParseError),
    /// A line of the table is wrong.
    #[error("line {line} of the table: expected {expected}, found {found}")]
    Line {
        /// The line, counted from 1.
        line: usize,
        /// What should stand there.
        expected: &'static str,
        /// What does.
        found: String,
    },
}

/// The parts of a table, in their order.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Calls,
    Seeds,
    Colours,
}

impl Part {
    fn of(name: &str) -> Option<Self> {
        match name {
            "calls" => Some(Part::Calls),
            "seeds" => Some(Part::Seeds),
            "colours" => Some(Part::Colours),
            _ => None,
        }
    }
}

/// The greatest cost that a line may have.
const MOST_COST: u8 = 100;

impl Default for Language {
    /// The language of this crate.
    fn default() -> Self {
        match Self::parse(DERIVED, TABLE) {
            Ok(language) => language,
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
            costs: Costs::default(),
        }
    }

    /// The language of these derived operations and this table.
    ///
    /// ```
    /// use arc_search::language::Language;
    /// let derived = "def beside(a, b): return hconcat(a, b)";
    /// let language = Language::parse(derived, "[calls]\n2 grid grid -> grid: beside vconcat\n")?;
    /// assert_eq!(language.rows()[0].operations.len(), 2);
    /// let error = Language::parse(derived, "[calls]\n2 grid -> grid: besides\n").unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "line 2 of the table: expected a primitive or a derived operation, found `besides`",
    /// );
    /// # Ok::<(), arc_search::language::LanguageError>(())
    /// ```
    pub fn parse(derived: &str, table: &str) -> Result<Self, LanguageError> {
        let mut language = Self::empty();
        language.functions = parse_functions(derived)
            .into_iter()
            .collect::<Result<_, _>>()?;
        let names = language.functions.iter().zip(0u16..);
        let names: FxHashMap<String, u16> = names
            .map(|(function, number)| (function.name().to_owned(), number))
            .collect();
        let mut part = None;
        for (number, text) in table.lines().enumerate() {
            let line = number + 1;
            let wrong = |expected, found: &str| LanguageError::Line {
                line,
                expected,
                found: format!("`{}`", found.chars().take(60).collect::<String>()),
            };
            let text = text.split('#').next().unwrap_or_default().trim();
            if text.is_empty() {
                continue;
            }
            if let Some(name) = text
                .strip_prefix('[')
                .and_then(|name| name.strip_suffix(']'))
            {
                let known = Part::of(name);
                part = Some(known.ok_or_else(|| wrong("[calls], [seeds] or [colours]", text))?);
                continue;
            }
            let part = part.ok_or_else(|| wrong("[calls] first", text))?;
            let (head, tail) = text
                .split_once(": ")
                .ok_or_else(|| wrong("`cost kinds: what they are`", text))?;
            let (cost, kinds) = head
                .split_once(' ')
                .ok_or_else(|| wrong("a cost and kinds", head))?;
            let commutes = cost.ends_with('*');
            let number = cost.trim_end_matches('*').parse();
            let cost = number
                .ok()
                .filter(|cost| *cost <= MOST_COST && (part != Part::Calls || *cost > 0))
                .ok_or_else(|| wrong("a cost, of a call at least 1, at most 100", cost))?;
            if part == Part::Calls {
                let (takes, gives) = kinds
                    .split_once(" -> ")
                    .ok_or_else(|| wrong("`kinds -> kind`", kinds))?;
                let takes: Vec<_> = takes.split_whitespace().collect();
                let are_alike = takes.len() > 1 && takes[0] == takes[1];
                if takes.is_empty() || takes.len() > 4 || (commutes && !are_alike) {
                    return Err(wrong(
                        "1 to 4 kinds, with a star the first two alike",
                        kinds,
                    ));
                }
                let mut kind = |name| {
                    language
                        .kind(name)
                        .ok_or_else(|| wrong("at most 64 kinds", name))
                };
                let takes = takes
                    .into_iter()
                    .map(&mut kind)
                    .collect::<Result<Vec<_>, _>>()?;
                let gives = kind(gives.trim())?;
                let operation = |name: &str| {
                    let function = names.get(name).map(|number| Operation::Function(*number));
                    let primitive = || Primitive::from_name(name).map(Operation::Primitive);
                    let operation = function.or_else(primitive);
                    let expected = "a primitive or a derived operation";
                    let operation = operation.ok_or_else(|| wrong(expected, name))?;
                    let parameters = language.parameters(operation);
                    if parameters != takes.len() {
                        return Err(wrong("an operation that takes so many arguments", name));
                    }
                    Ok(operation)
                };
                let operations = tail
                    .split_whitespace()
                    .map(operation)
                    .collect::<Result<_, _>>()?;
                language.rows.push(Row {
                    cost,
                    commutes,
                    takes,
                    gives,
                    operations,
                });
            } else {
                let kind = language
                    .kind(kinds)
                    .ok_or_else(|| wrong("at most 64 kinds", kinds))?;
                for expression in tail.split_whitespace() {
                    let text = seed_text(expression, 1);
                    if !parse_programs(&text).iter().all(Result::is_ok) {
                        return Err(wrong("expressions of the DSL without blanks", expression));
                    }
                    let expression = expression.to_owned();
                    let seed = Seed {
                        cost,
                        kind,
                        expression,
                    };
                    match part {
                        Part::Calls | Part::Seeds => language.seeds.push(seed),
                        Part::Colours => language.colour_seeds.push(seed),
                    }
                }
            }
        }
        Ok(language)
    }

    /// The kind of this name, which may be a new one; nothing where there are too many.
    fn kind(&mut self, name: &str) -> Option<Kind> {
        let known = self.kinds.iter().position(|kind| kind == name);
        let at = known.unwrap_or_else(|| {
            self.kinds.push(name.to_owned());
            self.kinds.len() - 1
        });
        u8::try_from(at).ok().filter(|at| *at < 64).map(Kind)
    }

    /// The names of the kinds; the first are the [`KNOWN_KINDS`].
    pub fn kinds(&self) -> &[String] {
        &self.kinds
    }

    /// The derived operations.
    pub fn functions(&self) -> &[Program] {
        &self.functions
    }

    /// What is called, in the order in which it is tried at the same cost.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// What every program may begin with.
    pub fn seeds(&self) -> &[Seed] {
        &self.seeds
    }

    /// What there is for each colour of a task, with `COLOUR` for the colour.
    pub fn colour_seeds(&self) -> &[Seed] {
        &self.colour_seeds
    }

    /// What calls of primitives on each other cost, by programs.
    pub fn costs(&self) -> &Costs {
        &self.costs
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

/// The text of the program that is an expression, for this colour.
pub(crate) fn seed_text(expression: &str, colour: i32) -> String {
    let expression = expression.replace("COLOUR", &colour.to_string());
    format!("def seed(I):\n    return {expression}\n")
}

impl fmt::Display for Language {
    /// How large it is.
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
                "line 1 of the table: expected [calls] first, found `2 grid -> grid: trim`",
            ),
            (
                "[call]",
                "line 1 of the table: expected [calls], [seeds] or [colours], found `[call]`",
            ),
            (
                "[calls]\n0 grid -> grid: trim",
                "line 2 of the table: expected a cost, of a call at least 1, at most 100, found `0`",
            ),
            (
                "[calls]\n2 grid -> grid: trim fill",
                "line 2 of the table: expected an operation that takes so many arguments, found `fill`",
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
