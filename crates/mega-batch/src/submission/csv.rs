//! The CSV file that the competition of 2020 took: a row for each test input, `ID_0,"|12|34| |5|"`, up to three
//! attempts in it.

use std::collections::BTreeMap;

use arc_dsl::{Grid, SubmissionFile, SubmittedGrid, SubmittedTask, TaskError};

/// How many attempts a test input has at most.
const ATTEMPTS: usize = 3;

/// The name of its first column.
const ID: &str = "output_id";

/// Whether a text is such a file, by its first line.
pub(super) fn is_form_of(text: &[u8]) -> bool {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    text.starts_with(ID.as_bytes())
}

/// Reads one.
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
    loop {
        let line = rows.position().line() as usize;
        match rows.read_record(&mut row) {
            Ok(false) => break,
            Ok(true) => {}
            Err(error) => {
                file.errors
                    .push(place(line, "", format!("broken CSV: {error}")));
                // What is not text is passed; what cannot be read further ends it.
                if rows.is_done() {
                    break;
                }
                continue;
            }
        }
        let line = row.position().map_or(line, |at| at.line() as usize);
        let (name, output) = (row.get(0).unwrap_or_default(), row.get(1));
        let parts = name.rsplit_once('_');
        let Some((id, test)) = parts.and_then(|(id, test)| Some((id, test.parse().ok()?))) else {
            let message = "expected a test input: the id of a task, `_` and a number";
            file.errors.push(place(line, name, message));
            continue;
        };
        let Some(output) = output.filter(|output| !output.is_empty()) else {
            let message = "no attempts in this row: they count as wrong";
            file.missing.push(place(line, name, message));
            continue;
        };
        let mut grids = Vec::new();
        for (at, attempt) in output.split_whitespace().enumerate() {
            let path = format!("{name} attempt {}", at + 1);
            if at == ATTEMPTS {
                let message = format!("an attempt too many: expected {ATTEMPTS} at most");
                file.errors.push(place(line, &path, message));
                break;
            }
            match grid(attempt) {
                Ok(grid) => grids.push(SubmittedGrid {
                    grid,
                    line,
                    column: 1,
                    path,
                }),
                Err(message) => file.errors.push(place(line, &path, message)),
            }
        }
        let (_, tests) = by_task
            .entry(id.to_owned())
            .or_insert_with(|| (line, BTreeMap::new()));
        let test: usize = test;
        if tests.insert(test, grids).is_some() {
            let message = "the test input stands here a second time: expected each once";
            file.errors.push(place(line, name, message));
        }
    }
    let tasks = by_task.into_iter().map(|(task, (line, mut tests))| {
        // Gaps are test inputs without attempts; a number may be anything, what follows it not.
        let count = tests.keys().next_back().map_or(0, |last| last + 1);
        let count = count.min(tests.len() + 100);
        let tests = (0..count).map(|at| tests.remove(&at).unwrap_or_default());
        SubmittedTask {
            tests: tests.collect(),
            task,
            line,
            column: 1,
        }
    });
    file.tasks = tasks.collect();
    file
}

/// An error in a row.
fn place(line: usize, path: &str, message: impl Into<String>) -> TaskError {
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
