//! Objects and patterns found on grids.

use std::collections::BTreeMap;
use std::sync::Arc;
pub(super) use untyped::call as untyped;

use super::colours::{background, colours_in_order};
use super::extents::Bounds;
use crate::budget::Context;
use crate::components::{Components, Run};
use crate::error::EvalResult;
use crate::grid::Grid;
use crate::patch::{Cell, Indices, Loc, Object};
use crate::reads::count_reads;
use crate::types::Patch;
use crate::value::Value;
use crate::value::container::sorting;
use crate::value::sets::order::{Built, Flood, Order, numbered};

pub(super) fn objects(
    cx: &mut Context<'_>,
    grid: &Grid,
    univalued: bool,
    diagonal: bool,
    without_bg: bool,
) -> EvalResult<Value> {
    let background = if without_bg {
        Some(background(grid)?)
    } else {
        None
    };
    let objects = objects_on(cx, grid, univalued, diagonal, background)?;
    let flood = Arc::new(Flood::new(grid.clone(), univalued, diagonal, background));
    let object = |cells| Value::from(Object::built(cells, Built::Flood(Arc::clone(&flood))));
    let mut objects: Vec<Value> = objects.into_iter().map(object).collect();
    let built = Built::Objects(grid.height() as u32, grid.width() as u32);
    objects.sort_unstable_by_key(first_cell);
    Ok(Value::set_built(objects, Order::new(built)))
}

/// The first cell of an object. Objects that share no cell ascend as these do, which are faster to compare.
fn first_cell(object: &Value) -> Option<Cell> {
    match object {
        Value::Object(object) => object.as_slice().first().copied(),
        _ => None,
    }
}

/// The cells of the objects of a grid on this background, each in ascending order if all have one colour, otherwise in
/// any order; without a background, of all cells.
pub(super) fn objects_on(
    cx: &mut Context<'_>,
    grid: &Grid,
    univalued: bool,
    diagonal: bool,
    background: Option<i8>,
) -> EvalResult<Vec<Vec<Cell>>> {
    grid.require_row()?;
    let Components { runs, sizes } = Components::of(grid, univalued, diagonal, background);
    let of_each = u64::from(Value::OBJECT_WEIGHT);
    let weight = |&size: &u32| u64::from(size) + of_each;
    cx.reserve(sizes.iter().map(weight).sum())?;
    cx.work(of_each * sizes.len() as u64)?;
    let mut objects: Vec<_> = sizes
        .into_iter()
        .map(|size| Vec::with_capacity(size as usize))
        .collect();
    for (Run { row, start, end }, number) in runs {
        let colours = grid.row(row as usize)[start as usize..=end as usize].iter();
        let cells = (start as i32..)
            .zip(colours)
            .map(|(j, &colour)| Cell::new(i32::from(colour), Loc::new(row as i32, j)));
        objects[number as usize].extend(cells);
    }
    Ok(objects)
}

pub(super) fn partition(grid: &Grid) -> Value {
    by_colour(grid, None)
}

pub(super) fn fgpartition(grid: &Grid) -> EvalResult<Value> {
    Ok(by_colour(grid, Some(background(grid)?)))
}

/// One object for each colour, except `without`.
fn by_colour(grid: &Grid, without: Option<i8>) -> Value {
    let colours = colours_in_order(grid, without.map(i32::from));
    // The objects ascend by colour.
    let mut ascending = colours.clone();
    ascending.sort_unstable();
    let number = |colour: &i32| ascending.binary_search(colour).ok();
    let mut cells = vec![Vec::new(); ascending.len()];
    for (loc, colour) in grid.enumerate() {
        let colour = i32::from(colour);
        if let Some(number) = number(&colour) {
            cells[number].push(Cell::new(colour, loc));
        }
    }
    let objects = cells
        .into_iter()
        .map(|cells| Object::from_sorted(cells).into());
    let objects = objects.collect();
    let numbers = colours
        .iter()
        .filter_map(number)
        .map(|at| at as u32)
        .collect();
    Value::set_built(objects, Order::new(Built::Numbers(numbers)))
}

pub(super) fn occurrences(
    cx: &mut Context<'_>,
    grid: &Grid,
    obj: Patch<'_>,
) -> EvalResult<Indices> {
    grid.require_row()?;
    let obj = obj.cells();
    let (grid_height, grid_width) = (grid.height() as i64, grid.width() as i64);
    let bounds = Bounds::of(obj.iter().map(|cell| cell.loc)).ok();
    // An object without cells occurs everywhere, including one past the last row and column.
    let (height, width) = bounds.map_or((0, 0), |b| (i64::from(b.height()), i64::from(b.width())));
    let start = bounds.map_or(Loc::default(), Bounds::start);
    if height > grid_height || width > grid_width {
        return Ok(Indices::default());
    }
    let last_row = (grid_height - height) as usize;
    let rows = 0..=last_row;
    let columns = (grid_width - width) as usize + 1;
    if obj.is_empty() {
        cx.reserve((grid_height as u64 + 1) * columns as u64)?;
        let everywhere = rows.flat_map(|i| (0..columns).map(move |j| (i as i32, j as i32)));
        let everywhere = everywhere.map(|(i, j)| Loc::new(i, j));
        return Ok(Indices::ordered(
            everywhere.collect(),
            Order::copied(Built::Ascending),
        ));
    }
    // Where it may still occur: for each row a bit for each column.
    let blocks = columns.div_ceil(64);
    let last = u64::MAX >> (blocks * 64 - columns);
    let row = (1..=blocks).map(|block| if block < blocks { u64::MAX } else { last });
    let mut here: Vec<u64> = rows.flat_map(|_| row.clone()).collect();
    for cells in obj.chunk_by(|a, b| a.colour == b.colour) {
        let Ok(colour) = i8::try_from(cells[0].colour) else {
            // No cell has the colour.
            return Ok(Indices::default());
        };
        let coloured = RowBits::of(grid, colour);
        // Rows of the object that are alike are looked for once in each row of the grid.
        let mut alike: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
        for row in cells.chunk_by(|a, b| a.loc.i == b.loc.i) {
            let places = row.iter().map(|cell| (cell.loc.j - start.j) as usize);
            let at = (row[0].loc.i - start.i) as usize;
            alike.entry(places.collect()).or_default().push(at);
        }
        for (places, at) in alike {
            // Each of these rows of the object is looked for in each row of the grid.
            let mut looked = at.len() * grid.height() * blocks;
            let last = at.last().map_or(0, |last| last + last_row);
            for (i, block) in (at[0]..=last).flat_map(|i| (0..blocks).map(move |b| (i, b))) {
                let mut found = None;
                for at in &at {
                    let Some(from) = i.checked_sub(*at).filter(|from| *from <= last_row) else {
                        continue;
                    };
                    let here = &mut here[from * blocks + block];
                    if *here == 0 {
                        continue;
                    }
                    *here &= *found.get_or_insert_with(|| {
                        let mut all = u64::MAX;
                        for place in &places {
                            looked += 1;
                            all &= coloured.from(i, 64 * block + place);
                            if all == 0 {
                                break;
                            }
                        }
                        all
                    });
                }
            }
            count_reads(looked);
            cx.work(looked as u64)?;
        }
    }
    let mut found = Vec::new();
    for (at, here) in here.iter().enumerate() {
        let mut here = *here;
        while here != 0 {
            let j = at % blocks * 64 + here.trailing_zeros() as usize;
            found.push(Loc::new((at / blocks) as i32, j as i32));
            here &= here - 1;
        }
    }
    Ok(Indices::ordered(found, Order::copied(Built::Ascending)))
}

/// The cells of a grid that have a colour: a bit for each, and a word more at the end of each row.
struct RowBits {
    words: Vec<u64>,
    stride: usize,
}

impl RowBits {
    fn of(grid: &Grid, colour: i8) -> Self {
        /// All bits but the highest of each byte.
        const LOWER: u64 = 0x7f7f_7f7f_7f7f_7f7f;
        let wanted = u64::from_le_bytes([colour.cast_unsigned(); 8]);
        let stride = grid.width().div_ceil(64) + 1;
        let mut words = vec![0; grid.height() * stride];
        for (row, words) in grid.rows().zip(words.chunks_mut(stride)) {
            for (cells, word) in row.chunks(64).zip(words) {
                for (at, cells) in cells.chunks(8).enumerate() {
                    let eight: [i8; 8] = cells.try_into().unwrap_or_else(|_| {
                        let mut eight = [!colour; 8];
                        eight[..cells.len()].copy_from_slice(cells);
                        eight
                    });
                    let other = u64::from_le_bytes(eight.map(i8::cast_unsigned)) ^ wanted;
                    // Of a byte that is not 0, the highest bit is set here.
                    let differs = ((other & LOWER) + LOWER) | other;
                    let is_coloured = (!differs >> 7) & 0x0101_0101_0101_0101;
                    // The product's highest byte has the lowest bit of each byte.
                    let bits = is_coloured.wrapping_mul(0x0102_0408_1020_4080);
                    *word |= bits >> 56 << (8 * at);
                }
            }
        }
        Self { words, stride }
    }

    /// The cells of a row from a column on.
    fn from(&self, i: usize, j: usize) -> u64 {
        let at = i * self.stride + j / 64;
        let next = self.words[at + 1].unbounded_shl(64 - j as u32 % 64);
        self.words[at] >> (j % 64) | next
    }
}

/// Which rows and which columns have a single colour.
fn uniform_lines(grid: &Grid) -> (Vec<bool>, Vec<bool>) {
    let (height, width) = (grid.height(), grid.width());
    if grid.cells().is_empty() {
        return (vec![false; height], vec![false; width]);
    }
    let row = |i: usize| grid.row(i).iter().all(|&colour| colour == grid.at(i, 0));
    let column = |j: usize| (0..height).all(|i| grid.at(i, j) == grid.at(0, j));
    (
        (0..height).map(row).collect(),
        (0..width).map(column).collect(),
    )
}

/// The indices of the elements that equal `wanted`.
fn places(list: &[bool], wanted: bool) -> impl Iterator<Item = usize> + Clone + '_ {
    (0..list.len()).filter(move |&at| list[at] == wanted)
}

pub(super) fn frontiers(cx: &mut Context<'_>, grid: &Grid) -> EvalResult<Value> {
    grid.require_row()?;
    let (rows, columns) = uniform_lines(grid);
    let cell =
        |i: usize, j: usize| Cell::new(i32::from(grid.at(i, j)), Loc::new(i as i32, j as i32));
    let line = |cells: Vec<Cell>| -> Value {
        Object::ordered(cells, Order::copied(Built::Ascending)).into()
    };
    let horizontal =
        places(&rows, true).map(|i| line((0..grid.width()).map(|j| cell(i, j)).collect()));
    let vertical =
        places(&columns, true).map(|j| line((0..grid.height()).map(|i| cell(i, j)).collect()));
    let mut room = cx.room();
    let mut lines = Vec::new();
    for line in horizontal.chain(vertical) {
        room.take_value(cx, &line)?;
        lines.push(line);
    }
    cx.work(sorting(lines.len(), room.taken()))?;
    let of_rows = places(&rows, true).count();
    // On a grid of one cell, the row is the column.
    let (lines, mut numbers) = numbered(lines, None);
    let of_columns = numbers.split_off(of_rows);
    let built = Built::Frontiers([numbers, of_columns].map(Into::into).into());
    let value = Value::set_built(lines, Order::new(built));
    room.close(cx);
    Ok(value)
}

pub(super) fn compress(grid: &Grid) -> Grid {
    let (rows, columns) = uniform_lines(grid);
    let (rows, columns) = (places(&rows, false), places(&columns, false));
    let cells = rows
        .clone()
        .flat_map(|i| columns.clone().map(move |j| grid.at(i, j)))
        .collect();
    Grid::from_cells(rows.count(), columns.count(), cells)
}

/// What Python returns for grids with other cells than colours, or with rows of unequal length.
pub(crate) mod untyped {
    use arc_isa::Primitive;

    use crate::budget::Context;
    use crate::grid::Grid;
    use crate::primitives::colours::untyped::{background, colours};
    use crate::primitives::extents::shape;
    use crate::primitives::patches::untyped::{normalized, shift};
    use crate::primitives::transforms::untyped as turned;
    use crate::primitives::untyped::{
        CellOf, PythonResult, Refusal, cell, cell_of, cells, copied_set_of, elements, grid_of, int,
        is_empty, is_tuple, list, location, rows, set_minus, set_of, set_union, sides, transposed,
        typed, unpack,
    };
    use crate::value::Value;
    use crate::value::sets::order::Flood;

    pub(in crate::primitives) fn call(
        cx: &mut Context<'_>,
        primitive: Primitive,
        arguments: &[&Value],
    ) -> PythonResult {
        use Primitive as P;
        match (primitive, arguments) {
            (P::Objects, &[grid, univalued, diagonal, without_bg]) => {
                let flags = [univalued, diagonal, without_bg].map(Value::is_truthy);
                let objects = by_rank(cx, grid, flags, cell)?;
                copied_set_of(cx, objects.into_iter().map(Value::frozenset))
            }
            (P::Partition, &[grid]) => {
                let palette = Value::frozenset(colours(grid)?);
                partition(cx, grid, &palette, cell)
            }
            (P::Fgpartition, &[grid]) => {
                let palette = Value::frozenset(colours(grid)?);
                let palette = set_minus(&palette, &Value::set([background(grid)?]))?;
                partition(cx, grid, &palette, cell)
            }
            (P::Occurrences, &[grid, object]) => occurrences(cx, grid, object),
            (P::Frontiers, &[grid]) => frontiers(cx, grid, cell),
            (P::Compress, &[grid]) => compress(cx, grid),
            _ => Err(Refusal::Raises),
        }
    }

    /// Replaces the cells' values by their ranks, finds the objects of that grid, and puts the values back into the
    /// cells: an object may hold any values that a grid holds. The objects are in the order in which they are found, and
    /// their cells in that in which they are added.
    pub(crate) fn by_rank(
        cx: &mut Context<'_>,
        grid: &Value,
        [univalued, diagonal, without_bg]: [bool; 3],
        cell: CellOf,
    ) -> PythonResult<Vec<Vec<Value>>> {
        let cells = cells(grid)?;
        let mut values: Vec<Value> = cells.iter().flatten().cloned().collect();
        values.sort();
        values.dedup();
        // A grid holds at most this many colours.
        if values.len() > usize::from(i8::MAX as u8) {
            return Err(Refusal::Raises);
        }
        let rank = |cell: &Value| values.partition_point(|other| other < cell) as i8;
        // Cells beyond the width of the first row belong to no object, but count for the background.
        let below = if without_bg {
            Some(background(grid)?).filter(|below| values.contains(below))
        } else {
            None
        };
        let width = cells.first().map_or(0, Vec::len);
        let ranks = cells.iter().flatten().map(rank).collect();
        let ranked = Grid::from_cells(cells.len(), width, ranks);
        let background = below.as_ref().map(rank);
        let found = super::objects_on(cx, &ranked, univalued, diagonal, background)?;
        cx.reserve(found.iter().map(|object| 2 * object.len() as u64).sum())?;
        let cell = |at: &u32| {
            let (i, j) = (*at as usize / width, *at as usize % width);
            let value = &values[ranked.at(i, j) as usize];
            cell(value, i as i32, j as i32)
        };
        let found = Flood::new(ranked.clone(), univalued, diagonal, background);
        let objects = found.objects().map(|locs| locs.iter().map(cell).collect());
        Ok(objects.collect())
    }

    /// An object for each of these values in a grid.
    pub(crate) fn partition(
        cx: &mut Context<'_>,
        grid: &Value,
        palette: &Value,
        cell: CellOf,
    ) -> PythonResult {
        let rows = rows(grid)?;
        let mut objects = Vec::new();
        for value in &list(palette)? {
            let mut cells = Vec::new();
            for (i, row) in (0..).zip(&rows) {
                cx.work(row.len() as u64)?;
                let here = (0..).zip(row).filter(|(_, cell)| *cell == value);
                cells.extend(here.map(|(j, value)| cell(value, i, j)));
            }
            objects.push(Value::set(cells));
        }
        set_of(cx, objects)
    }

    fn occurrences(cx: &mut Context<'_>, grid: &Value, object: &Value) -> PythonResult {
        let (height, width) = sides(grid)?;
        let normed = normalized(cx, object)?;
        let sides = shape(object)?;
        let rows = (height as i64 + 1 - i64::from(sides.i)).max(0);
        let columns = (width as i64 + 1 - i64::from(sides.j)).max(0);
        if is_empty(object) || rows == 0 || columns == 0 {
            let all = (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j)));
            return copied_set_of(cx, all.map(|(i, j)| location(i as usize, j as usize)));
        }
        let mut found = Vec::new();
        for at in
            (0..rows).flat_map(|i| (0..columns).map(move |j| location(i as usize, j as usize)))
        {
            // Cells behind the first one that differs are not looked at.
            let moved = shift(cx, &normed, &at)?;
            cx.work(moved.work().into())?;
            let mut occurs = true;
            for part in elements(&moved)?.iter() {
                let (value, loc) = unpack(&part)?;
                let (i, j) = unpack(&loc)?;
                let (i, j) = (int(&i)? as usize, int(&j)? as usize);
                occurs = i < height && j < width && cell_of(grid, i, j)? == value;
                if !occurs {
                    break;
                }
            }
            if occurs {
                found.push(at);
            }
        }
        copied_set_of(cx, found)
    }

    /// Whether there is at least one value and all are equal.
    fn is_uniform(values: &[Value]) -> bool {
        values.windows(2).all(|two| two[0] == two[1]) && !values.is_empty()
    }

    pub(crate) fn frontiers(cx: &mut Context<'_>, grid: &Value, cell: CellOf) -> PythonResult {
        let (height, width) = sides(grid)?;
        let all = rows(grid)?;
        let columns = transposed(&all);
        let cell = |i: usize, j: usize| {
            let value = cell_of(grid, i, j)?;
            Ok(cell(&value, i as i32, j as i32))
        };
        let (mut horizontal, mut vertical) = (Vec::new(), Vec::new());
        for i in (0..height).filter(|&i| is_uniform(&all[i])) {
            let line = (0..width).map(|j| cell(i, j));
            horizontal.push(Value::frozenset(line.collect::<PythonResult<Vec<_>>>()?));
        }
        for j in (0..columns.len()).filter(|&j| is_uniform(&columns[j])) {
            let line = (0..height).map(|i| cell(i, j));
            vertical.push(Value::frozenset(line.collect::<PythonResult<Vec<_>>>()?));
        }
        let lines = [copied_set_of(cx, horizontal)?, copied_set_of(cx, vertical)?];
        set_union(&lines[0], &lines[1])
    }

    fn compress(cx: &mut Context<'_>, grid: &Value) -> PythonResult {
        let all = rows(grid)?;
        let columns = if is_tuple(grid) {
            transposed(&all)
        } else {
            rows(&match typed(cx, Primitive::Dmirror, &[grid]) {
                Err(Refusal::Raises) => turned(cx, Primitive::Dmirror, &[grid])?,
                other => other?,
            })?
        };
        let uniform: Vec<bool> = columns.iter().map(|column| is_uniform(column)).collect();
        let kept = |j: usize| uniform.get(j) != Some(&true);
        let left = all.iter().filter(|row| !is_uniform(row)).map(|row| {
            let cells = row.iter().enumerate().filter(|(j, _)| kept(*j));
            cells.map(|(_, cell)| cell.clone()).collect()
        });
        grid_of(cx, left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::primitives::testing::call;
    use crate::{Interpreter, Primitive};

    fn grid(rows: &[&[i32]]) -> Grid {
        Grid::from_rows(rows).unwrap()
    }

    fn objects(
        grid: &Grid,
        univalued: bool,
        diagonal: bool,
        without_bg: bool,
    ) -> Result<Value, ErrorKind> {
        let flags = [univalued, diagonal, without_bg].map(Value::from);
        let [univalued, diagonal, without_bg] = &flags;
        let grid = grid.clone().into();
        call(
            Primitive::Objects,
            &[&grid, univalued, diagonal, without_bg],
        )
    }

    fn count(grid: &Grid, univalued: bool, diagonal: bool, without_bg: bool) -> usize {
        let found = objects(grid, univalued, diagonal, without_bg).unwrap();
        found.as_container().unwrap().len()
    }

    #[test]
    fn the_eight_forms_of_objects() {
        let start = grid(&[&[1, 0, 0, 2], &[0, 1, 0, 2], &[0, 0, 0, 3]]);
        assert_eq!(count(&start, true, false, true), 4);
        assert_eq!(count(&start, true, true, true), 3);
        assert_eq!(count(&start, false, true, true), 2);
        assert_eq!(count(&start, false, false, true), 3);
        // With the background, which is one connected piece either way.
        assert_eq!(count(&start, true, false, false), 5);
        assert_eq!(count(&start, true, true, false), 4);
        assert_eq!(count(&start, false, false, false), 1);
        assert_eq!(count(&start, false, true, false), 1);
    }

    #[test]
    fn objects_of_nothing() {
        assert_eq!(
            objects(&Grid::default(), true, true, false),
            Err(ErrorKind::Empty)
        );
        assert_eq!(
            objects(&Grid::filled(2, 0, 0), true, true, false),
            Ok(Value::empty_set())
        );
        assert_eq!(
            objects(&Grid::filled(2, 2, 4), true, true, true),
            Ok(Value::empty_set())
        );
    }

    #[test]
    fn partitions_are_one_object_a_colour() {
        let start = grid(&[&[1, 2], &[1, 1]]);
        assert_eq!(
            fgpartition(&start).unwrap().to_string(),
            "frozenset({frozenset({(2, (0, 1))})})"
        );
        assert_eq!(partition(&start).as_container().unwrap().len(), 2);
    }

    #[test]
    fn patterns_occur_where_every_cell_agrees() {
        let start: Value = grid(&[&[1, 2, 1, 2], &[0, 1, 2, 0]]).into();
        let occurrences = |object: Object| {
            let found = Interpreter::default().call(
                Value::primitive(Primitive::Occurrences),
                &[&start, &object.into()],
            );
            found.unwrap().to_string()
        };
        let pair = Object::new(vec![
            Cell::new(1, Loc::new(5, 5)),
            Cell::new(2, Loc::new(5, 6)),
        ]);
        assert_eq!(occurrences(pair), "frozenset({(1, 1), (0, 2), (0, 0)})");
        let wide: Object = (0..5).map(|j| Cell::new(1, Loc::new(0, j))).collect();
        assert_eq!(occurrences(wide), "frozenset()");
        assert_eq!(
            occurrences(Object::default()).matches("), (").count(),
            3 * 5 - 1
        );
    }

    #[test]
    fn frontiers_are_lines_of_one_colour() {
        let start = grid(&[&[1, 5, 2], &[5, 5, 5], &[3, 5, 4]]);
        assert_eq!(
            call(Primitive::Frontiers, &[&start.clone().into()])
                .unwrap()
                .as_container()
                .unwrap()
                .len(),
            2
        );
        assert_eq!(compress(&start), grid(&[&[1, 2], &[3, 4]]));
        assert_eq!(compress(&Grid::filled(2, 2, 1)), Grid::default());
        // With a list of the removed rows, searched for every row, this took minutes.
        assert_eq!(compress(&Grid::filled(1_000_000, 1, 1)), Grid::default());
    }
}
