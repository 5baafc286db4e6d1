//! The size of an output whose last steps only paint, move and join grids: it follows from the sizes of what they are
//! given, so a verdict that it decides takes none of these steps.

use arc_isa::Primitive;
use smallvec::SmallVec;

use crate::budget::Context;
use crate::grid::Grid;
use crate::patch::Cell;
use crate::primitives::untyped::COPIES;
use crate::program::{Callee, Operand, Program};
use crate::value::Value;
use crate::value::function::FunctionKind;

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
    Patch(Patch),
}

/// What is known of locations or of cells, in a set or in a tuple.
#[derive(Clone, Copy)]
struct Patch {
    /// Whether all have colours of grids.
    is_object: bool,
    is_tuple: bool,
    /// It weighs less than this.
    weight: u64,
}

/// More grids in a tuple are not looked at.
const MOST_GRIDS: usize = 100_000;

/// Calls none of which fails or reaches a limit.
struct Calls {
    /// The most that a result may weigh.
    most: u64,
    /// What all further results together may weigh.
    left: u64,
}

/// The size of the output, 0 x 0 if its rows are of unlike lengths, given the values of the first variables; nothing if
/// it has another result. The first step that may fail or reach a limit is an error.
pub(crate) fn of_output(
    context: &Context<'_>,
    program: &Program,
    variables: &[Value],
) -> Result<Option<Size>, usize> {
    let limits = context.limits;
    let mut calls = Calls {
        most: limits.max_cells.min(limits.max_elements / 2),
        // A call holds its result a second time while it builds it, and charges for what it reads.
        left: context.steps_left.min(context.memory_left) / 2,
    };
    let from = variables.len() - program.inputs().len();
    let mut known: Vec<Known<'_>> = Vec::new();
    for (at, step) in program.steps().iter().enumerate().skip(from) {
        let of = |operand| of_operand(operand, variables, &known);
        let function = match step.callee {
            Callee::Primitive(primitive) => Some(Value::primitive(primitive)),
            Callee::Slot(slot) => variables.get(slot.index()),
            Callee::Typed(_) => None,
        };
        let arguments: SmallVec<[Known<'_>; 4]> = step.arguments.iter().map(of).collect();
        let result = function.and_then(|function| calls.of(function, &arguments));
        known.push(result.ok_or(at)?);
    }
    Ok(match of_operand(program.output(), variables, &known) {
        Known::Rows(_) => Some((0, 0)),
        output => output.size(),
    })
}

fn of_operand<'a>(operand: &'a Operand, values: &'a [Value], known: &[Known<'a>]) -> Known<'a> {
    match operand {
        Operand::Slot(slot) => match values.get(slot.index()) {
            Some(value) => Known::Value(value),
            None => known[slot.index() - values.len()].clone(),
        },
        Operand::Primitive(primitive) => Known::Value(Value::primitive(*primitive)),
        Operand::Constant(constant) => Known::Value(constant.value()),
        Operand::Literal(value) => Known::Value(value),
    }
}

impl Calls {
    /// What is known of the result of a call.
    fn of<'a>(&mut self, function: &'a Value, arguments: &[Known<'a>]) -> Option<Known<'a>> {
        let function = match function {
            Value::Primitive(primitive) => {
                let result = of_call(*primitive, arguments)?;
                // A call is a step at least: functions of functions call each other without end.
                let weight = result.most_weight()?.max(1);
                let copies = copied(*primitive, arguments)?;
                self.left = self.left.checked_sub(weight)?.checked_sub(copies)?;
                return (weight <= self.most).then_some(result);
            }
            Value::Function(function) => function,
            _ => return None,
        };
        if arguments.len() != usize::from(function.parameters()) {
            return None;
        }
        match function.kind() {
            FunctionKind::Compose { outer, inner } => {
                let x = self.of(inner, arguments)?;
                self.of(outer, &[x])
            }
            FunctionKind::Chain { h, g, f } => {
                let x = self.of(f, arguments)?;
                let x = self.of(g, &[x])?;
                self.of(h, &[x])
            }
            FunctionKind::Fork { outer, a, b } => {
                let both = [self.of(a, arguments)?, self.of(b, arguments)?];
                self.of(outer, &both)
            }
            FunctionKind::LBind {
                function, fixed, ..
            } => self.of(function, &[&[Known::Value(fixed)], arguments].concat()),
            FunctionKind::RBind {
                function, fixed, ..
            } => self.of(function, &[arguments, &[Known::Value(fixed)]].concat()),
            FunctionKind::Matcher { .. } | FunctionKind::Power { .. } => None,
        }
    }
}

impl Patch {
    fn of(value: &Value) -> Option<Self> {
        let is_cell = |cell: &Cell| i8::try_from(cell.colour).is_ok();
        let is_object = match value {
            Value::Indices(_) => false,
            Value::Set(elements) if elements.as_slice().is_empty() => true,
            // They ascend.
            Value::Object(cells) => {
                let cells = cells.as_slice();
                (cells.first().zip(cells.last()))
                    .is_some_and(|(first, last)| is_cell(first) && is_cell(last))
                    .then_some(true)?
            }
            Value::Tuple(elements) => {
                let is_it = |it: &Value| matches!(it, Value::Cell(cell) if is_cell(cell));
                elements.as_slice().iter().all(is_it).then_some(true)?
            }
            _ => return None,
        };
        Some(Self {
            is_object,
            is_tuple: matches!(value, Value::Tuple(_)),
            weight: u64::from(value.weight()),
        })
    }

    /// The patch with all cells of these.
    fn merged(sets: &Value) -> Option<Self> {
        let sets_of = match sets {
            Value::Set(elements) => elements.as_slice(),
            Value::Tuple(elements) => elements.as_slice(),
            _ => return None,
        };
        let mut all = sets_of.iter().map(Self::of);
        let is_object = all.next().map_or(Some(true), |it| Some(it?.is_object))?;
        all.all(|it| it.is_some_and(|it| it.is_object == is_object))
            .then_some(Self {
                is_object,
                is_tuple: matches!(sets, Value::Tuple(_)),
                // With what it keeps to find its order.
                weight: 2 * u64::from(sets.weight()),
            })
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

    fn patch(&self) -> Option<Patch> {
        match self {
            Known::Value(value) => Patch::of(value),
            Known::Patch(patch) => Some(*patch),
            _ => None,
        }
    }

    fn object(&self) -> Option<Patch> {
        self.patch().filter(|patch| patch.is_object)
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
            Known::Patch(patch) => patch.weight.checked_add(64),
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
}

fn size_of(grid: &Grid) -> Option<Size> {
    (grid.height() > 0 && grid.width() > 0).then_some((grid.height(), grid.width()))
}

/// What a call holds of arguments that are not of the types of its signature: tuples of cells where it takes sets.
fn copied(primitive: Primitive, arguments: &[Known<'_>]) -> Option<u64> {
    let is_tuple = |it: &Known<'_>| it.patch().is_some_and(|patch| patch.is_tuple);
    let takes_tuples = matches!(primitive, Primitive::Merge | Primitive::Identity);
    if takes_tuples || !arguments.iter().any(is_tuple) {
        return Some(0);
    }
    let mut weights = arguments.iter().map(|it| match it {
        Known::Value(value) => Some(u64::from(value.weight())),
        known => known.most_weight(),
    });
    weights
        .try_fold(0_u64, |all, weight| all.checked_add(weight?))?
        .checked_mul(COPIES)
}

/// What is known of the result of a call that does not fail.
#[allow(clippy::too_many_lines, reason = "an arm for every primitive")]
fn of_call<'a>(primitive: Primitive, arguments: &[Known<'a>]) -> Option<Known<'a>> {
    use Primitive as P;
    let grid = |size: Size| Some(Known::Grid(size));
    let patch = |is_object, weight| {
        let is_tuple = false;
        Some(Known::Patch(Patch {
            is_object,
            is_tuple,
            weight,
        }))
    };
    match (primitive, arguments) {
        (P::Identity, [it]) => Some(it.clone()),
        (P::Paint | P::Underpaint, [to, object]) => object.object().and(grid(to.size()?)),
        (P::Fill | P::Underfill, [to, colour, patch]) if colour.is_colour() => {
            patch.patch().and(grid(to.size()?))
        }
        (P::Cover, [to, patch]) => patch.patch().and(grid(to.size()?)),
        (P::Replace | P::Switch, [to, one, other]) if one.is_colour() && other.is_colour() => {
            grid(to.size()?)
        }
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
        (P::Merge, [sets])
            if let Known::Value(value) = sets
                && let Some(patch) = Patch::merged(value) =>
        {
            Some(Known::Patch(patch))
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
        (P::Combine, [a, b]) => {
            let (a, b) = (a.patch()?, b.patch()?);
            (a.is_object == b.is_object && !a.is_tuple && !b.is_tuple).then_some(())?;
            patch(a.is_object, 2 * (a.weight + b.weight))
        }
        (P::Recolor, [colour, of]) if colour.is_colour() => patch(true, 2 * of.patch()?.weight),
        (P::Toindices, [of]) => patch(false, 2 * of.patch()?.weight),
        (P::Ofcolor, [of, colour]) if colour.is_colour() => {
            let (height, width) = of.size()?;
            patch(false, (height * width) as u64)
        }
        (P::Asindices | P::Asobject, [of]) => {
            let (height, width) = of.size()?;
            patch(primitive == P::Asobject, (height * width) as u64)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Interpreter, Limits, parse_programs};

    /// 2^60 calls, which weigh nothing.
    #[test]
    fn functions_that_call_each_other_without_end_reach_the_limit() {
        use std::fmt::Write as _;
        let mut text = "def solve(I):\n    x0 = compose(identity, identity)\n".to_owned();
        for at in 1..60 {
            let before = at - 1;
            writeln!(text, "    x{at} = compose(x{before}, x{before})").unwrap();
        }
        text += "    O = x59(I)\n    return O\n";
        let program = parse_programs(&text).remove(0).unwrap();
        let limits = Limits {
            max_steps: 10_000,
            ..Limits::default()
        };
        let (grid, other) = (Grid::filled(2, 2, 1), Grid::filled(3, 3, 1));
        let found = Interpreter::new(limits).run_against(&program, &grid, &other);
        assert_eq!(found.unwrap_err().limit(), Some(crate::Limit::Steps));
    }

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
            "O = replace(rot90(I), 1, 2)",
            "O = fill(upscale(I, 2), 3, combine(asindices(I), ofcolor(I, 1)))",
            "O = paint(hconcat(I, I), mapply(lbind(shift, asobject(I)), ((0, 1), (1, 0))))",
            "O = cover(upscale(I, 3), recolor(2, toindices(objects_of(I))))",
            "O = underpaint(vconcat(I, I), merge(()))",
            "O = paint(rot90(I), merge((asobject(I), asobject(I))))",
            "O = fill(I, 2, merge((asindices(I), asobject(I))))",
            "O = paint(I, combine(asobject(I), asindices(I)))",
            "O = chain(dmirror, merge, rbind(repeat, 2))(I)",
            "O = fork(hconcat, identity, hmirror)(I)",
            "O = power(hmirror, 2)(I)",
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
            for max_memory in [30, 90, 300, 1_000, 3_000, 8_000_000] {
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
        assert!(known > 400 && all > 2_500, "{known} of {all}");
    }
}
