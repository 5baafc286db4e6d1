//! Reads the tokens of a block one by one, and creates errors about them.

use crate::error::{ParseError, ParseErrorKind};
use crate::lexer::{Block, Token, TokenKind, is_invisible, normalised};
use crate::names;

/// Errors show at most this many characters of a name.
const TOLD: usize = 40;

pub(super) type Result<T> = std::result::Result<T, ParseError>;

/// A cursor into the tokens of a [`Block`].
pub(super) struct Tokens<'b, 't> {
    text: &'t str,
    block: &'b Block<'t>,
    at: usize,
    /// Whether the cursor is in the body of a program, where Python allows more than the language.
    pub(super) in_body: bool,
    /// Whether expressions have no operators: in literals and batts.
    pub(super) is_plain: bool,
    /// The indentations of the bodies around the cursor, outermost first.
    pub(super) indents: Vec<&'t str>,
}

impl<'b, 't> Tokens<'b, 't> {
    pub(super) fn new(text: &'t str, block: &'b Block<'t>) -> Self {
        Self {
            text,
            block,
            at: 0,
            in_body: false,
            is_plain: false,
            indents: Vec::new(),
        }
    }

    /// All tokens of the block.
    pub(super) fn all(&self) -> &'b [Token<'t>] {
        &self.block.tokens
    }

    pub(super) fn peek(&self) -> Token<'t> {
        self.block.tokens[self.at]
    }

    /// The token after the next one; at the end, the end.
    pub(super) fn second(&self) -> Token<'t> {
        self.block
            .tokens
            .get(self.at + 1)
            .copied()
            .unwrap_or_else(|| self.peek())
    }

    /// Consumes a token, but never the end.
    pub(super) fn bump(&mut self) -> Token<'t> {
        let token = self.peek();
        if token.kind != TokenKind::End {
            self.at += 1;
        }
        token
    }

    /// The index of the next token.
    pub(super) fn place(&self) -> usize {
        self.at
    }

    /// Moves to the token with this index.
    pub(super) fn go_to(&mut self, place: usize) {
        self.at = place.min(self.block.tokens.len() - 1);
    }

    /// The text from one token to the end of another.
    pub(super) fn between(&self, first: Token<'t>, last: Token<'t>) -> &'t str {
        let end = last.start + last.text.len();
        self.text.get(first.start..end).unwrap_or_default()
    }

    /// The text read since this token.
    pub(super) fn text_from(&self, first: Token<'t>) -> &'t str {
        self.between(first, self.block.tokens[self.at.saturating_sub(1)])
    }

    pub(super) fn is_line_end(&self) -> bool {
        matches!(self.peek().kind, TokenKind::Newline | TokenKind::End)
    }

    /// Consumes this symbol, name or keyword, if it comes next.
    pub(super) fn accept(&mut self, word: &str) -> bool {
        let accepted = self.peek().is(word) || self.peek().is_name(word);
        if accepted {
            self.bump();
        }
        accepted
    }

    /// Consumes this symbol, name or keyword, which must come next.
    pub(super) fn expect(&mut self, word: &str, expected: &'static str) -> Result<()> {
        if self.accept(word) {
            Ok(())
        } else {
            Err(self.unexpected(expected))
        }
    }

    /// Consumes a name, which must come next.
    pub(super) fn name(&mut self, expected: &'static str) -> Result<Token<'t>> {
        let token = self.peek();
        if token.kind == TokenKind::Name && !names::is_keyword(token.text) {
            return Ok(self.bump());
        }
        Err(self.unexpected(expected))
    }

    /// The error that the next token is not what is required.
    pub(super) fn unexpected(&self, expected: &'static str) -> ParseError {
        let token = self.peek();
        let foreign = match token.kind {
            TokenKind::Text => true,
            TokenKind::Name => names::is_keyword(token.text),
            TokenKind::Symbol => !matches!(
                token.text,
                "(" | ")" | "]" | "{" | "}" | "," | ":" | ";" | "="
            ),
            _ => false,
        };
        let found = self.describe();
        self.blame(if foreign && self.in_body {
            ParseErrorKind::OnlyCalls { found }
        } else {
            ParseErrorKind::Expected { expected, found }
        })
    }

    /// An error at the next token, unless an unclosed bracket or string before it explains the error better.
    pub(super) fn blame(&self, kind: ParseErrorKind) -> ParseError {
        let token = self.peek();
        if token.kind == TokenKind::OpenText {
            let quote = token.text.to_owned();
            return self.error(token, ParseErrorKind::UnclosedString { quote });
        }
        if token.kind == TokenKind::Respelled {
            return self.respelled(token);
        }
        let mut characters = token.text.chars();
        if let (Some(found), None) = (characters.next(), characters.next())
            && is_invisible(found)
        {
            let code = u32::from(found);
            return self.error(token, ParseErrorKind::Invisible { code });
        }
        match self.block.unclosed {
            Some(bracket) if bracket.start < token.start => {
                let (open, close) = match bracket.text {
                    "(" => ('(', ')'),
                    "[" => ('[', ']'),
                    _ => ('{', '}'),
                };
                self.error(bracket, ParseErrorKind::UnclosedBracket { open, close })
            }
            _ => self.error(token, kind),
        }
    }

    /// The error that Python normalises a name to another one.
    pub(super) fn respelled(&self, token: Token<'t>) -> ParseError {
        let kind = ParseErrorKind::Respelled {
            name: told(token.text),
            normal: told(&normalised(token.text)),
        };
        self.error(token, kind)
    }

    pub(super) fn error(&self, token: Token<'t>, kind: ParseErrorKind) -> ParseError {
        error_at(self.text, token, kind)
    }

    /// Describes the next token.
    pub(super) fn describe(&self) -> String {
        let token = self.peek();
        match token.kind {
            TokenKind::End if !self.in_body => "the end of the text".to_owned(),
            _ => described(token),
        }
    }
}

/// The error at a token of a text.
pub(super) fn error_at(text: &str, token: Token<'_>, kind: ParseErrorKind) -> ParseError {
    let before = text.get(..token.start).unwrap_or_default();
    let before = before.chars().rev();
    let column = before.take_while(|c| !matches!(c, '\n' | '\r')).count() + 1;
    ParseError {
        line: token.line,
        column: column as u32,
        kind,
    }
}

/// The error that a name, which this line binds, cannot be used.
pub(super) fn unusable(name: &str, line: u32, why: impl Into<String>) -> ParseErrorKind {
    let (name, why) = (told(name), why.into());
    ParseErrorKind::Unusable { name, line, why }
}

/// Describes a token.
pub(super) fn described(token: Token<'_>) -> String {
    match token.kind {
        TokenKind::Name if names::is_keyword(token.text) => {
            format!("the keyword `{}`", token.text)
        }
        TokenKind::Name
        | TokenKind::Respelled
        | TokenKind::Integer
        | TokenKind::Number
        | TokenKind::Symbol => format!("`{}`", told(token.text)),
        TokenKind::Text | TokenKind::OpenText => "a string".to_owned(),
        TokenKind::Indent => "an indented line".to_owned(),
        TokenKind::Newline => "the end of the line".to_owned(),
        TokenKind::End => "the end of the program".to_owned(),
    }
}

/// A piece of text as errors show it: on one line, and truncated if long.
pub(super) fn told(text: &str) -> String {
    let mut told = String::new();
    for c in text.chars().take(TOLD) {
        if c == '\\' {
            told.push(c);
        } else {
            told.extend(c.escape_debug());
        }
    }
    if text.chars().nth(TOLD).is_some() {
        told.push('…');
    }
    told
}
