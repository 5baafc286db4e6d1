//! The charts: markup that works without a script, each with its figures as text.

use std::fmt::Write;

use super::bounded::Reasons;
use super::document::Document;
use super::html::{Plain, add, percent};
use super::outcomes::Outcome;
use super::tasks::{STEPS, State, Tasks};
use crate::table::thousands;

/// A part of a whole.
struct Part<'a> {
    label: &'a str,
    /// The CSS class of its colour.
    class: &'a str,
    count: u64,
}

/// All charts that have data.
pub(super) fn charts(document: &Document) -> String {
    let mut html = outcomes(document);
    if let Some(tasks) = &document.by_task {
        html += &states(tasks);
        html += &scores(tasks);
    }
    html += &backends(document);
    html
}

fn outcomes(document: &Document) -> String {
    let totals = &document.results.totals;
    let parts = Outcome::ALL.map(|outcome| {
        let count = totals.of(outcome);
        Part {
            label: outcome.meaning(count),
            class: outcome.word(),
            count,
        }
    });
    chart("Evaluations by outcome", "", &shares("evaluations", &parts))
}

fn states(tasks: &Tasks) -> String {
    let parts = State::ALL.map(|state| Part {
        label: state.word(),
        class: state.word(),
        count: tasks.states[state as usize],
    });
    chart("Tasks by state", "", &shares("tasks", &parts))
}

fn backends(document: &Document) -> String {
    let Some(backend) = &document.backend else {
        return String::new();
    };
    let device = backend.device.as_ref();
    let parts = [
        Part {
            label: "on devices",
            class: "device",
            count: device.map_or(0, |device| device.evaluations),
        },
        Part {
            label: "compiled",
            class: "compiled",
            count: backend.compiled,
        },
        Part {
            label: "merged",
            class: "merged",
            count: backend.merged,
        },
        Part {
            label: "by the reference",
            class: "reference",
            count: backend.reference,
        },
    ];
    let mut body = shares("evaluations", &parts);
    if let Some(device) = device {
        body += &reasons("Bail-outs of the device", &device.bail_outs);
        body += &reasons("Programs not on the device", &device.programs_host_only);
    }
    body += &reasons("Evaluations bailed out", &backend.bail_outs);
    body += &reasons("Programs not compiled", &backend.programs_not_compiled);
    chart("Who made the evaluations", "", &body)
}

/// A chart under its title.
fn chart(title: &str, note: &str, body: &str) -> String {
    let note = match note {
        "" => String::new(),
        note => format!("<p>{}</p>", Plain(note)),
    };
    format!(
        "<figure class=\"chart\"><figcaption><h3>{title}</h3>{note}</figcaption>{body}</figure>\n"
    )
}

/// The width of a bar in its own units.
const BAR: f64 = 1000.0;

/// A bar of parts with its legend. Empty parts are left out.
fn shares(what: &str, parts: &[Part<'_>]) -> String {
    let total = parts.iter().map(|part| part.count).sum::<u64>();
    if total == 0 {
        return format!("<p class=\"none\">no {what}</p>");
    }
    let parts: Vec<_> = parts.iter().filter(|part| part.count > 0).collect();
    let told: Vec<_> = parts
        .iter()
        .map(|part| format!("{} {}", thousands(part.count), part.label))
        .collect();
    let mut html = format!(
        "<svg class=\"bar\" viewBox=\"0 0 {BAR} 20\" preserveAspectRatio=\"none\" role=\"img\" \
         aria-label=\"{} {what}: {}\">",
        thousands(total),
        Plain(&told.join(", "))
    );
    // The smallest part is kept visible, at the cost of the others.
    let least = BAR / 100.0;
    let widths: Vec<f64> = parts
        .iter()
        .map(|part| (BAR * part.count as f64 / total as f64).max(least))
        .collect();
    let scale = BAR / widths.iter().sum::<f64>();
    let mut x = 0.0;
    for (part, width) in parts.iter().zip(widths) {
        let width = width * scale;
        let shown = (width - 3.0).max(least / 2.0);
        let class = part.class;
        add!(
            html,
            "<rect class=\"{class}\" x=\"{x:.1}\" width=\"{shown:.1}\" height=\"20\"/>"
        );
        x += width;
    }
    html += "</svg><ul class=\"legend\">";
    for Part {
        label,
        class,
        count,
    } in parts
    {
        add!(
            html,
            "<li><span class=\"key {class}\"></span>{label} <b>{}</b> <span class=\"share\">{}</span></li>",
            thousands(*count),
            percent(*count as f64 / total as f64)
        );
    }
    html + "</ul>"
}

/// How many reasons are listed.
const LISTED: usize = 6;

/// The most frequent reasons, as bars.
fn reasons(title: &str, reasons: &Reasons) -> String {
    let Some(&(_, most)) = reasons.0.first() else {
        return String::new();
    };
    let mut html = format!(
        "<details class=\"reasons\"><summary>{title} <b>{}</b></summary><ul>",
        thousands(reasons.total())
    );
    for (reason, count) in reasons.0.iter().take(LISTED) {
        let width = 100.0 * *count as f64 / most.max(1) as f64;
        add!(
            html,
            "<li><span>{reason}</span> <b>{}</b><svg class=\"line\" viewBox=\"0 0 100 4\" \
             preserveAspectRatio=\"none\" aria-hidden=\"true\"><rect class=\"reference\" \
             width=\"{width:.1}\" height=\"4\"/></svg></li>",
            thousands(*count)
        );
    }
    if reasons.0.len() > LISTED {
        add!(
            html,
            "<li class=\"none\">and {} more</li>",
            reasons.0.len() - LISTED
        );
    }
    html + "</ul></details>"
}

/// A histogram of tasks, by the share of train cells that their best program has right.
fn scores(tasks: &Tasks) -> String {
    const WIDTH: f64 = 440.0;
    const HEIGHT: f64 = 120.0;
    let scored: u64 = tasks.scores.iter().sum();
    let title = "Train cells right, best program of each task";
    if scored == 0 {
        return chart(
            title,
            "",
            "<p class=\"none\">no task has a program that gives a grid</p>",
        );
    }
    let label = |step: usize| match step {
        10 => "100%".to_owned(),
        step => format!("{}", step * 10),
    };
    let told: Vec<_> = tasks
        .scores
        .iter()
        .enumerate()
        .filter(|&(_, &count)| count > 0)
        .map(|(step, count)| match step {
            10 => format!("{count} with all cells"),
            step => format!("{count} with {}% to under {}%", step * 10, step * 10 + 10),
        })
        .collect();
    let mut html = format!(
        "<svg class=\"columns\" viewBox=\"0 0 {WIDTH} {}\" role=\"img\" aria-label=\"{} tasks: {}\">",
        HEIGHT + 40.0,
        thousands(scored),
        told.join(", ")
    );
    let most = tasks.scores.iter().copied().max().unwrap_or(1).max(1) as f64;
    let pitch = WIDTH / STEPS as f64;
    for (step, &count) in tasks.scores.iter().enumerate() {
        let height = if count == 0 {
            0.0
        } else {
            (HEIGHT * count as f64 / most).max(3.0)
        };
        let (x, y) = (pitch * step as f64, HEIGHT + 18.0 - height);
        let class = if step + 1 == STEPS {
            "solved"
        } else {
            "unsolved"
        };
        add!(
            html,
            "<rect class=\"{class}\" x=\"{:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{height:.1}\" rx=\"2\"/>",
            x + 3.0,
            pitch - 6.0
        );
        let middle = x + pitch / 2.0;
        if count > 0 {
            add!(
                html,
                "<text x=\"{middle:.1}\" y=\"{:.1}\" class=\"count\">{}</text>",
                y - 5.0,
                thousands(count)
            );
        }
        add!(
            html,
            "<text x=\"{middle:.1}\" y=\"{:.1}\">{}</text>",
            HEIGHT + 34.0,
            label(step)
        );
    }
    let base = HEIGHT + 18.5;
    add!(html, "<path class=\"axis\" d=\"M0 {base}H{WIDTH}\"/></svg>");
    let without = tasks.room.total as u64 - scored;
    let note = match without {
        0 => String::new(),
        1 => "1 task has no program to be judged".to_owned(),
        many => format!("{} tasks have no program to be judged", thousands(many)),
    };
    chart(title, &note, &html)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn widths(html: &str) -> Vec<f64> {
        let widths = html.split("width=\"").skip(1);
        let widths = widths.map(|rest| rest.split_once('"').unwrap().0.parse().unwrap());
        widths.collect()
    }

    #[test]
    fn the_least_part_of_a_bar_is_seen_and_all_fit_into_it() {
        let part = |class, count| Part {
            label: class,
            class,
            count,
        };
        let html = shares("things", &[part("a", 1), part("b", 999_999), part("c", 0)]);
        assert!(
            html.contains("aria-label=\"1,000,000 things: 1 a, 999,999 b\""),
            "{html}"
        );
        let widths = widths(&html);
        assert_eq!(widths.len(), 2);
        assert!(
            widths[0] >= 5.0 && widths.iter().sum::<f64>() <= BAR,
            "{widths:?}"
        );
        assert_eq!(
            shares("things", &[part("a", 0)]),
            "<p class=\"none\">no things</p>"
        );
    }

    #[test]
    fn reasons_are_listed_by_their_counts_and_escaped() {
        let text = r#"{"a": 1, "<b>": 5, "c": 1, "d": 1, "e": 1, "f": 1, "g": 1, "h": 1}"#;
        let counts: Reasons = serde_json::from_str(text).unwrap();
        let html = reasons("Title", &counts);
        assert!(html.contains("Title <b>12</b>"), "{html}");
        assert!(html.find("&lt;b&gt;").unwrap() < html.find(">a<").unwrap());
        assert!(
            html.contains("and 2 more") && !html.contains(">h<"),
            "{html}"
        );
        assert_eq!(reasons("Title", &Reasons::default()), "");
    }
}
