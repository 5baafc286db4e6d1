//! What was found for one task, with grids.

use std::io::{self, Write};

use arc_dsl::Grid;
use arc_tasks::{Pair, Task};
use mega_batch::escaped;
use mega_batch::search::{AttemptKind, FoundAttempt, Searched};

use crate::commands::show::{columns, paint};
use crate::show::Strip;
use crate::table::thousands;

/// Writes the answers to the test pairs, and the programs that give them.
pub(super) fn answers(
    out: &mut Vec<u8>,
    task: &Task,
    searched: &Searched,
    no_colour: bool,
) -> io::Result<()> {
    title(out, task, searched)?;
    for (test, pair) in task.test.iter().enumerate() {
        let mut grids = vec![("input".to_owned(), &*pair.input)];
        for (place, answer) in searched.answers_of(test).enumerate() {
            let verdict = match &pair.output {
                Some(expected) if expected == answer => ", right",
                Some(_) => ", wrong",
                None => "",
            };
            grids.push((format!("answer {}{verdict}", place + 1), answer));
        }
        draw(out, test, pair, grids, no_colour)?;
    }
    for (rank, attempt) in searched.attempts.iter().enumerate() {
        let mut tests = searched.answers.iter().enumerate();
        let places = tests.by_ref().filter_map(|(test, answers)| {
            let place = answers.iter().position(|answer| *answer == rank)?;
            Some(format!("answer {} to test[{test}]", place + 1))
        });
        let places = places.collect::<Vec<_>>().join(", ");
        if !places.is_empty() || task.test.is_empty() {
            let (fits, train) = (attempt.fits, task.train.len());
            let comma = if places.is_empty() { "" } else { ", " };
            writeln!(
                out,
                "\n# {places}{comma}right on {fits} of {train} train pairs"
            )?;
            write!(out, "{}", attempt.program)?;
        }
    }
    no_attempt(out, searched)
}

/// Draws everything that was found.
pub(super) fn explain(
    out: &mut Vec<u8>,
    task: &Task,
    searched: &Searched,
    no_colour: bool,
) -> io::Result<()> {
    heading(out, task, searched)?;
    for (rank, attempt) in searched.attempts.iter().enumerate() {
        writeln!(out)?;
        words(out, task, searched, rank, attempt)?;
        for (test, pair) in task.test.iter().enumerate() {
            let mut grids = vec![("input".to_owned(), &*pair.input)];
            for (number, layer) in attempt.layers.iter().enumerate() {
                let paints = layer.paints.get(test);
                grids.extend(paints.map(|grid| (format!("layer {}", number + 1), grid)));
            }
            let output = attempt.outputs.get(test);
            grids.extend(output.map(|grid| ("output".to_owned(), grid)));
            draw(out, test, pair, grids, no_colour)?;
        }
        write!(out, "\n{}", attempt.program)?;
    }
    Ok(())
}

/// Draws grids of a test pair, followed by the expected one.
fn draw<'a>(
    out: &mut impl Write,
    test: usize,
    pair: &'a Pair,
    mut grids: Vec<(String, &'a Grid)>,
    no_colour: bool,
) -> io::Result<()> {
    let expected = pair.output.as_ref();
    grids.extend(expected.map(|grid| ("expected".to_owned(), grid)));
    let strip = Strip {
        grids: &grids,
        paint: paint(no_colour),
        columns: columns(&io::stdout().lock()),
    };
    write!(out, "\ntest[{test}]\n{strip}")
}

/// Writes which task it is, and why it was not searched.
fn title(out: &mut impl Write, task: &Task, searched: &Searched) -> io::Result<()> {
    let pairs = |count: usize, what: &str| match count {
        1 => format!("1 {what} pair"),
        _ => format!("{count} {what} pairs"),
    };
    let (train, test) = (
        pairs(task.train.len(), "train"),
        pairs(task.test.len(), "test"),
    );
    writeln!(out, "{}: {train}, {test}", escaped(&task.id))?;
    if let Some(failure) = &searched.failure {
        writeln!(out, "not searched: {}", escaped(failure))?;
    }
    Ok(())
}

fn no_attempt(out: &mut impl Write, searched: &Searched) -> io::Result<()> {
    if searched.attempts.is_empty() && searched.failure.is_none() {
        writeln!(out, "\nno attempt")?;
    }
    Ok(())
}

/// Writes what was done for the task.
fn heading(out: &mut impl Write, task: &Task, searched: &Searched) -> io::Result<()> {
    title(out, task, searched)?;
    if searched.failure.is_some() {
        return Ok(());
    }
    let colours = match (searched.renamed, searched.counts.passes) {
        (true, 3..) => {
            "renamed, for each input by what it shows; then as they are; then with 0 for the most common one"
        }
        (true, 2) => "renamed, for each input by what it shows; then as they are",
        (true, _) => "renamed, for each input by what it shows",
        (false, 2..) => "as they are; then with 0 for the most common one",
        (false, _) => "as they are",
    };
    writeln!(out, "colours       {colours}")?;
    let sizes = searched.sizes.iter();
    let sizes: Vec<_> = sizes
        .map(|(rows, columns)| format!("{rows}x{columns}"))
        .collect();
    let sizes = if sizes.is_empty() {
        "not predicted".to_owned()
    } else {
        sizes.join(", ")
    };
    writeln!(out, "output sizes  {sizes}")?;
    let counts = &searched.counts;
    let rows = [
        ("nodes", counts.nodes),
        ("calls", counts.calls),
        ("evaluations", counts.evaluations),
        ("pieces", counts.pieces),
        ("stacks", counts.stacks),
    ];
    for (name, number) in rows {
        writeln!(out, "{name:<14}{}", thousands(number))?;
    }
    if let Some(stopped) = searched.stopped {
        writeln!(out, "ended by      {stopped}")?;
    }
    writeln!(out, "seconds       {:.2}", searched.seconds)?;
    no_attempt(out, searched)
}

/// Describes an attempt.
fn words(
    out: &mut impl Write,
    task: &Task,
    searched: &Searched,
    rank: usize,
    attempt: &FoundAttempt,
) -> io::Result<()> {
    let kind = match attempt.kind(task.train.len()) {
        AttemptKind::Chain => "a chain",
        AttemptKind::Stack => "a stack",
        AttemptKind::Partly if attempt.layers.len() > 1 => "a stack that fits partly",
        AttemptKind::Partly => "a chain that fits partly",
    };
    writeln!(
        out,
        "attempt {}: {kind}, right on {} of {} train pairs, score {:.3}, cost {}",
        rank + 1,
        attempt.fits,
        task.train.len(),
        attempt.score,
        attempt.cost
    )?;
    for (test, pair) in task.test.iter().enumerate() {
        let answers = searched.answers.get(test).into_iter().flatten();
        let place = answers.into_iter().position(|answer| *answer == rank);
        let verdict = match (&pair.output, attempt.outputs.get(test)) {
            (Some(expected), Some(output)) if expected == output => ", which is right",
            (Some(_), _) => ", which is wrong",
            (None, _) => "",
        };
        if let Some(place) = place {
            writeln!(out, "  answer {} to test[{test}]{verdict}", place + 1)?;
            breaks(out, attempt.broken.get(test))?;
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
        writeln!(
            out,
            "  layer {}{place}: {} {}{colour}",
            number + 1,
            layer.part,
            layer.expression
        )?;
    }
    Ok(())
}

/// Writes which properties common to all train pairs an answer lacks.
fn breaks(out: &mut impl Write, broken: Option<&Vec<String>>) -> io::Result<()> {
    let mut broken = broken.cloned().unwrap_or_default();
    // Several colours have one name.
    broken.dedup();
    if broken.is_empty() {
        return Ok(());
    }
    writeln!(out, "    unlike the train pairs in: {}", broken.join(", "))
}
