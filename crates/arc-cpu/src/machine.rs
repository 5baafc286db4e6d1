//! [`Machine`]: runs programs on bit planes, in memory that is used again from run to run.

use std::ops::Range;

use super::bail_out::BailOut;
use super::lanes::Lanes;
use super::memory::{Mark, Memory, Paint, Patch, with_room};
use super::program::{At, Code, Region, Several};
use super::slot::Slot;
use crate::planes::{Shape, Tile, Window};
use arc_dsl::Loc;

/// Runs [compiled programs](super::Compiled); keeps its memory from one run to the next, so that
/// nothing is allocated once it is as large as the programs need.
#[derive(Debug)]
pub struct Machine {
    /// The values of the program, by slot.
    pub(crate) slots: Vec<Slot>,
    /// What the slots refer to.
    pub(crate) memory: Memory,
    /// Where patches are made.
    pub(crate) window: Box<Window>,
    /// Elements while they are collected: every loop takes what it put there away again.
    pub(crate) stack: Vec<Slot>,
    /// Where on the stack the results of the loop begin that is ending.
    pub(crate) base: usize,
    /// Keys, places and elements, while they are sorted.
    pub(crate) keys: Vec<(Slot, u64, Slot)>,
    /// What loops by lanes work on.
    pub(crate) lanes: Lanes,
    /// Hashes of elements and which they are, while equal ones are looked for.
    pub(crate) places: Vec<(u64, u32)>,
    /// The program whose constants are in the memory, and how much of it they take.
    pub(crate) loaded: Option<(u64, Mark)>,
    /// How many steps are left.
    pub(crate) fuel: u64,
    /// The step that failed.
    pub(crate) failed: Option<u32>,
    /// What became of the units of the program that ran last, if it has several results.
    pub(crate) ends: Vec<End>,
}

/// What became of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// All of its steps ran, or those of one that makes its value as it takes it.
    Made,
    /// This step failed.
    Failed { bail_out: BailOut, step: u32 },
    /// It was not run, since a value that it takes is not there or there are no steps for what it
    /// does; or none ran that would make its value.
    Left,
}

impl Default for Machine {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            memory: Memory::new(),
            window: Box::default(),
            stack: with_room(Slot::MISSING, 1 << 12, 0),
            base: 0,
            keys: Vec::new(),
            lanes: Lanes::new(),
            places: Vec::new(),
            loaded: None,
            fuel: 0,
            failed: None,
            ends: Vec::new(),
        }
    }
}

impl Machine {
    /// The value of a slot.
    #[inline(always)]
    pub(crate) fn get(&self, at: At) -> Slot {
        self.slots[at as usize]
    }

    /// An integer.
    #[inline(always)]
    pub(crate) fn int(&self, at: At) -> i32 {
        self.get(at).int()
    }

    /// A pair of integers.
    #[inline(always)]
    pub(crate) fn loc(&self, at: At) -> Loc {
        self.get(at).loc()
    }

    /// A grid.
    #[inline(always)]
    pub(crate) fn tile(&self, at: At) -> &Tile {
        self.memory.tiles.get(self.get(at))
    }

    /// A patch.
    #[inline(always)]
    pub(crate) fn patch(&self, at: At) -> Patch {
        self.memory.patches.get(self.get(at))
    }

    /// The locations of a patch.
    #[inline(always)]
    pub(crate) fn shape(&self, at: At) -> Shape<'_> {
        self.memory.patches.shape(&self.patch(at))
    }

    /// The elements of a list.
    #[inline(always)]
    pub(crate) fn list(&self, at: At) -> &[Slot] {
        self.memory.lists.get(self.get(at))
    }

    /// Makes a grid of a grid.
    #[inline(always)]
    pub(crate) fn make_tile(
        &mut self,
        from: At,
        make: impl FnOnce(&Tile, &mut Tile),
    ) -> Result<Slot, BailOut> {
        let from = self.get(from).index();
        let (made, to) = self.memory.tiles.next()?;
        make(&made[from], to);
        Ok(self.memory.tiles.commit())
    }

    /// Keeps the locations that are in the window as a patch without colours.
    #[inline(always)]
    pub(crate) fn store_window(&mut self) -> Result<Slot, BailOut> {
        self.memory
            .patches
            .store_window(&mut self.window, Paint::None)
    }

    /// The same where the box of what is in the window is tight as it is.
    #[inline(always)]
    pub(crate) fn store_tight(&mut self) -> Result<Slot, BailOut> {
        self.memory.patches.store(self.window.tight(), Paint::None)
    }

    /// Gives a region's parameter its value.
    #[inline(always)]
    pub(crate) fn give(&mut self, region: &Region, at: usize, value: Slot) {
        self.slots[region.parameters[at] as usize] = value;
    }

    /// Runs a region and gives its result.
    #[inline(always)]
    pub(crate) fn region(&mut self, code: &Code, region: &Region) -> Result<Slot, BailOut> {
        let steps = &code.steps[region.start as usize..region.end as usize];
        let fuel = self.fuel.checked_sub(steps.len() as u64 + 1);
        self.fuel = fuel.ok_or(BailOut::Steps)?;
        for (at, step) in steps.iter().enumerate() {
            match step.run.call(self, code, step) {
                Ok(value) => self.slots[step.to as usize] = value,
                Err(bail_out) => return self.fail(region, at, bail_out),
            }
        }
        Ok(self.get(region.result))
    }

    #[cold]
    fn fail(&mut self, region: &Region, at: usize, bail_out: BailOut) -> Result<Slot, BailOut> {
        self.failed.get_or_insert(region.start + at as u32);
        Err(match bail_out.error() {
            Some(_) if region.unordered => BailOut::Order,
            _ => bail_out,
        })
    }

    /// Runs the units of a program of several results: each may take as many steps as a program of
    /// one, and all of them as many as programs of one in their number.
    pub(crate) fn units(&mut self, code: &Code, several: &Several, most_steps: u64) {
        let region = code.regions[0];
        let mut left = most_steps.saturating_mul(several.outputs.len() as u64);
        let mut start = 0;
        self.ends.clear();
        for unit in &several.units {
            let steps = start..unit.end;
            start = unit.end;
            let mut reads = several.range(&unit.reads).iter();
            let is_left =
                unit.is_left_out || reads.any(|read| self.ends[*read as usize] != End::Made);
            if is_left {
                self.ends.push(End::Left);
                continue;
            }
            let granted = left.min(most_steps);
            self.fuel = granted;
            self.failed = None;
            let mark = self.memory.mark();
            let end = match self.unit(code, &region, steps) {
                Ok(()) => End::Made,
                Err(bail_out) => {
                    // What it has left behind.
                    self.stack.clear();
                    self.keys.clear();
                    self.memory.release(mark);
                    let step = self.failed.unwrap_or(region.start);
                    End::Failed { bail_out, step }
                }
            };
            left -= granted - self.fuel;
            self.ends.push(end);
        }
        // Whether a value is made that others make, only they know; they come later.
        for (at, unit) in several.units.iter().enumerate().rev() {
            let takers = several.range(&unit.takers);
            let mut ends = takers.iter().map(|taker| self.ends[*taker as usize]);
            if !takers.is_empty() && !ends.any(|end| end == End::Made) {
                self.ends[at] = End::Left;
            }
        }
    }

    fn unit(&mut self, code: &Code, region: &Region, range: Range<u32>) -> Result<(), BailOut> {
        self.spend(range.len())?;
        for at in range {
            let step = &code.steps[(region.start + at) as usize];
            match step.run.call(self, code, step) {
                Ok(value) => self.slots[step.to as usize] = value,
                Err(bail_out) => return self.fail(region, at as usize, bail_out).map(|_| ()),
            }
        }
        Ok(())
    }

    /// Counts work that is not a step.
    #[inline(always)]
    pub(crate) fn spend(&mut self, steps: usize) -> Result<(), BailOut> {
        self.fuel = self.fuel.checked_sub(steps as u64).ok_or(BailOut::Steps)?;
        Ok(())
    }
}

/// The integer, where a program may hold it.
#[inline(always)]
pub(crate) fn int(n: i64) -> Result<i32, BailOut> {
    if n.unsigned_abs() <= arc_dsl::MAX_INT as u64 {
        Ok(n as i32)
    } else {
        Err(BailOut::Number)
    }
}
