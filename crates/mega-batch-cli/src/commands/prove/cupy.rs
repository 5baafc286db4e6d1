//! The pipelines of the benchmark written for tensors, run with `CuPy` if it is installed.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::Context;
use mega_batch::files::replace;
use serde_json::{Value, json};

use super::Parts;
use super::driver::answer;
use super::record::Sheet;
use crate::bench::device::export;

/// The script, which is part of the binary.
const SCRIPT: &str = include_str!("cupy_pipeline.py");

/// Names to look for a Python under.
const PYTHON: [&str; 2] = ["python3", "python"];

/// How long to wait for it to load the library, which is large.
const IMPORT: Duration = Duration::from_secs(60);

/// Batch sizes, each run in a process of its own, so that what is measured is kept.
const SIZES: [usize; 5] = [1_000_000, 100_000, 10_000, 1_000, 1];
const QUICK_SIZES: [usize; 1] = [8];

/// The Python in which `CuPy` finds a GPU, or why there is none.
fn python() -> Result<&'static str, String> {
    let mut why = String::new();
    for name in PYTHON {
        let mut command = Command::new(name);
        let text = "import cupy; print(cupy.cuda.runtime.getDeviceCount())";
        command.args(["-c", text]);
        match answer(command, IMPORT) {
            Ok(count) if count != "0" => return Ok(name),
            Ok(_) => return Err(format!("CuPy of {name} finds no GPU")),
            Err(error) if why.is_empty() => why = error,
            Err(_) => {}
        }
    }
    Err(format!("no Python with CuPy: {why}"))
}

pub(super) fn stage(parts: &mut Parts<'_>, sheet: &mut Sheet) -> anyhow::Result<()> {
    let python = if parts.is_fake_driver() {
        Err("the driver is a fake one, by which CuPy computes nothing".to_owned())
    } else {
        python()
    };
    let python = match python {
        Ok(python) => python,
        Err(why) => {
            sheet.page.skipped = Some(why);
            return Ok(());
        }
    };
    let sizes: &[usize] = if parts.is_quick() {
        &QUICK_SIZES
    } else {
        &SIZES
    };
    let folder = parts.folder().to_owned();
    let log = folder.join("cupy-rows.json");
    measure(python, &folder, sizes, sheet, |command| {
        Ok(if parts.is_over() {
            None
        } else {
            Some(parts.run_other(command, &log)?)
        })
    })
}

/// What a process printed, or why it failed; `None` if there is no time for it.
type Printed = Option<Result<String, String>>;

/// Runs the script for each size, by `run`.
fn measure(
    python: &str,
    folder: &Path,
    sizes: &[usize],
    sheet: &mut Sheet,
    mut run: impl FnMut(Command) -> anyhow::Result<Printed>,
) -> anyhow::Result<()> {
    let [script, grids] = ["cupy_pipeline.py", "grids.json"].map(|name| folder.join(name));
    replace(&script, |out| out.write_all(SCRIPT.as_bytes()))?;
    let exported = serde_json::to_string(&export()?)?;
    replace(&grids, |out| out.write_all(exported.as_bytes()))?;
    let (mut rows, mut left): (Vec<Value>, Vec<Value>) = (Vec::new(), Vec::new());
    for &size in sizes {
        let mut command = Command::new(python);
        command
            .arg(&script)
            .arg("--grids")
            .arg(&grids)
            .args(["--sizes", &size.to_string()])
            .env("CUPY_CACHE_DIR", folder.join("cupy-cache"));
        let text = match run(command)? {
            None => {
                sheet.page.left_out.push(format!("{size} grids"));
                continue;
            }
            Some(Ok(text)) => text,
            Some(Err(why)) => {
                sheet.page.failures.push(format!("{size} grids: {why}"));
                continue;
            }
        };
        let document = document(&text)?;
        let all = |key: &str| document[key].as_array().cloned().unwrap_or_default();
        for row in all("rows") {
            let number = |key: &str| row[key].as_f64().unwrap_or_default();
            sheet.say(format_args!(
                "{:>3} operations {:>9} grids {:>16.0} a second",
                number("operations"),
                number("grids"),
                number("grids_per_second")
            ));
            rows.push(row);
        }
        left.extend(all("left_out"));
        sheet.page.result = json!({
            "library": document["library"], "device": document["device"], "note": document["note"],
            "rows": rows, "left_out": left,
        });
        sheet.write()?;
    }
    let left = left.iter().map(ToString::to_string);
    sheet.page.left_out.extend(left);
    Ok(())
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
    use super::super::record::Subject;
    use super::*;

    fn sheet(folder: &Path) -> Sheet {
        let of = Subject {
            device: "a GPU".to_owned(),
            note: None,
            engine_version: "1".to_owned(),
            commit: None,
        };
        Sheet::new(folder.join("cupy.json"), "cupy", of)
    }

    #[test]
    fn rows_of_all_sizes_are_gathered() {
        let folder = tempfile::tempdir().unwrap();
        let mut sheet = sheet(folder.path());
        let mut sizes = Vec::new();
        let run = |command: Command| {
            let words = command.get_args().map(|word| word.to_str().unwrap());
            let words: Vec<&str> = words.collect();
            let [script, "--grids", grids, "--sizes", size] = words[..] else {
                panic!("{words:?}");
            };
            let script = std::fs::read_to_string(script).unwrap();
            assert!(script.contains("\"--sizes\"") && script.contains("\"--grids\""));
            let grids: Value = serde_json::from_slice(&std::fs::read(grids).unwrap()).unwrap();
            assert_eq!(grids["outputs"]["10"].as_array().unwrap().len(), 1000);
            sizes.push(size.to_owned());
            let row = json!({ "operations": 10, "grids": 5, "grids_per_second": 7.0 });
            let printed = json!({ "library": "cupy 13", "rows": [row], "left_out": [] });
            let printed = serde_json::to_string_pretty(&printed).unwrap();
            Ok(match size {
                "5" => Some(Ok(format!(" 10 operations\n{printed}\na warning {{\n"))),
                "6" => Some(Err("killed".to_owned())),
                _ => None,
            })
        };
        measure("python3", folder.path(), &[5, 6, 7], &mut sheet, run).unwrap();
        assert_eq!(sizes, ["5", "6", "7"]);
        let page = super::super::record::Page::read(&folder.path().join("cupy.json")).unwrap();
        assert_eq!(page.result["rows"][0]["operations"], 10);
        assert_eq!(page.result["library"], "cupy 13");
        assert_eq!(sheet.page.failures, ["6 grids: killed"]);
        assert_eq!(sheet.page.left_out, ["7 grids"]);
        assert_eq!(sheet.page.lines.len(), 1);
    }

    #[test]
    fn what_is_no_document_is_an_error() {
        for text in ["", "Traceback", "{\n 1"] {
            assert!(document(text).is_err(), "{text}");
        }
    }
}
