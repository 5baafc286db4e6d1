//! Rewrites: equivalent forms that do less work.
//!
//! They know no machine. A rewrite replaces several instructions by an [`Op::Fused`](crate::Op::Fused), whose region contains the
//! original instructions. So the evaluator of forms runs it without knowing the operation, comparisons of
//! evaluators check it, and an executor without a kernel for it runs the region.

use crate::analysis::{Called, Index};
use crate::{Form, Instruction, Operand, Region};

mod filters;
mod fuse;
mod pairs;
mod rows;

/// Declares [`Fused`]: for each variant a sentence, its name, and the calls that it replaces.
macro_rules! fused {
    ($(#[doc = $doc:literal] $variant:ident = $name:literal, $calls:literal;)+) => {
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
        }
    };
}

fused! {
    /// How many locations two sets have in common.
    SizeOfIntersection = "size_of_intersection", "size(intersection(a, b))";
    /// How many locations of one set are not in another.
    SizeOfDifference = "size_of_difference", "size(difference(a, b))";
    /// All cells of a grid that are in its objects.
    MergedObjects = "merged_objects", "merge(objects(grid, univalued, diagonal, without_bg))";
    /// All cells of a grid, those of its partition.
    MergedPartition = "merged_partition", "merge(partition(grid))";
    /// All cells of a grid but those of the background.
    MergedForeground = "merged_foreground", "merge(fgpartition(grid))";
    /// The larger colour of two grids for each cell, as rows.
    LargerCells = "larger_cells", "apply(row -> apply(maximum, row), papply(pair, a, b))";
    /// The smaller colour of two grids for each cell, as rows.
    SmallerCells = "smaller_cells", "apply(row -> apply(minimum, row), papply(pair, a, b))";
    /// The locations at which a pattern has exactly `n` locations in common with a set.
    MetAsOften = "met_as_often", "sfilter(places, place -> equality(size(intersection(shift(pattern, place), set)), n))";
    /// The locations at which a pattern has more than `n` locations in common with a set.
    MetMoreOften = "met_more_often", "sfilter(places, place -> greater(size(intersection(shift(pattern, place), set)), n))";
    /// The locations at which a pattern has fewer than `n` locations in common with a set.
    MetLessOften = "met_less_often", "sfilter(places, place -> greater(n, size(intersection(shift(pattern, place), set))))";
    /// The locations at which exactly `n` cells of a grid under a pattern have a colour.
    ColouredAsOften = "coloured_as_often", "sfilter(places, place -> equality(colorcount(toobject(shift(pattern, place), grid), value), n))";
    /// The locations at which more than `n` cells of a grid under a pattern have a colour.
    ColouredMoreOften = "coloured_more_often", "sfilter(places, place -> greater(colorcount(toobject(shift(pattern, place), grid), value), n))";
    /// The locations at which fewer than `n` cells of a grid under a pattern have a colour.
    ColouredLessOften = "coloured_less_often", "sfilter(places, place -> greater(n, colorcount(toobject(shift(pattern, place), grid), value)))";
}

impl Fused {
    /// Whether it takes two grids and returns the rows of one.
    pub(crate) fn gives_rows(self) -> bool {
        matches!(self, Fused::LargerCells | Fused::SmallerCells)
    }

    /// Whether a region has the calls that this replaces.
    pub(crate) fn is_of(self, region: &Region) -> bool {
        let known = [pairs::is_of, rows::is_of, filters::is_of];
        known.iter().any(|is_of| is_of(self, region))
    }
}

/// A test of whether a form with these calls may have anything for a rewrite, and the rewrite. Most forms have nothing,
/// and need no pass over them to find that out.
type Rewrite = (fn(&Called) -> bool, fn(&mut Form));

/// All rewrites, in order.
const REWRITES: &[Rewrite] = &[
    (rows::may, rows::rewrite),
    (filters::may, filters::rewrite),
    (pairs::may, pairs::rewrite),
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

/// The only instruction of a region with this number of parameters, if it computes the region's result.
fn only(region: &Region, parameters: usize) -> Option<&Instruction> {
    match &region.instructions[..] {
        [one] if region.result == Operand::Id(one.id) && region.parameters.len() == parameters => {
            Some(one)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dead::tests::remove_dead;
    use crate::parse;
    use arc_dsl::Primitive;

    /// Compares the text of a form after all rewrites and dead-code elimination with the expected text.
    pub(super) fn expect(before: &str, after: &str) {
        let mut form = parse(before).unwrap();
        rewrite(&mut form);
        let form = remove_dead(&form);
        form.verify().unwrap();
        assert_eq!(form.to_string(), after);
        assert_eq!(parse(after).unwrap(), form);
    }

    #[test]
    fn each_stands_for_calls_of_primitives() {
        for fused in Fused::ALL {
            let words = fused.calls().split('(').rev().skip(1);
            let called = words.filter_map(|text| text.split([' ', ',', '(']).next_back());
            for name in called {
                assert!(Primitive::from_name(name).is_some(), "{fused:?}: {name}");
            }
        }
    }
}
