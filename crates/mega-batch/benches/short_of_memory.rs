//! Runs on a GPU whose memory somebody else takes and gives back: what does not fit is halved and made again, or made by
//! the host, and all of it is what the host alone gives.
//!
//! `cargo bench --package mega-batch --bench short_of_memory [-- EVALUATIONS]`
//!
//! It fails where outcomes or outputs differ, and ends with 2 where there is no GPU.

mod arguments;

use std::error::Error;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use arc_dsl::{Program, Task, builtin};
use gpu_kernels::device::{Device, open};
use mega_batch::{Backend, Batch, Job, OnDevice, Options, Placement, Report, Runner};

use arguments::arguments;

/// Why it fails.
type Failure = Box<dyn Error + Send + Sync>;

/// How often all is run.
const ROUNDS: usize = 5;

/// Evaluations where nobody says more.
const EVALUATIONS: usize = 1_000_000;

/// What is left is not worth taking.
const LEAST: u64 = 64 << 10;

/// For how long memory is free, and then taken: for longer, and the GPU counts as lost.
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

/// Takes all the memory that there is for a while, again and again.
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
        // The next round asks for all its memory anew.
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

/// Built-in programs, each with a task of its own, with so many pairs in all.
fn work(count: usize) -> (Vec<Program>, Vec<Task>) {
    let builtins = builtin::all();
    let each = count.div_ceil(builtins.len());
    let both = builtins.iter().map(|builtin| {
        let task = builtin.task(1, each, 0, builtin.max_side().min(20));
        (builtin.program().clone(), task)
    });
    both.unzip()
}
