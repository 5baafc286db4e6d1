//! [`DeviceStage`]: the host's work for the devices of a batch: it encodes programs, prepares evaluations, and reads
//! answers.
//!
//! Workers then evaluate what devices leave, because they cannot run a program or bail out of an evaluation, as if
//! there were no device.

mod grids;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use gpu_kernels::{BailOut, DeviceProgram, Evaluation, Verdict};
use gpu_sched::launcher::{Answers, Evaluations};
use gpu_sched::{Activity, Failure, Placement, Stages};
use rustc_hash::FxHashMap;

use grids::{Grids, PairGrids};

use super::unit::{Unit, units_of};
use crate::backend::OnDevice;
use crate::batch::Batch;
use crate::devices::encoded;
use crate::outcome::{Answer, Outcome};
use crate::panics::lock;
use crate::program_cache::ProgramCache;

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
    /// By evaluation; `None` if no device can run its program.
    requests: Vec<Option<Request>>,
}

/// An evaluation for a device.
#[derive(Debug, Clone, Copy)]
struct Request {
    /// Its index in the answers, or why it is not in them.
    place: Result<u32, BailOut>,
    has_expected: bool,
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

/// How many evaluations of a program devices have tried, and how many of them they bailed out of.
#[derive(Debug, Default)]
struct Tried {
    evaluations: AtomicU32,
    bailed_out: AtomicU32,
}

impl Tried {
    /// Devices leave a program to the host if they bail out of most of its evaluations, of which there are at least
    /// this many.
    const LEAST: u32 = 16;

    fn is_left(&self) -> bool {
        let evaluations = self.evaluations.load(Ordering::Relaxed);
        let bailed_out = self.bailed_out.load(Ordering::Relaxed);
        evaluations >= Self::LEAST && bailed_out > evaluations / 2
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
    programs: ProgramCache<(u64, Arc<DeviceProgram>)>,
    /// By the index of the program; empty if devices try all that they can.
    tried: Vec<Tried>,
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
        placement: Placement,
        shared_bytes: u32,
        numbers: &'b AtomicU64,
    ) -> Self {
        let learns = match placement {
            Placement::Auto => batch.programs().len(),
            Placement::Host | Placement::Devices => 0,
        };
        Self {
            batch,
            keep_outputs,
            shared_bytes,
            numbers,
            grids: Grids::new(batch, numbers),
            programs: ProgramCache::new(batch.evaluations_by_program()),
            tried: std::iter::repeat_with(Tried::default)
                .take(learns)
                .collect(),
            bail_outs: Mutex::default(),
        }
    }

    /// The program with its number, encoded now if it was not; `None` if no device can run it.
    fn encoded(&self, program: u32) -> Option<(u64, Arc<DeviceProgram>)> {
        self.programs.get(program, |_| {
            let encoded = encoded(&self.batch.programs()[program as usize], self.shared_bytes)?;
            let number = self.numbers.fetch_add(1, Ordering::Relaxed);
            Ok((number, Arc::new(encoded)))
        })
    }

    /// Records that `evaluations` evaluations of the program are delivered.
    pub(super) fn done(&self, program: u32, evaluations: usize) {
        self.programs.done(program, evaluations);
    }

    /// Prepares a window: those of its evaluations that devices can run.
    pub(super) fn prepare(&self, window: &Range<u64>) -> Prepared {
        let count = (window.end - window.start) as usize;
        let mut batch = Evaluations {
            note: Note {
                first: window.start,
                began: Instant::now(),
                requests: Vec::with_capacity(count),
            },
            programs: Vec::new(),
            pools: Vec::new(),
            evaluations: Vec::with_capacity(count),
            pools_of: Vec::with_capacity(count),
        };
        let mut places: FxHashMap<u64, u32> = FxHashMap::default();
        for unit in units_of(self.batch, window) {
            let tried = self.tried.get(unit.program as usize);
            let is_left = tried.is_some_and(Tried::is_left);
            let encoded = (!is_left).then(|| self.encoded(unit.program)).flatten();
            let requests = &mut batch.note.requests;
            let Some((program, encoded)) = encoded else {
                requests.resize(requests.len() + unit.len, None);
                continue;
            };
            let programs = &mut batch.programs;
            let program = *places.entry(program).or_insert_with(|| {
                programs.push((program, encoded));
                programs.len() as u32 - 1
            });
            for (task, pair) in unit.places(self.batch) {
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
                    batch.evaluations.push(Evaluation {
                        program,
                        arguments,
                        expected: *expected,
                        fetch: self.keep_outputs,
                        hash: false,
                    });
                    batch.pools_of.push(pool);
                    batch.evaluations.len() as u32 - 1
                });
                batch.note.requests.push(Some(Request {
                    place,
                    has_expected: *has_expected,
                }));
            }
        }
        batch
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
            if let Some(of_program) = self.tried.get(unit.program as usize) {
                of_program.evaluations.fetch_add(tried, Ordering::Relaxed);
                of_program
                    .bailed_out
                    .fetch_add(bailed_out, Ordering::Relaxed);
            }
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
