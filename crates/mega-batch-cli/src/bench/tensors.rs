//! The pipelines of the benchmark written for tensors, run with `CuPy` and with JAX where they are installed.

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use mega_batch::files::replace;
use serde_json::Value;

use super::document::Cell;
use super::plan::BenchMode;
use super::processes::answer;
use super::sheet::{Context, Sheet};
use super::statistics::Spread;
use super::workload::pipeline;

/// The script, which is part of the binary.
const SCRIPT: &str = include_str!("tensors.py");

/// Names to look for a Python under.
const PYTHON: [&str; 2] = ["python3", "python"];

/// How long to wait for a library to be loaded: it is large.
const IMPORT: Duration = Duration::from_secs(60);

/// The libraries, each with an expression that is true if it finds a GPU.
const LIBRARIES: [(&str, BenchMode, &str); 2] = [
    (
        "cupy",
        BenchMode::CuPy,
        "cupy.cuda.runtime.getDeviceCount() > 0",
    ),
    ("jax", BenchMode::Jax, "jax.default_backend() == 'gpu'"),
];

/// Batch sizes, each run in a process of its own, so that what is measured is kept.
const SIZES: [usize; 4] = [1_000_000, 100_000, 10_000, 1];
const QUICK_SIZES: [usize; 1] = [8];

/// The Python in which a library finds a GPU, or why there is none.
fn python(library: &str, finds: &str) -> Result<&'static str, String> {
    let mut why = String::new();
    for name in PYTHON {
        let mut command = Command::new(name);
        command.args(["-c", &format!("import {library}; print({finds})")]);
        match answer(command, Instant::now() + IMPORT) {
            Ok(found) if found.ends_with("True") => return Ok(name),
            Ok(_) => return Err(format!("{library} of {name} finds no GPU")),
            Err(error) if why.is_empty() => why = error,
            Err(_) => {}
        }
    }
    Err(format!("no Python with {library}: {why}"))
}

pub(super) fn stage(stage: &Context<'_>, sheet: &mut Sheet) -> anyhow::Result<()> {
    let mut missing = Vec::new();
    for (library, mode, finds) in LIBRARIES {
        let python = if stage.plan.is_fake {
            Err(format!("{library} computes nothing by a fake driver"))
        } else {
            python(library, finds)
        };
        match python {
            Ok(python) => {
                let run = |command| answer(command, stage.plan.until);
                measure(stage, sheet, (library, mode), python, run)?;
            }
            Err(why) => missing.push(why),
        }
    }
    if missing.len() == LIBRARIES.len() {
        sheet.part.skipped = Some(missing.join("; "));
    } else {
        sheet.say(missing.join("\n"));
    }
    Ok(())
}

/// Runs the script for each size, by `run`.
fn measure(
    stage: &Context<'_>,
    sheet: &mut Sheet,
    (library, mode): (&str, BenchMode),
    python: &str,
    mut run: impl FnMut(Command) -> Result<String, String>,
) -> anyhow::Result<()> {
    let script = sheet.folder().join("tensors.py");
    replace(&script, |out| out.write_all(SCRIPT.as_bytes()))?;
    let sizes: &[usize] = if stage.plan.quick {
        &QUICK_SIZES
    } else {
        &SIZES
    };
    for &size in sizes {
        let what = format!("{library}, {size} grids");
        if stage.plan.is_over() {
            sheet.part.found.left_out.push(what);
            continue;
        }
        let mut command = Command::new(python);
        command
            .arg(&script)
            .args(["--library", library, "--sizes", &size.to_string()])
            .env("CUPY_CACHE_DIR", sheet.folder().join("cupy-cache"));
        let text = match run(command) {
            Ok(text) => text,
            Err(why) => {
                sheet.part.failures.push(format!("{what}: {why}"));
                continue;
            }
        };
        let document = document(&text)?;
        let all = |key: &str| document[key].as_array().cloned().unwrap_or_default();
        for row in all("rows") {
            let cell = cell(&row, mode).with_context(|| format!("{what}: {row}"))?;
            sheet.say(super::table::line(&super::table::row(&cell)));
            sheet.part.found.cells.push(cell);
        }
        let left = all("left_out").into_iter();
        let left = left.map(|left| format!("{what}: {left}"));
        sheet.part.found.left_out.extend(left);
        sheet.save()?;
    }
    Ok(())
}

/// A row of the script.
fn cell(row: &Value, mode: BenchMode) -> Option<Cell> {
    let number = |key: &str| Some(row[key].as_u64()? as usize);
    let times = row["seconds"].as_array()?.iter().map(Value::as_f64);
    let seconds = Spread::of(&times.collect::<Option<Vec<f64>>>()?)?;
    let (operations, size) = (number("operations")?, number("grids")?);
    let steps = operations as f64;
    Some(Cell::new(&pipeline(operations), size, mode, steps, seconds))
}

/// The document in the script's output, which may have other lines before and after it.
fn document(text: &str) -> anyhow::Result<Value> {
    let begin = text.find("{\n").unwrap_or_default();
    let mut values = serde_json::Deserializer::from_str(&text[begin..]).into_iter();
    let first = values.next().context("the script printed nothing")?;
    first.context("the script printed no document")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::document::Part;
    use super::super::environment::tests::environment;
    use super::super::plan::BenchPlan;
    use super::super::plan::tests::plan;
    use super::super::workload::Given;
    use super::*;

    #[test]
    fn rows_of_all_sizes_are_gathered() {
        let folder = tempfile::tempdir().unwrap();
        let part = Part::new(environment(2, 1), Vec::new());
        let mut sheet = Sheet::new(folder.path().join("tensors.json"), part);
        let stage = Context {
            plan: BenchPlan {
                quick: false,
                ..plan(&[])
            },
            given: &Given::default(),
            environment: environment(2, 1),
        };
        let mut sizes = Vec::new();
        let run = |command: Command| {
            let words = command.get_args().map(|word| word.to_str().unwrap());
            let words: Vec<&str> = words.collect();
            let [script, "--library", "cupy", "--sizes", size] = words[..] else {
                panic!("{words:?}");
            };
            let script = std::fs::read_to_string(script).unwrap();
            assert!(script.contains("\"--library\"") && script.contains("\"--sizes\""));
            sizes.push(size.to_owned());
            let row = json!({ "operations": 10, "grids": 5, "seconds": [0.2, 0.1, 0.3] });
            let left = json!({ "operations": 30, "reason": "no room" });
            let printed = json!({ "library": "cupy 13", "rows": [row], "left_out": [left] });
            let printed = serde_json::to_string_pretty(&printed).unwrap();
            match size {
                "10000" => Ok(format!(" 10 operations\n{printed}\na warning {{\n")),
                _ => Err("killed".to_owned()),
            }
        };
        let cupy = ("cupy", BenchMode::CuPy);
        measure(&stage, &mut sheet, cupy, "python3", run).unwrap();
        assert_eq!(sizes, SIZES.map(|size| size.to_string()));
        let found = &sheet.part.found;
        let [cell] = &found.cells[..] else {
            panic!("{:?}", found.cells);
        };
        assert_eq!((&*cell.kind, cell.size), ("pipeline of 10", 5));
        assert!((cell.evaluations_per_second - 25.0).abs() < 1e-9);
        assert_eq!(found.left_out.len(), 1);
        assert_eq!(sheet.part.failures.len(), 3);
    }

    #[test]
    fn what_is_no_document_is_an_error() {
        for text in ["", "Traceback", "{\n 1"] {
            assert!(document(text).is_err(), "{text}");
        }
    }
}
