//! How large the output is: an expression of the input's size, or of what was made of it.
//!
//! Sizes that are tried are, the simplest first: always the same one; `a` times a known size and `b` more, by
//! rows and columns alike or apart; the sum of two known sizes by rows, columns or both; and the number of
//! rows and that of columns each by a rule of its own. What is right on most train pairs is taken, of those
//! the simplest. A known size is that of the input, or of a grid that was made of it: the cheaper, the simpler.

use arc_cpu::batt::{Batt, NodeId};
use arc_dsl::{Primitive, Task, Value};

/// Rows and columns.
type Size = (i32, i32);

/// The largest factor and summand that are tried, and the longest side that a task has.
const FACTORS: i32 = 5;
const SUMMANDS: i32 = 3;
const SIDE: i32 = 30;

/// A size that is known on all inputs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownSize {
    /// The grid that has it.
    pub grid: NodeId,
    /// The size by input.
    pub sizes: Vec<Size>,
}

/// How one side of the output follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    /// It is always this.
    Always(i32),
    /// So often the side of the known size of this number, and so much more.
    Of(usize, i32, i32),
}

/// How the size of the output follows from known sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// Its sides each for itself.
    Sides(Side, Side),
    /// The known size of the first number, with the rows, the columns or both of the second one added.
    Sum(usize, usize, bool, bool),
}

/// A predicted size.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    rule: Rule,
    /// The size by input.
    pub sizes: Vec<Size>,
    /// On how many train pairs it is right.
    pub right: usize,
    /// How far the rule is from the simplest one.
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

/// Gathers the best rule.
struct Best<'k> {
    known: &'k [KnownSize],
    targets: Vec<Size>,
    inputs: usize,
    found: Option<(usize, f64, Rule)>,
}

impl Best<'_> {
    fn try_rule(&mut self, rule: Rule, loss: f64) {
        // The usual case first: worse than what there is.
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

    /// The best rules for one side: those that are right on most pairs, of these the simplest.
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

/// The most known sizes of which each is added to each.
const MOST_ADDED: usize = 40;

/// The size of the output, by known sizes, the simplest of which stands first. Nothing where a train pair
/// has no output.
pub fn predict(task: &Task, known: &[KnownSize]) -> Option<Prediction> {
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
        // That the same size comes again and again says more than that a multiple fits.
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

/// The node of an empty grid of the predicted size; nothing where the batt has no room, or a call fails.
pub fn blank(batt: &mut Batt, prediction: &Prediction, known: &[KnownSize]) -> Option<NodeId> {
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
