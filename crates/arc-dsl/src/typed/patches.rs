//! Patches: the locations of their cells; moving, mirroring, and drawing around them.

use arc_isa::{ContainerKind, Primitive as P};

use super::TypedPrimitive as T;
use super::objects::{locs_of, public_cells};
pub(super) use super::python::by_number;
use super::python::{
    INFINITY, NEGATIVE_INFINITY, NOT_A_NUMBER, PythonResult, Refusal, both, call, collected,
    elements, equal, first, has_no_elements, int, is_empty, is_empty_tuple, is_tuple, item, len,
    length, minus, negated, plus, public, three, triple, two,
};
use crate::budget::Context;
use crate::primitives::untyped::{number, set_union};
use crate::value::Value;

const SET: ContainerKind = ContainerKind::Set;

pub(super) fn toindices(cx: &mut Context<'_>, patch: &Value) -> PythonResult {
    match len(&first(patch)?) {
        None => Ok(Value::empty_set()),
        Some(3) => toindices_o(cx, patch),
        Some(_) => Ok(patch.clone()),
    }
}

pub(super) fn toindices_o(cx: &mut Context<'_>, obj: &Value) -> PythonResult {
    collected(cx, SET, obj, |_, cell| {
        let (i, j, _) = three(cell)?;
        Ok(Some(Value::pair(&i, &j)))
    })
}

/// How the locations of an argument are determined: for any patch, for locations, for an object.
#[derive(Clone, Copy)]
pub(super) enum LocationsOf {
    Patch,
    Indices,
    Object,
}

impl LocationsOf {
    pub(super) fn locations(self, cx: &mut Context<'_>, patch: &Value) -> PythonResult {
        match self {
            LocationsOf::Patch => call(cx, T::Toindices, &[patch]),
            LocationsOf::Indices => Ok(patch.clone()),
            LocationsOf::Object => call(cx, T::ToindicesO, &[patch]),
        }
    }
}

pub(super) fn recolor(
    cx: &mut Context<'_>,
    color: &Value,
    patch: &Value,
    of: LocationsOf,
) -> PythonResult {
    let locations = of.locations(cx, patch)?;
    collected(cx, SET, &locations, |_, loc| {
        let (i, j) = two(loc)?;
        Ok(Some(triple(i, j, color.clone())))
    })
}

/// The set of the locations or cells, depending on the first element, each with its row and column mapped by the
/// function.
fn each_moved(
    cx: &mut Context<'_>,
    patch: &Value,
    to: impl FnMut(&mut Context<'_>, &Value, &Value) -> PythonResult<(Value, Value)>,
) -> PythonResult {
    let cells = len(&first(patch)?).ok_or(Refusal::Raises)? == 3;
    each_of_kind_moved(cx, patch, cells, to)
}

fn each_of_kind_moved(
    cx: &mut Context<'_>,
    patch: &Value,
    cells: bool,
    mut to: impl FnMut(&mut Context<'_>, &Value, &Value) -> PythonResult<(Value, Value)>,
) -> PythonResult {
    collected(cx, SET, patch, |cx, element| {
        Ok(Some(if cells {
            let (i, j, c) = three(element)?;
            let (i, j) = to(cx, &i, &j)?;
            triple(i, j, c)
        } else {
            let (i, j) = two(element)?;
            let (i, j) = to(cx, &i, &j)?;
            Value::pair(&i, &j)
        }))
    })
}

pub(super) fn shift(cx: &mut Context<'_>, patch: &Value, directions: &Value) -> PythonResult {
    if !patch.is_truthy() {
        return Ok(Value::empty_set());
    }
    if is_empty_tuple(directions) {
        return Ok(patch.clone());
    }
    let (di, dj) = two(directions)?;
    each_moved(cx, patch, |cx, i, j| {
        Ok((plus(cx, i, &di)?, plus(cx, j, &dj)?))
    })
}

pub(super) fn normalized(cx: &mut Context<'_>, patch: &Value, row: T, column: T) -> PythonResult {
    if length(patch)? == 0 {
        return Ok(patch.clone());
    }
    let (row, column) = both(cx, row, column, patch)?;
    let (i, j) = (negated(cx, &row)?, negated(cx, &column)?);
    call(cx, T::Shift, &[patch, &Value::pair(&i, &j)])
}

/// Whether it is no tuple, or an empty one.
pub(super) fn is_no_location(loc: &Value) -> bool {
    !is_tuple(loc) || is_empty(loc)
}

pub(super) fn neighbors(cx: &mut Context<'_>, loc: &Value) -> PythonResult {
    let (a, b) = both(cx, T::Dneighbors, T::Ineighbors, loc)?;
    set_union(&a, &b)
}

/// The set of two opposite corners, which has the bounding box of the patch.
pub(super) fn opposite_corners(cx: &mut Context<'_>, patch: &Value) -> PythonResult {
    let mut corner = |corner: T| -> PythonResult {
        let (i, j) = two(&call(cx, corner, &[patch])?)?;
        Ok(Value::pair(&Value::Int(int(&i)?), &Value::Int(int(&j)?)))
    };
    Ok(Value::set([corner(T::Ulcorner)?, corner(T::Lrcorner)?]))
}

pub(super) fn delta(cx: &mut Context<'_>, patch: &Value) -> PythonResult {
    let (all, own) = (
        call(cx, T::Backdrop, &[patch])?,
        LocationsOf::Patch.locations(cx, patch)?,
    );
    minus(cx, &all, &own)
}

/// A set of two locations with the same first and last rows and columns as the patch.
pub(super) fn reach(cx: &mut Context<'_>, patch: &Value) -> PythonResult {
    let mut extreme =
        |extreme: T| -> PythonResult { Ok(Value::Int(int(&call(cx, extreme, &[patch])?)?)) };
    let first = Value::pair(&extreme(T::Uppermost)?, &extreme(T::Leftmost)?);
    let last = Value::pair(&extreme(T::Lowermost)?, &extreme(T::Rightmost)?);
    Ok(Value::set([first, last]))
}

/// Whether both patches have a cell in one row, or in one column.
pub(super) fn matching(cx: &mut Context<'_>, a: &Value, b: &Value, row: bool) -> PythonResult {
    let mut lines = |patch: &Value| {
        let locations = LocationsOf::Patch.locations(cx, patch)?;
        collected(cx, SET, &locations, |_, loc| {
            let (i, j) = two(loc)?;
            Ok(Some(if row { i } else { j }))
        })
    };
    let (a, b) = (lines(a)?, lines(b)?);
    let others = elements(&b)?;
    Ok(Value::Bool(
        elements(&a)?.iter().any(|line| others.contains(&line)),
    ))
}

pub(super) fn manhattan(cx: &mut Context<'_>, a: &Value, b: &Value) -> PythonResult {
    if [a, b].into_iter().any(has_no_elements) {
        return Ok(INFINITY);
    }
    let (a, b) = (locs_of(cx, a)?, locs_of(cx, b)?);
    public(cx, P::Manhattan, &[&a, &b])
}

pub(super) fn adjacent(cx: &mut Context<'_>, a: &Value, b: &Value) -> PythonResult {
    let distance = call(cx, T::Manhattan, &[a, b])?;
    Ok(Value::Bool(equal(&distance, &Value::Int(1))))
}

pub(super) fn bordering(cx: &mut Context<'_>, patch: &Value, grid: &Value) -> PythonResult {
    for first in [T::Uppermost, T::Leftmost] {
        if equal(&call(cx, first, &[patch])?, &Value::Int(0)) {
            return Ok(Value::Bool(true));
        }
    }
    let lowermost = call(cx, T::Lowermost, &[patch])?;
    if equal(&lowermost, &Value::Int(length(grid)? - 1)) {
        return Ok(Value::Bool(true));
    }
    let rightmost = call(cx, T::Rightmost, &[patch])?;
    let width = length(&item(grid, 0)?)?;
    Ok(Value::Bool(equal(&rightmost, &Value::Int(width - 1))))
}

/// The centre as two integers.
pub(super) fn center_of(cx: &mut Context<'_>, patch: &Value) -> PythonResult<(i32, i32)> {
    let (i, j) = two(&call(cx, T::Center, &[patch])?)?;
    Ok((int(&i)?, int(&j)?))
}

pub(super) fn gravitate(cx: &mut Context<'_>, source: &Value, destination: &Value) -> PythonResult {
    const MOVES: i32 = 42;
    if !destination.is_truthy() {
        return Ok(source.clone());
    }
    let (si, sj) = center_of(cx, source)?;
    let (di, dj) = center_of(cx, destination)?;
    let vertical = call(cx, T::Vmatching, &[source, destination])?.is_truthy();
    let (i, j) = match vertical {
        true if si < di => (1, 0),
        true => (-1, 0),
        false if sj < dj => (0, 1),
        false => (0, -1),
    };
    let step = Value::pair(&Value::Int(i), &Value::Int(j));
    let mut moves = 0;
    let mut moved = source.clone();
    while moves < MOVES && !call(cx, T::Adjacent, &[&moved, destination])?.is_truthy() {
        moves += 1;
        moved = call(cx, T::Shift, &[&moved, &step])?;
    }
    Ok(Value::pair(&Value::Int(i * moves), &Value::Int(j * moves)))
}

/// First row and column, last row and column.
fn frame(cx: &mut Context<'_>, patch: &Value) -> PythonResult<[Value; 4]> {
    let (first, last) = both(cx, T::Ulcorner, T::Lrcorner, patch)?;
    Ok([
        item(&first, 0)?,
        item(&first, 1)?,
        item(&last, 0)?,
        item(&last, 1)?,
    ])
}

/// Whether a mirror processes cells rather than locations; for any patch, the first element decides.
fn kind(patch: &Value, of: LocationsOf) -> PythonResult<bool> {
    Ok(match of {
        LocationsOf::Patch => len(&first(patch)?).ok_or(Refusal::Raises)? == 3,
        LocationsOf::Indices => false,
        LocationsOf::Object => true,
    })
}

pub(super) fn hmirror(cx: &mut Context<'_>, patch: &Value, of: LocationsOf) -> PythonResult {
    let [top, _, bottom, _] = frame(cx, patch)?;
    let sum = plus(cx, &top, &bottom)?;
    let cells = kind(patch, of)?;
    each_of_kind_moved(cx, patch, cells, |cx, i, j| {
        Ok((minus(cx, &sum, i)?, j.clone()))
    })
}

pub(super) fn vmirror(cx: &mut Context<'_>, patch: &Value, of: LocationsOf) -> PythonResult {
    let [_, left, _, right] = frame(cx, patch)?;
    let sum = plus(cx, &left, &right)?;
    let cells = kind(patch, of)?;
    each_of_kind_moved(cx, patch, cells, |cx, i, j| {
        Ok((i.clone(), minus(cx, &sum, j)?))
    })
}

pub(super) fn dmirror(cx: &mut Context<'_>, patch: &Value, of: LocationsOf) -> PythonResult {
    let (top, left) = two(&call(cx, T::Ulcorner, &[patch])?)?;
    let cells = kind(patch, of)?;
    let to_column = minus(cx, &left, &top)?;
    let to_row = minus(cx, &top, &left)?;
    each_of_kind_moved(cx, patch, cells, |cx, i, j| {
        Ok((plus(cx, j, &to_row)?, plus(cx, i, &to_column)?))
    })
}

pub(super) fn upscale_f(cx: &mut Context<'_>, obj: &Value, factor: &Value) -> PythonResult {
    if length(obj)? == 0 {
        return Ok(Value::empty_set());
    }
    let (i, j) = two(&call(cx, T::Ulcorner, &[obj])?)?;
    let back = Value::pair(&negated(cx, &i)?, &negated(cx, &j)?);
    let normed = call(cx, T::Shift, &[obj, &back])?;
    let factor = int(factor)?;
    let mut all = cx.collector(SET);
    for cell in elements(&normed)?.iter() {
        let (i, j, c) = three(&cell)?;
        let place = |n: &Value, more: i32| -> PythonResult {
            number(i64::from(int(n)?) * i64::from(factor) + i64::from(more))
        };
        for di in 0..factor {
            for dj in 0..factor {
                all.push(cx, triple(place(&i, di)?, place(&j, dj)?, c.clone()))?;
            }
        }
    }
    let all = all.finish(cx)?;
    let copy = all.copied_set().unwrap_or(all);
    call(cx, T::Shift, &[&copy, &Value::pair(&i, &j)])
}

/// After how many columns or rows an object repeats.
pub(super) fn period(cx: &mut Context<'_>, obj: &Value, extent: T, period: P) -> PythonResult {
    let normalized = call(cx, T::Normalize, &[obj])?;
    let extent = call(cx, extent, &[&normalized])?;
    if int(&extent)? < 2 {
        return Ok(extent);
    }
    let object = public_cells(cx, SET, &normalized)?;
    public(cx, period, &[&object])
}

/// The colours of the cells, with repetitions.
pub(super) fn colours(obj: &Value) -> PythonResult<Vec<Value>> {
    let cells = elements(obj)?;
    cells.iter().map(|cell| Ok(three(&cell)?.2)).collect()
}

pub(super) fn palette_f(cx: &mut Context<'_>, element: &Value) -> PythonResult {
    collected(cx, SET, element, |_, cell| Ok(Some(three(cell)?.2)))
}

pub(super) fn numcolors(cx: &mut Context<'_>, piece: &Value, palette: T) -> PythonResult {
    let palette = call(cx, palette, &[piece])?;
    Ok(Value::Int(length(&palette)?))
}

/// The colour that occurs most or least often; `nan` if there are none.
pub(super) fn commonest(
    _: &mut Context<'_>,
    piece: &Value,
    colours: fn(&Value) -> PythonResult<Vec<Value>>,
    most: bool,
) -> PythonResult {
    let colours = colours(piece)?;
    if colours.is_empty() {
        return Ok(NOT_A_NUMBER);
    }
    Value::commonest(&colours, most).ok_or(Refusal::Raises)
}

pub(super) fn colorcount_f(_: &mut Context<'_>, obj: &Value, color: &Value) -> PythonResult {
    let colours = colours(obj)?;
    let count = colours.iter().filter(|c| equal(c, color)).count();
    Ok(Value::Int(count as i32))
}

pub(super) fn color(_: &mut Context<'_>, obj: &Value) -> PythonResult {
    match elements(obj)?.value(0) {
        Some(cell) if is_tuple(&cell) => item(&cell, 2),
        _ => Ok(NEGATIVE_INFINITY),
    }
}

pub(super) fn colorfilter(cx: &mut Context<'_>, objs: &Value, color: &Value) -> PythonResult {
    collected(cx, SET, objs, |_, obj| {
        let found = item(&first(obj)?, 2)?;
        Ok(equal(&found, color).then(|| obj.clone()))
    })
}

pub(super) fn colorfilter_t(cx: &mut Context<'_>, objs: &Value, color: &Value) -> PythonResult {
    collected(cx, ContainerKind::Tuple, objs, |_, obj| {
        let found = item(&item(obj, 0)?, 2)?;
        Ok(equal(&found, color).then(|| obj.clone()))
    })
}
