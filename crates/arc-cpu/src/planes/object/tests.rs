use std::borrow::Cow;

use super::*;
use crate::planes::{code_of, colour_of};
use arc_dsl as patch;
use arc_dsl::generate::Generator;
use arc_dsl::{Cell, Interpreter, Loc, Primitive, Type, Value};

/// An object that owns its data.
#[derive(Clone)]
pub(crate) struct OwnedObject {
    i: i32,
    j: i32,
    width: u32,
    rows: Vec<u64>,
    tile: Tile,
    /// The code of all cells, if they share one.
    code: Option<u32>,
}

impl OwnedObject {
    /// The object of these cells; `None` if they do not fit planes.
    pub(crate) fn of(cells: &[Cell]) -> Option<Self> {
        let mut window = Window::default();
        for cell in cells {
            window.insert(cell.loc).ok()?;
        }
        let shape = window.tighten();
        if shape.count() as usize != cells.len() {
            return None;
        }
        let first = cells.first().map_or(0, |cell| cell.colour);
        let one = cells.iter().all(|cell| cell.colour == first);
        let mut tile = Tile {
            height: 32,
            width: 32,
            ..Tile::default()
        };
        for cell in cells.iter().filter(|_| !one) {
            let code = code_of(cell.colour).ok()?;
            // Away from the box's corner, so that a count from the wrong corner shows.
            let (r, c) = (
                cell.loc.i - shape.i + LEFT_OUT,
                cell.loc.j - shape.j + LEFT_OUT,
            );
            if r >= 32 || c >= 32 {
                return None;
            }
            for (k, plane) in tile.planes.iter_mut().enumerate() {
                plane[r as usize] |= (code >> k & 1) << c;
            }
        }
        Some(Self {
            i: shape.i,
            j: shape.j,
            width: shape.width,
            rows: shape.rows.to_vec(),
            tile,
            code: if one {
                Some(code_of(first).ok()?)
            } else {
                None
            },
        })
    }

    pub(crate) fn object(&self) -> Object<'_> {
        Object {
            shape: Shape {
                i: self.i,
                j: self.j,
                width: self.width,
                rows: &self.rows,
            },
            colours: match self.code {
                Some(code) => Colours::One(code),
                None => Colours::Many {
                    tile: &self.tile,
                    i: self.i - LEFT_OUT,
                    j: self.j - LEFT_OUT,
                },
            },
        }
    }
}

/// How many rows and columns the tile of a test object has before its box.
const LEFT_OUT: i32 = 2;

/// The elements of a container in order.
/// The elements of a container, those of a set ascending.
pub(crate) fn elements(container: &Value) -> Vec<Value> {
    let elements = container.as_container().unwrap();
    elements.iter_stored().map(Cow::into_owned).collect()
}

pub(crate) fn cells_of(object: &Object<'_>) -> patch::Object {
    let mut cells = Vec::new();
    for code in in_order(object.palette()) {
        for r in 0..object.shape.rows.len() {
            for column in Columns(object.row_of(code, r)) {
                let (i, j) = (object.shape.i + r as i32, object.shape.j + column as i32);
                cells.push(Cell::new(colour_of(code), Loc::new(i, j)));
            }
        }
    }
    let made = patch::Object::new(cells.clone());
    assert_eq!(made.as_slice(), cells);
    made
}

/// Objects of the generator that are sets of cells, some of them moved.
pub(crate) fn objects(seed: u64, count: usize) -> impl Iterator<Item = patch::Object> {
    let mut generator = Generator::new(seed);
    (0..count).filter_map(move |at| {
        let object = generator.value(Type::Object);
        let object = match (at % 3, generator.value(Type::IntegerTuple)) {
            (0, by @ Value::Loc(_)) => Interpreter::default()
                .call(Value::primitive(Primitive::Shift), &[&object, &by])
                .unwrap(),
            _ => object,
        };
        match object {
            Value::Object(object) => Some((*object).clone()),
            _ => None,
        }
    })
}

#[test]
fn cells_come_back_as_they_went_in() {
    let mut fitted = 0;
    for object in objects(3, 600) {
        if let Some(made) = OwnedObject::of(object.as_slice()) {
            fitted += 1;
            assert_eq!(cells_of(&made.object()), object);
        }
    }
    assert!(fitted > 300, "{fitted}");
}

fn call(primitive: Primitive, arguments: &[&Value]) -> Option<Value> {
    Interpreter::default()
        .call(Value::primitive(primitive), arguments)
        .ok()
}

/// Objects as planes and as the reference represents them: from the generator, and overlapping parts of its
/// grids, some with equal and some with different colours.
fn samples(seed: u64) -> Vec<(OwnedObject, patch::Object)> {
    let mut generator = Generator::with_scenes(seed, 40);
    let mut parts = Vec::new();
    for _ in 0..60 {
        let (grid, locs) = (generator.value(Type::Grid), generator.value(Type::Indices));
        for all in [
            call(Primitive::Asobject, &[&grid]),
            call(Primitive::Toobject, &[&locs, &grid]),
        ] {
            if let Some(Value::Object(object)) = all {
                parts.push((*object).clone());
            }
        }
    }
    objects(seed, 120)
        .chain(parts)
        .filter_map(|object| Some((OwnedObject::of(object.as_slice())?, object)))
        .collect()
}

fn colour(code: Option<u32>) -> Option<Value> {
    code.map(|code| Value::Int(colour_of(code)))
}

#[test]
fn colours_are_those_of_the_reference() {
    let (mut many, mut decided) = (0, 0);
    for (made, reference) in samples(11) {
        let object = made.object();
        let value = Value::from(reference.clone());
        // Ties are not decided where colours share places of the set's table.
        for (found, primitive) in [
            (object.mostcolor(), Primitive::Mostcolor),
            (object.leastcolor(), Primitive::Leastcolor),
        ] {
            if let Ok(code) = found {
                assert_eq!(colour(code), call(primitive, &[&value]));
                decided += 1;
            }
        }
        let palette = in_order(object.palette()).map(|code| Value::Int(colour_of(code)));
        let expected = call(Primitive::Palette, &[&value]).unwrap();
        assert_eq!(palette.collect::<Vec<_>>(), elements(&expected));
        let count = Value::Int(object.numcolors() as i32);
        assert_eq!(Some(count), call(Primitive::Numcolors, &[&value]));
        many += usize::from(object.numcolors() > 1);
        for code in 0..16 {
            let count = object.colorcount(code);
            assert_eq!(count, object.histogram()[code as usize]);
            let asked = Value::Int(colour_of(code));
            let expected = call(Primitive::Colorcount, &[&value, &asked]);
            assert_eq!(Some(Value::Int(count as i32)), expected);
        }
    }
    assert!(many > 50 && decided > 100, "{many} {decided}");
}

#[test]
fn the_tile_of_an_object_has_its_colours_and_nothing_else() {
    let mut tile = Tile::default();
    for (made, reference) in samples(12) {
        let object = made.object();
        let shape = object.shape;
        if object.tile(&mut tile).is_err() {
            assert!(shape.width > 32 || shape.rows.len() > 32);
            continue;
        }
        assert_eq!((tile.height, tile.width), (shape.height(), shape.width));
        let mut colours = 0;
        for cell in reference.as_slice() {
            let (r, c) = (cell.loc.i - shape.i, cell.loc.j - shape.j);
            assert_eq!(tile.colour(r as usize, c as usize), cell.colour);
            colours += u32::from(cell.colour != 0);
        }
        let marks = (0..32).map(|i| {
            (0..4)
                .fold(0, |all, k| all | tile.planes[k][i])
                .count_ones()
        });
        assert_eq!(marks.sum::<u32>(), colours);
        // Its own tile works too.
        let colours = Colours::Many {
            tile: &tile,
            i: shape.i,
            j: shape.j,
        };
        let other = Object { shape, colours };
        assert!(other.equals(&object) && object.equals(&other));
        assert_eq!(other.compare(&object), Ordering::Equal);
        assert_eq!(cells_of(&other), reference);
    }
}

#[test]
fn pairs_compare_and_meet_as_in_the_reference() {
    let all = samples(13);
    let mut window = Window::default();
    let (mut equal, mut common) = (0, 0);
    for (at, (a, reference_a)) in all.iter().enumerate() {
        let near = &all[at..(at + 12).min(all.len())];
        for (b, reference_b) in near {
            let (a, b) = (a.object(), b.object());
            assert_eq!(
                a.compare(&b),
                reference_a.cmp(reference_b),
                "{reference_a} {reference_b}"
            );
            assert_eq!(b.compare(&a), reference_b.cmp(reference_a));
            assert_eq!(a.equals(&b), reference_a == reference_b);
            equal += usize::from(a.equals(&b));
            a.intersection(&b, &mut window).unwrap();
            let shape = window.tighten();
            let both = Object {
                shape,
                colours: a.colours,
            };
            let expected = |keep: bool| {
                let cells = reference_a.as_slice().iter().copied();
                cells
                    .filter(|cell| reference_b.contains(cell) == keep)
                    .collect::<patch::Object>()
            };
            common += shape.rows.len();
            assert_eq!(cells_of(&both), expected(true));
            a.difference(&b, &mut window).unwrap();
            let shape = window.tighten();
            assert_eq!(
                cells_of(&Object {
                    shape,
                    colours: a.colours
                }),
                expected(false)
            );
        }
    }
    assert!(equal > all.len() && common > 1000, "{equal} {common}");
}

#[test]
fn an_object_that_ends_before_the_other_goes_on_is_less() {
    let made = |cells: &[(i32, i32, i32)]| {
        let cells: Vec<_> = cells
            .iter()
            .map(|&(c, i, j)| Cell::new(c, Loc::new(i, j)))
            .collect();
        (
            OwnedObject::of(&cells).unwrap(),
            cells.into_iter().collect::<patch::Object>(),
        )
    };
    let all = [
        made(&[]),
        made(&[(1, 0, 0)]),
        made(&[(1, 0, 0), (1, 0, 2)]),
        made(&[(1, 0, 0), (1, 0, 1)]),
        made(&[(1, 0, 0), (2, 0, 1)]),
        made(&[(1, 0, 0), (1, 5, -3)]),
        made(&[(-1, 3, 3), (14, 0, 0)]),
        made(&[(-1, 3, 3)]),
        made(&[(1, -100_000_000, 7)]),
        made(&[(1, 100_000_000, 7)]),
        made(&[(1, 0, 40)]),
    ];
    for (a, reference_a) in &all {
        for (b, reference_b) in &all {
            let order = a.object().compare(&b.object());
            assert_eq!(
                order,
                reference_a.cmp(reference_b),
                "{reference_a} {reference_b}"
            );
        }
    }
}

#[test]
fn the_cells_of_some_codes_are_those_of_each() {
    let (mut window, mut several) = (Window::default(), 0);
    for object in objects(14, 400) {
        let Some(made) = OwnedObject::of(object.as_slice()) else {
            continue;
        };
        let object = made.object();
        if matches!(object.colours, Colours::One(_)) {
            continue;
        }
        for codes in [object.palette(), object.palette() & 0x5555, 1 << 3, 0x00ff] {
            object.of_codes(codes, &mut window).unwrap();
            let mut count = 0;
            for (r, &row) in window.rows[..window.height].iter().enumerate() {
                let expected = (0..16).filter(|code| codes >> code & 1 == 1);
                let expected = expected.fold(0, |all, code| all | object.row_of(code, r));
                assert_eq!(row, expected);
                count += row.count_ones();
            }
            several += usize::from(0 < count && count < object.shape.count());
        }
        for r in 0..object.shape.rows.len() {
            let (row, planes) = object.row_with_planes(r);
            assert_eq!(row, object.shape.rows[r]);
            for column in Columns(row) {
                let bit = |k: usize| (planes[k] >> column & 1) << k;
                let code = bit(0) | bit(1) | bit(2) | bit(3);
                assert_eq!(object.row_of(code as u32, r) >> column & 1, 1);
            }
        }
    }
    assert!(several > 100, "{several}");
}
