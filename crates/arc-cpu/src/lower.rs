//! Lowers the form to steps on slots.

use std::borrow::Cow;
use std::fmt;
use std::num::NonZeroU32;

use rustc_hash::FxHashMap;

use super::TARGET;
use super::bail_out::Unsupported;
use super::ops::placing::CELLS_OF_COLOUR;
use super::ops::{self, basics, loops};
use super::program::{AvailableVectors, Kernel, KernelFn, Vectors};
use super::program::{Code, Origin, Region, Step};
use super::slot::At;
use super::values::are_nested;
use crate::selection::{Constraint, Immediate, ResultType, Selection};
use arc_dsl::{ErrorKind, Primitive, Value};
use arc_form::{Form, Fused, Id, Instruction, Op, Operand, Plan, Representation, Type, plan};

mod collect;
mod definitions;
mod filters;
mod looping;
mod unordered;
mod vectorise;

/// The most operands of a call or of a fused operation.
const MOST_OPERANDS: usize = 5;

/// The slots of operands, and their types.
#[derive(Default)]
pub(super) struct Operands {
    slots: [u32; MOST_OPERANDS],
    types: [Type; MOST_OPERANDS],
    len: usize,
}

impl Operands {
    pub(super) fn slots(&self) -> &[u32] {
        &self.slots[..self.len]
    }

    pub(super) fn types(&self) -> &[Type] {
        &self.types[..self.len]
    }

    /// Adds one; `None` if there is no room for more.
    pub(super) fn push(&mut self, slot: u32, ty: Type) -> Option<()> {
        *self.slots.get_mut(self.len)? = slot;
        self.types[self.len] = ty;
        self.len += 1;
        Some(())
    }
}

/// The steps of a region under construction.
pub(super) type Steps = Vec<(Step<u32>, Origin)>;

/// Lowers forms to steps. Nothing carries over from one form to the next except the memory.
#[derive(Debug)]
pub(super) struct Lowering {
    /// The types of the form's values as they are represented, by id.
    types: Vec<Type>,
    /// The numbers of these types, if they were asked for.
    numbers: Vec<Option<NonZeroU32>>,
    plan: Plan,
    /// The slots of values that share the slot of another.
    slots: FxHashMap<Id, u32>,
    vectors: AvailableVectors,
    /// Buffers of finished regions, for the next one.
    spare: Vec<Steps>,
    /// The source of the instruction being lowered.
    pub(super) origin: Origin,
    /// The region being lowered.
    within: u32,
    /// The first region of the loop that was lowered last.
    looped: u32,
    code: Code,
}

impl Lowering {
    pub(super) fn new(vectors: Vectors) -> Self {
        Self {
            types: Vec::new(),
            numbers: Vec::new(),
            plan: Plan::default(),
            slots: FxHashMap::default(),
            vectors: AvailableVectors::of(vectors),
            spare: Vec::new(),
            origin: Origin::default(),
            within: 0,
            looped: 0,
            code: Code::default(),
        }
    }

    /// The form as steps.
    pub(super) fn lower(&mut self, form: &Form) -> Result<Code, Unsupported> {
        self.begin(form);
        self.code.output = self.region(&form.body, 0, None)?;
        self.number_of(&self.code.output.clone());
        Ok(self.code.take())
    }

    fn begin(&mut self, form: &Form) {
        self.types.clear();
        self.types.resize(form.ids as usize, Type::Never);
        self.numbers.clear();
        self.numbers.resize(form.ids as usize, None);
        self.plan = plan(form, &TARGET);
        self.slots.clear();
        self.origin = Origin::default();
        self.code.clear();
        self.code.regions.push(Region::default());
        self.code.slots = form.ids;
    }

    pub(super) fn unsupported<T>(&self, reason: impl fmt::Display) -> Result<T, Unsupported> {
        Err(Unsupported {
            line: self.origin.line,
            reason: reason.to_string(),
        })
    }

    pub(super) fn slot(&mut self) -> u32 {
        self.code.slots += 1;
        self.code.slots - 1
    }

    pub(super) fn number_of(&mut self, ty: &Type) -> u32 {
        self.code.number_of(ty)
    }

    /// The number of a value's type as it is represented.
    fn number_of_value(&mut self, id: Id) -> u32 {
        let known = &mut self.numbers[id.index()];
        let number =
            || NonZeroU32::MIN.saturating_add(self.code.number_of(&self.types[id.index()]));
        known.get_or_insert_with(number).get() - 1
    }

    /// Sets the source to this instruction.
    pub(super) fn at(&mut self, instruction: &Instruction) {
        self.origin.line = instruction.line;
        self.origin.primitive = match instruction.op {
            Op::Call(primitive) | Op::Fail(Some(primitive), _) => Some(primitive),
            Op::Count => Some(Primitive::Power),
            // All calls of a fused operation are on its line; the error names the one that may fail.
            Op::Fused(_) => {
                let calls = instruction
                    .regions
                    .iter()
                    .flat_map(|region| &region.instructions);
                let mut calls = calls.filter(|call| call.line == instruction.line);
                calls.find_map(Instruction::primitive)
            }
            _ => None,
        };
    }

    /// The representation of a value.
    pub(super) fn held(&self, id: Id) -> Representation {
        self.plan.representation(id)
    }

    /// Whether a value may lose cells outside the window of a grid.
    pub(super) fn is_clipped(&self, instruction: &Instruction) -> bool {
        self.plan.is_clipped(instruction.id)
    }

    /// The slot of a value.
    pub(super) fn slot_of(&self, id: Id) -> u32 {
        if self.slots.is_empty() {
            return id.0;
        }
        self.slots.get(&id).copied().unwrap_or(id.0)
    }

    /// Binds a parameter to the slot of the operand that it stands for.
    pub(super) fn bind(&mut self, parameter: Id, operand: &Operand) -> Result<(), Unsupported> {
        let (slot, ty) = self.operand(operand)?;
        self.slots.insert(parameter, slot);
        self.set_type(parameter, ty);
        Ok(())
    }

    pub(super) fn set_type(&mut self, id: Id, ty: Type) {
        self.types[id.index()] = ty;
        self.numbers[id.index()] = None;
    }

    pub(super) fn type_of_operand(&self, operand: &Operand) -> Option<Type> {
        match operand {
            Operand::Id(id) => Some(self.types[id.index()].clone()),
            Operand::Constant(value) => value.value_type(),
        }
    }

    /// Adds a step and returns the slot of its result.
    pub(super) fn push(
        &mut self,
        steps: &mut Steps,
        kernel: &Kernel,
        set: impl FnOnce(&mut Step<u32>),
    ) -> u32 {
        let to = self.slot();
        self.push_to(steps, to, kernel, set);
        to
    }

    pub(super) fn push_to(
        &mut self,
        steps: &mut Steps,
        to: u32,
        kernel: &Kernel,
        set: impl FnOnce(&mut Step<u32>),
    ) {
        let step = self.step(to, kernel, set);
        steps.push(step);
    }

    /// A step with this kernel, and its source.
    pub(super) fn step(
        &self,
        to: u32,
        kernel: &Kernel,
        set: impl FnOnce(&mut Step<u32>),
    ) -> (Step<u32>, Origin) {
        let mut step = Step {
            run: KernelFn::new(kernel, self.vectors),
            to,
            a: 0,
            b: 0,
            c: 0,
            d: 0,
            region: 0,
            immediate: 0,
        };
        set(&mut step);
        (step, self.origin)
    }

    pub(super) fn constant(&mut self, value: Value, ty: Type) -> u32 {
        let slot = self.slot();
        self.code.constants.push((slot, value, ty));
        slot
    }

    /// The slot and type of an operand.
    pub(super) fn operand(&mut self, operand: &Operand) -> Result<(u32, Type), Unsupported> {
        match operand {
            Operand::Id(id) => Ok((self.slot_of(*id), self.types[id.index()].clone())),
            Operand::Constant(value) => match value.value_type() {
                Some(ty) => Ok((self.constant(value.clone(), ty.clone()), ty)),
                None => self.unsupported("a constant without a type"),
            },
        }
    }

    /// The slots and the types of an instruction's operands.
    fn operands(&mut self, instruction: &Instruction) -> Result<Operands, Unsupported> {
        let mut operands = Operands::default();
        for operand in &instruction.arguments {
            let (slot, ty) = self.operand(operand)?;
            if operands.push(slot, ty).is_none() {
                return self.unsupported(format_args!(
                    "a call with more than {MOST_OPERANDS} arguments"
                ));
            }
        }
        Ok(operands)
    }

    /// Lowers a region to the one with this number, and returns the type of its result, which is converted to
    /// `want` if that is given.
    fn region(
        &mut self,
        region: &arc_form::Region,
        number: u32,
        want: Option<&Type>,
    ) -> Result<Type, Unsupported> {
        let mut steps = self.spare.pop().unwrap_or_default();
        let defined = self.code.definitions.len();
        let mut parameters = [0; 2];
        for (at, (id, ty)) in region.parameters.iter().enumerate() {
            self.set_type(*id, ty.clone());
            // Only a form of a single call has more than two parameters, and `Batt` finds them by their ids.
            if let Some(parameter) = parameters.get_mut(at) {
                *parameter = id.0;
            }
        }
        let within = std::mem::replace(&mut self.within, number);
        for instruction in &region.instructions {
            let start = steps.len();
            self.instruction(&mut steps, instruction)?;
            self.define(instruction, start..steps.len());
            self.count(&mut steps, instruction.id);
        }
        self.within = within;
        let (mut result, mut ty) = self.operand(&region.result)?;
        if let Some(want) = want {
            result = self.convert(&mut steps, result, &ty, want)?;
            ty = want.clone();
        }
        self.finish_region(steps, number, result, parameters)?;
        let start = self.code.regions[number as usize].start;
        for definition in &mut self.code.definitions[defined..] {
            if definition.within == number {
                definition.steps.start += start;
                definition.steps.end += start;
            }
        }
        Ok(ty)
    }

    /// Adds a check of the number of elements in a nested list: lists share the lists that they contain, so a
    /// few steps can build more elements than any memory holds.
    fn count(&mut self, steps: &mut Steps, id: Id) {
        let ty = &self.types[id.index()];
        let is_list = matches!(
            self.held(id),
            Representation::Typed | Representation::Unordered | Representation::Distinct
        );
        if is_list && are_nested(ty) {
            let number = self.number_of(&ty.clone());
            self.push_to(steps, id.0, &basics::COUNTED, |step| {
                (step.a, step.immediate) = (id.0, number);
            });
        }
    }

    pub(super) fn finish_region(
        &mut self,
        mut steps: Steps,
        number: u32,
        result: u32,
        parameters: [u32; 2],
    ) -> Result<(), Unsupported> {
        let start = self.code.steps.len() as u32;
        let bits = result | parameters[0] | parameters[1];
        if bits > At::MAX.into() || !steps.iter().all(|(step, _)| step.is_narrow()) {
            return self.unsupported("more values than a step can number");
        }
        let narrow = steps.iter().map(|(step, _)| step.narrow());
        self.code.steps.extend(narrow);
        let origins = steps.iter().map(|(_, origin)| *origin);
        self.code.origins.extend(origins);
        steps.clear();
        self.spare.push(steps);
        self.code.regions[number as usize] = Region {
            start,
            end: self.code.steps.len() as u32,
            result: result as At,
            parameters: parameters.map(|id| id as At),
            ..Region::default()
        };
        Ok(())
    }

    /// Reserves this many consecutive region numbers.
    pub(super) fn regions(&mut self, count: usize) -> u32 {
        let first = self.code.regions.len();
        self.code.regions.resize(first + count, Region::default());
        first as u32
    }

    pub(super) fn instruction(
        &mut self,
        steps: &mut Steps,
        instruction: &Instruction,
    ) -> Result<(), Unsupported> {
        self.at(instruction);
        self.set_type(instruction.id, instruction.ty.clone());
        let to = instruction.id;
        let ty = &instruction.ty;
        let is_known = matches!(instruction.op, Op::Absent | Op::Fail(..));
        if *ty == Type::Never && !is_known && instruction.regions.is_empty() {
            // It fails, or its value has a type that is not known here.
            self.push_to(steps, to.0, &basics::UNTYPED, |_| ());
            return Ok(());
        }
        match instruction.op {
            Op::Call(primitive) if primitive.is_first_order() => {
                self.call(steps, instruction, primitive)
            }
            Op::Call(primitive) => self.run_loop(steps, instruction, primitive),
            Op::Tuple | Op::Set => self.collect(steps, instruction),
            Op::Item(at) => {
                let (from, from_type) = self.operand(&instruction.arguments[0])?;
                let item = self.item(steps, from, &from_type, at.into())?;
                self.copy(steps, item, to);
                Ok(())
            }
            Op::If | Op::Choose => {
                let (condition, truth) = self.operand(&instruction.arguments[0])?;
                if !matches!(truth, Type::Bool | Type::Int) {
                    return self.unsupported(format_args!("a choice by a value of type {truth}"));
                }
                let count = instruction.regions.len();
                let first = self.regions(count);
                let origin = self.origin;
                for (at, region) in instruction.regions.iter().enumerate() {
                    self.region(region, first + at as u32, Some(ty))?;
                }
                self.origin = origin;
                let kernel = match instruction.op {
                    Op::If => &basics::EITHER_REGION,
                    _ => &basics::NUMBERED_REGION,
                };
                self.push_to(steps, to.0, kernel, |step| {
                    step.a = condition;
                    step.region = first;
                    step.immediate = count as u32;
                });
                Ok(())
            }
            Op::Count => {
                let (from, from_type) = self.operand(&instruction.arguments[0])?;
                let from = self.convert(steps, from, &from_type, &Type::Int)?;
                self.push_to(steps, to.0, &basics::COUNT, |step| step.a = from);
                Ok(())
            }
            Op::Iterate => {
                let (rounds, rounds_type) = self.operand(&instruction.arguments[0])?;
                let rounds = self.convert(steps, rounds, &rounds_type, &Type::Int)?;
                let (from, from_type) = self.operand(&instruction.arguments[1])?;
                let from = self.convert(steps, from, &from_type, ty)?;
                let number = self.regions(1);
                let origin = self.origin;
                self.region(&instruction.regions[0], number, Some(ty))?;
                self.looped = number;
                self.origin = origin;
                self.push_to(steps, to.0, &basics::ITERATE, |step| {
                    (step.a, step.b) = (rounds, from);
                    step.region = number;
                });
                Ok(())
            }
            Op::Fused(fused) => self.fused(steps, instruction, fused),
            Op::Absent => {
                self.push_to(steps, to.0, &basics::ABSENT, |_| ());
                Ok(())
            }
            // The reference may accept an argument of another type than its signature says.
            Op::Fail(_, ErrorKind::Type { .. }) => {
                self.push_to(steps, to.0, &basics::UNTYPED, |_| ());
                Ok(())
            }
            Op::Fail(_, ErrorKind::Empty) => {
                self.push_to(steps, to.0, &basics::EMPTY, |_| ());
                Ok(())
            }
            Op::Fail(..) => {
                self.push_to(steps, to.0, &basics::FAILS, |_| ());
                Ok(())
            }
        }
    }

    pub(super) fn copy(&mut self, steps: &mut Steps, from: u32, to: Id) {
        // The step that computed the value may as well write to the destination.
        match steps.last_mut() {
            Some((step, _)) if step.to == from && from >= self.types.len() as u32 => step.to = to.0,
            _ => self.push_to(steps, to.0, &basics::COPY, |step| step.a = from),
        }
    }

    fn call(
        &mut self,
        steps: &mut Steps,
        instruction: &Instruction,
        primitive: Primitive,
    ) -> Result<(), Unsupported> {
        let mut operands = self.operands(instruction)?;
        let held = self.held(instruction.id);
        let ty = held_type(instruction, held);
        self.ordered(steps, primitive, &instruction.ty, &mut operands);
        let types = operands.types();
        if primitive == Primitive::Merge {
            let chosen = self
                .layered(instruction, types[0].element())
                .and_then(|layers| loops::select_merged_layers(&types[0], &layers))
                .or_else(|| loops::select_merge(&types[0], &ty, self.is_clipped(instruction)));
            let Some(chosen) = chosen else {
                return self.no_kernel(primitive, types, &ty);
            };
            return self.finish_loop(steps, instruction, chosen, &operands);
        }
        if primitive == Primitive::Astuple && !matches!(*ty, Type::Pair | Type::Cell) {
            return self.collect(steps, instruction);
        }
        if held == Representation::Parts
            && let Some((selection, ty)) = ops::layers::select(primitive, types)
        {
            return self.push_selection(
                steps,
                instruction.id,
                Cow::Owned(ty),
                &selection,
                &operands,
            );
        }
        let Some(selection) = ops::select(primitive, types, &ty, self.is_clipped(instruction))
        else {
            return self.no_kernel(primitive, types, &ty);
        };
        self.push_selection(steps, instruction.id, ty, &selection, &operands)
    }

    /// Lowers a fused operation to one step if it has a kernel, otherwise to its calls one by one.
    fn fused(
        &mut self,
        steps: &mut Steps,
        instruction: &Instruction,
        fused: Fused,
    ) -> Result<(), Unsupported> {
        let operands = self.operands(instruction)?;
        if let Some(selection) = ops::select_fused(fused, operands.types()) {
            let ty = self.held_type(instruction);
            self.push_selection(steps, instruction.id, ty, &selection, &operands)?;
            return self.define_fused(instruction);
        }
        let region = &instruction.regions[0];
        for ((parameter, _), operand) in region.parameters.iter().zip(&instruction.arguments) {
            self.bind(*parameter, operand)?;
        }
        for call in &region.instructions {
            let start = steps.len();
            self.instruction(steps, call)?;
            self.define(call, start..steps.len());
        }
        let (made, ty) = self.operand(&region.result)?;
        self.set_type(instruction.id, ty);
        self.copy(steps, made, instruction.id);
        Ok(())
    }

    /// Adds the step of a call with the selected kernel: converts its arguments, and its result to a value of
    /// this type. A borrowed type is the instruction's own.
    fn push_selection(
        &mut self,
        steps: &mut Steps,
        id: Id,
        ty: Cow<'_, Type>,
        selection: &Selection,
        operands: &Operands,
    ) -> Result<(), Unsupported> {
        let mut slots = [0; 4];
        let mut operands = operands.slots().iter().zip(operands.types());
        let mut first = &Type::Never;
        for (at, want) in selection.constraints.iter().enumerate() {
            let Some((slot, from)) = operands.next() else {
                break;
            };
            if at == 0 {
                first = from;
            }
            slots[at] = match (want, from) {
                (Constraint::AsIs, _)
                | (Constraint::Int, Type::Int | Type::Bool)
                | (Constraint::Pair, Type::Pair)
                | (Constraint::Cell, Type::Cell)
                | (Constraint::Grid, Type::Grid)
                | (Constraint::Object, Type::Object) => *slot,
                (Constraint::Int, _) => self.convert(steps, *slot, from, &Type::Int)?,
                (Constraint::Pair, _) => self.convert(steps, *slot, from, &Type::Pair)?,
                (Constraint::Cell, _) => self.convert(steps, *slot, from, &Type::Cell)?,
                (Constraint::Grid, _) => self.convert(steps, *slot, from, &Type::Grid)?,
                (Constraint::Object, _) => self.convert(steps, *slot, from, &Type::Object)?,
                (Constraint::Patch, _) => self.convert_to_patch(steps, *slot, from)?,
                (Constraint::Result, _) => self.convert(steps, *slot, from, &ty)?,
                (Constraint::CellsOfColour, _) => {
                    let colour = operands.next().map_or(0, |(colour, _)| *colour);
                    self.push(steps, &CELLS_OF_COLOUR, |step| {
                        [step.a, step.b] = [*slot, colour];
                    })
                }
                (Constraint::Own(own), _) => {
                    self.convert(steps, *slot, from, &selection.own[usize::from(*own)])?
                }
            };
        }
        let immediate = match selection.immediate {
            Immediate::None => 0,
            Immediate::Number(number) => number,
            Immediate::First => self.number_of(first),
            Immediate::Own(own) => self.number_of(&selection.own[usize::from(own)]),
        };
        let made = self.push(steps, selection.kernel, |step| {
            [step.a, step.b, step.c, step.d] = slots;
            step.immediate = immediate;
        });
        let made = match selection.gives {
            ResultType::Result => made,
            ResultType::MaybePair => self.convert(steps, made, &Type::MaybePair, &ty)?,
            ResultType::Grid => self.convert(steps, made, &Type::Grid, &ty)?,
            ResultType::Own(own) => {
                self.convert(steps, made, &selection.own[usize::from(own)], &ty)?
            }
        };
        if let Cow::Owned(ty) = ty {
            self.set_type(id, ty);
        }
        self.copy(steps, made, id);
        Ok(())
    }

    fn no_kernel<T>(
        &self,
        primitive: Primitive,
        types: &[Type],
        ty: &Type,
    ) -> Result<T, Unsupported> {
        let types: Vec<_> = types.iter().map(ToString::to_string).collect();
        self.unsupported(format_args!("{primitive}({}) -> {ty}", types.join(", ")))
    }

    /// The type of an instruction's value as it is represented.
    fn held_type<'i>(&self, instruction: &'i Instruction) -> Cow<'i, Type> {
        held_type(instruction, self.held(instruction.id))
    }

    /// The type of its value as parts with elements of this type, if it is represented in parts.
    fn layered(&self, instruction: &Instruction, inner: Option<Type>) -> Option<Type> {
        match self.held(instruction.id) {
            Representation::Parts => parts(&inner?, &instruction.ty),
            _ => None,
        }
    }
}

/// The type of an instruction's value as it is represented; borrowed if that is the instruction's own.
fn held_type(instruction: &Instruction, held: Representation) -> Cow<'_, Type> {
    match held {
        Representation::Locations => Cow::Owned(Type::Set(Type::Pair.into())),
        Representation::Rows => Cow::Owned(Type::Grid),
        held if held.is_unordered() => Cow::Owned(Type::tuple_of(
            instruction.ty.element().unwrap_or(Type::Never),
        )),
        _ => Cow::Borrowed(&instruction.ty),
    }
}

/// The type of a merged patch in parts, each of the type `inner`.
fn parts(inner: &Type, result: &Type) -> Option<Type> {
    match (inner, result) {
        (Type::Indices, Type::Indices) | (Type::Object, Type::Object) => {
            Some(Type::Set(inner.clone().into()))
        }
        (Type::Indices | Type::Object, Type::Tuple(element))
            if inner.element().as_ref() == Some(&**element) =>
        {
            Some(Type::tuple_of(inner.clone()))
        }
        _ => None,
    }
}
