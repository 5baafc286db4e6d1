//! Parses the expressions of a program.

mod operators;

use smallvec::SmallVec;

use arc_isa::{ContainerKind, Primitive};

use crate::dialect::Dialect;
use crate::program::{BuildError, Callee, Operand};
use crate::spelling::nearest;
use crate::text::error::ParseErrorKind;
use crate::text::lexer::{Token, TokenKind};
use crate::text::module::parser::{Parser, constant};
use crate::text::names;
use crate::text::tokens::{Result, told};
use crate::typed::TypedPrimitive;
use crate::value::foreign::Foreign;
use crate::value::literal;
use crate::value::{MAX_INT, Value};

/// The maximum nesting of brackets, which also bounds the recursion of the parser. `frozenset({` counts as one bracket.
pub(super) const MAX_NESTING: u32 = 100;

/// A parsed expression.
pub(super) enum Expression<'t> {
    Operand(Operand),
    /// The result of an inlined function, whose steps have been added.
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

impl<'t> Parser<'_, 't> {
    /// Parses the block as a literal.
    pub(super) fn literal(mut self) -> Result<Value> {
        let token = self.tokens.peek();
        let expression = self.expression(0)?;
        if self.tokens.peek().kind != TokenKind::End {
            return Err(self.tokens.unexpected("the end of the literal"));
        }
        match expression {
            Expression::Operand(operand) => constant(&operand),
            _ => None,
        }
        .ok_or_else(|| self.tokens.error(token, ParseErrorKind::NotLiteral))
    }

    /// An expression inside `depth` brackets; all calls in it except the outermost become steps.
    pub(super) fn expression(&mut self, depth: u32) -> Result<Expression<'t>> {
        match self.module {
            Some(_) => self.with_operators(depth),
            None => self.call_or_value(depth),
        }
    }

    /// An expression without operators.
    pub(super) fn call_or_value(&mut self, depth: u32) -> Result<Expression<'t>> {
        let token = self.tokens.peek();
        let mut expression = self.primary(depth)?;
        while self.tokens.peek().is("(") {
            expression = match self.operand(expression)? {
                Operand::Slot(slot) => self.call(token, slot.into(), depth)?,
                Operand::Primitive(primitive) => self.call(token, primitive.into(), depth)?,
                Operand::Literal(Value::Foreign(Foreign::Primitive(primitive))) => {
                    self.call(token, primitive.into(), depth)?
                }
                Operand::Constant(constant) => {
                    let found = format!("the constant `{constant}`");
                    return self.fail(token, ParseErrorKind::NotCallable { found });
                }
                Operand::Literal(value) => {
                    let found = value.kind().to_string();
                    return self.fail(token, ParseErrorKind::NotCallable { found });
                }
            };
        }
        Ok(expression)
    }

    /// An expression whose value is needed at once: a call becomes a step.
    pub(super) fn argument(&mut self, depth: u32) -> Result<Operand> {
        let expression = self.expression(depth)?;
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

    /// The expression, with a tuple converted to the call that builds it.
    pub(super) fn with_call(&self, expression: Expression<'t>) -> Result<Expression<'t>> {
        let Expression::Tuple { elements, token } = expression else {
            return Ok(expression);
        };
        if elements.len() != 2 {
            let found = elements.len();
            return self.fail(token, ParseErrorKind::TupleOfVariables { found });
        }
        let callee = match self.dialect {
            Dialect::Public => Primitive::Astuple.into(),
            Dialect::Typed => TypedPrimitive::Astuple.into(),
        };
        Ok(Expression::Call {
            callee,
            arguments: elements.into(),
            token,
        })
    }

    /// An expression, or several separated by commas, which form a tuple.
    pub(super) fn expressions(&mut self) -> Result<Expression<'t>> {
        let token = self.tokens.peek();
        let first = self.expression(0)?;
        if self.module.is_none() || !self.tokens.peek().is(",") {
            return Ok(first);
        }
        let mut elements = vec![self.operand(first)?];
        while self.tokens.accept(",") && !self.tokens.is_line_end() && !self.tokens.peek().is(";") {
            elements.push(self.argument(0)?);
        }
        Ok(tuple(elements, token))
    }

    /// An expression without the calls that may follow it.
    fn primary(&mut self, depth: u32) -> Result<Expression<'t>> {
        let token = self.tokens.peek();
        let operand: Operand = match (token.kind, token.text) {
            (TokenKind::Integer, _) => self.integer("")?,
            (TokenKind::Number, text) if self.module.is_some() && numeral(text).is_some() => {
                self.integer("")?
            }
            (TokenKind::Number, _) => {
                return Err(self.tokens.unexpected("an integer in decimal digits"));
            }
            (TokenKind::Symbol, "-" | "+") if self.module.is_some() => return self.signed(depth),
            (TokenKind::Symbol, "-") => {
                self.tokens.bump();
                let at = self.tokens.peek();
                match at.kind {
                    TokenKind::Integer => self.integer("-")?,
                    TokenKind::Symbol if at.is("(") => {
                        let inner = self.parenthesised(depth)?;
                        let value = match inner {
                            Expression::Operand(operand) => constant(&operand),
                            _ => None,
                        };
                        let Some(Value::Int(value)) = value else {
                            let expected = "an integer after `-`";
                            let found = self.tokens.told_from(at);
                            return self.fail(at, ParseErrorKind::Expected { expected, found });
                        };
                        Value::Int(-value).into()
                    }
                    _ => return Err(self.tokens.unexpected("an integer after `-`")),
                }
            }
            (TokenKind::Symbol, "(") => return self.parenthesised(depth),
            (TokenKind::Symbol, "{") => self.set(depth)?.into(),
            (TokenKind::Name, "lambda") if self.module.is_some() && self.scope.is_some() => {
                return self.lambda_value(depth);
            }
            (TokenKind::Name, "True") => self.literal_name(true.into()),
            (TokenKind::Name, "False") => self.literal_name(false.into()),
            (TokenKind::Name, "None") => self.literal_name(Value::Nothing),
            (TokenKind::Name, "frozenset") if self.tokens.second().is("(") => {
                self.frozenset(depth)?.into()
            }
            (TokenKind::Name, name) if !names::is_keyword(name) => return self.named(depth),
            _ => return Err(self.tokens.unexpected("a value")),
        };
        Ok(Expression::Operand(operand))
    }

    fn literal_name(&mut self, value: Value) -> Operand {
        self.tokens.bump();
        value.into()
    }

    pub(super) fn integer(&mut self, sign: &str) -> Result<Operand> {
        let token = self.tokens.bump();
        let value = match token.kind {
            TokenKind::Number => numeral(token.text),
            _ => token.text.parse::<i32>().ok(),
        };
        match value {
            Some(n) if n <= MAX_INT => Ok(Value::Int(if sign.is_empty() { n } else { -n }).into()),
            _ => {
                let found = format!("{sign}{}", told(token.text));
                self.fail(token, ParseErrorKind::IntegerRange { found })
            }
        }
    }

    /// The error for an unknown name.
    pub(super) fn unknown(&self, token: Token<'t>, called: bool) -> ParseErrorKind {
        let name = told(token.text);
        if self.scope.is_none() && called {
            return ParseErrorKind::NotLiteral;
        }
        let set_in = |tokens: &[Token<'t>]| {
            let set_at = tokens.windows(3).find(|tokens| {
                (tokens[0].kind == TokenKind::Indent || tokens[0].is(";"))
                    && tokens[1].is_name(token.text)
                    && (tokens[2].is("=") || tokens[2].is(":"))
            });
            set_at.map(|set_at| set_at[1].line)
        };
        // A function that sets a name uses no outer binding of that name.
        let (tokens, body) = (self.tokens.all(), self.scope.as_ref().map(|it| it.body));
        let within = body.and_then(|body| set_in(&tokens[body..]));
        if let Some(line) = within.or_else(|| set_in(tokens)) {
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
        if called {
            let nearest = nearest(token.text, variables.chain(names::primitives(self.dialect)));
            ParseErrorKind::UnknownPrimitive {
                name,
                dialect: chosen,
                other,
                nearest,
            }
        } else {
            let known = names::constants(self.dialect).chain(names::primitives(self.dialect));
            let nearest = nearest(token.text, variables.chain(known));
            ParseErrorKind::UnknownName {
                name,
                dialect: chosen,
                other,
                nearest,
            }
        }
    }

    /// A call of `callee`, which stands at `token`, with the arguments that follow.
    fn call(&mut self, token: Token<'t>, callee: Callee, depth: u32) -> Result<Expression<'t>> {
        if self.scope.is_none() {
            return self.fail(token, ParseErrorKind::NotLiteral);
        }
        let depth = self.open(depth)?;
        let mut arguments = Vec::new();
        let mut keywords = Keywords::default();
        let loop_function = match callee {
            Callee::Primitive(primitive) => primitive.loop_function(),
            _ => None,
        };
        let outer = self.is_only_called;
        while !self.tokens.accept(")") {
            let keyword = self.tokens.peek();
            if keyword.kind == TokenKind::Name && self.tokens.second().is("=") {
                let primitive = match callee {
                    Callee::Primitive(primitive) => primitive,
                    Callee::Typed(primitive) => {
                        return self.fail(keyword, ParseErrorKind::KeywordForTyped { primitive });
                    }
                    Callee::Slot(_) => {
                        let kind = ParseErrorKind::KeywordForVariable {
                            callee: told(token.text),
                        };
                        return self.fail(keyword, kind);
                    }
                };
                let place = keywords
                    .place(primitive, keyword.text, arguments.len())
                    .map_err(|kind| self.tokens.error(keyword, kind))?;
                self.tokens.bump();
                self.tokens.bump();
                self.is_only_called = loop_function == Some(place);
                keywords.given[place] = Some(self.argument(depth)?);
            } else if keywords.count() > 0 {
                return Err(self
                    .tokens
                    .unexpected("`name=value` after another such argument"));
            } else {
                self.is_only_called = loop_function == Some(arguments.len());
                arguments.push(self.argument(depth)?);
            }
            if !self.tokens.accept(",") && !self.tokens.peek().is(")") {
                return Err(self.tokens.unexpected("`,` or `)`"));
            }
        }
        self.is_only_called = outer;
        if let Callee::Primitive(primitive) = callee {
            let expected = primitive.parameters().len();
            let found = arguments.len() + keywords.count();
            if found != expected {
                let error = BuildError::ArgumentCount {
                    primitive,
                    expected,
                    found,
                };
                return self.fail(token, error.into());
            }
        }
        // There is one argument for each parameter: positional ones first, then those by keyword.
        arguments.extend(keywords.given.into_iter().flatten());
        Ok(Expression::Call {
            callee,
            arguments: arguments.into(),
            token,
        })
    }

    /// A parenthesised expression or a tuple.
    fn parenthesised(&mut self, depth: u32) -> Result<Expression<'t>> {
        let token = self.tokens.peek();
        let depth = self.open(depth)?;
        if self.tokens.accept(")") {
            return Ok(Expression::Operand(Value::tuple(Vec::new()).into()));
        }
        let first = self.expression(depth)?;
        if self.tokens.accept(")") {
            return Ok(first);
        }
        let mut elements = vec![self.operand(first)?];
        while self.tokens.accept(",") && !self.tokens.peek().is(")") {
            elements.push(self.argument(depth)?);
        }
        self.tokens.expect(")", "`,` or `)`")?;
        Ok(tuple(elements, token))
    }

    /// `{a, b}`: a set with elements.
    fn set(&mut self, depth: u32) -> Result<Value> {
        let depth = self.open(depth)?;
        if self.tokens.peek().is("}") {
            return Err(self
                .tokens
                .unexpected("an element; the empty set is `frozenset()`"));
        }
        let mut elements = Vec::new();
        let start = self.tokens.place();
        loop {
            let token = self.tokens.peek();
            let element = self.argument(depth)?;
            let value = constant(&element);
            elements.push(
                value.ok_or_else(|| self.tokens.error(token, ParseErrorKind::SetOfVariables))?,
            );
            if !self.tokens.accept(",") || self.tokens.peek().is("}") {
                break;
            }
        }
        let literals = &self.tokens.all()[start..self.tokens.place()];
        self.tokens.expect("}", "`,` or `}`")?;
        let is_name = |token: &Token<'_>| {
            token.kind == TokenKind::Name && !matches!(token.text, "True" | "False" | "None")
        };
        Ok(literal::frozenset(elements, literals.iter().any(is_name)))
    }

    /// `frozenset()`, `frozenset({a, b})`, or `frozenset` of another container without variables.
    fn frozenset(&mut self, depth: u32) -> Result<Value> {
        self.tokens.bump();
        let inner = self.open(depth)?;
        if self.tokens.accept(")") {
            return Ok(Value::empty_set());
        }
        let token = self.tokens.peek();
        let value = if token.is("{") {
            self.set(depth)?
        } else {
            let argument = self.argument(inner)?;
            constant(&argument)
                .ok_or_else(|| self.tokens.error(token, ParseErrorKind::SetOfVariables))?
        };
        self.tokens.expect(")", "`)`")?;
        let Some(elements) = value.as_container() else {
            let found = value.kind().to_string();
            let expected = "elements in `{` and `}`";
            return self.fail(token, ParseErrorKind::Expected { expected, found });
        };
        if elements.kind == ContainerKind::Set {
            return Ok(value);
        }
        Ok(Value::set(
            elements.iter().map(std::borrow::Cow::into_owned),
        ))
    }

    /// Consumes an opening bracket and returns the depth inside it.
    pub(super) fn open(&mut self, depth: u32) -> Result<u32> {
        if depth >= MAX_NESTING {
            return self.fail(
                self.tokens.peek(),
                ParseErrorKind::Nesting { max: MAX_NESTING },
            );
        }
        self.tokens.bump();
        Ok(depth + 1)
    }
}

/// The value of an integer in hexadecimal, octal or binary digits, or with underscores.
fn numeral(text: &str) -> Option<i32> {
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

/// The keyword arguments of a call.
#[derive(Default)]
struct Keywords {
    /// By index of the parameter; empty until the first one is given.
    given: SmallVec<[Option<Operand>; 4]>,
}

impl Keywords {
    fn count(&self) -> usize {
        self.given.iter().flatten().count()
    }

    /// The index of parameter `name`, if it has no argument yet; `before` arguments are positional.
    fn place(
        &mut self,
        primitive: Primitive,
        name: &str,
        before: usize,
    ) -> std::result::Result<usize, ParseErrorKind> {
        let parameters = primitive.parameters();
        self.given.resize(parameters.len(), None);
        match parameters
            .iter()
            .position(|(parameter, _)| *parameter == name)
        {
            None => Err(ParseErrorKind::UnknownKeyword {
                primitive,
                name: told(name),
            }),
            Some(place) if place < before || self.given[place].is_some() => {
                Err(ParseErrorKind::DuplicateArgument {
                    primitive,
                    name: name.to_owned(),
                })
            }
            Some(place) => Ok(place),
        }
    }
}

/// These elements as a tuple: a literal if they are known before the program runs.
fn tuple(elements: Vec<Operand>, token: Token<'_>) -> Expression<'_> {
    match elements.iter().map(constant).collect() {
        Some(values) => Expression::Operand(Value::tuple(values).into()),
        None => Expression::Tuple { elements, token },
    }
}
