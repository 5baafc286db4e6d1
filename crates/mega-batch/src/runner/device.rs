//! [`DeviceStage`]: the host's work for the devices of a batch: it encodes programs, prepares evaluations, and reads
//! answers.
//!
//! Workers then evaluate what devices leave, because they cannot run a program or bail out of an evaluation, as if
//! there were no device.

mod grids;

use std::collections::BTreeMap;
use std::panic::catch_unwind;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use arc_dsl::Program;
use gpu_kernels::interface::Representation;
use gpu_kernels::{BailOut, DeviceProgram, Evaluation, Verdict};
use gpu_sched::launcher::{Answers, Evaluations};
use gpu_sched::{Activity, Failure, HOST, Stages};
use rustc_hash::FxHashMap;

use grids::{Grids, PairGrids};

use super::unit::Unit;
use super::{FinishedWindow, PendingWindow};
use crate::backend::OnDevice;
use crate::batch::Batch;
use crate::devices::kind;
use crate::outcome::{Answer, Outcome};
use crate::panics::{PANIC, lock};
use crate::program_cache::ProgramCache;

/// The answers of a device for a unit.
#[derive(Debug, Default)]
pub(super) struct UnitAnswers {
    /// By the index of the evaluation; `None` if the device passes it on. Empty if the device cannot run the program.
    pub(super) answers: Vec<Option<Answer>>,
    /// The time that it took per evaluation.
    pub(super) share: Duration,
}

impl UnitAnswers {
    /// Splits off the answers from this index on, for another unit.
    pub(super) fn split_off(&mut self, at: usize) -> Self {
        Self {
            answers: self.answers.split_off(at.min(self.answers.len())),
            share: self.share,
        }
    }

    /// How many evaluations are answered.
    pub(super) fn count(&self) -> usize {
        self.answers.iter().flatten().count()
    }
}

/// The host's workers and the devices.
pub(super) type Fleet = gpu_sched::Fleet<Evaluations<Note>, Answers<Note>, FinishedWindow>;

/// What is needed to read the answers of a device's batch.
#[derive(Debug)]
pub(super) struct Note {
    units: Vec<Unit>,
    began: Instant,
    requests: Vec<Request>,
}

/// An evaluation for a device, and where its result goes.
#[derive(Debug, Clone, Copy)]
struct Request {
    unit: u32,
    at: u32,
    /// Its index in the batch, or why it is not in it.
    place: Result<u32, BailOut>,
    has_expected: bool,
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
    /// How many evaluations the devices bailed out of, by reason.
    bail_outs: Mutex<BTreeMap<BailOut, u64>>,
}

/// Reasons that the host finds.
const NO_GRID: &str = "a result that is no grid";
const SHARED: &str = "more values at a time than a block has memory for";
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

    /// Prepares the evaluations of these units that devices can run.
    pub(super) fn prepare(&self, units: Vec<Unit>) -> Evaluations<Note> {
        let count = units.iter().map(|unit| unit.len).sum();
        let mut batch = Evaluations {
            note: Note {
                units,
                began: Instant::now(),
                requests: Vec::with_capacity(count),
            },
            programs: Vec::new(),
            pools: Vec::new(),
            evaluations: Vec::with_capacity(count),
            pools_of: Vec::with_capacity(count),
            kinds: Vec::with_capacity(count),
            skipped: BTreeMap::new(),
        };
        let programs = self.batch.programs();
        let mut places: FxHashMap<u64, u32> = FxHashMap::default();
        for (number, unit) in batch.note.units.iter().enumerate() {
            let kind = kind(&programs[unit.program as usize]);
            let Some((program, encoded)) = self.encoded(unit.program) else {
                *batch.skipped.entry(kind).or_default() += unit.len as u64;
                continue;
            };
            let programs = &mut batch.programs;
            let program = *places.entry(program).or_insert_with(|| {
                programs.push((program, encoded));
                programs.len() as u32 - 1
            });
            for (at, (task, pair)) in unit.places(self.batch).enumerate() {
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
                    batch.kinds.push(kind);
                    batch.evaluations.len() as u32 - 1
                });
                if place.is_err() {
                    *batch.skipped.entry(kind).or_default() += 1;
                }
                batch.note.requests.push(Request {
                    unit: number as u32,
                    at: at as u32,
                    place,
                    has_expected: *has_expected,
                });
            }
        }
        batch
    }

    /// The answers of a device by unit; workers evaluate the rest.
    pub(super) fn passed(&self, answers: &Answers<Note>, stages: &Stages) -> PendingWindow {
        let Note {
            units,
            began,
            requests,
        } = &answers.note;
        let mut answered: Vec<_> = units.iter().map(|_| UnitAnswers::default()).collect();
        let took = stages.prepare + stages.upload + stages.compute + stages.download;
        let share = took / requests.len().max(1) as u32;
        let mut bail_outs = lock(&self.bail_outs);
        for request in requests {
            let unit = &units[request.unit as usize];
            let of_unit = &mut answered[request.unit as usize];
            if of_unit.answers.is_empty() {
                of_unit.answers.resize_with(unit.len, || None);
                of_unit.share = share;
            }
            match self.answer(request, answers) {
                Ok(answer) => of_unit.answers[request.at as usize] = Some(answer),
                Err(bail_out) => *bail_outs.entry(bail_out).or_default() += 1,
            }
        }
        PendingWindow {
            units: units.iter().copied().zip(answered).collect(),
            began: *began,
        }
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
        let scheduler = fleet.scheduler();
        let devices = HOST + 1..scheduler.executors();
        let sum = |of: fn(&Activity) -> u64| -> u64 {
            let activities = devices.clone().map(|device| scheduler.activity(device));
            activities.map(of).sum()
        };
        let too_large = sum(|activity| activity.too_large);
        if too_large > 0 {
            bail_outs.insert(FULL.to_owned(), too_large);
        }
        let failures = devices.clone().filter_map(|device| {
            let failed = scheduler.activity(device).failed > 0;
            let failure = fleet.failure(device).filter(|_| failed)?;
            (*failure != Failure::OutOfMemory).then(|| failure.to_string())
        });
        let failures: Vec<_> = failures.collect();
        let names = devices.clone().map(|device| scheduler.name(device));
        let device = OnDevice {
            name: names.collect::<Vec<_>>().join(", "),
            evaluations: 0,
            bail_outs,
            programs: programs.compiled,
            programs_host_only: programs.not_compiled,
            launches_halved: sum(|activity| activity.split),
            failure: (!failures.is_empty()).then(|| failures.join("; ")),
            activities: devices
                .map(|device| {
                    let name = scheduler.name(device).to_owned();
                    (name, *scheduler.activity(device))
                })
                .collect(),
        };
        (device, programs.time)
    }
}

/// The program encoded for the device, or why the host runs it.
///
/// Results that are not grids have more types on the host than representations on the device, and are right on no
/// pair.
pub(super) fn encoded(program: &Program, shared_bytes: u32) -> Result<DeviceProgram, String> {
    let encode = || {
        let form = arc_form::specialise(program).map_err(|error| error.reason.to_string())?;
        gpu_kernels::encode(&form).map_err(|reason| reason.summary())
    };
    let encoded = catch_unwind(encode).unwrap_or_else(|_| Err(PANIC.to_owned()))?;
    if encoded.gives() != Representation::Grid {
        Err(NO_GRID.to_owned())
    } else if encoded.pool_bytes() > shared_bytes {
        Err(SHARED.to_owned())
    } else {
        Ok(encoded)
    }
}

#[cfg(test)]
mod tests;
