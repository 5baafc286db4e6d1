//! Documents for the report, in the form that `run --attempts` writes, generated from the built-in tasks and
//! programs: tasks that are solved, nearly solved, not solved and not tried, programs that fail, test outputs that
//! are not known, and names with markup characters.

use arc_dsl::{Grid, Program};
use arc_tasks::{Pair, Task, builtin};
use mega_batch::{Batch, Job, Options, PairResult};
use serde_json::{Value, json};

/// A name that would have an effect on a page that does not escape it.
pub(crate) const HOSTILE: &str = "</script><img src=x onerror=\"hostile()\">'&lt;\u{202e}";

/// The file given for the programs of a document.
const FILE: &str = "dir/solvers & more.py";

/// A document with this many tasks.
pub(crate) fn document(count: usize) -> Value {
    let (programs, tasks, jobs) = batch(count);
    let mut options = Options::default();
    options.keep_outputs = true;
    let batch = Batch::listed(&programs, &tasks, jobs).unwrap();
    let report = mega_batch::run(&batch, &options).unwrap();
    let results: Vec<Value> = report
        .results
        .iter()
        .map(|result| {
            let pairs = result.pairs.iter().map(|pair| {
                let split = batch.task(result.job).split_name(pair.pair.split);
                let mut entry = json!({"split": split, "index": pair.pair.index,
                    "outcome": pair.outcome.name()});
                if let Some(error) = pair.outcome.error() {
                    entry["error"] = json!(error);
                }
                entry
            });
            json!({"task": batch.task(result.job).id, "program": batch.program(result.job).name(),
                "file": FILE, "pairs": pairs.collect::<Vec<_>>()})
        })
        .collect();
    let by_task: Vec<Value> = tasks
        .iter()
        .enumerate()
        .map(|(at, task)| {
            let tried = report.results.iter();
            let tried = tried.filter(|result| result.job.task as usize == at);
            let tried: Vec<_> = tried
                .map(|result| (batch.program(result.job), result.pairs.as_slice()))
                .collect();
            of_task(task, &tried)
        })
        .collect();
    let solved = by_task
        .iter()
        .filter(|task| task["state"] == "solved")
        .count();
    let summary = &report.summary;
    let slowest: Vec<Value> = summary
        .slowest(20)
        .into_iter()
        .map(|at| {
            let stats = &summary.by_program[at];
            json!({"program": programs[at].name(), "file": FILE, "evaluations": stats.evaluations,
                "failures": stats.failures, "seconds": stats.time.as_secs_f64()})
        })
        .collect();
    json!({
        "engine_version": "0.2.0", "mode": "parallel", "workers": 2, "tasks": tasks.len(),
        "programs": programs.len(), "evaluations": summary.totals.evaluations, "seconds": 0.05,
        "compile_seconds": 0.01, "evaluation_seconds": 0.08, "evaluations_per_second": 1.0,
        "tasks_solved": solved, "pairs_right": summary.pairs_right,
        "pairs_expected": summary.pairs_expected, "later": {"member": [1]},
        "backend": {"name": "cuda", "compiled": 1200, "merged": 300, "reference": 40,
            "bail_outs": {"too many steps": 2, HOSTILE: 5},
            "programs_compiled": 90, "programs_not_compiled": {"too many instructions": 4},
            "device": {"name": "NVIDIA H100, NVIDIA H100", "evaluations": 5000,
                "bail_outs": {"a grid past 32 rows or columns": 12, "a value past 30 bits": 3},
                "programs": 60, "programs_host_only": {"no operation for fgpartition": 7},
                "launches_halved": 1,
                "activities": [activity("NVIDIA H100 0", 0.4), activity("NVIDIA H100 1", 0.9)]}},
        "results": results, "by_task": by_task, "slowest_programs": slowest,
        "input_errors": [
            {"file": "tasks/a.json", "line": 3, "column": 7, "path": "train[0].input",
             "message": "grid of 0 rows: expected 1 to 30"},
            {"file": HOSTILE, "message": HOSTILE}],
    })
}

fn activity(name: &str, compute: f64) -> Value {
    json!({"name": name, "batches": 10, "items": 2500, "split": 1, "too_large": 0, "failed": 0,
        "stages": {"prepare": 0.7, "upload": 0.05, "compute": compute, "download": 0.02},
        "elapsed": 1.0, "memory": {"in_use": 1 << 20, "reserved": 3 << 20, "most": 2 << 20,
        "allocations": 4, "reuses": 90}})
}

/// Programs, tasks, and the pairs to run. The tasks are the built-in ones, repeated with other inputs.
fn batch(count: usize) -> (Vec<Program>, Vec<Task>, Vec<Job>) {
    let all = builtin::all();
    let mut programs: Vec<_> = all
        .iter()
        .map(|built_in| built_in.program().clone().with_source(FILE))
        .collect();
    programs[2] = programs[2].clone().with_name(HOSTILE.to_owned());
    let (mut tasks, mut jobs) = (Vec::new(), Vec::new());
    for at in 0..count {
        let built_in = &all[at % all.len()];
        let side = [8, 14, 30][at % 3];
        let mut task = built_in.task(at as u64, 3, 1 + at % 2, side.max(built_in.min_side()));
        task.id = format!("{:08x}", at.wrapping_mul(0x9e37_79b9) as u32);
        if at % 9 == 4 {
            for pair in &mut task.test {
                pair.output = None;
            }
        }
        if at == 1 {
            HOSTILE.clone_into(&mut task.id);
        }
        tasks.push(task);
        let tried: &[usize] = match at % 10 {
            0..=5 => &[0, 1, 7, 19],
            6..=8 => &[1, 2, 3, 5],
            _ => &[],
        };
        jobs.extend(tried.iter().map(|other| Job {
            program: ((at + other) % all.len()) as u32,
            task: at as u32,
        }));
    }
    (programs, tasks, jobs)
}

/// The entry of a task, from the programs that were tried on it.
fn of_task(task: &Task, tried: &[(&Program, &[PairResult])]) -> Value {
    let mut ranked: Vec<_> = tried
        .iter()
        .map(|(program, results)| {
            let outputs: Vec<_> = results.iter().map(output).collect();
            let trains = task.train.iter().zip(&outputs);
            let (mut right, mut cells_right, mut cells) = (0, 0, 0);
            for (pair, output) in trains {
                let expected = pair.output.as_ref().unwrap();
                cells += expected.cells().len();
                if let Some(output) = output {
                    right += usize::from(output == expected);
                    if (output.height(), output.width()) == (expected.height(), expected.width()) {
                        let both = output.cells().iter().zip(expected.cells());
                        cells_right += both.filter(|(a, b)| a == b).count();
                    }
                }
            }
            let grids = |outputs: &[Option<Grid>]| -> Vec<Value> {
                outputs
                    .iter()
                    .map(|output| json!(output.as_ref().map(rows)))
                    .collect()
            };
            let (train, test) = outputs.split_at(task.train.len());
            let entry = json!({"program": program.name(), "file": program.source(),
                "steps": program.steps().len(), "candidates": 3, "train_right": right,
                "train_cells_right": cells_right, "train_cells": cells, "train": grids(train),
                "test": grids(test)});
            (cells_right, entry, outputs)
        })
        .collect();
    ranked.sort_by_key(|&(right, ..)| std::cmp::Reverse(right));
    ranked.truncate(3);
    let is_right =
        |pair: &Pair, output: &Option<Grid>| pair.output.is_none() || pair.output == *output;
    let solved = ranked.iter().any(|(_, _, outputs)| {
        let mut pairs = task.pairs().zip(outputs);
        pairs.all(|((_, pair), output)| is_right(pair, output))
    });
    let attempts = (0..task.test.len()).map(|at| {
        let outputs = ranked
            .iter()
            .map(|(_, _, outputs)| &outputs[task.train.len() + at]);
        let mut two: Vec<_> = outputs.flatten().take(2).map(rows).collect();
        two.resize(2, vec![vec![0]]);
        two
    });
    let attempts: Vec<_> = attempts.collect();
    let state = match (tried.is_empty(), solved) {
        (true, _) => "untried",
        (_, true) => "solved",
        (_, false) => "unsolved",
    };
    let best: Vec<_> = ranked.iter().map(|(_, entry, _)| entry).collect();
    json!({"task": task.id, "state": state, "candidates": 400, "behaviours": 37,
        "behaviours_dropped": 0, "train": pairs(&task.train), "test": pairs(&task.test),
        "best": best, "attempts": attempts})
}

fn output(result: &PairResult) -> Option<Grid> {
    let output = result.output.as_ref()?;
    Some(Grid::clone(&*output.as_grid()?))
}

fn pairs(pairs: &[Pair]) -> Vec<Value> {
    pairs
        .iter()
        .map(|pair| match &pair.output {
            Some(output) => json!({"input": rows(&pair.input), "output": rows(output)}),
            None => json!({"input": rows(&pair.input), "output": null}),
        })
        .collect()
}

fn rows(grid: &Grid) -> Vec<Vec<i8>> {
    grid.rows().map(<[i8]>::to_vec).collect()
}
