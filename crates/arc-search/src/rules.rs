//! Rules: what happens to each cell or each object, by conditions that the train pairs show.
//!
//! The parts of rules are in [`TABLE`], one row per line: expressions of the public DSL, each with a cost and words.
//! Each row is written once: it is a function that the batt compiles and evaluates on its bit planes, and the final
//! program contains that same function. Learning uses the values of these functions.

pub mod cells;
mod learn;
pub mod objects;

use arc_cpu::batt::{Batt, Called, Distance, NodeId};
use arc_dsl::Program;
use arc_text::{ParseError, parse_functions};

use rustc_hash::FxHashSet;

use crate::colours::COLOURS;
use crate::language::DERIVED;
use crate::pieces::Layer;
use crate::propose::{Proposal, Scene};

use learn::Rows;

/// The rows, by sections: `cost words: expression`. `COLOUR` stands for each colour of a task.
pub const TABLE: &str = include_str!("rules/table.txt");

/// Functions that the rows call, beside the derived operations.
pub(crate) const HELPERS: &str = include_str!("rules/helpers.py");

/// A row of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleRow {
    /// What it costs, in bits.
    pub cost: u32,
    /// Its description in words.
    pub words: String,
    /// Its expression in the DSL.
    pub expression: String,
    /// Whether there is one for each colour.
    pub by_colour: bool,
}

/// The rows of a section. Invalid lines are skipped; a test parses all of them.
fn rows(table: &str, section: &str) -> Vec<RuleRow> {
    let head = format!("[{section}]");
    let lines = table.lines().map(str::trim);
    let lines = lines.skip_while(|line| *line != head).skip(1);
    let lines = lines.take_while(|line| !line.starts_with('['));
    let row = |line: &str| {
        let (cost, rest) = line.split_once(' ')?;
        let (words, expression) = rest.split_once(": ")?;
        Some(RuleRow {
            cost: cost.parse().ok()?,
            words: words.to_owned(),
            expression: expression.to_owned(),
            by_colour: expression.contains("COLOUR"),
        })
    };
    lines.filter_map(row).collect()
}

/// The functions of a text that calls the helpers and the derived operations: those whose names start with `prefix`.
fn functions(text: &str, prefix: &str) -> Result<Vec<Program>, ParseError> {
    let text = format!("{DERIVED}\n{HELPERS}\n{text}");
    let functions = parse_functions(&text).into_iter();
    functions
        .filter(|function| {
            let function = function.as_ref();
            function.map_or(true, |function| function.name().starts_with(prefix))
        })
        .collect()
}

/// The node of a call; `None` if it fails on an input or the batt is full.
fn call(batt: &mut Batt, called: impl Into<Called>, arguments: &[NodeId]) -> Option<NodeId> {
    batt.push(called, arguments).ok()?.node()
}

/// For each colour the cells of the train outputs that have it; `None` if an output is not known.
fn colours_of_outputs(scene: &Scene<'_>) -> Option<Rows> {
    let mut has = Rows::new(COLOURS, scene.frame.train_words());
    for (input, pair) in scene.task.train.iter().enumerate() {
        let first = 64 * scene.frame.words(input).start;
        for (at, colour) in pair.output.as_ref()?.cells().iter().enumerate() {
            if let Some(colour) = usize::try_from(*colour).ok().filter(|it| *it < COLOURS) {
                has.set(colour, first + at);
            }
        }
    }
    Some(has)
}

/// A rule: its cost, its grid, and its words.
type FoundRule = (u32, NodeId, String);

/// The maximum length of an expression in the words of a rule.
const MOST_LETTERS: usize = 100;

/// The number of train pairs on which a grid is right.
fn fits(batt: &Batt, grid: NodeId, train: usize) -> usize {
    let is_right = |input: &usize| batt.distance(grid, *input) == Some(Distance::Cells(0));
    (0..train).filter(is_right).count()
}

/// The maximum number of rules of a proposer, the cheapest with distinct answers.
const MOST_RULES: usize = 10;

/// The maximum cost of a rule.
const MOST_COST: u32 = 60;

/// Proposes rules that are right on at least this many train pairs, the cheapest first; among equal grids the first,
/// up to a maximum.
fn propose(
    scene: &mut Scene<'_>,
    mut rules: Vec<FoundRule>,
    least: usize,
    by: &'static str,
    take: &mut dyn FnMut(Proposal) -> bool,
) {
    // The sort is stable: among equal costs the first one stays first.
    rules.sort_by_key(|(cost, ..)| *cost);
    let mut known = FxHashSet::default();
    for (cost, grid, rule) in rules {
        if known.len() >= MOST_RULES {
            return;
        }
        let fits = fits(scene.batt, grid, scene.frame.train);
        // The answers may differ in size from the prediction.
        if fits >= least && known.insert(grid) {
            let goes_on = take(Proposal {
                layers: vec![Layer::All(grid)],
                fits: fits as u32,
                cost: cost.min(u8::MAX.into()) as u8,
                total: cost,
                rule: Some(rule),
                by,
            });
            if !goes_on {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests;
