//! Parses the text of a form, so that tests can write forms down. Programs are compiled to forms, never read as such.

use super::{Form, Fused, Id, Instruction, Op, Operand, Region, Type};
use arc_dsl::{ErrorKind, Primitive, Value, ValueKind};
use arc_text::{ParseError, parse_value};

/// An error in the text of a form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
#[non_exhaustive]
pub struct FormError {
    /// The line of the error, counted from 1.
    pub line: usize,
    /// What is wrong and what was expected.
    pub message: String,
}

/// Parses a form from the text that [`Form`] prints, and checks it by [`Form::verify`].
///
/// ```
/// let text = "form solve_twice(v0: grid):\n  v1: grid = hconcat(v0, v0) @2\n  return v1\n";
/// let read = arc_form::parse(text)?;
/// assert_eq!(read.to_string(), text);
/// let error = arc_form::parse("form solve_twice(v0: grid):\n  v1: grid = hconcatt(v0) @2\n");
/// assert_eq!(error.unwrap_err().to_string(), "line 2: unknown operation `hconcatt`");
/// # Ok::<(), arc_form::FormError>(())
/// ```
pub fn parse(text: &str) -> Result<Form, FormError> {
    let mut parser = Parser {
        lines: text.trim_end().lines().collect(),
        at: 0,
        ids: 0,
    };
    let form = parser.form().map_err(|message| FormError {
        line: parser.at.max(1),
        message,
    })?;
    form.verify().map_err(|fault| FormError {
        line: parser.at,
        message: fault.to_string(),
    })?;
    Ok(form)
}

/// The deepest nesting of regions, and of types.
const DEPTH: usize = 100;

struct Parser<'t> {
    lines: Vec<&'t str>,
    /// The line that was read last, counted from 1.
    at: usize,
    ids: u32,
}

impl<'t> Parser<'t> {
    fn next(&mut self) -> Result<&'t str, String> {
        let line = self
            .lines
            .get(self.at)
            .ok_or("the text ends within a form")?;
        self.at += 1;
        Ok(line.trim())
    }

    fn form(&mut self) -> Result<Form, String> {
        let head = self.next()?;
        let (name, parameters) = head
            .strip_prefix("form ")
            .and_then(|rest| rest.strip_suffix("):"))
            .and_then(|rest| rest.split_once('('))
            .ok_or("expected `form NAME(v0: grid):`")?;
        let parameters = self.parameters(parameters)?;
        let body = self.region(parameters, "return", 0)?;
        if let Some(line) = self.lines.get(self.at) {
            self.at += 1;
            return Err(format!(
                "expected the end of the form, found `{}`",
                line.trim()
            ));
        }
        Ok(Form {
            name: name.to_owned(),
            body,
            ids: self.ids,
        })
    }

    /// The rest of a region; its result follows the word `ending`.
    fn region(
        &mut self,
        parameters: Vec<(Id, Type)>,
        ending: &str,
        depth: usize,
    ) -> Result<Region, String> {
        if depth > DEPTH {
            return Err(format!("regions nest deeper than {DEPTH}"));
        }
        let mut instructions = Vec::new();
        loop {
            let line = self.next()?;
            let result = line.strip_prefix(ending);
            if let Some(result) = result.and_then(|rest| rest.strip_prefix(' ')) {
                return Ok(Region {
                    parameters,
                    instructions,
                    result: operand(result)?,
                    calls: 0,
                });
            }
            instructions.push(self.instruction(line, depth)?);
        }
    }

    fn instruction(&mut self, line: &'t str, depth: usize) -> Result<Instruction, String> {
        let (left, right) = line
            .split_once(" = ")
            .ok_or("expected `vN: TYPE = OPERATION(..) @LINE`, `yield` or `return`")?;
        let (id, ty) = left
            .split_once(": ")
            .ok_or("expected `vN: TYPE` before `=`")?;
        let id = self.id(id)?;
        let (ty, checked) = match ty.strip_suffix('!') {
            Some(ty) => (ty, true),
            None => (ty, false),
        };
        let (name, rest) = right.split_once('(').ok_or("expected `OPERATION(`")?;
        let end = closing(rest).ok_or("expected `)`")?;
        let (inside, rest) = (&rest[..end], rest[end + 1..].trim());
        let rest = rest.strip_prefix('@').ok_or("expected `@LINE` after `)`")?;
        let (number, mut rest) = rest.split_once(' ').unwrap_or((rest, ""));
        let line = number
            .parse()
            .map_err(|_| format!("expected a line, found `{number}`"))?;
        let op = operation(name, inside)?;
        let arguments = match op {
            Op::Fail(..) => Vec::new(),
            _ => operands(inside)?,
        };
        let mut regions = Vec::new();
        while let Some(opened) = rest.trim().strip_prefix('{') {
            let parameters = match opened.strip_suffix("->") {
                Some(parameters) => self.parameters(parameters)?,
                None if opened.is_empty() => Vec::new(),
                None => return Err("expected `->` after a region's parameters".to_owned()),
            };
            regions.push(self.region(parameters, "yield", depth + 1)?);
            let after = self.next()?.strip_prefix('}').ok_or("expected `}`")?;
            rest = after.trim();
        }
        if !rest.is_empty() {
            return Err(format!("expected the end of the line, found `{rest}`"));
        }
        Ok(Instruction {
            id,
            ty: whole_type(ty)?,
            checked,
            op,
            arguments,
            regions,
            line,
        })
    }

    fn parameters(&mut self, text: &str) -> Result<Vec<(Id, Type)>, String> {
        split(text)
            .into_iter()
            .map(|part| {
                let (id, ty) = part.split_once(": ").ok_or("expected `vN: TYPE`")?;
                Ok((self.id(id)?, whole_type(ty.trim())?))
            })
            .collect()
    }

    /// The id of a new value. Ids that would leave a form full of gaps are rejected.
    fn id(&mut self, text: &str) -> Result<Id, String> {
        let id = id(text).ok_or_else(|| format!("expected `vN`, found `{text}`"))?;
        if id.index() > 64 * self.lines.len() + 64 {
            return Err(format!("`{text}` is far past the number of instructions"));
        }
        self.ids = self.ids.max(id.0 + 1);
        Ok(id)
    }
}

fn id(text: &str) -> Option<Id> {
    let digits = text.trim().strip_prefix('v')?;
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| digits.parse().ok().filter(|n| *n < u32::MAX).map(Id))?
}

fn operand(text: &str) -> Result<Operand, String> {
    match id(text) {
        Some(id) => Ok(Operand::Id(id)),
        None => match parse_constant(text) {
            Ok(value) => Ok(Operand::Constant(value)),
            Err(error) => Err(format!("expected `vN` or a value: {error}")),
        },
    }
}

fn parse_constant(text: &str) -> Result<Value, ParseError> {
    let Some(rows) = text.strip_prefix("grid") else {
        return parse_value(text);
    };
    let rows = parse_value(rows)?;
    Ok(rows
        .as_grid()
        .map_or(rows.clone(), |grid| Value::from(grid.into_owned())))
}

fn operands(text: &str) -> Result<Vec<Operand>, String> {
    split(text).into_iter().map(operand).collect()
}

/// The index of the bracket that closes the one at the start.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0i32;
    text.bytes().position(|byte| {
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        depth < 0
    })
}

/// The parts between top-level commas.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0i32, 0);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' | b'{' | b'<' => depth += 1,
            b')' | b'}' | b'>' => depth -= 1,
            b',' if depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    let last = text[start..].trim();
    if !last.is_empty() {
        parts.push(last);
    }
    parts
}

fn operation(name: &str, inside: &str) -> Result<Op, String> {
    let (word, suffix) = match name.split_once('.') {
        Some((word, suffix)) => (word, Some(suffix)),
        None => (name, None),
    };
    let unknown = || format!("unknown operation `{name}`");
    let primitive = |name: &str| Primitive::from_name(name).ok_or_else(unknown);
    Ok(match (word, suffix) {
        ("tuple", None) => Op::Tuple,
        ("if", None) => Op::If,
        ("choose", None) => Op::Choose,
        ("absent", None) => Op::Absent,
        ("item", Some(at)) => Op::Item(at.parse().map_err(|_| unknown())?),
        ("iterate", None) => Op::Iterate,
        ("count", None) => Op::Count,
        ("set", None) => Op::Set,
        ("fail", None) => Op::Fail(None, failure(inside)?),
        ("fail", Some(name)) => Op::Fail(Some(primitive(name)?), failure(inside)?),
        (name, None) => match Fused::ALL.iter().find(|fused| fused.name() == name) {
            Some(fused) => Op::Fused(*fused),
            None => Op::Call(primitive(name)?),
        },
        _ => return Err(unknown()),
    })
}

fn failure(text: &str) -> Result<ErrorKind, String> {
    let unknown = || format!("expected a failure, found `{text}`");
    let number = |word: &str| word.parse().map_err(|_| unknown());
    let words: Vec<_> = text.split(' ').collect();
    Ok(match words.as_slice() {
        ["Type", argument, expected, found] => ErrorKind::Type {
            argument: number(argument)?,
            expected: arc_dsl::Type::ALL
                .iter()
                .copied()
                .find(|ty| ty.name() == *expected)
                .ok_or_else(unknown)?,
            found: kind(found).ok_or_else(unknown)?,
        },
        ["NotCallable", found] => ErrorKind::NotCallable {
            found: kind(found).ok_or_else(unknown)?,
        },
        ["ArgumentCount", expected, found] => ErrorKind::ArgumentCount {
            expected: number(expected)?,
            found: number(found)?,
        },
        ["Recursion", n] => ErrorKind::Recursion(n.parse().map_err(|_| unknown())?),
        ["Empty"] => ErrorKind::Empty,
        _ => return Err(unknown()),
    })
}

fn kind(word: &str) -> Option<ValueKind> {
    use ValueKind as K;
    [
        K::Nothing,
        K::Boolean,
        K::Integer,
        K::Pair,
        K::Cell,
        K::Grid,
        K::Tuple,
        K::Indices,
        K::Object,
        K::EmptySet,
        K::Set,
        K::Function,
        K::Container,
    ]
    .into_iter()
    .find(|kind| format!("{kind:?}") == word)
}

fn whole_type(text: &str) -> Result<Type, String> {
    type_within(text, 0).ok_or_else(|| format!("unknown type `{text}`"))
}

fn type_within(text: &str, depth: usize) -> Option<Type> {
    if depth > DEPTH {
        return None;
    }
    let element = |prefix: &str| {
        let inside = text.strip_prefix(prefix)?.strip_suffix('>')?;
        type_within(inside, depth + 1)
    };
    Some(match text {
        "never" => Type::Never,
        "bool" => Type::Bool,
        "int" => Type::Int,
        "int?" => Type::MaybeInt,
        "pair" => Type::Pair,
        "pair?" => Type::MaybePair,
        "cell" => Type::Cell,
        "grid" => Type::Grid,
        "indices" => Type::Indices,
        "object" => Type::Object,
        "patch" => Type::Patch,
        _ if text.starts_with("set<") => Type::set_of(element("set<")?),
        _ if text.starts_with("tuple<") => Type::tuple_of(element("tuple<")?),
        _ => {
            let inside = text.strip_prefix('(')?.strip_suffix(')')?;
            let items = split(inside);
            let items: Option<Vec<_>> = items
                .into_iter()
                .map(|item| type_within(item, depth + 1))
                .collect();
            Type::fixed(items?)
        }
    })
}
