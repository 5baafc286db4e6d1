//! Whole programs in a batt: a step that several of them share is evaluated once.
//!
//! A program is added call by call. A call that an earlier program made with the same nodes is looked up and
//! not evaluated; a call with the values of a node becomes that node, and so do the calls that follow from it.
//! Each program keeps its own order of steps and its own line numbers, so it ends as it does alone: with its
//! value, or with the error of its first step that fails, even if its result does not need that step.

use arc_dsl::{
    Callee, Dialect, EvalError, Grid, Identity, Operand, Primitive, Program, Step, Value,
};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

mod functions;
mod kinds;

use super::{Batt, Bounds, Called, Failed, Full, MOST_ARGUMENTS, NodeId, Pushed, Why};
use crate::bail_out::BailOut;

/// A program that was [added](Batt::add) to a batt; [`Batt::result`] returns its results.
#[derive(Debug, Clone, Default)]
pub struct Merged {
    /// `None` if the program fails on every input.
    output: Option<NodeId>,
    failures: SmallVec<[(u32, EvalError); 2]>,
    calls: u32,
    shared: u32,
    steps: u64,
    /// Whether a step has put functions into a container.
    holds_functions: bool,
}

impl Merged {
    /// The node of its output; `None` if it fails on every input, since the steps after that are not added.
    pub fn output(&self) -> Option<NodeId> {
        self.output
    }

    /// The error with which it ends on an input, if it does. A limit is one of the batt's, which apply to each
    /// call alone.
    pub fn error(&self, input: usize) -> Option<&EvalError> {
        let mut failures = self.failures.iter();
        failures.find_map(|(at, error)| (*at as usize == input).then_some(error))
    }

    /// The number of its calls, up to the one after which it has failed on every input.
    pub fn calls(&self) -> u32 {
        self.calls
    }

    /// How many of them an earlier program had made with the same nodes.
    pub fn shared(&self) -> u32 {
        self.shared
    }

    /// Records a step, and returns its node.
    fn take(&mut self, known: Known, line: u32) -> Result<NodeId, Refused> {
        self.steps += u64::from(known.steps);
        if known.holds_functions && std::mem::replace(&mut self.holds_functions, true) {
            return Err(Refused::Function { line });
        }
        Ok(known.node)
    }

    /// The steps of all its calls, each counted on the input on which it takes most. Shared calls are included,
    /// so it is an estimate of what the program takes alone.
    pub fn steps(&self) -> u64 {
        self.steps
    }
}

/// Why a batt refuses a program. The nodes that were created for it stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// There is no more room.
    #[error(transparent)]
    Full(#[from] Full),
    /// The step at this line passes a function as a value, or is the second one that puts functions into a
    /// container. The reference orders functions by age, and each is equal only to itself; in a batt, two
    /// functions from the same call are one.
    #[error("line {line}: a function as a value")]
    Function {
        /// The line.
        line: u32,
    },
    /// The program that starts at this line is not in the public dialect.
    #[error("line {line}: not of the public dialect")]
    Dialect {
        /// The line.
        line: u32,
    },
    /// The step at this line has more arguments than any function takes.
    #[error("line {line}: more than {MOST_ARGUMENTS} arguments")]
    Arguments {
        /// The line.
        line: u32,
    },
    /// The machine bails out of the step at this line, and the reference is not used.
    #[error("line {line}: {reason}")]
    BailOut {
        /// The line.
        line: u32,
        /// Why.
        reason: BailOut,
    },
}

/// The calls, constants and variables of added programs.
#[derive(Debug, Default)]
pub(super) struct Steps {
    /// The calls, by callee, number of arguments, and argument nodes.
    known: FxHashMap<[u32; 2 + MOST_ARGUMENTS], Known>,
    /// The nodes of primitives, and behind them those of constants, by number.
    named: Vec<Option<NodeId>>,
    /// The nodes of the current program's variables.
    variables: Vec<NodeId>,
}

#[derive(Debug, Clone, Copy)]
struct Known {
    node: NodeId,
    /// The most steps that it took on an input.
    steps: u32,
    /// Whether its values contain functions.
    holds_functions: bool,
}

impl Steps {
    /// Clears everything: all parts name nodes, and a refused program may have left nothing but an entry here.
    pub(super) fn clear(&mut self) {
        let Self {
            known,
            named,
            variables,
        } = self;
        known.clear();
        named.clear();
        variables.clear();
    }

    /// The bytes that it has allocated.
    pub(super) fn bytes(&self) -> usize {
        const ENTRY: usize = size_of::<[u32; 2 + MOST_ARGUMENTS]>() + size_of::<Known>() + 1;
        self.known.capacity() * ENTRY * 8 / 7
    }

    /// The bytes in use.
    #[inline]
    pub(super) fn used(&self) -> usize {
        const ENTRY: usize = size_of::<[u32; 2 + MOST_ARGUMENTS]>() + size_of::<Known>() + 1;
        self.known.len() * 2 * ENTRY
    }

    /// Frees what is reserved and not in use.
    pub(super) fn shrink(&mut self) {
        self.known.shrink_to_fit();
    }
}

impl Batt {
    /// A batt of these programs over these inputs, and the outcome of adding each: calls that they share are
    /// evaluated once. [`Bounds::keeps_failing`] counts as true.
    ///
    /// ```
    /// use arc_cpu::{Batt, Bounds};
    /// use arc_dsl::Grid;
    /// use arc_text::parse_programs;
    /// let text = "
    /// def largest(I):
    ///     x1 = objects(I, T, F, T)
    ///     x2 = argmax(x1, size)
    ///     O = subgrid(x2, I)
    ///     return O
    /// def count(I):
    ///     x1 = objects(I, T, F, T)
    ///     O = size(x1)
    ///     return O
    /// ";
    /// let programs: Result<Vec<_>, _> = parse_programs(text).into_iter().collect();
    /// // The second input has no object: there is no largest, but a number of them.
    /// let inputs = [Grid::from_rows(&[[0, 3, 3], [0, 0, 0]])?, Grid::filled(3, 3, 0)];
    /// let (batt, merged) = Batt::of(&programs?, &inputs, &[], Bounds::default());
    /// let [largest, count] = [0, 1].map(|at| merged[at].as_ref().unwrap());
    /// assert_eq!(batt.result(largest, 0)?.to_string(), "((3, 3),)");
    /// let error = batt.result(largest, 1).unwrap_err();
    /// assert_eq!(error.to_string(), "line 4: argmax: expected at least one element, found none");
    /// assert_eq!(batt.result(count, 1)?.to_string(), "0");
    /// assert_eq!((count.calls(), count.shared()), (2, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of<'p>(
        programs: impl IntoIterator<Item = &'p Program>,
        inputs: &[Grid],
        targets: &[Option<Grid>],
        bounds: Bounds,
    ) -> (Self, Vec<Result<Merged, Refused>>) {
        let mut batt = Self::new(inputs, targets, bounds);
        let programs = programs.into_iter();
        let merged = programs.map(|program| batt.add(program)).collect();
        (batt, merged)
    }

    /// Adds a program: its calls in order, failing ones too, up to the one after which it has failed on every
    /// input.
    ///
    /// Its result on an input is what the reference gives for it alone, with one difference: bounds apply to
    /// each call, so the batt may get further than an evaluation of the whole program, and reaches a limit only
    /// if one call takes too much.
    pub fn add(&mut self, program: &Program) -> Result<Merged, Refused> {
        if program.dialect() != Dialect::Public || program.python().is_some() {
            let line = program.line();
            return Err(Refused::Dialect { line });
        }
        let kept = std::mem::replace(&mut self.bounds.keeps_failing, true);
        let mut variables = std::mem::take(&mut self.steps.variables);
        variables.clear();
        variables.push(self.input());
        // Equal calls are one node, and so are equal literals.
        self.interpreter = std::mem::take(&mut self.interpreter).with_identity(Identity::Merged);
        let mut merged = Merged::default();
        let added = self.add_all(program, &mut variables, &mut merged);
        self.steps.variables = variables;
        self.bounds.keeps_failing = kept;
        added.map(|()| merged)
    }

    /// The value of a program on an input, or the error with which it ends there. An output that is a function
    /// is built for that, which may reach a bound.
    pub fn result(&self, merged: &Merged, input: usize) -> Result<Value, EvalError> {
        match (merged.error(input), merged.output) {
            (Some(error), _) => Err(*error),
            (None, Some(output)) => self.value(output, input),
            // There are no inputs.
            (None, None) => Ok(Value::Nothing),
        }
    }

    fn add_all(
        &mut self,
        program: &Program,
        variables: &mut Vec<NodeId>,
        merged: &mut Merged,
    ) -> Result<(), Refused> {
        for step in program.steps() {
            let node = self.add_step(step, variables, merged)?;
            variables.push(node);
            if !self.nodes[node.index()].fails {
                continue;
            }
            for input in 0..self.inputs {
                if merged.error(input).is_none()
                    && let Some(error) = self.error(node, input)
                {
                    let line = step.line;
                    let error = EvalError { line, ..error };
                    let error = self.with_kind(error, program, step, variables, input);
                    merged.failures.push((input as u32, error));
                }
            }
            if merged.failures.len() == self.inputs {
                return Ok(());
            }
        }
        merged.output = Some(self.operand(program.output(), variables)?);
        Ok(())
    }

    fn add_step(
        &mut self,
        step: &Step,
        variables: &[NodeId],
        merged: &mut Merged,
    ) -> Result<NodeId, Refused> {
        let line = step.line;
        if step.arguments.len() > MOST_ARGUMENTS {
            return Err(Refused::Arguments { line });
        }
        let (called, number) = match step.callee {
            Callee::Primitive(primitive) => {
                (Called::Primitive(primitive), (primitive as u32) << 1 | 1)
            }
            Callee::Typed(_) => return Err(Refused::Dialect { line }),
            Callee::Slot(slot) => {
                let node = variables[slot.index()];
                (Called::Function(node), node.0 << 1)
            }
        };
        let mut arguments = [NodeId(0); MOST_ARGUMENTS];
        let mut key = [0; 2 + MOST_ARGUMENTS];
        for (at, operand) in step.arguments.iter().enumerate() {
            arguments[at] = self.operand(operand, variables)?;
            key[2 + at] = arguments[at].0;
        }
        let count = step.arguments.len();
        let arguments = &arguments[..count];
        (key[0], key[1]) = (number, count as u32);
        merged.calls += 1;
        if let Some(known) = self.steps.known.get(&key) {
            merged.shared += 1;
            return merged.take(*known, line);
        }
        if self.passes_a_function(called, arguments) {
            return Err(Refused::Function { line });
        }
        self.has_room()?;
        // Building a function is not an evaluation.
        self.spent = 1;
        let node = match self.push(called, arguments)? {
            Pushed::New(node) | Pushed::Same(node) => node,
            Pushed::Failed(Failed { why, .. }) => {
                // Errors do not occur here, since failing calls are kept.
                let reason = match why {
                    Why::BailOut(reason) => reason,
                    Why::Error(_) => BailOut::Fails,
                };
                return Err(Refused::BailOut { line, reason });
            }
        };
        let known = Known {
            node,
            steps: u32::try_from(self.spent).unwrap_or(u32::MAX),
            holds_functions: self.holds_functions(node),
        };
        self.steps.known.insert(key, known);
        merged.take(known, line)
    }

    fn operand(&mut self, operand: &Operand, variables: &[NodeId]) -> Result<NodeId, Full> {
        let (at, value) = match operand {
            Operand::Slot(slot) => return Ok(variables[slot.index()]),
            Operand::Literal(value) => return self.constant(value),
            Operand::Primitive(primitive) => (*primitive as usize, Value::primitive(*primitive)),
            Operand::Constant(constant) => {
                let at = Primitive::ALL.len() + *constant as usize;
                (at, constant.value())
            }
        };
        if let Some(Some(node)) = self.steps.named.get(at) {
            return Ok(*node);
        }
        let node = self.constant(value)?;
        let named = &mut self.steps.named;
        named.resize(named.len().max(at + 1), None);
        named[at] = Some(node);
        Ok(node)
    }

    /// Checks that the table of calls leaves room for more.
    fn has_room(&mut self) -> Result<(), Full> {
        if self.used_bytes() <= self.bounds.max_bytes {
            return Ok(());
        }
        self.reference_values.get_mut().clear();
        let bytes = self.used_bytes();
        if bytes > self.bounds.max_bytes {
            let most = self.bounds.max_bytes;
            return Err(Full { bytes, most });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
