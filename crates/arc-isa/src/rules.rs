//! The typing rules that rows name: the type of a result, computed from the types of the arguments.
//!
//! A rule is called only with arguments that the primitive's signature accepts.

#![allow(clippy::unnecessary_wraps, reason = "the rules of rows have one type")]

use std::fmt;

use crate::signature::Type as Signature;
use crate::types::{ContainerKind, ValueType as Type};

/// The type of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Typing {
    /// The type.
    pub ty: Type,
    /// Whether the primitive may also return values of another type, so that each result has to be checked.
    pub checked: bool,
}

/// Two types that have no common type where one is needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unlike(pub Type, pub Type);

/// Why a result has no type.
impl fmt::Display for Unlike {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Unlike(a, b) = self;
        write!(f, "no type has both the values of {a} and those of {b}")
    }
}

/// Computes the type of a result from the types of the arguments.
pub type Rule = fn(&[Type]) -> Result<Typing, Unlike>;

pub(crate) fn sure(ty: Type) -> Result<Typing, Unlike> {
    Ok(Typing { ty, checked: false })
}

fn checked(ty: Type) -> Result<Typing, Unlike> {
    Ok(Typing { ty, checked: true })
}

/// The call fails for all values; if it did not, the check would reject the value.
pub(crate) fn fails() -> Result<Typing, Unlike> {
    checked(Type::Never)
}

fn join(a: &Type, b: &Type) -> Result<Type, Unlike> {
    a.join(b).ok_or_else(|| Unlike(a.clone(), b.clone()))
}

/// The type of a container's elements; `Ok(None)` if the type is no container.
pub fn element(ty: &Type) -> Result<Option<Type>, Unlike> {
    match (ty, ty.items()) {
        (Type::Patch, _) => Err(Unlike(Type::Pair, Type::Cell)),
        (_, Some(items)) => items
            .iter()
            .try_fold(Type::Never, |joined, item| join(&joined, item))
            .map(Some),
        (_, None) => Ok(ty.element()),
    }
}

/// What a `Numerical` parameter converts it to: an integer or a pair.
fn number(ty: &Type) -> Option<Type> {
    match ty {
        _ if integer(ty) => Some(Type::Int),
        _ if pair(ty) => Some(Type::Pair),
        _ => None,
    }
}

fn integer(ty: &Type) -> bool {
    matches!(ty, Type::Bool | Type::Int | Type::MaybeInt)
}

/// Whether it may be accepted as a pair of integers.
fn pair(ty: &Type) -> bool {
    match ty {
        Type::Pair | Type::MaybePair => true,
        Type::Tuple(element) => integer(element),
        Type::Fixed(items) => items.len() == 2 && items.iter().all(integer),
        _ => false,
    }
}

/// Whether it may be a cell.
fn cell(ty: &Type) -> bool {
    match ty {
        Type::Cell => true,
        Type::Fixed(items) => match &**items {
            [colour, location] => integer(colour) && pair(location),
            _ => false,
        },
        _ => false,
    }
}

/// The type of patch that it counts as when passed as one; for a set or a tuple, its elements decide.
fn patch(ty: &Type) -> Option<Type> {
    match ty {
        Type::Indices | Type::Object | Type::Patch => Some(ty.clone()),
        Type::Set(element) | Type::Tuple(element) if **element == Type::Never => {
            Some(Type::set_of(Type::Never))
        }
        Type::Set(_) | Type::Tuple(_) | Type::Fixed(_) => match ty.element()? {
            element if cell(&element) => Some(Type::Object),
            element if pair(&element) => Some(Type::Indices),
            _ => None,
        },
        _ => None,
    }
}

/// Whether it may be accepted as a grid.
fn grid(ty: &Type) -> bool {
    let row = |ty: &Type| {
        pair(ty)
            || matches!(ty, Type::Tuple(element) if **element == Type::Never || integer(element))
            || matches!(ty, Type::Fixed(items) if items.iter().all(integer))
    };
    match ty {
        Type::Grid => true,
        Type::Tuple(element) => **element == Type::Never || row(element),
        Type::Fixed(items) => items.iter().all(row),
        _ => false,
    }
}

/// The grid or patch that it counts as when passed as one.
fn piece(ty: &Type) -> Option<Type> {
    match ty.container()? {
        ContainerKind::Tuple => grid(ty).then_some(Type::Grid),
        ContainerKind::Set => patch(ty),
    }
}

/// Whether a value of the type may be passed for a parameter of this type.
pub fn accepts(signature: Signature, ty: &Type) -> bool {
    match signature {
        Signature::Any | Signature::Boolean => true,
        Signature::Integer => integer(ty),
        Signature::IntegerTuple => pair(ty),
        Signature::Numerical => number(ty).is_some(),
        Signature::IntegerSet
        | Signature::Objects
        | Signature::Container
        | Signature::ContainerContainer => ty.container().is_some(),
        Signature::Grid => grid(ty),
        Signature::Object => matches!(patch(ty), Some(Type::Object | Type::Patch | Type::Set(_))),
        Signature::Indices | Signature::Patch => patch(ty).is_some(),
        Signature::Element | Signature::Piece => piece(ty).is_some(),
        Signature::Tuple | Signature::TupleTuple => ty.container() == Some(ContainerKind::Tuple),
        Signature::FrozenSet => ty.container() == Some(ContainerKind::Set),
        Signature::Callable => false,
    }
}

/// Whether every value of the type is accepted for a parameter of this type. For values outside that type, Python may
/// return a result of another type.
pub fn surely_accepts(signature: Signature, ty: &Type) -> bool {
    let integer = |ty: &Type| matches!(ty, Type::Int | Type::Bool);
    let pair = |ty: &Type| match ty {
        Type::Pair => true,
        Type::Fixed(items) => items.len() == 2 && items.iter().all(integer),
        _ => false,
    };
    let no_elements = |ty: &Type| matches!(ty, Type::Set(element) if **element == Type::Never);
    match signature {
        Signature::Integer => integer(ty),
        Signature::IntegerTuple => pair(ty),
        Signature::Numerical => integer(ty) || pair(ty),
        Signature::Grid => *ty == Type::Grid,
        Signature::Object => *ty == Type::Object || no_elements(ty),
        Signature::Indices | Signature::Patch => {
            matches!(ty, Type::Indices | Type::Object | Type::Patch) || no_elements(ty)
        }
        Signature::Element | Signature::Piece => {
            matches!(ty, Type::Grid | Type::Indices | Type::Object | Type::Patch) || no_elements(ty)
        }
        _ => accepts(signature, ty),
    }
}

/// The type of a container after some of its elements are removed.
fn some_of(ty: &Type) -> Result<Type, Unlike> {
    Ok(match ty {
        Type::Pair | Type::MaybePair | Type::Cell | Type::Fixed(_) => {
            Type::tuple_of(element(ty)?.unwrap_or(Type::Never))
        }
        _ => ty.clone(),
    })
}

/// Locations in a grid for a set. The shape of a tuple is not that of a patch.
pub(crate) fn of_set(arguments: &[Type]) -> Result<Typing, Unlike> {
    match &arguments[1] {
        ty @ (Type::Tuple(_) | Type::Fixed(_)) => Err(Unlike(Type::Object, ty.clone())),
        _ => sure(Type::Indices),
    }
}

/// The type of a container of results. An empty corner (`()` instead of a pair) cannot be its element.
pub fn collected(kind: ContainerKind, element: &Type) -> Typing {
    let checked = *element == Type::MaybePair;
    let element = if checked { &Type::Pair } else { element };
    Typing {
        ty: Type::container_of(kind, element.clone()),
        checked,
    }
}

/// The type of the result of merging a container of such elements.
pub fn merged(kind: ContainerKind, inner: &Type) -> Result<Typing, Unlike> {
    match (kind, inner) {
        (_, Type::Never) => Ok(collected(kind, &Type::Never)),
        (ContainerKind::Tuple, Type::Grid) => checked(Type::Grid),
        (ContainerKind::Set, Type::Patch) => checked(Type::Patch),
        _ => match element(inner)? {
            Some(element) => Ok(collected(kind, &element)),
            None => fails(),
        },
    }
}

/// The type of the first component of a tuple.
fn first_of(ty: &Type) -> Result<Option<Type>, Unlike> {
    match ty.items() {
        Some(items) => Ok(items.first().cloned()),
        None => element(ty),
    }
}

/// The kind of container that an argument is.
fn kind(ty: &Type) -> ContainerKind {
    ty.container().unwrap_or(ContainerKind::Tuple)
}

/// The type of an argument's elements.
fn inner(ty: &Type) -> Result<Type, Unlike> {
    Ok(element(ty)?.unwrap_or(Type::Never))
}

/// An integer if both are, otherwise a pair.
pub(crate) fn of_numbers(arguments: &[Type]) -> Result<Typing, Unlike> {
    let are_integers = arguments.iter().all(|ty| number(ty) == Some(Type::Int));
    sure(if are_integers { Type::Int } else { Type::Pair })
}

/// An integer or a pair, like the argument.
pub(crate) fn of_number(arguments: &[Type]) -> Result<Typing, Unlike> {
    sure(number(&arguments[0]).unwrap_or(Type::Never))
}

/// An element, or 0 for an empty container.
pub(crate) fn extremum(arguments: &[Type]) -> Result<Typing, Unlike> {
    let element = inner(&arguments[0])?;
    match element.join(&Type::Int) {
        Some(joined) => sure(joined),
        None => checked(element),
    }
}

/// Elements of both arguments, which are those of the second one if that is smaller: `True` where the first one has 1.
pub(crate) fn common(arguments: &[Type]) -> Result<Typing, Unlike> {
    let first = arguments[0].clone();
    if first == arguments[1] {
        sure(first)
    } else {
        checked(first)
    }
}

/// Like the first argument.
pub(crate) fn like_first(arguments: &[Type]) -> Result<Typing, Unlike> {
    sure(arguments[0].clone())
}

/// The elements of both.
pub(crate) fn combined(arguments: &[Type]) -> Result<Typing, Unlike> {
    match (&arguments[0], &arguments[1]) {
        (Type::Patch, b) if b.container().is_some() => checked(Type::Patch),
        (Type::Indices | Type::Object, Type::Patch) => checked(Type::Patch),
        (Type::Indices, b) if b.element() == Some(Type::Cell) => checked(Type::Patch),
        (Type::Object, b) if b.element() == Some(Type::Pair) => checked(Type::Patch),
        (Type::Set(element), Type::Patch) if **element == Type::Never => checked(Type::Patch),
        (Type::Grid, Type::Grid) => checked(Type::Grid),
        (a, b) => {
            if let (Some(a), Some(b)) = (a.items(), b.items()) {
                return sure(Type::fixed([a, b].concat()));
            }
            let joined = join(&inner(a)?, &inner(b)?)?;
            Ok(collected(kind(a), &joined))
        }
    }
}

/// The first argument, without some of its elements.
pub(crate) fn some_of_first(arguments: &[Type]) -> Result<Typing, Unlike> {
    sure(some_of(&arguments[0])?)
}

/// The second argument, without some of its elements.
pub(crate) fn some_of_second(arguments: &[Type]) -> Result<Typing, Unlike> {
    sure(some_of(&arguments[1])?)
}

/// A tuple of the first argument, any number of times.
pub(crate) fn repeated(arguments: &[Type]) -> Result<Typing, Unlike> {
    Ok(collected(ContainerKind::Tuple, &arguments[0]))
}

/// The elements of the elements.
pub(crate) fn merged_container(arguments: &[Type]) -> Result<Typing, Unlike> {
    match &arguments[0] {
        Type::Fixed(items) if items.iter().all(|item| *item == Type::Grid) => checked(Type::Grid),
        containers => merged(kind(containers), &inner(containers)?),
    }
}

/// An element of the first argument.
pub(crate) fn element_of_first(arguments: &[Type]) -> Result<Typing, Unlike> {
    sure(inner(&arguments[0])?)
}

/// A set of values of the argument's type.
pub(crate) fn set_of_one(arguments: &[Type]) -> Result<Typing, Unlike> {
    Ok(collected(ContainerKind::Set, &arguments[0]))
}

/// The elements as a tuple.
pub(crate) fn as_tuple(arguments: &[Type]) -> Result<Typing, Unlike> {
    match arguments[0].container() {
        Some(ContainerKind::Tuple) => sure(arguments[0].clone()),
        _ => sure(Type::tuple_of(inner(&arguments[0])?)),
    }
}

/// The first element.
pub(crate) fn first_element(arguments: &[Type]) -> Result<Typing, Unlike> {
    sure(first_of(&arguments[0])?.unwrap_or(Type::Never))
}

/// The last element.
pub(crate) fn last_element(arguments: &[Type]) -> Result<Typing, Unlike> {
    match arguments[0].items() {
        Some(items) => sure(items.last().cloned().unwrap_or(Type::Never)),
        None => sure(inner(&arguments[0])?),
    }
}

/// A set with one more element, the first argument.
pub(crate) fn inserted(arguments: &[Type]) -> Result<Typing, Unlike> {
    match (&arguments[0], &arguments[1]) {
        (Type::Pair | Type::Cell, Type::Patch)
        | (Type::Pair, Type::Object)
        | (Type::Cell, Type::Indices) => checked(Type::Patch),
        (value, set) => Ok(collected(ContainerKind::Set, &join(&inner(set)?, value)?)),
    }
}

/// A tuple of integers.
pub(crate) fn integers(_: &[Type]) -> Result<Typing, Unlike> {
    sure(Type::tuple_of(Type::Int))
}

/// The tuple of the arguments.
pub(crate) fn tuple_of_arguments(arguments: &[Type]) -> Result<Typing, Unlike> {
    sure(Type::fixed(arguments))
}

/// An element of each of two containers.
fn of_both(arguments: &[Type]) -> Result<Type, Unlike> {
    Ok(Type::fixed([inner(&arguments[0])?, inner(&arguments[1])?]))
}

/// A set of tuples of an element of each.
pub(crate) fn set_of_pairs(arguments: &[Type]) -> Result<Typing, Unlike> {
    sure(Type::set_of(of_both(arguments)?))
}

/// A tuple of tuples of an element of each.
pub(crate) fn tuple_of_pairs(arguments: &[Type]) -> Result<Typing, Unlike> {
    sure(Type::tuple_of(of_both(arguments)?))
}

/// One of the two last arguments.
pub(crate) fn either_of_last(arguments: &[Type]) -> Result<Typing, Unlike> {
    sure(join(&arguments[1], &arguments[2])?)
}

/// One of the two first arguments.
pub(crate) fn either_of_first(arguments: &[Type]) -> Result<Typing, Unlike> {
    sure(join(&arguments[0], &arguments[1])?)
}

/// A set of elements of the first argument.
pub(crate) fn set_of_elements(arguments: &[Type]) -> Result<Typing, Unlike> {
    Ok(collected(ContainerKind::Set, &inner(&arguments[0])?))
}

/// The first component of the first element.
pub(crate) fn colour(arguments: &[Type]) -> Result<Typing, Unlike> {
    match &arguments[0] {
        Type::Patch => sure(Type::Int),
        ty => match element(ty)? {
            None | Some(Type::Never) => sure(Type::Never),
            Some(item) => match first_of(&item)? {
                Some(ty) => sure(ty),
                None => fails(),
            },
        },
    }
}

/// An integer or nothing.
pub(crate) fn maybe_integer(_: &[Type]) -> Result<Typing, Unlike> {
    sure(Type::MaybeInt)
}

/// A pair or the empty tuple.
pub(crate) fn maybe_pair(_: &[Type]) -> Result<Typing, Unlike> {
    sure(Type::MaybePair)
}

/// The locations of a patch; a tuple of locations stays one.
pub(crate) fn locations(arguments: &[Type]) -> Result<Typing, Unlike> {
    match arguments[0].container() {
        // The empty tuple becomes the empty set.
        Some(ContainerKind::Tuple) if patch(&arguments[0]) == Some(Type::Indices) => {
            checked(some_of(&arguments[0])?)
        }
        // Such elements are kept as they are, while locations would hold integers in their place.
        _ if arguments[0].has_boolean() => Err(Unlike(Type::Bool, Type::Int)),
        _ => sure(Type::Indices),
    }
}

/// A patch moved elsewhere.
pub(crate) fn moved(arguments: &[Type]) -> Result<Typing, Unlike> {
    let moved = patch(&arguments[0]).unwrap_or(Type::Never);
    match arguments[0].container() {
        Some(ContainerKind::Set) => sure(moved),
        _ => checked(moved),
    }
}

/// A grid or a patch after a symmetry.
pub(crate) fn mirrored(arguments: &[Type]) -> Result<Typing, Unlike> {
    sure(piece(&arguments[0]).unwrap_or(Type::Never))
}

/// A grid or an object, larger.
pub(crate) fn upscaled(arguments: &[Type]) -> Result<Typing, Unlike> {
    match piece(&arguments[0]).unwrap_or(Type::Never) {
        Type::Indices => fails(),
        Type::Patch => sure(Type::Object),
        larger => sure(larger),
    }
}

/// A set of locations, except for an empty patch.
pub(crate) fn checked_locations(_: &[Type]) -> Result<Typing, Unlike> {
    checked(Type::Indices)
}

/// A grid, unless the rows differ in length.
pub(crate) fn checked_grid(_: &[Type]) -> Result<Typing, Unlike> {
    checked(Type::Grid)
}

/// A tuple of grids.
pub(crate) fn grids(_: &[Type]) -> Result<Typing, Unlike> {
    sure(Type::tuple_of(Type::Grid))
}

/// A set of colours.
pub(crate) fn colours(_: &[Type]) -> Result<Typing, Unlike> {
    sure(Type::set_of(Type::Int))
}
