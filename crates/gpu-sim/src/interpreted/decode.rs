//! Decodes an opcode and its operands to an instruction: the integer part of the PTX ISA 8.2.

use super::module::{File, Instruction, Op, Register, Width};
use super::names::Builder;
use super::tokens::Operand;
use types::{binary_of, integer, type_of};

mod accesses;
mod arithmetic;
mod control;
mod types;
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
                self.barrier_of_block()?
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
}
