//! Looks up types and operations by name.

use super::super::module::{Binary, Logic, Type, Width};

/// The type with a name such as `s32`; types of bits count as unsigned.
pub(super) fn type_of(name: &str) -> Option<Type> {
    let (bits, ty) = small(name)?;
    (bits != 8).then_some(ty)
}

/// The type with this name, if it is an integer type, not a type of bits.
pub(super) fn integer(name: &str) -> Option<Type> {
    (!name.starts_with('b')).then(|| type_of(name))?
}

/// The type with this name and its number of bits; a type of 8 bits is held in 16.
pub(super) fn small(name: &str) -> Option<(u8, Type)> {
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
pub(super) fn wider(ty: Type) -> Option<Width> {
    match ty.width {
        Width::Half => Some(Width::Word),
        Width::Word => Some(Width::Long),
        Width::Long => None,
    }
}

pub(super) fn binary_of(name: &str) -> Option<Binary> {
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

pub(super) fn logic_of(name: &str) -> Option<Logic> {
    Some(match name {
        "and" => Logic::And,
        "or" => Logic::Or,
        "xor" => Logic::Xor,
        "not" => Logic::Not,
        "mov" => Logic::Mov,
        _ => return None,
    })
}
