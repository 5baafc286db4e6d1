//! Batch after batch, as a search or a reward function gives them to a runner: what a batch takes on one thread
//! and on all, by turns, and what a batch of nothing takes.
//!
//! `cargo bench --package mega-batch --bench batches -- [EVALUATIONS] [BATCHES] [TURNS] [WORKERS]`
//!
//! EVALUATIONS is how many a batch has, 100 where nothing is said; BATCHES how many batches of each kind a
//! turn has, 10,000 where nothing is said. The kinds are programs each on tasks of its own, and variations
//! of one program on one task, which are merged. Times are medians over the turns.

mod arguments;

use std::error::Error;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use arc_dsl::builtin::{self, Kind};
use arc_dsl::generate::Generator;
use arc_dsl::{Program, Task};
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
        let (programs, tasks, jobs) = match kind {
            "apart" => apart(evaluations),
            _ => merged(evaluations),
        };
        let batch = Batch::listed(&programs, &tasks, jobs)?;
        let nothing = Batch::listed(&programs, &tasks, Vec::new())?;
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
            "{kind}: {} evaluations a batch: {:.1} µs on one thread, {:.1} µs on all, {:.2} times as fast; a batch of nothing {:.2} and {:.2} µs",
            batch.evaluations(),
            sequential,
            parallel,
            sequential / parallel,
            empty,
            empty_parallel,
        );
    }
    Ok(())
}

/// Built-in programs, each on tasks of one pair.
fn apart(evaluations: usize) -> (Vec<Program>, Vec<Task>, Vec<Job>) {
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

/// Variations of one whole program on its task of four pairs.
fn merged(evaluations: usize) -> (Vec<Program>, Vec<Task>, Vec<Job>) {
    let whole = |one: &&builtin::BuiltIn| one.kind() == Kind::Whole;
    let Some(one) = builtin::all().iter().find(whole) else {
        return Default::default();
    };
    let mut generator = Generator::new(1);
    let programs = evaluations.div_ceil(4);
    let job = |at: usize| Job {
        program: at as u32,
        task: 0,
    };
    let jobs = (0..programs).map(job).collect();
    let programs = (0..programs).map(|_| generator.variation(one.program()));
    (programs.collect(), vec![one.task(1, 3, 1, 30)], jobs)
}

/// Microseconds a batch.
fn time(runner: &mut Runner, batch: &Batch<'_>, batches: usize) -> std::io::Result<f64> {
    let mut took = Duration::ZERO;
    for _ in 0..batches {
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
