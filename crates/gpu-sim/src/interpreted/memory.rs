//! Memory as a warp sees it: its address space, which bytes have been written, and by which lanes.

use std::collections::BTreeMap;
use std::ops::Range;

use super::error::Violation;
use crate::simulated::Content;

/// The bits of an address below the number of its region: 1 is shared memory, 2 the variables of
/// the module, and 3 onwards the launch's buffers. 0 is not mapped.
const REGION_SHIFT: u32 = 40;

/// The generic address of the beginning of shared memory, and of the module's variables.
pub(super) const SHARED: u64 = 1 << REGION_SHIFT;
pub(super) const DATA: u64 = 2 << REGION_SHIFT;

/// Bytes, and which of them have ever been written.
#[derive(Debug, Default)]
pub struct Bytes {
    pub(super) bytes: Vec<u8>,
    /// One entry per word of four bytes, with one bit per byte.
    pub(super) written: Vec<u8>,
}

/// How many unwritten bytes are filled with noise; the rest are zeros, which cost nothing until they are read.
const NOISE: usize = 1 << 16;

fn make_noise(bytes: &mut [u8]) {
    let noisy = bytes.len().min(NOISE);
    bytes[..noisy].fill(0xa5);
}

impl Bytes {
    pub(super) fn new(length: usize) -> Self {
        let mut bytes = vec![0; length];
        make_noise(&mut bytes);
        let written = vec![0; length.div_ceil(4)];
        Self { bytes, written }
    }

    /// These bytes, all of them written.
    pub(super) fn of(bytes: Vec<u8>) -> Self {
        let written = vec![0xf; bytes.len().div_ceil(4)];
        Self { bytes, written }
    }

    /// Marks all bytes as unwritten.
    pub(super) fn mark_unwritten(&mut self) {
        self.written.fill(0);
        make_noise(&mut self.bytes);
    }

    /// Whether all of these bytes have been written: 1 to 16 bytes, aligned.
    fn is_written(&self, at: usize, length: usize) -> bool {
        if length < 4 {
            let bits = ((1 << length) - 1) << (at % 4);
            return self.written[at / 4] & bits == bits;
        }
        let words = &self.written[at / 4..(at + length).div_ceil(4)];
        words.iter().all(|word| *word == 0xf)
    }
}

impl Content for Bytes {
    fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    fn mark_written(&mut self, Range { start, end }: Range<usize>) {
        let (first, last) = (start.div_ceil(4), end / 4);
        if first < last {
            self.written[first..last].fill(0xf);
        }
        let edges = (start..end.min(first * 4)).chain((last * 4).max(start)..end);
        for byte in edges {
            self.written[byte / 4] |= 1 << (byte % 4);
        }
    }

    fn mark_copied(&mut self, from: &Self, bytes: usize) {
        for byte in 0..bytes {
            let bit = 1 << (byte % 4);
            self.written[byte / 4] &= !bit;
            self.written[byte / 4] |= from.written[byte / 4] & bit;
        }
    }
}

/// The last accesses to a word of four bytes since the launch began. Times are numbers of intervals between
/// barriers, counted over all warps, which run one after the other; 0 means never.
#[derive(Debug, Clone, Copy, Default)]
struct AccessHistory {
    written: u32,
    writers: u32,
    read: u32,
    readers: u32,
    /// Whether all writes were atomic, not counting this warp's writes before its last barrier.
    atomic: bool,
    /// Whether an earlier warp has read it.
    read_before: bool,
}

/// The current time, and the time at which the warp began.
#[derive(Debug, Clone, Copy)]
pub(super) struct Interval {
    pub(super) now: u32,
    pub(super) warp: u32,
}

/// The number of words whose histories are created together, by the first access to one of them: a launch accesses a
/// small part of its buffers.
const WORDS: usize = 256;

/// A contiguous region of memory: shared memory, the module's variables, or a buffer.
#[derive(Debug)]
pub(super) struct Region {
    pub(super) content: Bytes,
    histories: Vec<Option<Box<[AccessHistory; WORDS]>>>,
    /// By byte, for words of which a part was accessed alone: no byte is touched by an access to its neighbour.
    histories_of_bytes: BTreeMap<usize, [AccessHistory; 4]>,
    read_only: bool,
    /// The range of bytes that the warp may access.
    pub(super) allowed: (usize, usize),
}

impl Region {
    pub(super) fn new(content: Bytes, read_only: bool) -> Self {
        let length = content.bytes.len();
        Self {
            content,
            histories: vec![None; length.div_ceil(4 * WORDS)],
            histories_of_bytes: BTreeMap::new(),
            read_only,
            allowed: (0, length),
        }
    }

    /// Resets it for a new block: nothing has been written.
    pub(super) fn mark_unwritten(&mut self) {
        self.content.mark_unwritten();
        self.histories.fill(None);
        self.histories_of_bytes.clear();
    }

    /// Calls `record` with the history of each word, or byte, of an access.
    fn record(
        &mut self,
        at: usize,
        length: usize,
        mut record: impl FnMut(&mut AccessHistory) -> Result<(), Violation>,
    ) -> Result<(), Violation> {
        for word in at / 4..(at + length).div_ceil(4) {
            let of_words = self.histories[word / WORDS]
                .get_or_insert_with(|| Box::new([AccessHistory::default(); WORDS]));
            let of_word = &mut of_words[word % WORDS];
            if length < 4 {
                let of_bytes = self.histories_of_bytes.entry(word).or_insert([*of_word; 4]);
                of_bytes[at % 4..][..length]
                    .iter_mut()
                    .try_for_each(&mut record)?;
            } else if let Some(of_bytes) = self.histories_of_bytes.get_mut(&word) {
                of_bytes.iter_mut().try_for_each(&mut record)?;
            } else {
                record(of_word)?;
            }
        }
        Ok(())
    }

    /// Fails if an access goes past the end or into another warp's part.
    fn check(&self, at: u64, length: usize) -> Result<usize, Violation> {
        let bytes = self.content.bytes.len();
        let fits = usize::try_from(at).ok();
        let fits = fits.filter(|at| at.checked_add(length).is_some_and(|end| end <= bytes));
        let Some(at) = fits else {
            return Err(Violation::PastEnd { at, bytes });
        };
        let (begin, end) = self.allowed;
        if at < begin || at + length > end {
            return Err(Violation::ForeignPart(at, begin, end));
        }
        Ok(at)
    }

    /// Loads 1, 2, 4 or 8 bytes at an offset that [`reading`](Self::reading) has checked.
    pub(super) fn load(&self, at: usize, bytes: usize) -> u64 {
        let content = &self.content.bytes[at..at + bytes];
        match *content {
            [a] => u64::from(a),
            [a, b] => u64::from(u16::from_le_bytes([a, b])),
            [a, b, c, d] => u64::from(u32::from_le_bytes([a, b, c, d])),
            [a, b, c, d, e, f, g, h] => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
            _ => 0,
        }
    }

    pub(super) fn store(&mut self, at: usize, bytes: usize, value: u64) {
        self.content.bytes[at..at + bytes].copy_from_slice(&value.to_le_bytes()[..bytes]);
        self.content.mark_written(at..at + bytes);
    }

    /// Checks and records a lane's read; returns the offset.
    pub(super) fn reading(
        &mut self,
        at: u64,
        length: usize,
        lane: u32,
        time: Interval,
    ) -> Result<usize, Violation> {
        let at = self.check(at, length)?;
        if !self.content.is_written(at, length) {
            return Err(Violation::UnwrittenMemory(at));
        }
        if self.read_only {
            return Ok(at);
        }
        self.record(at, length, |history| {
            history.no_other_wrote(lane, time)?;
            if history.read != time.now {
                history.read_before |= history.read != 0 && history.read < time.warp;
                history.read = time.now;
                history.readers = 0;
            }
            history.readers |= 1 << lane;
            Ok(())
        })?;
        Ok(at)
    }

    /// Checks and records a lane's write; returns the offset.
    pub(super) fn writing(
        &mut self,
        at: u64,
        length: usize,
        lane: u32,
        time: Interval,
        atomic: bool,
    ) -> Result<usize, Violation> {
        let at = self.check(at, length)?;
        if self.read_only {
            return Err(Violation::ReadOnly);
        }
        if atomic && !self.content.is_written(at, length) {
            return Err(Violation::UnwrittenMemory(at));
        }
        self.record(at, length, |history| {
            history.no_other_read(lane, time)?;
            if !(atomic && history.atomic) {
                history.no_other_wrote(lane, time)?;
            }
            if history.written != time.now {
                history.writers = 0;
                // A barrier lies between this and any earlier plain write of this warp.
                let before = history.written;
                history.atomic = atomic && (before == 0 || before >= time.warp || history.atomic);
                history.written = time.now;
            }
            history.atomic &= atomic;
            history.writers |= 1 << lane;
            Ok(())
        })?;
        Ok(at)
    }
}

impl AccessHistory {
    fn no_other_wrote(&self, lane: u32, time: Interval) -> Result<(), Violation> {
        if self.written == time.now {
            let others = self.writers & !(1 << lane);
            if others != 0 {
                let other = others.trailing_zeros();
                return Err(Violation::Race { other, wrote: true });
            }
        } else if self.written != 0 && self.written < time.warp {
            return Err(Violation::RaceOfWarps { wrote: true });
        }
        Ok(())
    }

    fn no_other_read(&self, lane: u32, time: Interval) -> Result<(), Violation> {
        if self.read == time.now {
            let others = self.readers & !(1 << lane);
            if others != 0 {
                let (other, wrote) = (others.trailing_zeros(), false);
                return Err(Violation::Race { other, wrote });
            }
        }
        if self.read_before || self.read != 0 && self.read < time.warp {
            return Err(Violation::RaceOfWarps { wrote: false });
        }
        Ok(())
    }
}

/// All memory that a launch can access: shared memory, the module's variables, buffers.
#[derive(Debug)]
pub(super) struct Memory {
    pub(super) regions: Vec<Region>,
}

/// The index of shared memory among the regions.
pub(super) const SHARED_REGION: usize = 0;

impl Memory {
    /// The region of a generic address, and the offset in the region.
    pub(super) fn region(&mut self, address: u64) -> Result<(usize, u64), Violation> {
        let offset = address & ((1 << REGION_SHIFT) - 1);
        let number = (address >> REGION_SHIFT).checked_sub(1);
        let number = number.and_then(|number| usize::try_from(number).ok());
        // The upper half of each region's address range is not mapped, as a gap before the next one.
        let is_within = offset >> (REGION_SHIFT - 1) == 0;
        match number.filter(|number| is_within && *number < self.regions.len()) {
            Some(number) => Ok((number, offset)),
            None => Err(Violation::Unmapped(address)),
        }
    }

    /// The address of the region at an index.
    pub(super) fn address(number: usize) -> u64 {
        (number as u64 + 1) << REGION_SHIFT
    }
}
