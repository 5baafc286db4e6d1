//! The compiled path: straight-line programs in grid operations per second, and the operations that are most
//! frequent in real programs in nanoseconds each.
//!
//! `cargo bench --package arc-cpu --bench compiled`

#![allow(missing_docs, reason = "what criterion_group! makes has none")]
#![allow(
    clippy::panic,
    reason = "a bench that cannot run has nothing to measure"
)]

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::{Duration, Instant};

use arc_cpu::{Compiled, Machine};
use arc_dsl::{Grid, Interpreter};
use arc_form::Options;
use arc_text::parse_programs;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

/// A square grid with about a third of its cells coloured, the same for the same side.
fn grid(side: usize) -> Grid {
    let cells = (0..side * side).map(|at| {
        // A multiplicative hash: enough to make neighbours independent of each other.
        let hash = (at as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
        if hash.is_multiple_of(3) {
            (hash / 3 % 9 + 1) as i8
        } else {
            0
        }
    });
    Grid::from_cells(side, side, cells.collect())
}

/// Compiles the program of these lines, and counts its calls. Nothing is folded, shared or eliminated, so that
/// as many operations run.
fn compile(lines: &str, input: &Grid) -> (Compiled, u64) {
    let text = format!("def f(I):\n{lines}    return I\n");
    let program = match parse_programs(&text).pop() {
        Some(Ok(program)) => program,
        other => panic!("{text}{other:?}"),
    };
    let options = Options {
        fold: false,
        share: false,
        rewrite: false,
        dead: false,
        max_instructions: 10_000,
        max_work: 100_000,
    };
    let form = arc_form::specialise_with(&program, &options)
        .unwrap_or_else(|error| panic!("{text}{error}"));
    let compiled = Compiled::new(&form).unwrap_or_else(|error| panic!("{text}{error}"));
    let calls = program.steps().len();
    assert_eq!(compiled.len(), calls, "{text}{form}");
    let expected = Interpreter::default().run(&program, input.clone());
    let mut machine = Machine::default();
    let found = machine
        .run(&compiled, input)
        .and_then(arc_cpu::Output::value);
    match (expected, found) {
        (Ok(expected), Ok(found)) if expected == found => (compiled, calls as u64),
        (expected, found) => panic!("{text}{expected:?}, {found:?}"),
    }
}

/// Programs of grids: each line uses the value of the line before.
const PROGRAMS: &[(&str, &[&str])] = &[
    (
        "transforms",
        &[
            "vmirror(_)",
            "rot90(_)",
            "hmirror(_)",
            "dmirror(_)",
            "rot270(_)",
            "cmirror(_)",
            "rot180(_)",
            "vmirror(_)",
            "trim(_)",
            "hmirror(_)",
            "rot90(_)",
            "lefthalf(_)",
            "hconcat(_, _)",
            "tophalf(_)",
            "vconcat(_, _)",
            "dmirror(_)",
        ],
    ),
    (
        "colours",
        &[
            "replace(_, ONE, TWO)",
            "switch(_, TWO, THREE)",
            "replace(_, THREE, ZERO)",
            "switch(_, ZERO, FIVE)",
            "replace(_, FOUR, SEVEN)",
            "replace(_, SEVEN, ONE)",
            "switch(_, EIGHT, SIX)",
            "replace(_, NINE, EIGHT)",
            "switch(_, ONE, FIVE)",
            "replace(_, SIX, TWO)",
        ],
    ),
    (
        "painting",
        &[
            "fill(_, ONE, ofcolor(_, TWO))",
            "underfill(_, THREE, shift(ofcolor(_, ONE), (1, 0)))",
            "cover(_, ofcolor(_, FIVE))",
            "fill(_, EIGHT, backdrop(connect((1, 1), (4, 6))))",
            "paint(_, recolor(SEVEN, ofcolor(_, EIGHT)))",
            "fill(_, TWO, box(ofcolor(_, SEVEN)))",
            "underpaint(_, recolor(FOUR, shift(ofcolor(_, TWO), (0, 1))))",
            "fill(_, NINE, corners(asindices(_)))",
            "underfill(_, SEVEN, ofcolor(_, mostcolor(_)))",
            "fill(_, SIX, ofcolor(_, leastcolor(_)))",
        ],
    ),
];

fn programs(criterion: &mut Criterion) {
    for (name, lines) in PROGRAMS {
        let mut group = criterion.benchmark_group(*name);
        for side in [10, 20, 30] {
            let input = grid(side);
            let mut text = String::new();
            let mut last = "I".to_owned();
            for (at, line) in lines.iter().enumerate() {
                let _ = writeln!(text, "    g{at} = {}", line.replace('_', &last));
                last = format!("g{at}");
            }
            let (program, calls) = compile(&text, &input);
            let mut machine = Machine::default();
            group.throughput(Throughput::Elements(calls));
            group.bench_function(BenchmarkId::from_parameter(side), |bencher| {
                bencher.iter(|| machine.run(&program, black_box(&input)).is_ok());
            });
        }
        group.finish();
    }
}

/// Operations: the definitions of operands, a call, and whether its result is a container. The size of a
/// container is taken each time, since an unused one might have another representation than usual.
const OPERATIONS: &[(&str, &str, &str, bool)] = &[
    ("objects", "", "objects(I, T, F, T)", true),
    ("ofcolor", "", "ofcolor(I, TWO)", true),
    ("fill", "a = ofcolor(I, TWO)", "fill(I, THREE, a)", false),
    (
        "paint",
        "a = first(objects(I, T, F, T))",
        "paint(I, a)",
        false,
    ),
    (
        "shift",
        "a = first(objects(I, T, F, T))",
        "shift(a, (1, 2))",
        true,
    ),
    ("recolor", "a = ofcolor(I, TWO)", "recolor(THREE, a)", true),
    ("first", "a = objects(I, T, F, T)", "first(a)", true),
    ("size", "a = objects(I, T, F, T)", "size(a)", false),
    ("merge", "a = objects(I, T, F, T)", "merge(a)", true),
    ("canvas", "a = shape(I)", "canvas(THREE, a)", false),
    (
        "subgrid",
        "a = first(objects(I, T, F, T))",
        "subgrid(a, I)",
        false,
    ),
    ("mostcolor", "", "mostcolor(I)", false),
    ("replace", "", "replace(I, TWO, THREE)", false),
    (
        "outbox",
        "a = first(objects(I, T, F, T))",
        "outbox(a)",
        true,
    ),
    ("vmirror", "", "vmirror(I)", false),
    ("rot90", "", "rot90(I)", false),
];

/// How often an operation occurs in its program.
const COPIES: usize = 48;

/// Times each operation in a program that calls it many times, minus the same program without it.
fn operations(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("operation");
    for (name, before, call, is_container) in OPERATIONS {
        let input = grid(10);
        let first = if before.is_empty() {
            String::new()
        } else {
            format!("    {before}\n")
        };
        let (mut with, mut without) = (first.clone(), first);
        if *is_container {
            let _ = writeln!(without, "    r = {call}");
        }
        for at in 0..COPIES {
            let _ = writeln!(with, "    r{at} = {call}");
            if *is_container {
                let _ = writeln!(with, "    s{at} = size(r{at})");
                let _ = writeln!(without, "    s{at} = size(r)");
            }
        }
        let ((with, many), (without, few)) = (compile(&with, &input), compile(&without, &input));
        let mut machine = Machine::default();
        let mut time = |program: &Compiled, times: u64| {
            // Loads the program's constants, and warms the caches.
            let _ = machine.run(program, &input).is_ok();
            let start = Instant::now();
            for _ in 0..times {
                let _ = black_box(machine.run(program, black_box(&input)).is_ok());
            }
            start.elapsed()
        };
        let calls = u32::try_from(many - few).unwrap_or(u32::MAX);
        group.bench_function(*name, |bencher| {
            bencher.iter_custom(|times| {
                let difference = time(&with, times).checked_sub(time(&without, times));
                // Per call; at least a nanosecond, if noise leaves less than that.
                difference
                    .unwrap_or_default()
                    .max(Duration::from_nanos(calls.into()))
                    / calls
            });
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(30)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(600));
    targets = programs, operations
}
criterion_main!(benches);
