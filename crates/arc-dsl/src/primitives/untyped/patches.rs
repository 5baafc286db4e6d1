//! Locations, and what is measured of them.

use std::cmp::Ordering;

use arc_isa::{ContainerKind, Primitive};

use super::numbers::plus;
use super::{
    Refusal, Taken, elements, int, ints, is_coloured, is_empty, is_tuple, item, length, list,
    location, outermost, rows, set_of, typed, unpack,
};
use crate::budget::Context;
use crate::patch::Loc;
use crate::value::Value;

/// How many cells a frontier has.
const FRONTIER: usize = 30;

pub(super) fn take(cx: &mut Context<'_>, primitive: Primitive, arguments: &[&Value]) -> Taken {
    use Primitive as P;
    match (primitive, arguments) {
        (P::Height, &[piece]) => height(cx, piece).map(Value::Int),
        (P::Width, &[piece]) => width(cx, piece).map(Value::Int),
        (P::Shape, &[piece]) => shape(cx, piece).map(Value::Loc),
        (P::Portrait, &[piece]) => Ok(Value::Bool(height(cx, piece)? > width(cx, piece)?)),
        (P::Square, &[piece]) => square(cx, piece).map(Value::Bool),
        (P::Vline, &[patch]) => line(cx, patch, height, width).map(Value::Bool),
        (P::Hline, &[patch]) => line(cx, patch, width, height).map(Value::Bool),
        (P::Ulcorner, &[patch]) => corner(patch, [Ordering::Less; 2]),
        (P::Lrcorner, &[patch]) => corner(patch, [Ordering::Greater; 2]),
        (P::Urcorner, &[patch]) => corner(patch, [Ordering::Less, Ordering::Greater]),
        (P::Llcorner, &[patch]) => corner(patch, [Ordering::Greater, Ordering::Less]),
        (P::Corners, &[patch]) => {
            let corners = [P::Ulcorner, P::Urcorner, P::Llcorner, P::Lrcorner];
            let corners = corners.map(|corner| take(cx, corner, arguments));
            let corners = corners.into_iter().collect::<Taken<Vec<_>>>()?;
            if is_empty(patch) {
                return set_of(cx, [Value::tuple(Vec::new())]);
            }
            set_of(cx, corners)
        }
        (P::Toindices, &[patch]) => to_indices(patch),
        (P::Recolor, &[value, patch]) => {
            let indices = list(&to_indices(patch)?)?;
            set_of(cx, indices.iter().map(|index| Value::pair(value, index)))
        }
        (P::Shift, &[patch, directions]) => shift(cx, patch, directions),
        (P::Normalize, &[patch]) => normalized(cx, patch),
        (P::Dneighbors | P::Ineighbors | P::Neighbors, &[loc]) => {
            typed(cx, primitive, &[&Value::Loc(ints(loc)?)])
        }
        (P::Asindices, &[grid]) => asindices(cx, grid),
        (P::Ofcolor, &[grid, value]) => {
            let rows = rows(grid)?;
            let cells = rows.iter().enumerate().flat_map(|(i, row)| {
                let here = row.iter().enumerate().filter(|(_, cell)| *cell == value);
                here.map(move |(j, _)| location(i, j))
            });
            set_of(cx, cells)
        }
        (P::Asobject, &[grid]) => {
            let rows = rows(grid)?;
            let cells = rows.iter().enumerate().flat_map(|(i, row)| {
                let row = row.iter().enumerate();
                row.map(move |(j, cell)| Value::pair(cell, &location(i, j)))
            });
            set_of(cx, cells)
        }
        (P::Toobject, &[patch, grid]) => toobject(cx, patch, grid),
        (P::Connect, &[a, b]) => {
            let (a, b) = (unpacked(a)?, unpacked(b)?);
            typed(cx, primitive, &[&a, &b])
        }
        (P::Shoot, &[start, direction]) => {
            let start = unpacked(start)?;
            let direction = Value::Loc(ints(direction)?);
            typed(cx, primitive, &[&start, &direction])
        }
        (P::Vfrontier, &[loc]) => {
            let column = item(loc, 1)?;
            let rows = (0..FRONTIER).map(|i| Value::pair(&Value::Int(i as i32), &column));
            set_of(cx, rows)
        }
        (P::Hfrontier, &[loc]) => {
            let row = item(loc, 0)?;
            let columns = (0..FRONTIER).map(|j| Value::pair(&row, &Value::Int(j as i32)));
            set_of(cx, columns)
        }
        (P::Center, &[patch]) => center(cx, patch).map(Value::Loc),
        (P::Position, &[a, b]) => {
            let (from, to) = (to_indices(a)?, to_indices(b)?);
            let (from, to) = (center(cx, &from)?, center(cx, &to)?);
            Ok(Value::Loc(position(from, to)))
        }
        // A tuple's middle is told by its length, and so is the way that it goes.
        (P::Gravitate, _) if arguments.iter().any(|patch| is_tuple(patch)) => {
            typed(cx, primitive, arguments)
        }
        (P::Centerofmass, &[patch]) => centerofmass(patch),
        (P::Hperiod | P::Vperiod, &[object]) => period(cx, primitive, object),
        (P::Bordering, &[patch, grid]) => bordering(cx, patch, grid).map(Value::Bool),
        (P::Box | P::Backdrop, &[patch]) => {
            let corners = set_of(cx, opposite_corners(patch)?)?;
            typed(cx, primitive, &[&corners])
        }
        (P::Delta, &[patch]) => {
            let indices = to_indices(patch)?;
            if is_tuple(&indices) {
                return Err(Refusal::Raises);
            }
            let corners = set_of(cx, opposite_corners(patch)?)?;
            let all = typed(cx, P::Backdrop, &[&corners])?;
            typed(cx, P::Difference, &[&all, &indices])
        }
        // What is left looks at locations alone.
        _ => {
            let indices = arguments.iter().map(|patch| to_indices(patch));
            let indices = indices.collect::<Taken<Vec<_>>>()?;
            typed(cx, primitive, &indices.iter().collect::<Vec<_>>())
        }
    }
}

/// The locations of what has colours, and anything else as it is.
pub(super) fn to_indices(patch: &Value) -> Taken {
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

/// The pair that the value falls into.
fn unpacked(value: &Value) -> Taken {
    let (i, j) = unpack(value)?;
    Ok(Value::Loc(Loc::new(int(&i)?, int(&j)?)))
}

fn height(cx: &mut Context<'_>, piece: &Value) -> Taken<i32> {
    match elements(piece)?.kind {
        ContainerKind::Tuple => Ok(length(piece)? as i32),
        ContainerKind::Set => int(&typed(cx, Primitive::Height, &[&to_indices(piece)?])?),
    }
}

fn width(cx: &mut Context<'_>, piece: &Value) -> Taken<i32> {
    match elements(piece)?.kind {
        _ if is_empty(piece) => Ok(0),
        ContainerKind::Tuple => Ok(length(&item(piece, 0)?)? as i32),
        ContainerKind::Set => int(&typed(cx, Primitive::Width, &[&to_indices(piece)?])?),
    }
}

pub(super) fn shape(cx: &mut Context<'_>, piece: &Value) -> Taken<Loc> {
    Ok(Loc::new(height(cx, piece)?, width(cx, piece)?))
}

fn square(cx: &mut Context<'_>, piece: &Value) -> Taken<bool> {
    if is_tuple(piece) {
        return Ok(length(piece)? == length(&item(piece, 0)?)?);
    }
    let Loc { i, j } = shape(cx, piece)?;
    Ok(i == j && i64::from(i) * i64::from(j) == length(piece)? as i64)
}

type Side = fn(&mut Context<'_>, &Value) -> Taken<i32>;

/// Whether it is as long as it has elements, and one wide; the width is looked at last.
fn line(cx: &mut Context<'_>, patch: &Value, along: Side, across: Side) -> Taken<bool> {
    Ok(along(cx, patch)? as usize == length(patch)? && across(cx, patch)? == 1)
}

/// The outermost of each component. Of more than two only where all are wanted alike.
pub(super) fn corner(patch: &Value, wanted: [Ordering; 2]) -> Taken {
    let rows = rows(&to_indices(patch)?)?;
    let columns = rows.iter().map(Vec::len).min().unwrap_or(0);
    if columns > 2 && wanted[0] != wanted[1] {
        return Err(Refusal::Raises);
    }
    let mut corner = Vec::new();
    for at in 0..columns {
        let column: Vec<Value> = rows.iter().map(|row| row[at].clone()).collect();
        corner.push(outermost(&column, wanted[at.min(1)])?);
    }
    Ok(Value::tuple(corner))
}

/// The upper left and the lower right corner, each of them a pair of integers.
fn opposite_corners(patch: &Value) -> Taken<[Value; 2]> {
    let upper = corner(patch, [Ordering::Less; 2])?;
    let lower = corner(patch, [Ordering::Greater; 2])?;
    Ok([unpacked(&upper)?, unpacked(&lower)?])
}

pub(super) fn shift(cx: &mut Context<'_>, patch: &Value, directions: &Value) -> Taken {
    if is_empty(patch) {
        return Ok(patch.clone());
    }
    let (down, right) = unpack(directions)?;
    moved(cx, patch, |cx, i, j| {
        Ok(Value::pair(&plus(cx, i, &down)?, &plus(cx, j, &right)?))
    })
}

/// The patch moved so that its box starts at the origin.
pub(super) fn normalized(cx: &mut Context<'_>, patch: &Value) -> Taken {
    if is_empty(patch) {
        return Ok(patch.clone());
    }
    let corner = typed(cx, Primitive::Ulcorner, &[&to_indices(patch)?])?;
    let back = typed(cx, Primitive::Invert, &[&corner])?;
    shift(cx, patch, &back)
}

/// The set of the elements with their locations changed.
pub(super) fn moved(
    cx: &mut Context<'_>,
    patch: &Value,
    to: impl Fn(&mut Context<'_>, &Value, &Value) -> Taken,
) -> Taken {
    let container = elements(patch)?;
    let coloured = is_coloured(container)?;
    let mut all = Vec::new();
    for element in container.iter() {
        let (a, b) = unpack(&element)?;
        all.push(if coloured {
            let (i, j) = unpack(&b)?;
            Value::pair(&a, &to(cx, &i, &j)?)
        } else {
            to(cx, &a, &b)?
        });
    }
    set_of(cx, all)
}

fn center(cx: &mut Context<'_>, patch: &Value) -> Taken<Loc> {
    let indices = to_indices(patch)?;
    let mut side = |side| int(&typed(cx, side, &[&indices])?);
    let (upper, left) = (side(Primitive::Uppermost)?, side(Primitive::Leftmost)?);
    let Loc { i, j } = shape(cx, patch)?;
    Ok(Loc::new(upper + i.div_euclid(2), left + j.div_euclid(2)))
}

/// The signs of the way from one middle to the other; of one row or column, only along it.
fn position(from: Loc, to: Loc) -> Loc {
    let sign = |from: i32, to: i32| if from < to { 1 } else { -1 };
    let (down, right) = (sign(from.i, to.i), sign(from.j, to.j));
    if from.i == to.i {
        Loc::new(0, right)
    } else if from.j == to.j {
        Loc::new(down, 0)
    } else {
        Loc::new(down, right)
    }
}

/// The mean of each component, of as many as the shortest element has.
fn centerofmass(patch: &Value) -> Taken {
    let rows = rows(&to_indices(patch)?)?;
    let columns = rows.iter().map(Vec::len).min().unwrap_or(0);
    let mut means = Vec::new();
    for at in 0..columns {
        let mut sum = 0;
        for row in &rows {
            sum += i64::from(int(&row[at])?);
        }
        means.push(Value::Int(sum.div_euclid(length(patch)? as i64) as i32));
    }
    Ok(Value::tuple(means))
}

fn asindices(cx: &mut Context<'_>, grid: &Value) -> Taken {
    if is_empty(grid) {
        return Ok(Value::empty_set());
    }
    let (height, width) = (length(grid)?, length(&item(grid, 0)?)?);
    cx.reserve(height as u64 * width as u64)?;
    let all = (0..height).flat_map(|i| (0..width).map(move |j| location(i, j)));
    set_of(cx, all)
}

fn toobject(cx: &mut Context<'_>, patch: &Value, grid: &Value) -> Taken {
    let (height, width) = (length(grid)? as i32, length(&item(grid, 0)?)? as i32);
    let mut cells = Vec::new();
    for index in list(&to_indices(patch)?)? {
        let (i, j) = unpack(&index)?;
        let (i, j) = (int(&i)?, int(&j)?);
        if (0..height).contains(&i) && (0..width).contains(&j) {
            let cell = item(&item(grid, i as usize)?, j as usize)?;
            cells.push(Value::pair(&cell, &location(i as usize, j as usize)));
        }
    }
    set_of(cx, cells)
}

/// Of an object whose colours are anything: they are only compared. Locations without colours are
/// looked at where they are one column wide, or one row high.
fn period(cx: &mut Context<'_>, primitive: Primitive, object: &Value) -> Taken {
    let container = elements(object)?;
    let across = match primitive {
        Primitive::Hperiod => width,
        _ => height,
    };
    if !is_coloured(container)? {
        let back = typed(cx, Primitive::Normalize, &[object])?;
        return match across(cx, &back)? {
            n @ ..=1 => Ok(Value::Int(n)),
            _ => Err(Refusal::Raises),
        };
    }
    let mut colours: Vec<Value> = Vec::new();
    for element in container.iter() {
        colours.push(unpack(&element)?.0);
    }
    colours.sort();
    colours.dedup();
    let mut cells = Vec::new();
    for element in container.iter() {
        let (colour, loc) = unpack(&element)?;
        let rank = colours.partition_point(|other| *other < colour);
        cells.push(Value::pair(&Value::Int(rank as i32), &loc));
    }
    typed(cx, primitive, &[&Value::set(cells)])
}

fn bordering(cx: &mut Context<'_>, patch: &Value, grid: &Value) -> Taken<bool> {
    let patch = to_indices(patch)?;
    let mut side = |side| int(&typed(cx, side, &[&patch])?);
    if side(Primitive::Uppermost)? == 0 || side(Primitive::Leftmost)? == 0 {
        return Ok(true);
    }
    if side(Primitive::Lowermost)? == length(grid)? as i32 - 1 {
        return Ok(true);
    }
    Ok(side(Primitive::Rightmost)? == length(&item(grid, 0)?)? as i32 - 1)
}
