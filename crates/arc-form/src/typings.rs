//! The types of results, cached for the most frequent types of arguments.

use arc_isa::rules::Typing;
use smallvec::SmallVec;

use super::Type;
use arc_dsl::Primitive;

/// A cache of the typing of first-order primitives on arguments of [common](Type::common) types: each rule runs
/// once for such arguments, not for every call.
#[derive(Debug)]
pub(super) struct Typings {
    common: [Type; 15],
    /// Indexed by a part of the key; empty before the first entry.
    entries: Vec<KnownTyping>,
}

/// The typing of a primitive on arguments of common types, if its type is common too.
#[derive(Debug, Clone, Copy, Default)]
struct KnownTyping {
    /// The primitive and the arguments' types: 0 if the entry is empty.
    key: u32,
    ty: u8,
    checked: bool,
}

impl Default for Typings {
    fn default() -> Self {
        Self {
            common: Type::common(),
            entries: Vec::new(),
        }
    }
}

impl Typings {
    /// The number of entries, a power of two.
    const ENTRIES: usize = 512;

    /// The same as [`Primitive::typing`]; an error says why there is no type.
    pub(super) fn of<'t>(
        &mut self,
        primitive: Primitive,
        types: impl Iterator<Item = &'t Type> + Clone,
    ) -> Result<Typing, String> {
        let rule = |types: SmallVec<[Type; 4]>| {
            primitive
                .typing(&types)
                .map_err(|unlike| unlike.to_string())
        };
        // The highest bit marks how many types follow.
        let mut key = 1 << 8 | primitive as u32;
        for ty in types.clone() {
            match ty.common_number() {
                Some(number) if key < 1 << 28 => key = key << 4 | (u32::from(number) + 1),
                _ => return rule(types.cloned().collect()),
            }
        }
        if self.entries.is_empty() {
            self.entries.resize(Self::ENTRIES, KnownTyping::default());
        }
        let hash = key.wrapping_mul(0x9E37_79B1) >> 16;
        let entry = &mut self.entries[hash as usize % Self::ENTRIES];
        if entry.key != key {
            let typing = rule(types.cloned().collect())?;
            let Some(ty) = typing.ty.common_number() else {
                return Ok(typing);
            };
            *entry = KnownTyping {
                key,
                ty,
                checked: typing.checked,
            };
        }
        Ok(Typing {
            ty: self.common[usize::from(entry.ty)].clone(),
            checked: entry.checked,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arc_dsl::generate::Generator;
    use arc_dsl::{Interpreter, Type as Signature, Value};

    /// The call's argument types by their values; `None` for arguments without a type.
    fn types(arguments: &[Value]) -> Option<Vec<Type>> {
        arguments.iter().map(Value::value_type).collect()
    }

    /// Calls every first-order primitive with arguments of the generator, by its signature or of any type, and
    /// visits the results that have a type.
    fn cases(mut visit: impl FnMut(Primitive, &[Value], &[Type], &Typing, Option<Value>)) {
        let mut generator = Generator::new(3);
        let first_order = || Primitive::ALL.iter().filter(|p| p.is_first_order());
        for round in 0..60 {
            for &primitive in first_order() {
                let parameters = primitive.parameters().iter().enumerate();
                let arguments: Vec<_> = parameters
                    .map(|(at, (_, signature))| match round % 4 {
                        3 => {
                            generator.value(Signature::ALL[(round + 7 * at) % Signature::ALL.len()])
                        }
                        _ => generator.value(*signature),
                    })
                    .collect();
                let Some(types) = types(&arguments) else {
                    continue;
                };
                let Ok(typing) = primitive.typing(&types) else {
                    continue;
                };
                let borrowed: Vec<_> = arguments.iter().collect();
                let value = Interpreter::default()
                    .call(Value::primitive(primitive), &borrowed)
                    .ok();
                visit(primitive, &arguments, &types, &typing, value);
            }
        }
    }

    #[test]
    fn a_result_is_of_its_type_or_checked_and_mostly_of_it() {
        let (mut values, mut misses) = (0, 0);
        cases(|primitive, arguments, types, typing, value| {
            let Some(value) = value else {
                return;
            };
            let mut parameters = primitive.parameters().iter().zip(arguments);
            let taken = parameters.all(|((_, signature), value)| value.fits(*signature));
            values += usize::from(taken);
            if !value.has_type(&typing.ty) {
                misses += usize::from(taken);
                let show = format!("{primitive}{arguments:?} {types:?} = {value}, {typing:?}");
                assert!(typing.checked, "{show}");
            }
        });
        assert!(
            values > 4_000 && misses < values / 50,
            "{misses} of {values}"
        );
    }

    #[test]
    fn what_cannot_fail_does_not() {
        let mut total = 0;
        cases(|primitive, arguments, types, typing, value| {
            if !typing.checked && (primitive.facts().is_total)(types) {
                total += 1;
                assert!(value.is_some(), "{primitive}{arguments:?}");
            }
        });
        assert!(total > 300, "{total}");
    }

    #[test]
    fn every_first_order_primitive_has_a_type_for_what_its_signature_asks() {
        let mut typed = std::collections::HashSet::new();
        cases(|primitive, _, _, typing, _| {
            if typing.ty != Type::Never {
                typed.insert(primitive);
            }
        });
        let untyped: Vec<_> = Primitive::ALL
            .iter()
            .filter(|p| p.is_first_order() && !typed.contains(p))
            .collect();
        assert!(untyped.is_empty(), "{untyped:?}");
    }
}
