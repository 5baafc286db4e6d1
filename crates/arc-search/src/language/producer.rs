//! [`Producer`]: what an argument of a call comes from.

use std::cmp::Ordering;
use std::fmt;

use arc_dsl::{Constant, Primitive, ValueKind};

/// What an argument of a call comes from.
///
/// Its text is one word: `I`, the name of a primitive or a constant, `function:NAME`, `literal:KIND`.
///
/// ```
/// use arc_dsl::Primitive;
/// use arc_search::language::Producer;
/// assert_eq!(Producer::from_name("size"), Some(Producer::Result(Primitive::Size)));
/// assert_eq!(Producer::Function(Primitive::Size).to_string(), "function:size");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Producer {
    /// The input grid.
    Input,
    /// A call of a primitive. The result of calling a function value counts as that of the primitive that created the
    /// function.
    Result(Primitive),
    /// A primitive passed as a function.
    Function(Primitive),
    /// A constant by its name.
    Constant(Constant),
    /// A value written out, of this kind.
    Literal(ValueKind),
}

/// The kinds of literals.
const LITERALS: [ValueKind; 11] = [
    ValueKind::Nothing,
    ValueKind::Boolean,
    ValueKind::Integer,
    ValueKind::Pair,
    ValueKind::Cell,
    ValueKind::Grid,
    ValueKind::Tuple,
    ValueKind::Indices,
    ValueKind::Object,
    ValueKind::EmptySet,
    ValueKind::Set,
];

const FUNCTION: &str = "function:";
const LITERAL: &str = "literal:";

impl Producer {
    /// The producer of this text.
    pub fn from_name(name: &str) -> Option<Self> {
        if let Some(name) = name.strip_prefix(FUNCTION) {
            return Primitive::from_name(name).map(Producer::Function);
        }
        if let Some(name) = name.strip_prefix(LITERAL) {
            let kind = LITERALS.iter().find(|kind| format!("{kind:?}") == name);
            return kind.copied().map(Producer::Literal);
        }
        if name == "I" {
            return Some(Producer::Input);
        }
        let result = Primitive::from_name(name).map(Producer::Result);
        result.or_else(|| Constant::from_name(name).map(Producer::Constant))
    }

    /// Its index among all producers, stable as long as the tables of primitives, constants and kinds are.
    pub(super) fn index(self) -> usize {
        let primitives = Primitive::ALL.len();
        let constants = Constant::ALL.len() + Constant::TYPED.len();
        match self {
            Producer::Input => 0,
            Producer::Result(primitive) => 1 + primitive as usize,
            Producer::Function(primitive) => 1 + primitives + primitive as usize,
            Producer::Constant(constant) => 1 + 2 * primitives + constant as usize,
            Producer::Literal(kind) => 1 + 2 * primitives + constants + kind as usize,
        }
    }
}

/// By variant, then in the order of the tables of primitives, constants and kinds.
impl Ord for Producer {
    fn cmp(&self, other: &Self) -> Ordering {
        self.index().cmp(&other.index())
    }
}

impl PartialOrd for Producer {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Producer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Producer::Input => f.write_str("I"),
            Producer::Result(primitive) => write!(f, "{primitive}"),
            Producer::Function(primitive) => write!(f, "{FUNCTION}{primitive}"),
            Producer::Constant(constant) => write!(f, "{constant}"),
            Producer::Literal(kind) => write!(f, "{LITERAL}{kind:?}"),
        }
    }
}

/// All producers that have a text.
#[cfg(test)]
pub(super) fn all() -> impl Iterator<Item = Producer> {
    let results = Primitive::ALL.iter().map(|&p| Producer::Result(p));
    let functions = Primitive::ALL.iter().map(|&p| Producer::Function(p));
    let constants = Constant::ALL.iter().map(|&c| Producer::Constant(c));
    let literals = LITERALS.into_iter().map(Producer::Literal);
    let rest = results.chain(functions).chain(constants).chain(literals);
    std::iter::once(Producer::Input).chain(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_producer_has_a_word_and_a_place_of_its_own() {
        let mut last = None;
        for producer in all() {
            let text = producer.to_string();
            assert!(!text.contains(char::is_whitespace), "{text}");
            assert_eq!(Producer::from_name(&text), Some(producer));
            assert!(last < Some(producer.index()), "{text}");
            last = Some(producer.index());
        }
    }

    #[test]
    fn other_words_are_no_producer() {
        for word in [
            "",
            "i",
            "x1",
            "function:I",
            "function:",
            "literal:Container",
            "F0",
        ] {
            assert_eq!(Producer::from_name(word), None, "{word}");
        }
    }
}
