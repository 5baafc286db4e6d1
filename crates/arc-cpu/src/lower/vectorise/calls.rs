//! Calls of first-order primitives as steps on columns.

use std::ptr;

use smallvec::SmallVec;

use super::{Builder, Lane, LaneStep, Number};
use crate::lanes::columns::Part;
use crate::lanes::ops;
use crate::program::Kernel;
use arc_dsl::{Primitive, Value};
use arc_form::{Instruction, Type};

impl Builder<'_, '_> {
    /// Vectorises a call.
    pub(super) fn call(
        &mut self,
        primitive: Primitive,
        ty: &Type,
        arguments: &[Lane],
    ) -> Option<Lane> {
        use Primitive as P;
        Some(match (primitive, arguments) {
            (P::First, [one]) => item(one, 0)?,
            (P::Last, [Lane::Tuple(items)]) => items.last()?.clone(),
            (P::Last, [one]) => item(one, 1)?,
            (P::Astuple, _) => tuple(ty, arguments)?,
            (P::Toivec | P::Tojvec, &[Lane::Int(n)]) => {
                let zero = self.lowering.constant(Value::Int(0), Type::Int);
                let zero = Number::Same(zero, Part::Int);
                Lane::Pair(if primitive == P::Toivec {
                    [n, zero]
                } else {
                    [zero, n]
                })
            }
            (
                P::Multiply,
                &[Lane::Sign(_, n), Lane::Int(m)] | &[Lane::Int(m), Lane::Sign(_, n)],
            ) if n == m => Lane::Int(self.step(&ops::MAGNITUDE, &[n])?),
            (P::Sign, &[Lane::Int(n)]) => {
                let sign = self.step(&ops::SIGN, &[n])?;
                // Dead if its only use becomes a magnitude.
                self.steps.last_mut()?.pure = true;
                Lane::Sign(sign, n)
            }
            (P::Add, &[Lane::Int(a), Lane::Int(b)]) if let Some(numbers) = self.distance(a, b) => {
                Lane::Int(self.step(&ops::DISTANCE, &numbers)?)
            }
            (P::Add | P::Subtract | P::Multiply, [a, b]) => {
                let kernel = match primitive {
                    P::Add => &ops::ADD,
                    P::Subtract => &ops::SUBTRACT,
                    _ => &ops::MULTIPLY,
                };
                self.each(kernel, 0, &[plain(a), plain(b)])?
            }
            (P::Increment | P::Decrement, [one]) => {
                let number = if primitive == P::Increment { 1 } else { -1 };
                self.each(&ops::ADD_NUMBER, number as u32, &[plain(one)])?
            }
            (P::Invert, [one]) => self.each(&ops::INVERT, 0, &[plain(one)])?,
            (P::Double, [one]) => self.each(&ops::DOUBLE, 0, &[plain(one)])?,
            (P::Halve, [one]) => self.each(&ops::HALVE, 0, &[plain(one)])?,
            (P::Crement, [one]) => self.each(&ops::CREMENT, 0, &[plain(one)])?,
            (P::Sign, &[Lane::Pair(_)]) => self.each(&ops::SIGN, 0, arguments)?,
            (P::Maximum, &[Lane::Pair(pair)]) => Lane::Int(self.step(&ops::MAXIMUM, &pair)?),
            (P::Minimum, &[Lane::Pair(pair)]) => Lane::Int(self.step(&ops::MINIMUM, &pair)?),
            (P::Maximum | P::Minimum, [Lane::Results(id)]) => {
                let applied = *self.applied.get(id)?;
                let container = self.operand(&applied.arguments[0])?;
                let key = if primitive == P::Maximum {
                    P::Valmax
                } else {
                    P::Valmin
                };
                self.inner_loop(applied, key, &[container])?
            }
            (P::Manhattan, &[Lane::Single([a, b]), Lane::Single([c, d])]) => {
                Lane::Int(self.step(&ops::DISTANCE, &[a, b, c, d])?)
            }
            (
                P::Manhattan,
                [Lane::Whole(patch, of), Lane::Single(loc)]
                | [Lane::Single(loc), Lane::Whole(patch, of)],
            ) if is_patch(of) => self.step_on(&ops::NEAREST, *patch, loc)?,
            (
                P::Hmatching | P::Vmatching,
                [Lane::Whole(patch, of), Lane::Single([i, j])]
                | [Lane::Single([i, j]), Lane::Whole(patch, of)],
            ) if is_patch(of) => {
                if primitive == P::Hmatching {
                    self.step_on(&ops::IN_ROWS, *patch, &[*i])?
                } else {
                    self.step_on(&ops::IN_COLUMNS, *patch, &[*j])?
                }
            }
            _ => {
                let kernel = match primitive {
                    P::Even => &ops::EVEN,
                    P::Positive => &ops::POSITIVE,
                    P::Flip => &ops::FLIP,
                    P::Greater => &ops::GREATER,
                    P::Both => &ops::BOTH,
                    P::Either => &ops::EITHER,
                    _ => return None,
                };
                let mut numbers: SmallVec<[_; 4]> = SmallVec::new();
                for argument in arguments {
                    let Lane::Int(n) = plain(argument) else {
                        return None;
                    };
                    numbers.push(n);
                }
                Lane::Int(self.step(kernel, &numbers)?)
            }
        })
    }

    /// The numbers of which these are the distances, if both are magnitudes of differences. The steps that find them are
    /// dead if nothing else reads them: the sum is too large for a number if one of them is.
    fn distance(&mut self, a: Number, b: Number) -> Option<[Number; 4]> {
        let made = |steps: &[LaneStep], number: Number, kernel: &'static Kernel| {
            let Number::Column(column) = number else {
                return None;
            };
            let is_it = |one: &LaneStep| one.step.to == column && ptr::eq(one.kernel, kernel);
            steps.iter().rposition(is_it)
        };
        let mut found = Vec::new();
        for number in [a, b] {
            let magnitude = made(&self.steps, number, &ops::MAGNITUDE)?;
            let of = Number::Column(self.steps[magnitude].reads[0]);
            let difference = made(&self.steps, of, &ops::SUBTRACT)?;
            found.extend([magnitude, difference]);
        }
        for at in &found {
            self.steps[*at].pure = true;
        }
        let [_, a, _, b] = found[..] else { return None };
        let [a, b] = [a, b].map(|at| &self.steps[at].reads);
        Some([a[0], b[0], a[1], b[1]].map(Number::Column))
    }

    /// Applies an operation on numbers, component by component if arguments are pairs.
    fn each(
        &mut self,
        kernel: &'static Kernel,
        immediate: u32,
        arguments: &[Lane],
    ) -> Option<Lane> {
        let component = |lane: &Lane, at: usize| match lane {
            Lane::Int(n) => Some(*n),
            Lane::Pair(pair) => Some(pair[at]),
            _ => None,
        };
        let mut made = Vec::new();
        let is_pair = arguments.iter().any(|lane| matches!(lane, Lane::Pair(_)));
        for at in 0..if is_pair { 2 } else { 1 } {
            let numbers: Option<SmallVec<[_; 4]>> =
                arguments.iter().map(|lane| component(lane, at)).collect();
            made.push(self.step_with(kernel, &numbers?, immediate)?);
        }
        match made[..] {
            [n] => Some(Lane::Int(n)),
            [i, j] => Some(Lane::Pair([i, j])),
            _ => None,
        }
    }

    /// Whether values of one type are equal.
    pub(super) fn equality(
        &mut self,
        instruction: &Instruction,
        arguments: &[Lane],
    ) -> Option<Lane> {
        let types: Option<Vec<_>> = instruction
            .arguments
            .iter()
            .map(|argument| self.lowering.type_of_operand(argument))
            .collect();
        let types = types?;
        let [a, b] = arguments else { return None };
        if types[0] != types[1] {
            return None;
        }
        let pairs: Vec<_> = match (&plain(a), &plain(b)) {
            (Lane::Int(a), Lane::Int(b)) => vec![(*a, *b)],
            (Lane::Pair(a), Lane::Pair(b)) => a.iter().copied().zip(b.iter().copied()).collect(),
            (Lane::Cell(a), Lane::Cell(b)) => a.iter().copied().zip(b.iter().copied()).collect(),
            (Lane::Element(column, element), Lane::Whole(slot, other))
            | (Lane::Whole(slot, other), Lane::Element(column, element))
                if element == other =>
            {
                let number = self.lowering.number_of(element);
                let to = self.new_columns(1);
                let level = self.level();
                self.push_at(level, &ops::SAME_ELEMENT, &[*column], to, false, |step| {
                    (step.a, step.b) = (*column, *slot);
                    step.immediate = number;
                });
                return Some(Lane::Int(Number::Column(to)));
            }
            _ => return None,
        };
        let mut all = None;
        for (a, b) in pairs {
            let same = self.step(&ops::EQUAL, &[a, b])?;
            all = Some(match all {
                None => same,
                Some(all) => self.step(&ops::BOTH, &[all, same])?,
            });
        }
        all.map(Lane::Int)
    }
}

/// The value, a sign as a plain number.
fn plain(lane: &Lane) -> Lane {
    match lane {
        Lane::Sign(sign, _) => Lane::Int(*sign),
        _ => lane.clone(),
    }
}

/// The item of a pair, a cell or a tuple.
pub(super) fn item(of: &Lane, at: usize) -> Option<Lane> {
    match (of, at) {
        (Lane::Pair(pair), _) => pair.get(at).map(|&n| Lane::Int(n)),
        (&Lane::Cell([colour, ..]), 0) => Some(Lane::Int(colour)),
        (&Lane::Cell([_, i, j]), 1) => Some(Lane::Pair([i, j])),
        (Lane::Tuple(items), _) => items.get(at).cloned(),
        _ => None,
    }
}

/// The tuple of values, of this type.
pub(super) fn tuple(ty: &Type, items: &[Lane]) -> Option<Lane> {
    let items: Vec<_> = items.iter().map(plain).collect();
    match (ty, &items[..]) {
        (Type::Pair, &[Lane::Int(i), Lane::Int(j)]) => Some(Lane::Pair([i, j])),
        (Type::Cell, &[Lane::Int(colour), Lane::Pair([i, j])]) => Some(Lane::Cell([colour, i, j])),
        (Type::Fixed(types), _) if types.len() == items.len() => Some(Lane::Tuple(items)),
        _ => None,
    }
}

/// Whether it is a set of locations or of cells.
fn is_patch(ty: &Type) -> bool {
    matches!(ty, Type::Indices | Type::Object)
}
