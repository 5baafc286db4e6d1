//! What the Python reference returns for arguments of other types than the signature says.
//!
//! Python checks an argument only where it uses it: it replaces a colour by a pair in a grid that lacks the colour,
//! measures a tuple, crops at the corner of a grid, never calls a function on an empty container. Most primitives' own
//! functions handle only the types of their rows. If the arguments have other types, the call goes to the `untyped`
//! function of the family, in the same file, which processes values as Python does. If Python raises an exception, the
//! result is the row's type error. Operations shared by several families are here.
//!
//! Of two functions, both give the same result for arguments with the types of the row, which the tests check; the slow
//! untyped one is never called with them. Where it is not slow, the row is marked `[values]`, and it is the only one.

use std::borrow::Cow;
use std::cmp::Ordering;

use arc_isa::ContainerKind;

use super::comparison::{self, improves};
use super::{Context, ErrorKind, Primitive, REFERENCE, native};
use crate::error::{EvalResult, Limit};
use crate::patch::Loc;
use crate::reads::count_reads;
use crate::value::container::{Container, Items};
use crate::value::sets::order::Element;
use crate::value::{MAX_INT, Value};

/// Why there is no result.
pub(crate) enum Refusal {
    /// Python raises an exception.
    Raises,
    /// A limit is reached, or a called function fails.
    Error(ErrorKind),
}

/// Of a call with arguments of its row's types: there Python raises an exception only because one of them is empty.
impl From<Refusal> for ErrorKind {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Raises => ErrorKind::Empty,
            Refusal::Error(kind) => kind,
        }
    }
}

impl From<ErrorKind> for Refusal {
    fn from(kind: ErrorKind) -> Self {
        Refusal::Error(kind)
    }
}

impl From<Limit> for Refusal {
    fn from(limit: Limit) -> Self {
        Refusal::Error(limit.into())
    }
}

pub(crate) type PythonResult<T = Value> = Result<T, Refusal>;

/// The rows of a value that is used as a grid.
pub(super) type Rows = Vec<Vec<Value>>;

/// The untyped function of a family, for arguments that do not have the types of a row. The number of arguments is
/// right.
pub(super) type FamilyCall = fn(&mut Context<'_>, Primitive, &[&Value]) -> PythonResult;

/// Calls the primitive as Python would; `mismatch` is the type error of its row.
#[cold]
pub(super) fn call(
    cx: &mut Context<'_>,
    primitive: Primitive,
    arguments: &[&Value],
    mismatch: ErrorKind,
) -> EvalResult<Value> {
    let result = match evaluate(cx, primitive, arguments) {
        Ok(value) => cx.check(&value).map(|()| value),
        Err(Refusal::Raises) => Err(mismatch),
        Err(Refusal::Error(kind)) => Err(kind),
    };
    cx.attribute(primitive, result)
}

/// How much is held of the arguments: elements are taken out one by one and copied; a pair of integers becomes a vector.
pub(crate) const COPIES: u64 = 8;

/// How often elements are looked at: they are sorted several times.
pub(crate) const LOOKS: u64 = 16;

/// The result in Python, whatever the types of the arguments.
pub(super) fn evaluate(
    cx: &mut Context<'_>,
    primitive: Primitive,
    arguments: &[&Value],
) -> PythonResult {
    let weight: u64 = arguments.iter().map(|value| u64::from(value.work())).sum();
    cx.work(LOOKS * weight)?;
    let held = cx.hold_weight(COPIES * weight)?;
    let result = (REFERENCE[primitive as usize].untyped)(cx, primitive, arguments);
    cx.release(held);
    result
}

/// Calls the primitive's own function, if the arguments have the types of its row.
pub(super) fn typed(
    cx: &mut Context<'_>,
    primitive: Primitive,
    arguments: &[&Value],
) -> PythonResult {
    let parameters = primitive.parameters();
    let takes = parameters
        .iter()
        .zip(arguments)
        .all(|((_, ty), argument)| argument.fits(*ty));
    if !takes {
        return Err(Refusal::Raises);
    }
    Ok(native(primitive)(cx, arguments)?)
}

/// The elements of an iterable value.
pub(crate) fn elements(value: &Value) -> PythonResult<Container<'_>> {
    value.as_container().ok_or(Refusal::Raises)
}

pub(crate) fn list(value: &Value) -> PythonResult<Vec<Value>> {
    Ok(elements(value)?.iter().map(Cow::into_owned).collect())
}

/// The elements of the elements: of a value that can be iterated twice.
pub(crate) fn rows(value: &Value) -> PythonResult<Vec<Vec<Value>>> {
    if let Value::Grid(grid) = value {
        count_reads(grid.cells().len());
        let cell = |cell: &i8| Value::Int(i32::from(*cell));
        return Ok(grid
            .rows()
            .map(|row| row.iter().map(cell).collect())
            .collect());
    }
    elements(value)?.iter().map(|row| list(&row)).collect()
}

/// The rows of a tuple of tuples.
pub(super) fn tuple_rows_of_tuples(value: &Value) -> PythonResult<Rows> {
    let rows = tuple(value)?;
    rows.iter()
        .map(|row| list(tuple_value(&row)?))
        .collect::<PythonResult<Rows>>()
}

pub(crate) fn length(value: &Value) -> PythonResult<usize> {
    elements(value).map(Container::len)
}

/// `value[at]`, which only tuples support.
pub(super) fn item(value: &Value, at: usize) -> PythonResult {
    tuple(value)?.value(at).ok_or(Refusal::Raises)
}

pub(crate) fn tuple(value: &Value) -> PythonResult<Container<'_>> {
    value.as_tuple().ok_or(Refusal::Raises)
}

/// The value, if it is a tuple.
pub(super) fn tuple_value(value: &Value) -> PythonResult<&Value> {
    tuple(value).map(|_| value)
}

pub(crate) fn is_tuple(value: &Value) -> bool {
    tuple(value).is_ok()
}

/// `a, b = value`
pub(crate) fn unpack(value: &Value) -> PythonResult<(Value, Value)> {
    let both = elements(value)?;
    match (both.len(), both.value(0), both.value(1)) {
        (2, Some(a), Some(b)) => Ok((a, b)),
        _ => Err(Refusal::Raises),
    }
}

pub(crate) fn int(value: &Value) -> PythonResult<i32> {
    value.as_int().ok_or(Refusal::Raises)
}

/// The value; true and false as integers.
pub(super) fn plain(value: &Value) -> Value {
    value.as_int().map_or_else(|| value.clone(), Value::Int)
}

/// The integer, if within the bound.
pub(crate) fn number(n: i64) -> PythonResult {
    match i32::try_from(n) {
        Ok(n) if n.unsigned_abs() <= MAX_INT as u32 => Ok(Value::Int(n)),
        _ => Err(Limit::Integer.into()),
    }
}

/// `a + b`; tuples are concatenated.
pub(crate) fn plus(cx: &mut Context<'_>, a: &Value, b: &Value) -> PythonResult {
    if let (Some(a), Some(b)) = (a.as_int(), b.as_int()) {
        return number(i64::from(a) + i64::from(b));
    }
    let mut all = cx.collector(ContainerKind::Tuple);
    all.extend(cx, tuple(a)?)?;
    all.extend(cx, tuple(b)?)?;
    Ok(all.finish(cx)?)
}

/// `a - b`; for sets, the difference.
pub(crate) fn minus(_: &mut Context<'_>, a: &Value, b: &Value) -> PythonResult {
    if let (Some(a), Some(b)) = (a.as_int(), b.as_int()) {
        return number(i64::from(a) - i64::from(b));
    }
    let (from, without) = (elements(a)?, elements(b)?);
    if [from.kind, without.kind] != [ContainerKind::Set; 2] {
        return Err(Refusal::Raises);
    }
    set_minus(a, b)
}

/// `a - b` of two sets.
pub(super) fn set_minus(a: &Value, b: &Value) -> PythonResult {
    let (from, without) = (elements(a)?, elements(b)?);
    let all: Vec<Value> = from.iter_stored().map(Cow::into_owned).collect();
    let taken: Vec<bool> = all
        .iter()
        .map(|element| without.contains(element))
        .collect();
    let (hashes, table) = (Value::hashes(&all), a.set_table().ok_or(Refusal::Raises)?);
    let table = table.minus(without.len(), |at| taken[at as usize], &hashes);
    // Only the elements that are left have a number.
    let mut numbers = Vec::with_capacity(all.len());
    let mut left = Vec::new();
    for (element, taken) in all.into_iter().zip(taken) {
        numbers.push(left.len() as u32);
        if !taken {
            left.push(element);
        }
    }
    Ok(Value::set_of_table(
        left,
        table.renumbered(|at| numbers[at as usize]),
    ))
}

/// `a | b` of two sets.
pub(crate) fn set_union(a: &Value, b: &Value) -> PythonResult {
    let (first, second) = (elements(a)?, elements(b)?);
    if a.address() == b.address()
        && let Some(copy) = a.copied_set()
    {
        return Ok(copy);
    }
    let mut all: Vec<Value> = first.iter_stored().map(Cow::into_owned).collect();
    let of_first = all.len();
    let mut numbers = Vec::with_capacity(second.len());
    for element in second.iter_stored() {
        let number = all[..of_first].binary_search(&element).unwrap_or(all.len());
        numbers.push(number as u32);
        if number == all.len() {
            all.push(element.into_owned());
        }
    }
    let hashes = Value::hashes(&all);
    let (Some(table), Some(other)) = (a.set_table(), b.set_table()) else {
        return Err(Refusal::Raises);
    };
    let mut table = table.copied(&hashes);
    table.merge(&other.renumbered(|at| numbers[at as usize]), &hashes);
    Ok(Value::set_of_table(all, table))
}

/// The first two components, which have to be integers.
pub(super) fn ints(value: &Value) -> PythonResult<Loc> {
    Ok(Loc::new(int(&item(value, 0)?)?, int(&item(value, 1)?)?))
}

/// `a < b`
pub(crate) fn less(a: &Value, b: &Value) -> PythonResult<bool> {
    comparison::less(a, b).map_err(|_| Refusal::Raises)
}

/// `min` or `max`: the first of the outermost values.
pub(crate) fn outermost(values: &[Value], wanted: Ordering) -> PythonResult {
    let (first, others) = values.split_first().ok_or(Refusal::Raises)?;
    let mut best = first;
    for value in others {
        if improves(value, best, wanted).map_err(|_| Refusal::Raises)? {
            best = value;
        }
    }
    Ok(best.clone())
}

/// A tuple of rows.
pub(super) fn grid_of(
    cx: &mut Context<'_>,
    rows: impl IntoIterator<Item = Vec<Value>>,
) -> PythonResult {
    let mut all = cx.collector(ContainerKind::Tuple);
    for row in rows {
        all.push(cx, Value::tuple(row))?;
    }
    Ok(all.finish(cx)?)
}

/// The set to which these values were added in this order.
pub(crate) fn set_of(
    cx: &mut Context<'_>,
    values: impl IntoIterator<Item = Value>,
) -> PythonResult {
    let mut all = cx.collector(ContainerKind::Set);
    for value in values {
        all.push(cx, value)?;
    }
    Ok(all.finish(cx)?)
}

/// The same, built as a set that `frozenset` copied.
pub(crate) fn copied_set_of(
    cx: &mut Context<'_>,
    values: impl IntoIterator<Item = Value>,
) -> PythonResult {
    let values: Vec<Value> = values.into_iter().collect();
    cx.reserve(
        values
            .iter()
            .map(|value| u64::from(value.own_weight()))
            .sum(),
    )?;
    Ok(Value::frozenset(values))
}

pub(super) fn location(i: usize, j: usize) -> Value {
    Value::Loc(Loc::new(i as i32, j as i32))
}

/// Whether it is an empty container.
pub(crate) fn is_empty(value: &Value) -> bool {
    matches!(length(value), Ok(0))
}

/// Whether a loop over pairs of elements of `a` and `b` has no iterations. If `b` is empty, `a` may be anything.
pub(super) fn no_pairs(a: &Value, b: &Value) -> bool {
    is_empty(b) || either_is_empty(a, b)
}

/// Whether both are containers and at least one is empty.
pub(super) fn either_is_empty(a: &Value, b: &Value) -> bool {
    (is_empty(a) && b.as_container().is_some()) || (is_empty(b) && a.as_container().is_some())
}

/// An empty container of the same kind.
pub(crate) fn empty_like(value: &Value) -> PythonResult {
    Ok(match elements(value)?.kind {
        ContainerKind::Tuple => Value::tuple(Vec::new()),
        ContainerKind::Set => Value::empty_set(),
    })
}

/// Whether the elements are a colour and a location, judging by Python's `patch[1]` of the first one.
pub(super) fn is_coloured(elements: Container<'_>) -> PythonResult<bool> {
    match elements.items {
        Items::Locs([_, ..]) => Ok(false),
        Items::Cells([_, ..]) => Ok(true),
        _ => Ok(is_tuple(&item(
            &elements.value(0).ok_or(Refusal::Raises)?,
            1,
        )?)),
    }
}

/// The locations of a patch with colours; any other value unchanged.
pub(super) fn to_indices(patch: &Value) -> PythonResult {
    let container = elements(patch)?;
    if container.is_empty() {
        return Ok(Value::empty_set());
    }
    if !is_coloured(container)? {
        return Ok(patch.clone());
    }
    let mut indices = Vec::new();
    for element in container.iter() {
        indices.push(unpack(&element)?.1);
    }
    Ok(Value::set(indices))
}

/// The number of rows and the width of the first one.
pub(super) fn sides(grid: &Value) -> PythonResult<(usize, usize)> {
    Ok((length(grid)?, width_of_first(grid)?))
}

/// `len(grid[0])`
pub(super) fn width_of_first(grid: &Value) -> PythonResult<usize> {
    match grid {
        Value::Grid(grid) if grid.height() > 0 => Ok(grid.width()),
        _ => length(&item(grid, 0)?),
    }
}

/// The cell of this dialect or another: of a value at a row and a column.
pub(crate) type CellOf = fn(&Value, i32, i32) -> Value;

pub(super) fn cell(value: &Value, i: i32, j: i32) -> Value {
    Value::pair(value, &Value::Loc(Loc::new(i, j)))
}

/// `grid[i][j]`
pub(super) fn cell_of(grid: &Value, i: usize, j: usize) -> PythonResult {
    match grid {
        Value::Grid(grid) if i < grid.height() && j < grid.width() => {
            Ok(Value::Int(grid.at(i, j).into()))
        }
        _ => item(&item(grid, i)?, j),
    }
}

/// The cells of a grid, as many of each row as the first one has; longer rows are truncated. Rows whose cells are never
/// read may be anything.
pub(super) fn cells(grid: &Value) -> PythonResult<Rows> {
    let (height, width) = sides(grid)?;
    if width == 0 {
        return Ok(vec![Vec::new(); height]);
    }
    (0..height)
        .map(|i| {
            let mut row = list(tuple_value(&item(grid, i)?)?)?;
            if row.len() < width {
                return Err(Refusal::Raises);
            }
            row.truncate(width);
            Ok(row)
        })
        .collect()
}

/// The columns, as many as the shortest row has cells.
pub(super) fn transposed(rows: &Rows) -> Rows {
    let width = rows.iter().map(Vec::len).min().unwrap_or(0);
    (0..width)
        .map(|j| rows.iter().map(|row| row[j].clone()).collect())
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::generate::Generator;
    use crate::{Constant, Grid, Interpreter, Limits, ProgramBuilder};

    #[test]
    fn what_a_row_takes_gives_the_same_here() {
        let limits = Limits::default();
        let mut agreed = BTreeSet::new();
        for &primitive in Primitive::ALL {
            // Each has a seed of its own, so that a new primitive changes no other's arguments.
            let letters = primitive.name().bytes().map(u64::from);
            let mut generator =
                Generator::new(letters.fold(11, |seed, byte| seed * 31 % (1 << 40) + byte));
            for _ in 0..150 {
                let arguments: Vec<Value> = primitive
                    .parameters()
                    .iter()
                    .map(|(_, ty)| generator.value(*ty))
                    .collect();
                let arguments: Vec<&Value> = arguments.iter().collect();
                let mut context = Context::new(&limits);
                let own = native(primitive)(&mut context, &arguments);
                let Ok(here) = evaluate(&mut context, primitive, &arguments) else {
                    continue;
                };
                // Two functions can differ only in their identity.
                if primitive.returns() == crate::Type::Callable {
                    assert!(own.is_ok());
                    continue;
                }
                let show = || format!("{primitive}{arguments:?}");
                match own {
                    Ok(own) => assert_eq!(own, here, "{}", show()),
                    Err(ErrorKind::Limit(_)) => continue,
                    Err(kind) => panic!("{}: {kind}, {here}", show()),
                }
                agreed.insert(primitive.name());
            }
        }
        assert!(agreed.len() > 100, "{}: {agreed:?}", agreed.len());
    }

    #[test]
    fn what_is_slow_is_not_slower_than_it_has_to_be() {
        // This took minutes when the whole column was searched for each cell.
        let limits = Limits {
            max_steps: 200_000,
            ..Limits::default()
        };
        let mut builder = ProgramBuilder::new("f");
        let sides = Value::from(Loc::new(400, 400)).into();
        let mut value = builder
            .call(Primitive::Canvas, [Constant::ZERO.into(), sides])
            .unwrap();
        for primitive in [Primitive::Asobject, Primitive::Totuple, Primitive::Compress] {
            value = builder.call(primitive, [value]).unwrap();
        }
        let program = builder.finish(value).unwrap();
        let run = || Interpreter::new(limits.clone()).run(&program, Grid::default());
        let (looked, result) = crate::reads::testing::reads_during(run);
        assert!(result.is_ok(), "{result:?}");
        assert!(looked < 100 * 160_000, "{looked}");
    }
}
