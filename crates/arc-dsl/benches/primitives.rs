//! Benchmarks of the primitives that real programs spend their time in, on grids of three sizes.
//!
//! `cargo bench --package arc-dsl`

#![allow(missing_docs, reason = "what criterion_group! makes has none")]
#![allow(
    clippy::panic,
    reason = "a bench that cannot run has nothing to measure"
)]

use std::hint::black_box;
use std::sync::Arc;

use arc_dsl::{Grid, Interpreter, Loc, Primitive, Value};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

/// A square grid with about a third of its cells coloured, always the same for the same side.
fn grid(side: usize) -> Value {
    let cells = (0..side * side).map(|at| {
        // A multiplicative hash: enough to keep neighbours independent of each other.
        let hash = (at as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
        if hash.is_multiple_of(3) {
            (hash / 3 % 9 + 1) as i8
        } else {
            0
        }
    });
    Value::Grid(Arc::new(Grid::from_cells(side, side, cells.collect())))
}

fn call(function: Primitive, arguments: &[&Value]) -> Value {
    Interpreter::default()
        .call(Value::primitive(function), arguments)
        .unwrap_or_else(|error| panic!("{function}: {error}"))
}

fn primitives(criterion: &mut Criterion) {
    let interpreter = Interpreter::default();
    let (yes, no) = (Value::Bool(true), Value::Bool(false));
    for side in [3, 10, 30] {
        let grid = grid(side);
        let objects = call(Primitive::Objects, &[&grid, &yes, &no, &yes]);
        let object = call(
            Primitive::Argmax,
            &[&objects, Value::primitive(Primitive::Size)],
        );
        let background = call(Primitive::Ofcolor, &[&grid, &Value::Int(0)]);
        let (two, three) = (Value::Int(2), Value::Int(3));
        let right = Value::Loc(Loc::new(0, 1));
        let start = Value::Loc(Loc::new(1, 1));
        let cases: &[(Primitive, &[&Value])] = &[
            (Primitive::Objects, &[&grid, &yes, &no, &yes]),
            (Primitive::Partition, &[&grid]),
            (Primitive::Occurrences, &[&grid, &object]),
            (Primitive::Fill, &[&grid, &three, &background]),
            (Primitive::Paint, &[&grid, &object]),
            (Primitive::Underfill, &[&grid, &three, &background]),
            (Primitive::Ofcolor, &[&grid, &two]),
            (Primitive::Mostcolor, &[&grid]),
            (Primitive::Rot90, &[&grid]),
            (Primitive::Replace, &[&grid, &two, &three]),
            (Primitive::Subgrid, &[&object, &grid]),
            (Primitive::Shift, &[&background, &right]),
            (Primitive::Center, &[&background]),
            (Primitive::Merge, &[&objects]),
            (Primitive::Shoot, &[&start, &right]),
        ];
        for (primitive, arguments) in cases {
            let mut group = criterion.benchmark_group(primitive.name());
            group.throughput(Throughput::Elements((side * side) as u64));
            group.bench_function(BenchmarkId::from_parameter(side), |bencher| {
                bencher
                    .iter(|| interpreter.call(Value::primitive(*primitive), black_box(arguments)));
            });
            group.finish();
        }
    }
}

/// The cost of a call that does almost nothing, alone and inside function values.
fn calls(criterion: &mut Criterion) {
    let interpreter = Interpreter::default();
    let pair = Value::Loc(Loc::new(3, 4));
    let first = Value::primitive(Primitive::First);
    let composed = call(
        Primitive::Compose,
        &[Value::primitive(Primitive::Increment), first],
    );
    let forked = call(
        Primitive::Fork,
        &[
            Value::primitive(Primitive::Add),
            first,
            Value::primitive(Primitive::Last),
        ],
    );
    for (name, function) in [
        ("primitive", first),
        ("compose", &composed),
        ("fork", &forked),
    ] {
        criterion.bench_function(&format!("call/{name}"), |bencher| {
            bencher.iter(|| interpreter.call(function, &[black_box(&pair)]));
        });
    }
}

criterion_group!(benches, primitives, calls);
criterion_main!(benches);
