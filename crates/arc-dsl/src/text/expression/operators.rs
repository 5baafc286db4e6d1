//! Converts operators to the equivalent primitives.
//!
//! Operators on integers that are known before the program runs are computed at once. On other values, `+`, `-`, `*`,
//! `//`, `<=` and `>=` become calls only if both sides are certainly integers, since in Python they do something else
//! on tuples and sets. What Python may not evaluate, a side of `and`, `or` or `if`, becomes a function that `branch`
//! selects.

use arc_isa::Primitive;

use crate::dialect::Dialect;
use crate::program::{Callee, Operand, Slot};
use crate::text::error::{ParseError, ParseErrorKind};
use crate::text::expression::{Expression, MAX_NESTING};
use crate::text::lexer::{Token, TokenKind};
use crate::text::module::parser::{Parser, constant};
use crate::text::statements::Parameter;
use crate::text::tokens::Result;
use crate::value::{MAX_INT, Value};

/// An operator between two integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::text) enum Operator {
    Plus,
    Minus,
    Times,
    Over,
    Modulo,
    Power,
}

/// The primitives that return a truth value or fail, whatever their arguments. Their signatures do not say that: `both`
/// returns one of its arguments.
const COMPARES: &[Primitive] = &[
    Primitive::Equality,
    Primitive::Greater,
    Primitive::Contained,
    Primitive::Flip,
    Primitive::Even,
    Primitive::Positive,
    Primitive::Portrait,
    Primitive::Square,
];

/// The precedence of signs: higher than `*`, lower than `**`.
const SIGN: u8 = 3;

impl Operator {
    pub(in crate::text) fn of(token: Token<'_>) -> Option<Self> {
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

    /// Its precedence.
    fn strength(self) -> u8 {
        match self {
            Operator::Plus | Operator::Minus => 1,
            Operator::Times | Operator::Over | Operator::Modulo => 2,
            Operator::Power => 4,
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

/// A side of an operator that Python may not evaluate.
enum Side {
    /// Its value is known without a call.
    Known(Operand),
    /// A function that returns its value for any argument.
    Function(Operand),
}

impl<'t> Parser<'_, 't> {
    /// An expression with operators.
    pub(in crate::text) fn with_operators(&mut self, depth: u32) -> Result<Expression<'t>> {
        let start = self.tokens.place();
        if self.tokens.peek().is_name("lambda") {
            return self.call_or_value(depth);
        }
        match self.place_of_if() {
            Some(place) => self.conditional(start, place, depth),
            None => self.or(depth),
        }
    }

    /// The token index of the `if` of the conditional expression that begins here, if it is one.
    fn place_of_if(&mut self) -> Option<usize> {
        let tokens = self.tokens.all();
        let has_if = *self.has_if.get_or_insert_with(|| {
            let mut pairs = tokens.windows(2);
            pairs.any(|pair| {
                pair[1].is_name("if") && pair[0].kind != TokenKind::Indent && !pair[0].is(";")
            })
        });
        let place = has_if.then(|| self.end_of_expression(&["if"]));
        place.filter(|&place| tokens.get(place).is_some_and(|token| token.is_name("if")))
    }

    /// `value if condition else other`
    fn conditional(&mut self, start: usize, place: usize, depth: u32) -> Result<Expression<'t>> {
        let inner = self.deeper(depth)?;
        self.tokens.go_to(place);
        let token = self.tokens.bump();
        let condition = self.or(inner)?;
        let condition = self.operand(condition)?;
        if !self.tokens.peek().is_name("else") {
            return Err(self.tokens.unexpected("`else`"));
        }
        self.tokens.bump();
        let other = self.side(token, &[], |parser| parser.argument(inner))?;
        let end = self.tokens.place();
        self.tokens.go_to(start);
        let value = self.side(token, &["if"], |parser| {
            let value = parser.or(inner)?;
            parser.operand(value)
        })?;
        if self.tokens.place() != place {
            return Err(self.tokens.unexpected("`if`"));
        }
        self.tokens.go_to(end);
        self.chosen(token, condition, value, other)
    }

    /// Conditions joined by `or`.
    fn or(&mut self, depth: u32) -> Result<Expression<'t>> {
        let (word, ends) = ("or", ["or", "if", "else"]);
        self.logical(word, &ends, true, |parser| parser.and(depth))
    }

    /// Conditions joined by `and`.
    fn and(&mut self, depth: u32) -> Result<Expression<'t>> {
        let (word, ends) = ("and", ["and", "or", "if", "else"]);
        self.logical(word, &ends, false, |parser| parser.not(depth))
    }

    /// Conditions joined by `word`, each ended by one of `ends`; the first one whose truth value is `ends_at` decides.
    fn logical(
        &mut self,
        word: &str,
        ends: &[&str],
        ends_at: bool,
        read: impl Fn(&mut Self) -> Result<Expression<'t>>,
    ) -> Result<Expression<'t>> {
        let mut left = read(self)?;
        while self.tokens.peek().is_name(word) {
            let token = self.tokens.bump();
            let value = self.operand(left)?;
            let side = self.side(token, ends, |parser| {
                let right = read(parser)?;
                parser.operand(right)
            })?;
            left = if let Side::Known(right) = side {
                let primitive = if ends_at {
                    Primitive::Either
                } else {
                    Primitive::Both
                };
                call(primitive, [value, right], token)
            } else {
                let ended = Side::Known(self.as_truth(value.clone(), ends_at));
                let (yes, no) = if ends_at {
                    (ended, side)
                } else {
                    (side, ended)
                };
                self.chosen(token, value, yes, no)?
            };
        }
        Ok(left)
    }

    /// A condition, possibly negated.
    fn not(&mut self, depth: u32) -> Result<Expression<'t>> {
        let is_program = self.scope.is_some() && self.dialect == Dialect::Public;
        if !self.tokens.peek().is_name("not") || !is_program {
            return self.comparison(depth);
        }
        let token = self.tokens.bump();
        let inner = self.deeper(depth)?;
        let value = self.not(inner)?;
        let value = self.operand(value)?;
        Ok(call(Primitive::Flip, [value], token))
    }

    /// A value, or a comparison of two values.
    fn comparison(&mut self, depth: u32) -> Result<Expression<'t>> {
        let first = self.call_or_value(depth)?;
        let first = self.operators(first, 0, depth)?;
        let token = self.tokens.peek();
        let Some((comparison, is_negated)) = self.comparison_here() else {
            return Ok(first);
        };
        let a = self.operand(first)?;
        let right = self.call_or_value(depth)?;
        let right = self.operators(right, 0, depth)?;
        let b = self.operand(right)?;
        let second = self.tokens.peek();
        if self.comparison_here().is_some() {
            return Err(self.only_calls(second));
        }
        // For sets and tuples, "not greater" does not mean "less or equal".
        let is_order = matches!(comparison, Comparison::Greater | Comparison::Less);
        if is_negated && is_order && !(self.is_integer(&a) && self.is_integer(&b)) {
            let instead = match comparison {
                Comparison::Greater => "flip(greater(a, b))",
                _ => "flip(greater(b, a))",
            };
            return Err(self.not_of_integers(token, instead));
        }
        let (primitive, arguments) = match comparison {
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

    /// Consumes a comparison, if one comes next in a program of the public dialect; returns also whether it is negated.
    fn comparison_here(&mut self) -> Option<(Comparison, bool)> {
        if self.scope.is_none() || self.dialect != Dialect::Public {
            return None;
        }
        let token = self.tokens.peek();
        let found = match (token.kind, token.text) {
            (TokenKind::Symbol, "==") => (Comparison::Equal, false),
            (TokenKind::Symbol, "!=") => (Comparison::Equal, true),
            (TokenKind::Symbol, ">") => (Comparison::Greater, false),
            (TokenKind::Symbol, "<") => (Comparison::Less, false),
            (TokenKind::Symbol, "<=") => (Comparison::Greater, true),
            (TokenKind::Symbol, ">=") => (Comparison::Less, true),
            (TokenKind::Name, "in") => (Comparison::Within, false),
            (TokenKind::Name, "not") if self.tokens.second().is_name("in") => {
                self.tokens.bump();
                (Comparison::Within, true)
            }
            _ => return None,
        };
        self.tokens.bump();
        Some(found)
    }

    /// A side of an operator that Python may not evaluate; it ends before these keywords.
    fn side(
        &mut self,
        token: Token<'t>,
        ends: &[&str],
        read: impl FnOnce(&mut Self) -> Result<Operand>,
    ) -> Result<Side> {
        if self.scope.is_none() || self.dialect != Dialect::Public {
            return Err(self.only_calls(token));
        }
        let region = self.tokens.place()..self.end_of_expression(ends);
        // No name can be equal to the text of the operator.
        let anything = Parameter::unnamed(token);
        let function = self.local(token, vec![anything], region, read)?;
        Ok(match self.known_value(token, &function)? {
            Some(value) => Side::Known(value),
            None => Side::Function(self.value_of_input(token, &function)?),
        })
    }

    /// The value that a condition selects.
    fn chosen(
        &mut self,
        token: Token<'t>,
        condition: Operand,
        yes: Side,
        no: Side,
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
        let has_input = self
            .scope
            .as_ref()
            .is_some_and(|scope| scope.builder.has_inputs());
        let argument = if has_input {
            Operand::Slot(Slot::INPUT)
        } else {
            Value::Int(0).into()
        };
        match chosen {
            Operand::Slot(slot) => Ok(call(slot, [argument], token)),
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
    fn as_truth(&self, value: Operand, is_true: bool) -> Operand {
        let step = match (&value, &self.scope) {
            (Operand::Slot(slot), Some(scope)) => scope.builder.step_of(*slot),
            _ => None,
        };
        match step.map(|step| step.callee) {
            Some(Callee::Primitive(primitive)) if COMPARES.contains(&primitive) => {
                Value::from(is_true).into()
            }
            _ => value,
        }
    }

    /// Whether a value is certainly an integer.
    fn is_integer(&mut self, operand: &Operand) -> bool {
        let line = self.tokens.peek().line;
        match (operand, &mut self.scope) {
            (Operand::Slot(slot), Some(scope)) => {
                let is_integer = scope.is_integer(*slot);
                if is_integer {
                    // A captured integer has to remain one.
                    for name in &scope.captured {
                        scope.frozen.entry(name).or_insert(line);
                    }
                }
                is_integer
            }
            (operand, _) => integer(constant(operand).as_ref()).is_some(),
        }
    }

    /// Parses the operators that follow the expression, if their precedence is at least `least`.
    pub(in crate::text) fn operators(
        &mut self,
        first: Expression<'t>,
        least: u8,
        depth: u32,
    ) -> Result<Expression<'t>> {
        let mut left = first;
        while let token = self.tokens.peek()
            && let Some(operator) = Operator::of(token)
            && operator.strength() >= least
        {
            let a = match left {
                // Python evaluates the left side first.
                Expression::Operand(operand) => operand,
                _ if self.scope.is_none() => return Err(self.only_calls(token)),
                left => self.operand(left)?,
            };
            self.tokens.bump();
            let at = self.tokens.peek();
            let (inner, next) = match operator {
                // A sign or another `**` to the right of `**` binds first.
                Operator::Power => (self.deeper(depth)?, Operator::Power.strength()),
                _ => (depth, operator.strength() + 1),
            };
            let right = self.call_or_value(inner)?;
            let right = self.operators(right, next, inner)?;
            let b = match right {
                Expression::Operand(operand) => operand,
                _ if self.scope.is_none() => return Err(self.only_calls(token)),
                right => self.operand(right)?,
            };
            left = self.calculated(operator, token, [a, b], at)?;
        }
        Ok(left)
    }

    /// The result of the operator at `token`; the right side begins at `at`.
    fn calculated(
        &mut self,
        operator: Operator,
        token: Token<'t>,
        sides: [Operand; 2],
        at: Token<'t>,
    ) -> Result<Expression<'t>> {
        let known = |operand: &Operand| integer(constant(operand).as_ref());
        let [Some(a), Some(b)] = sides.each_ref().map(known) else {
            let primitive = operator.primitive();
            let primitive = primitive.filter(|_| self.dialect == Dialect::Public);
            let primitive = primitive.ok_or_else(|| self.only_calls(token))?;
            if !sides.iter().all(|side| self.is_integer(side)) {
                return Err(self.not_of_integers(token, &format!("{primitive}(a, b)")));
            }
            return Ok(call(primitive, sides, token));
        };
        let value = operator.apply(a, b);
        let value = value.filter(|value| value.abs() <= i64::from(MAX_INT));
        let value = value.ok_or_else(|| {
            let found = format!("{a} {} {b}", token.text);
            self.tokens
                .error(at, ParseErrorKind::IntegerRange { found })
        })?;
        Ok(Expression::Operand(Value::Int(value as i32).into()))
    }

    /// The value of `name += value` and similar statements, whose name has been consumed.
    pub(in crate::text) fn augmented(&mut self, name: Token<'t>) -> Result<Option<Expression<'t>>> {
        let token = self.tokens.peek();
        let operator = token
            .text
            .strip_suffix('=')
            .map(|text| Token { text, ..token });
        let Some(operator) = operator.and_then(Operator::of) else {
            return Ok(None);
        };
        let slot = self
            .scope
            .as_ref()
            .and_then(|scope| scope.builder.variable(name.text));
        let Some(slot) = slot else {
            return self.fail(name, self.unknown(name, false));
        };
        self.tokens.bump();
        let at = self.tokens.peek();
        let value = self.argument(0)?;
        let sides = [Operand::Slot(slot), value];
        self.calculated(operator, token, sides, at).map(Some)
    }

    /// `-x` or `+x`.
    pub(in crate::text) fn signed(&mut self, depth: u32) -> Result<Expression<'t>> {
        let sign = self.tokens.bump();
        if self.tokens.peek().kind == TokenKind::Integer && !self.tokens.second().is("**") {
            let sign = if sign.is("-") { "-" } else { "" };
            return Ok(Expression::Operand(self.integer(sign)?));
        }
        let inner = self.deeper(depth)?;
        let at = self.tokens.peek();
        let value = self.call_or_value(inner)?;
        let value = self.operators(value, SIGN, inner)?;
        let value = match value {
            Expression::Operand(operand) => operand,
            _ if self.scope.is_none() => return Err(self.only_calls(sign)),
            value => self.operand(value)?,
        };
        let is_call = self.dialect == Dialect::Public && sign.is("-") && self.is_integer(&value);
        let Some(value) = integer(constant(&value).as_ref()) else {
            if is_call {
                return Ok(call(Primitive::Invert, [value], sign));
            }
            let expected = match sign.is("-") {
                true if self.dialect == Dialect::Public && self.scope.is_some() => {
                    "after `-` an integer, or what is one whatever the grid is, as `height(I)` (`invert(x)` takes any)"
                }
                true => "an integer after `-`",
                false => "an integer after `+`",
            };
            let found = self.tokens.told_from(at);
            return self.fail(at, ParseErrorKind::Expected { expected, found });
        };
        let value = if sign.is("-") { -value } else { value };
        Ok(Expression::Operand(Value::Int(value as i32).into()))
    }

    fn not_of_integers(&self, operator: Token<'t>, instead: &str) -> ParseError {
        let kind = ParseErrorKind::NotOfIntegers {
            operator: operator.text.to_owned(),
            instead: instead.to_owned(),
        };
        self.tokens.error(operator, kind)
    }

    fn only_calls(&self, operator: Token<'t>) -> ParseError {
        let found = format!("`{}`", operator.text);
        self.tokens
            .error(operator, ParseErrorKind::OnlyCalls { found })
    }

    /// The nesting depth plus one, if that is within the limit.
    pub(in crate::text) fn deeper(&self, depth: u32) -> Result<u32> {
        if depth < MAX_NESTING {
            return Ok(depth + 1);
        }
        self.fail(
            self.tokens.peek(),
            ParseErrorKind::Nesting { max: MAX_NESTING },
        )
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
