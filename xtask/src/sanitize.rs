//! `sanitize`: the kernels, compiled for the host, under the sanitizers of addresses and of
//! undefined behaviour.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

/// Runs the tests of the emulated device, or gives the reason why not.
pub(crate) fn run(root: &Path) -> Result<Option<String>> {
    let library = match library() {
        Ok(library) => library,
        Err(reason) => return Ok(Some(reason)),
    };
    // The sanitizer has to be loaded before all else, by the tests and not by cargo.
    let runner = format!(
        "target.'cfg(unix)'.runner = ['env', 'LD_PRELOAD={}']",
        library.display()
    );
    let arguments = [
        "test",
        "--package",
        "gpu-sim",
        "--package",
        "arc-check",
        "--lib",
        "--test",
        "engine",
        "--test",
        "programs",
        "--test",
        "conformance",
        "--config",
        &runner,
        // This device is plain Rust, of which the sanitizers know nothing.
        "--",
        "--skip",
        "interpreted",
    ];
    crate::cargo::cargo(root, &arguments, &[("ARC_SANITIZE", "1")])?;
    Ok(None)
}

/// The address sanitizer's library, as GCC has it; or why there is none.
fn library() -> Result<PathBuf, String> {
    let compiler = std::env::var_os("CXX").unwrap_or_else(|| "c++".into());
    let output = Command::new(&compiler)
        .arg("-print-file-name=libasan.so")
        .output()
        .map_err(|_| format!("no C++ compiler {}", compiler.display()))?;
    let path = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    // What is not found comes back without a folder.
    if path.is_absolute() && path.is_file() {
        Ok(path)
    } else {
        let compiler = compiler.display();
        Err(format!("{compiler} has no libasan.so, which GCC has"))
    }
}
