use gpu_sim::emulated::{EmulatedDevice, Emulation};
use gpu_sim::faulty::{Call, Effect, FaultPlan, Faulty, InjectedFault};
use gpu_sim::open;

use super::*;

#[test]
fn the_sample_has_programs_of_all_lengths_and_spreads_evaluations_over_them() {
    let sample = Sample::new(u32::MAX);
    assert!(
        sample.programs.len() >= 3 * PROGRAMS,
        "{}",
        sample.programs.len()
    );
    let mut counts = vec![0; sample.programs.len()];
    let mut verdict = 0;
    for span in sample.spread(1000) {
        assert_eq!(span.verdict, verdict);
        verdict += span.pairs.len() as u32;
        counts[span.program as usize] += span.pairs.len();
        let of_program = &sample.pairs_of[span.program as usize];
        assert!(of_program.start <= span.pairs.start && span.pairs.end <= of_program.end);
    }
    assert_eq!(verdict, 1000);
    let least = 1000 / counts.len();
    assert!(
        counts
            .iter()
            .all(|count| [least, least + 1].contains(count))
    );
}

#[test]
fn configurations_are_tried_on_a_batch_that_fills_the_device() {
    let of = |multiprocessors, warps, bytes| Information {
        name: "GPU".to_owned(),
        kind: DeviceKind::Cuda,
        capability: (9, 0),
        multiprocessors,
        warps,
        shared_bytes: 65_536,
        multiprocessor_shared_bytes: 65_536,
        bytes,
        driver: None,
    };
    // Four evaluations side by side in each resident warp.
    assert_eq!(batch_size(&of(132, 64, 141 << 30)), 132 * 64 * 4);
    assert_eq!(batch_size(&of(40, 32, 16 << 30)), 40 * 32 * 4);
    assert_eq!(batch_size(&of(2, 32, 2 << 30)), FULL_BATCH);
}

#[test]
fn the_batch_of_launch_configurations_grows_while_it_is_fast() {
    let grown = |seconds: f64| {
        let mut sizes = vec![FIRST_BATCH];
        while let Some(next) = larger_batch(
            sizes[sizes.len() - 1],
            10_000,
            Duration::from_secs_f64(seconds * sizes[sizes.len() - 1] as f64),
            BUDGET / 2,
        ) {
            sizes.push(next);
        }
        sizes
    };
    assert_eq!(grown(1e-7), [64, 256, 1024, 4096, 10_000]);
    // 4,096 would take 0.12 s, of half a second that eight configurations have.
    assert_eq!(grown(3e-5), [64, 256, 1024]);
    assert_eq!(grown(1.0), [64]);
    assert_eq!(larger_batch(8, 8, Duration::ZERO, BUDGET), None);
}

fn open_emulated() -> Option<Open<EmulatedDevice>> {
    EmulatedDevice::fingerprint()?;
    Some(Box::new(|| open::emulated(0, &Emulation::default())))
}

#[test]
fn every_configuration_is_timed_within_the_budget() {
    let Some(mut open) = open_emulated() else {
        return;
    };
    // Its time is over before the first launch.
    let best = search(open().unwrap(), 8, Duration::ZERO).unwrap();
    assert_eq!(best, None);
    let long = Duration::from_secs(600);
    let best = search(open().unwrap(), 8, long).unwrap().unwrap();
    assert_eq!(best.tried, 48);
    assert!(best.time > Duration::ZERO && best.time <= best.default_time);
    // Arguments have no room in so little memory.
    let emulation = Emulation {
        bytes: 4096,
        ..Emulation::default()
    };
    let small = open::emulated(0, &emulation).unwrap();
    assert_eq!(search(small, 8, long).unwrap(), None);
}

#[test]
fn a_device_that_is_not_there_or_fails_is_told() {
    let gone: Open<EmulatedDevice> = Box::new(|| Err(Unavailable::NoDevice));
    let error = tune(gone, BUDGET).unwrap_err();
    assert_eq!(error.to_string(), Unavailable::NoDevice.to_string());
    let Some(mut open) = open_emulated() else {
        return;
    };
    for (effect, message) in [
        (Effect::Lost, "the device is lost"),
        (Effect::Driver, "driver error"),
    ] {
        let faults = vec![InjectedFault {
            call: Call::Launch,
            number: 0,
            effect,
        }];
        let outages = Vec::new();
        let mut faulty = Some(Faulty::new(open().unwrap(), FaultPlan { faults, outages }));
        let faulty = faulty.take().unwrap();
        let error = search(faulty, 8, BUDGET).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    }
    // A simulated device says nothing about configurations.
    assert_eq!(tune(open, BUDGET).unwrap(), None);
}
