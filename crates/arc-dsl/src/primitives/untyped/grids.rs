//! Grids of unequal rows or of other things than colours, and what is found and painted on them.

use std::cmp::Ordering;

use arc_isa::{ContainerKind, Primitive};

use super::numbers::plus;
use super::patches::{corner, moved, normalized, shape, shift, to_indices};
use super::{
    Refusal, Taken, commonest, elements, grid_of, int, ints, is_coloured, is_empty, is_tuple, item,
    length, list, location, rows, set_of, tuple, typed, unpack,
};
use crate::budget::Context;
use crate::grid::Grid;
use crate::patch::Loc;
use crate::primitives::colours;
use crate::primitives::objects::objects_on;
use crate::value::Value;

type Rows = Vec<Vec<Value>>;

pub(super) fn take(cx: &mut Context<'_>, primitive: Primitive, arguments: &[&Value]) -> Taken {
    use Primitive as P;
    match (primitive, arguments) {
        (P::Mostcolor, &[element]) => commonest(colours(element)?, Ordering::Greater),
        (P::Leastcolor, &[element]) => commonest(colours(element)?, Ordering::Less),
        (P::Palette, &[element]) => set_of(cx, colours(element)?),
        (P::Numcolors, &[element]) => {
            Ok(Value::Int(length(&Value::set(colours(element)?))? as i32))
        }
        (P::Colorcount, &[element, value]) => colorcount(element, value),
        (P::Colorfilter, &[objects, value]) => colorfilter(cx, objects, value),
        (P::Replace, &[grid, replacee, replacer]) => recoloured(cx, grid, &[(replacee, replacer)]),
        (P::Switch, &[grid, a, b]) => recoloured(cx, grid, &[(b, a), (a, b)]),
        (P::Cellwise, &[a, b, fallback]) => cellwise(cx, a, b, fallback),
        (P::Index, &[grid, loc]) => index(grid, loc),
        (P::Objects, &[grid, univalued, diagonal, without_bg]) => {
            let flags = [univalued, diagonal, without_bg].map(Value::is_truthy);
            by_rank(cx, grid, flags)
        }
        (P::Partition | P::Fgpartition, &[grid]) => partition(cx, primitive, grid),
        (P::Occurrences, &[grid, object]) => occurrences(cx, grid, object),
        (P::Frontiers, &[grid]) => frontiers(cx, grid),
        (P::Compress, &[grid]) => compress(cx, grid),
        (P::Canvas, &[value, dimensions]) => canvas(cx, value, dimensions),
        (P::Fill, &[grid, value, patch]) => {
            let cells = filled(value, patch)?;
            painted(cx, grid, &cells, None)
        }
        (P::Underfill, &[grid, value, patch]) => {
            let cells = filled(value, patch)?;
            let below = background(grid)?;
            painted(cx, grid, &cells, Some(&below))
        }
        (P::Paint, &[grid, object]) => painted(cx, grid, &list(object)?, None),
        (P::Underpaint, &[grid, object]) => {
            let cells = list(object)?;
            let below = background(grid)?;
            painted(cx, grid, &cells, Some(&below))
        }
        (P::Cover, &[grid, patch]) => cover(cx, grid, patch),
        (P::Move, &[grid, object, offset]) => {
            let covered = cover(cx, grid, object)?;
            let there = shift(cx, object, offset)?;
            painted(cx, &covered, &list(&there)?, None)
        }
        _ => transformed(cx, primitive, arguments),
    }
}

fn transformed(cx: &mut Context<'_>, primitive: Primitive, arguments: &[&Value]) -> Taken {
    use Primitive as P;
    match (primitive, arguments) {
        (P::Rot90, &[grid]) => {
            let turned = turned_right(tuple_rows(grid)?);
            grid_of(cx, turned)
        }
        (P::Rot180, &[grid]) => {
            let rows = reversed(tuple_rows_of_tuples(grid)?);
            grid_of(cx, rows.into_iter().map(reversed))
        }
        (P::Rot270, &[grid]) => {
            let turned = turned_left(tuple_rows(grid)?);
            grid_of(cx, turned)
        }
        (P::Hmirror, &[piece]) if is_tuple(piece) => Ok(Value::tuple(reversed(list(piece)?))),
        (P::Vmirror, &[piece]) if is_tuple(piece) => {
            let rows = tuple_rows_of_tuples(piece)?;
            grid_of(cx, rows.into_iter().map(reversed))
        }
        (P::Dmirror, &[piece]) if is_tuple(piece) => {
            let transposed = transposed(&rows(piece)?);
            grid_of(cx, transposed)
        }
        (P::Cmirror, &[piece]) if is_tuple(piece) => {
            let rows = reversed(tuple_rows_of_tuples(piece)?);
            let rows: Rows = rows.into_iter().map(reversed).collect();
            grid_of(cx, transposed(&rows))
        }
        (P::Hmirror | P::Vmirror | P::Dmirror | P::Cmirror, &[patch]) => {
            mirrored(cx, primitive, patch)
        }
        (P::Crop, &[grid, start, dims]) => crop(cx, grid, start, dims),
        (P::Subgrid, &[patch, grid]) => {
            let start = corner(patch, [Ordering::Less; 2])?;
            let dims = Value::Loc(shape(cx, patch)?);
            crop(cx, grid, &start, &dims)
        }
        (P::Trim, &[grid]) => {
            let inner = |row: Vec<Value>| cut(&row, 1, -1);
            let rows = cut(&list(tuple_value(grid)?)?, 1, -1);
            let rows = rows
                .iter()
                .map(|row| Ok(inner(list(tuple_value(row)?)?)))
                .collect::<Taken<Rows>>()?;
            grid_of(cx, rows)
        }
        (P::Tophalf, &[grid]) => {
            let mut rows = list(tuple_value(grid)?)?;
            rows.truncate(rows.len() / 2);
            Ok(Value::tuple(rows))
        }
        (P::Bottomhalf, &[grid]) => {
            let rows = list(tuple_value(grid)?)?;
            Ok(Value::tuple(rows[rows.len().div_ceil(2)..].to_vec()))
        }
        (P::Lefthalf | P::Righthalf, &[grid]) => {
            let mut turned = turned_right(tuple_rows(grid)?);
            let half = turned.len() / 2;
            match primitive {
                P::Lefthalf => turned.truncate(half),
                _ => drop(turned.drain(..turned.len().div_ceil(2))),
            }
            grid_of(cx, turned_left(turned))
        }
        (P::Hsplit | P::Vsplit, &[grid, n]) => split(cx, primitive, grid, n),
        (P::Hconcat, &[a, b]) => {
            let mut all = cx.collector(ContainerKind::Tuple);
            for (a, b) in elements(a)?.iter().zip(elements(b)?.iter()) {
                let sum = plus(cx, &a, &b)?;
                all.push(cx, sum)?;
            }
            Ok(all.finish(cx)?)
        }
        (P::Vconcat, &[a, b]) => plus(cx, a, b),
        (P::Hupscale, &[grid, factor]) => scaled(cx, &rows(grid)?, &Value::Int(1), factor),
        (P::Vupscale, &[grid, factor]) => {
            let mut all = cx.collector(ContainerKind::Tuple);
            for row in elements(grid)?.iter() {
                for _ in 0..int(factor)? {
                    all.push(cx, row.clone().into_owned())?;
                }
            }
            Ok(all.finish(cx)?)
        }
        (P::Upscale, &[element, factor]) if is_tuple(element) => {
            scaled(cx, &rows(element)?, factor, factor)
        }
        (P::Upscale, &[element, factor]) => upscale_patch(cx, element, factor),
        (P::Downscale, &[grid, factor]) => downscale(cx, grid, factor),
        _ => Err(Refusal::Raises),
    }
}

/// The tuple that the value is.
fn tuple_value(value: &Value) -> Taken<&Value> {
    tuple(value).map(|_| value)
}

/// The rows of a tuple of anything that can be gone through.
fn tuple_rows(value: &Value) -> Taken<Rows> {
    rows(tuple_value(value)?)
}

/// The rows of a tuple of tuples.
fn tuple_rows_of_tuples(value: &Value) -> Taken<Rows> {
    let rows = tuple(value)?;
    rows.iter()
        .map(|row| list(tuple_value(&row)?))
        .collect::<Taken<Rows>>()
}

fn reversed<T>(mut items: Vec<T>) -> Vec<T> {
    items.reverse();
    items
}

/// The columns, as many as the shortest row has.
fn transposed(rows: &Rows) -> Rows {
    let width = rows.iter().map(Vec::len).min().unwrap_or(0);
    (0..width)
        .map(|j| rows.iter().map(|row| row[j].clone()).collect())
        .collect()
}

fn turned_right(rows: Rows) -> Rows {
    transposed(&reversed(rows))
}

fn turned_left(rows: Rows) -> Rows {
    let turned = turned_right(rows);
    reversed(turned.into_iter().map(reversed).collect())
}

/// `items[start:stop]`, where negative numbers count from the end.
fn cut(items: &[Value], start: i64, stop: i64) -> Vec<Value> {
    let len = items.len() as i64;
    let place = |at: i64| {
        if at < 0 {
            (at + len).max(0)
        } else {
            at.min(len)
        }
    };
    let (start, stop) = (place(start), place(stop));
    if start >= stop {
        return Vec::new();
    }
    items[start as usize..stop as usize].to_vec()
}

fn crop(cx: &mut Context<'_>, grid: &Value, start: &Value, dims: &Value) -> Taken {
    let slice = |items: &[Value], at: usize| -> Taken<Vec<Value>> {
        let (from, count) = (int(&item(start, at)?)?, int(&item(dims, at)?)?);
        let from = i64::from(from);
        Ok(cut(items, from, from + i64::from(count)))
    };
    let mut kept = Vec::new();
    for row in slice(&list(tuple_value(grid)?)?, 0)? {
        kept.push(slice(&list(tuple_value(&row)?)?, 1)?);
    }
    grid_of(cx, kept)
}

/// Number of rows, and how wide the first is.
fn sides(grid: &Value) -> Taken<(usize, usize)> {
    Ok((length(grid)?, length(&item(grid, 0)?)?))
}

/// The cells of a grid whose rows are as wide as the first, or wider, which is not seen. Of rows whose cells nobody
/// asks for it does not matter what they are.
fn cells(grid: &Value) -> Taken<Rows> {
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

fn split(cx: &mut Context<'_>, primitive: Primitive, grid: &Value, n: &Value) -> Taken {
    let (height, width) = sides(grid)?;
    let n = int(n)?;
    let count = usize::try_from(n).unwrap_or(0);
    if n == 0 {
        return Err(Refusal::Raises);
    }
    let side = match primitive {
        Primitive::Hsplit => width,
        _ => height,
    } as i64;
    let part = side.div_euclid(i64::from(n));
    let over = i64::from(side % i64::from(n) != 0);
    let mut all = cx.collector(ContainerKind::Tuple);
    for at in 0..count {
        let start = (part + over) * at as i64;
        // Past the end of the grid there is nothing, however far.
        let start = start.min(side) as i32;
        let (start, dims) = match primitive {
            Primitive::Hsplit => (Loc::new(0, start), Loc::new(height as i32, part as i32)),
            _ => (Loc::new(start, 0), Loc::new(part as i32, width as i32)),
        };
        // All rows are taken out for each.
        cx.work(u64::from(grid.work()))?;
        let part = crop(cx, grid, &Value::Loc(start), &Value::Loc(dims))?;
        all.push(cx, part)?;
    }
    Ok(all.finish(cx)?)
}

/// What stands in the rows of a tuple, or comes first in the pairs of a set.
fn colours(element: &Value) -> Taken<Vec<Value>> {
    if is_tuple(element) {
        return Ok(rows(element)?.into_iter().flatten().collect());
    }
    let pairs = list(element)?;
    pairs.iter().map(|pair| Ok(unpack(pair)?.0)).collect()
}

fn background(grid: &Value) -> Taken {
    if let Value::Grid(grid) = grid
        && let Ok(colour) = colours::background(grid)
    {
        return Ok(Value::Int(colour.into()));
    }
    commonest(colours(grid)?, Ordering::Greater)
}

fn colorcount(element: &Value, value: &Value) -> Taken {
    if is_tuple(element) {
        // Only tuples can count.
        tuple_rows_of_tuples(element)?;
    }
    let count = colours(element)?.iter().filter(|c| *c == value).count();
    Ok(Value::Int(count as i32))
}

fn colorfilter(cx: &mut Context<'_>, objects: &Value, value: &Value) -> Taken {
    let mut kept = Vec::new();
    for object in list(objects)? {
        let first = elements(&object)?.value(0).ok_or(Refusal::Raises)?;
        if item(&first, 0)? == *value {
            kept.push(object);
        }
    }
    set_of(cx, kept)
}

/// The rows with each cell that equals one of the first replaced by what stands beside it.
fn recoloured(cx: &mut Context<'_>, grid: &Value, colours: &[(&Value, &Value)]) -> Taken {
    let colour = |cell: Value| match colours.iter().find(|(from, _)| **from == cell) {
        Some((_, to)) => (*to).clone(),
        None => cell,
    };
    let rows = rows(grid)?.into_iter();
    grid_of(cx, rows.map(|row| row.into_iter().map(colour).collect()))
}

fn cellwise(cx: &mut Context<'_>, a: &Value, b: &Value, fallback: &Value) -> Taken {
    let mut all = Vec::new();
    for (i, row) in cells(a)?.into_iter().enumerate() {
        let mut made = Vec::new();
        for (j, cell) in row.into_iter().enumerate() {
            let same = item(&item(b, i)?, j)? == cell;
            made.push(if same { cell } else { fallback.clone() });
        }
        all.push(made);
    }
    grid_of(cx, all)
}

fn index(grid: &Value, loc: &Value) -> Taken {
    let (i, j) = unpack(loc)?;
    let (height, width) = sides(grid)?;
    let (i, j) = (int(&i)?, int(&j)?);
    if !(0..height as i32).contains(&i) || !(0..width as i32).contains(&j) {
        return Ok(Value::Nothing);
    }
    tuple(loc)?;
    item(&item(grid, i as usize)?, j as usize)
}

/// Finds the objects of a grid of the ranks of its cells' values among all, and gives the cells of these objects
/// their values back: objects hold whatever a grid holds.
fn by_rank(
    cx: &mut Context<'_>,
    grid: &Value,
    [univalued, diagonal, without_bg]: [bool; 3],
) -> Taken {
    let cells = cells(grid)?;
    let mut values: Vec<Value> = cells.iter().flatten().cloned().collect();
    values.sort();
    values.dedup();
    // A grid holds so many colours.
    if values.len() > usize::from(i8::MAX as u8) {
        return Err(Refusal::Raises);
    }
    let rank = |cell: &Value| values.partition_point(|other| other < cell) as i8;
    // Cells past the width of the first row belong to no object, and count for the background.
    let below = if without_bg {
        Some(background(grid)?).filter(|below| values.contains(below))
    } else {
        None
    };
    let width = cells.first().map_or(0, Vec::len);
    let ranks = cells.iter().flatten().map(rank).collect();
    let ranked = Grid::from_cells(cells.len(), width, ranks);
    let background = below.as_ref().map(rank);
    let found = objects_on(cx, &ranked, univalued, diagonal, background)?;
    let mut objects = Vec::new();
    for object in elements(&found)?.iter() {
        let mut made = Vec::new();
        for cell in elements(&object)?.iter() {
            let (rank, loc) = unpack(&cell)?;
            made.push(Value::pair(&values[int(&rank)? as usize], &loc));
        }
        objects.push(Value::set(made));
    }
    set_of(cx, objects)
}

fn partition(cx: &mut Context<'_>, primitive: Primitive, grid: &Value) -> Taken {
    let rows = rows(grid)?;
    let mut values: Vec<Value> = colours(grid)?;
    values.sort();
    values.dedup();
    if primitive == Primitive::Fgpartition {
        let below = background(grid)?;
        values.retain(|value| *value != below);
    }
    let mut objects = Vec::new();
    for value in &values {
        let mut cells = Vec::new();
        for (i, row) in rows.iter().enumerate() {
            cx.work(row.len() as u64)?;
            let here = row.iter().enumerate().filter(|(_, cell)| *cell == value);
            cells.extend(here.map(|(j, cell)| Value::pair(cell, &location(i, j))));
        }
        objects.push(Value::set(cells));
    }
    set_of(cx, objects)
}

fn occurrences(cx: &mut Context<'_>, grid: &Value, object: &Value) -> Taken {
    let (height, width) = sides(grid)?;
    let normed = normalized(cx, object)?;
    let sides = shape(cx, object)?;
    let rows = (height as i64 + 1 - i64::from(sides.i)).max(0);
    let columns = (width as i64 + 1 - i64::from(sides.j)).max(0);
    if is_empty(object) || rows == 0 || columns == 0 {
        let all = (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j)));
        return set_of(cx, all.map(|(i, j)| location(i as usize, j as usize)));
    }
    let mut parts = Vec::new();
    for part in list(&normed)? {
        let (value, loc) = unpack(&part)?;
        let (i, j) = unpack(&loc)?;
        parts.push((value, int(&i)? as usize, int(&j)? as usize));
    }
    let cells = cells(grid)?;
    let mut found = Vec::new();
    for i in 0..rows as usize {
        for j in 0..columns as usize {
            cx.work(parts.len() as u64)?;
            let occurs = parts.iter().all(|(value, di, dj)| {
                let cell = cells.get(i + di).and_then(|row| row.get(j + dj));
                cell == Some(value)
            });
            if occurs {
                found.push(location(i, j));
            }
        }
    }
    set_of(cx, found)
}

/// Whether all are equal, and there is one.
fn is_uniform(values: &[Value]) -> bool {
    values.windows(2).all(|two| two[0] == two[1]) && !values.is_empty()
}

fn frontiers(cx: &mut Context<'_>, grid: &Value) -> Taken {
    let (height, width) = sides(grid)?;
    let all = rows(grid)?;
    let columns = transposed(&all);
    let mut lines = Vec::new();
    let cell = |i: usize, j: usize| {
        let cell = item(&item(grid, i)?, j)?;
        Ok(Value::pair(&cell, &location(i, j)))
    };
    for i in (0..height).filter(|&i| is_uniform(&all[i])) {
        lines.push((0..width).map(|j| cell(i, j)).collect::<Taken<Vec<_>>>()?);
    }
    for j in (0..columns.len()).filter(|&j| is_uniform(&columns[j])) {
        lines.push((0..height).map(|i| cell(i, j)).collect::<Taken<Vec<_>>>()?);
    }
    set_of(cx, lines.into_iter().map(Value::set))
}

fn compress(cx: &mut Context<'_>, grid: &Value) -> Taken {
    let all = rows(grid)?;
    let columns = if is_tuple(grid) {
        transposed(&all)
    } else {
        rows(&typed(cx, Primitive::Dmirror, &[grid])?)?
    };
    let uniform: Vec<bool> = columns.iter().map(|column| is_uniform(column)).collect();
    let kept = |j: usize| uniform.get(j) != Some(&true);
    let left = all.iter().filter(|row| !is_uniform(row)).map(|row| {
        let cells = row.iter().enumerate().filter(|(j, _)| kept(*j));
        cells.map(|(_, cell)| cell.clone()).collect()
    });
    grid_of(cx, left)
}

fn canvas(cx: &mut Context<'_>, value: &Value, dimensions: &Value) -> Taken {
    let height = int(&item(dimensions, 0)?)?;
    if height <= 0 {
        return Ok(Value::tuple(Vec::new()));
    }
    let size = Value::Loc(ints(dimensions)?);
    if value.as_int().is_some() {
        return typed(cx, Primitive::Canvas, &[value, &size]);
    }
    let width = ints(dimensions)?.j.max(0);
    let cells = u64::from(height.unsigned_abs()) * u64::from(width.unsigned_abs());
    cx.reserve_grid(
        u64::from(height.unsigned_abs()),
        u64::from(width.unsigned_abs()),
    )?;
    cx.reserve(cells.saturating_mul(u64::from(value.weight())))?;
    let row = vec![value.clone(); width as usize];
    grid_of(cx, vec![row; height as usize])
}

/// The locations of a patch in one colour.
fn filled(value: &Value, patch: &Value) -> Taken<Vec<Value>> {
    let indices = list(&to_indices(patch)?)?;
    Ok(indices
        .iter()
        .map(|index| Value::pair(value, index))
        .collect())
}

/// The rows of the grid with the cells on them, where `below` is if that is asked for.
fn painted(cx: &mut Context<'_>, grid: &Value, on: &[Value], below: Option<&Value>) -> Taken {
    let (height, width) = sides(grid)?;
    // What is no cell is found before anything is made.
    let mut cells = Vec::with_capacity(on.len());
    for cell in on {
        let (value, loc) = unpack(cell)?;
        let (i, j) = unpack(&loc)?;
        cells.push((value, int(&i)?, int(&j)?));
    }
    let mut all = rows(grid)?;
    for (value, i, j) in cells {
        if (0..height as i32).contains(&i) && (0..width as i32).contains(&j) {
            let place = all[i as usize].get_mut(j as usize);
            let place = place.ok_or(Refusal::Raises)?;
            if below.is_none_or(|below| place == below) {
                *place = value;
            }
        }
    }
    grid_of(cx, all)
}

fn cover(cx: &mut Context<'_>, grid: &Value, patch: &Value) -> Taken {
    let below = background(grid)?;
    let cells = filled(&below, &to_indices(patch)?)?;
    painted(cx, grid, &cells, None)
}

/// A patch whose colours are anything, mirrored.
fn mirrored(cx: &mut Context<'_>, primitive: Primitive, patch: &Value) -> Taken {
    let container = elements(patch)?;
    if container.is_empty() || !is_coloured(container)? {
        return Err(Refusal::Raises);
    }
    let indices = to_indices(patch)?;
    let upper = ints(&typed(cx, Primitive::Ulcorner, &[&indices])?)?;
    let lower = ints(&typed(cx, Primitive::Lrcorner, &[&indices])?)?;
    // Along the counterdiagonal the box lies as along the diagonal, from the upper right corner.
    moved(cx, patch, |_, i, j| {
        let (i, j) = (int(i)?, int(j)?);
        let there = match primitive {
            Primitive::Hmirror => Loc::new(upper.i + lower.i - i, j),
            Primitive::Vmirror => Loc::new(i, upper.j + lower.j - j),
            Primitive::Dmirror => Loc::new(j - upper.j + upper.i, i - upper.i + upper.j),
            _ => Loc::new(lower.j - j + upper.i, lower.i - i + upper.j),
        };
        Ok(Value::Loc(there))
    })
}

/// Every cell so many times below and beside itself.
fn scaled(cx: &mut Context<'_>, rows: &Rows, down: &Value, right: &Value) -> Taken {
    if rows.is_empty() {
        return Ok(Value::tuple(Vec::new()));
    }
    let mut all = cx.collector(ContainerKind::Tuple);
    for row in rows {
        let times = if row.is_empty() {
            0
        } else {
            int(right)?.max(0)
        };
        let weight: u64 = row.iter().map(|cell| u64::from(cell.weight())).sum();
        cx.reserve(weight.saturating_mul(u64::from(times.unsigned_abs())))?;
        let cells = row
            .iter()
            .flat_map(|cell| vec![cell.clone(); times as usize]);
        let wide = Value::tuple(cells.collect());
        for _ in 0..int(down)? {
            all.push(cx, wide.clone())?;
        }
    }
    Ok(all.finish(cx)?)
}

fn upscale_patch(cx: &mut Context<'_>, patch: &Value, factor: &Value) -> Taken {
    let container = elements(patch)?;
    if container.is_empty() {
        return Ok(Value::empty_set());
    }
    if !is_coloured(container)? {
        return Err(Refusal::Raises);
    }
    let corner = ints(&typed(cx, Primitive::Ulcorner, &[&to_indices(patch)?])?)?;
    let factor = i64::from(int(factor)?.max(0));
    cx.reserve((factor * factor) as u64 * container.len() as u64)?;
    let mut all = cx.collector(ContainerKind::Set);
    for element in container.iter() {
        let (value, loc) = unpack(&element)?;
        let (i, j) = unpack(&loc)?;
        let (i, j) = (int(&i)?, int(&j)?);
        for down in 0..factor as i32 {
            for right in 0..factor as i32 {
                let there = Loc::new(
                    (i - corner.i) * factor as i32 + down + corner.i,
                    (j - corner.j) * factor as i32 + right + corner.j,
                );
                all.push(cx, Value::pair(&value, &Value::Loc(there)))?;
            }
        }
    }
    Ok(all.finish(cx)?)
}

fn downscale(cx: &mut Context<'_>, grid: &Value, factor: &Value) -> Taken {
    let cells = cells(grid)?;
    let step = match int(factor)?.unsigned_abs() as usize {
        0 => return Err(Refusal::Raises),
        step => step,
    };
    let kept = cells.into_iter().step_by(step);
    grid_of(cx, kept.map(|row| row.into_iter().step_by(step).collect()))
}
