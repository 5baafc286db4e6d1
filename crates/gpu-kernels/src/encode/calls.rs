//! Encodes calls: as the operation for the operands' representations, as one after converting the operands, or as
//! several operations on lists.

use arc_dsl::Primitive;
use arc_form::{Instruction, Operand, Type};
use arc_isa::Use;

use super::shapes::Shape;
use super::{Call, Encoder, HostOnly, SymbolicValue, key_of, listed, representation_of, serves};
use crate::interface::Representation;
use crate::list_operations::ListOperation;
use crate::operations::OPERATIONS;

impl Encoder {
    pub(super) fn call(
        &mut self,
        primitive: Primitive,
        instruction: &Instruction,
        arguments: &[SymbolicValue],
    ) -> Result<SymbolicValue, HostOnly> {
        let region = instruction.regions.first();
        let key = region.and_then(key_of);
        let call = Call {
            primitive,
            key,
            clipped: self.is_clipped(instruction),
            line: instruction.line,
            gives: None,
        };
        if let Some(held) = self.existing_value(call, arguments)? {
            return Ok(held);
        }
        if self.listed
            && let Some(held) = self.listed_call(primitive, instruction, arguments)?
        {
            return Ok(held);
        }
        let gives = representation_of(&instruction.ty);
        let exact = Call { gives, ..call };
        if (region.is_none() || key.is_some())
            && gives.is_some()
            && Self::operation_for(exact, arguments).is_some()
        {
            return self.emit(exact, 0, arguments);
        }
        if region.is_some() {
            return self.run_loop(primitive, instruction, arguments);
        }
        if instruction.ty == Type::Never {
            return Ok(self.failed());
        }
        if let (Primitive::Paint, [_, SymbolicValue::List(..)]) = (primitive, arguments)
            && !self.is_set(&instruction.arguments[1])
            && let Some(held) = self.list_call(primitive, instruction, arguments)?
        {
            return Ok(held);
        }
        if let Some(arguments) = self.converted(exact, instruction, arguments)? {
            return self.emit(exact, 0, &arguments);
        }
        if let Some(held) = self.list_call(primitive, instruction, arguments)? {
            return Ok(held);
        }
        Err(HostOnly::Call(primitive, listed(arguments)))
    }

    /// Emits a call of a primitive that is not in the form but added by the encoder.
    pub(super) fn primitive(
        &mut self,
        primitive: Primitive,
        arguments: &[SymbolicValue],
    ) -> Result<SymbolicValue, HostOnly> {
        let call = Call {
            primitive,
            key: None,
            clipped: self.clipped,
            line: self.line,
            gives: None,
        };
        self.emit(call, 0, arguments)
    }

    /// The arguments converted to the representations of the first operation that implements the primitive for them;
    /// `None` if there is none. Primitives for containers of any kind take lists without conversion, so they have none.
    fn converted(
        &mut self,
        call: Call,
        instruction: &Instruction,
        arguments: &[SymbolicValue],
    ) -> Result<Option<Vec<SymbolicValue>>, HostOnly> {
        let family = call.primitive.family();
        if matches!(family, "containers" | "functions") || call.gives.is_none() {
            return Ok(None);
        }
        // Sets and tuples are both held as lists, but only a tuple of tuples is a grid.
        let rows = Type::tuple_of(Type::tuple_of(Type::Int));
        let are_rows = |at: usize| self.type_of(&instruction.arguments[at]).as_ref() == Some(&rows);
        let shapes: Vec<Option<Shape>> = arguments
            .iter()
            .map(|one| Self::shape_of(one).ok())
            .collect();
        let wanted = |held: &SymbolicValue, shape: Option<&Shape>, taken: Representation| {
            let element = match shape? {
                Shape::List(element) => element,
                Shape::Tuple(items) if taken == Representation::Pair => {
                    return (items[..] == [Shape::Int, Shape::Int]).then_some(Shape::Pair);
                }
                Shape::Tuple(items) if taken != Representation::Grid => items.first()?,
                _ => return None,
            };
            let shape = match (taken, element) {
                // An object can be used as the patch of its locations.
                (Representation::Patch | Representation::Object, Shape::Cell) => Shape::Object,
                (Representation::Patch, Shape::Pair) => Shape::Patch,
                (Representation::Grid, Shape::List(inner)) if **inner == Shape::Int => Shape::Grid,
                _ => return None,
            };
            (!matches!(held, SymbolicValue::Constant(_))).then_some(shape)
        };
        for operation in OPERATIONS {
            if operation.primitive != call.primitive
                || call.gives.is_some_and(|gives| gives != operation.gives)
                || operation.takes.len() != arguments.len()
                || operation.takes.contains(&Representation::Key)
                || operation.of_tuple
            {
                continue;
            }
            let taken = arguments.iter().zip(&shapes).zip(operation.takes);
            let conversions: Option<Vec<Option<Shape>>> = taken
                .enumerate()
                .map(|(at, ((held, shape), taken))| {
                    if serves(held, *taken, operation) {
                        return Some(None);
                    }
                    let target = wanted(held, shape.as_ref(), *taken)?;
                    let fits = match target {
                        Shape::Grid => are_rows(at),
                        Shape::Patch | Shape::Object => takes_tuples(call.primitive),
                        _ => true,
                    };
                    fits.then_some(Some(target))
                })
                .collect();
            let Some(conversions) = conversions else {
                continue;
            };
            let arguments = arguments.iter().zip(conversions).enumerate();
            let held = arguments.map(|(at, (held, target))| match target {
                None => Ok(held.clone()),
                Some(shape) => {
                    // Cells outside a grid are not painted on it.
                    let of = call.primitive.facts().of_argument(at);
                    self.clipped = matches!(of, Use::Painted { .. } | Use::OnGrid);
                    if returns_empty_operand(call.primitive) {
                        self.not_empty(held, &instruction.arguments[at]);
                    }
                    let held = self.held_as(held, &shape);
                    self.clipped = false;
                    held
                }
            });
            return held.collect::<Result<_, _>>().map(Some);
        }
        Ok(None)
    }

    /// Emits a bail-out if a tuple has no elements.
    fn not_empty(&mut self, held: &SymbolicValue, argument: &Operand) {
        if let (SymbolicValue::List(list, _), Some(Type::Tuple(_))) = (held, self.type_of(argument))
        {
            let size = self.plain(ListOperation::SizeOfList, &[*list]);
            self.plain(ListOperation::PositiveCount, &[size]);
        }
    }
}

/// Whether a primitive returns an empty operand unchanged: for an empty tuple that is not the empty set.
fn returns_empty_operand(primitive: Primitive) -> bool {
    matches!(primitive, Primitive::Shift | Primitive::Box)
}

/// Whether a primitive treats a tuple of locations or cells like their set. Others treat it as a grid with that many
/// rows, as `height` and all that call it do; `delta` fails on a tuple of locations.
pub(super) fn takes_tuples(primitive: Primitive) -> bool {
    use Primitive as P;
    matches!(
        primitive,
        P::Fill
            | P::Underfill
            | P::Paint
            | P::Underpaint
            | P::Cover
            | P::Shift
            | P::Box
            | P::Recolor
            | P::Backdrop
            | P::Inbox
            | P::Outbox
            | P::Toindices
            | P::Toobject
            | P::Uppermost
            | P::Lowermost
            | P::Leftmost
            | P::Rightmost
            | P::Ulcorner
            | P::Urcorner
            | P::Llcorner
            | P::Lrcorner
    )
}
