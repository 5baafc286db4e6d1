//! [`Tokens`]: splits PTX into tokens, each with its line.

use super::error::ParseIssue;

/// Names, numbers and punctuation marks.
pub(super) struct Tokens<'a> {
    all: Vec<(&'a str, u32)>,
    at: usize,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let mut all = Vec::with_capacity(text.len() / 5);
        for (number, line) in (1..).zip(text.lines()) {
            let mut rest = line.split_once("//").map_or(line, |(code, _)| code).trim();
            while !rest.is_empty() {
                let (word, after) = rest.split_at(length_of_word(rest));
                all.push((word, number));
                rest = after.trim_start();
            }
        }
        Self { all, at: 0 }
    }

    /// The next token; `None` at the end of the text.
    pub(super) fn peek(&self) -> Option<&'a str> {
        self.all.get(self.at).map(|(token, _)| *token)
    }

    /// The line of the next token; at the end, the last line.
    pub(super) fn line(&self) -> u32 {
        let here = self.all.get(self.at).or(self.all.last());
        here.map_or(0, |(_, line)| *line)
    }

    pub(super) fn take(&mut self) -> Option<&'a str> {
        let token = self.peek();
        self.at += 1;
        token
    }

    /// Takes the next token, which must exist.
    pub(super) fn word(&mut self) -> Result<&'a str, ParseIssue> {
        let line = self.line();
        let end = || ParseIssue::new(line, "a word expected, the end found");
        self.take().ok_or_else(end)
    }

    pub(super) fn eat(&mut self, word: &str) -> bool {
        let eaten = self.peek() == Some(word);
        self.at += usize::from(eaten);
        eaten
    }

    pub(super) fn expect(&mut self, word: &str) -> Result<(), ParseIssue> {
        if self.eat(word) {
            return Ok(());
        }
        let found = self.peek().unwrap_or("the end");
        let what = format!("{word} expected, {found} found");
        Err(ParseIssue::new(self.line(), what))
    }

    /// Skips everything up to and including this word.
    pub(super) fn skip_past(&mut self, word: &str) {
        while self.take().is_some_and(|found| found != word) {}
    }

    /// Takes the words up to and including `word`; returns those before it.
    pub(super) fn up_to(&mut self, word: &str) -> Result<Vec<&'a str>, ParseIssue> {
        let mut words = Vec::new();
        loop {
            match self.word()? {
                found if found == word => return Ok(words),
                found => words.push(found),
            }
        }
    }
}

/// The length in bytes of the first word: a name with its dots, a number with its sign, a quoted string,
/// or else one character.
fn length_of_word(text: &str) -> usize {
    if let Some(quoted) = text.strip_prefix('"') {
        return quoted.find('"').map_or(text.len(), |end| end + 2);
    }
    let within = |c: char| c.is_ascii_alphanumeric() || "_.$%".contains(c);
    let sign = usize::from(text.starts_with('-'));
    let length = text[sign..]
        .find(|c| !within(c))
        .map_or(text.len(), |end| end + sign);
    let first = text.chars().next().map_or(0, char::len_utf8);
    length.max(first)
}

/// Parses an integer literal of PTX, of at most 64 bits.
pub(super) fn number(text: &str) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let digits = digits.strip_suffix('U').unwrap_or(digits);
    let value = match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16).ok()?,
        None if digits.starts_with(|c: char| c.is_ascii_digit()) => digits.parse().ok()?,
        None => return None,
    };
    let value = i128::from(value);
    Some(if negative { -value } else { value })
}

/// An operand in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Operand<'a> {
    Name(&'a str),
    Number(i128),
    /// A register, a parameter or a variable, and an offset.
    Address(&'a str, i64),
    /// In braces.
    Vector(Vec<Operand<'a>>),
    /// In parentheses.
    List(Vec<&'a str>),
    /// Two destinations.
    Both(&'a str, &'a str),
    /// A negated predicate.
    Not(&'a str),
}

pub(super) fn operand<'a>(tokens: &mut Tokens<'a>) -> Result<Operand<'a>, ParseIssue> {
    let line = tokens.line();
    if tokens.eat("[") {
        let base = tokens.word()?;
        let more = tokens.eat("+");
        let next = tokens.peek();
        let offset = match next {
            Some(word) if more || word.starts_with('-') => {
                tokens.take();
                number(word).and_then(|offset| i64::try_from(offset).ok())
            }
            _ => Some(0),
        };
        tokens.expect("]")?;
        let offset = offset.ok_or_else(|| {
            ParseIssue::new(line, format!("no offset: {}", next.unwrap_or("the end")))
        })?;
        return Ok(Operand::Address(base, offset));
    }
    if tokens.eat("{") {
        // Registers and numbers: a vector holds no vectors.
        let mut all = tokens.up_to("}")?;
        all.retain(|word| *word != ",");
        return Ok(Operand::Vector(all.into_iter().map(scalar).collect()));
    }
    if tokens.eat("(") {
        let mut all = tokens.up_to(")")?;
        all.retain(|word| *word != ",");
        return Ok(Operand::List(all));
    }
    if tokens.eat("!") {
        return Ok(Operand::Not(tokens.word()?));
    }
    let name = tokens.word()?;
    if tokens.eat("|") {
        return Ok(Operand::Both(name, tokens.word()?));
    }
    Ok(scalar(name))
}

fn scalar(word: &str) -> Operand<'_> {
    number(word).map_or(Operand::Name(word), Operand::Number)
}
