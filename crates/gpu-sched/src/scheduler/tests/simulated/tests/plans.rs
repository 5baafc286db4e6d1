//! Random fault plans: no item is lost, evaluated twice or out of order, whatever fails.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::super::*;
use super::{description, of};
use crate::cost::Cost;
use crate::scheduler::{Placement, Policy};
use crate::work::Kind;

/// Machines, faults, workloads and a scheduler.
struct Plan {
    fleet: Fleet,
    faults: Faults,
    lots: Vec<Vec<Item>>,
    scheduler: Scheduler,
}

fn pick(random: &mut Pcg64Mcg, values: &[f64]) -> f64 {
    values[random.random_range(0..values.len())]
}

/// Which items of a machine fall back to the host.
fn stretches(random: &mut Pcg64Mcg) -> Stretches {
    Stretches {
        part: pick(random, &[0.1, 0.35, 0.65, 1.0]),
        length: random.random_range(1..500),
        bails_out: random.random_bool(0.3),
    }
}

/// The plan of this seed.
fn plan(seed: u64) -> Plan {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let machine = |random: &mut Pcg64Mcg| Machine {
        overhead: pick(random, &[1e-6, 20e-6, 50e-6, 1e-3]),
        unit: pick(random, &[1e-7, 1e-6, 1e-5]),
        bandwidth: pick(random, &[1e8, 1e10, f64::INFINITY]),
        memory: *[10_u64, 1_000, 50_000, 1 << 40]
            .get(random.random_range(0..4))
            .unwrap_or(&1000),
        footprint: random.random_range(1..40),
        leaves: (0..random.random_range(0..3))
            .map(|kind| (Kind(kind), stretches(random)))
            .collect(),
    };
    let devices = random.random_range(1..=8);
    let fleet = Fleet {
        host: Machine {
            memory: u64::MAX,
            ..machine(&mut random)
        },
        devices: (0..devices).map(|_| machine(&mut random)).collect(),
        preparers: random.random_range(1..=4),
        prepare: pick(&mut random, &[0.0, 1e-7, 1e-5]),
    };
    let effect = |random: &mut Pcg64Mcg| match random.random_range(0..6) {
        0 | 1 => Effect::OutOfMemory,
        2 => Effect::Fail,
        3 => Effect::Slow(pick(random, &[3.0, 100.0, 1e5])),
        4 => Effect::Never,
        _ => Effect::Disappear {
            back: random
                .random_bool(0.7)
                .then(|| pick(random, &[1e-4, 0.1, 3.0])),
        },
    };
    let count = random.random_range(0..20);
    let on_devices = (0..count)
        .map(|_| Fault {
            device: random.random_range(0..devices),
            call: Call::ALL[random.random_range(0..Call::ALL.len())],
            nth: random.random_range(0..30),
            effect: effect(&mut random),
        })
        .collect();
    let lots: Vec<usize> = (0..random.random_range(1..4))
        .map(|_| match random.random_range(0..4) {
            0 => random.random_range(0..20),
            1 => random.random_range(20..200),
            _ => random.random_range(200..3000),
        })
        .collect();
    let lots: Vec<Vec<Item>> = lots
        .iter()
        .map(|count| {
            let item = |_| Item {
                kind: Kind(random.random_range(0..3)),
                bytes: random.random_range(0..5000),
            };
            (0..*count).map(item).collect()
        })
        .collect();
    // Some items fail on the host as well: only these are given up, if the host gets them.
    let on_host: Vec<u64> = (0..random.random_range(0..3))
        .map(|_| random.random_range(0..3000))
        .collect();
    let faults = Faults {
        on_devices,
        on_host,
    };
    let placement = [Placement::Auto, Placement::Devices, Placement::Host];
    let policy = Policy {
        placement: placement[random.random_range(0..3)],
        threshold: random.random_bool(0.3).then(|| random.random_range(0..500)),
        batch: random.random_bool(0.3).then(|| random.random_range(1..500)),
        time_limit: Duration::from_millis(50),
        ..Policy::default()
    };
    let guess = Cost {
        overhead: pick(&mut random, &[0.0, 1e-5, 1e-2]),
        bandwidth: 1e9,
        unit: pick(&mut random, &[0.0, 1e-8, 1e-5]),
    };
    let in_flight = random.random_range(1..4);
    let scheduler = of(
        description(guess, 2),
        (0..devices).map(|_| description(guess, in_flight)),
        policy,
    );
    Plan {
        fleet,
        faults,
        lots,
        scheduler,
    }
}

/// Runs the plan of this seed, and returns how the result differs from that of a run without faults.
fn check(seed: u64) -> Result<Trace, String> {
    let Plan {
        fleet,
        faults,
        lots,
        mut scheduler,
    } = plan(seed);
    let factor = |item: u64| 1.0 + (answer(item) % 7) as f64;
    let (mut now, mut last) = (Duration::ZERO, Trace::default());
    let mut begin = 0;
    for items in &lots {
        let simulation = Simulation::new(&fleet, &faults, &mut scheduler, factor, now);
        let trace = simulation.run(items);
        now += trace.makespan;
        let expected = (0..items.len() as u64).map(|item| (item, answer(begin + item)));
        if !trace.answers.iter().copied().eq(expected) {
            let (got, wanted) = (trace.answers.len(), items.len());
            return Err(format!(
                "seed {seed}: {got} answers of {wanted}, or not in order"
            ));
        }
        let mut made: Vec<_> = trace.made.iter().map(|(_, items)| items.clone()).collect();
        made.extend(trace.given_up.iter().map(|item| *item..item + 1));
        made.sort_unstable_by_key(|items| items.start);
        let mut end = 0;
        for items in made {
            if items.start != end {
                return Err(format!("seed {seed}: {items:?} after {end}"));
            }
            end = items.end;
        }
        for item in &trace.given_up {
            if !faults.on_host.contains(&(item + begin)) {
                return Err(format!("seed {seed}: {item} was given up"));
            }
        }
        if !scheduler.pending.is_empty() {
            return Err(format!("seed {seed}: what was left counts as not made"));
        }
        if scheduler.left() > 0 {
            return Err(format!("seed {seed}: {} items are left", scheduler.left()));
        }
        begin += items.len() as u64;
        last = trace;
    }
    Ok(last)
}

fn check_all(seeds: Range<u64>) {
    let (mut split, mut failed, mut left) = (0, 0, 0);
    for seed in seeds {
        match check(seed) {
            Ok(trace) => {
                split += u64::from(trace.started > trace.made.len() as u64);
                failed += u64::from(!trace.given_up.is_empty());
                left += u64::from(trace.left > 0);
            }
            Err(error) => panic!("{error}"),
        }
    }
    // The plans must have had effects.
    assert!(
        split > 100 && failed > 0 && left > 100,
        "{split} {failed} {left}"
    );
}

/// `FAULT_PLANS` sets the number of plans, 10,000 by default: a million of them take some ten minutes in a release
/// build (`cargo test --release --package gpu-sched plans`).
#[test]
fn random_plans_lose_nothing() {
    let plans = std::env::var("FAULT_PLANS").map_or(10_000, |plans| plans.parse().unwrap());
    check_all(0..plans);
}
