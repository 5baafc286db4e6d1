//! [`Searcher`]: runs the stages one after the other.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arc_cpu::batt::{self, Batt, Defined, NodeId};
use arc_dsl::Grid;
use arc_tasks::{Pair, Task};
use serde::{Deserialize, Serialize};

use crate::answer::{Context, DistinctAnswers};
use crate::attempt::Attempt;
use crate::colours::Normalisation;
use crate::compose::Composer;
use crate::enumerate::{Bounds, Enumeration, Stopped};
use crate::language::{Kind, Language};
use crate::options::Options;
use crate::pieces::Frame;
use crate::propose::{Proposal, Proposer, Scene, Stacks};
use crate::rank::{ByFit, Ranker};
use crate::rules::cells::Cells;
use crate::rules::objects::Objects;
use crate::size::{self, KnownSize, Prediction};

/// The work that a search did for a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SearchCounts {
    /// How often the task was searched: once, or again with its original colours and with 0 for the most common one;
    /// 0 if the sizes of its outputs could not be predicted.
    pub passes: u32,
    /// Values that were kept.
    pub nodes: u64,
    /// Calls that were tried.
    pub calls: u64,
    /// Calls, counted once per input.
    pub evaluations: u64,
    /// Pieces that can be painted.
    pub pieces: u64,
    /// Stacks and rules that are right on at least one train pair.
    pub stacks: u64,
}

impl SearchCounts {
    /// Adds the work of another pass.
    fn add(&mut self, other: &Self) {
        *self = Self {
            passes: self.passes + other.passes,
            nodes: self.nodes + other.nodes,
            calls: self.calls + other.calls,
            evaluations: self.evaluations + other.evaluations,
            pieces: self.pieces + other.pieces,
            stacks: self.stacks + other.stacks,
        };
    }
}

/// The result of the search of a task.
#[derive(Debug, Clone, Default)]
pub struct Found {
    /// The attempts, the best one first. Each answers at least one test pair differently from all before it; for a
    /// task without test pairs they are the best ones.
    pub attempts: Vec<Attempt>,
    /// For each test pair the indices of the attempts that answer it, the best one first.
    pub answers: Vec<Vec<usize>>,
    /// Whether colours were renamed, at least in the first pass.
    pub renamed: bool,
    /// The work that was done.
    pub counts: SearchCounts,
    /// Memory of the values in bytes, of the pass that had most.
    pub bytes: u64,
    /// Why the enumeration ended.
    pub stopped: Option<Stopped>,
    /// The size of the output of each test pair, if it was predicted.
    pub sizes: Vec<(usize, usize)>,
}

impl Found {
    /// Whether an enumeration ended before its bounds of values and calls were reached.
    fn is_cut(&self) -> bool {
        matches!(self.stopped, Some(Stopped::Memory | Stopped::Interrupted))
    }

    /// The grids that answer a test pair, the best one first.
    pub fn answers_of(&self, test: usize) -> impl Iterator<Item = &Grid> {
        let answers = self.answers.get(test).into_iter().flatten();
        answers.filter_map(move |attempt| self.attempts.get(*attempt)?.outputs.get(test))
    }
}

/// Searches tasks one after the other, reusing its memory.
pub struct Searcher {
    language: Language,
    options: Options,
    /// Each with its functions.
    proposers: Vec<(Box<dyn Proposer + Send>, Vec<Defined>)>,
    ranker: Box<dyn Ranker + Send>,
    batt: Batt,
    functions: Vec<Defined>,
    is_abandoned: Arc<AtomicBool>,
}

/// How many nodes are examined to predict the size of the output.
const NODES_FOR_SIZE: usize = 1_000;

/// How many distinct sizes are used.
const SIZES: usize = 100;

impl Searcher {
    /// A searcher with this language.
    pub fn new(language: Language, options: Options) -> Self {
        let mut bounds = batt::Bounds::for_search();
        bounds.max_bytes = options.bytes;
        let mut batt = Batt::new(&[], &[], bounds);
        let functions = language.functions().iter();
        let functions = functions
            .map_while(|function| batt.define(function.clone()))
            .collect();
        Self {
            language,
            options,
            proposers: Vec::new(),
            ranker: Box::new(ByFit),
            batt,
            functions,
            is_abandoned: Arc::default(),
        }
        .with_proposer(Stacks::default())
        .with_proposer(Cells)
        .with_proposer(Objects)
    }

    /// This searcher with another composer.
    #[must_use]
    pub fn with_composer(self, composer: impl Composer + Send + 'static) -> Self {
        self.with_proposer(Stacks::of(composer))
    }

    /// This searcher with an additional proposer, which replaces one of the same name.
    #[must_use]
    pub fn with_proposer(mut self, proposer: impl Proposer + Send + 'static) -> Self {
        let functions = proposer.functions().iter();
        let functions = functions.map_while(|function| self.batt.define(function.clone()));
        let functions = functions.collect();
        let new: (Box<dyn Proposer + Send>, _) = (Box::new(proposer), functions);
        let mut known = self.proposers.iter_mut();
        match known.find(|(known, _)| known.name() == new.0.name()) {
            Some(known) => *known = new,
            None => self.proposers.push(new),
        }
        self
    }

    /// This searcher with another ranker.
    #[must_use]
    pub fn with_ranker(self, ranker: impl Ranker + Send + 'static) -> Self {
        Self {
            ranker: Box::new(ranker),
            ..self
        }
    }

    /// This searcher, giving up a task once the flag is set: its result is then meaningless.
    #[must_use]
    pub fn abandoned_by(self, is_abandoned: Arc<AtomicBool>) -> Self {
        Self {
            is_abandoned,
            ..self
        }
    }

    /// The language.
    pub fn language(&self) -> &Language {
        &self.language
    }

    /// Searches a task. When `interrupted` returns `true`, the enumeration ends early: the result then depends on the
    /// time of that.
    pub fn search(&mut self, task: &Task, interrupted: &mut dyn FnMut() -> bool) -> Found {
        let mut found = Found {
            answers: vec![Vec::new(); task.test.len()],
            ..Found::default()
        };
        if task.train.is_empty() || task.train.iter().any(|pair| pair.output.is_none()) {
            return found;
        }
        let mut attempts = Vec::new();
        for normalisation in self.normalisations(task) {
            let is_found = |attempt: &Attempt| attempt.fits as usize == task.train.len();
            if found.is_cut() || self.is_abandoned.load(Ordering::Relaxed) {
                break;
            }
            found.renamed |= !normalisation.is_identity() && !normalisation.is_on_ground();
            let is_found = attempts.iter().any(is_found);
            attempts.extend(self.search_as(
                task,
                &normalisation,
                !is_found,
                interrupted,
                &mut found,
            ));
        }
        // The sort is stable: among equal scores the first one stays first.
        attempts.sort_by(|a, b| b.score.total_cmp(&a.score));
        let mut answers = DistinctAnswers::new(task.test.len(), self.options.attempts);
        for attempt in attempts {
            if answers.is_new(&attempt.outputs) {
                answers.take(&attempt.outputs);
                found.attempts.push(attempt);
            }
        }
        found.answers = answers.by_test();
        found
    }

    /// The naming of colours in each pass over a task.
    fn normalisations(&self, task: &Task) -> Vec<Normalisation> {
        let unchanged = Normalisation::default();
        let mut all = vec![unchanged.clone()];
        if self.options.renames {
            let renaming = Normalisation::of(task);
            if !renaming.is_identity() {
                all.insert(0, renaming);
                all.truncate(if self.options.repeats { 2 } else { 1 });
            }
        }
        if self.options.grounds {
            all.extend(Some(Normalisation::on_ground(task)).filter(|ground| !ground.is_identity()));
        }
        all
    }

    /// Searches a task with its colours renamed; returns the attempts, the best one first. Without `enumerates`
    /// only proposers that need no values are asked.
    fn search_as(
        &mut self,
        task: &Task,
        normalisation: &Normalisation,
        enumerates: bool,
        interrupted: &mut dyn FnMut() -> bool,
        found: &mut Found,
    ) -> Vec<Attempt> {
        let renamed = normalisation.task(task);
        let inputs: Vec<_> = pairs(&renamed).map(|pair| (*pair.input).clone()).collect();
        let targets: Vec<_> = renamed
            .train
            .iter()
            .map(|pair| pair.output.clone())
            .collect();
        self.batt.restart(&inputs, &targets);
        let before = self.batt.counts();
        let colours = colours(&renamed);

        let Some((prediction, blank)) = self.predict(&renamed, &colours, interrupted) else {
            return Vec::new();
        };
        let mut enumeration = Enumeration::new(&self.language, &self.functions);
        enumeration.seed(&mut self.batt, &colours);
        enumeration.add(blank, Kind::GRID, 1, "BLANK");
        enumeration.add(blank, Kind::BLANK, 0, "BLANK");
        let bounds = Bounds {
            enough: self.options.nodes,
            nodes: self.options.nodes,
            calls: self.options.calls,
        };
        let frame = frame(&renamed, &prediction);
        if enumerates {
            found.stopped = Some(enumeration.run(&mut self.batt, &bounds, interrupted));
            found.sizes = frame.sizes[frame.train..].to_vec();
        }
        let mut scene = Scene {
            batt: &mut self.batt,
            enumeration: &enumeration,
            task: &renamed,
            frame: &frame,
            options: &self.options,
            blank,
            colours: &colours,
            functions: &[],
            pieces: 0,
            is_abandoned: &self.is_abandoned,
        };
        let mut proposals: Vec<(f64, Proposal)> = Vec::new();
        let most = self.options.stacks;
        let is_asked = |proposer: &dyn Proposer| {
            let is_on = self.options.off.iter().all(|off| off != proposer.name());
            is_on && (enumerates || !proposer.needs_values())
        };
        let proposers = self.proposers.iter();
        for (proposer, functions) in proposers.filter(|(proposer, _)| is_asked(&**proposer)) {
            if self.is_abandoned.load(Ordering::Relaxed) {
                break;
            }
            scene.functions = functions;
            proposer.propose(&mut scene, &mut |proposal| {
                proposals.push((self.ranker.score(&proposal), proposal));
                if proposals.len() >= 2 * most {
                    proposals.sort_by(|a, b| b.0.total_cmp(&a.0));
                    proposals.truncate(most);
                }
                !self.is_abandoned.load(Ordering::Relaxed)
            });
        }
        // The sort is stable: among equal scores the first one stays first.
        proposals.sort_by(|a, b| b.0.total_cmp(&a.0));
        let counts = scene.batt.counts();
        found.counts.add(&SearchCounts {
            passes: u32::from(enumerates),
            nodes: u64::from(enumerates) * enumeration.counts().0 as u64,
            calls: counts.calls - before.calls,
            evaluations: counts.evaluations - before.evaluations,
            pieces: scene.pieces as u64,
            stacks: proposals.len() as u64,
        });
        found.bytes = found.bytes.max(scene.batt.bytes() as u64);
        let made = Context {
            scene: &scene,
            normalisation,
        };
        made.attempts(task, &proposals, &*self.ranker, self.options.attempts)
    }

    /// The size of the output, and the empty grid of that size.
    fn predict(
        &mut self,
        task: &Task,
        colours: &[i32],
        interrupted: &mut dyn FnMut() -> bool,
    ) -> Option<(Prediction, NodeId)> {
        let known = known_sizes(&self.batt, std::iter::once(self.batt.input()), 1);
        let simple = size::predict(task, &known);
        if let Some(prediction) = simple.filter(|prediction| prediction.is_right(task)) {
            let blank = size::blank(&mut self.batt, &prediction, &known)?;
            return Some((prediction, blank));
        }
        let mut enumeration = Enumeration::new(&self.language, &self.functions);
        enumeration.seed(&mut self.batt, colours);
        let bounds = Bounds {
            enough: NODES_FOR_SIZE,
            nodes: 4 * NODES_FOR_SIZE,
            calls: self.options.calls,
        };
        enumeration.run(&mut self.batt, &bounds, interrupted);
        let grids = enumeration.of(Kind::GRID).map(|known| known.node);
        let known = known_sizes(&self.batt, grids, SIZES);
        let prediction = size::predict(task, &known)?;
        let blank = size::blank(&mut self.batt, &prediction, &known)?;
        Some((prediction, blank))
    }
}

/// The layout of the bits of a task's outputs: train outputs in their sizes, test outputs in the predicted ones.
fn frame(task: &Task, prediction: &Prediction) -> Frame {
    let sizes = prediction
        .sizes
        .iter()
        .map(|(rows, columns)| (*rows as usize, *columns as usize));
    let mut sizes: Vec<_> = sizes.collect();
    for (size, pair) in sizes.iter_mut().zip(&task.train) {
        if let Some(output) = &pair.output {
            *size = (output.height(), output.width());
        }
    }
    Frame::new(sizes, task.train.len())
}

fn pairs(task: &Task) -> impl Iterator<Item = &Pair> {
    task.train.iter().chain(&task.test)
}

/// The colours of more than half of the train pairs.
fn colours(task: &Task) -> Vec<i32> {
    let has = |pair: &&Pair, colour: i8| {
        let mut grids = pair.output.iter().chain([&*pair.input]);
        grids.any(|grid| grid.cells().contains(&colour))
    };
    let count = |colour: i8| task.train.iter().filter(|pair| has(pair, colour)).count();
    (0..10)
        .filter(|colour| 2 * count(*colour) > task.train.len())
        .map(i32::from)
        .collect()
}

/// The distinct sizes of grids, up to a maximum.
fn known_sizes(batt: &Batt, grids: impl Iterator<Item = NodeId>, most: usize) -> Vec<KnownSize> {
    let mut known: Vec<KnownSize> = Vec::new();
    for grid in grids {
        let size = |input| {
            let value = batt.value(grid, input).ok()?;
            let grid = value.as_grid()?;
            Some((grid.height() as i32, grid.width() as i32))
        };
        let Some(sizes) = (0..batt.inputs()).map(size).collect::<Option<Vec<_>>>() else {
            continue;
        };
        if known.iter().all(|other| other.sizes != sizes) {
            known.push(KnownSize { grid, sizes });
        }
        if known.len() >= most {
            break;
        }
    }
    known
}

#[cfg(test)]
mod tests;
