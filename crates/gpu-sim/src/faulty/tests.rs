use std::time::Instant;

use gpu_kernels::device::caching::CachingDevice;
use gpu_kernels::device::{Argument, Entry};

use super::*;
use crate::interpreted::{Buffer, Interpretation, InterpretedDevice};
use crate::open;

fn device(faults: &[(Call, u64, Effect)], outages: &[(u64, u64)]) -> Faulty<InterpretedDevice> {
    let fault = |&(call, number, effect): &_| InjectedFault {
        call,
        number,
        effect,
    };
    let plan = FaultPlan {
        faults: faults.iter().map(fault).collect(),
        outages: outages
            .iter()
            .map(|&(from, calls)| Outage { from, calls })
            .collect(),
    };
    let interpretation = Interpretation {
        bytes: 1 << 20,
        ..Interpretation::default()
    };
    Faulty::new(open::interpreted(0, &interpretation).unwrap(), plan)
}

/// Launches a kernel that copies nothing.
fn launch(device: &Faulty<InterpretedDevice>) -> Result<(), DeviceError> {
    let [to, from] = [(), ()].map(|()| device.inner().allocate(8).unwrap());
    device.launch(&Launch {
        entry: Entry::Copy,
        blocks: 1,
        threads: 32,
        shared_bytes: 0,
        arguments: vec![
            Argument::Buffer(&to),
            Argument::Buffer(&from),
            Argument::Number(0),
        ],
    })
}

/// How many launches of [`launch`] the wrapped device has run since the last call.
fn launches(device: &Faulty<InterpretedDevice>) -> u64 {
    let all = device.inner().take_counts().issued();
    let one = self::device(&[], &[]);
    launch(&one).unwrap();
    let of_one = one.inner().take_counts().issued();
    assert_eq!(all % of_one, 0);
    all / of_one
}

/// Makes one call of each kind; returns whether each succeeded. `buffer` is the wrapped device's.
fn each(device: &Faulty<InterpretedDevice>, buffer: &mut Buffer) -> [Result<(), DeviceError>; 7] {
    let mut other = device.inner().allocate(8).unwrap();
    [
        device.allocate(8).map(drop),
        device.upload(&[1; 8], buffer, 0),
        device.download(buffer, 0, &mut [0; 8]),
        device.copy(buffer, &mut other, 8),
        launch(device),
        device.synchronize(),
        device.memory().map(drop),
    ]
}

#[test]
fn a_plan_without_faults_changes_nothing() {
    let device = device(&[], &[]);
    let mut buffer = device.allocate(8).unwrap();
    for _ in 0..10 {
        assert_eq!(each(&device, &mut buffer), [const { Ok(()) }; 7]);
    }
    let calls = Calls {
        all: 71,
        by_kind: [11, 30, 10, 10],
    };
    assert_eq!(device.handle().calls(), calls);
    assert_eq!(launches(&device), 10);
}

#[test]
fn the_call_of_the_plan_fails_and_no_other() {
    let out = DeviceError::OutOfMemory {
        requested: 8,
        free: 0,
        total: 1 << 20,
    };
    let driver = DeviceError::Driver {
        call: FAULT_INJECTION,
        code: 1,
        name: "a fault".to_owned(),
    };
    let device = device(
        &[
            (Call::Allocation, 2, Effect::OutOfMemory),
            (Call::Copy, 4, Effect::Driver),
            // Only the first fault for a call applies.
            (Call::Copy, 4, Effect::Lost),
            (Call::Launch, 0, Effect::Lost),
            (Call::Wait, 1, Effect::Driver),
        ],
        &[],
    );
    let mut buffer = device.inner().allocate(8).unwrap();
    let mut failed = Vec::new();
    for round in 0..4 {
        for (call, result) in each(&device, &mut buffer).into_iter().enumerate() {
            failed.extend(result.err().map(|error| (round, call, error)));
        }
    }
    let expected = [
        (0, 4, lost()),
        (1, 2, driver.clone()),
        (1, 5, driver),
        (2, 0, out),
    ];
    assert_eq!(failed, expected);
    // Failed calls did not reach the wrapped device.
    assert_eq!(launches(&device), 3);
}

#[test]
fn a_device_goes_and_comes_back() {
    let device = device(&[], &[(9, 10), (30, u64::MAX)]);
    let mut buffer = device.inner().allocate(8).unwrap();
    let results: Vec<_> = (0..10).flat_map(|_| each(&device, &mut buffer)).collect();
    for (call, result) in results.into_iter().enumerate() {
        let is_out = (9..19).contains(&call) || call >= 30;
        assert_eq!(result, if is_out { Err(lost()) } else { Ok(()) }, "{call}");
    }
    assert!(device.new_stream().is_err() && device.record().is_err());
    assert!(device.clear(&mut buffer).is_err());
}

#[test]
fn streams_count_together() {
    let device = device(&[(Call::Launch, 1, Effect::Lost)], &[]);
    let stream = device.new_stream().unwrap();
    assert_eq!(launch(&stream), Ok(()));
    assert_eq!(launch(&device), Err(lost()));
    assert_eq!(launch(&stream), Ok(()));
    assert_eq!(device.handle().calls(), stream.handle().calls());
}

#[test]
fn a_slow_call_takes_its_time_and_comes_through() {
    let device = device(&[(Call::Wait, 1, Effect::Slow(30))], &[]);
    device.synchronize().unwrap();
    let began = Instant::now();
    device.synchronize().unwrap();
    assert!(began.elapsed() >= Duration::from_millis(30));
}

#[test]
fn a_hanging_call_is_let_go() {
    let faults = [0, 1].map(|number| (Call::Wait, number, Effect::Hang));
    let device = device(&faults, &[]);
    let handle = device.handle();
    let hangs = std::thread::spawn(move || (device.synchronize(), device.synchronize()));
    while handle.locked().hanging == 0 {
        std::thread::yield_now();
    }
    assert!(!hangs.is_finished());
    handle.release();
    // The second call no longer hangs.
    assert_eq!(hangs.join().unwrap(), (Err(lost()), Err(lost())));
    assert_eq!(handle.locked().hanging, 0);
    assert_eq!(handle.calls().by_kind[Call::Wait as usize], 2);
}

#[test]
fn memory_that_is_short_for_once_is_found_by_giving_back() {
    let faults = [(Call::Allocation, 1, Effect::OutOfMemory)];
    let device = CachingDevice::new(device(&faults, &[]));
    drop(device.allocate(1000).unwrap());
    // The allocation fails, and is tried again after the cached buffers have been freed.
    let held = device.allocate(2000).unwrap();
    assert_eq!(device.memory_usage().reserved, 2048);
    assert_eq!(
        device.inner().handle().calls().by_kind[Call::Allocation as usize],
        3
    );
    drop(held);
}
