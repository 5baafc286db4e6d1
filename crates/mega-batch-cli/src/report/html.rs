//! Text in the markup of the page, and the parts that it has several of.

use std::fmt;

use mega_batch::escaped;

use super::bounded::Text;
use crate::table::thousands;

/// Text from any source as text of the page, or as the value of an attribute between double quotes: nothing in it is
/// treated as markup, and control characters are shown as escapes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plain<'a>(pub(super) &'a str);

impl fmt::Display for Plain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = escaped(self.0);
        let mut rest = &*text;
        while let Some(at) = rest.find(['&', '<', '>', '"', '\'']) {
            f.write_str(&rest[..at])?;
            f.write_str(match rest.as_bytes()[at] {
                b'&' => "&amp;",
                b'<' => "&lt;",
                b'>' => "&gt;",
                b'"' => "&quot;",
                _ => "&#39;",
            })?;
            rest = &rest[at + 1..];
        }
        f.write_str(rest)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Plain(&self.0).fmt(f)
    }
}

/// Adds text to the page.
macro_rules! add {
    ($html:expr, $($text:tt)*) => {{
        // Writing into a string cannot fail.
        let _ = std::fmt::Write::write_fmt(&mut $html, format_args!($($text)*));
    }};
}
pub(super) use add;

/// A count out of a total.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Share {
    pub(super) right: u64,
    pub(super) of: u64,
}

impl Share {
    /// The share from 0 to 1; `None` if the total is 0.
    pub(super) fn ratio(self) -> Option<f64> {
        (self.of > 0).then(|| (self.right as f64 / self.of as f64).clamp(0.0, 1.0))
    }

    /// ` · test 1 of 2`; nothing if no output is known.
    pub(super) fn of_tests(self) -> String {
        let Self { right, of } = self;
        match of {
            0 => String::new(),
            _ => format!(" · test {right} of {of}"),
        }
    }
}

/// A program's name, and the file that it was read from.
pub(super) fn program(name: &Text, file: Option<&Text>) -> String {
    let mut html = format!("<code>{name}</code>");
    if let Some(file) = file {
        add!(html, " <span class=\"file\">{file}</span>");
    }
    html
}

/// A bar that is filled to this share in the colour of a class; its figure stands beside it.
pub(super) fn bar(class: &str, share: f64) -> String {
    let percent = 100.0 * share;
    format!("<span class=\"line\"><i class=\"{class}\" style=\"width:{percent:.1}%\"></i></span>")
}

/// A panel under its title; empty without a body.
pub(super) fn panel(id: &str, title: &str, total: Option<u64>, body: &str) -> String {
    if body.is_empty() {
        return String::new();
    }
    let total = total.map_or_else(String::new, |total| {
        format!(" <span class=\"total\">{}</span>", thousands(total))
    });
    format!("<section id=\"{id}\" class=\"panel\"><h2>{title}{total}</h2>{body}</section>\n")
}

/// A table with names in its first column and numbers in the others.
pub(super) fn table<const N: usize>(
    title: &str,
    columns: [&str; N],
    rows: impl Iterator<Item = [String; N]>,
) -> String {
    let mut html = format!(
        "<div class=\"scrolled\" tabindex=\"0\" role=\"region\" aria-label=\"{title}\"><table><thead><tr>"
    );
    for name in columns {
        add!(html, "<th scope=\"col\">{name}</th>");
    }
    html += "</tr></thead><tbody>\n";
    for row in rows {
        for (at, cell) in row.iter().enumerate() {
            match at {
                0 => add!(html, "<tr><th scope=\"row\">{cell}</th>"),
                _ => add!(html, "<td>{cell}</td>"),
            }
        }
        html += "</tr>\n";
    }
    html + "</tbody></table></div>"
}

/// A notice that a reader should see first.
pub(super) fn notice(title: &str, text: &str) -> String {
    format!("<p class=\"notice\"><b>{title}</b> {text}</p>\n")
}

/// A figure with a line of explanation.
pub(super) fn figure(title: &str, value: &str, about: &str) -> String {
    format!("<div><dt>{title}</dt><dd>{value}<small>{about}</small></dd></div>\n")
}

/// A figure that is a part of a whole; `more` follows the percentage.
pub(super) fn share(title: &str, share: Share, class: &str, more: &str) -> String {
    let ratio = share.ratio().unwrap_or(0.0);
    let value = format!(
        "{}<span class=\"of\"> of {}</span>{}",
        thousands(share.right),
        thousands(share.of),
        bar(class, ratio)
    );
    figure(title, &value, &(percent(ratio) + more))
}

/// How a document was made.
pub(super) fn workers(workers: u64) -> String {
    match workers {
        1 => "1 worker".to_owned(),
        workers => format!("{} workers", thousands(workers)),
    }
}

/// How many elements of a list are not shown; empty if none.
pub(super) fn and_more(left_out: u64) -> String {
    match left_out {
        0 => String::new(),
        more => format!("<p class=\"none\">and {} more</p>", thousands(more)),
    }
}

/// A share as a percentage. It is shown as 0% or 100% only if it is exactly that.
pub(super) fn percent(ratio: f64) -> String {
    if ratio <= 0.0 {
        "0%".to_owned()
    } else if ratio >= 1.0 {
        "100%".to_owned()
    } else if ratio < 0.001 {
        "under 0.1%".to_owned()
    } else if ratio > 0.999 {
        "over 99.9%".to_owned()
    } else {
        format!("{:.1}%", ratio * 100.0)
    }
}

/// A time for people, in three digits or so, on one line.
pub(super) fn time(seconds: f64) -> String {
    match seconds {
        0.0 => "0\u{a0}s".to_owned(),
        s if s < 1e-3 => format!("{:.1}\u{a0}µs", s * 1e6),
        s if s < 1.0 => format!("{:.1}\u{a0}ms", s * 1e3),
        s if s < 60.0 => format!("{s:.2}\u{a0}s"),
        s => {
            let whole = s.round() as u64;
            let (hours, minutes, seconds) = (whole / 3600, whole / 60 % 60, whole % 60);
            if hours == 0 {
                format!("{minutes}\u{a0}min\u{a0}{seconds}\u{a0}s")
            } else {
                format!("{hours}\u{a0}h\u{a0}{minutes}\u{a0}min")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_from_outside_is_markup() {
        let hostile = "</script><img src=x onerror='a()'>\"&amp;\u{1b}[2J\u{202e}";
        assert_eq!(
            Plain(hostile).to_string(),
            "&lt;/script&gt;&lt;img src=x onerror=&#39;a()&#39;&gt;&quot;&amp;amp;\\u{1b}[2J\\u{202e}"
        );
        let name = Text("<b>".to_owned());
        assert_eq!(
            program(&name, Some(&name)),
            "<code>&lt;b&gt;</code> <span class=\"file\">&lt;b&gt;</span>"
        );
    }

    #[test]
    fn shares_are_all_only_where_they_are_all() {
        let shares = [0.0, 0.0004, 0.5, 0.9996, 1.0].map(percent);
        assert_eq!(shares, ["0%", "under 0.1%", "50.0%", "over 99.9%", "100%"]);
    }

    #[test]
    fn times_have_their_units() {
        let times = [0.0, 12e-6, 0.0347, 1.5, 119.7, 7260.0];
        let times = times.map(|seconds| time(seconds).replace('\u{a0}', " "));
        assert_eq!(
            times,
            [
                "0 s",
                "12.0 µs",
                "34.7 ms",
                "1.50 s",
                "2 min 0 s",
                "2 h 1 min"
            ]
        );
    }
}
