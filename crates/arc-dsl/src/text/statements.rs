//! Parses programs statement by statement.

use std::fmt;

use arc_isa::{Primitive, Type};

use crate::dialect::Dialect;
use crate::program::{BuildError, Callee, Operand, ProgramBuilder, Slot};
use crate::text::error::ParseErrorKind;
use crate::text::expression::Expression;
use crate::text::lexer::{Token, TokenKind};
use crate::text::module::parser::{Parsed, Parser, Scope, constant};
use crate::text::names;
use crate::text::tokens::{Result, told};
use crate::typed::TypedPrimitive;
use crate::value::Value;

/// The maximum number of inputs of a derived operation.
const MOST_INPUTS: usize = 4;

/// A parameter of a function.
pub(super) struct Parameter<'t> {
    pub(super) token: Token<'t>,
    /// The name of the input.
    input: String,
    /// Its value if no argument is given.
    default: Option<Operand>,
}

impl<'t> Parameter<'t> {
    /// A parameter that no expression can refer to, since its text is not a name.
    pub(super) fn unnamed(token: Token<'t>) -> Self {
        Self {
            token,
            input: token.text.to_owned(),
            default: None,
        }
    }
}

/// Prints an operand.
struct OperandText<'a>(&'a Operand);

impl fmt::Display for OperandText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Operand::Slot(_) => f.write_str("a variable"),
            Operand::Primitive(primitive) => f.write_str(primitive.name()),
            Operand::Constant(constant) => f.write_str(constant.name()),
            Operand::Literal(value) => value.fmt(f),
        }
    }
}

impl<'t> Parser<'_, 't> {
    /// A top-level statement without effect; anything else is an error.
    pub(super) fn without_effect(mut self) -> Result<()> {
        let top_level = |found: String| ParseErrorKind::TopLevel { found };
        let indented = || top_level("an indented line".to_owned());
        if !self.tokens.bump().text.is_empty() {
            return Err(self.tokens.blame(indented()));
        }
        while !self.tokens.is_line_end() {
            if !self.ignored()? {
                return Err(self.tokens.blame(top_level(self.tokens.describe())));
            }
            self.end_of_statement()?;
        }
        self.tokens.bump();
        if self.tokens.peek().kind == TokenKind::Indent {
            self.tokens.bump();
            return Err(self.tokens.blame(indented()));
        }
        Ok(())
    }

    /// A function, starting at its `def`.
    pub(super) fn definition(&mut self) -> Result<Parsed> {
        self.tokens.bump();
        let def = self.tokens.bump();
        let name = self.tokens.name("the name of the program")?;
        let open = self.tokens.peek();
        self.tokens.expect("(", "`(`")?;
        let parameters = self.parameters(")")?;
        self.fits(open, &parameters)?;
        if self.tokens.accept("->") {
            self.skip_annotation(&[":"])?;
        }
        self.tokens.expect(":", "`:`")?;
        self.begin(name.text, def.line, &parameters, &[]);
        self.tokens.in_body = true;
        let Some(output) = self.body()? else {
            let name = told(name.text);
            return self.fail(def, ParseErrorKind::NoReturn { name });
        };
        self.finish(def, output, parameters)
    }

    /// A `lambda`, starting at its parameters, as a function of this name.
    pub(super) fn lambda(&mut self, name: &str, place: usize) -> Result<Parsed> {
        self.tokens.go_to(place);
        let first = self.tokens.peek();
        let parameters = self.parameters(":")?;
        self.fits(first, &parameters)?;
        self.begin(name, first.line, &parameters, &[]);
        self.tokens.in_body = true;
        let output = self.argument(0)?;
        self.end_of_statement()?;
        self.finish(first, output, parameters)
    }

    /// A value that the text sets, starting at its first token; `element` selects an element of a tuple, with the
    /// number of elements.
    pub(super) fn value(
        &mut self,
        place: usize,
        element: Option<(usize, usize)>,
    ) -> Result<Parsed> {
        self.tokens.go_to(place);
        let first = self.tokens.peek();
        self.begin("value", first.line, &[], &[]);
        let expression = self.expressions()?;
        self.end_of_statement()?;
        let output = match element {
            None => self.operand(expression)?,
            Some((at, of)) => self.taken_apart(expression, of, first)?.swap_remove(at),
        };
        self.finish(first, output, Vec::new())
    }

    /// Begins a function with these parameters; captured variables become additional inputs.
    pub(super) fn begin(
        &mut self,
        name: &str,
        line: u32,
        parameters: &[Parameter<'t>],
        captured: &[&'t str],
    ) {
        let inputs = parameters.iter().map(|parameter| parameter.input.clone());
        let inputs = inputs.chain(captured.iter().map(|&name| name.to_owned()));
        let mut builder = ProgramBuilder::in_dialect(self.dialect, name, inputs.collect(), line);
        for parameter in parameters {
            if parameter.input != parameter.token.text
                && let Some(slot) = builder.variable(&parameter.input)
            {
                builder.alias(parameter.token.text, slot);
            }
        }
        let mut scope = Scope::new(builder);
        scope.body = self.tokens.place();
        self.scope = Some(scope);
    }

    /// Ends the function, with `output` as its result.
    pub(super) fn finish(
        &mut self,
        token: Token<'t>,
        output: Operand,
        parameters: Vec<Parameter<'t>>,
    ) -> Result<Parsed> {
        let Some(scope) = self.scope.take() else {
            return self.fail(token, ParseErrorKind::NotLiteral);
        };
        let program = scope.builder.finish(output);
        let program = program.map_err(|error| self.tokens.error(token, error.into()))?;
        let names = parameters.iter().map(|it| it.token.text.to_owned());
        Ok(Parsed {
            program,
            parameters: names.collect(),
            defaults: parameters.into_iter().map(|it| it.default).collect(),
        })
    }

    /// Checks that the parameters are ones that a function of this text may have.
    fn fits(&self, token: Token<'t>, parameters: &[Parameter<'t>]) -> Result<()> {
        if parameters
            .first()
            .is_some_and(|input| input.token.text == "task_id")
        {
            return self.fail(token, ParseErrorKind::Batt);
        }
        let only_functions = self.module.is_some_and(|module| module.lists_all);
        if only_functions && !(1..=MOST_INPUTS).contains(&parameters.len()) {
            let kind = ParseErrorKind::Expected {
                expected: "1 to 4 parameters",
                found: parameters.len().to_string(),
            };
            return self.fail(token, kind);
        }
        Ok(())
    }

    /// Parses the parameters up to the symbol `end`; annotations are ignored.
    pub(super) fn parameters(&mut self, end: &'static str) -> Result<Vec<Parameter<'t>>> {
        let expected = if end == ")" { "`)`" } else { "`:`" };
        let mut parameters: Vec<Parameter<'t>> = Vec::new();
        while !self.tokens.accept(end) {
            let token = self.tokens.name("the name of the parameter")?;
            if let Some(owner) = names::owner(self.dialect, token.text)
                && owner == "literal"
            {
                let name = told(token.text);
                return self.fail(token, ParseErrorKind::NameTaken { name, owner });
            }
            if parameters
                .iter()
                .any(|other| other.token.text == token.text)
            {
                return self.fail(token, BuildError::Reassigned(told(token.text)).into());
            }
            if end == ")" && self.tokens.accept(":") {
                self.skip_annotation(&[",", ")", "="])?;
            }
            let default = match self.tokens.accept("=") {
                true => {
                    let at = self.tokens.peek();
                    // Python evaluates a default where the function is defined.
                    let late = self.at;
                    if self.scope.is_none() {
                        self.at = self.defined;
                    }
                    let value = self.argument(0);
                    self.at = late;
                    let value = value?;
                    let value = Some(value).filter(|value| !matches!(value, Operand::Slot(_)));
                    Some(value.ok_or_else(|| self.tokens.error(at, ParseErrorKind::NotLiteral))?)
                }
                false if parameters.iter().any(|other| other.default.is_some()) => {
                    return Err(self
                        .tokens
                        .unexpected("`=` after the name of the parameter"));
                }
                false => None,
            };
            let input = self.input_name(token, parameters.len());
            parameters.push(Parameter {
                token,
                input,
                default,
            });
            if !self.tokens.accept(",") && !self.tokens.peek().is(end) {
                return Err(self.tokens.unexpected(expected));
            }
        }
        Ok(parameters)
    }

    /// The name of an input: that of the parameter, unless the DSL uses it.
    fn input_name(&self, token: Token<'t>, at: usize) -> String {
        if names::known(self.dialect, token.text).is_none() {
            return token.text.to_owned();
        }
        let is_free = |name: &String| !self.tokens.all().iter().any(|it| it.text == *name);
        let mut names = (at + 1..).map(|number| format!("i{number}"));
        names.find(is_free).unwrap_or_default()
    }

    /// Skips an annotation: up to one of these symbols outside of brackets.
    pub(super) fn skip_annotation(&mut self, ends: &[&str]) -> Result<()> {
        let mut depth = 0usize;
        loop {
            let token = self.tokens.peek();
            match token.text {
                _ if matches!(
                    token.kind,
                    TokenKind::Newline | TokenKind::End | TokenKind::OpenText
                ) =>
                {
                    return Err(self.tokens.unexpected("the end of the annotation"));
                }
                _ if token.kind != TokenKind::Symbol => {}
                symbol if depth == 0 && ends.contains(&symbol) => return Ok(()),
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.tokens.bump();
        }
    }

    /// Parses what follows the colon of the first line; returns the output if there is a `return`.
    pub(super) fn body(&mut self) -> Result<Option<Operand>> {
        let mut output = None;
        let mut expected = None;
        if self.tokens.peek().kind == TokenKind::Newline {
            self.tokens.bump();
            if self.tokens.peek().kind != TokenKind::Indent {
                return Err(self
                    .tokens
                    .unexpected("an indented line with a call or a `return`"));
            }
            let indent = self.tokens.peek().text;
            if let Some(outer) = self.indents.last()
                && (!indent.starts_with(outer) || indent == *outer)
            {
                self.tokens.bump();
                let expected = "a line that is indented further";
                let found = self.tokens.describe();
                let kind = ParseErrorKind::Expected { expected, found };
                return Err(self.tokens.blame(kind));
            }
            expected = Some(indent);
        } else {
            self.statements(&mut output)?;
        }
        while self.tokens.peek().kind == TokenKind::Indent {
            let found = self.tokens.peek().text;
            if Some(found) != expected && self.indents.contains(&found) {
                break;
            }
            let Some(expected) = expected else {
                return Err(self.tokens.unexpected("the end of the program"));
            };
            self.tokens.bump();
            if found != expected {
                let (expected, found) = (indentation(expected), indentation(found));
                return Err(self
                    .tokens
                    .blame(ParseErrorKind::Indentation { expected, found }));
            }
            if !self.tokens.peek().is_name("def") || self.module.is_none() {
                self.statements(&mut output)?;
                continue;
            }
            self.is_before_return(output.as_ref())?;
            self.indents.push(expected);
            self.local_definition()?;
            self.indents.pop();
        }
        Ok(output)
    }

    /// The statements of a line.
    fn statements(&mut self, output: &mut Option<Operand>) -> Result<()> {
        while !self.tokens.is_line_end() {
            if !self.ignored()? {
                self.statement(output)?;
            }
            self.end_of_statement()?;
        }
        self.tokens.bump();
        Ok(())
    }

    /// Consumes a semicolon; or checks for the end of the line without consuming it.
    pub(super) fn end_of_statement(&mut self) -> Result<()> {
        if self.tokens.accept(";") || self.tokens.is_line_end() {
            return Ok(());
        }
        Err(self.tokens.unexpected("the end of the line"))
    }

    /// Skips a statement without effect (a docstring, an import that renames nothing), if it is one. An import within a
    /// program binds names there.
    pub(super) fn ignored(&mut self) -> Result<bool> {
        let first = self.tokens.peek();
        if is_only_text(first) {
            while is_only_text(self.tokens.peek()) {
                self.tokens.bump();
            }
            return Ok(true);
        }
        if self.does_nothing()? {
            while !self.tokens.is_line_end() && !self.tokens.peek().is(";") {
                self.tokens.bump();
            }
            return Ok(true);
        }
        if !first.is_name("import") && !first.is_name("from") {
            return Ok(false);
        }
        let statement = self.tokens.place();
        let imports = self.imports()?;
        for star in imports.stars {
            let hides = self.module.is_some_and(|it| it.globals.may_hide(star));
            if hides && self.scope.is_some() {
                let kind = ParseErrorKind::Unusable {
                    name: "*".to_owned(),
                    line: first.line,
                    why: "it may hide the DSL's names".to_owned(),
                };
                return self.fail(first, kind);
            }
        }
        for (name, binding) in imports.names {
            let is_set = self.scope.as_ref().is_some_and(|scope| {
                scope.builder.variable(name.text).is_some()
                    || scope.imported.contains_key(name.text)
            });
            if !is_set {
                self.is_unused_above(name, statement)?;
            }
            self.sets(name)?;
            if let Some(scope) = &mut self.scope {
                scope.imported.insert(name.text, binding);
            }
        }
        Ok(true)
    }

    /// Whether the next statement changes nothing: `pass`, `...`, or a `print`.
    fn does_nothing(&self) -> Result<bool> {
        let first = self.tokens.peek();
        if first.is_name("pass") || first.is("...") {
            return Ok(self.tokens.second().ends_statement());
        }
        let is_set = |name: &str| {
            let scope = self.scope.as_ref();
            scope.is_some_and(|scope| scope.builder.variable(name).is_some())
        };
        let second = self.tokens.second();
        if !first.is_name("print") || !second.is("(") || is_set("print") {
            return Ok(false);
        }
        let rest = &self.tokens.all()[self.tokens.place() + 2..];
        let inner = rest.split(Token::ends_statement).next().unwrap_or_default();
        let [inner @ .., close] = inner else {
            return Ok(false);
        };
        if !close.is(")") {
            return Ok(false);
        }
        let is_known = |token: &Token<'_>| {
            matches!(token.text, "True" | "False" | "None")
                || names::known(self.dialect, token.text).is_some()
        };
        for argument in inner.split(|token| token.is(",")) {
            let wrong = match argument {
                // `print()`, or a trailing comma.
                [] => None,
                [keyword, equal, value] if equal.is("=") => {
                    let is_setting = match keyword.text {
                        "sep" | "end" => is_only_text(*value) || value.is_name("None"),
                        "flush" => value.is_name("True") || value.is_name("False"),
                        "file" => value.is_name("None"),
                        _ => false,
                    };
                    (!is_setting).then_some(keyword)
                }
                values => values.iter().find(|token| {
                    let is_value = match token.kind {
                        TokenKind::Name => is_set(token.text) || is_known(token),
                        TokenKind::Integer => true,
                        _ => is_only_text(**token),
                    };
                    !is_value
                }),
            };
            if let Some(wrong) = wrong {
                let kind = ParseErrorKind::Expected {
                    expected: "in `print(..)`, which is passed over, nothing but variables, constants, strings, \
                               `sep=\"..\"`, `end=\"..\"` and `flush=True`",
                    found: format!("`{}`", told(wrong.text)),
                };
                return self.fail(*wrong, kind);
            }
        }
        Ok(true)
    }

    fn is_before_return(&self, output: Option<&Operand>) -> Result<()> {
        match output {
            Some(_) => Err(self.tokens.blame(ParseErrorKind::AfterReturn {
                found: self.tokens.describe(),
            })),
            None => Ok(()),
        }
    }

    /// A statement that has an effect.
    pub(super) fn statement(&mut self, output: &mut Option<Operand>) -> Result<()> {
        let first = self.tokens.peek();
        self.is_before_return(output.as_ref())?;
        if first.is_name("return") {
            self.tokens.bump();
            let value = self.expressions()?;
            *output = Some(self.operand(value)?);
            return Ok(());
        }
        let begins_targets = first.is("(") && self.module.is_some();
        if !begins_targets && (first.kind != TokenKind::Name || names::is_keyword(first.text)) {
            return Err(self
                .tokens
                .unexpected("`name = primitive(arguments)` or `return value`"));
        }
        let statement = self.tokens.place();
        let (targets, is_taken_apart) = self.targets()?;
        let one = match targets[..] {
            [target] if !is_taken_apart => Some(target),
            _ => None,
        };
        if let Some(target) = one
            && let Some(value) = self.augmented(target)?
        {
            let token = self.tokens.peek();
            return self.assign(target, value, token, statement);
        }
        if one.is_some() && self.tokens.accept(":") {
            self.skip_annotation(&["="])?;
        }
        self.tokens
            .expect("=", "`=` after the name of a variable")?;
        let mut chained = Vec::new();
        while self.tokens.peek().kind == TokenKind::Name
            && !names::is_keyword(self.tokens.peek().text)
            && self.tokens.second().is("=")
        {
            chained.push(self.tokens.bump());
            self.tokens.bump();
        }
        let token = self.tokens.peek();
        if let (Some(target), []) = (one, &chained[..])
            && token.is_name("lambda")
            && self.module.is_some()
        {
            return self.local_lambda(target, statement);
        }
        let expression = self.expressions()?;
        if let (Some(target), []) = (one, &chained[..]) {
            return self.assign(target, expression, token, statement);
        }
        if let Some(target) = one {
            // Python assigns to chained targets from left to right.
            let value = self.operand(expression)?;
            for target in std::iter::once(target).chain(chained) {
                self.assign(target, Expression::Inlined(value.clone()), token, statement)?;
            }
            return Ok(());
        }
        if let [other, ..] = chained[..] {
            let expected = "one name on each side of `=`";
            let found = format!("`{}`", told(other.text));
            return self.fail(other, ParseErrorKind::Expected { expected, found });
        }
        let values = self.taken_apart(expression, targets.len(), token)?;
        for (target, value) in targets.into_iter().zip(values) {
            self.assign(target, Expression::Inlined(value), token, statement)?;
        }
        Ok(())
    }

    /// The targets of an assignment, up to the `=`; and whether the value is unpacked, which it also is for one name
    /// with a trailing comma.
    fn targets(&mut self) -> Result<(Vec<Token<'t>>, bool)> {
        let in_brackets = self.tokens.accept("(");
        let mut targets = vec![self.tokens.name("the name of a variable")?];
        if self.module.is_none() {
            return Ok((targets, false));
        }
        let is_taken_apart = self.tokens.peek().is(",");
        while self.tokens.accept(",") {
            if self.tokens.peek().is("=") || self.tokens.peek().is(")") {
                break;
            }
            targets.push(self.tokens.name("the name of a variable")?);
        }
        if in_brackets {
            self.tokens.expect(")", "`)`")?;
        }
        Ok((targets, is_taken_apart))
    }

    /// Checks that a name may be set here: no function value depends on it. The name no longer refers to a function.
    pub(super) fn sets(&mut self, target: Token<'t>) -> Result<()> {
        let Some(scope) = &mut self.scope else {
            return Ok(());
        };
        if let Some(&line) = scope.frozen.get(target.text) {
            let name = told(target.text);
            return self.fail(target, ParseErrorKind::SetAgain { name, line });
        }
        if !scope.functions.is_empty() {
            scope.functions.remove(target.text);
        }
        Ok(())
    }

    /// Gives a variable its value.
    fn assign(
        &mut self,
        target: Token<'t>,
        expression: Expression<'t>,
        token: Token<'t>,
        statement: usize,
    ) -> Result<()> {
        self.sets(target)?;
        let is_own = self.is_own_name(target, statement)?;
        let expression = self.with_call(expression)?;
        let only_functions = self.module.is_some_and(|module| module.lists_all);
        let (callee, arguments, token) = match expression {
            Expression::Call {
                callee,
                arguments,
                token,
            } => (callee, arguments, token),
            Expression::Inlined(Operand::Slot(slot)) => {
                self.alias(target, slot);
                return Ok(());
            }
            // The result of a function needs no step to get a name.
            Expression::Operand(Operand::Slot(slot)) if only_functions => {
                self.alias(target, slot);
                return Ok(());
            }
            Expression::Operand(operand) | Expression::Inlined(operand) => {
                (self.identity(), [operand].into(), token)
            }
            Expression::Tuple { token, .. } => {
                return self.fail(token, ParseErrorKind::NotLiteral);
            }
        };
        let name = if is_own {
            target.text.to_owned()
        } else {
            self.generate_name()
        };
        match self.step(token, name, callee, arguments)? {
            Operand::Slot(slot) if !is_own => self.alias(target, slot),
            _ => self.forget_import(target),
        }
        Ok(())
    }

    fn alias(&mut self, target: Token<'t>, slot: Slot) {
        self.forget_import(target);
        if let Some(scope) = &mut self.scope {
            scope.builder.alias(target.text, slot);
        }
    }

    pub(super) fn forget_import(&mut self, target: Token<'t>) {
        if let Some(scope) = &mut self.scope
            && !scope.imported.is_empty()
        {
            scope.imported.remove(target.text);
        }
    }

    /// Whether the program's variable can have the name that it has in the text: not if a variable already has it or
    /// the language uses it.
    pub(super) fn is_own_name(&self, target: Token<'t>, statement: usize) -> Result<bool> {
        let scope = self.scope.as_ref();
        let variable = scope.and_then(|scope| scope.builder.variable(target.text));
        if variable.is_some() || scope.is_some_and(|it| it.imported.contains_key(target.text)) {
            return Ok(false);
        }
        let owner = names::owner(self.dialect, target.text);
        if let Some(owner @ "literal") = owner {
            let name = told(target.text);
            return self.fail(target, ParseErrorKind::NameTaken { name, owner });
        }
        let is_bound = self.module.is_some_and(|module| {
            module
                .globals
                .get(self.dialect, target.text, self.at)
                .is_some()
                || module.ours(target.text) != target.text
        });
        if owner.is_none() && !is_bound {
            return Ok(true);
        }
        self.is_unused_above(target, statement)?;
        Ok(owner.is_none())
    }

    /// Checks that a name that a function binds here is not used above: in Python it is local to the whole function,
    /// and has no value there.
    fn is_unused_above(&self, target: Token<'t>, statement: usize) -> Result<()> {
        if !self
            .tokens
            .all()
            .get(1)
            .is_some_and(|token| token.is_name("def"))
        {
            // In bare lines, which are not in a function, a name is looked up at its position.
            return Ok(());
        }
        let read = &self.tokens.all()[..self.tokens.place()];
        let body = self.scope.as_ref().map_or(0, |scope| scope.body);
        let is_use = |at: &usize| {
            let before = at.checked_sub(1).map(|at| read[at]);
            let is_keyword = read.get(at + 1).is_some_and(|next| next.is("="))
                && before.is_some_and(|before| before.is("(") || before.is(","));
            read[*at].is_name(target.text)
                && read[*at].start != target.start
                && !is_keyword
                && !before.is_some_and(|before| before.is("."))
                && *at >= body
        };
        if let Some(used) = (0..read.len()).find(is_use)
            && (used < statement || read[used].start > target.start)
        {
            let name = told(target.text);
            let line = target.line;
            return self.fail(read[used], ParseErrorKind::UsedBeforeSet { name, line });
        }
        Ok(())
    }

    /// The elements of a value that is unpacked into this many variables.
    pub(super) fn taken_apart(
        &mut self,
        expression: Expression<'t>,
        names: usize,
        token: Token<'t>,
    ) -> Result<Vec<Operand>> {
        let found = match expression {
            Expression::Tuple { elements, .. } if elements.len() == names => return Ok(elements),
            Expression::Tuple { elements, .. } => elements.len().to_string(),
            other => {
                let value = self.operand(other)?;
                match self.elements_of(&value, names, token)? {
                    Some(elements) => return Ok(elements),
                    None => match &value {
                        Operand::Slot(_) => {
                            "a value whose elements are counted only when the program runs"
                                .to_owned()
                        }
                        _ => format!("`{}`", told(&format!("{}", OperandText(&value)))),
                    },
                }
            }
        };
        self.fail(token, ParseErrorKind::Unpacked { names, found })
    }

    /// The elements of a value, if it is known to have this many.
    fn elements_of(
        &mut self,
        value: &Operand,
        names: usize,
        token: Token<'t>,
    ) -> Result<Option<Vec<Operand>>> {
        let Operand::Slot(slot) = value else {
            let Some(value) = constant(value) else {
                return Ok(None);
            };
            let elements = value.as_tuple();
            let elements = elements.filter(|elements| elements.len() == names);
            let elements = elements.map(|elements| {
                let elements = elements.iter();
                elements
                    .map(|element| element.into_owned().into())
                    .collect()
            });
            return Ok(elements);
        };
        let step = self
            .scope
            .as_ref()
            .and_then(|scope| scope.builder.step_of(*slot));
        let Some(step) = step else {
            return Ok(None);
        };
        let Callee::Primitive(primitive) = step.callee else {
            return Ok(None);
        };
        if names != 2 {
            return Ok(None);
        }
        if primitive == Primitive::Astuple {
            return Ok(Some(step.arguments.to_vec()));
        }
        let splits = matches!(primitive, Primitive::Hsplit | Primitive::Vsplit);
        let in_two = splits && step.arguments.get(1).and_then(constant) == Some(Value::Int(2));
        if !in_two && primitive.returns() != Type::IntegerTuple {
            return Ok(None);
        }
        let mut elements = Vec::new();
        for taken in [Primitive::First, Primitive::Last] {
            let name = self.generate_name();
            elements.push(self.step(token, name, taken.into(), [value.clone()].into())?);
        }
        Ok(Some(elements))
    }

    /// The function that is called to name a value.
    pub(super) fn identity(&self) -> Callee {
        match self.dialect {
            Dialect::Public => Primitive::Identity.into(),
            Dialect::Typed => TypedPrimitive::Identity.into(),
        }
    }

    /// Checks that no variable has this name and the language does not use it.
    pub(super) fn check_free(&self, token: Token<'t>) -> Result<()> {
        if let Some(owner) = names::owner(self.dialect, token.text) {
            let kind = ParseErrorKind::NameTaken {
                name: told(token.text),
                owner,
            };
            return self.fail(token, kind);
        }
        match self
            .scope
            .as_ref()
            .and_then(|scope| scope.builder.variable(token.text))
        {
            Some(_) => self.fail(token, BuildError::Reassigned(told(token.text)).into()),
            None => Ok(()),
        }
    }
}

/// Whether a string statement does nothing: an f-string may set names.
fn is_only_text(token: Token<'_>) -> bool {
    let prefix = token.text.split(['\'', '"']).next().unwrap_or_default();
    let has_values = prefix.contains(['f', 'F', 't', 'T']) && token.text.contains(":=");
    token.kind == TokenKind::Text && !has_values
}

/// Describes whitespace in words.
pub(super) fn indentation(space: &str) -> String {
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
