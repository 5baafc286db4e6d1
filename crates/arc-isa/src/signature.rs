//! [`Type`]: the types that signatures name.

use std::fmt;

macro_rules! types {
    ($($(#[doc = $doc:literal])+ $name:ident;)*) => {
        /// A type of an ARC signature: what a primitive takes or returns.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        pub enum Type {
            $($(#[doc = $doc])+ $name,)*
        }

        impl Type {
            /// All types.
            pub const ALL: &'static [Type] = &[$(Type::$name),*];

            /// The name that signatures use.
            pub fn name(self) -> &'static str {
                match self {
                    $(Type::$name => stringify!($name),)*
                }
            }

            /// Which values it has, in one line.
            pub fn doc(self) -> &'static str {
                match self {
                    $(Type::$name => concat!($($doc),+).trim(),)*
                }
            }
        }
    };
}

types! {
    /// Any value.
    Any;
    /// True or false; any value that Python takes for one of them.
    Boolean;
    /// An integer; true and false count as 1 and 0.
    Integer;
    /// A pair of integers.
    IntegerTuple;
    /// An integer or a pair of integers.
    Numerical;
    /// A set (or tuple) of integers.
    IntegerSet;
    /// A grid: a tuple of equally long rows of colours.
    Grid;
    /// A set of cells; a tuple of cells is taken too.
    Object;
    /// A set of objects.
    Objects;
    /// A set of locations.
    Indices;
    /// An object or indices; tuples of cells or locations are taken too.
    Patch;
    /// A grid or an object.
    Element;
    /// A grid or a patch.
    Piece;
    /// A function.
    Callable;
    /// A tuple (a grid is one, of its rows) or a set.
    Container;
    /// A tuple or set of tuples or sets.
    ContainerContainer;
    /// A tuple.
    Tuple;
    /// A tuple of tuples.
    TupleTuple;
    /// A set.
    FrozenSet;
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
