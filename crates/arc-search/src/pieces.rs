//! [`Pieces`]: the values of a search that can be painted, as bits over the cells of the outputs.

use arc_cpu::batt::{Batt, NodeId};
use arc_dsl::{Grid, Loc};
use arc_tasks::Task;
use rustc_hash::FxHashSet;

use crate::enumerate::Enumeration;
use crate::language::Kind;

/// The cells that a piece paints.
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

/// The layout of bits: the cells of each input's output row by row, each input starting at a new word, train pairs
/// first.
#[derive(Debug, Clone)]
pub struct Frame {
    /// The sizes of the outputs, those of test pairs predicted.
    pub sizes: Vec<(usize, usize)>,
    /// The first word of each input, and the end.
    pub starts: Vec<usize>,
    /// The number of train pairs among the inputs.
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

    /// The number of words of the train pairs.
    pub(crate) fn train_words(&self) -> usize {
        self.starts[self.train]
    }

    /// The number of cells of the output of an input.
    pub fn cells(&self, input: usize) -> usize {
        self.sizes[input].0 * self.sizes[input].1
    }
}

/// The description of a piece, without its bits.
#[derive(Debug, Clone, Copy)]
pub struct Piece {
    /// What it paints.
    pub layer: Layer,
    /// What it costs.
    pub cost: u8,
    /// A bit for each train pair in which it paints a cell wrong.
    pub dirty: u32,
}

/// The pieces of a task, the cheapest first.
#[derive(Debug)]
pub struct Pieces {
    /// The layout of the bits.
    pub frame: Frame,
    /// The pieces.
    pub all: Vec<Piece>,
    /// For each piece a bit for each cell of a train pair's output that it paints.
    paints: Vec<u64>,
    /// For each piece a bit for each cell that it paints in another colour than the output has.
    wrong: Vec<u64>,
    /// A bit for each cell of a train pair's output that is not 0.
    pub shown: Vec<u64>,
    known: FxHashSet<(u64, u64)>,
}

/// The maximum cost of a colour for filled locations.
const MOST_COLOUR_COST: u8 = 2;

impl Pieces {
    /// The pieces of an enumeration, up to a maximum: grids, and with `with_patches` objects and locations too.
    pub fn of(
        batt: &Batt,
        enumeration: &Enumeration<'_>,
        task: &Task,
        frame: Frame,
        most: usize,
        with_patches: bool,
    ) -> Self {
        let targets = Targets::of(task, &frame);
        let shown = (0..frame.train_words()).map(|word| shown(&targets.0, word));
        let mut pieces = Self {
            shown: shown.collect(),
            frame,
            all: Vec::new(),
            paints: Vec::new(),
            wrong: Vec::new(),
            known: FxHashSet::default(),
        };
        let mut painting = Painting::new(&pieces.frame);
        for cost in 0..=crate::enumerate::MOST_COST as u8 {
            for layer in layers(enumeration, cost, with_patches) {
                if pieces.all.len() >= most {
                    pieces.truncate(most);
                    return pieces;
                }
                pieces.add(batt, &targets, layer, cost, &mut painting);
            }
        }
        pieces.truncate(most);
        pieces
    }

    /// Truncates the list to `most` pieces: a grid adds up to three at once.
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

    /// Adds a layer; for a whole grid also its shown and its hidden cells.
    fn add(
        &mut self,
        batt: &Batt,
        targets: &Targets,
        layer: Layer,
        cost: u8,
        painting: &mut Painting,
    ) {
        if painting.read(batt, layer, &self.frame).is_none() {
            return;
        }
        painting.compare(targets);
        self.add_layer(layer, cost, painting);
        if let Layer::All(grid) = layer {
            self.add_layer(Layer::Shown(grid), cost, painting);
            self.add_layer(Layer::Hidden(grid), cost, painting);
        }
    }

    /// Adds the piece of a layer that was read, unless no cell that it paints is right or another piece paints the
    /// same.
    fn add_layer(&mut self, layer: Layer, cost: u8, painting: &Painting) {
        let first = self.paints.len();
        let mut hash = Hash::default();
        let (mut dirty, mut any_right) = (0u32, false);
        for input in 0..self.frame.train {
            let mut is_wrong = false;
            for word in self.frame.words(input) {
                let masked = painting.masked(layer, word);
                let wrong = masked & painting.wrong[word];
                self.paints.push(masked);
                self.wrong.push(wrong);
                is_wrong |= wrong != 0;
                any_right |= masked != wrong;
                hash.take(masked);
                hash.take(wrong);
            }
            dirty |= u32::from(is_wrong) << input.min(31);
        }
        if any_right {
            // Pieces that agree on the train pairs may still differ on the test inputs.
            for word in self.frame.train_words()..painting.painted.len() {
                let masked = painting.masked(layer, word);
                hash.take(masked);
                for plane in &painting.planes {
                    hash.take(plane[word] & masked);
                }
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

/// The bits of the colours of train outputs; all four are set for values that are no colour.
struct Targets([Vec<u64>; 4]);

impl Targets {
    fn of(task: &Task, frame: &Frame) -> Self {
        let mut planes = std::array::from_fn(|_| vec![0; frame.train_words()]);
        for (input, pair) in task.train.iter().enumerate() {
            let cells = pair.output.iter().flat_map(Grid::cells);
            for (at, colour) in cells.enumerate() {
                let colour = i32::from(*colour);
                let code = if is_colour(colour) { colour } else { 15 };
                put_code(&mut planes, frame.words(input).start, at, code);
            }
        }
        Self(planes)
    }
}

/// Sets the bits of a cell's colour; the cell must have none set.
fn put_code(planes: &mut [Vec<u64>; 4], first: usize, at: usize, colour: i32) {
    for (bit, plane) in planes.iter_mut().enumerate() {
        plane[first + at / 64] |= (colour as u64 >> bit & 1) << (at % 64);
    }
}

/// Sets the bits of a row that begins at a bit.
fn put_row(words: &mut [u64], at: usize, row: u32) {
    let (word, shift) = (at / 64, at % 64);
    words[word] |= u64::from(row) << shift;
    if let Some(past @ 1..) = u64::from(row).checked_shr(64 - shift as u32) {
        words[word + 1] |= past;
    }
}

/// The cells of a word whose colour is not 0.
fn shown([a, b, c, d]: &[Vec<u64>; 4], word: usize) -> u64 {
    a[word] | b[word] | c[word] | d[word]
}

/// All cells that a layer paints, before [`Painting::masked`]: bits for the cells of all outputs.
struct Painting {
    /// The cells that it paints.
    painted: Vec<u64>,
    /// The bits of their colours, 0 in unpainted cells.
    planes: [Vec<u64>; 4],
    /// The cells of train pairs that it paints in another colour than the output has.
    wrong: Vec<u64>,
    /// All cells.
    all: Vec<u64>,
    /// The locations that were read last, since many colours fill them, and whether reading succeeded.
    locs: (Option<NodeId>, bool),
}

impl Painting {
    fn new(frame: &Frame) -> Self {
        let words = frame.starts[frame.sizes.len()];
        let mut all = vec![0; words];
        for input in 0..frame.sizes.len() {
            let first = frame.words(input).start;
            (0..frame.cells(input)).for_each(|at| all[first + at / 64] |= 1 << (at % 64));
        }
        Self {
            painted: vec![0; words],
            planes: std::array::from_fn(|_| vec![0; words]),
            wrong: vec![0; frame.train_words()],
            all,
            locs: (None, false),
        }
    }

    /// The cells of a word that belong to the layer that was read.
    fn masked(&self, layer: Layer, word: usize) -> u64 {
        let painted = self.painted[word];
        match layer {
            Layer::Shown(_) => painted & shown(&self.planes, word),
            Layer::Hidden(_) => painted & !shown(&self.planes, word),
            Layer::All(_) | Layer::Object(_) | Layer::Filled(..) => painted,
        }
    }

    fn clear(&mut self) {
        self.locs.0 = None;
        self.painted.fill(0);
        self.planes.iter_mut().for_each(|plane| plane.fill(0));
    }

    /// Reads the values of a layer; `None` if a size differs from an output's or a visible value is no colour.
    fn read(&mut self, batt: &Batt, layer: Layer, frame: &Frame) -> Option<()> {
        match layer {
            Layer::All(grid) | Layer::Shown(grid) | Layer::Hidden(grid) => {
                self.read_grid(batt, grid, frame)
            }
            Layer::Object(object) => self.read_object(batt, object, frame),
            Layer::Filled(locs, colour) => {
                self.read_locs(batt, locs, frame)?;
                self.fill(batt, colour, frame)
            }
        }
    }

    /// Reads a grid; `None` if its size differs from an output's or a value is no colour.
    fn read_grid(&mut self, batt: &Batt, grid: NodeId, frame: &Frame) -> Option<()> {
        self.clear();
        for (input, size) in frame.sizes.iter().enumerate() {
            let first = frame.words(input).start;
            if let Some(planes) = batt.planes(grid, input) {
                if planes.size() != *size {
                    return None;
                }
                let (mut at, mut strange) = (64 * first, 0);
                planes.rows(|row| {
                    let [_, b, c, d] = row;
                    strange |= d & (b | c);
                    for (plane, row) in self.planes.iter_mut().zip(row) {
                        put_row(plane, at, row);
                    }
                    at += size.1;
                });
                if strange != 0 {
                    return None;
                }
                continue;
            }
            let value = batt.value(grid, input).ok()?;
            let grid = value.as_grid()?;
            if (grid.height(), grid.width()) != *size {
                return None;
            }
            for (at, colour) in grid.cells().iter().enumerate() {
                let colour = i32::from(*colour);
                is_colour(colour).then(|| put_code(&mut self.planes, first, at, colour))?;
            }
        }
        self.painted.copy_from_slice(&self.all);
        Some(())
    }

    /// Reads the part of an object within the outputs; `None` if a visible value is no colour, or no planes hold it.
    fn read_object(&mut self, batt: &Batt, object: NodeId, frame: &Frame) -> Option<()> {
        self.clear();
        for (input, size) in frame.sizes.iter().enumerate() {
            let first = frame.words(input).start;
            let mut strange = 0;
            let is_held = batt.rows_of_patch(object, input, *size, |i, columns, planes| {
                let [a, b, c, d] = planes.unwrap_or([columns; 4]);
                strange |= d & (b | c);
                let at = 64 * first + i * size.1;
                put_row(&mut self.painted, at, columns);
                for (plane, row) in self.planes.iter_mut().zip([a, b, c, d]) {
                    put_row(plane, at, row);
                }
            });
            (is_held && strange == 0).then_some(())?;
        }
        Some(())
    }

    /// Reads the locations that lie within the outputs, unless they are those that were read last.
    fn read_locs(&mut self, batt: &Batt, node: NodeId, frame: &Frame) -> Option<()> {
        if self.locs.0 != Some(node) {
            let is_readable = self.read_locs_anew(batt, node, frame).is_some();
            self.locs = (Some(node), is_readable);
        }
        self.locs.1.then_some(())
    }

    fn read_locs_anew(&mut self, batt: &Batt, node: NodeId, frame: &Frame) -> Option<()> {
        self.painted.fill(0);
        for (input, size) in frame.sizes.iter().enumerate() {
            let first = frame.words(input).start;
            let mut is_object = false;
            let is_held = batt.rows_of_patch(node, input, *size, |i, columns, planes| {
                is_object |= planes.is_some();
                put_row(&mut self.painted, 64 * first + i * size.1, columns);
            });
            (is_held && !is_object).then_some(())?;
        }
        Some(())
    }

    /// Paints the locations that were read in a colour; `None` if a visible value is no colour.
    fn fill(&mut self, batt: &Batt, colour: NodeId, frame: &Frame) -> Option<()> {
        for input in 0..frame.sizes.len() {
            let colour = batt.value(colour, input).ok()?.as_int()?;
            let words = frame.words(input);
            let painted = &self.painted[words.clone()];
            if !is_colour(colour) && painted.iter().any(|painted| *painted != 0) {
                return None;
            }
            for (bit, plane) in self.planes.iter_mut().enumerate() {
                let bit = (colour as u64 >> bit & 1).wrapping_neg();
                for (plane, painted) in plane[words.clone()].iter_mut().zip(painted) {
                    *plane = painted & bit;
                }
            }
        }
        Some(())
    }

    /// Computes the painted cells that are wrong.
    fn compare(&mut self, targets: &Targets) {
        for (word, wrong) in self.wrong.iter_mut().enumerate() {
            let both = self.planes.iter().zip(&targets.0);
            let differ = both.fold(0, |differ, (plane, target)| {
                differ | (plane[word] ^ target[word])
            });
            *wrong = self.painted[word] & differ;
        }
    }
}

/// The index of a location in the order of cells; `None` if it lies outside.
pub(crate) fn place(loc: Loc, (rows, columns): (usize, usize)) -> Option<usize> {
    let (i, j) = (usize::try_from(loc.i).ok()?, usize::try_from(loc.j).ok()?);
    (i < rows && j < columns).then_some(i * columns + j)
}

/// A 128-bit hash: pieces with equal hashes count as equal.
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

/// The paintable values of this cost; a grid as a whole.
fn layers<'e>(
    enumeration: &'e Enumeration<'_>,
    cost: u8,
    with_patches: bool,
) -> impl Iterator<Item = Layer> + 'e {
    let grids = enumeration.at_cost(Kind::GRID, cost).iter();
    let objects = enumeration.at_cost(Kind::OBJECT, cost).iter();
    let filled = (0..=MOST_COLOUR_COST.min(cost)).flat_map(move |of_colour| {
        let locs = enumeration.at_cost(Kind::INDICES, cost - of_colour).iter();
        locs.flat_map(move |locs| {
            let colours = enumeration.at_cost(Kind::COLOUR, of_colour).iter();
            colours.map(|colour| Layer::Filled(*locs, *colour))
        })
    });
    let patches = objects.map(|node| Layer::Object(*node)).chain(filled);
    grids
        .map(|node| Layer::All(*node))
        .chain(patches.filter(move |_| with_patches))
}

/// The value of an unpainted cell.
const UNPAINTED: i8 = -1;

fn is_colour(colour: i32) -> bool {
    (0..10).contains(&colour)
}

/// The cells that one layer paints, by input.
pub(crate) struct Cells {
    pub(crate) all: Vec<Vec<i8>>,
    painting: Painting,
}

impl Cells {
    pub(crate) fn new(frame: &Frame) -> Self {
        Self {
            all: (0..frame.sizes.len())
                .map(|input| vec![UNPAINTED; frame.cells(input)])
                .collect(),
            painting: Painting::new(frame),
        }
    }

    /// Reads the cells of a layer; `None` if its size differs or a value is no colour.
    pub(crate) fn read(&mut self, batt: &Batt, layer: Layer, frame: &Frame) -> Option<()> {
        let painting = &mut self.painting;
        painting.read(batt, layer, frame)?;
        for (input, cells) in self.all.iter_mut().enumerate() {
            for (word, cells) in frame.words(input).zip(cells.chunks_mut(64)) {
                let masked = painting.masked(layer, word);
                let planes = painting.planes.each_ref().map(|plane| plane[word]);
                for (bit, cell) in cells.iter_mut().enumerate() {
                    let [a, b, c, d] = planes.map(|plane| (plane >> bit & 1) as i8);
                    let is_painted = masked >> bit & 1 != 0;
                    *cell = if is_painted {
                        a | b << 1 | c << 2 | d << 3
                    } else {
                        UNPAINTED
                    };
                }
            }
        }
        Some(())
    }

    pub(crate) fn clear(&mut self) {
        self.all.iter_mut().for_each(|cells| cells.fill(UNPAINTED));
    }

    /// Paints another layer below this one, and removes from that layer the cells that are not visible.
    pub(crate) fn paint_below(&mut self, other: &mut Cells) {
        let below = other.all.iter_mut().flatten();
        for (colour, below) in self.all.iter_mut().flatten().zip(below) {
            if *colour == UNPAINTED {
                *colour = *below;
            } else {
                *below = UNPAINTED;
            }
        }
    }

    /// Fills the unpainted cells.
    pub(crate) fn fill(&mut self, colour: i8) {
        let cells = self.all.iter_mut().flatten();
        cells
            .filter(|cell| **cell == UNPAINTED)
            .for_each(|cell| *cell = colour);
    }

    /// The cells of an input as a grid.
    pub(crate) fn grid(&self, input: usize, frame: &Frame) -> Grid {
        let (rows, columns) = frame.sizes[input];
        Grid::from_cells(rows, columns, self.all[input].clone())
    }
}

#[cfg(test)]
mod tests;
