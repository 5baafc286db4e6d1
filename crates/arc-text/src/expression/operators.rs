//! Converts operators to the equivalent primitives.
//!
//! Operators on integers that are known before the program runs are computed at once. On other values, `+`, `-`, `*`,
//! `//`, `<=` and `>=` become calls only if both sides are certainly integers, since in Python they do something else
//! on tuples and sets. What Python may not evaluate, a side of `and`, `or` or `if`, becomes a function that `branch`
//! selects.

use arc_dsl::{Callee, Dialect, MAX_INT, Operand, Slot, Value};
use arc_isa::{ContainerKind, Primitive, ValueType};

use crate::error::{ParseError, ParseErrorKind};
use crate::expression::{Expression, OF_A_LIST};
use crate::lexer::{Token, TokenKind};
use crate::module::lowering::{KnownType, Lowering, constant};
use crate::statements::Parameter;
use crate::syntax::MOST_NESTED;
use crate::tokens::{Result, told};
use crate::tree::{Chain, Expr, ExprKind, all_names};

/// An operator between two integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Plus,
    Minus,
    Times,
    Over,
    Modulo,
    Power,
}

impl Operator {
    fn of(token: Token<'_>) -> Option<Self> {
        if token.kind != TokenKind::Symbol {
            return None;
        }
        match token.text {
            "+" => Some(Operator::Plus),
            "-" => Some(Operator::Minus),
            "*" => Some(Operator::Times),
            "//" => Some(Operator::Over),
            "%" => Some(Operator::Modulo),
            "**" => Some(Operator::Power),
            _ => None,
        }
    }

    /// The primitive that computes it for integers.
    fn primitive(self) -> Option<Primitive> {
        match self {
            Operator::Plus => Some(Primitive::Add),
            Operator::Minus => Some(Primitive::Subtract),
            Operator::Times => Some(Primitive::Multiply),
            Operator::Over => Some(Primitive::Divide),
            Operator::Modulo | Operator::Power => None,
        }
    }

    /// Its result for two integers, as in Python; `None` if that is not an integer of moderate size.
    fn apply(self, a: i64, b: i64) -> Option<i64> {
        let remainder = |a: i64, b: i64| {
            let remainder = a.checked_rem(b)?;
            Some(if remainder != 0 && (remainder < 0) != (b < 0) {
                remainder + b
            } else {
                remainder
            })
        };
        match self {
            Operator::Plus => a.checked_add(b),
            Operator::Minus => a.checked_sub(b),
            Operator::Times => a.checked_mul(b),
            Operator::Over => Some((a - remainder(a, b)?) / b),
            Operator::Modulo => remainder(a, b),
            Operator::Power => match a {
                0 | 1 if b >= 0 => Some(if b == 0 { 1 } else { a }),
                -1 if b >= 0 => Some(if b % 2 == 0 { 1 } else { -1 }),
                _ => a.checked_pow(u32::try_from(b).ok()?),
            },
        }
    }
}

/// A comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Equal,
    Greater,
    Less,
    Within,
}

/// What Python may not evaluate: a side of an operator, or a branch.
pub(crate) enum Side {
    /// Its value is known without a call.
    Known(Operand),
    /// A function that returns its value for any argument.
    Function(Operand),
}

impl<'t> Lowering<'_, 't> {
    /// Whether operators beyond those of integers can be lowered here.
    fn has_operators(&self) -> bool {
        self.scope.is_some() && self.dialect == Dialect::Public
    }

    /// `value if condition else other`
    pub(super) fn conditional(
        &mut self,
        choices: &[([Expr<'t>; 2], Token<'t>)],
        other: &Expr<'t>,
    ) -> Result<Expression<'t>> {
        let Some((([value, condition], token), more)) = choices.split_first() else {
            return self.lower(other);
        };
        if choices.len() > MOST_NESTED {
            let conditions: Vec<_> = choices.iter().map(|([_, it], _)| it).collect();
            let values = choices.iter().map(|([value, _], _)| value).chain([other]);
            let values: Vec<_> = values.collect();
            let mut ty: Option<KnownType> = None;
            let chosen = self.looked_up(
                *token,
                &conditions,
                |at, used| values[at].names(used),
                |lowering, at| {
                    let value = lowering.argument(values[at])?;
                    let of_value = lowering.known_type(&value);
                    ty = Some(match ty.take() {
                        Some(ty) => ty.and(&of_value),
                        None => of_value,
                    });
                    Ok(value)
                },
            )?;
            if let (Operand::Slot(slot), Some(scope), Some(ty)) = (&chosen, &mut self.scope, ty) {
                scope.set_type(*slot, ty);
            }
            return Ok(Expression::Inlined(chosen));
        }
        let condition = self.argument(condition)?;
        let mut of_other = KnownType::default();
        let mut used = Vec::new();
        all_names(
            choices[1..].iter().flat_map(|(it, _)| it).chain([other]),
            &mut |name| used.push(name),
        );
        let other = self.lazily(*token, &used, |lowering| {
            let other = lowering.conditional(more, other)?;
            let other = lowering.operand(other)?;
            of_other = lowering.known_type(&other);
            Ok(other)
        })?;
        let (value, of_value) = self.side(*token, value)?;
        self.chosen(*token, condition, value, other, of_value.and(&of_other))
    }

    /// The value behind the first condition that is true, or the last value: where functions nest too deep, the first
    /// of the pairs of functions of which the first one gives what is true.
    pub(crate) fn looked_up(
        &mut self,
        token: Token<'t>,
        conditions: &[&Expr<'t>],
        names: impl Fn(usize, &mut dyn FnMut(Token<'t>)),
        mut lower: impl FnMut(&mut Self, usize) -> Result<Operand>,
    ) -> Result<Operand> {
        let mut table = Vec::new();
        for at in 0..=conditions.len() {
            let condition = match conditions.get(at) {
                Some(condition) => self.side(token, condition)?.0,
                None => Side::Known(Value::from(true).into()),
            };
            let mut used = Vec::new();
            names(at, &mut |name| used.push(name));
            let value = self.lazily(token, &used, |lowering| lower(lowering, at))?;
            let pair = [condition, value].map(|side| self.as_function(token, side));
            let [condition, value] = pair;
            table.push(self.made(token, Primitive::Astuple, [condition?, value?])?);
        }
        // What follows the last one is never reached.
        table.extend(table.last().filter(|_| table.len() % 2 == 1).cloned());
        let mut joins = Primitive::Astuple;
        while table.len() > 1 {
            let joined = table.chunks(2).map(|both| match both {
                [a, b] => self.made(token, joins, [a.clone(), b.clone()]),
                _ => Ok(both[0].clone()),
            });
            table = joined.collect::<Result<_>>()?;
            joins = Primitive::Combine;
        }
        let input = self.anything();
        let input = self.made(token, Primitive::Repeat, [input, Value::Int(1).into()])?;
        let called = [Primitive::Apply.into(), input.clone()];
        let called = self.made(token, Primitive::Rbind, called)?;
        let called = [called, Primitive::First.into()];
        let called = self.made(token, Primitive::Compose, called)?;
        let holds = [Primitive::First.into(), called];
        let holds = self.made(token, Primitive::Compose, holds)?;
        let found = self.made(token, Primitive::Extract, [table.swap_remove(0), holds])?;
        let value = self.made(token, Primitive::Last, [found])?;
        let value = self.made(token, Primitive::Apply, [value, input])?;
        self.made(token, Primitive::First, [value])
    }

    /// What a function is called with that ignores its argument, or takes the input for it.
    fn anything(&self) -> Operand {
        let scope = self.scope.as_ref();
        if scope.is_some_and(|scope| scope.builder.has_inputs()) {
            Operand::Slot(Slot::INPUT)
        } else {
            Value::Int(0).into()
        }
    }

    /// Values joined by `or` or `and`; the first one that is true, or that is not, decides.
    pub(super) fn logical(&mut self, chain: &Chain<'t>) -> Result<Expression<'t>> {
        let mut left = self.lower(&chain.first)?;
        for (token, right) in &chain.rest {
            let value = self.operand(left)?;
            let side = self.side(*token, right)?;
            left = self.joined(token.text == "or", *token, value, side)?;
        }
        Ok(left)
    }

    /// `value or side`, or `value and side`.
    fn joined(
        &mut self,
        is_or: bool,
        token: Token<'t>,
        value: Operand,
        (side, of_side): (Side, KnownType),
    ) -> Result<Expression<'t>> {
        if let Side::Known(right) = side {
            let primitive = if is_or {
                Primitive::Either
            } else {
                Primitive::Both
            };
            return Ok(call(primitive, [value, right], token));
        }
        let ty = self.known_type(&value).and(&of_side);
        let ended = Side::Known(self.as_truth(value.clone(), is_or, token));
        let (yes, no) = if is_or { (ended, side) } else { (side, ended) };
        self.chosen(token, value, yes, no, ty)
    }

    /// `not value`
    pub(super) fn not(&mut self, token: Token<'t>, value: &Expr<'t>) -> Result<Expression<'t>> {
        if !self.has_operators() {
            return Err(self.only_calls(token));
        }
        let value = self.argument(value)?;
        Ok(call(Primitive::Flip, [value], token))
    }

    /// Comparisons that follow each other.
    pub(super) fn comparisons(&mut self, chain: &Chain<'t>) -> Result<Expression<'t>> {
        if let Some((token, _)) = chain.rest.first()
            && !self.has_operators()
        {
            return Err(self.only_calls(*token));
        }
        let sides = chain.rest.iter().map(|(_, side)| side);
        for (side, (token, _)) in [&chain.first].into_iter().chain(sides).zip(&chain.rest) {
            if matches!(token.text, "==" | "!=" | "in" | "not") {
                self.is_comparable(side)?;
            }
        }
        if let Some((_, last)) = chain.rest.last() {
            self.is_comparable(last)?;
        }
        let first = self.argument(&chain.first)?;
        self.compared_with(first, &chain.rest)
    }

    /// The comparisons that follow a value. Each value is evaluated once, and only if those before it hold.
    fn compared_with(
        &mut self,
        value: Operand,
        rest: &[(Token<'t>, Expr<'t>)],
    ) -> Result<Expression<'t>> {
        let [(token, right), more @ ..] = rest else {
            return Ok(Expression::Operand(value));
        };
        let is_within = matches!(token.text, "in" | "not");
        let generator = right.generator().filter(|it| is_within && !it.is_flat);
        if let (Some(it), []) = (generator, more) {
            let found = self.contained_in(*token, value, it)?;
            if token.is_name("in") {
                return Ok(Expression::Inlined(found));
            }
            return Ok(call(Primitive::Flip, [found], *token));
        }
        let right = if is_within {
            self.is_at_once(right)?;
            self.elements(right)?
        } else {
            self.argument(right)?
        };
        let compared = self.compared(*token, value, right.clone())?;
        let Some((next, third)) = more.first() else {
            return Ok(compared);
        };
        let compared = self.operand(compared)?;
        let are_integers = self.is_integer(&right, *next);
        if let ([_], ExprKind::Name | ExprKind::Integer(_)) = (more, &third.kind) {
            let third = self.argument(third)?;
            if are_integers && self.is_integer(&third, *next) {
                // They can be compared in any case.
                let second = self.compared(*next, right, third)?;
                let second = self.operand(second)?;
                return Ok(call(Primitive::Both, [compared, second], *next));
            }
        }
        // No name can be equal to the text of an operator.
        let mut used = vec![*next];
        for (_, side) in more {
            side.names(&mut |name| used.push(name));
        }
        if let (Operand::Slot(slot), Some(scope)) = (&right, &mut self.scope) {
            scope.builder.alias(next.text, *slot);
        }
        let side = self.lazily(*next, &used, |lowering| {
            let scope = lowering.scope.as_ref();
            let captured = scope.and_then(|scope| scope.builder.variable(next.text));
            let value = match (&right, captured) {
                (Operand::Slot(_), Some(slot)) => Operand::Slot(slot),
                _ => right.clone(),
            };
            let compared = lowering.compared_with(value, more)?;
            lowering.operand(compared)
        })?;
        self.joined(false, *next, compared, (side, KnownType::default()))
    }

    fn compared(&mut self, token: Token<'t>, a: Operand, b: Operand) -> Result<Expression<'t>> {
        let (kind, is_negated) = match token.text {
            "==" => (Comparison::Equal, false),
            "!=" => (Comparison::Equal, true),
            ">" => (Comparison::Greater, false),
            "<" => (Comparison::Less, false),
            "<=" => (Comparison::Greater, true),
            ">=" => (Comparison::Less, true),
            "in" => (Comparison::Within, false),
            "not" => (Comparison::Within, true),
            _ => return Err(self.only_calls(token)),
        };
        // For sets and tuples, "not greater" does not mean "less or equal".
        let is_order = matches!(kind, Comparison::Greater | Comparison::Less);
        if is_negated && is_order && !(self.is_integer(&a, token) && self.is_integer(&b, token)) {
            let instead = match kind {
                Comparison::Greater => "flip(greater(a, b))",
                _ => "flip(greater(b, a))",
            };
            return Err(self.not_of_integers(token, instead));
        }
        let (primitive, arguments) = match kind {
            Comparison::Equal => (Primitive::Equality, [a, b]),
            Comparison::Greater => (Primitive::Greater, [a, b]),
            Comparison::Less => (Primitive::Greater, [b, a]),
            Comparison::Within => (Primitive::Contained, [a, b]),
        };
        let compared = call(primitive, arguments, token);
        if !is_negated {
            return Ok(compared);
        }
        let compared = self.operand(compared)?;
        Ok(call(Primitive::Flip, [compared], token))
    }

    /// A side of an operator that Python may not evaluate, and its type.
    fn side(&mut self, token: Token<'t>, side: &Expr<'t>) -> Result<(Side, KnownType)> {
        let (mut used, mut ty) = (Vec::new(), KnownType::default());
        side.names(&mut |name| used.push(name));
        let side = self.lazily(token, &used, |lowering| {
            let value = lowering.argument(side)?;
            ty = lowering.known_type(&value);
            Ok(value)
        })?;
        Ok((side, ty))
    }

    /// What Python may not evaluate, and uses these names.
    pub(crate) fn lazily(
        &mut self,
        token: Token<'t>,
        used: &[Token<'t>],
        lower: impl FnOnce(&mut Self) -> Result<Operand>,
    ) -> Result<Side> {
        if !self.has_operators() {
            return Err(self.only_calls(token));
        }
        // No name is empty.
        let anything = Parameter::unnamed(Token { text: "", ..token });
        let function = self.local(token, vec![anything], used, None, lower)?;
        self.freeze(&function.frozen, token);
        Ok(match self.known_value(token, &function)? {
            Some(value) => Side::Known(value),
            None => Side::Function(self.value_of_input(token, &function)?),
        })
    }

    /// The value that a condition selects, which is of this type.
    pub(crate) fn chosen(
        &mut self,
        token: Token<'t>,
        condition: Operand,
        yes: Side,
        no: Side,
        ty: KnownType,
    ) -> Result<Expression<'t>> {
        if let (Side::Known(yes), Side::Known(no)) = (&yes, &no) {
            let arguments = [condition, yes.clone(), no.clone()];
            return Ok(call(Primitive::Branch, arguments, token));
        }
        let yes = self.as_function(token, yes)?;
        let no = self.as_function(token, no)?;
        let name = self.generate_name();
        let chosen = [condition, yes, no];
        let chosen = self.step(token, name, Primitive::Branch.into(), chosen.into())?;
        let argument = self.anything();
        match (chosen, &mut self.scope) {
            (Operand::Slot(slot), Some(scope)) => {
                scope.results.insert(slot, ty);
                Ok(call(slot, [argument], token))
            }
            _ => Err(self.only_calls(token)),
        }
    }

    fn as_function(&mut self, token: Token<'t>, side: Side) -> Result<Operand> {
        match side {
            Side::Known(Operand::Slot(Slot::INPUT)) => Ok(Primitive::Identity.into()),
            Side::Known(value) => self.constant_function(token, value),
            Side::Function(function) => Ok(function),
        }
    }

    /// The value of a condition whose truth is known: the constant, if the condition is certainly a truth value;
    /// otherwise the condition's own value.
    fn as_truth(&mut self, value: Operand, is_true: bool, token: Token<'t>) -> Operand {
        match self.certain(&value, token) {
            Some(ValueType::Bool) => Value::from(is_true).into(),
            _ => value,
        }
    }

    /// Whether a value is certainly an integer, or a truth value, which is one in Python.
    fn is_integer(&mut self, operand: &Operand, token: Token<'t>) -> bool {
        let ty = self.certain(operand, token);
        matches!(ty, Some(ValueType::Int | ValueType::Bool))
    }

    /// Operators of one precedence, from left to right.
    pub(super) fn operators(&mut self, chain: &Chain<'t>) -> Result<Expression<'t>> {
        let mut left = self.lower(&chain.first)?;
        for (token, right) in &chain.rest {
            let Some(operator) = Operator::of(*token) else {
                return Err(self.only_calls(*token));
            };
            let a = self.side_of(left, *token)?;
            let side = self.lower(right)?;
            let b = self.side_of(side, *token)?;
            left = self.calculated(operator, *token, [a, b], right.token)?;
        }
        Ok(left)
    }

    /// The value of a side of an operator; outside of programs it has to be known.
    fn side_of(&mut self, side: Expression<'t>, operator: Token<'t>) -> Result<Operand> {
        match side {
            Expression::Operand(operand) => Ok(operand),
            _ if self.scope.is_none() => Err(self.only_calls(operator)),
            side => self.operand(side),
        }
    }

    /// The result of the operator `token`; the right side begins at `at`.
    fn calculated(
        &mut self,
        operator: Operator,
        token: Token<'t>,
        sides: [Operand; 2],
        at: Token<'t>,
    ) -> Result<Expression<'t>> {
        let known = |operand: &Operand| integer(constant(operand).as_ref());
        let [Some(a), Some(b)] = sides.each_ref().map(known) else {
            if self.dialect != Dialect::Public || operator == Operator::Power {
                return Err(self.only_calls(token));
            }
            let integers = sides.each_ref().map(|side| self.is_integer(side, token));
            let are_integers = integers == [true; 2];
            let kinds = sides.each_ref().map(|side| self.kind_of(side, token));
            let is_tuple = kinds.map(|kind| kind == Some(ContainerKind::Tuple));
            if operator == Operator::Plus && is_tuple == [true; 2] {
                return Ok(call(Primitive::Combine, sides, token));
            }
            if operator == Operator::Times
                && (is_tuple[0] && integers[1] || integers[0] && is_tuple[1])
            {
                let [a, b] = sides;
                let given = if is_tuple[0] { [a, b] } else { [b, a] };
                let ty = self.element_type(&given[0], token).map(ValueType::tuple_of);
                let times = self.derived(token, "times", &given)?;
                return Ok(Expression::Inlined(self.typed(times, ty)));
            }
            return match operator.primitive() {
                Some(primitive) if are_integers => Ok(call(primitive, sides, token)),
                Some(primitive) => {
                    let instead = match (operator, kinds.into_iter().flatten().next()) {
                        (Operator::Plus, Some(_)) => Primitive::Combine,
                        (Operator::Minus, Some(ContainerKind::Set)) => Primitive::Difference,
                        _ => primitive,
                    };
                    Err(self.not_of_integers(token, &format!("{instead}(a, b)")))
                }
                None if are_integers => {
                    let modulo = self.derived(token, "modulo", &sides)?;
                    Ok(Expression::Inlined(
                        self.typed(modulo, Some(ValueType::Int)),
                    ))
                }
                None => {
                    Err(self.expects(token, "on both sides of it integers, whatever the grid is"))
                }
            };
        };
        if b == 0 && matches!(operator, Operator::Over | Operator::Modulo) {
            let found = format!("{a} {} {b}", token.text);
            return self.fail(at, ParseErrorKind::DividedByZero { found });
        }
        let value = operator.apply(a, b);
        let value = value.filter(|value| value.abs() <= i64::from(MAX_INT));
        let value = value.ok_or_else(|| {
            let found = format!("{a} {} {b}", token.text);
            self.error(at, ParseErrorKind::IntegerRange { found })
        })?;
        Ok(Expression::Operand(Value::Int(value as i32).into()))
    }

    /// The value of `name += value` and similar statements.
    pub(crate) fn augmented(
        &mut self,
        [name, token]: [Token<'t>; 2],
        value: &Expr<'t>,
    ) -> Result<Expression<'t>> {
        let Some(operator) = Operator::of(token) else {
            return Err(self.only_calls(token));
        };
        let scope = self.scope.as_ref();
        let Some(slot) = scope.and_then(|scope| scope.builder.variable(name.text)) else {
            return self.fail(name, self.unknown(name, false));
        };
        if scope.is_some_and(|scope| scope.lists.contains(name.text)) {
            return Err(self.expects(name, OF_A_LIST));
        }
        let at = value.token;
        let value = self.argument(value)?;
        self.calculated(operator, token, [Operand::Slot(slot), value], at)
    }

    /// `-x` or `+x`
    pub(super) fn signed(
        &mut self,
        sign: Token<'t>,
        operand: &Expr<'t>,
        text: &str,
    ) -> Result<Expression<'t>> {
        let value = self.lower(operand)?;
        let value = self.side_of(value, sign)?;
        let Some(known) = integer(constant(&value).as_ref()) else {
            let is_minus = sign.is("-");
            if self.dialect == Dialect::Public && is_minus && self.is_integer(&value, sign) {
                return Ok(call(Primitive::Invert, [value], sign));
            }
            let expected = match is_minus {
                true if self.has_operators() => {
                    "after `-` an integer, or what is one whatever the grid is, as `height(I)` (`invert(x)` takes any)"
                }
                true => "an integer after `-`",
                false => "an integer after `+`",
            };
            let found = format!("`{}`", told(text));
            return self.fail(operand.token, ParseErrorKind::Expected { expected, found });
        };
        let value = if sign.is("-") { -known } else { known };
        Ok(Expression::Operand(Value::Int(value as i32).into()))
    }

    fn not_of_integers(&self, operator: Token<'t>, instead: &str) -> ParseError {
        let kind = ParseErrorKind::NotOfIntegers {
            operator: operator.text.to_owned(),
            instead: instead.to_owned(),
        };
        self.error(operator, kind)
    }
}

/// A call of these arguments.
fn call<const N: usize>(
    callee: impl Into<Callee>,
    arguments: [Operand; N],
    token: Token<'_>,
) -> Expression<'_> {
    Expression::Call {
        callee: callee.into(),
        arguments: arguments.into(),
        token,
    }
}

/// The value as an integer. Truth values do not count here, though Python calculates with them.
fn integer(value: Option<&Value>) -> Option<i64> {
    match value {
        Some(Value::Int(value)) => Some(i64::from(*value)),
        _ => None,
    }
}
