//! [`Enumeration`]: every call of a language on all known values, the cheapest first.
//!
//! The cost of a call is that of its row plus those of its arguments. Calls are tried in the order of their costs,
//! then of the rows, then of the arguments, up to a number of nodes: no clock decides what is tried. Among calls that
//! give the same on all inputs only the first is kept (the batt sees to that). A call that fails on any input,
//! including a test input, is dropped.
//!
//! Enumerating by cost with observational equivalence is as in Udupa et al., "TRANSIT" (PLDI 2013), and
//! Albarghouthi et al., "Recursive Program Synthesis" (CAV 2013).

use std::fmt;

use arc_cpu::batt::{Batt, Called, Defined, Full, NodeId, Pushed};
use arc_text::parse_programs;
use serde::{Deserialize, Serialize};

use crate::language::{Kind, Language, LanguagePart, Operation, Producer, Seed, seed_text};

/// The maximum cost of a node.
pub(crate) const MOST_COST: usize = 40;

/// A node and its cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// The node.
    pub node: NodeId,
    /// Its cost.
    pub cost: u8,
}

/// Why an enumeration has stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stopped {
    /// The number of nodes has reached its bound.
    Nodes,
    /// The number of calls has reached its bound.
    Calls,
    /// The batt is full.
    Memory,
    /// Every call up to the maximum cost has been tried.
    Exhausted,
    /// The caller asked for it, since the time for the task was over. The results then depend on the machine.
    Interrupted,
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stopped::Nodes => "the number of nodes",
            Stopped::Calls => "the number of calls",
            Stopped::Memory => "the bound of memory",
            Stopped::Exhausted => "nothing left to call",
            Stopped::Interrupted => "the time for a task",
        })
    }
}

impl From<Full> for Stopped {
    fn from(_: Full) -> Self {
        Stopped::Memory
    }
}

/// What a node comes from.
#[derive(Debug, Clone, Default)]
enum Origin {
    /// It is no node of the enumeration.
    #[default]
    Other,
    /// This expression, which may be a seed of the language.
    Seed(Box<str>, Option<LanguagePart>),
    /// A call of the operation with this index in a row.
    Call {
        row: u16,
        operation: u16,
        arguments: [NodeId; 4],
    },
}

/// The values found for a task, by kind and cost.
#[derive(Debug)]
pub struct Enumeration<'l> {
    language: &'l Language,
    /// The functions of the language, as the batt knows them.
    functions: &'l [Defined],
    nodes: Vec<[Vec<NodeId>; MOST_COST + 1]>,
    /// The origin of each node of the batt.
    origins: Vec<Origin>,
    /// For each node of the batt a bit for each kind that it was added to.
    taken: Vec<u64>,
    /// The cost at which it continues.
    cost: usize,
    count: usize,
    calls: u64,
    bounds: Bounds,
    chosen: Vec<NodeId>,
}

/// When an enumeration ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// It stops after the cost at which there are this many nodes.
    pub enough: usize,
    /// The maximum number of nodes.
    pub nodes: usize,
    /// The maximum number of calls.
    pub calls: u64,
}

/// How many calls are tried between two checks for interruption. On large grids a call takes up to 30 ms.
const CALLS_A_QUESTION: u64 = 8;

impl<'l> Enumeration<'l> {
    /// An enumeration that has tried nothing.
    pub fn new(language: &'l Language, functions: &'l [Defined]) -> Self {
        let kinds = language.kinds().len();
        Self {
            language,
            functions,
            nodes: (0..kinds)
                .map(|_| std::array::from_fn(|_| Vec::new()))
                .collect(),
            origins: Vec::new(),
            taken: Vec::new(),
            cost: 1,
            count: 0,
            calls: 0,
            bounds: Bounds {
                enough: 0,
                nodes: 0,
                calls: 0,
            },
            chosen: Vec::with_capacity(4),
        }
    }

    /// Adds the seeds of the language, and the colour seeds for each of these colours.
    pub fn seed(&mut self, batt: &mut Batt, colours: &[i32]) {
        for (seed, place) in self.language.seeds().iter().zip(0..) {
            self.seed_one(batt, seed, 0, LanguagePart::Seed(place));
        }
        for colour in colours {
            for (seed, place) in self.language.colour_seeds().iter().zip(0..) {
                self.seed_one(batt, seed, *colour, LanguagePart::ColourSeed(place));
            }
        }
    }

    fn seed_one(&mut self, batt: &mut Batt, seed: &Seed, colour: i32, part: LanguagePart) {
        let programs = parse_programs(&seed_text(&seed.expression, colour));
        for program in programs.into_iter().flatten() {
            let added = batt.add(&program).ok();
            let output = added.and_then(|merged| {
                let fails = (0..batt.inputs()).any(|input| merged.error(input).is_some());
                merged.output().filter(|_| !fails)
            });
            if let Some(node) = output {
                let expression = seed.expression.replace("COLOUR", &colour.to_string());
                let cost = usize::from(self.language.cost_of_seed(seed));
                let origin = || Origin::Seed(expression.into(), Some(part));
                self.take(node, seed.kind, cost, origin);
            }
        }
    }

    /// Adds a node for this expression, unless it is there. A node that costs less than the calls being tried is used
    /// by later ones only.
    pub fn add(&mut self, node: NodeId, kind: Kind, cost: u8, expression: &str) {
        self.take(node, kind, usize::from(cost), || {
            Origin::Seed(expression.into(), None)
        });
    }

    fn take(&mut self, node: NodeId, kind: Kind, cost: usize, origin: impl FnOnce() -> Origin) {
        let place = node.index();
        if place >= self.taken.len() {
            self.taken.resize(place + 1, 0);
            self.origins.resize(place + 1, Origin::Other);
        }
        let bit = 1 << kind.index();
        if self.taken[place] & bit == 0 {
            if self.taken[place] == 0 {
                self.origins[place] = origin();
            }
            self.taken[place] |= bit;
            self.nodes[kind.index()][cost.min(MOST_COST)].push(node);
            self.count += 1;
        }
    }

    /// Adds the calls and seeds of the language in a node's expression.
    pub(crate) fn add_parts(&self, node: NodeId, parts: &mut Vec<LanguagePart>) {
        match self.origins.get(node.index()) {
            Some(Origin::Seed(_, Some(part))) => parts.push(*part),
            Some(Origin::Call {
                row,
                operation,
                arguments,
            }) => {
                parts.push(LanguagePart::Call(*row, *operation));
                let taken = self.language.rows()[usize::from(*row)].takes.len();
                arguments[..taken]
                    .iter()
                    .for_each(|node| self.add_parts(*node, parts));
            }
            _ => {}
        }
    }

    /// Whether the enumeration found a node by a call.
    pub(crate) fn has_called(&self, node: NodeId) -> bool {
        matches!(self.origins.get(node.index()), Some(Origin::Call { .. }))
    }

    /// A node as an expression of the language's operations, abbreviated once it has more than `letters` characters.
    pub fn expression(&self, node: NodeId, letters: usize) -> String {
        let mut text = String::new();
        self.write(node, letters, &mut text);
        text
    }

    fn operation(&self, row: u16, operation: u16) -> Operation {
        self.language.rows()[usize::from(row)].operations[usize::from(operation)]
    }

    fn write(&self, node: NodeId, letters: usize, text: &mut String) {
        match self.origins.get(node.index()) {
            _ if text.len() > letters => text.push_str(".."),
            Some(Origin::Seed(expression, _)) => text.push_str(expression),
            Some(Origin::Call {
                row,
                operation,
                arguments,
            }) => {
                text.push_str(self.language.name(self.operation(*row, *operation)));
                let row = &self.language.rows()[usize::from(*row)];
                for (at, argument) in arguments[..row.takes.len()].iter().enumerate() {
                    text.push_str(if at == 0 { "(" } else { ", " });
                    self.write(*argument, letters, text);
                }
                text.push(')');
            }
            Some(Origin::Other) | None => text.push('?'),
        }
    }

    /// Continues until the end of the cost at which there are `bounds.enough` nodes, or until there are
    /// `bounds.nodes` nodes or `bounds.calls` calls.
    pub fn run(
        &mut self,
        batt: &mut Batt,
        bounds: &Bounds,
        interrupted: &mut dyn FnMut() -> bool,
    ) -> Stopped {
        self.bounds = *bounds;
        while self.cost <= MOST_COST {
            for row in 0..self.language.rows().len() {
                let left = self
                    .cost
                    .checked_sub(usize::from(self.language.cost(&self.language.rows()[row])));
                if let Some(left) = left
                    && let Err(stopped) = self.extend(batt, row, left, interrupted)
                {
                    self.chosen.clear();
                    return stopped;
                }
            }
            self.cost += 1;
            if self.count >= bounds.enough {
                return Stopped::Nodes;
            }
        }
        Stopped::Exhausted
    }

    /// Chooses the remaining arguments, whose costs add up to `left`.
    fn extend(
        &mut self,
        batt: &mut Batt,
        row: usize,
        left: usize,
        interrupted: &mut dyn FnMut() -> bool,
    ) -> Result<(), Stopped> {
        let description = &self.language.rows()[row];
        let at = self.chosen.len();
        let Some(kind) = description.takes.get(at) else {
            return self.try_calls(batt, row, interrupted);
        };
        let is_last = at + 1 == description.takes.len();
        let least = (description.commutes && at == 1).then(|| self.chosen[0]);
        for own in if is_last { left } else { 0 }..=left {
            // All nodes cheaper than the call are known: every row costs at least 1.
            for place in 0..self.nodes[kind.index()][own].len() {
                let node = self.nodes[kind.index()][own][place];
                if least.is_none_or(|least| least <= node) {
                    self.chosen.push(node);
                    self.extend(batt, row, left - own, interrupted)?;
                    self.chosen.pop();
                }
            }
        }
        Ok(())
    }

    fn try_calls(
        &mut self,
        batt: &mut Batt,
        row: usize,
        interrupted: &mut dyn FnMut() -> bool,
    ) -> Result<(), Stopped> {
        let language = self.language;
        let description = &language.rows()[row];
        for (number, operation) in description.operations.iter().enumerate() {
            if self.count >= self.bounds.nodes {
                return Err(Stopped::Nodes);
            }
            if self.calls >= self.bounds.calls {
                return Err(Stopped::Calls);
            }
            self.calls += 1;
            if self.calls.is_multiple_of(CALLS_A_QUESTION) && interrupted() {
                return Err(Stopped::Interrupted);
            }
            let called = match *operation {
                Operation::Primitive(primitive) => Called::Primitive(primitive),
                Operation::Function(number) => Called::Defined(self.functions[usize::from(number)]),
            };
            if let Pushed::New(node) | Pushed::Same(node) = batt.push(called, &self.chosen)? {
                let mut arguments = [batt.input(); 4];
                arguments[..self.chosen.len()].copy_from_slice(&self.chosen);
                let origin = Origin::Call {
                    row: row as u16,
                    operation: number as u16,
                    arguments,
                };
                let later = self.surcharge(*operation);
                self.take(node, description.gives, self.cost + later, || origin);
            }
        }
        Ok(())
    }

    /// An extra charge if programs seldom call this primitive on the producers of its arguments.
    fn surcharge(&self, operation: Operation) -> usize {
        let (Operation::Primitive(consumer), Some(costs)) = (operation, self.language.costs())
        else {
            return 0;
        };
        let more = self.chosen.iter().enumerate();
        let more = more.map(|(place, node)| match self.origins.get(node.index()) {
            Some(Origin::Call { row, operation, .. }) => match self.operation(*row, *operation) {
                Operation::Primitive(producer) => {
                    let producer = Producer::Result(producer);
                    costs.bigram(consumer, place, producer) - costs.alone(consumer, place)
                }
                Operation::Function(_) => 0.0,
            },
            _ => 0.0,
        });
        let more: f32 = more.sum();
        (more.max(0.0) / 2.0).round().min(4.0) as usize
    }

    /// The nodes of a kind, by their costs.
    pub fn of(&self, kind: Kind) -> impl Iterator<Item = Known> + '_ {
        let nodes = self.nodes[kind.index()].iter().zip(0u8..);
        nodes.flat_map(|(nodes, cost)| nodes.iter().map(move |node| Known { node: *node, cost }))
    }

    /// The nodes of a kind at this cost.
    pub fn at_cost(&self, kind: Kind, cost: u8) -> &[NodeId] {
        self.nodes[kind.index()]
            .get(usize::from(cost))
            .map_or(&[], Vec::as_slice)
    }

    /// The number of nodes and of calls tried.
    pub fn counts(&self) -> (usize, u64) {
        (self.count, self.calls)
    }

    /// The cost that it has reached.
    pub fn cost(&self) -> u8 {
        self.cost.min(MOST_COST) as u8
    }
}

#[cfg(test)]
mod tests;
