//! Variations: programs that resemble a given one except for a few changes.
//!
//! Random programs are rarely both long and meaningful. Programs written by people are, and a small change preserves
//! most of what they do.

use arc_isa::{Primitive, Type};

use super::Generator;
use super::sketch::Sketch;
use crate::program::{Callee, Operand, Program, Slot};
use crate::value::Value;

/// The most changes of one variation.
const MOST_CHANGES: usize = 3;

impl Generator {
    /// The program with one to three changes: another number, another variable of the same type, another primitive with
    /// the same parameter types, or a step removed. It may fail where the program did not, and occasionally a change
    /// has no effect.
    pub fn variation(&mut self, program: &Program) -> Program {
        let mut sketch = Sketch::new(program);
        for _ in 0..=self.dice.below(MOST_CHANGES) {
            if sketch.steps.is_empty() {
                break;
            }
            let step = self.dice.below(sketch.steps.len());
            self.vary(&mut sketch, step);
        }
        sketch.build().unwrap_or_else(|_| program.clone())
    }

    /// One change, at this step.
    pub(super) fn vary(&mut self, sketch: &mut Sketch, step: usize) {
        match self.dice.below(10) {
            0..6 => self.change_operand(sketch, step),
            6..9 => self.change_callee(sketch, step),
            _ => self.take_out(sketch, step),
        }
    }

    fn change_operand(&mut self, sketch: &mut Sketch, step: usize) {
        let count = sketch.steps[step].1.len();
        if count == 0 {
            return;
        }
        let at = self.dice.below(count);
        let changed = match &sketch.steps[step].1[at] {
            Operand::Slot(slot) => self.other_variable(sketch, *slot, step),
            Operand::Primitive(primitive) => Operand::Primitive(self.like(*primitive)),
            Operand::Constant(constant) => self.other_value(constant.value()),
            Operand::Literal(value) => self.other_value(value),
        };
        sketch.steps[step].1[at] = changed;
    }

    /// A variable set before the step whose type has the same name.
    fn other_variable(&mut self, sketch: &Sketch, slot: Slot, step: usize) -> Operand {
        let ty = type_of(sketch, slot);
        let all = (0..=step).map(Slot::at);
        let suiting: Vec<_> = all.filter(|&other| type_of(sketch, other) == ty).collect();
        if suiting.is_empty() {
            return Operand::Slot(slot);
        }
        Operand::Slot(*self.dice.pick(&suiting))
    }

    fn other_value(&mut self, value: &Value) -> Operand {
        let other = match value {
            Value::Bool(b) => Value::Bool(!b),
            Value::Int(_) if self.dice.chance(50) => Value::Int(self.colour()),
            Value::Int(_) => Value::Int(self.integer()),
            Value::Loc(_) => Value::Loc(self.pair()),
            other => other.clone(),
        };
        Operand::Literal(other)
    }

    /// A primitive with the same number of parameters; mostly with the same types, if there is another one.
    fn like(&mut self, primitive: Primitive) -> Primitive {
        let exactly = self.dice.chance(85);
        let types = |p: Primitive| p.parameters().iter().map(|(_, ty)| *ty);
        let alike = |another: &Primitive| {
            if exactly {
                types(*another).eq(types(primitive)) && another.returns() == primitive.returns()
            } else {
                types(*another).len() == types(primitive).len()
            }
        };
        let alike: Vec<_> = Primitive::ALL.iter().copied().filter(alike).collect();
        // The primitive itself is among them.
        *self.dice.pick(&alike)
    }

    fn change_callee(&mut self, sketch: &mut Sketch, step: usize) {
        if let Callee::Primitive(primitive) = sketch.steps[step].0 {
            sketch.steps[step].0 = Callee::Primitive(self.like(primitive));
        }
    }

    /// Removes a step; one of its arguments replaces its result.
    fn take_out(&mut self, sketch: &mut Sketch, step: usize) {
        let arguments = sketch.steps[step].1.clone();
        if arguments.is_empty() {
            return;
        }
        if let Some(without) = sketch.without(step, self.dice.pick(&arguments)) {
            *sketch = without;
        }
    }
}

/// The type of a variable according to the signature of what sets it; `None` for the result of a function.
fn type_of(sketch: &Sketch, slot: Slot) -> Option<Type> {
    let Some(step) = slot.index().checked_sub(1) else {
        return Some(Type::Grid);
    };
    match sketch.steps.get(step)?.0 {
        Callee::Primitive(primitive) => Some(primitive.returns()),
        Callee::Typed(_) | Callee::Slot(_) => None,
    }
}
