//! The code in what a model writes: fenced, or between lines of prose.

use std::ops::Range;

use arc_dsl::{Dialect, ParseError, Program, parse_file};

type Parsed = Result<Program, ParseError>;

/// The programs of a text in their order, with its lines.
///
/// Each block of code is read for itself, and where no program of it can be read, below the blocks before it, in which
/// its functions may be. What stands within a line of prose is looked at last.
pub(super) fn programs(text: &str, dialect: Option<Dialect>) -> Vec<Parsed> {
    let mut lines: Vec<Line> = text.lines().enumerate().flat_map(parts).collect();
    let mut blocks = fenced(&mut lines);
    if blocks.is_empty() {
        // What is code alone needs no look at its lines.
        let whole = parse(text, dialect);
        if !whole.is_empty() && whole.iter().all(Result::is_ok) {
            return whole;
        }
        blocks = between_prose(&mut lines);
        if blocks.is_empty() {
            blocks = within_prose(&mut lines);
        }
        if blocks.is_empty() {
            return whole;
        }
    }
    let mut programs = Vec::new();
    for (at, block) in blocks.iter().enumerate() {
        let mut read = parse(&laid_out(&lines, &blocks[at..=at]), dialect);
        if at > 0 && !read.iter().any(Result::is_ok) {
            let below = parse(&laid_out(&lines, &blocks[..=at]), dialect);
            let own = below.into_iter().filter(|it| block.has(&lines, it));
            let own: Vec<_> = own.collect();
            if own.iter().any(Result::is_ok) {
                read = own;
            }
        }
        programs.append(&mut read);
    }
    programs
}

fn parse(text: &str, dialect: Option<Dialect>) -> Vec<Parsed> {
    parse_file(text, dialect, |number| match number {
        1 => "solve".to_owned(),
        _ => format!("solve{number}"),
    })
}

/// A line of the text without the tags around it, or one of these.
#[derive(Debug, Clone, Copy)]
struct Line<'a> {
    number: usize,
    text: &'a str,
    /// Whether it is a tag, or else no code, whatever block it stands in.
    is_prose: bool,
}

impl Line<'_> {
    fn indent(&self) -> usize {
        self.text.len() - self.text.trim_start_matches(' ').len()
    }
}

/// The tags before a line, the line, and the tags behind it: of XML, as `<answer>`, and the ends of messages, as
/// `<|im_end|>`.
fn parts((number, line): (usize, &str)) -> Vec<Line<'_>> {
    let part = |text, is_prose| Line {
        number,
        text,
        is_prose,
    };
    let mut parts = Vec::new();
    let mut text = line;
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

/// Whether a text is one tag, and no comparison.
fn is_tag(text: &str) -> bool {
    let inner = text.strip_prefix('<').and_then(|it| it.strip_suffix('>'));
    inner.is_some_and(|inner| {
        let is_start = |c: char| !c.is_whitespace() && !c.is_ascii_digit();
        inner.starts_with(is_start) && !inner.contains(['<', '>', '(', ')', '['])
    })
}

/// Lines of code that stand together.
#[derive(Debug)]
struct Block {
    lines: Range<usize>,
    /// How many spaces stand before all of it.
    indent: usize,
}

impl Block {
    /// Whether a program or an error is of these lines.
    fn has(&self, lines: &[Line], parsed: &Parsed) -> bool {
        let line = match parsed {
            Ok(program) => program
                .steps()
                .first()
                .map_or(program.line(), |step| step.line),
            Err(error) => error.line,
        };
        let number = (line as usize).saturating_sub(1);
        lines[self.lines.clone()]
            .iter()
            .any(|it| it.number == number)
    }
}

/// The lines of blocks, each where it is in the text: what is said of a line is of that one.
fn laid_out(lines: &[Line], blocks: &[Block]) -> String {
    let mut text = String::new();
    let mut at = 0;
    for block in blocks {
        let code = lines[block.lines.clone()]
            .iter()
            .filter(|line| !line.is_prose);
        for line in code {
            text.extend(std::iter::repeat_n('\n', line.number - at));
            text.push_str(&line.text[line.indent().min(block.indent)..]);
            at = line.number;
        }
    }
    text.push('\n');
    text
}

/// The blocks between fences, three backticks or tildes and more; the last one may have no end.
///
/// A fence may begin behind the sign of a list or behind prose, and end behind the last line of code, which is without
/// it then.
fn fenced(lines: &mut [Line]) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<(char, usize, Block)> = None;
    for (at, line) in lines.iter_mut().enumerate() {
        if line.is_prose {
            continue;
        }
        let Some((sign, least, block)) = &mut open else {
            if let Some((sign, length, indent)) = opening_fence(line.text) {
                let lines = at + 1..at + 1;
                open = Some((sign, length, Block { lines, indent }));
            }
            continue;
        };
        let text = line.text.trim_end();
        let code = text.trim_end_matches(*sign);
        if text.len() - code.len() < *least || code.contains(&sign.to_string().repeat(3)) {
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
    for block in &mut blocks {
        // Code may also begin where the line of the fence does.
        let first = lines[block.lines.clone()]
            .iter()
            .find(|line| !line.text.trim().is_empty());
        block.indent = first.map_or(0, |line| line.indent().min(block.indent));
    }
    blocks
}

/// The sign of a fence that begins in a line, how often it stands there, and how many spaces stand before code.
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
        // Within prose, a language or a colon before tells it from code between backticks.
        let is_language = !rest.is_empty() && rest.chars().all(char::is_alphanumeric);
        !prose.contains('`') && (is_language || rest.is_empty() && prose.ends_with(':'))
    };
    let spaces = before.len() - before.trim_start().len();
    is_fence.then_some((sign, length, if is_marked { before.len() } else { spaces }))
}

/// What stands behind the sign of an entry of a list: a number, a dash, a star or a plus.
fn behind_mark(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let rest = match text.trim_start_matches(|c: char| c.is_ascii_digit()) {
        rest if rest.len() < text.len() => rest.strip_prefix(['.', ')'])?,
        rest => rest.strip_prefix(['-', '*', '+'])?,
    };
    rest.starts_with(' ').then_some(rest.trim_start())
}

/// What stands behind words that name it, as `Answer:` does: `O` is no type.
fn behind_label(text: &str) -> Option<&str> {
    let (label, rest) = text.split_once(':')?;
    let value = rest.trim_start().strip_prefix('O')?.trim_start();
    let is_assigned = value.starts_with('=') && !value.starts_with("==");
    (is_assigned && !label.contains(['=', '('])).then_some(rest.trim_start())
}

/// The lines that look like code, where lines of prose stand between them, without signs of lists and words before.
fn between_prose(lines: &mut [Line]) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    // Whether a function is under way, and brackets that are open.
    let (mut in_function, mut depth) = (false, 0);
    for (at, line) in lines.iter_mut().enumerate() {
        let is_tabbed = line.text.starts_with('\t');
        if line.text.trim().is_empty() {
            continue;
        }
        let indent = line.indent();
        let goes_on = open.as_ref().is_some_and(|block| {
            depth > 0 || (in_function && (indent > block.indent || is_tabbed))
        });
        if !goes_on {
            let marked = behind_mark(line.text).filter(|rest| is_statement(rest));
            line.text = marked.unwrap_or(line.text);
            line.text = behind_label(line.text).unwrap_or(line.text);
        }
        let inner = line.text.trim();
        if line.is_prose || !goes_on && !is_statement(inner) {
            blocks.extend(open.take());
            continue;
        }
        if !goes_on {
            in_function = inner.starts_with("def ");
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

/// The code between backticks within lines of prose, the last of each line, as one block.
fn within_prose(lines: &mut [Line]) -> Vec<Block> {
    let mut block: Option<Block> = None;
    for (at, line) in lines.iter_mut().enumerate() {
        let parts: Vec<&str> = line.text.split('`').collect();
        // Parts at odd places are between backticks, and empty ones between two of several in a row.
        let parts = parts.iter().skip(1).map(|part| part.trim());
        let mut code = parts.filter_map(|part| {
            let behind_language = part.split_once(' ').map_or(part, |(_, rest)| rest);
            [part, behind_language]
                .into_iter()
                .find(|it| is_statement(it))
        });
        match code.next_back() {
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
    block.into_iter().collect()
}

/// Whether a line begins as Python's do that are of use here, and seldom as prose does.
fn is_statement(line: &str) -> bool {
    let is_import = line.starts_with("import ") || line.starts_with("from ");
    if is_import {
        return line.starts_with("import ") && line.split(' ').count() <= 4
            || line.contains(" import ");
    }
    if line.starts_with("def ") {
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
