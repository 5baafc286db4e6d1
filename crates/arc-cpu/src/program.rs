//! [`Code`]: steps in their order, as the machine runs them.

use std::ops::Range;

use super::kernel::Run;
use super::lanes::LaneLoop;
use super::lower::Unsupported;
use arc_dsl::{Primitive, Value};
use arc_form::Type;

/// The number of a slot.
pub(crate) type At = u16;

/// One operation on slots. Small numbers keep the steps of a program in few lines of the cache;
/// while they are made, the numbers are wider.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step<N = At> {
    /// What it does.
    pub(crate) run: Run,
    /// The slot that its result goes to.
    pub(crate) to: N,
    /// The slots that it takes; a step with more than four takes a range of them, from `a` on.
    pub(crate) a: N,
    pub(crate) b: N,
    pub(crate) c: N,
    pub(crate) d: N,
    /// The number of its first region.
    pub(crate) region: N,
    /// The number of the type that it works on, or of elements, or a flag: what its kernel says.
    pub(crate) extra: u32,
}

impl Step<u32> {
    /// The step with narrow numbers; nothing where one of them is too large.
    pub(crate) fn narrow(&self) -> Option<Step> {
        let narrow = |number: u32| At::try_from(number).ok();
        Some(Step {
            run: self.run,
            to: narrow(self.to)?,
            a: narrow(self.a)?,
            b: narrow(self.b)?,
            c: narrow(self.c)?,
            d: narrow(self.d)?,
            region: narrow(self.region)?,
            extra: self.extra,
        })
    }
}

/// Steps that run as a whole.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Region {
    /// Its first step.
    pub(crate) start: u32,
    /// One past its last step.
    pub(crate) end: u32,
    /// The slot that holds what it gives.
    pub(crate) result: At,
    /// The slots of its parameters; those that it has not got are 0.
    pub(crate) parameters: [At; 2],
    /// Whether it runs for elements in another order than the reference's, which has to tell which
    /// of them fails.
    pub(crate) unordered: bool,
}

/// Where a step comes from, for errors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    pub(crate) line: u32,
    pub(crate) primitive: Option<Primitive>,
}

/// How a loop makes its value of the results.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ending {
    /// What makes it, of what is on the stack.
    pub(crate) run: Run,
    /// The number of the type of the results, where they are containers that are gone through.
    pub(crate) inner: u32,
    /// The number of the type of the elements, where they are sorted.
    pub(crate) element: u32,
}

/// A program as the machine runs it.
#[derive(Clone, Debug)]
pub(crate) struct Code {
    /// The steps of all regions; those of one stand together.
    pub(crate) steps: Vec<Step>,
    /// Where each step comes from.
    pub(crate) origins: Vec<Origin>,
    /// All regions; number 0 is the whole program.
    pub(crate) regions: Vec<Region>,
    /// Values known before the program runs, with the slots that they go to.
    pub(crate) constants: Vec<(u32, Value, Type)>,
    /// What becomes of the results of loops.
    pub(crate) endings: Vec<Ending>,
    /// The loops that run by lanes.
    pub(crate) lane_loops: Vec<LaneLoop>,
    /// How many columns they take.
    pub(crate) columns: u32,
    /// The types that steps refer to by number.
    pub(crate) types: Vec<Type>,
    /// How many slots there are; number 0 is the input.
    pub(crate) slots: u32,
    /// The type of the result, the first one where there are several.
    pub(crate) output: Type,
    /// How the program is cut where it has several results.
    pub(crate) several: Option<Box<Several>>,
}

/// The program of several results: region 0 in units, any of which may fail.
#[derive(Clone, Debug, Default)]
pub(crate) struct Several {
    /// The units in their order.
    pub(crate) units: Vec<Unit>,
    /// Units by their numbers, of which ranges are named elsewhere.
    pub(crate) numbers: Vec<u32>,
    /// The results.
    pub(crate) outputs: Vec<Given>,
    /// What they need.
    pub(crate) needs: Vec<Need>,
}

/// What comes of one instruction of the form's body.
#[derive(Clone, Debug)]
pub(crate) struct Unit {
    /// One past its last step, counted from the first one of the region.
    pub(crate) end: u32,
    /// The units that have to succeed for its steps to run: those whose values they take.
    pub(crate) reads: Range<u32>,
    /// The units that take its value, where these make it.
    pub(crate) takers: Range<u32>,
    /// Whether it has no steps since there are none for what it does.
    pub(crate) is_left_out: bool,
}

/// A result of several.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    /// The slot that holds it.
    pub(crate) slot: u32,
    /// Its type.
    pub(crate) ty: Type,
    /// The needs that have to succeed, in the order of its program.
    pub(crate) needs: Range<u32>,
    /// Why the machine always bails out, if it does.
    pub(crate) unsupported: Option<Unsupported>,
}

/// A unit as the program of one result has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Need {
    pub(crate) unit: u32,
    /// The line on which it fails.
    pub(crate) line: u32,
}

impl Several {
    /// The units that a range names.
    pub(crate) fn range(&self, range: &Range<u32>) -> &[u32] {
        &self.numbers[range.start as usize..range.end as usize]
    }
}

impl Code {
    /// The type that a step works on.
    #[inline(always)]
    pub(crate) fn ty(&self, step: &Step) -> &Type {
        &self.types[step.extra as usize]
    }

    /// One of a step's regions.
    #[inline(always)]
    pub(crate) fn region(&self, step: &Step, at: usize) -> Region {
        self.regions[step.region as usize + at]
    }
}
