//! [`Limits`], and the [`Context`] that counts what an evaluation has used of them.

use std::time::{Duration, Instant};

use arc_isa::Primitive;

use crate::error::{ErrorKind, EvalResult, Limit};

/// The limits of one evaluation (one program on one grid).
///
/// The defaults are far above what programs of the public collections need: about 10,000 elements in a container, and
/// as many steps. One counted element stands for at most 16 bytes of memory. The peak memory of an evaluation is
/// bounded by [`peak_bytes`](Limits::peak_bytes), 330 MB with the defaults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Steps: one for each call of a primitive, and one for every [`WORK_PER_STEP`] elements that a call builds,
    /// compares or reads. Default 10,000,000, which takes seconds: 17 for the slowest program found.
    pub max_steps: u64,
    /// Cells of one grid. Default 1,000,000.
    pub max_cells: u64,
    /// Elements of one container. Those nested inside its elements count too, and each container or function inside
    /// counts extra, according to the memory of its header. Default 2,000,000.
    pub max_elements: u64,
    /// Elements of all variables together, and of other values held during a call; shared elements count each time.
    /// Default 8,000,000.
    pub max_memory: u64,
    /// How deeply containers and functions nest, and how deeply calls nest. Default 100.
    pub max_nesting: u16,
    /// Wall-clock time; unlimited by default, since a timeout makes results depend on the machine.
    pub timeout: Option<Duration>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_steps: 10_000_000,
            max_cells: 1_000_000,
            max_elements: 2_000_000,
            max_memory: 8_000_000,
            max_nesting: 100,
            timeout: None,
        }
    }
}

impl Limits {
    /// An upper bound on the memory, in bytes, that one evaluation holds at any time.
    ///
    /// [`max_memory`](Limits::max_memory) covers what is counted. In addition, one call at a time builds its result: a
    /// growing vector exists twice, sorting makes a copy, and values that the call derives from its arguments live
    /// until it returns. Together these take at most six times the largest value. Light values are not counted, and
    /// every level of nesting may hold some.
    #[must_use]
    pub fn peak_bytes(&self) -> u64 {
        const OF_ONE_CALL: u64 = 6;
        const OF_A_LEVEL: u64 = 128 << 10;
        let largest = self.max_elements.max(self.max_cells);
        let counted = self
            .max_memory
            .saturating_add(largest.saturating_mul(OF_ONE_CALL));
        let light = (u64::from(self.max_nesting) + 1) * OF_A_LEVEL;
        counted.saturating_mul(ELEMENT_BYTES).saturating_add(light)
    }
}

/// Elements that a call may build, compare or read for one step.
pub const WORK_PER_STEP: u64 = 64;

/// The bytes that one element is counted as.
pub(crate) const ELEMENT_BYTES: u64 = 16;

/// A value of at most this weight is not counted unless a variable holds it.
pub(crate) const LIGHT: u64 = 1024;

/// The number of steps between two checks of the clock.
const STEPS_PER_CLOCK_CHECK: u64 = 4096;

/// What one evaluation has used so far of its [`Limits`]. Evaluators other than the [`Interpreter`](crate::Interpreter)
/// pass one when they call primitives.
#[derive(Debug)]
pub struct Context<'l> {
    pub(crate) limits: &'l Limits,
    pub(crate) steps_left: u64,
    /// Elements that may still be held.
    pub(crate) memory_left: u64,
    /// Work that does not add up to a full step yet.
    work: u64,
    deadline: Option<Instant>,
    /// The clock is checked when fewer steps than this remain; 0 if there is no deadline.
    next_clock_check: u64,
    pub(crate) nesting: u16,
    /// How many rounds of `power` wait for one inside of them.
    pub(crate) rounds: i32,
    /// The primitive called last. If a primitive that calls no others fails, it is this one.
    pub(crate) running: Option<Primitive>,
    /// The innermost primitive that failed, if known.
    pub(crate) failed: Option<Primitive>,
    pub(crate) identity: Identity,
}

/// What becomes of which value is which. Where it decides the order of a set, for Python copies a set that meets itself
/// and builds another one where it meets an equal one, an evaluation without it reaches a limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Identity {
    /// Two values are two, as in the program.
    #[default]
    Kept,
    /// Two equal ones may be one.
    Merged,
    /// The same, and one may be two.
    Lost,
}

impl<'l> Context<'l> {
    /// A context for an evaluation that has used nothing yet. If there is a timeout, the clock starts now.
    #[must_use]
    pub fn new(limits: &'l Limits) -> Self {
        Self {
            limits,
            steps_left: limits.max_steps,
            memory_left: limits.max_memory,
            work: 0,
            // A timeout beyond the range of the clock is none.
            deadline: limits
                .timeout
                .and_then(|timeout| Instant::now().checked_add(timeout)),
            next_clock_check: limits.timeout.map_or(0, |_| limits.max_steps),
            nesting: 0,
            rounds: 0,
            running: None,
            failed: None,
            identity: Identity::Kept,
        }
    }

    /// The same for values of which less is known.
    #[must_use]
    pub fn with_identity(self, identity: Identity) -> Self {
        Self { identity, ..self }
    }

    /// Resets everything that was used, but not the clock.
    pub(crate) fn renew(&mut self) {
        *self = Self {
            deadline: self.deadline,
            identity: self.identity,
            ..Self::new(self.limits)
        };
    }

    /// The steps that were spent.
    #[cfg(test)]
    pub(crate) fn steps_spent(&self) -> u64 {
        self.limits.max_steps - self.steps_left
    }

    /// An allowance for the elements that a call collects.
    pub(crate) fn room(&self) -> Room {
        Room::new(self.limits.max_elements)
    }

    /// Counts elements as held until they are released. A failed evaluation releases nothing.
    #[inline]
    pub(crate) fn hold(&mut self, elements: u64) -> EvalResult<()> {
        match self.memory_left.checked_sub(elements) {
            Some(left) => {
                self.memory_left = left;
                Ok(())
            }
            None => Err(out_of_memory()),
        }
    }

    /// Whether a quarter of the memory is in use.
    #[inline]
    pub(crate) fn is_scarce(&self) -> bool {
        self.memory_left < self.limits.max_memory / 4 * 3
    }

    /// Counts a value of this weight that no variable holds while others are evaluated, unless it is light. Returns
    /// what was counted, which the caller has to release.
    #[inline]
    pub(crate) fn hold_weight(&mut self, weight: u64) -> EvalResult<u64> {
        if weight <= LIGHT {
            return Ok(0);
        }
        self.hold(weight)?;
        Ok(weight)
    }

    /// Releases elements that were held.
    #[inline]
    pub(crate) fn release(&mut self, elements: u64) {
        self.memory_left += elements;
    }

    /// Reserves room for a grid of this size before it is built.
    pub(crate) fn reserve_grid(&mut self, height: u64, width: u64) -> EvalResult<()> {
        let cells = height.saturating_mul(width.max(1));
        if cells > self.limits.max_cells {
            Err(Limit::Cells.into())
        } else {
            Ok(())
        }
    }

    /// Reserves room for a container of this size before it is built.
    pub(crate) fn reserve(&mut self, elements: u64) -> EvalResult<()> {
        if elements > self.limits.max_elements {
            Err(Limit::Elements.into())
        } else {
            Ok(())
        }
    }

    /// Charges for reading a value of this weight, if that costs more than a step.
    #[inline]
    pub(crate) fn charge_read(&mut self, weight: u32) -> EvalResult<()> {
        if u64::from(weight) >= WORK_PER_STEP {
            return self.work(u64::from(weight));
        }
        Ok(())
    }

    /// Charges for `amount` elements built, compared or read. Charge large amounts before doing the work: the clock is
    /// checked here.
    #[inline]
    pub(crate) fn work(&mut self, amount: u64) -> EvalResult<()> {
        // The largest amounts are products of two weights, far from overflowing 64 bits.
        self.work += amount;
        if self.work < WORK_PER_STEP {
            return Ok(());
        }
        let steps = self.work / WORK_PER_STEP;
        self.work %= WORK_PER_STEP;
        self.spend(steps)
    }

    /// The work that is left, steps included; modulo 2^64.
    pub(crate) fn units_left(&self) -> u64 {
        let steps = self.steps_left.wrapping_mul(WORK_PER_STEP);
        steps.wrapping_sub(self.work)
    }

    /// Spends steps; fails if none are left or the time is over.
    #[inline]
    pub fn spend(&mut self, steps: u64) -> Result<(), ErrorKind> {
        if self.steps_left < self.next_clock_check + steps {
            self.check_budget(steps)?;
        }
        self.steps_left -= steps;
        Ok(())
    }

    /// Checks whether steps are left, and checks the clock.
    #[cold]
    fn check_budget(&mut self, steps: u64) -> EvalResult<()> {
        if self.steps_left < steps {
            return Err(Limit::Steps.into());
        }
        if let Some(deadline) = self.deadline {
            self.next_clock_check = self.steps_left.saturating_sub(STEPS_PER_CLOCK_CHECK);
            if Instant::now() >= deadline {
                return Err(Limit::Time.into());
            }
        }
        Ok(())
    }
}

/// A separate function, so that the callers that reserve memory stay short.
#[cold]
fn out_of_memory() -> ErrorKind {
    Limit::Memory.into()
}

/// The elements that a collection may still grow by, granted by the evaluation in portions.
///
/// The first portion is free, so most containers are built without asking the evaluation. After that the allowance
/// doubles with each portion, like the capacity of the vector that holds the elements, so the capacity is counted too.
#[derive(Debug)]
pub(crate) struct Room {
    /// What may be added before more has to be granted.
    left: u64,
    granted: u64,
    /// What the evaluation counts as held: a part of it, and what sets keep to find their order.
    held: u64,
    most: u64,
}

impl Room {
    /// Room for `most` elements.
    pub(crate) fn new(most: u64) -> Self {
        let free = most.min(LIGHT);
        Self {
            left: free,
            granted: free,
            held: 0,
            most,
        }
    }

    /// Uses up room for something of this weight.
    #[inline]
    pub(crate) fn take(&mut self, cx: &mut Context<'_>, weight: u64) -> EvalResult<()> {
        if let Some(left) = self.left.checked_sub(weight) {
            self.left = left;
            return Ok(());
        }
        self.grow(cx, weight)
    }

    /// Counts as held what is kept until the room is closed.
    pub(crate) fn hold(&mut self, cx: &mut Context<'_>, weight: u64) -> EvalResult<()> {
        if weight > 0 {
            cx.hold(weight)?;
            self.held += weight;
        }
        Ok(())
    }

    /// Asks for more room, and charges for the work of filling it.
    #[cold]
    fn grow(&mut self, cx: &mut Context<'_>, weight: u64) -> EvalResult<()> {
        let needed = self.taken().saturating_add(weight);
        if needed > self.most {
            return Err(Limit::Elements.into());
        }
        let wanted = (2 * self.granted).clamp(needed, self.most) - self.granted;
        let more = wanted.min(cx.memory_left).max(needed - self.granted);
        cx.work(more)?;
        cx.hold(more)?;
        self.held += more;
        self.granted += more;
        self.left = self.granted - needed;
        Ok(())
    }

    /// The weight of everything collected.
    pub(crate) fn taken(&self) -> u64 {
        self.granted - self.left
    }

    /// Releases what is counted as held, once the collected elements are returned.
    #[inline]
    pub(crate) fn close(self, cx: &mut Context<'_>) {
        cx.release(self.held);
    }
}
