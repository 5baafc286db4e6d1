//! Words whose bits are more than one thing.

use super::text::About;

/// A word with several bit fields.
pub(super) struct PackedWord {
    /// The name of its type in the kernels.
    pub(super) name: &'static str,
    /// How many bits it has.
    pub(super) bits: u32,
    pub(super) about: About<'static>,
    /// Its bit fields, each with its name and its documentation.
    pub(super) fields: &'static [(&'static str, BitField, About<'static>)],
}

/// Where a part of a word lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BitField {
    /// Its lowest bit.
    pub shift: u32,
    /// How many bits it has.
    pub width: u32,
    /// What its bits are.
    pub what: Bits,
}

/// What the bits of a part of a word are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bits {
    /// A number that is not negative.
    Number,
    /// A number in two's complement.
    Signed,
    /// A truth value.
    Flag,
}

impl BitField {
    const fn number(shift: u32, width: u32) -> Self {
        let what = Bits::Number;
        Self { shift, width, what }
    }

    const fn signed(shift: u32, width: u32) -> Self {
        let what = Bits::Signed;
        Self { shift, width, what }
    }

    const fn flag(shift: u32) -> Self {
        let (width, what) = (1, Bits::Flag);
        Self { shift, width, what }
    }

    /// The bits of the part, in the lowest places.
    pub const fn mask(self) -> u32 {
        u32::MAX >> (u32::BITS - self.width)
    }

    /// The part's share of a word; what has no room in it is left out.
    pub(crate) const fn put(self, value: u32) -> u32 {
        (value & self.mask()) << self.shift
    }

    /// The part of a word.
    pub(crate) const fn get(self, word: u32) -> u32 {
        word >> self.shift & self.mask()
    }

    /// The part of a word, with its sign.
    pub(crate) const fn get_signed(self, word: u32) -> i32 {
        let up = u32::BITS - self.width;
        (self.get(word) << up).cast_signed() >> up
    }

    /// Whether it is set.
    pub(crate) const fn is_set(self, word: u32) -> bool {
        self.get(word) != 0
    }
}

macro_rules! words {
    ($(
        $(#[doc = $about:literal])*
        $module:ident: $name:ident, $bits:literal bits {
            $($(#[doc = $field_about:literal])* $field:ident: $what:ident($($place:expr),*);)*
        }
    )*) => {
        $(
            $(#[doc = $about])*
            pub(crate) mod $module {
                use super::*;

                $($(#[doc = $field_about])*
                pub(crate) const $field: BitField = BitField::$what($($place),*);)*
            }
        )*

        /// All of them.
        pub(super) const ALL: &[PackedWord] = &[$(PackedWord {
            name: stringify!($name),
            bits: $bits,
            about: &[$($about),*],
            fields: &[$((stringify!($field), $module::$field, &[$($field_about),*])),*],
        }),*];
    };
}

words! {
    /// What an instruction says beside its operands.
    immediate: Immediate, 16 bits {
        /// How the set of objects that it takes or makes falls into elements, a `Structure`.
        STRUCTURE: number(0, 3);
        /// A truth value of the operation's own: of `objects`, whether the background is left out.
        FLAG: flag(3);
        /// By what an operation compares elements, a `Key`; or which part of a tuple it gives.
        KEY: number(4, 8);
        /// Whether cells of the result outside the window at (0, 0) are seen by nobody.
        CLIPPED: flag(15);
    }

    /// Where a value lies in the pool of its evaluation.
    operand: OperandPlace, 16 bits {
        /// Number of its word.
        WORD: number(0, 8);
        /// Number of its first unit; 0 where it has none.
        UNIT: number(8, 8);
    }

    /// The size of a grid. Without rows there are no columns.
    size: GridSize, 32 bits {
        /// Rows.
        HEIGHT: number(16, 16);
        /// Columns.
        WIDTH: number(0, 16);
    }

    /// A pair of integers; the origin of a window, which is the location of bit 0 of its row 0.
    pair: PairWord, 32 bits {
        /// The first one, which counts rows downwards.
        I: signed(16, 16);
        /// The second one, which counts columns to the right.
        J: signed(0, 16);
    }

    /// A cell near the origin. Words compare as cells do.
    cell: CellWord, 32 bits {
        /// Where its colour stands among the others, -1 first.
        RANK: number(28, 4);
        /// Its row plus `MAX_CELL`.
        I: number(14, 14);
        /// Its column plus `MAX_CELL`.
        J: number(0, 14);
    }

    /// A list in the arena of its evaluation.
    list: ListWord, 32 bits {
        /// Number of its first word there.
        START: number(16, 16);
        /// How many elements it has, a word each.
        COUNT: number(0, 16);
    }

    /// What came of an evaluation.
    verdict: VerdictByte, 8 bits {
        /// Why the device bailed out, a `BailOut`; the other field is 0 then.
        BAIL_OUT: number(0, 7);
        /// Whether the result is the expected grid.
        RIGHT: flag(7);
    }
}
