//! [`Text`]: JSON text with its position in a file, for error messages.

use std::borrow::Cow;

use memchr::{memchr, memchr_iter};
use serde::de::{DeserializeSeed, IgnoredAny};
use serde_json::value::RawValue;
use serde_path_to_error::{Path, Segment};

use super::error::TaskError;
use super::seeds::{ElementsSeed, EntriesSeed, FirstEntriesSeed, TWICE, WalkSeed};

/// JSON text, or a value in it, with its position.
#[derive(Debug, Clone)]
pub(super) struct Text<'a> {
    pub(super) json: &'a str,
    task: Option<String>,
    path: String,
    pub(super) line: usize,
    pub(super) column: usize,
}

/// The kind of a value, judging by its first character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JsonKind {
    Object,
    List,
    Null,
    Other,
}

/// The kind of a value, judging by its first character.
pub(super) fn kind_of(json: &str) -> JsonKind {
    match json.trim_start().as_bytes() {
        [b'{', ..] => JsonKind::Object,
        [b'[', ..] => JsonKind::List,
        b"null" => JsonKind::Null,
        _ => JsonKind::Other,
    }
}

/// The first element of a list, if there is one.
pub(super) fn first_of(json: &str) -> Option<&str> {
    let mut elements = Vec::new();
    let mut json = serde_json::Deserializer::from_str(json);
    let seed = ElementsSeed {
        expected: "a list",
        elements: &mut elements,
        most: 1,
    };
    // What follows the first element does not matter here.
    let _ = seed.deserialize(&mut json);
    elements.first().map(|element| element.get())
}

/// The entries of the first element of a list, if that is an object.
pub(super) fn first_entries(json: &str) -> Vec<(String, &RawValue)> {
    let mut entries = Vec::new();
    let seed = EntriesSeed {
        expected: "an object",
        entries: &mut entries,
    };
    // What follows the first element does not matter here, either.
    let _ = FirstEntriesSeed(seed).deserialize(&mut serde_json::Deserializer::from_str(json));
    entries
}

/// A text with the lists and objects that strings hold in place of these strings, as columns of tables have them, but
/// for those that are kept, with their keys; and with grids in place of strings under the keys that hold some.
/// Everything stays on its line.
pub(super) fn without_strings(
    text: &[u8],
    is_kept: impl Fn(&str, &str) -> bool,
    holds_grids: impl Fn(&str) -> bool,
) -> Cow<'_, [u8]> {
    // Most texts hold none, and are not gone through string by string.
    let is_under_key = |start: usize| {
        let is_between = |byte: &&u8| byte.is_ascii_whitespace() || matches!(byte, b'[' | b':');
        let between = text[..start].iter().rev().take_while(is_between).count();
        let key = &text[..start - between];
        key.ends_with(b"put\"") || key.ends_with(b"puts\"")
    };
    let begins = |quote: usize| match text.get(quote + 1) {
        Some(b'[' | b'{' | b' ' | b'\\') => true,
        Some(b'0'..=b'9' | b'|' | b'(') => is_under_key(quote),
        _ => false,
    };
    if !memchr_iter(b'"', text).any(begins) {
        return Cow::Borrowed(text);
    }
    let (mut made, mut done, mut at, mut key) = (Vec::new(), 0, 0, String::new());
    // How many lists are open since the last key.
    let mut depth = 0_isize;
    while let Some(before) = memchr(b'"', &text[at..]) {
        let start = at + before;
        depth += text[at..start].iter().fold(0, |depth, byte| match byte {
            b'[' => depth + 1,
            b']' => depth - 1,
            _ => depth,
        });
        let mut strings = serde_json::Deserializer::from_slice(&text[start..]).into_iter();
        let Some(Ok(string)) = strings.next() else {
            break;
        };
        let string: String = string;
        at = start + strings.byte_offset();
        let replaced = if text[at..].trim_ascii_start().starts_with(b":") {
            (key, depth) = (string, 0);
            None
        } else if string.trim_start().starts_with(['[', '{'])
            && !is_kept(&key, &string)
            && serde_json::from_str::<IgnoredAny>(&string).is_ok()
        {
            Some(string.replace('\n', " "))
        } else if holds_grids(&key) {
            let is_one = matches!(&*key, "input" | "output");
            let rows = rows_of(&string).unwrap_or_default();
            match (depth, &rows[..]) {
                (1, [row]) if is_one => Some(row.clone()),
                (0, [_, ..]) | (1, [_, _, ..]) => Some(format!("[{}]", rows.join(","))),
                (1, [row]) if key.ends_with('s') => Some(format!("[{row}]")),
                _ => None,
            }
        } else {
            None
        };
        if let Some(replaced) = replaced {
            made.extend_from_slice(&text[done..start]);
            made.extend(replaced.into_bytes());
            done = at;
        }
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    made.extend_from_slice(&text[done..]);
    Cow::Owned(made)
}

/// The rows of a grid that is written as text, as JSON: `1 2\n3 4`, `12\n34`, `|12|34|`, `[[1 2]\n [3 4]]`,
/// `((1, 2), (3, 4))`; `None` if it means something else.
fn rows_of(text: &str) -> Option<Vec<String>> {
    let has_more = |several: &&str| text.trim().contains(*several);
    if ["\n\n", "[[[", "((("].iter().any(has_more) {
        return None;
    }
    let is_between = |c: char| c.is_whitespace() || "[](),".contains(c);
    let rows = text.split(['\n', '|', ')', ']']);
    let rows = rows.map(|row| {
        row.split(is_between)
            .filter(|cell| !cell.is_empty())
            .collect()
    });
    let rows: Vec<Vec<&str>> = rows.filter(|row: &Vec<_>| !row.is_empty()).collect();
    // Without anything between them, digits are colours.
    let are_digits = rows.iter().all(|row| row.len() == 1);
    let read = |row: &Vec<&str>| {
        let digits = row[0].split("").filter(|_| are_digits);
        let digits: Vec<_> = digits.filter(|digit| !digit.is_empty()).collect();
        let cells = if are_digits { &digits } else { row };
        let cells: Result<Vec<i8>, _> = cells.iter().map(|cell| cell.parse()).collect();
        cells.ok().map(|cells| format!("{cells:?}"))
    };
    rows.iter().map(read).collect()
}

impl<'a> Text<'a> {
    /// The whole text of a file.
    pub(super) fn new(bytes: &'a [u8]) -> Result<Self, TaskError> {
        let text = utf8(bytes)?;
        Ok(Text {
            json: text.strip_prefix('\u{feff}').unwrap_or(text),
            task: None,
            path: String::new(),
            line: 1,
            column: 1,
        })
    }

    /// The same text, with errors attributed to the task of this id.
    pub(super) fn of_task(self, id: &str) -> Self {
        Self {
            task: Some(id.to_owned()),
            ..self
        }
    }

    /// The non-blank lines, if the first of them is a complete value but not the whole text, as in JSONL.
    pub(super) fn lines(&self) -> Option<Vec<Text<'a>>> {
        let lines = self.json.split('\n').zip(self.line..);
        let mut lines = lines.filter(|(line, _)| !line.trim().is_empty());
        let (first, number) = lines.next()?;
        let is_whole = first.trim_start().starts_with(['{', '[', '"'])
            && serde_json::from_str::<IgnoredAny>(first).is_ok();
        if !is_whole {
            return None;
        }
        let rest: Vec<_> = lines.collect();
        if rest.is_empty() {
            return None;
        }
        let lines = std::iter::once((first, number)).chain(rest);
        let lines = lines.map(|(json, line)| Text {
            json,
            line,
            column: 1,
            ..self.clone()
        });
        Some(lines.collect())
    }

    /// Deserialises the whole text with `seed`.
    pub(super) fn read<S: DeserializeSeed<'a> + Clone>(
        &self,
        seed: S,
    ) -> Result<S::Value, TaskError> {
        let mut json = serde_json::Deserializer::from_str(self.json);
        // Most texts have no error, and then no path is needed.
        if let Ok(value) = seed.clone().deserialize(&mut json)
            && json.end().is_ok()
        {
            return Ok(value);
        }
        let mut json = serde_json::Deserializer::from_str(self.json);
        let mut track = serde_path_to_error::Track::new();
        let tracked = serde_path_to_error::Deserializer::new(&mut json, &mut track);
        match seed.deserialize(tracked) {
            Ok(value) => match json.end() {
                Ok(()) => Ok(value),
                Err(error) => Err(self.error_at(&error, "")),
            },
            Err(error) => {
                let path = track.path();
                let root = path.iter().next().is_none();
                let told = if root {
                    String::new()
                } else {
                    path.to_string()
                };
                let found = self.error_at(&error, &told);
                Err(self.at_beginning(&error, &path, found))
            }
        }
    }

    /// The keys and values of the text, which is an object, up to the first error.
    pub(super) fn entries(
        &self,
        expected: &'static str,
    ) -> (Vec<(String, &'a RawValue)>, Option<TaskError>) {
        let mut entries = Vec::new();
        let mut json = serde_json::Deserializer::from_str(self.json);
        let seed = EntriesSeed {
            expected,
            entries: &mut entries,
        };
        let read = seed.deserialize(&mut json).and_then(|()| json.end());
        let error = read.err().map(|error| self.first_error(&error));
        (entries, error)
    }

    /// The elements of the text, which is a list, up to the first error.
    pub(super) fn elements(
        &self,
        expected: &'static str,
    ) -> (Vec<&'a RawValue>, Option<TaskError>) {
        let mut elements = Vec::new();
        let mut json = serde_json::Deserializer::from_str(self.json);
        let seed = ElementsSeed {
            expected,
            elements: &mut elements,
            most: usize::MAX,
        };
        let read = seed.deserialize(&mut json).and_then(|()| json.end());
        let error = read.err().map(|error| self.first_error(&error));
        (elements, error)
    }

    /// The error, with the path to the broken value if there is one.
    fn first_error(&self, error: &serde_json::Error) -> TaskError {
        let with_path = || self.read(WalkSeed).err();
        let broken = if error.is_data() { None } else { with_path() };
        broken.unwrap_or_else(|| {
            let found = self.error_at(error, "");
            // A value of another kind was not read at all: the error is about the whole text.
            self.at_value(error, self.json.trim_start(), found)
        })
    }

    /// The error, moved to the beginning of the value at `path`: serde reports it after reading the value.
    fn at_beginning(&self, error: &serde_json::Error, path: &Path, found: TaskError) -> TaskError {
        let end = offset_of(self.json, error.line(), error.column());
        let mut value = self.json.trim_start();
        for segment in path {
            let mut json = serde_json::Deserializer::from_str(value);
            let mut elements = Vec::new();
            let mut entries = Vec::new();
            // Errors after the value do not matter here.
            let inner = match segment {
                Segment::Seq { index } => {
                    let seed = ElementsSeed {
                        expected: "a list",
                        elements: &mut elements,
                        most: index + 1,
                    };
                    let _ = seed.deserialize(&mut json);
                    elements.get(*index).copied()
                }
                Segment::Map { key } => {
                    let seed = EntriesSeed {
                        expected: "an object",
                        entries: &mut entries,
                    };
                    let _ = seed.deserialize(&mut json);
                    // If the key is repeated, the last value that begins before the error.
                    let begun = |value: &RawValue| begin_in(self.json, value.get()) < end;
                    let mut entries = entries.iter().rev();
                    let entry = entries.find(|(found, value)| found == key && begun(value));
                    entry.map(|(_, value)| *value)
                }
                Segment::Enum { .. } | Segment::Unknown => None,
            };
            match inner {
                Some(inner) => value = inner.get(),
                None => return found,
            }
        }
        self.at_value(error, value, found)
    }

    /// The error, moved to the beginning of a value of the text, unless it is about broken JSON or a repeated key.
    fn at_value(&self, error: &serde_json::Error, value: &str, found: TaskError) -> TaskError {
        if !error.is_data() || found.message.ends_with(TWICE) {
            return found;
        }
        let before = &self.json.as_bytes()[..begin_in(self.json, value)];
        let (line, column) = place(before);
        TaskError {
            line: self.line + line - 1,
            column: column + if line == 1 { self.column - 1 } else { 0 },
            ..found
        }
    }

    /// An error about the whole value, at its beginning.
    pub(super) fn error(&self, message: impl Into<String>) -> TaskError {
        TaskError {
            task: self.task.clone(),
            line: self.line,
            column: self.column,
            path: clipped(self.path.clone()),
            message: message.into(),
        }
    }

    fn error_at(&self, error: &serde_json::Error, path: &str) -> TaskError {
        let text = error.to_string();
        let place = format!(" at line {} column {}", error.line(), error.column());
        let message = text.strip_suffix(&place).unwrap_or(&text);
        let number = number_at(self.json, error.line(), error.column());
        let constant = constant_at(self.json, error.line(), error.column());
        let mut found = self.error(if error.is_data() {
            in_our_words(message, number)
        } else if let Some(constant) = constant {
            format!("broken JSON: found `{constant}`, which Python writes and JSON lacks: expected a number or null")
        } else {
            broken(message, number).unwrap_or_else(|| broken_json(error, self.json))
        });
        if error.line() <= 1 {
            found.column += error.column().saturating_sub(1);
        } else {
            found.line += error.line() - 1;
            found.column = error.column().max(1);
        }
        if !(found.path.is_empty() || path.is_empty() || path.starts_with('[')) {
            found.path.push('.');
        }
        // serde writes `?` for unknown keys.
        found.path.push_str(path.trim_end_matches(['?', '.']));
        found.path = clipped(found.path);
        found
    }
}

/// Visits the values of a text in order, so that lines are counted only once, however many values there are.
pub(super) struct Places<'a> {
    /// The text, with the position of the value that was visited last.
    text: Text<'a>,
    /// The offset of that value.
    at: usize,
}

impl<'a> Places<'a> {
    /// Starts at the beginning of a text.
    pub(super) fn new(text: &Text<'a>) -> Self {
        Self {
            text: text.clone(),
            at: 0,
        }
    }

    /// The value of this key. Values have to be requested in the order of the text.
    pub(super) fn of_key(&mut self, key: &str, value: &'a RawValue) -> Text<'a> {
        let dot = if self.text.path.is_empty() { "" } else { "." };
        let path = format!("{}{dot}{key}", self.text.path);
        self.part(path, value)
    }

    /// The value at this index of a list, like [`of_key`](Self::of_key).
    pub(super) fn of_index(&mut self, index: usize, value: &'a RawValue) -> Text<'a> {
        let path = format!("{}[{index}]", self.text.path);
        self.part(path, value)
    }

    fn part(&mut self, path: String, value: &'a RawValue) -> Text<'a> {
        let (text, json) = (&mut self.text, value.get());
        // Raw values borrow from the text that they were parsed from.
        let start = begin_in(text.json, json);
        let passed = text.json.as_bytes().get(self.at..start).unwrap_or_default();
        let (line, column) = place(passed);
        text.column = if line == 1 {
            text.column + column - 1
        } else {
            column
        };
        text.line += line - 1;
        self.at = start;
        Text {
            json,
            task: text.task.clone(),
            path,
            ..*text
        }
    }
}

/// serde's message about a value of the wrong kind, in the words of our other errors. A number is shown as it was
/// written: serde parses `-0` and `1e+32` as floating point and formats them differently.
fn in_our_words(message: &str, number: Option<&str>) -> String {
    let parts = message
        .strip_prefix("invalid type: ")
        .and_then(|m| m.rsplit_once(", expected "));
    let Some((found, expected)) = parts else {
        return message.to_owned();
    };
    let found = match found {
        "map" => "an object",
        "sequence" => "a list",
        _ => &*shortened(found),
    };
    match number {
        Some(number) if found.starts_with("floating point ") => {
            format!("expected {expected}, found number `{}`", shortened(number))
        }
        _ => format!("expected {expected}, found {found}"),
    }
}

/// The maximum number of characters of a path in an error.
const MOST_OF_PATH: usize = 160;

/// Truncates a long path.
fn clipped(mut path: String) -> String {
    if path.len() > MOST_OF_PATH
        && let Some((end, _)) = path.char_indices().nth(MOST_OF_PATH)
    {
        path.truncate(end);
        path.push_str("..");
    }
    path
}

/// The offset at which a part of a text begins.
fn begin_in(text: &str, part: &str) -> usize {
    part.as_ptr().addr() - text.as_ptr().addr()
}

/// The offset of a line and column, both counted from 1.
fn offset_of(text: &str, line: usize, column: usize) -> usize {
    let lines = text.split_inclusive('\n').take(line.saturating_sub(1));
    lines.map(str::len).sum::<usize>() + column
}

/// Truncates a long text.
pub(super) fn shortened(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}..", &text[..end]).into(),
        None => text.into(),
    }
}

/// Describes a broken number in text that is not valid JSON.
fn broken(message: &str, number: Option<&str>) -> Option<String> {
    Some(match (message, number) {
        ("invalid number", Some(number)) => {
            let digits = number.trim_start_matches('-').as_bytes();
            let expected = match digits {
                [b'0', b'0'..=b'9', ..] => "no leading zeros",
                _ => "more digits",
            };
            let number = shortened(number);
            format!("broken JSON: invalid number `{number}`: expected {expected}")
        }
        ("number out of range", Some(number)) => {
            let number = shortened(number);
            format!(
                "broken JSON: number out of range `{number}`: expected an integer from -128 to 127"
            )
        }
        _ => return None,
    })
}

/// Explains why text is not valid JSON, in words for the person who wrote it. `text` is the text, or the known part of
/// it.
#[must_use]
pub fn broken_json(error: &serde_json::Error, text: &str) -> String {
    let (line, column) = (error.line(), error.column());
    let message = error.to_string();
    let place = format!(" at line {line} column {column}");
    let message = message.strip_suffix(&place).unwrap_or(&message);
    let rest = || {
        let line = text.split('\n').nth(line.checked_sub(1)?)?;
        line.get(column.saturating_sub(1)..)
    };
    let found = || {
        let found = rest().and_then(|rest| rest.chars().next());
        found.map_or_else(String::new, |found| {
            // An apostrophe needs no escape here.
            let found = found.escape_debug().to_string().replace("\\'", "'");
            format!(", found `{found}`")
        })
    };
    let is_comment = || rest().is_some_and(|rest| rest.starts_with(['/', '#']));
    let message = match message {
        _ if error.is_eof() && !text.is_empty() && text.trim().is_empty() => "nothing but blanks".to_owned(),
        "EOF while parsing a value" if line <= 1 && column == 0 => return "empty: expected JSON".to_owned(),
        _ if error.is_eof() => {
            let within = message.strip_prefix("EOF while parsing ").unwrap_or("a value");
            format!("it ends within {within}, and the rest is missing")
        }
        "expected value" | "key must be a string" | "trailing characters" if is_comment() => {
            "found a comment, which JSON lacks".to_owned()
        }
        "expected value" | "expected ident" => format!("expected a value{}", found()),
        "key must be a string" => format!("expected a key in double quotes{}", found()),
        "trailing comma" => "a comma behind the last element, which JSON lacks".to_owned(),
        "trailing characters" => format!("expected nothing more behind the value{}", found()),
        "recursion limit exceeded" => "lists and objects in each other, more than 127 deep".to_owned(),
        _ if message.starts_with("control character") => {
            "a string with a line break or another control character, which JSON writes as `\\n` or `\\u000a`".to_owned()
        }
        "lone leading surrogate in hex escape" | "unexpected end of hex escape" => {
            "half of a surrogate pair, which is no character".to_owned()
        }
        "invalid escape" => "a `\\` in a string before what JSON does not escape".to_owned(),
        _ => message.to_owned(),
    };
    format!("broken JSON: {message}")
}

/// The non-finite number in Python's syntax at this position, if there is one.
fn constant_at(json: &str, line: usize, column: usize) -> Option<&'static str> {
    let text = json.split('\n').nth(line.checked_sub(1)?)?.as_bytes();
    // In a negative one, the sign is parsed as part of a number.
    let around = text.get(column.saturating_sub(2)..)?;
    let names = ["NaN", "Infinity"].into_iter();
    names.into_iter().find(|name| {
        let mut starts = around.windows(name.len()).take(3);
        starts.any(|it| it == name.as_bytes())
    })
}

/// The number that contains this position or ends before it, if there is one.
fn number_at(json: &str, line: usize, column: usize) -> Option<&str> {
    let text = json.split('\n').nth(line.checked_sub(1)?)?;
    let is_part = |at: &usize| {
        let byte = text.as_bytes().get(*at);
        byte.is_some_and(|byte| byte.is_ascii_digit() || b"+-.eE".contains(byte))
    };
    let place = column.checked_sub(1)?;
    let place = [Some(place), place.checked_sub(1)];
    let place = place.into_iter().flatten().find(is_part)?;
    let start = (0..=place).rev().take_while(is_part).last()?;
    let end = (place..text.len()).take_while(is_part).last()?;
    let number = text.get(start..=end)?;
    number
        .contains(|c: char| c.is_ascii_digit() || c == '-')
        .then_some(number)
}

/// The line and column after `before`.
fn place(before: &[u8]) -> (usize, usize) {
    let mut lines = before.split(|&byte| byte == b'\n');
    let column = lines.next_back().map_or(0, <[u8]>::len) + 1;
    (lines.count() + 1, column)
}

/// The bytes as text; the error says where they are none.
pub fn utf8(bytes: &[u8]) -> Result<&str, TaskError> {
    let wide = wide_text(bytes).map(|name| (1, 1, format!("{name} text: expected UTF-8")));
    let bad = |error: std::str::Utf8Error| {
        let (before, rest) = bytes.split_at(error.valid_up_to());
        let (line, column) = place(before);
        (
            line,
            column,
            format!("not UTF-8 text: byte 0x{:02x}", rest[0]),
        )
    };
    let text = wide.map_or_else(|| std::str::from_utf8(bytes).map_err(bad), Err);
    text.map_err(|(line, column, message)| TaskError {
        task: None,
        line,
        column,
        path: String::new(),
        message,
    })
}

/// The name of the encoding, if characters take two or four bytes: judging by the byte order mark, or by zeros among
/// the first bytes.
pub(super) fn wide_text(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] => Some("UTF-32"),
        [0, 0, 0, last, ..] | [last, 0, 0, 0, ..] if *last != 0 => Some("UTF-32"),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Some("UTF-16"),
        [first, second, ..] if (*first == 0) != (*second == 0) => Some("UTF-16"),
        _ => None,
    }
}
