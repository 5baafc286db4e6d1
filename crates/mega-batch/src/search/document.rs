//! [`SearchDocument`]: the JSON document of a search, for other programs to read.

use std::io::{self, Write};

use arc_dsl::Grid;
use arc_search::Language;
use arc_tasks::{Pair, Task};
use serde::Serialize;

use super::identity::language_hash;
use super::{SearchOptions, SearchState, SearchSummary, SearchTotals, Searched};
use crate::inputs::InputError;
use crate::{DOCUMENT_SCHEMA, VERSION};

/// The contents of the document: a search and its results.
///
/// ```json
/// {"engine_version": "0.2.0", "schema": 1, "kind": "search", "language": "9f..", "workers": 2,
///  "nodes": 12000, "calls": 480000, "attempts": 2, "renames": true, "repeats": true,
///  "grounds": true, "seconds_per_task": null,
///  "tasks": 400, "seconds": 200.1, "work_seconds": 399.0, "most_bytes": 200000000,
///  "totals": {"tasks": 400, "failed": 0, "interrupted": 0, "fitting": 201, "chains": 300, ...},
///  "results": [
///   {"task": "007bbfb7", "state": "solved", "seconds": 0.4, "bytes": 31000000,
///    "failure": null, "stopped": "nodes", "renamed": false,
///    "counts": {"passes": 1, "nodes": 12000, "calls": 31000, "evaluations": 120000, "pieces": 7000, "stacks": 7},
///    "sizes": [[9, 9]],
///    "attempts": [
///     {"fits": 5, "score": 4.8, "cost": 17, "renames": false, "broken": [[]],
///      "layers": [{"part": "all", "expression": "fractal(I)", "colour": null, "paints": [[[7, -1]]]}],
///      "program": "def solve_007bbfb7(I):\n ..", "outputs": [[[7, 0]]]}],
///    "answers": [[0, 1]],
///    "train": [{"input": [[0, 7]], "output": [[7, 0]]}], "test": [{"input": [[0, 7]], "output": null}]}],
///  "input_errors": []}
/// ```
///
/// `language` is a hash of the language. The members of `totals` are those of [`SearchTotals`], and those of a result
/// are those of [`Searched`]. A search that was cancelled has `"incomplete": true`, and its results lack the tasks
/// that it did not finish. Everything except `workers`, `seconds`, `work_seconds`, `most_bytes` and `bytes` is the
/// same in every run, if no task reached its time limit.
#[derive(Debug, Clone, Copy)]
pub struct SearchDocument<'a> {
    /// The tasks.
    pub tasks: &'a [Task],
    /// The results, by index of the task.
    pub results: &'a [(usize, Searched)],
    /// The language.
    pub language: &'a Language,
    /// How they were searched.
    pub options: &'a SearchOptions,
    /// The summary of the search.
    pub summary: &'a SearchSummary,
    /// What could not be read.
    pub input_errors: &'a [InputError],
}

/// The document up to the results.
#[derive(Serialize)]
struct Head<'a> {
    engine_version: &'a str,
    schema: u32,
    kind: &'a str,
    language: String,
    workers: usize,
    nodes: usize,
    calls: u64,
    attempts: usize,
    renames: bool,
    repeats: bool,
    grounds: bool,
    seconds_per_task: Option<f64>,
    tasks: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    incomplete: Option<bool>,
    seconds: f64,
    work_seconds: f64,
    most_bytes: u64,
    totals: &'a SearchTotals,
}

#[derive(Serialize)]
struct TaskEntry<'a> {
    task: &'a str,
    state: SearchState,
    #[serde(flatten)]
    searched: &'a Searched,
    train: Vec<PairEntry<'a>>,
    test: Vec<PairEntry<'a>>,
}

#[derive(Serialize)]
struct PairEntry<'a> {
    input: &'a Grid,
    output: Option<&'a Grid>,
}

fn entries(pairs: &[Pair]) -> Vec<PairEntry<'_>> {
    let entries = pairs.iter().map(|pair| PairEntry {
        input: &pair.input,
        output: pair.output.as_ref(),
    });
    entries.collect()
}

impl SearchDocument<'_> {
    /// Writes it.
    pub fn write(&self, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
        let Self {
            options, summary, ..
        } = self;
        let head = serde_json::to_string(&Head {
            engine_version: VERSION,
            schema: DOCUMENT_SCHEMA,
            kind: "search",
            language: language_hash(self.language),
            workers: summary.workers,
            nodes: options.search.nodes,
            calls: options.search.calls,
            attempts: options.search.attempts,
            renames: options.search.renames,
            repeats: options.search.repeats,
            grounds: options.search.grounds,
            seconds_per_task: options.time_per_task.map(|time| time.as_secs_f64()),
            tasks: summary.tasks,
            incomplete: (!summary.is_complete()).then_some(true),
            seconds: summary.elapsed.as_secs_f64(),
            work_seconds: summary.seconds,
            most_bytes: summary.most_bytes,
            totals: &summary.totals,
        })?;
        // The object goes on after its first members.
        let head = head.strip_suffix('}').unwrap_or(&head);
        write!(out, "{head},\"results\":[")?;
        for (number, (at, searched)) in self.results.iter().enumerate() {
            out.write_all(if number == 0 { b"\n" } else { b",\n" })?;
            let task = &self.tasks[*at];
            serde_json::to_writer(
                &mut *out,
                &TaskEntry {
                    task: &task.id,
                    state: searched.state(task),
                    searched,
                    train: entries(&task.train),
                    test: entries(&task.test),
                },
            )?;
        }
        out.write_all(b"],\"input_errors\":")?;
        serde_json::to_writer(&mut *out, self.input_errors)?;
        out.write_all(b"}\n")
    }
}
