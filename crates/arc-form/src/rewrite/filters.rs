//! Filters of locations that count how a pattern, moved to each location, meets a set: replaced by an operation
//! on all locations at once.
//!
//! A filter qualifies if its region only counts how many locations of moved patterns are in sets, or have a
//! colour in a grid, and compares these numbers. Each comparison becomes a fused operation that returns the
//! locations that pass; `both`, `either` and `flip` become the corresponding operations on sets of locations.
//!
//! The rewrite preserves failures. In such a region, only two things fail: moving a location past the bound on
//! integers, which is the same error wherever it happens first, and taking cells from an empty grid. A filter
//! that takes cells is not split: it has one comparison, and its region keeps the calls in their original
//! order.

use super::{Fused, only};
use crate::analysis::order::Observed;
use crate::analysis::{Called, Index};
use crate::{Form, Id, Instruction, Op, Operand, Region, Type};
use arc_dsl::{Interpreter, Loc, MAX_INT, Primitive, Primitive as P, Value};

/// What is counted among a pattern's locations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Counted {
    /// The locations that are in a set.
    Met,
    /// The locations at which a grid has a colour.
    Coloured,
}

/// How the count is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Equal,
    More,
    Fewer,
}

impl Counted {
    const ALL: [Counted; 2] = [Counted::Met, Counted::Coloured];

    /// The arguments of an operation that counts this: the locations, the pattern, the set or the grid and
    /// colour, and the number.
    fn types(self) -> &'static [Type] {
        use Type::{Grid, Indices, Int};
        match self {
            Counted::Met => &[Indices, Indices, Indices, Int],
            Counted::Coloured => &[Indices, Indices, Grid, Int, Int],
        }
    }

    /// The call that returns the counted container, the type of that, and the call that counts it.
    fn calls(self) -> (Primitive, Type, Primitive) {
        match self {
            Counted::Met => (P::Intersection, Type::Indices, P::Size),
            Counted::Coloured => (P::Toobject, Type::Object, P::Colorcount),
        }
    }
}

impl Comparison {
    const ALL: [Comparison; 3] = [Comparison::Equal, Comparison::More, Comparison::Fewer];

    /// The comparison of a count that is equivalent to this comparison of the rest.
    fn complement(self) -> Self {
        match self {
            Comparison::Equal => Comparison::Equal,
            Comparison::More => Comparison::Fewer,
            Comparison::Fewer => Comparison::More,
        }
    }

    /// The call that compares like this.
    fn call(self, count: Operand, number: Operand) -> (Primitive, Vec<Operand>) {
        match self {
            Comparison::Equal => (P::Equality, vec![count, number]),
            Comparison::More => (P::Greater, vec![count, number]),
            Comparison::Fewer => (P::Greater, vec![number, count]),
        }
    }
}

/// The operation that counts and compares like this.
fn operation(counted: Counted, comparison: Comparison) -> Fused {
    match (counted, comparison) {
        (Counted::Met, Comparison::Equal) => Fused::MetAsOften,
        (Counted::Met, Comparison::More) => Fused::MetMoreOften,
        (Counted::Met, Comparison::Fewer) => Fused::MetLessOften,
        (Counted::Coloured, Comparison::Equal) => Fused::ColouredAsOften,
        (Counted::Coloured, Comparison::More) => Fused::ColouredMoreOften,
        (Counted::Coloured, Comparison::Fewer) => Fused::ColouredLessOften,
    }
}

/// How many of a pattern's locations are counted at a location.
struct Count {
    counted: Counted,
    /// Whether it counts the rest of the pattern's locations instead.
    is_complement: bool,
    pattern: Operand,
    /// What the pattern is matched with: a set, or a grid and a colour.
    against: Vec<Operand>,
    /// What is added to the count.
    plus: i32,
}

/// A filter that is being rewritten.
struct FilterRewriter<'f, 'i> {
    index: &'i Index<'f>,
    filter: &'f Instruction,
    /// The location, and the number of the region whose parameter it is.
    location: Operand,
    region: u32,
    /// The instructions of the region that have been visited.
    seen: Vec<Id>,
    /// For each truth value that has been rewritten, the locations for which it is true.
    passing: Vec<(&'f Operand, Operand)>,
    comparisons: u32,
    takes_cells: bool,
    /// The instructions that replace the filter; its value comes last.
    emitted: Vec<Instruction>,
    ids: u32,
}

impl<'f> FilterRewriter<'f, '_> {
    fn fresh(&mut self) -> Id {
        self.ids += 1;
        Id(self.ids - 1)
    }

    /// A call on the filter's line.
    fn call(&mut self, primitive: Primitive, ty: Type, arguments: Vec<Operand>) -> Instruction {
        Instruction {
            id: self.fresh(),
            ty,
            checked: false,
            op: Op::Call(primitive),
            arguments,
            regions: Vec::new(),
            line: self.filter.line,
        }
    }

    /// Emits a call on all locations at once.
    fn emit(&mut self, primitive: Primitive, ty: Type, arguments: Vec<Operand>) -> Operand {
        let call = self.call(primitive, ty, arguments);
        let value = Operand::Id(call.id);
        self.emitted.push(call);
        value
    }

    /// Whether an operand is defined in the region, or a parameter of it.
    fn is_inside(&self, operand: &Operand) -> bool {
        matches!(operand, Operand::Id(id) if self.index.definition(*id).region == self.region)
    }

    /// An operand that is the same for every location, and of this type.
    fn outer(&self, operand: &Operand, ty: &Type) -> Option<Operand> {
        let is_outer = !self.is_inside(operand) && self.index.is(operand, ty);
        is_outer.then(|| operand.clone())
    }

    /// The call in the region that computes an operand.
    fn defining_call(&mut self, operand: &Operand) -> Option<(Primitive, &'f [Operand])> {
        let made = self.index.maker(operand)?;
        // Errors name the filter's line, whichever call they come from.
        if !self.is_inside(operand) || made.checked || made.line != self.filter.line {
            return None;
        }
        if !self.seen.contains(&made.id) {
            self.seen.push(made.id);
        }
        Some((made.primitive()?, &made.arguments))
    }

    /// The locations for which a truth value is true.
    fn passing(&mut self, truth: &'f Operand) -> Option<Operand> {
        let known = self.passing.iter().find(|(known, _)| *known == truth);
        if let Some((_, passing)) = known {
            return Some(passing.clone());
        }
        let passing = self.all_passing(truth)?;
        self.passing.push((truth, passing.clone()));
        Some(passing)
    }

    /// Makes the value a part of the locations, taken in their order, as it is in Python. A union or an intersection has
    /// another order.
    fn keep_order(&mut self, truth: &'f Operand) {
        let joins = self.defining_call(truth).map(|(primitive, _)| primitive);
        if !matches!(joins, Some(P::Both | P::Either)) {
            return;
        }
        let places = &self.filter.arguments[0];
        if let Some(last) = self.emitted.last() {
            let passing = Operand::Id(last.id);
            let others = self.emit(P::Difference, Type::Indices, vec![places.clone(), passing]);
            self.emit(P::Difference, Type::Indices, vec![places.clone(), others]);
        }
    }

    fn all_passing(&mut self, truth: &'f Operand) -> Option<Operand> {
        let places = &self.filter.arguments[0];
        match self.defining_call(truth)? {
            (P::Flip, [a]) => {
                let a = self.passing(a)?;
                Some(self.emit(P::Difference, Type::Indices, vec![places.clone(), a]))
            }
            (P::Both, [a, b]) => {
                let both = vec![self.passing(a)?, self.passing(b)?];
                Some(self.emit(P::Intersection, Type::Indices, both))
            }
            (P::Either, [a, b]) => {
                let (a, b) = (self.passing(a)?, self.passing(b)?);
                // The union has no more elements than the locations, and so exceeds no bound that these do not.
                let rest = self.emit(P::Difference, Type::Indices, vec![b, a.clone()]);
                Some(self.emit(P::Combine, Type::Indices, vec![a, rest]))
            }
            (P::Positive, [count]) => {
                let zero = Operand::Constant(Value::Int(0));
                self.compared(count, Comparison::More, &zero)
            }
            (P::Equality, [a, b]) if self.is_inside(a) => self.compared(a, Comparison::Equal, b),
            (P::Equality, [a, b]) => self.compared(b, Comparison::Equal, a),
            (P::Greater, [a, b]) if self.is_inside(a) => self.compared(a, Comparison::More, b),
            (P::Greater, [a, b]) => self.compared(b, Comparison::Fewer, a),
            _ => None,
        }
    }

    /// The locations for which a number of the region compares like this with one that is the same for all.
    fn compared(
        &mut self,
        count: &'f Operand,
        comparison: Comparison,
        number: &Operand,
    ) -> Option<Operand> {
        let mut number = self.outer(number, &Type::Int)?;
        let mut comparison = comparison;
        let count = self.count(count)?;
        self.comparisons += 1;
        self.takes_cells |= count.counted == Counted::Coloured;
        if count.plus != 0 {
            number = integer(known(&number)? - i64::from(count.plus))?;
        }
        if count.is_complement {
            number = self.complement_count(&count.pattern, &number)?;
            comparison = comparison.complement();
        }
        let mut arguments = vec![self.filter.arguments[0].clone(), count.pattern];
        arguments.extend(count.against);
        arguments.push(number);
        self.fused(count.counted, comparison, arguments)
    }

    /// The number of a pattern's locations that are counted if this many are not.
    fn complement_count(&mut self, pattern: &Operand, number: &Operand) -> Option<Operand> {
        let number = known(number)?;
        if let Operand::Constant(Value::Indices(pattern)) = pattern {
            let all = pattern.as_slice().len() as i64;
            return integer(all - number);
        }
        // The difference is an integer of the language, whatever the size of the pattern.
        if number.abs() > i64::from(MAX_INT / 2) {
            return None;
        }
        let size = self.emit(P::Size, Type::Int, vec![pattern.clone()]);
        if number == 0 {
            return Some(size);
        }
        let number = integer(number)?;
        Some(self.emit(P::Subtract, Type::Int, vec![size, number]))
    }

    /// What a number of the region counts.
    fn count(&mut self, count: &'f Operand) -> Option<Count> {
        let (mut count, mut plus) = (count, 0);
        loop {
            match self.defining_call(count)? {
                (P::Increment, [less]) => (count, plus) = (less, plus + 1),
                (P::Decrement, [more]) => (count, plus) = (more, plus - 1),
                (P::Size, [part]) => {
                    let (primitive, [a, b]) = self.defining_call(part)? else {
                        return None;
                    };
                    let (moved, set) = match primitive {
                        P::Intersection if self.is_inside(b) => (b, a),
                        P::Intersection | P::Difference => (a, b),
                        _ => return None,
                    };
                    return Some(Count {
                        counted: Counted::Met,
                        is_complement: primitive == P::Difference,
                        pattern: self.pattern(moved)?,
                        against: vec![self.outer(set, &Type::Indices)?],
                        plus,
                    });
                }
                (P::Colorcount, [cells, colour]) => {
                    let (P::Toobject, [moved, grid]) = self.defining_call(cells)? else {
                        return None;
                    };
                    let against = [(grid, Type::Grid), (colour, Type::Int)];
                    let against = against.iter().map(|(one, ty)| self.outer(one, ty));
                    return Some(Count {
                        counted: Counted::Coloured,
                        is_complement: false,
                        against: against.collect::<Option<_>>()?,
                        pattern: self.pattern(moved)?,
                        plus,
                    });
                }
                _ => return None,
            }
        }
    }

    /// The pattern that a set of the region contains, moved to the location.
    fn pattern(&mut self, moved: &Operand) -> Option<Operand> {
        match self.defining_call(moved)? {
            (P::Shift, [pattern, to]) if *to == self.location => {
                self.outer(pattern, &Type::Indices)
            }
            (P::Shift, [Operand::Constant(pattern), to]) => match self.defining_call(to)? {
                (P::Add, [Operand::Constant(way), at] | [at, Operand::Constant(way)])
                    if *at == self.location =>
                {
                    moved_on(pattern, way)
                }
                _ => None,
            },
            (around @ (P::Neighbors | P::Dneighbors | P::Ineighbors), [at])
                if *at == self.location =>
            {
                let origin = Value::Loc(Loc::new(0, 0));
                let around = Interpreter::default().call(Value::primitive(around), &[&origin]);
                Some(Operand::Constant(around.ok()?))
            }
            _ => None,
        }
    }

    /// The locations for which the count compares like this with the last argument.
    fn fused(
        &mut self,
        counted: Counted,
        comparison: Comparison,
        arguments: Vec<Operand>,
    ) -> Option<Operand> {
        let types = counted.types().iter();
        let parameters: Vec<_> = types.map(|ty| (self.fresh(), ty.clone())).collect();
        let given: Vec<_> = parameters.iter().map(|(id, _)| Operand::Id(*id)).collect();
        let [places, pattern, against, colour @ .., number] = &given[..] else {
            return None;
        };
        let place = self.fresh();
        let (takes, ty, counts) = counted.calls();
        let to = vec![pattern.clone(), Operand::Id(place)];
        let moved = self.call(P::Shift, Type::Indices, to);
        let part = self.call(takes, ty, vec![Operand::Id(moved.id), against.clone()]);
        let of = [&[Operand::Id(part.id)], colour].concat();
        let count = self.call(counts, Type::Int, of);
        let (compares, numbers) = comparison.call(Operand::Id(count.id), number.clone());
        let truth = self.call(compares, Type::Bool, numbers);
        let mut filter = self.call(P::Sfilter, Type::Indices, vec![places.clone()]);
        filter.regions.push(Region {
            parameters: vec![(place, Type::Pair)],
            result: Operand::Id(truth.id),
            calls: 0,
            instructions: vec![moved, part, count, truth],
        });
        let mut fused = self.call(P::Sfilter, Type::Indices, arguments);
        fused.op = Op::Fused(operation(counted, comparison));
        fused.regions.push(Region {
            parameters,
            result: Operand::Id(filter.id),
            calls: 0,
            instructions: vec![filter],
        });
        let value = Operand::Id(fused.id);
        self.emitted.push(fused);
        Some(value)
    }
}

/// The number, if the operand is constant.
fn known(operand: &Operand) -> Option<i64> {
    match operand {
        Operand::Constant(Value::Int(n)) => Some(i64::from(*n)),
        _ => None,
    }
}

/// A number as an integer of the language, if it is one.
fn integer(n: i64) -> Option<Operand> {
    let fits = n.abs() <= i64::from(MAX_INT);
    fits.then(|| Operand::Constant(Value::Int(n as i32)))
}

/// The pattern moved by a pair, if moving the result to a location is equivalent to moving the pattern to the
/// location moved by the pair.
fn moved_on(pattern: &Value, way: &Value) -> Option<Operand> {
    let (Value::Indices(locs), Value::Loc(_)) = (pattern, way) else {
        return None;
    };
    // The moved location is then between those of the pattern, so it exceeds the bound only if they do.
    let around_zero = |of: fn(&Loc) -> i32| {
        let numbers = || locs.as_slice().iter().map(of);
        numbers().any(|n| n <= 0) && numbers().any(|n| n >= 0)
    };
    if !(around_zero(|loc| loc.i) && around_zero(|loc| loc.j)) {
        return None;
    }
    let moved = Interpreter::default().call(Value::primitive(P::Shift), &[pattern, way]);
    Some(Operand::Constant(moved.ok()?))
}

/// The instructions that replace a filter, its value last, if it qualifies.
fn rewrite_filter(
    filter: &Instruction,
    index: &Index<'_>,
    observed: &mut Observed<'_, '_>,
    ids: &mut u32,
) -> Option<Vec<Instruction>> {
    let region = filter.regions.first().filter(|_| is_candidate(filter))?;
    let [(place, Type::Pair)] = region.parameters[..] else {
        return None;
    };
    if filter.checked || !index.is(&filter.arguments[0], &Type::Indices) {
        return None;
    }
    let mut taken = FilterRewriter {
        index,
        filter,
        location: Operand::Id(place),
        region: index.definition(place).region,
        seen: Vec::new(),
        passing: Vec::new(),
        comparisons: 0,
        takes_cells: false,
        emitted: Vec::new(),
        ids: *ids,
    };
    taken.passing(&region.result)?;
    if observed.of(filter.id) {
        taken.keep_order(&region.result);
    }
    // A filter that takes cells, which may fail, is not split.
    if taken.takes_cells && taken.comparisons > 1 || taken.seen.len() != region.instructions.len() {
        return None;
    }
    taken.emitted.last_mut()?.id = filter.id;
    *ids = taken.ids;
    Some(taken.emitted)
}

/// The calls that return a pattern at a location.
const MOVING: [Primitive; 4] = [P::Shift, P::Neighbors, P::Dneighbors, P::Ineighbors];

/// The longest region of a filter that may qualify.
const MOST_INSTRUCTIONS: usize = 64;

/// Whether an instruction is a filter of locations that moves a pattern to them.
fn is_candidate(instruction: &Instruction) -> bool {
    if instruction.op != Op::Call(P::Sfilter) || instruction.ty != Type::Indices {
        return false;
    }
    let asks = &instruction.regions[0].instructions;
    let moves = |one: &Instruction| one.primitive().is_some_and(|one| MOVING.contains(&one));
    asks.len() <= MOST_INSTRUCTIONS && asks.iter().any(moves)
}

/// Whether a region contains such a filter.
fn has_candidate(region: &Region) -> bool {
    let mut instructions = region.instructions.iter();
    instructions.any(|one| is_candidate(one) || one.regions.iter().any(has_candidate))
}

/// Replaces an instruction by others; returns whether the region contains it.
fn replace_instruction(region: &mut Region, id: Id, made: &mut Vec<Instruction>) -> bool {
    let instructions = &mut region.instructions;
    if let Some(at) = instructions.iter().position(|one| one.id == id) {
        instructions.splice(at..=at, made.drain(..));
        return true;
    }
    let mut inside = instructions.iter_mut().flat_map(|one| &mut one.regions);
    inside.any(|region| replace_instruction(region, id, made))
}

/// Rewrites all filters that qualify.
pub(super) fn rewrite(form: &mut Form) {
    if !has_candidate(&form.body) {
        return;
    }
    let index = Index::new(form);
    let mut observed = Observed::new(&index, true);
    let mut ids = form.ids;
    let mut found = Vec::new();
    for filter in index.instructions() {
        let made = rewrite_filter(filter, &index, &mut observed, &mut ids);
        found.extend(made.map(|made| (filter.id, made)));
    }
    for (id, mut made) in found {
        replace_instruction(&mut form.body, id, &mut made);
    }
    form.ids = ids;
}

/// Whether a form has the calls that this rewrite needs.
pub(super) fn may(called: &Called) -> bool {
    called.has(P::Sfilter) && MOVING.iter().any(|one| called.has(*one))
}

/// Whether the region is what this replaces: one filter of the first argument. Its counting calls may be fused
/// already.
pub(super) fn is_of(fused: Fused, region: &Region) -> bool {
    let all = Counted::ALL.into_iter();
    let mut all = all.flat_map(|counted| Comparison::ALL.map(|comparison| (counted, comparison)));
    let kind = all.find(|(counted, comparison)| operation(*counted, *comparison) == fused);
    let Some((counted, comparison)) = kind else {
        return false;
    };
    let given = region.parameters.iter();
    let given: Vec<_> = given.map(|(id, _)| Operand::Id(*id)).collect();
    let [places, pattern, against, colour @ .., number] = &given[..] else {
        return false;
    };
    let Some(filter) = only(region, counted.types().len()) else {
        return false;
    };
    let [
        Region {
            parameters,
            instructions,
            result,
            ..
        },
    ] = &filter.regions[..]
    else {
        return false;
    };
    let ([(place, _)], [moved, counting @ .., truth]) = (&parameters[..], &instructions[..]) else {
        return false;
    };
    let part_of = [Operand::Id(moved.id), against.clone()];
    let (takes, _, counts) = counted.calls();
    let count = match counting {
        [one] if one.op == Op::Fused(Fused::SizeOfIntersection) && counted == Counted::Met => {
            (one.arguments == part_of).then_some(one.id)
        }
        [part, count] if part.op == Op::Call(takes) && count.op == Op::Call(counts) => {
            let of = [&[Operand::Id(part.id)], colour].concat();
            (part.arguments == part_of && count.arguments == of).then_some(count.id)
        }
        _ => None,
    };
    let Some(count) = count else { return false };
    let (compares, numbers) = comparison.call(Operand::Id(count), number.clone());
    (filter.op, moved.op, truth.op)
        == (Op::Call(P::Sfilter), Op::Call(P::Shift), Op::Call(compares))
        && filter.arguments == [places.clone()]
        && moved.arguments == [pattern.clone(), Operand::Id(*place)]
        && truth.arguments == numbers
        && *result == Operand::Id(truth.id)
}

#[cfg(test)]
mod tests;
