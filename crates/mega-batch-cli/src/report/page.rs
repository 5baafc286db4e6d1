//! The page: its frame with all parts put in.

use std::io::{self, Write};

use super::document::Document;
use super::html::Plain;
use super::{cards, charts, devices, overview, tables};

/// The frame, with the names of the parts between `{{` and `}}`.
const FRAME: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Writes the page of a document of this name.
pub(super) fn write(document: &Document, name: &str, out: &mut dyn Write) -> io::Result<()> {
    // What is put in is not looked through for more parts.
    let mut pieces = FRAME.split("{{");
    let first = pieces.next().unwrap_or_default();
    out.write_all(first.as_bytes())?;
    for piece in pieces {
        let (part, rest) = piece.split_once("}}").unwrap_or(("", piece));
        let html = self::part(part, document, name)?;
        out.write_all(html.as_bytes())?;
        out.write_all(rest.as_bytes())?;
    }
    Ok(())
}

fn part(part: &str, document: &Document, name: &str) -> io::Result<String> {
    Ok(match part {
        "style" => STYLE.to_owned(),
        "script" => SCRIPT.to_owned(),
        "name" => Plain(name).to_string(),
        "how" => overview::how(document),
        "notices" => overview::notices(document),
        "figures" => overview::figures(document),
        "charts" => charts::charts(document),
        "slowest" => tables::slowest(document),
        "devices" => devices::devices(document),
        "failures" => tables::failures(document),
        "input-errors" => tables::input_errors(document),
        "tasks" => cards::cards(document),
        "data" => cards::data(document)?,
        unknown => {
            let message = format!("the frame has no part {unknown}");
            return Err(io::Error::other(message));
        }
    })
}
