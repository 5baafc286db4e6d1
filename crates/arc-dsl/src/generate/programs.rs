//! Random programs: sequences of calls, well typed or not.

use arc_isa::{Primitive, Type};

use super::functions::DEPTH;
use super::inference::{self, InferredType, accepts};
use super::{Expression, Generator};
use crate::constants::Constant;
use crate::program::{BuildError, Callee, Operand, Program, ProgramBuilder};
use crate::value::Value;

/// A program that is being generated: its variables by type.
pub(super) struct Draft {
    pub(super) builder: ProgramBuilder,
    pub(super) variables: Vec<(Operand, InferredType)>,
    /// Variables that hold functions, with the kinds of argument and result.
    functions: Vec<(Callee, InferredType, InferredType)>,
}

impl Draft {
    pub(super) fn new(name: &str) -> Self {
        let builder = ProgramBuilder::new(name);
        let variables = vec![(builder.input(), InferredType::Grid)];
        Self {
            builder,
            variables,
            functions: Vec::new(),
        }
    }

    fn add(
        &mut self,
        callee: impl Into<Callee>,
        arguments: Vec<Operand>,
        kind: InferredType,
    ) -> Result<(), BuildError> {
        self.call(callee, arguments, kind).map(drop)
    }

    /// Adds a variable and returns it.
    pub(super) fn call(
        &mut self,
        callee: impl Into<Callee>,
        arguments: Vec<Operand>,
        kind: InferredType,
    ) -> Result<Operand, BuildError> {
        let result = self.builder.call(callee, arguments)?;
        self.variables.push((result.clone(), kind));
        Ok(result)
    }
}

impl Generator {
    /// A well-typed program of about this many steps. It may still fail, as programs do: the largest element of an
    /// empty set, a division by zero, a grid that grows past its limit.
    pub fn program(&mut self, steps: usize) -> Result<Program, BuildError> {
        let mut draft = Draft::new("solve_random");
        while draft.variables.len() <= steps {
            self.change_scene();
            match self.dice.below(10) {
                0..6 => self.add_call(&mut draft)?,
                6..8 => self.add_call_with_function(&mut draft)?,
                8 => self.add_function(&mut draft)?,
                _ => self.add_call_of_variable(&mut draft)?,
            }
        }
        finish(draft)
    }

    /// A program of about this many steps with arguments of any type anywhere, and calls of variables that may not hold
    /// functions.
    pub fn ill_typed_program(&mut self, steps: usize) -> Result<Program, BuildError> {
        let mut draft = Draft::new("solve_random");
        while draft.variables.len() <= steps {
            self.change_scene();
            let primitive = *self.dice.pick(Primitive::ALL);
            let variable = self.dice.pick(&draft.variables).0.clone();
            let (callee, count) = match variable {
                Operand::Slot(slot) if self.dice.chance(20) => {
                    (Callee::Slot(slot), self.dice.below(5))
                }
                _ => (Callee::Primitive(primitive), primitive.parameters().len()),
            };
            let arguments = (0..count)
                .map(|at| self.any_operand(&draft, primitive, at))
                .collect();
            draft.add(callee, arguments, InferredType::Any)?;
        }
        finish(draft)
    }

    fn any_operand(&mut self, draft: &Draft, primitive: Primitive, at: usize) -> Operand {
        match self.dice.below(10) {
            0..4 => self.dice.pick(&draft.variables).0.clone(),
            4 => Operand::Constant(*self.dice.pick(Constant::ALL)),
            5 => Operand::Primitive(*self.dice.pick(Primitive::ALL)),
            6 => Operand::Literal(self.extreme().into_literal()),
            7 => {
                let ty = *self.dice.pick(Type::ALL);
                literal(self.typed(ty, "").0)
            }
            // Of the type in the signature, so that some calls succeed.
            _ => match primitive.parameters().get(at) {
                Some((name, ty)) => literal(self.typed(*ty, name).0),
                None => draft.builder.input(),
            },
        }
    }

    /// A value at the limits of what values can be.
    fn extreme(&mut self) -> Value {
        let large = *self
            .dice
            .pick(&[crate::MAX_INT, -crate::MAX_INT, 100_000, -1, 0]);
        match self.dice.below(5) {
            0 => Value::Nothing,
            1 => Value::Int(large),
            2 => Value::Loc(crate::Loc::new(large, self.dice.between(-3, 3))),
            3 => Value::Cell(crate::Cell::new(large, crate::Loc::new(large, -large))),
            _ => Value::set([
                Value::Loc(crate::Loc::new(large, large)),
                Value::Loc(crate::Loc::new(-large, 0)),
            ]),
        }
    }

    pub(super) fn add_call(&mut self, draft: &mut Draft) -> Result<(), BuildError> {
        let primitive = loop {
            let primitive = *self.dice.pick(Primitive::ALL);
            if primitive.family() != "functions" {
                break primitive;
            }
        };
        let mut arguments = Vec::new();
        let mut kinds = Vec::new();
        for (name, ty) in primitive.parameters() {
            let (operand, kind) = self.operand(draft, *ty, name);
            arguments.push(operand);
            kinds.push(kind);
        }
        draft.add(primitive, arguments, inference::result(primitive, &kinds))
    }

    /// A variable of this type, preferably a late one, or a literal.
    fn operand(&mut self, draft: &Draft, ty: Type, name: &str) -> (Operand, InferredType) {
        let suiting: Vec<_> = draft
            .variables
            .iter()
            .filter(|(_, kind)| accepts(ty, kind))
            .collect();
        if !suiting.is_empty() && self.dice.chance(80) {
            let late = self
                .dice
                .below(suiting.len())
                .max(self.dice.below(suiting.len()));
            return suiting[late].clone();
        }
        let (value, kind) = self.typed(ty, name);
        (literal(value), kind)
    }

    /// `apply`, `sfilter`, `argmax` and similar primitives on a container, with the steps that create the function.
    pub(super) fn add_call_with_function(&mut self, draft: &mut Draft) -> Result<(), BuildError> {
        let known = |kind: &InferredType| {
            kind.element()
                .is_some_and(|element| element != InferredType::Any)
        };
        let containers: Vec<_> = draft
            .variables
            .iter()
            .filter(|(_, kind)| known(kind))
            .collect();
        let (container, kind) = (*self.dice.pick(&containers)).clone();
        let element = kind.element().unwrap_or(InferredType::Any);
        let filters = [Primitive::Sfilter, Primitive::Extract, Primitive::Mfilter];
        let keyed = [
            Primitive::Order,
            Primitive::Argmax,
            Primitive::Argmin,
            Primitive::Valmax,
            Primitive::Valmin,
        ];
        let (primitive, function, result) = match self.dice.below(3) {
            0 => {
                let (function, to) = self.function(&element, DEPTH);
                match to.element() {
                    Some(inner) if self.dice.chance(50) => {
                        (Primitive::Mapply, function, kind.of(inner))
                    }
                    _ => (Primitive::Apply, function, kind.of(to)),
                }
            }
            1 => {
                let primitive = *self.dice.pick(&filters);
                let result = match primitive {
                    Primitive::Sfilter => kind.some(),
                    Primitive::Extract => element.clone(),
                    _ => kind.of(element.element().unwrap_or(InferredType::Any)),
                };
                (primitive, self.predicate(&element, DEPTH), result)
            }
            _ => {
                let primitive = *self.dice.pick(&keyed);
                let result = match primitive {
                    Primitive::Order => InferredType::tuple(element.clone()),
                    Primitive::Argmax | Primitive::Argmin => element.clone(),
                    _ => InferredType::Any,
                };
                (primitive, self.key(&element, DEPTH), result)
            }
        };
        let function = function.add_to(&mut draft.builder)?;
        let function_first = matches!(primitive, Primitive::Apply | Primitive::Mapply);
        let arguments = if function_first {
            vec![function, container]
        } else {
            vec![container, function]
        };
        draft.add(primitive, arguments, result)
    }

    /// A variable that holds a function.
    fn add_function(&mut self, draft: &mut Draft) -> Result<(), BuildError> {
        let from = self.dice.pick(&draft.variables).1.clone();
        let (function, to) = self.function(&from, DEPTH);
        if let Expression::Call(..) = function
            && let Operand::Slot(slot) = function.add_to(&mut draft.builder)?
        {
            draft.functions.push((slot.into(), from, to));
            draft
                .variables
                .push((Operand::Slot(slot), InferredType::Function));
        }
        Ok(())
    }

    fn add_call_of_variable(&mut self, draft: &mut Draft) -> Result<(), BuildError> {
        if draft.functions.is_empty() {
            return self.add_function(draft);
        }
        let (function, from, to) = self.dice.pick(&draft.functions).clone();
        let suiting: Vec<_> = draft
            .variables
            .iter()
            .filter(|(_, kind)| *kind == from)
            .collect();
        let argument = self.dice.pick(&suiting).0.clone();
        draft.add(function, vec![argument], to)
    }
}

/// A value as an operand: the name of a constant if it has one.
pub(super) fn literal(value: Value) -> Operand {
    if let Value::Primitive(primitive) = value {
        return primitive.into();
    }
    let value = value.into_literal();
    let same = |c: &&Constant| c.value().kind() == value.kind() && *c.value() == value;
    match Constant::ALL.iter().find(same) {
        Some(constant) => Operand::Constant(*constant),
        None => Operand::Literal(value),
    }
}

/// The program that returns the variable set last.
pub(super) fn finish(draft: Draft) -> Result<Program, BuildError> {
    let input = draft.builder.input();
    let last = draft
        .variables
        .into_iter()
        .last()
        .map_or(input, |(operand, _)| operand);
    draft.builder.finish(last)
}
