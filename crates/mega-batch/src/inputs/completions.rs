//! Finds the programs in a model's output: in fenced code, or between lines of prose.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use arc_dsl::{Block as Code, Program};
use arc_text::{ParseError, ParseErrorKind, Reading, read_file, says_program};

pub use super::entry::FreePython;
use super::entry::{Chosen, Function, Parsed, functions};
use super::numbered;

/// At most this many times the text's length is read again together with the blocks before it.
const BELOW: usize = 16;

/// The programs of a text in order, with its line numbers; only those of the answer, if it is separate from thoughts.
///
/// Each block of code is read alone and, if no program in it can be read or it uses names that they bind, together with
/// the blocks before it, which may hold its functions and first steps. Code within lines of prose is tried last.
pub fn programs(text: &str, reading: &Reading) -> Vec<Parsed> {
    let found = functions_of(text, reading).into_iter();
    found.map(|function| function.read).collect()
}

fn functions_of(text: &str, reading: &Reading) -> Vec<Function> {
    located(text, |text, lines, blocks| {
        functions_in(text, lines, blocks, reading)
    })
}

/// The code of a text that may be a program in another language, with the number of lines before each block: either
/// one list of blocks, those between fences, or the whole text and then the blocks between its prose.
pub fn code(text: &str) -> Vec<Vec<Code>> {
    located(text, |text, mut lines, mut blocks| {
        let mut lists = Vec::new();
        if blocks.is_empty() {
            lists.push(vec![(0, text.to_owned())]);
            blocks = between_prose(&mut lines);
            if blocks.is_empty() {
                blocks = within_prose(&mut lines, is_statement);
            }
        }
        let code = blocks.into_iter().map(|block| {
            let (code, before) = laid_out(&lines, &[block]);
            (before, code)
        });
        lists.push(code.collect());
        lists
    })
}

/// Passes on the text of the answer, its lines, and the blocks between its fences.
fn located<T>(text: &str, then: impl FnOnce(&str, Vec<Line>, Vec<Block>) -> T) -> T {
    // Half of a surrogate pair, as an escape in JSON, is invalid in Rust; any other character will do.
    let text = text.trim_start_matches('\u{feff}');
    let text = &*if text.contains("\\ud") {
        Cow::Owned(text.replace("\\ud", "\\u0"))
    } else {
        Cow::Borrowed(text)
    };
    if let Some(inner) = whole_json(text) {
        return located(&inner, then);
    }
    let text = &*answer_of(text);
    if let Some(inner) = whole_json(text).or_else(|| fenced_json(text)) {
        return located(&inner, then);
    }
    let has_prompts = text
        .lines()
        .any(|line| line.trim_start().starts_with(">>> "));
    let lines = text.lines().map(|line| {
        if has_prompts {
            behind_prompt(line)
        } else {
            line
        }
    });
    let mut lines: Vec<Line> = lines.enumerate().flat_map(parts).collect();
    let blocks = fenced(&mut lines);
    if blocks.is_empty()
        && let Some(inner) = json_of_lines(text, &lines)
    {
        return located(&inner, then);
    }
    then(text, lines, blocks)
}

fn functions_in(
    text: &str,
    mut lines: Vec<Line>,
    mut blocks: Vec<Block>,
    reading: &Reading,
) -> Vec<Function> {
    let is_ok = |function: &Function| function.read.is_ok();
    let mut whole = Vec::new();
    if blocks.is_empty() {
        // A text that is entirely code needs no look at its lines.
        whole = parse(text, reading, 0);
        if !whole.is_empty() && whole.iter().all(is_ok) {
            return whole;
        }
        blocks = between_prose(&mut lines);
        for is_wanted in [is_statement, is_call] {
            if blocks.is_empty() {
                blocks = within_prose(&mut lines, is_wanted);
            }
        }
        if blocks.is_empty() {
            return expression(text, 0, reading).map_or(whole, |program| vec![program]);
        }
    }
    let mut programs = Vec::new();
    let mut left = BELOW * text.len();
    let mut bound_before = HashSet::new();
    for (at, block) in blocks.iter().enumerate() {
        let (code, before) = laid_out(&lines, &blocks[at..=at]);
        let mut read = parse(&code, reading, before);
        // They may be the DSL's, too.
        let own: HashSet<_> = names_bound(&code).collect();
        let uses_others = words(&code).any(|it| bound_before.contains(it) && !own.contains(it));
        bound_before.extend(own.into_iter().map(str::to_owned));
        if at > 0 && (uses_others || !read.iter().any(is_ok)) && left > 0 {
            let (code, before) = laid_out(&lines, &blocks[..=at]);
            left = left.saturating_sub(code.len());
            let below = parse(&code, reading, before);
            let own = below.into_iter().filter(|it| block.has(&lines, &it.read));
            let own: Vec<_> = own.collect();
            if own.iter().any(is_ok) || uses_others && !own.is_empty() {
                read = own;
            }
        }
        if !read.iter().any(is_ok)
            && let Some(program) = expression(&code, before, reading)
        {
            read = vec![program];
        }
        programs.append(&mut read);
    }
    for Function { read, .. } in &mut programs {
        if let Some(error) = read.as_ref().ok().and_then(|it| spoilt(it, &whole)) {
            *read = Err(error);
        }
    }
    programs
}

/// What the lines around a program do to it that were taken for prose, if they are code: a name that it uses means something
/// else, or Python ends above it.
fn spoilt(program: &Program, whole: &[Function]) -> Option<ParseError> {
    let last = program.steps().last().map_or(program.line(), |it| it.line);
    let errors = whole.iter().filter_map(|it| it.read.as_ref().err());
    let mut errors = errors.filter(|error| match &error.kind {
        ParseErrorKind::Unusable { .. } => (program.line()..=last).contains(&error.line),
        ParseErrorKind::EndsImport { .. } => error.line < program.line(),
        _ => false,
    });
    errors.next().cloned()
}

/// The words of a text that may be names.
fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c: char| c != '_' && !c.is_alphanumeric())
}

/// The names that the outermost lines of code bind.
fn names_bound(code: &str) -> impl Iterator<Item = &str> {
    code.lines().filter_map(|line| {
        let definition = line.strip_prefix("def ");
        let value = || Some(line.split_once('=')?.0.trim_end()).filter(|it| words(it).count() == 1);
        words(definition.or_else(value)?)
            .next()
            .filter(|name| !name.is_empty())
    })
}

/// The answer in a text.
pub struct Answer {
    /// The last readable program of the DSL, of those that are called as answers are or, if no function is, of all.
    pub program: Option<Program>,
    /// What is wrong with the last program, if anything.
    pub error: Option<ParseError>,
    /// Whether the last one may be in free Python, and counts instead if it is.
    pub python: FreePython,
}

impl Answer {
    /// What runs of it in the DSL if it is not in free Python, or why nothing does: without a pool none replaces a program
    /// that is likely to be in free Python.
    pub fn of_dsl(self, has_pool: bool) -> Result<Program, Option<ParseError>> {
        let is_replaced = !has_pool && self.python == FreePython::Likely;
        let program = self.program.filter(|_| !is_replaced);
        program.ok_or(self.error)
    }
}

/// The answer in a text. If a function with the name of an answer cannot be read, none without it replaces it.
pub fn answer(text: &str, reading: &Reading) -> Answer {
    let mut functions = functions_of(text, reading);
    let is_bad = |it: &Function| it.read.is_err();
    let is_named = functions.iter().any(|it| is_answer(&it.name));
    if !is_named && functions.iter().any(is_bad) && text.lines().any(defines_answer) {
        functions.retain(is_bad);
    }
    let Chosen {
        programs, python, ..
    } = Chosen::of_answer(functions);
    let (mut program, mut error) = (None, None);
    for read in programs {
        match read {
            Ok(read) => program = Some(read),
            Err(read) => error = Some(read),
        }
    }
    Answer {
        program,
        error,
        python,
    }
}

/// Whether a line begins a function with the name of an answer.
fn defines_answer(line: &str) -> bool {
    let definition = line.trim_start().strip_prefix("def ");
    definition.is_some_and(|rest| is_answer(rest.split('(').next().unwrap_or_default().trim()))
}

/// Whether a program with this name is the answer, rather than a helper or a test.
fn is_answer(name: &str) -> bool {
    says_program(name) && !name.starts_with("verify")
}

/// Reads code that follows this many lines.
fn parse(text: &str, reading: &Reading, lines_before: usize) -> Vec<Function> {
    let reading = Reading {
        lines_before: u32::try_from(lines_before).unwrap_or(u32::MAX),
        is_answer: true,
        ..reading.clone()
    };
    let parsed = read_file(text, &reading, |number| numbered("solve", number));
    functions(parsed, &text.into())
}

/// The program in a single line that calls a function with the input and assigns nothing.
fn expression(code: &str, before: usize, reading: &Reading) -> Option<Function> {
    let mut lines = code
        .lines()
        .zip(before..)
        .filter(|(line, _)| !line.trim().is_empty());
    let (line, number) = lines.next().filter(|_| lines.next().is_none())?;
    let line = line.trim().trim_matches('`');
    let line = between_marks(line).unwrap_or(line);
    let program = is_call(line).then(|| parse(&format!("O = {line}"), reading, number));
    program?.pop().filter(|program| program.read.is_ok())
}

/// Whether a line is a call and nothing else.
fn is_call(line: &str) -> bool {
    let name = line.strip_suffix(')').and_then(|it| it.split_once('('));
    name.is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c == '_' || c.is_alphanumeric())
    })
}

/// The text of a program under its key in JSON that is the whole text, as in tool calls.
fn whole_json(text: &str) -> Option<String> {
    let text = text.trim();
    let json = text.starts_with(['{', '[']).then_some(text)?;
    text_in(&serde_json::from_str(json).ok()?, MOST_NESTED)
}

/// The same for the last JSON in a fence marked `json`.
fn fenced_json(text: &str) -> Option<String> {
    let (_, inner) = text.rsplit_once("```json")?;
    whole_json(inner.split("```").next().unwrap_or(inner))
}

/// The same for the last JSON that starts a line, apart from tags before it.
fn json_of_lines(text: &str, lines: &[Line]) -> Option<String> {
    let (mut found, mut end) = (None, 0);
    for line in lines {
        let code = line.text.trim_start();
        // Lines are slices of the text.
        let start = code.as_ptr().addr() - text.as_ptr().addr();
        if start < end || !code.starts_with(['{', '[']) {
            continue;
        }
        let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter();
        if let Some(Ok(value)) = values.next() {
            end = start + values.byte_offset();
            found = text_in(&value, MOST_NESTED).or(found);
        }
    }
    found
}

/// The nesting depth up to which the text of a program is looked for.
const MOST_NESTED: usize = 8;

fn text_in(value: &serde_json::Value, depth: usize) -> Option<String> {
    use serde_json::Value;
    const KEYS: [&str; 5] = ["program", "code", "solution", "answer", "source"];
    let depth = depth.checked_sub(1)?;
    match value {
        Value::Object(object) => {
            let own = KEYS.iter().find_map(|key| object.get(*key)?.as_str());
            let own = own.map(str::to_owned);
            own.or_else(|| object.values().find_map(|inner| text_in(inner, depth)))
        }
        // Of several the last one counts.
        Value::Array(list) => list.iter().rev().find_map(|inner| text_in(inner, depth)),
        // The arguments of a call are JSON within JSON.
        Value::String(text) if text.trim_start().starts_with('{') => {
            text_in(&serde_json::from_str(text).ok()?, depth)
        }
        _ => None,
    }
}

/// The answer, if tags separate it from thoughts and other text; preceded by as many line breaks as before it in the
/// text.
fn answer_of(text: &str) -> Cow<'_, str> {
    const THOUGHTS: [&str; 5] = ["think", "thinking", "thought", "reasoning", "scratchpad"];
    // An `<output>` may also be the grid that the program returns.
    const ANSWERS: [&str; 3] = ["answer", "solution", "final"];
    const CHANNEL: &str = "<|channel|>final<|message|>";
    if !text.contains('<') {
        return Cow::Borrowed(text);
    }
    let lower = text.to_ascii_lowercase();
    let tags: Vec<_> = tags(&lower).collect();
    let last = |names: &[&str], closes: bool, within: Range<usize>| {
        let is_one = |tag: &&Tag| {
            tag.closes == closes && names.contains(&tag.name) && within.contains(&tag.place.start)
        };
        tags.iter().rev().find(is_one).map(|tag| tag.place.clone())
    };
    let (mut start, mut end) = (0, text.len());
    if let Some(tag) = last(&THOUGHTS, true, start..end) {
        start = tag.end;
    }
    if let Some(tag) = last(&THOUGHTS, false, start..end) {
        end = tag.start;
    }
    if let Some(at) = lower.rfind(CHANNEL) {
        (start, end) = (at + CHANNEL.len(), text.len());
    }
    if let Some(tag) = last(&ANSWERS, false, start..end) {
        start = tag.end;
        end = last(&ANSWERS, true, start..end).map_or(end, |tag| tag.start);
    }
    if (start, end) == (0, text.len()) {
        return Cow::Borrowed(text);
    }
    // Keeps the line numbers of the text.
    let before = text[..start].matches('\n').count();
    Cow::Owned("\n".repeat(before) + &text[start..end])
}

/// An XML tag, with its attributes.
struct Tag<'a> {
    name: &'a str,
    closes: bool,
    place: Range<usize>,
}

/// The tags of a text, except quoted ones. What closes may follow a quotation, and a fence.
fn tags(text: &str) -> impl Iterator<Item = Tag<'_>> {
    text.match_indices('<').filter_map(move |(start, _)| {
        let quotes = ['`', '\'', '"'];
        let is_quoted = text[..start].ends_with(quotes) && !text[..start].ends_with("```");
        let inner = &text[start + 1..];
        let closes = inner.starts_with('/');
        let inner = inner.strip_prefix('/').unwrap_or(inner);
        let length = inner.find(|c: char| !c.is_ascii_alphanumeric())?;
        let rest = inner[length..]
            .split(['\n', '<'])
            .next()
            .unwrap_or_default();
        let is_tag = rest.starts_with('>') || rest.starts_with(char::is_whitespace);
        let end = rest.find('>').filter(|_| is_tag)?;
        let place = start..text.len() - inner.len() + length + end + 1;
        if is_quoted && (!closes || text[place.end..].starts_with(quotes)) {
            return None;
        }
        let name = &inner[..length];
        Some(Tag {
            name,
            closes,
            place,
        })
    })
}

/// A line of the text without the tags around it, or one of these tags.
#[derive(Debug, Clone, Copy)]
struct Line<'a> {
    number: usize,
    text: &'a str,
    /// Whether it is a tag or otherwise not code, whatever block it is in.
    is_prose: bool,
}

impl Line<'_> {
    fn indent(&self) -> usize {
        self.text.len() - self.text.trim_start_matches([' ', '\t']).len()
    }
}

/// The tags before a line, the line, and the tags after it: XML, such as `<answer>`, and ends of messages, such as
/// `<|im_end|>`.
fn parts((number, line): (usize, &str)) -> Vec<Line<'_>> {
    let part = |text, is_prose| Line {
        number,
        text,
        is_prose,
    };
    let mut parts = Vec::new();
    // A Markdown quote.
    let quoted = line.trim_start().strip_prefix('>');
    let mut text = quoted.map_or(line, |it| it.strip_prefix(' ').unwrap_or(it));
    while let Some((tag, rest)) = text
        .trim_start()
        .split_inclusive('>')
        .next()
        .and_then(|tag| {
            let rest = &text.trim_start()[tag.len()..];
            is_tag(tag).then_some((tag, rest))
        })
    {
        parts.push(part(tag, true));
        text = rest.trim_start();
    }
    let mut behind = Vec::new();
    while let Some(start) = text.rfind('<') {
        let tag = text[start..].trim_end();
        if !is_tag(tag) {
            break;
        }
        behind.push(part(tag, true));
        text = &text[..start];
    }
    if parts.is_empty() && behind.is_empty() || !text.trim().is_empty() {
        parts.push(part(text, false));
    }
    parts.extend(behind.into_iter().rev());
    parts
}

/// The text after the prompt of a Python session.
fn behind_prompt(line: &str) -> &str {
    let inner = line.trim_start();
    let inner = inner
        .strip_prefix(">>>")
        .or_else(|| inner.strip_prefix("..."));
    inner.map_or(line, |inner| inner.strip_prefix(' ').unwrap_or(inner))
}

/// The text between marks of Markdown or of formulas that enclose all of it.
fn between_marks(text: &str) -> Option<&str> {
    const MARKS: [(&str, &str); 9] = [
        ("**", "**"),
        ("__", "__"),
        ("*", "*"),
        ("$$", "$$"),
        ("$", "$"),
        ("\\(", "\\)"),
        ("\\boxed{", "}"),
        ("\\text{", "}"),
        ("\\texttt{", "}"),
    ];
    let mut inner = text.trim();
    while let Some(within) = MARKS
        .iter()
        .find_map(|(before, behind)| inner.strip_prefix(before)?.strip_suffix(behind))
    {
        inner = within.trim().trim_matches('`');
        if is_statement(inner) || is_call(inner) {
            return Some(inner);
        }
    }
    None
}

/// Whether a text is one tag, rather than a comparison.
fn is_tag(text: &str) -> bool {
    let inner = text.strip_prefix('<').and_then(|it| it.strip_suffix('>'));
    inner.is_some_and(|inner| {
        let is_start = |c: char| !c.is_whitespace() && !c.is_ascii_digit();
        inner.starts_with(is_start) && !inner.contains(['<', '>', '(', ')', '['])
    })
}

/// Consecutive lines of code.
#[derive(Debug)]
struct Block {
    lines: Range<usize>,
    /// The spaces before each of its lines.
    indent: usize,
}

impl Block {
    /// Whether these lines hold the begin or end of a program, or an error.
    fn has(&self, lines: &[Line], parsed: &Parsed) -> bool {
        let (first, last) = match parsed {
            Ok(program) => {
                let last = program.steps().last();
                (
                    program.line(),
                    last.map_or(program.line(), |step| step.line),
                )
            }
            Err(error) => (error.line, error.line),
        };
        let mut lines = lines[self.lines.clone()].iter();
        lines.any(|it| {
            [first, last]
                .iter()
                .any(|line| it.number + 1 == *line as usize)
        })
    }
}

/// The text of blocks, with as many blank lines between them as in the original; and how many lines come before.
fn laid_out(lines: &[Line], blocks: &[Block]) -> (String, usize) {
    let mut text = String::new();
    let mut ends = None;
    let mut before = 0;
    for block in blocks {
        let code = lines[block.lines.clone()]
            .iter()
            .filter(|line| !line.is_prose);
        for line in code {
            match ends {
                Some(at) => text.extend(std::iter::repeat_n('\n', line.number - at)),
                None => before = line.number,
            }
            text.push_str(&line.text[line.indent().min(block.indent)..]);
            ends = Some(line.number);
        }
    }
    text.push('\n');
    (text, before)
}

/// The blocks between fences, of three or more backticks or tildes; the last one may be unclosed.
///
/// A fence may begin after a list marker or prose, and end after the last line of code, which then is without it.
fn fenced(lines: &mut [Line]) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<(char, usize, Block)> = None;
    let mut in_string = false;
    for (at, line) in lines.iter_mut().enumerate() {
        if line.is_prose {
            continue;
        }
        let Some((sign, least, block)) = &mut open else {
            in_string = false;
            if let Some((sign, length, indent)) = opening_fence(line.text) {
                let lines = at + 1..at + 1;
                open = Some((sign, length, Block { lines, indent }));
            }
            continue;
        };
        let text = line.text.trim_end();
        let code = text.trim_end_matches(*sign);
        // Strings, such as docstrings, may contain fences.
        let is_within = in_string && line.indent() > block.indent;
        let quotes = ["\"\"\"", "\'\'\'"].map(|quotes| line.text.matches(quotes).count());
        in_string ^= quotes.iter().sum::<usize>() % 2 == 1;
        if text.len() - code.len() < *least
            || code.contains(&sign.to_string().repeat(3))
            || is_within
        {
            continue;
        }
        block.lines.end = at;
        if !code.trim().is_empty() {
            line.text = code;
            block.lines.end = at + 1;
        }
        blocks.extend(open.take().map(|(_, _, block)| block));
    }
    if let Some((_, _, mut block)) = open {
        block.lines.end = lines.len();
        blocks.push(block);
    }
    // A fence without a line of code, such as a grid or a command, is not a program.
    let holds_code = |block: &Block| {
        let mut lines = lines[block.lines.clone()].iter();
        lines.any(|line| is_statement(line.text.trim()) || is_call(line.text.trim()))
    };
    let (mut blocks, others): (Vec<_>, Vec<_>) = blocks.into_iter().partition(holds_code);
    if blocks.is_empty() {
        for line in others.into_iter().flat_map(|block| block.lines) {
            lines[line].is_prose = true;
        }
    }
    for block in &mut blocks {
        // The code may also be indented like the fence.
        let first = lines[block.lines.clone()]
            .iter()
            .find(|line| !line.text.trim().is_empty());
        block.indent = first.map_or(0, |line| line.indent().min(block.indent));
    }
    blocks
}

/// The character of a fence that begins in a line, its length, and the indentation of its code.
fn opening_fence(text: &str) -> Option<(char, usize, usize)> {
    let (before, sign) = ['`', '~'].into_iter().find_map(|sign| {
        let start = text.find(&sign.to_string().repeat(3))?;
        Some((&text[..start], sign))
    })?;
    let length = text[before.len()..].chars().take_while(|c| *c == sign);
    let length = length.count();
    let rest = text[before.len() + length..].trim();
    let prose = before.trim();
    let is_marked = behind_mark(before).is_some_and(str::is_empty);
    let is_fence = if prose.is_empty() || is_marked {
        !rest.contains('`')
    } else {
        // In prose a language, or a colon before it, tells a fence from code between backticks.
        let is_language = !rest.is_empty() && rest.chars().all(char::is_alphanumeric);
        !prose.contains('`') && (is_language || rest.is_empty() && prose.ends_with(':'))
    };
    let spaces = before.len() - before.trim_start().len();
    is_fence.then_some((sign, length, if is_marked { before.len() } else { spaces }))
}

/// The text after a list marker: a number, a dash, a star or a plus.
fn behind_mark(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let rest = match text.trim_start_matches(|c: char| c.is_ascii_digit()) {
        rest if rest.len() < text.len() => rest.strip_prefix(['.', ')'])?,
        rest => rest.strip_prefix(['-', '*', '+'])?,
    };
    rest.starts_with(' ').then_some(rest.trim_start())
}

/// The text after a label, such as `Answer:` or `Step 1:`, as opposed to a variable with a type: `O` is not a type, and
/// a variable is one word.
fn behind_label(text: &str) -> Option<&str> {
    let (label, rest) = text.split_once(':')?;
    if rest.trim_start().starts_with("def ") && is_statement(rest.trim_start()) {
        return Some(rest.trim_start());
    }
    if label.contains(' ') && !label.contains(['=', '(']) && is_statement(rest.trim_start()) {
        return Some(rest.trim_start());
    }
    let value = rest.trim_start().strip_prefix('O')?.trim_start();
    let is_assigned = value.starts_with('=') && !value.starts_with("==");
    (is_assigned && !label.contains(['=', '('])).then_some(rest.trim_start())
}

/// Blocks of lines that look like code, separated by prose, without list markers and labels.
fn between_prose(lines: &mut [Line]) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    // Whether we are inside a function, and the depth of open brackets.
    let (mut in_function, mut depth) = (false, 0);
    for (at, line) in lines.iter_mut().enumerate() {
        if line.text.trim().is_empty() {
            continue;
        }
        let indent = line.indent();
        let goes_on = open
            .as_ref()
            .is_some_and(|block| depth > 0 || (in_function && indent > block.indent));
        if !goes_on {
            let marked = behind_mark(line.text).filter(|rest| is_statement(rest));
            line.text = marked.unwrap_or(line.text);
            line.text = between_marks(line.text).unwrap_or(line.text);
            line.text = behind_label(line.text).unwrap_or(line.text);
        }
        let inner = line.text.trim();
        if line.is_prose || !goes_on && !is_statement(inner) {
            blocks.extend(open.take());
            continue;
        }
        if !goes_on {
            in_function = inner.starts_with("def ") || inner.starts_with("async def ");
        }
        let lines = at..at;
        let indent = line.indent();
        let block = open.get_or_insert(Block { lines, indent });
        block.lines.end = at + 1;
        let code = inner.split('#').next().unwrap_or(inner);
        let count = |signs: [char; 3]| code.matches(signs).count() as i64;
        depth = (depth + count(['(', '[', '{']) - count([')', ']', '}'])).max(0);
    }
    blocks.extend(open);
    blocks
}

/// The code between backticks within lines of prose, the last in each line, as one block.
fn within_prose(lines: &mut [Line], is_wanted: fn(&str) -> bool) -> Vec<Block> {
    let mut block: Option<Block> = None;
    let mut found = lines.to_vec();
    for (at, line) in found.iter_mut().enumerate() {
        let boxed = line.text.rsplit_once("\\boxed{");
        let boxed = boxed.and_then(|(_, rest)| Some(rest.rsplit_once('}')?.0.trim()));
        let boxed = boxed.map(|it| between_marks(it).unwrap_or(it));
        let parts: Vec<&str> = line.text.split('`').collect();
        // Parts at odd indices are between backticks; those between two adjacent backticks are empty.
        let parts = parts.iter().skip(1).map(|part| part.trim());
        let mut code = parts.filter_map(|part| {
            let behind_language = part.split_once(' ').map_or(part, |(_, rest)| rest);
            [part, behind_language].into_iter().find(|it| is_wanted(it))
        });
        let boxed = boxed.filter(|it| is_wanted(it));
        match code.next_back().or(boxed) {
            Some(code) => line.text = code,
            None => line.is_prose = true,
        }
        if !line.is_prose {
            let block = block.get_or_insert(Block {
                lines: at..at,
                indent: 0,
            });
            block.lines.end = at + 1;
        }
    }
    if block.is_some() {
        lines.copy_from_slice(&found);
    }
    block.into_iter().collect()
}

/// Whether a line begins like a relevant Python statement, and unlike most prose.
fn is_statement(line: &str) -> bool {
    let is_import = line.starts_with("import ") || line.starts_with("from ");
    if is_import {
        return line.starts_with("import ") && line.split(' ').count() <= 4
            || line.contains(" import ");
    }
    if line.starts_with("def ") || line.starts_with("async def ") {
        return line.contains('(');
    }
    if line.starts_with(['@', '#']) {
        return true;
    }
    let Some((targets, value)) = line.split_once('=') else {
        return false;
    };
    let is_name = |name: &str| {
        let name = name.split(':').next().unwrap_or(name).trim();
        let mut letters = name.chars();
        let is_start = |c: char| c == '_' || c.is_alphabetic();
        letters.next().is_some_and(is_start) && letters.all(|c| c == '_' || c.is_alphanumeric())
    };
    !value.starts_with('=') && targets.split(',').all(is_name)
}
