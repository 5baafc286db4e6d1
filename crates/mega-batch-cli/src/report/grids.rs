//! The grids of a document in few bytes, and the table that the grids of a task share.

use std::collections::HashMap;

use serde::{Deserialize, Deserializer};

use super::bounded::fold_list;

/// Grids with longer sides are not drawn: their cells would be smaller than a point.
pub(super) const MAX_SIDE: usize = 100;

/// A grid that was read: `HEIGHTxWIDTH:CELLS` in reading order, with one character for each cell, or `HEIGHTxWIDTH` if
/// it is too large to draw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Grid(pub(super) String);

/// The character of a colour: its digit for 0 to 9, for any other colour the character 384 + colour.
fn character(colour: i8) -> char {
    match u8::try_from(colour) {
        Ok(digit @ 0..=9) => (b'0' + digit) as char,
        _ => char::from_u32((384 + i32::from(colour)) as u32).unwrap_or('?'),
    }
}

/// A row, or all rows so far: the cells that can be drawn, and the full size.
#[derive(Default)]
struct Cells {
    drawn: String,
    width: usize,
    height: usize,
}

impl<'de> Deserialize<'de> for Cells {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expecting = "a row, a list of colours from -128 to 127";
        fold_list(deserializer, expecting, |row: &mut Cells, colour| {
            if row.width < MAX_SIDE {
                row.drawn.push(character(colour));
            }
            row.width += 1;
            Ok(())
        })
    }
}

impl<'de> Deserialize<'de> for Grid {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let add = |grid: &mut Cells, row: Cells| {
            if grid.height == 0 {
                grid.width = row.width;
            }
            let (found, expected) = (row.width, grid.width);
            if found != expected {
                return Err(format!(
                    "row of {found} cells: expected {expected}, as in row 0"
                ));
            }
            if grid.height < MAX_SIDE {
                grid.drawn += &row.drawn;
            }
            grid.height += 1;
            Ok(())
        };
        let grid = fold_list(deserializer, "a grid, a list of rows", add)?;
        let sides = format!("{}x{}", grid.height, grid.width);
        Ok(Grid(if grid.width.max(grid.height) > MAX_SIDE {
            sides
        } else {
            format!("{sides}:{}", grid.drawn)
        }))
    }
}

/// The index of a grid in its table, or [`NONE`].
pub(super) type GridIndex = i32;

/// The place of a grid that there is not.
pub(super) const NONE: GridIndex = -1;

/// The distinct grids of a task: outputs mostly equal the expected ones.
#[derive(Debug, Default)]
pub(super) struct Grids {
    /// The texts by index.
    pub(super) texts: Vec<String>,
    places: HashMap<String, GridIndex>,
}

impl Grids {
    /// Adds a grid, if there is one, and returns its index.
    pub(super) fn place(&mut self, grid: Option<Grid>) -> GridIndex {
        let Some(Grid(text)) = grid else {
            return NONE;
        };
        let next = self.texts.len() as GridIndex;
        // Whether two large grids are equal is not known.
        let place = if text.contains(':') {
            *self.places.entry(text.clone()).or_insert(next)
        } else {
            next
        };
        if place == next {
            self.texts.push(text);
        }
        place
    }

    /// Adds grids, exactly `count` of them: the rest are left out, and missing ones have no place.
    pub(super) fn places<G: Into<Option<Grid>>>(
        &mut self,
        grids: Vec<G>,
        count: usize,
    ) -> Vec<GridIndex> {
        let grids = grids.into_iter().take(count);
        let mut places: Vec<_> = grids.map(|grid| self.place(grid.into())).collect();
        places.resize(count, NONE);
        places
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
        assert_eq!(grid("[[0, 9], [10, -1]]").0, "2x2:09\u{18a}\u{17f}");
        let (low, high) = (character(-128), character(127));
        assert_eq!((low as u32, high as u32), (256, 511));
    }

    #[test]
    fn what_is_too_large_keeps_its_size_alone() {
        assert_eq!(square(MAX_SIDE).0.len(), "100x100:".len() + 10_000);
        assert_eq!(square(101).0, "101x101");
        assert_eq!(grid(&format!("[{}]", ["[1]"; 500].join(","))).0, "500x1");
        assert_eq!(grid("[]").0, "0x0:");
        assert_eq!(grid("[[], []]").0, "2x0:");
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
        let places = ["[[1]]", "[[2]]", "[[1]]"].map(|text| grids.place(Some(grid(text))));
        assert_eq!(places, [0, 1, 0]);
        assert_eq!(grids.place(None), NONE);
        let large = [101, 101].map(|side| grids.place(Some(square(side))));
        assert_eq!(large, [2, 3]);
        assert_eq!(grids.texts, ["1x1:1", "1x1:2", "101x101", "101x101"]);
    }
}
