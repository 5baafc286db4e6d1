//! Lowers expressions to the steps of a program.

pub(super) mod operators;
mod sequences;

use arc_dsl::{BuildError, Callee, Dialect, MAX_INT, Operand, TypedPrimitive, Value};

use arc_isa::Primitive;

use crate::error::{ParseError, ParseErrorKind};
use crate::lexer::{Token, TokenKind};
use crate::module::lowering::{Lowering, constant};
use crate::names;
use crate::spelling::nearest;
use crate::tokens::{Result, described, told};
use crate::tree::{Argument, Expr, ExprKind, Trailer};

/// A lowered expression.
pub(super) enum Expression<'t> {
    Operand(Operand),
    /// The result of an inlined function, whose steps have been added, or a function of Python as one of the DSL, which
    /// has other names of parameters.
    Inlined(Operand),
    /// A tuple for which no step exists yet: it may just be unpacked.
    Tuple {
        elements: Vec<Operand>,
        /// Where errors point.
        token: Token<'t>,
    },
    /// A call for which no step exists yet: the name of its result depends on where the call stands.
    Call {
        callee: Callee,
        arguments: Box<[Operand]>,
        /// Where errors point.
        token: Token<'t>,
    },
}

/// What is expected where there is a list.
pub(super) const OF_A_LIST: &str =
    "`tuple(..)` or another call around it that takes only its elements";

impl Expression<'_> {
    /// The result of a function, or a value that needs no step.
    pub(super) fn of(operand: Operand) -> Self {
        match operand {
            Operand::Slot(_) | Operand::Primitive(_) => Expression::Inlined(operand),
            operand => Expression::Operand(operand),
        }
    }
}

impl<'t> Lowering<'_, 't> {
    /// The value of a literal.
    pub(super) fn literal(mut self, expr: &Expr<'t>) -> Result<Value> {
        match self.lower(expr)? {
            Expression::Operand(operand) => constant(&operand),
            _ => None,
        }
        .ok_or_else(|| self.error(expr.token, ParseErrorKind::NotLiteral))
    }

    /// Lowers an expression; all calls in it except the outermost become steps.
    pub(super) fn lower(&mut self, expr: &Expr<'t>) -> Result<Expression<'t>> {
        let token = expr.token;
        let operand: Operand = match &expr.kind {
            ExprKind::Name | ExprKind::Trailed(_) if self.is_list(expr) => {
                return Err(self.expects(token, OF_A_LIST));
            }
            ExprKind::Name => return Ok(self.named(token, &[])?.0),
            ExprKind::Word => match token.text {
                "True" => Value::from(true).into(),
                "False" => Value::from(false).into(),
                _ => Value::Nothing.into(),
            },
            ExprKind::Integer(is_negative) => self.integer(token, *is_negative)?,
            ExprKind::Foreign | ExprKind::List(_) | ExprKind::Star(_) => {
                return Err(self.only_calls(token));
            }
            ExprKind::Comprehension(it) => match token.text {
                "{" => {
                    self.hashed(it.element())?;
                    let elements = self.comprehension(it, true)?;
                    return Ok(Expression::Inlined(self.set_of(token, elements)?));
                }
                "[" => return Err(self.only_calls(token)),
                _ => return Err(self.only_calls(it.token)),
            },
            ExprKind::Paren(inner) => return self.lower(inner),
            ExprKind::Tuple(elements) => return self.displayed_tuple(token, elements),
            ExprKind::Set(set) => match self.set(token, set, false)? {
                set @ Operand::Slot(_) => return Ok(Expression::Inlined(set)),
                set => set,
            },
            ExprKind::Signed(signed) => return self.signed(token, &signed.0, signed.1),
            ExprKind::Operators(chain) => return self.operators(chain),
            ExprKind::Comparisons(chain) => return self.comparisons(chain),
            ExprKind::Logical(chain) => return self.logical(chain),
            ExprKind::Not(inner) => return self.not(token, inner),
            ExprKind::Conditional(parts) => return self.conditional(&parts.0, &parts.1),
            ExprKind::Lambda(function) => return Ok(self.lambda(function, &[])?.0),
            ExprKind::Trailed(trailed) => return self.trailed(&trailed.0, &trailed.1),
        };
        Ok(Expression::Operand(operand))
    }

    /// A tuple of these elements, some of which may be those of another value.
    pub(super) fn displayed_tuple(
        &mut self,
        token: Token<'t>,
        elements: &[Expr<'t>],
    ) -> Result<Expression<'t>> {
        let is_star = |it: &Expr<'t>| matches!(it.kind, ExprKind::Star(_));
        if !elements.iter().any(is_star) {
            let elements = elements.iter().map(|element| self.argument(element));
            return Ok(tuple(elements.collect::<Result<_>>()?, token));
        }
        let mut whole = None;
        for run in elements.chunk_by(|a, b| !is_star(a) && !is_star(b)) {
            let part = if let ExprKind::Star(inner) = &run[0].kind {
                self.tuple_of(inner)?
            } else {
                let part = self.displayed_tuple(token, run)?;
                self.operand(part)?
            };
            whole = Some(match whole {
                Some(before) => self.made(token, Primitive::Combine, [before, part])?,
                None => part,
            });
        }
        let whole = whole.map(Expression::Inlined);
        whole.ok_or_else(|| self.only_calls(token))
    }

    /// A value, and the calls that follow it.
    fn trailed(&mut self, value: &Expr<'t>, trailers: &[Trailer<'t>]) -> Result<Expression<'t>> {
        let token = value.token;
        let list = self.indexed_list(value, trailers)?;
        let (mut expression, used) = match (list, &value.kind, trailers) {
            (Some((list, used)), ..) => (Expression::Inlined(list), used),
            (None, ExprKind::Name, [Trailer::Call(arguments), ..])
                if token.text == "frozenset" && !self.is_bound(token.text) =>
            {
                (Expression::of(self.frozenset(token, arguments)?), 1)
            }
            (None, ExprKind::Name, _) => self.named(token, trailers)?,
            (None, ..) => match (&value.without_brackets().kind, trailers) {
                (ExprKind::Lambda(function), [Trailer::Call(_), ..]) => {
                    self.lambda(function, trailers)?
                }
                _ => (self.lower(value)?, 0),
            },
        };
        for trailer in &trailers[used..] {
            let arguments = match trailer {
                Trailer::Call(arguments) => arguments,
                Trailer::Part(part) => return Err(self.only_calls(part[0])),
                Trailer::Index(index) => {
                    let value = self.operand(expression)?;
                    expression = Expression::Inlined(self.indexed(value, index.0, &index.1)?);
                    continue;
                }
            };
            let is_of_dsl = matches!(expression, Expression::Operand(_));
            let callee = self.operand(expression)?.called();
            let callee = callee.map_err(|error| self.error(token, error.into()))?;
            let keyword = arguments.iter().find_map(|argument| argument.keyword);
            if let (Some(keyword), Callee::Primitive(_), false) = (keyword, callee, is_of_dsl) {
                let callee = told(value.without_brackets().token.text);
                return self.fail(keyword, ParseErrorKind::KeywordForVariable { callee });
            }
            expression = self.call(token, callee, arguments)?;
        }
        Ok(expression)
    }

    /// An expression whose value is needed at once: a call becomes a step.
    pub(super) fn argument(&mut self, expr: &Expr<'t>) -> Result<Operand> {
        let expression = self.lower(expr)?;
        self.operand(expression)
    }

    /// The value of an expression; a call becomes a step with a generated name.
    pub(super) fn operand(&mut self, expression: Expression<'t>) -> Result<Operand> {
        match self.with_call(expression)? {
            Expression::Operand(operand) | Expression::Inlined(operand) => Ok(operand),
            Expression::Tuple { token, .. } => self.fail(token, ParseErrorKind::NotLiteral),
            Expression::Call {
                callee,
                arguments,
                token,
            } => {
                let name = self.generate_name();
                self.step(token, name, callee, arguments)
            }
        }
    }

    /// The expression, with a tuple converted to the call that builds it: of pairs, and of one element if their number is
    /// odd.
    pub(super) fn with_call(&mut self, expression: Expression<'t>) -> Result<Expression<'t>> {
        let Expression::Tuple { elements, token } = expression else {
            return Ok(expression);
        };
        let (pairs, is_public) = (elements.chunks(2), self.dialect == Dialect::Public);
        if self.scope.is_none() || (!is_public && elements.len() != 2) {
            let found = elements.len();
            return self.fail(token, ParseErrorKind::TupleOfVariables { found });
        }
        let call = |callee: Callee, arguments: [Operand; 2]| Expression::Call {
            callee,
            arguments: arguments.into(),
            token,
        };
        let mut built = None;
        for pair in pairs {
            let next = match pair {
                [a, b] if is_public => call(Primitive::Astuple.into(), [a.clone(), b.clone()]),
                [a, b] => call(TypedPrimitive::Astuple.into(), [a.clone(), b.clone()]),
                _ => call(
                    Primitive::Repeat.into(),
                    [pair[0].clone(), Value::Int(1).into()],
                ),
            };
            built = Some(match built {
                None => next,
                Some(before) => {
                    let both = [self.operand(before)?, self.operand(next)?];
                    call(Primitive::Combine.into(), both)
                }
            });
        }
        built.ok_or_else(|| self.error(token, ParseErrorKind::NotLiteral))
    }

    fn integer(&self, digits: Token<'t>, is_negative: bool) -> Result<Operand> {
        let value = match digits.kind {
            TokenKind::Number => numeral(digits.text),
            _ => digits.text.parse::<i32>().ok(),
        };
        match value {
            Some(n) if n <= MAX_INT => Ok(Value::Int(if is_negative { -n } else { n }).into()),
            _ => {
                let sign = if is_negative { "-" } else { "" };
                let found = format!("{sign}{}", told(digits.text));
                self.fail(digits, ParseErrorKind::IntegerRange { found })
            }
        }
    }

    /// The error that the language has nothing for this part of Python.
    pub(super) fn only_calls(&self, token: Token<'t>) -> ParseError {
        let found = described(token);
        let expected = match token.text {
            "|" => "`combine(a, b)` for the elements of both sets",
            "&" => "`intersection(a, b)` for the elements that are in both sets",
            _ => return self.error(token, ParseErrorKind::OnlyCalls { found }),
        };
        self.error(token, ParseErrorKind::Expected { expected, found })
    }

    /// The error for an unknown name.
    pub(super) fn unknown(&self, token: Token<'t>, is_called: bool) -> ParseErrorKind {
        let name = told(token.text);
        if self.scope.is_none() && is_called {
            return ParseErrorKind::NotLiteral;
        }
        if let Some(&line) = self.scope.as_ref().and_then(|it| it.sets.get(token.text)) {
            return ParseErrorKind::UsedBeforeSet { name, line };
        }
        let variables = self
            .scope
            .iter()
            .flat_map(|scope| scope.builder.variables());
        let chosen = self
            .module
            .filter(|module| module.is_chosen(self.dialect))
            .map(|_| self.dialect);
        let other = self.module.and_then(|module| {
            let mut others = Dialect::ALL.iter().copied();
            others.find(|&other| names::known(other, module.ours(token.text)).is_some())
        });
        let own = self.module.and_then(|module| {
            let mut others = module.globals.starred_others();
            others.find_map(|others| others.get(token.text).cloned())
        });
        let constants = names::constants(self.dialect).filter(|_| !is_called);
        let known = variables.chain(constants);
        let known = known.chain(names::primitives(self.dialect));
        ParseErrorKind::Unknown {
            name,
            is_called,
            dialect: chosen,
            other,
            own,
            nearest: nearest(token.text, known),
        }
    }

    /// An argument of a call, which may be a list where only its elements are taken.
    fn given(&mut self, callee: Callee, place: usize, value: &Expr<'t>) -> Result<Operand> {
        use Primitive as P;
        let takes_elements = match callee {
            Callee::Primitive(
                P::First
                | P::Last
                | P::Size
                | P::Totuple
                | P::Maximum
                | P::Minimum
                | P::Pair
                | P::Product,
            ) => true,
            Callee::Primitive(
                P::Argmax | P::Argmin | P::Valmax | P::Valmin | P::Order | P::Extract,
            ) => place == 0,
            Callee::Primitive(P::Contained) => place == 1,
            _ => false,
        };
        if takes_elements && self.is_list(value) {
            return self.list(value);
        }
        self.argument(value)
    }

    /// A call of `callee`, which stands at `token`.
    fn call(
        &mut self,
        token: Token<'t>,
        callee: Callee,
        given: &[Argument<'t>],
    ) -> Result<Expression<'t>> {
        if self.scope.is_none() {
            return self.fail(token, ParseErrorKind::NotLiteral);
        }
        let primitive = match callee {
            Callee::Primitive(primitive) => Some(primitive),
            _ => None,
        };
        let function = primitive.and_then(Primitive::loop_function);
        let mut placed = Vec::with_capacity(given.len());
        for (at, Argument { keyword, value }) in given.iter().enumerate() {
            let place = match keyword {
                Some(keyword) => self.place_of(token, callee, *keyword, &placed)?,
                None => at,
            };
            placed.push((place, value));
        }
        if let Some(primitive) = primitive {
            let (expected, found) = (primitive.parameters().len(), placed.len());
            if found != expected {
                let error = BuildError::ArgumentCount {
                    primitive,
                    expected,
                    found,
                };
                return self.fail(token, error.into());
            }
        }
        // What a function is called with is lowered before it. Of no elements `valmax` calls it with 0.
        placed.sort_by_key(|(place, _)| function == Some(*place));
        let is_of_zero = matches!(primitive, Some(Primitive::Valmax | Primitive::Valmin));
        let mut arguments = vec![Operand::from(Value::Nothing); placed.len()];
        let outer = self.is_only_called;
        for &(place, value) in &placed {
            self.is_only_called = function == Some(place);
            self.hashed_by(callee, place, value)?;
            arguments[place] = match &arguments[..] {
                [a, b] if self.is_only_called && !is_of_zero => {
                    let container = if place == 0 { b } else { a }.clone();
                    self.function_of_elements(value, &container)?
                }
                _ => self.given(callee, place, value)?,
            };
        }
        self.is_only_called = outer;
        Ok(Expression::Call {
            callee,
            arguments: arguments.into(),
            token,
        })
    }

    /// The index of the parameter that an argument by keyword is for, behind those with these indices.
    fn place_of(
        &self,
        token: Token<'t>,
        callee: Callee,
        keyword: Token<'t>,
        before: &[(usize, &Expr<'t>)],
    ) -> Result<usize> {
        let kind = match callee {
            Callee::Primitive(primitive) => {
                let mut parameters = primitive.parameters().iter();
                let place = parameters.position(|(name, _)| *name == keyword.text);
                let is_free = |place: &usize| before.iter().all(|(other, _)| other != place);
                if let Some(place) = place.filter(is_free) {
                    return Ok(place);
                }
                ParseErrorKind::KeywordOfFunction {
                    function: primitive.to_string(),
                    primitive: Some(primitive),
                    name: told(keyword.text),
                    is_twice: place.is_some(),
                }
            }
            Callee::Typed(primitive) => ParseErrorKind::KeywordForTyped { primitive },
            Callee::Slot(_) => {
                let callee = told(token.text);
                ParseErrorKind::KeywordForVariable { callee }
            }
        };
        self.fail(keyword, kind)
    }

    /// `{a, b}`, or the `frozenset` of it.
    pub(super) fn set(
        &mut self,
        token: Token<'t>,
        set: &(Vec<Expr<'t>>, bool),
        is_frozen: bool,
    ) -> Result<Operand> {
        let mut given = Vec::new();
        for element in &set.0 {
            self.hashed(element)?;
            given.push(self.argument(element)?);
        }
        let elements: Option<Vec<Value>> = given.iter().map(constant).collect();
        let Some(elements) = elements else {
            // Python copies the set into another one, which may have another order.
            if self.scope.is_none()
                || self.dialect != Dialect::Public
                || is_frozen && given.len() > 1
            {
                return self.fail(token, ParseErrorKind::SetOfVariables);
            }
            let elements = self.operand(tuple(given, token))?;
            return self.set_of(token, elements);
        };
        // A display of names adds its elements one by one, and only `frozenset` copies that set.
        if set.1 && !is_frozen {
            return Ok(Value::set(elements).into());
        }
        if set.0.len() > 2 && !set.1 {
            return Ok(Value::of_display(self.displayed_first(elements), false).into());
        }
        Ok(Value::of_display(elements, set.1).into())
    }

    /// The elements of a display that is a constant, as CPython keeps it.
    pub(super) fn displayed_first(&self, elements: Vec<Value>) -> Vec<Value> {
        match self.module {
            Some(module) => module.displayed_first(elements),
            None => elements,
        }
    }

    /// The elements of a display of constants.
    pub(super) fn displayed(&mut self, elements: &[Expr<'t>]) -> Result<Vec<Value>> {
        let elements = elements.iter().map(|element| {
            self.hashed(element)?;
            let value = constant(&self.argument(element)?);
            value.ok_or_else(|| self.error(element.token, ParseErrorKind::SetOfVariables))
        });
        elements.collect()
    }
}

/// The value of an integer in hexadecimal, octal or binary digits, or with underscores.
pub(super) fn numeral(text: &str) -> Option<i32> {
    let lower = text.to_ascii_lowercase();
    let (radix, digits) = match lower.get(..2) {
        Some("0x") => (16, &lower[2..]),
        Some("0o") => (8, &lower[2..]),
        Some("0b") => (2, &lower[2..]),
        _ => (10, &lower[..]),
    };
    let is_wrong = digits.starts_with('_') || digits.ends_with('_') || digits.contains("__");
    let digits = digits.replace('_', "");
    let value = i32::from_str_radix(&digits, radix).ok();
    value.filter(|_| !is_wrong && (radix != 10 || !digits.starts_with('0')))
}

/// These elements as a tuple: a literal if they are known before the program runs.
pub(super) fn tuple(elements: Vec<Operand>, token: Token<'_>) -> Expression<'_> {
    match elements.iter().map(constant).collect() {
        Some(values) => Expression::Operand(Value::tuple(values).into()),
        None => Expression::Tuple { elements, token },
    }
}
