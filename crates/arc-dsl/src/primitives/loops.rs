//! Loops over containers, for any kind of body: a function value of the interpreter or a region of the first-order
//! form.

use std::borrow::Cow;
use std::cmp::Ordering;

use arc_isa::{ContainerKind, Primitive, Type};

use super::comparison::{improves, less};
use super::containers::{kept, merge, merge_into};
use crate::budget::Context;
use crate::error::{ErrorKind, EvalResult};
use crate::value::Value;
use crate::value::container::{Collector, Container, Items, sorting, united};
use crate::value::function::FunctionKind;
use crate::value::sets::order::{Built, By};
use crate::value::sort::sorted_places;
use smallvec::SmallVec;

/// The body of a [`Context::call_loop`]: called with one element of each container.
pub type LoopBody<'b> = dyn FnMut(&mut Context<'_>, &[&Value]) -> Result<Value, ErrorKind> + 'b;

impl Context<'_> {
    /// Calls a primitive that applies a function to the elements of containers, see [`Primitive::loop_function`]:
    /// `body` is the function, `arguments` are the other arguments.
    pub fn call_loop(
        &mut self,
        primitive: Primitive,
        arguments: &[&Value],
        body: &mut LoopBody<'_>,
    ) -> Result<Value, ErrorKind> {
        use Primitive as P;
        self.spend(1)?;
        let (one, second) = containers(primitive, arguments)?;
        let value = match primitive {
            P::Apply => apply(self, body, one),
            P::Mapply => mapply(self, body, one),
            P::Papply => papply(self, body, one, second),
            P::Mpapply => mpapply(self, body, one, second),
            P::Prapply => prapply(self, body, one, second),
            P::Sfilter => sfilter(self, one, body),
            P::Mfilter => mfilter(self, one, body),
            P::Extract => extract(self, one, body),
            P::Order => order(self, one, body),
            P::Valmax => valmax(self, one, body),
            P::Valmin => valmin(self, one, body),
            P::Argmax => argmax(self, one, body),
            _ => argmin(self, one, body),
        }?;
        // Results of primitives are checked when they are created; an argument that is returned was checked before.
        if primitive.returns() != Type::Any {
            self.check(&value)?;
        }
        Ok(value)
    }
}

/// The containers that a loop iterates over, the first one twice if there is only one; or the primitive's error about
/// an argument.
fn containers<'a>(
    primitive: Primitive,
    arguments: &[&'a Value],
) -> EvalResult<(Container<'a>, Container<'a>)> {
    let function = primitive.loop_function();
    let places = (0..primitive.parameters().len()).filter(|at| Some(*at) != function);
    let all = places.zip(arguments).map(|(at, value)| {
        value.as_container().ok_or(ErrorKind::Type {
            argument: at as u8,
            expected: primitive.parameters()[at].1,
            found: value.kind(),
        })
    });
    let all = all.collect::<Result<SmallVec<[_; 2]>, _>>()?;
    let one = *all.first().ok_or(ErrorKind::Empty)?;
    Ok((one, all.get(1).copied().unwrap_or(one)))
}

/// The body of a loop: a function value, or anything that can be called like one.
pub(crate) trait Body {
    fn call(&mut self, cx: &mut Context<'_>, arguments: &[&Value]) -> EvalResult<Value>;

    /// Whether all that it reads of its argument is the first element.
    fn reads_first(&self) -> bool {
        false
    }
}

impl Body for &Value {
    fn reads_first(&self) -> bool {
        match self {
            Value::Primitive(primitive) => *primitive == Primitive::First,
            Value::Function(function) => match function.kind() {
                FunctionKind::Compose { inner: first, .. }
                | FunctionKind::Chain { f: first, .. }
                | FunctionKind::Matcher {
                    function: first, ..
                } => first.reads_first(),
                FunctionKind::Fork { a, b, .. } => a.reads_first() && b.reads_first(),
                _ => false,
            },
            _ => false,
        }
    }

    #[inline]
    fn call(&mut self, cx: &mut Context<'_>, arguments: &[&Value]) -> EvalResult<Value> {
        cx.call(self, arguments)
    }
}

impl Body for &mut LoopBody<'_> {
    #[inline]
    fn call(&mut self, cx: &mut Context<'_>, arguments: &[&Value]) -> EvalResult<Value> {
        self(cx, arguments)
    }
}

pub(crate) fn apply(
    cx: &mut Context<'_>,
    mut function: impl Body,
    container: Container<'_>,
) -> EvalResult<Value> {
    // The most common case: a function applied to a pair of integers.
    if let Items::Loc(loc) = container.items {
        let i = function.call(cx, &[&Value::Int(loc.i)])?;
        let j = function.call(cx, &[&Value::Int(loc.j)])?;
        return Ok(Value::pair(&i, &j));
    }
    let results = results(cx, function, container)?;
    match container.kind {
        ContainerKind::Set => results.finish_by(cx, By::Set(container.value.clone())),
        ContainerKind::Tuple => results.finish(cx),
    }
}

/// The results of a function for the elements as they are stored.
fn results(
    cx: &mut Context<'_>,
    mut function: impl Body,
    container: Container<'_>,
) -> EvalResult<Collector> {
    let rows = hold_rows(cx, &[container])?;
    let mut results = cx.collector(container.kind).expecting(container.len());
    container.try_each_stored(cx, |cx, item| {
        let result = function.call(cx, &[item])?;
        results.push(cx, result)
    })?;
    cx.release(rows);
    Ok(results)
}

/// Merges the results of a function as they come. Python merges after all calls: if the function fails later, that is
/// the error, rather than an earlier result that could not be merged.
struct Merging {
    merged: Collector,
    error: Option<ErrorKind>,
}

impl Merging {
    fn new(merged: Collector) -> Self {
        Self {
            merged,
            error: None,
        }
    }

    #[inline]
    fn add(&mut self, cx: &mut Context<'_>, result: &Value) -> EvalResult<()> {
        if self.error.is_some() {
            return Ok(());
        }
        match merge_into(cx, &mut self.merged, result) {
            Err(error) if !matches!(error, ErrorKind::Limit(_)) => {
                self.error = Some(error);
                Ok(())
            }
            merged => merged,
        }
    }

    fn finish(self, cx: &mut Context<'_>) -> EvalResult<Value> {
        match self.error {
            Some(error) => Err(error),
            None => self.merged.finish(cx),
        }
    }
}

pub(crate) fn mapply(
    cx: &mut Context<'_>,
    mut function: impl Body,
    container: Container<'_>,
) -> EvalResult<Value> {
    if container.kind == ContainerKind::Set {
        return merged_results(cx, function, container);
    }
    let rows = hold_rows(cx, &[container])?;
    let mut merging = Merging::new(cx.collector(container.kind).expecting(container.len()));
    container.try_each(|item| {
        let result = function.call(cx, &[item])?;
        merging.add(cx, &result)
    })?;
    cx.release(rows);
    merging.finish(cx)
}

/// The merged results of a function for the elements of a set. They are a set of their own, in whose order they are merged.
fn merged_results(
    cx: &mut Context<'_>,
    function: impl Body,
    set: Container<'_>,
) -> EvalResult<Value> {
    let by = By::Set(set.value.clone());
    match results(cx, function, set)?.into_patches(cx) {
        Ok(patches) => {
            let all = Value::tuple(patches);
            let held = cx.hold_heavy(&all)?;
            let merged = united(cx, all.values(), Built::Images((all.clone(), by).into()));
            cx.release(held);
            merged
        }
        Err(results) => {
            let results = results.finish_by(cx, by)?;
            let held = cx.hold_heavy(&results)?;
            let merged = results.as_container().map(|results| merge(cx, results));
            cx.release(held);
            merged.unwrap_or(Ok(results))
        }
    }
}

pub(crate) fn papply(
    cx: &mut Context<'_>,
    mut function: impl Body,
    a: Container<'_>,
    b: Container<'_>,
) -> EvalResult<Value> {
    let rows = hold_rows(cx, &[a, b])?;
    let mut results = cx
        .collector(ContainerKind::Tuple)
        .expecting(a.len().min(b.len()));
    for (a, b) in a.iter().zip(b.iter()) {
        let result = function.call(cx, &[&a, &b])?;
        results.push(cx, result)?;
    }
    cx.release(rows);
    results.finish(cx)
}

pub(crate) fn mpapply(
    cx: &mut Context<'_>,
    mut function: impl Body,
    a: Container<'_>,
    b: Container<'_>,
) -> EvalResult<Value> {
    let rows = hold_rows(cx, &[a, b])?;
    let mut merging = Merging::new(cx.collector(ContainerKind::Tuple));
    for (a, b) in a.iter().zip(b.iter()) {
        let result = function.call(cx, &[&a, &b])?;
        merging.add(cx, &result)?;
    }
    cx.release(rows);
    merging.finish(cx)
}

pub(crate) fn prapply(
    cx: &mut Context<'_>,
    mut function: impl Body,
    a: Container<'_>,
    b: Container<'_>,
) -> EvalResult<Value> {
    let rows = hold_rows(cx, &[a, b])?;
    let mut results = cx.collector(ContainerKind::Set);
    let mut call = |cx: &mut Context<'_>, first: &Value, second: &Value| {
        let result = function.call(cx, &[first, second])?;
        results.push(cx, result)
    };
    if [a.kind, b.kind] == [ContainerKind::Set; 2] {
        let mut all = a
            .iter_stored()
            .flat_map(|first| b.iter_stored().map(move |second| (first.clone(), second)));
        match all.try_for_each(|(first, second)| call(cx, &first, &second)) {
            Ok(()) => {
                let both = [a.value.clone(), b.value.clone()];
                return results.finish_by(cx, By::Pairs(both));
            }
            Err(error @ ErrorKind::Limit(_)) => return Err(error),
            // Python meets the errors in its order.
            Err(_) => cx.failed = None,
        }
    }
    for second in b.iter() {
        for first in a.iter() {
            call(cx, &first, &second)?;
        }
    }
    cx.release(rows);
    results.finish(cx)
}

pub(crate) fn sfilter(
    cx: &mut Context<'_>,
    container: Container<'_>,
    mut condition: impl Body,
) -> EvalResult<Value> {
    if container.kind == ContainerKind::Set {
        return kept_of_set(cx, container, &mut condition);
    }
    let rows = hold_rows(cx, &[container])?;
    let mut kept = cx.collector(container.kind).expecting(container.len());
    container.try_each(|item| {
        if condition.call(cx, &[item])?.is_truthy() {
            kept.push(cx, item.clone())?;
        }
        Ok(())
    })?;
    cx.release(rows);
    kept.finish(cx)
}

/// The elements of a set for which the condition holds.
fn kept_of_set(
    cx: &mut Context<'_>,
    set: Container<'_>,
    condition: &mut impl Body,
) -> EvalResult<Value> {
    let mut holds = Vec::with_capacity(set.len());
    let reads_colour = condition.reads_first();
    // Cells ascend by colour, and the condition takes as many steps for each of a colour.
    let mut last = None;
    set.try_each_stored(cx, |cx, item| {
        let colour = match item {
            Value::Cell(cell) if reads_colour => Some(cell.colour),
            _ => None,
        };
        if let Some((same, is_kept, work)) = last
            && same == colour
        {
            holds.push(is_kept);
            return cx.work(work);
        }
        let before = cx.units_left();
        let is_kept = condition.call(cx, &[item])?.is_truthy();
        holds.push(is_kept);
        if colour.is_some() {
            last = Some((colour, is_kept, before.wrapping_sub(cx.units_left())));
        }
        Ok(())
    })?;
    Ok(kept(set, &holds))
}

pub(crate) fn mfilter(
    cx: &mut Context<'_>,
    container: Container<'_>,
    mut function: impl Body,
) -> EvalResult<Value> {
    if container.kind == ContainerKind::Set {
        let kept = kept_of_set(cx, container, &mut function)?;
        let held = cx.hold_heavy(&kept)?;
        let merged = kept.as_container().map(|kept| merge(cx, kept));
        cx.release(held);
        return merged.unwrap_or(Ok(kept));
    }
    let rows = hold_rows(cx, &[container])?;
    let mut merged = cx.collector(container.kind).expecting(container.len());
    container.try_each(|item| {
        if function.call(cx, &[item])?.is_truthy() {
            merge_into(cx, &mut merged, item)?;
        }
        Ok(())
    })?;
    cx.release(rows);
    merged.finish(cx)
}

pub(crate) fn extract(
    cx: &mut Context<'_>,
    container: Container<'_>,
    mut condition: impl Body,
) -> EvalResult<Value> {
    let rows = hold_rows(cx, &[container])?;
    for item in container.iter() {
        if condition.call(cx, &[&item])?.is_truthy() {
            cx.release(rows);
            return Ok(item.into_owned());
        }
    }
    Err(ErrorKind::NoMatch)
}

pub(crate) fn order(
    cx: &mut Context<'_>,
    container: Container<'_>,
    mut compfunc: impl Body,
) -> EvalResult<Value> {
    let rows = hold_rows(cx, &[container])?;
    let mut room = cx.room();
    let mut keyed: Vec<(Value, Value)> = Vec::new();
    container.try_each_stored(cx, |cx, item| {
        let key = compfunc.call(cx, &[item])?;
        room.take_value(cx, &key)?;
        room.take(cx, u64::from(item.own_weight()))?;
        keyed.push((key, item.clone()));
        Ok(())
    })?;
    cx.work(sorting(keyed.len(), room.taken()))?;
    let sorted = |keyed: &[(Value, Value)]| {
        sorted_places(keyed.len(), |a, b| less(&keyed[a].0, &keyed[b].0))
    };
    let mut places = sorted(&keyed);
    // If no two keys are equal, and all are numbers, how they come does not matter.
    let key = |place: u32| keyed[place as usize].0.as_int();
    let is_settled = places
        .as_ref()
        .is_ok_and(|places| places.is_sorted_by(|a, b| key(*a).is_some() && key(*a) < key(*b)));
    if !is_settled && let Some(in_order) = container.places() {
        keyed = in_order
            .iter()
            .map(|at| keyed[*at as usize].clone())
            .collect();
        places = sorted(&keyed);
    }
    let places = places?;
    room.close(cx);
    cx.release(rows);
    let items = places.iter().map(|&at| keyed[at as usize].1.clone());
    Ok(Value::tuple(items.collect()))
}

pub(crate) fn valmax(
    cx: &mut Context<'_>,
    container: Container<'_>,
    compfunc: impl Body,
) -> EvalResult<Value> {
    outermost_key(cx, container, compfunc, Ordering::Greater)
}

pub(crate) fn valmin(
    cx: &mut Context<'_>,
    container: Container<'_>,
    compfunc: impl Body,
) -> EvalResult<Value> {
    outermost_key(cx, container, compfunc, Ordering::Less)
}

pub(crate) fn argmax(
    cx: &mut Context<'_>,
    container: Container<'_>,
    mut compfunc: impl Body,
) -> EvalResult<Value> {
    outermost(cx, container, &mut compfunc, Ordering::Greater)?
        .map(|(_, item)| item)
        .ok_or(ErrorKind::Empty)
}

pub(crate) fn argmin(
    cx: &mut Context<'_>,
    container: Container<'_>,
    mut compfunc: impl Body,
) -> EvalResult<Value> {
    outermost(cx, container, &mut compfunc, Ordering::Less)?
        .map(|(_, item)| item)
        .ok_or(ErrorKind::Empty)
}

fn outermost_key(
    cx: &mut Context<'_>,
    container: Container<'_>,
    mut compfunc: impl Body,
    wanted: Ordering,
) -> EvalResult<Value> {
    match outermost(cx, container, &mut compfunc, wanted)? {
        Some((key, _)) => Ok(key),
        None => compfunc.call(cx, &[&Value::Int(0)]),
    }
}

/// The first element with the outermost key, and that key.
fn outermost(
    cx: &mut Context<'_>,
    container: Container<'_>,
    compfunc: &mut impl Body,
    wanted: Ordering,
) -> EvalResult<Option<(Value, Value)>> {
    if container.kind == ContainerKind::Set
        && let Some(best) = outermost_number(cx, container, compfunc, wanted)?
    {
        return Ok(Some(best));
    }
    // The best row so far is kept while the next one is read.
    let rows = 2 * hold_rows(cx, &[container])?;
    cx.hold(rows / 2)?;
    let mut held = 0;
    let mut best = None;
    container.try_each(|item| {
        let key = compfunc.call(cx, &[item])?;
        let improved = match &best {
            Some((best, _)) => {
                cx.charge_read(key.weight().min(Value::weight(best)))?;
                improves(&key, best, wanted)?
            }
            None => true,
        };
        if improved {
            cx.release(held);
            held = cx.hold_heavy(&key)?;
            best = Some((key, item.clone()));
        }
        Ok(())
    })?;
    cx.release(rows + held);
    Ok(best)
}

/// The same for a set whose keys are all numbers: then its order matters only if keys are equal. Nothing for other keys,
/// if the function fails, and if the set is empty.
fn outermost_number(
    cx: &mut Context<'_>,
    set: Container<'_>,
    compfunc: &mut impl Body,
    wanted: Ordering,
) -> EvalResult<Option<(Value, Value)>> {
    let (mut best, mut equal) = (None, SmallVec::<[u32; 8]>::new());
    for (at, item) in (0..).zip(set.iter_stored()) {
        let number = match compfunc.call(cx, &[&item]) {
            Ok(Value::Int(number)) => number,
            Err(error @ ErrorKind::Limit(_)) => return Err(error),
            _ => {
                cx.failed = None;
                return Ok(None);
            }
        };
        let ordering = best.map_or(wanted, |best| number.cmp(&best));
        if ordering == wanted {
            best = Some(number);
            equal.clear();
        }
        if ordering == wanted || ordering.is_eq() {
            equal.push(at);
        }
    }
    let first = match (equal.as_slice(), best) {
        (&[_, _, ..], _) => {
            let places = set.places();
            let first =
                places.and_then(|places| places.iter().find(|at| equal.binary_search(at).is_ok()));
            *first.unwrap_or(&equal[0])
        }
        (&[only], _) => only,
        _ => return Ok(None),
    };
    let item = set.stored(first as usize).map(Cow::into_owned);
    Ok(best.map(Value::Int).zip(item))
}

/// Counts one row of each grid among the containers as held, if rows are heavy: they are built as the loop reaches
/// them. The caller has to release the returned amount.
#[inline]
fn hold_rows(cx: &mut Context<'_>, containers: &[Container<'_>]) -> EvalResult<u64> {
    let mut held = 0;
    for container in containers {
        if let Items::Rows(grid) = container.items {
            held += cx.hold_weight(grid.width() as u64)?;
        }
    }
    Ok(held)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patch::{Cell, Loc, Object};
    use crate::primitives::testing::call;
    use crate::{Interpreter, Limits};

    /// The condition is called once for each colour, and charged for each cell.
    #[test]
    fn a_filter_by_colour_takes_as_many_steps_for_each_cell() {
        let is_three = [Value::primitive(Primitive::First), &Value::Int(3)];
        let is_three = call(Primitive::Matcher, &is_three).unwrap();
        let flip = [Value::primitive(Primitive::Flip), &is_three];
        let is_other = call(Primitive::Compose, &flip).unwrap();
        let cells = |count| (0..count).map(|at| Cell::new(at % 4, Loc::new(at, 2 * at)));
        let filter = Value::primitive(Primitive::Sfilter);
        // The elements of the larger one, and of what is kept, are a step more.
        for (count, steps) in [(8, 17), (40, 82)] {
            let object = Value::from(cells(count).collect::<Object>());
            let (kept, spent) = Interpreter::default().call_counted(filter, &[&object, &is_other]);
            let all = cells(count).filter(|cell| cell.colour != 3);
            assert_eq!(kept.unwrap(), all.collect::<Object>().into());
            assert_eq!(spent, steps);
        }
        let limits = Limits {
            max_steps: 81,
            ..Limits::default()
        };
        let object = Value::from(cells(40).collect::<Object>());
        let result = Interpreter::new(limits).call(filter, &[&object, &is_other]);
        assert_eq!(result.unwrap_err().limit(), Some(crate::Limit::Steps));
    }

    /// That of the larger colour is the first one in Python's order.
    #[test]
    fn a_condition_of_the_colour_that_fails_ends_with_the_error_of_the_first_cell() {
        let make = |primitive, parts: &[&Value]| call(primitive, parts).unwrap();
        let of = Value::primitive;
        // It divides by zero for colour 0, and finds no element for colour 2.
        let repeated = make(Primitive::Lbind, &[of(Primitive::Repeat), &Value::Int(6)]);
        let minus_two = make(Primitive::Lbind, &[of(Primitive::Subtract), &Value::Int(2)]);
        let elements = make(Primitive::Compose, &[&repeated, &minus_two]);
        let element = make(Primitive::Compose, &[of(Primitive::First), &elements]);
        let divided = make(Primitive::Lbind, &[of(Primitive::Divide), &Value::Int(6)]);
        let both = make(Primitive::Fork, &[of(Primitive::Both), &element, &divided]);
        let condition = make(Primitive::Compose, &[&both, of(Primitive::First)]);
        let cells = [Cell::new(0, Loc::new(0, 3)), Cell::new(2, Loc::new(0, 0))];
        let object = Value::from(cells.into_iter().collect::<Object>());
        let Value::Cell(first) = make(Primitive::First, &[&object]) else {
            panic!("{object}");
        };
        assert_eq!(first.colour, 2, "{object}");
        let result = call(Primitive::Sfilter, &[&object, &condition]);
        assert_eq!(result, Err(ErrorKind::Empty));
    }
}
