//! What the uses of a value need of it: some are held in a way that is cheaper to make.

use arc_dsl::{Primitive, Value};
use arc_form::{Form, Id, Instruction, Op, Operand, Region, Type};

mod bags;
mod parts;

use bags::Bags;
use parts::Parts;

/// How a value is held where its type leaves a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Held {
    /// As its type says.
    Whole,
    /// Locations that are only gone through, one after the other: a list instead of a mask, which
    /// holds any number of rows and columns.
    Elements,
    /// Patches that were to be merged and are only painted: one after the other. What is painted
    /// twice needs no place in an object, and no box has to hold all.
    Layers,
    /// Grids one below the other of which only the first rows are seen: those past 32 are left out.
    /// What is cut from them is held so too, since it asks whether they are seen.
    Top,
    /// What two sets of locations have in common, or what one has and the other has not, where it
    /// is only counted; the cells of a grid at some locations, where those of one colour are counted
    /// at once; the sign of a number, where it is only multiplied with that; the product of two sets
    /// of pairs or cells, of which a part is chosen: not made at all.
    Part,
    /// A set of which nothing sees the order: a list as it comes, with equal elements in it.
    Bag,
    /// The same without equal elements.
    Distinct,
    /// A bag that the next instruction goes through once: not made at all.
    Stream,
    /// The rows of two grids paired cell by cell, where only the larger or the smaller of each two
    /// colours is taken: not made either.
    PairedRows,
    /// A tuple of rows that is taken as a grid wherever it is used: as planes.
    Grid,
    /// Objects of a grid that are only merged: as what they make together.
    Merged,
    /// Locations around a patch, or between its own, of which those in a set are counted: not made.
    Outlined,
}

/// How each value is held, by id.
pub(super) fn held(form: &Form) -> Vec<Held> {
    let mut uses = Uses {
        only_traversed: vec![true; form.ids as usize],
        only_counted: vec![true; form.ids as usize],
        only_filtered: vec![true; form.ids as usize],
        only_coloured: vec![true; form.ids as usize],
        only_multiplied: vec![true; form.ids as usize],
        sign_of: vec![None; form.ids as usize],
        parts: Parts::of(form),
        bags: Bags::new(form),
        held: vec![Held::Whole; form.ids as usize],
    };
    uses.region(&form.body);
    uses.choose(&form.body);
    uses.held
}

struct Uses {
    only_traversed: Vec<bool>,
    only_counted: Vec<bool>,
    /// Whether only elements of it are chosen.
    only_filtered: Vec<bool>,
    /// Whether only the cells of known colours are counted.
    only_coloured: Vec<bool>,
    /// Whether it is a sign that is only multiplied with what it is the sign of.
    only_multiplied: Vec<bool>,
    /// What it is the sign of.
    sign_of: Vec<Option<Id>>,
    parts: Parts,
    bags: Bags,
    held: Vec<Held>,
}

impl Uses {
    fn region(&mut self, region: &Region) {
        for instruction in &region.instructions {
            if let (Op::Call(Primitive::sign), [Operand::Id(number)]) =
                (instruction.op, &instruction.arguments[..])
            {
                self.sign_of[instruction.id.index()] = Some(*number);
            }
            for (at, argument) in instruction.arguments.iter().enumerate() {
                let Operand::Id(id) = argument else { continue };
                self.only_coloured[id.index()] &= counts_colour(instruction, at);
                self.only_multiplied[id.index()] &= self.is_magnitude(instruction, *id);
                self.only_traversed[id.index()] &= is_traversal(instruction);
                self.only_counted[id.index()] &= instruction.op == Op::Call(Primitive::size);
                self.only_filtered[id.index()] &= instruction.op == Op::Call(Primitive::sfilter);
            }
            for region in &instruction.regions {
                self.region(region);
            }
        }
        for result in &region.results {
            if let Operand::Id(id) = result {
                self.only_traversed[id.index()] = false;
                self.only_counted[id.index()] = false;
                self.only_filtered[id.index()] = false;
                self.only_coloured[id.index()] = false;
                self.only_multiplied[id.index()] = false;
            }
        }
    }

    /// Whether an instruction multiplies a sign with what it is the sign of.
    fn is_magnitude(&self, instruction: &Instruction, sign: Id) -> bool {
        let number = self.sign_of[sign.index()].map(Operand::Id);
        instruction.op == Op::Call(Primitive::multiply)
            && number.is_some_and(|number| {
                let sign = Operand::Id(sign);
                instruction.arguments == [sign.clone(), number.clone()]
                    || instruction.arguments == [number, sign]
            })
    }

    /// Whether an instruction cuts a part from grids of which only the first rows are seen.
    fn cuts_top(&self, instruction: &Instruction) -> bool {
        instruction.op == Op::Call(Primitive::crop)
            && matches!(instruction.arguments[0], Operand::Id(id) if self.held[id.index()] == Held::Top)
    }

    /// Whether an instruction moves patches that are only painted.
    fn moves_layers(&self, instruction: &Instruction) -> bool {
        instruction.op == Op::Call(Primitive::shift)
            && matches!(instruction.arguments[0], Operand::Id(id) if self.held[id.index()] == Held::Layers)
    }

    fn choose(&mut self, region: &Region) {
        for (at, instruction) in region.instructions.iter().enumerate() {
            let id = instruction.id.index();
            let next = region.instructions.get(at + 1);
            if self.only_traversed[id]
                && (makes_locations(instruction) || self.parts.is_cross(instruction))
            {
                self.held[id] = Held::Elements;
            } else if self.parts.only_painted(instruction.id) && merges(instruction) {
                self.held[id] = Held::Layers;
                // The layers of a filter are the elements themselves.
                if instruction.op != Op::Call(Primitive::mfilter)
                    && let Some(outline) = instruction.regions.first()
                    && let Some(outline) = self.parts.outline(outline)
                {
                    self.held[outline.index()] = Held::Layers;
                }
            } else if self.moves_layers(instruction) || self.parts.is_goal(instruction) {
                self.held[id] = Held::Layers;
            } else if self.parts.is_topped(instruction) || self.cuts_top(instruction) {
                self.held[id] = Held::Top;
            } else if (self.only_counted[id] && is_part(instruction))
                || (self.only_filtered[id] && is_product_of_scalars(instruction))
                || (self.only_multiplied[id] && self.sign_of[id].is_some())
                || (self.only_coloured[id] && is_coloured_next(instruction, next))
            {
                self.held[id] = Held::Part;
            } else {
                self.choose_bag(instruction, next);
            }
            for region in &instruction.regions {
                self.choose(region);
            }
        }
    }
}

impl Uses {
    fn choose_bag(&mut self, instruction: &Instruction, next: Option<&Instruction>) {
        let from_bag = match instruction.arguments.first() {
            Some(Operand::Id(id)) => self.held[id.index()].is_bag(),
            _ => false,
        };
        let Some(bag) = self.bags.of(instruction, from_bag, next) else {
            return;
        };
        self.held[instruction.id.index()] = if bag.distinct {
            Held::Distinct
        } else if bag.once && next.is_some_and(|next| bags::joins(instruction, next)) {
            Held::Stream
        } else {
            Held::Bag
        };
    }
}

impl Held {
    /// Whether elements come in any order.
    pub(super) fn is_bag(self) -> bool {
        matches!(self, Held::Bag | Held::Distinct | Held::Stream)
    }
}

/// Whether an instruction goes through its arguments' elements and looks at nothing else.
fn is_traversal(instruction: &Instruction) -> bool {
    use Primitive as P;
    matches!(
        instruction.op,
        Op::Call(
            P::apply
                | P::mapply
                | P::extract
                | P::argmax
                | P::argmin
                | P::valmax
                | P::valmin
                | P::order
        )
    )
}

/// Whether an instruction makes a set of locations one by one.
fn makes_locations(instruction: &Instruction) -> bool {
    use Primitive as P;
    instruction.ty == Type::Indices
        && matches!(instruction.op, Op::Call(P::apply | P::prapply | P::product))
}

/// Whether an instruction gives a part of a set of locations.
fn is_part(instruction: &Instruction) -> bool {
    use Primitive as P;
    instruction.ty == Type::Indices
        && matches!(instruction.op, Op::Call(P::intersection | P::difference))
}

/// Whether an instruction gives all pairs of an element of one set and one of another, both scalar.
fn is_product_of_scalars(instruction: &Instruction) -> bool {
    let Type::Set(element) = &instruction.ty else {
        return false;
    };
    let Type::Fixed(items) = &**element else {
        return false;
    };
    instruction.op == Op::Call(Primitive::product)
        && items
            .iter()
            .all(|item| matches!(item, Type::Int | Type::Pair | Type::Cell))
}

/// Whether an instruction counts the cells of a known colour of an argument.
fn counts_colour(instruction: &Instruction, at: usize) -> bool {
    let colour = instruction.arguments.get(1);
    instruction.op == Op::Call(Primitive::colorcount)
        && at == 0
        && matches!(colour, Some(Operand::Constant(Value::Int(_))))
}

/// Whether an instruction gives the cells of a grid at some locations, of which the next one counts
/// those of a colour: where to make them fails, nothing else has failed before they are counted.
fn is_coloured_next(instruction: &Instruction, next: Option<&Instruction>) -> bool {
    instruction.op == Op::Call(Primitive::toobject)
        && next.is_some_and(|next| {
            counts_colour(next, 0) && next.arguments[0] == Operand::Id(instruction.id)
        })
}

/// Whether an instruction merges what may be patches.
fn merges(instruction: &Instruction) -> bool {
    use Primitive as P;
    let of_patches = match &instruction.ty {
        Type::Indices | Type::Object => true,
        Type::Tuple(element) => matches!(**element, Type::Pair | Type::Cell),
        _ => false,
    };
    of_patches
        && !instruction.checked
        && matches!(
            instruction.op,
            Op::Call(P::merge | P::mapply | P::mfilter | P::mpapply)
        )
}

/// The type of a merged patch as layers, where each is of the type `inner`.
pub(super) fn layers(inner: &Type, result: &Type) -> Option<Type> {
    match (inner, result) {
        (Type::Indices, Type::Indices) | (Type::Object, Type::Object) => {
            Some(Type::Set(inner.clone().into()))
        }
        (Type::Indices | Type::Object, Type::Tuple(element))
            if inner.element().as_ref() == Some(&**element) =>
        {
            Some(Type::tuple_of(inner.clone()))
        }
        _ => None,
    }
}
