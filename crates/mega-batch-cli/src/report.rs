//! The report: the document of a run as one page for a browser, with nothing beside it.
//!
//! [`read`] goes through the document once. What it keeps does not grow with the number of results:
//! counts, the first failures, and of each task its grids in few bytes. [`write`] puts that into the
//! frame `report/page.html`: all counts and charts as they are to be seen, and the grids as data that
//! `report/page.js` draws when they come into view. Names come from outside and are escaped wherever
//! they are put; the page's policy allows no request, and no text of a document to become markup.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use mega_batch::inputs::InputError;
use serde::Deserialize;

mod bounded;
mod cards;
mod charts;
mod devices;
mod document;
mod grids;
mod html;
mod outcomes;
mod overview;
mod page;
mod tables;
mod tasks;

pub(crate) use document::Document;

/// How large a document may be: 16 GiB, some hundred million results.
const MAX_BYTES: u64 = 16 << 30;

/// How much of a document is read at a time.
const BUFFER: usize = 1 << 20;

/// Reads the document of a run.
pub(crate) fn read(path: &Path) -> Result<Document, InputError> {
    let unreadable = |error: &io::Error| match error.kind() {
        io::ErrorKind::NotFound => InputError::whole(path, "no such file"),
        _ => InputError::whole(path, format!("cannot be read: {error}")),
    };
    // Before it is opened: to open a pipe is to wait for who writes into it.
    let metadata = fs::metadata(path).map_err(|error| unreadable(&error))?;
    if !metadata.is_file() {
        let message = "expected a regular file with the document of `mega-batch run --json`";
        return Err(InputError::whole(path, message));
    }
    let size = metadata.len();
    if size > MAX_BYTES {
        let message = format!("document of {size} bytes: expected {MAX_BYTES} at most");
        return Err(InputError::whole(path, message));
    }
    let file = File::open(path).map_err(|error| unreadable(&error))?;
    // Whatever its size was, it may grow.
    let reader = BufReader::with_capacity(BUFFER, file.take(MAX_BYTES));
    parse(reader).map_err(|error| match error.io_error_kind() {
        Some(kind) if kind != io::ErrorKind::UnexpectedEof => unreadable(&error.into()),
        _ => in_document(path, &error),
    })
}

/// The document that this text is.
fn parse(reader: impl Read) -> serde_json::Result<Document> {
    let mut json = serde_json::Deserializer::from_reader(reader);
    let document = Document::deserialize(&mut json)?;
    json.end()?;
    Ok(document)
}

/// What is wrong at a place of the document.
fn in_document(path: &Path, error: &serde_json::Error) -> InputError {
    let (line, column) = (error.line(), error.column());
    let text = error.to_string();
    let place = format!(" at line {line} column {column}");
    let message = text.strip_suffix(&place).unwrap_or(&text);
    let message = if error.is_data() {
        message.to_owned()
    } else {
        format!("broken JSON: {message}")
    };
    InputError {
        file: path.to_owned(),
        line: Some(line.max(1)),
        column: Some(column.max(1)),
        path: None,
        message,
    }
}

/// Writes the page; `name` is the document's, as it was asked for.
pub(crate) fn write(document: &Document, name: &str, out: &mut dyn Write) -> io::Result<()> {
    page::write(document, name, out)
}
