//! The named constants of the DSL.

use std::fmt;

use crate::patch::Loc;
use crate::value::Value;

macro_rules! constants {
    ($($name:ident = $value:expr;)*) => {
        /// A constant that program text can name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[allow(non_camel_case_types, clippy::upper_case_acronyms, reason = "the names are the DSL's own")]
        pub enum Constant {
            $(#[doc = concat!("`", stringify!($value), "`")] $name,)*
        }

        impl Constant {
            /// All constants, in the order of the list.
            pub const ALL: &'static [Constant] = &[$(Constant::$name),*];

            /// The name that program text uses.
            pub fn name(self) -> &'static str {
                [$(stringify!($name)),*][self as usize]
            }

            /// Its value.
            pub fn value(self) -> &'static Value {
                static VALUES: &[Value] = &[$($value),*];
                &VALUES[self as usize]
            }
        }
    };
}

const fn int(n: i32) -> Value {
    Value::Int(n)
}

const fn pair(i: i32, j: i32) -> Value {
    Value::Loc(Loc::new(i, j))
}

constants! {
    F = Value::Bool(false);
    T = Value::Bool(true);
    ZERO = int(0);
    ONE = int(1);
    TWO = int(2);
    THREE = int(3);
    FOUR = int(4);
    FIVE = int(5);
    SIX = int(6);
    SEVEN = int(7);
    EIGHT = int(8);
    NINE = int(9);
    TEN = int(10);
    NEG_ONE = int(-1);
    NEG_TWO = int(-2);
    DOWN = pair(1, 0);
    RIGHT = pair(0, 1);
    UP = pair(-1, 0);
    LEFT = pair(0, -1);
    ORIGIN = pair(0, 0);
    UNITY = pair(1, 1);
    NEG_UNITY = pair(-1, -1);
    UP_RIGHT = pair(-1, 1);
    DOWN_LEFT = pair(1, -1);
    ZERO_BY_TWO = pair(0, 2);
    TWO_BY_ZERO = pair(2, 0);
    TWO_BY_TWO = pair(2, 2);
    THREE_BY_THREE = pair(3, 3);
}

impl Constant {
    /// The constant of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|constant| constant.name() == name)
    }
}

impl fmt::Display for Constant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_belong_together() {
        for &constant in Constant::ALL {
            assert_eq!(Constant::from_name(constant.name()), Some(constant));
        }
        assert_eq!(Constant::NEG_TWO.value(), &Value::Int(-2));
        assert_eq!(Constant::DOWN_LEFT.value().to_string(), "(1, -1)");
        assert_eq!(Constant::from_name("ELEVEN"), None);
    }
}
