//! The cards of tasks, which show the results of each without a script, and the grids as data.

use std::fmt::Write;
use std::io;

use arc_dsl::PALETTE;
use serde::Serialize;

use super::bounded::Text;
use super::document::Document;
use super::html::{Plain, add, and_more, percent, program};
use super::outcomes::{Counts, Outcome, Results};
use super::tasks::{Ranked, Room, State, Task, Tasks};
use crate::table::thousands;

/// The most tasks listed if a document has no grids.
const LISTED: usize = 2000;

/// The section of the tasks.
pub(super) fn cards(document: &Document) -> String {
    let Some(tasks) = &document.by_task else {
        return of_results(&document.results);
    };
    let results = &document.results;
    let filters = filters(tasks, results);
    section(&tasks.room, &filters, tasks.cards.iter(), |at, task| {
        let counts = results.by_task.get(&task.id);
        card(at, task, counts.copied().unwrap_or_default())
    })
}

/// The section of the tasks: the form that filters them, and the cards of those with one.
pub(super) fn section<T>(
    room: &Room,
    filters: &str,
    tasks: impl ExactSizeIterator<Item = T>,
    card: impl Fn(usize, T) -> String,
) -> String {
    let mut html = heading(room.total) + filters + &left_out(room, tasks.len());
    html += "<div id=\"cards\" class=\"cards\">\n";
    for (at, task) in tasks.enumerate() {
        html += &card(at, task);
    }
    html + "</div>\n<p id=\"nothing\" class=\"none\" hidden>No task is like that.</p></section>\n"
}

fn heading(total: usize) -> String {
    format!(
        "<section id=\"tasks\"><h2>Tasks <span class=\"total\">{}</span></h2>\n",
        thousands(total as u64)
    )
}

/// Says how many tasks are not shown, and how many without grids.
fn left_out(room: &Room, shown: usize) -> String {
    let mut html = String::new();
    if shown < room.total {
        add!(
            html,
            "<p class=\"none\">The first {} of {} tasks are shown.</p>",
            thousands(shown as u64),
            thousands(room.total as u64)
        );
    }
    if room.without_grids > 0 {
        add!(
            html,
            "<p class=\"none\">{} tasks are shown without grids, for which there is no room.</p>",
            thousands(room.without_grids as u64)
        );
    }
    html
}

/// The form that filters the cards. It needs a script, which makes it visible.
fn filters(tasks: &Tasks, results: &Results) -> String {
    let states = State::ALL.map(|state| {
        let cards = tasks.cards.iter().filter(|task| task.state == state);
        (state.word(), state.word(), cards.count())
    });
    let mut html = states_form(tasks.cards.len(), &states);
    html += "<label>Outcome <select name=\"outcome\"><option value=\"\">any</option>";
    for outcome in Outcome::ALL {
        let of_tasks = tasks.cards.iter().filter(|task| {
            let counts = results.by_task.get(&task.id);
            counts.is_some_and(|counts| counts.of(outcome) > 0)
        });
        let count = of_tasks.count();
        if count > 0 {
            add!(
                html,
                "<option value=\"{}\">some {} ({})</option>",
                outcome.word(),
                outcome.meaning(2),
                thousands(count as u64)
            );
        }
    }
    html += "</select></label>";
    html + &order_form("run", "cells", "id, program or file")
}

/// The beginning of the form: a choice of all cards or those of one state. A state has a value, a word for people,
/// and a number of cards.
pub(super) fn states_form(all: usize, states: &[(&str, &str, usize)]) -> String {
    let mut html = String::from(
        "<form id=\"filters\" class=\"filters\" role=\"search\" aria-label=\"Tasks\" hidden>\
         <fieldset><legend>State</legend>",
    );
    for (value, label, count) in [("", "all", all)].iter().chain(states) {
        let checked = if value.is_empty() { " checked" } else { "" };
        add!(
            html,
            "<label><input type=\"radio\" name=\"state\" value=\"{value}\"{checked}>\
             <span>{label} <b>{}</b></span></label>",
            thousands(*count as u64)
        );
    }
    html + "</fieldset>"
}

/// The end of the form: the order of the cards, and a search.
pub(super) fn order_form(work: &str, scored: &str, searched: &str) -> String {
    format!(
        "<label>Order <select name=\"order\"><option value=\"\">as in the {work}\
         </option><option value=\"id\">by id</option><option value=\"low\">fewest train {scored} right \
         first</option><option value=\"high\">most train {scored} right first</option></select></label>\
         <label class=\"search\">Search <input type=\"search\" name=\"text\" \
         placeholder=\"{searched}\" autocomplete=\"off\" spellcheck=\"false\"></label>\
         <output id=\"shown\" aria-live=\"polite\"></output></form>\n"
    )
}

/// The outcomes of a task's evaluations, as classes.
fn outcomes(counts: Counts) -> String {
    let words = Outcome::ALL
        .into_iter()
        .filter(|&outcome| counts.of(outcome) > 0);
    words.map(Outcome::word).collect::<Vec<_>>().join(" ")
}

fn card(at: usize, task: &Task, counts: Counts) -> String {
    let state = task.state.word();
    let mut find = task.id.0.clone();
    for Ranked { program, .. } in &task.best {
        for name in std::iter::once(&program.name).chain(&program.file) {
            find.push(' ');
            find += &name.0;
        }
    }
    let mut html = format!(
        "<article class=\"task\"{} aria-label=\"{}\" data-at=\"{at}\" data-state=\"{state}\" data-outcomes=\"{}\" \
         data-score=\"{:.6}\" data-find=\"{}\"><details><summary><span class=\"head\"><h3>{}</h3>\
         <span class=\"badge {state}\">{state}</span></span><span class=\"preview\"></span>\
         <span class=\"score\">{}</span></summary>\n<div class=\"body\">",
        anchor(&task.id),
        task.id,
        outcomes(counts),
        task.score().unwrap_or(-1.0),
        Plain(&find.to_lowercase()),
        task.id,
        score(task)
    );
    html += &about(task, counts);
    if !task.best.is_empty() {
        html += "<ol class=\"programs\">";
        for ranked in &task.best {
            html += &one(ranked);
        }
        html += "</ol>";
    }
    html += "<div class=\"pairs\"></div>";
    if task.pairs_left_out > 0 {
        let left_out = thousands(task.pairs_left_out as u64);
        add!(html, "<p class=\"none\">and {left_out} pairs more</p>");
    }
    if task.data.is_none() {
        html += "<p class=\"none\">There is no room for its grids in this page.</p>";
    }
    html + "</div></details></article>\n"
}

/// An id for the card that links can refer to, if the task's id is suitable.
pub(super) fn anchor(id: &Text) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !id.0.is_empty() && id.0.chars().all(plain) {
        format!(" id=\"task-{}\"", id.0)
    } else {
        String::new()
    }
}

/// The best score of a task, as a line with a bar.
fn score(task: &Task) -> String {
    let Some(best) = task.best.first() else {
        return "no program gives a grid".to_owned();
    };
    let ratio = task.score().unwrap_or(0.0);
    let mut html = format!(
        "<svg class=\"line\" viewBox=\"0 0 100 4\" preserveAspectRatio=\"none\" aria-hidden=\"true\">\
         <rect class=\"rest\" width=\"100\" height=\"4\"/><rect class=\"{}\" width=\"{:.2}\" \
         height=\"4\"/></svg><span>train {} of {}, {} of cells",
        task.state.word(),
        ratio * 100.0,
        thousands(best.train_pairs.right),
        thousands(best.train_pairs.of),
        percent(ratio)
    );
    if task.tests.of > 0 {
        add!(html, " · test {} of {}", task.tests.right, task.tests.of);
    }
    html + "</span>"
}

/// What was tried on a task.
fn about(task: &Task, counts: Counts) -> String {
    let mut words = Vec::new();
    if let Some(candidates) = task.candidates {
        let mut text = format!("{} candidates", thousands(candidates));
        if let Some(behaviours) = task.behaviours {
            add!(text, " of {} behaviours", thousands(behaviours));
        }
        if task.behaviours_dropped > 0 {
            add!(text, ", {} dropped", thousands(task.behaviours_dropped));
        }
        words.push(text);
    }
    for outcome in Outcome::ALL {
        let count = counts.of(outcome);
        if count > 0 {
            words.push(format!("{} {}", thousands(count), outcome.meaning(count)));
        }
    }
    if words.is_empty() {
        return String::new();
    }
    format!("<p class=\"about\">{}</p>", Plain(&words.join(" · ")))
}

/// A list item for one of the best programs.
fn one(ranked: &Ranked) -> String {
    let mut html = format!(
        "<li>{} <span class=\"facts\">train {} of {} pairs, {} of {} cells",
        program(&ranked.program.name, ranked.program.file.as_ref()),
        thousands(ranked.train_pairs.right),
        thousands(ranked.train_pairs.of),
        thousands(ranked.train_cells.right),
        thousands(ranked.train_cells.of)
    );
    if ranked.tests.of > 0 {
        add!(
            html,
            " · test {} of {}",
            ranked.tests.right,
            ranked.tests.of
        );
    }
    if let Some(steps) = ranked.steps {
        add!(html, " · {} steps", thousands(steps));
    }
    if let Some(candidates) = ranked.candidates.filter(|&candidates| candidates > 1) {
        add!(html, " · {} candidates do the same", thousands(candidates));
    }
    html + "</span></li>"
}

/// Tasks of which only the outcomes of evaluations are known.
fn of_results(results: &Results) -> String {
    let mut tasks: Vec<_> = results.by_task.iter().collect();
    tasks.sort_unstable_by_key(|&(id, _)| id);
    if tasks.is_empty() {
        return String::new();
    }
    let mut html = heading(tasks.len());
    html += "<div class=\"scrolled\" tabindex=\"0\" role=\"region\" aria-label=\"Tasks\"><table><thead>\
             <tr><th scope=\"col\">Task</th>";
    for outcome in Outcome::ALL {
        add!(
            html,
            "<th scope=\"col\" class=\"number\">{}</th>",
            outcome.word()
        );
    }
    html += "</tr></thead><tbody>\n";
    for (id, counts) in tasks.iter().take(LISTED) {
        add!(html, "<tr><th scope=\"row\"><code>{id}</code></th>");
        for outcome in Outcome::ALL {
            add!(
                html,
                "<td class=\"number\">{}</td>",
                thousands(counts.of(outcome))
            );
        }
        html += "</tr>\n";
    }
    html += "</tbody></table></div>";
    html += &and_more(tasks.len().saturating_sub(LISTED) as u64);
    html + "</section>\n"
}

/// What all cards share.
#[derive(Serialize)]
struct Shared {
    /// The colours 0 to 9.
    palette: [(u8, u8, u8); 10],
}

/// The grids as the script reads them.
pub(super) fn data(document: &Document) -> io::Result<String> {
    let cards = document.by_task.iter().flat_map(|tasks| &tasks.cards);
    lines(cards.map(|task| task.data.as_deref()))
}

/// The data of a page: a line for all, then a line for each card.
pub(super) fn lines<'a>(cards: impl Iterator<Item = Option<&'a str>>) -> io::Result<String> {
    let shared = Shared { palette: PALETTE };
    let mut lines = serde_json::to_string(&shared)?;
    for data in cards {
        lines.push('\n');
        lines += data.unwrap_or("");
    }
    // `<` occurs only inside strings, and could end the element that holds the data.
    Ok(lines.replace('<', "\\u003c"))
}
