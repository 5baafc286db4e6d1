//! The document of a search as a page: the frame of a run's page, with attempts layer by layer.

use std::io::{self, Write};

use super::html::{Plain, time};
use super::overview::{figure, share};
use super::page::{Section, write_frame};
use super::tables::input_errors;
use super::tasks::Share;
use crate::table::thousands;
pub(super) use document::Document;

mod cards;
mod document;
mod results;

/// Writes the page of the document of this name.
pub(super) fn write(document: &Document, name: &str, out: &mut dyn Write) -> io::Result<()> {
    let section = |id, title, html| Section { id, title, html };
    let sections = [
        section("tasks", "Tasks", cards::cards(&document.results)),
        section(
            "input-errors",
            "Input errors",
            input_errors(&document.input_errors),
        ),
    ];
    write_frame(&sections, out, &|part| {
        Ok(match part {
            "name" => Plain(name).to_string(),
            "how" => how(document),
            "figures" => figures(document),
            "notices" => notices(document),
            "data" => cards::data(&document.results)?,
            // A search has none of the other parts.
            _ => String::new(),
        })
    })
}

/// How tasks were searched, in one line.
fn how(document: &Document) -> String {
    let threads = match document.workers {
        1 => "1 worker".to_owned(),
        workers => format!("{} workers", thousands(workers)),
    };
    format!(
        "search, {threads}, {} nodes a task, {} attempts · mega-batch {}",
        thousands(document.nodes),
        document.attempts,
        document.engine_version
    )
}

fn notices(document: &Document) -> String {
    let (made, of) = (document.totals.tasks, document.tasks);
    if document.incomplete {
        format!(
            "<p class=\"notice\"><b>Incomplete.</b> The search was ended after {} of {} tasks.</p>\n",
            thousands(made),
            thousands(of)
        )
    } else {
        String::new()
    }
}

fn figures(document: &Document) -> String {
    let totals = &document.totals;
    let of_tasks = |right| Share {
        right,
        of: totals.tasks,
    };
    let mut html = String::new();
    if totals.tests_known > 0 {
        let right = totals.tests_right.kept.get(1).copied().unwrap_or(0);
        let of = totals.tests_known;
        html += &share(
            "Test inputs right",
            Share { right, of },
            "solved",
            ", two attempts each",
        );
        html += &share("Tasks solved", of_tasks(totals.solved), "solved", "");
    }
    html += &share(
        "Right on all train pairs",
        of_tasks(totals.fitting),
        "fits",
        " of the tasks",
    );
    let attempts = totals.chains + totals.stacks + totals.partly;
    let kinds = format!(
        "{} chains, {} stacks, {} partly fitting",
        thousands(totals.chains),
        thousands(totals.stacks),
        thousands(totals.partly)
    );
    html += &figure("Attempts", &thousands(attempts), &kinds);
    let nodes = format!("{} values kept", thousands(totals.nodes));
    html += &figure("Calls", &thousands(totals.calls), &nodes);
    let late = match totals.interrupted {
        0 => String::new(),
        late => format!("{} tasks ended by time", thousands(late)),
    };
    html + &figure("Time", &time(document.seconds.as_secs_f64()), &late)
}
