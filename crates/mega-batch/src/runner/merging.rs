//! Which jobs of a batch are made as one [`Batt`] a task, and how.
//!
//! A search's candidates and the mutants of a program have most of their calls in common. Where
//! programs that are tried on one task share enough of them, a batt evaluates each call once, and no
//! program is compiled. What it does not take, and what ends at one of its bounds, is left to be made
//! as if there were no batt.
//!
//! Whether a job is merged depends on the jobs that stand beside it in the batch and on nothing
//! else, so that it is the same for every number of workers.

use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use arc_cpu::batt::{Batt, Bounds, Distance, Merged, Refused};
use arc_dsl::{Callee, Dialect, EvalError, Limits, Operand, Pair, Program, Value};
use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use super::Run;
use super::device::{Found, Made};
use super::unit::Unit;
use crate::backend::{Backend, MergeCounts};
use crate::batch::Batch;
use crate::options::Merging;
use crate::outcome::Outcome;
use crate::panics::lock;
use crate::score::is_wanted;

/// How many jobs are looked at together.
const BLOCK: usize = 256;

/// A task of more pairs than this has evaluations enough for each program to be compiled.
const MOST_PAIRS: usize = 64;

/// How many programs one worker merges in a row, where there are others.
const PIECE: usize = 128;

/// The memory of each worker's batt.
const MAX_BYTES: usize = 128 << 20;

/// A batt's share of the bounds of an evaluation: what takes more is made as if there were no batt.
const SHARE: u64 = 10;
const SHARE_OF_MEMORY: u64 = 8;

/// The jobs of a batch that are to be merged, found block by block.
#[derive(Debug)]
pub(super) struct Plan<'b> {
    batch: &'b Batch<'b>,
    merging: Merging,
    /// The number of the block at hand, and which of its jobs are merged.
    block: usize,
    merged: Vec<bool>,
}

/// Evaluations of one program on one task, in a window.
#[derive(Debug, Clone, Copy)]
pub(super) struct Segment {
    /// The place of its unit in the window, and its own in the unit.
    unit: usize,
    at: usize,
    program: u32,
    task: u32,
    /// The place of its first pair in the task.
    pair: usize,
    len: usize,
}

impl<'b> Plan<'b> {
    /// The plan of a batch; nothing where programs are evaluated each by itself.
    pub(super) fn new(
        batch: &'b Batch<'b>,
        merging: Merging,
        backend: Backend,
        limits: &Limits,
    ) -> Option<Self> {
        let allowed = backend == Backend::Auto && Backend::allows(limits);
        (allowed && merging != Merging::Never).then(|| Self {
            batch,
            merging,
            block: usize::MAX,
            merged: Vec::new(),
        })
    }

    /// The segments of these units that are to be merged, those of each task together.
    pub(super) fn segments(&mut self, units: &[Unit]) -> Vec<Vec<Segment>> {
        let mut by_task: Vec<Vec<Segment>> = Vec::new();
        let mut places: FxHashMap<u32, usize> = FxHashMap::default();
        for (number, unit) in units.iter().enumerate() {
            let (mut job, mut pair, mut at) = (unit.job, unit.pair, 0);
            while at < unit.len {
                let task = self.batch.job(job).task;
                let len = (self.batch.pair_count(self.batch.task(self.batch.job(job))) - pair)
                    .min(unit.len - at);
                let program = &self.batch.programs()[unit.program as usize];
                let is_public = program.dialect() == Dialect::Public;
                if len > 0 && is_public && self.is_merged(job) {
                    let place = *places.entry(task).or_insert_with(|| {
                        by_task.push(Vec::new());
                        by_task.len() - 1
                    });
                    by_task[place].push(Segment {
                        unit: number,
                        at,
                        program: unit.program,
                        task,
                        pair,
                        len,
                    });
                }
                (job, pair, at) = (job + 1, 0, at + len);
            }
        }
        by_task
    }

    fn is_merged(&mut self, job: usize) -> bool {
        let block = job / BLOCK;
        if block != self.block {
            self.block = block;
            self.look_at_block();
        }
        self.merged[job % BLOCK]
    }

    /// Finds out which jobs of the block are merged.
    fn look_at_block(&mut self) {
        let first = self.block * BLOCK;
        let jobs = first..self.batch.job_count().min(first + BLOCK);
        self.merged.clear();
        self.merged.resize(jobs.len(), false);
        let mut by_task: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
        for job in jobs {
            // Batts hold programs of the public dialect.
            if self.batch.program(self.batch.job(job)).dialect() != Dialect::Public {
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
            let pairs = self
                .batch
                .pair_count(self.batch.task(self.batch.job(jobs[0])));
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
                    self.merged[job - first] = true;
                }
            }
        }
    }
}

/// A hash of what each step makes: the same where the same is called on the same.
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

/// The bounds of a batt: a share of those of an evaluation, so many times.
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

/// What becomes of a program on one input by a batt of its own: of an evaluation that has ended at a
/// bound. It has twice the bounds of the batts of many programs, so that what those take this one
/// takes, and it does not matter for the result whether programs are merged.
pub(super) fn alone(
    limits: &Limits,
    program: &Program,
    pair: &Pair,
) -> Option<Result<Value, EvalError>> {
    let inputs = [(*pair.input).clone()];
    let mut batt = Batt::new(&inputs, &[], bounds(limits, 2, 4 * MAX_BYTES));
    let merged = batt.add(program).ok()?;
    if merged.steps() > most_steps(limits, 2) {
        return None;
    }
    match batt.result(&merged, 0) {
        Err(error) if error.limit().is_some() => None,
        result => Some(result),
    }
}

/// A worker's batt, and the task that it is of.
#[derive(Debug, Default)]
pub(super) struct Merger {
    batt: Option<Box<Batt>>,
    task: Option<u32>,
    pub(super) counts: MergeCounts,
}

impl Merger {
    /// The tasks that follow are of another batch.
    pub(super) fn reset(&mut self) {
        self.task = None;
        self.counts = MergeCounts::default();
    }

    /// The batt of a task, begun anew where it is of another one.
    fn batt(&mut self, run: Run<'_>, task: u32) -> &mut Batt {
        let batt = self.batt.get_or_insert_with(|| {
            self.task = None;
            let limits = &run.runner.options.limits;
            Box::new(Batt::new(&[], &[], bounds(limits, 1, MAX_BYTES)))
        });
        if self.task != Some(task) {
            self.task = Some(task);
            let pairs = || run.batch.pairs(&run.batch.tasks()[task as usize]);
            let inputs: Vec<_> = pairs().map(|(_, pair)| (*pair.input).clone()).collect();
            let outputs: Vec<_> = pairs().map(|(_, pair)| pair.output.clone()).collect();
            batt.restart(&inputs, &outputs);
        }
        batt
    }

    /// Adds a program to the batt of a task; nothing where it does not take it.
    fn add(&mut self, run: Run<'_>, program: u32, task: u32) -> Option<Merged> {
        let program = &run.batch.programs()[program as usize];
        for _ in 0..2 {
            let batt = self.batt(run, task);
            match catch_unwind(AssertUnwindSafe(|| batt.add(program))) {
                Ok(Ok(merged)) => {
                    let most = most_steps(&run.runner.options.limits, 1);
                    return (merged.steps() <= most).then_some(merged);
                }
                // A new one has room, with which the program is tried again.
                Ok(Err(Refused::Full(_))) => self.batt = None,
                Ok(Err(_)) => return None,
                Err(_) => {
                    self.batt = None;
                    return None;
                }
            }
        }
        None
    }

    /// What became of a segment's evaluations; nothing in the place of those that are left.
    fn merge(&mut self, run: Run<'_>, segment: &Segment) -> Vec<Option<Found>> {
        let options = &run.runner.options;
        let Some(merged) = self.add(run, segment.program, segment.task) else {
            return Vec::new();
        };
        self.counts.calls += u64::from(merged.calls());
        self.counts.shared += u64::from(merged.shared());
        let Some(batt) = &self.batt else {
            return Vec::new();
        };
        let task = &run.batch.tasks()[segment.task as usize];
        let found = (segment.pair..segment.pair + segment.len).map(|input| {
            if let Some(error) = merged.error(input) {
                let outcome = Outcome::Error(Box::new(*error));
                return error.limit().is_none().then_some((outcome, None));
            }
            let node = merged.output()?;
            // What a machine bails out of, too.
            if batt.is_too_heavy(node, input) {
                return None;
            }
            let (_, pair) = task.pair_at(input);
            let outcome = match pair.output {
                None => Outcome::NoExpected,
                Some(_) if batt.distance(node, input) == Some(Distance::Cells(0)) => Outcome::Match,
                Some(_) => Outcome::Mismatch,
            };
            let is_wanted = is_wanted(options, &outcome);
            // A function is made when it is asked for, which may reach a bound.
            let output = if is_wanted || batt.ty(node).is_none() {
                Some(batt.value(node, input).ok()?)
            } else {
                None
            };
            Some((outcome, output.filter(|_| is_wanted)))
        });
        let found: Vec<_> = found.collect();
        self.counts.evaluations += found.iter().flatten().count() as u64;
        found
    }
}

impl Run<'_> {
    /// Makes what is to be merged of a window, before its units are evaluated.
    pub(super) fn merge(self, by_task: &[Vec<Segment>], units: &mut [(Unit, Made)]) {
        let merge = |segments: &[Segment]| {
            let worker = self.worker();
            let merger = &mut *lock(worker.merger());
            let mut all = Vec::with_capacity(segments.len());
            let began = Instant::now();
            for segment in segments {
                if self.stopped() {
                    break;
                }
                all.push((*segment, merger.merge(self, segment)));
            }
            let made = all.len().max(1) as u32;
            (all, began.elapsed() / made)
        };
        let made: Vec<_> = if self.runner.options.mode.is_parallel() {
            let pieces: Vec<_> = by_task.iter().flat_map(|all| all.chunks(PIECE)).collect();
            let pieces = pieces.par_iter().with_max_len(1);
            pieces.map(|segments| merge(segments)).collect()
        } else {
            by_task.iter().map(|segments| merge(segments)).collect()
        };
        for (all, share) in made {
            for (segment, found) in all {
                let (unit, made) = &mut units[segment.unit];
                made.time += share;
                if found.is_empty() {
                    continue;
                }
                made.found.resize_with(unit.len, || None);
                for (at, found) in found.into_iter().enumerate() {
                    made.found[segment.at + at] = found;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
