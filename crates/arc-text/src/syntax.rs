//! Parses the tokens of a block into a [syntax tree](crate::tree).

use std::rc::Rc;

use arc_dsl::BuildError;

use crate::error::{ParseError, ParseErrorKind};
use crate::expression::numeral;
use crate::lexer::{Token, TokenKind};
use crate::names;
use crate::tokens::{Result, Tokens, described, told};
use crate::tree::{
    Argument, Body, Chain, Choice, Comprehension, Expr, ExprKind, Function, Import, ParameterKind,
    ParameterTree, Statement, StatementKind, Target, Trailer, Trailers,
};

/// The maximum nesting of brackets, which also bounds the recursion of the parser and of whatever walks a tree.
/// `frozenset({` counts as one bracket.
pub(super) const MAX_NESTING: u32 = 100;

/// Up to so many choices become functions within each other.
pub(super) const MOST_NESTED: usize = 8;

/// The lowest precedences, in ascending order.
const OR: u8 = 1;
const AND: u8 = 2;
const NOT: u8 = 3;
const COMPARISON: u8 = 4;

/// The precedence of signs: higher than `*`, lower than `**`.
const SIGN: u8 = 11;

/// The precedence of an operator between two values.
fn strength(operator: Token<'_>, next: Token<'_>) -> Option<u8> {
    Some(match operator.text {
        "or" => OR,
        "and" => AND,
        "==" | "!=" | "<" | ">" | "<=" | ">=" | "in" | "is" => COMPARISON,
        "not" if next.is_name("in") => COMPARISON,
        "|" => 5,
        "^" => 6,
        "&" => 7,
        "<<" | ">>" => 8,
        "+" | "-" => 9,
        "*" | "//" | "%" | "/" | "@" => 10,
        "**" => 12,
        _ => return None,
    })
}

impl<'t> Tokens<'_, 't> {
    /// An expression, or several separated by commas, which form a tuple.
    pub(super) fn expressions(&mut self) -> Result<Expr<'t>> {
        let first = self.expression(0)?;
        if self.is_plain || !self.peek().is(",") {
            return Ok(first);
        }
        let token = first.token;
        let mut elements = vec![first];
        while self.accept(",") && !self.peek().ends_statement() {
            elements.push(self.expression(0)?);
        }
        let kind = ExprKind::Tuple(elements);
        Ok(Expr { token, kind })
    }

    /// An expression inside `depth` brackets.
    pub(super) fn expression(&mut self, depth: u32) -> Result<Expr<'t>> {
        if self.is_plain {
            return self.trailed(depth);
        }
        let token = self.peek();
        if token.is_name("lambda") {
            return self.lambda(depth);
        }
        let (mut value, mut choices) = (self.operators(OR, depth)?, Vec::new());
        while self.peek().is_name("if") {
            let inner = self.deeper(depth)?;
            let token_of_if = self.bump();
            let condition = self.operators(OR, inner)?;
            self.expect("else", "`else`")?;
            choices.push(([value, condition], token_of_if));
            value = if self.peek().is_name("lambda") {
                self.lambda(inner)?
            } else {
                self.operators(OR, inner)?
            };
        }
        if choices.is_empty() {
            return Ok(value);
        }
        let kind = ExprKind::Conditional(Box::new((choices, value)));
        Ok(Expr { token, kind })
    }

    /// `lambda parameters: value`
    fn lambda(&mut self, depth: u32) -> Result<Expr<'t>> {
        let inner = self.deeper(depth)?;
        let name = self.bump();
        let function = self.lambda_behind(name, inner)?;
        let kind = ExprKind::Lambda(Rc::new(function));
        Ok(Expr { token: name, kind })
    }

    /// A `lambda`, from its parameters on.
    pub(super) fn lambda_behind(&mut self, name: Token<'t>, depth: u32) -> Result<Function<'t>> {
        let open = self.peek();
        let parameters = self.parameters(":")?;
        let in_body = std::mem::replace(&mut self.in_body, true);
        let value = self.expression(depth)?;
        self.in_body = in_body;
        let (token, kind) = (value.token, StatementKind::Return(value));
        Ok(Function {
            name,
            open,
            parameters,
            body: Body {
                statements: vec![Statement { token, kind }],
                error: None,
            },
            bytes: self.peek().start - open.start,
        })
    }

    /// A value and the operators that follow it, if their precedence is at least `least`.
    fn operators(&mut self, least: u8, depth: u32) -> Result<Expr<'t>> {
        let token = self.peek();
        let mut left = if least <= NOT && token.is_name("not") {
            let inner = self.deeper(depth)?;
            self.bump();
            let kind = ExprKind::Not(Box::new(self.operators(NOT, inner)?));
            Expr { token, kind }
        } else {
            self.trailed(depth)?
        };
        // The precedence of the operators that `left` consists of.
        let mut made = None;
        loop {
            let mut operator = self.peek();
            let strength = strength(operator, self.second());
            let Some(strength) = strength.filter(|&strength| strength >= least) else {
                return Ok(left);
            };
            self.bump();
            if operator.is_name("not") {
                self.bump();
            }
            if operator.is_name("is") {
                let is_not = self.accept("not");
                if !self.peek().is_name("None") {
                    let found = described(operator);
                    return Err(self.error(operator, ParseErrorKind::OnlyCalls { found }));
                }
                // Nothing else is equal to it.
                operator.text = if is_not { "!=" } else { "==" };
            }
            let right = if operator.text == "**" {
                // A sign or another `**` to the right of `**` binds first.
                let inner = self.deeper(depth)?;
                self.operators(strength, inner)?
            } else {
                self.operators(strength + 1, depth)?
            };
            match &mut left.kind {
                ExprKind::Operators(it) | ExprKind::Comparisons(it) | ExprKind::Logical(it)
                    if made == Some(strength) =>
                {
                    if strength == COMPARISON {
                        self.deeper(it.rest.len() as u32)?;
                    }
                    it.rest.push((operator, right));
                }
                _ => {
                    let chain = Box::new(Chain {
                        first: left,
                        rest: vec![(operator, right)],
                    });
                    let kind = match strength {
                        OR | AND => ExprKind::Logical(chain),
                        COMPARISON => ExprKind::Comparisons(chain),
                        _ => ExprKind::Operators(chain),
                    };
                    left = Expr { token, kind };
                }
            }
            made = Some(strength);
        }
    }

    /// A value, and the calls, names and indices that follow it.
    fn trailed(&mut self, depth: u32) -> Result<Expr<'t>> {
        let value = self.primary(depth)?;
        let mut trailers = Trailers::new();
        let is_signed = matches!(value.kind, ExprKind::Signed(_));
        loop {
            // What follows a value with a sign belongs to the value.
            let next = self.peek();
            if next.kind != TokenKind::Symbol || is_signed {
                break;
            }
            trailers.push(match next.text {
                "(" => {
                    let is_name = matches!(value.kind, ExprKind::Name) && trailers.is_empty();
                    let callee = if is_name { value.token.text } else { "" };
                    Trailer::Call(self.arguments(depth, callee)?)
                }
                "." if !self.is_plain => {
                    let dot = self.bump();
                    Trailer::Part(Box::new([dot, self.name("a name after `.`")?]))
                }
                "[" if !self.is_plain => Trailer::Index(Box::new((next, self.index(depth)?))),
                _ => break,
            });
        }
        if trailers.is_empty() {
            return Ok(value);
        }
        let token = value.token;
        let kind = ExprKind::Trailed(Box::new((value, trailers)));
        Ok(Expr { token, kind })
    }

    /// `[index]`, or a slice: what is between the colons.
    fn index(&mut self, depth: u32) -> Result<Vec<Option<Expr<'t>>>> {
        let depth = self.open(depth)?;
        let mut parts = vec![None];
        loop {
            if self.accept("]") {
                return Ok(parts);
            }
            if parts.len() < 3 && self.accept(":") {
                parts.push(None);
            } else if let Some(part @ None) = parts.last_mut() {
                *part = Some(self.expression(depth)?);
            } else {
                return Err(self.unexpected("`]`"));
            }
        }
    }

    /// A value without what may follow it.
    fn primary(&mut self, depth: u32) -> Result<Expr<'t>> {
        let token = self.peek();
        let kind = match (token.kind, token.text) {
            (TokenKind::Integer, _) => {
                self.bump();
                ExprKind::Integer(false)
            }
            (TokenKind::Number, text) if !self.is_plain && numeral(text).is_some() => {
                self.bump();
                ExprKind::Integer(false)
            }
            (TokenKind::Number, _) => {
                return Err(self.unexpected("an integer in decimal digits"));
            }
            (TokenKind::Symbol, "-") => return self.signed(depth),
            (TokenKind::Symbol, "+") if !self.is_plain => return self.signed(depth),
            (TokenKind::Symbol, "(" | "{") => return self.bracketed(depth),
            (TokenKind::Symbol, "[") if !self.is_plain => return self.bracketed(depth),
            (TokenKind::Text, _) if self.in_body && is_only_text(token) => {
                while is_only_text(self.peek()) {
                    self.bump();
                }
                ExprKind::Foreign
            }
            (TokenKind::Name, "True" | "False" | "None") => {
                self.bump();
                ExprKind::Word
            }
            (TokenKind::Name, name) if !names::is_keyword(name) => {
                self.bump();
                if self.peek().is(":=") {
                    let found = self.describe();
                    return Err(self.blame(ParseErrorKind::OnlyCalls { found }));
                }
                ExprKind::Name
            }
            _ => return Err(self.unexpected("a value")),
        };
        Ok(Expr { token, kind })
    }

    /// `-x` or `+x`.
    fn signed(&mut self, depth: u32) -> Result<Expr<'t>> {
        let token = self.bump();
        let at = self.peek();
        if at.kind == TokenKind::Integer && !self.second().is("**") {
            let kind = ExprKind::Integer(token.is("-"));
            let token = self.bump();
            return Ok(Expr { token, kind });
        }
        let operand = if self.is_plain {
            if !at.is("(") {
                return Err(self.unexpected("an integer after `-`"));
            }
            self.bracketed(depth)?
        } else {
            let inner = self.deeper(depth)?;
            self.operators(SIGN, inner)?
        };
        let kind = ExprKind::Signed(Box::new((operand, self.text_from(at))));
        Ok(Expr { token, kind })
    }

    /// What is in brackets of any kind: a value, a tuple, a list, a set or a comprehension.
    fn bracketed(&mut self, depth: u32) -> Result<Expr<'t>> {
        let token = self.peek();
        let depth = self.open(depth)?;
        let (end, expected) = match token.text {
            "(" => (")", "`,` or `)`"),
            "[" => ("]", "`,` or `]`"),
            _ => ("}", "`,` or `}`"),
        };
        if token.is("{") && self.peek().is("}") {
            return Err(self.unexpected("an element; the empty set is `frozenset()`"));
        }
        let (start, mut elements, mut has_comma) = (self.place(), Vec::new(), true);
        while has_comma && !self.peek().is(end) {
            let star = self.peek();
            let element = if !self.is_plain && !token.is("{") && self.accept("*") {
                let kind = ExprKind::Star(Box::new(self.operators(5, depth)?));
                Expr { token: star, kind }
            } else {
                self.expression(depth)?
            };
            if elements.is_empty() && self.peek().is_name("for") {
                return self.comprehension(token, element, end, depth);
            }
            elements.push(element);
            has_comma = self.accept(",");
        }
        let words = &self.all()[start..self.place()];
        if token.is("{") && self.peek().is(":") && !self.is_plain {
            let found = "a dictionary".to_owned();
            return Err(self.error(token, ParseErrorKind::OnlyCalls { found }));
        }
        self.expect(end, expected)?;
        let kind = match (token.text, elements.len()) {
            ("(", 1) if !has_comma => ExprKind::Paren(Box::new(elements.swap_remove(0))),
            ("(", _) => ExprKind::Tuple(elements),
            ("[", _) => ExprKind::List(elements),
            _ => {
                let has_names = words.iter().any(|token| {
                    token.kind == TokenKind::Name
                        && !matches!(token.text, "True" | "False" | "None")
                });
                ExprKind::Set(Box::new((elements, has_names)))
            }
        };
        Ok(Expr { token, kind })
    }

    /// The part of a comprehension behind its value, up to the bracket that closes it.
    fn comprehension(
        &mut self,
        bracket: Token<'t>,
        value: Expr<'t>,
        end: &'static str,
        depth: u32,
    ) -> Result<Expr<'t>> {
        let token = self.bump();
        if self.is_plain {
            self.go_to(self.place() - 1);
            return Err(self.unexpected("`,`, or the end of the value"));
        }
        let target = self.target(depth)?;
        self.expect("in", "`in` after names")?;
        let container = self.operators(OR, depth)?;
        let mut condition = None;
        if self.accept("if") {
            condition = Some(self.operators(OR, depth)?);
        }
        let (mut value, is_flat) = (value, self.peek().is_name("for"));
        if is_flat {
            value = self.comprehension(bracket, value, end, self.deeper(depth)?)?;
        } else if !self.accept(end) {
            let expected =
                "the end of the comprehension, which has at most one `if` behind a `for`";
            let found = self.describe();
            return Err(self.blame(ParseErrorKind::Expected { expected, found }));
        }
        let kind = ExprKind::Comprehension(Box::new(Comprehension {
            value,
            is_flat,
            token,
            target,
            container,
            condition,
        }));
        Ok(Expr {
            token: bracket,
            kind,
        })
    }

    /// The arguments of a call of this name, if it is one, in its brackets. That of `zip(*rows)` has the star as its
    /// keyword.
    fn arguments(&mut self, depth: u32, callee: &str) -> Result<Vec<Argument<'t>>> {
        let bracket = self.peek();
        let mut inner = self.open(depth)?;
        if callee == "frozenset" && self.peek().is("{") {
            inner = depth;
        }
        let (mut arguments, mut by_name) = (Vec::new(), false);
        while !self.accept(")") {
            let keyword = self.peek();
            let mut is_keyword = keyword.kind == TokenKind::Name && self.second().is("=");
            if is_keyword {
                by_name = true;
                self.bump();
                self.bump();
            } else if callee == "zip" && keyword.is("*") {
                is_keyword = true;
                self.bump();
            } else if by_name {
                return Err(self.unexpected("`name=value` after another such argument"));
            }
            let value = self.expression(inner)?;
            if arguments.is_empty() && self.peek().is_name("for") {
                let value = self.comprehension(bracket, value, ")", inner)?;
                let keyword = None;
                return Ok(vec![Argument { keyword, value }]);
            }
            let keyword = is_keyword.then_some(keyword);
            arguments.push(Argument { keyword, value });
            if !self.accept(",") && !self.peek().is(")") {
                return Err(self.unexpected("`,` or `)`"));
            }
        }
        Ok(arguments)
    }

    /// Consumes an opening bracket and returns the depth inside it.
    fn open(&mut self, depth: u32) -> Result<u32> {
        let inner = self.deeper(depth)?;
        self.bump();
        Ok(inner)
    }

    /// The nesting depth plus one, if that is within the limit.
    fn deeper(&self, depth: u32) -> Result<u32> {
        if depth < MAX_NESTING {
            return Ok(depth + 1);
        }
        Err(self.error(self.peek(), ParseErrorKind::Nesting { max: MAX_NESTING }))
    }

    /// A function, starting at its `def`; `expected` is its name.
    pub(super) fn function(&mut self, expected: &'static str) -> Result<Function<'t>> {
        self.bump();
        let name = self.name(expected)?;
        let open = self.peek();
        self.expect("(", "`(`")?;
        let parameters = self.parameters(")")?;
        if self.accept("->") {
            self.skip_annotation(&[":"])?;
        }
        self.expect(":", "`:`")?;
        let in_body = std::mem::replace(&mut self.in_body, true);
        let mut body = Body::default();
        body.error = self.block(&mut body.statements).err();
        self.in_body = in_body;
        Ok(Function {
            name,
            open,
            parameters,
            body,
            bytes: self.peek().start - open.start,
        })
    }

    /// The parameters up to the symbol `end`; annotations are ignored.
    fn parameters(&mut self, end: &'static str) -> Result<Vec<ParameterTree<'t>>> {
        let expected = if end == ")" { "`)`" } else { "`:`" };
        let mut parameters: Vec<ParameterTree<'t>> = Vec::new();
        let mut kind = ParameterKind::Any;
        while !self.accept(end) {
            let before = parameters.first().map(|it| it.kind);
            if kind == ParameterKind::Any && self.peek().is("*") && self.second().is(",") {
                self.bump();
                self.bump();
                kind = ParameterKind::Keyword;
            } else if kind == before.unwrap_or(ParameterKind::Keyword) && self.accept("/") {
                let before = parameters.iter_mut();
                before.for_each(|it| it.kind = ParameterKind::Positional);
                if !self.accept(",") && !self.peek().is(end) {
                    return Err(self.unexpected(expected));
                }
                continue;
            }
            let token = self.name("the name of the parameter")?;
            if names::is_literal(token.text) {
                let (name, owner) = (told(token.text), "literal");
                return Err(self.error(token, ParseErrorKind::NameTaken { name, owner }));
            }
            let mut others = parameters.iter();
            if others.any(|other| other.token.text == token.text) {
                let error = BuildError::Reassigned(told(token.text));
                return Err(self.error(token, error.into()));
            }
            if end == ")" && self.accept(":") {
                self.skip_annotation(&[",", ")", "="])?;
            }
            let default = match self.accept("=") {
                true => Some(self.expression(0)?),
                false
                    if kind != ParameterKind::Keyword
                        && parameters.iter().any(|other| other.default.is_some()) =>
                {
                    return Err(self.unexpected("`=` after the name of the parameter"));
                }
                false => None,
            };
            parameters.push(ParameterTree {
                token,
                kind,
                default,
            });
            if !self.accept(",") && !self.peek().is(end) {
                return Err(self.unexpected(expected));
            }
        }
        Ok(parameters)
    }

    /// Skips an annotation: up to one of these symbols outside of brackets.
    fn skip_annotation(&mut self, ends: &[&str]) -> Result<()> {
        let mut depth = 0usize;
        loop {
            let token = self.peek();
            match token.text {
                _ if matches!(
                    token.kind,
                    TokenKind::Newline | TokenKind::End | TokenKind::OpenText
                ) =>
                {
                    return Err(self.unexpected("the end of the annotation"));
                }
                _ if token.kind != TokenKind::Symbol => {}
                symbol if depth == 0 && ends.contains(&symbol) => return Ok(()),
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.bump();
        }
    }

    /// What follows the colon of a first line.
    fn block(&mut self, statements: &mut Vec<Statement<'t>>) -> Result<()> {
        let mut expected = None;
        if self.peek().kind == TokenKind::Newline {
            self.bump();
            if self.peek().kind != TokenKind::Indent {
                return Err(self.unexpected("an indented line with a call or a `return`"));
            }
            let indent = self.peek().text;
            if let Some(outer) = self.indents.last()
                && (!indent.starts_with(outer) || indent == *outer)
            {
                self.bump();
                let expected = "a line that is indented further";
                let found = self.describe();
                return Err(self.blame(ParseErrorKind::Expected { expected, found }));
            }
            expected = Some(indent);
        } else {
            self.line(statements)?;
        }
        while self.peek().kind == TokenKind::Indent {
            let found = self.peek().text;
            if Some(found) != expected && self.indents.contains(&found) {
                break;
            }
            let Some(expected) = expected else {
                return Err(self.unexpected("the end of the program"));
            };
            self.bump();
            if found != expected {
                return Err(self.indentation(expected, found));
            }
            let token = self.peek();
            if !token.is_name("def") && !token.is_name("if") {
                self.line(statements)?;
                continue;
            }
            self.is_before_return(statements)?;
            self.deeper(self.indents.len() as u32)?;
            self.indents.push(expected);
            let (kind, is_broken) = if token.is_name("def") {
                let function = self.function("the name of the function")?;
                let is_broken = function.body.is_broken();
                (StatementKind::Define(Rc::new(function)), is_broken)
            } else {
                let (choices, otherwise) = self.branches(expected)?;
                let is_broken =
                    choices.iter().any(|it| it.body.is_broken()) || otherwise.is_broken();
                (StatementKind::If(Box::new((choices, otherwise))), is_broken)
            };
            self.indents.pop();
            statements.push(Statement { token, kind });
            if is_broken {
                // What is wrong is told where the statement is lowered.
                break;
            }
        }
        Ok(())
    }

    /// The branches of an `if`, which comes next; lines there are indented like this.
    fn branches(&mut self, indent: &str) -> Result<(Vec<Choice<'t>>, Body<'t>)> {
        let (mut choices, mut otherwise) = (Vec::new(), Body::default());
        loop {
            let token = self.bump();
            let condition = self.expression(0)?;
            self.expect(":", "`:`")?;
            let mut body = Body::default();
            body.error = self.block(&mut body.statements).err();
            let is_broken = body.is_broken();
            choices.push(Choice {
                token,
                condition,
                body,
            });
            let (next, word) = (self.peek(), self.second());
            if is_broken || next.kind != TokenKind::Indent || next.text != indent {
                break;
            }
            if word.is_name("elif") {
                self.bump();
                continue;
            }
            if word.is_name("else") {
                self.bump();
                self.bump();
                self.expect(":", "`:`")?;
                otherwise.error = self.block(&mut otherwise.statements).err();
            }
            break;
        }
        Ok((choices, otherwise))
    }

    pub(super) fn indentation(&self, expected: &str, found: &str) -> ParseError {
        let (expected, found) = (in_words(expected), in_words(found));
        self.blame(ParseErrorKind::Indentation { expected, found })
    }

    /// The statements of a line.
    fn line(&mut self, statements: &mut Vec<Statement<'t>>) -> Result<()> {
        while !self.is_line_end() {
            self.statement(statements)?;
            self.end_of_statement()?;
        }
        self.bump();
        Ok(())
    }

    /// Consumes a semicolon; or checks for the end of the line without consuming it.
    pub(super) fn end_of_statement(&mut self) -> Result<()> {
        if self.accept(";") || self.is_line_end() {
            return Ok(());
        }
        Err(self.unexpected("the end of the line"))
    }

    /// Consumes text and other statements without any effect, if they come next.
    pub(super) fn nothing(&mut self) -> bool {
        let first = self.peek();
        let is_nothing = first.is_name("pass") || first.is("...");
        if is_nothing && self.second().ends_statement() {
            self.bump();
            return true;
        }
        while is_only_text(self.peek()) {
            self.bump();
        }
        is_only_text(first)
    }

    /// A statement, unless it has no effect.
    pub(super) fn statement(&mut self, statements: &mut Vec<Statement<'t>>) -> Result<()> {
        if self.nothing() {
            return Ok(());
        }
        let token = self.peek();
        let kind = if token.is_name("import") || token.is_name("from") {
            StatementKind::Import(Box::new(self.import()?))
        } else if token.is_name("print") && self.second().is("(") {
            self.bump();
            StatementKind::Print(self.arguments(0, token.text)?)
        } else {
            self.is_before_return(statements)?;
            self.effect()?
        };
        statements.push(Statement { token, kind });
        Ok(())
    }

    fn is_before_return(&self, statements: &[Statement<'t>]) -> Result<()> {
        let mut statements = statements.iter();
        if statements.any(|it| matches!(it.kind, StatementKind::Return(_))) {
            let found = self.describe();
            return Err(self.blame(ParseErrorKind::AfterReturn { found }));
        }
        Ok(())
    }

    /// A statement that has an effect.
    fn effect(&mut self) -> Result<StatementKind<'t>> {
        let first = self.peek();
        if self.accept("return") {
            return Ok(StatementKind::Return(self.expressions()?));
        }
        let begins_targets = first.is("(") && !self.is_plain;
        if !begins_targets && (first.kind != TokenKind::Name || names::is_keyword(first.text)) {
            return Err(self.unexpected("`name = primitive(arguments)` or `return value`"));
        }
        let target = self.target(0)?;
        let next = self.peek();
        if let Target::Name(name) = target {
            if matches!(next.text, "+=" | "-=" | "*=" | "//=" | "%=" | "**=") {
                self.bump();
                let text = next.text.trim_end_matches('=');
                let value = self.expression(0)?;
                let tokens = Box::new([name, Token { text, ..next }]);
                return Ok(StatementKind::Augment(tokens, value));
            }
            if self.accept(":") {
                self.skip_annotation(&["="])?;
            }
        }
        self.expect("=", "`=` after the name of a variable")?;
        let mut chained = Vec::new();
        while self.peek().kind == TokenKind::Name
            && !names::is_keyword(self.peek().text)
            && self.second().is("=")
        {
            chained.push(self.bump());
            self.bump();
        }
        let value = self.expressions()?;
        Ok(match target {
            Target::Name(name) if chained.is_empty() => StatementKind::Assign(name, value),
            target => StatementKind::AssignAll(Box::new((target, chained)), value),
        })
    }

    /// What a value is bound to.
    fn target(&mut self, depth: u32) -> Result<Target<'t>> {
        let (mut parts, mut is_name) = (Vec::new(), true);
        loop {
            let next = self.peek();
            if next.is("(") {
                let depth = self.open(depth)?;
                parts.push(self.target(depth)?);
                self.expect(")", "`)` after names")?;
            } else if is_name || next.kind == TokenKind::Name && !names::is_keyword(next.text) {
                parts.push(Target::Name(self.name("the name of a variable")?));
            } else {
                return Ok(Target::Parts(parts));
            }
            if self.is_plain || !self.accept(",") {
                break;
            }
            is_name = false;
        }
        Ok(match parts.pop() {
            Some(part) if is_name => part,
            part => Target::Parts(parts.into_iter().chain(part).collect()),
        })
    }

    /// An import, which comes next.
    pub(super) fn import(&mut self) -> Result<Import<'t>> {
        let mut import = Import::default();
        if self.bump().is_name("import") {
            loop {
                let first = self.peek();
                let path = self.module_path();
                if path.is_empty() {
                    return Err(self.unexpected("the name of a module"));
                }
                import.names.push(if self.accept("as") {
                    (path, self.name("a name for the module")?)
                } else {
                    // `import a.b` binds `a`.
                    (first.text, first)
                });
                if !self.accept(",") {
                    return Ok(import);
                }
            }
        }
        import.from = Some(self.module_path());
        self.expect("import", "`import` after the name of the module")?;
        import.is_star = self.accept("*");
        if import.is_star {
            return Ok(import);
        }
        let open = self.peek();
        let in_brackets = self.accept("(");
        if in_brackets && self.accept(")") {
            let (expected, found) = ("names to import", "`()`".to_owned());
            return Err(self.error(open, ParseErrorKind::Expected { expected, found }));
        }
        loop {
            let name = self.name("a name to import")?;
            let mut target = name;
            if self.accept("as") {
                target = self.name("a name after `as`")?;
            }
            import.names.push((name.text, target));
            if !self.accept(",") || (in_brackets && self.peek().is(")")) {
                break;
            }
        }
        if in_brackets {
            self.expect(")", "`,` or `)`")?;
        }
        Ok(import)
    }

    /// A dotted module path, possibly with leading dots; it may be empty.
    fn module_path(&mut self) -> &'t str {
        let (first, mut last) = (self.peek(), None);
        loop {
            let token = self.peek();
            let is_part = match token.kind {
                TokenKind::Name => !names::is_keyword(token.text) && token.text != "as",
                _ => token.is(".") || token.is("..."),
            };
            let follows = last.is_none_or(|last: Token<'t>| {
                (last.kind == TokenKind::Name) != (token.kind == TokenKind::Name)
                    || token.kind != TokenKind::Name
            });
            if !is_part || !follows {
                break;
            }
            last = Some(self.bump());
        }
        last.map_or("", |last| self.between(first, last))
    }
}

/// Whether a string statement does nothing: an f-string may set names.
pub(super) fn is_only_text(token: Token<'_>) -> bool {
    let prefix = token.text.split(['\'', '"']).next().unwrap_or_default();
    let has_values = prefix.contains(['f', 'F', 't', 'T']) && token.text.contains(":=");
    token.kind == TokenKind::Text && !has_values
}

/// Describes whitespace in words.
fn in_words(space: &str) -> String {
    let tabs = space.bytes().filter(|&byte| byte == b'\t').count();
    let plural = |n: usize| if n == 1 { "" } else { "s" };
    let spaces = space.len() - tabs;
    match (tabs, spaces) {
        (0, 0) => "nothing".to_owned(),
        (0, _) => format!("{spaces} space{}", plural(spaces)),
        (_, 0) => format!("{tabs} tab{}", plural(tabs)),
        _ => format!(
            "{tabs} tab{} and {spaces} space{}",
            plural(tabs),
            plural(spaces)
        ),
    }
}
