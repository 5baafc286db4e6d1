//! Allocates places in the pool of an evaluation to values, as registers are allocated.

use super::{TooLarge, ValueId, packed};
use crate::interface::words::operand;
use crate::interface::{BitField, Representation};
use crate::pool::PoolPlace;

/// Allocates the places of values.
pub(super) struct PlaceAllocator<'r> {
    representations: &'r [Representation],
    pub(super) words: RangeAllocator,
    pub(super) units: RangeAllocator,
    /// The place that each value has or had.
    pub(super) places: Vec<PoolPlace>,
    /// Whether a value has its place now.
    is_allocated: Vec<bool>,
}

impl<'r> PlaceAllocator<'r> {
    pub(super) fn new(representations: &'r [Representation]) -> Self {
        Self {
            representations,
            words: RangeAllocator::new(operand::WORD),
            units: RangeAllocator::new(operand::UNIT),
            places: vec![PoolPlace::default(); representations.len()],
            is_allocated: vec![false; representations.len()],
        }
    }

    pub(super) fn allocate(&mut self, value: ValueId) -> Result<(), TooLarge> {
        let at = value.0 as usize;
        let representation = self.representations[at];
        // Kernels take unit 0 to mean "no units, the same word for all lanes", so no column lies there.
        let first = usize::from(representation == Representation::Column);
        let unit = match representation.units() {
            0 => Some(0),
            count => self.units.allocate(first, count as usize),
        };
        self.places[at] = PoolPlace {
            word: self.words.allocate(0, 1).ok_or(TooLarge)? as u32,
            unit: unit.ok_or(TooLarge)? as u32,
        };
        self.is_allocated[at] = true;
        Ok(())
    }

    pub(super) fn packed(&self, value: ValueId) -> u16 {
        packed(self.places[value.0 as usize])
    }

    pub(super) fn free(&mut self, value: ValueId) {
        let at = value.0 as usize;
        if std::mem::take(&mut self.is_allocated[at]) {
            let count = self.representations[at].units() as usize;
            self.words.free(self.places[at].word as usize, 1);
            self.units.free(self.places[at].unit as usize, count);
        }
    }
}

/// Allocates ranges of the words, or of the units, of a pool.
#[derive(Debug)]
pub(super) struct RangeAllocator {
    /// How many an operand can address.
    limit: usize,
    in_use: Vec<bool>,
    /// The highest end of any range so far.
    pub(super) peak: usize,
}

impl RangeAllocator {
    fn new(operand_field: BitField) -> Self {
        Self {
            limit: operand_field.mask() as usize + 1,
            in_use: Vec::new(),
            peak: 0,
        }
    }

    /// Allocates the lowest free range of `count` from index `first` on; returns its start.
    pub(super) fn allocate(&mut self, first: usize, count: usize) -> Option<usize> {
        let mut start = first;
        for (at, in_use) in self.in_use.iter().enumerate().skip(first) {
            if *in_use {
                start = at + 1;
            } else if at + 1 - start == count {
                break;
            }
        }
        let end = start + count;
        if end > self.limit {
            return None;
        }
        if self.in_use.len() < end {
            self.in_use.resize(end, false);
        }
        self.in_use[start..end].fill(true);
        self.peak = self.peak.max(end);
        Some(start)
    }

    fn free(&mut self, start: usize, count: usize) {
        self.in_use[start..start + count].fill(false);
    }
}
