//! Encodes calls of primitives on lists, and on values converted to lists.

use arc_dsl::Primitive;
use arc_form::{Instruction, Type};

use super::shapes::Shape;
use super::{Encoder, HostOnly, SymbolicValue};
use crate::interface::Representation;
use crate::list_operations::ListOperation;
use crate::program::{Immediate, ValueId};

fn on_device(value: ValueId, representation: Representation) -> SymbolicValue {
    SymbolicValue::OnDevice(value, representation, None)
}

fn unlike_types() -> HostOnly {
    HostOnly::Shape("values of unlike types".to_owned())
}

/// Whether equal words of two types are equal values.
fn alike(a: &Type, b: &Type) -> bool {
    (a.container().is_none() && b.container().is_none()) || a.join(b).is_some()
}

impl Encoder {
    /// Encodes a call that takes or returns a list; `None` if operations on lists cannot express it.
    pub(super) fn list_call(
        &mut self,
        primitive: Primitive,
        instruction: &Instruction,
        arguments: &[SymbolicValue],
    ) -> Result<Option<SymbolicValue>, HostOnly> {
        use Primitive as P;
        self.compares_like_with_like(primitive, instruction)?;
        let ty = &instruction.ty;
        let clipped = self.is_clipped(instruction);
        Ok(Some(match (primitive, arguments) {
            (P::First | P::Last, [held]) => {
                let (list, element) = self.list(held)?;
                self.check_order(list, &instruction.arguments[0]);
                self.element(list, &element, 0, primitive == P::Last)?
            }
            (P::Size, [held]) => self.size_of(held)?,
            (P::Merge, [held]) => {
                let containers = self.type_of(&instruction.arguments[0]);
                let one = containers.and_then(|ty| ty.element());
                let kind = one.and_then(|ty| ty.container());
                let of_sets = self.concatenates_sets(instruction, kind);
                self.merge(held, ty, clipped, of_sets)?
            }
            (P::Totuple, [held]) => {
                let (list, element) = self.list(held)?;
                if !self.storage.is_unordered(instruction.id) {
                    self.check_order(list, &instruction.arguments[0]);
                }
                SymbolicValue::List(list, Box::new(element))
            }
            (P::Equality, [a, b]) => self.equality(instruction, a, b)?,
            (P::Maximum | P::Minimum, [held]) => {
                let list = self.integers(held)?;
                let least = Immediate::flagged(primitive == P::Minimum);
                let number = self.list_step(ListOperation::OutermostInteger, least, &[list]);
                on_device(number, Representation::Int)
            }
            (P::Mostcommon | P::Leastcommon, [held]) => {
                let (list, element) = self.list(held)?;
                let least = primitive == P::Leastcommon;
                let word = self.comparing(ListOperation::Commonest, &element, least, &[list])?;
                self.loaded(word, &element)?
            }
            (P::Dedupe, [held]) => {
                let (list, element) = self.list(held)?;
                let list = self.comparing(ListOperation::DedupeList, &element, false, &[list])?;
                self.gathered(list, &element, ty)?
            }
            (P::Contained, [value, held]) => {
                let (list, word, element) = self.list_and_word(held, value)?;
                let operation = ListOperation::ContainedInList;
                let found = self.comparing(operation, &element, false, &[word, list])?;
                on_device(found, Representation::Int)
            }
            (P::Remove, [value, held]) => {
                let (list, word, element) = self.list_and_word(held, value)?;
                let operation = ListOperation::RemoveFromList;
                let list = self.comparing(operation, &element, false, &[word, list])?;
                self.clipped = clipped;
                self.gathered(list, &element, ty)?
            }
            (P::Insert, [value, held]) => {
                let (list, word, element) = self.list_and_word(held, value)?;
                let other = self.list_of_words(&[word])?;
                let both = self.plain(ListOperation::JoinedLists, &[list, other]);
                self.clipped = clipped;
                self.gathered(both, &element, ty)?
            }
            (P::Initset, [value]) => {
                let element = Self::shape_of(value)?;
                let list = self.list_of_items(std::slice::from_ref(value), &element)?;
                self.clipped = clipped;
                self.gathered(list, &element, ty)?
            }
            _ => return self.list_of_several(primitive, instruction, arguments),
        }))
    }

    /// The rest of [`list_call`](Self::list_call): calls that take two containers or create one, and others.
    fn list_of_several(
        &mut self,
        primitive: Primitive,
        instruction: &Instruction,
        arguments: &[SymbolicValue],
    ) -> Result<Option<SymbolicValue>, HostOnly> {
        use Primitive as P;
        let ty = &instruction.ty;
        let clipped = self.is_clipped(instruction);
        Ok(Some(match (primitive, arguments) {
            (P::Combine, [a, b]) => {
                let (a, b, element) = self.two_lists(a, b)?;
                if !self.is_set(&instruction.arguments[0]) {
                    self.check_order(b, &instruction.arguments[1]);
                }
                let both = self.plain(ListOperation::JoinedLists, &[a, b]);
                self.clipped = clipped;
                self.gathered(both, &element, ty)?
            }
            (P::Difference | P::Intersection, [a, b]) => {
                let (a, b, element) = self.two_lists(a, b)?;
                let without = primitive == P::Difference;
                let some = self.comparing(ListOperation::Among, &element, without, &[a, b])?;
                self.clipped = clipped;
                self.gathered(some, &element, ty)?
            }
            (P::Interval, [_, _, _]) => {
                let numbers = arguments.iter().map(|one| self.int(one));
                let numbers: Vec<_> = numbers.collect::<Result<_, _>>()?;
                let list = self.plain(ListOperation::Interval, &numbers);
                SymbolicValue::List(list, Box::new(Shape::Int))
            }
            (P::Repeat, [value, count]) => {
                let element = Self::shape_of(value)?;
                let (word, count) = (self.word(value, &element)?, self.int(count)?);
                let list = self.plain(ListOperation::Repeat, &[word, count]);
                SymbolicValue::List(list, Box::new(element))
            }
            (P::Pair | P::Product, [a, b]) => self.paired(primitive, instruction, a, b)?,
            (P::Sizefilter, [held, number]) => self.with_measure(held, P::Size, number)?,
            (P::Colorfilter, [held, number]) => self.with_measure(held, P::Color, number)?,
            (P::Hsplit | P::Vsplit, [grid, count]) => {
                let grid = self.operand(grid, Representation::Grid)?;
                let operands = [grid, self.int(count)?];
                let across = Immediate::flagged(primitive == P::Hsplit);
                let list = self.list_step(ListOperation::ListOfParts, across, &operands);
                SymbolicValue::List(list, Box::new(Shape::Grid))
            }
            (
                P::Paint,
                [
                    grid,
                    cells @ (SymbolicValue::List(..) | SymbolicValue::Tuple(_)),
                ],
            ) if !self.is_set(&instruction.arguments[1]) => {
                let grid = self.held_as(grid, &Shape::Grid)?;
                let grid = self.operand(&grid, Representation::Grid)?;
                let SymbolicValue::List(list, _) =
                    self.held_as(cells, &Shape::list_of(Shape::Cell))?
                else {
                    return Ok(None);
                };
                let painted = self.plain(ListOperation::PaintList, &[grid, list]);
                on_device(painted, Representation::Grid)
            }
            (P::Branch, [_, _, _]) => self.branch(arguments, ty)?,
            _ => return Ok(None),
        }))
    }

    /// Fails unless compared values have compatible types: a set and a tuple are both held as lists, but never equal.
    fn compares_like_with_like(
        &self,
        primitive: Primitive,
        instruction: &Instruction,
    ) -> Result<(), HostOnly> {
        use Primitive as P;
        let types = instruction.arguments.iter().map(|one| self.type_of(one));
        let types: Vec<Type> = types.collect::<Option<_>>().ok_or_else(unlike_types)?;
        let elements = || types.iter().map(Type::element).collect::<Option<Vec<_>>>();
        let like = match (primitive, types.as_slice()) {
            (P::Contained | P::Remove | P::Insert, [value, container]) => container
                .element()
                .is_some_and(|element| alike(&element, value)),
            (P::Equality, [a, b]) => alike(a, b),
            (P::Intersection | P::Difference | P::Combine, [_, _]) => {
                elements().is_some_and(|elements| alike(&elements[0], &elements[1]))
            }
            (P::Dedupe | P::Mostcommon | P::Leastcommon, [_]) => elements().is_some(),
            _ => true,
        };
        if like { Ok(()) } else { Err(unlike_types()) }
    }

    fn int(&mut self, held: &SymbolicValue) -> Result<ValueId, HostOnly> {
        let held = self.held_as(held, &Shape::Int)?;
        self.operand(&held, Representation::Int)
    }

    /// A list of integers.
    fn integers(&mut self, held: &SymbolicValue) -> Result<ValueId, HostOnly> {
        match self.list(held)? {
            (list, Shape::Int | Shape::Never) => Ok(list),
            _ => Err(HostOnly::Shape(
                "the largest of other than integers".to_owned(),
            )),
        }
    }

    /// Two containers as lists of elements of one shape.
    fn two_lists(
        &mut self,
        a: &SymbolicValue,
        b: &SymbolicValue,
    ) -> Result<(ValueId, ValueId, Shape), HostOnly> {
        let ((a, first), (b, second)) = (self.list(a)?, self.list(b)?);
        match (first, second) {
            (first, second) if first == second => Ok((a, b, first)),
            (Shape::Never, other) | (other, Shape::Never) => Ok((a, b, other)),
            _ => Err(HostOnly::Shape("containers of unlike elements".to_owned())),
        }
    }

    /// A container as a list, and a value as the word of an element of it.
    fn list_and_word(
        &mut self,
        held: &SymbolicValue,
        value: &SymbolicValue,
    ) -> Result<(ValueId, ValueId, Shape), HostOnly> {
        let (list, mut element) = self.list(held)?;
        if element == Shape::Never {
            element = Self::shape_of(value)?;
        }
        if Self::shape_of(value)? != element {
            return Err(HostOnly::Shape("an element of another shape".to_owned()));
        }
        Ok((list, self.word(value, &element)?, element))
    }

    /// The pairs of elements of two containers, for `pair` and `product`.
    fn paired(
        &mut self,
        primitive: Primitive,
        instruction: &Instruction,
        a: &SymbolicValue,
        b: &SymbolicValue,
    ) -> Result<SymbolicValue, HostOnly> {
        let ((a, first), (b, second)) = (self.list(a)?, self.list(b)?);
        if primitive == Primitive::Pair {
            for (list, operand) in [a, b].into_iter().zip(&instruction.arguments) {
                self.check_order(list, operand);
            }
        }
        let integers = first == Shape::Int && second == Shape::Int;
        let element = match (integers, first, second) {
            (true, ..) => Shape::Pair,
            (_, Shape::Never, _) | (_, _, Shape::Never) => Shape::Never,
            (_, first, second) => Shape::Tuple(vec![first, second]),
        };
        let operation = match primitive {
            Primitive::Pair => ListOperation::Zipped,
            _ => ListOperation::Product,
        };
        let mut list = self.list_step(operation, Immediate::flagged(integers), &[a, b]);
        let mut element = element;
        // A tuple of a colour and a location is always held as a cell.
        if element == Shape::Tuple(vec![Shape::Int, Shape::Pair]) {
            let held = SymbolicValue::List(list, Box::new(element));
            element = Shape::Cell;
            if let SymbolicValue::List(cells, _) =
                self.held_as(&held, &Shape::list_of(Shape::Cell))?
            {
                list = cells;
            }
        }
        self.clipped = self.is_clipped(instruction);
        self.gathered(list, &element, &instruction.ty)
    }

    /// Encodes the equality of two values of compatible types.
    fn equality(
        &mut self,
        instruction: &Instruction,
        a: &SymbolicValue,
        b: &SymbolicValue,
    ) -> Result<SymbolicValue, HostOnly> {
        let (mut first, second) = (Self::shape_of(a)?, Self::shape_of(b)?);
        let [kind, other] = [0, 1].map(|at| self.kind_of(&instruction.arguments[at]));
        if kind != other {
            return Err(HostOnly::Shape("equality of unlike values".to_owned()));
        }
        if first != second {
            let never = Shape::list_of(Shape::Never);
            let is_known = |held: &SymbolicValue| matches!(held, SymbolicValue::Constant(_));
            first = match (first, second) {
                (one, other) if one == never || is_known(a) => other,
                (one, other) if other == never || is_known(b) => one,
                _ => return Err(HostOnly::Shape("equality of unlike values".to_owned())),
            };
        }
        let (a, b) = (self.word(a, &first)?, self.word(b, &first)?);
        let operation = ListOperation::EqualityOfElements;
        let equal = self.comparing(operation, &first, false, &[a, b])?;
        Ok(on_device(equal, Representation::Int))
    }
}
