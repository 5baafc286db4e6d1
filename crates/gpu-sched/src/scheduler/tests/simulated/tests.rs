use super::*;
use crate::cost::Cost;
use crate::scheduler::{ExecutorDescription, Placement, Policy};
use crate::work::Kind;

fn description(guess: Cost, in_flight: usize) -> ExecutorDescription {
    ExecutorDescription {
        name: "simulated".to_owned(),
        guess,
        batch: (1, 1 << 20),
        in_flight,
        free: None,
    }
}

fn cost(machine: &Machine) -> Cost {
    Cost {
        overhead: machine.overhead,
        bandwidth: machine.bandwidth,
        unit: machine.unit,
    }
}

fn of(
    host: ExecutorDescription,
    devices: impl IntoIterator<Item = ExecutorDescription>,
    policy: Policy,
) -> Scheduler {
    let mut scheduler = Scheduler::new(host, policy);
    for device in devices {
        scheduler.add(device);
    }
    scheduler
}

/// A scheduler whose guesses are right up to these factors.
fn scheduler(fleet: &Fleet, wrong: (f64, f64), policy: Policy) -> Scheduler {
    let guess = |machine: &Machine, factor: f64| {
        let cost = cost(machine);
        Cost {
            overhead: cost.overhead * factor,
            unit: cost.unit * factor,
            ..cost
        }
    };
    let devices = fleet.devices.iter();
    let devices = devices.map(|device| description(guess(device, wrong.1), 3));
    of(description(guess(&fleet.host, wrong.0), 4), devices, policy)
}

fn items(count: usize) -> Vec<Item> {
    vec![
        Item {
            kind: Kind(1),
            bytes: 1000
        };
        count
    ]
}

fn even(_: u64) -> f64 {
    1.0
}

fn fleet(devices: &[(f64, f64)], host: (f64, f64)) -> Fleet {
    Fleet {
        host: Machine::new(host.0, host.1),
        devices: devices
            .iter()
            .map(|(overhead, unit)| Machine::new(*overhead, *unit))
            .collect(),
        preparers: 4,
        prepare: 0.0,
    }
}

/// The times of workloads, run one after the other.
fn lots(fleet: &Fleet, scheduler: &mut Scheduler, lots: &[usize]) -> Vec<f64> {
    let mut now = Duration::ZERO;
    let faults = Faults::default();
    lots.iter()
        .map(|count| {
            let trace = Simulation::new(fleet, &faults, scheduler, even, now).run(&items(*count));
            now += trace.makespan;
            assert_eq!(trace.answers.len(), *count);
            trace.makespan.as_secs_f64()
        })
        .collect()
}

/// The time of the host alone or one device alone, whichever is faster.
fn best_fixed(fleet: &Fleet, count: usize) -> f64 {
    let time = |machine: &Machine| machine.overhead + count as f64 * machine.unit;
    let devices = fleet.devices.iter().map(time);
    devices.fold(time(&fleet.host), f64::min)
}

fn devices_only() -> Policy {
    Policy {
        placement: Placement::Devices,
        ..Policy::default()
    }
}

#[test]
fn equal_devices_scale() {
    let of = |devices: usize| fleet(&vec![(50e-6, 5e-6); devices], (1e-6, 50e-6));
    for (devices, count, least) in [
        (4, 800, 3.8),
        (4, 3000, 3.8),
        (4, 100_000, 3.8),
        (8, 100_000, 7.6),
    ] {
        let (one, many) = (of(1), of(devices));
        let time = |fleet: &Fleet| {
            let mut scheduler = scheduler(fleet, (1.0, 1.0), devices_only());
            // The first workload measures.
            lots(fleet, &mut scheduler, &[count; 3])[2]
        };
        let speed_up = time(&one) / time(&many);
        assert!(
            speed_up >= least,
            "{devices} devices, {count} items: {speed_up}"
        );
    }
}

#[test]
fn below_the_threshold_one_device_is_used() {
    let fleet = fleet(&[(50e-6, 5e-6); 4], (1e-6, 50e-6));
    for (count, used) in [(19, 0), (20, 1), (59, 1), (60, 2), (120, 4), (1000, 4)] {
        let mut scheduler = scheduler(&fleet, (1.0, 1.0), Policy::default());
        let faults = Faults::default();
        let simulation = Simulation::new(&fleet, &faults, &mut scheduler, even, Duration::ZERO);
        let trace = simulation.run(&items(count));
        let by = (1..5).filter(|device| trace.items(*device) > 0).count();
        assert_eq!(by, used, "{count} items");
    }
}

#[test]
fn with_a_slower_device_all_end_together() {
    let fleet = fleet(
        &[(50e-6, 5e-6), (50e-6, 5e-6), (50e-6, 5e-6), (50e-6, 20e-6)],
        (1e-6, 50e-6),
    );
    for count in [800, 3000, 10_000, 100_000] {
        // All are assumed to be equal at first.
        let mut scheduler = of(
            description(cost(&fleet.host), 4),
            (0..4).map(|_| description(cost(&fleet.devices[0]), 3)),
            devices_only(),
        );
        let times = lots(&fleet, &mut scheduler, &[count; 4]);
        let rate: f64 = fleet.devices.iter().map(|device| device.unit.recip()).sum();
        let ideal = 50e-6 + count as f64 / rate;
        assert!(times[3] <= ideal * 1.1, "{count}: {times:?}, ideal {ideal}");
        // Even in the first workload, if it is long enough to find out.
        assert!(
            count < 100_000 || times[0] <= ideal * 1.1,
            "{times:?}, {ideal}"
        );
    }
}

#[test]
fn uneven_items_are_pulled() {
    /// Every fiftieth item takes as long as a hundred others.
    fn uneven(item: u64) -> f64 {
        if answer(item).is_multiple_of(50) {
            100.0
        } else {
            1.0
        }
    }
    let fleet = fleet(&[(50e-6, 5e-6); 4], (1e-6, 50e-6));
    let mut scheduler = scheduler(&fleet, (1.0, 1.0), devices_only());
    let faults = Faults::default();
    let count = 20_000;
    let all = items(count);
    let ideal = (0..count as u64).map(uneven).sum::<f64>() * 5e-6 / 4.0;
    let mut now = Duration::ZERO;
    for round in 0..4 {
        let trace = Simulation::new(&fleet, &faults, &mut scheduler, uneven, now).run(&all);
        now += trace.makespan;
        let time = trace.makespan.as_secs_f64();
        assert!(round == 0 || time <= ideal * 1.1, "{time} of {ideal}");
    }
}

/// Factors by which the initial costs of host and device are wrong.
const WRONG: [(f64, f64); 7] = [
    (1.0, 1.0),
    (100.0, 0.01),
    (0.01, 100.0),
    (1000.0, 1.0),
    (1.0, 1000.0),
    (0.001, 0.001),
    (10.0, 10.0),
];

#[test]
fn a_wrong_model_is_corrected() {
    for wrong in WRONG {
        for is_remembered in [false, true] {
            for count in [32, 100, 1000, 10_000, 100_000] {
                let fleet = fleet(&[(50e-6, 1e-6)], (1e-6, 3e-6));
                let mut scheduler = scheduler(&fleet, wrong, Policy::default());
                if is_remembered {
                    for executor in 0..2 {
                        let cost = scheduler.costs(executor).of(Kind(1));
                        let parts = crate::cost::FallbackShares::default();
                        let remembered = [(Kind(1), (cost, parts))].into();
                        let costs = scheduler.costs_mut(executor);
                        costs.recall(&crate::cost::Remembered(remembered));
                    }
                }
                let times = lots(&fleet, &mut scheduler, &[count; 60]);
                let best = best_fixed(&fleet, count);
                let all = times.iter().sum::<f64>() / times.len() as f64;
                let last = times[times.len() - 1];
                assert!(
                    all <= best * 1.1 && last <= best * 1.1,
                    "{wrong:?}, {is_remembered}, {count} items: all {all}, last {last}, best {best}"
                );
            }
        }
    }
}

#[test]
fn as_many_threads_prepare_as_keep_the_device_busy() {
    for (preparers, prepare) in [(1, 0.1e-6), (4, 3e-6), (8, 8e-6), (8, 30e-6)] {
        let mut fleet = fleet(&[(50e-6, 1e-6)], (1e-6, 50e-6));
        fleet.preparers = preparers;
        fleet.prepare = prepare;
        let mut scheduler = scheduler(&fleet, (1.0, 1.0), devices_only());
        let count = 300_000;
        let times = lots(&fleet, &mut scheduler, &[count; 3]);
        let bound = 1e-6_f64.max(prepare / preparers as f64) * count as f64;
        assert!(
            times[2] <= bound * 1.2,
            "{preparers} {prepare}: {times:?} of {bound}"
        );
    }
}

#[test]
fn a_device_is_not_to_blame_for_slow_preparation() {
    let mut fleet = fleet(&[(50e-6, 1e-6)], (1e-6, 50e-6));
    // A batch of 32 items takes longer than the time limit to prepare.
    fleet.prepare = 1.0;
    let mut scheduler = scheduler(&fleet, (1.0, 1.0), devices_only());
    let faults = Faults::default();
    let simulation = Simulation::new(&fleet, &faults, &mut scheduler, even, Duration::ZERO);
    let trace = simulation.run(&items(200));
    assert_eq!((trace.answers.len(), trace.items(1)), (200, 200));
    assert_eq!(scheduler.activity(1).failed, 0);
}

#[test]
fn a_device_that_grows_slow_is_left() {
    let fast = fleet(&[(50e-6, 1e-6)], (1e-6, 3e-6));
    let slow = fleet(&[(50e-6, 100e-6)], (1e-6, 3e-6));
    let mut scheduler = scheduler(&fast, (1.0, 1.0), Policy::default());
    lots(&fast, &mut scheduler, &[3000; 20]);
    let times = lots(&slow, &mut scheduler, &[3000; 40]);
    let best = best_fixed(&slow, 3000);
    assert!(times[39] <= best * 1.1, "{times:?}");
    // And is found again when it is fast.
    let times = lots(&fast, &mut scheduler, &[3000; 80]);
    let best = best_fixed(&fast, 3000);
    assert!(times[79] <= best, "{times:?}");
}

#[test]
fn batches_stay_within_memory_and_find_the_largest() {
    let mut fleet = fleet(&[(50e-6, 1e-6)], (1e-6, 50e-6));
    fleet.devices[0].memory = 100_000_000;
    fleet.devices[0].footprint = 10_000;
    let mut scheduler = scheduler(&fleet, (1.0, 1.0), devices_only());
    let faults = Faults::default();
    let simulation = Simulation::new(&fleet, &faults, &mut scheduler, even, Duration::ZERO);
    let trace = simulation.run(&items(100_000));
    assert_eq!(trace.answers.len(), 100_000);
    assert_eq!(trace.items(HOST), 0);
    assert!(trace.peak[0] <= 100_000_000);
    // A quarter of what is free, in three batches at a time.
    let largest = trace.made.iter().map(|(_, items)| items.end - items.start);
    let largest = largest.max().unwrap();
    assert!((600..=900).contains(&largest), "{largest}");
}

#[test]
fn one_item_that_does_not_fit_goes_to_the_host() {
    let mut fleet = fleet(&[(50e-6, 1e-6)], (1e-6, 50e-6));
    fleet.devices[0].memory = 5;
    fleet.devices[0].footprint = 10;
    let mut scheduler = scheduler(&fleet, (1.0, 1.0), devices_only());
    let faults = Faults::default();
    let simulation = Simulation::new(&fleet, &faults, &mut scheduler, even, Duration::ZERO);
    let trace = simulation.run(&items(100));
    assert_eq!((trace.items(HOST), trace.items(1)), (100, 0));
    assert!(scheduler.activity(1).split > 0);
}

#[test]
fn what_even_the_host_cannot_make_is_given_up_alone() {
    let fleet = fleet(&[], (1e-6, 1e-6));
    let mut scheduler = scheduler(&fleet, (1.0, 1.0), Policy::default());
    let faults = Faults {
        on_host: vec![3, 77],
        ..Faults::default()
    };
    let simulation = Simulation::new(&fleet, &faults, &mut scheduler, even, Duration::ZERO);
    let mut trace = simulation.run(&items(100));
    trace.given_up.sort_unstable();
    assert_eq!(trace.given_up, [3, 77]);
    assert_eq!(trace.answers.len(), 100);
}

mod leaves;
mod plans;

#[test]
fn what_is_submitted_little_by_little_keeps_devices_busy() {
    for (devices, unit) in [(1, 2e-7), (2, 2e-7), (4, 1e-7), (1, 5e-8), (8, 2e-7)] {
        let count = devices * 500_000;
        for has_host in [false, true] {
            // A slow host is left alone.
            let host = if has_host { 1e-6 } else { 1e-3 };
            let mut fleet = fleet(&vec![(50e-6, unit); devices], (1e-5, host));
            fleet.prepare = 1e-8;
            let policy = if has_host {
                Policy::default()
            } else {
                devices_only()
            };
            let mut scheduler = scheduler(&fleet, (1.0, 1.0), policy);
            let (faults, items) = (Faults::default(), items(count));
            let mut now = Duration::ZERO;
            // The first workload measures.
            let times = [0; 2].map(|_| {
                let run = Simulation::new(&fleet, &faults, &mut scheduler, even, now);
                let trace = run.run_within(&(10_000..=1 << 19), &items);
                assert_eq!(trace.answers.len(), count);
                now += trace.makespan;
                trace.makespan.as_secs_f64()
            });
            let rate = devices as f64 / unit + host.recip();
            let ideal = count as f64 / rate;
            assert!(
                times[1] <= ideal * 1.2,
                "{devices} of {unit}, {has_host}: {times:?} of {ideal}"
            );
        }
    }
}
