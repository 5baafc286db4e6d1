//! The names of the language, and the most similar one to an unknown name.

use std::collections::HashMap;
use std::sync::LazyLock;

use arc_isa::Primitive;

use crate::constants::Constant;
use crate::dialect::Dialect;
use crate::program::Operand;
use crate::text::lexer::{is_name_part, is_name_start, is_stable};
use crate::typed::TypedPrimitive;

/// Python's keywords except `True`, `False` and `None`, which are literals.
const KEYWORDS: &[&str] = &[
    "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif",
    "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda",
    "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

/// The names that form literals.
const LITERALS: &[&str] = &["True", "False", "None", "frozenset"];

/// For longer names no similar one is searched: the search stays cheap for any text.
const LONGEST: usize = 40;

/// The primitive or constant of this name.
pub(super) fn known(dialect: Dialect, name: &str) -> Option<&'static Operand> {
    type Known = HashMap<&'static str, Operand>;
    static PUBLIC: LazyLock<Known> = LazyLock::new(|| {
        let primitives = Primitive::ALL.iter().map(|&p| (p.name(), p.into()));
        primitives.chain(constants_of(Dialect::Public)).collect()
    });
    static TYPED: LazyLock<Known> = LazyLock::new(|| {
        let primitives = TypedPrimitive::ALL.iter();
        let primitives = primitives.map(|&p| (p.name(), Operand::Literal(p.value())));
        primitives.chain(constants_of(Dialect::Typed)).collect()
    });
    match dialect {
        Dialect::Public => PUBLIC.get(name),
        Dialect::Typed => TYPED.get(name),
    }
}

fn constants_of(dialect: Dialect) -> impl Iterator<Item = (&'static str, Operand)> {
    Constant::of(dialect).map(|constant| (constant.name(), constant.into()))
}

/// The names of all primitives.
pub(super) fn primitives<'a>(dialect: Dialect) -> Box<dyn Iterator<Item = &'a str> + 'a> {
    match dialect {
        Dialect::Public => Box::new(Primitive::ALL.iter().map(|p| p.name())),
        Dialect::Typed => Box::new(TypedPrimitive::ALL.iter().map(|p| p.name())),
    }
}

/// The names of all constants.
pub(super) fn constants<'a>(dialect: Dialect) -> impl Iterator<Item = &'a str> {
    Constant::of(dialect).map(|constant| -> &'a str { constant.name() })
}

/// Whether the word is a keyword of Python.
pub(super) fn is_keyword(name: &str) -> bool {
    KEYWORDS.contains(&name)
}

/// Whether the text is a single name that Python does not change by normalisation.
pub(super) fn is_name(text: &str) -> bool {
    let mut letters = text.chars();
    let is_name = letters.next().is_some_and(is_name_start) && letters.all(is_name_part);
    is_name && !is_keyword(text) && is_stable(text)
}

/// What the name already belongs to, so that no variable can have it.
pub(super) fn owner(dialect: Dialect, name: &str) -> Option<&'static str> {
    match known(dialect, name) {
        Some(Operand::Primitive(_) | Operand::Literal(_)) => Some("primitive"),
        Some(_) => Some("constant"),
        None => LITERALS.contains(&name).then_some("literal"),
    }
}

/// The most similar of the candidates, the first one if there are several; `None` if none is similar enough: up to a
/// quarter of the letters may differ, and the case of all.
pub(super) fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<String> {
    if name.len() > LONGEST {
        return None;
    }
    let wanted = name.to_lowercase();
    let length = wanted.chars().count();
    candidates
        .filter_map(|candidate| {
            let candidate_length = candidate.chars().count();
            let far = length.max(candidate_length) / 4;
            // Most candidates are too long or too short, so their letters need not be compared.
            if length.abs_diff(candidate_length) > far {
                return None;
            }
            let distance = strsim::osa_distance(&wanted, &candidate.to_lowercase());
            (distance <= far).then_some((distance, candidate))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate.to_owned())
}

/// The first of these keys that is similar to `key`, the name that was expected, without being it.
pub fn misspelt<'a>(key: &str, mut found: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    found.find(|found| *found != key && nearest(found, std::iter::once(key)).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nearest_primitive(name: &str) -> Option<String> {
        nearest(name, primitives(Dialect::Public))
    }

    #[test]
    fn names_of_the_language_are_taken() {
        assert_eq!(owner(Dialect::Public, "box"), Some("primitive"));
        assert_eq!(owner(Dialect::Public, "NEG_ONE"), Some("constant"));
        assert_eq!(owner(Dialect::Public, "None"), Some("literal"));
        assert_eq!(owner(Dialect::Public, "x1"), None);
        assert!(is_keyword("lambda") && !is_keyword("match"));
    }

    #[test]
    fn the_nearest_name_is_told_where_one_is_near() {
        assert_eq!(nearest_primitive("vmiror").as_deref(), Some("vmirror"));
        assert_eq!(
            nearest_primitive("mostcolour").as_deref(),
            Some("mostcolor")
        );
        assert_eq!(nearest_primitive("fil").as_deref(), Some("fill"));
        assert_eq!(nearest_primitive("Flip").as_deref(), Some("flip"));
        assert_eq!(nearest_primitive("wibble"), None);
        assert_eq!(nearest("x3", ["x1", "x2"].into_iter()), None);
        assert_eq!(nearest("o", ["I", "O"].into_iter()).as_deref(), Some("O"));
        assert_eq!(nearest_primitive(&"a".repeat(10_000)), None);
    }
}
