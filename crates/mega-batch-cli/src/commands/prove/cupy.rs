//! The pipelines of the benchmark written for tensors, run by `CuPy` where there is one.

use std::path::Path;
use std::process::Command;

use mega_batch::files::replace;
use serde_json::{Value, json};

use super::driver::answer;
use super::record::Sheet;
use super::stages::Parts;
use crate::bench::device::export;

/// The script, which the binary brings along.
const SCRIPT: &str = include_str!("../../../../../benches/peers/cupy_pipeline.py");

/// Names under which there may be a Python.
const PYTHON: [&str; 2] = ["python3", "python"];

/// Grids of a batch, each in a process of its own: what is measured by then is kept.
const SIZES: [usize; 5] = [1_000_000, 100_000, 10_000, 1_000, 1];
const QUICK_SIZES: [usize; 1] = [8];

/// The Python that has `CuPy` and finds a GPU by it, or why there is none.
fn python() -> Result<&'static str, String> {
    let mut why = String::new();
    for name in PYTHON {
        let mut command = Command::new(name);
        command.args([
            "-c",
            "import cupy; print(cupy.cuda.runtime.getDeviceCount())",
        ]);
        match answer(command) {
            Ok(count) if count != "0" => return Ok(name),
            Ok(_) => return Err(format!("CuPy of {name} finds no GPU")),
            Err(error) if why.is_empty() => why = error,
            Err(_) => {}
        }
    }
    Err(format!("no Python with CuPy: {why}"))
}

fn write(file: &Path, text: &str) -> anyhow::Result<()> {
    Ok(replace(file, |out| out.write_all(text.as_bytes()))?)
}

pub(super) fn stage(parts: &mut Parts<'_>, sheet: &mut Sheet) -> anyhow::Result<()> {
    let python = if parts.is_stand_in() {
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
    let [script, grids, log] =
        ["cupy_pipeline.py", "grids.json", "cupy-rows.json"].map(|name| parts.folder().join(name));
    write(&script, SCRIPT)?;
    write(&grids, &serde_json::to_string(&export()?)?)?;
    let sizes: &[usize] = if parts.is_quick() {
        &QUICK_SIZES
    } else {
        &SIZES
    };
    let (mut rows, mut left): (Vec<Value>, Vec<Value>) = (Vec::new(), Vec::new());
    for &size in sizes {
        if parts.is_over() {
            sheet.page.left_out.push(format!("{size} grids"));
            continue;
        }
        let mut command = Command::new(python);
        command
            .arg(&script)
            .arg("--grids")
            .arg(&grids)
            .args(["--sizes", &size.to_string()])
            .env("CUPY_CACHE_DIR", parts.folder().join("cupy-cache"));
        let text = match parts.run_other(command, &log)? {
            Ok(text) => text,
            Err(why) => {
                sheet.page.failures.push(format!("{size} grids: {why}"));
                continue;
            }
        };
        // Lines of progress stand before the document.
        let document = text.find("{\n").map_or("", |at| &text[at..]);
        let document: Value = serde_json::from_str(document)?;
        let all = |key: &str| document[key].as_array().cloned().unwrap_or_default();
        for row in all("rows") {
            sheet.say(format_args!(
                "{:>3} operations {:>9} grids {:>16.0} a second",
                row["operations"].as_f64().unwrap_or_default(),
                row["grids"].as_f64().unwrap_or_default(),
                row["grids_per_second"].as_f64().unwrap_or_default()
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
