//! [`Module`]: PTX ready to be executed, with all instructions in one array and registers numbered.

use std::collections::HashMap;

use smallvec::SmallVec;

/// A program counter: the index of an instruction of a module.
pub(super) type Pc = u32;

/// No instruction: the reconvergence point of lanes that reconverge only at the end of their function.
pub(super) const NO_PC: Pc = Pc::MAX;

/// Register files. Registers of 16 bits are in the file of 32-bit registers; their upper half is then ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum File {
    Word,
    Long,
    Predicate,
}

impl File {
    /// The width of its registers.
    pub(super) fn width(self) -> Width {
        match self {
            File::Word | File::Predicate => Width::Word,
            File::Long => Width::Long,
        }
    }
}

/// A register, by its file and its index in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Register {
    pub(super) file: File,
    pub(super) index: u32,
}

impl Register {
    /// Its number over all files.
    pub(super) fn number(self) -> u32 {
        self.index * 3 + self.file as u32
    }
}

/// How many bits of a value an instruction uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Width {
    Half,
    Word,
    Long,
}

impl Width {
    pub(super) fn file(self) -> File {
        match self {
            Width::Half | Width::Word => File::Word,
            Width::Long => File::Long,
        }
    }
}

/// The type of an instruction on integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Type {
    pub(super) width: Width,
    pub(super) signed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// Operations on two operands of the instruction's type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Binary {
    Add,
    Sub,
    Mul,
    MulHigh,
    Div,
    Rem,
    And,
    Or,
    Xor,
    Min,
    Max,
}

/// Operations on one operand of the instruction's type, with a result of that type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unary {
    Mov,
    Not,
    Neg,
    Abs,
    Brev,
}

/// Operations that count or find bits of a value, with a 32-bit result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Measure {
    Popc,
    Clz,
    Bfind,
    /// How far the highest set bit must be shifted to become the most significant one.
    BfindShift,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shift {
    Left,
    Right,
}

/// Operations on predicates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Logic {
    And,
    Or,
    Xor,
    Not,
    Mov,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shuffle {
    Up,
    Down,
    Bfly,
    Idx,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Vote {
    Any,
    All,
    Uni,
    Ballot,
}

/// Atomic operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Atomic {
    Add,
    And,
    Or,
    Xor,
    Min,
    Max,
    Exchange,
    CompareAndSwap,
    /// Increments up to a bound, then wraps to 0.
    Increment,
    /// Decrements down to 0, then wraps to a bound.
    Decrement,
}

/// The state space of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Space {
    Generic,
    Global,
    Shared,
    Constant,
    Parameter,
}

/// One access to memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Access {
    pub(super) space: Space,
    /// Bytes of an element.
    pub(super) bytes: u8,
    /// How many elements it accesses, one after the other.
    pub(super) elements: u8,
    pub(super) signed: bool,
    /// The file of the data registers.
    pub(super) file: File,
    /// The file of the register with the address; `None` if there is only an offset.
    pub(super) base: Option<File>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Op {
    Binary(Binary, Type),
    Unary(Unary, Type),
    Measure(Measure, Type),
    Shift(Shift, Type),
    /// The product of two numbers of this type, with twice as many bits.
    MulWide(Type),
    /// [`Op::MulWide`] plus a third number with twice as many bits.
    MadWide(Type),
    Mad(Type),
    BitField(Type),
    Insert(Type),
    Permute,
    Funnel(Shift, bool),
    /// A bitwise function of three words, given by its truth table.
    Table,
    Select(Type),
    Compare(Comparison, Type),
    /// A comparison whose result is combined with a third operand by a logic operation.
    CompareAnd(Comparison, Type, Logic),
    Logic(Logic),
    /// Converts this many bits of the first type to the second.
    Convert {
        from_bits: u8,
        from: Type,
        to: Type,
    },
    /// Splits a 64-bit register into two words.
    Unpack,
    /// Combines two words into a 64-bit register.
    Pack,
    /// Converts an address in shared memory to a generic one.
    GenericOfShared,
    /// Converts a generic address to one in shared memory.
    SharedOfGeneric,
    Load(Access),
    Store(Access),
    /// The boolean says whether the old value is returned.
    Atomic(Atomic, Access, bool),
    Shuffle(Shuffle),
    Vote(Vote),
    ActiveMask,
    Fence,
    BarrierOfWarp,
    Branch,
    /// A branch to a target in a table, chosen by an index; the boolean says whether all lanes must go the same way.
    IndexedBranch(bool),
    Call,
    Return,
    Trap,
}

/// The predicate that decides which lanes execute an instruction.
#[derive(Debug, Clone, Copy)]
pub(super) struct Guard {
    pub(super) index: u32,
    pub(super) negated: bool,
}

#[derive(Debug, Clone)]
pub(super) struct Instruction {
    pub(super) op: Op,
    pub(super) guard: Option<Guard>,
    /// The registers that it writes and reads, each in the file that the operation implies. An access to
    /// memory has its address in the last source.
    pub(super) to: [u32; 4],
    pub(super) from: [u32; 5],
    /// The offset of an address.
    pub(super) offset: i64,
    /// The target of a branch, or the index of an indexed branch's table, or of a call's site; and where the lanes of a
    /// branch reconverge.
    pub(super) target: Pc,
    pub(super) reconvergence: Pc,
    /// Its line in the text, from 1 on.
    pub(super) line: u32,
    /// The registers that must have been written before, except for operands of [`Op::Select`], and those that the
    /// instruction writes, as numbers over all files.
    pub(super) reads: SmallVec<[u32; 6]>,
    pub(super) writes: SmallVec<[u32; 4]>,
}

/// A call: where its arguments and its result lie in the parameter space.
#[derive(Debug, Clone)]
pub(super) struct CallSite {
    pub(super) callee: usize,
    pub(super) arguments: Vec<Extent>,
    pub(super) result: Option<Extent>,
}

impl CallSite {
    /// Fails if the sizes of its arguments or of its result differ from the function's.
    pub(super) fn fits(&self, callee: &Function) -> Result<(), String> {
        let bytes = |all: &[Extent]| all.iter().map(|one| one.bytes).collect::<Vec<_>>();
        let (found, expected) = (bytes(&self.arguments), bytes(&callee.parameters));
        if found != expected {
            return Err(format!(
                "call of {}: parameters of {expected:?} bytes expected, {found:?} found",
                callee.name
            ));
        }
        let result = |result: Option<Extent>| result.map_or(0, |result| result.bytes);
        let (found, expected) = (result(self.result), result(callee.result));
        if self.result.is_some() && found != expected {
            return Err(format!(
                "call of {}: a result of {expected} bytes expected, {found} found",
                callee.name
            ));
        }
        Ok(())
    }
}

/// A range of bytes in the parameter space.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent {
    pub(super) at: u32,
    pub(super) bytes: u32,
}

#[derive(Debug, Clone)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) is_entry: bool,
    pub(super) first: Pc,
    pub(super) end: Pc,
    pub(super) parameters: Vec<Extent>,
    pub(super) result: Option<Extent>,
    /// Its registers, as ranges: file, first index, count.
    pub(super) registers: Vec<(File, u32, u32)>,
}

/// The special registers; in this order they are the first 32-bit registers.
pub(super) const SPECIAL: [&str; 10] = [
    "%tid.x",
    "%ntid.x",
    "%ctaid.x",
    "%nctaid.x",
    "%laneid",
    "%lanemask_eq",
    "%lanemask_lt",
    "%lanemask_le",
    "%lanemask_gt",
    "%lanemask_ge",
];

/// PTX, ready to be executed.
#[derive(Debug, Default)]
pub struct Module {
    pub(super) text: String,
    /// Where each line of the text begins.
    pub(super) lines: Vec<usize>,
    pub(super) code: Vec<Instruction>,
    pub(super) functions: Vec<Function>,
    pub(super) calls: Vec<CallSite>,
    /// The target tables of indexed branches.
    pub(super) tables: Vec<Vec<Pc>>,
    /// The number of registers in each file.
    pub(super) sizes: [u32; 3],
    /// The constants in the text, each with the register of its file that holds it.
    pub(super) constants: HashMap<(File, u64), u32>,
    pub(super) parameter_bytes: u32,
    /// The variables of `.const` and `.global`, which kernels only read.
    pub(super) data: Vec<u8>,
}

impl Module {
    /// The entry of this name.
    pub(super) fn entry(&self, name: &str) -> Option<usize> {
        let mut all = self.functions.iter();
        all.position(|function| function.is_entry && function.name == name)
    }

    /// The bytes of each parameter of a kernel; `None` if there is no such kernel.
    pub fn parameters(&self, kernel: &str) -> Option<Vec<u32>> {
        let parameters = &self.functions[self.entry(kernel)?].parameters;
        Some(parameters.iter().map(|parameter| parameter.bytes).collect())
    }

    /// The text of a line, counted from 1.
    pub fn line(&self, number: u32) -> &str {
        let at = number as usize;
        let begin = at.checked_sub(1).and_then(|before| self.lines.get(before));
        let end = self.lines.get(at).copied().unwrap_or(self.text.len());
        let text = begin.and_then(|begin| self.text.get(*begin..end));
        text.unwrap_or_default().trim()
    }

    /// The lines of all instructions, in order.
    pub fn instruction_lines(&self) -> impl Iterator<Item = u32> {
        self.code.iter().map(|instruction| instruction.line)
    }
}
