//! The grids of a document in few bytes, and the table that the grids of a task share.

use std::collections::HashMap;
use std::fmt;

use serde::de::{Error, IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::bounded::fold_list;

/// Grids with longer sides are not drawn: their cells would be smaller than a point.
pub(super) const MAX_SIDE: usize = 100;

/// A grid that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Grid {
    /// Its cells in reading order, one character each: the digit of the colours 0 to 9, for any other colour the
    /// character 384 + colour.
    Drawn {
        height: usize,
        width: usize,
        cells: String,
    },
    /// A grid that is too large to draw.
    Large { height: usize, width: usize },
}

/// The character of a colour.
fn character(colour: i8) -> char {
    match u8::try_from(colour) {
        Ok(digit @ 0..=9) => (b'0' + digit) as char,
        _ => char::from_u32((384 + i32::from(colour)) as u32).unwrap_or('?'),
    }
}

/// A row: the cells that can be drawn, and its full width.
#[derive(Default)]
struct Row {
    cells: String,
    width: usize,
}

impl<'de> Deserialize<'de> for Row {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expecting = "a row, a list of colours from -128 to 127";
        fold_list(deserializer, expecting, |row: &mut Row, colour| {
            if row.width < MAX_SIDE {
                row.cells.push(character(colour));
            }
            row.width += 1;
        })
    }
}

impl<'de> Deserialize<'de> for Grid {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Rows;
        impl<'de> Visitor<'de> for Rows {
            type Value = Grid;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a grid, a list of rows")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Grid, A::Error> {
                let (mut cells, mut width, mut height) = (String::new(), 0, 0);
                while let Some(row) = list.next_element::<Row>()? {
                    if height == 0 {
                        width = row.width;
                    } else if row.width != width {
                        let message =
                            format!("row of {} cells: expected {width}, as in row 0", row.width);
                        return Err(A::Error::custom(message));
                    }
                    height += 1;
                    cells.push_str(&row.cells);
                    if height == MAX_SIDE {
                        break;
                    }
                }
                // Rows past the drawn ones are only counted.
                while list.next_element::<IgnoredAny>()?.is_some() {
                    height += 1;
                }
                Ok(if width.max(height) > MAX_SIDE {
                    Grid::Large { height, width }
                } else {
                    Grid::Drawn {
                        height,
                        width,
                        cells,
                    }
                })
            }
        }
        deserializer.deserialize_seq(Rows)
    }
}

/// The index of a grid in its table; -1 in the data if there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place(Option<u32>);

impl Place {
    pub(super) const NONE: Place = Place(None);

    /// Whether both are known to be the same grid.
    pub(super) fn is(self, other: Place) -> bool {
        self.0.is_some() && self.0 == other.0
    }

    pub(super) fn exists(self) -> bool {
        self.0.is_some()
    }
}

impl Serialize for Place {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(self.0.map_or(-1, i64::from))
    }
}

/// The distinct grids of a task: outputs mostly equal the expected ones.
#[derive(Debug, Default)]
pub(super) struct Grids {
    texts: Vec<String>,
    places: HashMap<String, u32>,
}

impl Grids {
    /// Adds a grid, if there is one, and returns its index.
    pub(super) fn place(&mut self, grid: Option<Grid>) -> Place {
        let Some(grid) = grid else {
            return Place(None);
        };
        let next = self.texts.len() as u32;
        let text = match grid {
            // Whether two large grids are equal is not known.
            Grid::Large { height, width } => {
                self.texts.push(format!("{height}x{width}"));
                return Place(Some(next));
            }
            Grid::Drawn {
                height,
                width,
                cells,
            } => format!("{height}x{width}:{cells}"),
        };
        let place = *self.places.entry(text.clone()).or_insert(next);
        if place == next {
            self.texts.push(text);
        }
        Place(Some(place))
    }

    /// Adds grids, exactly `count` of them: the rest are left out, and missing ones have no place.
    pub(super) fn places<G: Into<Option<Grid>>>(
        &mut self,
        grids: Vec<G>,
        count: usize,
    ) -> Vec<Place> {
        let grids = grids.into_iter().take(count);
        let mut places: Vec<_> = grids.map(|grid| self.place(grid.into())).collect();
        places.resize(count, Place::NONE);
        places
    }

    /// The texts by index: `HEIGHTxWIDTH:CELLS`, without cells if it is not drawn.
    pub(super) fn into_texts(self) -> Vec<String> {
        self.texts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(text: &str) -> Grid {
        serde_json::from_str(text).unwrap()
    }

    fn square(side: usize) -> Grid {
        let row = format!("[{}]", vec!["0"; side].join(","));
        grid(&format!("[{}]", vec![row; side].join(",")))
    }

    #[test]
    fn a_cell_takes_one_character() {
        let expected = Grid::Drawn {
            height: 2,
            width: 2,
            cells: "09\u{18a}\u{17f}".to_owned(),
        };
        assert_eq!(grid("[[0, 9], [10, -1]]"), expected);
        let (low, high) = (character(-128), character(127));
        assert_eq!((low as u32, high as u32), (256, 511));
    }

    #[test]
    fn what_is_too_large_keeps_its_size_alone() {
        assert!(matches!(square(MAX_SIDE), Grid::Drawn { ref cells, .. } if cells.len() == 10_000));
        let (height, width) = (101, 101);
        assert_eq!(square(101), Grid::Large { height, width });
        for (height, text) in [(0, "[]"), (2, "[[], []]")] {
            let empty = Grid::Drawn {
                height,
                width: 0,
                cells: String::new(),
            };
            assert_eq!(grid(text), empty);
        }
    }

    #[test]
    fn what_is_no_grid_says_where() {
        for (text, message) in [
            (
                "[[1, 2],\n [3]]",
                "row of 1 cells: expected 2, as in row 0 at line 2 column 5",
            ),
            ("[[1, 300]]", "invalid value: integer `300`, expected i8"),
            ("[[1.5]]", "invalid type: floating point `1.5`, expected i8"),
            ("[7]", "expected a row, a list of colours from -128 to 127"),
            ("7", "expected a grid, a list of rows"),
        ] {
            let error = serde_json::from_str::<Grid>(text).unwrap_err().to_string();
            assert!(error.contains(message), "{text}: {error}");
        }
    }

    #[test]
    fn equal_grids_have_one_place() {
        let mut grids = Grids::default();
        let [a, b, c] = ["[[1]]", "[[2]]", "[[1]]"].map(|text| grids.place(Some(grid(text))));
        assert!(a.is(c) && !a.is(b));
        let none = grids.place(None);
        assert!(!none.exists() && !none.is(none));
        let large = [101, 101].map(|side| grids.place(Some(square(side))));
        assert!(!large[0].is(large[1]));
        assert_eq!(grids.into_texts(), ["1x1:1", "1x1:2", "101x101", "101x101"]);
    }
}
