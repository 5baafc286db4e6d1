//! [`Code`]: steps in their order, and the kernels that they call.

use std::ops::Range;

use super::bail_out::{BailOut, Unsupported};
use super::lanes::columns::Part;
use super::machine::Machine;
use super::slot::{At, Slot};
use arc_dsl::{Primitive, Value};
use arc_form::Type;

/// What runs a step.
pub(crate) type Baseline = fn(&mut Machine, &Code, &Step) -> Result<Slot, BailOut>;

/// The same, compiled for vectors of 256 bits: called only where the CPU has them.
pub(crate) type Wide = unsafe fn(&mut Machine, &Code, &Step) -> Result<Slot, BailOut>;

/// An operation on slots.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kernel {
    /// For every CPU.
    pub(crate) baseline: Baseline,
    /// For AVX2 with bit manipulation; the same as `baseline` on other machines.
    pub(crate) wide: Wide,
}

/// Which of a kernel's two versions runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vectors {
    /// What every CPU of the architecture has.
    Baseline,
    /// 256 bits: x86-64 with AVX2 and the bit manipulation instructions.
    Wide,
}

impl Vectors {
    /// The widest that this CPU has.
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt")
        {
            return Vectors::Wide;
        }
        Vectors::Baseline
    }
}

/// Vectors that this CPU has: their versions of kernels may be called.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Available(Vectors);

impl Available {
    /// These, or those that the CPU has where it lacks them.
    pub(crate) fn of(vectors: Vectors) -> Self {
        match vectors {
            Vectors::Wide if Vectors::detect() == Vectors::Wide => Self(Vectors::Wide),
            _ => Self(Vectors::Baseline),
        }
    }
}

/// A kernel's version, chosen: it may be called.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run(Wide);

impl Run {
    /// The version that this CPU can run.
    pub(crate) fn new(kernel: &Kernel, vectors: Available) -> Self {
        match vectors.0 {
            Vectors::Wide => Self(kernel.wide),
            Vectors::Baseline => Self(kernel.baseline),
        }
    }

    /// Runs the step.
    #[inline(always)]
    #[allow(unsafe_code, reason = "code for vectors that not every CPU has")]
    pub(crate) fn call(self, m: &mut Machine, code: &Code, step: &Step) -> Result<Slot, BailOut> {
        // SAFETY: `new` is the only constructor, and takes a version that needs vectors only where
        // `Available` says that the CPU has them, which nothing but `Available::of` makes, once it
        // has found them. Nothing else about these functions is unsafe.
        unsafe { (self.0)(m, code, step) }
    }
}

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
    pub(crate) immediate: u32,
}

impl Step<u32> {
    /// Whether its numbers are not too large for narrow ones: that is seen from all at once.
    pub(crate) fn is_narrow(&self) -> bool {
        let bits = self.to | self.a | self.b | self.c | self.d | self.region;
        bits <= u32::from(At::MAX)
    }

    /// The step with narrow numbers.
    pub(crate) fn narrow(&self) -> Step {
        Step {
            run: self.run,
            to: self.to as At,
            a: self.a as At,
            b: self.b as At,
            c: self.c as At,
            d: self.d as At,
            region: self.region as At,
            immediate: self.immediate,
        }
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

/// A column that is filled from the elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaf {
    /// Which item, where the elements are tuples.
    pub(crate) item: Option<u8>,
    pub(crate) part: Part,
    pub(crate) to: At,
}

/// The columns of what a body gives.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ResultType {
    Int([At; 1]),
    Pair([At; 2]),
    Cell([At; 3]),
}

/// A loop as it runs by lanes.
#[derive(Clone, Debug)]
pub(crate) struct LaneLoop {
    /// The kernel that runs it element by element.
    pub(crate) scalar: Run,
    /// The steps that are the same for all elements; its parameter, where it has one, is the
    /// element of the outer container of a product.
    pub(crate) same: Region,
    /// The steps on columns.
    pub(crate) lanes: Region,
    pub(crate) leaves: Vec<Leaf>,
    pub(crate) gives: ResultType,
}

impl LaneLoop {
    /// Whether its body gives values of this type.
    pub(crate) fn gives(&self, ty: &Type) -> bool {
        match self.gives {
            ResultType::Int(_) => matches!(ty, Type::Int | Type::Bool),
            ResultType::Pair(_) => *ty == Type::Pair,
            ResultType::Cell(_) => *ty == Type::Cell,
        }
    }
}

/// A program as the machine runs it.
#[derive(Clone, Debug, Default)]
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
    /// Forgets everything, but keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.steps.clear();
        self.origins.clear();
        self.regions.clear();
        self.constants.clear();
        self.endings.clear();
        self.lane_loops.clear();
        self.columns = 0;
        self.types.clear();
        self.slots = 0;
        self.output = Type::Never;
        self.several = None;
    }

    /// What is in it, in no more memory than that takes: its own stays.
    pub(crate) fn take(&mut self) -> Code {
        Code {
            steps: self.steps.drain(..).collect(),
            origins: self.origins.drain(..).collect(),
            regions: self.regions.drain(..).collect(),
            constants: self.constants.drain(..).collect(),
            endings: self.endings.drain(..).collect(),
            lane_loops: self.lane_loops.drain(..).collect(),
            columns: self.columns,
            types: self.types.drain(..).collect(),
            slots: self.slots,
            output: std::mem::replace(&mut self.output, Type::Never),
            several: self.several.take(),
        }
    }

    /// The type that a step works on.
    #[inline(always)]
    pub(crate) fn ty(&self, step: &Step) -> &Type {
        &self.types[step.immediate as usize]
    }

    /// One of a step's regions.
    #[inline(always)]
    pub(crate) fn region(&self, step: &Step, at: usize) -> Region {
        self.regions[step.region as usize + at]
    }
}
