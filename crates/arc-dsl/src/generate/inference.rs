//! [`InferredType`]: what the generator knows about the result of a call.
//!
//! The types of signatures are not precise enough: `first` returns "any", yet `first` of a set of objects is an object,
//! and a function applied to it should accept one.

use arc_isa::{Primitive, Type};

/// The type of a value, down to the type of its elements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum InferredType {
    /// Unknown, or elements of different types.
    Any,
    Boolean,
    Integer,
    Pair,
    Cell,
    Grid,
    Function,
    Tuple(Box<InferredType>),
    Set(Box<InferredType>),
}

impl InferredType {
    pub(crate) fn tuple(element: InferredType) -> Self {
        InferredType::Tuple(Box::new(element))
    }

    pub(crate) fn set(element: InferredType) -> Self {
        InferredType::Set(Box::new(element))
    }

    pub(crate) fn indices() -> Self {
        Self::set(InferredType::Pair)
    }

    pub(crate) fn object() -> Self {
        Self::set(InferredType::Cell)
    }

    pub(crate) fn objects() -> Self {
        Self::set(Self::object())
    }

    pub(crate) fn row() -> Self {
        Self::tuple(InferredType::Integer)
    }

    /// The kind of the elements, if it is a container.
    pub(crate) fn element(&self) -> Option<InferredType> {
        match self {
            InferredType::Tuple(element) | InferredType::Set(element) => Some((**element).clone()),
            InferredType::Grid => Some(InferredType::row()),
            InferredType::Pair => Some(InferredType::Integer),
            InferredType::Cell => Some(InferredType::Any),
            _ => None,
        }
    }

    /// The same kind of container (tuple or set) with other elements.
    pub(crate) fn of(&self, element: InferredType) -> InferredType {
        match self {
            InferredType::Set(_) => InferredType::set(element),
            _ => InferredType::tuple(element),
        }
    }

    /// A container of the same kind with some of the elements.
    pub(crate) fn some(&self) -> InferredType {
        match self {
            // Some rows of a grid are a grid.
            InferredType::Grid => InferredType::Grid,
            _ => self.of(self.element().unwrap_or(InferredType::Any)),
        }
    }

    fn is_container(&self) -> bool {
        self.element().is_some()
    }

    fn is_patch(&self) -> bool {
        *self == InferredType::indices() || *self == InferredType::object()
    }

    /// The common kind of both.
    fn join(&self, other: &InferredType) -> InferredType {
        if self == other {
            self.clone()
        } else {
            InferredType::Any
        }
    }
}

/// Whether a value of this kind can be passed for a parameter of this type.
pub(crate) fn accepts(wanted: Type, kind: &InferredType) -> bool {
    match wanted {
        Type::Any => *kind != InferredType::Any,
        Type::Boolean => *kind == InferredType::Boolean,
        Type::Integer => matches!(kind, InferredType::Integer | InferredType::Boolean),
        Type::IntegerTuple => *kind == InferredType::Pair,
        Type::Numerical => matches!(
            kind,
            InferredType::Integer | InferredType::Boolean | InferredType::Pair
        ),
        Type::IntegerSet => kind.is_container() && kind.element() == Some(InferredType::Integer),
        Type::Grid => *kind == InferredType::Grid,
        Type::Object => *kind == InferredType::object(),
        Type::Objects => *kind == InferredType::objects(),
        Type::Indices => *kind == InferredType::indices(),
        Type::Patch => kind.is_patch(),
        Type::Element => *kind == InferredType::Grid || *kind == InferredType::object(),
        Type::Piece => *kind == InferredType::Grid || kind.is_patch(),
        Type::Callable => *kind == InferredType::Function,
        Type::Container => kind.is_container(),
        Type::ContainerContainer => kind.element().is_some_and(|element| element.is_container()),
        Type::Tuple => kind.is_container() && !matches!(kind, InferredType::Set(_)),
        Type::TupleTuple => {
            !matches!(kind, InferredType::Set(_))
                && kind
                    .element()
                    .is_some_and(|e| e.is_container() && !matches!(e, InferredType::Set(_)))
        }
        Type::FrozenSet => matches!(kind, InferredType::Set(_)),
    }
}

/// The kind of a value of a type, as far as the type determines it.
pub(crate) fn of_type(ty: Type) -> InferredType {
    match ty {
        Type::Boolean => InferredType::Boolean,
        Type::Integer | Type::Numerical => InferredType::Integer,
        Type::IntegerTuple => InferredType::Pair,
        Type::IntegerSet => InferredType::set(InferredType::Integer),
        Type::Grid | Type::Element | Type::Piece => InferredType::Grid,
        Type::Object => InferredType::object(),
        Type::Objects => InferredType::objects(),
        Type::Indices | Type::Patch => InferredType::indices(),
        Type::Callable => InferredType::Function,
        Type::Any
        | Type::Container
        | Type::ContainerContainer
        | Type::Tuple
        | Type::TupleTuple
        | Type::FrozenSet => InferredType::Any,
    }
}

/// The kind of `astuple(a, b)`.
pub(crate) fn pair_of(a: &InferredType, b: &InferredType) -> InferredType {
    match (a, b) {
        (InferredType::Integer, InferredType::Integer) => InferredType::Pair,
        (InferredType::Integer, InferredType::Pair) => InferredType::Cell,
        _ => InferredType::Tuple(Box::new(a.join(b))),
    }
}

/// The kind of the result of a primitive that takes no function, for arguments that it accepts.
pub(crate) fn result(primitive: Primitive, arguments: &[InferredType]) -> InferredType {
    let at = |n: usize| arguments.get(n).cloned().unwrap_or(InferredType::Any);
    let element = |n: usize| at(n).element().unwrap_or(InferredType::Any);
    match primitive.returns() {
        // Not a grid if the widths differ.
        _ if primitive == Primitive::Vconcat => return InferredType::tuple(InferredType::row()),
        Type::Numerical if arguments.contains(&InferredType::Pair) => return InferredType::Pair,
        Type::Patch | Type::Element | Type::Piece => return at(0),
        Type::Any | Type::Container | Type::Tuple | Type::TupleTuple | Type::FrozenSet => {}
        other => return of_type(other),
    }
    match primitive {
        Primitive::Color if element(0) == InferredType::Cell => InferredType::Integer,
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
        Primitive::Totuple if at(0) == InferredType::Grid => InferredType::Grid,
        Primitive::Totuple => InferredType::tuple(element(0)),
        Primitive::Repeat => InferredType::tuple(at(0)),
        Primitive::Merge => at(0).of(element(0).element().unwrap_or(InferredType::Any)),
        Primitive::Initset => InferredType::set(at(0)),
        Primitive::Insert => InferredType::set(at(0).join(&element(1))),
        Primitive::Interval => InferredType::row(),
        Primitive::Astuple => pair_of(&at(0), &at(1)),
        Primitive::Product => InferredType::set(pair_of(&element(0), &element(1))),
        Primitive::Pair => InferredType::tuple(pair_of(&element(0), &element(1))),
        Primitive::Branch => at(1).join(&at(2)),
        Primitive::Sizefilter => InferredType::set(element(0)),
        Primitive::Hsplit | Primitive::Vsplit => InferredType::tuple(InferredType::Grid),
        _ => InferredType::Any,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_keep_their_kind() {
        assert_eq!(
            result(Primitive::First, &[InferredType::objects()]),
            InferredType::object()
        );
        assert_eq!(
            result(Primitive::Merge, &[InferredType::objects()]),
            InferredType::object()
        );
        assert_eq!(
            result(Primitive::Totuple, &[InferredType::indices()]),
            InferredType::tuple(InferredType::Pair)
        );
        assert_eq!(
            result(
                Primitive::Astuple,
                &[InferredType::Integer, InferredType::Pair]
            ),
            InferredType::Cell
        );
        assert_eq!(
            result(Primitive::Add, &[InferredType::Integer, InferredType::Pair]),
            InferredType::Pair
        );
        assert_eq!(
            result(Primitive::Hmirror, &[InferredType::object()]),
            InferredType::object()
        );
        assert_eq!(
            result(Primitive::Initset, &[InferredType::Grid]),
            InferredType::set(InferredType::Grid)
        );
    }

    #[test]
    fn types_accept_what_signatures_mean() {
        assert!(
            accepts(Type::Patch, &InferredType::object())
                && !accepts(Type::Object, &InferredType::indices())
        );
        assert!(
            accepts(Type::Container, &InferredType::Grid)
                && !accepts(Type::FrozenSet, &InferredType::Grid)
        );
        assert!(accepts(Type::ContainerContainer, &InferredType::objects()));
        assert!(!accepts(Type::ContainerContainer, &InferredType::row()));
    }
}
