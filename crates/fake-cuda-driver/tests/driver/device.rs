//! A single device: copies and launches, and its errors if it is unavailable or has failed.

use std::time::Duration;

use gpu_kernels::device::cuda::{Buffer, CudaDevice};
use gpu_kernels::device::{
    Argument, Device as _, DeviceError, DeviceKind, Information, Launch, Memory, Unavailable, open,
};
use gpu_kernels::interface::{CopyArguments, Entry};

use crate::support::{Case, Log, case};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case("there is no driver", absent).unusable(),
        case("there is no GPU", none)
            .with("fault=cuInit:1+:100")
            .opens_none(),
        case("there are zero GPUs", none)
            .with("devices=0")
            .opens_none(),
        case("there are fewer than zero GPUs", none)
            .with("devices=-1")
            .opens_none(),
        case("the library is that for linking", stub)
            .with("fault=cuInit:1+:34")
            .opens_none(),
        case("a code has no name", unnamed)
            .with("fault=cuInit:1+:987")
            .opens_none(),
        case("the driver is too old", old)
            .with("version=11080")
            .opens_none(),
        case("a function is missing", incomplete)
            .without(&["cuCtxSetCurrent"])
            .opens_none(),
        case("there are not so many GPUs", few).with("devices=2"),
        case("the GPU is too old", small)
            .with("capability=52")
            .opens_none(),
        case("the image is refused", refused).with("fault=cuModuleLoadDataEx:1:218"),
        case("the image is too new", unreadable).with("fault=cuModuleLoadDataEx:1:222"),
        case("the image has no kernels", kernelless).with("fault=cuModuleGetFunction:1+:500"),
        case("the driver hangs", silent)
            .with("fault=cuInit:1:hang")
            .opens_none(),
        case("a GPU hangs as it is opened", hung)
            .with("devices=2;fault=0/cuModuleLoadDataEx:1:hang"),
        case("what a GPU says of itself", information),
        case("copies", copies),
        case("copies, streams at random", copies).with("progress=1"),
        case("launches", launches).with("static-shared=1024;fault=kernel:1:20ms"),
        case("streams", streams).logs(further_streams_pin_less),
        case("memory is full", full).with("bytes=1000"),
        case("a launch fails", unlaunched).with("fault=cuLaunchKernel:1:701"),
        case("a kernel fails", fault)
            .with("fault=kernel:1:700")
            .breaks(),
        case("a GPU is lost", lost)
            .with("fault=kernel:1:214")
            .breaks(),
        case("a kernel of another stream fails", fault_of_a_stream)
            .with("fault=kernel:1:700")
            .breaks(),
    ]
}

fn absent() {
    assert_eq!(CudaDevice::count(), Err(Unavailable::NoDriverLibrary));
    assert_eq!(refusal(0), Unavailable::NoDriverLibrary);
}

fn none() {
    assert_eq!(CudaDevice::count(), Err(Unavailable::NoDevice));
    assert_eq!(open::gpus(), Err(Unavailable::NoDevice));
    assert_eq!(refusal(0), Unavailable::NoDevice);
}

fn silent() {
    let limit = Duration::from_secs(1);
    let late = Unavailable::NoAnswer { limit };
    assert_eq!(open::within(limit, open::gpus), Err(late));
}

fn hung() {
    let limit = Duration::from_secs(1);
    let late = Unavailable::NoAnswer { limit };
    let opened = open::within(limit, || open::gpu(0).map(drop));
    assert_eq!(opened, Err(late));
    let other = open::within(open::TIME_LIMIT, || open::gpu(1)).unwrap();
    assert!(other.unwrap().memory().is_ok());
}

fn stub() {
    let expected = failed("cuInit", 34, "CUDA_ERROR_STUB_LIBRARY");
    assert_eq!(CudaDevice::count(), Err(expected.clone()));
    assert_eq!(refusal(0), expected);
}

fn unnamed() {
    assert_eq!(CudaDevice::count(), Err(failed("cuInit", 987, "unknown")));
}

fn old() {
    assert_eq!(CudaDevice::count(), Ok(1));
    let (driver, needed) = ((11, 8), (12, 2));
    let expected = Unavailable::DriverTooOld { driver, needed };
    assert_eq!(refusal(0), expected);
    assert_eq!(open::gpus(), Err(expected));
}

fn incomplete() {
    assert_eq!(CudaDevice::count(), Ok(1));
    let expected = failed("cuCtxSetCurrent", 500, "not in the library");
    assert_eq!(refusal(0), expected);
    assert_eq!(open::gpus(), Ok(vec![Err(expected)]));
}

fn few() {
    assert_eq!(CudaDevice::count(), Ok(2));
    for index in [2, usize::MAX] {
        let count = 2;
        assert_eq!(refusal(index), Unavailable::NoSuchDevice { index, count });
    }
    let names = open::gpus().unwrap().into_iter();
    let names: Vec<_> = names.map(|information| information.unwrap().name).collect();
    assert_eq!(names, ["fake 0", "fake 1"]);
    assert_eq!(device(1).information().name, "fake 1");
}

fn small() {
    let expected = Unavailable::TooOld {
        name: "fake 0".to_owned(),
        found: (5, 2),
        needed: (6, 0),
    };
    assert_eq!(refusal(0), expected);
    assert_eq!(open::gpus(), Ok(vec![Err(expected)]));
}

fn refused() {
    let reason =
        "CUDA_ERROR_INVALID_PTX (218) in cuModuleLoadDataEx: ptxas fatal : an injected fault"
            .to_owned();
    assert_eq!(refusal(0), Unavailable::ImageRefused { reason });
}

fn unreadable() {
    let (driver, needed) = ((12, 2), (12, 2));
    assert_eq!(refusal(0), Unavailable::DriverTooOld { driver, needed });
}

fn kernelless() {
    let reason = "CUDA_ERROR_NOT_FOUND (500) in cuModuleGetFunction".to_owned();
    assert_eq!(refusal(0), Unavailable::ImageRefused { reason });
}

fn information() {
    let expected = Information {
        name: "fake 0".to_owned(),
        kind: DeviceKind::Cuda,
        capability: (9, 0),
        multiprocessors: 132,
        warps: 64,
        shared_bytes: 232_448,
        multiprocessor_shared_bytes: 233_472,
        bytes: 1 << 30,
        driver: Some((12, 2)),
    };
    assert_eq!(open::gpus(), Ok(vec![Ok(expected.clone())]));
    let device = device(0);
    assert_eq!(*device.information(), expected);
    let (free, total) = (1 << 30, 1 << 30);
    assert_eq!(device.memory(), Ok(Memory { free, total }));
}

fn full() {
    let device = device(0);
    let held = device.allocate(600).unwrap();
    let error = DeviceError::OutOfMemory {
        requested: 401,
        free: 400,
        total: 1000,
    };
    assert_eq!(device.allocate(401).unwrap_err(), error);
    drop(held);
    // An allocation of 0 bytes takes one byte, since it needs an address.
    for (bytes, free) in [(1000, 0), (0, 999)] {
        let held = device.allocate(bytes).unwrap();
        let total = 1000;
        assert_eq!(device.memory(), Ok(Memory { free, total }));
        drop(held);
    }
}

fn fault() {
    let device = device(0);
    let buffer = device.allocate(64).unwrap();
    copy(&device, &buffer, &buffer, 1).unwrap();
    let error = DeviceError::Kernel {
        kernel: "arc_copy",
        reason: "CUDA_ERROR_ILLEGAL_ADDRESS (700) in cuStreamSynchronize".to_owned(),
    };
    assert_eq!(device.synchronize(), Err(error));
    // Later calls, and dropping, report the same error.
    let fault = |result: Result<(), DeviceError>| {
        assert!(matches!(result, Err(DeviceError::Kernel { .. })));
    };
    fault(device.download(&buffer, 0, &mut [0]));
    fault(copy(&device, &buffer, &buffer, 1));
    fault(device.allocate(1).map(drop));
    fault(device.record().map(drop));
    fault(device.memory().map(drop));
}

fn lost() {
    let device = device(0);
    let buffer = device.allocate(64).unwrap();
    copy(&device, &buffer, &buffer, 1).unwrap();
    let reason = "CUDA_ERROR_ECC_UNCORRECTABLE (214) in cuEventSynchronize".to_owned();
    let lost = DeviceError::Lost { reason };
    assert_eq!(device.download(&buffer, 0, &mut [0; 9]), Err(lost));
}

fn fault_of_a_stream() {
    let device = device(0);
    let stream = device.new_stream().unwrap();
    let buffer = stream.allocate(64).unwrap();
    copy(&stream, &buffer, &buffer, 1).unwrap();
    assert!(stream.synchronize().is_err());
    // The context is broken for both streams; this one has launched nothing.
    let reason = "CUDA_ERROR_ILLEGAL_ADDRESS (700) in cuStreamSynchronize".to_owned();
    assert_eq!(device.synchronize(), Err(DeviceError::Lost { reason }));
    assert!(matches!(device.new_stream(), Err(DeviceError::Lost { .. })));
}

fn unlaunched() {
    let device = device(0);
    let buffer = device.allocate(64).unwrap();
    let error = DeviceError::Launch {
        kernel: "arc_copy",
        reason: "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (701) in cuLaunchKernel".to_owned(),
    };
    assert_eq!(copy(&device, &buffer, &buffer, 1), Err(error));
}

fn failed(call: &'static str, code: i32, name: &str) -> Unavailable {
    let name = name.to_owned();
    Unavailable::Driver { call, code, name }
}

fn device(index: usize) -> CudaDevice {
    open::gpu(index).unwrap()
}

fn refusal(index: usize) -> Unavailable {
    open::gpu(index).unwrap_err()
}

fn copy(device: &CudaDevice, from: &Buffer, to: &Buffer, count: u32) -> Result<(), DeviceError> {
    device.launch(&Launch {
        entry: Entry::Copy,
        blocks: 4,
        threads: 64,
        shared_bytes: 0,
        arguments: CopyArguments { from, to, count }.list(),
    })
}

/// Bytes that depend on their position and on a seed.
fn pattern(length: usize, seed: usize) -> Vec<u8> {
    let byte = |at: usize| at + (at >> 8) * 3 + (at >> 20) * 5 + seed * 101;
    (0..length).map(|at| byte(at) as u8).collect()
}

fn copies() {
    let device = device(0);
    // More than all pinned memory, at odd offsets.
    let length = (20 << 20) + 777;
    let mut buffer = device.allocate(length).unwrap();
    let expected = pattern(length, 0);
    device.upload(&expected, &mut buffer, 0).unwrap();
    let mut found = vec![0; length];
    device.download(&buffer, 0, &mut found).unwrap();
    assert!(found == expected);
    let mut found = vec![0; 3 << 20];
    device.download(&buffer, 12_345, &mut found).unwrap();
    assert!(found == expected[12_345..][..3 << 20]);

    // Many small copies without waiting, so that they share the pinned memory.
    let mut expected = expected;
    let mut at = 1;
    for seed in 0..2000 {
        let part = pattern(seed * 7 % 20_011, seed);
        device.upload(&part, &mut buffer, at).unwrap();
        expected[at..at + part.len()].copy_from_slice(&part);
        at += part.len() / 2 + 1;
    }
    let mut other = device.allocate(length + 5).unwrap();
    device.clear(&mut other).unwrap();
    device.copy(&buffer, &mut other, length).unwrap();
    let mut found = vec![1; length + 5];
    device.download(&other, 0, &mut found).unwrap();
    assert!(found[..length] == expected && found[length..] == [0; 5]);

    let past = |at, bytes| {
        let error = DeviceError::PastEnd { at, bytes, length };
        Err(error)
    };
    assert_eq!(
        device.upload(&[1, 2], &mut buffer, length - 1),
        past(length - 1, 2)
    );
    assert_eq!(
        device.upload(&[1], &mut buffer, usize::MAX),
        past(usize::MAX, 1)
    );
    assert_eq!(device.download(&buffer, length, &mut [0]), past(length, 1));
    assert_eq!(
        device.copy(&other, &mut buffer, length + 1),
        past(0, length + 1)
    );
    assert_eq!(device.copy(&buffer, &mut other, 0), Ok(()));
    assert_eq!(device.download(&buffer, length, &mut []), Ok(()));
    // The device is dropped while this copy is queued, and its memory after it.
    device.upload(&[1; 1000], &mut buffer, 0).unwrap();
    drop(device);
    drop((buffer, other));
}

fn streams() {
    let device = device(0);
    let stream = device.new_stream().unwrap();
    assert_eq!(stream.information(), device.information());
    let mut from = stream.allocate(320).unwrap();
    let mut to = device.allocate(320).unwrap();
    let memory = device.memory().unwrap();
    assert_eq!(memory.total - memory.free, 640);
    assert_eq!(stream.memory(), Ok(memory));
    let expected = pattern(320, 3);
    stream.upload(&expected, &mut from, 0).unwrap();
    device.clear(&mut to).unwrap();
    device.synchronize().unwrap();

    // One stream neither waits for the other's work nor counts it as its own.
    let before = device.record().unwrap();
    copy(&stream, &from, &to, 20).unwrap();
    let after = device.record().unwrap();
    assert_eq!(device.elapsed(&before, &after), Ok(Duration::ZERO));
    device.synchronize().unwrap();
    let mut found = [1; 320];
    device.download(&to, 0, &mut found).unwrap();
    assert_eq!(found, [0; 320]);
    stream.synchronize().unwrap();
    device.download(&to, 0, &mut found).unwrap();
    assert!(found[..] == expected);

    // More than a further stream has pinned, on another thread, and after the first stream was dropped.
    let length = (9 << 20) + 777;
    let expected = pattern(length, 5);
    let mut large = device.allocate(length).unwrap();
    drop(device);
    let stream = std::thread::spawn(move || {
        stream.upload(&expected, &mut large, 0).unwrap();
        let mut found = vec![0; length];
        stream.download(&large, 0, &mut found).unwrap();
        assert!(found == expected);
        copy(&stream, &from, &to, 20).unwrap();
        stream.upload(&[1; 1000], &mut large, 0).unwrap();
        stream
    });
    // The third stream has work queued when the stream it was created from is dropped.
    let stream = stream.join().unwrap();
    let third = stream.new_stream().unwrap();
    let mut other = third.allocate(1000).unwrap();
    third.upload(&[2; 1000], &mut other, 0).unwrap();
    drop(stream);
    let mut found = [0; 1000];
    third.download(&other, 0, &mut found).unwrap();
    assert_eq!(found, [2; 1000]);
}

fn launches() {
    let device = device(0);
    let mut from = device.allocate(320).unwrap();
    let mut to = device.allocate(320).unwrap();
    let expected = pattern(320, 3);
    device.upload(&expected, &mut from, 0).unwrap();
    device.clear(&mut to).unwrap();
    let before = device.record().unwrap();
    copy(&device, &from, &to, 20).unwrap();
    let after = device.record().unwrap();
    let mut found = [0; 320];
    device.download(&to, 0, &mut found).unwrap();
    assert!(found[..] == expected);
    let elapsed = device.elapsed(&before, &after).unwrap();
    assert!(elapsed >= Duration::from_millis(20), "{elapsed:?}");
    assert_eq!(device.elapsed(&after, &before), Ok(Duration::ZERO));

    // A launch cannot use the kernel's static shared memory.
    let mut launch = Launch {
        entry: Entry::Copy,
        blocks: 1,
        threads: 32,
        shared_bytes: 232_448 - 1024,
        arguments: vec![
            Argument::Buffer(&from),
            Argument::Buffer(&to),
            Argument::Number(1),
        ],
    };
    assert_eq!(device.launch(&launch), Ok(()));
    let reason = |launch: &Launch<'_, Buffer>| match device.launch(launch) {
        Err(DeviceError::Launch { kernel, reason }) => format!("{kernel}: {reason}"),
        other => panic!("{other:?}"),
    };
    launch.shared_bytes += 1;
    assert_eq!(
        reason(&launch),
        "arc_copy: a block may have 231424 bytes of shared memory, not 231425"
    );
    launch.shared_bytes = 0;
    launch.threads = 48;
    assert_eq!(reason(&launch), "arc_copy: 1 blocks of 48 threads");
    launch.threads = 32;
    launch.arguments.pop();
    assert_eq!(reason(&launch), "arc_copy: it takes 3 arguments, not 2");
    device.synchronize().unwrap();
}

/// The first stream pins as much as makes copies fast, further streams only what they need.
fn further_streams_pin_less(log: &Log) {
    let mebibytes: Vec<_> = log.pinned().iter().map(|bytes| bytes >> 20).collect();
    assert_eq!(mebibytes, [16, 2, 4, 2, 4, 2]);
}
