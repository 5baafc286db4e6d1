//! The order of sets, which planes do not have: a machine stores every set ascending, and where the order of Python
//! matters it finds that by calling the primitives of the reference with which the set was built.

use std::borrow::Cow;
use std::ops::Range;

use rustc_hash::FxHashMap;

use super::bail_out::BailOut;
use super::machine::Machine;
use super::program::Code;
use super::slot::{At, Slot};
use arc_dsl::{ContainerKind, Interpreter, Primitive, Value};
use arc_form::Type;

/// How the value of a slot was built, if it is a set or contains one.
#[derive(Clone, Debug)]
pub(crate) struct Definition {
    /// The slot.
    pub(crate) slot: u32,
    pub(crate) how: How,
    /// Which of [`Code::arguments`] it takes.
    pub(crate) arguments: Range<u32>,
}

/// How a value was built from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// By a primitive.
    Call(Primitive),
    /// It is a set of some elements of another set, in the order of that.
    Kept,
    /// It is an element of a container.
    Element,
    /// It is a tuple of elements of a container.
    Elements,
    /// It is a tuple of these.
    Items,
    /// It is a set to which these were added.
    Set,
}

/// A value from which another was built.
#[derive(Clone, Debug)]
pub(crate) enum Argument {
    /// The value of a slot, of the type of this number.
    Slot(u32, u32),
    Constant(Value),
    /// One that is not represented as its type says.
    Unknown,
}

/// How often one evaluation finds an order: then the reference is faster.
pub(crate) const MOST_ORDERS: u32 = 24;

/// How deep definitions are followed.
const MOST_DEPTH: u32 = 64;

/// Whether values of the type are sets or contain sets.
pub(crate) fn has_sets(ty: &Type) -> bool {
    match ty {
        Type::Indices | Type::Object | Type::Patch | Type::Set(_) => true,
        Type::Tuple(element) => has_sets(element),
        Type::Fixed(items) => items.iter().any(has_sets),
        _ => false,
    }
}

/// Whether values of the type are sets.
pub(crate) fn is_set(ty: &Type) -> bool {
    ty.container() == Some(ContainerKind::Set)
}

/// Whether a primitive only compares an argument, so that its order does not matter.
fn is_only_compared(primitive: Primitive, at: usize) -> bool {
    matches!(
        (primitive, at),
        (Primitive::Difference, 1) | (Primitive::Remove, 0) | (Primitive::Other, 1)
    )
}

/// Whether the value has only one order: no set in it has two elements.
pub(crate) fn has_one_order(value: &Value) -> bool {
    value.as_container().is_none_or(|container| {
        (container.kind == ContainerKind::Tuple || container.len() < 2)
            && container.iter_stored().all(|element| has_one_order(&element))
    })
}

/// The values of slots with their orders, while one of them is found.
type Known = FxHashMap<u32, Value>;

impl Code {
    /// How the value of a slot was built.
    fn definition(&self, slot: u32) -> Option<&Definition> {
        self.definitions.iter().find(|one| one.slot == slot)
    }

    fn arguments(&self, definition: &Definition) -> &[Argument] {
        let Range { start, end } = definition.arguments;
        &self.arguments[start as usize..end as usize]
    }
}

impl Machine {
    /// The elements of the set in a slot, which are of a type that `ty` has, in the order of Python, as a list.
    #[cold]
    #[inline(never)]
    pub(crate) fn in_order(&mut self, code: &Code, at: At, ty: &Type) -> Result<Slot, BailOut> {
        let base = self.stack.len();
        let mut elements = super::elements::Cursor::new(&self.memory, ty, self.get(at));
        while let Some(element) = elements.next(&mut self.memory)? {
            self.stack.push(element);
        }
        if self.stack.len() - base > 1 {
            self.orders_left = self.orders_left.checked_sub(1).ok_or(BailOut::Order)?;
            let value = self.exact_value(code, at, ty)?;
            let places = value.iteration_order();
            if let Some(places) = places {
                let stored: Vec<Slot> = self.stack.drain(base..).collect();
                // A set has as many elements here as in the reference.
                if places.len() != stored.len() {
                    return Err(BailOut::Order);
                }
                self.stack
                    .extend(places.iter().map(|place| stored[*place as usize]));
            }
        }
        self.list_of_stack(base)
    }

    /// The value of a slot as the reference has it, orders included.
    pub(crate) fn exact_value(&self, code: &Code, at: At, ty: &Type) -> Result<Value, BailOut> {
        self.exact(code, at.into(), ty, &mut Known::default(), MOST_DEPTH)
    }

    fn exact(
        &self,
        code: &Code,
        slot: u32,
        ty: &Type,
        known: &mut Known,
        depth: u32,
    ) -> Result<Value, BailOut> {
        if let Some(value) = known.get(&slot) {
            return Ok(value.clone());
        }
        let value = self.value(ty, self.slots[slot as usize])?;
        if !has_sets(ty) || has_one_order(&value) {
            return Ok(value);
        }
        let depth = depth.checked_sub(1).ok_or(BailOut::Order)?;
        if let Some((_, value, _)) = code.constants.iter().find(|(at, ..)| *at == slot) {
            return Ok(value.clone());
        }
        let definition = code.definition(slot).ok_or(BailOut::Order)?;
        let arguments = code.arguments(definition);
        let exact = match definition.how {
            How::Call(primitive) => {
                let mut values = Vec::with_capacity(arguments.len());
                for (at, argument) in arguments.iter().enumerate() {
                    let exact = self.exact_argument(code, argument, known, depth);
                    values.push(match (exact, argument) {
                        (Err(_), Argument::Slot(slot, ty)) if is_only_compared(primitive, at) => {
                            self.value(&code.types[*ty as usize], self.slots[*slot as usize])?
                        }
                        (exact, _) => exact?,
                    });
                }
                let values: Vec<&Value> = values.iter().collect();
                let call = Interpreter::default().call(Value::primitive(primitive), &values);
                call.map_err(|_| BailOut::Order)?
            }
            How::Kept => {
                let [set] = arguments else {
                    return Err(BailOut::Order);
                };
                let set = self.exact_argument(code, set, known, depth)?;
                value.kept_of(&set).ok_or(BailOut::Order)?
            }
            How::Set => {
                let mut values = Vec::with_capacity(arguments.len());
                for argument in arguments {
                    values.push(self.exact_argument(code, argument, known, depth)?);
                }
                Value::set(values)
            }
            How::Element => self.exact_element(code, definition, &value, known, depth)?,
            How::Elements | How::Items => {
                let elements = value.as_container().ok_or(BailOut::Order)?;
                let elements = elements
                    .iter()
                    .map(|element| self.exact_element(code, definition, &element, known, depth));
                Value::tuple(elements.collect::<Result<_, _>>()?)
            }
        };
        // A value that the reference does not build alike has another definition than this.
        if exact != value {
            return Err(BailOut::Order);
        }
        known.insert(slot, exact.clone());
        Ok(exact)
    }

    fn exact_argument(
        &self,
        code: &Code,
        argument: &Argument,
        known: &mut Known,
        depth: u32,
    ) -> Result<Value, BailOut> {
        match argument {
            Argument::Slot(slot, ty) => {
                self.exact(code, *slot, &code.types[*ty as usize], known, depth)
            }
            Argument::Constant(value) => Ok(value.clone()),
            Argument::Unknown => Err(BailOut::Order),
        }
    }

    /// An element of what a value was built from, as the reference has it.
    fn exact_element(
        &self,
        code: &Code,
        definition: &Definition,
        element: &Value,
        known: &mut Known,
        depth: u32,
    ) -> Result<Value, BailOut> {
        if has_one_order(element) {
            return Ok(element.clone());
        }
        for argument in code.arguments(definition) {
            let value = self.exact_argument(code, argument, known, depth)?;
            if definition.how == How::Items {
                if value == *element {
                    return Ok(value);
                }
                continue;
            }
            let container = value.as_container().ok_or(BailOut::Order)?;
            if let Some(found) = container.iter_stored().find(|one| **one == *element) {
                return Ok(Cow::into_owned(found));
            }
        }
        Err(BailOut::Order)
    }
}
