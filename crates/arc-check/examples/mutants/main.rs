//! Mutants of the kernels' PTX that the conformance suite does not detect, run on the interpreted device: `cargo run
//! --release -p arc-check --example mutants -- SEED COUNT [CASES]`, with CASES cases of each operation (default 240).

use std::process::ExitCode;

mod mutation;

use gpu_kernels::device::image::PTX;
use mutation::{Outcome, Reached, mutants};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

fn main() -> ExitCode {
    let numbers = std::env::args().skip(1).map(|text| text.parse::<u64>());
    let numbers: Result<Vec<u64>, _> = numbers.collect();
    let (seed, count, cases) = match numbers.as_deref() {
        Ok([seed, count]) => (*seed, *count, 240),
        Ok([seed, count, cases]) => (*seed, *count, *cases),
        _ => {
            eprintln!("a seed and the number of mutants are needed, and perhaps that of cases");
            return ExitCode::FAILURE;
        }
    };
    match run(seed, count as usize, cases as usize) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::FAILURE
        }
    }
}

fn run(seed: u64, count: usize, cases: usize) -> Result<(), String> {
    let all = mutants(PTX, seed, count);
    let reached = Reached::new(cases)?;
    let (instructions, time) = (reached.instructions, reached.time.as_secs_f64());
    println!(
        "the suite executes {instructions} warp instructions, {:.1} million a second",
        instructions as f64 / time / 1e6
    );
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
                let tests = reached.tests(mutant.line);
                let some: Vec<&str> = tests.iter().map(String::as_str).take(4).collect();
                format!("SURVIVED {} tests: {}", tests.len(), some.join(", "))
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
