//! Converts arguments to the [`Type`] of their parameter; determines the [`ValueType`] of a [`Value`].
//!
//! A row of the primitives table names types. [`ArcType`] maps each to the Rust type that the primitive's function
//! receives, so a function that does not match its row does not compile.

use std::borrow::Cow;

use arc_isa::{ContainerKind, Type, ValueType};

use crate::budget::Context;
use crate::error::{ErrorKind, EvalResult, ValueKind};
use crate::grid::Grid;
use crate::patch::{Cell, Indices, Loc, Object};
use crate::value::Value;
use crate::value::container::{Container, Items};

/// Converts arguments for parameters of one of the [`Type`]s.
pub(crate) trait ArcType {
    /// The type of the parameter.
    const TYPE: Type;
    /// The converted argument, which borrows from the value where that is possible.
    type Converted<'a>;
    /// What a primitive's function receives.
    type Param<'p>;

    /// The value as this type; `None` if it has another one.
    fn convert(value: &Value) -> Option<Self::Converted<'_>>;

    /// The parameter, borrowed from the result of [`convert`](ArcType::convert).
    fn borrow<'p>(converted: &'p Self::Converted<'_>) -> Self::Param<'p>;
}

/// Implemented for results of primitives whose row names the type `T`.
pub(crate) trait Returns<T: ArcType> {
    /// The result as a value, checked against the limits of the evaluation.
    fn into_value(self, cx: &mut Context<'_>) -> EvalResult<Value>;
}

/// A primitive that returns any value returns one that was checked before. It is not checked again, since the check
/// costs more than building most values.
impl Returns<parameters::Any> for Value {
    #[inline]
    fn into_value(self, _: &mut Context<'_>) -> EvalResult<Value> {
        Ok(self)
    }
}

impl Returns<parameters::Any> for Result<Value, ErrorKind> {
    #[inline]
    fn into_value(self, _: &mut Context<'_>) -> EvalResult<Value> {
        self
    }
}

macro_rules! types {
    ($($name:ident: $converted:ty, $param:ty, $convert:expr, $borrow:expr, [$($returned:ty),*];)*) => {
        impl Value {
            /// Whether it can be passed where a signature names this type.
            pub fn fits(&self, ty: Type) -> bool {
                match ty {
                    $(Type::$name => <parameters::$name as ArcType>::convert(self).is_some(),)*
                }
            }
        }

        /// One marker per type, with the same name, that implements the parameter conversion.
        pub(crate) mod parameters {
            $(pub(crate) enum $name {})*
        }

        $(
            impl ArcType for parameters::$name {
                const TYPE: Type = Type::$name;
                type Converted<'a> = $converted;
                type Param<'p> = $param;

                fn convert(value: &Value) -> Option<Self::Converted<'_>> {
                    let convert: for<'a> fn(&'a Value) -> Option<Self::Converted<'a>> = $convert;
                    convert(value)
                }

                fn borrow<'p>(converted: &'p Self::Converted<'_>) -> Self::Param<'p> {
                    $borrow(converted)
                }
            }

            $(
                impl Returns<parameters::$name> for $returned {
                    #[inline]
                    fn into_value(self, cx: &mut Context<'_>) -> EvalResult<Value> {
                        cx.check(&self)?;
                        Ok(self.into())
                    }
                }

                impl Returns<parameters::$name> for Result<$returned, ErrorKind> {
                    #[inline]
                    fn into_value(self, cx: &mut Context<'_>) -> EvalResult<Value> {
                        self.and_then(|result| Returns::<parameters::$name>::into_value(result, cx))
                    }
                }
            )*
        )*
    };
}

types! {
    Any: &'a Value, &'p Value, |v| Some(v), copied, [];
    Boolean: bool, bool, |v| Some(v.is_truthy()), copied, [bool, Value];
    Integer: i32, i32, Value::as_int, copied, [i32, Value];
    IntegerTuple: Loc, Loc, as_pair, copied, [Loc, Value];
    Numerical: Number, Number, as_number, copied, [Value];
    IntegerSet: Container<'a>, Container<'p>, Value::as_container, copied, [Value];
    Grid: Cow<'a, Grid>, &'p Grid, Value::as_grid, |converted: &'p Cow<'_, Grid>| &**converted, [Grid, Value];
    Object: ConvertedPatch<'a>, Patch<'p>, as_object, ConvertedPatch::borrow, [Object, Value];
    Objects: Container<'a>, Container<'p>, Value::as_container, copied, [Value];
    Indices: ConvertedPatch<'a>, Patch<'p>, as_patch, ConvertedPatch::borrow, [Indices, Value];
    Patch: ConvertedPatch<'a>, Patch<'p>, as_patch, ConvertedPatch::borrow, [Value];
    Element: ConvertedPiece<'a>, Piece<'p>, as_piece, ConvertedPiece::borrow, [Value];
    Piece: ConvertedPiece<'a>, Piece<'p>, as_piece, ConvertedPiece::borrow, [Value];
    Callable: &'a Value, &'p Value, as_callable, copied, [Value];
    Container: Container<'a>, Container<'p>, Value::as_container, copied, [Value];
    ContainerContainer: Container<'a>, Container<'p>, Value::as_container, copied, [Value];
    Tuple: Container<'a>, Container<'p>, Value::as_tuple, copied, [Value];
    TupleTuple: Container<'a>, Container<'p>, Value::as_tuple, copied, [Value];
    FrozenSet: Container<'a>, Container<'p>, as_set, copied, [Value];
}

fn copied<T: Copy>(converted: &T) -> T {
    *converted
}

/// The number that a [`Type::Numerical`] parameter takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Number {
    Int(i32),
    Pair(Loc),
}

impl Number {
    /// An integer counts for both components.
    pub(crate) fn components(self) -> (i32, i32) {
        match self {
            Number::Int(n) => (n, n),
            Number::Pair(loc) => (loc.i, loc.j),
        }
    }
}

#[inline]
pub(crate) fn as_number(value: &Value) -> Option<Number> {
    value
        .as_int()
        .map(Number::Int)
        .or_else(|| as_pair(value).map(Number::Pair))
}

#[inline]
pub(crate) fn as_pair(value: &Value) -> Option<Loc> {
    match value {
        Value::Loc(loc) => Some(*loc),
        // A pair that contains a boolean is stored as a plain tuple.
        Value::Tuple(elements) => match elements.as_slice() {
            [i, j] => Some(Loc::new(i.as_int()?, j.as_int()?)),
            _ => None,
        },
        _ => None,
    }
}

fn as_callable(value: &Value) -> Option<&Value> {
    value.is_function().then_some(value)
}

pub(crate) fn as_set(value: &Value) -> Option<Container<'_>> {
    value
        .as_container()
        .filter(|c| c.kind == ContainerKind::Set)
}

/// A patch: locations, with colours or without.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patch<'p> {
    /// The value that was converted; primitives that do not change a patch return it.
    pub(crate) value: &'p Value,
    pub(crate) items: PatchItems<'p>,
}

/// The elements of a patch: ascending and distinct for a set, in the given order for a tuple.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PatchItems<'p> {
    Locs(&'p [Loc]),
    Cells(&'p [Cell]),
}

impl<'p> Patch<'p> {
    pub(crate) fn len(self) -> usize {
        match self.items {
            PatchItems::Locs(locs) => locs.len(),
            PatchItems::Cells(cells) => cells.len(),
        }
    }

    pub(crate) fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Whether it is a tuple of cells or locations rather than a set.
    pub(crate) fn is_tuple(self) -> bool {
        self.value.as_tuple().is_some()
    }

    /// Its cells; none of a patch without colours.
    pub(crate) fn cells(self) -> &'p [Cell] {
        match self.items {
            PatchItems::Cells(cells) => cells,
            PatchItems::Locs(_) => &[],
        }
    }

    /// The locations of its elements, in their order; a location with two colours occurs twice.
    pub(crate) fn locs(self) -> impl Iterator<Item = Loc> + Clone + 'p {
        let (locs, cells): (&[Loc], &[Cell]) = match self.items {
            PatchItems::Locs(locs) => (locs, &[]),
            PatchItems::Cells(cells) => (&[], cells),
        };
        locs.iter()
            .copied()
            .chain(cells.iter().map(|cell| cell.loc))
    }

    /// The locations of its elements, as a set.
    pub(crate) fn indices(self) -> Cow<'p, Indices> {
        match self.value {
            Value::Indices(indices) => Cow::Borrowed(&**indices),
            _ => Cow::Owned(self.locs().collect()),
        }
    }
}

/// The converted argument for a parameter that is a [`Patch`].
#[derive(Debug)]
pub(crate) struct ConvertedPatch<'a> {
    value: &'a Value,
    items: ConvertedPatchItems<'a>,
}

#[derive(Debug)]
enum ConvertedPatchItems<'a> {
    Locs(Cow<'a, [Loc]>),
    Cells(Cow<'a, [Cell]>),
}

impl ConvertedPatch<'_> {
    pub(crate) fn borrow(&self) -> Patch<'_> {
        let items = match &self.items {
            ConvertedPatchItems::Locs(locs) => PatchItems::Locs(locs),
            ConvertedPatchItems::Cells(cells) => PatchItems::Cells(cells),
        };
        Patch {
            value: self.value,
            items,
        }
    }
}

pub(crate) fn as_patch(value: &Value) -> Option<ConvertedPatch<'_>> {
    let container = value.as_container()?;
    let items = match container.items {
        Items::Locs(locs) => ConvertedPatchItems::Locs(Cow::Borrowed(locs)),
        Items::Cells(cells) => ConvertedPatchItems::Cells(Cow::Borrowed(cells)),
        Items::Values([]) => ConvertedPatchItems::Locs(Cow::Borrowed(&[])),
        Items::Values([Value::Cell(_), ..]) => ConvertedPatchItems::Cells(
            container
                .iter()
                .map(|item| match *item {
                    Value::Cell(cell) => Some(cell),
                    _ => None,
                })
                .collect::<Option<_>>()?,
        ),
        Items::Values(_) | Items::Rows(_) => ConvertedPatchItems::Locs(
            container
                .iter()
                .map(|item| as_pair(&item))
                .collect::<Option<_>>()?,
        ),
        Items::Loc(_) | Items::Cell(_) => return None,
    };
    Some(ConvertedPatch { value, items })
}

/// A patch with colours, or an empty one.
fn as_object(value: &Value) -> Option<ConvertedPatch<'_>> {
    as_patch(value).filter(|converted| match &converted.items {
        ConvertedPatchItems::Cells(_) => true,
        ConvertedPatchItems::Locs(locs) => locs.is_empty(),
    })
}

/// A grid or a patch. As in Python, every tuple counts as a grid.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Piece<'p> {
    Grid(&'p Grid),
    Patch(Patch<'p>),
}

/// The converted argument for a parameter that is a [`Piece`].
#[derive(Debug)]
pub(crate) enum ConvertedPiece<'a> {
    Grid(Cow<'a, Grid>),
    Patch(ConvertedPatch<'a>),
}

impl ConvertedPiece<'_> {
    fn borrow(&self) -> Piece<'_> {
        match self {
            ConvertedPiece::Grid(grid) => Piece::Grid(grid),
            ConvertedPiece::Patch(patch) => Piece::Patch(patch.borrow()),
        }
    }
}

fn as_piece(value: &Value) -> Option<ConvertedPiece<'_>> {
    match value.as_container()?.kind {
        ContainerKind::Tuple => value.as_grid().map(ConvertedPiece::Grid),
        ContainerKind::Set => as_patch(value).map(ConvertedPiece::Patch),
    }
}

impl Value {
    /// Its type; `None` if it contains functions, or elements without a common type.
    pub fn value_type(&self) -> Option<ValueType> {
        Some(match self {
            Value::Nothing => ValueType::MaybeInt,
            Value::Bool(_) => ValueType::Bool,
            Value::Int(_) => ValueType::Int,
            Value::Loc(_) => ValueType::Pair,
            Value::Cell(_) => ValueType::Cell,
            Value::Grid(grid) if grid.height() == 0 => ValueType::tuple_of(ValueType::Never),
            Value::Grid(_) => ValueType::Grid,
            Value::Indices(_) => ValueType::Indices,
            Value::Object(_) => ValueType::Object,
            Value::Tuple(elements) => {
                let items: Option<Vec<_>> =
                    elements.as_slice().iter().map(Value::value_type).collect();
                ValueType::fixed(items?)
            }
            Value::Set(elements) => {
                let joined = elements
                    .as_slice()
                    .iter()
                    .try_fold(ValueType::Never, |joined, item| {
                        joined.join(&item.value_type()?)
                    });
                ValueType::set_of(joined?)
            }
            Value::Primitive(_) | Value::Function(_) | Value::Foreign(_) => return None,
        })
    }

    /// Whether it has this type.
    pub fn has_type(&self, ty: &ValueType) -> bool {
        let all = |kind: ContainerKind, element: &ValueType| {
            self.as_container().is_some_and(|container| {
                container.kind == kind && container.iter().all(|item| item.has_type(element))
            })
        };
        match ty {
            ValueType::Never => false,
            ValueType::Bool => matches!(self, Value::Bool(_)),
            ValueType::Int => matches!(self, Value::Int(_)),
            ValueType::MaybeInt => matches!(self, Value::Int(_) | Value::Nothing),
            ValueType::Pair => matches!(self, Value::Loc(_)),
            ValueType::MaybePair => {
                matches!(self, Value::Loc(_)) || self.as_tuple().is_some_and(Container::is_empty)
            }
            ValueType::Cell => matches!(self, Value::Cell(_)),
            ValueType::Grid => self.as_grid().is_some(),
            ValueType::Indices => {
                matches!(self, Value::Indices(_)) || self.kind() == ValueKind::EmptySet
            }
            ValueType::Object => {
                matches!(self, Value::Object(_)) || self.kind() == ValueKind::EmptySet
            }
            ValueType::Patch => {
                self.has_type(&ValueType::Indices) || self.has_type(&ValueType::Object)
            }
            ValueType::Set(element) => all(ContainerKind::Set, element),
            ValueType::Tuple(element) => match self.as_container() {
                // Every row is a tuple of integers: no need to build the rows.
                Some(Container {
                    items: Items::Rows(_),
                    ..
                }) if matches!(&**element, ValueType::Tuple(inner) if **inner == ValueType::Int) => {
                    true
                }
                _ => all(ContainerKind::Tuple, element),
            },
            ValueType::Fixed(items) => self.as_tuple().is_some_and(|container| {
                container.len() == items.len()
                    && items
                        .iter()
                        .zip(container.iter())
                        .all(|(ty, item)| item.has_type(ty))
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Generator;

    #[test]
    fn what_is_a_grid_is_of_a_type_that_may_be_one() {
        let mut generator = Generator::new(3);
        let mut seen = [0, 0];
        for round in 0..4000 {
            let signature = Type::ALL[round % Type::ALL.len()];
            let value = generator.value(signature);
            let Some(ty) = value.value_type() else {
                continue;
            };
            seen[usize::from(ty.may_be_grid())] += 1;
            assert!(
                ty.may_be_grid() || value.as_grid().is_none(),
                "{ty}: {value}"
            );
        }
        assert!(seen.iter().all(|count| *count > 500), "{seen:?}");
        assert!(ValueType::MaybePair.may_be_grid() && !ValueType::Pair.may_be_grid());
    }

    #[test]
    fn a_type_of_a_value_holds_it_and_so_does_every_join() {
        let mut generator = Generator::new(5);
        let values: Vec<_> = (0..400)
            .map(|at| generator.value(Type::ALL[at % Type::ALL.len()]))
            .filter_map(|value| Some((value.value_type()?, value)))
            .collect();
        assert!(values.len() > 250);
        for (a, value) in &values {
            assert!(value.has_type(a), "{a} {value}");
            for (b, other) in &values {
                assert_eq!(a.join(b), b.join(a), "{a} {b}");
                if let Some(joined) = a.join(b) {
                    assert!(
                        value.has_type(&joined) && other.has_type(&joined),
                        "{a} {b} {joined}"
                    );
                    assert!(a.within(&joined) && b.within(&joined), "{a} {b} {joined}");
                }
            }
        }
    }
}
