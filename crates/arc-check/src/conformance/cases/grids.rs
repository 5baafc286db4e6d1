//! Grids of every size and colour that the device can hold, in patterns that are hard for flood fills and for the
//! last row and column.

use arc_dsl::{Cell, Grid, Loc, Object, Value};

use gpu_kernels::LANES;

/// Returns a random number below its argument, which is at least 1.
pub(super) type Dice<'a> = dyn FnMut(u64) -> u64 + 'a;

/// A grid of any size from 1 x 1 to 32 x 32, often the largest.
pub(super) fn patterned(below: &mut Dice<'_>) -> Grid {
    let side = |below: &mut Dice<'_>| match below(4) {
        0 => LANES,
        1 => below(6) as usize + 1,
        _ => below(LANES as u64) as usize + 1,
    };
    let (height, width) = (side(below), side(below));
    let palette: Vec<i8> = (0..=below(4)).map(|_| below(16) as i8 - 1).collect();
    let any = |below: &mut Dice<'_>| palette[below(palette.len() as u64) as usize];
    let (first, second) = (any(below), below(16) as i8 - 1);
    let period = below(3) as usize + 1;
    let mut cells = vec![first; height * width];
    match below(6) {
        0 => cells.fill_with(|| any(below)),
        1 => {
            let rarity = below(12) + 2;
            for cell in &mut cells {
                if below(rarity) == 0 {
                    *cell = any(below);
                }
            }
        }
        2 => paint(&mut cells, width, second, |i, j| {
            (i + j) % (2 * period) < period
        }),
        3 => paint(&mut cells, width, second, |i, j| {
            j % 2 == 0 || i + 1 == height
        }),
        4 => paint(&mut cells, width, second, |i, j| winds(i, j, height, width)),
        _ => paint(&mut cells, width, second, |i, j| {
            (i / period).is_multiple_of(2) && (j / (period + 1)).is_multiple_of(2)
        }),
    }
    // Some cells of the pattern are disturbed.
    for _ in 0..below(4) {
        let at = below(cells.len() as u64) as usize;
        cells[at] = any(below);
    }
    if below(2) == 0 {
        cells.reverse();
    }
    Grid::from_cells(height, width, cells)
}

fn paint(cells: &mut [i8], width: usize, colour: i8, on: impl Fn(usize, usize) -> bool) {
    for (at, cell) in cells.iter_mut().enumerate() {
        if on(at / width, at % width) {
            *cell = colour;
        }
    }
}

/// Concentric rings, each but the outermost with a gap: one winding path between them.
fn winds(i: usize, j: usize, height: usize, width: usize) -> bool {
    let ring = i.min(j).min(height - 1 - i).min(width - 1 - j);
    let door = if ring % 4 == 1 {
        j + 1 == width - ring
    } else {
        i == ring
    };
    (ring % 2 == 1) != (door && i.abs_diff(ring) <= 1 && j + 2 >= width - ring)
}

/// Some cells of a box on the grid, in place or moved.
pub(super) fn part(below: &mut Dice<'_>, grid: &Grid) -> Value {
    let span = |below: &mut Dice<'_>, side: usize| {
        let length = match below(4) {
            0 => side,
            _ => (below(5) as usize + 1).min(side),
        };
        let from = below((side - length) as u64 + 1) as usize;
        from..from + length
    };
    if grid.height() == 0 || grid.width() == 0 {
        return Value::empty_set();
    }
    let (rows, columns) = (span(below, grid.height()), span(below, grid.width()));
    let shift = match below(3) {
        0 => Loc::default(),
        _ => Loc::new(below(40) as i32 - 20, below(40) as i32 - 20),
    };
    let rarity = [1, 1, 2, 5][below(4) as usize];
    let mut cells = Vec::new();
    for (i, row) in grid.rows().enumerate() {
        for (j, &colour) in row.iter().enumerate() {
            if rows.contains(&i) && columns.contains(&j) && (rarity == 1 || below(rarity) > 0) {
                let loc = Loc::new(i as i32 + shift.i, j as i32 + shift.j);
                cells.push(Cell::new(i32::from(colour), loc));
            }
        }
    }
    Value::set(cells.into_iter().map(Value::from))
}

/// The same cells with a few removed, recoloured or added; with `inside` only in rows and columns 0 to 31.
pub(super) fn changed(below: &mut Dice<'_>, cells: &Value, inside: bool) -> Value {
    let Value::Object(object) = cells else {
        return cells.clone();
    };
    let mut cells = object.as_slice().to_vec();
    for _ in 0..=below(3) {
        let at = below(cells.len().max(1) as u64) as usize;
        let Some(cell) = cells.get(at).copied() else {
            break;
        };
        match below(3) {
            0 => {
                cells.remove(at);
            }
            1 => cells[at].colour = below(16) as i32 - 1,
            _ => {
                let side = LANES as i32 - 1;
                let (i, j) = match below(4) {
                    0 if !inside => (cell.loc.i, below(2) as i32 * (side + 2) - 1),
                    1 if !inside => (below(2) as i32 * (side + 2) - 1, cell.loc.j),
                    _ => (cell.loc.i + 1, cell.loc.j + below(3) as i32 - 1),
                };
                let loc = if inside {
                    Loc::new(i.clamp(0, side), j.clamp(0, side))
                } else {
                    Loc::new(i, j)
                };
                cells.retain(|cell| cell.loc != loc);
                cells.push(Cell::new(cell.colour, loc));
            }
        }
    }
    if cells.is_empty() {
        return Value::empty_set();
    }
    Value::from(Object::new(cells))
}
