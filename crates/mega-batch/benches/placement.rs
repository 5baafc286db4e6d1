//! The scheduler's choices for batches of 1 to 100,000 evaluations and their time, compared with the host alone and
//! the device alone, measured alternately.
//!
//! `cargo bench --package mega-batch --bench placement [-- cuda]`
//!
//! Without `cuda` the device is the emulated one, which is slow: it does not run large batches alone. The programs
//! are the built-in ones. Fails if outcomes differ.

mod arguments;

use std::error::Error;

use arc_dsl::Program;
use arc_tasks::{Task, builtin};
use mega_batch::{Backend, Batch, Job, Options, Placement, Runner};

use arguments::arguments;

/// How often each batch is run each way; the least time counts, after an uncounted warm-up round.
const ROUNDS: usize = 6;

/// The most evaluations that the emulated device runs alone.
const MOST_EMULATED: usize = 3_000;

fn main() -> Result<(), Box<dyn Error>> {
    let backend = match arguments().next().as_deref() {
        None => Backend::Emulated,
        Some("cuda") => Backend::Cuda,
        Some(other) => return Err(format!("expected cuda or nothing, found {other}").into()),
    };
    let runner = |placement| {
        let mut options = Options::default();
        options.backend = backend;
        options.placement = Some(placement);
        Runner::new(&options)
    };
    let mut runners = [
        runner(Placement::Auto)?,
        runner(Placement::Host)?,
        runner(Placement::Devices)?,
    ];
    if let Some(reason) = runners[0].no_device() {
        return Err(reason.to_owned().into());
    }
    println!("evaluations  chosen: host  device       auto       host     device  auto to best");
    for count in [1, 10, 32, 100, 316, 1000, 3162, 10_000, 31_623, 100_000] {
        row(&mut runners, backend, count)?;
    }
    Ok(())
}

/// Measures batches of this size.
fn row(runners: &mut [Runner; 3], backend: Backend, count: usize) -> Result<(), Box<dyn Error>> {
    let (programs, tasks) = work(count);
    let jobs: Vec<Job> = (0..programs.len() as u32)
        .map(|number| Job {
            program: number,
            task: number,
        })
        .collect();
    let batch = Batch::listed(&programs, &tasks, jobs)?;
    let mut least = [f64::INFINITY; 3];
    let mut chosen = (0, 0);
    let mut outcomes = None;
    for round in 0..=ROUNDS {
        // What runs after the emulated device finds cold caches, and what runs after the host finds warm ones: so
        // every other round reverses the order.
        let mut order = [0, 1, 2];
        if round % 2 == 1 {
            order.reverse();
        }
        for at in order {
            let runner = &mut runners[at];
            if at == 2 && backend == Backend::Emulated && count > MOST_EMULATED {
                continue;
            }
            let began = std::time::Instant::now();
            let report = runner.run(&batch)?;
            let seconds = began.elapsed().as_secs_f64();
            let found: Vec<_> = report
                .results
                .iter()
                .flat_map(|result| result.pairs.iter().map(|pair| pair.outcome.clone()))
                .collect();
            if *outcomes.get_or_insert_with(|| found.clone()) != found {
                return Err(format!("{count} evaluations: outcomes differ").into());
            }
            if round > 0 {
                least[at] = least[at].min(seconds);
            }
            if at == 0 {
                let device = report.summary.backends.device;
                let on_device: u64 = device
                    .iter()
                    .flat_map(|device| &device.activities)
                    .map(|(_, activity)| activity.items)
                    .sum();
                chosen = (report.summary.totals.evaluations - on_device, on_device);
            }
        }
    }
    let best = least[1].min(least[2]);
    println!(
        "{count:>11}  {:>12}  {:>6}  {:>7.0} us {:>7.0} us {:>7.0} us  {:>12.2}",
        chosen.0,
        chosen.1,
        least[0] * 1e6,
        least[1] * 1e6,
        least[2] * 1e6,
        least[0] / best
    );
    Ok(())
}

/// Built-in programs, each with its own task, with this many pairs in all.
fn work(count: usize) -> (Vec<Program>, Vec<Task>) {
    let builtins = builtin::all();
    let used = builtins.len().min(count);
    let each = count / used;
    let (mut programs, mut tasks) = (Vec::new(), Vec::new());
    for (number, builtin) in builtins.iter().take(used).enumerate() {
        let pairs = each + usize::from(number < count % used);
        programs.push(builtin.program().clone());
        tasks.push(builtin.task(1, pairs, 0, 16));
    }
    (programs, tasks)
}
