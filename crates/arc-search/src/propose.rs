//! [`Proposer`]: proposes answers from the values of a task. [`Stacks`] proposes pieces painted over each other. The
//! proposals of all proposers are merged, ranked and checked together.

use std::sync::atomic::{AtomicBool, Ordering};

use arc_cpu::batt::{Batt, Defined, NodeId};
use arc_dsl::Program;
use arc_tasks::Task;

use crate::compose::{Composer, Greedy};
use crate::enumerate::Enumeration;
use crate::language::Kind;
use crate::options::Options;
use crate::pieces::{Frame, Layer, Pieces};

/// The state of a task's search.
#[derive(Debug)]
pub struct Scene<'s> {
    /// The values. A proposer may add calls to them.
    pub batt: &'s mut Batt,
    /// The enumeration of these values.
    pub enumeration: &'s Enumeration<'s>,
    /// The task, with its colours renamed if they are.
    pub task: &'s Task,
    /// The layout of the bits of the outputs.
    pub frame: &'s Frame,
    /// How the task is searched.
    pub options: &'s Options,
    /// The empty grid of the output's size.
    pub blank: NodeId,
    /// The colours that most train pairs have.
    pub colours: &'s [i32],
    /// The proposer's own [functions](Proposer::functions), as the batt knows them.
    pub functions: &'s [Defined],
    /// How many pieces there are.
    pub pieces: usize,
    /// Set once nobody waits for the answers any more: a proposer then ends as soon as it can.
    pub is_abandoned: &'s AtomicBool,
}

impl Scene<'_> {
    /// Whether all outputs have the sizes of their inputs.
    pub(crate) fn keeps_sizes(&self) -> bool {
        let inputs = self.task.train.iter().chain(&self.task.test);
        let mut both = inputs.zip(&self.frame.sizes);
        both.all(|(pair, size)| (pair.input.height(), pair.input.width()) == *size)
    }
}

/// An answer before its outputs for the test inputs are known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// The layers that are painted over each other on an empty grid, the top one first.
    pub layers: Vec<Layer>,
    /// The number of train pairs on which it is right.
    pub fits: u32,
    /// The greatest cost of a layer.
    pub cost: u8,
    /// The sum of the costs.
    pub total: u32,
    /// For a rule, the rule in words.
    pub rule: Option<String>,
    /// The [name](Proposer::name) of the proposer.
    pub by: &'static str,
}

/// Proposes answers.
pub trait Proposer {
    /// The name by which it is [switched off](crate::Options::off).
    fn name(&self) -> &'static str;

    /// Functions that it calls in the batt; [`Scene::functions`] has them in the same order.
    fn functions(&self) -> &[Program] {
        &[]
    }

    /// Whether it uses the values of the enumeration. A proposer that does not is also asked with the original
    /// colours when answers with renamed ones fit already. Default true.
    fn needs_values(&self) -> bool {
        true
    }

    /// Passes answers that are right on at least one train pair to `take`, in an order that depends only on the
    /// scene. It ends as soon as `take` returns `false`.
    fn propose(&self, scene: &mut Scene<'_>, take: &mut dyn FnMut(Proposal) -> bool);
}

/// Proposes the stacks of a composer.
pub struct Stacks {
    composer: Box<dyn Composer + Send>,
}

/// Proposes, each alone, the values of the enumeration that are right on all train pairs and have other sizes than
/// predicted for the test pairs; returns whether more proposals are wanted.
fn propose_of_other_sizes(
    scene: &Scene<'_>,
    by: &'static str,
    take: &mut dyn FnMut(Proposal) -> bool,
) -> bool {
    let frame = scene.frame;
    let has_size = |node: NodeId, input: usize| {
        let value = scene.batt.value(node, input).ok();
        let grid = value.as_ref().and_then(arc_dsl::Value::as_grid);
        grid.is_some_and(|grid| (grid.height(), grid.width()) == frame.sizes[input])
    };
    let grids = scene.enumeration.of(Kind::GRID);
    let right = grids.filter(|known| scene.batt.is_solution(known.node));
    let mut others = right.filter(|known| {
        let mut tests = frame.train..frame.sizes.len();
        !tests.all(|input| has_size(known.node, input))
    });
    others.all(|known| {
        take(Proposal {
            layers: vec![Layer::All(known.node)],
            fits: frame.train as u32,
            cost: known.cost,
            total: known.cost.into(),
            rule: None,
            by,
        })
    })
}

impl Stacks {
    /// The stacks of this composer.
    pub fn of(composer: impl Composer + Send + 'static) -> Self {
        Self {
            composer: Box::new(composer),
        }
    }
}

impl Default for Stacks {
    fn default() -> Self {
        Self::of(Greedy::default())
    }
}

impl Proposer for Stacks {
    fn name(&self) -> &'static str {
        "stacks"
    }

    fn propose(&self, scene: &mut Scene<'_>, take: &mut dyn FnMut(Proposal) -> bool) {
        let pieces = Pieces::of(
            scene.batt,
            scene.enumeration,
            scene.task,
            scene.frame.clone(),
            scene.options.pieces,
            scene.options.patches,
        );
        scene.pieces += pieces.all.len();
        let is_taken = propose_of_other_sizes(scene, self.name(), take);
        if !is_taken {
            return;
        }
        if scene.is_abandoned.load(Ordering::Relaxed) {
            return;
        }
        self.composer.compose(&pieces, &mut |stack| {
            let layers = stack.layers.iter();
            take(Proposal {
                layers: layers
                    .map(|piece| pieces.all[*piece as usize].layer)
                    .collect(),
                fits: stack.fits,
                cost: stack.cost,
                total: stack.total,
                rule: None,
                by: self.name(),
            })
        });
    }
}
