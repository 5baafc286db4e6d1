//! [`Slot`]: one value in 64 bits, read by its type.

use arc_dsl::{Cell, Loc};

/// One value of a running program: a scalar itself, or the place of the value in the
/// [machine's](super::Machine) memory.
///
/// The encoding of scalars preserves their order. The slot 0 is a value of every type that lies in memory: the
/// empty grid, patch or container.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Slot(pub(crate) i64);

/// The number of a slot.
pub(crate) type At = u16;

/// The bit that makes an unsigned low half order as the signed component that it encodes.
const BIAS: u32 = 1 << 31;

impl Slot {
    /// The result of `index` off the grid, and the corner of an empty patch.
    pub(crate) const MISSING: Slot = Slot(i64::MIN);

    #[inline(always)]
    pub(crate) fn of_int(n: i32) -> Slot {
        Slot(i64::from(n))
    }

    #[inline(always)]
    pub(crate) fn of_bool(b: bool) -> Slot {
        Slot(i64::from(b))
    }

    #[inline(always)]
    pub(crate) fn of_loc(loc: Loc) -> Slot {
        Slot((i64::from(loc.i) << 32) | i64::from(loc.j as u32 ^ BIAS))
    }

    /// A cell, if its components fit 16 bits.
    #[inline(always)]
    pub(crate) fn of_cell(cell: Cell) -> Option<Slot> {
        let Cell { colour, loc } = cell;
        let fits = |n: i32| n == i32::from(n as i16);
        if !(fits(colour) && fits(loc.i) && fits(loc.j)) {
            return None;
        }
        let half = |n: i32| i64::from(n as u16 ^ 1 << 15);
        Some(Slot(
            i64::from(colour) << 32 | half(loc.i) << 16 | half(loc.j),
        ))
    }

    /// The number of a tile or a patch, or the index of a function.
    #[inline(always)]
    pub(crate) fn of_index(index: usize) -> Slot {
        Slot(index as i64)
    }

    /// A list, by its start in the pool and its length.
    #[inline(always)]
    pub(crate) fn of_list(start: usize, len: usize) -> Slot {
        Slot((start as i64) << 32 | len as i64)
    }

    #[inline(always)]
    pub(crate) fn int(self) -> i32 {
        self.0 as i32
    }

    #[inline(always)]
    pub(crate) fn bool(self) -> bool {
        self.0 != 0
    }

    #[inline(always)]
    pub(crate) fn loc(self) -> Loc {
        Loc::new((self.0 >> 32) as i32, (self.0 as u32 ^ BIAS) as i32)
    }

    #[inline(always)]
    pub(crate) fn cell(self) -> Cell {
        let half = |n: i64| i32::from((n as u16 ^ 1 << 15) as i16);
        Cell::new(
            (self.0 >> 32) as i32,
            Loc::new(half(self.0 >> 16), half(self.0)),
        )
    }

    #[inline(always)]
    pub(crate) fn index(self) -> usize {
        self.0 as u32 as usize
    }

    /// The start of a list in the pool, and its length.
    #[inline(always)]
    pub(crate) fn list(self) -> (usize, usize) {
        ((self.0 >> 32) as usize, self.0 as u32 as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arc_dsl::MAX_INT;

    #[test]
    fn scalars_come_back_and_order_as_values_do() {
        let ends = [-MAX_INT, -300, -1, 0, 1, 7, 300, MAX_INT];
        let locs: Vec<_> = ends
            .iter()
            .flat_map(|&i| ends.iter().map(move |&j| Loc::new(i, j)))
            .collect();
        assert!(locs.is_sorted_by_key(|&loc| Slot::of_loc(loc)));
        assert!(locs.iter().all(|&loc| Slot::of_loc(loc).loc() == loc));
        let ends = [-300, -1, 0, 1, 300];
        let cells: Vec<_> = ends
            .iter()
            .flat_map(|&colour| locs.iter().map(move |&loc| Cell::new(colour, loc)))
            .filter_map(|cell| Some((cell, Slot::of_cell(cell)?)))
            .collect();
        assert_eq!(cells.len(), 5 * 36);
        assert!(cells.is_sorted_by_key(|&(_, slot)| slot));
        assert!(cells.iter().all(|&(cell, slot)| slot.cell() == cell));
        assert!(Slot::MISSING < Slot::of_loc(locs[0]) && Slot::MISSING < Slot::of_int(-MAX_INT));
    }
}
