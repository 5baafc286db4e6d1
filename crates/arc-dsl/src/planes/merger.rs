//! [`Merger`]: objects and cells put together to one object.

use super::object::{Colours, Object, unlike};
use super::shape::shifted;
use super::{Misfit, NO_BITS, Shape, Tile, Window, code_of};
use crate::patch::Cell;

/// The union of objects while it is made.
///
/// As long as all that is added has its colours from one place, they are left there.
pub(crate) struct Merger<'w, 'c, 't> {
    window: &'w mut Window,
    tile: &'c mut Tile,
    state: State<'t>,
    /// How many objects were added.
    added: usize,
}

/// Where the colours are.
#[derive(Clone, Copy)]
enum State<'t> {
    /// There is no cell.
    Empty,
    /// With the object that was added as number `of`.
    Given { colours: Colours<'t>, of: usize },
    /// In the merger's tile, whose first cell lies here.
    Own { i: i32, j: i32 },
}

/// Where the colours of a union are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// Nowhere, since there is no cell.
    Nowhere,
    /// With the object that was added as number so many, counted from 0.
    Given(usize),
    /// In the merger's tile, whose first cell lies here.
    Tile {
        /// Its row.
        i: i32,
        /// Its column.
        j: i32,
    },
}

impl<'w, 'c, 't> Merger<'w, 'c, 't> {
    /// One without cells, to be made in a window and, where that is needed, in a tile.
    #[inline(always)]
    pub(crate) fn new(window: &'w mut Window, tile: &'c mut Tile) -> Self {
        window.height = 0;
        Self {
            window,
            tile,
            state: State::Empty,
            added: 0,
        }
    }

    /// Adds the cells of an object.
    #[inline(always)]
    pub(crate) fn add(&mut self, object: &Object<'t>) -> Result<(), Misfit> {
        let (shape, colours) = (&object.shape, object.colours);
        let of = self.added;
        self.added += 1;
        if shape.is_empty() {
            return Ok(());
        }
        match self.state {
            State::Empty => {
                self.state = State::Given { colours, of };
                // On a grid nothing grows then.
                if shape.i >= 0 && shape.j >= 0 && shape.i + shape.rows.len() as i32 <= 32 {
                    self.window.place(0, 0, 32)?;
                }
            }
            State::Given { colours: given, .. } if given.same(&colours) => {}
            State::Given { colours: given, .. } => {
                self.own(given, shape)?;
                self.paint(object)?;
            }
            State::Own { .. } => self.paint(object)?,
        }
        for (r, &row) in shape.rows.iter().enumerate() {
            self.window.insert_row(shape.i + r as i32, shape.j, row)?;
        }
        Ok(())
    }

    /// Adds a cell.
    #[inline(always)]
    pub(crate) fn add_cell(&mut self, cell: Cell) -> Result<(), Misfit> {
        self.add(&Object {
            shape: Shape {
                i: cell.loc.i,
                j: cell.loc.j,
                width: 1,
                rows: &[1],
            },
            colours: Colours::One(code_of(cell.colour)?),
        })
    }

    /// The locations, and where the colours are.
    #[inline(always)]
    pub(crate) fn finish(self) -> (Shape<'w>, Source) {
        let source = match self.state {
            State::Empty => Source::Nowhere,
            State::Given { of, .. } => Source::Given(of),
            State::Own { i, j } => Source::Tile { i, j },
        };
        (self.window.tighten(), source)
    }

    /// Brings the colours of what is there to the own tile, placed so that the shape fits too.
    fn own(&mut self, given: Colours<'t>, shape: &Shape<'_>) -> Result<(), Misfit> {
        let (i, j) = self.corner(shape)?;
        *self.tile = Tile {
            planes: [NO_BITS; 4],
            height: 32,
            width: 32,
        };
        for (r, &row) in self.window.rows[..self.window.height].iter().enumerate() {
            let row_i = self.window.i + r as i32;
            let row = shifted(row, self.window.j.wrapping_sub(j)) as u32;
            if row != 0 {
                let colours = given.row(row_i, j);
                let at = row_i.wrapping_sub(i) as usize & 31;
                for (plane, colours) in self.tile.planes.iter_mut().zip(colours) {
                    plane[at] = row & colours as u32;
                }
            }
        }
        self.state = State::Own { i, j };
        Ok(())
    }

    /// Where the first cell of a tile lies that is to hold what is there and the shape: the grid's
    /// first cell, if that does.
    fn corner(&self, shape: &Shape<'_>) -> Result<(i32, i32), Misfit> {
        let (mut top, mut left) = (i64::from(shape.i), i64::from(shape.j));
        let mut bottom = top + shape.rows.len() as i64;
        let mut right = left + i64::from(shape.width);
        let mut all = 0;
        for (r, &row) in self.window.rows[..self.window.height].iter().enumerate() {
            if row != 0 {
                let i = i64::from(self.window.i) + r as i64;
                top = top.min(i);
                bottom = bottom.max(i + 1);
                all |= row;
            }
        }
        if all != 0 {
            let j = i64::from(self.window.j);
            left = left.min(j + i64::from(all.trailing_zeros()));
            right = right.max(j + 64 - i64::from(all.leading_zeros()));
        }
        if top >= 0 && left >= 0 && bottom <= 32 && right <= 32 {
            Ok((0, 0))
        } else if bottom - top <= 32 && right - left <= 32 {
            Ok((top as i32, left as i32))
        } else {
            Err(Misfit::Patch)
        }
    }

    /// Puts the colours of the object into the own tile; its locations are not yet in the window.
    fn paint(&mut self, object: &Object<'_>) -> Result<(), Misfit> {
        let shape = &object.shape;
        let fits = |from: i32, length: u32, first: i32| {
            from >= first && i64::from(from) + i64::from(length) <= i64::from(first) + 32
        };
        if let State::Own { i, j } = self.state
            && !(fits(shape.i, shape.height(), i) && fits(shape.j, shape.width, j))
        {
            let (top, left) = self.corner(shape)?;
            for plane in &mut self.tile.planes {
                let old = *plane;
                for (at, row) in plane.iter_mut().enumerate() {
                    let from = (top - i).wrapping_add(at as i32);
                    let from = old.get(from as usize).copied().unwrap_or(0);
                    *row = shifted(u64::from(from), j.wrapping_sub(left)) as u32;
                }
            }
            self.state = State::Own { i: top, j: left };
        }
        let State::Own { i, j } = self.state else {
            return Ok(());
        };
        let mut overlap = 0;
        for (r, &row) in shape.rows.iter().enumerate() {
            let row_i = shape.i + r as i32;
            let at = row_i.wrapping_sub(i) as usize & 31;
            let row = shifted(row, shape.j.wrapping_sub(j));
            let colours = object.colours.row(row_i, j);
            let there = (row_i.wrapping_sub(self.window.i) as usize).min(self.window.height);
            let there = self.window.rows[..self.window.height]
                .get(there)
                .map_or(0, |&there| shifted(there, self.window.j.wrapping_sub(j)));
            let own = [0, 1, 2, 3].map(|k| u64::from(self.tile.planes[k][at]));
            overlap |= row & there & unlike(&own, &colours);
            for (plane, colours) in self.tile.planes.iter_mut().zip(colours) {
                plane[at] |= (row & colours) as u32;
            }
        }
        if overlap == 0 {
            Ok(())
        } else {
            Err(Misfit::Overlap)
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::generate::Generator;
    use crate::patch;
    use crate::{Interpreter, Primitive, Type, Value};

    /// An object that owns what it is made of.
    #[derive(Clone)]
    pub(crate) struct Made {
        pub(crate) i: i32,
        pub(crate) j: i32,
        pub(crate) width: u32,
        pub(crate) rows: Vec<u64>,
        pub(crate) tile: Tile,
        pub(crate) source: Source,
        pub(crate) first: u32,
    }

    impl Made {
        pub(crate) fn of(cells: &[Cell]) -> Result<Self, Misfit> {
            let (mut window, mut tile) = (Window::default(), Tile::default());
            let mut merger = Merger::new(&mut window, &mut tile);
            for &cell in cells {
                merger.add_cell(cell)?;
            }
            let (shape, source) = merger.finish();
            let (i, j, width, rows) = (shape.i, shape.j, shape.width, shape.rows.to_vec());
            let first = cells.first().map_or(Ok(0), |cell| code_of(cell.colour))?;
            Ok(Self {
                i,
                j,
                width,
                rows,
                tile,
                source,
                first,
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
                colours: match self.source {
                    Source::Tile { i, j } => Colours::Many {
                        tile: &self.tile,
                        i,
                        j,
                    },
                    _ => Colours::One(self.first),
                },
            }
        }
    }

    /// The cells, which come in their order.
    pub(crate) fn cells_of(object: &Object<'_>) -> patch::Object {
        let mut cells = Vec::new();
        object
            .cells(|cell| {
                cells.push(cell);
                Ok::<_, ()>(())
            })
            .unwrap();
        let made = patch::Object::new(cells.clone());
        assert_eq!(made.as_slice(), cells);
        made
    }

    /// Objects of the generator, some of them moved, that are sets of cells.
    pub(crate) fn objects(seed: u64, count: usize) -> impl Iterator<Item = patch::Object> {
        let mut generator = Generator::new(seed);
        (0..count).filter_map(move |at| {
            let object = generator.value(Type::Object);
            let object = match (at % 3, generator.value(Type::IntegerTuple)) {
                (0, by @ Value::Loc(_)) => Interpreter::default()
                    .call(Primitive::shift.value(), &[&object, &by])
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
            match Made::of(object.as_slice()) {
                Ok(made) => {
                    fitted += 1;
                    assert_eq!(cells_of(&made.object()), object);
                }
                Err(Misfit::Overlap) => {
                    let twice = object.as_slice().iter().any(|a| {
                        let mut cells = object.as_slice().iter();
                        cells.any(|b| a.loc == b.loc && a.colour != b.colour)
                    });
                    assert!(twice, "{object}");
                }
                Err(Misfit::Colour) => {
                    assert!(
                        object
                            .as_slice()
                            .iter()
                            .any(|cell| !(-1..15).contains(&cell.colour))
                    );
                }
                Err(Misfit::Patch | Misfit::Grid) => {
                    let locs: Vec<_> = object.as_slice().iter().map(|cell| cell.loc).collect();
                    let spread =
                        |all: Vec<i32>| all.iter().max().unwrap() - all.iter().min().unwrap() >= 32;
                    assert!(
                        spread(locs.iter().map(|loc| loc.i).collect())
                            || spread(locs.iter().map(|loc| loc.j).collect())
                    );
                }
            }
        }
        assert!(fitted > 300, "{fitted}");
    }

    #[test]
    fn unions_are_those_of_the_reference() {
        let all: Vec<_> = objects(4, 500)
            .filter_map(|object| Some((Made::of(object.as_slice()).ok()?, object)))
            .collect();
        let (mut interpreter, mut overlaps, mut own) = (Interpreter::default(), 0, 0);
        let (mut window, mut tile) = (Window::default(), Tile::default());
        for (at, (a, reference_a)) in all.iter().enumerate() {
            for (b, reference_b) in &all[at..(at + 8).min(all.len())] {
                let parts = [a.object(), b.object(), a.object()];
                let mut merger = Merger::new(&mut window, &mut tile);
                let added = parts.iter().try_for_each(|part| merger.add(part));
                let expected = interpreter
                    .call(
                        Primitive::combine.value(),
                        &[&reference_a.clone().into(), &reference_b.clone().into()],
                    )
                    .unwrap();
                let Value::Object(expected) = expected else {
                    assert!(reference_a.is_empty() && reference_b.is_empty());
                    continue;
                };
                match added {
                    Ok(()) => {
                        let (shape, source) = merger.finish();
                        let colours = match source {
                            Source::Nowhere => Colours::One(0),
                            Source::Given(of) => parts[of].colours,
                            Source::Tile { i, j } => {
                                own += 1;
                                Colours::Many { tile: &tile, i, j }
                            }
                        };
                        assert_eq!(cells_of(&Object { shape, colours }), *expected);
                    }
                    Err(Misfit::Overlap) => {
                        overlaps += 1;
                        let alone = Interpreter::default()
                            .call(
                                Primitive::toindices.value(),
                                &[&Value::Object(expected.clone())],
                            )
                            .unwrap();
                        assert!(alone.as_container().unwrap().len() < expected.len());
                    }
                    Err(misfit) => {
                        assert_eq!(misfit, Misfit::Patch);
                        assert!(Made::of(expected.as_slice()).is_err());
                    }
                }
            }
        }
        assert!(overlaps > 20 && own > 100, "{overlaps} {own}");
    }
}
