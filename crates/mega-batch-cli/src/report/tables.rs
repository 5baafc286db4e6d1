//! The tables: slow programs, failing programs, and what could not be read.

use std::fmt::Write;

use super::bounded::First;
use super::document::{BadInput, Document};
use super::html::{add, and_more, program, time};
use super::outcomes::{Failure, Program};
use crate::table::thousands;

/// The slowest programs; empty if the document has none.
pub(super) fn slowest(document: &Document) -> String {
    let Some(slowest) = document
        .slowest_programs
        .as_ref()
        .filter(|list| list.total > 0)
    else {
        return String::new();
    };
    let most = slowest.kept.iter().map(|program| program.seconds).max();
    let most = most
        .unwrap_or_default()
        .as_secs_f64()
        .max(f64::MIN_POSITIVE);
    let mut html = String::from(
        "<section id=\"slowest\" class=\"panel\"><h2>Slowest programs</h2><div class=\"scrolled\" \
         tabindex=\"0\" role=\"region\" aria-label=\"Slowest programs\"><table><thead><tr>\
         <th scope=\"col\">Program</th><th scope=\"col\" class=\"number\">Time</th>\
         <th scope=\"col\" class=\"number\">Evaluations</th><th scope=\"col\" class=\"number\">Each</th>\
         <th scope=\"col\" class=\"number\">Failures</th></tr></thead><tbody>\n",
    );
    for slow in &slowest.kept {
        let seconds = slow.seconds.as_secs_f64();
        let each = seconds / slow.evaluations.max(1) as f64;
        add!(
            html,
            "<tr><th scope=\"row\">{}<svg class=\"line\" viewBox=\"0 0 100 4\" \
             preserveAspectRatio=\"none\" aria-hidden=\"true\"><rect class=\"device\" \
             width=\"{:.1}\" height=\"4\"/></svg></th><td class=\"number\">{}</td>\
             <td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td></tr>\n",
            program(&slow.program, slow.file.as_ref()),
            100.0 * seconds / most,
            time(seconds),
            thousands(slow.evaluations),
            time(each),
            thousands(slow.failures)
        );
    }
    html + "</tbody></table></div></section>\n"
}

/// The first programs that failed, with the first failure of each.
pub(super) fn failures(document: &Document) -> String {
    let results = &document.results;
    if results.failures.is_empty() {
        return String::new();
    }
    let mut html = format!(
        "<section id=\"failures\" class=\"panel\"><h2>Programs that failed \
         <span class=\"total\">{}</span></h2><ul class=\"told\">\n",
        thousands(results.failing)
    );
    for failure in &results.failures {
        let Failure {
            program: Program { name, file },
            task,
            pair,
            outcome,
            error,
        } = failure;
        let counts = results.of_program(&failure.program);
        add!(
            html,
            "<li>{} <span class=\"badge {}\">{}</span> on <code>{task}</code> {}: {error} \
             <small>{} of {} evaluations gave nothing</small></li>\n",
            program(name, file.as_ref()),
            outcome.word(),
            outcome.word(),
            super::html::Plain(pair),
            thousands(counts.failures()),
            thousands(counts.total())
        );
    }
    html += "</ul>";
    html += &and_more(results.failing - results.failures.len() as u64);
    html + "</section>\n"
}

/// What could not be read.
pub(super) fn input_errors(errors: &First<BadInput, 100>) -> String {
    if errors.total == 0 {
        return String::new();
    }
    let mut html = format!(
        "<section id=\"input-errors\" class=\"panel\"><h2>Input errors \
         <span class=\"total\">{}</span></h2><ul class=\"told\">\n",
        thousands(errors.total as u64)
    );
    for error in &errors.kept {
        let BadInput {
            file,
            line,
            column,
            path,
            message,
        } = error;
        add!(html, "<li><code>{file}");
        if let (Some(line), Some(column)) = (line, column) {
            add!(html, ":{line}:{column}");
        }
        html += "</code> ";
        if let Some(path) = path {
            add!(html, "<code>{path}</code> ");
        }
        add!(html, "{message}</li>\n");
    }
    html += "</ul>";
    html += &and_more(errors.left_out() as u64);
    html + "</section>\n"
}
