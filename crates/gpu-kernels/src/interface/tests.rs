//! What the fingerprint covers, and that the description is one that can be.

use super::*;

/// Takes a change and what it is.
type Add<'a> = &'a mut dyn FnMut(String, &dyn Fn(&mut Description));

/// All that there is to change in a description, each change by itself.
fn changes() -> Vec<(String, Description)> {
    let mut changed = Vec::new();
    let mut add = |what: String, change: &dyn Fn(&mut Description)| {
        let mut description = Description::new();
        change(&mut description);
        changed.push((what, description));
    };
    let description = Description::new();
    numbers(&description, &mut add);
    layouts(&description, &mut add);
    calls(&description, &mut add);
    changed
}

/// Changes of constants and codes.
fn numbers(description: &Description, add: Add<'_>) {
    for (at, constant) in description.constants.iter().enumerate() {
        add(format!("{} of another value", constant.name), &|d| {
            let value = &mut d.constants[at].value;
            *value = match *value {
                Number::Signed(value) => Number::Signed(value ^ 1),
                Number::Unsigned(value) => Number::Unsigned(value ^ 1),
            };
        });
        add(format!("{} of another name", constant.name), &|d| {
            d.constants[at].name = "OTHER";
        });
    }
    for (at, enumeration) in description.enumerations.iter().enumerate() {
        for (code_at, code) in enumeration.codes.iter().enumerate() {
            add(format!("{} of another number", code.name), &|d| {
                d.enumerations[at].codes[code_at].number ^= 1;
            });
            add(format!("{} of another name", code.name), &|d| {
                d.enumerations[at].codes[code_at].name = "OTHER";
            });
        }
        add(format!("no last code of {}", enumeration.name), &|d| {
            d.enumerations[at].codes.pop();
        });
    }
}

/// Changes of packed words and structures.
fn layouts(description: &Description, add: Add<'_>) {
    for (at, word) in description.words.iter().enumerate() {
        for (field_at, field) in word.fields.iter().enumerate() {
            let name = format!("{}::{}", word.name, field.name);
            add(format!("{name} elsewhere"), &|d| {
                let shift = &mut d.words[at].fields[field_at].bits.shift;
                *shift = shift.checked_sub(1).unwrap_or(1);
            });
            if field.bits.what == Bits::Number && field.bits.shift + field.bits.width < word.bits {
                add(format!("{name} of another width"), &|d| {
                    d.words[at].fields[field_at].bits.width += 1;
                });
            }
            add(format!("{name} of another name"), &|d| {
                d.words[at].fields[field_at].name += "_";
            });
        }
        add(format!("{} of more bits", word.name), &|d| {
            d.words[at].bits += 1;
        });
    }
    for (at, record) in description.records.iter().enumerate() {
        for (field_at, field) in record.fields.iter().enumerate() {
            let name = format!("{}::{}", record.name, field.name);
            add(format!("{name} elsewhere"), &|d| {
                d.records[at].fields[field_at].offset ^= 4;
            });
            add(format!("{name} of another name"), &|d| {
                d.records[at].fields[field_at].name = "other";
            });
        }
        add(format!("{} of another size", record.name), &|d| {
            d.records[at].bytes += 4;
        });
        add(format!("{} aligned otherwise", record.name), &|d| {
            d.records[at].alignment *= 2;
        });
    }
}

/// Changes of kernels and operations.
fn calls(description: &Description, add: Add<'_>) {
    for (at, kernel) in description.kernels.iter().enumerate() {
        for (parameter_at, parameter) in kernel.parameters.iter().enumerate() {
            let name = format!("{} of {}", parameter.name, kernel.name);
            add(format!("{name} passed otherwise"), &|d| {
                let passed = &mut d.kernels[at].parameters[parameter_at].passed;
                *passed = match *passed {
                    Passed::Number => Passed::From("uint32_t"),
                    _ => Passed::Number,
                };
            });
            add(format!("{name} left out"), &|d| {
                d.kernels[at].parameters.remove(parameter_at);
            });
        }
        add(format!("{} by another name", kernel.name), &|d| {
            d.kernels[at].name = "other";
        });
    }
    for (at, operation) in description.operations.iter().enumerate() {
        add(format!("{} by another name", operation.name), &|d| {
            d.operations[at].name = "other";
        });
        add(format!("{} of another result", operation.name), &|d| {
            d.operations[at].gives = "AS_KEY";
        });
        add(format!("{} of one operand more", operation.name), &|d| {
            d.operations[at].takes.push("AS_INT");
        });
        if at > 0 {
            add(format!("{} one opcode lower", operation.name), &|d| {
                d.operations.swap(at - 1, at);
            });
        }
    }
    add("an operation by lanes left out".to_owned(), &|d| {
        d.lane_operations.pop();
    });
}

#[test]
fn whatever_changes_changes_the_fingerprint() {
    let mut known = std::collections::HashMap::from([(fingerprint(), "nothing".to_owned())]);
    let changes = changes();
    assert!(changes.len() > 1000, "{}", changes.len());
    for (what, description) in changes {
        // Two changes that come to the same have the same.
        if let Some(other) = known.insert(description.fingerprint(), what.clone()) {
            assert_ne!(other, "nothing", "{what} changes nothing");
        }
    }
}

#[test]
fn the_committed_header_is_that_of_the_description() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../kernels/interface.cuh");
    let committed = std::fs::read_to_string(path).unwrap().replace("\r\n", "\n");
    assert!(
        committed == Description::new().header(),
        "kernels/interface.cuh is out of date: run `cargo xtask docs`"
    );
}

#[test]
fn fields_of_a_word_share_no_bit_and_codes_no_number() {
    let description = Description::new();
    for word in &description.words {
        let mut taken = 0u32;
        for field in &word.fields {
            let bits = field.bits.put(u32::MAX);
            assert_eq!(taken & bits, 0, "{}::{}", word.name, field.name);
            assert_eq!(bits.checked_shr(word.bits).unwrap_or(0), 0, "{}", word.name);
            taken |= bits;
        }
    }
    for enumeration in &description.enumerations {
        let numbers: std::collections::HashSet<_> =
            enumeration.codes.iter().map(|code| code.number).collect();
        assert_eq!(
            numbers.len(),
            enumeration.codes.len(),
            "{}",
            enumeration.name
        );
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
