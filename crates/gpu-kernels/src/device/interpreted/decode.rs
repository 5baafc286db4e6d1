//! From an opcode and its operands to an instruction: the integer part of the PTX ISA 8.2.

use super::module::{
    Access, Atomic, Binary, Comparison, File, Instruction, Logic, Measure, Op, Register, Shift,
    Shuffle, Space, Type, Unary, Vote, Width,
};
use super::names::Builder;
use super::tokens::Operand;

/// Fills in an instruction whose guard and line are known.
///
/// # Errors
/// What of it is not known.
pub(super) fn decode<'a>(
    builder: &mut Builder<'a>,
    opcode: &'a str,
    operands: &[Operand<'a>],
    into: &mut Instruction,
) -> Result<(), String> {
    let parts: Vec<&str> = opcode.split('.').collect();
    let mut decoder = Decoder {
        builder,
        operands,
        into,
        at: 0,
    };
    let known = decoder.instruction(&parts).and_then(|()| {
        // Each operand has its meaning.
        (decoder.at == operands.len()).then_some(())
    });
    known.ok_or_else(|| {
        format!(
            "unknown instruction {opcode} of {} operands",
            operands.len()
        )
    })
}

struct Decoder<'b, 'a> {
    builder: &'b mut Builder<'a>,
    operands: &'b [Operand<'a>],
    into: &'b mut Instruction,
    /// How many operands are done with.
    at: usize,
}

impl<'a> Decoder<'_, 'a> {
    fn instruction(&mut self, parts: &[&str]) -> Option<()> {
        let (name, rest) = parts.split_first()?;
        let op = match (*name, rest) {
            ("mov" | "and" | "or" | "xor" | "not", ["pred"]) => return self.logic(name),
            ("mov", [ty]) => return self.move_of(type_of(ty)?),
            ("and" | "or" | "xor", [ty]) => self.binary(binary_of(name)?, type_of(ty)?)?,
            ("add" | "sub" | "div" | "rem" | "min" | "max", [ty]) => {
                self.binary(binary_of(name)?, integer(ty)?)?
            }
            ("not" | "neg" | "abs" | "brev", [ty]) => self.unary(name, type_of(ty)?)?,
            ("mul", [part, ty]) => self.multiply(part, integer(ty)?)?,
            ("mad", [part, ty]) => self.multiply_add(part, integer(ty)?)?,
            ("shl" | "shr", [ty]) => self.shift(name, type_of(ty)?)?,
            ("shf", [way, mode, "b32"]) => self.funnel(way, mode)?,
            ("popc" | "clz", [ty]) => self.measure(name, type_of(ty)?)?,
            ("bfind", ["shiftamt", ty]) => self.measure("bfind.shiftamt", integer(ty)?)?,
            ("bfind", [ty]) => self.measure(name, integer(ty)?)?,
            ("bfe", [ty]) => self.bit_field(integer(ty)?)?,
            ("bfi", [ty]) => self.insert(type_of(ty)?)?,
            ("prmt", ["b32"]) => self.three(Op::Permute)?,
            ("lop3", ["b32"]) => return self.table(),
            ("selp", [ty]) => return self.select(type_of(ty)?),
            ("setp", _) => return self.compare(rest),
            ("cvt", [to, from]) => self.convert(to, from)?,
            ("cvta", _) => self.address(rest)?,
            ("ld" | "ldu", _) => return self.memory(rest, true),
            ("st", _) => return self.memory(rest, false),
            ("atom" | "red", _) => return self.atomic(name, rest),
            ("shfl", ["sync", mode, "b32"]) => return self.shuffle(mode),
            ("vote", ["sync", mode, ty]) => self.vote(mode, ty)?,
            ("activemask", ["b32"]) => {
                self.to(File::Word)?;
                Op::ActiveMask
            }
            ("bar", ["warp", "sync"]) => {
                self.from(0, Width::Word)?;
                Op::BarrierOfWarp
            }
            ("bar", ["sync"]) | ("barrier", ["sync"] | ["sync", "aligned"]) => {
                self.from(0, Width::Word)?;
                if self.operands.len() == 2 {
                    self.from(1, Width::Word)?;
                    self.into.offset = 1;
                }
                Op::BarrierOfBlock
            }
            ("membar", [_]) | ("fence", _) => Op::Fence,
            ("bra", [] | ["uni"]) => return self.branch(),
            ("brx", ["idx"]) => self.branch_by_index(false)?,
            ("brx", ["idx", "uni"]) => self.branch_by_index(true)?,
            ("call", [] | ["uni"]) => return self.call(),
            ("ret" | "exit", [] | ["uni"]) if self.into.guard.is_none() => Op::Return,
            ("trap", []) => Op::Trap,
            _ => return None,
        };
        self.into.op = op;
        Some(())
    }

    fn operand(&mut self) -> Option<&Operand<'a>> {
        self.at += 1;
        self.operands.get(self.at - 1)
    }

    fn named(&self, name: &str, file: File) -> Option<u32> {
        let register = self.builder.register(name)?;
        (register.file == file).then_some(register.index)
    }

    fn writes(&mut self, file: File, number: usize, name: &str) -> Option<()> {
        // A destination that nobody wants.
        let index = if name == "_" {
            return None;
        } else {
            self.named(name, file)?
        };
        self.into.to[number] = index;
        self.into.writes.push(Register { file, index }.number());
        Some(())
    }

    /// The destination.
    fn to(&mut self, file: File) -> Option<()> {
        let Operand::Name(name) = *self.operand()? else {
            return None;
        };
        self.writes(file, 0, name)
    }

    fn reads(&mut self, number: usize, register: Register, checked: bool) {
        self.into.from[number] = register.index;
        if checked {
            self.into.reads.push(register.number());
        }
    }

    /// An operand as one of this width; not checked where the instruction may leave it unread.
    fn source(
        &mut self,
        operand: &Operand<'a>,
        number: usize,
        width: Width,
        checked: bool,
    ) -> Option<()> {
        let file = width.file();
        match *operand {
            Operand::Name(name) => {
                if let Some(index) = self.named(name, file) {
                    self.reads(number, Register { file, index }, checked);
                    return Some(());
                }
                let value = self.symbol(name)?;
                self.constant(number, file, value);
            }
            Operand::Number(value) => {
                let value = match width {
                    Width::Half => u64::from(value as u16),
                    Width::Word => u64::from(value as u32),
                    Width::Long => value as u64,
                };
                self.constant(number, file, value);
            }
            _ => return None,
        }
        Some(())
    }

    /// The address that a name stands for.
    fn symbol(&self, name: &str) -> Option<u64> {
        if self.builder.is_shared(name) {
            return Some(0);
        }
        let at = self.builder.variable_at(name)?;
        Some(super::memory::DATA + at)
    }

    fn constant(&mut self, number: usize, file: File, value: u64) {
        let register = self.builder.constant(file, value);
        // What holds a number is always written.
        self.reads(number, register, false);
    }

    fn from(&mut self, number: usize, width: Width) -> Option<()> {
        let operand = self.operand()?.clone();
        self.source(&operand, number, width, true)
    }

    fn predicate(&mut self, number: usize) -> Option<()> {
        let file = File::Predicate;
        match *self.operand()? {
            Operand::Name(name) => {
                let index = self.named(name, file)?;
                self.reads(number, Register { file, index }, true);
            }
            // Any number but 0 is true.
            Operand::Number(value) => self.constant(number, file, u64::from(value != 0)),
            _ => return None,
        }
        Some(())
    }

    fn move_of(&mut self, ty: Type) -> Option<()> {
        match (self.operands, ty.width) {
            ([Operand::Name(_), Operand::Vector(halves)], Width::Long) => {
                let halves = halves.clone();
                self.to(File::Long)?;
                self.at += 1;
                for (number, half) in halves.iter().enumerate() {
                    self.source(half, number, Width::Word, true)?;
                }
                self.into.op = Op::Pack;
                (halves.len() == 2).then_some(())
            }
            ([Operand::Vector(halves), Operand::Name(_)], Width::Long) => {
                let halves = halves.clone();
                self.at += 1;
                let [Operand::Name(low), Operand::Name(high)] = halves[..] else {
                    return None;
                };
                self.writes(File::Word, 0, low)?;
                self.writes(File::Word, 1, high)?;
                self.from(0, Width::Long)?;
                self.into.op = Op::Unpack;
                Some(())
            }
            _ => {
                self.into.op = self.unary("mov", ty)?;
                Some(())
            }
        }
    }

    fn logic(&mut self, name: &str) -> Option<()> {
        self.to(File::Predicate)?;
        self.predicate(0)?;
        let logic = logic_of(name)?;
        if !matches!(logic, Logic::Not | Logic::Mov) {
            self.predicate(1)?;
        }
        self.into.op = Op::Logic(logic);
        Some(())
    }

    fn binary(&mut self, binary: Binary, ty: Type) -> Option<Op> {
        self.to(ty.width.file())?;
        self.from(0, ty.width)?;
        self.from(1, ty.width)?;
        Some(Op::Binary(binary, ty))
    }

    fn unary(&mut self, name: &str, ty: Type) -> Option<Op> {
        let unary = match name {
            "mov" => Unary::Mov,
            "not" => Unary::Not,
            "neg" => Unary::Neg,
            "abs" => Unary::Abs,
            "brev" if ty.width != Width::Half => Unary::Brev,
            _ => return None,
        };
        self.to(ty.width.file())?;
        self.from(0, ty.width)?;
        Some(Op::Unary(unary, ty))
    }

    fn multiply(&mut self, part: &str, ty: Type) -> Option<Op> {
        match part {
            "lo" => self.binary(Binary::Mul, ty),
            "hi" => self.binary(Binary::MulHigh, ty),
            "wide" => {
                self.to(wider(ty)?.file())?;
                self.from(0, ty.width)?;
                self.from(1, ty.width)?;
                Some(Op::MulWide(ty))
            }
            _ => None,
        }
    }

    fn multiply_add(&mut self, part: &str, ty: Type) -> Option<Op> {
        let (sum, op) = match part {
            "lo" => (ty.width, Op::Mad(ty)),
            "wide" => (wider(ty)?, Op::MadWide(ty)),
            _ => return None,
        };
        self.to(sum.file())?;
        self.from(0, ty.width)?;
        self.from(1, ty.width)?;
        self.from(2, sum)?;
        Some(op)
    }

    fn shift(&mut self, name: &str, ty: Type) -> Option<Op> {
        let shift = if name == "shl" {
            Shift::Left
        } else {
            Shift::Right
        };
        self.to(ty.width.file())?;
        self.from(0, ty.width)?;
        self.from(1, Width::Word)?;
        Some(Op::Shift(shift, ty))
    }

    fn three(&mut self, op: Op) -> Option<Op> {
        self.to(File::Word)?;
        for number in 0..3 {
            self.from(number, Width::Word)?;
        }
        Some(op)
    }

    fn funnel(&mut self, way: &str, mode: &str) -> Option<Op> {
        let shift = match way {
            "l" => Shift::Left,
            "r" => Shift::Right,
            _ => return None,
        };
        let clamped = match mode {
            "wrap" => false,
            "clamp" => true,
            _ => return None,
        };
        self.three(Op::Funnel(shift, clamped))
    }

    fn measure(&mut self, name: &str, ty: Type) -> Option<Op> {
        let measure = match name {
            "popc" => Measure::Popc,
            "clz" => Measure::Clz,
            "bfind" => Measure::Bfind,
            "bfind.shiftamt" => Measure::BfindShift,
            _ => return None,
        };
        if ty.width == Width::Half {
            return None;
        }
        self.to(File::Word)?;
        self.from(0, ty.width)?;
        Some(Op::Measure(measure, ty))
    }

    fn bit_field(&mut self, ty: Type) -> Option<Op> {
        if ty.width == Width::Half {
            return None;
        }
        self.to(ty.width.file())?;
        self.from(0, ty.width)?;
        self.from(1, Width::Word)?;
        self.from(2, Width::Word)?;
        Some(Op::BitField(ty))
    }

    fn insert(&mut self, ty: Type) -> Option<Op> {
        if ty.width == Width::Half {
            return None;
        }
        self.to(ty.width.file())?;
        self.from(0, ty.width)?;
        self.from(1, ty.width)?;
        self.from(2, Width::Word)?;
        self.from(3, Width::Word)?;
        Some(Op::Insert(ty.width))
    }

    fn table(&mut self) -> Option<()> {
        self.into.op = self.three(Op::Table)?;
        let Operand::Number(table) = *self.operand()? else {
            return None;
        };
        self.into.offset = i64::try_from(table)
            .ok()
            .filter(|table| (0..256).contains(table))?;
        Some(())
    }

    /// Which of the two operands a lane reads is known only then.
    fn select(&mut self, ty: Type) -> Option<()> {
        self.to(ty.width.file())?;
        for number in 0..2 {
            let operand = self.operand()?.clone();
            self.source(&operand, number, ty.width, false)?;
        }
        self.predicate(2)?;
        self.into.op = Op::Select(ty.width);
        Some(())
    }

    fn compare(&mut self, parts: &[&str]) -> Option<()> {
        let (comparison, logic, ty) = match parts {
            [comparison, ty] => (comparison, None, ty),
            [comparison, logic @ ("and" | "or" | "xor"), ty] => {
                (comparison, Some(logic_of(logic)?), ty)
            }
            _ => return None,
        };
        let mut ty = type_of(ty)?;
        let comparison = match *comparison {
            "eq" => Comparison::Eq,
            "ne" => Comparison::Ne,
            "lt" | "lo" => Comparison::Lt,
            "le" | "ls" => Comparison::Le,
            "gt" | "hi" => Comparison::Gt,
            "ge" | "hs" => Comparison::Ge,
            _ => return None,
        };
        ty.signed &= !matches!(parts[0], "lo" | "ls" | "hi" | "hs");
        self.to(File::Predicate)?;
        self.from(0, ty.width)?;
        self.from(1, ty.width)?;
        self.into.op = Op::Compare(comparison, ty);
        if let Some(logic) = logic {
            self.predicate(2)?;
            self.into.op = Op::CompareAnd(comparison, ty, logic);
        }
        Some(())
    }

    fn convert(&mut self, to: &str, from: &str) -> Option<Op> {
        let (to_bits, to_type) = small(to)?;
        let (from_bits, from_type) = small(from)?;
        if to_bits == 8 {
            return None;
        }
        self.to(to_type.width.file())?;
        self.from(0, from_type.width)?;
        Some(Op::Convert {
            from_bits,
            from: from_type,
            to: to_type,
        })
    }

    fn address(&mut self, parts: &[&str]) -> Option<Op> {
        let op = match parts {
            ["shared", "u64"] => Op::GenericOfShared,
            ["to", "shared", "u64"] => Op::SharedOfGeneric,
            ["to", "global" | "const", "u64"] | ["global" | "const", "u64"] => {
                let (width, signed) = (Width::Long, false);
                return self.unary("mov", Type { width, signed });
            }
            _ => return None,
        };
        self.to(File::Long)?;
        self.from(0, Width::Long)?;
        Some(op)
    }

    /// The address: a register behind the operands, or a name.
    fn place(&mut self, access: &mut Access) -> Option<()> {
        let Operand::Address(name, offset) = *self.operand()? else {
            return None;
        };
        self.into.offset = offset;
        if access.space == Space::Parameter {
            self.into.offset += i64::from(self.builder.parameter_at(name)?);
            return Some(());
        }
        if let Some(register) = self.builder.register(name) {
            let short = register.file == File::Word && access.space == Space::Shared;
            if register.file != File::Long && !short {
                return None;
            }
            access.base = Some(register.file);
            self.reads(4, register, true);
            return Some(());
        }
        self.into.offset += self.symbol(name)? as i64;
        Some(())
    }

    /// Registers may be wider than what is loaded into them or stored of them.
    fn data(&mut self, access: &mut Access, load: bool) -> Option<()> {
        let elements = match self.operand()?.clone() {
            Operand::Vector(all) => all,
            one => vec![one],
        };
        let registers = elements.iter().filter_map(|element| match element {
            Operand::Name(name) => self.builder.register(name),
            _ => None,
        });
        if access.file == File::Word && registers.map(|r| r.file).eq([File::Long]) {
            access.file = File::Long;
        }
        let width = if access.file == File::Long {
            Width::Long
        } else {
            Width::Word
        };
        // What was never written may be passed on, as the gaps of structures are: then it is not to be loaded.
        let checked = access.space != Space::Parameter;
        for (number, element) in elements.iter().enumerate() {
            match (load, element) {
                (true, Operand::Name(name)) => self.writes(access.file, number, name)?,
                (true, _) => return None,
                (false, element) => self.source(element, number, width, checked)?,
            }
        }
        (elements.len() == usize::from(access.elements)).then_some(())
    }

    fn memory(&mut self, parts: &[&str], load: bool) -> Option<()> {
        let mut access = access_of(parts)?;
        if access.space == Space::Constant && !load {
            return None;
        }
        if load {
            self.data(&mut access, true)?;
            self.place(&mut access)?;
            self.into.op = Op::Load(access);
        } else {
            self.place(&mut access)?;
            self.data(&mut access, false)?;
            self.into.op = Op::Store(access);
        }
        Some(())
    }

    fn atomic(&mut self, name: &str, parts: &[&str]) -> Option<()> {
        let (ty, before) = parts.split_last()?;
        let (operation, before) = before.split_last()?;
        let given = name == "atom";
        let mut spaces = before
            .iter()
            .filter(|part| !matches!(**part, "relaxed" | "gpu" | "cta"));
        let space: Vec<&str> = spaces.by_ref().copied().chain([*ty]).collect();
        let mut access = access_of(&space)?;
        let atomic = match *operation {
            "add" => Atomic::Add,
            "and" => Atomic::And,
            "or" => Atomic::Or,
            "xor" => Atomic::Xor,
            "min" => Atomic::Min,
            "max" => Atomic::Max,
            "exch" => Atomic::Exchange,
            "cas" => Atomic::CompareAndSwap,
            "inc" => Atomic::Increment,
            "dec" => Atomic::Decrement,
            _ => return None,
        };
        let fits = matches!(access.space, Space::Generic | Space::Global | Space::Shared)
            && access.bytes >= 4
            && access.elements == 1;
        if !fits {
            return None;
        }
        if given {
            self.data(&mut access, true)?;
        }
        self.place(&mut access)?;
        let width = if access.file == File::Long {
            Width::Long
        } else {
            Width::Word
        };
        self.from(0, width)?;
        if atomic == Atomic::CompareAndSwap {
            self.from(1, width)?;
        }
        self.into.op = Op::Atomic(atomic, access, given);
        Some(())
    }

    fn shuffle(&mut self, mode: &str) -> Option<()> {
        let shuffle = match mode {
            "up" => Shuffle::Up,
            "down" => Shuffle::Down,
            "bfly" => Shuffle::Bfly,
            "idx" => Shuffle::Idx,
            _ => return None,
        };
        match *self.operand()? {
            Operand::Both(value, inside) => {
                self.writes(File::Word, 0, value)?;
                self.writes(File::Predicate, 1, inside)?;
                self.into.offset = 1;
            }
            Operand::Name(value) => self.writes(File::Word, 0, value)?,
            _ => return None,
        }
        for number in 0..4 {
            self.from(number, Width::Word)?;
        }
        self.into.op = Op::Shuffle(shuffle);
        Some(())
    }

    fn vote(&mut self, mode: &str, ty: &str) -> Option<Op> {
        let (vote, file) = match (mode, ty) {
            ("any", "pred") => (Vote::Any, File::Predicate),
            ("all", "pred") => (Vote::All, File::Predicate),
            ("uni", "pred") => (Vote::Uni, File::Predicate),
            ("ballot", "b32") => (Vote::Ballot, File::Word),
            _ => return None,
        };
        self.to(file)?;
        let negated = match *self.operand()? {
            Operand::Name(name) | Operand::Not(name) => {
                let (file, index) = (File::Predicate, self.named(name, File::Predicate)?);
                self.reads(0, Register { file, index }, true);
                matches!(self.operands.get(1), Some(Operand::Not(_)))
            }
            _ => return None,
        };
        self.into.offset = i64::from(negated);
        self.from(1, Width::Word)?;
        Some(Op::Vote(vote))
    }

    fn branch(&mut self) -> Option<()> {
        let Operand::Name(label) = *self.operand()? else {
            return None;
        };
        self.builder.branch_to(self.into.line, label);
        self.into.op = Op::Branch;
        Some(())
    }

    fn branch_by_index(&mut self, uniform: bool) -> Option<Op> {
        self.from(0, Width::Word)?;
        let Operand::Name(table) = *self.operand()? else {
            return None;
        };
        self.builder.branch_by(self.into.line, table);
        Some(Op::IndexedBranch(uniform))
    }

    fn call(&mut self) -> Option<()> {
        let (result, name, list) = match self.operands {
            [
                Operand::List(result),
                Operand::Name(name),
                Operand::List(list),
            ] => (result.first(), *name, list.as_slice()),
            [Operand::List(result), Operand::Name(name)] => (result.first(), *name, &[][..]),
            [Operand::Name(name), Operand::List(list)] => (None, *name, list.as_slice()),
            [Operand::Name(name)] => (None, *name, &[][..]),
            _ => return None,
        };
        if self.into.guard.is_some() {
            return None;
        }
        self.at = self.operands.len();
        let places = list.iter().map(|name| self.builder.parameter_at(name));
        let arguments = places.collect::<Option<Vec<u32>>>()?;
        let result = match result {
            Some(name) => Some(self.builder.parameter_at(name)?),
            None => None,
        };
        let line = self.into.line;
        self.into.target = self.builder.call_of(line, name, arguments, result);
        self.into.op = Op::Call;
        Some(())
    }
}

/// The space and the type of an access, from what stands behind `ld` or `st`.
fn access_of(parts: &[&str]) -> Option<Access> {
    let (ty, parts) = parts.split_last()?;
    let (bits, ty) = small(ty)?;
    let mut space = Space::Generic;
    let mut elements = 1;
    for part in parts {
        match *part {
            "global" => space = Space::Global,
            "shared" => space = Space::Shared,
            "const" => space = Space::Constant,
            "param" => space = Space::Parameter,
            "v2" => elements = 2,
            "v4" => elements = 4,
            // What caches do, and `__ldg`.
            "nc" | "ca" | "cg" | "cs" | "lu" | "cv" | "wb" | "wt" | "weak" => {}
            // Volatile and ordered accesses say how lanes see each other's: nobody checks that here.
            _ => return None,
        }
    }
    Some(Access {
        space,
        bytes: bits / 8,
        elements,
        signed: ty.signed,
        file: ty.width.file(),
        base: None,
    })
}

/// A type by its name, as `s32`; of bits it is unsigned.
fn type_of(name: &str) -> Option<Type> {
    let (bits, ty) = small(name)?;
    (bits != 8).then_some(ty)
}

/// A type of integers, not of bits.
fn integer(name: &str) -> Option<Type> {
    (!name.starts_with('b')).then(|| type_of(name))?
}

/// A type with its bits; one of 8 bits is held in 16.
fn small(name: &str) -> Option<(u8, Type)> {
    let signed = match name.get(..1)? {
        "s" => true,
        "u" | "b" => false,
        _ => return None,
    };
    let bits: u8 = name.get(1..)?.parse().ok()?;
    let width = match bits {
        8 | 16 => Width::Half,
        32 => Width::Word,
        64 => Width::Long,
        _ => return None,
    };
    Some((bits, Type { width, signed }))
}

/// Twice the bits.
fn wider(ty: Type) -> Option<Width> {
    match ty.width {
        Width::Half => Some(Width::Word),
        Width::Word => Some(Width::Long),
        Width::Long => None,
    }
}

fn binary_of(name: &str) -> Option<Binary> {
    Some(match name {
        "add" => Binary::Add,
        "sub" => Binary::Sub,
        "div" => Binary::Div,
        "rem" => Binary::Rem,
        "min" => Binary::Min,
        "max" => Binary::Max,
        "and" => Binary::And,
        "or" => Binary::Or,
        "xor" => Binary::Xor,
        _ => return None,
    })
}

fn logic_of(name: &str) -> Option<Logic> {
    Some(match name {
        "and" => Logic::And,
        "or" => Logic::Or,
        "xor" => Logic::Xor,
        "not" => Logic::Not,
        "mov" => Logic::Mov,
        _ => return None,
    })
}
