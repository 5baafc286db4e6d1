//! Mutants of the kernels' PTX that the conformance suite does not notice, run on the interpreted
//! device: `cargo run --release -p arc-check --example mutants -- SEED COUNT`.

use std::process::ExitCode;

use arc_check::mutation::{Outcome, Reached, mutants};
use gpu_kernels::device::interpreted::embedded;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

fn main() -> ExitCode {
    let numbers = std::env::args().skip(1).map(|text| text.parse::<u64>());
    let numbers: Result<Vec<u64>, _> = numbers.collect();
    let Ok([seed, count]) = numbers.as_deref() else {
        eprintln!("a seed and the number of mutants are needed");
        return ExitCode::FAILURE;
    };
    match run(*seed, *count as usize) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::FAILURE
        }
    }
}

fn run(seed: u64, count: usize) -> Result<(), String> {
    let all = mutants(embedded(), seed, count);
    let reached = Reached::new()?;
    let outcomes: Result<Vec<_>, _> = all.par_iter().map(|one| reached.outcome(one)).collect();
    let outcomes = outcomes.map_err(|error| error.to_string())?;
    let (mut killed, mut survived, mut untried) = (0, 0, 0);
    for (mutant, outcome) in all.iter().zip(outcomes) {
        let told = match outcome {
            Outcome::Killed(test, how) => {
                killed += 1;
                let how: String = how.chars().take(100).collect();
                format!("killed by {test}: {how}")
            }
            Outcome::Survived => {
                survived += 1;
                "SURVIVED".to_owned()
            }
            Outcome::NotExecuted => {
                untried += 1;
                "NOT EXECUTED".to_owned()
            }
        };
        println!(
            "line {}: {} -> {}\n    {told}",
            mutant.line, mutant.before, mutant.after
        );
    }
    println!(
        "{} mutants: {killed} killed, {survived} survived, {untried} not executed by any test",
        all.len()
    );
    Ok(())
}
