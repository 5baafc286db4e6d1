//! [`InstructionCounts`]: counts of the instructions that warps executed.

use super::module::{Access, Module, Op, Part, Space, Type, Unary, Width};

/// Kinds of instructions, by the execution resource that they use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum InstructionKind {
    /// Arithmetic on 32 bits or fewer, and on predicates.
    Word,
    /// Arithmetic on 64 bits, mostly addresses: two or more instructions on a GPU.
    Long,
    /// Copies of a constant or a register to a register.
    Move,
    /// Shuffles between lanes.
    Shuffle,
    /// Votes and barriers.
    Vote,
    /// Branches.
    Branch,
    /// Loads and stores of shared memory.
    Shared,
    /// Loads and stores of device memory.
    Global,
    /// Calls and accesses to parameters.
    Call,
}

impl InstructionKind {
    /// All kinds.
    pub const ALL: [InstructionKind; 9] = [
        InstructionKind::Word,
        InstructionKind::Long,
        InstructionKind::Move,
        InstructionKind::Shuffle,
        InstructionKind::Vote,
        InstructionKind::Branch,
        InstructionKind::Shared,
        InstructionKind::Global,
        InstructionKind::Call,
    ];

    /// Its name in documents.
    pub fn name(self) -> &'static str {
        match self {
            InstructionKind::Word => "word",
            InstructionKind::Long => "long",
            InstructionKind::Move => "move",
            InstructionKind::Shuffle => "shuffle",
            InstructionKind::Vote => "vote",
            InstructionKind::Branch => "branch",
            InstructionKind::Shared => "shared",
            InstructionKind::Global => "global",
            InstructionKind::Call => "call",
        }
    }

    /// The kind of an instruction; for a generic access [`InstructionKind::Global`], until its address is known.
    pub(super) fn of(op: Op) -> InstructionKind {
        let by = |ty: Type| match ty.width {
            Width::Long => InstructionKind::Long,
            Width::Half | Width::Word => InstructionKind::Word,
        };
        match op {
            Op::Unary(Unary::Mov, _) => InstructionKind::Move,
            Op::Binary(_, ty)
            | Op::Unary(_, ty)
            | Op::Measure(_, ty)
            | Op::Shift(_, ty)
            | Op::Mad(ty)
            | Op::BitField(ty)
            | Op::Insert(ty)
            | Op::Select(ty)
            | Op::Compare(_, ty)
            | Op::CompareAnd(_, ty, _) => by(ty),
            Op::Convert { from, to, .. } => {
                if from.width == Width::Long || to.width == Width::Long {
                    InstructionKind::Long
                } else {
                    InstructionKind::Word
                }
            }
            Op::MulWide(ty) | Op::MadWide(ty) => match ty.width {
                Width::Half => InstructionKind::Word,
                Width::Word | Width::Long => InstructionKind::Long,
            },
            Op::Unpack | Op::Pack | Op::GenericOfShared | Op::SharedOfGeneric => {
                InstructionKind::Long
            }
            Op::Permute | Op::Funnel(..) | Op::Table | Op::Logic(_) | Op::ActiveMask => {
                InstructionKind::Word
            }
            Op::Load(Access { space, .. }) | Op::Store(Access { space, .. }) => match space {
                Space::Shared => InstructionKind::Shared,
                Space::Parameter => InstructionKind::Call,
                Space::Generic | Space::Global | Space::Constant => InstructionKind::Global,
            },
            Op::Atomic(..) => InstructionKind::Global,
            Op::Shuffle(_) => InstructionKind::Shuffle,
            Op::Vote(_) | Op::BarrierOfWarp | Op::BarrierOfBlock | Op::Fence => {
                InstructionKind::Vote
            }
            Op::Branch | Op::IndexedBranch(_) => InstructionKind::Branch,
            Op::Call | Op::Return | Op::Trap | Op::Mark(_) => InstructionKind::Call,
        }
    }
}

/// Counts of warp instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Issued {
    /// All.
    pub all: u64,
    /// Those with fewer than 32 active lanes.
    pub idle: u64,
}

/// Traffic between lanes and memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    /// Bytes accessed in shared memory, over all lanes.
    pub shared_bytes: u64,
    /// Bytes accessed in device memory, over all lanes.
    pub global_bytes: u64,
    /// Sectors of 32 bytes of device memory that instructions accessed, each counted once per instruction.
    pub sectors: u64,
}

/// The counts of one part of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PartCounts {
    kinds: [Issued; InstructionKind::ALL.len()],
    /// Its memory traffic.
    pub traffic: Traffic,
}

impl PartCounts {
    /// Instructions of a kind.
    pub fn of(&self, kind: InstructionKind) -> Issued {
        self.kinds[kind as usize]
    }

    /// All instructions.
    pub fn issued(&self) -> Issued {
        let add = |sum: Issued, one: &Issued| Issued {
            all: sum.all + one.all,
            idle: sum.idle + one.idle,
        };
        self.kinds.iter().fold(Issued::default(), add)
    }

    /// Adds the counts of another launch.
    pub fn add(&mut self, other: &PartCounts) {
        for (sum, one) in self.kinds.iter_mut().zip(&other.kinds) {
            sum.all += one.all;
            sum.idle += one.idle;
        }
        self.traffic.shared_bytes += other.traffic.shared_bytes;
        self.traffic.global_bytes += other.traffic.global_bytes;
        self.traffic.sectors += other.traffic.sectors;
    }
}

/// One run of an operation, from the mark before it to the one after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperationRun {
    /// The line of the mark before it. Each operation has its own mark, so this identifies the operation.
    pub line: u32,
    /// Warp instructions executed.
    pub instructions: u64,
}

/// Counts of the instructions that warps executed. Marks are not counted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct InstructionCounts {
    /// How often each instruction of the module was issued.
    by_instruction: Vec<u64>,
    /// By part; the first entry is for code before any mark.
    parts: [PartCounts; Part::ALL.len() + 1],
    operations: Vec<OperationRun>,
    part: usize,
    /// The line of the last mark of an operation, and the number of instructions issued before it.
    since: (u32, u64),
    issued: u64,
}

impl InstructionCounts {
    pub(super) fn new(module: &Module) -> Self {
        InstructionCounts {
            by_instruction: vec![0; module.code.len()],
            ..InstructionCounts::default()
        }
    }

    /// The counts of a part of the kernel; `None` is the code before any mark.
    pub fn part(&self, part: Option<Part>) -> &PartCounts {
        &self.parts[part.map_or(0, |part| part as usize + 1)]
    }

    /// All warp instructions.
    pub fn issued(&self) -> u64 {
        self.issued
    }

    /// Each run of an operation, in order.
    pub fn operations(&self) -> &[OperationRun] {
        &self.operations
    }

    /// The lines of the instructions that were executed, and how often each was, in the order of the text.
    pub fn lines<'a>(&'a self, module: &'a Module) -> impl Iterator<Item = (u32, u64)> + 'a {
        let all = module.code.iter().zip(&self.by_instruction);
        let executed = all.filter(|(_, count)| **count > 0);
        executed.map(|(instruction, count)| (instruction.line, *count))
    }

    /// Begins a warp, before any mark.
    pub(super) fn begin_warp(&mut self) {
        self.part = 0;
    }

    pub(super) fn mark(&mut self, part: Part, line: u32) {
        let part = part as usize + 1;
        let operation = Part::Operation as usize + 1;
        if self.part == operation && part != operation {
            let (line, before) = self.since;
            self.operations.push(OperationRun {
                line,
                instructions: self.issued - before,
            });
        }
        if part == operation && self.part != operation {
            self.since = (line, self.issued);
        }
        self.part = part;
    }

    #[inline]
    pub(super) fn issue(&mut self, pc: u32, kind: InstructionKind, full: bool) {
        self.issued += 1;
        if let Some(count) = self.by_instruction.get_mut(pc as usize) {
            *count += 1;
        }
        let issued = &mut self.parts[self.part].kinds[kind as usize];
        issued.all += 1;
        issued.idle += u64::from(!full);
    }

    /// Counts the last access as one to shared memory, not device memory.
    pub(super) fn reclassify_as_shared(&mut self, full: bool) {
        let kinds = &mut self.parts[self.part].kinds;
        kinds[InstructionKind::Global as usize].all -= 1;
        kinds[InstructionKind::Global as usize].idle -= u64::from(!full);
        kinds[InstructionKind::Shared as usize].all += 1;
        kinds[InstructionKind::Shared as usize].idle += u64::from(!full);
    }

    pub(super) fn shared(&mut self, bytes: u64) {
        self.parts[self.part].traffic.shared_bytes += bytes;
    }

    /// Counts accesses of lanes to device memory; each is aligned, so it lies within one sector.
    pub(super) fn global(&mut self, addresses: &mut [u64], bytes: u64) {
        let traffic = &mut self.parts[self.part].traffic;
        traffic.global_bytes += bytes * addresses.len() as u64;
        for address in &mut *addresses {
            *address /= 32;
        }
        if !addresses.is_sorted() {
            addresses.sort_unstable();
        }
        let different = addresses.windows(2).filter(|two| two[0] != two[1]).count();
        traffic.sectors += different as u64 + u64::from(!addresses.is_empty());
    }
}
