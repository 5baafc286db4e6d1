//! Decodes collectives: shuffles, votes and barriers.

use super::super::module::{File, Op, Register, Shuffle, Vote, Width};
use super::super::tokens::Operand;
use super::Decoder;

impl Decoder<'_, '_> {
    pub(super) fn shuffle(&mut self, mode: &str) -> Option<Op> {
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
        Some(Op::Shuffle(shuffle))
    }

    pub(super) fn vote(&mut self, mode: &str, ty: &str) -> Option<Op> {
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
}
