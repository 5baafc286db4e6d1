//! Calls as the machine runs them, compiled once for all nodes of the same types.

use arc_dsl::{Primitive, Program, Value};
use arc_form::{Argument, Specialiser, Type};
use rustc_hash::FxHashMap;

use super::grids::may_hold_tiles;
use super::{Called, MOST_ARGUMENTS, Node, NodeId, Source, Storage};
use crate::Vectors;
use crate::lower::Lowering;
use crate::machine::Machine;
use crate::program::Code;

/// A call for arguments of certain types.
#[derive(Debug)]
pub(super) struct Call {
    /// Reads its arguments from the slots from 0 on.
    pub(super) code: Code,
    /// The number of the type of its value.
    pub(super) ty: u16,
    /// Whether such a value may point at tiles.
    pub(super) may_hold_tiles: bool,
    /// What is known of the order of its value, if that is a set.
    pub(super) is_copied: Option<bool>,
    /// Which of its arguments are grids.
    pub(super) grids: Box<[u16]>,
    /// Which of them are lists of grids.
    pub(super) lists: Box<[u16]>,
}

/// The compiled calls, and the types of values.
#[derive(Debug)]
pub(super) struct Calls {
    specialiser: Specialiser,
    lowering: Lowering,
    types: Vec<Type>,
    type_numbers: FxHashMap<Type, u16>,
    /// By callee and types of the arguments (see `write`); `None` if only the reference can evaluate the call.
    numbers: FxHashMap<Box<[u32]>, Option<u32>>,
    all: Vec<Call>,
    /// The key of the current call.
    key: Vec<u32>,
}

/// The number of the type of grids.
pub(super) const GRID: u16 = 0;

/// The number of the type of lists of grids.
pub(super) const GRIDS: u16 = 1;

/// The most words of a key: the reference evaluates calls with longer ones.
const MOST_WORDS: usize = 200;

impl Default for Calls {
    fn default() -> Self {
        Self {
            specialiser: Specialiser::default(),
            lowering: Lowering::new(Vectors::detect()),
            types: vec![Type::Grid, Type::tuple_of(Type::Grid)],
            type_numbers: FxHashMap::from_iter([
                (Type::Grid, GRID),
                (Type::tuple_of(Type::Grid), GRIDS),
            ]),
            numbers: FxHashMap::default(),
            all: Vec::new(),
            key: Vec::new(),
        }
    }
}

impl Calls {
    pub(super) fn ty(&self, number: u16) -> &Type {
        &self.types[usize::from(number)]
    }

    /// The number of a type; `None` if there are too many.
    pub(super) fn type_number(&mut self, ty: &Type) -> Option<u16> {
        if let Some(number) = self.type_numbers.get(ty) {
            return Some(*number);
        }
        let number = u16::try_from(self.types.len()).ok()?;
        self.types.push(ty.clone());
        self.type_numbers.insert(ty.clone(), number);
        Some(number)
    }

    /// The type without missing values, if this type may have them and its values have none.
    pub(super) fn present(&mut self, number: u16) -> Option<u16> {
        let present = match self.ty(number) {
            Type::MaybeInt => Type::Int,
            Type::MaybePair => Type::Pair,
            _ => return None,
        };
        self.type_number(&present)
    }

    pub(super) fn get(&self, number: u32) -> &Call {
        &self.all[number as usize]
    }

    /// The compiled call for these arguments; collects its operands in `parameters`.
    pub(super) fn find(
        &mut self,
        nodes: &[Node],
        defined: &[Program],
        called: Called,
        arguments: &[NodeId],
        parameters: &mut Vec<u32>,
        machine: &mut Machine,
    ) -> Option<u32> {
        self.key.clear();
        let key = &mut self.key;
        let is_known = match called {
            Called::Primitive(primitive) => {
                key.push((primitive as u32) << 2 | 1);
                true
            }
            Called::Function(node) => write(key, nodes, node.0, parameters),
            Called::Defined(function) => {
                key.push(u32::from(function.0) << 2 | 3);
                true
            }
        };
        let is_known = is_known
            && arguments
                .iter()
                .all(|node| write(key, nodes, node.0, parameters));
        if !is_known || key.len() > MOST_WORDS {
            return None;
        }
        if let Some(number) = self.numbers.get(&self.key[..]) {
            return *number;
        }
        let made = self.make(nodes, defined, called, arguments, parameters, machine);
        let number = made.map(|call| {
            self.all.push(call);
            self.all.len() as u32 - 1
        });
        self.numbers.insert(self.key.as_slice().into(), number);
        number
    }

    #[cold]
    fn make(
        &mut self,
        nodes: &[Node],
        defined: &[Program],
        called: Called,
        arguments: &[NodeId],
        parameters: &[u32],
        machine: &mut Machine,
    ) -> Option<Call> {
        let mut next = 0;
        let callee = match called {
            Called::Primitive(primitive) => Some(Argument::Primitive(primitive)),
            Called::Function(node) => Some(argument(nodes, node.0, &mut next)),
            Called::Defined(_) => None,
        };
        let arguments: Vec<_> = arguments
            .iter()
            .map(|node| argument(nodes, node.0, &mut next))
            .collect();
        let types: Option<Vec<_>> = parameters
            .iter()
            .map(|node| match nodes[*node as usize].held {
                Storage::Typed(number) => Some(self.ty(number).clone()),
                Storage::Loose | Storage::Function(_) => None,
            })
            .collect();
        let types = types?;
        let of_type = |wanted: &Type| {
            let numbers = (0u16..).zip(&types);
            numbers
                .filter_map(|(at, ty)| (ty == wanted).then_some(at))
                .collect()
        };
        let (grids, lists) = (of_type(self.ty(GRID)), of_type(self.ty(GRIDS)));
        let specialiser = &mut self.specialiser;
        let form = match (called, &callee) {
            (Called::Defined(function), _) => {
                let function = &defined[usize::from(function.0)];
                specialiser.specialise_function(function, &arguments, &types)
            }
            (_, Some(callee)) => specialiser.specialise_call(callee, &arguments, &types),
            (_, None) => return None,
        };
        let code = self.lowering.lower(&form.ok()?).ok()?;
        let ty = self.type_number(&code.output)?;
        let used = machine.memory.mark();
        let fits = code
            .constants
            .iter()
            .all(|(_, value, ty)| machine.put(value, ty).is_ok());
        machine.stack.clear();
        machine.memory.release(used);
        if !fits {
            return None;
        }
        let slots = machine.slots.len().max(code.slots as usize);
        machine.slots.resize(slots, crate::slot::Slot::default());
        machine.lanes.reserve(code.columns);
        Some(Call {
            may_hold_tiles: may_hold_tiles(&code.output),
            is_copied: code.is_copied(code.regions[0].result.into()),
            grids,
            lists,
            code,
            ty,
        })
    }
}

/// Appends an argument to the key of a call: its type, or for a function how it was built.
fn write(key: &mut Vec<u32>, nodes: &[Node], number: u32, parameters: &mut Vec<u32>) -> bool {
    let node = &nodes[number as usize];
    match (node.held, &node.source) {
        (Storage::Typed(ty), _) => {
            key.push(u32::from(ty) << 2);
            parameters.push(number);
            true
        }
        (Storage::Function(_), Source::Primitive(primitive)) => {
            key.push((*primitive as u32) << 2 | 1);
            true
        }
        (
            Storage::Function(_),
            Source::Call {
                called: Called::Primitive(primitive),
                count,
                arguments,
            },
        ) if key.len() < MOST_WORDS => {
            key.push((*primitive as u32) << 2 | 2);
            if let Some((function, rounds)) = power(nodes, *primitive, arguments) {
                key.push(rounds.cast_unsigned());
                return write(key, nodes, function, parameters);
            }
            arguments[..usize::from(*count)]
                .iter()
                .all(|argument| write(key, nodes, *argument, parameters))
        }
        _ => false,
    }
}

/// The function that a `power` repeats, and how often: the count is part of the function.
fn power(
    nodes: &[Node],
    primitive: Primitive,
    arguments: &[u32; MOST_ARGUMENTS],
) -> Option<(u32, i32)> {
    let count = &nodes[arguments[1] as usize].source;
    match (primitive, count) {
        (Primitive::Power, Source::Constant(Value::Int(rounds))) => Some((arguments[0], *rounds)),
        _ => None,
    }
}

/// The argument for a node in the form of a call; parameters are numbered in the order of `write`.
fn argument(nodes: &[Node], number: u32, next: &mut u32) -> Argument {
    let node = &nodes[number as usize];
    match (node.held, &node.source) {
        (Storage::Function(_), Source::Primitive(primitive)) => Argument::Primitive(*primitive),
        (
            Storage::Function(_),
            Source::Call {
                called: Called::Primitive(primitive),
                count,
                arguments,
            },
        ) => {
            let all = match power(nodes, *primitive, arguments) {
                Some((function, rounds)) => vec![
                    argument(nodes, function, next),
                    Argument::Constant(Value::Int(rounds)),
                ],
                None => arguments[..usize::from(*count)]
                    .iter()
                    .map(|number| argument(nodes, *number, next))
                    .collect(),
            };
            Argument::Call(*primitive, all)
        }
        _ => {
            *next += 1;
            Argument::Parameter(*next - 1)
        }
    }
}
