//! Assembles the PTX for GPUs of each generation.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

/// GPUs of each generation: P100, T4, A100, L4, H100, and the 50 series.
const ARCHITECTURES: [u32; 6] = [60, 75, 80, 89, 90, 120];

/// Assembles for all architectures by the assembler of an unpacked wheel, and prints what it says of registers, spills
/// and memory. Returns its warnings.
pub(crate) fn warnings(wheel: &Path, image: &Path) -> Result<Vec<String>> {
    let ptxas = wheel.join("nvidia/cuda_nvcc/bin/ptxas");
    let folder = tempfile::tempdir()?;
    let mut warnings = Vec::new();
    for architecture in ARCHITECTURES.map(|number| format!("sm_{number}")) {
        // Without -Werror, so that the caller lists all warnings.
        let output = Command::new(&ptxas)
            .args(["-v", "--warn-on-spills", "--warn-on-local-memory-usage"])
            .arg(format!("-arch={architecture}"))
            .arg(image)
            .arg("-o")
            .arg(folder.path().join("image.cubin"))
            .output()
            .with_context(|| format!("{} cannot be run", ptxas.display()))?;
        let log = [output.stdout, output.stderr].concat();
        let log = String::from_utf8_lossy(&log);
        ensure!(
            output.status.success(),
            "the PTX does not assemble for {architecture}:\n{}",
            log.trim()
        );
        println!("{architecture}\n{}", log.trim());
        warnings.extend(warnings_in(&architecture, &log));
    }
    Ok(warnings)
}

/// The warnings in the output of ptxas.
fn warnings_in(architecture: &str, log: &str) -> Vec<String> {
    let lines = log.lines().filter(|line| line.starts_with("ptxas warning"));
    let told = |line: &str| {
        let (_, told) = line.split_once(" : ").unwrap_or(("", line));
        format!("{architecture}: {told}")
    };
    lines.map(told).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The output of ptxas 12.9 for a kernel with spills and one that calls a function.
    const LOG: &str = "\
ptxas warning : Local memory used for function 'arc_b', size of stack frame: 592 bytes
ptxas warning : Registers are spilled to local memory in function 'arc_b', 736 bytes spill stores, 884 bytes spill loads
ptxas info    : 304 bytes gmem, 8 bytes cmem[3], 304 bytes cmem[4]
ptxas info    : Compiling entry function 'arc_b' for 'sm_60'
ptxas info    : Function properties for arc_b
    592 bytes stack frame, 736 bytes spill stores, 884 bytes spill loads
ptxas info    : Used 32 registers, used 1 barriers, 592 bytes cumulative stack size, 328 bytes cmem[0]
ptxas info    : Compile time = 38.025 ms
ptxas info    : Compiling entry function 'arc_a' for 'sm_60'
ptxas info    : Function properties for arc_a
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 13 registers, used 0 barriers, 1024 bytes smem, 328 bytes cmem[0]
ptxas info    : Function properties for _Z6helperjj
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
";

    #[test]
    fn a_warning_names_its_architecture() {
        let warnings = warnings_in("sm_60", LOG);
        assert_eq!(warnings.len(), 2);
        assert!(
            warnings[0].starts_with("sm_60: Local memory used for function 'arc_b'"),
            "{warnings:?}"
        );
    }
}
