//! The operations of the compiled path, by family; which kernel does what for which types.
//!
//! A family's module has its [`kernels!`](super::kernel) and a `select`, which returns the kernel for a
//! primitive with arguments of these types and the type that it needs of each, or `None` if planes have no
//! kernel: the reference then runs the program. A kernel reads its arguments, already converted, from the slots
//! `step.a` to `step.d`, and returns the slot of its result, of the instruction's type. It writes the result to
//! the machine's memory:
//!
//! - a grid: `m.make_tile(step.a, |from, to| ..)`, or `m.memory.tiles.next()?` and `commit()`;
//! - a patch: built in `m.window`, then stored by `m.store_window()` for locations, or by
//!   `m.memory.patches.store_window(&mut m.window, paint)` with colours. A patch that is only moved or
//!   recoloured shares its rows: `m.memory.patches.add(Patch { i, j, ..patch })`;
//! - elements: pushed on `m.stack` from `let base = m.stack.len()` on, then `m.list_of_stack(base)`;
//!   `m.union_of_patches(base)` unites patches there.
//!
//! Where the reference fails, a kernel returns `Err(BailOut::Fails)` or the [`BailOut`](super::BailOut) that
//! names the error, and for a value that does not fit planes the [`Misfit`](crate::planes::Misfit) (`?`
//! converts it): the evaluation bails out.

use self::placing::Comparison;
use crate::selection::{Constraint, Immediate, ResultType, Selection};
use arc_dsl::{ContainerKind, Primitive};
use arc_form::{Fused, Type};

mod arithmetic;
pub(super) mod basics;
pub(super) mod by_colour;
mod colours;
mod containers;
mod counting;
pub(super) mod endings;
mod extents;
pub(super) mod layers;
pub(super) mod loops;
pub(super) mod merged;
mod objects;
mod painting;
mod patches;
pub(super) mod placing;
pub(super) mod rows;
pub(super) mod sorting;
#[cfg(test)]
pub(super) mod testing;
mod transforms;
pub(super) mod unordered;

pub(super) use containers::SET_OF_LIST;

/// The kernel of a first-order primitive for arguments of these types and a result of that type. The result is
/// `clipped` if no use sees its cells outside 0..32 x 0..32. The families are asked in turn: a table from
/// primitive to family would save 1% of the compile time.
pub(super) fn select(
    primitive: Primitive,
    arguments: &[Type],
    result: &Type,
    clipped: bool,
) -> Option<Selection> {
    containers::select(primitive, arguments, result, clipped)
        .or_else(|| arithmetic::select(primitive, arguments))
        .or_else(|| extents::select(primitive, arguments))
        .or_else(|| patches::select(primitive, arguments))
        .or_else(|| transforms::select(primitive, arguments))
        .or_else(|| colours::select(primitive, arguments))
        .or_else(|| painting::select(primitive, arguments))
        .or_else(|| objects::select(primitive, arguments))
}

/// The kernel of a fused operation, for arguments of these types.
pub(super) fn select_fused(fused: Fused, arguments: &[Type]) -> Option<Selection> {
    use Constraint::{AsIs, CellsOfColour};
    use Type::{Grid, Indices, Int};
    Some(match (fused, arguments) {
        (Fused::SizeOfIntersection, [Indices, Indices]) => {
            Selection::new(&containers::SIZE_OF_INTERSECTION, &[AsIs, AsIs])
        }
        (Fused::SizeOfDifference, [Indices, Indices]) => {
            Selection::new(&containers::SIZE_OF_DIFFERENCE, &[AsIs, AsIs])
        }
        (Fused::MergedObjects, [Grid, ..]) => {
            Selection::new(&merged::CELLS_OF_OBJECTS, &[AsIs, AsIs, AsIs, AsIs])
        }
        (Fused::MergedPartition, [Grid]) => Selection::new(&merged::ALL_CELLS, &[AsIs]),
        (Fused::MergedForeground, [Grid]) => Selection::new(&merged::FOREGROUND_CELLS, &[AsIs]),
        (Fused::LargerCells, [Grid, Grid]) => {
            Selection::new(&rows::LARGER_COLOURS, &[AsIs, AsIs]).giving(ResultType::Grid)
        }
        (Fused::SmallerCells, [Grid, Grid]) => {
            Selection::new(&rows::SMALLER_COLOURS, &[AsIs, AsIs]).giving(ResultType::Grid)
        }
        (
            Fused::MetAsOften | Fused::MetMoreOften | Fused::MetLessOften,
            [Indices, Indices, Indices, Int],
        ) => Selection::new(&placing::PASSING, &[AsIs, AsIs, AsIs, AsIs]).with(comparison(fused)),
        (
            Fused::ColouredAsOften | Fused::ColouredMoreOften | Fused::ColouredLessOften,
            [Indices, Indices, Grid, Int, Int],
        ) => Selection::new(&placing::PASSING, &[AsIs, AsIs, CellsOfColour, AsIs])
            .with(comparison(fused)),
        _ => return None,
    })
}

/// How a fused filter of locations compares the count with its bound.
fn comparison(fused: Fused) -> Immediate {
    Immediate::Number(match fused {
        Fused::MetMoreOften | Fused::ColouredMoreOften => Comparison::More,
        Fused::MetLessOften | Fused::ColouredLessOften => Comparison::Fewer,
        _ => Comparison::Equal,
    } as u32)
}

/// Whether the argument is a grid, or a tuple that may be one, rather than a patch.
pub(super) fn is_grid(ty: &Type) -> bool {
    ty.container() == Some(ContainerKind::Tuple)
}
