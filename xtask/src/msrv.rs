//! The oldest Rust that builds the project, `rust-version` in Cargo.toml: no dependency may require a newer one, and
//! if a toolchain of that version is installed, it must compile all crates (except tests).
//!
//! Clippy checks that no newer item of the standard library is used (`incompatible_msrv`), with any toolchain.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

/// That version, which all crates of the project share.
const OURS: &str = env!("CARGO_PKG_RUST_VERSION");

/// Checks it; returns what was skipped, with the reason.
pub(crate) fn check(root: &Path) -> Result<Option<String>> {
    let unfit = unfit(&metadata(root)?, OURS);
    ensure!(
        unfit.is_empty(),
        "Cargo.toml says rust-version {OURS}: {}",
        unfit.join(", ")
    );
    let rustup = |program| {
        let mut rustup = Command::new("rustup");
        rustup.args(["run", OURS, program]);
        rustup
    };
    let installed = rustup("rustc").arg("--version").output();
    if !installed.is_ok_and(|output| output.status.success()) {
        return Ok(Some(format!("no toolchain of Rust {OURS} is installed")));
    }
    eprintln!("$ rustup run {OURS} cargo check --workspace");
    let status = rustup("cargo")
        .args(["check", "--workspace"])
        .arg("--target-dir")
        .arg(root.join("target/msrv"))
        .current_dir(root)
        .env_remove("CARGO")
        .env_remove("RUSTC")
        .status()
        .context("`rustup run` cannot be run")?;
    ensure!(
        status.success(),
        "Rust {OURS}, which Cargo.toml names, does not compile the project ({status})"
    );
    Ok(None)
}

/// The output of `cargo metadata` for the project and all its dependencies on this platform.
fn metadata(root: &Path) -> Result<Value> {
    let host = crate::cargo::host()?;
    crate::cargo::metadata(root, &["--filter-platform", &host])
}

/// The crates that ask for a newer Rust than ours, and those of the project that do not say ours.
fn unfit(metadata: &Value, ours: &str) -> Vec<String> {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let unfit = packages.filter_map(|package| {
        let name = package["name"].as_str()?;
        let version = package["rust_version"].as_str();
        // Those of the project come from no registry.
        if package["source"].is_null() {
            return (version != Some(ours)).then(|| {
                format!("{name} has not this one: expected `rust-version.workspace = true`")
            });
        }
        let newer = version.filter(|version| numbers(version) > numbers(ours))?;
        Some(format!("{name} asks for the newer Rust {newer}"))
    });
    unfit.collect()
}

/// `1.89` as `[1, 89, 0]`.
fn numbers(version: &str) -> [u32; 3] {
    let mut numbers = [0; 3];
    for (number, text) in numbers.iter_mut().zip(version.split('.')) {
        *number = text.parse().unwrap_or(0);
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Of two crates of ours and one of others.
    fn unfit_of(versions: [Option<&str>; 3]) -> Vec<String> {
        let sources = [None, None, Some("registry")];
        let names = ["ours", "ours-too", "theirs"];
        let packages = names.into_iter().zip(sources).zip(versions);
        let packages = packages.map(|((name, source), version)| json!({"name": name, "source": source, "rust_version": version}));
        unfit(&json!({"packages": packages.collect::<Vec<_>>()}), "1.89")
    }

    #[test]
    fn all_crates_of_the_project_have_one_version() {
        assert!(unfit_of([Some("1.89"); 3]).is_empty());
        let expected = "ours-too has not this one: expected `rust-version.workspace = true`";
        for other in [Some("1.90"), Some("1.88"), None] {
            assert_eq!(unfit_of([Some("1.89"), other, None]), [expected]);
        }
    }

    #[test]
    fn crates_that_ask_for_a_newer_rust_are_named() {
        let unfit = |theirs| unfit_of([Some("1.89"), Some("1.89"), theirs]);
        assert_eq!(unfit(Some("1.90")), ["theirs asks for the newer Rust 1.90"]);
        for theirs in [None, Some("1.89.0"), Some("1.9"), Some("1.85")] {
            assert!(unfit(theirs).is_empty(), "{theirs:?}");
        }
    }

    #[test]
    fn the_project_is_built_with_nothing_newer() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        assert_eq!(unfit(&metadata(root).unwrap(), OURS), [""; 0]);
    }
}
