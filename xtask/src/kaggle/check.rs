//! Runs the notebook here, by a script: `xtask/python/kaggle.py`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use arc_tasks::{Pair, builtin};
use serde_json::{Map, Value, json};

use super::{Arguments, engine, pack};
use crate::python::{self, PYTHON};

/// Runs every scenario; returns the reason if that is impossible here.
pub(crate) fn check(root: &Path, binary: Option<PathBuf>) -> Result<Option<String>> {
    if !cfg!(unix) {
        return Ok(Some("it is for Unix".to_owned()));
    }
    if !python::is_there() {
        return Ok(Some("there is no Python 3".to_owned()));
    }
    let engine = std::path::absolute(engine(root, binary)?)?;
    let folder = tempfile::tempdir()?;
    let path = |name: &str| folder.path().join(name);
    let programs = path("programs");
    fs::create_dir(&programs)?;
    for program in builtin::all() {
        fs::write(
            programs.join(format!("{}.py", program.id())),
            program.text(),
        )?;
    }
    fs::write(path("tasks.json"), tasks().to_string())?;
    let arguments = Arguments {
        out: Some(path("packed")),
        owner: "somebody".to_owned(),
        title: "mega-batch".to_owned(),
        competition: "some-competition".to_owned(),
        programs: vec![programs],
        wheels: Vec::new(),
        binary: Some(engine.clone()),
        machine_shape: "none".to_owned(),
        check: true,
        licences: Vec::new(),
    };
    pack(root, arguments)?;
    let arguments = [path("packed"), engine, path("tasks.json")];
    python::run(PYTHON, root, "kaggle.py", arguments).map(|()| None)
}

/// Built-in tasks, which are generated from the built-in programs.
fn tasks() -> Value {
    let pair = |pair: &Pair| json!({"input": *pair.input, "output": pair.output});
    let pairs = |pairs: &[Pair]| pairs.iter().map(pair).collect::<Value>();
    let tasks = builtin::all().iter().map(|program| {
        let task = program.task(1, 4, 2, 12);
        let of_task = json!({"train": pairs(&task.train), "test": pairs(&task.test)});
        (task.id, of_task)
    });
    Value::Object(tasks.collect::<Map<_, _>>())
}
