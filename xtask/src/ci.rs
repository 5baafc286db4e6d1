//! `ci`: the checks that a change must pass before it lands.

use std::ffi::OsStr;
use std::panic::resume_unwind;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use std::{fmt, thread};

use anyhow::{Context as _, Result};
use walkdir::WalkDir;
use xxhash_rust::xxh3::Xxh3;

use crate::cargo::{CHECKED, cargo, test, tests, words};
use crate::python::{self, PYTHON};

/// Runs all checks. The tests run late, so that their summary is near the end.
pub(crate) fn run(root: &Path, all: bool) -> Result<()> {
    let mut stages = Stages::default();
    let clippy = format!("clippy --profile {CHECKED} --workspace --all-targets -- --deny warnings");
    // All targets have simulated devices, since the tests do; the users' build has none. The release build shows that
    // this compiles; here everything would be compiled again.
    let clippy_without = format!(
        "clippy --profile {CHECKED} --package mega-batch-cli --package mega-batch-py -- --deny warnings"
    );
    let doc = format!("doc --profile {CHECKED} --workspace --no-deps --document-private-items");
    let is_done = |()| None;
    stages.run("format", || {
        cargo(root, &["fmt", "--all", "--check"], &[]).map(is_done)
    })?;
    stages.run("lints", || {
        cargo(root, &words(&clippy), &[])?;
        if all {
            cargo(root, &words(&clippy_without), &[])?;
        }
        Ok(None)
    })?;
    stages.run("documentation", || {
        cargo(root, &words(&doc), &[("RUSTDOCFLAGS", "--deny warnings")]).map(is_done)
    })?;
    stages.run("circles of files", || {
        crate::circles::run(root).map(is_done)
    })?;
    stages.run("lines of production code", || {
        crate::lines::run(root, false).map(is_done)
    })?;
    stages.run("licences, sources and versions of crates", || deny(root))?;
    stages.run("the oldest Rust that is supported", || {
        crate::msrv::check(root)
    })?;
    stages.run("generated files and links", || {
        crate::docs::run(root, true).map(is_done)
    })?;
    stages.run("kernels", || check_kernels(root, all))?;
    stages.run("compilation of the tests", || {
        let line = format!("{} --no-run", tests());
        cargo(root, &words(&line), &[]).map(is_done)
    })?;
    // It has another build of the command than the tests, in the same place: cargo puts theirs there again.
    let is_built = stages.run("the Python package", || crate::wheel::build(root))?;
    thread::scope(|scope| {
        // Tests leave cores idle where they wait.
        let checked = is_built.then(|| scope.spawn(|| crate::wheel::check(root)));
        stages.run("tests", || test(root).map(is_done))?;
        stages.run(
            "tests of the Python package, beside those",
            || match checked {
                Some(checked) => checked.join().unwrap_or_else(|panic| resume_unwind(panic)),
                None => Ok(Some("it was not built".to_owned())),
            },
        )
    })?;
    stages.run("packages of the crates", || package(root, all).map(is_done))?;
    stages.run("walkthrough", || {
        let reason = match (all, python::is_there()) {
            (true, true) => {
                return python::run(PYTHON, root, "walkthrough.py", [root]).map(is_done);
            }
            (true, false) => "there is no Python 3",
            _ => "--all follows the pages; the tests check that each block has its place",
        };
        Ok(Some(reason.to_owned()))
    })?;
    stages.run("the notebook for Kaggle", || {
        if all {
            return crate::kaggle::check(root, None);
        }
        Ok(Some("--all runs it, minutes of searching".to_owned()))
    })?;
    print!("{stages}");
    Ok(())
}

/// The finished stages of `ci`: the name, the duration, and why it was skipped if it was.
#[derive(Default)]
struct Stages(Vec<(&'static str, Duration, Option<String>)>);

impl Stages {
    /// Runs a stage, which returns the reason if it was skipped; returns whether it was not.
    fn run(
        &mut self,
        name: &'static str,
        stage: impl FnOnce() -> Result<Option<String>>,
    ) -> Result<bool> {
        let began = Instant::now();
        let skipped = stage().with_context(|| name.to_owned())?;
        let is_done = skipped.is_none();
        self.0.push((name, began.elapsed(), skipped));
        Ok(is_done)
    }
}

impl fmt::Display for Stages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, took, skipped) in &self.0 {
            write!(f, "{:>5.0} s  {name}", took.as_secs_f64())?;
            match skipped {
                Some(reason) => writeln!(f, ": skipped: {reason}")?,
                None => writeln!(f)?,
            }
        }
        Ok(())
    }
}

/// The digest of the kernels that were last checked.
const CHECKED_KERNELS: &str = "kernels/checked.txt";

/// Checks the instruction counts of the kernels' PTX. If the kernels have changed since the last check, or with
/// `all`, also checks them against their PTX and under the sanitizers, which takes longer than everything else
/// together. Returns why part of it was skipped, if it was.
fn check_kernels(root: &Path, all: bool) -> Result<Option<String>> {
    crate::ptx::count::run(root, true, None)?;
    let digest = kernels_digest(root)?;
    let path = root.join(CHECKED_KERNELS);
    let checked = std::fs::read_to_string(&path).unwrap_or_default();
    if !all && checked.trim() == digest {
        return Ok(Some(format!(
            "PTX and sanitizers: as checked last ({CHECKED_KERNELS}); --all checks them"
        )));
    }
    if let Some(reason) = crate::ptx::check_where_possible(root)? {
        return Ok(Some(format!("PTX and sanitizers: {reason}")));
    }
    if let Some(reason) = crate::sanitize::run(root)? {
        return Ok(Some(format!("sanitizers: {reason}")));
    }
    std::fs::write(&path, format!("{digest}\n")).with_context(|| CHECKED_KERNELS.to_owned())?;
    println!("the kernels were checked: {CHECKED_KERNELS} is written");
    Ok(None)
}

/// The digest of the sources and the PTX.
fn kernels_digest(root: &Path) -> Result<String> {
    let mut hasher = Xxh3::new();
    for entry in WalkDir::new(root.join(crate::ptx::KERNELS)).sort_by_file_name() {
        let entry = entry?;
        let path = entry.path();
        // The digest itself, and what makes the folder a crate, are no part of the kernels.
        let end = path.extension().and_then(OsStr::to_str);
        if entry.file_type().is_file() && !matches!(end, Some("rs" | "toml" | "txt")) {
            let name = path.strip_prefix(root)?.to_string_lossy();
            hasher.update(name.as_bytes());
            hasher.update(&std::fs::read(path)?);
        }
    }
    Ok(format!("{:032x}", hasher.digest128()))
}

/// Packages every crate; with `all` each is also compiled from its package, which shows that it needs no file outside
/// of its folder.
fn package(root: &Path, all: bool) -> Result<()> {
    let mut arguments = words("package --workspace --offline --allow-dirty --quiet");
    if !all {
        arguments.push("--no-verify");
    }
    cargo(root, &arguments, &[])
}

/// Checks all dependencies by deny.toml, if cargo-deny is installed.
fn deny(root: &Path) -> Result<Option<String>> {
    let version = Command::new("cargo-deny").arg("--version").output();
    if !version.is_ok_and(|version| version.status.success()) {
        return Ok(Some("cargo-deny is not installed".to_owned()));
    }
    cargo(root, &["deny", "check", "licenses", "sources", "bans"], &[])?;
    Ok(None)
}
