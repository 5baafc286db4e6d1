//! The size of an output whose last steps only paint, move and join grids: it follows from the sizes of what they are
//! given, so a verdict that it decides takes none of these steps.

use arc_isa::Primitive;
use smallvec::SmallVec;

use crate::budget::Context;
use crate::grid::Grid;
use crate::program::{Callee, Operand, Program, Step};
use crate::value::Value;

/// Height and width of a grid that has cells.
type Size = (usize, usize);

/// What is known of an argument or a result.
#[derive(Clone)]
enum Known<'a> {
    Value(&'a Value),
    Grid(Size),
    /// A tuple of grids, which may lack cells.
    Grids(Vec<Size>),
    /// Rows of unlike lengths, which weigh less than this.
    Rows(u64),
}

/// More grids in a tuple are not looked at.
const MOST_GRIDS: usize = 100_000;

/// The number of steps before those that have a size if they are given grids and what belongs to them.
pub(crate) fn before_last(program: &Program) -> usize {
    let steps = program.steps();
    let is_last = |step: &&Step| matches!(step.callee, Callee::Primitive(one) if has_size(one));
    steps.len() - steps.iter().rev().take_while(is_last).count()
}

fn has_size(primitive: Primitive) -> bool {
    use Primitive as P;
    matches!(
        primitive,
        P::Paint
            | P::Underpaint
            | P::Fill
            | P::Underfill
            | P::Cover
            | P::Hmirror
            | P::Vmirror
            | P::Dmirror
            | P::Cmirror
            | P::Rot90
            | P::Rot180
            | P::Rot270
            | P::Upscale
            | P::Hupscale
            | P::Vupscale
            | P::Hconcat
            | P::Vconcat
            | P::Hsplit
            | P::Vsplit
            | P::Repeat
            | P::Merge
    )
}

/// The size of the output, 0 x 0 if its rows are of unlike lengths, given the values of all variables before the last
/// steps; nothing if a step may fail or reach a limit, or if it has another result.
pub(crate) fn of_output(
    context: &Context<'_>,
    program: &Program,
    variables: &[Value],
) -> Option<Size> {
    let limits = context.limits;
    let most = limits.max_cells.min(limits.max_elements / 2);
    // A call holds its result a second time while it builds it, and charges for what it reads.
    let mut left = context.steps_left.min(context.memory_left) / 2;
    let from = variables.len() - program.inputs().len();
    let mut sizes: Vec<Known<'_>> = Vec::new();
    for step in &program.steps()[from..] {
        let Callee::Primitive(primitive) = step.callee else {
            return None;
        };
        let arguments: SmallVec<[Known<'_>; 4]> = step
            .arguments
            .iter()
            .map(|operand| match operand {
                Operand::Slot(slot) => match variables.get(slot.index()) {
                    Some(value) => Known::Value(value),
                    None => sizes[slot.index() - variables.len()].clone(),
                },
                Operand::Primitive(primitive) => Known::Value(Value::primitive(*primitive)),
                Operand::Constant(constant) => Known::Value(constant.value()),
                Operand::Literal(value) => Known::Value(value),
            })
            .collect();
        let size = of_call(primitive, &arguments)?;
        let weight = size.most_weight()?;
        left = left.checked_sub(weight).filter(|_| weight <= most)?;
        sizes.push(size);
    }
    let Operand::Slot(output) = program.output() else {
        return None;
    };
    match sizes.get(output.index().checked_sub(variables.len())?)? {
        Known::Rows(_) => Some((0, 0)),
        size => size.size(),
    }
}

impl Known<'_> {
    /// The size of a grid that has cells.
    fn size(&self) -> Option<Size> {
        match self {
            Known::Value(Value::Grid(grid)) => size_of(grid),
            Known::Grid(size) => Some(*size),
            _ => None,
        }
    }

    fn sizes(&self) -> Option<Vec<Size>> {
        match self {
            Known::Value(Value::Tuple(grids)) => {
                let size = |grid: &Value| Known::Value(grid).size();
                grids.as_slice().iter().map(size).collect()
            }
            Known::Grids(sizes) => Some(sizes.clone()),
            _ => None,
        }
    }

    /// More than it weighs, were it computed: also as rows, and each of these with some weight of its own.
    fn most_weight(&self) -> Option<u64> {
        let weight = |(height, width): &Size| {
            let (height, width) = (*height as u64, *width as u64);
            height.checked_mul(width.checked_add(8)?)?.checked_add(8)
        };
        match self {
            Known::Value(_) => Some(0),
            Known::Rows(weight) => Some(*weight),
            Known::Grid(size) => weight(size),
            Known::Grids(sizes) => sizes
                .iter()
                .try_fold(0_u64, |all, size| all.checked_add(weight(size)?)),
        }
    }

    /// A number above 0 by which a grid can be multiplied or divided.
    fn count(&self) -> Option<usize> {
        match self {
            Known::Value(Value::Int(n)) => usize::try_from(*n).ok().filter(|n| *n > 0),
            _ => None,
        }
    }

    fn is_colour(&self) -> bool {
        matches!(self, Known::Value(Value::Int(n)) if i8::try_from(*n).is_ok())
    }

    fn is_patch(&self) -> bool {
        match self {
            Known::Value(Value::Set(elements)) => elements.as_slice().is_empty(),
            Known::Value(value) => matches!(value, Value::Indices(_) | Value::Object(_)),
            _ => false,
        }
    }

    /// Whether it is an object of colours.
    fn is_object(&self) -> bool {
        match self {
            Known::Value(Value::Set(elements)) => elements.as_slice().is_empty(),
            Known::Value(Value::Object(cells)) => {
                let mut ends = [cells.as_slice().first(), cells.as_slice().last()].into_iter();
                ends.all(|cell| cell.is_some_and(|cell| i8::try_from(cell.colour).is_ok()))
            }
            _ => false,
        }
    }
}

fn size_of(grid: &Grid) -> Option<Size> {
    (grid.height() > 0 && grid.width() > 0).then_some((grid.height(), grid.width()))
}

/// What is known of the result of a call that does not fail.
fn of_call<'a>(primitive: Primitive, arguments: &[Known<'a>]) -> Option<Known<'a>> {
    use Primitive as P;
    let grid = |size: Size| Some(Known::Grid(size));
    match (primitive, arguments) {
        (P::Paint | P::Underpaint, [to, object]) if object.is_object() => grid(to.size()?),
        (P::Fill | P::Underfill, [to, colour, patch]) if colour.is_colour() && patch.is_patch() => {
            grid(to.size()?)
        }
        (P::Cover, [to, patch]) if patch.is_patch() => grid(to.size()?),
        (P::Hmirror | P::Vmirror | P::Rot180, [to]) => grid(to.size()?),
        (P::Dmirror | P::Cmirror | P::Rot90 | P::Rot270, [to]) => {
            let (height, width) = to.size()?;
            grid((width, height))
        }
        (P::Upscale | P::Hupscale | P::Vupscale, [to, factor]) => {
            let ((height, width), factor) = (to.size()?, factor.count()?);
            let times = |on: bool, side: usize| {
                if on {
                    side.checked_mul(factor)
                } else {
                    Some(side)
                }
            };
            grid((
                times(primitive != P::Hupscale, height)?,
                times(primitive != P::Vupscale, width)?,
            ))
        }
        (P::Hconcat, [a, b]) => {
            let (a, b) = (a.size()?, b.size()?);
            grid((a.0.min(b.0), a.1 + b.1))
        }
        (P::Vconcat, [a, b]) => {
            let (a, b) = (a.size()?, b.size()?);
            (a.1 == b.1).then_some(())?;
            grid((a.0 + b.0, a.1))
        }
        (P::Hsplit | P::Vsplit, [to, count]) => {
            let ((height, width), count) = (to.size()?, count.count()?);
            (count <= MOST_GRIDS).then_some(())?;
            let side = if primitive == P::Hsplit {
                width
            } else {
                height
            };
            let (size, gap) = (side / count, usize::from(side % count != 0));
            let parts = (0..count).map(|k| size.min(side.saturating_sub((size + gap) * k)));
            Some(Known::Grids(match primitive {
                P::Hsplit => parts.map(|part| (height, part)).collect(),
                _ => parts.map(|part| (part, width)).collect(),
            }))
        }
        (P::Repeat, [to, count]) => {
            let (size, count) = (to.size()?, count.count()?);
            (count <= MOST_GRIDS).then_some(())?;
            Some(Known::Grids(vec![size; count]))
        }
        (P::Merge, [grids]) => {
            let sizes = grids.sizes()?;
            let mut widths = sizes.iter().filter(|(height, _)| *height > 0);
            let (_, width) = *widths.next()?;
            if widths.any(|(_, other)| *other != width) {
                return Some(Known::Rows(Known::Grids(sizes).most_weight()?));
            }
            let height = sizes.iter().map(|(height, _)| height).sum();
            (width > 0).then_some(Known::Grid((height, width)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Interpreter, Limits, parse_programs};

    #[test]
    fn a_verdict_by_size_is_that_of_the_whole_output() {
        let ends = [
            "O = paint(upscale(I, 2), objects_of(I))",
            "O = merge(hsplit(I, 3))",
            "O = merge(hsplit(I, 2))",
            "O = merge(vsplit(I, 3))",
            "O = merge(vsplit(hconcat(I, I), 4))",
            "O = merge(repeat(dmirror(I), 3))",
            "O = merge(repeat(I, 0))",
            "O = vconcat(I, dmirror(I))",
            "O = vconcat(I, hmirror(I))",
            "O = hconcat(I, rot90(I))",
            "O = fill(I, 3, ofcolor(I, 0))",
            "O = fill(I, 300, asindices(I))",
            "O = underpaint(I, shift(asobject(I), (1, 0)))",
            "O = paint(I, frozenset())",
            "O = upscale(I, 0)",
            "O = upscale(I, 900)",
            "O = hsplit(I, 0)",
            "O = cover(canvas(0, (0, 3)), asindices(I))",
            "O = fill(first(I), 3, asindices(I))",
        ];
        let grids: Vec<Grid> = [(3, 3), (2, 5), (4, 6), (1, 7)]
            .map(|(height, width)| {
                let cells = (0..height * width).map(|at| (at * at % 4) as i8).collect();
                Grid::from_cells(height, width, cells)
            })
            .into();
        let (mut known, mut all) = (0, 0);
        for end in ends {
            let end = end.replace("objects_of(I)", "merge(objects(I, F, F, T))");
            let program = format!("def solve(I):\n    {end}\n    return O\n");
            let program = parse_programs(&program).remove(0).unwrap();
            for max_memory in [30, 90, 8_000_000] {
                let limits = Limits {
                    max_memory,
                    ..Limits::default()
                };
                let mut reference = Interpreter::new(limits);
                for input in &grids {
                    let result = reference.run(&program, input.clone());
                    let output = result.as_ref().ok().and_then(Value::as_grid);
                    let output = output.map(std::borrow::Cow::into_owned);
                    for expected in grids.iter().chain(&output) {
                        let found = reference.run_against(&program, input, expected);
                        known += u32::from(found == Ok(None));
                        all += 1;
                        let found = found.map(|it| it.is_some_and(|it| it.is_grid(expected)));
                        let is_right = |value: &Value| value.is_grid(expected);
                        assert_eq!(found, result.as_ref().map(is_right).map_err(|it| *it));
                    }
                }
            }
        }
        assert!(known > 120 && all > 900, "{known} of {all}");
    }
}
