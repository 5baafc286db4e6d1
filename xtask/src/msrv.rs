//! The oldest Rust that builds the project, `rust-version` in Cargo.toml: no dependency may require a newer one, and
//! if a toolchain of that version is installed, it must compile all crates (except tests).
//!
//! Clippy checks that no newer item of the standard library is used (`incompatible_msrv`), with any toolchain.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

/// Checks it; returns what was skipped, with the reason.
pub(crate) fn check(root: &Path) -> Result<Option<String>> {
    let metadata = metadata(root)?;
    let ours = workspace_version(&metadata)?;
    let newer = newer(&metadata, &ours);
    ensure!(
        newer.is_empty(),
        "Cargo.toml says rust-version {ours}, but these crates ask for a newer Rust: {}",
        newer.join(", ")
    );
    let installed = Command::new("rustup").args(["toolchain", "list"]).output();
    let installed = installed.map_or_else(
        |_| String::new(),
        |output| String::from_utf8_lossy(&output.stdout).into_owned(),
    );
    let Some(toolchain) = toolchain(&installed, &ours) else {
        return Ok(Some(format!("no toolchain of Rust {ours} is installed")));
    };
    let arguments = ["check", "--workspace"];
    eprintln!("$ rustup run {toolchain} cargo {}", arguments.join(" "));
    let status = Command::new("rustup")
        .args(["run", &toolchain, "cargo"])
        .args(arguments)
        .arg("--target-dir")
        .arg(root.join("target/msrv"))
        .current_dir(root)
        .env_remove("CARGO")
        .env_remove("RUSTC")
        .status()
        .context("`rustup run` cannot be run")?;
    ensure!(
        status.success(),
        "Rust {ours}, which Cargo.toml names, does not compile the project ({status})"
    );
    Ok(None)
}

/// The output of `cargo metadata` for the project and all its dependencies on this platform.
fn metadata(root: &Path) -> Result<Value> {
    let host = crate::cargo::host()?;
    crate::cargo::metadata(root, &["--filter-platform", &host])
}

/// The version that all crates of the project share.
fn workspace_version(metadata: &Value) -> Result<String> {
    let members = metadata["workspace_members"]
        .as_array()
        .context("`cargo metadata` names no members")?;
    let mut ours: Option<&str> = None;
    for package in packages(metadata).filter(|package| members.contains(&package["id"])) {
        let name = &package["name"];
        let version = package["rust_version"].as_str();
        let version = version.with_context(|| {
            format!("{name} has no rust-version: expected `rust-version.workspace = true`")
        })?;
        ensure!(
            *ours.get_or_insert(version) == version,
            "{name} has another rust-version than other crates: expected `rust-version.workspace = true`"
        );
    }
    Ok(ours.context("`cargo metadata` names no crates")?.to_owned())
}

/// The crates that require a newer Rust than this.
fn newer(metadata: &Value, ours: &str) -> Vec<String> {
    let asks = packages(metadata).filter_map(|package| {
        let version = package["rust_version"].as_str()?;
        let name = package["name"].as_str()?;
        (numbers(version) > numbers(ours)).then(|| format!("{name} {version}"))
    });
    asks.collect()
}

fn packages(metadata: &Value) -> impl Iterator<Item = &Value> {
    metadata["packages"].as_array().into_iter().flatten()
}

/// `1.89` as `[1, 89, 0]`.
fn numbers(version: &str) -> [u32; 3] {
    let mut numbers = [0; 3];
    for (number, text) in numbers.iter_mut().zip(version.split('.')) {
        *number = text.parse().unwrap_or(0);
    }
    numbers
}

/// The toolchain of a version in the output of `rustup toolchain list`, named like `1.89` or `1.89.0`.
fn toolchain(installed: &str, version: &str) -> Option<String> {
    let mut names = installed
        .lines()
        .filter_map(|line| line.split_whitespace().next());
    let is_wanted = |name: &&str| {
        let named = name.split('-').next().unwrap_or(name);
        named.starts_with(|first: char| first.is_ascii_digit())
            && numbers(named)[..2] == numbers(version)[..2]
    };
    names.find(is_wanted).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(versions: [Option<&str>; 3]) -> Value {
        let package = |(name, version): (&str, Option<&str>)| json!({"id": name, "name": name, "rust_version": version});
        let packages: Vec<_> = ["ours", "ours-too", "theirs"]
            .into_iter()
            .zip(versions)
            .map(package)
            .collect();
        json!({"workspace_members": ["ours", "ours-too"], "packages": packages})
    }

    #[test]
    fn all_crates_of_the_project_have_one_version() {
        let version = |ours, too| workspace_version(&of([ours, too, Some("1.99")]));
        assert_eq!(version(Some("1.89"), Some("1.89")).unwrap(), "1.89");
        assert!(version(Some("1.89"), Some("1.90")).is_err());
        assert!(version(Some("1.89"), None).is_err());
    }

    #[test]
    fn crates_that_ask_for_a_newer_rust_are_named() {
        let newer = |theirs| newer(&of([Some("1.89"), Some("1.89"), theirs]), "1.89");
        assert_eq!(newer(Some("1.90")), ["theirs 1.90"]);
        for theirs in [None, Some("1.89.0"), Some("1.9"), Some("1.85")] {
            assert!(newer(theirs).is_empty(), "{theirs:?}");
        }
    }

    #[test]
    fn the_toolchain_is_found_by_its_version() {
        let installed = "stable-x86_64-unknown-linux-gnu (active, default)\n1.95.0-x86_64-unknown-linux-gnu\n1.89.0-x86_64-unknown-linux-gnu\n";
        let wanted = "1.89.0-x86_64-unknown-linux-gnu".to_owned();
        assert_eq!(toolchain(installed, "1.89"), Some(wanted));
        assert_eq!(toolchain(installed, "1.8"), None);
        assert_eq!(toolchain("", "1.89"), None);
    }

    #[test]
    fn the_project_is_built_with_nothing_newer() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let metadata = metadata(root).unwrap();
        let ours = workspace_version(&metadata).unwrap();
        assert!(newer(&metadata, &ours).is_empty());
    }
}
