//! Small kernels: what they compute, and which violations are detected.

use gpu_kernels::device::{Device as _, Entry};

use super::*;
use crate::open;

mod arithmetic;
mod branches;
mod device;
mod lanes;
mod memory;
mod parse;

/// A kernel with this body: `%r1` is the index of the thread, `%r2` the word of the second buffer at that index, and
/// `%r3` the word that is then written to the first buffer at that index.
fn kernel(body: &str) -> String {
    format!(
        ".version 8.2
.target sm_60
.address_size 64
.extern .shared .align 16 .b8 shared[];
.const .align 4 .b8 table[8] = {{1, 2, 3, 4, 5, 6, 7, 8}};
.visible .entry arc_copy(
\t.param .u64 to,
\t.param .u64 from,
\t.param .u32 count
)
{{
\t.reg .pred %p<10>;
\t.reg .b16 %rs<10>;
\t.reg .b32 %r<40>;
\t.reg .b64 %rd<40>;
\tld.param.u64 %rd1, [to];
\tld.param.u64 %rd2, [from];
\tmov.u32 %r1, %tid.x;
\tmul.wide.u32 %rd3, %r1, 4;
\tadd.s64 %rd4, %rd1, %rd3;
\tadd.s64 %rd5, %rd2, %rd3;
\tld.global.u32 %r2, [%rd5];
{body}
\tst.global.u32 [%rd4], %r3;
\tret;
}}
"
    )
}

/// The line of the body's first line.
const BODY: u32 = 23;

fn device(text: &str) -> InterpretedDevice {
    let module = Module::parse(text).unwrap_or_else(|error| panic!("{error}"));
    let interpretation = Interpretation {
        module: Some(Arc::new(module)),
        steps: 10_000,
        ..Interpretation::default()
    };
    open::interpreted(0, &interpretation).unwrap()
}

/// Runs a kernel on some words; returns what it writes, or why it fails.
fn run_with(
    body: &str,
    words: &[u32],
    threads: u32,
    shared_bytes: u32,
) -> Result<Vec<u32>, String> {
    run_text(&kernel(body), words, threads, shared_bytes)
}

/// Runs a module's kernel on some words; returns what it writes, or why it fails.
fn run_text(
    text: &str,
    words: &[u32],
    threads: u32,
    shared_bytes: u32,
) -> Result<Vec<u32>, String> {
    let device = device(text);
    match launch_copy(&device, words, threads, shared_bytes) {
        Err(DeviceError::Kernel { reason, .. }) => {
            // The device accepts no further work.
            assert!(matches!(
                device.synchronize(),
                Err(DeviceError::Lost { .. })
            ));
            Err(reason)
        }
        done => Ok(done.unwrap()),
    }
}

/// Launches the kernel on some words; returns what it writes.
fn launch_copy(
    device: &InterpretedDevice,
    words: &[u32],
    threads: u32,
    shared_bytes: u32,
) -> Result<Vec<u32>, DeviceError> {
    let bytes = words.len() * 4;
    let (to, mut from) = (
        device.allocate(bytes).unwrap(),
        device.allocate(bytes).unwrap(),
    );
    let given: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    device.upload(&given, &mut from, 0).unwrap();
    let launch = Launch {
        entry: Entry::Copy,
        blocks: 1,
        threads,
        shared_bytes,
        arguments: vec![
            Argument::Buffer(&to),
            Argument::Buffer(&from),
            Argument::Number(words.len() as u32),
        ],
    };
    device.launch(&launch)?;
    let mut found = vec![0; bytes];
    device.download(&to, 0, &mut found)?;
    let words = found
        .chunks(4)
        .map(|word| u32::from_le_bytes(word.try_into().unwrap()));
    Ok(words.collect())
}

fn run(body: &str, words: &[u32]) -> Result<Vec<u32>, String> {
    run_with(body, words, 32, 256)
}

fn numbers() -> Vec<u32> {
    (0..32).map(|lane| lane * 7 + 3).collect()
}

/// Asserts that a kernel fails at a line of its body, in a lane, for a reason.
fn fails(body: &str, line: u32, lane: u32, reason: &str) {
    let found = run(body, &numbers()).unwrap_err();
    let place = format!("line {} (`", BODY + line);
    assert!(found.starts_with(&place), "{found}");
    assert!(found.contains(&format!("`), lane {lane}: ")), "{found}");
    assert!(found.contains(reason), "{found}");
}

/// Each lane writes a word of shared memory and reads that of its neighbour.
const NEIGHBOUR: &str = "\tmov.u64 %rd6, shared;
\tcvta.shared.u64 %rd7, %rd6;
\tadd.s64 %rd8, %rd7, %rd3;
\tst.u32 [%rd8], %r2;
\tbar.warp.sync -1;
\txor.b32 %r4, %r1, 1;
\tmul.wide.u32 %rd9, %r4, 4;
\tadd.s64 %rd10, %rd6, %rd9;
\tld.shared.u32 %r3, [%rd10];";
