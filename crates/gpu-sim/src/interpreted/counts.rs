//! [`Counts`]: what warps executed.

use super::module::{Access, Module, Op, Part, Space, Type, Unary, Width};

/// What an instruction keeps busy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Of 32 bits and fewer, predicates among them.
    Word,
    /// Of 64 bits, mostly addresses: two instructions of a GPU, or more.
    Long,
    /// A number or a register into another.
    Move,
    /// A value of another lane.
    Shuffle,
    /// Votes and barriers.
    Vote,
    /// Branches.
    Branch,
    /// Loads and stores of shared memory.
    Shared,
    /// Loads and stores of device memory.
    Global,
    /// What calls and parameters cost.
    Call,
}

impl Kind {
    /// All there are.
    pub const ALL: [Kind; 9] = [
        Kind::Word,
        Kind::Long,
        Kind::Move,
        Kind::Shuffle,
        Kind::Vote,
        Kind::Branch,
        Kind::Shared,
        Kind::Global,
        Kind::Call,
    ];

    /// Its name in documents.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Word => "word",
            Kind::Long => "long",
            Kind::Move => "move",
            Kind::Shuffle => "shuffle",
            Kind::Vote => "vote",
            Kind::Branch => "branch",
            Kind::Shared => "shared",
            Kind::Global => "global",
            Kind::Call => "call",
        }
    }

    /// That of an instruction; of a generic access [`Kind::Global`], until its address is known.
    pub(super) fn of(op: Op) -> Kind {
        let by = |ty: Type| match ty.width {
            Width::Long => Kind::Long,
            Width::Half | Width::Word => Kind::Word,
        };
        match op {
            Op::Unary(Unary::Mov, _) => Kind::Move,
            Op::Binary(_, ty)
            | Op::Unary(_, ty)
            | Op::Measure(_, ty)
            | Op::Shift(_, ty)
            | Op::Mad(ty)
            | Op::BitField(ty)
            | Op::Compare(_, ty)
            | Op::CompareAnd(_, ty, _) => by(ty),
            Op::Insert(width) | Op::Select(width) => by(Type {
                width,
                signed: false,
            }),
            Op::Convert { from, to, .. } => {
                if from.width == Width::Long || to.width == Width::Long {
                    Kind::Long
                } else {
                    Kind::Word
                }
            }
            Op::MulWide(ty) | Op::MadWide(ty) => match ty.width {
                Width::Half => Kind::Word,
                Width::Word | Width::Long => Kind::Long,
            },
            Op::Unpack | Op::Pack | Op::GenericOfShared | Op::SharedOfGeneric => Kind::Long,
            Op::Permute | Op::Funnel(..) | Op::Table | Op::Logic(_) | Op::ActiveMask => Kind::Word,
            Op::Load(Access { space, .. }) | Op::Store(Access { space, .. }) => match space {
                Space::Shared => Kind::Shared,
                Space::Parameter => Kind::Call,
                Space::Generic | Space::Global | Space::Constant => Kind::Global,
            },
            Op::Atomic(..) => Kind::Global,
            Op::Shuffle(_) => Kind::Shuffle,
            Op::Vote(_) | Op::BarrierOfWarp | Op::BarrierOfBlock | Op::Fence => Kind::Vote,
            Op::Branch | Op::IndexedBranch(_) => Kind::Branch,
            Op::Call | Op::Return | Op::Trap | Op::Mark(_) => Kind::Call,
        }
    }
}

/// Instructions of warps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Issued {
    /// All.
    pub all: u64,
    /// With fewer than 32 lanes at work.
    pub idle: u64,
}

/// What moved between lanes and memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    /// Bytes of all lanes.
    pub shared_bytes: u64,
    /// Bytes of all lanes.
    pub global_bytes: u64,
    /// Sectors of 32 bytes that instructions touched, each of them counted anew by each instruction.
    pub sectors: u64,
}

/// What one part of a kernel came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PartCounts {
    kinds: [Issued; Kind::ALL.len()],
    /// What it moved.
    pub traffic: Traffic,
}

impl PartCounts {
    /// Instructions of a kind.
    pub fn of(&self, kind: Kind) -> Issued {
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

    /// Adds those of another launch.
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
    /// The line of the mark before it, which each operation has of its own and which names it.
    pub line: u32,
    /// Instructions.
    pub instructions: u64,
}

/// What warps executed. Marks cost nothing and are counted nowhere.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Counts {
    /// How often each instruction of the module was issued.
    places: Vec<u64>,
    /// By part; the first is of what stands before any mark.
    parts: [PartCounts; Part::ALL.len() + 1],
    operations: Vec<OperationRun>,
    part: usize,
    /// The line of the last mark of an operation, and what had been issued before.
    since: (u32, u64),
    issued: u64,
}

impl Counts {
    pub(super) fn new(module: &Module) -> Self {
        Counts {
            places: vec![0; module.code.len()],
            ..Counts::default()
        }
    }

    /// Of a part of the kernel; nothing for what stands before any mark.
    pub fn part(&self, part: Option<Part>) -> &PartCounts {
        &self.parts[part.map_or(0, |part| part as usize + 1)]
    }

    /// All instructions of warps.
    pub fn issued(&self) -> u64 {
        self.issued
    }

    /// Each run of an operation, in order.
    pub fn operations(&self) -> &[OperationRun] {
        &self.operations
    }

    /// Lines of instructions that were executed, with how often, in the order of the text.
    pub fn lines<'a>(&'a self, module: &'a Module) -> impl Iterator<Item = (u32, u64)> + 'a {
        let all = module.code.iter().zip(&self.places);
        let executed = all.filter(|(_, count)| **count > 0);
        executed.map(|(instruction, count)| (instruction.line, *count))
    }

    /// A warp begins: nothing is marked.
    pub(super) fn warp(&mut self) {
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
    pub(super) fn issue(&mut self, place: u32, kind: Kind, full: bool) {
        self.issued += 1;
        if let Some(count) = self.places.get_mut(place as usize) {
            *count += 1;
        }
        let issued = &mut self.parts[self.part].kinds[kind as usize];
        issued.all += 1;
        issued.idle += u64::from(!full);
    }

    /// What was taken for an access to device memory is one to shared memory.
    pub(super) fn was_shared(&mut self, full: bool) {
        let kinds = &mut self.parts[self.part].kinds;
        kinds[Kind::Global as usize].all -= 1;
        kinds[Kind::Global as usize].idle -= u64::from(!full);
        kinds[Kind::Shared as usize].all += 1;
        kinds[Kind::Shared as usize].idle += u64::from(!full);
    }

    pub(super) fn shared(&mut self, bytes: u64) {
        self.parts[self.part].traffic.shared_bytes += bytes;
    }

    /// Accesses of lanes to device memory, each within one sector, since it is aligned.
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
