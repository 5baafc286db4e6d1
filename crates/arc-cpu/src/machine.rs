//! [`Machine`]: the values of a running program, in memory that is reused from run to run.

use super::bail_out::BailOut;
use super::definition::{Choice, Known, MOST_ORDERS};
use super::lanes::columns::Lanes;
use super::memory::{Mark, Memory, Paint, Patch, with_room};
use super::slot::{At, Slot};
use crate::planes::{Shape, Tile, Window};
use arc_dsl::{Limits, Loc};

/// How many steps an evaluation may take before it bails out.
const MOST_STEPS: u64 = 10_000_000;

/// Runs [compiled programs](super::Compiled); keeps its memory from one run to the next, so that
/// nothing is allocated once it is as large as the programs need.
#[derive(Debug)]
pub struct Machine {
    /// The values of the program, by slot.
    pub(crate) slots: Vec<Slot>,
    /// What the slots refer to.
    pub(crate) memory: Memory,
    /// Where patches are built.
    pub(crate) window: Box<Window>,
    /// Elements while they are collected: every loop pops what it has pushed.
    pub(crate) stack: Vec<Slot>,
    /// Where the results of the loop that is ending start on the stack.
    pub(crate) base: usize,
    /// Keys, positions and elements, while they are sorted.
    pub(crate) keys: Vec<(Slot, u64, Slot)>,
    /// The columns of vectorised loops.
    pub(crate) lanes: Lanes,
    /// A hash table of element numbers, for finding equal elements.
    pub(crate) buckets: Vec<(u64, u32)>,
    /// The program whose constants are in the memory, and how much of it they take.
    pub(crate) loaded: Option<(u64, Mark)>,
    /// How many steps an evaluation may take.
    pub(crate) most_steps: u64,
    /// How much a result may weigh, as [`Value::weight`](arc_dsl::Value::weight) counts it: what values share
    /// in memory is copied when a value is built from a slot.
    pub(crate) most_weight: u64,
    /// How many steps are left.
    pub(crate) fuel: u64,
    /// How many primitives the reference calls at least in what vectorised loops have done, and may call.
    pub(crate) calls: u64,
    pub(crate) most_calls: u64,
    /// The values that are known with the orders of their sets.
    pub(crate) known: Known,
    /// What [`Code::is_copied`](super::program::Code::is_copied) says of the sets in the first slots, where calls made these.
    pub(crate) are_copied: Vec<Option<bool>>,
    /// How many values may still be built again.
    pub(crate) orders_left: u32,
    /// What is undecided, after [`BailOut::Choice`].
    pub(crate) choice: Choice,
    /// How many more elements may be tried.
    pub(crate) tries_left: usize,
    /// Whether fewer cells may be left open once they could not be all.
    pub(crate) narrows: bool,
    /// The step that failed.
    pub(crate) failed: Option<u32>,
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
            buckets: Vec::new(),
            loaded: None,
            most_steps: MOST_STEPS,
            most_weight: Limits::default().max_memory,
            fuel: 0,
            calls: 0,
            most_calls: u64::MAX,
            known: Known::default(),
            are_copied: Vec::new(),
            orders_left: MOST_ORDERS,
            choice: Choice::default(),
            tries_left: 0,
            narrows: false,
            failed: None,
        }
    }
}

impl Machine {
    /// A machine with bounds in proportion to `limits`: each is the same part of the machine's own bound as the
    /// limit is of the default limit, and never more than the whole. Steps scale with steps; memory with the
    /// smaller of the parts of `max_memory` and `max_elements`. The machine has no time limit, and bounds
    /// neither nesting nor the cells of a grid.
    pub fn new(limits: &Limits) -> Self {
        let defaults = Limits::default();
        let part = |of: usize, most: u64, default: u64| {
            (of as u128 * u128::from(most.min(default)) / u128::from(default)) as usize
        };
        let mut machine = Self {
            most_steps: part(MOST_STEPS as usize, limits.max_steps, defaults.max_steps) as u64,
            most_weight: limits.max_memory,
            most_calls: limits.max_steps,
            ..Self::default()
        };
        machine.memory.scale(|most| {
            part(most, limits.max_memory, defaults.max_memory).min(part(
                most,
                limits.max_elements,
                defaults.max_elements,
            ))
        });
        machine
    }

    /// A machine with the default bounds, whose results weigh at most this much.
    pub(crate) fn weighing(most_weight: u64) -> Self {
        Self {
            most_weight,
            ..Self::default()
        }
    }

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

    /// Computes a grid from a grid.
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

    /// Stores the locations in the window as a patch without colours.
    #[inline(always)]
    pub(crate) fn store_window(&mut self) -> Result<Slot, BailOut> {
        self.memory
            .patches
            .store_window(&mut self.window, Paint::None)
    }

    /// The same if the box in the window is already tight.
    #[inline(always)]
    pub(crate) fn store_tight(&mut self) -> Result<Slot, BailOut> {
        self.memory.patches.store(self.window.tight(), Paint::None)
    }

    /// Counts work that is not a step as that many steps.
    #[inline(always)]
    pub(crate) fn spend(&mut self, steps: usize) -> Result<(), BailOut> {
        self.fuel = self.fuel.checked_sub(steps as u64).ok_or(BailOut::Steps)?;
        Ok(())
    }
}

/// The integer, if a program may hold it.
#[inline(always)]
pub(crate) fn int(n: i64) -> Result<i32, BailOut> {
    if n.unsigned_abs() <= arc_dsl::MAX_INT as u64 {
        Ok(n as i32)
    } else {
        Err(BailOut::Number)
    }
}
