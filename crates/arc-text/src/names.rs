//! The names of the language.

use std::collections::HashMap;
use std::sync::LazyLock;

use arc_dsl::{Constant, Dialect, Operand, TypedPrimitive};
use arc_isa::Primitive;
use rustc_hash::FxBuildHasher;

use crate::lexer::{is_name_part, is_name_start, is_stable};

/// The names that form literals.
const LITERALS: &[&str] = &["True", "False", "None"];

/// Functions of Python that programs may call as their own. Unlike the others, `frozenset` also forms literals.
pub(super) const BUILTINS: &str = "abs all any enumerate filter frozenset iter len list map max min \
     next range reversed set sorted sum tuple zip";

/// Whether a name is one of these words.
pub(super) fn is_one_of(words: &str, name: &str) -> bool {
    words.split(' ').any(|word| word == name)
}

/// The primitive or constant of this name.
pub(super) fn known(dialect: Dialect, name: &str) -> Option<&'static Operand> {
    type Known = HashMap<&'static str, Operand, FxBuildHasher>;
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

/// Whether some dialect has this name.
pub(super) fn is_of_dsl(name: &str) -> bool {
    let mut dialects = Dialect::ALL.iter();
    dialects.any(|&dialect| known(dialect, name).is_some())
}

/// The names of a dialect.
pub(super) fn all<'a>(dialect: Dialect) -> impl Iterator<Item = &'a str> {
    primitives(dialect).chain(constants(dialect))
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

/// Whether the word is a keyword of Python, except `True`, `False` and `None`, which are literals.
#[rustfmt::skip]
pub(super) fn is_keyword(name: &str) -> bool {
    // A match compares words of one length alone.
    matches!(
        name,
        "and" | "as" | "assert" | "async" | "await" | "break" | "class" | "continue" | "def" | "del" | "elif"
            | "else" | "except" | "finally" | "for" | "from" | "global" | "if" | "import" | "in" | "is" | "lambda"
            | "nonlocal" | "not" | "or" | "pass" | "raise" | "return" | "try" | "while" | "with" | "yield"
    )
}

/// Whether it is a name that forms literals.
pub(super) fn is_literal(name: &str) -> bool {
    LITERALS.contains(&name)
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
        None if name == "frozenset" => Some("function of Python"),
        None => is_literal(name).then_some("literal"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_language_are_taken() {
        assert_eq!(owner(Dialect::Public, "box"), Some("primitive"));
        assert_eq!(owner(Dialect::Public, "NEG_ONE"), Some("constant"));
        assert_eq!(owner(Dialect::Public, "None"), Some("literal"));
        assert_eq!(owner(Dialect::Public, "x1"), None);
        assert!(is_keyword("lambda") && !is_keyword("match"));
    }
}
