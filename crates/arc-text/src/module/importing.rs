//! Statements outside of functions with which Python's import of a text ends for certain: then the text has no program.
//!
//! What only may fail is left alone: whether a module or a file is there, the text does not say.

use crate::error::ParseErrorKind;
use crate::lexer::{Token, TokenKind};
use crate::module::Module;
use crate::tokens::{error_at, told};

impl<'t> Module<'t> {
    /// Records that Python's import ends at a token, and why.
    fn ends_at(&mut self, token: Token<'t>, why: &'static str) {
        let is_first = self.ends.as_ref().is_none_or(|it| it.0 > token.start);
        if is_first {
            let found = told(token.text);
            let kind = ParseErrorKind::EndsImport { found, why };
            let error = error_at(self.text, token, kind);
            self.ends = Some((token.start, error));
        }
    }

    /// Judges a statement that the import runs.
    pub(crate) fn judge(&mut self, statement: &[Token<'t>]) {
        if let (Some(&first), Some(why)) = (statement.first(), why_it_ends(statement)) {
            self.ends_at(first, why);
        }
    }

    /// Judges the bytes of the text: Python reads no text with a NUL, whatever stands above it.
    pub(crate) fn judge_bytes(&mut self) {
        if let Some(start) = self.text.find('\0') {
            let before = self.text[..start].replace("\r\n", "\n");
            let lines = before.matches(['\n', '\r']).count() as u32;
            let nul = Token {
                kind: TokenKind::Symbol,
                text: &self.text[start..=start],
                line: self.reading.lines_before + lines + 1,
                start,
            };
            self.ends = None;
            self.ends_at(nul, "Python reads no NUL");
            self.ends = self.ends.take().map(|(_, error)| (0, error));
        }
    }
}

/// Why the import ends with a statement, if it does for certain.
fn why_it_ends(statement: &[Token<'_>]) -> Option<&'static str> {
    let texts: Vec<_> = statement.iter().map(|token| token.text).collect();
    let is_symbol = statement.first()?.kind == TokenKind::Symbol;
    let divides_by_zero = |pair: &[Token<'_>]| {
        let is_zero =
            pair[1].kind == TokenKind::Integer && pair[1].text.trim_matches('0').is_empty();
        pair[0].kind == TokenKind::Symbol && matches!(pair[0].text, "/" | "//" | "%") && is_zero
    };
    let is_text = |token: &Token<'_>| token.kind == TokenKind::Text || token.is_name("lambda");
    match texts[..] {
        ["<<" | ">>" | "==", ..] if is_symbol => Some("it marks a conflict of a merge"),
        ["raise", ..] => Some("it raises an error"),
        ["assert", "0" | "False" | "None"] | ["assert", "0" | "False" | "None", ",", ..] => {
            Some("what it asserts is false")
        }
        ["exit" | "quit", "(", ..]
        | ["sys", ".", "exit", "(", ..]
        | ["os", ".", "_exit" | "abort", "(", ..] => Some("it ends Python"),
        _ if statement.windows(2).any(divides_by_zero) && !statement.iter().any(is_text) => {
            Some("it divides by 0")
        }
        _ => None,
    }
}
