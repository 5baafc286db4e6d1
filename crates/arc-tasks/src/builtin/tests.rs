//! Checks the properties of the table, the text and the generators for every built-in program.

use std::collections::HashSet;

use arc_dsl::{Callee, Operand, Primitive};

use super::*;
use crate::task::MAX_SIDE;

/// Pairs of all sizes: index `at` has at most `at % 30 + 1` rows and columns.
fn pairs(built_in: &BuiltIn, count: usize) -> impl Iterator<Item = (usize, Pair)> {
    (0..count).map(|at| (at, built_in.pair(11, at, at % MAX_SIDE + 1)))
}

/// Whether a grid is valid in the ARC data.
fn is_valid(grid: &Grid) -> bool {
    let sides = 1..=MAX_SIDE;
    sides.contains(&grid.height())
        && sides.contains(&grid.width())
        && grid.cells().iter().all(|colour| (0..=9).contains(colour))
}

#[test]
fn table_and_text_have_the_same_programs_in_one_order() {
    let programs: Vec<Program> = parse_programs(TEXT)
        .into_iter()
        .map(Result::unwrap)
        .collect();
    let parsed: Vec<&str> = programs.iter().map(Program::task_id).collect();
    let listed: Vec<&str> = TABLE.iter().map(|row| row.id).collect();
    assert_eq!(parsed, listed);
    assert_eq!(all().iter().map(BuiltIn::id).collect::<Vec<_>>(), listed);
    assert_eq!(listed.iter().collect::<HashSet<_>>().len(), listed.len());
    for id in listed {
        assert!(id.bytes().all(|byte| byte.is_ascii_lowercase()), "{id}");
        assert_eq!(get(id).unwrap().id(), id);
    }
    assert!(get("unheard").is_none());
}

#[test]
fn every_kind_has_enough_programs() {
    assert!(all().len() >= 60);
    assert!(all().is_sorted_by_key(BuiltIn::kind));
    for &kind in BuiltinKind::ALL {
        let count = all()
            .iter()
            .filter(|built_in| built_in.kind() == kind)
            .count();
        let enough = if kind == BuiltinKind::Whole { 25 } else { 6 };
        assert!(count >= enough, "{kind}: {count}");
    }
}

#[test]
fn every_primitive_is_used() {
    let mut used = HashSet::new();
    for step in all().iter().flat_map(|built_in| built_in.program().steps()) {
        if let Callee::Primitive(primitive) = step.callee {
            used.insert(primitive);
        }
        used.extend(step.arguments.iter().filter_map(|operand| match operand {
            Operand::Primitive(primitive) => Some(*primitive),
            _ => None,
        }));
    }
    let missing: Vec<_> = Primitive::of_reference()
        .filter(|p| !used.contains(p))
        .collect();
    assert!(missing.is_empty(), "no built-in program uses {missing:?}");
}

#[test]
fn pipelines_have_three_steps_and_no_function_value() {
    for built_in in all()
        .iter()
        .filter(|built_in| built_in.kind() == BuiltinKind::Pipeline)
    {
        let steps = built_in.program().steps();
        assert!(steps.len() >= 3, "{}", built_in.id());
        for step in steps {
            assert!(
                matches!(step.callee, Callee::Primitive(_)),
                "{}",
                built_in.id()
            );
            let primitive = |operand: &Operand| matches!(operand, Operand::Primitive(_));
            assert!(!step.arguments.iter().any(primitive), "{}", built_in.id());
        }
    }
}

#[test]
fn texts_define_their_programs_and_printing_them_parses_back() {
    for built_in in all() {
        let parse = |text: &str| parse_programs(text).remove(0).unwrap();
        assert_eq!(&parse(built_in.text()), built_in.program());
        assert_eq!(&parse(&built_in.program().to_string()), built_in.program());
        let asked = built_in.text().lines().nth(1).unwrap_or_default();
        assert!(
            asked.starts_with("    \"\"\"") && asked.ends_with(".\"\"\""),
            "{}",
            built_in.id()
        );
    }
}

#[test]
fn programs_give_grids_of_the_data_on_inputs_of_every_size() {
    for built_in in all() {
        let (mut changed, mut outputs) = (0, HashSet::new());
        for (at, Pair { input, output }) in pairs(built_in, 200) {
            let id = built_in.id();
            let longest = (at % MAX_SIDE + 1).clamp(built_in.min_side(), built_in.max_side());
            for side in [input.height(), input.width()] {
                assert!(
                    (built_in.min_side()..=longest).contains(&side),
                    "{id} {at}: {input}"
                );
            }
            assert!(is_valid(&input), "{id} {at}: {input}");
            let Some(output) = output else {
                let error = Interpreter::default().run(built_in.program(), input);
                panic!("{id} {at}: {error:?}");
            };
            assert!(is_valid(&output), "{id} {at}: {output}");
            changed += usize::from(output != *input);
            outputs.insert(output);
        }
        assert!(changed >= 50, "{}: changes {changed} of 200", built_in.id());
        assert!(
            outputs.len() >= 50,
            "{}: {} outputs for 200",
            built_in.id(),
            outputs.len()
        );
    }
}

#[test]
fn sides_outside_the_bounds_are_brought_within() {
    for built_in in all() {
        let least = built_in.input(0, 0, 0);
        assert_eq!(
            least.height().max(least.width()),
            built_in.min_side(),
            "{}",
            built_in.id()
        );
        for index in 0..20 {
            let input = built_in.input(0, index, usize::MAX);
            let longest = input.height().max(input.width());
            assert!(longest <= built_in.max_side(), "{}", built_in.id());
        }
        assert!(
            built_in.max_side() <= MAX_SIDE && built_in.min_side() <= 6,
            "{}",
            built_in.id()
        );
    }
}

#[test]
fn a_task_is_its_pairs_in_order() {
    let built_in = get("largest").unwrap();
    let task = built_in.task(3, 2, 1, 12);
    let all: Vec<Pair> = (0..3).map(|at| built_in.pair(3, at, 12)).collect();
    assert_eq!((&task.train[..], &task.test[..]), (&all[..2], &all[2..]));
    assert_ne!(built_in.task(4, 2, 1, 12), task);
}

/// FNV-1a over sides and colours of a program's first thirty inputs.
fn digest(built_in: &BuiltIn) -> u64 {
    let inputs = (0..30).map(|at| built_in.input(1, at, at + 1));
    let bytes = inputs.flat_map(|grid| {
        let sides = [grid.height() as u8, grid.width() as u8];
        sides
            .into_iter()
            .chain(grid.cells().to_vec().into_iter().map(|c| c as u8))
    });
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The inputs of a program must not change: measurements are compared over the years. If one differs from this list,
/// the program has been changed; give the changed program another id instead.
#[test]
fn inputs_stay_as_they_are() {
    let digests: Vec<String> = all()
        .iter()
        .map(|built_in| format!("{} {:016x}", built_in.id(), digest(built_in)))
        .collect();
    let listed: Vec<&str> = include_str!("inputs.txt").lines().collect();
    assert!(
        digests == listed,
        "the inputs have changed to\n{}",
        digests.join("\n")
    );
}
