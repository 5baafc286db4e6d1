//! Colours of grids and objects.

use std::cmp::Ordering;
use std::collections::HashSet;
pub(super) use untyped::call as untyped;

use arc_isa::ContainerKind;

use crate::error::{ErrorKind, EvalResult, Limit, ValueKind};
use crate::grid::Grid;
use crate::types::{Patch, PatchItems, Piece};
use crate::value::Value;
use crate::value::container::{Container, Items};
use crate::value::set_table::{self, Table};

/// The colour, if a cell of a grid can hold it.
pub(super) fn colour(value: i32) -> EvalResult<i8> {
    i8::try_from(value).map_err(|_| Limit::Colour.into())
}

/// How many cells of a grid have each colour.
struct Histogram {
    counts: [u32; 256],
    /// The smallest and the largest colour; the other way round if there are no cells.
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

/// The most common colour; of several, the one that is first in the set of all of them.
pub(super) fn background(grid: &Grid) -> EvalResult<i8> {
    commonest(Piece::Grid(grid), Ordering::Greater).map(|colour| colour as i8)
}

/// The colours of a grid in the order in which they are met, row by row.
fn first_seen(grid: &Grid, histogram: &Histogram) -> Vec<i32> {
    let distinct = histogram.iter().count();
    let (mut seen, mut met) = ([false; 256], Vec::with_capacity(distinct));
    for &colour in grid.cells() {
        if !std::mem::replace(&mut seen[usize::from(colour as u8)], true) {
            met.push(i32::from(colour));
            if met.len() == distinct {
                break;
            }
        }
    }
    met
}

/// The colours of a grid in the order of its palette, or of the palette without one colour.
pub(super) fn colours_in_order(grid: &Grid, without: Option<i32>) -> Vec<i32> {
    let colours = first_seen(grid, &Histogram::of(grid));
    let hashes: Vec<u64> = colours
        .iter()
        .map(|colour| set_table::integer(*colour))
        .collect();
    let mut table = Table::of(0..colours.len() as u32, &hashes).copied(&hashes);
    if let Some(without) = without {
        table = table.minus(1, |at| colours[at as usize] == without, &hashes);
    }
    table.iter().map(|at| colours[at as usize]).collect()
}

/// Different numbers in the order in which Python iterates over the set to which they were added in this order.
#[must_use]
pub fn iteration_order_of(colours: &[i32]) -> Vec<i32> {
    let hashes: Vec<u64> = colours
        .iter()
        .map(|colour| set_table::integer(*colour))
        .collect();
    let table = Table::of(0..colours.len() as u32, &hashes);
    table.iter().map(|at| colours[at as usize]).collect()
}

/// The colours of a patch, one for each cell. Python takes the first component of every element, so the colours of bare
/// locations are their rows.
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

pub(super) fn mostcolor(element: Piece<'_>) -> EvalResult<i32> {
    commonest(element, Ordering::Greater)
}

pub(super) fn leastcolor(element: Piece<'_>) -> EvalResult<i32> {
    commonest(element, Ordering::Less)
}

/// The colour of the most or the fewest cells; of several, the one that is first in the set of all of them.
fn commonest(element: Piece<'_>, wanted: Ordering) -> EvalResult<i32> {
    let counts = counts(element);
    let most = counts
        .iter()
        .map(|(_, count)| *count)
        .reduce(|best, count| {
            if count.cmp(&best) == wanted {
                count
            } else {
                best
            }
        });
    let most = most.ok_or(ErrorKind::Empty)?;
    let mut all = counts.iter().filter(|(_, count)| *count == most);
    let (colour, _) = *all.next().ok_or(ErrorKind::Empty)?;
    if all.next().is_none() {
        return Ok(colour);
    }
    let mut in_order = iteration_order_of(&seen(element)).into_iter();
    let as_often = |colour: &i32| counts.binary_search(&(*colour, most)).is_ok();
    Ok(in_order.find(as_often).unwrap_or(colour))
}

/// The colours in the order in which Python meets them, each once; in ascending order, if the set of them is in the same
/// order whichever is added first.
fn seen(element: Piece<'_>) -> Vec<i32> {
    match element {
        Piece::Grid(grid) => first_seen(grid, &Histogram::of(grid)),
        Piece::Patch(patch) => {
            let colours: Vec<i32> = counts(element).iter().map(|(colour, _)| *colour).collect();
            let hashes: Vec<u64> = colours.iter().map(|it| set_table::integer(*it)).collect();
            if set_table::are_apart(&set_table::runs(&hashes, false)) {
                return colours;
            }
            let mut met = Vec::new();
            let mut seen = HashSet::new();
            let elements = patch.value.as_container();
            for element in elements.into_iter().flat_map(Container::iter) {
                let colour = match &*element {
                    Value::Cell(cell) => cell.colour,
                    Value::Loc(loc) => loc.i,
                    other => other
                        .as_tuple()
                        .and_then(|it| it.value(0)?.as_int())
                        .unwrap_or(0),
                };
                if seen.insert(colour) {
                    met.push(colour);
                }
            }
            met
        }
    }
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

/// The colour of an object's first cell.
fn first_component(object: Container<'_>) -> EvalResult<Value> {
    // Ascending cells ascend by colour, so the first and the last show whether there is one colour.
    if let Items::Cells([cell, .., last] | [cell @ last]) = object.items
        && cell.colour == last.colour
        && object.kind == ContainerKind::Set
    {
        return Ok(Value::Int(cell.colour));
    }
    let cell = object.get(0).ok_or(ErrorKind::Empty)?;
    let found = cell.kind();
    let component = cell
        .as_tuple()
        .and_then(|cell| cell.get(0).map(std::borrow::Cow::into_owned));
    component.ok_or(ErrorKind::Element {
        expected: ValueKind::Cell,
        found,
    })
}

pub(super) fn palette(element: Piece<'_>) -> Value {
    Value::frozenset(seen(element).into_iter().map(Value::Int))
}

pub(super) fn numcolors(element: Piece<'_>) -> i32 {
    counts(element).len() as i32
}

pub(super) fn color(obj: Container<'_>) -> EvalResult<Value> {
    first_component(obj)
}

pub(super) fn replace(grid: &Grid, replacee: i32, replacer: i32) -> EvalResult<Grid> {
    recoloured(grid, [(replacee, replacer)])
}

pub(super) fn switch(grid: &Grid, a: i32, b: i32) -> EvalResult<Grid> {
    recoloured(grid, [(b, a), (a, b)])
}

/// The grid with the first colour of each pair replaced by the second; the first pair that matches counts. A colour
/// that the grid lacks may be any number, and so may its replacement.
fn recoloured<const N: usize>(grid: &Grid, colours: [(i32, i32); N]) -> EvalResult<Grid> {
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

pub(super) fn cellwise(a: &Grid, b: &Grid, fallback: i32) -> EvalResult<Grid> {
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

/// What Python returns for grids whose cells are not colours, and for arguments that are not colours.
pub(super) mod untyped {

    use arc_isa::Primitive;

    use super::{Container, first_component};
    use crate::budget::Context;
    use crate::primitives::containers::keep_elements;
    use crate::primitives::untyped::{
        PythonResult, Refusal, cell_of, cells, copied_set_of, elements, grid_of, int, is_tuple,
        length, list, rows, sides, tuple, tuple_rows_of_tuples, unpack,
    };
    use crate::value::Value;

    fn commonest(values: &[Value], most: bool) -> PythonResult {
        Value::commonest(values, most).ok_or(Refusal::Raises)
    }

    pub(in crate::primitives) fn call(
        cx: &mut Context<'_>,
        primitive: Primitive,
        arguments: &[&Value],
    ) -> PythonResult {
        use Primitive as P;
        match (primitive, arguments) {
            (P::Mostcolor, &[element]) => commonest(&colours(element)?, true),
            (P::Leastcolor, &[element]) => commonest(&colours(element)?, false),
            (P::Palette, &[element]) => copied_set_of(cx, colours(element)?),
            (P::Numcolors, &[element]) => {
                Ok(Value::Int(length(&Value::set(colours(element)?))? as i32))
            }
            (P::Colorcount, &[element, value]) => colorcount(element, value),
            (P::Colorfilter, &[objects, value]) => {
                let has_value = |object: Container<'_>| Ok(first_component(object)? == *value);
                Ok(keep_elements(cx, elements(objects)?, has_value)?)
            }
            (P::Replace, &[grid, replacee, replacer]) => {
                recoloured(cx, grid, &[(replacee, replacer)])
            }
            (P::Switch, &[grid, a, b]) => recoloured(cx, grid, &[(b, a), (a, b)]),
            (P::Cellwise, &[a, b, fallback]) => cellwise(cx, a, b, fallback),
            (P::Index, &[grid, loc]) => index(grid, loc),
            _ => Err(Refusal::Raises),
        }
    }

    /// The cells of the rows of a tuple, or the first components of the pairs of a set.
    pub(in crate::primitives) fn colours(element: &Value) -> PythonResult<Vec<Value>> {
        if is_tuple(element) {
            return Ok(rows(element)?.into_iter().flatten().collect());
        }
        let pairs = list(element)?;
        pairs.iter().map(|pair| Ok(unpack(pair)?.0)).collect()
    }

    pub(in crate::primitives) fn background(grid: &Value) -> PythonResult {
        if let Value::Grid(grid) = grid
            && let Ok(colour) = super::background(grid)
        {
            return Ok(Value::Int(colour.into()));
        }
        commonest(&colours(grid)?, true)
    }

    fn colorcount(element: &Value, value: &Value) -> PythonResult {
        if is_tuple(element) {
            // Only tuples have the method `count`.
            tuple_rows_of_tuples(element)?;
        }
        let count = colours(element)?.iter().filter(|c| *c == value).count();
        Ok(Value::Int(count as i32))
    }

    /// The rows with each cell that equals the first element of a pair replaced by the second.
    fn recoloured(
        cx: &mut Context<'_>,
        grid: &Value,
        colours: &[(&Value, &Value)],
    ) -> PythonResult {
        let colour = |cell: Value| match colours.iter().find(|(from, _)| **from == cell) {
            Some((_, to)) => (*to).clone(),
            None => cell,
        };
        let rows = rows(grid)?.into_iter();
        grid_of(cx, rows.map(|row| row.into_iter().map(colour).collect()))
    }

    fn cellwise(cx: &mut Context<'_>, a: &Value, b: &Value, fallback: &Value) -> PythonResult {
        let mut all = Vec::new();
        for (i, row) in cells(a)?.into_iter().enumerate() {
            let mut same_or_fallback = Vec::new();
            for (j, cell) in row.into_iter().enumerate() {
                let same = cell_of(b, i, j)? == cell;
                same_or_fallback.push(if same { cell } else { fallback.clone() });
            }
            all.push(same_or_fallback);
        }
        grid_of(cx, all)
    }

    fn index(grid: &Value, loc: &Value) -> PythonResult {
        let (i, j) = unpack(loc)?;
        let (height, width) = sides(grid)?;
        // A row off the grid decides, whatever the column is.
        let i = int(&i)?;
        if !(0..height as i32).contains(&i) {
            return Ok(Value::Nothing);
        }
        let j = int(&j)?;
        if !(0..width as i32).contains(&j) {
            return Ok(Value::Nothing);
        }
        tuple(loc)?;
        cell_of(grid, i as usize, j as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patch::{Cell, Loc, Object};
    use crate::primitives::testing::call;
    use crate::{Interpreter, Primitive};

    fn grid(rows: &[&[i32]]) -> Grid {
        Grid::from_rows(rows).unwrap()
    }

    #[test]
    fn a_row_off_the_grid_has_no_colour_whatever_the_column_is() {
        let one = Value::from(grid(&[&[1]]));
        let index = |row| {
            let cell = Cell::new(row, Loc::new(5, 3));
            call(Primitive::Index, &[&one, &Value::Cell(cell)])
        };
        assert_eq!(index(10), Ok(Value::Nothing));
        assert_eq!(index(-1), Ok(Value::Nothing));
        assert!(index(0).is_err());
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
    fn ties_go_to_the_colour_that_is_first_in_the_set_of_all() {
        let tied = grid(&[&[5, 3, -1], &[3, 5, -1]]);
        assert_eq!(mostcolor(Piece::Grid(&tied)), Ok(3));
        assert_eq!(leastcolor(Piece::Grid(&tied)), Ok(3));
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
        assert_eq!(call(Primitive::Color), "7");
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
        let index = |grid: &Grid, j| {
            let loc = Value::Loc(Loc::new(0, j));
            call(Primitive::Index, &[&grid.clone().into(), &loc])
        };
        assert_eq!(index(&start, 1), Ok(Value::Int(2)));
        assert_eq!(index(&start, -1), Ok(Value::Nothing));
        assert_eq!(index(&Grid::default(), 0), Err(ErrorKind::Empty));
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
