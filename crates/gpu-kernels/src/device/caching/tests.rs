use super::super::testing::MemoryDevice;
use super::*;
use crate::device::Entry;

fn full(requested: u64, free: u64, total: u64) -> DeviceError {
    DeviceError::OutOfMemory {
        requested,
        free,
        total,
    }
}

#[test]
fn size_classes_waste_less_than_a_quarter() {
    let near = (8..40).flat_map(|power| (0..200).map(move |by| (1_usize << power) - 100 + by));
    for bytes in near {
        let class = size_class(bytes);
        assert!(class >= bytes, "{bytes}");
        assert!(
            class == MIN_CLASS || (class - bytes) * 4 < bytes,
            "{bytes}: {class}"
        );
        assert_eq!(size_class(class), class);
    }
    assert_eq!((size_class(0), size_class(1)), (MIN_CLASS, MIN_CLASS));
    assert_eq!(size_class(usize::MAX), usize::MAX);
}

#[test]
fn what_is_dropped_is_given_out_again() {
    let device = CachingDevice::new(MemoryDevice::new(10_000));
    let counters = device.inner().counters();
    let first = device.allocate(1000).unwrap();
    let second = device.allocate(1000).unwrap();
    drop(first);
    let usage = |in_use, reserved, allocations, reuses| MemoryUsage {
        in_use,
        reserved,
        most: 2048,
        allocations,
        reuses,
    };
    assert_eq!(device.memory_usage(), usage(1024, 2048, 2, 0));
    // First the same size class, then another one.
    let first = device.allocate(900).unwrap();
    assert_eq!(device.memory_usage(), usage(2048, 2048, 2, 1));
    drop((first, second));
    let other = device.allocate(300).unwrap();
    assert_eq!(device.memory_usage(), usage(320, 2368, 3, 1));
    assert_eq!(counters.used(), 2368);
    assert_eq!(device.memory().unwrap().free, 10_000 - 2368);
    assert_eq!(device.cleanup(), 2048);
    assert_eq!(device.memory_usage(), usage(320, 320, 3, 1));
    assert_eq!(counters.used(), 320);
    assert_eq!(device.cleanup(), 0);
    // A buffer that outlives the device is freed all the same.
    drop(device);
    assert_eq!(counters.used(), 320);
    drop(other);
    assert_eq!(counters.used(), 0);
}

#[test]
fn a_full_device_gets_back_what_is_kept() {
    let device = CachingDevice::new(MemoryDevice::new(1024));
    drop(device.allocate(512).unwrap());
    drop(device.allocate(256).unwrap());
    let held = device.allocate(768).unwrap();
    assert_eq!(device.memory_usage().reserved, 768);
    assert_eq!(device.allocate(300).unwrap_err(), full(320, 256, 1024));
    drop(held);
    let reserved = device.memory_usage();
    assert_eq!(device.allocate(5000).unwrap_err(), full(5120, 1024, 1024));
    assert_eq!((reserved.in_use, reserved.reserved), (0, 768));
    assert_eq!(device.memory_usage().reserved, 0);
    assert!(device.allocate(usize::MAX).is_err());
}

#[test]
fn copies_stay_within_what_was_asked_for() {
    let device = CachingDevice::new(MemoryDevice::new(10_000));
    let mut long = device.allocate(400).unwrap();
    let mut short = device.allocate(7).unwrap();
    let past = |at, bytes, length| Err(DeviceError::PastEnd { at, bytes, length });
    assert_eq!(device.upload(&[1; 9], &mut long, 392), past(392, 9, 400));
    let far = usize::MAX;
    assert_eq!(device.upload(&[1], &mut long, far), past(far, 1, 400));
    assert_eq!(device.download(&short, 0, &mut [0; 8]), past(0, 8, 7));
    assert_eq!(device.copy(&long, &mut short, 8), past(0, 8, 7));
    assert_eq!(device.copy(&short, &mut long, 8), past(0, 8, 7));
    device
        .upload(&[1, 2, 3, 4, 5, 6, 7], &mut short, 0)
        .unwrap();
    device.clear(&mut long).unwrap();
    device.copy(&short, &mut long, 7).unwrap();
    let mut found = [9; 9];
    device.download(&long, 0, &mut found).unwrap();
    assert_eq!(found, [1, 2, 3, 4, 5, 6, 7, 0, 0]);
}

#[test]
fn what_was_there_before_is_not_seen() {
    let device = CachingDevice::new(MemoryDevice::new(10_000));
    let mut buffer = device.allocate(4).unwrap();
    device.upload(&[1, 2, 3, 4], &mut buffer, 0).unwrap();
    drop(buffer);
    let buffer = device.allocate(4).unwrap();
    let mut found = [0; 4];
    device.download(&buffer, 0, &mut found).unwrap();
    assert_eq!((found, device.memory_usage().reuses), ([0xa5; 4], 1));
}

#[test]
fn ten_thousand_launches_allocate_no_more_than_the_first() {
    let device = CachingDevice::new(MemoryDevice::new(1 << 30));
    let counters = device.inner().counters();
    let mut after_first = None;
    for number in 0..10_000_usize {
        // Sizes of batches differ, here within one size class each.
        let from = device.allocate(100_000 + number % 10_000).unwrap();
        let to = device.allocate(9_000 + number % 1_000).unwrap();
        device
            .launch(&Launch {
                entry: Entry::Copy,
                blocks: 1,
                threads: 32,
                shared_bytes: 0,
                arguments: vec![
                    Argument::Buffer(&from),
                    Argument::Buffer(&to),
                    Argument::Number(1),
                ],
            })
            .unwrap();
        drop((from, to));
        let usage = device.memory_usage();
        let now = (counters.allocations(), counters.used(), usage.reserved);
        assert_eq!(*after_first.get_or_insert(now), now, "{number}");
    }
    assert_eq!((counters.allocations(), counters.launches()), (2, 10_000));
}

#[test]
fn streams_keep_apart_what_they_count_together() {
    let device = CachingDevice::new(MemoryDevice::new(2048));
    let counters = device.inner().counters();
    let stream = device.new_stream().unwrap();
    drop(device.allocate(1024).unwrap());
    // A buffer cached for another stream is not reused, but freed when memory is short.
    let first = stream.allocate(1024).unwrap();
    let usage = device.memory_usage();
    assert_eq!((usage.allocations, usage.reuses), (2, 0));
    assert_eq!((usage.in_use, usage.reserved), (1024, 2048));
    assert_eq!(stream.memory_usage(), usage);
    let second = stream.allocate(1024).unwrap();
    let usage = device.memory_usage();
    assert_eq!(
        (usage.in_use, usage.reserved, usage.most),
        (2048, 2048, 2048)
    );
    drop(first);
    // A dropped stream caches nothing.
    drop(stream);
    assert_eq!(
        (counters.used(), device.memory_usage().reserved),
        (1024, 1024)
    );
    drop(second);
    assert_eq!((counters.used(), device.memory_usage().reserved), (0, 0));
    assert_eq!(device.allocate(1).unwrap().stream, 0);
    assert_eq!(device.new_stream().unwrap().allocate(1).unwrap().stream, 2);
}

#[test]
fn it_goes_to_another_thread() {
    fn sent<T: Send>() {}
    sent::<CachingDevice<crate::device::cuda::CudaDevice>>();
    sent::<CachedBuffer<crate::device::cuda::Buffer>>();
    let device = CachingDevice::new(MemoryDevice::new(1024));
    let buffer = device.allocate(1).unwrap();
    std::thread::spawn(move || drop(buffer)).join().unwrap();
    assert_eq!(device.memory_usage().in_use, 0);
}
