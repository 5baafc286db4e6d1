//! [`Facts`]: what a row of the table says of a primitive beside its signature.
//!
//! Analyses and rewrites read facts and never look at names. Arguments are counted as an instruction of the
//! first-order form has them: a function is a region there.

use crate::rules::Rule;
use crate::sampling::Sampling;
use crate::symmetry::Symmetry;
use crate::types::ValueType as Type;

/// What is known of a primitive, whatever it is called on.
#[derive(Debug, Clone, Copy)]
pub struct Facts {
    /// What it looks at of each argument; of those that are not listed at everything.
    pub uses: &'static [Use],
    /// What becomes of what its region gives, where it goes through containers with one.
    pub body: Option<Body>,
    /// Where the elements of the container that it gives come from.
    pub elements: Elements,
    /// Whether it gives a value for every argument of these types, under any limits.
    pub is_total: fn(&[Type]) -> bool,
    /// Whether the numbers that it gives are near those that it takes, so that they pass the bound on
    /// integers from near it alone.
    pub is_near: bool,
    /// How large what it gives may get beside its arguments.
    pub size: Size,
    /// In which lie it gives its argument, where it does nothing else.
    pub symmetry: Option<Symmetry>,
    /// The type of its result by those of its arguments, where the type that its signature names does not tell.
    pub result: Option<Rule>,
    /// How its arguments are drawn at random.
    pub sampling: Sampling,
    /// Whether the Python reference lacks it: nothing but tests of its own say what it gives, and no built-in
    /// program calls it, since Python is asked what these give.
    pub is_extension: bool,
}

/// What a primitive looks at of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// Everything.
    Whole,
    /// How many elements it has.
    Counted,
    /// Cells that lie on the grid that it is painted on; `over` what was there before or under it.
    /// What asks for an object takes no locations.
    Painted {
        /// Whether it covers what was there.
        over: bool,
        /// Whether it has to be an object.
        object: bool,
    },
    /// Cells that lie on a grid.
    OnGrid,
    /// What is looked at of the result, which it is, or an element of it.
    Passed,
    /// Those of its cells that are looked at in the result.
    Cells,
    /// The same of a set; of a tuple everything.
    CellsOfSet,
    /// Its cells, which are moved to other places.
    Moved,
    /// Its elements, which are put together with others in the result.
    Joined,
    /// Its elements one after the other, of which the result is made.
    Each,
    /// Its elements, of which the result has some.
    Some,
    /// The element with the outermost key; of several the first.
    Outermost,
    /// The outermost key of its elements.
    Key,
}

/// What becomes of what the region of a loop gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    /// It is an element of the result.
    Collected,
    /// It is a container, whose elements are some of the result's.
    Merged,
    /// It is looked at.
    Tested,
}

/// Where the elements of a result that is a container come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Elements {
    /// It has an order of its own, or is no container.
    Own,
    /// They are made one by one.
    Made,
    /// They are those of several containers, or one more.
    Joined,
    /// They are some of those of the first argument, in their order.
    Some,
}

/// How many cells or elements a result has at most, and how far it reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// No more than its largest argument, or a few.
    Kept,
    /// As many as all arguments, or the elements of one, together.
    Sum,
    /// As many as the product of its arguments' numbers.
    Product,
    /// As many as the value of an argument says.
    Told,
    /// As many as lie between the outermost locations of its arguments, however far apart these are,
    /// or on a line that leads away from them.
    Far,
}

impl Use {
    /// Painted over what was there: locations or an object.
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
    /// Nothing is known: right for every primitive whose signature tells the type of its result.
    pub const PLAIN: Facts = Facts {
        uses: &[],
        body: None,
        elements: Elements::Own,
        is_total: never,
        is_near: false,
        size: Size::Kept,
        symmetry: None,
        result: None,
        sampling: Sampling::ByType,
        is_extension: false,
    };

    /// What it looks at of an argument.
    pub fn of_argument(&self, at: usize) -> Use {
        self.uses.get(at).copied().unwrap_or(Use::Whole)
    }

    /// What it looks at of each argument of which that is not everything, and of those before it.
    pub fn arguments(&self) -> impl Iterator<Item = Use> {
        self.uses.iter().copied()
    }

    /// The argument that it paints on a grid, and whether over what was there.
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

/// Of numbers that are no pairs.
pub(crate) fn of_numbers(types: &[Type]) -> bool {
    types.iter().all(|ty| matches!(ty, Type::Int | Type::Bool))
}

/// Of one integer.
pub(crate) fn of_integer(types: &[Type]) -> bool {
    *types == [Type::Int]
}

/// Of a grid; a patch may be wider than integers reach.
pub(crate) fn of_grid(types: &[Type]) -> bool {
    *types == [Type::Grid]
}

/// Of one container.
pub(crate) fn of_container(types: &[Type]) -> bool {
    types[0].container().is_some()
}

/// Of a container behind another argument.
pub(crate) fn of_container_behind(types: &[Type]) -> bool {
    types[1].container().is_some()
}

/// Of a tuple whose length its type tells: it is not empty.
pub(crate) fn of_known_length(types: &[Type]) -> bool {
    types[0].items().is_some()
}

/// Of values without elements that could be too many.
pub(crate) fn of_plain_values(types: &[Type]) -> bool {
    let is_plain = |ty: &Type| matches!(ty, Type::Int | Type::Bool | Type::Pair | Type::Cell);
    types.iter().all(is_plain)
}

/// Of an integer and an integer or a pair.
pub(crate) fn of_integer_and_number(types: &[Type]) -> bool {
    matches!(types, [Type::Int, Type::Int | Type::Pair])
}
