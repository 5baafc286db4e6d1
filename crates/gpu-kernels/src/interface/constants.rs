//! Numbers that both sides count with.

use super::words::{immediate, status};
use super::{Constant, ElementKind, about, lane_operations};

macro_rules! constants {
    ($($(#[doc = $about:literal])* $visible:vis const $name:ident: $ty:ty = $value:expr;)*) => {
        $($(#[doc = $about])* $visible const $name: $ty = $value;)*

        /// All of them.
        pub(super) fn all() -> Vec<Constant> {
            vec![$(Constant {
                name: stringify!($name),
                value: $name.into(),
                about: about(&[$($about),*]),
            }),*]
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
    /// Index of an object's first colour unit. Unit 0 holds its locations, so an object can be used as
    /// a patch without conversion.
    pub(crate) const COLOURS_UNIT: u32 = 1;
    /// The least colour.
    pub(crate) const FIRST_COLOUR: i32 = -1;
    /// How many colours there are. A colour's code is the colour modulo this number.
    pub const COLOURS: u32 = 1 << PLANES;
    /// The language's bound on the absolute value of integers.
    pub(crate) const MAX_INTEGER: i32 = arc_dsl::MAX_INT;
    /// Stands for Python's `None`; `index` returns it for a location outside the grid.
    pub(crate) const MISSING: i32 = i32::MIN;
    /// Stands for the empty tuple: the corner of an empty patch.
    pub(crate) const MISSING_PAIR: u32 = 0x8000_8000;
    /// The largest absolute value of a pair's components.
    pub(crate) const MAX_COORDINATE: i32 = 0x7fff;
    /// The largest absolute coordinate of an origin that an operation returns: each location of the
    /// window, and each of their neighbours, then fits a pair.
    pub const MAX_ORIGIN: i32 = 32_000;
    /// Operands of an instruction at most.
    pub(crate) const OPERANDS: u32 = 4;
    /// How many parts of a tuple an instruction can name.
    pub(crate) const MAX_PARTS: i32 = 1 << immediate::KEY.width;
    /// Evaluations of one program that a warp runs side by side at most.
    pub(crate) const MAX_SIDE_BY_SIDE: u32 = 4;
    /// Warps of a block at most.
    pub(crate) const MAX_WARPS: u32 = 4;
    /// Coordinates of a cell are at least `-MAX_CELL` and less than `MAX_CELL`.
    pub(crate) const MAX_CELL: i32 = 1 << 13;
    /// Elements of a list, and words of an arena, at most.
    pub(crate) const MAX_COUNT: u32 = 0xffff;
    /// Added to an `ElementKind` if the elements are lists of elements of that kind.
    pub(crate) const LISTED_ELEMENTS: u32 = ElementKind::LISTED as u32;
    /// Unconditional jump. All jump targets are signed offsets, in instructions, from the next
    /// instruction.
    pub(crate) const JUMP: u32 = lane_operations::END;
    /// Jumps unless its first operand is true.
    pub(crate) const JUMP_UNLESS: u32 = JUMP + 1;
    /// Loop head: loads the element of a list, its first operand, at an index, its second, and
    /// increments the index; jumps if the list has ended. With the flag the first operand is a number
    /// of rounds, and nothing is loaded.
    pub(crate) const NEXT: u32 = JUMP + 2;
    /// Loop head that loads the next elements of a list, one a lane, as a column, and adds the number
    /// of lanes to the index.
    pub(crate) const NEXT_BLOCK: u32 = JUMP + 3;
    /// The last instruction of every program.
    pub(crate) const END: u32 = JUMP + 4;
    /// Size of the table of opcodes, a power of two. An evaluation bails out of an unused one.
    pub(crate) const OPCODES: u32 = (END + 1).next_power_of_two();
    /// Rounds of all loops of an evaluation together at most.
    pub(crate) const MAX_ROUNDS: u32 = 1 << 16;
    /// Words of an evaluation's arena: 64 KB.
    pub(crate) const ARENA_WORDS: u32 = 1 << 14;
    /// Bits of a bail-out's code.
    pub(crate) const BAIL_OUT_BITS: u32 = status::BAIL_OUT.width;
    /// Stands for no place in the launch's buffers.
    pub(crate) const NOWHERE: u32 = u32::MAX;
    /// Hash of a grid, lower half: a row's chain begins with this times the row's number, counted from
    /// 1. The chains of the two halves share no constant: otherwise swapped planes cancel out.
    pub(crate) const HASH_LOW_BEGIN: u32 = 0x9e37_79b9;
    /// Lower half: bits by which the chain is rotated for each plane.
    pub(crate) const HASH_LOW_ROTATION: u32 = 15;
    /// Lower half: factor of the chain for each plane.
    pub(crate) const HASH_LOW_MULTIPLIER: u32 = 0xcc9e_2d51;
    /// Lower half: factor of the size's word.
    pub(crate) const HASH_LOW_SIZE: u32 = 0x846c_a68b;
    /// Upper half: as `HASH_LOW_BEGIN`.
    pub(crate) const HASH_HIGH_BEGIN: u32 = 0x7feb_352d;
    /// Upper half: as `HASH_LOW_ROTATION`.
    pub(crate) const HASH_HIGH_ROTATION: u32 = 13;
    /// Upper half: as `HASH_LOW_MULTIPLIER`.
    pub(crate) const HASH_HIGH_MULTIPLIER: u32 = 0x1b87_3593;
    /// Upper half: as `HASH_LOW_SIZE`.
    pub(crate) const HASH_HIGH_SIZE: u32 = 0x2c1b_3c6d;
    /// A chain ends with the finish of `MurmurHash3` (Appleby, public domain), whose constants are known
    /// to avalanche. Bits by which its first and last steps shift.
    pub(crate) const HASH_FINISH_OUTER: u32 = 16;
    /// Bits by which its second step shifts.
    pub(crate) const HASH_FINISH_INNER: u32 = 13;
    /// Factor after its first step.
    pub(crate) const HASH_FINISH_FIRST: u32 = 0x85eb_ca6b;
    /// Factor after its second step.
    pub(crate) const HASH_FINISH_SECOND: u32 = 0xc2b2_ae35;
}
