//! Tests, for each primitive, that calls are charged for what they read.

use std::collections::BTreeMap;

use super::*;
use crate::Limits;
use crate::generate::Generator;
use crate::grid::Grid;
use crate::patch::{Cell, Indices, Loc, Object};
use crate::reads::testing::reads_during;

/// Reads allowed for each element charged. Locations far apart are sorted in as many rounds as their number has bits,
/// each with a few instructions per location.
const PASSES: u64 = 28;

/// Elements that each call may read without charge.
const FREE: u64 = 4 * crate::budget::LIGHT;

fn ints(numbers: impl Iterator<Item = i32>) -> Vec<Value> {
    numbers.map(Value::Int).collect()
}

/// Locations in no order, `apart` from each other.
fn scattered(count: i32, apart: i32) -> Vec<Loc> {
    // The multiplier is coprime to the powers of ten used as counts.
    (0..count)
        .map(|n| (i64::from(n) * 7919 % i64::from(count)) as i32)
        .map(|n| Loc::new(n / 100 * apart, n % 100 * apart))
        .collect()
}

/// Large values of every kind: long, nested, equal except at their ends, far apart.
fn large() -> Vec<Value> {
    let mut values = Vec::new();
    for count in [100, 3_000, 30_000] {
        let half = count / 2;
        values.push(Value::tuple(ints(0..count)));
        values.push(Value::tuple(ints((0..count).map(|n| n * 7919 % count))));
        values.push(Value::tuple(ints((0..count).map(|n| n % 2))));
        values.push(Value::set(ints(0..count)));
        values.push(Value::set(ints(half..count + half)));
        for apart in [1, 3_000] {
            let locs = scattered(count, apart);
            let cells = locs.iter().map(|&loc| Cell::new(loc.j % 3, loc));
            values.push(cells.clone().collect::<Object>().into());
            values.push(Value::tuple(cells.map(Value::Cell).collect()));
            values.push(locs.iter().copied().collect::<Indices>().into());
            values.push(Value::tuple(locs.into_iter().map(Value::Loc).collect()));
        }
        let line: Object = (0..count).map(|j| Cell::new(1, Loc::new(7, j))).collect();
        values.push(line.into());
        for (height, width) in [(count, 1), (1, count), (count / 10, 10), (count, 0)] {
            let grid = Grid::filled(height as usize, width as usize, 3);
            values.push(grid.clone().into());
            let mut grid = grid;
            for (at, cell) in grid.cells_mut().iter_mut().enumerate() {
                *cell = (at * at / 3 % 10) as i8;
            }
            let grid = Value::from(grid);
            values.extend(grid.as_container().map(|rows| {
                let rows = rows.iter().map(std::borrow::Cow::into_owned);
                Value::tuple(rows.collect())
            }));
            values.push(grid);
        }
        // Containers that differ only at their ends.
        let outer = (f64::from(count)).sqrt() as i32;
        let inner = |n: i32| ints((0..outer).chain([outer + n]));
        let tuples = || (0..outer).map(|n| Value::tuple(inner(n)));
        let sets = || (0..outer).map(|n| Value::set(inner(outer - n)));
        let patches = || {
            let square = move |n: i32| {
                (0..outer)
                    .map(|i| Loc::new(i, 0))
                    .chain([Loc::new(outer, n)])
            };
            (0..outer).map(move |n| Value::from(square(n).collect::<Indices>()))
        };
        let objects = || {
            let line = move |n| (0..outer).map(move |j| Cell::new(2, Loc::new(n, j)));
            (0..outer).map(move |n| Value::from(line(n).collect::<Object>()))
        };
        for all in [
            tuples().collect::<Vec<_>>(),
            sets().collect(),
            patches().collect(),
            objects().collect(),
        ] {
            values.push(Value::set(all.clone()));
            values.push(Value::tuple(all.into_iter().rev().collect()));
        }
        values.push(Value::tuple(ints(0..count).into_iter().rev().collect()));
    }
    let far = (1 << 30) - 1;
    for other in [Loc::new(far, 0), Loc::new(0, far), Loc::new(far, -far)] {
        values.push(
            [Loc::default(), other]
                .into_iter()
                .collect::<Indices>()
                .into(),
        );
        let cells = [Loc::default(), other].map(|loc| Cell::new(5, loc));
        values.push(cells.into_iter().collect::<Object>().into());
    }
    values
}

/// Small values of the types that have no large ones.
fn small() -> Vec<Value> {
    let far = (1 << 30) - 1;
    let mut values = vec![Value::Bool(false), Value::Bool(true)];
    values.extend(ints([-1, 0, 1, 2, 3, 40, 1_000, far].into_iter()));
    for (i, j) in [
        (0, 0),
        (1, 1),
        (-3, 0),
        (50, 50),
        (0, far),
        (far, far),
        (3_000, 9),
    ] {
        values.push(Loc::new(i, j).into());
    }
    values
}

fn functions(values: &[Value]) -> Vec<Value> {
    use Primitive as P;
    let interpreter = crate::Interpreter::default();
    let make = |primitive: Primitive, arguments: &[&Value]| {
        interpreter
            .call(Value::primitive(primitive), arguments)
            .unwrap()
    };
    let mut functions: Vec<_> = [
        P::Identity,
        P::First,
        P::Size,
        P::Initset,
        P::Merge,
        P::Combine,
        P::Equality,
        P::Astuple,
        P::Toivec,
    ]
    .map(Value::Primitive)
    .into();
    let always = make(P::Lbind, &[Value::primitive(P::Branch), &Value::Bool(true)]);
    for value in values.iter().step_by(17) {
        let always = make(P::Lbind, &[&always, value]);
        functions.push(make(P::Matcher, &[&always, value]));
        functions.push(make(P::Rbind, &[Value::primitive(P::Contained), value]));
        functions.push(always);
    }
    functions
}

#[test]
fn one_call_on_a_large_value_is_many_steps() {
    use Primitive as P;
    let interpreter = crate::Interpreter::new(Limits {
        max_steps: 100,
        ..Limits::default()
    });
    let numbers = Value::tuple(ints(0..30_000));
    let rows = Value::from(Grid::filled(10_000, 3, 0));
    let diagonal: Indices = (0..10_000).map(|i| Loc::new(i, i % 70)).collect();
    let patch = Value::from(diagonal);
    let object: Object = (0..10_000).map(|i| Cell::new(2, Loc::new(i, 0))).collect();
    let object = Value::from(object);
    let (small, number) = (Value::set([Loc::new(0, 0).into()]), Value::Int(-1));
    for (primitive, arguments) in [
        (P::Maximum, vec![&numbers]),
        (P::Minimum, vec![&numbers]),
        (P::Mostcommon, vec![&numbers]),
        (P::Leastcommon, vec![&numbers]),
        (P::Contained, vec![&number, &numbers]),
        (P::Difference, vec![&numbers, &small]),
        (P::Merge, vec![&rows]),
        (P::Sizefilter, vec![&rows, &number]),
        (P::Delta, vec![&patch]),
        (P::Vmatching, vec![&patch, &small]),
        (P::Position, vec![&patch, &small]),
        (P::Leastcolor, vec![&object]),
        (P::Equality, vec![&patch, &patch]),
        (P::Height, vec![&patch]),
        (P::Compress, vec![&rows]),
    ] {
        let result = interpreter.call(Value::primitive(primitive), &arguments);
        let limit = result.as_ref().err().and_then(crate::EvalError::limit);
        assert_eq!(limit, Some(crate::Limit::Steps), "{primitive}");
    }
    // Primitives that read one element, or just pass a value on, stay cheap.
    for (primitive, arguments) in [
        (P::First, vec![&numbers]),
        (P::Last, vec![&numbers]),
        (P::Size, vec![&numbers]),
        (P::Identity, vec![&numbers]),
        (P::Branch, vec![&number, &numbers, &rows]),
        (P::Height, vec![&rows]),
        (P::Index, vec![&rows, &Value::Loc(Loc::new(5, 1))]),
    ] {
        let result = interpreter.call(Value::primitive(primitive), &arguments);
        assert!(result.is_ok(), "{primitive}: {result:?}");
    }
}

#[test]
fn what_calls_look_at_is_accounted_for() {
    const DRAWS: usize = 40;
    let (large, small) = (large(), small());
    let functions = functions(&large);
    let limits = Limits {
        max_steps: 100_000,
        ..Limits::default()
    };
    let mut dice = Generator::new(3);
    let mut missing = BTreeMap::new();
    for &primitive in Primitive::ALL {
        let candidates: Vec<Vec<&Value>> = primitive
            .parameters()
            .iter()
            .map(|&(_, ty)| {
                let all: Box<dyn Iterator<Item = &Value>> = match ty {
                    Type::Callable => Box::new(functions.iter()),
                    Type::Boolean | Type::Integer | Type::IntegerTuple | Type::Numerical => {
                        Box::new(small.iter())
                    }
                    Type::Any => Box::new(large.iter().chain(&small)),
                    _ => Box::new(large.iter()),
                };
                all.filter(|value| value.fits(ty)).collect()
            })
            .collect();
        for draw in 0..DRAWS {
            // Sometimes an argument of another type, which Python may accept or refuse.
            let odd = candidates
                .iter()
                .position(|_| draw % 4 == 0 && dice.below(2) == 0);
            let arguments: Vec<&Value> = candidates
                .iter()
                .enumerate()
                .map(|(at, all)| {
                    if odd == Some(at) {
                        &large[dice.below(large.len())]
                    } else {
                        all[dice.below(all.len())]
                    }
                })
                .collect();
            // The order of a set is found but once, which is less work than its construction was.
            for argument in &arguments {
                let _ = argument.iteration_order();
            }
            let mut cx = Context::new(&limits);
            let (looked, result) = reads_during(|| cx.call_primitive(primitive, &arguments));
            let accounted = FREE + PASSES * WORK_PER_STEP * cx.steps_spent();
            if looked > accounted {
                let kinds: Vec<_> = arguments
                    .iter()
                    .map(|value| format!("{} of {}", value.kind(), value.weight()))
                    .collect();
                let result = result.map(|value| value.kind());
                let case = format!(
                    "{looked} looked at, {} steps: {} -> {result:?}",
                    cx.steps_spent(),
                    kinds.join(", ")
                );
                missing.insert(primitive.name(), case);
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}
