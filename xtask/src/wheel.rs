//! `wheel`: builds the Python package and tests it in separate environments, by `xtask/python/wheel.py`.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde::Serialize;

/// The oldest supported Python.
const LEAST_PYTHON: (u32, u32) = (3, 11);

/// Arguments of `wheel`.
#[derive(Debug, Default, clap::Args, Serialize)]
#[allow(clippy::struct_excessive_bools, reason = "they are flags")]
pub(crate) struct Arguments {
    /// Installs the wheel into a fresh environment and runs its tests, examples and type checks there.
    #[arg(long)]
    check: bool,
    /// Where the wheel goes [default: target/wheel/dist].
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// The Python to build and test with [default: the newest one of 3.11 or later].
    #[arg(long, value_name = "FILE")]
    python: Option<PathBuf>,
    /// Builds for glibc 2.17 (manylinux2014) with the linker of zig, which is installed from its package. Nothing
    /// built otherwise is reused.
    #[arg(long)]
    zig: bool,
    /// Builds the source distribution instead, which pip compiles if there is Rust; `--check` builds and installs it
    /// into a fresh environment and runs the tests there.
    #[arg(long, conflicts_with = "zig")]
    sdist: bool,
    /// The cargo profile of the build.
    #[arg(long, default_value = "release")]
    profile: String,
    /// Also tests it with everything that it integrates with: a Ray cluster, torch, TRL, data sets, pyright. They are
    /// installed from their packages, gigabytes.
    #[arg(long, requires = "check")]
    all: bool,
    #[arg(skip)]
    root: PathBuf,
    /// Where the check of a wheel that was built before writes.
    #[arg(skip)]
    log: Option<PathBuf>,
    /// The file for the reason if the package cannot be built here.
    #[arg(skip)]
    told: PathBuf,
}

pub(crate) fn run(root: &Path, arguments: Arguments) -> Result<()> {
    match build_and_test(root, arguments)? {
        None => Ok(()),
        Some(reason) => bail!("the wheel cannot be built here: {reason}"),
    }
}

/// Builds the wheel that `ci` checks, or returns the reason why that is impossible here.
pub(crate) fn build(root: &Path) -> Result<Option<String>> {
    let arguments = Arguments {
        profile: crate::cargo::CHECKED.to_owned(),
        ..Arguments::default()
    };
    build_and_test(root, arguments)
}

/// Tests the wheel that was built, or returns the reason why that is impossible here; all that the tests write comes
/// when they end.
pub(crate) fn check(root: &Path) -> Result<Option<String>> {
    let log = tempfile::NamedTempFile::new()?;
    let arguments = Arguments {
        check: true,
        log: Some(log.path().to_owned()),
        ..Arguments::default()
    };
    let done = build_and_test(root, arguments);
    eprint!("{}", std::fs::read_to_string(log.path())?);
    done
}

fn build_and_test(root: &Path, mut arguments: Arguments) -> Result<Option<String>> {
    let python = arguments.python.clone().or_else(newest);
    let Some(python) = python else {
        let reason = "there is no Python of 3.11 or later with venv and pip";
        return Ok(Some(reason.to_owned()));
    };
    let found = version(&python).with_context(|| format!("{} is no Python", python.display()));
    let (major, minor) = found?;
    if (major, minor) < LEAST_PYTHON {
        return Ok(Some(format!(
            "Python {major}.{minor}: 3.11 or later is needed"
        )));
    }
    let told = tempfile::NamedTempFile::new()?;
    (arguments.root, arguments.told) = (root.to_owned(), told.path().to_owned());
    let options = serde_json::to_string(&arguments)?;
    crate::python::run(&python, root, "wheel.py", [options])?;
    crate::python::told(told.path())
}

/// The newest Python that is supported.
fn newest() -> Option<PathBuf> {
    let others = (11..=15).map(|minor| format!("python3.{minor}"));
    let names = ["python3", "python"].map(str::to_owned).into_iter();
    let found = names.chain(others).map(PathBuf::from);
    let found = found.filter_map(|name| Some((version(&name)?, name)));
    let newest = found.max_by_key(|(version, _)| *version);
    Some(newest.filter(|(version, _)| *version >= LEAST_PYTHON)?.1)
}

/// The version of a Python that can create environments.
fn version(python: &Path) -> Option<(u32, u32)> {
    let told = "import ensurepip, sys, venv; print(*sys.version_info[:2])";
    let output = Command::new(python).args(["-c", told]).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (major, minor) = text.trim().split_once(' ')?;
    let version = (major.parse().ok()?, minor.parse().ok()?);
    output.status.success().then_some(version)
}
