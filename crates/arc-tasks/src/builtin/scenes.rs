//! [`Recipe`]: how the inputs of a built-in program are drawn.
//!
//! A recipe determines the size of a grid, its colours and the kind of [`Scene`] that it shows. The same random numbers
//! always give the same grid. The grids have the properties that the programs of the table rely on (there is an object,
//! the background is the most common colour).

use arc_dsl::Grid;

use super::palette::{ANY, Colours, Palette};
use super::random::Random;
use super::things::{self, Copies, Things};

/// How a program's inputs are drawn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Recipe {
    pub(super) sides: Sides,
    pub(super) colours: Colours,
    pub(super) scene: Scene,
}

/// How many rows and columns an input has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sides {
    pub(super) min: usize,
    /// The largest side for which the output is not too large.
    pub(super) max: usize,
    /// Sides are multiples of this.
    pub(super) step: usize,
    /// Whether there are as many rows as columns.
    pub(super) square: bool,
}

/// What an input shows.
#[derive(Debug, Clone, Copy)]
pub(super) enum Scene {
    /// Every cell in an independent colour.
    Noise,
    /// Single cells, which may touch, on a percentage of the background between these two, less than half of it.
    Dots(usize, usize),
    /// Objects that do not touch.
    Things(Things),
    /// Objects and a line of the given colour along one edge.
    Wall(i8, Things),
    /// One shape several times, with an odd one out in shape or colour.
    Copies(Copies),
    /// A pattern that repeats: tiles of at most this many rows and columns, possibly damaged by black cells.
    Tiles {
        /// The side of the tile if it is fixed, otherwise 1 to 5 for each side.
        side: Option<usize>,
        damaged: bool,
    },
    /// A pattern symmetric from left to right, damaged by black cells.
    Mirror,
    /// Rooms in one colour each, or in several, between lines in one colour.
    Lattice,
    /// Two halves separated by a vertical line of colour 5: colour 1 in the left half, 2 in the right half.
    Halves,
    /// Concentric rings in different colours.
    Rings,
}

impl Recipe {
    /// The input drawn from these random numbers; `max_side` is raised to the smallest side if it is below that.
    pub(super) fn draw(&self, random: &mut Random, max_side: usize) -> Grid {
        let Sides {
            min,
            max,
            step,
            square,
        } = self.sides;
        let (least, most) = (min / step, max_side.clamp(min, max) / step);
        let height = random.between(least, most) * step;
        let width = if square {
            height
        } else {
            random.between(least, most) * step
        };
        let palette = Palette::draw(random, self.colours);
        match self.scene {
            Scene::Noise => noise(random, &palette, height, width),
            Scene::Dots(low, high) => dots(random, &palette, height, width, (low, high)),
            Scene::Things(spec) => things::draw(random, &palette, height, width, &spec),
            Scene::Wall(colour, spec) => wall(random, &palette, height, width, colour, &spec),
            Scene::Copies(spec) => things::copies(random, &palette, height, width, spec),
            Scene::Tiles { side, damaged } => tiles(random, &palette, height, width, side, damaged),
            Scene::Mirror => mirror(random, &palette, height, width),
            Scene::Lattice => lattice(random, &palette, height, width),
            Scene::Halves => halves(random, height, width),
            Scene::Rings => rings(random, height, width),
        }
    }
}

/// The grid whose cells are `colour(row, column)`, called row by row.
fn paint(height: usize, width: usize, mut colour: impl FnMut(usize, usize) -> i8) -> Grid {
    let cells = (0..height * width)
        .map(|at| colour(at / width, at % width))
        .collect();
    Grid::from_cells(height, width, cells)
}

/// Every cell in one of these colours, with equal probability.
fn speckle(random: &mut Random, colours: &[i8], height: usize, width: usize) -> Grid {
    paint(height, width, |_, _| random.pick(colours).unwrap_or(0))
}

fn noise(random: &mut Random, palette: &Palette, height: usize, width: usize) -> Grid {
    let mut colours = vec![palette.ground];
    colours.extend(palette.must);
    colours.extend(&palette.may);
    speckle(random, &colours, height, width)
}

fn dots(
    random: &mut Random,
    palette: &Palette,
    height: usize,
    width: usize,
    (low, high): (usize, usize),
) -> Grid {
    let mut places: Vec<usize> = (0..height * width).collect();
    random.shuffle(&mut places);
    let wanted = (places.len() * random.between(low, high) / 100)
        .max(palette.must.len())
        .max(1);
    places.truncate(wanted.min(places.len().saturating_sub(1) / 2));
    let mut grid = Grid::filled(height, width, palette.ground);
    for (at, &place) in places.iter().enumerate() {
        grid.cells_mut()[place] = palette.ink_of(random, at);
    }
    grid
}

fn wall(
    random: &mut Random,
    palette: &Palette,
    height: usize,
    width: usize,
    colour: i8,
    spec: &Things,
) -> Grid {
    let (upright, at_end) = (random.chance(50), random.chance(50));
    let (rows, columns) = (usize::from(!upright), usize::from(upright));
    let inner = things::draw(random, palette, height - rows, width - columns, spec);
    // Where the inner grid begins: after the wall, unless the wall is at the end.
    let (top, left) = if at_end { (0, 0) } else { (rows, columns) };
    paint(height, width, |i, j| {
        let (i, j) = (i.wrapping_sub(top), j.wrapping_sub(left));
        if i < inner.height() && j < inner.width() {
            inner.at(i, j)
        } else {
            colour
        }
    })
}

fn tiles(
    random: &mut Random,
    palette: &Palette,
    height: usize,
    width: usize,
    side: Option<usize>,
    damaged: bool,
) -> Grid {
    let (rows, columns) = match side {
        Some(side) => (side, side),
        None => (
            random.between(1, 5.min(height)),
            random.between(1, 5.min(width)),
        ),
    };
    let tile = ink(random, palette, rows, columns);
    let mut grid = paint(height, width, |i, j| tile.at(i % rows, j % columns));
    if damaged {
        let widest = side.unwrap_or(width);
        damage(random, &mut grid, widest);
    }
    grid
}

/// Every cell in a colour other than the background.
fn ink(random: &mut Random, palette: &Palette, height: usize, width: usize) -> Grid {
    paint(height, width, |_, _| palette.ink(random))
}

/// Makes a rectangle black, of at most `widest` columns and at most half of the rows.
fn damage(random: &mut Random, grid: &mut Grid, widest: usize) {
    let (height, width) = (grid.height(), grid.width());
    let rows = random.between(1, (height / 2).max(1));
    let columns = random.between(1, widest.min(width / 2).max(1));
    let (top, left) = (
        random.below(height - rows + 1),
        random.below(width - columns + 1),
    );
    for row in grid
        .cells_mut()
        .chunks_exact_mut(width)
        .skip(top)
        .take(rows)
    {
        row[left..left + columns].fill(0);
    }
}

fn mirror(random: &mut Random, palette: &Palette, height: usize, width: usize) -> Grid {
    let half = ink(random, palette, height, width.div_ceil(2));
    let mut grid = paint(height, width, |i, j| half.at(i, j.min(width - 1 - j)));
    damage(random, &mut grid, width);
    grid
}

fn lattice(random: &mut Random, palette: &Palette, height: usize, width: usize) -> Grid {
    let (line, rest) = palette
        .may
        .split_first()
        .map_or((1, &[][..]), |(&line, rest)| (line, rest));
    let mut colours = vec![palette.ground];
    colours.extend(rest);
    // Every line has a room on at least one side, and every room has a line.
    let gap = random.between(1, 5.min(height.min(width) - 1));
    let (top, left) = (random.below(gap + 1), random.below(gap + 1));
    let plain = random.chance(40);
    let mut rooms = speckle(random, &colours, height, width);
    if plain {
        let coarse = rooms;
        rooms = paint(height, width, |i, j| {
            coarse.at((i + gap - top) / (gap + 1), (j + gap - left) / (gap + 1))
        });
    }
    let on_line = |at: usize, first: usize| at % (gap + 1) == first;
    paint(height, width, |i, j| {
        if on_line(i, top) || on_line(j, left) {
            line
        } else {
            rooms.at(i, j)
        }
    })
}

fn halves(random: &mut Random, height: usize, width: usize) -> Grid {
    let half = width / 2;
    paint(height, width, |_, j| match j {
        _ if width % 2 == 1 && j == half => 5,
        _ if random.chance(50) => 0,
        _ if j < half => 1,
        _ => 2,
    })
}

fn rings(random: &mut Random, height: usize, width: usize) -> Grid {
    let mut colours = ANY.to_vec();
    random.shuffle(&mut colours);
    let innermost = (height.min(width) - 1) / 2;
    // The ring at each distance from the edge: either a new ring begins there, or the last one continues.
    let mut ring = 0;
    let rings: Vec<usize> = (0..=innermost)
        .map(|distance| {
            ring += usize::from(distance > 0 && random.chance(60));
            ring.min(colours.len() - 1)
        })
        .collect();
    paint(height, width, |i, j| {
        colours[rings[i.min(height - 1 - i).min(j).min(width - 1 - j)]]
    })
}

#[cfg(test)]
mod tests {
    use super::super::table::TABLE;
    use super::*;

    /// Inputs of all recipes whose scene `wanted` accepts, with the recipe's colours.
    fn inputs(wanted: impl Fn(&Scene) -> bool) -> impl Iterator<Item = (Colours, Grid)> {
        TABLE
            .iter()
            .filter(move |row| wanted(&row.recipe.scene))
            .flat_map(|row| {
                (0..60).map(|at| {
                    let mut random = Random::new(row.id, 5, at);
                    (
                        row.recipe.colours,
                        row.recipe.draw(&mut random, at as usize / 2 + 1),
                    )
                })
            })
    }

    fn count(grid: &Grid, colour: i8) -> usize {
        grid.cells().iter().filter(|&&c| c == colour).count()
    }

    fn lines(grid: &Grid) -> (Vec<Vec<i8>>, Vec<Vec<i8>>) {
        let rows = grid.rows().map(<[i8]>::to_vec).collect();
        let columns = (0..grid.width())
            .map(|j| (0..grid.height()).map(|i| grid.at(i, j)).collect())
            .collect();
        (rows, columns)
    }

    #[test]
    fn things_are_there_and_leave_the_background_its_majority() {
        let scenes =
            |scene: &Scene| matches!(scene, Scene::Things(_) | Scene::Copies(_) | Scene::Dots(..));
        let mut seen = 0;
        for (colours, grid) in inputs(scenes) {
            let most = ANY
                .iter()
                .copied()
                .max_by_key(|&c| count(&grid, c))
                .unwrap();
            let ground = count(&grid, most);
            assert!(ground * 2 > grid.cells().len(), "{grid}");
            assert!(colours.ground.is_none_or(|ground| ground == most), "{grid}");
            if grid.cells().len() > 2 {
                assert!(ground < grid.cells().len(), "{grid}");
            }
            seen += 1;
        }
        assert!(seen > 1000);
    }

    #[test]
    fn a_wall_takes_one_edge_and_is_nowhere_else() {
        for (_, grid) in inputs(|scene| matches!(scene, Scene::Wall(5, _))) {
            let (rows, columns) = lines(&grid);
            let edges = [
                &rows[0],
                &rows[rows.len() - 1],
                &columns[0],
                &columns[columns.len() - 1],
            ];
            let walls = edges
                .iter()
                .filter(|line| line.iter().all(|&c| c == 5))
                .count();
            assert_eq!(walls, 1, "{grid}");
            assert!(
                [grid.height(), grid.width()].contains(&count(&grid, 5)),
                "{grid}"
            );
            assert!(count(&grid, 2) > 0, "{grid}");
        }
    }

    #[test]
    fn a_lattice_has_lines_and_rooms_both_ways() {
        for (_, grid) in inputs(|scene| matches!(scene, Scene::Lattice)) {
            let (rows, columns) = lines(&grid);
            for lines in [rows, columns] {
                let plain = lines
                    .iter()
                    .filter(|line| line.iter().all(|c| c == &line[0]))
                    .count();
                assert!((1..lines.len()).contains(&plain), "{grid}");
            }
        }
    }

    #[test]
    fn damage_is_black_and_what_is_left_repeats_or_mirrors_itself() {
        for (_, grid) in inputs(|scene| matches!(scene, Scene::Mirror)) {
            assert!(count(&grid, 0) > 0);
            for row in grid.rows() {
                let mirrored = row.iter().zip(row.iter().rev());
                assert!(
                    mirrored.clone().all(|(&a, &b)| a == b || a == 0 || b == 0),
                    "{grid}"
                );
            }
        }
        let damaged = |scene: &Scene| matches!(scene, Scene::Tiles { damaged: true, .. });
        for (_, grid) in inputs(damaged) {
            assert!(count(&grid, 0) > 0);
            for row in grid.rows() {
                let repeated = row.iter().zip(&row[3..]);
                assert!(
                    repeated.clone().all(|(&a, &b)| a == b || a == 0 || b == 0),
                    "{grid}"
                );
            }
        }
    }

    #[test]
    fn halves_differ_in_colour_and_rings_lie_in_each_other() {
        for (_, grid) in inputs(|scene| matches!(scene, Scene::Halves)) {
            let half = grid.width() / 2;
            for row in grid.rows() {
                assert!(row[..half].iter().all(|c| [0, 1].contains(c)), "{grid}");
                assert!(
                    row[grid.width() - half..]
                        .iter()
                        .all(|c| [0, 2].contains(c)),
                    "{grid}"
                );
                assert!(row.len() == 2 * half || row[half] == 5, "{grid}");
            }
        }
        for (_, grid) in inputs(|scene| matches!(scene, Scene::Rings)) {
            let (rows, columns) = lines(&grid);
            for lines in [rows, columns] {
                assert!(lines[0].iter().all(|c| c == &lines[0][0]), "{grid}");
                assert!(lines.iter().eq(lines.iter().rev()), "{grid}");
            }
        }
    }
}
