//! The named constants of the DSL.

use std::fmt;

use crate::dialect::Dialect;
use crate::patch::Loc;
use crate::value::Value;

macro_rules! constants {
    (
        public { $($name:ident = $value:expr;)* }
        typed { $($typed:ident = $typed_value:expr;)* }
    ) => {
        /// A constant that program text can name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[allow(non_camel_case_types, clippy::upper_case_acronyms, reason = "the names are the DSL's own")]
        pub enum Constant {
            $(#[doc = concat!("`", stringify!($value), "`")] $name,)*
            $(#[doc = concat!("`", stringify!($typed_value), "`, of the typed dialect")] $typed,)*
        }

        impl Constant {
            /// The constants that every dialect has, in the order of the list.
            pub const ALL: &'static [Constant] = &[$(Constant::$name),*];

            /// The additional constants of the typed dialect.
            pub const TYPED: &'static [Constant] = &[$(Constant::$typed),*];

            /// The name that program text uses.
            pub fn name(self) -> &'static str {
                [$(stringify!($name),)* $(stringify!($typed)),*][self as usize]
            }

            /// Its value.
            pub fn value(self) -> &'static Value {
                static VALUES: &[Value] = &[$($value,)* $($typed_value),*];
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
    public {
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
    typed {
        F0 = int(0);
        F1 = int(1);
        F2 = int(2);
        F3 = int(3);
        F4 = int(4);
        F5 = int(5);
        F6 = int(6);
        F7 = int(7);
        F8 = int(8);
        F9 = int(9);
        L1 = int(-1);
        L2 = int(-2);
        L3 = int(-3);
        L4 = int(-4);
        L5 = int(-5);
        L6 = int(-6);
        L7 = int(-7);
        L8 = int(-8);
        L9 = int(-9);
        L10 = int(-10);
        R0 = int(0);
        R1 = int(1);
        R2 = int(2);
        R3 = int(3);
        R4 = int(4);
        R5 = int(5);
        R6 = int(6);
        R7 = int(7);
        R8 = int(8);
        R9 = int(9);
        A0 = int(0);
        A1 = int(1);
        A2 = int(2);
        A3 = int(3);
        A4 = int(4);
        A5 = int(5);
        A6 = int(6);
        A7 = int(7);
        A8 = int(8);
        A9 = int(9);
        SM2 = int(2);
        SM3 = int(3);
        SD2 = int(-2);
        SD3 = int(-3);
        NEG_TEN = int(-10);
        NEG_NINE = int(-9);
        NEG_EIGHT = int(-8);
        NEG_SEVEN = int(-7);
        NEG_SIX = int(-6);
        NEG_FIVE = int(-5);
        NEG_FOUR = int(-4);
        NEG_THREE = int(-3);
        HUNDRED = int(100);
        THOUSAND = int(1000);
        BLACK = int(0);
        BLUE = int(1);
        RED = int(2);
        GREEN = int(3);
        YELLOW = int(4);
        GRAY = int(5);
        MAGENTA = int(6);
        ORANGE = int(7);
        CYAN = int(8);
        BURGUNDY = int(9);
    }
}

impl Constant {
    /// The constants of a dialect.
    pub fn of(dialect: Dialect) -> impl Iterator<Item = Self> {
        let own = match dialect {
            Dialect::Public => &[][..],
            Dialect::Typed => Self::TYPED,
        };
        Self::ALL.iter().chain(own).copied()
    }

    /// The constant of this name that every dialect has.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::of(Dialect::Public).find(|constant| constant.name() == name)
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
