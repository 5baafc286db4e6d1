//! Encodes loops that sort, select or filter elements by a key.

use arc_dsl::Primitive;
use arc_form::Instruction;

use super::shapes::Shape;
use super::{Encoder, HostOnly, SymbolicValue};
use crate::interface::{Representation, Structure};
use crate::list_operations::ListOperation;
use crate::program::{Immediate, ValueId};

impl Encoder {
    /// A key as a comparable word, with its shape.
    fn key(&mut self, held: &SymbolicValue) -> Result<(ValueId, Shape), HostOnly> {
        let shape = Self::shape_of(held)?;
        if !matches!(shape, Shape::Int | Shape::Pair | Shape::Cell | Shape::Never) {
            return Err(HostOnly::Shape("a key that is no scalar".to_owned()));
        }
        Ok((self.word(held, &shape)?, shape))
    }

    pub(super) fn ordered(
        &mut self,
        instruction: &Instruction,
        held: &SymbolicValue,
    ) -> Result<SymbolicValue, HostOnly> {
        let (region, source) = (&instruction.regions[0], self.source(held)?);
        let of_set = self.is_set(&instruction.arguments[0]);
        let (list, element) = (source.list, source.element.clone());
        let keys = self.plain(ListOperation::RoomFor, &[list]);
        let sources = [source];
        let by_lanes = self.collected_by_lanes(region, &sources, &[], keys, None);
        let shape = if let Some(shape) = by_lanes {
            shape
        } else {
            let (one, items) = self.heads(&sources)?;
            let mark = self.plain(ListOperation::Mark, &[]);
            let key = self.region(region, items)?;
            let (key, shape) = self.key(&key)?;
            self.plain(ListOperation::Release, &[mark]);
            self.push(keys, key);
            self.end_loop(&one);
            shape
        };
        let sorted = self.comparing(ListOperation::Order, &shape, of_set, &[list, keys])?;
        Ok(SymbolicValue::List(sorted, Box::new(element)))
    }

    pub(super) fn outermost(
        &mut self,
        primitive: Primitive,
        instruction: &Instruction,
        held: &SymbolicValue,
    ) -> Result<SymbolicValue, HostOnly> {
        use Primitive as P;
        let (regions, ty) = (&instruction.regions, &instruction.ty);
        let greatest = matches!(primitive, P::Argmax | P::Valmax);
        let is_element = matches!(primitive, P::Argmax | P::Argmin);
        let is_first_unknown = is_element && self.is_set(&instruction.arguments[0]);
        let source = self.source(held)?;
        let (list, element) = (source.list, source.element.clone());
        let best_key = self.builder.declare(Representation::Word);
        let best = self.builder.declare(Representation::Word);
        // How many elements have the best key: two if there are more.
        let have = self.builder.declare(Representation::Int);
        self.set_number(have, 0)?;
        let one = self.begin_loop()?;
        let (better, worse) = (self.builder.label(), self.builder.label());
        let word = self.builder.next(list, one.round, one.end);
        let mark = self.plain(ListOperation::Mark, &[]);
        let item = self.loaded(word, &element)?;
        let key = self.region(&regions[0], vec![item])?;
        let (key, shape) = self.key(&key)?;
        self.plain(ListOperation::Release, &[mark]);
        self.builder.jump(Some(have), better);
        let operands = [key, best_key];
        let improves = self.comparing(ListOperation::Improves, &shape, greatest, &operands)?;
        self.builder.jump(Some(improves), worse);
        self.builder.place(better);
        self.copy(best_key, Representation::Word, key)?;
        self.copy(best, Representation::Word, word)?;
        self.set_number(have, 1)?;
        if is_first_unknown {
            self.builder.jump(None, one.head);
            self.builder.place(worse);
            let operation = ListOperation::EqualityOfElements;
            let ties = self.comparing(operation, &shape, false, &operands)?;
            self.builder.jump(Some(ties), one.head);
            self.set_number(have, 2)?;
        } else {
            self.builder.place(worse);
        }
        self.end_loop(&one);
        if is_element {
            self.plain(ListOperation::PositiveCount, &[have]);
            if is_first_unknown {
                self.plain(ListOperation::AtMostOne, &[have]);
            }
            return self.loaded(best, &element);
        }
        let (none, out) = (self.builder.label(), self.builder.label());
        // Without elements, the result is the key of the number 0, which the second region computes.
        let Some(shape @ (Shape::Int | Shape::Pair | Shape::Cell)) = Shape::of_type(ty) else {
            return Err(HostOnly::Type(ty.to_string()));
        };
        let result = self.declared(&shape)?;
        self.builder.jump(Some(have), none);
        let found = self.loaded(best_key, &shape)?;
        self.assign(&result, &shape, &found)?;
        self.builder.jump(None, out);
        self.builder.place(none);
        match regions.get(1) {
            Some(region) => {
                let key = self.region(region, Vec::new())?;
                self.assign(&result, &shape, &key)?;
            }
            None => {
                self.plain(ListOperation::Fail, &[]);
            }
        }
        self.builder.place(out);
        Ok(result)
    }

    /// The elements of a container for which a primitive returns this number, as a set.
    pub(super) fn with_measure(
        &mut self,
        held: &SymbolicValue,
        measure: Primitive,
        number: &SymbolicValue,
    ) -> Result<SymbolicValue, HostOnly> {
        let source = self.source(held)?;
        let number = self.held_as(number, &Shape::Int)?;
        let matching = self.plain(ListOperation::RoomFor, &[source.list]);
        self.push_where(&source, matching, |this, item| {
            let found = match measure {
                Primitive::Size => this.size_of(&item)?,
                _ => this.primitive(measure, &[item])?,
            };
            this.primitive(Primitive::Equality, &[found, number])
        })?;
        let set = self.comparing(
            ListOperation::SetOfList,
            &source.element,
            false,
            &[matching],
        )?;
        Ok(SymbolicValue::List(set, Box::new(source.element)))
    }

    /// The number of elements of a container.
    pub(super) fn size_of(&mut self, held: &SymbolicValue) -> Result<SymbolicValue, HostOnly> {
        let has_operation = matches!(
            held,
            SymbolicValue::OnDevice(
                _,
                Representation::Patch
                    | Representation::Object
                    | Representation::Grid
                    | Representation::Objects
                    | Representation::Colours,
                structure,
            ) if structure.is_none_or(Structure::can_be_found)
        );
        if has_operation {
            return self.primitive(Primitive::Size, std::slice::from_ref(held));
        }
        let (list, _) = self.list(held)?;
        let size = self.list_step(ListOperation::SizeOfList, Immediate::default(), &[list]);
        Ok(SymbolicValue::OnDevice(size, Representation::Int, None))
    }
}
