//! Whole runs: whatever the driver's GPUs do, the results are those of the reference, in order, each exactly once.

use std::num::NonZeroUsize;

use arc_dsl::generate::Generator;
use arc_dsl::{Program, Type, Value};
use arc_tasks::{Pair, Task, builtin};
use mega_batch::{
    Backend, Batch, EvaluatedBy, Job, Mode, OnDevice, Options, Outcome, Placement, Report, Runner,
};
use rand::{Rng as _, SeedableRng as _};
use rand_pcg::Pcg32;

use crate::support::{Case, Log, case};

/// The most rows and columns of generated grids. These tests are about who evaluates what, not about kernels on
/// large grids, and a driver that interprets kernels takes time in proportion to the cells.
const SIDE: usize = 12;

/// The number of random fault plans.
const PLANS: u64 = 12;

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = vec![
        case("a run with a kernel that hangs on one GPU", hung)
            .with("devices=2;fault=1/kernel:2:hang"),
        case("a run", whole).logs(kernels_ran),
        case("a run, all at once", whole).with("progress=early"),
        case("a run, streams at random", whole).with("progress=7;devices=3"),
        case("a run on three GPUs", shared)
            .with("devices=3")
            .logs(kernels_ran),
        case("a run in little memory", whole)
            .with("bytes=1M")
            .logs(many_kernels_ran),
        case("a run in hardly any memory", whole)
            .with("bytes=120k")
            .logs(many_kernels_ran),
        case(
            "a run in less memory than an evaluation takes",
            nothing_fits,
        )
        .with("bytes=1000"),
        case("a run with allocations that fail", halved).with("fault=cuMemAlloc:12-20:2"),
        case("a run with launches that fail", recovered).with("fault=cuLaunchKernel:5-6:701"),
        case("a run with a kernel that fails on one GPU", taken_over)
            .with("devices=2;fault=1/kernel:2:700")
            .breaks(),
        case("a run with a GPU that is slow", whole).with("devices=2;fault=0/kernel:1-5:100ms"),
        case("a run whose GPU is lost", recovered)
            .with("fault=any:120:999")
            .breaks(),
        case("a run whose GPUs are lost for good", lost)
            .with("devices=2;fault=any:150+:46")
            .ends_anyhow(),
        case("a run without kernels", all_wrong)
            .with("kernels=none")
            .logs(kernels_ran),
    ];
    cases.extend((0..PLANS).map(|seed| {
        let plan = plan(seed);
        case(format!("a run with faults at random, {seed}"), recovered)
            .with(&plan)
            .ends_anyhow()
    }));
    cases
}

/// The settings of up to four GPUs with up to six faults.
fn plan(seed: u64) -> String {
    const CALLS: &[&str] = &[
        "any",
        "kernel",
        "cuMemAlloc",
        "cuMemHostAlloc",
        "cuMemGetInfo",
        "cuMemcpyHtoDAsync",
        "cuMemcpyDtoHAsync",
        "cuLaunchKernel",
        "cuStreamCreate",
        "cuStreamSynchronize",
        "cuEventRecord",
        "cuEventSynchronize",
        "cuModuleLoadDataEx",
        "cuDevicePrimaryCtxRetain",
    ];
    const KINDS: &[&str] = &["2", "2", "46", "214", "700", "701", "719", "999", "5ms"];
    let random = &mut Pcg32::seed_from_u64(seed);
    let devices = random.random_range(1..=4);
    let bytes = 1_u64 << random.random_range(20..=28);
    let mut words = vec![format!("devices={devices};bytes={bytes};progress={seed}")];
    for _ in 0..random.random_range(1..=6) {
        let call = CALLS[random.random_range(0..CALLS.len())];
        let first = 1_u64 << random.random_range(0..9);
        let last = first + random.random_range(0..5);
        let kind = KINDS[random.random_range(0..KINDS.len())];
        let gpu = random.random_range(0..devices);
        words.push(format!("fault={gpu}/{call}:{first}-{last}:{kind}"));
    }
    words.join(";")
}

/// Programs and tasks of all kinds.
fn inputs() -> (Vec<Program>, Vec<Task>) {
    let mut generator = Generator::new(29);
    let built_in = builtin::all().iter();
    let mut programs: Vec<_> = built_in
        .map(|built_in| built_in.program().clone())
        .collect();
    programs.extend((0..30).filter_map(|at| generator.program(1 + at % 9).ok()));
    let some = builtin::all().iter().step_by(42);
    let mut tasks: Vec<_> = some
        .map(|built_in| built_in.task(5, 2, 1, SIDE.max(built_in.min_side())))
        .collect();
    let mut train = Vec::new();
    while train.len() < 5 {
        if let [Value::Grid(input), Value::Grid(output)] =
            [(); 2].map(|()| generator.value(Type::Grid))
        {
            train.push(Pair::new(input, (*output).clone()));
        }
    }
    tasks.push(Task {
        id: "random".into(),
        train,
        ..Task::default()
    });
    (programs, tasks)
}

fn options(backend: Backend) -> Options {
    let mut options = Options::default();
    options.mode = Mode::Parallel;
    options.backend = backend;
    // Placement by cost would leave so few evaluations to the host.
    options.placement = Some(Placement::Devices);
    options.keep_outputs = true;
    options.workers = NonZeroUsize::new(2);
    options
}

/// The outcome of each evaluation. A function that a program returns is compared as text.
fn outcomes(report: &Report) -> Vec<(Job, String, Outcome, Option<String>)> {
    let of_job = |job: &mega_batch::JobResult| {
        let (job, pairs) = (job.job, job.pairs.clone());
        let all = pairs.into_iter().map(move |result| {
            let output = result.output.map(|value| value.to_string());
            (job, format!("{:?}", result.pair), result.outcome, output)
        });
        all.collect::<Vec<_>>()
    };
    report.results.iter().flat_map(of_job).collect()
}

/// Runs twice with devices opened once; returns the devices' statistics of each run.
fn runs(options: &Options) -> Vec<OnDevice> {
    let (programs, tasks) = inputs();
    let batch = Batch::all_pairs(&programs, &tasks);
    let expected = mega_batch::run(&batch, &self::options(Backend::Reference)).unwrap();
    let (totals, expected) = (expected.summary.totals, outcomes(&expected));
    assert_eq!(expected.len() as u64, batch.evaluations());
    let mut runner = Runner::new(options).unwrap();
    let run = |_| {
        let report = runner.run(&batch).unwrap();
        runner.clean_up();
        assert!(outcomes(&report) == expected);
        assert_eq!(report.summary.totals, totals);
        let backends = report.summary.backends;
        let device = backends.device.unwrap_or_default();
        let made = backends.compiled + backends.merged + backends.reference + device.evaluations;
        assert_eq!(made, totals.evaluations);
        device
    };
    (0..2).map(run).collect()
}

fn whole() {
    for device in runs(&options(Backend::Cuda)) {
        assert!(device.evaluations > 500, "{device:?}");
        assert_eq!(
            (device.launches_halved, &device.failure),
            (0, &None),
            "{device:?}"
        );
    }
}

/// Every evaluation reported as done by a GPU is wrong.
fn all_wrong() {
    let (programs, tasks) = inputs();
    let batch = Batch::all_pairs(&programs, &tasks);
    let mut options = options(Backend::Cuda);
    options.keep_outputs = false;
    let report = mega_batch::run(&batch, &options).unwrap();
    let pairs = report.results.iter().flat_map(|job| &job.pairs);
    let by_device = pairs.filter(|pair| pair.evaluated_by == Some(EvaluatedBy::Device));
    let outcomes: Vec<_> = by_device.map(|pair| &pair.outcome).collect();
    assert!(outcomes.len() > 500, "{}", outcomes.len());
    let is_right = |outcome: &&Outcome| **outcome == Outcome::Match;
    assert!(!outcomes.iter().any(is_right));
}

fn kernels_ran(log: &Log) {
    assert!(log.kernels() >= 2);
}

/// Measuring launches several batches.
fn many_kernels_ran(log: &Log) {
    assert!(log.kernels() >= 50);
}

fn shared() {
    let devices = runs(&options(Backend::Cuda));
    let mut used = [false; 3];
    for device in &devices {
        assert_eq!(device.failure, None);
        for (used, (_, activity)) in used.iter_mut().zip(&device.activities) {
            *used |= activity.batches > 0;
        }
    }
    // The run is so short that a device that starts slowly may get no batch.
    assert!(
        used.iter().filter(|used| **used).count() >= 2,
        "{devices:?}"
    );
}

fn halved() {
    let devices = runs(&options(Backend::Cuda));
    let sum = |of: fn(&OnDevice) -> u64| devices.iter().map(of).sum::<u64>();
    assert!(sum(|device| device.launches_halved) > 0, "{devices:?}");
    assert!(sum(|device| device.evaluations) > 500, "{devices:?}");
    assert!(
        devices.iter().all(|device| device.failure.is_none()),
        "{devices:?}"
    );
}

fn nothing_fits() {
    for device in runs(&options(Backend::Cuda)) {
        assert_eq!((device.evaluations, device.failure), (0, None));
    }
}

fn recovered() {
    let devices = runs(&options(Backend::Cuda));
    println!("{devices:?}");
}

fn taken_over() {
    let devices = runs(&options(Backend::Cuda));
    let failed = |device: &OnDevice| device.failure.is_some();
    assert!(devices.iter().any(failed), "{devices:?}");
    for device in devices {
        let [(_, first), _] = &device.activities[..] else {
            panic!("{device:?}");
        };
        // The other GPU may recover.
        assert!(first.failed == 0 && first.items > 0, "{device:?}");
    }
}

fn lost() {
    let devices = runs(&options(Backend::Cuda));
    let reason = devices[0].failure.clone().unwrap_or_default();
    assert!(
        reason.contains("CUDA_ERROR_DEVICE_UNAVAILABLE (46)"),
        "{devices:?}"
    );
    assert_eq!(devices[1].evaluations, 0, "{devices:?}");
}

fn hung() {
    let devices = runs(&options(Backend::Cuda));
    let reason = devices.iter().find_map(|device| device.failure.clone());
    assert!(
        reason.is_some_and(|reason| reason.contains("time limit")),
        "{devices:?}"
    );
}
