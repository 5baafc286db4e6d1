//! The table of the built-in programs: the kind of each, and how its inputs are drawn.

use super::BuiltinKind;
use super::palette::{ANY, Colours};
use super::scenes::Scene::{
    self, Copies, Dots, Halves, Lattice, Mirror, Noise, Rings, Tiles, Wall,
};
use super::scenes::{Recipe, Sides};
use super::things::Copies::{AndOdd, Tinted};
use super::things::Silhouette::{self, Bars, Hollow, Irregular, Mixed, Mottled, Solid};
use super::things::Things;

/// A row of the table.
#[derive(Debug, Clone, Copy)]
pub(super) struct BuiltinRow {
    pub(super) id: &'static str,
    pub(super) kind: BuiltinKind,
    pub(super) recipe: Recipe,
}

macro_rules! table {
    ($($id:ident: $kind:ident, $sides:expr, $colours:expr, $scene:expr;)*) => {
        /// One row per program, in the order of the programs' text.
        pub(super) static TABLE: &[BuiltinRow] = &[$(BuiltinRow {
            id: stringify!($id),
            kind: BuiltinKind::$kind,
            recipe: Recipe { sides: $sides, colours: $colours, scene: $scene },
        }),*];
    };
}

// Id and kind; rows and columns; background, required and optional colours; the scene.
table! {
    mirrorpair: Transform, sides(1, 15), FREE, Noise;
    pinwheel: Transform, square(1, 15), FREE, Dots(20, 45);
    swapbands: Transform, sides(2, 30), FREE, TILES;
    foldthirds: Transform, multiples(3, 9), FREE, Noise;
    layflat: Transform, sides(1, 30), FREE, some((1, 6), (1, 10), Mixed);
    peel: Transform, sides(5, 19), FREE, Rings;
    turnstack: Transform, square(1, 15), FREE, some((1, 5), (2, 9), Irregular);
    richquarter: Transform, sides(2, 30), FREE, Dots(5, 30);

    fadeout: Colour, sides(2, 30), LOW, Noise;
    negative: Colour, sides(2, 30), with(&[], &[1, 2, 3, 4, 5, 6]), Dots(10, 45);
    silhouette: Colour, sides(2, 30), FREE, some((1, 8), (1, 12), Mottled);
    hueshift: Colour, sides(1, 30), FREE, Noise;
    huelist: Colour, sides(1, 30), LOW, Noise;
    reversehues: Colour, sides(2, 30), FREE, Lattice;
    rankhues: Colour, sides(1, 30), LOW, Noise;
    cornerframe: Colour, sides(2, 30), FREE, TILES;

    largest: Objects, sides(3, 30), FREE, unequal((1, 8), (1, 20), Irregular);
    sinkone: Objects, sides(2, 30), FREE, some((1, 8), (1, 8), Mixed);
    halo: Objects, sides(3, 30), FREE, some((1, 7), (1, 6), Solid);
    plugholes: Objects, sides(5, 30), FREE, some((1, 7), (2, 9), Hollow);
    sweepdust: Objects, sides(3, 30), FREE, some((2, 9), (1, 4), Irregular);
    edgecases: Objects, sides(3, 30), FREE, some((1, 9), (1, 9), Irregular);
    sticks: Objects, sides(3, 30), BLACK, some((2, 9), (1, 5), Mixed);
    toward: Objects, sides(4, 30), with(&[2, 5], &[]), some((2, 2), (1, 9), Irregular);
    magnet: Objects, sides(4, 30), with(&[2], &[2, 4]), Wall(5, things((1, 6), (1, 6), Irregular));
    upsidedown: Objects, sides(3, 30), FREE, some((1, 6), (2, 12), Mottled);

    striplines: Pattern, sides(2, 30), FREE, Lattice;
    greylines: Pattern, sides(2, 30), FREE, Lattice;
    unittile: Pattern, sides(1, 30), FREE, TILES;
    mendmirror: Pattern, sides(2, 30), BLACK, Mirror;
    mendtiles: Pattern, sides(6, 30), BLACK, DAMAGED_TILES;
    likecorner: Pattern, sides(2, 30), with(&[3], &[]), Noise;
    crosshairs: Pattern, sides(2, 30), with(&[2], &[3, 5, 6]), some((1, 5), (1, 1), Solid);
    crossings: Pattern, sides(4, 30), with(&[1, 2], &[1, 2, 5]), Dots(1, 12);
    bothhalves: Pattern, sides(2, 30), BLACK, Halves;
    starburst: Pattern, sides(2, 30), with(&[2], &[2, 4, 6]), some((1, 6), (1, 2), Bars);
    checkers: Pattern, sides(1, 30), with(&[], &[1, 2, 3, 4, 5, 6, 7, 8, 9]), TILES;
    newlines: Pattern, sides(1, 30), FREE, TILES;

    tenturns: Pipeline, sides(1, 30), FREE, Noise;
    fourfold: Pipeline, sides(2, 30), FREE, Dots(10, 45);
    coarsen: Pipeline, sides(2, 30), FREE, some((1, 8), (2, 8), Solid);
    repaint: Pipeline, sides(1, 30), FREE, Noise;
    trimquilt: Pipeline, sides(3, 17), FREE, Rings;
    cleanlines: Pipeline, sides(2, 15), FREE, Lattice;
    windowpane: Pipeline, sides(2, 30), with(&[], &[1, 2]), Noise;

    linkdots: Whole, sides(3, 30), BLACK, some((2, 9), (1, 1), Solid);
    births: Whole, sides(3, 30), with(&[1], &[1]), Dots(15, 45);
    cores: Whole, sides(5, 30), with(&[1], &[1, 2]), some((2, 8), (3, 9), Solid);
    baseline: Whole, sides(3, 30), FREE, some((1, 8), (1, 9), Mixed);
    sizeclasses: Whole, sides(3, 30), BLACK, some((2, 9), (1, 9), Irregular);
    oddeven: Whole, sides(3, 30), BLACK, some((1, 9), (1, 12), Mixed);
    nearest: Whole, sides(5, 30), with(&[2, 4], ANY), some((2, 8), (1, 7), Mixed);
    neighbourhood: Whole, sides(4, 30), with(&[2, 4], &[4, 6]), some((2, 8), (1, 6), Irregular);
    cornerposts: Whole, sides(3, 30), FREE, some((1, 7), (1, 7), Solid);
    hollowout: Whole, sides(5, 30), FREE, some((1, 8), (2, 8), Solid);
    frieze: Whole, sides(3, 30), FREE, some((1, 1), (1, 8), Mottled);
    tower: Whole, sides(3, 30), FREE, some((1, 1), (1, 7), Mottled);
    raycast: Whole, sides(3, 30), FREE, some((1, 6), (1, 5), Bars);
    roads: Whole, sides(3, 30), FREE, some((1, 5), (1, 9), Irregular);
    spotted: Whole, sides(4, 30), with(&[2, 3], &[4, 6, 8]), some((2, 8), (1, 4), Mottled);
    tallest: Whole, sides(3, 30), FREE, unequal((1, 7), (1, 12), Irregular);
    oddoneout: Whole, sides(5, 30), FREE, Copies(AndOdd);
    twins: Whole, sides(5, 30), BLACK, Copies(AndOdd);
    approach: Whole, sides(4, 30), with(&[2, 5], &[]), some((2, 2), (1, 6), Irregular);
    objectbars: Whole, sides(3, 30), FREE, some((2, 9), (1, 6), Mixed);
    swaprings: Whole, sides(3, 30), FREE, Rings;
    butterfly: Whole, sides(2, 30), FREE, Dots(2, 15);
    lasers: Whole, sides(3, 30), BLACK, some((3, 9), (1, 1), Solid);
    wallpaper: Whole, sides(2, 30), FREE, TILES;
    stairs: Whole, sides(3, 30), FREE, unequal((1, 5), (1, 9), Irregular);
    shadows: Whole, sides(3, 30), BLACK, some((1, 6), (1, 9), Irregular);
    gardens: Whole, sides(5, 30), FREE, some((1, 7), (3, 10), Solid);
    sightings: Whole, sides(5, 30), with(&[2], &[1, 3, 4]), Copies(Tinted);
    measure: Whole, sides(3, 30), FREE, unequal((1, 6), (1, 15), Mottled);
    fencing: Whole, sides(3, 30), FREE, some((2, 8), (1, 5), Mixed);
    handshakes: Whole, sides(3, 30), FREE, unequal((2, 7), (1, 12), Irregular);
    rooms: Whole, sides(3, 30), LOW, Lattice;
    freefall: Whole, sides(4, 30), with(&[2, 5], &[5]), some((2, 7), (1, 6), Irregular);
    sheet: Whole, sides(3, 30), FREE, unequal((1, 5), (1, 5), Irregular);
    beacon: Whole, sides(3, 30), FREE, unequal((1, 3), (1, 12), Mottled);
    duel: Whole, sides(4, 30), with(&[2, 5], &[]), some((2, 2), (1, 12), Irregular);
    garrison: Whole, sides(3, 30), FREE, unequal((3, 9), (1, 12), Irregular);
    mosaic: Whole, sides(2, 30), LOW, Noise;
    cityplan: Whole, sides(3, 30), BLACK, unequal((2, 8), (1, 14), Irregular);
}

/// Rows and columns from `min` to `max`.
const fn sides(min: usize, max: usize) -> Sides {
    Sides {
        min,
        max,
        step: 1,
        square: false,
    }
}

/// As many rows as columns.
const fn square(min: usize, max: usize) -> Sides {
    Sides {
        square: true,
        ..sides(min, max)
    }
}

/// Multiples of `step`.
const fn multiples(step: usize, max: usize) -> Sides {
    Sides {
        step,
        ..sides(step, max)
    }
}

/// Any colours on any background.
const FREE: Colours = Colours {
    ground: None,
    must: &[],
    may: ANY,
};

/// Any colours on black.
const BLACK: Colours = with(&[], ANY);

/// Colours on black for programs where ties are frequent: without 8 and 9, which other implementations order
/// arbitrarily.
const LOW: Colours = with(&[], &[1, 2, 3, 4, 5, 6, 7]);

/// These colours on black: required ones for the first objects, and optional ones.
const fn with(must: &'static [i8], may: &'static [i8]) -> Colours {
    Colours {
        ground: Some(0),
        must,
        may,
    }
}

/// Between `count.0` and `count.1` objects of this size and shape.
const fn things(count: (usize, usize), span: (usize, usize), form: Silhouette) -> Things {
    Things {
        count,
        span,
        form,
        distinct: false,
    }
}

/// The same as a scene.
const fn some(count: (usize, usize), span: (usize, usize), form: Silhouette) -> Scene {
    Scene::Things(things(count, span, form))
}

/// The same, all of different size.
const fn unequal(count: (usize, usize), span: (usize, usize), form: Silhouette) -> Scene {
    Scene::Things(Things {
        distinct: true,
        ..things(count, span, form)
    })
}

/// Undamaged tiles of any size.
const TILES: Scene = Tiles {
    side: None,
    damaged: false,
};

/// Tiles of three by three cells, damaged.
const DAMAGED_TILES: Scene = Tiles {
    side: Some(3),
    damaged: true,
};
