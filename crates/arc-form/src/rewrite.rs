//! Rewrites: equivalent forms that do less work.
//!
//! They know no machine. A rewrite replaces several instructions by an [`Op::Fused`](crate::Op::Fused), whose region contains the
//! original instructions. So the evaluator of forms runs it without knowing the operation, comparisons of
//! evaluators check it, and an executor without a kernel for it runs the region.

use crate::analysis::{Called, Index};
use crate::{Form, Id, Instruction, Op, Region, Type};

mod calls;
mod filters;
mod pattern;

/// Declares [`Fused`]: for each variant a sentence, its parameters, its name, and the calls that it replaces.
macro_rules! fused {
    ($(
        #[doc = $doc:literal]
        $variant:ident($($parameter:ident: $ty:ident),+) = $name:literal, $calls:literal;
    )+) => {
        /// What instructions were fused.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Fused {
            $(#[doc = concat!($doc, " Replaces `", $calls, "`.")] $variant,)+
        }

        impl Fused {
            /// All of them.
            pub const ALL: &'static [Fused] = &[$(Fused::$variant),+];

            /// Its name in the text of a form.
            pub fn name(self) -> &'static str {
                match self {
                    $(Fused::$variant => $name,)+
                }
            }

            /// The calls that it replaces.
            pub fn calls(self) -> &'static str {
                match self {
                    $(Fused::$variant => $calls,)+
                }
            }

            /// Its parameters, each with a name and its type.
            pub(crate) fn parameters(self) -> &'static [(&'static str, Type)] {
                match self {
                    $(Fused::$variant => &[$((stringify!($parameter), Type::$ty)),+],)+
                }
            }
        }
    };
}

fused! {
    /// How many locations two sets have in common.
    SizeOfIntersection(a: Indices, b: Indices) = "size_of_intersection",
        "size(intersection(a, b))";
    /// How many locations of one set are not in another.
    SizeOfDifference(a: Indices, b: Indices) = "size_of_difference",
        "size(difference(a, b))";
    /// All cells of a grid that are in its objects.
    MergedObjects(grid: Grid, univalued: Bool, diagonal: Bool, without_bg: Bool) = "merged_objects",
        "merge(objects(grid, univalued, diagonal, without_bg))";
    /// All cells of a grid, those of its partition.
    MergedPartition(grid: Grid) = "merged_partition",
        "merge(partition(grid))";
    /// All cells of a grid but those of the background.
    MergedForeground(grid: Grid) = "merged_foreground",
        "merge(fgpartition(grid))";
    /// The larger colour of two grids for each cell, as rows.
    LargerCells(a: Grid, b: Grid) = "larger_cells",
        "apply(lambda row: apply(maximum, row), papply(pair, a, b))";
    /// The smaller colour of two grids for each cell, as rows.
    SmallerCells(a: Grid, b: Grid) = "smaller_cells",
        "apply(lambda row: apply(minimum, row), papply(pair, a, b))";
    /// The locations at which a pattern has exactly `n` locations in common with a set.
    MetAsOften(places: Indices, pattern: Indices, set: Indices, n: Int) = "met_as_often",
        "sfilter(places, lambda place: equality(size(intersection(shift(pattern, place), set)), n))";
    /// The locations at which a pattern has more than `n` locations in common with a set.
    MetMoreOften(places: Indices, pattern: Indices, set: Indices, n: Int) = "met_more_often",
        "sfilter(places, lambda place: greater(size(intersection(shift(pattern, place), set)), n))";
    /// The locations at which a pattern has fewer than `n` locations in common with a set.
    MetLessOften(places: Indices, pattern: Indices, set: Indices, n: Int) = "met_less_often",
        "sfilter(places, lambda place: greater(n, size(intersection(shift(pattern, place), set))))";
    /// The locations at which exactly `n` cells of a grid under a pattern have a colour.
    ColouredAsOften(places: Indices, pattern: Indices, grid: Grid, value: Int, n: Int) = "coloured_as_often",
        "sfilter(places, lambda place: equality(colorcount(toobject(shift(pattern, place), grid), value), n))";
    /// The locations at which more than `n` cells of a grid under a pattern have a colour.
    ColouredMoreOften(places: Indices, pattern: Indices, grid: Grid, value: Int, n: Int) = "coloured_more_often",
        "sfilter(places, lambda place: greater(colorcount(toobject(shift(pattern, place), grid), value), n))";
    /// The locations at which fewer than `n` cells of a grid under a pattern have a colour.
    ColouredLessOften(places: Indices, pattern: Indices, grid: Grid, value: Int, n: Int) = "coloured_less_often",
        "sfilter(places, lambda place: greater(n, colorcount(toobject(shift(pattern, place), grid), value)))";
}

impl Fused {
    /// Whether the first of its calls may fail, and so has to stay before the instructions after it.
    fn may_fail_first(self) -> bool {
        matches!(
            self,
            Fused::MergedObjects | Fused::MergedPartition | Fused::MergedForeground
        )
    }

    /// Whether a region has the calls that this replaces.
    pub(crate) fn is_of(self, region: &Region) -> bool {
        pattern::is_of(self, region)
    }
}

impl Op {
    /// Whether it takes two grids and returns the rows of one.
    pub(crate) fn gives_rows(self) -> bool {
        matches!(self, Op::Fused(Fused::LargerCells | Fused::SmallerCells))
    }
}

/// A test of whether a form with these calls may have anything for a rewrite, and the rewrite. Most forms have nothing,
/// and need no pass over them to find that out.
type Rewrite = (fn(&Called) -> bool, fn(&mut Form));

/// All rewrites, in order.
const REWRITES: &[Rewrite] = &[
    (filters::may, filters::rewrite),
    (calls::may, calls::rewrite),
];

/// Applies all rewrites. Afterwards ids may have gaps, and dead instructions may remain.
pub fn rewrite(form: &mut Form) {
    let called = *Index::new(form).called();
    rewrite_calls(form, &called);
}

/// The same for a form with these calls.
pub(super) fn rewrite_calls(form: &mut Form, called: &Called) {
    for &(may, rewrite) in REWRITES {
        if may(called) {
            rewrite(form);
            debug_assert_eq!(form.verify(), Ok(()), "{form}");
        }
    }
}

/// Replaces an instruction by others, and removes these; returns whether the region contains it.
fn replace(region: &mut Region, at: Id, without: &[Id], by: &mut Vec<Instruction>) -> bool {
    let instructions = &mut region.instructions;
    if instructions.iter().any(|one| one.id == at) {
        instructions.retain(|one| one.id == at || !without.contains(&one.id));
        let at = instructions.iter().position(|one| one.id == at);
        instructions.splice(at.map_or(0..0, |at| at..at + 1), by.drain(..));
        return true;
    }
    let mut inside = instructions.iter_mut().flat_map(|one| &mut one.regions);
    inside.any(|region| replace(region, at, without, by))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dead::tests::remove_dead;
    use crate::parse;

    /// Compares the text of a form after all rewrites and dead-code elimination with the expected text.
    pub(super) fn expect(before: &str, after: &str) {
        let mut form = parse(before).unwrap();
        rewrite(&mut form);
        let form = remove_dead(&form);
        form.verify().unwrap();
        assert_eq!(form.to_string(), after);
        assert_eq!(parse(after).unwrap(), form);
    }
}
