use std::num::NonZeroUsize;

use arc_dsl::Primitive;
use arc_dsl::generate::Generator;
use arc_tasks::{Pair, Task, builtin};
use arc_text::parse_programs;

use super::*;
use crate::batch::options::Mode;
use crate::run::runner::tests::{mixed_batch, pipeline, without_times};
use crate::run::runner::unit::units_of;
use crate::run::runner::{Options, Report, run};

fn mutants(generator: &mut Generator, name: &str, count: usize) -> (Vec<Program>, Task) {
    let built_in = builtin::all()
        .iter()
        .find(|built_in| built_in.program().name() == name)
        .unwrap();
    let mutants = (0..count).map(|_| generator.mutant(built_in.program()));
    (mutants.collect(), built_in.task(3, 3, 1, 12))
}

fn run_with(batch: &Batch<'_>, merging: Merging, change: impl FnOnce(&mut Options)) -> Report {
    let mut options = Options {
        merging,
        workers: NonZeroUsize::new(2),
        ..Options::default()
    };
    change(&mut options);
    run(batch, &options).unwrap()
}

fn longest(count: usize) -> Vec<&'static str> {
    let mut names: Vec<_> = builtin::all()
        .iter()
        .map(builtin::BuiltIn::program)
        .collect();
    names.sort_by_key(|program| std::cmp::Reverse(program.steps().len()));
    names
        .iter()
        .take(count)
        .map(|program| program.name())
        .collect()
}

#[test]
fn merged_mutants_end_as_each_does_alone_in_every_mode() {
    let mut generator = Generator::new(2);
    let (mut programs, mut tasks, mut jobs) = (Vec::new(), Vec::new(), Vec::new());
    for name in longest(3) {
        let (all, task) = mutants(&mut generator, name, 150);
        let of_task = (0..all.len()).map(|at| crate::Job {
            program: (programs.len() + at) as u32,
            task: tasks.len() as u32,
        });
        jobs.extend(of_task);
        programs.extend(all);
        tasks.push(task);
    }
    let batch = Batch::listed(&programs, &tasks, jobs).unwrap();
    for keep_outputs in [false, true] {
        let keep = |options: &mut Options| options.keep_outputs = keep_outputs;
        let expected = run_with(&batch, Merging::Never, keep);
        assert_eq!(expected.summary.backends.merged, 0);
        let mut counts = Vec::new();
        for mode in [Mode::Sequential, Mode::Parallel] {
            let report = run_with(&batch, Merging::Auto, |options| {
                keep(options);
                options.mode = mode;
            });
            let results = without_times(&report);
            for (found, expected) in results.iter().zip(without_times(&expected)) {
                assert_eq!(*found, expected, "{}", batch.program(found.0));
            }
            assert_eq!(report.summary.totals, expected.summary.totals);
            let backends = report.summary.backends;
            let all = backends.merged + backends.compiled + backends.reference;
            assert_eq!(all, batch.evaluations());
            assert!(
                10 * backends.merged > 9 * all,
                "{} of {all}",
                backends.merged
            );
            let (calls, shared) = backends.merged_calls;
            assert!(2 * shared > calls, "{shared} of {calls}");
            counts.push((backends.merged, backends.compiled, backends.bail_outs));
        }
        assert_eq!(counts[0], counts[1]);
    }
}

#[test]
fn unrelated_programs_are_not_merged_unless_that_is_asked_for() {
    let (programs, tasks) = mixed_batch();
    let batch = Batch::all_pairs(&programs, &tasks);
    let expected = run_with(&batch, Merging::Never, |_| {});
    let auto = run_with(&batch, Merging::Auto, |_| {});
    assert_eq!(auto.summary.backends.merged, 0);
    let always = run_with(&batch, Merging::Always, |_| {});
    assert!(always.summary.backends.merged > batch.evaluations() / 2);
    for (found, expected) in without_times(&always).iter().zip(without_times(&expected)) {
        assert_eq!(*found, expected, "{}", batch.program(found.0));
    }
}

#[test]
fn what_only_a_batt_gets_to_the_end_of_is_no_limit_without_one_either() {
    // The reference counts nine million cells in all variables, where a machine holds one grid, and a batt looks at each
    // variable alone; a set of a grid and a number has no type, so that no machine runs the program as a whole.
    let text = "
def solve_a(I):
    x1 = canvas(ZERO, (30, 30))
    x2 = repeat(x1, 2000)
    x3 = repeat(x1, 2001)
    x4 = repeat(x1, 2002)
    x5 = repeat(x1, 2003)
    x6 = repeat(x1, 2004)
    x7 = size(x6)
    x8 = insert(I, frozenset({1}))
    O = astuple(x7, x7)
    return O
";
    let mut programs: Vec<_> = parse_programs(text)
        .into_iter()
        .map(Result::unwrap)
        .collect();
    programs.push(programs[0].clone());
    let input = arc_dsl::Grid::filled(2, 2, 1);
    let alone = arc_dsl::Interpreter::default().run(&programs[0], input.clone());
    assert!(alone.unwrap_err().limit().is_some());
    let form = arc_form::specialise(&programs[0]).ok();
    let compiled = form.and_then(|form| arc_cpu::Compiled::new(&form).ok());
    let mut machine = arc_cpu::Machine::default();
    assert!(compiled.is_none_or(|compiled| machine.run(&compiled, &input).is_err()));
    let task = Task {
        id: "a".into(),
        train: vec![Pair::new(input, None); 3],
        test: vec![],
        ..Task::default()
    };
    let tasks = [task];
    let batch = Batch::all_pairs(&programs, &tasks);
    let outcomes = |merging, backend| {
        let report = run_with(&batch, merging, |options| options.backend = backend);
        without_times(&report)
    };
    let expected = outcomes(Merging::Never, Backend::Reference);
    assert!(
        expected
            .iter()
            .all(|(_, _, outcome, _)| *outcome == Outcome::NoExpected)
    );
    for merging in [Merging::Never, Merging::Always] {
        for backend in [Backend::Compiled, Backend::Auto] {
            assert_eq!(outcomes(merging, backend), expected);
        }
    }
}

#[test]
fn bounds_below_the_defaults_and_a_cancelled_batch_hold_for_what_is_merged() {
    let programs = vec![pipeline("solve_a", &[Primitive::Rot90; 5]); 20];
    let grid = arc_dsl::Grid::filled(2, 2, 1);
    let task = Task {
        id: "a".into(),
        train: vec![Pair::new(grid.clone(), grid); 2],
        test: vec![],
        ..Task::default()
    };
    let tasks = [task];
    let batch = Batch::all_pairs(&programs, &tasks);
    let report = run_with(&batch, Merging::Auto, |_| {});
    assert_eq!(report.summary.backends.merged, 40);
    assert_eq!(report.summary.totals.right, 40);
    // So does a run that asked for GPUs and has none.
    let report = run_with(&batch, Merging::Auto, |options| {
        options.mode = Mode::Gpu;
        options.gpus = Some(0);
    });
    assert_eq!(report.summary.backends.merged, 40);
    assert!(report.summary.backends.no_device.is_some());
    let report = run_with(&batch, Merging::Auto, |options| {
        options.limits.timeout = Some(std::time::Duration::from_secs(60));
    });
    assert_eq!(report.summary.backends.merged, 0);
    let report = run_with(&batch, Merging::Auto, |options| {
        options.cancellation.cancel();
    });
    assert_eq!(report.summary.totals.evaluations, 0);
    assert!(!report.summary.is_complete());
}

#[test]
fn what_is_too_much_as_a_value_is_a_limit_merged_or_not() {
    let text =
        "def solve_a(I):\n    x1 = repeat(I, 30000)\n    x2 = repeat(x1, 30000)\n    return x2\n";
    let program = parse_programs(text).remove(0).unwrap();
    let programs = [program.clone(), program];
    let task = Task {
        id: "a".into(),
        train: vec![Pair::new(arc_dsl::Grid::filled(2, 2, 1), None); 2],
        test: vec![],
        ..Task::default()
    };
    let tasks = [task];
    let batch = Batch::all_pairs(&programs, &tasks);
    for merging in [Merging::Never, Merging::Always] {
        for keep_outputs in [false, true] {
            let report = run_with(&batch, merging, |options| {
                options.keep_outputs = keep_outputs;
            });
            assert_eq!(report.summary.totals.limits, batch.evaluations());
        }
    }
}

/// A worker that claims programs in free Python to merge them would keep others waiting, as none of them is merged.
#[test]
fn programs_in_free_python_are_not_merged() {
    let program = |n: usize| {
        let text = format!("def transform(grid):\n    return [[{n}]]\n");
        Program::in_python(format!("solve_{n}"), vec![vec![(0, text)]])
    };
    let programs: Vec<_> = (0..2 * Merging::LEAST_PROGRAMS).map(program).collect();
    let tasks = [builtin::all()[0].task(3, 3, 1, 12)];
    let batch = Batch::all_pairs(&programs, &tasks);
    for merging in [Merging::Always, Merging::Auto] {
        let plan = MergePlan::new(&batch, merging, Compilation::Auto, &Limits::default()).unwrap();
        assert!((0..batch.job_count()).all(|job| !plan.is_merged(job)));
        let units = units_of(&batch, &(0..batch.evaluations()));
        assert!(plan.segments(&units).is_empty());
    }
}
