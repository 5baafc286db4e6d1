//! Objects of a grid, and painting; converts cells between this dialect and the public one.

use std::collections::BTreeSet;

use arc_isa::{ContainerKind, Primitive as P};

use super::TypedPrimitive as T;
use super::python::{
    PythonResult, Refusal, as_tuple, call, collected, elements, equal, int, is_empty,
    is_empty_tuple, is_tuple, item, length, list, public, three, triple, two,
};
use crate::budget::Context;
use crate::patch::Loc;
use crate::value::Value;

const TUPLE: ContainerKind = ContainerKind::Tuple;
const SET: ContainerKind = ContainerKind::Set;

/// Converts cells (row, column, colour) to the public dialect, in a container of the same kind.
pub(super) fn public_object(cx: &mut Context<'_>, cells: &Value) -> PythonResult {
    let kind = elements(cells)?.kind;
    collected(cx, kind, cells, |_, cell| {
        let (i, j, c) = three(cell)?;
        Ok(Some(Value::pair(&c, &Value::pair(&i, &j))))
    })
}

/// Converts the cells of an object of the public dialect to this one.
pub(super) fn cells_of(cx: &mut Context<'_>, object: &Value) -> PythonResult {
    collected(cx, SET, object, |_, cell| {
        let (c, loc) = two(cell)?;
        let (i, j) = two(&loc)?;
        Ok(Some(triple(i, j, c)))
    })
}

/// The same for a set of objects.
fn objects_of(cx: &mut Context<'_>, objects: &Value) -> PythonResult {
    collected(cx, SET, objects, |cx, object| {
        cells_of(cx, object).map(Some)
    })
}

/// The locations of a patch, as a set of pairs of integers, which public primitives accept.
pub(super) fn locs_of(cx: &mut Context<'_>, patch: &Value) -> PythonResult {
    let locations = call(cx, T::Toindices, &[patch])?;
    if matches!(locations, Value::Indices(_)) {
        return Ok(locations);
    }
    collected(cx, SET, &locations, |_, loc| {
        let (i, j) = two(loc)?;
        Ok(Some(Value::Loc(Loc::new(int(&i)?, int(&j)?))))
    })
}

pub(super) fn objects(
    cx: &mut Context<'_>,
    grid: &Value,
    univalued: &Value,
    diagonal: &Value,
    without_bg: &Value,
) -> PythonResult {
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
) -> PythonResult {
    let (height, width) = (length(grid)?, length(&item(grid, 0)?)?);
    let mut rows = Vec::new();
    for i in 0..height {
        let row = list(&item(grid, i)?)?;
        // Python raises an exception when it looks up a colour in a shorter row.
        if !is_tuple(&item(grid, i)?) || (row.len() as i32) < width {
            return Err(Refusal::Raises);
        }
        rows.push(row);
    }
    let background = if without_bg.is_truthy() {
        call(cx, T::MostcolorT, &[grid])?
    } else {
        Value::Nothing
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

    /// The objects in the order of their first cells; each object's cells are in the order of the flood fill, wave by
    /// wave.
    fn objects(&self, cx: &mut Context<'_>) -> PythonResult {
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
                        let belongs = if self.univalued {
                            equal(colour, self.colour(loc))
                        } else {
                            !equal(self.colour(loc), &self.background)
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
        Ok(objects.finish(cx)?)
    }

    fn neighbours(&self, loc: Loc) -> impl Iterator<Item = Loc> + '_ {
        (-1..=1)
            .flat_map(|i| (-1..=1).map(move |j| (i, j)))
            .filter(move |&(i, j)| (i, j) != (0, 0) && (self.diagonal || i == 0 || j == 0))
            .map(move |(i, j)| Loc::new(loc.i + i, loc.j + j))
            .filter(|loc| (0..self.height).contains(&loc.i) && (0..self.width).contains(&loc.j))
    }
}

pub(super) fn o_g(cx: &mut Context<'_>, grid: &Value, number: &Value) -> PythonResult {
    by_bits(cx, T::Objects, grid, number)
}

pub(super) fn o_g_t(cx: &mut Context<'_>, grid: &Value, number: &Value) -> PythonResult {
    by_bits(cx, T::ObjectsT, grid, number)
}

/// The objects, with the bits of `number` as flags.
fn by_bits(cx: &mut Context<'_>, objects: T, grid: &Value, number: &Value) -> PythonResult {
    let Some(number @ 0..=7) = number.as_int() else {
        return Ok(Value::Nothing);
    };
    let [univalued, diagonal, without_bg] = [4, 2, 1].map(|bit| Value::Bool(number & bit != 0));
    call(cx, objects, &[grid, &univalued, &diagonal, &without_bg])
}

pub(super) fn partition(cx: &mut Context<'_>, grid: &Value) -> PythonResult {
    let rows = as_tuple(cx, grid)?;
    let objects = public(cx, P::Partition, &[&rows])?;
    objects_of(cx, &objects)
}

pub(super) fn fgpartition(cx: &mut Context<'_>, grid: &Value) -> PythonResult {
    let rows = as_tuple(cx, grid)?;
    let objects = public(cx, P::Fgpartition, &[&rows])?;
    objects_of(cx, &objects)
}

pub(super) fn frontiers(cx: &mut Context<'_>, grid: &Value) -> PythonResult {
    let objects = public(cx, P::Frontiers, &[grid])?;
    objects_of(cx, &objects)
}

pub(super) fn occurrences(cx: &mut Context<'_>, grid: &Value, obj: &Value) -> PythonResult {
    let normalized = call(cx, T::Normalize, &[obj])?;
    // An object that cannot be moved becomes empty, and an empty object occurs everywhere.
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
    Ok(all.finish(cx)?)
}

pub(super) fn toobject(cx: &mut Context<'_>, patch: &Value, grid: &Value) -> PythonResult {
    let locs = locs_of(cx, patch)?;
    let object = public(cx, P::Toobject, &[&locs, grid])?;
    cells_of(cx, &object)
}

pub(super) fn fill(
    cx: &mut Context<'_>,
    grid: &Value,
    color: &Value,
    patch: &Value,
) -> PythonResult {
    let locs = locs_of(cx, patch)?;
    public(cx, P::Fill, &[grid, color, &locs])
}

pub(super) fn underfill(
    cx: &mut Context<'_>,
    grid: &Value,
    color: &Value,
    patch: &Value,
) -> PythonResult {
    let locs = locs_of(cx, patch)?;
    // A grid without cells has no background, and no cells to fill.
    let primitive = if call(cx, T::MostcolorT, &[grid])?.is_nan() {
        P::Fill
    } else {
        P::Underfill
    };
    public(cx, primitive, &[grid, color, &locs])
}

pub(super) fn paint(cx: &mut Context<'_>, grid: &Value, obj: &Value) -> PythonResult {
    let object = public_object(cx, obj)?;
    public(cx, P::Paint, &[grid, &object])
}

pub(super) fn underpaint(cx: &mut Context<'_>, grid: &Value, obj: &Value) -> PythonResult {
    let object = public_object(cx, obj)?;
    let primitive = if call(cx, T::MostcolorT, &[grid])?.is_nan() {
        P::Paint
    } else {
        P::Underpaint
    };
    public(cx, primitive, &[grid, &object])
}

pub(super) fn cover(cx: &mut Context<'_>, grid: &Value, patch: &Value) -> PythonResult {
    let (color, locations) = (
        call(cx, T::MostcolorT, &[grid])?,
        call(cx, T::Toindices, &[patch])?,
    );
    call(cx, T::Fill, &[grid, &color, &locations])
}

pub(super) fn r#move(
    cx: &mut Context<'_>,
    grid: &Value,
    obj: &Value,
    offset: &Value,
) -> PythonResult {
    let (covered, moved) = (
        call(cx, T::Cover, &[grid, obj])?,
        call(cx, T::Shift, &[obj, offset])?,
    );
    call(cx, T::Paint, &[&covered, &moved])
}
