//! Decodes loads, stores, atomic accesses and address conversions.

use super::super::module::{Access, Atomic, File, Op, Space};
use super::super::tokens::Operand;
use super::{Decoder, small};

impl Decoder<'_, '_> {
    /// Decodes the address: a register, which becomes the last source operand, or a name, with an offset.
    pub(super) fn address_operand(&mut self, access: &mut Access) -> Option<()> {
        let Operand::Address(name, offset) = *self.operand()? else {
            return None;
        };
        self.into.offset = offset;
        if access.space == Space::Parameter {
            let at = i64::from(self.builder.extent_of(name)?.at);
            // An address before the parameter space is an error here; one past its end is an error when it is read.
            self.into.offset = offset.checked_add(at).filter(|at| *at >= 0)?;
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
        self.into.offset = offset.checked_add(self.symbol(name)? as i64)?;
        Some(())
    }

    /// Decodes the data operand of an access. A register may be wider than the value loaded into it or stored from it.
    pub(super) fn data(&mut self, access: &mut Access, load: bool) -> Option<()> {
        let elements = match self.operand()? {
            Operand::Vector(all) => all.as_slice(),
            one => std::slice::from_ref(one),
        };
        if elements.len() != usize::from(access.elements) {
            return None;
        }
        let registers = elements.iter().filter_map(|element| match element {
            Operand::Name(name) => self.builder.register(name),
            _ => None,
        });
        if access.file == File::Word && registers.map(|r| r.file).eq([File::Long]) {
            access.file = File::Long;
        }
        // An unwritten register may be passed on as a parameter, as the padding of structures is; only loading it fails.
        let checked = access.space != Space::Parameter;
        for (number, element) in elements.iter().enumerate() {
            match (load, element) {
                (true, Operand::Name(name)) => self.writes(access.file, number, name)?,
                (true, _) => return None,
                (false, element) => self.source(element, number, access.file.width(), checked)?,
            }
        }
        Some(())
    }

    pub(super) fn memory(&mut self, parts: &[&str], load: bool) -> Option<Op> {
        let mut access = access_of(parts)?;
        if load {
            self.data(&mut access, true)?;
            self.address_operand(&mut access)?;
            return Some(Op::Load(access));
        }
        self.address_operand(&mut access)?;
        self.data(&mut access, false)?;
        (access.space != Space::Constant).then_some(Op::Store(access))
    }

    pub(super) fn atomic(
        &mut self,
        returns: bool,
        before: &[&str],
        operation: &str,
        ty: &str,
    ) -> Option<Op> {
        let before = before.iter().copied();
        let space = before.filter(|part| !matches!(*part, "relaxed" | "gpu" | "cta"));
        let mut access = access_of(&space.chain([ty]).collect::<Vec<_>>())?;
        let atomic = match operation {
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
        if returns {
            self.data(&mut access, true)?;
        }
        self.address_operand(&mut access)?;
        let width = access.file.width();
        self.from(0, width)?;
        if atomic == Atomic::CompareAndSwap {
            self.from(1, width)?;
        }
        Some(Op::Atomic(atomic, access, returns))
    }
}

/// The space and the type of an access, from the qualifiers after `ld` or `st`.
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
            // Cache hints, and `nc` for `__ldg`.
            "nc" | "ca" | "cg" | "cs" | "lu" | "cv" | "wb" | "wt" | "weak" => {}
            // The interpreter does not model the ordering of volatile and ordered accesses, so it refuses them.
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
