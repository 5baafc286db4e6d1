//! The conformance suite, on every device that there may be.
//!
//! `ARC_CASES` sets the number of cases an operation (300), `ARC_SEED` the seed, and
//! `ARC_OPERATION` the one operation to run.

use std::collections::BTreeMap;

use gpu_kernels::Engine;
use gpu_kernels::conformance::{self, Cases, Tally};
use gpu_kernels::device::emulated::{EmulatedDevice, Emulation, LaneOrder};
use gpu_kernels::operations::OPERATIONS;

fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(otherwise)
}

fn main() {
    let mut all: BTreeMap<usize, Tally> = BTreeMap::new();
    let only = std::env::var("ARC_OPERATION").ok();
    for order in [
        LaneOrder::Ascending,
        LaneOrder::Descending,
        LaneOrder::Random(7),
    ] {
        let engine = Engine::new(
            EmulatedDevice::new(
                0,
                &Emulation {
                    order,
                    ..Emulation::default()
                },
            )
            .expect("device"),
        );
        let mut cases = Cases::new(setting("ARC_SEED", 1));
        for opcode in 0..OPERATIONS.len() {
            if only
                .as_ref()
                .is_some_and(|name| name != OPERATIONS[opcode].name)
            {
                continue;
            }
            let count = setting("ARC_CASES", 300);
            let made = (0..count * 8)
                .filter_map(|_| cases.of(opcode))
                .take(count as usize)
                .collect();
            let result = conformance::check(&engine, made)
                .unwrap_or_else(|error| panic!("{}: {error}", OPERATIONS[opcode].name));
            for (opcode, tally) in result {
                all.entry(opcode).or_default().add(tally);
            }
        }
    }
    for (opcode, tally) in &all {
        println!(
            "{:<24} {tally}  {:?}",
            OPERATIONS[*opcode].name, tally.handed_back
        );
        if let Some(first) = &tally.first {
            println!("{first}");
        }
    }
    assert!(all.values().all(|tally| tally.different == 0));
}
