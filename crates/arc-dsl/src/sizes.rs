//! The size of an output whose last steps only paint, move and join grids: it follows from the sizes of what they are
//! given, so a verdict that it decides takes none of these steps. Of numbers, locations and patches it is enough to know
//! between which bounds they lie (Cousot and Cousot: "Abstract interpretation", POPL 1977).

use std::rc::Rc;

use arc_isa::Primitive;
use smallvec::SmallVec;

use crate::budget::{Context, WORK_PER_STEP};
use crate::grid::Grid;
use crate::patch::{Cell, Loc};
use crate::primitives::untyped::{COPIES, LOOKS};
use crate::program::{Callee, Operand, Program, Slot};
use crate::value::function::FunctionKind;
use crate::value::{MAX_INT, Value};

/// Height and width of a grid that has cells.
type Size = (usize, usize);

/// Between which integers one lies, both included.
type Range = (i64, i64);

/// What is known of an argument or a result.
#[derive(Clone)]
enum Known<'a> {
    Value(&'a Value),
    Grid(Size),
    /// A tuple of grids, which may lack cells.
    Grids(Vec<Size>),
    /// Rows of unlike lengths, which weigh less than this.
    Rows(u64),
    Number(Range),
    /// A location, by its row and its column.
    Loc([Range; 2]),
    Patch(Patch),
    Many(Many<'a>),
    Function(Rc<Function<'a>>),
}

/// What is known of locations or of cells, in a set or in a tuple.
#[derive(Clone, Copy)]
struct Patch {
    /// Whether all have colours of grids.
    is_object: bool,
    is_tuple: bool,
    /// Whether it has any.
    has_some: bool,
    /// It weighs less than this.
    weight: u64,
    /// No row and no column is further from 0.
    reach: i64,
}

/// What is known of a set or a tuple of values other than locations and cells.
#[derive(Clone)]
struct Many<'a> {
    is_tuple: bool,
    /// How many there are at most.
    count: u64,
    /// Whether there are any.
    has_some: bool,
    /// All together weigh less than this.
    weight: u64,
    /// What is known of each.
    each: Rc<Known<'a>>,
}

/// A function, by the primitive that made it and what that was given.
struct Function<'a> {
    by: Primitive,
    parts: Vec<Known<'a>>,
    parameters: usize,
    depth: u16,
    /// With its parts.
    weight: u64,
}

/// Functions that are nested deeper than this are not looked at.
const DEEP: u16 = 16;

/// More grids in a tuple are not looked at.
const MOST_GRIDS: usize = 100_000;

/// Calls none of which fails or reaches a limit.
struct Calls {
    /// How many cells a grid may have, and the most that a result may weigh.
    most_cells: u64,
    most: u64,
    memory: u64,
    steps: u64,
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
        most_cells: limits.max_cells,
        most: limits.max_elements,
        memory: context.memory_left,
        steps: context.steps_left,
    };
    let from = variables.len() - program.inputs().len();
    let mut known: Vec<Known<'_>> = Vec::new();
    for (at, step) in program.steps().iter().enumerate().skip(from) {
        let of = |operand| of_operand(operand, variables, &known);
        let arguments: SmallVec<[Known<'_>; 4]> = step.arguments.iter().map(of).collect();
        let result = match step.callee {
            Callee::Primitive(primitive) => calls.of_primitive(primitive, &arguments),
            Callee::Slot(slot) => calls.of(&of_slot(slot, variables, &known), &arguments),
            Callee::Typed(_) => None,
        };
        known.push(result.ok_or(at)?);
    }
    Ok(match of_operand(program.output(), variables, &known) {
        Known::Rows(_) => Some((0, 0)),
        output => output.size(),
    })
}

fn of_operand<'a>(operand: &'a Operand, values: &'a [Value], known: &[Known<'a>]) -> Known<'a> {
    match operand {
        Operand::Slot(slot) => of_slot(*slot, values, known),
        Operand::Primitive(primitive) => Known::Value(Value::primitive(*primitive)),
        Operand::Constant(constant) => Known::Value(constant.value()),
        Operand::Literal(value) => Known::Value(value),
    }
}

fn of_slot<'a>(slot: Slot, values: &'a [Value], known: &[Known<'a>]) -> Known<'a> {
    match values.get(slot.index()) {
        Some(value) => Known::Value(value),
        None => known[slot.index() - values.len()].clone(),
    }
}

impl Calls {
    /// What is known of the result of a call.
    fn of<'a>(&mut self, function: &Known<'a>, arguments: &[Known<'a>]) -> Option<Known<'a>> {
        let value = match function {
            Known::Value(Value::Primitive(primitive)) => {
                return self.of_primitive(*primitive, arguments);
            }
            Known::Value(Value::Function(function)) => function,
            Known::Function(made) => {
                (arguments.len() == made.parameters).then_some(())?;
                return self.of_made(made.by, &made.parts, arguments);
            }
            _ => return None,
        };
        if arguments.len() != usize::from(value.parameters()) {
            return None;
        }
        let part = Known::Value;
        match value.kind() {
            FunctionKind::Compose { outer, inner } => {
                self.of_made(Primitive::Compose, &[outer, inner].map(part), arguments)
            }
            FunctionKind::Chain { h, g, f } => {
                self.of_made(Primitive::Chain, &[h, g, f].map(part), arguments)
            }
            FunctionKind::Fork { outer, a, b } => {
                self.of_made(Primitive::Fork, &[outer, a, b].map(part), arguments)
            }
            FunctionKind::LBind {
                function, fixed, ..
            } => self.of_made(Primitive::Lbind, &[function, fixed].map(part), arguments),
            FunctionKind::RBind {
                function, fixed, ..
            } => self.of_made(Primitive::Rbind, &[function, fixed].map(part), arguments),
            FunctionKind::Matcher { .. } | FunctionKind::Power { .. } => None,
        }
    }

    /// The same of a function that this primitive made of these.
    fn of_made<'a>(
        &mut self,
        by: Primitive,
        parts: &[Known<'a>],
        arguments: &[Known<'a>],
    ) -> Option<Known<'a>> {
        use Primitive as P;
        match (by, parts) {
            (P::Compose, [outer, inner]) => {
                let x = self.of(inner, arguments)?;
                self.of(outer, &[x])
            }
            (P::Chain, [h, g, f]) => {
                let x = self.of(f, arguments)?;
                let x = self.of(g, &[x])?;
                self.of(h, &[x])
            }
            (P::Fork, [outer, a, b]) => {
                let both = [self.of(a, arguments)?, self.of(b, arguments)?];
                self.of(outer, &both)
            }
            (P::Lbind, [function, fixed]) => {
                self.of(function, &[std::slice::from_ref(fixed), arguments].concat())
            }
            (P::Rbind, [function, fixed]) => {
                self.of(function, &[arguments, std::slice::from_ref(fixed)].concat())
            }
            _ => None,
        }
    }

    fn of_primitive<'a>(
        &mut self,
        primitive: Primitive,
        arguments: &[Known<'a>],
    ) -> Option<Known<'a>> {
        use Primitive as P;
        let result = match (primitive, arguments) {
            (P::Compose | P::Chain | P::Fork | P::Lbind | P::Rbind, parts) => {
                Known::Function(Function::of(primitive, parts)?.into())
            }
            (P::Apply | P::Mapply, [function, all])
            | (P::Argmax | P::Argmin | P::Order, [all, function]) => {
                self.of_loop(primitive, function, all)?
            }
            _ => of_call(primitive, arguments)?,
        };
        // A call holds its result a second time while it builds it, and what it copies.
        let weight = result.most_weight()?;
        let copies = copied(primitive, arguments)?;
        self.memory = self.memory.checked_sub(weight)?;
        (weight.checked_add(copies)? <= self.memory).then_some(())?;
        // It is a step at least: functions of functions call each other without end. What it reads and builds is looked at
        // several times.
        let read = (arguments.iter()).try_fold(weight, |all, it| all.checked_add(it.held()?))?;
        let steps = 1 + (read.checked_add(copies)?) / (WORK_PER_STEP / LOOKS);
        self.steps = self.steps.checked_sub(steps)?;
        let (height, width) = result.size().unwrap_or_default();
        let fits = weight <= self.most && height as u64 * width as u64 <= self.most_cells;
        fits.then_some(result)
    }

    /// What is known of the result of a loop.
    fn of_loop<'a>(
        &mut self,
        primitive: Primitive,
        function: &Known<'a>,
        all: &Known<'a>,
    ) -> Option<Known<'a>> {
        use Primitive as P;
        let all = all.many()?;
        let (memory, steps) = (self.memory, self.steps);
        let result = self.of(function, std::slice::from_ref(&*all.each))?;
        let times = |before: u64, left: u64| {
            before.checked_sub((before - left).checked_mul(all.count.max(1))?)
        };
        self.memory = times(memory, self.memory)?;
        self.steps = times(steps, self.steps)?;
        let is_key = matches!(result, Known::Number(_) | Known::Loc(_));
        Some(match primitive {
            P::Apply | P::Mapply => {
                let each = result.most_weight()?;
                let results = Many {
                    // With the elements, which tell the order of a set.
                    weight: all.count.checked_mul(each)?.checked_add(all.weight)?,
                    each: Rc::new(result),
                    ..all
                };
                if primitive == P::Apply {
                    (is_key || matches!(*results.each, Known::Patch(_))).then_some(())?;
                    Known::Many(results)
                } else {
                    results.merged()?
                }
            }
            P::Order if is_key => Known::Many(Many {
                is_tuple: true,
                ..all
            }),
            _ if is_key && all.has_some => Known::clone(&all.each),
            _ => return None,
        })
    }
}

impl<'a> Function<'a> {
    /// The function that a call of this primitive makes.
    fn of(by: Primitive, parts: &[Known<'a>]) -> Option<Self> {
        let depth_of = |part: &Known<'_>| match part {
            Known::Value(value) => value.depth(),
            Known::Function(function) => function.depth,
            _ => 2,
        };
        let depth = parts.iter().map(depth_of).max()? + 1;
        let parameters = match (by, parts) {
            (Primitive::Compose, [_, _]) | (Primitive::Chain | Primitive::Fork, [_, _, _]) => 1,
            (Primitive::Lbind | Primitive::Rbind, [function, _]) => match function {
                Known::Value(Value::Primitive(primitive)) => primitive.parameters().len(),
                Known::Value(Value::Function(function)) => function.parameters().into(),
                Known::Function(function) => function.parameters,
                _ => return None,
            }
            .checked_sub(1)
            .filter(|left| (1..=2).contains(left))?,
            _ => return None,
        };
        let weight = (parts.iter()).try_fold(64_u64, |all, part| all.checked_add(part.held()?))?;
        (depth <= DEEP).then(|| Self {
            by,
            parts: parts.to_vec(),
            parameters,
            depth,
            weight,
        })
    }
}

impl<'a> Many<'a> {
    /// The elements of all patches.
    fn merged(&self) -> Option<Known<'a>> {
        let each = self.each.patch().filter(|each| !each.is_tuple)?;
        Some(Known::Patch(Patch {
            is_tuple: self.is_tuple,
            has_some: self.has_some && each.has_some,
            // With what it keeps to find its order.
            weight: self.weight.checked_mul(2)?,
            ..each
        }))
    }
}

impl Patch {
    fn of(value: &Value) -> Option<Self> {
        let far = |reach: i64, loc: &Loc| {
            let far = loc.i.unsigned_abs().max(loc.j.unsigned_abs());
            reach.max(far.into())
        };
        let of_cell = |reach, cell: &Cell| {
            let is_colour = i8::try_from(cell.colour).is_ok();
            is_colour.then(|| far(reach, &cell.loc))
        };
        let reach = match value {
            Value::Indices(locs) => locs.as_slice().iter().fold(0, far),
            Value::Set(elements) if elements.as_slice().is_empty() => 0,
            Value::Object(cells) => cells.as_slice().iter().try_fold(0, of_cell)?,
            Value::Tuple(elements) => elements.as_slice().iter().try_fold(0, |reach, it| {
                let Value::Cell(cell) = it else {
                    return None;
                };
                of_cell(reach, cell)
            })?,
            _ => return None,
        };
        Some(Self {
            is_object: !matches!(value, Value::Indices(_)),
            is_tuple: matches!(value, Value::Tuple(_)),
            has_some: matches!(value, Value::Indices(_) | Value::Object(_)),
            weight: u64::from(value.weight()),
            reach,
        })
    }

    /// A set of so many locations at most.
    fn of_locs(count: u64, reach: i64) -> Option<Known<'static>> {
        let is_near = reach <= i64::from(MAX_INT);
        is_near.then_some(Known::Patch(Self {
            is_object: false,
            is_tuple: false,
            has_some: false,
            weight: 2 * count + 64,
            reach,
        }))
    }
}

/// The integers within the bound that lie so.
fn number(range: Range) -> Option<Known<'static>> {
    let most = i64::from(MAX_INT);
    (-most <= range.0 && range.1 <= most).then_some(Known::Number(range))
}

/// The sum, the difference or the product.
fn computed(primitive: Primitive, (a, b): Range, (c, d): Range) -> Range {
    match primitive {
        Primitive::Add => (a + c, b + d),
        Primitive::Subtract => (a - d, b - c),
        _ => {
            let all = [a * c, a * d, b * c, b * d];
            let least = all.into_iter().fold(i64::MAX, i64::min);
            (least, all.into_iter().fold(i64::MIN, i64::max))
        }
    }
}

/// How far from 0 a location is at most.
fn reach_of(loc: [Range; 2]) -> i64 {
    loc.map(|(least, most)| most.max(-least))
        .into_iter()
        .fold(0, i64::max)
}

impl<'a> Known<'a> {
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

    /// The patch, if it is a set with elements.
    fn some_set(&self) -> Option<Patch> {
        self.patch().filter(|of| of.has_some && !of.is_tuple)
    }

    fn number(&self) -> Option<Range> {
        match self {
            Known::Value(Value::Int(n)) => Some((i64::from(*n), i64::from(*n))),
            Known::Number(range) => Some(*range),
            _ => None,
        }
    }

    fn loc(&self) -> Option<[Range; 2]> {
        match self {
            Known::Value(Value::Loc(loc)) => Some([loc.i, loc.j].map(|n| (n.into(), n.into()))),
            Known::Loc(loc) => Some(*loc),
            _ => None,
        }
    }

    /// What is known of both this and another value.
    fn or(&self, other: &Self) -> Option<Known<'static>> {
        let hull = |a: Range, b: Range| (a.0.min(b.0), a.1.max(b.1));
        if let (Some(a), Some(b)) = (self.number(), other.number()) {
            return Some(Known::Number(hull(a, b)));
        }
        if let (Some([i, j]), Some([k, l])) = (self.loc(), other.loc()) {
            return Some(Known::Loc([hull(i, k), hull(j, l)]));
        }
        let (a, b) = (self.patch()?, other.patch()?);
        ((a.is_object, a.is_tuple) == (b.is_object, b.is_tuple)).then_some(Known::Patch(Patch {
            has_some: a.has_some && b.has_some,
            weight: a.weight.max(b.weight),
            reach: a.reach.max(b.reach),
            ..a
        }))
    }

    /// What is known of the elements, if all are numbers, locations or patches.
    fn many(&self) -> Option<Many<'a>> {
        let value = match self {
            Known::Many(many) => return Some(many.clone()),
            Known::Value(value) => *value,
            _ => return None,
        };
        let (count, each) = match value {
            Value::Indices(locs) => {
                let reach = Patch::of(value)?.reach;
                (locs.len(), Known::Loc([(-reach, reach); 2]))
            }
            Value::Set(_) | Value::Tuple(_) => {
                let (first, rest) = value.values().split_first()?;
                let each = Known::Value(first).or(&Known::Value(first))?;
                let each = (rest.iter()).try_fold(each, |all, it| all.or(&Known::Value(it)))?;
                (rest.len() + 1, each)
            }
            _ => return None,
        };
        Some(Many {
            is_tuple: matches!(value, Value::Tuple(_)),
            count: count as u64,
            has_some: true,
            weight: value.weight().into(),
            each: Rc::new(each),
        })
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
            Known::Number(_) | Known::Loc(_) => Some(8),
            Known::Patch(patch) => patch.weight.checked_add(64),
            Known::Many(many) => many.weight.checked_add(64),
            Known::Function(function) => Some(function.weight),
        }
    }

    /// The same, or what it weighs if it is computed.
    fn held(&self) -> Option<u64> {
        match self {
            Known::Value(value) => Some(value.weight().into()),
            known => known.most_weight(),
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
        let is_colour = |n| i8::try_from(n).is_ok();
        self.number()
            .is_some_and(|(least, most)| is_colour(least) && is_colour(most))
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
    let mut all = arguments.iter();
    all.try_fold(0_u64, |all, it| all.checked_add(it.held()?))?
        .checked_mul(COPIES)
}

/// What is known of the result of a call that does not fail.
#[allow(clippy::too_many_lines, reason = "an arm for every primitive")]
fn of_call<'a>(primitive: Primitive, arguments: &[Known<'a>]) -> Option<Known<'a>> {
    use Primitive as P;
    let grid = |size: Size| Some(Known::Grid(size));
    let patch = |of: Patch, is_object| {
        Some(Known::Patch(Patch {
            is_object,
            is_tuple: false,
            weight: 2 * of.weight,
            ..of
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
        (P::Merge, [all]) if let Some(all) = all.many() => all.merged(),
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
        (P::Combine, [a, b]) if let (Some(a), Some(b)) = (a.sizes(), b.sizes()) => {
            Some(Known::Grids([a, b].concat()))
        }
        (P::Combine, [a, b]) => {
            let (a, b) = (a.patch()?, b.patch()?);
            (a.is_object == b.is_object && !a.is_tuple && !b.is_tuple).then_some(())?;
            let both = Patch {
                has_some: a.has_some || b.has_some,
                weight: a.weight + b.weight,
                reach: a.reach.max(b.reach),
                ..a
            };
            patch(both, a.is_object)
        }
        (P::Recolor, [colour, of]) if colour.is_colour() => patch(of.patch()?, true),
        (P::Toindices, [of]) => patch(of.patch()?, false),
        (P::Shift, [of, way]) => {
            let (of, way) = (of.patch().filter(|of| !of.is_tuple)?, way.loc()?);
            let reach = of.reach + reach_of(way);
            (reach <= i64::from(MAX_INT)).then_some(())?;
            patch(Patch { reach, ..of }, of.is_object)
        }
        (P::Ofcolor, [of, colour]) if colour.is_colour() => {
            let (height, width) = of.size()?;
            Patch::of_locs((height * width) as u64, height.max(width) as i64)
        }
        (P::Asindices | P::Asobject, [of]) => {
            let (height, width) = of.size()?;
            Some(Known::Patch(Patch {
                is_object: primitive == P::Asobject,
                is_tuple: false,
                has_some: true,
                weight: (height * width) as u64,
                reach: height.max(width) as i64,
            }))
        }
        (P::Neighbors | P::Dneighbors | P::Ineighbors, [at]) => {
            Patch::of_locs(8, reach_of(at.loc()?) + 1)
        }
        (P::Vfrontier | P::Hfrontier, [at]) => Patch::of_locs(30, reach_of(at.loc()?).max(30)),
        (P::Shoot, [at, way]) => {
            let (at, way) = (reach_of(at.loc()?), reach_of(way.loc()?));
            Patch::of_locs((42 * way + 1) as u64, at + 42 * way)
        }
        (P::Connect, [a, b]) => {
            let reach = reach_of(a.loc()?).max(reach_of(b.loc()?));
            Patch::of_locs((2 * reach + 1) as u64, reach)
        }
        (P::First | P::Last, [all]) => {
            let all = all.many()?;
            all.has_some.then(|| Known::clone(&all.each))
        }
        (P::Totuple, [all]) => Some(Known::Many(Many {
            is_tuple: true,
            ..all.many()?
        })),
        (P::Sizefilter, [all, Known::Value(Value::Int(_))]) => {
            let all = all.many()?;
            all.each.patch()?;
            Some(Known::Many(Many {
                is_tuple: false,
                has_some: false,
                ..all
            }))
        }
        (P::Ulcorner | P::Urcorner | P::Llcorner | P::Lrcorner, [of]) => {
            let of = of.some_set()?;
            Some(Known::Loc([(-of.reach, of.reach); 2]))
        }
        (P::Uppermost | P::Lowermost | P::Leftmost | P::Rightmost, [of]) => {
            let of = of.some_set()?;
            number((-of.reach, of.reach))
        }
        (P::Height | P::Width, [of]) => {
            let of = of.some_set()?;
            number((1, 2 * of.reach + 1))
        }
        (P::Size, [of]) => number((0, i64::try_from(of.patch()?.weight).ok()?)),
        (P::Color | P::Mostcolor | P::Leastcolor, [of]) => {
            of.some_set().filter(|of| of.is_object)?;
            number((i8::MIN.into(), i8::MAX.into()))
        }
        (P::Tojvec, [n]) => Some(Known::Loc([(0, 0), n.number()?])),
        (P::Toivec, [n]) => Some(Known::Loc([n.number()?, (0, 0)])),
        (P::Astuple, [i, j]) => Some(Known::Loc([i.number()?, j.number()?])),
        (P::Add | P::Subtract | P::Multiply, [a, b]) => {
            number(computed(primitive, a.number()?, b.number()?))
        }
        (P::Double, [n]) => number(computed(P::Multiply, n.number()?, (2, 2))),
        (P::Invert, [n]) => number(computed(P::Multiply, n.number()?, (-1, -1))),
        (P::Increment, [n]) => number(computed(P::Add, n.number()?, (1, 1))),
        (P::Decrement, [n]) => number(computed(P::Subtract, n.number()?, (1, 1))),
        (P::Interval, [start, stop, step]) => {
            let range = [start, stop, step].map(Known::number);
            let [Some(start), Some(stop), Some((step, _))] = range else {
                return None;
            };
            // Each is known whole.
            let is_one = |it: &Known<'_>| matches!(it, Known::Value(_));
            (step != 0 && arguments.iter().all(is_one)).then_some(())?;
            let span = if step > 0 {
                stop.0 - start.0
            } else {
                start.0 - stop.0
            };
            let count = span.max(0).unsigned_abs().div_ceil(step.unsigned_abs());
            // Two numbers are a location.
            (count != 2).then_some(Known::Many(Many {
                is_tuple: true,
                count,
                has_some: count > 0,
                weight: 8 * count + 64,
                each: Rc::new(Known::Number((start.0.min(stop.0), start.0.max(stop.0)))),
            }))
        }
        _ => None,
    }
}
