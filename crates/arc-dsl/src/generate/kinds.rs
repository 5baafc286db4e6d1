//! [`Kind`]: what the generator knows of a value that it has not made yet.
//!
//! The types of signatures say too little for that: `first` gives "any", yet `first` of a set of
//! objects is an object, and a function that is to be applied to it had better take one.

use arc_isa::{Primitive, Type};

/// The kind of a value, down to the kind of its elements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Not known, or elements of different kinds.
    Any,
    Boolean,
    Integer,
    Pair,
    Cell,
    Grid,
    Function,
    Tuple(Box<Kind>),
    Set(Box<Kind>),
}

impl Kind {
    pub(crate) fn tuple(element: Kind) -> Self {
        Kind::Tuple(Box::new(element))
    }

    pub(crate) fn set(element: Kind) -> Self {
        Kind::Set(Box::new(element))
    }

    pub(crate) fn indices() -> Self {
        Self::set(Kind::Pair)
    }

    pub(crate) fn object() -> Self {
        Self::set(Kind::Cell)
    }

    pub(crate) fn objects() -> Self {
        Self::set(Self::object())
    }

    pub(crate) fn row() -> Self {
        Self::tuple(Kind::Integer)
    }

    /// The kind of the elements, where it is a container.
    pub(crate) fn element(&self) -> Option<Kind> {
        match self {
            Kind::Tuple(element) | Kind::Set(element) => Some((**element).clone()),
            Kind::Grid => Some(Kind::row()),
            Kind::Pair => Some(Kind::Integer),
            Kind::Cell => Some(Kind::Any),
            _ => None,
        }
    }

    /// A container of the same sort (tuple or set) of other elements.
    pub(crate) fn of(&self, element: Kind) -> Kind {
        match self {
            Kind::Set(_) => Kind::set(element),
            _ => Kind::tuple(element),
        }
    }

    /// Some elements of the container, in the same sort of container.
    pub(crate) fn some(&self) -> Kind {
        match self {
            // Some rows of a grid are a grid.
            Kind::Grid => Kind::Grid,
            _ => self.of(self.element().unwrap_or(Kind::Any)),
        }
    }

    fn is_container(&self) -> bool {
        self.element().is_some()
    }

    fn is_patch(&self) -> bool {
        *self == Kind::indices() || *self == Kind::object()
    }

    /// What both are.
    fn join(&self, other: &Kind) -> Kind {
        if self == other {
            self.clone()
        } else {
            Kind::Any
        }
    }
}

/// Whether a value of this kind can be passed where a signature names this type.
pub(crate) fn accepts(wanted: Type, kind: &Kind) -> bool {
    match wanted {
        Type::Any => *kind != Kind::Any,
        Type::Boolean => *kind == Kind::Boolean,
        Type::Integer => matches!(kind, Kind::Integer | Kind::Boolean),
        Type::IntegerTuple => *kind == Kind::Pair,
        Type::Numerical => matches!(kind, Kind::Integer | Kind::Boolean | Kind::Pair),
        Type::IntegerSet => kind.is_container() && kind.element() == Some(Kind::Integer),
        Type::Grid => *kind == Kind::Grid,
        Type::Object => *kind == Kind::object(),
        Type::Objects => *kind == Kind::objects(),
        Type::Indices => *kind == Kind::indices(),
        Type::Patch => kind.is_patch(),
        Type::Element => *kind == Kind::Grid || *kind == Kind::object(),
        Type::Piece => *kind == Kind::Grid || kind.is_patch(),
        Type::Callable => *kind == Kind::Function,
        Type::Container => kind.is_container(),
        Type::ContainerContainer => kind.element().is_some_and(|element| element.is_container()),
        Type::Tuple => kind.is_container() && !matches!(kind, Kind::Set(_)),
        Type::TupleTuple => {
            !matches!(kind, Kind::Set(_))
                && kind
                    .element()
                    .is_some_and(|e| e.is_container() && !matches!(e, Kind::Set(_)))
        }
        Type::FrozenSet => matches!(kind, Kind::Set(_)),
    }
}

/// The kind that a value of a type has, where the type tells.
pub(crate) fn of_type(ty: Type) -> Kind {
    match ty {
        Type::Boolean => Kind::Boolean,
        Type::Integer | Type::Numerical => Kind::Integer,
        Type::IntegerTuple => Kind::Pair,
        Type::IntegerSet => Kind::set(Kind::Integer),
        Type::Grid | Type::Element | Type::Piece => Kind::Grid,
        Type::Object => Kind::object(),
        Type::Objects => Kind::objects(),
        Type::Indices | Type::Patch => Kind::indices(),
        Type::Callable => Kind::Function,
        Type::Any
        | Type::Container
        | Type::ContainerContainer
        | Type::Tuple
        | Type::TupleTuple
        | Type::FrozenSet => Kind::Any,
    }
}

/// The kind of `astuple(a, b)`.
pub(crate) fn pair_of(a: &Kind, b: &Kind) -> Kind {
    match (a, b) {
        (Kind::Integer, Kind::Integer) => Kind::Pair,
        (Kind::Integer, Kind::Pair) => Kind::Cell,
        _ => Kind::Tuple(Box::new(a.join(b))),
    }
}

/// The kind of the result of a primitive that takes no function, for arguments that it accepts.
pub(crate) fn result(primitive: Primitive, arguments: &[Kind]) -> Kind {
    let at = |n: usize| arguments.get(n).cloned().unwrap_or(Kind::Any);
    let element = |n: usize| at(n).element().unwrap_or(Kind::Any);
    match primitive.returns() {
        // No grid where the widths differ.
        _ if primitive == Primitive::Vconcat => return Kind::tuple(Kind::row()),
        Type::Numerical if arguments.contains(&Kind::Pair) => return Kind::Pair,
        Type::Patch | Type::Element | Type::Piece => return at(0),
        Type::Any | Type::Container | Type::Tuple | Type::TupleTuple | Type::FrozenSet => {}
        other => return of_type(other),
    }
    match primitive {
        Primitive::Color if element(0) == Kind::Cell => Kind::Integer,
        Primitive::Identity | Primitive::Intersection => at(0),
        Primitive::Maximum
        | Primitive::Minimum
        | Primitive::Mostcommon
        | Primitive::Leastcommon
        | Primitive::First
        | Primitive::Last
        | Primitive::Other => element(0),
        Primitive::Combine if element(0) == element(1) => at(0).of(element(0)),
        Primitive::Difference | Primitive::Dedupe => at(0).some(),
        Primitive::Remove => at(1).some(),
        Primitive::Totuple if at(0) == Kind::Grid => Kind::Grid,
        Primitive::Totuple => Kind::tuple(element(0)),
        Primitive::Repeat => Kind::tuple(at(0)),
        Primitive::Merge => at(0).of(element(0).element().unwrap_or(Kind::Any)),
        Primitive::Initset => Kind::set(at(0)),
        Primitive::Insert => Kind::set(at(0).join(&element(1))),
        Primitive::Interval => Kind::row(),
        Primitive::Astuple => pair_of(&at(0), &at(1)),
        Primitive::Product => Kind::set(pair_of(&element(0), &element(1))),
        Primitive::Pair => Kind::tuple(pair_of(&element(0), &element(1))),
        Primitive::Branch => at(1).join(&at(2)),
        Primitive::Sizefilter => Kind::set(element(0)),
        Primitive::Hsplit | Primitive::Vsplit => Kind::tuple(Kind::Grid),
        _ => Kind::Any,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_keep_their_kind() {
        assert_eq!(result(Primitive::First, &[Kind::objects()]), Kind::object());
        assert_eq!(result(Primitive::Merge, &[Kind::objects()]), Kind::object());
        assert_eq!(
            result(Primitive::Totuple, &[Kind::indices()]),
            Kind::tuple(Kind::Pair)
        );
        assert_eq!(
            result(Primitive::Astuple, &[Kind::Integer, Kind::Pair]),
            Kind::Cell
        );
        assert_eq!(
            result(Primitive::Add, &[Kind::Integer, Kind::Pair]),
            Kind::Pair
        );
        assert_eq!(
            result(Primitive::Hmirror, &[Kind::object()]),
            Kind::object()
        );
        assert_eq!(
            result(Primitive::Initset, &[Kind::Grid]),
            Kind::set(Kind::Grid)
        );
    }

    #[test]
    fn types_accept_what_signatures_mean() {
        assert!(accepts(Type::Patch, &Kind::object()) && !accepts(Type::Object, &Kind::indices()));
        assert!(accepts(Type::Container, &Kind::Grid) && !accepts(Type::FrozenSet, &Kind::Grid));
        assert!(accepts(Type::ContainerContainer, &Kind::objects()));
        assert!(!accepts(Type::ContainerContainer, &Kind::row()));
    }
}
