//! [`Scene`]: a grid with patches that lie on, next to and off it.
//!
//! Arguments drawn from one scene fit together (the object is cut from the grid, the colour occurs on it), so that
//! calls do something; a fixed share are edge cases.

use crate::generate::dice::Dice;
use crate::grid::Grid;
use crate::patch::{Cell, Loc};
use crate::value::Value;

/// Values that belong together.
#[derive(Debug, Clone)]
pub(crate) struct Scene {
    pub(crate) grid: Grid,
    /// Usually a grid of the same size, with some cells in other colours.
    pub(crate) twin: Grid,
    /// Sets of cells, occasionally empty.
    pub(crate) objects: Vec<Value>,
    /// Sets of locations, occasionally empty.
    pub(crate) indices: Vec<Value>,
    /// A set of objects.
    pub(crate) group: Value,
}

/// How many patches of each kind a scene has.
const PATCHES: usize = 3;

impl Scene {
    pub(crate) fn new(dice: &mut Dice) -> Self {
        let grid = grid(dice);
        let twin = twin(dice, &grid);
        let objects = (0..PATCHES)
            .map(|_| Value::set(cells(dice, &grid).into_iter().map(Value::from)))
            .collect();
        let indices = (0..PATCHES)
            .map(|_| Value::set(locs(dice, &grid).into_iter().map(Value::from)))
            .collect();
        let group = group(dice, &grid);
        Self {
            grid,
            twin,
            objects,
            indices,
            group,
        }
    }
}

/// A grid of any size from zero to a dozen rows, in one of the styles of ARC.
pub(crate) fn grid(dice: &mut Dice) -> Grid {
    let (height, width) = match dice.below(100) {
        0..2 => (0, 0),
        2..5 => (dice.below(3) + 1, 0),
        5..10 => (1, 1),
        10..17 => (1, dice.below(7) + 2),
        17..24 => (dice.below(7) + 2, 1),
        24..88 => (dice.below(5) + 2, dice.below(5) + 2),
        _ => (dice.below(10) + 3, dice.below(10) + 3),
    };
    let palette = palette(dice);
    let ground = palette[0];
    let mut grid = Grid::filled(height, width, ground);
    match dice.below(8) {
        0 => {}
        1 | 2 => noise(dice, &mut grid, &palette, 100),
        3 => noise(dice, &mut grid, &palette, 25),
        4 => {
            for _ in 0..=dice.below(3) {
                rectangle(dice, &mut grid, &palette);
            }
        }
        5 => {
            noise(dice, &mut grid, &palette, 15);
            for _ in 0..=dice.below(2) {
                line(dice, &mut grid, &palette);
            }
        }
        6 => tiles(dice, &mut grid, &palette),
        _ => {
            noise(dice, &mut grid, &palette, 60);
            mirror(&mut grid);
        }
    }
    grid
}

/// One to four colours, the background first.
fn palette(dice: &mut Dice) -> Vec<i8> {
    let ground = if dice.chance(70) {
        0
    } else {
        dice.below(10) as i8
    };
    let mut palette = vec![ground];
    for _ in 0..=dice.below(3) {
        palette.push(dice.below(10) as i8);
    }
    palette
}

fn noise(dice: &mut Dice, grid: &mut Grid, palette: &[i8], percent: u32) {
    for cell in grid.cells_mut() {
        if dice.chance(percent) {
            *cell = *dice.pick(palette);
        }
    }
}

fn rectangle(dice: &mut Dice, grid: &mut Grid, palette: &[i8]) {
    let (top, left) = (
        dice.below(grid.height().max(1)),
        dice.below(grid.width().max(1)),
    );
    let (height, width) = (dice.below(4) + 1, dice.below(4) + 1);
    let colour = *dice.pick(palette);
    for i in top..top + height {
        for j in left..left + width {
            set(grid, i, j, colour);
        }
    }
}

/// A row, a column or a diagonal in one colour, from edge to edge.
fn line(dice: &mut Dice, grid: &mut Grid, palette: &[i8]) {
    let colour = *dice.pick(palette);
    let (height, width) = (grid.height(), grid.width());
    match dice.below(3) {
        0 => {
            let i = dice.below(height.max(1));
            (0..width).for_each(|j| set(grid, i, j, colour));
        }
        1 => {
            let j = dice.below(width.max(1));
            (0..height).for_each(|i| set(grid, i, j, colour));
        }
        _ => (0..height).for_each(|i| set(grid, i, i, colour)),
    }
}

/// A small pattern that repeats.
fn tiles(dice: &mut Dice, grid: &mut Grid, palette: &[i8]) {
    let (high, wide) = (dice.below(3) + 1, dice.below(3) + 1);
    let tile: Vec<i8> = (0..high * wide).map(|_| *dice.pick(palette)).collect();
    for i in 0..grid.height() {
        for j in 0..grid.width() {
            set(grid, i, j, tile[i % high * wide + j % wide]);
        }
    }
}

fn mirror(grid: &mut Grid) {
    let width = grid.width();
    for i in 0..grid.height() {
        for j in 0..width / 2 {
            let colour = grid.at(i, j);
            set(grid, i, width - 1 - j, colour);
        }
    }
}

fn set(grid: &mut Grid, i: usize, j: usize, colour: i8) {
    if let Some(at) = grid.offset(Loc::new(i as i32, j as i32)) {
        grid.cells_mut()[at] = colour;
    }
}

/// The grid with some cells changed, or occasionally another grid.
fn twin(dice: &mut Dice, grid: &Grid) -> Grid {
    if dice.chance(15) {
        return self::grid(dice);
    }
    let mut twin = grid.clone();
    let palette = palette(dice);
    noise(dice, &mut twin, &palette, 40);
    twin
}

/// The locations of a patch, usually distinct.
pub(crate) fn locs(dice: &mut Dice, grid: &Grid) -> Vec<Loc> {
    let (height, width) = (grid.height().max(1) as i32, grid.width().max(1) as i32);
    // Mostly on the grid, sometimes across its edge, occasionally far off it.
    let corner = match dice.below(20) {
        0..13 => Loc::new(dice.between(0, height - 1), dice.between(0, width - 1)),
        13..18 => Loc::new(dice.between(-3, height + 2), dice.between(-3, width + 2)),
        _ => Loc::new(dice.between(-30, 30), dice.between(-30, 30)),
    };
    let at = |i: i32, j: i32| Loc::new(corner.i + i, corner.j + j);
    let (high, wide) = (dice.between(1, 4), dice.between(1, 4));
    let all = (0..high).flat_map(move |i| (0..wide).map(move |j| at(i, j)));
    match dice.below(25) {
        0 => Vec::new(),
        1..4 => vec![corner],
        4..7 => (0..=high).map(|i| at(i, 0)).collect(),
        7..10 => (0..=wide).map(|j| at(0, j)).collect(),
        10 => (0..high).map(|n| at(n, n)).collect(),
        11 => (0..high).map(|n| at(n, -n)).collect(),
        12..16 => all.collect(),
        16 => all
            .filter(|l| {
                l.i == corner.i
                    || l.j == corner.j
                    || l.i == at(high - 1, 0).i
                    || l.j == at(0, wide - 1).j
            })
            .collect(),
        _ => all.filter(|_| dice.chance(60)).collect(),
    }
}

/// The cells of an object: cut from the grid, or in independent colours.
pub(crate) fn cells(dice: &mut Dice, grid: &Grid) -> Vec<Cell> {
    let locs = locs(dice, grid);
    if dice.chance(50) {
        return locs
            .into_iter()
            .filter_map(|loc| {
                grid.get(loc)
                    .map(|colour| Cell::new(i32::from(colour), loc))
            })
            .collect();
    }
    let colour = dice.colour();
    let other = dice.colour();
    match dice.below(6) {
        // Alternating colours, as in a pattern that repeats.
        0 => locs
            .into_iter()
            .map(|loc| {
                Cell::new(
                    if (loc.i + loc.j) % 2 == 0 {
                        colour
                    } else {
                        other
                    },
                    loc,
                )
            })
            .collect(),
        1 => locs
            .into_iter()
            .map(|loc| Cell::new(dice.colour(), loc))
            .collect(),
        // Two colours at one location: the order of painting matters.
        2 => {
            let mut cells: Vec<Cell> = locs.iter().map(|&loc| Cell::new(colour, loc)).collect();
            cells.extend(locs.into_iter().take(2).map(|loc| Cell::new(other, loc)));
            cells
        }
        _ => locs.into_iter().map(|loc| Cell::new(colour, loc)).collect(),
    }
}

/// A set of objects: one for each colour and region of the grid, or of any shape.
fn group(dice: &mut Dice, grid: &Grid) -> Value {
    let objects = match dice.below(10) {
        0 => return Value::empty_set(),
        1..5 => {
            let mut by_colour = std::collections::BTreeMap::<(i8, i32), Vec<Value>>::new();
            let half = grid.height() as i32 / 2;
            for (loc, colour) in grid.enumerate() {
                let cell = Cell::new(i32::from(colour), loc);
                by_colour
                    .entry((colour, loc.i / half.max(1)))
                    .or_default()
                    .push(cell.into());
            }
            by_colour
                .into_values()
                .take(5)
                .map(Value::set)
                .collect::<Vec<_>>()
        }
        _ => {
            let mut objects = Vec::new();
            for _ in 0..=dice.below(4) {
                let cells = cells(dice, grid);
                // An empty object makes most primitives fail: keep these rare.
                if !cells.is_empty() || dice.chance(10) {
                    objects.push(Value::set(cells.into_iter().map(Value::from)));
                }
            }
            objects
        }
    };
    Value::set(objects)
}
