//! Simulated executors in virtual time: shows how long a run takes on machines of known cost, and what happens if
//! they fail, without a clock.
//!
//! A simulated device has four stages that overlap, each with one batch at a time: preparing on one of the host's
//! threads, copying to the device, computing, and copying back. The host evaluates what falls back afterwards, behind
//! what it has begun.

mod faults;
mod leaves;

mod tests;

use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};
use std::time::Duration;

use crate::order::Order;
use crate::scheduler::{BatchId, Ended, HOST, Made, Scheduler, Start};
use crate::stages::Stages;
use crate::work::{Failure, Item, Kind};
use faults::{Call, Effect, Fault, Faults};
use leaves::split;
use leaves::{Leaves, Stretches};

/// The costs of a simulated executor, in seconds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Machine {
    /// Per batch.
    pub(crate) overhead: f64,
    /// Per item.
    pub(crate) unit: f64,
    /// Bytes per second, each way; infinite if nothing is copied.
    pub(crate) bandwidth: f64,
    /// Bytes of memory.
    pub(crate) memory: u64,
    /// Bytes of memory per item.
    pub(crate) footprint: u64,
    /// The items that fall back to the host.
    pub(crate) leaves: Leaves,
}

impl Machine {
    /// A machine with unlimited memory that copies nothing.
    pub(crate) fn new(overhead: f64, unit: f64) -> Self {
        Self {
            overhead,
            unit,
            bandwidth: f64::INFINITY,
            memory: u64::MAX,
            footprint: 0,
            leaves: Leaves::new(),
        }
    }
}

/// A host and devices.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fleet {
    /// The host.
    pub(crate) host: Machine,
    /// The devices.
    pub(crate) devices: Vec<Machine>,
    /// The host's threads for preparing batches.
    pub(crate) preparers: usize,
    /// Seconds to prepare an item.
    pub(crate) prepare: f64,
}

/// The record of a simulation.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Trace {
    /// When the last item was done.
    pub(crate) makespan: Duration,
    /// The answer of every item, in the order of delivery.
    pub(crate) answers: Vec<(u64, u64)>,
    /// The items that no executor could evaluate.
    pub(crate) given_up: Vec<u64>,
    /// The finished batches: the executor and the items, including those that fell back.
    pub(crate) made: Vec<(usize, Range<u64>)>,
    /// How many items fell back to the host.
    pub(crate) left: u64,
    /// The batches that were started.
    pub(crate) started: u64,
    /// The peak memory use of each device.
    pub(crate) peak: Vec<u64>,
}

impl Trace {
    /// How many items an executor was given in finished batches.
    pub(crate) fn items(&self, executor: usize) -> u64 {
        let made = self.made.iter().filter(|(by, _)| *by == executor);
        made.map(|(_, items)| items.end - items.start).sum()
    }
}

/// The answer of an item, the same from every executor.
pub(crate) fn answer(item: u64) -> u64 {
    let mut x = item.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// The state of a device.
#[derive(Debug, Default)]
struct Device {
    upload: f64,
    compute: f64,
    download: f64,
    used: u64,
    calls: [u64; Call::COUNT],
    /// Counts losses: batches of an earlier generation were lost.
    generation: u32,
    gone: Gone,
    hung: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq)]
enum Gone {
    #[default]
    Never,
    Until(f64),
    Forever,
}

/// A batch whose end is scheduled.
#[derive(Debug)]
struct Running {
    start: Start,
    result: Result<Made, Failure>,
    memory: u64,
    generation: u32,
    /// The items that fall back.
    left: Vec<u64>,
}

#[derive(Debug)]
enum Event {
    Ended(Box<Running>),
    /// A batch is prepared.
    HandedOver(BatchId),
    /// The host has finished the fallback work of these items.
    FallbackDone(Range<u64>),
    /// A device disappears.
    Gone(usize),
}

/// A point of virtual time in nanoseconds, and a unique number.
type Key = (u64, u64);

/// Runs items through a scheduler.
#[derive(Debug)]
pub(crate) struct Simulation<'s> {
    fleet: &'s Fleet,
    faults: &'s Faults,
    scheduler: &'s mut Scheduler,
    /// How long each item takes, as a multiple of its machine's unit.
    factor: fn(u64) -> f64,
    /// The kinds of the items, and the number of the first item.
    kinds: Vec<Kind>,
    first: u64,
    order: Order<()>,
    now: f64,
    host_free: f64,
    preparers: Vec<f64>,
    devices: Vec<Device>,
    events: BTreeMap<Key, Event>,
    next: u64,
    trace: Trace,
}

fn time(seconds: f64) -> Duration {
    Duration::from_nanos((seconds * 1e9).round() as u64)
}

/// Bytes per item that are copied each way.
const BYTES: u64 = 1000;

/// After this many events the simulation stops: the scheduler is in a loop.
const MOST_EVENTS: u64 = 10_000_000;

impl<'s> Simulation<'s> {
    /// A simulation that begins at `now`. Item `i` takes `factor(i)` times its machine's unit. The scheduler must
    /// have the same number of executors.
    pub(crate) fn new(
        fleet: &'s Fleet,
        faults: &'s Faults,
        scheduler: &'s mut Scheduler,
        factor: fn(u64) -> f64,
        now: Duration,
    ) -> Self {
        let now = now.as_secs_f64();
        let device = || Device {
            upload: now,
            compute: now,
            download: now,
            ..Device::default()
        };
        Self {
            fleet,
            faults,
            scheduler,
            factor,
            kinds: Vec::new(),
            first: 0,
            order: Order::default(),
            now,
            host_free: now,
            preparers: vec![now; fleet.preparers.max(1)],
            devices: fleet.devices.iter().map(|_| device()).collect(),
            events: BTreeMap::new(),
            next: 0,
            trace: Trace {
                peak: vec![0; fleet.devices.len()],
                ..Trace::default()
            },
        }
    }

    /// Runs items, all submitted at once, to the end.
    pub(crate) fn run(self, items: &[Item]) -> Trace {
        self.run_within(&(u64::MAX..=u64::MAX), items)
    }

    /// Runs items to the end. The scheduler decides, within these bounds, how many are in progress at a time: more
    /// are submitted as earlier ones are delivered.
    pub(crate) fn run_within(mut self, bounds: &RangeInclusive<u64>, items: &[Item]) -> Trace {
        let began = self.now;
        self.first = self.scheduler.end();
        self.kinds = items.iter().map(|item| item.kind).collect();
        let mut submitted = 0;
        self.scheduler.expect(items.len() as u64);
        while self.order.next() < items.len() as u64 && self.next < MOST_EVENTS {
            let most = self.scheduler.bound(bounds);
            let end = self.order.next().saturating_add(most);
            let end = end.min(items.len() as u64).max(submitted);
            let more = &items[submitted as usize..end as usize];
            self.scheduler.submit(more.iter().map(|item| (*item, 1)));
            submitted = end;
            while let Some(start) = self.scheduler.start(time(self.now)) {
                self.trace.started += 1;
                self.begin(start);
            }
            let event = self.events.keys().next().map(|(at, _)| *at as f64 / 1e9);
            let wake = self.scheduler.wake().map(|at| at.as_secs_f64());
            match (event, wake) {
                (None, None) => break,
                (event, Some(wake)) if event.is_none_or(|event| wake < event) => {
                    self.now = self.now.max(wake);
                    self.scheduler.expire(time(self.now));
                }
                (Some(event), _) => {
                    self.now = self.now.max(event);
                    self.handle_event();
                }
                (None, Some(_)) => {}
            }
            while let Some((items, ())) = self.order.take() {
                let answers = items.map(|item| (item, answer(item + self.first)));
                self.trace.answers.extend(answers);
            }
        }
        self.trace.makespan = time(self.now - began);
        self.trace
    }

    fn schedule(&mut self, seconds: f64, event: Event) {
        let key = ((seconds * 1e9).round() as u64, self.next);
        self.next += 1;
        self.events.insert(key, event);
    }

    fn handle_event(&mut self) {
        let Some((_, event)) = self.events.pop_first() else {
            return;
        };
        match event {
            Event::Gone(device) => {
                let device = &mut self.devices[device];
                device.generation += 1;
                (device.used, device.hung) = (0, false);
            }
            Event::FallbackDone(items) => {
                self.scheduler.fallback_done(time(self.now), &items);
                self.order.put(self.local(&items), ());
            }
            Event::HandedOver(batch) => self.scheduler.handed_over(time(self.now), batch),
            Event::Ended(running) => self.ended(*running),
        }
    }

    /// The same range, counted from the first item.
    fn local(&self, items: &Range<u64>) -> Range<u64> {
        items.start - self.first..items.end - self.first
    }

    fn ended(&mut self, running: Running) {
        let Running {
            start,
            mut result,
            memory,
            generation,
            left,
        } = running;
        if start.executor != HOST {
            let device = &mut self.devices[start.executor - 1];
            if device.generation == generation {
                device.used -= memory;
            } else {
                result = Err(Failure::Lost("it disappeared".to_owned()));
            }
        }
        let now = time(self.now);
        match self.scheduler.ended(now, start.batch, result) {
            Ended::Done(items) => {
                let local = self.local(&items);
                self.trace.made.push((start.executor, local.clone()));
                if left.is_empty() {
                    self.order.put(local, ());
                } else {
                    self.run_fallback(items, left);
                }
            }
            Ended::GivenUp(item, _) => {
                self.order.put(self.local(&(item..item + 1)), ());
                self.trace.given_up.push(item - self.first);
            }
            Ended::Dropped => self.scheduler.answered(start.executor),
        }
    }

    /// Has the host evaluate the items that fell back.
    fn run_fallback(&mut self, items: Range<u64>, left: Vec<u64>) {
        self.trace.left += left.len() as u64;
        let seconds = self.seconds(&self.fleet.host, left);
        self.host_free = self.host_free.max(self.now) + seconds;
        self.schedule(self.host_free, Event::FallbackDone(items));
    }

    fn seconds(&self, machine: &Machine, items: impl IntoIterator<Item = u64>) -> f64 {
        let factors: f64 = items.into_iter().map(self.factor).sum();
        machine.overhead + machine.unit * factors
    }

    fn begin(&mut self, start: Start) {
        if start.executor == HOST {
            let seconds = self.seconds(&self.fleet.host, start.items.clone());
            self.host_free = self.host_free.max(self.now) + seconds;
            let (host, at) = (self.faults.on_host(&start.items), self.host_free);
            let result = match host {
                Some(reason) => Err(Failure::Failed(reason)),
                None => Ok(Made {
                    stages: Stages {
                        compute: time(seconds),
                        ..Stages::default()
                    },
                    ..Made::default()
                }),
            };
            let running = Running {
                start,
                result,
                memory: 0,
                generation: 0,
                left: Vec::new(),
            };
            self.schedule(at, Event::Ended(Box::new(running)));
        } else {
            self.begin_on_device(start);
        }
    }

    /// Prepares the batch and allocates its memory; a failure ends it.
    fn begin_on_device(&mut self, start: Start) {
        let number = start.executor - 1;
        let machine = &self.fleet.devices[number];
        let local = self.local(&start.items);
        let kinds = &self.kinds[local.start as usize..local.end as usize];
        let split = split(&machine.leaves, start.items.clone(), kinds);
        let count = split.tried.len() as u64;
        let device = &mut self.devices[number];
        let is_back = !matches!(device.gone, Gone::Until(back) if self.now < back);
        if start.recover && is_back && device.gone != Gone::Forever {
            (device.gone, device.hung) = (Gone::Never, false);
        }
        let mut running = Running {
            start,
            result: Ok(Made::default()),
            memory: 0,
            generation: device.generation,
            left: split.left,
        };
        if device.gone != Gone::Never {
            running.result = Err(Failure::Lost("it is not there".to_owned()));
            let at = self.now + 1e-5;
            return self.schedule(at, Event::Ended(Box::new(running)));
        }
        let prepare = self.fleet.prepare * count as f64;
        let preparer = self.preparers.iter_mut().min_by(|a, b| a.total_cmp(b));
        let mut at = self.now;
        if let Some(preparer) = preparer {
            at = preparer.max(at) + prepare;
            *preparer = at;
        }
        self.schedule(at, Event::HandedOver(running.start.batch));
        let device = &mut self.devices[number];
        let memory = count * machine.footprint;
        if device.used + memory > machine.memory {
            running.result = Err(Failure::OutOfMemory);
            return self.schedule(at, Event::Ended(Box::new(running)));
        }
        device.used += memory;
        self.trace.peak[number] = self.trace.peak[number].max(device.used);
        running.memory = memory;
        let made = Made {
            stages: Stages {
                prepare: time(prepare),
                ..Stages::default()
            },
            footprint: memory,
            fallback: split.by_kind,
            ..Made::default()
        };
        if count == 0 {
            // The device receives nothing.
            running.result = Ok(made);
            return self.schedule(at, Event::Ended(Box::new(running)));
        }
        self.run_stages(running, at, split.tried, made);
    }

    /// Simulates the remaining stages of a prepared batch; a failure ends it.
    fn run_stages(&mut self, mut running: Running, mut at: f64, tried: Vec<u64>, mut made: Made) {
        let number = running.start.executor - 1;
        let (machine, device) = (&self.fleet.devices[number], &mut self.devices[number]);
        let copy = (tried.len() as u64 * BYTES) as f64 / machine.bandwidth;
        let compute =
            machine.overhead + machine.unit * tried.into_iter().map(self.factor).sum::<f64>();
        let stages = [
            (Call::Allocate, 0.0),
            (Call::Copy, copy),
            (Call::Launch, compute),
            (Call::Copy, copy),
            (Call::Wait, 0.0),
        ];
        let mut took = [0.0; 5];
        for (stage, (call, mut seconds)) in stages.into_iter().enumerate() {
            let nth = device.calls[call as usize];
            device.calls[call as usize] += 1;
            let effect = self.faults.of(number, call, nth);
            if let Some(Effect::Slow(times)) = effect {
                seconds = seconds.max(1e-6) * times;
            }
            let free = match stage {
                1 => Some(&mut device.upload),
                2 => Some(&mut device.compute),
                3 => Some(&mut device.download),
                _ => None,
            };
            match free {
                Some(free) => {
                    at = free.max(at) + seconds;
                    *free = at;
                }
                None => at += seconds,
            }
            took[stage] = seconds;
            match effect {
                None | Some(Effect::Slow(_)) => {}
                Some(Effect::OutOfMemory) => {
                    running.result = Err(Failure::OutOfMemory);
                    return self.schedule(at, Event::Ended(Box::new(running)));
                }
                Some(Effect::Fail) => {
                    running.result = Err(Failure::Failed("injected".to_owned()));
                    return self.schedule(at, Event::Ended(Box::new(running)));
                }
                Some(Effect::Never) => device.hung = true,
                Some(Effect::Disappear { back }) => {
                    device.gone = back.map_or(Gone::Forever, |after| Gone::Until(at + after));
                    // Batches that finish before this time are not lost.
                    self.schedule(at, Event::Gone(number));
                    running.result = Err(Failure::Lost("it disappeared".to_owned()));
                    return self.schedule(at + 1e-6, Event::Ended(Box::new(running)));
                }
            }
            if device.hung {
                // Its memory is free again when the device is lost.
                return;
            }
        }
        made.stages = Stages {
            upload: time(took[1]),
            compute: time(took[2]),
            download: time(took[3]),
            ..made.stages
        };
        made.free = Some(machine.memory - device.used + running.memory);
        running.result = Ok(made);
        self.schedule(at, Event::Ended(Box::new(running)));
    }
}
