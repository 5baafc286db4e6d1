//! Where an object occurs on a grid, its periods, and the lines of one colour.

use super::object::{Colours, Object, in_order, unlike};
use super::shape::Columns;
use super::{Misfit, NO_BITS, Shape, Tile, Window};

/// The upper left corners at which each cell of the object has its colour on the grid.
///
/// The grid has at least one row: without one, the reference fails.
#[inline(always)]
pub(crate) fn occurrences(
    tile: &Tile,
    object: &Object<'_>,
    found: &mut Window,
) -> Result<(), Misfit> {
    let shape = &object.shape;
    if shape.is_empty() {
        // It occurs everywhere, including one past the last row and column.
        found.place(0, 0, tile.height + 1)?;
        found.rows[..found.height].fill((2 << tile.width) - 1);
        return Ok(());
    }
    if shape.height() > tile.height || shape.width > tile.width {
        return found.place(0, 0, 0);
    }
    // The box is tight, so wherever it is not inside the grid, a cell is off the grid: such places drop out
    // because cells off the grid have no colour.
    let (mut places, mut nowhere) = ([u32::MAX; 32], false);
    object.groups(
        #[inline(always)]
        |code, cells| {
            if nowhere {
                return;
            }
            // The rows past the last one save a bounds check.
            let mut coloured = [0; 64];
            coloured[..32].copy_from_slice(&tile.of_code(code));
            // Boxes often have equal rows next to each other: equal rows are searched for only once.
            let (mut pattern, mut starts) = (0, coloured);
            for (r, &row) in cells.iter().enumerate().take(shape.rows.len()) {
                if row == 0 {
                    continue;
                }
                if row != pattern {
                    pattern = row;
                    starts = starts_of(&coloured, row);
                }
                for (place, starts) in places.iter_mut().zip(&starts[r..r + 32]) {
                    *place &= starts;
                }
                nowhere = places.iter().fold(0, |all, row| all | row) == 0;
                if nowhere {
                    return;
                }
            }
        },
    );
    found.take(&places);
    Ok(())
}

/// For each row, the columns at which the pattern occurs, by the column of the pattern's bit 0.
#[inline(always)]
fn starts_of(rows: &[u32; 64], pattern: u32) -> [u32; 64] {
    let first = pattern.trailing_zeros() & 31;
    let run = pattern >> first;
    let mut starts = rows.map(|row| row >> first);
    if run & run.wrapping_add(1) == 0 {
        // A run of columns: a run of double length starts where two runs meet.
        let (length, mut reached) = (run.count_ones(), 1);
        while reached < length {
            let step = reached.min(length - reached);
            for row in &mut starts {
                *row &= *row >> (step & 31);
            }
            reached += step;
        }
    } else {
        for column in Columns(u64::from(run & !1)) {
            for (start, row) in starts.iter_mut().zip(rows) {
                *start &= row >> ((first + column) & 31);
            }
        }
    }
    starts
}

/// Passes the rows and the columns of one colour to `sink`, in the order of their set, each with its code.
/// Stops when `sink` does.
///
/// The grid has at least one row: without one, the reference fails.
#[inline(always)]
pub(crate) fn frontiers<E>(
    tile: &Tile,
    mut sink: impl FnMut(Shape<'_>, u32) -> Result<(), E>,
) -> Result<(), E> {
    let all = tile.columns();
    if all == 0 {
        return Ok(());
    }
    let on_grid = tile.bits();
    let (mut mixed_rows, mut mixed_columns) = (NO_BITS, 0);
    for plane in &tile.planes {
        for (i, row) in mixed_rows.iter_mut().enumerate() {
            // A row of one value repeats its first bit.
            *row |= (plane[i] ^ (plane[i] & 1).wrapping_neg()) & on_grid[i];
            mixed_columns |= (plane[i] ^ plane[0]) & on_grid[i];
        }
    }
    let mut rows = 0;
    let mut codes = 0u16;
    for (i, mixed) in mixed_rows.iter().enumerate().take(tile.height as usize) {
        if *mixed == 0 {
            rows |= 1u32 << (i & 31);
            codes |= 1 << tile.code(i, 0);
        }
    }
    let columns = all & !mixed_columns;
    for j in Columns(u64::from(columns)) {
        codes |= 1 << tile.code(0, j as usize);
    }
    let (whole, ones) = ([u64::from(all)], [1; 32]);
    let row = |i: u32| (i, 0, tile.width, &whole[..]);
    let column = |j: u32| (0, j, 1, &ones[..tile.height as usize & 63]);
    // Lines of one colour order by their first cells; only the first row and the first column share that cell.
    // Of these the shorter one is less, if it has no other cell.
    let first_row = (rows & 1 != 0).then(|| row(0));
    let first_column = (columns & 1 != 0).then(|| column(0));
    let first = match (tile.height, tile.width) {
        (1, 1) => [first_row, None],
        (1, _) => [first_column, first_row],
        _ => [first_row, first_column],
    };
    for code in in_order(codes) {
        let lines = first.into_iter().flatten();
        let lines = lines.chain(Columns(u64::from(columns & !1)).map(column));
        for (i, j, width, rows) in lines.chain(Columns(u64::from(rows & !1)).map(row)) {
            if tile.code(i as usize, j as usize) == code {
                let (i, j) = (i as i32, j as i32);
                sink(Shape { i, j, width, rows }, code)?;
            }
        }
    }
    Ok(())
}

/// The least number of columns by which the object, moved to the left, puts every cell that stays in its box
/// onto one of the same colour; the box's width if there is none.
#[inline(always)]
pub(crate) fn hperiod(object: &Object<'_>) -> u32 {
    let shape = &object.shape;
    let repeats = |p: &u32| {
        shape.rows.iter().enumerate().all(|(r, &row)| {
            let moved = row >> (p & 63);
            if moved & !row != 0 {
                return false;
            }
            match object.colours {
                Colours::One(_) => true,
                Colours::Many { .. } => {
                    let planes = object.colours.row(shape.i + r as i32, shape.j);
                    moved & unlike(&planes, &planes.map(|plane| plane >> (p & 63))) == 0
                }
            }
        })
    };
    (1..shape.width).find(repeats).unwrap_or(shape.width)
}

/// The least number of rows by which the object, moved up, puts every cell that stays in its box onto one of
/// the same colour; the box's height if there is none.
#[inline(always)]
pub(crate) fn vperiod(object: &Object<'_>) -> u32 {
    let shape = &object.shape;
    let planes = |r: usize| object.colours.row(shape.i + r as i32, shape.j);
    let repeats = |p: &u32| {
        let p = *p as usize;
        let lower = shape.rows.iter().skip(p);
        shape
            .rows
            .iter()
            .zip(lower)
            .enumerate()
            .all(|(r, (&upper, &row))| {
                row & !upper == 0
                    && match object.colours {
                        Colours::One(_) => true,
                        Colours::Many { .. } => row & unlike(&planes(r), &planes(r + p)) == 0,
                    }
            })
    };
    (1..shape.height()).find(repeats).unwrap_or(shape.height())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planes::object::tests::{OwnedObject, cells_of, elements, objects};
    use crate::planes::{ROWS, code_of};
    use arc_dsl::generate::Generator;
    use arc_dsl::{Grid, Indices, Interpreter, Primitive, Type, Value};

    fn grids(seed: u64, count: usize) -> impl Iterator<Item = (Grid, Tile)> {
        let mut generator = Generator::with_scenes(seed, 100);
        (0..count).filter_map(move |_| {
            let Value::Grid(grid) = generator.value(Type::Grid) else {
                return None;
            };
            let mut tile = Tile::default();
            tile.set(&grid).ok()?;
            Some(((*grid).clone(), tile))
        })
    }

    fn call(primitive: Primitive, arguments: &[&Value]) -> Option<Value> {
        Interpreter::default()
            .call(Value::primitive(primitive), arguments)
            .ok()
    }

    #[test]
    fn occurrences_are_those_of_the_reference() {
        let mut generator = Generator::with_scenes(6, 200);
        let (mut window, mut compared, mut some) = (Window::default(), 0, 0);
        for _ in 0..1500 {
            let arguments = generator.case(Primitive::Occurrences).arguments;
            let values: Vec<Value> = arguments
                .into_iter()
                .filter_map(|argument| match argument {
                    arc_dsl::generate::Expression::Value(value) => Some(value),
                    arc_dsl::generate::Expression::Call(..) => None,
                })
                .collect();
            let [Value::Grid(grid), Value::Object(object)] = values.as_slice() else {
                continue;
            };
            let mut tile = Tile::default();
            let (Ok(()), Some(made)) = (tile.set(grid), OwnedObject::of(object.as_slice())) else {
                continue;
            };
            let Some(expected) = call(Primitive::Occurrences, &[&values[0], &values[1]]) else {
                assert!(tile.height == 0);
                continue;
            };
            occurrences(&tile, &made.object(), &mut window).unwrap();
            let found: Indices = window.tighten().locations().collect();
            assert_eq!(Value::from(found.clone()), expected, "{grid} {object}");
            compared += 1;
            some += usize::from(!found.is_empty());
        }
        assert!(compared > 500 && some > 100, "{compared} {some}");
    }

    #[test]
    fn nothing_occurs_everywhere_and_nothing_past_the_tile_is_lost() {
        let mut window = Window::default();
        let nothing = OwnedObject::of(&[]).unwrap();
        for (height, width) in [(1, 0), (1, 1), (32, 32), (3, 31)] {
            let grid = Grid::filled(height, width, 4);
            let mut tile = Tile::default();
            tile.set(&grid).unwrap();
            for object in [
                &nothing,
                &OwnedObject::of(&[arc_dsl::Cell::new(4, arc_dsl::Loc::new(-50, 90))]).unwrap(),
            ] {
                let cells = cells_of(&object.object());
                occurrences(&tile, &object.object(), &mut window).unwrap();
                let found: Indices = window.tighten().locations().collect();
                let expected = call(
                    Primitive::Occurrences,
                    &[&grid.clone().into(), &cells.into()],
                );
                assert_eq!(Some(found.into()), expected);
            }
        }
        // A box larger than a tile: one colour may span it.
        let rows = vec![u64::MAX; ROWS];
        let object = Object {
            shape: Shape {
                i: 0,
                j: 0,
                width: 64,
                rows: &rows,
            },
            colours: Colours::One(0),
        };
        let mut tile = Tile::default();
        tile.set(&Grid::filled(32, 32, 0)).unwrap();
        occurrences(&tile, &object, &mut window).unwrap();
        assert!(window.tighten().is_empty());
    }

    #[test]
    fn frontiers_are_those_of_the_reference() {
        let mut some = 0;
        let large = Grid::filled(32, 32, -1);
        let mut tile = Tile::default();
        tile.set(&large).unwrap();
        for (grid, tile) in grids(7, 400).chain([(large, tile)]) {
            let Some(expected) = call(Primitive::Frontiers, &[&grid.clone().into()]) else {
                assert!(grid.height() == 0);
                continue;
            };
            let mut found = Vec::new();
            frontiers(&tile, |shape, code| {
                let colours = Colours::Many {
                    tile: &tile,
                    i: 0,
                    j: 0,
                };
                let object = cells_of(&Object { shape, colours });
                assert_eq!(code_of(object.as_slice()[0].colour), Ok(code));
                found.push(Value::from(object));
                Ok::<_, ()>(())
            })
            .unwrap();
            some += found.len();
            assert_eq!(found, elements(&expected), "{grid}");
        }
        assert!(some > 400, "{some}");
    }

    #[test]
    fn periods_are_those_of_the_reference() {
        let striped = grids(8, 200).filter_map(|(grid, _)| {
            match call(Primitive::Asobject, &[&grid.into()]) {
                Some(Value::Object(object)) => Some((*object).clone()),
                _ => None,
            }
        });
        let mut short = 0;
        for object in objects(9, 400).chain(striped) {
            let Some(made) = OwnedObject::of(object.as_slice()) else {
                continue;
            };
            let made = made.object();
            let found = [hperiod(&made), vperiod(&made)].map(|p| Some(Value::Int(p as i32)));
            let value = Value::from(object);
            let expected = [Primitive::Hperiod, Primitive::Vperiod].map(|p| call(p, &[&value]));
            assert_eq!(found, expected, "{value}");
            short += usize::from(hperiod(&made) < made.shape.width);
        }
        assert!(short > 30, "{short}");
    }
}
