//! [`JsonReport`]: the JSON document of a batch for other programs to read, written as the results come.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Seek, Write};
use std::path::Path;

use arc_dsl::{Grid, Value};
use serde::Serialize;
use tempfile::SpooledTempFile;

use crate::batch::{Batch, Job};
use crate::inputs::InputError;
use crate::results::attempts::TaskDetails;
use crate::results::outcome::PairResult;
use crate::results::sink::Sink;
use crate::results::summary::{SplitCounts, Summary};
use crate::run::backend::Backends;
use crate::{DOCUMENT_SCHEMA, VERSION};

/// How many bytes of results are kept in memory before they go to a temporary file.
const SPOOL: usize = 16 << 20;

/// How many slow programs are listed.
const SLOWEST: usize = 20;

/// A [`Sink`] that writes a JSON document of a batch:
///
/// ```json
/// {"engine_version": "0.2.0", "schema": 1, "mode": "parallel", "workers": 2, "tasks": 400, "programs": 400,
///  "evaluations": 1718, "seconds": 0.05, "compile_seconds": 0.01, "evaluation_seconds": 0.08,
///  "evaluations_per_second": 34360.0, "tasks_solved": 399, "pairs_right": 1715,
///  "pairs_expected": 1718,
///  "backend": {"name": "auto", "compiled": 1700, "merged": 0, "reference": 18,
///   "bail_outs": {"too many steps": 2}, "programs_compiled": 396,
///   "programs_not_compiled": {"too many instructions": 4}},
///  "results": [
///   {"task": "007bbfb7", "program": "solve_007bbfb7", "file": "solvers.py", "pairs": [
///    {"split": "train", "index": 0, "outcome": "match"},
///    {"split": "test", "index": 0, "outcome": "error", "error": "line 7: first: ..."}]}],
///  "input_errors": [{"file": "tasks/a.json", "line": 3, "column": 7, "path": "train[0].input",
///    "message": "grid of 0 rows: expected 1 to 30"}]}
/// ```
///
/// `seconds` is the wall-clock time of compiling and evaluating; `compile_seconds` and `evaluation_seconds` are the
/// time of each, summed over workers. An `outcome` is one of `match`, `mismatch`, `no_expected`, `error` and `limit`;
/// the last two have an `error`. With [`keep_outputs`](crate::Options::keep_outputs) a pair also has its `output`, a
/// list of rows, if the program returned a grid. Everything except the times is the same in every mode and for every
/// number of workers, and everything except the times and `backend` is the same for every
/// [`Backend`](crate::Backend).
///
/// If tasks have pairs of splits other than `train` and `test`, `by_split` contains their counts, by the name of the
/// split, as `{"arc-gen": {"evaluations": 9, "right": 8, "pairs_expected": 9, "pairs_right": 8}}`: they are included
/// in `evaluations`, and in no other count.
///
/// The results of a program that was read from a file also have the `file`, and those of a program in free Python
/// `"language": "python"`. A batch that was
/// [cancelled](crate::Options::cancellation), or reached its [time limit](crate::Options::time_limit), has
/// `"incomplete": true` and `evaluations_planned`, the number of all its evaluations; the results contain only what
/// was evaluated. If programs were [not continued](crate::Options::stop_after_wrong) after a wrong pair,
/// `evaluations_skipped` is the number of pairs that are missing because of that.
///
/// With [`scores`](crate::Options::scores) a pair with an output also has `cells_right`, the number of its cells that
/// are as expected. [`with`](JsonReport::with) adds the members that `mega-batch report` shows:
///
/// ```json
/// {"by_task": [
///   {"task": "007bbfb7", "state": "solved", "candidates": 400, "behaviours": 37, "behaviours_dropped": 5,
///    "train": [{"input": [[0, 7]], "output": [[7, 0]]}], "test": [{"input": [[0, 7]]}],
///    "best": [
///     {"program": "solve_007bbfb7", "file": "solvers.py", "steps": 7, "candidates": 3,
///      "train_right": 1, "train_cells_right": 2, "train_cells": 2,
///      "train": [[[7, 0]]], "test": [null]}],
///    "attempts": [[[[0, 7]], [[0]]]]}],
///  "slowest_programs": [
///   {"program": "solve_007bbfb7", "file": "solvers.py", "evaluations": 9, "failures": 0, "seconds": 0.1}]}
/// ```
///
/// A `state` is one of `solved`, `unsolved` and `untried`; `best` are up to three [behaviours](crate::Behaviour),
/// best first, with their grids, and `attempts` is the result of [`Attempts::of_task`](crate::Attempts::of_task).
///
/// With a device as backend, `backend` also has a `device`, with the fields of [`OnDevice`](crate::OnDevice), or
/// `no_device` with the reason why there is none.
///
/// The document begins with the summary, which is known last: until then the results are kept as text in memory or,
/// if there are many, in a temporary file.
///
/// ```
/// # use arc_dsl::{Grid, ProgramBuilder};
/// # use arc_tasks::{Pair, Task};
/// use mega_batch::{Batch, JsonReport, Options, Runner};
/// # let pair = Pair::new(Grid::filled(1, 1, 3), Grid::filled(1, 1, 3));
/// # let tasks = [Task { id: "a".into(), train: vec![pair], test: vec![], ..Task::default() }];
/// # let builder = ProgramBuilder::new("solve_a");
/// # let input = builder.input();
/// # let programs = [builder.finish(input)?];
/// let batch = Batch::own_tasks(&programs, &tasks);
/// let mut json = JsonReport::new(&batch);
/// let summary = Runner::new(&Options::default())?.run_into(&batch, &mut json)?;
/// let mut text = Vec::new();
/// json.write(&summary, &[], &mut text)?;
/// assert!(text.starts_with(br#"{"engine_version":"#));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct JsonReport<'a> {
    batch: Batch<'a>,
    results: BufWriter<SpooledTempFile>,
    job_open: bool,
    pairs: usize,
    jobs: usize,
    by_task: Option<Vec<TaskDetails>>,
}

/// A program that took long.
#[derive(Serialize)]
struct SlowProgram<'a> {
    program: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    evaluations: u64,
    failures: u64,
    seconds: f64,
}

/// The document up to the results.
#[derive(Serialize)]
struct Head<'a> {
    engine_version: &'a str,
    schema: u32,
    mode: String,
    workers: usize,
    tasks: usize,
    programs: usize,
    evaluations: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    incomplete: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    evaluations_planned: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    evaluations_skipped: Option<u64>,
    seconds: f64,
    compile_seconds: f64,
    evaluation_seconds: f64,
    evaluations_per_second: f64,
    tasks_solved: u64,
    pairs_right: u64,
    pairs_expected: u64,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    by_split: &'a BTreeMap<String, SplitCounts>,
    backend: &'a Backends,
}

#[derive(Serialize)]
struct PairEntry<'a> {
    split: &'a str,
    index: u32,
    outcome: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<&'a Grid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cells_right: Option<u32>,
}

impl<'a> JsonReport<'a> {
    /// A report of this batch, without results yet. If there are many, they go to a file in the system's folder for
    /// temporary files.
    pub fn new(batch: &Batch<'a>) -> Self {
        Self::spooled_in(batch, std::env::temp_dir())
    }

    /// The same, with this folder for temporary files. The file is removed with the report, or when the process ends.
    pub fn spooled_in(batch: &Batch<'a>, folder: impl AsRef<Path>) -> Self {
        Self {
            batch: batch.clone(),
            results: BufWriter::new(SpooledTempFile::new_in(SPOOL, folder)),
            job_open: false,
            pairs: 0,
            jobs: 0,
            by_task: None,
        }
    }

    /// Adds the details of tasks and the slowest programs.
    #[must_use]
    pub fn with(self, tasks: Option<Vec<TaskDetails>>) -> Self {
        Self {
            by_task: tasks,
            ..self
        }
    }

    /// Writes the document.
    pub fn write(
        mut self,
        summary: &Summary,
        input_errors: &[InputError],
        out: &mut (impl Write + ?Sized),
    ) -> io::Result<()> {
        self.close_job()?;
        let mut results = self
            .results
            .into_inner()
            .map_err(io::IntoInnerError::into_error)?;
        results.rewind()?;
        let incomplete = !summary.is_complete();
        let head = serde_json::to_string(&Head {
            engine_version: VERSION,
            schema: DOCUMENT_SCHEMA,
            mode: summary.mode.to_string(),
            workers: summary.workers,
            tasks: summary.tasks,
            programs: summary.programs,
            evaluations: summary.totals.evaluations,
            incomplete: incomplete.then_some(true),
            evaluations_planned: incomplete.then_some(summary.planned),
            evaluations_skipped: (summary.skipped > 0).then_some(summary.skipped),
            seconds: summary.elapsed.as_secs_f64(),
            compile_seconds: summary.backends.compile_time.as_secs_f64(),
            evaluation_seconds: summary.evaluation_time().as_secs_f64(),
            evaluations_per_second: summary.evaluations_per_second(),
            tasks_solved: summary.tasks_solved,
            pairs_right: summary.pairs_right,
            pairs_expected: summary.pairs_expected,
            by_split: &summary.by_split,
            backend: &summary.backends,
        })?;
        // The head is an object without its closing brace.
        let head = head.strip_suffix('}').unwrap_or(&head);
        write!(out, "{head},\"results\":[")?;
        io::copy(&mut results, out)?;
        out.write_all(b"]")?;
        if let Some(tasks) = &self.by_task {
            out.write_all(b",\"by_task\":[")?;
            for (at, task) in tasks.iter().enumerate() {
                out.write_all(if at == 0 { b"\n" } else { b",\n" })?;
                serde_json::to_writer(&mut *out, task)?;
            }
            out.write_all(b"],\"slowest_programs\":")?;
            let slowest = summary.slowest(SLOWEST).into_iter().map(|at| {
                let (program, stats) = (&self.batch.programs()[at], &summary.by_program[at]);
                SlowProgram {
                    program: program.name(),
                    file: program.source(),
                    evaluations: stats.evaluations,
                    failures: stats.failures,
                    seconds: stats.time.as_secs_f64(),
                }
            });
            serde_json::to_writer(&mut *out, &slowest.collect::<Vec<_>>())?;
        }
        out.write_all(b",\"input_errors\":")?;
        serde_json::to_writer(&mut *out, input_errors)?;
        out.write_all(b"}\n")
    }

    fn close_job(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.job_open) {
            self.results.write_all(b"]}")
        } else {
            Ok(())
        }
    }
}

impl Sink for JsonReport<'_> {
    fn job(&mut self, job: Job) -> io::Result<()> {
        self.close_job()?;
        let comma = if self.jobs > 0 { "," } else { "" };
        write!(self.results, "{comma}\n{{\"task\":")?;
        serde_json::to_writer(&mut self.results, &self.batch.task(job).id)?;
        self.results.write_all(b",\"program\":")?;
        let program = self.batch.program(job);
        serde_json::to_writer(&mut self.results, program.name())?;
        if let Some(file) = program.source() {
            self.results.write_all(b",\"file\":")?;
            serde_json::to_writer(&mut self.results, file)?;
        }
        if program.python().is_some() {
            self.results.write_all(b",\"language\":\"python\"")?;
        }
        self.results.write_all(b",\"pairs\":[")?;
        (self.job_open, self.pairs, self.jobs) = (true, 0, self.jobs + 1);
        Ok(())
    }

    fn pair(&mut self, job: Job, result: PairResult) -> io::Result<()> {
        if self.pairs > 0 {
            self.results.write_all(b",")?;
        }
        self.pairs += 1;
        let error = result.outcome.error();
        let output = result.output.as_ref().and_then(Value::as_grid);
        let entry = PairEntry {
            split: self.batch.task(job).split_name(result.pair.split),
            index: result.pair.index,
            outcome: result.outcome.name(),
            error: error.as_deref(),
            output: output.as_deref(),
            cells_right: result.score.map(|score| score.cells_right),
        };
        Ok(serde_json::to_writer(&mut self.results, &entry)?)
    }
}
