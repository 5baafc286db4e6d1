//! Structures in device memory, laid out as C does it.

use std::mem::{align_of, offset_of, size_of};

use bytemuck::{Pod, Zeroable};

use super::constants::{END, OPERANDS};
use super::text::{self, RecordField};

/// What a field is in the kernels.
trait InKernels {
    /// Its type, or that of its elements.
    const TYPE: &'static str;
    /// How many elements it has, where it is an array.
    const ELEMENTS: Option<usize> = None;
    /// Bytes of an element.
    const BYTES: usize;
}

impl InKernels for u16 {
    const TYPE: &'static str = "uint16_t";
    const BYTES: usize = size_of::<u16>();
}

impl InKernels for u32 {
    const TYPE: &'static str = "uint32_t";
    const BYTES: usize = size_of::<u32>();
}

impl<T: InKernels, const N: usize> InKernels for [T; N] {
    const TYPE: &'static str = T::TYPE;
    const ELEMENTS: Option<usize> = Some(N);
    const BYTES: usize = T::BYTES;
}

macro_rules! records {
    ($(
        $(#[doc = $about:literal])*
        $name:ident, aligned to $alignment:literal $(, read as a $vector:ident)? {
            $($(#[doc = $field_about:literal])* $field:ident: $ty:ty,)*
        }
    )*) => {
        $(
            $(#[doc = $about])*
            #[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
            #[repr(C, align($alignment))]
            pub(crate) struct $name {
                $($(#[doc = $field_about])* pub(crate) $field: $ty,)*
            }
        )*

        /// All of them as the kernels have them.
        pub(super) fn header() -> String {
            let all = [$({
                let fields = [$(RecordField {
                    name: stringify!($field),
                    ty: <$ty as InKernels>::TYPE,
                    elements: <$ty as InKernels>::ELEMENTS,
                    offset: offset_of!($name, $field),
                    bytes: <$ty as InKernels>::BYTES,
                    about: &[$($field_about),*],
                }),*];
                let body = if [$(stringify!($vector))?].contains(&"vector") {
                    text::vector(stringify!($name), &fields)
                } else {
                    text::structure(stringify!($name), align_of::<$name>(), &fields)
                };
                let (bytes, alignment) = (size_of::<$name>(), align_of::<$name>());
                text::record(stringify!($name), [bytes, alignment], &[$($about),*], &body)
            }),*];
            all.concat()
        }
    };
}

records! {
    /// An instruction. All lanes read the same one.
    InstructionRecord, aligned to 16, read as a vector {
        /// Which operation it is.
        opcode: u16,
        /// An `Immediate`.
        immediate: u16,
        /// An `OperandPlace`, where no operand lies.
        result: u16,
        /// Each an `OperandPlace`, those that the operation has first.
        operands: [u16; OPERANDS as usize],
        /// Line of the program's text that it comes from; 0 for none.
        line: u16,
    }

    /// Where a program's parts lie in the launch's buffers, and how large an evaluation's pool is.
    ProgramRecord, aligned to 16 {
        /// Its first constant's word in `constant_words`.
        constant_word: u32,
        /// How many words its constants have; they are the first of the pool.
        constant_words: u32,
        /// Its first constant's unit in `constant_units`.
        constant_unit: u32,
        /// How many units its constants have; they are the first of the pool.
        constant_units: u32,
        /// Words of its parameters, which follow the constants in the pool.
        parameter_words: u32,
        /// Units of its parameters.
        parameter_units: u32,
        /// Words of the pool.
        words: u32,
        /// Its first instruction.
        code: u32,
        /// Where the result lies, an `OperandPlace`.
        result: u32,
        /// Units of the result.
        result_units: u32,
        /// 1 where the result is a grid, which can be compared; else 0.
        result_is_grid: u32,
        /// Not read.
        spare: u32,
    }

    /// The arguments of an evaluation, and the grid that its result is compared with. `NOWHERE` stands for
    /// what is not there.
    PairRecord, aligned to 16 {
        /// First word of the arguments, which lie one after the other.
        words: u32,
        /// Their first unit.
        units: u32,
        /// Word of the expected grid.
        expected_word: u32,
        /// First unit of the expected grid.
        expected_unit: u32,
    }

    /// Evaluations of one program on pairs one after the other that a warp makes side by side, so that
    /// each instruction is fetched once for all of them.
    WorkRecord, aligned to 16 {
        /// The program.
        program: u32,
        /// The first of the pairs.
        first: u32,
        /// How many they are, at most `side_by_side` of the launch.
        count: u32,
        /// The index of the first evaluation's verdict; the others follow it.
        verdict: u32,
        /// Where the first result's word is to go, which the others follow; `NOWHERE` where no result is wanted.
        result_word: u32,
        /// Where the first result's first unit is to go, which the others follow.
        result_unit: u32,
        /// Not read.
        spare: [u32; 2],
    }
}

impl InstructionRecord {
    /// What stands behind the last instruction of a program.
    pub(crate) const END: Self = Self {
        opcode: END as u16,
        immediate: 0,
        result: 0,
        operands: [0; OPERANDS as usize],
        line: 0,
    };
}
