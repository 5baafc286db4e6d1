//! `conformance`: every primitive and program, here and in the Python reference, side by side.
//!
//! The cases come from the crate's generator and are evaluated twice in Python: as the reference
//! is, and with its sets in canonical order. Ours must equal the second on every case; where the
//! two differ, the order explains it.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use arc_dsl::generate::{Case, Generator};
use arc_dsl::{EvalError, Grid, Interpreter, Primitive};

mod deviations;
mod python;

use deviations::Deviation;
use python::{Command, Order, Reference};

/// Arguments of `conformance`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Checkout of the Python arc-dsl: dsl.py, constants.py and solvers.py.
    #[arg(long, value_name = "DIR")]
    reference: PathBuf,
    /// Folder of task JSON on which the programs of solvers.py are run on both sides.
    #[arg(long, value_name = "DIR")]
    tasks: Option<PathBuf>,
    /// Cases a primitive.
    #[arg(long, default_value_t = 500, value_name = "N")]
    cases: usize,
    /// Seed of the cases.
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Write the vectors and the generated part of docs/conformance.md.
    #[arg(long)]
    write: bool,
}

/// Grids from which the cases are drawn, each with its patches.
const SCENES: usize = 620;

/// Differences printed in full a primitive.
const SHOWN: usize = 3;

pub(crate) fn run(root: &Path, arguments: &Arguments) -> Result<()> {
    let _ = root;
    let reference = Reference::new(&arguments.reference)?;
    let cases = generate(arguments.seed, arguments.cases);
    let suite = Suite::new(cases);
    let (plain, canonical) = reference.evaluate_both(&suite.commands)?;
    let mut agreeing = 0;
    println!(
        "{:<14} {:>6} {:>6} {:>9} {:>6} {:>8} {:>6}",
        "primitive", "cases", "equal", "succeeded", "order", "intended", "differ"
    );
    let mut differences = String::new();
    let mut at = 0;
    for group in suite.cases.chunk_by(|a, b| a.primitive == b.primitive) {
        let mut row = Row::default();
        for case in group {
            row.count(
                &suite.outcome(case),
                &canonical[at],
                &plain[at],
                case,
                &mut differences,
            );
            at += 1;
        }
        agreeing += usize::from(row.differ == 0);
        println!(
            "{:<14} {:>6} {:>6} {:>9} {:>6} {:>8} {:>6}",
            group[0].primitive.name(),
            group.len(),
            row.equal,
            row.succeeded,
            row.order,
            row.intended,
            row.differ
        );
    }
    print!("{differences}");
    println!("{agreeing} of {} primitives agree", Primitive::ALL.len());
    ensure!(agreeing == Primitive::ALL.len(), "unexplained differences");
    Ok(())
}

#[derive(Debug, Default)]
struct Row {
    equal: usize,
    succeeded: usize,
    order: usize,
    intended: usize,
    differ: usize,
}

impl Row {
    fn count(
        &mut self,
        ours: &Result<String, EvalError>,
        canonical: &Option<String>,
        plain: &Option<String>,
        case: &Case,
        differences: &mut String,
    ) {
        self.order += usize::from(canonical != plain);
        self.succeeded += usize::from(ours.is_ok());
        let equal = match (ours, canonical) {
            (Ok(ours), Some(theirs)) => numbers(ours) == numbers(theirs),
            (Err(_), None) => true,
            _ => false,
        };
        if equal {
            self.equal += 1;
        } else if Deviation::explains(ours, canonical.as_deref()).is_some() {
            self.intended += 1;
        } else {
            self.differ += 1;
            if self.differ <= SHOWN {
                let show = |text: &str| text.chars().take(600).collect::<String>();
                let _ = writeln!(differences, "\n{case}");
                match ours {
                    Ok(text) => {
                        let _ = writeln!(differences, "  ours:   {}", show(text));
                    }
                    Err(error) => {
                        let _ = writeln!(differences, "  ours:   {error}");
                    }
                }
                let _ = writeln!(
                    differences,
                    "  python: {}",
                    show(canonical.as_deref().unwrap_or("raised"))
                );
            }
        }
    }
}

fn numbers(text: &str) -> String {
    text.replace("True", "1").replace("False", "0")
}

/// So many cases of each primitive, distinct where the primitive has so many.
fn generate(seed: u64, count: usize) -> Vec<Case> {
    let mut generator = Generator::with_scenes(seed, SCENES);
    let mut cases = Vec::new();
    for &primitive in Primitive::ALL {
        let mut seen = std::collections::HashSet::new();
        let mut taken = 0;
        for attempt in 0..count * 20 {
            if taken == count {
                break;
            }
            let case = generator.case(primitive);
            // Where a primitive has few cases at all, the rest are repetitions.
            if seen.insert(case.to_string()) || attempt >= count * 19 {
                cases.push(case);
                taken += 1;
            }
        }
    }
    cases
}

/// The cases with the commands that evaluate them in Python.
struct Suite {
    cases: Vec<Case>,
    commands: Vec<Command>,
}

impl Suite {
    fn new(cases: Vec<Case>) -> Self {
        let names = Primitive::ALL.iter().map(|p| p.name().to_owned()).collect();
        let mut commands = vec![Command::Primitives(names)];
        let mut pool = HashMap::new();
        for case in &cases {
            let mut place = |expression: &arc_dsl::generate::Expression| {
                let text = expression.to_string();
                let next = pool.len();
                *pool.entry(text.clone()).or_insert_with(|| {
                    commands.push(Command::Pool(text));
                    next
                })
            };
            let arguments = case.arguments.iter().map(&mut place).collect();
            let applied_to = case.applied_to.iter().map(&mut place).collect();
            commands.push(Command::Case(case.primitive.name(), arguments, applied_to));
        }
        let size: usize = pool.keys().map(|k: &String| k.len() + 1).sum();
        let mut by: HashMap<String, (usize, usize)> = HashMap::new();
        for k in pool.keys() {
            let c = k.split('(').next().unwrap_or("").to_owned();
            let e = by.entry(c).or_default();
            e.0 += 1;
            e.1 += k.len() + 1;
        }
        let mut by: Vec<_> = by.into_iter().collect();
        by.sort_by_key(|(_, (_, b))| std::cmp::Reverse(*b));
        for b in by.iter().take(14) {
            eprintln!("{b:?}");
        }
        eprintln!("pool: {} entries, {} bytes", pool.len(), size);
        Self { cases, commands }
    }

    fn outcome(&self, case: &Case) -> Result<String, EvalError> {
        let program = case.program().expect("the generator's cases are programs");
        Interpreter::default()
            .run(&program, Grid::default())
            .map(|value| value.to_string())
    }
}
