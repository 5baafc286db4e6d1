//! Compiles forms to device programs.

use arc_dsl::{ContainerKind, Primitive, Value};
use arc_form::{Form, Instruction, Op, Operand, Plan, Target, Type, plan};

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

/// Why a form can only run on the host.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, thiserror::Error)]
pub enum HostOnly {
    /// A primitive with a loop that the device does not have.
    #[error("a loop: `{0}`")]
    Loop(Primitive),
    /// No operation of the device implements this primitive for operands in these representations.
    #[error("no device operation for `{0}({1})`")]
    Call(Primitive, String),
    /// Any other step that the device cannot run, such as a failure that is certain.
    #[error("no device operation for {0}")]
    Step(&'static str),
    /// A value of a type that the device cannot hold.
    #[error("a value of type {0}")]
    Type(String),
    /// A value in a shape that no operation takes.
    #[error("no operation for {0}")]
    Shape(String),
    /// A constant that the device cannot hold.
    #[error("a constant that does not fit: {0}")]
    Constant(BailOut),
    /// It has more live values at a time than an evaluation has memory for.
    #[error("{0}")]
    TooLarge(#[from] TooLarge),
}

impl HostOnly {
    /// The reason without the types of the operands, for counting programs by reason.
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
    /// The function by which elements are compared; `None` if the call takes none.
    key: Option<Key>,
    /// Whether nothing uses cells of the result outside rows and columns 0 to 31.
    clipped: bool,
    /// Line of the program's text; 0 for none.
    line: u32,
    /// The representation that the result must have; `None` for any.
    gives: Option<Representation>,
}

/// What the encoder knows about a value.
#[derive(Debug, Clone)]
pub(crate) enum SymbolicValue {
    /// A value on the device and the representation in which it is used; for a set of objects, its structure.
    OnDevice(ValueId, Representation, Option<Structure>),
    /// A constant.
    Constant(Value),
    /// A tuple of separately held items.
    Tuple(Vec<SymbolicValue>),
    /// A tuple whose elements an operation computes one at a time, on demand.
    Elements(Box<Elements>),
    /// A list in the arena, with elements of this shape.
    List(ValueId, Box<Shape>),
    /// The result of a step that always fails.
    Never,
}

#[derive(Debug, Clone)]
pub(crate) struct Elements {
    call: Call,
    arguments: Vec<SymbolicValue>,
    count: usize,
    /// The first element, computed with the tuple: the evaluation must fail even if it uses no element.
    first: SymbolicValue,
}

/// Compiles a form to a device program with one parameter, the input grid.
///
/// A set of objects is held as one object, which each operation splits into elements again, so how it splits must be
/// known at compile time.
pub fn encode(form: &Form) -> Result<DeviceProgram, HostOnly> {
    if !form.is_program() {
        return Err(HostOnly::Step("a call with parameters of its own"));
    }
    let plan = plan(form, &TARGET);
    let mut encoder = Encoder {
        storage: held::StorageChoices::of(form, &plan),
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
    let mut result = encoder.held(&form.body.result);
    // A tuple of rows as the program's result is a grid.
    let is_rows = encoder
        .type_of(&form.body.result)
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

/// The device as a target of planning: it has one representation per type, and its patches are limited to `SIDE` rows
/// and columns.
pub(crate) const TARGET: Target = Target {
    name: "the device",
    representations: &[],
    window: Some(SIDE as u32),
};

/// The representation of values of a type; `None` for types whose values are lists or tuples.
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
    /// The values defined so far, by their ids in the form.
    values: Vec<Option<SymbolicValue>>,
    /// The types of all values, by their ids in the form.
    types: Vec<Type>,
    /// Each set of frontiers, with the grid that they are the frontiers of.
    frontiers: Vec<(ValueId, ValueId)>,
    /// The program line of the instruction being encoded.
    line: u32,
    /// Whether nothing uses cells of the next result outside rows and columns 0 to 31.
    clipped: bool,
    /// Which sets of locations are held as lists.
    storage: held::StorageChoices,
    /// Whether the next result is such a set of locations.
    listed: bool,
}

impl Encoder {
    /// Adds the next parameter of the program.
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

    /// The finished program, whose result is this value.
    pub(crate) fn finish(mut self, result: &SymbolicValue) -> Result<DeviceProgram, HostOnly> {
        let (value, representation, structure) = match result {
            SymbolicValue::OnDevice(_, _, Some(Structure::Frontiers)) => {
                return Err(HostOnly::Step("a result that is a set of frontiers"));
            }
            SymbolicValue::OnDevice(value, representation, structure) => {
                (*value, *representation, *structure)
            }
            // The only constant that can be a result is a grid.
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

    /// Whether an operand is a tuple or a set; `None` if it is neither.
    fn kind_of(&self, operand: &Operand) -> Option<ContainerKind> {
        match operand {
            Operand::Id(id) => self.types[id.index()].container(),
            Operand::Constant(value) => value.as_container().map(|container| container.kind),
        }
    }

    fn is_set(&self, operand: &Operand) -> bool {
        self.kind_of(operand) == Some(ContainerKind::Set)
    }

    fn held(&self, operand: &Operand) -> SymbolicValue {
        match operand {
            Operand::Constant(value) => SymbolicValue::Constant(value.clone()),
            Operand::Id(id) => {
                let held = self.values.get(id.index()).cloned().flatten();
                // The verifier of forms ensures that every value is defined before it is used.
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
        self.listed = self.storage.is_listed(instruction.id);
        // Code after a step that always fails is never reached.
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
            Op::Count => Err(HostOnly::Step("a number of rounds that is computed")),
            Op::Iterate => self.iterated(instruction, &arguments),
            Op::Fused(_) => self.region(&instruction.regions[0], arguments),
            Op::Absent => Ok(SymbolicValue::Constant(Value::Nothing)),
            Op::Fail(..) => Ok(self.failed()),
        }
    }

    /// Emits a step that always fails.
    fn failed(&mut self) -> SymbolicValue {
        self.plain(ListOperation::Fail, &[]);
        SymbolicValue::Never
    }

    /// Emits a set of some values.
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

    /// Whether nothing uses cells of an instruction's result outside rows and columns 0 to 31.
    fn is_clipped(&self, instruction: &Instruction) -> bool {
        let plan = self.plan.as_ref();
        plan.is_some_and(|plan| plan.is_clipped(instruction.id))
    }

    /// The result of a call whose value exists already, in the pool or as a tuple of separately held items, and of a
    /// split whose parts are computed on demand; `None` for other calls.
    fn existing_value(
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

    /// Emits the first operation that implements the primitive for these operands. If the primitive returns a tuple,
    /// the operation computes the element at this index.
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

    /// The opcode of the first operation that implements the primitive for these operands. All sets of objects among
    /// them must split into elements in the same way, one that kernels can redo.
    fn operation_for(call: Call, arguments: &[SymbolicValue]) -> Option<usize> {
        let mut structures = structures_of(arguments);
        if let Some(structure) = structures.next()
            && (structures.any(|other| other != structure)
                || structure.is_some_and(|one| !one.can_be_found()))
        {
            return None;
        }
        let fits = |operation: &Operation| {
            // The function of a loop is a region of the form, not an argument.
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

    /// The value as an operand; a constant is added in this representation.
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

    /// The item of a tuple at an index.
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

/// Whether these are two integers, whose tuple is held as a pair.
fn are_integers(arguments: &[SymbolicValue]) -> bool {
    let is_int = |held: &SymbolicValue| match held {
        SymbolicValue::OnDevice(_, representation, _) => *representation == Representation::Int,
        SymbolicValue::Constant(value) => matches!(value, Value::Int(_)),
        _ => false,
    };
    arguments.len() == 2 && arguments.iter().all(is_int)
}

/// Whether a value can be an operand of the operation that has this representation.
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
        // Instructions cannot say how a constant set of objects splits into elements.
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

/// The structures of the sets of objects among some values.
fn structures_of(held: &[SymbolicValue]) -> impl Iterator<Item = Option<Structure>> {
    held.iter().filter_map(|held| match held {
        SymbolicValue::OnDevice(_, Representation::Objects, structure) => Some(*structure),
        _ => None,
    })
}

/// The key by which a loop compares, if its body is a single call of a primitive that the device has as a key.
fn key_of(region: &arc_form::Region) -> Option<Key> {
    let ([(parameter, _)], [step]) = (region.parameters.as_slice(), region.instructions.as_slice())
    else {
        return None;
    };
    let Op::Call(primitive) = step.op else {
        return None;
    };
    let of_parameter = step.arguments == [Operand::Id(*parameter)] && step.regions.is_empty();
    let given = region.result == Operand::Id(step.id);
    Key::by(primitive).filter(|_| of_parameter && given)
}

/// The representations of operands, for error messages.
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
