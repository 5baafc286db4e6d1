//! A host and devices in virtual time: shows how long a batch takes on machines of known cost, and what happens if
//! devices fail, without a clock.
//!
//! A simulated device has four stages that overlap, each with one window at a time: preparing on one of the host's
//! threads, copying to the device, computing, and copying back. The host claims a piece whenever it is free, and
//! evaluates what it keeps of windows, and what devices leave, before that.

mod faults;
mod leaves;
mod model;

mod tests;

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::time::Duration;

use crate::costs::Costs;
use crate::order::Order;
use crate::scheduler::{Failure, Host, Made, Scheduler, Window, WindowId};
use crate::stages::Stages;
use faults::{Call, Effect, Fault};
use leaves::Stretches;

/// The costs of a simulated machine, in seconds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Machine {
    /// Per window or piece.
    pub(crate) overhead: f64,
    /// Per item.
    pub(crate) unit: f64,
    /// Bytes per second, each way; infinite if nothing is copied.
    pub(crate) bandwidth: f64,
    /// Bytes of memory.
    pub(crate) memory: u64,
    /// Bytes of memory per item.
    pub(crate) footprint: u64,
    /// The items that it leaves to the host.
    pub(crate) leaves: Option<Stretches>,
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
            leaves: None,
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
    /// The host's threads for preparing windows.
    pub(crate) preparers: usize,
    /// Seconds to prepare an item.
    pub(crate) prepare: f64,
}

/// The record of a simulation.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Trace {
    /// When the last item was delivered.
    pub(crate) makespan: Duration,
    /// The items in the order of delivery.
    pub(crate) delivered: Vec<u64>,
    /// How many items of finished windows each device was given, including those that it left.
    pub(crate) items: Vec<u64>,
    /// The finished windows.
    pub(crate) windows: Vec<Range<u64>>,
    /// How many windows were claimed.
    pub(crate) claimed: u64,
    /// How many items devices left to the host.
    pub(crate) left: u64,
    /// The peak memory use of each device.
    pub(crate) peak: Vec<u64>,
}

/// A random number that belongs to an item.
pub(crate) fn random_of(item: u64) -> u64 {
    let mut x = item.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// What items cost.
pub(crate) trait Work {
    /// On the host, as a multiple of its unit.
    fn on_host(&self, item: u64) -> f64;

    /// These items together on a device, as multiples of its unit: how long it can compute nothing beside them, and how
    /// long it takes after that until the last has ended.
    fn on_device(&self, items: &[u64]) -> [f64; 2];

    /// Whether devices bail out of an item.
    fn bails_out(&self, _item: u64) -> bool {
        false
    }

    /// The program of an item, and how many rounds its loops take.
    fn program(&self, _item: u64) -> (u32, Option<u64>) {
        (0, None)
    }
}

/// Every item takes so many times the unit of its machine.
pub(crate) struct Factor(pub(crate) fn(u64) -> f64);

impl Work for Factor {
    fn on_host(&self, item: u64) -> f64 {
        self.0(item)
    }

    fn on_device(&self, items: &[u64]) -> [f64; 2] {
        [items.iter().map(|item| self.0(*item)).sum(), 0.0]
    }
}

/// The state of a device.
#[derive(Debug, Default)]
struct Device {
    upload: f64,
    compute: f64,
    download: f64,
    used: u64,
    calls: [u64; Call::COUNT],
    /// Counts losses: windows of an earlier generation were lost.
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

/// A window whose end is scheduled.
#[derive(Debug)]
struct Running {
    window: Window,
    result: Result<Made, Failure>,
    memory: u64,
    generation: u32,
    /// The items that it leaves.
    left: Vec<u64>,
}

#[derive(Debug)]
enum Event {
    Ended(Box<Running>),
    /// A window is prepared, of which the host keeps some items.
    HandedOver(WindowId, Vec<Range<u64>>),
    /// The host has evaluated these items, or what a device left of them.
    ByHost(Range<u64>),
    /// The host is free again.
    Free,
    /// A device disappears.
    Gone(usize),
}

/// A point of virtual time in nanoseconds, and a unique number.
type Key = (u64, u64);

/// Runs a batch through a scheduler.
pub(crate) struct Simulation<'s> {
    fleet: &'s Fleet,
    faults: &'s [Fault],
    scheduler: &'s mut Scheduler,
    work: &'s dyn Work,
    /// What is known of programs, if they are placed by it.
    costs: Option<&'s mut Costs>,
    /// What the host keeps of windows.
    kept: VecDeque<Range<u64>>,
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

/// How long the host works on a piece.
const PIECE: f64 = 200e-6;

/// After this many events the simulation stops: the scheduler is in a loop.
const MOST_EVENTS: u64 = 10_000_000;

impl<'s> Simulation<'s> {
    /// A simulation that begins at `now`. The scheduler must have the same number of devices.
    pub(crate) fn new(
        fleet: &'s Fleet,
        faults: &'s [Fault],
        scheduler: &'s mut Scheduler,
        work: &'s dyn Work,
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
            work,
            costs: None,
            kept: VecDeque::new(),
            order: Order::default(),
            now,
            host_free: now,
            preparers: vec![now; fleet.preparers.max(1)],
            devices: fleet.devices.iter().map(|_| device()).collect(),
            events: BTreeMap::new(),
            next: 0,
            trace: Trace {
                items: vec![0; fleet.devices.len()],
                peak: vec![0; fleet.devices.len()],
                ..Trace::default()
            },
        }
    }

    /// The same with programs placed by what is known of them.
    pub(crate) fn placed(self, costs: &'s mut Costs) -> Self {
        let costs = Some(costs);
        Self { costs, ..self }
    }

    /// Runs `count` items to the end, of which at most `most` are claimed and not delivered.
    pub(crate) fn run(mut self, count: u64, most: u64) -> Trace {
        let began = self.now;
        self.scheduler.begin(0..count);
        while self.order.next() < count && self.next < MOST_EVENTS {
            let on_way = self.scheduler.fresh().start - self.order.next();
            let host = Host {
                room: most.saturating_sub(on_way),
                unit: self.fleet.host.unit,
            };
            if let Some(window) = self.scheduler.claim(time(self.now), host) {
                self.trace.claimed += 1;
                self.begin(window);
                continue;
            }
            // Events are rounded to nanoseconds.
            if self.host_free <= self.now + 1e-9
                && let Some(kept) = self.kept.pop_front()
            {
                self.run_on_host(kept.clone(), kept.collect());
                continue;
            }
            if self.host_free <= self.now + 1e-9
                && let Some(items) = self.scheduler.for_host()
                && (host.room > 0 || items.start < self.scheduler.fresh().start)
            {
                self.run_piece(items);
                continue;
            }
            let event = self.events.keys().next().map(|(at, _)| *at as f64 / 1e9);
            let wake = self.scheduler.wake().map(|at| at.as_secs_f64());
            match (event, wake) {
                (None, None) => break,
                (event, Some(wake)) if event.is_none_or(|event| wake < event) => {
                    self.now = self.now.max(wake);
                    self.scheduler.revive(time(self.now));
                    self.scheduler.expire(time(self.now));
                }
                (Some(event), _) => {
                    self.now = self.now.max(event);
                    self.handle_event();
                }
                (None, Some(_)) => {}
            }
            while let Some((items, ())) = self.order.take() {
                self.trace.delivered.extend(items);
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
            Event::ByHost(items) => self.order.put(items, ()),
            Event::Free => {}
            Event::HandedOver(window, kept) => {
                if self.scheduler.handed_over(time(self.now), window, &kept) {
                    self.kept.extend(kept);
                }
            }
            Event::Ended(running) => self.ended(*running),
        }
    }

    fn ended(&mut self, running: Running) {
        let Running {
            window,
            mut result,
            memory,
            generation,
            left,
        } = running;
        let device = &mut self.devices[window.device];
        if device.generation == generation {
            device.used -= memory;
        } else {
            result = Err(Failure::Lost("it disappeared".to_owned()));
        }
        let ended = self.scheduler.ended(time(self.now), window.id, result);
        let Some(ranges) = ended else {
            return self.scheduler.answered(window.device);
        };
        if let Some(costs) = &mut self.costs {
            for item in window.items.clone() {
                let (program, rounds) = self.work.program(item);
                let is_left = u64::from(left.binary_search(&item).is_ok());
                costs.tried(program, 1, is_left);
                if let Some(rounds) = rounds.filter(|_| costs.uncounted(program) > 0) {
                    costs.asked(program, 1);
                    costs.count(program, rounds);
                }
            }
        }
        self.trace.windows.push(window.items);
        self.trace.left += left.len() as u64;
        for items in ranges {
            self.trace.items[window.device] += items.end - items.start;
            let left = left.iter().copied().filter(|item| items.contains(item));
            let left: Vec<u64> = left.collect();
            if left.is_empty() {
                self.order.put(items, ());
            } else {
                self.run_on_host(items, left);
            }
        }
    }

    /// Has the host evaluate some of these items, after what it has begun.
    fn run_on_host(&mut self, items: Range<u64>, some: Vec<u64>) {
        let host = &self.fleet.host;
        let mut seconds = host.overhead;
        for item in some {
            let of_item = host.unit * self.work.on_host(item);
            seconds += of_item;
            if let Some(costs) = &mut self.costs {
                let (program, _) = self.work.program(item);
                costs.evaluated(program, 1, Duration::from_secs_f64(of_item));
            }
        }
        self.host_free = self.host_free.max(self.now) + seconds;
        self.schedule(self.host_free, Event::ByHost(items));
        self.schedule(self.host_free, Event::Free);
    }

    /// Has the host claim a piece of these items.
    fn run_piece(&mut self, items: Range<u64>) {
        let count = (PIECE / self.fleet.host.unit) as u64;
        let end = items.end.min(items.start + count.max(1));
        self.scheduler.take(items.start, end);
        let piece = items.start..end;
        self.run_on_host(piece.clone(), piece.collect());
    }

    /// Prepares the window and allocates its memory; a failure ends it.
    fn begin(&mut self, window: Window) {
        let number = window.device;
        let machine = &self.fleet.devices[number];
        let (mut left, mut tried) = (Vec::new(), Vec::new());
        let mut kept: Vec<Range<u64>> = Vec::new();
        let mean = self.costs.as_ref().map_or(0.0, |costs| costs.mean());
        for item in window.items.clone() {
            let (program, _) = self.work.program(item);
            let stretches = machine.leaves.filter(|stretches| stretches.leave(item));
            let is_kept = match &self.costs {
                Some(costs) => costs.keeps(program, mean, window.keep),
                None => stretches.is_some_and(|stretches| !stretches.bails_out),
            };
            if is_kept {
                match kept.last_mut() {
                    Some(last) if last.end == item => last.end += 1,
                    _ => kept.push(item..item + 1),
                }
                continue;
            }
            tried.push(item);
            if stretches.is_some() || self.work.bails_out(item) {
                left.push(item);
            }
        }
        let count = tried.len() as u64;
        let device = &mut self.devices[number];
        let is_back = !matches!(device.gone, Gone::Until(back) if self.now < back);
        if window.recover && is_back && device.gone != Gone::Forever {
            (device.gone, device.hung) = (Gone::Never, false);
        }
        let mut running = Running {
            window,
            result: Ok(Made::default()),
            memory: 0,
            generation: device.generation,
            left,
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
        self.schedule(at, Event::HandedOver(running.window.id, kept));
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
            tried: count,
            answered: count - running.left.len() as u64,
            footprint: memory,
            ..Made::default()
        };
        if count == 0 {
            // The device receives nothing.
            running.result = Ok(made);
            return self.schedule(at, Event::Ended(Box::new(running)));
        }
        self.run_stages(running, at, &tried, made);
    }

    /// Simulates the remaining stages of a prepared window; a failure ends it.
    fn run_stages(&mut self, mut running: Running, mut at: f64, tried: &[u64], mut made: Made) {
        let number = running.window.device;
        let (machine, device) = (&self.fleet.devices[number], &mut self.devices[number]);
        let copy = (tried.len() as u64 * BYTES) as f64 / machine.bandwidth;
        let [busy, rest] = self.work.on_device(tried).map(|times| times * machine.unit);
        let compute = machine.overhead + busy;
        let stages = [
            (Call::Allocate, 0.0),
            (Call::Copy, copy),
            (Call::Launch, compute),
            (Call::Copy, copy),
            (Call::Wait, rest),
        ];
        let mut took = [0.0; 5];
        for (stage, (call, mut seconds)) in stages.into_iter().enumerate() {
            let nth = device.calls[call as usize];
            device.calls[call as usize] += 1;
            let effect = faults::of(self.faults, number, call, nth);
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
                    // Windows that finish before this time are not lost.
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
