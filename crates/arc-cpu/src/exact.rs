//! The order of sets, which planes do not have: a machine stores every set ascending, and where the order of Python
//! matters it builds the set again by the primitives of the reference. It does so from its own values where these have
//! but one order, and runs its own regions for the bodies of loops.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::bail_out::BailOut;
use super::definition::{
    Argument, COST_OF_ORDER, Choice, Definition, How, MOST_BUILT_ROUNDS, has_one_order, has_sets,
    is_set,
};
use super::elements::{Cells, len};
use super::machine::Machine;
use super::memory::{Memory, Paint};
use super::program::{Code, Region};
use super::slot::{At, Slot};
use crate::planes::SIDE;
use arc_dsl::{
    Container, ContainerKind, ErrorKind, Identity, Indices, Interpreter, Loc, Object, Primitive,
    Value, hash, sorted_places,
};
use arc_form::Type;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

/// An end of a set in the order of Python.
#[derive(Clone, Copy)]
pub(crate) enum End {
    First,
    Last,
}

/// If a set has more elements, it is not left open which one is the first of all.
const MOST_OPEN: usize = 16;

/// How deep definitions are followed.
const MOST_DEPTH: u32 = 100;

/// Whether a primitive only compares an argument, so that its order does not matter.
fn is_only_compared(primitive: Primitive, at: usize) -> bool {
    matches!(
        (primitive, at),
        (Primitive::Difference, 1) | (Primitive::Remove, 0)
    )
}

/// The same of a value of this type in the memory.
pub(crate) fn slot_has_one_order(memory: &Memory, ty: &Type, slot: Slot) -> bool {
    if !has_sets(ty) {
        return true;
    }
    if is_set(ty) && len(memory, ty, slot) > 1 {
        return false;
    }
    let elements = || memory.lists.get(slot).iter();
    match ty {
        Type::Set(element) | Type::Tuple(element) => {
            elements().all(|one| slot_has_one_order(memory, element, *one))
        }
        Type::Fixed(items) => {
            let mut pairs = elements().zip(items.iter());
            pairs.all(|(one, ty)| slot_has_one_order(memory, ty, *one))
        }
        _ => true,
    }
}

/// Whether a set of integers iterates over these, all that it has, in their ascending order however it was built: every
/// table of five or more has 16 places or more, so that none of them has to share one.
fn ascend(numbers: &[Slot]) -> bool {
    let most = if numbers.len() < 5 { 7 } else { 15 };
    let (Some(first), Some(last)) = (numbers.first(), numbers.last()) else {
        return true;
    };
    first.int() >= 0 && last.int() <= most
}

impl Code {
    /// How the value of a slot was built.
    fn definition(&self, slot: u32) -> Option<&Definition> {
        self.definitions.iter().find(|one| one.slot == slot)
    }

    /// Whether the set of a slot is the copy of a set to which its elements were added one by one, or that set itself;
    /// nothing if it was built otherwise.
    pub(crate) fn is_copied(&self, slot: u32) -> Option<bool> {
        use Primitive as P;
        let definition = self.definition(slot)?;
        if !is_set(&self.types[definition.ty as usize]) {
            return None;
        }
        match (definition.how, self.arguments(definition)) {
            (How::Call(P::Objects | P::Occurrences | P::Palette), _) => Some(true),
            (
                How::Call(
                    P::Combine
                    | P::Difference
                    | P::Merge
                    | P::Remove
                    | P::Product
                    | P::Sizefilter
                    | P::Colorfilter
                    | P::Fgpartition
                    | P::Partition
                    | P::Ofcolor
                    | P::Asindices
                    | P::Asobject
                    | P::Toobject
                    | P::Recolor
                    | P::Shift
                    | P::Normalize,
                )
                | How::Loop(P::Sfilter | P::Mfilter | P::Apply | P::Mapply | P::Prapply)
                | How::Kept,
                _,
            ) => Some(false),
            (How::Same, [Argument::Slot(other, _)]) => self.is_copied(*other),
            _ => None,
        }
    }

    /// Whether a value of a region is built by primitives alone, by all that the region has, from what is there before it
    /// runs.
    fn is_all_calls(&self, region: u32, argument: &Argument) -> bool {
        let mut met = Vec::new();
        let are_calls = self.meets_calls(region, argument, &mut met);
        let mut all = self.definitions.iter().filter(|one| one.within == region);
        // What the value does not need may fail all the same.
        are_calls && all.all(|one| met.contains(&one.slot))
    }

    /// Whether a value of a region is built by primitives alone; adds the slots of those that build it.
    fn meets_calls(&self, region: u32, argument: &Argument, met: &mut Vec<u32>) -> bool {
        let Argument::Slot(slot, _) = argument else {
            return true;
        };
        let Region { start, end, .. } = self.regions[region as usize];
        match self.definition(*slot) {
            Some(one) if one.within == region && !met.contains(slot) => {
                met.push(*slot);
                matches!(
                    one.how,
                    How::Call(_) | How::Item(_) | How::Items | How::Set | How::Same
                ) && self
                    .arguments(one)
                    .iter()
                    .all(|one| self.meets_calls(region, one, met))
            }
            Some(_) => true,
            None => {
                let steps = &self.steps[start as usize..end as usize];
                steps.iter().all(|step| u32::from(step.to) != *slot)
            }
        }
    }

    fn arguments(&self, definition: &Definition) -> &[Argument] {
        let Range { start, end } = definition.arguments;
        &self.arguments[start as usize..end as usize]
    }
}

impl Machine {
    /// The elements of the set in a slot, which are of a type that `ty` has, in the order of Python, as a list.
    #[cold]
    #[inline(never)]
    pub(crate) fn in_order(&mut self, code: &Code, at: At, ty: &Type) -> Result<Slot, BailOut> {
        let base = self.push_elements(ty, at)?;
        let several = self.stack.len() - base > 1;
        if several && !(ty.element() == Some(Type::Int) && ascend(&self.stack[base..])) {
            let places = self.places(code, at, ty, base)?;
            let stored: Vec<Slot> = self.stack.drain(base..).collect();
            // A set has as many elements here as in the reference.
            if places.len() != stored.len() {
                return Err(BailOut::Order);
            }
            self.stack
                .extend(places.iter().map(|place| stored[*place as usize]));
        }
        self.list_of_stack(base)
    }

    /// The indices of the elements of the set in a slot, which are on the stack from `base` on, in the order of Python.
    fn places(
        &mut self,
        code: &Code,
        at: At,
        ty: &Type,
        base: usize,
    ) -> Result<Arc<[u32]>, BailOut> {
        let slot = at.into();
        self.known.asked += 1;
        if let Some(places) = self.known.places.get(&slot) {
            return Ok(places.clone());
        }
        let all = 0..(self.stack.len() - base) as u32;
        let known = self.places_known(code, at, ty, &self.stack[base..]);
        let mut known: Vec<_> = known.into_iter().flatten().zip(all.clone()).collect();
        known.sort_unstable();
        let is_known = known.is_sorted_by(|(a, _), (b, _)| a.1 < b.0);
        let places: Arc<[u32]> = match known[..] {
            [_, ..] if is_known => known.iter().map(|(_, place)| *place).collect(),
            _ => {
                let number = code.types.iter().position(|one| one == ty);
                let number = number.ok_or(BailOut::Order)? as u32;
                let value = self.exact_value(code, slot, number)?;
                value
                    .iteration_order()
                    .map_or_else(|| all.collect(), Arc::from)
            }
        };
        if code.definition(slot).is_some_and(|one| one.within == 0) {
            self.known.places.insert(slot, places.clone());
        }
        Ok(places)
    }

    /// The elements of the set in a slot in the order of Python, as a list, if that was found before.
    pub(crate) fn known_list(
        &mut self,
        code: &Code,
        at: At,
        ty: &Type,
    ) -> Result<Option<Slot>, BailOut> {
        let is_known = self.known.places.contains_key(&at.into());
        is_known.then(|| self.in_order(code, at, ty)).transpose()
    }

    /// Whether a vectorised loop needed the order of a set, and this found it.
    #[cold]
    #[inline(never)]
    pub(crate) fn finds_wanted(&mut self, code: &Code) -> bool {
        self.known.wanted.take().is_some_and(|(at, ty)| {
            // What the loop has made itself is gone.
            let is_kept = code
                .definition(at.into())
                .is_some_and(|one| one.within == 0);
            is_kept
                && self.in_order(code, at, &code.types[ty as usize]).is_ok()
                && self.known.places.contains_key(&at.into())
        })
    }

    /// What is known of the places of these, which are all elements of the set in a slot, without building it again.
    fn places_known(
        &self,
        code: &Code,
        at: At,
        ty: &Type,
        elements: &[Slot],
    ) -> Option<Vec<(u32, u32)>> {
        let slot = at.into();
        let is_copied = match code.definition(slot) {
            Some(one) if !self.is_whole(one) => return None,
            Some(_) => code.is_copied(slot)?,
            None => (*self.are_copied.get(slot as usize)?)?,
        };
        let element = ty.element()?;
        let hashes = elements.iter().map(|slot| self.hash(&element, *slot));
        Some(hash::runs(&hashes.collect::<Option<Vec<_>>>()?, is_copied))
    }

    /// The hash of a value in Python.
    fn hash(&self, ty: &Type, slot: Slot) -> Option<u64> {
        let of_tuple = |hashes: Option<SmallVec<[u64; 8]>>| Some(hash::tuple(hashes?.into_iter()));
        let elements = || self.memory.lists.get(slot).iter();
        match ty {
            Type::Int => Some(hash::integer(slot.int())),
            Type::Pair => Some(hash::loc(slot.loc())),
            Type::Cell => Some(hash::cell(slot.cell())),
            Type::Indices | Type::Object | Type::Patch => {
                let (memory, patch) = (&self.memory, self.memory.patches.get(slot));
                if patch.paint == Paint::None {
                    let locs = memory.patches.shape(&patch).locations();
                    return Some(hash::set(locs.map(hash::loc)));
                }
                let mut cells = Cells::new(memory, &patch);
                let cells = std::iter::from_fn(|| cells.next(memory));
                Some(hash::set(cells.map(hash::cell)))
            }
            Type::Fixed(items) => {
                let items = elements().zip(items.iter());
                of_tuple(items.map(|(one, ty)| self.hash(ty, *one)).collect())
            }
            Type::Tuple(element) => {
                of_tuple(elements().map(|one| self.hash(element, *one)).collect())
            }
            _ => Some(self.value(ty, slot).ok()?.python_hash()),
        }
    }

    /// Leaves open which of these on the stack is the value of the step, if it need not be known yet.
    pub(crate) fn leave_open(&mut self, elements: Range<usize>) -> BailOut {
        match self.tries_left.checked_sub(elements.len()) {
            Some(left) if !elements.is_empty() => {
                self.tries_left = left;
                self.choice = Choice::Elements(self.stack[elements].into());
                BailOut::Choice
            }
            _ => BailOut::Order,
        }
    }

    /// The first or the last element of the set in a slot, which is of this type, in the order of Python.
    #[cold]
    #[inline(never)]
    pub(crate) fn end_of_set(
        &mut self,
        code: &Code,
        at: At,
        ty: &Type,
        end: End,
    ) -> Result<Slot, BailOut> {
        let base = self.push_elements(ty, at)?;
        let found = match self.stack[base..] {
            [] => Err(BailOut::Empty),
            [one] => Ok(one),
            [first, .., last] if ty.element() == Some(Type::Int) && ascend(&self.stack[base..]) => {
                Ok(match end {
                    End::First => first,
                    End::Last => last,
                })
            }
            _ => self.end_in_order(code, at, ty, base..self.stack.len(), end),
        };
        self.stack.truncate(base);
        found
    }

    /// Pushes the elements of the container in a slot, and returns where they start.
    fn push_elements(&mut self, ty: &Type, at: At) -> Result<usize, BailOut> {
        let base = self.stack.len();
        let mut elements = super::elements::Cursor::new(&self.memory, ty, self.get(at));
        while let Some(element) = elements.next(&mut self.memory)? {
            self.stack.push(element);
        }
        Ok(base)
    }

    /// Of these elements of the set in a slot, which are of the type that `ty` has, the first or the last one in the order
    /// of Python.
    #[cold]
    #[inline(never)]
    pub(crate) fn end_in_order(
        &mut self,
        code: &Code,
        at: At,
        ty: &Type,
        wanted: Range<usize>,
        end: End,
    ) -> Result<Slot, BailOut> {
        let base = self.push_elements(ty, at)?;
        let are_all = wanted.len() == self.stack.len() - base;
        // Which one is first of all is sooner found than which one is of some.
        if (wanted.len() <= MOST_OPEN || !are_all)
            && let BailOut::Choice = self.leave_open(wanted.clone())
        {
            self.stack.truncate(base);
            return Err(BailOut::Choice);
        }
        self.known.asked += 1;
        let slots = |m: &Self| m.stack[wanted.clone()].iter().copied().collect();
        let some: Option<FxHashSet<Slot>> = (!are_all).then(|| slots(self));
        let is_wanted = |slot: &Slot| some.as_ref().is_none_or(|some| some.contains(slot));
        if !self.known.places.contains_key(&at.into())
            && let Some(known) = self.places_known(code, at, ty, &self.stack[base..])
        {
            let found = known.iter().zip(&self.stack[base..]);
            let found = || found.clone().filter(|(_, one)| is_wanted(one));
            let best = match end {
                End::First => found().min_by_key(|((_, last), _)| *last),
                End::Last => found().max_by_key(|((first, _), _)| *first),
            };
            let is_beyond = |best: &(u32, u32), other: &(u32, u32)| match end {
                End::First => best.1 < other.0,
                End::Last => other.1 < best.0,
            };
            if let Some((places, best)) = best
                && found().all(|(other, one)| one == best || is_beyond(places, other))
            {
                return Ok(*best);
            }
        }
        self.stack.truncate(base);
        let list = self.in_order(code, at, ty)?;
        let in_order = self.memory.lists.get(list).iter();
        let mut in_order = in_order.filter(|element| is_wanted(element));
        let found = match end {
            End::First => in_order.next(),
            End::Last => in_order.next_back(),
        };
        found.copied().ok_or(BailOut::Order)
    }

    /// The value of a slot, which is of the type of this number, as the reference has it, orders included.
    pub(crate) fn exact_value(
        &mut self,
        code: &Code,
        slot: u32,
        ty: u32,
    ) -> Result<Value, BailOut> {
        if let Some(value) = self.known.body.get(&slot) {
            return Ok(value.clone());
        }
        self.known.asked += 1;
        self.orders_left = self
            .orders_left
            .checked_sub(COST_OF_ORDER)
            .ok_or(BailOut::Order)?;
        let spent = (self.fuel, self.calls);
        let value = self.among_known(|m| m.exact(code, &Argument::Slot(slot, ty)));
        (self.fuel, self.calls) = spent;
        value
    }

    /// Builds the value of the steps to which this one belongs by the reference. Returns its slot, and the step behind
    /// them. If the value is too large for a patch, `is_clipped`, what its uses see of it.
    pub(crate) fn build_again(
        &mut self,
        code: &Code,
        step: u32,
        is_clipped: bool,
    ) -> Result<(u32, Slot, u32), BailOut> {
        let cost = if is_clipped { 1 } else { COST_OF_ORDER };
        self.known.asked += u32::from(!is_clipped);
        self.orders_left = self.orders_left.checked_sub(cost).ok_or(BailOut::Order)?;
        // The limit of steps is that of the program as it was lowered.
        let spent = (self.fuel, self.calls);
        let around = |one: &&Definition| one.steps.contains(&step);
        let definition = code.definitions.iter().find(around).ok_or(BailOut::Order)?;
        if is_clipped && !(definition.is_typed && definition.is_clipped) {
            return Err(BailOut::Order);
        }
        // If the value fails, this tells which error Python meets first.
        let value = self.among_known(|m| m.build(code, definition, None))?;
        (self.fuel, self.calls) = spent;
        if !definition.is_typed {
            return Err(BailOut::Order);
        }
        if definition.within == 0 {
            self.known.body.insert(definition.slot, value.clone());
        }
        let value = if is_clipped {
            self.known.has_dropped = true;
            clipped(&value).ok_or(BailOut::Patch)?
        } else {
            value
        };
        let slot = self.put(&value, &code.types[definition.ty as usize])?;
        Ok((definition.slot, slot, definition.steps.end))
    }

    /// Whether the slot holds all of the value, as its type says.
    fn is_whole(&self, definition: &Definition) -> bool {
        let is_partial = definition.is_clipped && self.known.has_dropped;
        definition.is_typed && !definition.is_mixed && !is_partial
    }

    /// Whether the slot holds it, which it does not if its region is not run.
    fn is_current(&self, definition: &Definition) -> bool {
        let is_run = definition.within == 0 || definition.within != self.known.skipped;
        is_run && self.is_whole(definition)
    }

    /// Forgets what is found of regions.
    fn among_known<T>(&mut self, find: impl FnOnce(&mut Self) -> T) -> T {
        let known = self.known.regions.len();
        let depth = self.known.depth;
        let found = find(self);
        self.known.regions.truncate(known);
        self.known.depth = depth;
        found
    }

    fn exact(&mut self, code: &Code, argument: &Argument) -> Result<Value, BailOut> {
        let (slot, ty) = match argument {
            Argument::Slot(slot, ty) => (*slot, &code.types[*ty as usize]),
            Argument::Constant(value) => return Ok(value.clone()),
        };
        if let Some(value) = self.known.get(slot) {
            return Ok(value.clone());
        }
        let definition = code.definition(slot);
        let mut value = None;
        if definition.is_none_or(|one| self.is_current(one)) {
            let found = self.value(ty, self.slots[slot as usize])?;
            if !has_sets(ty) || has_one_order(&found) {
                return Ok(found);
            }
            value = Some(found);
        }
        if let Some((_, value, _)) = code.constants.iter().find(|(at, ..)| *at == slot) {
            return Ok(value.clone());
        }
        let definition = definition.ok_or(BailOut::Order)?;
        if self.known.depth == MOST_DEPTH {
            return Err(BailOut::Order);
        }
        self.known.depth += 1;
        let exact = self.build(code, definition, value.as_ref())?;
        self.known.depth -= 1;
        // A value that the reference does not build alike has another definition than this.
        if value.is_some_and(|value| value != exact) {
            return Err(BailOut::Order);
        }
        if definition.within == 0 {
            self.known.body.insert(slot, exact.clone());
        } else {
            self.known.regions.push((slot, exact.clone()));
        }
        Ok(exact)
    }

    /// Builds a value, of which the machine has this one in another order.
    fn build(
        &mut self,
        code: &Code,
        definition: &Definition,
        value: Option<&Value>,
    ) -> Result<Value, BailOut> {
        use Primitive as P;
        let arguments = code.arguments(definition);
        Ok(match (definition.how, arguments, value) {
            (How::Call(primitive), ..) => {
                let mut values = Vec::with_capacity(arguments.len());
                for (at, argument) in arguments.iter().enumerate() {
                    values.push(match (self.exact(code, argument), argument) {
                        (Err(_), Argument::Slot(slot, ty))
                            if is_only_compared(primitive, at)
                                && code
                                    .definition(*slot)
                                    .is_none_or(|one| self.is_current(one)) =>
                        {
                            self.value(&code.types[*ty as usize], self.slots[*slot as usize])?
                        }
                        (exact, _) => exact?,
                    });
                }
                let values: Vec<&Value> = values.iter().collect();
                call(primitive, &values)?
            }
            (How::Kept | How::Loop(P::Sfilter), [set, ..], Some(value)) if is_set_value(value) => {
                let set = self.exact(code, set)?;
                value.kept_of(&set).ok_or(BailOut::Order)?
            }
            (
                How::Element | How::Loop(P::Argmax | P::Argmin | P::Extract),
                [container, ..],
                Some(value),
            ) => {
                let container = self.exact(code, container)?;
                element_of(&container, value)?
            }
            (How::Kept | How::Loop(P::Order | P::Sfilter), [container, ..], Some(value)) => {
                let container = self.exact(code, container)?;
                let elements = value.as_container().ok_or(BailOut::Order)?;
                let elements = elements
                    .iter_stored()
                    .map(|one| element_of(&container, &one));
                Value::tuple(elements.collect::<Result<_, _>>()?)
            }
            (How::Loop(primitive), ..) => self.run_again(code, definition, primitive)?,
            (How::Iterate, [rounds, first, Argument::Slot(parameter, _), result], _)
                if code.is_all_calls(definition.region, result) =>
            {
                let rounds = self.exact(code, rounds)?.as_int();
                let rounds = rounds.filter(|rounds| *rounds <= MOST_BUILT_ROUNDS);
                let mut value = self.exact(code, first)?;
                for _ in 0..rounds.ok_or(BailOut::Order)? {
                    let known = self.known.regions.len();
                    self.known.regions.push((*parameter, value));
                    let made = self.result_by_calls(code, definition.region, result);
                    self.known.regions.truncate(known);
                    value = made?;
                }
                value
            }
            (How::Item(at), [tuple], _) => {
                let tuple = self.exact(code, tuple)?;
                let items = tuple.as_container().ok_or(BailOut::Order)?;
                let item = items.iter().nth(at.into()).ok_or(BailOut::Order)?;
                item.into_owned()
            }
            (How::Items, ..) => Value::tuple(self.all_exact(code, arguments)?),
            (How::Set, ..) => Value::set(self.all_exact(code, arguments)?),
            (How::Same, [other], _) => self.exact(code, other)?,
            _ => return Err(BailOut::Order),
        })
    }

    fn all_exact(&mut self, code: &Code, arguments: &[Argument]) -> Result<Vec<Value>, BailOut> {
        arguments.iter().map(|one| self.exact(code, one)).collect()
    }

    /// The result of a region that has nothing but calls, built by these without running it.
    fn result_by_calls(
        &mut self,
        code: &Code,
        region: u32,
        result: &Argument,
    ) -> Result<Value, BailOut> {
        let (outer, depth) = (self.known.skipped, self.known.depth);
        self.known.skipped = region;
        let value = self.exact(code, result);
        (self.known.skipped, self.known.depth) = (outer, depth);
        value
    }

    /// Runs a loop again, over its elements in the order of Python.
    #[allow(clippy::too_many_lines, reason = "an arm for every primitive")]
    fn run_again(
        &mut self,
        code: &Code,
        definition: &Definition,
        primitive: Primitive,
    ) -> Result<Value, BailOut> {
        use Primitive as P;
        let mut region = code.regions[definition.region as usize];
        region.unordered = false;
        let all = code.arguments(definition);
        let (result, arguments) = all.split_last().ok_or(BailOut::Order)?;
        let (containers, parameters) = arguments.split_at(arguments.len() / 2);
        let containers = self.all_exact(code, containers)?;
        let elements: Option<Vec<Vec<Value>>> = containers
            .iter()
            .map(|one| Some(one.as_container()?.iter().map(Cow::into_owned).collect()))
            .collect();
        let elements = elements.ok_or(BailOut::Type)?;
        let is_set = is_set_value(&containers[0]);
        let collected = if is_set { Value::set } else { Value::tuple };
        // The region tells a value that has but one order sooner.
        let is_skipped = matches!(result, Argument::Slot(_, ty) if has_sets(&code.types[*ty as usize]))
            && code.is_all_calls(definition.region, result);
        let body = |m: &mut Self, given: &[&Value]| -> Result<Value, BailOut> {
            let mark = m.memory.mark();
            let known = m.known.regions.len();
            let mut slots = Vec::with_capacity(given.len());
            for (parameter, value) in parameters.iter().zip(given) {
                let Argument::Slot(slot, ty) = parameter else {
                    return Err(BailOut::Order);
                };
                slots.push((*slot as usize, *value, &code.types[*ty as usize]));
                m.known.regions.push((*slot, (*value).clone()));
            }
            let built = is_skipped.then(|| m.result_by_calls(code, definition.region, result));
            let value = if let Some(Ok(value)) = built {
                value
            } else {
                // If it fails, the region tells which of its steps does.
                for (slot, value, ty) in slots {
                    m.slots[slot] = m.put(value, ty)?;
                }
                m.region(code, &region)?;
                m.exact(code, result)?
            };
            m.known.regions.truncate(known);
            m.memory.release(mark);
            Ok(value)
        };
        Ok(match (primitive, &elements[..]) {
            (P::Apply | P::Mapply, [elements]) => {
                let values = elements.iter().map(|one| body(self, &[one]));
                let applied = collected(values.collect::<Result<_, _>>()?);
                match primitive {
                    P::Apply => applied,
                    _ => call(P::Merge, &[&applied])?,
                }
            }
            (P::Papply | P::Mpapply, [a, b]) => {
                let values = a.iter().zip(b).map(|(a, b)| body(self, &[a, b]));
                let applied = Value::tuple(values.collect::<Result<_, _>>()?);
                match primitive {
                    P::Papply => applied,
                    _ => call(P::Merge, &[&applied])?,
                }
            }
            (P::Prapply, [a, b]) => {
                let mut values = Vec::with_capacity(a.len() * b.len());
                for b in b {
                    for a in a {
                        values.push(body(self, &[a, b])?);
                    }
                }
                Value::set(values)
            }
            (P::Sfilter | P::Mfilter, [elements]) => {
                let mut kept = Vec::new();
                for one in elements {
                    if is_true(&body(self, &[one])?)? {
                        kept.push(one.clone());
                    }
                }
                let kept = collected(kept);
                match primitive {
                    P::Sfilter => kept,
                    _ => call(P::Merge, &[&kept])?,
                }
            }
            (P::Extract, [elements]) => {
                for one in elements {
                    if is_true(&body(self, &[one])?)? {
                        return Ok(one.clone());
                    }
                }
                return Err(BailOut::NoMatch);
            }
            (P::Argmax | P::Argmin | P::Valmax | P::Valmin | P::Order, [elements]) => {
                let keys = elements.iter().map(|one| body(self, &[one]));
                let keys = keys.collect::<Result<Vec<_>, _>>()?;
                let greater =
                    |a: usize, b: usize| is_true(&call(P::Greater, &[&keys[a], &keys[b]])?);
                if primitive == P::Order {
                    let places = sorted_places(keys.len(), |a, b| greater(b, a))?;
                    let sorted = places.iter().map(|at| elements[*at as usize].clone());
                    return Ok(Value::tuple(sorted.collect()));
                }
                let mut best = 0;
                for at in 1..keys.len() {
                    let is_better = match primitive {
                        P::Argmax | P::Valmax => greater(at, best)?,
                        _ => greater(best, at)?,
                    };
                    if is_better {
                        best = at;
                    }
                }
                match primitive {
                    P::Argmax | P::Argmin => elements.get(best).ok_or(BailOut::Empty)?.clone(),
                    // Of nothing it is the value of 0, which is in another region.
                    _ => keys.get(best).ok_or(BailOut::Order)?.clone(),
                }
            }
            _ => return Err(BailOut::Order),
        })
    }
}

/// A call by the reference.
fn call(primitive: Primitive, arguments: &[&Value]) -> Result<Value, BailOut> {
    let interpreter = Interpreter::default().with_identity(Identity::Lost);
    let result = interpreter.call(Value::primitive(primitive), arguments);
    result.map_err(|error| match error.kind {
        ErrorKind::Empty => BailOut::Empty,
        ErrorKind::NoMatch => BailOut::NoMatch,
        ErrorKind::DivisionByZero => BailOut::DivisionByZero,
        ErrorKind::Limit(_) => BailOut::Order,
        _ => BailOut::Fails,
    })
}

/// What the uses of a clipped patch see of it.
fn clipped(value: &Value) -> Option<Value> {
    let side = 0..SIDE as i32;
    let is_seen = |loc: Loc| side.contains(&loc.i) && side.contains(&loc.j);
    Some(match value {
        Value::Indices(locs) => {
            let locs = locs.as_slice().iter().copied();
            Indices::new(locs.filter(|loc| is_seen(*loc)).collect()).into()
        }
        Value::Object(cells) => {
            let cells = cells.as_slice().iter().copied();
            Object::new(cells.filter(|cell| is_seen(cell.loc)).collect()).into()
        }
        _ => return None,
    })
}

fn is_set_value(value: &Value) -> bool {
    let container = value.as_container();
    container.is_some_and(|container| container.kind == ContainerKind::Set)
}

fn is_true(value: &Value) -> Result<bool, BailOut> {
    Ok(value.as_int().ok_or(BailOut::Type)? != 0)
}

/// The element of a container that equals this one, with its orders. If a tuple has several, these may be in different
/// orders.
fn element_of(container: &Value, element: &Value) -> Result<Value, BailOut> {
    if has_one_order(element) {
        return Ok(element.clone());
    }
    let elements = container.as_container().map(Container::iter_stored);
    let mut equal = elements
        .into_iter()
        .flatten()
        .filter(|one| **one == *element);
    match (equal.next(), equal.next()) {
        (Some(found), None) => Ok(found.into_owned()),
        _ => Err(BailOut::Order),
    }
}
