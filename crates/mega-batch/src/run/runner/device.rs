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

use gpu_kernels::{BailOut, DeviceProgram, Evaluation, Verdict};
use gpu_sched::launcher::{Answers, Evaluations};
use gpu_sched::{Activity, Costs, Failure, Keep, Stages};
use rustc_hash::FxHashMap;

use grids::{Grids, PairGrids};

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

/// What is needed to read the answers of a window.
#[derive(Debug)]
pub(super) struct Note {
    /// The first evaluation.
    first: u64,
    pub(super) began: Instant,
    /// By evaluation; `None` if the host keeps it.
    requests: Vec<Option<Request>>,
    /// Programs whose rounds are counted, until the first reader has learned from it.
    counted: Mutex<Vec<Counted>>,
}

/// An evaluation for a device.
#[derive(Debug, Clone, Copy)]
struct Request {
    /// Its index in the answers, or why it is not in them.
    place: Result<u32, BailOut>,
    has_expected: bool,
}

/// An evaluation of which a device counts the rounds, and its index in the answers.
#[derive(Debug)]
struct Counted {
    program: u32,
    encoded: Arc<DeviceProgram>,
    place: usize,
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
    pub(super) fn new(answers: Answers<Note>, stages: &Stages) -> Self {
        let took = stages.prepare + stages.upload + stages.compute + stages.download;
        let requests = answers.note.requests.iter().flatten().count();
        Self {
            share: took / requests.max(1) as u32,
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
        let Range { start: first, end } = *window;
        let count = (end - first) as usize;
        let mut batch = Evaluations {
            note: Note {
                first,
                began: Instant::now(),
                requests: Vec::with_capacity(count),
                counted: Mutex::default(),
            },
            programs: Vec::new(),
            pools: Vec::new(),
            evaluations: Vec::with_capacity(count),
            pools_of: Vec::with_capacity(count),
            others: 0,
        };
        let mut kept: Vec<Range<u64>> = Vec::new();
        let (mut counted, mut to_count) = (Vec::new(), Vec::new());
        let mut places: FxHashMap<u64, u32> = FxHashMap::default();
        let mean = lock(&self.costs).mean();
        let units = units_of(self.batch, window);
        for of_program in units.chunk_by(|a, b| a.program == b.program) {
            let index = of_program[0].program;
            let requests = &mut batch.note.requests;
            let count = of_program.iter().map(|unit| unit.len).sum::<usize>();
            let end = requests.len() + count;
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
                // Of a program that the host keeps the device counts the rounds first.
                let most = if is_kept { uncounted } else { count };
                let number = if most > 0 { place_of(&program) } else { 0 };
                let counting = counting.as_ref().filter(|_| uncounted > 0).map(place_of);
                let all = of_program.iter().flat_map(|unit| unit.places(self.batch));
                for (at, (task, pair)) in all.take(most).enumerate() {
                    let (number_of_pool, grids) = self.grids.of(task, pair);
                    let PairGrids {
                        input,
                        expected,
                        has_expected,
                        pool,
                    } = &*grids;
                    let place = input.map(|arguments| {
                        let pools = &mut batch.pools;
                        let pool = *places.entry(number_of_pool).or_insert_with(|| {
                            pools.push((number_of_pool, Arc::clone(pool)));
                            pools.len() as u32 - 1
                        });
                        let evaluation = |program, fetch| Evaluation {
                            program,
                            arguments,
                            expected: *expected,
                            fetch,
                            hash: false,
                        };
                        if let Some(counting) = counting.filter(|_| at < uncounted) {
                            counted.push((index, Arc::clone(&program.1)));
                            to_count.push((evaluation(counting, true), pool));
                        }
                        let evaluations = &mut batch.evaluations;
                        evaluations.push(evaluation(number, self.keep_outputs));
                        batch.pools_of.push(pool);
                        evaluations.len() as u32 - 1
                    });
                    requests.push(Some(Request {
                        place,
                        has_expected: *has_expected,
                    }));
                }
                lock(&self.costs).asked(index, uncounted.min(count));
            }
            if requests.len() < end {
                kept.push(first + requests.len() as u64..first + end as u64);
                requests.resize(end, None);
            }
        }
        let places = batch.evaluations.len()..;
        let counted = counted.into_iter().zip(places);
        let counted = counted.map(|((program, encoded), place)| Counted {
            program,
            encoded,
            place,
        });
        batch.note.counted = Mutex::new(counted.collect());
        batch.others = to_count.len();
        for (evaluation, pool) in to_count {
            batch.evaluations.push(evaluation);
            batch.pools_of.push(pool);
        }
        (batch, kept)
    }

    /// Learns from the rounds that a device has counted.
    fn learn_rounds(&self, answers: &Answers<Note>) {
        for one in std::mem::take(&mut *lock(&answers.note.counted)) {
            let is_done = matches!(answers.verdicts[one.place], Verdict::Done { .. });
            let left = answers.results.value(one.place).filter(|_| is_done);
            if let Some(rounds) = left.and_then(|left| one.encoded.rounds(&left)) {
                lock(&self.costs).count(one.program, rounds.into());
            }
        }
    }

    /// The answers for these units, which begin with the evaluation `first`; `None` for what a device passes on.
    pub(super) fn read(
        &self,
        window: &WindowAnswers,
        units: &[Unit],
        first: u64,
    ) -> Vec<Option<Answer>> {
        let Note {
            first: of_window,
            requests,
            ..
        } = &window.answers.note;
        self.learn_rounds(&window.answers);
        let mut requests = requests[(first - of_window) as usize..].iter();
        let mut bail_outs: BTreeMap<BailOut, u64> = BTreeMap::new();
        let mut all = Vec::new();
        for unit in units {
            let (mut tried, mut bailed_out) = (0, 0);
            all.extend(requests.by_ref().take(unit.len).map(|request| {
                let answer = self.answer(&(*request)?, &window.answers);
                tried += 1;
                let Err(reason) = answer else {
                    return answer.ok();
                };
                bailed_out += 1;
                *bail_outs.entry(reason).or_default() += 1;
                None
            }));
            lock(&self.costs).tried(unit.program, tried, bailed_out);
        }
        if !bail_outs.is_empty() {
            let mut counts = lock(&self.bail_outs);
            for (reason, count) in bail_outs {
                *counts.entry(reason).or_default() += count;
            }
        }
        all
    }

    /// The answer of an evaluation, or why the device passes it on. The device has compared with the expected grid;
    /// here the verdict becomes an outcome.
    fn answer(&self, request: &Request, answers: &Answers<Note>) -> Result<Answer, BailOut> {
        let place = request.place? as usize;
        let is_right = match answers.verdicts[place] {
            Verdict::BailedOut { reason, .. } => return Err(reason),
            Verdict::Done { right, .. } => right,
        };
        let outcome = Outcome::compare(request.has_expected.then_some(()), |()| is_right);
        let output = self.keep_outputs.then(|| answers.results.value(place));
        match output {
            Some(None) => Err(BailOut::Undefined),
            output => Ok(Answer {
                outcome,
                output: output.flatten(),
            }),
        }
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
