//! `sanitize`: tests the kernels, compiled for the host, under the address and undefined behaviour sanitizers.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::cargo::{cargo, words};

/// Runs the tests of the emulated device, or returns the reason why not.
pub(crate) fn run(root: &Path) -> Result<Option<String>> {
    let library = match library() {
        Ok(library) => library,
        Err(reason) => return Ok(Some(reason)),
    };
    // The sanitizer must be loaded first, by the tests and not by cargo.
    let runner = format!(
        "target.'cfg(unix)'.runner = ['env', 'LD_PRELOAD={}']",
        library.display()
    );
    let mut arguments = words(
        "test --package gpu-sim --package arc-check --lib --test engine --test programs --test conformance",
    );
    arguments.extend(["--config", &runner]);
    // This device is plain Rust, which the sanitizers do not instrument.
    arguments.extend(["--", "--skip", "interpreted"]);
    cargo(root, &arguments, &[("ARC_SANITIZE", "1")])?;
    Ok(None)
}

/// The path of GCC's address sanitizer library, or why there is none.
fn library() -> Result<PathBuf, String> {
    let compiler = std::env::var_os("CXX").unwrap_or_else(|| "c++".into());
    let output = Command::new(&compiler)
        .arg("-print-file-name=libasan.so")
        .output()
        .map_err(|_| format!("no C++ compiler {}", compiler.display()))?;
    let path = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    // GCC prints a bare name if it does not find the library.
    if path.is_absolute() && path.is_file() {
        Ok(path)
    } else {
        let compiler = compiler.display();
        Err(format!("{compiler} has no libasan.so, which GCC has"))
    }
}
