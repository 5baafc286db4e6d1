//! Every task of the public collections, from the folder that `ARC_DATA_DIR` names.

use std::path::PathBuf;

use arc_tasks::{MAX_SIDE, Task, builtin};
use mega_batch::inputs::read_tasks;
use mega_batch::{Batch, Options, Runner};

/// The tasks of a collection of the data.
fn tasks(collection: &str) -> Vec<Task> {
    let Some(folder) = std::env::var_os("ARC_DATA_DIR") else {
        panic!("ARC_DATA_DIR is not set: it names the folder that holds arc-agi-1 and arc-agi-2");
    };
    let read = read_tasks(&[PathBuf::from(folder).join(collection)], &[]);
    let (tasks, errors) = (read.tasks, read.errors);
    assert_eq!(errors, []);
    tasks
}

const COLLECTIONS: [(&str, usize); 4] = [
    ("arc-agi-1/training", 400),
    ("arc-agi-1/evaluation", 400),
    ("arc-agi-2/training", 1000),
    ("arc-agi-2/evaluation", 120),
];

#[test]
#[ignore = "needs ARC_DATA_DIR"]
fn every_task_is_read() {
    for (collection, count) in COLLECTIONS {
        let tasks = tasks(collection);
        assert_eq!(tasks.len(), count, "{collection}");
        for task in tasks {
            assert!(
                !task.train.is_empty() && !task.test.is_empty(),
                "{}",
                task.id
            );
            for (id, pair) in task.pairs() {
                let output = pair
                    .output
                    .as_ref()
                    .unwrap_or_else(|| panic!("{} {id}", task.id));
                for grid in [&*pair.input, output] {
                    assert!((1..=MAX_SIDE).contains(&grid.height()), "{} {id}", task.id);
                    assert!((1..=MAX_SIDE).contains(&grid.width()), "{} {id}", task.id);
                }
            }
        }
    }
}

#[test]
#[ignore = "needs ARC_DATA_DIR"]
fn the_built_in_programs_run_on_every_task() {
    let programs: Vec<_> = builtin::all()
        .iter()
        .map(|built_in| built_in.program().clone())
        .collect();
    let mut runner = Runner::new(&Options::default()).unwrap();
    for (collection, _) in COLLECTIONS {
        let tasks = tasks(collection);
        let batch = Batch::all_pairs(&programs, &tasks);
        let totals = runner.run_into(&batch, &mut ()).unwrap().totals;
        assert_eq!(totals.evaluations, batch.evaluations());
        let with_output = totals.right + totals.wrong;
        assert_eq!(
            with_output + totals.errors + totals.limits,
            totals.evaluations
        );
        assert!(
            with_output > totals.evaluations / 2,
            "{collection}: {totals:?}"
        );
    }
}
