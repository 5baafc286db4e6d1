//! [`ValueType`]: the types of values in the first-order form.

use std::fmt;
use std::sync::Arc;

use ValueType as Type;

/// Whether a container is a tuple or a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContainerKind {
    /// In the order given, repetitions kept.
    Tuple,
    /// Ascending, distinct.
    Set,
}

/// The type of a value in the first-order form: the set of DSL values that it may be.
///
/// Types are always normalised: [`Type::set_of`], [`Type::tuple_of`] and [`Type::fixed`] ensure it. The DSL also has
/// only one representation for a tuple of two integers and for a set of such tuples.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub enum ValueType {
    /// No value: the type of a step that always fails, and of the elements of an empty container.
    #[default]
    Never,
    /// True or false.
    Bool,
    /// An integer.
    Int,
    /// An integer or nothing: what `index` returns off the grid.
    MaybeInt,
    /// A tuple of two integers.
    Pair,
    /// A tuple of two integers, or the empty tuple: the corner of an empty patch.
    MaybePair,
    /// A tuple of a colour and a location.
    Cell,
    /// A tuple of rows of colours, all of one length.
    Grid,
    /// A set of locations.
    Indices,
    /// A set of cells.
    Object,
    /// A set of locations or a set of cells.
    Patch,
    /// Any other set of elements of one type.
    Set(Arc<Type>),
    /// A tuple of elements of one type, of any length.
    Tuple(Arc<Type>),
    /// A tuple of fixed length, each element with its own type.
    Fixed(Arc<[Type]>),
}

impl ValueType {
    /// The type of sets of these elements.
    pub fn set_of(element: Type) -> Type {
        match element {
            Type::Pair => Type::Indices,
            Type::Cell => Type::Object,
            element => Type::Set(Arc::new(element)),
        }
    }

    /// The type of tuples of these elements, of any length.
    pub fn tuple_of(element: Type) -> Type {
        Type::Tuple(Arc::new(element))
    }

    /// The type of containers of this kind with these elements.
    pub fn container_of(kind: ContainerKind, element: Type) -> Type {
        match kind {
            ContainerKind::Tuple => Type::tuple_of(element),
            ContainerKind::Set => Type::set_of(element),
        }
    }

    /// The type of tuples of exactly these elements.
    pub fn fixed(elements: impl AsRef<[Type]> + Into<Arc<[Type]>>) -> Type {
        match elements.as_ref() {
            [] => Type::tuple_of(Type::Never),
            [Type::Int, Type::Int] => Type::Pair,
            [Type::Int, Type::Pair] => Type::Cell,
            _ => Type::Fixed(elements.into()),
        }
    }

    /// Tuple or set, if every value of the type is one.
    pub fn container(&self) -> Option<ContainerKind> {
        match self {
            Type::Never | Type::Bool | Type::Int | Type::MaybeInt => None,
            Type::Pair
            | Type::MaybePair
            | Type::Cell
            | Type::Grid
            | Type::Tuple(_)
            | Type::Fixed(_) => Some(ContainerKind::Tuple),
            Type::Indices | Type::Object | Type::Patch | Type::Set(_) => Some(ContainerKind::Set),
        }
    }

    /// Whether a value of this type contains a boolean.
    pub fn has_boolean(&self) -> bool {
        match self {
            Type::Bool => true,
            Type::Fixed(items) => items.iter().any(Type::has_boolean),
            Type::Tuple(element) | Type::Set(element) => element.has_boolean(),
            _ => false,
        }
    }

    /// Whether a value of the type may be a grid: a tuple of tuples may be one too, and so may the empty tuple.
    pub fn may_be_grid(&self) -> bool {
        match self {
            // Any tuple may be empty, whatever its elements would be.
            Type::Grid | Type::MaybePair | Type::Tuple(_) => true,
            Type::Fixed(rows) => rows
                .iter()
                .all(|row| row.container() == Some(ContainerKind::Tuple)),
            _ => false,
        }
    }

    /// The element types of a tuple, if the type gives its length.
    pub fn items(&self) -> Option<&[Type]> {
        match self {
            Type::Pair => Some(&[Type::Int, Type::Int]),
            Type::Cell => Some(&[Type::Int, Type::Pair]),
            Type::Fixed(items) => Some(items),
            _ => None,
        }
    }

    /// The common type of all elements; `None` if it is no container or there is no common type.
    pub fn element(&self) -> Option<Type> {
        match self {
            Type::MaybePair => Some(Type::Int),
            Type::Grid => Some(Type::tuple_of(Type::Int)),
            Type::Indices => Some(Type::Pair),
            Type::Object => Some(Type::Cell),
            Type::Set(element) | Type::Tuple(element) => Some((**element).clone()),
            _ => self
                .items()?
                .iter()
                .try_fold(Type::Never, |joined, item| joined.join(item)),
        }
    }

    /// The smallest type that contains the values of both; `None` if there is none.
    pub fn join(&self, other: &Type) -> Option<Type> {
        use Type::{
            Grid, Indices, Int, MaybeInt, MaybePair, Never, Object, Pair, Patch, Set, Tuple,
        };
        Some(match (self, other) {
            (a, b) if a == b => a.clone(),
            (Never, a) | (a, Never) => a.clone(),
            (Int | MaybeInt, Int | MaybeInt) => MaybeInt,
            (Pair | MaybePair, Pair | MaybePair) => MaybePair,
            (Tuple(element), MaybePair | Pair) | (MaybePair | Pair, Tuple(element))
                if **element == Never =>
            {
                MaybePair
            }
            (Indices | Object | Patch, Indices | Object | Patch) => Patch,
            (Patch, Set(element)) | (Set(element), Patch) if **element == Never => Patch,
            (Tuple(element), Grid) | (Grid, Tuple(element)) if **element == Never => Grid,
            (a, b) => {
                if let (Some(a), Some(b)) = (a.items(), b.items())
                    && a.len() == b.len()
                {
                    let joined: Option<Vec<_>> = a.iter().zip(b).map(|(a, b)| a.join(b)).collect();
                    if let Some(joined) = joined {
                        return Some(Type::fixed(joined));
                    }
                }
                let kind = a.container().filter(|kind| b.container() == Some(*kind))?;
                Type::container_of(kind, a.element()?.join(&b.element()?)?)
            }
        })
    }

    /// Whether all values of this type are values of `other`.
    pub fn within(&self, other: &Type) -> bool {
        self.join(other).is_some_and(|joined| joined == *other)
    }

    /// The types that most values have.
    pub fn common() -> [Type; 15] {
        [
            Type::Never,
            Type::Bool,
            Type::Int,
            Type::MaybeInt,
            Type::Pair,
            Type::MaybePair,
            Type::Cell,
            Type::Grid,
            Type::Indices,
            Type::Object,
            Type::Patch,
            Type::set_of(Type::Object),
            Type::set_of(Type::Indices),
            Type::tuple_of(Type::Int),
            Type::tuple_of(Type::Grid),
        ]
    }

    /// Its index in the [`common`](Self::common) types, if it is one of them.
    pub fn common_number(&self) -> Option<u8> {
        Some(match self {
            Type::Never => 0,
            Type::Bool => 1,
            Type::Int => 2,
            Type::MaybeInt => 3,
            Type::Pair => 4,
            Type::MaybePair => 5,
            Type::Cell => 6,
            Type::Grid => 7,
            Type::Indices => 8,
            Type::Object => 9,
            Type::Patch => 10,
            Type::Set(element) => match **element {
                Type::Object => 11,
                Type::Indices => 12,
                _ => return None,
            },
            Type::Tuple(element) => match **element {
                Type::Int => 13,
                Type::Grid => 14,
                _ => return None,
            },
            Type::Fixed(_) => return None,
        })
    }

    /// The number of types in it, counting itself, but at most `most`.
    pub fn size(&self, most: usize) -> usize {
        if most == 0 {
            return 0;
        }
        let inside = match self {
            Type::Set(element) | Type::Tuple(element) => element.size(most.saturating_sub(1)),
            Type::Fixed(items) => items
                .iter()
                .fold(0, |sum, item| sum + item.size(most.saturating_sub(sum + 1))),
            _ => 0,
        };
        (1 + inside).min(most)
    }
}

/// The syntax in the form's text: `set<object>`, `tuple<int>`, `(grid, int)`.
impl fmt::Display for ValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Set(element) => write!(f, "set<{element}>"),
            Type::Tuple(element) => write!(f, "tuple<{element}>"),
            Type::Fixed(items) => {
                f.write_str("(")?;
                for (at, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if at > 0 { ", " } else { "" })?;
                }
                f.write_str(if items.len() == 1 { ",)" } else { ")" })
            }
            _ => f.write_str(match self {
                Type::Never => "never",
                Type::Bool => "bool",
                Type::Int => "int",
                Type::MaybeInt => "int?",
                Type::Pair => "pair",
                Type::MaybePair => "pair?",
                Type::Cell => "cell",
                Type::Grid => "grid",
                Type::Indices => "indices",
                Type::Object => "object",
                _ => "patch",
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_types_are_found_by_their_numbers() {
        let types = Type::common();
        let numbers = types.iter().map(Type::common_number);
        assert!(numbers.eq((0..15).map(Some)));
        assert_eq!(Type::tuple_of(Type::Pair).common_number(), None);
    }

    #[test]
    fn types_join_where_values_have_a_form_in_common() {
        let rows = Type::tuple_of(Type::tuple_of(Type::Int));
        assert_eq!(Type::Grid.join(&rows), Some(rows.clone()));
        assert_eq!(Type::Indices.join(&Type::Object), Some(Type::Patch));
        assert_eq!(
            Type::set_of(Type::Never).join(&Type::Object),
            Some(Type::Object)
        );
        assert_eq!(Type::Int.join(&Type::Pair), None);
        assert_eq!(Type::Int.join(&Type::Bool), None);
        assert_eq!(
            Type::Pair.join(&Type::tuple_of(Type::Int)),
            Some(Type::tuple_of(Type::Int))
        );
        assert!(Type::Grid.within(&rows) && !rows.within(&Type::Grid));
    }
}
