//! Filters of locations that need not ask one location after the other.

use rustc_hash::FxHashMap;

use super::{Lowering, Steps};
use crate::bail_out::Unsupported;
use crate::ops::placing::{
    CELLS_OF_COLOUR, Comparison, Counted, FILTER_BY_COLUMN, FILTER_BY_ROW, PASSING, PLACED,
};
use crate::ops::{
    COMBINE_PATCHES, DIFFERENCE_OF_INDICES, DNEIGHBORS, INEIGHBORS, INTERSECTION_OF_INDICES,
    NEIGHBORS,
};
use crate::program::Kernel;
use arc_dsl::{Loc, Primitive, Value};
use arc_form::{Id, Instruction, Op, Operand, Region, Type};

/// What an instruction of a filter's region gives, for all locations at once.
#[derive(Clone, Copy, Debug)]
enum Term {
    /// The location moved by the pair in the slot.
    Moved(u32),
    /// The locations of the pattern in the slot, moved to the location.
    Pattern(u32),
    /// Those of the pattern that the set has, or those that it has not.
    Part {
        pattern: u32,
        set: u32,
        others: bool,
    },
    /// The cells of the grid in the slot at the locations of the pattern.
    Cells { pattern: u32, grid: u32 },
    /// How many there are, with so much added.
    Count {
        pattern: u32,
        set: u32,
        others: bool,
        plus: i8,
    },
    /// Whether it passes: the slot of those that do.
    Passes(u32),
}

/// A filter while it is taken apart.
struct Filter {
    /// What stands for the location.
    place: Vec<Id>,
    /// The locations that are filtered.
    places: u32,
    terms: FxHashMap<u32, Term>,
    steps: Steps,
}

impl Filter {
    /// What an operand of the region stands for; nothing where it is the same for every location.
    fn term(&self, operand: &Operand) -> Option<Term> {
        match operand {
            Operand::Id(id) => self.terms.get(&id.0).copied(),
            Operand::Constant(_) => None,
        }
    }

    /// What an argument stands for.
    fn argument(&self, one: &Instruction, at: usize) -> Option<Term> {
        self.term(one.arguments.get(at)?)
    }

    /// Whether an argument is the location.
    fn is_argument(&self, one: &Instruction, at: usize) -> bool {
        one.arguments
            .get(at)
            .is_some_and(|operand| self.is_place(operand))
    }

    /// Whether the operand is the location.
    fn is_place(&self, operand: &Operand) -> bool {
        matches!(operand, Operand::Id(id) if self.place.contains(id))
    }
}

impl Lowering {
    /// The slot of the locations that pass a filter, where its region only asks how many locations
    /// of patterns moved to a location are in sets that do not depend on it.
    pub(crate) fn filter_at_once(
        &mut self,
        steps: &mut Steps,
        instruction: &Instruction,
        places: u32,
    ) -> Result<Option<u32>, Unsupported> {
        let region = &instruction.regions[0];
        let mut filter = Filter {
            place: vec![region.parameters[0].0],
            places,
            terms: FxHashMap::default(),
            steps: Steps::new(),
        };
        // None of these steps ends in an error that tells where it comes from.
        if !self.terms(&mut filter, region)? {
            return Ok(None);
        }
        let Some(Term::Passes(slot)) = filter.term(region.result()) else {
            return Ok(None);
        };
        steps.append(&mut filter.steps);
        Ok(Some(slot))
    }

    /// What the instructions of a region give; tells whether all of them were understood.
    fn terms(&mut self, filter: &mut Filter, region: &Region) -> Result<bool, Unsupported> {
        for one in &region.instructions {
            let term = match one.op {
                Op::Fused(_) => self.calls(filter, one)?,
                _ => self.term(filter, one)?,
            };
            let Some(term) = term else {
                return Ok(false);
            };
            filter.terms.insert(one.id.0, term);
        }
        Ok(true)
    }

    /// What several calls give that are one instruction.
    fn calls(
        &mut self,
        filter: &mut Filter,
        one: &Instruction,
    ) -> Result<Option<Term>, Unsupported> {
        let region = &one.regions[0];
        for ((parameter, _), operand) in region.parameters.iter().zip(&one.arguments) {
            if filter.is_place(operand) {
                filter.place.push(*parameter);
            } else if let Some(term) = filter.term(operand) {
                filter.terms.insert(parameter.0, term);
            } else {
                self.bind(*parameter, operand)?;
            }
        }
        let understood = self.terms(filter, region)?;
        Ok(filter.term(region.result()).filter(|_| understood))
    }

    /// What an instruction of the region gives.
    fn term(
        &mut self,
        filter: &mut Filter,
        one: &Instruction,
    ) -> Result<Option<Term>, Unsupported> {
        let Op::Call(primitive) = one.op else {
            return Ok(None);
        };
        if !one.regions.is_empty() || one.checked {
            return Ok(None);
        }
        if let Some(pattern) = self.pattern(filter, one, primitive)? {
            return Ok(Some(pattern));
        }
        match self.part(filter, one, primitive)? {
            None => self.truth(filter, one, primitive),
            part => Ok(part),
        }
    }

    /// The location moved, or a pattern moved to it.
    fn pattern(
        &mut self,
        filter: &mut Filter,
        one: &Instruction,
        primitive: Primitive,
    ) -> Result<Option<Term>, Unsupported> {
        use Primitive as P;
        let place = |at: usize| filter.is_argument(one, at);
        Ok(
            match (primitive, filter.argument(one, 0), filter.argument(one, 1)) {
                (P::add, None, None) if place(0) != place(1) => {
                    let by = &one.arguments[usize::from(place(0))];
                    self.outer(filter, by, &Type::Pair)?.map(Term::Moved)
                }
                (P::shift, None, to) if !place(0) => {
                    let Some(pattern) = self.outer(filter, &one.arguments[0], &Type::Indices)?
                    else {
                        return Ok(None);
                    };
                    match to {
                        Some(Term::Moved(way)) => {
                            let places = filter.places;
                            let placed = self.push(&mut filter.steps, &PLACED, |step| {
                                [step.a, step.b, step.c] = [pattern, way, places];
                            });
                            Some(Term::Pattern(placed))
                        }
                        None if place(1) => Some(Term::Pattern(pattern)),
                        _ => None,
                    }
                }
                (P::neighbors | P::dneighbors | P::ineighbors, None, None) if place(0) => {
                    let kernel = match primitive {
                        P::neighbors => &NEIGHBORS,
                        P::dneighbors => &DNEIGHBORS,
                        _ => &INEIGHBORS,
                    };
                    let origin = self.constant(Value::Loc(Loc::new(0, 0)), Type::Pair);
                    let around = self.push(&mut filter.steps, kernel, |step| step.a = origin);
                    Some(Term::Pattern(around))
                }
                _ => None,
            },
        )
    }

    /// What of a pattern meets a set, and how much.
    fn part(
        &mut self,
        filter: &mut Filter,
        one: &Instruction,
        primitive: Primitive,
    ) -> Result<Option<Term>, Unsupported> {
        use Primitive as P;
        let place = |at: usize| filter.is_argument(one, at);
        Ok(
            match (primitive, filter.argument(one, 0), filter.argument(one, 1)) {
                (P::intersection | P::difference, Some(Term::Pattern(pattern)), None)
                    if !place(1) =>
                {
                    let set = self.outer(filter, &one.arguments[1], &Type::Indices)?;
                    let others = primitive == P::difference;
                    set.map(|set| Term::Part {
                        pattern,
                        set,
                        others,
                    })
                }
                (P::intersection, None, Some(Term::Pattern(pattern))) if !place(0) => {
                    let set = self.outer(filter, &one.arguments[0], &Type::Indices)?;
                    set.map(|set| Term::Part {
                        pattern,
                        set,
                        others: false,
                    })
                }
                (P::toobject, Some(Term::Pattern(pattern)), None) if !place(1) => {
                    let grid = self.outer(filter, &one.arguments[1], &Type::Grid)?;
                    grid.map(|grid| Term::Cells { pattern, grid })
                }
                (
                    P::size,
                    Some(Term::Part {
                        pattern,
                        set,
                        others,
                    }),
                    None,
                ) => Some(Term::Count {
                    pattern,
                    set,
                    others,
                    plus: 0,
                }),
                (P::colorcount, Some(Term::Cells { pattern, grid }), None) if !place(1) => {
                    let colour = self.outer(filter, &one.arguments[1], &Type::Int)?;
                    colour.map(|colour| {
                        let set = self.push(&mut filter.steps, &CELLS_OF_COLOUR, |step| {
                            [step.a, step.b] = [grid, colour];
                        });
                        Term::Count {
                            pattern,
                            set,
                            others: false,
                            plus: 0,
                        }
                    })
                }
                (
                    P::increment | P::decrement,
                    Some(Term::Count {
                        pattern,
                        set,
                        others,
                        plus,
                    }),
                    None,
                ) => {
                    let by = if primitive == P::increment { 1 } else { -1 };
                    let sum = plus.checked_add(by);
                    sum.map(|plus| Term::Count {
                        pattern,
                        set,
                        others,
                        plus,
                    })
                }
                _ => None,
            },
        )
    }

    /// Which locations pass.
    fn truth(
        &mut self,
        filter: &mut Filter,
        one: &Instruction,
        primitive: Primitive,
    ) -> Result<Option<Term>, Unsupported> {
        use Primitive as P;
        let place = |at: usize| filter.is_argument(one, at);
        Ok(
            match (primitive, filter.argument(one, 0), filter.argument(one, 1)) {
                (P::positive, Some(count), None) => {
                    let zero = self.constant(Value::Int(0), Type::Int);
                    self.compared(filter, count, Comparison::More, zero)
                }
                (P::equality | P::greater, Some(count), None) if !place(1) => {
                    let comparison = match primitive {
                        P::equality => Comparison::Equal,
                        _ => Comparison::More,
                    };
                    let number = self.outer(filter, &one.arguments[1], &Type::Int)?;
                    number.and_then(|number| self.compared(filter, count, comparison, number))
                }
                (P::equality | P::greater, None, Some(count)) if !place(0) => {
                    let comparison = match primitive {
                        P::equality => Comparison::Equal,
                        _ => Comparison::Fewer,
                    };
                    let number = self.outer(filter, &one.arguments[0], &Type::Int)?;
                    number.and_then(|number| self.compared(filter, count, comparison, number))
                }
                (P::flip, Some(Term::Passes(slot)), None) => {
                    let places = filter.places;
                    let others = self.push(&mut filter.steps, &DIFFERENCE_OF_INDICES, |step| {
                        [step.a, step.b] = [places, slot];
                    });
                    Some(Term::Passes(others))
                }
                (P::both | P::either, Some(Term::Passes(a)), Some(Term::Passes(b))) => {
                    let kernel = match primitive {
                        P::both => &INTERSECTION_OF_INDICES,
                        _ => &COMBINE_PATCHES,
                    };
                    let joined = self.push(&mut filter.steps, kernel, |step| {
                        [step.a, step.b] = [a, b];
                    });
                    Some(Term::Passes(joined))
                }
                _ => None,
            },
        )
    }

    /// The locations for which a number compares so with that of the slot.
    fn compared(
        &mut self,
        filter: &mut Filter,
        count: Term,
        comparison: Comparison,
        number: u32,
    ) -> Option<Term> {
        let Term::Count {
            pattern,
            set,
            others,
            plus,
        } = count
        else {
            return None;
        };
        let counted = Counted {
            others,
            plus,
            comparison,
        };
        let places = filter.places;
        let passing = self.push(&mut filter.steps, &PASSING, |step| {
            [step.a, step.b, step.c, step.d] = [places, pattern, set, number];
            step.extra = counted.number();
        });
        Some(Term::Passes(passing))
    }

    /// The slot of an operand that is the same for every location, where it is held as this type.
    fn outer(
        &mut self,
        filter: &Filter,
        operand: &Operand,
        ty: &Type,
    ) -> Result<Option<u32>, Unsupported> {
        if filter.is_place(operand) || filter.term(operand).is_some() {
            return Ok(None);
        }
        let (slot, held) = self.operand(operand)?;
        Ok((held == *ty).then_some(slot))
    }
}

/// The kernel for a filter of locations whose region looks at their rows alone, or at their columns
/// alone.
pub(crate) fn by_line(region: &Region) -> Option<&'static Kernel> {
    let mut used = Used::default();
    used.region(region, region.parameters[0].0);
    match (used.rows, used.columns, used.whole) {
        (true, false, false) => Some(&FILTER_BY_ROW),
        (false, true, false) => Some(&FILTER_BY_COLUMN),
        _ => None,
    }
}

/// What of a location is looked at.
#[derive(Default)]
struct Used {
    rows: bool,
    columns: bool,
    whole: bool,
}

impl Used {
    fn region(&mut self, region: &Region, place: Id) {
        let place = Operand::Id(place);
        for one in &region.instructions {
            if one.arguments.contains(&place) {
                match one.op {
                    Op::Call(Primitive::first) => self.rows = true,
                    Op::Call(Primitive::last) => self.columns = true,
                    _ => self.whole = true,
                }
            }
            for inside in &one.regions {
                if let Operand::Id(place) = place {
                    self.region(inside, place);
                }
            }
        }
        self.whole |= *region.result() == place;
    }
}

#[cfg(test)]
mod tests {
    use crate::ops::testing::check_text;

    /// Programs that end with a filter of the locations of a colour, `x1`, by `x9`.
    fn check(lines: &[&str], seed: u64) {
        let body = lines.join("\n    ");
        let text = format!(
            "def f(I):\n    x1 = asindices(I)\n    x2 = ofcolor(I, ZERO)\n    x3 = ofcolor(I, THREE)\n    {body}\n    O = sfilter(x1, x9)\n    return O\n"
        );
        let answered = check_text(&text, seed, 60);
        assert!(answered > 40, "{text}{answered}");
    }

    #[test]
    fn patterns_meet_sets_as_in_the_reference() {
        for lines in [
            &[
                "x4 = lbind(shift, x3)",
                "x5 = rbind(difference, x2)",
                "x9 = chain(matcher(size, ZERO), x5, x4)",
            ][..],
            &[
                "x4 = shift(x3, NEG_UNITY)",
                "x5 = chain(lbind(shift, x4), lbind(add, UNITY), identity)",
                "x6 = lbind(intersection, x2)",
                "x9 = chain(rbind(greater, ONE), size, compose(x6, x5))",
            ],
            &[
                "x4 = lbind(shift, x2)",
                "x5 = rbind(difference, x3)",
                "x6 = chain(matcher(size, ZERO), x5, x4)",
                "x7 = chain(lbind(greater, TWO), size, compose(x5, dneighbors))",
                "x9 = fork(both, x7, compose(flip, x6))",
            ],
            &[
                "x4 = rbind(toobject, I)",
                "x5 = width(I)",
                "x6 = rbind(colorcount, x5)",
                "x7 = chain(matcher(decrement, ONE), compose(x6, x4), neighbors)",
                "x8 = chain(chain(positive, decrement, increment), rbind(colorcount, ZERO), compose(x4, ineighbors))",
                "x9 = fork(either, x7, x8)",
            ],
        ] {
            check(lines, 3);
        }
    }

    #[test]
    fn rows_and_columns_are_asked_once() {
        for lines in [
            &["x9 = compose(even, first)"][..],
            &["x9 = chain(flip, matcher(decrement, ONE), last)"],
            &[
                "x4 = width(I)",
                "x9 = chain(lbind(greater, x4), double, last)",
            ],
            &[
                "x4 = height(I)",
                "x9 = chain(positive, lbind(divide, x4), first)",
            ],
            &[
                "x4 = height(I)",
                "x9 = chain(positive, lbind(divide, x4), last)",
            ],
            &["x9 = fork(equality, first, last)"],
            &["x9 = fork(greater, first, first)"],
        ] {
            check(lines, 4);
        }
    }
}
