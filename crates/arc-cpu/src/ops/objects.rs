//! Objects of grids, their colours, and objects mirrored and scaled.

#![allow(
    clippy::inline_always,
    reason = "only what is inlined is compiled for the vectors of its caller"
)]

use super::Selection;
use crate::bail_out::BailOut;
use crate::exact::End;
use crate::kernel::kernels;
use crate::machine::Machine;
use crate::memory::{Paint, Patch};
use crate::planes::object::in_order;
use crate::planes::{
    Misfit, Object, Shape, Tile, Window, code_of, colour_of, colours, components, mirrors,
    patterns, scaling, transforms,
};
use crate::slot::At;
use crate::slot::Slot;
use arc_dsl::{ContainerKind, Primitive};
use arc_form::Type;

/// The object of a slot.
#[inline(always)]
fn object_of(m: &Machine, at: At) -> Object<'_> {
    m.memory.object(&m.patch(at))
}

/// The slot of a colour.
#[inline(always)]
fn colour(code: u32) -> Slot {
    Slot::of_int(colour_of(code))
}

/// The objects of a grid.
#[inline(always)]
fn objects(
    m: &mut Machine,
    grid: At,
    univalued: bool,
    diagonal: bool,
    without_bg: bool,
) -> Result<Slot, BailOut> {
    let base = m.stack.len();
    let slot = m.get(grid);
    let Machine { memory, stack, .. } = &mut *m;
    let tile = memory.tiles.get(slot);
    if tile.height == 0 {
        return Err(BailOut::Empty);
    }
    let (without, palette) = if without_bg {
        let (code, palette) = colours::background(tile).ok_or(BailOut::Empty)?;
        (Some(code), palette)
    } else {
        (None, colours::palette(tile))
    };
    let many = Paint::Tile {
        tile: slot.index() as u32,
        i: 0,
        j: 0,
    };
    components::objects(
        tile,
        univalued,
        diagonal,
        palette,
        without,
        #[inline(always)]
        |shape, code| {
            let one = univalued || (shape.width == 1 && shape.rows.len() == 1);
            let paint = if one { Paint::One(code) } else { many };
            stack.push(memory.patches.store(shape, paint)?);
            Ok::<_, BailOut>(())
        },
    )?;
    m.list_of_stack(base)
}

/// The cells of a grid by colour.
#[inline(always)]
fn partition(m: &mut Machine, grid: At, foreground: bool) -> Result<Slot, BailOut> {
    let base = m.stack.len();
    let slot = m.get(grid);
    let Machine { memory, stack, .. } = &mut *m;
    let tile = memory.tiles.get(slot);
    let (without, palette) = if foreground {
        let (code, palette) = colours::background(tile).ok_or(BailOut::Empty)?;
        (Some(code), palette)
    } else {
        (None, colours::palette(tile))
    };
    components::partition(tile, palette, without, |shape, code| {
        stack.push(memory.patches.store(shape, Paint::One(code))?);
        Ok::<_, BailOut>(())
    })?;
    m.list_of_stack(base)
}

/// A patch mirrored together with its colours.
#[inline(always)]
fn mirrored(
    m: &mut Machine,
    at: At,
    shape: impl FnOnce(Shape<'_>, &mut Window) -> Result<(), Misfit>,
    tile: impl FnOnce(&Tile, &mut Tile),
) -> Result<Slot, BailOut> {
    let patch = m.patch(at);
    if patch.is_empty() {
        return Err(BailOut::Empty);
    }
    changed(
        m,
        &patch,
        shape,
        #[inline(always)]
        |from, to| {
            tile(from, to);
            Ok(())
        },
    )
}

/// A patch that keeps its position, with the same change to its shape and its colours.
#[inline(always)]
fn changed(
    m: &mut Machine,
    patch: &Patch,
    shape: impl FnOnce(Shape<'_>, &mut Window) -> Result<(), Misfit>,
    tile: impl FnOnce(&Tile, &mut Tile) -> Result<(), Misfit>,
) -> Result<Slot, BailOut> {
    let paint = match patch.paint {
        Paint::Tile { .. } => {
            let mut own = Tile::default();
            m.memory.object(patch).tile(&mut own)?;
            let (_, to) = m.memory.tiles.next()?;
            tile(&own, to)?;
            Paint::Tile {
                tile: m.memory.tiles.commit().index() as u32,
                i: patch.i,
                j: patch.j,
            }
        }
        paint => paint,
    };
    shape(m.memory.patches.shape(patch), &mut m.window)?;
    m.memory.patches.store_window(&mut m.window, paint)
}

kernels! {
    fn by_row;

    /// The objects of a grid, with the flags univalued, diagonal, and without the background.
    OBJECTS for Objects(Grid, Int, Int, Int) |m, _, step| {
        let [univalued, diagonal, without_bg] = [step.b, step.c, step.d].map(|at| m.get(at).bool());
        objects(m, step.a, univalued, diagonal, without_bg)
    }

    /// One object per colour.
    PARTITION for Partition(Grid) |m, _, step| { partition(m, step.a, false) }

    /// One object per colour except the background.
    FGPARTITION for Fgpartition(Grid) |m, _, step| { partition(m, step.a, true) }

    /// The locations of a grid at which an object occurs.
    OCCURRENCES for Occurrences(Grid, Object) |m, _, step| {
        let patch = m.patch(step.b);
        let Machine { memory, window, slots, .. } = &mut *m;
        let tile = memory.tiles.get(slots[step.a as usize]);
        if tile.height == 0 {
            return Err(BailOut::Empty);
        }
        patterns::occurrences(tile, &memory.object(&patch), window)?;
        m.store_window()
    }

    /// The rows and the columns that have a single colour.
    FRONTIERS for Frontiers(Grid) |m, _, step| {
        let base = m.stack.len();
        let Machine { memory, stack, slots, .. } = &mut *m;
        let tile = memory.tiles.get(slots[step.a as usize]);
        if tile.height == 0 {
            return Err(BailOut::Empty);
        }
        patterns::frontiers(tile, #[inline(always)] |shape, code| {
            stack.push(memory.patches.store(shape, Paint::One(code))?);
            Ok::<_, BailOut>(())
        })?;
        m.list_of_stack(base)
    }

    /// The number of columns after which an object repeats.
    HPERIOD for Hperiod(Object) |m, _, step| { Ok(Slot::of_int(patterns::hperiod(&object_of(m, step.a)) as i32)) }

    /// The number of rows after which an object repeats.
    VPERIOD for Vperiod(Object) |m, _, step| { Ok(Slot::of_int(patterns::vperiod(&object_of(m, step.a)) as i32)) }

    /// The colour of an object's first cell.
    COLOR for Color(Object) |m, code, step| {
        let palette = object_of(m, step.a).palette();
        if palette.is_power_of_two() {
            return Ok(colour(palette.trailing_zeros()));
        }
        let base = m.stack.len();
        m.stack.extend(in_order(palette).map(colour));
        let open = m.leave_open(base..m.stack.len());
        m.stack.truncate(base);
        if open == BailOut::Choice {
            return Err(open);
        }
        let first = m.end_of_set(code, step.a, &Type::Object, End::First)?;
        Ok(Slot::of_int(first.cell().colour))
    }

    /// The colours of an object, ascending.
    PALETTE for Palette(Object) |m, _, step| {
        let codes = object_of(m, step.a).palette();
        m.memory.lists.collect(in_order(codes).map(colour))
    }

    /// How many colours an object has.
    NUMCOLORS for Numcolors(Object) |m, _, step| { Ok(Slot::of_int(object_of(m, step.a).numcolors() as i32)) }

    /// The most common colour of an object.
    MOSTCOLOR for Mostcolor(Object) |m, _, step| {
        object_of(m, step.a).mostcolor()?.map(colour).ok_or(BailOut::Empty)
    }

    /// The least common colour of an object.
    LEASTCOLOR for Leastcolor(Object) |m, _, step| {
        object_of(m, step.a).leastcolor()?.map(colour).ok_or(BailOut::Empty)
    }

    /// How many cells of an object have a colour.
    COLORCOUNT for Colorcount(Object, Int) |m, _, step| {
        let Ok(code) = code_of(m.int(step.b)) else {
            return Ok(Slot::of_int(0));
        };
        Ok(Slot::of_int(object_of(m, step.a).colorcount(code) as i32))
    }

    /// A patch mirrored top to bottom.
    HMIRROR for Hmirror(Patch) |m, _, step| { mirrored(m, step.a, mirrors::hmirror, transforms::hmirror) }

    /// A patch mirrored left to right.
    VMIRROR for Vmirror(Patch) |m, _, step| { mirrored(m, step.a, mirrors::vmirror, transforms::vmirror) }

    /// A patch mirrored along the diagonal.
    DMIRROR for Dmirror(Patch) |m, _, step| { mirrored(m, step.a, mirrors::dmirror, transforms::dmirror) }

    /// A patch mirrored along the other diagonal.
    CMIRROR for Cmirror(Patch) |m, _, step| { mirrored(m, step.a, mirrors::cmirror, transforms::cmirror) }

    /// An object with a square in place of each cell.
    UPSCALE for Upscale(Object, Int) |m, _, step| {
        let (patch, factor) = (m.patch(step.a), m.int(step.b));
        if patch.is_empty() || factor <= 0 {
            return Ok(Slot::default());
        }
        changed(
            m,
            &patch,
            #[inline(always)]
            |shape, window| mirrors::upscale(shape, factor, window),
            #[inline(always)]
            |tile, to| scaling::upscale(tile, factor, to),
        )
    }

    /// An object of the locations of a patch, all in one colour.
    RECOLOR for Recolor(Int, Patch) |m, _, step| {
        let patch = m.patch(step.b);
        if patch.is_empty() {
            return Ok(Slot::default());
        }
        let paint = Paint::One(code_of(m.int(step.a))?);
        m.memory.patches.add(Patch { paint, ..patch })
    }

    /// The cells of a grid at the locations of a patch.
    TOOBJECT for Toobject(Patch, Grid) |m, _, step| {
        let (patch, grid) = (m.patch(step.a), m.get(step.b));
        let Machine { memory, window, .. } = &mut *m;
        let tile = memory.tiles.get(grid);
        if tile.height == 0 {
            return Err(BailOut::Empty);
        }
        let paint = Paint::Tile { tile: grid.index() as u32, i: 0, j: 0 };
        let inside = |from: i32, size: u16, all: u32| {
            from >= 0 && i64::from(from) + i64::from(size) <= i64::from(all)
        };
        if inside(patch.i, patch.height, tile.height) && inside(patch.j, patch.width, tile.width) {
            return memory.patches.add(Patch { paint, ..patch });
        }
        window.take(&memory.patches.shape(&patch).clipped(tile.height, tile.width));
        memory.patches.store_window(window, paint)
    }

    /// All cells of a grid.
    ASOBJECT for Asobject(Grid) |m, _, step| {
        let grid = m.get(step.a);
        let Machine { memory, window, .. } = &mut *m;
        let tile = memory.tiles.get(grid);
        let (height, columns) = (tile.height as usize & 63, u64::from(tile.columns()));
        if height == 0 || columns == 0 {
            return Ok(Slot::default());
        }
        window.rows[..height].fill(columns);
        let shape = Shape { i: 0, j: 0, width: tile.width, rows: &window.rows[..height] };
        let first = tile.code(0, 0);
        let paint = if tile.of_code(first) == tile.bits() {
            Paint::One(first)
        } else {
            Paint::Tile { tile: grid.index() as u32, i: 0, j: 0 }
        };
        memory.patches.store(shape, paint)
    }
}

/// The kernel for a primitive of objects, or of an object where other arguments are possible.
pub(super) fn select(primitive: Primitive, arguments: &[Type]) -> Option<Selection> {
    use Primitive as P;
    // Primitives of objects and mirrors also accept sets of locations, whose rows the reference then takes for
    // colours, and tuples in their own order: these cases are left to the reference.
    let a = arguments.first()?;
    let is_set = a.container() == Some(ContainerKind::Set) && a.join(&Type::Patch).is_some();
    let is_left = match primitive {
        P::Hmirror | P::Vmirror | P::Dmirror | P::Cmirror => !is_set,
        P::Upscale
        | P::Hperiod
        | P::Vperiod
        | P::Color
        | P::Palette
        | P::Numcolors
        | P::Mostcolor
        | P::Leastcolor
        | P::Colorcount => !is_set || *a == Type::Indices,
        _ => false,
    };
    by_row(primitive).filter(|_| !is_left)
}

#[cfg(test)]
mod tests {
    use crate::ops::testing::check_text;

    /// With grids: their objects share rows and colours with each other and with the grid.
    #[test]
    fn programs_of_objects_agree_with_the_reference() {
        for body in [
            "x1 = objects(I, T, F, T)\n    x2 = order(x1, size)\n    O = first(x2)",
            "x1 = objects(I, F, T, T)\n    x2 = apply(dmirror, x1)\n    O = order(x2, identity)",
            "x1 = objects(I, F, F, F)\n    x2 = first(x1)\n    x3 = cmirror(x2)\n    O = upscale(x3, TWO)",
            "x1 = partition(I)\n    x2 = rbind(shift, UNITY)\n    O = mapply(x2, x1)",
            "x1 = fgpartition(I)\n    x2 = mapply(vmirror, x1)\n    O = palette(x2)",
            "x1 = asobject(I)\n    x2 = hmirror(x1)\n    x3 = intersection(x1, x2)\n    x4 = difference(x1, x2)\n    O = astuple(x3, x4)",
            "x1 = frontiers(I)\n    x2 = colorfilter(x1, ZERO)\n    O = astuple(x1, x2)",
            "x1 = objects(I, T, T, F)\n    x2 = lbind(occurrences, I)\n    O = apply(x2, x1)",
            "x1 = objects(I, T, T, T)\n    x2 = compose(neighbors, center)\n    x3 = rbind(toobject, I)\n    x4 = rbind(colorcount, ZERO)\n    x5 = chain(x4, x3, x2)\n    x6 = rbind(colorcount, THREE)\n    x7 = chain(x6, x3, outbox)\n    x8 = apply(x5, x1)\n    x9 = apply(x7, x1)\n    O = astuple(x8, x9)",
            "x1 = asobject(I)\n    x2 = hperiod(x1)\n    x3 = vperiod(x1)\n    O = astuple(x2, x3)",
        ] {
            let text = format!("def f(I):\n    {body}\n    return O\n");
            let answered = check_text(&text, 5, 60);
            assert!(answered > 45, "{text}{answered}");
        }
    }
}
