//! [`Attempt`]: an answer, and the program that gives it.

use arc_cpu::batt::{Batt, NodeId};
use arc_dsl::{BuildError, Grid, Operand, Primitive, Program, ProgramBuilder, Value};
use arc_text::parse_functions;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::sync::LazyLock;

use crate::colours::Normalisation;
use crate::enumerate::Enumeration;
use crate::language::LanguagePart;
use crate::pieces::Layer;

/// An answer to a task.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    /// The output for each test pair.
    pub outputs: Vec<Grid>,
    /// The program that gives these outputs for the inputs.
    pub program: Program,
    /// The number of train pairs on which it is right.
    pub fits: u32,
    /// The pieces that are painted over each other, the top one first; a chain of calls has one. Each is written as
    /// an expression of the language's operations.
    pub layers: Vec<LayerText>,
    /// The greatest cost of a piece.
    pub cost: u8,
    /// The sum of the costs.
    pub total: u32,
    /// The [name](crate::propose::Proposer::name) of its proposer.
    pub by: &'static str,
    /// The invariants of the train pairs that the answer to each test pair breaks, by
    /// [name](crate::invariants::Invariants::broken).
    pub broken: Vec<Vec<&'static str>>,
    /// Whether its program renames colours.
    pub renames: bool,
    /// Its score by the ranker.
    pub score: f64,
    /// The calls and seeds of the language in its layers, as often as each stands there.
    pub uses: Vec<LanguagePart>,
}

/// A layer as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayerText {
    /// The part that is painted: `all` of a grid, its `shown` or `hidden` cells, an `object`, locations that are
    /// `filled`, or the whole result of a `rule`.
    pub part: Cow<'static, str>,
    /// The value that is painted, or the rule in words.
    pub expression: String,
    /// The colour of filled locations.
    pub colour: Option<String>,
    /// The cells of the output of each test pair that it paints: -1 where it paints nothing or another layer lies on
    /// top of it.
    pub paints: Vec<Grid>,
}

/// The maximum length of an expression in characters, except for its last operation.
const MOST_LETTERS: usize = 400;

impl Layer {
    /// The nodes that it paints: a grid, an object, or locations and their colour.
    pub(crate) fn nodes(self) -> impl Iterator<Item = NodeId> {
        let (node, colour) = match self {
            Layer::All(node) | Layer::Shown(node) | Layer::Hidden(node) | Layer::Object(node) => {
                (node, None)
            }
            Layer::Filled(locs, colour) => (locs, Some(colour)),
        };
        std::iter::once(node).chain(colour)
    }

    pub(crate) fn describe(self, enumeration: &Enumeration<'_>, paints: Vec<Grid>) -> LayerText {
        let (part, node, colour) = match self {
            Layer::All(node) => ("all", node, None),
            Layer::Shown(node) => ("shown", node, None),
            Layer::Hidden(node) => ("hidden", node, None),
            Layer::Object(node) => ("object", node, None),
            Layer::Filled(locs, colour) => ("filled", locs, Some(colour)),
        };
        LayerText {
            part: part.into(),
            expression: enumeration.expression(node, MOST_LETTERS),
            colour: colour.map(|colour| enumeration.expression(colour, MOST_LETTERS)),
            paints,
        }
    }
}

/// How a layer is painted: G is its grid, B what lies below it.
const LAYERS: &str = "
def shown_over(B, G):
    return paint(B, difference(asobject(G), toobject(ofcolor(G, 0), G)))

def hidden_over(B, G):
    return fill(B, 0, ofcolor(G, 0))
";

/// The functions of [`LAYERS`].
static FUNCTIONS: LazyLock<Vec<Program>> =
    LazyLock::new(|| parse_functions(LAYERS).into_iter().flatten().collect());

/// The visible layers: those down to the first whole grid.
pub(crate) fn seen(layers: &[Layer]) -> &[Layer] {
    let whole = layers
        .iter()
        .position(|layer| matches!(layer, Layer::All(_)));
    whole.map_or(layers, |at| &layers[..=at])
}

/// The program that paints these layers, the first one on top, over an empty grid.
pub(crate) fn program(
    batt: &Batt,
    name: &str,
    blank: NodeId,
    layers: &[Layer],
    normalisation: &Normalisation,
) -> Result<Program, BuildError> {
    let seen = seen(layers);
    let is_whole = matches!(seen.last(), Some(Layer::All(_)));
    let mut nodes: Vec<_> = seen.iter().flat_map(|layer| layer.nodes()).collect();
    if !is_whole {
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
    let [shown, hidden] = FUNCTIONS.as_slice() else {
        return Err(BuildError::UnknownSlot);
    };
    let mut below = None;
    for layer in seen.iter().rev() {
        let base = match &below {
            Some(below) => Operand::clone(below),
            None if is_whole => builder.input(),
            None => operand(blank)?,
        };
        below = Some(match *layer {
            Layer::All(grid) => operand(grid)?,
            Layer::Shown(grid) => builder.inline(shown, &[base, operand(grid)?])?,
            Layer::Hidden(grid) => builder.inline(hidden, &[base, operand(grid)?])?,
            Layer::Object(object) => builder.call(Primitive::Paint, [base, operand(object)?])?,
            Layer::Filled(locs, colour) => {
                builder.call(Primitive::Fill, [base, operand(colour)?, operand(locs)?])?
            }
        });
    }
    let output = match below {
        Some(output) => output,
        None => operand(blank)?,
    };
    let program = builder.finish(output)?;
    normalisation.around(&program)
}

/// Whether a grid can be an answer: at most 30 by 30 cells in the ten colours.
pub(crate) fn is_answer(grid: &Grid) -> bool {
    (1..=30).contains(&grid.height())
        && (1..=30).contains(&grid.width())
        && grid.cells().iter().all(|colour| (0..10).contains(colour))
}

/// The outputs of a program for these inputs by the reference; `None` if one of them is no grid.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::language::{Kind, Language};
    use crate::testing::{batt, given, grid, grids, node, painted, task};

    const ROWS: usize = 4;
    const COLUMNS: usize = 5;

    /// All kinds of layers of an output of 4 rows and 5 columns, and the empty grid.
    fn layers(batt: &mut Batt) -> (Vec<Layer>, NodeId) {
        let mut grids = Vec::new();
        for expression in ["vmirror(I)", "hmirror(I)", "replace(I, 1, 0)"] {
            grids.push(node(batt, expression));
        }
        grids.push(batt.input());
        let objects = [
            "recolor(5, ofcolor(I, 1))",
            "shift(toobject(ofcolor(I, 2), I), (1, -1))",
        ];
        let objects = objects.map(|expression| node(batt, expression));
        let locs = ["ofcolor(I, 3)", "shift(ofcolor(I, 0), (-2, 2))"];
        let locs = locs.map(|expression| node(batt, expression));
        let colours = ["7", "mostcolor(I)"].map(|expression| match expression {
            "7" => batt.constant(&Value::Int(7)).unwrap(),
            _ => node(batt, expression),
        });
        let mut layers = Vec::new();
        for grid in grids {
            layers.extend([Layer::All(grid), Layer::Shown(grid), Layer::Hidden(grid)]);
        }
        layers.extend(objects.map(Layer::Object));
        for locs in locs {
            layers.extend(colours.map(|colour| Layer::Filled(locs, colour)));
        }
        let blank = node(batt, "canvas(0, (4, 5))");
        (layers, blank)
    }

    proptest! {
        /// A program gives the same as its layers painted from the bottom to the top.
        #[test]
        fn the_program_paints_its_layers(
            inputs in prop::collection::vec(grids(ROWS, COLUMNS, 0..4), 1..4),
            chosen in prop::collection::vec(0..18_usize, 0..6),
        ) {
            let task = task(&[], &inputs);
            let mut batt = batt(&task);
            let (all, blank) = layers(&mut batt);
            prop_assert_eq!(all.len(), 18);
            let chosen: Vec<_> = chosen.iter().map(|layer| all[*layer]).collect();
            let normalisation = Normalisation::default();
            let program = program(&batt, "made", blank, &chosen, &normalisation).unwrap();
            let mut expected = Vec::new();
            for (number, input) in inputs.iter().enumerate() {
                let mut canvas = Grid::filled(ROWS, COLUMNS, 0);
                for layer in chosen.iter().rev() {
                    let cells = painted(&batt, *layer, number, (ROWS, COLUMNS)).unwrap();
                    for (cell, colour) in canvas.cells_mut().iter_mut().zip(cells) {
                        *cell = colour.unwrap_or(*cell);
                    }
                }
                prop_assert_eq!(&given(&program, input), &canvas, "{}", program);
                expected.push(canvas);
            }
            prop_assert_eq!(outputs(&program, inputs.iter()), Some(expected));
        }
    }

    #[test]
    fn layers_are_painted_by_functions() {
        for function in parse_functions(LAYERS) {
            assert!(function.is_ok(), "{}", function.unwrap_err());
        }
        assert_eq!(FUNCTIONS.len(), 2);
    }

    #[test]
    fn what_lies_under_a_whole_grid_is_left_out() {
        let mut batt = batt(&task(&[], &[grid(&[[1, 2], [0, 3]])]));
        let mut node = |expression| node(&mut batt, expression);
        let (top, whole) = (node("hmirror(I)"), node("vmirror(I)"));
        let (below, blank) = (node("rot180(I)"), node("canvas(0, (2, 2))"));
        let write = |layers: &[Layer]| {
            let program = program(&batt, "made", blank, layers, &Normalisation::default());
            program.unwrap().to_string()
        };
        let seen = [Layer::Shown(top), Layer::All(whole)];
        let text = write(&seen);
        assert_eq!(write(&[seen[0], seen[1], Layer::Shown(below)]), text);
        assert!(text.contains("hmirror") && text.contains("vmirror"));
        assert!(!text.contains("rot180") && !text.contains("canvas"));
        // Without the whole grid the rest lies on an empty one.
        let text = write(&[seen[0], Layer::Shown(below)]);
        assert!(text.contains("rot180") && text.contains("canvas"));
    }

    #[test]
    fn answers_have_the_sizes_and_colours_of_tasks() {
        assert!(is_answer(&Grid::filled(1, 1, 0)) && is_answer(&Grid::filled(30, 30, 9)));
        for grid in [(0, 0, 0), (31, 1, 0), (1, 31, 0), (2, 2, 10), (2, 2, -1)] {
            assert!(
                !is_answer(&Grid::filled(grid.0, grid.1, grid.2)),
                "{grid:?}"
            );
        }
    }

    #[test]
    fn what_gives_no_grid_has_no_outputs() {
        let inputs = [grid(&[[1, 2]]), grid(&[[0, 0]])];
        let of = |expression| outputs(&crate::testing::program(expression), inputs.iter());
        assert_eq!(
            of("vmirror(I)"),
            Some(vec![grid(&[[2, 1]]), grid(&[[0, 0]])])
        );
        assert_eq!(of("height(I)"), None);
        // It fails on the second one.
        assert_eq!(of("subgrid(first(objects(I, T, F, T)), I)"), None);
    }

    #[test]
    fn a_layer_is_told_by_its_expression() {
        let language = Language::parse("", "").unwrap();
        let mut batt = batt(&task(&[], &[grid(&[[1, 2]])]));
        let (locs, colour) = (
            node(&mut batt, "ofcolor(I, 1)"),
            batt.constant(&Value::Int(4)),
        );
        let (locs, colour) = (locs, colour.unwrap());
        let mut enumeration = Enumeration::new(&language, &[]);
        enumeration.add(locs, Kind::INDICES, 1, "ofcolor(I, 1)");
        enumeration.add(colour, Kind::COLOUR, 1, "4");
        let paints = vec![grid(&[[4, -1]])];
        let text = Layer::Filled(locs, colour).describe(&enumeration, paints.clone());
        let expected = LayerText {
            part: "filled".into(),
            expression: "ofcolor(I, 1)".to_owned(),
            colour: Some("4".to_owned()),
            paints: paints.clone(),
        };
        assert_eq!(text, expected);
        let text = Layer::Object(locs).describe(&enumeration, paints);
        assert_eq!((&*text.part, text.colour), ("object", None));
    }
}
