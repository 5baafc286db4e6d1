use std::num::NonZeroUsize;

use arc_dsl::generate::Generator;
use arc_dsl::{Grid, Limits, Operand, Primitive, ProgramBuilder, Value};
use arc_tasks::{OtherSplit, Pair, Task, builtin};
use gpu_kernels::device::{Device as _, Unavailable};
use gpu_sched::Executor as _;
use gpu_sched::launcher::Launcher;
use gpu_sim::emulated::{EmulatedDevice, Emulation};
use gpu_sim::faulty::{FaultPlan, Faulty, Outage};
use gpu_sim::open;

use super::*;
use crate::batch::Job;
use crate::batch::options::{Backend, Mode, Options};
use crate::results::summary::Summary;
use crate::run::devices::NO_GRID;
use crate::run::runner::fleet::{OpenedDevice, OpenedDevices, device as device_of};
use crate::run::runner::tests::{mixed_batch, pipeline, without_times};
use crate::run::runner::{Report, Runner, run};

fn options(backend: Backend, mode: Mode, keep_outputs: bool) -> Options {
    Options {
        mode,
        backend,
        keep_outputs,
        workers: NonZeroUsize::new(2),
        ..Options::default()
    }
}

fn on(devices: Result<Vec<OpenedDevice>, Unavailable>, mode: Mode, keep: bool) -> Runner {
    let unavailable = devices.as_ref().err().map(ToString::to_string);
    let devices = devices.unwrap_or_default();
    with(
        OpenedDevices {
            devices,
            unavailable,
        },
        mode,
        keep,
    )
}

fn with(found: OpenedDevices, mode: Mode, keep: bool) -> Runner {
    let options = options(Backend::Emulated, mode, keep);
    Runner::with_devices(&options, options.executors(), found).unwrap()
}

fn emulated(emulation: Emulation) -> Result<Vec<OpenedDevice>, Unavailable> {
    let open = move || open::emulated(0, &emulation);
    device_of(Box::new(open)).map(|device| vec![device])
}

/// Without a compiler for the kernels, the CPU does everything and less is tested.
fn is_there() -> bool {
    EmulatedDevice::fingerprint().is_some()
}

/// The summary of the device, after checking that every evaluation was counted once.
fn device(report: &Report) -> OnDevice {
    let backends = &report.summary.backends;
    assert_eq!(backends.no_device.is_none(), is_there());
    let device = backends.device.clone().unwrap_or_default();
    let made = backends.compiled + backends.merged + backends.reference + device.evaluations;
    assert_eq!(made, report.summary.totals.evaluations);
    // The scheduler does not count items that fell back.
    let by_scheduler = device.activities.iter().map(|(_, activity)| activity.items);
    assert_eq!(by_scheduler.sum::<u64>(), device.evaluations);
    device
}

fn sum(counts: &BTreeMap<String, u64>) -> u64 {
    counts.values().sum()
}

/// All of a summary but times and executors.
fn counted(summary: &Summary) -> impl PartialEq + std::fmt::Debug {
    let of_programs = summary.by_program.iter();
    let of_programs = of_programs.map(|of| (of.evaluations, of.failures));
    let splits = summary.by_split.iter();
    let splits = splits.map(|(name, of)| (name.clone(), of.evaluations, of.right, of.pairs_right));
    (
        summary.totals,
        [
            summary.tasks_solved,
            summary.pairs_right,
            summary.pairs_expected,
        ],
        summary.by_task.clone(),
        summary.failures.clone(),
        of_programs.collect::<Vec<_>>(),
        splits.collect::<Vec<_>>(),
    )
}

#[test]
fn where_nobody_takes_results_the_same_are_counted() {
    let (programs, mut tasks) = mixed_batch();
    tasks.drain(3..tasks.len() - 1);
    let unknown = Pair::new(Grid::filled(2, 3, 4), None);
    tasks[0].test.push(unknown.clone());
    tasks[1].others = vec![OtherSplit {
        name: "extra".into(),
        pairs: vec![unknown, tasks[1].train[0].clone()],
    }];
    let batch = Batch::all_pairs(&programs, &tasks);
    let by = |backend, mode, keep_outputs| {
        let options = options(backend, mode, keep_outputs);
        Runner::new(&options)
            .unwrap()
            .run_into(&batch, &mut ())
            .unwrap()
    };
    let expected = by(Backend::Reference, Mode::Sequential, false);
    for (mode, keep_outputs) in [
        (Mode::Sequential, true),
        (Mode::Sequential, false),
        (Mode::Parallel, false),
    ] {
        let summary = by(Backend::Emulated, mode, keep_outputs);
        assert_eq!(counted(&summary), counted(&expected));
        let of_device = summary
            .backends
            .device
            .map_or(0, |device| device.evaluations);
        assert_eq!(of_device > 500, is_there());
    }
}

#[test]
fn an_emulated_device_gives_what_the_reference_gives() {
    let (programs, tasks) = mixed_batch();
    let batch = Batch::all_pairs(&programs, &tasks);
    for (mode, keep_outputs) in [(Mode::Sequential, true), (Mode::Parallel, false)] {
        let reference = options(Backend::Reference, mode, keep_outputs);
        let expected = run(&batch, &reference).unwrap();
        let report = run(&batch, &options(Backend::Emulated, mode, keep_outputs)).unwrap();
        let results = without_times(&report);
        for (result, expected) in results.iter().zip(&without_times(&expected)) {
            assert_eq!(result, expected, "{}", batch.program(result.0));
        }
        assert_eq!(results.len(), batch.evaluations() as usize);
        assert_eq!(report.summary.totals, expected.summary.totals);
        let device = device(&report);
        if is_there() {
            assert!(device.evaluations > 500, "{device:?}");
            assert!(sum(&device.bail_outs) > 0, "{device:?}");
            let encoded = device.programs + sum(&device.programs_host_only);
            assert_eq!(encoded, programs.len() as u64);
            assert_eq!((device.launches_halved, device.failure), (0, None));
        }
    }
}

#[test]
fn launches_are_halved_until_they_fit() {
    let (mut programs, tasks) = mixed_batch();
    // An arena is larger than everything else that an evaluation needs.
    programs.retain(|program| encoded(program, u32::MAX).is_ok_and(|encoded| !encoded.has_arena()));
    let batch = Batch::all_pairs(&programs, &tasks);
    let expected = run(&batch, &options(Backend::Reference, Mode::Parallel, false)).unwrap();
    let mut whole = None;
    // The first batch does not fit; later ones are sized to fit.
    for bytes in [1 << 30, 28_000, 1] {
        let emulation = Emulation {
            bytes,
            ..Emulation::default()
        };
        let report = on(emulated(emulation), Mode::Parallel, false).run(&batch);
        let report = report.unwrap();
        assert!(without_times(&report) == without_times(&expected));
        let device = device(&report);
        if !is_there() {
            continue;
        }
        let whole = whole.get_or_insert_with(|| device.clone());
        let full = device.bail_outs.get(FULL).copied().unwrap_or_default();
        let through = |device: &OnDevice| device.evaluations + sum(&device.bail_outs);
        assert_eq!(device.launches_halved > 0, bytes < 1 << 30, "{bytes}");
        assert_eq!(full > 0, bytes == 1, "{full} at {bytes}");
        assert_eq!(device.evaluations > 0, bytes > 1);
        if full == 0 {
            assert_eq!(through(&device), through(whole));
        }
        assert_eq!(device.failure, None);
    }
}

/// An emulated device with injected faults, also after it is reopened.
fn faulty(plan: FaultPlan) -> OpenedDevice {
    let emulated = open::emulated(0, &Emulation::default()).unwrap();
    let faulty = Faulty::new(emulated, plan);
    let open = move || faulty.new_stream().map_err(|_| Unavailable::NoDevice);
    device_of(Box::new(open)).unwrap()
}

#[test]
fn what_a_device_leaves_when_it_fails_others_do() {
    if !is_there() {
        return;
    }
    let (programs, tasks) = mixed_batch();
    let batch = Batch::all_pairs(&programs, &tasks);
    let expected = run(&batch, &options(Backend::Reference, Mode::Parallel, true)).unwrap();
    // The first calls open it, and it is gone before it has evaluated everything.
    let gone = FaultPlan {
        outages: vec![Outage {
            from: 60,
            calls: u64::MAX,
        }],
        faults: Vec::new(),
    };
    for (mode, others) in [
        (Mode::Sequential, 0),
        (Mode::Parallel, 0),
        (Mode::Parallel, 1),
    ] {
        let mut devices = vec![faulty(gone.clone())];
        devices.extend((0..others).map(|_| faulty(FaultPlan::default())));
        let mut runner = on(Ok(devices), mode, true);
        for _ in 0..2 {
            let report = runner.run(&batch).unwrap();
            assert!(without_times(&report) == without_times(&expected));
            let device = device(&report);
            let failure = device.failure.unwrap_or_default();
            let is_lost = failure.starts_with("the device is lost: ");
            assert!(is_lost || device.activities[0].1.batches == 0, "{failure}");
            if others > 0 {
                assert_eq!(device.activities[1].1.failed, 0);
                assert!(device.activities[1].1.batches > 0);
            }
        }
    }
}

#[test]
fn without_a_device_the_cpu_does_as_auto() {
    let (programs, tasks) = mixed_batch();
    let batch = Batch::all_pairs(&programs, &tasks);
    let expected = run(&batch, &options(Backend::Auto, Mode::Parallel, true)).unwrap();
    let mut runner = on(Err(Unavailable::NoDevice), Mode::Parallel, true);
    let reason = "the NVIDIA driver finds no GPU";
    assert_eq!(runner.no_device(), Some(reason));
    let report = runner.run(&batch).unwrap();
    assert!(without_times(&report) == without_times(&expected));
    let mut backends = report.summary.backends;
    assert_eq!(backends.no_device.take().as_deref(), Some(reason));
    backends.backend = Backend::Auto;
    backends.compile_time = expected.summary.backends.compile_time;
    backends
        .bail_out_times
        .clone_from(&expected.summary.backends.bail_out_times);
    assert_eq!(backends, expected.summary.backends);
}

#[test]
fn a_device_that_is_left_out_is_told_beside_those_that_are_used() {
    if !is_there() {
        return;
    }
    let (programs, tasks) = mixed_batch();
    let batch = Batch::all_pairs(&programs, &tasks);
    let reason = "GPU 1 is not used: the NVIDIA driver finds no GPU";
    for (plan, others) in [
        (FaultPlan::default(), ""),
        (
            FaultPlan {
                outages: vec![Outage {
                    from: 60,
                    calls: u64::MAX,
                }],
                faults: Vec::new(),
            },
            "; the device is lost",
        ),
    ] {
        let found = OpenedDevices {
            devices: vec![faulty(plan)],
            unavailable: Some(reason.to_owned()),
        };
        let mut runner = with(found, Mode::Parallel, true);
        assert_eq!(
            (runner.left_out(), runner.no_device()),
            (Some(reason), None)
        );
        let device = device(&runner.run(&batch).unwrap());
        let failure = device.failure.unwrap_or_default();
        let rest = failure.strip_prefix(reason).unwrap();
        assert!(
            rest.starts_with(others) && rest.is_empty() == others.is_empty(),
            "{failure}"
        );
    }
}

#[test]
fn within_lower_bounds_no_device_is_opened() {
    let tasks = [Task::default()];
    let programs = [pipeline("solve_a", &[Primitive::Vmirror])];
    let limits = Limits {
        timeout: Some(Duration::from_secs(60)),
        ..Limits::default()
    };
    for backend in [Backend::Emulated, Backend::Interpreted, Backend::Cuda] {
        let options = Options {
            limits: limits.clone(),
            ..options(backend, Mode::Sequential, false)
        };
        let mut runner = Runner::new(&options).unwrap();
        let backends = runner.run(&Batch::all_pairs(&programs, &tasks)).unwrap();
        let backends = backends.summary.backends;
        assert_eq!((backends.device, backends.no_device), (None, None));
    }
}

#[test]
fn beside_the_host_a_device_leaves_programs_that_it_bails_out_of() {
    let programs = [
        pipeline("solve_a", &[Primitive::Vmirror]),
        pipeline("solve_b", &[Primitive::Hmirror]),
    ];
    let grid = |side: u8| Grid::filled(side.into(), side.into(), 1);
    // Two of three grids of the second task fit on no device.
    let task = |every: u16| Task {
        train: (0..600)
            .map(|at| grid(if at % every == 0 { 3 } else { 33 }))
            .map(|grid| Pair::new(grid.clone(), Some(grid)))
            .collect(),
        ..Task::default()
    };
    let tasks = [task(1), task(3)];
    let jobs = [0, 1].map(|at| Job {
        program: at,
        task: at,
    });
    let batch = Batch::listed(&programs, &tasks, jobs.to_vec()).unwrap();
    let numbers = AtomicU64::new(0);
    let all = 0..batch.evaluations();
    for (dear, expected) in [(f64::MAX, [600, 0]), (f64::INFINITY, [600, 200])] {
        let stage = DeviceStage::new(&batch, false, u32::MAX, &numbers);
        let prepare = || {
            let keep = Keep {
                dear,
                long: f64::INFINITY,
            };
            stage.prepare(&all, keep)
        };
        let asked = |window: &Prepared| {
            let mut by_task = [0, 0];
            for (_, span) in &window.spans {
                by_task[span.verdict as usize / 600] += span.pairs.len();
            }
            by_task
        };
        let (first, kept) = prepare();
        assert_eq!((asked(&first), kept), ([600, 200], vec![]));
        let answers = Answers {
            verdicts: vec![Verdict::from(Ok(true)); 1200],
            results: gpu_kernels::Results::default(),
            note: first.note,
        };
        let answers = WindowAnswers::new(answers, &Stages::default());
        // They are read in parts.
        for part in [0..500, 500..1200] {
            let units = units_of(&batch, &part);
            let read = stage.read(&answers, &units, part.start);
            let grids_of = |at: u64| at < 600 || at.is_multiple_of(3);
            assert!(
                part.zip(read)
                    .all(|(at, answer)| answer.is_some() == grids_of(at))
            );
        }
        assert_eq!(sum_of(&stage), 400);
        let (window, kept) = prepare();
        assert_eq!(asked(&window), expected, "{dear}");
        let of_host = (expected[1] == 0).then_some(600..1200);
        assert_eq!(kept, of_host.into_iter().collect::<Vec<_>>());
    }
}

/// How many evaluations devices bailed out of.
fn sum_of(stage: &DeviceStage<'_>) -> u64 {
    lock(&stage.bail_outs).values().sum()
}

#[test]
fn beside_a_device_programs_are_merged() {
    if !is_there() {
        return;
    }
    let whole = builtin::all()
        .iter()
        .find(|one| one.kind() == builtin::BuiltinKind::Whole);
    let whole = whole.unwrap();
    let mut generator = Generator::new(1);
    let programs: Vec<_> = (0..200)
        .map(|_| generator.variation(whole.program()))
        .collect();
    let tasks = [whole.task(1, 3, 1, 10)];
    let batch = Batch::all_pairs(&programs, &tasks);
    let expected = run(&batch, &options(Backend::Reference, Mode::Parallel, true)).unwrap();
    let options = options(Backend::Emulated, Mode::Auto, true);
    let mut runner = Runner::new(&options).unwrap();
    let report = runner.run(&batch).unwrap();
    assert!(without_times(&report) == without_times(&expected));
    device(&report);
    assert!(report.summary.backends.merged > 0, "{report:?}");
}

#[test]
fn a_batch_that_is_stopped_beside_a_device_delivers_what_is_finished_in_order() {
    let (programs, mut tasks) = mixed_batch();
    tasks.drain(3..tasks.len() - 1);
    let batch = Batch::all_pairs(&programs, &tasks);
    let expected = run(&batch, &options(Backend::Reference, Mode::Parallel, true)).unwrap();
    let expected = without_times(&expected);
    for mode in [Mode::Sequential, Mode::Parallel] {
        let limited = |limit: Duration| Options {
            time_limit: Some(limit),
            ..options(Backend::Emulated, mode, true)
        };
        for limit in [0, 1, 10, 50].map(Duration::from_millis) {
            let mut runner = Runner::new(&limited(limit)).unwrap();
            let report = runner.run(&batch).unwrap();
            let results = without_times(&report);
            let mut all = expected.iter();
            assert!(results.iter().all(|result| all.any(|one| one == result)));
            runner.set_time_limit(None);
            assert!(without_times(&runner.run(&batch).unwrap()) == expected);
        }
    }
}

#[test]
fn what_a_device_cannot_hold_is_bailed_out_of_or_wrong() {
    let large = Grid::filled(33, 1, 0);
    let small = Grid::filled(2, 2, 3);
    let pair = |input: &Grid, output: Option<&Grid>| Pair::new(input.clone(), output.cloned());
    let task = Task {
        id: "a".into(),
        train: vec![
            pair(&large, Some(&large)),
            pair(&small, Some(&large)),
            pair(&small, Some(&small)),
            pair(&small, None),
            pair(&Grid::default(), Some(&Grid::default())),
        ],
        test: vec![],
        ..Task::default()
    };
    let mut builder = ProgramBuilder::new("solve_b");
    let factor = Operand::from(Value::Int(17));
    let output = builder.call(Primitive::Upscale, [builder.input(), factor]);
    let upscaled = builder.finish(output.unwrap()).unwrap();
    let programs = [
        pipeline("solve_a", &[Primitive::Vmirror]),
        upscaled,
        pipeline("solve_c", &[Primitive::Height]),
    ];
    let (batch, tasks) = (&programs, [task]);
    let batch = Batch::all_pairs(batch, &tasks);
    let by = |backend| run(&batch, &options(backend, Mode::Sequential, true)).unwrap();
    let (report, expected) = (by(Backend::Emulated), by(Backend::Reference));
    assert_eq!(without_times(&report), without_times(&expected));
    let device = device(&report);
    if is_there() {
        // The large input twice, and the result of `upscale` on the small one.
        let grids = &device.bail_outs["a grid past 32 rows or columns"];
        assert_eq!((*grids, device.programs), (5, 2), "{device:?}");
        assert_eq!(device.programs_host_only[NO_GRID], 1);
    }
}

#[test]
fn an_evaluation_past_its_rounds_goes_to_the_host_and_is_counted() {
    // A round for each location, of which the device may take 256; and for each 4,096 comparisons of words.
    let looping = "def solve_a(I):\n    x1 = asindices(I)\n    x2 = mapply(neighbors, x1)\n    O = fill(I, 3, x2)\n    return O\n";
    let comparing = "def solve_a(I):\n    x1 = height(I)\n    x2 = multiply(x1, 30)\n    x3 = interval(0, x2, 1)\n    \
                     x4 = combine(x3, x3)\n    x5 = dedupe(x4)\n    x6 = size(x5)\n    x7 = equality(x6, x2)\n    \
                     x8 = branch(x7, 3, 4)\n    O = canvas(x8, (2, 2))\n    return O\n";
    for (text, sides) in [(looping, [2, 16, 17, 30]), (comparing, [2, 17, 18, 30])] {
        let programs = [arc_text::parse_programs(text).remove(0).unwrap()];
        let pair = |side| {
            Pair::new(
                Grid::filled(side, side, 1),
                Some(Grid::filled(side, side, 3)),
            )
        };
        let tasks = [Task {
            train: sides.map(pair).into(),
            ..Task::default()
        }];
        let batch = Batch::all_pairs(&programs, &tasks);
        let by = |backend| run(&batch, &options(backend, Mode::Sequential, true)).unwrap();
        let (report, expected) = (by(Backend::Emulated), by(Backend::Reference));
        assert_eq!(without_times(&report), without_times(&expected));
        let device = device(&report);
        if is_there() {
            let past = BTreeMap::from([(BailOut::Rounds.to_string(), 2)]);
            assert_eq!((device.evaluations, device.bail_outs), (2, past), "{text}");
        }
    }
}

#[test]
fn the_host_keeps_programs_whose_rounds_are_many_and_they_are_counted_all_the_same() {
    let text = "def solve_a(I):\n    O = vmirror(I)\n    return O\n\n\
                def solve_b(I):\n    x1 = asindices(I)\n    x2 = mapply(neighbors, x1)\n    O = fill(I, 3, x2)\n    return O\n";
    let programs: Vec<_> = arc_text::parse_programs(text)
        .into_iter()
        .map(Result::unwrap)
        .collect();
    let pair = |_| Pair::new(Grid::filled(15, 15, 1), Some(Grid::filled(15, 15, 3)));
    let tasks = [Task {
        train: (0..100).map(pair).collect(),
        ..Task::default()
    }];
    let batch = Batch::all_pairs(&programs, &tasks);
    let numbers = AtomicU64::new(0);
    let stage = DeviceStage::new(&batch, false, 49_152, &numbers);
    let prepare = |long| {
        let keep = Keep {
            dear: f64::INFINITY,
            long,
        };
        stage.prepare(&(0..200), keep)
    };
    // By its one loop the second program has some 7,000 instructions, by its 225 rounds 135,000.
    let long = 1e5 * 4.4e-9;
    let asked = |window: &Prepared| {
        let (items, others): (Vec<_>, Vec<_>) = window
            .spans
            .iter()
            .partition(|(_, span)| span.verdict < window.others);
        [items, others].map(|all| all.iter().map(|(_, span)| span.pairs.len()).sum::<usize>())
    };
    let (window, kept) = prepare(long);
    assert_eq!((asked(&window), kept), ([200, 8], vec![]));
    let device = open::emulated(0, &Emulation::default());
    let Ok(device) = device else {
        return;
    };
    let open = Box::new(|| Err(Unavailable::NoDevice));
    let mut launcher = Launcher::of(device, open);
    let begun = launcher.begin(window).unwrap();
    let (answers, _) = launcher.finish(begun).unwrap();
    let answers = WindowAnswers::new(answers, &Stages::default());
    let read = stage.read(&answers, &units_of(&batch, &(0..200)), 0);
    assert!(read.iter().all(Option::is_some));
    let (window, kept) = prepare(long);
    assert_eq!(asked(&window), [100, 0]);
    assert_eq!((kept.len(), kept.first()), (1, Some(&(100..200))));
    // Without such a limit the device has all of them.
    assert_eq!(prepare(1.0).1, []);
}
