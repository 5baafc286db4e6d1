//! Mutants: programs with changes that may be meaningless.
//!
//! A [variation](Generator::variation) respects the types of signatures, and so finds no cases where one executor
//! accepts fewer or more values than another. A mutant passes anything anywhere.

use arc_isa::{Primitive, Type};

use super::Generator;
use super::programs::literal;
use super::sketch::Sketch;
use crate::constants::Constant;
use crate::program::{Callee, Operand, Program, Slot};
use crate::value::Value;

/// The most changes of one mutant.
const MOST_CHANGES: usize = 3;

impl Generator {
    /// The program with one to three changes, about half of which are those of a [`variation`](Generator::variation).
    /// The others ignore types: any earlier variable, constant, primitive or value as an argument; any primitive with
    /// the same number of arguments; swapped arguments; a step removed; a step repeated. Occasionally the changes have
    /// no effect.
    pub fn mutant(&mut self, program: &Program) -> Program {
        let mut sketch = Sketch::new(program);
        for _ in 0..=self.dice.below(MOST_CHANGES) {
            if sketch.steps.is_empty() {
                break;
            }
            self.change_scene();
            let step = self.dice.below(sketch.steps.len());
            if self.dice.chance(50) {
                self.vary(&mut sketch, step);
            } else {
                self.mutate(&mut sketch, step);
            }
        }
        sketch.build().unwrap_or_else(|_| program.clone())
    }

    fn mutate(&mut self, sketch: &mut Sketch, step: usize) {
        match self.dice.below(20) {
            0..7 => self.replace_argument(sketch, step, |_| true),
            7..10 => self.replace_callee(sketch, step),
            10..12 => self.swap_arguments(sketch, step),
            12..14 => self.leave_out(sketch, step),
            14..16 => self.repeat(sketch, step),
            // The functions passed to higher-order primitives, in any step.
            16..18 => {
                let step = self.step_with(sketch, step, is_function);
                self.replace_argument(sketch, step, is_function);
            }
            18 => {
                let step = self.step_with(sketch, step, is_value);
                self.replace_argument(sketch, step, is_value);
            }
            _ => sketch.output = Operand::Slot(self.variable(sketch.steps.len())),
        }
    }

    /// A step with such an argument; `otherwise` if there is none.
    fn step_with(
        &mut self,
        sketch: &Sketch,
        otherwise: usize,
        wanted: fn(&Operand) -> bool,
    ) -> usize {
        let steps = sketch.steps.iter().enumerate();
        let suiting: Vec<_> = steps
            .filter(|(_, (_, arguments))| arguments.iter().any(wanted))
            .map(|(step, _)| step)
            .collect();
        if suiting.is_empty() {
            return otherwise;
        }
        *self.dice.pick(&suiting)
    }

    /// Replaces one of the step's arguments that are `wanted` by anything.
    fn replace_argument(&mut self, sketch: &mut Sketch, step: usize, wanted: fn(&Operand) -> bool) {
        let arguments = sketch.steps[step].1.iter().enumerate();
        let suiting: Vec<_> = arguments
            .filter(|(_, argument)| wanted(argument))
            .map(|(at, _)| at)
            .collect();
        if !suiting.is_empty() {
            let at = *self.dice.pick(&suiting);
            sketch.steps[step].1[at] = self.anything(step);
        }
    }

    /// Any earlier variable, constant, primitive or value.
    fn anything(&mut self, step: usize) -> Operand {
        match self.dice.below(20) {
            0..9 => Operand::Slot(self.variable(step)),
            9..14 => Operand::Constant(*self.dice.pick(Constant::ALL)),
            14..17 => Operand::Primitive(*self.dice.pick(Primitive::ALL)),
            17 => literal(Value::Int(self.integer())),
            18 => literal(Value::Loc(self.pair())),
            _ => {
                let ty = *self.dice.pick(Type::ALL);
                literal(self.typed(ty, "").0)
            }
        }
    }

    /// Any variable that is set before the step, including the input.
    fn variable(&mut self, step: usize) -> Slot {
        Slot::at(self.dice.below(step + 1))
    }

    /// Calls any primitive with the same number of arguments, occasionally a variable.
    fn replace_callee(&mut self, sketch: &mut Sketch, step: usize) {
        let count = sketch.steps[step].1.len();
        let suiting: Vec<_> = Primitive::ALL
            .iter()
            .copied()
            .filter(|primitive| primitive.parameters().len() == count)
            .collect();
        sketch.steps[step].0 = if suiting.is_empty() || self.dice.chance(10) {
            Callee::Slot(self.variable(step))
        } else {
            Callee::Primitive(*self.dice.pick(&suiting))
        };
    }

    fn swap_arguments(&mut self, sketch: &mut Sketch, step: usize) {
        let count = sketch.steps[step].1.len();
        let (a, b) = (self.dice.below(count), self.dice.below(count));
        if a != b {
            sketch.steps[step].1.swap(a, b);
        }
    }

    /// Removes a step; its result is replaced by any earlier variable.
    fn leave_out(&mut self, sketch: &mut Sketch, step: usize) {
        let instead = Operand::Slot(self.variable(step));
        if let Some(without) = sketch.without(step, &instead) {
            *sketch = without;
        }
    }

    /// Repeats a step, with its result as one of its arguments.
    fn repeat(&mut self, sketch: &mut Sketch, step: usize) {
        let count = sketch.steps[step].1.len();
        if count > 0 {
            *sketch = sketch.with_repeated(step, self.dice.below(count));
        }
    }
}

fn is_function(operand: &Operand) -> bool {
    matches!(operand, Operand::Primitive(_))
}

fn is_value(operand: &Operand) -> bool {
    matches!(operand, Operand::Constant(_) | Operand::Literal(_))
}
