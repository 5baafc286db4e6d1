//! [`Code`]: steps in their order, and the kernels that they call.

use super::bail_out::BailOut;
use super::definition::{Argument, Definition};
use super::lanes::columns::Part;
use super::machine::Machine;
use super::slot::{At, Slot};
use arc_dsl::{Primitive, Value};
use arc_form::Type;

/// The function of a kernel.
pub(crate) type Baseline = fn(&mut Machine, &Code, &Step) -> Result<Slot, BailOut>;

/// The same, compiled for vectors of 256 bits: called only if the CPU has them.
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

/// Vectors that this CPU is known to have: kernels compiled for them may be called.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AvailableVectors(Vectors);

impl AvailableVectors {
    /// These, or the baseline if the CPU lacks them.
    pub(crate) fn of(vectors: Vectors) -> Self {
        match vectors {
            Vectors::Wide if Vectors::detect() == Vectors::Wide => Self(Vectors::Wide),
            _ => Self(Vectors::Baseline),
        }
    }
}

/// The version of a kernel that a step calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KernelFn(Wide);

impl KernelFn {
    /// The version that this CPU can run.
    pub(crate) fn new(kernel: &Kernel, vectors: AvailableVectors) -> Self {
        match vectors.0 {
            Vectors::Wide => Self(kernel.wide),
            Vectors::Baseline => Self(kernel.baseline),
        }
    }

    /// Runs the step.
    #[inline(always)]
    #[allow(unsafe_code, reason = "code for vectors that not every CPU has")]
    pub(crate) fn call(self, m: &mut Machine, code: &Code, step: &Step) -> Result<Slot, BailOut> {
        // SAFETY: `new` is the only constructor, and takes the version that needs vectors only if `AvailableVectors`
        // says that the CPU has them. Only `AvailableVectors::of` creates such a value, after detecting them. Nothing
        // else about these functions is unsafe.
        unsafe { (self.0)(m, code, step) }
    }
}

/// One operation on slots. Narrow numbers keep the steps of a program in few cache lines; during lowering the
/// numbers are wider.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step<N = At> {
    /// The kernel.
    pub(crate) run: KernelFn,
    /// The slot that its result goes to.
    pub(crate) to: N,
    /// The slots that it reads; a step with more than four operands reads a range of them, from `a` on.
    pub(crate) a: N,
    pub(crate) b: N,
    pub(crate) c: N,
    pub(crate) d: N,
    /// The number of its first region.
    pub(crate) region: N,
    /// The number of the type that it works on, a number of elements, or a flag: the kernel says which.
    pub(crate) immediate: u32,
}

impl Step<u32> {
    /// Whether all its numbers fit the narrow type; one test for all of them.
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
    /// The slot that holds its result.
    pub(crate) result: At,
    /// The slots of its parameters; 0 for those that it does not have.
    pub(crate) parameters: [At; 2],
    /// Whether it visits elements in another order than the reference's, so that only the reference can tell
    /// which of them fails.
    pub(crate) unordered: bool,
    /// If it is a vectorised loop's: how many primitives the reference calls at least for each lane.
    pub(crate) calls: u32,
}

/// The source of a step, for errors.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Origin {
    pub(crate) line: u32,
    pub(crate) primitive: Option<Primitive>,
}

/// How a loop builds its value from the results on the stack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ending {
    /// The kernel that builds it.
    pub(crate) run: KernelFn,
    /// The number of the type of the results, if they are containers to be traversed.
    pub(crate) inner: u32,
    /// The number of the type of the elements, if they are sorted.
    pub(crate) element: u32,
    /// Whether it unites patches, of which it needs none that is empty.
    pub(crate) is_union: bool,
}

/// A column that is filled from the elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaf {
    /// Which item, if the elements are tuples.
    pub(crate) item: Option<u8>,
    pub(crate) part: Part,
    pub(crate) to: At,
}

/// The columns of a body's result.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ResultType {
    Int([At; 1]),
    Pair([At; 2]),
    Cell([At; 3]),
}

/// The vectorised version of a loop.
#[derive(Clone, Debug)]
pub(crate) struct LaneLoop {
    /// The kernel that runs it element by element.
    pub(crate) scalar: KernelFn,
    /// The steps that are the same for all elements; its parameter, if it has one, is the element of the outer
    /// container of a product.
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
    /// The steps of all regions; those of one region are contiguous.
    pub(crate) steps: Vec<Step>,
    /// Where each step comes from.
    pub(crate) origins: Vec<Origin>,
    /// All regions; number 0 is the whole program.
    pub(crate) regions: Vec<Region>,
    /// Values known before the program runs, with the slots that they go to.
    pub(crate) constants: Vec<(u32, Value, Type)>,
    /// How loops build their values.
    pub(crate) endings: Vec<Ending>,
    /// The vectorised loops.
    pub(crate) lane_loops: Vec<LaneLoop>,
    /// How many columns they need.
    pub(crate) columns: u32,
    /// The types that steps refer to by number.
    pub(crate) types: Vec<Type>,
    /// How the sets in slots are built.
    pub(crate) definitions: Vec<Definition>,
    /// The values from which they are built.
    pub(crate) arguments: Vec<Argument>,
    /// How many slots there are; number 0 is the input.
    pub(crate) slots: u32,
    /// The type of the result.
    pub(crate) output: Type,
}

impl Code {
    /// Clears it, but keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.steps.clear();
        self.origins.clear();
        self.regions.clear();
        self.constants.clear();
        self.endings.clear();
        self.lane_loops.clear();
        self.columns = 0;
        self.types.clear();
        self.definitions.clear();
        self.arguments.clear();
        self.slots = 0;
        self.output = Type::Never;
    }

    /// The number of a type.
    pub(crate) fn number_of(&mut self, ty: &Type) -> u32 {
        let found = self.types.iter().position(|known| known == ty);
        found.unwrap_or_else(|| {
            self.types.push(ty.clone());
            self.types.len() - 1
        }) as u32
    }

    /// Moves its content out, into exactly as much memory as that needs; its own capacity stays.
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
            definitions: self.definitions.drain(..).collect(),
            arguments: self.arguments.drain(..).collect(),
            slots: self.slots,
            output: std::mem::replace(&mut self.output, Type::Never),
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
