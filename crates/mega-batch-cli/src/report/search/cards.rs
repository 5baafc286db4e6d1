//! The cards of the tasks of a search: what was found, and each attempt with its layers.

use std::fmt::Write;
use std::io;

use mega_batch::search::SearchState;

use super::results::{Attempt, Layer, Results, Task};
use crate::report::cards::{anchor, lines, order_form, section, states_form};
use crate::report::html::{Plain, add, time};
use crate::table::thousands;

const STATES: [SearchState; 4] = [
    SearchState::Solved,
    SearchState::Fits,
    SearchState::Partly,
    SearchState::Nothing,
];

/// The CSS class of a state, and its word for people.
fn words(state: SearchState) -> (&'static str, &'static str) {
    match state {
        SearchState::Solved => ("solved", "solved"),
        SearchState::Fits => ("fits", "fits all pairs"),
        SearchState::Partly => ("partly", "fits some pairs"),
        SearchState::Nothing => ("nothing", "no attempt"),
    }
}

/// The section of the tasks.
pub(super) fn cards(results: &Results) -> String {
    section(&results.room, &filters(results), results.cards.iter(), card)
}

/// The form that filters the cards. It needs a script, which makes it visible.
fn filters(results: &Results) -> String {
    let states = STATES.map(|state| {
        let (class, word) = words(state);
        let tasks = results.cards.iter().filter(|task| task.state == state);
        (class, word, tasks.count())
    });
    states_form(results.cards.len(), &states) + &order_form("search", "pairs", "id or operation")
}

fn card(at: usize, task: &Task) -> String {
    let (class, word) = words(task.state);
    let mut find = task.id.0.clone();
    for layer in task.attempts.iter().flat_map(|attempt| &attempt.layers) {
        find.push(' ');
        find += &layer.expression.0;
    }
    let best = task.attempts.first();
    let ratio = best.map(|best| best.fits as f64 / task.train.max(1) as f64);
    let mut html = format!(
        "<article class=\"task\"{} aria-label=\"{}\" data-at=\"{at}\" data-state=\"{class}\" data-outcomes=\"\" \
         data-score=\"{:.6}\" data-find=\"{}\"><details><summary><span class=\"head\"><h3>{}</h3>\
         <span class=\"badge {class}\">{word}</span></span><span class=\"preview\"></span>\
         <span class=\"score\">{}</span></summary>\n<div class=\"body\"><p class=\"about\">{}</p>",
        anchor(&task.id),
        task.id,
        ratio.unwrap_or(-1.0),
        Plain(&find.to_lowercase()),
        task.id,
        best.map_or_else(
            || "no attempt".to_owned(),
            |best| format!("train {} of {}", best.fits, task.train)
        ),
        Plain(&about(task)),
    );
    html += "<ol class=\"programs\">";
    for attempt in &task.attempts {
        html += &one(task, attempt);
    }
    html += "</ol><div class=\"pairs\"></div>";
    if task.data.is_none() {
        html += "<p class=\"none\">There is no room for its grids in this page.</p>";
    }
    html + "</div></details></article>\n"
}

/// What was done for a task.
fn about(task: &Task) -> String {
    let mut words = vec![format!("{} calls", thousands(task.calls))];
    words.extend(task.stopped.map(|stopped| format!("ended by {stopped}")));
    words.push(time(task.seconds));
    if task.renamed {
        words.push("colours renamed".to_owned());
    }
    words.extend(
        task.failure
            .as_ref()
            .map(|failure| format!("not searched: {}", failure.0)),
    );
    words.join(" · ")
}

/// An attempt: what it is, its layers, its program.
fn one(task: &Task, attempt: &Attempt) -> String {
    let kind = match (attempt.layers.len(), (attempt.fits as usize) < task.train) {
        (0 | 1, false) => "chain",
        (0 | 1, true) => "chain that fits partly",
        (_, false) => "stack",
        (_, true) => "stack that fits partly",
    };
    let mut html = format!(
        "<li>{kind} <span class=\"facts\">train {} of {} pairs",
        attempt.fits, task.train
    );
    if attempt.tests.of > 0 {
        add!(
            html,
            " · test {} of {}",
            attempt.tests.right,
            attempt.tests.of
        );
    }
    add!(
        html,
        " · score {:.3} · cost {}</span><ul class=\"layers\">",
        attempt.score,
        attempt.cost
    );
    for Layer {
        part,
        expression,
        colour,
    } in &attempt.layers
    {
        add!(html, "<li>{part} <code>{expression}</code>");
        if let Some(colour) = colour {
            add!(html, " in <code>{colour}</code>");
        }
        html += "</li>";
    }
    if attempt.layers_left_out > 0 {
        add!(html, "<li>and {} more</li>", attempt.layers_left_out);
    }
    // Line breaks are kept; all other control characters are shown as escapes.
    let program: Vec<_> = attempt.program.lines().map(Plain).collect();
    html += "</ul><details class=\"reasons\"><summary>Program</summary><pre><code>";
    for line in program {
        add!(html, "{line}\n");
    }
    html + "</code></pre></details></li>"
}

/// The grids as the script reads them.
pub(super) fn data(results: &Results) -> io::Result<String> {
    lines(results.cards.iter().map(|task| task.data.as_deref()))
}
