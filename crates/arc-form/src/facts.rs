//! What optimisers ask of a primitive, said once.
//!
//! [`facts`] has an arm for every primitive and none for the rest, so that a new one does not
//! compile without its facts. Analyses and rewrites read them and never look at names. Arguments
//! are counted as an [`Instruction`](crate::Instruction) has them: a function is a region there.

use crate::Type;
use crate::symmetry::Symmetry;
use arc_dsl::Primitive;

/// What is known of a primitive, whatever it is called on.
#[derive(Debug, Clone, Copy)]
pub struct Facts {
    /// What it looks at of each argument; of those that are not listed at everything.
    uses: &'static [Use],
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

impl Facts {
    const PLAIN: Facts = Facts {
        uses: &[],
        body: None,
        elements: Elements::Own,
        is_total: never,
        is_near: false,
        size: Size::Kept,
        symmetry: None,
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

    const fn using(self, uses: &'static [Use]) -> Self {
        Self { uses, ..self }
    }

    const fn total(self, is_total: fn(&[Type]) -> bool) -> Self {
        Self { is_total, ..self }
    }

    const fn near(self) -> Self {
        Self {
            is_near: true,
            ..self
        }
    }

    const fn sized(self, size: Size) -> Self {
        Self { size, ..self }
    }

    const fn giving(self, elements: Elements) -> Self {
        Self { elements, ..self }
    }

    const fn turning(symmetry: Symmetry) -> Self {
        Self {
            symmetry: Some(symmetry),
            is_total: of_grid,
            ..Self::PLAIN
        }
    }

    const fn looping(self, body: Body) -> Self {
        Self {
            body: Some(body),
            ..self
        }
    }
}

fn never(_: &[Type]) -> bool {
    false
}

fn always(_: &[Type]) -> bool {
    true
}

/// Of numbers that are no pairs.
fn of_numbers(types: &[Type]) -> bool {
    types.iter().all(|ty| matches!(ty, Type::Int | Type::Bool))
}

/// Of one integer.
fn of_integer(types: &[Type]) -> bool {
    *types == [Type::Int]
}

/// Of a grid; a patch may be wider than integers reach.
fn of_grid(types: &[Type]) -> bool {
    *types == [Type::Grid]
}

/// What is known of a primitive.
pub fn facts(primitive: Primitive) -> &'static Facts {
    &TABLE[primitive as usize]
}

static TABLE: [Facts; Primitive::ALL.len()] = {
    let mut table = [Facts::PLAIN; Primitive::ALL.len()];
    let mut at = 0;
    while at < table.len() {
        table[at] = of(Primitive::ALL[at]);
        at += 1;
    }
    table
};

#[allow(clippy::too_many_lines, reason = "an arm for every primitive")]
#[allow(
    clippy::match_same_arms,
    reason = "families stand side by side, whatever their facts"
)]
const fn of(primitive: Primitive) -> Facts {
    use Primitive as P;
    use Size::{Far, Product, Sum, Told};
    const PLAIN: Facts = Facts::PLAIN;
    match primitive {
        // Numbers and truth values.
        P::add | P::subtract | P::increment | P::decrement | P::crement => PLAIN.near(),
        P::invert | P::halve => PLAIN.near(),
        P::multiply | P::divide | P::double => PLAIN,
        P::even | P::positive | P::greater => PLAIN.total(of_numbers),
        P::sign => PLAIN.near().total(of_integer),
        P::toivec | P::tojvec => PLAIN.total(of_integer),
        P::flip | P::both | P::either | P::equality => PLAIN.total(always),
        P::maximum | P::minimum => PLAIN,
        P::interval => PLAIN.sized(Told),

        // Containers.
        P::identity => PLAIN.using(&[Use::Passed]).total(always),
        P::branch => PLAIN
            .using(&[Use::Whole, Use::Passed, Use::Passed])
            .total(always),
        P::contained => PLAIN.total(|types| types[1].container().is_some()),
        P::combine => PLAIN
            .using(&[Use::Joined, Use::Joined])
            .giving(Elements::Joined)
            .sized(Sum),
        P::intersection | P::difference => PLAIN.using(&[Use::Cells, Use::Cells]),
        P::dedupe | P::mostcommon | P::leastcommon | P::other => PLAIN,
        P::first | P::last => PLAIN.total(|types| types[0].items().is_some()),
        P::repeat => PLAIN.sized(Told),
        P::size => PLAIN
            .using(&[Use::Counted])
            .total(|types| types[0].container().is_some()),
        P::merge => PLAIN
            .using(&[Use::Each])
            .giving(Elements::Joined)
            .sized(Sum),
        P::initset => PLAIN.using(&[Use::Passed]).total(|types| {
            let known = |ty: &Type| matches!(ty, Type::Int | Type::Bool | Type::Pair | Type::Cell);
            types.iter().all(known)
        }),
        P::totuple => PLAIN.using(&[Use::Cells]),
        P::insert => PLAIN
            .using(&[Use::Passed, Use::Joined])
            .giving(Elements::Joined)
            .sized(Sum),
        P::remove => PLAIN.using(&[Use::Whole, Use::Cells]),
        P::astuple => PLAIN
            .using(&[Use::Passed, Use::Passed])
            .total(|types| matches!(types, [Type::Int, Type::Int | Type::Pair])),
        P::product => PLAIN.giving(Elements::Made).sized(Product),
        P::pair => PLAIN.giving(Elements::Made),
        P::sizefilter | P::colorfilter => PLAIN.using(&[Use::Some]).giving(Elements::Some),

        // Functions of functions: no instruction calls them.
        P::compose
        | P::chain
        | P::matcher
        | P::rbind
        | P::lbind
        | P::power
        | P::fork
        | P::rapply => PLAIN,

        // Loops.
        P::apply => PLAIN
            .looping(Body::Collected)
            .using(&[Use::Each])
            .giving(Elements::Made),
        P::papply => PLAIN.looping(Body::Collected).giving(Elements::Made),
        P::prapply => PLAIN
            .looping(Body::Collected)
            .using(&[Use::Each, Use::Each])
            .giving(Elements::Made)
            .sized(Product),
        P::mapply => PLAIN
            .looping(Body::Merged)
            .using(&[Use::Each])
            .giving(Elements::Joined)
            .sized(Sum),
        P::mpapply => PLAIN
            .looping(Body::Merged)
            .giving(Elements::Joined)
            .sized(Sum),
        P::mfilter => PLAIN
            .looping(Body::Tested)
            .using(&[Use::Each])
            .giving(Elements::Joined)
            .sized(Sum),
        P::sfilter => PLAIN
            .looping(Body::Tested)
            .using(&[Use::Some])
            .giving(Elements::Some),
        P::extract | P::order => PLAIN.looping(Body::Tested),
        P::valmax | P::valmin => PLAIN.looping(Body::Tested).using(&[Use::Key]),
        P::argmax | P::argmin => PLAIN.looping(Body::Tested).using(&[Use::Outermost]),

        // Colours.
        P::mostcolor
        | P::leastcolor
        | P::colorcount
        | P::palette
        | P::numcolors
        | P::color
        | P::replace
        | P::switch
        | P::cellwise
        | P::index => PLAIN,

        // Extents.
        P::height | P::width | P::shape | P::portrait => PLAIN.total(of_grid),
        P::square
        | P::vline
        | P::hline
        | P::uppermost
        | P::lowermost
        | P::leftmost
        | P::rightmost
        | P::ulcorner
        | P::urcorner
        | P::llcorner
        | P::lrcorner
        | P::center
        | P::centerofmass
        | P::position
        | P::hmatching
        | P::vmatching
        | P::manhattan
        | P::adjacent
        | P::bordering
        | P::gravitate
        | P::hperiod
        | P::vperiod => PLAIN,

        // Patches.
        P::asindices | P::ofcolor | P::asobject | P::occurrences => PLAIN,
        P::toindices => PLAIN.using(&[Use::CellsOfSet]),
        P::recolor => PLAIN.using(&[Use::Whole, Use::Cells]),
        P::shift => PLAIN.using(&[Use::Moved]),
        P::normalize | P::dneighbors | P::ineighbors | P::neighbors | P::corners => PLAIN,
        P::toobject => PLAIN.using(&[Use::OnGrid]),
        P::shoot | P::vfrontier | P::hfrontier => PLAIN.sized(Far),
        P::connect | P::backdrop | P::delta | P::inbox | P::outbox | P::r#box => PLAIN.sized(Far),

        // Objects.
        P::objects | P::partition | P::fgpartition | P::frontiers => PLAIN,

        // Painting.
        P::canvas => PLAIN.sized(Told),
        P::fill => PLAIN.using(&[
            Use::Whole,
            Use::Whole,
            Use::Painted {
                over: true,
                object: false,
            },
        ]),
        P::underfill => PLAIN.using(&[
            Use::Whole,
            Use::Whole,
            Use::Painted {
                over: true,
                object: false,
            },
        ]),
        P::paint => PLAIN.using(&[
            Use::Whole,
            Use::Painted {
                over: true,
                object: true,
            },
        ]),
        P::underpaint => PLAIN.using(&[
            Use::Whole,
            Use::Painted {
                over: false,
                object: true,
            },
        ]),
        P::cover => PLAIN.using(&[
            Use::Whole,
            Use::Painted {
                over: true,
                object: false,
            },
        ]),
        P::r#move => PLAIN,

        // Grids.
        P::rot90 => Facts::turning(Symmetry::QUARTER),
        P::rot180 => Facts::turning(Symmetry::HALF),
        P::rot270 => Facts::turning(Symmetry::THREE_QUARTERS),
        P::hmirror => Facts::turning(Symmetry::UPSIDE_DOWN),
        P::vmirror => Facts::turning(Symmetry::LEFT_TO_RIGHT),
        P::dmirror => Facts::turning(Symmetry::DIAGONAL),
        P::cmirror => Facts::turning(Symmetry::COUNTER_DIAGONAL),
        P::crop
        | P::subgrid
        | P::compress
        | P::trim
        | P::tophalf
        | P::bottomhalf
        | P::lefthalf
        | P::righthalf
        | P::downscale => PLAIN,
        P::hsplit | P::vsplit => PLAIN,
        P::hconcat | P::vconcat => PLAIN.sized(Sum),
        P::hupscale | P::vupscale | P::upscale => PLAIN.sized(Told),
    }
}
