//! Arguments for each primitive: by the types of its row, and by relations between arguments that the types do not
//! express.

use std::borrow::Cow;

use arc_isa::{Primitive, Sampling, Type};

use super::functions::DEPTH;
use super::inference::{InferredType, accepts};
use super::{Case, Expression, Generator};
use crate::patch::Loc;
use crate::value::{MAX_INT, Value};

impl Generator {
    pub(super) fn call_of(&mut self, primitive: Primitive) -> Case {
        if primitive.returns() == Type::Callable {
            return self.function_case(primitive);
        }
        let arguments = match primitive.family() {
            "functions" => self.with_function(primitive),
            "arithmetic" => values(self.with_numbers(primitive)),
            _ => self.by_sampling(primitive),
        };
        Case {
            primitive,
            arguments,
            applied_to: Vec::new(),
        }
    }

    fn by_type(&mut self, primitive: Primitive) -> Vec<Value> {
        primitive
            .parameters()
            .iter()
            .map(|(name, ty)| self.typed(*ty, name).0)
            .collect()
    }

    fn with_numbers(&mut self, primitive: Primitive) -> Vec<Value> {
        let mut arguments = self.by_type(primitive);
        for (argument, (_, ty)) in arguments.iter_mut().zip(primitive.parameters()) {
            let far = self.dice.chance(30);
            match argument {
                Value::Int(n) if far => *n = self.dice.between(-999, 999),
                Value::Loc(loc) if far => *loc = Loc::new(self.dice.between(-99, 99), loc.i),
                // Occasionally truth values, which count as numbers, and the largest numbers.
                Value::Int(_) => match self.dice.below(1000) {
                    0..15 => *argument = Value::Bool(self.dice.chance(50)),
                    15 => *argument = Value::Int(MAX_INT - self.dice.between(0, 2)),
                    16 if *ty == Type::Numerical => {
                        *argument = Loc::new(-MAX_INT, self.dice.between(-40_000, 40_000)).into();
                    }
                    _ => {}
                },
                _ => {}
            }
        }
        arguments
    }

    /// Arguments with which a call does something meaningful, according to the primitive's row.
    fn by_sampling(&mut self, primitive: Primitive) -> Vec<Expression> {
        let mut arguments = self.by_type(primitive);
        let parameters = primitive.parameters();
        match primitive.facts().sampling {
            // Two patches that are often near each other, sometimes the same one.
            Sampling::ByType if are_patches(parameters) && self.dice.chance(10) => {
                arguments[1] = arguments[0].clone();
            }
            // Primitives are values as well.
            Sampling::AnyValue => return self.with_a_primitive(arguments),
            Sampling::Equals => {
                if self.dice.chance(40) {
                    arguments[1] = arguments[0].clone();
                } else if self.dice.chance(20) {
                    let (a, ty) = (self.dice.chance(50), Type::Integer);
                    arguments = vec![a.into(), self.typed(ty, "n").0];
                }
                return self.with_a_primitive(arguments);
            }
            Sampling::Element => {
                let value = usize::from(parameters[0].1 != Type::Any);
                let set_only = parameters[1 - value].1 == Type::FrozenSet;
                let (container, kind) =
                    self.container(|k| !set_only || matches!(k, InferredType::Set(_)));
                let element = kind.element().unwrap_or(InferredType::Any);
                arguments[value] = match self.element_of(&container) {
                    Some(present) if self.dice.chance(60) => present,
                    _ => self.value_of(&element),
                };
                arguments[1 - value] = container;
            }
            Sampling::SharedElements => {
                let sets = parameters[0].1 == Type::FrozenSet;
                let (a, kind) = self.container(|k| !sets || matches!(k, InferredType::Set(_)));
                let mut b = self.value_of(&kind);
                // Often with common elements, occasionally in the other kind of container.
                if self.dice.chance(50)
                    && let (Some(these), Some(those)) = (a.as_container(), b.as_container())
                {
                    let shared = these.iter().take(2).chain(those.iter().take(2));
                    b = Value::set(shared.map(Cow::into_owned));
                }
                arguments = vec![a, b];
            }
            Sampling::SmallCount => {
                let kind = self.kind();
                let count = self.dice.between(-1, 5);
                arguments = vec![self.value_of(&kind), count.into()];
            }
            Sampling::AnyContainer => arguments = vec![self.container(|_| true).0],
            Sampling::Progression => {
                let start = self.dice.between(-4, 6);
                let step: i32 = *self.dice.pick(&[1, 1, 1, 2, 3, -1, -2, 0]);
                let stop = start + step.signum() * self.dice.between(-2, 12);
                arguments = vec![start.into(), stop.into(), step.into()];
            }
            Sampling::AnyTuple => {
                let (container, _) = self.container(|k| accepts(Type::Tuple, k));
                arguments = vec![container];
            }
            Sampling::SmallContainers => {
                let small = |k: &InferredType| {
                    matches!(
                        k.element(),
                        Some(InferredType::Integer | InferredType::Pair)
                    )
                };
                arguments = vec![self.container(small).0, self.container(small).0];
            }
            Sampling::SizeOfElement => {
                let (container, _) = self.container(|k| accepts(Type::ContainerContainer, k));
                let count = match self
                    .element_of(&container)
                    .and_then(|e| Some(e.as_container()?.len()))
                {
                    Some(count) if self.dice.chance(70) => count as i32,
                    _ => self.dice.between(0, 4),
                };
                arguments = vec![container, count.into()];
            }
            Sampling::Alternatives => {
                let kind = self.kind();
                let condition = match self.dice.below(6) {
                    0 => Value::Int(self.dice.between(0, 2)),
                    1 => self.typed(Type::Container, "").0,
                    _ => self.value_of(&InferredType::Boolean),
                };
                arguments = vec![condition, self.value_of(&kind), self.value_of(&kind)];
                return self.with_a_primitive(arguments);
            }
            sampling => self.on_grids(sampling, &mut arguments),
        }
        values(arguments)
    }

    /// The same for arguments derived from grids, patches and locations.
    fn on_grids(&mut self, sampling: Sampling, arguments: &mut Vec<Value>) {
        match sampling {
            Sampling::StraightLine if self.dice.chance(75) => {
                let from = self.pair();
                let n = self.dice.between(0, 8);
                let (di, dj) = (self.dice.between(-1, 1), self.dice.between(-1, 1));
                *arguments = vec![
                    from.into(),
                    Loc::new(from.i + n * di, from.j + n * dj).into(),
                ];
            }
            Sampling::Direction if self.dice.chance(80) => {
                let direction = Loc::new(self.dice.between(-1, 1), self.dice.between(-1, 1));
                arguments[1] = direction.into();
            }
            // Sizes up to a dozen, some of them zero or negative.
            Sampling::SmallSize => {
                let size = Loc::new(self.dice.between(-1, 9), self.dice.between(-1, 9));
                arguments[1] = size.into();
            }
            Sampling::SameHeight | Sampling::SameWidth if self.dice.chance(55) => {
                let scene = self.scene();
                *arguments = vec![scene.grid.clone().into(), scene.twin.clone().into()];
            }
            Sampling::SameWidth => {
                // Grids of one width; rows that do not form a grid are covered by the tests of `vconcat`.
                let grid = self.scene().grid.clone();
                *arguments = vec![grid.clone().into(), grid.into()];
            }
            Sampling::Twins => {
                let scene = self.scene();
                arguments[0] = scene.grid.clone().into();
                arguments[1] = scene.twin.clone().into();
            }
            Sampling::ObjectSettings if self.dice.chance(50) => {
                // The three most common settings in programs.
                let settings = [[true, true, true], [true, false, true], [false, true, true]];
                let chosen = *self.dice.pick(&settings);
                for (argument, flag) in arguments[1..].iter_mut().zip(chosen) {
                    *argument = flag.into();
                }
            }
            Sampling::SmallWindow if self.dice.chance(70) => {
                let dims = Loc::new(self.dice.between(0, 4), self.dice.between(0, 4));
                arguments[2] = dims.into();
            }
            // A small part of the grid, which therefore occurs at least once.
            Sampling::PartOfGrid if self.dice.chance(60) => {
                let grid = self.scene().grid.clone();
                let at = self.pair();
                let near = [Loc::new(0, 0), Loc::new(0, 1), Loc::new(1, 0)];
                let count = 1 + self.dice.below(near.len());
                let cells = near[..count].iter().filter_map(|step| {
                    let loc = Loc::new(at.i + step.i, at.j + step.j);
                    grid.get(loc)
                        .map(|c| crate::Cell::new(i32::from(c), loc).into())
                });
                *arguments = vec![grid.clone().into(), Value::set(cells)];
            }
            // The DSL computes the size of the window by the object's own kind: a tuple is not an object here.
            Sampling::PartOfGrid => arguments[1] = self.value_of(&InferredType::object()),
            // Periods occur in patterns.
            Sampling::Pattern if self.dice.chance(60) => {
                let grid = self.scene().grid.clone();
                let step = self.pair();
                let cells = grid.enumerate().map(|(loc, c)| {
                    let loc = Loc::new(loc.i + step.i, loc.j + step.j);
                    crate::Cell::new(i32::from(c), loc).into()
                });
                *arguments = vec![Value::set(cells)];
            }
            Sampling::Coloured => {
                let kind = match self.dice.below(10) {
                    0..7 => InferredType::object(),
                    7 => InferredType::tuple(InferredType::Cell),
                    8 => InferredType::indices(),
                    _ => InferredType::Grid,
                };
                *arguments = vec![self.value_of(&kind)];
            }
            // For the others, and sometimes for these, the types alone determine the arguments.
            _ => {}
        }
    }

    /// The arguments, occasionally with a primitive as the last one.
    fn with_a_primitive(&mut self, mut arguments: Vec<Value>) -> Vec<Expression> {
        if self.dice.chance(6) {
            let last = arguments.len() - 1;
            arguments[last] = self.value_of(&InferredType::Function);
        }
        values(arguments)
    }

    fn element_of(&mut self, container: &Value) -> Option<Value> {
        let container = container.as_container()?;
        let at = self.dice.below(container.len());
        container.get(at).map(Cow::into_owned)
    }

    /// Arguments for primitives that apply a function to the elements of a container.
    fn with_function(&mut self, primitive: Primitive) -> Vec<Expression> {
        let known = |kind: &InferredType| {
            kind.element()
                .is_some_and(|element| element != InferredType::Any)
        };
        match primitive {
            Primitive::Rapply => {
                let kind = self.kind();
                let count = if self.dice.chance(5) {
                    0
                } else {
                    1 + self.dice.below(3)
                };
                let functions: Vec<_> = (0..count).map(|_| self.function(&kind, 1).0).collect();
                vec![self.container_of(functions), self.value_of(&kind).into()]
            }
            Primitive::Papply | Primitive::Mpapply | Primitive::Prapply => {
                let (a, left) = self.container(known);
                let (b, right) = self.container(known);
                let (left, right) = (
                    left.element().unwrap_or(InferredType::Any),
                    right.element().unwrap_or(InferredType::Any),
                );
                let mut function = self.binary(&left, &right);
                if primitive == Primitive::Mpapply {
                    for _ in 0..12 {
                        if function.1.element().is_some() {
                            break;
                        }
                        function = self.binary(&left, &right);
                    }
                }
                vec![function.0, a.into(), b.into()]
            }
            Primitive::Mapply => {
                let (container, kind) = self.container(known);
                let element = kind.element().unwrap_or(InferredType::Any);
                let function = self.function_to(&element, DEPTH, |to| to.element().is_some());
                let function = function.map_or_else(|| Primitive::Identity.into(), |(f, _)| f);
                vec![function, container.into()]
            }
            Primitive::Apply => {
                let (container, kind) = self.container(known);
                let element = kind.element().unwrap_or(InferredType::Any);
                vec![self.function(&element, DEPTH).0, container.into()]
            }
            Primitive::Sfilter | Primitive::Mfilter | Primitive::Extract => {
                let nested = primitive == Primitive::Mfilter;
                let (container, kind) = self
                    .container(|k| known(k) && (!nested || accepts(Type::ContainerContainer, k)));
                let element = kind.element().unwrap_or(InferredType::Any);
                let condition = match self.matching(primitive, &container, &element) {
                    Some(condition) => condition,
                    None => self.predicate(&element, DEPTH),
                };
                vec![container.into(), condition]
            }
            // `order`, `argmax`, `valmin` and similar primitives.
            _ => {
                let (container, kind) = self.container(known);
                let element = kind.element().unwrap_or(InferredType::Any);
                vec![container.into(), self.key(&element, DEPTH)]
            }
        }
    }

    /// Mostly for `extract`, which fails if no element fits: a condition that some element satisfies.
    fn matching(
        &mut self,
        primitive: Primitive,
        container: &Value,
        kind: &InferredType,
    ) -> Option<Expression> {
        if !self.dice.chance(if primitive == Primitive::Extract {
            70
        } else {
            15
        }) {
            return None;
        }
        let present = self.element_of(container)?;
        let (size, inverse) = (present.as_container()?.len() as i32, self.dice.chance(30));
        let matcher = |function: Primitive, target: Value| {
            Expression::Call(Primitive::Matcher, vec![function.into(), target.into()])
        };
        let condition = match kind {
            InferredType::Set(_) | InferredType::Grid => matcher(Primitive::Size, size.into()),
            _ => matcher(Primitive::Identity, present),
        };
        Some(if inverse {
            let negated = vec![Primitive::Flip.into(), condition];
            Expression::Call(Primitive::Compose, negated)
        } else {
            condition
        })
    }

    /// A tuple or set of functions, as the calls that build it.
    fn container_of(&mut self, mut functions: Vec<Expression>) -> Expression {
        let all_primitives = functions.iter().all(|f| matches!(f, Expression::Value(_)));
        if all_primitives {
            let set = self.dice.chance(40);
            let parts = functions.into_iter().filter_map(|f| match f {
                Expression::Value(value) => Some(value),
                Expression::Call(..) => None,
            });
            return if set {
                Value::set(parts)
            } else {
                Value::tuple(parts.collect())
            }
            .into();
        }
        let last = functions.pop().unwrap_or(Primitive::Identity.into());
        match functions.pop() {
            Some(first) => Expression::Call(Primitive::Astuple, vec![first, last]),
            None => Expression::Call(Primitive::Initset, vec![last]),
        }
    }

    /// A call of a primitive that returns a function, and arguments for that function.
    fn function_case(&mut self, primitive: Primitive) -> Case {
        let kind = self.kind();
        let argument = Expression::from(self.value_of(&kind));
        let (arguments, applied_to) = match primitive {
            Primitive::Compose => {
                let (inner, between) = self.function(&kind, 1);
                let (outer, _) = self.function(&between, 1);
                (vec![outer, inner], vec![argument])
            }
            Primitive::Chain => {
                let (f, first) = self.function(&kind, 1);
                let (g, second) = self.function(&first, 1);
                let (h, _) = self.function(&second, 1);
                (vec![h, g, f], vec![argument])
            }
            Primitive::Fork => {
                let (a, left) = self.function(&kind, 1);
                let (b, right) = self.function(&kind, 1);
                let (outer, _) = self.binary(&left, &right);
                (vec![outer, a, b], vec![argument])
            }
            Primitive::Matcher => {
                let (function, to) = self.function(&kind, 1);
                let target = self.value_of(&to);
                (vec![function, target.into()], vec![argument])
            }
            Primitive::Power => {
                let function = self.endomorphism(&kind);
                let n = *self.dice.pick(&[1, 2, 2, 3, 3, 4, 5, 7, 0, -1]);
                (vec![function, Value::Int(n).into()], vec![argument])
            }
            // `lbind` and `rbind`: any call, with one argument fixed in advance.
            _ => self.binding(primitive),
        };
        Case {
            primitive,
            arguments,
            applied_to,
        }
    }

    fn binding(&mut self, primitive: Primitive) -> (Vec<Expression>, Vec<Expression>) {
        loop {
            let called = *self.dice.pick(Primitive::ALL);
            if called.returns() == Type::Callable {
                continue;
            }
            let mut given = self.call_of(called).arguments;
            // A function of one parameter can be bound, but not be called after that: keep these rare.
            if given.len() < 2 && !self.dice.chance(3) {
                continue;
            }
            let at = if primitive == Primitive::Lbind {
                0
            } else {
                given.len() - 1
            };
            let fixed = given.remove(at);
            let mut function = Expression::from(called);
            // Bound twice: the number of remaining parameters determines what is called.
            if given.len() > 1 && self.dice.chance(25) {
                let second = given.pop().unwrap_or_else(|| fixed.clone());
                if primitive == Primitive::Lbind {
                    function = Expression::Call(Primitive::Rbind, vec![function, second]);
                } else {
                    // The fixed argument is the last one: it is bound first.
                    function = Expression::Call(Primitive::Rbind, vec![function, fixed]);
                    return (vec![function, second], given);
                }
            }
            if given.is_empty() {
                given.push(fixed.clone());
            }
            return (vec![function, fixed], given);
        }
    }
}

fn values(values: Vec<Value>) -> Vec<Expression> {
    values.into_iter().map(Expression::from).collect()
}

fn are_patches(parameters: &[(&str, Type)]) -> bool {
    matches!(parameters, [(_, Type::Patch), (_, Type::Patch)])
}
