//! Texts whose program may be in free Python: a pool runs them.

use std::collections::HashMap;
use std::sync::Arc;

use arc_dsl::Program;
use arc_tasks::Task;
use mega_batch::inputs::completions;
use mega_batch::{Batch, Job};
use pyo3::prelude::*;
use python_pool::FailureKind;

use super::{Evaluation, PyEvaluated, TaskResult, judged, known_pairs, listed};
use crate::engine::PyEngine;
use crate::errors::PyEvalError;
use crate::progress::ProgressCallback;
use crate::python_pool::PyPythonPool;

/// The texts to run.
pub(super) struct PythonTexts {
    /// The indices of the texts.
    texts: Vec<usize>,
    programs: Vec<Program>,
    jobs: Vec<Job>,
    /// Without further splits, which are not evaluated.
    tasks: Vec<Task>,
}

impl PythonTexts {
    pub(super) fn of(
        pool: &PyPythonPool,
        texts: &[Result<String, String>],
        evaluation: &Evaluation,
    ) -> Self {
        let (mut found, mut programs) = (Vec::new(), Vec::new());
        for (at, (read, text)) in evaluation.read.iter().zip(texts).enumerate() {
            let (Err((_, is_foreign)), Ok(text)) = (read, text) else {
                continue;
            };
            // A prelude may know more names.
            if *is_foreign || pool.has_prelude() {
                found.push(at);
                programs.push(Program::in_python("", completions::code(text)));
            }
        }
        let jobs = found.iter().zip(0..).map(|(at, program)| Job {
            program,
            task: evaluation.task_of[*at],
        });
        let tasks = evaluation.tasks.iter().filter(|_| !found.is_empty());
        Self {
            jobs: jobs.collect(),
            tasks: tasks
                .map(|task| Task {
                    others: Vec::new(),
                    ..task.clone()
                })
                .collect(),
            texts: found,
            programs,
        }
    }

    fn batch(&self, train_only: bool) -> PyResult<Batch<'_>> {
        listed(&self.programs, &self.tasks, &self.jobs, train_only)
    }

    /// How many pairs they are evaluated on.
    pub(super) fn pairs(&self, train_only: bool) -> PyResult<u64> {
        Ok(self.batch(train_only)?.evaluations())
    }

    /// Runs them, after `before` other evaluations. Returns the results by the index of the text.
    pub(super) fn evaluate(
        &self,
        py: Python<'_>,
        pool: &PyPythonPool,
        engine: &PyEngine,
        (evaluation, train_only): (&Evaluation, bool),
        (progress, before): (&ProgressCallback, u64),
    ) -> PyResult<HashMap<usize, PyEvaluated>> {
        let batch = self.batch(train_only)?.with_python(pool.pool(py)?);
        let results = self.texts.iter().map(|_| TaskResult::default()).collect();
        let total = before + batch.evaluations();
        let (results, _) = judged(engine, py, &batch, results, (before, total), progress)?;
        let texts = self.texts.iter().zip(&self.jobs).zip(results);
        let evaluated = texts.map(|((at, job), mut result)| {
            result.known = known_pairs(batch.task(*job), train_only);
            let evaluated = match &result.failure {
                Some(failure) if failure.kind == FailureKind::NoProgram => {
                    PyEvaluated::without_program(match &evaluation.read[*at] {
                        // What the DSL's reader said is about a misspelt name.
                        Err((bad, false)) => bad.clone(),
                        _ => (failure.line, failure.to_string()),
                    })
                }
                failure => PyEvaluated {
                    program: None,
                    bad: None,
                    language: Some("python"),
                    error: failure.as_deref().map(PyEvalError::python),
                    result: Arc::new(result),
                },
            };
            (*at, evaluated)
        });
        Ok(evaluated.collect())
    }
}
