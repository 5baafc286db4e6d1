//! Instructions against their definitions.

use proptest::prelude::{Strategy, any, proptest};

use super::*;

/// Compares an instruction of two operands, `%r2` and a number, with its definition.
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
