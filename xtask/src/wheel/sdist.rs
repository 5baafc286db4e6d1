//! The source distribution, which pip builds if there is no wheel for a system.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use super::{CRATE, only, run_command};

/// The licences; maturin packs only the crates.
const BESIDE: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];

/// Builds it into a folder; returns its path.
pub(super) fn build(root: &Path, python: &Path, out: &Path) -> Result<PathBuf> {
    let work = out.join("sdist");
    if work.exists() {
        fs::remove_dir_all(&work)
            .with_context(|| format!("{} cannot be emptied", work.display()))?;
    }
    let maturin = ["-m", "maturin", "sdist", "--out"];
    let mut command = Command::new(python);
    command.args(maturin).arg(&work);
    run_command(command.current_dir(root.join(CRATE)))?;
    let is_packed = |path: &Path| path.extension() == Some(OsStr::new("gz"));
    let packed = only(&work, is_packed)?;
    // Python's own module, which every system has.
    let tar = ["-m", "tarfile"];
    run_command(
        Command::new(python)
            .args(tar)
            .arg("-e")
            .arg(&packed)
            .arg(&work),
    )?;
    let folder = only(&work, Path::is_dir)?;
    for file in files(root)? {
        let to = folder.join(&file);
        if let Some(parent) = to.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::copy(root.join(&file), &to)
            .with_context(|| format!("{} cannot be copied", file.display()))?;
    }
    // The lock file of the whole project names crates that are not here; Cargo removes those and changes nothing
    // else.
    let metadata = |lock: &[&str]| {
        let mut command = crate::cargo::command();
        command.args(["metadata", "--format-version", "1", "--quiet"]);
        command.args(lock).stdout(std::process::Stdio::null());
        run_command(command.current_dir(folder.join(CRATE)))
    };
    metadata(&[])?;
    metadata(&["--locked"])?;
    let name = packed.file_name().context("the archive has no name")?;
    let archive = out.join(name);
    let inside = folder.file_name().context("the folder has no name")?;
    let pack = Command::new(python)
        .args(tar)
        .arg("-c")
        .arg(&archive)
        .arg(inside)
        .current_dir(&work)
        .status();
    ensure!(
        pack.context("tarfile cannot be run")?.success(),
        "{} cannot be written",
        archive.display()
    );
    fs::remove_dir_all(&work)?;
    Ok(archive)
}

/// The files to add, by Git.
fn files(root: &Path) -> Result<Vec<PathBuf>> {
    let mut git = Command::new("git");
    let output = git.args(["ls-files", "-z"]).args(BESIDE).current_dir(root);
    let output = output.output().context("git cannot be run")?;
    ensure!(output.status.success(), "`git ls-files` failed");
    let told = String::from_utf8(output.stdout)?;
    let files: Vec<_> = told.split_terminator('\0').map(PathBuf::from).collect();
    ensure!(!files.is_empty(), "git knows no terms here");
    Ok(files)
}
