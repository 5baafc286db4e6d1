//! A form of several results: its steps are split into units, each of which may fail without the others.

use std::ops::Range;

use super::{Lowering, Steps};
use crate::bail_out::Unsupported;
use crate::machine::Machine;
use crate::program::{CompiledOutput, MultiOutput, Need, Unit};
use arc_form::{Form, Id, Instruction, Needs, Representation, Type};

/// Units under construction.
struct Units {
    /// Checks that constants fit a machine: one that does not fit must not end results that do not need it.
    trial: Machine,
    drafts: Vec<Draft>,
    /// The unit that computes each value of the body; `None` for other values.
    of: Vec<Option<u32>>,
}

/// A unit under construction.
struct Draft {
    steps: Range<usize>,
    reads: Vec<u32>,
    computed_by: ComputedBy,
    unsupported: Option<Unsupported>,
}

/// How the value of a unit is computed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ComputedBy {
    /// By the steps of the unit.
    OwnSteps,
    /// By the units that read it, inline; it has no steps of its own.
    Consumers,
}

impl Lowering {
    /// Lowers the body of a form of several results. An instruction without a kernel ends only the results that
    /// need it.
    ///
    /// Every instruction of the body is a unit: the steps that it is lowered to. A value that is never
    /// materialised has a unit without steps.
    pub(super) fn multi_output(&mut self, form: &Form) -> Result<MultiOutput, Unsupported> {
        let mut steps = Steps::new();
        let ids = form.ids as usize;
        let mut units = Units {
            trial: Machine::default(),
            drafts: Vec::with_capacity(form.body.instructions.len()),
            of: vec![None; ids],
        };
        for (id, ty) in &form.body.parameters {
            self.set_type(*id, ty.clone());
        }
        let mut instructions = form.body.instructions.iter();
        while let Some(instruction) = instructions.next() {
            let next = instructions.as_slice().first();
            let next = next.filter(|_| self.held(instruction.id) == Representation::Streamed);
            match next {
                Some(next) if self.stream_of_units(&mut steps, &mut units, instruction, next) => {
                    instructions.next();
                }
                _ => self.unit(&mut steps, &mut units, instruction),
            }
        }
        let multi_output = self.outputs(form, &mut units);
        self.finish_region(steps, 0, 0, [0; 2])?;
        Ok(multi_output)
    }

    /// Lowers the unit of an instruction.
    fn unit(&mut self, steps: &mut Steps, units: &mut Units, instruction: &Instruction) {
        if self.held(instruction.id) == Representation::Streamed {
            self.materialised.insert(instruction.id);
        }
        self.lower_units(steps, units, &[instruction], |lowering, steps| {
            lowering.instruction(steps, instruction)?;
            lowering.count(steps, instruction.id);
            Ok(())
        });
    }

    /// Lowers two instructions that are one loop, if both have kernels for all they read. Returns whether it
    /// did.
    fn stream_of_units(
        &mut self,
        steps: &mut Steps,
        units: &mut Units,
        producer: &Instruction,
        consumer: &Instruction,
    ) -> bool {
        let missing = |one: &Instruction| {
            let unit = |id: &Id| units.of[id.index()].map(|unit| &units.drafts[unit as usize]);
            let reads = one.reads();
            let mut reads = reads.iter().filter_map(unit);
            reads.any(|unit| unit.unsupported.is_some())
        };
        if missing(producer) || missing(consumer) {
            return false;
        }
        self.lower_units(steps, units, &[producer, consumer], |lowering, steps| {
            lowering.stream(steps, producer, consumer)
        });
        true
    }

    /// Lowers instructions that share their steps: all steps belong to the last one's unit.
    fn lower_units(
        &mut self,
        steps: &mut Steps,
        units: &mut Units,
        instructions: &[&Instruction],
        lower: impl FnOnce(&mut Self, &mut Steps) -> Result<(), Unsupported>,
    ) {
        let first = units.drafts.len();
        for instruction in instructions {
            let reads = units.reads(instruction);
            units.of[instruction.id.index()] = Some(units.drafts.len() as u32);
            units.drafts.push(Draft {
                steps: steps.len()..steps.len(),
                reads,
                computed_by: ComputedBy::Consumers,
                unsupported: None,
            });
        }
        let last = units.drafts.len() - 1;
        let missing = units.unsupported(first);
        let constants = self.code.constants.len();
        let origin = self.origin;
        let lowered = match missing {
            Some(reason) => Err(reason),
            None => lower(self, steps)
                .and_then(|()| self.expect_narrow(steps, &units.drafts[last]))
                .and_then(|()| self.expect_room(&mut units.trial, constants)),
        };
        if let Err(reason) = lowered {
            steps.truncate(units.drafts[last].steps.start);
            self.code.constants.truncate(constants);
            self.origin = origin;
            units.leave_out(first, &reason);
            return;
        }
        let unit = &mut units.drafts[last];
        unit.steps.end = steps.len();
        if !unit.steps.is_empty() {
            unit.computed_by = ComputedBy::OwnSteps;
        }
    }

    fn expect_narrow(&self, steps: &Steps, unit: &Draft) -> Result<(), Unsupported> {
        let mut made = steps[unit.steps.start..].iter();
        if made.all(|(step, _)| step.is_narrow()) {
            Ok(())
        } else {
            self.unsupported("more values than a step can number")
        }
    }

    /// Whether the constants from this one on fit a machine.
    fn expect_room(&self, trial: &mut Machine, from: usize) -> Result<(), Unsupported> {
        for (_, value, ty) in &self.code.constants[from..] {
            trial.memory.clear();
            trial.stack.clear();
            if let Err(bail_out) = trial.put(value, ty) {
                return self.unsupported(bail_out);
            }
        }
        Ok(())
    }

    /// The finished units, and the results with their needs.
    fn outputs(&mut self, form: &Form, units: &mut Units) -> MultiOutput {
        let mut multi_output = MultiOutput::default();
        let mut consumers = vec![Vec::new(); units.drafts.len()];
        for (number, unit) in units.drafts.iter().enumerate() {
            for read in &unit.reads {
                consumers[*read as usize].push(number as u32);
            }
        }
        let mut end = 0;
        for (unit, consumers) in units.drafts.iter().zip(consumers) {
            let reads = multi_output.numbers(&unit.reads);
            let consumers = multi_output.numbers(match unit.computed_by {
                ComputedBy::OwnSteps => &[],
                ComputedBy::Consumers => &consumers,
            });
            end = end.max(unit.steps.end);
            multi_output.units.push(Unit {
                end: end as u32,
                reads,
                consumers,
                is_left_out: unit.unsupported.is_some(),
            });
        }
        let all: Vec<_> = (0..).map(Some).zip(&form.body.instructions).collect();
        for (output, result) in form.outputs.iter().zip(&form.body.results) {
            let from = multi_output.needs.len();
            match &output.needs {
                Needs::All => {
                    let needs = all.iter().map(|(unit, one)| (*unit, one.line));
                    multi_output.need(needs);
                }
                Needs::These(needs) => {
                    let needs = needs
                        .iter()
                        .map(|need| (units.of[need.id.index()], need.line));
                    multi_output.need(needs);
                }
            }
            let needs = from as u32..multi_output.needs.len() as u32;
            let missing = multi_output.needs[from..]
                .iter()
                .find_map(|need| units.drafts[need.unit as usize].unsupported.clone());
            let constants = self.code.constants.len();
            let made = match missing {
                None => self.operand(result).and_then(|made| {
                    self.expect_room(&mut units.trial, constants)?;
                    Ok(made)
                }),
                Some(reason) => Err(reason),
            };
            let ((slot, ty), unsupported) = match made {
                Ok(made) => (made, None),
                Err(reason) => {
                    self.code.constants.truncate(constants);
                    ((0, Type::Never), Some(reason))
                }
            };
            multi_output.outputs.push(CompiledOutput {
                slot,
                ty,
                needs,
                unsupported,
            });
        }
        multi_output
    }
}

impl Units {
    /// The units whose values an instruction reads.
    fn reads(&self, instruction: &Instruction) -> Vec<u32> {
        let mut reads = Vec::new();
        for id in instruction.reads() {
            reads.extend(self.of[id.index()]);
        }
        reads.sort_unstable();
        reads.dedup();
        reads
    }

    /// Why the units from this one on cannot be lowered, if a unit that they read cannot.
    fn unsupported(&self, first: usize) -> Option<Unsupported> {
        let mut reads = self.drafts[first..].iter().flat_map(|unit| &unit.reads);
        reads.find_map(|read| self.drafts[*read as usize].unsupported.clone())
    }

    /// Leaves out the units from this one on, and those whose values they would have computed inline.
    fn leave_out(&mut self, first: usize, reason: &Unsupported) {
        for unit in first..self.drafts.len() {
            self.drafts[unit].unsupported.get_or_insert(reason.clone());
            for read in self.drafts[unit].reads.clone() {
                let read = &mut self.drafts[read as usize];
                if read.computed_by == ComputedBy::Consumers {
                    read.unsupported.get_or_insert(reason.clone());
                }
            }
        }
    }
}

impl MultiOutput {
    /// Stores these numbers and returns their range.
    fn numbers(&mut self, numbers: &[u32]) -> Range<u32> {
        let from = self.numbers.len() as u32;
        self.numbers.extend_from_slice(numbers);
        from..self.numbers.len() as u32
    }

    fn need(&mut self, needs: impl Iterator<Item = (Option<u32>, u32)>) {
        let needs = needs.filter_map(|(unit, line)| unit.map(|unit| Need { unit, line }));
        self.needs.extend(needs);
    }
}

#[cfg(test)]
mod tests {
    use arc_dsl::{Grid, Value};

    use crate::{BailOut, Compiled, Machine, Stop};

    #[test]
    fn what_others_make_of_a_value_decides_for_those_that_need_it_alone() {
        // The outline and the intersection are never materialised, only counted.
        let form = arc_form::parse(
            "form f(v0: grid):\n  v1: indices = ofcolor(v0, 1) @2\n  v2: indices = outbox(v1) @3\n  \
             v3: indices = intersection(v2, v1) @4\n  v4: int = size(v3) @5\n  \
             v5: int = divide(6, v4) @6\n  return v4 #0 [v1 @2, v2 @3, v3 @4, v4 @5]\n  \
             return v1 #1 [v1 @2, v2 @3]\n  return v5 #2 [v1 @7, v2 @8, v3 @9, v4 @10, v5 @11]\n  \
             return v0 #3 []\n",
        )
        .unwrap();
        let program = Compiled::new(&form).unwrap();
        let mut machine = Machine::default();
        let mut evaluator = arc_form::Evaluator::default();
        for grid in [
            Grid::from_rows(&[[0, 1, 0], [1, 0, 1]]).unwrap(),
            Grid::filled(3, 3, 1),
            Grid::filled(3, 3, 0),
        ] {
            let expected = evaluator.run_all(&form, &grid);
            let outputs = machine.run_all(&program, &grid);
            for (outcome, expected) in outputs.iter().zip(expected) {
                match (outcome, expected) {
                    (Ok(output), Ok(value)) => assert_eq!(output.value(), value),
                    (Err(Stop::Error(a)), Err(arc_form::Stop::Error(b))) => {
                        assert_eq!((a.line, a.kind), (b.line, b.kind));
                    }
                    // Either the outline or the count fails.
                    (Err(Stop::BailOut(BailOut::Fails)), Err(_)) => {}
                    (outcome, expected) => panic!("{outcome:?}, {expected:?}"),
                }
            }
        }
    }

    #[test]
    fn what_has_no_room_or_no_kernel_ends_what_needs_it() {
        let form = arc_form::parse(
            "form f(v0: grid):\n  v1: object = recolor(3, frozenset({(0, 0), (200, 0)})) @2\n  \
             v2: int = size(v1) @3\n  v3: int = height(v0) @2\n  return v2 #0 [v1 @2, v2 @3]\n  \
             return v3 #1 [v3 @2]\n  return frozenset({(0, 0), (200, 0)}) #2 []\n",
        )
        .unwrap();
        let program = Compiled::new(&form).unwrap();
        assert!(program.unsupported(0).is_some() && program.unsupported(1).is_none());
        let mut machine = Machine::default();
        let outputs = machine.run_all(&program, &Grid::filled(5, 2, 0));
        let back = Err(Stop::BailOut(BailOut::Kernel));
        let values = outputs.iter().map(|one| one.map(|one| one.value()));
        assert_eq!(
            values.collect::<Vec<_>>(),
            [back.clone(), Ok(Value::Int(5)), back]
        );
        // An input that does not fit planes ends all of them.
        let outputs = machine.run_all(&program, &Grid::filled(33, 2, 0));
        let mut outputs = outputs.iter();
        assert!(outputs.all(|one| matches!(one, Err(Stop::BailOut(_)))));
    }
}
