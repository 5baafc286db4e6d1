//! Elements by rank, and common properties of a task's train pairs.

use std::cmp::Ordering;

use arc_isa::ContainerKind;

use super::TypedPrimitive as T;
use super::python::{
    NOT_A_NUMBER, PythonResult, Refusal, call, collected, compare, elements, empty_tuple, equal,
    int, is_tuple, key as keyed_by, list, place, two,
};
use crate::budget::Context;
use crate::value::Value;
use crate::value::container::sorting;
use crate::value::sort::sorted_places;

/// The element at this rank.
fn ranked(values: &[Value], rank: &Value) -> PythonResult<Option<Value>> {
    Ok(place(rank, values.len())?.map(|at| values[at].clone()))
}

/// The same, or an empty container of this kind.
fn ranked_or_empty(values: &[Value], rank: &Value, kind: ContainerKind) -> PythonResult {
    let empty = || match kind {
        ContainerKind::Tuple => empty_tuple(),
        ContainerKind::Set => Value::empty_set(),
    };
    Ok(ranked(values, rank)?.unwrap_or_else(empty))
}

/// The elements in ascending or descending order of their keys; elements with equal keys keep their order either way.
pub(super) fn sorted(
    cx: &mut Context<'_>,
    container: &Value,
    key: Option<&Value>,
    descending: bool,
) -> PythonResult<Vec<Value>> {
    let mut keyed = Vec::new();
    let mut held = 0;
    for element in elements(container)?.iter() {
        let key = match key {
            Some(function) => cx.call(function, &[&element])?,
            None => element.clone().into_owned(),
        };
        held += cx.hold_heavy(&key)?;
        keyed.push((key, element.into_owned()));
    }
    let weight = keyed.iter().map(|(key, _)| u64::from(key.weight())).sum();
    cx.work(sorting(keyed.len(), weight))?;
    // Python reverses before and after sorting, so that equal keys keep their order.
    if descending {
        keyed.reverse();
    }
    let places = sorted_places(keyed.len(), |a, b| {
        Ok::<_, Refusal>(compare(&keyed[a].0, &keyed[b].0)? == Some(Ordering::Less))
    });
    cx.release(held);
    let elements = places?.into_iter().map(|at| keyed[at as usize].1.clone());
    let mut elements: Vec<Value> = elements.collect();
    if descending {
        elements.reverse();
    }
    Ok(elements)
}

pub(super) fn get_nth_t(_: &mut Context<'_>, container: &Value, rank: &Value) -> PythonResult {
    if !is_tuple(container) {
        return Ok(NOT_A_NUMBER);
    }
    let tuple = elements(container)?;
    let at = place(rank, tuple.len())?;
    Ok(at.and_then(|at| tuple.value(at)).unwrap_or(NOT_A_NUMBER))
}

pub(super) fn get_nth_f(_: &mut Context<'_>, container: &Value, rank: &Value) -> PythonResult {
    int(rank)?;
    let all = elements(container)?;
    let at = place(rank, all.len())?.and_then(|at| all.value(at));
    Ok(at.unwrap_or_else(Value::empty_set))
}

pub(super) fn get_nth_by_key_t(cx: &mut Context<'_>, arguments: &[&Value]) -> PythonResult {
    let (container, rank, key) = with_key(arguments)?;
    let sorted = sorted(cx, container, key, false)?;
    if sorted.is_empty() {
        return Ok(Value::Nothing);
    }
    int(rank)?;
    ranked(&sorted, rank)?.ok_or(Refusal::Raises)
}

pub(super) fn get_nth_by_key_f(cx: &mut Context<'_>, arguments: &[&Value]) -> PythonResult {
    let (container, rank, key) = with_key(arguments)?;
    let sorted = sorted(cx, container, key, false)?;
    let at = usize::try_from(int(rank)?).unwrap_or(0);
    Ok(sorted.get(at).cloned().unwrap_or(Value::Nothing))
}

/// A container, a rank, and the key function if there is one.
fn with_key<'a>(
    arguments: &[&'a Value],
) -> PythonResult<(&'a Value, &'a Value, Option<&'a Value>)> {
    match *arguments {
        [container, rank] => Ok((container, rank, None)),
        [container, rank, key] => Ok((container, rank, keyed_by(key))),
        _ => Err(Refusal::Raises),
    }
}

pub(super) fn get_rank(cx: &mut Context<'_>, container: &Value, rank: &Value) -> PythonResult {
    let sorted = sorted(cx, container, None, true)?;
    Ok(ranked(&sorted, rank)?.unwrap_or(Value::Int(0)))
}

/// The element at this rank, otherwise an empty container of this kind, or of the container's own.
pub(super) fn get_arg_rank(
    cx: &mut Context<'_>,
    container: &Value,
    compfunc: &Value,
    rank: &Value,
    kind: Option<ContainerKind>,
) -> PythonResult {
    let sorted = sorted(cx, container, keyed_by(compfunc), true)?;
    match kind {
        Some(kind) => ranked_or_empty(&sorted, rank, kind),
        None => ranked_or_empty(&sorted, rank, elements(container)?.kind),
    }
}

pub(super) fn get_val_rank(
    cx: &mut Context<'_>,
    container: &Value,
    compfunc: &Value,
    rank: &Value,
) -> PythonResult {
    let sorted = sorted(cx, container, keyed_by(compfunc), false)?;
    let element = ranked(&sorted, rank)?.unwrap_or(Value::Int(0));
    Ok(cx.call(compfunc, &[&element])?)
}

/// The distinct elements in ascending order of their frequency; equally frequent ones in the order of their set.
fn by_count(cx: &mut Context<'_>, container: &Value) -> PythonResult<Vec<Value>> {
    let mut values = list(container)?;
    let weight = values.iter().map(|value| u64::from(value.weight())).sum();
    cx.work(2 * sorting(values.len(), weight))?;
    let mut ranks = list(&Value::set(values.iter().cloned()))?;
    values.sort();
    let below = |value: &Value| values.partition_point(|other| other < value);
    ranks.sort_by_cached_key(|value| values[below(value)..].partition_point(|one| one == value));
    Ok(ranks)
}

pub(super) fn get_common_rank(
    cx: &mut Context<'_>,
    container: &Value,
    rank: &Value,
    kind: ContainerKind,
) -> PythonResult {
    if kind == ContainerKind::Tuple && !is_tuple(container) {
        return Err(Refusal::Raises);
    }
    ranked_or_empty(&by_count(cx, container)?, rank, kind)
}

/// The distinct values in descending order of their frequency; equally frequent ones in the order of their first
/// occurrences.
fn by_frequency(cx: &mut Context<'_>, values: Vec<Value>) -> PythonResult<Vec<Value>> {
    let weight = values.iter().map(|value| u64::from(value.weight())).sum();
    cx.work(2 * sorting(values.len(), weight))?;
    let mut placed: Vec<_> = values.into_iter().enumerate().collect();
    placed.sort_by(|(_, a), (_, b)| a.cmp(b));
    let mut runs: Vec<_> = placed.chunk_by(|(_, a), (_, b)| a == b).collect();
    runs.sort_by_key(|run| (std::cmp::Reverse(run.len()), run[0].0));
    Ok(runs.into_iter().map(|run| run[0].1.clone()).collect())
}

pub(super) fn get_color_rank(
    cx: &mut Context<'_>,
    piece: &Value,
    rank: &Value,
    colours: fn(&Value) -> PythonResult<Vec<Value>>,
    kind: ContainerKind,
) -> PythonResult {
    ranked_or_empty(&by_frequency(cx, colours(piece)?)?, rank, kind)
}

pub(super) fn dedupe_pair_tuple(cx: &mut Context<'_>, pairs: &Value) -> PythonResult {
    collected(cx, ContainerKind::Tuple, pairs, |_, pair| {
        let (a, b) = two(pair)?;
        Ok((!equal(&a, &b)).then(|| Value::pair(&a, &b)))
    })
}

/// The function's results for the inputs that it returns for no output, or the other way round.
pub(super) fn of_one_side(
    cx: &mut Context<'_>,
    pairs: &Value,
    function: &Value,
    of_inputs: bool,
) -> PythonResult {
    let mut side = |side: T| {
        let grids = call(cx, T::Apply, &[&side.value(), pairs])?;
        let found = call(cx, T::MapplyT, &[function, &grids])?;
        call(cx, T::Dedupe, &[&found])
    };
    let (inputs, outputs) = (side(T::First)?, side(T::Second)?);
    let mut sides = [&inputs, &outputs];
    if !of_inputs {
        sides.reverse();
    }
    call(cx, T::DifferenceTuple, &sides)
}

pub(super) fn picked(
    cx: &mut Context<'_>,
    pairs: &Value,
    function: &Value,
    pick: &Value,
    primitive: T,
) -> PythonResult {
    let found = call(cx, primitive, &[pairs, function])?;
    Ok(cx.call(pick, &[&found])?)
}

pub(super) fn a_mr(cx: &mut Context<'_>, pairs: &Value) -> PythonResult {
    const SYMMETRIES: i32 = 8;
    'next: for number in 0..SYMMETRIES {
        for pair in elements(pairs)?.iter() {
            let (input, output) = two(&pair)?;
            let turned = call(cx, T::MirRotT, &[&input, &Value::Int(number)])?;
            if !equal(&output, &turned) {
                continue 'next;
            }
        }
        return Ok(Value::Int(number));
    }
    Ok(Value::Nothing)
}
