//! Seeded random values, arguments and programs: one generator for tests, fuzzing and benchmarks.
//!
//! The generated calls are well typed and mostly meaningful. A fixed share of them are edge cases of the DSL: empty
//! containers, single cells, negative and off-grid locations, ties, grids of one cell, one row or no cells, factors of
//! 0 and below. The same seed gives the same values on every machine.
//!
//! ```
//! use arc_dsl::generate::Generator;
//! use arc_dsl::{Interpreter, Primitive};
//! let mut generator = Generator::new(7);
//! let case = generator.case(Primitive::Fill);
//! println!("{case}");
//! let result = Interpreter::default().run(&case.program()?, arc_dsl::Grid::default());
//! assert_eq!(Generator::new(7).case(Primitive::Fill), case);
//! # let _ = result;
//! # Ok::<(), arc_dsl::BuildError>(())
//! ```

use std::borrow::Cow;
use std::fmt;

use arc_isa::{ContainerKind, Primitive, Type};

use crate::literal::write_list;
use crate::patch::{Cell, Loc};
use crate::program::{BuildError, Callee, Operand, Program, ProgramBuilder};
use crate::value::Value;

mod arguments;
mod compositions;
mod degenerate;
mod dice;
mod functions;
mod inference;
mod mutants;
mod programs;
mod scenes;
mod sketch;
mod typed;
mod variations;

pub use compositions::{composition, without_unused};
use dice::Dice;
use inference::InferredType;
use scenes::Scene;
pub use sketch::Sketch;
pub use typed::TypedCase;

/// An argument of a call: a value, or the calls that compute it.
///
/// A function value belongs to the evaluation that creates it, so it is given as an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expression {
    /// A value, which may be a primitive.
    Value(Value),
    /// A call of a primitive.
    Call(Primitive, Vec<Expression>),
}

impl Expression {
    /// Adds the calls to a program and returns the operand for the result.
    pub fn add_to(&self, builder: &mut ProgramBuilder) -> Result<Operand, BuildError> {
        match self {
            Expression::Value(Value::Primitive(primitive)) => Ok(Operand::Primitive(*primitive)),
            Expression::Value(value) => Ok(Operand::Literal(value.clone().into_literal())),
            Expression::Call(primitive, arguments) => {
                let arguments = operands(builder, arguments)?;
                builder.call(*primitive, arguments)
            }
        }
    }
}

fn operands(builder: &mut ProgramBuilder, all: &[Expression]) -> Result<Vec<Operand>, BuildError> {
    all.iter()
        .map(|expression| expression.add_to(builder))
        .collect()
}

impl<V: Into<Value>> From<V> for Expression {
    fn from(value: V) -> Self {
        Expression::Value(value.into())
    }
}

/// The text, which means the same as program text and in Python.
impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expression::Value(value) => value.fmt(f),
            Expression::Call(primitive, arguments) => {
                write!(f, "{primitive}(")?;
                write_list(f, arguments.iter())?;
                f.write_str(")")
            }
        }
    }
}

/// One call of a primitive; if it returns a function, the call of that function too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// What is called.
    pub primitive: Primitive,
    /// Its arguments.
    pub arguments: Vec<Expression>,
    /// The arguments of the function that the call returns; empty if it returns none.
    pub applied_to: Vec<Expression>,
}

impl Case {
    /// A program that performs the call, whatever its input.
    pub fn program(&self) -> Result<Program, BuildError> {
        let mut builder = ProgramBuilder::new("case");
        let arguments = operands(&mut builder, &self.arguments)?;
        let mut result = builder.call(self.primitive, arguments)?;
        if let (Operand::Slot(function), false) = (&result, self.applied_to.is_empty()) {
            let function = Callee::Slot(*function);
            let applied_to = operands(&mut builder, &self.applied_to)?;
            result = builder.call(function, applied_to)?;
        }
        builder.finish(result)
    }
}

/// Writes a call; if there are arguments for the function that it returns, also the call of that function.
fn write_call(
    f: &mut fmt::Formatter<'_>,
    primitive: impl fmt::Display,
    arguments: &[impl fmt::Display],
    applied_to: &[impl fmt::Display],
) -> fmt::Result {
    write!(f, "{primitive}(")?;
    write_list(f, arguments.iter())?;
    f.write_str(")")?;
    if !applied_to.is_empty() {
        f.write_str("(")?;
        write_list(f, applied_to.iter())?;
        f.write_str(")")?;
    }
    Ok(())
}

/// The call as Python text.
impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_call(f, self.primitive, &self.arguments, &self.applied_to)
    }
}

/// The kinds of containers in programs that are not grids, patches or sets of objects.
const CONTAINERS: &[fn() -> InferredType] = &[
    || InferredType::set(InferredType::Integer),
    InferredType::row,
    || InferredType::tuple(InferredType::Boolean),
    || InferredType::tuple(InferredType::Pair),
    || InferredType::tuple(InferredType::Cell),
    || InferredType::tuple(InferredType::Grid),
    || InferredType::tuple(InferredType::row()),
    || InferredType::tuple(InferredType::object()),
    || InferredType::tuple(InferredType::indices()),
    || InferredType::set(InferredType::row()),
    || InferredType::set(InferredType::indices()),
    || InferredType::set(InferredType::set(InferredType::Integer)),
    || InferredType::set(InferredType::tuple(InferredType::Pair)),
];

/// Generates random values, arguments and programs.
#[derive(Debug, Clone)]
pub struct Generator {
    dice: Dice,
    scenes: Vec<Scene>,
    /// The scene that values are currently drawn from.
    scene: usize,
    /// Containers that belong to no scene, by kind.
    containers: Vec<(InferredType, Vec<Value>)>,
}

impl Generator {
    /// A generator that draws from a few dozen grids.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self::with_scenes(seed, 32)
    }

    /// A generator that draws from this many grids (at least one), each with patches that belong to it. With few grids,
    /// values recur in many calls, which keeps collections of values small.
    pub fn with_scenes(seed: u64, scenes: usize) -> Self {
        let mut dice = Dice::new(seed);
        let scenes: Vec<_> = (0..scenes.max(1)).map(|_| Scene::new(&mut dice)).collect();
        let containers = Vec::with_capacity(CONTAINERS.len());
        let mut generator = Self {
            dice,
            scenes,
            scene: 0,
            containers,
        };
        let count = 4 + generator.scenes.len() / 6;
        for make in CONTAINERS {
            let kind = make();
            let values = (0..count).map(|_| generator.value_of(&kind)).collect();
            generator.containers.push((kind, values));
        }
        generator
    }

    /// This generator, with its next choices determined by these bytes, for a fuzzer that changes single bytes:
    /// changing one byte changes little of what is generated. After the last byte, choices are random again.
    #[must_use]
    pub fn choosing_by(&self, bytes: &[u8]) -> Self {
        let mut generator = self.clone();
        generator.dice.choose_by(bytes);
        generator
    }

    /// A value of this type; for [`Type::Callable`], a primitive.
    pub fn value(&mut self, ty: Type) -> Value {
        self.change_scene();
        self.typed(ty, "").0
    }

    /// Arguments for a call of the primitive.
    pub fn arguments(&mut self, primitive: Primitive) -> Vec<Expression> {
        self.case(primitive).arguments
    }

    /// A call of the primitive; if it returns a function, that function is applied to suitable arguments.
    pub fn case(&mut self, primitive: Primitive) -> Case {
        self.change_scene();
        self.call_of(primitive)
    }

    /// A call like those of [`case`](Self::case), except that one or more arguments have any type, or nearly their own.
    pub fn case_of_any_types(&mut self, primitive: Primitive) -> Case {
        let mut case = self.case(primitive);
        loop {
            let ty = *self.dice.pick(Type::ALL);
            let at = self.dice.below(case.arguments.len());
            case.arguments[at] = Expression::Value(match &case.arguments[at] {
                Expression::Value(value) if self.dice.chance(50) => {
                    let value = value.clone();
                    self.altered(value)
                }
                _ => self.typed(ty, "").0,
            });
            if self.dice.chance(70) {
                return case;
            }
        }
    }

    /// The value with a level more, a level less, or other elements: where a primitive takes a patch, a set of such
    /// elements often passes its first checks in Python.
    fn altered(&mut self, value: Value) -> Value {
        let Some(container) = value.as_container() else {
            return match (value, self.dice.below(3)) {
                (value, 0) => Value::tuple(vec![value]),
                (Value::Int(n), 1) => Value::Bool(n > 0),
                (value, _) => Value::pair(&Value::Int(self.integer()), &value),
            };
        };
        let mut is_set = container.kind == ContainerKind::Set;
        let mut elements: Vec<_> = container.iter().map(Cow::into_owned).collect();
        match self.dice.below(5) {
            0 => is_set = !is_set,
            1 => {
                for element in &mut elements {
                    *element = Value::pair(&Value::Int(self.integer()), element);
                }
            }
            2 => {
                let any = self.value_of(&InferredType::Any);
                match elements.len() {
                    0 => elements.push(any),
                    len => elements[self.dice.below(len)] = any,
                }
            }
            3 => {
                let parts = elements.iter().filter_map(Value::as_container);
                elements = parts
                    .flat_map(|part| part.iter().map(Cow::into_owned).collect::<Vec<_>>())
                    .collect();
            }
            _ => {
                for element in &mut elements {
                    *element = self.altered(element.clone());
                }
            }
        }
        if is_set {
            Value::set(elements)
        } else {
            Value::tuple(elements)
        }
    }

    /// A number from 0 to `end` - 1.
    #[cfg(test)]
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.dice.below(end)
    }

    fn change_scene(&mut self) {
        self.scene = self.dice.below(self.scenes.len());
    }

    fn scene(&self) -> &Scene {
        &self.scenes[self.scene]
    }

    /// A value for a parameter of this type, with its kind. The parameter's name distinguishes colours, factors and
    /// counts.
    fn typed(&mut self, ty: Type, name: &str) -> (Value, InferredType) {
        let kind = match ty {
            Type::Integer => return (Value::Int(self.integer_named(name)), InferredType::Integer),
            Type::Object | Type::Indices | Type::Patch if self.dice.chance(3) => {
                return self.tuple_patch(ty);
            }
            Type::Boolean => InferredType::Boolean,
            Type::IntegerTuple => InferredType::Pair,
            Type::Grid => InferredType::Grid,
            Type::Object => InferredType::object(),
            Type::Indices => InferredType::indices(),
            Type::Callable => InferredType::Function,
            Type::Any => self.kind(),
            Type::Numerical => self.either(50, InferredType::Integer, InferredType::Pair),
            Type::IntegerSet => {
                let element = self.either(88, InferredType::Integer, InferredType::Pair);
                self.either(
                    70,
                    InferredType::set(element.clone()),
                    InferredType::tuple(element),
                )
            }
            Type::Objects => self.either(
                85,
                InferredType::objects(),
                InferredType::tuple(InferredType::object()),
            ),
            Type::Patch => self.either(50, InferredType::object(), InferredType::indices()),
            Type::Element => self.either(60, InferredType::Grid, InferredType::object()),
            Type::Piece => {
                let patch = self.either(50, InferredType::object(), InferredType::indices());
                self.either(40, InferredType::Grid, patch)
            }
            Type::Container
            | Type::ContainerContainer
            | Type::Tuple
            | Type::TupleTuple
            | Type::FrozenSet => return self.container(|kind| inference::accepts(ty, kind)),
        };
        (self.value_of(&kind), kind)
    }

    fn either(&mut self, percent: u32, a: InferredType, b: InferredType) -> InferredType {
        if self.dice.chance(percent) { a } else { b }
    }

    /// A tuple of cells or locations, which may be passed as a patch.
    fn tuple_patch(&mut self, ty: Type) -> (Value, InferredType) {
        let kind = match ty {
            Type::Object => InferredType::object(),
            Type::Indices => InferredType::indices(),
            _ => self.either(50, InferredType::object(), InferredType::indices()),
        };
        let set = self.value_of(&kind);
        let items = set
            .as_container()
            .map(|c| c.iter().map(Cow::into_owned).collect());
        (Value::tuple(items.unwrap_or_default()), InferredType::Any)
    }

    /// A random kind of value, possibly a container.
    fn kind(&mut self) -> InferredType {
        match self.dice.below(10) {
            0 => InferredType::Boolean,
            1 | 2 => InferredType::Integer,
            3 => InferredType::Pair,
            4 => InferredType::Cell,
            5 => InferredType::Grid,
            _ => self.container(|_| true).1,
        }
    }

    /// A container of a kind that `wanted` accepts; at least some container must have such a kind.
    fn container(&mut self, wanted: impl Fn(&InferredType) -> bool) -> (Value, InferredType) {
        let kind = loop {
            let kind = self.container_kind();
            if wanted(&kind) {
                break kind;
            }
        };
        (self.value_of(&kind), kind)
    }

    fn container_kind(&mut self) -> InferredType {
        match self.dice.below(18) {
            0 | 1 => InferredType::objects(),
            2 => InferredType::object(),
            3 => InferredType::indices(),
            4 => InferredType::Grid,
            _ => self.dice.pick(&self.containers).0.clone(),
        }
    }

    /// A value of this kind.
    fn value_of(&mut self, kind: &InferredType) -> Value {
        match kind {
            InferredType::Any => {
                let kind = self.kind();
                self.value_of(&kind)
            }
            InferredType::Boolean => Value::Bool(self.dice.chance(50)),
            InferredType::Integer => Value::Int(self.integer()),
            InferredType::Pair => Value::Loc(self.pair()),
            InferredType::Cell => Value::Cell(self.cell()),
            InferredType::Grid => {
                let twin = self.dice.chance(20);
                let scene = self.scene();
                let grid = if twin { &scene.twin } else { &scene.grid };
                grid.clone().into()
            }
            InferredType::Function => Value::Primitive(*self.dice.pick(Primitive::ALL)),
            InferredType::Set(element) if **element == InferredType::Pair => {
                self.dice.pick(&self.scenes[self.scene].indices).clone()
            }
            InferredType::Set(element) if **element == InferredType::Cell => {
                self.dice.pick(&self.scenes[self.scene].objects).clone()
            }
            InferredType::Set(element) if **element == InferredType::object() => {
                self.scene().group.clone()
            }
            InferredType::Set(element) | InferredType::Tuple(element) => {
                if let Some((_, values)) = self.containers.iter().find(|(known, _)| known == kind) {
                    return self.dice.pick(values).clone();
                }
                self.change_scene();
                let elements = self.elements(element);
                if matches!(kind, InferredType::Set(_)) {
                    Value::set(elements)
                } else {
                    Value::tuple(elements)
                }
            }
        }
    }

    /// Elements of a container, sometimes with repetitions.
    fn elements(&mut self, kind: &InferredType) -> Vec<Value> {
        let count = if self.dice.chance(6) {
            0
        } else {
            1 + self.dice.below(4)
        };
        let mut values: Vec<Value> = Vec::new();
        for _ in 0..count {
            let value = if !values.is_empty() && self.dice.chance(20) {
                self.dice.pick(&values).clone()
            } else {
                self.value_of(kind)
            };
            values.push(value);
        }
        values
    }

    fn integer(&mut self) -> i32 {
        match self.dice.below(12) {
            0..7 => self.dice.between(0, 9),
            7..10 => self.dice.between(-5, 5),
            _ => self.dice.between(-40, 40),
        }
    }

    fn integer_named(&mut self, name: &str) -> i32 {
        match name {
            "value" | "replacee" | "replacer" | "fallback" => self.colour(),
            "factor" => *self.dice.pick(&[2, 2, 2, 3, 3, 1, 1, 0, -1, 4]),
            "n" | "num" => match self.dice.below(8) {
                0 => self.dice.between(-2, 0),
                _ => self.dice.between(1, 5),
            },
            _ => self.integer(),
        }
    }

    /// A colour, usually one on the grid of the scene.
    fn colour(&mut self) -> i32 {
        let cells = self.scenes[self.scene].grid.cells();
        match self.dice.below(20) {
            0..13 if !cells.is_empty() => i32::from(*self.dice.pick(cells)),
            19 => *self.dice.pick(&[-1, 10]),
            _ => self.dice.colour(),
        }
    }

    /// A location on or near the grid of the scene, or a vector.
    fn pair(&mut self) -> Loc {
        let grid = &self.scenes[self.scene].grid;
        let (height, width) = (grid.height() as i32, grid.width() as i32);
        match self.dice.below(10) {
            0..5 => Loc::new(
                self.dice.between(0, height - 1),
                self.dice.between(0, width - 1),
            ),
            5..9 => Loc::new(self.dice.between(-3, 6), self.dice.between(-3, 6)),
            _ => Loc::new(self.dice.between(-40, 40), self.dice.between(-40, 40)),
        }
    }

    fn cell(&mut self) -> Cell {
        let colour = self.colour();
        Cell::new(colour, self.pair())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Limits;
    use crate::interpreter::Interpreter;

    #[test]
    fn a_seed_fixes_everything() {
        let draw = |seed| {
            let mut generator = Generator::new(seed);
            let mut text = String::new();
            for &primitive in Primitive::ALL {
                text += &generator.case(primitive).to_string();
            }
            text += &generator.program(20).unwrap().to_string();
            text + &generator.ill_typed_program(20).unwrap().to_string()
        };
        assert_eq!(draw(3), draw(3));
        assert_ne!(draw(3), draw(4));
    }

    #[test]
    fn values_are_of_the_type_asked_for() {
        let mut generator = Generator::new(1);
        for &ty in Type::ALL {
            for _ in 0..50 {
                let value = generator.value(ty);
                // Tuples of cells and of locations count as patches, but not as sets.
                assert!(value.fits(ty), "{ty}: {value}");
            }
        }
    }

    #[test]
    fn most_calls_of_every_primitive_succeed() {
        let mut generator = Generator::with_scenes(5, 200);
        let mut interpreter = Interpreter::new(Limits::default());
        for &primitive in Primitive::ALL {
            let succeeded = (0..200)
                .filter(|_| {
                    let program = generator.case(primitive).program().unwrap();
                    interpreter.run(&program, crate::Grid::default()).is_ok()
                })
                .count();
            assert!(succeeded >= 120, "{primitive}: {succeeded} of 200");
        }
    }
}
