//! Programs in free Python. A CPython can be named by `PYTHON`; without one of 3.11 these tests say that they were
//! skipped.

use python_pool::{Pool, Settings};

use super::*;

/// A pool of two workers, or None where there is no Python.
fn pool(cpu_time: Duration) -> Option<Pool> {
    let python = std::env::var_os("PYTHON").unwrap_or("python3".into());
    let started = Pool::new(Settings {
        workers: 2,
        cpu_time,
        modules: Vec::new(),
        ..Settings::of(python.into())
    });
    let started = started.inspect_err(|error| eprintln!("skipped: {error}"));
    started.ok()
}

fn in_python(name: &str, text: &str) -> Program {
    Program::in_python(name, vec![vec![(0, text.to_owned())]])
}

#[test]
fn a_program_runs_once_on_all_pairs_of_a_task_as_do_equal_ones() {
    let Some(pool) = pool(Duration::from_secs(10)) else {
        return;
    };
    // Each process has a number of its own.
    let number = "import os\ndef transform(grid):\n    return [[int(digit) for digit in str(os.getpid())]]\n";
    let mirror = "def transform(grid):\n    return [row[::-1] for row in grid]\n";
    let programs = [
        in_python("solve_a", number),
        pipeline("solve_b", &[Primitive::Vmirror]),
        in_python("solve_c", number),
        in_python("solve_d", mirror),
    ];
    let tasks = [
        mirror_task("a", 3),
        mirror_task("b", 100),
        mirror_task("c", 7),
    ];
    let batch = Batch::all_pairs(&programs, &tasks).with_python(&pool);
    for (mode, workers) in [
        (Mode::Sequential, 1),
        (Mode::Parallel, 3),
        (Mode::Parallel, 1),
    ] {
        let report = run(
            &batch,
            &Options {
                keep_outputs: true,
                ..options(mode, workers)
            },
        )
        .unwrap();
        let outputs = report.results.iter().map(|result| {
            let mut outputs: Vec<_> = result.pairs.iter().map(|pair| &pair.output).collect();
            outputs.dedup();
            (result.job, outputs)
        });
        let outputs: Vec<_> = outputs.collect();
        let [a, c] = [&outputs[..3], &outputs[6..9]];
        for ((job, of_a), (_, of_c)) in a.iter().zip(c) {
            assert_eq!((of_a.len(), of_a), (1, of_c), "{job:?}");
        }
        assert_ne!(a[0].1, a[1].1);
        assert_eq!(report.summary.backends.python, 3 * 113);
        assert_eq!(report.summary.totals.right, 2 * 113);
        assert_eq!(report.summary.tasks_solved, 3);
    }
    // Without a pool nothing is run, nor taken for anything else.
    let alone = run(
        &Batch::all_pairs(&programs[..1], &tasks),
        &options(Mode::Parallel, 2),
    );
    let failures = alone.unwrap().summary.failures;
    let reason = "in free Python, which only a pool runs";
    assert_eq!(failures[0].2.error().unwrap(), reason);
}

/// Ends the run once it has been told of its progress a few times.
struct Ends(Cancellation, usize);

impl Sink for Ends {
    fn pair(&mut self, _: Job, _: PairResult) -> io::Result<()> {
        Ok(())
    }

    fn progress(&mut self, _: Progress) {
        self.1 += 1;
        if self.1 == 3 {
            self.0.cancel();
        }
    }
}

#[test]
fn a_run_is_told_of_and_ends_while_programs_run() {
    let Some(pool) = pool(Duration::from_secs(1000)) else {
        return;
    };
    let endless = "def transform(grid):\n    while True:\n        pass\n";
    let programs = [in_python("solve_a", endless), in_python("solve_b", endless)];
    let tasks = [mirror_task("a", 2)];
    let batch = Batch::all_pairs(&programs, &tasks).with_python(&pool);
    for workers in [1, 2] {
        let cancellation = Cancellation::default();
        let mut runner = Runner::new(&Options {
            cancellation: cancellation.clone(),
            ..options(Mode::Parallel, workers)
        })
        .unwrap();
        let mut ends = Ends(cancellation, 0);
        let summary = runner.run_into(&batch, &mut ends).unwrap();
        assert_eq!(summary.totals.evaluations, 0);
    }
}
