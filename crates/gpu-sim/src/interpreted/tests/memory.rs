//! Shared memory, races, reads of unwritten memory, bounds.

use super::*;

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
    // A vote is not a memory barrier.
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
    // Shared memory has half a word per thread, so the first warp writes into the second one's part.
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
fn bytes_of_a_word_are_written_apart() {
    let words: Vec<u32> = (0..64).collect();
    let body = |by: u32| {
        format!(
            "\tshr.u32 %r4, %r1, {by};\n\tmul.wide.u32 %rd6, %r4, 1;
\tadd.s64 %rd7, %rd1, %rd6;\n\tst.global.u8 [%rd7], %r1;\n\tmov.u32 %r3, 0;\n\tret;"
        )
    };
    let found = run_with(&body(0), &words, 64, 0).unwrap();
    let bytes = (0..64u8).collect::<Vec<_>>();
    let expected = bytes
        .chunks(4)
        .map(|of| u32::from_le_bytes([of[0], of[1], of[2], of[3]]));
    assert!(found.into_iter().take(16).eq(expected));
    let found = run_with(&body(1), &words, 64, 0).unwrap_err();
    assert!(found.contains("a race: lane 0 has written"), "{found}");
    let found = run_with(&body(5), &words, 64, 0).unwrap_err();
    assert!(found.contains("a race: "), "{found}");
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

/// The padding of a structure is passed on with it, and nothing reads it.
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
    fails("\tld.global.u32 %r3, [%rd5+-4];", 0, 0, "is not mapped");
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
        "is not mapped",
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
