//! [`Pipeline`]: the evaluations in flight of a batch that runs on devices, from the calling thread to workers and
//! devices and back.

use std::collections::VecDeque;
use std::io;
use std::ops::{Range, RangeInclusive};
use std::sync::MutexGuard;
use std::time::{Duration, Instant};

use gpu_sched::{Event, Failure, HOST, Item, Order, Start};
use rayon::Scope;

use super::device::{Fleet, UnitAnswers};
use super::fleet::{BYTES, BYTES_WITH_OUTPUT};
use super::unit::{Unit, Units};
use super::{FinishedWindow, PendingWindow, Run, lost, windows};
use crate::devices::kind;
use crate::panics::{PANIC, lock};

/// What runs the host's work.
pub(super) trait Workers<'scope> {
    /// Runs it now or later.
    fn give(&self, work: impl FnOnce() + Send + 'scope);
}

/// The calling thread.
pub(super) struct InPlace;

impl<'scope> Workers<'scope> for InPlace {
    fn give(&self, work: impl FnOnce() + Send + 'scope) {
        work();
    }
}

impl<'scope> Workers<'scope> for Scope<'scope> {
    fn give(&self, work: impl FnOnce() + Send + 'scope) {
        self.spawn(move |_| work());
    }
}

/// How many evaluations a fleet's devices have finished.
pub(super) fn on_devices(fleet: &Fleet) -> u64 {
    let scheduler = fleet.scheduler();
    let devices = HOST + 1..scheduler.executors();
    devices.map(|device| scheduler.activity(device).items).sum()
}

/// The minimum number of windows in flight besides those of the workers.
const WINDOWS_ON_DEVICES: u64 = 16;

/// The maximum number of evaluations in flight, however many devices need to stay busy: each takes host memory, and
/// more if its output is kept.
const MOST_ON_DEVICES: u64 = 1 << 19;
const MOST_ON_DEVICES_WITH_OUTPUTS: u64 = MOST_ON_DEVICES / 4;

/// The evaluations of a batch in flight.
pub(super) struct Pipeline<'r> {
    run: Run<'r>,
    fleet: MutexGuard<'r, Fleet>,
    units: Units<'r>,
    /// The units that are submitted and not delivered, each with the number of its first evaluation.
    in_flight: VecDeque<(u64, Unit)>,
    order: Order<FinishedWindow>,
    /// The number of evaluations in a window, and the range for the bound on evaluations in flight.
    window: u64,
    bounds: RangeInclusive<u64>,
    bytes: u32,
}

impl<'r> Pipeline<'r> {
    pub(super) fn new(run: Run<'r>) -> Self {
        let options = &run.runner.options;
        let mut fleet = lock(&run.runner.fleet);
        // Remains of an earlier batch that ended with an error.
        fleet.abandon();
        let scheduler = fleet.scheduler_mut();
        scheduler.reset_activity();
        scheduler.expect(run.total - run.done);
        let order = Order::starting_at(scheduler.end());
        let (in_flight, window) = windows(options, run.runner.executors);
        let of_workers = in_flight as u64 * window;
        let needs_outputs = options.needs_outputs();
        let least = of_workers + WINDOWS_ON_DEVICES * window;
        let most = if needs_outputs {
            MOST_ON_DEVICES_WITH_OUTPUTS
        } else {
            MOST_ON_DEVICES
        };
        let bounds = least..=least.max(most);
        Self {
            run,
            units: Units::behind(run.batch, run.done),
            in_flight: VecDeque::new(),
            order,
            window,
            bounds,
            bytes: if needs_outputs {
                BYTES_WITH_OUTPUT
            } else {
                BYTES
            },
            fleet,
        }
    }

    /// Whether nothing is in flight.
    pub(super) fn is_empty(&self) -> bool {
        self.order.next() == self.fleet.scheduler().end()
    }

    /// How many evaluations devices have finished.
    pub(super) fn on_devices(&self) -> u64 {
        on_devices(&self.fleet)
    }

    /// The next window in the order of the batch, if it is finished.
    pub(super) fn take(&mut self) -> Option<FinishedWindow> {
        let (_, window) = self.order.take()?;
        let next = self.order.next();
        while let Some((first, unit)) = self.in_flight.front()
            && first + unit.len as u64 <= next
        {
            self.in_flight.pop_front();
        }
        Some(window)
    }

    /// Submits windows up to the bound, and starts the batches that the scheduler assigns.
    pub(super) fn start<'scope>(&mut self, workers: &impl Workers<'scope>)
    where
        'r: 'scope,
    {
        loop {
            let scheduler = self.fleet.scheduler_mut();
            let in_flight = scheduler.end() - self.order.next();
            let has_room = in_flight + self.window <= scheduler.bound(&self.bounds);
            if has_room && !self.run.stopped() && self.submit() {
                continue;
            }
            let mut started = false;
            while let Some(start) = self.fleet.start() {
                started = true;
                self.begin(start, workers);
                // If the calling thread did this work, it reports progress before the next.
                if self.run.runner.pool.is_none() {
                    break;
                }
            }
            if !started || self.run.runner.executors.threads.is_none() {
                return;
            }
        }
    }

    /// Submits one more window; returns whether there was one.
    fn submit(&mut self) -> bool {
        let units = self.units.window(self.window as usize);
        let programs = self.run.batch.programs();
        let items = units.iter().map(|unit| {
            let item = Item {
                kind: kind(&programs[unit.program as usize]),
                bytes: self.bytes,
            };
            (item, unit.len as u64)
        });
        let mut number = self.fleet.submit(items).start;
        let has_more = !units.is_empty();
        for unit in units {
            self.in_flight.push_back((number, unit));
            number += unit.len as u64;
        }
        has_more
    }

    /// The units of these evaluations, cut to them.
    fn units_of(&self, items: &Range<u64>) -> Vec<Unit> {
        let first = self
            .in_flight
            .partition_point(|(start, _)| *start <= items.start);
        let on = self.in_flight.range(first.saturating_sub(1)..);
        on.take_while(|(start, _)| *start < items.end)
            .map(|(start, unit)| {
                let before = items.start.saturating_sub(*start) as usize;
                let behind = (items.end - start) as usize;
                let (unit, _) = unit.split_at(self.run.batch, behind);
                if before > 0 {
                    unit.split_at(self.run.batch, before).1
                } else {
                    unit
                }
            })
            .collect()
    }

    fn begin<'scope>(&mut self, start: Start, workers: &impl Workers<'scope>)
    where
        'r: 'scope,
    {
        let (run, units) = (self.run, self.units_of(&start.items));
        let handle = self.fleet.handle();
        match run.device_stage {
            Some(stage) if start.executor != HOST => workers.give(move || {
                let _guard = OnPanic(|| handle.fail(&start, Failure::Failed(PANIC.to_owned())));
                let began = Instant::now();
                let batch = stage.prepare(units);
                handle.hand_over(&start, batch, began.elapsed());
            }),
            _ => {
                let began = Instant::now();
                let units = units.into_iter().map(|unit| (unit, UnitAnswers::default()));
                let window = PendingWindow {
                    units: units.collect(),
                    began,
                };
                workers.give(move || {
                    let _guard = OnPanic(|| handle.fail(&start, Failure::Failed(PANIC.to_owned())));
                    let window = run.evaluate_window(window);
                    let time = window.ended - window.began;
                    handle.made(&start, window, time);
                });
            }
        }
    }

    /// Waits for an event, at most for `time`.
    pub(super) fn wait<'scope>(
        &mut self,
        workers: &impl Workers<'scope>,
        time: Duration,
    ) -> io::Result<()>
    where
        'r: 'scope,
    {
        match self.fleet.wait(time) {
            Event::Nothing => {}
            Event::ByHost { items, answer } => self.order.put(items, answer),
            Event::GivenUp(..) => return Err(lost()),
            Event::ByDevice {
                items,
                answer,
                stages,
                ..
            } => {
                let (run, handle) = (self.run, self.fleet.handle());
                let stage = run.device_stage.ok_or_else(lost)?;
                workers.give(move || {
                    let _guard = OnPanic(|| handle.fallback_done(items.clone(), None));
                    let window = run.evaluate_window(stage.passed(&answer, &stages));
                    handle.fallback_done(items.clone(), Some(window));
                });
            }
        }
        Ok(())
    }
}

/// Calls a function when work panics, so that the fleet learns that it failed.
struct OnPanic<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnPanic<F> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            (self.0)();
        }
    }
}
