//! The objects of a grid: its connected components, or its cells by colour.
//!
//! Objects are found in the order of their set. They share no cell, so this is the order of their first cells:
//! by colour, then by row, then by column. The colours are processed one by one, and the cells of each colour
//! row by row; each cell that is in no object yet starts the next object.
//!
//! Most objects are single cells. The cells without a neighbour are found all at once; the others are flooded,
//! a row at a time.

use super::object::in_order;
use super::{Bits, Shape, Tile};

/// Passes each object of a grid to `sink`, in the order of their set, with the code of its first cell, which is
/// the only one if objects are univalued. Stops when `sink` does.
///
/// `palette` has the codes of the grid's cells; cells with the code `without` are left out.
#[inline(always)]
pub(crate) fn objects<E>(
    tile: &Tile,
    univalued: bool,
    diagonal: bool,
    palette: u16,
    without: Option<u32>,
    mut sink: impl FnMut(Shape<'_>, u32) -> Result<(), E>,
) -> Result<(), E> {
    let reach = u32::from(diagonal);
    let mut flood = Flood {
        reach,
        rows: [0; 32],
    };
    let codes = without.map_or(palette, |code| palette & !(1 << (code & 15)));
    if univalued {
        for code in in_order(codes) {
            let cells = tile.of_code(code);
            let alone = isolated(&cells, reach);
            let mut left = cells;
            for i in 0..tile.height as usize & 63 {
                while left[i & 31] != 0 {
                    let seeds = left[i & 31];
                    flood.take(&cells, &alone, &mut left, i, seeds, |shape| {
                        sink(shape, code)
                    })?;
                }
            }
        }
        return Ok(());
    }
    let mut cells = tile.bits();
    if let Some(code) = without {
        for (row, without) in cells.iter_mut().zip(tile.of_code(code)) {
            *row &= !without;
        }
    }
    let alone = isolated(&cells, reach);
    let mut left = cells;
    for code in in_order(codes) {
        let coloured = tile.of_code(code);
        for i in 0..tile.height as usize & 63 {
            while left[i & 31] & coloured[i & 31] != 0 {
                let seeds = left[i & 31] & coloured[i & 31];
                flood.take(&cells, &alone, &mut left, i, seeds, |shape| {
                    sink(shape, code)
                })?;
            }
        }
    }
    Ok(())
}

/// Passes the cells of each code of the palette to `sink`, in the order of their set. Stops when `sink` does.
#[inline(always)]
pub(crate) fn partition<E>(
    tile: &Tile,
    palette: u16,
    without: Option<u32>,
    mut sink: impl FnMut(Shape<'_>, u32) -> Result<(), E>,
) -> Result<(), E> {
    let codes = without.map_or(palette, |code| palette & !(1 << (code & 15)));
    for code in in_order(codes) {
        let mut rows = tile.of_code(code).map(u64::from);
        let first = rows.iter().position(|&row| row != 0).unwrap_or(0);
        let last = rows.iter().rposition(|&row| row != 0).unwrap_or(0);
        sink(tightened(first, &mut rows[first..=last]), code)?;
    }
    Ok(())
}

/// The shape of rows whose first and last are not empty.
#[inline(always)]
fn tightened(first: usize, rows: &mut [u64]) -> Shape<'_> {
    let all = rows.iter().fold(0, |all, row| all | row);
    let left = all.trailing_zeros();
    for row in &mut *rows {
        *row >>= left & 63;
    }
    Shape {
        i: first as i32,
        j: left as i32,
        width: 64 - all.leading_zeros() - left,
        rows,
    }
}

/// The cells that touch none of the others.
#[inline(always)]
fn isolated(cells: &Bits, reach: u32) -> Bits {
    // A row more at each end saves the bounds check.
    let mut wide = [0; 34];
    for (wide, row) in wide[1..33].iter_mut().zip(cells) {
        *wide = row | row << reach | row >> reach;
    }
    let mut alone = *cells;
    for (i, row) in alone.iter_mut().enumerate() {
        *row &= !(*row << 1 | *row >> 1 | wide[i] | wide[i + 2]);
    }
    alone
}

/// The runs of a row's cells that contain one of the `touched` cells; there is at least one of these.
#[inline(always)]
fn runs(cells: u32, touched: u32) -> u64 {
    let (cells, mut touched) = (u64::from(cells), u64::from(touched));
    let mut found = 0;
    loop {
        let one = touched & touched.wrapping_neg();
        // The free columns before it, shifted by one so that the highest bit is where the run starts.
        let free = (!cells & (one - 1)) << 1 | 1;
        let start = 1 << free.ilog2();
        // The carry clears the run, and sets a bit that is not a cell.
        let run = cells & !(cells + start);
        found |= run;
        touched &= !run;
        if touched == 0 {
            return found;
        }
    }
}

/// Floods an object.
struct Flood {
    /// 0 if a cell touches only the one below it in the next row, 1 if the diagonal ones too.
    reach: u32,
    /// The object's cells; rows outside the object are undefined.
    rows: [u64; 32],
}

impl Flood {
    /// Passes the object that contains the first of the `seeds` in row `i` to the sink, and removes its cells
    /// from `left`.
    #[inline(always)]
    fn take<E>(
        &mut self,
        cells: &Bits,
        alone: &Bits,
        left: &mut Bits,
        i: usize,
        seeds: u32,
        mut sink: impl FnMut(Shape<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let seed = seeds & seeds.wrapping_neg();
        if alone[i & 31] & seed != 0 {
            left[i & 31] ^= seed;
            return sink(Shape {
                i: i as i32,
                j: seed.trailing_zeros() as i32,
                width: 1,
                rows: &[1],
            });
        }
        let (first, last) = self.fill(cells, i, seed);
        let rows = &mut self.rows[first..=last];
        for (left, row) in left[first..=last].iter_mut().zip(&*rows) {
            *left &= !(*row as u32);
        }
        sink(tightened(first, rows))
    }

    /// Fills `rows` with the object of a cell in row `i`; returns its first and last row.
    ///
    /// Sweeps down and up until one of them finds nothing new.
    #[inline(always)]
    fn fill(&mut self, cells: &Bits, i: usize, seed: u32) -> (usize, usize) {
        let reach = self.reach;
        let touched = |row: u64| (row | row << reach | row >> reach) as u32;
        let (mut first, mut last) = (i & 31, i & 31);
        self.rows[first] = runs(cells[first], seed);
        let mut again = false;
        loop {
            let mut grown = false;
            let mut at = first;
            while at < 31 {
                let next = at + 1;
                let there = if next <= last {
                    self.rows[next & 31]
                } else {
                    0
                };
                let new = touched(self.rows[at & 31]) & cells[next & 31] & !(there as u32);
                if new != 0 {
                    self.rows[next & 31] = there | runs(cells[next & 31], new);
                    last = last.max(next);
                    grown = true;
                } else if next > last {
                    break;
                }
                at = next;
            }
            if again && !grown {
                return (first, last);
            }
            grown = false;
            let mut at = last;
            while at > 0 {
                let next = at - 1;
                let there = if next >= first {
                    self.rows[next & 31]
                } else {
                    0
                };
                let new = touched(self.rows[at & 31]) & cells[next & 31] & !(there as u32);
                if new != 0 {
                    self.rows[next & 31] = there | runs(cells[next & 31], new);
                    first = first.min(next);
                    grown = true;
                } else if next < first {
                    break;
                }
                at = next;
            }
            if !grown {
                return (first, last);
            }
            again = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planes::object::{Colours, Object as Coloured};
    use crate::planes::{
        code_of,
        object::tests::{cells_of, elements},
    };
    use arc_dsl::generate::Generator;
    use arc_dsl::{Grid, Interpreter, Object, Primitive, Type, Value};

    /// The palette of a grid and the code of its most common colour, according to the reference.
    fn codes(grid: &Grid) -> (u16, Option<u32>) {
        let palette = grid.cells().iter().fold(0, |all, &colour| {
            all | 1 << code_of(i32::from(colour)).unwrap()
        });
        let most = Interpreter::default()
            .call(
                Value::primitive(Primitive::Mostcolor),
                &[&grid.clone().into()],
            )
            .ok();
        let most = most.and_then(|most| most.as_int());
        (palette, most.map(|colour| code_of(colour).unwrap()))
    }

    fn set_of(found: Vec<(Object, u32)>) -> Value {
        for (object, code) in &found {
            assert_eq!(
                code_of(object.as_slice()[0].colour),
                Ok(*code),
                "the code of the first cell"
            );
        }
        let found: Vec<Value> = found.into_iter().map(|(object, _)| object.into()).collect();
        let set = Value::set(found.clone());
        assert_eq!(elements(&set), found, "ascending");
        set
    }

    fn collect(
        tile: &Tile,
        found: &mut Vec<(Object, u32)>,
    ) -> impl FnMut(Shape<'_>, u32) -> Result<(), ()> {
        let tile = *tile;
        move |shape, code| {
            let colours = Colours::Many {
                tile: &tile,
                i: 0,
                j: 0,
            };
            let first = shape.rows.first().copied().unwrap_or(0);
            let last = shape.rows.last().copied().unwrap_or(0);
            let all = shape.rows.iter().fold(0, |all, row| all | row);
            assert!(first != 0 && last != 0 && all & 1 == 1 && all >> (shape.width - 1) == 1);
            found.push((cells_of(&Coloured { shape, colours }), code));
            Ok(())
        }
    }

    fn check(grid: &Grid) {
        let mut tile = Tile::default();
        tile.set(grid).unwrap();
        let (palette, background) = codes(grid);
        let value = Value::from(grid.clone());
        let interpreter = Interpreter::default();
        for form in 0..8 {
            let [univalued, diagonal, without] = [1, 2, 4].map(|bit| form & bit != 0);
            let flags = [univalued, diagonal, without].map(Value::Bool);
            let Ok(expected) = interpreter.call(
                Value::primitive(Primitive::Objects),
                &[&value, &flags[0], &flags[1], &flags[2]],
            ) else {
                continue;
            };
            let without = background.filter(|_| without);
            let mut found = Vec::new();
            let sink = collect(&tile, &mut found);
            objects(&tile, univalued, diagonal, palette, without, sink).unwrap();
            assert_eq!(set_of(found), expected, "{grid} {univalued} {diagonal}");
        }
        for (primitive, without) in [
            (Primitive::Partition, None),
            (Primitive::Fgpartition, background),
        ] {
            let Ok(expected) = interpreter.call(Value::primitive(primitive), &[&value]) else {
                continue;
            };
            let mut found = Vec::new();
            partition(&tile, palette, without, collect(&tile, &mut found)).unwrap();
            assert_eq!(set_of(found), expected, "{grid}");
        }
    }

    #[test]
    fn objects_are_those_of_the_reference() {
        let mut generator = Generator::with_scenes(8, 150);
        let mut tile = Tile::default();
        for _ in 0..300 {
            if let Value::Grid(grid) = generator.value(Type::Grid)
                && tile.set(&grid).is_ok()
            {
                check(&grid);
            }
        }
    }

    /// Spirals and combs, which take many sweeps, and noise; up to the largest grid.
    #[test]
    fn winding_objects_are_found_whole() {
        let mut state = 1u64;
        let mut noise = move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 60) as i8
        };
        for size in [5, 12, 31, 32] {
            let mut spiral = Grid::filled(size, size, 0);
            let (mut i, mut j, mut way) = (0i32, 0i32, (0i32, 1i32));
            let free = |grid: &Grid, i: i32, j: i32| {
                grid.get(arc_dsl::Loc::new(i, j)).is_none_or(|c| c == 0)
            };
            for _ in 0..size * size {
                let at = i as usize * size + j as usize;
                spiral.cells_mut()[at] = 3;
                let ahead = |n: i32| (i + n * way.0, j + n * way.1);
                let off = !(0..size as i32).contains(&ahead(1).0)
                    || !(0..size as i32).contains(&ahead(1).1);
                if off || !free(&spiral, ahead(2).0, ahead(2).1) {
                    way = (way.1, -way.0);
                }
                (i, j) = (i + way.0, j + way.1);
                if !(0..size as i32).contains(&i)
                    || !(0..size as i32).contains(&j)
                    || !free(&spiral, i, j)
                {
                    break;
                }
            }
            check(&spiral);
            let comb = |i: usize, j: usize| i8::from(j.is_multiple_of(2) || i + 1 == size) * 7 - 1;
            let cells = (0..size * size).map(|at| comb(at / size, at % size));
            let comb = Grid::from_cells(size, size, cells.collect());
            check(&comb);
            let mut turned = comb.cells().to_vec();
            turned.reverse();
            check(&Grid::from_cells(size, size, turned));
            for colours in [2, 5, 16] {
                let cells = (0..size * size).map(|_| noise() % colours - 1);
                check(&Grid::from_cells(size, size, cells.collect()));
            }
        }
    }

    #[test]
    fn a_sink_that_ends_ends_the_search() {
        let mut tile = Tile::default();
        tile.set(&Grid::from_rows(&[[1, 0, 2], [0, 0, 0], [3, 0, 4]]).unwrap())
            .unwrap();
        let mut seen = Vec::new();
        let ended = objects(&tile, true, false, 0b11111, Some(0), |shape, code| {
            seen.push((shape.i, shape.j, code));
            if seen.len() == 2 {
                Err("enough")
            } else {
                Ok(())
            }
        });
        assert_eq!(ended, Err("enough"));
        assert_eq!(seen, [(0, 0, 1), (0, 2, 2)]);
    }
}
