//! What stands where in a task's JSON: serde seeds, one for each part of it.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::Pair;
use crate::grid::Grid;

/// The most rows and columns that a grid of the ARC data has.
pub const MAX_SIDE: usize = 30;

/// Reads the entries of an object, values unread, in their order and with repetitions.
pub(super) struct EntriesSeed<'v, 'a> {
    pub(super) expected: &'static str,
    pub(super) entries: &'v mut Vec<(String, &'a RawValue)>,
}

impl<'a> DeserializeSeed<'a> for EntriesSeed<'_, 'a> {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'a> Visitor<'a> for EntriesSeed<'_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(entry) = map.next_entry()? {
            self.entries.push(entry);
        }
        Ok(())
    }
}

/// Declares a seed whose value is read by the `visit_*` methods given.
macro_rules! seed {
    ($seed:ident, $value:ty, $deserialize:ident, $expecting:literal, { $($visit:item)+ }) => {
        impl<'de> DeserializeSeed<'de> for $seed {
            type Value = $value;

            fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<$value, D::Error> {
                deserializer.$deserialize(self)
            }
        }

        impl<'de> Visitor<'de> for $seed {
            type Value = $value;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str($expecting)
            }

            $($visit)+
        }
    };
}

/// Keeps the first value that a key has; a second one is an error.
fn set<T, E: Error>(slot: &mut Option<T>, key: &str, value: T) -> Result<(), E> {
    match slot.replace(value) {
        Some(_) => Err(E::custom(format_args!("the key `{key}` stands here twice"))),
        None => Ok(()),
    }
}

/// Reads the pairs of a task, `train` and `test`.
pub(super) struct TaskSeed;

seed!(
    TaskSeed,
    (Vec<Pair>, Vec<Pair>),
    deserialize_map,
    "a task: an object with the keys `train` and `test`",
    {
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let (mut train, mut test) = (None, None);
            while let Some(key) = map.next_key::<String>()? {
                match key.as_str() {
                    "train" => set(&mut train, &key, map.next_value_seed(PairsSeed)?)?,
                    "test" => set(&mut test, &key, map.next_value_seed(PairsSeed)?)?,
                    _ => drop(map.next_value::<IgnoredAny>()?),
                }
            }
            let missing = |key| {
                A::Error::custom(format_args!(
                    "expected the key `{key}` with a list of pairs"
                ))
            };
            Ok((
                train.ok_or_else(|| missing("train"))?,
                test.ok_or_else(|| missing("test"))?,
            ))
        }
    }
);

struct PairsSeed;

seed!(PairsSeed, Vec<Pair>, deserialize_seq, "a list of pairs", {
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = seq.next_element_seed(PairSeed)? {
            pairs.push(pair);
        }
        Ok(pairs)
    }
});

struct PairSeed;

seed!(
    PairSeed,
    Pair,
    deserialize_map,
    "a pair: an object with the key `input` and, where it is known, `output`",
    {
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let (mut input, mut output) = (None, None);
            while let Some(key) = map.next_key::<String>()? {
                match key.as_str() {
                    "input" => set(&mut input, &key, map.next_value_seed(GridSeed)?)?,
                    "output" => set(&mut output, &key, map.next_value_seed(GridSeed)?)?,
                    _ => drop(map.next_value::<IgnoredAny>()?),
                }
            }
            let input =
                input.ok_or_else(|| A::Error::custom("expected the key `input` with a grid"))?;
            Ok(Pair::new(input, output))
        }
    }
);

/// Reads the outputs of a task's test pairs.
pub(super) struct GridsSeed;

seed!(
    GridsSeed,
    Vec<Grid>,
    deserialize_seq,
    "a list of grids, one for each test pair",
    {
        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
            let mut grids = Vec::new();
            while let Some(grid) = seq.next_element_seed(GridSeed)? {
                grids.push(grid);
            }
            Ok(grids)
        }
    }
);

struct GridSeed;

seed!(GridSeed, Grid, deserialize_seq, "a grid: a list of rows", {
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut cells = Vec::new();
        let mut height = 0;
        while height < MAX_SIDE
            && seq
                .next_element_seed(RowSeed {
                    row: height,
                    cells: &mut cells,
                })?
                .is_some()
        {
            height += 1;
        }
        let rows = height + remaining(&mut seq)?;
        if !(1..=MAX_SIDE).contains(&rows) {
            return Err(A::Error::custom(format_args!(
                "grid of {rows} rows: expected 1 to {MAX_SIDE}"
            )));
        }
        Ok(Grid::from_cells(height, cells.len() / height, cells))
    }
});

/// How many elements are left, which are passed over.
fn remaining<'de, A: SeqAccess<'de>>(seq: &mut A) -> Result<usize, A::Error> {
    let mut count = 0;
    while seq.next_element::<IgnoredAny>()?.is_some() {
        count += 1;
    }
    Ok(count)
}

/// Adds row number `row` to the cells of the rows before it.
struct RowSeed<'c> {
    row: usize,
    cells: &'c mut Vec<i8>,
}

impl<'de> DeserializeSeed<'de> for RowSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for RowSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a row: a list of colours")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let Self { row, cells } = self;
        let before = cells.len();
        while cells.len() - before < MAX_SIDE
            && let Some(colour) = seq.next_element_seed(ColourSeed)?
        {
            cells.push(colour);
        }
        let width = cells.len() - before + remaining(&mut seq)?;
        if !(1..=MAX_SIDE).contains(&width) {
            return Err(A::Error::custom(format_args!(
                "row of {width} cells: expected 1 to {MAX_SIDE}"
            )));
        }
        if row > 0 && width != before / row {
            let first = before / row;
            return Err(A::Error::custom(format_args!(
                "row of {width} cells where row 0 has {first}: the rows of a grid are equally long"
            )));
        }
        Ok(())
    }
}

struct ColourSeed;

seed!(
    ColourSeed,
    i8,
    deserialize_i64,
    "a colour: an integer from 0 to 9",
    {
        fn visit_u64<E: Error>(self, colour: u64) -> Result<i8, E> {
            match colour {
                0..=9 => Ok(colour as i8),
                _ => Err(E::custom(format_args!("colour {colour}: expected 0 to 9"))),
            }
        }

        fn visit_i64<E: Error>(self, colour: i64) -> Result<i8, E> {
            // Whole numbers that are not negative come as unsigned ones.
            Err(E::custom(format_args!("colour {colour}: expected 0 to 9")))
        }
    }
);
