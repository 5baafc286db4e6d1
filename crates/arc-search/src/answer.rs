//! [`Context`]: the values of a task's search; turns the best proposals into attempts.

use std::borrow::Cow;
use std::collections::hash_map::Entry;

use arc_dsl::Grid;
use arc_tasks::{Pair, Task};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::attempt::{self, Attempt, LayerText};
use crate::colours::{Names, Normalisation, inverse, rename};
use crate::invariants::Invariants;
use crate::pieces::{Cells, Layer};
use crate::propose::{Proposal, Scene};
use crate::rank::{Answers, CANDIDATES, Ranker};

/// How many proposals are examined for each candidate.
const PROPOSALS: usize = 20;

/// The state of a task's search, and how its colours were renamed.
pub(crate) struct Context<'m> {
    pub(crate) scene: &'m Scene<'m>,
    pub(crate) normalisation: &'m Normalisation,
}

/// A proposal whose answers differ from those of all before it.
struct Candidate<'p> {
    proposal: &'p Proposal,
    /// Its visible layers, the top one first.
    layers: Vec<Layer>,
    /// The answers, in renamed colours.
    outputs: Vec<Grid>,
    broken: Vec<Vec<&'static str>>,
    score: f64,
    /// Of each other proposer the best proposal that gives the same answers.
    same: Vec<&'p Proposal>,
}

impl Context<'_> {
    /// Turns these proposals, sorted from best to worst, into attempts: at most `most` for each test pair. The best
    /// attempt comes first, and each answers some test pair differently from all before it.
    pub(crate) fn attempts(
        &self,
        task: &Task,
        proposals: &[(f64, Proposal)],
        ranker: &dyn Ranker,
        most: usize,
    ) -> Vec<Attempt> {
        let names: Vec<_> = task
            .test
            .iter()
            .map(|pair| inverse(&self.normalisation.names(&pair.input)))
            .collect();
        let mut candidates = self.candidates(proposals);
        self.rank(&mut candidates, ranker);
        let mut attempts: Vec<Attempt> = Vec::new();
        let mut answers = DistinctAnswers::new(task.test.len(), most);
        for candidate in candidates {
            let outputs = candidate.outputs.iter().zip(&names);
            let outputs: Vec<_> = outputs
                .map(|(output, names)| rename(output, names))
                .collect();
            if !answers.is_new(&outputs) || !outputs.iter().all(attempt::is_answer) {
                continue;
            }
            if let Some(attempt) = self.attempt(task, &candidate, outputs, &names) {
                answers.take(&attempt.outputs);
                attempts.push(attempt);
            }
        }
        attempts
    }

    /// The proposals with distinct answers, those with the best scores.
    fn candidates<'p>(&self, proposals: &'p [(f64, Proposal)]) -> Vec<Candidate<'p>> {
        let mut candidates: Vec<Candidate<'_>> = Vec::new();
        let (mut painted, mut known) = (FxHashSet::default(), FxHashMap::default());
        let frame = self.scene.frame;
        let (mut canvas, mut layer_cells) = (Cells::new(frame), Cells::new(frame));
        for (score, proposal) in proposals.iter().take(PROPOSALS * CANDIDATES) {
            if candidates.len() >= CANDIDATES {
                break;
            }
            let layers = attempt::seen(&proposal.layers).to_vec();
            if !painted.insert(layers.clone()) {
                continue;
            }
            let Some(outputs) = self.outputs(&layers, &mut canvas, &mut layer_cells) else {
                continue;
            };
            let new = Candidate {
                proposal,
                layers,
                outputs,
                broken: Vec::new(),
                score: *score,
                same: Vec::new(),
            };
            // Without test inputs proposals differ only in what they paint.
            if new.outputs.is_empty() {
                candidates.push(new);
                continue;
            }
            match known.entry(new.outputs.clone()) {
                Entry::Vacant(entry) => {
                    entry.insert(candidates.len());
                    candidates.push(new);
                }
                Entry::Occupied(entry) => {
                    let first = &mut candidates[*entry.get()];
                    let is_other = |other: &&Proposal| other.by != proposal.by;
                    if is_other(&first.proposal) && first.same.iter().all(is_other) {
                        first.same.push(proposal);
                    }
                }
            }
        }
        candidates
    }

    /// The outputs of these layers for the test inputs. A single grid may have any size.
    fn outputs(
        &self,
        layers: &[Layer],
        canvas: &mut Cells,
        layer_cells: &mut Cells,
    ) -> Option<Vec<Grid>> {
        let Scene { batt, frame, .. } = self.scene;
        let tests = frame.train..frame.sizes.len();
        let is_read = |cells: &mut Cells, layer| cells.read(batt, layer, frame).is_some();
        if let [Layer::All(grid)] = *layers
            && !is_read(layer_cells, layers[0])
        {
            let value = |input| batt.value(grid, input).ok();
            let outputs = tests.map(|input| value(input)?.as_grid().map(Cow::into_owned));
            return outputs.collect();
        }
        canvas.clear();
        for layer in layers {
            if is_read(layer_cells, *layer) {
                canvas.paint_below(layer_cells);
            }
        }
        canvas.fill(0);
        Some(tests.map(|input| canvas.grid(input, frame)).collect())
    }

    /// Sorts candidates by the scores of their answers.
    fn rank(&self, candidates: &mut [Candidate<'_>], ranker: &dyn Ranker) {
        let pairs = self.scene.task.train.iter();
        let pairs = pairs.filter_map(|pair| Some((&*pair.input, pair.output.as_ref()?)));
        let invariants = Invariants::of(pairs);
        for candidate in &mut *candidates {
            let answers = self.scene.task.test.iter().zip(&candidate.outputs);
            let broken = answers.map(|(pair, output)| invariants.broken(&pair.input, output));
            candidate.broken = broken.collect();
            let answers = Answers {
                proposal: candidate.proposal,
                same: &candidate.same,
                train: self.scene.task.train.len(),
                broken: &candidate.broken,
            };
            candidate.score = ranker.of_answers(candidate.score, &answers);
        }
        // The sort is stable: among equal scores the first one stays first.
        candidates.sort_by(|a, b| b.score.total_cmp(&a.score));
    }

    /// The attempt for a candidate; `None` if its program gives other outputs.
    fn attempt(
        &self,
        task: &Task,
        candidate: &Candidate<'_>,
        outputs: Vec<Grid>,
        names: &[Names],
    ) -> Option<Attempt> {
        let Candidate {
            proposal, layers, ..
        } = candidate;
        let Scene {
            batt, enumeration, ..
        } = self.scene;
        let name = format!("solve_{}", task.id);
        let program =
            attempt::program(batt, &name, self.scene.blank, layers, self.normalisation).ok()?;
        // Only what the program really gives is returned as an answer, and counts as right.
        let given = attempt::outputs(&program, task.test.iter().map(|pair| &*pair.input));
        if given.as_ref() != Some(&outputs) {
            debug_assert!(false, "another output than was painted: {program}");
            return None;
        }
        let is_right = |pair: &&Pair| {
            let given = attempt::outputs(&program, std::iter::once(&*pair.input));
            given.is_some_and(|given| given.first() == pair.output.as_ref())
        };
        let fits = task.train.iter().filter(is_right).count() as u32;
        let mut uses = Vec::new();
        let nodes = layers.iter().flat_map(|layer| layer.nodes());
        nodes.for_each(|node| enumeration.add_parts(node, &mut uses));
        let paints = self.paints(layers, names);
        let layers = layers.iter().zip(paints);
        let layers = layers.map(|(layer, paints)| match (&proposal.rule, *layer) {
            // If the enumeration reached this grid by a call too, the attempt shows that call, since the program
            // contains it; a rule may be longer.
            (Some(rule), Layer::All(node)) if !enumeration.has_called(node) => LayerText {
                part: "rule".into(),
                expression: rule.clone(),
                colour: None,
                paints,
            },
            _ => layer.describe(enumeration, paints),
        });
        Some(Attempt {
            uses,
            outputs,
            program,
            fits,
            layers: layers.collect(),
            cost: proposal.cost,
            total: proposal.total,
            by: proposal.by,
            broken: candidate.broken.clone(),
            renames: !self.normalisation.is_identity(),
            score: candidate.score,
        })
    }

    /// The visible part of each layer, by layer and test input.
    fn paints(&self, layers: &[Layer], names: &[Names]) -> Vec<Vec<Grid>> {
        let frame = self.scene.frame;
        let (mut canvas, mut layer_cells) = (Cells::new(frame), Cells::new(frame));
        let renamed = |grids: Vec<Grid>| {
            let grids = grids.iter().zip(names);
            grids.map(|(grid, names)| rename(grid, names)).collect()
        };
        if let [Layer::All(_)] = layers {
            let outputs = self.outputs(layers, &mut canvas, &mut layer_cells);
            return vec![outputs.map_or_else(Vec::new, renamed)];
        }
        canvas.clear();
        let paints = layers.iter().map(|layer| {
            if layer_cells.read(self.scene.batt, *layer, frame).is_none() {
                return Vec::new();
            }
            canvas.paint_below(&mut layer_cells);
            let grids = names.iter().enumerate();
            let grids = grids
                .map(|(test, names)| rename(&layer_cells.grid(frame.train + test, frame), names));
            grids.collect()
        });
        paints.collect()
    }
}

/// The distinct answers to each test pair, up to a maximum.
pub(crate) struct DistinctAnswers {
    answers: Vec<Vec<(usize, Grid)>>,
    most: usize,
    attempts: usize,
}

impl DistinctAnswers {
    pub(crate) fn new(tests: usize, most: usize) -> Self {
        Self {
            answers: vec![Vec::new(); tests],
            most,
            attempts: 0,
        }
    }

    fn is_new_to(&self, test: usize, output: &Grid) -> bool {
        let answers = &self.answers[test];
        answers.len() < self.most && answers.iter().all(|(_, answer)| answer != output)
    }

    /// Whether one of these is an answer that was not given before. If there are no test pairs, the first `most`
    /// attempts count as new.
    pub(crate) fn is_new(&self, outputs: &[Grid]) -> bool {
        if self.answers.is_empty() {
            return self.attempts < self.most;
        }
        let mut outputs = outputs.iter().enumerate();
        outputs.any(|(test, output)| self.is_new_to(test, output))
    }

    /// Records the answers of one more attempt.
    pub(crate) fn take(&mut self, outputs: &[Grid]) {
        for (test, output) in outputs.iter().enumerate() {
            if self.is_new_to(test, output) {
                self.answers[test].push((self.attempts, output.clone()));
            }
        }
        self.attempts += 1;
    }

    /// For each test pair the indices of the attempts that answer it.
    pub(crate) fn by_test(&self) -> Vec<Vec<usize>> {
        let answers = self.answers.iter();
        let numbers = answers.map(|answers| answers.iter().map(|(attempt, _)| *attempt));
        numbers.map(Iterator::collect).collect()
    }
}
