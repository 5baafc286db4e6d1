//! [`Desk`]: what the host does for the devices of a batch: programs are encoded, evaluations made ready, and
//! answers read.
//!
//! What the devices leave, since they cannot run a program or bail out of an evaluation, workers do then,
//! as if there were no device.

mod grids;

use std::collections::BTreeMap;
use std::panic::catch_unwind;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use arc_dsl::{Program, Value};
use gpu_kernels::interface::Representation;
use gpu_kernels::{BailOut, DeviceProgram, Evaluation, Verdict};
use gpu_sched::launcher::{Answers, Evaluations};
use gpu_sched::{Activity, Failure, HOST, Stages};
use rustc_hash::FxHashMap;

use grids::{Grids, Held};

use super::unit::Unit;
use super::{Passed, Window};
use crate::backend::OnDevice;
use crate::batch::Batch;
use crate::devices::kind;
use crate::outcome::Outcome;
use crate::panics::{PANIC, lock};

/// What came of an evaluation, and its output where that is kept.
pub(super) type Found = (Outcome, Option<Value>);

/// What a device made of a unit.
#[derive(Debug, Default)]
pub(super) struct Made {
    /// By the place of the evaluation in the unit; nothing where others have to make it. None at all
    /// where the device runs no such program.
    pub(super) found: Vec<Option<Found>>,
    /// The time that it took, for each evaluation.
    pub(super) share: Duration,
}

impl Made {
    /// What it made from this place on, which is then another unit.
    pub(super) fn split_off(&mut self, at: usize) -> Self {
        let found = if self.found.is_empty() {
            Vec::new()
        } else {
            self.found.split_off(at)
        };
        let share = self.share;
        Self { found, share }
    }

    /// How many evaluations were made.
    pub(super) fn count(&self) -> usize {
        self.found.iter().flatten().count()
    }
}

/// The host's workers and the devices.
pub(super) type Fleet = gpu_sched::Fleet<Evaluations<Note>, Answers<Note>, Window>;

/// What is to be known of a device's batch when it is made.
#[derive(Debug)]
pub(super) struct Note {
    units: Vec<Unit>,
    began: Instant,
    due: Vec<Due>,
}

/// An evaluation that a device is to make, and where its result goes.
#[derive(Debug, Clone, Copy)]
struct Due {
    unit: u32,
    at: u32,
    /// Its place among those of the batch, or why there is none.
    place: Result<u32, BailOut>,
    has_expected: bool,
}

/// The programs of one batch as devices run them.
#[derive(Debug)]
pub(super) struct Desk<'b> {
    batch: &'b Batch<'b>,
    keep_outputs: bool,
    /// Bytes of shared memory that an evaluation can have on every device.
    shared_bytes: u32,
    /// The number of the next program, or pool of values, which no other one has on any device.
    numbers: &'b AtomicU64,
    grids: Grids<'b>,
    /// By the place of the program.
    places: Vec<Mutex<Place>>,
    counts: Mutex<Counts>,
}

/// Where one program stands.
#[derive(Debug)]
struct Place {
    state: State,
    /// How many of its evaluations are still to be delivered.
    left: u64,
}

#[derive(Debug)]
enum State {
    /// No evaluation was due so far.
    New,
    Encoded(u64, Arc<DeviceProgram>),
    /// The host runs it.
    HostOnly,
}

#[derive(Debug, Default)]
struct Counts {
    evaluations: u64,
    bail_outs: BTreeMap<BailOut, u64>,
    programs: u64,
    host_only: BTreeMap<String, u64>,
    encoding: Duration,
}

/// Reasons that are ours.
const NO_GRID: &str = "a result that is no grid";
const SHARED: &str = "more values at a time than a block has memory for";
const FULL: &str = "out of device memory";

impl<'b> Desk<'b> {
    /// Room for the programs of the batch.
    pub(super) fn new(
        batch: &'b Batch<'b>,
        keep_outputs: bool,
        shared_bytes: u32,
        numbers: &'b AtomicU64,
    ) -> Self {
        let place = |left| {
            Mutex::new(Place {
                state: State::New,
                left,
            })
        };
        let evaluations = batch.evaluations_by_program();
        Self {
            batch,
            keep_outputs,
            shared_bytes,
            numbers,
            grids: Grids::new(batch, numbers),
            places: evaluations.into_iter().map(place).collect(),
            counts: Mutex::default(),
        }
    }

    /// The program with its number, encoded now if it was not; nothing where the host runs it.
    fn encoded(&self, program: u32) -> Option<(u64, Arc<DeviceProgram>)> {
        // Whoever comes while it is being encoded waits, which takes less than doing it twice.
        let mut place = lock(&self.places[program as usize]);
        if let State::New = place.state {
            let began = Instant::now();
            let encoded = encoded(&self.batch.programs()[program as usize], self.shared_bytes);
            let mut counts = lock(&self.counts);
            counts.encoding += began.elapsed();
            place.state = match encoded {
                Ok(encoded) => {
                    counts.programs += 1;
                    let number = self.numbers.fetch_add(1, Ordering::Relaxed);
                    State::Encoded(number, Arc::new(encoded))
                }
                Err(reason) => {
                    *counts.host_only.entry(reason).or_default() += 1;
                    State::HostOnly
                }
            };
        }
        match &place.state {
            State::Encoded(number, encoded) => Some((*number, Arc::clone(encoded))),
            State::New | State::HostOnly => None,
        }
    }

    /// So many evaluations of the program are delivered; after the last one it is let go of.
    pub(super) fn delivered(&self, program: u32, evaluations: usize) {
        if let Some(place) = self.places.get(program as usize) {
            let mut place = lock(place);
            place.left -= (evaluations as u64).min(place.left);
            if place.left == 0 {
                place.state = State::HostOnly;
            }
        }
    }

    /// Makes ready what devices can make of these units.
    pub(super) fn prepare(&self, units: Vec<Unit>) -> Evaluations<Note> {
        let count = units.iter().map(|unit| unit.len).sum();
        let mut batch = Evaluations {
            note: Note {
                units,
                began: Instant::now(),
                due: Vec::with_capacity(count),
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
                let (number_of_pool, held) = self.grids.of(task, pair);
                let Held {
                    input,
                    expected,
                    has_expected,
                    pool,
                } = &*held;
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
                batch.note.due.push(Due {
                    unit: number as u32,
                    at: at as u32,
                    place,
                    has_expected: *has_expected,
                });
            }
        }
        batch
    }

    /// What a device has made of its units, for workers to make the rest.
    pub(super) fn passed(&self, answers: &Answers<Note>, stages: &Stages) -> Passed {
        let Note { units, began, due } = &answers.note;
        let mut made: Vec<Made> = units.iter().map(|_| Made::default()).collect();
        let took = stages.prepare + stages.upload + stages.compute + stages.download;
        let share = took / due.len().max(1) as u32;
        let mut counts = lock(&self.counts);
        for due in due {
            let (unit, made) = (&units[due.unit as usize], &mut made[due.unit as usize]);
            if made.found.is_empty() {
                made.found.resize_with(unit.len, || None);
                made.share = share;
            }
            match self.found(due, answers) {
                Ok(found) => {
                    counts.evaluations += 1;
                    made.found[due.at as usize] = Some(found);
                }
                Err(bail_out) => *counts.bail_outs.entry(bail_out).or_default() += 1,
            }
        }
        Passed {
            units: units.iter().copied().zip(made).collect(),
            began: *began,
        }
    }

    fn found(&self, due: &Due, answers: &Answers<Note>) -> Result<Found, BailOut> {
        let place = due.place? as usize;
        let outcome = match answers.verdicts[place] {
            Verdict::BailedOut { reason, .. } => return Err(reason),
            Verdict::Done { right: true, .. } => Outcome::Match,
            Verdict::Done { right: false, .. } if due.has_expected => Outcome::Mismatch,
            Verdict::Done { right: false, .. } => Outcome::NoExpected,
        };
        let output = self.keep_outputs.then(|| answers.results.value(place));
        match output {
            Some(None) => Err(BailOut::Undefined),
            output => Ok((outcome, output.flatten())),
        }
    }

    /// What it came to, and how long encoding took.
    pub(super) fn finish(self, fleet: &Fleet) -> (OnDevice, Duration) {
        let counts = self.counts.into_inner();
        let counts = counts.unwrap_or_else(PoisonError::into_inner);
        let bail_outs = counts.bail_outs.into_iter();
        let mut bail_outs: BTreeMap<String, u64> = bail_outs
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
            evaluations: counts.evaluations,
            bail_outs,
            programs: counts.programs,
            programs_host_only: counts.host_only,
            launches_halved: sum(|activity| activity.split),
            failure: (!failures.is_empty()).then(|| failures.join("; ")),
            activities: devices
                .map(|device| {
                    let name = scheduler.name(device).to_owned();
                    (name, *scheduler.activity(device))
                })
                .collect(),
        };
        (device, counts.encoding)
    }
}

/// The program as the device runs it, or why the host runs it.
///
/// Values that are no grids have more types on the host than representations on the device, and are right on
/// no pair.
fn encoded(program: &Program, shared_bytes: u32) -> Result<DeviceProgram, String> {
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
