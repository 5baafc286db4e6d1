//! [`Sketch`]: a program whose steps can be removed and changed.

use crate::program::{BuildError, Callee, Operand, Program, ProgramBuilder, Slot};

/// A program in parts. Variable 0 is the input, variable `n + 1` the result of step `n`.
#[derive(Debug, Clone)]
pub struct Sketch {
    name: String,
    /// The callee and the arguments of each step.
    pub steps: Vec<(Callee, Vec<Operand>)>,
    /// The output of the program.
    pub output: Operand,
}

impl Sketch {
    /// The parts of this program.
    #[must_use]
    pub fn new(program: &Program) -> Self {
        let steps = program.steps().iter();
        Self {
            name: program.name().to_owned(),
            steps: steps
                .map(|step| (step.callee, step.arguments.to_vec()))
                .collect(),
            output: program.output().clone(),
        }
    }

    /// Builds the program; an error says why it would not be a valid one.
    pub fn build(&self) -> Result<Program, BuildError> {
        let mut builder = ProgramBuilder::new(&self.name);
        for (callee, arguments) in &self.steps {
            builder.call(*callee, arguments.iter().cloned())?;
        }
        builder.finish(self.output.clone())
    }

    /// The first steps; the result of the last one is the output.
    #[must_use]
    pub fn prefix(&self, steps: usize) -> Self {
        Self {
            name: self.name.clone(),
            steps: self.steps[..steps.min(self.steps.len())].to_vec(),
            output: Operand::Slot(Slot::at(steps)),
        }
    }

    /// The program without one of its steps; `instead` replaces its result: a value, or a variable set before it.
    /// `None` if the result is called and `instead` cannot be.
    #[must_use]
    pub fn without(&self, step: usize, instead: &Operand) -> Option<Self> {
        let renamed = |operand: &Operand| match operand {
            Operand::Slot(slot) if slot.index() == step + 1 => instead.clone(),
            Operand::Slot(slot) if slot.index() > step + 1 => {
                Operand::Slot(Slot::at(slot.index() - 1))
            }
            other => other.clone(),
        };
        let callee = |callee: &Callee| match callee {
            Callee::Slot(slot) => renamed(&Operand::Slot(*slot)).callee(),
            primitive => Some(*primitive),
        };
        let mut steps = Vec::with_capacity(self.steps.len());
        for (at, (called, arguments)) in self.steps.iter().enumerate() {
            if at != step {
                steps.push((callee(called)?, arguments.iter().map(renamed).collect()));
            }
        }
        Some(Self {
            name: self.name.clone(),
            steps,
            output: renamed(&self.output),
        })
    }

    /// The program with one of its steps repeated: argument `at` of the second copy is the result of the first one, and
    /// the result of the second copy replaces that of the first one from then on.
    pub(super) fn with_repeated(&self, step: usize, at: usize) -> Self {
        let later = |slot: Slot| {
            let shift = usize::from(slot.index() > step);
            Slot::at(slot.index() + shift)
        };
        let renamed = |operand: &Operand| match operand {
            Operand::Slot(slot) => Operand::Slot(later(*slot)),
            other => other.clone(),
        };
        let mut steps = self.steps[..=step].to_vec();
        let (callee, mut arguments) = self.steps[step].clone();
        if let Some(argument) = arguments.get_mut(at) {
            *argument = Operand::Slot(Slot::at(step + 1));
        }
        steps.push((callee, arguments));
        for (callee, arguments) in &self.steps[step + 1..] {
            let callee = match callee {
                Callee::Slot(slot) => Callee::Slot(later(*slot)),
                primitive => *primitive,
            };
            steps.push((callee, arguments.iter().map(renamed).collect()));
        }
        Self {
            name: self.name.clone(),
            steps,
            output: renamed(&self.output),
        }
    }

    /// The number of operands, the output included.
    #[must_use]
    pub fn operands(&self) -> usize {
        self.steps.iter().map(|(_, a)| a.len()).sum::<usize>() + 1
    }

    /// One of them by its index; the output is the last.
    pub fn operand_mut(&mut self, number: usize) -> Option<&mut Operand> {
        let arguments = self.steps.iter_mut().flat_map(|(_, a)| a.iter_mut());
        let mut operands = arguments.chain(std::iter::once(&mut self.output));
        operands.nth(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Primitive;
    use crate::constants::Constant;

    #[test]
    fn a_step_is_repeated_on_what_it_gave_and_variables_after_it_are_renamed() {
        let mut builder = ProgramBuilder::new("f");
        let ends = [Primitive::First.into(), Primitive::Last.into()];
        let composed = builder.call(Primitive::Compose, ends).unwrap();
        let numbers = [Constant::ONE.into(), Constant::TWO.into()];
        let pair = builder.call(Primitive::Astuple, numbers).unwrap();
        let composed = composed.called().unwrap();
        builder.call(composed, [pair.clone()]).unwrap();
        let read = builder.finish(pair).unwrap();
        let repeated = Sketch::new(&read).with_repeated(1, 0).build().unwrap();
        let expected = "def f(I):\n    x1 = compose(first, last)\n    x2 = astuple(ONE, TWO)\n    \
                        x3 = astuple(x2, TWO)\n    x4 = x1(x3)\n    return x3\n";
        assert_eq!(repeated.to_string(), expected);
        let callee = Sketch::new(&read).with_repeated(0, 1).build().unwrap();
        assert!(callee.to_string().contains("x2 = compose(first, x1)\n"));
        assert!(callee.to_string().contains("x4 = x2(x3)\n"));
    }
}
