//! Colours of grids and objects.

use arc_isa::ContainerKind;

use super::containers::keep_elements;
use crate::budget::Context;
use crate::error::{ErrorKind, Kind, Limit};
use crate::grid::Grid;
use crate::patch::Loc;
use crate::types::{Patch, PatchItems, Piece};
use crate::value::Value;
use crate::value::container::{Container, Items, in_reverse};

/// The colour, where a cell of a grid can hold it.
pub(super) fn colour(value: i32) -> Result<i8, ErrorKind> {
    i8::try_from(value).map_err(|_| Limit::Colour.into())
}

/// How many cells of a grid have each colour.
struct Histogram {
    counts: [u32; 256],
    /// The smallest and the largest colour; the other way round where there is none.
    range: (i8, i8),
}

impl Histogram {
    fn of(grid: &Grid) -> Self {
        let range = grid
            .cells()
            .iter()
            .fold((i8::MAX, i8::MIN), |(low, high), &colour| {
                (low.min(colour), high.max(colour))
            });
        let mut counts = [0; 256];
        for &colour in grid.cells() {
            counts[usize::from(colour as u8)] += 1;
        }
        Self { counts, range }
    }

    /// The colours that occur, ascending, each with its number of cells.
    fn iter(&self) -> impl Iterator<Item = (i8, u32)> {
        (self.range.0..=self.range.1)
            .map(|colour| (colour, self.counts[usize::from(colour as u8)]))
            .filter(|&(_, count)| count > 0)
    }
}

/// The most common colour, of several the smallest.
pub(super) fn background(grid: &Grid) -> Result<i8, ErrorKind> {
    let mut most = None;
    for (colour, count) in Histogram::of(grid).iter() {
        if most.is_none_or(|(_, largest)| count > largest || count == largest && in_reverse()) {
            most = Some((colour, count));
        }
    }
    most.map(|(colour, _)| colour).ok_or(ErrorKind::Empty)
}

/// The colours of a patch, one a cell. Python takes the first component of whatever it finds, so
/// that the rows are the colours of bare locations.
fn patch_colours(patch: Patch<'_>) -> Vec<i32> {
    match patch.items {
        PatchItems::Cells(cells) => cells.iter().map(|cell| cell.colour).collect(),
        PatchItems::Locs(locs) => locs.iter().map(|loc| loc.i).collect(),
    }
}

/// The colours that occur, ascending, each with its number of cells.
fn counts(element: Piece<'_>) -> Vec<(i32, u32)> {
    match element {
        Piece::Grid(grid) => Histogram::of(grid)
            .iter()
            .map(|(colour, count)| (i32::from(colour), count))
            .collect(),
        Piece::Patch(patch) => {
            let mut colours = patch_colours(patch);
            colours.sort_unstable();
            colours
                .chunk_by(|a, b| a == b)
                .map(|run| (run[0], run.len() as u32))
                .collect()
        }
    }
}

pub(super) fn mostcolor(element: Piece<'_>) -> Result<i32, ErrorKind> {
    if let Piece::Grid(grid) = element {
        return background(grid).map(i32::from);
    }
    let counts = counts(element).into_iter();
    // Of equally many `max_by_key` gives the last: go backwards to get the smallest colour.
    let most = if in_reverse() {
        counts.max_by_key(|&(_, count)| count)
    } else {
        counts.rev().max_by_key(|&(_, count)| count)
    };
    most.map(|(colour, _)| colour).ok_or(ErrorKind::Empty)
}

pub(super) fn leastcolor(element: Piece<'_>) -> Result<i32, ErrorKind> {
    let counts = counts(element).into_iter();
    let least = if in_reverse() {
        counts.rev().min_by_key(|&(_, count)| count)
    } else {
        counts.min_by_key(|&(_, count)| count)
    };
    least.map(|(colour, _)| colour).ok_or(ErrorKind::Empty)
}

pub(super) fn colorcount(element: Piece<'_>, value: i32) -> i32 {
    match element {
        Piece::Grid(grid) => grid
            .cells()
            .iter()
            .filter(|&&c| i32::from(c) == value)
            .count() as i32,
        Piece::Patch(patch) => patch_colours(patch)
            .into_iter()
            .filter(|&c| c == value)
            .count() as i32,
    }
}

pub(super) fn colorfilter(
    cx: &mut Context<'_>,
    objs: Container<'_>,
    value: i32,
) -> Result<Value, ErrorKind> {
    let value = Value::Int(value);
    keep_elements(cx, objs, |object| Ok(first_component(object)? == value))
}

/// The colour of an object's first cell.
fn first_component(object: Container<'_>) -> Result<Value, ErrorKind> {
    if let Items::Cells([cell, ..]) = object.items
        && !object.is_reversed()
    {
        return Ok(Value::Int(cell.colour));
    }
    let cell = object.get(0).ok_or(ErrorKind::Empty)?;
    let found = cell.kind();
    let component = cell
        .as_container()
        .filter(|cell| cell.kind == ContainerKind::Tuple)
        .and_then(|cell| cell.get(0).map(std::borrow::Cow::into_owned));
    component.ok_or(ErrorKind::Element {
        expected: Kind::Cell,
        found,
    })
}

pub(super) fn palette(element: Piece<'_>) -> Value {
    Value::set(
        counts(element)
            .into_iter()
            .map(|(colour, _)| Value::Int(colour)),
    )
}

pub(super) fn numcolors(element: Piece<'_>) -> i32 {
    counts(element).len() as i32
}

pub(super) fn color(obj: Container<'_>) -> Result<Value, ErrorKind> {
    first_component(obj)
}

pub(super) fn replace(grid: &Grid, replacee: i32, replacer: i32) -> Result<Grid, ErrorKind> {
    recoloured(grid, [(replacee, replacer)])
}

pub(super) fn switch(grid: &Grid, a: i32, b: i32) -> Result<Grid, ErrorKind> {
    recoloured(grid, [(b, a), (a, b)])
}

/// The grid with the first of each two colours replaced by the second; the first two that fit count.
/// What the grid lacks may be any number, and so may what would take its place.
fn recoloured<const N: usize>(grid: &Grid, colours: [(i32, i32); N]) -> Result<Grid, ErrorKind> {
    let mut pairs = [(0, 0); N];
    for (pair, (from, into)) in pairs.iter_mut().zip(colours) {
        match (i8::try_from(from), i8::try_from(into)) {
            (Ok(from), Ok(into)) => *pair = (from, into),
            (Ok(from), Err(_)) if grid.cells().contains(&from) => return Err(Limit::Colour.into()),
            _ => {}
        }
    }
    let to = |c: i8| {
        let pairs = pairs.iter().rev();
        pairs.fold(c, |to, &(from, into)| if c == from { into } else { to })
    };
    let cells = grid.cells().iter().map(|&c| to(c)).collect();
    Ok(Grid::from_cells(grid.height(), grid.width(), cells))
}

pub(super) fn cellwise(a: &Grid, b: &Grid, fallback: i32) -> Result<Grid, ErrorKind> {
    a.require_row()?;
    let cells = a.enumerate().map(|(loc, cell)| match b.get(loc) {
        Some(same) if same == cell => Ok(cell),
        Some(_) => colour(fallback),
        None => Err(ErrorKind::OutOfRange),
    });
    Ok(Grid::from_cells(
        a.height(),
        a.width(),
        cells.collect::<Result<_, _>>()?,
    ))
}

pub(super) fn index(grid: &Grid, loc: Loc) -> Result<Value, ErrorKind> {
    grid.require_row()?;
    Ok(grid
        .get(loc)
        .map_or(Value::Nothing, |colour| Value::Int(i32::from(colour))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patch::{Cell, Object};
    use crate::primitives::testing::call;
    use crate::{Interpreter, Primitive};

    fn grid(rows: &[&[i32]]) -> Grid {
        Grid::from_rows(rows).unwrap()
    }

    #[test]
    fn only_a_tuple_has_a_first_component() {
        let cell = Value::from(Cell::new(3, Loc::new(1, 2)));
        let object = Value::set([cell]);
        assert_eq!(call(Primitive::Color, &[&object]), Ok(Value::Int(3)));
        let objects = Value::set([object]);
        assert!(call(Primitive::Color, &[&objects]).is_err());
    }

    #[test]
    fn ties_go_to_the_smallest_colour() {
        let tied = grid(&[&[5, 3, -1], &[3, 5, -1]]);
        assert_eq!(mostcolor(Piece::Grid(&tied)), Ok(-1));
        assert_eq!(leastcolor(Piece::Grid(&tied)), Ok(-1));
        assert_eq!(
            mostcolor(Piece::Grid(&Grid::default())),
            Err(ErrorKind::Empty)
        );
        assert_eq!(numcolors(Piece::Grid(&tied)), 3);
        assert_eq!(colorcount(Piece::Grid(&tied), 5), 2);
    }

    #[test]
    fn objects_have_the_colours_of_their_cells() {
        let object: Value = [(7, 0), (2, 1), (7, 2)]
            .map(|(colour, j)| Cell::new(colour, Loc::new(0, j)))
            .into_iter()
            .collect::<Object>()
            .into();
        let call = |primitive: Primitive| {
            Interpreter::default()
                .call(Value::primitive(primitive), &[&object])
                .unwrap()
                .to_string()
        };
        assert_eq!(call(Primitive::Mostcolor), "7");
        assert_eq!(call(Primitive::Leastcolor), "2");
        assert_eq!(call(Primitive::Palette), "frozenset({2, 7})");
        assert_eq!(call(Primitive::Color), "2");
    }

    #[test]
    fn colours_are_exchanged_and_replaced() {
        let start = grid(&[&[1, 2, 3]]);
        assert_eq!(switch(&start, 1, 2), Ok(grid(&[&[2, 1, 3]])));
        assert_eq!(replace(&start, 3, 0), Ok(grid(&[&[1, 2, 0]])));
        assert_eq!(replace(&start, 3, 400), Err(Limit::Colour.into()));
    }

    #[test]
    fn cellwise_needs_the_second_grid_to_reach_as_far() {
        let (a, b) = (grid(&[&[1, 2], &[3, 4]]), grid(&[&[1, 0, 9], &[3, 4, 9]]));
        assert_eq!(cellwise(&a, &b, 7), Ok(grid(&[&[1, 7], &[3, 4]])));
        assert_eq!(cellwise(&b, &a, 7), Err(ErrorKind::OutOfRange));
    }

    #[test]
    fn off_the_grid_there_is_nothing() {
        let start = grid(&[&[1, 2]]);
        assert_eq!(index(&start, Loc::new(0, 1)), Ok(Value::Int(2)));
        assert_eq!(index(&start, Loc::new(0, -1)), Ok(Value::Nothing));
        assert_eq!(
            index(&Grid::default(), Loc::new(0, 0)),
            Err(ErrorKind::Empty)
        );
    }

    #[test]
    fn a_colour_that_no_cell_gets_may_be_any_number() {
        let grid = Value::from(Grid::from_rows(&[[1, 2, 0]]).unwrap());
        let [one, seven, far] = [1, 7, 1000].map(Value::Int);
        let unchanged = Ok(grid.clone());
        assert_eq!(call(Primitive::Replace, &[&grid, &seven, &far]), unchanged);
        assert_eq!(call(Primitive::Switch, &[&grid, &far, &seven]), unchanged);
        assert_eq!(call(Primitive::Cellwise, &[&grid, &grid, &far]), unchanged);
        let past = Err(Limit::Colour.into());
        assert_eq!(call(Primitive::Replace, &[&grid, &one, &far]), past);
        assert_eq!(call(Primitive::Switch, &[&grid, &far, &one]), past);
    }
}
