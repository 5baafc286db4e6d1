//! The benchmark as lines of text: [`Heading`], [`Row`], [`ScaleRow`], [`ComparisonLines`].

use std::fmt::{self, Display, Formatter};

use super::document::Comparison;
use super::document::{Cell, Resource, Scale};
use super::statistics::{Ratio, Spread};
use crate::table::thousands;

/// A time with three digits and its unit.
pub(super) fn time(seconds: f64) -> String {
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
pub(super) fn quartiles(spread: &Spread) -> String {
    format!(
        "{} to {}",
        time(spread.lower_quartile),
        time(spread.upper_quartile)
    )
}

/// Evaluations a second.
pub(super) fn rate(cell: &Cell) -> String {
    thousands(cell.evaluations_per_second as u64)
}

/// The median of speed-ups, and the least and the greatest.
pub(super) fn speedup(ratio: Option<&Ratio>) -> (String, String) {
    match ratio {
        None => (String::new(), String::new()),
        Some(ratio) => (
            format!("{:.2}x", ratio.median),
            format!("{:.2} to {:.2}", ratio.least, ratio.greatest),
        ),
    }
}

/// The columns of a cell, in the terminal and on the page.
pub(crate) const COLUMNS: [&str; 7] = [
    "evaluations",
    "mode",
    "a batch",
    "quartiles",
    "evaluations/s",
    "speed-up",
    "of turns",
];

/// The header line above the cells.
pub(crate) struct Heading;

impl Display for Heading {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let [size, mode, batch, quartiles, rate, speedup, turns] = COLUMNS;
        write!(
            f,
            "{:<15}{size:>11}  {mode:<11}{batch:>9}{quartiles:>22}{rate:>15}{speedup:>10}{turns:>16}",
            "kind"
        )
    }
}

/// A cell as a line under the [`Heading`].
pub(crate) struct Row<'c>(pub(crate) &'c Cell);

impl Display for Row<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let cell = self.0;
        let (kind, mode) = (cell.kind, cell.mode);
        let size = thousands(cell.size as u64);
        let batch = time(cell.seconds.median);
        let quartiles = quartiles(&cell.seconds);
        let rate = rate(cell);
        let (speedup, turns) = speedup(cell.speedup.as_ref());
        let line = format!(
            "{kind:<15}{size:>11}  {mode:<11}{batch:>9}{quartiles:>22}{rate:>15}{speedup:>10}{turns:>16}"
        );
        f.write_str(line.trim_end())
    }
}

impl Resource {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Workers => "workers",
            Self::Gpus => "GPUs",
        }
    }

    /// A count of it: `1 worker`, `2 workers`.
    pub(super) fn counted(self, count: usize) -> String {
        let name = self.name();
        match count {
            1 => format!("1 {}", name.trim_end_matches('s')),
            _ => format!("{count} {name}"),
        }
    }
}

/// A number of workers or GPUs as a line.
pub(crate) struct ScaleRow<'s>(pub(crate) &'s Scale);

impl Display for ScaleRow<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let scale = self.0;
        let kind = scale.kind;
        let size = thousands(scale.size as u64);
        let what = scale.resource.counted(scale.count);
        let batch = time(scale.seconds.median);
        let quartiles = quartiles(&scale.seconds);
        let (speedup, turns) = speedup(Some(&scale.speedup));
        write!(
            f,
            "{kind:<15}{size:>11}  {what:<11}{batch:>9}{quartiles:>22}{:>15}{speedup:>10}{turns:>16}",
            ""
        )
    }
}

/// A comparison as text: each mode, then the cells that are not within the noise.
pub(crate) struct ComparisonLines<'c>(pub(crate) &'c Comparison);

impl Display for ComparisonLines<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let comparison = self.0;
        write!(f, "beside {}", mega_batch::escaped(&comparison.file))?;
        for remark in &comparison.remarks {
            write!(f, "\n  {}", mega_batch::escaped(remark))?;
        }
        for (mode, mean, [faster, slower, noise]) in comparison.by_mode() {
            write!(
                f,
                "\n  {mode:<11}{mean:>6.2} times as fast on the whole; cells: {faster} faster, {slower} \
                 slower, {noise} within the noise"
            )?;
        }
        for cell in &comparison.cells {
            let size = thousands(cell.size as u64);
            let (kind, mode, change) = (cell.kind, cell.mode, cell.change.name());
            write!(
                f,
                "\n    {kind:<15}{size:>9}  {mode:<11}{:>6.2} ({:.2} to {:.2})  {change}",
                cell.ratio, cell.least, cell.greatest
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::plan::BenchMode;
    use super::super::targets::tests::cell;
    use super::super::workload::Workload;
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
        let mut cell = cell(Workload::WholePrograms, 100_000, BenchMode::Parallel, 2.0);
        let row = Row(&cell).to_string();
        let end = |text: &str| text.chars().count();
        assert_eq!(end(&row), end(&Heading.to_string()), "{row}");
        assert_eq!(
            row.split_whitespace().collect::<Vec<_>>().join(" "),
            "whole programs 100,000 parallel 50.0 ms 49.5 ms to 50.5 ms 2,000,000 2.00x 1.90 to 2.10"
        );
        cell.speedup = None;
        assert!(Row(&cell).to_string().ends_with("2,000,000"));
    }
}
