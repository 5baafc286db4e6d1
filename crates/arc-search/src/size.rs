//! The size of the output: an expression of the size of the input, or of that of a grid computed from it.
//!
//! These rules are tried, the simplest first: a constant size; `a` times a known size plus `b`, with the same or
//! separate factors for rows and columns; the sum of two known sizes in rows, columns or both; and separate rules for
//! the number of rows and of columns. The rule that is right on most train pairs wins, the simplest among equals. A
//! known size is that of the input or of a grid computed from it: the cheaper the grid, the simpler the size.

use arc_cpu::batt::{Batt, NodeId};
use arc_dsl::{Primitive, Value};
use arc_tasks::Task;

/// Rows and columns.
type Size = (i32, i32);

/// The largest factor and summand that are tried, and the longest side in tasks.
const FACTORS: i32 = 5;
const SUMMANDS: i32 = 3;
const SIDE: i32 = 30;

/// A size known for all inputs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownSize {
    /// The grid of this size.
    pub grid: NodeId,
    /// The size by input.
    pub sizes: Vec<Size>,
}

/// The rule for one side of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    /// It is always this.
    Always(i32),
    /// The side of the known size with this index, times the factor, plus the summand.
    Of(usize, i32, i32),
}

/// The rule for the size of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// A rule for each side.
    Sides(Side, Side),
    /// The known size with the first index, plus the rows, the columns or both of the second.
    Sum(usize, usize, bool, bool),
}

/// A predicted size.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    rule: Rule,
    /// The size by input.
    pub sizes: Vec<Size>,
    /// The number of train pairs on which it is right.
    pub right: usize,
    /// The distance of the rule from the simplest one.
    pub loss: f64,
}

impl Prediction {
    /// Whether it is right on all train pairs of a task.
    pub fn is_right(&self, task: &Task) -> bool {
        self.right == task.train.len()
    }
}

fn side(known: &[KnownSize], side: Side, input: usize, of: fn(Size) -> i32) -> i32 {
    match side {
        Side::Always(value) => value,
        Side::Of(number, factor, summand) => of(known[number].sizes[input]) * factor + summand,
    }
}

impl Rule {
    fn size(self, known: &[KnownSize], input: usize) -> Size {
        match self {
            Rule::Sides(rows, columns) => (
                side(known, rows, input, |size| size.0),
                side(known, columns, input, |size| size.1),
            ),
            Rule::Sum(a, b, rows, columns) => {
                let (a, b) = (known[a].sizes[input], known[b].sizes[input]);
                (a.0 + i32::from(rows) * b.0, a.1 + i32::from(columns) * b.1)
            }
        }
    }
}

/// Finds the best rule.
struct Best<'k> {
    known: &'k [KnownSize],
    targets: Vec<Size>,
    inputs: usize,
    found: Option<(usize, f64, Rule)>,
}

impl Best<'_> {
    fn try_rule(&mut self, rule: Rule, loss: f64) {
        // The usual case first: it is worse than the best so far.
        let least = self.found.map_or(0, |(right, ..)| right);
        let mut missed = 0;
        for (input, target) in self.targets.iter().enumerate() {
            if rule.size(self.known, input) != *target {
                missed += 1;
                if self.targets.len() - missed < least {
                    return;
                }
            }
        }
        let right = self.targets.len() - missed;
        if self
            .found
            .is_some_and(|(most, least, _)| right < most || right == most && loss >= least)
        {
            return;
        }
        let is_possible = (0..self.inputs).all(|input| {
            let (rows, columns) = rule.size(self.known, input);
            (1..=SIDE).contains(&rows) && (1..=SIDE).contains(&columns)
        });
        if is_possible {
            self.found = Some((right, loss, rule));
        }
    }

    /// The best rule for one side: right on most pairs, the simplest among equals.
    fn one_side(&self, of: fn(Size) -> i32) -> (Side, f64) {
        let mut best = (0, f64::INFINITY, Side::Always(1));
        let mut consider = |rule: Side, loss: f64| {
            let values = 0..self.targets.len();
            let right = values
                .filter(|input| side(self.known, rule, *input, of) == of(self.targets[*input]));
            let right = right.count();
            let fits = |input| (1..=SIDE).contains(&side(self.known, rule, input, of));
            if (right > best.0 || right == best.0 && loss < best.1) && (0..self.inputs).all(fits) {
                best = (right, loss, rule);
            }
        };
        for value in 1..=SIDE {
            consider(Side::Always(value), f64::from(value));
        }
        for number in 0..self.known.len() {
            for factor in 1..=FACTORS {
                for summand in -SUMMANDS..=SUMMANDS {
                    let loss = (number + 1) as f64 * f64::from(factor * (summand.abs() + 1));
                    consider(Side::Of(number, factor, summand), loss);
                }
            }
        }
        (best.2, best.1)
    }
}

/// The number of known sizes that are added in pairs.
const MOST_ADDED: usize = 40;

/// The size of the output, by known sizes, the simplest of which comes first. `None` if a train pair has no output.
pub(crate) fn predict(task: &Task, known: &[KnownSize]) -> Option<Prediction> {
    let targets = task.train.iter().map(|pair| {
        let grid = pair.output.as_ref()?;
        Some((grid.height() as i32, grid.width() as i32))
    });
    let inputs = task.train.len() + task.test.len();
    let mut best = Best {
        known,
        targets: targets.collect::<Option<_>>()?,
        inputs,
        found: None,
    };
    if let Some(first) = best.targets.first().copied() {
        // A constant size is more telling than a multiple that fits.
        best.try_rule(
            Rule::Sides(Side::Always(first.0), Side::Always(first.1)),
            1.5,
        );
    }
    for number in 0..known.len() {
        let simple = (number + 1) as f64;
        for (rows, columns) in square(1..=FACTORS) {
            for (more_rows, more_columns) in square(-SUMMANDS..=SUMMANDS) {
                let summands = (more_rows.abs() + 1) * (more_columns.abs() + 1);
                let rule = Rule::Sides(
                    Side::Of(number, rows, more_rows),
                    Side::Of(number, columns, more_columns),
                );
                best.try_rule(rule, simple * f64::from(rows * columns * summands));
            }
        }
    }
    for a in 0..known.len().min(MOST_ADDED) {
        for b in 0..a {
            for (rows, columns) in [(true, false), (false, true), (true, true)] {
                best.try_rule(Rule::Sum(a, b, rows, columns), ((a + 1) * (b + 1)) as f64);
            }
        }
    }
    let (rows, columns) = (best.one_side(|size| size.0), best.one_side(|size| size.1));
    best.try_rule(Rule::Sides(rows.0, columns.0), 10.0 + rows.1 * columns.1);
    let (right, loss, rule) = best.found?;
    let sizes = (0..inputs).map(|input| rule.size(known, input)).collect();
    Some(Prediction {
        rule,
        sizes,
        right,
        loss,
    })
}

fn square(range: std::ops::RangeInclusive<i32>) -> impl Iterator<Item = (i32, i32)> {
    range
        .clone()
        .flat_map(move |a| range.clone().map(move |b| (a, b)))
}

/// The node of an empty grid of the predicted size; `None` if the batt is full or a call fails.
pub(crate) fn blank(
    batt: &mut Batt,
    prediction: &Prediction,
    known: &[KnownSize],
) -> Option<NodeId> {
    let size = match prediction.rule {
        Rule::Sides(Side::Always(rows), Side::Always(columns)) => pair(batt, rows, columns)?,
        Rule::Sides(Side::Of(a, rows, more_rows), Side::Of(b, columns, more_columns)) if a == b => {
            let mut size = push(batt, Primitive::Shape, &[known[a].grid])?;
            if (rows, columns) != (1, 1) {
                let factors = pair(batt, rows, columns)?;
                size = push(batt, Primitive::Multiply, &[size, factors])?;
            }
            if (more_rows, more_columns) != (0, 0) {
                let more = pair(batt, more_rows, more_columns)?;
                size = push(batt, Primitive::Add, &[size, more])?;
            }
            size
        }
        Rule::Sides(rows, columns) => {
            let rows = side_node(batt, rows, known, Primitive::Height)?;
            let columns = side_node(batt, columns, known, Primitive::Width)?;
            push(batt, Primitive::Astuple, &[rows, columns])?
        }
        Rule::Sum(a, b, rows, columns) => {
            let of_a = push(batt, Primitive::Shape, &[known[a].grid])?;
            let of_b = push(batt, Primitive::Shape, &[known[b].grid])?;
            let parts = pair(batt, i32::from(rows), i32::from(columns))?;
            let of_b = push(batt, Primitive::Multiply, &[of_b, parts])?;
            push(batt, Primitive::Add, &[of_a, of_b])?
        }
    };
    let black = batt.constant(&Value::Int(0)).ok()?;
    push(batt, Primitive::Canvas, &[black, size])
}

fn side_node(batt: &mut Batt, side: Side, known: &[KnownSize], of: Primitive) -> Option<NodeId> {
    match side {
        Side::Always(value) => batt.constant(&Value::Int(value)).ok(),
        Side::Of(number, factor, summand) => {
            let side = push(batt, of, &[known[number].grid])?;
            let factor = batt.constant(&Value::Int(factor)).ok()?;
            let side = push(batt, Primitive::Multiply, &[side, factor])?;
            let summand = batt.constant(&Value::Int(summand)).ok()?;
            push(batt, Primitive::Add, &[side, summand])
        }
    }
}

fn pair(batt: &mut Batt, rows: i32, columns: i32) -> Option<NodeId> {
    let pair = Value::pair(&Value::Int(rows), &Value::Int(columns));
    batt.constant(&pair).ok()
}

fn push(batt: &mut Batt, primitive: Primitive, arguments: &[NodeId]) -> Option<NodeId> {
    batt.push(primitive, arguments).ok()?.node()
}

#[cfg(test)]
mod tests {
    use arc_dsl::Grid;

    use super::*;
    use crate::testing::{batt, node, task};

    /// The prediction for inputs of these sizes and outputs of those, with the sizes of these expressions known in
    /// addition to the input's. Checks that the blank node has it on all inputs.
    fn predicted(train: &[(Size, Size)], test: &[Size], known: &[&str]) -> Prediction {
        let grid = |size: &Size| Grid::filled(size.0 as usize, size.1 as usize, 3);
        let pairs = train
            .iter()
            .map(|(input, output)| (grid(input), grid(output)));
        let tests: Vec<_> = test.iter().map(grid).collect();
        let task = task(&pairs.collect::<Vec<_>>(), &tests);
        let mut batt = batt(&task);
        let known = std::iter::once(&"I").chain(known).map(|expression| {
            let grid = node(&mut batt, expression);
            let sizes = (0..batt.inputs()).map(|input| {
                let value = batt.value(grid, input).unwrap();
                let grid = value.as_grid().unwrap();
                (grid.height() as i32, grid.width() as i32)
            });
            let sizes = sizes.collect();
            KnownSize { grid, sizes }
        });
        let known: Vec<_> = known.collect();
        let prediction = predict(&task, &known).unwrap();
        let right = prediction.sizes.iter().zip(train);
        let right = right.filter(|(size, (_, output))| *size == output).count();
        assert_eq!(prediction.right, right);
        assert_eq!(prediction.is_right(&task), right == train.len());
        let blank = blank(&mut batt, &prediction, &known).unwrap();
        for (input, size) in prediction.sizes.iter().enumerate() {
            let expected = Grid::filled(size.0 as usize, size.1 as usize, 0);
            assert_eq!(batt.value(blank, input).unwrap(), Value::from(expected));
        }
        prediction
    }

    /// The size of the only test output.
    fn of_test(train: &[(Size, Size)], test: Size, known: &[&str]) -> Size {
        let prediction = predicted(train, &[test], known);
        assert_eq!(prediction.right, train.len());
        assert_eq!(prediction.sizes.len(), train.len() + 1);
        prediction.sizes[train.len()]
    }

    #[test]
    fn always_the_same_one() {
        let train = [((4, 5), (3, 2)), ((7, 2), (3, 2))];
        assert_eq!(of_test(&train, (9, 9), &[]), (3, 2));
    }

    #[test]
    fn the_same_size_again_and_again_is_simpler_than_a_multiple_but_not_than_the_inputs() {
        let train = [((2, 2), (4, 4)), ((2, 2), (4, 4))];
        assert_eq!(of_test(&train, (3, 3), &[]), (4, 4));
        let train = [((2, 2), (2, 2)), ((2, 2), (2, 2))];
        assert_eq!(of_test(&train, (3, 5), &[]), (3, 5));
    }

    #[test]
    fn a_multiple_and_some_more_by_rows_and_columns_apart() {
        let train = [((2, 3), (4, 9)), ((4, 1), (8, 3))];
        assert_eq!(of_test(&train, (5, 2), &[]), (10, 6));
        let train = [((2, 3), (5, 7)), ((4, 5), (9, 13))];
        assert_eq!(of_test(&train, (3, 7), &[]), (7, 19));
        let train = [((5, 6), (3, 5)), ((4, 9), (2, 8))];
        assert_eq!(of_test(&train, (8, 8), &[]), (6, 7));
    }

    #[test]
    fn two_sizes_added_by_rows_by_columns_and_both() {
        // Halves of odd sides distinguish a sum from a multiple.
        let half = ["lefthalf(tophalf(I))"];
        let train = [((4, 6), (6, 3)), ((5, 8), (7, 4))];
        assert_eq!(of_test(&train, (7, 10), &half), (10, 5));
        let train = [((4, 6), (2, 9)), ((10, 7), (5, 10))];
        assert_eq!(of_test(&train, (8, 5), &half), (4, 7));
        let train = [((4, 6), (6, 9)), ((5, 7), (7, 10))];
        assert_eq!(of_test(&train, (7, 9), &half), (10, 13));
    }

    #[test]
    fn each_side_by_a_rule_of_its_own() {
        let train = [((3, 4), (1, 8)), ((5, 2), (1, 4))];
        assert_eq!(of_test(&train, (9, 3), &[]), (1, 6));
        // The rows are the input's, the columns those of another grid.
        let train = [((3, 4), (3, 6)), ((5, 7), (5, 10))];
        let turned = ["hconcat(rot90(I), rot90(I))"];
        assert_eq!(of_test(&train, (8, 2), &turned), (8, 16));
    }

    #[test]
    fn what_is_right_on_most_pairs_is_taken() {
        let train = [((3, 4), (1, 1)), ((3, 4), (6, 8)), ((5, 2), (10, 4))];
        let prediction = predicted(&train, &[(7, 7)], &[]);
        assert_eq!((prediction.right, prediction.sizes[3]), (2, (14, 14)));
    }

    #[test]
    fn no_output_is_larger_than_those_of_tasks() {
        let train = [((10, 9), (20, 18)), ((11, 7), (22, 14))];
        assert_eq!(of_test(&train, (15, 15), &[]), (30, 30));
        let prediction = predicted(&train, &[(16, 15)], &[]);
        let sizes = prediction.sizes.iter();
        assert!(
            sizes
                .flat_map(|size| [size.0, size.1])
                .all(|side| (1..=SIDE).contains(&side)),
            "{prediction:?}"
        );
    }

    #[test]
    fn nothing_is_predicted_where_an_output_is_not_known() {
        let mut task = task(&[(Grid::filled(2, 2, 1), Grid::filled(2, 2, 1))], &[]);
        task.train[0].output = None;
        assert_eq!(predict(&task, &[]), None);
    }
}
