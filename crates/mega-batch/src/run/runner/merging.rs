//! Which jobs of a batch are evaluated together, in one [`Batt`] per task, and how.
//!
//! The candidates of a search and the mutants of a program have most of their calls in common. If programs that are
//! tried on one task share enough calls, a batt evaluates each call once, and no program is compiled. Programs that the
//! batt refuses, and evaluations that reach one of its bounds, are evaluated as if there were no batt.
//!
//! Whether a job is merged depends only on its neighbours in the batch, so it is the same for every number of workers.

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::{Arc, Mutex};

use arc_cpu::batt::{Batt, Bounds, Distance, Merged, Refused};
use arc_dsl::{Callee, Dialect, Limits, Operand, Program};
use arc_tasks::Pair;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use super::Run;
use super::evaluator::{Evaluation, caught};
use super::unit::Unit;
use crate::batch::Batch;
use crate::batch::options::{Backend, Merging, Options};
use crate::results::outcome::{Answer, Outcome, is_wanted};
use crate::run::backend::MergeCounts;
use crate::run::executors::Compilation;
use crate::run::panics::lock;

/// The number of consecutive jobs that are planned together.
const BLOCK: usize = 256;

/// A task with more pairs than this has enough evaluations for compiling each program to pay.
const MOST_PAIRS: usize = 64;

/// How many blocks are cached: more than workers use at a time.
const BLOCKS_KEPT: usize = 64;

/// The memory of each worker's batts, and their number: at most this many tasks are merged in a block.
const MAX_BYTES: usize = 128 << 20;
const MOST_BATTS: usize = BLOCK / Merging::LEAST_PROGRAMS;

/// The divisors that scale the limits of an evaluation, on steps and on memory, to the bounds of a batt. Evaluations
/// that take more are done as if there were no batt.
const SHARE: u64 = 10;
const SHARE_OF_MEMORY: u64 = 8;

/// The jobs of a batch that are to be merged. The first worker that needs a block plans it.
#[derive(Debug)]
pub(super) struct MergePlan<'b> {
    batch: &'b Batch<'b>,
    merging: Merging,
    /// For each cached block its number, and which of its jobs are merged. The latest come last.
    blocks: Mutex<VecDeque<(usize, Arc<[bool]>)>>,
}

/// Evaluations of one program on one task that are to be merged.
#[derive(Debug, Clone, Copy)]
pub(super) struct Segment {
    /// The index of its first evaluation among those of the units.
    pub(super) at: usize,
    program: u32,
    pub(super) task: u32,
    /// The index of its first pair in the task.
    pub(super) pair: usize,
    pub(super) len: usize,
}

impl Segment {
    /// Its evaluations of these pairs; `None` if it has none.
    pub(super) fn within(&self, pairs: &Range<usize>) -> Option<Self> {
        let pair = self.pair.max(pairs.start);
        let end = (self.pair + self.len).min(pairs.end);
        (pair < end).then(|| Self {
            at: self.at + pair - self.pair,
            pair,
            len: end - pair,
            ..*self
        })
    }
}

impl<'b> MergePlan<'b> {
    /// The plan of a batch; `None` if each program is evaluated alone.
    pub(super) fn new(
        batch: &'b Batch<'b>,
        merging: Merging,
        compilation: Compilation,
        limits: &Limits,
    ) -> Option<Self> {
        let allowed = compilation == Compilation::Auto && Backend::allows(limits);
        (allowed && merging != Merging::Never).then(|| Self {
            batch,
            merging,
            blocks: Mutex::default(),
        })
    }

    /// The segments of these units that are to be merged.
    pub(super) fn segments(&self, units: &[Unit]) -> Vec<Segment> {
        let mut segments = Vec::new();
        let mut block: Option<(usize, Arc<[bool]>)> = None;
        let mut at = 0;
        for unit in units {
            let (mut job, mut pair, end) = (unit.job, unit.pair, at + unit.len);
            if !is_taken(&self.batch.programs()[unit.program as usize]) {
                at = end;
            }
            while at < end {
                let task = self.batch.job(job).task;
                let pairs = self.batch.pairs_of(self.batch.job(job));
                let len = (pairs - pair).min(end - at);
                let number = job / BLOCK;
                let (_, merged) = match &block {
                    Some(block) if block.0 == number => block,
                    _ => block.insert((number, self.block(number))),
                };
                if len > 0 && merged[job % BLOCK] {
                    let program = unit.program;
                    segments.push(Segment {
                        at,
                        program,
                        task,
                        pair,
                        len,
                    });
                }
                (job, pair, at) = (job + 1, 0, at + len);
            }
        }
        segments
    }

    /// Whether the job of this index is merged.
    pub(super) fn is_merged(&self, job: usize) -> bool {
        self.block(job / BLOCK)[job % BLOCK]
    }

    /// Which jobs of the block are merged.
    fn block(&self, number: usize) -> Arc<[bool]> {
        let is_cached = |(of, _): &&(usize, Arc<[bool]>)| *of == number;
        if let Some((_, merged)) = lock(&self.blocks).iter().rev().find(is_cached) {
            return Arc::clone(merged);
        }
        // Two workers may plan a block at the same time: that is no worse than waiting.
        let merged: Arc<[bool]> = self.plan_block(number).into();
        let mut blocks = lock(&self.blocks);
        if blocks.len() == BLOCKS_KEPT {
            blocks.pop_front();
        }
        blocks.push_back((number, Arc::clone(&merged)));
        merged
    }

    /// Decides which jobs of the block are merged.
    fn plan_block(&self, number: usize) -> Vec<bool> {
        let first = number * BLOCK;
        let jobs = first..self.batch.job_count().min(first + BLOCK);
        let mut merged = vec![false; jobs.len()];
        let mut by_task: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
        for job in jobs {
            if !is_taken(self.batch.program(self.batch.job(job))) {
                continue;
            }
            by_task
                .entry(self.batch.job(job).task)
                .or_default()
                .push(job);
        }
        let least = match self.merging {
            Merging::Always => 2,
            _ => Merging::LEAST_PROGRAMS,
        };
        let mut hashes: FxHashMap<u32, Vec<u64>> = FxHashMap::default();
        for jobs in by_task.values() {
            let pairs = self.batch.pairs_of(self.batch.job(jobs[0]));
            if jobs.len() < least || pairs > MOST_PAIRS {
                continue;
            }
            let (mut steps, mut distinct) = (0, FxHashSet::default());
            for job in jobs {
                let program = self.batch.job(*job).program;
                let hashes = hashes
                    .entry(program)
                    .or_insert_with(|| step_hashes(&self.batch.programs()[program as usize]));
                steps += hashes.len();
                distinct.extend(hashes.iter().copied());
            }
            let shared = steps - distinct.len();
            if self.merging == Merging::Always || shared * 100 >= steps * Merging::LEAST_SHARED {
                for job in jobs {
                    merged[job - first] = true;
                }
            }
        }
        merged
    }
}

/// Whether batts take the program: if it is of the public dialect.
fn is_taken(program: &Program) -> bool {
    program.dialect() == Dialect::Public && program.python().is_none()
}

/// A hash of each step: steps with the same callee and arguments have the same hash.
fn step_hashes(program: &Program) -> Vec<u64> {
    let mut variables = Vec::with_capacity(program.steps().len() + 1);
    variables.push(0);
    for step in program.steps() {
        let mut hasher = FxHasher::default();
        match step.callee {
            Callee::Primitive(primitive) => (0_u8, primitive as u64).hash(&mut hasher),
            Callee::Typed(primitive) => (5_u8, primitive as u64).hash(&mut hasher),
            Callee::Slot(slot) => (1_u8, variables[slot.index()]).hash(&mut hasher),
        }
        for operand in &step.arguments {
            match operand {
                Operand::Slot(slot) => (2_u8, variables[slot.index()]).hash(&mut hasher),
                Operand::Primitive(primitive) => (3_u8, *primitive as u64).hash(&mut hasher),
                Operand::Constant(constant) => (4_u8, *constant as u64).hash(&mut hasher),
                Operand::Literal(value) => value.hash(&mut hasher),
            }
        }
        variables.push(hasher.finish());
    }
    variables.swap_remove(0);
    variables
}

/// The bounds of a batt: `times` its share of the limits of an evaluation.
fn bounds(limits: &Limits, times: u64, max_bytes: usize) -> Bounds {
    let memory = (limits.max_memory / SHARE_OF_MEMORY).saturating_mul(times);
    Bounds {
        max_bytes,
        call: Limits {
            max_steps: most_steps(limits, times),
            max_cells: limits.max_cells.min(memory),
            max_elements: limits.max_elements.min(memory),
            max_memory: memory,
            ..limits.clone()
        },
        by_reference: true,
        keeps_failing: true,
    }
}

fn most_steps(limits: &Limits, times: u64) -> u64 {
    (limits.max_steps / SHARE).saturating_mul(times)
}

/// Evaluates a program on one input in its own batt, after the reference reached a limit. Its bounds are twice those of
/// the batts of many programs, so it can do whatever they can, and results do not depend on whether programs are
/// merged.
pub(super) fn by_lone_batt(evaluation: &Evaluation<'_>) -> Option<Answer> {
    let &Evaluation {
        program,
        pair,
        options,
        ..
    } = evaluation;
    let limits = &options.limits;
    let answer = caught(|| {
        let (inputs, targets) = ([(*pair.input).clone()], [pair.output.clone()]);
        let mut batt = Batt::new(&inputs, &targets, bounds(limits, 2, 4 * MAX_BYTES));
        let merged = batt.add(program).ok()?;
        let is_within = merged.steps() <= most_steps(limits, 2);
        is_within.then(|| answer_of(&batt, &merged, 0, pair, options))?
    });
    answer.ok().flatten()
}

/// The answer of a program in a batt on the input of the pair, which is that of this index; `None` at a bound.
fn answer_of(
    batt: &Batt,
    merged: &Merged,
    input: usize,
    pair: &Pair,
    options: &Options,
) -> Option<Answer> {
    if let Some(error) = merged.error(input) {
        let outcome = Outcome::Error(Box::new(*error));
        return error.limit().is_none().then(|| outcome.into());
    }
    let node = merged.output()?;
    // A machine bails out of this, too.
    if batt.is_too_heavy(node, input) {
        return None;
    }
    let is_equal = |_| batt.distance(node, input) == Some(Distance::Cells(0));
    let outcome = Outcome::compare(pair.output.as_ref(), is_equal);
    let is_wanted = is_wanted(options, &outcome);
    // A function is evaluated only now, which may reach a bound.
    let output = if is_wanted || batt.ty(node).is_none() {
        Some(batt.value(node, input).ok()?)
    } else {
        None
    };
    let output = output.filter(|_| is_wanted);
    Some(Answer { outcome, output })
}

/// A worker's batts, each for one task or some of its pairs. There are several since consecutive jobs of a batch may
/// alternate between tasks.
#[derive(Debug, Default)]
pub(super) struct Merger {
    /// The most recently used come last.
    batts: Vec<TaskBatt>,
    pub(super) counts: MergeCounts,
}

#[derive(Debug)]
struct TaskBatt {
    /// `None` if it belongs to an earlier batch.
    task: Option<u32>,
    /// The indices of the pairs of the task that are its inputs.
    pairs: Range<usize>,
    batt: Box<Batt>,
}

impl Merger {
    /// Prepares for the tasks of another batch.
    pub(super) fn reset(&mut self) {
        for batt in &mut self.batts {
            batt.task = None;
        }
        self.counts = MergeCounts::default();
    }

    /// The batt for these pairs of a task, restarted for them if there is none. Moves it to the end.
    fn batt(&mut self, run: Run<'_>, task: u32, pairs: &Range<usize>) -> &mut Batt {
        let same = |it: &TaskBatt| it.task == Some(task) && it.pairs == *pairs;
        if let Some(at) = self.batts.iter().rposition(same) {
            self.batts[at..].rotate_left(1);
        } else {
            let of_task = &run.batch.tasks()[task as usize];
            let of_pairs = || pairs.clone().map(|at| of_task.pair_at(at).1);
            let inputs: Vec<_> = of_pairs().map(|pair| (*pair.input).clone()).collect();
            let outputs: Vec<_> = of_pairs().map(|pair| pair.output.clone()).collect();
            let mut batt = self.free().unwrap_or_else(|| {
                let limits = &run.runner.options.limits;
                Box::new(Batt::new(&[], &[], bounds(limits, 1, MAX_BYTES)))
            });
            batt.restart(&inputs, &outputs);
            self.batts.push(TaskBatt {
                task: Some(task),
                pairs: pairs.clone(),
                batt,
            });
        }
        let last = self.batts.len() - 1;
        &mut self.batts[last].batt
    }

    /// A batt to restart; `None` if a new one may be created. Of the batts of earlier batches it is the most recently
    /// used, which is still in the caches. If there is none, and the maximum number or memory is reached, it is the
    /// least recently used one.
    fn free(&mut self) -> Option<Box<Batt>> {
        let bytes = |batts: &[TaskBatt]| -> usize { batts.iter().map(|it| it.batt.bytes()).sum() };
        let free = |batts: &[TaskBatt]| batts.iter().rposition(|it| it.task.is_none());
        if free(&self.batts).is_none()
            && self.batts.len() < MOST_BATTS
            && bytes(&self.batts) < MAX_BYTES
        {
            return None;
        }
        while self.batts.len() > 1 && bytes(&self.batts) >= MAX_BYTES {
            self.batts.remove(0);
        }
        let at = free(&self.batts).unwrap_or(0);
        (!self.batts.is_empty()).then(|| self.batts.remove(at).batt)
    }

    /// Adds the program of a segment to the batt of these pairs; `None` if the batt refuses it.
    fn add(&mut self, run: Run<'_>, segment: &Segment, pairs: &Range<usize>) -> Option<Merged> {
        let program = &run.batch.programs()[segment.program as usize];
        for _ in 0..2 {
            let batt = self.batt(run, segment.task, pairs);
            match caught(|| batt.add(program)) {
                Ok(Ok(merged)) => {
                    let most = most_steps(&run.runner.options.limits, 1);
                    return (merged.steps() <= most).then_some(merged);
                }
                // Try once more with another batt, which has room.
                Ok(Err(Refused::Full(_))) => drop(self.batts.pop()),
                Ok(Err(_)) => return None,
                Err(_) => {
                    self.batts.pop();
                    return None;
                }
            }
        }
        None
    }

    /// Has a batt of these pairs of the task evaluate a segment. Evaluations that it passes on get the answer `None`.
    pub(super) fn merge(
        &mut self,
        run: Run<'_>,
        segment: &Segment,
        pairs: &Range<usize>,
        answers: &mut [Option<Answer>],
    ) {
        let options = &run.runner.options;
        let Some(merged) = self.add(run, segment, pairs) else {
            return;
        };
        self.counts.calls += u64::from(merged.calls());
        self.counts.shared += u64::from(merged.shared());
        let Some(TaskBatt { batt, .. }) = self.batts.last() else {
            return;
        };
        let task = &run.batch.tasks()[segment.task as usize];
        for (answer, input) in answers.iter_mut().zip(segment.pair - pairs.start..) {
            let (_, pair) = task.pair_at(pairs.start + input);
            *answer = answer_of(batt, &merged, input, pair, options);
        }
    }
}

#[cfg(test)]
mod tests;
