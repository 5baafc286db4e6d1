//! [`Object`]: a shape with a colour at each of its locations.

use std::cmp::Ordering;

use super::shape::{Columns, shifted};
use super::{Bits, Misfit, NO_BITS, Shape, Tile, Window, sets};

/// The colours of an object, by code.
#[derive(Clone, Copy)]
pub(crate) enum Colours<'t> {
    /// One code at all locations.
    One(u32),
    /// The code at `(r, c)` is that of the tile's cell `(r - i, c - j)`, which lies on the tile for
    /// every location of the object.
    Many {
        /// The tile with the colours.
        tile: &'t Tile,
        /// The row of the tile's first cell.
        i: i32,
        /// The column of the tile's first cell.
        j: i32,
    },
}

/// A set of cells, no two of them at one location.
#[derive(Clone, Copy)]
pub(crate) struct Object<'o> {
    /// Where the cells lie.
    pub(crate) shape: Shape<'o>,
    /// Their colours.
    pub(crate) colours: Colours<'o>,
}

/// Of the codes of `tied`, the one whose colour is first in Python's set of the colours of `present`. `None` if that
/// depends on the order in which they were added: two of at most four colours may have the same place in the table.
#[inline(always)]
pub(crate) fn first_in_set(present: u16, tied: u16) -> Option<u32> {
    // The colours from 0 on have themselves as hashes, and -1 has -2; a table has 8 slots, from five elements on 32.
    let slots = if present.count_ones() > 4 { 32 } else { 8 };
    let place = |code: u32| (if code == 15 { -2 } else { code as i32 }) & (slots - 1);
    let (mut taken, mut best) = (0u32, None);
    for code in Columns(present.into()) {
        let bit = 1 << place(code);
        if taken & bit != 0 {
            return None;
        }
        taken |= bit;
        if tied >> code & 1 == 1 && best.is_none_or(|best| place(code) < place(best)) {
            best = Some(code);
        }
    }
    best
}

/// The codes of a set, a bit per code, in the order of their colours.
#[inline(always)]
pub(crate) fn in_order(codes: u16) -> impl Iterator<Item = u32> {
    Columns(u64::from(codes.rotate_left(1))).map(code_of_rank)
}

/// The rank of a code in the order of colours.
#[inline(always)]
fn rank_of(code: u32) -> u32 {
    (code + 1) & 15
}

/// The code of a rank.
#[inline(always)]
fn code_of_rank(rank: u32) -> u32 {
    (rank + 15) & 15
}

/// The columns where two rows of planes differ.
#[inline(always)]
pub(super) fn unlike(a: &[u64; 4], b: &[u64; 4]) -> u64 {
    (a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2]) | (a[3] ^ b[3])
}

/// All columns, in the planes of a code.
#[inline(always)]
fn planes_of(code: u32) -> [u64; 4] {
    [0, 1, 2, 3].map(|k| u64::from(code >> k & 1).wrapping_neg())
}

impl Colours<'_> {
    /// The planes of row `i`, bit 0 standing for column `j`. Bits off the tile are undefined.
    #[inline(always)]
    pub(crate) fn row(&self, i: i32, j: i32) -> [u64; 4] {
        match *self {
            Colours::One(code) => planes_of(code),
            Colours::Many {
                tile,
                i: top,
                j: left,
            } => {
                let at = i.wrapping_sub(top) as usize & 31;
                let by = left.wrapping_sub(j);
                [0, 1, 2, 3].map(|k| shifted(u64::from(tile.planes[k][at]), by))
            }
        }
    }

    /// Whether both have the same source, so that they agree wherever they overlap.
    #[inline(always)]
    pub(super) fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Colours::One(a), Colours::One(b)) => a == b,
            (
                Colours::Many { tile, i, j },
                Colours::Many {
                    tile: other,
                    i: top,
                    j: left,
                },
            ) => std::ptr::eq(*tile, *other) && (i, j) == (top, left),
            _ => false,
        }
    }
}

impl Object<'_> {
    /// Passes every code that occurs to `visit`, each once and in any order, with the locations that have it:
    /// bit `c` of row `r` of the object's box.
    ///
    /// Only for objects in many colours; their box is no larger than a tile.
    #[inline(always)]
    fn each_code(&self, tile: &Tile, i: i32, j: i32, mut visit: impl FnMut(u32, &Bits)) {
        let height = self.shape.rows.len().min(32);
        let top = self.shape.i.wrapping_sub(i) as usize;
        let left = self.shape.j.wrapping_sub(j) as u32 & 31;
        let mut rest = NO_BITS;
        for (to, from) in rest.iter_mut().zip(self.shape.rows) {
            *to = *from as u32;
        }
        for r in 0..height {
            while rest[r & 31] != 0 {
                let column = rest[r & 31].trailing_zeros() + left;
                let code = tile.code((top + r) & 31, column as usize);
                let flips = [0, 1, 2, 3].map(|k| (code >> k & 1).wrapping_sub(1));
                let mut found = NO_BITS;
                for s in r..height {
                    let at = (top + s) & 31;
                    let mut same = u32::MAX;
                    for (plane, flip) in tile.planes.iter().zip(flips) {
                        same &= plane[at] ^ flip;
                    }
                    found[s & 31] = rest[s & 31] & (same >> left);
                    rest[s & 31] ^= found[s & 31];
                }
                visit(code, &found);
            }
        }
    }

    /// Passes every code that occurs to `visit`, each once and in any order, with the locations that have it.
    /// The box must not be larger than a tile.
    #[inline(always)]
    pub(super) fn groups(&self, mut visit: impl FnMut(u32, &Bits)) {
        match self.colours {
            Colours::Many { tile, i, j } => self.each_code(tile, i, j, visit),
            Colours::One(code) => {
                let mut found = NO_BITS;
                for (to, from) in found.iter_mut().zip(self.shape.rows) {
                    *to = *from as u32;
                }
                visit(code, &found);
            }
        }
    }

    /// How many cells have each code.
    #[inline(always)]
    pub(crate) fn histogram(&self) -> [u32; 16] {
        let mut counts = [0; 16];
        match self.colours {
            Colours::One(code) => counts[code as usize & 15] = self.shape.count(),
            Colours::Many { tile, i, j } => self.each_code(tile, i, j, |code, found| {
                counts[code as usize & 15] = found.iter().map(|row| row.count_ones()).sum();
            }),
        }
        counts
    }

    /// The codes that occur: bit `c` for code `c`.
    #[inline(always)]
    pub(crate) fn palette(&self) -> u16 {
        match self.colours {
            _ if self.shape.is_empty() => 0,
            Colours::One(code) => 1 << (code & 15),
            Colours::Many { tile, i, j } => self.codes(tile, i, j),
        }
    }

    /// The codes that occur in an object of many colours: all sixteen at once, without a branch.
    #[inline(always)]
    fn codes(&self, tile: &Tile, i: i32, j: i32) -> u16 {
        let top = self.shape.i.wrapping_sub(i) as usize;
        let left = self.shape.j.wrapping_sub(j) as u32 & 31;
        let mut seen = [0; 16];
        for (r, &row) in self.shape.rows.iter().enumerate() {
            let row = row as u32;
            let [a, b, c, d] = [0, 1, 2, 3].map(|k| tile.planes[k][(top + r) & 31] >> left);
            let low = [row & !a & !b, row & a & !b, row & b & !a, row & a & b];
            let high = [!c & !d, c & !d, d & !c, c & d];
            for (code, seen) in seen.iter_mut().enumerate() {
                *seen |= low[code & 3] & high[code >> 2 & 3];
            }
        }
        let mut codes = 0;
        for (code, &seen) in seen.iter().enumerate() {
            codes |= u16::from(seen != 0) << code;
        }
        codes
    }

    /// How many colours there are.
    #[inline(always)]
    pub(crate) fn numcolors(&self) -> u32 {
        self.palette().count_ones()
    }

    /// The code of the most common colour; of several, the first in the set of all. Nothing if there is no cell.
    #[inline(always)]
    pub(crate) fn mostcolor(&self) -> Result<Option<u32>, Misfit> {
        self.commonest(|count| count)
    }

    /// The code of the least common colour; of several, the first in the set of all. Nothing if there is no cell.
    #[inline(always)]
    pub(crate) fn leastcolor(&self) -> Result<Option<u32>, Misfit> {
        // A count of 0 becomes the smallest number.
        self.commonest(|count| (!count).wrapping_add(1))
    }

    /// The code with the largest worth, which depends on the number of its cells.
    #[inline(always)]
    fn commonest(&self, worth: impl Fn(u32) -> u32) -> Result<Option<u32>, Misfit> {
        match self.colours {
            _ if self.shape.is_empty() => Ok(None),
            Colours::One(code) => Ok(Some(code)),
            Colours::Many { .. } => {
                let counts = self.histogram();
                let most = counts.iter().map(|&count| worth(count)).max().unwrap_or(0);
                let (mut present, mut tied) = (0u16, 0u16);
                for (code, &count) in counts.iter().enumerate() {
                    present |= u16::from(count > 0) << code;
                    tied |= u16::from(count > 0 && worth(count) == most) << code;
                }
                if tied.is_power_of_two() {
                    return Ok(Some(tied.trailing_zeros()));
                }
                first_in_set(present, tied).ok_or(Misfit::Order).map(Some)
            }
        }
    }

    /// How many cells have this code.
    #[inline(always)]
    pub(crate) fn colorcount(&self, code: u32) -> u32 {
        match self.colours {
            Colours::One(own) if own == code => self.shape.count(),
            Colours::One(_) => 0,
            Colours::Many { .. } => {
                let rows = 0..self.shape.rows.len();
                rows.map(|r| self.row_of(code, r).count_ones()).sum()
            }
        }
    }

    /// The columns of row `r` of the box whose cells have this code.
    #[inline(always)]
    pub(crate) fn row_of(&self, code: u32, r: usize) -> u64 {
        let Some(&row) = self.shape.rows.get(r) else {
            return 0;
        };
        let planes = self.colours.row(self.shape.i + r as i32, self.shape.j);
        row & !unlike(&planes, &planes_of(code))
    }

    /// The locations of the cells with these codes in an object of many colours.
    #[inline(always)]
    pub(crate) fn of_codes(&self, codes: u16, to: &mut Window) -> Result<(), Misfit> {
        let shape = &self.shape;
        to.place(shape.i, shape.j, shape.height())?;
        let Colours::Many { tile, i, j } = self.colours else {
            return Ok(());
        };
        let mut coloured = NO_BITS;
        for code in Columns(codes.into()) {
            let found = tile.of_code(code);
            for (all, found) in coloured.iter_mut().zip(found) {
                *all |= found;
            }
        }
        let (top, left) = (shape.i.wrapping_sub(i) as usize, j.wrapping_sub(shape.j));
        for (r, (to, row)) in to.rows.iter_mut().zip(shape.rows).enumerate() {
            *to = row & shifted(u64::from(coloured[(top + r) & 31]), left);
        }
        Ok(())
    }

    /// Row `r` of the box, and its planes, 0 where there is no cell.
    #[inline(always)]
    pub(crate) fn row_with_planes(&self, r: usize) -> (u64, [u64; 4]) {
        let row = self.shape.rows.get(r).copied().unwrap_or(0);
        let planes = self.colours.row(self.shape.i + r as i32, self.shape.j);
        (row, planes.map(|plane| plane & row))
    }

    /// Whether both have the same cells.
    #[inline(always)]
    pub(crate) fn equals(&self, other: &Object<'_>) -> bool {
        if self.shape != other.shape {
            return false;
        }
        if self.colours.same(&other.colours) {
            return true;
        }
        let mut differing = 0;
        for (r, row) in self.shape.rows.iter().enumerate() {
            let i = self.shape.i + r as i32;
            let (a, b) = (
                self.colours.row(i, self.shape.j),
                other.colours.row(i, self.shape.j),
            );
            differing |= row & unlike(&a, &b);
        }
        differing == 0
    }

    /// Compares two sets of cells: by the first cells in which they differ; a prefix comes first.
    #[inline(always)]
    pub(crate) fn compare(&self, other: &Object<'_>) -> Ordering {
        if let (Colours::One(a), Colours::One(b)) = (self.colours, other.colours)
            && !self.shape.is_empty()
            && !other.shape.is_empty()
        {
            return rank_of(a)
                .cmp(&rank_of(b))
                .then_with(|| sets::order(self.shape, other.shape));
        }
        let mut own = self.palette().rotate_left(1);
        let mut others = other.palette().rotate_left(1);
        while (own | others) != 0 {
            let rank = (own | others).trailing_zeros();
            let bit = 1 << rank;
            if own & bit == 0 {
                return if own == 0 {
                    Ordering::Less
                } else {
                    Ordering::Greater
                };
            }
            if others & bit == 0 {
                return if others == 0 {
                    Ordering::Greater
                } else {
                    Ordering::Less
                };
            }
            own ^= bit;
            others ^= bit;
            let order = self.compare_code((rank + 15) & 15, other, own != 0, others != 0);
            if order != Ordering::Equal {
                return order;
            }
        }
        Ordering::Equal
    }

    /// Compares both by their cells of one code, which both have; `own_follow` and `others_follow` say whether
    /// they have cells of larger colours.
    #[inline(always)]
    fn compare_code(
        &self,
        code: u32,
        other: &Object<'_>,
        own_follow: bool,
        others_follow: bool,
    ) -> Ordering {
        let row = |object: &Object<'_>, i: i32| {
            object.row_of(code, i.wrapping_sub(object.shape.i) as usize)
        };
        let end = |object: &Object<'_>| object.shape.i + object.shape.rows.len() as i32;
        let last = end(self).max(end(other));
        // Past the smaller box's end, the first differing location has been found.
        for i in self.shape.i.min(other.shape.i)..last {
            let (a, b) = (row(self, i), row(other, i));
            if a | b == 0 {
                continue;
            }
            let (first, second) = (
                i64::from(self.shape.j) + i64::from(a.trailing_zeros()),
                i64::from(other.shape.j) + i64::from(b.trailing_zeros()),
            );
            let (in_own, rest) = if a == 0 || b == 0 || first != second {
                // The object with the smaller column has a location that the other lacks.
                let in_own = b == 0 || (a != 0 && first < second);
                (in_own, if in_own { b } else { a })
            } else {
                let (a, b) = (a >> a.trailing_zeros(), b >> b.trailing_zeros());
                let differing = a ^ b;
                if differing == 0 {
                    continue;
                }
                let in_own = a >> differing.trailing_zeros() & 1 == 1;
                let lacking = if in_own { b } else { a };
                (in_own, lacking >> differing.trailing_zeros())
            };
            let (lacks, follow) = if in_own {
                (other, others_follow)
            } else {
                (self, own_follow)
            };
            let after = (i + 1).max(lacks.shape.i);
            let goes_on = follow || rest != 0 || (after..end(lacks)).any(|i| row(lacks, i) != 0);
            return if in_own == goes_on {
                Ordering::Less
            } else {
                Ordering::Greater
            };
        }
        Ordering::Equal
    }

    /// The object's colours in a tile of its bounding box, with zeros where it has no cell.
    #[inline(always)]
    pub(crate) fn tile(&self, to: &mut Tile) -> Result<(), Misfit> {
        if self.shape.rows.len() > 32 || self.shape.width > 32 {
            return Err(Misfit::Patch);
        }
        to.planes = [NO_BITS; 4];
        to.height = self.shape.height();
        to.width = self.shape.width;
        for (r, row) in self.shape.rows.iter().enumerate() {
            let planes = self.colours.row(self.shape.i + r as i32, self.shape.j);
            for (plane, colours) in to.planes.iter_mut().zip(planes) {
                plane[r & 31] = (row & colours) as u32;
            }
        }
        Ok(())
    }

    /// The locations of the cells that are in both; the colours stay this object's.
    #[inline(always)]
    pub(crate) fn intersection(&self, other: &Object<'_>, to: &mut Window) -> Result<(), Misfit> {
        self.keep(other, to, |own, shared| own & shared)
    }

    /// The locations of the cells that are not in the other object; the colours stay this object's.
    #[inline(always)]
    pub(crate) fn difference(&self, other: &Object<'_>, to: &mut Window) -> Result<(), Misfit> {
        self.keep(other, to, |own, shared| own & !shared)
    }

    /// Applies `chosen` to each row and to the columns whose cells are in both.
    #[inline(always)]
    fn keep(
        &self,
        other: &Object<'_>,
        to: &mut Window,
        chosen: impl Fn(u64, u64) -> u64,
    ) -> Result<(), Misfit> {
        to.place(self.shape.i, self.shape.j, self.shape.height())?;
        let same = self.colours.same(&other.colours);
        for (r, (to, &own)) in to.rows.iter_mut().zip(self.shape.rows).enumerate() {
            let i = self.shape.i + r as i32;
            let by = other.shape.j.wrapping_sub(self.shape.j);
            let mut shared = own & shifted(other.shape.row(i), by);
            if !same && shared != 0 {
                let (a, b) = (
                    self.colours.row(i, self.shape.j),
                    other.colours.row(i, self.shape.j),
                );
                shared &= !unlike(&a, &b);
            }
            *to = chosen(own, shared);
        }
        Ok(())
    }
}

#[cfg(test)]
pub(super) mod tests;
