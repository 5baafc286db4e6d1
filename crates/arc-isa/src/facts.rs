//! [`Facts`]: what a row of the table says about a primitive besides its signature.
//!
//! Analyses and rewrites read facts and never look at names. Arguments are counted as in an instruction of the
//! first-order form, where a function argument is a region and not counted.

use crate::rules::Rule;
use crate::sampling::Sampling;
use crate::types::ValueType as Type;

/// What is known about a primitive, independent of the arguments of a call.
#[derive(Debug, Clone, Copy)]
pub struct Facts {
    /// Which part of each argument it reads. An argument that is not listed is read whole.
    pub uses: &'static [Use],
    /// For a primitive that calls its region on the elements of containers: how it uses the region's result.
    pub body: Option<Body>,
    /// Where the elements of the resulting container come from.
    pub elements: Elements,
    /// Whether a call with arguments of these types always returns a value, under any limits.
    pub is_total: fn(&[Type]) -> bool,
    /// Whether the result is numerically close to the arguments, so that it can exceed the bound on integers only if an
    /// argument is already near that bound.
    pub is_near: bool,
    /// How large the result may get relative to the arguments.
    pub size: Size,
    /// The rule that computes the result type from the argument types, if the type in the signature is not precise
    /// enough.
    pub result: Option<Rule>,
    /// How its arguments are drawn at random.
    pub sampling: Sampling,
    /// Whether the Python reference lacks it. Its results are then covered only by its own tests, and no built-in
    /// program calls it, since their expected outputs come from Python.
    pub is_extension: bool,
}

/// Which part of an argument a primitive reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// Everything.
    Whole,
    /// How many elements it has.
    Counted,
    /// The cells that lie on the grid it is painted on. An argument that has to be an object may not be locations.
    Painted {
        /// Whether the last of several cells at one location decides: it is painted over the others, or all of them
        /// have one colour. If not, it is painted only on the background, where the first of them stays.
        over: bool,
        /// Whether it has to be an object.
        object: bool,
    },
    /// Cells that lie on a grid.
    OnGrid,
    /// It is the result, or an element of the result: read as far as the result is.
    Passed,
    /// The cells that are read in the result.
    Cells,
    /// Like `Cells` for a set; a tuple is read whole.
    CellsOfSet,
    /// Its cells, moved to other locations.
    Moved,
    /// Its elements, which the result has together with others.
    Joined,
    /// Its elements one by one; the result is built from them.
    Each,
    /// Its elements, some of which are in the result.
    Some,
    /// The element with the outermost key; if several have it, the first.
    Outermost,
    /// The outermost key of its elements.
    Key,
}

/// How the result of a loop's region is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    /// It is an element of the result.
    Collected,
    /// It is a container; elements of the loop's result are taken from it.
    Merged,
    /// It is inspected only.
    Tested,
}

/// Where the elements of a result that is a container come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Elements {
    /// The result has an order of its own, or is no container.
    Own,
    /// They are computed one by one.
    Made,
    /// They are the elements of several containers, or of one container plus one more.
    Joined,
    /// They are some of the elements of the first argument, in their order.
    Some,
}

/// An upper bound on the number of cells or elements of a result, and on how far it reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// No more than its largest argument, or a few.
    Kept,
    /// As many as all arguments together, or all elements of one argument together.
    Sum,
    /// As many as the product of the sizes of its arguments.
    Product,
    /// As many as the value of an argument specifies.
    Told,
    /// As many as lie between the outermost locations of its arguments, however far apart these are,
    /// or on a line that leads away from them.
    Far,
}

impl Use {
    /// Painted in one colour, or over what was there: locations or an object.
    pub(crate) const OVER: Use = Use::Painted {
        over: true,
        object: false,
    };
    /// Painted over what was there: an object.
    pub(crate) const OBJECT_OVER: Use = Use::Painted {
        over: true,
        object: true,
    };
    /// Painted where the background is: an object.
    pub(crate) const OBJECT_UNDER: Use = Use::Painted {
        over: false,
        object: true,
    };
}

impl Facts {
    /// Nothing is known: valid for every primitive whose signature gives the type of its result.
    pub const PLAIN: Facts = Facts {
        uses: &[],
        body: None,
        elements: Elements::Own,
        is_total: never,
        is_near: false,
        size: Size::Kept,
        result: None,
        sampling: Sampling::ByType,
        is_extension: false,
    };

    /// Which part of an argument it reads.
    pub fn of_argument(&self, at: usize) -> Use {
        self.uses.get(at).copied().unwrap_or(Use::Whole)
    }

    /// Which part it reads of each argument, up to the last one that is not read whole.
    pub fn arguments(&self) -> impl Iterator<Item = Use> {
        self.uses.iter().copied()
    }

    /// The argument that it paints on a grid, and whether the last of several cells at one location decides.
    pub fn painted(&self) -> Option<(usize, bool)> {
        self.uses.iter().enumerate().find_map(|(at, of)| match of {
            Use::Painted { over, .. } => Some((at, *over)),
            _ => None,
        })
    }
}

pub(crate) fn never(_: &[Type]) -> bool {
    false
}

pub(crate) fn always(_: &[Type]) -> bool {
    true
}

/// For numbers that are not pairs.
pub(crate) fn of_numbers(types: &[Type]) -> bool {
    types.iter().all(|ty| matches!(ty, Type::Int | Type::Bool))
}

/// For one integer.
pub(crate) fn of_integer(types: &[Type]) -> bool {
    *types == [Type::Int]
}

/// For a grid; a patch may be wider than integers reach.
pub(crate) fn of_grid(types: &[Type]) -> bool {
    *types == [Type::Grid]
}

/// For a container as the first argument.
pub(crate) fn of_container(types: &[Type]) -> bool {
    types[0].container().is_some()
}

/// For a container as the second argument.
pub(crate) fn of_container_behind(types: &[Type]) -> bool {
    types[1].container().is_some()
}

/// For a tuple whose type gives its length, and which is therefore not empty.
pub(crate) fn of_known_length(types: &[Type]) -> bool {
    types[0].items().is_some()
}

/// For numbers, pairs and cells, whose size is bounded.
pub(crate) fn of_plain_values(types: &[Type]) -> bool {
    let is_plain = |ty: &Type| matches!(ty, Type::Int | Type::Bool | Type::Pair | Type::Cell);
    types.iter().all(is_plain)
}

/// For an integer, followed by an integer or a pair.
pub(crate) fn of_integer_and_number(types: &[Type]) -> bool {
    matches!(types, [Type::Int, Type::Int | Type::Pair])
}
