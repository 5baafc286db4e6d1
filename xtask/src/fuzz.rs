//! `cargo xtask fuzz`: libFuzzer on the targets of the crate in `fuzz/`, with the stable compiler.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use clap::Args;

use crate::cargo;

/// The instrumentation for libFuzzer: which edges are taken, and which values are compared.
const FLAGS: &str = "-Cpasses=sancov-module \
     -Cllvm-args=-sanitizer-coverage-level=4 \
     -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
     -Cllvm-args=-sanitizer-coverage-pc-table \
     -Cllvm-args=-sanitizer-coverage-trace-compares \
     --cfg fuzzing";

/// The limits for one input: memory in MiB, and seconds.
const MEMORY: u32 = 2048;
const SECONDS: u32 = 20;

/// The folder of binaries and found inputs, below the root.
const WORK: &str = "target/fuzz";

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The total time, divided among the targets, without building them.
    #[arg(long, value_name = "N", default_value_t = 60)]
    seconds: u64,
    /// The targets; all by default.
    #[arg(value_name = "TARGET")]
    targets: Vec<String>,
}

/// Builds the targets, and runs each for its share of the time.
pub(crate) fn run(root: &Path, arguments: &Arguments) -> Result<()> {
    ensure!(
        cargo::has_cpp_compiler(),
        "libFuzzer is written in C++, and there is no C++ compiler: expected `c++`, or another one that the \
         variable CXX names"
    );
    let targets = chosen(&targets(root)?, &arguments.targets)?;
    let share = Duration::from_secs(arguments.seconds) / targets.len() as u32;
    ensure!(
        share >= Duration::from_secs(1),
        "--seconds: expected a second at least for each of {} targets, found {}",
        targets.len(),
        arguments.seconds
    );
    let fuzzer = Fuzzer {
        root,
        binary: build(root)?,
    };
    let mut fallen = Vec::new();
    for target in targets {
        if !fuzzer.run(&target, share)? {
            fallen.push(target);
        }
    }
    ensure!(
        fallen.is_empty(),
        "fallen, each by an input in {WORK}/faults/: {}",
        fallen.join(", ")
    );
    Ok(())
}

/// All targets: each has a folder of inputs.
fn targets(root: &Path) -> Result<Vec<String>> {
    let folder = root.join("fuzz/corpus");
    let entries = fs::read_dir(&folder).with_context(|| folder.display().to_string())?;
    let mut names = Vec::new();
    for entry in entries {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

/// The requested targets.
fn chosen(known: &[String], asked: &[String]) -> Result<Vec<String>> {
    if let Some(unknown) = asked.iter().find(|name| !known.contains(name)) {
        bail!(
            "no target `{unknown}`: expected some of {}",
            known.join(", ")
        );
    }
    let is_chosen = |name: &&String| asked.is_empty() || asked.contains(name);
    Ok(known.iter().filter(is_chosen).cloned().collect())
}

/// Builds the binary of all targets into a separate folder, so that no other build is invalidated.
fn build(root: &Path) -> Result<PathBuf> {
    // With an explicit target, the flags do not apply to build scripts and macros.
    let host = cargo::host()?;
    let line = format!(
        "--package mega-batch-fuzz --features libfuzzer --bin libfuzzer --profile {} --target {host} \
         --target-dir {WORK}",
        cargo::CHECKED
    );
    let arguments = cargo::words(&line);
    cargo::binary(root, &arguments, &[("RUSTFLAGS", FLAGS)], "libfuzzer")
}

struct Fuzzer<'a> {
    root: &'a Path,
    binary: PathBuf,
}

impl Fuzzer<'_> {
    /// Whether the target has stood all inputs that libFuzzer, which tells of them, has tried in this time.
    fn run(&self, target: &str, time: Duration) -> Result<bool> {
        println!("{target}");
        let work = self.root.join(WORK);
        let found = work.join("corpus").join(target);
        let faults = work.join("faults").join(target);
        for folder in [&found, &faults] {
            fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        }
        let kept =
            ["corpus", "regressions"].map(|kept| self.root.join("fuzz").join(kept).join(target));
        // New inputs are written to the first folder.
        let status = Command::new(&self.binary)
            .env("FUZZ_TARGET", target)
            .arg(format!("-max_total_time={}", time.as_secs()))
            .arg(format!("-rss_limit_mb={MEMORY}"))
            .arg(format!("-timeout={SECONDS}"))
            .arg(format!("-artifact_prefix={}/", faults.display()))
            .arg("-print_final_stats=1")
            .arg(found)
            .args(kept.iter().filter(|folder| folder.exists()))
            .status()
            .with_context(|| format!("`{}` cannot be run", self.binary.display()))?;
        Ok(status.success())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_chosen_by_name_and_one_that_is_none_is_told() {
        let known = ["batt", "ptx"].map(str::to_owned);
        let chosen = |asked: &[&str]| {
            let asked: Vec<_> = asked.iter().map(|&name| name.to_owned()).collect();
            chosen(&known, &asked)
        };
        assert_eq!(chosen(&[]).unwrap(), ["batt", "ptx"]);
        assert_eq!(chosen(&["ptx"]).unwrap(), ["ptx"]);
        let error = chosen(&["ptx", "px"]).unwrap_err().to_string();
        assert_eq!(error, "no target `px`: expected some of batt, ptx");
    }

    #[test]
    fn there_are_targets() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        assert!(targets(&root).unwrap().contains(&"evaluators".to_owned()));
    }
}
