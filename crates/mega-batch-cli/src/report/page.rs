//! The page: its frame with all parts put in.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::document::Document;
use super::html::{Plain, add};
use super::{cards, charts, devices, overview, tables};

/// The frame, with the names of the parts between `{{` and `}}`.
const FRAME: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// A part that links lead to: the id of its element, which is also its name in the frame, and what it is
/// called. It is empty where there is nothing for it.
struct Section {
    id: &'static str,
    title: &'static str,
    html: String,
}

/// Writes the page of a document of this name.
pub(super) fn write(document: &Document, name: &str, out: &mut dyn Write) -> io::Result<()> {
    let section = |id, title, html| Section { id, title, html };
    let sections = [
        section("tasks", "Tasks", cards::cards(document)),
        section("slowest", "Slowest programs", tables::slowest(document)),
        section("devices", "Devices", devices::devices(document)),
        section("failures", "Failures", tables::failures(document)),
        section(
            "input-errors",
            "Input errors",
            tables::input_errors(document),
        ),
    ];
    // What is put in is not looked through for more parts.
    let mut pieces = FRAME.split("{{");
    let first = pieces.next().unwrap_or_default();
    out.write_all(first.as_bytes())?;
    for piece in pieces {
        let (part, rest) = piece.split_once("}}").unwrap_or(("", piece));
        let found = sections.iter().find(|section| section.id == part);
        match found {
            Some(section) => out.write_all(section.html.as_bytes())?,
            None => write_part(part, document, name, &sections, out)?,
        }
        out.write_all(rest.as_bytes())?;
    }
    Ok(())
}

/// Writes a part that no link leads to.
fn write_part(
    part: &str,
    document: &Document,
    name: &str,
    sections: &[Section],
    out: &mut dyn Write,
) -> io::Result<()> {
    let html = match part {
        "style" => STYLE.to_owned(),
        "script" => SCRIPT.to_owned(),
        "name" => Plain(name).to_string(),
        "how" => overview::how(document),
        "links" => links(sections),
        "figures" => overview::figures(document),
        "notices" => overview::notices(document),
        "charts" => charts::charts(document),
        "data" => cards::data(document)?,
        unknown => {
            let message = format!("the frame has no part {unknown}");
            return Err(io::Error::other(message));
        }
    };
    out.write_all(html.as_bytes())
}

/// Links to the sections that there are.
fn links(sections: &[Section]) -> String {
    let mut html = String::new();
    for Section { id, title, .. } in sections.iter().filter(|section| !section.html.is_empty()) {
        add!(html, "<li><a href=\"#{id}\">{title}</a></li>");
    }
    html
}
