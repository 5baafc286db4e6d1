//! `kaggle`: writes two folders to upload to Kaggle, a dataset with the engine and a notebook that runs it.
//! `xtask/python/pack.py` packs them.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use serde::Serialize;

use crate::python::{self, PYTHON};

mod check;

pub(crate) use check::check;

/// Arguments of `kaggle`.
#[derive(Debug, clap::Args, Serialize)]
pub(crate) struct Arguments {
    /// Where the folders `dataset` and `notebook` go [default: target/kaggle].
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// The uploader: the name in the address of your profile at Kaggle.
    #[arg(long, value_name = "NAME", default_value = "KAGGLE_USER")]
    owner: String,
    /// The title of the notebook; that of the dataset is the same followed by `engine`.
    #[arg(long, value_name = "TEXT", default_value = "mega-batch")]
    title: String,
    /// The competition: the name in its address.
    #[arg(long, value_name = "NAME", default_value = "arc-prize-2026-arc-agi-2")]
    competition: String,
    /// Programs that the notebook runs: `.py` files or folders of them [default: the built-in ones].
    #[arg(long, value_name = "PATH", num_args = 1..)]
    programs: Vec<PathBuf>,
    /// Wheels for notebooks of your own, which install from them without internet: `.whl` files or folders of them, as
    /// `cargo xtask wheel` writes one.
    #[arg(long, value_name = "PATH", num_args = 1..)]
    wheels: Vec<PathBuf>,
    /// The engine, if it is not to be built.
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// The GPUs that the notebook requests, by Kaggle's name: `NvidiaTeslaT4`, `NvidiaL4`, `NvidiaRtxPro6000` or
    /// another one; `none` requests no GPU.
    #[arg(long, value_name = "NAME", default_value = "NvidiaTeslaT4")]
    machine_shape: String,
    /// Writes no folders; runs the notebook here as Kaggle would, on generated tasks, and fails if a run leaves no
    /// valid submission.
    #[arg(long, conflicts_with_all = ["out", "owner", "title", "competition", "programs", "wheels"])]
    check: bool,
    /// The licences under which the engine may be distributed.
    #[arg(skip)]
    licences: Vec<PathBuf>,
}

/// Writes the folders, or checks the notebook.
pub(crate) fn run(root: &Path, mut arguments: Arguments) -> Result<()> {
    if arguments.check {
        return match check(root, arguments.binary)? {
            None => Ok(()),
            Some(reason) => bail!("the notebook cannot be run: {reason}"),
        };
    }
    arguments.binary = Some(engine(root, arguments.binary)?);
    arguments.licences = ["LICENSE-APACHE", "LICENSE-MIT"]
        .map(|name| root.join(name))
        .into();
    pack(root, arguments)
}

/// The engine: this file, or a new build.
fn engine(root: &Path, binary: Option<PathBuf>) -> Result<PathBuf> {
    let arguments = ["--release", "--package", "mega-batch-cli"];
    binary.map_or_else(
        || crate::cargo::binary(root, &arguments, &[], "mega-batch"),
        Ok,
    )
}

fn pack(root: &Path, mut arguments: Arguments) -> Result<()> {
    arguments.out.get_or_insert(root.join("target/kaggle"));
    python::run(
        PYTHON,
        root,
        "pack.py",
        [serde_json::to_string(&arguments)?],
    )
}
