//! Determines which functions of a text are its programs, and why others are not.

use arc_dsl::{Dialect, Program};

use crate::error::{ParseError, ParseErrorKind};
use crate::globals::{Binding, LATE};
use crate::module::inputs::of_inputs;
use crate::module::{DefinitionKind, Module, ParseState};
use crate::names;
use crate::tokens::{Tokens, error_at, told, unusable};

impl Module<'_> {
    /// The functions that names are finally bound to: the name, if it is not the function's own, and the index.
    pub(super) fn listed(&mut self) -> Vec<(Option<String>, usize)> {
        let mut listed = Vec::new();
        let mut is_listed = vec![false; self.functions.len()];
        let mut is_reached = vec![false; self.functions.len()];
        for (key, at) in std::mem::take(&mut self.table) {
            if self.functions[at].is_value() {
                let line = self.functions[at].token.line;
                self.set.push((key, line, Binding::Function(at)));
                continue;
            }
            if is_listed[at] {
                continue;
            }
            let name = self.functions[at].token.text;
            is_listed[at] = true;
            let says_so = name.ends_with(&key);
            listed.push(((!says_so).then(|| format!("{name}_{key}")), at));
        }
        for (name, _, binding) in self.globals.all() {
            let Binding::Function(at) = binding else {
                continue;
            };
            is_reached[at] = true;
            let function = &self.functions[at];
            if function.is_value() || (is_listed[at] && function.token.text == name) {
                continue;
            }
            is_listed[at] |= function.token.text == name;
            listed.push(((function.token.text != name).then(|| name.to_owned()), at));
        }
        for (at, is_reached) in is_reached.into_iter().enumerate() {
            let function = &self.functions[at];
            if is_reached || is_listed[at] || function.is_value() {
                continue;
            }
            if let Some((line, _)) = self.globals.get(self.dialect(), function.token.text, LATE) {
                let (name, token) = (told(function.token.text), function.token);
                self.note(token, ParseErrorKind::Replaced { name, line });
            }
        }
        listed
    }

    /// Reports programs whose names are finally bound to values, as in `solve = wrap(solve)`: none of the functions
    /// that such a value is composed of is the answer.
    pub(super) fn refuse_replaced(&mut self) {
        for at in 0..self.functions.len() {
            let function = &self.functions[at];
            if function.kind != DefinitionKind::Def || !says_program(function.token.text) {
                continue;
            }
            let bound = self.globals.get(self.dialect(), function.token.text, LATE);
            let Some((line, Binding::Function(value))) = bound else {
                continue;
            };
            if !self.functions[value].is_value() {
                continue;
            }
            let token = function.token;
            let kind = unusable(token.text, line, "it is set to a value");
            let error = error_at(self.text, token, kind);
            self.errors.push((token.start, error));
            for used in self.may_call(value) {
                self.used.borrow_mut()[used] = true;
            }
        }
    }

    /// The program that a function is, or why it cannot be parsed; `None` if it is not a program.
    pub(super) fn outcome(
        &self,
        name: Option<&str>,
        at: usize,
    ) -> Option<Result<Program, ParseError>> {
        let function = &self.functions[at];
        let is_used = self.used.borrow()[at];
        let said = name.unwrap_or(function.token.text);
        let dialect = function.dialect;
        let ParseState::Read(read) = self.state(at, dialect) else {
            return None;
        };
        if self.lists_all {
            let read = read.as_ref().map(|parsed| parsed.program.clone());
            return Some(read.map_err(Clone::clone));
        }
        let is_of_dsl = names::known(dialect, said).is_some();
        if is_of_dsl || (is_used && !says_program(said)) {
            return None;
        }
        let parsed = match read {
            Ok(parsed) => parsed,
            Err(error) => {
                let (count, first) = function.parameters;
                let is_typed = dialect == Dialect::Typed
                    && (count == 2 || count == 3)
                    && (first == "S" || self.reading.dialect.is_some());
                let may_be = match count {
                    0 => false,
                    1 => !said.starts_with("test") && !said.starts_with('_'),
                    _ => is_typed || has_to_be_program(said),
                };
                let has_brackets = self.block(at).tokens.get(3).is_some_and(|it| it.is("("));
                let is_whole = has_brackets && !is_header(&error.kind);
                return (may_be || !is_whole).then(|| Err(error.clone()));
            }
        };
        let program = match of_inputs(parsed, dialect) {
            Ok(program) => program,
            Err(unfilled) => {
                let found = parsed.parameters.len();
                // What others call may take anything.
                return (found > 0 && !is_used && has_to_be_program(said)).then(|| {
                    let dialect = self.reading.dialect;
                    let kind = ParseErrorKind::ParameterCount {
                        dialect,
                        found,
                        unfilled,
                    };
                    Err(self.at_parameters(at, kind))
                });
            }
        };
        let program = match name {
            Some(name) => program.with_name(name),
            None => program,
        };
        Some(Ok(match &function.task {
            Some(task) => program.with_task(task.as_str()),
            None => program,
        }))
    }

    fn at_parameters(&self, at: usize, kind: ParseErrorKind) -> ParseError {
        let block = self.block(at);
        let token = block.tokens.get(3).copied().unwrap_or(block.tokens[0]);
        Tokens::new(self.text, &block).error(token, kind)
    }

    /// Notes why a function is not a program, unless another one uses it.
    pub(super) fn note_unlisted(&mut self, at: usize) {
        if self.used.borrow()[at] {
            return;
        }
        let mut states = self.states[at].iter();
        let error = states.find_map(|state| match state {
            ParseState::Read(Err(error)) => Some(error.clone()),
            _ => None,
        });
        let function = &self.functions[at];
        let why = match &error {
            Some(error) => format!(
                "line {}, column {}: {}",
                error.line, error.column, error.kind
            ),
            None if names::known(self.dialect(), function.token.text).is_some() => {
                "the DSL has the name".to_owned()
            }
            None => ParseErrorKind::ParameterCount {
                dialect: self.reading.dialect,
                found: function.parameters.0,
                unfilled: None,
            }
            .to_string(),
        };
        let name = told(function.token.text);
        let error = self.at_parameters(at, ParseErrorKind::Uncalled { name, why });
        self.notes.push(error);
    }
}

/// Whether a name says that a function is a program, even if others call it: by its first word, or by the id of a task
/// at its end, eight hexadecimal digits.
#[must_use]
pub fn says_program(name: &str) -> bool {
    let tail = name.rsplit('_').next().unwrap_or_default();
    has_to_be_program(name)
        || (tail.len() == 8 && tail.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Whether a name is that of a program, whatever its parameters.
fn has_to_be_program(name: &str) -> bool {
    let words = ["solve", "transform", "verify", "program", "main"];
    words.iter().any(|word| name.starts_with(word)) || name == "p" || name.starts_with("p_")
}

/// Whether an error is in the first line of a function, so that not even the parameters are known.
fn is_header(kind: &ParseErrorKind) -> bool {
    matches!(
        kind,
        ParseErrorKind::Batt
            | ParseErrorKind::UnclosedBracket { .. }
            | ParseErrorKind::UnclosedString { .. }
    )
}
