//! The CSV format of the 2020 competition: a row `ID_0,"|12|34| |5|"` for each test input, with up to three attempts.

use std::collections::{BTreeMap, HashSet};

use arc_dsl::Grid;
use arc_tasks::{SubmissionFile, SubmittedGrid, SubmittedTask, TaskError};

/// The most attempts for a test input.
const ATTEMPTS: usize = 3;

/// The most test inputs of a task; a higher number is an error.
const TESTS: usize = 100;

/// The name of the first column.
const ID: &str = "output_id";

/// Whether a text is in this format, by its first line.
pub(super) fn is_csv(text: &[u8]) -> bool {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let first = text.split(|byte| matches!(byte, b',' | b'\n')).next();
    let first = String::from_utf8_lossy(first.unwrap_or_default());
    first.trim().trim_matches('"') == ID
}

/// Reads a text in this format.
pub(super) fn read(text: &[u8]) -> SubmissionFile {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let mut file = SubmissionFile::default();
    let mut by_task: BTreeMap<String, (usize, BTreeMap<usize, Vec<SubmittedGrid>>)> =
        BTreeMap::new();
    let mut rows = csv::ReaderBuilder::new()
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(text);
    let mut row = csv::StringRecord::new();
    let mut lines = Lines {
        text,
        at: 0,
        line: 1,
    };
    let mut seen = HashSet::new();
    loop {
        let line = lines.of_row(rows.position());
        match rows.read_record(&mut row) {
            Ok(false) => break,
            Ok(true) => {}
            Err(error) => {
                file.errors
                    .push(row_error(line, "", format!("broken CSV: {error}")));
                // Rows that are not text are skipped; if the reader cannot continue, stop.
                if rows.is_done() {
                    break;
                }
                continue;
            }
        }
        let line = row.position().map_or(line, |at| lines.of_row(at));
        let (name, output) = (row.get(0).unwrap_or_default(), row.get(1));
        if name.is_empty() && row.len() == 1 {
            // A blank line.
            continue;
        }
        let parts = name.rsplit_once('_');
        let parts = parts.and_then(|(id, test)| Some((id, test.parse::<usize>().ok()?)));
        let Some((id, test)) = parts.filter(|&(_, test)| test < TESTS) else {
            let message = format!(
                "expected a test input: the id of a task, `_` and a number from 0 to {}",
                TESTS - 1
            );
            file.errors.push(row_error(line, name, message));
            continue;
        };
        if !seen.insert((id.to_owned(), test)) {
            let message = "the test input stands here a second time: expected each once";
            file.errors.push(row_error(line, name, message));
        }
        let Some(output) = output.filter(|output| !output.is_empty()) else {
            let message = "no attempts in this row: they count as wrong";
            file.missing.push(row_error(line, name, message));
            continue;
        };
        let mut grids = Vec::new();
        for (at, attempt) in output.split_whitespace().enumerate() {
            let path = format!("{name} attempt {}", at + 1);
            if at == ATTEMPTS {
                let message = format!("an attempt too many: expected {ATTEMPTS} at most");
                file.errors.push(row_error(line, &path, message));
                break;
            }
            match grid(attempt) {
                Ok(grid) => grids.push(SubmittedGrid {
                    grid,
                    line,
                    column: 1,
                    path,
                }),
                Err(message) => file.errors.push(row_error(line, &path, message)),
            }
        }
        let (_, tests) = by_task
            .entry(id.to_owned())
            .or_insert_with(|| (line, BTreeMap::new()));
        tests.insert(test, grids);
    }
    let tasks = by_task.into_iter().map(|(task, (line, mut tests))| {
        // Gaps are test inputs without attempts.
        let count = tests.keys().next_back().map_or(0, |last| last + 1);
        let tests = (0..count).map(|at| tests.remove(&at).unwrap_or_default());
        SubmittedTask {
            tests: tests.collect(),
            task,
            line,
            column: 1,
            is_indexed: false,
        }
    });
    file.tasks = tasks.collect();
    file
}

/// Tracks line numbers from row to row.
struct Lines<'t> {
    text: &'t [u8],
    at: usize,
    line: usize,
}

impl Lines<'_> {
    /// The line number of a row that is read at this position. Line ends before the row, which end the last row or
    /// are blank lines, are skipped.
    fn of_row(&mut self, place: &csv::Position) -> usize {
        let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
        let mut start = (place.byte() as usize).clamp(self.at, self.text.len());
        while self.text.get(start).is_some_and(&is_end) {
            start += 1;
        }
        for at in self.at..start {
            let ends = match self.text[at] {
                b'\n' => true,
                // `\r\n` is one end.
                b'\r' => self.text.get(at + 1) != Some(&b'\n'),
                _ => false,
            };
            self.line += usize::from(ends);
        }
        self.at = start;
        self.line
    }
}

/// An error in a row.
fn row_error(line: usize, path: &str, message: impl Into<String>) -> TaskError {
    TaskError {
        task: None,
        line,
        column: 1,
        path: path.to_owned(),
        message: message.into(),
    }
}

/// The grid of a text like `|12|34|`.
fn grid(text: &str) -> Result<Grid, String> {
    let expected = "expected a grid: rows of digits, as |12|34|";
    let rows = text.strip_prefix('|').and_then(|it| it.strip_suffix('|'));
    let rows = rows.ok_or_else(|| format!("{expected}, found {text:?}"))?;
    let rows = rows.split('|').map(|row| {
        let colours = row
            .chars()
            .map(|digit| digit.to_digit(10).map(|it| it as i32));
        let colours = colours.collect::<Option<Vec<i32>>>();
        colours.filter(|colours| !colours.is_empty())
    });
    let rows = rows
        .collect::<Option<Vec<_>>>()
        .ok_or_else(|| format!("{expected}, found {text:?}"))?;
    Grid::from_rows(&rows).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<String> {
        let file = read(text.as_bytes());
        let told = file.errors.iter().map(TaskError::to_string);
        told.collect()
    }

    #[test]
    fn rows_are_told_by_the_line_that_they_begin_on() {
        for end in ["\n", "\r\n", "\r"] {
            let text = [
                "output_id,output",
                "a_0,|1|",
                "",
                "a_1,\"|1|",
                "|2|\"",
                " ",
                "b_0,|6x|",
                "b_1,|7x|",
                "",
            ];
            let expected = |line, name| {
                format!(
                    "line {line}, column 1, {name} attempt 1: expected a grid: rows of digits, as |12|34|, found {:?}",
                    if name == "b_0" { "|6x|" } else { "|7x|" }
                )
            };
            assert_eq!(
                told(&text.join(end)),
                [expected(7, "b_0"), expected(8, "b_1")],
                "{end:?}"
            );
        }
    }

    #[test]
    fn a_test_input_stands_once_and_has_a_number_of_one() {
        let twice = "the test input stands here a second time: expected each once";
        assert_eq!(
            told("output_id,output\nb_0,\nb_0,|65|\nb_0,\n"),
            [
                format!("line 3, column 1, b_0: {twice}"),
                format!("line 4, column 1, b_0: {twice}")
            ]
        );
        for number in [
            "100",
            "18446744073709551615",
            "18446744073709551616",
            "-1",
            "x",
        ] {
            let file = read(format!("output_id,output\nb_{number},|65|\n").as_bytes());
            let [error] = &file.errors[..] else {
                panic!("{:?}", file.errors)
            };
            assert_eq!(
                error.message,
                "expected a test input: the id of a task, `_` and a number from 0 to 99"
            );
            assert!(file.tasks.is_empty());
        }
        let file = read(b"output_id,output\nb_99,|65|\n");
        assert_eq!(
            (file.tasks[0].tests.len(), file.tasks[0].tests[99].len()),
            (100, 1)
        );
    }
}
