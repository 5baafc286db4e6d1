//! [`STAGES`]: the stages of a proof, and the code of those that run in a process of their own.

use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, bail};
use arc_check::conformance::suite::Extent;
use arc_check::selfcheck::device::{self as check, Checked, Report};
use arc_dsl::{MAX_SIDE, builtin};
use gpu_kernels::device::cuda::{Buffer, CudaDevice};
use gpu_kernels::device::{Device as _, DeviceError, open};
use mega_batch::tuning::{self, DeviceIdentity};
use mega_batch::{Backend, Batch, Mode, OnDevice, Options, Placement, Runner};
use serde_json::{Value, json};

use super::super::builtin_programs;
use super::super::devices::MeasuredReport;
use super::record::Sheet;
use super::{Parts, StageContext, cupy, driver};
use crate::bench::device::{
    Document, Given, LeftOut, Limits, Plan, Progress, Row, Target, break_even,
};
use crate::bench::{self, Environment, Event, Outcomes};

/// A part of the proof, which may fail without the others.
pub(super) struct Stage {
    /// The name in file names.
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    /// Its share of the time, relative to the other stages.
    pub(super) share: f64,
    /// The seconds that it gets if its share is less, up to half of the time left.
    pub(super) least: f64,
    pub(super) execution: Execution,
}

/// Runs a stage in this process, or a part of one.
type Make = fn(&StageContext<'_>, &mut Sheet) -> anyhow::Result<()>;

/// Where a stage runs.
#[derive(Clone, Copy)]
pub(super) enum Execution {
    /// In a process of its own: a GPU that hangs or takes no further work ends with it.
    Process(Make),
    /// In the process of the proof, which starts others and sums up their documents.
    Parts(fn(&mut Parts<'_>, &mut Sheet) -> anyhow::Result<()>),
}

impl Stage {
    /// The time for this stage, given the time left and the total share of the stages left, including this one.
    pub(super) fn time(&self, left: Duration, shares: f64) -> Duration {
        let least = Duration::from_secs_f64(self.least).min(left / 2);
        left.mul_f64(self.share / shares).max(least)
    }
}

/// The stages, in their order. In the first one the driver compiles the kernels, which takes 17 s with an H200
/// however long the proof may take; the others find them in the driver's cache. Of these the most informative come
/// first.
#[rustfmt::skip]
pub(super) const STAGES: &[Stage] = &[
    Stage { least: 60.0, ..stage("start", "Process start to first result", 1.5, Execution::Parts(start)) },
    stage("device", "Device", 0.5, Execution::Process(device)),
    stage("self-check", "Self-check", 6.0, Execution::Process(self_check)),
    stage("programs", "Whole programs", 2.0, Execution::Process(programs)),
    stage("benchmark", "Benchmark of the device", 7.0, Execution::Process(benchmark)),
    stage("modes", "Benchmark of the engine by modes", 3.5, Execution::Process(modes)),
    stage("shapes", "Launch shapes", 0.5, Execution::Process(shapes)),
    stage("memory", "Out of memory", 1.0, Execution::Process(memory)),
    stage("contexts", "Several contexts on one GPU", 1.0, Execution::Parts(contexts)),
    stage("cupy", "CuPy on the same pipelines", 2.0, Execution::Parts(cupy::stage)),
];

const fn stage(name: &'static str, title: &'static str, share: f64, execution: Execution) -> Stage {
    Stage {
        name,
        title,
        share,
        least: 0.0,
        execution,
    }
}

/// What processes are started for by the stages that run several.
pub(super) const PARTS: &[(&str, Make)] = &[("first-result", first_result), ("context", context)];

/// The seed of the built-in programs' tasks; a part adds its number.
const SEED: u64 = 11;

fn device(inside: &StageContext<'_>, sheet: &mut Sheet) -> anyhow::Result<()> {
    let environment = Environment::here(false, sheet.page.of.commit.clone());
    if environment.gpus().is_empty() {
        bail!("{}", environment.why_no_gpu());
    }
    sheet.say(&environment);
    // The tool would report another GPU.
    let tool = if inside.is_fake_driver() {
        Err("not asked: the driver is a fake one".to_owned())
    } else {
        driver::query_tool()
    };
    match &tool {
        Ok(told) => {
            for (name, value) in told {
                sheet.say(format_args!("{name:<22}{value}"));
            }
        }
        Err(why) => sheet.say(format_args!("clocks are not known: {why}")),
    }
    let version = std::fs::read_to_string("/proc/driver/nvidia/version").ok();
    let version = version.filter(|_| !inside.is_fake_driver());
    if let Some(line) = version.as_deref().and_then(|text| text.lines().next()) {
        sheet.say(line);
    }
    let told = tool.as_ref().ok();
    let told: Option<BTreeMap<_, _>> = told.map(|told| told.iter().cloned().collect());
    sheet.page.result = json!({
        "environment": environment,
        "nvidia_smi": told,
        "no_nvidia_smi": tool.as_ref().err(),
        "driver": version,
    });
    Ok(())
}

/// Seconds since 1970, which two processes of one machine can compare.
fn now() -> f64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap_or_default().as_secs_f64()
}

fn first_result(inside: &StageContext<'_>, sheet: &mut Sheet) -> anyhow::Result<()> {
    let start = bench::device::start(inside.began)?;
    sheet.page.result = json!({ "at": now(), "start": start });
    Ok(())
}

/// With an empty driver cache, and then with the cache as that has left it.
fn start(parts: &mut Parts<'_>, sheet: &mut Sheet) -> anyhow::Result<()> {
    parts.empty_cache()?;
    let filled = if parts.is_quick() { 1 } else { 3 };
    let mut rows = Vec::new();
    for number in 0..=filled {
        let began = now();
        let pages = parts.run("first-result", 1)?;
        let Some(page) = pages.first() else { continue };
        let number_of = |value: &Value| value.as_f64().context("a process told no time");
        let seconds = number_of(&page.result["at"])? - began;
        let cache = if number == 0 { "empty" } else { "filled" };
        sheet.say(format_args!(
            "driver's cache {cache:<8}{:>10.1} ms, of which the device was opened in {:.1} ms",
            seconds * 1e3,
            number_of(&page.result["start"]["device"])? * 1e3
        ));
        rows.push(json!({
            "driver_cache": cache, "seconds": seconds, "start": page.result["start"],
        }));
        sheet.page.result = json!({ "rows": rows });
        sheet.write()?;
    }
    Ok(())
}

fn self_check(inside: &StageContext<'_>, sheet: &mut Sheet) -> anyhow::Result<()> {
    // A pass over everything comes before the one with a million cases, for which time may be short.
    let passes = if inside.quick {
        let smallest = Extent {
            cases: 16,
            programs: 100,
            batch: 100,
            seed: 1,
        };
        let replay = "not by `selfcheck`: the look is smaller than its least".to_owned();
        vec![(smallest, replay)]
    } else {
        let pass = |(cases, seed)| {
            let replay =
                format!("mega-batch selfcheck --backend cuda --cases {cases} --seed {seed}");
            (Extent::of(cases, seed), replay)
        };
        [(20_000, 1), (1_000_000, 2)].map(pass).into()
    };
    let mut results: Vec<Value> = Vec::new();
    for (extent, replay) in passes {
        let lines = sheet.page.lines.clone();
        let mut failed = None;
        let report = check::conformance_until(extent, |report| {
            if sheet.is_due() {
                let so_far = vec![checked(report, &replay)];
                let passes = [results.clone(), so_far].concat();
                sheet.page.result = json!({ "passes": passes });
                sheet.page.lines.clone_from(&lines);
                sheet.say(report);
                failed = failed.take().or_else(|| sheet.write().err());
            }
            failed.is_none() && !inside.is_over()
        })?;
        if let Some(error) = failed {
            return Err(error);
        }
        sheet.page.lines = lines;
        sheet.say(&report);
        sheet.say(format_args!("the same again: {replay}\n"));
        for failure in &report.failures {
            let check::Failed { family, test, why } = failure;
            let told = format!("{family}, {test}: {why}");
            sheet.page.failures.push(told);
        }
        if report.not_run > 0 {
            let left = format!("{} tests of `{replay}`", report.not_run);
            sheet.page.left_out.push(left);
        } else if report.failures.is_empty() && !report.is_passed() {
            sheet
                .page
                .failures
                .push("hardly anything was compared".to_owned());
        }
        results.push(checked(&report, &replay));
        sheet.page.result = json!({ "passes": results });
        sheet.write()?;
    }
    Ok(())
}

fn checked(report: &Report, replay: &str) -> Value {
    let counts = report.counts();
    let failures = report
        .failures
        .iter()
        .map(|failed| json!({ "family": failed.family, "test": failed.test, "why": failed.why }));
    json!({
        "replay": replay, "cases": counts.cases(), "same": counts.same, "errors": counts.failing,
        "bail_outs": counts.bail_outs, "differ": counts.different,
        "tests": report.rows.iter().map(|row| row.tests).sum::<usize>(),
        "tests_not_run": report.not_run, "failures": failures.collect::<Vec<_>>(),
    })
}

/// The built-in programs, and their tasks with this many pairs each.
fn built_in(pairs: usize, seed: u64) -> Given {
    let tasks = builtin::all().iter();
    let tasks = tasks.map(|one| one.task(seed, pairs, 0, MAX_SIDE));
    Given {
        programs: builtin_programs(),
        tasks: tasks.collect(),
    }
}

fn own_tasks(given: &Given) -> Batch<'_> {
    Batch::own_tasks(&given.programs, &given.tasks)
}

/// The options for evaluating on the first GPU wherever possible, or on the host alone.
fn options(inside: &StageContext<'_>, backend: Backend, keep_outputs: bool) -> Options {
    let mut options = Options::default();
    options.mode = Mode::Parallel;
    options.backend = backend;
    options.workers = inside.workers;
    options.placement = (backend == Backend::Cuda).then_some(Placement::Devices);
    options.gpus = (backend == Backend::Cuda).then_some(1);
    options.keep_outputs = keep_outputs;
    options
}

/// The outcomes of a batch, and the time that it took.
struct BatchRun {
    outcomes: Outcomes,
    device: OnDevice,
    seconds: f64,
}

fn run_batch(batch: &Batch<'_>, options: &Options) -> anyhow::Result<BatchRun> {
    let mut runner = Runner::new(options)?;
    let missing = runner.no_device().map(str::to_owned);
    let mut outcomes = Outcomes::default();
    let began = Instant::now();
    let summary = runner.run_into(batch, &mut outcomes)?;
    let seconds = began.elapsed().as_secs_f64();
    let mut device = summary.backends.device.unwrap_or_default();
    device.failure = device.failure.or(missing);
    Ok(BatchRun {
        outcomes,
        device,
        seconds,
    })
}

fn told(made: &BatchRun, evaluations: u64) -> Value {
    let BatchRun {
        device, seconds, ..
    } = made;
    json!({
        "evaluations": evaluations, "seconds": seconds, "by_device": device.evaluations,
        "bail_outs": device.bail_outs, "programs_on_device": device.programs,
        "programs_host_only": device.programs_host_only, "failure": device.failure,
        "launches_halved": device.launches_halved,
    })
}

fn programs(inside: &StageContext<'_>, sheet: &mut Sheet) -> anyhow::Result<()> {
    // A small batch comes before the large one, for which time may be short.
    let sizes: &[usize] = if inside.quick { &[1] } else { &[4, 400] };
    let own: Vec<Given> = sizes.iter().map(|pairs| built_in(*pairs, SEED)).collect();
    let (given, errors) = inside.given.read();
    let errors = errors.iter().map(ToString::to_string);
    sheet.page.left_out.extend(errors);
    let built_in = |own| ("built-in programs", own_tasks(own));
    let mut batches: Vec<(&str, Batch<'_>)> = own.iter().map(built_in).collect();
    if given.programs.is_empty() {
        sheet.say("no programs were given: --programs FILE --tasks DIR");
    } else {
        batches.insert(1, ("given programs on their tasks", own_tasks(&given)));
        if !inside.quick {
            let all = Batch::all_pairs(&given.programs, &given.tasks);
            batches.push(("given programs on all tasks", all));
        }
    }
    let mut rows = Vec::new();
    for (name, batch) in &batches {
        let evaluations = batch.evaluations();
        for keep_outputs in [true, false] {
            let what = if keep_outputs { "outputs" } else { "verdicts" };
            if inside.is_over() {
                let left = format!("{name}, {what}");
                sheet.page.left_out.push(left);
                continue;
            }
            let expected = run_batch(batch, &options(inside, Backend::Auto, keep_outputs))?;
            let found = run_batch(batch, &options(inside, Backend::Cuda, keep_outputs))?;
            let difference = expected.outcomes.difference(&found.outcomes, batch);
            sheet.say(format_args!(
                "{name}, {what}: {evaluations} evaluations, {} by the device, {}; {:.2} s, the host alone {:.2} s",
                found.device.evaluations,
                difference.as_ref().map_or("all as by the host", |_| "not as by the host"),
                found.seconds,
                expected.seconds
            ));
            rows.push(json!({
                "name": name, "compared": what, "found": told(&found, evaluations),
                "host_seconds": expected.seconds, "difference": difference,
            }));
            let failures = difference.into_iter().chain(found.device.failure);
            let failures = failures.map(|why| format!("{name}, {what}: {why}"));
            sheet.page.failures.extend(failures);
            if found.device.evaluations == 0 && evaluations > 0 {
                let failure = format!("{name}, {what}: the device made no evaluation");
                sheet.page.failures.push(failure);
            }
            sheet.page.result = json!({ "rows": rows });
            sheet.write()?;
        }
    }
    if !given.programs.is_empty() && !inside.is_over() {
        // Compares values on the device, while a run compares outcomes.
        let row = check::programs(Checked::Cuda, &given.programs, &given.tasks)?;
        let report = Report {
            rows: vec![row],
            ..Report::default()
        };
        sheet.say(&report);
        if let Some((_, why)) = &report.rows[0].first {
            sheet.page.failures.push(format!("given programs: {why}"));
        }
        sheet.page.result = json!({ "rows": rows, "values": checked(&report, "") });
    }
    Ok(())
}

/// Puts the results of a benchmark in progress into the page.
fn so_far(sheet: &mut Sheet, limits: Option<&Limits>, rows: &[Row]) {
    sheet.page.result = json!({ "limits": limits, "rows": rows, "break_even": break_even(rows) });
    sheet.page.lines.clear();
    if let Some(limits) = limits {
        sheet.say(limits);
    }
    sheet.say(bench::device::Heading);
    for row in rows {
        sheet.say(row);
    }
}

fn benchmark(inside: &StageContext<'_>, sheet: &mut Sheet) -> anyhow::Result<()> {
    let (given, errors) = inside.given.read();
    let errors = errors.iter().map(ToString::to_string);
    sheet.page.left_out.extend(errors);
    let plan = if inside.quick {
        Plan::smallest(Target::Cuda)
    } else {
        Plan::full(Target::Cuda)
    };
    let plan = Plan {
        time: inside.left(),
        workers: inside.workers,
        goes_on: true,
        ..plan
    };
    let (mut limits, mut rows, mut failed): (Option<Limits>, Vec<Row>, _) =
        (None, Vec::new(), None);
    let mut clocks: Vec<Vec<(String, String)>> = Vec::new();
    let measured = bench::device::measure(&plan, &given, Instant::now(), |told| {
        match told {
            Progress::Limits(found) => limits = Some(found.clone()),
            Progress::Row(row) => rows.push(row.clone()),
        }
        if sheet.is_due() {
            // Just after the GPU had work, and between two rows.
            if !inside.is_fake_driver() {
                clocks.extend(driver::query_tool().ok());
            }
            so_far(sheet, limits.as_ref(), &rows);
            failed = failed.take().or_else(|| sheet.write().err());
        }
    });
    let mut document = match measured {
        Ok(document) => document,
        Err(error) => {
            so_far(sheet, limits.as_ref(), &rows);
            return Err(error.into());
        }
    };
    if let Some(error) = failed {
        return Err(error);
    }
    document.commit.clone_from(&sheet.page.of.commit);
    document.device.clone_from(&sheet.page.of.device);
    document.note = inside.is_fake_driver().then_some("not run on a GPU");
    sheet.page.lines.clear();
    sheet.say(bench::device::Heading);
    let largest = document.rows.iter().map(|row| row.grids).max();
    let rows = document.rows.iter();
    for row in rows.filter(|row| Some(row.grids) == largest) {
        sheet.say(row);
    }
    sheet.say(&document);
    for left in &document.left_out {
        let list = if left.differs {
            &mut sheet.page.failures
        } else {
            &mut sheet.page.left_out
        };
        list.push(left_out(left));
    }
    sheet.page.result = serde_json::to_value::<Document>(document)?;
    let named = |told: Vec<(String, String)>| told.into_iter().collect::<BTreeMap<_, _>>();
    let clocks = clocks.into_iter().map(named);
    sheet.page.result["nvidia_smi"] = serde_json::to_value(clocks.collect::<Vec<_>>())?;
    Ok(())
}

fn left_out(left: &LeftOut) -> String {
    let name = left.name.as_deref().unwrap_or("everything");
    let size = left
        .size
        .map(|size| format!(", {size}"))
        .unwrap_or_default();
    format!("{name}{size}: {}", left.reason)
}

fn modes(inside: &StageContext<'_>, sheet: &mut Sheet) -> anyhow::Result<()> {
    let plan = if inside.quick {
        bench::Plan::smallest()
    } else {
        bench::Plan::full()
    };
    let plan = bench::Plan {
        workers: inside.workers,
        until: Some(inside.deadline),
        ..plan
    };
    let environment = Environment::here(false, sheet.page.of.commit.clone());
    let (mut cells, mut failed) = (Vec::new(), None);
    let document = bench::measure(&plan, environment, |event| {
        if let Event::Cells(some) = event {
            cells.extend_from_slice(some);
        }
        if sheet.is_due() {
            sheet.page.result = json!({ "cells": cells });
            failed = failed.take().or_else(|| sheet.write().err());
        }
    });
    if let Err(error) = document {
        sheet.page.result = json!({ "cells": cells });
        return Err(error.into());
    }
    if let Some(error) = failed {
        return Err(error);
    }
    let mut document = document?;
    if inside.is_fake_driver() {
        // The targets are for GPUs.
        document.verdict.clear();
    }
    sheet.say(bench::Heading);
    for cell in &document.cells {
        sheet.say(bench::Row(cell));
    }
    for judgement in &document.verdict {
        sheet.say(judgement);
    }
    let of_devices = document.cells.iter();
    let of_devices = of_devices.filter(|cell| cell.mode.uses_devices());
    let failures = of_devices.filter_map(|cell| {
        let device = cell.on_device.as_ref();
        let failure = match device.and_then(|device| device.failure.as_deref()) {
            Some(failure) => failure,
            // A device that failed is given nothing for a while.
            None if device.is_none_or(|device| device.evaluations == 0.0) => {
                "the device made no evaluation"
            }
            None => return None,
        };
        let (kind, size) = (cell.kind, cell.size);
        Some(format!("{kind}, {size} evaluations a batch: {failure}"))
    });
    sheet.page.failures.extend(failures);
    sheet
        .page
        .left_out
        .extend(document.left_out.iter().cloned());
    sheet.page.result = serde_json::to_value(document)?;
    Ok(())
}

fn shapes(inside: &StageContext<'_>, sheet: &mut Sheet) -> anyhow::Result<()> {
    let budget = if inside.quick {
        Duration::from_millis(10)
    } else {
        inside.left().min(Duration::from_secs(10))
    };
    let information = open::within(open::TIME_LIMIT, open::gpus)??;
    let information = information
        .into_iter()
        .next()
        .context("there is no GPU")??;
    let best = tuning::tune(Box::new(|| open::gpu(0)), budget)?;
    match best {
        Some(best) => sheet.say(format_args!(
            "the fastest of {} shapes: {} warps a block, {} evaluations side by side, {} blocks a \
             multiprocessor; {:.1} us a batch, by default {:.1} us",
            best.tried,
            best.tuning.warps,
            best.tuning.side_by_side,
            best.tuning.blocks,
            best.time.as_secs_f64() * 1e6,
            best.default_time.as_secs_f64() * 1e6
        )),
        None => sheet.page.left_out.push("no shape was timed".to_owned()),
    }
    let id = DeviceIdentity::of(&information);
    let report = best.map(|best| MeasuredReport::new(&id, &best));
    sheet.page.result = serde_json::to_value(report)?;
    Ok(())
}

/// The smallest piece of memory allocated when a GPU is filled.
const PIECE: usize = 64 << 10;

/// Bytes left free when the GPU is nearly full.
const ROOM: [usize; 3] = [0, 4 << 20, 64 << 20];

fn memory(inside: &StageContext<'_>, sheet: &mut Sheet) -> anyhow::Result<()> {
    let given = built_in(if inside.quick { 1 } else { 100 }, SEED);
    let batch = own_tasks(&given);
    let evaluations = batch.evaluations();
    let expected = run_batch(&batch, &options(inside, Backend::Auto, false))?.outcomes;
    let device = open::gpu(0)?;
    let before = device.memory()?;
    let mut rows = Vec::new();
    let mut run = |name: String, sheet: &mut Sheet, must_run: bool| {
        let found = run_batch(&batch, &options(inside, Backend::Cuda, false))?;
        let difference = expected.difference(&found.outcomes, &batch);
        let failure = found.device.failure.as_deref().unwrap_or("none");
        sheet.say(format_args!(
            "{name}: {evaluations} evaluations, {} by the device, {} batches made in halves, failure: {failure}",
            found.device.evaluations, found.device.launches_halved
        ));
        if let Some(why) = &difference {
            sheet.page.failures.push(format!("{name}: {why}"));
        }
        if must_run && (found.device.evaluations == 0 || found.device.failure.is_some()) {
            let why = format!("{name}: the device did not do its part, failure: {failure}");
            sheet.page.failures.push(why);
        }
        rows.push(
            json!({ "name": name, "found": told(&found, evaluations), "difference": difference }),
        );
        sheet.page.result =
            json!({ "memory": { "total": before.total, "free": before.free }, "rows": rows });
        sheet.write()
    };
    run("before".to_owned(), sheet, true)?;
    for room in ROOM {
        if inside.is_over() {
            sheet.page.left_out.push(format!("{room} bytes free"));
            continue;
        }
        let mut held = fill(&device)?;
        let full = device.memory()?;
        // The smallest pieces are freed first.
        while (device.memory()?.free as usize) < room && held.pop().is_some() {}
        let free = device.memory()?.free;
        let name = format!(
            "{free} bytes free, after the driver had refused {PIECE} with {} of {} free",
            full.free, full.total
        );
        run(name, sheet, false)?;
    }
    run("memory given back".to_owned(), sheet, true)
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

/// One of several processes that use the GPU at the same time.
fn context(inside: &StageContext<'_>, sheet: &mut Sheet) -> anyhow::Result<()> {
    let window = if inside.quick {
        Duration::ZERO
    } else {
        Duration::from_secs(3)
    };
    let pairs = if inside.quick { 1 } else { 100 };
    let given = built_in(pairs, SEED + inside.part as u64);
    let batch = own_tasks(&given);
    let expected = run_batch(&batch, &options(inside, Backend::Auto, true))?.outcomes;
    let with_outputs = run_batch(&batch, &options(inside, Backend::Cuda, true))?;
    let difference = expected.difference(&with_outputs.outcomes, &batch);
    let mut runner = Runner::new(&options(inside, Backend::Cuda, false))?;
    let mut failure = with_outputs.device.failure;
    runner.run_into(&batch, &mut ())?;
    let (began, mut evaluations, mut by_device) = (Instant::now(), 0, 0);
    loop {
        let summary = runner.run_into(&batch, &mut ())?;
        evaluations += batch.evaluations();
        let device = summary.backends.device.unwrap_or_default();
        by_device += device.evaluations;
        failure = failure.or(device.failure);
        if began.elapsed() >= window || inside.is_over() {
            break;
        }
    }
    let seconds = began.elapsed().as_secs_f64();
    sheet.page.failures.extend(difference);
    sheet.page.failures.extend(failure);
    if by_device == 0 {
        sheet
            .page
            .failures
            .push("the device made no evaluation".to_owned());
    }
    sheet.page.result = json!({
        "evaluations": evaluations, "by_device": by_device, "seconds": seconds,
        "per_second": evaluations as f64 / seconds.max(1e-9),
    });
    Ok(())
}

fn contexts(parts: &mut Parts<'_>, sheet: &mut Sheet) -> anyhow::Result<()> {
    let counts: &[usize] = if parts.is_quick() { &[2] } else { &[1, 2, 4] };
    let mut rows = Vec::new();
    for &count in counts {
        let pages = parts.run("context", count)?;
        let sum = |key: &str| -> f64 {
            let numbers = pages.iter().filter_map(|page| page.result[key].as_f64());
            numbers.sum()
        };
        sheet.say(format_args!(
            "{count} at a time: {:.0} evaluations compared and made again, {:.0} by the device, {:.0} a second in all",
            sum("evaluations"),
            sum("by_device"),
            sum("per_second")
        ));
        for (number, page) in pages.iter().enumerate() {
            let failures = page.failures.iter();
            let failures = failures.map(|why| format!("{count} at a time, number {number}: {why}"));
            sheet.page.failures.extend(failures);
        }
        let found: Vec<&Value> = pages.iter().map(|page| &page.result).collect();
        rows.push(json!({ "contexts": count, "per_second": sum("per_second"), "each": found }));
        sheet.page.result = json!({ "rows": rows });
        sheet.write()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_have_names_of_their_own() {
        let mut names: Vec<&str> = STAGES.iter().map(|stage| stage.name).collect();
        names.extend(PARTS.iter().map(|(name, _)| *name));
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
        assert!(STAGES.iter().all(|stage| stage.share > 0.0));
    }

    #[test]
    fn a_short_proof_leaves_the_driver_time_to_compile() {
        let all: f64 = STAGES.iter().map(|stage| stage.share).sum();
        let time = |stage: &Stage, left| stage.time(Duration::from_secs(left), all);
        let [first, others @ ..] = STAGES else {
            panic!("there are stages");
        };
        assert_eq!(first.name, "start");
        assert_eq!(time(first, 90), Duration::from_secs(45));
        assert_eq!(
            time(first, 1_500),
            Duration::from_secs(1_500).mul_f64(first.share / all)
        );
        for other in others {
            assert_eq!(
                time(other, 90),
                Duration::from_secs(90).mul_f64(other.share / all)
            );
        }
    }

    #[test]
    fn the_page_has_every_stage_with_its_share() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/proof.md");
        let page = std::fs::read_to_string(page).unwrap();
        let all: f64 = STAGES.iter().map(|stage| stage.share).sum();
        for Stage { name, share, .. } in STAGES {
            let mut lines = page.lines();
            let begin = format!("| `{name}` | ");
            let line = lines.find(|line| line.starts_with(&begin)).unwrap();
            let end = format!(" | {:.0}% |", share / all * 100.0);
            assert!(line.ends_with(&end), "{line}{end}");
        }
    }

    #[test]
    fn built_in_programs_have_their_tasks() {
        let given = built_in(2, SEED);
        let evaluations = own_tasks(&given).evaluations();
        assert_eq!(evaluations, 2 * given.programs.len() as u64);
    }
}
