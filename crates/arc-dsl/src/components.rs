//! [`Components`]: which cells of a grid belong to the same object.

use crate::grid::Grid;

/// The connected components of a grid.
pub(crate) struct Components {
    /// The runs of cells in reading order, each with the number of its component.
    pub(crate) runs: Vec<(Run, u32)>,
    /// How many cells each component has.
    pub(crate) sizes: Vec<u32>,
}

impl Components {
    /// Those of cells that are not background, of one colour each if `univalued`; across corners if `diagonal`.
    pub(crate) fn of(grid: &Grid, univalued: bool, diagonal: bool, background: Option<i8>) -> Self {
        let reach = u32::from(diagonal);
        let mut all = if univalued {
            Runs::of(grid, reach, background, |a, b| a == b)
        } else {
            Runs::of(grid, reach, background, |_, _| true)
        };
        let mut sizes: Vec<u32> = Vec::new();
        let mut numbers = vec![0; all.runs.len()];
        for run in 0..all.runs.len() {
            let root = all.root(run);
            if root == run {
                numbers[run] = sizes.len() as u32;
                sizes.push(0);
            } else {
                numbers[run] = numbers[root];
            }
            sizes[numbers[run] as usize] += all.runs[run].end - all.runs[run].start + 1;
        }
        let runs = all.runs.into_iter().zip(numbers).collect();
        Self { runs, sizes }
    }
}

/// Horizontal runs of cells, and which runs belong to the same object.
///
/// Runs of adjacent rows that touch are united; the first of the united runs represents the object: the run-based
/// labelling of He, Chao and Suzuki, "A run-based two-scan labeling algorithm", 2008.
struct Runs {
    runs: Vec<Run>,
    /// An earlier run of the same object, or the run itself.
    parent: Vec<u32>,
}

/// Cells of one row that belong together.
#[derive(Clone, Copy)]
pub(crate) struct Run {
    pub(crate) row: u32,
    /// The first column and the last.
    pub(crate) start: u32,
    pub(crate) end: u32,
}

impl Runs {
    /// The runs of all cells that are not background, united where cells that are `joined` touch.
    /// Cells touch across rows when their columns are at most `reach` apart.
    fn of(
        grid: &Grid,
        reach: u32,
        background: Option<i8>,
        joined: impl Fn(i8, i8) -> bool,
    ) -> Self {
        let mut all = Self {
            runs: Vec::with_capacity(4 * grid.height()),
            parent: Vec::with_capacity(4 * grid.height()),
        };
        let mut above = 0..0;
        for (row, colours) in grid.rows().enumerate() {
            let first = all.runs.len();
            let mut start = 0;
            let is_cell = |colour: i8| Some(colour) != background;
            for run in colours.chunk_by(|&a, &b| is_cell(a) == is_cell(b) && joined(a, b)) {
                let next = start + run.len() as u32;
                if is_cell(run[0]) {
                    all.parent.push(all.runs.len() as u32);
                    all.runs.push(Run {
                        row: row as u32,
                        start,
                        end: next - 1,
                    });
                }
                start = next;
            }
            // The runs of both rows are ordered from left to right, so one sweep finds all that touch.
            let mut passed = above.start;
            for run in first..all.runs.len() {
                let Run { start, end, .. } = all.runs[run];
                while passed < above.end && all.runs[passed].end + reach < start {
                    passed += 1;
                }
                for other in passed..above.end {
                    let upper = all.runs[other];
                    if upper.start > end + reach {
                        break;
                    }
                    let colour = grid.at(upper.row as usize, upper.start as usize);
                    if joined(colours[start as usize], colour) {
                        all.unite(run, other);
                    }
                }
            }
            above = first..all.runs.len();
        }
        all
    }

    /// The run that represents the object of `run`.
    fn root(&mut self, mut run: usize) -> usize {
        while self.parent[run] as usize != run {
            let next = self.parent[run] as usize;
            self.parent[run] = self.parent[next];
            run = next;
        }
        run
    }

    fn unite(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a.max(b)] = a.min(b) as u32;
    }
}
