//! Compares the built-in programs on their own inputs with Python.

use std::fmt;
use std::fmt::Write as _;

use anyhow::Result;
use arc_dsl::{Interpreter, builtin};

use super::compare::agree;
use super::python::{Command, Reference, Theirs};
use super::suite::{Ours, Suite};
use super::vectors::digest;

/// Inputs per program.
const INPUTS: usize = 20;

/// The seed of the inputs.
const SEED: u64 = 0;

/// The maximum number of rows and columns of input `index`.
fn max_side(index: usize) -> usize {
    [5, 10, 20, 30][index % 4]
}

/// The results of the built-in programs.
#[derive(Debug, Default)]
pub(crate) struct BuiltIns {
    programs: usize,
    evaluations: usize,
    /// Programs with another result in plain Python than with its sets in canonical order.
    ordered: Vec<&'static str>,
    differences: Vec<String>,
    /// The vectors for the tests: `[id]`, then a line `seed index max_side=digest` per input.
    pub(crate) vectors: String,
}

/// Runs every built-in program on its first inputs.
pub(crate) fn compare(reference: &Reference) -> Result<BuiltIns> {
    let mut inputs = Suite::default();
    let mut jobs = Vec::new();
    for program in builtin::all() {
        for index in 0..INPUTS {
            let input = program.input(SEED, index, max_side(index));
            let place = inputs.place(input.to_string());
            jobs.push((program, index, input, place));
        }
    }
    let mut commands: Vec<_> = inputs.pool.iter().map(|text| Command::Pool(text)).collect();
    let texts = jobs
        .iter()
        .map(|(program, _, _, place)| Command::Program(program.text(), *place));
    commands.extend(texts);
    let results = reference.evaluate_both(&commands)?;

    let mut found = BuiltIns {
        programs: builtin::all().len(),
        ..BuiltIns::default()
    };
    let mut interpreter = Interpreter::default();
    for ((program, index, input, _), (plain, canonical)) in jobs
        .into_iter()
        .zip(results.plain.iter().zip(&results.canonical))
    {
        let ours = match interpreter.run(program.program(), input) {
            Ok(value) => Ours::Value(value.to_string()),
            Err(error) => Ours::Error(error),
        };
        found.evaluations += 1;
        if plain != canonical && found.ordered.last() != Some(&program.id()) {
            found.ordered.push(program.id());
        }
        if agree(None, &ours, canonical).is_err() {
            found.differences.push(format!(
                "{} on input {index} of seed {SEED}, side {}:\n  ours:   {ours:?}\n  theirs: {canonical:?}\n",
                program.id(),
                max_side(index)
            ));
        }
        if index == 0 {
            let _ = writeln!(found.vectors, "[{}]", program.id());
        }
        let digest = match canonical {
            Theirs::Value(literal) => digest(literal),
            Theirs::Raised | Theirs::Overtime => "!".to_owned(),
        };
        let _ = writeln!(found.vectors, "{SEED} {index} {}={digest}", max_side(index));
    }
    Ok(found)
}

impl BuiltIns {
    pub(crate) fn differing(&self) -> usize {
        self.differences.len()
    }
}

impl fmt::Display for BuiltIns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "built-in programs: {} on {} inputs, {} differences; {} depend on the order of sets",
            self.programs,
            self.evaluations,
            self.differing(),
            self.ordered.len()
        )?;
        for difference in self.differences.iter().take(10) {
            writeln!(f, "{difference}")?;
        }
        Ok(())
    }
}
