//! [`Primitive`]: the enum generated from the rows of the table.

use std::fmt;

use crate::facts::{
    Body, Elements, Facts, Size, Use, always, of_container, of_container_behind, of_grid,
    of_integer, of_integer_and_number, of_known_length, of_numbers, of_plain_values,
};
use crate::rules;
use crate::sampling::Sampling;
use crate::signature::Type;

/// A row of the table.
struct Row {
    name: &'static str,
    family: &'static str,
    doc: &'static str,
    parameters: &'static [(&'static str, Type)],
    returns: Type,
    /// The index of the first parameter that is a function.
    function: Option<usize>,
    facts: Facts,
}

/// The index of the first parameter that is a function. A constant of the row, since compiling a program asks for it
/// several times a step.
const fn first_function(parameters: &[(&str, Type)]) -> Option<usize> {
    let mut at = 0;
    while at < parameters.len() {
        if matches!(parameters[at].1, Type::Callable) {
            return Some(at);
        }
        at += 1;
    }
    None
}

macro_rules! primitives {
    ($(
        $(#[doc = $family_doc:literal])+
        $family:ident {
            $(
                #[doc = $doc:literal]
                $name:ident $([$cx:ident])? $(@$mark:ident)? ($($parameter:ident: $type:ident),*) -> $returns:ident
                    $({ $($fact:ident: $value:expr),+ $(,)? })?;
            )+
        }
    )+) => {
        pastey::paste! {
        /// A primitive of the DSL: its [name](Primitive::name) with a capital.
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord,
            serde::Serialize, serde::Deserialize,
        )]
        #[repr(u8)]
        pub enum Primitive {
            $($(#[doc = $doc] [<$name:camel>],)+)+
        }

        static TABLE: &[Row] = &[$($(
            Row {
                name: strip_raw(stringify!($name)),
                family: stringify!($family),
                doc: $doc,
                parameters: &[$((stringify!($parameter), Type::$type)),*],
                returns: Type::$returns,
                function: first_function(&[$((stringify!($parameter), Type::$type)),*]),
                facts: Facts { $($($fact: $value,)+)? ..Facts::PLAIN },
            },
        )+)+];

        impl Primitive {
            /// All primitives, by family, in the order of the table.
            pub const ALL: &'static [Primitive] = &[$($(Primitive::[<$name:camel>]),+),+];

            /// The families in the order of the table, each with a description.
            pub const FAMILIES: &'static [(&'static str, &'static str)] =
                &[$((stringify!($family), concat!($($family_doc),+))),+];
        }
        }
    };
}

/// The name without the prefix of a raw identifier (`r#box`).
const fn strip_raw(name: &'static str) -> &'static str {
    match name.as_bytes() {
        [b'r', b'#', ..] => name.split_at(2).1,
        _ => name,
    }
}

crate::for_each_primitive!(primitives);

impl Primitive {
    /// The primitives that the Python reference has.
    pub fn of_reference() -> impl Iterator<Item = Primitive> {
        let all = Self::ALL.iter().copied();
        all.filter(|primitive| !primitive.facts().is_extension)
    }

    fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }

    /// The name that program text uses.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The primitive of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|primitive| primitive.name() == name)
    }

    /// The family that it belongs to, which is also the module of its reference function.
    #[must_use]
    pub fn family(self) -> &'static str {
        self.row().family
    }

    /// What it does, in one line.
    #[must_use]
    pub fn doc(self) -> &'static str {
        self.row().doc.trim()
    }

    /// Its parameters in order: name and type.
    #[must_use]
    pub fn parameters(self) -> &'static [(&'static str, Type)] {
        self.row().parameters
    }

    /// The names of its parameters, separated by commas, as error messages use them.
    #[must_use]
    pub fn parameter_names(self) -> String {
        let names: Vec<_> = self.parameters().iter().map(|(name, _)| *name).collect();
        names.join(", ")
    }

    /// What is known about it besides its signature.
    #[must_use]
    pub fn facts(self) -> &'static Facts {
        &self.row().facts
    }

    /// The type of its result.
    #[must_use]
    pub fn returns(self) -> Type {
        self.row().returns
    }

    /// Whether no parameter is a function, so that a call is an instruction without regions.
    #[must_use]
    pub fn is_first_order(self) -> bool {
        let row = self.row();
        row.returns != Type::Callable && row.function.is_none() && self != Primitive::Rapply
    }

    /// The index of the function parameter, if a call of this primitive is compiled to a loop.
    #[must_use]
    pub fn loop_function(self) -> Option<usize> {
        let row = self.row();
        row.function.filter(|_| row.returns != Type::Callable)
    }
}

/// The name.
impl fmt::Display for Primitive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn there_are_160_of_the_reference_each_with_its_own_name_and_a_sentence() {
        assert_eq!(Primitive::of_reference().count(), 160);
        let names: HashSet<_> = Primitive::ALL.iter().map(|p| p.name()).collect();
        assert_eq!(names.len(), Primitive::ALL.len());
        for &primitive in Primitive::ALL {
            assert_eq!(Primitive::from_name(primitive.name()), Some(primitive));
            assert!(
                primitive.doc().ends_with('.'),
                "{primitive}: {}",
                primitive.doc()
            );
            assert!((1..=4).contains(&primitive.parameters().len()));
        }
        assert_eq!(Primitive::Box.name(), "box");
        assert_eq!(Primitive::from_name("nothing"), None);
    }
}
