//! Checks that every primitive and built-in program returns what the Python reference returns, sets in its order.
//!
//! `cargo xtask conformance --write` generates the vectors; docs/conformance.md describes how, and
//! xtask/src/conformance/vectors.rs defines their format.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use arc_dsl::{Dialect, EvalError, Grid, Interpreter, Primitive, TypedPrimitive, Value};
use arc_tasks::builtin;
use arc_text::parse_programs_in;

/// The minimum number of cases for each primitive.
const CASES: usize = 620;

/// The same for the typed dialect.
const TYPED_CASES: usize = 58;

/// The minimum number of inputs for each built-in program.
const INPUTS: usize = 20;

fn read(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/vectors")
        .join(name);
    let text = fs::read_to_string(&path);
    assert!(text.is_ok(), "{}: {text:?}", path.display());
    text.unwrap_or_default()
}

/// The lines of a file by the `[name]` of their section, each as a case and its expected result.
fn sections(text: &str) -> BTreeMap<&str, Vec<(&str, &str)>> {
    let mut sections = BTreeMap::new();
    let mut name = "";
    for line in text.lines() {
        if let Some(found) = line
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
        {
            name = found;
            assert!(
                sections.insert(name, Vec::new()).is_none(),
                "[{name}] comes twice"
            );
            continue;
        }
        let case = line.split_once('=');
        assert!(case.is_some(), "[{name}]: no `=` in `{line}`");
        sections
            .get_mut(name)
            .expect("a line before the first name")
            .extend(case);
    }
    sections
}

/// A result in the notation of the vectors: its literal with truth values as numbers, or the hash of that.
fn digest(result: &Result<Value, EvalError>) -> String {
    let literal = match result {
        // Functions created at run time have no text in Python.
        Ok(value) => value
            .without_functions()
            .to_string()
            .replace("True", "1")
            .replace("False", "0"),
        // `~` in the vectors stands for an error that occurs only here, not in Python.
        Err(_) => return "!".to_owned(),
    };
    if literal.len() <= 7 {
        return literal;
    }
    let hash = literal
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    format!("#{:06x}", hash & 0xff_ffff)
}

fn agrees(result: &Result<Value, EvalError>, expected: &str) -> bool {
    match expected {
        // Reaching a limit does not count as the error that Python raises.
        "!" => result.as_ref().is_err_and(|error| error.limit().is_none()),
        "~" => result.is_err(),
        _ => digest(result) == expected,
    }
}

/// The text of a call, which means the same to Python and to the parser.
fn program(primitive: &str, places: &str, pool: &[&str]) -> String {
    let list = |places: &str| {
        let at = |place: &str| {
            let text = place.parse().ok().and_then(|place: usize| pool.get(place));
            assert!(text.is_some(), "[{primitive}]: `{places}`");
            text.copied().unwrap_or_default()
        };
        places.split(' ').map(at).collect::<Vec<_>>().join(", ")
    };
    match places.split_once('/') {
        None => format!("def case(I):\n    return {primitive}({})\n", list(places)),
        Some((arguments, applied_to)) => {
            let (arguments, applied_to) = (list(arguments), list(applied_to));
            format!("def case(I):\n    f = {primitive}({arguments})\n    return f({applied_to})\n")
        }
    }
}

/// The primitives of a dialect, each with its family.
fn primitives(dialect: Dialect) -> Vec<(&'static str, &'static str)> {
    match dialect {
        Dialect::Public => Primitive::of_reference()
            .map(|primitive| (primitive.family(), primitive.name()))
            .collect(),
        Dialect::Typed => TypedPrimitive::ALL
            .iter()
            .map(|primitive| (primitive.family(), primitive.name()))
            .collect(),
    }
}

/// Compares all vectors in a folder.
fn check(dialect: Dialect, folder: &str, at_least: usize) {
    let pool = read(&format!("{folder}pool.txt"));
    let pool: Vec<_> = pool.lines().collect();
    let mut interpreter = Interpreter::default();
    let mut mismatches = Vec::new();
    let mut checked = 0;
    let primitives = primitives(dialect);
    for family in primitives.chunk_by(|a, b| a.0 == b.0) {
        let text = read(&format!("{folder}{}.txt", family[0].0));
        let mut sections = sections(&text);
        for &(_, primitive) in family {
            let cases = sections.remove(primitive).unwrap_or_default();
            assert!(
                cases.len() >= at_least,
                "[{primitive}]: {} cases",
                cases.len()
            );
            let mut wrong = 0;
            for (places, expected) in cases {
                let text = program(primitive, places, &pool);
                let parsed = parse_programs_in(dialect, &text).pop();
                let Some(Ok(program)) = parsed else {
                    mismatches.push(format!("{text}{parsed:?}"));
                    continue;
                };
                let result = interpreter.run(&program, Grid::default());
                checked += 1;
                if !agrees(&result, expected) {
                    wrong += 1;
                    if wrong <= 2 {
                        let result = result.map_or_else(|e| e.to_string(), |v| v.to_string());
                        mismatches.push(format!("{text}gives {result}, expected {expected}"));
                    }
                }
            }
            if wrong > 0 {
                mismatches.push(format!("[{primitive}]: {wrong} cases differ\n"));
            }
        }
        assert!(
            sections.is_empty(),
            "{}.txt: not of this family: {:?}",
            family[0].0,
            sections.keys()
        );
    }
    assert!(mismatches.is_empty(), "{}", mismatches.join("\n"));
    assert!(checked >= at_least * primitives.len());
}

#[test]
fn primitives_give_what_the_reference_gives() {
    check(Dialect::Public, "", CASES);
}

#[test]
fn primitives_of_the_typed_dialect_give_what_their_reference_gives() {
    check(Dialect::Typed, "typed/", TYPED_CASES);
}

#[test]
fn built_in_programs_give_what_the_reference_gives() {
    let text = read("builtin.txt");
    let mut sections = sections(&text);
    let mut interpreter = Interpreter::default();
    let mut mismatches = Vec::new();
    for program in builtin::all() {
        let cases = sections.remove(program.id()).unwrap_or_default();
        assert!(
            cases.len() >= INPUTS,
            "[{}]: {} inputs",
            program.id(),
            cases.len()
        );
        for (input, expected) in cases {
            let numbers: Vec<usize> = input.split(' ').filter_map(|n| n.parse().ok()).collect();
            let &[seed, index, max_side] = numbers.as_slice() else {
                panic!(
                    "[{}]: `{input}` is not a seed, an index and a side",
                    program.id()
                );
            };
            let grid = program.input(seed as u64, index, max_side);
            let result = interpreter.run(program.program(), grid);
            if !agrees(&result, expected) {
                let found = digest(&result);
                mismatches.push(format!(
                    "[{}] {input}: {found}, expected {expected}",
                    program.id()
                ));
            }
        }
    }
    assert!(
        sections.is_empty(),
        "no built-in programs: {:?}",
        sections.keys()
    );
    assert!(mismatches.is_empty(), "{}", mismatches.join("\n"));
}

#[test]
fn malformed_vectors_are_refused() {
    let refused = |text: &'static str| std::panic::catch_unwind(|| sections(text).len()).is_err();
    assert!(refused("1 2=3\n"));
    assert!(refused("[add]\n1 2\n"));
    assert!(refused("[add]\n[add]\n"));
    assert_eq!(sections("[add]\n0 1=3\n")["add"], [("0 1", "3")]);
}
