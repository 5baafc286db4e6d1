//! [`Svg`]: shapes and text as one SVG file, in colours that are readable on light and on dark pages.
//!
//! Colours stand in classes of a style sheet, with a second set for readers who prefer dark pages; the
//! ground is drawn too, so that the picture is readable on any page.

use std::fmt::Write as _;

/// A picture that is being drawn. Lengths are in pixels, from the upper left corner.
#[derive(Debug)]
pub(super) struct Svg {
    body: String,
}

/// Where a text lies beside its point.
#[derive(Debug, Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// How many colours of series there are.
pub(super) const COLOURS: usize = 6;

/// Light and dark: ground, text, quiet text, grid lines, and the colours of series.
const LIGHT: [&str; 4] = ["#ffffff", "#1f2328", "#59636e", "#e4e8ec"];
const DARK: [&str; 4] = ["#0d1117", "#e6edf3", "#9198a1", "#272e37"];
const LIGHT_SERIES: [&str; COLOURS] = [
    "#818b98", "#1f2328", "#0969da", "#1a7f37", "#bc4c00", "#8250df",
];
const DARK_SERIES: [&str; COLOURS] = [
    "#848d97", "#e6edf3", "#58a6ff", "#3fb950", "#f0883e", "#bc8cff",
];

fn colours(sheet: &mut String, [ground, ink, quiet, grid]: [&str; 4], series: [&str; COLOURS]) {
    // Writing to a string does not fail.
    let _ = write!(
        sheet,
        ".ground{{fill:{ground}}}.ink{{fill:{ink}}}.quiet{{fill:{quiet}}}.grid{{stroke:{grid}}}\
         .axis{{stroke:{quiet}}}.whisker{{stroke:{ink}}}.halo{{stroke:{ground}}}"
    );
    for (at, colour) in series.iter().enumerate() {
        let _ = write!(
            sheet,
            ".line{at}{{stroke:{colour}}}.fill{at}{{fill:{colour}}}.mark{at}{{fill:{colour};stroke:{ground}}}"
        );
    }
}

fn style() -> String {
    let mut sheet = String::from(
        "text{font-family:system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif;font-size:12px}\
         .title{font-size:17px;font-weight:600}.panel{font-size:13px;font-weight:600}\
         .grid,.axis{stroke-width:1;fill:none}.series{stroke-width:2;fill:none;stroke-linejoin:round}\
         .spread{stroke-width:1.5;fill:none;opacity:.55}.base{stroke-width:1.5;fill:none}\
         .dashed{stroke-dasharray:5 4}.whisker{stroke-width:1.5;fill:none}\
         .halo{stroke-width:4;stroke-linejoin:round;paint-order:stroke}",
    );
    colours(&mut sheet, LIGHT, LIGHT_SERIES);
    sheet.push_str("@media (prefers-color-scheme:dark){");
    colours(&mut sheet, DARK, DARK_SERIES);
    sheet.push('}');
    sheet
}

/// Text with what XML gives a meaning spelt out.
fn spelt(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('"', "&quot;")
}

impl Svg {
    pub(super) fn new() -> Self {
        Self {
            body: String::new(),
        }
    }

    pub(super) fn text(&mut self, (x, y): (f64, f64), anchor: Anchor, class: &str, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let text = spelt(text);
        let _ = writeln!(
            self.body,
            r#"<text x="{x:.1}" y="{y:.1}" text-anchor="{anchor}" class="{class}">{text}</text>"#
        );
    }

    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), class: &str) {
        self.path(&[from, to], class);
    }

    pub(super) fn path(&mut self, points: &[(f64, f64)], class: &str) {
        let points: Vec<String> = points
            .iter()
            .map(|(x, y)| format!("{x:.1},{y:.1}"))
            .collect();
        let points = points.join(" ");
        let _ = writeln!(
            self.body,
            r#"<polyline points="{points}" class="{class}"/>"#
        );
    }

    pub(super) fn rectangle(
        &mut self,
        (x, y): (f64, f64),
        (width, height): (f64, f64),
        class: &str,
    ) {
        let _ = writeln!(
            self.body,
            r#"<rect x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}" class="{class}"/>"#
        );
    }

    /// The mark of a series on a point: another form and colour for each.
    pub(super) fn mark(&mut self, (x, y): (f64, f64), series: usize) {
        let class = format!("mark{}", series % COLOURS);
        let corners: &[(f64, f64)] = match series % 4 {
            0 => &[(-3.6, -3.6), (3.6, -3.6), (3.6, 3.6), (-3.6, 3.6)],
            1 => &[(0.0, -5.0), (5.0, 0.0), (0.0, 5.0), (-5.0, 0.0)],
            2 => {
                let _ = writeln!(
                    self.body,
                    r#"<circle cx="{x:.1}" cy="{y:.1}" r="4.2" class="{class}"/>"#
                );
                return;
            }
            _ => &[(0.0, -4.8), (4.6, 3.6), (-4.6, 3.6)],
        };
        let corners = corners
            .iter()
            .map(|(dx, dy)| format!("{:.1},{:.1}", x + dx, y + dy));
        let corners: Vec<String> = corners.collect();
        let corners = corners.join(" ");
        let _ = writeln!(
            self.body,
            r#"<polygon points="{corners}" class="{class}"/>"#
        );
    }

    /// The file; the title is also for those who have it read to them.
    pub(super) fn finish(self, (width, height): (f64, f64), title: &str) -> String {
        let title = spelt(title);
        let style = style();
        let body = self.body;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
             viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" aria-label=\"{title}\">\n\
             <title>{title}</title>\n<style>{style}</style>\n\
             <rect width=\"100%\" height=\"100%\" class=\"ground\"/>\n{body}</svg>\n"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_has_no_meaning_in_xml() {
        let mut svg = Svg::new();
        svg.text((1.0, 2.0), Anchor::End, "ink", "<a & \"b\">");
        let text = svg.finish((10.0, 20.0), "a<b");
        let expected =
            r#"<text x="1.0" y="2.0" text-anchor="end" class="ink">&lt;a &amp; &quot;b&quot;>"#;
        assert!(text.contains(expected), "{text}");
        assert!(text.contains("<title>a&lt;b</title>"), "{text}");
    }

    #[test]
    fn every_colour_has_a_dark_one() {
        let sheet = style();
        let (light, dark) = sheet.split_once("@media").unwrap();
        for class in [
            "ground", "ink", "quiet", "grid", "axis", "line5", "fill0", "mark3",
        ] {
            let rule = format!(".{class}{{");
            assert!(light.contains(&rule) && dark.contains(&rule), "{class}");
        }
    }
}
