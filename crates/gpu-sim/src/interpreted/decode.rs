//! Decodes an opcode and its operands to an instruction: the integer part of the PTX ISA 8.2.

use super::module::{
    Binary, Comparison, File, Instruction, Logic, Measure, Op, Register, Shift, Type, Unary, Width,
};
use super::names::Builder;
use super::tokens::Operand;

mod accesses;
mod control;
mod warps;

/// Fills in an instruction whose guard and line are already set.
///
/// # Errors
/// A message that names the unknown instruction.
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
        // Every operand must have been used.
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
    /// How many operands have been decoded.
    at: usize,
}

impl<'b, 'a> Decoder<'b, 'a> {
    fn instruction(&mut self, parts: &[&str]) -> Option<()> {
        let (name, rest) = parts.split_first()?;
        self.into.op = match (*name, rest) {
            ("mov", ["pred"]) => self.logic(Logic::Mov, 1)?,
            ("not", ["pred"]) => self.logic(Logic::Not, 1)?,
            ("and" | "or" | "xor", ["pred"]) => self.logic(logic_of(name)?, 2)?,
            ("mov", [ty]) => self.move_of(type_of(ty)?)?,
            ("and", [ty]) => self.binary(Binary::And, type_of(ty)?)?,
            ("or", [ty]) => self.binary(Binary::Or, type_of(ty)?)?,
            ("xor", [ty]) => self.binary(Binary::Xor, type_of(ty)?)?,
            ("add", [ty]) => self.binary(Binary::Add, integer(ty)?)?,
            ("sub", [ty]) => self.binary(Binary::Sub, integer(ty)?)?,
            ("div", [ty]) => self.binary(Binary::Div, integer(ty)?)?,
            ("rem", [ty]) => self.binary(Binary::Rem, integer(ty)?)?,
            ("min", [ty]) => self.binary(Binary::Min, integer(ty)?)?,
            ("max", [ty]) => self.binary(Binary::Max, integer(ty)?)?,
            ("mul", ["lo", ty]) => self.binary(Binary::Mul, integer(ty)?)?,
            ("mul", ["hi", ty]) => self.binary(Binary::MulHigh, integer(ty)?)?,
            ("mul", ["wide", ty]) => {
                let ty = integer(ty)?;
                self.values(Op::MulWide(ty), wider(ty)?, &[ty.width; 2])?
            }
            ("mad", ["lo", ty]) => {
                let ty = integer(ty)?;
                self.values(Op::Mad(ty), ty.width, &[ty.width; 3])?
            }
            ("mad", ["wide", ty]) => {
                let (ty, sum) = (integer(ty)?, wider(integer(ty)?)?);
                self.values(Op::MadWide(ty), sum, &[ty.width, ty.width, sum])?
            }
            ("not", [ty]) => self.unary(Unary::Not, type_of(ty)?)?,
            ("neg", [ty]) => self.unary(Unary::Neg, type_of(ty)?)?,
            ("abs", [ty]) => self.unary(Unary::Abs, type_of(ty)?)?,
            ("brev", [ty]) => self.unary(Unary::Brev, whole(type_of(ty)?)?)?,
            ("shl", [ty]) => self.shift(Shift::Left, type_of(ty)?)?,
            ("shr", [ty]) => self.shift(Shift::Right, type_of(ty)?)?,
            ("shf", ["l", mode @ ("wrap" | "clamp"), "b32"]) => {
                self.three(Op::Funnel(Shift::Left, *mode == "clamp"))?
            }
            ("shf", ["r", mode @ ("wrap" | "clamp"), "b32"]) => {
                self.three(Op::Funnel(Shift::Right, *mode == "clamp"))?
            }
            ("popc", [ty]) => self.measure(Measure::Popc, type_of(ty)?)?,
            ("clz", [ty]) => self.measure(Measure::Clz, type_of(ty)?)?,
            ("bfind", ["shiftamt", ty]) => self.measure(Measure::BfindShift, integer(ty)?)?,
            ("bfind", [ty]) => self.measure(Measure::Bfind, integer(ty)?)?,
            ("bfe", [ty]) => {
                let ty = whole(integer(ty)?)?;
                let from = [ty.width, Width::Word, Width::Word];
                self.values(Op::BitField(ty), ty.width, &from)?
            }
            ("bfi", [ty]) => {
                let ty = whole(type_of(ty)?)?;
                let from = [ty.width, ty.width, Width::Word, Width::Word];
                self.values(Op::Insert(ty), ty.width, &from)?
            }
            ("prmt", ["b32"]) => self.three(Op::Permute)?,
            ("lop3", ["b32"]) => self.table()?,
            ("selp", [ty]) => self.select(type_of(ty)?)?,
            ("setp", [comparison, logic @ .., ty]) => {
                self.compare(comparison, logic, type_of(ty)?)?
            }
            ("cvt", [to, from]) => {
                let ((from_bits, from), to) = (small(from)?, type_of(to)?);
                let op = Op::Convert {
                    from_bits,
                    from,
                    to,
                };
                self.values(op, to.width, &[from.width])?
            }
            ("cvta", ["shared", "u64"]) => self.address(Op::GenericOfShared)?,
            ("cvta", ["to", "shared", "u64"]) => self.address(Op::SharedOfGeneric)?,
            ("cvta", ["to", "global" | "const", "u64"] | ["global" | "const", "u64"]) => {
                self.unary(Unary::Mov, type_of("u64")?)?
            }
            ("ld" | "ldu", _) => self.memory(rest, true)?,
            ("st", _) => self.memory(rest, false)?,
            ("atom" | "red", [before @ .., operation, ty]) => {
                self.atomic(*name == "atom", before, operation, ty)?
            }
            ("shfl", ["sync", mode, "b32"]) => self.shuffle(mode)?,
            ("vote", ["sync", mode, ty]) => self.vote(mode, ty)?,
            ("activemask", ["b32"]) => self.values(Op::ActiveMask, Width::Word, &[])?,
            ("bar", ["warp", "sync"]) => {
                self.from(0, Width::Word)?;
                Op::BarrierOfWarp
            }
            ("membar", [_]) | ("fence", _) => Op::Fence,
            ("bra", [] | ["uni"]) => self.branch()?,
            ("brx", ["idx"]) => self.branch_by_index(false)?,
            ("brx", ["idx", "uni"]) => self.branch_by_index(true)?,
            ("call", [] | ["uni"]) if self.into.guard.is_none() => self.call()?,
            ("ret" | "exit", [] | ["uni"]) if self.into.guard.is_none() => Op::Return,
            ("trap", []) => Op::Trap,
            _ => return None,
        };
        Some(())
    }

    /// Decodes a destination and sources of these widths.
    fn values(&mut self, op: Op, to: Width, from: &[Width]) -> Option<Op> {
        self.to(to.file())?;
        for (number, width) in from.iter().enumerate() {
            self.from(number, *width)?;
        }
        Some(op)
    }

    fn binary(&mut self, binary: Binary, ty: Type) -> Option<Op> {
        self.values(Op::Binary(binary, ty), ty.width, &[ty.width; 2])
    }

    fn unary(&mut self, unary: Unary, ty: Type) -> Option<Op> {
        self.values(Op::Unary(unary, ty), ty.width, &[ty.width])
    }

    fn shift(&mut self, shift: Shift, ty: Type) -> Option<Op> {
        self.values(Op::Shift(shift, ty), ty.width, &[ty.width, Width::Word])
    }

    fn measure(&mut self, measure: Measure, ty: Type) -> Option<Op> {
        let ty = whole(ty)?;
        self.values(Op::Measure(measure, ty), Width::Word, &[ty.width])
    }

    fn three(&mut self, op: Op) -> Option<Op> {
        self.values(op, Width::Word, &[Width::Word; 3])
    }

    fn address(&mut self, op: Op) -> Option<Op> {
        self.values(op, Width::Long, &[Width::Long])
    }

    fn move_of(&mut self, ty: Type) -> Option<Op> {
        match (self.operands, ty.width) {
            ([Operand::Name(_), Operand::Vector(halves)], Width::Long) => {
                let [low, high] = &halves[..] else {
                    return None;
                };
                self.to(File::Long)?;
                self.at += 1;
                self.source(low, 0, Width::Word, true)?;
                self.source(high, 1, Width::Word, true)?;
                Some(Op::Pack)
            }
            ([Operand::Vector(halves), Operand::Name(_)], Width::Long) => {
                self.at += 1;
                let [Operand::Name(low), Operand::Name(high)] = halves[..] else {
                    return None;
                };
                self.writes(File::Word, 0, low)?;
                self.writes(File::Word, 1, high)?;
                self.from(0, Width::Long)?;
                Some(Op::Unpack)
            }
            _ => self.unary(Unary::Mov, ty),
        }
    }

    fn logic(&mut self, logic: Logic, count: usize) -> Option<Op> {
        self.to(File::Predicate)?;
        (0..count).try_for_each(|number| self.predicate(number))?;
        Some(Op::Logic(logic))
    }

    fn table(&mut self) -> Option<Op> {
        let op = self.three(Op::Table)?;
        let Operand::Number(table) = *self.operand()? else {
            return None;
        };
        self.into.offset = u8::try_from(table).ok()?.into();
        Some(op)
    }

    /// Decodes `selp`. Which operand a lane reads is known only at run time, so neither is checked here.
    fn select(&mut self, ty: Type) -> Option<Op> {
        self.to(ty.width.file())?;
        for number in 0..2 {
            let operand = self.operand()?;
            self.source(operand, number, ty.width, false)?;
        }
        self.predicate(2)?;
        Some(Op::Select(ty))
    }

    fn compare(&mut self, name: &str, logic: &[&str], mut ty: Type) -> Option<Op> {
        let comparison = match name {
            "eq" => Comparison::Eq,
            "ne" => Comparison::Ne,
            "lt" | "lo" => Comparison::Lt,
            "le" | "ls" => Comparison::Le,
            "gt" | "hi" => Comparison::Gt,
            "ge" | "hs" => Comparison::Ge,
            _ => return None,
        };
        ty.signed &= !matches!(name, "lo" | "ls" | "hi" | "hs");
        self.to(File::Predicate)?;
        self.from(0, ty.width)?;
        self.from(1, ty.width)?;
        match logic {
            [] => Some(Op::Compare(comparison, ty)),
            [logic] => {
                self.predicate(2)?;
                Some(Op::CompareAnd(comparison, ty, logic_of(logic)?))
            }
            _ => None,
        }
    }

    fn operand(&mut self) -> Option<&'b Operand<'a>> {
        self.at += 1;
        self.operands.get(self.at - 1)
    }

    fn named(&self, name: &str, file: File) -> Option<u32> {
        let register = self.builder.register(name)?;
        (register.file == file).then_some(register.index)
    }

    fn writes(&mut self, file: File, number: usize, name: &str) -> Option<()> {
        // A discarded destination.
        if name == "_" {
            return None;
        }
        let index = self.named(name, file)?;
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

    /// Decodes a source operand of this width; `checked` is false if the instruction may leave it unread.
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

    /// The address of a variable or of shared memory.
    fn symbol(&self, name: &str) -> Option<u64> {
        if self.builder.is_shared(name) {
            return Some(0);
        }
        let at = self.builder.variable_at(name)?;
        Some(super::memory::DATA + at)
    }

    fn constant(&mut self, number: usize, file: File, value: u64) {
        let register = self.builder.constant(file, value);
        // The register of a constant is always written.
        self.reads(number, register, false);
    }

    fn from(&mut self, number: usize, width: Width) -> Option<()> {
        let operand = self.operand()?;
        self.source(operand, number, width, true)
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
}

/// The type with a name such as `s32`; types of bits count as unsigned.
fn type_of(name: &str) -> Option<Type> {
    let (bits, ty) = small(name)?;
    (bits != 8).then_some(ty)
}

/// The type with this name, if it is an integer type, not a type of bits.
fn integer(name: &str) -> Option<Type> {
    (!name.starts_with('b')).then(|| type_of(name))?
}

/// The type with this name and its number of bits; a type of 8 bits is held in 16.
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

/// The width with twice the bits.
fn wider(ty: Type) -> Option<Width> {
    match ty.width {
        Width::Half => Some(Width::Word),
        Width::Word => Some(Width::Long),
        Width::Long => None,
    }
}

fn logic_of(name: &str) -> Option<Logic> {
    Some(match name {
        "and" => Logic::And,
        "or" => Logic::Or,
        "xor" => Logic::Xor,
        _ => return None,
    })
}

/// The type, unless it is one of 16 bits.
fn whole(ty: Type) -> Option<Type> {
    (ty.width != Width::Half).then_some(ty)
}
