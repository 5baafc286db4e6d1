//! Shared test helpers: tasks, and the slow and obvious versions to compare with.

use arc_cpu::Batt;
use arc_cpu::batt::{Bounds, NodeId};
use arc_dsl::{Grid, Interpreter, Program, Value};
use arc_tasks::{Pair, Task};
use arc_text::parse_programs;
use proptest::prelude::*;

use crate::pieces::Layer;

pub(crate) fn grid<const COLUMNS: usize>(rows: &[[i32; COLUMNS]]) -> Grid {
    Grid::from_rows(rows).unwrap()
}

/// A task of these train pairs and test inputs.
pub(crate) fn task(train: &[(Grid, Grid)], test: &[Grid]) -> Task {
    let train = train.iter().cloned();
    Task {
        id: "made".to_owned(),
        train: train
            .map(|(input, output)| Pair::new(input, output))
            .collect(),
        test: test
            .iter()
            .map(|input| Pair::new(input.clone(), None))
            .collect(),
        ..Task::default()
    }
}

/// A batt over the inputs of a task.
pub(crate) fn batt(task: &Task) -> Batt {
    let pairs = task.train.iter().chain(&task.test);
    let inputs: Vec<_> = pairs.map(|pair| (*pair.input).clone()).collect();
    let outputs: Vec<_> = task.train.iter().map(|pair| pair.output.clone()).collect();
    Batt::new(&inputs, &outputs, Bounds::for_search())
}

/// The node of an expression.
pub(crate) fn node(batt: &mut Batt, expression: &str) -> NodeId {
    batt.add(&program(expression)).unwrap().output().unwrap()
}

/// The program of an expression.
pub(crate) fn program(expression: &str) -> Program {
    let text = format!("def solve(I):\n    return {expression}\n");
    parse_programs(&text).remove(0).unwrap()
}

/// The output of a program by the reference.
pub(crate) fn given(program: &Program, input: &Grid) -> Grid {
    let value = Interpreter::default().run(program, Value::from(input.clone()));
    value.unwrap().as_grid().unwrap().into_owned()
}

/// Grids of this size in these colours.
pub(crate) fn grids(
    rows: usize,
    columns: usize,
    colours: std::ops::Range<i8>,
) -> impl Strategy<Value = Grid> {
    let cells = prop::collection::vec(colours, rows * columns);
    cells.prop_map(move |cells| Grid::from_cells(rows, columns, cells))
}

/// The cells that a layer paints of an output of this size: a colour or nothing; `None` if the layer does not fit.
pub(crate) fn painted(
    batt: &Batt,
    layer: Layer,
    input: usize,
    (rows, columns): (usize, usize),
) -> Option<Vec<Option<i8>>> {
    let mut cells = vec![None; rows * columns];
    let value = |node: NodeId| batt.value(node, input).unwrap();
    let mut paint = |i: i32, j: i32, colour: i32| {
        if i >= 0 && j >= 0 && i < rows as i32 && j < columns as i32 {
            cells[i as usize * columns + j as usize] = Some(colour as i8);
        }
    };
    match layer {
        Layer::All(node) | Layer::Shown(node) | Layer::Hidden(node) => {
            let grid = value(node);
            let grid = grid.as_grid()?;
            if (grid.height(), grid.width()) != (rows, columns) {
                return None;
            }
            for (loc, colour) in grid.enumerate() {
                let is_painted = match layer {
                    Layer::Shown(_) => colour != 0,
                    Layer::Hidden(_) => colour == 0,
                    _ => true,
                };
                if is_painted {
                    paint(loc.i, loc.j, colour.into());
                }
            }
        }
        Layer::Object(node) => {
            for cell in value(node).as_container()?.iter() {
                let Value::Cell(cell) = &*cell else {
                    return None;
                };
                paint(cell.loc.i, cell.loc.j, cell.colour);
            }
        }
        Layer::Filled(locs, colour) => {
            let colour = value(colour).as_int()?;
            for loc in value(locs).as_container()?.iter() {
                let Value::Loc(loc) = &*loc else {
                    return None;
                };
                paint(loc.i, loc.j, colour);
            }
        }
    }
    Some(cells)
}

/// Grids like those of tasks, not empty.
pub(crate) fn scenes(seed: u64, count: usize) -> Vec<Grid> {
    let mut generator = arc_dsl::generate::Generator::with_scenes(seed, 4 * count);
    let grids = std::iter::repeat_with(|| generator.value(arc_dsl::Type::Grid));
    let grids = grids.filter_map(|value| value.as_grid().map(std::borrow::Cow::into_owned));
    grids
        .filter(|grid| grid.height() > 0 && grid.width() > 0)
        .take(count)
        .collect()
}
