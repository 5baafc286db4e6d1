//! Objects of many shapes, placed so that none touches another, not even at a corner.

use arc_dsl::Grid;

use super::palette::Palette;
use super::random::Random;

/// Which objects are drawn.
///
/// There are certainly as many objects as required colours, if the grid has more than nine cells for each but the
/// first; together their cells are fewer than half of the grid's.
#[derive(Debug, Clone, Copy)]
pub(super) struct Things {
    /// The minimum number, if there is room, and the maximum.
    pub(super) count: (usize, usize),
    /// The minimum and maximum: of the number of cells for an irregular object, of the longest side for any other.
    pub(super) span: (usize, usize),
    pub(super) form: Silhouette,
    /// Whether all must have different numbers of cells.
    pub(super) distinct: bool,
}

/// The shape of objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Silhouette {
    /// Cells connected at their sides.
    Irregular,
    /// The same, each cell in an independent colour.
    Mottled,
    /// Full rectangles.
    Solid,
    /// Outlines of rectangles.
    Hollow,
    /// Vertical or horizontal lines.
    Bars,
    /// Any of those with one colour.
    Mixed,
}

/// Which copies are drawn, at least two of one shape.
#[derive(Debug, Clone, Copy)]
pub(super) enum Copies {
    /// The copies, and one object with another number of cells.
    AndOdd,
    /// The first copy in the required colour, the others in the optional ones.
    Tinted,
}

/// An object being drawn: the indices of its cells in the grid.
struct Thing {
    cells: Vec<usize>,
    form: Silhouette,
}

/// The cells in which objects are placed.
struct Area {
    height: usize,
    width: usize,
    /// The object at each cell.
    owners: Vec<Option<usize>>,
    /// How many more cells may be taken.
    budget: usize,
}

impl Area {
    fn new(height: usize, width: usize) -> Self {
        let area = height * width;
        let budget = area.saturating_sub(1) / 2;
        Self {
            height,
            width,
            owners: vec![None; area],
            budget,
        }
    }

    /// Whether `thing` may take the cell: no other object has it or a neighbour of it.
    fn is_free(&self, place: usize, thing: usize) -> bool {
        let (i, j) = (place / self.width, place % self.width);
        let rows = i.saturating_sub(1)..=(i + 1).min(self.height - 1);
        let columns = j.saturating_sub(1)..=(j + 1).min(self.width - 1);
        rows.flat_map(|i| columns.clone().map(move |j| i * self.width + j))
            .all(|at| self.owners[at].is_none_or(|owner| owner == thing))
    }

    /// Assigns the cells to `thing` if all are free and within the budget; otherwise none.
    fn take(&mut self, places: &[usize], thing: usize) -> bool {
        let fits = places.len() <= self.budget && places.iter().all(|&at| self.is_free(at, thing));
        if fits {
            self.budget -= places.len();
            for &place in places {
                self.owners[place] = Some(thing);
            }
        }
        fits
    }

    /// The neighbour of `place` above, below, left or right, if there is one.
    fn beside(&self, place: usize, direction: usize) -> Option<usize> {
        let (i, j) = (place / self.width, place % self.width);
        match direction {
            0 => i.checked_sub(1).map(|i| i * self.width + j),
            1 => (i + 1 < self.height).then(|| place + self.width),
            2 => j.checked_sub(1).map(|j| i * self.width + j),
            _ => (j + 1 < self.width).then(|| place + 1),
        }
    }

    /// Adds cells one by one next to the object's cells, up to `target`.
    fn spread(&mut self, random: &mut Random, thing: &mut Thing, id: usize, target: usize) {
        for _ in 0..target * 8 {
            if thing.cells.len() >= target {
                return;
            }
            let from = random
                .pick(&thing.cells)
                .and_then(|at| self.beside(at, random.below(4)));
            if let Some(place) = from
                && self.owners[place].is_none()
                && self.take(&[place], id)
            {
                thing.cells.push(place);
            }
        }
    }

    /// Adds rows and columns to a rectangle, up to this many of them.
    fn extend(&mut self, random: &mut Random, thing: &mut Thing, id: usize, sides: (usize, usize)) {
        let (rows, columns) = sides;
        let (mut height, mut width) = (1, 1);
        for _ in 0..(rows + columns) * 4 {
            let direction = random.below(4);
            let upright = direction < 2;
            if if upright {
                height >= rows
            } else {
                width >= columns
            } {
                continue;
            }
            let strip: Option<Vec<usize>> = edge(&thing.cells, self.width, direction)
                .into_iter()
                .map(|place| self.beside(place, direction))
                .collect();
            if let Some(strip) = strip
                && self.take(&strip, id)
            {
                thing.cells.extend(strip);
                if upright { height += 1 } else { width += 1 }
            }
        }
    }
}

/// The cells at the top, bottom, left or right edge of a rectangle.
fn edge(cells: &[usize], width: usize, direction: usize) -> Vec<usize> {
    let along = |place: usize| {
        if direction < 2 {
            place / width
        } else {
            place % width
        }
    };
    let lines = cells.iter().map(|&place| along(place));
    let line = if direction.is_multiple_of(2) {
        lines.min()
    } else {
        lines.max()
    };
    cells
        .iter()
        .copied()
        .filter(|&place| Some(along(place)) == line)
        .collect()
}

/// A grid with objects on it.
pub(super) fn draw(
    random: &mut Random,
    palette: &Palette,
    height: usize,
    width: usize,
    spec: &Things,
) -> Grid {
    let mut room = Area::new(height, width);
    let certain = palette.must.len().max(1);
    let most = if palette.may.is_empty() {
        palette.must.len()
    } else {
        spec.count.1
    };
    let count = random.between(spec.count.0, most).max(certain);
    // Every object gets its first cell before any gets a second one, so that there is room for all.
    let mut things: Vec<Thing> = Vec::new();
    for id in 0..count {
        let free: Vec<usize> = (0..height * width)
            .filter(|&place| room.is_free(place, id))
            .collect();
        let Some(place) = random.pick(&free).filter(|&place| room.take(&[place], id)) else {
            break;
        };
        things.push(Thing {
            cells: vec![place],
            form: form(random, spec.form),
        });
    }
    for (id, thing) in things.iter_mut().enumerate() {
        let (least, most) = spec.span;
        let target = random.between(least, most);
        match thing.form {
            Silhouette::Irregular | Silhouette::Mottled | Silhouette::Mixed => {
                room.spread(random, thing, id, target);
            }
            Silhouette::Bars => {
                let sides = if random.chance(50) {
                    (target, 1)
                } else {
                    (1, target)
                };
                room.extend(random, thing, id, sides);
            }
            Silhouette::Solid | Silhouette::Hollow => {
                let sides = (target, random.between(least, most));
                room.extend(random, thing, id, sides);
            }
        }
        if thing.form == Silhouette::Hollow {
            let edges: Vec<Vec<usize>> = (0..4).map(|d| edge(&thing.cells, width, d)).collect();
            thing
                .cells
                .retain(|place| edges.iter().any(|edge| edge.contains(place)));
        }
    }
    let mut grid = Grid::filled(height, width, palette.ground);
    let mut sizes = Vec::new();
    for (at, thing) in things.iter().enumerate() {
        let colour = palette.ink_of(random, at);
        if spec.distinct && at >= certain && sizes.contains(&thing.cells.len()) {
            continue;
        }
        sizes.push(thing.cells.len());
        for &place in &thing.cells {
            let mottled = thing.form == Silhouette::Mottled;
            grid.cells_mut()[place] = if mottled { palette.ink(random) } else { colour };
        }
    }
    grid
}

fn form(random: &mut Random, form: Silhouette) -> Silhouette {
    let forms = [
        Silhouette::Irregular,
        Silhouette::Solid,
        Silhouette::Hollow,
        Silhouette::Bars,
    ];
    if form == Silhouette::Mixed {
        random.pick(&forms).unwrap_or(form)
    } else {
        form
    }
}

/// A grid with copies of a shape on it, at least 5 x 5.
pub(super) fn copies(
    random: &mut Random,
    palette: &Palette,
    height: usize,
    width: usize,
    spec: Copies,
) -> Grid {
    // Each copy has its own field of two by two or three by three cells, and a gap.
    let field = if height.min(width) >= 7 && random.chance(60) {
        3
    } else {
        2
    };
    let (rows, columns) = ((height + 1) / (field + 1), (width + 1) / (field + 1));
    let (spare_rows, spare_columns) = (
        (height + 1) - rows * (field + 1),
        (width + 1) - columns * (field + 1),
    );
    let (top, left) = (
        random.between(0, spare_rows),
        random.between(0, spare_columns),
    );
    let mut fields: Vec<usize> = (0..rows * columns).collect();
    random.shuffle(&mut fields);

    // Few enough cells that two copies and the odd one leave most cells to the background.
    let largest = 2 * field - 1;
    let common = random.between(2, largest);
    let odd = random.between(1, largest - 1);
    let odd = if odd < common { odd } else { odd + 1 };
    let budget = (height * width - 1) / 2;
    let most = (budget.saturating_sub(odd) / common)
        .min(fields.len() - 1)
        .min(8);
    let count = random.between(2, most);
    let pattern = blob(random, field, common);
    let stranger = blob(random, field, odd);

    let mut grid = Grid::filled(height, width, palette.ground);
    for (at, &place) in fields.iter().take(count + 1).enumerate() {
        let (cells, colour) = match spec {
            Copies::AndOdd if at == count => (&stranger, palette.ink(random)),
            Copies::AndOdd => (&pattern, palette.ink(random)),
            Copies::Tinted if at == count => break,
            Copies::Tinted => (&pattern, palette.ink_of(random, at)),
        };
        let (i, j) = (
            place / columns * (field + 1) + top,
            place % columns * (field + 1) + left,
        );
        for &cell in cells {
            grid.cells_mut()[(i + cell / field) * width + j + cell % field] = colour;
        }
    }
    grid
}

/// The cells of a connected shape in a field of `side` x `side`, moved up and left as far as possible.
fn blob(random: &mut Random, side: usize, cells: usize) -> Vec<usize> {
    let mut room = Area::new(side, side);
    room.budget = side * side;
    let start = random.below(side * side);
    room.take(&[start], 0);
    let mut thing = Thing {
        cells: vec![start],
        form: Silhouette::Irregular,
    };
    // This terminates: as long as the field is not full, there is a free cell next to the shape.
    while thing.cells.len() < cells {
        room.spread(random, &mut thing, 0, cells);
    }
    let top = thing
        .cells
        .iter()
        .map(|cell| cell / side)
        .min()
        .unwrap_or(0);
    let left = thing
        .cells
        .iter()
        .map(|cell| cell % side)
        .min()
        .unwrap_or(0);
    thing
        .cells
        .iter()
        .map(|cell| cell - top * side - left)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::scenes::Scene;
    use super::super::table::TABLE;
    use super::*;
    use arc_dsl::{Interpreter, Primitive, Value};

    /// The sizes of the objects, in one colour or several, connected at corners or not.
    fn sizes(grid: &Grid, univalued: bool, diagonal: bool) -> Vec<usize> {
        let flags = [univalued, diagonal, true].map(Value::Bool);
        let grid = Value::from(grid.clone());
        let interpreter = Interpreter::default();
        let arguments = [&grid, &flags[0], &flags[1], &flags[2]];
        let objects = interpreter
            .call(Value::primitive(Primitive::Objects), &arguments)
            .unwrap();
        let objects = objects.as_container().unwrap();
        let mut sizes: Vec<_> = objects
            .iter()
            .map(|object| object.as_container().unwrap().len())
            .collect();
        sizes.sort_unstable();
        sizes
    }

    #[test]
    fn objects_do_not_touch_and_are_of_the_size_and_number_asked_for() {
        for row in TABLE {
            let Scene::Things(spec) = row.recipe.scene else {
                continue;
            };
            for at in 0..60 {
                let mut random = Random::new(row.id, 6, at);
                let grid = row.recipe.draw(&mut random, at as usize / 2 + 1);
                let sizes = sizes(&grid, false, true);
                // An object in one colour or several, connected at sides or at corners: the same objects.
                if spec.form != Silhouette::Mottled {
                    assert_eq!(sizes, self::sizes(&grid, true, false), "{} {grid}", row.id);
                }
                // A grid of one or two cells has no room for an object on a background.
                let certain = row
                    .recipe
                    .colours
                    .must
                    .len()
                    .max(usize::from(grid.cells().len() > 2));
                assert!(
                    (certain..=spec.count.1).contains(&sizes.len()),
                    "{} {grid}",
                    row.id
                );
                if spec.form == Silhouette::Irregular {
                    assert!(
                        sizes.iter().all(|&size| size <= spec.span.1),
                        "{} {grid}",
                        row.id
                    );
                }
                if spec.distinct {
                    assert!(sizes.is_sorted_by(|a, b| a < b), "{} {grid}", row.id);
                }
                for colour in row.recipe.colours.must {
                    let missing = !grid.cells().contains(colour);
                    assert!(
                        spec.form == Silhouette::Mottled || !missing,
                        "{} {grid}",
                        row.id
                    );
                }
            }
        }
    }

    #[test]
    fn copies_have_one_form_but_the_odd_one() {
        for row in TABLE {
            let Scene::Copies(spec) = row.recipe.scene else {
                continue;
            };
            for at in 0..60 {
                let mut random = Random::new(row.id, 6, at);
                let grid = row.recipe.draw(&mut random, at as usize / 2 + 1);
                let mut sizes = sizes(&grid, false, true);
                if matches!(spec, Copies::AndOdd) {
                    let twice = |size: &usize| sizes.iter().filter(|&s| s == size).count() > 1;
                    let odd = sizes.iter().position(|size| !twice(size));
                    sizes.remove(odd.unwrap());
                }
                assert!(sizes.len() >= 2, "{grid}");
                assert_eq!(sizes.first(), sizes.last(), "{grid}");
            }
        }
    }
}
