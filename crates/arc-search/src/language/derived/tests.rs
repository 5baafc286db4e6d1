use std::collections::BTreeSet;

use arc_cpu::batt::{NodeId, Why};
use arc_cpu::{BailOut, Batt, Bounds, Pushed};
use arc_dsl::generate::Generator;
use arc_dsl::{Grid, Interpreter, Primitive, Program, Type, Value};
use arc_text::parse_functions;

use super::testing::{Example, Parameter, examples};
use crate::language::DERIVED;

fn all() -> Vec<(Program, Vec<Example>)> {
    let examples = examples().unwrap();
    let functions = parse_functions(DERIVED).into_iter();
    functions
        .map(|function| {
            let function = function.unwrap();
            let of_it = examples.iter();
            let of_it = of_it.filter(|example| example.function == function.name());
            let of_it = of_it.cloned().collect();
            (function, of_it)
        })
        .collect()
}

/// The value of a call of the function by a batt, which never calls the reference.
fn by_batt(function: &Program, arguments: &[Value]) -> Result<Value, Why> {
    let mut batt = Batt::new(&[Grid::filled(1, 1, 0)], &[], Bounds::for_search());
    let defined = batt.define(function.clone()).unwrap();
    let arguments: Vec<_> = arguments
        .iter()
        .map(|value| batt.constant(value).unwrap())
        .collect();
    match batt.push(defined, &arguments).unwrap() {
        Pushed::Failed(failed) => Err(failed.why),
        Pushed::New(node) | Pushed::Same(node) => Ok(batt.value(node, 0).unwrap()),
    }
}

#[test]
fn every_function_has_a_comment_and_an_example() {
    let lines: Vec<_> = DERIVED.lines().collect();
    for (at, line) in lines.iter().enumerate() {
        if line.starts_with("def ") {
            assert!(at > 0 && lines[at - 1].starts_with("# "), "{line}");
        }
    }
    let mut names = BTreeSet::new();
    for (function, examples) in all() {
        assert!(!examples.is_empty(), "{} has no example", function.name());
        names.insert(function.name().to_owned());
        for example in examples {
            assert!(example.parameters().is_some(), "{}", function.name());
        }
    }
    for example in examples().unwrap() {
        assert!(names.contains(&example.function), "{}", example.function);
    }
}

#[test]
fn examples_come_out_by_the_reference_and_by_a_batt() {
    let mut interpreter = Interpreter::default();
    let mut wrong = Vec::new();
    for (function, examples) in all() {
        for Example {
            arguments, value, ..
        } in examples
        {
            let name = function.name();
            match interpreter.run_on(&function, arguments.clone()) {
                Ok(found) if found == value => {}
                found => wrong.push(format!("{name} by the reference: {found:?}")),
            }
            match by_batt(&function, &arguments) {
                Ok(found) if found == value => {}
                found => wrong.push(format!("{name} by a batt: {found:?}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Grids like those of tasks: small ones of the generator, and larger ones tiled from them.
fn grids(seed: u64, count: usize) -> Vec<Grid> {
    let mut generator = Generator::with_scenes(seed, count);
    let interpreter = Interpreter::default();
    let mut grids = Vec::new();
    while grids.len() < count {
        let mut value = generator.value(Type::Grid);
        for _ in 0..grids.len() % 4 {
            let twice = [Primitive::Hconcat, Primitive::Vconcat][grids.len() / 4 % 2];
            let turned = Value::Primitive(Primitive::Rot180);
            let turned = interpreter.call(&turned, &[&value]).unwrap();
            let next = interpreter.call(&Value::Primitive(twice), &[&value, &turned]);
            let wide = next.as_ref().ok().and_then(Value::as_grid);
            if wide.is_none_or(|grid| grid.height() > 30 || grid.width() > 30) {
                break;
            }
            value = next.unwrap();
        }
        let grid = Grid::clone(&value.as_grid().unwrap());
        if grid.height() > 0 && grid.width() > 0 {
            grids.push(grid);
        }
    }
    grids
}

/// The objects of the batt's grid by the primitive.
fn objects(batt: &mut Batt) -> Option<NodeId> {
    let flags = [true, false, true].map(|flag| batt.constant(&Value::Bool(flag)).unwrap());
    let arguments = [batt.input(), flags[0], flags[1], flags[2]];
    batt.push(Primitive::Objects, &arguments).unwrap().node()
}

/// Arguments of these types from the batt's grid and others.
fn arguments(
    batt: &mut Batt,
    parameters: &[Parameter],
    own: &Grid,
    other: &Grid,
    number: i32,
) -> Option<Vec<NodeId>> {
    let input = batt.input();
    let mut nodes = Vec::new();
    for parameter in parameters {
        nodes.push(match parameter {
            Parameter::Grid if nodes.is_empty() => input,
            Parameter::Grid => batt.constant(&Value::from(other.clone())).unwrap(),
            Parameter::Color => {
                // Mostly a colour of the grid.
                let cells = own.cells();
                let there = i32::from(cells[number as usize * 5 % cells.len()]);
                let color = if number % 4 == 0 { number % 10 } else { there };
                batt.constant(&Value::Int(color)).unwrap()
            }
            Parameter::Pair => {
                let ways = [(0, 1), (1, 0), (-1, 0), (0, -1), (1, 1), (-1, 1), (2, 3)];
                let (i, j) = ways[number as usize % ways.len()];
                batt.constant(&Value::from(arc_dsl::Loc::new(i, j)))
                    .unwrap()
            }
            Parameter::Indices => {
                let zero = batt.constant(&Value::Int(0)).unwrap();
                batt.push(Primitive::Ofcolor, &[input, zero])
                    .unwrap()
                    .node()?
            }
            Parameter::Objects => objects(batt)?,
            Parameter::Object => {
                let objects = objects(batt)?;
                let size = batt.primitive(Primitive::Size).unwrap();
                batt.push(Primitive::Argmax, &[objects, size])
                    .unwrap()
                    .node()?
            }
            Parameter::Grids => {
                let two = batt.constant(&Value::Int(2)).unwrap();
                batt.push(Primitive::Hsplit, &[input, two])
                    .unwrap()
                    .node()?
            }
        });
    }
    Some(nodes)
}

#[test]
fn machines_give_what_the_reference_gives() {
    let grids = grids(5, 300);
    let mut interpreter = Interpreter::default();
    for (function, examples) in all() {
        let parameters = examples[0].parameters().unwrap();
        let (mut calls, mut bailed_out, mut undecided, mut values) = (0, 0, 0, 0);
        let name = function.name();
        for (at, grid) in grids.iter().enumerate() {
            let mut batt = Batt::new(std::slice::from_ref(grid), &[], Bounds::for_search());
            let defined = batt.define(function.clone()).unwrap();
            // Another grid, or one half as large.
            let (height, width) = (grid.height().div_ceil(2), grid.width().div_ceil(2));
            let part = Grid::filled(height, width, 1);
            let other = if at % 2 == 0 {
                &part
            } else {
                &grids[(at * 7 + 1) % grids.len()]
            };
            let Some(nodes) = arguments(&mut batt, &parameters, grid, other, at as i32) else {
                continue;
            };
            let given = nodes.iter().map(|node| batt.value(*node, 0).unwrap());
            let expected = interpreter.run_on(&function, given.collect::<Vec<_>>());
            calls += 1;
            match batt.push(defined, &nodes).unwrap() {
                Pushed::Failed(failed) => match failed.why {
                    Why::BailOut(BailOut::Order) if expected.is_ok() => undecided += 1,
                    Why::BailOut(_) if expected.is_ok() => bailed_out += 1,
                    _ => assert!(expected.is_err(), "{name} on {grid:?}: {failed:?}"),
                },
                Pushed::New(node) | Pushed::Same(node) => {
                    values += 1;
                    assert_eq!(batt.value(node, 0), expected, "{name} on {grid:?}");
                }
            }
        }
        assert!(calls > 150, "{name}: {calls} calls");
        let least = if MAY_GROW.contains(&name) { 8 } else { 4 };
        assert!(values > calls / least, "{name}: {values} values");
        // Things that are moved over each other are painted in the order of their set.
        assert!(
            undecided <= calls / 4,
            "{name}: {undecided} of {calls} go by an order"
        );
        // A grid of more than 32 rows or columns has no value on the machine.
        let most = if MAY_GROW.contains(&name) {
            calls
        } else {
            calls / 50
        };
        assert!(
            bailed_out <= most,
            "{name}: {bailed_out} of {calls} bailed out"
        );
    }
}

#[test]
fn few_functions_fail_on_plain_grids() {
    let grids = [
        Grid::filled(5, 6, 0),
        Grid::filled(1, 1, 0),
        Grid::filled(4, 3, 7),
    ];
    let mut interpreter = Interpreter::default();
    let mut failing = BTreeSet::new();
    for (function, examples) in all() {
        let parameters = examples[0].parameters().unwrap();
        if parameters.contains(&Parameter::Objects) {
            continue;
        }
        for grid in &grids {
            let mut batt = Batt::new(std::slice::from_ref(grid), &[], Bounds::for_search());
            let Some(nodes) = arguments(&mut batt, &parameters, grid, grid, 1) else {
                continue;
            };
            let given = nodes.iter().map(|node| batt.value(*node, 0).unwrap());
            if interpreter
                .run_on(&function, given.collect::<Vec<_>>())
                .is_err()
            {
                failing.insert(function.name().to_owned());
            }
        }
    }
    let failing: Vec<_> = failing.iter().map(String::as_str).collect();
    assert!(failing == MAY_FAIL, "{failing:?}");
}

/// Functions that have no value for an empty grid or a grid of one cell.
const MAY_FAIL: &[&str] = &[
    "bottom_over_top",
    "box_symmetric_all_ways",
    "box_symmetric_left_right",
    "box_symmetric_upside_down",
    "cells_counted",
    "colors_exchanged",
    "crop_largest",
    "crop_shown",
    "crop_smallest",
    "fractal_inverted",
    "inverted",
    "largest_alone",
    "left_and_right",
    "left_or_right_alone",
    "left_over_right",
    "main_alone",
    "main_color",
    "main_replaced",
    "neither_left_nor_right",
    "neither_top_nor_bottom",
    "rare_alone",
    "rare_color",
    "rare_replaced",
    "right_over_left",
    "smallest_alone",
    "things_counted",
    "top_and_bottom",
    "top_or_bottom_alone",
    "top_over_bottom",
    "without_largest",
    "without_smallest",
];

/// Functions whose results may be too large for machines.
const MAY_GROW: &[&str] = &[
    "cells_counted",
    "mirrored_right",
    "mirrored_left",
    "mirrored_below",
    "mirrored_above",
    "mirrored_around",
    "mirrored_before",
    "turned_around",
    "outer",
    "outer_colored",
    "fractal",
    "fractal_inverted",
    "color_counted",
    "enlarged_by_colors",
];
