//! Grids with patches painted on them.

use super::colours::{background, colour};
use super::patches::shifted;
use crate::budget::Context;
use crate::error::ErrorKind;
use crate::grid::Grid;
use crate::patch::{Cell, Loc, Object};
use crate::types::Patch;
use crate::value::container::in_reverse;

pub(super) fn canvas(cx: &mut Context<'_>, value: i32, dimensions: Loc) -> Result<Grid, ErrorKind> {
    let (height, width) = (dimensions.i.max(0), dimensions.j.max(0));
    cx.reserve_grid(height as u64, width as u64)?;
    Ok(Grid::filled(
        height as usize,
        width as usize,
        colour(value)?,
    ))
}

pub(super) fn fill(grid: &Grid, value: i32, patch: Patch<'_>) -> Result<Grid, ErrorKind> {
    paint_where(grid, patch.locs().map(|loc| Cell::new(value, loc)), |_| {
        true
    })
}

pub(super) fn paint(grid: &Grid, obj: &[Cell]) -> Result<Grid, ErrorKind> {
    paint_where(grid, in_order(obj), |_| true)
}

pub(super) fn underfill(grid: &Grid, value: i32, patch: Patch<'_>) -> Result<Grid, ErrorKind> {
    let background = background(grid)?;
    paint_where(
        grid,
        patch.locs().map(|loc| Cell::new(value, loc)),
        |below| below == background,
    )
}

pub(super) fn underpaint(grid: &Grid, obj: &[Cell]) -> Result<Grid, ErrorKind> {
    let background = background(grid)?;
    paint_where(grid, in_order(obj), |below| below == background)
}

/// The cells of an object, as it is gone through. What is ascending is taken for a set.
fn in_order(obj: &[Cell]) -> impl Iterator<Item = Cell> {
    let last = obj.len().wrapping_sub(1);
    let is_reversed = in_reverse() && obj.is_sorted_by(|a, b| a < b);
    let at = move |at| if is_reversed { last - at } else { at };
    (0..obj.len()).map(move |place| obj[at(place)])
}

/// The grid with the cells painted one after the other, each where `condition` holds for the colour
/// that is there; cells off the grid are left out.
fn paint_where(
    grid: &Grid,
    cells: impl Iterator<Item = Cell>,
    condition: impl Fn(i8) -> bool,
) -> Result<Grid, ErrorKind> {
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

pub(super) fn cover(grid: &Grid, patch: Patch<'_>) -> Result<Grid, ErrorKind> {
    fill(grid, i32::from(background(grid)?), patch)
}

pub(super) fn r#move(grid: &Grid, obj: &[Cell], offset: Loc) -> Result<Grid, ErrorKind> {
    let background = i32::from(background(grid)?);
    let below = obj.iter().map(|cell| Cell {
        colour: background,
        ..*cell
    });
    let covered = paint_where(grid, below, |_| true)?;
    paint(&covered, Object::new(shifted(obj, offset)?).as_slice())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Primitive;
    use crate::error::Limit;
    use crate::primitives::testing::{call, locs};
    use crate::value::Value;

    fn grid(rows: &[&[i32]]) -> Value {
        Grid::from_rows(rows).unwrap().into()
    }

    #[test]
    fn what_lies_off_the_grid_is_left_out() {
        let start = grid(&[&[0, 0, 1]]);
        let patch = locs(&[(0, -1), (0, 1), (1, 0), (0, 3)]);
        assert_eq!(
            call(Primitive::Fill, &[&start, &Value::Int(4), &patch]),
            Ok(grid(&[&[0, 4, 1]]))
        );
        // A colour that no cell can hold is no matter where nothing is painted.
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
