//! [`FreePython`]: the programs in free Python of a batch. Its pool runs one on all pairs of a task at once, in a process
//! of its own, while the thread that asks waits; whoever needs the other pairs finds them.

use std::sync::{Arc, Mutex, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use arc_dsl::{Block, Grid, Value};
use python_pool::{Failure, FailureKind, Outputs, PoolError};
use rustc_hash::FxHashMap;

use super::chain::Evaluated;
use super::evaluator::Evaluation;
use crate::batch::{Batch, Job};
use crate::results::outcome::{Answer, Outcome};
use crate::run::backend::EvaluatedBy;
use crate::run::panics::lock;

/// How often a thread looks for outputs that another one waits for.
const POLL: Duration = Duration::from_millis(1);

/// The outputs of a program on a task, once it has run. Whoever runs it holds the lock.
type Shared = Arc<Mutex<Option<Outputs>>>;

#[derive(Debug)]
pub(super) struct FreePython<'b> {
    batch: &'b Batch<'b>,
    /// For each program the first with the same code, and whether there are others.
    same: FxHashMap<u32, (u32, bool)>,
    /// By the first program and the task. What others may ask for stays until the batch ends.
    outputs: Mutex<FxHashMap<Job, Shared>>,
}

/// The job whose outputs a thread last asked for.
pub(super) type Held = Option<(Job, Shared)>;

impl<'b> FreePython<'b> {
    pub(super) fn new(batch: &'b Batch<'b>) -> Self {
        let (mut same, mut first) = (
            FxHashMap::default(),
            FxHashMap::<&[Vec<Block>], u32>::default(),
        );
        for (program, at) in batch.programs().iter().zip(0..) {
            let Some(code) = program.python() else {
                continue;
            };
            let first = *first.entry(code).or_insert(at);
            same.insert(at, (first, first != at));
            if first != at {
                same.insert(first, (first, true));
            }
        }
        Self {
            batch,
            same,
            outputs: Mutex::default(),
        }
    }

    /// Whether the batch has such programs.
    pub(super) fn has_any(&self) -> bool {
        !self.same.is_empty()
    }

    /// The result of a job on a pair; `None` if `is_over` says so first.
    pub(super) fn ask(
        &self,
        job: Job,
        pair: usize,
        evaluation: &Evaluation<'_>,
        held: &mut Held,
        is_over: &mut dyn FnMut() -> bool,
    ) -> Option<Evaluated> {
        let began = Instant::now();
        let &(program, is_shared) = self.same.get(&job.program)?;
        let job = Job { program, ..job };
        let shared = match held {
            Some((of, shared)) if *of == job => Arc::clone(shared),
            _ => Arc::clone(lock(&self.outputs).entry(job).or_default()),
        };
        *held = Some((job, Arc::clone(&shared)));
        let mut outputs = loop {
            match shared.try_lock() {
                Ok(outputs) => break outputs,
                Err(TryLockError::Poisoned(outputs)) => break outputs.into_inner(),
                Err(TryLockError::WouldBlock) if is_over() => return None,
                Err(TryLockError::WouldBlock) => thread::sleep(POLL),
            }
        };
        let output = match &*outputs {
            Some(known) => Ok(known[pair].clone()),
            None => self.run(job, is_over).map(|ran| {
                let output = ran[pair].clone();
                *outputs = Some(ran);
                output
            }),
        };
        let options = evaluation.options;
        let answer = match output {
            Ok(Ok(grid)) => Answer::of(Ok(Value::from(grid)), evaluation.pair, options),
            Ok(Err(failure)) => Outcome::Python(Box::new(failure)).into(),
            Err(PoolError::Cancelled) => return None,
            Err(PoolError::Start(reason)) => Outcome::Internal(reason.into()).into(),
        };
        let is_last = pair + 1 == self.batch.pairs_of(job)
            || options.stop_after_wrong && answer.outcome.is_wrong();
        if is_last && !is_shared {
            lock(&self.outputs).remove(&job);
        }
        Some(Evaluated {
            answer,
            by: EvaluatedBy::Python,
            // It took long, as the reference may.
            by_reference: Some(began.elapsed()),
        })
    }

    fn run(&self, job: Job, is_over: &mut dyn FnMut() -> bool) -> Result<Outputs, PoolError> {
        let pairs = self.batch.pairs(self.batch.task(job));
        let inputs: Vec<Grid> = pairs.map(|(_, pair)| Grid::clone(&pair.input)).collect();
        if let (Some(pool), Some(code)) = (self.batch.python(), self.batch.program(job).python()) {
            return pool.run(code, &inputs, is_over);
        }
        let failure = Failure {
            kind: FailureKind::NoProgram,
            line: 0,
            message: "in free Python, which only a pool runs".to_owned(),
        };
        Ok(vec![Err(failure); inputs.len()])
    }
}
