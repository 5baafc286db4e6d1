//! A worked example for each property, and what holds for all properties.

use arc_dsl::{Grid, Interpreter, Value};
use proptest::prelude::*;

use super::facts::PairFacts;
use super::*;
use crate::testing::{grids, program};

/// A grid as its rows, `/` between them.
fn grid(text: &str) -> Grid {
    let rows: Vec<&str> = text.split('/').collect();
    let cells = rows.iter().flat_map(|row| row.bytes());
    let cells = cells.map(|digit| (digit - b'0') as i8).collect();
    Grid::from_cells(rows.len(), rows[0].len(), cells)
}

fn invariants(pairs: &[(Grid, Grid)]) -> Invariants {
    Invariants::of(pairs.iter().map(|(input, output)| (input, output)))
}

/// An answer that breaks an invariant, and one that does not.
struct Example {
    property: &'static str,
    train: &'static [(&'static str, &'static str)],
    input: &'static str,
    kept: &'static str,
    broken: &'static str,
}

const fn example(
    property: &'static str,
    train: &'static [(&'static str, &'static str)],
    input: &'static str,
    kept: &'static str,
    broken: &'static str,
) -> Example {
    Example {
        property,
        train,
        input,
        kept,
        broken,
    }
}

#[rustfmt::skip]
const EXAMPLES: &[Example] = &[
    example("the output is the input", &[("12", "12")], "34", "34", "43"),
    example("number of colours", &[("12", "33")], "45", "66", "67"),
    example("number of colours, less the input's", &[("12", "33"), ("123", "122")], "1234", "1233", "1111"),
    example("new colours", &[("10", "15")], "20", "25", "26"),
    example("lost colours", &[("51", "11")], "52", "22", "55"),
    example("any new colour", &[("10", "15"), ("10", "16")], "20", "27", "20"),
    example("any lost colour", &[("12", "22"), ("13", "33")], "45", "55", "45"),
    example("a colour that input or output lacks", &[("10", "15")], "20", "25", "22"),
    example("a colour of the output", &[("12", "33")], "13", "31", "11"),
    example("cells of a colour", &[("12", "33")], "13", "33", "31"),
    example("as many cells of each colour", &[("12", "21")], "334", "343", "344"),
    example("as many cells of each colour, whichever it is", &[("112", "334")], "556", "775", "777"),
    example("as many cells of a colour", &[("5500", "5511")], "5200", "5211", "5511"),
    example("no fewer cells of a colour", &[("500", "550"), ("500", "555")], "550", "555", "500"),
    example("no more cells of a colour", &[("550", "500"), ("555", "550")], "500", "500", "550"),
    example("symmetry", &[("12", "11")], "34", "33", "34"),
    example("symmetry", &[("12/30", "12/20")], "12/30", "16/60", "16/70"),
    example("symmetry", &[("12/30", "02/30")], "12/30", "41/54", "41/56"),
    example("number of components", &[("10", "20")], "300", "300", "303"),
    example("number of components", &[("10/02", "20/02")], "30/00", "30/03", "30/00"),
    example("as many components", &[("10", "20"), ("101", "202")], "10101", "20202", "22222"),
    example("no fewer components", &[("111", "101"), ("1", "1")], "202", "202", "222"),
    example("no more components", &[("101", "111"), ("1", "1")], "222", "222", "202"),
    example("different rows, different columns", &[("12", "11")], "34", "55", "34"),
    example("as many different rows, columns", &[("121", "313"), ("11", "22")], "1212", "2323", "1234"),
    example("touches the same sides", &[("10", "20"), ("01", "02")], "100", "200", "002"),
    example("a part of the input", &[("123", "12"), ("4567", "56")], "789", "89", "98"),
    example("a part of the input", &[("12/34", "2/4")], "56/78", "5/7", "6/7"),
    example("has the input as a part", &[("12", "012"), ("34", "345")], "67", "678", "768"),
    example("colours of cells that change", &[("120", "150"), ("2", "6")], "23", "73", "27"),
    example("colours that cells change to", &[("12", "15"), ("3", "5")], "67", "57", "68"),
    example("number of cells that change", &[("12", "15"), ("33", "43")], "67", "68", "88"),
    example("cells of a colour that all stay", &[("52", "51"), ("55", "55")], "53", "54", "43"),
    example("cells of a colour that all change", &[("52", "12"), ("55", "66")], "515", "111", "115"),
    example("cells of a colour that had it before", &[("52", "51"), ("55", "51")], "52", "53", "55"),
    example("which colours change to which", &[("12", "15"), ("22", "25")], "123", "153", "173"),
    example("what colours may become", &[("12", "15")], "112", "115", "212"),
];

#[test]
fn each_property_is_kept_and_broken() {
    for example in EXAMPLES {
        let train = example.train.iter();
        let train: Vec<_> = train
            .map(|(input, output)| (grid(input), grid(output)))
            .collect();
        let invariants = invariants(&train);
        let is_broken = |answer: &str| {
            let broken = invariants.broken(&grid(example.input), &grid(answer));
            broken.contains(&example.property)
        };
        let name = example.property;
        assert!(!is_broken(example.kept), "{name}: {}", example.kept);
        assert!(is_broken(example.broken), "{name}: {}", example.broken);
    }
    let examples = |name| EXAMPLES.iter().any(|example| example.property == name);
    let names = PROPERTIES.iter().map(|property| property.name);
    let names = names.chain(["which colours change to which", "what colours may become"]);
    for name in names {
        assert!(examples(name), "no example of {name}");
    }
}

#[test]
fn of_a_colour_that_was_never_seen_nothing_is_known() {
    let invariants = invariants(&[(grid("12"), grid("15"))]);
    let is_broken = |input, output| {
        let broken = invariants.broken(&grid(input), &grid(output));
        broken.contains(&"what colours may become")
    };
    assert!(!is_broken("19", "18") && is_broken("19", "89"));
}

#[test]
fn without_train_pairs_nothing_is_broken() {
    let invariants = Invariants::of(std::iter::empty());
    assert!(invariants.broken(&grid("12"), &grid("3/4")).is_empty());
}

/// How many objects of one colour that is not 0 a grid has, by the reference.
fn objects(grid: &Grid, diagonals: bool) -> u64 {
    let objects = format!("objects(I, T, {}, F)", if diagonals { 'T' } else { 'F' });
    let count = program(&format!(
        "size(difference({objects}, colorfilter({objects}, 0)))"
    ));
    let count = Interpreter::default().run(&count, Value::from(grid.clone()));
    match count {
        Ok(Value::Int(count)) => count.try_into().unwrap(),
        other => panic!("expected a number, got {other:?}"),
    }
}

fn any_grid() -> impl Strategy<Value = Grid> {
    (0..5_usize, 1..5_usize).prop_flat_map(|(rows, columns)| grids(rows, columns, 0..4))
}

fn any_pairs() -> impl Strategy<Value = Vec<(Grid, Grid)>> {
    let same_size = (1..5_usize, 1..5_usize)
        .prop_flat_map(|(rows, columns)| (grids(rows, columns, 0..3), grids(rows, columns, 0..3)));
    prop::collection::vec(prop_oneof![(any_grid(), any_grid()), same_size], 1..4)
}

proptest! {
    #[test]
    fn train_pairs_break_nothing(pairs in any_pairs()) {
        let invariants = invariants(&pairs);
        for (input, output) in &pairs {
            prop_assert_eq!(invariants.broken(input, output), Vec::<&str>::new());
        }
    }

    /// One more train pair never makes an answer worse, and their order does not matter.
    #[test]
    fn the_more_pairs_the_less_is_broken(mut pairs in any_pairs(), answer in (any_grid(), any_grid())) {
        let few = invariants(&pairs[1..]).broken(&answer.0, &answer.1);
        let many = invariants(&pairs).broken(&answer.0, &answer.1);
        if pairs.len() > 1 {
            let was_broken = |name: &&str| few.contains(name) || *name == "what colours may become";
            prop_assert!(many.iter().all(was_broken), "{few:?} {many:?}");
        }
        pairs.reverse();
        prop_assert_eq!(invariants(&pairs).broken(&answer.0, &answer.1), many);
    }

    #[test]
    fn components_are_the_objects_of_the_reference(grid in grids(4, 5, 0..3)) {
        let both = PairFacts::of(&grid, &grid);
        for (which, diagonals) in [(0, true), (1, false)] {
            prop_assert_eq!(u64::from(both.input.components[which]), objects(&grid, diagonals));
        }
    }
}
