//! The reasons for which a device may bail out of a case: the part of the specification of operations that is not
//! their result.
//!
//! The reason follows from the reference: from its error, or from why the device cannot hold its value. In addition,
//! an operation may reject an operand before it looks at the others, so several reasons may be valid; and a few
//! operations reject cases that they could compute, for the reason that [`listed`] gives.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use arc_dsl::{ErrorKind, Interpreter, Limit, Primitive, Value};
use gpu_kernels::interface::{BailOut, MAX_ORIGIN, Representation};
use gpu_kernels::operations::Operation;
use gpu_kernels::{LANES, Pool};

use super::Case;

/// The allowed reasons, in any order; empty if it has to return a value.
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
            // The device needs a number even if the reference does not look at it.
            all.push(BailOut::Undefined);
        }
        let no_colour = match value {
            Value::Int(number) => !(-1..=14).contains(number),
            _ => nothing,
        };
        if no_colour && *representation == Representation::Int && takes_colours(operation) {
            // The same for a colour, even if no cell gets it.
            all.push(BailOut::Colour);
        }
    }
    let gives_window = matches!(
        operation.gives,
        Representation::Patch | Representation::Object | Representation::Objects
    );
    let result = case.expected.as_ref().ok();
    if gives_window && case.arguments.iter().chain(result).any(is_far) {
        // The origin of the window exceeds its limit, although no location does.
        all.push(BailOut::Coordinate);
    }
    if is_ordered(case) {
        all.push(BailOut::Order);
    }
    all.extend(listed(operation));
    all
}

/// Whether the result may depend on the order of a set, which the device does not know.
fn is_ordered(case: &Case) -> bool {
    use Primitive as P;
    let elements = |at: usize| -> Vec<Value> {
        let all = case.arguments.get(at).and_then(Value::as_container);
        all.map_or(Vec::new(), |all| {
            all.iter_stored().map(Cow::into_owned).collect()
        })
    };
    let of_several = |value: &Value| cells_by_colour(value).len() > 1;
    match case.operation().primitive {
        P::First | P::Last => elements(0).len() > 1,
        P::Insert => elements(1).len() == 4,
        P::Color => of_several(&case.arguments[0]),
        P::Colorfilter => elements(0).iter().any(of_several),
        P::Mostcolor
        | P::Leastcolor
        | P::Objects
        | P::Fgpartition
        | P::Underfill
        | P::Underpaint
        | P::Cover
        | P::Move => has_equal(cells_by_colour(&case.arguments[0]).into_values()),
        P::Valmax | P::Valmin | P::Argmax | P::Argmin => {
            let (elements, key) = (elements(0), &case.arguments[1]);
            let interpreter = Interpreter::default();
            let keys = elements
                .iter()
                .filter_map(|one| interpreter.call(key, &[one]).ok());
            has_equal(keys) || *key == Value::from(P::Color) && elements.iter().any(of_several)
        }
        _ => false,
    }
}

/// How many cells of a grid or an object have each colour.
fn cells_by_colour(value: &Value) -> BTreeMap<i32, usize> {
    let mut counts = BTreeMap::new();
    let mut count = |colour| *counts.entry(colour).or_default() += 1;
    match (value, value.as_grid()) {
        (Value::Object(cells), _) => cells.as_slice().iter().for_each(|cell| count(cell.colour)),
        (_, Some(grid)) => grid.cells().iter().for_each(|&colour| count(colour.into())),
        _ => {}
    }
    counts
}

fn has_equal<T: Ord>(values: impl Iterator<Item = T>) -> bool {
    let mut known = BTreeSet::new();
    values.into_iter().any(|value| !known.insert(value))
}

/// The device's reason for an error of the reference.
fn of_error(kind: ErrorKind, gives: Representation) -> Vec<BailOut> {
    match kind {
        // Integers of pairs have 16 bits.
        ErrorKind::Limit(Limit::Integer) if gives == Representation::Pair => {
            vec![BailOut::Integer, BailOut::Coordinate]
        }
        ErrorKind::Limit(Limit::Integer) => vec![BailOut::Integer],
        ErrorKind::Limit(Limit::Colour) => vec![BailOut::Colour],
        ErrorKind::Limit(Limit::Cells) => vec![BailOut::Grid],
        // More parts than a grid has, or cells that no window can hold.
        ErrorKind::Limit(Limit::Elements) => vec![BailOut::Undefined, BailOut::Patch],
        _ => vec![BailOut::Undefined],
    }
}

/// Reasons for which single operations reject cases that are defined.
fn listed(operation: &Operation) -> &'static [BailOut] {
    match operation.name {
        // `Nothing` is no truth value, and out of range as a number.
        "both" | "either_int" => &[BailOut::Integer],
        // The selected value is of the other kind; a grid has no columns; the elements of two sets of objects share
        // locations; the first grid is larger than the second, or the second has values that are no colours.
        "branch_object_patch"
        | "branch_patch_object"
        | "frontiers"
        | "combine_of_objects"
        | "cellwise" => &[BailOut::Undefined],
        // A side larger than a window's, although the other is 0.
        "canvas" => &[BailOut::Grid],
        // Locations that no window can hold, and two colours at one location; whichever is found first.
        "combine_object" => &[BailOut::Patch, BailOut::TwoColours],
        _ => &[],
    }
}

/// Whether its integers are colours, of cells or in a set of colours.
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

/// `Nothing`, or the empty tuple that stands for it in a pair.
fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Nothing => true,
        Value::Tuple(elements) => elements.as_slice().is_empty(),
        _ => false,
    }
}

/// Whether a location or a pair is so far out that the origin of a window may exceed its limit.
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
