//! Size and place of grids and patches, in cells.

use std::borrow::Cow;
use std::cmp::Ordering;

use arc_isa::{ContainerKind, Primitive};
use smallvec::{SmallVec, smallvec};

use super::untyped::{
    PythonResult, Refusal, elements, evaluate, int, is_coloured, is_empty, is_tuple, length,
    outermost, rows, to_indices, typed, unpack, width_of_first,
};
use crate::budget::Context;
use crate::error::{ErrorKind, EvalResult};
use crate::patch::{Cell, Loc, Object};
use crate::types::{Patch, as_patch};
use crate::value::Value;
use crate::value::container::Container;

/// The bounding box of a patch, with inclusive edges.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) top: i32,
    pub(super) left: i32,
    pub(super) bottom: i32,
    pub(super) right: i32,
}

impl Bounds {
    /// The box around these locations; there must be at least one.
    pub(super) fn of(locs: impl IntoIterator<Item = Loc>) -> EvalResult<Self> {
        let mut locs = locs.into_iter();
        let first = locs.next().ok_or(ErrorKind::Empty)?;
        let start = Self {
            top: first.i,
            left: first.j,
            bottom: first.i,
            right: first.j,
        };
        Ok(locs.fold(start, |b, loc| Self {
            top: b.top.min(loc.i),
            left: b.left.min(loc.j),
            bottom: b.bottom.max(loc.i),
            right: b.right.max(loc.j),
        }))
    }

    /// The box around a patch of locations or cells; nothing for other values, from which Python may take edges too.
    fn of_plain(patch: &Value) -> EvalResult<Option<Self>> {
        let patch = as_patch(patch);
        patch
            .map(|patch| Self::of(patch.borrow().locs()))
            .transpose()
    }

    /// The box around the locations of a patch, if all its edges are integers.
    pub(super) fn of_patch(patch: &Value) -> PythonResult<Self> {
        if let Some(bounds) = Self::of_plain(patch)? {
            return Ok(bounds);
        }
        let edge = |at, wanted| int(&edge(patch, at, wanted)?);
        Ok(Self {
            top: edge(0, Ordering::Less)?,
            left: edge(1, Ordering::Less)?,
            bottom: edge(0, Ordering::Greater)?,
            right: edge(1, Ordering::Greater)?,
        })
    }

    /// The outermost row, or column if `at` is 1.
    fn edge(self, at: usize, wanted: Ordering) -> i32 {
        let edges = [[self.top, self.bottom], [self.left, self.right]];
        edges[at][usize::from(wanted.is_gt())]
    }

    pub(super) fn height(self) -> i32 {
        self.bottom - self.top + 1
    }

    pub(super) fn width(self) -> i32 {
        self.right - self.left + 1
    }

    pub(super) fn start(self) -> Loc {
        Loc::new(self.top, self.left)
    }
}

pub(super) fn hmatching(cx: &mut Context<'_>, a: Patch<'_>, b: Patch<'_>) -> EvalResult<bool> {
    share(cx, a.locs().map(|loc| loc.i), b.locs().map(|loc| loc.i))
}

pub(super) fn vmatching(cx: &mut Context<'_>, a: Patch<'_>, b: Patch<'_>) -> EvalResult<bool> {
    share(cx, a.locs().map(|loc| loc.j), b.locs().map(|loc| loc.j))
}

/// Whether a number is among `a` and among `b`.
fn share(
    cx: &mut Context<'_>,
    a: impl Iterator<Item = i32>,
    mut b: impl Iterator<Item = i32>,
) -> EvalResult<bool> {
    let mut lines: Vec<i32> = a.collect();
    lines.sort_unstable();
    lines.dedup();
    let rounds = u64::from(lines.len().max(1).ilog2());
    let mut looked = 0;
    let shared = b.any(|line| {
        looked += rounds;
        lines.binary_search(&line).is_ok()
    });
    cx.work(looked)?;
    Ok(shared)
}

pub(super) fn manhattan(cx: &mut Context<'_>, a: Patch<'_>, b: Patch<'_>) -> EvalResult<i32> {
    cx.work(a.len() as u64 * b.len() as u64)?;
    let apart = |x: i32, y: i32| (i64::from(x) - i64::from(y)).abs();
    let nearest = a
        .locs()
        .flat_map(|p| b.locs().map(move |q| apart(p.i, q.i) + apart(p.j, q.j)));
    nearest
        .min()
        .map_or(Err(ErrorKind::Empty), super::arithmetic::int)
}

pub(super) fn adjacent(cx: &mut Context<'_>, a: Patch<'_>, b: Patch<'_>) -> EvalResult<bool> {
    Ok(manhattan(cx, a, b)? == 1)
}

/// How far the source is moved, in the direction from the first of these centres to the second.
fn moved_until_adjacent(
    cx: &mut Context<'_>,
    source: Patch<'_>,
    destination: Patch<'_>,
    [from, to]: [Loc; 2],
) -> PythonResult<Loc> {
    // A cell is looked up on three lines.
    const LOOK_UPS: u64 = 8;
    let down = vmatching(cx, source, destination)?;
    let forwards = if down { from.i < to.i } else { from.j < to.j };
    let place = |loc: Loc| {
        let (line, at) = if down { (loc.j, loc.i) } else { (loc.i, loc.j) };
        (line, if forwards { at } else { -at })
    };
    cx.work(LOOK_UPS * (source.len() + destination.len()) as u64)?;
    let there = Lines::of(destination.locs().map(place));
    let steps = steps_until_adjacent(source.locs().map(place), &there);
    let steps = if forwards { steps } else { -steps };
    Ok(if down {
        Loc::new(steps, 0)
    } else {
        Loc::new(0, steps)
    })
}

/// Locations as bitmaps: pairs of (line, index of a block of 64 positions on the line) and the bits of the block,
/// ascending.
struct Lines(Vec<((i32, i32), u64)>);

impl Lines {
    /// From locations given by line and position on the line.
    fn of(places: impl Iterator<Item = (i32, i32)>) -> Self {
        let mut places: Vec<_> = places.collect();
        places.sort_unstable();
        let mut words: Vec<((i32, i32), u64)> = Vec::new();
        for (line, at) in places {
            let (word, bit) = ((line, at >> 6), 1 << (at & 63));
            match words.last_mut() {
                Some((same, bits)) if *same == word => *bits |= bit,
                _ => words.push((word, bit)),
            }
        }
        Self(words)
    }

    /// The 64 positions of a line from `start` on.
    fn window(&self, line: i32, start: i32) -> u64 {
        let (block, shift) = (start >> 6, start & 63);
        let from = self.0.partition_point(|(word, _)| *word < (line, block));
        let mut window = 0;
        for &((_, found), bits) in self.0[from..]
            .iter()
            .take(2)
            .take_while(|((found, block_found), _)| *found == line && *block_found <= block + 1)
        {
            window |= if found == block {
                bits >> shift
            } else {
                // Shift twice, since a shift by all 64 bits at once is not allowed.
                bits << (63 - shift) << 1
            };
        }
        window
    }
}

/// The number of steps forwards along its lines after which a patch is adjacent to another one: one step apart from it,
/// and not on it. At most 42.
fn steps_until_adjacent(source: impl Iterator<Item = (i32, i32)>, there: &Lines) -> i32 {
    const MOST: u32 = 42;
    // One bit for each number of steps: after which cells coincide, and after which they are neighbours.
    let (mut met, mut beside) = (0, 0);
    for (line, at) in source {
        // Bit 0 of a window is the previous position, bit 1 the position itself.
        let window = there.window(line, at - 1);
        met |= window >> 1;
        beside |= window | window >> 2;
        beside |= there.window(line - 1, at - 1) >> 1;
        beside |= there.window(line + 1, at - 1) >> 1;
    }
    let adjacent: u64 = beside & !met;
    adjacent.trailing_zeros().min(MOST) as i32
}

/// The smallest shift back along the rows that moves every cell onto a cell of its colour, as far as it stays inside
/// the bounding box; the whole width if there is none.
///
/// A cell of the last column stays inside for every shift. So only the shifts from it to other cells of its row have to
/// be tried.
fn repetition(cx: &mut Context<'_>, object: &Object) -> EvalResult<i32> {
    let Ok(bounds) = Bounds::of(object.as_slice().iter().map(|cell| cell.loc)) else {
        return Ok(0);
    };
    let rows: Vec<&[Cell]> = object
        .as_slice()
        .chunk_by(|a, b| (a.colour, a.loc.i) == (b.colour, b.loc.i))
        .collect();
    let reaches_the_end = |row: &&&[Cell]| row[row.len() - 1].loc.j == bounds.right;
    let shortest = rows
        .iter()
        .filter(reaches_the_end)
        .min_by_key(|row| row.len());
    for cell in shortest
        .into_iter()
        .flat_map(|row| row.iter().rev())
        .skip(1)
    {
        let way = bounds.right - cell.loc.j;
        let mut looked = 0;
        let repeats = rows.iter().all(|row| {
            let mut below = row.iter().peekable();
            row.iter().all(|cell| {
                looked += 1;
                let to = i64::from(cell.loc.j) - i64::from(way);
                if to < i64::from(bounds.left) {
                    return true;
                }
                while below.next_if(|other| i64::from(other.loc.j) < to).is_some() {}
                below
                    .peek()
                    .is_some_and(|other| i64::from(other.loc.j) == to)
            })
        });
        cx.work(looked)?;
        if repeats {
            return Ok(way);
        }
    }
    Ok(bounds.width())
}

/// Of arguments of any types.
pub(super) fn untyped(
    cx: &mut Context<'_>,
    primitive: Primitive,
    arguments: &[&Value],
) -> PythonResult {
    use Primitive as P;
    match (primitive, arguments) {
        (P::Height, &[piece]) => height(piece).map(Value::Int),
        (P::Width, &[piece]) => width(piece).map(Value::Int),
        (P::Shape, &[piece]) => shape(piece).map(Value::Loc),
        (P::Portrait, &[piece]) => shape(piece).map(|shape| Value::Bool(shape.i > shape.j)),
        (P::Square, &[piece]) => square(piece).map(Value::Bool),
        // Whether it is as long as its number of elements, and one wide; the width is checked last.
        (P::Vline, &[patch]) => Ok(Value::Bool(
            height(patch)? as usize == length(patch)? && width(patch)? == 1,
        )),
        (P::Hline, &[patch]) => Ok(Value::Bool(
            width(patch)? as usize == length(patch)? && height(patch)? == 1,
        )),
        (P::Uppermost, &[patch]) => edge(patch, 0, Ordering::Less),
        (P::Lowermost, &[patch]) => edge(patch, 0, Ordering::Greater),
        (P::Leftmost, &[patch]) => edge(patch, 1, Ordering::Less),
        (P::Rightmost, &[patch]) => edge(patch, 1, Ordering::Greater),
        (P::Ulcorner, &[patch]) => corner(patch, UPPER_LEFT),
        (P::Urcorner, &[patch]) => corner(patch, UPPER_RIGHT),
        (P::Llcorner, &[patch]) => corner(patch, LOWER_LEFT),
        (P::Lrcorner, &[patch]) => corner(patch, LOWER_RIGHT),
        (P::Center, &[patch]) => center(patch).map(Value::Loc),
        // The mean is over the set of locations, but the number of cells counts one once for each of its colours.
        (P::Centerofmass, &[patch]) => mean(&to_indices(patch)?, length(patch)?),
        (P::Position, &[a, b]) => {
            // The cells of a tuple are first converted to a set of locations; a tuple of locations stays a tuple.
            let middle = |patch| match as_patch(patch) {
                Some(_) if !is_tuple(patch) => center(patch),
                _ => center(&to_indices(patch)?),
            };
            Ok(Value::Loc(position(middle(a)?, middle(b)?)))
        }
        (P::Bordering, &[patch, grid]) => bordering(patch, grid).map(Value::Bool),
        // Python computes a tuple's centre from its length, and from the centres the direction of the moves.
        (P::Gravitate, &[source, destination]) => {
            let centres = [center(source)?, center(destination)?];
            let (source, destination) = (located(source)?, located(destination)?);
            let patches = (as_patch(&source), as_patch(&destination));
            let (Some(source), Some(destination)) = patches else {
                return Err(Refusal::Raises);
            };
            let (source, destination) = (source.borrow(), destination.borrow());
            moved_until_adjacent(cx, source, destination, centres).map(Value::Loc)
        }
        (P::Hperiod | P::Vperiod, &[object]) => period(cx, primitive, object),
        (P::Hmatching | P::Vmatching, &[a, b]) => {
            let at = usize::from(primitive == P::Vmatching);
            let (a, b) = (components(a, at)?, Value::set(components(b, at)?));
            let b = elements(&b)?;
            Ok(Value::Bool(a.iter().any(|component| b.contains(component))))
        }
        _ => {
            let patches = arguments.iter().map(|patch| located(patch));
            let patches = patches.collect::<PythonResult<Vec<_>>>()?;
            typed(
                cx,
                primitive,
                &patches.iter().map(|patch| &**patch).collect::<Vec<_>>(),
            )
        }
    }
}

/// The outermost first or second component of a patch's locations. If the patch has colours in its locations' place,
/// Python finds the outermost colour or location.
fn edge(patch: &Value, at: usize, wanted: Ordering) -> PythonResult {
    if let Some(bounds) = Bounds::of_plain(patch)? {
        return Ok(Value::Int(bounds.edge(at, wanted)));
    }
    outermost(&components(patch, at)?, wanted)
}

/// The first or second components of the locations of a patch.
fn components(patch: &Value, at: usize) -> PythonResult<Vec<Value>> {
    let indices = to_indices(patch)?;
    let components = elements(&indices)?.iter().map(|location| {
        let (i, j) = unpack(&location)?;
        Ok([i, j][at].clone())
    });
    components.collect()
}

/// From one edge to the other.
fn span(patch: &Value, at: usize) -> PythonResult<i32> {
    if let Some(bounds) = Bounds::of_plain(patch)? {
        return Ok([bounds.height(), bounds.width()][at]);
    }
    let [first, last] = [Ordering::Less, Ordering::Greater].map(|wanted| edge(patch, at, wanted));
    Ok(int(&last?)? - int(&first?)? + 1)
}

/// For each component of a corner, whether the least or the greatest is wanted.
pub(super) const UPPER_LEFT: [Ordering; 2] = [Ordering::Less; 2];
pub(super) const UPPER_RIGHT: [Ordering; 2] = [Ordering::Less, Ordering::Greater];
pub(super) const LOWER_LEFT: [Ordering; 2] = [Ordering::Greater, Ordering::Less];
pub(super) const LOWER_RIGHT: [Ordering; 2] = [Ordering::Greater; 2];

/// The number of rows: of a set those of its bounding box.
fn height(piece: &Value) -> PythonResult<i32> {
    match elements(piece)?.kind {
        ContainerKind::Tuple => Ok(length(piece)? as i32),
        ContainerKind::Set if is_empty(piece) => Ok(0),
        ContainerKind::Set => span(piece, 0),
    }
}

fn width(piece: &Value) -> PythonResult<i32> {
    match elements(piece)?.kind {
        _ if is_empty(piece) => Ok(0),
        ContainerKind::Tuple => Ok(width_of_first(piece)? as i32),
        ContainerKind::Set => span(piece, 1),
    }
}

/// Rows and columns. The DSL treats a tuple as the rows of a grid, also if its elements are cells or locations.
pub(super) fn shape(piece: &Value) -> PythonResult<Loc> {
    if is_empty(piece) {
        return Ok(Loc::default());
    }
    if is_tuple(piece) {
        return Ok(Loc::new(height(piece)?, width(piece)?));
    }
    let bounds = Bounds::of_patch(piece)?;
    Ok(Loc::new(bounds.height(), bounds.width()))
}

fn square(piece: &Value) -> PythonResult<bool> {
    if is_tuple(piece) {
        return Ok(length(piece)? == width_of_first(piece)?);
    }
    let Loc { i, j } = shape(piece)?;
    Ok(i == j && i64::from(i) * i64::from(j) == length(piece)? as i64)
}

/// The outermost values of each component. More than two components are possible only if all are wanted alike.
pub(super) fn corner(patch: &Value, wanted: [Ordering; 2]) -> PythonResult {
    if let Ok(Bounds {
        top,
        left,
        bottom,
        right,
    }) = Bounds::of_patch(patch)
    {
        let [i, j] = wanted;
        let corner = Loc::new(
            if i.is_lt() { top } else { bottom },
            if j.is_lt() { left } else { right },
        );
        return Ok(Value::Loc(corner));
    }
    corner_of(&to_indices(patch)?, wanted)
}

/// The same of these locations.
pub(crate) fn corner_of(locations: &Value, wanted: [Ordering; 2]) -> PythonResult {
    let rows = rows(locations)?;
    let columns = rows.iter().map(Vec::len).min().unwrap_or(0);
    if columns > 2 && wanted[0] != wanted[1] {
        return Err(Refusal::Raises);
    }
    let mut corner = Vec::new();
    for at in 0..columns {
        let column: Vec<Value> = rows.iter().map(|row| row[at].clone()).collect();
        corner.push(outermost(&column, wanted[at.min(1)])?);
    }
    Ok(Value::tuple(corner))
}

/// The middle, rounded down.
fn center(patch: &Value) -> PythonResult<Loc> {
    let (start, shape) = (Bounds::of_patch(patch)?.start(), shape(patch)?);
    Ok(Loc::new(start.i + shape.i / 2, start.j + shape.j / 2))
}

/// The patch, or its locations if its colours are any values or what Python takes apart as locations are other pairs.
fn located(patch: &Value) -> PythonResult<Cow<'_, Value>> {
    if as_patch(patch).is_some() {
        return Ok(Cow::Borrowed(patch));
    }
    let indices = to_indices(patch)?;
    let locations = elements(&indices)?.iter().map(|location| {
        let (i, j) = unpack(&location)?;
        Ok(Value::Loc(Loc::new(int(&i)?, int(&j)?)))
    });
    Ok(Cow::Owned(Value::set(
        locations.collect::<PythonResult<Vec<_>>>()?,
    )))
}

/// The mean of each component of these locations, for as many components as the shortest has.
pub(crate) fn mean(indices: &Value, count: usize) -> PythonResult {
    let lengths = elements(indices)?.iter_stored().map(|loc| length(&loc));
    let lengths = lengths.collect::<PythonResult<SmallVec<[usize; 16]>>>()?;
    let mut sums: SmallVec<[i64; 2]> = smallvec![0; lengths.into_iter().min().unwrap_or(0)];
    for loc in elements(indices)?.iter_stored() {
        for (sum, component) in sums.iter_mut().zip(elements(&loc)?.iter()) {
            *sum += i64::from(int(&component)?);
        }
    }
    let means = sums.iter().map(|sum| sum.div_euclid(count as i64));
    Ok(Value::tuple(
        means.map(|mean| Value::Int(mean as i32)).collect(),
    ))
}

/// The signs of the direction from one centre to the other; on the same row or column, only along it.
pub(crate) fn position(from: Loc, to: Loc) -> Loc {
    let sign = |from: i32, to: i32| if from < to { 1 } else { -1 };
    let (down, right) = (sign(from.i, to.i), sign(from.j, to.j));
    if from.i == to.i {
        Loc::new(0, right)
    } else if from.j == to.j {
        Loc::new(down, 0)
    } else {
        Loc::new(down, right)
    }
}

fn bordering(patch: &Value, grid: &Value) -> PythonResult<bool> {
    let bounds = Bounds::of_plain(patch)?;
    let is_at = |at, wanted, length: usize| {
        let edge = match bounds {
            Some(bounds) => Some(bounds.edge(at, wanted)),
            None => edge(patch, at, wanted)?.as_int(),
        };
        Ok::<_, Refusal>(edge == Some(length as i32 - 1))
    };
    Ok(is_at(0, Ordering::Less, 1)?
        || is_at(1, Ordering::Less, 1)?
        || is_at(0, Ordering::Greater, length(grid)?)?
        || is_at(1, Ordering::Greater, width_of_first(grid)?)?)
}

/// After how many columns or rows an object repeats. Its colours, which are only compared, may be any values. Locations
/// without colours are handled if they are one column wide or one row high.
fn period(cx: &mut Context<'_>, primitive: Primitive, object: &Value) -> PythonResult {
    let container = elements(object)?;
    if !container.is_empty() && !is_coloured(container)? {
        let back = evaluate(cx, Primitive::Normalize, &[object])?;
        let across = match primitive {
            Primitive::Hperiod => width,
            _ => height,
        };
        return match across(&back)? {
            n @ ..=1 => Ok(Value::Int(n)),
            _ => Err(Refusal::Raises),
        };
    }
    let cells = match object {
        Value::Object(object) => object.as_slice().to_vec(),
        _ => ranked(container)?,
    };
    let placed = cells.into_iter().map(|cell| match primitive {
        Primitive::Hperiod => cell,
        _ => Cell::new(cell.colour, Loc::new(cell.loc.j, cell.loc.i)),
    });
    Ok(Value::Int(repetition(cx, &placed.collect())?))
}

/// The cells with their colours replaced by their ranks.
fn ranked(elements: Container<'_>) -> PythonResult<Vec<Cell>> {
    let cells = elements.iter_stored().map(|cell| unpack(&cell));
    let cells = cells.collect::<PythonResult<Vec<_>>>()?;
    let mut colours: Vec<&Value> = cells.iter().map(|(colour, _)| colour).collect();
    colours.sort();
    colours.dedup();
    let cell = |(colour, loc): &(Value, Value)| {
        let rank = colours.partition_point(|other| *other < colour);
        let (i, j) = unpack(loc)?;
        Ok(Cell::new(rank as i32, Loc::new(int(&i)?, int(&j)?)))
    };
    cells.iter().map(cell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Primitive;
    use crate::patch::Indices;
    use crate::primitives::testing::{at, call, locs};
    use crate::value::literal::tests::read;

    #[test]
    fn an_empty_patch_has_no_size_and_no_place() {
        let empty = Value::empty_set();
        assert_eq!(call(Primitive::Shape, &[&empty]), Ok(at(0, 0)));
        assert_eq!(call(Primitive::Square, &[&empty]), Ok(Value::Bool(true)));
        assert_eq!(call(Primitive::Vline, &[&empty]), Ok(Value::Bool(false)));
        assert_eq!(
            call(Primitive::Ulcorner, &[&empty]),
            Ok(Value::tuple(vec![]))
        );
        assert_eq!(
            call(Primitive::Centerofmass, &[&empty]),
            Ok(Value::tuple(vec![]))
        );
        for primitive in [Primitive::Uppermost, Primitive::Center] {
            assert_eq!(call(primitive, &[&empty]), Err(ErrorKind::Empty));
        }
    }

    #[test]
    fn middles_round_down() {
        let patch = locs(&[(-3, 0), (0, 3)]);
        assert_eq!(call(Primitive::Center, &[&patch]), Ok(at(-1, 2)));
        assert_eq!(call(Primitive::Centerofmass, &[&patch]), Ok(at(-2, 1)));
    }

    /// The right values are CPython's: a patch whose locations have colours too passes the first checks of the DSL.
    #[test]
    fn edges_of_a_patch_coloured_twice_are_colours_and_locations() {
        let text = "frozenset({(1, (3, (2, 1))), (5, (0, (1, 4)))})";
        for (primitive, expected) in [
            (Primitive::Uppermost, Some("0")),
            (Primitive::Leftmost, Some("(1, 4)")),
            (Primitive::Height, Some("4")),
            (Primitive::Shape, None),
            (Primitive::Lrcorner, Some("(3, (2, 1))")),
            (
                Primitive::Corners,
                Some("frozenset({(0, (1, 4)), (3, (2, 1)), (0, (2, 1)), (3, (1, 4))})"),
            ),
            (
                Primitive::Hmirror,
                Some("frozenset({(5, (3, (1, 4))), (1, (0, (2, 1)))})"),
            ),
            (Primitive::Dmirror, None),
            (Primitive::Backdrop, None),
            (Primitive::Center, None),
            (Primitive::Normalize, None),
        ] {
            let patch = read(text);
            let found = call(primitive, &[&patch]).ok();
            let found = found.map(|value| value.to_string());
            assert_eq!(found.as_deref(), expected, "{primitive}");
        }
        for (primitive, expected) in [
            (Primitive::Hmatching, Some("True")),
            (Primitive::Vmatching, Some("True")),
            (Primitive::Adjacent, None),
            (Primitive::Position, Some("(0, -1)")),
        ] {
            let patch = read(text);
            let found = call(primitive, &[&patch, &patch]).ok();
            let found = found.map(|value| value.to_string());
            assert_eq!(found.as_deref(), expected, "{primitive}");
        }
    }

    /// The right values are CPython's.
    #[test]
    fn gravity_pulls_tuples_from_the_centres_of_their_lengths() {
        for (source, destination, expected) in [
            (
                "(((0, 0), (0, 0)),)",
                "{(3, (3, 4)), (3, (1, 5)), (3, (1, 3)), (3, (3, 5))}",
                (0, 3),
            ),
            (
                "{(7, (-20, 21)), (0, (-21, 21))}",
                "(((2, 2), (2, 2)), ((2, 2), (2, 2)))",
                (0, -42),
            ),
            ("((1, 2), (3, 4))", "{(5, 9), (3, 4)}", (1, 0)),
            ("((1, 2), (3, 4))", "((9, 2),)", (7, 0)),
        ] {
            let [source, destination] = [source, destination].map(read);
            let way = call(Primitive::Gravitate, &[&source, &destination]);
            assert_eq!(
                way,
                Ok(at(expected.0, expected.1)),
                "{source} {destination}"
            );
        }
        for wrong in ["(((0, 0), 1),)", "((1, 2, 3),)", "((1,),)"] {
            let wrong = read(wrong);
            assert!(call(Primitive::Gravitate, &[&wrong, &locs(&[(5, 9)])]).is_err());
        }
    }

    #[test]
    fn gravity_pulls_until_adjacent_or_42_steps() {
        let (source, below, diagonal) = (locs(&[(0, 0)]), locs(&[(5, 0)]), locs(&[(5, 5)]));
        assert_eq!(call(Primitive::Gravitate, &[&source, &below]), Ok(at(4, 0)));
        assert_eq!(
            call(Primitive::Gravitate, &[&source, &diagonal]),
            Ok(at(0, 42))
        );
        assert_eq!(
            call(Primitive::Manhattan, &[&source, &diagonal]),
            Ok(Value::Int(10))
        );
    }

    #[test]
    fn a_tuple_of_locations_is_as_high_as_it_has_elements() {
        let column = |j| {
            [(0, j), (1, j), (2, j), (3, j)]
                .map(|(i, j)| at(i, j))
                .to_vec()
        };
        let (tuple, set) = (Value::tuple(column(5)), Value::set(column(5)));
        assert_eq!(call(Primitive::Vline, &[&set]), Ok(Value::Bool(true)));
        assert_eq!(call(Primitive::Vline, &[&tuple]), Ok(Value::Bool(false)));
        assert_eq!(call(Primitive::Center, &[&set]), Ok(at(2, 5)));
        assert_eq!(call(Primitive::Center, &[&tuple]), Ok(at(2, 6)));
        let cells = Value::tuple(vec![Cell::new(3, Loc::new(0, 5)).into()]);
        assert_eq!(call(Primitive::Center, &[&cells]), Ok(at(0, 6)));
        // Their locations are a set, so both centres are in column 5.
        assert_eq!(call(Primitive::Position, &[&cells, &set]), Ok(at(1, 0)));
    }

    #[test]
    fn a_location_of_two_colours_counts_twice_among_the_cells_only() {
        let cell = |colour, i| Value::from(Cell::new(colour, Loc::new(i, 0)));
        let cells = vec![cell(1, 2), cell(2, 2), cell(1, 6)];
        for patch in [Value::tuple(cells.clone()), Value::set(cells)] {
            assert_eq!(call(Primitive::Centerofmass, &[&patch]), Ok(at(2, 0)));
        }
    }

    #[test]
    fn positions_are_signs() {
        let middle = locs(&[(5, 5)]);
        for (i, j, way) in [
            (5, 9, (0, 1)),
            (5, 5, (0, -1)),
            (1, 5, (-1, 0)),
            (9, 1, (1, -1)),
        ] {
            let found = call(Primitive::Position, &[&middle, &locs(&[(i, j)])]);
            assert_eq!(found, Ok(at(way.0, way.1)), "({i}, {j})");
        }
    }

    /// The DSL's rule, step by step.
    fn steps_by_trying(source: &[Loc], destination: &[Loc], step: Loc) -> Loc {
        let mut way = Loc::default();
        for _ in 0..42 {
            let apart =
                |p: &Loc, q: &Loc| (p.i + way.i).abs_diff(q.i) + (p.j + way.j).abs_diff(q.j);
            let distances = source
                .iter()
                .flat_map(|p| destination.iter().map(move |q| apart(p, q)));
            if distances.min() == Some(1) {
                break;
            }
            way = way.wrapping_add(step);
        }
        way
    }

    #[test]
    fn gravity_pulls_as_far_as_trying_every_step_says() {
        let mut dice = crate::generate::Generator::new(1);
        let mut ways = std::collections::HashSet::new();
        for round in 0..3_000 {
            let spread = [4, 12, 70, 200][round % 4];
            let mut patch = |count: usize, off: i32| -> Vec<Loc> {
                let mut place = || dice.below(spread) as i32 - off;
                (0..count).map(|_| Loc::new(place(), place())).collect()
            };
            let (a, b) = (patch(1 + round % 9, 5), patch(1 + round % 5, 40));
            let value = |locs: &[Loc]| Value::from(locs.iter().copied().collect::<Indices>());
            let way = call(Primitive::Gravitate, &[&value(&a), &value(&b)]).unwrap();
            let Value::Loc(way) = way else {
                panic!("{way}")
            };
            let (up_or_down, sign) = if way.i != 0 {
                (true, way.i.signum())
            } else {
                (false, way.j.signum())
            };
            let step = if up_or_down {
                Loc::new(sign, 0)
            } else {
                Loc::new(0, sign)
            };
            assert_eq!(steps_by_trying(&a, &b, step), way, "{a:?} {b:?}");
            ways.insert(way);
        }
        assert!(ways.len() > 60, "{}", ways.len());
    }

    /// Calls with a limit so low that only fast calls succeed.
    fn at_once(primitive: Primitive, arguments: &[&Value]) -> Result<Value, ErrorKind> {
        let interpreter = crate::Interpreter::new(crate::Limits {
            max_steps: 100,
            ..crate::Limits::default()
        });
        let result = interpreter.call(Value::primitive(primitive), arguments);
        result.map_err(|error| error.kind)
    }

    #[test]
    fn cells_far_apart_take_no_longer_than_near_ones() {
        let far = 1 << 29;
        for (i, j) in [(far, 0), (0, far), (far, far), (far, -7)] {
            let cells = [Loc::default(), Loc::new(i, j)].map(|loc| Cell::new(5, loc));
            let object = Value::from(Object::from_iter(cells));
            // Along one row or column, one falls onto the other.
            let period = |along: i32, across: i32| match (along, across) {
                (0, _) => 1,
                (_, 0) => along.abs(),
                _ => along.abs() + 1,
            };
            let found = at_once(Primitive::Hperiod, &[&object]);
            assert_eq!(found, Ok(Value::Int(period(j, i))), "({i}, {j})");
            let found = at_once(Primitive::Vperiod, &[&object]);
            assert_eq!(found, Ok(Value::Int(period(i, j))), "({i}, {j})");
        }
        let (here, there) = (locs(&[(0, 0)]), locs(&[(far, far)]));
        assert_eq!(
            at_once(Primitive::Gravitate, &[&here, &there]),
            Ok(at(0, 42))
        );
    }

    #[test]
    fn periods_are_those_that_trying_finds() {
        let mut dice = crate::generate::Generator::new(2);
        for round in 0..3_000 {
            let mut cells: Vec<Cell> = Vec::new();
            let (height, width, own) = (1 + dice.below(3), 2 + dice.below(9), 1 + round % 4);
            for i in 0..height as i32 {
                for j in 0..width as i32 {
                    if dice.below(9) > 0 {
                        let colour = (i + j % own) % 2;
                        cells.push(Cell::new(colour, Loc::new(i + 3, j - 2)));
                    }
                }
            }
            let object: Object = cells.iter().copied().collect();
            let bounds = Bounds::of(cells.iter().map(|cell| cell.loc));
            let Ok(bounds) = bounds else { continue };
            let repeats = |p: &i32| {
                cells.iter().all(|cell| {
                    let loc = Loc::new(cell.loc.i, cell.loc.j - p);
                    loc.j < bounds.left || object.contains(&Cell { loc, ..*cell })
                })
            };
            let expected = (1..bounds.width()).find(repeats).unwrap_or(bounds.width());
            let turned = cells
                .iter()
                .map(|cell| Cell::new(cell.colour, Loc::new(cell.loc.j, cell.loc.i)))
                .collect::<Object>();
            let (object, turned) = (object.into(), turned.into());
            let found = call(Primitive::Hperiod, &[&object]);
            assert_eq!(found, Ok(Value::Int(expected)), "{object}");
            let found = call(Primitive::Vperiod, &[&turned]);
            assert_eq!(found, Ok(Value::Int(expected)), "{turned}");
        }
    }

    #[test]
    fn a_set_of_two_integers_is_a_location_where_python_unpacks_it() {
        let object = "frozenset({(True, (False, True)), ((7, 4), frozenset({3, -1}))})";
        let object = read(object);
        let [columns, rows] =
            [Primitive::Hperiod, Primitive::Vperiod].map(|it| call(it, &[&object]));
        assert_eq!((columns, rows), (Ok(Value::Int(3)), Ok(Value::Int(4))));
        // Also beside locations without colours.
        let in_one_row = read("frozenset({(0, 1), frozenset({0, 6})})");
        let rows = call(Primitive::Vperiod, &[&in_one_row]);
        assert_eq!(rows, Ok(Value::Int(1)));
        assert!(call(Primitive::Hperiod, &[&in_one_row]).is_err());
    }

    #[test]
    fn periods_are_the_smallest_that_repeat() {
        let stripes: Object = (0..7)
            .map(|j| Cell::new(j % 3, Loc::new(2, j + 1)))
            .collect();
        assert_eq!(
            call(Primitive::Hperiod, &[&stripes.clone().into()]),
            Ok(Value::Int(3))
        );
        assert_eq!(
            call(Primitive::Vperiod, &[&stripes.into()]),
            Ok(Value::Int(1))
        );
    }
}
