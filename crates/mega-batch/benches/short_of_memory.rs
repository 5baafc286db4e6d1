//! Runs on a GPU whose memory another user repeatedly takes and frees: batches that do not fit are halved and
//! retried, or run on the host, and the results must equal those of the host alone.
//!
//! `cargo bench --package mega-batch --bench short_of_memory [-- EVALUATIONS]`
//!
//! Fails if outcomes or outputs differ, and exits with 2 if there is no GPU.

mod arguments;

use std::error::Error;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use arc_dsl::Program;
use arc_tasks::{Task, builtin};
use gpu_kernels::device::{Device, open};
use mega_batch::{Backend, Batch, Job, OnDevice, Options, Placement, Report, Runner};

use arguments::arguments;

/// The error type.
type Failure = Box<dyn Error + Send + Sync>;

/// How often everything is run.
const ROUNDS: usize = 5;

/// The default number of evaluations.
const EVALUATIONS: usize = 1_000_000;

/// Less memory is not worth taking.
const LEAST: u64 = 64 << 10;

/// How long memory is free, and then taken: if it were longer, the GPU would count as lost.
const FREE: Duration = Duration::from_millis(5);
const TAKEN: Duration = Duration::from_millis(2);

fn main() -> Result<ExitCode, Failure> {
    let count = match arguments().next() {
        None => EVALUATIONS,
        Some(count) => count.parse()?,
    };
    let device = match open::gpu(0) {
        Ok(device) => device,
        Err(reason) => {
            eprintln!("{reason}");
            return Ok(ExitCode::from(2));
        }
    };
    let (programs, tasks) = work(count);
    let jobs = (0..programs.len() as u32).map(|number| Job {
        program: number,
        task: number,
    });
    let batch = Batch::listed(&programs, &tasks, jobs.collect())?;
    let runner = |placement| {
        let mut options = Options::default();
        options.backend = Backend::Cuda;
        options.placement = Some(placement);
        options.keep_outputs = true;
        options.gpus = Some(1);
        Runner::new(&options)
    };
    let expected = runner(Placement::Host)?.run(&batch)?;
    let mut on_device = runner(Placement::Devices)?;
    if let Some(reason) = on_device.no_device() {
        return Err(reason.to_owned().into());
    }
    println!(
        "{}, {} evaluations",
        device.information().name,
        batch.evaluations()
    );
    let (stop, taken) = (&AtomicBool::new(false), &AtomicU64::new(0));
    let outcome = thread::scope(|scope| {
        scope.spawn(move || take(&device, stop, taken));
        let outcome = rounds(&mut on_device, &batch, &expected);
        stop.store(true, Ordering::Relaxed);
        outcome
    });
    let times = taken.load(Ordering::Relaxed);
    outcome?;
    println!("all is what the host alone gives; its memory was taken {times} times");
    Ok(ExitCode::SUCCESS)
}

/// Repeatedly takes all free memory for a while.
fn take(device: &impl Device, stop: &AtomicBool, taken: &AtomicU64) {
    while !stop.load(Ordering::Relaxed) {
        thread::sleep(FREE);
        let mut held = Vec::new();
        let mut bytes = device.memory().map_or(0, |memory| memory.free);
        while bytes >= LEAST {
            match device.allocate(bytes as usize) {
                Ok(buffer) => held.push(buffer),
                Err(_) => bytes /= 2,
            }
        }
        taken.fetch_add(1, Ordering::Relaxed);
        thread::sleep(TAKEN);
        drop(held);
    }
}

fn rounds(runner: &mut Runner, batch: &Batch<'_>, expected: &Report) -> Result<(), Failure> {
    for round in 1..=ROUNDS {
        let report = runner.run(batch)?;
        for (one, other) in report.results.iter().zip(&expected.results) {
            for (one, other) in one.pairs.iter().zip(&other.pairs) {
                if (&one.outcome, &one.output) != (&other.outcome, &other.output) {
                    return Err(format!("{:?} is not what it should be", one.pair).into());
                }
            }
        }
        if report.summary.totals != expected.summary.totals {
            return Err("the totals are not what they should be".into());
        }
        // The next round allocates all its memory anew.
        runner.clean_up();
        tell(round, &report.summary.backends.device.unwrap_or_default());
    }
    Ok(())
}

fn tell(round: usize, device: &OnDevice) {
    for (_, activity) in &device.activities {
        let stages = activity.stages;
        println!(
            "round {round}: {} on the device in {} batches, {} halved, {} alone too large, {} failed; \
             prepare {:.3} s, upload {:.3}, compute {:.3}, download {:.3}, wait {:.3}, elapsed {:.3}",
            activity.items,
            activity.batches,
            activity.split,
            activity.too_large,
            activity.failed,
            stages.prepare.as_secs_f64(),
            stages.upload.as_secs_f64(),
            stages.compute.as_secs_f64(),
            stages.download.as_secs_f64(),
            activity.waited().as_secs_f64(),
            activity.elapsed.as_secs_f64(),
        );
    }
}

/// Built-in programs, each with its own task, with this many pairs in all.
fn work(count: usize) -> (Vec<Program>, Vec<Task>) {
    let builtins = builtin::all();
    let each = count.div_ceil(builtins.len());
    let both = builtins.iter().map(|builtin| {
        let task = builtin.task(1, each, 0, builtin.max_side().min(20));
        (builtin.program().clone(), task)
    });
    both.unzip()
}
