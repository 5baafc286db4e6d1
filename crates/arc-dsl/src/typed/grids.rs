//! Grids, their objects and painting; and cells of this dialect as those of the public one.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::TypedPrimitive as T;
use super::patches::commonest;
use super::python::{
    NEGATIVE_INFINITY, RAISES, Taken, as_tuple, call, collected, elements, empty_tuple, equal, int,
    is_empty, is_empty_tuple, is_tuple, item, length, list, public, three, triple, two,
};
use crate::container::ContainerKind;
use crate::error::Kind;
use crate::interpreter::Context;
use crate::patch::Loc;
use crate::primitives::Primitive as P;
use crate::value::Value;

const TUPLE: ContainerKind = ContainerKind::Tuple;
const SET: ContainerKind = ContainerKind::Set;

/// Cells (row, column, colour) as the public dialect has them, in a container of the same kind.
pub(super) fn public_object(cx: &mut Context<'_>, cells: &Value) -> Taken {
    let kind = elements(cells)?.kind;
    collected(cx, kind, cells, |_, cell| {
        let (i, j, c) = three(cell)?;
        Ok(Some(Value::pair(&c, &Value::pair(&i, &j))))
    })
}

/// The cells of an object of the public dialect as this one has them.
pub(super) fn cells_of(cx: &mut Context<'_>, object: &Value) -> Taken {
    collected(cx, SET, object, |_, cell| {
        let (c, loc) = two(cell)?;
        let (i, j) = two(&loc)?;
        Ok(Some(triple(i, j, c)))
    })
}

/// The same of a set of objects.
fn objects_of(cx: &mut Context<'_>, objects: &Value) -> Taken {
    collected(cx, SET, objects, |cx, object| {
        cells_of(cx, object).map(Some)
    })
}

/// Where a patch lies, as a set of pairs of integers, which public primitives take.
pub(super) fn locs_of(cx: &mut Context<'_>, patch: &Value) -> Taken {
    let locations = call(cx, T::Toindices, &[patch])?;
    if matches!(locations, Value::Indices(_)) {
        return Ok(locations);
    }
    collected(cx, SET, &locations, |_, loc| {
        let (i, j) = two(loc)?;
        Ok(Some(Value::Loc(Loc::new(int(&i)?, int(&j)?))))
    })
}

pub(super) fn width_t(_: &mut Context<'_>, piece: &Value) -> Taken {
    if !piece.is_truthy() {
        return Ok(Value::Int(0));
    }
    Ok(Value::Int(length(&item(piece, 0)?)?))
}

pub(super) fn shape_t(cx: &mut Context<'_>, grid: &Value) -> Taken {
    let (height, width) = (
        call(cx, T::HeightT, &[grid])?,
        call(cx, T::WidthT, &[grid])?,
    );
    Ok(Value::pair(&height, &width))
}

pub(super) fn portrait_t(cx: &mut Context<'_>, grid: &Value) -> Taken {
    let (height, width) = (
        call(cx, T::HeightT, &[grid])?,
        call(cx, T::WidthT, &[grid])?,
    );
    Ok(Value::Bool(int(&height)? > int(&width)?))
}

pub(super) fn square_t(_: &mut Context<'_>, grid: &Value) -> Taken {
    Ok(Value::Bool(length(grid)? == length(&item(grid, 0)?)?))
}

/// Whether it is a tuple of tuples of integers.
fn is_grid(value: &Value) -> bool {
    let rows = match value {
        Value::Grid(_) => return true,
        _ if !is_tuple(value) => return false,
        _ => value.as_container(),
    };
    rows.is_some_and(|rows| {
        rows.iter().all(|row| {
            is_tuple(&row)
                && row
                    .as_container()
                    .is_some_and(|row| row.iter().all(|cell| cell.as_int().is_some()))
        })
    })
}

pub(super) fn is_no_grid(_: &mut Context<'_>, x: &Value) -> Taken {
    Ok(Value::Bool(!is_grid(x)))
}

/// All cells of a grid, row by row.
fn colours(grid: &Value) -> Taken<Vec<Value>> {
    let mut colours = Vec::new();
    for row in elements(grid)?.iter() {
        colours.extend(list(&row)?);
    }
    Ok(colours)
}

pub(super) fn palette_t(cx: &mut Context<'_>, element: &Value) -> Taken {
    let mut palette = cx.collector(SET);
    for colour in colours(element)? {
        palette.push(cx, colour)?;
    }
    palette.finish(cx)
}

pub(super) fn p_g(cx: &mut Context<'_>, grid: &Value) -> Taken {
    let palette = palette_t(cx, grid)?;
    public(cx, P::Totuple, &[&palette])
}

pub(super) fn numcolors_t(cx: &mut Context<'_>, grid: &Value) -> Taken {
    let palette = call(cx, T::PaletteT, &[grid])?;
    Ok(Value::Int(length(&palette)?))
}

pub(super) fn mostcolor_t(_: &mut Context<'_>, grid: &Value) -> Taken {
    commonest(colours(grid)?, Ordering::Greater)
}

pub(super) fn leastcolor_t(_: &mut Context<'_>, grid: &Value) -> Taken {
    commonest(colours(grid)?, Ordering::Less)
}

pub(super) fn colorcount_t(_: &mut Context<'_>, grid: &Value, color: &Value) -> Taken {
    let mut count = 0;
    for row in elements(grid)?.iter() {
        if !is_tuple(&row) {
            return Err(RAISES);
        }
        count += elements(&row)?.iter().filter(|c| **c == *color).count();
    }
    Ok(Value::Int(count as i32))
}

pub(super) fn asobject(cx: &mut Context<'_>, grid: &Value) -> Taken {
    if !is_grid(grid) {
        return Ok(Value::empty_set());
    }
    let object = public(cx, P::Asobject, &[grid])?;
    cells_of(cx, &object)
}

pub(super) fn index(_: &mut Context<'_>, grid: &Value, loc: &Value) -> Taken {
    if is_empty_tuple(loc) {
        return Ok(NEGATIVE_INFINITY);
    }
    let (i, j) = two(loc)?;
    let (height, width) = (length(grid)?, length(&item(grid, 0)?)?);
    // What is no finite number is off the grid, and what is no number at all raises.
    for (place, end) in [(&i, height), (&j, width)] {
        if place.kind() == Kind::NotFinite || !(0..end).contains(&int(place)?) {
            return Ok(NEGATIVE_INFINITY);
        }
    }
    item(&item(grid, int(&i)?)?, int(&j)?)
}

pub(super) fn hmirror_t(cx: &mut Context<'_>, grid: &Value) -> Taken {
    of_tuple(cx, P::Hmirror, grid)
}

pub(super) fn vmirror_t(cx: &mut Context<'_>, grid: &Value) -> Taken {
    let rows = as_tuple(cx, grid)?;
    public(cx, P::Vmirror, &[&rows])
}

pub(super) fn dmirror_t(cx: &mut Context<'_>, grid: &Value) -> Taken {
    let rows = as_tuple(cx, grid)?;
    public(cx, P::Dmirror, &[&rows])
}

pub(super) fn cmirror_t(cx: &mut Context<'_>, grid: &Value) -> Taken {
    of_tuple(cx, P::Cmirror, grid)
}

/// A public primitive of a tuple; of anything else it raises.
fn of_tuple(cx: &mut Context<'_>, primitive: P, grid: &Value) -> Taken {
    if !is_tuple(grid) {
        return Err(RAISES);
    }
    public(cx, primitive, &[grid])
}

pub(super) fn mir_rot_t(cx: &mut Context<'_>, grid: &Value, number: &Value) -> Taken {
    let turned = match number.as_int() {
        Some(0) => T::HmirrorT,
        Some(1) => T::DmirrorT,
        Some(2) => T::VmirrorT,
        Some(3) => T::CmirrorT,
        Some(4) => T::Rot90,
        Some(5) => T::Rot180,
        Some(6) => T::Rot270,
        _ => return Ok(grid.clone()),
    };
    call(cx, turned, &[grid])
}

pub(super) fn upscale_t(cx: &mut Context<'_>, grid: &Value, factor: &Value) -> Taken {
    let rows = as_tuple(cx, grid)?;
    public(cx, P::Upscale, &[&rows, factor])
}

pub(super) fn vconcat(cx: &mut Context<'_>, a: &Value, b: &Value) -> Taken {
    // Rows put together by the public primitive are a grid where they can be.
    match (a, b) {
        (Value::Grid(_), Value::Grid(_)) => public(cx, P::Vconcat, &[a, b]),
        _ => super::containers::combine_t(cx, a, b),
    }
}

pub(super) fn compress(cx: &mut Context<'_>, grid: &Value) -> Taken {
    let rows = as_tuple(cx, grid)?;
    public(cx, P::Compress, &[&rows])
}

pub(super) fn crop(cx: &mut Context<'_>, grid: &Value, start: &Value, dims: &Value) -> Taken {
    if is_empty_tuple(grid) {
        return Ok(empty_tuple());
    }
    let (height, width) = (length(grid)?, length(&item(grid, 0)?)?);
    let component = |pair: &Value, at: i32| int(&item(pair, at)?).map(i64::from);
    let fits = |at: i32, end: i32| -> Taken<bool> {
        let (first, end) = (component(start, at)?, i64::from(end));
        Ok((0..end).contains(&first) && first + component(dims, at)? <= end)
    };
    if fits(0, height)? && fits(1, width)? {
        return public(cx, P::Crop, &[grid, start, dims]);
    }
    Ok(empty_tuple())
}

pub(super) fn subgrid(cx: &mut Context<'_>, patch: &Value, grid: &Value) -> Taken {
    if is_empty(patch) {
        return Ok(empty_tuple());
    }
    let (start, dims) = (
        call(cx, T::Ulcorner, &[patch])?,
        call(cx, T::ShapeF, &[patch])?,
    );
    call(cx, T::Crop, &[grid, &start, &dims])
}

pub(super) fn hsplit(cx: &mut Context<'_>, grid: &Value, n: &Value) -> Taken {
    let (height, width) = (length(grid)?, length(&item(grid, 0)?)?);
    let (part, gap, count) = parts(width, n)?;
    split(cx, grid, count, |at| {
        ((0, at * (part + gap)), (height, part))
    })
}

pub(super) fn vsplit(cx: &mut Context<'_>, grid: &Value, n: &Value) -> Taken {
    let (height, width) = (length(grid)?, length(&item(grid, 0)?)?);
    let (part, gap, count) = parts(height, n)?;
    split(cx, grid, count, |at| {
        ((at * (part + gap), 0), (part, width))
    })
}

/// How long each of `n` parts of a side is, how many lines lie between two, and how many parts there
/// are.
fn parts(side: i32, n: &Value) -> Taken<(i32, i32, i32)> {
    let n = int(n)?;
    match n {
        0 => Err(RAISES),
        ..0 => Ok((0, 0, 0)),
        _ => Ok((side / n, i32::from(side % n != 0), n)),
    }
}

fn split(
    cx: &mut Context<'_>,
    grid: &Value,
    count: i32,
    part: impl Fn(i32) -> ((i32, i32), (i32, i32)),
) -> Taken {
    let mut parts = cx.collector(TUPLE);
    for at in 0..count {
        let ((i, j), (height, width)) = part(at);
        let start = Value::Loc(Loc::new(i, j));
        let dims = Value::Loc(Loc::new(height, width));
        let part = call(cx, T::Crop, &[grid, &start, &dims])?;
        parts.push(cx, part)?;
    }
    parts.finish(cx)
}

pub(super) fn cellwise(cx: &mut Context<'_>, a: &Value, b: &Value, fallback: &Value) -> Taken {
    let (height, width) = (length(a)?, length(&item(a, 0)?)?);
    let mut rows = cx.collector(TUPLE);
    for i in 0..height {
        let row = item(a, i)?;
        let mut cells = cx.collector(TUPLE);
        for j in 0..width {
            let own = item(&row, j)?;
            let other = call(cx, T::Index, &[b, &Value::Loc(Loc::new(i, j))])?;
            let cell = if equal(&own, &other) {
                own
            } else {
                fallback.clone()
            };
            cells.push(cx, cell)?;
        }
        let row = cells.finish(cx)?;
        rows.push(cx, row)?;
    }
    rows.finish(cx)
}

pub(super) fn objects(
    cx: &mut Context<'_>,
    grid: &Value,
    univalued: &Value,
    diagonal: &Value,
    without_bg: &Value,
) -> Taken {
    if is_empty_tuple(grid) {
        return Ok(Value::empty_set());
    }
    let objects = public(cx, P::Objects, &[grid, univalued, diagonal, without_bg])?;
    objects_of(cx, &objects)
}

pub(super) fn objects_t(
    cx: &mut Context<'_>,
    grid: &Value,
    univalued: &Value,
    diagonal: &Value,
    without_bg: &Value,
) -> Taken {
    if is_empty_tuple(grid) {
        return Ok(empty_tuple());
    }
    let (height, width) = (length(grid)?, length(&item(grid, 0)?)?);
    let mut rows = Vec::new();
    for i in 0..height {
        let row = list(&item(grid, i)?)?;
        // A shorter row has no colour where Python asks for one.
        if !is_tuple(&item(grid, i)?) || (row.len() as i32) < width {
            return Err(RAISES);
        }
        rows.push(row);
    }
    let background = match without_bg.is_truthy() {
        true => call(cx, T::MostcolorT, &[grid])?,
        false => Value::Nothing,
    };
    let flood = Flood {
        rows,
        height,
        width,
        univalued: univalued.is_truthy(),
        diagonal: diagonal.is_truthy(),
        background,
    };
    flood.objects(cx)
}

/// The objects of a grid as tuples of cells.
struct Flood {
    rows: Vec<Vec<Value>>,
    height: i32,
    width: i32,
    univalued: bool,
    diagonal: bool,
    background: Value,
}

impl Flood {
    fn colour(&self, loc: Loc) -> &Value {
        &self.rows[loc.i as usize][loc.j as usize]
    }

    fn cell(&self, loc: Loc) -> Value {
        triple(
            Value::Int(loc.i),
            Value::Int(loc.j),
            self.colour(loc).clone(),
        )
    }

    /// Objects in the order of their first cells, the cells of each wave in order.
    fn objects(&self, cx: &mut Context<'_>) -> Taken {
        let mut occupied = vec![false; (self.height * self.width) as usize];
        let at = |loc: Loc| (loc.i * self.width + loc.j) as usize;
        let mut objects = cx.collector(TUPLE);
        for i in 0..self.height {
            for j in 0..self.width {
                let start = Loc::new(i, j);
                let colour = self.colour(start);
                if occupied[at(start)] || equal(colour, &self.background) {
                    continue;
                }
                let mut object = cx.collector(TUPLE);
                let mut wave = BTreeSet::from([start]);
                while !wave.is_empty() {
                    cx.work(8 * wave.len() as u64)?;
                    let mut beside = BTreeSet::new();
                    for &loc in &wave {
                        let belongs = match self.univalued {
                            true => equal(colour, self.colour(loc)),
                            false => !equal(self.colour(loc), &self.background),
                        };
                        if belongs {
                            object.push(cx, self.cell(loc))?;
                            occupied[at(loc)] = true;
                            beside.extend(self.neighbours(loc));
                        }
                    }
                    beside.retain(|&loc| !occupied[at(loc)]);
                    wave = beside;
                }
                let object = object.finish(cx)?;
                objects.push(cx, object)?;
            }
        }
        objects.finish(cx)
    }

    fn neighbours(&self, loc: Loc) -> impl Iterator<Item = Loc> + '_ {
        (-1..=1)
            .flat_map(|i| (-1..=1).map(move |j| (i, j)))
            .filter(move |&(i, j)| (i, j) != (0, 0) && (self.diagonal || i == 0 || j == 0))
            .map(move |(i, j)| Loc::new(loc.i + i, loc.j + j))
            .filter(|loc| (0..self.height).contains(&loc.i) && (0..self.width).contains(&loc.j))
    }
}

pub(super) fn o_g(cx: &mut Context<'_>, grid: &Value, number: &Value) -> Taken {
    by_bits(cx, T::Objects, grid, number)
}

pub(super) fn o_g_t(cx: &mut Context<'_>, grid: &Value, number: &Value) -> Taken {
    by_bits(cx, T::ObjectsT, grid, number)
}

/// The objects with flags by number.
fn by_bits(cx: &mut Context<'_>, objects: T, grid: &Value, number: &Value) -> Taken {
    let Some(number @ 0..=7) = number.as_int() else {
        return Ok(Value::Nothing);
    };
    let [univalued, diagonal, without_bg] = [4, 2, 1].map(|bit| Value::Bool(number & bit != 0));
    call(cx, objects, &[grid, &univalued, &diagonal, &without_bg])
}

pub(super) fn partition(cx: &mut Context<'_>, grid: &Value) -> Taken {
    let rows = as_tuple(cx, grid)?;
    let objects = public(cx, P::Partition, &[&rows])?;
    objects_of(cx, &objects)
}

pub(super) fn fgpartition(cx: &mut Context<'_>, grid: &Value) -> Taken {
    let rows = as_tuple(cx, grid)?;
    let objects = public(cx, P::Fgpartition, &[&rows])?;
    objects_of(cx, &objects)
}

pub(super) fn frontiers(cx: &mut Context<'_>, grid: &Value) -> Taken {
    let objects = public(cx, P::Frontiers, &[grid])?;
    objects_of(cx, &objects)
}

pub(super) fn occurrences(cx: &mut Context<'_>, grid: &Value, obj: &Value) -> Taken {
    let normalized = call(cx, T::Normalize, &[obj])?;
    // What cannot be moved becomes nothing when it is, and that occurs everywhere.
    let moved = call(cx, T::Shift, &[&normalized, &Value::Loc(Loc::new(0, 0))])?;
    if !is_empty(&moved) {
        let object = public_object(cx, &moved)?;
        return public(cx, P::Occurrences, &[grid, &object]);
    }
    let (height, width) = (length(grid)?, length(&item(grid, 0)?)?);
    let (rows, columns) = two(&call(cx, T::ShapeF, &[obj])?)?;
    let (rows, columns) = (height - int(&rows)? + 1, width - int(&columns)? + 1);
    let mut all = cx.collector(SET);
    for i in 0..rows {
        for j in 0..columns {
            all.push(cx, Value::Loc(Loc::new(i, j)))?;
        }
    }
    all.finish(cx)
}

pub(super) fn toobject(cx: &mut Context<'_>, patch: &Value, grid: &Value) -> Taken {
    let locs = locs_of(cx, patch)?;
    let object = public(cx, P::Toobject, &[&locs, grid])?;
    cells_of(cx, &object)
}

pub(super) fn fill(cx: &mut Context<'_>, grid: &Value, color: &Value, patch: &Value) -> Taken {
    let locs = locs_of(cx, patch)?;
    public(cx, P::Fill, &[grid, color, &locs])
}

pub(super) fn underfill(cx: &mut Context<'_>, grid: &Value, color: &Value, patch: &Value) -> Taken {
    let locs = locs_of(cx, patch)?;
    // Without a cell there is no background, and none to be filled.
    let primitive = match call(cx, T::MostcolorT, &[grid])?.is_nan() {
        true => P::Fill,
        false => P::Underfill,
    };
    public(cx, primitive, &[grid, color, &locs])
}

pub(super) fn paint(cx: &mut Context<'_>, grid: &Value, obj: &Value) -> Taken {
    let object = public_object(cx, obj)?;
    public(cx, P::Paint, &[grid, &object])
}

pub(super) fn underpaint(cx: &mut Context<'_>, grid: &Value, obj: &Value) -> Taken {
    let object = public_object(cx, obj)?;
    let primitive = match call(cx, T::MostcolorT, &[grid])?.is_nan() {
        true => P::Paint,
        false => P::Underpaint,
    };
    public(cx, primitive, &[grid, &object])
}

pub(super) fn cover(cx: &mut Context<'_>, grid: &Value, patch: &Value) -> Taken {
    let (color, locations) = (
        call(cx, T::MostcolorT, &[grid])?,
        call(cx, T::Toindices, &[patch])?,
    );
    call(cx, T::Fill, &[grid, &color, &locations])
}

pub(super) fn r#move(cx: &mut Context<'_>, grid: &Value, obj: &Value, offset: &Value) -> Taken {
    let (covered, moved) = (
        call(cx, T::Cover, &[grid, obj])?,
        call(cx, T::Shift, &[obj, offset])?,
    );
    call(cx, T::Paint, &[&covered, &moved])
}
