//! Devices that leave items to the host: stretches of some hundreds, as evaluations of one program are.

use super::super::*;
use super::{even, fleet, items, scheduler};
use crate::scheduler::{Placement, Policy};
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

/// The least time of these items, were it known which of them the device skips; of those that it bails
/// out of it tries as many as there are among all.
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

/// The times of lots by this placement, and the best splits.
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

#[test]
fn explore() {
    for slower in [100.0, 10.0, 1.0, 0.1] {
        for part in [0.0, 0.35, 0.65, 1.0] {
            for bails_out in [false, true] {
                for (count, length) in [
                    (100, 30),
                    (1000, 300),
                    (10_000, 300),
                    (10_000, 1000),
                    (100_000, 1000),
                    (100_000, 5000),
                ] {
                    let fleet = leaving(slower, part, length, bails_out);
                    let (times, best) = run(&fleet, Placement::Auto, count, 40);
                    let (dev, _) = run(&fleet, Placement::Devices, count, 40);
                    let (host, _) = run(&fleet, Placement::Host, count, 40);
                    let ratio: Vec<_> = times.iter().zip(&best).map(|(a, b)| a / b).collect();
                    let mut sorted = ratio.clone();
                    sorted.sort_by(f64::total_cmp);
                    let fixed = mean(&dev).min(mean(&host));
                    println!(
                        "slower {slower:>5} part {part:.2} bails {bails_out:>5} count {count:>6} length {length:>4}: first {:.2} mean {:.2} median {:.2} max {:.2} rest {:.2}; to fixed {:.2}",
                        ratio[0],
                        mean(&times) / mean(&best),
                        sorted[20],
                        sorted[39],
                        mean(&ratio[3..]),
                        mean(&times) / fixed
                    );
                }
            }
        }
    }
}
