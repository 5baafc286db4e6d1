//! Runs the scripts in `xtask/python`.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scripts_own_tests_pass() {
        // Without Python nothing can be packed or built either.
        if Command::new(PYTHON).arg("--version").output().is_ok() {
            let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
            for tests in ["test_pack.py", "test_wheel.py"] {
                run(PYTHON, root, tests, [""; 0]).unwrap();
            }
        }
    }
}
