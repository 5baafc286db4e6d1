use std::convert::Infallible;

use gpu_sim::emulated::{EmulatedDevice, Emulation};
use gpu_sim::faulty::{Call, Effect, Fault, Faulty, Plan};
use gpu_sim::open;

use super::*;
use crate::options::Mode;

const KINDS: [Kind; 3] = [Kind(0), Kind(2), Kind(3)];

/// A batch on an executor of known costs.
fn trial(kind: Kind, items: u64) -> Trial {
    let seconds = 1e-4 + items as f64 * 1e-6 * f64::from(kind.0 + 1);
    Trial {
        measured: Measured {
            items: items as f64,
            bytes: 0.0,
            seconds,
            copies: 0.0,
        },
        took: Duration::from_secs_f64(seconds),
    }
}

#[test]
fn costs_are_found_by_kind() {
    let run = |kind, items| Ok::<_, Infallible>(Some(trial(kind, items)));
    let Ok(found) = calibrate(&KINDS, BUDGET * 10, run);
    assert_eq!(found.points.len(), KINDS.len() * SIZES.len());
    for kind in KINDS {
        let KindCost { cost, batches, .. } = found.kinds[&kind];
        let unit = 1e-6 * f64::from(kind.0 + 1);
        assert!((cost.unit / unit - 1.0).abs() < 1e-6, "{cost:?}");
        assert!((cost.overhead / 1e-4 - 1.0).abs() < 1e-6, "{cost:?}");
        assert_eq!(batches, SIZES.len() as u64);
    }
    assert_eq!(found.learned().kinds.len(), KINDS.len());
}

#[test]
fn a_budget_is_kept_and_small_batches_come_first() {
    for micros in [0, 1, 200, 2_000, 5_000, 20_000, 60_000] {
        let budget = Duration::from_micros(micros);
        let mut spent = Duration::ZERO;
        let mut last = 0;
        let Ok(found) = calibrate(&KINDS, budget, |kind, items| {
            assert!(items >= last && spent < budget, "{items} after {spent:?}");
            last = items;
            let trial = trial(kind, items);
            spent += trial.took;
            Ok::<_, Infallible>(Some(trial))
        });
        // The last batch may be the first of its kind, of which nothing is known.
        assert!(spent <= budget + trial(KINDS[2], 8).took, "{spent:?}");
        assert_eq!(found.points.is_empty(), micros == 0);
        for point in &found.points {
            assert!(SIZES.contains(&point.items) && KINDS.contains(&point.kind));
        }
    }
}

#[test]
fn what_does_not_fit_into_memory_ends_a_kind_and_not_the_others() {
    let Ok(found) = calibrate(&KINDS, BUDGET * 10, |kind, items| {
        let fits = kind != KINDS[1] || items < 64;
        Ok::<_, Infallible>(fits.then(|| trial(kind, items)))
    });
    let largest = |kind| {
        let of_kind = found.points.iter().filter(|point| point.kind == kind);
        of_kind.map(|point| point.items).max()
    };
    assert_eq!(KINDS.map(largest), [Some(32_768), Some(8), Some(32_768)]);
}

#[test]
fn launch_shapes_are_tried_on_a_batch_that_fills_the_device() {
    let of = |multiprocessors, warps, bytes| Information {
        name: "GPU".to_owned(),
        kind: device::Kind::Cuda,
        capability: (9, 0),
        multiprocessors,
        warps,
        shared_bytes: 65_536,
        multiprocessor_shared_bytes: 65_536,
        bytes,
        driver: None,
    };
    // Four evaluations side by side in each resident warp.
    assert_eq!(shape_batch(&of(132, 64, 141 << 30)), 132 * 64 * 4);
    assert_eq!(shape_batch(&of(40, 32, 16 << 30)), 40 * 32 * 4);
    assert_eq!(shape_batch(&of(2, 32, 2 << 30)), SHAPE_BATCH);
}

#[test]
fn the_batch_of_launch_shapes_grows_while_it_is_fast() {
    let grown = |seconds: f64| {
        let mut sizes = vec![FIRST_SHAPE_BATCH];
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
    // 4,096 would take 0.12 s, of half a second that eight shapes have.
    assert_eq!(grown(3e-5), [64, 256, 1024]);
    assert_eq!(grown(1.0), [64]);
    assert_eq!(larger_batch(8, 8, Duration::ZERO, BUDGET), None);
}

#[test]
fn the_median_of_some_batches_counts_and_not_the_first() {
    let mut calls = 0;
    let Ok(found) = calibrate(&KINDS[..1], BUDGET, |kind, items| {
        calls += 1;
        let mut trial = trial(kind, items);
        // The very first batch, and now and then one.
        if calls % 4 == 1 {
            trial.measured.seconds *= 50.0;
        }
        Ok::<_, Infallible>(Some(trial))
    });
    for point in &found.points {
        assert!((point.seconds - trial(point.kind, point.items).measured.seconds).abs() < 1e-9);
    }
}

#[test]
fn the_sample_has_what_a_device_runs_wherever_there_is_such() {
    let sample = Sample::builtin();
    let kinds = sample.kinds();
    assert!(kinds.len() >= 3, "{kinds:?}");
    for kind in kinds {
        for items in [1, 8, 100] {
            assert_eq!(sample.batch(kind, items).evaluations(), items);
        }
    }
    assert_eq!(sample.batch(Kind(99), 5).evaluations(), 0);
}

#[test]
fn the_host_is_measured_on_evaluations_that_are_right() {
    let sample = Sample::builtin();
    let options = Options {
        mode: Mode::Sequential,
        ..Options::default()
    };
    let kind = sample.kinds()[0];
    let mut runner = Runner::new(&options).unwrap();
    let report = runner.run(&sample.batch(kind, 100)).unwrap();
    assert_eq!(report.summary.totals.right, 100);
    let found = host(&options, &sample, Duration::from_millis(50)).unwrap();
    assert!(found.points.iter().all(|point| point.seconds > 0.0));
    assert!(found.kinds.contains_key(&kind) && found.shape.is_none());
}

fn open_emulated() -> Option<Open<EmulatedDevice>> {
    EmulatedDevice::fingerprint()?;
    Some(Box::new(|| open::emulated(0, &Emulation::default())))
}

#[test]
fn an_emulated_device_is_measured_on_the_kinds_that_it_runs() {
    let sample = Sample::builtin();
    let Some(mut open) = open_emulated() else {
        return;
    };
    let information = open().unwrap().information().clone();
    let kinds = sample.kinds_on(&information);
    assert!(kinds.len() >= 3, "{kinds:?}");
    for kind in &kinds {
        let evaluations = sample.evaluations(*kind, 10, &information);
        assert_eq!(evaluations.evaluations.len(), 10);
    }
    let found = device(open, &sample, Duration::from_millis(200)).unwrap();
    assert!(!found.points.is_empty() && found.shape.is_none());
    let of_sample = |kind| kinds.contains(&kind);
    assert!(found.points.iter().all(|point| of_sample(point.kind)));
    assert_eq!(found.learned().tuning, None);
}

#[test]
fn shapes_are_tried_on_a_batch_of_all_kinds() {
    let sample = Sample::builtin();
    let Some(mut open) = open_emulated() else {
        return;
    };
    // Its time is over before the first launch.
    let best = shape(open().unwrap(), &sample, 8, Duration::ZERO).unwrap();
    assert_eq!(best, None);
    let long = Duration::from_secs(600);
    let best = shape(open().unwrap(), &sample, 8, long).unwrap().unwrap();
    assert_eq!(best.tried, 48);
    assert!(best.time > Duration::ZERO && best.time <= best.default_time);
    // Arguments have no room in so little memory.
    let emulation = Emulation {
        bytes: 4096,
        ..Emulation::default()
    };
    let small = open::emulated(0, &emulation).unwrap();
    assert_eq!(shape(small, &sample, 8, long).unwrap(), None);
}

#[test]
fn a_device_that_is_not_there_or_fails_is_told() {
    let sample = Sample::builtin();
    let gone: Open<EmulatedDevice> = Box::new(|| Err(Unavailable::NoDevice));
    let error = device(gone, &sample, BUDGET).unwrap_err();
    assert_eq!(error.to_string(), Unavailable::NoDevice.to_string());
    let Some(mut open) = open_emulated() else {
        return;
    };
    for (effect, message) in [
        (Effect::Lost, "the device is lost"),
        (Effect::Driver, "driver error"),
    ] {
        let faults = vec![Fault {
            call: Call::Launch,
            number: 0,
            effect,
        }];
        let outages = Vec::new();
        let mut faulty = Some(Faulty::new(open().unwrap(), Plan { faults, outages }));
        let opened = move || faulty.take().ok_or(Unavailable::NoDevice);
        let error = device(Box::new(opened), &sample, BUDGET).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    }
}
