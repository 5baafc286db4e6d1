//! Divergence and reconvergence, guards, shuffles and votes, calls.

use super::*;

#[test]
fn lanes_that_part_meet_again() {
    // Each lane loops as often as its index; the vote afterwards needs all of them.
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

#[test]
fn collectives_are_complete() {
    let parted = "\tmov.u32 %r3, 0;
\tsetp.lt.u32 %p1, %r1, 4;
\t@%p1 bra OUT;
\tvote.sync.any.pred %p2, %p1, -1;
OUT:";
    let there = "lanes 0xffffffff are named, but 0xfffffff0 are active";
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
        "it names lanes 0xfffffffe, another lane names 0xffffffff",
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
        "a value is read from lane 1, which is not active",
    );
}
