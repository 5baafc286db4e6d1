//! The tables can be parsed, and machines compute the same with them as the reference.

use arc_cpu::batt::Why;
use arc_cpu::{BailOut, Batt, Bounds, Pushed};
use arc_dsl::{Interpreter, Primitive, Value};

use super::objects::Colour;
use super::*;

#[test]
fn every_line_of_the_table_is_a_row() {
    let lines = TABLE.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with(['#', '[']));
    let read: usize = ["looks", "abstractions", "features", "actions", "crops"]
        .map(|section| rows(TABLE, section).len())
        .iter()
        .sum();
    assert_eq!(read, lines.count());
    let functions = parse_functions(&format!("{DERIVED}\n{HELPERS}"));
    for function in functions {
        assert!(function.is_ok(), "{}", function.unwrap_err());
    }
}

/// Whether a function has a value for these arguments on a machine; fails if the reference computes another one.
fn agrees(batt: &mut Batt, function: &Program, arguments: &[NodeId]) -> Result<bool, String> {
    let defined = batt.define(function.clone()).unwrap();
    let given = arguments.iter().map(|node| batt.value(*node, 0).unwrap());
    let expected = Interpreter::default().run_on(function, given.collect::<Vec<_>>());
    match batt.push(defined, arguments).unwrap() {
        // A machine does not paint a location in two colours, nor does it find the order of a set.
        Pushed::Failed(failed)
            if expected.is_ok()
                && !matches!(failed.why, Why::BailOut(BailOut::Overlap | BailOut::Order)) =>
        {
            Err(format!("{function}: {failed:?}"))
        }
        Pushed::Failed(_) => Ok(false),
        Pushed::New(node) | Pushed::Same(node) => {
            assert_eq!(batt.value(node, 0), expected, "{function}");
            Ok(true)
        }
    }
}

/// Calls a function on grids with further arguments: it must have a value on half of them, unless it may fail more
/// often.
fn agrees_on_scenes(
    function: &Program,
    least: usize,
    arguments: impl Fn(&mut Batt, i32) -> Option<Vec<NodeId>>,
) -> Result<(), String> {
    let (grids, mut values) = (crate::testing::scenes(3, 40), 0);
    for (number, grid) in (0..).zip(&grids) {
        let mut batt = Batt::new(std::slice::from_ref(grid), &[], Bounds::for_search());
        if let Some(arguments) = arguments(&mut batt, number) {
            values += usize::from(agrees(&mut batt, function, &arguments)?);
        }
    }
    if values < least {
        return Err(format!("{function}: {values} values"));
    }
    Ok(())
}

fn colour(batt: &mut Batt, number: i32) -> NodeId {
    batt.constant(&Value::Int(number % 4)).unwrap()
}

#[test]
fn machines_give_for_looks_what_the_reference_gives() {
    let (rows, functions) = &*cells::LOOKS;
    assert_eq!(rows.len(), functions.len());
    let wrong = rows.iter().zip(functions).filter_map(|(row, function)| {
        let arguments = |batt: &mut Batt, number| {
            let colour = row.by_colour.then(|| colour(batt, number));
            Some(std::iter::once(batt.input()).chain(colour).collect())
        };
        agrees_on_scenes(function, 20, arguments).err()
    });
    let wrong: Vec<_> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn machines_give_for_objects_what_the_reference_gives() {
    let language = &*objects::LANGUAGE;
    let functions = &language.functions;
    let mut wrong = Vec::new();
    for function in &functions[..language.abstractions.len()] {
        wrong.extend(agrees_on_scenes(function, 20, |batt, _| Some(vec![batt.input()])).err());
    }
    let mut asked = vec![false; functions.len()];
    let mut ask = |at: usize, for_set: bool, of_value: Option<usize>| {
        if std::mem::replace(&mut asked[at], true) {
            return;
        }
        let by_colour = functions[at].inputs().contains(&"COLOUR".to_owned());
        // Pieces and things in turn.
        let arguments = |batt: &mut Batt, number: i32| {
            let which = functions[number as usize % 2 * 2].clone();
            let (input, which) = (batt.input(), batt.define(which)?);
            let set = call(batt, which, &[input])?;
            let tuple = batt.define(functions[language.tuple].clone())?;
            let tuple = call(batt, tuple, &[input, set])?;
            let mut arguments = vec![input, set, if for_set { set } else { tuple }];
            if by_colour {
                arguments.push(colour(batt, number));
            } else if let Some(each) = of_value {
                let given = batt.define(functions[each].clone())?;
                let given = call(batt, given, &[input, set, tuple])?;
                arguments.push(call(batt, Primitive::First, &[given])?);
            }
            Some(arguments)
        };
        wrong.extend(agrees_on_scenes(&functions[at], 5, arguments).err());
    };
    let features = language.features.iter().map(|entry| (entry, true));
    let others = language.actions.iter().chain(&language.crops);
    for (entry, is_feature) in features.chain(others.map(|entry| (entry, false))) {
        if let Some(Colour::OfEach(each)) = entry.painted_in {
            ask(each.function, false, None);
        }
        let each = entry.each.function;
        ask(each, false, None);
        ask(entry.for_set, true, is_feature.then_some(each));
    }
    asked[..=language.tuple].fill(true);
    assert!(!asked.contains(&false));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
