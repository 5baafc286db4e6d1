//! The kernels of `kernels/host/tests.cpp`, and the device's promises to its callers.

use std::time::Duration;

use gpu_kernels::device::{Device as _, Entry, Memory};
use proptest::prelude::*;

use super::*;
use crate::simulated::Content as _;

const ORDERS: [LaneOrder; 4] = [
    LaneOrder::Ascending,
    LaneOrder::Descending,
    LaneOrder::Random(1),
    LaneOrder::Random(2),
];

fn device(order: LaneOrder) -> EmulatedDevice {
    let emulation = Emulation {
        order,
        ..Emulation::default()
    };
    EmulatedDevice::new(0, &emulation).unwrap()
}

/// Memory that holds these numbers.
fn numbers(device: &EmulatedDevice, numbers: &[u32]) -> Buffer {
    let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
    let mut buffer = device.allocate(bytes.len()).unwrap();
    device.upload(&bytes, &mut buffer, 0).unwrap();
    buffer
}

fn read(device: &EmulatedDevice, buffer: &Buffer) -> Vec<u32> {
    let mut bytes = vec![0; buffer.content.borrow().bytes().len()];
    device.download(buffer, 0, &mut bytes).unwrap();
    let number = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap());
    bytes.chunks_exact(4).map(number).collect()
}

/// Memory for this many numbers.
fn room(device: &EmulatedDevice, count: usize) -> Buffer {
    device.allocate(4 * count).unwrap()
}

/// Runs a kernel for tests, in one block of one warp with 512 bytes of shared memory.
fn warp(
    device: &EmulatedDevice,
    kernel: &'static str,
    arguments: Vec<Argument<'_, Buffer>>,
) -> Result<(), DeviceError> {
    blocks(device, kernel, 1, 32, arguments)
}

fn blocks(
    device: &EmulatedDevice,
    kernel: &'static str,
    blocks: u32,
    threads: u32,
    arguments: Vec<Argument<'_, Buffer>>,
) -> Result<(), DeviceError> {
    let launch = Launch {
        // Not used: the kernel is given by name.
        entry: Entry::Copy,
        blocks,
        threads,
        shared_bytes: 512,
        arguments,
    };
    let found = image::Kernel::of_tests(kernel).expect(kernel);
    device.gpu.check_alive()?;
    device.kernels.run(&device.gpu, found, kernel, &launch)
}

/// The sum of all numbers up to each one, 32 at a time.
fn scan(device: &EmulatedDevice, from: &[u32], warps: u32) -> Vec<u32> {
    let to = room(device, from.len());
    let from_there = numbers(device, from);
    let arguments = vec![Argument::Buffer(&from_there), Argument::Buffer(&to)];
    let count = from.len() as u32 / 32 / warps;
    blocks(device, "test_scan", count, 32 * warps, arguments).unwrap();
    read(device, &to)
}

fn scan_on_host(from: &[u32]) -> Vec<u32> {
    let sums = from.chunks(32).flat_map(|warp| {
        warp.iter().scan(0u32, |sum, number| {
            *sum = sum.wrapping_add(*number);
            Some(*sum)
        })
    });
    sums.collect()
}

#[test]
fn copies_what_it_is_told_to() {
    for order in ORDERS {
        let device = device(order);
        for (count, length, blocks, threads) in [
            (0, 1, 1, 32),
            (1, 1, 1, 32),
            (31, 40, 2, 32),
            (1000, 1003, 3, 96),
        ] {
            let from: Vec<u32> = (0..4 * length).map(|i| i ^ 0x1234_5678).collect();
            let kept = vec![7; from.len()];
            let (source, to) = (numbers(&device, &from), numbers(&device, &kept));
            let launch = Launch {
                entry: Entry::Copy,
                blocks,
                threads,
                shared_bytes: 0,
                arguments: vec![
                    Argument::Buffer(&source),
                    Argument::Buffer(&to),
                    Argument::Number(count),
                ],
            };
            device.launch(&launch).unwrap();
            let copied = 4 * count as usize;
            let there = read(&device, &to);
            assert_eq!(there[..copied], from[..copied]);
            assert_eq!(there[copied..], kept[copied..]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_scan_by_shuffles_is_a_scan(
        from in prop::collection::vec(any::<u32>(), 32 * 12),
        warps in prop::sample::select(vec![1, 2, 3, 4]),
        seed: u64,
    ) {
        let expected = scan_on_host(&from);
        for order in ORDERS.into_iter().chain([LaneOrder::Random(seed)]) {
            prop_assert_eq!(&scan(&device(order), &from, warps), &expected);
        }
    }

    #[test]
    fn collectives_give_what_the_manual_says(
        values in prop::collection::vec(prop_oneof![any::<u32>(), Just(0), Just(u32::MAX)], 32),
        others in prop::collection::vec(0..40u32, 32),
        width in prop::sample::select(vec![1u32, 2, 4, 8, 16, 32]),
        seed: u64,
    ) {
        let mut expected = Vec::new();
        // PTX ISA, `shfl`: five bits of the distance are used, and a lane without a source keeps its own value.
        let of = |from: &dyn Fn(u32, u32, u32) -> u32| {
            let lane = |lane: u32| values[from(lane, others[lane as usize], lane & !(width - 1)) as usize];
            (0..32).map(lane).collect::<Vec<_>>()
        };
        let last = |start: u32| start + width - 1;
        expected.extend(of(&|_, other, start| start + other % width));
        expected.extend(of(&|lane, other, start| {
            if lane >= start + other % 32 { lane - other % 32 } else { lane }
        }));
        expected.extend(of(&|lane, other, start| {
            if lane + other % 32 <= last(start) { lane + other % 32 } else { lane }
        }));
        expected.extend(of(&|lane, other, start| {
            if lane ^ (other % 32) <= last(start) { lane ^ (other % 32) } else { lane }
        }));
        let votes: u32 = (0..32).map(|lane| (values[lane] & 1) << lane).sum();
        expected.extend([votes; 32]);
        expected.extend([u32::from(values.iter().any(|value| value & 2 != 0)); 32]);
        expected.extend([u32::from(values.iter().all(|value| value & 4 != 0)); 32]);
        expected.extend([values[5]; 32]);
        for order in ORDERS.into_iter().chain([LaneOrder::Random(seed)]) {
            let device = device(order);
            let to = room(&device, 256);
            let (first, second) = (numbers(&device, &values), numbers(&device, &others));
            let arguments = vec![
                Argument::Buffer(&first),
                Argument::Buffer(&second),
                Argument::Buffer(&to),
                Argument::Number(width),
            ];
            warp(&device, "test_collectives", arguments).unwrap();
            prop_assert_eq!(&read(&device, &to), &expected);
        }
    }

    #[test]
    fn functions_give_what_the_manual_says(
        xs in prop::collection::vec(prop_oneof![any::<u32>(), Just(0), Just(1), Just(u32::MAX)], 32),
        ys in prop::collection::vec(any::<u32>(), 32),
    ) {
        let device = device(LaneOrder::Ascending);
        let to = room(&device, 16 * 32);
        let (first, second) = (numbers(&device, &xs), numbers(&device, &ys));
        let arguments = vec![
            Argument::Buffer(&first),
            Argument::Buffer(&second),
            Argument::Buffer(&to),
        ];
        warp(&device, "test_functions", arguments).unwrap();
        let there = read(&device, &to);
        for lane in 0..32u32 {
            let (x, y) = (xs[lane as usize], ys[lane as usize]);
            // `y` above `x`, shifted by up to 31, or clamped to 32.
            let both = u64::from(y) << 32 | u64::from(x);
            let (by, clamped) = (2 * lane % 32, (2 * lane).min(32));
            let least = (x as i32).min(y as i32);
            let most = (x as i32).max(y as i32);
            let expected = [
                x.count_ones(),
                x.leading_zeros(),
                if x == 0 { 0 } else { x.trailing_zeros() + 1 },
                x.reverse_bits(),
                ((u64::from(x) * u64::from(y)) >> 32) as u32,
                (both << by >> 32) as u32,
                (both >> by) as u32,
                (both << clamped >> 32) as u32,
                (both >> clamped) as u32,
                x.min(y),
                x.max(y),
                least as u32,
                most as u32,
                32,
                x,
                1,
            ];
            prop_assert_eq!(&there[16 * lane as usize..][..16], &expected);
        }
    }
}

#[test]
fn a_missing_barrier_shows() {
    let results = |wait: u32| {
        ORDERS.map(|order| {
            let device = device(order);
            let to = room(&device, 32);
            let arguments = vec![Argument::Buffer(&to), Argument::Number(wait)];
            warp(&device, "test_neighbour", arguments).unwrap();
            read(&device, &to)
        })
    };
    let right: Vec<u32> = (0..32).map(|lane| (lane + 1) % 32).collect();
    assert!(results(1).iter().all(|result| *result == right));
    let wrong = results(0);
    assert_ne!(wrong[0], wrong[1]);
    assert_ne!(wrong[0], wrong[2]);
}

#[test]
fn shared_memory_holds_noise_at_first() {
    let unwritten = |device: &EmulatedDevice| {
        let to = room(device, 32);
        warp(device, "test_unwritten", vec![Argument::Buffer(&to)]).unwrap();
        read(device, &to)
    };
    let any = device(LaneOrder::Ascending);
    let first = unwritten(&any);
    assert_ne!(first, unwritten(&any));
    assert_ne!(first, unwritten(&device(LaneOrder::Ascending)));
    let seeded = Emulation {
        noise: Some(5),
        ..Emulation::default()
    };
    let again = || unwritten(&EmulatedDevice::new(0, &seeded).unwrap());
    assert_eq!(again(), again());
}

/// Runs the kernel that breaks this rule; returns the device's reason.
fn broken(order: LaneOrder, rule: u32, threads: u32) -> String {
    let emulation = Emulation {
        order,
        patience: 1000,
        ..Emulation::default()
    };
    let device = EmulatedDevice::new(0, &emulation).unwrap();
    let to = numbers(&device, &[0; 64]);
    let arguments = vec![Argument::Buffer(&to), Argument::Number(rule)];
    match blocks(&device, "test_broken", 1, threads, arguments) {
        Err(DeviceError::Kernel { kernel, reason }) => {
            assert_eq!(kernel, "test_broken");
            // The device is lost after that.
            let lost = device.synchronize().unwrap_err();
            let is_lost = |error: &DeviceError| matches!(error, DeviceError::Lost { reason: r } if r.contains(&reason));
            assert!(is_lost(&lost), "{lost}");
            assert!(is_lost(&device.allocate(1).unwrap_err()));
            assert!(is_lost(&device.memory().unwrap_err()));
            let arguments = vec![Argument::Buffer(&to), Argument::Number(99)];
            let launched = warp(&device, "test_broken", arguments);
            assert!(is_lost(&launched.unwrap_err()));
            reason
        }
        other => panic!("rule {rule}: {other:?}"),
    }
}

#[test]
fn broken_rules_are_errors() {
    let up = LaneOrder::Ascending;
    let down = LaneOrder::Descending;
    for (rule, order, threads, expected) in [
        (0, up, 32, "lanes have diverged: lane 0 is in __shfl_sync"),
        (
            0,
            down,
            32,
            "lanes have diverged: lane 31 is in __ballot_sync",
        ),
        (1, up, 32, "lane 16 in __shfl_sync"),
        (2, up, 32, "a mask that names lane 0, which has left"),
        (2, down, 32, "deadlock: lane 31 waits in __ballot_sync"),
        (3, up, 32, "for lane 31, which has left"),
        (3, down, 32, "a mask that names lane 31, which has left"),
        (
            4,
            up,
            32,
            "the mask 0x0000ffff, which is not the whole warp",
        ),
        (5, up, 32, "lane 16 is in __shfl_sync"),
        (6, up, 32, "does not end: it still comes to __any_sync"),
        (8, up, 64, "warps are run in turn"),
        (9, up, 32, "with a width of 12"),
    ] {
        let reason = broken(order, rule, threads);
        assert!(reason.contains(expected), "{rule}: {reason}");
        // The thread's fibers can be used again.
        let from: Vec<u32> = (0..32).collect();
        assert_eq!(scan(&device(order), &from, 1), scan_on_host(&from));
    }
    for rule in 0..6 {
        for seed in 0..20 {
            broken(LaneOrder::Random(seed), rule, 32);
        }
    }
}

#[test]
#[cfg_attr(
    sanitized,
    ignore = "the sanitizer ends the process: run by the test below"
)]
fn an_overrun_of_shared_memory_shows() {
    let reason = broken(LaneOrder::Ascending, 7, 32);
    let expected = "wrote past the end of its 512 bytes of shared memory";
    assert!(reason.contains(expected), "{reason}");
}

#[cfg(sanitized)]
#[test]
fn the_sanitizer_sees_an_overrun() {
    let itself = std::env::current_exe().unwrap();
    let test = "emulated::tests::an_overrun_of_shared_memory_shows";
    let output = std::process::Command::new(itself)
        .args(["--exact", test, "--ignored", "--nocapture"])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(text.contains("heap-buffer-overflow"), "{text}");
}

#[test]
fn what_cannot_be_launched_is_refused() {
    let device = device(LaneOrder::Ascending);
    let memory = room(&device, 64);
    let arguments = || {
        vec![
            Argument::Buffer(&memory),
            Argument::Buffer(&memory),
            Argument::Number(0),
        ]
    };
    let launch = |blocks, threads, shared_bytes, arguments| {
        let entry = Entry::Copy;
        device.launch(&Launch {
            entry,
            blocks,
            threads,
            shared_bytes,
            arguments,
        })
    };
    for (result, expected) in [
        (launch(0, 32, 0, arguments()), "0 blocks"),
        (launch(1, 0, 0, arguments()), "0 threads"),
        (launch(1, 33, 0, arguments()), "33 threads"),
        (launch(1, 1056, 0, arguments()), "1056 threads"),
        (launch(1, 32, 24, arguments()), "24 bytes of shared memory"),
        (launch(1, 32, 65_536, arguments()), "65536 bytes of shared"),
        (launch(1, 32, 0, vec![]), "arguments `ppn` and was given ``"),
        (
            launch(1, 32, 0, arguments().into_iter().rev().collect()),
            "was given `npp`",
        ),
    ] {
        match result {
            Err(DeviceError::Launch { kernel, reason }) => {
                assert_eq!(kernel, "arc_copy");
                assert!(reason.contains(expected), "{reason}");
            }
            other => panic!("{expected}: {other:?}"),
        }
    }
    // The refused launches did not damage the device.
    launch(1, 1024, 49_152, arguments()).unwrap();
}

#[test]
fn memory_is_counted() {
    let emulation = Emulation {
        bytes: 1000,
        ..Emulation::default()
    };
    let device = EmulatedDevice::new(0, &emulation).unwrap();
    let first = device.allocate(600).unwrap();
    assert_eq!(
        device.allocate(401).unwrap_err(),
        DeviceError::OutOfMemory {
            requested: 401,
            free: 400,
            total: 1000
        }
    );
    let second = device.allocate(400).unwrap();
    assert_eq!(device.memory().unwrap().free, 0);
    drop(first);
    assert_eq!(
        device.memory().unwrap(),
        Memory {
            free: 600,
            total: 1000
        }
    );
    drop(second);
    let huge = Emulation {
        bytes: u64::MAX,
        ..Emulation::default()
    };
    let device = EmulatedDevice::new(0, &huge).unwrap();
    let refused = device.allocate(usize::MAX).unwrap_err();
    assert!(matches!(refused, DeviceError::OutOfMemory { .. }));
}

#[test]
fn copies_stay_within_buffers() {
    let device = device(LaneOrder::Ascending);
    let mut long = device.allocate(100).unwrap();
    let mut short = device.allocate(7).unwrap();
    assert_eq!(long.content.borrow().address().addr() % 128, 0);
    let past = |at, bytes, length| Err(DeviceError::PastEnd { at, bytes, length });
    let mut bytes = [0; 10];
    assert_eq!(device.upload(&bytes, &mut long, 91), past(91, 10, 100));
    assert_eq!(
        device.upload(&bytes, &mut long, usize::MAX),
        past(usize::MAX, 10, 100)
    );
    assert_eq!(device.download(&short, 0, &mut bytes), past(0, 10, 7));
    assert_eq!(device.copy(&long, &mut short, 8), past(0, 8, 7));
    assert_eq!(device.copy(&short, &mut long, 8), past(0, 8, 7));

    device.clear(&mut long).unwrap();
    device
        .upload(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10], &mut long, 2)
        .unwrap();
    device.copy(&long, &mut short, 7).unwrap();
    device.clear(&mut long).unwrap();
    let mut back = [9; 7];
    device.download(&short, 0, &mut back).unwrap();
    assert_eq!(back, [0, 0, 1, 2, 3, 4, 5]);
    device.download(&long, 90, &mut bytes).unwrap();
    assert_eq!(bytes, [0; 10]);
}

#[test]
fn events_have_time_between_them() {
    let device = device(LaneOrder::Ascending);
    let to = room(&device, 32);
    let before = device.record().unwrap();
    let arguments = vec![Argument::Buffer(&to), Argument::Number(100)];
    warp(&device, "test_shuffles", arguments).unwrap();
    let after = device.record().unwrap();
    device.synchronize().unwrap();
    assert!(device.elapsed(&before, &after).unwrap() > Duration::ZERO);
}

#[test]
fn a_device_may_be_missing() {
    let two = Emulation {
        devices: 2,
        ..Emulation::default()
    };
    assert!(EmulatedDevice::new(1, &two).is_ok());
    assert_eq!(
        EmulatedDevice::new(2, &two).unwrap_err(),
        Unavailable::NoSuchDevice { index: 2, count: 2 }
    );
    let found = EmulatedDevice::fingerprint().unwrap();
    let with = |fingerprint| Emulation {
        fingerprint: Some(fingerprint),
        ..Emulation::default()
    };
    assert!(EmulatedDevice::new(0, &with(found)).is_ok());
    assert_eq!(
        EmulatedDevice::new(0, &with(!found)).unwrap_err(),
        Unavailable::StaleImage {
            expected: !found,
            found: format!("{found:#018x}")
        }
    );
}

#[test]
fn streams_share_memory_and_faults() {
    let emulation = Emulation {
        bytes: 1000,
        patience: 1000,
        ..Emulation::default()
    };
    let device = EmulatedDevice::new(0, &emulation).unwrap();
    let stream = device.new_stream().unwrap();
    let held = device.allocate(600).unwrap();
    let memory = stream.memory().unwrap();
    assert_eq!((memory.free, memory.total), (400, 1000));
    assert_eq!(
        stream.allocate(401).unwrap_err(),
        DeviceError::OutOfMemory {
            requested: 401,
            free: 400,
            total: 1000
        }
    );
    drop(held);
    assert_eq!(stream.memory().unwrap().free, 1000);
    // A failed allocation is not counted.
    assert!(stream.allocate(usize::MAX).is_err());
    assert_eq!(device.memory().unwrap().free, 1000);

    let to = numbers(&stream, &[0; 64]);
    let arguments = vec![Argument::Buffer(&to), Argument::Number(6)];
    assert!(blocks(&stream, "test_broken", 1, 32, arguments).is_err());
    let lost = stream.synchronize().unwrap_err();
    assert!(matches!(lost, DeviceError::Lost { .. }));
    assert_eq!(device.synchronize().unwrap_err(), lost);
    assert_eq!(device.new_stream().unwrap_err(), lost);
    assert_eq!(stream.new_stream().unwrap_err(), lost);
}

#[test]
fn streams_never_hold_more_than_there_is() {
    let emulation = Emulation {
        bytes: 10_000,
        ..Emulation::default()
    };
    let device = EmulatedDevice::new(0, &emulation).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let stream = device.new_stream().unwrap();
            scope.spawn(move || {
                for round in 0..2000 {
                    let held = stream.allocate(1 + round * 7 % 6000);
                    let memory = stream.memory().unwrap();
                    assert!(memory.free <= memory.total);
                    drop(held);
                }
            });
        }
    });
    assert_eq!(device.memory().unwrap().free, 10_000);
}

#[test]
fn devices_run_side_by_side() {
    std::thread::scope(|scope| {
        for thread in 0..4u32 {
            scope.spawn(move || {
                let device = device(LaneOrder::Random(u64::from(thread)));
                for round in 0..100 {
                    let number = |i: u32| i.wrapping_mul(thread * 1000 + round + 1);
                    let from: Vec<u32> = (0..256).map(number).collect();
                    assert_eq!(scan(&device, &from, 2), scan_on_host(&from));
                }
            });
        }
    });
    // A device may move to another thread, which has its own fibers.
    let device = device(LaneOrder::Descending);
    let from: Vec<u32> = (0..64).collect();
    assert_eq!(scan(&device, &from, 2), scan_on_host(&from));
    let elsewhere = std::thread::spawn(move || scan(&device, &from, 2));
    assert_eq!(elsewhere.join().unwrap()[..3], [0, 1, 3]);
}
