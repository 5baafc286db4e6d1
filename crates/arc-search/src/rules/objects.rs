//! [`Objects`]: rules of objects: what is painted for each object of a grid, or which object is the output, by
//! conditions on the objects.
//!
//! An abstraction of the [table](super::TABLE) says which objects there are. Each action is evaluated for all of
//! them; the objects for which it paints nothing wrong are kept as bits, with the cells that it explains. Then sets
//! of at most three actions that explain all changes are searched, always branching on the cell that the fewest
//! actions explain. Each action of a set gets conditions that hold for the objects that need it and for none for
//! which it is wrong.
//!
//! If outputs have other sizes than their inputs, the objects painted for are those of the grid of the enumeration that
//! is nearest to the outputs.

use std::borrow::Cow;
use std::sync::LazyLock;
use std::sync::atomic::Ordering;

use arc_cpu::batt::{Batt, Called, Distance, NodeId};
use arc_dsl::{Cell, Container, Loc, Primitive, Program, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::learn::{Conditions, Conjunction, Rows, both, without};
use super::{FoundRule, MOST_COST, MOST_LETTERS, RuleRow, TABLE, rows};
use crate::colours::COLOURS;
use crate::enumerate::Known;
use crate::language::Kind;
use crate::pieces;
use crate::propose::{Proposal, Proposer, Scene};

/// The rows of the table for rules of objects, and their functions.
pub(super) struct Language {
    pub(super) abstractions: Vec<RuleRow>,
    /// The function that returns the objects of a set as a tuple.
    pub(super) tuple: usize,
    pub(super) features: Vec<LanguageEntry>,
    pub(super) actions: Vec<LanguageEntry>,
    pub(super) crops: Vec<LanguageEntry>,
    /// One for each abstraction, in their order, followed by those of the other rows.
    pub(super) functions: Vec<Program>,
}

/// A row with the indices of its functions.
pub(super) struct LanguageEntry {
    pub(super) row: RuleRow,
    /// The colour, if there is a feature for each colour.
    pub(super) colour: i32,
    /// The value for each object of a tuple: for an action cells, or locations if they have a separate colour.
    pub(super) each: Each,
    pub(super) painted_in: Option<Colour>,
    /// The function for a set of objects: paints them, selects those with a value, or returns the grid of the first
    /// one.
    pub(super) for_set: usize,
}

/// The colour of locations, which are evaluated once for all colours.
pub(super) enum Colour {
    OfRule,
    /// A function gives the colour of each object.
    OfEach(Each),
}

/// A function that returns a value for each object of a tuple.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Each {
    pub(super) function: usize,
    /// Whether it takes a colour.
    pub(super) by_colour: bool,
}

impl Each {
    fn of(mut define: impl FnMut(&str, &str) -> usize, expression: &str) -> Self {
        Self {
            function: define("I, O, T", &format!("apply({expression}, T)")),
            by_colour: expression.contains("COLOUR"),
        }
    }
}

pub(super) static LANGUAGE: LazyLock<Language> = LazyLock::new(|| {
    let [abstractions, features, actions, crops] =
        ["abstractions", "features", "actions", "crops"].map(|section| rows(TABLE, section));
    let features = features.into_iter().flat_map(|row| {
        let colours = if row.by_colour {
            0..COLOURS as i32
        } else {
            0..1
        };
        colours.map(move |colour| {
            let of_colour = |text: &str| text.replace("COLOUR", &colour.to_string());
            let (words, expression) = (of_colour(&row.words), of_colour(&row.expression));
            let row = RuleRow {
                words,
                expression,
                ..row.clone()
            };
            (row, colour)
        })
    });
    // The text after the name of each function.
    let mut texts: Vec<String> = Vec::new();
    let mut define = |takes: &str, result: &str| {
        let takes_colour = result.contains("COLOUR");
        let more = if takes_colour { ", COLOUR" } else { "" };
        let reads_tuple = [", T)", "(T, "].iter().any(|read| result.contains(read));
        let tuple = if reads_tuple && !takes.contains('T') {
            "    T = in_order(O)\n"
        } else {
            ""
        };
        let text = format!("({takes}{more}):\n{tuple}    return {result}\n\n");
        let known = texts.iter().position(|known| *known == text);
        known.unwrap_or_else(|| {
            texts.push(text);
            texts.len() - 1
        })
    };
    for row in &abstractions {
        define("I", &row.expression);
    }
    let tuple = define("I, O", "in_order(O)");
    let features = features.map(|(row, colour)| LanguageEntry {
        each: Each::of(&mut define, &row.expression),
        painted_in: None,
        for_set: define(
            "I, O, X, V",
            &format!("sfilter(X, matcher({}, V))", row.expression),
        ),
        row,
        colour,
    });
    let features = features.collect();
    let actions = actions.into_iter().map(|row| {
        let (colour, what) = match row.expression.split_once(" at ") {
            Some((colour, locations)) => (Some(colour), locations),
            None => (None, row.expression.as_str()),
        };
        let painted = match colour {
            None => format!("mapply({what}, X)"),
            Some("COLOUR") => format!("recolor(COLOUR, mapply({what}, X))"),
            Some(colour) => format!("mapply(fork(recolor, {colour}, {what}), X)"),
        };
        let painted_in = colour.map(|colour| match colour {
            "COLOUR" => Colour::OfRule,
            _ => Colour::OfEach(Each::of(&mut define, colour)),
        });
        LanguageEntry {
            each: Each::of(&mut define, what),
            painted_in,
            for_set: define("I, O, X", &painted),
            row,
            colour: 0,
        }
    });
    let actions = actions.collect();
    let crops = crops.into_iter().map(|row| LanguageEntry {
        each: Each::of(&mut define, &row.expression),
        painted_in: None,
        for_set: define(
            "I, O, X",
            &format!("first(apply({}, in_order(X)))", row.expression),
        ),
        row,
        colour: 0,
    });
    let crops = crops.collect();
    let text = texts
        .iter()
        .enumerate()
        .map(|(number, text)| format!("def rule_{number}{text}"));
    Language {
        abstractions,
        tuple,
        features,
        actions,
        crops,
        // A test parses them all.
        functions: super::functions(&text.collect::<String>(), "rule_").unwrap_or_default(),
    }
});

/// The proposer of rules of objects; see the [module](self).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Objects;

/// The maximum number of objects; grids with more are skipped.
const MOST_OBJECTS: usize = 60;

/// The maximum number of sets of actions of an abstraction, the cheapest.
const SETS: usize = 60;

/// The maximum number of times that an action is tried for a cell of an abstraction.
const STEPS: u64 = 30_000;

/// A feature has, or does not have, a value.
struct Condition {
    feature: usize,
    value: Value,
    is_not: bool,
}

/// Cells of each object: the index of their first word, and the words.
type Marks = Vec<(usize, Vec<u64>)>;

/// An action, evaluated for all objects.
struct Action {
    row: usize,
    colour: i32,
    /// The objects for which everything that it paints is right.
    agrees: Vec<u64>,
    /// The cells that it paints, for each of these objects.
    paints: Marks,
}

/// The objects of an abstraction.
struct AbstractedObjects {
    abstraction: usize,
    /// The grid that has the objects.
    grid: NodeId,
    set: NodeId,
    tuple: NodeId,
    /// The first object of each train pair, and the end.
    starts: Vec<usize>,
    conditions: Vec<Condition>,
    holds: Conditions,
    /// The actions, once rules that paint are looked for.
    actions: Vec<Action>,
}

/// A value as coloured cells; `None` if it is something else.
fn cells(value: &Value) -> Option<&[Cell]> {
    match value {
        Value::Object(object) => Some(object.as_slice()),
        value if value.as_container().is_some_and(Container::is_empty) => Some(&[]),
        _ => None,
    }
}

/// The node of a call, as by [`super::call`]; `None` also once the search is abandoned, since a call on large grids
/// takes long.
fn call(scene: &mut Scene<'_>, called: impl Into<Called>, arguments: &[NodeId]) -> Option<NodeId> {
    if scene.is_abandoned.load(Ordering::Relaxed) {
        return None;
    }
    super::call(scene.batt, called, arguments)
}

/// The elements of a node's tuple on an input, sets among them in any order.
fn elements(batt: &Batt, node: NodeId, input: usize) -> Option<Vec<Value>> {
    let value = batt.unordered_value(node, input).ok()?;
    let elements = value.as_container()?;
    Some(elements.iter().map(Cow::into_owned).collect())
}

impl AbstractedObjects {
    /// The objects of an abstraction; `None` if a train pair has none, or too many.
    fn of(abstraction: usize, grid: NodeId, scene: &mut Scene<'_>) -> Option<Self> {
        let set = call(scene, *scene.functions.get(abstraction)?, &[grid])?;
        let tuple = call(scene, *scene.functions.get(LANGUAGE.tuple)?, &[grid, set])?;
        let mut starts = vec![0];
        for input in 0..scene.frame.train {
            let value = scene.batt.unordered_value(tuple, input).ok()?;
            let count = value.as_container()?.len();
            if !(1..=MOST_OBJECTS).contains(&count) {
                return None;
            }
            starts.push(starts[input] + count);
        }
        let words = starts[scene.frame.train].div_ceil(64);
        Some(Self {
            abstraction,
            grid,
            set,
            tuple,
            starts,
            conditions: Vec::new(),
            holds: Conditions::new(words),
            actions: Vec::new(),
        })
    }

    fn count(&self) -> usize {
        self.starts[self.starts.len() - 1]
    }

    fn words(&self) -> usize {
        self.count().div_ceil(64)
    }

    /// The values of a function for all objects, by train pair.
    fn values_of(&self, scene: &mut Scene<'_>, by: Each, colour: i32) -> Option<Vec<Value>> {
        let mut arguments = vec![self.grid, self.set, self.tuple];
        if by.by_colour {
            arguments.push(scene.batt.constant(&Value::Int(colour)).ok()?);
        }
        let function = *scene.functions.get(by.function)?;
        let node = call(scene, function, &arguments)?;
        let mut all = Vec::with_capacity(self.count());
        for input in 0..scene.frame.train {
            all.extend(elements(scene.batt, node, input)?);
            if all.len() != self.starts[input + 1] {
                return None;
            }
        }
        Some(all)
    }

    /// Evaluates all features of all objects.
    fn evaluate_features(&mut self, scene: &mut Scene<'_>) {
        if !self.conditions.is_empty() {
            return;
        }
        let mut known = FxHashSet::default();
        for (at, feature) in LANGUAGE.features.iter().enumerate() {
            if feature.row.by_colour && !scene.colours.contains(&feature.colour) {
                continue;
            }
            let Some(given) = self.values_of(scene, feature.each, feature.colour) else {
                continue;
            };
            let mut values: Vec<Value> = Vec::new();
            for value in &given {
                let is_known = values.contains(value) || *value == Value::Bool(false);
                if !is_known && values.len() < VALUES {
                    values.push(value.clone());
                }
            }
            for value in values {
                let mut holds = Rows::new(2, self.words());
                for (object, own) in given.iter().enumerate() {
                    holds.set(usize::from(*own != value), object);
                }
                for (row_of, is_not) in [(0, false), (1, true)] {
                    let bits = holds.of(row_of).to_vec();
                    if known.insert(bits.clone()) {
                        self.holds.holds.push(bits);
                        self.holds.costs.push(feature.row.cost + u32::from(is_not));
                        self.conditions.push(Condition {
                            feature: at,
                            value: value.clone(),
                            is_not,
                        });
                    }
                }
            }
        }
    }

    /// The set of objects for which all these conditions hold.
    fn chosen(&self, scene: &mut Scene<'_>, conditions: &[usize]) -> Option<NodeId> {
        let mut chosen = self.set;
        for at in conditions {
            let condition = &self.conditions[*at];
            let value = scene.batt.constant(&condition.value).ok()?;
            let feature = &LANGUAGE.features[condition.feature];
            let function = *scene.functions.get(feature.for_set)?;
            let arguments = [self.grid, self.set, chosen, value];
            let those = call(scene, function, &arguments)?;
            chosen = if condition.is_not {
                call(scene, Primitive::Difference, &[chosen, those])?
            } else {
                those
            };
        }
        Some(chosen)
    }

    /// An action with its colour and conditions, in words.
    fn describe(&self, words: &str, colour: i32, conditions: &[usize]) -> String {
        let conditions = conditions.iter().map(|at| {
            let condition = &self.conditions[*at];
            let words = &LANGUAGE.features[condition.feature].row.words;
            match (&condition.value, condition.is_not) {
                (Value::Bool(_), false) => words.replace("whether ", ""),
                (Value::Bool(_), true) => words.replace("whether ", "not "),
                (value, false) => format!("{words} is {value}"),
                (value, true) => format!("{words} is not {value}"),
            }
        });
        let conditions: Vec<_> = conditions.collect();
        let words = words.replace("COLOUR", &colour.to_string());
        if conditions.is_empty() {
            return format!("each: {words}");
        }
        format!("where {}: {words}", conditions.join(" and "))
    }

    /// The cells of the train outputs that differ from those of a grid.
    fn differs(scene: &Scene<'_>, grid: NodeId) -> Option<Vec<u64>> {
        let mut wrong = Rows::new(1, scene.frame.train_words());
        for (input, pair) in scene.task.train.iter().enumerate() {
            let value = scene.batt.value(grid, input).ok()?;
            let (grid, first) = (value.as_grid()?, 64 * scene.frame.words(input).start);
            let outputs = pair.output.iter().flat_map(arc_dsl::Grid::cells);
            for (at, (cell, output)) in grid.cells().iter().zip(outputs).enumerate() {
                if cell != output {
                    wrong.set(0, first + at);
                }
            }
        }
        Some(wrong.of(0).to_vec())
    }

    /// All actions that are right for at least one object.
    fn actions(&self, scene: &mut Scene<'_>) -> Option<Vec<Action>> {
        let has = super::colours_of_outputs(scene)?;
        let mut actions = Vec::new();
        // Several rows paint the same locations.
        let mut marks: FxHashMap<(Each, i32), Option<Marks>> = FxHashMap::default();
        for (at, entry) in LANGUAGE.actions.iter().enumerate() {
            let LanguageEntry { row, each, .. } = entry;
            let colours = if row.by_colour { scene.colours } else { &[0] };
            for colour in colours {
                let painted = match &entry.painted_in {
                    None => {
                        let given = self.values_of(scene, *each, *colour);
                        given.and_then(|given| self.painted(scene, &given))
                    }
                    Some(painted_in) => {
                        let key = (*each, if each.by_colour { *colour } else { 0 });
                        let marks = marks.entry(key).or_insert_with(|| {
                            let given = self.values_of(scene, *each, *colour)?;
                            self.marks(scene, &given)
                        });
                        marks.as_ref().and_then(|marks| match painted_in {
                            Colour::OfRule => self.agreeing(marks, &has, |_| *colour),
                            Colour::OfEach(each) => {
                                let colours = self.values_of(scene, *each, *colour)?;
                                let colours = colours.iter().map(Value::as_int);
                                let colours = colours.collect::<Option<Vec<_>>>()?;
                                self.agreeing(marks, &has, |object| colours[object])
                            }
                        })
                    }
                };
                if let Some((agrees, paints)) = painted {
                    actions.push(Action {
                        row: at,
                        colour: *colour,
                        agrees,
                        paints,
                    });
                }
            }
        }
        // The sort is stable: among equal costs the first one stays first.
        actions.sort_by_key(|action| LANGUAGE.actions[action.row].row.cost);
        Some(actions)
    }

    /// The locations for each object, as far as they lie within the outputs; `None` if a value is something else.
    fn marks(&self, scene: &Scene<'_>, given: &[Value]) -> Option<Marks> {
        let mut all = Vec::with_capacity(given.len());
        for input in 0..scene.frame.train {
            let (size, words) = (scene.frame.sizes[input], scene.frame.words(input));
            for given in &given[self.starts[input]..self.starts[input + 1]] {
                let mut bits = vec![0; words.len()];
                let mut mark = |loc: Loc| {
                    if let Some(at) = pieces::place(loc, size) {
                        bits[at / 64] |= 1 << (at % 64);
                    }
                };
                match given {
                    Value::Indices(locs) => locs.as_slice().iter().for_each(|loc| mark(*loc)),
                    Value::Object(cells) => cells.as_slice().iter().for_each(|it| mark(it.loc)),
                    value if value.as_container().is_some_and(Container::is_empty) => {}
                    _ => return None,
                }
                all.push((words.start, bits));
            }
        }
        Some(all)
    }

    /// The objects whose locations all have this colour in the outputs, and these locations; `None` if there are
    /// none.
    fn agreeing(
        &self,
        marks: &Marks,
        has: &Rows,
        colour_of: impl Fn(usize) -> i32,
    ) -> Option<(Vec<u64>, Marks)> {
        let mut agrees = Rows::new(1, self.words());
        let mut any = false;
        let paints = marks.iter().enumerate().map(|(object, (first, bits))| {
            let colour = usize::try_from(colour_of(object)).ok();
            let colour = colour.filter(|colour| *colour < COLOURS);
            let has = colour.map(|colour| &has.of(colour)[*first..]);
            let mut bits_at = bits.iter().enumerate();
            let is_right = bits_at.all(|(at, bits)| bits & !has.map_or(0, |has| has[at]) == 0);
            if is_right {
                any = true;
                agrees.set(0, object);
            }
            (*first, if is_right { bits.clone() } else { Vec::new() })
        });
        let paints = paints.collect();
        any.then(|| (agrees.of(0).to_vec(), paints))
    }

    /// The objects for which everything painted is right, and their cells; `None` if there are none.
    fn painted(&self, scene: &Scene<'_>, given: &[Value]) -> Option<(Vec<u64>, Marks)> {
        let mut agrees = Rows::new(1, self.words());
        let mut paints = Vec::with_capacity(given.len());
        let mut any = false;
        for (input, pair) in scene.task.train.iter().enumerate() {
            let (output, words) = (pair.output.as_ref()?, scene.frame.words(input));
            let range = self.starts[input]..self.starts[input + 1];
            for (object, given) in range.clone().zip(&given[range]) {
                let mut bits = vec![0; words.len()];
                let mut is_right = true;
                for cell in cells(given)? {
                    if let Some(at) = pieces::place(cell.loc, scene.frame.sizes[input]) {
                        is_right &= i32::from(output.cells()[at]) == cell.colour;
                        bits[at / 64] |= 1 << (at % 64);
                    }
                }
                if is_right {
                    any = true;
                    agrees.set(0, object);
                } else {
                    bits.clear();
                }
                paints.push((words.start, bits));
            }
        }
        any.then(|| (agrees.of(0).to_vec(), paints))
    }

    /// Rules that paint something for each object.
    fn painting_rules(&mut self, scene: &mut Scene<'_>, found: &mut Vec<FoundRule>) -> Option<()> {
        self.actions = self.actions(scene)?;
        // Over the grid itself, and over the grid without its objects.
        self.try_sets(scene, self.grid, 0, found)?;
        let zero = scene.batt.constant(&Value::Int(0)).ok()?;
        let locs = call(scene, Primitive::Merge, &[self.set])?;
        let locs = call(scene, Primitive::Toindices, &[locs])?;
        let emptied = call(scene, Primitive::Fill, &[self.grid, zero, locs])?;
        self.try_sets(scene, emptied, 1, found)
    }

    /// Tries the sets of actions that explain the wrong cells of a base.
    fn try_sets(
        &mut self,
        scene: &mut Scene<'_>,
        base: NodeId,
        cost: u32,
        found: &mut Vec<FoundRule>,
    ) -> Option<()> {
        let (wrong, frame) = (Self::differs(scene, base)?, scene.frame);
        let changed = (0..frame.train)
            .filter(|input| wrong[frame.words(*input)].iter().any(|bits| *bits != 0));
        if changed.count() < frame.train.min(2) {
            return Some(());
        }
        let explains = self.actions.iter().map(|action| {
            let mut explains = vec![0; wrong.len()];
            for (first, bits) in &action.paints {
                for (at, bits) in bits.iter().enumerate() {
                    explains[first + at] |= bits & wrong[first + at];
                }
            }
            explains
        });
        let mut cover = Cover {
            actions: &self.actions,
            explains: explains.collect(),
            found: Vec::new(),
            steps: STEPS,
            most: 20 * SETS,
        };
        cover.extend(&wrong, &mut Vec::new(), frame);
        let mut sets = cover.found;
        sets.sort_by_key(|(cost, _)| *cost);
        sets.truncate(SETS);
        for (_, set) in sets {
            self.evaluate_features(scene);
            self.add_conditioned(scene, &set, &wrong, base, cost, found);
        }
        Some(())
    }

    /// The rules with this set of actions.
    fn add_conditioned(
        &mut self,
        scene: &mut Scene<'_>,
        set: &[usize],
        wrong: &[u64],
        base: NodeId,
        cost: u32,
        found: &mut Vec<FoundRule>,
    ) -> Option<()> {
        // Cells that only one object explains.
        let (mut once, mut twice) = (vec![0; wrong.len()], vec![0; wrong.len()]);
        for (first, bits) in set.iter().flat_map(|action| &self.actions[*action].paints) {
            for (at, bits) in bits.iter().enumerate() {
                twice[first + at] |= once[first + at] & bits;
                once[first + at] |= bits;
            }
        }
        let once = both(&without(&once, &twice), wrong);
        let mut all = vec![0; self.words()];
        for object in 0..self.count() {
            all[object / 64] |= 1 << (object % 64);
        }
        let mut each: Vec<Vec<Conjunction>> = Vec::new();
        let mut rare = 0;
        for action in set {
            let action = &self.actions[*action];
            let mut must = Rows::new(1, self.words());
            let mut support = FxHashSet::default();
            for (object, (first, bits)) in action.paints.iter().enumerate() {
                let is_needed = bits
                    .iter()
                    .enumerate()
                    .any(|(at, bits)| bits & once[first + at] != 0);
                if is_needed {
                    must.set(0, object);
                    support.insert(self.starts.partition_point(|start| *start <= object));
                }
            }
            if support.is_empty() {
                return None;
            }
            rare += u32::from(support.len() < scene.frame.train.min(2));
            let never = without(&all, &action.agrees);
            let holding = self.holds.holding(must.of(0));
            let conjunctions = self.holds.conjunctions(&holding, &never, CHOICES);
            if conjunctions.is_empty() {
                return None;
            }
            each.push(conjunctions);
        }
        for choice in 0..each.iter().map(Vec::len).max()? {
            let mut grid = base;
            let abstraction = &LANGUAGE.abstractions[self.abstraction];
            let mut total = cost + abstraction.cost + RARE * rare;
            let mut words = abstraction.words.clone();
            for (action, conjunctions) in set.iter().zip(&each) {
                let action = &self.actions[*action];
                let LanguageEntry { row, for_set, .. } = &LANGUAGE.actions[action.row];
                let (own, conditions) = &conjunctions[choice.min(conjunctions.len() - 1)];
                total += row.cost + own + 1;
                words.push_str("; ");
                words.push_str(&self.describe(&row.words, action.colour, conditions));
                let chosen = self.chosen(scene, conditions)?;
                let mut arguments = vec![self.grid, self.set, chosen];
                if row.by_colour {
                    arguments.push(scene.batt.constant(&Value::Int(action.colour)).ok()?);
                }
                let function = *scene.functions.get(*for_set)?;
                let object = call(scene, function, &arguments)?;
                grid = call(scene, Primitive::Paint, &[grid, object])?;
            }
            found.push((total, grid, words));
        }
        Some(())
    }

    /// Rules that select the object that is the output.
    fn choosing_rules(&mut self, scene: &mut Scene<'_>, found: &mut Vec<FoundRule>) {
        for crop in &LANGUAGE.crops {
            let Some(given) = self.values_of(scene, crop.each, 0) else {
                continue;
            };
            let mut right = Rows::new(3, self.words());
            let outputs = scene.task.train.iter().zip(self.starts.windows(2));
            let mut is_possible = true;
            for (pair, range) in outputs {
                let is_right = |object: &usize| {
                    let grid = given[*object].as_grid();
                    grid.is_some_and(|grid| pair.output.as_ref() == Some(&*grid))
                };
                let (own, others): (Vec<_>, Vec<_>) = (range[0]..range[1]).partition(is_right);
                is_possible &= !own.is_empty();
                for object in &own {
                    right.set(0, *object);
                    // If several objects are equal, one is enough.
                    if own.len() == 1 {
                        right.set(1, *object);
                    }
                }
                for object in others {
                    right.set(2, object);
                }
            }
            if !is_possible {
                continue;
            }
            self.evaluate_features(scene);
            let holding = self.holds.holding(right.of(1));
            for (own, conditions) in self.holds.conjunctions(&holding, right.of(2), CHOICES) {
                let abstraction = &LANGUAGE.abstractions[self.abstraction];
                let made = self.chosen(scene, &conditions).and_then(|chosen| {
                    let function = *scene.functions.get(crop.for_set)?;
                    let arguments = [self.grid, self.set, chosen];
                    call(scene, function, &arguments)
                });
                if let Some(grid) = made {
                    let words = format!(
                        "{}; {}",
                        abstraction.words,
                        self.describe(&crop.row.words, 0, &conditions)
                    );
                    found.push((abstraction.cost + crop.row.cost + own + 2, grid, words));
                }
            }
        }
    }
}

/// The maximum number of values of a feature that become conditions.
const VALUES: usize = 20;

/// The number of conjunctions of conditions that are tried for an action.
const CHOICES: usize = 4;

/// The extra cost of an action that only one train pair needs.
const RARE: u32 = 5;

/// The search for sets of actions that explain all open cells.
struct Cover<'c> {
    actions: &'c [Action],
    explains: Vec<Vec<u64>>,
    found: Vec<(u32, Vec<usize>)>,
    steps: u64,
    most: usize,
}

/// The maximum number of actions of a rule.
const MOST_ACTIONS: usize = 3;

impl Cover<'_> {
    fn extend(&mut self, open: &[u64], chosen: &mut Vec<usize>, frame: &pieces::Frame) {
        // The first open cell of each pair; among them the one that the fewest actions explain.
        let cells = (0..frame.train).filter_map(|input| {
            let mut words = frame.words(input);
            words
                .find(|word| open[*word] != 0)
                .map(|word| (word, open[word] & open[word].wrapping_neg()))
        });
        let cells: Vec<(usize, u64)> = cells.collect();
        if cells.is_empty() {
            let costs = chosen
                .iter()
                .map(|action| LANGUAGE.actions[self.actions[*action].row].row.cost);
            self.found
                .push((costs.sum::<u32>() + 2 * chosen.len() as u32, chosen.clone()));
            return;
        }
        if chosen.len() == MOST_ACTIONS {
            return;
        }
        let of = |(word, bit): &(usize, u64)| {
            let explain = |action: &usize| self.explains[*action][*word] & bit != 0;
            (0..self.actions.len()).filter(explain).collect::<Vec<_>>()
        };
        let fewest = cells
            .iter()
            .map(of)
            .min_by_key(Vec::len)
            .unwrap_or_default();
        for action in fewest {
            if self.steps == 0 || self.found.len() >= self.most {
                return;
            }
            self.steps -= 1;
            let left = without(open, &self.explains[action]);
            chosen.push(action);
            self.extend(&left, chosen, frame);
            chosen.pop();
        }
    }
}

/// The grid of the enumeration with the fewest wrong cells, if they are at most half of all; a cheap one counts as
/// better than one a little nearer.
fn nearest(scene: &Scene<'_>) -> Option<Known> {
    let inputs = 0..scene.frame.train;
    let cells: usize = inputs.clone().map(|input| scene.frame.cells(input)).sum();
    let wrong = |known: &Known| {
        let wrong = |input| match scene.batt.distance(known.node, input) {
            Some(Distance::Cells(wrong)) => Some(wrong as usize),
            _ => None,
        };
        inputs.clone().map(wrong).sum::<Option<usize>>()
    };
    let grids = scene.enumeration.of(Kind::GRID).take(NEAR);
    let near = grids.filter_map(|known| Some((wrong(&known)?, known)));
    let near = near.filter(|(wrong, _)| *wrong > 0 && 2 * wrong <= cells);
    let near = near.min_by_key(|(wrong, known)| wrong + usize::from(known.cost) * cells / 100);
    near.map(|(_, known)| known)
}

/// The number of grids of the enumeration, the cheapest, among which the nearest one is looked for.
const NEAR: usize = 3_000;

impl Proposer for Objects {
    fn name(&self) -> &'static str {
        "objects"
    }

    fn functions(&self) -> &[Program] {
        &LANGUAGE.functions
    }

    fn needs_values(&self) -> bool {
        false
    }

    fn propose(&self, scene: &mut Scene<'_>, take: &mut dyn FnMut(Proposal) -> bool) {
        let keeps_sizes = scene.keeps_sizes();
        let input = Known {
            node: scene.batt.input(),
            cost: 0,
        };
        let nearest = if keeps_sizes { None } else { nearest(scene) };
        let (mut found, mut known) = (Vec::new(), FxHashSet::default());
        for grid in std::iter::once(input).chain(nearest) {
            let first = found.len();
            for abstraction in 0..LANGUAGE.abstractions.len() {
                let objects = AbstractedObjects::of(abstraction, grid.node, scene);
                let Some(mut objects) = objects.filter(|objects| known.insert(objects.set)) else {
                    continue;
                };
                if keeps_sizes || grid != input {
                    objects.painting_rules(scene, &mut found);
                } else {
                    objects.choosing_rules(scene, &mut found);
                }
            }
            if grid != input {
                let name = scene.enumeration.expression(grid.node, MOST_LETTERS);
                for (cost, _, words) in &mut found[first..] {
                    *cost += u32::from(grid.cost);
                    *words = format!("of {name}, {words}");
                }
            }
        }
        found.retain(|(cost, ..)| *cost <= MOST_COST);
        super::propose(scene, found, scene.frame.train, self.name(), take);
    }
}
