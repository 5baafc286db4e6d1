//! The Python side: sends commands to the driver, by each version of CPython, and reads the results.

use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};

use anyhow::{Context as _, Result, anyhow, ensure};
use arc_dsl::Dialect;
use serde::{Deserialize, Serialize};

/// The driver, which runs the reference but contains nothing of it.
const DRIVER: &str = include_str!("../../python/conformance.py");

/// The minor versions that are looked for: older ones build set displays in another way.
const MINOR_VERSIONS: std::ops::RangeInclusive<u32> = 9..=20;

/// One line to the driver, whose text describes each command. All but `Pool` have a result.
#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Command<'a> {
    /// An expression for the pool.
    Pool(&'a str),
    /// A call of a primitive or of a solver with these from the pool, and a call of its result with those.
    Case(&'a str, &'a [usize], &'a [usize]),
    /// A call of the function of a program's text with these from the pool.
    Program(&'a str, &'a [usize]),
    /// A call of the function of a file that holds a batt with these from the pool.
    Batt(&'a Path, &'a [usize]),
}

/// Expressions by index.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    pub(crate) texts: Vec<String>,
    places: HashMap<String, usize>,
}

impl Pool {
    /// The index of an expression.
    pub(crate) fn place(&mut self, text: String) -> usize {
        *self.places.entry(text).or_insert_with_key(|text| {
            self.texts.push(text.clone());
            self.texts.len() - 1
        })
    }

    /// The commands for Python that build it.
    pub(crate) fn commands(&self) -> impl Iterator<Item = Command<'_>> {
        self.texts.iter().map(|text| Command::Pool(text))
    }
}

/// Python's result of an evaluation.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Theirs {
    /// The text of the value, its sets in their order.
    Value(String),
    /// A value with a set that has another order in each process.
    Unordered,
    /// The exception that was raised.
    Raised(String),
    /// It took too long, or too much memory.
    Unfinished,
}

/// A CPython.
#[derive(Debug)]
struct Python {
    program: PathBuf,
    version: String,
}

impl Python {
    /// The CPython of that name or path, if it runs.
    fn at(program: &Path) -> Option<Self> {
        let says = "import platform as p; print(p.python_implementation(), p.python_version())";
        let output = Process::new(program).args(["-c", says]).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        let version = text.trim().strip_prefix("CPython ")?;
        Some(Self {
            program: program.to_owned(),
            version: version.to_owned(),
        })
    }

    /// The oldest and the newest CPython that are at hand.
    fn find() -> Vec<Self> {
        let names = MINOR_VERSIONS.map(|minor| PathBuf::from(format!("python3.{minor}")));
        let mut found: Vec<_> = names.filter_map(|name| Self::at(&name)).collect();
        if found.len() > 2 {
            found.drain(1..found.len() - 1);
        }
        if found.is_empty() {
            found.extend(Self::at(Path::new("python3")));
        }
        found
    }

    /// Runs the driver and reads its results.
    fn drive(&self, folder: &Path, reference: &Reference, seconds: u32) -> Result<Vec<Theirs>> {
        let output = Process::new(&self.program)
            .arg(folder.join("conformance.py"))
            .args([reference.directory.as_path(), reference.solvers.as_path()])
            .arg(seconds.to_string())
            .stdin(File::open(folder.join("commands"))?)
            .stderr(Stdio::inherit())
            .output()?;
        ensure!(
            output.status.success(),
            "the Python driver failed ({})",
            output.status
        );
        let text = String::from_utf8(output.stdout)?;
        let read = |line| serde_json::from_str(line).with_context(|| format!("Python: {line}"));
        text.lines().map(read).collect()
    }
}

/// A checkout of the Python arc-dsl, or of the project of the typed dialect, and each CPython that runs it.
#[derive(Debug)]
pub(crate) struct Reference {
    pub(crate) dialect: Dialect,
    directory: PathBuf,
    /// The name of the file of solvers.
    solvers: PathBuf,
    pythons: Vec<Python>,
}

impl Reference {
    pub(crate) fn new(
        dialect: Dialect,
        directory: &Path,
        solvers: Option<&Path>,
        pythons: &[PathBuf],
    ) -> Result<Self> {
        let solvers = solvers.unwrap_or(match dialect {
            Dialect::Public => Path::new("solvers.py"),
            Dialect::Typed => Path::new("solvers_pre.py"),
        });
        for path in [directory.join("dsl.py"), directory.join(solvers)] {
            ensure!(
                path.is_file(),
                "{}: not found; expected a checkout of the Python reference",
                path.display()
            );
        }
        let named = pythons.iter().map(|program| {
            Python::at(program).with_context(|| format!("{}: no CPython", program.display()))
        });
        let mut pythons: Vec<_> = named.collect::<Result<_>>()?;
        if pythons.is_empty() {
            pythons = Python::find();
        }
        ensure!(
            !pythons.is_empty(),
            "no CPython, which evaluates the reference"
        );
        Ok(Self {
            dialect,
            directory: directory.to_owned(),
            solvers: solvers.to_owned(),
            pythons,
        })
    }

    /// The text of the file of solvers.
    pub(crate) fn solvers(&self) -> Result<String> {
        let path = self.directory.join(&self.solvers);
        std::fs::read_to_string(&path).with_context(|| path.display().to_string())
    }

    /// The results of each evaluation, one by each CPython, the one that was named last being the last. An evaluation
    /// may take this many seconds.
    pub(crate) fn evaluate(
        &self,
        commands: &[Command<'_>],
        seconds: u32,
    ) -> Result<Vec<Vec<Theirs>>> {
        let folder = tempfile::tempdir()?;
        std::fs::write(folder.path().join("conformance.py"), DRIVER)?;
        let mut file = BufWriter::new(File::create(folder.path().join("commands"))?);
        for command in commands {
            writeln!(file, "{}", serde_json::to_string(command)?)?;
        }
        file.flush()?;
        let results = std::thread::scope(|scope| {
            let drive = |python| {
                let folder = folder.path();
                scope.spawn(move || Python::drive(python, folder, self, seconds))
            };
            let running: Vec<_> = self.pythons.iter().map(drive).collect();
            let ended = running.into_iter().map(|thread| {
                let panicked = |_| anyhow!("the thread that waits for Python panicked");
                thread.join().map_err(panicked)?
            });
            ended.collect::<Result<Vec<_>>>()
        })?;
        let expected = commands
            .iter()
            .filter(|c| !matches!(c, Command::Pool(_)))
            .count();
        for of_one in &results {
            let found = of_one.len();
            ensure!(
                found == expected,
                "{found} results from Python for {expected} evaluations"
            );
        }
        let mut results: Vec<_> = results.into_iter().map(Vec::into_iter).collect();
        let of_each = |_| results.iter_mut().filter_map(Iterator::next).collect();
        Ok((0..expected).map(of_each).collect())
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let versions: Vec<_> = self.pythons.iter().map(|it| it.version.as_str()).collect();
        write!(f, "CPython {}", versions.join(" and "))
    }
}
