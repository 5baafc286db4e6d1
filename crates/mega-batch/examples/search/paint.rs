//! Painting what a search has made over each other: most outputs are a grid with other things on top.

use std::collections::HashSet;

use arc_dsl::{Loc, Primitive, Task, Value};
use mega_batch::batt::{Batt, Distance, Full, NodeId};

use crate::{MOST_COST, Search};

/// The most pieces that are kept, and that lie over each other.
const MOST_PIECES: usize = 20_000;
const MOST_LAYERS: usize = 8;

/// What can be painted.
#[derive(Clone, Copy)]
enum Layer {
    /// A grid of the target's size.
    Grid(NodeId),
    /// What of such a grid is not 0.
    Shown(NodeId),
    Object(NodeId),
    /// Locations in a colour.
    Filled(NodeId, NodeId),
}

/// A bit for each cell of the targets, one target after the other.
type Cells = Vec<u64>;

struct Piece {
    layer: Layer,
    /// The cells that it paints, and those of them that it paints in another colour than the target.
    paints: Cells,
    wrong: Cells,
}

/// How many cells there are in both.
fn count(a: &Cells, b: &Cells) -> u32 {
    a.iter().zip(b).map(|(a, b)| (a & b).count_ones()).sum()
}

impl Search {
    /// Finds pieces that are right when they are painted over each other, from the top one down:
    /// always the one that paints most of what is still open, and nothing of it wrong. It is tried
    /// with the cheapest pieces alone, then with more and more of them, to the end of the memory.
    pub(crate) fn paint(&mut self, task: &Task) {
        let targets = task.train.iter().filter_map(|pair| pair.output.as_ref());
        let cells: usize = targets.map(|target| target.cells().len()).sum();
        let (mut pieces, mut known) = (Vec::new(), HashSet::new());
        for cost in 0..=MOST_COST {
            let before = pieces.len();
            for layer in self.layers(cost) {
                if pieces.len() < MOST_PIECES
                    && let Some(piece) = piece(&self.batt, task, layer, cells)
                    && known.insert((piece.paints.clone(), piece.wrong.clone()))
                {
                    pieces.push(piece);
                }
            }
            let is_new = |layers: &Vec<Layer>| pieces.len() > before && !layers.is_empty();
            let Some(layers) = layers_of(&pieces, cells).filter(is_new) else {
                continue;
            };
            let Ok(node) = stack(&mut self.batt, &layers) else {
                return;
            };
            let is_right =
                |node: &NodeId| self.batt.is_solution(*node) && !self.found.contains(node);
            if let Some(node) = node.filter(is_right) {
                self.found.push(node);
            }
        }
    }

    /// What nodes of this cost can be painted.
    fn layers(&mut self, cost: usize) -> Vec<Layer> {
        let kinds = ["grid", "object", "indices", "colour"].map(|kind| self.kind(kind));
        let [grids, objects, indices, colours] = kinds.map(|kind| &self.nodes[kind]);
        let mut layers: Vec<_> = grids[cost].iter().copied().map(Layer::Grid).collect();
        layers.extend(objects[cost].iter().copied().map(Layer::Object));
        for of_colour in 0..cost.min(3) {
            for locs in &indices[cost - of_colour] {
                let filled = |colour: &NodeId| Layer::Filled(*locs, *colour);
                layers.extend(colours[of_colour].iter().map(filled));
            }
        }
        let cheaper = cost.checked_sub(1).map(|cost| &grids[cost]);
        layers.extend(cheaper.into_iter().flatten().copied().map(Layer::Shown));
        layers
    }
}

/// What a layer paints; nothing where all of it is wrong.
fn piece(batt: &Batt, task: &Task, layer: Layer, cells: usize) -> Option<Piece> {
    let mut paints = vec![0; cells.div_ceil(64)];
    let mut wrong = paints.clone();
    let mut first = 0;
    let targets = task.train.iter().filter_map(|pair| pair.output.as_ref());
    for (input, target) in targets.enumerate() {
        let mut paint = |loc: Loc, colour: i32| {
            if let Some(at) = target.offset(loc) {
                let (word, bit) = ((first + at) / 64, 1 << ((first + at) % 64));
                paints[word] |= bit;
                wrong[word] |= if i32::from(target.cells()[at]) == colour {
                    0
                } else {
                    bit
                };
            }
        };
        match layer {
            Layer::Grid(grid) | Layer::Shown(grid) => {
                if let Some(Distance::Size) = batt.distance(grid, input) {
                    return None;
                }
                let value = batt.value(grid, input).ok()?;
                let all = matches!(layer, Layer::Grid(_));
                for (loc, colour) in value.as_grid()?.enumerate() {
                    if all || colour != 0 {
                        paint(loc, colour.into());
                    }
                }
            }
            Layer::Object(object) => {
                if let Value::Object(object) = batt.value(object, input).ok()? {
                    object
                        .as_slice()
                        .iter()
                        .for_each(|cell| paint(cell.loc, cell.colour));
                }
            }
            Layer::Filled(locs, colour) => {
                let colour = batt.value(colour, input).ok()?.as_int()?;
                if let Value::Indices(locs) = batt.value(locs, input).ok()? {
                    locs.as_slice().iter().for_each(|loc| paint(*loc, colour));
                }
            }
        }
        first += target.cells().len();
    }
    (paints != wrong).then_some(Piece {
        layer,
        paints,
        wrong,
    })
}

/// The pieces that paint all cells right, the top one first; below them all is some grid.
fn layers_of(pieces: &[Piece], cells: usize) -> Option<Vec<Layer>> {
    let mut open = vec![!0; cells.div_ceil(64)];
    *open.last_mut()? >>= (64 - cells % 64) % 64;
    let mut layers = Vec::new();
    while open.iter().any(|word| *word != 0) {
        let fitting = pieces
            .iter()
            .filter(|piece| count(&piece.wrong, &open) == 0);
        // Of those that paint as much the first is the cheapest.
        let best = fitting
            .rev()
            .max_by_key(|piece| count(&piece.paints, &open))?;
        if count(&best.paints, &open) == 0 || layers.len() == MOST_LAYERS {
            return None;
        }
        open.iter_mut()
            .zip(&best.paints)
            .for_each(|(open, paints)| *open &= !paints);
        layers.push(best.layer);
    }
    let mut all = pieces.iter().map(|piece| piece.layer);
    layers.extend(all.find(|layer| matches!(layer, Layer::Grid(_))));
    Some(layers)
}

/// The node of the layers painted over each other, the first one on top; nothing where a call fails.
fn stack(batt: &mut Batt, layers: &[Layer]) -> Result<Option<NodeId>, Full> {
    let black = batt.constant(&Value::Int(0))?;
    let mut call = |primitive, arguments: &[Option<NodeId>]| {
        let arguments: Option<Vec<_>> = arguments.iter().copied().collect();
        let pushed = arguments.map(|arguments| batt.push(primitive, &arguments));
        Ok(pushed.transpose()?.and_then(mega_batch::batt::Pushed::node))
    };
    let mut below = None;
    for layer in layers.iter().rev() {
        below = match *layer {
            Layer::Grid(grid) => Some(grid),
            Layer::Shown(grid) => {
                let all = call(Primitive::Asobject, &[Some(grid)])?;
                let hidden = call(Primitive::Ofcolor, &[Some(grid), Some(black)])?;
                let hidden = call(Primitive::Toobject, &[hidden, Some(grid)])?;
                let shown = call(Primitive::Difference, &[all, hidden])?;
                call(Primitive::Paint, &[below, shown])?
            }
            Layer::Object(object) => call(Primitive::Paint, &[below, Some(object)])?,
            Layer::Filled(locs, colour) => {
                call(Primitive::Fill, &[below, Some(colour), Some(locs)])?
            }
        };
    }
    Ok(below)
}
