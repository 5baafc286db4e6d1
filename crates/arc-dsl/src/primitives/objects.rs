//! Objects and patterns found on grids.

use super::colours::background;
use super::extents::Bounds;
use crate::error::ErrorKind;
use crate::grid::Grid;
use crate::interpreter::Context;
use crate::patch::{Cell, Indices, Loc, Object};
use crate::value::Value;

pub(super) fn objects(
    grid: &Grid,
    univalued: bool,
    diagonal: bool,
    without_bg: bool,
) -> Result<Value, ErrorKind> {
    let background = if without_bg {
        Some(background(grid)?)
    } else {
        None
    };
    grid.require_row()?;
    let joined = |a: i8, b: i8| !univalued || a == b;
    Ok(Labels::of(grid, diagonal, background, joined).into_objects(grid))
}

/// Which object each cell of a grid belongs to.
///
/// Labels are given in reading order, each cell taking that of an earlier neighbour that it joins;
/// where two labels meet they are united: the two-pass labelling of Rosenfeld and Pfaltz,
/// "Sequential operations in digital picture processing", 1966.
struct Labels {
    /// A cell's label, 0 for none.
    label: Vec<u32>,
    /// A smaller label that means the same object, or the label itself.
    parent: Vec<u32>,
    /// How many cells were given the label.
    cells: Vec<u32>,
}

impl Labels {
    fn of(
        grid: &Grid,
        diagonal: bool,
        background: Option<i8>,
        joined: impl Fn(i8, i8) -> bool,
    ) -> Self {
        let (colours, width) = (grid.cells(), grid.width());
        let mut labels = Self {
            label: vec![0; colours.len()],
            parent: vec![0],
            cells: vec![0],
        };
        let mut at = 0;
        for i in 0..grid.height() {
            for j in 0..width {
                let colour = colours[at];
                if Some(colour) != background {
                    let joins = |before: usize| joined(colour, colours[before]);
                    let mut own = 0;
                    if j > 0 && joins(at - 1) {
                        own = labels.unite(own, at - 1);
                    }
                    if i > 0 {
                        if joins(at - width) {
                            own = labels.unite(own, at - width);
                        }
                        if diagonal && j > 0 && joins(at - width - 1) {
                            own = labels.unite(own, at - width - 1);
                        }
                        if diagonal && j + 1 < width && joins(at - width + 1) {
                            own = labels.unite(own, at - width + 1);
                        }
                    }
                    if own == 0 {
                        own = labels.parent.len() as u32;
                        labels.parent.push(own);
                        labels.cells.push(0);
                    }
                    labels.label[at] = own;
                    labels.cells[own as usize] += 1;
                }
                at += 1;
            }
        }
        labels
    }

    /// The label that stands for the object of `label`.
    fn root(&mut self, mut label: u32) -> u32 {
        while self.parent[label as usize] != label {
            let next = self.parent[label as usize];
            self.parent[label as usize] = self.parent[next as usize];
            label = next;
        }
        label
    }

    /// The label of the object that holds both `own` and the cell at `before`; 0 for neither.
    fn unite(&mut self, own: u32, before: usize) -> u32 {
        let other = self.label[before];
        if other == 0 || own == other {
            return own;
        }
        let other = self.root(other);
        if own == 0 {
            return other;
        }
        let own = self.root(own);
        let (small, large) = (own.min(other), own.max(other));
        self.parent[large as usize] = small;
        small
    }

    fn into_objects(mut self, grid: &Grid) -> Value {
        // Number the objects in the order of their first cells, and count their cells.
        let mut sizes: Vec<u32> = Vec::new();
        let mut numbers = vec![0; self.parent.len()];
        for label in 1..self.parent.len() {
            let root = self.root(label as u32) as usize;
            if root == label {
                numbers[label] = sizes.len();
                sizes.push(0);
            } else {
                numbers[label] = numbers[root];
            }
            sizes[numbers[label]] += self.cells[label];
        }
        let mut objects: Vec<_> = sizes
            .into_iter()
            .map(|size| Vec::with_capacity(size as usize))
            .collect();
        let mut labels = self.label.iter();
        for (i, row) in grid.rows().enumerate() {
            for (j, (&colour, &label)) in row.iter().zip(labels.by_ref()).enumerate() {
                if label != 0 {
                    let loc = Loc::new(i as i32, j as i32);
                    objects[numbers[label as usize]].push(Cell::new(i32::from(colour), loc));
                }
            }
        }
        disjoint(objects.into_iter().map(Object::new).collect())
    }
}

/// The set of objects that share no cell, each with a cell at least. Their first cells tell their
/// order, which comparing them cell by cell would only find more slowly.
fn disjoint(mut objects: Vec<Object>) -> Value {
    objects.sort_unstable_by_key(|object| object.as_slice()[0]);
    Value::set_ascending(objects.into_iter().map(Value::from).collect())
}

pub(super) fn partition(grid: &Grid) -> Value {
    by_colour(grid, None)
}

pub(super) fn fgpartition(grid: &Grid) -> Result<Value, ErrorKind> {
    Ok(by_colour(grid, Some(background(grid)?)))
}

/// One object a colour, but for `without`.
fn by_colour(grid: &Grid, without: Option<i8>) -> Value {
    let cells: Object = grid
        .enumerate()
        .filter(|&(_, colour)| Some(colour) != without)
        .map(|(loc, colour)| Cell::new(i32::from(colour), loc))
        .collect();
    let runs = cells.as_slice().chunk_by(|a, b| a.colour == b.colour);
    disjoint(runs.map(|run| Object::from_sorted(run.to_vec())).collect())
}

pub(super) fn occurrences(
    cx: &mut Context<'_>,
    grid: &Grid,
    obj: &[Cell],
) -> Result<Indices, ErrorKind> {
    grid.require_row()?;
    let (grid_height, grid_width) = (grid.height() as i64, grid.width() as i64);
    let bounds = Bounds::of(obj.iter().map(|cell| cell.loc)).ok();
    // An object without cells occurs everywhere, one past the last row and column included.
    let (height, width) = bounds.map_or((0, 0), |b| (i64::from(b.height()), i64::from(b.width())));
    let start = bounds.map_or(Loc::default(), Bounds::start);
    if height > grid_height || width > grid_width {
        return Ok(Indices::default());
    }
    let pattern: Vec<(usize, i32)> = obj
        .iter()
        .map(|cell| {
            let (i, j) = (
                (cell.loc.i - start.i) as usize,
                (cell.loc.j - start.j) as usize,
            );
            (i * grid.width() + j, cell.colour)
        })
        .collect();
    let mut found = Vec::new();
    for i in 0..=grid_height - height {
        for j in 0..=grid_width - width {
            let base = i as usize * grid.width() + j as usize;
            let agreeing = pattern
                .iter()
                .take_while(|&&(offset, colour)| i32::from(grid.cells()[base + offset]) == colour)
                .count();
            cx.work(agreeing as u64 + 1)?;
            if agreeing == pattern.len() {
                found.push(Loc::new(i as i32, j as i32));
            }
        }
    }
    Ok(Indices::from_sorted(found))
}

/// The rows and the columns of one colour.
fn uniform_lines(grid: &Grid) -> (Vec<usize>, Vec<usize>) {
    let (height, width) = (grid.height(), grid.width());
    if grid.cells().is_empty() {
        return (Vec::new(), Vec::new());
    }
    let row = |&i: &usize| grid.row(i).iter().all(|&colour| colour == grid.at(i, 0));
    let column = |&j: &usize| (0..height).all(|i| grid.at(i, j) == grid.at(0, j));
    (
        (0..height).filter(row).collect(),
        (0..width).filter(column).collect(),
    )
}

pub(super) fn frontiers(grid: &Grid) -> Result<Value, ErrorKind> {
    grid.require_row()?;
    let (rows, columns) = uniform_lines(grid);
    let cell =
        |i: usize, j: usize| Cell::new(i32::from(grid.at(i, j)), Loc::new(i as i32, j as i32));
    let rows = rows
        .into_iter()
        .map(|i| (0..grid.width()).map(|j| cell(i, j)).collect::<Object>());
    let columns = columns
        .into_iter()
        .map(|j| (0..grid.height()).map(|i| cell(i, j)).collect::<Object>());
    Ok(Value::set(rows.chain(columns).map(Value::from)))
}

pub(super) fn compress(grid: &Grid) -> Grid {
    let (rows, columns) = uniform_lines(grid);
    let kept_rows: Vec<_> = (0..grid.height()).filter(|i| !rows.contains(i)).collect();
    let kept_columns: Vec<_> = (0..grid.width()).filter(|j| !columns.contains(j)).collect();
    let cells = kept_rows
        .iter()
        .flat_map(|&i| kept_columns.iter().map(move |&j| grid.at(i, j)));
    Grid::from_cells(kept_rows.len(), kept_columns.len(), cells.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Interpreter, Primitive};

    fn grid(rows: &[&[i32]]) -> Grid {
        Grid::from_rows(rows).unwrap()
    }

    fn count(grid: &Grid, univalued: bool, diagonal: bool, without_bg: bool) -> usize {
        let found = objects(grid, univalued, diagonal, without_bg).unwrap();
        found.as_container().unwrap().len()
    }

    #[test]
    fn the_eight_forms_of_objects() {
        let start = grid(&[&[1, 0, 0, 2], &[0, 1, 0, 2], &[0, 0, 0, 3]]);
        assert_eq!(count(&start, true, false, true), 4);
        assert_eq!(count(&start, true, true, true), 3);
        assert_eq!(count(&start, false, true, true), 2);
        assert_eq!(count(&start, false, false, true), 3);
        // With the background, which is one piece either way.
        assert_eq!(count(&start, true, false, false), 5);
        assert_eq!(count(&start, true, true, false), 4);
        assert_eq!(count(&start, false, false, false), 1);
        assert_eq!(count(&start, false, true, false), 1);
    }

    #[test]
    fn objects_of_nothing() {
        assert_eq!(
            objects(&Grid::default(), true, true, false),
            Err(ErrorKind::Empty)
        );
        assert_eq!(
            objects(&Grid::filled(2, 0, 0), true, true, false),
            Ok(Value::empty_set())
        );
        assert_eq!(
            objects(&Grid::filled(2, 2, 4), true, true, true),
            Ok(Value::empty_set())
        );
    }

    #[test]
    fn partitions_are_one_object_a_colour() {
        let start = grid(&[&[1, 2], &[1, 1]]);
        assert_eq!(
            fgpartition(&start).unwrap().to_string(),
            "frozenset({frozenset({(2, (0, 1))})})"
        );
        assert_eq!(partition(&start).as_container().unwrap().len(), 2);
    }

    #[test]
    fn patterns_occur_where_every_cell_agrees() {
        let start: Value = grid(&[&[1, 2, 1, 2], &[0, 1, 2, 0]]).into();
        let occurrences = |object: Object| {
            let found = Interpreter::default()
                .call(Primitive::occurrences.value(), &[&start, &object.into()]);
            found.unwrap().to_string()
        };
        let pair = Object::new(vec![
            Cell::new(1, Loc::new(5, 5)),
            Cell::new(2, Loc::new(5, 6)),
        ]);
        assert_eq!(occurrences(pair), "frozenset({(0, 0), (0, 2), (1, 1)})");
        let wide: Object = (0..5).map(|j| Cell::new(1, Loc::new(0, j))).collect();
        assert_eq!(occurrences(wide), "frozenset()");
        assert_eq!(
            occurrences(Object::default()).matches("), (").count(),
            3 * 5 - 1
        );
    }

    #[test]
    fn frontiers_are_lines_of_one_colour() {
        let start = grid(&[&[1, 5, 2], &[5, 5, 5], &[3, 5, 4]]);
        assert_eq!(frontiers(&start).unwrap().as_container().unwrap().len(), 2);
        assert_eq!(compress(&start), grid(&[&[1, 2], &[3, 4]]));
        assert_eq!(compress(&Grid::filled(2, 2, 1)), Grid::default());
    }
}
