//! [`Kernel`]: an operation compiled once for every CPU and once for wide vectors.
//!
//! It is the one module of the crate with `unsafe` in it: calling code that is compiled for vectors
//! that not every CPU has.

use super::machine::{Halt, Machine};
use super::program::{Code, Step};
use super::slot::Slot;

/// What runs a step.
pub(crate) type Baseline = fn(&mut Machine, &Code, &Step) -> Result<Slot, Halt>;

/// The same, compiled for vectors of 256 bits: called only where the CPU has them.
pub(crate) type Wide = unsafe fn(&mut Machine, &Code, &Step) -> Result<Slot, Halt>;

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

/// A kernel's version, chosen: it may be called.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run(Wide);

impl Run {
    /// The version that this CPU can run.
    pub(crate) fn new(kernel: &Kernel, vectors: Vectors) -> Self {
        match vectors {
            Vectors::Wide if Vectors::detect() == Vectors::Wide => Self(kernel.wide),
            _ => Self(kernel.baseline),
        }
    }

    /// Runs the step.
    #[inline(always)]
    #[allow(unsafe_code, reason = "code for vectors that not every CPU has")]
    pub(crate) fn call(self, m: &mut Machine, code: &Code, step: &Step) -> Result<Slot, Halt> {
        // SAFETY: `new` is the only constructor, and takes a version that needs vectors only after
        // it has found that the CPU has them. Nothing else about these functions is unsafe.
        unsafe { (self.0)(m, code, step) }
    }
}

/// Makes kernels of bodies: `kernels! { /// Doc. NAME |m, code, step| { .. } .. }`.
///
/// A body gives a `Result<Slot, Halt>`. What it calls is compiled for wide vectors where it is
/// inlined.
macro_rules! kernels {
    ($($(#[$doc:meta])* $name:ident |$m:pat_param, $code:pat_param, $step:pat_param| $body:block)+) => {
        $(
            $(#[$doc])*
            pub(in crate::compiled) static $name: crate::compiled::kernel::Kernel = {
                use crate::compiled::kernel::Kernel;
                use crate::compiled::machine::{Halt, Machine};
                use crate::compiled::program::{Code, Step};
                use crate::compiled::slot::Slot;

                #[inline(always)]
                fn body($m: &mut Machine, $code: &Code, $step: &Step) -> Result<Slot, Halt> $body

                fn baseline(m: &mut Machine, code: &Code, step: &Step) -> Result<Slot, Halt> {
                    body(m, code, step)
                }

                #[cfg(target_arch = "x86_64")]
                #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
                fn wide(m: &mut Machine, code: &Code, step: &Step) -> Result<Slot, Halt> {
                    body(m, code, step)
                }

                Kernel {
                    baseline,
                    #[cfg(target_arch = "x86_64")]
                    wide,
                    #[cfg(not(target_arch = "x86_64"))]
                    wide: baseline,
                }
            };
        )+
    };
}
pub(crate) use kernels;
