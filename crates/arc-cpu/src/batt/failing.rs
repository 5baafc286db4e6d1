//! Nodes that fail on some inputs: on which ones, and with which error.
//!
//! A call is not evaluated on inputs on which one of its operands fails. It fails there as its program does,
//! whose first failing call is that of the first operand that fails.

use arc_dsl::{ErrorKind, EvalError, Primitive};
use rustc_hash::FxHashMap;

use super::{Batt, Called, Failed, NodeId, Why};
use crate::Stop;
use crate::memory::Mark as Used;
use crate::slot::Slot;

/// The errors of nodes, by node and input.
#[derive(Debug, Default)]
pub(super) struct Errors {
    all: FxHashMap<(u32, u32), EvalError>,
    /// The keys of `all`, in the order of nodes.
    nodes: Vec<(u32, u32)>,
    /// The errors of the current call, by input, ascending.
    pending: Vec<(u32, EvalError)>,
    /// Whether the current call reads a node that fails on some input.
    pub(super) taken: bool,
}

impl Errors {
    /// The bytes that they have allocated.
    pub(super) fn bytes(&self) -> usize {
        const ENTRY: usize = size_of::<((u32, u32), EvalError)>() + 1;
        self.all.capacity() * ENTRY * 8 / 7 + self.nodes.capacity() * size_of::<(u32, u32)>()
    }

    /// The bytes in use.
    #[inline]
    pub(super) fn used(&self) -> usize {
        const ENTRY: usize = size_of::<((u32, u32), EvalError)>() + 1;
        self.all.len() * 2 * ENTRY + self.nodes.len() * size_of::<(u32, u32)>()
    }

    /// Frees what is reserved and not in use.
    pub(super) fn shrink(&mut self) {
        self.all.shrink_to_fit();
        self.nodes.shrink_to_fit();
    }

    /// Removes those of the current call.
    #[inline]
    pub(super) fn forget(&mut self) {
        self.pending.clear();
    }

    /// The error of the current call on an input.
    #[inline]
    pub(super) fn pending(&self, input: usize) -> Option<&EvalError> {
        let mut pending = self.pending.iter();
        pending.find_map(|(at, error)| (*at as usize == input).then_some(error))
    }

    /// The number of inputs on which the current call fails.
    #[inline]
    pub(super) fn count_pending(&self) -> usize {
        self.pending.len()
    }

    /// Stores the errors of the current call as those of a node, and returns whether there are any.
    #[inline]
    pub(super) fn keep(&mut self, node: u32) -> bool {
        let fails = !self.pending.is_empty();
        for (input, error) in self.pending.drain(..) {
            self.all.insert((node, input), error);
            self.nodes.push((node, input));
        }
        fails
    }

    /// Removes those of the nodes from this one on, and those of the current call.
    pub(super) fn release(&mut self, node: u32) {
        self.forget();
        while let Some(place) = self.nodes.pop_if(|(number, _)| *number >= node) {
            self.all.remove(&place);
        }
    }
}

impl Failed {
    pub(super) fn new(input: usize, stop: Stop) -> Self {
        let why = match stop {
            Stop::Error(error) => Why::Error(error.kind),
            Stop::BailOut(bail_out) => Why::BailOut(bail_out),
        };
        Self { input, why }
    }
}

impl Batt {
    /// The error with which a node's program ends on an input, if it does. It has no line: the result of
    /// [`add`](Self::add) has the lines of programs.
    #[inline]
    pub fn error(&self, node: NodeId, input: usize) -> Option<EvalError> {
        if !self.nodes[node.index()].fails {
            return None;
        }
        self.errors.all.get(&(node.0, input as u32)).copied()
    }

    /// Whether a call takes a node that fails on some input.
    #[inline]
    pub(super) fn take_failing(&self, called: Called, arguments: &[NodeId]) -> bool {
        let fails = |node: &NodeId| self.nodes[node.index()].fails;
        matches!(called, Called::Function(node) if fails(&node)) || arguments.iter().any(fails)
    }

    /// The error that a call inherits from its operands on an input.
    #[cold]
    pub(super) fn inherited(
        &self,
        called: Called,
        arguments: &[NodeId],
        input: usize,
    ) -> Option<EvalError> {
        let function = match called {
            Called::Primitive(_) | Called::Defined(_) => None,
            Called::Function(node) => Some(node),
        };
        let mut nodes = function.iter().chain(arguments);
        nodes.find_map(|node| self.error(*node, input))
    }

    /// Records the error of the current call on an input, if failing calls are kept.
    #[cold]
    pub(super) fn note(&mut self, stop: Stop, input: usize, used: Used) -> Result<Slot, Failed> {
        match stop {
            Stop::Error(error) if self.bounds.keeps_failing => {
                self.machine.memory.release(used);
                self.errors.pending.push((input as u32, error));
                Ok(Slot::default())
            }
            _ => Err(Failed::new(input, stop)),
        }
    }

    /// Makes a new function fail on the inputs on which one of its operands fails.
    pub(super) fn inherit(&mut self, node: NodeId, primitive: Primitive, arguments: &[NodeId]) {
        let called = Called::Primitive(primitive);
        if !self.take_failing(called, arguments) {
            return;
        }
        for input in 0..self.inputs {
            if let Some(error) = self.inherited(called, arguments, input) {
                self.errors.pending.push((input as u32, error));
            }
        }
        self.nodes[node.index()].fails = self.errors.keep(node.0);
    }

    /// The failure of a call with more arguments than any function takes.
    #[cold]
    pub(super) fn takes_too_many(&self, called: Called, arguments: &[NodeId]) -> Failed {
        let (result, _) = match called {
            // A program cannot call a primitive so, and the reference does not expect it.
            Called::Function(_) | Called::Defined(_) if self.inputs > 0 => {
                self.counted_by_reference(called, arguments, 0)
            }
            _ => (Ok(arc_dsl::Value::Nothing), 0),
        };
        let too_many = ErrorKind::ArgumentCount {
            expected: super::MOST_ARGUMENTS as u8,
            found: u8::try_from(arguments.len()).unwrap_or(u8::MAX),
        };
        let kind = result.err().map_or(too_many, |error| error.kind);
        Failed {
            input: 0,
            why: Why::Error(kind),
        }
    }
}
