//! Small kernels: what they compute, and what they may not do.

use proptest::prelude::{Strategy, any, proptest};

use super::*;
use crate::device::Entry;
use crate::device::open;

mod branches;

/// A kernel with one body: `%r1` is the number of the thread, `%r2` the word of the second buffer at
/// that place, and `%r3` what is written there into the first one.
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

/// What a kernel makes of some words, or why it fails.
fn run_with(
    body: &str,
    words: &[u32],
    threads: u32,
    shared_bytes: u32,
) -> Result<Vec<u32>, String> {
    run_text(&kernel(body), words, threads, shared_bytes)
}

/// What a module's kernel makes of some words, or why it fails.
fn run_text(
    text: &str,
    words: &[u32],
    threads: u32,
    shared_bytes: u32,
) -> Result<Vec<u32>, String> {
    let device = device(text);
    match launch_copy(&device, words, threads, shared_bytes) {
        Err(DeviceError::Kernel { reason, .. }) => {
            // Nothing more is accepted.
            assert!(matches!(
                device.synchronize(),
                Err(DeviceError::Lost { .. })
            ));
            Err(reason)
        }
        done => Ok(done.unwrap()),
    }
}

/// Launches the kernel on some words, and gives what it writes.
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

/// That a kernel fails at a line of its body, in a lane, for a reason.
fn fails(body: &str, line: u32, lane: u32, reason: &str) {
    let found = run(body, &numbers()).unwrap_err();
    let place = format!("line {} (`", BODY + line);
    assert!(found.starts_with(&place), "{found}");
    assert!(found.contains(&format!("`), lane {lane}: ")), "{found}");
    assert!(found.contains(reason), "{found}");
}

#[test]
fn lanes_that_part_meet_again() {
    // Each lane loops as often as its number says; the vote behind needs all of them.
    let body = "\tmov.u32 %r3, 0;
\tmov.u32 %r4, %r1;
LOOP:
\tsetp.eq.s32 %p1, %r4, 0;
\t@%p1 bra OUT;
\tadd.s32 %r3, %r3, 5;
\tadd.s32 %r4, %r4, -1;
\tbra.uni LOOP;
OUT:
\tsetp.ge.u32 %p2, %r1, 16;
\t@!%p2 bra ELSE;
\tadd.s32 %r3, %r3, 1000;
\tbra.uni BOTH;
ELSE:
\tadd.s32 %r3, %r3, 2000;
BOTH:
\tvote.sync.ballot.b32 %r5, %p2, -1;
\tadd.s32 %r3, %r3, %r5;";
    let expected = (0..32u32).map(|lane| {
        let side = if lane >= 16 { 1000 } else { 2000 };
        (lane * 5 + side).wrapping_add(0xffff_0000)
    });
    assert_eq!(run(body, &numbers()), Ok(expected.collect()));
}

#[test]
fn guards_choose_lanes() {
    let body = "\tsetp.lt.u32 %p1, %r1, 3;
\tmov.u32 %r3, 1;
\t@%p1 mov.u32 %r3, 2;
\t@!%p1 add.s32 %r3, %r3, %r2;";
    let expected = numbers().into_iter().zip(0..);
    let expected = expected.map(|(word, lane)| if lane < 3 { 2 } else { 1 + word });
    assert_eq!(run(body, &numbers()), Ok(expected.collect()));
}

#[test]
fn values_come_from_other_lanes() {
    let up = "\tshfl.sync.up.b32 %r3|%p1, %r2, 1, 0, -1;\n\t@!%p1 mov.u32 %r3, 9;";
    let mut expected = vec![9];
    expected.extend(&numbers()[..31]);
    assert_eq!(run(up, &numbers()), Ok(expected));
    let idx = "\tshfl.sync.idx.b32 %r3, %r2, 4, 31, -1;";
    assert_eq!(run(idx, &numbers()), Ok(vec![31; 32]));
    let bfly = "\tshfl.sync.bfly.b32 %r3|%p1, %r1, 16, 31, -1;";
    let expected = (0..32).map(|lane| lane ^ 16).collect();
    assert_eq!(run(bfly, &numbers()), Ok(expected));
    let down = "\tshfl.sync.down.b32 %r3, %r1, 1, 0x1807, -1;";
    // Segments of eight lanes.
    let expected = (0..32).map(|lane| if lane % 8 == 7 { lane } else { lane + 1 });
    assert_eq!(run(down, &numbers()), Ok(expected.collect()));
}

#[test]
fn a_function_returns_by_lanes() {
    let text = kernel(
        "\t{
\t.param .b32 given;
\tst.param.b32 [given+0], %r2;
\t.param .b32 result;
\tcall.uni (result), half, (given);
\tld.param.b32 %r3, [result+0];
\t}",
    );
    let function = ".func (.param .b32 back) half(.param .b32 value)
{
\t.reg .pred %p<2>;
\t.reg .b32 %r<4>;
\tld.param.u32 %r1, [value];
\tand.b32 %r2, %r1, 1;
\tsetp.eq.s32 %p1, %r2, 0;
\t@%p1 bra EVEN;
\tst.param.b32 [back+0], %r1;
\tret;
EVEN:
\tshr.u32 %r3, %r1, 1;
\tst.param.b32 [back+0], %r3;
\tret;
}
";
    let text = text.replace(".visible .entry", &format!("{function}.visible .entry"));
    let expected = numbers()
        .into_iter()
        .map(|word| if word % 2 == 0 { word / 2 } else { word });
    assert_eq!(run_text(&text, &numbers(), 32, 0), Ok(expected.collect()));
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

#[test]
fn memory_is_shared_between_barriers() {
    let expected = (0..32).map(|lane: u32| (lane ^ 1) * 7 + 3).collect();
    assert_eq!(run(NEIGHBOUR, &numbers()), Ok(expected));
    let without = NEIGHBOUR.replace("\tbar.warp.sync -1;\n", "");
    fails(
        &without,
        7,
        0,
        "a race: lane 1 has written this word since the last barrier",
    );
    // A vote is no barrier of memory.
    let vote = NEIGHBOUR.replace(
        "bar.warp.sync -1;",
        "setp.eq.s32 %p1, %r1, 0;\n\tvote.sync.any.pred %p2, %p1, -1;",
    );
    fails(&vote, 9, 0, "a race: lane 1 has written");
    let again = format!("{NEIGHBOUR}\n\tst.u32 [%rd8], %r3;");
    fails(
        &again,
        9,
        0,
        "a race: lane 1 has read this word since the last barrier",
    );
    let one = format!("{NEIGHBOUR}\n\tst.u32 [%rd7], %r3;");
    assert!(
        run(&one, &numbers())
            .unwrap_err()
            .contains("a race: lane 1 has read")
    );
    let twice = format!("\tmov.u32 %r3, 0;\n\tst.global.u32 [%rd1], %r1;\n{NEIGHBOUR}");
    fails(&twice, 1, 1, "a race: lane 0 has written this word");
}

#[test]
fn warps_have_parts_of_their_own() {
    let words: Vec<u32> = (0..64).collect();
    let both = run_with(NEIGHBOUR, &words, 64, 256).unwrap();
    assert_eq!(
        both,
        (0..64u32).map(|thread| thread ^ 1).collect::<Vec<_>>()
    );
    // Half a word for each thread: the first warp writes into the second one's part.
    let found = run_with(NEIGHBOUR, &words, 64, 128).unwrap_err();
    assert!(
        found.contains("lane 16: byte 64 of shared memory is not the warp's"),
        "{found}"
    );
    let body = "\tmov.u32 %r3, 1;\n\tand.b32 %r4, %r1, 31;\n\tmul.wide.u32 %rd6, %r4, 4;
\tadd.s64 %rd7, %rd1, %rd6;\n\tst.global.u32 [%rd7], %r3;";
    let found = run_with(body, &words, 64, 0).unwrap_err();
    assert!(
        found.contains("a race: another warp has written this word"),
        "{found}"
    );
}

#[test]
fn atomic_accesses_do_not_race() {
    let body = "\tmov.u32 %r3, 0;
\tsetp.ne.s32 %p1, %r1, 0;
\tmov.u64 %rd6, shared;
\t@!%p1 st.shared.u32 [%rd6], %r3;
\tbar.warp.sync -1;
\tatom.shared.add.u32 %r3, [%rd6], %r1;
\tbar.warp.sync -1;
\tld.shared.u32 %r4, [%rd6];
\tadd.s32 %r3, %r3, %r4;";
    let before = (0..32u32).map(|lane| lane * lane.saturating_sub(1) / 2);
    assert_eq!(
        run(body, &numbers()),
        Ok(before.map(|sum| sum + 496).collect())
    );
    let plain = body.replacen("\tbar.warp.sync -1;\n\tld", "\tld", 1);
    assert!(
        run(&plain, &numbers())
            .unwrap_err()
            .contains("a race: lane ")
    );
}

#[test]
fn what_was_never_written_is_not_read() {
    fails(
        "\tadd.s32 %r3, %r2, %r9;",
        0,
        0,
        "a register is read that was never written",
    );
    let some = "\tsetp.eq.s32 %p1, %r1, 5;\n\t@!%p1 mov.u32 %r3, 1;";
    fails(some, 2, 5, "a register is read that was never written");
    let chosen = "\tsetp.lt.u32 %p1, %r1, 40;\n\tselp.b32 %r3, %r2, %r9, %p1;";
    assert_eq!(run(chosen, &numbers()), Ok(numbers()));
    let other = chosen.replace("40", "30");
    fails(&other, 1, 30, "a register is read");
    fails(
        "\tld.shared.u32 %r3, [shared+4];",
        0,
        0,
        "byte 4 is read and was never written",
    );
    fails(
        "\tld.global.u32 %r3, [%rd4];",
        0,
        0,
        "byte 0 is read and was never written",
    );
}

/// The gaps of a structure are passed on with it, and nobody reads them.
#[test]
fn what_was_never_written_may_be_passed_on() {
    let call = "\t{
\t.param .align 4 .b8 given[8];
\tst.param.v2.b32 [given+0], {%r2, %r9};
\tcall.uni taken, (given);
\t}
\tmov.u32 %r3, %r2;";
    let ends = |load: &str| {
        let taken = format!(
            ".func taken(.param .align 4 .b8 value[8])\n{{\n\t.reg .b32 %r<2>;\n\t{load}\n\tret;\n}}\n"
        );
        let text = kernel(call).replace(".visible .entry", &format!("{taken}.visible .entry"));
        run_text(&text, &[0; 32], 32, 0).map(|_| ())
    };
    assert_eq!(ends("ld.param.u32 %r1, [value];"), Ok(()));
    let error = ends("ld.param.u32 %r1, [value+4];").unwrap_err();
    assert!(
        error.contains("a parameter is read that was never written"),
        "{error}"
    );
}

#[test]
fn accesses_stay_where_they_belong() {
    fails(
        "\tld.global.u32 %r3, [%rd5+4];",
        0,
        31,
        "byte 128 is past the end of 128 bytes",
    );
    fails("\tld.global.u32 %r3, [%rd5+-4];", 0, 0, "is nobody's");
    fails(
        "\tld.global.u32 %r3, [%rd5+2];",
        0,
        0,
        "is not aligned to 4 bytes",
    );
    fails(
        "\tld.global.v2.u32 {%r3, %r4}, [%rd5];",
        0,
        1,
        "is not aligned to 8 bytes",
    );
    fails(
        "\tld.shared.u32 %r3, [shared+256];",
        0,
        0,
        "past the end of 256 bytes",
    );
    fails(
        "\tmov.u64 %rd6, shared;\n\tld.global.u32 %r3, [%rd6];",
        1,
        0,
        "is nobody's",
    );
    fails(
        "\tmov.u64 %rd6, table;\n\tmov.u32 %r3, 0;\n\tst.global.u32 [%rd6], %r3;",
        2,
        0,
        "a constant is written",
    );
    let constant = "\tld.const.u16 %rs1, [table+2];\n\tcvt.u32.u16 %r3, %rs1;";
    assert_eq!(run(constant, &numbers()), Ok(vec![0x0403; 32]));
}

#[test]
fn collectives_are_complete() {
    let parted = "\tmov.u32 %r3, 0;
\tsetp.lt.u32 %p1, %r1, 4;
\t@%p1 bra OUT;
\tvote.sync.any.pred %p2, %p1, -1;
OUT:";
    let there = "lanes 0xffffffff are named and 0xfffffff0 are there";
    fails(parted, 3, 4, there);
    let barrier = parted.replace("vote.sync.any.pred %p2, %p1, -1;", "bar.warp.sync -1;");
    fails(&barrier, 3, 4, there);
    let named = parted.replace("%p1, -1;", "%p1, -16;");
    assert_eq!(run(&named, &numbers()), Ok(vec![0; 32]));
    let other = "\tmov.u32 %r3, 0;\n\tadd.s32 %r4, %r1, -2;\n\tbar.warp.sync %r4;";
    fails(
        other,
        2,
        0,
        "it names the lanes 0xfffffffe, another 0xffffffff",
    );
    let absent = "\tmov.u32 %r3, 0;
\tsetp.lt.u32 %p1, %r1, 4;
\t@%p1 bra OUT;
\tshfl.sync.idx.b32 %r3, %r2, 1, 31, -16;
OUT:";
    fails(
        absent,
        3,
        4,
        "the value of lane 1 is taken, which is not there",
    );
}

#[test]
fn kernels_come_to_an_end() {
    fails(
        "LOOP:\n\tadd.s32 %r3, %r2, 1;\n\tbra.uni LOOP;",
        2,
        0,
        "more than 10000 instructions",
    );
    fails(
        "\tmov.u32 %r4, 0;\n\tdiv.u32 %r3, %r2, %r4;",
        1,
        0,
        "division by zero",
    );
    fails("\ttrap;", 0, 0, "a trap");
}

#[test]
fn what_is_not_known_is_named() {
    let text = kernel(
        "\tfrobnicate.b32 %r3, %r2;\n\tadd.f32 %r3, %r2, %r2;\n\tfrobnicate.b32 %r3, %r3;\n\tadd.s32 %r3, %r77, 1;",
    );
    let error = Module::parse(&text).unwrap_err().to_string();
    let lines = [BODY, BODY + 1, BODY + 3];
    assert_eq!(
        error,
        format!(
            "line {}: unknown instruction frobnicate.b32 of 2 operands; \
             line {}: unknown instruction add.f32 of 3 operands; \
             line {}: unknown instruction add.s32 of 3 operands",
            lines[0], lines[1], lines[2]
        )
    );
    for (text, named) in [
        (kernel("\tbra NOWHERE;"), "no label NOWHERE"),
        (kernel("\t.reg .f32 %f<3>;"), "registers .f32 %f < 3 >"),
        (kernel("\t// arc part nonsense"), "no part nonsense"),
        (kernel("\tcall.uni other;"), "no function other"),
        (kernel("").replace(".const", ".surface"), ".surface"),
        (kernel("{"), "the end of a function is missing"),
        (
            kernel("").replace("\tret;\n", ""),
            "a function without a return at its end",
        ),
    ] {
        let error = Module::parse(&text).unwrap_err().to_string();
        assert!(error.contains(named), "{error}");
    }
}

#[test]
fn recursion_is_refused() {
    let function =
        ".func one()\n{\n\tcall.uni two;\n\tret;\n}\n.func two()\n{\n\tcall.uni one;\n\tret;\n}\n";
    let text = kernel("").replace(".visible .entry", &format!("{function}.visible .entry"));
    let error = Module::parse(&text).unwrap_err().to_string();
    assert!(error.contains("recursion"), "{error}");
}

#[test]
fn launches_that_do_not_fit_are_refused() {
    let device = device(&kernel("\tmov.u32 %r3, 1;"));
    let buffer = device.allocate(128).unwrap();
    let launch = |threads, shared_bytes, arguments| Launch {
        entry: Entry::Copy,
        blocks: 1,
        threads,
        shared_bytes,
        arguments,
    };
    let arguments = || {
        vec![
            Argument::Buffer(&buffer),
            Argument::Buffer(&buffer),
            Argument::Number(1),
        ]
    };
    for launch in [
        launch(31, 0, arguments()),
        launch(0, 0, arguments()),
        launch(32, 1 << 20, arguments()),
        launch(32, 0, vec![Argument::Number(1)]),
        Launch {
            entry: Entry::Programs,
            ..launch(32, 0, arguments())
        },
    ] {
        let refused = device.launch(&launch);
        assert!(
            matches!(refused, Err(DeviceError::Launch { .. })),
            "{refused:?}"
        );
    }
}

#[test]
fn memory_is_counted_and_bounded() {
    let interpretation = Interpretation {
        bytes: 1000,
        ..Interpretation::default()
    };
    let device = open::interpreted(0, &interpretation).unwrap();
    let sibling = device.sibling().unwrap();
    let first = device.allocate(600).unwrap();
    let full = sibling.allocate(500).unwrap_err();
    let expected = DeviceError::OutOfMemory {
        requested: 500,
        free: 400,
        total: 1000,
    };
    assert_eq!(full, expected);
    drop(first);
    let mut second = sibling.allocate(500).unwrap();
    assert_eq!(device.memory().unwrap().free, 500);
    let past = device.upload(&[1; 3], &mut second, 498);
    assert!(matches!(
        past,
        Err(DeviceError::PastEnd { length: 500, .. })
    ));
}

#[test]
fn the_embedded_image_is_known() {
    let device = open::interpreted(0, &Interpretation::default()).unwrap();
    for entry in Entry::ALL {
        assert!(device.module().entry(entry.symbol()).is_some());
    }
    let broken = PTX.replacen("popc.b32", "popc.q32", 1);
    let line = 1 + broken
        .lines()
        .position(|line| line.contains("popc.q32"))
        .unwrap();
    let error = Module::parse(&broken).unwrap_err().to_string();
    assert_eq!(
        error,
        format!("line {line}: unknown instruction popc.q32 of 2 operands")
    );
}

#[test]
fn what_is_executed_is_counted_by_part_and_kind() {
    let text = kernel(
        "\t// arc part loop
\tadd.s32 %r3, %r2, 1;
\t// arc part operation
\tmul.wide.u32 %rd9, %r3, 4;
\tsetp.lt.u32 %p1, %r1, 4;
\t@%p1 bra OUT;
\tadd.s32 %r3, %r3, 1;
OUT:
\tst.global.u32 [%rd4], %r3;
\t// arc part loop",
    );
    let device = device(&text);
    launch_copy(&device, &[0; 32], 32, 0).unwrap();
    let counts = device.take_counts();
    let of = |part: Option<Part>, kind| counts.part(part).of(kind);
    let issued = |all, idle| Issued { all, idle };
    assert_eq!(counts.issued(), 15);
    let run = counts.operations()[0];
    assert_eq!((counts.operations().len(), run.instructions), (1, 5));
    assert!(
        device
            .module()
            .line(run.line)
            .contains("arc part operation")
    );
    assert_eq!(of(None, InstructionKind::Call), issued(2, 0));
    assert_eq!(of(None, InstructionKind::Global), issued(1, 0));
    let operation = Some(Part::Operation);
    assert_eq!(of(operation, InstructionKind::Word), issued(2, 1));
    assert_eq!(of(operation, InstructionKind::Long), issued(1, 0));
    assert_eq!(of(operation, InstructionKind::Branch), issued(1, 0));
    let traffic = counts.part(operation).traffic;
    let expected = Traffic {
        shared_bytes: 0,
        global_bytes: 128,
        sectors: 4,
    };
    assert_eq!(traffic, expected);
    assert_eq!(device.take_counts().issued(), 0);
}

/// An instruction of two operands, `%r2` and a number, against its definition.
fn agrees(instruction: &str, words: &[u32], number: u32, definition: impl Fn(u32, u32) -> u32) {
    let text = format!("\tmov.u32 %r4, {number};\n\t{instruction}");
    let expected = words.iter().map(|word| definition(*word, number)).collect();
    assert_eq!(run(&text, words), Ok(expected), "{instruction} {number}");
}

fn bits(value: u32) -> impl Iterator<Item = u32> {
    (0..32).map(move |bit| value >> bit & 1)
}

fn words() -> impl Strategy<Value = Vec<u32>> {
    let edges = proptest::sample::select(vec![0, 1, 31, 32, 0x7fff_ffff, 0x8000_0000, u32::MAX]);
    let one = proptest::prop_oneof![any::<u32>(), 0..70u32, edges];
    proptest::collection::vec(one, 32)
}

proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(24))]

    #[test]
    fn instructions_do_what_they_are_defined_to(words in words(), number in any::<u32>(), small in 0..70u32) {
        let signed = |f: fn(i32, i32) -> i32| move |a: u32, b: u32| f(a as i32, b as i32) as u32;
        agrees("add.s32 %r3, %r2, %r4;", &words, number, u32::wrapping_add);
        agrees("mul.lo.s32 %r3, %r2, %r4;", &words, number, u32::wrapping_mul);
        agrees("mul.hi.u32 %r3, %r2, %r4;", &words, number, |a, b| ((u64::from(a) * u64::from(b)) >> 32) as u32);
        agrees("mul.hi.s32 %r3, %r2, %r4;", &words, number, signed(|a, b| ((i64::from(a) * i64::from(b)) >> 32) as i32));
        agrees("div.s32 %r3, %r2, %r4;", &words, number | 1, signed(i32::wrapping_div));
        agrees("rem.u32 %r3, %r2, %r4;", &words, number | 1, |a, b| a % b);
        agrees("max.s32 %r3, %r2, %r4;", &words, number, signed(i32::max));
        agrees("min.u32 %r3, %r2, %r4;", &words, number, u32::min);
        agrees("shl.b32 %r3, %r2, %r4;", &words, small, |a, by| a.checked_shl(by).unwrap_or(0));
        agrees("shr.s32 %r3, %r2, %r4;", &words, small, |a, by| (i64::from(a as i32) >> by.min(63)) as u32);
        agrees("shf.l.wrap.b32 %r3, %r4, %r2, %r2;", &words, number, |a, b| {
            let by = a % 32;
            if by == 0 { a } else { a << by | b >> (32 - by) }
        });
        agrees("shf.r.clamp.b32 %r3, %r2, %r4, 40;", &words, number, |_, b| b);
        agrees("setp.lt.s32 %p1, %r2, %r4;\n\tselp.u32 %r3, 1, 0, %p1;", &words, number, |a, b| u32::from((a as i32) < b as i32));
        agrees("setp.gt.u32 %p1, %r2, %r4;\n\tselp.u32 %r3, 1, 0, %p1;", &words, number, |a, b| u32::from(a > b));
        agrees("cvt.u16.u32 %rs1, %r2;\n\tcvt.s32.s16 %r3, %rs1;", &words, number, |a, _| i32::from(a as i16) as u32);
        agrees("cvt.u16.u32 %rs1, %r2;\n\tcvt.u16.u32 %rs2, %r4;\n\tsetp.gt.s16 %p1, %rs1, %rs2;\n\tselp.u32 %r3, 1, 0, %p1;",
            &words, number, |a, b| u32::from(a as i16 > b as i16));
        agrees("cvt.u64.u32 %rd9, %r2;\n\tshl.b64 %rd10, %rd9, %r4;\n\tshr.u64 %rd11, %rd10, 32;\n\tcvt.u32.u64 %r3, %rd11;",
            &words, small, |a, by| u64::from(a).checked_shl(by).unwrap_or(0).checked_shr(32).unwrap_or(0) as u32);
        agrees("mov.b64 %rd9, {%r4, %r2};\n\tneg.s64 %rd10, %rd9;\n\tmov.b64 {%r5, %r3}, %rd10;", &words, number,
            |a, b| ((u64::from(a) << 32 | u64::from(b)).wrapping_neg() >> 32) as u32);
        agrees("brev.b32 %r5, %r2;\n\tclz.b32 %r6, %r5;\n\tpopc.b32 %r7, %r2;\n\tshl.b32 %r7, %r7, 8;\n\tor.b32 %r3, %r6, %r7;",
            &words, number, |a, _| a.trailing_zeros() | a.count_ones() << 8);
        agrees("bfind.shiftamt.u32 %r3, %r2;", &words, number, |a, _| if a == 0 { u32::MAX } else { a.leading_zeros() });
        agrees("lop3.b32 %r3, %r2, %r4, 0xff00, 0xe8;", &words, number, |a, b| a & b | a & 0xff00 | b & 0xff00);
    }

    #[test]
    fn fields_are_cut_out_and_put_in(words in words(), at in 0..40u32, count in 0..40u32, number in any::<u32>()) {
        agrees(&format!("bfe.u32 %r3, %r2, {at}, {count};"), &words, 0, |a, _| {
            bits(a).skip(at as usize).take(count as usize).zip(0..).map(|(bit, to)| bit << to).sum()
        });
        agrees(&format!("bfe.s32 %r3, %r2, {at}, {count};"), &words, 0, |a, _| {
            let sign = if count == 0 { 0 } else { a >> (at + count - 1).min(31) & 1 };
            let field = bits(a).skip(at as usize).take(count as usize).chain(std::iter::repeat(sign));
            field.zip(0..32).map(|(bit, to)| bit << to).sum()
        });
        agrees(&format!("bfi.b32 %r3, %r2, %r4, {at}, {count};"), &words, number, |a, b| {
            (0..32).map(|bit| {
                let inside = (at..at + count).contains(&bit);
                let from = if inside { a >> (bit - at) & 1 } else { b >> bit & 1 };
                from << bit
            }).sum()
        });
        agrees("prmt.b32 %r3, %r2, %r4, 0x7a04;", &words, number, |a, b| {
            let byte = |of: u32, number: u32| of >> (8 * number) & 0xff;
            let sign = if byte(a, 2) & 0x80 == 0 { 0 } else { 0xff };
            byte(b, 0) | byte(a, 0) << 8 | sign << 16 | byte(b, 3) << 24
        });
    }
}
