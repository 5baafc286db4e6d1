//! Devices that leave items to the host: stretches of some hundreds, as evaluations of one program are.

use super::super::*;
use super::{even, fleet, items, scheduler};
use crate::scheduler::Policy;
use crate::work::Kind;

const HOST_TIMES: (f64, f64) = (1e-6, 3e-6);

/// A host and a device so many times slower that leaves this part of the items.
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

/// The least time of these items, were it known which of them are left.
fn best_split(fleet: &Fleet, numbers: Range<u64>) -> f64 {
    let (host, device) = (&fleet.host, &fleet.devices[0]);
    let count = (numbers.end - numbers.start) as f64;
    let left = device.leaves[&Kind(1)];
    let most = numbers.filter(|item| !left.leave(*item)).count() as f64;
    let host_alone = host.overhead + count * host.unit;
    let balanced = (host_alone - device.overhead) / (host.unit + device.unit);
    let made = balanced.clamp(0.0, most);
    if made < 1.0 {
        return host_alone;
    }
    let on_host = host.overhead + (count - made) * host.unit;
    on_host.max(device.overhead + made * device.unit).min(host_alone)
}

#[test]
fn explore() {
    for slower in [100.0, 10.0, 1.0, 0.1] {
        for part in [0.0, 0.35, 0.65, 1.0] {
            for bails_out in [false, true] {
            for (count, length) in [(100, 30), (1000, 300), (10_000, 300), (10_000, 1000), (100_000, 1000), (100_000, 5000)] {
                let fleet = leaving(slower, part, length, bails_out);
                let mut scheduler = scheduler(&fleet, (1.0, 1.0), Policy::default());
                let mut now = Duration::ZERO;
                let mut ratios = Vec::new();
                let mut to_alone = Vec::new();
                let faults = Faults::default();
                for _ in 0..40 {
                    let first = scheduler.end();
                    let trace = Simulation::new(&fleet, &faults, &mut scheduler, even, now)
                        .run(&items(count));
                    now += trace.makespan;
                    let best = best_split(&fleet, first..first + count as u64);
                    ratios.push(trace.makespan.as_secs_f64() / best);
                    to_alone.push(trace.makespan.as_secs_f64() / (count as f64 * 3e-6 + 1e-6));
                }
                let mean = ratios.iter().sum::<f64>() / 40.0;
                let mut sorted = ratios.clone();
                sorted.sort_by(f64::total_cmp);
                println!("slower {slower:>5} part {part:.2} bails {bails_out:>5} count {count:>6} length {length:>4}: first {:.2} mean {mean:.2} median {:.2} max {:.2}  alone mean {:.2}", ratios[0], sorted[20], sorted[39], to_alone.iter().sum::<f64>() / 40.0);
            }}
        }
    }
}
