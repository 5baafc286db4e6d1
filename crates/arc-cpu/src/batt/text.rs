//! The program of a node.

use arc_dsl::{BuildError, Callee, Operand, Program, ProgramBuilder};
use rustc_hash::FxHashMap;

use super::{Batt, Called, NodeId, Source};

impl Batt {
    /// The program whose output is the node: the shortest one found so far, counted in calls, as far as the
    /// batt could keep it. A call is placed where it is first needed. Returns an error if a constant exceeds
    /// the bounds of literals, or if a primitive that is called as a function has the wrong number of
    /// arguments, so that the program fails on every input.
    pub fn program(&self, node: NodeId, name: &str) -> Result<Program, BuildError> {
        let mut builder = ProgramBuilder::new(name);
        let mut made = FxHashMap::default();
        let output = self.write(&mut builder, &mut made, node, true)?;
        builder.finish(output)
    }

    /// Adds the calls of nodes to a program with the inputs of the batt, each call once, and returns the
    /// operand for each of the nodes. Errors are those of [`program`](Self::program).
    pub fn write_steps(
        &self,
        builder: &mut ProgramBuilder,
        nodes: &[NodeId],
    ) -> Result<Vec<Operand>, BuildError> {
        let mut made = FxHashMap::default();
        let mut operands = Vec::with_capacity(nodes.len());
        for node in nodes {
            operands.push(self.write(builder, &mut made, *node, false)?);
        }
        Ok(operands)
    }

    /// Adds the calls of a node; if it is an output, the last call gets the name of an output.
    fn write(
        &self,
        builder: &mut ProgramBuilder,
        made: &mut FxHashMap<u32, Operand>,
        node: NodeId,
        is_output: bool,
    ) -> Result<Operand, BuildError> {
        // A node waits on the stack for its operands.
        let mut stack = vec![node.0];
        let mut calls = 0;
        while let Some(&number) = stack.last() {
            if made.contains_key(&number) {
                stack.pop();
                continue;
            }
            let operand = match &self.nodes[number as usize].source {
                Source::Input => builder.input(),
                Source::Constant(value) => Operand::Literal(value.clone()),
                Source::Primitive(primitive) => Operand::Primitive(*primitive),
                Source::Call {
                    called,
                    count,
                    arguments,
                } => {
                    let function = match called {
                        Called::Primitive(_) | Called::Defined(_) => None,
                        Called::Function(function) => Some(function.0),
                    };
                    let arguments = &arguments[..usize::from(*count)];
                    let waiting = stack.len();
                    let needed = function.iter().chain(arguments);
                    stack.extend(needed.rev().filter(|number| !made.contains_key(number)));
                    if stack.len() > waiting {
                        continue;
                    }
                    let given = arguments.iter().map(|number| made[number].clone());
                    let callee = match called {
                        Called::Defined(function) => {
                            let function = &self.defined[usize::from(function.0)];
                            let given: Vec<_> = given.collect();
                            let operand = builder.inline(function, &given)?;
                            calls += function.steps().len() as u32;
                            made.insert(number, operand);
                            stack.pop();
                            continue;
                        }
                        Called::Primitive(primitive) => Callee::Primitive(*primitive),
                        Called::Function(function) => {
                            let callee = made[&function.0].callee();
                            callee.ok_or(BuildError::UnknownSlot)?
                        }
                    };
                    calls += 1;
                    if is_output && number == node.0 {
                        let line = calls + 1;
                        builder.step(line, "O".to_owned(), callee, given.collect())?
                    } else {
                        builder.call(callee, given)?
                    }
                }
            };
            made.insert(number, operand);
            stack.pop();
        }
        Ok(made[&node.0].clone())
    }
}
