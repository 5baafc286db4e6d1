//! [`Limits`], and the [`Context`] in which an evaluation counts what it has used of them.

use std::time::{Duration, Instant};

use arc_isa::Primitive;

use crate::error::{ErrorKind, Limit};

/// The bounds of one evaluation (one program on one grid).
///
/// The defaults are far above what programs of the public collections need: some 10,000 elements in
/// a container, and as many steps. An element stands for at most 16 bytes of memory; what an evaluation holds
/// at its peak has a bound, [`peak_bytes`](Limits::peak_bytes), of 330 MB with the defaults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Steps: one a call of a primitive, and one for every [`WORK_PER_STEP`] elements that a call
    /// makes, compares or looks at. Default 10,000,000: seconds, 17 of the slowest that was found.
    pub max_steps: u64,
    /// Cells of one grid. Default 1,000,000.
    pub max_cells: u64,
    /// Elements of one container: those inside its elements are counted in, and some more for each
    /// container or function inside, as many as its own memory has room for. Default 2,000,000.
    pub max_elements: u64,
    /// Elements of all variables together, and of what is held besides while a call runs; shared ones
    /// are counted each time. Default 8,000,000.
    pub max_memory: u64,
    /// How deeply containers and functions nest, and calls in calls. Default 100.
    pub max_nesting: u16,
    /// Wall-clock time; none by default, since it makes results depend on the machine.
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
    /// The bytes that one evaluation asks of the allocator at most, all that it holds at one time
    /// together.
    ///
    /// What is counted is [`max_memory`](Limits::max_memory). Besides, one call at a time makes its
    /// result: a vector that grows is there twice, sorting takes a copy, and what the call made of
    /// its arguments stays until its end. That is six times the largest value at most. What is
    /// light is not counted, and there may be some of it at every level of nesting.
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

/// Elements that a call may make, compare or look at for one step.
pub const WORK_PER_STEP: u64 = 64;

/// The memory for which an element is counted.
pub(crate) const ELEMENT_BYTES: u64 = 16;

/// What weighs no more than this is not counted while no variable holds it.
pub(crate) const LIGHT: u64 = 1024;

/// How many steps pass between two looks at the clock.
const STEPS_PER_LOOK: u64 = 4096;

/// What one evaluation has used so far of its [`Limits`]. Another evaluator than the
/// [`Interpreter`](crate::Interpreter) calls primitives with one.
#[derive(Debug)]
pub struct Context<'l> {
    pub(crate) limits: &'l Limits,
    pub(crate) steps_left: u64,
    /// Elements that may still be held.
    pub(crate) memory_left: u64,
    /// Work that does not make a full step yet.
    work: u64,
    deadline: Option<Instant>,
    /// With fewer steps left than this the clock is looked at; 0 where there is no deadline.
    next_look: u64,
    pub(crate) nesting: u16,
    /// The primitive called last. Where one fails that calls no others, it is the one.
    pub(crate) running: Option<Primitive>,
    /// The innermost primitive that failed, where that is known.
    pub(crate) failed: Option<Primitive>,
}

impl<'l> Context<'l> {
    /// An evaluation that has used nothing yet; where there is a timeout, the clock starts now.
    #[must_use]
    pub fn new(limits: &'l Limits) -> Self {
        Self {
            limits,
            steps_left: limits.max_steps,
            memory_left: limits.max_memory,
            work: 0,
            deadline: limits.timeout.map(|timeout| Instant::now() + timeout),
            next_look: limits.timeout.map_or(0, |_| limits.max_steps),
            nesting: 0,
            running: None,
            failed: None,
        }
    }

    /// Begins again with nothing used, but on the same clock. Gives the steps that were spent.
    pub fn renew(&mut self) -> u64 {
        let spent = self.limits.max_steps - self.steps_left;
        *self = Self {
            deadline: self.deadline,
            ..Self::new(self.limits)
        };
        spent
    }

    /// The steps that were spent.
    #[cfg(test)]
    pub(crate) fn steps_spent(&self) -> u64 {
        self.limits.max_steps - self.steps_left
    }

    /// Room for what a call gathers.
    pub(crate) fn room(&self) -> Room {
        Room::new(self.limits.max_elements)
    }

    /// Counts elements as held until they are released. An evaluation that fails releases nothing.
    #[inline]
    pub(crate) fn hold(&mut self, elements: u64) -> Result<(), ErrorKind> {
        match self.memory_left.checked_sub(elements) {
            Some(left) => {
                self.memory_left = left;
                Ok(())
            }
            None => Err(out_of_memory()),
        }
    }

    /// Counts a value of this weight that no variable holds while others are evaluated, unless it is light. What was
    /// counted is to be released.
    #[inline]
    pub(crate) fn hold_weight(&mut self, weight: u64) -> Result<u64, ErrorKind> {
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

    /// Asks for room for a grid of so many rows and columns, before it is built.
    pub(crate) fn reserve_grid(&mut self, height: u64, width: u64) -> Result<(), ErrorKind> {
        let cells = height.saturating_mul(width.max(1));
        if cells > self.limits.max_cells {
            Err(Limit::Cells.into())
        } else {
            Ok(())
        }
    }

    /// Asks for room for a container of so many elements, before it is built.
    pub(crate) fn reserve(&mut self, elements: u64) -> Result<(), ErrorKind> {
        if elements > self.limits.max_elements {
            Err(Limit::Elements.into())
        } else {
            Ok(())
        }
    }

    /// Accounts for a value of this weight that is looked at, where that takes more than a step.
    #[inline]
    pub(crate) fn look_at(&mut self, weight: u32) -> Result<(), ErrorKind> {
        if u64::from(weight) >= WORK_PER_STEP {
            return self.work(u64::from(weight));
        }
        Ok(())
    }

    /// Accounts for `amount` elements made, compared or looked at. What may be much is accounted for
    /// before it is done: the clock is looked at here.
    #[inline]
    pub(crate) fn work(&mut self, amount: u64) -> Result<(), ErrorKind> {
        // Products of two weights are the largest amounts, far below the end of 64 bits.
        self.work += amount;
        if self.work < WORK_PER_STEP {
            return Ok(());
        }
        let steps = self.work / WORK_PER_STEP;
        self.work %= WORK_PER_STEP;
        self.spend(steps)
    }

    /// Spends steps; fails where none are left, or the time is over.
    #[inline]
    pub fn spend(&mut self, steps: u64) -> Result<(), ErrorKind> {
        if self.steps_left < self.next_look + steps {
            self.look(steps)?;
        }
        self.steps_left -= steps;
        Ok(())
    }

    /// Looks whether there are steps left, and at the clock.
    #[cold]
    fn look(&mut self, steps: u64) -> Result<(), ErrorKind> {
        if self.steps_left < steps {
            return Err(Limit::Steps.into());
        }
        if let Some(deadline) = self.deadline {
            self.next_look = self.steps_left.saturating_sub(STEPS_PER_LOOK);
            if Instant::now() >= deadline {
                return Err(Limit::Time.into());
            }
        }
        Ok(())
    }
}

/// Apart, so that what asks for memory is short.
#[cold]
fn out_of_memory() -> ErrorKind {
    Limit::Memory.into()
}

/// The elements that something may still gather, granted by the evaluation bit by bit.
///
/// The first ones are free, so that most containers are built without asking the evaluation. After
/// that as many are granted again as there are: the vector that holds them grows likewise, and
/// what it has room for is counted.
#[derive(Debug)]
pub(crate) struct Room {
    /// What may be added before more has to be granted.
    left: u64,
    granted: u64,
    /// What of it the evaluation has counted as held.
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

    /// Takes room for something of this weight.
    #[inline]
    pub(crate) fn take(&mut self, cx: &mut Context<'_>, weight: u64) -> Result<(), ErrorKind> {
        if let Some(left) = self.left.checked_sub(weight) {
            self.left = left;
            return Ok(());
        }
        self.grow(cx, weight)
    }

    /// Asks for more room, and accounts for the work of filling it.
    #[cold]
    fn grow(&mut self, cx: &mut Context<'_>, weight: u64) -> Result<(), ErrorKind> {
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

    /// The weight of all that was gathered.
    pub(crate) fn taken(&self) -> u64 {
        self.granted - self.left
    }

    /// Releases what is counted as held, once the gathered elements are returned.
    #[inline]
    pub(crate) fn close(self, cx: &mut Context<'_>) {
        cx.release(self.held);
    }
}
