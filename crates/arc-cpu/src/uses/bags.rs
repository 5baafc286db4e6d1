//! Sets of which nothing sees the order: they need no sorting.

use arc_dsl::Primitive;
use arc_form::{Form, Id, Instruction, Op, Operand, Region, Type};

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
    /// How many there are.
    uses: u32,
}

/// The values that may be held as bags, by id.
pub(crate) struct Bags {
    seen: Vec<Seen>,
}

/// A value of which nothing sees the order of its elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bag {
    /// Whether equal elements are to be left out all the same.
    pub(crate) distinct: bool,
    /// Whether nothing but the next instruction uses it, which goes through it once.
    pub(crate) once: bool,
}

impl Bags {
    /// Looks at all uses in the form.
    pub(crate) fn new(form: &Form) -> Self {
        let unseen = Seen {
            order: false,
            first: false,
            painted: true,
            last: true,
            repeats: false,
            uses: 0,
        };
        let mut bags = Self {
            seen: vec![unseen; form.ids as usize],
        };
        bags.region(&form.body, false);
        bags
    }

    /// Goes through a region from its end, so that what is made of a value is known before the
    /// value itself; told whether its result may be a bag.
    fn region(&mut self, region: &Region, result_is_free: bool) {
        for result in &region.results {
            if let Operand::Id(id) = result {
                let seen = &mut self.seen[id.index()];
                seen.order |= !result_is_free;
                seen.painted = false;
                seen.last = false;
                seen.uses += 1;
            }
        }
        for instruction in region.instructions.iter().rev() {
            for region in &instruction.regions {
                self.region(region, merges_sets(instruction));
            }
            for (at, argument) in instruction.arguments.iter().enumerate() {
                if let Operand::Id(id) = argument {
                    self.used(*id, instruction, at);
                }
            }
        }
    }

    fn used(&mut self, id: Id, instruction: &Instruction, at: usize) {
        let result = self.seen[instruction.id.index()];
        let seen = &mut self.seen[id.index()];
        seen.uses += 1;
        seen.painted &= paints_over(instruction, at);
        seen.last &= result.painted && merges_tuple(instruction);
        seen.repeats |= instruction.regions.iter().any(is_long);
        match use_of(instruction, at) {
            Use::Ordered => seen.order = true,
            Use::Loop => {}
            Use::Outermost => seen.first = true,
            Use::Selection => {
                seen.order |= result.order;
                seen.first |= result.first;
                seen.repeats |= result.repeats;
            }
        }
    }

    /// How an instruction's value may be held where its order does not matter: nothing where it
    /// does, or is had for nothing. Told whether the container that it selects from is a bag, and
    /// which instruction follows.
    pub(crate) fn of(
        &self,
        instruction: &Instruction,
        from_bag: bool,
        next: Option<&Instruction>,
    ) -> Option<Bag> {
        let seen = self.seen[instruction.id.index()];
        let (made, element) = match (&instruction.ty, instruction.op) {
            (Type::Set(element), Op::Set) => (!seen.order, (**element).clone()),
            (Type::Set(element), Op::Call(primitive)) => {
                let made = match primitive {
                    Primitive::sfilter | Primitive::colorfilter | Primitive::sizefilter => from_bag,
                    _ => makes_set(primitive),
                };
                (made && !seen.order, (**element).clone())
            }
            (Type::Fixed(items), Op::Tuple) => {
                let free = (!seen.order && !seen.first) || seen.last;
                let first = items.first()?;
                (
                    free && items.iter().all(|item| item == first),
                    first.clone(),
                )
            }
            _ => return None,
        };
        if !made || instruction.checked || !takes_sorting(&element) {
            return None;
        }
        let once = seen.uses == 1
            && next
                .is_some_and(|next| next.arguments.first() == Some(&Operand::Id(instruction.id)));
        Some(Bag {
            distinct: seen.repeats
                && matches!(element, Type::Indices | Type::Object)
                && !moves_one_patch(instruction),
            once,
        })
    }
}

/// What a use sees of a set.
enum Use {
    /// The order of its elements, or their number.
    Ordered,
    /// All its elements, of which it makes what has no order itself.
    Loop,
    /// The outermost element.
    Outermost,
    /// All its elements, of which it gives some.
    Selection,
}

fn use_of(instruction: &Instruction, at: usize) -> Use {
    use Primitive as P;
    let Op::Call(primitive) = instruction.op else {
        return Use::Ordered;
    };
    if instruction.checked {
        return Use::Ordered;
    }
    let without_order = matches!(instruction.ty, Type::Indices | Type::Object | Type::Set(_));
    match (primitive, at) {
        (P::apply | P::mapply | P::mfilter | P::merge | P::prapply, _) if without_order => {
            Use::Loop
        }
        // Of equal keys, the element that comes first in the set is found by comparing.
        (P::argmax | P::argmin, 0) if has_total_keys(instruction) => Use::Outermost,
        // Of numbers, one is the largest whatever has it.
        (P::valmax | P::valmin, 0) if matches!(instruction.ty, Type::Int | Type::Bool) => Use::Loop,
        (P::sfilter | P::colorfilter | P::sizefilter, 0) | (P::insert, 1) | (P::combine, _)
            if without_order =>
        {
            Use::Selection
        }
        _ => Use::Ordered,
    }
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
fn merges_sets(instruction: &Instruction) -> bool {
    matches!(
        instruction.op,
        Op::Call(Primitive::mapply | Primitive::mpapply)
    ) && matches!(instruction.ty, Type::Set(_))
        && !instruction.checked
}

/// Whether an instruction puts the elements of patches into one tuple.
fn merges_tuple(instruction: &Instruction) -> bool {
    use Primitive as P;
    let patch = match &instruction.ty {
        Type::Tuple(element) => matches!(**element, Type::Pair | Type::Cell),
        _ => false,
    };
    patch
        && !instruction.checked
        && matches!(instruction.op, Op::Call(P::merge | P::mapply | P::mfilter))
}

/// Whether an argument is painted, and covers what was painted before.
fn paints_over(instruction: &Instruction, at: usize) -> bool {
    use Primitive as P;
    matches!(
        (instruction.op, at),
        (Op::Call(P::fill | P::underfill), 2) | (Op::Call(P::paint | P::cover), 1)
    )
}

/// Whether elements of the type do not order as numbers do.
fn takes_sorting(element: &Type) -> bool {
    matches!(
        element,
        Type::Indices | Type::Object | Type::Grid | Type::Set(_) | Type::Tuple(_) | Type::Fixed(_)
    )
}

/// Whether a primitive that gives a set makes its elements or puts them together.
fn makes_set(primitive: Primitive) -> bool {
    use Primitive as P;
    matches!(
        primitive,
        P::apply
            | P::papply
            | P::prapply
            | P::mapply
            | P::mpapply
            | P::merge
            | P::mfilter
            | P::insert
            | P::combine
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
    let ([(way, Type::Pair)], [shift]) = (&parameters[..], &instructions[..]) else {
        return false;
    };
    instruction.op == Op::Call(Primitive::apply)
        && shift.op == Op::Call(Primitive::shift)
        && shift.arguments[0] != Operand::Id(*way)
        && shift.arguments[1] == Operand::Id(*way)
}

/// Whether a body takes longer than it takes to find out that an element came before.
fn is_long(region: &Region) -> bool {
    region.instructions.len() > SHORT
        || region
            .instructions
            .iter()
            .any(|instruction| !instruction.regions.is_empty())
}

/// Whether an instruction that makes a set and the next one, which goes through it, can be one loop.
pub(crate) fn joins(maker: &Instruction, taker: &Instruction) -> bool {
    use Primitive as P;
    matches!(maker.op, Op::Call(P::apply | P::prapply))
        && matches!(taker.op, Op::Call(P::merge | P::mfilter | P::sfilter))
        && !taker.checked
}
