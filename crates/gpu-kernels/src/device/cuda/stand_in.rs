//! Devices of a library that stands in for the driver's, each in a process of its own: a process
//! opens the library once.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use super::super::Argument;
use super::*;
use crate::interface::CopyArguments;

/// Which of [`CASES`] a process is to run.
const CASE: &str = "FAKE_CASE";

/// The name of the test that runs them.
const RUNNER: &str = "device::cuda::stand_in::in_a_process_of_its_own";

/// What a case prints when it came to its end.
const THROUGH: &str = "the case is through";

/// The fingerprint of [`IMAGE`].
const FINGERPRINT: u64 = 7;

/// An image as far as the host reads it.
const IMAGE: &str = "\
.version 8.2
.target sm_60
.const .align 8 .u64 arc_fingerprint = 7;
.visible .entry arc_programs(
\t.param .u64 arc_programs_param_0
)
.visible .entry arc_copy(
\t.param .u64 arc_copy_param_0,
\t.param .u64 arc_copy_param_1,
\t.param .u32 arc_copy_param_2
)
";

type Case = (&'static str, fn());

const CASES: &[Case] = &[
    ("absent", || {
        assert_eq!(CudaDevice::count(), Err(Unavailable::NoDriverLibrary));
        assert_eq!(refusal(0), Unavailable::NoDriverLibrary);
    }),
    ("none", || {
        assert_eq!(CudaDevice::count(), Err(Unavailable::NoDevice));
        assert_eq!(listed(), Err(Unavailable::NoDevice));
        assert_eq!(refusal(0), Unavailable::NoDevice);
    }),
    ("stub", || {
        let expected = failed("cuInit", 34, "FAKE_34");
        assert_eq!(CudaDevice::count(), Err(expected.clone()));
        assert_eq!(refusal(0), expected);
    }),
    ("unnamed", || {
        assert_eq!(CudaDevice::count(), Err(failed("cuInit", 987, "unknown")));
    }),
    ("old", || {
        assert_eq!(CudaDevice::count(), Ok(1));
        let (driver, needed) = ((11, 8), (12, 2));
        let expected = Unavailable::DriverTooOld { driver, needed };
        assert_eq!(refusal(0), expected);
        assert_eq!(listed(), Err(expected));
    }),
    ("incomplete", || {
        assert_eq!(CudaDevice::count(), Ok(1));
        let expected = failed("cuCtxSetCurrent", 500, "not in the library");
        assert_eq!(refusal(0), expected);
        assert_eq!(listed(), Ok(vec![Err(expected)]));
    }),
    ("few", || {
        assert_eq!(CudaDevice::count(), Ok(2));
        for index in [2, usize::MAX] {
            let count = 2;
            assert_eq!(refusal(index), Unavailable::NoSuchDevice { index, count });
        }
        let names = listed().unwrap().into_iter();
        let names: Vec<_> = names.map(|information| information.unwrap().name).collect();
        assert_eq!(names, ["Fake 0", "Fake 1"]);
        assert_eq!(device(1).information().name, "Fake 1");
    }),
    ("small", || {
        let expected = Unavailable::TooOld {
            name: "Fake 0".to_owned(),
            found: (5, 2),
            needed: (6, 0),
        };
        assert_eq!(refusal(0), expected);
        assert_eq!(listed(), Ok(vec![Err(expected)]));
    }),
    ("stale", || {
        let image = Image::new(IMAGE);
        let expected = Unavailable::StaleImage {
            expected: 8,
            found: "0x0000000000000007".to_owned(),
        };
        let all = CudaDevice::all_with_image(8, &image);
        assert_eq!(all, Err(expected.clone()));
        assert_eq!(CudaDevice::with_image(0, 8, &image).unwrap_err(), expected);
    }),
    ("refused", || {
        let reason = "FAKE_218 (218) in cuModuleLoadDataEx: ptxas fatal : of a fake".to_owned();
        assert_eq!(refusal(0), Unavailable::ImageRefused { reason });
    }),
    ("unreadable", || {
        let (driver, needed) = ((12, 2), (12, 2));
        assert_eq!(refusal(0), Unavailable::DriverTooOld { driver, needed });
    }),
    ("kernelless", || {
        let reason = "FAKE_500 (500) in cuModuleGetFunction".to_owned();
        assert_eq!(refusal(0), Unavailable::ImageRefused { reason });
    }),
    ("information", || {
        let expected = Information {
            name: "Fake 0".to_owned(),
            kind: Kind::Cuda,
            capability: (9, 0),
            multiprocessors: 132,
            warps: 64,
            shared_bytes: 232_448,
            multiprocessor_shared_bytes: 233_472,
            bytes: 1 << 30,
            driver: Some((12, 2)),
        };
        assert_eq!(listed(), Ok(vec![Ok(expected.clone())]));
        let device = device(0);
        assert_eq!(*device.information(), expected);
        let (free, total) = (1 << 30, 1 << 30);
        assert_eq!(device.memory(), Ok(Memory { free, total }));
    }),
    ("copies", copies),
    ("launches", launches),
    ("full", || {
        let device = device(0);
        let held = device.allocate(600).unwrap();
        let error = DeviceError::OutOfMemory {
            requested: 401,
            free: 400,
            total: 1000,
        };
        assert_eq!(device.allocate(401).unwrap_err(), error);
        drop(held);
        assert_eq!(device.allocate(1000).unwrap().length, 1000);
        assert_eq!(device.allocate(0).unwrap().length, 1);
    }),
    ("fault", || {
        let device = device(0);
        let buffer = device.allocate(64).unwrap();
        copy(&device, &buffer, &buffer, 1).unwrap();
        let error = DeviceError::Kernel {
            kernel: "arc_copy",
            reason: "FAKE_700 (700) in cuStreamSynchronize".to_owned(),
        };
        assert_eq!(device.synchronize(), Err(error));
        // Whatever is tried next, and dropping, is no worse.
        let fault = |result: Result<(), DeviceError>| {
            assert!(matches!(result, Err(DeviceError::Kernel { .. })));
        };
        fault(device.download(&buffer, 0, &mut [0]));
        fault(copy(&device, &buffer, &buffer, 1));
        fault(device.allocate(1).map(drop));
        fault(device.record().map(drop));
        fault(device.memory().map(drop));
    }),
    ("lost", || {
        let device = device(0);
        let buffer = device.allocate(64).unwrap();
        copy(&device, &buffer, &buffer, 1).unwrap();
        let reason = "FAKE_214 (214) in cuEventSynchronize".to_owned();
        let lost = DeviceError::Lost { reason };
        assert_eq!(device.download(&buffer, 0, &mut [0; 9]), Err(lost));
    }),
    ("siblings", siblings),
    ("sibling faults", || {
        let device = device(0);
        let sibling = device.sibling().unwrap();
        let buffer = sibling.allocate(64).unwrap();
        copy(&sibling, &buffer, &buffer, 1).unwrap();
        assert!(sibling.synchronize().is_err());
        // The context is broken for both; this one has launched nothing.
        let reason = "FAKE_700 (700) in cuStreamSynchronize".to_owned();
        assert_eq!(device.synchronize(), Err(DeviceError::Lost { reason }));
        assert!(matches!(device.sibling(), Err(DeviceError::Lost { .. })));
    }),
    ("unlaunched", || {
        let device = device(0);
        let buffer = device.allocate(64).unwrap();
        let error = DeviceError::Launch {
            kernel: "arc_copy",
            reason: "FAKE_701 (701) in cuLaunchKernel".to_owned(),
        };
        assert_eq!(copy(&device, &buffer, &buffer, 1), Err(error));
    }),
];

fn failed(call: &'static str, code: i32, name: &str) -> Unavailable {
    let name = name.to_owned();
    Unavailable::Driver { call, code, name }
}

fn device(index: usize) -> CudaDevice {
    CudaDevice::with_image(index, FINGERPRINT, &Image::new(IMAGE)).unwrap()
}

fn refusal(index: usize) -> Unavailable {
    CudaDevice::with_image(index, FINGERPRINT, &Image::new(IMAGE)).unwrap_err()
}

fn listed() -> Result<Vec<Result<Information, Unavailable>>, Unavailable> {
    CudaDevice::all_with_image(FINGERPRINT, &Image::new(IMAGE))
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

/// Bytes that differ from one place and one seed to the next.
fn pattern(length: usize, seed: usize) -> Vec<u8> {
    let byte = |at: usize| at + (at >> 8) * 3 + (at >> 20) * 5 + seed * 101;
    (0..length).map(|at| byte(at) as u8).collect()
}

fn copies() {
    let device = device(0);
    // More than all that is pinned, at odd places.
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

    // Many small ones, none waited for, so that they share what is pinned.
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
    // The device goes while this is on its way, its memory after it.
    device.upload(&[1; 1000], &mut buffer, 0).unwrap();
    drop(device);
    drop((buffer, other));
}

fn siblings() {
    let device = device(0);
    let sibling = device.sibling().unwrap();
    assert_eq!(sibling.information(), device.information());
    let mut from = sibling.allocate(320).unwrap();
    let mut to = device.allocate(320).unwrap();
    let memory = device.memory().unwrap();
    assert_eq!(memory.total - memory.free, 640);
    assert_eq!(sibling.memory(), Ok(memory));
    let expected = pattern(320, 3);
    sibling.upload(&expected, &mut from, 0).unwrap();
    device.clear(&mut to).unwrap();
    device.synchronize().unwrap();

    // What one was asked for is nothing that the other waits for, or counts as its own.
    let before = device.record().unwrap();
    copy(&sibling, &from, &to, 20).unwrap();
    let after = device.record().unwrap();
    assert_eq!(device.elapsed(&before, &after), Ok(Duration::ZERO));
    device.synchronize().unwrap();
    let mut found = [1; 320];
    device.download(&to, 0, &mut found).unwrap();
    assert_eq!(found, [0; 320]);
    sibling.synchronize().unwrap();
    device.download(&to, 0, &mut found).unwrap();
    assert!(found[..] == expected);

    // More than a sibling has pinned, on another thread, and after its origin is gone.
    let length = (9 << 20) + 777;
    let expected = pattern(length, 5);
    let mut large = device.allocate(length).unwrap();
    drop(device);
    let sibling = std::thread::spawn(move || {
        sibling.upload(&expected, &mut large, 0).unwrap();
        let mut found = vec![0; length];
        sibling.download(&large, 0, &mut found).unwrap();
        assert!(found == expected);
        copy(&sibling, &from, &to, 20).unwrap();
        sibling.upload(&[1; 1000], &mut large, 0).unwrap();
        sibling
    });
    // Of the third, work is under way when its first sibling goes.
    let sibling = sibling.join().unwrap();
    let third = sibling.sibling().unwrap();
    let mut other = third.allocate(1000).unwrap();
    third.upload(&[2; 1000], &mut other, 0).unwrap();
    drop(sibling);
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
    let millisecond = Duration::from_millis(1);
    assert_eq!(device.elapsed(&before, &after), Ok(millisecond));
    assert_eq!(device.elapsed(&after, &before), Ok(Duration::ZERO));

    // The kernel's own shared memory is not to be had.
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

/// The process of a case; otherwise what this machine has.
#[test]
fn in_a_process_of_its_own() {
    let Ok(wanted) = std::env::var(CASE) else {
        assert_eq!(CudaDevice::count(), CudaDevice::count());
        return;
    };
    let (_, case) = CASES.iter().find(|(name, _)| *name == wanted).unwrap();
    case();
    println!("{THROUGH}");
}

/// Runs a case with the libraries in a folder before all others, and gives what it prints.
#[track_caller]
fn run(libraries: &Path, case: &str, settings: &[(&str, i64)]) -> String {
    let settings = settings
        .iter()
        .map(|(name, value)| (name, value.to_string()));
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", RUNNER, "--nocapture", "--test-threads=1"])
        .env("LD_LIBRARY_PATH", libraries)
        .env(CASE, case)
        // A device that is broken gives nothing back; the cases that have to count what is held.
        .env("ASAN_OPTIONS", "detect_leaks=0")
        .envs(settings)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(
        output.status.success() && said.contains(THROUGH),
        "{case}: {}\n{said}",
        output.status
    );
    said
}

/// A folder with the stand-in, or nothing where there is no C compiler, which is told.
fn stand_in(options: &[&str]) -> Option<tempfile::TempDir> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/device/cuda/stand_in/driver.c");
    let folder = tempfile::tempdir().unwrap();
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let compiled = Command::new(&compiler)
        // What is loaded into the tests, as a sanitizer is, has no place in the compiler.
        .env_remove("LD_PRELOAD")
        .args([
            "-std=gnu11",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-Wno-sign-compare",
        ])
        .args(["-O1", "-shared", "-fPIC"])
        .args(options)
        .arg(source)
        .arg("-o")
        .arg(folder.path().join("libcuda.so"))
        .output();
    let Ok(output) = compiled else {
        // Past what the harness captures.
        let _ = writeln!(
            std::io::stderr(),
            "a stand-in for the driver: skipped: there is no C compiler {}",
            compiler.display()
        );
        return None;
    };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    Some(folder)
}

#[test]
fn without_the_library_there_is_no_driver() {
    // Found before any other, and no library.
    let folder = tempfile::tempdir().unwrap();
    for name in [
        "libcuda.so",
        "libcuda.so.1",
        "libnvcuda.so",
        "libnvcuda.so.1",
    ] {
        std::fs::write(folder.path().join(name), "no library").unwrap();
    }
    run(folder.path(), "absent", &[]);
}

#[test]
fn a_library_that_only_counts_explains_itself() {
    let Some(folder) = stand_in(&["-DCOUNTING_ONLY"]) else {
        return;
    };
    let run = |case, settings: &[_]| run(folder.path(), case, settings);
    run("none", &[("FAKE_INIT", 100)]);
    run("none", &[("FAKE_COUNT", 0)]);
    run("none", &[("FAKE_COUNT", -1)]);
    run("stub", &[("FAKE_INIT", 34)]);
    run("unnamed", &[("FAKE_INIT", 987)]);
    run("old", &[("FAKE_VERSION", 11080)]);
    run("incomplete", &[]);
}

#[test]
fn a_device_that_cannot_be_had_explains_itself() {
    let Some(folder) = stand_in(&[]) else { return };
    let run = |case, settings: &[_]| run(folder.path(), case, settings);
    run("few", &[("FAKE_COUNT", 2)]);
    run("small", &[("FAKE_CAPABILITY", 52)]);
    run("stale", &[]);
    run("refused", &[("FAKE_LOAD", 218)]);
    run("unreadable", &[("FAKE_LOAD", 222)]);
    run("kernelless", &[("FAKE_NO_KERNELS", 1)]);
}

#[test]
fn a_device_copies_launches_and_frees_all_it_held() {
    let Some(folder) = stand_in(&[]) else { return };
    let cases = [
        ("information", None),
        ("copies", None),
        ("launches", Some(("FAKE_SHARED", 1024))),
        ("siblings", None),
        ("full", Some(("FAKE_MEMORY", 1000))),
        ("unlaunched", Some(("FAKE_LAUNCH", 701))),
    ];
    for (case, setting) in cases {
        let said = run(folder.path(), case, setting.as_slice());
        assert!(said.contains("all was given back"), "{case}: {said}");
    }
}

#[test]
fn a_sibling_pins_less_than_its_origin() {
    let Some(folder) = stand_in(&[]) else { return };
    let said = run(folder.path(), "siblings", &[]);
    let pinned = said.lines().filter_map(|line| {
        // The harness does not end its line before the first.
        let number = line.strip_suffix(" bytes are pinned")?.rsplit(' ').next()?;
        number.parse::<usize>().ok()
    });
    let mebibytes = pinned.map(|bytes| bytes >> 20).collect::<Vec<_>>();
    assert_eq!(mebibytes, [16, 2, 4, 2, 4, 2]);
}

#[test]
fn a_broken_device_says_so_ever_after() {
    let Some(folder) = stand_in(&[]) else { return };
    run(folder.path(), "fault", &[("FAKE_FAULT", 700)]);
    run(folder.path(), "sibling faults", &[("FAKE_FAULT", 700)]);
    run(folder.path(), "lost", &[("FAKE_FAULT", 214)]);
}
