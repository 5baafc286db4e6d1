//! The cases, as text for both Python and our parser.

use std::collections::HashSet;

use anyhow::Result;
use arc_dsl::generate::{Expression, Generator};
use arc_dsl::{Dialect, Grid, Interpreter};
use arc_text::parse_programs_in;

use super::Called;
use super::compare::{self, Both, ComparedKind, Ours};
use super::python::{Command, Pool, Reference};

/// The number of grids from which the arguments are drawn, each with its patches.
const SCENES: usize = 620;

/// How often a repeated case is drawn again.
const DRAWS: usize = 8;

/// The processor seconds of a call in Python.
const SECONDS: u32 = 10;

/// Calls of primitives; arguments are indices into a pool of expressions.
#[derive(Debug, Default)]
pub(crate) struct Suite {
    pub(crate) dialect: Dialect,
    pub(crate) pool: Pool,
    pub(crate) calls: Vec<Call>,
}

/// A case with its arguments by index.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) primitive: Called,
    pub(crate) arguments: Vec<usize>,
    pub(crate) applied_to: Vec<usize>,
}

impl Suite {
    /// `count` cases of every primitive, distinct as far as the primitive has that many; a fifth of them have
    /// arguments of any type.
    pub(crate) fn generate(dialect: Dialect, seed: u64, count: usize) -> Self {
        let mut generator = Generator::with_scenes(seed, SCENES);
        let mut suite = Self {
            dialect,
            ..Self::default()
        };
        for primitive in Called::all(dialect) {
            let mut seen = HashSet::new();
            for number in 0..count {
                let any_types = number >= count - count / 5;
                let mut case = draw(&mut generator, primitive, any_types);
                for _ in 1..DRAWS {
                    if seen.contains(&case) {
                        case = draw(&mut generator, primitive, any_types);
                    }
                }
                let [arguments, applied_to] = case.clone().map(|texts| {
                    let places = texts.into_iter().map(|text| suite.pool.place(text));
                    places.collect()
                });
                suite.calls.push(Call {
                    primitive,
                    arguments,
                    applied_to,
                });
                seen.insert(case);
            }
        }
        suite
    }

    /// The results, one of ours and one list of Python's per call.
    pub(crate) fn evaluate(&self, reference: &Reference) -> Result<Vec<Both>> {
        // Python has one constant for equal displays of a text, so it reads calls with several as we do.
        let texts = self.calls.iter().map(|call| {
            let program = self.program(call).replacen("(I)", "()", 1);
            let has_several = program.matches('{').nth(1).is_some();
            has_several.then_some(program)
        });
        let texts: Vec<Option<String>> = texts.collect();
        let mut interpreter = Interpreter::default();
        let calls = self.calls.iter();
        let ours = calls.map(|call| self.evaluate_here(call, &mut interpreter));
        let ours = ours.collect();
        let called = |at: usize| Some(self.calls[at].primitive);
        let command = |at: usize| {
            let call = &self.calls[at];
            match &texts[at] {
                Some(program) => Command::Program(program, &[]),
                None => Command::Case(call.primitive.name(), &call.arguments, &call.applied_to),
            }
        };
        compare::evaluate(reference, SECONDS, &self.pool, ours, called, command)
    }

    /// A row for each family of primitives.
    pub(crate) fn compare(&self, results: &[Both]) -> Vec<ComparedKind> {
        let mut results = results.iter();
        let families = self
            .calls
            .chunk_by(|a, b| a.primitive.family() == b.primitive.family());
        let rows = families.map(|calls| {
            let mut row = ComparedKind::new(calls[0].primitive.family());
            for (call, (ours, theirs)) in calls.iter().zip(&mut results) {
                row.add(Some(call.primitive), ours, theirs, || self.program(call));
            }
            row
        });
        rows.collect()
    }

    fn list(&self, places: &[usize]) -> String {
        let texts: Vec<_> = places
            .iter()
            .map(|&place| self.pool.texts[place].as_str())
            .collect();
        texts.join(", ")
    }

    /// The call as a program.
    fn program(&self, call: &Call) -> String {
        let made = format!("{}({})", call.primitive, self.list(&call.arguments));
        if call.applied_to.is_empty() {
            return format!("def case(I):\n    return {made}\n");
        }
        let applied_to = self.list(&call.applied_to);
        format!("def case(I):\n    f = {made}\n    return f({applied_to})\n")
    }

    /// Our interpreter's result for the call's text.
    fn evaluate_here(&self, call: &Call, interpreter: &mut Interpreter) -> Ours {
        match parse_programs_in(self.dialect, &self.program(call)).pop() {
            Some(Ok(program)) => interpreter.run(&program, Grid::default()).into(),
            Some(Err(error)) => Ours::Unread(error.to_string()),
            None => Ours::Unread("no program".to_owned()),
        }
    }
}

/// The arguments of a case, and those of a call of its result, as text.
fn draw(generator: &mut Generator, primitive: Called, any_types: bool) -> [Vec<String>; 2] {
    let texts = |all: &[Expression]| all.iter().map(ToString::to_string).collect();
    match primitive {
        Called::Public(primitive) => {
            let case = if any_types {
                generator.case_of_any_types(primitive)
            } else {
                generator.case(primitive)
            };
            [texts(&case.arguments), texts(&case.applied_to)]
        }
        Called::Typed(primitive) => {
            let case = if any_types {
                generator.typed_case_of_any_types(primitive)
            } else {
                generator.typed_case(primitive)
            };
            [case.arguments, case.applied_to]
        }
    }
}
