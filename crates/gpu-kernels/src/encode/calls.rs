//! Which operation a call of a form becomes: one that is the primitive for operands as they are held,
//! one for operands held otherwise, or several on lists.

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
        if let Some(held) = self.renamed(call, arguments)? {
            return Ok(held);
        }
        if (self.listed || self.painted)
            && let Some(held) = self.otherwise(primitive, instruction, arguments)?
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

    /// A call of a primitive on what the encoder itself has made.
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

    /// The arguments held as an operation takes them that is the primitive for values so held; nothing
    /// where there is none. What is for containers of any kind takes lists as they are.
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
        // A set is held as a tuple is, and is no grid; nor are sets rows.
        let rows = Type::tuple_of(Type::tuple_of(Type::Int));
        let are_rows = |at: usize| self.type_of(&instruction.arguments[at]).as_ref() == Some(&rows);
        let shapes: Vec<Option<Shape>> = arguments
            .iter()
            .map(|one| Self::shape_of(one).ok())
            .collect();
        let wanted = |held: &SymbolicValue, shape: Option<&Shape>, taken: Representation| {
            let (shape, element) = match (taken, shape?) {
                (Representation::Patch, Shape::List(element)) => {
                    (Shape::Patch, (**element).clone())
                }
                (Representation::Object, Shape::List(element)) => {
                    (Shape::Object, (**element).clone())
                }
                (Representation::Grid, Shape::List(element)) => (Shape::Grid, (**element).clone()),
                (Representation::Patch, Shape::Tuple(items)) => {
                    (Shape::Patch, items.first()?.clone())
                }
                (Representation::Object, Shape::Tuple(items)) => {
                    (Shape::Object, items.first()?.clone())
                }
                (Representation::Pair, Shape::Tuple(items)) => {
                    return (items[..] == [Shape::Int, Shape::Int]).then_some(Shape::Pair);
                }
                _ => return None,
            };
            // Cells are taken for where they are.
            let shape = match shape {
                Shape::Patch if element == Shape::Cell => Shape::Object,
                other => other,
            };
            let fits = match shape {
                Shape::Patch => element == Shape::Pair,
                Shape::Object => element == Shape::Cell,
                _ => element == Shape::list_of(Shape::Int),
            };
            (fits && !matches!(held, SymbolicValue::Constant(_))).then_some(shape)
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
            let ways: Option<Vec<Option<Shape>>> = taken
                .enumerate()
                .map(|(at, ((held, shape), taken))| {
                    if serves(held, *taken, operation) {
                        return Some(None);
                    }
                    let way = wanted(held, shape.as_ref(), *taken)?;
                    let fits = match way {
                        Shape::Grid => are_rows(at),
                        Shape::Patch | Shape::Object => takes_tuples(call.primitive),
                        _ => true,
                    };
                    fits.then_some(Some(way))
                })
                .collect();
            let Some(ways) = ways else { continue };
            let arguments = arguments.iter().zip(ways).enumerate();
            let held = arguments.map(|(at, (held, way))| match way {
                None => Ok(held.clone()),
                Some(shape) => {
                    // What lies off a grid is not painted there.
                    let of = call.primitive.facts().of_argument(at);
                    self.clipped = matches!(of, Use::Painted { .. } | Use::OnGrid);
                    if gives_operand(call.primitive) {
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

    /// Bails out where a tuple has no elements.
    fn not_empty(&mut self, held: &SymbolicValue, argument: &Operand) {
        if let (SymbolicValue::List(list, _), Some(Type::Tuple(_))) = (held, self.type_of(argument))
        {
            let size = self.plain(ListOperation::SizeOfList, &[*list]);
            self.plain(ListOperation::PositiveCount, &[size]);
        }
    }
}

/// Whether a primitive gives an empty tuple as it is, which is no empty set.
fn gives_operand(primitive: Primitive) -> bool {
    matches!(primitive, Primitive::Shift | Primitive::Box)
}

/// Whether a tuple of locations or of cells is to a primitive what their set is. To others it is a grid
/// of as many rows, as to `height` and all that asks for that; `delta` fails on one of locations.
fn takes_tuples(primitive: Primitive) -> bool {
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
