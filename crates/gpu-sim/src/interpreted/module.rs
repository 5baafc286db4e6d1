//! [`Module`]: PTX as it is executed, instructions in one row with their registers numbered.

/// The number of an instruction of a module.
pub(super) type Place = u32;

/// No instruction: where lanes that part meet only at the end of their function.
pub(super) const NOWHERE: Place = Place::MAX;

/// Which file a register lies in. Registers of 16 bits lie with those of 32, whose upper half then is of
/// no account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum File {
    Word,
    Long,
    Predicate,
}

/// A register, by its file and its number there.
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

/// How many bits of a value take part.
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

/// What has two operands of the instruction's type.
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

/// What has one operand of the instruction's type, and gives one of that type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unary {
    Mov,
    Not,
    Neg,
    Abs,
    Brev,
}

/// What gives 32 bits that say something of a value's bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Measure {
    Popc,
    Clz,
    Bfind,
    /// By how much the highest bit would have to be moved to be the most significant one.
    BfindShift,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shift {
    Left,
    Right,
}

/// Of predicates.
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

/// What an atomic access makes of what it finds.
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
    /// Up to a bound, then 0.
    Increment,
    /// Down to 0, then a bound.
    Decrement,
}

/// Where an address points to.
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
    /// Elements, which lie one after the other.
    pub(super) elements: u8,
    pub(super) signed: bool,
    /// The file of the registers.
    pub(super) file: File,
    /// The file of the register with the address; `None` if there is only an offset.
    pub(super) base: Option<File>,
}

/// What the kernels' marks say follows: `// arc part NAME` in a comment of inline assembly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    /// Arguments and constants on their way into the pool.
    Arguments,
    /// From one device instruction to the next, and to its operation.
    Dispatch,
    /// From one of the evaluations side by side to the next.
    Loop,
    /// The operation itself.
    Operation,
    /// What came of the evaluation: comparison, hash, result and verdict.
    Verdict,
}

impl Part {
    /// All there are.
    pub const ALL: [Part; 5] = [
        Part::Arguments,
        Part::Dispatch,
        Part::Loop,
        Part::Operation,
        Part::Verdict,
    ];

    /// Its name, as marks have it.
    pub fn name(self) -> &'static str {
        match self {
            Part::Arguments => "arguments",
            Part::Dispatch => "dispatch",
            Part::Loop => "loop",
            Part::Operation => "operation",
            Part::Verdict => "verdict",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Op {
    Binary(Binary, Type),
    Unary(Unary, Type),
    Measure(Measure, Type),
    Shift(Shift, Type),
    /// The product of two numbers with twice their bits; they are of this type.
    MulWide(Type),
    /// As [`Op::MulWide`], and a third number of that many bits is added.
    MadWide(Type),
    Mad(Type),
    BitField(Type),
    Insert(Width),
    Permute,
    Funnel(Shift, bool),
    /// Any function of three bits, by its table.
    Table,
    Select(Width),
    Compare(Comparison, Type),
    /// A comparison whose result a logic operation joins with a third operand.
    CompareAnd(Comparison, Type, Logic),
    Logic(Logic),
    /// From so many bits of the first type to the second.
    Convert {
        from_bits: u8,
        from: Type,
        to: Type,
    },
    /// Two words of the first operand, and one of two.
    Unpack,
    Pack,
    /// An address in shared memory made generic, and back.
    GenericOfShared,
    SharedOfGeneric,
    Load(Access),
    Store(Access),
    /// The boolean says whether what was found is given.
    Atomic(Atomic, Access, bool),
    Shuffle(Shuffle),
    Vote(Vote),
    ActiveMask,
    Fence,
    BarrierOfWarp,
    BarrierOfBlock,
    Branch,
    /// A branch whose target an index chooses of a table; the boolean says whether all lanes have to go
    /// the same way.
    IndexedBranch(bool),
    Call,
    Return,
    Trap,
    Mark(Part),
}

/// A list of a few numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Few<const N: usize> {
    count: u8,
    all: [u32; N],
}

impl<const N: usize> Default for Few<N> {
    fn default() -> Self {
        Few {
            count: 0,
            all: [0; N],
        }
    }
}

impl<const N: usize> Few<N> {
    /// Adds one; more than there is room for are left out, which no instruction has.
    pub(super) fn push(&mut self, one: u32) {
        if let Some(place) = self.all.get_mut(usize::from(self.count)) {
            *place = one;
            self.count += 1;
        }
    }

    #[inline]
    pub(super) fn as_slice(&self) -> &[u32] {
        &self.all[..usize::from(self.count)]
    }
}

/// A predicate that decides in which lanes an instruction is executed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Guard {
    pub(super) index: u32,
    pub(super) negated: bool,
}

#[derive(Debug, Clone)]
pub(super) struct Instruction {
    pub(super) op: Op,
    pub(super) guard: Option<Guard>,
    /// Registers it writes and reads, each in the file that the operation implies. Of an access to
    /// memory the address is the last one read.
    pub(super) to: [u32; 4],
    pub(super) from: [u32; 5],
    /// The offset of an address.
    pub(super) offset: i64,
    /// Where a branch goes, and where its lanes meet again; of an indexed branch the number of its
    /// table, of a call that of its site.
    pub(super) target: Place,
    pub(super) meet: Place,
    /// Its line in the text, from 1 on.
    pub(super) line: u32,
    /// What has to be written before, but for operands of [`Op::Select`], and what then is written:
    /// numbers of all registers, over all files.
    pub(super) reads: Few<6>,
    pub(super) writes: Few<4>,
}

/// A call: places of its arguments and of its result in the parameter space.
#[derive(Debug, Clone)]
pub(super) struct CallSite {
    pub(super) callee: usize,
    pub(super) arguments: Vec<Extent>,
    pub(super) result: Option<Extent>,
}

impl CallSite {
    /// Fails where it passes other bytes than the function takes, or takes others than that gives.
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

/// Bytes of the parameter space.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent {
    pub(super) at: u32,
    pub(super) bytes: u32,
}

#[derive(Debug, Clone)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) is_entry: bool,
    pub(super) first: Place,
    pub(super) end: Place,
    pub(super) parameters: Vec<Extent>,
    pub(super) result: Option<Extent>,
    /// Its registers: rows of them, each with its first one's number and how many there are.
    pub(super) registers: Vec<(File, u32, u32)>,
}

/// Special registers, in this order, are the first of 32 bits.
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
    /// Where indexed branches go.
    pub(super) tables: Vec<Vec<Place>>,
    /// Registers of each file.
    pub(super) sizes: [u32; 3],
    /// Numbers in the text, and the registers that hold them.
    pub(super) words: Vec<(u32, u32)>,
    pub(super) longs: Vec<(u64, u32)>,
    pub(super) predicates: Vec<(bool, u32)>,
    pub(super) parameter_bytes: u32,
    /// Variables of `.const` and `.global`, which kernels only read.
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

    /// The text of a line, from 1 on.
    pub fn line(&self, number: u32) -> &str {
        let at = number as usize;
        let begin = at.checked_sub(1).and_then(|before| self.lines.get(before));
        let end = self.lines.get(at).copied().unwrap_or(self.text.len());
        let text = begin.and_then(|begin| self.text.get(*begin..end));
        text.unwrap_or_default().trim()
    }

    /// The lines of all instructions, in order; marks are none.
    pub fn instruction_lines(&self) -> impl Iterator<Item = u32> {
        let instructions = self.code.iter();
        instructions
            .filter(|instruction| !matches!(instruction.op, Op::Mark(_)))
            .map(|instruction| instruction.line)
    }
}
