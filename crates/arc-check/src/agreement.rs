//! Whether the evaluators agree: the reference interpreter, the form evaluator, the compiled path, batts.
//!
//! A [`Checker`] runs a program on an input with every evaluator of the CPU and compares the results. [`random`]
//! generates programs and inputs to check by the thousand, and a [`Tally`] counts. A disagreement comes with the
//! program and the input, and [`Disagreement::shrunk`] reduces both as far as possible while the evaluators still
//! disagree.
//!
//! ```
//! use arc_check::agreement::{Checker, Prepared, Tally};
//! use arc_dsl::Grid;
//! use arc_text::parse_programs;
//! let program = parse_programs("def f(I):\n    return vmirror(I)").remove(0)?;
//! let prepared = Prepared::new(&program);
//! let mut tally = Tally::default();
//! Checker::default().check(&prepared, &Grid::from_rows(&[[1, 2]])?, &mut tally);
//! assert_eq!((tally.evaluations, tally.disagreements.len()), (1, 0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What agreement is
//!
//! Two values agree if they are equal and print as the same text. Two errors agree if they are of the same kind (the
//! same variant; for limits the same limit) and have the same line. Bail-outs are counted but not compared, and
//! neither is an evaluation in which the reference hits a limit that the others count differently (see [`arc_form`]).
//! A panic never agrees.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::shrink;
use arc_cpu::batt::{Batt, Bounds, Refused};
use arc_cpu::{Compiled, Compiler, Machine, Unsupported, Vectors, Verdict};
use arc_dsl::{ErrorKind, EvalError, Grid, Interpreter, Limit, Limits, Program, Value};
use arc_form::{Evaluator, Form, Options, Unspecialised};

mod cases;
mod tally;

pub use cases::{CHUNK, random};
pub(crate) use cases::{grid, options};
pub(crate) use tally::add_counts;
pub use tally::{PathCounts, Reasons, Tally};

/// An evaluator that is compared with the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Path {
    /// The form's own evaluator.
    Form,
    /// The compiled path on vectors that every CPU has.
    Baseline,
    /// The compiled path on wide vectors, if the CPU has them.
    Wide,
    /// A batt, in which the program shares calls with those checked before it on the same input.
    Merged,
    /// The device that the CPU emulates, see [`everywhere`](crate::everywhere).
    Emulated,
    /// The device's PTX, interpreted.
    Interpreted,
}

impl Path {
    /// The evaluators that a [`Checker`] runs.
    pub const HOST: &'static [Path] = &[Path::Form, Path::Baseline, Path::Wide, Path::Merged];

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Path::Form => "form",
            Path::Baseline => "compiled",
            Path::Wide => "compiled, wide",
            Path::Merged => "merged",
            Path::Emulated => "emulated",
            Path::Interpreted => "interpreted",
        }
    }

    /// Whether this machine supports it.
    pub fn is_here(self) -> bool {
        self != Path::Wide || Vectors::detect() == Vectors::Wide
    }
}

/// Why there is no form or no compiled code.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Missing {
    Form(Unspecialised),
    Compiled(Unsupported),
    Panic(String),
}

/// A program with its form and compiled code.
#[derive(Debug, Clone)]
pub struct Prepared<'p> {
    program: &'p Program,
    options: Options,
    form: Result<Form, Missing>,
    baseline: Result<Compiled, Missing>,
    wide: Option<Result<Compiled, Missing>>,
    verdict: Option<Arc<Verdict>>,
}

impl<'p> Prepared<'p> {
    /// Builds the form of the program and compiles it.
    pub fn new(program: &'p Program) -> Self {
        Self::with(program, &Options::default())
    }

    /// The same with a form built with these options.
    ///
    /// Without folding, calls on known values stay in the form, so the evaluators evaluate them.
    pub fn with(program: &'p Program, options: &Options) -> Self {
        let form = caught(|| arc_form::specialise_with(program, options).map_err(Missing::Form))
            .unwrap_or_else(|panic| Err(Missing::Panic(panic)));
        let compile = |vectors| match &form {
            Err(missing) => Err(missing.clone()),
            Ok(form) => caught(|| Compiled::with_vectors(form, vectors).map_err(Missing::Compiled))
                .unwrap_or_else(|panic| Err(Missing::Panic(panic))),
        };
        let baseline = compile(Vectors::Baseline);
        let wide = Path::Wide.is_here().then(|| compile(Vectors::Wide));
        let verdict = form
            .as_ref()
            .ok()
            .and_then(|form| caught(|| Verdict::new(form, &mut Compiler::default())).ok()?);
        Self {
            program,
            options: options.clone(),
            form,
            baseline,
            wide,
            verdict: verdict.map(Arc::new),
        }
    }

    /// The nesting depth of the loops in its form; `None` if it has none.
    pub fn loop_depth(&self) -> Option<usize> {
        let form = self.form.as_ref().ok();
        form.map(|form| form.body.loop_depth())
    }
}

/// The result of an evaluator.
#[derive(Debug, Clone)]
pub enum Gave {
    /// A value.
    Value(Value),
    /// An error of the program.
    Error(EvalError),
    /// It bailed out to the reference, for this reason.
    BailedOut(String),
    /// The program has no form, for this reason.
    NoForm(String),
    /// The form is not compiled, for this reason.
    NotCompiled(String),
    /// It panicked with this message.
    Panic(String),
}

impl fmt::Display for Gave {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Gave::Value(value) => value.fmt(f),
            Gave::Error(error) => write!(f, "error: {error}"),
            Gave::BailedOut(reason) => write!(f, "bailed out: {reason}"),
            Gave::NoForm(reason) => write!(f, "no form: {reason}"),
            Gave::NotCompiled(reason) => write!(f, "not compiled: {reason}"),
            Gave::Panic(message) => write!(f, "panic: {message}"),
        }
    }
}

/// The result of comparing an evaluator with the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Comparison {
    /// The same value.
    SameValue,
    /// The same error.
    SameError,
    /// Nothing to compare: it bailed out, or there is no form or compiled code.
    Nothing,
    /// The reference hit a limit that this evaluator counts differently.
    Bound,
    /// They disagree.
    Differs,
}

impl Comparison {
    /// Whether both gave the same value or error.
    pub(crate) fn is_same(self) -> bool {
        matches!(self, Comparison::SameValue | Comparison::SameError)
    }
}

/// Runs programs with every evaluator of the CPU; keeps its buffers between runs.
#[derive(Debug, Default)]
pub struct Checker {
    interpreter: Interpreter,
    evaluator: Evaluator,
    /// One machine for both versions: what it ran before must not matter.
    machine: Machine,
    /// The batt of the last input, restarted for another one; what it ran before must not matter either.
    batt: Option<Box<Batt>>,
    input: Option<Grid>,
}

/// The maximum memory of a batt; one that is full is replaced.
const BATT_BYTES: usize = 64 << 20;

impl Checker {
    /// A checker whose evaluators all have these limits.
    pub fn with_limits(limits: &Limits) -> Self {
        Self {
            interpreter: Interpreter::new(limits.clone()),
            evaluator: Evaluator::new(limits.clone()),
            machine: Machine::new(limits),
            batt: None,
            input: None,
        }
    }

    /// Runs the program on the input with every evaluator and counts the results. The tally keeps the evaluation if
    /// an evaluator disagrees with the reference.
    ///
    /// Returns the result of the reference.
    pub fn check(
        &mut self,
        prepared: &Prepared<'_>,
        input: &Grid,
        tally: &mut Tally,
    ) -> Result<Value, EvalError> {
        self.check_all(prepared, input, tally).0
    }

    /// Like [`Checker::check`], and also returns whether all evaluators gave the reference's result.
    pub(crate) fn check_all(
        &mut self,
        prepared: &Prepared<'_>,
        input: &Grid,
        tally: &mut Tally,
    ) -> (Result<Value, EvalError>, bool) {
        let reference = self.interpreter.run(prepared.program, input.clone());
        let (mut differs, mut all) = (false, true);
        for &path in Path::HOST {
            if let Some(gave) = self.run(path, prepared, input) {
                let comparison = compare(path, &reference, &gave);
                differs |= comparison == Comparison::Differs;
                all &= comparison.is_same();
                tally.count(path, &gave, comparison);
            }
        }
        if let Some(verdict) = &prepared.verdict {
            differs |= !self.agrees_with(verdict, input, &reference);
        }
        tally.evaluations += 1;
        if differs {
            tally.disagreements.push(Disagreement {
                program: prepared.program.clone(),
                input: input.clone(),
                options: prepared.options.clone(),
            });
        }
        (reference, all)
    }

    /// Whether the verdict on the reference's own output, and on a grid that few programs give, follows from its result.
    fn agrees_with(
        &mut self,
        verdict: &Verdict,
        input: &Grid,
        reference: &Result<Value, EvalError>,
    ) -> bool {
        let output = reference.as_ref().ok().and_then(Value::as_grid);
        let other = Grid::filled(1, 1, 14);
        let mut all = output.as_deref().into_iter().chain([&other]);
        all.all(|expected| {
            let machine = &mut self.machine;
            match (
                caught(|| machine.is_excluded(verdict, input, expected)),
                reference,
            ) {
                (Ok(Ok(false)), _) => true,
                (Ok(Ok(true)), Ok(value)) => !value.is_grid(expected),
                (Ok(_), Err(error)) if error.limit().is_some() => true,
                (Ok(Err(found)), Err(error)) => {
                    (found.kind, found.line) == (error.kind, error.line)
                }
                _ => {
                    self.machine = Machine::new(self.interpreter.limits());
                    false
                }
            }
        })
    }

    fn run(&mut self, path: Path, prepared: &Prepared<'_>, input: &Grid) -> Option<Gave> {
        match path {
            Path::Form => Some(match &prepared.form {
                Err(missing) => missing.gave(),
                Ok(form) => {
                    let evaluator = &mut self.evaluator;
                    match caught(|| evaluator.run(form, input)) {
                        Ok(Ok(value)) => Gave::Value(value),
                        Ok(Err(arc_form::Stop::Error(error))) => Gave::Error(error),
                        Ok(Err(arc_form::Stop::BailOut(why))) => Gave::BailedOut(why.to_string()),
                        Err(panic) => Gave::Panic(panic),
                    }
                }
            }),
            Path::Baseline => Some(self.run_compiled(&prepared.baseline, input)),
            Path::Wide => prepared
                .wide
                .as_ref()
                .map(|compiled| self.run_compiled(compiled, input)),
            Path::Merged => Some(self.run_merged(prepared.program, input)),
            // Devices get many evaluations at a time.
            Path::Emulated | Path::Interpreted => None,
        }
    }

    fn run_compiled(&mut self, compiled: &Result<Compiled, Missing>, input: &Grid) -> Gave {
        let compiled = match compiled {
            Ok(compiled) => compiled,
            Err(missing) => return missing.gave(),
        };
        let machine = &mut self.machine;
        match caught(|| machine.run(compiled, input)?.value()) {
            Ok(Ok(value)) => Gave::Value(value),
            Ok(Err(arc_cpu::Stop::Error(error))) => Gave::Error(error),
            Ok(Err(arc_cpu::Stop::BailOut(bail_out))) => Gave::BailedOut(bail_out.to_string()),
            Err(panic) => {
                // The panic may have left the machine in an inconsistent state.
                self.machine = Machine::new(self.interpreter.limits());
                Gave::Panic(panic)
            }
        }
    }

    fn run_merged(&mut self, program: &Program, input: &Grid) -> Gave {
        for _ in 0..2 {
            let limits = self.interpreter.limits();
            let batt = self.batt.get_or_insert_with(|| {
                self.input = None;
                let bounds = Bounds {
                    max_bytes: BATT_BYTES,
                    call: limits.clone(),
                    ..Bounds::default()
                };
                Box::new(Batt::new(&[], &[], bounds))
            });
            if self.input.as_ref() != Some(input) {
                batt.restart(std::slice::from_ref(input), &[]);
                self.input = Some(input.clone());
            }
            let gave = caught(|| {
                let merged = batt.add(program)?;
                // A batt applies its limits to each call, so the sum is checked here.
                let is_over = merged.steps() > limits.max_steps;
                Ok((!is_over).then(|| batt.result(&merged, 0)))
            });
            return match gave {
                Ok(Ok(Some(Ok(value)))) => Gave::Value(value),
                Ok(Ok(Some(Err(error)))) if error.limit().is_none() => Gave::Error(error),
                Ok(Ok(_)) => Gave::BailedOut("a limit".to_owned()),
                Ok(Err(Refused::Full(_))) => {
                    // A new batt has room, so the program is tried again.
                    self.batt = None;
                    continue;
                }
                Ok(Err(refused)) => Gave::NotCompiled(why(&refused)),
                Err(panic) => {
                    self.batt = None;
                    Gave::Panic(panic)
                }
            };
        }
        Gave::BailedOut("the batt is full".to_owned())
    }
}

impl Missing {
    fn gave(&self) -> Gave {
        match self {
            Missing::Form(error) => Gave::NoForm(error.reason.to_string()),
            Missing::Compiled(error) => Gave::NotCompiled(error.reason.clone()),
            Missing::Panic(message) => Gave::Panic(message.clone()),
        }
    }
}

/// Why a batt rejects a program, without the part that differs between programs.
fn why(refused: &Refused) -> String {
    match refused {
        Refused::BailOut { reason, .. } => reason.to_string(),
        refused => {
            let text = refused.to_string();
            let reason = text.split_once(": ").map(|(_, reason)| reason.to_owned());
            reason.unwrap_or(text)
        }
    }
}

/// The result of `run`, or the message of its panic.
pub(crate) fn caught<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic: Box<dyn Any + Send>| {
        match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
            (Some(message), _) => (*message).to_owned(),
            (_, Some(message)) => message.clone(),
            _ => "no message".to_owned(),
        }
    })
}

/// Whether the result of this evaluator is a disagreement with the reference.
pub fn differs(path: Path, reference: &Result<Value, EvalError>, gave: &Gave) -> bool {
    compare(path, reference, gave) == Comparison::Differs
}

fn compare(path: Path, reference: &Result<Value, EvalError>, gave: &Gave) -> Comparison {
    match (reference, gave) {
        (_, Gave::Panic(_)) => Comparison::Differs,
        (_, Gave::BailedOut(_) | Gave::NoForm(_) | Gave::NotCompiled(_)) => Comparison::Nothing,
        // A function equals only itself, and the batt has created its own.
        (Ok(a), Gave::Value(b))
            if (a == b || path == Path::Merged) && a.to_string() == b.to_string() =>
        {
            Comparison::SameValue
        }
        (Err(a), Gave::Error(b)) if a.line == b.line && same_kind(a.kind, b.kind) => {
            Comparison::SameError
        }
        (Err(error), _) if is_counted_differently(error) => Comparison::Bound,
        _ => Comparison::Differs,
    }
}

/// Whether both are the same variant and, for limits, the same limit.
fn same_kind(a: ErrorKind, b: ErrorKind) -> bool {
    match (a, b) {
        (ErrorKind::Limit(a), ErrorKind::Limit(b)) => a == b,
        (a, b) => std::mem::discriminant(&a) == std::mem::discriminant(&b),
    }
}

/// Whether the error is a limit that a form counts differently, so that it may get further.
pub(crate) fn is_counted_differently(error: &EvalError) -> bool {
    // Elements, since forms have no weight of functions; cells, since a step whose value is unused may compute a grid
    // that is too large.
    let limits = [
        Limit::Steps,
        Limit::Memory,
        Limit::Nesting,
        Limit::Elements,
        Limit::Cells,
    ];
    error.limit().is_some_and(|limit| limits.contains(&limit))
}

/// An evaluation on which an evaluator disagrees with the reference.
#[derive(Debug, Clone)]
pub struct Disagreement {
    /// The program.
    pub program: Program,
    /// The input.
    pub input: Grid,
    /// The options of its form.
    pub options: Options,
}

impl Disagreement {
    /// The smallest program and input found on which an evaluator still disagrees.
    #[must_use]
    pub fn shrunk(&self) -> Disagreement {
        let mut checker = Checker::default();
        let (program, input) = shrink(&self.program, &self.input, |program, input| {
            let mut tally = Tally::default();
            let prepared = Prepared::with(program, &self.options);
            let _ = checker.check(&prepared, input, &mut tally);
            !tally.disagreements.is_empty()
        });
        Disagreement {
            program,
            input,
            options: self.options.clone(),
        }
    }

    /// The primitives that it calls, ascending: they distinguish faults.
    pub fn primitives(&self) -> Vec<&'static str> {
        let mut names: Vec<_> = self
            .program
            .steps()
            .iter()
            .filter_map(|step| match step.callee {
                arc_dsl::Callee::Primitive(primitive) => Some(primitive.name()),
                arc_dsl::Callee::Typed(_) | arc_dsl::Callee::Slot(_) => None,
            })
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// The program, the input, and the result of each evaluator.
impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.program)?;
        writeln!(f, "input: {}", self.input)?;
        if !self.options.fold {
            writeln!(f, "form: without folding")?;
        }
        let mut checker = Checker::default();
        let prepared = Prepared::with(&self.program, &self.options);
        let reference = checker.interpreter.run(&self.program, self.input.clone());
        match &reference {
            Ok(value) => writeln!(f, "reference: {value}")?,
            Err(error) => writeln!(f, "reference: error: {error}")?,
        }
        for &path in Path::HOST {
            if let Some(gave) = checker.run(path, &prepared, &self.input) {
                writeln!(f, "{}: {gave}", path.name())?;
            }
        }
        if let Some(verdict) = &prepared.verdict
            && !checker.agrees_with(verdict, &self.input, &reference)
        {
            writeln!(f, "verdict: another one")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arc_text::parse_programs;

    fn error(line: u32, kind: ErrorKind) -> EvalError {
        EvalError {
            line,
            primitive: None,
            kind,
        }
    }

    #[test]
    fn values_agree_that_are_equal_and_print_alike() {
        let is = |a: Value, b: Value| compare(Path::Form, &Ok(a), &Gave::Value(b));
        assert_eq!(is(Value::Int(1), Value::Int(1)), Comparison::SameValue);
        assert_eq!(is(Value::Int(1), Value::Int(2)), Comparison::Differs);
        // These are equal as values, but differ.
        assert_eq!(is(Value::Int(1), Value::Bool(true)), Comparison::Differs);
    }

    #[test]
    fn errors_agree_that_are_of_one_kind_at_one_line() {
        let is = |a, b| compare(Path::Form, &Err(a), &Gave::Error(b));
        let (empty, none) = (ErrorKind::Empty, ErrorKind::NoMatch);
        assert_eq!(is(error(2, empty), error(2, empty)), Comparison::SameError);
        assert_eq!(is(error(2, empty), error(3, empty)), Comparison::Differs);
        assert_eq!(is(error(2, empty), error(2, none)), Comparison::Differs);
        let (colour, integer) = (Limit::Colour.into(), Limit::Integer.into());
        assert_eq!(is(error(2, colour), error(2, integer)), Comparison::Differs);
        let steps = error(2, Limit::Steps.into());
        assert_eq!(is(steps, error(4, empty)), Comparison::Bound);
        let value = Gave::Value(Value::Int(0));
        assert_eq!(
            compare(Path::Form, &Err(error(2, empty)), &value),
            Comparison::Differs
        );
        let gave = Gave::Error(error(2, empty));
        assert_eq!(
            compare(Path::Form, &Ok(Value::Int(0)), &gave),
            Comparison::Differs
        );
    }

    #[test]
    fn what_is_handed_back_is_no_disagreement_and_a_panic_is() {
        let value = Ok(Value::Int(0));
        let gave = [
            Gave::BailedOut(String::new()),
            Gave::NoForm(String::new()),
            Gave::NotCompiled(String::new()),
        ];
        for gave in gave {
            assert_eq!(compare(Path::Form, &value, &gave), Comparison::Nothing);
        }
        let panic = caught(|| panic!("{} of them", 3)).unwrap_err();
        assert_eq!(panic, "3 of them");
        assert_eq!(
            compare(Path::Form, &value, &Gave::Panic(panic)),
            Comparison::Differs
        );
    }

    #[test]
    fn a_disagreement_prints_as_program_input_and_results() {
        let text = "def f(I):\n    x1 = vmirror(I)\n    return x1\n";
        let disagreement = Disagreement {
            program: parse_programs(text).remove(0).unwrap(),
            input: Grid::from_rows(&[[1, 2]]).unwrap(),
            options: Options::default(),
        };
        let printed = disagreement.to_string();
        let expected = "\n\ninput: ((1, 2),)\nreference: ((2, 1),)\nform: ((2, 1),)\n";
        let expected = format!("{}{expected}compiled: ((2, 1),)\n", text.trim_end());
        assert!(printed.starts_with(&expected), "{printed}");
        assert_eq!(disagreement.primitives(), ["vmirror"]);
    }
}
