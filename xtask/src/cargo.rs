//! The commands that run cargo: `test`, `bench`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

/// The profile of all tested builds, and of `cargo xtask` itself.
pub(crate) const CHECKED: &str = "checked";

/// The folder of ARC tasks that some tests read.
const DATA: &str = "ARC_DATA_DIR";

/// All tests, including documentation tests; those that read ARC's tasks only if these are available.
pub(crate) fn test(root: &Path) -> Result<()> {
    let data = std::env::var_os(DATA).is_some_and(|directory| !directory.is_empty());
    if data {
        // The tests that are ignored by default are those that read the data. They run first, so that the summary of
        // the others comes last. The skipped names are ignored for other reasons: in arc-check, devices that are
        // unavailable; `browser::`, a missing browser; `gpu_bench::`, a missing fake driver.
        let line = format!(
            "test --profile {CHECKED} --workspace --exclude arc-check --exclude mega-batch-py --tests \
             -- --ignored --skip browser:: --skip gpu_bench::"
        );
        cargo(root, &words(&line), &[])?;
    }
    cargo(root, &words(&tests()), &[])?;
    if !data {
        println!("tests that read every ARC task: skipped: {DATA} is not set");
    }
    if !has_cpp_compiler() {
        println!("tests on the emulated device: skipped: there is no C++ compiler");
    }
    Ok(())
}

/// The arguments of cargo for all tests. The Python package has no Rust tests; `cargo xtask wheel --check` tests it.
pub(crate) fn tests() -> String {
    format!("test --profile {CHECKED} --workspace --exclude mega-batch-py")
}

/// Whether there is a compiler that can build the kernels for the host.
pub(crate) fn has_cpp_compiler() -> bool {
    let compiler = std::env::var_os("CXX").unwrap_or_else(|| "c++".into());
    let output = Command::new(compiler).arg("--version").output();
    output.is_ok_and(|output| output.status.success())
}

/// Builds the binary, by default in the users' profile, and runs it.
pub(crate) fn bench(root: &Path, profile: &str, arguments: &[String]) -> Result<()> {
    let line = format!("run --profile {profile} --package mega-batch-cli -- bench");
    let mut all = words(&line);
    all.extend(arguments.iter().map(String::as_str));
    cargo(root, &all, &[])
}

/// Builds a binary with these arguments of `cargo build` and additional environment variables; returns its path.
pub(crate) fn binary(
    root: &Path,
    arguments: &[&str],
    variables: &[(&str, &str)],
    name: &str,
) -> Result<PathBuf> {
    let shown = format!("cargo build {}", arguments.join(" "));
    eprintln!("$ {shown}");
    let output = command()
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
    // One line for each artifact, built or already up to date.
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

/// The compiler's default target.
pub(crate) fn host() -> Result<String> {
    let program = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(program).arg("-vV").output();
    let output = output.context("`rustc -vV` cannot be run")?;
    let told = String::from_utf8_lossy(&output.stdout);
    let host = told.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("`rustc -vV` names no host")?.to_owned())
}

/// The output of `cargo metadata` for the project, with these arguments.
pub(crate) fn metadata(root: &Path, arguments: &[&str]) -> Result<Value> {
    let output = command()
        .args(["metadata", "--format-version=1"])
        .args(arguments)
        .current_dir(root)
        .stderr(Stdio::inherit())
        .output()
        .context("`cargo metadata` cannot be run")?;
    let status = output.status;
    ensure!(status.success(), "`cargo metadata` failed ({status})");
    serde_json::from_slice(&output.stdout).context("`cargo metadata` gave no JSON")
}

/// Cargo, the one that runs this command if one does.
pub(crate) fn command() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// The arguments of a command line, none of which contains blanks.
pub(crate) fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// Runs cargo with these arguments and additional environment variables.
pub(crate) fn cargo(root: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Result<()> {
    let shown = format!("cargo {}", arguments.join(" "));
    eprintln!("$ {shown}");
    let status = command()
        .args(arguments)
        .current_dir(root)
        .envs(variables.iter().copied())
        .status()
        .with_context(|| format!("`{shown}` cannot be run"))?;
    match status.code() {
        Some(code) => ensure!(code == 0, "`{shown}` failed ({code})"),
        None => bail!("`{shown}` was stopped by a signal"),
    }
    Ok(())
}
