//! Random programs, calls of all primitives and variations of built-in programs on the emulated
//! device, their results of any type compared with the reference's:
//! `cargo run --example random_on_device -p arc-check -- CASES [SEED]`.

use std::error::Error;

use arc_check::conformance::{ResultTally, random_results, results};
use gpu_kernels::Engine;
use gpu_kernels::device::emulated::{Emulation, LaneOrder};
use gpu_kernels::device::open;

/// Cases of a launch.
const PORTION: u64 = 300;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let cases: u64 = arguments.next().ok_or("how many cases?")?.parse()?;
    let seed: u64 = arguments.next().map_or(Ok(1), |text| text.parse())?;
    let mut tally = ResultTally::default();
    for portion in 0..cases.div_ceil(PORTION) {
        let seed = seed
            .wrapping_mul(0x9E37_79B9_7F4A_7C15)
            .wrapping_add(portion);
        let order = match portion % 3 {
            0 => LaneOrder::Ascending,
            1 => LaneOrder::Descending,
            _ => LaneOrder::Random(seed),
        };
        let engine = Engine::new(open::emulated(
            0,
            &Emulation {
                order,
                ..Emulation::default()
            },
        )?);
        let cases = random_results(seed, PORTION.min(cases - portion * PORTION));
        tally.add(results(&engine, cases)?);
        if let Some(first) = &tally.first {
            println!("DIFFERENT in portion {portion}\n{first}");
            break;
        }
    }
    println!(
        "{} the same, {} of them with loops or lists; {} fail; bail-outs {:?}; {} differ",
        tally.same, tally.with_arena, tally.failing, tally.bail_outs, tally.different
    );
    let mut host_only: Vec<_> = tally.host_only.into_iter().collect();
    host_only.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    for (reason, count) in host_only.iter().take(60) {
        println!("{count:>6}  {reason}");
    }
    Ok(())
}
