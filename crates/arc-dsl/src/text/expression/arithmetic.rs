//! Operators between integers that are known before the program runs.

use crate::text::error::ParseErrorKind;
use crate::text::expression::{Expression, MAX_NESTING, constant};
use crate::text::lexer::{Token, TokenKind};
use crate::text::module::parser::Parser;
use crate::text::tokens::{Result, told};
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

/// How strongly signs bind: more than `*`, less than `**`.
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

    /// How strongly it binds.
    fn strength(self) -> u8 {
        match self {
            Operator::Plus | Operator::Minus => 1,
            Operator::Times | Operator::Over | Operator::Modulo => 2,
            Operator::Power => 4,
        }
    }

    /// Its result for two integers, as in Python; `None` if that is no integer of moderate size.
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

impl<'t> Parser<'_, 't> {
    /// The expression with the operators behind it that bind at least so strongly.
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
            let a = self.known_integer(&left)?;
            self.tokens.bump();
            let at = self.tokens.peek();
            let (inner, next) = match operator {
                // To the right of `**` a sign and another `**` come first.
                Operator::Power => (self.deeper(depth)?, Operator::Power.strength()),
                _ => (depth, operator.strength() + 1),
            };
            let right = self.call_or_value(inner)?;
            let right = self.operators(right, next, inner)?;
            let b = match right {
                Expression::Operand(ref operand) => integer(constant(operand).as_ref()),
                _ => None,
            };
            let b = b.ok_or_else(|| self.only_calls(token))?;
            let value = operator.apply(a, b);
            let value = value.filter(|value| value.abs() <= i64::from(MAX_INT));
            let value = value.ok_or_else(|| {
                let found = format!("{a} {} {b}", token.text);
                self.tokens
                    .error(at, ParseErrorKind::IntegerRange { found })
            })?;
            left = Expression::Operand(Value::Int(value as i32).into());
        }
        Ok(left)
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
        let value = match &value {
            Expression::Operand(operand) => integer(constant(operand).as_ref()),
            _ => None,
        };
        let Some(value) = value else {
            let (expected, found) = if sign.is("-") {
                ("an integer after `-`", told(at.text))
            } else {
                ("an integer after `+`", told(at.text))
            };
            let found = format!("`{found}`");
            return Err(self
                .tokens
                .error(at, ParseErrorKind::Expected { expected, found }));
        };
        let value = if sign.is("-") { -value } else { value };
        Ok(Expression::Operand(Value::Int(value as i32).into()))
    }

    fn known_integer(&self, expression: &Expression<'t>) -> Result<i64> {
        let value = match expression {
            Expression::Operand(operand) => integer(constant(operand).as_ref()),
            _ => None,
        };
        value.ok_or_else(|| self.only_calls(self.tokens.peek()))
    }

    fn only_calls(&self, operator: Token<'t>) -> crate::text::error::ParseError {
        let found = format!("`{}`", operator.text);
        self.tokens
            .error(operator, ParseErrorKind::OnlyCalls { found })
    }

    /// A depth of one more.
    fn deeper(&self, depth: u32) -> Result<u32> {
        if depth < MAX_NESTING {
            return Ok(depth + 1);
        }
        let kind = ParseErrorKind::Nesting { max: MAX_NESTING };
        Err(self.tokens.error(self.tokens.peek(), kind))
    }
}

/// The integer that a value is; truth values are none here, though Python counts with them.
fn integer(value: Option<&Value>) -> Option<i64> {
    match value {
        Some(Value::Int(value)) => Some(i64::from(*value)),
        _ => None,
    }
}
