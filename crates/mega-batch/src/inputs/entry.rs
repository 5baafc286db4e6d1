//! Which function of a text is its program, and whether that is of the DSL or may be free Python: one rule for files, rows
//! of tables and answers of models. `recognise.py` has the same of names.

use std::collections::HashSet;
use std::sync::Arc;

use arc_dsl::{Primitive, Program};
use arc_tasks::is_arc_id;
use arc_text::{ParseError, ParseErrorKind, ProgramText, says_program};

use super::modules::list_names;

pub(super) type Parsed = Result<Program, ParseError>;

/// A function of a text that may be its program.
pub(super) struct Function {
    /// Its name; empty for an error elsewhere in the text.
    pub(super) name: String,
    /// Whether another one calls it.
    is_called: bool,
    pub(super) read: Parsed,
    /// The code that it is in.
    code: Arc<str>,
}

/// The functions of a text that was read as code.
pub(super) fn functions(parsed: ProgramText, code: &Arc<str>) -> Vec<Function> {
    let named = parsed.names.into_iter().zip(parsed.programs);
    let functions = named.map(|((name, is_called), read)| Function {
        name,
        is_called,
        read,
        code: Arc::clone(code),
    });
    functions.collect()
}

/// How much a name says that a function is the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// The name of a helper or a test.
    None,
    /// One that begins as programs are called, such as `solve_corners`.
    Begins,
    /// One of programs alone, such as `transform`, `solve2` or `solve_ID`.
    Entry,
}

/// What programs are called, apart from numbers and ids.
const ENTRIES: &str = "transform solve main p generate_puzzle_output program solution";

/// Whether a name is one of these, perhaps with a number or a version.
fn is_entry(name: &str) -> bool {
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let name = name.strip_suffix("_v").unwrap_or(name);
    let name = name.strip_suffix('_').unwrap_or(name);
    ENTRIES.split(' ').any(|entry| entry == name)
}

/// Whether a name is that of programs alone.
pub(super) fn is_program(name: &str) -> bool {
    rank(name, "") == Rank::Entry
}

/// The rank of a name in a text for the task with this id.
fn rank(name: &str, id: &str) -> Rank {
    let tail = name.rsplit('_').next().unwrap_or_default();
    let has_id = !id.is_empty() && name.strip_suffix(id).is_some_and(|it| it.ends_with('_'));
    if is_entry(name) {
        return Rank::Entry;
    }
    match says_program(name) && !name.starts_with("verify") {
        false => Rank::None,
        true if has_id || is_arc_id(tail) => Rank::Entry,
        true => Rank::Begins,
    }
}

/// The name of the function that a line defines, perhaps by a lambda.
pub(super) fn name_defined(line: &str) -> Option<&str> {
    let Some(rest) = line.strip_prefix("def ") else {
        let (name, value) = line.split_once('=')?;
        return value
            .trim_start()
            .starts_with("lambda")
            .then(|| name.trim_end());
    };
    rest.split('(').next().map(str::trim)
}

/// Whether the text defines a function whose name looks like a program, or contains lines of a program.
pub(super) fn defines_programs(text: &str) -> bool {
    let mut lines = text.lines();
    lines.any(|line| {
        name_defined(line).is_some_and(|name| says_program(name) || is_program(name))
            || line.starts_with("O =")
            || line.starts_with("O=")
            || (!line.starts_with(char::is_whitespace) && line.contains("(I"))
    })
}

/// Whether a text may be free Python.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FreePython {
    /// It is not.
    No,
    /// All that is wrong with it as a program of the DSL are names, which a prelude may have.
    OfPrelude,
    /// It may be. A pool knows.
    Maybe,
    /// It may be, and calls nothing of the DSL.
    Likely,
}

impl FreePython {
    /// Whether to ask a pool.
    pub fn is_asked(self, has_prelude: bool) -> bool {
        self >= if has_prelude {
            Self::OfPrelude
        } else {
            Self::Maybe
        }
    }
}

/// What counts of the functions of a text.
pub(super) struct Chosen {
    /// Its entries or, if it has none, all that may be programs.
    pub(super) programs: Vec<Parsed>,
    /// Whether the last of them cannot be read, and may be free Python.
    pub(super) python: FreePython,
    /// The names of the others: helpers beside an entry.
    pub(super) helpers: Vec<String>,
}

impl Chosen {
    /// What counts of the functions of a file or a row for the task with this id, if that is known. They may be programs for
    /// several tasks, as tables and comments of the text say, or their names.
    pub(super) fn of(functions: Vec<Function>, id: &str, has_table: bool) -> Self {
        let best = functions.iter().map(|it| rank(&it.name, id)).max();
        let is_best = |it: &Function| Some(rank(&it.name, id)) == best;
        let named: HashSet<_> = functions
            .iter()
            .filter(|it| !it.name.is_empty() && is_best(it) && !is_entry(&it.name))
            .map(|it| &it.name)
            .collect();
        let has_task = |it: &Function| it.read.as_ref().is_ok_and(|it| it.task().is_some());
        // Other tables are parts of a program.
        let has_table = has_table && !functions.iter().any(|it| is_entry(&it.name));
        let is_collection = has_table || named.len() > 1 || functions.iter().any(has_task);
        let is_program = |it: &Function| is_collection || it.name.is_empty() || is_best(it);
        let (functions, helpers) = functions.into_iter().partition(is_program);
        let mut chosen = Self::among(functions, helpers);
        if is_collection && chosen.programs.iter().any(Result::is_ok) {
            chosen.python = FreePython::No;
        }
        chosen
    }

    /// What counts of the functions of an answer, which is one program.
    pub(super) fn of_answer(functions: Vec<Function>) -> Self {
        let rank = |it: &Function| match rank(&it.name, "") {
            Rank::Begins if it.is_called => Rank::None,
            rank => rank,
        };
        let best = functions.iter().map(rank).max();
        let is_program = |it: &Function| it.name.is_empty() || Some(rank(it)) == best;
        let (functions, helpers): (Vec<_>, _) = functions.into_iter().partition(is_program);
        // Which of several functions without the name of a program is one, Python does not know either.
        let is_vague = best == Some(Rank::None)
            && functions
                .iter()
                .rfind(|it| !it.name.is_empty())
                .is_some_and(|last| {
                    let mut others = functions
                        .iter()
                        .filter(|it| Arc::ptr_eq(&it.code, &last.code));
                    others.any(|it| it.read.is_ok())
                });
        let mut chosen = Self::among(functions, helpers);
        if is_vague {
            chosen.python = FreePython::No;
        }
        chosen
    }

    /// A note on the helpers.
    pub(super) fn helpers_note(&self) -> Option<String> {
        let names = list_names(self.helpers.iter().map(String::as_str))?;
        Some(format!(
            "no programs, since another function has the name of one: {names}"
        ))
    }

    fn among(functions: Vec<Function>, helpers: Vec<Function>) -> Self {
        let last = functions.iter().rfind(|it| !it.name.is_empty());
        let has_readable = functions.iter().any(|it| it.read.is_ok());
        let python = match last {
            Some(last) if last.read.is_ok() => FreePython::No,
            Some(last) if has_readable => free_python(&last.code, &last.name, &[&last.read]),
            last => {
                let mut code: Vec<_> = functions.iter().map(|it| &*it.code).collect();
                code.dedup_by(|one, other| std::ptr::eq(*one, *other));
                let name = last.map_or("", |it| &it.name);
                let read: Vec<_> = functions.iter().map(|it| &it.read).collect();
                free_python(&code.join("\n"), name, &read)
            }
        };
        Self {
            programs: functions.into_iter().map(|it| it.read).collect(),
            python,
            helpers: helpers.into_iter().map(|it| it.name).collect(),
        }
    }
}

/// Whether code without a readable program of the DSL may have one in free Python. It has none if all that is wrong with
/// what was `read` are names that Python does not know either, as in a program of the DSL with a misspelt primitive.
fn free_python(code: &str, name: &str, read: &[&Parsed]) -> FreePython {
    let is_misspelt = |program: &Parsed| match program {
        Ok(_) => true,
        Err(error) => match &error.kind {
            ParseErrorKind::Unknown { name, .. } => {
                !BUILTINS.split(' ').any(|known| known == name)
                    && !name.starts_with(char::is_uppercase)
            }
            _ => false,
        },
    };
    let has_function = code.contains("def ") || code.contains("lambda");
    // As where an answer ends too early.
    let is_cut = |program: &Parsed| {
        let kind = program.as_ref().err().map(|error| &error.kind);
        matches!(
            kind,
            Some(ParseErrorKind::UnclosedBracket { .. } | ParseErrorKind::UnclosedString { .. })
        )
    };
    let is_cut = read.iter().any(|it| is_cut(it));
    let is_misspelt = read.iter().all(|it| is_misspelt(it)) && !code.contains("import *");
    let imports_dsl = code.lines().any(|line| {
        let mut words = line.split([' ', '.', ',']);
        matches!(words.next(), Some("from" | "import"))
            && matches!(words.next(), Some("dsl" | "constants" | "arc_types"))
    });
    match (has_function && !imports_dsl, is_misspelt) {
        (false, _) => FreePython::No,
        (true, true) => FreePython::OfPrelude,
        (true, false) if is_cut || calls_dsl(code, name) => FreePython::Maybe,
        (true, false) => FreePython::Likely,
    }
}

/// Whether the last function with this name calls a primitive by a name that the code does not bind.
fn calls_dsl(code: &str, name: &str) -> bool {
    let defines = |line: &&str| {
        let rest = line.strip_prefix("def ").unwrap_or(line);
        rest.strip_prefix(name)
            .is_some_and(|rest| rest.trim_start().starts_with(['(', '=']))
    };
    let lines: Vec<_> = code.lines().collect();
    let begins = lines.iter().rposition(defines).unwrap_or(0);
    let is_inner = |line: &&&str| line.is_empty() || line.starts_with([' ', '\t', ')', '#']);
    let inner = lines[begins..].iter().skip(1).take_while(is_inner);
    let body = lines[begins..].iter().take(1).chain(inner);
    let is_bound = |name: &str| {
        let before = ["def ", "for ", "import "].map(|before| format!("{before}{name}"));
        before.iter().any(|it| code.contains(it)) || code.contains(&format!("{name} ="))
    };
    let before = body.flat_map(|line| line.match_indices('(').map(move |(at, _)| &line[..at]));
    let called = before.filter_map(|before| {
        let is_sign = |c: char| c != '_' && !c.is_alphanumeric();
        let start = before.rfind(is_sign).map_or(0, |at| at + 1);
        let called = &before[start..];
        let is_method = before[..start].ends_with('.');
        (!is_method && Primitive::from_name(called).is_some()).then_some(called)
    });
    let called: HashSet<_> = called.collect();
    !called.into_iter().all(is_bound)
}

/// What Python has without an import, but types of exceptions, and `np`, which a pool adds.
const BUILTINS: &str = "abs aiter all anext any ascii bin bool breakpoint bytearray bytes callable chr classmethod compile \
     complex copyright credits delattr dict dir divmod enumerate eval exec exit filter float format frozenset getattr \
     globals hasattr hash help hex id input int isinstance issubclass iter len license list locals map max memoryview \
     min next np numpy object oct open ord pow print property quit range repr reversed round set setattr slice sorted \
     staticmethod str sum super tuple type vars zip";
