//! `ptx`: compiles the kernels to PTX, by `xtask/python/ptx.py`, and counts what it executes.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use serde_json::json;

use crate::cargo::{cargo, words};
use crate::python::{self, PYTHON};

pub(crate) mod count;

/// The folder of the kernels.
pub(crate) const KERNELS: &str = "kernels";

/// Arguments of `ptx`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Writes nothing; fails if the file is out of date or assembles with spills or local memory.
    #[arg(long)]
    check: bool,
    /// Compiles with this nvcc of CUDA 12 instead of the pinned compiler, which pip fetches.
    #[arg(long, value_name = "PATH", conflicts_with = "check")]
    nvcc: Option<PathBuf>,
    /// Counts the instructions that the embedded PTX executes, and writes benches/results/instructions.json; with
    /// `--check` fails if that is out of date.
    #[arg(long)]
    count: bool,
    /// With `--count`, also shows the counts of the programs of this file.
    #[arg(long, value_name = "FILE", requires_all = ["count", "tasks"])]
    programs: Option<PathBuf>,
    /// The folder of the tasks of these programs.
    #[arg(long, value_name = "DIR", requires = "programs")]
    tasks: Option<PathBuf>,
    /// Changes single instructions of the embedded PTX, chosen by a seed, and lists the changes that the conformance
    /// suite does not detect.
    #[arg(long, num_args = 2, value_names = ["SEED", "COUNT"], conflicts_with_all = ["count", "check", "nvcc"])]
    mutate: Option<Vec<u64>>,
}

/// Builds the PTX, or checks the committed one.
pub(crate) fn run(root: &Path, arguments: &Arguments) -> Result<()> {
    if let Some(numbers) = &arguments.mutate {
        return mutate(root, numbers);
    }
    if arguments.count {
        let others = arguments
            .programs
            .as_deref()
            .zip(arguments.tasks.as_deref());
        return count::run(root, arguments.check, others);
    }
    match compile(root, arguments.check, arguments.nvcc.as_deref())? {
        None => Ok(()),
        Some(reason) => bail!("{reason}"),
    }
}

/// Checks the committed PTX if the tools are available; otherwise returns why they are not.
pub(crate) fn check_where_possible(root: &Path) -> Result<Option<String>> {
    compile(root, true, None)
}

fn compile(root: &Path, check: bool, nvcc: Option<&Path>) -> Result<Option<String>> {
    let told = tempfile::NamedTempFile::new()?;
    let options = json!({"root": root, "check": check, "nvcc": nvcc, "told": told.path()});
    if !python::is_there() {
        return Ok(Some("there is no Python 3".to_owned()));
    }
    python::run(PYTHON, root, "ptx.py", [options.to_string()])?;
    python::told(told.path())
}

/// Mutants take minutes, even with optimisations.
fn mutate(root: &Path, numbers: &[u64]) -> Result<()> {
    let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
    let mut arguments = words("run --release --package arc-check --example mutants --");
    arguments.extend(numbers.iter().map(String::as_str));
    cargo(root, &arguments, &[])
}
