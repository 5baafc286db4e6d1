//! Decodes arithmetic: integers, bits, predicates and comparisons.

use super::super::module::{
    Binary, Comparison, File, Logic, Measure, Op, Shift, Type, Unary, Width,
};
use super::super::tokens::Operand;
use super::Decoder;
use super::types::{logic_of, small, type_of, wider};

impl Decoder<'_, '_> {
    pub(super) fn move_of(&mut self, ty: Type) -> Option<()> {
        match (self.operands, ty.width) {
            ([Operand::Name(_), Operand::Vector(halves)], Width::Long) => {
                let [low, high] = <[_; 2]>::try_from(halves.clone()).ok()?;
                self.to(File::Long)?;
                self.at += 1;
                self.source(&low, 0, Width::Word, true)?;
                self.source(&high, 1, Width::Word, true)?;
                self.into.op = Op::Pack;
                Some(())
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

    pub(super) fn logic(&mut self, name: &str) -> Option<()> {
        self.to(File::Predicate)?;
        self.predicate(0)?;
        let logic = logic_of(name)?;
        if !matches!(logic, Logic::Not | Logic::Mov) {
            self.predicate(1)?;
        }
        self.into.op = Op::Logic(logic);
        Some(())
    }

    pub(super) fn binary(&mut self, binary: Binary, ty: Type) -> Option<Op> {
        self.to(ty.width.file())?;
        self.from(0, ty.width)?;
        self.from(1, ty.width)?;
        Some(Op::Binary(binary, ty))
    }

    pub(super) fn unary(&mut self, name: &str, ty: Type) -> Option<Op> {
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

    pub(super) fn multiply(&mut self, part: &str, ty: Type) -> Option<Op> {
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

    pub(super) fn multiply_add(&mut self, part: &str, ty: Type) -> Option<Op> {
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

    pub(super) fn shift(&mut self, name: &str, ty: Type) -> Option<Op> {
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

    pub(super) fn three(&mut self, op: Op) -> Option<Op> {
        self.to(File::Word)?;
        for number in 0..3 {
            self.from(number, Width::Word)?;
        }
        Some(op)
    }

    pub(super) fn funnel(&mut self, way: &str, mode: &str) -> Option<Op> {
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

    pub(super) fn measure(&mut self, name: &str, ty: Type) -> Option<Op> {
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

    pub(super) fn bit_field(&mut self, ty: Type) -> Option<Op> {
        if ty.width == Width::Half {
            return None;
        }
        self.to(ty.width.file())?;
        self.from(0, ty.width)?;
        self.from(1, Width::Word)?;
        self.from(2, Width::Word)?;
        Some(Op::BitField(ty))
    }

    pub(super) fn insert(&mut self, ty: Type) -> Option<Op> {
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

    pub(super) fn table(&mut self) -> Option<()> {
        self.into.op = self.three(Op::Table)?;
        let Operand::Number(table) = *self.operand()? else {
            return None;
        };
        self.into.offset = i64::try_from(table)
            .ok()
            .filter(|table| (0..256).contains(table))?;
        Some(())
    }

    /// Decodes `selp`. Which operand a lane reads is known only at run time, so neither is checked here.
    pub(super) fn select(&mut self, ty: Type) -> Option<()> {
        self.to(ty.width.file())?;
        for number in 0..2 {
            let operand = self.operand()?.clone();
            self.source(&operand, number, ty.width, false)?;
        }
        self.predicate(2)?;
        self.into.op = Op::Select(ty.width);
        Some(())
    }

    pub(super) fn compare(&mut self, parts: &[&str]) -> Option<()> {
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

    pub(super) fn convert(&mut self, to: &str, from: &str) -> Option<Op> {
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
}
