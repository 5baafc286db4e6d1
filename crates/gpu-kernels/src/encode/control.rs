//! Encodes loops and choices as instructions with jumps.

use arc_dsl::{Primitive, Value};
use arc_form::{Instruction, Region, Type};

use super::shapes::Shape;
use super::{Encoder, HostOnly, SymbolicValue};
use crate::interface::Representation;
use crate::list_operations::ListOperation;
use crate::program::{Label, ValueId};

/// A loop that has begun.
pub(super) struct Loop {
    pub(super) head: Label,
    pub(super) end: Label,
    /// The value that counts the rounds begun.
    pub(super) round: ValueId,
}

/// A list that a loop iterates over, and the shape of its elements.
pub(super) struct Source {
    pub(super) list: ValueId,
    pub(super) element: Shape,
}

impl Encoder {
    /// Begins a loop: the next instruction is its head.
    pub(super) fn begin_loop(&mut self) -> Result<Loop, HostOnly> {
        let round = self.builder.declare(Representation::Int);
        self.set_number(round, 0)?;
        let (head, end) = (self.builder.label(), self.builder.label());
        self.builder.place(head);
        Ok(Loop { head, end, round })
    }

    /// Begins a loop over several containers in parallel; returns the elements of a round, as words of their lists and as
    /// values. By lanes a round has up to 32 elements of each, in a column.
    pub(super) fn begin_round(
        &mut self,
        sources: &[Source],
        by_lanes: bool,
    ) -> Result<(Loop, Vec<ValueId>, Vec<SymbolicValue>), HostOnly> {
        // All counters of rounds are set to zero before the loop.
        let mut rounds = Vec::new();
        for _ in 1..sources.len() {
            let round = self.builder.declare(Representation::Int);
            self.set_number(round, 0)?;
            rounds.push(round);
        }
        let one = self.begin_loop()?;
        rounds.insert(0, one.round);
        let words = sources.iter().zip(rounds).map(|(source, round)| {
            let builder = &mut self.builder;
            if by_lanes {
                builder.next_block(source.list, round, one.end)
            } else {
                builder.next(source.list, round, one.end)
            }
        });
        let words: Vec<_> = words.collect();
        let items = words.iter().zip(sources);
        let items = items.map(|(word, source)| self.loaded(*word, &source.element));
        let items = items.collect::<Result<_, _>>()?;
        Ok((one, words, items))
    }

    /// Begins a loop over several containers in parallel; returns the elements of a round.
    pub(super) fn heads(
        &mut self,
        sources: &[Source],
    ) -> Result<(Loop, Vec<SymbolicValue>), HostOnly> {
        let (one, _, items) = self.begin_round(sources, false)?;
        Ok((one, items))
    }

    pub(super) fn end_loop(&mut self, one: &Loop) {
        self.builder.end_loop(one.head);
        self.builder.place(one.end);
    }

    fn number(&mut self, number: i32) -> Result<ValueId, HostOnly> {
        let number = Value::Int(number);
        let constant = self.builder.constant(Representation::Int, &number);
        constant.map_err(HostOnly::Constant)
    }

    pub(super) fn set_number(&mut self, to: ValueId, number: i32) -> Result<(), HostOnly> {
        let number = self.number(number)?;
        self.copy(to, Representation::Int, number)
    }

    /// Encodes a region with these arguments; returns its result.
    pub(super) fn region(
        &mut self,
        region: &Region,
        arguments: Vec<SymbolicValue>,
    ) -> Result<SymbolicValue, HostOnly> {
        for ((id, _), argument) in region.parameters.iter().zip(arguments) {
            self.values[id.index()] = Some(argument);
        }
        for instruction in &region.instructions {
            let result = self.instruction(instruction)?;
            self.values[instruction.id.index()] = Some(result);
        }
        Ok(self.held(&region.result))
    }

    /// A region's result as a truth value.
    pub(super) fn condition(&mut self, held: &SymbolicValue) -> Result<ValueId, HostOnly> {
        match self.held_as(held, &Shape::Int)? {
            SymbolicValue::OnDevice(value, ..) => Ok(value),
            _ => self.number(0),
        }
    }

    pub(super) fn source(&mut self, held: &SymbolicValue) -> Result<Source, HostOnly> {
        let (list, element) = self.list(held)?;
        Ok(Source { list, element })
    }

    /// Encodes a choice among regions: by a truth value, or by the index of the region.
    pub(super) fn choice(
        &mut self,
        instruction: &Instruction,
        held: &SymbolicValue,
        is_truth: bool,
    ) -> Result<SymbolicValue, HostOnly> {
        let ty = &instruction.ty;
        let shape = Shape::of_type(ty).ok_or_else(|| HostOnly::Type(ty.to_string()))?;
        let chosen = self.condition(held)?;
        let result = self.declared(&shape)?;
        let out = self.builder.label();
        let last = instruction.regions.len() - 1;
        for (number, region) in instruction.regions.iter().enumerate() {
            let other = self.builder.label();
            if !is_truth {
                let number = self.number(number as i32)?;
                let both = [chosen, number]
                    .map(|value| SymbolicValue::OnDevice(value, Representation::Int, None));
                let is_it = self.primitive(Primitive::Equality, &both)?;
                let is_it = self.condition(&is_it)?;
                self.builder.jump(Some(is_it), other);
            } else if number == 0 {
                self.builder.jump(Some(chosen), other);
            }
            let chosen_value = self.region(region, Vec::new())?;
            self.line = instruction.line;
            self.assign(&result, &shape, &chosen_value)?;
            if number < last || !is_truth {
                self.builder.jump(None, out);
            }
            self.builder.place(other);
        }
        if !is_truth {
            self.plain(ListOperation::Fail, &[]);
        }
        self.builder.place(out);
        Ok(result)
    }

    /// Encodes a choice between two values.
    pub(super) fn branch(
        &mut self,
        held: &[SymbolicValue],
        ty: &Type,
    ) -> Result<SymbolicValue, HostOnly> {
        let shape = Shape::of_type(ty).ok_or_else(|| HostOnly::Type(ty.to_string()))?;
        let condition = self.condition(&held[0])?;
        let result = self.declared(&shape)?;
        let (other, out) = (self.builder.label(), self.builder.label());
        self.builder.jump(Some(condition), other);
        self.assign(&result, &shape, &held[1])?;
        self.builder.jump(None, out);
        self.builder.place(other);
        self.assign(&result, &shape, &held[2])?;
        self.builder.place(out);
        Ok(result)
    }

    /// Encodes a region applied to its own result a number of times.
    pub(super) fn iterated(
        &mut self,
        instruction: &Instruction,
        arguments: &[SymbolicValue],
    ) -> Result<SymbolicValue, HostOnly> {
        let ty = &instruction.ty;
        let shape = Shape::of_type(ty).ok_or_else(|| HostOnly::Type(ty.to_string()))?;
        let rounds = self.condition(&arguments[0])?;
        let value = self.declared(&shape)?;
        self.assign(&value, &shape, &arguments[1])?;
        let one = self.begin_loop()?;
        self.builder.next_round(rounds, one.round, one.end);
        let next = self.region(&instruction.regions[0], vec![value.clone()])?;
        // Items of the new tuple may be items of the old one, so copy them all before overwriting any.
        let next = match shape {
            Shape::Tuple(_) => {
                let temporary = self.declared(&shape)?;
                self.assign(&temporary, &shape, &next)?;
                temporary
            }
            _ => next,
        };
        self.assign(&value, &shape, &next)?;
        self.end_loop(&one);
        Ok(value)
    }
}
