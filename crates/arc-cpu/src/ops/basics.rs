//! Conversions between representations, tuples and choices.

use super::rows::planes_of;
use crate::elements::Cursor;
use crate::kernel::kernels;
use crate::memory::Paint;
use crate::planes::Tile;
use arc_dsl::{Cell, Loc, MOST_ROUNDS};

kernels! {
    /// The argument itself.
    COPY |m, _, step| { Ok(m.get(step.a)) }

    /// A placeholder of any type: the value is never used.
    ABSENT |_, _, _| { Ok(Slot::default()) }

    /// The argument, nested lists of type number `immediate`, after a check of the number of their elements.
    COUNTED |m, code, step| { m.check_nested_elements(&code.types[step.immediate as usize], m.get(step.a)) }

    /// The code of a missing pair or integer.
    MISSING |_, _, _| { Ok(Slot::MISSING) }

    /// The reference fails here.
    FAILS |_, _, _| { Err(BailOut::Fails) }

    /// The reference fails here for want of an element.
    EMPTY |_, _, _| { Err(BailOut::Empty) }

    /// A value without a type here: only the reference can tell whether the call fails.
    UNTYPED |_, _, _| { Err(BailOut::Type) }

    /// The argument, which must not be missing.
    PRESENT |m, _, step| {
        let slot = m.get(step.a);
        if slot == Slot::MISSING { Err(BailOut::Type) } else { Ok(slot) }
    }

    /// The argument, a number of rounds that `power` takes.
    COUNT |m, _, step| {
        let slot = m.get(step.a);
        if (1..=MOST_ROUNDS).contains(&slot.int()) { Ok(slot) } else { Err(BailOut::Fails) }
    }

    /// The pair of two integers.
    PAIR |m, _, step| { Ok(Slot::of_loc(Loc::new(m.int(step.a), m.int(step.b)))) }

    /// The cell of a colour and a location.
    CELL |m, _, step| {
        Slot::of_cell(Cell::new(m.int(step.a), m.loc(step.b))).ok_or(BailOut::Number)
    }

    /// The tuple of the `immediate` slots from `a` on.
    TUPLE |m, _, step| {
        let from = usize::from(step.a);
        let to = from + step.immediate as usize;
        m.memory.lists.add(&m.slots[from..to])
    }

    /// The element number `immediate` of a tuple.
    ITEM |m, _, step| {
        m.list(step.a).get(step.immediate as usize).copied().ok_or(BailOut::Fails)
    }

    /// The row of a pair.
    ROW_OF_PAIR |m, _, step| { Ok(Slot::of_int(m.loc(step.a).i)) }

    /// The column of a pair.
    COLUMN_OF_PAIR |m, _, step| { Ok(Slot::of_int(m.loc(step.a).j)) }

    /// The colour of a cell.
    COLOUR_OF_CELL |m, _, step| { Ok(Slot::of_int(m.get(step.a).cell().colour)) }

    /// The location of a cell.
    LOC_OF_CELL |m, _, step| { Ok(Slot::of_loc(m.get(step.a).cell().loc)) }

    /// The tuple of a pair's components.
    LIST_OF_PAIR |m, _, step| {
        let loc = m.loc(step.a);
        m.memory.lists.add(&[Slot::of_int(loc.i), Slot::of_int(loc.j)])
    }

    /// The pair of a tuple of two integers.
    PAIR_OF_LIST |m, _, step| {
        match m.list(step.a) {
            [i, j] => Ok(Slot::of_loc(Loc::new(i.int(), j.int()))),
            _ => Err(BailOut::Type),
        }
    }

    /// The elements of a container as a list.
    LIST_OF_ELEMENTS |m, code, step| {
        let base = m.stack.len();
        let mut elements = Cursor::new(&m.memory, code.ty(step), m.get(step.a));
        while let Some(element) = elements.next(&mut m.memory)? {
            m.stack.push(element);
        }
        m.list_of_stack(base)
    }

    /// The elements of a set in the order of Python.
    IN_ORDER |m, code, step| { m.in_order(code, step.a, code.ty(step)) }

    /// The set of a list of pairs.
    INDICES_OF_LIST |m, _, step| {
        let base = m.stack.len();
        let pairs = m.memory.lists.get(m.slots[step.a as usize]);
        m.stack.extend_from_slice(pairs);
        m.indices_of_locs(base)
    }

    /// The set of a list of cells.
    OBJECT_OF_LIST |m, _, step| {
        let base = m.stack.len();
        let cells = m.memory.lists.get(m.slots[step.a as usize]);
        m.stack.extend_from_slice(cells);
        m.object_of_cells(base)
    }

    /// The patch, which must be an object.
    OBJECT_OF_PATCH |m, _, step| {
        let patch = m.patch(step.a);
        if patch.paint == Paint::None && !patch.is_empty() {
            return Err(BailOut::Type);
        }
        Ok(m.get(step.a))
    }

    /// The patch, which must be a set of locations.
    INDICES_OF_PATCH |m, _, step| {
        if m.patch(step.a).paint == Paint::None { Ok(m.get(step.a)) } else { Err(BailOut::Type) }
    }

    /// The grid of a list of rows, each a list of integers.
    GRID_OF_ROWS |m, _, step| {
        let rows = m.memory.lists.get(m.slots[step.a as usize]);
        let width = rows.first().map_or(0, |row| row.list().1);
        if rows.len() > 32 || width > 32 {
            return Err(BailOut::Grid);
        }
        let (_, tile) = m.memory.tiles.next()?;
        *tile = Tile { height: rows.len() as u32, width: width as u32, ..Tile::default() };
        for (i, row) in rows.iter().enumerate() {
            let row = m.memory.lists.get(*row);
            if row.len() != width {
                return Err(BailOut::Type);
            }
            let bits = planes_of(row)?;
            for (plane, bits) in tile.planes.iter_mut().zip(bits) {
                plane[i & 31] = bits;
            }
        }
        Ok(m.memory.tiles.commit())
    }

    /// The value of the first region if the argument is true, otherwise of the second.
    EITHER_REGION |m, code, step| {
        let region = code.region(step, usize::from(!m.get(step.a).bool()));
        m.region(code, &region)
    }

    /// The value of the region that the argument numbers, one of `immediate` regions.
    NUMBERED_REGION |m, code, step| {
        let at = m.int(step.a);
        if !(0..step.immediate as i32).contains(&at) {
            return Err(BailOut::Fails);
        }
        let region = code.region(step, at as usize);
        m.region(code, &region)
    }

    /// The second argument after the number of iterations of the region that the first gives.
    ITERATE |m, code, step| {
        let region = code.region(step, 0);
        let mut value = m.get(step.b);
        for _ in 0..m.int(step.a) {
            m.give(&region, 0, value);
            value = m.region(code, &region)?;
        }
        Ok(value)
    }
}
