//! Which uses observe the order of elements, or repeated elements: a container without such uses need not be
//! sorted.

use super::index::Role;
use super::{Index, User};
use crate::{Id, Instruction, Op, Operand, Region, Type};
use arc_dsl::Primitive;
use arc_isa::{Body, Elements, Facts, Use};

/// A loop body with more instructions than this costs more than finding equal elements.
const SHORT: usize = 6;

/// What the uses of a value observe of its elements.
#[derive(Debug, Clone, Copy)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a question of its own"
)]
struct Seen {
    /// Whether a use may observe the order of its elements, or a repeated one.
    order: bool,
    /// Whether a use takes an outermost element, the first one of several.
    first: bool,
    /// Whether all uses paint it over what was there.
    painted: bool,
    /// Whether all uses build, from its elements in their order, something that is painted like this: of a
    /// repeated element, the last occurrence counts.
    last: bool,
    /// Whether a use takes so long per element that none should be repeated.
    repeats: bool,
}

/// What is observed of the order of a form's values.
#[derive(Debug)]
pub struct Order {
    seen: Vec<Seen>,
}

/// A value for which no use observes the order of its elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unordered {
    /// Whether equal elements are better removed nevertheless.
    pub distinct: bool,
}

impl Order {
    /// Analyses all uses.
    pub fn new(index: &Index<'_>) -> Self {
        let unseen = Seen {
            order: false,
            first: false,
            painted: true,
            last: true,
            repeats: false,
        };
        let mut order = Self {
            seen: vec![unseen; index.len()],
        };
        // Uses follow definitions, so in reverse order the uses of a value are known before the value.
        for made in index.instructions().iter().rev() {
            // Other types are never queried: their values have no order, or always one.
            if !matches!(
                made.ty,
                Type::Indices | Type::Object | Type::Set(_) | Type::Tuple(_) | Type::Fixed(_)
            ) {
                continue;
            }
            let mut seen = unseen;
            for user in index.users(made.id) {
                if let Some((by, at)) = user.argument() {
                    order.used(&mut seen, by, at);
                } else {
                    seen.order |= !user.by.is_some_and(merges_sets);
                    seen.painted = false;
                    seen.last = false;
                }
            }
            order.seen[made.id.index()] = seen;
        }
        order
    }

    fn used(&self, seen: &mut Seen, by: &Instruction, at: usize) {
        let result = self.seen[by.id.index()];
        seen.painted &= paints_over(by, at);
        seen.last &= result.painted && merges_tuple(by);
        seen.repeats |= by.regions.iter().any(is_long);
        match sight(by, at) {
            Sight::Order => seen.order = true,
            Sight::Elements => {}
            Sight::First => seen.first = true,
            Sight::OfResult => {
                seen.order |= result.order;
                seen.first |= result.first;
                seen.repeats |= result.repeats;
            }
        }
    }

    /// How the value of an instruction that may be unordered, with these elements, may be represented if
    /// its order does not matter; `None` if it does.
    pub fn of(&self, instruction: &Instruction, element: &Type) -> Option<Unordered> {
        let seen = self.seen[instruction.id.index()];
        let free = match instruction.ty {
            Type::Fixed(_) => (!seen.order && !seen.first) || seen.last,
            _ => !seen.order,
        };
        free.then(|| Unordered {
            distinct: seen.repeats
                && matches!(element, Type::Indices | Type::Object)
                && !moves_one_patch(instruction),
        })
    }
}

/// The values for which a use may see the order of elements, or the order of elements of their elements: other sets may
/// be replaced by equal ones.
pub(crate) struct Observed<'i, 'f> {
    index: &'i Index<'f>,
    /// What is known, by id: of sets, of tuples of the elements of patches or what holds such tuples, and of tuples of
    /// other sets' elements.
    known: [Vec<Option<bool>>; 3],
    /// Whether cells that are painted over each other see their order.
    by_paint: bool,
}

impl<'i, 'f> Observed<'i, 'f> {
    pub(crate) fn new(index: &'i Index<'f>, by_paint: bool) -> Self {
        Self {
            index,
            known: [vec![None; index.len()], Vec::new(), Vec::new()],
            by_paint,
        }
    }

    /// Whether a use of this value sees the order.
    pub(crate) fn of(&mut self, id: Id) -> bool {
        let ty = &self.index.definition(id).ty;
        let of_cells = matches!(ty.element(), Some(Type::Pair | Type::Cell));
        self.within(id, false, of_cells)
    }

    /// The same of a value that is made of a tuple, or of a set of tuples, if `of_tuples`. If `of_cells`, the order is that
    /// of the elements of each patch.
    fn within(&mut self, id: Id, of_tuples: bool, of_cells: bool) -> bool {
        let index = self.index;
        let ty = &index.definition(id).ty;
        let is_tuple = match ty {
            Type::Tuple(_) | Type::Fixed(_) => true,
            Type::Set(element) => of_tuples && holds_tuples(element),
            _ => false,
        };
        let kind = match (is_tuple, of_cells) {
            (false, _) => 0,
            (true, true) => 1,
            (true, false) => 2,
        };
        let known = &mut self.known[kind];
        known.resize(index.len(), None);
        if let Some(known) = known[id.index()] {
            return known;
        }
        let found = index
            .users(id)
            .any(|user| self.used(user, ty, is_tuple, of_cells));
        self.known[kind][id.index()] = Some(found);
        found
    }

    fn used(&mut self, user: &User<'f>, ty: &Type, is_tuple: bool, of_cells: bool) -> bool {
        let of_cells = match ty {
            _ if is_tuple => of_cells,
            Type::Indices | Type::Object | Type::Patch => true,
            _ => false,
        };
        let (Some(by), Role::Argument(at)) = (user.by, user.role) else {
            // Of a loop, the result has the elements of what its region gives.
            let goes_on = user.by.filter(|by| match by.op {
                Op::If | Op::Choose | Op::Fused(_) => true,
                _ => by.facts().is_some_and(|facts| {
                    matches!(facts.body, Some(Body::Merged | Body::Collected))
                }),
            });
            return goes_on.is_none_or(|by| self.within(by.id, is_tuple, of_cells));
        };
        let given = by
            .regions
            .iter()
            .filter_map(|region| region.parameters.get(at));
        let mut given = given.map(|(id, _)| *id);
        if given.any(|id| self.within(id, is_tuple, of_cells)) {
            return true;
        }
        if by.checked && (!is_tuple || !by.regions.is_empty()) {
            return true;
        }
        match by.use_of(at) {
            // Tuples that differ only in their order are one element or two.
            Use::Counted => is_tuple && matches!(ty, Type::Set(_)),
            // Of a tuple, the last cell at a location is seen. A patch has one there.
            Use::Painted { object, .. } => object && (is_tuple && !of_cells || self.by_paint),
            _ => match &by.ty {
                Type::Indices | Type::Object | Type::Patch => {
                    self.within(by.id, is_tuple, of_cells)
                }
                Type::Set(_) if !is_tuple || by.primitive().is_some_and(joins) => {
                    self.within(by.id, is_tuple, of_cells)
                }
                Type::Tuple(_) | Type::Fixed(_) if by.primitive().is_none_or(joins) => {
                    self.within(by.id, is_tuple, of_cells)
                }
                _ if is_tuple => !by.primitive().is_some_and(measures),
                _ => by.primitive().is_none_or(observes),
            },
        }
    }
}

/// Whether values of the type are tuples, or sets of them.
fn holds_tuples(ty: &Type) -> bool {
    match ty {
        Type::Tuple(_) | Type::Fixed(_) => true,
        Type::Set(element) => holds_tuples(element),
        _ => false,
    }
}

/// Whether a primitive measures where the cells of a patch are, in whatever order they come.
fn measures(primitive: Primitive) -> bool {
    primitive.family() == "extents"
}

/// Whether a primitive whose result contains its arguments, or the elements of their elements, does nothing else.
fn joins(primitive: Primitive) -> bool {
    use Primitive as P;
    matches!(primitive, P::Merge | P::Mapply | P::Combine | P::Astuple)
}

/// The tuples that are built of the elements of sets and whose order no use sees, by id; nothing if there are none.
pub(crate) fn mixed(index: &Index<'_>) -> Vec<bool> {
    let merges = |made: &&&Instruction| {
        matches!(made.ty, Type::Tuple(_))
            && made
                .facts()
                .is_some_and(|facts| facts.elements == Elements::Joined)
    };
    let mut observed = None;
    let mut mixed = Vec::new();
    for made in index.instructions().iter().filter(merges) {
        let observed = observed.get_or_insert_with(|| Observed::new(index, false));
        if !observed.of(made.id) {
            mixed.resize(index.len(), false);
            mixed[made.id.index()] = true;
        }
    }
    // What holds a mixed tuple is mixed too.
    if !mixed.is_empty() {
        let known = observed.iter().flat_map(|one| &one.known[1..]);
        for known in known {
            for (mixed, known) in mixed.iter_mut().zip(known) {
                *mixed |= *known == Some(false);
            }
        }
    }
    mixed
}

/// Whether a primitive whose result is no set observes the order of sets.
fn observes(primitive: Primitive) -> bool {
    use Primitive as P;
    matches!(
        primitive,
        P::Argmax
            | P::Argmin
            | P::Order
            | P::Extract
            | P::Mostcommon
            | P::Leastcommon
            | P::First
            | P::Last
            | P::Totuple
            | P::Astuple
            | P::Repeat
            | P::Insert
            | P::Branch
            | P::Both
            | P::Either
            | P::Identity
            | P::Dedupe
            | P::Combine
            | P::Merge
            | P::Mapply
            | P::Mfilter
            | P::Mpapply
            | P::Papply
            | P::Pair
            | P::Apply
            | P::Sfilter
            | P::Remove
            | P::Difference
            | P::Valmax
            | P::Valmin
            | P::Color
            | P::Mostcolor
            | P::Leastcolor
            | P::Move
    )
}

/// The type of the elements of an instruction's value, if sorting them takes time. `from_unordered` says
/// whether the container that it filters is unordered.
pub(crate) fn may_be_unordered(instruction: &Instruction, from_unordered: bool) -> Option<&Type> {
    let (made, element) = match (&instruction.ty, instruction.op) {
        (Type::Set(element), Op::Set) => (true, &**element),
        (Type::Set(element), Op::Call(primitive)) => {
            let facts = primitive.facts();
            let made = match facts.elements {
                Elements::Some => from_unordered,
                Elements::Made => facts.body.is_some(),
                Elements::Joined => true,
                Elements::Own => false,
            };
            (made, &**element)
        }
        (Type::Fixed(items), Op::Tuple) => {
            let first = items.first()?;
            (items.iter().all(|item| item == first), first)
        }
        _ => return None,
    };
    (made && !instruction.checked && takes_sorting(element)).then_some(element)
}

/// What a use observes of the order of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sight {
    /// The order, or the number of elements.
    Order,
    /// All elements, from which it computes something that does not depend on the order.
    Elements,
    /// The outermost element, the first one of several.
    First,
    /// What is observed of the result, which contains some or all of the elements.
    OfResult,
}

/// What an instruction observes of the order of an argument's elements.
pub(crate) fn sight(instruction: &Instruction, at: usize) -> Sight {
    let Some(primitive) = instruction.primitive().filter(|_| !instruction.checked) else {
        return Sight::Order;
    };
    let without_order = matches!(instruction.ty, Type::Indices | Type::Object | Type::Set(_));
    match primitive.facts().of_argument(at) {
        Use::Each if without_order => Sight::Elements,
        Use::Some | Use::Joined if without_order => Sight::OfResult,
        // Of equal keys, the element that is first in the set is found by comparison.
        Use::Outermost if has_total_keys(instruction) => Sight::First,
        // The largest number is the same whichever element has it.
        Use::Key if matches!(instruction.ty, Type::Int | Type::Bool) => Sight::Elements,
        _ => Sight::Order,
    }
}

/// Whether the keys of an instruction have a total order, which keys with partially ordered parts do not.
fn has_total_keys(instruction: &Instruction) -> bool {
    let Some(region) = instruction.regions.first() else {
        return false;
    };
    let Operand::Id(key) = &region.result else {
        return false;
    };
    let made = region.instructions.iter().find(|one| one.id == *key);
    made.is_some_and(|made| {
        matches!(
            made.ty,
            Type::Bool
                | Type::Int
                | Type::MaybeInt
                | Type::Pair
                | Type::MaybePair
                | Type::Cell
                | Type::Indices
                | Type::Object
                | Type::Patch
        ) && !made.checked
    })
}

/// Whether an instruction unites its region's results into one set.
pub(crate) fn merges_sets(instruction: &Instruction) -> bool {
    instruction
        .facts()
        .is_some_and(|facts| facts.body == Some(Body::Merged))
        && matches!(instruction.ty, Type::Set(_))
        && !instruction.checked
}

/// Whether an instruction concatenates the elements of patches into one tuple.
fn merges_tuple(instruction: &Instruction) -> bool {
    let patch = match &instruction.ty {
        Type::Tuple(element) => matches!(**element, Type::Pair | Type::Cell),
        _ => false,
    };
    let merges =
        |facts: &Facts| facts.elements == Elements::Joined && facts.of_argument(0) == Use::Each;
    patch && !instruction.checked && instruction.facts().is_some_and(merges)
}

/// Whether an argument is painted over what was painted before.
pub(crate) fn paints_over(instruction: &Instruction, at: usize) -> bool {
    instruction
        .facts()
        .is_some_and(|facts| facts.painted() == Some((at, true)))
}

/// Whether elements of the type do not order as numbers do.
fn takes_sorting(element: &Type) -> bool {
    matches!(
        element,
        Type::Indices | Type::Object | Type::Grid | Type::Set(_) | Type::Tuple(_) | Type::Fixed(_)
    )
}

/// Whether an instruction moves one patch by each pair of a set, so that the results are all different.
fn moves_one_patch(instruction: &Instruction) -> bool {
    let [
        Region {
            parameters,
            instructions,
            ..
        },
    ] = &instruction.regions[..]
    else {
        return false;
    };
    let ([(way, Type::Pair)], [moved]) = (&parameters[..], &instructions[..]) else {
        return false;
    };
    let collects = instruction
        .facts()
        .is_some_and(|facts| facts.body == Some(Body::Collected));
    collects
        && moved.use_of(0) == Use::Moved
        && moved.arguments[0] != Operand::Id(*way)
        && moved.arguments[1] == Operand::Id(*way)
}

/// Whether a body takes longer than finding out that an element is repeated.
fn is_long(region: &Region) -> bool {
    region.instructions.len() > SHORT
        || region
            .instructions
            .iter()
            .any(|instruction| !instruction.regions.is_empty())
}
