//! Patches built from patches, locations and grids.

use arc_isa::Type;
pub(super) use untyped::call as untyped;

use super::arithmetic::{loc, sum};
use super::containers::among_sorted;
use super::extents::Bounds;
use super::untyped::PythonResult;
use crate::budget::Context;
use crate::error::{ErrorKind, EvalResult, Limit};
use crate::grid::Grid;
use crate::patch::{Cell, Indices, Loc, Object};
use crate::types::{Patch, PatchItems};
use crate::value::sets::order::{Built, How, Order};
use crate::value::{MAX_INT, Value};

pub(super) fn asindices(grid: &Grid) -> Indices {
    Indices::from_sorted(grid.enumerate().map(|(loc, _)| loc).collect())
}

pub(super) fn ofcolor(grid: &Grid, value: i32) -> Indices {
    let coloured = |&colour: &i8| i32::from(colour) == value;
    // Counting is one vectorised pass: cheaper than growing the set.
    let mut locs = Vec::with_capacity(grid.cells().iter().filter(|c| coloured(c)).count());
    for (i, row) in grid.rows().enumerate() {
        let columns = row
            .iter()
            .enumerate()
            .filter(|(_, colour)| coloured(colour));
        locs.extend(columns.map(|(j, _)| Loc::new(i as i32, j as i32)));
    }
    Indices::from_sorted(locs)
}

pub(super) fn toindices(patch: Patch<'_>) -> Value {
    match patch.items {
        PatchItems::Cells(_) => match patch.value {
            Value::Object(_) => {
                let locs = patch.locs().collect();
                Indices::built(locs, built_from(patch, How::Locations)).into()
            }
            _ => patch.locs().collect::<Indices>().into(),
        },
        PatchItems::Locs([]) => Value::empty_set(),
        PatchItems::Locs(_) => patch.value.clone(),
    }
}

pub(super) fn recolor(value: i32, patch: Patch<'_>) -> Object {
    let cells = patch.locs().map(|loc| Cell::new(value, loc)).collect();
    match patch.value {
        Value::Indices(_) => Object::from_ascending(cells, Order::as_in(patch.value)),
        Value::Object(_) => Object::built(cells, built_from(patch, How::Coloured)),
        _ => recoloured_tuple(cells, patch),
    }
}

/// The set of these cells at the locations of a tuple. In the DSL, the locations of cells are a set first.
fn recoloured_tuple(cells: Vec<Cell>, patch: Patch<'_>) -> Object {
    match patch.items {
        PatchItems::Cells(_) => {
            let indices = Value::from(patch.locs().collect::<Indices>());
            Object::built(cells, Built::Patch(indices, How::Coloured))
        }
        PatchItems::Locs(_) => Object::new(cells),
    }
}

pub(super) fn built_from(patch: Patch<'_>, how: How) -> Built {
    Built::Patch(patch.value.clone(), how)
}

pub(super) fn shift(patch: Patch<'_>, directions: Loc) -> EvalResult<Value> {
    if patch.is_empty() {
        return Ok(patch.value.clone());
    }
    Ok(match patch.items {
        PatchItems::Locs(locs) => {
            let moved: Vec<Loc> = locs
                .iter()
                .map(|loc| loc.wrapping_add(directions))
                .collect();
            require_range(moved.iter().copied())?;
            match patch.value {
                Value::Indices(_) => {
                    Indices::from_ascending(moved, Order::moved(patch.value)).into()
                }
                _ => Indices::new(moved).into(),
            }
        }
        PatchItems::Cells(cells) => {
            let moved = shifted(cells, directions)?;
            match patch.value {
                Value::Object(_) => Object::from_ascending(moved, Order::moved(patch.value)).into(),
                _ => Object::new(moved).into(),
            }
        }
    })
}

/// The cells moved by `directions`, in their order.
pub(super) fn shifted(cells: &[Cell], directions: Loc) -> EvalResult<Vec<Cell>> {
    let shift = |cell: &Cell| Cell::new(cell.colour, cell.loc.wrapping_add(directions));
    let moved: Vec<Cell> = cells.iter().map(shift).collect();
    require_range(moved.iter().map(|cell| cell.loc))?;
    Ok(moved)
}

/// Fails if a location is beyond the bound. Reads all of them, since that needs no branches.
fn require_range(locs: impl Iterator<Item = Loc>) -> EvalResult<()> {
    let largest = locs.fold(0, |most, loc| {
        most.max(loc.i.unsigned_abs()).max(loc.j.unsigned_abs())
    });
    if largest > MAX_INT as u32 {
        Err(Limit::Integer.into())
    } else {
        Ok(())
    }
}

/// Each item as converted by `to`.
pub(super) fn moved<T>(items: &[T], to: impl Fn(&T) -> EvalResult<T>) -> EvalResult<Vec<T>> {
    // Collecting results would not know the number of items.
    let mut moved = Vec::with_capacity(items.len());
    for item in items {
        moved.push(to(item)?);
    }
    Ok(moved)
}

pub(super) fn normalize(patch: Patch<'_>) -> EvalResult<Value> {
    match Bounds::of(patch.locs()) {
        Ok(bounds) => shift(patch, Loc::new(-bounds.top, -bounds.left)),
        Err(_) => Ok(patch.value.clone()),
    }
}

const BESIDE: [Loc; 4] = [
    Loc::new(-1, 0),
    Loc::new(0, -1),
    Loc::new(0, 1),
    Loc::new(1, 0),
];
const DIAGONAL: [Loc; 4] = [
    Loc::new(-1, -1),
    Loc::new(-1, 1),
    Loc::new(1, -1),
    Loc::new(1, 1),
];

fn around(loc: Loc, ways: &[[Loc; 4]]) -> EvalResult<Indices> {
    let locs = ways.iter().flatten().map(|way| sum(loc, *way));
    let locs = locs.collect::<EvalResult<_>>()?;
    Ok(Indices::built(locs, Built::Neighbours))
}

pub(super) fn toobject(patch: Patch<'_>, grid: &Grid) -> EvalResult<Object> {
    grid.require_row()?;
    let mut cells = Vec::with_capacity(patch.len());
    for loc in patch.locs() {
        cells.extend(
            grid.get(loc)
                .map(|colour| Cell::new(i32::from(colour), loc)),
        );
    }
    Ok(match patch.value {
        Value::Indices(_) | Value::Object(_) => {
            Object::built(cells, built_from(patch, How::Coloured))
        }
        _ => recoloured_tuple(cells, patch),
    })
}

pub(super) fn asobject(grid: &Grid) -> Object {
    let cells = grid.enumerate();
    let cells = cells.map(|(loc, colour)| Cell::new(i32::from(colour), loc));
    Object::built(cells.collect(), Built::Reading)
}

pub(super) fn connect(cx: &mut Context<'_>, a: Loc, b: Loc) -> EvalResult<Indices> {
    let (down, right) = (b.i - a.i, b.j - a.j);
    if down != 0 && right != 0 && down.abs() != right.abs() {
        return Ok(Indices::default());
    }
    let length = down.abs().max(right.abs());
    cx.reserve(length as u64 + 1)?;
    // From the smaller end on, so that the locations are in ascending order.
    let (start, end) = (a.min(b), a.max(b));
    let (down, right) = ((end.i - start.i).signum(), (end.j - start.j).signum());
    let line = (0..=length).map(|n| Loc::new(start.i + n * down, start.j + n * right));
    Ok(Indices::from_sorted(line.collect()))
}

pub(super) fn shoot(cx: &mut Context<'_>, start: Loc, direction: Loc) -> EvalResult<Indices> {
    let reach = |from: i32, step: i32| i64::from(from) + 42 * i64::from(step);
    let end = loc(reach(start.i, direction.i), reach(start.j, direction.j))?;
    connect(cx, start, end)
}

/// Rows and columns that a frontier spans on any grid: the largest side in ARC data.
const FRONTIER: i32 = 30;

pub(super) fn backdrop(cx: &mut Context<'_>, patch: Patch<'_>) -> EvalResult<Indices> {
    match Bounds::of(patch.locs()) {
        Ok(bounds) => filled(cx, bounds),
        Err(_) => Ok(Indices::default()),
    }
}

/// All locations of a box.
fn filled(cx: &mut Context<'_>, bounds: Bounds) -> EvalResult<Indices> {
    cx.reserve(bounds.height() as u64 * bounds.width() as u64)?;
    let rows = bounds.top..=bounds.bottom;
    let cells = rows.flat_map(|i| (bounds.left..=bounds.right).map(move |j| Loc::new(i, j)));
    Ok(Indices::from_sorted(cells.collect()))
}

pub(super) fn delta(cx: &mut Context<'_>, patch: Patch<'_>) -> EvalResult<Indices> {
    if let (true, PatchItems::Locs([_, ..])) = (patch.is_tuple(), patch.items) {
        // In the DSL, `delta` is a difference of sets; the cells of a tuple become a set first, locations in a tuple do
        // not.
        return Err(ErrorKind::Type {
            argument: 0,
            expected: Type::FrozenSet,
            found: patch.value.kind(),
        });
    }
    let (all, taken) = (backdrop(cx, patch)?, patch.indices());
    // In a large box, few locations may be free.
    cx.work(all.len() as u64)?;
    let free = among_sorted(all.as_slice(), taken.as_slice(), false);
    Ok(match patch.value {
        Value::Indices(_) | Value::Object(_) => Indices::built(free, built_from(patch, How::Delta)),
        _ => {
            let taken = Value::from(taken.into_owned());
            Indices::built(free, Built::Patch(taken, How::Delta))
        }
    })
}

/// The outline of the box grown by `by` on each side. A box that shrinks past its middle turns inside out: its edges
/// are exchanged.
fn outline(cx: &mut Context<'_>, bounds: Bounds, by: i32) -> PythonResult {
    let by = i64::from(by);
    let start = loc(i64::from(bounds.top) - by, i64::from(bounds.left) - by)?;
    let end = loc(i64::from(bounds.bottom) + by, i64::from(bounds.right) + by)?;
    let (top, bottom) = (start.i.min(end.i), start.i.max(end.i));
    let (left, right) = (start.j.min(end.j), start.j.max(end.j));
    cx.reserve(2 * (bottom - top + 1) as u64 + 2 * (right - left + 1) as u64)?;
    let mut locs = Vec::with_capacity(2 * (bottom - top + right - left + 2) as usize);
    for i in top..=bottom {
        let inside = i != top && i != bottom && left != right;
        let step = if inside { (right - left) as usize } else { 1 };
        locs.extend((left..=right).step_by(step).map(|j| Loc::new(i, j)));
    }
    Ok(Indices::built(locs, Built::Outline).into())
}

/// What Python returns for arguments that do not have the types of their rows.
pub(crate) mod untyped {
    use arc_isa::Primitive;

    use super::{BESIDE, Bounds, DIAGONAL, FRONTIER, around, filled, outline};
    use crate::budget::Context;
    use crate::patch::{Indices, Loc};
    use crate::primitives::extents::{LOWER_LEFT, LOWER_RIGHT, UPPER_LEFT, UPPER_RIGHT, corner};
    use crate::primitives::untyped::{
        CellOf, PythonResult, Refusal, cell, cell_of, elements, int, ints, is_coloured, is_empty,
        is_tuple, item, list, location, plain, plus, rows, set_minus, set_of, sides, to_indices,
        tuple_value, typed, unpack,
    };
    use crate::value::Value;

    pub(in crate::primitives) fn call(
        cx: &mut Context<'_>,
        primitive: Primitive,
        arguments: &[&Value],
    ) -> PythonResult {
        use Primitive as P;
        match (primitive, arguments) {
            (P::Asindices, &[grid]) => asindices(cx, grid),
            (P::Ofcolor, &[grid, value]) => {
                let rows = rows(grid)?;
                let cells = rows.iter().enumerate().flat_map(|(i, row)| {
                    let here = row.iter().enumerate().filter(|(_, cell)| *cell == value);
                    here.map(move |(j, _)| location(i, j))
                });
                set_of(cx, cells)
            }
            (P::Toindices, &[patch]) => to_indices(patch),
            (P::Recolor, &[value, patch]) => {
                let indices = list(&to_indices(patch)?)?;
                set_of(cx, indices.iter().map(|index| Value::pair(value, index)))
            }
            (P::Shift, &[patch, directions]) => shift(cx, patch, directions),
            (P::Normalize, &[patch]) => normalized(cx, patch),
            (P::Dneighbors, &[loc]) => Ok(around(ints(loc)?, &[BESIDE])?.into()),
            (P::Ineighbors, &[loc]) => Ok(around(ints(loc)?, &[DIAGONAL])?.into()),
            (P::Neighbors, &[loc]) => Ok(around(ints(loc)?, &[BESIDE, DIAGONAL])?.into()),
            (P::Toobject, &[patch, grid]) => toobject(cx, &to_indices(patch)?, grid, cell),
            (P::Asobject, &[grid]) => asobject(cx, grid, cell),
            (P::Corners, &[patch]) => {
                let corners = [UPPER_LEFT, UPPER_RIGHT, LOWER_LEFT, LOWER_RIGHT];
                let corners = corners.map(|wanted| corner(patch, wanted));
                let corners = corners.into_iter().collect::<PythonResult<Vec<_>>>()?;
                set_of(cx, corners)
            }
            (P::Connect, &[a, b]) => {
                let (a, b) = (unpacked(a)?, unpacked(b)?);
                typed(cx, primitive, &[&a, &b])
            }
            (P::Shoot, &[start, direction]) => {
                let start = unpacked(tuple_value(start)?)?;
                let direction = Value::Loc(ints(direction)?);
                typed(cx, primitive, &[&start, &direction])
            }
            (P::Vfrontier, &[loc]) => {
                let column = plain(&item(loc, 1)?);
                let rows = (0..FRONTIER).map(|i| Value::pair(&Value::Int(i), &column));
                set_of(cx, rows)
            }
            (P::Hfrontier, &[loc]) => {
                let row = plain(&item(loc, 0)?);
                let columns = (0..FRONTIER).map(|j| Value::pair(&row, &Value::Int(j)));
                set_of(cx, columns)
            }
            (P::Box, &[patch]) if is_empty(patch) => Ok(patch.clone()),
            (P::Box, &[patch]) => outline(cx, between_corners(patch)?, 0),
            (P::Inbox, &[patch]) => outline(cx, Bounds::of_patch(patch)?, -1),
            (P::Outbox, &[patch]) => outline(cx, Bounds::of_patch(patch)?, 1),
            (P::Backdrop, &[patch]) => backdrop(cx, patch),
            (P::Delta, &[patch]) => {
                let indices = to_indices(patch)?;
                if is_tuple(&indices) {
                    return Err(Refusal::Raises);
                }
                set_minus(&backdrop(cx, patch)?, &indices)
            }
            _ => typed(cx, primitive, arguments),
        }
    }

    /// The pair that the value unpacks into.
    fn unpacked(value: &Value) -> PythonResult {
        let (i, j) = unpack(value)?;
        Ok(Value::Loc(Loc::new(int(&i)?, int(&j)?)))
    }

    /// The box between the upper left and the lower right corner, each of them a pair of integers.
    fn between_corners(patch: &Value) -> PythonResult<Bounds> {
        let unpacked = |corner: PythonResult| {
            let (i, j) = unpack(&corner?)?;
            Ok::<_, Refusal>((int(&i)?, int(&j)?))
        };
        let (top, left) = unpacked(corner(patch, UPPER_LEFT))?;
        let (bottom, right) = unpacked(corner(patch, LOWER_RIGHT))?;
        Ok(Bounds {
            top,
            left,
            bottom,
            right,
        })
    }

    fn backdrop(cx: &mut Context<'_>, patch: &Value) -> PythonResult {
        // The lower right corner is that of the patch, the upper left one that of its locations.
        let (top, left) = unpack(&corner(&to_indices(patch)?, UPPER_LEFT)?)?;
        let (bottom, right) = unpack(&corner(patch, LOWER_RIGHT)?)?;
        let (top, bottom) = (int(&top)?, int(&bottom)?);
        if top > bottom {
            return Ok(Value::empty_set());
        }
        let (left, right) = (int(&left)?, int(&right)?);
        let bounds = Bounds {
            top,
            left,
            bottom,
            right,
        };
        Ok(filled(cx, bounds)?.into())
    }

    pub(in crate::primitives) fn shift(
        cx: &mut Context<'_>,
        patch: &Value,
        directions: &Value,
    ) -> PythonResult {
        if is_empty(patch) {
            return Ok(patch.clone());
        }
        let (down, right) = unpack(directions)?;
        moved(cx, patch, |cx, i, j| {
            Ok(Value::pair(&plus(cx, i, &down)?, &plus(cx, j, &right)?))
        })
    }

    /// The patch moved so that its bounding box starts at the origin.
    pub(in crate::primitives) fn normalized(cx: &mut Context<'_>, patch: &Value) -> PythonResult {
        if is_empty(patch) {
            return Ok(patch.clone());
        }
        let Loc { i, j } = Bounds::of_patch(patch)?.start();
        shift(cx, patch, &Value::Loc(Loc::new(-i, -j)))
    }

    /// The set of the elements with their locations changed.
    pub(in crate::primitives) fn moved(
        cx: &mut Context<'_>,
        patch: &Value,
        to: impl Fn(&mut Context<'_>, &Value, &Value) -> PythonResult,
    ) -> PythonResult {
        let container = elements(patch)?;
        let coloured = is_coloured(container)?;
        let mut all = Vec::new();
        for element in container.iter() {
            let (a, b) = unpack(&element)?;
            all.push(if coloured {
                let (i, j) = unpack(&b)?;
                Value::pair(&a, &to(cx, &i, &j)?)
            } else {
                to(cx, &a, &b)?
            });
        }
        set_of(cx, all)
    }

    fn asindices(cx: &mut Context<'_>, grid: &Value) -> PythonResult {
        if is_empty(grid) {
            return Ok(Value::empty_set());
        }
        let (height, width) = sides(grid)?;
        cx.reserve(height as u64 * width as u64)?;
        let row = |i| (0..width as i32).map(move |j| Loc::new(i, j));
        let all = (0..height as i32).flat_map(row);
        Ok(Indices::from_sorted(all.collect()).into())
    }

    /// The cells of a grid, of this dialect or another.
    pub(crate) fn asobject(cx: &mut Context<'_>, grid: &Value, cell: CellOf) -> PythonResult {
        let rows = rows(grid)?;
        let cells = (0..).zip(&rows).flat_map(|(i, row)| {
            let row = (0..).zip(row);
            row.map(move |(j, value)| cell(value, i, j))
        });
        set_of(cx, cells)
    }

    /// The cells of a grid at these locations.
    pub(crate) fn toobject(
        cx: &mut Context<'_>,
        indices: &Value,
        grid: &Value,
        cell: CellOf,
    ) -> PythonResult {
        let (height, width) = sides(grid)?;
        let mut cells = Vec::new();
        for index in list(indices)? {
            let (i, j) = unpack(&index)?;
            let i = int(&i)?;
            // A column of a row that there is not may be anything.
            if !(0..height as i32).contains(&i) {
                continue;
            }
            let j = int(&j)?;
            if (0..width as i32).contains(&j) {
                let value = cell_of(grid, i as usize, j as usize)?;
                cells.push(cell(&value, i, j));
            }
        }
        set_of(cx, cells)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Primitive;
    use crate::primitives::testing::{at, call, locs};

    #[test]
    fn lines_are_straight_or_diagonal() {
        let connect = |a: &Value, b: &Value| call(Primitive::Connect, &[a, b]).unwrap();
        assert_eq!(
            connect(&at(1, 1), &at(1, -1)),
            locs(&[(1, -1), (1, 0), (1, 1)])
        );
        assert_eq!(
            connect(&at(2, 0), &at(0, 2)),
            locs(&[(0, 2), (1, 1), (2, 0)])
        );
        assert_eq!(connect(&at(5, 5), &at(5, 5)), locs(&[(5, 5)]));
        assert_eq!(connect(&at(0, 0), &at(1, 2)), Value::empty_set());
    }

    #[test]
    fn a_line_too_long_is_refused() {
        let far = at(0, 500_000_000);
        assert_eq!(
            call(Primitive::Connect, &[&at(0, 0), &far]),
            Err(Limit::Elements.into())
        );
        assert_eq!(
            call(Primitive::Shoot, &[&at(0, 0), &far]),
            Err(Limit::Integer.into())
        );
        assert_eq!(
            call(Primitive::Neighbors, &[&at(MAX_INT, 0)]),
            Err(Limit::Integer.into())
        );
    }

    /// Python takes items of it.
    #[test]
    fn nothing_is_shot_from_a_set() {
        let set = Value::set([25, 36].map(Value::Int));
        assert!(call(Primitive::Shoot, &[&set, &at(0, 1)]).is_err());
    }

    #[test]
    fn boxes_turn_inside_out_past_their_middle() {
        let dot = locs(&[(4, 4)]);
        assert_eq!(call(Primitive::Box, &[&dot]), Ok(dot.clone()));
        let ring = call(Primitive::Outbox, &[&dot]).unwrap();
        assert_eq!(call(Primitive::Inbox, &[&dot]), Ok(ring.clone()));
        assert_eq!(ring.as_container().unwrap().len(), 8);
        assert_eq!(
            call(Primitive::Inbox, &[&Value::empty_set()]),
            Err(ErrorKind::Empty)
        );
        assert_eq!(
            call(Primitive::Box, &[&Value::empty_set()]),
            Ok(Value::empty_set())
        );
    }

    #[test]
    fn an_object_with_two_colours_on_a_location_covers_it_once() {
        let object: Value = Object::new(vec![
            Cell::new(1, Loc::new(0, 3)),
            Cell::new(2, Loc::new(0, 3)),
        ])
        .into();
        assert_eq!(call(Primitive::Toindices, &[&object]), Ok(locs(&[(0, 3)])));
        assert_eq!(
            call(Primitive::Recolor, &[&Value::Int(5), &object])
                .unwrap()
                .to_string(),
            "frozenset({(5, (0, 3))})",
        );
        let moved = call(Primitive::Normalize, &[&object]).unwrap();
        assert_eq!(moved.to_string(), "frozenset({(2, (0, 0)), (1, (0, 0))})");
    }

    #[test]
    fn the_rest_of_a_bounding_box_is_its_delta() {
        let patch = locs(&[(0, 0), (1, 2)]);
        assert_eq!(
            call(Primitive::Delta, &[&patch]),
            Ok(locs(&[(0, 1), (0, 2), (1, 0), (1, 1)]))
        );
        let tuple = Value::tuple(vec![Loc::new(0, 0).into()]);
        assert!(call(Primitive::Delta, &[&tuple]).is_err());
        let cells = Value::tuple(vec![Cell::new(1, Loc::new(0, 0)).into()]);
        assert_eq!(call(Primitive::Delta, &[&cells]), Ok(Value::empty_set()));
        assert_eq!(
            call(Primitive::Corners, &[&patch]),
            Ok(locs(&[(0, 0), (0, 2), (1, 0), (1, 2)]))
        );
    }

    #[test]
    fn tuples_of_locations_serve_as_patches() {
        let tuple = Value::tuple(vec![at(3, 1), at(0, 2), at(3, 1)]);
        assert_eq!(
            call(Primitive::Shift, &[&tuple, &at(1, 1)]),
            Ok(locs(&[(1, 3), (4, 2)]))
        );
        assert_eq!(call(Primitive::Toindices, &[&tuple]), Ok(tuple.clone()));
    }
}
