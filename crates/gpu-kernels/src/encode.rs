//! From first-order forms to device programs.

use std::fmt;

use arc_dsl::{Primitive, Value};
use arc_form::{Form, Instruction, Needs, Op, Operand, Output, PlanOptions, Type, plan};

use crate::operations::{KEYS, Kind, OPERATIONS, Operation};
use crate::pool::{Pool, Structure};
use crate::program::{Builder, DeviceProgram, Immediate, TooLarge, ValueId};
use crate::punt::Punt;

/// Why a form runs on the host only.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, thiserror::Error)]
pub enum HostOnly {
    /// A loop that no operation stands for.
    #[error("a loop: `{0}`")]
    Loop(Primitive),
    /// No operation of the device is this primitive for operands so held.
    #[error("no device operation for `{0}({1})`")]
    Call(Primitive, String),
    /// A step that is no call: a choice, a set of values, a failure that is certain.
    #[error("no device operation for {0}")]
    Step(&'static str),
    /// A value of a type that the device does not hold.
    #[error("a value of type {0}")]
    Type(String),
    /// A known value that the device does not hold.
    #[error("a constant that does not fit: {0}")]
    Constant(Punt),
    /// It needs more values at a time than an evaluation has room for.
    #[error("{0}")]
    TooLarge(#[from] TooLarge),
}

impl HostOnly {
    /// The reason without the types of the operands, by which programs are counted.
    pub fn summary(&self) -> String {
        match self {
            HostOnly::Call(primitive, _) => format!("no device operation for such a `{primitive}`"),
            other => other.to_string(),
        }
    }
}

/// A call of a primitive, without its arguments.
#[derive(Debug, Clone, Copy)]
struct Call {
    primitive: Primitive,
    /// By what elements are compared, a place among [`KEYS`]; nothing where no function is taken.
    key: Option<u8>,
    /// Whether cells of the result outside rows and columns 0 to 31 are seen by nobody.
    clipped: bool,
    /// Line of the program's text; 0 for none.
    line: u32,
    /// What it has to give, where that is known.
    gives: Option<Kind>,
}

/// What a value is for the encoder.
#[derive(Debug, Clone)]
pub(crate) enum Held {
    /// A value of the device, taken as one of this kind; the structure of a set of objects.
    Value(ValueId, Kind, Option<Structure>),
    /// A value that is known.
    Constant(Value),
    /// A tuple whose items the encoder knows.
    Tuple(Vec<Held>),
    /// The tuple that an operation gives one element at a time: whose elements are made on demand.
    Elements(Box<Elements>),
}

#[derive(Debug, Clone)]
pub(crate) struct Elements {
    call: Call,
    arguments: Vec<Held>,
    count: usize,
    /// The first of them, made where the tuple is: what fails has to fail though nothing is used.
    first: Held,
}

/// The form as a program of the device that takes a grid, the input.
///
/// A set of objects is held as one object, whose elements each operation finds anew, so that how
/// they are found has to be known here. What [`form::plan`](arc_form::plan) says of clipping
/// is used; its other notes are not. Of a form of several results it is the first one's program.
pub fn encode(form: &Form) -> Result<DeviceProgram, HostOnly> {
    if let (
        [
            Output {
                needs: Needs::These(_),
                ..
            },
            ..,
        ],
        Some(first),
    ) = (&form.outputs[..], form.slice(0))
    {
        return encode(&first);
    }
    let options = PlanOptions {
        representation: false,
        clipping: true,
        liveness: false,
        guards: false,
    };
    let form = plan(form, &options);
    let mut encoder = Encoder {
        values: vec![None; form.ids as usize],
        ..Encoder::default()
    };
    for (id, ty) in &form.body.parameters {
        let kind = kind_of(ty).ok_or_else(|| HostOnly::Type(ty.to_string()))?;
        encoder.values[id.index()] = Some(encoder.input(kind, None));
    }
    for instruction in &form.body.instructions {
        let held = encoder.instruction(instruction)?;
        encoder.values[instruction.id.index()] = Some(held);
    }
    let result = encoder.held(form.body.result());
    encoder.finish(&result)
}

/// The results of a form as programs of their own, in their order: one launch makes them all, and
/// each has a verdict. What they have in common is made by each of them.
pub fn encode_all(form: &Form) -> Vec<Result<DeviceProgram, HostOnly>> {
    let slices = (0..form.outputs.len()).filter_map(|at| form.slice(at));
    slices.map(|slice| encode(&slice)).collect()
}

/// How the device holds values of a type.
fn kind_of(ty: &Type) -> Option<Kind> {
    match ty {
        Type::Bool | Type::Int | Type::MaybeInt => Some(Kind::Int),
        Type::Pair | Type::MaybePair => Some(Kind::Pair),
        Type::Grid => Some(Kind::Grid),
        Type::Indices => Some(Kind::Patch),
        Type::Object => Some(Kind::Object),
        Type::Set(element) => match **element {
            Type::Object => Some(Kind::Objects),
            Type::Int => Some(Kind::Colours),
            _ => None,
        },
        _ => None,
    }
}

/// Emits calls of primitives as instructions.
#[derive(Debug, Default)]
pub(crate) struct Encoder {
    builder: Builder,
    /// By their ids in the form, those that are made.
    values: Vec<Option<Held>>,
}

impl Encoder {
    /// The next input of the program.
    pub(crate) fn input(&mut self, kind: Kind, structure: Option<Structure>) -> Held {
        Held::Value(self.builder.parameter(kind), kind, structure)
    }

    /// The program that gives this value.
    pub(crate) fn finish(mut self, result: &Held) -> Result<DeviceProgram, HostOnly> {
        let (value, kind, structure) = match result {
            Held::Value(_, _, Some(Structure::Frontiers)) => {
                return Err(HostOnly::Step("a result that is a set of frontiers"));
            }
            Held::Value(value, kind, structure) => (*value, *kind, *structure),
            // A constant grid is the one constant that is an answer.
            Held::Constant(_) => (self.operand(result, Kind::Grid)?, Kind::Grid, None),
            Held::Tuple(_) | Held::Elements(_) => return Err(HostOnly::Type("tuple".to_owned())),
        };
        Ok(self.builder.finish(value, kind, structure)?)
    }

    fn held(&self, operand: &Operand) -> Held {
        match operand {
            Operand::Constant(value) => Held::Constant(value.clone()),
            Operand::Id(id) => {
                let held = self.values.get(id.index()).cloned().flatten();
                // The verifier of forms sees to it that every value is made before it is used.
                held.unwrap_or(Held::Constant(Value::Nothing))
            }
        }
    }

    fn instruction(&mut self, instruction: &Instruction) -> Result<Held, HostOnly> {
        let arguments: Vec<Held> = instruction
            .arguments
            .iter()
            .map(|operand| self.held(operand))
            .collect();
        match instruction.op {
            Op::Call(primitive) => self.call(primitive, instruction, &arguments),
            Op::Tuple if are_integers(&arguments) => {
                self.call(Primitive::astuple, instruction, &arguments)
            }
            Op::Tuple => Ok(Held::Tuple(arguments)),
            Op::Item(number) => self.item(usize::from(number), &arguments, instruction.line),
            Op::Set => Err(HostOnly::Step("a set of values")),
            Op::If | Op::Choose => Err(HostOnly::Step("a choice of what is done")),
            Op::Iterate | Op::Count => Err(HostOnly::Step("`power`")),
            Op::Absent => Ok(Held::Constant(Value::Nothing)),
            Op::Fail(..) => Err(HostOnly::Step("a step that always fails")),
        }
    }

    fn call(
        &mut self,
        primitive: Primitive,
        instruction: &Instruction,
        arguments: &[Held],
    ) -> Result<Held, HostOnly> {
        let key = match instruction.regions.first() {
            None => None,
            Some(region) => Some(key_of(region).ok_or(HostOnly::Loop(primitive))?),
        };
        let call = Call {
            primitive,
            key,
            clipped: instruction.notes.clipped,
            line: instruction.line,
            gives: None,
        };
        if let Some(held) = self.renamed(&call, arguments)? {
            return Ok(held);
        }
        let kind = kind_of(&instruction.ty);
        let gives = Some(kind.ok_or_else(|| HostOnly::Type(instruction.ty.to_string()))?);
        self.emit(&Call { gives, ..call }, 0, arguments)
    }

    /// A call outside a form: of functions among its arguments `key` is the one, and nothing is known
    /// of what its result is for.
    pub(crate) fn apply(
        &mut self,
        primitive: Primitive,
        key: Option<Primitive>,
        arguments: &[Held],
    ) -> Result<Held, HostOnly> {
        let number = |function| number_of_key(function).ok_or(HostOnly::Loop(primitive));
        let call = Call {
            primitive,
            key: key.map(number).transpose()?,
            clipped: false,
            line: 0,
            gives: None,
        };
        match self.renamed(&call, arguments)? {
            Some(held) => Ok(held),
            None => self.emit(&call, 0, arguments),
        }
    }

    /// The result of a call that needs no instruction, since it lies in the pool already or is a
    /// tuple whose items the encoder keeps apart; nothing of others.
    fn renamed(&mut self, call: &Call, arguments: &[Held]) -> Result<Option<Held>, HostOnly> {
        Ok(Some(match (call.primitive, arguments) {
            (Primitive::identity, [held]) => held.clone(),
            (Primitive::merge, [Held::Value(value, Kind::Objects, _)]) => {
                Held::Value(*value, Kind::Object, None)
            }
            (Primitive::toindices, [Held::Value(value, Kind::Object | Kind::Patch, _)]) => {
                Held::Value(*value, Kind::Patch, None)
            }
            (Primitive::astuple, _) if !are_integers(arguments) => Held::Tuple(arguments.to_vec()),
            (Primitive::first, [Held::Tuple(_) | Held::Elements(_)]) => {
                self.item(0, arguments, call.line)?
            }
            (Primitive::last, [Held::Tuple(items)]) if !items.is_empty() => {
                self.item(items.len() - 1, arguments, call.line)?
            }
            (Primitive::last, [Held::Elements(elements)]) if elements.count > 0 => {
                self.item(elements.count - 1, arguments, call.line)?
            }
            (
                Primitive::hsplit | Primitive::vsplit,
                [_, Held::Constant(Value::Int(count @ 1..=32))],
            ) => Held::Elements(Box::new(Elements {
                call: *call,
                count: *count as usize,
                first: self.emit(call, 0, arguments)?,
                arguments: arguments.to_vec(),
            })),
            _ => return Ok(None),
        }))
    }

    /// Emits the first operation that is the primitive for operands so held, for a tuple its
    /// element of this number.
    fn emit(&mut self, call: &Call, element: u8, arguments: &[Held]) -> Result<Held, HostOnly> {
        let primitive = call.primitive;
        let mut immediate = Immediate {
            clipped: call.clipped,
            key: call.key.unwrap_or(element),
            ..Immediate::default()
        };
        let fits = |operation: &Operation| {
            // The function of a loop is a region of the form and no argument.
            let takes = operation.takes.iter().filter(|kind| **kind != Kind::Key);
            operation.primitive == primitive
                && call.gives.is_none_or(|kind| kind == operation.gives)
                && call.key.is_some() == operation.takes.contains(&Kind::Key)
                && takes.clone().count() == arguments.len()
                && arguments
                    .iter()
                    .zip(takes)
                    .all(|(held, kind)| serves(held, *kind, operation))
        };
        let found = OPERATIONS.iter().position(fits);
        let missing = || HostOnly::Call(primitive, listed(arguments));
        let opcode = found.ok_or_else(missing)?;
        let operation = &OPERATIONS[opcode];
        let mut structures = arguments.iter().filter_map(|held| match held {
            Held::Value(_, Kind::Objects, structure) => Some(*structure),
            _ => None,
        });
        if let Some(structure) = structures.next() {
            if structures.any(|other| other != structure) || structure == Some(Structure::Frontiers)
            {
                return Err(missing());
            }
            immediate.structure = structure;
        }
        let flag = |at: usize| matches!(&arguments[at], Held::Constant(value) if value.is_truthy());
        match primitive {
            Primitive::objects => {
                immediate.flag = flag(3);
                immediate.structure = Some(Structure::Connected {
                    univalued: flag(1),
                    diagonal: flag(2),
                });
            }
            Primitive::partition | Primitive::fgpartition => {
                immediate.structure = Some(Structure::ByColour);
            }
            Primitive::frontiers => immediate.structure = Some(Structure::Frontiers),
            _ => {}
        }
        let mut operands = Vec::with_capacity(4);
        let takes = operation.takes.iter().filter(|kind| **kind != Kind::Key);
        for (held, kind) in arguments.iter().zip(takes) {
            if kind.is_operand() {
                operands.push(self.operand(held, *kind)?);
            }
        }
        let value = self.builder.emit(opcode, immediate, &operands, call.line);
        let structure = immediate
            .structure
            .filter(|_| operation.gives == Kind::Objects);
        Ok(Held::Value(value, operation.gives, structure))
    }

    /// A value of the pool.
    fn operand(&mut self, held: &Held, kind: Kind) -> Result<ValueId, HostOnly> {
        match held {
            Held::Value(value, ..) => Ok(*value),
            Held::Constant(value) => self
                .builder
                .constant(kind, value)
                .map_err(HostOnly::Constant),
            Held::Tuple(_) | Held::Elements(_) => Err(HostOnly::Type("tuple".to_owned())),
        }
    }

    /// An item of a tuple.
    fn item(&mut self, number: usize, arguments: &[Held], line: u32) -> Result<Held, HostOnly> {
        match arguments {
            [Held::Tuple(items)] => items
                .get(number)
                .cloned()
                .ok_or(HostOnly::Step("an item that is not there")),
            [Held::Elements(elements)] if number == 0 => Ok(elements.first.clone()),
            [Held::Elements(elements)] if number < elements.count => {
                self.emit(&elements.call, number as u8, &elements.arguments)
            }
            [Held::Value(_, Kind::Pair, _)] => {
                let first = number == 0;
                let call = Call {
                    primitive: if first {
                        Primitive::first
                    } else {
                        Primitive::last
                    },
                    key: None,
                    clipped: false,
                    line,
                    gives: Some(Kind::Int),
                };
                self.emit(&call, 0, arguments)
            }
            _ => Err(HostOnly::Step("an item of such a tuple")),
        }
    }
}

/// Whether they are two integers, so that their tuple is a pair.
fn are_integers(arguments: &[Held]) -> bool {
    let is_int = |held: &Held| match held {
        Held::Value(_, kind, _) => *kind == Kind::Int,
        Held::Constant(value) => matches!(value, Value::Int(_)),
        _ => false,
    };
    arguments.len() == 2 && arguments.iter().all(is_int)
}

/// Whether a value can be an operand of this kind of the operation.
fn serves(held: &Held, kind: Kind, operation: &Operation) -> bool {
    match held {
        Held::Value(_, found, _) => operation.admits(*found, kind),
        Held::Constant(Value::Object(_)) if !operation.admits(Kind::Object, kind) => false,
        Held::Constant(value) if kind == Kind::Flag => {
            matches!(value, Value::Bool(_) | Value::Int(_))
        }
        Held::Constant(value) => kind.is_operand() && Pool::default().push(kind, value).is_ok(),
        Held::Tuple(_) | Held::Elements(_) => false,
    }
}

/// The place among [`KEYS`] of the one primitive that a loop's body is.
fn key_of(region: &arc_form::Region) -> Option<u8> {
    let ([(parameter, _)], [step]) = (region.parameters.as_slice(), region.instructions.as_slice())
    else {
        return None;
    };
    let Op::Call(primitive) = step.op else {
        return None;
    };
    let of_parameter = step.arguments == [Operand::Id(*parameter)] && step.regions.is_empty();
    let given = *region.result() == Operand::Id(step.id);
    number_of_key(primitive).filter(|_| of_parameter && given)
}

/// The place among [`KEYS`] of a function by which elements are compared.
fn number_of_key(function: Primitive) -> Option<u8> {
    let place = KEYS.iter().position(|key| *key == function);
    place.map(|place| place as u8)
}

/// The kinds of operands, for people.
fn listed(arguments: &[Held]) -> String {
    let name = |held: &Held| match held {
        Held::Value(_, kind, _) => format!("{kind:?}").to_lowercase(),
        Held::Constant(value) => value.kind().to_string(),
        Held::Tuple(_) => "a fixed tuple".to_owned(),
        Held::Elements(_) => "a tuple of grids".to_owned(),
    };
    arguments.iter().map(name).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for DeviceProgram {
    /// An instruction a line, with the places of its operands.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for number in 1..=self.len() as u16 {
            let Some(operation) = self.operation(number) else {
                continue;
            };
            let (result, operands) = self.places(number);
            write!(f, "{result} = {}(", operation.name)?;
            let count = operation
                .takes
                .iter()
                .filter(|kind| kind.is_operand())
                .count();
            write!(f, "{})", operands[..count].join(", "))?;
            match self.line(number) {
                Some(line) => writeln!(f, " @{line}")?,
                None => writeln!(f)?,
            }
        }
        Ok(())
    }
}
