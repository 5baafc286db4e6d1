use std::num::NonZeroUsize;

use arc_dsl::generate::Generator;
use arc_dsl::{ErrorKind, Grid, Limit, Operand, Primitive, Program, ProgramBuilder, Type, Value};
use arc_tasks::{MAX_SIDE, Pair, PairId, Task, builtin};

use super::*;
use crate::Cancellation;
use crate::batch::Job;
use crate::batch::options::Mode;
use crate::results::outcome::Outcome;
use crate::run::backend::Backends;

fn grid(rows: &[&[i32]]) -> Grid {
    Grid::from_rows(rows).unwrap()
}

/// A program that calls each primitive on the result of the one before.
pub(super) fn pipeline(name: &str, primitives: &[Primitive]) -> Program {
    let mut builder = ProgramBuilder::new(name);
    let mut last = builder.input();
    for &primitive in primitives {
        last = builder.call(primitive, [last]).unwrap();
    }
    builder.finish(last).unwrap()
}

/// A program that ends in `f(f)`, where `f(x)` is the set of `x(x)`: it would never end.
fn omega() -> Program {
    let mut builder = ProgramBuilder::new("solve_omega");
    let parts = [Primitive::Rapply, Primitive::Initset, Primitive::Identity];
    let f = builder
        .call(Primitive::Fork, parts.map(Operand::from))
        .unwrap();
    let Operand::Slot(slot) = f else {
        panic!("{f:?}")
    };
    let result = builder.call(slot, [f]).unwrap();
    builder.finish(result).unwrap()
}

/// A task of this many pairs, each of which asks for a mirror image.
fn mirror_task(id: &str, pairs: usize) -> Task {
    let pair = |at: usize| {
        let (a, b) = ((at % 10) as i32, (at / 10 % 10) as i32);
        Pair::new(grid(&[&[a, b]]), grid(&[&[b, a]]))
    };
    Task {
        id: id.into(),
        train: (0..pairs).map(pair).collect(),
        test: vec![pair(3)],
        ..Task::default()
    }
}

/// Everything about a report but its times.
pub(super) fn without_times(report: &Report) -> Vec<(Job, PairId, Outcome, Option<String>)> {
    // The address of a function changes, so compare its text.
    let text = |output: Option<Value>| output.map(|value| value.to_string());
    let results = report
        .results
        .iter()
        .flat_map(|result| result.pairs.iter().map(|pair| (result.job, pair.clone())));
    results
        .map(|(job, result)| (job, result.pair, result.outcome, text(result.output)))
        .collect()
}

fn options(mode: Mode, workers: usize) -> Options {
    Options {
        mode,
        workers: NonZeroUsize::new(workers),
        ..Options::default()
    }
}

#[test]
fn results_come_in_order_whatever_the_mode_and_the_workers() {
    let tasks = [
        mirror_task("a", 3 * WINDOW),
        mirror_task("b", 0),
        mirror_task("c", 7),
    ];
    let programs = [
        pipeline("solve_a", &[Primitive::Vmirror]),
        pipeline("solve_b", &[Primitive::Hmirror]),
        pipeline("solve_c", &[Primitive::Height, Primitive::Height]),
        omega(),
    ];
    // On many pairs it takes long to reach a limit.
    let all = Batch::all_pairs(&programs, &tasks);
    let jobs = all.jobs().filter(|job| (job.program, job.task) != (3, 0));
    let batch = Batch::listed(&programs, &tasks, jobs.collect()).unwrap();
    let expected = run(&batch, &options(Mode::Sequential, 5)).unwrap();
    assert_eq!(expected.summary.workers, 1);
    let jobs: Vec<_> = expected.results.iter().map(|result| result.job).collect();
    assert_eq!(jobs, batch.jobs().collect::<Vec<_>>());
    let first = &expected.results[0];
    let ids: Vec<_> = first.pairs.iter().map(|result| result.pair).collect();
    assert_eq!(ids, tasks[0].pairs().map(|(id, _)| id).collect::<Vec<_>>());
    assert!(
        first
            .pairs
            .iter()
            .all(|result| result.outcome == Outcome::Match)
    );

    for workers in 1..=3 {
        for keep_outputs in [false, true] {
            let options = Options {
                keep_outputs,
                ..options(Mode::Parallel, workers)
            };
            let mut report = run(&batch, &options).unwrap();
            assert_eq!(report.summary.workers, workers);
            assert_eq!(report.summary.totals, expected.summary.totals);
            for result in report
                .results
                .iter_mut()
                .flat_map(|result| &mut result.pairs)
            {
                let output = result.output.take();
                assert_eq!(
                    output.is_some(),
                    keep_outputs && !result.outcome.is_failure()
                );
            }
            assert!(without_times(&report) == without_times(&expected));
        }
    }
}

#[test]
fn failures_and_limits_are_outcomes() {
    let tasks = [mirror_task("a", 1)];
    let programs = [
        pipeline("solve_a", &[Primitive::Height, Primitive::Vmirror]),
        omega(),
    ];
    let options = Options {
        keep_outputs: true,
        ..Options::default()
    };
    let report = run(&Batch::all_pairs(&programs, &tasks), &options).unwrap();
    let Outcome::Error(error) = &report.results[0].pairs[0].outcome else {
        panic!()
    };
    assert_eq!((error.line, error.primitive), (3, Some(Primitive::Vmirror)));
    let Outcome::Limit(error) = &report.results[1].pairs[1].outcome else {
        panic!()
    };
    assert_eq!(error.kind, ErrorKind::Limit(Limit::Nesting));
}

#[test]
fn limits_are_those_of_the_options() {
    let tasks = [mirror_task("a", 1)];
    // It returns a function, so no machine runs it.
    let mut builder = ProgramBuilder::new("solve_a");
    let mut last = Operand::from(Primitive::Size);
    for _ in 0..6 {
        let parts = [last, Operand::from(Primitive::Identity)];
        last = builder.call(Primitive::Compose, parts).unwrap();
    }
    let programs = [builder.finish(last).unwrap()];
    let batch = Batch::all_pairs(&programs, &tasks);
    let mut options = Options::default();
    options.limits.max_steps = 5;
    let report = run(&batch, &options).unwrap();
    assert_eq!(report.summary.totals.limits, 2);
    options.limits.max_steps = 12;
    let report = run(&batch, &options).unwrap();
    assert_eq!(report.summary.totals.limits, 0);
}

#[test]
fn deep_nesting_fits_the_stack_that_the_limits_ask_for() {
    let mut options = options(Mode::Parallel, 1);
    options.limits.max_nesting = 4000;
    let tasks = [mirror_task("a", 1)];
    let report = run(&Batch::all_pairs(&[omega()], &tasks), &options).unwrap();
    let Outcome::Limit(error) = &report.results[0].pairs[0].outcome else {
        panic!()
    };
    assert_eq!(error.kind, ErrorKind::Limit(Limit::Nesting));
}

/// Built-in programs, random ones, and random ones that fail, with tasks of random grids.
pub(super) fn mixed_batch() -> (Vec<Program>, Vec<Task>) {
    let mut generator = Generator::new(17);
    let mut programs: Vec<_> = builtin::all()
        .iter()
        .map(|builtin| builtin.program().clone())
        .collect();
    for at in 0..120 {
        let program = match at % 3 {
            0 => generator.ill_typed_program(3),
            _ => generator.program(1 + at % 7),
        };
        programs.extend(program);
    }
    let mut tasks: Vec<_> = builtin::all()
        .iter()
        .step_by(9)
        .map(|builtin| builtin.task(5, 1, 1, MAX_SIDE))
        .collect();
    let mut random = Task {
        id: "random".into(),
        ..Task::default()
    };
    while random.train.len() < 5 {
        let grids = [(); 2].map(|()| generator.value(Type::Grid));
        if let [Value::Grid(input), Value::Grid(output)] = grids {
            random.train.push(Pair::new(input, (*output).clone()));
        }
    }
    tasks.push(random);
    (programs, tasks)
}

#[test]
fn every_backend_gives_the_same_results() {
    let (programs, tasks) = mixed_batch();
    let batch = Batch::all_pairs(&programs, &tasks);
    let run_by = |backend, mode, keep_outputs| {
        let options = Options {
            backend,
            keep_outputs,
            ..options(mode, 2)
        };
        run(&batch, &options).unwrap()
    };
    for keep_outputs in [true, false] {
        let reference = run_by(Backend::Reference, Mode::Sequential, keep_outputs);
        assert_eq!(reference.summary.backends.compiled, 0);
        assert!(reference.summary.totals.errors > 100);
        let expected = without_times(&reference);
        let mut counted = Vec::new();
        for mode in [Mode::Sequential, Mode::Parallel] {
            for backend in [Backend::Compiled, Backend::Auto] {
                let report = run_by(backend, mode, keep_outputs);
                for (result, expected) in without_times(&report).iter().zip(&expected) {
                    let program = batch.program(result.0);
                    assert_eq!(result, expected, "{program}");
                }
                assert_eq!(report.summary.totals, reference.summary.totals);
                let Backends {
                    backend,
                    compiled,
                    reference,
                    bail_outs,
                    programs_compiled,
                    programs_not_compiled,
                    ..
                } = report.summary.backends;
                assert_eq!(compiled + reference, batch.evaluations());
                assert!(compiled > reference && !bail_outs.is_empty());
                let left: u64 = programs_not_compiled.values().sum();
                assert_eq!(programs_compiled + left, programs.len() as u64);
                let counts = (compiled, bail_outs, programs_not_compiled);
                counted.push((backend, counts));
            }
        }
        // Every program has enough evaluations for all three to count the same.
        assert!(counted.iter().all(|(_, counts)| *counts == counted[0].1));
    }
}

#[test]
fn what_ends_at_a_bound_does_so_whatever_the_backend_and_the_number_of_pairs() {
    // A machine holds one grid where the reference counts four million; a loop of twenty million
    // additions ends at the bounds of both; and one grid past its bound is past a machine's too. If it is the output, its
    // size is wrong all the same.
    let text = "
def solve_repeated(I):
    x1 = repeat(I, 3999)
    x2 = repeat(x1, 1000)
    x3 = first(x2)
    O = first(x3)
    return O
def solve_added(I):
    x1 = interval(0, 5000, 1)
    x2 = prapply(add, x1, x1)
    x3 = lbind(apply, increment)
    x4 = power(x3, 5000)
    O = x4(x2)
    return O
def solve_large(I):
    x1 = mostcolor(I)
    x2 = canvas(x1, (100000, 100000))
    O = trim(x2)
    return O
def solve_wrong(I):
    O = canvas(0, (100000, 100000))
    return O
";
    let programs: Vec<_> = arc_text::parse_programs(text)
        .into_iter()
        .flatten()
        .collect();
    assert_eq!(programs.len(), 4);
    for pairs in [1, 3] {
        let pair = Pair::new(grid(&[&[1, 2]]), grid(&[&[1, 2]]));
        let task = Task {
            id: "a".into(),
            train: vec![pair; pairs],
            test: vec![],
            ..Task::default()
        };
        let tasks = [task];
        let batch = Batch::all_pairs(&programs, &tasks);
        for backend in [Backend::Reference, Backend::Compiled, Backend::Auto] {
            let options = Options {
                backend,
                ..options(Mode::Sequential, 1)
            };
            let report = run(&batch, &options).unwrap();
            for program in &report.results {
                for result in &program.pairs {
                    let name = programs[program.job.program as usize].name();
                    let found = result.outcome.name();
                    let expected = match name {
                        "solve_repeated" => "match",
                        "solve_wrong" => "mismatch",
                        _ => "limit",
                    };
                    assert_eq!(found, expected, "{name}, {pairs} pairs, {backend}");
                }
            }
        }
    }
}

#[test]
fn counts_are_of_the_batch_alone() {
    let tasks = [mirror_task("a", 99)];
    let programs = [pipeline("solve_a", &[Primitive::Vmirror])];
    let batch = Batch::all_pairs(&programs, &tasks);
    let mut runner = Runner::new(&options(Mode::Parallel, 2)).unwrap();
    for _ in 0..3 {
        let summary = runner.run_into(&batch, &mut ()).unwrap();
        assert_eq!(summary.backends.compiled, 100);
        assert_eq!(summary.backends.programs_compiled, 1);
        let (time, compiling) = (summary.evaluation_time(), summary.backends.compile_time);
        assert!(time > Duration::ZERO && compiling > Duration::ZERO);
    }
}

#[test]
fn an_output_that_is_no_grid_is_a_mismatch() {
    let tasks = [mirror_task("a", 1)];
    let programs = [pipeline("solve_a", &[Primitive::Height])];
    let options = Options {
        keep_outputs: true,
        ..Options::default()
    };
    let report = run(&Batch::all_pairs(&programs, &tasks), &options).unwrap();
    let result = &report.results[0].pairs[0];
    assert_eq!(
        (&result.outcome, &result.output),
        (&Outcome::Mismatch, &Some(Value::Int(1)))
    );
}

/// Fails at the given result.
struct Failing {
    left: usize,
}

impl Sink for Failing {
    fn pair(&mut self, _: Job, _: PairResult) -> io::Result<()> {
        self.left = self
            .left
            .checked_sub(1)
            .ok_or_else(|| io::Error::other("full"))?;
        Ok(())
    }
}

#[test]
fn a_sink_that_fails_stops_the_batch_and_leaves_the_runner_whole() {
    let tasks = [mirror_task("a", 2 * WINDOW)];
    let programs = [pipeline("solve_a", &[Primitive::Vmirror])];
    let batch = Batch::all_pairs(&programs, &tasks);
    let mut runner = Runner::new(&options(Mode::Parallel, 2)).unwrap();
    let error = runner
        .run_into(&batch, &mut Failing { left: 10 })
        .unwrap_err();
    assert_eq!(error.to_string(), "full");
    let summary = runner.run_into(&batch, &mut ()).unwrap();
    assert_eq!(summary.totals.right, batch.evaluations());
}

#[test]
fn progress_ends_with_everything_done() {
    struct Last(Option<Progress>);
    impl Sink for Last {
        fn pair(&mut self, _: Job, _: PairResult) -> io::Result<()> {
            Ok(())
        }

        fn progress(&mut self, progress: Progress) {
            assert!(self.0.is_none_or(|last| last.done <= progress.done));
            self.0 = Some(progress);
        }
    }
    let tasks = [mirror_task("a", 4)];
    let programs = [pipeline("solve_a", &[Primitive::Vmirror])];
    let mut last = Last(None);
    let mut runner = Runner::new(&Options::default()).unwrap();
    runner
        .run_into(&Batch::all_pairs(&programs, &tasks), &mut last)
        .unwrap();
    assert_eq!(
        last.0,
        Some(Progress {
            done: 5,
            total: 5,
            on_devices: 0
        })
    );
}

#[test]
fn the_clock_counts_overlapping_windows_once() {
    let start = Instant::now();
    let at = |seconds| start + Duration::from_secs(seconds);
    let mut clock = Clock::default();
    for (began, ended) in [(0, 4), (1, 3), (2, 6), (9, 10)] {
        clock.add(at(began), at(ended));
    }
    assert_eq!(clock.elapsed, Duration::from_secs(7));
}

#[test]
fn one_thread_evaluates_wherever_it_is_called() {
    let tasks = [mirror_task("a", 9)];
    let programs = [pipeline("solve_a", &[Primitive::Vmirror]), omega()];
    let batch = Batch::all_pairs(&programs, &tasks);
    let deep = Limits {
        max_nesting: 400,
        ..Limits::default()
    };
    for limits in [Limits::default(), deep] {
        let options = Options {
            limits,
            ..options(Mode::Sequential, 1)
        };
        let expected = without_times(&run(&batch, &options).unwrap());
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build();
        let everywhere = pool.unwrap().broadcast(|_| run(&batch, &options).unwrap());
        for report in everywhere {
            assert_eq!(without_times(&report), expected);
        }
    }
}

/// Cancels the batch after this many results.
struct Impatient {
    cancellation: Cancellation,
    left: usize,
    results: Vec<JobResult>,
    last: Option<Progress>,
}

impl Sink for Impatient {
    fn job(&mut self, job: Job) -> io::Result<()> {
        self.results.job(job)
    }

    fn pair(&mut self, job: Job, result: PairResult) -> io::Result<()> {
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            self.cancellation.cancel();
        }
        self.results.pair(job, result)
    }

    fn progress(&mut self, progress: Progress) {
        self.last = Some(progress);
    }
}

#[test]
fn what_is_finished_is_delivered_where_a_batch_is_cancelled() {
    let tasks = [mirror_task("a", 20 * WINDOW), mirror_task("b", 7)];
    let programs = [
        pipeline("solve_a", &[Primitive::Vmirror]),
        pipeline("solve_b", &[Primitive::Height, Primitive::Height]),
    ];
    let batch = Batch::all_pairs(&programs, &tasks);
    let whole = run(&batch, &options(Mode::Parallel, 2)).unwrap();
    assert!(whole.summary.is_complete());
    assert_eq!(whole.summary.planned, batch.evaluations());
    let expected = without_times(&whole);
    let mut modes = vec![options(Mode::Sequential, 1)];
    modes.extend((1..=3).map(|workers| options(Mode::Parallel, workers)));
    for options in modes {
        for (backend, left) in [(Backend::Reference, 1), (Backend::Compiled, 3000)] {
            let cancellation = Cancellation::default();
            let mut runner = Runner::new(&Options {
                backend,
                cancellation: cancellation.clone(),
                ..options.clone()
            })
            .unwrap();
            let mut sink = Impatient {
                cancellation,
                left,
                results: Vec::new(),
                last: None,
            };
            let summary = runner.run_into(&batch, &mut sink).unwrap();
            assert!(!summary.is_complete());
            let evaluations = summary.totals.evaluations;
            assert!((left as u64..summary.planned).contains(&evaluations));
            if options.mode == Mode::Sequential {
                assert!(
                    evaluations < left as u64 + queue::MAX_CHUNK,
                    "{evaluations}"
                );
            }
            let counted = &summary.backends;
            assert_eq!(counted.compiled + counted.reference, evaluations);
            let progress = sink.last.unwrap();
            assert_eq!(
                (progress.done, progress.total),
                (evaluations, summary.planned)
            );

            // Each result occurs once, in the order of the batch, and equals the one without a stop.
            let results = sink.results;
            assert!(results.iter().all(|result| !result.pairs.is_empty()));
            let report = Report { summary, results };
            let delivered = without_times(&report);
            assert_eq!(delivered.len() as u64, evaluations);
            let mut all = expected.iter();
            for result in &delivered {
                assert!(all.any(|other| other == result), "{result:?}");
            }

            let later = runner.run(&batch).unwrap();
            assert!(later.results.is_empty() && !later.summary.is_complete());
        }
    }
}

#[test]
fn there_is_a_most_number_of_workers() {
    let error = Runner::new(&options(Mode::Parallel, Runner::MAX_WORKERS + 1)).unwrap_err();
    let workers = Runner::MAX_WORKERS + 1;
    assert!(matches!(error, StartError::TooManyWorkers { workers: w } if w == workers));
    assert_eq!(error.to_string(), "1025 workers: expected 1 to 1024");
}

mod ending;
#[cfg(target_os = "linux")]
mod free_python;
