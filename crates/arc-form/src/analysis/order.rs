//! Where the order of elements is seen, or that one comes twice: containers of which nothing sees it
//! need no sorting.

use super::Index;
use crate::{Instruction, Op, Operand, Region, Type};
use arc_isa::{Body, Elements, Facts, Use};

/// A loop body with more instructions than this costs more than it does to find equal elements.
const SHORT: usize = 6;

/// What the uses of a value see of it, as far as it has elements.
#[derive(Debug, Clone, Copy)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a question of its own"
)]
struct Seen {
    /// Whether one of them may see in what order its elements come, or that one comes twice.
    order: bool,
    /// Whether one of them takes an outermost element, of several the first.
    first: bool,
    /// Whether all of them are painting over what was there.
    painted: bool,
    /// Whether all of them make of its elements, in their order, what is painted so: where one
    /// comes twice, the last time counts.
    last: bool,
    /// Whether one of them takes so long for an element that none should come twice.
    repeats: bool,
}

/// What is seen of the order of a form's values.
#[derive(Debug)]
pub struct Order {
    seen: Vec<Seen>,
}

/// A value of which nothing sees the order of its elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unordered {
    /// Whether equal elements are better left out all the same.
    pub distinct: bool,
}

impl Order {
    /// Looks at all uses.
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
        // Users stand behind what they use: the users of a value are known before the value.
        for made in index.instructions().iter().rev() {
            // Of others than these nobody asks: what has no order, or always one, is made of them.
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

    /// How the value of an instruction that [`may_be_unordered`], with these elements, may be represented
    /// where its order does not matter; `None` if it does.
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

/// The type of the elements of an instruction's value, where that has elements that it takes time to
/// put in order. Told whether the container that it gives some of has no order.
pub fn may_be_unordered(instruction: &Instruction, from_unordered: bool) -> Option<&Type> {
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

/// What a use sees of the order of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sight {
    /// All of it, or how many there are.
    Order,
    /// All elements, of which it makes what has no order itself.
    Elements,
    /// The outermost element, of several the first.
    First,
    /// What is seen of the result, which has some or all of the elements.
    OfResult,
}

/// What an instruction sees of the order of an argument's elements.
pub fn sight(instruction: &Instruction, at: usize) -> Sight {
    let Some(primitive) = instruction.primitive().filter(|_| !instruction.checked) else {
        return Sight::Order;
    };
    let without_order = matches!(instruction.ty, Type::Indices | Type::Object | Type::Set(_));
    match primitive.facts().of_argument(at) {
        Use::Each if without_order => Sight::Elements,
        Use::Some | Use::Joined if without_order => Sight::OfResult,
        // Of equal keys, the element that comes first in the set is found by comparing.
        Use::Outermost if has_total_keys(instruction) => Sight::First,
        // Of numbers, one is the largest whatever has it.
        Use::Key if matches!(instruction.ty, Type::Int | Type::Bool) => Sight::Elements,
        _ => Sight::Order,
    }
}

fn facts_of(instruction: &Instruction) -> Option<&'static Facts> {
    instruction.primitive().map(arc_dsl::Primitive::facts)
}

/// Whether the keys of an instruction have one order, which a larger key by parts has not.
fn has_total_keys(instruction: &Instruction) -> bool {
    let Some(region) = instruction.regions.first() else {
        return false;
    };
    let Operand::Id(key) = region.result() else {
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

/// Whether an instruction puts the elements of its region's results into one set.
pub fn merges_sets(instruction: &Instruction) -> bool {
    facts_of(instruction).is_some_and(|facts| facts.body == Some(Body::Merged))
        && matches!(instruction.ty, Type::Set(_))
        && !instruction.checked
}

/// Whether an instruction puts the elements of patches into one tuple.
fn merges_tuple(instruction: &Instruction) -> bool {
    let patch = match &instruction.ty {
        Type::Tuple(element) => matches!(**element, Type::Pair | Type::Cell),
        _ => false,
    };
    let merges =
        |facts: &Facts| facts.elements == Elements::Joined && facts.of_argument(0) == Use::Each;
    patch && !instruction.checked && facts_of(instruction).is_some_and(merges)
}

/// Whether an argument is painted, and covers what was painted before.
fn paints_over(instruction: &Instruction, at: usize) -> bool {
    facts_of(instruction).is_some_and(|facts| facts.painted() == Some((at, true)))
}

/// Whether elements of the type do not order as numbers do.
fn takes_sorting(element: &Type) -> bool {
    matches!(
        element,
        Type::Indices | Type::Object | Type::Grid | Type::Set(_) | Type::Tuple(_) | Type::Fixed(_)
    )
}

/// Whether an instruction moves one patch by each pair of a set, which gives no two alike.
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
    let collects = facts_of(instruction).is_some_and(|facts| facts.body == Some(Body::Collected));
    let moves = facts_of(moved).is_some_and(|facts| facts.of_argument(0) == Use::Moved);
    collects
        && moves
        && moved.arguments[0] != Operand::Id(*way)
        && moved.arguments[1] == Operand::Id(*way)
}

/// Whether a body takes longer than it takes to find out that an element came before.
fn is_long(region: &Region) -> bool {
    region.instructions.len() > SHORT
        || region
            .instructions
            .iter()
            .any(|instruction| !instruction.regions.is_empty())
}
