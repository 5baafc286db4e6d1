//! [`Module`]: a text with its functions and the bindings of its names; produces its programs.
//!
//! A text is processed twice: first to find what it binds, then function by function, callees before their callers.

mod decorators;
mod dialects;
mod displays;
mod importing;
pub(super) mod imports;
pub(super) mod inlining;
mod inputs;
mod listing;
pub(super) mod lowering;
mod point_free;
mod reading;
mod survey;
mod values;

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use arc_dsl::{Dialect, Program, Value};
use arc_isa::{Primitive, ValueType};

use crate::beside::{Beside, resolved};
use crate::error::{ParseError, ParseErrorKind};
use crate::globals::{Binding, Globals, LATE, Renames, StarImport};
use crate::lexer::{
    Block, Lexer, Mark, Token, TokenKind, closes_strings, is_doubtful, quotes_defs,
};
use crate::module::imports::Imports;
use crate::module::lowering::{Lowering, Parsed};

use crate::names;
use crate::reference;
use crate::tokens::{Tokens, error_at, told};

pub use listing::says_program;

/// How to read the text of programs.
#[derive(Debug, Clone, Default)]
pub struct Reading {
    /// The dialect of all programs; if none is chosen, the names that each program uses decide.
    pub dialect: Option<Dialect>,
    /// The text's names for names of the DSL.
    pub names: Renames,
    /// What modules of the DSL next to the text bind differently from the DSL.
    pub beside: Option<Arc<Beside>>,
    /// How many lines precede the text, if it is a part of another one.
    pub lines_before: u32,
    /// Whether the text is an answer: what stands below a function uses it, and need not work.
    pub is_answer: bool,
}

/// The contents of a text.
#[derive(Debug, Default)]
pub struct ProgramText {
    /// The programs in the order of the text; an error for each that cannot be parsed.
    pub programs: Vec<Result<Program, ParseError>>,
    /// For each of them the name of its function, also of one that cannot be parsed and empty for an error elsewhere; and
    /// whether another function calls it.
    pub names: Vec<(String, bool)>,
    /// Whether a table of the text says of which tasks its functions are.
    pub has_table: bool,
    /// Code that belongs to no program, or that is not read as it seems.
    pub notes: Vec<ParseError>,
    /// Whether it consists of bare lines without a `def`.
    pub is_bare: bool,
}

/// The maximum number of steps of a program, including those of inlined functions.
const MAX_STEPS: usize = 100_000;

/// The maximum number of inlined steps of all functions of a text: a base, and more for each byte of the text.
const MAX_STEPS_OF_TEXT: (usize, usize) = (1_000_000, 4);

/// Blocks are kept in memory up to this many tokens in total; the blocks of a longer text are tokenised again.
const KEPT_TOKENS: usize = 1_000_000;

/// The kind of a [`Definition`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DefinitionKind {
    Def,
    /// A `lambda` whose parameters begin at this token.
    Lambda {
        at: usize,
    },
    /// A value, which begins at this token; `element` selects an element of a tuple, with the tuple's length.
    Value {
        at: usize,
        element: Option<(usize, usize)>,
    },
}

/// The tokens of a block, or where in the text they begin.
#[derive(Debug)]
enum BlockTokens<'t> {
    Block(Rc<Block<'t>>),
    At(Mark),
}

/// A function of a text, or a value that it sets.
#[derive(Debug)]
pub(super) struct Definition<'t> {
    /// Its name.
    pub(super) token: Token<'t>,
    kind: DefinitionKind,
    tokens: BlockTokens<'t>,
    /// When its names are looked up.
    at: u32,
    /// When it is defined.
    defined: u32,
    /// The number of its parameters, and the first one.
    parameters: (usize, &'t str),
    /// The dialect in which it is read as a program.
    dialect: Dialect,
    /// The task that a comment assigns it to.
    task: Option<String>,
    /// Why it cannot be used, whatever its body.
    refused: Option<ParseError>,
}

impl Definition<'_> {
    pub(super) fn is_value(&self) -> bool {
        matches!(self.kind, DefinitionKind::Value { .. })
    }
}

/// What is known of the arguments for which a function is read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) enum Given {
    /// The first one is a grid.
    #[default]
    Grid,
    /// They have these types, as far as these are known.
    Types(Vec<Option<ValueType>>),
    /// Nothing: only the first line is read.
    Nothing,
}

/// Why a function cannot be read that calls itself.
pub(super) const CALLS_ITSELF: &str = "it calls itself";

/// How far the parsing of a function has got.
#[derive(Debug, Clone, Default)]
pub(super) enum ParseState {
    #[default]
    Unread,
    Reading,
    Read(Read),
}

type Read = Result<Rc<Parsed>, ParseError>;

/// A text that is being read.
#[derive(Debug)]
pub(super) struct Module<'t> {
    pub(super) text: &'t str,
    reading: &'t Reading,
    /// Whether functions are read for a search: all are listed, and they have 1 to 4 inputs of any kind.
    pub(super) lists_all: bool,
    /// The package in which it resolves relative imports.
    package: &'t str,
    pub(super) globals: Globals<'t>,
    pub(super) functions: Vec<Definition<'t>>,
    /// For each function and dialect.
    states: Vec<[ParseState; 2]>,
    /// Those that are read for other arguments than grids, with what is known of these; `None` while one is read.
    typed: RefCell<HashMap<(usize, Given), Option<Read>>>,
    /// Whether another function uses it.
    used: RefCell<Vec<bool>>,
    /// The function being parsed.
    current: Cell<usize>,
    /// How many steps have been inlined so far.
    inlined: Cell<usize>,
    /// How many tokens are kept.
    kept: usize,
    /// When the values of the current statement are evaluated.
    pub(super) moment: Option<u32>,
    /// Decorators of the next function.
    pub(super) decorators: Vec<(Token<'t>, Rc<Block<'t>>)>,
    /// Functions by the task id that a table of the text gives them.
    pub(super) table: Vec<(String, usize)>,
    /// The same for functions of the DSL and values, with their lines.
    pub(super) set: Vec<(String, u32, Binding<'t>)>,
    /// The names that occur in classes.
    pub(super) unread: Vec<&'t str>,
    notes: Vec<ParseError>,
    /// What is not the DSL's of the imports in the branches of the current statement.
    pub(super) other_imports: Vec<(Token<'t>, Imports<'t>)>,
    /// The first statement that belongs to no program, and how many others there are.
    passed_over: Option<(Token<'t>, usize)>,
    /// The first statement that ends Python's import, where it begins and why.
    ends: Option<(usize, ParseError)>,
    /// Errors outside of functions, and the offsets where they begin.
    pub(super) errors: Vec<(usize, ParseError)>,
    /// The elements of the text's set displays of constants by those of their sets, collected when first needed.
    displays: OnceCell<HashMap<Vec<String>, Vec<Value>>>,
}

impl<'t> Module<'t> {
    pub(super) fn new(text: &'t str, reading: &'t Reading) -> Self {
        Self {
            text,
            reading,
            lists_all: false,
            package: "",
            globals: Globals::new(reading.beside.clone()),
            functions: Vec::new(),
            states: Vec::new(),
            typed: RefCell::default(),
            used: RefCell::default(),
            current: Cell::new(usize::MAX),
            inlined: Cell::new(0),
            kept: 0,
            moment: None,
            decorators: Vec::new(),
            table: Vec::new(),
            set: Vec::new(),
            unread: Vec::new(),
            notes: Vec::new(),
            other_imports: Vec::new(),
            passed_over: None,
            ends: None,
            errors: Vec::new(),
            displays: OnceCell::new(),
        }
    }

    /// A module that lists all its functions.
    pub(super) fn of_functions(text: &'t str, reading: &'t Reading) -> Self {
        Self {
            lists_all: true,
            ..Self::new(text, reading)
        }
    }

    /// The programs of the text.
    pub(super) fn read(mut self) -> ProgramText {
        self.import_unsaid();
        self.bind_all();
        self.judge_bytes();
        self.take_copies();
        let has_table = !self.table.is_empty();
        let listed = self.listed();
        self.refuse_replaced();
        self.choose_dialects(listed.iter().map(|&(_, at)| at));
        for &(_, at) in &listed {
            self.read_function(at, self.functions[at].dialect);
        }
        self.use_unread();
        self.pass_over_values();
        let mut found: Vec<(usize, Result<Program, ParseError>)> = Vec::new();
        for (name, at) in listed {
            let start = self.functions[at].token.start;
            match self.outcome(name.as_deref(), at) {
                Some(outcome) => found.push((start, outcome)),
                None => self.note_unlisted(at),
            }
        }
        found.extend(self.values());
        let errors = std::mem::take(&mut self.errors).into_iter();
        found.extend(errors.map(|(start, error)| (start, Err(error))));
        found.sort_by_key(|(start, _)| *start);
        self.end_import(&mut found);
        let functions = self.functions.iter();
        let at: HashMap<_, _> = functions
            .zip(0usize..)
            .map(|(it, at)| (it.token.start, at))
            .collect();
        let used = self.used.borrow();
        let name = |(start, entry): &(usize, Result<Program, ParseError>)| {
            let at = at.get(start).copied();
            let name = match entry {
                Ok(program) => program.name().to_owned(),
                Err(_) => told(at.map_or("", |at| self.functions[at].token.text)),
            };
            (name, at.is_some_and(|at| used[at]))
        };
        let names = found.iter().map(name).collect();
        drop(used);
        ProgramText {
            names,
            programs: found.into_iter().map(|(_, entry)| entry).collect(),
            has_table,
            notes: self.notes(),
            is_bare: false,
        }
    }

    /// Removes the programs that there are not if the import ends: all, or of an answer those below.
    fn end_import(&mut self, found: &mut Vec<(usize, Result<Program, ParseError>)>) {
        let Some((end, error)) = self.ends.take().filter(|_| !self.lists_all) else {
            return;
        };
        let is_left = |(start, program): &(usize, Result<_, _>)| {
            program.is_err() || (self.reading.is_answer && *start < end)
        };
        let before = found.len();
        found.retain(is_left);
        if found.len() < before {
            found.push((end, Err(error)));
        }
    }

    /// The notes, with one about all statements that belong to no program.
    fn notes(mut self) -> Vec<ParseError> {
        if let Some((token, others)) = self.passed_over {
            let found = format!("`{}`", told(token.text));
            self.note(token, ParseErrorKind::PassedOver { found, others });
        }
        self.notes.sort_by_key(|note| (note.line, note.column));
        self.notes
    }

    /// The programs of a text without a `def`.
    pub(super) fn read_bare(mut self, name: impl Fn(usize) -> String) -> ProgramText {
        let mut block = Block::default();
        self.lexer().read_lines(&mut block);
        self.import_unsaid();
        for at in 1..block.tokens.len() {
            let [before, token] = [at - 1, at].map(|at| block.tokens[at]);
            let begins = before.kind == TokenKind::Indent || before.is(";");
            if begins && token.is_name("print") {
                self.pass_over(token);
            }
            if begins && (token.is_name("from") || token.is_name("import")) {
                // What is wrong with it is told where the line is parsed.
                let _ = self.import(&block, at);
            }
        }
        let lowering = Lowering::within(&self, &block, self.dialect());
        let programs = lowering.bare(Tokens::new(self.text, &block), name);
        let name = |program: &Result<Program, ParseError>| {
            let program = program.as_ref().ok();
            (
                program.map_or_else(String::new, |program| program.name().to_owned()),
                false,
            )
        };
        ProgramText {
            names: programs.iter().map(name).collect(),
            programs,
            notes: self.notes(),
            is_bare: true,
            ..ProgramText::default()
        }
    }

    fn lexer(&self) -> Lexer<'t> {
        Lexer::behind(self.text, self.reading.lines_before)
    }

    /// The dialect where the text does not imply another one.
    pub(super) fn dialect(&self) -> Dialect {
        self.reading.dialect.unwrap_or_default()
    }

    /// Whether the dialect of a program was chosen: by the caller, or since it is not the default.
    pub(super) fn is_chosen(&self, dialect: Dialect) -> bool {
        self.reading.dialect.is_some() || dialect != Dialect::default()
    }

    /// The DSL's name for this name of the text.
    pub(super) fn ours<'a>(&'a self, name: &'a str) -> &'a str {
        self.reading.names.ours(name)
    }

    pub(super) fn beside(&self) -> Option<&Beside> {
        self.reading.beside.as_deref()
    }

    /// The module beside the text that is imported as `path`: its index, and the modules.
    pub(super) fn module_beside(&self, path: &str) -> Option<(usize, &Beside)> {
        let beside = self.beside()?;
        Some((beside.find(&resolved(self.package, path))?, beside))
    }

    /// Takes names that the text does not import for those of the DSL's modules beside it.
    fn import_unsaid(&mut self) {
        for path in ["dsl", "constants"] {
            if let Some((at, _)) = self.module_beside(path) {
                self.globals.star(0, StarImport::Beside(at));
            }
        }
    }

    pub(super) fn has_no_renames(&self) -> bool {
        self.reading.names == Renames::default()
    }

    pub(super) fn state(&self, at: usize, dialect: Dialect) -> &ParseState {
        &self.states[at][dialect as usize]
    }

    /// Records that the function being parsed uses another one.
    pub(super) fn mark_used(&self, at: usize) {
        if self.current.get() != at {
            self.used.borrow_mut()[at] = true;
        }
    }

    /// The step limit that a program with this many steps would exceed with `more` steps; if none, counts them.
    pub(super) fn exceeded_step_limit(&self, steps: usize, more: usize) -> Option<usize> {
        if steps.saturating_add(more) > MAX_STEPS {
            return Some(MAX_STEPS);
        }
        let (base, each) = MAX_STEPS_OF_TEXT;
        let max = base + each * self.text.len();
        let inlined = self.inlined.get().saturating_add(more);
        self.inlined.set(inlined);
        (inlined > max).then_some(max)
    }

    pub(super) fn note(&mut self, token: Token<'t>, kind: ParseErrorKind) {
        self.notes.push(error_at(self.text, token, kind));
    }

    /// Notes a statement that belongs to no program.
    pub(super) fn pass_over(&mut self, token: Token<'t>) {
        match &mut self.passed_over {
            Some((first, others)) => {
                *others += 1;
                if token.start < first.start {
                    *first = token;
                }
            }
            none => *none = Some((token, 0)),
        }
    }

    /// Notes calls whose values no program uses, and which may do anything in Python.
    fn pass_over_values(&mut self) {
        for at in 0..self.functions.len() {
            let Definition { token, kind, .. } = self.functions[at];
            let DefinitionKind::Value {
                at: value,
                element: None | Some((0, _)),
            } = kind
            else {
                continue;
            };
            let block = self.block(at);
            let mut values = block.tokens[value..]
                .windows(2)
                .take_while(|it| !it[0].ends_statement());
            let calls = values.any(|it| {
                it[1].is("(") && it[0].kind == TokenKind::Name && !MAKE_TYPES.contains(&it[0].text)
            });
            let is_unread = self.states[at]
                .iter()
                .all(|state| matches!(state, ParseState::Unread));
            if value == 0 || !calls || !is_unread {
                continue;
            }
            self.read_function(at, self.dialect());
            if matches!(self.state(at, self.dialect()), ParseState::Read(Err(_))) {
                self.pass_over(token);
            }
        }
    }

    pub(super) fn function(
        &mut self,
        name: Token<'t>,
        kind: DefinitionKind,
        block: Rc<Block<'t>>,
    ) -> usize {
        let defined = self.moment.unwrap_or_else(|| self.globals.now());
        let at = match kind {
            DefinitionKind::Value { .. } => defined,
            _ => LATE,
        };
        let parameters = match kind {
            DefinitionKind::Def => parameters(&block.tokens, 3, ")"),
            DefinitionKind::Lambda { at } => parameters(&block.tokens, at, ":"),
            DefinitionKind::Value { .. } => (0, ""),
        };
        self.functions.push(Definition {
            token: name,
            kind,
            tokens: BlockTokens::Block(block),
            at,
            defined,
            parameters,
            dialect: self.dialect(),
            task: None,
            refused: None,
        });
        self.states.push(Default::default());
        self.used.borrow_mut().push(false);
        self.functions.len() - 1
    }

    /// Finds everything that the text binds.
    fn bind_all(&mut self) {
        let mut lexer = self.lexer();
        let has_global = self.text.contains("global ");
        let has_globals = self.text.contains("globals()");
        let text = self.text;
        let closes = OnceCell::new();
        // Then Python reads it as a string, too.
        let is_quoted =
            |block: &Block<'_>| quotes_defs(block) && *closes.get_or_init(|| closes_strings(text));
        let mut block = Block::default();
        while lexer.next_block(&mut block) {
            let is_def = block.tokens.len() > 2
                && block.tokens[0].text.is_empty()
                && block.tokens[1].is_name("def");
            let mark = lexer.mark();
            let cut = Rc::new(std::mem::take(&mut block));
            if !is_def {
                if let Err(error) = self.top_level(&cut) {
                    self.errors.push((cut.tokens[0].start, error));
                    if !is_quoted(&cut) {
                        lexer.recover();
                    }
                }
                continue;
            }
            let is_wrong = is_doubtful(&cut) && {
                self.definition(&mut Lowering::within(self, &cut, self.dialect()), &cut)
                    .is_err()
            };
            if is_wrong && !is_quoted(&cut) {
                lexer.recover();
            }
            let name = cut.tokens[2];
            if name.kind == TokenKind::Respelled {
                self.respelled(name);
            }
            if name.kind != TokenKind::Name || names::is_keyword(name.text) {
                let mut lowering = Lowering::within(self, &cut, self.dialect());
                let error = self.definition(&mut lowering, &cut).err();
                let start = cut.tokens[0].start;
                self.errors.extend(error.map(|error| (start, error)));
                continue;
            }
            if has_global {
                self.globals_of(&cut);
            }
            if has_globals || self.globals.has_modules() {
                self.parts_set_by(&cut);
            }
            let at = self.function(name, DefinitionKind::Def, Rc::clone(&cut));
            self.functions[at].task = self.task_above(cut.tokens[1].start);
            self.decorated(at, name);
            self.globals.bind(name, Binding::Function(at));
            self.kept += cut.tokens.len();
            if self.kept > KEPT_TOKENS {
                self.functions[at].tokens = BlockTokens::At(mark);
                // Reuse the memory for the next block.
                if let Ok(mut cut) = Rc::try_unwrap(cut) {
                    std::mem::swap(&mut block, &mut cut);
                }
            }
        }
    }

    /// Records what a function may set outside of itself.
    fn globals_of(&mut self, block: &Block<'t>) {
        let statements = block.tokens.split(|token| {
            matches!(token.kind, TokenKind::Newline | TokenKind::Indent)
                || token.is(";")
                || token.is(":")
        });
        for statement in statements {
            if let [global, names @ ..] = statement
                && global.is_name("global")
            {
                for name in names {
                    if name.kind == TokenKind::Respelled {
                        self.respelled(*name);
                    }
                    self.bind_to_other(*name, "a function sets it");
                }
            }
        }
    }

    /// The task named by the comment above.
    fn task_above(&self, start: usize) -> Option<String> {
        let above = self.text.get(..start)?;
        // A form feed may stand before the function.
        let mut above = above.trim_end_matches([' ', '\t', '\x0c']);
        loop {
            above = above
                .strip_suffix('\n')
                .map(|it| it.strip_suffix('\r').unwrap_or(it))?;
            let line = above.rsplit('\n').next().unwrap_or_default();
            if let Some(comment) = line.strip_prefix('#') {
                if let Some(id) = comment.trim_start().strip_prefix("task:") {
                    let id = id.trim();
                    let quoted = id.starts_with('"').then(|| serde_json::from_str(id).ok());
                    return Some(quoted.flatten().unwrap_or_else(|| id.to_owned()));
                }
            } else if !line.starts_with('@') && !line.trim().is_empty() {
                return None;
            }
            above = &above[..above.len() - line.len()];
        }
    }

    /// Replaces definitions that are copies of the reference's functions by the engine's own.
    fn take_copies(&mut self) {
        let mut copies: Vec<(usize, Primitive)> = Vec::new();
        for at in 0..self.functions.len() {
            let function = &self.functions[at];
            if function.kind == DefinitionKind::Def
                && function.refused.is_none()
                && Primitive::from_name(function.token.text).is_some()
                && let Some(primitive) = reference::copied(&self.block(at).tokens)
            {
                copies.push((at, primitive));
            }
        }
        // What a copy calls has to be the DSL's, too.
        loop {
            let before = copies.len();
            let all = copies.clone();
            copies.retain(|&(at, _)| {
                let block = self.block(at);
                let names = block
                    .tokens
                    .iter()
                    .filter(|token| token.kind == TokenKind::Name);
                names.skip(2).all(|token| {
                    match self.globals.get(Dialect::Public, token.text, LATE) {
                        None | Some((_, Binding::Module(_))) => true,
                        Some((_, Binding::Dsl(name))) => name == token.text,
                        Some((_, Binding::Function(other))) => {
                            self.functions[other].is_value()
                                || all.iter().any(|&(copy, primitive)| {
                                    copy == other && primitive.name() == token.text
                                })
                        }
                        Some((_, Binding::Beside(..))) => false,
                        Some((_, Binding::Other(_))) => Primitive::from_name(token.text).is_none(),
                    }
                })
            });
            if copies.len() == before {
                break;
            }
        }
        for (at, primitive) in copies {
            self.globals.replace(at, &Binding::Dsl(primitive.name()));
            self.functions[at].kind = DefinitionKind::Value {
                at: 0,
                element: None,
            };
        }
    }

    /// The tokens of a function.
    fn block(&self, at: usize) -> Rc<Block<'t>> {
        match &self.functions[at].tokens {
            BlockTokens::Block(block) => Rc::clone(block),
            BlockTokens::At(mark) => {
                let mut block = Block::default();
                Lexer::from_mark(self.text, *mark).next_block(&mut block);
                Rc::new(block)
            }
        }
    }
}

/// Functions that make types, and change nothing.
const MAKE_TYPES: &[&str] = &["TypeVar", "NewType", "namedtuple", "NamedTuple"];

/// The number of parameters from this token on, and the first one.
fn parameters<'t>(tokens: &[Token<'t>], at: usize, end: &str) -> (usize, &'t str) {
    let (mut count, mut first, mut depth, mut expects) = (0, "", 0usize, end == ":");
    for token in tokens.get(at..).unwrap_or_default() {
        if matches!(token.kind, TokenKind::Newline | TokenKind::End)
            || (depth == 0 && token.is(end))
        {
            break;
        }
        match token.text {
            _ if token.kind != TokenKind::Symbol => {
                if expects && matches!(token.kind, TokenKind::Name | TokenKind::Respelled) {
                    count += 1;
                    if count == 1 {
                        first = token.text;
                    }
                }
                expects = false;
            }
            "(" | "[" | "{" => {
                depth += 1;
                expects |= depth == 1 && end == ")" && count == 0;
            }
            ")" | "]" | "}" => {
                depth = depth.saturating_sub(1);
                if depth == 0 && end == ")" {
                    break;
                }
            }
            "," => expects = depth == usize::from(end == ")"),
            _ => {}
        }
    }
    (count, first)
}
