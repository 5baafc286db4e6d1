//! Filters of locations that depend on their rows or columns alone.

use crate::ops::placing::{FILTER_BY_COLUMN, FILTER_BY_ROW};
use crate::program::Kernel;
use arc_dsl::Primitive;
use arc_form::{Id, Op, Operand, Region};

/// The kernel for a filter of locations whose region uses only their rows, or only their columns.
pub(crate) fn by_line(region: &Region) -> Option<&'static Kernel> {
    let mut used = Used::default();
    used.region(region, region.parameters[0].0);
    match (used.rows, used.columns, used.whole) {
        (true, false, false) => Some(&FILTER_BY_ROW),
        (false, true, false) => Some(&FILTER_BY_COLUMN),
        _ => None,
    }
}

/// Which components of a location are used.
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
                    Op::Call(Primitive::First) => self.rows = true,
                    Op::Call(Primitive::Last) => self.columns = true,
                    _ => self.whole = true,
                }
            }
            for inside in &one.regions {
                if let Operand::Id(place) = place {
                    self.region(inside, place);
                }
            }
        }
        self.whole |= region.result == place;
    }
}

#[cfg(test)]
mod tests {
    use crate::ops::testing::check_text;

    /// Programs that end with a filter of all locations by `x9`.
    fn check(lines: &[&str], seed: u64) {
        let body = lines.join("\n    ");
        let text = format!(
            "def f(I):\n    x1 = asindices(I)\n    x2 = ofcolor(I, ZERO)\n    x3 = ofcolor(I, THREE)\n    {body}\n    O = sfilter(x1, x9)\n    return O\n"
        );
        let answered = check_text(&text, seed, 60);
        assert!(answered > 40, "{text}{answered}");
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
