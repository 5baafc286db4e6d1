//! Evaluates the calls of a batt: on the machine, or if that bails out, with the reference.

use arc_dsl::{ErrorKind, EvalError, Interpreter, Limit, Primitive, Value};
use arc_form::Type;
use smallvec::SmallVec;

use super::calls::{Call, GRID, GRIDS};
use super::grids::is_list_of_grids;
use super::{Batt, Called, Failed, MOST_ARGUMENTS, NodeId, Storage};
use crate::Stop;
use crate::bail_out::BailOut;
use crate::definition::MOST_ORDERS;
use crate::slot::Slot;

/// The value of a call on an input.
pub(super) enum Evaluated {
    Slot(Slot),
    Value(Value),
}

/// Whether a value of the type, as stored in a batt, needs nothing of the machine's memory besides its slot.
fn is_in_its_slot(ty: &Type) -> bool {
    use Type::{Bool, Cell, Grid, Int, MaybeInt, MaybePair, Pair};
    matches!(ty, Grid | Bool | Int | MaybeInt | Pair | MaybePair | Cell) || is_list_of_grids(ty)
}

/// Whether it is a tuple of tuples other than pairs: in Python, a grid with values other than colours. The
/// machine has next to no kernels for such values.
fn is_rows(value: &Value) -> bool {
    let first = match value {
        Value::Tuple(rows) => rows.as_slice().first(),
        _ => None,
    };
    matches!(first, Some(Value::Tuple(row)) if row.as_slice().len() != 2)
}

/// Values that weigh more than this, in elements of 16 bytes, stay values of the reference: converting one
/// takes as long as computing it.
const MOST_RETYPED: u32 = 1 << 14;

impl Batt {
    /// Compiles the call for the types of its arguments; `None` if only the reference can evaluate it. Leaves
    /// the nodes that it reads in `parameters`.
    pub(super) fn prepare(&mut self, called: Called, arguments: &[NodeId]) -> Option<u32> {
        self.counts.calls += 1;
        self.spent = 0;
        self.errors.taken = self.take_failing(called, arguments);
        self.parameters.clear();
        let Self {
            calls,
            nodes,
            defined,
            parameters,
            machine,
            ..
        } = self;
        let call = calls.find(nodes, defined, called, arguments, parameters, machine);
        self.takes_loose = false;
        machine.are_copied.clear();
        for node in parameters {
            let known = &nodes[*node as usize];
            self.takes_loose |= known.has_loose;
            machine.are_copied.push(known.is_copied);
            *node *= self.inputs as u32;
        }
        call
    }

    /// Whether one of the values that the current call reads does not fit the machine.
    #[cold]
    pub(super) fn is_loose(&self, input: usize) -> bool {
        let nodes = self
            .parameters
            .iter()
            .map(|first| *first as usize / self.inputs);
        let mut loose = nodes.map(|node| self.loose_value(node as u32, input));
        loose.any(|value| value.is_some())
    }

    /// Puts the constants of a call into their slots.
    pub(super) fn load(&mut self, call: u32) {
        let call = self.calls.get(call);
        for (slot, value, ty) in &call.code.constants {
            // Compiling the call has checked that they fit.
            self.machine.slots[*slot as usize] = self.machine.put(value, ty).unwrap_or_default();
        }
    }

    /// Evaluates a call on all inputs, and appends its values to `slots`.
    pub(super) fn evaluate(
        &mut self,
        number: u32,
        called: Called,
        arguments: &[NodeId],
    ) -> Result<Storage, Failed> {
        let before = self.machine.memory.mark();
        self.load(number);
        let ty = self.calls.get(number).ty;
        let first = self.slots.len();
        for input in 0..self.inputs {
            let used = self.machine.memory.mark();
            let slot = match self.evaluate_on(Some(number), called, arguments, input) {
                Ok(Evaluated::Slot(slot)) if ty == GRID => {
                    let slot = self.grids.add(self.machine.memory.tiles.get(slot));
                    self.machine.memory.release(used);
                    slot
                }
                Ok(Evaluated::Slot(slot)) if ty == GRIDS => {
                    let slot = self.grids.add_list(&self.machine.memory, slot);
                    self.machine.memory.release(used);
                    slot
                }
                Ok(Evaluated::Slot(slot)) => {
                    self.machine.memory.keep(self.calls.ty(ty), slot, used)
                }
                Ok(Evaluated::Value(value)) => self.put_or_keep(&value, ty, input),
                Err(stop) => self.note(stop, input, used)?,
            };
            self.slots.push(slot);
        }
        if is_in_its_slot(self.calls.ty(ty)) {
            self.machine.memory.release(before);
        }
        let loose = self.pending_loose.len();
        if loose > 0 && loose + self.errors.count_pending() == self.inputs {
            self.machine.memory.release(before);
            return Ok(self.retype(Some(ty), first));
        }
        // If no value is missing, it needs no check when it is used, and is the same node as a value of the
        // type that cannot be missing.
        if let Some(present) = self.calls.present(ty)
            && self.pending_loose.is_empty()
            && !self.slots[first..].contains(&Slot::MISSING)
        {
            return Ok(Storage::Typed(present));
        }
        Ok(Storage::Typed(ty))
    }

    #[inline]
    pub(super) fn evaluate_on(
        &mut self,
        call: Option<u32>,
        called: Called,
        arguments: &[NodeId],
        input: usize,
    ) -> Result<Evaluated, Stop> {
        if self.errors.taken
            && let Some(error) = self.inherited(called, arguments, input)
        {
            return Err(Stop::Error(error));
        }
        self.counts.evaluations += 1;
        let Some(call) = call else {
            return self.reference(BailOut::Kernel, called, arguments, input);
        };
        if self.takes_loose && self.is_loose(input) {
            return self.reference(BailOut::Memory, called, arguments, input);
        }
        let Call {
            code,
            grids,
            lists,
            may_hold_tiles,
            ..
        } = self.calls.get(call);
        for (to, first) in self.parameters.iter().enumerate() {
            self.machine.slots[to] = self.slots[*first as usize + input];
        }
        for parameter in grids {
            let parameter = usize::from(*parameter);
            let at = self.parameters[parameter] + input as u32;
            let slot = &mut self.machine.slots[parameter];
            let memory = &mut self.machine.memory;
            match self.grids.tile(at, *slot, memory, *may_hold_tiles) {
                Ok(tile) => *slot = tile,
                Err(bail_out) => return self.reference(bail_out, called, arguments, input),
            }
        }
        for parameter in lists {
            let slot = &mut self.machine.slots[usize::from(*parameter)];
            match self.grids.unpack_list(*slot, &mut self.machine.memory) {
                Ok(list) => *slot = list,
                Err(bail_out) => return self.reference(bail_out, called, arguments, input),
            }
        }
        let most_steps = self.interpreter.limits().max_steps;
        self.machine.fuel = most_steps;
        self.machine.orders_left = if self.bounds.by_reference {
            MOST_ORDERS
        } else {
            0
        };
        self.machine.known.clear();
        let mut result = self.machine.region(code, &code.regions[0]);
        if self.calls.get(call).ty == GRIDS {
            // The batt stores each grid of a list, and the machine shares them.
            let ty = self.calls.ty(GRIDS);
            result = result.and_then(|slot| self.machine.check_weight(ty, slot));
        }
        self.spent = self.spent.max(most_steps - self.machine.fuel);
        let bail_out = match result {
            Ok(slot) => return Ok(Evaluated::Slot(slot)),
            Err(bail_out) => bail_out,
        };
        let step = self.machine.failed.take();
        let origin = step.and_then(|step| code.origins.get(step as usize));
        let primitive = match called {
            // `other` is two calls, of which the second one fails.
            Called::Primitive(primitive)
                if primitive.is_first_order() && primitive != Primitive::Other =>
            {
                Some(primitive)
            }
            _ => origin.and_then(|origin| origin.primitive),
        };
        self.machine.stack.clear();
        self.machine.keys.clear();
        // The reference would not take fewer steps.
        let is_limit = bail_out == BailOut::Steps && self.bounds.by_reference;
        let limit = is_limit.then_some(ErrorKind::Limit(Limit::Steps));
        match bail_out.error().or(limit) {
            Some(kind) => Err(Stop::Error(EvalError {
                line: 0,
                primitive,
                kind,
            })),
            None => self.reference(bail_out, called, arguments, input),
        }
    }

    /// The slot of a value of the reference; if it does not fit the machine, the value itself is kept.
    pub(super) fn put_or_keep(&mut self, value: &Value, ty: u16, input: usize) -> Slot {
        let used = self.machine.memory.mark();
        let ty = self.calls.ty(ty);
        // Errors name the kind of a value, so a grid must not be read back as the tuple of its rows, which
        // equals it.
        let is_grid = matches!(value, Value::Grid(_));
        let fits = is_grid == (*ty == Type::Grid) && value.has_type(ty);
        let put = if fits {
            self.machine.put(value, ty)
        } else {
            Err(BailOut::Type)
        };
        if let Ok(slot) = put
            && (*ty == Type::Grid || is_list_of_grids(ty))
        {
            let memory = &self.machine.memory;
            let slot = match ty {
                Type::Grid => self.grids.add(memory.tiles.get(slot)),
                _ => self.grids.add_list(memory, slot),
            };
            self.machine.memory.release(used);
            return slot;
        }
        put.unwrap_or_else(|_| {
            self.machine.stack.clear();
            self.machine.memory.release(used);
            self.pending_loose.push((input as u32, value.clone()));
            Slot::default()
        })
    }

    /// The value that the reference computes after the machine has bailed out, if the bounds allow that.
    pub(super) fn reference(
        &mut self,
        bail_out: BailOut,
        called: Called,
        arguments: &[NodeId],
        input: usize,
    ) -> Result<Evaluated, Stop> {
        if !self.bounds.by_reference {
            return Err(Stop::BailOut(bail_out));
        }
        self.counts.by_reference += 1;
        let (result, steps) = self.counted_by_reference(called, arguments, input);
        self.spent = self.spent.max(steps);
        result.map(Evaluated::Value).map_err(Stop::Error)
    }

    /// The outcome according to the reference, and its number of steps.
    pub(super) fn counted_by_reference(
        &self,
        called: Called,
        arguments: &[NodeId],
        input: usize,
    ) -> (Result<Value, EvalError>, u64) {
        let mut values: SmallVec<[Value; 1 + MOST_ARGUMENTS]> = SmallVec::new();
        let function = match called {
            Called::Primitive(primitive) => Ok(Value::Primitive(primitive)),
            Called::Function(node) => self.value(node, input),
            Called::Defined(function) => {
                let arguments = arguments
                    .iter()
                    .map(|node| self.reference_value(*node, input));
                let arguments: Result<Vec<_>, _> = arguments.collect();
                let function = &self.defined[usize::from(function.0)];
                let run = |arguments| {
                    Interpreter::new(self.interpreter.limits().clone()).run_on(function, arguments)
                };
                return (arguments.and_then(run), 1);
            }
        };
        let arguments = arguments
            .iter()
            .map(|node| self.reference_value(*node, input));
        for value in std::iter::once(function).chain(arguments) {
            match value {
                Ok(value) => values.push(value),
                Err(error) => return (Err(error), 0),
            }
        }
        let values: SmallVec<[&Value; 1 + MOST_ARGUMENTS]> = values.iter().collect();
        let (function, arguments) = (values[0], &values[1..]);
        self.interpreter.call_counted(function, arguments)
    }

    /// Evaluates a call on all inputs with the reference.
    pub(super) fn evaluate_by_reference(
        &mut self,
        called: Called,
        arguments: &[NodeId],
    ) -> Result<Storage, Failed> {
        let used = self.machine.memory.mark();
        let first = self.slots.len();
        for input in 0..self.inputs {
            match self.evaluate_on(None, called, arguments, input) {
                Ok(Evaluated::Value(value)) => self.pending_loose.push((input as u32, value)),
                // A call that is not compiled has no slot.
                Ok(Evaluated::Slot(_)) => {}
                Err(stop) => {
                    self.note(stop, input, used)?;
                }
            }
            self.slots.push(Slot::default());
        }
        Ok(self.retype(None, first))
    }

    /// Chooses the storage of values that the reference has computed for all inputs on which the current call
    /// does not fail: as their common type, unless that is `ty`, with which they have not fitted the machine.
    fn retype(&mut self, ty: Option<u16>, first: usize) -> Storage {
        let mut joined = Some(Type::Never);
        for (_, value) in &self.pending_loose {
            joined = joined
                .filter(|_| !is_rows(value) && value.weight() <= MOST_RETYPED)
                .and_then(|ty| ty.join(&value.value_type()?));
        }
        let joined = joined.filter(|ty| *ty != Type::Never);
        let number = joined.and_then(|ty| self.calls.type_number(&ty));
        let Some(number) = number else {
            return Storage::Loose;
        };
        if Some(number) != ty {
            for (input, value) in std::mem::take(&mut self.pending_loose) {
                let slot = self.put_or_keep(&value, number, input as usize);
                self.slots[first + input as usize] = slot;
                self.reference_values.get_mut().add(input, value);
            }
        }
        Storage::Typed(number)
    }
}
