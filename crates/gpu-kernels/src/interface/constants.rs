//! Numbers that both sides count with.

use super::words::{immediate, verdict};
use super::{ElementKind, lane_operations, text};

macro_rules! constants {
    ($($(#[doc = $about:literal])* $visible:vis const $name:ident: $ty:ty = $value:expr;)*) => {
        $($(#[doc = $about])* $visible const $name: $ty = $value;)*

        /// All of them as the kernels have them.
        pub(super) fn header() -> String {
            let all = [$(text::constant(
                stringify!($name),
                stringify!($ty),
                $name.into(),
                &[$($about),*],
            )),*];
            all.concat()
        }
    };
}

constants! {
    /// Rows and columns of a window, and of the largest grid; lanes of a warp, one a row.
    pub const SIDE: i32 = 32;
    /// Planes of a grid or of an object's colours: bit `k` of a cell's code lies in plane `k`.
    pub(crate) const PLANES: u32 = 4;
    /// Bytes of a row of planes, which lie side by side: plane 0 first.
    pub const ROW_BYTES: u32 = 4 * PLANES;
    /// Bytes of a unit of the pool: a word of 32 bits a lane.
    pub const UNIT_BYTES: u32 = 4 * SIDE as u32;
    /// The first of the units of an object in which its colours lie, counted from its first unit, in
    /// which its locations lie: so it can be taken for its patch as it lies.
    pub(crate) const COLOURS_UNIT: u32 = 1;
    /// The least colour.
    pub(crate) const FIRST_COLOUR: i32 = -1;
    /// How many colours there are. A colour's code is the colour modulo this number.
    pub const COLOURS: u32 = 1 << PLANES;
    /// The integer of the largest absolute value, which is the language's bound.
    pub(crate) const MAX_INTEGER: i32 = arc_dsl::MAX_INT;
    /// The integer that there is not: what `index` gives off the grid.
    pub(crate) const MISSING: i32 = i32::MIN;
    /// The pair that there is not: the corner of an empty patch.
    pub(crate) const MISSING_PAIR: u32 = 0x8000_8000;
    /// The largest absolute value of a pair's components.
    pub(crate) const MAX_COORDINATE: i32 = 0x7fff;
    /// The largest absolute value of the coordinates of an origin that an operation gives: every
    /// location of the window, and a step from it, is then a pair.
    pub const MAX_ORIGIN: i32 = 32_000;
    /// Operands that an instruction has room for.
    pub(crate) const OPERANDS: u32 = 4;
    /// How many parts of a tuple an instruction can name.
    pub(crate) const MAX_PARTS: i32 = 1 << immediate::KEY.width;
    /// Evaluations of one program that a warp makes side by side at most.
    pub(crate) const MAX_SIDE_BY_SIDE: u32 = 4;
    /// Warps of a block at most.
    pub(crate) const MAX_WARPS: u32 = 4;
    /// The largest absolute value of a cell's coordinates, one more than it on the positive side.
    pub(crate) const MAX_CELL: i32 = 1 << 13;
    /// Elements that a list has at most, and words of an arena.
    pub(crate) const MAX_COUNT: u32 = 0xffff;
    /// Added to an `ElementKind` where elements are lists of elements of that kind.
    pub(crate) const LISTED_ELEMENTS: u32 = ElementKind::LISTED as u32;
    /// An instruction that goes on elsewhere. Where to is counted in instructions from the one behind
    /// it, as a signed number, here and for the other jumps.
    pub(crate) const JUMP: u32 = lane_operations::END;
    /// One that goes on elsewhere unless its first operand is true.
    pub(crate) const JUMP_UNLESS: u32 = JUMP + 1;
    /// The head of a loop: gives the element of its first operand, a list, whose number its second
    /// says, and adds one to that; where there is no such element it goes on elsewhere. With the flag
    /// its first operand is a number of rounds and it gives nothing.
    pub(crate) const NEXT: u32 = JUMP + 2;
    /// The same for the next elements of a list, up to one a lane: it gives a column of them, and adds
    /// the number of lanes to its second operand.
    pub(crate) const NEXT_BLOCK: u32 = JUMP + 3;
    /// The last instruction of every program.
    pub(crate) const END: u32 = JUMP + 4;
    /// How many opcodes there is room for, a power of two; of those that are none an evaluation bails out.
    pub(crate) const OPCODES: u32 = (END + 1).next_power_of_two();
    /// Rounds that the loops of an evaluation take at most, all together.
    pub(crate) const MAX_ROUNDS: u32 = 1 << 16;
    /// Words of an evaluation's arena: 64 KB.
    pub(crate) const ARENA_WORDS: u32 = 1 << 14;
    /// Bits of a bail-out's code.
    pub(crate) const BAIL_OUT_BITS: u32 = verdict::BAIL_OUT.width;
    /// What stands for no place in the launch's buffers.
    pub(crate) const NOWHERE: u32 = u32::MAX;
}
