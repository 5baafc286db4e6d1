//! Splits text into blocks (a top-level statement with the indented lines below it) of tokens.
//!
//! A line that begins with `def` in the first column always begins a block, unless it is inside a closed string; even
//! that one does if its block turns out to be wrong. So a bracket or a string that is never closed costs one program,
//! not the rest of the file, and no byte is tokenised more than twice.

use unicode_normalization::{UnicodeNormalization as _, is_nfkc};

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// The whitespace that a line is indented by, if any; lines inside brackets have none.
    Indent,
    /// A name or a keyword.
    Name,
    /// A name that Python may normalise to another one.
    Respelled,
    /// Decimal digits.
    Integer,
    /// Any other number.
    Number,
    /// A string.
    Text,
    /// A string that is never closed; the last token of its block before the end.
    OpenText,
    /// A bracket, an operator, or a character without a meaning in Python.
    Symbol,
    /// The end of a line, except inside brackets.
    Newline,
    /// The end of the block.
    End,
}

/// A piece of text and its position.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token<'t> {
    pub(super) kind: TokenKind,
    pub(super) text: &'t str,
    /// Counted from 1.
    pub(super) line: u32,
    /// Offset in the text, in bytes.
    pub(super) start: usize,
}

impl Token<'_> {
    /// Whether it is this symbol.
    pub(super) fn is(self, symbol: &str) -> bool {
        self.kind == TokenKind::Symbol && self.text == symbol
    }

    /// Whether it is this name.
    pub(super) fn is_name(self, name: &str) -> bool {
        self.kind == TokenKind::Name && self.text == name
    }

    /// Whether a statement ends before it.
    pub(super) fn ends_statement(&self) -> bool {
        matches!(self.kind, TokenKind::Newline | TokenKind::End) || self.is(";")
    }
}

/// The tokens of one top-level statement and the indented lines below it.
#[derive(Debug, Default)]
pub(super) struct Block<'t> {
    /// The tokens; the last one, and no other, is [`TokenKind::End`].
    pub(super) tokens: Vec<Token<'t>>,
    /// The innermost bracket that is still open at the end.
    pub(super) unclosed: Option<Token<'t>>,
}

impl Block<'_> {
    /// Whether it breaks off in a string or a bracket.
    pub(super) fn is_broken(&self) -> bool {
        self.unclosed.is_some() || self.open_text().is_some()
    }

    /// Whether it breaks off in a string that may go over several lines; others end with their line.
    fn is_left_open(&self) -> bool {
        self.open_text().is_some_and(|token| token.text.len() == 3)
    }

    fn open_text(&self) -> Option<&Token<'_>> {
        let last = self.tokens.iter().rev().nth(1);
        last.filter(|token| token.kind == TokenKind::OpenText)
    }
}

/// Operators of more than one character, the longer ones first.
const OPERATORS: &[&str] = &[
    "...", "**=", "//=", "<<=", ">>=", "->", ":=", "==", "!=", "<=", ">=", "**", "//", "<<", ">>",
    "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "@=",
];

/// Where a block begins, and how to read it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    at: usize,
    line: u32,
    distrusted: usize,
}

/// Reads a text block by block.
#[derive(Debug)]
pub(super) struct Lexer<'t> {
    text: &'t str,
    at: usize,
    line: u32,
    /// Where the current block begins: offset and line.
    block: (usize, u32),
    /// Up to this offset the text was read as part of a wrong block: strings there may not contain lines that look like
    /// the beginning of a program.
    distrusted: usize,
}

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self::behind(text, 0)
    }

    /// A lexer of a text that follows this many lines.
    pub(super) fn behind(text: &'t str, lines: u32) -> Self {
        let line = lines.saturating_add(1);
        Self {
            text,
            at: 0,
            line,
            block: (0, line),
            distrusted: 0,
        }
    }

    /// Reads the next block into `block`; returns whether there is one.
    pub(super) fn next_block(&mut self, block: &mut Block<'t>) -> bool {
        block.tokens.clear();
        block.unclosed = None;
        if !self.skip_blank_lines() {
            return false;
        }
        self.block = (self.at, self.line);
        while self.read_line(block, false) && self.skip_blank_lines() && self.is_indented() {}
        self.push_end(block);
        true
    }

    /// Whether a line of the text begins a function, rather than being one of a string.
    pub(super) fn has_function(&self) -> bool {
        if !self.text.split(['\n', '\r']).any(begins_def) {
            return false;
        }
        let (mut blocks, mut block) = (Lexer::new(self.text), Block::default());
        while blocks.next_block(&mut block) {
            let is_def = block
                .tokens
                .get(1)
                .is_some_and(|token| token.is_name("def"));
            if is_def || block.is_left_open() {
                return true;
            }
        }
        false
    }

    /// Reads all lines into one block.
    pub(super) fn read_lines(&mut self, block: &mut Block<'t>) {
        while self.skip_blank_lines() && self.read_line(block, false) {}
        self.push_end(block);
    }

    /// Reads the whole text as if it were inside brackets.
    pub(super) fn read_all(&mut self, block: &mut Block<'t>) {
        self.read_line(block, true);
        self.push_end(block);
    }

    /// Where the current block begins.
    pub(super) fn mark(&self) -> Mark {
        let (at, line) = self.block;
        Mark {
            at,
            line,
            distrusted: self.distrusted,
        }
    }

    /// A lexer that starts at the block that began there.
    pub(super) fn from_mark(text: &'t str, mark: Mark) -> Self {
        let Mark {
            at,
            line,
            distrusted,
        } = mark;
        Self {
            text,
            at,
            line,
            block: (at, line),
            distrusted,
        }
    }

    /// Moves to the first line below the beginning of the current block that begins a program.
    pub(super) fn recover(&mut self) {
        self.distrusted = self.distrusted.max(self.at);
        (self.at, self.line) = self.block;
        while let Some(byte) = self.peek() {
            if matches!(byte, b'\n' | b'\r') {
                self.newline();
                if self.is_at_def() {
                    return;
                }
            } else {
                self.at += 1;
            }
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Skips one end of line: `\n`, `\r\n` or `\r`.
    fn newline(&mut self) {
        self.at += if self.text.as_bytes()[self.at..].starts_with(b"\r\n") {
            2
        } else {
            1
        };
        self.line = self.line.saturating_add(1);
    }

    /// Skips bytes while `go_on` holds.
    fn skip(&mut self, go_on: impl Fn(u8) -> bool) {
        while self.peek().is_some_and(&go_on) {
            self.at += 1;
        }
    }

    fn skip_comment(&mut self) {
        self.skip(|byte| !matches!(byte, b'\n' | b'\r'));
    }

    /// Moves from the beginning of a line to the beginning of the next non-blank line, if any.
    fn skip_blank_lines(&mut self) -> bool {
        loop {
            let start = self.at;
            self.skip(is_space);
            if self.peek() == Some(b'#') {
                self.skip_comment();
            }
            match self.peek() {
                None => return false,
                Some(b'\n' | b'\r') => self.newline(),
                Some(_) => {
                    self.at = start;
                    return true;
                }
            }
        }
    }

    /// Whether a line begins with what looks like whitespace, even if Python does not treat it as such.
    fn is_indented(&self) -> bool {
        let line = without_feed(self.rest());
        match line.bytes().next() {
            Some(byte) if byte.is_ascii() => is_space(byte),
            _ => line.starts_with(is_invisible),
        }
    }

    /// Whether a line that begins here begins a program.
    fn is_at_def(&self) -> bool {
        begins_def(self.rest())
    }

    fn push(&self, block: &mut Block<'t>, kind: TokenKind, start: usize) {
        self.push_from(block, kind, start, self.line);
    }

    fn push_from(&self, block: &mut Block<'t>, kind: TokenKind, start: usize, line: u32) {
        let text = self.text.get(start..self.at).unwrap_or_default();
        block.tokens.push(Token {
            kind,
            text,
            line,
            start,
        });
    }

    /// The block ends at the end of its last line, not at the beginning of the next block.
    fn push_end(&self, block: &mut Block<'t>) {
        let (line, start) = match block.tokens.last() {
            Some(last) if last.kind == TokenKind::Newline => (last.line, last.start),
            _ => (self.line, self.at),
        };
        block.tokens.push(Token {
            kind: TokenKind::End,
            text: "",
            line,
            start,
        });
    }

    /// Reads one line and its continuation lines, or all lines; returns whether the block may go on.
    fn read_line(&mut self, block: &mut Block<'t>, all: bool) -> bool {
        let mut open: Vec<Token<'t>> = Vec::new();
        if !all {
            let start = self.text.len() - without_feed(self.rest()).len();
            self.skip(is_space);
            self.push(block, TokenKind::Indent, start);
        }
        loop {
            self.skip(is_space);
            let start = self.at;
            let Some(byte) = self.peek() else { break };
            match byte {
                b'\n' | b'\r' if all || !open.is_empty() => {
                    self.newline();
                    // No value contains this keyword: the bracket must have been left open.
                    if !all && self.is_at_def() {
                        break;
                    }
                }
                b'\n' | b'\r' => {
                    self.push(block, TokenKind::Newline, start);
                    self.newline();
                    return true;
                }
                b'#' => self.skip_comment(),
                b'\\' if matches!(self.text.as_bytes().get(start + 1), Some(b'\n' | b'\r')) => {
                    self.at += 1;
                    self.newline();
                }
                b'"' | b'\'' => {
                    if !self.read_string(block, start) {
                        return false;
                    }
                }
                b'0'..=b'9' => {
                    self.skip(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'));
                    let text = &self.text[start..self.at];
                    // In Python, only zero may have leading zeros.
                    let is_padded = text.starts_with('0') && text.bytes().any(|b| b != b'0');
                    let is_decimal = text.bytes().all(|b| b.is_ascii_digit()) && !is_padded;
                    self.push(
                        block,
                        if is_decimal {
                            TokenKind::Integer
                        } else {
                            TokenKind::Number
                        },
                        start,
                    );
                }
                _ if self.rest().starts_with(is_name_start) => {
                    let rest = self.rest();
                    self.at += rest.find(|c| !is_name_part(c)).unwrap_or(rest.len());
                    let quoted = matches!(self.peek(), Some(b'"' | b'\''));
                    let name = &self.text[start..self.at];
                    if !(quoted && is_string_prefix(name)) {
                        let kind = if is_stable(name) {
                            TokenKind::Name
                        } else {
                            TokenKind::Respelled
                        };
                        self.push(block, kind, start);
                    } else if !self.read_string(block, start) {
                        return false;
                    }
                }
                _ => {
                    let rest = self.rest();
                    let operator = OPERATORS
                        .iter()
                        .find(|operator| rest.starts_with(**operator));
                    self.at += match operator {
                        Some(operator) => operator.len(),
                        None => rest.chars().next().map_or(1, char::len_utf8),
                    };
                    self.push(block, TokenKind::Symbol, start);
                    match byte {
                        b'(' | b'[' | b'{' => open.extend(block.tokens.last()),
                        b')' | b']' | b'}' => {
                            open.pop();
                        }
                        _ => {}
                    }
                }
            }
        }
        block.unclosed = open.last().copied();
        if open.is_empty() && !all {
            self.push(block, TokenKind::Newline, self.at);
        }
        false
    }

    /// Reads a string whose prefix, from `start` on, has been read; returns whether it is closed.
    fn read_string(&mut self, block: &mut Block<'t>, start: usize) -> bool {
        let strict = self.block.0 < self.distrusted;
        let line = self.line;
        let quotes = &self.rest()[..1];
        let triple = self
            .rest()
            .starts_with(if quotes == "'" { "'''" } else { "\"\"\"" });
        let quotes = if triple { &self.rest()[..3] } else { quotes };
        self.at += quotes.len();
        while let Some(byte) = self.peek() {
            match byte {
                _ if self.text.as_bytes()[self.at..].starts_with(quotes.as_bytes()) => {
                    self.at += quotes.len();
                    self.push_from(block, TokenKind::Text, start, line);
                    return true;
                }
                b'\\' => {
                    self.at += 1;
                    match self.peek() {
                        Some(b'\n' | b'\r') => self.newline(),
                        Some(_) => self.at += 1,
                        None => {}
                    }
                }
                b'\n' | b'\r' if !triple => break,
                b'\n' | b'\r' => {
                    self.newline();
                    if strict && self.is_at_def() {
                        break;
                    }
                }
                _ => self.at += 1,
            }
        }
        block.tokens.push(Token {
            kind: TokenKind::OpenText,
            text: quotes,
            line,
            start,
        });
        false
    }
}

/// Whether the current block has to be split differently if it turns out to be wrong: it ends inside a string or a
/// bracket, or one of its strings has a line that looks like the beginning of a program.
pub(super) fn is_doubtful(block: &Block<'_>) -> bool {
    block.is_broken() || block.tokens.iter().any(quotes_def)
}

/// Whether a string has a line that looks like the beginning of a program.
fn quotes_def(token: &Token<'_>) -> bool {
    token.kind == TokenKind::Text && token.text.split(['\n', '\r']).skip(1).any(begins_def)
}

/// Whether a block has such strings, each of which ends where one can, so that it is not what is between two that are
/// never closed.
pub(super) fn quotes_defs(block: &Block<'_>) -> bool {
    let goes_on = |token: &Token<'_>| match token.kind {
        TokenKind::Name => {
            ["and", "as", "else", "for", "if", "in", "is", "not", "or"].contains(&token.text)
        }
        TokenKind::Respelled | TokenKind::Integer | TokenKind::Number => false,
        _ => true,
    };
    let mut pairs = block.tokens.windows(2);
    let end_well = pairs.all(|pair| !quotes_def(&pair[0]) || goes_on(&pair[1]));
    !block.is_broken() && end_well && block.tokens.iter().any(quotes_def)
}

/// Whether all strings of a text that may go over several lines are closed.
pub(super) fn closes_strings(text: &str) -> bool {
    let (mut lexer, mut block) = (Lexer::new(text), Block::default());
    while lexer.next_block(&mut block) {
        if block.is_left_open() {
            return false;
        }
    }
    true
}

/// A line without its leading form feeds and what precedes them: Python restarts the indentation after a form feed.
pub(super) fn without_feed(line: &str) -> &str {
    let space = line.bytes().take_while(|&byte| is_space(byte)).count();
    let feed = line[..space].rfind('\x0c');
    feed.map_or(line, |feed| &line[feed + 1..])
}

/// Whether a line begins a program.
fn begins_def(line: &str) -> bool {
    let after = without_feed(line).strip_prefix("def");
    after.is_some_and(|after| !after.starts_with(is_name_part))
}

/// Whether Python treats it as whitespace within a line.
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\x0c')
}

/// Whether it looks like whitespace, or is invisible, but is not whitespace in Python.
pub(super) fn is_invisible(c: char) -> bool {
    (c.is_whitespace() && !c.is_ascii())
        || matches!(
            c,
            '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{ad}'
        )
}

pub(super) fn is_name_start(c: char) -> bool {
    c == '_' || c.is_ascii_alphabetic() || (!c.is_ascii() && c.is_alphabetic())
}

pub(super) fn is_name_part(c: char) -> bool {
    c == '_' || c.is_ascii_alphanumeric() || (!c.is_ascii() && c.is_alphanumeric())
}

fn is_string_prefix(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    matches!(
        lower.as_str(),
        "r" | "b" | "u" | "f" | "br" | "rb" | "fr" | "rf"
    )
}

/// Whether Python leaves a name as it is written. It normalises names to the form NFKC, which replaces full-width
/// letters, mathematical letters and ligatures by plain ones.
pub(super) fn is_stable(name: &str) -> bool {
    name.is_ascii() || is_nfkc(name)
}

/// The name as Python normalises it.
pub(super) fn normalised(name: &str) -> String {
    name.nfkc().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The blocks of a text, their tokens separated by spaces.
    fn blocks(text: &str) -> Vec<String> {
        let (mut lexer, mut block, mut blocks) = (Lexer::new(text), Block::default(), Vec::new());
        while lexer.next_block(&mut block) {
            let tokens = block.tokens.iter().map(|token| match token.kind {
                TokenKind::Indent => format!("{}>", token.text.len()),
                TokenKind::Newline => "/".to_owned(),
                TokenKind::End => ".".to_owned(),
                TokenKind::Text => "text".to_owned(),
                TokenKind::OpenText => format!("open{}", token.text),
                TokenKind::Number => format!("number:{}", token.text),
                TokenKind::Respelled => format!("respelled:{}", token.text),
                TokenKind::Name | TokenKind::Integer | TokenKind::Symbol => token.text.to_owned(),
            });
            blocks.push(tokens.collect::<Vec<_>>().join(" "));
        }
        blocks
    }

    #[test]
    fn a_block_is_a_statement_with_the_indented_lines_below_it() {
        let text = "a\n\n  b # note\n# note\n\n\tc\nd\n";
        assert_eq!(blocks(text), ["0> a / 2> b / 1> c / .", "0> d / ."]);
        assert_eq!(blocks("\n \n# note"), [""; 0]);
        assert_eq!(blocks("  a"), ["2> a / ."]);
    }

    #[test]
    fn a_form_feed_begins_the_indentation_anew() {
        assert_eq!(
            blocks("\x0ca\n \x0c b\n \t\x0cc\n"),
            ["0> a / 1> b / .", "0> c / ."]
        );
        assert_eq!(
            blocks("a\n\x0c\n b\x0c(\n\x0cc)\n"),
            ["0> a / 1> b ( c ) / ."]
        );
        assert_eq!(blocks("f(\n\x0cdef g"), ["0> f ( .", "0> def g / ."]);
        assert!(Lexer::new("a\n\x0cdef f(I): return I").has_function());
    }

    #[test]
    fn every_end_of_line_counts() {
        let mut lexer = Lexer::new("a\r\nb\rc\nd");
        let mut lines = Vec::new();
        let mut block = Block::default();
        while lexer.next_block(&mut block) {
            lines.push(block.tokens[1].line);
        }
        assert_eq!(lines, [1, 2, 3, 4]);
    }

    #[test]
    fn brackets_and_backslashes_continue_a_line() {
        assert_eq!(
            blocks("f(a, # note\nb)\nc"),
            ["0> f ( a , b ) / .", "0> c / ."]
        );
        assert_eq!(blocks("a \\\r\n = b"), ["0> a = b / ."]);
        assert_eq!(
            blocks("f(\nif\ndefine\ndef g"),
            ["0> f ( if define .", "0> def g / ."]
        );
    }

    #[test]
    fn numbers_names_and_operators() {
        assert_eq!(
            blocks("12 1.5 0x1F 1_0"),
            ["0> 12 number:1.5 number:0x1F number:1_0 / ."]
        );
        assert_eq!(blocks("é_1->x**=-2:=$"), ["0> é_1 -> x **= - 2 := $ / ."]);
    }

    #[test]
    fn strings_are_read_whole() {
        assert_eq!(blocks(r#"'a"\'b' rb"c" x"#), ["0> text text x / ."]);
        assert_eq!(blocks("\"\"\"a\n\"b\ndef c\n\"\"\" d"), ["0> text d / ."]);
        assert_eq!(blocks("x = 'a\nb"), ["0> x = open' .", "0> b / ."]);
    }

    #[test]
    fn a_wrong_block_gives_way_to_the_next_def() {
        let text = "def a\n '''\ndef b\n '''\ndef c\n";
        let (mut lexer, mut block) = (Lexer::new(text), Block::default());
        assert!(lexer.next_block(&mut block));
        assert_eq!(
            (block.tokens[1].line, block.tokens.last().unwrap().line),
            (1, 4)
        );
        lexer.recover();
        assert!(lexer.next_block(&mut block));
        assert_eq!(block.tokens[1].line, 3);
        assert_eq!(block.tokens[5].kind, TokenKind::OpenText);
        lexer.recover();
        assert!(lexer.next_block(&mut block));
        assert_eq!(block.tokens[1].line, 5);
        lexer.recover();
        assert!(!lexer.next_block(&mut block));
    }

    #[test]
    fn nothing_becomes_a_token_more_than_twice() {
        // Each program's strings, read from its beginning, extend to the end of the text.
        let text = "def f(I):\n # '''\n '''\n".repeat(1000);
        let (mut lexer, mut block) = (Lexer::new(&text), Block::default());
        let (mut blocks, mut read) = (0, 0);
        while lexer.next_block(&mut block) {
            blocks += 1;
            read += lexer.at - lexer.block.0;
            lexer.recover();
        }
        assert_eq!(blocks, 1000);
        assert!(read <= 2 * text.len(), "{read} bytes of {}", text.len());
    }

    #[test]
    fn names_are_those_that_python_takes_them_for() {
        // As normalised by Python's `unicodedata.normalize("NFKC", name)`.
        for name in ["x1", "größe", "σχῆμα", "ширина", "幅", "한글", "ñ"] {
            assert!(is_stable(name), "{name}");
        }
        for (name, normal) in [
            ("\u{ff56}mirror", "vmirror"),
            ("\u{ff34}\u{ff37}O\u{ff12}", "TWO2"),
            ("\u{1d42d}\u{1d42b}im", "trim"),
            ("x\u{1d7df}", "x7"),
            ("\u{fb01}ll", "fill"),
            ("\u{17f}hift", "shift"),
            ("µ", "μ"),
            ("x\u{2167}", "xVIII"),
        ] {
            assert!(!is_stable(name), "{name}");
            assert_eq!(normalised(name), normal);
        }
    }
}
