//! The commands that are calls of cargo: `test`, `ci`, `bench`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;
use walkdir::WalkDir;
use xxhash_rust::xxh3::Xxh3;

/// The folder of ARC tasks that some tests read.
const DATA: &str = "ARC_DATA_DIR";

/// All tests, documentation tests included; those that read ARC's tasks where these are.
pub(crate) fn test(root: &Path) -> Result<()> {
    let data = std::env::var_os(DATA).is_some_and(|directory| !directory.is_empty());
    if data {
        // Tests that are ignored by default are those that read the data. They come first, so that
        // the summary of the others stands last. What arc-check ignores is devices that are not
        // here; what `browser::` does, that there is no browser; `prove::`, no stand-in for the driver.
        let arguments = [
            "test",
            "--workspace",
            "--exclude",
            "arc-check",
            "--exclude",
            "mega-batch-py",
            "--tests",
            "--",
            "--ignored",
            "--skip",
            "browser::",
            "--skip",
            "prove::",
        ];
        cargo(root, &arguments, &[])?;
    }
    // The Python package has no tests of Rust; `cargo xtask wheel --check` tests it.
    cargo(
        root,
        &["test", "--workspace", "--exclude", "mega-batch-py"],
        &[],
    )?;
    if !data {
        println!("tests that read every ARC task: skipped: {DATA} is not set");
    }
    if !has_cpp_compiler() {
        println!("tests on the emulated device: skipped: there is no C++ compiler");
    }
    Ok(())
}

/// Whether there is what the kernels are compiled with for the host.
pub(crate) fn has_cpp_compiler() -> bool {
    let compiler = std::env::var_os("CXX").unwrap_or_else(|| "c++".into());
    let output = Command::new(compiler).arg("--version").output();
    output.is_ok_and(|output| output.status.success())
}

/// What has to hold before a change lands.
pub(crate) fn ci(root: &Path, all: bool) -> Result<()> {
    cargo(root, &["fmt", "--all", "--check"], &[])?;
    let clippy = [
        "clippy",
        "--workspace",
        "--all-targets",
        "--",
        "--deny",
        "warnings",
    ];
    cargo(root, &clippy, &[])?;
    let doc = [
        "doc",
        "--workspace",
        "--no-deps",
        "--document-private-items",
    ];
    cargo(root, &doc, &[("RUSTDOCFLAGS", "--deny warnings")])?;
    let was_asked = deny(root)?;
    let oldest = crate::msrv::check(root)?;
    crate::docs::run(root, true)?;
    let kernels = check_kernels(root, all)?;
    test(root)?;
    crate::walkthrough::run(root)?;
    if !was_asked {
        println!("licences, sources and versions of crates: skipped: cargo-deny is not installed");
    }
    if let Some(reason) = oldest {
        println!("the oldest Rust that is supported: not compiled by it: {reason}");
    }
    if let Some(reason) = crate::kaggle::check_where_possible(root)? {
        println!("the notebook for Kaggle: skipped: {reason}");
    }
    if let Some(reason) = crate::wheel::check_where_possible(root)? {
        println!("the Python package: skipped: {reason}");
    }
    println!("{kernels}");
    Ok(())
}

/// The digest of the kernels that were checked last.
const CHECKED: &str = "kernels/checked.txt";

/// Checks what the kernels' PTX executes; and the kernels against their PTX and under the sanitizers, which takes
/// longer than all else together, where they are no longer those that were checked last, or all is to be checked.
/// What there is to say of it at the end.
fn check_kernels(root: &Path, all: bool) -> Result<String> {
    crate::ptx::count::run(root, true, None)?;
    let digest = kernels_digest(root)?;
    let path = root.join(CHECKED);
    let checked = std::fs::read_to_string(&path).unwrap_or_default();
    if !all && checked.trim() == digest {
        return Ok(format!(
            "kernels against their PTX, sanitizers: skipped: as checked last ({CHECKED}); --all checks them"
        ));
    }
    if let Some(reason) = crate::ptx::check_where_possible(root)? {
        return Ok(format!("kernels against their PTX: skipped: {reason}"));
    }
    if let Some(reason) = crate::sanitize::run(root)? {
        return Ok(format!("kernels under the sanitizers: skipped: {reason}"));
    }
    std::fs::write(&path, format!("{digest}\n")).with_context(|| CHECKED.to_owned())?;
    Ok(format!("the kernels were checked: {CHECKED} is written"))
}

fn kernels_digest(root: &Path) -> Result<String> {
    let mut hasher = Xxh3::new();
    for entry in WalkDir::new(root.join("kernels")).sort_by_file_name() {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type().is_file() && !path.ends_with(CHECKED) {
            let name = path.strip_prefix(root)?.to_string_lossy();
            hasher.update(name.as_bytes());
            hasher.update(&std::fs::read(path)?);
        }
    }
    Ok(format!("{:032x}", hasher.digest128()))
}

/// Checks what everything is built with by deny.toml; false where there is no cargo-deny.
fn deny(root: &Path) -> Result<bool> {
    let version = Command::new("cargo-deny").arg("--version").output();
    if !version.is_ok_and(|version| version.status.success()) {
        return Ok(false);
    }
    cargo(root, &["deny", "check", "licenses", "sources", "bans"], &[])?;
    Ok(true)
}

/// Builds the binary as users have it, and hands over to it.
pub(crate) fn bench(root: &Path, arguments: &[String]) -> Result<()> {
    let mut all = vec![
        "run",
        "--release",
        "--package",
        "mega-batch-cli",
        "--",
        "bench",
    ];
    let commit = commit(root);
    if let Some(commit) = &commit {
        all.extend(["--commit", commit]);
    }
    all.extend(arguments.iter().map(String::as_str));
    cargo(root, &all, &[])
}

/// Builds a binary with these arguments of `cargo build` and more variables; where it lies.
pub(crate) fn binary(
    root: &Path,
    arguments: &[&str],
    variables: &[(&str, &str)],
    name: &str,
) -> Result<PathBuf> {
    let shown = format!("cargo build {}", arguments.join(" "));
    eprintln!("$ {shown}");
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(program)
        .arg("build")
        .args(arguments)
        .arg("--message-format=json-render-diagnostics")
        .current_dir(root)
        .envs(variables.iter().copied())
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("`{shown}` cannot be run"))?;
    let status = output.status;
    ensure!(status.success(), "`{shown}` failed ({status})");
    let messages = String::from_utf8_lossy(&output.stdout);
    // A line for each thing that was built or was there.
    let mut built = messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let binary = built.find_map(|message| {
        let is_wanted = message["target"]["name"] == name;
        message["executable"]
            .as_str()
            .filter(|_| is_wanted)
            .map(PathBuf::from)
    });
    binary.with_context(|| format!("`{shown}` has built no binary {name}"))
}

/// The target for which the compiler builds where none is named.
pub(crate) fn host() -> Result<String> {
    let program = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(program).arg("-vV").output();
    let output = output.context("`rustc -vV` cannot be run")?;
    let told = String::from_utf8_lossy(&output.stdout);
    let host = told.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("`rustc -vV` names no host")?.to_owned())
}

/// The commit checked out, with a mark where files differ from it; nothing outside a checkout.
fn commit(root: &Path) -> Option<String> {
    let git = Command::new("git")
        .args([
            "describe",
            "--always",
            "--abbrev=12",
            "--dirty",
            "--exclude=*",
        ])
        .current_dir(root)
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    let commit = String::from_utf8(git.stdout).ok()?;
    Some(commit.trim().to_owned())
}

/// Runs cargo with these arguments and more variables.
pub(crate) fn cargo(root: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Result<()> {
    let shown = format!("cargo {}", arguments.join(" "));
    eprintln!("$ {shown}");
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command
        .args(arguments)
        .current_dir(root)
        .envs(variables.iter().copied());
    let status = command
        .status()
        .with_context(|| format!("`{shown}` cannot be run"))?;
    match status.code() {
        Some(code) => ensure!(code == 0, "`{shown}` failed ({code})"),
        None => bail!("`{shown}` was stopped by a signal"),
    }
    Ok(())
}
