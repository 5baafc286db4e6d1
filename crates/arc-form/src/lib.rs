//! The first-order form: typed, single-assignment code with loops and no function value left.
//!
//! It stands between program text and every fast executor. [`specialise()`] builds the [`Form`] of a
//! [`Program`](arc_dsl::Program) by evaluating it symbolically: function values are compile-time
//! objects, and applying one is inlining it. [`Form`] prints as text that [`parse()`] reads back,
//! [`verify`](Form::verify) checks any instance, and the [`Evaluator`] runs it the obvious way.
//!
//! ```
//! use arc_dsl::{Grid, parse_programs};
//! let text = "
//! def solve_rings(I):
//!     x1 = objects(I, T, F, T)
//!     x2 = compose(outbox, first)
//!     x3 = fork(recolor, color, outbox)
//!     x4 = mapply(x3, x1)
//!     O = paint(I, x4)
//!     return O
//! ";
//! let program = parse_programs(text).remove(0)?;
//! let form = arc_form::specialise(&program)?;
//! assert_eq!(form.to_string(), "\
//! form solve_rings(v0: grid):
//!   v1: set<object> = objects(v0, True, False, True) @3
//!   v2: object = mapply(v1) @6 {v3: object ->
//!     v4: int = color(v3) @6
//!     v5: indices = outbox(v3) @6
//!     v6: object = recolor(v4, v5) @6
//!     yield v6
//!   }
//!   v7: grid = paint(v0, v2) @7
//!   return v7
//! ");
//! let input = Grid::from_rows(&[[0, 0, 0], [0, 5, 0], [0, 0, 0]])?;
//! let output = arc_form::Evaluator::default().run(&form, &input)?;
//! assert_eq!(output.to_string(), "((5, 5, 5), (5, 5, 5), (5, 5, 5))");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Instructions
//!
//! An instruction gives one value, of the [`Type`] that is written with it. Most are calls of
//! primitives: the operation is the primitive. Where a primitive takes a function, the instruction
//! has a [`Region`] instead, the function's body with what it captured inlined: `apply`, `sfilter`,
//! `argmax`, `order` and kin are loops so. `valmax` and `valmin` have a second region without
//! parameters, the key of 0, which is theirs for an empty container. The operations that are no
//! primitives are those of [`Op`].
//!
//! # Types
//!
//! A type says which values an instruction may give; the typing rules derive it from the types of
//! the arguments. Where a primitive may also give values of another kind, which programs hardly
//! ever use, the rule names the useful type and the instruction is *checked*, marked `!` in text:
//! a value of another type ends the evaluation with [`Stop::BailOut`], and the reference does it.
//!
//! # Several results
//!
//! [`specialise_all`] builds one form of many programs, in which a step that several of them come to
//! is evaluated once, and the body has a result for each. An [`Output`] says by which number the caller
//! knows the result, and what it [needs](Needs): the instructions that its program alone would have,
//! in that program's order and with its lines. A result ends with the first of them that fails, so
//! that it ends as its program does alone, and what else fails is not its business:
//!
//! ```
//! use arc_dsl::{Grid, parse_programs};
//! let text = "
//! def first_of(I):
//!     x1 = ofcolor(I, 5)
//!     O = first(x1)
//!     return O
//! def count(I):
//!     x1 = height(I)
//!     x2 = ofcolor(I, 5)
//!     O = size(x2)
//!     return O
//! ";
//! let programs: Result<Vec<_>, _> = parse_programs(text).into_iter().collect();
//! let merged = arc_form::specialise_all("both", &programs?, &arc_form::Options::default());
//! let form = merged.form.ok_or("no program has a form")?;
//! assert_eq!(form.to_string(), "\
//! form both(v0: grid):
//!   v1: indices = ofcolor(v0, 5) @3
//!   v2: pair = first(v1) @4
//!   v3: int = size(v1) @9
//!   return v2 #0 [v1 @3, v2 @4]
//!   return v3 #1 [v1 @8, v3 @9]
//! ");
//! let ends = arc_form::Evaluator::default().run_all(&form, &Grid::filled(2, 2, 0));
//! assert!(ends[0].is_err());
//! assert_eq!(ends[1].as_ref().map(|value| value.to_string()), Ok("0".to_owned()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A form of one program needs all of its instructions as they stand, and lists nothing. A result
//! has a form of its own, its [slice](Form::slice). A step is common to two programs only where both
//! have it as a step: what one of them has in a region is evaluated when the region is, which the
//! other must not wait for, nor the one depend on.
//!
//! # What differs from the reference
//!
//! Instructions are evaluated in the order in which the reference makes the calls, those in a
//! region only when it does; dead ones stay unless they cannot fail. For the same input a form so
//! gives the value that the reference gives, or its error, or bails out of the evaluation. These
//! differences remain:
//!
//! - Functions have neither weight nor depth here, a choice between values of different types weighs what it is made of,
//!   and shared steps are evaluated once: where the reference ends at [`Limit::Steps`], [`Limit::Memory`],
//!   [`Limit::Nesting`] or [`Limit::Elements`], a form may get further. A form that reaches one of these bails out, so
//!   that it never ends at one of them where the reference does not.
//! - Where an executor leaves cells out ([`Plan::is_clipped`]) and a filter goes through
//!   them, an integer that passes the bound for one of these cells alone is not met.
//! - Functions made for the elements of a set have no age here. Where they fail, and in different
//!   ways, another of them may be called first.
//! - An error in the reference's line may name another primitive of that line.
//! - What kind of value is found, in the message about a value that is called whatever the input is,
//!   comes from its type. An argument of another type than the signature asks for bails out.
//!
//! # Modules
//!
//! - from program to form: `specialise`, `build`, `typings` (types of results), `memo`, `words`;
//! - the form: `text` and `parse`, `verify`, `outputs` (several results);
//! - what is known of it: the [facts](arc_isa::Facts) of primitives, [`analysis`] of definitions and uses;
//! - what is changed: `rewrite`, `dead`; representations of values: `plan`;
//! - running it: `evaluate`.
//!
//! [`Limit::Steps`]: arc_dsl::Limit::Steps
//! [`Limit::Memory`]: arc_dsl::Limit::Memory
//! [`Limit::Nesting`]: arc_dsl::Limit::Nesting
//! [`Limit::Elements`]: arc_dsl::Limit::Elements

use smallvec::SmallVec;

use arc_dsl::{ErrorKind, Primitive, Value, ValueKind};

pub mod analysis;
mod dead;
mod evaluate;
mod memo;
mod outputs;
mod parse;
mod plan;
mod rewrite;
mod specialise;
mod text;
mod typings;
mod verify;
mod words;

pub use arc_isa::{Symmetry, ValueType as Type};
pub use dead::remove_dead;
pub use evaluate::{BailOut, Evaluator, Stop};
pub use parse::{FormError, parse};
pub use plan::{Plan, Representation, Shown, Target, plan};
pub use rewrite::{Fused, rewrite};
pub use specialise::{
    Argument, Merged, Options, Reason, Specialiser, Unspecialised, specialise, specialise_all,
    specialise_call, specialise_with,
};
pub use verify::Fault;

/// A value of the form: what one instruction gives, or a parameter.
///
/// Ids are unique within a form and ascend in the order in which the instructions stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id(pub u32);

impl Id {
    /// The input grid.
    pub const INPUT: Id = Id(0);

    /// Its place in a table by id.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What an instruction takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operand {
    /// The value of an instruction before it, here or in a region around this one.
    Id(Id),
    /// A value known before the program runs; never a function.
    Constant(Value),
}

/// What an instruction does: the primitives' calls, and all structural operations there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// Calls the primitive; its function parameters are regions, see
    /// [`Primitive::is_first_order`].
    Call(Primitive),
    /// The tuple of the arguments, whatever their number.
    Tuple,
    /// The set of the arguments, in any order.
    Set,
    /// The element of a fixed tuple that stands at this place.
    Item(u8),
    /// Evaluates the first region if the argument is true, otherwise the second.
    If,
    /// Evaluates the region whose number the argument is.
    Choose,
    /// The argument, an integer, which is to be positive: how often `power` applies a function.
    Count,
    /// Evaluates the region on the second argument, then on its result, as many times in all as the
    /// first argument says; not at all where that is not positive.
    Iterate,
    /// What its region does, which one kernel may do: see [`Fused`].
    Fused(Fused),
    /// A value that stands for none: nothing looks at it.
    Absent,
    /// Fails, of the primitive that is named where it is known.
    Fail(Option<Primitive>, Failure),
}

/// What is wrong with a call whatever the input is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Failure {
    /// An argument is of another type than the primitive takes.
    Type {
        /// Which argument, counted from 0.
        argument: u8,
        /// The type that the primitive takes there.
        expected: arc_dsl::Type,
        /// The kind of value found.
        found: ValueKind,
    },
    /// A value that is called is not a function.
    NotCallable(ValueKind),
    /// A function is called with another number of arguments than it takes.
    ArgumentCount {
        /// How many the function takes.
        expected: u8,
        /// How many it was given.
        found: u8,
    },
    /// A function is to be applied less than once.
    NotPositive(i32),
    /// A container without elements where one is needed.
    Empty,
}

impl From<Failure> for ErrorKind {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Type {
                argument,
                expected,
                found,
            } => ErrorKind::Type {
                argument,
                expected,
                found,
            },
            Failure::NotCallable(found) => ErrorKind::NotCallable { found },
            Failure::ArgumentCount { expected, found } => {
                ErrorKind::ArgumentCount { expected, found }
            }
            Failure::NotPositive(n) => ErrorKind::NotPositive(n),
            Failure::Empty => ErrorKind::Empty,
        }
    }
}

/// One step: the value named `id` is the result of `op` for the arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instruction {
    /// Its value.
    pub id: Id,
    /// The type of the value.
    pub ty: Type,
    /// Whether the value has to be looked at, since it may be of another type.
    pub checked: bool,
    /// What it does.
    pub op: Op,
    /// What it takes.
    pub arguments: Vec<Operand>,
    /// The code that it evaluates, none to many times.
    pub regions: Vec<Region>,
    /// The line of the program from which it comes.
    pub line: u32,
}

/// Code that is evaluated as a whole: a loop's body, an arm of a choice, or the form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// What it is given, each with its type.
    pub parameters: Vec<(Id, Type)>,
    /// The instructions in their order.
    pub instructions: Vec<Instruction>,
    /// What it gives: one value, but for the body of a form, which has one for each of its
    /// [outputs](Form::outputs).
    pub results: Results,
}

/// What a region gives.
pub type Results = SmallVec<[Operand; 1]>;

/// A program in first-order form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Form {
    /// The program's name.
    pub name: String,
    /// From the input, [`Id::INPUT`], to the output. A program's takes one grid, that of a
    /// [single call](specialise_call) what the call takes.
    pub body: Region,
    /// One more than the largest id.
    pub ids: u32,
    /// What is to be known of each of the body's results, in their order.
    pub outputs: Vec<Output>,
}

impl Form {
    /// Whether it takes one grid, as that of a program does.
    pub fn is_program(&self) -> bool {
        matches!(self.body.parameters[..], [(Id::INPUT, Type::Grid)])
    }
}

impl Region {
    /// The value that it gives, the first one where there are several.
    pub fn result(&self) -> &Operand {
        &self.results[0]
    }

    /// How many instructions it has, those of regions inside counted in.
    pub fn len(&self) -> usize {
        let inside = |instruction: &Instruction| {
            1 + instruction.regions.iter().map(Region::len).sum::<usize>()
        };
        self.instructions.iter().map(inside).sum()
    }

    /// Whether it has no instruction.
    pub fn is_empty(&self) -> bool {
        self.instructions.is_empty()
    }

    /// How many loops stand inside each other in it.
    pub fn loop_depth(&self) -> usize {
        let depth = |instruction: &Instruction| {
            let inside = instruction.regions.iter().map(Region::loop_depth).max();
            let own = usize::from(matches!(instruction.op, Op::Call(_) | Op::Iterate));
            inside.map_or(0, |inside| own + inside)
        };
        self.instructions.iter().map(depth).max().unwrap_or(0)
    }
}

/// What is known of a result of a form.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Output {
    /// The number by which the caller knows it.
    pub id: u32,
    /// What has to succeed for it.
    pub needs: Needs,
}

/// Which instructions of a form's body have to succeed for a result, in which order.
///
/// An evaluation of the result ends with the error of the first of them that fails, whether the
/// result is made of it or not.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Needs {
    /// All of them, in the order in which they stand: the form is of one program.
    #[default]
    All,
    /// These, in the order of the program that gives the result.
    These(Vec<Need>),
}

/// An instruction of a form's body, as the program of one result has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Need {
    /// Its value.
    pub id: Id,
    /// The line on which this program has it: what fails in it, fails there.
    pub line: u32,
}

#[cfg(test)]
mod tests;
