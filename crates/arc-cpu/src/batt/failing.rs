//! Nodes that fail on some inputs: where each of them fails, and with which error.
//!
//! A call that takes a node is not evaluated where the node fails. It fails there as its program
//! does, whose first failing call is the one that the first failing of its arguments comes from.

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
    /// The nodes that have some, in their order.
    nodes: Vec<(u32, u32)>,
    /// Those of the call at hand, by input, ascending.
    made: Vec<(u32, EvalError)>,
    /// Whether the call at hand takes a node that fails on some input.
    pub(super) taken: bool,
}

impl Errors {
    /// The bytes that they have asked for.
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

    /// Gives back what is reserved and not in use.
    pub(super) fn shrink(&mut self) {
        self.all.shrink_to_fit();
        self.nodes.shrink_to_fit();
    }

    /// Forgets those of the call at hand.
    #[inline]
    pub(super) fn forget(&mut self) {
        self.made.clear();
    }

    /// How the call at hand fails on an input.
    #[inline]
    pub(super) fn made(&self, input: usize) -> Option<&EvalError> {
        let mut made = self.made.iter();
        made.find_map(|(at, error)| (*at as usize == input).then_some(error))
    }

    /// On how many inputs the call at hand fails.
    #[inline]
    pub(super) fn count_made(&self) -> usize {
        self.made.len()
    }

    /// Keeps the errors of the call at hand as those of a node, and gives whether there are any.
    #[inline]
    pub(super) fn keep(&mut self, node: u32) -> bool {
        let fails = !self.made.is_empty();
        for (input, error) in self.made.drain(..) {
            self.all.insert((node, input), error);
            self.nodes.push((node, input));
        }
        fails
    }

    /// Forgets those of the nodes from this one on, and those of the call at hand.
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
    /// The error with which a node's program ends on an input, if it does. It has no line:
    /// [`add`](Self::add) knows those of programs.
    #[inline]
    pub fn error(&self, node: NodeId, input: usize) -> Option<EvalError> {
        if !self.nodes[node.index()].fails {
            return None;
        }
        self.errors.all.get(&(node.0, input as u32)).copied()
    }

    /// The inputs on which a node fails, and why.
    pub fn failures(&self, node: NodeId) -> impl Iterator<Item = Failed> + '_ {
        let errors = (0..self.inputs).map(move |input| (input, self.error(node, input)));
        errors.filter_map(|(input, error)| Some(Failed::new(input, Stop::Error(error?))))
    }

    /// Whether a call takes a node that fails on some input.
    #[inline]
    pub(super) fn take_failing(&self, called: Called, arguments: &[NodeId]) -> bool {
        let fails = |node: &NodeId| self.nodes[node.index()].fails;
        matches!(called, Called::Function(node) if fails(&node)) || arguments.iter().any(fails)
    }

    /// How a call fails on an input before it is made.
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

    /// Notes that the call at hand has no value on an input, where such calls are kept.
    #[cold]
    pub(super) fn note(&mut self, stop: Stop, input: usize, used: Used) -> Result<Slot, Failed> {
        match stop {
            Stop::Error(error) if self.bounds.keeps_failing => {
                self.machine.memory.release(used);
                self.errors.made.push((input as u32, error));
                Ok(Slot::default())
            }
            _ => Err(Failed::new(input, stop)),
        }
    }

    /// Lets a function that is new fail where what it is made of does.
    pub(super) fn inherit(&mut self, node: NodeId, primitive: Primitive, arguments: &[NodeId]) {
        let called = Called::Primitive(primitive);
        if !self.take_failing(called, arguments) {
            return;
        }
        for input in 0..self.inputs {
            if let Some(error) = self.inherited(called, arguments, input) {
                self.errors.made.push((input as u32, error));
            }
        }
        self.nodes[node.index()].fails = self.errors.keep(node.0);
    }

    /// How a call fails that has more arguments than any function takes.
    #[cold]
    pub(super) fn takes_too_many(&self, called: Called, arguments: &[NodeId]) -> Failed {
        let (result, _) = match called {
            // No primitive is called so from a program, and the reference does not expect it.
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
