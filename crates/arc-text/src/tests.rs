//! Tests: each construct of the language is in `constructs`, each error message in `errors`.

mod bare;
mod constructs;
mod errors;
mod functions;
mod local;
mod modules;
mod names;
mod python;

use std::sync::Arc;

use arc_dsl::{Grid, Interpreter};

use super::*;

/// The only program of a text, printed.
fn printed(text: &str) -> String {
    let [program] = <[_; 1]>::try_from(parse_programs(text)).unwrap();
    program.unwrap().to_string()
}

/// The only error of a text.
fn error(text: &str) -> String {
    let [program] = <[_; 1]>::try_from(parse_programs(text)).unwrap();
    program.unwrap_err().to_string()
}

/// A program with this body and input `I`, printed without its first line and indentation.
fn body(lines: &str) -> String {
    let printed = printed(&program_text(lines));
    let lines = printed.lines().skip(1).map(str::trim_start);
    lines.collect::<Vec<_>>().join("; ")
}

/// The error in a program with this body, which begins at line 2, column 2.
fn body_error(lines: &str) -> String {
    error(&program_text(lines))
}

fn program_text(lines: &str) -> String {
    let lines = lines.replace('\n', "\n ");
    format!("def f(I):\n {lines}\n")
}

/// The programs and errors of a text, one per line.
fn read(text: &str) -> Vec<String> {
    read_beside(&[], text)
}

/// The same of a text beside modules: their paths, files and texts.
fn read_beside(modules: &[(&str, &str, &str)], text: &str) -> Vec<String> {
    let told = |entry: Result<Program, ParseError>| match entry {
        Ok(program) => program.to_string().trim_end().replace("\n    ", "; "),
        Err(error) => error.to_string(),
    };
    let reading = Reading {
        beside: Some(Arc::new(Beside::of(modules.iter().copied()))),
        ..Reading::default()
    };
    let read = read_file(text, &reading, |_| "bare".to_owned());
    read.programs.into_iter().map(told).collect()
}

fn value(text: &str) -> String {
    parse_value(text).unwrap().to_string()
}

fn value_error(text: &str) -> String {
    parse_value(text).unwrap_err().to_string()
}

/// The names of the programs, and the lines and columns of the errors of a text, in its order.
fn outline(text: &str) -> Vec<String> {
    let entry = |entry: Result<Program, ParseError>| match entry {
        Ok(program) => program.name().to_owned(),
        Err(error) => format!("{}:{}", error.line, error.column),
    };
    parse_programs(text).into_iter().map(entry).collect()
}

/// The notes on a text.
fn notes(text: &str) -> Vec<String> {
    let read = read_programs(text, &Reading::default());
    read.notes.iter().map(ToString::to_string).collect()
}

/// The result of a program with this body for a small grid, as text, or the error.
fn given(lines: &str) -> Result<String, String> {
    outcome(&program_text(lines))
}

/// The same for the last program of a text.
fn outcome(text: &str) -> Result<String, String> {
    let program = parse_programs(text).pop().unwrap();
    let program = program.map_err(|error| error.to_string())?;
    let grid = Grid::from_rows(&[[1, 1, 0], [0, 0, 2]]).unwrap();
    let value = Interpreter::default().run(&program, grid);
    value
        .map(|value| value.to_string())
        .map_err(|error| error.to_string())
}
