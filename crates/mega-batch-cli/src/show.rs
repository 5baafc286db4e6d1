//! [`Drawing`] and [`Strip`]: grids side by side in a terminal; [`Picture`]: in a file.

use std::borrow::Cow;
use std::fmt::{self, Write};

use arc_dsl::{Grid, ansi_cell};
use arc_tasks::Pair;

use mega_batch::{Outcome, PairResult, escaped};

mod picture;

pub(crate) use picture::Picture;

/// How a cell is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paint {
    /// The colours of the ARC palette, for terminals with 24-bit colour.
    Colours,
    /// The number of the colour.
    Digits,
}

/// Draws a pair: its input, its expected output and, if a program was run on it, the program's output with the cells
/// that differ marked, and the outcome.
#[derive(Debug, Clone)]
pub(crate) struct Drawing<'a> {
    /// The name of the pair, such as `train[0]`.
    pub(crate) name: String,
    /// The pair.
    pub(crate) pair: &'a Pair,
    /// The result of a program, run with [`keep_outputs`](mega_batch::Options::keep_outputs).
    pub(crate) result: Option<&'a PairResult>,
    /// What cells are drawn with.
    pub(crate) paint: Paint,
    /// The width of the terminal in columns; grids that do not fit side by side go below.
    pub(crate) columns: usize,
}

/// The most characters of an output that is not a grid.
const VALUE_SHOWN: usize = 200;

/// The colour of cells that a layer does not paint.
const NOTHING: i8 = -1;

/// Columns between two grids.
const GAP: usize = 3;

/// Lines of text with their width in columns, not counting colour codes.
struct Block {
    width: usize,
    lines: Vec<String>,
}

impl Block {
    /// A grid under its title; cells in which it differs from `other` are marked.
    fn new(title: &str, grid: &Grid, other: Option<&Grid>, paint: Paint) -> Self {
        let title = format!("{title} {}x{}", grid.height(), grid.width());
        // Programs may paint colours with more than one digit.
        let digits = grid
            .cells()
            .iter()
            .map(|colour| colour.to_string().len())
            .max();
        let digits = digits.unwrap_or(1).max(2);
        let cell_width = match paint {
            Paint::Colours => 2,
            Paint::Digits => digits + 1,
        };
        let cell = |colour: i8, differs: bool| match (paint, differs) {
            (Paint::Colours, false) => ansi_cell(colour, "  "),
            (Paint::Colours, true) => ansi_cell(colour, "><"),
            (Paint::Digits, false) if colour == NOTHING => format!("{:>digits$} ", "."),
            (Paint::Digits, false) => format!("{colour:>digits$} "),
            (Paint::Digits, true) => format!("{colour:>digits$}<"),
        };
        let rows = grid.rows().enumerate().map(|(i, row)| {
            let cells = row.iter().enumerate().map(|(j, &colour)| {
                cell(
                    colour,
                    other.is_some_and(|other| differs(other, i, j, colour)),
                )
            });
            cells.collect::<String>()
        });
        let grid_width = grid.width() * cell_width;
        let width = title.len().max(grid_width);
        let fill = " ".repeat(width - grid_width);
        let mut lines = vec![format!("{title:<width$}")];
        lines.extend(rows.map(|row| row + &fill));
        Self { width, lines }
    }
}

/// Whether `grid` has no cell at row `i`, column `j`, or one of another colour.
fn differs(grid: &Grid, i: usize, j: usize, colour: i8) -> bool {
    i >= grid.height() || j >= grid.width() || grid.at(i, j) != colour
}

impl fmt::Display for Drawing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let expected = self.pair.output.as_ref();
        let grid = self.output();
        let mut blocks = vec![Block::new("input", &self.pair.input, None, self.paint)];
        blocks.extend(expected.map(|grid| Block::new("expected", grid, None, self.paint)));
        blocks.extend(
            grid.as_deref()
                .map(|grid| Block::new("output", grid, expected, self.paint)),
        );

        writeln!(f, "{}", self.title(grid.as_deref()))?;
        write_blocks(f, &blocks, self.columns)
    }
}

/// Draws grids side by side, each under its title.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Strip<'a> {
    /// The grids with their titles.
    pub(crate) grids: &'a [(String, &'a Grid)],
    /// How cells are drawn.
    pub(crate) paint: Paint,
    /// The width of the terminal in columns.
    pub(crate) columns: usize,
}

impl fmt::Display for Strip<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let grids = self.grids.iter();
        let blocks = grids.map(|(title, grid)| Block::new(title, grid, None, self.paint));
        write_blocks(f, &blocks.collect::<Vec<_>>(), self.columns)
    }
}

impl Drawing<'_> {
    /// The grid that the program returned.
    fn output(&self) -> Option<Cow<'_, Grid>> {
        self.result?.output.as_ref()?.as_grid()
    }

    /// The name of the pair, and the outcome.
    fn title(&self, output: Option<&Grid>) -> String {
        let name = escaped(&self.name);
        match self.result {
            Some(result) => format!("{name}: {}", self.outcome(result, output)),
            None => name.into_owned(),
        }
    }

    fn outcome(&self, result: &PairResult, output: Option<&Grid>) -> String {
        let word = result.outcome.name().replace('_', " ");
        match (&result.outcome, &self.pair.output, output, &result.output) {
            (Outcome::Mismatch, Some(expected), Some(output), _) => {
                let [found, shape] =
                    [output, expected].map(|grid| format!("{}x{}", grid.height(), grid.width()));
                if found != shape {
                    return format!("{word}: the output is {found} where {shape} is expected");
                }
                let cells = output.cells().iter().zip(expected.cells());
                let wrong = cells.filter(|(a, b)| a != b).count();
                format!("{word}: {wrong} of {} cells differ", output.cells().len())
            }
            (_, _, None, Some(value)) => {
                let text = value.to_string();
                let cut: String = text.chars().take(VALUE_SHOWN).collect();
                let more = if cut.len() < text.len() { "..." } else { "" };
                format!(
                    "{word}: the output is {}, not a grid: {cut}{more}",
                    value.kind()
                )
            }
            (outcome, ..) => match outcome.error() {
                Some(error) => format!("{word}: {error}"),
                None => word,
            },
        }
    }
}

/// How many of the blocks fit side by side; at least one.
fn fitting(blocks: &[Block], columns: usize) -> usize {
    let mut width = 0;
    let fit = blocks.iter().take_while(|block| {
        width += block.width;
        let fits = width <= columns;
        width += GAP;
        fits
    });
    fit.count().max(1)
}

/// Writes blocks side by side, those that do not fit below.
fn write_blocks(f: &mut fmt::Formatter<'_>, blocks: &[Block], columns: usize) -> fmt::Result {
    let mut blocks = blocks;
    while !blocks.is_empty() {
        let (line, rest) = blocks.split_at(fitting(blocks, columns));
        write_beside(f, line)?;
        blocks = rest;
    }
    Ok(())
}

fn write_beside(f: &mut fmt::Formatter<'_>, blocks: &[Block]) -> fmt::Result {
    let height = blocks
        .iter()
        .map(|block| block.lines.len())
        .max()
        .unwrap_or(0);
    for i in 0..height {
        let mut text = String::new();
        for (at, block) in blocks.iter().enumerate() {
            if at > 0 {
                text.push_str(&" ".repeat(GAP));
            }
            match block.lines.get(i) {
                Some(line) => text.push_str(line),
                None => write!(text, "{:1$}", "", block.width)?,
            }
        }
        writeln!(f, "{}", text.trim_end_matches(' '))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use arc_dsl::Value;
    use arc_tasks::{PairId, Split};

    use super::*;

    fn grid(rows: &[&[i32]]) -> Grid {
        Grid::from_rows(rows).unwrap()
    }

    fn draw(
        pair: &Pair,
        result: Option<(Outcome, Option<Value>)>,
        paint: Paint,
        columns: usize,
    ) -> String {
        let id = PairId {
            split: Split::Train,
            index: 0,
        };
        let result = result.map(|(outcome, output)| PairResult {
            pair: id,
            outcome,
            output,
            score: None,
            time: Duration::ZERO,
            evaluated_by: None,
        });
        Drawing {
            name: id.to_string(),
            pair,
            result: result.as_ref(),
            paint,
            columns,
        }
        .to_string()
    }

    #[test]
    fn grids_stand_beside_each_other_and_differences_are_marked() {
        let pair = Pair::new(grid(&[&[1, 2, 3]]), grid(&[&[3, 2, 1], &[0, 0, 0]]));
        let output = Value::from(grid(&[&[3, 9, 1], &[0, 10, 0]]));
        let text = draw(
            &pair,
            Some((Outcome::Mismatch, Some(output))),
            Paint::Digits,
            80,
        );
        let expected = "\
train[0]: mismatch: 2 of 6 cells differ
input 1x3   expected 2x3   output 2x3
 1  2  3     3  2  1        3  9< 1
             0  0  0        0 10< 0
";
        assert_eq!(text, expected);
    }

    #[test]
    fn grids_that_do_not_fit_go_below() {
        let pair = Pair::new(grid(&[&[1, 2, 3]]), grid(&[&[3, 2, 1]]));
        let text = draw(&pair, None, Paint::Digits, 20);
        assert_eq!(
            text,
            "train[0]\ninput 1x3\n 1  2  3\nexpected 1x3\n 3  2  1\n"
        );
    }

    #[test]
    fn colours_are_those_of_the_palette_and_marks_are_in_the_cells() {
        let pair = Pair::new(grid(&[&[2]]), grid(&[&[0]]));
        let text = draw(
            &pair,
            Some((Outcome::Mismatch, Some(grid(&[&[2]]).into()))),
            Paint::Colours,
            80,
        );
        let last = text.lines().last().unwrap();
        let cells = [ansi_cell(2, "  "), ansi_cell(0, "  "), ansi_cell(2, "><")];
        assert_eq!(
            last,
            format!(
                "{}          {}             {}        ",
                cells[0], cells[1], cells[2]
            )
            .trim_end()
        );
    }

    #[test]
    fn the_verdict_says_what_is_wrong() {
        let pair = Pair::new(grid(&[&[1]]), grid(&[&[3]]));
        let verdict = |outcome, output: Option<Value>| {
            draw(&pair, Some((outcome, output)), Paint::Digits, 80)
                .lines()
                .next()
                .unwrap()
                .to_owned()
        };
        assert_eq!(
            verdict(Outcome::Match, Some(grid(&[&[3]]).into())),
            "train[0]: match"
        );
        assert_eq!(
            verdict(Outcome::Mismatch, Some(grid(&[&[3, 3]]).into())),
            "train[0]: mismatch: the output is 1x2 where 1x1 is expected"
        );
        assert_eq!(
            verdict(Outcome::Mismatch, Some(Value::Int(5))),
            "train[0]: mismatch: the output is an integer, not a grid: 5"
        );
        let long = Value::tuple(vec![Value::Int(7); 500]);
        let text = verdict(Outcome::Mismatch, Some(long));
        assert!(text.ends_with(", 7..."), "{text}");
        assert!(text.len() < 300, "{text}");
        assert_eq!(
            verdict(Outcome::Internal("x".into()), None),
            "train[0]: error: internal error: x"
        );
        let unknown = Pair::new(grid(&[&[1]]), None);
        let text = draw(
            &unknown,
            Some((Outcome::NoExpected, Some(grid(&[&[3]]).into()))),
            Paint::Digits,
            80,
        );
        assert_eq!(
            text,
            "train[0]: no expected\ninput 1x1   output 1x1\n 1           3\n"
        );
    }
}
