//! The page: its frame with all parts filled in.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::document::Document;
use super::html::{Plain, add};
use super::{cards, charts, devices, overview, tables};

/// The frame, with the names of the parts between `{{` and `}}`.
const FRAME: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// A part that links lead to: the id of its element, which is also its name in the frame, and its title. It is empty
/// if there is nothing to show.
pub(super) struct Section {
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    pub(super) html: String,
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
            tables::input_errors(&document.input_errors),
        ),
    ];
    write_frame(&sections, out, &|part| {
        Ok(match part {
            "name" => Plain(name).to_string(),
            "how" => overview::how(document),
            "figures" => overview::figures(document),
            "notices" => overview::notices(document),
            "charts" => charts::charts(document),
            "data" => cards::data(document)?,
            unknown => {
                let message = format!("the frame has no part {unknown}");
                return Err(io::Error::other(message));
            }
        })
    })
}

/// Writes the frame with these sections filled in, and with the results of `part` for parts that no link leads to.
pub(super) fn write_frame(
    sections: &[Section],
    out: &mut dyn Write,
    part: &dyn Fn(&str) -> io::Result<String>,
) -> io::Result<()> {
    // Inserted text is not searched for further parts.
    let mut pieces = FRAME.split("{{");
    let first = pieces.next().unwrap_or_default();
    out.write_all(first.as_bytes())?;
    for piece in pieces {
        let (name, rest) = piece.split_once("}}").unwrap_or(("", piece));
        let found = sections.iter().find(|section| section.id == name);
        match (found, name) {
            (Some(section), _) => out.write_all(section.html.as_bytes())?,
            (None, "style") => out.write_all(STYLE.as_bytes())?,
            (None, "script") => out.write_all(SCRIPT.as_bytes())?,
            (None, "links") => out.write_all(links(sections).as_bytes())?,
            (None, name) => out.write_all(part(name)?.as_bytes())?,
        }
        out.write_all(rest.as_bytes())?;
    }
    Ok(())
}

/// Links to the sections that are not empty.
fn links(sections: &[Section]) -> String {
    let mut html = String::new();
    for Section { id, title, .. } in sections.iter().filter(|section| !section.html.is_empty()) {
        add!(html, "<li><a href=\"#{id}\">{title}</a></li>");
    }
    html
}
