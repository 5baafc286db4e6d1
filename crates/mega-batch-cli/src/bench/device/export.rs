//! Exports grids, and what the reference computes from them, for scripts that time other implementations on the same
//! work.

use std::collections::BTreeMap;

use arc_dsl::{Grid, Interpreter};
use serde::Serialize;

use super::DeviceBenchError;
use super::inputs::Inputs;
use super::work::{PIPELINES, pipeline_program, pipeline_text};

/// How many grids are exported.
const GRIDS: usize = 1_000;

/// Inputs of the pipelines and their outputs by the reference interpreter. A grid is a list of rows, a row the digits
/// of its colours.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Export {
    /// The longest pipeline as program text; the others are its first operations.
    pub(crate) pipeline: String,
    /// The inputs.
    pub(crate) grids: Vec<Vec<String>>,
    /// By number of operations, the outputs in the inputs' order.
    pub(crate) outputs: BTreeMap<usize, Vec<Vec<String>>>,
}

/// Exports the first grids of the benchmark.
pub(crate) fn export() -> Result<Export, DeviceBenchError> {
    let inputs = Inputs::grids(GRIDS);
    let mut interpreter = Interpreter::default();
    let mut outputs = BTreeMap::new();
    for operations in PIPELINES {
        let program = pipeline_program(operations).map_err(DeviceBenchError::Program)?;
        let output = |grid: &Grid| {
            let value = interpreter.run(&program, grid.clone());
            let value = value.map_err(|error| DeviceBenchError::Program(error.to_string()))?;
            value
                .as_grid()
                .and_then(|grid| rows(&grid))
                .ok_or_else(|| DeviceBenchError::Program("no grid of digits".to_owned()))
        };
        let all: Result<Vec<_>, _> = inputs.first(GRIDS).map(output).collect();
        outputs.insert(operations, all?);
    }
    Ok(Export {
        pipeline: pipeline_text(PIPELINES.into_iter().max().unwrap_or_default()),
        grids: inputs.first(GRIDS).filter_map(rows).collect(),
        outputs,
    })
}

/// The rows as digits; `None` if a colour is not a digit.
fn rows(grid: &Grid) -> Option<Vec<String>> {
    let digit = |&colour: &i8| char::from_digit(u32::try_from(colour).ok()?, 10);
    grid.rows()
        .map(|row| row.iter().map(digit).collect())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_stand_beside_their_inputs() {
        let export = export().unwrap();
        assert_eq!(export.grids.len(), GRIDS);
        let turned = &export.outputs[&1];
        for (grid, turned) in export.grids.iter().zip(turned) {
            // The first column of the input, from the bottom up, is the first row of the rotated grid.
            let first: String = grid.iter().rev().map(|row| &row[..1]).collect();
            assert_eq!(turned[0], first);
        }
        assert!(export.outputs.keys().eq(&[1, 3, 10, 30]));
        assert!(
            export
                .outputs
                .values()
                .all(|outputs| outputs.len() == GRIDS)
        );
    }

    #[test]
    fn only_digits_are_rows() {
        assert_eq!(rows(&Grid::filled(1, 2, 7)), Some(vec!["77".to_owned()]));
        assert_eq!(rows(&Grid::filled(1, 1, 10)), None);
        assert_eq!(rows(&Grid::filled(1, 1, -1)), None);
    }
}
