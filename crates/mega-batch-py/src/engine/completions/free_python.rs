//! Texts without a program of the DSL, which may have one in free Python: a pool runs them.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use arc_dsl::{Grid, Pair, ParseError, ParseErrorKind, Program, Reading, Task};
use mega_batch::inputs::completions;
use mega_batch::{Options, Score};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use python_pool::{Answer, Block, Failure, Job};

use super::{
    ERROR, Evaluation, LIMIT, MATCH, MISMATCH, NO_EXPECTED, PyEvaluated, TaskResult, UNFINISHED,
};
use crate::engine::{Callbacks, PyEngine};
use crate::errors::{Fault, PyEvalError};
use crate::python_pool::PyPythonPool;

/// Whether a text without a program of the DSL may have one in free Python. It has none if all that is wrong with it are
/// names that Python does not know either, as in a program of the DSL with a misspelt primitive.
pub(super) fn is_foreign(text: &str, reading: &Reading) -> bool {
    let has_function = text.contains("def ") || text.contains("lambda");
    let is_misspelt = |program: &Result<Program, ParseError>| match program {
        Ok(_) => true,
        Err(error) => match &error.kind {
            ParseErrorKind::UnknownPrimitive { name, .. }
            | ParseErrorKind::UnknownName { name, .. } => {
                !BUILTINS.split(' ').any(|known| known == name)
                    && !name.starts_with(char::is_uppercase)
            }
            _ => false,
        },
    };
    has_function
        && (text.contains("import *")
            || !completions::programs(text, reading).iter().all(is_misspelt))
}

/// What Python has without an import, but types of exceptions, and `np`, which a pool adds.
const BUILTINS: &str = "abs aiter all anext any ascii bin bool breakpoint bytearray bytes callable chr classmethod compile \
     complex copyright credits delattr dict dir divmod enumerate eval exec exit filter float format frozenset getattr \
     globals hasattr hash help hex id input int isinstance issubclass iter len license list locals map max memoryview \
     min next np numpy object oct open ord pow print property quit range repr reversed round set setattr slice sorted \
     staticmethod str sum super tuple type vars zip";

/// The texts to run.
pub(super) struct FreePython {
    /// By the index of the text: what may be its program.
    code: Vec<(usize, Vec<Vec<Block>>)>,
    /// The inputs of each task that has such a text.
    inputs: HashMap<u32, Vec<Grid>>,
}

impl FreePython {
    pub(super) fn of(
        pool: &PyPythonPool,
        texts: &[Result<String, String>],
        evaluation: &Evaluation,
        train_only: bool,
    ) -> Self {
        let read = evaluation.read.iter().zip(texts).enumerate();
        let code = read.filter_map(|(at, (read, text))| {
            let is_foreign = read.as_ref().err()?.1;
            // A prelude may know more names.
            let text = text
                .as_ref()
                .ok()
                .filter(|_| is_foreign || pool.has_prelude())?;
            Some((at, completions::code(text)))
        });
        let code: Vec<_> = code.collect();
        let mut inputs = HashMap::new();
        for (at, _) in &code {
            let task = evaluation.task_of[*at];
            inputs.entry(task).or_insert_with(|| {
                let pairs = pairs(&evaluation.tasks[task as usize], train_only);
                pairs.map(|pair| Grid::clone(&pair.input)).collect()
            });
        }
        Self { code, inputs }
    }

    /// How many pairs they are evaluated on.
    pub(super) fn pairs(&self, evaluation: &Evaluation) -> u64 {
        let tasks = self.code.iter().map(|(at, _)| evaluation.task_of[*at]);
        tasks.map(|task| self.inputs[&task].len() as u64).sum()
    }

    /// Runs them, after `before` other evaluations. Returns the results by the index of the text.
    pub(super) fn evaluate(
        &self,
        py: Python<'_>,
        pool: &PyPythonPool,
        engine: &PyEngine,
        (evaluation, train_only): (&Evaluation, bool),
        (callbacks, before): (&Callbacks, u64),
    ) -> PyResult<HashMap<usize, PyEvaluated>> {
        let jobs = self.code.iter().map(|(at, tries)| Job {
            tries,
            inputs: &self.inputs[&evaluation.task_of[*at]],
        });
        let jobs: Vec<_> = jobs.collect();
        let pairs = self.pairs(evaluation);
        let (options, began) = (engine.options(), Instant::now());
        engine.cancelled().store(false, Ordering::Relaxed);
        let answers = pool.answers(py, &jobs, |py, done| {
            let is_over = options
                .time_limit
                .is_some_and(|limit| began.elapsed() > limit);
            if is_over || engine.cancelled().load(Ordering::Relaxed) {
                return Err(PyOSError::new_err(UNFINISHED));
            }
            // Programs of a batch mostly have as many pairs each.
            let done = pairs * done as u64 / jobs.len().max(1) as u64;
            callbacks.progress().tell(py, before + done, before + pairs)
        })?;
        let evaluated = self.code.iter().zip(answers).map(|((at, _), answer)| {
            let task = &evaluation.tasks[evaluation.task_of[*at] as usize];
            let evaluated = match answer {
                Answer::Ran(outputs) => judged(task, train_only, outputs, options),
                Answer::NoProgram(line, reason) => {
                    let reason = format!("line {line}: {reason}");
                    let bad = match &evaluation.read[*at] {
                        // What the DSL's reader said is about a misspelt name.
                        Err((bad, false)) => bad.clone(),
                        _ => (line, reason),
                    };
                    PyEvaluated::without_program(bad)
                }
            };
            (*at, evaluated)
        });
        Ok(evaluated.collect())
    }
}

/// The pairs that are evaluated.
fn pairs(task: &Task, train_only: bool) -> impl Iterator<Item = &Pair> {
    let tests: &[Pair] = if train_only { &[] } else { &task.test };
    task.train.iter().chain(tests)
}

fn judged(
    task: &Task,
    train_only: bool,
    outputs: Vec<Result<Grid, Failure>>,
    options: &Options,
) -> PyEvaluated {
    let mut result = TaskResult {
        known: pairs(task, train_only)
            .filter(|pair| pair.output.is_some())
            .count() as u32,
        ..TaskResult::default()
    };
    let mut error = None;
    for (at, (pair, output)) in pairs(task, train_only).zip(outputs).enumerate() {
        let (verdict, score) = match (&output, &pair.output) {
            (Ok(output), Some(expected)) if output == expected => (MATCH, None),
            (Ok(output), Some(expected)) => (MISMATCH, Some(Score::of(output, Some(expected)))),
            (Ok(_), None) => (NO_EXPECTED, None),
            (Err(failure), _) => {
                let fault = Fault::python(failure);
                let verdict = if fault.is_limit() { LIMIT } else { ERROR };
                error.get_or_insert(PyEvalError(fault));
                (verdict, None)
            }
        };
        result.count(verdict, pair, score);
        if options.keep_outputs && at >= task.train.len() {
            result.outputs.push(output.ok());
        }
        if options.stop_after_wrong && (verdict == MISMATCH || verdict == ERROR) {
            break;
        }
    }
    PyEvaluated {
        program: None,
        bad: None,
        language: Some("python"),
        error,
        result: Arc::new(result),
    }
}
