//! Function values that suit their arguments.

use arc_isa::{Primitive, Type};

use super::inference::{self, InferredType, accepts};
use super::{Expression, Generator};
use crate::value::Value;

/// The maximum nesting of closures.
pub(super) const DEPTH: u32 = 2;

/// Literals inside closures have at most this many elements if possible: in programs they are rarely heavy.
const LIGHT: usize = 9;

/// The number of elements in a value, itself included; cells and pairs count as one each.
fn elements(value: &Value) -> usize {
    match value {
        Value::Grid(grid) => 1 + grid.cells().len(),
        Value::Indices(indices) => 1 + indices.len(),
        Value::Object(object) => 1 + object.len(),
        _ => 1 + value.values().iter().map(elements).sum::<usize>(),
    }
}

impl Generator {
    /// A function of one argument of kind `from`, and the kind of its result.
    pub(super) fn function(
        &mut self,
        from: &InferredType,
        depth: u32,
    ) -> (Expression, InferredType) {
        if depth == 0 {
            return if self.dice.chance(70) {
                self.unary(from)
            } else {
                self.bound(from)
            };
        }
        match self.dice.below(14) {
            0..4 => self.unary(from),
            4 | 5 => self.bound(from),
            6 | 7 => {
                let (inner, between) = self.function(from, depth - 1);
                let (outer, to) = self.function(&between, depth - 1);
                (Expression::Call(Primitive::Compose, vec![outer, inner]), to)
            }
            8 => {
                let (f, first) = self.function(from, 0);
                let (g, second) = self.function(&first, 0);
                let (h, to) = self.function(&second, 0);
                (Expression::Call(Primitive::Chain, vec![h, g, f]), to)
            }
            9 => {
                let (a, left) = self.function(from, depth - 1);
                let (b, right) = self.function(from, depth - 1);
                let (outer, to) = self.binary(&left, &right);
                (Expression::Call(Primitive::Fork, vec![outer, a, b]), to)
            }
            10 => {
                let n = self.dice.between(1, 4);
                let function = self.endomorphism(from);
                (
                    Expression::Call(Primitive::Power, vec![function, Value::Int(n).into()]),
                    from.clone(),
                )
            }
            11 => (self.predicate(from, depth - 1), InferredType::Boolean),
            _ => self.over_elements(from, depth - 1),
        }
    }

    /// A function whose results have a kind that `wanted` accepts, if one is found.
    pub(super) fn function_to(
        &mut self,
        from: &InferredType,
        depth: u32,
        wanted: impl Fn(&InferredType) -> bool,
    ) -> Option<(Expression, InferredType)> {
        (0..40)
            .map(|_| self.function(from, depth))
            .find(|(_, kind)| wanted(kind))
    }

    /// A function that returns a truth value.
    pub(super) fn predicate(&mut self, from: &InferredType, depth: u32) -> Expression {
        match self.dice.below(8) {
            0 | 1 => {
                let found = primitives(&[Some(from)], |p| p.returns() == Type::Boolean);
                if !found.is_empty() {
                    return Expression::from(*self.dice.pick(&found));
                }
            }
            2 if depth > 0 => {
                let inner = self.predicate(from, depth - 1);
                return Expression::Call(Primitive::Compose, vec![Primitive::Flip.into(), inner]);
            }
            3 if depth > 0 => {
                let both = self.dice.chance(50);
                let outer = if both {
                    Primitive::Both
                } else {
                    Primitive::Either
                };
                let (a, b) = (
                    self.predicate(from, depth - 1),
                    self.predicate(from, depth - 1),
                );
                return Expression::Call(Primitive::Fork, vec![outer.into(), a, b]);
            }
            4 => {
                let number = |kind: &InferredType| *kind == InferredType::Integer;
                if let Some((inner, _)) = self.function_to(from, depth, number) {
                    let bind = if self.dice.chance(50) {
                        Primitive::Rbind
                    } else {
                        Primitive::Lbind
                    };
                    let bound = vec![
                        Primitive::Greater.into(),
                        Value::Int(self.dice.between(0, 4)).into(),
                    ];
                    return Expression::Call(
                        Primitive::Compose,
                        vec![Expression::Call(bind, bound), inner],
                    );
                }
            }
            5 => {
                let set = InferredType::set(from.clone());
                let (set, _) = self.light(|g| (g.value_of(&set), InferredType::Any));
                return Expression::Call(
                    Primitive::Rbind,
                    vec![Primitive::Contained.into(), set.into()],
                );
            }
            _ => {}
        }
        let (function, to) = self.function(from, depth.min(1));
        let (target, _) = self.light(|g| (g.value_of(&to), InferredType::Any));
        Expression::Call(Primitive::Matcher, vec![function, target.into()])
    }

    /// A function whose results can be compared by size: keys of `order`, `argmax` and similar primitives.
    pub(super) fn key(&mut self, from: &InferredType, depth: u32) -> Expression {
        // Sets as keys are compared by number of elements: rare in programs, but important there.
        let sets = self.dice.chance(12);
        let wanted = |kind: &InferredType| match kind {
            InferredType::Integer | InferredType::Pair | InferredType::Boolean => true,
            InferredType::Set(_) => sets,
            _ => false,
        };
        match self.function_to(from, depth, wanted) {
            Some((function, _)) => function,
            None => Primitive::Identity.into(),
        }
    }

    /// A function from a kind to itself.
    pub(super) fn endomorphism(&mut self, kind: &InferredType) -> Expression {
        match self.function_to(kind, 0, |to| to == kind) {
            Some((function, _)) => function,
            None => Primitive::Identity.into(),
        }
    }

    /// A function of two arguments of these kinds, and the kind of its result.
    pub(super) fn binary(
        &mut self,
        a: &InferredType,
        b: &InferredType,
    ) -> (Expression, InferredType) {
        let mut found = primitives(&[Some(a), Some(b)], |p| p.family() != "functions");
        if found.is_empty() {
            found = vec![Primitive::Astuple, Primitive::Equality];
        }
        // One primitive of three parameters with one of them bound, if one fits.
        if self.dice.chance(15) {
            let last = primitives(&[Some(a), Some(b), None], |p| p.family() != "functions");
            let first = primitives(&[None, Some(a), Some(b)], |p| p.family() != "functions");
            let (found, bind, at) = if last.is_empty() {
                (first, Primitive::Lbind, 0)
            } else {
                (last, Primitive::Rbind, 2)
            };
            if !found.is_empty() {
                let primitive = *self.dice.pick(&found);
                let (fixed, kind) = self.companion(primitive, at, a);
                let mut kinds = vec![a.clone(), b.clone()];
                kinds.insert(at, kind);
                let to = inference::result(primitive, &kinds);
                return (
                    Expression::Call(bind, vec![primitive.into(), fixed.into()]),
                    to,
                );
            }
        }
        let primitive = *self.dice.pick(&found);
        (
            primitive.into(),
            inference::result(primitive, &[a.clone(), b.clone()]),
        )
    }

    fn unary(&mut self, from: &InferredType) -> (Expression, InferredType) {
        let found = primitives(&[Some(from)], |_| true);
        let primitive = if found.is_empty() {
            Primitive::Identity
        } else {
            *self.dice.pick(&found)
        };
        (
            primitive.into(),
            inference::result(primitive, std::slice::from_ref(from)),
        )
    }

    /// A primitive of several parameters with all but one of them fixed.
    fn bound(&mut self, from: &InferredType) -> (Expression, InferredType) {
        let free = |p: &Primitive| {
            let parameters = p.parameters();
            let suits = |at: &usize| accepts(parameters[*at].1, from);
            (0..parameters.len()).filter(suits).collect::<Vec<_>>()
        };
        let found: Vec<Primitive> = Primitive::ALL
            .iter()
            .copied()
            .filter(|p| {
                p.parameters().len() > 1 && p.family() != "functions" && !free(p).is_empty()
            })
            .collect();
        if found.is_empty() {
            return self.unary(from);
        }
        let primitive = *self.dice.pick(&found);
        let at = *self.dice.pick(&free(&primitive));
        let mut function = Expression::from(primitive);
        let mut argument_kinds = vec![InferredType::Any; primitive.parameters().len()];
        argument_kinds[at] = from.clone();
        let after = (at + 1..argument_kinds.len())
            .rev()
            .map(|fixed| (fixed, Primitive::Rbind));
        for (fixed, bind) in after.chain((0..at).map(|fixed| (fixed, Primitive::Lbind))) {
            let (value, kind) = self.companion(primitive, fixed, from);
            argument_kinds[fixed] = kind;
            function = Expression::Call(bind, vec![function, value.into()]);
        }
        (function, inference::result(primitive, &argument_kinds))
    }

    /// A value, with its kind, for parameter `at` of a primitive whose other argument has kind `with`.
    fn companion(
        &mut self,
        primitive: Primitive,
        at: usize,
        with: &InferredType,
    ) -> (Value, InferredType) {
        let (name, ty) = primitive.parameters()[at];
        let alike = match (primitive, ty) {
            (
                Primitive::Contained | Primitive::Insert | Primitive::Remove | Primitive::Other,
                Type::Any,
            ) => with.element(),
            (Primitive::Contained | Primitive::Insert | Primitive::Remove, _) => {
                Some(InferredType::set(with.clone()))
            }
            (Primitive::Combine | Primitive::Difference | Primitive::Intersection, _)
            | (_, Type::Any) => Some(with.clone()),
            _ => None,
        };
        self.light(|g| match &alike {
            Some(kind) => (g.value_of(kind), kind.clone()),
            None => g.typed(ty, name),
        })
    }

    /// A value, drawn again if it is heavy.
    fn light(
        &mut self,
        mut draw: impl FnMut(&mut Self) -> (Value, InferredType),
    ) -> (Value, InferredType) {
        for _ in 0..8 {
            let drawn = draw(self);
            if elements(&drawn.0) <= LIGHT {
                return drawn;
            }
        }
        draw(self)
    }

    /// A function over the elements of a container: `apply`, `sfilter`, `argmax` and similar primitives, bound.
    fn over_elements(&mut self, from: &InferredType, depth: u32) -> (Expression, InferredType) {
        let Some(element) = from
            .element()
            .filter(|element| *element != InferredType::Any)
        else {
            return self.unary(from);
        };
        let rbind = |primitive: Primitive, function| {
            Expression::Call(Primitive::Rbind, vec![primitive.into(), function])
        };
        let lbind = |primitive: Primitive, function| {
            Expression::Call(Primitive::Lbind, vec![primitive.into(), function])
        };
        match self.dice.below(6) {
            0 => (
                rbind(Primitive::Sfilter, self.predicate(&element, depth)),
                from.some(),
            ),
            1 => {
                let most = self.dice.chance(50);
                let primitive = if most {
                    Primitive::Argmax
                } else {
                    Primitive::Argmin
                };
                (rbind(primitive, self.key(&element, depth)), element)
            }
            2 => (
                rbind(Primitive::Order, self.key(&element, depth)),
                InferredType::tuple(element),
            ),
            3 => {
                let contains =
                    |kind: &InferredType| kind.element().is_some_and(|e| e != InferredType::Any);
                match self.function_to(&element, depth, contains) {
                    Some((function, to)) => {
                        let inner = to.element().unwrap_or(InferredType::Any);
                        (lbind(Primitive::Mapply, function), from.of(inner))
                    }
                    None => self.unary(from),
                }
            }
            _ => {
                let (function, to) = self.function(&element, depth);
                (lbind(Primitive::Apply, function), from.of(to))
            }
        }
    }
}

/// The primitives that accept arguments of these kinds (`None`: of any kind) and that `wanted` accepts.
fn primitives(
    arguments: &[Option<&InferredType>],
    wanted: impl Fn(Primitive) -> bool,
) -> Vec<Primitive> {
    let suits = |p: &Primitive| {
        p.parameters().len() == arguments.len()
            && p.parameters()
                .iter()
                .zip(arguments)
                .all(|((_, ty), kind)| kind.is_none_or(|kind| accepts(*ty, kind)))
            && wanted(*p)
    };
    Primitive::ALL.iter().copied().filter(suits).collect()
}
