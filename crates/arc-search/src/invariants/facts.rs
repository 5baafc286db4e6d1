//! [`PairFacts`]: the facts about an input and its output that properties use.

use arc_dsl::Grid;
use rustc_hash::FxHashSet;

use crate::colours::COLOURS;

/// The number of symmetries of a grid: mirrored by rows, by columns, at either diagonal, and half a turn.
pub(super) const SYMMETRIES: usize = 5;

/// The kinds of components: whether all cells are of one colour, and whether diagonal neighbours are connected. Cells of
/// colour 0 belong to none.
pub(super) const CONNECTIVITIES: [(bool, bool); 3] = [(true, true), (true, false), (false, true)];

/// A bit for each pair of colours.
pub(super) type ColourPairs = u128;

pub(super) fn colour_pair(from: usize, to: usize) -> ColourPairs {
    1 << (from * COLOURS + to)
}

/// The facts about one grid that properties use.
pub(super) struct Facts<'g> {
    pub(super) grid: &'g Grid,
    pub(super) counts: [u32; COLOURS],
    pub(super) symmetries: [bool; SYMMETRIES],
    pub(super) components: [u32; CONNECTIVITIES.len()],
    /// The numbers of distinct rows and columns.
    pub(super) lines: [usize; 2],
    /// For each side whether a cell other than 0 touches it.
    pub(super) touched: [bool; 4],
}

fn index(colour: i8) -> usize {
    // An answer has only colours; the index of anything else merely has to be in bounds.
    usize::try_from(colour).unwrap_or(0).min(COLOURS - 1)
}

impl<'g> Facts<'g> {
    fn of(grid: &'g Grid) -> Self {
        let (rows, columns) = (grid.height(), grid.width());
        let cells = grid.cells();
        let at = |row: usize, column: usize| cells[row * columns + column];
        let mut counts = [0; COLOURS];
        for colour in cells {
            counts[index(*colour)] += 1;
        }
        let is_same = |to: &dyn Fn(usize, usize) -> (usize, usize)| {
            (0..rows).all(|row| {
                (0..columns).all(|column| {
                    let (other_row, other_column) = to(row, column);
                    at(row, column) == at(other_row, other_column)
                })
            })
        };
        let is_square = rows == columns;
        let by_row: FxHashSet<&[i8]> = cells.chunks(columns.max(1)).collect();
        let by_column = (0..columns).map(|column| (0..rows).map(|row| at(row, column)).collect());
        let by_column: FxHashSet<Vec<i8>> = by_column.collect();
        let is_set = |cell: &i8| *cell != 0;
        // From the first and from the last cell: a row, then a cell of each row.
        let touched = [
            cells.iter().take(columns).any(is_set),
            cells.iter().rev().take(columns).any(is_set),
            cells.iter().step_by(columns.max(1)).any(is_set),
            cells.iter().rev().step_by(columns.max(1)).any(is_set),
        ];
        Self {
            grid,
            counts,
            symmetries: [
                is_same(&|row, column| (rows - 1 - row, column)),
                is_same(&|row, column| (row, columns - 1 - column)),
                is_square && is_same(&|row, column| (column, row)),
                is_square && is_same(&|row, column| (columns - 1 - column, rows - 1 - row)),
                is_same(&|row, column| (rows - 1 - row, columns - 1 - column)),
            ],
            components: CONNECTIVITIES.map(|connectivity| components(grid, connectivity)),
            lines: [by_row.len(), by_column.len()],
            touched,
        }
    }

    pub(super) fn colours(&self) -> u64 {
        let has = self
            .counts
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0);
        has.fold(0, |all, (colour, _)| all | 1 << colour)
    }
}

/// The number of components of a grid.
fn components(grid: &Grid, (of_one_colour, diagonals): (bool, bool)) -> u32 {
    let (rows, columns) = (grid.height(), grid.width());
    let cells = grid.cells();
    let mut open: Vec<bool> = cells.iter().map(|colour| *colour != 0).collect();
    let (mut count, mut pending) = (0, Vec::new());
    for first in 0..cells.len() {
        if !open[first] {
            continue;
        }
        count += 1;
        open[first] = false;
        pending.push(first);
        while let Some(cell) = pending.pop() {
            let (row, column) = (cell / columns, cell % columns);
            for near_row in row.saturating_sub(1)..(row + 2).min(rows) {
                for near_column in column.saturating_sub(1)..(column + 2).min(columns) {
                    let near = near_row * columns + near_column;
                    let is_beside = near_row == row || near_column == column;
                    if open[near]
                        && (is_beside || diagonals)
                        && (cells[near] == cells[cell] || !of_one_colour)
                    {
                        open[near] = false;
                        pending.push(near);
                    }
                }
            }
        }
    }
    count
}

/// Whether a grid lies somewhere in another one.
pub(super) fn is_within(small: &Grid, large: &Grid) -> bool {
    let (rows, columns) = (small.height(), small.width());
    if rows > large.height() || columns > large.width() {
        return false;
    }
    let row_at = |row: usize, column: usize| &large.cells()[row * large.width() + column..];
    (0..=large.height() - rows).any(|top| {
        (0..=large.width() - columns).any(|left| {
            let small_rows = small.cells().chunks(columns.max(1)).enumerate();
            small_rows
                .into_iter()
                .all(|(row, cells)| row_at(top + row, left).starts_with(cells))
        })
    })
}

/// An input, its output, and the changes if both have the same size.
pub(super) struct PairFacts<'g> {
    pub(super) input: Facts<'g>,
    pub(super) output: Facts<'g>,
    pub(super) changes: Option<Changes>,
}

/// The changes of cells.
pub(super) struct Changes {
    /// By colour of the input and of the output.
    pub(super) counts: [[u32; COLOURS]; COLOURS],
}

impl Changes {
    /// The pairs of colours that occur, with or without those that stay the same.
    pub(super) fn pairs(&self, with_same: bool) -> ColourPairs {
        let all = (0..COLOURS).flat_map(|from| (0..COLOURS).map(move |to| (from, to)));
        let seen = all.filter(|(from, to)| self.counts[*from][*to] > 0);
        seen.filter(|(from, to)| with_same || from != to)
            .fold(0, |all, (from, to)| all | colour_pair(from, to))
    }

    /// How many cells of a colour change, and how many stay.
    pub(super) fn of_input(&self, colour: usize) -> (u32, u32) {
        let (all, same) = (
            self.counts[colour].iter().sum::<u32>(),
            self.counts[colour][colour],
        );
        (all - same, same)
    }

    /// How many cells change to a colour.
    pub(super) fn to_output(&self, colour: usize) -> u32 {
        let others = (0..COLOURS).filter(|from| *from != colour);
        others.map(|from| self.counts[from][colour]).sum()
    }
}

impl<'g> PairFacts<'g> {
    pub(super) fn of(input: &'g Grid, output: &'g Grid) -> Self {
        let is_same_size = (input.height(), input.width()) == (output.height(), output.width());
        let changes = is_same_size.then(|| {
            let mut counts = [[0; COLOURS]; COLOURS];
            for (from, to) in input.cells().iter().zip(output.cells()) {
                counts[index(*from)][index(*to)] += 1;
            }
            Changes { counts }
        });
        Self {
            input: Facts::of(input),
            output: Facts::of(output),
            changes,
        }
    }
}
