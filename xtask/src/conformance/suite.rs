//! The cases, as text that Python and the parser read alike.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use arc_dsl::generate::{Case, Expression, Generator};
use arc_dsl::{EvalError, Grid, Interpreter, Primitive, parse_programs};

use super::python::Command;

/// Grids from which the arguments are drawn, each with its patches.
const SCENES: usize = 620;

/// How many draws a case may take to be a new one.
const DRAWS: usize = 8;

/// Calls of primitives; arguments are places in a pool of expressions.
#[derive(Debug, Default)]
pub(crate) struct Suite {
    pub(crate) pool: Vec<String>,
    places: HashMap<String, usize>,
    pub(crate) calls: Vec<Call>,
}

/// One [`Case`] with its arguments by place.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) primitive: Primitive,
    pub(crate) arguments: Vec<usize>,
    pub(crate) applied_to: Vec<usize>,
}

impl Suite {
    /// So many cases of every primitive, distinct as far as the primitive has so many; a fifth of them
    /// with arguments of any type.
    pub(crate) fn generate(seed: u64, count: usize) -> Self {
        let mut generator = Generator::with_scenes(seed, SCENES);
        let mut suite = Self::default();
        for primitive in Primitive::of_reference() {
            let mut seen = HashSet::new();
            for number in 0..count {
                let draw = if number < count - count / 5 {
                    Generator::case
                } else {
                    Generator::case_of_any_types
                };
                let mut case = draw(&mut generator, primitive);
                for _ in 1..DRAWS {
                    if !seen.contains(&case.to_string()) {
                        break;
                    }
                    case = draw(&mut generator, primitive);
                }
                seen.insert(case.to_string());
                suite.add(&case);
            }
        }
        suite
    }

    fn add(&mut self, case: &Case) {
        let arguments = self.place_all(&case.arguments);
        let applied_to = self.place_all(&case.applied_to);
        self.calls.push(Call {
            primitive: case.primitive,
            arguments,
            applied_to,
        });
    }

    fn place_all(&mut self, expressions: &[Expression]) -> Vec<usize> {
        expressions
            .iter()
            .map(|expression| self.place(expression.to_string()))
            .collect()
    }

    /// The place of an expression in the pool.
    pub(crate) fn place(&mut self, text: String) -> usize {
        *self.places.entry(text).or_insert_with_key(|text| {
            self.pool.push(text.clone());
            self.pool.len() - 1
        })
    }

    /// What Python is to evaluate: one result a call.
    pub(crate) fn commands(&self) -> Vec<Command<'_>> {
        let pool = self.pool.iter().map(|text| Command::Pool(text));
        let calls = self
            .calls
            .iter()
            .map(|call| Command::Case(call.primitive.name(), &call.arguments, &call.applied_to));
        pool.chain(calls).collect()
    }

    /// The calls of each primitive in turn, with the place of the first.
    pub(crate) fn by_primitive(&self) -> impl Iterator<Item = (usize, &[Call])> {
        self.calls
            .chunk_by(|a, b| a.primitive == b.primitive)
            .scan(0, |next, calls| {
                let first = *next;
                *next += calls.len();
                Some((first, calls))
            })
    }

    fn list(&self, places: &[usize]) -> String {
        let texts: Vec<_> = places
            .iter()
            .map(|&place| self.pool[place].as_str())
            .collect();
        texts.join(", ")
    }

    /// The call as an expression of Python.
    pub(crate) fn expression(&self, call: &Call) -> String {
        let mut text = format!("{}({})", call.primitive, self.list(&call.arguments));
        if !call.applied_to.is_empty() {
            let _ = write!(text, "({})", self.list(&call.applied_to));
        }
        text
    }

    /// The call as a program.
    pub(crate) fn program(&self, call: &Call) -> String {
        let made = format!("{}({})", call.primitive, self.list(&call.arguments));
        if call.applied_to.is_empty() {
            return format!("def case(I):\n    return {made}\n");
        }
        let applied_to = self.list(&call.applied_to);
        format!("def case(I):\n    f = {made}\n    return f({applied_to})\n")
    }

    /// What our interpreter makes of the call's text.
    pub(crate) fn evaluate(&self, call: &Call, interpreter: &mut Interpreter) -> Ours {
        match parse_programs(&self.program(call)).pop() {
            Some(Ok(program)) => match interpreter.run(&program, Grid::default()) {
                Ok(value) => Ours::Value(value.to_string()),
                Err(error) => Ours::Error(error),
            },
            Some(Err(error)) => Ours::Unread(error.to_string()),
            None => Ours::Unread("no program".to_owned()),
        }
    }
}

/// What our side makes of an evaluation.
#[derive(Debug)]
pub(crate) enum Ours {
    /// The literal of the value.
    Value(String),
    /// The evaluation failed or was stopped.
    Error(EvalError),
    /// The text was not read, which is always a difference.
    Unread(String),
}
