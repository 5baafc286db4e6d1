//! The text format of a [`Language`].

use std::fmt::Write;

use arc_dsl::Primitive;
use arc_text::{parse_functions, parse_programs};
use rustc_hash::FxHashMap;

use super::{Kind, Language, LanguageError, LanguageRow, Operation, Seed, seed_text};

/// The sections of a table, in their order.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Kinds,
    Calls,
    Seeds,
    Colours,
}

/// The greatest cost.
pub(super) const MOST_COST: u8 = 100;

/// An error in a line: what was expected and what was found.
type LineError = (&'static str, String);

fn line_error(expected: &'static str, found: &str) -> LineError {
    (expected, found.to_owned())
}

/// What stands before and behind a separator.
fn parts<'t>(text: &'t str, by: &str, expected: &'static str) -> Result<[&'t str; 2], LineError> {
    match text.split_once(by) {
        Some((before, behind)) => Ok([before, behind]),
        None => Err(line_error(expected, text)),
    }
}

/// Reads a table line by line.
struct Reader {
    language: Language,
    /// The indices of the derived operations.
    names: FxHashMap<String, u16>,
    part: Option<Part>,
}

impl Reader {
    fn line(&mut self, text: &str) -> Result<(), LineError> {
        let bracketed = text
            .strip_prefix('[')
            .and_then(|name| name.strip_suffix(']'));
        if let Some(name) = bracketed {
            self.part = match name {
                "kinds" => Some(Part::Kinds),
                "calls" => Some(Part::Calls),
                "seeds" => Some(Part::Seeds),
                "colours" => Some(Part::Colours),
                _ => return Err(line_error("[kinds], [calls], [seeds] or [colours]", text)),
            };
            return Ok(());
        }
        let part = self
            .part
            .ok_or_else(|| line_error("[kinds] or [calls] first", text))?;
        if part == Part::Kinds {
            return self.charge(text);
        }
        let [head, names] = parts(text, ": ", "`bits kinds: what they are`")?;
        let [bits, kinds] = parts(head, " ", "bits and kinds")?;
        let commutes = bits.ends_with('*');
        let number = bits.trim_end_matches('*').parse().ok();
        let number = number.filter(|bits| *bits <= MOST_COST);
        let number = number.ok_or_else(|| line_error("at most 100 bits", bits))?;
        match part {
            Part::Kinds | Part::Calls => self.row(number, commutes, kinds, names),
            Part::Seeds | Part::Colours => self.seeds(part, number, kinds, names),
        }
    }

    fn kind(&mut self, name: &str) -> Result<Kind, LineError> {
        self.language
            .kind(name)
            .ok_or_else(|| line_error("at most 64 kinds", name))
    }

    /// `charge: kinds`
    fn charge(&mut self, text: &str) -> Result<(), LineError> {
        let [charge, kinds] = parts(text, ": ", "`charge: kinds`")?;
        let charge = charge.parse().ok().filter(|charge| *charge <= MOST_COST);
        let charge = charge.ok_or_else(|| line_error("a charge of at most 100", text))?;
        for name in kinds.split_whitespace() {
            let kind = self.kind(name)?;
            self.language.charges[kind.index()] = charge;
        }
        Ok(())
    }

    /// `bits kinds -> kind: operations`
    fn row(&mut self, bits: u8, commutes: bool, kinds: &str, names: &str) -> Result<(), LineError> {
        let [takes, gives] = parts(kinds, " -> ", "`kinds -> kind`")?;
        let takes: Vec<_> = takes.split_whitespace().collect();
        let are_alike = takes.len() > 1 && takes[0] == takes[1];
        if takes.is_empty() || takes.len() > 4 || (commutes && !are_alike) {
            return Err(line_error(
                "1 to 4 kinds, with a star the first two alike",
                kinds,
            ));
        }
        let takes = takes.into_iter().map(|name| self.kind(name));
        let takes = takes.collect::<Result<Vec<_>, _>>()?;
        let gives = self.kind(gives.trim())?;
        let names = names.split_whitespace();
        let operations = names
            .map(|name| self.operation(name, takes.len()))
            .collect::<Result<_, _>>()?;
        self.language.rows.push(LanguageRow {
            bits,
            commutes,
            takes,
            gives,
            operations,
        });
        Ok(())
    }

    fn operation(&self, name: &str, arguments: usize) -> Result<Operation, LineError> {
        let function = self
            .names
            .get(name)
            .map(|number| Operation::Function(*number));
        let operation = function.or_else(|| Primitive::from_name(name).map(Operation::Primitive));
        let expected = "a primitive or a derived operation";
        let operation = operation.ok_or_else(|| line_error(expected, name))?;
        if self.language.parameters(operation) != arguments {
            return Err(line_error(
                "an operation that takes this number of arguments",
                name,
            ));
        }
        Ok(operation)
    }

    /// `bits kind: expressions`
    fn seeds(&mut self, part: Part, bits: u8, kind: &str, names: &str) -> Result<(), LineError> {
        let kind = self.kind(kind)?;
        for expression in names.split_whitespace() {
            if !parse_programs(&seed_text(expression, 1))
                .iter()
                .all(Result::is_ok)
            {
                return Err(line_error(
                    "expressions of the DSL without blanks",
                    expression,
                ));
            }
            let seed = Seed {
                bits,
                kind,
                expression: expression.to_owned(),
            };
            match part {
                Part::Colours => self.language.colour_seeds.push(seed),
                Part::Kinds | Part::Calls | Part::Seeds => self.language.seeds.push(seed),
            }
        }
        Ok(())
    }
}

impl Language {
    /// The language with these derived operations and this table.
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
        let functions = parse_functions(derived).into_iter();
        language.functions = functions.collect::<Result<_, _>>()?;
        let names = language.functions.iter().zip(0u16..);
        let names = names.map(|(function, number)| (function.name().to_owned(), number));
        let mut reader = Reader {
            names: names.collect(),
            language,
            part: None,
        };
        for (number, text) in table.lines().enumerate() {
            let text = text.split('#').next().unwrap_or_default().trim();
            if text.is_empty() {
                continue;
            }
            reader.line(text).map_err(|(expected, found)| {
                let found = format!("`{}`", found.chars().take(60).collect::<String>());
                let line = number + 1;
                LanguageError::Line {
                    line,
                    expected,
                    found,
                }
            })?;
        }
        Ok(reader.language)
    }

    /// The table of the language, which [`parse`](Self::parse) reads: calls of the same bits and kinds are on one
    /// line.
    pub fn table(&self) -> String {
        let mut text = String::from("[kinds]\n");
        let mut charges: Vec<(u8, Vec<&str>)> = Vec::new();
        for (name, charge) in self.kinds.iter().zip(&self.charges) {
            match charges.iter_mut().find(|(other, _)| other == charge) {
                _ if *charge == 0 => {}
                Some((_, names)) => names.push(name),
                None => charges.push((*charge, vec![name])),
            }
        }
        // Writing to a string never fails.
        for (charge, names) in charges {
            let _ = writeln!(text, "{charge}: {}", names.join(" "));
        }
        text.push_str("[calls]\n");
        for row in self.rows.iter().filter(|row| !row.operations.is_empty()) {
            let star = if row.commutes { "*" } else { "" };
            let takes: Vec<_> = row
                .takes
                .iter()
                .map(|kind| &*self.kinds[kind.index()])
                .collect();
            let names: Vec<_> = row
                .operations
                .iter()
                .map(|operation| self.name(*operation))
                .collect();
            let (takes, gives) = (takes.join(" "), &self.kinds[row.gives.index()]);
            let _ = writeln!(
                text,
                "{}{star} {takes} -> {gives}: {}",
                row.bits,
                names.join(" ")
            );
        }
        for (title, seeds) in [("[seeds]", &self.seeds), ("[colours]", &self.colour_seeds)] {
            let _ = writeln!(text, "{title}");
            for seed in seeds {
                let kind = &self.kinds[seed.kind.index()];
                let _ = writeln!(text, "{} {kind}: {}", seed.bits, seed.expression);
            }
        }
        text
    }
}
