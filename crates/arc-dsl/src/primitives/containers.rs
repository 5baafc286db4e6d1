//! Tuples, sets and their elements.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::Arc;

use arc_isa::{ContainerKind, Primitive, Type};

use super::untyped::{
    PythonResult, Refusal, elements, empty_like, int, is_empty, no_pairs, number, set_union,
};
use crate::budget::{Context, Identity};
use crate::error::{ErrorKind, EvalResult, Limit, ValueKind};
use crate::grid::Grid;
use crate::patch::{Cell, Indices, Loc, Object};
use crate::value::Value;
use crate::value::container::{
    Collector, Container, Items, are_patches, row, row_weight, sorting, united,
};
use crate::value::sets::order::{Built, By, Order};

impl Value {
    /// The same set, built by filtering `set`, in whose order its elements were added; nothing if one of them is not a set.
    #[must_use]
    pub fn kept_of(&self, set: &Value) -> Option<Self> {
        let (own, set) = (self.as_container()?, set.as_container()?);
        (own.kind == ContainerKind::Set && set.kind == ContainerKind::Set)
            .then(|| keep(set, |element| own.contains(element)))
    }

    /// The value that a tuple of these has most often, or least often; of several, the first in the set of all. Nothing if
    /// there is no value.
    #[must_use]
    pub fn commonest(values: &[Value], most: bool) -> Option<Self> {
        let wanted = if most {
            Ordering::Greater
        } else {
            Ordering::Less
        };
        commonest_of(values.to_vec(), wanted)
    }
}

pub(super) fn identity(x: &Value) -> Value {
    x.clone()
}

pub(super) fn equality(a: &Value, b: &Value) -> bool {
    a == b
}

pub(super) fn contained(value: &Value, container: Container<'_>) -> bool {
    container.contains(value)
}

pub(super) fn combine(
    cx: &mut Context<'_>,
    a: Container<'_>,
    b: Container<'_>,
) -> EvalResult<Value> {
    let both = [a.value.clone(), b.value.clone()];
    if are_patches(&both) {
        return united(cx, &both, Built::Joined(both.clone().into()));
    }
    let mut all = cx.collector(a.kind).expecting(a.len() + b.len());
    all.extend(cx, a)?;
    all.extend(cx, b)?;
    all.finish(cx)
}

pub(super) fn intersection(
    cx: &mut Context<'_>,
    a: Container<'_>,
    b: Container<'_>,
) -> EvalResult<Value> {
    let is_one = (a.value.address()).is_some_and(|at| Some(at) == b.value.address());
    let is_unknown = match cx.identity {
        Identity::Kept => false,
        Identity::Merged => is_one,
        Identity::Lost => a.value == b.value,
    };
    if is_unknown && a.len() > 1 {
        return Err(Limit::Memory.into());
    }
    if is_one && let Some(copy) = a.value.copied_set() {
        return Ok(copy);
    }
    // Python goes over the smaller set, and keeps its elements.
    if a.len() < b.len() {
        among(cx, a, b, true)
    } else {
        among(cx, b, a, true)
    }
}

pub(super) fn difference(
    cx: &mut Context<'_>,
    a: Container<'_>,
    b: Container<'_>,
) -> EvalResult<Value> {
    among(cx, a, b, false)
}

/// The elements of `a` that are in `b`, or that are not.
fn among(
    cx: &mut Context<'_>,
    a: Container<'_>,
    b: Container<'_>,
    wanted: bool,
) -> EvalResult<Value> {
    Ok(match (a.kind, b.kind, a.items, b.items) {
        (ContainerKind::Set, ContainerKind::Set, Items::Locs(locs), Items::Locs(b)) => {
            kept_locs(a, among_sorted(locs, b, wanted))
        }
        (ContainerKind::Set, ContainerKind::Set, Items::Cells(cells), Items::Cells(b)) => {
            kept_cells(a, among_sorted(cells, b, wanted))
        }
        _ => {
            // An element is compared with a few elements of a set, but with all elements of a tuple; the rows of a grid
            // are built each time.
            let compared = if b.kind == ContainerKind::Set {
                sorting(b.len(), a.work())
            } else {
                a.len() as u64 * b.work()
            };
            cx.work(compared)?;
            keep(a, |item| b.contains(item) == wanted)
        }
    })
}

/// The items of `a` that are in `b`, or that are not; both are ascending, and so is the result.
pub(super) fn among_sorted<T: Ord + Copy>(a: &[T], b: &[T], wanted: bool) -> Vec<T> {
    let mut kept = Vec::with_capacity(a.len());
    let mut at = 0;
    for &item in a {
        while at < b.len() && b[at] < item {
            at += 1;
        }
        if (at < b.len() && b[at] == item) == wanted {
            kept.push(item);
        }
    }
    kept
}

/// The set of these elements of `set`, which are ascending, added in its order.
fn kept_locs(set: Container<'_>, kept: Vec<Loc>) -> Value {
    Indices::from_ascending(kept, Order::new(Built::Kept(set.value.clone()))).into()
}

fn kept_cells(set: Container<'_>, kept: Vec<Cell>) -> Value {
    Object::from_ascending(kept, Order::new(Built::Kept(set.value.clone()))).into()
}

/// The elements for which `condition` holds, in a container of the same kind.
fn keep(container: Container<'_>, mut condition: impl FnMut(&Value) -> bool) -> Value {
    let holds: Vec<bool> = container
        .iter_stored()
        .map(|item| condition(&item))
        .collect();
    kept(container, &holds)
}

/// The elements for which `holds`, in the order in which they are stored, in a container of the same kind.
pub(super) fn kept(container: Container<'_>, holds: &[bool]) -> Value {
    fn kept_of<T: Clone>(items: &[T], holds: &[bool]) -> Vec<T> {
        let mut kept = Vec::with_capacity(holds.iter().filter(|holds| **holds).count());
        let all = items.iter().zip(holds);
        kept.extend(
            all.filter(|(_, holds)| **holds)
                .map(|(item, _)| item.clone()),
        );
        kept
    }
    match (container.kind, container.items) {
        (ContainerKind::Set, Items::Locs(locs)) => kept_locs(container, kept_of(locs, holds)),
        (ContainerKind::Set, Items::Cells(cells)) => kept_cells(container, kept_of(cells, holds)),
        (ContainerKind::Set, Items::Values(values)) => {
            kept_values(container, kept_of(values, holds))
        }
        _ => {
            let all = container.iter_stored().zip(holds);
            let kept = all
                .filter(|(_, holds)| **holds)
                .map(|(item, _)| item.into_owned());
            Value::tuple(kept.collect())
        }
    }
}

/// The set of these elements of a set that is no patch, which are ascending, added in its order.
fn kept_values(set: Container<'_>, kept: Vec<Value>) -> Value {
    // They may all be locations or cells, if only those are left of a mixed set.
    if let Some(Value::Loc(_) | Value::Cell(_)) = kept.first() {
        let in_order = set.iter().filter(|item| kept.binary_search(item).is_ok());
        return Value::set(in_order.map(Cow::into_owned).collect::<Vec<_>>());
    }
    let source = Built::Kept(set.value.clone());
    Value::set_built(kept, Order::new(source))
}

pub(super) fn dedupe(cx: &mut Context<'_>, tup: Container<'_>) -> EvalResult<Value> {
    let (mut kept, mut weight) = (Vec::<Value>::new(), 0);
    for item in tup.iter() {
        let own = u64::from(item.weight());
        cx.work((kept.len() as u64 * own).min(weight))?;
        if !kept.contains(&item) {
            kept.push(item.into_owned());
            weight += own;
        }
    }
    Ok(Value::tuple(kept))
}

pub(super) fn repeat(cx: &mut Context<'_>, item: &Value, num: i32) -> EvalResult<Value> {
    let num = num.max(0) as usize;
    cx.reserve(num as u64 * u64::from(item.own_weight()))?;
    Ok(Value::tuple(vec![item.clone(); num]))
}

pub(super) fn size(container: Container<'_>) -> i32 {
    container.len() as i32
}

pub(super) fn merge(cx: &mut Context<'_>, containers: Container<'_>) -> EvalResult<Value> {
    if containers.kind == ContainerKind::Set
        && let Items::Values(patches) = containers.items
        && are_patches(patches)
    {
        return united(cx, patches, Built::Merged(containers.value.clone()));
    }
    if containers.kind == ContainerKind::Tuple
        && let Items::Values(values) = containers.items
        && let Some(grids) = grids(values)
    {
        return joined(cx, &grids);
    }
    let mut all = cx.collector(containers.kind);
    for container in containers.iter() {
        merge_into(cx, &mut all, &container)?;
    }
    all.finish(cx)
}

/// The values, if all are grids.
fn grids(values: &[Value]) -> Option<Vec<&Arc<Grid>>> {
    let all = values.iter().map(|value| match value {
        Value::Grid(grid) => Some(grid),
        _ => None,
    });
    all.collect()
}

/// The rows of all grids, none of which is made before it is known that there is room for all.
fn joined(cx: &mut Context<'_>, grids: &[&Arc<Grid>]) -> EvalResult<Value> {
    let mut room = cx.room();
    for grid in grids {
        for _ in 0..grid.height() {
            room.take(cx, row_weight(grid.width()))?;
        }
    }
    let mut rows: Vec<Value> = Vec::with_capacity(grids.iter().map(|grid| grid.height()).sum());
    let mut last = None;
    for grid in grids {
        if last == Some(Arc::as_ptr(grid)) {
            // A repeated grid has the same rows each time.
            rows.extend_from_within(rows.len() - grid.height()..);
        } else {
            rows.extend(grid.rows().map(row));
        }
        last = Some(Arc::as_ptr(grid));
    }
    room.close(cx);
    Ok(Value::tuple(rows))
}

/// Adds the elements of `container`, which has to be a container.
pub(super) fn merge_into(
    cx: &mut Context<'_>,
    all: &mut Collector,
    container: &Value,
) -> EvalResult<()> {
    all.extend(cx, inner(container)?)
}

pub(super) fn mostcommon(cx: &mut Context<'_>, container: Container<'_>) -> EvalResult<Value> {
    commonest(cx, container, Ordering::Greater)
}

pub(super) fn leastcommon(cx: &mut Context<'_>, container: Container<'_>) -> EvalResult<Value> {
    commonest(cx, container, Ordering::Less)
}

fn commonest(
    cx: &mut Context<'_>,
    container: Container<'_>,
    wanted: Ordering,
) -> EvalResult<Value> {
    if container.kind == ContainerKind::Set {
        // In Python only tuples count their elements.
        return Err(ErrorKind::Type {
            argument: 0,
            expected: Type::Tuple,
            found: container.value.kind(),
        });
    }
    cx.work(sorting(container.len(), container.work()))?;
    let values = container.iter().map(Cow::into_owned).collect();
    commonest_of(values, wanted).ok_or(ErrorKind::Empty)
}

/// The value that occurs most or least often; of several, the one that is first in the set of all of them.
fn commonest_of(values: Vec<Value>, wanted: Ordering) -> Option<Value> {
    let mut sorted = values.clone();
    sorted.sort();
    let runs = || sorted.chunk_by(|a, b| a == b);
    let count = runs().map(<[Value]>::len).reduce(|best, count| {
        if count.cmp(&best) == wanted {
            count
        } else {
            best
        }
    })?;
    let mut best = runs().filter(|run| run.len() == count);
    let first = best.next()?;
    if best.next().is_none() {
        return Some(first[0].clone());
    }
    let set = Value::set(values);
    let as_often = |value: &Value| {
        let start = sorted.partition_point(|other| other < value);
        sorted[start..]
            .iter()
            .take_while(|other| *other == value)
            .count()
            == count
    };
    let found = set.as_container()?.iter().find(|value| as_often(value));
    found.map(Cow::into_owned)
}

pub(super) fn initset(value: &Value) -> Value {
    Value::set([value.clone()])
}

pub(super) fn totuple(cx: &mut Context<'_>, container: Container<'_>) -> EvalResult<Value> {
    let mut tuple = cx
        .collector(ContainerKind::Tuple)
        .expecting(container.len());
    tuple.extend(cx, container)?;
    tuple.finish(cx)
}

pub(super) fn first(container: Container<'_>) -> EvalResult<Value> {
    // The components of pairs are requested most often.
    match container.items {
        Items::Loc(loc) => Ok(Value::Int(loc.i)),
        Items::Values([first, ..]) if container.kind == ContainerKind::Tuple => Ok(first.clone()),
        _ => container.value(0).ok_or(ErrorKind::Empty),
    }
}

pub(super) fn last(container: Container<'_>) -> EvalResult<Value> {
    match container.items {
        Items::Loc(loc) => Ok(Value::Int(loc.j)),
        Items::Values([.., last]) if container.kind == ContainerKind::Tuple => Ok(last.clone()),
        _ => {
            let last = container.len().checked_sub(1).ok_or(ErrorKind::Empty)?;
            container.value(last).ok_or(ErrorKind::Empty)
        }
    }
}

pub(super) fn insert(
    cx: &mut Context<'_>,
    value: &Value,
    container: Container<'_>,
) -> EvalResult<Value> {
    cx.reserve(u64::from(container.value.own_weight()) + u64::from(value.own_weight()))?;
    // Python joins it with a set of the value, for which room is made even if it is there.
    Ok(set_union(container.value, &Value::set([value.clone()]))?)
}

pub(super) fn remove(value: &Value, container: Container<'_>) -> Value {
    keep(container, |item| item != value)
}

pub(super) fn other(
    cx: &mut Context<'_>,
    container: Container<'_>,
    value: &Value,
) -> EvalResult<Value> {
    // The rest of a set is a set of its own, and may be in another order.
    let rest = remove(value, container);
    let first = rest.as_container().and_then(|rest| rest.value(0));
    first.ok_or_else(|| {
        cx.failed = Some(Primitive::First);
        ErrorKind::Empty
    })
}

pub(super) fn interval(
    cx: &mut Context<'_>,
    start: i32,
    stop: i32,
    step: i32,
) -> EvalResult<Value> {
    if step == 0 {
        return Err(ErrorKind::ZeroStep);
    }
    let span = if step > 0 { stop - start } else { start - stop };
    let count = span.max(0).unsigned_abs().div_ceil(step.unsigned_abs());
    cx.reserve(u64::from(count))?;
    Ok(Value::tuple(
        (0..count as i32)
            .map(|n| Value::Int(start + n * step))
            .collect(),
    ))
}

pub(super) fn astuple(a: &Value, b: &Value) -> Value {
    Value::pair(a, b)
}

pub(super) fn product(
    cx: &mut Context<'_>,
    a: Container<'_>,
    b: Container<'_>,
) -> EvalResult<Value> {
    cx.reserve(a.len() as u64 * b.len() as u64)?;
    let mut pairs = cx
        .collector(ContainerKind::Set)
        .expecting(a.len() * b.len());
    // The pairs of two sets ascend, whatever the elements.
    if [a.kind, b.kind] == [ContainerKind::Set; 2] {
        for first in a.iter_stored() {
            for second in b.iter_stored() {
                pairs.push(cx, Value::pair(&first, &second))?;
            }
        }
        let both = [a.value.clone(), b.value.clone()];
        return pairs.finish_by(cx, By::Pairs(both));
    }
    b.try_each(|second| a.try_each(|first| pairs.push(cx, Value::pair(first, second))))?;
    pairs.finish(cx)
}

pub(super) fn pair(cx: &mut Context<'_>, a: Container<'_>, b: Container<'_>) -> EvalResult<Value> {
    let mut pairs = cx
        .collector(ContainerKind::Tuple)
        .expecting(a.len().min(b.len()));
    for (first, second) in a.iter().zip(b.iter()) {
        pairs.push(cx, Value::pair(&first, &second))?;
    }
    pairs.finish(cx)
}

pub(super) fn branch(condition: bool, a: &Value, b: &Value) -> Value {
    if condition { a.clone() } else { b.clone() }
}

/// The set of the elements, all of them containers, for which `condition` holds.
pub(super) fn keep_elements(
    cx: &mut Context<'_>,
    container: Container<'_>,
    condition: impl Fn(Container<'_>) -> EvalResult<bool>,
) -> EvalResult<Value> {
    if container.kind == ContainerKind::Set {
        let mut holds = Vec::with_capacity(container.len());
        container.try_each_stored(cx, |_, item| {
            holds.push(condition(inner(item)?)?);
            Ok(())
        })?;
        return Ok(kept(container, &holds));
    }
    let mut kept = cx.collector(ContainerKind::Set);
    for item in container.iter() {
        if condition(inner(&item)?)? {
            kept.push(cx, item.into_owned())?;
        }
    }
    kept.finish(cx)
}

/// An element as a container; an error if it is none.
fn inner(item: &Value) -> EvalResult<Container<'_>> {
    item.as_container().ok_or(ErrorKind::Element {
        expected: ValueKind::Container,
        found: item.kind(),
    })
}

/// Of arguments of any types.
pub(super) fn untyped(
    cx: &mut Context<'_>,
    primitive: Primitive,
    arguments: &[&Value],
) -> PythonResult {
    use Primitive as P;
    match (primitive, arguments) {
        (P::Intersection, &[Value::Bool(a), Value::Bool(b)]) => Ok(Value::Bool(*a && *b)),
        (P::Intersection, &[a, b]) => number(i64::from(int(a)? & int(b)?)),
        (P::Dedupe, &[tup]) if is_empty(tup) => Ok(Value::tuple(Vec::new())),
        (P::Difference, &[a, _]) if is_empty(a) => empty_like(a),
        (P::Product, &[a, b]) if no_pairs(a, b) => Ok(Value::empty_set()),
        // A number of elements never equals a value that is not a number.
        (P::Sizefilter, &[container, n]) => {
            let has_n = |item: Container<'_>| Ok(Some(item.len() as i32) == n.as_int());
            Ok(keep_elements(cx, elements(container)?, has_n)?)
        }
        _ => Err(Refusal::Raises),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::testing::{call, ints};

    #[test]
    fn the_first_container_sets_the_kind() {
        let set = Value::set([Value::Int(1), Value::Int(2)]);
        let tuple = ints(&[2, 2, 3]);
        assert_eq!(
            call(Primitive::Combine, &[&set, &tuple])
                .unwrap()
                .to_string(),
            "frozenset({1, 2, 3})"
        );
        assert_eq!(
            call(Primitive::Combine, &[&tuple, &set])
                .unwrap()
                .to_string(),
            "(2, 2, 3, 1, 2)"
        );
        assert_eq!(
            call(Primitive::Difference, &[&tuple, &set])
                .unwrap()
                .to_string(),
            "(3,)"
        );
        assert!(call(Primitive::Intersection, &[&tuple, &set]).is_err());
    }

    #[test]
    fn merging_empties_gives_an_empty_set() {
        let empties = Value::set([Value::empty_set()]);
        assert_eq!(call(Primitive::Merge, &[&empties]), Ok(Value::empty_set()));
        assert!(call(Primitive::Merge, &[&ints(&[1, 2])]).is_err());
    }

    /// The order of the union is that of its elements, added in the order of the sets and of their elements.
    #[test]
    fn an_empty_set_among_patches_is_as_if_it_was_not_there() {
        let line = |i, from| (from..from + 9).map(move |j| Loc::new(7 * i - j, 5 * j));
        let [a, b] = [line(1, 3), line(4, 0)].map(|line| Value::set(line.map(Value::Loc)));
        let empty = Value::empty_set();
        let in_order = |sets: &[&Value]| {
            let all = sets.iter().filter_map(|set| set.as_container());
            Value::set(all.flat_map(|set| set.iter().map(Cow::into_owned).collect::<Vec<_>>()))
        };
        for pair in [[&a, &b], [&b, &a], [&a, &empty], [&empty, &b], [&empty; 2]] {
            let combined = call(Primitive::Combine, &pair).unwrap();
            assert_eq!(combined.to_string(), in_order(&pair).to_string());
        }
        let sets = Value::set([a, empty, b].map(|set| set.clone()));
        let sets_in_order: Vec<_> = sets.as_container().unwrap().iter().collect();
        let sets_in_order: Vec<&Value> = sets_in_order.iter().map(|set| &**set).collect();
        let merged = in_order(&sets_in_order).to_string();
        for found in [
            call(Primitive::Merge, &[&sets]),
            call(
                Primitive::Mapply,
                &[Value::primitive(Primitive::Toindices), &sets],
            ),
        ] {
            assert_eq!(found.unwrap().to_string(), merged);
        }
    }

    #[test]
    fn merged_grids_are_the_tuple_of_their_rows() {
        let grid = |height, width| Value::from(Grid::filled(height, width, 3));
        let (wide, narrow) = (grid(2, 3), grid(1, 2));
        let grids = Value::tuple(vec![
            wide.clone(),
            wide,
            narrow,
            grid(3, 0),
            Grid::default().into(),
        ]);
        let merged = call(Primitive::Merge, &[&grids]).unwrap();
        let rows = "((3, 3, 3), (3, 3, 3), (3, 3, 3), (3, 3, 3), (3, 3), (), (), ())";
        assert_eq!(merged.to_string(), rows);
        // Each row weighs as much as was looked at before it was made.
        let weights: u64 = merged
            .values()
            .iter()
            .map(|row| u64::from(row.own_weight()))
            .sum();
        assert_eq!(
            weights,
            4 * row_weight(3) + row_weight(2) + 3 * row_weight(0)
        );
        let large = call(Primitive::Repeat, &[&grid(20, 20), &Value::Int(4_000)]).unwrap();
        let limit = Err(ErrorKind::Limit(Limit::Elements));
        assert_eq!(call(Primitive::Merge, &[&large]), limit);
    }

    #[test]
    fn the_commonest_is_the_smallest_of_several() {
        let tuple = ints(&[4, 1, 4, 1, 3]);
        assert_eq!(call(Primitive::Mostcommon, &[&tuple]), Ok(Value::Int(1)));
        assert_eq!(call(Primitive::Leastcommon, &[&tuple]), Ok(Value::Int(3)));
        assert_eq!(
            call(Primitive::Mostcommon, &[&ints(&[])]),
            Err(ErrorKind::Empty)
        );
        assert_eq!(call(Primitive::Dedupe, &[&tuple]), Ok(ints(&[4, 1, 3])));
    }

    #[test]
    fn intervals_run_either_way() {
        let interval = |start, stop, step| {
            call(
                Primitive::Interval,
                &[&Value::Int(start), &Value::Int(stop), &Value::Int(step)],
            )
        };
        assert_eq!(interval(0, 7, 3), Ok(ints(&[0, 3, 6])));
        assert_eq!(interval(3, -1, -2), Ok(ints(&[3, 1])));
        assert_eq!(interval(3, 3, 1), Ok(ints(&[])));
        assert!(interval(0, 1, 0).is_err());
    }

    #[test]
    fn what_is_too_large_is_refused_before_it_is_made() {
        let large = Value::Int(1_000_000_000);
        assert!(matches!(
            call(Primitive::Repeat, &[&large, &large]),
            Err(ErrorKind::Limit(_))
        ));
        assert!(matches!(
            call(
                Primitive::Interval,
                &[&Value::Int(0), &large, &Value::Int(1)]
            ),
            Err(ErrorKind::Limit(_)),
        ));
    }

    #[test]
    fn first_last_and_other_read_sets_in_the_order_of_iteration() {
        let set = Value::set([Value::Int(5), Value::Int(-1), Value::Int(3)]);
        assert_eq!(call(Primitive::First, &[&set]), Ok(Value::Int(3)));
        assert_eq!(call(Primitive::Last, &[&set]), Ok(Value::Int(-1)));
        assert_eq!(
            call(Primitive::Other, &[&set, &Value::Int(-1)]),
            Ok(Value::Int(3))
        );
        assert_eq!(
            call(Primitive::Last, &[&Value::empty_set()]),
            Err(ErrorKind::Empty)
        );
    }
}
