//! Program to form: symbolic evaluation.
//!
//! Each step is evaluated once. A function value is a compile-time object with its captured values; to apply
//! it, its body is evaluated on the arguments, which emits instructions. Fixed tuples, sets of one element and
//! containers of functions are compile-time objects too, and are built at run time only if a step needs them. A
//! choice between values without a common type, such as functions, stays a choice until it is used; the use is
//! then emitted once per option, each in an arm of its own.

mod build;
mod calls;
mod choices;
mod loops;
mod rearrange;
mod single;
mod symbols;

use std::borrow::Cow;

use smallvec::SmallVec;

use super::memo::Memo;
use super::{Form, Id, Op, Operand, Region, Type};
use arc_dsl::{Callee, Container, Dialect, ErrorKind, Program, Value};
use build::Builder;
pub use single::Argument;
use symbols::{Node, Symbol, Symbols};

use arc_dsl::Primitive;

/// How programs are specialised. The results of running a form do not depend on it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each switches a pass of its own"
)]
pub struct Options {
    /// Evaluate steps whose arguments are constants.
    pub fold: bool,
    /// Emit equal steps once.
    pub share: bool,
    /// Compute less where the uses of a value need less, see [`rewrite`](crate::rewrite()).
    pub rewrite: bool,
    /// Remove dead steps that cannot fail.
    pub dead: bool,
    /// The most instructions that a form may have.
    pub max_instructions: usize,
    /// The most work: functions applied, instructions emitted.
    pub max_work: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            fold: true,
            share: true,
            rewrite: true,
            dead: true,
            max_instructions: 2_000,
            max_work: 20_000,
        }
    }
}

/// Why a program has no form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// The form would be too large.
    #[error("too many instructions")]
    Size,
    /// It is written in another dialect than the public one.
    #[error("not of the public dialect")]
    Dialect,
    /// It would take too long to build, or functions call each other too deeply.
    #[error("too much work")]
    Work,
    /// Values of unlike types meet where one type is needed.
    #[error("{0}")]
    Types(String),
    /// A function is used as a value in a way that is not known when the form is built.
    #[error("{0}")]
    Function(String),
}

/// A program has no form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct Unspecialised {
    /// Why.
    pub reason: Reason,
    /// The line of the step at fault.
    pub line: u32,
}

/// The first-order form of a program.
pub fn specialise(program: &Program) -> Result<Form, Unspecialised> {
    specialise_with(program, &Options::default())
}

/// The first-order form of a program, with these options.
pub fn specialise_with(program: &Program, options: &Options) -> Result<Form, Unspecialised> {
    Specialiser::new(options.clone()).specialise(program)
}

/// Why a region ends before all of its instructions are built.
#[derive(Debug)]
enum RegionEnd {
    /// The region always fails at this instruction: the rest is never reached.
    Fails(Id),
    /// There is no form. The reason is in a box so that the results of most functions here stay small.
    NoForm(Box<Reason>),
}

impl From<Reason> for RegionEnd {
    #[cold]
    fn from(reason: Reason) -> Self {
        RegionEnd::NoForm(Box::new(reason))
    }
}

type Specialised<T = Symbol> = Result<T, RegionEnd>;

type Arguments = SmallVec<[Symbol; 4]>;

/// Specialises programs one after the other, and keeps its buffers: for a short program, allocating them is a good
/// part of the work. No result depends on the programs before.
///
/// ```
/// use arc_form::Specialiser;
/// let text = "def solve_a(I):\n    O = hmirror(I)\n    return O\n";
/// let program = arc_text::parse_programs(text).remove(0)?;
/// let mut specialiser = Specialiser::default();
/// assert_eq!(specialiser.specialise(&program), arc_form::specialise(&program));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Specialiser {
    options: Options,
    code: Builder,
    symbols: Symbols,
    /// The results of applied functions that are visible from the open region.
    applied: Memo<Symbol>,
    /// The keys of the calls that are being specialised, from the outermost on.
    keys: Vec<u32>,
    /// The number of keys in `applied` when each open region was opened.
    scopes: Vec<usize>,
    work: u32,
    depth: u32,
    /// How many rounds of `power` wait for one inside of them, at most.
    waiting: i32,
}

/// How deeply functions may call each other.
const DEPTH: u32 = 100;

/// Whether the value can be a constant of the form.
fn is_plain(value: &Value) -> bool {
    match value {
        Value::Tuple(_) | Value::Set(_) => value.value_type().is_some() && !has_grid(value),
        Value::Primitive(_) | Value::Function(_) | Value::Foreign(_) => false,
        _ => true,
    }
}

/// Whether the value contains a grid. Text only tells a grid from the tuple of its rows, which has another
/// type, at the top level.
fn has_grid(value: &Value) -> bool {
    match value {
        Value::Grid(_) => true,
        Value::Tuple(_) | Value::Set(_) => value.values().iter().any(has_grid),
        _ => false,
    }
}

impl Default for Specialiser {
    fn default() -> Self {
        Self::new(Options::default())
    }
}

impl Specialiser {
    /// A specialiser with these options.
    pub fn new(options: Options) -> Self {
        Self {
            code: Builder::new(options.share),
            symbols: Symbols::default(),
            applied: Memo::default(),
            keys: Vec::with_capacity(64),
            scopes: Vec::new(),
            work: 0,
            depth: 0,
            waiting: 0,
            options,
        }
    }

    /// The first-order form of a program.
    pub fn specialise(&mut self, program: &Program) -> Result<Form, Unspecialised> {
        let make = |specialiser: &mut Self, ids: &[Id]| {
            let mut variables = Vec::with_capacity(ids.len() + program.steps().len());
            variables.extend(ids.iter().copied().map(Symbol::Value));
            specialiser.steps(program, &mut variables)
        };
        let form = self.form(program.name(), program.line(), &[Type::Grid], make)?;
        if form.body.len() > self.options.max_instructions {
            return Err(Unspecialised {
                reason: Reason::Size,
                line: program.line(),
            });
        }
        Ok(form)
    }

    /// The form with parameters of these types whose result `make` emits. Drops the last form.
    fn form(
        &mut self,
        name: &str,
        line: u32,
        parameters: &[Type],
        make: impl FnOnce(&mut Self, &[Id]) -> Specialised<Operand>,
    ) -> Result<Form, Unspecialised> {
        self.symbols.clear();
        self.applied.truncate(0);
        self.keys.clear();
        (self.work, self.depth, self.waiting) = (0, 0, 0);
        self.scopes.clear();
        self.code.clear();
        self.code.line = line;
        let ids = self.open(parameters);
        let result = match make(self, &ids) {
            Ok(result) => result,
            Err(RegionEnd::Fails(never)) => Operand::Id(never),
            Err(RegionEnd::NoForm(reason)) => {
                return Err(Unspecialised {
                    reason: *reason,
                    line: self.code.line,
                });
            }
        };
        let body = self.close(result);
        Ok(self.code.form(name, body, &self.options))
    }

    fn steps(&mut self, program: &Program, variables: &mut Vec<Symbol>) -> Specialised<Operand> {
        if program.dialect() != Dialect::Public || program.python().is_some() {
            return Err(Reason::Dialect.into());
        }
        for step in program.steps() {
            self.code.line = step.line;
            let mut arguments = Arguments::new();
            for operand in &step.arguments {
                arguments.push(self.operand(variables, operand)?);
            }
            let callee = match step.callee {
                Callee::Primitive(primitive) => Symbol::Primitive(primitive),
                Callee::Typed(_) => return Err(Reason::Dialect.into()),
                Callee::Slot(slot) => variables[slot.index()],
            };
            let result = self.call(callee, &arguments)?;
            variables.push(result);
        }
        let output = self.operand(variables, program.output())?;
        self.materialise(output)
    }

    fn operand(&mut self, variables: &[Symbol], operand: &arc_dsl::Operand) -> Specialised {
        match operand {
            arc_dsl::Operand::Slot(slot) => Ok(variables[slot.index()]),
            arc_dsl::Operand::Primitive(primitive) => Ok(Symbol::Primitive(*primitive)),
            arc_dsl::Operand::Constant(constant) => self.constant(constant.value()),
            arc_dsl::Operand::Literal(value) => self.constant(value),
        }
    }

    /// A value as a symbol; a tuple may contain primitives, grids and values of unlike types.
    fn constant(&mut self, value: &Value) -> Specialised {
        if is_plain(value) {
            return Ok(self.symbols.constant(value));
        }
        let mut items = || {
            let elements = value.as_container().into_iter().flat_map(Container::iter);
            let items = elements.map(|item| self.constant(&item));
            items.collect::<Specialised<Vec<_>>>()
        };
        let node = match value {
            Value::Primitive(primitive) => Node::Primitive(*primitive),
            Value::Tuple(_) => Node::Tuple(items()?.into()),
            Value::Set(_) if !value.is_added_in_order() => {
                let what = "a set that is not as if its elements were added in their order";
                return Err(Reason::Types(what.to_owned()).into());
            }
            Value::Set(_) => match items()?.as_slice() {
                [item] => Node::Single(*item),
                items => Node::Set(items.into()),
            },
            _ => return Err(Reason::Work.into()),
        };
        Ok(self.symbols.add(node))
    }

    fn open(&mut self, parameters: &[Type]) -> SmallVec<[Id; 2]> {
        self.scopes.push(self.applied.len());
        self.code.open(parameters)
    }

    fn close(&mut self, result: Operand) -> Region {
        if let Some(before) = self.scopes.pop() {
            self.applied.truncate(before);
        }
        self.code.close(result)
    }

    fn work(&mut self) -> Specialised<()> {
        self.work += 1;
        if self.work > self.options.max_work {
            return Err(Reason::Work.into());
        }
        Ok(())
    }

    fn emit(&mut self, op: Op, arguments: Vec<Operand>, regions: Vec<Region>) -> Specialised<Id> {
        let ids = self.code.ids();
        let emitted = self.code.emit(op, arguments, regions);
        self.emitted(emitted, ids)
    }

    /// Accounts for an emitted instruction: it counts as work only if it is new, so that there are more ids.
    fn emitted(&mut self, emitted: Result<Id, String>, ids: u32) -> Specialised<Id> {
        if self.code.ids() > ids {
            self.work()?;
        }
        emitted.map_err(|message| Reason::Types(message).into())
    }

    /// Ends the open region with a failure.
    fn fail<T>(&mut self, primitive: Option<Primitive>, error: ErrorKind) -> Specialised<T> {
        let never = self.emit(Op::Fail(primitive, error), Vec::new(), Vec::new())?;
        Err(RegionEnd::Fails(never))
    }

    fn symbol(&mut self, operand: Operand) -> Symbol {
        match operand {
            Operand::Id(id) => Symbol::Value(id),
            Operand::Constant(value) => self.symbols.constant(&value),
        }
    }

    /// The type of the symbol's value; `None` if it cannot be one value.
    fn type_of(&self, symbol: Symbol) -> Option<Cow<'_, Type>> {
        let object = match symbol {
            Symbol::Value(id) => return Some(Cow::Borrowed(self.code.id_type(id))),
            Symbol::Constant(_) => {
                let (_, ty) = self.symbols.typed_value(symbol)?;
                return Some(Cow::Borrowed(ty));
            }
            Symbol::Primitive(_) => return None,
            Symbol::Object(_) => self.symbols.object(symbol)?,
        };
        let joined = |items: &[Symbol]| {
            items.iter().try_fold(Type::Never, |joined, item| {
                joined.join(&*self.type_of(*item)?)
            })
        };
        let set_of =
            |element: &Type| arc_isa::rules::collected(arc_dsl::ContainerKind::Set, element).ty;
        Some(Cow::Owned(match object {
            Node::Tuple(items) => {
                let mut types: SmallVec<[Type; 4]> = SmallVec::new();
                for item in items.iter() {
                    types.push(self.type_of(*item)?.into_owned());
                }
                Type::fixed(&types[..])
            }
            Node::Set(items) => set_of(&joined(items)?),
            Node::Single(item) => set_of(&*self.type_of(*item)?),
            Node::OneOf { options, .. } => joined(options)?,
            Node::Value(_)
            | Node::Constant(_)
            | Node::Primitive(_)
            | Node::Function(_)
            | Node::Each(_) => return None,
        }))
    }

    /// The symbol's value at run time; builds its instructions if necessary.
    fn materialise(&mut self, symbol: Symbol) -> Specialised<Operand> {
        match symbol {
            Symbol::Value(id) => Ok(Operand::Id(id)),
            _ => self.materialise_object(symbol),
        }
    }

    fn materialise_all(&mut self, symbols: &[Symbol]) -> Specialised<Vec<Operand>> {
        symbols.iter().map(|item| self.materialise(*item)).collect()
    }

    fn materialise_object(&mut self, symbol: Symbol) -> Specialised<Operand> {
        match self.symbols.node(symbol) {
            Node::Value(id) => Ok(Operand::Id(id)),
            Node::Tuple(items) => {
                let operands = self.materialise_all(&items)?;
                let values: Option<Vec<_>> = operands
                    .iter()
                    .map(|operand| match operand {
                        Operand::Constant(value) if !has_grid(value) => Some(value.clone()),
                        _ => None,
                    })
                    .collect();
                match values {
                    Some(values) if self.options.fold || values.is_empty() => {
                        Ok(Operand::Constant(Value::tuple(values)))
                    }
                    _ if operands.len() == 2 => {
                        let op = Op::Call(Primitive::Astuple);
                        self.emit(op, operands, Vec::new()).map(Operand::Id)
                    }
                    _ => self.emit(Op::Tuple, operands, Vec::new()).map(Operand::Id),
                }
            }
            Node::Set(items) => {
                let operands = self.materialise_all(&items)?;
                self.emit(Op::Set, operands, Vec::new()).map(Operand::Id)
            }
            Node::Single(item) => {
                let item = self.materialise(item)?;
                let op = Op::Call(Primitive::Initset);
                self.emit(op, vec![item], Vec::new()).map(Operand::Id)
            }
            Node::OneOf { tag, options } => {
                if self.type_of(symbol).is_none() {
                    let what = "a choice between values of unlike types is needed as a value";
                    return Err(Reason::Types(what.to_owned()).into());
                }
                self.materialise_choice(tag, &options)
            }
            Node::Constant(_) => match self.symbols.value(symbol) {
                Some(value) => Ok(Operand::Constant(value.clone())),
                None => Err(Reason::Work.into()),
            },
            Node::Primitive(_) | Node::Function(_) | Node::Each(_) => {
                let what = "a function is used as a value";
                Err(Reason::Function(what.to_owned()).into())
            }
        }
    }
}
