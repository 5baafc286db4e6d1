//! The rows of a benchmark's table, in the terminal and on its page, and a comparison as text.

use std::fmt::{self, Display, Formatter};

use super::document::Cell;
use super::document::Comparison;
use super::plan::BenchMode;
use super::statistics::Spread;
use crate::table::thousands;

/// A time with three digits and its unit.
fn time(seconds: f64) -> String {
    let (value, unit) = match seconds {
        // A value that would round to 1,000 of one unit is 1 of the next.
        it if it < 999.5e-9 => (it * 1e9, "ns"),
        it if it < 999.5e-6 => (it * 1e6, "µs"),
        it if it < 999.5e-3 => (it * 1e3, "ms"),
        it => (it, "s"),
    };
    let decimals = match value {
        it if it < 9.995 => 2,
        it if it < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$} {unit}")
}

/// The quartiles.
fn quartiles(spread: &Spread) -> String {
    format!(
        "{} to {}",
        time(spread.lower_quartile),
        time(spread.upper_quartile)
    )
}

/// The median of speed-ups, and the least and the greatest.
fn speedup(ratio: Option<&Spread>) -> (String, String) {
    match ratio {
        None => (String::new(), String::new()),
        Some(ratio) => (
            format!("{:.2}x", ratio.median),
            format!("{:.2} to {:.2}", ratio.least, ratio.greatest),
        ),
    }
}

/// The columns of a cell, in the terminal and on the page, and their widths in the terminal; the first three are text.
const COLUMNS: [(&str, usize); 8] = [
    ("kind", 28),
    ("evaluations", 12),
    ("mode", 11),
    ("a batch", 9),
    ("quartiles", 22),
    ("evaluations/s", 15),
    ("speed-up", 10),
    ("of turns", 16),
];

/// The names of the columns.
pub(super) fn heading() -> [String; 8] {
    COLUMNS.map(|(name, _)| name.to_owned())
}

/// A cell as a row of the table.
pub(super) fn row(cell: &Cell) -> [String; 8] {
    let (speedup, turns) = speedup(cell.speedup.as_ref());
    [
        cell.kind.clone(),
        thousands(cell.size as u64),
        cell.count.map_or_else(
            || cell.mode.name().to_owned(),
            |count| counted(cell.mode, count),
        ),
        time(cell.seconds.median),
        quartiles(&cell.seconds),
        thousands(cell.evaluations_per_second as u64),
        speedup,
        turns,
    ]
}

/// A row as a line in the terminal.
pub(super) fn line(row: &[String; 8]) -> String {
    let cells = row.iter().zip(COLUMNS).enumerate();
    let cells = cells.map(|(at, (text, (_, width)))| match at {
        0 => format!("{text:<width$}"),
        2 => format!("  {text:<width$}"),
        _ => format!("{text:>width$}"),
    });
    let line: String = cells.collect();
    line.trim_end().to_owned()
}

/// Workers of the parallel mode, or GPUs: `1 worker`, `2 GPUs`.
pub(super) fn counted(mode: BenchMode, count: usize) -> String {
    let name = match mode {
        BenchMode::Parallel => "worker",
        _ => "GPU",
    };
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {name}{plural}")
}

/// A comparison as text: each mode, then the cells that both have.
impl Display for Comparison {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "beside {}", mega_batch::escaped(&self.file))?;
        for remark in &self.remarks {
            write!(f, "\n  {}", mega_batch::escaped(remark))?;
        }
        for (mode, mean, [faster, slower, noise]) in self.by_mode() {
            write!(
                f,
                "\n  {mode:<11}{mean:>6.2} times as fast on the whole; cells: {faster} faster, {slower} \
                 slower, {noise} within the noise"
            )?;
        }
        for cell in &self.cells {
            let size = thousands(cell.size as u64);
            let (kind, mode, change) = (&cell.kind, cell.mode, cell.change.name());
            write!(
                f,
                "\n    {kind:<28}{size:>9}  {mode:<11}{:>6.2} ({:.2} to {:.2})  {change}",
                cell.ratio, cell.least, cell.greatest
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::targets::tests::cell;
    use super::*;

    #[test]
    fn times_have_three_digits_and_a_unit() {
        let times = [
            0.0, 1.234e-9, 999.6e-9, 45.67e-6, 0.012_345, 0.9996, 12.0, 1234.0,
        ];
        let expected = [
            "0.00 ns", "1.23 ns", "1.00 µs", "45.7 µs", "12.3 ms", "1.00 s", "12.0 s", "1234 s",
        ];
        assert_eq!(times.map(time), expected);
    }

    #[test]
    fn rows_stand_under_their_heading() {
        let mut cell = cell("whole programs", 100_000, BenchMode::Parallel, 2.0);
        let shown = line(&row(&cell));
        let end = |text: &str| text.chars().count();
        assert_eq!(end(&shown), end(&line(&heading())), "{shown}");
        assert_eq!(
            shown.split_whitespace().collect::<Vec<_>>().join(" "),
            "whole programs 100,000 parallel 50.0 ms 49.5 ms to 50.5 ms 2,000,000 2.00x 1.90 to 2.10"
        );
        cell.speedup = None;
        assert!(line(&row(&cell)).ends_with("2,000,000"));
    }
}
