use super::*;
use crate::scheduler::{DeviceDescription, Placement, Policy};

mod plans;

pub(super) fn description(unit: f64, in_flight: usize) -> DeviceDescription {
    DeviceDescription {
        name: "simulated".to_owned(),
        unit,
        most: 1 << 20,
        in_flight,
        free: None,
    }
}

/// A scheduler whose guesses are wrong by this factor.
fn scheduler(fleet: &Fleet, wrong: f64, policy: Policy) -> Scheduler {
    let mut scheduler = Scheduler::new(policy);
    for device in &fleet.devices {
        scheduler.add(description(device.unit * wrong, 3));
    }
    scheduler
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

/// Runs batches one after the other, with this room for results.
fn traces(fleet: &Fleet, scheduler: &mut Scheduler, batches: &[u64], most: u64) -> Vec<Trace> {
    let mut now = Duration::ZERO;
    let run = |count: &u64| {
        let trace = Simulation::new(fleet, &[], scheduler, &Factor(even), now).run(*count, most);
        now += trace.makespan;
        assert!(trace.delivered.iter().copied().eq(0..*count));
        trace
    };
    batches.iter().map(run).collect()
}

/// Their times.
fn times(fleet: &Fleet, scheduler: &mut Scheduler, batches: &[u64]) -> Vec<f64> {
    let traces = traces(fleet, scheduler, batches, u64::MAX);
    let time = |trace: Trace| trace.makespan.as_secs_f64();
    traces.into_iter().map(time).collect()
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
            let mut scheduler = scheduler(fleet, 1.0, devices_only());
            // The first batch measures.
            times(fleet, &mut scheduler, &[count; 3])[2]
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
    let default = Policy::default();
    let from_100 = Policy {
        threshold: Some(100),
        ..Policy::default()
    };
    for (policy, count, used) in [
        (&default, 19, 0),
        (&default, 20, 1),
        (&default, 59, 1),
        (&default, 60, 2),
        (&default, 120, 4),
        (&default, 1000, 4),
        (&from_100, 99, 0),
        (&from_100, 100, 3),
    ] {
        let mut scheduler = scheduler(&fleet, 1.0, policy.clone());
        let trace = &traces(&fleet, &mut scheduler, &[count], u64::MAX)[0];
        let by = trace.items.iter().filter(|items| **items > 0).count();
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
        let mut scheduler = Scheduler::new(devices_only());
        for _ in 0..4 {
            scheduler.add(description(5e-6, 3));
        }
        let times = times(&fleet, &mut scheduler, &[count; 4]);
        let rate: f64 = fleet.devices.iter().map(|device| device.unit.recip()).sum();
        let ideal = 50e-6 + count as f64 / rate;
        assert!(times[3] <= ideal * 1.1, "{count}: {times:?}, ideal {ideal}");
        // Even in the first batch, if it is long enough to find out.
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
        if random_of(item).is_multiple_of(50) {
            100.0
        } else {
            1.0
        }
    }
    let fleet = fleet(&[(50e-6, 5e-6); 4], (1e-6, 50e-6));
    let mut scheduler = scheduler(&fleet, 1.0, devices_only());
    let count = 20_000;
    let ideal = (0..count).map(uneven).sum::<f64>() * 5e-6 / 4.0;
    let mut now = Duration::ZERO;
    for round in 0..4 {
        let simulation = Simulation::new(&fleet, &[], &mut scheduler, &Factor(uneven), now);
        let trace = simulation.run(count, u64::MAX);
        now += trace.makespan;
        let time = trace.makespan.as_secs_f64();
        assert!(round == 0 || time <= ideal * 1.1, "{time} of {ideal}");
    }
}

#[test]
fn beside_a_host_a_device_takes_what_it_finishes_in_time_whatever_was_assumed_of_it() {
    for (of_device, wrong) in [
        (1e-6, 1.0),
        (1e-6, 10.0),
        (3e-6, 0.01),
        (100e-6, 0.001),
        (100e-6, 1.0),
    ] {
        for count in [100, 1000, 10_000, 100_000] {
            let fleet = fleet(&[(50e-6, of_device)], (1e-6, 3e-6));
            let mut scheduler = scheduler(&fleet, wrong, Policy::default());
            let times = times(&fleet, &mut scheduler, &[count; 10]);
            let of_host = count as f64 * 3e-6;
            let rate = f64::recip(3e-6) + f64::recip(of_device);
            let ideal = (50e-6 + count as f64 / rate).min(of_host);
            assert!(
                times[9] <= ideal * 1.25 && times[9] <= of_host * 1.1,
                "{of_device} {wrong} {count}: {times:?}, ideal {ideal}, host {of_host}"
            );
        }
    }
}

#[test]
fn a_device_that_grows_slow_gets_less_and_one_that_grows_fast_gets_more() {
    let fast = fleet(&[(50e-6, 1e-6)], (1e-6, 3e-6));
    let slow = fleet(&[(50e-6, 100e-6)], (1e-6, 3e-6));
    let mut scheduler = scheduler(&fast, 1.0, Policy::default());
    let last = |traces: Vec<Trace>| traces[traces.len() - 1].items[0];
    let mut run = |fleet| last(traces(fleet, &mut scheduler, &[3000; 20], u64::MAX));
    let (before, meanwhile, again) = (run(&fast), run(&slow), run(&fast));
    assert!(before > 2000 && meanwhile < 150, "{before} {meanwhile}");
    assert_eq!(before, again);
}

#[test]
fn a_device_is_not_to_blame_for_slow_preparation() {
    let mut fleet = fleet(&[(50e-6, 1e-6)], (1e-6, 50e-6));
    // A window of 32 items takes as long as the time limit to prepare.
    fleet.prepare = 1.0;
    let mut scheduler = scheduler(&fleet, 1.0, devices_only());
    let trace = &traces(&fleet, &mut scheduler, &[200], u64::MAX)[0];
    assert_eq!(trace.items, [200]);
    assert!(
        scheduler
            .activities()
            .all(|(_, activity)| activity.failed == 0)
    );
}

#[test]
fn windows_stay_within_memory_and_find_the_largest() {
    let mut fleet = fleet(&[(50e-6, 1e-6)], (1e-6, 50e-6));
    fleet.devices[0].memory = 100_000_000;
    fleet.devices[0].footprint = 10_000;
    let mut scheduler = scheduler(&fleet, 1.0, devices_only());
    let trace = &traces(&fleet, &mut scheduler, &[100_000], u64::MAX)[0];
    assert_eq!(trace.items, [100_000]);
    assert!(trace.peak[0] <= 100_000_000);
    // A quarter of what is free, in three windows at a time.
    let largest = trace.windows.iter().map(|items| items.end - items.start);
    let largest = largest.max().unwrap();
    assert!((600..=900).contains(&largest), "{largest}");
}

#[test]
fn one_item_that_does_not_fit_goes_to_the_host() {
    let mut fleet = fleet(&[(50e-6, 1e-6)], (1e-6, 50e-6));
    fleet.devices[0].memory = 5;
    fleet.devices[0].footprint = 10;
    let mut scheduler = scheduler(&fleet, 1.0, devices_only());
    let trace = &traces(&fleet, &mut scheduler, &[100], u64::MAX)[0];
    assert_eq!(trace.items, [0]);
    assert!(
        scheduler
            .activities()
            .all(|(_, activity)| activity.split > 0)
    );
}

#[test]
fn with_bounded_room_devices_stay_busy() {
    for (devices, unit) in [(1, 2e-7), (2, 2e-7), (4, 1e-7), (1, 5e-8), (8, 2e-7)] {
        let count = devices as u64 * 500_000;
        for has_host in [false, true] {
            let host = if has_host { 1e-6 } else { 1e-3 };
            let mut fleet = fleet(&vec![(50e-6, unit); devices], (1e-5, host));
            fleet.prepare = 1e-8;
            let policy = if has_host {
                Policy::default()
            } else {
                devices_only()
            };
            let mut scheduler = scheduler(&fleet, 1.0, policy);
            // The first batch measures.
            let traces = traces(&fleet, &mut scheduler, &[count; 2], 1 << 19);
            let time = traces[1].makespan.as_secs_f64();
            let rate = devices as f64 / unit + host.recip();
            let ideal = count as f64 / rate;
            assert!(
                time <= ideal * 1.2,
                "{devices} of {unit}, {has_host}: {time} of {ideal}"
            );
        }
    }
}

#[test]
fn what_devices_leave_is_evaluated_beside_the_rest() {
    for (part, bails_out) in [(0.35, false), (0.35, true), (1.0, false)] {
        for (of_device, length) in [(5e-7, 300), (5e-6, 1000)] {
            let mut fleet = fleet(&[(50e-6, of_device)], (1e-6, 5e-6));
            fleet.devices[0].leaves = Some(Stretches {
                part,
                length,
                bails_out,
            });
            let mut scheduler = scheduler(&fleet, 1.0, Policy::default());
            let times = times(&fleet, &mut scheduler, &[50_000; 3]);
            let of_host = 50_000.0 * 5e-6;
            assert!(
                times[2] <= of_host * 1.05,
                "{part} {bails_out} {of_device}: {times:?} of {of_host}"
            );
        }
    }
}
