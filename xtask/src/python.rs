//! Runs the scripts in `xtask/python`.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

/// The Python of all scripts but those that need a certain one.
pub(crate) const PYTHON: &str = "python3";

/// Runs a script by this Python; it prints why it fails.
pub(crate) fn run<S: AsRef<OsStr>>(
    python: impl AsRef<OsStr>,
    root: &Path,
    script: &str,
    arguments: impl IntoIterator<Item = S>,
) -> Result<()> {
    let path = root.join("xtask/python").join(script);
    let mut command = Command::new(&python);
    let status = command.arg("-B").arg(path).args(arguments).status();
    let status = status.with_context(|| format!("{script}: Python cannot be run"))?;
    ensure!(status.success(), "{script} failed ({status})");
    Ok(())
}

/// Whether there is one.
pub(crate) fn is_there() -> bool {
    let version = Command::new(PYTHON).arg("--version").output();
    version.is_ok_and(|version| version.status.success())
}

/// What a script has written to this file: why it has done nothing, if so.
pub(crate) fn told(file: &Path) -> Result<Option<String>> {
    let reason = std::fs::read_to_string(file)?;
    Ok(Some(reason).filter(|reason| !reason.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCRIPTS: [&str; 4] = [
        "test_pack.py",
        "test_ptx.py",
        "test_walkthrough.py",
        "test_wheel.py",
    ];

    #[test]
    fn the_scripts_own_tests_pass() {
        // Without Python none of them can be run.
        if is_there() {
            let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
            for tests in SCRIPTS {
                run(PYTHON, root, tests, [""; 0]).unwrap();
            }
        }
    }
}
