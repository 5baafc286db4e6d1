//! A search with another composer and another ranker.
//!
//! `cargo run --release --package arc-search --example own_composer`
//!
//! The composer tries every piece on top of every other one, whereas the greedy one takes the piece that paints most:
//! it finds no stacks of three layers, but misses none of two. The ranker puts fewer layers first.

use std::error::Error;

use arc_search::compose::{Composer, Greedy, Stack};
use arc_search::pieces::Pieces;
use arc_search::propose::Proposal;
use arc_search::rank::{ByFit, Ranker};
use arc_search::{Language, Options, Searcher};
use arc_tasks::builtin;

/// Single pieces, and all pairs of pieces.
struct Pairwise;

impl Pairwise {
    /// On how many train pairs these two pieces are right, the first one on top: no visible cell is wrong, and every
    /// cell that is not 0 in the output is painted.
    fn fits(pieces: &Pieces, top: usize, below: Option<usize>) -> u32 {
        let frame = &pieces.frame;
        let is_right = |train: &usize| {
            frame.words(*train).all(|word| {
                let hidden = pieces.paints(top)[word];
                let (painted, wrong) = below.map_or((0, 0), |below| {
                    (pieces.paints(below)[word], pieces.wrong(below)[word])
                });
                let wrong = pieces.wrong(top)[word] | wrong & !hidden;
                let open = pieces.shown[word] & !(hidden | painted);
                wrong == 0 && open == 0
            })
        };
        (0..frame.train).filter(is_right).count() as u32
    }
}

impl Composer for Pairwise {
    fn compose(&self, pieces: &Pieces, take: &mut dyn FnMut(Stack) -> bool) {
        let every_pair = (1u32 << pieces.frame.train.min(31)) - 1;
        for top in 0..pieces.all.len() {
            // A wrong cell of the top piece stays wrong.
            let is_wrong = pieces.all[top].dirty & every_pair == every_pair;
            let others = (0..pieces.all.len()).filter(|other| *other != top);
            for below in std::iter::once(None).chain(others.map(Some)) {
                let fits = if is_wrong {
                    0
                } else {
                    Self::fits(pieces, top, below)
                };
                if fits == 0 {
                    continue;
                }
                let layers: Vec<u32> = [Some(top), below]
                    .into_iter()
                    .flatten()
                    .map(|at| at as u32)
                    .collect();
                let costs = layers.iter().map(|at| pieces.all[*at as usize].cost);
                let stack = Stack {
                    fits,
                    cost: costs.clone().max().unwrap_or(0),
                    total: costs.map(u32::from).sum(),
                    layers,
                };
                if !take(stack) {
                    return;
                }
            }
        }
    }
}

/// Fewer layers before cheaper ones.
struct FewestLayers;

impl Ranker for FewestLayers {
    fn score(&self, proposal: &Proposal) -> f64 {
        f64::from(proposal.fits)
            - 0.1 * proposal.layers.len() as f64
            - 0.001 * f64::from(proposal.total)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut options = Options::default();
    options.nodes = 1_000;
    // All pairs of pieces are tried.
    options.pieces = 500;
    let searcher = || Searcher::new(Language::default(), options.clone());
    let mut own = searcher().with_composer(Pairwise).with_ranker(FewestLayers);
    let mut usual = searcher()
        .with_composer(Greedy::default())
        .with_ranker(ByFit);
    let tasks: Vec<_> = builtin::all()
        .iter()
        .map(|program| program.task(1, 3, 1, 10))
        .collect();
    for (name, searcher) in [("own", &mut own), ("usual", &mut usual)] {
        let (mut solved, mut stacks, mut layers) = (0, 0, 0);
        for task in &tasks {
            let found = searcher.search(task, &mut || false);
            let expected = task.test[0]
                .output
                .as_ref()
                .ok_or("a task without its output")?;
            stacks += found.counts.stacks;
            if let Some(place) = found.answers_of(0).position(|answer| answer == expected) {
                solved += 1;
                layers += found.attempts[found.answers[0][place]].layers.len();
            }
        }
        println!(
            "{name}: {solved} of {} tasks solved, {layers} layers in them; {stacks} stacks ranked",
            tasks.len()
        );
    }
    Ok(())
}
