//! Deserialises the parts of a task's JSON: one serde seed for each.

use std::fmt;

use arc_dsl::Grid;
use arc_text::misspelt;
use serde::de::{
    DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Unexpected, Visitor,
};
use serde_json::value::RawValue;

use super::Pair;

/// The maximum number of cells of a grid that is read: as many as a program may create by default.
pub const MAX_CELLS: usize = 1_000_000;

/// Declares a seed: its value, how it is read, what it expects, and its `visit_*` methods.
macro_rules! seed {
    ($seed:ty, $value:ty, $deserialize:ident, |$seed_of:pat_param| $expecting:expr; $($visit:item)+) => {
        impl<'de> DeserializeSeed<'de> for $seed {
            type Value = $value;

            fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<$value, D::Error> {
                deserializer.$deserialize(self)
            }
        }

        impl<'de> Visitor<'de> for $seed {
            type Value = $value;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let $seed_of = self;
                f.write_str($expecting)
            }

            $($visit)+
        }
    };
}

/// Reads the entries of an object in their order, repeated keys included, without parsing the values.
pub(super) struct EntriesSeed<'v, 'a> {
    pub(super) expected: &'static str,
    pub(super) entries: &'v mut Vec<(String, &'a RawValue)>,
}

seed! {
    EntriesSeed<'_, 'de>, (), deserialize_map, |it| it.expected;
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(entry) = map.next_entry()? {
            self.entries.push(entry);
        }
        Ok(())
    }
}

/// Reads the elements of a list without parsing them, up to the first broken one.
pub(super) struct ElementsSeed<'v, 'a> {
    pub(super) expected: &'static str,
    pub(super) elements: &'v mut Vec<&'a RawValue>,
    /// The maximum number of elements; the rest is not read.
    pub(super) most: usize,
}

seed! {
    ElementsSeed<'_, 'de>, (), deserialize_seq, |it| it.expected;
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while self.elements.len() < self.most
            && let Some(element) = seq.next_element()?
        {
            self.elements.push(element);
        }
        Ok(())
    }
}

/// Reads the entries of an object that is the first element of a list; the rest is not read.
pub(super) struct FirstEntriesSeed<'v, 'a>(pub(super) EntriesSeed<'v, 'a>);

seed! {
    FirstEntriesSeed<'_, 'de>, (), deserialize_seq, |_| "a list";
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        seq.next_element_seed(self.0).map(|_| ())
    }
}

/// The `visit_*` methods that pass over values of these types.
macro_rules! pass_over {
    ($($visit:ident: $value:ty),+) => {
        $(fn $visit<E: Error>(self, _: $value) -> Result<(), E> {
            Ok(())
        })+
    };
}

/// Traverses any value, to obtain the path to a syntax error.
#[derive(Clone, Copy)]
pub(super) struct WalkSeed;

seed! {
    WalkSeed, (), deserialize_any, |_| "a value";
    pass_over! { visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_str: &str }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element_seed(WalkSeed)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while map.next_key::<String>()?.is_some() {
            map.next_value_seed(WalkSeed)?;
        }
        Ok(())
    }
}

/// The end of an error message about a repeated key.
pub(super) const TWICE: &str = " stands here twice";

/// Stores the value of a key; a second one is an error.
fn set<T, E: Error>(slot: &mut Option<T>, key: &str, value: T) -> Result<(), E> {
    match slot.replace(value) {
        Some(_) => Err(E::custom(format_args!("the key `{key}`{TWICE}"))),
        None => Ok(()),
    }
}

/// Reads the pairs of a split.
#[derive(Clone, Copy)]
pub(super) struct PairsSeed;

seed! {
    PairsSeed, Vec<Pair>, deserialize_seq, |_| "a list of pairs";
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = seq.next_element_seed(PairSeed)? {
            pairs.push(pair);
        }
        Ok(pairs)
    }
}

/// Reads one pair.
#[derive(Clone, Copy)]
pub(super) struct PairSeed;

seed! {
    PairSeed, Pair, deserialize_any, |_| "a pair: an object with the key `input` and, where it is known, `output`";
    /// A pair may also be a list of both.
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let input = seq.next_element_seed(InputSeed)?;
        let output = seq.next_element_seed(OutputSeed)?;
        let rest = seq.next_element::<IgnoredAny>()?;
        match (input, output, rest) {
            (Some(input), Some(output), None) => Ok(Pair::new(input, output)),
            _ => Err(A::Error::custom(
                "expected a pair: an object, or a list of an input and an output",
            )),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut input, mut output) = (None, None);
        let mut others = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "input" => set(&mut input, &key, map.next_value_seed(InputSeed)?)?,
                "output" => set(&mut output, &key, map.next_value_seed(OutputSeed)?)?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    others.push(key);
                }
            }
        }
        let others = || others.iter().map(String::as_str);
        let input = input.ok_or_else(|| {
            let found = misspelt("input", others());
            let found = found.map_or(String::new(), |key| format!(", found `{key}`"));
            A::Error::custom(format_args!("expected the key `input` with a grid{found}"))
        })?;
        // Without an output the pair would count as one whose output is not known.
        if output.is_none()
            && let Some(key) = misspelt("output", others())
        {
            return Err(A::Error::custom(format_args!(
                "expected the key `output`, found `{key}`"
            )));
        }
        Ok(Pair::new(input, output.flatten()))
    }
}

/// Reads the outputs of a task's test pairs.
#[derive(Clone, Copy)]
pub(super) struct GridsSeed;

seed! {
    GridsSeed, Vec<Grid>, deserialize_seq, |_| "a list of grids, one for each test pair";
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut grids = Vec::new();
        while let Some(grid) = seq.next_element_seed(InputSeed)? {
            grids.push(grid);
        }
        Ok(grids)
    }
}

/// Reads a grid that is required.
#[derive(Clone, Copy)]
pub(super) struct InputSeed;

seed! {
    InputSeed, Grid, deserialize_seq, |_| "a grid: a list of rows";
    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
        let grid = rows(seq)?;
        grid.ok_or_else(|| A::Error::custom("grid of 0 rows: expected 1 at least"))
    }
}

/// Reads an output; `null` and a list without rows mean that it is not known.
#[derive(Clone, Copy)]
pub(super) struct OutputSeed;

seed! {
    OutputSeed, Option<Grid>, deserialize_any, |_| "a grid: a list of rows";
    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
        rows(seq)
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
}

/// The grid of these rows; `None` if there are none.
fn rows<'de, A: SeqAccess<'de>>(mut seq: A) -> Result<Option<Grid>, A::Error> {
    let mut cells = Vec::new();
    let mut height = 0;
    while let Some(()) = seq.next_element_seed(RowSeed {
        row: height,
        cells: &mut cells,
    })? {
        height += 1;
    }
    Ok((height > 0).then(|| Grid::from_cells(height, cells.len() / height, cells)))
}

/// Appends row number `row` to the cells of the rows before it.
struct RowSeed<'c> {
    row: usize,
    cells: &'c mut Vec<i8>,
}

seed! {
    RowSeed<'_>, (), deserialize_seq, |_| "a row: a list of colours";
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let Self { row, cells } = self;
        let before = cells.len();
        while let Some(colour) = seq.next_element_seed(ColourSeed)? {
            if cells.len() == MAX_CELLS {
                return Err(A::Error::custom(format_args!(
                    "grid of more than {MAX_CELLS} cells: expected {MAX_CELLS} at most"
                )));
            }
            cells.push(colour);
        }
        let width = cells.len() - before;
        if width == 0 {
            return Err(A::Error::custom("row of 0 cells: expected 1 at least"));
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

fn no_colour<E: Error>(found: impl fmt::Display) -> E {
    E::custom(format_args!("colour {found}: expected -128 to 127"))
}

seed! {
    ColourSeed, i8, deserialize_i64, |_| "a colour: an integer from -128 to 127";
    fn visit_u64<E: Error>(self, colour: u64) -> Result<i8, E> {
        i8::try_from(colour).map_err(|_| no_colour(colour))
    }

    fn visit_i64<E: Error>(self, colour: i64) -> Result<i8, E> {
        i8::try_from(colour).map_err(|_| no_colour(colour))
    }

    // Some programs write arrays of floating-point numbers.
    fn visit_f64<E: Error>(self, colour: f64) -> Result<i8, E> {
        if colour.fract() == 0.0 && colour.abs() <= 127.0 {
            return Ok(colour as i8);
        }
        Err(E::invalid_type(Unexpected::Float(colour), &self))
    }
}
