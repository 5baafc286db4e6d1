//! The cost of each derived operation: steps, time per call on grids of each size, and how often it has no value; the
//! slowest first.
//!
//! ```text
//! cargo run --release --package arc-search --example derived [NAME...]
//! ```

use std::error::Error;
use std::time::Instant;

use arc_cpu::batt::{Full, NodeId, Why};
use arc_cpu::{Batt, Bounds, Pushed};
use arc_dsl::{Grid, Primitive, Value};
use arc_search::language::DERIVED;
use arc_text::parse_functions;
use testing::{Example, Parameter, examples};

#[path = "../src/language/derived/testing.rs"]
mod testing;

/// The sides of the grids.
const SIDES: [usize; 3] = [10, 20, 30];

/// How many grids of each size there are.
const GRIDS: usize = 40;

/// How often each call is timed, and how many calls are timed together.
const TIMES: usize = 6;
const ROUNDS: u32 = 6;

/// The measured cost of one operation.
struct Cost {
    name: String,
    steps: usize,
    /// Microseconds per call, by size.
    micros: Vec<f64>,
    bailed_out: usize,
    failed: usize,
    calls: usize,
    /// The type of its value.
    ty: String,
}

/// A grid with rectangles, their outlines and single cells on it.
fn scene(side: usize, next: &mut impl FnMut(usize) -> usize) -> Result<Grid, Box<dyn Error>> {
    let mut rows = vec![vec![0i32; side]; side];
    for _ in 0..3 + next(side / 3) {
        let (i, j) = (next(side), next(side));
        let (height, width) = (next(side / 2) + 1, next(side / 2) + 1);
        let (colour, hollow) = (next(9) as i32 + 1, next(2) == 0);
        for (r, row) in rows.iter_mut().enumerate().skip(i).take(height) {
            for (c, cell) in row.iter_mut().enumerate().skip(j).take(width) {
                let inside = r > i && r + 1 < i + height && c > j && c + 1 < j + width;
                *cell = if hollow && inside { 0 } else { colour };
            }
        }
    }
    for _ in 0..next(side) {
        rows[next(side)][next(side)] = next(10) as i32;
    }
    Ok(Grid::from_rows(&rows)?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let examples = examples()?;
    let mut state = 7u64;
    let mut next = move |end: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as usize % end.max(1)
    };
    let mut sizes = Vec::new();
    for side in SIDES {
        let grids: Result<Vec<_>, _> = (0..GRIDS).map(|_| scene(side, &mut next)).collect();
        sizes.push(grids?);
    }
    let mut costs = Vec::new();
    for function in parse_functions(DERIVED) {
        let function = function?;
        let name = function.name().to_owned();
        if !wanted.is_empty() && !wanted.contains(&name) {
            continue;
        }
        let example = examples.iter().find(|example| example.function == name);
        let example = example.ok_or_else(|| format!("{name} has no example"))?;
        let mut cost = Cost {
            name,
            steps: function.steps().len(),
            micros: Vec::new(),
            bailed_out: 0,
            failed: 0,
            calls: 0,
            ty: String::new(),
        };
        for grids in &sizes {
            let (mut spent, mut calls) = (0.0, 0);
            for (at, grid) in grids.iter().enumerate() {
                let other = &grids[(at + 1) % grids.len()];
                spent += measure(&function, example, grid, other, &mut cost)?;
                calls += 1;
            }
            cost.micros.push(spent / f64::from(calls));
        }
        costs.push(cost);
    }
    costs.sort_by(|a, b| b.micros[0].total_cmp(&a.micros[0]));
    let sides = SIDES.map(|side| format!("{:>8}", format!("{side}x{side}")));
    println!("{:32} steps{}  bailed  failed  gives", "", sides.concat());
    for cost in costs {
        let share = |count: usize| 100.0 * count as f64 / cost.calls as f64;
        let times = cost.micros.iter().map(|time| format!("{time:8.2}"));
        let times = times.collect::<Vec<_>>().concat();
        let (ty, bailed, failed) = (&cost.ty, share(cost.bailed_out), share(cost.failed));
        println!(
            "{:32} {:5}{times} {bailed:6.1}% {failed:6.1}%  {ty}",
            cost.name, cost.steps
        );
    }
    Ok(())
}

/// Microseconds per call of a function on a grid.
fn measure(
    function: &arc_dsl::Program,
    example: &Example,
    grid: &Grid,
    other: &Grid,
    cost: &mut Cost,
) -> Result<f64, Box<dyn Error>> {
    let inputs = [grid.clone()];
    let mut batt = Batt::new(&inputs, &[], Bounds::for_search());
    let defined = batt.define(function.clone()).ok_or("a function too many")?;
    let Some(arguments) = arguments(&mut batt, example, other)? else {
        return Ok(0.0);
    };
    cost.calls += 1;
    let mark = batt.mark();
    match batt.push(defined, &arguments)? {
        Pushed::Failed(failed) => match failed.why {
            Why::BailOut(_) => cost.bailed_out += 1,
            Why::Error(_) => cost.failed += 1,
        },
        Pushed::New(node) | Pushed::Same(node) => {
            cost.ty = batt
                .ty(node)
                .map_or_else(|| "loose".to_owned(), ToString::to_string);
        }
    }
    batt.release(mark);
    // The minimum of several timings: other processes can only make a call slower.
    let mut least = f64::INFINITY;
    for _ in 0..TIMES {
        let start = Instant::now();
        for _ in 0..ROUNDS {
            batt.push(defined, &arguments)?;
            batt.release(mark);
        }
        least = least.min(start.elapsed().as_secs_f64() * 1e6 / f64::from(ROUNDS));
    }
    Ok(least)
}

/// Arguments like those of the example, taken from the batt's grid and another one; `None` if there are none.
fn arguments(
    batt: &mut Batt,
    example: &Example,
    other: &Grid,
) -> Result<Option<Vec<NodeId>>, Full> {
    let input = batt.input();
    let mut nodes = Vec::new();
    let parameters = example.parameters().unwrap_or_default();
    for (parameter, value) in parameters.iter().zip(&example.arguments) {
        let node = match parameter {
            Parameter::Grid if nodes.is_empty() => Some(input),
            Parameter::Grid => Some(batt.constant(&Value::from(other.clone()))?),
            Parameter::Color | Parameter::Pair => Some(batt.constant(value)?),
            Parameter::Indices => {
                let zero = batt.constant(&Value::Int(0))?;
                batt.push(Primitive::Ofcolor, &[input, zero])?.node()
            }
            Parameter::Object => {
                let Some(objects) = objects(batt)? else {
                    return Ok(None);
                };
                let size = batt.primitive(Primitive::Size)?;
                batt.push(Primitive::Argmax, &[objects, size])?.node()
            }
            Parameter::Objects => objects(batt)?,
            Parameter::Grids => {
                let two = batt.constant(&Value::Int(2))?;
                batt.push(Primitive::Hsplit, &[input, two])?.node()
            }
        };
        let Some(node) = node else { return Ok(None) };
        nodes.push(node);
    }
    Ok(Some(nodes))
}

fn objects(batt: &mut Batt) -> Result<Option<NodeId>, Full> {
    let flags = [true, false, true].map(|flag| batt.constant(&Value::Bool(flag)));
    let [univalued, diagonal, without_bg] = flags;
    let arguments = [batt.input(), univalued?, diagonal?, without_bg?];
    Ok(batt.push(Primitive::Objects, &arguments)?.node())
}
