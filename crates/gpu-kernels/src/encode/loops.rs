//! Encodes the loops of a form: primitives that call a function for each element of a container.

use arc_dsl::{Primitive, Value};
use arc_form::{Instruction, Region, Type};

use super::control::{Loop, Source};
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
                let (list, element) = self.collected(region, arguments, None)?;
                self.clipped = clipped;
                self.listed = listed;
                self.gathered(list, &element, ty)
            }
            P::Mapply | P::Mpapply => self.merged(region, arguments, ty, clipped),
            P::Prapply => {
                let (list, element) = self.each_with_each(region, arguments)?;
                self.clipped = clipped;
                self.listed = listed;
                self.gathered(list, &element, ty)
            }
            P::Sfilter => self.filtered(region, &arguments[0], ty, clipped),
            P::Mfilter => self.filtered_and_merged(region, &arguments[0], ty, clipped),
            P::Extract => self.extracted(region, &arguments[0]),
            P::Order => self.ordered(region, &arguments[0]),
            P::Argmax | P::Argmin | P::Valmax | P::Valmin => {
                self.outermost(primitive, &instruction.regions, &arguments[0], ty)
            }
            _ => Err(HostOnly::Loop(primitive)),
        }
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

    /// Begins a loop over several containers in parallel; returns the elements of a round.
    pub(super) fn heads(
        &mut self,
        sources: &[Source],
    ) -> Result<(Loop, Vec<SymbolicValue>), HostOnly> {
        let (one, rounds) = self.begin_loops(sources.len())?;
        let mut words = Vec::new();
        for (source, round) in sources.iter().zip(rounds) {
            words.push(self.builder.next(source.list, round, one.end));
        }
        let items = words.into_iter().zip(sources);
        let items: Result<_, _> = items
            .map(|(word, source)| self.loaded(word, &source.element))
            .collect();
        Ok((one, items?))
    }

    /// A list of a region's results for each element, converted to a shape if one is given.
    fn collected(
        &mut self,
        region: &Region,
        arguments: &[SymbolicValue],
        shape: Option<&Shape>,
    ) -> Result<(ValueId, Shape), HostOnly> {
        let sources: Result<Vec<_>, _> = arguments.iter().map(|one| self.source(one)).collect();
        let sources = sources?;
        let results = self.plain(ListOperation::RoomFor, &[sources[0].list]);
        if let Some(shape) = self.collected_by_lanes(region, &sources, &[], results, shape) {
            return Ok((results, shape));
        }
        let (one, items) = self.heads(&sources)?;
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
        let both = match (sum, &held) {
            (SymbolicValue::OnDevice(sum, ..), SymbolicValue::OnDevice(held, ..))
                if self.painted && *shape == Shape::Object =>
            {
                let immediate = Immediate {
                    clipped,
                    ..Immediate::default()
                };
                let operation = ListOperation::CombinePainted;
                let both = self.list_step(operation, immediate, &[*sum, *held]);
                SymbolicValue::OnDevice(both, Representation::Object, None)
            }
            _ => self.primitive(Primitive::Combine, &[sum.clone(), held])?,
        };
        self.assign(sum, shape, &both)
    }

    fn merged(
        &mut self,
        region: &Region,
        arguments: &[SymbolicValue],
        ty: &Type,
        clipped: bool,
    ) -> Result<SymbolicValue, HostOnly> {
        let listed = self.listed;
        if let (Type::Indices | Type::Object, false) = (ty, listed) {
            let shape = Shape::of_type(ty).ok_or_else(|| HostOnly::Type(ty.to_string()))?;
            let sources: Result<Vec<_>, _> = arguments.iter().map(|one| self.source(one)).collect();
            let painted = self.painted;
            let sum = self.empty(&shape)?;
            let (one, items) = self.heads(&sources?)?;
            let mark = self.plain(ListOperation::Mark, &[]);
            let held = self.region(region, items)?;
            self.painted = painted;
            self.add(&sum, &shape, &held, clipped)?;
            self.plain(ListOperation::Release, &[mark]);
            self.end_loop(&one);
            return Ok(sum);
        }
        let element = element_shape_of(ty)?;
        let lists = Shape::list_of(element.clone());
        let (list, _) = self.collected(region, arguments, Some(&lists))?;
        let all = self.plain(ListOperation::Flattened, &[list]);
        self.listed = listed;
        self.gathered(all, &element, ty)
    }

    /// Merges the containers in a container into one of this type.
    pub(super) fn merge(
        &mut self,
        held: &SymbolicValue,
        ty: &Type,
        clipped: bool,
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
        let all = self.plain(ListOperation::Flattened, &[list]);
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
            return match self.filtered_and_merged(region, held, &Type::Object, false)? {
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
            // A filtered set stays in ascending order.
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
        let one = self.begin_loop()?;
        let word = self.builder.next(source.list, one.round, one.end);
        let mark = self.plain(ListOperation::Mark, &[]);
        let item = self.loaded(word, &source.element)?;
        let kept = self.region(region, vec![item])?;
        let kept = self.condition(&kept)?;
        self.plain(ListOperation::Release, &[mark]);
        self.builder.jump(Some(kept), one.head);
        self.push(list, word);
        self.end_loop(&one);
        Ok(list)
    }

    fn filtered_and_merged(
        &mut self,
        region: &Region,
        held: &SymbolicValue,
        ty: &Type,
        clipped: bool,
    ) -> Result<SymbolicValue, HostOnly> {
        let source = self.source(held)?;
        if let Type::Indices | Type::Object = ty {
            let shape = Shape::of_type(ty).ok_or_else(|| HostOnly::Type(ty.to_string()))?;
            let painted = self.painted;
            let sum = self.empty(&shape)?;
            let (one, items) = self.heads(&[source])?;
            let mark = self.plain(ListOperation::Mark, &[]);
            let item = items[0].clone();
            let kept = self.region(region, items)?;
            let kept = self.condition(&kept)?;
            self.painted = painted;
            self.plain(ListOperation::Release, &[mark]);
            self.builder.jump(Some(kept), one.head);
            self.add(&sum, &shape, &item, clipped)?;
            self.end_loop(&one);
            return Ok(sum);
        }
        let element = source.element.clone();
        let kept = self.kept(region, &source)?;
        self.merge(&SymbolicValue::List(kept, Box::new(element)), ty, clipped)
    }

    fn extracted(
        &mut self,
        region: &Region,
        held: &SymbolicValue,
    ) -> Result<SymbolicValue, HostOnly> {
        let source = self.source(held)?;
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
