//! The fixed sizes, in bytes, that a plan reckons with, and [`Sizes`]: what a form takes.
//!
//! A grid is four planes of 32 words. A mask is one plane, an object a mask and four planes of
//! colours, each with a header of 16 bytes for its box. A label map has a byte a cell and eight a
//! component, a view of it one a component. A list has 16 bytes for its length, then either its
//! scalars, or 16 bytes an element that tell where in the list's room the element lies.

use std::fmt;

use super::for_each;
use super::representation::plain;
use crate::{Form, Holding, Id, Instruction, Op, Overflow, Type};

/// The most rows, and the most columns, of a grid, and of a patch's bounding box.
pub(super) const SIDE: i32 = 32;
/// The most elements of a container of containers: 99% of the programs that people wrote keep to it.
pub(super) const ELEMENTS: u32 = 128;
/// The most elements of a container of scalars.
pub(super) const SCALARS: u32 = 256;
/// The room for the elements of a container of containers: their rows, packed.
const ROOM: u32 = 2048;

const HEADER: u32 = 16;
const SCALAR: u32 = 8;
pub(super) const GRID: u32 = 512;
pub(super) const MASK: u32 = HEADER + 128;
const OBJECT: u32 = HEADER + 128 + 512;

/// How many bytes a value takes that is held so.
pub(super) fn bytes(holding: Holding, ty: &Type) -> u32 {
    match holding {
        Holding::Scalar => SCALAR,
        Holding::Grid => GRID,
        Holding::Mask => MASK,
        Holding::Object => OBJECT,
        Holding::LabelMap => HEADER + 1024 + 8 * ELEMENTS,
        Holding::View => HEADER + ELEMENTS,
        Holding::Fused | Holding::Static => 0,
        Holding::List => match scalar(ty) {
            Some(bytes) => HEADER + SCALARS * bytes,
            None => HEADER + ELEMENTS * 16 + ROOM,
        },
    }
}

/// How many bytes an element takes where a container holds scalars.
fn scalar(ty: &Type) -> Option<u32> {
    match ty.element() {
        // Colours and coordinates have 16 bits.
        Some(Type::Never | Type::Bool | Type::Int | Type::MaybeInt | Type::Pair) => Some(4),
        Some(Type::MaybePair | Type::Cell) => Some(8),
        _ => None,
    }
}

/// How many elements a container may have that is held so.
pub(super) fn capacity(holding: Holding, ty: &Type) -> u32 {
    match holding {
        Holding::List if scalar(ty).is_some() => SCALARS,
        Holding::List | Holding::LabelMap => ELEMENTS,
        _ => u32::MAX,
    }
}

/// What an executor with fixed sizes needs for a form, by the notes of its plan.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sizes {
    /// The instructions, those inside loops and choices counted in.
    pub instructions: usize,
    /// How many loops stand inside each other.
    pub loop_depth: usize,
    /// The bytes of the arena; none where nothing has a place.
    pub bytes: Option<u32>,
    /// How many values are held in each way, in the order of [`Holding::ALL`].
    pub held: [usize; Holding::ALL.len()],
    /// How many containers of containers are made.
    pub nested: usize,
    /// How many values may lose cells.
    pub clipped: usize,
    /// What may pass a fixed size.
    pub overflows: Vec<MayOverflow>,
}

/// That an instruction may make something too large.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MayOverflow {
    /// The value.
    pub id: Id,
    /// The line of the program from which it comes.
    pub line: u32,
    /// What makes it.
    pub op: Op,
    /// Which size it may pass.
    pub overflow: Overflow,
}

/// `v7: hconcat of line 3 may overflow grid`.
impl fmt::Display for MayOverflow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (id, name) = (self.id.0, self.overflow.name());
        write!(
            f,
            "v{id}: {} of line {} may overflow {name}",
            self.op, self.line
        )
    }
}

impl Form {
    /// What the notes say about the form as a whole.
    pub fn sizes(&self) -> Sizes {
        let mut sizes = Sizes {
            instructions: self.body.len(),
            loop_depth: self.body.loop_depth(),
            ..Sizes::default()
        };
        for_each(&self.body, &mut |instruction: &Instruction| {
            let notes = instruction.notes;
            if let Some(holding) = notes.holding {
                sizes.held[holding as usize] += 1;
                let nested = holding == Holding::List && scalar(&instruction.ty).is_none();
                sizes.nested += usize::from(nested);
            }
            sizes.clipped += usize::from(notes.clipped);
            for place in notes.place.into_iter().chain(notes.work) {
                // The input lies at the start.
                let end = place.end().max(GRID);
                sizes.bytes = Some(sizes.bytes.map_or(end, |bytes| bytes.max(end)));
            }
            sizes
                .overflows
                .extend(notes.overflow.map(|overflow| MayOverflow {
                    id: instruction.id,
                    line: instruction.line,
                    op: instruction.op,
                    overflow,
                }));
        });
        sizes
    }
}

/// How the value is held, by its note or else its type.
pub(super) fn holding(instruction: &Instruction) -> Holding {
    instruction
        .notes
        .holding
        .unwrap_or_else(|| plain(&instruction.ty))
}
