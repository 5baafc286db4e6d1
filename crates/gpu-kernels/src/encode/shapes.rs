//! [`Shape`], and the basic instructions on values of a shape: loading, storing, comparing, assigning.

use arc_form::Type;

use super::{Encoder, HostOnly, SymbolicValue};
use crate::interface::constants::LISTED_ELEMENTS;
use crate::interface::{ElementKind, Representation};
use crate::list_operations::ListOperation;
use crate::program::{Immediate, ValueId};

/// How a value is held wherever that must be the same every time: as an element of a list, and as a value that
/// several steps assign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shape {
    Int,
    Pair,
    Cell,
    Grid,
    Patch,
    Object,
    /// A fixed number of values, each with its own shape.
    Tuple(Vec<Shape>),
    /// Any number of elements of one shape.
    List(Box<Shape>),
    /// There is no such value.
    Never,
}

impl Shape {
    pub(super) fn list_of(element: Shape) -> Shape {
        Shape::List(Box::new(element))
    }

    /// The shape for values of a type; `None` for a type whose values may have either of two.
    pub(super) fn of_type(ty: &Type) -> Option<Shape> {
        Some(match ty {
            Type::Never => Shape::Never,
            Type::Bool | Type::Int | Type::MaybeInt => Shape::Int,
            Type::Pair | Type::MaybePair => Shape::Pair,
            Type::Cell => Shape::Cell,
            Type::Grid => Shape::Grid,
            Type::Indices => Shape::Patch,
            Type::Object => Shape::Object,
            Type::Patch => return None,
            Type::Set(element) | Type::Tuple(element) => Shape::list_of(Shape::of_type(element)?),
            Type::Fixed(items) => {
                let items: Option<Vec<_>> = items.iter().map(Shape::of_type).collect();
                Shape::Tuple(items?)
            }
        })
    }

    /// The representation in the pool, which several values do not have.
    pub(super) fn representation(&self) -> Result<Representation, HostOnly> {
        Ok(match self {
            Shape::Int => Representation::Int,
            Shape::Pair => Representation::Pair,
            Shape::Cell => Representation::Cell,
            Shape::Grid => Representation::Grid,
            Shape::Patch => Representation::Patch,
            Shape::Object => Representation::Object,
            Shape::List(_) => Representation::List,
            Shape::Tuple(_) | Shape::Never => return Err(shape_mismatch(self)),
        })
    }

    /// The code for instructions that compare such elements: an [`ElementKind`], or for lists that of their
    /// elements plus [`LISTED_ELEMENTS`]; `None` if the kernels cannot compare them.
    pub(super) fn kind(&self) -> Option<u8> {
        let listed = |element: &Shape| {
            let kind = element.kind()?;
            (u32::from(kind) < LISTED_ELEMENTS).then_some(LISTED_ELEMENTS as u8 + kind)
        };
        match self {
            Shape::Int | Shape::Never => Some(ElementKind::Integer as u8),
            Shape::Pair => Some(ElementKind::Pair as u8),
            Shape::Cell => Some(ElementKind::Cell as u8),
            Shape::Grid => Some(ElementKind::Grid as u8),
            Shape::Patch => Some(ElementKind::Patch as u8),
            Shape::Object => Some(ElementKind::Object as u8),
            Shape::List(element) => listed(element),
            Shape::Tuple(items) => {
                let (first, others) = items.split_first()?;
                others.iter().all(|item| item == first).then_some(())?;
                listed(first)
            }
        }
    }
}

/// The error that a value cannot be converted to a shape.
pub(super) fn shape_mismatch(shape: &Shape) -> HostOnly {
    HostOnly::Shape(format!("{shape:?}").to_lowercase())
}

impl Encoder {
    /// Emits an operation on lists.
    pub(super) fn list_step(
        &mut self,
        operation: ListOperation,
        immediate: Immediate,
        operands: &[ValueId],
    ) -> ValueId {
        self.builder
            .emit_list(operation, immediate, operands, self.line)
    }

    /// Emits an operation on lists without an immediate.
    pub(super) fn plain(&mut self, operation: ListOperation, operands: &[ValueId]) -> ValueId {
        self.list_step(operation, Immediate::default(), operands)
    }

    /// Emits an operation on lists that compares elements of a shape.
    pub(super) fn comparing(
        &mut self,
        operation: ListOperation,
        element: &Shape,
        flag: bool,
        operands: &[ValueId],
    ) -> Result<ValueId, HostOnly> {
        let kind = element.kind().ok_or_else(|| shape_mismatch(element))?;
        let immediate = Immediate {
            flag,
            ..Immediate::keyed(kind)
        };
        Ok(self.list_step(operation, immediate, operands))
    }

    /// The shape of a value; a set of objects or colours has the shape of the list it can be converted to.
    pub(super) fn shape_of(held: &SymbolicValue) -> Result<Shape, HostOnly> {
        Ok(match held {
            SymbolicValue::OnDevice(_, representation, _) => match representation {
                Representation::Int => Shape::Int,
                Representation::Pair => Shape::Pair,
                Representation::Cell => Shape::Cell,
                Representation::Grid => Shape::Grid,
                Representation::Patch => Shape::Patch,
                Representation::Object => Shape::Object,
                Representation::Objects => Shape::list_of(Shape::Object),
                Representation::Colours => Shape::list_of(Shape::Int),
                other => return Err(HostOnly::Shape(format!("{other:?}").to_lowercase())),
            },
            SymbolicValue::List(_, element) => Shape::List(element.clone()),
            SymbolicValue::Tuple(items) => {
                let items: Result<_, _> = items.iter().map(Self::shape_of).collect();
                Shape::Tuple(items?)
            }
            SymbolicValue::Elements(elements) => Shape::Tuple(vec![Shape::Grid; elements.count]),
            SymbolicValue::Constant(value) => {
                let shape = value.value_type().as_ref().and_then(Shape::of_type);
                shape.ok_or_else(|| HostOnly::Type(value.kind().to_string()))?
            }
            SymbolicValue::Never => Shape::Never,
        })
    }

    /// The items of a tuple of known length; `None` for other values.
    pub(super) fn items_of(
        &mut self,
        held: &SymbolicValue,
    ) -> Result<Option<Vec<SymbolicValue>>, HostOnly> {
        Ok(Some(match held {
            SymbolicValue::Tuple(items) => items.clone(),
            SymbolicValue::Elements(elements) => {
                let each = (0..elements.count).map(|at| self.item(at, std::slice::from_ref(held)));
                each.collect::<Result<_, _>>()?
            }
            SymbolicValue::OnDevice(_, Representation::Pair | Representation::Cell, _) => {
                let one = std::slice::from_ref(held);
                vec![self.item(0, one)?, self.item(1, one)?]
            }
            SymbolicValue::Constant(value) => {
                let Some(container) = value.as_container() else {
                    return Ok(None);
                };
                if container.kind == arc_dsl::ContainerKind::Set || container.len() > MOST_ITEMS {
                    return Ok(None);
                }
                let items = container.iter();
                items
                    .map(|item| SymbolicValue::Constant(item.into_owned()))
                    .collect()
            }
            _ => return Ok(None),
        }))
    }

    /// Appends an element to a list that has room for it.
    pub(super) fn push(&mut self, list: ValueId, word: ValueId) {
        self.builder.push(list, word, self.line);
    }

    /// Emits an operation that appends to a list.
    pub(super) fn push_of(&mut self, operation: ListOperation, list: ValueId, of: &[ValueId]) {
        let (opcode, immediate) = (operation.opcode(), Immediate::default());
        self.builder.emit_to(opcode, immediate, of, list, self.line);
    }

    /// The word that represents a value as an element of a list; stores the value in the arena if need be.
    pub(super) fn word(
        &mut self,
        held: &SymbolicValue,
        shape: &Shape,
    ) -> Result<ValueId, HostOnly> {
        let held = self.held_as(held, shape)?;
        let (value, operation) = match (&held, shape) {
            (SymbolicValue::OnDevice(value, ..), _) => match shape {
                Shape::Grid => (*value, ListOperation::StoreGrid),
                Shape::Patch => (*value, ListOperation::StorePatch),
                Shape::Object => (*value, ListOperation::StoreObject),
                _ => return Ok(*value),
            },
            (SymbolicValue::List(list, _), _) => return Ok(*list),
            (SymbolicValue::Tuple(items), Shape::Tuple(shapes)) => {
                let words = items.iter().zip(shapes);
                let words = words.map(|(item, shape)| self.word(item, shape));
                let words: Vec<_> = words.collect::<Result<_, _>>()?;
                return self.list_of_words(&words);
            }
            (SymbolicValue::Never, _) => return Ok(self.plain(ListOperation::Fail, &[])),
            _ => return Err(shape_mismatch(shape)),
        };
        Ok(self.plain(operation, &[value]))
    }

    /// Emits a list of these words.
    pub(super) fn list_of_words(&mut self, words: &[ValueId]) -> Result<ValueId, HostOnly> {
        let many = |_| HostOnly::Shape("a tuple of many items".to_owned());
        let room = Immediate::keyed(u8::try_from(words.len()).map_err(many)?);
        let list = self.list_step(ListOperation::Room, room, &[]);
        for word in words {
            self.push(list, *word);
        }
        Ok(list)
    }

    /// Loads an element of a list from its word.
    pub(super) fn loaded(
        &mut self,
        word: ValueId,
        shape: &Shape,
    ) -> Result<SymbolicValue, HostOnly> {
        let load = match shape {
            Shape::Never => return Ok(SymbolicValue::Never),
            Shape::List(element) => return Ok(SymbolicValue::List(word, element.clone())),
            Shape::Tuple(shapes) => {
                let items = shapes.iter().enumerate();
                let items = items.map(|(at, shape)| self.element(word, shape, at, false));
                return Ok(SymbolicValue::Tuple(items.collect::<Result<_, _>>()?));
            }
            Shape::Int | Shape::Pair | Shape::Cell => None,
            Shape::Grid => Some(ListOperation::LoadGrid),
            Shape::Patch => Some(ListOperation::LoadPatch),
            Shape::Object => Some(ListOperation::LoadObject),
        };
        let representation = shape.representation()?;
        let value = load.map_or(word, |load| self.plain(load, &[word]));
        Ok(SymbolicValue::OnDevice(value, representation, None))
    }

    /// Loads the element of a list at an index, counted from the first or the last.
    pub(super) fn element(
        &mut self,
        list: ValueId,
        shape: &Shape,
        number: usize,
        from_last: bool,
    ) -> Result<SymbolicValue, HostOnly> {
        let immediate = Immediate {
            flag: from_last,
            ..Immediate::keyed(number as u8)
        };
        let word = self.list_step(ListOperation::Element, immediate, &[list]);
        self.loaded(word, shape)
    }

    /// Declares a value that several steps assign.
    pub(super) fn declared(&mut self, shape: &Shape) -> Result<SymbolicValue, HostOnly> {
        Ok(match shape {
            Shape::Never => SymbolicValue::Never,
            Shape::Tuple(shapes) => {
                let items = shapes.iter().map(|shape| self.declared(shape));
                SymbolicValue::Tuple(items.collect::<Result<_, _>>()?)
            }
            Shape::List(element) => {
                SymbolicValue::List(self.builder.declare(Representation::List), element.clone())
            }
            _ => {
                let representation = shape.representation()?;
                SymbolicValue::OnDevice(self.builder.declare(representation), representation, None)
            }
        })
    }

    /// Assigns a value to a declared one.
    pub(super) fn assign(
        &mut self,
        to: &SymbolicValue,
        shape: &Shape,
        held: &SymbolicValue,
    ) -> Result<(), HostOnly> {
        let held = self.held_as(held, shape)?;
        match (to, &held, shape) {
            (_, SymbolicValue::Never, _) | (SymbolicValue::Never, _, _) => {}
            (SymbolicValue::Tuple(to), SymbolicValue::Tuple(items), Shape::Tuple(shapes)) => {
                for ((to, item), shape) in to.iter().zip(items).zip(shapes) {
                    self.assign(to, shape, item)?;
                }
            }
            (
                SymbolicValue::OnDevice(to, representation, _),
                SymbolicValue::OnDevice(value, ..),
                _,
            ) => self.copy(*to, *representation, *value)?,
            (SymbolicValue::List(to, _), SymbolicValue::List(list, _), _) => {
                self.copy(*to, Representation::List, *list)?;
            }
            _ => return Err(shape_mismatch(shape)),
        }
        Ok(())
    }

    /// Emits a copy of a value to another one's place.
    pub(super) fn copy(
        &mut self,
        to: ValueId,
        representation: Representation,
        value: ValueId,
    ) -> Result<(), HostOnly> {
        if to == value {
            // A round that leaves the value unchanged. No operation may write where its operand lies, so emit no copy.
            return Ok(());
        }
        let name = match representation {
            Representation::Grid => Some("identity"),
            Representation::Patch => Some("identity_patch"),
            Representation::Object => Some("identity_object"),
            _ => None,
        };
        let opcode = match name {
            None => ListOperation::MoveWord.opcode(),
            Some(name) => {
                let mut operations = crate::operations::OPERATIONS.iter();
                let at = operations.position(|operation| operation.name == name);
                at.ok_or(HostOnly::Step("a copy"))? as u16
            }
        };
        self.builder
            .emit_to(opcode, Immediate::default(), &[value], to, self.line);
        Ok(())
    }
}

/// The most items of a constant tuple that are held separately.
const MOST_ITEMS: usize = 32;
