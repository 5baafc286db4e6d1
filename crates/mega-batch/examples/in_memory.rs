//! Candidates for a task, all built in memory: which of them are right, and what about the others?
//!
//! `cargo run --package mega-batch --example in_memory`

use std::num::NonZeroUsize;
use std::{error, io};

use arc_dsl::{Constant, Grid, Operand, Primitive, Program, ProgramBuilder};
use arc_tasks::{Pair, Task};
use mega_batch::{Batch, Job, Mode, Options, Outcome, PairResult, Runner, Sink};

/// A task that asks for the input with its mirror image at its right.
fn task() -> Result<Task, arc_dsl::GridError> {
    let pair = |input: &[[i32; 2]], output: &[[i32; 4]]| {
        Ok(Pair::new(Grid::from_rows(input)?, Grid::from_rows(output)?))
    };
    Ok(Task {
        id: "mirrored".into(),
        train: vec![
            pair(&[[1, 2]], &[[1, 2, 2, 1]])?,
            pair(&[[3, 0], [0, 3]], &[[3, 0, 0, 3], [0, 3, 3, 0]])?,
        ],
        test: vec![pair(&[[5, 6], [7, 8]], &[[5, 6, 6, 5], [7, 8, 8, 7]])?],
        ..Task::default()
    })
}

/// A candidate for each of these primitives: its output is appended at the right of the input.
fn candidates() -> Result<Vec<Program>, arc_dsl::BuildError> {
    let tried = [
        Primitive::Hmirror,
        Primitive::Vmirror,
        Primitive::Rot90,
        Primitive::Identity,
        Primitive::First,
    ];
    let candidate = |primitive: Primitive| {
        let mut builder = ProgramBuilder::new(format!("{primitive}_mirrored"));
        let right = builder.call(primitive, [builder.input()])?;
        let output = builder.call(Primitive::Hconcat, [builder.input(), right])?;
        builder.finish(output)
    };
    let mut candidates: Vec<_> = tried.into_iter().map(candidate).collect::<Result<_, _>>()?;
    let mut runaway = ProgramBuilder::new("runaway_mirrored");
    let thousand = Operand::Literal(1000.into());
    let large = runaway.call(Primitive::Upscale, [runaway.input(), thousand])?;
    let larger = runaway.call(Primitive::Upscale, [large, Constant::TEN.into()])?;
    candidates.push(runaway.finish(larger)?);
    Ok(candidates)
}

/// Keeps the candidates that are right on every pair and discards everything else, so that a search of any length
/// needs no more memory.
#[derive(Default)]
struct Right {
    jobs: Vec<Job>,
}

impl Sink for Right {
    fn job(&mut self, job: Job) -> io::Result<()> {
        self.jobs.push(job);
        Ok(())
    }

    fn pair(&mut self, job: Job, result: PairResult) -> io::Result<()> {
        if result.outcome != Outcome::Match {
            self.jobs.retain(|&right| right != job);
        }
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn error::Error>> {
    let (programs, tasks) = (candidates()?, [task()?]);
    let batch = Batch::own_tasks(&programs, &tasks);

    // All results, kept.
    let report = mega_batch::run(&batch, &Options::default())?;
    for result in &report.results {
        println!("{}", batch.program(result.job).name());
        for pair in &result.pairs {
            match &pair.outcome {
                Outcome::Match => println!("  {}: right", pair.pair),
                Outcome::Mismatch => println!("  {}: wrong", pair.pair),
                Outcome::NoExpected => println!("  {}: nothing to compare with", pair.pair),
                Outcome::Error(error) => println!("  {}: failed, {error}", pair.pair),
                Outcome::Limit(error) => println!("  {}: stopped, {error}", pair.pair),
                Outcome::Python(failure) => println!("  {}: failed, {failure}", pair.pair),
                Outcome::Internal(message) => println!("  {}: a bug of ours: {message}", pair.pair),
            }
        }
    }

    // The same as a stream, as in a search: one runner for many batches.
    let mut options = Options::default();
    options.mode = Mode::Parallel;
    options.workers = NonZeroUsize::new(2);
    let mut runner = Runner::new(&options)?;
    let mut right = Right::default();
    let summary = runner.run_into(&batch, &mut right)?;
    for job in right.jobs {
        println!(
            "{} is right on all pairs of {}",
            batch.program(job).name(),
            batch.task(job).id
        );
    }
    println!(
        "{} of {} evaluations right",
        summary.totals.right, summary.totals.evaluations
    );
    Ok(())
}
