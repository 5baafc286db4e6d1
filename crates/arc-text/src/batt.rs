//! Parses batts, as written by `card.py` of the project tokpidjin.

use arc_dsl::{Callee, Dialect, MAX_INT, Operand, ProgramBuilder, Slot, TypedPrimitive};

use crate::batt_file::{BattEntry, BattEntryKind, BattFile};
use crate::error::{ParseError, ParseErrorKind};
use crate::expression::Expression;
use crate::lexer::{Block, Lexer, Token, TokenKind, without_feed};
use crate::module::lowering::{Lowering, Scope};
use crate::tokens::{Result, Tokens, told};

/// The parameters of a batt.
const PARAMETERS: [&str; 5] = ["task_id", "S", "I", "C", "log_path"];

/// The batt in a text: a function `batt(task_id, S, I, C, log_path)` in the form that `card.py` of the project
/// tokpidjin has written since October 2025.
///
/// Either all steps stand in `try:` with `except (..): tN = _get_safe_default(f)`, or, in the vectorised form, none
/// does. Imports, comments and docstrings are ignored. A batt of an older form is an error that says which form it is.
///
/// ```
/// let text = "
/// def batt(task_id, S, I, C, log_path):
///     s = []
///     o = []
///     t1 = hmirror_t(I)
///     o.append((1, False, '007bbfb7', t1))
///     return o, s
/// ";
/// let batt = arc_text::parse_batt(text)?;
/// assert_eq!(batt.candidates(), 1);
/// # Ok::<(), arc_text::ParseError>(())
/// ```
pub fn parse_batt(text: &str) -> std::result::Result<BattFile, ParseError> {
    let text = super::without_mark(text);
    let mut lexer = Lexer::new(text);
    let mut block = Block::default();
    let mut batt = None;
    while lexer.next_block(&mut block) {
        let mut tokens = Tokens::new(text, &block);
        tokens.is_plain = true;
        if !(tokens.peek().text.is_empty() && tokens.second().is_name("def")) {
            without_effect(tokens)?;
        } else if batt.is_none() {
            let lowering = Lowering::new(text, &block, Dialect::Typed);
            batt = Some(BattParser { tokens, lowering }.batt()?);
        } else {
            let found = tokens.describe();
            let expected = "one batt a file";
            return Err(tokens.blame(ParseErrorKind::Expected { expected, found }));
        }
    }
    batt.ok_or(ParseError {
        line: 1,
        column: 1,
        kind: ParseErrorKind::Expected {
            expected: "`def batt(task_id, S, I, C, log_path):`",
            found: "no function".to_owned(),
        },
    })
}

/// Whether the text is a batt rather than programs: whether its first function is named `batt` and its first parameter
/// is not one that programs have.
pub fn is_batt(text: &str) -> bool {
    let defs = super::without_mark(text)
        .lines()
        .filter_map(|line| without_feed(line).strip_prefix("def "));
    let first = defs
        .map(str::trim_start)
        .next()
        .and_then(|def| def.split_once('('));
    first.is_some_and(|(name, rest)| {
        name.trim_end() == "batt" && rest.trim_start().starts_with(PARAMETERS[0])
    })
}

/// A top-level statement without effect; anything else is an error.
fn without_effect(mut tokens: Tokens<'_, '_>) -> Result<()> {
    let top_level = |found: String| ParseErrorKind::TopLevel { found };
    let indented = || top_level("an indented line".to_owned());
    if !tokens.bump().text.is_empty() {
        return Err(tokens.blame(indented()));
    }
    while !tokens.is_line_end() {
        let first = tokens.peek();
        if first.is_name("import") || first.is_name("from") {
            tokens.import()?;
        } else if !tokens.nothing() {
            return Err(tokens.blame(top_level(tokens.describe())));
        }
        tokens.end_of_statement()?;
    }
    tokens.bump();
    if tokens.peek().kind == TokenKind::Indent {
        tokens.bump();
        return Err(tokens.blame(indented()));
    }
    Ok(())
}

/// Reads a batt line by line.
struct BattParser<'b, 't> {
    tokens: Tokens<'b, 't>,
    lowering: Lowering<'b, 't>,
}

impl<'t> BattParser<'_, 't> {
    fn batt(mut self) -> Result<BattFile> {
        self.tokens.bump();
        let def = self.tokens.bump();
        if !self.tokens.peek().is_name("batt") {
            return Err(self.tokens.unexpected("`batt`"));
        }
        let name = self.tokens.bump();
        self.batt_parameters()?;
        self.tokens.expect(":", "`:`")?;
        let inputs = Dialect::Typed.parameters().iter().map(ToString::to_string);
        let builder =
            ProgramBuilder::in_dialect(Dialect::Typed, name.text, inputs.collect(), def.line);
        self.lowering.scope = Some(Scope::new(builder));
        self.tokens.in_body = true;
        let mut lines = LinesRead::default();
        self.end_of_line()?;
        loop {
            if self.tokens.peek().kind != TokenKind::Indent {
                return Err(self.tokens.unexpected("`return o, s`"));
            }
            self.indent(&mut lines.outer)?;
            if self.batt_line(&mut lines)? {
                break;
            }
        }
        if self.tokens.peek().kind == TokenKind::Indent {
            self.tokens.bump();
        }
        if self.tokens.peek().kind != TokenKind::End {
            let found = self.tokens.describe();
            return Err(self.tokens.blame(ParseErrorKind::AfterReturn { found }));
        }
        let (output, Some(scope)) = (Operand::Slot(Slot::INPUT), self.lowering.scope.take()) else {
            return Err(self.tokens.unexpected("`return o, s`"));
        };
        let program = scope.builder.finish(output);
        let program = program.map_err(|error| self.tokens.error(def, error.into()))?;
        Ok(BattFile {
            program,
            guarded: lines.guarded.unwrap_or(true),
            entries: lines.entries,
        })
    }

    fn batt_parameters(&mut self) -> Result<()> {
        let open = self.tokens.peek();
        self.tokens.expect("(", "`(`")?;
        let mut found = Vec::new();
        while !self.tokens.accept(")") {
            found.push(self.tokens.name("the name of a parameter")?.text);
            if !self.tokens.accept(",") && !self.tokens.peek().is(")") {
                return Err(self.tokens.unexpected("`,` or `)`"));
            }
        }
        if found == PARAMETERS {
            return Ok(());
        }
        // A batt that did the comparison with the expected output itself received it as a parameter.
        let kind = if found.contains(&"O") || found.contains(&"flags") {
            ParseErrorKind::OldBatt {
                found: "it takes the expected output as `O`, as until August 2025",
            }
        } else {
            ParseErrorKind::Expected {
                expected: "the parameters `(task_id, S, I, C, log_path)`",
                found: format!("`({})`", told(&found.join(", "))),
            }
        };
        self.lowering.fail(open, kind)
    }

    fn end_of_line(&mut self) -> Result<()> {
        if !self.tokens.is_line_end() {
            return Err(self.tokens.unexpected("the end of the line"));
        }
        if self.tokens.peek().kind == TokenKind::Newline {
            self.tokens.bump();
        }
        Ok(())
    }

    /// The indentation of a line, which must be that of the first line at this level.
    fn indent(&mut self, expected: &mut Option<&'t str>) -> Result<()> {
        if self.tokens.peek().kind != TokenKind::Indent {
            return Err(self.tokens.unexpected("an indented line"));
        }
        let found = self.tokens.bump().text;
        let expected = *expected.get_or_insert(found);
        if found != expected {
            return Err(self.tokens.indentation(expected, found));
        }
        Ok(())
    }

    /// Parses one line, or the four lines of a guarded step; returns whether it was the last.
    fn batt_line(&mut self, lines: &mut LinesRead<'t>) -> Result<bool> {
        let first = self.tokens.peek();
        if first.is_name("return") {
            self.batt_return()?;
            return Ok(true);
        }
        if first.kind == TokenKind::Text {
            self.tokens.bump();
            self.end_of_line()?;
            return Ok(false);
        }
        let is_list = first.is_name("s") || first.is_name("o");
        if is_list && self.tokens.second().is("=") {
            self.tokens.bump();
            self.tokens.bump();
            self.tokens.expect("[", "`[]`")?;
            self.tokens.expect("]", "`]`")?;
            self.end_of_line()?;
        } else if is_list && self.tokens.second().is(".") {
            let entry = self.entry()?;
            lines.entries.push(entry);
            self.end_of_line()?;
        } else if first.is_name("try") {
            self.form(lines, first, true)?;
            self.guarded_step(lines)?;
        } else {
            self.form(lines, first, false)?;
            self.batt_step()?;
            self.end_of_line()?;
        }
        Ok(false)
    }

    /// Fails if some steps are guarded and others are not.
    fn form(&self, lines: &mut LinesRead<'t>, token: Token<'t>, guarded: bool) -> Result<()> {
        if *lines.guarded.get_or_insert(guarded) == guarded {
            return Ok(());
        }
        let kind = ParseErrorKind::Expected {
            expected: if guarded {
                "a step without `try:` like those above"
            } else {
                "`try:` as before the steps above"
            },
            found: format!("`{}`", told(token.text)),
        };
        self.lowering.fail(token, kind)
    }

    /// `try:`, a step, `except (..):`, and its default.
    fn guarded_step(&mut self, lines: &mut LinesRead<'t>) -> Result<()> {
        self.tokens.bump();
        self.tokens.expect(":", "`:`")?;
        self.end_of_line()?;
        self.indent(&mut lines.inner)?;
        let (target, callee) = self.batt_step()?;
        self.end_of_line()?;
        self.indent(&mut lines.outer)?;
        if !self.tokens.peek().is_name("except") {
            return Err(self.tokens.unexpected("`except (..):`"));
        }
        while !self.tokens.is_line_end() && !self.tokens.peek().is(":") {
            self.tokens.bump();
        }
        self.tokens.expect(":", "`:`")?;
        self.end_of_line()?;
        self.indent(&mut lines.inner)?;
        for (word, expected) in [
            (target.text, "the variable of the step"),
            ("=", "`=`"),
            ("_get_safe_default", "`_get_safe_default` of what is called"),
            ("(", "`(`"),
            (callee.text, "what the step calls"),
            (")", "`)`"),
        ] {
            if self.tokens.peek().text != word {
                return Err(self.tokens.unexpected(expected));
            }
            self.tokens.bump();
        }
        self.end_of_line()
    }

    fn expression(&mut self) -> Result<Expression<'t>> {
        let value = self.tokens.expression(0)?;
        self.lowering.lower(&value).or_else(|_| {
            // Only an error tells which line sets a variable.
            if let Some(scope) = &mut self.lowering.scope {
                let lines = self.tokens.all().windows(3);
                let set = lines.filter(|it| it[0].kind == TokenKind::Indent && it[2].is("="));
                scope.sets_names(&set.map(|it| it[1]).collect::<Vec<_>>());
            }
            self.lowering.lower(&value)
        })
    }

    /// `tN = f(..)`; returns the names of the variable and of the callee.
    fn batt_step(&mut self) -> Result<(Token<'t>, Token<'t>)> {
        let target = self
            .tokens
            .name("`tN = f(..)`, an entry of `s` or `o`, or `return o, s`")?;
        self.tokens
            .expect("=", "`=` after the name of a variable")?;
        self.lowering.check_free(target)?;
        let callee = self.tokens.peek();
        if callee.is_name("env") {
            // In those generations, calls went through an object that caught their errors.
            let found = match self
                .tokens
                .all()
                .iter()
                .find(|token| token.text == "do_fluff")
            {
                Some(_) => "its calls go through `env.do_fluff`, as until September 2025",
                None => "its calls go through `env.do_pile`, as until October 2025",
            };
            return self
                .lowering
                .fail(callee, ParseErrorKind::OldBatt { found });
        }
        let expression = self.expression()?;
        let lowering = &mut self.lowering;
        let (callable, arguments): (Callee, _) = match lowering.with_call(expression)? {
            Expression::Call {
                callee, arguments, ..
            } => (callee, arguments),
            other => (
                TypedPrimitive::Identity.into(),
                [lowering.operand(other)?].into(),
            ),
        };
        lowering.step(target, target.text.to_owned(), callable, arguments)?;
        Ok((target, callee))
    }

    /// `s.append((n, id, name, tN))` or `o.append((n, flag, id, tN))`.
    fn entry(&mut self) -> Result<BattEntry> {
        let is_output = self.tokens.bump().is_name("o");
        self.tokens.bump();
        self.tokens.expect("append", "`append`")?;
        self.tokens.expect("(", "`((`")?;
        self.tokens
            .expect("(", "`(` of the tuple that is appended")?;
        let number = self.tokens.peek();
        let number = match number.text.parse() {
            Ok(n) if number.kind == TokenKind::Integer && n <= MAX_INT => n,
            _ => return Err(self.tokens.unexpected("the number of the entry")),
        };
        self.tokens.bump();
        self.tokens.expect(",", "`,`")?;
        let kind = if is_output {
            let flag = self.tokens.peek();
            let mutated = match flag.text {
                "True" => true,
                "False" => false,
                _ if flag.kind == TokenKind::Text => {
                    let found = "its `o` has a name in the place of a flag, as in the first ones";
                    return self.lowering.fail(flag, ParseErrorKind::OldBatt { found });
                }
                _ => return Err(self.tokens.unexpected("`True` or `False`")),
            };
            self.tokens.bump();
            self.tokens.expect(",", "`,`")?;
            let id = self.string("the id of a task as a string")?;
            BattEntryKind::Output { mutated, id }
        } else {
            let id = self.string("the id of a task as a string")?;
            self.tokens.expect(",", "`,`")?;
            let name = self.string("the name of the measure as a string")?;
            BattEntryKind::Score { id, name }
        };
        self.tokens.expect(",", "`,`")?;
        let variable = self.tokens.peek();
        let value = self.expression()?;
        let Operand::Slot(slot) = self.lowering.operand(value)? else {
            let found = format!("`{}`", told(variable.text));
            let expected = "a variable";
            return self
                .lowering
                .fail(variable, ParseErrorKind::Expected { expected, found });
        };
        self.tokens.expect(")", "`))`")?;
        self.tokens.expect(")", "`)`")?;
        let after = self
            .lowering
            .scope
            .as_ref()
            .map_or(0, |scope| scope.builder.steps());
        Ok(BattEntry {
            after,
            slot,
            number,
            kind,
        })
    }

    /// The content of a string on one line.
    fn string(&mut self, expected: &'static str) -> Result<String> {
        let token = self.tokens.peek();
        let quoted = token.text.strip_prefix(['\'', '"']);
        let text = quoted.and_then(|text| text.strip_suffix(['\'', '"']));
        match text {
            Some(text)
                if token.kind == TokenKind::Text && !text.contains(['\\', '\'', '"', '\n']) =>
            {
                self.tokens.bump();
                Ok(text.to_owned())
            }
            _ => Err(self.tokens.unexpected(expected)),
        }
    }

    /// `return o, s`
    fn batt_return(&mut self) -> Result<()> {
        self.tokens.bump();
        if self.tokens.peek().is_name("s") {
            let found = "it returns `s, o`, as the first ones";
            return self
                .lowering
                .fail(self.tokens.peek(), ParseErrorKind::OldBatt { found });
        }
        for word in ["o", ",", "s"] {
            if self.tokens.peek().text != word {
                return Err(self.tokens.unexpected("`return o, s`"));
            }
            self.tokens.bump();
        }
        self.end_of_line()
    }
}

/// State of the lines parsed so far.
#[derive(Default)]
struct LinesRead<'t> {
    /// Whether steps are guarded; `None` before the first step.
    guarded: Option<bool>,
    entries: Vec<BattEntry>,
    outer: Option<&'t str>,
    inner: Option<&'t str>,
}
