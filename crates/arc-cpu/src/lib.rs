//! The compiled path: runs a first-order form as steps on slots, over bit planes.
//!
//! [`Compiled::new`] compiles a [`Form`] to steps, and a [`Machine`] runs them. Where the reference interpreter
//! works on cells, a step here works on words of 32 or 64 cells, in memory that is reused from run to run. A
//! value that does not fit planes, or an error that only the reference can describe (most of them), ends in
//! [`Stop::BailOut`] with the reason, and the caller evaluates the program with the reference.
//!
//! A step names its kernel, the slots that it reads and writes, and the regions that it runs. A slot is a
//! scalar, or the place of a grid, a patch or a list in the machine's memory. Kernels are compiled twice, for
//! what every CPU has and for wide vectors ([`Vectors`]); [`Compiled::new`] chooses the version that each step
//! calls. A program with a call that has no kernel for its types is [`Unsupported`], with line and reason.
//!
//! A machine has its own bounds: its steps, and the sizes of its memory. It does not count the elements of
//! values as the reference does, so it may get further than the reference, which ends at that bound. A machine
//! that reaches a bound of its own bails out.
//!
//! ```
//! use arc_cpu::{Compiled, Machine};
//! use arc_dsl::Grid;
//! use arc_text::parse_programs;
//! let text = "def f(I):\n    x1 = objects(I, T, F, T)\n    x2 = argmax(x1, size)\n    O = subgrid(x2, I)\n    return O\n";
//! let program = parse_programs(text).remove(0)?;
//! let compiled = Compiled::new(&arc_form::specialise(&program)?)?;
//! let mut machine = Machine::default();
//! let input = Grid::from_rows(&[[0, 3, 3, 0], [0, 3, 0, 0], [0, 0, 0, 5]])?;
//! let output = machine.run(&compiled, &input)?.value()?;
//! assert_eq!(output.to_string(), "((3, 3), (3, 0))");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Modules, from the form to a value:
//!
//! - compiling: `lower` (the form to steps), `convert` (between representations), `program` (steps and regions);
//! - running: `machine`, `execute`, `memory`, `slot`, `bail_out`;
//! - kernels: `ops` by family, `selection` (which kernel a call gets), `kernel` (how they are compiled twice),
//!   `lanes` (vectorised loops), `elements` and `order` for containers;
//! - data: `planes` (grids and patches as bits), `values` (in and out), `verdict` (before there is any);
//! - programs that grow: [`batt`].

#![allow(
    clippy::inline_always,
    reason = "only what is inlined is compiled for the vectors of its caller"
)]

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::planes::Tile;
use arc_dsl::{ErrorKind, EvalError, Grid, Limit, Value};
use arc_form::{Form, Representation, Target, Type};

mod bail_out;
pub mod batt;
mod choice;
mod convert;
mod definition;
mod elements;
mod exact;
mod execute;
mod kernel;
mod lanes;
mod lower;
mod machine;
mod memory;
mod ops;
mod order;
mod planes;
mod program;
mod selection;
mod slot;
mod values;
mod verdict;

pub use bail_out::{BailOut, Unsupported};
pub use batt::{Batt, Bounds, Pushed};

use lower::Lowering;
pub use machine::Machine;
pub use program::Vectors;
use program::{Code, Region};
use slot::Slot;
pub use verdict::Verdict;

/// The most cells of a grid that a [`Machine`] can hold.
pub const GRID_CELLS: u64 = (planes::SIDE * planes::SIDE) as u64;

/// The representations and the window that a [`Machine`] supports: all that a plan knows of it.
pub const TARGET: Target = Target {
    name: "the CPU",
    representations: &Representation::ALL,
    window: Some(planes::SIDE),
};

/// Compiles forms, one after the other, in memory that it keeps: for a short program, allocating it is a good
/// part of the work. Nothing carries over from one form to the next.
#[derive(Debug)]
pub struct Compiler {
    lowering: Lowering,
}

impl Default for Compiler {
    /// For the widest vectors that this CPU has.
    fn default() -> Self {
        Self::new(Vectors::detect())
    }
}

impl Compiler {
    /// For these vectors, or for the widest that the CPU has if it lacks them.
    pub fn new(vectors: Vectors) -> Self {
        Self {
            lowering: Lowering::new(vectors),
        }
    }

    /// Compiles the form to steps.
    pub fn compile(&mut self, form: &Form) -> Result<Compiled, Unsupported> {
        static PROGRAMS: AtomicU64 = AtomicU64::new(1);
        if !form.is_program() {
            return Err(Unsupported {
                line: 0,
                reason: "a form that takes anything but one grid".to_owned(),
            });
        }
        Ok(Compiled {
            code: self.lowering.lower(form)?,
            id: PROGRAMS.fetch_add(1, Ordering::Relaxed),
            verdict: None,
        })
    }

    /// Compiles the form with its [verdict](Verdict), which pays for a program that is often wrong.
    pub fn compile_with_verdict(&mut self, form: &Form) -> Result<Compiled, Unsupported> {
        let mut compiled = self.compile(form)?;
        compiled.verdict = Verdict::new(form, self).map(Box::new);
        Ok(compiled)
    }
}

/// A program as a [`Machine`] runs it.
#[derive(Debug, Clone)]
pub struct Compiled {
    code: Code,
    /// Identifies the program: a machine keeps the constants of the last one that it ran.
    id: u64,
    verdict: Option<Box<Verdict>>,
}

impl Compiled {
    /// Compiles the form to steps, for the widest vectors that this CPU has.
    pub fn new(form: &Form) -> Result<Self, Unsupported> {
        Self::with_vectors(form, Vectors::detect())
    }

    /// Compiles the form to steps for these vectors, or for the widest that the CPU has if it lacks them.
    pub fn with_vectors(form: &Form, vectors: Vectors) -> Result<Self, Unsupported> {
        Compiler::new(vectors).compile(form)
    }

    /// Prefetches its memory, before a [`Machine`] runs it for the first time in a while. This changes nothing
    /// but the time that the run takes.
    pub fn prefetch(&self) {
        let code = &self.code;
        kernel::prefetch(&code.steps);
        kernel::prefetch(&code.regions);
        kernel::prefetch(&code.constants);
        kernel::prefetch(&code.endings);
        kernel::prefetch(&code.types);
    }

    /// The type of its result.
    pub fn output(&self) -> &Type {
        &self.code.output
    }

    /// How many steps it has.
    pub fn len(&self) -> usize {
        self.code.steps.len()
    }

    /// Whether it has no step: its output is its input, or is a constant.
    pub fn is_empty(&self) -> bool {
        self.code.steps.is_empty()
    }
}

/// Why an evaluation gave no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The program fails on this input, as it does in the reference.
    Error(EvalError),
    /// Only the reference can evaluate it.
    BailOut(BailOut),
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stop::Error(error) => error.fmt(f),
            Stop::BailOut(bail_out) => write!(f, "bailed out: {bail_out}"),
        }
    }
}

impl std::error::Error for Stop {}

/// The result of an evaluation; it lies in the machine until the next run.
#[derive(Debug)]
pub struct Output<'m> {
    machine: &'m mut Machine,
    code: &'m Code,
    slot: Slot,
}

impl<'m> Output<'m> {
    fn new(machine: &'m mut Machine, code: &'m Code, slot: Slot) -> Self {
        Self {
            machine,
            code,
            slot,
        }
    }

    /// The value. A set in it that can be in several orders has that of Python; if that is not found, it is left to the
    /// reference.
    pub fn value(self) -> Result<Value, Stop> {
        let Code {
            output,
            regions,
            types,
            ..
        } = self.code;
        if !definition::has_sets(output) {
            return Ok(self.unordered_value());
        }
        let number = types.iter().position(|ty| ty == output).unwrap_or(0);
        let slot = regions[0].result.into();
        let value = self.machine.exact_value(self.code, slot, number as u32);
        value.map_err(Stop::BailOut)
    }

    /// The value, its sets in any order.
    pub(crate) fn unordered_value(&self) -> Value {
        let value = self.machine.value(&self.code.output, self.slot);
        value.unwrap_or(Value::Nothing)
    }

    /// Whether it equals this grid. A machine never returns a grid that does not fit planes.
    pub fn equals(&self, grid: &Grid) -> bool {
        match &self.code.output {
            Type::Grid => {
                let found = self.machine.memory.tiles.get(self.slot);
                if (found.height as usize, found.width as usize) != (grid.height(), grid.width()) {
                    return false;
                }
                let mut tile = Tile::default();
                kernel::pack(&mut tile, grid).is_ok() && *found == tile
            }
            Type::Tuple(row) if **row == Type::tuple_of(Type::Int) => {
                self.machine.rows_are(self.slot, grid)
            }
            ty if ty.may_be_grid() => self.unordered_value().is_grid(grid),
            _ => false,
        }
    }
}

/// Prefetches memory that is read soon: a grid that a [`Machine`] runs on next, say, or one that an [`Output`]
/// is compared with. This changes nothing but the time that the read takes.
pub fn prefetch<T>(items: &[T]) {
    kernel::prefetch(items);
}

impl Machine {
    /// How often the last run asked for the order of a set. Finding it allocates.
    pub fn orders_asked(&self) -> u32 {
        self.known.asked
    }

    /// Evaluates the program on this input.
    pub fn run<'m>(&'m mut self, program: &'m Compiled, input: &Grid) -> Result<Output<'m>, Stop> {
        (self.tries_left, self.narrows) = (0, false);
        match self.evaluate(program, input) {
            Ok(slot) => Ok(Output::new(self, &program.code, slot)),
            Err(bail_out) => Err(self.stop(program, bail_out)),
        }
    }

    /// The same, or nothing if the output is known to be another grid than `expected`: by the program's
    /// [verdict](Self::is_excluded), or because it is one whatever the order of a set is.
    pub fn run_against<'m>(
        &'m mut self,
        program: &'m Compiled,
        input: &Grid,
        expected: &Grid,
    ) -> Result<Option<Output<'m>>, Stop> {
        if let Some(verdict) = &program.verdict
            && self
                .is_excluded(verdict, input, expected)
                .map_err(Stop::Error)?
        {
            return Ok(None);
        }
        (self.tries_left, self.narrows) = (choice::MOST_TRIES, true);
        let mut result = self.evaluate(program, input);
        while let (Err(BailOut::Choice), Some(step)) = (result, self.failed) {
            if self.is_wrong(program, expected, None) {
                return Ok(None);
            }
            self.narrow();
            let rest = Region {
                start: step,
                ..program.code.regions[0]
            };
            result = self
                .region(&program.code, &rest)
                .and_then(|slot| self.check_weight(&program.code.output, slot));
        }
        match result {
            Ok(slot) => Ok(Some(Output::new(self, &program.code, slot))),
            Err(bail_out) => Err(self.stop(program, bail_out)),
        }
    }

    #[inline(always)]
    fn evaluate(&mut self, program: &Compiled, input: &Grid) -> Result<Slot, BailOut> {
        self.load(program)?;
        let (_, tile) = self.memory.tiles.next()?;
        kernel::pack(tile, input)?;
        self.slots[0] = self.memory.tiles.commit();
        (self.fuel, self.calls) = (self.most_steps, 0);
        self.orders_left = definition::MOST_ORDERS;
        self.known.clear();
        self.failed = None;
        self.stack.clear();
        self.keys.clear();
        let code = &program.code;
        let slot = self.region(code, &code.regions[0])?;
        self.check_weight(&code.output, slot)
    }

    /// Puts the program's constants into the memory, unless they are still there from the last run, and forgets
    /// everything else.
    fn load(&mut self, program: &Compiled) -> Result<(), BailOut> {
        if let Some((id, mark)) = self.loaded
            && id == program.id
        {
            self.memory.release(mark);
            return Ok(());
        }
        self.loaded = None;
        self.memory.clear();
        self.slots.clear();
        self.slots
            .resize(program.code.slots as usize, Slot::default());
        self.lanes.reserve(program.code.columns);
        for (slot, value, ty) in &program.code.constants {
            self.stack.clear();
            self.slots[*slot as usize] = self.put(value, ty)?;
        }
        self.loaded = Some((program.id, self.memory.mark()));
        Ok(())
    }

    #[cold]
    fn stop(&self, program: &Compiled, bail_out: BailOut) -> Stop {
        let limit = (bail_out == BailOut::Limit).then_some(ErrorKind::Limit(Limit::Steps));
        match (bail_out.error().or(limit), self.failed) {
            (Some(kind), Some(step)) => {
                let origin = &program.code.origins[step as usize];
                Stop::Error(EvalError {
                    line: origin.line,
                    primitive: origin.primitive,
                    kind,
                })
            }
            _ => Stop::BailOut(bail_out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arc_dsl::{Limits, Primitive, ProgramBuilder};

    /// The result is 900 million grids, of which the machine's memory holds one.
    #[test]
    fn what_weighs_more_than_a_value_may_is_no_result() {
        let text =
            "def f(I):\n    x1 = repeat(I, 30000)\n    x2 = repeat(x1, 30000)\n    return x2\n";
        let program = arc_text::parse_programs(text).remove(0).unwrap();
        let form = arc_form::specialise(&program).unwrap();
        let compiled = Compiled::new(&form).unwrap();
        let input = Grid::filled(2, 2, 1);
        let mut machine = Machine::default();
        let result = machine.run(&compiled, &input).and_then(Output::value);
        assert!(
            matches!(result, Err(Stop::BailOut(BailOut::Memory))),
            "{result:?}"
        );
        let programs = std::slice::from_ref(&program);
        let inputs = std::slice::from_ref(&input);
        let (batt, merged) = Batt::of(programs, inputs, &[], Bounds::default());
        let result = batt.result(merged[0].as_ref().unwrap(), 0);
        assert!(result.is_err_and(|error| error.limit().is_some()));
        // 90,000 are within the bound.
        let text = text.replace("x1, 30000", "x1, 3");
        let program = arc_text::parse_programs(&text).remove(0).unwrap();
        let compiled = Compiled::new(&arc_form::specialise(&program).unwrap()).unwrap();
        let value = machine.run(&compiled, &input).unwrap().value().unwrap();
        let reference = arc_dsl::Interpreter::default()
            .run(&program, input)
            .unwrap();
        assert!(value == reference);
    }

    #[test]
    fn what_no_use_of_a_large_patch_sees_need_not_fit() {
        for lines in [
            &[
                "x1 = power(outbox, 40)",
                "x2 = x1(initset(UNITY))",
                "O = fill(I, 3, x2)",
            ][..],
            &[
                "x1 = compose(power(outbox, 33), initset)",
                "x2 = fork(intersection, x1, compose(hfrontier, identity))",
                "O = fill(I, 3, mapply(x2, ofcolor(I, ONE)))",
            ],
            &[
                "x1 = upscale(asobject(I), 5)",
                "O = underpaint(hconcat(I, I), x1)",
            ],
        ] {
            let text = format!("def f(I):\n    {}\n    return O\n", lines.join("\n    "));
            let answered = ops::testing::check_text(&text, 8, 120);
            assert!(answered > 100, "{answered}: {text}");
        }
    }

    /// Python tells equal sets of a tuple apart by their orders.
    #[test]
    fn equal_sets_of_a_tuple_may_be_in_different_orders() {
        let text = "
def f(I):
    x1 = (frozenset({(15, 2), (15, 0), (15, 8)}), frozenset(((15, 0), (15, 8), (15, 2))))
    x2 = valmin(x1, last)
    return x2
";
        let program = arc_text::parse_programs(text).remove(0).unwrap();
        let unfolded = arc_form::Options {
            fold: false,
            ..arc_form::Options::default()
        };
        let form = arc_form::specialise_with(&program, &unfolded).unwrap();
        let compiled = Compiled::new(&form).unwrap();
        let input = Grid::filled(1, 1, 0);
        let expected = arc_dsl::Interpreter::default().run(&program, input.clone());
        match Machine::default()
            .run(&compiled, &input)
            .and_then(Output::value)
        {
            Err(Stop::BailOut(_)) => {}
            found => assert_eq!(found.unwrap(), expected.unwrap()),
        }
        let text = "
def f(I):
    x1 = ofcolor(I, ONE)
    x2 = difference(asindices(I), x1)
    x3 = astuple(combine(x1, x2), combine(x2, x1))
    x4 = valmax(x3, last)
    x5 = apply(first, x3)
    return astuple(x4, x5)
";
        let answered = ops::testing::check_text(text, 10, 200);
        assert!(answered > 0, "{answered}");
    }

    /// The reference calls three primitives for each element.
    #[test]
    fn what_calls_more_primitives_than_there_may_be_steps_is_at_the_limit() {
        let text = "
def f(I):
    x1 = asindices(I)
    x2 = apply(fork(multiply, first, last), x1)
    x3 = apply(fork(subtract, first, last), x1)
    return x3
";
        let program = arc_text::parse_programs(text).remove(0).unwrap();
        let compiled = Compiled::new(&arc_form::specialise(&program).unwrap()).unwrap();
        let input = Grid::filled(30, 30, 1);
        let limits = Limits {
            max_steps: 2_000,
            ..Limits::default()
        };
        let reference = arc_dsl::Interpreter::new(limits.clone()).run(&program, input.clone());
        let limit = Some(Limit::Steps);
        assert_eq!(reference.unwrap_err().limit(), limit);
        let mut machine = Machine::new(&limits);
        match machine.run(&compiled, &input).and_then(Output::value) {
            Err(Stop::Error(error)) => assert_eq!((error.limit(), error.line), (limit, 4)),
            other => panic!("{other:?}"),
        }
        let mut machine = Machine::default();
        assert!(machine.run(&compiled, &input).is_ok());
    }

    /// Traversing these nested lists would take minutes, or more memory than there is.
    #[test]
    fn lists_in_lists_of_too_many_elements_are_left_to_the_reference() {
        for last in [
            "size(dedupe(b))",
            "equality(b, repeat(repeat(hmirror(I), 30000), 30000))",
            "contained(repeat(hmirror(I), 30000), b)",
            "size(order(b, identity))",
            "mostcommon(b)",
            "size(merge(b))",
            "size(apply(dedupe, b))",
            "size(astuple(b, b))",
        ] {
            let text =
                format!("def f(I):\n    b = repeat(repeat(I, 30000), 30000)\n    return {last}\n");
            let program = arc_text::parse_programs(&text).remove(0).unwrap();
            let compiled = Compiled::new(&arc_form::specialise(&program).unwrap()).unwrap();
            let mut machine = Machine::default();
            let result = machine.run(&compiled, &Grid::filled(2, 2, 1));
            assert!(
                matches!(result, Err(Stop::BailOut(BailOut::Memory))),
                "{text}"
            );
        }
    }

    #[test]
    fn outputs_are_compared_with_grids() {
        let grid = |rows: &[[i32; 3]]| Grid::from_rows(rows).unwrap();
        let input = grid(&[[1, 2, 3], [4, 5, -1]]);
        let mut machine = Machine::default();
        let mut output_is = |primitives: &[Primitive], expected: &Grid| {
            let mut builder = ProgramBuilder::new("f");
            let mut last = builder.input();
            for &primitive in primitives {
                last = builder.call(primitive, [last]).unwrap();
            }
            let form = arc_form::specialise(&builder.finish(last).unwrap()).unwrap();
            let program = Compiled::new(&form).unwrap();
            let output = machine.run(&program, &input).unwrap();
            output.equals(expected)
        };
        let hmirror = [Primitive::Hmirror];
        assert!(output_is(&hmirror, &grid(&[[4, 5, -1], [1, 2, 3]])));
        assert!(!output_is(&hmirror, &grid(&[[4, 5, 15], [1, 2, 3]])));
        assert!(!output_is(&hmirror, &grid(&[[4, 5, -1]])));
        assert!(!output_is(&hmirror, &Grid::filled(33, 1, 0)));
        assert!(output_is(&[], &input));
        assert!(!output_is(&[Primitive::Height], &input));
        let tuple_of_rows = [Primitive::Dedupe];
        assert!(output_is(&tuple_of_rows, &input));
        assert!(!output_is(&tuple_of_rows, &Grid::filled(2, 3, 0)));
    }
}
