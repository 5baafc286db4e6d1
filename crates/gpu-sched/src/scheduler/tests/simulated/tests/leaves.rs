//! Devices that leave runs of some hundreds of consecutive items to the host, like the evaluations of one program.

use super::super::*;
use super::{cost, description, even, fleet, items, of, scheduler};
use crate::cost::Cost;
use crate::scheduler::{Placement, Policy};
use crate::work::{Fallback, Kind};

const HOST_TIMES: (f64, f64) = (1e-6, 3e-6);

/// A host, and a device that is this many times slower and leaves this part of the items.
fn leaving(times_slower: f64, part: f64, length: u64, bails_out: bool) -> Fleet {
    let mut fleet = fleet(&[(50e-6, HOST_TIMES.1 * times_slower)], HOST_TIMES);
    let stretches = Stretches {
        part,
        length,
        bails_out,
    };
    fleet.devices[0].leaves.insert(Kind(1), stretches);
    fleet
}

/// The least time for these items if it were known which of them the device skips. It tries as many of the items that
/// it bails out of as their average part.
fn best_split(fleet: &Fleet, numbers: Range<u64>) -> f64 {
    let (host, device) = (&fleet.host, &fleet.devices[0]);
    let count = (numbers.end - numbers.start) as f64;
    let left = device.leaves[&Kind(1)];
    let most = numbers.filter(|item| !left.leave(*item)).count() as f64;
    let unit = if left.bails_out {
        device.unit * count / most.max(1.0)
    } else {
        device.unit
    };
    let host_alone = host.overhead + count * host.unit;
    let balanced = (host_alone - device.overhead) / (host.unit + unit);
    let made = balanced.clamp(0.0, most);
    if made < 1.0 {
        return host_alone;
    }
    let on_host = host.overhead + (count - made) * host.unit;
    on_host.max(device.overhead + made * unit).min(host_alone)
}

fn mean(times: &[f64]) -> f64 {
    times.iter().sum::<f64>() / times.len() as f64
}

/// The times of workloads with this placement, and of the best splits.
fn run(fleet: &Fleet, placement: Placement, count: usize, lots: usize) -> (Vec<f64>, Vec<f64>) {
    let policy = Policy {
        placement,
        ..Policy::default()
    };
    let mut scheduler = scheduler(fleet, (1.0, 1.0), policy);
    let (mut now, faults) = (Duration::ZERO, Faults::default());
    let (mut times, mut best) = (Vec::new(), Vec::new());
    for _ in 0..lots {
        let first = scheduler.end();
        let simulation = Simulation::new(fleet, &faults, &mut scheduler, even, now);
        let trace = simulation.run(&items(count));
        assert_eq!(trace.answers.len(), count);
        now += trace.makespan;
        times.push(trace.makespan.as_secs_f64());
        best.push(best_split(fleet, first..first + count as u64));
    }
    (times, best)
}

/// The parts that fall back, for stretches that the device skips, or tries and bails out of.
fn cases() -> impl Iterator<Item = (f64, bool)> {
    let parts = [0.35, 0.65, 1.0].into_iter();
    let cases = parts.flat_map(|part| [(part, false), (part, true)]);
    cases.chain([(0.0, false)])
}

#[test]
fn what_a_device_leaves_misleads_nobody() {
    for (part, bails_out) in cases() {
        // A hundred and ten times slower than the host, as fast, ten times faster.
        for times_slower in [100.0, 10.0, 1.0, 0.1] {
            for (count, length) in [(10_000, 100), (50_000, 1000)] {
                let fleet = leaving(times_slower, part, length, bails_out);
                let (times, best) = run(&fleet, Placement::Auto, count, 7);
                // The first workloads measure.
                let (later, best) = (mean(&times[2..]), mean(&best[2..]));
                assert!(
                    later <= best * 1.1,
                    "{times_slower} {part} {bails_out} {count} {length}: {later} of {best}"
                );
            }
        }
    }
}

#[test]
fn a_device_that_leaves_items_is_no_worse_than_the_best_fixed_choice() {
    for (part, bails_out) in cases() {
        for times_slower in [100.0, 10.0, 1.0, 0.1] {
            for (count, length) in [(100, 30), (1000, 300), (5000, 1000)] {
                let fleet = leaving(times_slower, part, length, bails_out);
                // The first workloads measure: a small one says little about what falls back.
                let time = |placement| mean(&run(&fleet, placement, count, 40).0[20..]);
                let auto = time(Placement::Auto);
                let best = time(Placement::Host).min(time(Placement::Devices));
                assert!(
                    auto <= best * 1.15,
                    "{times_slower} {part} {bails_out} {count} {length}: {auto} of {best}"
                );
            }
        }
    }
}

#[test]
fn a_slow_device_is_not_taken_for_a_fast_one_since_it_leaves_items() {
    // Nothing is known: the first stretches come back at once.
    let fleet = leaving(100.0, 0.35, 1000, false);
    let fast = Cost {
        overhead: 50e-6,
        bandwidth: f64::INFINITY,
        unit: HOST_TIMES.1 / 10.0,
    };
    let mut scheduler = of(
        description(cost(&fleet.host), 4),
        [description(fast, 3)],
        Policy::default(),
    );
    let (mut now, faults, count) = (Duration::ZERO, Faults::default(), 100_000);
    for round in 0..4 {
        let simulation = Simulation::new(&fleet, &faults, &mut scheduler, even, now);
        let trace = simulation.run(&items(count));
        now += trace.makespan;
        let made = trace.items(1) - trace.left;
        // It can finish a hundredth in time.
        assert!(made <= 1200, "{made} in round {round}");
        let alone = fleet.host.overhead + count as f64 * fleet.host.unit;
        let time = trace.makespan.as_secs_f64();
        assert!(time <= alone * 1.05, "{time} of {alone} in round {round}");
    }
    assert!(scheduler.costs(1).of(Kind(1)).unit > HOST_TIMES.1 * 50.0);
}

#[test]
fn kinds_that_are_left_are_told_from_others() {
    let mut fleet = fleet(&[(50e-6, 0.3e-6)], HOST_TIMES);
    let all = Stretches {
        part: 1.0,
        length: 100,
        bails_out: false,
    };
    fleet.devices[0].leaves.insert(Kind(2), all);
    let mut scheduler = scheduler(&fleet, (1.0, 1.0), Policy::default());
    let item = |at: usize| Item {
        kind: Kind(1 + (at / 700 % 2) as u16),
        bytes: 1000,
    };
    let both: Vec<Item> = (0..40_000).map(item).collect();
    let (mut now, faults) = (Duration::ZERO, Faults::default());
    for _ in 0..5 {
        let trace = Simulation::new(&fleet, &faults, &mut scheduler, even, now).run(&both);
        now += trace.makespan;
    }
    let made = |kind| scheduler.costs(1).fallback_of(Kind(kind)).made();
    assert!(made(1) > 0.99 && made(2) < 0.05, "{} {}", made(1), made(2));
    // The host gets one kind, and the device the other, at which it is faster.
    let trace = Simulation::new(&fleet, &faults, &mut scheduler, even, now).run(&both);
    let best = 20_000.0 * fleet.host.unit;
    let time = trace.makespan.as_secs_f64();
    assert!(time <= best * 1.1, "{time} of {best}");
}

#[test]
fn fallback_work_is_the_hosts_until_it_is_done() {
    let policy = Policy {
        placement: Placement::Devices,
        ..Policy::default()
    };
    let mut scheduler = Scheduler::new(description(cost(&Machine::new(1e-6, 1e-3)), 4), policy);
    scheduler.add(description(cost(&Machine::new(1e-6, 1e-6)), 3));
    scheduler.submit([(items(1)[0], 30)]);
    let start = scheduler.start(Duration::ZERO).unwrap();
    assert_eq!((start.executor, scheduler.pending.is_empty()), (1, true));
    let made = Made {
        fallback: vec![Fallback {
            kind: Kind(1),
            skipped: 20,
            bailed_out: u64::MAX,
        }],
        ..Made::default()
    };
    let now = Duration::from_millis(1);
    let count = start.items.end - start.items.start;
    let ended = scheduler.ended(now, start.batch, Ok(made));
    assert_eq!(ended, Ended::Done(start.items.clone()));
    assert!(!scheduler.pending.is_empty());
    // At most all of them fall back.
    assert_eq!(scheduler.activity(1).items, 0);
    let ready = scheduler.ready(HOST, now);
    assert!((ready - 1e-3 * count as f64).abs() < 2e-6, "{ready}");
    let later = Duration::from_millis(1 + 2 * count);
    scheduler.fallback_done(later, &start.items);
    // Reports of fallback work that does not exist are ignored.
    scheduler.fallback_done(later, &start.items);
    assert!(scheduler.pending.is_empty() && scheduler.ready(HOST, later) == 0.0);
    // The host took two milliseconds for each.
    let unit = scheduler.costs(HOST).of(Kind(1)).unit;
    assert!((unit - 2e-3).abs() < 1e-4, "{unit}");
}

/// Every tenth stretch takes twenty times as long: kinds do not tell programs apart that do.
fn long_stretches(item: u64) -> f64 {
    if answer(item / 1000).is_multiple_of(10) {
        20.0
    } else {
        1.0
    }
}

#[test]
fn stretches_that_take_long_hold_nobody_up() {
    for times_slower in [100.0, 10.0, 3.0, 1.0, 0.1] {
        for part in [0.0, 0.35] {
            let fleet = leaving(times_slower, part, 1000, false);
            let mut scheduler = scheduler(&fleet, (1.0, 1.0), Policy::default());
            let (mut now, faults, count) = (Duration::ZERO, Faults::default(), 50_000);
            let (mut times, mut best) = (Vec::new(), Vec::new());
            for _ in 0..8 {
                let first = scheduler.end();
                let numbers = first..first + count as u64;
                let simulation =
                    Simulation::new(&fleet, &faults, &mut scheduler, long_stretches, now);
                let trace = simulation.run(&items(count));
                now += trace.makespan;
                times.push(trace.makespan.as_secs_f64());
                let stretches = &fleet.devices[0].leaves[&Kind(1)];
                let of_device = numbers.clone().filter(|item| !stretches.leave(*item));
                let most: f64 = of_device.map(long_stretches).sum();
                let all: f64 = numbers.map(long_stretches).sum();
                let rate = 1.0 + times_slower.recip();
                let made = (all / rate / times_slower).min(most);
                best.push((all - made) * fleet.host.unit);
            }
            let (later, best) = (mean(&times[2..]), mean(&best[2..]));
            assert!(
                later <= best * 1.3,
                "{times_slower} {part}: {later} of {best}"
            );
        }
    }
}
