//! [`Value`]: the values that program steps compute, and their text.

mod compare;
pub(crate) mod container;
pub(crate) mod digest;
mod elements;
pub(crate) mod foreign;
pub(crate) mod function;
pub(crate) mod literal;
pub(crate) mod set_table;
pub(crate) mod sets;
pub(crate) mod sort;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use arc_isa::{ContainerKind, Primitive};

use crate::value::container::{Container, ContainerBuilder, Items};
use smallvec::SmallVec;

use crate::budget::LIGHT;
use crate::error::ValueKind;
use crate::grid::Grid;
use crate::literal::{write_set, write_tuple};
use crate::patch::{Cell, Indices, Loc, Object};
use crate::reads::count_reads;
pub use crate::value::elements::Elements;
pub(crate) use crate::value::elements::{CONTAINER_WEIGHT, SetElements};
use crate::value::elements::{GRID_WEIGHT, PATCH_WEIGHT};
use crate::value::foreign::Foreign;
use crate::value::function::Function;
use crate::value::set_table::Table;
use crate::value::sets::order::{Built, Element, Order, numbered, python_hash};

/// The largest integer that a program may hold: integers lie in `-MAX_INT..=MAX_INT`, and one beyond that is
/// [`Limit::Integer`](crate::Limit::Integer). The difference of any two of them fits in 32 bits.
pub const MAX_INT: i32 = (1 << 30) - 1;

/// A value of the DSL.
///
/// Values are immutable and cheap to clone. For speed, some have exactly one representation: a tuple of two integers is
/// always [`Loc`](Value::Loc), a non-empty set of such tuples always [`Indices`](Value::Indices), an empty set always
/// [`Set`](Value::Set). Only a tuple of equally long rows has two, [`Grid`](Value::Grid) and [`Tuple`](Value::Tuple),
/// which compare as equal.
///
/// Equality is Python's (`True == 1`, a grid equals the tuple of its rows). A set is iterated, and printed, in the order
/// in which CPython iterates over it, which two equal sets may not share. `Ord` is another order, with which values are
/// sorted and found: nothing, then numbers ascending, tuples and sets element by element, functions by age.
#[derive(Clone, Debug)]
pub enum Value {
    /// No value: what `index` returns off the grid.
    Nothing,
    /// True or false.
    Bool(bool),
    /// An integer within [`MAX_INT`].
    Int(i32),
    /// A tuple of two integers.
    Loc(Loc),
    /// A tuple of an integer and a [`Loc`].
    Cell(Cell),
    /// A tuple of rows of equal length.
    Grid(Arc<Grid>),
    /// Any other tuple.
    Tuple(Arc<Elements>),
    /// A non-empty set of locations.
    Indices(Arc<Indices>),
    /// A non-empty set of cells.
    Object(Arc<Object>),
    /// Any other set.
    Set(Arc<SetElements>),
    /// A primitive as a value.
    Primitive(Primitive),
    /// A function created by `compose`, `fork`, `lbind` and similar primitives.
    Function(Arc<Function>),
    /// A value that only programs of the typed dialect create.
    Foreign(Foreign),
}

impl Value {
    /// The weight of an object without its cells.
    pub(crate) const OBJECT_WEIGHT: u32 = PATCH_WEIGHT;
}

/// How many elements there are in a grid, counting its rows as tuples.
#[inline]
pub(crate) fn grid_work(grid: &Grid) -> u32 {
    (grid.cells().len() + grid.height() * CONTAINER_WEIGHT as usize) as u32
}

impl Value {
    /// A tuple of these values, in its proper variant.
    #[must_use]
    pub fn tuple(values: Vec<Value>) -> Self {
        match values.as_slice() {
            [a @ Value::Int(_), b @ (Value::Int(_) | Value::Loc(_))] => Value::pair(a, b),
            _ => Value::Tuple(Arc::new(Elements::fitted(values))),
        }
    }

    /// The tuple of two values, in its proper variant.
    #[inline]
    #[must_use]
    pub fn pair(a: &Value, b: &Value) -> Self {
        match (a, b) {
            (Value::Int(i), Value::Int(j)) => Value::Loc(Loc::new(*i, *j)),
            (Value::Int(colour), Value::Loc(loc)) => Value::Cell(Cell::new(*colour, *loc)),
            _ => Value::Tuple(Arc::new(Elements::new(SmallVec::from_buf([
                a.clone(),
                b.clone(),
            ])))),
        }
    }

    /// The set to which these values were added in this order; repetitions are left out.
    pub fn set(values: impl IntoIterator<Item = Value>) -> Self {
        let values = values.into_iter();
        let expected = values.size_hint().0.max(1);
        let mut set = ContainerBuilder::new(ContainerKind::Set, expected);
        for value in values {
            set.push(value);
        }
        set.finish()
    }

    /// The set of these values, which are ascending and distinct, built in this way.
    pub(crate) fn set_built(values: Vec<Value>, order: Order) -> Self {
        debug_assert!(values.is_sorted_by(|a, b| a < b));
        Value::Set(Arc::new(SetElements::new(Elements::fitted(values), order)))
    }

    /// The set of these different values, in whose table each has its index as its number.
    pub(crate) fn set_of_table(values: Vec<Value>, table: Table) -> Self {
        let mut sorted: Vec<(Value, u32)> = values.into_iter().zip(0..).collect();
        sorted.sort();
        let mut numbers = vec![0; sorted.len()];
        for (number, (_, at)) in (0..).zip(&sorted) {
            numbers[*at as usize] = number;
        }
        let table = table.renumbered(|at| numbers[at as usize]);
        let values: Vec<Value> = sorted.into_iter().map(|(value, _)| value).collect();
        Self::set_ordered(values, Order::new(Built::Known(table.into())))
    }

    /// The set that Python makes of a set to which these values were added in this order, as a literal does.
    #[must_use]
    pub fn frozenset(values: impl IntoIterator<Item = Value>) -> Self {
        let (values, numbers) = numbered(values.into_iter().collect(), None);
        Self::set_ordered(values, Order::copied(Built::Numbers(numbers.into())))
    }

    /// The copy of a set to which the elements of this one were added, in its order.
    pub(crate) fn added_again(self) -> Self {
        let order = || Order::copied(Built::Like(self.clone()));
        match &self {
            Value::Indices(set) => Indices::from_ascending(set.as_slice().to_vec(), order()).into(),
            Value::Object(set) => Object::from_ascending(set.as_slice().to_vec(), order()).into(),
            _ => Self::set_ordered(self.values().to_vec(), order()),
        }
    }

    /// The indices of a set's elements in the order in which they were added, if they were added one by one.
    pub(crate) fn written(&self) -> Option<Vec<u32>> {
        match self {
            Value::Indices(set) => set.order().written(set.as_slice()),
            Value::Object(set) => set.order().written(set.as_slice()),
            Value::Set(set) => set.order().written(set.as_slice()),
            _ => None,
        }
    }

    /// The set of these ascending values in its proper variant.
    fn set_ordered(values: Vec<Value>, order: Order) -> Self {
        let loc = |value: &Value| match value {
            Value::Loc(loc) => Some(*loc),
            _ => None,
        };
        let cell = |value: &Value| match value {
            Value::Cell(cell) => Some(*cell),
            _ => None,
        };
        if let Some(locs) = values.iter().map(loc).collect::<Option<Vec<_>>>()
            && !locs.is_empty()
        {
            return Indices::ordered(locs, order).into();
        }
        if let Some(cells) = values.iter().map(cell).collect::<Option<Vec<_>>>()
            && !cells.is_empty()
        {
            return Object::ordered(cells, order).into();
        }
        Self::set_built(values, order)
    }

    /// The table of the set, whose elements have their indices in ascending order as numbers; nothing for other values.
    pub(crate) fn set_table(&self) -> Option<Table> {
        Some(match self {
            Value::Indices(indices) => indices.order().table(indices.as_slice()),
            Value::Object(object) => object.order().table(object.as_slice()),
            Value::Set(elements) => elements.order().table(elements.as_slice()),
            _ => return None,
        })
    }

    /// For a set, the indices of its elements in ascending order, in the order in which Python iterates over them; nothing
    /// if that is ascending too, and for other values.
    #[must_use]
    pub fn iteration_order(&self) -> Option<&[u32]> {
        self.as_container()?.places()
    }

    /// Its hash in Python.
    #[must_use]
    pub fn python_hash(&self) -> u64 {
        python_hash(self)
    }

    /// The copy of a set that Python makes of it; nothing for other values.
    pub(crate) fn copied_set(&self) -> Option<Self> {
        let values: Vec<Value> = self
            .as_container()?
            .iter_stored()
            .map(Cow::into_owned)
            .collect();
        let hashes = Value::hashes(&values);
        Some(Self::set_of_table(
            values,
            self.set_table()?.copied(&hashes),
        ))
    }

    /// The set without elements.
    #[must_use]
    pub fn empty_set() -> Self {
        Self::set_built(Vec::new(), Order::default())
    }

    /// How many sets are kept one inside the other to find the order of this one.
    pub(crate) fn order_depth(&self) -> u8 {
        match self {
            Value::Indices(indices) => indices.order().depth(),
            Value::Object(object) => object.order().depth(),
            Value::Set(elements) => elements.order().depth(),
            _ => 0,
        }
    }

    /// How many elements it holds in all, headers included: at least a sixteenth of the bytes that it takes, itself
    /// included. Shared inner values count each time they occur.
    #[inline]
    #[must_use]
    pub fn weight(&self) -> u32 {
        let (own, kept) = self.weights();
        own.saturating_add(kept)
    }

    /// The same without what sets keep to find their order.
    #[inline]
    pub(crate) fn own_weight(&self) -> u32 {
        self.weights().0
    }

    /// The weight of what sets in it keep to find their order.
    #[inline]
    pub(crate) fn kept_weight(&self) -> u32 {
        self.weights().1
    }

    /// Both.
    #[inline]
    fn weights(&self) -> (u32, u32) {
        match self {
            Value::Grid(grid) => (grid.cells().len() as u32 + GRID_WEIGHT, 0),
            Value::Indices(indices) => {
                let own = indices.len() as u32 + PATCH_WEIGHT;
                (own, indices.order().kept_weight())
            }
            Value::Object(object) => {
                let own = object.len() as u32 + PATCH_WEIGHT;
                (own, object.order().kept_weight())
            }
            Value::Tuple(elements) => (elements.weight, elements.kept),
            Value::Set(elements) => (elements.weight, elements.kept),
            Value::Function(function) => (function.weight(), 0),
            _ => (1, 0),
        }
    }

    /// An address that only those sets share that keep one and the same thing to find their order.
    pub(crate) fn kept_at(&self) -> Option<usize> {
        match self {
            Value::Indices(indices) => indices.order().kept_at(),
            Value::Object(object) => object.order().kept_at(),
            _ => self.address(),
        }
    }

    /// The address of a set in memory.
    pub(crate) fn address(&self) -> Option<usize> {
        match self {
            Value::Indices(indices) => Some(Arc::as_ptr(indices).addr()),
            Value::Object(object) => Some(Arc::as_ptr(object).addr()),
            Value::Set(elements) => Some(Arc::as_ptr(elements).addr()),
            _ => None,
        }
    }

    /// The same value; if it is a set, without what is kept to find its order.
    pub(crate) fn with_order_found(self) -> Self {
        match self {
            Value::Indices(indices) => {
                let locs = indices.as_slice();
                Indices::ordered(locs.to_vec(), indices.order().found(locs)).into()
            }
            Value::Object(object) => {
                let cells = object.as_slice();
                Object::ordered(cells.to_vec(), object.order().found(cells)).into()
            }
            Value::Set(set) => {
                let order = set.order().found(&set.values);
                Self::set_built(set.values.to_vec(), order)
            }
            other => other,
        }
    }

    /// Whether it weighs more than [`LIGHT`].
    #[inline]
    pub(crate) fn is_heavy(&self) -> bool {
        u64::from(self.weight()) > LIGHT
    }

    /// How many elements there are to read in it. The rows of a grid count as tuples, since reading a grid as a
    /// container builds them one by one.
    #[inline]
    pub(crate) fn work(&self) -> u32 {
        match self {
            Value::Grid(grid) => grid_work(grid),
            _ => self.weight(),
        }
    }

    /// How deeply containers and functions are nested in it.
    pub(crate) fn depth(&self) -> u16 {
        match self {
            Value::Grid(_) | Value::Object(_) => 2,
            Value::Indices(_) | Value::Loc(_) | Value::Cell(_) => 1,
            Value::Tuple(elements) => elements.depth,
            Value::Set(elements) => elements.depth,
            Value::Function(function) => function.depth(),
            _ => 0,
        }
    }

    /// Whether all integers in it lie within [`MAX_INT`], as they do in every value that a program computes.
    pub(crate) fn is_within_bounds(&self) -> bool {
        let fits = |n: i32| n.unsigned_abs() <= MAX_INT as u32;
        let pair = |loc: Loc| fits(loc.i) && fits(loc.j);
        let cell = |cell: Cell| fits(cell.colour) && pair(cell.loc);
        match self {
            Value::Int(n) => fits(*n),
            Value::Loc(loc) => pair(*loc),
            Value::Cell(single) => cell(*single),
            Value::Indices(indices) => indices.as_slice().iter().all(|&loc| pair(loc)),
            Value::Object(object) => object.as_slice().iter().all(|&single| cell(single)),
            Value::Tuple(elements) => elements.values.iter().all(Value::is_within_bounds),
            Value::Set(elements) => elements.values.iter().all(Value::is_within_bounds),
            // The parts of a function were checked before.
            Value::Nothing
            | Value::Bool(_)
            | Value::Grid(_)
            | Value::Primitive(_)
            | Value::Function(_)
            | Value::Foreign(_) => true,
        }
    }

    /// Whether Python treats it as true: not false, zero, empty or nothing.
    #[must_use]
    pub fn is_truthy(&self) -> bool {
        match self {
            Value::Nothing => false,
            Value::Bool(b) => *b,
            Value::Int(n) => *n != 0,
            Value::Primitive(_) | Value::Function(_) | Value::Foreign(_) => true,
            _ => self.as_container().is_none_or(|c| !c.is_empty()),
        }
    }

    /// Whether it is NaN, which does not even equal itself.
    #[inline]
    pub(crate) fn is_nan(&self) -> bool {
        matches!(self, Value::Foreign(Foreign::NotANumber))
    }

    /// The value with every function created at run time replaced by one and the same function, since Python has no
    /// text that identifies them.
    #[must_use]
    pub fn without_functions(&self) -> Self {
        let elements = |all: &Elements| -> Vec<_> {
            all.as_slice()
                .iter()
                .map(Value::without_functions)
                .collect()
        };
        match self {
            // The rest keeps its sets, which have an order.
            _ if !self.holds_function() => self.clone(),
            Value::Function(_) => Value::Foreign(Foreign::Default),
            Value::Tuple(all) => Value::tuple(elements(all)),
            Value::Set(_) => Value::set(self.as_container().into_iter().flat_map(|set| {
                set.iter()
                    .map(|element| element.without_functions())
                    .collect::<Vec<_>>()
            })),
            _ => self.clone(),
        }
    }

    fn holds_function(&self) -> bool {
        match self {
            Value::Tuple(all) => all.as_slice().iter().any(Value::holds_function),
            Value::Set(all) => all.as_slice().iter().any(Value::holds_function),
            _ => self.is_function(),
        }
    }

    /// Whether it can be called.
    #[must_use]
    pub fn is_function(&self) -> bool {
        match self {
            Value::Primitive(_) | Value::Function(_) => true,
            Value::Foreign(foreign) => foreign.is_function(),
            _ => false,
        }
    }

    /// The value as an integer; true and false count as 1 and 0.
    #[must_use]
    pub fn as_int(&self) -> Option<i32> {
        match self {
            Value::Int(n) => Some(*n),
            Value::Bool(b) => Some(i32::from(*b)),
            _ => None,
        }
    }

    /// The elements of a [`Tuple`](Value::Tuple), and of a [`Set`](Value::Set) in ascending order; none of other
    /// values.
    #[must_use]
    pub fn values(&self) -> &[Value] {
        match self {
            Value::Tuple(elements) => elements.as_slice(),
            Value::Set(elements) => elements.as_slice(),
            _ => &[],
        }
    }

    /// The elements, if it is a tuple, a grid (its rows) or a set.
    #[inline]
    #[must_use]
    pub fn as_container(&self) -> Option<Container<'_>> {
        let tuple = |items| {
            Some(Container {
                kind: ContainerKind::Tuple,
                items,
                value: self,
            })
        };
        let set = |items| {
            Some(Container {
                kind: ContainerKind::Set,
                items,
                value: self,
            })
        };
        match self {
            Value::Loc(loc) => tuple(Items::Loc(*loc)),
            Value::Cell(cell) => tuple(Items::Cell(*cell)),
            Value::Grid(grid) => tuple(Items::Rows(grid)),
            Value::Tuple(elements) => tuple(Items::Values(elements.as_slice())),
            Value::Indices(indices) => set(Items::Locs(indices.as_slice())),
            Value::Object(object) => set(Items::Cells(object.as_slice())),
            Value::Set(elements) => set(Items::Values(elements.as_slice())),
            _ => None,
        }
    }

    /// The elements, if it is a tuple or a grid (its rows).
    #[inline]
    #[must_use]
    pub fn as_tuple(&self) -> Option<Container<'_>> {
        self.as_container()
            .filter(|c| c.kind == ContainerKind::Tuple)
    }

    /// The value as a grid, if it is a grid or a tuple of equally long tuples of colours.
    ///
    /// Borrows if the value already holds a grid.
    #[must_use]
    pub fn as_grid(&self) -> Option<Cow<'_, Grid>> {
        if let Value::Grid(grid) = self {
            return Some(Cow::Borrowed(grid));
        }
        let Value::Tuple(rows) = self else {
            return None;
        };
        let rows = rows.as_slice();
        let width = rows.first().map_or(Some(0), Value::length)?;
        if rows.iter().any(|row| row.length() != Some(width)) {
            return None;
        }
        let mut cells = Vec::with_capacity(rows.len() * width);
        for row in rows {
            let is_row = row.colours(|colour| {
                cells.extend(colour);
                colour.is_some()
            });
            if !is_row {
                return None;
            }
        }
        Some(Cow::Owned(Grid::from_cells(rows.len(), width, cells)))
    }

    /// Whether the value, [as a grid](Self::as_grid), is this one.
    #[must_use]
    pub fn is_grid(&self, expected: &Grid) -> bool {
        let is_row = |row: &Value, expected: &[i8]| {
            let mut expected = expected.iter();
            row.colours(|colour| colour.as_ref() == expected.next())
        };
        match self {
            Value::Grid(grid) => **grid == *expected,
            Value::Tuple(rows) => {
                let (rows, width) = (rows.as_slice(), Some(expected.width()));
                rows.len() == expected.height()
                    && rows.iter().all(|row| row.length() == width)
                    && rows.iter().zip(expected.rows()).all(|(a, b)| is_row(a, b))
            }
            _ => false,
        }
    }

    /// How many elements a tuple has.
    fn length(&self) -> Option<usize> {
        self.as_tuple().map(Container::len)
    }

    /// Whether `visit` takes all elements of a tuple as colours; an element that is none is `None`.
    fn colours(&self, mut visit: impl FnMut(Option<i8>) -> bool) -> bool {
        let colour = |value: &Value| i8::try_from(value.as_int()?).ok();
        match self {
            Value::Tuple(row) => {
                count_reads(row.as_slice().len());
                row.as_slice().iter().all(|value| visit(colour(value)))
            }
            _ => self
                .as_tuple()
                .is_some_and(|row| row.iter_stored().all(|value| visit(colour(&value)))),
        }
    }

    /// Its kind, as error messages name it.
    #[must_use]
    pub fn kind(&self) -> ValueKind {
        match self {
            Value::Nothing => ValueKind::Nothing,
            Value::Bool(_) => ValueKind::Boolean,
            Value::Int(_) => ValueKind::Integer,
            Value::Loc(_) => ValueKind::Pair,
            Value::Cell(_) => ValueKind::Cell,
            Value::Grid(_) => ValueKind::Grid,
            Value::Tuple(_) => ValueKind::Tuple,
            Value::Indices(_) => ValueKind::Indices,
            Value::Object(_) => ValueKind::Object,
            Value::Set(elements) if elements.values.is_empty() => ValueKind::EmptySet,
            Value::Set(_) => ValueKind::Set,
            Value::Primitive(_) | Value::Function(_) => ValueKind::Function,
            Value::Foreign(foreign) => foreign.kind(),
        }
    }
}

/// A conversion from a Rust value into the [`Value`] that holds it.
macro_rules! from {
    ($($from:ty: $name:ident => $value:expr),* $(,)?) => {
        $(impl From<$from> for Value {
            fn from($name: $from) -> Self {
                $value
            }
        })*
    };
}

from! {
    bool: b => Value::Bool(b),
    i32: n => Value::Int(n),
    Loc: loc => Value::Loc(loc),
    Cell: cell => Value::Cell(cell),
    Grid: grid => Value::Grid(Arc::new(grid)),
    Arc<Grid>: grid => Value::Grid(grid),
    Primitive: primitive => Value::Primitive(primitive),
    Function: function => Value::Function(Arc::new(function)),
    Foreign: foreign => Value::Foreign(foreign),
    Indices: indices => if indices.is_empty() { Value::empty_set() } else { Value::Indices(Arc::new(indices)) },
    Object: object => if object.is_empty() { Value::empty_set() } else { Value::Object(Arc::new(object)) },
}

/// The literal of the value; for a function, the expression that creates it.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Nothing => f.write_str("None"),
            Value::Bool(true) => f.write_str("True"),
            Value::Bool(false) => f.write_str("False"),
            Value::Int(n) => n.fmt(f),
            Value::Loc(loc) => loc.fmt(f),
            Value::Cell(cell) => cell.fmt(f),
            Value::Grid(grid) => grid.fmt(f),
            Value::Tuple(elements) => write_tuple(f, elements.values.iter()),
            Value::Indices(indices) => indices.fmt(f),
            Value::Object(object) => object.fmt(f),
            Value::Set(elements) => {
                let places = elements.places();
                let at = |at: usize| places.map_or(at, |places| places[at] as usize);
                write_set(
                    f,
                    (0..elements.values.len()).map(|place| &elements.values[at(place)]),
                )
            }
            Value::Primitive(primitive) => f.write_str(primitive.name()),
            Value::Function(function) => function.fmt(f),
            Value::Foreign(foreign) => foreign.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ints(values: &[i32]) -> Value {
        Value::tuple(values.iter().map(|&n| Value::Int(n)).collect())
    }

    #[test]
    fn tuples_take_the_variant_of_their_own() {
        assert!(matches!(ints(&[1, 2]), Value::Loc(_)));
        assert!(matches!(
            Value::tuple(vec![Value::Int(3), ints(&[1, 2])]),
            Value::Cell(_)
        ));
        assert!(matches!(ints(&[1, 2, 3]), Value::Tuple(_)));
        assert!(matches!(Value::set([ints(&[1, 2])]), Value::Indices(_)));
        assert!(matches!(Value::set([]), Value::Set(_)));
    }

    #[test]
    fn sets_are_distinct_and_printed_in_the_order_of_iteration() {
        let set = Value::set([
            Value::Int(3),
            Value::Bool(true),
            Value::Int(1),
            Value::Int(-2),
        ]);
        assert_eq!(set.to_string(), "frozenset({True, 3, -2})");
        let mixed = Value::set([ints(&[0, 1]), Value::Int(5), Value::Nothing]);
        assert_eq!(mixed.to_string(), "frozenset({(0, 1), None, 5})");
    }

    #[test]
    fn a_tuple_of_rows_is_a_grid_where_it_can_be() {
        let rows = Value::tuple(vec![ints(&[1, 2, 3]), ints(&[4, 5, 6])]);
        assert_eq!(
            rows.as_grid().unwrap().to_string(),
            "((1, 2, 3), (4, 5, 6))"
        );
        let pairs = Value::tuple(vec![ints(&[1, 2]), ints(&[3, 4]), ints(&[5, 6])]);
        assert_eq!(pairs.as_grid().unwrap().height(), 3);
        assert!(
            Value::tuple(vec![ints(&[1, 2]), ints(&[3])])
                .as_grid()
                .is_none()
        );
        assert!(ints(&[1, 2]).as_grid().is_none());
        assert!(Value::tuple(vec![ints(&[1, 200])]).as_grid().is_none());
    }
}
