//! Pieces compared with the slow version: each layer painted cell by cell.

use arc_dsl::{Cell, Indices, Object, Value};
use proptest::prelude::*;

use super::*;
use crate::language::Language;
use crate::testing::{batt, grid, grids, node, painted, task};

/// What identifies a piece: the cells that it paints in the outputs of train pairs, which of them are wrong, and its
/// cells in those of test pairs.
type Painted = (Vec<Vec<bool>>, Vec<Vec<bool>>, Vec<Vec<Option<i8>>>);

/// A layer painted slowly; `None` if it does not fit or no cell is right.
fn slowly(batt: &Batt, layer: Layer, task: &Task, frame: &Frame) -> Option<Painted> {
    let cells = (0..frame.sizes.len()).map(|input| painted(batt, layer, input, frame.sizes[input]));
    let mut cells = cells.collect::<Option<Vec<_>>>()?;
    let tests = cells.split_off(task.train.len());
    let is_painted = |cells: &Vec<Option<i8>>| cells.iter().map(Option::is_some).collect();
    let paints = cells.iter().map(is_painted).collect::<Vec<Vec<bool>>>();
    let wrong = cells.iter().zip(&task.train).map(|(cells, pair)| {
        let target = pair.output.as_ref().unwrap().cells();
        let both = cells.iter().zip(target);
        both.map(|(colour, target)| colour.is_some_and(|colour| colour != *target))
            .collect()
    });
    let wrong = wrong.collect::<Vec<Vec<bool>>>();
    (paints != wrong).then_some((paints, wrong, tests))
}

/// A piece's bits, cell by cell.
fn bits(words: &[u64], frame: &Frame) -> Vec<Vec<bool>> {
    let inputs = 0..frame.train;
    inputs
        .map(|input| {
            let words = &words[frame.words(input)];
            let cells = 0..frame.cells(input);
            let past = words.len() * 64;
            assert!((frame.cells(input)..past).all(|at| words[at / 64] >> (at % 64) & 1 == 0));
            cells
                .map(|at| words[at / 64] >> (at % 64) & 1 != 0)
                .collect()
        })
        .collect()
}

/// Values that can be painted, in the order of their costs.
struct Paintable<'l> {
    batt: Batt,
    task: Task,
    enumeration: Enumeration<'l>,
    layers: Vec<(u8, Layer)>,
}

impl<'l> Paintable<'l> {
    fn new(task: Task, language: &'l Language) -> Self {
        Self {
            batt: batt(&task),
            task,
            enumeration: Enumeration::new(language, &[]),
            layers: Vec::new(),
        }
    }

    fn grid(&mut self, grid: NodeId, cost: u8) {
        self.enumeration.add(grid, Kind::GRID, cost, "a grid");
        for layer in [Layer::All(grid), Layer::Shown(grid), Layer::Hidden(grid)] {
            self.layers.push((cost, layer));
        }
    }

    fn object(&mut self, cells: &[(i32, i32, i32)], cost: u8) {
        let cells = cells.iter().map(|(colour, i, j)| Cell {
            colour: *colour,
            loc: Loc::new(*i, *j),
        });
        let object = Value::from(cells.collect::<Object>());
        let object = self.batt.constant(&object).unwrap();
        self.enumeration
            .add(object, Kind::OBJECT, cost, "an object");
        self.layers.push((cost, Layer::Object(object)));
    }

    /// Locations in each of these colours, which are free.
    fn filled(&mut self, locs: &[(i32, i32)], cost: u8, colours: &[NodeId]) {
        let locs = locs.iter().map(|(i, j)| Loc::new(*i, *j));
        let locs = Value::from(locs.collect::<Indices>());
        let locs = self.batt.constant(&locs).unwrap();
        self.enumeration.add(locs, Kind::INDICES, cost, "locations");
        for colour in colours {
            self.enumeration.add(*colour, Kind::COLOUR, 0, "a colour");
            self.layers.push((cost, Layer::Filled(locs, *colour)));
        }
    }

    fn frame(&self, test: &[(usize, usize)]) -> Frame {
        let sizes = self.task.train.iter().map(|pair| {
            let output = pair.output.as_ref().unwrap();
            (output.height(), output.width())
        });
        let sizes = sizes.chain(test.iter().copied());
        Frame::new(sizes.collect(), self.task.train.len())
    }

    fn pieces(&self, frame: &Frame, most: usize) -> Pieces {
        Pieces::of(
            &self.batt,
            &self.enumeration,
            &self.task,
            frame.clone(),
            most,
            true,
        )
    }

    /// Checks that the pieces are exactly the distinct layers, and returns their number.
    fn check(&self, frame: &Frame) -> usize {
        let pieces = self.pieces(frame, usize::MAX);
        let mut expected: Vec<(u8, Layer, Painted)> = Vec::new();
        let mut layers = self.layers.clone();
        let family = |layer: &Layer| match layer {
            Layer::All(_) | Layer::Shown(_) | Layer::Hidden(_) => 0,
            Layer::Object(_) => 1,
            Layer::Filled(..) => 2,
        };
        layers.sort_by_key(|(cost, layer)| (*cost, family(layer)));
        for (cost, layer) in layers {
            let painted = slowly(&self.batt, layer, &self.task, frame);
            let Some(painted) = painted else { continue };
            if expected.iter().all(|(.., known)| *known != painted) {
                expected.push((cost, layer, painted));
            }
        }
        let shown = self.task.train.iter().map(|pair| {
            let cells = pair.output.as_ref().unwrap().cells().iter();
            cells.map(|colour| *colour != 0).collect()
        });
        let shown: Vec<Vec<bool>> = shown.collect();
        assert_eq!(bits(&pieces.shown, frame), shown);
        assert_eq!(pieces.all.len(), expected.len());
        for (number, (cost, layer, (paints, wrong, _))) in expected.iter().enumerate() {
            let piece = pieces.all[number];
            assert_eq!((piece.cost, piece.layer), (*cost, *layer));
            assert_eq!(&bits(pieces.paints(number), frame), paints, "{layer:?}");
            assert_eq!(&bits(pieces.wrong(number), frame), wrong, "{layer:?}");
            let dirty = wrong.iter().map(|wrong| wrong.contains(&true));
            for (input, dirty) in dirty.enumerate() {
                assert_eq!(piece.dirty >> input & 1 != 0, dirty, "{layer:?}");
            }
        }
        pieces.all.len()
    }
}

fn language() -> Language {
    Language::parse("", "").unwrap()
}

fn cells() -> impl Strategy<Value = Vec<(i32, i32, i32)>> {
    prop::collection::vec((0..3_i32, -2..12_i32, -2..12_i32), 0..30)
}

fn locations() -> impl Strategy<Value = Vec<(i32, i32)>> {
    prop::collection::vec((-2..12_i32, -2..12_i32), 0..30)
}

proptest! {
    /// Random grids, objects and locations, some of them outside the output, on outputs of less than a word and of
    /// several words, in which rows start anywhere.
    #[test]
    fn bits_are_what_layers_paint(
        outputs in (grids(3, 4, 0..3), grids(9, 21, 0..3)),
        // The outputs of a test pair and of the train pairs.
        whole in (grids(3, 4, 0..3), grids(9, 21, 0..3), grids(2, 2, 0..3)),
        objects in prop::collection::vec((cells(), 0..5_u8), 0..4),
        filled in prop::collection::vec((locations(), 0..5_u8), 0..4),
    ) {
        let language = language();
        let (small, large) = outputs;
        let task = task(&[(whole.0, small), (whole.1, large)], &[whole.2]);
        let mut made = Paintable::new(task, &language);
        let input = made.batt.input();
        for (cost, expression) in [(1, "I"), (2, "hmirror(I)"), (2, "replace(I, 1, 2)"), (3, "rot90(I)")] {
            let node = match expression {
                "I" => input,
                _ => node(&mut made.batt, expression),
            };
            made.grid(node, cost);
        }
        let mut seen = Vec::new();
        for (cells, cost) in objects {
            // An object has each location once.
            let mut once: Vec<(i32, i32, i32)> = Vec::new();
            for cell in cells {
                if once.iter().all(|other| (other.1, other.2) != (cell.1, cell.2)) {
                    once.push(cell);
                }
            }
            once.sort_unstable();
            if !seen.contains(&once) {
                made.object(&once, cost);
                seen.push(once);
            }
        }
        let colours = [0, 2].map(|colour| made.batt.constant(&Value::Int(colour)).unwrap());
        let mut seen = Vec::new();
        for (mut locs, cost) in filled {
            locs.sort_unstable();
            locs.dedup();
            if !seen.contains(&locs) {
                made.filled(&locs, cost, &colours);
                seen.push(locs);
            }
        }
        let frame = made.frame(&[(2, 2)]);
        made.check(&frame);
    }
}

#[test]
fn grids_of_another_size_than_an_output_are_no_pieces() {
    let language = language();
    let one = grid(&[[1, 2, 3]]);
    let pairs = [(one.clone(), one.clone())];
    let mut made = Paintable::new(task(&pairs, std::slice::from_ref(&one)), &language);
    let input = made.batt.input();
    made.grid(input, 1);
    // All of it, and its shown cells, which are the same.
    assert_eq!(made.check(&made.frame(&[(1, 3)])), 1);
    // On the test pair alone.
    assert_eq!(made.check(&made.frame(&[(3, 1)])), 0);
}

#[test]
fn pieces_that_paint_the_same_are_one_unless_a_test_pair_tells_them_apart() {
    let language = language();
    let output = grid(&[[1, 1, 0, 1]]);
    let count = |test: Grid| {
        let task = task(&[(output.clone(), output.clone())], &[test]);
        let mut made = Paintable::new(task, &language);
        for expression in ["I", "replace(I, 5, 6)"] {
            let node = match expression {
                "I" => made.batt.input(),
                _ => node(&mut made.batt, expression),
            };
            made.grid(node, 1);
        }
        made.check(&made.frame(&[(1, 4)]))
    };
    // All, shown and hidden of one grid.
    assert_eq!(count(grid(&[[1, 0, 1, 1]])), 3);
    // The hidden cells are the same in both.
    assert_eq!(count(grid(&[[5, 0, 1, 1]])), 5);
}

#[test]
fn where_a_piece_paints_on_a_test_pair_alone_tells_it_apart() {
    let language = language();
    let output = grid(&[[1, 0]]);
    let task = task(&[(output.clone(), output.clone())], &[output]);
    let mut made = Paintable::new(task, &language);
    // Outside the train pair's output, the last one outside both.
    for column in [2, 3, 4] {
        made.object(&[(1, 0, 0), (1, 0, column)], 1);
    }
    assert_eq!(made.check(&made.frame(&[(1, 4)])), 3);
    assert_eq!(made.check(&made.frame(&[(1, 2)])), 1);
}

#[test]
fn the_cheapest_pieces_are_kept_where_there_are_too_many() {
    let language = language();
    let output = grid(&[[1, 2, 0], [2, 1, 1]]);
    let mut made = Paintable::new(task(&[(output.clone(), output)], &[]), &language);
    let input = made.batt.input();
    made.grid(input, 7);
    made.object(&[(1, 0, 0)], 3);
    made.object(&[(2, 0, 1)], 2);
    let frame = made.frame(&[]);
    assert_eq!(made.check(&frame), 5);
    let layers: Vec<_> = made.pieces(&frame, 3).all.iter().map(|p| p.cost).collect();
    assert_eq!(layers, [2, 3, 7]);
}
