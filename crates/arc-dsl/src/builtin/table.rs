//! The table of the built-in programs: the kind of each and how its inputs are drawn.

use super::Kind;
use super::scenes::{ANY, Colours, Recipe, Scene, Sides};
use super::things::{Copies, Form, Things};

/// A row of the table.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    pub(super) id: &'static str,
    pub(super) kind: Kind,
    pub(super) recipe: Recipe,
}

const fn row(id: &'static str, kind: Kind, sides: Sides, colours: Colours, scene: Scene) -> Row {
    Row {
        id,
        kind,
        recipe: Recipe {
            sides,
            colours,
            scene,
        },
    }
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
        min,
        max,
        step: 1,
        square: true,
    }
}

/// Multiples of `step`.
const fn multiples(step: usize, max: usize) -> Sides {
    Sides {
        min: step,
        max,
        step,
        square: false,
    }
}

/// Any colours on any background.
const FREE: Colours = Colours {
    ground: None,
    must: &[],
    may: ANY,
};

/// Any colours on black.
const BLACK: Colours = Colours {
    ground: Some(0),
    must: &[],
    may: ANY,
};

/// Any colours on a background of any but those that a tie between would order by accident in
/// other implementations.
const LOW: Colours = Colours {
    ground: Some(0),
    must: &[],
    may: &[1, 2, 3, 4, 5, 6, 7],
};

/// Black with things of these colours.
const fn with(must: &'static [i8], may: &'static [i8]) -> Colours {
    Colours {
        ground: Some(0),
        must,
        may,
    }
}

/// As many objects of this size and form.
const fn things(count: (usize, usize), span: (usize, usize), form: Form) -> Things {
    Things {
        count,
        span,
        form,
        distinct: false,
    }
}

/// The same, all of different size.
const fn unequal(count: (usize, usize), span: (usize, usize), form: Form) -> Scene {
    Scene::Things(Things {
        count,
        span,
        form,
        distinct: true,
    })
}

const fn some(count: (usize, usize), span: (usize, usize), form: Form) -> Scene {
    Scene::Things(things(count, span, form))
}

const TILES: Scene = Scene::Tiles {
    side: None,
    damaged: false,
};

/// One row a program, in the order of the programs' text.
pub(super) static TABLE: &[Row] = {
    use Form::{Bars, Hollow, Irregular, Mixed, Mottled, Solid};
    use Kind::{Colour, Objects, Pattern, Pipeline, Transform, Whole};
    use Scene::{Dots, Halves, Lattice, Mirror, Noise, Rings};
    &[
        row("mirrorpair", Transform, sides(1, 15), FREE, Noise),
        row("pinwheel", Transform, square(1, 15), FREE, Dots(20, 45)),
        row("swapbands", Transform, sides(2, 30), FREE, TILES),
        row("foldthirds", Transform, multiples(3, 9), FREE, Noise),
        row(
            "layflat",
            Transform,
            sides(1, 30),
            FREE,
            some((1, 6), (1, 10), Mixed),
        ),
        row("peel", Transform, sides(5, 19), FREE, Rings),
        row(
            "turnstack",
            Transform,
            square(1, 15),
            FREE,
            some((1, 5), (2, 9), Irregular),
        ),
        row("richquarter", Transform, sides(2, 30), FREE, Dots(5, 30)),
        row("fadeout", Colour, sides(2, 30), LOW, Noise),
        row(
            "negative",
            Colour,
            sides(2, 30),
            with(&[], &[1, 2, 3, 4, 5, 6]),
            Dots(10, 45),
        ),
        row(
            "silhouette",
            Colour,
            sides(2, 30),
            FREE,
            some((1, 8), (1, 12), Mottled),
        ),
        row("hueshift", Colour, sides(1, 30), FREE, Noise),
        row("huelist", Colour, sides(1, 30), LOW, Noise),
        row("reversehues", Colour, sides(2, 30), FREE, Lattice),
        row("rankhues", Colour, sides(1, 30), LOW, Noise),
        row("cornerframe", Colour, sides(2, 30), FREE, TILES),
        row(
            "largest",
            Objects,
            sides(3, 30),
            FREE,
            unequal((1, 8), (1, 20), Irregular),
        ),
        row(
            "sinkone",
            Objects,
            sides(2, 30),
            FREE,
            some((1, 8), (1, 8), Mixed),
        ),
        row(
            "halo",
            Objects,
            sides(3, 30),
            FREE,
            some((1, 7), (1, 6), Solid),
        ),
        row(
            "plugholes",
            Objects,
            sides(5, 30),
            FREE,
            some((1, 7), (2, 9), Hollow),
        ),
        row(
            "sweepdust",
            Objects,
            sides(3, 30),
            FREE,
            some((2, 9), (1, 4), Irregular),
        ),
        row(
            "edgecases",
            Objects,
            sides(3, 30),
            FREE,
            some((1, 9), (1, 9), Irregular),
        ),
        row(
            "sticks",
            Objects,
            sides(3, 30),
            BLACK,
            some((2, 9), (1, 5), Mixed),
        ),
        row(
            "toward",
            Objects,
            sides(4, 30),
            with(&[2, 5], &[]),
            some((2, 2), (1, 9), Irregular),
        ),
        row("magnet", Objects, sides(4, 30), with(&[2], &[2, 4]), {
            Scene::Wall(5, things((1, 6), (1, 6), Irregular))
        }),
        row(
            "upsidedown",
            Objects,
            sides(3, 30),
            FREE,
            some((1, 6), (2, 12), Mottled),
        ),
        row("striplines", Pattern, sides(2, 30), FREE, Lattice),
        row("greylines", Pattern, sides(2, 30), FREE, Lattice),
        row("unittile", Pattern, sides(1, 30), FREE, TILES),
        row("mendmirror", Pattern, sides(2, 30), BLACK, Mirror),
        row(
            "mendtiles",
            Pattern,
            sides(6, 30),
            BLACK,
            Scene::Tiles {
                side: Some(3),
                damaged: true,
            },
        ),
        row("likecorner", Pattern, sides(2, 30), with(&[3], &[]), Noise),
        row(
            "crosshairs",
            Pattern,
            sides(2, 30),
            with(&[2], &[3, 5, 6]),
            some((1, 5), (1, 1), Solid),
        ),
        row(
            "crossings",
            Pattern,
            sides(4, 30),
            with(&[1, 2], &[1, 2, 5]),
            Dots(1, 12),
        ),
        row("bothhalves", Pattern, sides(2, 30), BLACK, Halves),
        row(
            "starburst",
            Pattern,
            sides(2, 30),
            with(&[2], &[2, 4, 6]),
            some((1, 6), (1, 2), Bars),
        ),
        row(
            "checkers",
            Pattern,
            sides(1, 30),
            with(&[], &[1, 2, 3, 4, 5, 6, 7, 8, 9]),
            TILES,
        ),
        row("newlines", Pattern, sides(1, 30), FREE, TILES),
        row("tenturns", Pipeline, sides(1, 30), FREE, Noise),
        row("fourfold", Pipeline, sides(2, 30), FREE, Dots(10, 45)),
        row(
            "coarsen",
            Pipeline,
            sides(2, 30),
            FREE,
            some((1, 8), (2, 8), Solid),
        ),
        row("repaint", Pipeline, sides(1, 30), FREE, Noise),
        row("trimquilt", Pipeline, sides(3, 17), FREE, Rings),
        row("cleanlines", Pipeline, sides(2, 15), FREE, Lattice),
        row(
            "windowpane",
            Pipeline,
            sides(2, 30),
            with(&[], &[1, 2]),
            Noise,
        ),
        row(
            "linkdots",
            Whole,
            sides(3, 30),
            BLACK,
            some((2, 9), (1, 1), Solid),
        ),
        row(
            "births",
            Whole,
            sides(3, 30),
            with(&[1], &[1]),
            Dots(15, 45),
        ),
        row(
            "cores",
            Whole,
            sides(5, 30),
            with(&[1], &[1, 2]),
            some((2, 8), (3, 9), Solid),
        ),
        row(
            "baseline",
            Whole,
            sides(3, 30),
            FREE,
            some((1, 8), (1, 9), Mixed),
        ),
        row(
            "sizeclasses",
            Whole,
            sides(3, 30),
            BLACK,
            some((2, 9), (1, 9), Irregular),
        ),
        row(
            "oddeven",
            Whole,
            sides(3, 30),
            BLACK,
            some((1, 9), (1, 12), Mixed),
        ),
        row(
            "nearest",
            Whole,
            sides(5, 30),
            with(&[2, 4], ANY),
            some((2, 8), (1, 7), Mixed),
        ),
        row(
            "neighbourhood",
            Whole,
            sides(4, 30),
            with(&[2, 4], &[4, 6]),
            { some((2, 8), (1, 6), Irregular) },
        ),
        row(
            "cornerposts",
            Whole,
            sides(3, 30),
            FREE,
            some((1, 7), (1, 7), Solid),
        ),
        row(
            "hollowout",
            Whole,
            sides(5, 30),
            FREE,
            some((1, 8), (2, 8), Solid),
        ),
        row(
            "frieze",
            Whole,
            sides(3, 30),
            FREE,
            some((1, 1), (1, 8), Mottled),
        ),
        row(
            "tower",
            Whole,
            sides(3, 30),
            FREE,
            some((1, 1), (1, 7), Mottled),
        ),
        row(
            "raycast",
            Whole,
            sides(3, 30),
            FREE,
            some((1, 6), (1, 5), Bars),
        ),
        row(
            "roads",
            Whole,
            sides(3, 30),
            FREE,
            some((1, 5), (1, 9), Irregular),
        ),
        row(
            "spotted",
            Whole,
            sides(4, 30),
            with(&[2, 3], &[4, 6, 8]),
            some((2, 8), (1, 4), Mottled),
        ),
        row(
            "tallest",
            Whole,
            sides(3, 30),
            FREE,
            unequal((1, 7), (1, 12), Irregular),
        ),
        row(
            "oddoneout",
            Whole,
            sides(5, 30),
            FREE,
            Scene::Copies(Copies::AndOdd),
        ),
        row(
            "twins",
            Whole,
            sides(5, 30),
            BLACK,
            Scene::Copies(Copies::AndOdd),
        ),
        row(
            "approach",
            Whole,
            sides(4, 30),
            with(&[2, 5], &[]),
            some((2, 2), (1, 6), Irregular),
        ),
        row(
            "objectbars",
            Whole,
            sides(3, 30),
            FREE,
            some((2, 9), (1, 6), Mixed),
        ),
        row("swaprings", Whole, sides(3, 30), FREE, Rings),
        row("butterfly", Whole, sides(2, 30), FREE, Dots(2, 15)),
        row(
            "lasers",
            Whole,
            sides(3, 30),
            BLACK,
            some((3, 9), (1, 1), Solid),
        ),
        row("wallpaper", Whole, sides(2, 30), FREE, TILES),
        row(
            "stairs",
            Whole,
            sides(3, 30),
            FREE,
            unequal((1, 5), (1, 9), Irregular),
        ),
        row(
            "shadows",
            Whole,
            sides(3, 30),
            BLACK,
            some((1, 6), (1, 9), Irregular),
        ),
        row(
            "gardens",
            Whole,
            sides(5, 30),
            FREE,
            some((1, 7), (3, 10), Solid),
        ),
        row(
            "sightings",
            Whole,
            sides(5, 30),
            with(&[2], &[1, 3, 4]),
            Scene::Copies(Copies::Tinted),
        ),
        row(
            "measure",
            Whole,
            sides(3, 30),
            FREE,
            unequal((1, 6), (1, 15), Mottled),
        ),
        row(
            "fencing",
            Whole,
            sides(3, 30),
            FREE,
            some((2, 8), (1, 5), Mixed),
        ),
        row(
            "handshakes",
            Whole,
            sides(3, 30),
            FREE,
            unequal((2, 7), (1, 12), Irregular),
        ),
        row("rooms", Whole, sides(3, 30), LOW, Lattice),
        row(
            "freefall",
            Whole,
            sides(4, 30),
            with(&[2, 5], &[5]),
            some((2, 7), (1, 6), Irregular),
        ),
        row(
            "sheet",
            Whole,
            sides(3, 30),
            FREE,
            unequal((1, 5), (1, 5), Irregular),
        ),
        row(
            "beacon",
            Whole,
            sides(3, 30),
            FREE,
            unequal((1, 3), (1, 12), Mottled),
        ),
        row(
            "duel",
            Whole,
            sides(4, 30),
            with(&[2, 5], &[]),
            some((2, 2), (1, 12), Irregular),
        ),
        row(
            "garrison",
            Whole,
            sides(3, 30),
            FREE,
            unequal((3, 9), (1, 12), Irregular),
        ),
        row("mosaic", Whole, sides(2, 30), LOW, Noise),
        row(
            "cityplan",
            Whole,
            sides(3, 30),
            BLACK,
            unequal((2, 8), (1, 14), Irregular),
        ),
    ]
};
