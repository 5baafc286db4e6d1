//! [`Pieces`]: what can be painted of what a search has made, as bits over the cells of the outputs.

use arc_cpu::batt::{Batt, NodeId};
use arc_dsl::{Container, Grid, Loc, Task, Value};
use rustc_hash::FxHashSet;

use crate::enumerate::Enumeration;
use crate::language::Kind;

/// What a piece paints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Layer {
    /// All cells of a grid of the output's size.
    All(NodeId),
    /// Those of its cells that are not 0.
    Shown(NodeId),
    /// Those of its cells that are 0.
    Hidden(NodeId),
    /// An object, where it lies.
    Object(NodeId),
    /// Locations, in a colour.
    Filled(NodeId, NodeId),
}

/// Where the bits of each input stand: cells row by row, from a new word on for each input. Those of train
/// pairs come first.
#[derive(Debug, Clone)]
pub struct Frame {
    /// The sizes of the outputs, those of test pairs predicted.
    pub sizes: Vec<(usize, usize)>,
    /// Where the words of each input begin; and the end.
    pub starts: Vec<usize>,
    /// How many of the inputs are of train pairs.
    pub train: usize,
}

impl Frame {
    /// The frame of outputs of these sizes.
    pub fn new(sizes: Vec<(usize, usize)>, train: usize) -> Self {
        let mut starts = vec![0];
        for (rows, columns) in &sizes {
            starts.push(starts[starts.len() - 1] + (rows * columns).div_ceil(64));
        }
        Self {
            sizes,
            starts,
            train,
        }
    }

    /// The words of an input.
    pub fn words(&self, input: usize) -> std::ops::Range<usize> {
        self.starts[input]..self.starts[input + 1]
    }

    /// How many words the train pairs have.
    pub fn train_words(&self) -> usize {
        self.starts[self.train]
    }

    /// How many cells the output of an input has.
    pub fn cells(&self, input: usize) -> usize {
        self.sizes[input].0 * self.sizes[input].1
    }
}

/// What is said of a piece beside its bits.
#[derive(Debug, Clone, Copy)]
pub struct Piece {
    /// What it paints.
    pub layer: Layer,
    /// What it costs.
    pub cost: u8,
    /// A bit for each train pair in which some cell is painted wrong.
    pub dirty: u32,
}

/// The pieces of a task, the cheapest first.
#[derive(Debug)]
pub struct Pieces {
    /// Where bits stand.
    pub frame: Frame,
    /// The pieces.
    pub all: Vec<Piece>,
    /// For each piece a bit for each cell of a train pair's output that it paints.
    paints: Vec<u64>,
    /// The same of those that it paints in another colour than the output has.
    wrong: Vec<u64>,
    /// A bit for each cell of a train pair's output that is not 0.
    pub shown: Vec<u64>,
    known: FxHashSet<(u64, u64)>,
}

/// The greatest cost of a colour in which locations are painted.
const MOST_COLOUR_COST: u8 = 2;

impl Pieces {
    /// The pieces of what has been made, at most so many: of grids, and where that is asked for of objects and
    /// locations.
    pub fn of(
        batt: &Batt,
        enumeration: &Enumeration<'_>,
        task: &Task,
        frame: Frame,
        most: usize,
        with_patches: bool,
    ) -> Self {
        let mut shown = vec![0; frame.train_words()];
        for (input, pair) in task.train.iter().enumerate() {
            let cells = pair.output.iter().flat_map(Grid::cells);
            for (at, _) in cells.enumerate().filter(|(_, colour)| **colour != 0) {
                shown[frame.words(input).start + at / 64] |= 1 << (at % 64);
            }
        }
        let mut pieces = Self {
            frame,
            shown,
            all: Vec::new(),
            paints: Vec::new(),
            wrong: Vec::new(),
            known: FxHashSet::default(),
        };
        let mut cells = Cells::new(&pieces.frame);
        for cost in 0..=crate::enumerate::MOST_COST as u8 {
            for layer in layers(enumeration, cost, with_patches) {
                if pieces.all.len() >= most {
                    pieces.truncate(most);
                    return pieces;
                }
                pieces.add(batt, task, layer, cost, &mut cells);
            }
        }
        pieces.truncate(most);
        pieces
    }

    /// Leaves so many: a grid is up to three pieces.
    fn truncate(&mut self, most: usize) {
        let words = self.frame.train_words();
        self.all.truncate(most);
        self.paints.truncate(self.all.len() * words);
        self.wrong.truncate(self.all.len() * words);
    }

    /// The cells that a piece paints.
    pub fn paints(&self, piece: usize) -> &[u64] {
        let words = self.frame.train_words();
        &self.paints[piece * words..][..words]
    }

    /// The cells that it paints wrong.
    pub fn wrong(&self, piece: usize) -> &[u64] {
        let words = self.frame.train_words();
        &self.wrong[piece * words..][..words]
    }

    fn add(&mut self, batt: &Batt, task: &Task, node: Node, cost: u8, cells: &mut Cells) {
        let readable = match node {
            Node::Grid(grid) => cells.read_grid(batt, grid, &self.frame),
            Node::Object(object) => cells.read_object(batt, object, &self.frame),
            Node::Filled(locs, colour) => cells.read_filled(batt, locs, colour, &self.frame),
        };
        if readable.is_none() {
            return;
        }
        match node {
            Node::Grid(grid) => {
                self.add_layer(task, Layer::All(grid), cost, cells, |_| true);
                self.add_layer(task, Layer::Shown(grid), cost, cells, |colour| colour != 0);
                self.add_layer(task, Layer::Hidden(grid), cost, cells, |colour| colour == 0);
            }
            Node::Object(object) => {
                self.add_layer(task, Layer::Object(object), cost, cells, |colour| {
                    colour != NONE
                });
            }
            Node::Filled(locs, colour) => {
                let layer = Layer::Filled(locs, colour);
                self.add_layer(task, layer, cost, cells, |colour| colour != NONE);
            }
        }
    }

    fn add_layer(
        &mut self,
        task: &Task,
        layer: Layer,
        cost: u8,
        cells: &Cells,
        paints: impl Fn(i8) -> bool,
    ) {
        let first = self.paints.len();
        let words = self.frame.train_words();
        self.paints.resize(first + words, 0);
        self.wrong.resize(first + words, 0);
        let (mut dirty, mut any_right) = (0u32, false);
        let mut hash = Hash::default();
        for (input, colours) in cells.all.iter().enumerate() {
            let target = task.train.get(input).and_then(|pair| pair.output.as_ref());
            let Some(target) = target else {
                // What is painted there tells pieces apart that are the same on the train pairs.
                for (at, colour) in colours.iter().enumerate() {
                    if paints(*colour) {
                        hash.take(at as u64 * 32 + *colour as u64 + 1);
                    }
                }
                hash.take(u64::MAX);
                continue;
            };
            let words = self.frame.words(input);
            let pairs = colours.chunks(64).zip(target.cells().chunks(64)).zip(words);
            for ((colours, target), word) in pairs {
                let (mut painted, mut wrong) = (0u64, 0u64);
                for (bit, (colour, target)) in colours.iter().zip(target).enumerate() {
                    let is_painted = u64::from(paints(*colour));
                    painted |= is_painted << bit;
                    wrong |= (is_painted & u64::from(colour != target)) << bit;
                }
                self.paints[first + word] = painted;
                self.wrong[first + word] = wrong;
                any_right |= painted != wrong;
                dirty |= u32::from(wrong != 0) << input.min(31);
                hash.take(painted);
                hash.take(wrong);
            }
        }
        if any_right && self.known.insert(hash.finish()) {
            self.all.push(Piece { layer, cost, dirty });
        } else {
            self.paints.truncate(first);
            self.wrong.truncate(first);
        }
    }
}

/// A hash of 128 bits: pieces that have the same are taken for the same.
#[derive(Default)]
struct Hash(u64, u64);

impl Hash {
    fn take(&mut self, word: u64) {
        self.0 = (self.0 ^ word)
            .wrapping_mul(0x9E37_79B9_7F4A_7C15)
            .rotate_left(29);
        self.1 = (self.1.wrapping_add(word))
            .wrapping_mul(0xC2B2_AE3D_27D4_EB4F)
            .rotate_left(31);
    }

    fn finish(self) -> (u64, u64) {
        (self.0, self.1)
    }
}

/// What can be painted before it is said which part of it.
#[derive(Clone, Copy)]
enum Node {
    Grid(NodeId),
    Object(NodeId),
    Filled(NodeId, NodeId),
}

/// What nodes of this cost can be painted.
fn layers<'e>(
    enumeration: &'e Enumeration<'_>,
    cost: u8,
    with_patches: bool,
) -> impl Iterator<Item = Node> + 'e {
    let grids = enumeration.at_cost(Kind::GRID, cost).iter();
    let objects = enumeration.at_cost(Kind::OBJECT, cost).iter();
    let filled = (0..=MOST_COLOUR_COST.min(cost)).flat_map(move |of_colour| {
        let locs = enumeration.at_cost(Kind::INDICES, cost - of_colour).iter();
        locs.flat_map(move |locs| {
            let colours = enumeration.at_cost(Kind::COLOUR, of_colour).iter();
            colours.map(|colour| Node::Filled(*locs, *colour))
        })
    });
    let patches = objects.map(|node| Node::Object(*node)).chain(filled);
    grids
        .map(|node| Node::Grid(*node))
        .chain(patches.filter(move |_| with_patches))
}

/// The colour of a cell that is not painted.
pub(crate) const NONE: i8 = -1;

fn is_colour(colour: i32) -> bool {
    (0..10).contains(&colour)
}

/// What one layer paints, by input and cell.
pub(crate) struct Cells {
    pub(crate) all: Vec<Vec<i8>>,
}

impl Cells {
    pub(crate) fn new(frame: &Frame) -> Self {
        Self {
            all: (0..frame.sizes.len())
                .map(|input| vec![NONE; frame.cells(input)])
                .collect(),
        }
    }

    /// Reads what a layer paints; nothing where it has another size, or paints what is no colour.
    pub(crate) fn read(&mut self, batt: &Batt, layer: Layer, frame: &Frame) -> Option<()> {
        match layer {
            Layer::All(grid) => self.read_grid(batt, grid, frame)?,
            Layer::Shown(grid) => {
                self.read_grid(batt, grid, frame)?;
                self.leave(|colour| colour == 0);
            }
            Layer::Hidden(grid) => {
                self.read_grid(batt, grid, frame)?;
                self.leave(|colour| colour != 0);
            }
            Layer::Object(object) => self.read_object(batt, object, frame)?,
            Layer::Filled(locs, colour) => self.read_filled(batt, locs, colour, frame)?,
        }
        Some(())
    }

    fn leave(&mut self, is_left: impl Fn(i8) -> bool) {
        for colour in self.all.iter_mut().flatten() {
            if is_left(*colour) {
                *colour = NONE;
            }
        }
    }

    fn read_grid(&mut self, batt: &Batt, grid: NodeId, frame: &Frame) -> Option<()> {
        for (input, (rows, columns)) in frame.sizes.iter().enumerate() {
            let value = batt.value(grid, input).ok()?;
            let grid = value.as_grid()?;
            let is_shown = grid
                .cells()
                .iter()
                .all(|colour| is_colour((*colour).into()));
            if (grid.height(), grid.width()) != (*rows, *columns) || !is_shown {
                return None;
            }
            self.all[input].copy_from_slice(grid.cells());
        }
        Some(())
    }

    pub(crate) fn clear(&mut self) {
        self.all.iter_mut().for_each(|cells| cells.fill(NONE));
    }

    /// Paints what another layer paints where nothing is yet, and leaves of that layer what is seen of it.
    pub(crate) fn paint_below(&mut self, other: &mut Cells) {
        let below = other.all.iter_mut().flatten();
        for (colour, below) in self.all.iter_mut().flatten().zip(below) {
            if *colour == NONE {
                *colour = *below;
            } else {
                *below = NONE;
            }
        }
    }

    /// Paints what is still open.
    pub(crate) fn fill(&mut self, colour: i8) {
        let cells = self.all.iter_mut().flatten();
        cells
            .filter(|cell| **cell == NONE)
            .for_each(|cell| *cell = colour);
    }

    fn read_object(&mut self, batt: &Batt, object: NodeId, frame: &Frame) -> Option<()> {
        self.clear();
        for (input, size) in frame.sizes.iter().enumerate() {
            match batt.value(object, input).ok()? {
                Value::Object(object) => {
                    for cell in object.as_slice() {
                        self.paint(input, *size, cell.loc, cell.colour)?;
                    }
                }
                value if value.as_container().is_some_and(Container::is_empty) => {}
                _ => return None,
            }
        }
        Some(())
    }

    fn read_filled(
        &mut self,
        batt: &Batt,
        locs: NodeId,
        colour: NodeId,
        frame: &Frame,
    ) -> Option<()> {
        self.clear();
        for (input, size) in frame.sizes.iter().enumerate() {
            let colour = batt.value(colour, input).ok()?.as_int()?;
            match batt.value(locs, input).ok()? {
                Value::Indices(locs) => {
                    for loc in locs.as_slice() {
                        self.paint(input, *size, *loc, colour)?;
                    }
                }
                value if value.as_container().is_some_and(Container::is_empty) => {}
                _ => return None,
            }
        }
        Some(())
    }

    /// Paints a cell; nothing where it would be seen in what is no colour.
    fn paint(&mut self, input: usize, size: (usize, usize), loc: Loc, colour: i32) -> Option<()> {
        let (rows, columns) = (size.0 as i32, size.1 as i32);
        let Loc { i, j } = loc;
        if (0..rows).contains(&i) && (0..columns).contains(&j) {
            if !is_colour(colour) {
                return None;
            }
            self.all[input][(i * columns + j) as usize] = colour as i8;
        }
        Some(())
    }

    /// The cells of an input as a grid.
    pub(crate) fn grid(&self, input: usize, frame: &Frame) -> Grid {
        let (rows, columns) = frame.sizes[input];
        Grid::from_cells(rows, columns, self.all[input].clone())
    }
}

#[cfg(test)]
mod tests;
