//! `conformance`: compares every primitive and every public program with the Python reference.
//!
//! The cases come from the crate's generator and are evaluated twice in Python: by the reference as it is, and with
//! its sets in canonical order. Ours must equal the second on every case; where the two differ, the order of sets
//! explains it.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use arc_dsl::{Dialect, Primitive, TypedPrimitive};

mod batts;
mod builtins;
mod compare;
mod mutants;
mod page;
mod python;
mod solvers;
mod suite;
mod vectors;

use compare::Tally;
use python::{Command, Order, Reference, Theirs};
use suite::Suite;

/// Arguments of `conformance`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Checkout of the Python reference: the arc-dsl with dsl.py, constants.py and solvers.py, or the project of the
    /// typed dialect with `solvers_pre.py`.
    #[arg(long, value_name = "DIR")]
    reference: PathBuf,
    /// The dialect of the reference.
    #[arg(long, default_value_t, value_name = "NAME")]
    dialect: Dialect,
    /// Folder of task JSON on which both sides run the programs of solvers.py.
    #[arg(long, value_name = "DIR")]
    tasks: Option<PathBuf>,
    /// Cases per primitive.
    #[arg(long, default_value_t = 625, value_name = "N")]
    cases: usize,
    /// Seed of the cases and of the mutants.
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Compare this many evaluations of mutated programs of solvers.py instead of everything else.
    #[arg(long, value_name = "N", requires = "tasks", conflicts_with = "write")]
    mutants: Option<usize>,
    /// Compare the batts in these files on the first tasks of the folder, instead of everything else.
    #[arg(long, value_name = "PATH", num_args = 1.., requires = "tasks", conflicts_with_all = ["write", "mutants"])]
    batts: Vec<PathBuf>,
    /// The number of these tasks.
    #[arg(long, default_value_t = 50, value_name = "N", requires = "batts")]
    batt_tasks: usize,
    /// Write evaluations of mutants that differ to this folder, as programs and tasks.
    #[arg(long, value_name = "DIR", requires = "mutants")]
    examples: Option<PathBuf>,
    /// Write the vectors for the tests and the lists in docs/conformance.md.
    #[arg(long)]
    write: bool,
}

/// Compares and prints, and writes if asked; fails on an unexplained difference.
pub(crate) fn run(root: &Path, arguments: &Arguments) -> Result<()> {
    let dialect = arguments.dialect;
    let reference = Reference::new(dialect, &arguments.reference)?;
    ensure!(
        dialect == Dialect::Public || arguments.mutants.is_none(),
        "mutants are of the public dialect"
    );
    if let (Some(count), Some(tasks)) = (arguments.mutants, &arguments.tasks) {
        let found = mutants::compare(&reference, tasks, arguments.seed, count)?;
        print!("{found}");
        if let Some(folder) = &arguments.examples {
            found.write_examples(folder)?;
        }
        return found.check();
    }
    if let (false, Some(tasks)) = (arguments.batts.is_empty(), &arguments.tasks) {
        let found = batts::compare(&reference, &arguments.batts, tasks, arguments.batt_tasks)?;
        print!("{found}");
        ensure!(found.differing() == 0, "batts differ from the reference");
        return Ok(());
    }
    if dialect == Dialect::Typed {
        let differing = defaults(&reference)?;
        ensure!(
            differing.is_empty(),
            "other defaults in Python: {}",
            differing.join(", ")
        );
    }
    let suite = Suite::generate(dialect, arguments.seed, arguments.cases);
    let results = reference.evaluate_both(&suite.commands())?;
    let tallies = Tally::of_all(&suite, &results);
    print!("{}", compare::table(&tallies));
    let agreeing = tallies
        .iter()
        .filter(|tally| tally.differing() == 0)
        .count();
    let all = Called::all(dialect).len();
    println!("{agreeing} of {all} primitives agree");

    let builtins = match dialect {
        Dialect::Public => Some(builtins::compare(&reference)?),
        Dialect::Typed => None,
    };
    if let Some(builtins) = &builtins {
        print!("\n{builtins}");
    }
    let programs = match &arguments.tasks {
        Some(tasks) => Some(solvers::compare(&reference, tasks)?),
        None => None,
    };
    if let Some(programs) = &programs {
        print!("\n{programs}");
    }
    if arguments.write {
        let builtins = builtins.as_ref().map(|builtins| builtins.vectors.as_str());
        vectors::write(root, &suite, &results.canonical, builtins)?;
        page::write(root, dialect, &tallies, programs.as_ref())?;
        if dialect == Dialect::Public {
            vectors::write_digests(root, &arguments.reference)?;
        }
    }
    ensure!(agreeing == all, "primitives differ from the reference");
    ensure!(
        builtins.is_none_or(|b| b.differing() == 0),
        "built-in programs differ from the reference"
    );
    ensure!(
        programs.is_none_or(|p| p.differing() == 0),
        "programs differ from the reference"
    );
    Ok(())
}

/// The primitives of the typed dialect for which a failing call returns something else in Python.
fn defaults(reference: &Reference) -> Result<Vec<String>> {
    let all = TypedPrimitive::ALL;
    let commands: Vec<_> = all.iter().map(|p| Command::Default(p.name())).collect();
    let theirs = reference.evaluate(Order::Plain, &commands)?;
    let differing = all.iter().zip(theirs).filter_map(|(primitive, theirs)| {
        let ours = primitive.default_value().to_string();
        let same = matches!(&theirs, Theirs::Value(text) if *text == ours);
        (!same).then(|| format!("{primitive} {ours}, {theirs:?}"))
    });
    Ok(differing.collect())
}

/// A primitive of a dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Called {
    Public(Primitive),
    Typed(TypedPrimitive),
}

impl Called {
    /// All primitives that the dialect's reference has.
    pub(crate) fn all(dialect: Dialect) -> Vec<Self> {
        match dialect {
            Dialect::Public => Primitive::of_reference().map(Called::Public).collect(),
            Dialect::Typed => TypedPrimitive::ALL
                .iter()
                .copied()
                .map(Called::Typed)
                .collect(),
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Called::Public(primitive) => primitive.name(),
            Called::Typed(primitive) => primitive.name(),
        }
    }

    pub(crate) fn family(self) -> &'static str {
        match self {
            Called::Public(primitive) => primitive.family(),
            Called::Typed(primitive) => primitive.family(),
        }
    }
}

impl std::fmt::Display for Called {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
