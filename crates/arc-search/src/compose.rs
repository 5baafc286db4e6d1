//! [`Composer`]: paints pieces over each other. Most outputs are a grid with other things on top of it.
//!
//! [`Greedy`] goes from the top layer down: among the pieces that paint no open cell wrong it takes the one that
//! paints most open cells. That is the set cover heuristic (Chvátal, "A Greedy Heuristic for the Set-Covering
//! Problem", 1979) with layers that hide wrong cells below them. It is repeated with more and more pieces, the
//! cheapest first, and for all train pairs as well as for subsets: a stack that is right only on some pairs is an
//! attempt too.

use std::cmp::Reverse;
use std::ops::Range;

use rustc_hash::FxHashSet;

use crate::pieces::{Layer, Pieces};

/// Pieces painted over each other, on an empty grid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stack {
    /// The indices of the pieces, the top one first.
    pub layers: Vec<u32>,
    /// The number of train pairs on which it is right.
    pub fits: u32,
    /// The greatest cost of a piece.
    pub cost: u8,
    /// The sum of its pieces' costs.
    pub total: u32,
}

/// Builds stacks of pieces.
pub trait Composer {
    /// Passes stacks that are right on at least one train pair to `take`, in an order that depends only on the
    /// pieces. It ends as soon as `take` returns `false`.
    fn compose(&self, pieces: &Pieces, take: &mut dyn FnMut(Stack) -> bool);
}

/// The greedy composer, see the [module](self).
#[derive(Debug, Clone, PartialEq)]
pub struct Greedy {
    /// The maximum number of layers of a stack. Default 10.
    pub layers: usize,
    /// All subsets of this many train pairs, the first ones, are tried. Default 5.
    pub pairs: u32,
    /// Whether stacks are built only for all train pairs together. Default false.
    pub all_pairs: bool,
    /// A stage ends at a cost only if it has at least this factor times the pieces of the stage before; the last stage
    /// always has all pieces. Default 1.3.
    pub growth: f64,
}

impl Default for Greedy {
    fn default() -> Self {
        Self {
            layers: 10,
            pairs: 5,
            all_pairs: false,
            growth: 1.3,
        }
    }
}

/// The cells that are painted so far.
struct Canvas<'p> {
    pieces: &'p Pieces,
    /// Painted cells.
    covered: Vec<u64>,
    /// The painted cells that are wrong.
    wrong: Vec<u64>,
}

impl<'p> Canvas<'p> {
    fn new(pieces: &'p Pieces) -> Self {
        let words = pieces.frame.train_words();
        Self {
            pieces,
            covered: vec![0; words],
            wrong: vec![0; words],
        }
    }

    fn clear(&mut self) {
        self.covered.fill(0);
        self.wrong.fill(0);
    }

    /// Paints a piece below what is there.
    fn paint(&mut self, piece: usize) {
        let (paints, wrong) = (self.pieces.paints(piece), self.pieces.wrong(piece));
        for (at, (paints, wrong)) in paints.iter().zip(wrong).enumerate() {
            self.wrong[at] |= wrong & !self.covered[at];
            self.covered[at] |= paints;
        }
    }

    /// The number of train pairs on which it is right, with 0 in unpainted cells.
    fn fits(&self) -> u32 {
        let frame = &self.pieces.frame;
        let is_right = |input: &usize| {
            let shown = &self.pieces.shown[frame.words(*input)];
            let range = frame.words(*input);
            let cells = self.covered[range.clone()]
                .iter()
                .zip(&self.wrong[range])
                .zip(shown);
            cells
                .into_iter()
                .all(|((covered, wrong), shown)| *wrong == 0 && shown & !covered == 0)
        };
        (0..frame.train).filter(is_right).count() as u32
    }

    /// How many open cells of these words a piece paints.
    fn gain(&self, piece: usize, words: Range<usize>) -> u32 {
        let paints = &self.pieces.paints(piece)[words.clone()];
        let open = paints.iter().zip(&self.covered[words]);
        open.map(|(paints, covered)| (paints & !covered).count_ones())
            .sum()
    }

    /// Whether a piece paints no open cell of these pairs wrong.
    fn is_clean(&self, piece: usize, pairs: u32) -> bool {
        let dirty = self.pieces.all[piece].dirty & pairs;
        if dirty == 0 {
            return true;
        }
        let wrong = self.pieces.wrong(piece);
        let frame = &self.pieces.frame;
        (0..frame.train)
            .filter(|input| dirty >> (*input).min(31) & 1 != 0)
            .all(|input| {
                let words = frame.words(input);
                let open = wrong[words.clone()].iter().zip(&self.covered[words]);
                open.into_iter()
                    .all(|(wrong, covered)| wrong & !covered == 0)
            })
    }

    /// The piece that paints most open cells of one pair and no cell of `pairs` wrong; among equal pieces the first.
    fn best(&self, order: &Order, pairs: u32) -> Option<usize> {
        let mut best = (0, usize::MAX);
        for painted in &order.pieces {
            let piece = painted.piece as usize;
            // No piece paints more open cells than it has cells.
            if painted.cells < best.0 {
                break;
            }
            if painted.cells == best.0 && piece > best.1
                || painted.wrong & !self.covered[painted.word] != 0
            {
                continue;
            }
            let gain = self.gain(piece, order.words.clone());
            if gain > 0 && (gain, best.1) > (best.0, piece) && self.is_clean(piece, pairs) {
                best = (gain, piece);
            }
        }
        (best.0 > 0).then_some(best.1)
    }
}

/// The pieces that paint something of one pair, sorted by the number of its cells that they paint, descending.
struct Order {
    words: Range<usize>,
    pieces: Vec<Painted>,
}

/// The part of one pair that a piece paints.
#[derive(Clone, Copy)]
struct Painted {
    cells: u32,
    piece: u32,
    /// The first word in which it paints cells wrong, if any, and these cells. They are enough to reject most pieces.
    word: usize,
    wrong: u64,
}

impl Order {
    fn of(pieces: &Pieces, input: usize) -> Self {
        let words = pieces.frame.words(input);
        let painted = (0..pieces.all.len()).map(|piece| {
            let paints = &pieces.paints(piece)[words.clone()];
            let wrong = pieces.wrong(piece);
            let word = words.clone().find(|word| wrong[*word] != 0);
            let word = word.unwrap_or(words.start);
            Painted {
                cells: paints.iter().map(|paints| paints.count_ones()).sum(),
                piece: piece as u32,
                word,
                wrong: wrong[word],
            }
        });
        let mut painted: Vec<_> = painted.filter(|painted| painted.cells > 0).collect();
        painted.sort_unstable_by_key(|painted| (Reverse(painted.cells), painted.piece));
        Self {
            words,
            pieces: painted,
        }
    }

    /// The order restricted to the first `count` pieces.
    fn up_to(&self, count: usize) -> Self {
        let pieces = self.pieces.iter().copied();
        Self {
            words: self.words.clone(),
            pieces: pieces
                .filter(|painted| (painted.piece as usize) < count)
                .collect(),
        }
    }
}

/// The maximum number of train pairs all subsets of which are tried, whatever the options say.
const MOST_PAIRS: u32 = 16;

impl Greedy {
    /// The subsets of train pairs for which stacks are built.
    fn subsets(&self, train: usize) -> Vec<u32> {
        let all = !0u32 >> (32 - train.clamp(1, 32));
        if self.all_pairs {
            return vec![all];
        }
        let some = 1..(1u32 << (train as u32).min(self.pairs).min(MOST_PAIRS));
        let others = some.filter(|subset| *subset != all);
        std::iter::once(all).chain(others).collect()
    }

    /// The number of pieces at the end of each stage.
    fn stages(&self, pieces: &Pieces) -> Vec<usize> {
        let mut stages: Vec<usize> = Vec::new();
        for at in 1..=pieces.all.len() {
            let ends = pieces
                .all
                .get(at)
                .is_none_or(|next| next.cost != pieces.all[at - 1].cost);
            let is_more = stages
                .last()
                .is_none_or(|last| at as f64 >= *last as f64 * self.growth);
            if ends && (is_more || at == pieces.all.len()) {
                stages.push(at);
            }
        }
        stages
    }
}

impl Composer for Greedy {
    fn compose(&self, pieces: &Pieces, take: &mut dyn FnMut(Stack) -> bool) {
        let mut canvas = Canvas::new(pieces);
        // Many subsets and stages give the same stack.
        let mut known: FxHashSet<Vec<u32>> = FxHashSet::default();
        for (number, piece) in pieces.all.iter().enumerate() {
            // Single pieces that are right.
            if piece.dirty == 0 && matches!(piece.layer, Layer::All(_)) {
                let layers = vec![number as u32];
                known.insert(layers.clone());
                let fits = pieces.frame.train as u32;
                if !take(Stack {
                    layers,
                    fits,
                    cost: piece.cost,
                    total: piece.cost.into(),
                }) {
                    return;
                }
            }
        }
        let orders: Vec<_> = (0..pieces.frame.train)
            .map(|input| Order::of(pieces, input))
            .collect();
        for count in self.stages(pieces) {
            let orders: Vec<_> = orders.iter().map(|order| order.up_to(count)).collect();
            for subset in self.subsets(pieces.frame.train) {
                for cared in
                    (0..pieces.frame.train).filter(|input| subset >> (*input).min(31) & 1 != 0)
                {
                    canvas.clear();
                    let mut layers = Vec::new();
                    while layers.len() < self.layers {
                        let Some(piece) = canvas.best(&orders[cared], subset) else {
                            break;
                        };
                        canvas.paint(piece);
                        layers.push(piece as u32);
                        let fits = canvas.fits();
                        if fits == 0 || !known.insert(layers.clone()) {
                            continue;
                        }
                        let costs = layers.iter().map(|piece| pieces.all[*piece as usize].cost);
                        let (mut cost, mut total) = (0, 0);
                        for own in costs {
                            (cost, total) = (own.max(cost), total + u32::from(own));
                        }
                        if !take(Stack {
                            layers: layers.clone(),
                            fits,
                            cost,
                            total,
                        }) {
                            return;
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
