//! Targets that read text: it is refused with an error, or it is read, and what is written of
//! that is read as the same.

use std::fmt::{Debug, Display};
use std::sync::Arc;

use arc_cpu::{Compiled, Machine};
use arc_dsl::{Dialect, Grid, Interpreter, Program};
use arc_form::Evaluator;
use arc_search::language::UseCounts;
use arc_search::{Language, Options, Searcher};
use arc_tasks::{FileTask, Pair, SubmissionFile, Task, TaskError, TaskFile};
use arc_text::{
    ParseError, is_batt, parse_batt, parse_file, parse_functions, parse_programs_in, parse_value,
};
use gpu_kernels::device::{Argument, Device, DeviceError, Entry, Launch};
use gpu_sim::interpreted::{Interpretation, Module};
use gpu_sim::open;

use crate::evaluators::{limits, two_grids};

/// The most calls of a program that is run.
const MOST_STEPS: usize = 100;

/// Tasks in JSON, in any layout, programs beside them, solutions and submissions.
pub(crate) fn task(data: &[u8]) {
    let found = TaskFile::read("task", data);
    found.errors.iter().for_each(is_told::<TaskError>);
    for FileTask { task, .. } in &found.tasks {
        // Rows of a task stand as they are printed, which is JSON but for the brackets.
        let again = TaskFile::read("task", json(task).as_bytes());
        assert_eq!(again.tasks.len(), 1, "{task:?}");
        let again = &again.tasks[0].task;
        assert_eq!((&again.train, &again.test), (&task.train, &task.test));
    }
    let submission = SubmissionFile::read("task", data);
    let all = submission.errors.iter().chain(&submission.missing);
    all.for_each(is_told::<TaskError>);
}

/// Programs of either dialect, functions and values.
pub(crate) fn program(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let programs = parse_file(text, None, |number| format!("p{number}"));
    same_again(programs, None);
    for function in parse_functions(text) {
        match function {
            Ok(function) => assert!(!function.to_string().is_empty()),
            Err(error) => is_shown(&error),
        }
    }
    match parse_value(text) {
        Ok(value) => {
            // As in Python, a set that is read as it was written may iterate in another order.
            let written = value.to_string();
            assert_eq!(parse_value(&written).as_ref(), Ok(&value), "{written}");
        }
        Err(error) => is_shown(&error),
    }
}

/// Programs of the typed dialect, and what they give.
pub(crate) fn typed(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let programs = parse_programs_in(Dialect::Typed, text);
    let mut interpreter = Interpreter::new(limits());
    for program in programs.iter().flatten().take(4) {
        if program.steps().len() <= MOST_STEPS {
            for grid in two_grids() {
                match interpreter.run(program, grid) {
                    Ok(value) => assert!(!value.to_string().is_empty()),
                    Err(error) => is_told(&error),
                }
            }
        }
    }
    same_again(programs, Some(Dialect::Typed));
}

/// A batt, and what it gives on a task.
pub(crate) fn batt(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let _ = is_batt(text);
    let batt = match parse_batt(text) {
        Ok(batt) => batt,
        Err(error) => return is_shown(&error),
    };
    let written = batt.to_string();
    let again = parse_batt(&written).map(|again| again.to_string());
    assert_eq!(again, Ok(written));
    if batt.program().steps().len() <= MOST_STEPS {
        let entries = batt.entries().len();
        for pair in mega_batch::run_batt(&batt, &small_task(), &limits()) {
            for values in [Some(pair.values), pair.with_expected]
                .into_iter()
                .flatten()
            {
                match values {
                    Ok(values) => assert_eq!(values.len(), entries),
                    Err(error) => is_told(&error),
                }
            }
        }
    }
}

/// A form: whatever is read holds the rules of forms, and its evaluators agree, of the form that is made
/// of it by rewrites too.
pub(crate) fn form(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let form = match arc_form::parse(text) {
        Ok(form) => form,
        Err(error) => return is_told(&error),
    };
    assert_eq!(form.verify(), Ok(()));
    let written = form.to_string();
    let again = arc_form::parse(&written).map(|again| again.to_string());
    assert_eq!(again, Ok(written));
    if !form.is_program() || form.body.len() > MOST_STEPS {
        return;
    }
    let mut rewritten = form.clone();
    arc_form::rewrite(&mut rewritten);
    assert_eq!(rewritten.verify(), Ok(()));
    let mut evaluator = Evaluator::new(limits());
    let mut machine = Machine::new(&limits());
    for grid in two_grids() {
        let expected = evaluator.run(&form, &grid);
        let Ok(expected) = expected.map(|value| value.to_string()) else {
            continue;
        };
        for form in [&form, &rewritten] {
            if let Ok(value) = evaluator.run(form, &grid) {
                assert_eq!(value.to_string(), expected, "by its evaluator:\n{form}");
            }
            if let Ok(compiled) = Compiled::new(form)
                && let Ok(output) = machine.run(&compiled, &grid)
            {
                let value = output.value().map(|value| value.to_string());
                assert_eq!(value.as_ref(), Ok(&expected), "compiled:\n{form}");
            }
        }
    }
}

/// A language, derived operations and the table behind a byte of 1, and a short search by it.
pub(crate) fn language(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let (derived, table) = text.split_once('\u{1}').unwrap_or(("", text));
    let language = match Language::parse(derived, table) {
        Ok(language) => language,
        Err(error) => return is_told(&error),
    };
    let written = language.table();
    let again = Language::parse(derived, &written).map(|again| again.table());
    assert_eq!(again.as_ref().map_err(ToString::to_string), Ok(&written));
    let steps = language.functions().iter().map(|f| f.steps().len());
    if steps.sum::<usize>() <= MOST_STEPS {
        let mut searcher = Searcher::new(language, Options::of_nodes(40));
        let found = searcher.search(&small_task(), &mut || false);
        assert!(found.answers_of(0).count() <= Options::of_nodes(40).attempts);
    }
}

/// The costs of a search.
pub(crate) fn search_costs(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    match UseCounts::parse(text) {
        Ok(counts) => {
            let written = counts.to_string();
            let again = UseCounts::parse(&written).map(|again| again.to_string());
            assert_eq!(again.as_ref(), Ok(&written));
            let costs = arc_search::language::Costs::parse(text);
            assert!(costs.is_ok());
        }
        Err(error) => is_told(&error),
    }
}

/// PTX for the device that interprets it, which executes the kernel that copies, where there is one: it
/// ends or breaks a rule.
pub(crate) fn ptx(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    match Module::parse(text) {
        Ok(module) => {
            let lines = text.lines().count() as u32;
            assert!(module.instruction_lines().all(|line| line <= lines));
            let told = execute(module).map_err(|error| error.to_string());
            assert_ne!(told, Err(String::new()));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Launches a module's kernel on some words.
fn execute(module: Module) -> Result<(), DeviceError> {
    let interpretation = Interpretation {
        module: Some(Arc::new(module)),
        steps: 2000,
        bytes: 1 << 16,
        ..Interpretation::default()
    };
    let Ok(device) = open::interpreted(0, &interpretation) else {
        return Ok(());
    };
    let words: Vec<u8> = (0..128).collect();
    let (to, mut from) = (device.allocate(words.len())?, device.allocate(words.len())?);
    device.upload(&words, &mut from, 0)?;
    device.launch(&Launch {
        entry: Entry::Copy,
        blocks: 1,
        threads: 32,
        shared_bytes: 256,
        arguments: vec![
            Argument::Buffer(&to),
            Argument::Buffer(&from),
            Argument::Number(32),
        ],
    })
}

/// An error says something.
fn is_told<E: Display + Debug>(error: &E) {
    assert!(!error.to_string().is_empty(), "{error:?}");
}

/// An error of program text shows nothing of it that a terminal would obey.
fn is_shown(error: &ParseError) {
    let text = error.to_string();
    assert!(
        !text.is_empty() && !text.contains(char::is_control),
        "{text:?}"
    );
}

/// Programs that were read are written as text that is read as the same.
fn same_again(programs: Vec<Result<Program, ParseError>>, dialect: Option<Dialect>) {
    for program in programs {
        match program {
            Ok(program) => {
                let written = program.to_string();
                let again = parse_file(&written, dialect, |_| String::new());
                let again: Vec<_> = again
                    .iter()
                    .map(|again| again.as_ref().map(Program::to_string))
                    .collect();
                assert_eq!(again, [Ok(written)]);
            }
            Err(error) => is_shown(&error),
        }
    }
}

/// The text of a task.
fn json(task: &Task) -> String {
    let grid = |grid: &Grid| {
        let rows: Vec<_> = grid.cells().chunks(grid.width().max(1)).collect();
        serde_json::json!(rows)
    };
    let pairs = |pairs: &[Pair]| {
        let pair = |pair: &Pair| {
            let mut text = serde_json::json!({ "input": grid(&pair.input) });
            if let Some(output) = &pair.output {
                text["output"] = grid(output);
            }
            text
        };
        pairs.iter().map(pair).collect::<Vec<_>>()
    };
    serde_json::json!({ "train": pairs(&task.train), "test": pairs(&task.test) }).to_string()
}

/// Two train pairs and a test pair: the output is the input mirrored.
fn small_task() -> Task {
    let pair = |rows: &[[i32; 3]; 2]| {
        let mirrored = rows.map(|[a, b, c]| [c, b, a]);
        let [input, output] =
            [rows, &mirrored].map(|rows| Grid::from_rows(rows).unwrap_or_default());
        Pair::new(input, output)
    };
    Task {
        id: "task".to_owned(),
        train: vec![pair(&[[0, 1, 2], [3, 0, 0]]), pair(&[[5, 1, 1], [3, 0, 4]])],
        test: vec![pair(&[[7, 1, 2], [3, 0, 0]])],
        ..Task::default()
    }
}
