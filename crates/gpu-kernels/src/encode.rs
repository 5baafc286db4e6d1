//! From first-order forms to device programs.

use arc_dsl::{Primitive, Value};
use arc_form::{Form, Instruction, Needs, Op, Operand, Output, Plan, Target, Type, plan};

use crate::interface::{BailOut, Key, Representation, SIDE, Structure};
use crate::list_operations::ListOperation;
use crate::operations::{OPERATIONS, Operation};
use crate::pool::Pool;
use crate::program::{Builder, DeviceProgram, Immediate, TooLarge, ValueId};

mod calls;
mod control;
mod conversions;
mod held;
mod keys;
mod lanes;
mod lists;
mod loops;
mod shapes;

use shapes::Shape;

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
    /// A value that is held in a way in which no operation takes it.
    #[error("no operation for {0}")]
    Shape(String),
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
    /// By what elements are compared; `None` if no function is taken.
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
    /// A list in the arena, with elements of this shape.
    List(ValueId, Box<Shape>),
    /// Of a step that always fails.
    Never,
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
    let plan = plan(form, &TARGET);
    let mut encoder = Encoder {
        ways: held::Ways::of(form, &plan),
        plan: Some(plan),
        values: vec![None; form.ids as usize],
        types: types_of(form),
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
    let mut result = encoder.held(form.body.result());
    // Where a grid is due, the tuple of its rows is one.
    let is_rows = encoder
        .type_of(form.body.result())
        .is_some_and(|ty| ty == Type::tuple_of(Type::tuple_of(Type::Int)));
    if is_rows && matches!(result, SymbolicValue::List(..)) {
        encoder.clipped = false;
        result = encoder.held_as(&result, &Shape::Grid)?;
    }
    encoder.finish(&result)
}

/// The type of each value, by its id.
fn types_of(form: &Form) -> Vec<Type> {
    fn fill(region: &arc_form::Region, types: &mut [Type]) {
        for (id, ty) in &region.parameters {
            types[id.index()] = ty.clone();
        }
        for instruction in &region.instructions {
            types[instruction.id.index()] = instruction.ty.clone();
            for region in &instruction.regions {
                fill(region, types);
            }
        }
    }
    let mut types = vec![Type::Never; form.ids as usize];
    fill(&form.body, &mut types);
    types
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
    /// The plan of the form; `None` if calls are encoded without one.
    plan: Option<Plan>,
    builder: Builder,
    /// By their ids in the form, those that are made.
    values: Vec<Option<SymbolicValue>>,
    /// By their ids in the form, the types of all.
    types: Vec<Type>,
    /// The grids whose frontiers were found, by what those are merged to.
    frontiers: Vec<(ValueId, ValueId)>,
    /// The line of what is being encoded.
    line: u32,
    /// Whether nobody sees cells outside rows and columns 0 to 31 of what is made next.
    clipped: bool,
    /// By their ids in the form, which sets of locations are held as lists, and which objects are
    /// painted and nothing else.
    ways: held::Ways,
    /// Whether what is made next is such a set of locations.
    listed: bool,
    /// Whether it is such an object.
    painted: bool,
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
            SymbolicValue::Tuple(_) | SymbolicValue::Elements(_) | SymbolicValue::List(..) => {
                return Err(HostOnly::Type("tuple".to_owned()));
            }
            SymbolicValue::Never => return Err(HostOnly::Step("a program that always fails")),
        };
        Ok(self.builder.finish(value, representation, structure)?)
    }

    /// The type of an operand; `None` if it is a constant that has none.
    fn type_of(&self, operand: &Operand) -> Option<Type> {
        match operand {
            Operand::Id(id) => self.types.get(id.index()).cloned(),
            Operand::Constant(value) => value.value_type(),
        }
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
        self.line = instruction.line;
        self.clipped = false;
        self.listed = self.ways.is_listed(instruction.id);
        self.painted = self.ways.is_painted(instruction.id);
        // What is made of what always fails is not made.
        if arguments
            .iter()
            .any(|held| matches!(held, SymbolicValue::Never))
        {
            return Ok(SymbolicValue::Never);
        }
        match instruction.op {
            Op::Call(primitive) => self.call(primitive, instruction, &arguments),
            Op::Tuple if are_integers(&arguments) => {
                self.call(Primitive::Astuple, instruction, &arguments)
            }
            Op::Tuple => Ok(SymbolicValue::Tuple(arguments)),
            Op::Item(number) => self.item(usize::from(number), &arguments),
            Op::Set => self.set(instruction, &arguments),
            Op::If => self.choice(instruction, &arguments[0], true),
            Op::Choose => self.choice(instruction, &arguments[0], false),
            Op::Count => {
                let count = self.operand(&arguments[0], Representation::Int)?;
                let count = self.plain(ListOperation::PositiveCount, &[count]);
                Ok(SymbolicValue::OnDevice(count, Representation::Int, None))
            }
            Op::Iterate => self.iterated(instruction, &arguments),
            Op::Fused(_) => self.region(&instruction.regions[0], arguments),
            Op::Absent => Ok(SymbolicValue::Constant(Value::Nothing)),
            Op::Fail(..) => Ok(self.failed()),
        }
    }

    /// A step that always fails.
    fn failed(&mut self) -> SymbolicValue {
        self.plain(ListOperation::Fail, &[]);
        SymbolicValue::Never
    }

    /// The set of some values.
    fn set(
        &mut self,
        instruction: &Instruction,
        items: &[SymbolicValue],
    ) -> Result<SymbolicValue, HostOnly> {
        let element = instruction.ty.element().as_ref().and_then(Shape::of_type);
        let element = element.ok_or_else(|| HostOnly::Type(instruction.ty.to_string()))?;
        let list = self.list_of_items(items, &element)?;
        self.clipped = self.is_clipped(instruction);
        self.gathered(list, &element, &instruction.ty)
    }

    /// Whether nobody sees cells outside rows and columns 0 to 31 of what an instruction gives.
    fn is_clipped(&self, instruction: &Instruction) -> bool {
        let plan = self.plan.as_ref();
        plan.is_some_and(|plan| plan.is_clipped(instruction.id))
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
            (
                Primitive::First,
                [
                    SymbolicValue::Tuple(_)
                    | SymbolicValue::Elements(_)
                    | SymbolicValue::OnDevice(_, Representation::Cell, _),
                ],
            ) => self.item(0, arguments)?,
            (Primitive::Last, [SymbolicValue::OnDevice(_, Representation::Cell, _)]) => {
                self.item(1, arguments)?
            }
            (Primitive::Last, [SymbolicValue::Tuple(items)]) if !items.is_empty() => {
                self.item(items.len() - 1, arguments)?
            }
            (Primitive::Last, [SymbolicValue::Elements(elements)]) if elements.count > 0 => {
                self.item(elements.count - 1, arguments)?
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
        let missing = || HostOnly::Call(primitive, listed(arguments));
        let opcode = Self::operation_for(call, arguments).ok_or_else(missing)?;
        let operation = &OPERATIONS[opcode];
        if let Some(structure) = structures_of(arguments).next() {
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
        if primitive == Primitive::Frontiers {
            self.frontiers.push((value, operands[0]));
        }
        let structure = immediate
            .structure
            .filter(|_| operation.gives == Representation::Objects);
        Ok(SymbolicValue::OnDevice(value, operation.gives, structure))
    }

    /// The first operation that is the primitive for operands so held, by its opcode. All sets of
    /// objects have to fall into elements in one way, which can be found again.
    fn operation_for(call: Call, arguments: &[SymbolicValue]) -> Option<usize> {
        let mut structures = structures_of(arguments);
        if let Some(structure) = structures.next()
            && (structures.any(|other| other != structure)
                || structure.is_some_and(|one| !one.can_be_found()))
        {
            return None;
        }
        let fits = |operation: &Operation| {
            // The function of a loop is a region of the form and no argument.
            let takes = operation
                .takes
                .iter()
                .filter(|representation| **representation != Representation::Key);
            operation.primitive == call.primitive
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
        OPERATIONS.iter().position(fits)
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
            SymbolicValue::List(list, _) if representation == Representation::List => Ok(*list),
            SymbolicValue::Tuple(_)
            | SymbolicValue::Elements(_)
            | SymbolicValue::List(..)
            | SymbolicValue::Never => Err(HostOnly::Type("tuple".to_owned())),
        }
    }

    /// An item of a tuple.
    fn item(
        &mut self,
        number: usize,
        arguments: &[SymbolicValue],
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
                    line: self.line,
                    gives: Some(Representation::Int),
                };
                self.emit(call, 0, arguments)
            }
            [SymbolicValue::OnDevice(cell, Representation::Cell, _)] if number < 2 => {
                let (operation, representation) = match number {
                    0 => (ListOperation::ColourOfCell, Representation::Int),
                    _ => (ListOperation::PlaceOfCell, Representation::Pair),
                };
                let part = self.plain(operation, &[*cell]);
                Ok(SymbolicValue::OnDevice(part, representation, None))
            }
            [SymbolicValue::List(list, element)] => {
                let (list, element) = (*list, (**element).clone());
                self.element(list, &element, number, false)
            }
            [SymbolicValue::Constant(value)] => {
                let container = value.as_container();
                let item = container.and_then(|container| container.value(number));
                let item = item.ok_or(HostOnly::Step("an item that is not there"))?;
                Ok(SymbolicValue::Constant(item))
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
        // How a known set of objects would fall into elements is in no instruction.
        SymbolicValue::Constant(_) if representation == Representation::Objects => false,
        SymbolicValue::Constant(value) => {
            representation.is_operand() && Pool::default().push(representation, value).is_ok()
        }
        SymbolicValue::Tuple(_)
        | SymbolicValue::Elements(_)
        | SymbolicValue::List(..)
        | SymbolicValue::Never => false,
    }
}

/// How the sets of objects among some values fall into elements.
fn structures_of(held: &[SymbolicValue]) -> impl Iterator<Item = Option<Structure>> {
    held.iter().filter_map(|held| match held {
        SymbolicValue::OnDevice(_, Representation::Objects, structure) => Some(*structure),
        _ => None,
    })
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
        SymbolicValue::List(_, element) => format!("a list of {element:?}").to_lowercase(),
        SymbolicValue::Never => "nothing".to_owned(),
    };
    arguments.iter().map(name).collect::<Vec<_>>().join(", ")
}
