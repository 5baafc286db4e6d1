//! A form of several results: its steps in units, each of which may fail without the others.

use std::ops::Range;

use super::{Lowering, Steps};
use crate::bail_out::Unsupported;
use crate::machine::Machine;
use crate::program::{Given, Need, Several, Unit};
use arc_form::{Form, Id, Instruction, Needs, Representation, Type};

/// Units while they are made.
struct Units {
    /// Where constants are tried, since one that has no room must not end what does not need it.
    trial: Machine,
    made: Vec<Draft>,
    /// The unit of the instruction that makes each value of the body; none for others.
    of: Vec<Option<u32>>,
}

/// A unit while it is made.
struct Draft {
    steps: Range<usize>,
    reads: Vec<u32>,
    making: Making,
    unsupported: Option<Unsupported>,
}

/// Where the value of a unit is made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Making {
    /// By its steps.
    Here,
    /// By those that take it, if anything is left to be made.
    Apart,
}

impl Lowering {
    /// Makes the body of a form of several results. What has no steps is left to the results that
    /// do not need it.
    ///
    /// Every instruction of the body is a unit: the steps that are made while it is lowered. Where a
    /// value is held so that nothing is made of it, its unit has none.
    pub(super) fn several(&mut self, form: &Form) -> Result<Several, Unsupported> {
        let mut steps = Steps::new();
        let ids = form.ids as usize;
        let mut units = Units {
            trial: Machine::default(),
            made: Vec::with_capacity(form.body.instructions.len()),
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
        let several = self.outputs(form, &mut units);
        self.finish_region(steps, 0, 0, [0; 2])?;
        Ok(several)
    }

    /// Makes the unit of an instruction.
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

    /// Makes the units of two instructions that are one loop, if both can be made. Gives whether it
    /// did.
    fn stream_of_units(
        &mut self,
        steps: &mut Steps,
        units: &mut Units,
        maker: &Instruction,
        taker: &Instruction,
    ) -> bool {
        let missing = |one: &Instruction| {
            let unit = |id: &Id| units.of[id.index()].map(|unit| &units.made[unit as usize]);
            let reads = one.reads();
            let mut reads = reads.iter().filter_map(unit);
            reads.any(|unit| unit.unsupported.is_some())
        };
        if missing(maker) || missing(taker) {
            return false;
        }
        self.lower_units(steps, units, &[maker, taker], |lowering, steps| {
            lowering.stream(steps, maker, taker)
        });
        true
    }

    /// Makes the units of instructions that are lowered at once: all steps are the last one's.
    fn lower_units(
        &mut self,
        steps: &mut Steps,
        units: &mut Units,
        instructions: &[&Instruction],
        lower: impl FnOnce(&mut Self, &mut Steps) -> Result<(), Unsupported>,
    ) {
        let first = units.made.len();
        for instruction in instructions {
            let reads = units.reads(instruction);
            units.of[instruction.id.index()] = Some(units.made.len() as u32);
            units.made.push(Draft {
                steps: steps.len()..steps.len(),
                reads,
                making: Making::Apart,
                unsupported: None,
            });
        }
        let last = units.made.len() - 1;
        let missing = units.unsupported(first);
        let constants = self.code.constants.len();
        let place = self.save_point();
        let lowered = match missing {
            Some(reason) => Err(reason),
            None => lower(self, steps)
                .and_then(|()| self.expect_narrow(steps, &units.made[last]))
                .and_then(|()| self.expect_room(&mut units.trial, constants)),
        };
        if let Err(reason) = lowered {
            steps.truncate(units.made[last].steps.start);
            self.code.constants.truncate(constants);
            self.roll_back(&place);
            units.leave_out(first, &reason);
            return;
        }
        let unit = &mut units.made[last];
        unit.steps.end = steps.len();
        if !unit.steps.is_empty() {
            unit.making = Making::Here;
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

    /// Whether a machine has room for the constants from this one on.
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

    /// What the machine keeps of the units, and the results with what they need.
    fn outputs(&mut self, form: &Form, units: &mut Units) -> Several {
        let mut several = Several::default();
        let mut takers = vec![Vec::new(); units.made.len()];
        for (number, unit) in units.made.iter().enumerate() {
            for read in &unit.reads {
                takers[*read as usize].push(number as u32);
            }
        }
        let mut end = 0;
        for (unit, takers) in units.made.iter().zip(takers) {
            let reads = several.numbers(&unit.reads);
            let takers = several.numbers(match unit.making {
                Making::Here => &[],
                Making::Apart => &takers,
            });
            end = end.max(unit.steps.end);
            several.units.push(Unit {
                end: end as u32,
                reads,
                takers,
                is_left_out: unit.unsupported.is_some(),
            });
        }
        let all: Vec<_> = (0..).map(Some).zip(&form.body.instructions).collect();
        for (output, result) in form.outputs.iter().zip(&form.body.results) {
            let from = several.needs.len();
            match &output.needs {
                Needs::All => {
                    let needs = all.iter().map(|(unit, one)| (*unit, one.line));
                    several.need(needs);
                }
                Needs::These(needs) => {
                    let needs = needs
                        .iter()
                        .map(|need| (units.of[need.id.index()], need.line));
                    several.need(needs);
                }
            }
            let needs = from as u32..several.needs.len() as u32;
            let missing = several.needs[from..]
                .iter()
                .find_map(|need| units.made[need.unit as usize].unsupported.clone());
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
            several.outputs.push(Given {
                slot,
                ty,
                needs,
                unsupported,
            });
        }
        several
    }
}

impl Units {
    /// The units whose values an instruction takes.
    fn reads(&self, instruction: &Instruction) -> Vec<u32> {
        let mut reads = Vec::new();
        for id in instruction.reads() {
            reads.extend(self.of[id.index()]);
        }
        reads.sort_unstable();
        reads.dedup();
        reads
    }

    /// Why the units from this one on cannot be made, if a unit that they take is not.
    fn unsupported(&self, first: usize) -> Option<Unsupported> {
        let mut reads = self.made[first..].iter().flat_map(|unit| &unit.reads);
        reads.find_map(|read| self.made[*read as usize].unsupported.clone())
    }

    /// Leaves out the units from this one on, and those that they would have made the values of.
    fn leave_out(&mut self, first: usize, reason: &Unsupported) {
        for unit in first..self.made.len() {
            self.made[unit].unsupported.get_or_insert(reason.clone());
            for read in self.made[unit].reads.clone() {
                let read = &mut self.made[read as usize];
                if read.making == Making::Apart {
                    read.unsupported.get_or_insert(reason.clone());
                }
            }
        }
    }
}

impl Several {
    /// Keeps these, and gives where.
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
        // The outline and what it has in common with the locations are never made, but counted.
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
                    // It may be the outline that fails, or what counts.
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
        // An input without room ends all of them.
        let outputs = machine.run_all(&program, &Grid::filled(33, 2, 0));
        let mut outputs = outputs.iter();
        assert!(outputs.all(|one| matches!(one, Err(Stop::BailOut(_)))));
    }
}
