//! The benchmark as a Markdown page: [`page`].

use std::fmt::Write as _;

use super::charts::Chart;
use super::document::Finding;
use super::document::{Change, Comparison};
use super::document::{Document, Resource};
use super::plan::BenchMode;
use super::table::{COLUMNS, quartiles, rate, speedup, time};
use crate::table::thousands;

/// The page of a benchmark, which links to these charts.
pub(crate) fn page(document: &Document, charts: &[Chart]) -> String {
    let mut page = Page(String::new());
    let environment = &document.environment;
    page.line(format_args!("# Benchmark: {}", environment.folder()));
    page.line(format_args!(
        "`mega-batch bench` wrote this page, its charts and the document beside it. What is measured, \
         and how, is said in `docs/performance.md`."
    ));
    page.line(format_args!(
        "```text\n{}```",
        environment.to_string().replace('`', "'")
    ));
    page.plan(document);
    page.verdict(document);
    for chart in charts {
        page.line(format_args!("![{}]({})", chart.title, chart.file));
    }
    page.cells(document);
    page.scaling(document);
    if let Some(comparison) = &document.comparison {
        page.comparison(comparison);
    }
    page.0.truncate(page.0.trim_end().len());
    page.0 + "\n"
}

struct Page(String);

/// Text within a table cell: text from files and drivers may contain any characters.
pub(crate) fn cell(text: &str) -> String {
    let plain = mega_batch::escaped(text);
    plain
        .replace('\\', "\\\\")
        .replace('|', "\\|")
        .replace('<', "&lt;")
}

impl Page {
    /// A paragraph.
    fn line(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a string does not fail.
        let _ = writeln!(self.0, "{text}\n");
    }

    /// A row of a table.
    fn row<'c>(&mut self, cells: impl IntoIterator<Item = &'c str>) {
        for text in cells {
            let _ = write!(self.0, "| {text} ");
        }
        self.0.push_str("|\n");
    }

    /// The header row of a table: the first `text` columns are text, the others numbers.
    fn head(&mut self, text: usize, names: &[&str]) {
        self.row(names.iter().copied());
        let rules = (0..names.len()).map(|at| if at < text { "---" } else { "---:" });
        self.row(rules);
    }

    fn plan(&mut self, document: &Document) {
        let plan = &document.plan;
        let workers = plan.workers;
        let quick = if plan.quick {
            "a look in some seconds; "
        } else {
            ""
        };
        let seconds = plan.seconds_per_cell;
        self.line(format_args!(
            "Plan: {quick}{workers} workers; {seconds} s a cell, {} turns at least. Speed-ups are over \
             the sequential mode, by turns: the median, the least and the greatest.",
            plan.fewest_turns
        ));
        for not in &document.not_measured {
            let above = not.above.map_or(String::new(), |size| {
                format!(" above {} evaluations", thousands(size as u64))
            });
            let reason = cell(&not.reason);
            self.line(format_args!("Not measured: {}{above}: {reason}.", not.mode));
        }
        if !document.left_out.is_empty() {
            let left = document.left_out.join("; ");
            self.line(format_args!("There was no time for: {left}."));
        }
    }

    fn verdict(&mut self, document: &Document) {
        self.line(format_args!("## Verdict"));
        self.head(
            6,
            &[
                "target",
                "the guides say",
                "expected here",
                "measured",
                "",
                "remarks",
            ],
        );
        for judgement in &document.verdict {
            let finding = judgement.finding.to_string();
            let finding = match judgement.finding {
                Finding::Below => format!("**{finding}**"),
                _ => finding,
            };
            let found = judgement.found().unwrap_or_default();
            let remarks: Vec<String> = judgement.remarks.iter().map(|text| cell(text)).collect();
            let remarks = remarks.join("<br>");
            let expected = judgement.expected();
            self.row([
                judgement.target,
                judgement.wording,
                &expected,
                &found,
                &finding,
                &remarks,
            ]);
        }
        self.0.push('\n');
    }

    /// A table for each kind.
    fn cells(&mut self, document: &Document) {
        for kind in document.kinds() {
            self.line(format_args!("## {kind}"));
            self.head(2, &COLUMNS);
            for size in document.sizes() {
                for &mode in BenchMode::ALL {
                    let Some(cell) = document.cell(kind, size, mode) else {
                        continue;
                    };
                    let (speedup, turns) = speedup(cell.speedup.as_ref());
                    let size = thousands(size as u64);
                    let (batch, quartiles) = (time(cell.seconds.median), quartiles(&cell.seconds));
                    let rate = rate(cell);
                    self.row([
                        &*size,
                        mode.name(),
                        &batch,
                        &quartiles,
                        &rate,
                        &speedup,
                        &turns,
                    ]);
                }
            }
            self.0.push('\n');
        }
    }

    fn scaling(&mut self, document: &Document) {
        for resource in [Resource::Workers, Resource::Gpus] {
            let mut scales = document
                .scaling
                .iter()
                .filter(|scale| scale.resource == resource);
            let Some(first) = scales.next() else {
                continue;
            };
            let name = resource.name();
            let size = thousands(first.size as u64);
            self.line(format_args!("## More {name}, {size} evaluations a batch"));
            self.head(
                1,
                &["kind", name, "a batch", "quartiles", "speed-up", "of turns"],
            );
            for scale in [first].into_iter().chain(scales) {
                let (speedup, turns) = speedup(Some(&scale.speedup));
                let (batch, quartiles) = (time(scale.seconds.median), quartiles(&scale.seconds));
                let count = scale.count.to_string();
                self.row([
                    scale.kind.name(),
                    &*count,
                    &batch,
                    &quartiles,
                    &speedup,
                    &turns,
                ]);
            }
            self.0.push('\n');
        }
    }

    fn comparison(&mut self, comparison: &Comparison) {
        self.line(format_args!(
            "## Beside `{}`",
            cell(&comparison.file).replace('`', "'")
        ));
        for remark in &comparison.remarks {
            self.line(format_args!("{}.", cell(remark)));
        }
        self.head(
            1,
            &[
                "mode",
                "times as fast",
                "cells faster",
                "slower",
                "within the noise",
            ],
        );
        for (mode, mean, counts) in comparison.by_mode() {
            let [faster, slower, noise] = counts.map(|count| count.to_string());
            self.row([
                mode.name(),
                &*format!("{mean:.2}"),
                &faster,
                &slower,
                &noise,
            ]);
        }
        self.0.push('\n');
        let head = [
            "kind",
            "mode",
            "evaluations",
            "times as fast",
            "by quartiles",
            "",
        ];
        self.head(2, &head);
        for compared in &comparison.cells {
            let size = thousands(compared.size as u64);
            let ratio = format!("{:.2}", compared.ratio);
            let between = format!("{:.2} to {:.2}", compared.least, compared.greatest);
            let change = match compared.change {
                Change::WithinNoise => compared.change.name().to_owned(),
                change => format!("**{}**", change.name()),
            };
            self.row([
                compared.kind.name(),
                compared.mode.name(),
                &*size,
                &ratio,
                &between,
                &change,
            ]);
        }
        self.0.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::charts::charts;
    use super::super::compare::compare;
    use super::super::targets::tests::document;
    use super::super::workload::Workload;
    use super::*;

    #[test]
    fn a_page_has_all_tables_and_charts() {
        let modes = [(BenchMode::Sequential, 1.0), (BenchMode::Parallel, 1.5)];
        let mut document = document(2, 0, &modes);
        document.comparison = Some(compare(&document, &document, Path::new("a|b.json")));
        let charts = charts(&document, "").unwrap();
        let page = page(&document, &charts);
        for &kind in Workload::ALL {
            assert!(
                page.contains(&format!("\n## {kind}\n\n| evaluations | mode |")),
                "{page}"
            );
        }
        for chart in &charts {
            assert!(page.contains(&format!("]({})", chart.file)), "{page}");
        }
        let parallel = "| parallel | 3.5x to 4x with 4 workers | 1.75x to 2x | 1.50x on 10,000 evaluations | **below** | \
                        2.00x is predicted by the instructions that only one thread executes |";
        assert!(page.contains(parallel), "{page}");
        let row = "| 10,000 | parallel | 6.67 ms | 6.60 ms to 6.73 ms | 1,500,000 | 1.50x | 1.42 to 1.58 |";
        assert!(page.contains(row), "{page}");
        assert!(page.contains("## Beside `a\\|b.json`"), "{page}");
        assert!(page.ends_with("|\n") && !page.contains("\n\n\n"), "{page}");
        // Every row of a table has as many cells as its header.
        let mut columns = 0;
        for line in page.lines().filter(|line| line.starts_with('|')) {
            let cells = line.matches('|').count() - line.matches("\\|").count();
            if line.starts_with("| ---") {
                columns = cells;
            }
            assert!(
                columns == 0 || cells == columns || !line.contains("---"),
                "{line}"
            );
        }
    }
}
