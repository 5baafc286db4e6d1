//! The results of the run in figures, and the notices above them.

use std::fmt::Write;

use super::document::Document;
use super::html::{Plain, add, percent, time};
use super::tasks::Share;
use crate::table::thousands;

/// How it was run, in one line.
pub(super) fn how(document: &Document) -> String {
    let threads = match document.workers {
        1 => "1 worker".to_owned(),
        workers => format!("{} workers", thousands(workers)),
    };
    let mut html = format!("{}, {threads}", document.mode);
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
pub(super) fn notices(document: &Document) -> String {
    let mut html = String::new();
    let mut notice = |title: &str, text: String| {
        add!(html, "<p class=\"notice\"><b>{title}</b> {text}</p>\n");
    };
    if document.incomplete {
        let made = thousands(document.evaluations);
        notice(
            "Incomplete.",
            match document.evaluations_planned {
                Some(planned) => format!(
                    "The run was ended after {made} of {} evaluations; what is here was finished.",
                    thousands(planned)
                ),
                None => format!("The run was ended after {made} evaluations."),
            },
        );
    }
    if let Some(backend) = &document.backend {
        if let Some(reason) = &backend.no_device {
            notice("No device.", format!("{reason}; the CPU did it all."));
        }
        if let Some(failure) = backend
            .device
            .as_ref()
            .and_then(|device| device.failure.as_ref())
        {
            notice(
                "A device failed.",
                format!("{failure}; others made its evaluations."),
            );
        }
    }
    match document.input_errors.total {
        0 => {}
        1 => notice(
            "1 input error.",
            "The pair, task or program that <a href=\"#input-errors\">it is in</a> was left out."
                .to_owned(),
        ),
        many => notice(
            &format!("{} input errors.", thousands(many as u64)),
            "The pairs, tasks and programs that <a href=\"#input-errors\">they are in</a> were left out."
                .to_owned(),
        ),
    }
    if document.by_task.is_none() {
        notice(
            "No grids.",
            "This document was made without them: <code>mega-batch run --attempts --json FILE</code> \
             puts the tasks, the best programs of each and what they give into it."
                .to_owned(),
        );
    }
    html
}

/// The figures.
pub(super) fn figures(document: &Document) -> String {
    let tasks = document.by_task.as_ref();
    let solved = Share {
        right: document.tasks_solved.unwrap_or(0),
        of: document.tasks,
    };
    let mut html = String::new();
    if document.tasks_solved.is_some() {
        html += &share("Tasks solved", solved, "solved", "");
    }
    if let Some(tests) = tasks.map(|tasks| tasks.tests).filter(|tests| tests.of > 0) {
        html += &share("Test inputs right", tests, "solved", ", two attempts each");
    }
    if let Some(right) = document.pairs_right {
        html += &match document.pairs_expected {
            Some(of) => share(
                "Pairs right",
                Share { right, of },
                "right",
                ", by some program",
            ),
            None => figure("Pairs right", &thousands(right), "by some program"),
        };
    }
    let planned = document.evaluations_planned.unwrap_or(document.evaluations);
    html += &if document.incomplete && planned > document.evaluations {
        let made = Share {
            right: document.evaluations,
            of: planned,
        };
        share("Evaluations", made, "device", "")
    } else {
        let of = format!(
            "{} programs on {} tasks",
            thousands(document.programs),
            thousands(document.tasks)
        );
        figure("Evaluations", &thousands(document.evaluations), &of)
    };
    let seconds = document.seconds.as_secs_f64();
    let compiling = document.compile_seconds.map(|compiling| {
        let compiling = time(compiling.as_secs_f64());
        format!("compiling {compiling} on all workers together")
    });
    html += &figure("Time", &time(seconds), &compiling.unwrap_or_default());
    let rate = thousands(document.rate().round() as u64);
    let skipped = match document.evaluations_skipped {
        None | Some(0) => String::new(),
        Some(skipped) => format!("{} skipped after a wrong pair", thousands(skipped)),
    };
    html + &figure("Evaluations a second", &rate, &skipped)
}

/// A figure with a line of explanation.
pub(super) fn figure(title: &str, value: &str, about: &str) -> String {
    let mut html = format!("<div><dt>{title}</dt><dd>{}", Plain(value));
    if !about.is_empty() {
        add!(html, "<small>{}</small>", Plain(about));
    }
    html + "</dd></div>\n"
}

/// A figure that is a part of a whole; `more` follows the percentage.
pub(super) fn share(title: &str, share: Share, class: &str, more: &str) -> String {
    let ratio = share.ratio().unwrap_or(0.0);
    format!(
        "<div><dt>{title}</dt><dd>{}<span class=\"of\"> of {}</span>\
         <svg class=\"line\" viewBox=\"0 0 100 4\" preserveAspectRatio=\"none\" aria-hidden=\"true\">\
         <rect class=\"rest\" width=\"100\" height=\"4\"/>\
         <rect class=\"{class}\" width=\"{:.2}\" height=\"4\"/></svg>\
         <small>{}{more}</small></dd></div>\n",
        thousands(share.right),
        thousands(share.of),
        ratio * 100.0,
        percent(ratio)
    )
}
