//! The benchmark as a Markdown page: [`page`].

use std::fmt::Write as _;

use super::document::{Document, Finding};
use super::stages::STAGES;
use super::table::{heading, row};
use crate::table::thousands;

/// The page of a benchmark.
pub(crate) fn page(document: &Document) -> String {
    let mut page = Page(String::new());
    let environment = &document.environment;
    page.line(format_args!("# Benchmark: {}", environment.folder()));
    page.line(format_args!(
        "`mega-batch bench` wrote this page and the document beside it. What is measured, and how, is said in \
         `docs/performance.md`."
    ));
    page.text(&environment.to_string());
    page.plan(document);
    page.verdict(document);
    page.stages(document);
    let found = &document.found;
    page.line(format_args!("## Times by kind, size and mode"));
    page.rows(found.cells.iter().map(row));
    if !found.by_count.is_empty() {
        page.line(format_args!("## More workers and GPUs"));
        page.rows(found.by_count.iter().map(row));
    }
    if let Some(comparison) = &document.comparison {
        page.line(format_args!("## Beside an earlier one"));
        page.text(&comparison.to_string());
    }
    page.0.truncate(page.0.trim_end().len());
    page.0 + "\n"
}

struct Page(String);

/// Text within a table cell: text from files and drivers may contain any characters.
fn cell(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let words = words.join(" ");
    let plain = mega_batch::escaped(&words);
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

    /// Text as it stands in the terminal.
    fn text(&mut self, text: &str) {
        let lines = text.lines().map(mega_batch::escaped);
        let lines: Vec<_> = lines.map(|line| line.replace('`', "'")).collect();
        self.line(format_args!("```text\n{}\n```", lines.join("\n")));
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
        for not in &document.found.not_measured {
            let above = not.above.map_or(String::new(), |size| {
                format!(" above {} evaluations", thousands(size as u64))
            });
            let reason = cell(&not.reason);
            self.line(format_args!("Not measured: {}{above}: {reason}.", not.mode));
        }
        let left = document.found.left_out.iter();
        let left: Vec<String> = left.map(|text| cell(text)).collect();
        if !left.is_empty() {
            let left = left.join("; ");
            self.line(format_args!("There was no time or memory for: {left}."));
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

    fn stages(&mut self, document: &Document) {
        self.line(format_args!("## Stages"));
        self.head(2, &["stage", "state", "seconds", "why"]);
        for stage in &document.stages {
            let why: Vec<String> = stage.reasons.iter().map(|text| cell(text)).collect();
            let (state, seconds) = (stage.state.to_string(), format!("{:.1}", stage.seconds));
            self.row([&*stage.stage, &state, &seconds, &why.join("<br>")]);
        }
        self.0.push('\n');
        for stage in document.stages.iter().filter(|one| !one.lines.is_empty()) {
            let title = STAGES.iter().find(|known| known.name == stage.stage);
            let title = title.map_or(&*stage.stage, |known| known.title);
            self.line(format_args!("### {title}"));
            self.text(&stage.lines.join("\n"));
        }
    }

    /// Rows of the table of times.
    fn rows(&mut self, rows: impl Iterator<Item = [String; 8]>) {
        let heading = heading();
        self.head(1, &heading.each_ref().map(|name| &**name));
        for row in rows {
            self.row(row.each_ref().map(|text| &**text));
        }
        self.0.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::compare::compare;
    use super::super::document::{ExpectationState, StageReport};
    use super::super::plan::BenchMode;
    use super::super::targets::tests::document;
    use super::super::workload::{OF_GUIDES, Workload};
    use super::*;

    #[test]
    fn a_page_has_all_tables() {
        let modes = [(BenchMode::Sequential, 1.0), (BenchMode::Parallel, 1.5)];
        let mut document = document(2, 0, &modes);
        document.comparison = Some(compare(&document, &document, Path::new("a|b.json")));
        document.stages.push(StageReport {
            stage: "memory".to_owned(),
            state: ExpectationState::Failed,
            seconds: 1.25,
            reasons: vec!["a\\|b\n  <c>".to_owned()],
            lines: vec!["one\u{1b}".to_owned(), "two".to_owned()],
        });
        let page = page(&document);
        for name in OF_GUIDES.iter().map(Workload::name) {
            assert!(
                page.contains(&format!("\n| {name} | 1 | sequential | ")),
                "{page}"
            );
        }
        for part in [
            "| parallel | 3.5x to 4x with 4 workers | 1.75x to 2x | 1.50x on 10,000 evaluations | **below** | \
             2.00x is predicted by the instructions that only one thread executes |",
            "| batt | 10,000 | parallel | 6.67 ms | 6.60 ms to 6.73 ms | 1,500,000 | 1.50x | 1.42 to 1.58 |",
            "## Beside an earlier one\n\n```text\nbeside a|b.json\n",
            "| memory | failed | 1.2 | a\\\\\\|b &lt;c> |",
            "### Out of memory\n\n```text\none\\u{1b}\ntwo\n```",
        ] {
            assert!(page.contains(part), "{part}\n{page}");
        }
        assert!(
            page.ends_with("```\n") && !page.contains("\n\n\n"),
            "{page}"
        );
        // Every row of a table has as many cells as its header.
        let mut columns = 0;
        for line in page.lines() {
            let cells = line.matches('|').count() - line.matches("\\|").count();
            if !line.starts_with('|') {
                columns = 0;
            } else if columns == 0 {
                columns = cells;
            } else {
                assert_eq!(cells, columns, "{line}");
            }
        }
    }
}
