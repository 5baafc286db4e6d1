//! [`Cells`]: rules of cells: a base grid, and another grid or a colour where some conditions hold.
//!
//! A condition says that a grid of the output's size has, or does not have, a value at the cell: a grid of the
//! enumeration, or a look at the input, each of which is a row of the [table](super::TABLE). All conditions of a rule
//! must hold together. Each must hold wherever the base grid is wrong, so only few remain to be combined.
//!
//! If no rule is right on all train pairs, rules are learned without each of them in turn: what is odd in one pair, or
//! happens in it alone, then hides no rule.

use std::sync::LazyLock;
use std::sync::atomic::Ordering;

use arc_cpu::batt::{Batt, NodeId};
use arc_dsl::{Primitive, Program, Value};
use rustc_hash::FxHashSet;

use super::learn::{Conditions, Rows, both, common, count, meets, without};
use super::{FoundRule, MOST_COST, MOST_LETTERS, MOST_RULES, RuleRow, TABLE, call, fits, rows};
use crate::colours::COLOURS;
use crate::language::Kind;
use crate::pieces::{self, Frame, Layer};
use crate::propose::{Proposal, Proposer, Scene};

/// The looks of the table, and their functions.
pub(super) static LOOKS: LazyLock<(Vec<RuleRow>, Vec<Program>)> = LazyLock::new(|| {
    let rows = rows(TABLE, "looks");
    let texts = rows.iter().enumerate().map(|(at, row)| {
        let colour = if row.by_colour { ", COLOUR" } else { "" };
        format!(
            "def look_{at}(I{colour}):\n    return {}\n\n",
            row.expression
        )
    });
    // A test parses them all.
    let functions = super::functions(&texts.collect::<String>(), "look_").unwrap_or_default();
    (rows, functions)
});

/// The proposer of rules of cells; see the [module](self).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cells;

/// The number of grids of the enumeration, the cheapest, that give conditions.
const GRIDS: usize = 3_000;

/// The number of grids that are tried as a base, those with the fewest errors.
const BASES: usize = 24;

/// The maximum number of times that the cells of conditions are compared.
const STEPS: u64 = 2_000_000;

/// A grid of the output's size.
struct Grid {
    node: NodeId,
    cost: u32,
    /// The index of a look and its colour.
    look: Option<(usize, i32)>,
}

/// What is painted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Paint {
    Colour(i8),
    Grid(usize),
}

/// A grid has, or does not have, a value.
struct Condition {
    grid: usize,
    value: i8,
    is_not: bool,
}

/// A rule: the base, and then each colour or grid that is painted where its conditions hold.
struct Rule {
    cost: u32,
    base: Paint,
    then: Vec<(Paint, Vec<usize>)>,
}

/// The state of the search for rules.
struct Search<'c> {
    frame: &'c Frame,
    grids: Vec<Grid>,
    conditions: Vec<Condition>,
    /// The cells of the train outputs where each condition holds.
    holds: Conditions,
    paints: Vec<(Paint, u32)>,
    /// The cells where each paint is wrong.
    wrong: Rows,
    /// For each colour the cells of the train outputs that have it.
    targets: Rows,
    /// All cells, but for those of a train pair on which a rule may be wrong.
    all: Vec<u64>,
}

/// The number of values that a grid of a batt can have.
const VALUES: usize = 16;

impl<'c> Search<'c> {
    /// Reads the grids and collects the conditions.
    fn of<'s: 'c>(scene: &mut Scene<'s>) -> Option<Self> {
        let frame = scene.frame;
        let words = frame.train_words();
        let targets = super::colours_of_outputs(scene)?;
        let mut all = vec![0; words];
        for colour in 0..COLOURS {
            let both = all.iter_mut().zip(targets.of(colour));
            both.for_each(|(all, target)| *all |= target);
        }
        // Some cell's value is no colour.
        let cells: usize = (0..frame.train).map(|input| frame.cells(input)).sum();
        if count(&all) as usize != cells {
            return None;
        }
        let mut search = Self {
            frame,
            grids: Vec::new(),
            conditions: Vec::new(),
            holds: Conditions::new(words),
            paints: Vec::new(),
            wrong: Rows::new(0, words),
            targets,
            all,
        };
        for colour in 0..COLOURS {
            let target = search.targets.of(colour);
            if count(target) > 0 {
                search.wrong.push(without(&search.all, target));
                search.paints.push((Paint::Colour(colour as i8), 2));
            }
        }
        let (mut known, mut read) = (FxHashSet::default(), pieces::Cells::new(frame));
        for made in scene.enumeration.of(Kind::GRID) {
            if search.grids.len() >= GRIDS {
                break;
            }
            if read
                .read(scene.batt, Layer::All(made.node), frame)
                .is_some()
            {
                let grid = Grid {
                    node: made.node,
                    cost: made.cost.into(),
                    look: None,
                };
                search.add(grid, &read.all, &mut known);
            }
        }
        search.look(scene, &mut known)?;
        Some(search)
    }

    /// Adds the looks at the inputs, if outputs have the sizes of their inputs.
    fn look(&mut self, scene: &mut Scene<'_>, known: &mut FxHashSet<Vec<u64>>) -> Option<()> {
        if !scene.keeps_sizes() {
            return Some(());
        }
        let batt = &mut *scene.batt;
        let looks = LOOKS.0.iter().zip(scene.functions).enumerate();
        for (at, (row, function)) in looks {
            if scene.is_abandoned.load(Ordering::Relaxed) {
                return None;
            }
            let colours = if row.by_colour { scene.colours } else { &[0] };
            for colour in colours {
                let mut arguments = vec![batt.input()];
                if row.by_colour {
                    arguments.push(batt.constant(&Value::Int(*colour)).ok()?);
                }
                let Some(node) = call(batt, *function, &arguments) else {
                    continue;
                };
                let cells = (0..batt.inputs()).map(|input| {
                    let value = batt.value(node, input).ok()?;
                    Some(value.as_grid()?.cells().to_vec())
                });
                if let Some(cells) = cells.collect::<Option<Vec<_>>>() {
                    let grid = Grid {
                        node,
                        cost: row.cost,
                        look: Some((at, *colour)),
                    };
                    self.add(grid, &cells, known);
                }
            }
        }
        Some(())
    }

    /// Adds a grid with these cells: its conditions, and unless it is a look also its paint.
    fn add(&mut self, grid: Grid, cells: &[Vec<i8>], known: &mut FxHashSet<Vec<u64>>) {
        let words = self.frame.train_words();
        let mut has = Rows::new(VALUES, words);
        for (input, cells) in cells[..self.frame.train].iter().enumerate() {
            let first = self.frame.words(input).start;
            for (at, value) in cells.iter().enumerate() {
                let row = usize::from(*value as u8) % VALUES;
                has.set(row, 64 * first + at);
            }
        }
        let (number, cost) = (self.grids.len(), grid.cost);
        let is_look = grid.look.is_some();
        self.grids.push(grid);
        if !is_look {
            let mut wrong = self.all.clone();
            for colour in 0..COLOURS {
                wrong = without(&wrong, &both(has.of(colour), self.targets.of(colour)));
            }
            self.wrong.push(wrong);
            self.paints.push((Paint::Grid(number), cost));
        }
        for value in 0..VALUES {
            let bits = has.of(value);
            if bits.iter().all(|bits| *bits == 0) || bits == self.all {
                continue;
            }
            let others = without(&self.all, bits);
            for (bits, is_not) in [(bits.to_vec(), false), (others, true)] {
                if !known.contains(&bits) {
                    self.holds.holds.push(bits.iter().copied());
                    self.holds.costs.push(cost + 3);
                    self.conditions.push(Condition {
                        grid: number,
                        value: value as i8,
                        is_not,
                    });
                    known.insert(bits);
                }
            }
        }
    }

    /// The number of train pairs that have some of these cells.
    fn support(&self, bits: &[u64]) -> usize {
        let has = |input: &usize| bits[self.frame.words(*input)].iter().any(|bits| *bits != 0);
        (0..self.frame.train).filter(has).count()
    }

    /// The rules, the cheapest first.
    fn rules(&mut self) -> Vec<Rule> {
        let cells = count(&self.all);
        let wrong: Vec<u32> = (0..self.paints.len())
            .map(|paint| common(self.wrong.of(paint), &self.all))
            .collect();
        let mut bases: Vec<usize> = (0..self.paints.len()).collect();
        bases.sort_by_key(|paint| (wrong[*paint] + self.paints[*paint].1 * cells / 100, *paint));
        let mut rules = Vec::new();
        for base in bases.into_iter().take(BASES) {
            if self.holds.steps >= STEPS {
                break;
            }
            let must = both(self.wrong.of(base), &self.all);
            let is_supported = self.support(&must) >= self.frame.train.min(2);
            if wrong[base] > 0 && wrong[base] * 2 <= cells && is_supported {
                self.one_exception(base, &must, &mut rules);
                self.colour_by_colour(base, &must, &mut rules);
            }
        }
        rules.retain(|rule| rule.cost <= MOST_COST);
        // The sort is stable: among equal costs the first one stays first.
        rules.sort_by_key(|rule| rule.cost);
        rules
    }

    /// Rules that paint one more grid or colour over the base.
    fn one_exception(&mut self, base: usize, must: &[u64], rules: &mut Vec<Rule>) {
        let holding = self.holds.holding(must);
        self.holds.steps += self.paints.len() as u64;
        let others = (0..self.paints.len()).filter(|paint| !meets(self.wrong.of(*paint), must));
        let mut others: Vec<usize> = others.collect();
        others.sort_by_key(|paint| self.paints[*paint].1);
        for other in others.into_iter().take(12) {
            let never = both(self.wrong.of(other), &self.all);
            for (cost, conditions) in self.holds.conjunctions(&holding, &never, 6) {
                rules.push(Rule {
                    cost: cost + self.paints[base].1 + self.paints[other].1,
                    base: self.paints[base].0,
                    then: vec![(self.paints[other].0, conditions)],
                });
            }
        }
    }

    /// Rules with separate conditions for each colour where the base is wrong.
    fn colour_by_colour(&mut self, base: usize, must: &[u64], rules: &mut Vec<Rule>) {
        let missing = (0..10).filter(|colour| meets(self.targets.of(*colour), must));
        let missing: Vec<usize> = missing.collect();
        if !(2..=4).contains(&missing.len()) {
            return;
        }
        let mut each = Vec::new();
        for colour in &missing {
            let target = self.targets.of(*colour);
            let (never, must) = (without(&self.all, target), both(target, must));
            let holding = self.holds.holding(&must);
            let found = self.holds.conjunctions(&holding, &never, 3);
            if found.is_empty() {
                return;
            }
            each.push(found);
        }
        for choice in 0..each.iter().map(Vec::len).max().unwrap_or(0) {
            let chosen = each.iter().map(|found| &found[choice.min(found.len() - 1)]);
            let then = missing.iter().zip(chosen.clone());
            rules.push(Rule {
                cost: self.paints[base].1 + chosen.map(|(cost, _)| cost + 2).sum::<u32>(),
                base: self.paints[base].0,
                then: then
                    .map(|(colour, (_, at))| (Paint::Colour(*colour as i8), at.clone()))
                    .collect(),
            });
        }
    }

    /// A condition in words.
    fn words(&self, condition: &Condition, scene: &Scene<'_>) -> String {
        let grid = &self.grids[condition.grid];
        let name = match grid.look {
            Some((row, colour)) => LOOKS.0[row].words.replace("COLOUR", &colour.to_string()),
            None => scene.enumeration.expression(grid.node, MOST_LETTERS),
        };
        let is = if condition.is_not { "is not" } else { "is" };
        format!("{name} {is} {}", condition.value)
    }
}

impl Search<'_> {
    fn constant(batt: &mut Batt, value: i8) -> Option<NodeId> {
        batt.constant(&Value::Int(value.into())).ok()
    }

    /// The node of a rule.
    fn build(&self, rule: &Rule, blank: NodeId, batt: &mut Batt) -> Option<NodeId> {
        let mut grid = match rule.base {
            Paint::Grid(grid) => self.grids[grid].node,
            Paint::Colour(colour) => {
                let colour = Self::constant(batt, colour)?;
                let size = call(batt, Primitive::Shape, &[blank])?;
                call(batt, Primitive::Canvas, &[colour, size])?
            }
        };
        for (paint, conditions) in &rule.then {
            let mut conditions: Vec<&Condition> =
                conditions.iter().map(|at| &self.conditions[*at]).collect();
            conditions.sort_by_key(|condition| condition.is_not);
            let mut locs = None;
            for condition in conditions {
                let value = Self::constant(batt, condition.value)?;
                let own = [self.grids[condition.grid].node, value];
                let own = call(batt, Primitive::Ofcolor, &own)?;
                locs = Some(match (locs, condition.is_not) {
                    (None, false) => own,
                    (Some(locs), false) => call(batt, Primitive::Intersection, &[locs, own])?,
                    (locs, true) => {
                        let all = match locs {
                            Some(locs) => locs,
                            None => call(batt, Primitive::Asindices, &[blank])?,
                        };
                        call(batt, Primitive::Difference, &[all, own])?
                    }
                });
            }
            grid = match *paint {
                Paint::Colour(colour) => {
                    let colour = Self::constant(batt, colour)?;
                    call(batt, Primitive::Fill, &[grid, colour, locs?])?
                }
                Paint::Grid(other) => {
                    let object = [locs?, self.grids[other].node];
                    let object = call(batt, Primitive::Toobject, &object)?;
                    call(batt, Primitive::Paint, &[grid, object])?
                }
            };
        }
        Some(grid)
    }

    /// The cheapest rules, as far as they can be built.
    fn made(&mut self, scene: &mut Scene<'_>) -> Vec<FoundRule> {
        if scene.is_abandoned.load(Ordering::Relaxed) {
            return Vec::new();
        }
        let rules = self.rules().into_iter().take(4 * MOST_RULES);
        let made = rules.filter_map(|rule| {
            let grid = self.build(&rule, scene.blank, scene.batt)?;
            Some((rule.cost, grid, self.describe(&rule, scene)))
        });
        made.collect()
    }

    /// A rule in words.
    fn describe(&self, rule: &Rule, scene: &Scene<'_>) -> String {
        let paint = |paint: Paint| match paint {
            Paint::Colour(colour) => colour.to_string(),
            Paint::Grid(grid) => {
                let node = self.grids[grid].node;
                scene.enumeration.expression(node, MOST_LETTERS)
            }
        };
        let then = rule.then.iter().map(|(other, conditions)| {
            let words = conditions
                .iter()
                .map(|at| self.words(&self.conditions[*at], scene));
            let words: Vec<_> = words.collect();
            format!("; where {}: {}", words.join(" and "), paint(*other))
        });
        paint(rule.base) + &then.collect::<String>()
    }
}

impl Proposer for Cells {
    fn name(&self) -> &'static str {
        "cells"
    }

    fn functions(&self) -> &[Program] {
        &LOOKS.1
    }

    fn propose(&self, scene: &mut Scene<'_>, take: &mut dyn FnMut(Proposal) -> bool) {
        let Some(mut search) = Search::of(scene) else {
            return;
        };
        let train = scene.frame.train;
        let (mut made, mut least) = (search.made(scene), train);
        let is_right = |(_, grid, _): &FoundRule| fits(scene.batt, *grid, train) == train;
        if train >= LEAVES_OUT && !made.iter().any(is_right) {
            least = train - 1;
            let all = search.all.clone();
            for left_out in 0..train {
                search.all.clone_from(&all);
                search.all[scene.frame.words(left_out)].fill(0);
                // There are several of these, so each gets a quarter of the steps.
                search.holds.steps = STEPS - STEPS / 4;
                made.extend(search.made(scene));
            }
        }
        super::propose(scene, made, least, self.name(), take);
    }
}

/// The least number of train pairs of which one may be left out.
const LEAVES_OUT: usize = 3;
