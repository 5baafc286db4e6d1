//! The first-order form: typed, single-assignment code with loops and without function values.
//!
//! It stands between program text and every fast executor. [`specialise()`] builds the [`Form`] of a
//! [`Program`](arc_dsl::Program) by evaluating it symbolically: function values are compile-time
//! objects, and applying one is inlining it. [`Form`] prints as text, [`verify`](Form::verify)
//! checks any instance, and the [`Evaluator`] runs it the obvious way.
//!
//! ```
//! use arc_dsl::Grid;
//! use arc_text::parse_programs;
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
//! An instruction computes one value, of the [`Type`] that is written with it. Most are calls of primitives:
//! the operation is the primitive. If a primitive takes a function, the instruction has a [`Region`] instead,
//! the function's body with its captured values inlined: `apply`, `sfilter`, `argmax`, `order` and similar
//! primitives become loops. `valmax` and `valmin` have a second region without parameters, the key of 0, which
//! is their result for an empty container. [`Op`] lists the operations that are not primitives.
//!
//! # Types
//!
//! A type says which values an instruction may have; the typing rules derive it from the types of the
//! arguments. If a primitive may also return values of another kind, which programs hardly ever use, the rule
//! names the useful type and the instruction is *checked*, marked `!` in text: a value of another type ends the
//! evaluation with [`Stop::BailOut`], and the reference does it.
//!
//! # What differs from the reference
//!
//! Instructions are evaluated in the order in which the reference makes the calls, those in a region only when
//! it does; dead ones stay unless they cannot fail. So for the same input, a form gives the value of the
//! reference, or its error, or bails out. These differences remain:
//!
//! - Functions have neither weight nor depth here, a choice between values of different types weighs as much as
//!   its parts, and equal steps are evaluated once: where the reference ends at [`Limit::Steps`],
//!   [`Limit::Memory`], [`Limit::Nesting`] or [`Limit::Elements`], a form may get further. A form that reaches
//!   one of these bails out, so it never ends at a limit that the reference does not reach.
//! - If an executor drops cells ([`Plan::is_clipped`]) and a filter goes through them, an integer that exceeds
//!   the bound only for one of these cells is not noticed.
//! - Functions that are created for the elements of a set have no age here. If they fail in different ways,
//!   another one of them may be called first.
//! - An error in the reference's line may name another primitive of that line.
//! - If a value is called that is not a function for any input, the kind of value in the message comes from its
//!   type. An argument of another type than the signature asks for bails out.
//!
//! # Modules
//!
//! - from program to form: `specialise`, `build`, `typings` (types of results), `memo`, `words`;
//! - the form: `text`, `verify`, and for tests a parser of the text;
//! - analysis: the [facts](arc_isa::Facts) of primitives, [`analysis`] of definitions and uses;
//! - transformations: `rewrite`, `dead`; representations of values: `plan`;
//! - running it: `evaluate`.
//!
//! [`Limit::Steps`]: arc_dsl::Limit::Steps
//! [`Limit::Memory`]: arc_dsl::Limit::Memory
//! [`Limit::Nesting`]: arc_dsl::Limit::Nesting
//! [`Limit::Elements`]: arc_dsl::Limit::Elements

use arc_dsl::{ErrorKind, Primitive, Value};

pub mod analysis;
mod dead;
mod evaluate;
mod memo;
mod plan;
mod rewrite;
mod specialise;
mod testing;
mod text;
mod typings;
mod verify;
mod words;

pub use arc_isa::ValueType as Type;
pub use evaluate::{BailOut, Evaluator, Stop};
pub use plan::{Plan, Representation, Shown, Target, plan};
pub use rewrite::{Fused, rewrite};
pub use specialise::{
    Argument, Options, Reason, Specialiser, Unspecialised, specialise, specialise_with,
};
// Not a feature: this crate and all above it would be compiled twice, for users and for tests.
#[doc(hidden)]
pub use testing::{FormError, parse};
pub use verify::Fault;

/// A value of the form: what one instruction gives, or a parameter.
///
/// Ids are unique within a form and ascend in the order of the instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id(pub u32);

impl Id {
    /// The input grid.
    pub const INPUT: Id = Id(0);

    /// Its index in a table by id.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An argument or a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operand {
    /// The value of an instruction before it, here or in a region around this one.
    Id(Id),
    /// A value known before the program runs; never a function.
    Constant(Value),
}

/// The operation of an instruction: a primitive's call, or a structural operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// Calls the primitive; its function parameters are regions, see
    /// [`Primitive::is_first_order`].
    Call(Primitive),
    /// The tuple of the arguments, whatever their number.
    Tuple,
    /// The set of the arguments, in any order.
    Set,
    /// The element of a fixed tuple at this index.
    Item(u8),
    /// Evaluates the first region if the argument is true, otherwise the second.
    If,
    /// Evaluates the region whose number the argument is.
    Choose,
    /// The argument, an integer that must be positive: how often `power` applies a function.
    Count,
    /// Evaluates the region on the second argument, then on its result, and so on, the number of times that the
    /// first argument says; not at all if that is not positive.
    Iterate,
    /// The calls in its region, for which an executor may have a single kernel: see [`Fused`].
    Fused(Fused),
    /// A placeholder that is never used.
    Absent,
    /// Fails for every input, in the primitive that is named if it is known.
    Fail(Option<Primitive>, ErrorKind),
}

/// One step: the value named `id` is the result of `op` for the arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instruction {
    /// Its value.
    pub id: Id,
    /// The type of the value.
    pub ty: Type,
    /// Whether the value has to be checked at run time, since it may be of another type.
    pub checked: bool,
    /// What it does.
    pub op: Op,
    /// What it takes.
    pub arguments: Vec<Operand>,
    /// The code that it evaluates, any number of times.
    pub regions: Vec<Region>,
    /// The program's line that it comes from.
    pub line: u32,
}

/// Code that is evaluated as a whole: a loop's body, an arm of a choice, or the form.
#[derive(Debug, Clone)]
pub struct Region {
    /// Its parameters, each with its type.
    pub parameters: Vec<(Id, Type)>,
    /// The instructions in their order.
    pub instructions: Vec<Instruction>,
    /// Its result.
    pub result: Operand,
    /// How many primitives the reference calls at least when it evaluates the region: calls that became one instruction
    /// or none count too, and what a rewrite makes has 0. It is no part of what the region computes, so it is neither printed nor compared.
    pub calls: u32,
}

impl PartialEq for Region {
    fn eq(&self, other: &Self) -> bool {
        self.parameters == other.parameters
            && self.instructions == other.instructions
            && self.result == other.result
    }
}

impl Eq for Region {}

/// A program in first-order form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Form {
    /// The program's name.
    pub name: String,
    /// From the input, [`Id::INPUT`], to the output. That of a program has one grid as its parameter, that of a
    /// [single call](Specialiser::specialise_call) the parameters of the call.
    pub body: Region,
    /// One more than the largest id.
    pub ids: u32,
}

impl Form {
    /// Whether its only parameter is a grid, as for a program.
    pub fn is_program(&self) -> bool {
        matches!(self.body.parameters[..], [(Id::INPUT, Type::Grid)])
    }
}

impl Region {
    /// The number of instructions, including those of nested regions.
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

    /// The depth of nested loops in it.
    pub fn loop_depth(&self) -> usize {
        let depth = |instruction: &Instruction| {
            let inside = instruction.regions.iter().map(Region::loop_depth).max();
            let own = usize::from(matches!(instruction.op, Op::Call(_) | Op::Iterate));
            inside.map_or(0, |inside| own + inside)
        };
        self.instructions.iter().map(depth).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests;
