//! [`Attempt`]: an answer, and the program that gives it.

use arc_cpu::batt::{Batt, NodeId};
use arc_dsl::{
    BuildError, Grid, Operand, Primitive, Program, ProgramBuilder, Value, parse_functions,
};
use std::sync::LazyLock;

use crate::colours::Normalisation;
use crate::enumerate::Enumeration;
use crate::pieces::Layer;

/// An answer to a task.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    /// The output for each test pair.
    pub outputs: Vec<Grid>,
    /// The program that gives these outputs for the inputs.
    pub program: Program,
    /// On how many train pairs it is right.
    pub fits: u32,
    /// The pieces that lie over each other, the top one first: one for a chain of calls. They are
    /// expressions of the language's operations.
    pub layers: Vec<LayerText>,
    /// The greatest cost of a piece.
    pub cost: u8,
    /// How good it is, by the ranker.
    pub score: f64,
}

/// A layer in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayerText {
    /// Which part of it is painted: `all` of a grid, what is `shown` or `hidden` of it, an `object`, or
    /// locations that are `filled`.
    pub part: &'static str,
    /// What is painted.
    pub expression: String,
    /// The colour in which locations are filled.
    pub colour: Option<String>,
    /// What it paints of the output of each test pair: -1 where it paints nothing, or another layer lies on
    /// top of it.
    pub paints: Vec<Grid>,
}

/// The most letters of an expression, beside the last operation's.
const MOST_LETTERS: usize = 400;

impl Layer {
    pub(crate) fn describe(self, enumeration: &Enumeration<'_>, paints: Vec<Grid>) -> LayerText {
        let (part, node, colour) = match self {
            Layer::All(node) => ("all", node, None),
            Layer::Shown(node) => ("shown", node, None),
            Layer::Hidden(node) => ("hidden", node, None),
            Layer::Object(node) => ("object", node, None),
            Layer::Filled(locs, colour) => ("filled", locs, Some(colour)),
        };
        LayerText {
            part,
            expression: enumeration.expression(node, MOST_LETTERS),
            colour: colour.map(|colour| enumeration.expression(colour, MOST_LETTERS)),
            paints,
        }
    }
}

/// How a layer is painted: G is the grid that it is of, B what lies below it.
const LAYERS: &str = "
def shown_over(B, G):
    return paint(B, difference(asobject(G), toobject(ofcolor(G, 0), G)))

def hidden_over(B, G):
    return fill(B, 0, ofcolor(G, 0))
";

/// The functions of [`LAYERS`].
static FUNCTIONS: LazyLock<Vec<Program>> =
    LazyLock::new(|| parse_functions(LAYERS).into_iter().flatten().collect());

/// The program that paints these layers, the first one on top, over an empty grid.
pub(crate) fn program(
    batt: &Batt,
    name: &str,
    blank: NodeId,
    layers: &[Layer],
    normalisation: &Normalisation,
) -> Result<Program, BuildError> {
    // What lies under a whole grid is not seen.
    let whole = layers
        .iter()
        .position(|layer| matches!(layer, Layer::All(_)));
    let seen = whole.map_or(layers, |at| &layers[..=at]);
    let nodes = seen.iter().flat_map(|layer| match *layer {
        Layer::All(node) | Layer::Shown(node) | Layer::Hidden(node) | Layer::Object(node) => {
            [Some(node), None]
        }
        Layer::Filled(locs, colour) => [Some(locs), Some(colour)],
    });
    let mut nodes: Vec<_> = nodes.flatten().collect();
    if whole.is_none() {
        nodes.push(blank);
    }
    let mut builder = ProgramBuilder::new(name);
    let made = batt.write_steps(&mut builder, &nodes)?;
    let operand = |node: NodeId| {
        let place = nodes.iter().position(|other| *other == node);
        place
            .map(|place| made[place].clone())
            .ok_or(BuildError::UnknownSlot)
    };
    let mut below = None;
    for layer in seen.iter().rev() {
        let base = match &below {
            Some(below) => Operand::clone(below),
            None if whole.is_some() => builder.input(),
            None => operand(blank)?,
        };
        let functions = FUNCTIONS.as_slice();
        below = Some(match (*layer, functions) {
            (Layer::All(grid), _) => operand(grid)?,
            (Layer::Shown(grid), [shown, _]) => builder.inline(shown, &[base, operand(grid)?])?,
            (Layer::Hidden(grid), [_, hidden]) => {
                builder.inline(hidden, &[base, operand(grid)?])?
            }
            (Layer::Object(object), _) => {
                builder.call(Primitive::Paint, [base, operand(object)?])?
            }
            (Layer::Filled(locs, colour), _) => {
                builder.call(Primitive::Fill, [base, operand(colour)?, operand(locs)?])?
            }
            (Layer::Shown(_) | Layer::Hidden(_), _) => return Err(BuildError::UnknownSlot),
        });
    }
    let output = match below {
        Some(output) => output,
        None => operand(blank)?,
    };
    let program = builder.finish(output)?;
    normalisation.around(&program)
}

/// Whether a value is a grid that an answer may be: of at most 30 by 30 cells, of ten colours.
pub(crate) fn is_answer(grid: &Grid) -> bool {
    (1..=30).contains(&grid.height())
        && (1..=30).contains(&grid.width())
        && grid.cells().iter().all(|colour| (0..10).contains(colour))
}

/// What a program gives for these inputs by the reference, where all of it are grids.
pub(crate) fn outputs<'g>(
    program: &Program,
    inputs: impl Iterator<Item = &'g Grid>,
) -> Option<Vec<Grid>> {
    let mut interpreter = arc_dsl::Interpreter::default();
    let outputs = inputs.map(|input| {
        let value = interpreter.run(program, Value::from(input.clone())).ok()?;
        Some(value.as_grid()?.into_owned())
    });
    outputs.collect()
}
