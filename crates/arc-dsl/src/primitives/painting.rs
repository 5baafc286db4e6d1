//! Grids with patches painted on them.

use std::borrow::Cow;

use super::colours::{background, colour};
use super::patches::{shift, shifted};
use crate::budget::Context;
use crate::error::{ErrorKind, EvalResult};
use crate::grid::Grid;
use crate::patch::{Cell, Loc};
use crate::types::{Patch, as_patch};
use crate::value::Value;
pub(super) use untyped::call as untyped;

pub(super) fn canvas(cx: &mut Context<'_>, value: i32, dimensions: Loc) -> EvalResult<Grid> {
    let (height, width) = (dimensions.i.max(0), dimensions.j.max(0));
    cx.reserve_grid(height as u64, width as u64)?;
    Ok(Grid::filled(
        height as usize,
        width as usize,
        colour(value)?,
    ))
}

pub(super) fn fill(grid: &Grid, value: i32, patch: Patch<'_>) -> EvalResult<Grid> {
    paint_where(grid, patch.locs().map(|loc| Cell::new(value, loc)), |_| {
        true
    })
}

pub(super) fn paint(grid: &Grid, obj: Patch<'_>) -> EvalResult<Grid> {
    paint_where(grid, in_order(grid, obj).iter().copied(), |_| true)
}

pub(super) fn underfill(grid: &Grid, value: i32, patch: Patch<'_>) -> EvalResult<Grid> {
    let background = background(grid)?;
    paint_where(
        grid,
        patch.locs().map(|loc| Cell::new(value, loc)),
        |below| below == background,
    )
}

pub(super) fn underpaint(grid: &Grid, obj: Patch<'_>) -> EvalResult<Grid> {
    let background = background(grid)?;
    let cells = in_order(grid, obj);
    paint_where(grid, cells.iter().copied(), |below| below == background)
}

/// The cells of an object in an order that paints as that of iteration does, which is only found if it decides.
fn in_order<'a>(grid: &Grid, obj: Patch<'a>) -> Cow<'a, [Cell]> {
    let cells = obj.cells();
    match obj.value {
        Value::Object(object) if overlaps(grid, cells) => {
            object.iter().copied().collect::<Vec<_>>().into()
        }
        _ => cells.into(),
    }
}

/// Whether cells have two colours at one location of the grid.
fn overlaps(grid: &Grid, cells: &[Cell]) -> bool {
    // Those of a tuple are in any order.
    if cells.iter().all(|cell| cell.colour == cells[0].colour) {
        return false;
    }
    let mut seen = vec![false; grid.cells().len()];
    let mut places = cells.iter().filter_map(|cell| grid.offset(cell.loc));
    places.any(|at| std::mem::replace(&mut seen[at], true))
}

/// The grid with the cells painted one after the other, each if `condition` holds for the colour before; cells off the
/// grid are ignored.
fn paint_where(
    grid: &Grid,
    cells: impl Iterator<Item = Cell>,
    condition: impl Fn(i8) -> bool,
) -> EvalResult<Grid> {
    grid.require_row()?;
    let mut painted = grid.clone();
    for cell in cells {
        if let Some(at) = grid.offset(cell.loc)
            && condition(painted.cells()[at])
        {
            painted.cells_mut()[at] = colour(cell.colour)?;
        }
    }
    Ok(painted)
}

pub(super) fn cover(grid: &Grid, patch: Patch<'_>) -> EvalResult<Grid> {
    fill(grid, i32::from(background(grid)?), patch)
}

pub(super) fn r#move(grid: &Grid, obj: Patch<'_>, offset: Loc) -> EvalResult<Grid> {
    let background = i32::from(background(grid)?);
    let below = obj.locs().map(|loc| Cell::new(background, loc));
    let covered = paint_where(grid, below, |_| true)?;
    let there = shifted(obj.cells(), offset)?;
    if !overlaps(grid, &there) {
        return paint_where(&covered, there.into_iter(), |_| true);
    }
    let there = shift(obj, offset)?;
    let there = as_patch(&there).ok_or(ErrorKind::Empty)?;
    paint(&covered, there.borrow())
}

/// What Python returns when it paints values that are not colours, or on grids that hold such values.
pub(super) mod untyped {
    use arc_isa::Primitive;

    use crate::budget::Context;
    use crate::primitives::colours::untyped::background;
    use crate::primitives::patches::untyped::shift;
    use crate::primitives::untyped::{
        PythonResult, Refusal, grid_of, int, ints, item, list, rows, sides, to_indices, typed,
        unpack,
    };
    use crate::value::Value;

    pub(in crate::primitives) fn call(
        cx: &mut Context<'_>,
        primitive: Primitive,
        arguments: &[&Value],
    ) -> PythonResult {
        use Primitive as P;
        match (primitive, arguments) {
            (P::Canvas, &[value, dimensions]) => canvas(cx, value, dimensions),
            (P::Fill, &[grid, value, patch]) => {
                let cells = filled(value, patch)?;
                painted(cx, grid, &cells, None)
            }
            (P::Underfill, &[grid, value, patch]) => {
                let cells = filled(value, patch)?;
                let below = background(grid)?;
                painted(cx, grid, &cells, Some(&below))
            }
            (P::Paint, &[grid, object]) => painted(cx, grid, &list(object)?, None),
            (P::Underpaint, &[grid, object]) => {
                let cells = list(object)?;
                let below = background(grid)?;
                painted(cx, grid, &cells, Some(&below))
            }
            (P::Cover, &[grid, patch]) => cover(cx, grid, patch),
            (P::Move, &[grid, object, offset]) => {
                let covered = cover(cx, grid, object)?;
                let there = shift(cx, object, offset)?;
                painted(cx, &covered, &list(&there)?, None)
            }
            _ => Err(Refusal::Raises),
        }
    }

    fn canvas(cx: &mut Context<'_>, value: &Value, dimensions: &Value) -> PythonResult {
        let height = int(&item(dimensions, 0)?)?;
        if height <= 0 {
            return Ok(Value::tuple(Vec::new()));
        }
        let size = Value::Loc(ints(dimensions)?);
        if value.as_int().is_some() {
            return typed(cx, Primitive::Canvas, &[value, &size]);
        }
        let width = ints(dimensions)?.j.max(0);
        let cells = u64::from(height.unsigned_abs()) * u64::from(width.unsigned_abs());
        cx.reserve_grid(
            u64::from(height.unsigned_abs()),
            u64::from(width.unsigned_abs()),
        )?;
        cx.reserve(cells.saturating_mul(u64::from(value.own_weight())))?;
        let row = vec![value.clone(); width as usize];
        grid_of(cx, vec![row; height as usize])
    }

    /// The cells of a patch's locations in one colour.
    fn filled(value: &Value, patch: &Value) -> PythonResult<Vec<Value>> {
        let indices = list(&to_indices(patch)?)?;
        Ok(indices
            .iter()
            .map(|index| Value::pair(value, index))
            .collect())
    }

    /// The rows of the grid with the cells painted; if `below` is given, only on cells that equal it.
    fn painted(
        cx: &mut Context<'_>,
        grid: &Value,
        on: &[Value],
        below: Option<&Value>,
    ) -> PythonResult {
        let (height, width) = sides(grid)?;
        // Elements that are not cells are refused before anything is painted.
        let mut cells = Vec::with_capacity(on.len());
        for cell in on {
            let (value, loc) = unpack(cell)?;
            let (i, j) = unpack(&loc)?;
            let i = int(&i)?;
            // A column of a row that there is not may be anything.
            if (0..height as i32).contains(&i) {
                cells.push((value, i, int(&j)?));
            }
        }
        let mut all = rows(grid)?;
        for (value, i, j) in cells {
            if (0..width as i32).contains(&j) {
                let place = all[i as usize].get_mut(j as usize);
                let place = place.ok_or(Refusal::Raises)?;
                if below.is_none_or(|below| place == below) {
                    *place = value;
                }
            }
        }
        grid_of(cx, all)
    }

    fn cover(cx: &mut Context<'_>, grid: &Value, patch: &Value) -> PythonResult {
        let below = background(grid)?;
        let cells = filled(&below, &to_indices(patch)?)?;
        painted(cx, grid, &cells, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Limit;
    use crate::primitives::testing::{call, locs};
    use crate::value::Value;
    use crate::{Object, Primitive};

    fn grid(rows: &[&[i32]]) -> Value {
        Grid::from_rows(rows).unwrap().into()
    }

    #[test]
    fn what_is_moved_is_a_set_in_whose_order_it_is_painted() {
        let cells =
            [(5, 0), (6, 0), (5, 1)].map(|(c, j)| Value::Cell(Cell::new(c, Loc::new(0, j))));
        let moved = [
            &grid(&[&[0, 0, 0]]),
            &Value::tuple(cells.to_vec()),
            &Value::Loc(Loc::new(0, 1)),
        ];
        assert_eq!(call(Primitive::Move, &moved), Ok(grid(&[&[0, 5, 5]])));
    }

    #[test]
    fn what_lies_off_the_grid_is_left_out() {
        let start = grid(&[&[0, 0, 1]]);
        let patch = locs(&[(0, -1), (0, 1), (1, 0), (0, 3)]);
        assert_eq!(
            call(Primitive::Fill, &[&start, &Value::Int(4), &patch]),
            Ok(grid(&[&[0, 4, 1]]))
        );
        // A colour that no cell can hold is not an error if nothing is painted.
        let far = Value::Int(999);
        assert_eq!(
            call(Primitive::Fill, &[&start, &far, &locs(&[(9, 9)])]),
            Ok(start.clone())
        );
        assert_eq!(
            call(Primitive::Fill, &[&start, &far, &patch]),
            Err(Limit::Colour.into())
        );
    }

    #[test]
    fn of_two_colours_the_last_stays_but_under_paint_the_first() {
        let start = grid(&[&[0, 0, 0]]);
        let object: Value = Object::new(vec![
            Cell::new(3, Loc::new(0, 1)),
            Cell::new(7, Loc::new(0, 1)),
        ])
        .into();
        assert_eq!(
            call(Primitive::Paint, &[&start, &object]),
            Ok(grid(&[&[0, 7, 0]]))
        );
        assert_eq!(
            call(Primitive::Underpaint, &[&start, &object]),
            Ok(grid(&[&[0, 3, 0]]))
        );
    }

    #[test]
    fn moving_covers_with_the_background() {
        let start = grid(&[&[5, 0, 0], &[5, 0, 0]]);
        let object: Value = Object::new(vec![Cell::new(5, Loc::new(0, 0))]).into();
        let right = Value::Loc(Loc::new(0, 2));
        assert_eq!(
            call(Primitive::Move, &[&start, &object, &right]),
            Ok(grid(&[&[0, 0, 5], &[5, 0, 0]]))
        );
        let fill = call(
            Primitive::Underfill,
            &[&start, &Value::Int(1), &locs(&[(0, 0), (0, 1)])],
        );
        assert_eq!(fill, Ok(grid(&[&[5, 1, 0], &[5, 0, 0]])));
    }

    #[test]
    fn canvases_may_be_empty_but_not_huge() {
        let canvas = |i, j| {
            call(
                Primitive::Canvas,
                &[&Value::Int(0), &Value::Loc(Loc::new(i, j))],
            )
        };
        assert_eq!(canvas(2, -1).unwrap().to_string(), "((), ())");
        assert_eq!(canvas(-1, 2).unwrap().to_string(), "()");
        assert_eq!(canvas(1_000_000, 1_000_000), Err(Limit::Cells.into()));
        assert_eq!(canvas(1_000_000_000, 0), Err(Limit::Cells.into()));
    }
}
