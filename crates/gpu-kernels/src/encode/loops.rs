//! Encodes the loops of a form: primitives that call a function for each element of a container.

use arc_dsl::{ContainerKind, Primitive, Value};
use arc_form::{Instruction, Region, Type};

use super::control::Source;
use super::shapes::Shape;
use super::{Encoder, HostOnly, SymbolicValue};
use crate::interface::Representation;
use crate::list_operations::ListOperation;
use crate::program::{Immediate, ValueId};

impl Encoder {
    /// Encodes a call of a primitive that loops over containers.
    pub(super) fn run_loop(
        &mut self,
        primitive: Primitive,
        instruction: &Instruction,
        arguments: &[SymbolicValue],
    ) -> Result<SymbolicValue, HostOnly> {
        use Primitive as P;
        let region = &instruction.regions[0];
        let ty = &instruction.ty;
        let clipped = self.is_clipped(instruction);
        let listed = self.listed;
        match primitive {
            P::Apply | P::Papply => {
                if let Some(items) = self.unrolled(region, arguments)? {
                    return Ok(items);
                }
                let sources = self.sources(instruction, arguments)?;
                let (list, element) = self.collected(region, &sources, None)?;
                self.clipped = clipped;
                self.listed = listed;
                self.gathered(list, &element, ty)
            }
            P::Mapply | P::Mpapply => {
                let sources = self.sources(instruction, arguments)?;
                self.merged(instruction, &sources)
            }
            P::Prapply => {
                let (list, element) = self.each_with_each(region, arguments)?;
                self.clipped = clipped;
                self.listed = listed;
                self.gathered(list, &element, ty)
            }
            P::Sfilter => self.filtered(region, &arguments[0], ty, clipped),
            P::Mfilter => {
                let kind = region.parameters[0].1.container();
                let of_sets = self.concatenates_sets(instruction, kind);
                self.filtered_and_merged(region, &arguments[0], ty, clipped, of_sets)
            }
            P::Extract => self.extracted(instruction, &arguments[0]),
            P::Order => self.ordered(instruction, &arguments[0]),
            P::Argmax | P::Argmin | P::Valmax | P::Valmin => {
                self.outermost(primitive, instruction, &arguments[0])
            }
            _ => Err(HostOnly::Loop(primitive)),
        }
    }

    /// The containers of a loop; the order of several matters, in parallel.
    fn sources(
        &mut self,
        instruction: &Instruction,
        arguments: &[SymbolicValue],
    ) -> Result<Vec<Source>, HostOnly> {
        if let [held] = arguments {
            return Ok(vec![self.source(held)?]);
        }
        let all = arguments.iter().zip(&instruction.arguments);
        all.map(|(held, operand)| {
            let source = self.source(held)?;
            self.check_order(source.list, operand);
            Ok(source)
        })
        .collect()
    }

    /// Unrolls a loop over tuples whose items are held separately; `None` for other containers.
    fn unrolled(
        &mut self,
        region: &Region,
        arguments: &[SymbolicValue],
    ) -> Result<Option<SymbolicValue>, HostOnly> {
        let mut tuples = Vec::new();
        for argument in arguments {
            match self.items_of(argument)? {
                Some(items) => tuples.push(items),
                None => return Ok(None),
            }
        }
        let rounds = tuples.iter().map(Vec::len).min().unwrap_or_default();
        let mut results = Vec::with_capacity(rounds);
        for round in 0..rounds {
            let items = tuples.iter().map(|items| items[round].clone()).collect();
            let held = self.region(region, items)?;
            // Later rounds use the region's values again, so convert the result now.
            let shape = Self::shape_of(&held)?;
            results.push(match held {
                SymbolicValue::Constant(_) => held,
                _ => self.held_as(&held, &shape)?,
            });
        }
        let tuple = SymbolicValue::Tuple(results);
        Ok(Some(match Self::shape_of(&tuple)? {
            Shape::Tuple(items) if items == [Shape::Int, Shape::Int] => {
                self.held_as(&tuple, &Shape::Pair)?
            }
            _ => tuple,
        }))
    }

    /// A list of a region's results for each element, converted to a shape if one is given.
    fn collected(
        &mut self,
        region: &Region,
        sources: &[Source],
        shape: Option<&Shape>,
    ) -> Result<(ValueId, Shape), HostOnly> {
        let results = self.plain(ListOperation::RoomFor, &[sources[0].list]);
        if let Some(shape) = self.collected_by_lanes(region, sources, &[], results, shape) {
            return Ok((results, shape));
        }
        let (one, items) = self.heads(sources)?;
        let shape = self.push_result(region, items, results, shape)?;
        self.end_loop(&one);
        Ok((results, shape))
    }

    /// Encodes one round: appends the region's result to a list.
    fn push_result(
        &mut self,
        region: &Region,
        items: Vec<SymbolicValue>,
        list: ValueId,
        shape: Option<&Shape>,
    ) -> Result<Shape, HostOnly> {
        let mark = self.plain(ListOperation::Mark, &[]);
        let held = self.region(region, items)?;
        let shape = match shape {
            Some(shape) => shape.clone(),
            None => Self::shape_of(&held)?,
        };
        let word = self.word(&held, &shape)?;
        self.push(list, word);
        // A scalar uses no memory in the arena, so free what the round allocated.
        if matches!(shape, Shape::Int | Shape::Pair | Shape::Cell) {
            self.plain(ListOperation::Release, &[mark]);
        }
        Ok(shape)
    }

    fn each_with_each(
        &mut self,
        region: &Region,
        arguments: &[SymbolicValue],
    ) -> Result<(ValueId, Shape), HostOnly> {
        let (first, second) = (self.source(&arguments[0])?, self.source(&arguments[1])?);
        let results = self.plain(ListOperation::RoomForPairs, &[first.list, second.list]);
        let (outer, item) = self.heads(&[second])?;
        let sources = [first];
        let by_lanes = self.collected_by_lanes(region, &sources, &item, results, None);
        let shape = if let Some(shape) = by_lanes {
            shape
        } else {
            let (inner, mut items) = self.heads(&sources)?;
            items.extend(item);
            let shape = self.push_result(region, items, results, None)?;
            self.end_loop(&inner);
            shape
        };
        self.end_loop(&outer);
        Ok((results, shape))
    }

    /// Converts a list of elements to a container type.
    pub(super) fn gathered(
        &mut self,
        list: ValueId,
        element: &Shape,
        ty: &Type,
    ) -> Result<SymbolicValue, HostOnly> {
        let held = SymbolicValue::List(list, Box::new(element.clone()));
        Ok(match ty {
            Type::Indices if self.listed && *element == Shape::Pair => {
                let set = self.comparing(ListOperation::SetOfList, element, false, &[list])?;
                SymbolicValue::List(set, Box::new(Shape::Pair))
            }
            Type::Indices => self.held_as(&held, &Shape::Patch)?,
            Type::Object => self.held_as(&held, &Shape::Object)?,
            Type::Grid => self.held_as(&held, &Shape::Grid)?,
            Type::Pair => self.held_as(&held, &Shape::Pair)?,
            Type::Set(_) => {
                let set = self.comparing(ListOperation::SetOfList, element, false, &[list])?;
                SymbolicValue::List(set, Box::new(element.clone()))
            }
            Type::Tuple(_) | Type::Fixed(_) | Type::MaybePair => held,
            Type::Never => SymbolicValue::Never,
            other => return Err(HostOnly::Type(other.to_string())),
        })
    }

    /// Declares an empty patch or object, to which others are [added](Self::add).
    fn empty(&mut self, shape: &Shape) -> Result<SymbolicValue, HostOnly> {
        let sum = self.declared(shape)?;
        self.assign(&sum, shape, &SymbolicValue::Constant(Value::empty_set()))?;
        Ok(sum)
    }

    /// Adds a patch or an object to one that was declared.
    fn add(
        &mut self,
        sum: &SymbolicValue,
        shape: &Shape,
        held: &SymbolicValue,
        clipped: bool,
    ) -> Result<(), HostOnly> {
        self.clipped = clipped;
        let held = self.held_as(held, shape)?;
        if matches!(held, SymbolicValue::Never) {
            return Ok(());
        }
        self.clipped = clipped;
        let both = self.primitive(Primitive::Combine, &[sum.clone(), held])?;
        self.assign(sum, shape, &both)
    }

    fn merged(
        &mut self,
        instruction: &Instruction,
        sources: &[Source],
    ) -> Result<SymbolicValue, HostOnly> {
        let (region, ty) = (&instruction.regions[0], &instruction.ty);
        let (clipped, listed) = (self.is_clipped(instruction), self.listed);
        if let (Type::Indices | Type::Object, false) = (ty, listed) {
            let shape = Shape::of_type(ty).ok_or_else(|| HostOnly::Type(ty.to_string()))?;
            let sum = self.empty(&shape)?;
            let (one, items) = self.heads(sources)?;
            let mark = self.plain(ListOperation::Mark, &[]);
            let held = self.region(region, items)?;
            self.add(&sum, &shape, &held, clipped)?;
            self.plain(ListOperation::Release, &[mark]);
            self.end_loop(&one);
            return Ok(sum);
        }
        let element = element_shape_of(ty)?;
        let lists = Shape::list_of(element.clone());
        let (list, _) = self.collected(region, sources, Some(&lists))?;
        let of_sets = self.concatenates_sets(instruction, self.kind_of(&region.result));
        let all = self.list_step(
            ListOperation::Flattened,
            Immediate::flagged(of_sets),
            &[list],
        );
        self.listed = listed;
        self.gathered(all, &element, ty)
    }

    /// Whether containers of this kind are sets that a call concatenates to a tuple whose order matters.
    pub(super) fn concatenates_sets(
        &self,
        instruction: &Instruction,
        kind: Option<ContainerKind>,
    ) -> bool {
        kind == Some(ContainerKind::Set)
            && instruction.ty.container() == Some(ContainerKind::Tuple)
            && !self.storage.is_unordered(instruction.id)
    }

    /// Merges the containers in a container into one of this type. `of_sets` is whether it
    /// [concatenates sets](Self::concatenates_sets).
    pub(super) fn merge(
        &mut self,
        held: &SymbolicValue,
        ty: &Type,
        clipped: bool,
        of_sets: bool,
    ) -> Result<SymbolicValue, HostOnly> {
        if let Type::Indices | Type::Object = ty {
            let shape = Shape::of_type(ty).ok_or_else(|| HostOnly::Type(ty.to_string()))?;
            let source = self.source(held)?;
            let sum = self.empty(&shape)?;
            let (one, items) = self.heads(&[source])?;
            self.add(&sum, &shape, &items[0], clipped)?;
            self.end_loop(&one);
            return Ok(sum);
        }
        if *ty == Type::Grid {
            return self.merged_grids(held);
        }
        let element = element_shape_of(ty)?;
        let list = if let Some(items) = self.items_of(held)? {
            self.list_of_items(&items, &Shape::list_of(element.clone()))?
        } else {
            let lists = Shape::list_of(Shape::list_of(element.clone()));
            match self.held_as(held, &lists)? {
                SymbolicValue::List(list, _) => list,
                _ => return Err(HostOnly::Type(ty.to_string())),
            }
        };
        let all = self.list_step(
            ListOperation::Flattened,
            Immediate::flagged(of_sets),
            &[list],
        );
        self.gathered(all, &element, ty)
    }

    /// Merges a container of grids: stacks them vertically.
    fn merged_grids(&mut self, held: &SymbolicValue) -> Result<SymbolicValue, HostOnly> {
        let Some(items) = self.items_of(held)? else {
            let (list, element) = self.list(held)?;
            if element != Shape::Grid {
                return Err(HostOnly::Type("grid of other than grids".to_owned()));
            }
            // Fails if there is no grid.
            let sum = self.declared(&Shape::Grid)?;
            let first = self.element(list, &element, 0, false)?;
            self.assign(&sum, &Shape::Grid, &first)?;
            let have = self.builder.declare(Representation::Int);
            self.set_number(have, 0)?;
            let (one, items) = self.heads(&[Source { list, element }])?;
            let further = self.builder.label();
            self.builder.jump(Some(have), further);
            let both = [sum.clone(), items[0].clone()];
            let both = self.primitive(Primitive::Vconcat, &both)?;
            self.assign(&sum, &Shape::Grid, &both)?;
            self.builder.place(further);
            self.set_number(have, 1)?;
            self.end_loop(&one);
            return Ok(sum);
        };
        let mut items = items.into_iter();
        let first = items.next().ok_or(HostOnly::Step("a grid of no rows"))?;
        items.try_fold(first, |above, below| {
            self.primitive(Primitive::Vconcat, &[above, below])
        })
    }

    fn filtered(
        &mut self,
        region: &Region,
        held: &SymbolicValue,
        ty: &Type,
        clipped: bool,
    ) -> Result<SymbolicValue, HostOnly> {
        // A set of objects held as one object stays one.
        let structured = match held {
            SymbolicValue::OnDevice(_, Representation::Objects, Some(structure))
                if structure.can_be_found() =>
            {
                Some(*structure)
            }
            _ => None,
        };
        if let Some(structure) = structured {
            return match self.filtered_and_merged(region, held, &Type::Object, false, false)? {
                SymbolicValue::OnDevice(value, ..) => Ok(SymbolicValue::OnDevice(
                    value,
                    Representation::Objects,
                    Some(structure),
                )),
                other => Ok(other),
            };
        }
        let source = self.source(held)?;
        let element = source.element.clone();
        let kept = self.kept(region, &source)?;
        let held = SymbolicValue::List(kept, Box::new(element.clone()));
        self.clipped = clipped;
        match ty {
            // A filtered set stays ascending.
            Type::Set(_) => Ok(held),
            _ => self.gathered(kept, &element, ty),
        }
    }

    /// A list of the elements for which a region is true.
    fn kept(&mut self, region: &Region, source: &Source) -> Result<ValueId, HostOnly> {
        let list = self.plain(ListOperation::RoomFor, &[source.list]);
        if self.kept_by_lanes(region, source, list) {
            return Ok(list);
        }
        self.push_where(source, list, |this, item| this.region(region, vec![item]))?;
        Ok(list)
    }

    /// Appends the elements that satisfy a condition to a list, which must have room for them.
    pub(super) fn push_where(
        &mut self,
        source: &Source,
        list: ValueId,
        condition: impl FnOnce(&mut Self, SymbolicValue) -> Result<SymbolicValue, HostOnly>,
    ) -> Result<(), HostOnly> {
        let one = self.begin_loop()?;
        let word = self.builder.next(source.list, one.round, one.end);
        let mark = self.plain(ListOperation::Mark, &[]);
        let item = self.loaded(word, &source.element)?;
        let kept = condition(self, item)?;
        let kept = self.condition(&kept)?;
        self.plain(ListOperation::Release, &[mark]);
        self.builder.jump(Some(kept), one.head);
        self.push(list, word);
        self.end_loop(&one);
        Ok(())
    }

    fn filtered_and_merged(
        &mut self,
        region: &Region,
        held: &SymbolicValue,
        ty: &Type,
        clipped: bool,
        of_sets: bool,
    ) -> Result<SymbolicValue, HostOnly> {
        let source = self.source(held)?;
        if let Type::Indices | Type::Object = ty {
            let shape = Shape::of_type(ty).ok_or_else(|| HostOnly::Type(ty.to_string()))?;
            let sum = self.empty(&shape)?;
            let (one, items) = self.heads(&[source])?;
            let mark = self.plain(ListOperation::Mark, &[]);
            let item = items[0].clone();
            let kept = self.region(region, items)?;
            let kept = self.condition(&kept)?;
            self.plain(ListOperation::Release, &[mark]);
            self.builder.jump(Some(kept), one.head);
            self.add(&sum, &shape, &item, clipped)?;
            self.end_loop(&one);
            return Ok(sum);
        }
        let element = source.element.clone();
        let kept = self.kept(region, &source)?;
        let kept = SymbolicValue::List(kept, Box::new(element));
        self.merge(&kept, ty, clipped, of_sets)
    }

    fn extracted(
        &mut self,
        instruction: &Instruction,
        held: &SymbolicValue,
    ) -> Result<SymbolicValue, HostOnly> {
        let (region, source) = (&instruction.regions[0], self.source(held)?);
        if self.is_set(&instruction.arguments[0]) {
            let kept = self.kept(region, &source)?;
            self.check_order(kept, &instruction.arguments[0]);
            return self.element(kept, &source.element, 0, false);
        }
        if let Some(found) = self.found_by_lanes(region, &source) {
            return self.loaded(found, &source.element);
        }
        let found = self.builder.declare(Representation::Word);
        let one = self.begin_loop()?;
        let out = self.builder.label();
        let word = self.builder.next(source.list, one.round, one.end);
        let mark = self.plain(ListOperation::Mark, &[]);
        let item = self.loaded(word, &source.element)?;
        let is_it = self.region(region, vec![item])?;
        let is_it = self.condition(&is_it)?;
        self.plain(ListOperation::Release, &[mark]);
        self.builder.jump(Some(is_it), one.head);
        self.copy(found, Representation::Word, word)?;
        self.builder.jump(None, out);
        self.end_loop(&one);
        self.plain(ListOperation::Fail, &[]);
        self.builder.place(out);
        self.loaded(found, &source.element)
    }
}

/// The shape of the elements of a container type.
fn element_shape_of(ty: &Type) -> Result<Shape, HostOnly> {
    let element = ty.element().as_ref().and_then(Shape::of_type);
    element.ok_or_else(|| HostOnly::Type(ty.to_string()))
}
