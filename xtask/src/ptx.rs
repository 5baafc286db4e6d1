//! `ptx`: compiles the kernels to PTX, which is committed and embedded, so that a build needs only Rust.
//!
//! One PTX for compute capability 6.0 serves every newer GPU: the driver compiles it when it loads it. The compiler
//! is pinned, since a newer one writes a newer version of PTX, which older drivers reject, and since only the same
//! compiler produces the same bytes.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};

use crate::cargo::{cargo, words};

pub(crate) mod count;
mod nvrtc;
mod ptxas;
mod switches;
mod wheels;

use nvrtc::Nvrtc;

/// The folder of the kernels, against which their includes are resolved.
pub(crate) const KERNELS: &str = "kernels";

/// The source that includes all others.
const SOURCE: &str = "kernels/programs.cu";

/// The compiled PTX.
const IMAGE: &str = "kernels/ptx/programs.ptx";

/// The oldest supported GPUs. CUDA 13 no longer compiles for them.
const ARCHITECTURE: &str = "compute_60";

/// The language standard of the kernels.
const STANDARD: &str = "c++17";

/// Arguments of `ptx`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Writes nothing; fails if the file is out of date or assembles with spills or local memory.
    #[arg(long)]
    check: bool,
    /// Compiles with this nvcc of CUDA 12 instead of the pinned compiler, which pip fetches.
    #[arg(long, value_name = "PATH", conflicts_with = "check")]
    nvcc: Option<PathBuf>,
    /// Counts the instructions that the embedded PTX executes, and writes benches/results/instructions.json; with
    /// `--check` fails if that is out of date.
    #[arg(long)]
    count: bool,
    /// With `--count`, also shows the counts of the programs of this file.
    #[arg(long, value_name = "FILE", requires_all = ["count", "tasks"])]
    programs: Option<PathBuf>,
    /// The folder of the tasks of these programs.
    #[arg(long, value_name = "DIR", requires = "programs")]
    tasks: Option<PathBuf>,
    /// Changes single instructions of the embedded PTX, chosen by a seed, and lists the changes that the conformance
    /// suite does not detect.
    #[arg(long, num_args = 2, value_names = ["SEED", "COUNT"], conflicts_with_all = ["count", "check", "nvcc"])]
    mutate: Option<Vec<u64>>,
}

/// Builds the PTX, or checks the committed one.
pub(crate) fn run(root: &Path, arguments: &Arguments) -> Result<()> {
    if let Some(numbers) = &arguments.mutate {
        return mutate(root, numbers);
    }
    if arguments.count {
        let others = arguments
            .programs
            .as_deref()
            .zip(arguments.tasks.as_deref());
        return count::run(root, arguments.check, others);
    }
    if arguments.check {
        let (nvrtc, nvcc) = tools(root)?;
        return check(root, &nvrtc, &nvcc);
    }
    let image = match &arguments.nvcc {
        Some(nvcc) => nvcc_compile(root, nvcc)?,
        None => compile(root, &wheels::NVRTC.fetch(root)?)?,
    };
    let path = root.join(IMAGE);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    let changed = committed(root) != image;
    std::fs::write(&path, &image).with_context(|| path.display().to_string())?;
    let state = if changed { "written" } else { "unchanged" };
    println!("{IMAGE}: {state}, {} bytes", image.len());
    Ok(())
}

/// Mutants take minutes, even with optimisations.
fn mutate(root: &Path, numbers: &[u64]) -> Result<()> {
    let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
    let mut arguments = words("run --release --package arc-check --example mutants --");
    arguments.extend(numbers.iter().map(String::as_str));
    cargo(root, &arguments, &[])
}

/// Checks if the tools are available; otherwise returns why they are not.
pub(crate) fn check_where_possible(root: &Path) -> Result<Option<String>> {
    match tools(root) {
        Ok((nvrtc, nvcc)) => check(root, &nvrtc, &nvcc).map(|()| None),
        Err(error) => Ok(Some(format!("{error:#}"))),
    }
}

/// The folders of the unpacked compiler and assembler.
fn tools(root: &Path) -> Result<(PathBuf, PathBuf)> {
    Ok((wheels::NVRTC.fetch(root)?, wheels::NVCC.fetch(root)?))
}

/// Fails if the committed PTX is not what its sources give, or does not assemble for some GPU without warnings.
fn check(root: &Path, nvrtc: &Path, nvcc: &Path) -> Result<()> {
    let image = compile(root, nvrtc)?;
    if let Some(difference) = difference(&committed(root), &image) {
        bail!("{IMAGE} is out of date ({difference}): run `cargo xtask ptx`");
    }
    let warnings = ptxas::warnings(nvcc, &root.join(IMAGE))?;
    ensure!(
        warnings.is_empty(),
        "{IMAGE} assembles, but\n  {}",
        warnings.join("\n  ")
    );
    Ok(())
}

/// The committed PTX; empty if there is none.
fn committed(root: &Path) -> String {
    std::fs::read_to_string(root.join(IMAGE))
        .unwrap_or_default()
        .replace("\r\n", "\n")
}

/// The PTX of the pinned compiler, unpacked in `folder`.
fn compile(root: &Path, folder: &Path) -> Result<String> {
    let source = root.join(SOURCE);
    let text = std::fs::read_to_string(&source).with_context(|| source.display().to_string())?;
    // The compiler reads the headers itself. Names relative to the root do not depend on this machine.
    std::env::set_current_dir(root).with_context(|| root.display().to_string())?;
    let image = Nvrtc::open(folder)?.compile(SOURCE, &text, &options())?;
    switches::tabulate(&image)
}

/// The options that NVRTC and nvcc have in common.
fn options() -> [String; 3] {
    [
        format!("--gpu-architecture={ARCHITECTURE}"),
        format!("--std={STANDARD}"),
        format!("--include-path={KERNELS}"),
    ]
}

/// The PTX of the user's own nvcc.
fn nvcc_compile(root: &Path, nvcc: &Path) -> Result<String> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("programs.ptx");
    let output = Command::new(nvcc)
        .args(["--ptx", "--Werror=all-warnings"])
        .args(options())
        .arg(SOURCE)
        .arg("--output-file")
        .arg(&path)
        .current_dir(root)
        .output()
        .with_context(|| format!("{} cannot be run", nvcc.display()))?;
    let log = [output.stdout, output.stderr].concat();
    let log = String::from_utf8_lossy(&log);
    ensure!(
        output.status.success(),
        "{} failed ({}):\n{log}",
        nvcc.display(),
        output.status
    );
    let image = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    switches::tabulate(&image)
}

/// The first difference of two texts; `None` if they are equal.
fn difference(found: &str, expected: &str) -> Option<String> {
    if found == expected {
        return None;
    }
    if found.is_empty() {
        return Some("there is none".to_owned());
    }
    let (mut ours, mut theirs) = (found.lines(), expected.lines());
    let mut line = 1;
    loop {
        match (ours.next(), theirs.next()) {
            (Some(a), Some(b)) if a == b => line += 1,
            (None, None) => return Some("its last line has another end".to_owned()),
            (a, b) => {
                let shown = |text: Option<&str>| text.map_or("the end", str::trim).to_owned();
                return Some(format!(
                    "line {line}: `{}`, expected `{}`",
                    shown(a),
                    shown(b)
                ));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_names_its_first_line() {
        assert_eq!(difference("a\nb\n", "a\nb\n"), None);
        let shown = |found, expected| difference(found, expected).unwrap();
        assert_eq!(shown("", "a\n"), "there is none");
        assert_eq!(shown("a\n\tb\n", "a\n\tc\n"), "line 2: `b`, expected `c`");
        assert_eq!(shown("a\n", "a\nb\n"), "line 2: `the end`, expected `b`");
        assert_eq!(shown("a", "a\n"), "its last line has another end");
    }
}
