//! Grids of every size and colour that the device can hold, in patterns that are hard for flood fills and for the
//! last row and column.

use arc_dsl::{Cell, Grid, Loc, Object, Value};

use gpu_kernels::LANES;

use super::Cases;

impl Cases {
    /// A grid of any size from 1 x 1 to 32 x 32, often the largest.
    pub(super) fn patterned_grid(&mut self) -> Grid {
        let side = |dice: &mut Self| match dice.below(4) {
            0 => LANES,
            1 => dice.below(6) as usize + 1,
            _ => dice.below(LANES as u64) as usize + 1,
        };
        let (height, width) = (side(self), side(self));
        let palette: Vec<i8> = (0..=self.below(4))
            .map(|_| self.below(16) as i8 - 1)
            .collect();
        let any = |dice: &mut Self| palette[dice.below(palette.len() as u64) as usize];
        let (first, second) = (any(self), self.below(16) as i8 - 1);
        let period = self.below(3) as usize + 1;
        let mut cells = vec![first; height * width];
        match self.below(6) {
            0 => cells.fill_with(|| any(self)),
            1 => {
                let rarity = self.below(12) + 2;
                for cell in &mut cells {
                    if self.below(rarity) == 0 {
                        *cell = any(self);
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
        for _ in 0..self.below(4) {
            let at = self.below(cells.len() as u64) as usize;
            cells[at] = any(self);
        }
        if self.below(2) == 0 {
            cells.reverse();
        }
        Grid::from_cells(height, width, cells)
    }

    /// Some cells of a box on the grid, in place or moved.
    pub(super) fn part(&mut self, grid: &Grid) -> Value {
        let span = |dice: &mut Self, side: usize| {
            let length = match dice.below(4) {
                0 => side,
                _ => (dice.below(5) as usize + 1).min(side),
            };
            let from = dice.below((side - length) as u64 + 1) as usize;
            from..from + length
        };
        if grid.height() == 0 || grid.width() == 0 {
            return Value::empty_set();
        }
        let (rows, columns) = (span(self, grid.height()), span(self, grid.width()));
        let shift = match self.below(3) {
            0 => Loc::default(),
            _ => Loc::new(self.below(40) as i32 - 20, self.below(40) as i32 - 20),
        };
        let rarity = [1, 1, 2, 5][self.below(4) as usize];
        let mut cells = Vec::new();
        for (i, row) in grid.rows().enumerate() {
            for (j, &colour) in row.iter().enumerate() {
                if rows.contains(&i)
                    && columns.contains(&j)
                    && (rarity == 1 || self.below(rarity) > 0)
                {
                    let loc = Loc::new(i as i32 + shift.i, j as i32 + shift.j);
                    cells.push(Cell::new(i32::from(colour), loc));
                }
            }
        }
        Value::set(cells.into_iter().map(Value::from))
    }

    /// The same cells with a few removed, recoloured or added; with `inside` only in rows and columns 0 to 31.
    pub(super) fn changed(&mut self, cells: &Value, inside: bool) -> Value {
        let Value::Object(object) = cells else {
            return cells.clone();
        };
        let mut cells = object.as_slice().to_vec();
        for _ in 0..=self.below(3) {
            let at = self.below(cells.len().max(1) as u64) as usize;
            let Some(cell) = cells.get(at).copied() else {
                break;
            };
            match self.below(3) {
                0 => {
                    cells.remove(at);
                }
                1 => cells[at].colour = self.below(16) as i32 - 1,
                _ => {
                    let side = LANES as i32 - 1;
                    let (i, j) = match self.below(4) {
                        0 if !inside => (cell.loc.i, self.below(2) as i32 * (side + 2) - 1),
                        1 if !inside => (self.below(2) as i32 * (side + 2) - 1, cell.loc.j),
                        _ => (cell.loc.i + 1, cell.loc.j + self.below(3) as i32 - 1),
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
