//! Compares functions on tiles with the reference's primitives.

use super::Tile;
use arc_dsl::generate::{Expression, Generator};
use arc_dsl::{Grid, Interpreter, Loc, Primitive, Type, Value};

/// The result of the reference; `None` if it fails.
pub(super) fn reference(primitive: Primitive, arguments: &[&Value]) -> Option<Value> {
    Interpreter::default()
        .call(Value::primitive(primitive), arguments)
        .ok()
}

/// A pair of integers.
pub(super) fn loc(value: &Value) -> Option<Loc> {
    match value {
        Value::Loc(loc) => Some(*loc),
        _ => None,
    }
}

/// The planes of a grid, if it fits them.
pub(super) fn tile(grid: &Value) -> Option<Tile> {
    let mut tile = Tile::default();
    tile.set(grid.as_grid()?.as_ref()).ok()?;
    Some(tile)
}

/// A tile with old content that a function has to overwrite.
pub(super) fn used() -> Tile {
    Tile {
        planes: [[0xdead_beef; 32]; 4],
        height: 29,
        width: 31,
    }
}

/// Checks that `function` computes the reference's grid from the first argument, to the last bit of its planes,
/// and returns whether it had a result.
pub(super) fn agree(
    primitive: Primitive,
    arguments: &[&Value],
    function: impl FnOnce(&Tile, &mut Tile) -> Option<()>,
) -> bool {
    let from = tile(arguments[0]).expect("a grid that fits");
    let mut to = used();
    if function(&from, &mut to).is_none() {
        return false;
    }
    let expected = reference(primitive, arguments).expect("no error");
    let same = tile(&expected).is_some_and(|expected| expected == to);
    assert!(
        same,
        "{primitive}{arguments:?}\ngave {}\nnot {expected}",
        to.grid()
    );
    true
}

/// The same on random calls of the primitive whose first argument is a grid; most of them must have a result.
pub(super) fn agree_on_cases(
    primitive: Primitive,
    mut function: impl FnMut(&Tile, &[Value], &mut Tile) -> Option<()>,
) {
    let mut generator = Generator::new(primitive as u64);
    let (mut tried, mut made) = (0, 0);
    for _ in 0..400 {
        let arguments: Vec<_> = generator
            .arguments(primitive)
            .into_iter()
            .filter_map(|argument| match argument {
                Expression::Value(value) => Some(value),
                Expression::Call(..) => None,
            })
            .collect();
        let Some(true) = arguments.first().map(|first| tile(first).is_some()) else {
            continue;
        };
        let given: Vec<_> = arguments.iter().collect();
        tried += 1;
        made += usize::from(agree(primitive, &given, |tile, to| {
            function(tile, &arguments, to)
        }));
    }
    assert!(tried > 60 && made > tried / 2, "{made} of {tried}");
}

/// Grids of the generator, and some with extreme sizes and numbers of colours.
pub(super) fn grids(seed: u64) -> Vec<Value> {
    let mut generator = Generator::new(seed);
    let mut grids: Vec<_> = (0..100).map(|_| generator.value(Type::Grid)).collect();
    let mut state = seed;
    for (height, width) in SIZES {
        for colours in [1, 2, 4, 16] {
            let cells = (0..height * width)
                .map(|_| {
                    state = state
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1);
                    ((state >> 40) % colours) as i8 - 1
                })
                .collect();
            grids.push(Grid::from_cells(height, width, cells).into());
        }
    }
    grids
}

/// Heights and widths near the limits of tiles and of the halves of tiles.
pub(super) const SIZES: [(usize, usize); 18] = [
    (0, 0),
    (1, 0),
    (32, 0),
    (1, 1),
    (1, 2),
    (2, 1),
    (3, 3),
    (1, 32),
    (32, 1),
    (10, 10),
    (16, 16),
    (17, 16),
    (16, 17),
    (5, 32),
    (32, 13),
    (31, 32),
    (32, 31),
    (32, 32),
];
