//! Bitmaps of locations and cells that lie close together, as they do on and around a grid, to sort them; and bits that have
//! numbers.

use crate::patch::{Cell, Loc};

/// All items in ascending order, without repetitions.
///
/// If they lie close together, as they do on and around a grid, they are sorted with bitmaps, one per colour: the time
/// is linear in the number of items and the size of the bitmaps.
pub(super) fn by_bitmap<T: Ord + Copy>(
    parts: &[&[T]],
    colours: usize,
    to_cell: impl Fn(&T) -> Cell,
    from_cell: impl Fn(Cell) -> T,
) -> Vec<T> {
    const FEW: usize = 24;
    let count = parts.iter().map(|part| part.len()).sum();
    let cells = || parts.iter().flat_map(|part| part.iter().map(&to_cell));
    if count >= FEW
        && let Some(bitmaps) = Bitmaps::around(cells(), colours, count)
    {
        let words = bitmaps.marked(cells());
        let marked: u32 = words.iter().map(|word| word.count_ones()).sum();
        let mut items = Vec::with_capacity(marked as usize);
        bitmaps.each_marked(&words, |cell| items.push(from_cell(cell)));
        return items;
    }
    let mut items = parts.concat();
    items.sort_unstable();
    items.dedup();
    items
}

/// The layout of bitmaps over a box of locations, one bitmap for each colour from 0 on.
#[derive(Clone, Copy)]
struct Bitmaps {
    top: i32,
    left: i32,
    rows: usize,
    /// Number of 64-column words per row.
    stride: usize,
    colours: usize,
}

impl Bitmaps {
    /// A layout that holds these cells; `None` if it would be much larger than `count` cells.
    fn around(cells: impl Iterator<Item = Cell>, most: usize, count: usize) -> Option<Self> {
        let (mut low, mut high) = (
            Cell::new(i32::MAX, Loc::new(i32::MAX, i32::MAX)),
            Cell::default(),
        );
        high.loc = Loc::new(i32::MIN, i32::MIN);
        // A `for` would ask after each cell whether another part of them follows.
        cells.for_each(|Cell { colour, loc }| {
            low = Cell::new(
                low.colour.min(colour),
                Loc::new(low.loc.i.min(loc.i), low.loc.j.min(loc.j)),
            );
            high = Cell::new(
                high.colour.max(colour),
                Loc::new(high.loc.i.max(loc.i), high.loc.j.max(loc.j)),
            );
        });
        let extent =
            |low: i32, high: i32| usize::try_from(i64::from(high) - i64::from(low) + 1).ok();
        let rows = extent(low.loc.i, high.loc.i)?;
        let stride = extent(low.loc.j, high.loc.j)?.div_ceil(64);
        let colours = high.colour as usize + 1;
        let words = rows.checked_mul(stride)?.checked_mul(colours)?;
        let fits = low.colour >= 0 && colours <= most && words <= 2 * count + 64;
        let (top, left) = (low.loc.i, low.loc.j);
        fits.then_some(Self {
            top,
            left,
            rows,
            stride,
            colours,
        })
    }

    fn words(self) -> usize {
        self.colours * self.rows * self.stride
    }

    /// The word and the bit that stand for a cell.
    fn place(self, cell: Cell) -> (usize, usize) {
        let (i, j) = (
            (cell.loc.i - self.top) as usize,
            (cell.loc.j - self.left) as usize,
        );
        (
            (cell.colour as usize * self.rows + i) * self.stride + j / 64,
            j % 64,
        )
    }

    /// The words, in which the bits of these cells are set.
    fn marked(self, cells: impl Iterator<Item = Cell>) -> Vec<u64> {
        let mut words = vec![0; self.words()];
        cells.for_each(|cell| {
            let (word, bit) = self.place(cell);
            words[word] |= 1 << bit;
        });
        words
    }

    /// Passes the cells whose bits are set to `visit`, in ascending order.
    fn each_marked(self, words: &[u64], mut visit: impl FnMut(Cell)) {
        let mut words = words.iter();
        for colour in 0..self.colours as i32 {
            for i in self.top..self.top + self.rows as i32 {
                for (block, &word) in (0..).zip(words.by_ref().take(self.stride)) {
                    let (start, mut marks) = (self.left + 64 * block, word);
                    while marks != 0 {
                        let j = start + marks.trailing_zeros() as i32;
                        visit(Cell::new(colour, Loc::new(i, j)));
                        marks &= marks - 1;
                    }
                }
            }
        }
    }
}

/// Bits, of which each that is set has a number: for each word the number of those before it is known (rank of a bit
/// vector: Jacobson, "Space-efficient static trees and graphs", FOCS 1989).
#[derive(Debug)]
pub(super) struct RankedBits(Vec<(u64, u32)>);

impl RankedBits {
    pub(super) fn of(words: impl IntoIterator<Item = u64>) -> Self {
        let mut before = 0;
        let ranked = words.into_iter().map(|word| {
            let rank = before;
            before += word.count_ones();
            (word, rank)
        });
        Self(ranked.collect())
    }

    /// The number of a bit of a word, if it is set.
    pub(super) fn number(&self, word: usize, bit: usize) -> Option<u32> {
        let (word, before) = self.0[word];
        let bit = 1 << bit;
        (word & bit != 0).then(|| before + (word & (bit - 1)).count_ones())
    }
}
