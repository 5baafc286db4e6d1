//! Batches and programs that end before their end, and evaluations within lower bounds.

use super::*;
use crate::batch::options::Merging;

/// The results of each job up to the first that is wrong.
fn up_to_wrong(report: &Report) -> Vec<(Job, PairId, Outcome, Option<String>)> {
    let mut cut = report.clone();
    for result in &mut cut.results {
        let wrong = result.pairs.iter().position(|pair| pair.outcome.is_wrong());
        result.pairs.truncate(wrong.map_or(usize::MAX, |at| at + 1));
    }
    without_times(&cut)
}

#[test]
fn a_program_is_left_alone_after_its_first_wrong_pair_in_every_mode() {
    let (programs, mut tasks) = mixed_batch();
    tasks.push(mirror_task("long", 3000));
    let mut right_at_first = mirror_task("a", 300);
    right_at_first.train[200].output = Some(Grid::filled(1, 1, 0));
    tasks.push(right_at_first);
    let programs: Vec<_> = programs
        .into_iter()
        .step_by(6)
        .chain([
            pipeline("solve_a", &[Primitive::Vmirror]),
            pipeline("solve_b", &[Primitive::Height, Primitive::Height]),
        ])
        .collect();
    let batch = Batch::all_pairs(&programs, &tasks);
    let all = run(&batch, &options(Mode::Sequential, 1)).unwrap();
    let expected = up_to_wrong(&all);
    assert!(expected.len() < batch.evaluations() as usize / 2);
    for mode in [Mode::Sequential, Mode::Parallel] {
        for backend in [Backend::Reference, Backend::Auto] {
            let report = run(
                &batch,
                &Options {
                    stop_after_wrong: true,
                    merging: Merging::Always,
                    backend,
                    ..options(mode, 2)
                },
            )
            .unwrap();
            assert!(without_times(&report) == expected);
            let summary = report.summary;
            assert_eq!(summary.totals.evaluations, expected.len() as u64);
            assert_eq!(
                summary.totals.evaluations + summary.skipped,
                summary.planned
            );
            assert!(summary.is_complete());
            let backends = &summary.backends;
            let made = backends.compiled + backends.merged + backends.reference;
            assert_eq!(made, summary.totals.evaluations, "{backends:?}");
            assert_eq!(summary.tasks_solved, all.summary.tasks_solved);
        }
    }
}

#[test]
fn train_pairs_alone_are_run() {
    let tasks = [mirror_task("a", 5), mirror_task("b", 0)];
    let programs = [pipeline("solve_a", &[Primitive::Vmirror])];
    let batch = Batch::all_pairs(&programs, &tasks).train_only();
    for mode in [Mode::Sequential, Mode::Parallel] {
        let report = run(&batch, &options(mode, 2)).unwrap();
        assert_eq!(report.summary.totals.right, 5);
        assert_eq!(report.summary.pairs_expected, 5);
        assert_eq!(report.summary.tasks_solved, 1);
        assert!(report.summary.is_complete());
        assert!(report.results[1].pairs.is_empty());
    }
}

#[test]
fn a_time_limit_ends_a_batch_with_what_is_finished() {
    let tasks = [mirror_task("a", 3 * WINDOW)];
    let programs = [pipeline("solve_a", &[Primitive::Vmirror])];
    let batch = Batch::all_pairs(&programs, &tasks);
    for mode in [Mode::Sequential, Mode::Parallel] {
        let within = |time_limit| {
            let options = Options {
                time_limit: Some(time_limit),
                ..options(mode, 2)
            };
            let mut runner = Runner::new(&options).unwrap();
            // A limit is one of each batch.
            [(); 2].map(|()| runner.run(&batch).unwrap().summary)
        };
        for summary in within(Duration::ZERO) {
            assert_eq!(summary.totals.evaluations, 0);
            assert!(!summary.is_complete());
        }
        for summary in within(Duration::MAX)
            .into_iter()
            .chain(within(Duration::from_secs(600)))
        {
            assert_eq!(summary.totals.evaluations, batch.evaluations());
            assert!(summary.is_complete());
        }
    }
}

#[test]
fn within_lower_bounds_every_backend_gives_the_same_and_machines_evaluate() {
    let (programs, tasks) = mixed_batch();
    let batch = Batch::all_pairs(&programs, &tasks);
    let lower: [fn(&mut Limits); 4] = [
        |limits| limits.max_steps = 300,
        |limits| limits.max_steps = 20,
        |limits| limits.max_memory = 3000,
        |limits| (limits.max_elements, limits.max_nesting) = (300, 3),
    ];
    for lower in lower {
        let run_by = |backend, merging| {
            let mut options = Options {
                backend,
                merging,
                ..options(Mode::Parallel, 2)
            };
            lower(&mut options.limits);
            run(&batch, &options).unwrap()
        };
        let reference = run_by(Backend::Reference, Merging::Never);
        let limits = reference.summary.totals.limits;
        let expected = without_times(&reference);
        for (backend, merging) in [
            (Backend::Compiled, Merging::Never),
            (Backend::Auto, Merging::Auto),
            (Backend::Auto, Merging::Always),
        ] {
            let report = run_by(backend, merging);
            for (result, expected) in without_times(&report).iter().zip(&expected) {
                assert_eq!(result, expected, "{}", batch.program(result.0));
            }
            assert_eq!(report.summary.totals.limits, limits);
            let backends = report.summary.backends;
            assert!(backends.compiled + backends.merged > batch.evaluations() / 8);
        }
    }
}

#[test]
fn programs_that_were_compiled_in_an_earlier_batch_are_not_compiled_again() {
    let (programs, tasks) = mixed_batch();
    let batch = Batch::all_pairs(&programs, &tasks);
    let mut runner = Runner::new(&options(Mode::Sequential, 1)).unwrap();
    let reports = [(); 3].map(|()| runner.run(&batch).unwrap());
    for report in &reports[1..] {
        assert!(without_times(report) == without_times(&reports[0]));
        let [again, first] = [report, &reports[0]].map(|report| &report.summary.backends);
        assert_eq!(again.programs_compiled, first.programs_compiled);
        assert_eq!(again.programs_not_compiled, first.programs_not_compiled);
    }
    // One pair is too few for any of them to be compiled.
    let one = [Task {
        train: tasks[0].train[..1].to_vec(),
        ..Task::default()
    }];
    let short: Vec<_> = programs
        .iter()
        .filter(|program| Backend::least_evaluations(program.steps().len()) > 1)
        .cloned()
        .collect();
    let batch = Batch::all_pairs(&short, &one);
    let alone = run(&batch, &options(Mode::Sequential, 1)).unwrap();
    assert_eq!(alone.summary.backends.programs_compiled, 0);
    let later = runner.run(&batch).unwrap();
    assert!(without_times(&later) == without_times(&alone));
    let compiled = later.summary.backends.programs_compiled as usize;
    assert!(2 * compiled > short.len(), "{compiled} of {}", short.len());
}
