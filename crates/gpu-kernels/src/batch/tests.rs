//! Batches on the emulated device, against the reference.

use arc_dsl::generate::Generator;
use arc_dsl::{Interpreter, Type};

use super::*;
use crate::device::emulated::{EmulatedDevice, Emulation};

fn engine() -> Engine<EmulatedDevice> {
    Engine::new(EmulatedDevice::new(0, &Emulation::default()).expect("a compiler was found"))
}

fn grids(count: usize) -> Vec<Grid> {
    let mut generator = Generator::new(11);
    let grids = (0..count).filter_map(|_| match generator.value(Type::Grid) {
        Value::Grid(grid) => Some((*grid).clone()),
        _ => None,
    });
    grids.collect()
}

fn call(primitive: Primitive, arguments: &[&Value]) -> Option<Value> {
    let interpreter = Interpreter::default();
    interpreter.call(&Value::from(primitive), arguments).ok()
}

#[test]
fn every_grid_has_its_own_turn() {
    let grids = grids(40);
    let codes: Vec<u8> = (0..grids.len() as u8).map(|number| number % 9).collect();
    let turned = engine()
        .batch_mir_rot(&GridBatch::new(&grids), &codes)
        .expect("runs");
    let turns = [
        Primitive::Identity,
        Primitive::Hmirror,
        Primitive::Vmirror,
        Primitive::Dmirror,
        Primitive::Cmirror,
        Primitive::Rot90,
        Primitive::Rot180,
        Primitive::Rot270,
    ];
    for ((grid, code), result) in grids.iter().zip(&codes).zip(turned.grids()) {
        let expected = turns
            .get(usize::from(*code))
            .map(|turn| call(*turn, &[&Value::from(grid.clone())]).expect("a grid turns"));
        assert_eq!(result.ok().map(Value::from), expected);
    }
}

#[test]
fn sets_of_objects_are_those_of_the_reference() {
    let grids = grids(60);
    let flags = [true, false, true].map(Value::from);
    let batch = GridBatch::new(&grids);
    let found = engine().batch_o_g(&batch, true, false, true).expect("runs");
    let coloured = engine()
        .batch_colorfilter(&batch, [true, false, true], 3)
        .expect("runs");
    for ((grid, found), coloured) in grids.iter().zip(found).zip(coloured) {
        let grid = Value::from(grid.clone());
        let expected = call(
            Primitive::Objects,
            &[&grid, &flags[0], &flags[1], &flags[2]],
        );
        assert_eq!(found.ok(), expected);
        let expected =
            expected.and_then(|all| call(Primitive::Colorfilter, &[&all, &Value::Int(3)]));
        assert_eq!(coloured.ok(), expected);
    }
}

#[test]
fn histograms_count_every_colour() {
    let mut grids = grids(20);
    grids.insert(3, Grid::filled(33, 1, 0));
    let counted = engine()
        .batch_histogram(&GridBatch::new(&grids))
        .expect("runs");
    for (number, (grid, counts)) in grids.iter().zip(counted).enumerate() {
        if number == 3 {
            assert_eq!(counts, Err(BailOut::Grid));
            continue;
        }
        let mut expected = [0; 16];
        for colour in grid.cells() {
            expected[(colour + 1) as usize] += 1;
        }
        assert_eq!(counts, Ok(expected));
    }
}

#[test]
fn columns_are_taken_item_by_item() {
    let grids = grids(33);
    let mut generator = Generator::new(12);
    let held = |patch: &Value| Pool::default().push(Representation::Patch, patch).is_ok();
    let patches = std::iter::repeat_with(|| generator.value(Type::Indices)).filter(held);
    let patches: Vec<Value> = patches.take(grids.len()).collect();
    let engine = engine();
    let filled = engine
        .batch_fill(&GridBatch::new(&grids), 4, &patches)
        .expect("runs");
    for ((grid, patch), result) in grids.iter().zip(&patches).zip(filled.grids()) {
        let expected = call(
            Primitive::Fill,
            &[&Value::from(grid.clone()), &Value::Int(4), patch],
        );
        assert_eq!(result.ok().map(Value::from), expected);
    }
    let short = engine.batch_fill(&GridBatch::new(&grids), 4, &patches[1..]);
    assert_eq!(short.err(), Some(BatchError::Lengths(33, 32)));
}

#[test]
fn a_pipeline_is_its_steps_one_after_the_other() {
    let grids = grids(33);
    let batch = GridBatch::new(&grids);
    let engine = engine();
    let pipeline = Pipeline::new()
        .then(Primitive::Rot90, &[Given::Previous])
        .and_then(|pipeline| pipeline.then(Primitive::Hconcat, &[Given::Previous, Given::Previous]))
        .expect("the device has both");
    let together = engine.run_pipeline(pipeline, &batch).expect("runs");
    let turned = engine.batch_rot90(&batch).expect("runs");
    let columns = [Column::Grids(&turned), Column::Grids(&turned)];
    let apart = engine
        .batch(Primitive::Hconcat, None, &columns)
        .expect("runs");
    for (together, apart) in together.grids().zip(apart) {
        assert_eq!(together.map(Value::from), apart);
    }
}

#[test]
fn functions_are_applied_to_the_elements_of_containers() {
    let grids = grids(30);
    let containers: Vec<Vec<Value>> = grids
        .chunks(7)
        .map(|part| part.iter().cloned().map(Value::from).collect())
        .collect();
    let ofcolor =
        |colour: i32| Pipeline::new().then(Primitive::Ofcolor, &[Given::Previous, colour.into()]);
    let engine = engine();
    let function = ofcolor(2).expect("the device has it");
    let applied = engine
        .batch_apply(function, Representation::Grid, &containers)
        .expect("runs");
    let function = ofcolor(2).expect("the device has it");
    let merged = engine
        .batch_mapply(function, Representation::Grid, &containers)
        .expect("runs");
    for ((container, applied), merged) in containers.iter().zip(applied).zip(merged) {
        let expected: Vec<Value> = container
            .iter()
            .filter_map(|grid| call(Primitive::Ofcolor, &[grid, &Value::Int(2)]))
            .collect();
        assert_eq!(
            applied,
            expected.iter().cloned().map(Ok).collect::<Vec<_>>()
        );
        assert_eq!(
            merged.ok(),
            call(Primitive::Merge, &[&Value::set(expected)])
        );
    }
}

#[test]
fn what_the_device_lacks_is_told() {
    let missing = Pipeline::new().then(Primitive::Totuple, &[Given::Previous]);
    let message = missing.err().map(|reason| reason.to_string());
    assert_eq!(
        message.as_deref(),
        Some("no device operation for `totuple(grid)`")
    );
    let input = Pipeline::new().then(Primitive::Rot90, &[Given::Input(1)]);
    assert!(input.is_err());
    let large = Grid::filled(33, 2, 1);
    let batch = GridBatch::new([&large, &Grid::filled(2, 2, 1)]);
    let turned = engine().batch_rot180(&batch).expect("runs");
    assert_eq!(turned.grid(0), Some(Err(BailOut::Grid)));
    assert_eq!(turned.grid(1), Some(Ok(Grid::filled(2, 2, 1))));
    assert_eq!(turned.grid(2), None);
}
