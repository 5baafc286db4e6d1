//! Converts values from one shape to another.

use arc_dsl::Value;
use arc_form::Operand;

use super::shapes::{Shape, shape_mismatch};
use super::{Encoder, HostOnly, SymbolicValue, are_integers};
use crate::interface::{Representation, Structure};
use crate::list_operations::ListOperation;
use crate::program::{Immediate, ValueId};

impl Encoder {
    /// Converts a value to a shape.
    pub(super) fn held_as(
        &mut self,
        held: &SymbolicValue,
        shape: &Shape,
    ) -> Result<SymbolicValue, HostOnly> {
        let on_device =
            |value, representation| SymbolicValue::OnDevice(value, representation, None);
        Ok(match (shape, held) {
            (_, SymbolicValue::Never) => SymbolicValue::Never,
            (Shape::List(element), _) => {
                SymbolicValue::List(self.list_with(held, element)?, element.clone())
            }
            (Shape::Tuple(shapes), _) => {
                let items = match (self.items_of(held)?, held) {
                    (Some(items), _) => items,
                    (None, SymbolicValue::List(list, element)) => {
                        let (list, element) = (*list, (**element).clone());
                        let numbers = 0..shapes.len();
                        let items = numbers.map(|at| self.element(list, &element, at, false));
                        items.collect::<Result<_, _>>()?
                    }
                    _ => return Err(shape_mismatch(shape)),
                };
                if items.len() != shapes.len() {
                    return Err(shape_mismatch(shape));
                }
                let items = items.iter().zip(shapes);
                let items = items.map(|(item, shape)| self.held_as(item, shape));
                SymbolicValue::Tuple(items.collect::<Result<_, _>>()?)
            }
            (_, SymbolicValue::OnDevice(_, representation, _))
                if shape.representation().is_ok_and(|of| of == *representation) =>
            {
                held.clone()
            }
            (Shape::Pair, SymbolicValue::Tuple(items)) if are_integers(items) => {
                let items = items.clone();
                self.primitive(arc_dsl::Primitive::Astuple, &items)?
            }
            (Shape::Cell, SymbolicValue::Tuple(items)) if items.len() == 2 => {
                let colour = self.operand(&items[0], Representation::Int)?;
                let at = self.held_as(&items[1], &Shape::Pair)?;
                let at = self.operand(&at, Representation::Pair)?;
                let cell = self.plain(ListOperation::Cell, &[colour, at]);
                on_device(cell, Representation::Cell)
            }
            (Shape::Patch | Shape::Object | Shape::Grid, _)
                if !matches!(held, SymbolicValue::Constant(_)) =>
            {
                let (element, operation) = match shape {
                    Shape::Patch => (Shape::Pair, ListOperation::PatchOfList),
                    Shape::Object => (Shape::Cell, ListOperation::ObjectOfList),
                    _ => (Shape::list_of(Shape::Int), ListOperation::GridOfList),
                };
                let list = match held {
                    SymbolicValue::List(list, found) if **found == element => *list,
                    SymbolicValue::Tuple(_) => self.list_with(held, &element)?,
                    _ => return Err(shape_mismatch(shape)),
                };
                let immediate = Immediate {
                    clipped: self.clipped,
                    ..Immediate::default()
                };
                let made = self.list_step(operation, immediate, &[list]);
                on_device(made, shape.representation()?)
            }
            (_, SymbolicValue::Constant(_)) => {
                let representation = shape.representation()?;
                on_device(self.operand(held, representation)?, representation)
            }
            _ => return Err(shape_mismatch(shape)),
        })
    }

    /// A container as a list; returns the shape of its elements too.
    pub(super) fn list(&mut self, held: &SymbolicValue) -> Result<(ValueId, Shape), HostOnly> {
        let element = match Self::shape_of(held)? {
            Shape::List(element) => *element,
            Shape::Patch => Shape::Pair,
            Shape::Object => Shape::Cell,
            Shape::Grid => Shape::list_of(Shape::Int),
            Shape::Pair => Shape::Int,
            Shape::Tuple(items) => {
                let first = items.first().cloned().unwrap_or(Shape::Never);
                if items.iter().any(|item| *item != first) {
                    return Err(HostOnly::Shape("a tuple of unlike items".to_owned()));
                }
                first
            }
            other => return Err(shape_mismatch(&other)),
        };
        Ok((self.list_with(held, &element)?, element))
    }

    /// A container as a list of elements of this shape.
    fn list_with(&mut self, held: &SymbolicValue, element: &Shape) -> Result<ValueId, HostOnly> {
        let other = || shape_mismatch(&Shape::list_of(element.clone()));
        let representation = match held {
            SymbolicValue::List(list, found) if **found == *element || **found == Shape::Never => {
                return Ok(*list);
            }
            SymbolicValue::List(list, found) => {
                let (list, found) = (*list, (**found).clone());
                return self.converted_elements(list, &found, element);
            }
            SymbolicValue::OnDevice(value, Representation::Objects, structure) => {
                if *element != Shape::Object {
                    return Err(other());
                }
                return self.list_of_objects(*value, *structure);
            }
            SymbolicValue::OnDevice(_, representation, _) => Some(*representation),
            SymbolicValue::Constant(Value::Indices(_)) => Some(Representation::Patch),
            SymbolicValue::Constant(Value::Object(_)) => Some(Representation::Object),
            SymbolicValue::Constant(Value::Grid(_)) => Some(Representation::Grid),
            _ => None,
        };
        let operation = match (representation, element) {
            (Some(Representation::Patch), Shape::Pair) => Some(ListOperation::ListOfPatch),
            (Some(Representation::Object), Shape::Cell) => Some(ListOperation::ListOfObject),
            (Some(Representation::Colours), Shape::Int) => Some(ListOperation::ListOfColours),
            (Some(Representation::Grid), Shape::List(inner)) if **inner == Shape::Int => {
                Some(ListOperation::ListOfRows)
            }
            _ => None,
        };
        if let (Some(operation), Some(representation)) = (operation, representation) {
            let value = self.operand(held, representation)?;
            return Ok(self.plain(operation, &[value]));
        }
        let items = match (self.items_of(held)?, held) {
            (Some(items), _) => items,
            (None, SymbolicValue::Constant(value)) => {
                let container = value.as_container().ok_or_else(other)?;
                let items = container.iter_stored();
                items
                    .map(|item| SymbolicValue::Constant(item.into_owned()))
                    .collect()
            }
            _ => return Err(other()),
        };
        self.list_of_items(&items, element)
    }

    /// Emits a bail-out if a list is that of a set, and has several elements: the device does not know their order.
    pub(super) fn check_order(&mut self, list: ValueId, container: &Operand) {
        if self.is_set(container) {
            let size = self.plain(ListOperation::SizeOfList, &[list]);
            self.plain(ListOperation::AtMostOne, &[size]);
        }
    }

    /// Emits a list with these items, in this shape.
    pub(super) fn list_of_items(
        &mut self,
        items: &[SymbolicValue],
        element: &Shape,
    ) -> Result<ValueId, HostOnly> {
        let words = items.iter().map(|item| self.word(item, element));
        let words: Vec<_> = words.collect::<Result<_, _>>()?;
        self.list_of_words(&words)
    }

    /// Converts each element of a list to another shape.
    fn converted_elements(
        &mut self,
        list: ValueId,
        found: &Shape,
        element: &Shape,
    ) -> Result<ValueId, HostOnly> {
        let converted = self.plain(ListOperation::RoomFor, &[list]);
        let head = self.begin_loop()?;
        let word = self.builder.next(list, head.round, head.end);
        let held = self.loaded(word, found)?;
        let word = self.word(&held, element)?;
        self.push(converted, word);
        self.end_loop(&head);
        Ok(converted)
    }

    fn list_of_objects(
        &mut self,
        value: ValueId,
        structure: Option<Structure>,
    ) -> Result<ValueId, HostOnly> {
        if structure == Some(Structure::Frontiers) {
            let grid = self
                .frontiers
                .iter()
                .find(|(frontiers, _)| *frontiers == value);
            let grid = grid.ok_or(HostOnly::Step("frontiers of no grid"))?.1;
            let list = self.plain(ListOperation::ListOfFrontiers, &[grid]);
            return self.comparing(ListOperation::SetOfList, &Shape::Object, false, &[list]);
        }
        let immediate = Immediate {
            structure,
            ..Immediate::default()
        };
        Ok(self.list_step(ListOperation::ListOfObjects, immediate, &[value]))
    }
}
