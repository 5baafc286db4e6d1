//! Stages that need a GPU: whether its results are right, also with full memory and in several contexts, and how soon
//! there are any. Most of them are other commands of this program, whose output is the result.

use std::process::Command;
use std::thread;
use std::time::Instant;

use anyhow::{Context as _, bail, ensure};
use arc_tasks::{MAX_SIDE, builtin};
use gpu_kernels::device::cuda::{Buffer, CudaDevice};
use gpu_kernels::device::{Device as _, DeviceError, open};
use mega_batch::{Batch, JobResult, OnDevice, Runner};
use serde_json::Value;

use super::outcomes::difference;
use super::plan::BenchMode;
use super::processes::answer;
use super::sheet::{Context, Sheet};
use super::workload::Given;

/// The folder of the driver's cache within that of the parts, in place of the user's.
pub(crate) const DRIVER_CACHE: &str = "driver-cache";

/// The seed of the built-in programs' tasks.
const SEED: u64 = 11;

/// The fields queried from `nvidia-smi`.
const CLOCKS: &str = "--query-gpu=name,driver_version,pstate,clocks.sm,clocks.mem,clocks.max.sm,clocks.max.mem,\
                      power.draw,power.limit,temperature.gpu,ecc.mode.current,mig.mode.current";

/// What this program prints with these arguments.
fn own(stage: &Context<'_>, words: &str) -> anyhow::Result<String> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(words.split(' '));
    answer(command, stage.plan.until).map_err(|why| anyhow::anyhow!("{words}: {why}"))
}

/// What `nvidia-smi` tells, if it is there; processes that open the GPU, with an empty driver cache, and then with the cache as that has left it.
pub(super) fn start(stage: &Context<'_>, sheet: &mut Sheet) -> anyhow::Result<()> {
    let mut command = Command::new("nvidia-smi");
    command.args([CLOCKS, "--format=csv", "--id=0"]);
    // The tool would report another GPU than the fake driver's.
    if !stage.plan.is_fake {
        sheet.say(answer(command, stage.plan.until).unwrap_or_else(|why| why));
    }
    // It may not exist.
    let _ = std::fs::remove_dir_all(sheet.folder().join(DRIVER_CACHE));
    for cache in ["empty", "filled"] {
        let began = Instant::now();
        own(stage, "devices")?;
        let value = began.elapsed().as_secs_f64();
        let name = format!("a process that opens the GPU, driver's cache {cache}");
        sheet.say(format_args!("{name}: {value:.3} s"));
        sheet.figure(name, value, "s");
    }
    Ok(())
}

/// The suite of `selfcheck`: a pass over everything comes before the one with a million cases, for which time may be
/// short.
pub(super) fn self_check(stage: &Context<'_>, sheet: &mut Sheet) -> anyhow::Result<()> {
    let passes: &[(u64, u64)] = if stage.plan.quick {
        &[(1, 1)]
    } else {
        &[(20_000, 1), (1_000_000, 2)]
    };
    for (cases, seed) in passes {
        let words = format!("selfcheck --backend cuda --cases {cases} --seed {seed}");
        let told = own(stage, &words);
        if told.is_err() && stage.plan.is_over() {
            sheet.part.found.left_out.push(words);
            continue;
        }
        sheet.say(&words);
        sheet.say(told?);
        sheet.save()?;
    }
    Ok(())
}

/// Processes on one GPU, in place of several GPUs.
pub(super) fn contexts(stage: &Context<'_>, sheet: &mut Sheet) -> anyhow::Result<()> {
    let (counts, pairs): (&[usize], _) = if stage.plan.quick {
        (&[2], 1)
    } else {
        (&[1, 2, 4], 1_000)
    };
    let words = format!("run --mode gpu --gpus 1 --pairs {pairs} --json -");
    for count in counts {
        let told: Vec<anyhow::Result<String>> = thread::scope(|scope| {
            let all: Vec<_> = (0..*count)
                .map(|_| scope.spawn(|| own(stage, &words)))
                .collect();
            let ended = all.into_iter().map(thread::ScopedJoinHandle::join);
            ended
                .map(|one| one.unwrap_or_else(|_| bail!("a thread panicked")))
                .collect()
        });
        let mut value = 0.0;
        for text in told {
            let run: Value = serde_json::from_str(&text?)?;
            let device = &run["backend"]["device"];
            ensure!(
                run["pairs_right"] == run["evaluations"],
                "{} of {} are right",
                run["pairs_right"],
                run["evaluations"]
            );
            ensure!(
                device["evaluations"].as_u64() > Some(0) && device["failure"].is_null(),
                "the device did not do its part: {device}"
            );
            let rate = run["evaluations_per_second"].as_f64();
            value += rate.context("a run without a rate")?;
        }
        let name = format!("evaluations by {count} processes at a time");
        sheet.say(format_args!("{name}: {value:.0} a second in all"));
        sheet.figure(name, value, "a second");
    }
    Ok(())
}

/// The built-in programs, and their tasks with this many pairs each.
fn built_in(pairs: usize) -> Given {
    let all = builtin::all().iter();
    Given {
        programs: all.clone().map(|one| one.program().clone()).collect(),
        tasks: all.map(|one| one.task(SEED, pairs, 0, MAX_SIDE)).collect(),
    }
}

/// The results of a batch, and what the device did.
fn run_batch(
    batch: &Batch<'_>,
    stage: &Context<'_>,
    mode: BenchMode,
) -> anyhow::Result<(Vec<JobResult>, OnDevice)> {
    let mut runner = Runner::new(&mode.options(stage.plan.workers))?;
    let missing = runner.no_device().map(str::to_owned);
    let report = runner.run(batch)?;
    let mut device = report.summary.backends.device.unwrap_or_default();
    device.failure = device.failure.or(missing);
    Ok((report.results, device))
}

/// How a device failed.
fn failure_of(device: &OnDevice) -> String {
    let failure = device.failure.as_ref();
    failure.map_or_else(String::new, |failure| format!(", {failure}"))
}

/// The smallest piece of memory allocated when a GPU is filled.
const PIECE: usize = 64 << 10;

/// Bytes left free when the GPU is nearly full.
const ROOM: [usize; 3] = [0, 4 << 20, 64 << 20];

/// Runs while the GPU's memory is full, nearly full, and freed again: the same results, and the device works again.
pub(super) fn memory(stage: &Context<'_>, sheet: &mut Sheet) -> anyhow::Result<()> {
    let given = built_in(if stage.plan.quick { 1 } else { 100 });
    let batch = Batch::own_tasks(&given.programs, &given.tasks);
    let expected = run_batch(&batch, stage, BenchMode::Parallel)?.0;
    let device = open::gpu(0)?;
    let run = |name: &str, sheet: &mut Sheet, must_run: bool| {
        let (results, device) = run_batch(&batch, stage, BenchMode::Gpu)?;
        let (evaluations, halved) = (device.evaluations, device.launches_halved);
        sheet.say(format_args!(
            "{name}: {} evaluations, {evaluations} by the device, {halved} batches made in halves{}",
            batch.evaluations(),
            failure_of(&device)
        ));
        if let Some(why) = difference(&expected, &results, &batch) {
            sheet.part.failures.push(format!("{name}: {why}"));
        }
        if must_run && (evaluations == 0 || device.failure.is_some()) {
            let why = format!(
                "{name}: the device did not do its part{}",
                failure_of(&device)
            );
            sheet.part.failures.push(why);
        }
        sheet.save()
    };
    run("before", sheet, true)?;
    for room in ROOM {
        if stage.plan.is_over() {
            sheet.part.found.left_out.push(format!("{room} bytes free"));
            continue;
        }
        let mut held = fill(&device)?;
        // The smallest pieces are freed first.
        while (device.memory()?.free as usize) < room && held.pop().is_some() {}
        let memory = device.memory()?;
        let name = format!("{} of {} bytes free", memory.free, memory.total);
        run(&name, sheet, false)?;
    }
    run("memory given back", sheet, true)
}

/// Allocates memory until the driver has none left, the largest pieces first.
fn fill(device: &CudaDevice) -> anyhow::Result<Vec<Buffer>> {
    let mut held = Vec::new();
    let mut piece = device.memory()?.free as usize / 2;
    loop {
        match device.allocate(piece) {
            Ok(buffer) => held.push(buffer),
            Err(DeviceError::OutOfMemory { .. }) if piece > PIECE => {}
            Err(DeviceError::OutOfMemory { .. }) => return Ok(held),
            Err(error) => return Err(error.into()),
        }
        piece = (piece / 2).max(PIECE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_programs_have_their_tasks() {
        let given = built_in(2);
        let batch = Batch::own_tasks(&given.programs, &given.tasks);
        assert_eq!(batch.evaluations(), 2 * given.programs.len() as u64);
    }
}
