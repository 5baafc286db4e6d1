//! The code in what a model writes: fenced, or between lines of prose.

use std::ops::Range;

use arc_dsl::{Dialect, ParseError, Program, parse_file};

type Parsed = Result<Program, ParseError>;

/// The programs of a text in their order, with its lines.
///
/// Each block of code is read for itself, and where no program of it can be read, below the blocks before it, in which
/// its functions may be.
pub(super) fn programs(text: &str, dialect: Option<Dialect>) -> Vec<Parsed> {
    let lines: Vec<&str> = text.lines().collect();
    let blocks = fenced(&lines).unwrap_or_else(|| {
        // What is code alone needs no look at its lines.
        let whole = parse(text, dialect);
        if !whole.is_empty() && whole.iter().all(Result::is_ok) {
            return Blocks::Read(whole);
        }
        match between_prose(&lines) {
            blocks if blocks.is_empty() => Blocks::Read(whole),
            blocks => Blocks::Code(blocks),
        }
    });
    let blocks = match blocks {
        Blocks::Read(programs) => return programs,
        Blocks::Code(blocks) => blocks,
    };
    let mut programs = Vec::new();
    for (at, block) in blocks.iter().enumerate() {
        let mut read = parse(&laid_out(&lines, &blocks[at..=at]), dialect);
        if at > 0 && !read.iter().any(Result::is_ok) {
            let below = parse(&laid_out(&lines, &blocks[..=at]), dialect);
            let own: Vec<_> = below.into_iter().filter(|it| block.has(it)).collect();
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

enum Blocks {
    Read(Vec<Parsed>),
    Code(Vec<Block>),
}

/// Lines of code that stand together.
#[derive(Debug, PartialEq, Eq)]
struct Block {
    lines: Range<usize>,
    /// How many spaces stand before all of it.
    indent: usize,
}

impl Block {
    /// Whether a program or an error is of these lines.
    fn has(&self, parsed: &Parsed) -> bool {
        let line = match parsed {
            Ok(program) => program
                .steps()
                .first()
                .map_or(program.line(), |step| step.line),
            Err(error) => error.line,
        };
        self.lines.contains(&(line as usize).saturating_sub(1))
    }
}

/// The lines of blocks, each where it is in the text: what is said of a line is of that one.
fn laid_out(lines: &[&str], blocks: &[Block]) -> String {
    let mut text = String::new();
    let mut at = 0;
    for block in blocks {
        text.extend(std::iter::repeat_n('\n', block.lines.start - at));
        for line in &lines[block.lines.clone()] {
            let spaces = line.len() - line.trim_start_matches(' ').len();
            text.push_str(&line[spaces.min(block.indent)..]);
            text.push('\n');
        }
        at = block.lines.end;
    }
    text
}

/// The blocks between fences, three backticks or tildes and more; the last one may have no end. `None` if there
/// is no fence.
fn fenced(lines: &[&str]) -> Option<Blocks> {
    let mut blocks = Vec::new();
    let mut open: Option<(char, usize, Block)> = None;
    for (at, line) in lines.iter().enumerate() {
        let inner = line.trim_start();
        let Some(sign @ ('`' | '~')) = inner.chars().next() else {
            continue;
        };
        let length = inner.len() - inner.trim_start_matches(sign).len();
        let rest = inner[length..].trim();
        match &mut open {
            Some((mark, least, block)) if sign == *mark && length >= *least && rest.is_empty() => {
                block.lines.end = at;
                blocks.extend(open.take().map(|(_, _, block)| block));
            }
            None if length >= 3 && !rest.contains('`') => {
                let indent = line.len() - inner.len();
                let lines = at + 1..at + 1;
                open = Some((sign, length, Block { lines, indent }));
            }
            _ => {}
        }
    }
    if let Some((_, _, mut block)) = open {
        block.lines.end = lines.len();
        blocks.push(block);
    }
    (!blocks.is_empty()).then_some(Blocks::Code(blocks))
}

/// The lines that look like code, where lines of prose stand between them.
fn between_prose(lines: &[&str]) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    // Whether a function is under way, and brackets that are open.
    let (mut in_function, mut depth) = (false, 0);
    for (at, line) in lines.iter().enumerate() {
        let inner = line.trim();
        if inner.is_empty() {
            continue;
        }
        let indent = line.len() - line.trim_start_matches(' ').len();
        let goes_on = open.as_ref().is_some_and(|block| {
            depth > 0 || (in_function && (indent > block.indent || line.starts_with('\t')))
        });
        if !goes_on && !is_statement(inner) {
            blocks.extend(open.take());
            continue;
        }
        if !goes_on {
            in_function = inner.starts_with("def ");
        }
        let lines = at..at;
        let block = open.get_or_insert(Block { lines, indent });
        block.lines.end = at + 1;
        let code = inner.split('#').next().unwrap_or(inner);
        let count = |signs: [char; 3]| code.matches(signs).count() as i64;
        depth = (depth + count(['(', '[', '{']) - count([')', ']', '}'])).max(0);
    }
    blocks.extend(open);
    blocks
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
