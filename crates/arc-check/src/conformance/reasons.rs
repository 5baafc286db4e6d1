//! For which reasons a device may bail out of a case: the specification of operations, as far as it is
//! not their result.
//!
//! The reason follows from what the reference gives: how it fails, or why the device does not hold its
//! value. Beside that an operation may refuse an operand before it looks at the others, so that several
//! reasons hold at once; and a few operations refuse what they could give, each for the reason that
//! [`listed`] says.

use arc_dsl::{ErrorKind, Limit, Value};
use gpu_kernels::interface::{BailOut, Representation};
use gpu_kernels::operations::Operation;
use gpu_kernels::{LANES, Pool};

use super::Case;

/// The greatest coordinate of a window's origin.
const MAX_ORIGIN: i32 = gpu_kernels::interface::MAX_ORIGIN;

/// The reasons, in no order; none where it has to give a value.
pub(super) fn allowed(case: &Case) -> Vec<BailOut> {
    let operation = case.operation();
    let mut all = match &case.expected {
        Err(kind) => of_error(*kind, operation.gives),
        Ok(value) => {
            let mut pool = Pool::default();
            let held = pool.push(operation.gives, value);
            held.err().into_iter().collect()
        }
    };
    let operands = case.arguments.iter().zip(operation.takes);
    let needs =
        operands.filter(|(_, takes)| matches!(takes, Representation::Int | Representation::Pair));
    for (value, representation) in needs {
        let nothing = is_nothing(value);
        if nothing {
            // A number is asked for, even where the reference does not look.
            all.push(BailOut::Undefined);
        }
        let no_colour = match value {
            Value::Int(number) => !(-1..=14).contains(number),
            _ => nothing,
        };
        if no_colour && *representation == Representation::Int && takes_colours(operation) {
            // So is a colour, even where no cell gets it.
            all.push(BailOut::Colour);
        }
    }
    let gives_window = matches!(
        operation.gives,
        Representation::Patch | Representation::Object | Representation::Objects
    );
    let result = case.expected.as_ref().ok();
    if gives_window && case.arguments.iter().chain(result).any(is_far) {
        // The origin of the window is past the bound, though none of its locations is.
        all.push(BailOut::Coordinate);
    }
    all.extend(listed(operation));
    all
}

/// How the reference fails, as the device tells it.
fn of_error(kind: ErrorKind, gives: Representation) -> Vec<BailOut> {
    match kind {
        // Integers of pairs have 16 bits.
        ErrorKind::Limit(Limit::Integer) if gives == Representation::Pair => {
            vec![BailOut::Integer, BailOut::Coordinate]
        }
        ErrorKind::Limit(Limit::Integer) => vec![BailOut::Integer],
        ErrorKind::Limit(Limit::Colour) => vec![BailOut::Colour],
        ErrorKind::Limit(Limit::Cells) => vec![BailOut::Grid],
        // Parts that a grid does not have, or cells that no window holds.
        ErrorKind::Limit(Limit::Elements) => vec![BailOut::Undefined, BailOut::Patch],
        _ => vec![BailOut::Undefined],
    }
}

/// Reasons of single operations, for which they refuse what is defined.
fn listed(operation: &Operation) -> &'static [BailOut] {
    match operation.name {
        // Nothing is no truth value, and past the bound as a number.
        "both" | "either_int" => &[BailOut::Integer],
        // The value that is chosen is of the other kind; a grid has no columns; the elements of two
        // sets of objects share locations; a first grid is larger than the second, whose colours are
        // no grid's.
        "branch_object_patch"
        | "branch_patch_object"
        | "frontiers"
        | "combine_of_objects"
        | "cellwise" => &[BailOut::Undefined],
        // A side past a window's, though the other is nothing.
        "canvas" => &[BailOut::Grid],
        // Locations that no window holds, and two colours at one of them; whichever is seen first.
        "combine_object" => &[BailOut::Patch, BailOut::TwoColours],
        _ => &[],
    }
}

/// Whether its integers are colours that cells get, or that a set of colours has.
fn takes_colours(operation: &Operation) -> bool {
    matches!(
        operation.name,
        "replace"
            | "exchange"
            | "cellwise"
            | "recolor"
            | "initset_colours"
            | "insert_colours"
            | "fill"
            | "underfill"
            | "canvas"
    )
}

/// Nothing, or what a pair says it by.
fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Nothing => true,
        Value::Tuple(elements) => elements.as_slice().is_empty(),
        _ => false,
    }
}

/// Whether a location, or a pair, is so far out that a window may begin past the bound.
pub(super) fn is_far(value: &Value) -> bool {
    let far = |number: i32| number.abs() > MAX_ORIGIN - LANES as i32;
    match value {
        Value::Loc(loc) => far(loc.i) || far(loc.j),
        Value::Indices(locs) => locs.as_slice().iter().any(|loc| far(loc.i) || far(loc.j)),
        Value::Object(cells) => {
            let mut cells = cells.as_slice().iter();
            cells.any(|cell| far(cell.loc.i) || far(cell.loc.j))
        }
        Value::Set(elements) => elements.as_slice().iter().any(is_far),
        _ => false,
    }
}
