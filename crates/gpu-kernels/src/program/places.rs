//! Where values lie in the pool of an evaluation: places are given out and taken back, as registers
//! are.

use super::{TooLarge, ValueId, packed};
use crate::interface::words::operand;
use crate::interface::{BitField, Representation};
use crate::pool::Place;

/// Places of values, given and taken back.
pub(super) struct Places<'r> {
    representations: &'r [Representation],
    pub(super) words: Allocator,
    pub(super) units: Allocator,
    pub(super) of: Vec<Place>,
    /// Whether a value has its place now.
    given: Vec<bool>,
}

impl<'r> Places<'r> {
    pub(super) fn new(representations: &'r [Representation]) -> Self {
        Self {
            representations,
            words: Allocator::new(operand::WORD),
            units: Allocator::new(operand::UNIT),
            of: vec![Place::default(); representations.len()],
            given: vec![false; representations.len()],
        }
    }

    pub(super) fn take(&mut self, value: ValueId) -> Result<(), TooLarge> {
        let at = value.0 as usize;
        let representation = self.representations[at];
        // An operand of no units is the same for all lanes: the first unit has no column.
        let first = usize::from(representation == Representation::Column);
        let unit = match representation.units() {
            0 => Some(0),
            count => self.units.take(first, count as usize),
        };
        self.of[at] = Place {
            word: self.words.take(0, 1).ok_or(TooLarge)? as u32,
            unit: unit.ok_or(TooLarge)? as u32,
        };
        self.given[at] = true;
        Ok(())
    }

    pub(super) fn packed(&self, value: ValueId) -> u16 {
        packed(self.of[value.0 as usize])
    }

    pub(super) fn give_back(&mut self, value: ValueId) {
        let at = value.0 as usize;
        if std::mem::take(&mut self.given[at]) {
            let count = self.representations[at].units() as usize;
            self.words.give_back(self.of[at].word as usize, 1);
            self.units.give_back(self.of[at].unit as usize, count);
        }
    }
}

/// Which words, or units, of a pool are taken.
#[derive(Debug)]
pub(super) struct Allocator {
    /// How many there may be: as many as an operand can name.
    room: usize,
    taken: Vec<bool>,
    /// How many were taken at most, counted from the first.
    pub(super) most: usize,
}

impl Allocator {
    fn new(named_by: BitField) -> Self {
        Self {
            room: named_by.mask() as usize + 1,
            taken: Vec::new(),
            most: 0,
        }
    }

    /// The first run of so many that are free, the first ones left out.
    pub(super) fn take(&mut self, first: usize, count: usize) -> Option<usize> {
        let mut start = first;
        for (at, taken) in self.taken.iter().enumerate().skip(first) {
            if *taken {
                start = at + 1;
            } else if at + 1 - start == count {
                break;
            }
        }
        let end = start + count;
        if end > self.room {
            return None;
        }
        if self.taken.len() < end {
            self.taken.resize(end, false);
        }
        self.taken[start..end].fill(true);
        self.most = self.most.max(end);
        Some(start)
    }

    fn give_back(&mut self, start: usize, count: usize) {
        self.taken[start..start + count].fill(false);
    }
}
