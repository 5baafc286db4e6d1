//! Batch after batch, as a search or a reward function gives them to a runner: the time of a batch on one thread and
//! on all, measured alternately, and the time of an empty batch.
//!
//! `cargo bench --package mega-batch --bench batches -- [EVALUATIONS] [BATCHES] [TURNS] [WORKERS]`
//!
//! EVALUATIONS is the size of a batch, 100 by default; BATCHES is the number of batches of each kind per turn, 10,000
//! by default. The kinds are programs each on tasks of its own, and variations of one program on one task, which are
//! merged: for each whole built-in program in turn. Times are medians over the turns.

mod arguments;

use std::error::Error;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use arc_dsl::Program;
use arc_dsl::generate::Generator;
use arc_tasks::Task;
use arc_tasks::builtin::{self, BuiltinKind};
use mega_batch::{Batch, Job, Mode, Options, Runner};

use arguments::arguments;

fn main() -> Result<(), Box<dyn Error>> {
    let numbers: Result<Vec<usize>, _> = arguments().map(|it| it.parse()).collect();
    let numbers = numbers?;
    let number = |at: usize, default| numbers.get(at).copied().unwrap_or(default);
    let (evaluations, batches, turns) = (number(0, 100), number(1, 10_000), number(2, 5));
    let workers = numbers
        .get(3)
        .and_then(|workers| NonZeroUsize::new(*workers));
    let runner = |mode| {
        let mut options = Options::default();
        options.mode = mode;
        options.workers = workers;
        Runner::new(&options)
    };
    for kind in ["apart", "merged"] {
        let made = match kind {
            "apart" => vec![apart(evaluations)],
            _ => merged(evaluations),
        };
        let all = made.iter();
        let batch = all.map(|(programs, tasks, jobs)| Batch::listed(programs, tasks, jobs.clone()));
        let batch: Vec<_> = batch.collect::<Result<_, _>>()?;
        let all = made.iter();
        let nothing = all.map(|(programs, tasks, _)| Batch::listed(programs, tasks, Vec::new()));
        let nothing: Vec<_> = nothing.collect::<Result<_, _>>()?;
        let mut sequential = runner(Mode::Sequential)?;
        let mut parallel = runner(Mode::Parallel)?;
        let mut times = [(); 4].map(|()| Vec::new());
        for _ in 0..turns {
            times[0].push(time(&mut sequential, &batch, batches)?);
            times[1].push(time(&mut parallel, &batch, batches)?);
            times[2].push(time(&mut sequential, &nothing, batches)?);
            times[3].push(time(&mut parallel, &nothing, batches)?);
        }
        let [sequential, parallel, empty, empty_parallel] = times.map(median);
        println!(
            "{kind}: {} evaluations a batch: {:.1} µs on one thread, {:.1} µs on all, {:.2} times as fast; an empty batch {:.2} and {:.2} µs",
            batch[0].evaluations(),
            sequential,
            parallel,
            sequential / parallel,
            empty,
            empty_parallel,
        );
    }
    Ok(())
}

type Made = (Vec<Program>, Vec<Task>, Vec<Job>);

/// Built-in programs, each on tasks of one pair.
fn apart(evaluations: usize) -> Made {
    let all = builtin::all();
    let task = |at: usize| Task {
        train: vec![all[at % all.len()].pair(1, at / all.len(), 30)],
        ..Task::default()
    };
    let programs: Vec<_> = all.iter().map(|one| one.program().clone()).collect();
    let job = |at: usize| Job {
        program: (at % programs.len()) as u32,
        task: at as u32,
    };
    let mut jobs: Vec<_> = (0..evaluations).map(job).collect();
    jobs.sort_by_key(|job| job.program);
    (programs, (0..evaluations).map(task).collect(), jobs)
}

/// For each whole program a batch of variations of it on its task of four pairs.
fn merged(evaluations: usize) -> Vec<Made> {
    let whole = builtin::all()
        .iter()
        .filter(|it| it.kind() == BuiltinKind::Whole);
    let batch = |one: &builtin::BuiltIn| {
        let mut generator = Generator::new(1);
        let count = evaluations.div_ceil(4);
        let job = |at: usize| Job {
            program: at as u32,
            task: 0,
        };
        let programs = (0..count).map(|_| generator.variation(one.program()));
        (
            programs.collect(),
            vec![one.task(1, 3, 1, 30)],
            (0..count).map(job).collect(),
        )
    };
    whole.map(batch).collect()
}

/// Microseconds per batch, for batches run alternately.
fn time(runner: &mut Runner, all: &[Batch<'_>], batches: usize) -> std::io::Result<f64> {
    let mut took = Duration::ZERO;
    for batch in all.iter().cycle().take(batches) {
        let began = Instant::now();
        runner.run_into(batch, &mut ())?;
        took += began.elapsed();
    }
    Ok(took.as_secs_f64() * 1e6 / batches as f64)
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
