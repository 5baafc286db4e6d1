//! The calls of a search once more, value by value with `Interpreter::call`: how a search is written
//! without a batt. It says how long that takes, and whether the same becomes of each call.

use std::collections::HashMap;
use std::fmt;
use std::time::{Duration, Instant};

use arc_dsl::{EvalError, Interpreter, Primitive, Value};
use mega_batch::batt::{Batt, NodeId, Pushed, Why};

/// A call that was tried, and what became of it.
pub(crate) struct Tried {
    pub(crate) primitive: Primitive,
    pub(crate) arguments: Vec<NodeId>,
    pub(crate) pushed: Pushed,
}

/// What came of the calls so far.
#[derive(Default)]
pub(crate) struct Replay {
    pub(crate) time: Duration,
    pub(crate) calls: u64,
    /// The calls of which something else became.
    pub(crate) differ: u64,
    /// The nodes that equal another one of another type: the empty sets, say, and true and 1.
    pub(crate) twins: u64,
    /// The calls that the machine bails out of: a batt for a search has no value of them.
    pub(crate) bailed_out: u64,
}

impl fmt::Display for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Replay {
            differ,
            twins,
            bailed_out,
            ..
        } = self;
        write!(
            f,
            "{differ} differ, {twins} twins, {bailed_out} bailed out of"
        )
    }
}

impl Replay {
    /// Makes the calls that a batt was given when it had so many nodes.
    pub(crate) fn add(&mut self, batt: &Batt, seeds: usize, tried: &[Tried]) {
        let interpreter = Interpreter::default();
        let inputs = batt.inputs();
        let values_of = |node| (0..inputs).map(move |input| batt.value(node, input));
        // What nodes give, by their numbers, and the numbers of what was given.
        let mut nodes: Vec<Vec<Value>> = Vec::new();
        let mut known: HashMap<Vec<Value>, usize> = HashMap::new();
        for node in batt.nodes().take(seeds) {
            let values: Vec<_> = values_of(node).filter_map(Result::ok).collect();
            known.entry(values.clone()).or_insert(node.index());
            nodes.push(values);
        }
        let start = Instant::now();
        for call in tried {
            let value = |input: usize| -> Result<Value, EvalError> {
                let arguments = call.arguments.iter();
                let arguments = arguments.map(|node| &nodes[node.index()][input]);
                interpreter.call(
                    Value::primitive(call.primitive),
                    &arguments.collect::<Vec<_>>(),
                )
            };
            let values: Result<Vec<_>, _> = (0..inputs).map(value).collect();
            let is_same = match (values, call.pushed) {
                (_, Pushed::Failed(failed)) if matches!(failed.why, Why::BailOut(_)) => {
                    self.bailed_out += 1;
                    true
                }
                (values, Pushed::Failed(_)) => values.is_err(),
                (Err(_), Pushed::Same(_)) => false,
                (Err(_), Pushed::New(node)) => {
                    nodes.push(values_of(node).filter_map(Result::ok).collect());
                    false
                }
                (Ok(values), Pushed::Same(node)) => values == nodes[node.index()],
                (Ok(values), Pushed::New(node)) => {
                    nodes.push(values.clone());
                    self.twins += u64::from(known.insert(values, node.index()).is_some());
                    true
                }
            };
            self.differ += u64::from(!is_same);
        }
        self.time += start.elapsed();
        self.calls += tried.len() as u64;
    }
}
