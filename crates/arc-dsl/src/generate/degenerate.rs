//! Programs on empty values, for which executors often have special cases.

use arc_isa::{Primitive, Type};

use super::Generator;
use super::inference::{self, InferredType, accepts};
use super::programs::{Draft, finish, literal};
use crate::program::{BuildError, Operand, Program};
use crate::value::Value;

/// The colour that no input may have, so that nothing is found when searching for it.
const ABSENT: i32 = 9;

impl Generator {
    /// A program that calls this primitive, as far as its signature allows, on empty grids and patches, empty
    /// containers and sizes of 0 and below, and then about `steps` further primitives. Some arguments are tuples where
    /// the signature names a set.
    ///
    /// The values are computed from the input, so that no compiler can know them: they come from cells of colour 9,
    /// which the input must not have.
    pub fn degenerate_program(
        &mut self,
        primitive: Primitive,
        steps: usize,
    ) -> Result<Program, BuildError> {
        let mut draft = Draft::new("solve_random");
        self.change_scene();
        self.add_degenerate(&mut draft)?;
        self.call_loosely(&mut draft, primitive)?;
        for _ in 0..steps {
            match self.dice.below(4) {
                0 => self.add_call_with_function(&mut draft)?,
                1 => self.add_call(&mut draft)?,
                _ => {
                    let any = *self.dice.pick(Primitive::ALL);
                    self.call_loosely(&mut draft, any)?;
                }
            }
        }
        finish(draft)
    }

    /// Adds variables with empty values, and a few with non-empty ones.
    fn add_degenerate(&mut self, draft: &mut Draft) -> Result<(), BuildError> {
        use Primitive as P;
        let input = draft.builder.input();
        let absent = || literal(Value::Int(ABSENT));
        let flag = |flag: bool| literal(Value::Bool(flag));
        let number = |number: i32| literal(Value::Int(number));
        let zero = draft.call(
            P::Colorcount,
            vec![input.clone(), absent()],
            InferredType::Integer,
        )?;
        let below = number(*self.dice.pick(&[1, 2, 5, 100]));
        let below = draft.call(
            P::Subtract,
            vec![zero.clone(), below],
            InferredType::Integer,
        )?;
        let some = draft.call(P::Add, vec![zero.clone(), number(2)], InferredType::Integer)?;
        let none = draft.call(
            P::Ofcolor,
            vec![input.clone(), absent()],
            InferredType::indices(),
        )?;
        let counts = [zero, below, some];
        for _ in 0..3 + self.dice.below(3) {
            let colour = number(self.colour());
            match self.dice.below(9) {
                0..3 => {
                    let side = |generator: &mut Self| generator.dice.pick(&counts).clone();
                    let sides = vec![side(self), side(self)];
                    let size = draft.call(P::Astuple, sides, InferredType::Pair)?;
                    draft.call(P::Canvas, vec![colour, size], InferredType::Grid)?;
                }
                3 => drop(draft.call(
                    P::Recolor,
                    vec![colour, none.clone()],
                    InferredType::object(),
                )?),
                4 => drop(draft.call(P::Asobject, vec![input.clone()], InferredType::object())?),
                5 => {
                    let settings = vec![input.clone(), flag(true), flag(false), flag(false)];
                    let all = draft.call(P::Objects, settings, InferredType::objects())?;
                    let chosen = vec![all, absent()];
                    draft.call(P::Colorfilter, chosen, InferredType::objects())?;
                }
                6 | 7 => {
                    let (value, kind) = self.dice.pick(&draft.variables).clone();
                    let count = self.dice.pick(&counts).clone();
                    draft.call(P::Repeat, vec![value, count], InferredType::tuple(kind))?;
                }
                // The cells of objects, one after the other.
                _ => {
                    let cells =
                        draft.call(P::Asobject, vec![input.clone()], InferredType::object())?;
                    let count = self.dice.pick(&counts).clone();
                    let all = vec![cells, count.clone()];
                    let all =
                        draft.call(P::Repeat, all, InferredType::tuple(InferredType::object()))?;
                    let offset = literal(Value::Loc(self.pair()));
                    let by = vec![offset, count];
                    let by = draft.call(P::Repeat, by, InferredType::tuple(InferredType::Pair))?;
                    let moved = vec![Operand::Primitive(P::Shift), all, by];
                    draft.call(P::Mpapply, moved, InferredType::tuple(InferredType::Cell))?;
                }
            }
        }
        Ok(())
    }

    /// Calls a primitive on any variables that it accepts, early and late ones alike.
    fn call_loosely(&mut self, draft: &mut Draft, primitive: Primitive) -> Result<(), BuildError> {
        let (mut arguments, mut kinds) = (Vec::new(), Vec::new());
        for (name, ty) in primitive.parameters() {
            let all = draft.variables.iter();
            let suiting: Vec<_> = all.filter(|(_, kind)| takes(*ty, kind)).collect();
            let (operand, kind) = if !suiting.is_empty() && self.dice.chance(90) {
                (*self.dice.pick(&suiting)).clone()
            } else {
                let (value, kind) = self.typed(*ty, name);
                (literal(value), kind)
            };
            arguments.push(operand);
            kinds.push(kind);
        }
        let kind = inference::result(primitive, &kinds);
        draft.call(primitive, arguments, kind).map(drop)
    }
}

/// Whether a value of this kind can be passed for this type, including a tuple in place of a set.
fn takes(wanted: Type, kind: &InferredType) -> bool {
    match kind {
        InferredType::Tuple(element) => {
            accepts(wanted, kind) || accepts(wanted, &InferredType::set((**element).clone()))
        }
        _ => accepts(wanted, kind),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::container::Container;
    use crate::{Grid, Interpreter};

    /// Some calls of every primitive have an empty argument, and some of these return a value.
    #[test]
    fn every_primitive_is_called_on_values_of_nothing() {
        let mut generator = Generator::new(5);
        let input = Grid::from_rows(&[[1, 0, 2], [0, 3, 3]]).unwrap();
        let (mut values, mut empty) = (0, 0);
        for primitive in Primitive::ALL {
            for _ in 0..6 {
                let program = generator.degenerate_program(*primitive, 1).unwrap();
                assert!(program.to_string().contains(primitive.name()));
                if let Ok(value) = Interpreter::default().run(&program, input.clone()) {
                    values += 1;
                    let is_empty = value.as_container().is_some_and(Container::is_empty);
                    empty += usize::from(is_empty || value == Value::Int(0));
                }
            }
        }
        let all = Primitive::ALL.len() * 6;
        assert!(
            values > all / 4 && empty > all / 20,
            "{values} {empty} {all}"
        );
    }
}
