//! The Python side: sends commands to the driver and reads the results.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context as _, Result, bail, ensure};
use arc_dsl::Dialect;
use serde_json::{Value as Json, json};

use super::Called;

/// The driver, which runs the reference but contains nothing of it.
const DRIVER: &str = include_str!("../../python/conformance.py");

/// One line to the driver, whose text describes each command. All but `Pool` have a result.
#[derive(Debug)]
pub(crate) enum Command<'a> {
    /// An expression for the pool.
    Pool(&'a str),
    /// A call of a primitive with these from the pool, and a call of its result with those.
    Case(&'static str, &'a [usize], &'a [usize]),
    /// A call of a function of the file of solvers with these from the pool.
    Solver(&'a str, &'a [usize]),
    /// Calls of the function of a file that holds a batt, with each of these from the pool.
    Batt(&'a Path, &'a [[usize; 3]]),
    /// The value that a failing call of a primitive returns.
    Default(&'static str),
    /// A program's text and its input from the pool.
    Program(&'a str, usize),
    /// The same in a separate process with limits; for [`Reference::evaluate_bounded`].
    Bounded(&'a str, usize),
}

impl Command<'_> {
    fn json(&self) -> Json {
        match self {
            Command::Pool(text) => json!(["pool", text]),
            Command::Case(primitive, arguments, applied_to) => {
                json!(["case", primitive, arguments, applied_to])
            }
            Command::Solver(name, inputs) => json!(["solver", name, inputs]),
            Command::Batt(path, calls) => json!(["batt", path, calls]),
            Command::Default(name) => json!(["default", name]),
            Command::Program(text, input) => json!(["program", text, input]),
            Command::Bounded(text, input) => json!(["bounded", text, input]),
        }
    }
}

/// Python's result of an evaluation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Theirs {
    /// The literal of the value.
    Value(String),
    /// An exception was raised.
    Raised,
    /// It took too long.
    Overtime,
}

/// Python's result of an evaluation with limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Bounded {
    /// Equally long rows of colours from 0 to 9, as a literal.
    Grid(String),
    /// The same with truth values among the colours.
    Truths(String),
    /// Any other tuple of tuples.
    Tuples(String),
    /// A function.
    Function(String),
    /// Any other value.
    Value(String),
    /// An exception, and the innermost function of dsl.py in which it was raised.
    Raised(String, Option<String>),
    /// It took too long.
    Time,
    /// It took too much memory.
    Memory,
    /// The process ended without a result.
    Died,
}

impl Bounded {
    fn read(json: Json) -> Result<Self> {
        let (kind, first, second): (String, Option<String>, Option<String>) = match json {
            Json::Array(mut list) if !list.is_empty() => {
                list.resize(3, Json::Null);
                serde_json::from_value(Json::Array(list))?
            }
            other => bail!("the Python driver printed {other}"),
        };
        let text = first.unwrap_or_default();
        Ok(match kind.as_str() {
            "grid" => Bounded::Grid(text),
            "truths" => Bounded::Truths(text),
            "tuples" => Bounded::Tuples(text),
            "function" => Bounded::Function(text),
            "value" => Bounded::Value(text),
            "raised" => Bounded::Raised(text, second),
            "time" => Bounded::Time,
            "memory" => Bounded::Memory,
            "died" => Bounded::Died,
            _ => bail!("the Python driver printed a result of kind {kind:?}"),
        })
    }
}

/// The iteration order of the reference's sets.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Order {
    /// Python's own order.
    Plain,
    /// The canonical order, which ours has.
    Canonical,
    /// The reverse of the canonical order.
    Reversed,
}

impl Order {
    fn name(self) -> &'static str {
        match self {
            Order::Plain => "plain",
            Order::Canonical => "canonical",
            Order::Reversed => "reversed",
        }
    }
}

/// The results of all commands that have one.
#[derive(Debug)]
pub(crate) struct Results {
    /// With the unchanged reference.
    pub(crate) plain: Vec<Theirs>,
    /// With its sets in canonical order.
    pub(crate) canonical: Vec<Theirs>,
}

/// A checkout of the Python arc-dsl, or of the project of the typed dialect.
#[derive(Debug)]
pub(crate) struct Reference {
    dialect: Dialect,
    directory: PathBuf,
}

impl Reference {
    pub(crate) fn new(dialect: Dialect, directory: &Path) -> Result<Self> {
        for name in ["dsl.py", "constants.py", solvers_of(dialect)] {
            let path = directory.join(name);
            ensure!(
                path.is_file(),
                "{}: not found; expected a checkout of the Python reference",
                path.display()
            );
        }
        Ok(Self {
            dialect,
            directory: directory.to_owned(),
        })
    }

    pub(crate) fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The text of the file of solvers.
    pub(crate) fn solvers(&self) -> Result<String> {
        let path = self.directory.join(solvers_of(self.dialect));
        std::fs::read_to_string(&path).with_context(|| path.display().to_string())
    }

    /// The results in both orders, evaluated in parallel.
    pub(crate) fn evaluate_both(&self, commands: &[Command<'_>]) -> Result<Results> {
        std::thread::scope(|scope| {
            let plain = scope.spawn(|| self.evaluate(Order::Plain, commands));
            let canonical = self.evaluate(Order::Canonical, commands)?;
            let Ok(plain) = plain.join() else {
                bail!("the thread that waits for Python panicked")
            };
            Ok(Results {
                plain: plain?,
                canonical,
            })
        })
    }

    /// The results in one order.
    pub(crate) fn evaluate(&self, order: Order, commands: &[Command<'_>]) -> Result<Vec<Theirs>> {
        self.drive(order, commands, |result| match result {
            Json::String(literal) => Ok(Theirs::Value(literal)),
            Json::Null => Ok(Theirs::Raised),
            Json::Bool(false) => Ok(Theirs::Overtime),
            other => bail!("the Python driver printed {other}"),
        })
    }

    /// The results of commands with limits, in canonical order.
    pub(crate) fn evaluate_bounded(&self, commands: &[Command<'_>]) -> Result<Vec<Bounded>> {
        self.drive(Order::Canonical, commands, Bounded::read)
    }

    /// Runs the driver and reads its results.
    fn drive<T>(
        &self,
        order: Order,
        commands: &[Command<'_>],
        read: impl Fn(Json) -> Result<T>,
    ) -> Result<Vec<T>> {
        let folder = tempfile::tempdir()?;
        let driver = folder.path().join("conformance.py");
        std::fs::write(&driver, DRIVER)?;
        let input = folder.path().join("commands");
        let mut file = BufWriter::new(File::create(&input)?);
        let all = Called::all(self.dialect);
        let names: Vec<_> = all.into_iter().map(Called::name).collect();
        writeln!(file, "{}", json!(["primitives", names]))?;
        for command in commands {
            writeln!(file, "{}", command.json())?;
        }
        file.flush()?;
        let output = std::process::Command::new("python3")
            .arg(&driver)
            .arg(&self.directory)
            .arg(self.dialect.name())
            .arg(order.name())
            .stdin(File::open(&input)?)
            .stderr(Stdio::inherit())
            .output()
            .context("python3 cannot be run; it evaluates the reference")?;
        ensure!(
            output.status.success(),
            "the Python driver failed ({})",
            output.status
        );
        let results = String::from_utf8(output.stdout)?
            .lines()
            .map(|line| read(serde_json::from_str(line)?))
            .collect::<Result<Vec<T>>>()?;
        let expected = commands
            .iter()
            .filter(|c| !matches!(c, Command::Pool(_)))
            .count();
        ensure!(
            results.len() == expected,
            "{} results from Python for {expected} evaluations",
            results.len()
        );
        Ok(results)
    }
}

/// The name of the file of solvers.
fn solvers_of(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Public => "solvers.py",
        Dialect::Typed => "solvers_pre.py",
    }
}
