//! [`Made`]: what was made for a task, of which the best stacks become attempts.

use arc_cpu::batt::{Batt, NodeId};
use arc_dsl::{Grid, Task};
use rustc_hash::FxHashSet;

use crate::attempt::{self, Attempt};
use crate::colours::{Normalisation, inverse, rename};
use crate::compose::Stack;
use crate::enumerate::Enumeration;
use crate::language::Uses;
use crate::pieces::{Cells, Layer, Pieces};
use crate::searcher::Found;

/// What was made for a task.
pub(crate) struct Made<'m> {
    pub(crate) batt: &'m Batt,
    pub(crate) enumeration: &'m Enumeration<'m>,
    pub(crate) pieces: &'m Pieces,
    /// The empty grid of the output's size.
    pub(crate) blank: NodeId,
    pub(crate) normalisation: &'m Normalisation,
}

impl Made<'_> {
    /// Makes attempts of these stacks, the best of which stand first: so many for each test pair, at most.
    pub(crate) fn answer(
        &self,
        task: &Task,
        stacks: &[(f64, Stack)],
        attempts: usize,
        found: &mut Found,
    ) {
        let Self {
            batt,
            enumeration,
            pieces,
            blank,
            normalisation,
        } = *self;
        let train = task.train.len();
        let names: Vec<_> = task
            .test
            .iter()
            .map(|pair| inverse(&normalisation.names(&pair.input)))
            .collect();
        let mut seen: Vec<FxHashSet<Grid>> = vec![FxHashSet::default(); task.test.len()];
        let mut painted = FxHashSet::default();
        let mut canvas = Cells::new(&pieces.frame);
        let mut layer_cells = Cells::new(&pieces.frame);
        for (score, stack) in stacks {
            if found
                .answers
                .iter()
                .all(|answers| answers.len() >= attempts)
            {
                return;
            }
            let layers = stack.layers.iter();
            let layers = layers.map(|piece| pieces.all[*piece as usize].layer);
            let layers: Vec<Layer> = layers.collect();
            let layers = attempt::seen(&layers).to_vec();
            if !painted.insert(layers.clone()) {
                continue;
            }
            canvas.clear();
            let mut painted_by = Vec::with_capacity(layers.len());
            for layer in &layers {
                if layer_cells.read(batt, *layer, &pieces.frame).is_none() {
                    painted_by.push(Vec::new());
                    continue;
                }
                canvas.paint_below(&mut layer_cells);
                let paints = names.iter().enumerate().map(|(test, names)| {
                    rename(&layer_cells.grid(train + test, &pieces.frame), names)
                });
                painted_by.push(paints.collect::<Vec<_>>());
            }
            canvas.fill(0);
            let outputs: Vec<_> = names
                .iter()
                .enumerate()
                .map(|(test, names)| rename(&canvas.grid(train + test, &pieces.frame), names))
                .collect();
            let is_new = |test: usize| {
                found.answers[test].len() < attempts && !seen[test].contains(&outputs[test])
            };
            if !(0..outputs.len()).any(is_new) || !outputs.iter().all(attempt::is_answer) {
                continue;
            }
            let name = format!("solve_{}", task.id);
            let Ok(program) = attempt::program(batt, &name, blank, &layers, normalisation) else {
                continue;
            };
            // What is handed in is what the program gives, or nothing.
            let given = attempt::outputs(&program, task.test.iter().map(|pair| &*pair.input));
            if given.as_ref() != Some(&outputs) {
                debug_assert!(false, "another output than was painted: {program}");
                continue;
            }
            for (test, output) in outputs.iter().enumerate() {
                if seen[test].insert(output.clone()) && found.answers[test].len() < attempts {
                    found.answers[test].push(found.attempts.len());
                }
            }
            let mut uses = Uses::default();
            for layer in &layers {
                layer.count(enumeration, &mut uses);
            }
            found.attempts.push(Attempt {
                uses,
                outputs,
                program,
                fits: stack.fits,
                layers: layers
                    .iter()
                    .zip(painted_by)
                    .map(|(layer, paints)| layer.describe(enumeration, paints))
                    .collect(),
                cost: stack.cost,
                score: *score,
            });
        }
    }
}
