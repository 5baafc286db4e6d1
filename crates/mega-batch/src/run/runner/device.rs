//! [`DeviceStage`]: the host's work for the devices of a batch: it encodes programs, prepares evaluations, and reads
//! answers.
//!
//! Workers then evaluate what devices leave, because they cannot run a program or bail out of an evaluation, as if
//! there were no device.

mod grids;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use gpu_kernels::{BailOut, DeviceProgram, Span, Verdict};
use gpu_sched::launcher::{Answers, Evaluations};
use gpu_sched::{Activity, Costs, Failure, Keep, Stages};
use rustc_hash::FxHashMap;

use grids::Grids;

use super::unit::{Unit, units_of};
use crate::batch::Batch;
use crate::results::outcome::{Answer, Outcome};
use crate::run::backend::OnDevice;
use crate::run::devices::encoded;
use crate::run::panics::lock;
use crate::run::program_cache::ProgramCache;

/// The devices of a runner.
pub(super) type Fleet = gpu_sched::Fleet<Prepared, Answers<Note>>;

/// A window as a device is given it.
pub(super) type Prepared = Evaluations<Note>;

/// What is needed to read the answers of a window, of which each evaluation has the verdict of its own number.
#[derive(Debug)]
pub(super) struct Note {
    /// The evaluations.
    window: Range<u64>,
    pub(super) began: Instant,
    /// How many of them the host does not keep.
    asked: usize,
    /// Those with a pair that no device can hold, by number within the window, and why.
    unfit: Vec<(usize, BailOut)>,
    /// Programs whose rounds are counted, until the first reader has learned from it.
    counted: Mutex<Vec<Counted>>,
}

/// Evaluations of which a device counts the rounds, and their places in the answers.
#[derive(Debug)]
struct Counted {
    program: u32,
    encoded: Arc<DeviceProgram>,
    places: Range<usize>,
}

/// A program as devices run it, and so that they count its rounds, with their numbers.
#[derive(Debug, Clone)]
struct Encoded {
    program: (u64, Arc<DeviceProgram>),
    counting: Option<(u64, Arc<DeviceProgram>)>,
}

/// The answers of a device for a window.
#[derive(Debug)]
pub(super) struct WindowAnswers {
    answers: Answers<Note>,
    /// The time that it took per evaluation.
    pub(super) share: Duration,
}

impl WindowAnswers {
    pub(super) fn new(mut answers: Answers<Note>, stages: &Stages) -> Self {
        let took = stages.prepare + stages.upload + stages.compute + stages.download;
        let Note { unfit, asked, .. } = &answers.note;
        for (at, reason) in unfit {
            let missing = (at + 1).saturating_sub(answers.verdicts.len());
            let nothing = std::iter::repeat_n(Verdict::from(Ok(false)), missing);
            answers.verdicts.extend(nothing);
            answers.verdicts[*at] = Err(*reason).into();
        }
        Self {
            share: took / (*asked).max(1) as u32,
            answers,
        }
    }
}

/// The host's work for the devices of one batch.
#[derive(Debug)]
pub(super) struct DeviceStage<'b> {
    batch: &'b Batch<'b>,
    keep_outputs: bool,
    /// Bytes of shared memory that an evaluation may use on every device.
    shared_bytes: u32,
    /// The next number for a program or a pool of values, unique over all devices.
    numbers: &'b AtomicU64,
    grids: Grids<'b>,
    programs: ProgramCache<Encoded>,
    costs: Mutex<Costs>,
    /// How many evaluations the devices bailed out of, by reason.
    bail_outs: Mutex<BTreeMap<BailOut, u64>>,
}

/// Adds spans of copies of programs that count rounds, behind all others: each with the program, and its group of pairs.
fn count_rounds(batch: &mut Prepared, spans: Vec<(u32, Arc<DeviceProgram>, u32, Span)>) {
    let mut verdict = batch.others;
    let counted = spans.into_iter().map(|(program, encoded, group, span)| {
        let first = verdict;
        verdict += span.pairs.len() as u32;
        batch.spans.push((
            group,
            Span {
                verdict: first,
                ..span
            },
        ));
        Counted {
            program,
            encoded,
            places: first as usize..verdict as usize,
        }
    });
    batch.note.counted = Mutex::new(counted.collect());
}

/// Why the host runs an evaluation for which a device has no memory.
const FULL: &str = "out of device memory";

impl<'b> DeviceStage<'b> {
    /// Prepares caches for the programs and grids of the batch.
    pub(super) fn new(
        batch: &'b Batch<'b>,
        keep_outputs: bool,
        shared_bytes: u32,
        numbers: &'b AtomicU64,
    ) -> Self {
        Self {
            batch,
            keep_outputs,
            shared_bytes,
            numbers,
            grids: Grids::new(batch, numbers),
            programs: ProgramCache::new(batch.evaluations_by_program()),
            costs: Mutex::new(Costs::new(batch.evaluations_by_program())),
            bail_outs: Mutex::default(),
        }
    }

    /// The program, encoded now if it was not; `None` if no device can run it.
    fn encoded(&self, program: u32) -> Option<Encoded> {
        let numbered = |encoded| {
            let number = self.numbers.fetch_add(1, Ordering::Relaxed);
            (number, Arc::new(encoded))
        };
        self.programs.get(program, |_| {
            let encoded = encoded(&self.batch.programs()[program as usize], self.shared_bytes)?;
            lock(&self.costs).describe(program, encoded.len(), encoded.loops());
            Ok(Encoded {
                counting: encoded.counting().map(numbered),
                program: numbered(encoded),
            })
        })
    }

    /// Records that `evaluations` evaluations of the program are delivered.
    pub(super) fn done(&self, program: u32, evaluations: usize) {
        self.programs.done(program, evaluations);
    }

    /// Learns from evaluations of a program by the host.
    pub(super) fn learn(&self, program: u32, evaluations: usize, time: Duration) {
        lock(&self.costs).evaluated(program, evaluations as u64, time);
    }

    /// Prepares a window: those of its evaluations that devices can run, and should. The host keeps the others.
    pub(super) fn prepare(&self, window: &Range<u64>, keep: Keep) -> (Prepared, Vec<Range<u64>>) {
        let count = (window.end - window.start) as usize;
        let mut batch = Evaluations {
            note: Note {
                window: window.clone(),
                began: Instant::now(),
                asked: 0,
                unfit: Vec::new(),
                counted: Mutex::default(),
            },
            programs: Vec::new(),
            pairs: Vec::new(),
            spans: Vec::new(),
            others: count as u32,
        };
        let mut kept: Vec<Range<u64>> = Vec::new();
        let mut to_count = Vec::new();
        let mut places: FxHashMap<u64, u32> = FxHashMap::default();
        let mean = lock(&self.costs).mean();
        let units = units_of(self.batch, window);
        let mut begin = 0;
        for of_program in units.chunk_by(|a, b| a.program == b.program) {
            let index = of_program[0].program;
            let count = of_program.iter().map(|unit| unit.len).sum::<usize>();
            let mut most = 0;
            if let Some(Encoded { program, counting }) = self.encoded(index) {
                let (is_kept, uncounted) = {
                    let costs = lock(&self.costs);
                    (costs.keeps(index, mean, keep), costs.uncounted(index))
                };
                let mut place_of = |(number, encoded): &(u64, Arc<DeviceProgram>)| {
                    let programs = &mut batch.programs;
                    *places.entry(*number).or_insert_with(|| {
                        programs.push((*number, Arc::clone(encoded)));
                        programs.len() as u32 - 1
                    })
                };
                let uncounted = uncounted.min(count);
                // Of a program that the host keeps the device counts the rounds first.
                most = if is_kept { uncounted } else { count };
                let number = if most > 0 { place_of(&program) } else { 0 };
                let counting = counting.as_ref().filter(|_| uncounted > 0).map(place_of);
                let mut left = most;
                for (task, pairs) in of_program.iter().flat_map(|unit| unit.ranges(self.batch)) {
                    if left == 0 {
                        break;
                    }
                    let (number_of_task, of_task) = self.grids.of(task);
                    let pairs = pairs.start..pairs.end.min(pairs.start + left);
                    for alike in of_task.places[pairs].chunk_by(|a, b| a.is_ok() && b.is_ok()) {
                        let at = most - left;
                        left -= alike.len();
                        let first = match alike[0] {
                            Ok(first) => first,
                            Err(reason) => {
                                batch.note.unfit.push((begin + at, reason));
                                continue;
                            }
                        };
                        let groups = &mut batch.pairs;
                        let group = *places.entry(number_of_task).or_insert_with(|| {
                            groups.push((number_of_task, Arc::clone(&of_task.pairs)));
                            groups.len() as u32 - 1
                        });
                        // They follow each other there too.
                        let span = Span {
                            program: number,
                            pairs: first..first + alike.len() as u32,
                            verdict: (begin + at) as u32,
                            fetch: self.keep_outputs,
                        };
                        if let Some(copy) = counting.filter(|_| at < uncounted) {
                            let end = span.pairs.end.min(first + (uncounted - at) as u32);
                            let copy = Span {
                                program: copy,
                                pairs: first..end,
                                fetch: true,
                                ..span
                            };
                            to_count.push((index, Arc::clone(&program.1), group, copy));
                        }
                        batch.spans.push((group, span));
                    }
                }
                lock(&self.costs).asked(index, uncounted);
            }
            batch.note.asked += most;
            if most < count {
                let first = window.start + begin as u64;
                kept.push(first + most as u64..first + count as u64);
            }
            begin += count;
        }
        count_rounds(&mut batch, to_count);
        (batch, kept)
    }

    /// Learns from the rounds that a device has counted.
    fn learn_rounds(&self, answers: &Answers<Note>) {
        for of_span in std::mem::take(&mut *lock(&answers.note.counted)) {
            let done = of_span.places.filter(|at| answers.verdicts[*at].is_done());
            for left in done.filter_map(|at| answers.results.value(at)) {
                if let Some(rounds) = of_span.encoded.rounds(&left) {
                    lock(&self.costs).count(of_span.program, rounds.into());
                }
            }
        }
    }

    /// The verdicts on these evaluations of a window, if nothing else is asked of devices.
    pub(super) fn verdicts<'w>(
        &self,
        window: &'w WindowAnswers,
        evaluations: &Range<u64>,
    ) -> Option<&'w [Verdict]> {
        let first = window.answers.note.window.start;
        let at = |evaluation| (evaluation - first) as usize;
        let of = at(evaluations.start)..at(evaluations.end);
        self.learn_rounds(&window.answers);
        (!self.keep_outputs).then(|| &window.answers.verdicts[of])
    }

    /// Records that devices have answered so many evaluations of a program.
    pub(super) fn answered(&self, program: u32, evaluations: usize) {
        lock(&self.costs).tried(program, evaluations as u64, 0);
    }

    /// The answers for these units, which begin with the evaluation `first`; `None` for what a device passes on. The
    /// device has compared with the expected grids; here verdicts become outcomes.
    pub(super) fn read(
        &self,
        window: &WindowAnswers,
        units: &[Unit],
        first: u64,
    ) -> Vec<Option<Answer>> {
        let Answers {
            verdicts,
            results,
            note,
        } = &window.answers;
        self.learn_rounds(&window.answers);
        let mut bail_outs: BTreeMap<BailOut, u64> = BTreeMap::new();
        let mut at = (first - note.window.start) as usize;
        let mut all = Vec::with_capacity(units.iter().map(|unit| unit.len).sum());
        for unit in units {
            let mut bailed_out = 0;
            all.extend(unit.pairs(self.batch).map(|(_, pair)| {
                let answer = verdicts[at].ended().and_then(|right| {
                    let output = self.keep_outputs.then(|| results.value(at));
                    Ok(Answer {
                        outcome: Outcome::compare(pair.output.as_ref(), |_| right),
                        output: output.map(|it| it.ok_or(BailOut::Undefined)).transpose()?,
                    })
                });
                at += 1;
                answer
                    .inspect_err(|reason| {
                        bailed_out += 1;
                        *bail_outs.entry(*reason).or_default() += 1;
                    })
                    .ok()
            }));
            lock(&self.costs).tried(unit.program, unit.len as u64, bailed_out);
        }
        if !bail_outs.is_empty() {
            let mut counts = lock(&self.bail_outs);
            for (reason, count) in bail_outs {
                *counts.entry(reason).or_default() += count;
            }
        }
        all
    }

    /// The summary of the devices' work, and the time that encoding took.
    pub(super) fn finish(self, fleet: &Fleet) -> (OnDevice, Duration) {
        let bail_outs = self.bail_outs.into_inner();
        let bail_outs = bail_outs.unwrap_or_else(PoisonError::into_inner);
        let programs = self.programs.finish();
        let mut bail_outs: BTreeMap<String, u64> = bail_outs
            .into_iter()
            .map(|(bail_out, count)| (bail_out.to_string(), count))
            .collect();
        let activities = fleet.scheduler().activities();
        let activities: Vec<_> = activities
            .map(|(name, activity)| (name.to_owned(), *activity))
            .collect();
        let sum = |of: fn(&Activity) -> u64| -> u64 {
            let activities = activities.iter();
            activities.map(|(_, activity)| of(activity)).sum()
        };
        let too_large = sum(|activity| activity.too_large);
        if too_large > 0 {
            bail_outs.insert(FULL.to_owned(), too_large);
        }
        let failures = activities.iter().zip(fleet.failures());
        let failures = failures.filter_map(|((_, activity), failure)| {
            let failure = failure.filter(|_| activity.failed > 0)?;
            (*failure != Failure::OutOfMemory).then(|| failure.to_string())
        });
        let failures: Vec<_> = failures.collect();
        let names = activities.iter().map(|(name, _)| name.as_str());
        let device = OnDevice {
            name: names.collect::<Vec<_>>().join(", "),
            evaluations: 0,
            bail_outs,
            programs: programs.compiled,
            programs_host_only: programs.not_compiled,
            launches_halved: sum(|activity| activity.split),
            failure: (!failures.is_empty()).then(|| failures.join("; ")),
            activities,
        };
        (device, programs.time)
    }
}

#[cfg(test)]
mod tests;
