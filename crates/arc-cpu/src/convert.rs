//! Conversions between representations: to what kernels need of their arguments, and to the common type of the
//! arms of a choice.

use super::lower::{Lowering, Steps};
use super::ops::{self, basics, endings, loops};
use super::order::is_scalar;
use super::program::Kernel;
use crate::bail_out::Unsupported;
use arc_form::Type;

impl Lowering {
    pub(super) fn convert_to_patch(
        &mut self,
        steps: &mut Steps,
        slot: u32,
        from: &Type,
    ) -> Result<u32, Unsupported> {
        match from {
            Type::Indices | Type::Object | Type::Patch => Ok(slot),
            _ => {
                let element = from.element().unwrap_or(Type::Never);
                let cells = match element.items() {
                    Some(items) => items.get(1).is_some_and(|item| item.container().is_some()),
                    None => false,
                };
                let to = if cells { Type::Object } else { Type::Indices };
                self.convert(steps, slot, from, &to)
            }
        }
    }

    /// The slot of the same value as another type represents it; a missing value bails out at run time if the
    /// type has none.
    pub(super) fn convert(
        &mut self,
        steps: &mut Steps,
        slot: u32,
        from: &Type,
        to: &Type,
    ) -> Result<u32, Unsupported> {
        if is_same(from, to) {
            return Ok(slot);
        }
        let kernel: &Kernel = match (from, to) {
            (Type::MaybeInt, Type::Int) | (Type::MaybePair, Type::Pair) => &basics::PRESENT,
            (Type::MaybePair, _) => {
                let pair = self.convert(steps, slot, from, &Type::Pair)?;
                return self.convert(steps, pair, &Type::Pair, to);
            }
            (Type::Tuple(never), Type::MaybePair) if **never == Type::Never => &basics::MISSING,
            (Type::Tuple(element), Type::Pair | Type::MaybePair) => {
                if **element == Type::Int {
                    &basics::PAIR_OF_LIST
                } else {
                    let ints = Type::tuple_of(Type::Int);
                    let list = self.convert(steps, slot, from, &ints)?;
                    return self.convert(steps, list, &ints, to);
                }
            }
            (Type::Pair, Type::Tuple(_)) => {
                let list = self.push(steps, &basics::LIST_OF_PAIR, |step| step.a = slot);
                return self.convert(steps, list, &Type::tuple_of(Type::Int), to);
            }
            (Type::Patch, Type::Object) => &basics::OBJECT_OF_PATCH,
            (Type::Patch, Type::Indices) => &basics::INDICES_OF_PATCH,
            (_, Type::Pair | Type::Cell | Type::Fixed(_)) => {
                return self.convert_items(steps, slot, from, to);
            }
            (Type::Cell | Type::Fixed(_), Type::Tuple(element)) => {
                let Some(items) = from.items() else {
                    return self.no_conversion(from, to);
                };
                let mut slots = Vec::new();
                for (at, item) in items.iter().enumerate() {
                    let made = self.item(steps, slot, from, at as u32)?;
                    slots.push(self.convert(steps, made, item, element)?);
                }
                return Ok(self.tuple(steps, &slots));
            }
            (Type::Grid | Type::Indices | Type::Object, Type::Tuple(_)) => {
                let Some(element) = from.element() else {
                    return self.no_conversion(from, to);
                };
                let number = self.number_of(from);
                let list = self.push(steps, &basics::LIST_OF_ELEMENTS, |step| {
                    step.a = slot;
                    step.immediate = number;
                });
                return self.convert(steps, list, &Type::tuple_of(element), to);
            }
            (Type::Tuple(a) | Type::Set(a), Type::Tuple(b)) => {
                return self.convert_elements(steps, slot, a, b);
            }
            // A tile has no booleans, and `index` of it would give a number for one.
            (_, Type::Grid) if !from.has_boolean() => {
                let rows = Type::tuple_of(Type::tuple_of(Type::Int));
                let list = self.convert(steps, slot, from, &rows)?;
                return Ok(self.push(steps, &basics::GRID_OF_ROWS, |step| step.a = list));
            }
            (_, Type::Indices | Type::Object) if from.container().is_some() => {
                let (element, kernel) = match to {
                    Type::Indices => (Type::Pair, &basics::INDICES_OF_LIST),
                    _ => (Type::Cell, &basics::OBJECT_OF_LIST),
                };
                let list = self.convert(steps, slot, from, &Type::tuple_of(element))?;
                return Ok(self.push(steps, kernel, |step| step.a = list));
            }
            (_, Type::Patch) => return self.convert_to_patch(steps, slot, from),
            (_, Type::Set(element)) if from.container().is_some() => {
                let list = Type::tuple_of((**element).clone());
                let list = self.convert(steps, slot, from, &list)?;
                let number = self.number_of(element);
                return Ok(self.push(steps, &ops::SET_OF_LIST, |step| {
                    step.a = list;
                    step.immediate = number;
                }));
            }
            _ => return self.no_conversion(from, to),
        };
        Ok(self.push(steps, kernel, |step| step.a = slot))
    }

    fn no_conversion<T>(&self, from: &Type, to: &Type) -> Result<T, Unsupported> {
        self.unsupported(format_args!("a value of type {from} where {to} is needed"))
    }

    /// Converts a tuple with known items, item by item.
    fn convert_items(
        &mut self,
        steps: &mut Steps,
        slot: u32,
        from: &Type,
        to: &Type,
    ) -> Result<u32, Unsupported> {
        let (Some(ours), Some(theirs)) = (from.items(), to.items()) else {
            return self.no_conversion(from, to);
        };
        // A boolean serves as a number in a pair, but the reference takes no cell that contains one.
        if ours.len() != theirs.len() || (*to == Type::Cell && from.has_boolean()) {
            return self.no_conversion(from, to);
        }
        let mut slots = Vec::new();
        for (at, (a, b)) in ours.iter().zip(theirs).enumerate() {
            let item = self.item(steps, slot, from, at as u32)?;
            slots.push(self.convert(steps, item, a, b)?);
        }
        let kernel = match to {
            Type::Pair => &basics::PAIR,
            Type::Cell => &basics::CELL,
            _ => return Ok(self.tuple(steps, &slots)),
        };
        Ok(self.push(steps, kernel, |step| {
            [step.a, step.b] = [slots[0], slots[1]];
        }))
    }

    /// Converts each element of a list.
    fn convert_elements(
        &mut self,
        steps: &mut Steps,
        slot: u32,
        from: &Type,
        to: &Type,
    ) -> Result<u32, Unsupported> {
        let number = self.regions(1);
        let parameter = self.slot();
        let mut inner = Steps::new();
        let result = self.convert(&mut inner, parameter, from, to)?;
        self.finish_region(inner, number, result, [parameter, 0])?;
        let finish = self.ending(&endings::Finish::List);
        let container = self.number_of(&Type::tuple_of(from.clone()));
        Ok(self.push(steps, &loops::APPLY, |step| {
            step.a = slot;
            step.c = finish;
            step.region = number;
            step.immediate = container;
        }))
    }
}

/// Whether both types represent the value by the same slot, so that there is nothing to convert. The empty
/// container has the same slot as the empty patch and grid.
fn is_same(from: &Type, to: &Type) -> bool {
    match (from, to) {
        (a, b) if a == b => true,
        (Type::Never, _)
        | (Type::Bool, Type::Int | Type::MaybeInt)
        | (Type::Int, Type::MaybeInt)
        | (Type::Pair, Type::MaybePair)
        | (Type::Indices | Type::Object, Type::Patch) => true,
        (Type::Tuple(never) | Type::Set(never), _) if **never == Type::Never => {
            !is_scalar(to) && to.container().is_some()
        }
        // The elements keep their order, so a set stays a set.
        (Type::Tuple(a), Type::Tuple(b)) | (Type::Set(a), Type::Set(b) | Type::Tuple(b)) => {
            is_same(a, b)
        }
        (Type::Fixed(items), Type::Tuple(b)) => items.iter().all(|item| is_same(item, b)),
        (Type::Fixed(a), Type::Fixed(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| is_same(a, b))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::Compiled;
    use arc_form::specialise;
    use arc_text::parse_programs;

    #[test]
    fn a_boolean_serves_in_a_pair_and_not_in_a_cell() {
        let compiles = |call: &str| {
            let text = format!("def f(I):\n return {call}\n");
            let form = specialise(&parse_programs(&text).remove(0).unwrap()).unwrap();
            Compiled::new(&form).is_ok()
        };
        assert!(compiles("fill(I, TWO, frozenset({(False, 1)}))"));
        assert!(compiles("paint(I, frozenset({(2, (0, 1))}))"));
        // The reference accepts neither as an object.
        assert!(!compiles("paint(I, frozenset({(2, (False, 1))}))"));
        assert!(!compiles("paint(I, frozenset({(True, (0, 1))}))"));
    }
}
