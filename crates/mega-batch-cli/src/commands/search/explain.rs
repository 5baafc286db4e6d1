//! What was found for one task, with grids.

use std::io::{self, Write};

use arc_dsl::Task;
use mega_batch::escaped;
use mega_batch::search::{AttemptKind, FoundAttempt, Searched};

use crate::commands::show::{columns, paint};
use crate::show::Strip;
use crate::table::thousands;

/// Prints it.
pub(super) fn explain(task: &Task, searched: &Searched, no_colour: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    write!(out, "{}", heading(task, searched))?;
    let (paint, columns) = (paint(no_colour), columns(&out));
    for (rank, attempt) in searched.attempts.iter().enumerate() {
        write!(out, "\n{}", words(task, searched, rank, attempt))?;
        for (test, pair) in task.test.iter().enumerate() {
            let mut grids = vec![("input".to_owned(), &*pair.input)];
            for (number, layer) in attempt.layers.iter().enumerate() {
                let paints = layer.paints.get(test);
                grids.extend(paints.map(|grid| (format!("layer {}", number + 1), grid)));
            }
            let output = attempt.outputs.get(test);
            grids.extend(output.map(|grid| ("output".to_owned(), grid)));
            let expected = pair.output.as_ref();
            grids.extend(expected.map(|grid| ("expected".to_owned(), grid)));
            let strip = Strip {
                grids: &grids,
                paint,
                columns,
            };
            write!(out, "\ntest[{test}]\n{strip}")?;
        }
        write!(out, "\n{}", attempt.program)?;
    }
    out.flush()
}

/// What was done for the task.
fn heading(task: &Task, searched: &Searched) -> String {
    let pairs = |count: usize, what: &str| match count {
        1 => format!("1 {what} pair"),
        _ => format!("{count} {what} pairs"),
    };
    let (train, test) = (
        pairs(task.train.len(), "train"),
        pairs(task.test.len(), "test"),
    );
    let mut text = format!("{}: {train}, {test}\n", escaped(&task.id));
    if let Some(failure) = &searched.failure {
        return text + &format!("not searched: {failure}\n");
    }
    text += match searched.renamed {
        true => "colours       renamed, for each input by what it shows\n",
        false => "colours       as they are\n",
    };
    let sizes = searched.sizes.iter();
    let sizes: Vec<_> = sizes
        .map(|(rows, columns)| format!("{rows}x{columns}"))
        .collect();
    text += &match sizes.is_empty() {
        true => "output sizes  not predicted\n".to_owned(),
        false => format!("output sizes  {}\n", sizes.join(", ")),
    };
    let counts = &searched.counts;
    let rows = [
        ("nodes", counts.nodes),
        ("calls", counts.calls),
        ("evaluations", counts.evaluations),
        ("pieces", counts.pieces),
        ("stacks", counts.stacks),
    ];
    for (name, number) in rows {
        text += &format!("{name:<14}{}\n", thousands(number));
    }
    if let Some(stopped) = searched.stopped {
        text += &format!("ended by      {stopped}\n");
    }
    text += &format!("seconds       {:.2}\n", searched.seconds);
    if searched.attempts.is_empty() {
        text += "\nno attempt\n";
    }
    text
}

/// What is to be said of an attempt.
fn words(task: &Task, searched: &Searched, rank: usize, attempt: &FoundAttempt) -> String {
    let kind = match attempt.kind(task.train.len()) {
        AttemptKind::Chain => "a chain",
        AttemptKind::Stack => "a stack",
        AttemptKind::Partly if attempt.layers.len() > 1 => "a stack that fits partly",
        AttemptKind::Partly => "a chain that fits partly",
    };
    let mut text = format!(
        "attempt {}: {kind}, right on {} of {} train pairs, score {:.3}, cost {}\n",
        rank + 1,
        attempt.fits,
        task.train.len(),
        attempt.score,
        attempt.cost
    );
    for (test, pair) in task.test.iter().enumerate() {
        let answers = searched.answers.get(test).into_iter().flatten();
        let place = answers.into_iter().position(|answer| *answer == rank);
        let verdict = match (&pair.output, attempt.outputs.get(test)) {
            (Some(expected), Some(output)) if expected == output => ", which is right",
            (Some(_), _) => ", which is wrong",
            (None, _) => "",
        };
        if let Some(place) = place {
            text += &format!("  answer {} to test[{test}]{verdict}\n", place + 1);
        }
    }
    let count = attempt.layers.len();
    for (number, layer) in attempt.layers.iter().enumerate() {
        let place = match (number, count) {
            (_, 1) => String::new(),
            (0, _) => ", on top".to_owned(),
            _ if number + 1 == count => ", below".to_owned(),
            _ => String::new(),
        };
        let colour = layer.colour.as_ref();
        let colour = colour.map_or(String::new(), |colour| format!(" in {colour}"));
        text += &format!(
            "  layer {}{place}: {} {}{colour}\n",
            number + 1,
            layer.part,
            layer.expression
        );
    }
    text
}
