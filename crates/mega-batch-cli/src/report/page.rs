//! The page: its frame with all parts filled in.

use std::io::{self, Write};

use super::html::add;

/// The frame, with the names of the parts between `{{` and `}}`.
const FRAME: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Writes the frame with these parts filled in: each has a name, the title of the link that leads to it, if there is one,
/// and its markup.
pub(super) fn write(parts: &[(&str, &str, String)], out: &mut dyn Write) -> io::Result<()> {
    let mut links = String::new();
    for (id, title, html) in parts {
        if !title.is_empty() && !html.is_empty() {
            add!(links, "<li><a href=\"#{id}\">{title}</a></li>");
        }
    }
    // Inserted text is not searched for further parts.
    let mut pieces = FRAME.split("{{");
    let first = pieces.next().unwrap_or_default();
    out.write_all(first.as_bytes())?;
    for piece in pieces {
        let (name, rest) = piece.split_once("}}").unwrap_or(("", piece));
        let part = match name {
            "style" => STYLE,
            "script" => SCRIPT,
            "links" => &links,
            // A search lacks some of them.
            _ => parts
                .iter()
                .find(|part| part.0 == name)
                .map_or("", |(.., html)| html),
        };
        out.write_all(part.as_bytes())?;
        out.write_all(rest.as_bytes())?;
    }
    Ok(())
}
