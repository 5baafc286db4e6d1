//! Compares the order of sets in programs with CPython's.

use arc_dsl::{Interpreter, Value};
use arc_text::{parse_programs, parse_value};

/// The lines of a section of the vectors of sets, which `xtask/python/sets.py` writes and describes.
fn vectors(section: &str) -> Vec<(&'static str, &'static str)> {
    let text = include_str!("../../../arc-dsl/tests/vectors/sets.txt");
    let start = format!("[{section}]");
    let lines = text.lines().skip_while(|line| *line != start).skip(1);
    let lines = lines.take_while(|line| !line.starts_with('['));
    lines.map(|line| line.rsplit_once('=').unwrap()).collect()
}

/// The digest of a text in the vectors.
fn digest(text: &str) -> String {
    let start = 0xcbf2_9ce4_8422_2325_u64;
    let hash = text.bytes().fold(start, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{:08x}", hash as u32)
}

/// Whether the order of a set is found when it is made, or after those of all sets that were made of it.
#[test]
fn sets_have_the_order_of_cpython_however_they_are_made() {
    let grids: Vec<Value> = vectors("grid")
        .iter()
        .map(|(_, grid)| {
            parse_value(grid)
                .unwrap()
                .as_grid()
                .unwrap()
                .into_owned()
                .into()
        })
        .collect();
    let mut interpreter = Interpreter::default();
    let mut sets = 0;
    for (program, digests) in vectors("order") {
        let (grid, steps) = program.split_once(' ').unwrap();
        let count = digests.split(' ').count();
        let lines = steps.replace("; ", "\n    ");
        let text = format!("def f(I):\n    {lines}\n    return x{count}\n");
        let program = parse_programs(&text).remove(0).unwrap();
        for lazily in [false, true] {
            let input = grids[grid.parse::<usize>().unwrap()].clone();
            let values = interpreter.run_steps(&program, [input], false).unwrap();
            let named = program.variables().iter().zip(&values);
            let named = named.filter(|(name, _)| name.starts_with('x'));
            let mut found = Vec::new();
            let mut print = |value: &Value| found.push(digest(&value.to_string()));
            let named: Vec<&Value> = named.map(|(_, value)| value.as_ref().unwrap()).collect();
            if lazily {
                named.iter().rev().copied().for_each(&mut print);
                found.reverse();
            } else {
                named.iter().copied().for_each(&mut print);
            }
            assert_eq!(found.join(" "), digests, "lazily: {lazily}\n{text}");
            sets += found.len();
        }
    }
    assert!(sets >= 2 * 4000, "{sets}");
}
