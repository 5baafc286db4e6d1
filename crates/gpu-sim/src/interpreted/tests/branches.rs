//! Branches by an index, and predicates that are numbers.

use proptest::prelude::{any, proptest};

use super::*;

/// Lanes branch to three targets by `%r4`, through a table whose last entry repeats the first, and vote afterwards.
fn three_ways(opcode: &str, index: &str) -> String {
    format!(
        "\t{index}
WAYS: .branchtargets
\t$L__A, $L__B,
\t$L__C,
\t$L__A;
\t{opcode} \t%r4, WAYS;
$L__A:
\tadd.s32 %r3, %r2, 1000;
\tbra.uni $L__MEET;
$L__B:
\tadd.s32 %r3, %r2, 2000;
\tbra.uni $L__MEET;
$L__C:
\tadd.s32 %r3, %r2, 3000;
$L__MEET:
\tsetp.ge.u32 %p1, %r1, 0;
\tvote.sync.ballot.b32 %r5, %p1, -1;
\tadd.s32 %r3, %r3, %r5;"
    )
}

/// The result of [`three_ways`] for a word.
fn on_way(index: u32, word: u32) -> u32 {
    let more = [1000, 2000, 3000, 1000][index as usize];
    (word + more).wrapping_add(u32::MAX)
}

#[test]
fn all_lanes_go_where_an_index_says() {
    for index in 0..4 {
        let set = format!("mov.u32 %r4, {index};");
        let expected: Vec<u32> = numbers().iter().map(|word| on_way(index, *word)).collect();
        for opcode in ["brx.idx.uni", "brx.idx"] {
            assert_eq!(
                run(&three_ways(opcode, &set), &numbers()),
                Ok(expected.clone())
            );
        }
    }
}

#[test]
fn a_table_may_stand_anywhere_in_its_function() {
    let table = "WAYS: .branchtargets\n\t$L__A, $L__B,\n\t$L__C,\n\t$L__A;\n";
    let text = three_ways("brx.idx.uni", "mov.u32 %r4, 2;");
    let behind = format!("{}\n{table}", text.replace(table, ""));
    assert_eq!(run(&behind, &numbers()), run(&text, &numbers()));
    // Each function has its own tables.
    let function = ".func other()
{
\t.reg .b32 %r<2>;
\tmov.u32 %r1, 0;
WAYS: .branchtargets $L__A;
\tbrx.idx.uni %r1, WAYS;
\ttrap;
$L__A:
\tret;
}
";
    let text = kernel(&format!("\tcall.uni other;\n{text}"));
    let text = text.replace(".visible .entry", &format!("{function}.visible .entry"));
    let expected = numbers().iter().map(|word| on_way(2, *word)).collect();
    assert_eq!(run_text(&text, &numbers(), 32, 0), Ok(expected));
}

#[test]
fn an_index_stays_within_its_table() {
    let past = three_ways("brx.idx.uni", "mov.u32 %r4, 4;");
    fails(&past, 5, 0, "branch target 4 of a table of 4");
    let some = three_ways("brx.idx", "shr.u32 %r4, %r1, 2;");
    fails(&some, 5, 16, "branch target 4 of a table of 4");
    let unwritten = three_ways("brx.idx", "mov.u32 %r6, 4;");
    fails(
        &unwritten,
        5,
        0,
        "a register is read that was never written",
    );
}

#[test]
fn lanes_of_a_uniform_branch_agree() {
    // Two different indices count as different even if they have the same target.
    let other = three_ways(
        "brx.idx.uni",
        "setp.lt.u32 %p3, %r1, 9;\n\tselp.u32 %r4, 0, 3, %p3;",
    );
    let reason = "lane 9 branches elsewhere, although the branch is declared uniform";
    fails(&other, 6, 0, reason);
    let guarded = three_ways(
        "@%p3 brx.idx.uni",
        "setp.lt.u32 %p3, %r1, 9;\n\tmov.u32 %r4, 1;",
    );
    fails(&guarded, 6, 0, reason);
    let all = guarded.replace("%r1, 9;", "%r1, 99;");
    let expected = numbers().iter().map(|word| on_way(1, *word)).collect();
    assert_eq!(run(&all, &numbers()), Ok(expected));
}

#[test]
fn where_all_ways_end_nobody_waits() {
    // The lanes do not reconverge: each side returns, and one of the two never writes.
    let body = "\tand.b32 %r4, %r1, 1;
\tmov.u32 %r3, %r2;
\tbrx.idx %r4, WAYS;
WAYS: .branchtargets EVEN, ODD;
EVEN:
\tst.global.u32 [%rd4], %r1;
\tret;
ODD:";
    let expected = (0..32).map(|lane| if lane % 2 == 0 { lane } else { lane * 7 + 3 });
    assert_eq!(run(body, &numbers()), Ok(expected.collect()));
}

#[test]
fn tables_that_are_not_whole_are_named() {
    for (body, named) in [
        ("\tbrx.idx %r2, WAYS;", "no table of branch targets WAYS"),
        ("WAYS: .branchtargets NOWHERE;", "no label NOWHERE"),
        (
            "WAYS: .branchtargets ;",
            "branch targets WAYS: a label expected, `` found",
        ),
        (
            "A:\nB:\nWAYS: .branchtargets A B;",
            "branch targets WAYS: a label expected, `A B` found",
        ),
        ("\t.branchtargets A;", "unknown instruction .branchtargets"),
        (
            "A:\nWAYS: .branchtargets A;\n\tbrx.idx %rd1, WAYS;",
            "unknown instruction brx.idx of 2 operands",
        ),
    ] {
        let error = Module::parse(&kernel(body)).unwrap_err().to_string();
        assert!(error.contains(named), "{error}");
    }
}

#[test]
fn predicates_may_be_numbers() {
    let chosen = |instructions: &str| {
        let body =
            format!("\tsetp.lt.u32 %p1, %r1, 3;\n\t{instructions}\n\tselp.u32 %r3, 1, 0, %p2;");
        let found = run(&body, &numbers()).unwrap();
        (0..).zip(found).map(|(lane, bit)| bit << lane).sum::<u32>()
    };
    assert_eq!(chosen("mov.pred %p2, -1;"), u32::MAX);
    assert_eq!(chosen("mov.pred %p2, 0;"), 0);
    assert_eq!(chosen("mov.pred %p2, %p1;"), 7);
    assert_eq!(chosen("xor.pred %p2, %p1, -1;"), !7);
    assert_eq!(chosen("and.pred %p2, 1, %p1;"), 7);
    assert_eq!(chosen("or.pred %p2, %p1, 1;"), u32::MAX);
    assert_eq!(chosen("not.pred %p2, %p1;"), !7);
    fails(
        "\txor.pred %p2, %p1, -1;",
        0,
        0,
        "a register is read that was never written",
    );
}

proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(32))]

    #[test]
    fn lanes_that_part_by_an_index_meet_again(choice in proptest::array::uniform32(0..4u32), some in any::<u32>()) {
        // Two bits of a word select the lane's target, a third is its guard.
        let words: Vec<u32> = (0..32).map(|lane| choice[lane as usize] | (some >> lane & 1) << 2).collect();
        let expected = words.iter().map(|word| on_way(word & 3, *word));
        let body = three_ways("brx.idx", "and.b32 %r4, %r2, 3;");
        assert_eq!(run(&body, &words), Ok(expected.collect()));
        // Lanes whose guard is false fall through to the first side.
        let guarded = three_ways(
            "@%p4 brx.idx",
            "and.b32 %r4, %r2, 3;\n\tand.b32 %r6, %r2, 4;\n\tsetp.ne.s32 %p4, %r6, 0;",
        );
        let expected = words.iter().map(|word| on_way(if word & 4 == 0 { 0 } else { word & 3 }, *word));
        assert_eq!(run(&guarded, &words), Ok(expected.collect()));
    }
}
