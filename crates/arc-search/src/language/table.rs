//! The text of a [`Language`]: reading and writing it.

use std::fmt::Write;

use arc_dsl::{Primitive, parse_functions, parse_programs};
use rustc_hash::FxHashMap;

use super::{Language, LanguageError, Operation, Row, Seed, seed_text};

/// The parts of a table, in their order.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Kinds,
    Calls,
    Seeds,
    Colours,
}

impl Part {
    fn of(name: &str) -> Option<Self> {
        match name {
            "kinds" => Some(Part::Kinds),
            "calls" => Some(Part::Calls),
            "seeds" => Some(Part::Seeds),
            "colours" => Some(Part::Colours),
            _ => None,
        }
    }
}

/// The greatest cost.
pub(super) const MOST_COST: u8 = 100;

impl Language {
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
                part = Some(
                    known.ok_or_else(|| wrong("[kinds], [calls], [seeds] or [colours]", text))?,
                );
                continue;
            }
            let part = part.ok_or_else(|| wrong("[kinds] or [calls] first", text))?;
            if part == Part::Kinds {
                let (charge, kinds) = text
                    .split_once(": ")
                    .ok_or_else(|| wrong("`charge: kinds`", text))?;
                let charge = charge.parse().ok().filter(|charge| *charge <= MOST_COST);
                let charge = charge.ok_or_else(|| wrong("a charge of at most 100", text))?;
                for name in kinds.split_whitespace() {
                    let kind = language.kind(name);
                    let kind = kind.ok_or_else(|| wrong("at most 64 kinds", name))?;
                    language.charges[kind.index()] = charge;
                }
                continue;
            }
            let (head, tail) = text
                .split_once(": ")
                .ok_or_else(|| wrong("`bits kinds: what they are`", text))?;
            let (bits, kinds) = head
                .split_once(' ')
                .ok_or_else(|| wrong("bits and kinds", head))?;
            let commutes = bits.ends_with('*');
            let number = bits.trim_end_matches('*').parse();
            let bits = number
                .ok()
                .filter(|bits| *bits <= MOST_COST)
                .ok_or_else(|| wrong("at most 100 bits", bits))?;
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
                    bits,
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
                        bits,
                        kind,
                        expression,
                    };
                    match part {
                        Part::Kinds | Part::Calls | Part::Seeds => language.seeds.push(seed),
                        Part::Colours => language.colour_seeds.push(seed),
                    }
                }
            }
        }
        Ok(language)
    }

    /// The table of the language, which [`parse`](Self::parse) reads: the calls of the same bits and kinds in a
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
