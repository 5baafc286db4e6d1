//! Random fault plans: no item is lost, evaluated twice or out of order, whatever fails.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::super::*;
use super::description;
use crate::scheduler::{Placement, Policy};

/// Machines, faults, batches and a scheduler.
struct Plan {
    fleet: Fleet,
    faults: Vec<Fault>,
    batches: Vec<u64>,
    /// How many items may be claimed and not delivered.
    most: u64,
    scheduler: Scheduler,
}

fn pick(random: &mut Pcg64Mcg, values: &[f64]) -> f64 {
    values[random.random_range(0..values.len())]
}

/// Which items a machine leaves to the host.
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
        memory: [10_u64, 1_000, 50_000, 1 << 40][random.random_range(0..4)],
        footprint: random.random_range(1..40),
        leaves: random.random_bool(0.6).then(|| stretches(random)),
    };
    let devices = random.random_range(1..=8);
    let fleet = Fleet {
        host: machine(&mut random),
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
    let faults = (0..random.random_range(0..20))
        .map(|_| Fault {
            device: random.random_range(0..devices),
            call: Call::ALL[random.random_range(0..Call::ALL.len())],
            nth: random.random_range(0..30),
            effect: effect(&mut random),
        })
        .collect();
    let batches = (0..random.random_range(1..4))
        .map(|_| match random.random_range(0..4) {
            0 => random.random_range(0..20),
            1 => random.random_range(20..200),
            _ => random.random_range(200..3000),
        })
        .collect();
    let most = [100, 1000, u64::MAX][random.random_range(0..3)];
    let placement = [Placement::Auto, Placement::Devices, Placement::Host];
    let policy = Policy {
        placement: placement[random.random_range(0..3)],
        threshold: random.random_bool(0.3).then(|| random.random_range(0..500)),
        batch: random.random_bool(0.3).then(|| random.random_range(1..500)),
        time_limit: Duration::from_millis(50),
        ..Policy::default()
    };
    let mut scheduler = Scheduler::new(policy);
    let (unit, in_flight) = (
        pick(&mut random, &[0.0, 1e-8, 1e-5]),
        random.random_range(1..4),
    );
    for _ in 0..devices {
        scheduler.add(description(unit, in_flight));
    }
    Plan {
        fleet,
        faults,
        batches,
        most,
        scheduler,
    }
}

/// Runs the plan of this seed, and returns the last batch, or what is wrong with one.
fn check(seed: u64) -> Result<Trace, String> {
    let Plan {
        fleet,
        faults,
        batches,
        most,
        mut scheduler,
    } = plan(seed);
    let factor = Factor(|item| 1.0 + (random_of(item) % 7) as f64);
    let (mut now, mut last) = (Duration::ZERO, Trace::default());
    for count in batches {
        let simulation = Simulation::new(&fleet, &faults, &mut scheduler, &factor, now);
        let trace = simulation.run(count, most);
        now += trace.makespan;
        // `Order` panics if an item comes twice.
        if !trace.delivered.iter().copied().eq(0..count) {
            let got = trace.delivered.len();
            return Err(format!(
                "seed {seed}: {got} items of {count}, or not in order"
            ));
        }
        if !scheduler.is_over() {
            return Err(format!("seed {seed}: {scheduler:?} is not over"));
        }
        last = trace;
    }
    Ok(last)
}

/// `FAULT_PLANS` sets the number of plans, 10,000 by default: a million of them take some ten minutes in a release
/// build (`cargo test --release --package gpu-sched plans`).
#[test]
fn random_plans_lose_nothing() {
    let plans = std::env::var("FAULT_PLANS").map_or(10_000, |plans| plans.parse().unwrap());
    let (mut given_back, mut left) = (0, 0);
    for seed in 0..plans {
        match check(seed) {
            Ok(trace) => {
                given_back += u64::from(trace.claimed > trace.windows.len() as u64);
                left += u64::from(trace.left > 0);
            }
            Err(error) => panic!("{error}"),
        }
    }
    // The plans must have had effects.
    assert!(given_back > 100 && left > 100, "{given_back} {left}");
}
