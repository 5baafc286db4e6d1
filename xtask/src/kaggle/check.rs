//! Runs the notebook here, by a script: `xtask/python/kaggle.py`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use arc_dsl::Grid;
use arc_tasks::{Pair, builtin};
use serde_json::{Map, Value, json};

use super::metadata::Names;
use super::{Package, engine, write_json};

/// The script, which runs the notebook in a folder that imitates Kaggle's.
const SCRIPT: &str = "xtask/python/kaggle.py";

/// Runs every scenario; returns the reason if that is impossible here.
pub(crate) fn check(root: &Path, binary: Option<&Path>) -> Result<Option<String>> {
    if !cfg!(unix) {
        return Ok(Some("it is for Unix".to_owned()));
    }
    let version = Command::new("python3").arg("--version").output();
    if !version.is_ok_and(|version| version.status.success()) {
        return Ok(Some("there is no Python 3".to_owned()));
    }
    let names = Names::new("somebody", "mega-batch", "some-competition")?;
    let engine = std::path::absolute(engine(root, binary)?)?;
    let folder = tempfile::tempdir()?;
    let path = |name: &str| folder.path().join(name);
    let programs = builtin::all().iter().map(|program| {
        let path = path(&format!("{}.py", program.id()));
        fs::write(&path, program.text())?;
        Ok(path)
    });
    let programs: Vec<PathBuf> = programs.collect::<Result<_>>()?;
    let package = Package {
        names: &names,
        shape: None,
        binary: &engine,
        programs: &programs,
        wheels: &[],
        licences: &[],
    };
    package.write(&path("packed"))?;
    write_json(&path("tasks.json"), &tasks())?;
    let status = Command::new("python3")
        .arg(root.join(SCRIPT))
        .args([path("packed"), engine, path("tasks.json")])
        .status()
        .context("python3 cannot be run")?;
    ensure!(status.success(), "{SCRIPT} failed ({status})");
    Ok(None)
}

/// Built-in tasks, which are generated from the built-in programs.
fn tasks() -> Value {
    let rows = |grid: &Grid| json!(grid.rows().collect::<Vec<_>>());
    let pairs = |pairs: &[Pair]| -> Value {
        let pair = |pair: &Pair| json!({"input": rows(&pair.input), "output": pair.output.as_ref().map(rows)});
        pairs.iter().map(pair).collect()
    };
    let tasks = builtin::all().iter().map(|program| {
        let task = program.task(1, 4, 2, 12);
        let of_task = json!({"train": pairs(&task.train), "test": pairs(&task.test)});
        (task.id, of_task)
    });
    Value::Object(tasks.collect::<Map<_, _>>())
}
