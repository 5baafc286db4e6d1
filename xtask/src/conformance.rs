//! `conformance`: compares every primitive and programs with the Python reference, as it comes, on CPython.
//!
//! Calls and programs come from the crate's generator, and programs also from the file of solvers. Values are compared
//! as text with their sets in the order in which they iterate.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use arc_dsl::{Dialect, Primitive, TypedPrimitive};

mod batts;
mod compare;
mod programs;
mod python;
mod suite;
mod vectors;

use compare::{ComparedKind, Ours};
use programs::{OWN_SECONDS, Programs, Solvers};
use python::{Command, Reference};
use suite::Suite;

/// Arguments of `conformance`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Checkout of the Python reference: the arc-dsl with dsl.py, or the project of the typed dialect.
    #[arg(long, value_name = "DIR")]
    reference: PathBuf,
    /// The dialect of the reference.
    #[arg(long, default_value_t, value_name = "NAME")]
    dialect: Dialect,
    /// A CPython, by name or path; may be repeated, and results are those of the last one. Without it, the oldest and
    /// the newest of python3.9 to python3.20 that can be run.
    #[arg(long, value_name = "PROGRAM")]
    python: Vec<PathBuf>,
    /// File of programs in the checkout, instead of solvers.py or, in the typed dialect, `solvers_pre.py`.
    #[arg(long, value_name = "FILE")]
    solvers: Option<PathBuf>,
    /// File or folder of task JSON on which both sides run the programs.
    #[arg(long, value_name = "PATH")]
    tasks: Option<PathBuf>,
    /// Cases per primitive; with 0 neither primitives nor built-in programs are compared.
    #[arg(long, default_value_t = 625, value_name = "N")]
    cases: usize,
    /// Evaluations of programs on tasks of others.
    #[arg(long, default_value_t = 2_000, value_name = "N")]
    crossing: usize,
    /// Evaluations of mutated programs.
    #[arg(long, default_value_t = 2_000, value_name = "N")]
    mutants: usize,
    /// Random programs.
    #[arg(long, default_value_t = 2_000, value_name = "N")]
    random: usize,
    /// Seed of what is generated.
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Compare the batts in these files on the first tasks of the folder, instead of everything else.
    #[arg(long, value_name = "PATH", num_args = 1.., requires = "tasks", conflicts_with = "write")]
    batts: Vec<PathBuf>,
    /// The number of these tasks.
    #[arg(long, default_value_t = 50, value_name = "N", requires = "batts")]
    batt_tasks: usize,
    /// The number of differences of each kind that are shown.
    #[arg(long, default_value_t = 3, value_name = "N")]
    show: usize,
    /// Write the vectors for the tests.
    #[arg(long)]
    write: bool,
}

/// Compares and prints, and writes if asked; fails on a difference.
pub(crate) fn run(root: &Path, arguments: &Arguments) -> Result<()> {
    let dialect = arguments.dialect;
    let solvers = arguments.solvers.as_deref();
    let reference = Reference::new(dialect, &arguments.reference, solvers, &arguments.python)?;
    println!("{reference}");
    let mut programs = Programs::new(&reference, arguments.seed);
    let mut rows = Vec::new();
    let mut right = None;
    if let (false, Some(tasks)) = (arguments.batts.is_empty(), &arguments.tasks) {
        rows = batts::compare(&reference, &arguments.batts, tasks, arguments.batt_tasks)?;
    } else {
        if arguments.cases > 0 {
            let suite = Suite::generate(dialect, arguments.seed, arguments.cases);
            let results = suite.evaluate(&reference)?;
            rows = suite.compare(&results);
            let builtins = match dialect {
                Dialect::Public => Some(programs.built_in()?),
                Dialect::Typed => {
                    rows.push(defaults(&reference)?);
                    None
                }
            };
            if arguments.write {
                vectors::write(root, &suite, &results, builtins)?;
            }
        }
        if let Some(tasks) = &arguments.tasks {
            let solvers = Solvers::read(&reference, tasks)?;
            right = Some(solvers.on_own_tasks(&mut programs)?);
            solvers.on_other_tasks(&mut programs, arguments.crossing)?;
            if dialect == Dialect::Public {
                solvers.mutants(&mut programs, arguments.mutants)?;
            }
        }
        if dialect == Dialect::Public {
            programs.random(arguments.random)?;
        }
    }
    if arguments.write && dialect == Dialect::Public {
        vectors::write_digests(root, &arguments.reference)?;
    }
    rows.append(&mut programs.rows);
    print!("{}", compare::table(&rows, arguments.show));
    if let Some(right) = right {
        println!("{right}");
    }
    let differing: usize = rows.iter().map(ComparedKind::differing).sum();
    ensure!(
        differing == 0,
        "{differing} evaluations differ from the reference"
    );
    Ok(())
}

/// What a failing call of each primitive of the typed dialect returns.
fn defaults(reference: &Reference) -> Result<ComparedKind> {
    let all = TypedPrimitive::ALL;
    let texts: Vec<_> = all.iter().map(|primitive| {
        format!("def default():\n    import safe_dsl\n    return safe_dsl._get_safe_default({primitive})\n")
    }).collect();
    let commands: Vec<_> = texts
        .iter()
        .map(|text| Command::Program(text, &[]))
        .collect();
    let mut row = ComparedKind::new("defaults");
    for (primitive, theirs) in all.iter().zip(reference.evaluate(&commands, OWN_SECONDS)?) {
        let ours = Ours::Value(primitive.default_value().to_string());
        row.add(None, &ours, &theirs, || primitive.to_string());
    }
    Ok(row)
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
