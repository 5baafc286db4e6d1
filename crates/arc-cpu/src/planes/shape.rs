//! [`Shape`]: a set of locations, one word per row; [`Window`]: a buffer in which one is built.

use super::{Bits, Misfit};
use arc_dsl::Loc;

/// The most columns of a shape: one word per row.
pub(crate) const COLUMNS: u32 = 64;

/// The most rows of a shape.
pub(crate) const ROWS: usize = 128;

/// A shift of columns, the same for all rows; bits that pass a word's ends are lost.
#[derive(Clone, Copy)]
pub(super) struct Sideways {
    left: u32,
    right: u32,
    keep: u64,
}

impl Sideways {
    /// A shift to the right, or to the left if negative.
    #[inline(always)]
    pub(super) fn by(columns: i32) -> Self {
        let kept = columns.unsigned_abs() < COLUMNS;
        Self {
            left: columns.max(0) as u32 & 63,
            right: columns.min(0).unsigned_abs() & 63,
            keep: if kept { u64::MAX } else { 0 },
        }
    }

    /// The row moved.
    #[inline(always)]
    pub(super) fn of(self, row: u64) -> u64 {
        // One of the two is 0, so this needs no branch.
        ((row << self.left) >> self.right) & self.keep
    }
}

/// A set of locations in its bounding box.
///
/// Bit `c` of `rows[r]` stands for `(i + r, j + c)`. The box is tight: the first and last row and
/// the columns 0 and `width - 1` have a location each. The empty shape has no rows, and lies at
/// `(0, 0)` with a width of 0, so that equal sets are equal shapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Shape<'r> {
    /// The smallest row.
    pub(crate) i: i32,
    /// The smallest column.
    pub(crate) j: i32,
    /// Number of columns of the box.
    pub(crate) width: u32,
    /// The locations, row by row.
    pub(crate) rows: &'r [u64],
}

impl<'r> Shape<'r> {
    /// Number of rows of the box.
    #[inline(always)]
    pub(crate) fn height(&self) -> u32 {
        self.rows.len() as u32
    }

    /// Whether there is no location.
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Number of locations.
    #[inline(always)]
    pub(crate) fn count(&self) -> u32 {
        self.rows.iter().map(|row| row.count_ones()).sum()
    }

    /// Whether its box does not overlap a tile of this size.
    #[inline(always)]
    pub(crate) fn is_beyond(&self, height: u32, width: u32) -> bool {
        let outside = |from: i32, size: u32, all: u32| {
            i64::from(from) >= i64::from(all) || i64::from(from) + i64::from(size) <= 0
        };
        outside(self.i, self.height(), height) || outside(self.j, self.width, width)
    }

    /// The columns of row `i`; none outside the box.
    #[inline(always)]
    pub(crate) fn row(&self, i: i32) -> u64 {
        let at = i.wrapping_sub(self.i);
        self.rows.get(at as usize).copied().unwrap_or(0)
    }

    /// Whether a location is in the set.
    #[inline(always)]
    pub(crate) fn contains(&self, loc: Loc) -> bool {
        let column = loc.j.wrapping_sub(self.j);
        (0..COLUMNS as i32).contains(&column) && (self.row(loc.i) >> column) & 1 == 1
    }

    /// The locations that are on a tile of this size.
    #[inline(always)]
    pub(crate) fn clipped(&self, height: u32, width: u32) -> Bits {
        let mut bits = [0; 32];
        self.each_row_on(height, width, |r, row| bits[r] = row);
        bits
    }

    /// Passes each row that lies on a tile of this size to `visit`, with the columns that do.
    #[inline(always)]
    pub(crate) fn each_row_on(&self, height: u32, width: u32, mut visit: impl FnMut(usize, u32)) {
        if self.is_beyond(height, width) {
            return;
        }
        let columns = (1u64 << width) - 1;
        let by = Sideways::by(self.j);
        let first = self.i.max(0) as usize;
        let above = self.i.min(0).unsigned_abs() as usize;
        let rows = self.rows.get(above..).unwrap_or_default();
        let on_tile = (height as usize).saturating_sub(first);
        for (at, row) in rows.iter().take(on_tile).enumerate() {
            visit((first + at) & 31, (by.of(*row) & columns) as u32);
        }
    }

    /// The locations, by row, then by column.
    #[inline(always)]
    pub(crate) fn locations(self) -> impl Iterator<Item = Loc> + 'r {
        let (i, j) = (self.i, self.j);
        self.rows.iter().enumerate().flat_map(move |(r, &row)| {
            Columns(row).map(move |c| Loc::new(i + r as i32, j + c as i32))
        })
    }
}

/// The row shifted to the right, or to the left if negative; bits that pass the word's ends are lost.
#[inline(always)]
pub(crate) fn shifted(row: u64, columns: i32) -> u64 {
    if columns >= 0 {
        row.checked_shl(columns as u32).unwrap_or(0)
    } else {
        row.checked_shr(columns.unsigned_abs()).unwrap_or(0)
    }
}

/// The columns of a row, ascending.
#[derive(Clone)]
pub(crate) struct Columns(pub(crate) u64);

impl Iterator for Columns {
    type Item = u32;

    #[inline(always)]
    fn next(&mut self) -> Option<u32> {
        if self.0 == 0 {
            return None;
        }
        let column = self.0.trailing_zeros();
        self.0 &= self.0 - 1;
        Some(column)
    }
}

/// Locations under construction: a box of [`ROWS`] x [`COLUMNS`] at any position. The first `height` rows are
/// in use, and any of them may be empty.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    /// The row of `rows[0]`.
    pub(crate) i: i32,
    /// The column of bit 0.
    pub(crate) j: i32,
    /// How many rows are in use; the contents of the others are undefined.
    pub(crate) height: usize,
    /// The locations.
    pub(crate) rows: [u64; ROWS],
}

impl Default for Window {
    fn default() -> Self {
        Self {
            i: 0,
            j: 0,
            height: 0,
            rows: [0; ROWS],
        }
    }
}

impl Window {
    /// Clears and moves it, with this many rows in use.
    #[inline(always)]
    pub(crate) fn place(&mut self, i: i32, j: i32, height: u32) -> Result<(), Misfit> {
        if height as usize > ROWS {
            return Err(Misfit::Patch);
        }
        self.i = i;
        self.j = j;
        self.height = height as usize;
        self.rows[..self.height].fill(0);
        Ok(())
    }

    /// Copies the locations of a tile.
    #[inline(always)]
    pub(crate) fn take(&mut self, bits: &Bits) {
        self.i = 0;
        self.j = 0;
        self.height = 32;
        for (to, from) in self.rows.iter_mut().zip(bits) {
            *to = u64::from(*from);
        }
    }

    /// The shape of its content, which must not have an empty row or column at an edge of the box.
    #[inline(always)]
    pub(crate) fn tight(&self) -> Shape<'_> {
        let rows = &self.rows[..self.height];
        let all = rows.iter().fold(0, |all, row| all | row);
        debug_assert!(rows.first() != Some(&0) && rows.last() != Some(&0));
        debug_assert!(rows.is_empty() || all & 1 == 1);
        Shape {
            i: self.i,
            j: self.j,
            width: COLUMNS - all.leading_zeros(),
            rows,
        }
    }

    /// Shrinks the box to its content and returns the shape, whose rows stay in the window.
    #[inline(always)]
    pub(crate) fn tighten(&mut self) -> Shape<'_> {
        let mut all = 0;
        let (mut first, mut last) = (self.height, 0);
        for (at, &row) in self.rows[..self.height].iter().enumerate() {
            all |= row;
            if row != 0 {
                first = first.min(at);
                last = at + 1;
            }
        }
        if all == 0 {
            return Shape::default();
        }
        let left = all.trailing_zeros();
        let width = COLUMNS - all.leading_zeros() - left;
        for row in &mut self.rows[first..last] {
            *row >>= left;
        }
        Shape {
            i: self.i + first as i32,
            j: self.j + left as i32,
            width,
            rows: &self.rows[first..last],
        }
    }
}

/// Growing windows, with which tests build shapes.
#[cfg(test)]
impl Window {
    /// Adds a location; the window is in use from row 0 on and may grow on all sides.
    pub(crate) fn insert(&mut self, loc: Loc) -> Result<(), Misfit> {
        self.insert_row(loc.i, loc.j, 1)
    }

    /// Adds the locations of a row whose bit 0 stands for column `j`.
    ///
    /// An empty window (`height` 0) moves to the first row.
    #[inline(always)]
    pub(crate) fn insert_row(&mut self, i: i32, j: i32, row: u64) -> Result<(), Misfit> {
        if row == 0 {
            return Ok(());
        }
        if self.height == 0 {
            self.place(i, j, 1)?;
        }
        let at = i.wrapping_sub(self.i);
        let right = j.wrapping_sub(self.j);
        if (0..self.height as i32).contains(&at)
            && (0..COLUMNS as i32).contains(&right)
            && (row << right) >> right == row
        {
            self.rows[at as usize] |= row << right;
            return Ok(());
        }
        self.grow(i, j, row)
    }

    /// Adds a row that does not fit the current position of the window.
    fn grow(&mut self, i: i32, j: i32, row: u64) -> Result<(), Misfit> {
        let at = i64::from(i) - i64::from(self.i);
        if at < 0 {
            let down = usize::try_from(-at).map_err(|_| Misfit::Patch)?;
            if self.height + down > ROWS {
                return Err(Misfit::Patch);
            }
            self.rows.copy_within(..self.height, down);
            self.rows[..down].fill(0);
            self.height += down;
            self.i = i;
        } else if at >= self.height as i64 {
            let height = usize::try_from(at + 1).map_err(|_| Misfit::Patch)?;
            if height > ROWS {
                return Err(Misfit::Patch);
            }
            self.rows[self.height..height].fill(0);
            self.height = height;
        }
        // The columns of everything together: from the smaller to the larger of both.
        let all = self.rows[..self.height]
            .iter()
            .fold(0, |all, row| all | row);
        let (j, row) = (j + row.trailing_zeros() as i32, row >> row.trailing_zeros());
        let own = match all {
            0 => i64::from(j),
            _ => i64::from(self.j) + i64::from(all.trailing_zeros()),
        };
        let left = own.min(i64::from(j));
        let own_right = i64::from(self.j) + i64::from(COLUMNS - all.leading_zeros());
        let right = match all {
            0 => i64::from(j),
            _ => own_right,
        }
        .max(i64::from(j) + i64::from(COLUMNS - row.leading_zeros()));
        if right - left > i64::from(COLUMNS) {
            return Err(Misfit::Patch);
        }
        let by = i64::from(self.j) - left;
        for row in &mut self.rows[..self.height] {
            *row = shifted(*row, by as i32);
        }
        self.j = left as i32;
        self.rows[(i - self.i) as usize] |= row << (i64::from(j) - left);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_grows_to_all_sides_and_tightens() {
        let mut window = Window::default();
        for (i, j) in [(5, 5), (-2, 7), (5, -40), (9, 20), (120, 0)] {
            window.insert(Loc::new(i, j)).unwrap();
        }
        assert_eq!(window.insert(Loc::new(0, 24)), Err(Misfit::Patch));
        assert_eq!(window.insert(Loc::new(200, 0)), Err(Misfit::Patch));
        let shape = window.tighten();
        assert_eq!(
            (shape.i, shape.j, shape.width, shape.height()),
            (-2, -40, 61, 123)
        );
        let found: Vec<_> = shape.locations().map(|loc| (loc.i, loc.j)).collect();
        assert_eq!(found, [(-2, 7), (5, -40), (5, 5), (9, 20), (120, 0)]);
        assert!(shape.contains(Loc::new(9, 20)) && !shape.contains(Loc::new(9, 21)));
    }

    #[test]
    fn what_lies_off_a_tile_is_clipped() {
        let mut window = Window::default();
        for (i, j) in [(-1, 0), (0, -1), (0, 0), (2, 3), (2, 4), (3, 3)] {
            window.insert(Loc::new(i, j)).unwrap();
        }
        let mut expected = [0; 32];
        expected[0] = 1;
        expected[2] = 8;
        assert_eq!(window.tighten().clipped(3, 4), expected);
    }
}
