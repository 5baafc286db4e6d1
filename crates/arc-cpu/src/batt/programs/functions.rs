//! Functions that programs pass as values, which a batt refuses.
//!
//! In a batt, two functions from the same call are one, and they are built when they are first used. In the
//! reference each is equal only to itself, and they are ordered by age. This makes no difference as long as
//! functions are only called, or if one step has built all functions with another use, since it builds them in
//! the same order in both. So only one step of a program may put functions into a container.

use arc_dsl::{Primitive, Type as Signature, Value};

use crate::batt::{Batt, Called, NodeId, Source, Storage};

impl Batt {
    /// Whether a call takes a function, other than a primitive, and may do more than call it. Primitives are
    /// the same wherever they come from.
    pub(super) fn passes_a_function(&self, called: Called, arguments: &[NodeId]) -> bool {
        let mut passed = arguments.iter().enumerate();
        passed.any(|(at, node)| {
            self.is_made_function(*node) && !self.only_calls(called, arguments, at)
        })
    }

    fn is_made_function(&self, node: NodeId) -> bool {
        let known = &self.nodes[node.index()];
        match known.held {
            Storage::Function(_) => !matches!(known.source, Source::Primitive(_)),
            Storage::Typed(_) => false,
            // The reference also builds functions from values that cannot be called.
            Storage::Loose => (0..self.inputs).any(|input| {
                let value = self.loose_value(node.0, input);
                matches!(value, Some(Value::Function(_)))
            }),
        }
    }

    /// Whether the callee only calls an argument or returns it.
    fn only_calls(&self, called: Called, arguments: &[NodeId], at: usize) -> bool {
        let primitive = match called {
            Called::Primitive(primitive) => primitive,
            Called::Function(function) => return self.passes_on(function.0, at),
            // Programs cannot call these.
            Called::Defined(_) => return false,
        };
        let is_handed_on = match primitive {
            Primitive::Identity => true,
            Primitive::Branch => at > 0,
            _ => false,
        };
        if is_handed_on || !takes_as_it_is(primitive, at) {
            return true;
        }
        // The bound value becomes the first or last argument of another function.
        match (primitive, arguments.first()) {
            (Primitive::Lbind, Some(function)) => self.passes_on(function.0, 0),
            (Primitive::Rbind, Some(function)) => {
                let Source::Primitive(bound) = self.nodes[function.index()].source else {
                    // The second argument of a function that is not a primitive.
                    return self.passes_on(function.0, 1);
                };
                let last = bound.parameters().len().checked_sub(1);
                last.is_some_and(|last| !takes_as_it_is(bound, last))
            }
            _ => false,
        }
    }

    /// Whether a function only calls the argument at this index.
    fn passes_on(&self, function: u32, at: usize) -> bool {
        match &self.nodes[function as usize].source {
            Source::Primitive(primitive) => !takes_as_it_is(*primitive, at),
            Source::Call {
                called: Called::Primitive(primitive),
                arguments: [a, b, c, _],
                ..
            } if self.nodes[function as usize].held.is_function() => match primitive {
                Primitive::Compose => self.passes_on(*b, at),
                Primitive::Chain => self.passes_on(*c, at),
                Primitive::Fork => self.passes_on(*b, at) && self.passes_on(*c, at),
                Primitive::Matcher | Primitive::Power | Primitive::Rbind => self.passes_on(*a, at),
                Primitive::Lbind => self.passes_on(*a, at + 1),
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether values of a node that do not fit the machine contain functions.
    pub(super) fn holds_functions(&self, node: NodeId) -> bool {
        let has_loose = self.nodes[node.index()].has_loose;
        has_loose
            && (0..self.inputs).any(|input| {
                let value = self.loose_value(node.0, input);
                !matches!(value, Some(Value::Function(_))) && value.is_some_and(has_function)
            })
    }
}

/// Whether a primitive takes any value at this index, and so may return or compare it.
fn takes_as_it_is(primitive: Primitive, at: usize) -> bool {
    let parameter = primitive.parameters().get(at);
    parameter.is_none_or(|(_, signature)| *signature == Signature::Any)
}

/// Whether it is a function, other than a primitive, or contains one.
fn has_function(value: &Value) -> bool {
    match value {
        Value::Function(_) => true,
        _ => value.values().iter().any(has_function),
    }
}
