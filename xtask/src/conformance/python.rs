//! The Python side: commands to the driver, results from it.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value as Json, json};

/// The driver, which runs beside the reference and holds nothing of it.
const DRIVER: &str = include_str!("../../python/conformance.py");

/// One line to the driver; see there.
#[derive(Debug)]
pub(crate) enum Command {
    Primitives(Vec<String>),
    Pool(String),
    Case(&'static str, Vec<usize>, Vec<usize>),
    Solver(String, usize),
    Program(String, usize),
}

impl Command {
    fn json(&self) -> Json {
        match self {
            Command::Primitives(names) => json!(["primitives", names]),
            Command::Pool(text) => json!(["pool", text]),
            Command::Case(primitive, arguments, applied_to) => {
                json!(["case", primitive, arguments, applied_to])
            }
            Command::Solver(name, input) => json!(["solver", name, input]),
            Command::Program(text, input) => json!(["program", text, input]),
        }
    }

    fn has_result(&self) -> bool {
        !matches!(self, Command::Primitives(_) | Command::Pool(_))
    }
}

/// In which order the reference's sets iterate.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Order {
    Plain,
    Canonical,
}

/// A checkout of the Python arc-dsl.
#[derive(Debug)]
pub(crate) struct Reference {
    directory: PathBuf,
}

/// The literal that Python gives, or nothing where it raises.
pub(crate) type Outcome = Option<String>;

impl Reference {
    pub(crate) fn new(directory: &Path) -> Result<Self> {
        for name in ["dsl.py", "constants.py", "solvers.py"] {
            let path = directory.join(name);
            ensure!(
                path.is_file(),
                "{}: not found; expected a checkout of the Python arc-dsl",
                path.display()
            );
        }
        Ok(Self {
            directory: directory.to_owned(),
        })
    }

    /// The results of the commands that have one, with the reference as it is and in canonical
    /// order, both at once.
    pub(crate) fn evaluate_both(
        &self,
        commands: &[Command],
    ) -> Result<(Vec<Outcome>, Vec<Outcome>)> {
        let (plain, canonical) = std::thread::scope(|scope| {
            let plain = scope.spawn(|| self.evaluate(Order::Plain, commands));
            let canonical = self.evaluate(Order::Canonical, commands);
            (plain.join(), canonical)
        });
        let Ok(plain) = plain else {
            bail!("the thread that waits for Python panicked")
        };
        Ok((plain?, canonical?))
    }

    fn evaluate(&self, order: Order, commands: &[Command]) -> Result<Vec<Outcome>> {
        let folder = tempfile::tempdir()?;
        let driver = folder.path().join("conformance.py");
        std::fs::write(&driver, DRIVER)?;
        let input = folder.path().join("commands.jsonl");
        let mut file = BufWriter::new(File::create(&input)?);
        for command in commands {
            writeln!(file, "{}", command.json())?;
        }
        file.flush()?;
        let order = match order {
            Order::Plain => "plain",
            Order::Canonical => "canonical",
        };
        let output = std::process::Command::new("python3")
            .arg(&driver)
            .arg(&self.directory)
            .arg(order)
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
            .map(|line| serde_json::from_str(line).context("the Python driver printed no JSON"))
            .collect::<Result<Vec<Outcome>>>()?;
        let expected = commands
            .iter()
            .filter(|command| command.has_result())
            .count();
        ensure!(
            results.len() == expected,
            "{} results from Python for {expected} commands",
            results.len()
        );
        Ok(results)
    }
}
