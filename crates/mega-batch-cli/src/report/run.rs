//! The page of a run: figures, notices, charts, tables, and the tasks.

use std::io::{self, Write};

use mega_batch::Stages;

use super::bounded::{First, Reasons};
use super::cards::{Words, heading};
use super::document::{BadInput, DeviceActivity, Document};
use super::html::{
    Plain, Share, add, and_more, bar, figure, notice, panel, percent, program, share, table, time,
    workers,
};
use super::page;
use super::results::{OUTCOMES, OutcomeCounts, Results};
use super::tasks::{STATES, STEPS, Tasks};
use crate::table::thousands;

/// Writes the page of a document of this name.
pub(super) fn write(document: &Document, name: &str, out: &mut dyn Write) -> io::Result<()> {
    let (tasks, data) = match &document.by_task {
        Some(tasks) => {
            let words = Words {
                states: &STATES,
                work: "run",
                scored: "cells",
                searched: "id, program or file",
            };
            let by_task = &document.results.by_task;
            (tasks.cards.section(&words, by_task), tasks.cards.data()?)
        }
        None => (of_results(&document.results), String::new()),
    };
    let parts = [
        ("name", "", Plain(name).to_string()),
        ("how", "", how(document)),
        ("figures", "", figures(document)),
        ("notices", "", notices(document)),
        ("charts", "", charts(document)),
        ("tasks", "Tasks", tasks),
        ("slowest", "Slowest programs", slowest(document)),
        ("devices", "Devices", devices(document)),
        ("failures", "Failures", failures(&document.results)),
        (
            "input-errors",
            "Input errors",
            input_errors(&document.input_errors),
        ),
        ("data", "", data),
    ];
    page::write(&parts, out)
}

/// How it was run, in one line.
fn how(document: &Document) -> String {
    let mut html = format!("{}, {}", document.mode, workers(document.workers));
    if let Some(backend) = &document.backend {
        add!(html, ", backend {}", backend.name);
        if let Some(device) = &backend.device {
            add!(html, " on {}", device.name);
        }
    }
    add!(html, " · mega-batch {}", document.engine_version);
    html
}

/// The notices that a reader should see first.
fn notices(document: &Document) -> String {
    let mut html = String::new();
    if document.incomplete {
        let made = thousands(document.evaluations);
        let text = match document.evaluations_planned {
            Some(planned) => format!(
                "The run was ended after {made} of {} evaluations; what is here was finished.",
                thousands(planned)
            ),
            None => format!("The run was ended after {made} evaluations."),
        };
        html += &notice("Incomplete.", &text);
    }
    if let Some(backend) = &document.backend {
        if let Some(reason) = &backend.no_device {
            html += &notice("No device.", &format!("{reason}; the CPU did it all."));
        }
        let failure = backend.device.as_ref().and_then(|it| it.failure.as_ref());
        if let Some(failure) = failure {
            let text = format!("{failure}; others made its evaluations.");
            html += &notice("A device failed.", &text);
        }
    }
    html += &match document.input_errors.total {
        0 => String::new(),
        1 => notice(
            "1 input error.",
            "The pair, task or program that <a href=\"#input-errors\">it is in</a> was left out.",
        ),
        many => notice(
            &format!("{} input errors.", thousands(many as u64)),
            "The pairs, tasks and programs that <a href=\"#input-errors\">they are in</a> were left out.",
        ),
    };
    if document.by_task.is_none() {
        html += &notice(
            "No grids.",
            "This document was made without them: <code>mega-batch run --attempts --json FILE</code> \
             puts the tasks, the best programs of each and what they give into it.",
        );
    }
    html
}

/// The figures.
fn figures(document: &Document) -> String {
    let mut html = String::new();
    let part = |title, right, of, class, more| share(title, Share { right, of }, class, more);
    if let Some(solved) = document.tasks_solved {
        html += &part("Tasks solved", solved, document.tasks, "solved", "");
    }
    let tests = document.by_task.as_ref().map(|tasks| tasks.tests);
    if let Some(tests) = tests.filter(|tests| tests.of > 0) {
        html += &share("Test inputs right", tests, "solved", ", two attempts each");
    }
    if let Some(right) = document.pairs_right {
        html += &match document.pairs_expected {
            Some(of) => part("Pairs right", right, of, "right", ", by some program"),
            None => figure("Pairs right", &thousands(right), "by some program"),
        };
    }
    let made = document.evaluations;
    let planned = document.evaluations_planned;
    let planned = planned.filter(|planned| document.incomplete && *planned > made);
    html += &if let Some(planned) = planned {
        part("Evaluations", made, planned, "device", "")
    } else {
        let [programs, tasks] = [document.programs, document.tasks].map(thousands);
        let of = format!("{programs} programs on {tasks} tasks");
        figure("Evaluations", &thousands(made), &of)
    };
    let seconds = document.seconds.get();
    let compiling = document.compile_seconds.map(|compiling| {
        let compiling = time(compiling.get());
        format!("compiling {compiling} on all workers together")
    });
    html += &figure("Time", &time(seconds), &compiling.unwrap_or_default());
    let rate = if seconds > 0.0 {
        made as f64 / seconds
    } else {
        0.0
    };
    let skipped = document.evaluations_skipped.filter(|skipped| *skipped > 0);
    let skipped = skipped.map(|it| format!("{} skipped after a wrong pair", thousands(it)));
    let rate = thousands(rate.round() as u64);
    html + &figure("Evaluations a second", &rate, &skipped.unwrap_or_default())
}

/// A part of a whole: what it is called, the CSS class of its colour, and how much it is.
type Part<'a> = (&'a str, &'a str, u64);

/// All charts that have data; they need no script, and have their figures as text.
fn charts(document: &Document) -> String {
    let totals = document.results.totals;
    let outcomes = OUTCOMES.map(|(outcome, word, [one, many])| {
        let count = totals.of(outcome);
        (if count == 1 { one } else { many }, word, count)
    });
    let mut html = chart("Evaluations by outcome", &shares("evaluations", &outcomes));
    if let Some(tasks) = &document.by_task {
        let states = [0, 1, 2].map(|at| (STATES[at].1, STATES[at].0, tasks.states[at]));
        html += &chart("Tasks by state", &shares("tasks", &states));
        html += &chart(
            "Train cells right, best program of each task",
            &scores(tasks),
        );
    }
    let Some(backend) = &document.backend else {
        return html;
    };
    let device = backend.device.as_ref();
    let on_devices = device.map_or(0, |device| device.evaluations);
    let parts = [
        ("on devices", "device", on_devices),
        ("compiled", "compiled", backend.compiled),
        ("merged", "merged", backend.merged),
        ("by the reference", "reference", backend.reference),
    ];
    let mut body = shares("evaluations", &parts);
    if let Some(device) = device {
        body += &reasons("Bail-outs of the device", &device.bail_outs);
        body += &reasons("Programs not on the device", &device.programs_host_only);
    }
    body += &reasons("Evaluations bailed out", &backend.bail_outs);
    body += &reasons("Programs not compiled", &backend.programs_not_compiled);
    html + &chart("Who made the evaluations", &body)
}

/// A chart under its title.
fn chart(title: &str, body: &str) -> String {
    format!("<figure class=\"chart\"><figcaption><h3>{title}</h3></figcaption>{body}</figure>\n")
}

/// A bar of parts with its legend. Empty parts are left out.
fn shares(what: &str, parts: &[Part<'_>]) -> String {
    let total = parts.iter().map(|(.., count)| count).sum::<u64>();
    if total == 0 {
        return format!("<p class=\"none\">no {what}</p>");
    }
    let parts = || parts.iter().filter(|(.., count)| *count > 0);
    let told = parts().map(|(label, _, count)| format!("{} {label}", thousands(*count)));
    let mut html = format!(
        "<div class=\"bar\" role=\"img\" aria-label=\"{} {what}: {}\">",
        thousands(total),
        told.collect::<Vec<_>>().join(", ")
    );
    for (_, class, count) in parts() {
        add!(
            html,
            "<i class=\"{class}\" style=\"flex-grow:{count}\"></i>"
        );
    }
    html += "</div><ul class=\"legend\">";
    for (label, class, count) in parts() {
        add!(
            html,
            "<li><span class=\"key {class}\"></span>{label} <b>{}</b> <span class=\"share\">{}</span></li>",
            thousands(*count),
            percent(*count as f64 / total as f64)
        );
    }
    html + "</ul>"
}

/// Lines with a bar each, the longest that of the greatest count.
fn bars<'a>(lines: impl Iterator<Item = (String, &'a str, u64)> + Clone) -> String {
    let most = lines.clone().map(|(.., count)| count).max();
    let most = most.unwrap_or_default().max(1) as f64;
    let mut html = "<ul class=\"bars\">".to_owned();
    for (label, class, count) in lines {
        let bar = bar(class, count as f64 / most);
        let count = thousands(count);
        add!(html, "<li><span>{label}</span> <b>{count}</b>{bar}</li>");
    }
    html + "</ul>"
}

/// How many reasons are listed.
const LISTED: usize = 6;

/// The most frequent reasons.
fn reasons(title: &str, reasons: &Reasons) -> String {
    if reasons.0.is_empty() {
        return String::new();
    }
    let listed = reasons.0.iter().take(LISTED);
    let listed = listed.map(|(reason, count)| (reason.to_string(), "reference", *count));
    format!(
        "<details class=\"reasons\"><summary>{title} <b>{}</b></summary>{}{}</details>",
        thousands(reasons.total()),
        bars(listed),
        and_more(reasons.0.len().saturating_sub(LISTED) as u64)
    )
}

/// The tasks by the share of train cells that their best program has right.
fn scores(tasks: &Tasks) -> String {
    let scored: u64 = tasks.scores.iter().sum();
    if scored == 0 {
        return "<p class=\"none\">no task has a program that gives a grid</p>".to_owned();
    }
    let steps = tasks.scores.iter().enumerate().rev();
    let steps = steps.filter(|(_, count)| **count > 0);
    let steps = steps.map(|(step, count)| match step + 1 {
        STEPS => ("all cells".to_owned(), "solved", *count),
        next => {
            let label = format!("{}% to under {}%", step * 10, next * 10);
            (label, "unsolved", *count)
        }
    });
    let mut html = bars(steps);
    match tasks.cards.total as u64 - scored {
        0 => {}
        1 => html += "<p class=\"none\">1 task has no program to be judged</p>",
        many => add!(
            html,
            "<p class=\"none\">{} tasks have no program to be judged</p>",
            thousands(many)
        ),
    }
    html
}

/// The devices, if any did something: how busy each was, where the time of its batches went, what it waited for.
fn devices(document: &Document) -> String {
    let backend = document.backend.as_ref();
    let device = backend.and_then(|backend| backend.device.as_ref());
    let Some(device) = device.filter(|device| device.activities.total > 0) else {
        return String::new();
    };
    let mut html = format!(
        "<p>{} evaluations of {} programs on devices",
        thousands(device.evaluations),
        thousands(device.programs)
    );
    if device.launches_halved > 0 {
        add!(
            html,
            "; {} batches were made in halves, since memory was too small",
            thousands(device.launches_halved)
        );
    }
    html += ".</p>\n";
    html.extend(device.activities.kept.iter().map(one_device));
    html += &and_more(device.activities.left_out() as u64);
    panel(
        "devices",
        "Devices",
        Some(device.activities.total as u64),
        &html,
    )
}

fn one_device(device: &DeviceActivity) -> String {
    let activity = device.activity();
    let Stages {
        prepare,
        upload,
        compute,
        download,
    } = activity.stages;
    let mut html = format!(
        "<div class=\"device\"><h3>{}</h3><p>{} evaluations in {} batches over {}, \
         {:.1} MiB in use at most. <strong>{}</strong></p><ul class=\"stages\">",
        device.name,
        thousands(activity.items),
        thousands(activity.batches),
        time(activity.elapsed.as_secs_f64()),
        activity.memory.most as f64 / f64::from(1 << 20),
        Plain(&activity.to_string())
    );
    let stages = [
        ("prepare", prepare),
        ("upload", upload),
        ("compute", compute),
        ("download", download),
    ];
    // The stages of two batches overlap, so that each is shown as a share of the elapsed time.
    let longest = stages.map(|(_, time)| time).into_iter().max();
    let whole = activity.elapsed.max(longest.unwrap_or_default());
    for (stage, spent) in stages {
        let seconds = spent.as_secs_f64();
        let bar = bar(stage, seconds / whole.as_secs_f64().max(f64::MIN_POSITIVE));
        let time = time(seconds);
        add!(html, "<li><span>{stage}</span>{bar}<b>{time}</b></li>");
    }
    html + "</ul></div>\n"
}

/// The slowest programs; empty if the document has none.
fn slowest(document: &Document) -> String {
    let slowest = document.slowest_programs.as_ref();
    let Some(slowest) = slowest.filter(|list| list.total > 0) else {
        return String::new();
    };
    let most = slowest.kept.iter().map(|program| program.seconds).max();
    let most = most.unwrap_or_default().get().max(f64::MIN_POSITIVE);
    let columns = ["Program", "Time", "Evaluations", "Each", "Failures"];
    let rows = slowest.kept.iter().map(|slow| {
        let seconds = slow.seconds.get();
        let name = program(&slow.program, slow.file.as_ref());
        [
            name + &bar("device", seconds / most),
            time(seconds),
            thousands(slow.evaluations),
            time(seconds / slow.evaluations.max(1) as f64),
            thousands(slow.failures),
        ]
    });
    let title = "Slowest programs";
    panel("slowest", title, None, &table(title, columns, rows))
}

/// A list of what went wrong, of which so many are left out.
fn list(items: impl Iterator<Item = String>, left_out: u64) -> String {
    let items: Vec<_> = items.map(|item| format!("<li>{item}</li>\n")).collect();
    if items.is_empty() {
        return String::new();
    }
    let items = items.concat();
    format!("<ul class=\"told\">\n{items}</ul>{}", and_more(left_out))
}

/// The first programs that failed, with the first failure of each.
fn failures(results: &Results) -> String {
    let items = results.failures.iter().map(|failure| {
        let counts = results.of_program(&failure.program);
        let (pair, word) = (&failure.pair, failure.pair.outcome.word());
        format!(
            "{} <span class=\"badge {word}\">{word}</span> on <code>{}</code> {}[{}]: {} \
             <small>{} of {} evaluations gave nothing</small>",
            program(&failure.program.name, failure.program.file.as_ref()),
            failure.task,
            pair.split,
            pair.index,
            pair.error.clone().unwrap_or_default(),
            thousands(counts.failures()),
            thousands(counts.total())
        )
    });
    let left_out = results.failing - results.failures.len() as u64;
    let title = "Programs that failed";
    panel(
        "failures",
        title,
        Some(results.failing),
        &list(items, left_out),
    )
}

/// What could not be read.
pub(super) fn input_errors(errors: &First<BadInput, 100>) -> String {
    let items = errors.kept.iter().map(|error| {
        let mut html = format!("<code>{}", error.file);
        if let (Some(line), Some(column)) = (error.line, error.column) {
            add!(html, ":{line}:{column}");
        }
        html += "</code> ";
        if let Some(path) = &error.path {
            add!(html, "<code>{path}</code> ");
        }
        add!(html, "{}", error.message);
        html
    });
    let list = list(items, errors.left_out() as u64);
    panel(
        "input-errors",
        "Input errors",
        Some(errors.total as u64),
        &list,
    )
}

/// The most tasks listed if a document has no grids.
const TASKS: usize = 2000;

/// Tasks of which only the outcomes of evaluations are known.
fn of_results(results: &Results) -> String {
    let mut tasks: Vec<_> = results.by_task.iter().collect();
    tasks.sort_unstable_by_key(|&(id, _)| id);
    if tasks.is_empty() {
        return String::new();
    }
    let columns = ["Task", "right", "wrong", "error", "limit", "unknown"];
    let row = |(id, counts): &(_, &OutcomeCounts)| {
        let [a, b, c, d, e] = OUTCOMES.map(|(outcome, ..)| thousands(counts.of(outcome)));
        [format!("<code>{id}</code>"), a, b, c, d, e]
    };
    let table = table("Tasks", columns, tasks.iter().take(TASKS).map(row));
    let more = and_more(tasks.len().saturating_sub(TASKS) as u64);
    format!("{}{table}{more}</section>\n", heading(tasks.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_has_the_parts_that_there_are_and_says_how_much_each_is() {
        let html = shares(
            "things",
            &[("a", "a", 1), ("b", "b", 999_999), ("c", "c", 0)],
        );
        assert!(
            html.contains("aria-label=\"1,000,000 things: 1 a, 999,999 b\""),
            "{html}"
        );
        let grown: Vec<_> = html.split("flex-grow:").skip(1).collect();
        assert!(grown[0].starts_with("1\"") && grown[1].starts_with("999999\""));
        assert_eq!(grown.len(), 2);
        assert_eq!(
            shares("things", &[("a", "a", 0)]),
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
