//! The data of vectorised loops: columns of numbers, one number per element.

use crate::slot::{At, Slot};

/// How many elements run side by side.
pub(crate) const LANES: usize = 64;

/// The numbers of the lanes, in chunks of a wide vector.
pub(super) type Column = [[i32; 8]; LANES / 8];

/// The columns and the elements of the vectorised loop that is running.
#[derive(Debug)]
pub(crate) struct Lanes {
    pub(super) columns: Vec<Column>,
    /// The elements of the block.
    pub(super) elements: Box<[Slot; LANES]>,
    /// How many there are. The last chunk is padded with copies of the first element.
    pub(super) count: usize,
}

impl Lanes {
    pub(crate) fn new() -> Self {
        Self {
            columns: Vec::new(),
            elements: Box::new([Slot::default(); LANES]),
            count: 0,
        }
    }

    /// Reserves the columns of a program.
    pub(crate) fn reserve(&mut self, columns: u32) {
        if self.columns.len() < columns as usize {
            let none = [[0; 8]; LANES / 8];
            self.columns.resize(columns as usize, none);
        }
    }

    /// The elements of the block.
    #[inline(always)]
    pub(super) fn elements(&self) -> &[Slot] {
        &self.elements[..self.count]
    }

    /// The numbers of a column, one per lane.
    #[inline(always)]
    pub(super) fn column(&self, at: At) -> &[i32] {
        &self.columns[usize::from(at)].as_flattened()[..self.count]
    }

    /// The lanes in which a column is not 0, as bits.
    #[inline(always)]
    pub(super) fn holds(&self, at: At) -> u64 {
        let mut all = 0;
        let portions = &self.columns[usize::from(at)][..self.portions()];
        for (p, portion) in portions.iter().enumerate() {
            let mut bits = 0;
            for (k, &n) in portion.iter().enumerate() {
                bits |= u8::from(n != 0) << k;
            }
            all |= u64::from(bits) << (8 * p);
        }
        // Behind the last element are copies of the first.
        all & (u64::MAX >> (LANES - self.count))
    }

    /// How many chunks are in use.
    #[inline(always)]
    pub(super) fn portions(&self) -> usize {
        self.count.div_ceil(8)
    }
}

/// One of the numbers that a value consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Part {
    /// An integer or a truth value itself.
    Int,
    /// The row of a pair.
    Row,
    /// The column of a pair.
    Column,
    /// The colour of a cell.
    Colour,
    /// The row of a cell.
    CellRow,
    /// The column of a cell.
    CellColumn,
}

impl Part {
    /// The parts of an integer, of a pair and of a cell.
    pub(crate) const INT: [Part; 1] = [Part::Int];
    pub(crate) const PAIR: [Part; 2] = [Part::Row, Part::Column];
    pub(crate) const CELL: [Part; 3] = [Part::Colour, Part::CellRow, Part::CellColumn];

    /// All of them; `SPREAD` names them by index.
    pub(crate) const ALL: [Part; 6] = [
        Part::Int,
        Part::Row,
        Part::Column,
        Part::Colour,
        Part::CellRow,
        Part::CellColumn,
    ];

    /// The part of the value in a slot.
    #[inline(always)]
    pub(super) fn of(self, slot: Slot) -> i32 {
        match self {
            Part::Int => slot.int(),
            Part::Row => slot.loc().i,
            Part::Column => slot.loc().j,
            Part::Colour => slot.cell().colour,
            Part::CellRow => slot.cell().loc.i,
            Part::CellColumn => slot.cell().loc.j,
        }
    }
}
