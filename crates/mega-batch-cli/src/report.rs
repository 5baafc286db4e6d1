//! The report: the document of a run or a search as one self-contained page for a browser.
//!
//! [`read`] goes through the document once. The memory that it takes does not grow with the number of results: it
//! keeps counts, the first failures, and the grids of each task in few bytes. [`write`] puts that into the frame
//! `report/page.html`: all counts and charts as markup, and the grids as data that `report/page.js` draws when they
//! come into view. Names come from outside and are escaped everywhere; the page's policy allows no request, and no
//! text of a document to become markup.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use arc_tasks::broken_json;
use mega_batch::files::{is_descriptor, is_standard_input};
use mega_batch::inputs::{InputError, read_text};
use serde::de::{DeserializeOwned, Deserializer, IgnoredAny, MapAccess, Visitor};

use crate::table::thousands;

mod bounded;
mod cards;
mod document;
mod grids;
mod html;
mod page;
mod results;
mod run;
mod search;
mod tasks;

use document::Document;

/// A document that can be turned into a page.
#[derive(Debug)]
pub(crate) enum Report {
    /// Of a run.
    Run(Box<Document>),
    /// Of a search.
    Search(Box<search::Document>),
}

impl Report {
    /// A short description.
    pub(crate) fn about(&self) -> String {
        match self {
            Report::Run(document) => {
                let [evaluations, tasks] = [document.evaluations, document.tasks].map(thousands);
                format!("{evaluations} evaluations, {tasks} tasks")
            }
            Report::Search(document) => {
                format!("a search of {} tasks", thousands(document.tasks))
            }
        }
    }
}

/// The largest document: 16 GiB, some hundred million results.
const MAX_BYTES: u64 = 16 << 30;

/// The size of the read buffer.
const BUFFER: usize = 1 << 20;

/// Reads a document.
pub(crate) fn read(path: &Path) -> Result<Report, InputError> {
    let unreadable = |error: &io::Error| match error.kind() {
        io::ErrorKind::NotFound => InputError::whole(path, "no such file"),
        _ => InputError::whole(path, format!("cannot be read: {error}")),
    };
    let wrong = |error: serde_json::Error| match error.io_error_kind() {
        Some(kind) if kind != io::ErrorKind::UnexpectedEof => unreadable(&error.into()),
        _ => in_document(path, &error),
    };
    if is_standard_input(path) || is_descriptor(path) {
        // It can be read only once, but has to be looked at twice.
        let text = read_text(path)?;
        return of(|| Ok(text.as_bytes())).map_err(wrong);
    }
    // Checked before opening it: opening a pipe waits for its writer.
    let metadata = fs::metadata(path).map_err(|error| unreadable(&error))?;
    if !metadata.is_file() {
        let message = "expected a regular file with the document of `mega-batch run --json` or `search --json`";
        return Err(InputError::whole(path, message));
    }
    let size = metadata.len();
    if size > MAX_BYTES {
        let message = format!("document of {size} bytes: expected {MAX_BYTES} at most");
        return Err(InputError::whole(path, message));
    }
    // The file may grow in the meantime.
    let open = || {
        let file = File::open(path).map_err(serde_json::Error::io)?;
        Ok(BufReader::with_capacity(BUFFER, file.take(MAX_BYTES)))
    };
    of(open).map_err(wrong)
}

/// The document that this opens.
fn of<R: Read>(open: impl Fn() -> serde_json::Result<R>) -> serde_json::Result<Report> {
    Ok(if is_of_search(open()?) {
        Report::Search(Box::new(parse(open()?)?))
    } else {
        Report::Run(Box::new(parse(open()?)?))
    })
}

/// Parses a document.
fn parse<T: DeserializeOwned>(reader: impl Read) -> serde_json::Result<T> {
    let mut json = serde_json::Deserializer::from_reader(reader);
    let document = T::deserialize(&mut json)?;
    json.end()?;
    Ok(document)
}

/// Whether the text is the document of a search, which says so before its results. Reads no further than that.
fn is_of_search(reader: impl Read) -> bool {
    struct KindVisitor<'a>(&'a mut bool);
    impl<'de> Visitor<'de> for KindVisitor<'_> {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
            while let Some(key) = map.next_key::<String>()? {
                match key.as_str() {
                    "kind" => {
                        *self.0 = map.next_value::<String>()? == "search";
                        return Ok(());
                    }
                    "results" => return Ok(()),
                    _ => drop(map.next_value::<IgnoredAny>()?),
                }
            }
            Ok(())
        }
    }
    let mut is_search = false;
    let mut json = serde_json::Deserializer::from_reader(reader);
    // Stopping early is an error, and other errors are reported when all of it is read.
    let _ = json.deserialize_map(KindVisitor(&mut is_search));
    is_search
}

/// An error at a place in the document.
fn in_document(path: &Path, error: &serde_json::Error) -> InputError {
    let (line, column) = (error.line(), error.column());
    let mut message = in_our_words(error);
    if error.is_data() {
        message += ": no document of `mega-batch run --json` or `search --json`?";
    }
    InputError {
        file: path.to_owned(),
        line: Some(line.max(1)),
        column: Some(column.max(1)),
        path: None,
        message,
    }
}

/// What is wrong with a document of another form, in the user's terms.
pub(crate) fn in_our_words(error: &serde_json::Error) -> String {
    if !error.is_data() {
        return broken_json(error, "");
    }
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let message = text.strip_suffix(&place).unwrap_or(&text);
    let parts = |prefix: &str| message.strip_prefix(prefix)?.split_once(", expected ");
    let unlike = parts("invalid type: ").or_else(|| parts("invalid value: "));
    // A list instead of an object is read as its members.
    let unlike = unlike.or_else(|| Some(("sequence", parts("invalid length ")?.1)));
    if let Some((found, expected)) = unlike {
        let found = match found {
            "sequence" => "a list",
            "map" => "an object",
            found => found,
        };
        let expected = match expected {
            "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number of 0 or more",
            "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
            "f32" | "f64" => "a number",
            expected => expected,
        };
        format!("expected {expected}, found {found}")
    } else if let Some((found, expected)) = parts("unknown variant ") {
        format!("expected {expected}, found {found}")
    } else if let Some(key) = message.strip_prefix("missing field ") {
        format!("the key {key} is missing")
    } else if let Some(key) = message.strip_prefix("duplicate field ") {
        format!("the key {key} stands here twice")
    } else {
        message.to_owned()
    }
}

/// Writes the page; `name` is the document's name as given.
pub(crate) fn write(report: &Report, name: &str, out: &mut dyn Write) -> io::Result<()> {
    match report {
        Report::Run(document) => run::write(document, name, out),
        Report::Search(document) => search::write(document, name, out),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_document_is_told_in_words_of_its_writer() {
        let told = |text: &str| in_our_words(&of(|| Ok(text.as_bytes())).unwrap_err());
        for (text, message) in [
            (
                "[]",
                "expected an object, the document of `mega-batch run --json`, found a list",
            ),
            (
                "{\"engine_version\": 1}",
                "expected a string, found integer `1`",
            ),
            ("{}", "the key `engine_version` is missing"),
            (
                "{\"workers\": -1}",
                "expected a whole number of 0 or more, found integer `-1`",
            ),
            (
                "{\"seconds\": \"1\"}",
                "expected a number, found string \"1\"",
            ),
            (
                "{\"mode\": \"a\", \"mode\": \"b\"}",
                "the key `mode` stands here twice",
            ),
            ("", "empty: expected JSON"),
            (
                "{\"mode\": ",
                "broken JSON: it ends within a value, and the rest is missing",
            ),
        ] {
            assert_eq!(told(text), message, "{text}");
        }
    }

    #[test]
    fn documents_of_searches_are_known_before_their_results() {
        for (text, is_search) in [
            (
                r#"{"engine_version": "1", "kind": "search", "results": [{"#,
                true,
            ),
            (r#"{"by_task": [{"kind": 1}], "kind": "search"}"#, true),
            (r#"{"engine_version": "1", "kind": "run"}"#, false),
            (
                r#"{"engine_version": "1", "results": [], "kind": "search"}"#,
                false,
            ),
            (r#"{"kind": 7}"#, false),
            ("[]", false),
            ("", false),
        ] {
            assert_eq!(is_of_search(text.as_bytes()), is_search, "{text}");
        }
    }
}
