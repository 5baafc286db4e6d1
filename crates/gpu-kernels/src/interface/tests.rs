//! What the fingerprint covers, and that rows agree with each other.

use super::*;

#[test]
fn the_fingerprint_is_of_every_line() {
    let body = header::body();
    let lines: Vec<&str> = body.lines().collect();
    let mut known = std::collections::HashSet::from([fingerprint()]);
    for at in (0..lines.len()).filter(|at| !lines[*at].is_empty()) {
        let changed = format!("{}~", lines[at]);
        let changed = [&lines[..at], &[&*changed], &lines[at + 1..]].concat();
        assert!(
            known.insert(header::fingerprint(&changed.join("\n"))),
            "{}",
            lines[at]
        );
    }
}

#[test]
fn the_committed_header_is_that_of_the_description() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../kernels/interface.cuh");
    let committed = std::fs::read_to_string(path).unwrap().replace("\r\n", "\n");
    assert!(
        committed == header_text(),
        "kernels/interface.cuh is out of date: run `cargo xtask docs`"
    );
}

#[test]
fn fields_of_a_word_share_no_bit() {
    for word in words::ALL {
        let mut taken = 0u32;
        for (name, field, _) in word.fields {
            let bits = field.put(u32::MAX);
            assert_eq!(taken & bits, 0, "{}::{name}", word.name);
            assert_eq!(bits.checked_shr(word.bits).unwrap_or(0), 0, "{}", word.name);
            taken |= bits;
        }
    }
}

#[test]
fn fields_have_room_for_what_they_hold() {
    let most = |numbers: &mut dyn Iterator<Item = u32>| numbers.max().unwrap_or_default();
    let immediate = words::immediate::STRUCTURE.mask();
    assert!(Structure::Frontiers.number() <= immediate);
    assert!(most(&mut Structure::ALL.iter().map(|s| s.number())) <= immediate);
    assert!(most(&mut Key::ALL.iter().map(|key| *key as u32)) <= words::immediate::KEY.mask());
    let bail_out = words::verdict::BAIL_OUT;
    assert!(most(&mut BailOut::ALL.iter().map(|b| *b as u32)) <= bail_out.mask());
    // A word of a warp has the codes of all evaluations side by side.
    const { assert!(constants::MAX_SIDE_BY_SIDE * constants::BAIL_OUT_BITS <= u32::BITS) };
    assert!(u16::try_from(operations::OPERATIONS.len()).is_ok());
}

#[test]
fn parts_of_words_come_back() {
    let pair = words::pair::I.put(-5_i32 as u32) | words::pair::J.put(-7_i32 as u32);
    assert_eq!(words::pair::I.get_signed(pair), -5);
    assert_eq!(words::pair::J.get_signed(pair), -7);
    assert_eq!(
        words::immediate::KEY.get(words::immediate::KEY.put(0x1ff)),
        0xff
    );
    for key in Key::ALL {
        assert_eq!(Key::of(*key as u8), Some(*key));
        assert_eq!(Key::by(key.function()), Some(*key));
    }
    assert_eq!(BailOut::of(0), None);
    assert_eq!(BailOut::of(BailOut::ALL.len() as u8 + 1), None);
}
