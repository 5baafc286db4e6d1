//! From first-order forms to device programs.

use std::fmt;

use arc_dsl::{Primitive, Value};
use arc_form::{Form, Instruction, Needs, Op, Operand, Output, Plan, Target, Type, plan};

use crate::interface::{BailOut, Key, Representation, SIDE, Structure};
use crate::operations::{OPERATIONS, Operation};
use crate::pool::Pool;
use crate::program::{Builder, DeviceProgram, Immediate, TooLarge, ValueId};

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
    Constant(BailOut),
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
    /// By what elements are compared; nothing where no function is taken.
    key: Option<Key>,
    /// Whether cells of the result outside rows and columns 0 to 31 are seen by nobody.
    clipped: bool,
    /// Line of the program's text; 0 for none.
    line: u32,
    /// What it has to give, where that is known.
    gives: Option<Representation>,
}

/// What the encoder knows of a value.
#[derive(Debug, Clone)]
pub(crate) enum SymbolicValue {
    /// A value of the device, taken as so represented; the structure of a set of objects.
    OnDevice(ValueId, Representation, Option<Structure>),
    /// A value that is known.
    Constant(Value),
    /// A tuple whose items the encoder knows.
    Tuple(Vec<SymbolicValue>),
    /// The tuple that an operation gives one element at a time: whose elements are made on demand.
    Elements(Box<Elements>),
}

#[derive(Debug, Clone)]
pub(crate) struct Elements {
    call: Call,
    arguments: Vec<SymbolicValue>,
    count: usize,
    /// The first of them, made where the tuple is: what fails has to fail though nothing is used.
    first: SymbolicValue,
}

/// The form as a program of the device that takes a grid, the input.
///
/// A set of objects is held as one object, whose elements each operation finds anew, so that how
/// they are found has to be known here. Of a form of several results it is the first one's program.
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
    if !form.is_program() {
        return Err(HostOnly::Step("a call with parameters of its own"));
    }
    let mut encoder = Encoder {
        plan: Some(plan(form, &TARGET)),
        values: vec![None; form.ids as usize],
        ..Encoder::default()
    };
    for (id, ty) in &form.body.parameters {
        let representation = representation_of(ty).ok_or_else(|| HostOnly::Type(ty.to_string()))?;
        encoder.values[id.index()] = Some(encoder.input(representation, None));
    }
    for instruction in &form.body.instructions {
        let held = encoder.instruction(instruction)?;
        encoder.values[instruction.id.index()] = Some(held);
    }
    let result = encoder.held(form.body.result());
    encoder.finish(&result)
}

/// What the device can do with values: every one is held by its type, and of a patch what the lanes
/// have.
pub(crate) const TARGET: Target = Target {
    name: "the device",
    representations: &[],
    window: Some(SIDE as u32),
};

/// The results of a form as programs of their own, in their order: one launch makes them all, and
/// each has a verdict. What they have in common is made by each of them.
pub fn encode_all(form: &Form) -> Vec<Result<DeviceProgram, HostOnly>> {
    let slices = (0..form.outputs.len()).filter_map(|at| form.slice(at));
    slices.map(|slice| encode(&slice)).collect()
}

/// How the device holds values of a type.
fn representation_of(ty: &Type) -> Option<Representation> {
    match ty {
        Type::Bool | Type::Int | Type::MaybeInt => Some(Representation::Int),
        Type::Pair | Type::MaybePair => Some(Representation::Pair),
        Type::Grid => Some(Representation::Grid),
        Type::Indices => Some(Representation::Patch),
        Type::Object => Some(Representation::Object),
        Type::Set(element) => match **element {
            Type::Object => Some(Representation::Objects),
            Type::Int => Some(Representation::Colours),
            _ => None,
        },
        _ => None,
    }
}

/// Emits calls of primitives as instructions.
#[derive(Debug, Default)]
pub(crate) struct Encoder {
    /// The plan of the form; nothing where calls are encoded without one.
    plan: Option<Plan>,
    builder: Builder,
    /// By their ids in the form, those that are made.
    values: Vec<Option<SymbolicValue>>,
}

impl Encoder {
    /// The next input of the program.
    pub(crate) fn input(
        &mut self,
        representation: Representation,
        structure: Option<Structure>,
    ) -> SymbolicValue {
        SymbolicValue::OnDevice(
            self.builder.parameter(representation),
            representation,
            structure,
        )
    }

    /// The program that gives this value.
    pub(crate) fn finish(mut self, result: &SymbolicValue) -> Result<DeviceProgram, HostOnly> {
        let (value, representation, structure) = match result {
            SymbolicValue::OnDevice(_, _, Some(Structure::Frontiers)) => {
                return Err(HostOnly::Step("a result that is a set of frontiers"));
            }
            SymbolicValue::OnDevice(value, representation, structure) => {
                (*value, *representation, *structure)
            }
            // A constant grid is the one constant that is an answer.
            SymbolicValue::Constant(_) => (
                self.operand(result, Representation::Grid)?,
                Representation::Grid,
                None,
            ),
            SymbolicValue::Tuple(_) | SymbolicValue::Elements(_) => {
                return Err(HostOnly::Type("tuple".to_owned()));
            }
        };
        Ok(self.builder.finish(value, representation, structure)?)
    }

    fn held(&self, operand: &Operand) -> SymbolicValue {
        match operand {
            Operand::Constant(value) => SymbolicValue::Constant(value.clone()),
            Operand::Id(id) => {
                let held = self.values.get(id.index()).cloned().flatten();
                // The verifier of forms sees to it that every value is made before it is used.
                held.unwrap_or(SymbolicValue::Constant(Value::Nothing))
            }
        }
    }

    fn instruction(&mut self, instruction: &Instruction) -> Result<SymbolicValue, HostOnly> {
        let arguments: Vec<SymbolicValue> = instruction
            .arguments
            .iter()
            .map(|operand| self.held(operand))
            .collect();
        match instruction.op {
            Op::Call(primitive) => self.call(primitive, instruction, &arguments),
            Op::Tuple if are_integers(&arguments) => {
                self.call(Primitive::Astuple, instruction, &arguments)
            }
            Op::Tuple => Ok(SymbolicValue::Tuple(arguments)),
            Op::Item(number) => self.item(usize::from(number), &arguments, instruction.line),
            Op::Set => Err(HostOnly::Step("a set of values")),
            Op::If | Op::Choose => Err(HostOnly::Step("a choice of what is done")),
            Op::Iterate | Op::Count => Err(HostOnly::Step("`power`")),
            Op::Fused(_) => self.fused(instruction, arguments),
            Op::Absent => Ok(SymbolicValue::Constant(Value::Nothing)),
            Op::Fail(..) => Err(HostOnly::Step("a step that always fails")),
        }
    }

    /// The calls that are one instruction, one after the other.
    fn fused(
        &mut self,
        instruction: &Instruction,
        arguments: Vec<SymbolicValue>,
    ) -> Result<SymbolicValue, HostOnly> {
        let region = &instruction.regions[0];
        for ((id, _), argument) in region.parameters.iter().zip(arguments) {
            self.values[id.index()] = Some(argument);
        }
        for call in &region.instructions {
            let made = self.instruction(call)?;
            self.values[call.id.index()] = Some(made);
        }
        Ok(self.held(region.result()))
    }

    fn call(
        &mut self,
        primitive: Primitive,
        instruction: &Instruction,
        arguments: &[SymbolicValue],
    ) -> Result<SymbolicValue, HostOnly> {
        let key = match instruction.regions.first() {
            None => None,
            Some(region) => Some(key_of(region).ok_or(HostOnly::Loop(primitive))?),
        };
        let call = Call {
            primitive,
            key,
            clipped: self
                .plan
                .as_ref()
                .is_some_and(|plan| plan.is_clipped(instruction.id)),
            line: instruction.line,
            gives: None,
        };
        if let Some(held) = self.renamed(call, arguments)? {
            return Ok(held);
        }
        let representation = representation_of(&instruction.ty);
        let gives = Some(representation.ok_or_else(|| HostOnly::Type(instruction.ty.to_string()))?);
        self.emit(Call { gives, ..call }, 0, arguments)
    }

    /// A call outside a form: of functions among its arguments `key` is the one, and nothing is known
    /// of what its result is for.
    pub(crate) fn apply(
        &mut self,
        primitive: Primitive,
        key: Option<Primitive>,
        arguments: &[SymbolicValue],
    ) -> Result<SymbolicValue, HostOnly> {
        let key_of = |function| Key::by(function).ok_or(HostOnly::Loop(primitive));
        let call = Call {
            primitive,
            key: key.map(key_of).transpose()?,
            clipped: false,
            line: 0,
            gives: None,
        };
        match self.renamed(call, arguments)? {
            Some(held) => Ok(held),
            None => self.emit(call, 0, arguments),
        }
    }

    /// The result of a call that needs no instruction, since it lies in the pool already or is a
    /// tuple whose items the encoder keeps apart; nothing of others.
    fn renamed(
        &mut self,
        call: Call,
        arguments: &[SymbolicValue],
    ) -> Result<Option<SymbolicValue>, HostOnly> {
        Ok(Some(match (call.primitive, arguments) {
            (Primitive::Identity, [held]) => held.clone(),
            (Primitive::Merge, [SymbolicValue::OnDevice(value, Representation::Objects, _)]) => {
                SymbolicValue::OnDevice(*value, Representation::Object, None)
            }
            (
                Primitive::Toindices,
                [
                    SymbolicValue::OnDevice(
                        value,
                        Representation::Object | Representation::Patch,
                        _,
                    ),
                ],
            ) => SymbolicValue::OnDevice(*value, Representation::Patch, None),
            (Primitive::Astuple, _) if !are_integers(arguments) => {
                SymbolicValue::Tuple(arguments.to_vec())
            }
            (Primitive::First, [SymbolicValue::Tuple(_) | SymbolicValue::Elements(_)]) => {
                self.item(0, arguments, call.line)?
            }
            (Primitive::Last, [SymbolicValue::Tuple(items)]) if !items.is_empty() => {
                self.item(items.len() - 1, arguments, call.line)?
            }
            (Primitive::Last, [SymbolicValue::Elements(elements)]) if elements.count > 0 => {
                self.item(elements.count - 1, arguments, call.line)?
            }
            (
                Primitive::Hsplit | Primitive::Vsplit,
                [_, SymbolicValue::Constant(Value::Int(count @ 1..=SIDE))],
            ) => SymbolicValue::Elements(Box::new(Elements {
                call,
                count: *count as usize,
                first: self.emit(call, 0, arguments)?,
                arguments: arguments.to_vec(),
            })),
            _ => return Ok(None),
        }))
    }

    /// Emits the first operation that is the primitive for operands so held, for a tuple its
    /// element of this number.
    fn emit(
        &mut self,
        call: Call,
        element: u8,
        arguments: &[SymbolicValue],
    ) -> Result<SymbolicValue, HostOnly> {
        let primitive = call.primitive;
        let mut immediate = Immediate {
            clipped: call.clipped,
            key: call.key.map_or(element, |key| key as u8),
            ..Immediate::default()
        };
        let fits = |operation: &Operation| {
            // The function of a loop is a region of the form and no argument.
            let takes = operation
                .takes
                .iter()
                .filter(|representation| **representation != Representation::Key);
            operation.primitive == primitive
                && call
                    .gives
                    .is_none_or(|representation| representation == operation.gives)
                && call.key.is_some() == operation.takes.contains(&Representation::Key)
                && takes.clone().count() == arguments.len()
                && arguments
                    .iter()
                    .zip(takes)
                    .all(|(held, representation)| serves(held, *representation, operation))
        };
        let found = OPERATIONS.iter().position(fits);
        let missing = || HostOnly::Call(primitive, listed(arguments));
        let opcode = found.ok_or_else(missing)?;
        let operation = &OPERATIONS[opcode];
        let mut structures = arguments.iter().filter_map(|held| match held {
            SymbolicValue::OnDevice(_, Representation::Objects, structure) => Some(*structure),
            _ => None,
        });
        if let Some(structure) = structures.next() {
            if structures.any(|other| other != structure) || structure == Some(Structure::Frontiers)
            {
                return Err(missing());
            }
            immediate.structure = structure;
        }
        let flag = |at: usize| matches!(&arguments[at], SymbolicValue::Constant(value) if value.is_truthy());
        match primitive {
            Primitive::Objects => {
                immediate.flag = flag(3);
                immediate.structure = Some(Structure::Connected {
                    univalued: flag(1),
                    diagonal: flag(2),
                });
            }
            Primitive::Partition | Primitive::Fgpartition => {
                immediate.structure = Some(Structure::ByColour);
            }
            Primitive::Frontiers => immediate.structure = Some(Structure::Frontiers),
            _ => {}
        }
        let mut operands = Vec::with_capacity(4);
        let takes = operation
            .takes
            .iter()
            .filter(|representation| **representation != Representation::Key);
        for (held, representation) in arguments.iter().zip(takes) {
            if representation.is_operand() {
                operands.push(self.operand(held, *representation)?);
            }
        }
        let value = self.builder.emit(opcode, immediate, &operands, call.line);
        let structure = immediate
            .structure
            .filter(|_| operation.gives == Representation::Objects);
        Ok(SymbolicValue::OnDevice(value, operation.gives, structure))
    }

    /// A value of the pool.
    fn operand(
        &mut self,
        held: &SymbolicValue,
        representation: Representation,
    ) -> Result<ValueId, HostOnly> {
        match held {
            SymbolicValue::OnDevice(value, ..) => Ok(*value),
            SymbolicValue::Constant(value) => self
                .builder
                .constant(representation, value)
                .map_err(HostOnly::Constant),
            SymbolicValue::Tuple(_) | SymbolicValue::Elements(_) => {
                Err(HostOnly::Type("tuple".to_owned()))
            }
        }
    }

    /// An item of a tuple.
    fn item(
        &mut self,
        number: usize,
        arguments: &[SymbolicValue],
        line: u32,
    ) -> Result<SymbolicValue, HostOnly> {
        match arguments {
            [SymbolicValue::Tuple(items)] => items
                .get(number)
                .cloned()
                .ok_or(HostOnly::Step("an item that is not there")),
            [SymbolicValue::Elements(elements)] if number == 0 => Ok(elements.first.clone()),
            [SymbolicValue::Elements(elements)] if number < elements.count => {
                self.emit(elements.call, number as u8, &elements.arguments)
            }
            [SymbolicValue::OnDevice(_, Representation::Pair, _)] => {
                let first = number == 0;
                let call = Call {
                    primitive: if first {
                        Primitive::First
                    } else {
                        Primitive::Last
                    },
                    key: None,
                    clipped: false,
                    line,
                    gives: Some(Representation::Int),
                };
                self.emit(call, 0, arguments)
            }
            _ => Err(HostOnly::Step("an item of such a tuple")),
        }
    }
}

/// Whether they are two integers, so that their tuple is a pair.
fn are_integers(arguments: &[SymbolicValue]) -> bool {
    let is_int = |held: &SymbolicValue| match held {
        SymbolicValue::OnDevice(_, representation, _) => *representation == Representation::Int,
        SymbolicValue::Constant(value) => matches!(value, Value::Int(_)),
        _ => false,
    };
    arguments.len() == 2 && arguments.iter().all(is_int)
}

/// Whether a value can be an operand, so represented, of the operation.
fn serves(held: &SymbolicValue, representation: Representation, operation: &Operation) -> bool {
    match held {
        SymbolicValue::OnDevice(_, found, _) => operation.admits(*found, representation),
        SymbolicValue::Constant(Value::Object(_))
            if !operation.admits(Representation::Object, representation) =>
        {
            false
        }
        SymbolicValue::Constant(value) if representation == Representation::Flag => {
            matches!(value, Value::Bool(_) | Value::Int(_))
        }
        SymbolicValue::Constant(value) => {
            representation.is_operand() && Pool::default().push(representation, value).is_ok()
        }
        SymbolicValue::Tuple(_) | SymbolicValue::Elements(_) => false,
    }
}

/// The key by which a loop compares, where one primitive is its body.
fn key_of(region: &arc_form::Region) -> Option<Key> {
    let ([(parameter, _)], [step]) = (region.parameters.as_slice(), region.instructions.as_slice())
    else {
        return None;
    };
    let Op::Call(primitive) = step.op else {
        return None;
    };
    let of_parameter = step.arguments == [Operand::Id(*parameter)] && step.regions.is_empty();
    let given = *region.result() == Operand::Id(step.id);
    Key::by(primitive).filter(|_| of_parameter && given)
}

/// How operands are represented, for people.
fn listed(arguments: &[SymbolicValue]) -> String {
    let name = |held: &SymbolicValue| match held {
        SymbolicValue::OnDevice(_, representation, _) => {
            format!("{representation:?}").to_lowercase()
        }
        SymbolicValue::Constant(value) => value.kind().to_string(),
        SymbolicValue::Tuple(_) => "a fixed tuple".to_owned(),
        SymbolicValue::Elements(_) => "a tuple of grids".to_owned(),
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
                .filter(|representation| representation.is_operand())
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
