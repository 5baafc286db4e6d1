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
        P::Add | P::Subtract | P::Increment | P::Decrement | P::Crement => PLAIN.near(),
        P::Invert | P::Halve => PLAIN.near(),
        P::Multiply | P::Divide | P::Double => PLAIN,
        P::Even | P::Positive | P::Greater => PLAIN.total(of_numbers),
        P::Sign => PLAIN.near().total(of_integer),
        P::Toivec | P::Tojvec => PLAIN.total(of_integer),
        P::Flip | P::Both | P::Either | P::Equality => PLAIN.total(always),
        P::Maximum | P::Minimum => PLAIN,
        P::Interval => PLAIN.sized(Told),

        // Containers.
        P::Identity => PLAIN.using(&[Use::Passed]).total(always),
        P::Branch => PLAIN
            .using(&[Use::Whole, Use::Passed, Use::Passed])
            .total(always),
        P::Contained => PLAIN.total(|types| types[1].container().is_some()),
        P::Combine => PLAIN
            .using(&[Use::Joined, Use::Joined])
            .giving(Elements::Joined)
            .sized(Sum),
        P::Intersection | P::Difference => PLAIN.using(&[Use::Cells, Use::Cells]),
        P::Dedupe | P::Mostcommon | P::Leastcommon | P::Other => PLAIN,
        P::First | P::Last => PLAIN.total(|types| types[0].items().is_some()),
        P::Repeat => PLAIN.sized(Told),
        P::Size => PLAIN
            .using(&[Use::Counted])
            .total(|types| types[0].container().is_some()),
        P::Merge => PLAIN
            .using(&[Use::Each])
            .giving(Elements::Joined)
            .sized(Sum),
        P::Initset => PLAIN.using(&[Use::Passed]).total(|types| {
            let known = |ty: &Type| matches!(ty, Type::Int | Type::Bool | Type::Pair | Type::Cell);
            types.iter().all(known)
        }),
        P::Totuple => PLAIN.using(&[Use::Cells]),
        P::Insert => PLAIN
            .using(&[Use::Passed, Use::Joined])
            .giving(Elements::Joined)
            .sized(Sum),
        P::Remove => PLAIN.using(&[Use::Whole, Use::Cells]),
        P::Astuple => PLAIN
            .using(&[Use::Passed, Use::Passed])
            .total(|types| matches!(types, [Type::Int, Type::Int | Type::Pair])),
        P::Product => PLAIN.giving(Elements::Made).sized(Product),
        P::Pair => PLAIN.giving(Elements::Made),
        P::Sizefilter | P::Colorfilter => PLAIN.using(&[Use::Some]).giving(Elements::Some),

        // Functions of functions: no instruction calls them.
        P::Compose
        | P::Chain
        | P::Matcher
        | P::Rbind
        | P::Lbind
        | P::Power
        | P::Fork
        | P::Rapply => PLAIN,

        // Loops.
        P::Apply => PLAIN
            .looping(Body::Collected)
            .using(&[Use::Each])
            .giving(Elements::Made),
        P::Papply => PLAIN.looping(Body::Collected).giving(Elements::Made),
        P::Prapply => PLAIN
            .looping(Body::Collected)
            .using(&[Use::Each, Use::Each])
            .giving(Elements::Made)
            .sized(Product),
        P::Mapply => PLAIN
            .looping(Body::Merged)
            .using(&[Use::Each])
            .giving(Elements::Joined)
            .sized(Sum),
        P::Mpapply => PLAIN
            .looping(Body::Merged)
            .giving(Elements::Joined)
            .sized(Sum),
        P::Mfilter => PLAIN
            .looping(Body::Tested)
            .using(&[Use::Each])
            .giving(Elements::Joined)
            .sized(Sum),
        P::Sfilter => PLAIN
            .looping(Body::Tested)
            .using(&[Use::Some])
            .giving(Elements::Some),
        P::Extract | P::Order => PLAIN.looping(Body::Tested),
        P::Valmax | P::Valmin => PLAIN.looping(Body::Tested).using(&[Use::Key]),
        P::Argmax | P::Argmin => PLAIN.looping(Body::Tested).using(&[Use::Outermost]),

        // Colours.
        P::Mostcolor
        | P::Leastcolor
        | P::Colorcount
        | P::Palette
        | P::Numcolors
        | P::Color
        | P::Replace
        | P::Switch
        | P::Cellwise
        | P::Index => PLAIN,

        // Extents.
        P::Height | P::Width | P::Shape | P::Portrait => PLAIN.total(of_grid),
        P::Square
        | P::Vline
        | P::Hline
        | P::Uppermost
        | P::Lowermost
        | P::Leftmost
        | P::Rightmost
        | P::Ulcorner
        | P::Urcorner
        | P::Llcorner
        | P::Lrcorner
        | P::Center
        | P::Centerofmass
        | P::Position
        | P::Hmatching
        | P::Vmatching
        | P::Manhattan
        | P::Adjacent
        | P::Bordering
        | P::Gravitate
        | P::Hperiod
        | P::Vperiod => PLAIN,

        // Patches.
        P::Asindices | P::Ofcolor | P::Asobject | P::Occurrences => PLAIN,
        P::Toindices => PLAIN.using(&[Use::CellsOfSet]),
        P::Recolor => PLAIN.using(&[Use::Whole, Use::Cells]),
        P::Shift => PLAIN.using(&[Use::Moved]),
        P::Normalize | P::Dneighbors | P::Ineighbors | P::Neighbors | P::Corners => PLAIN,
        P::Toobject => PLAIN.using(&[Use::OnGrid]),
        P::Shoot | P::Vfrontier | P::Hfrontier => PLAIN.sized(Far),
        P::Connect | P::Backdrop | P::Delta | P::Inbox | P::Outbox | P::Box => PLAIN.sized(Far),

        // Objects.
        P::Objects | P::Partition | P::Fgpartition | P::Frontiers => PLAIN,

        // Painting.
        P::Canvas => PLAIN.sized(Told),
        P::Fill => PLAIN.using(&[
            Use::Whole,
            Use::Whole,
            Use::Painted {
                over: true,
                object: false,
            },
        ]),
        P::Underfill => PLAIN.using(&[
            Use::Whole,
            Use::Whole,
            Use::Painted {
                over: true,
                object: false,
            },
        ]),
        P::Paint => PLAIN.using(&[
            Use::Whole,
            Use::Painted {
                over: true,
                object: true,
            },
        ]),
        P::Underpaint => PLAIN.using(&[
            Use::Whole,
            Use::Painted {
                over: false,
                object: true,
            },
        ]),
        P::Cover => PLAIN.using(&[
            Use::Whole,
            Use::Painted {
                over: true,
                object: false,
            },
        ]),
        P::Move => PLAIN,

        // Grids.
        P::Rot90 => Facts::turning(Symmetry::QUARTER),
        P::Rot180 => Facts::turning(Symmetry::HALF),
        P::Rot270 => Facts::turning(Symmetry::THREE_QUARTERS),
        P::Hmirror => Facts::turning(Symmetry::UPSIDE_DOWN),
        P::Vmirror => Facts::turning(Symmetry::LEFT_TO_RIGHT),
        P::Dmirror => Facts::turning(Symmetry::DIAGONAL),
        P::Cmirror => Facts::turning(Symmetry::COUNTER_DIAGONAL),
        P::Crop
        | P::Subgrid
        | P::Compress
        | P::Trim
        | P::Tophalf
        | P::Bottomhalf
        | P::Lefthalf
        | P::Righthalf
        | P::Downscale => PLAIN,
        P::Hsplit | P::Vsplit => PLAIN,
        P::Hconcat | P::Vconcat => PLAIN.sized(Sum),
        P::Hupscale | P::Vupscale | P::Upscale => PLAIN.sized(Told),
    }
}
