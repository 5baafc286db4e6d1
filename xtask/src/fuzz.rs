//! `cargo xtask fuzz`: libFuzzer on the targets of the crate in `fuzz/`, with the stable compiler.

use std::fmt::{self, Write as _};
use std::fs::{self, File};
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

/// Builds the targets, runs each for its share of the time, and prints the results.
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
    let mut runs = Vec::new();
    for target in &targets {
        let run = fuzzer.run(target, share)?;
        println!("{run}");
        runs.push(run);
    }
    println!("\n{}", table(&runs));
    let faults: Vec<_> = runs.iter().filter_map(|run| run.fault.as_ref()).collect();
    let mut list = String::new();
    for fault in &faults {
        write!(list, "\n  {}", fault.display())?;
    }
    ensure!(
        faults.is_empty(),
        "{} of {} targets fell, each by an input that is kept:{list}",
        faults.len(),
        runs.len()
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

/// The result of a target.
#[derive(Debug, Default, PartialEq, Eq)]
struct TargetResult {
    target: String,
    executions: u64,
    per_second: u64,
    /// The number of edges that were taken.
    coverage: u64,
    /// The number of inputs that together take them.
    corpus: u64,
    /// The failing input.
    fault: Option<PathBuf>,
}

impl Fuzzer<'_> {
    fn run(&self, target: &str, time: Duration) -> Result<TargetResult> {
        let work = self.root.join(WORK);
        let found = work.join("corpus").join(target);
        let faults = work.join("faults").join(target);
        for folder in [&found, &faults] {
            fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        }
        let kept =
            ["corpus", "regressions"].map(|kept| self.root.join("fuzz").join(kept).join(target));
        let log = work.join(format!("{target}.log"));
        let output = File::create(&log).with_context(|| log.display().to_string())?;
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
            .stderr(output)
            .status()
            .with_context(|| format!("`{}` cannot be run", self.binary.display()))?;
        let output = fs::read(&log).with_context(|| log.display().to_string())?;
        let run = TargetResult::parse(target, &String::from_utf8_lossy(&output));
        ensure!(
            status.success() || run.fault.is_some(),
            "{target}: libFuzzer failed ({status}), see {}",
            log.display()
        );
        Ok(run)
    }
}

impl TargetResult {
    /// The result in libFuzzer's output.
    fn parse(target: &str, log: &str) -> Self {
        let behind = |mark: &str| {
            let found = log.rsplit_once(mark).map(|(_, behind)| behind.trim_start());
            let digits = found.map(|text| text.split(|c: char| !c.is_ascii_digit()).next());
            digits
                .flatten()
                .and_then(|digits| digits.parse().ok())
                .unwrap_or(0)
        };
        let fault = log
            .lines()
            .find_map(|line| line.split_once("Test unit written to "));
        TargetResult {
            target: target.to_owned(),
            executions: behind("stat::number_of_executed_units:"),
            per_second: behind("stat::average_exec_per_sec:"),
            coverage: behind(" cov: "),
            corpus: behind(" corp: "),
            fault: fault.map(|(_, path)| PathBuf::from(path.trim())),
        }
    }
}

/// A row of the table.
impl fmt::Display for TargetResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TargetResult {
            target,
            executions,
            per_second,
            coverage,
            corpus,
            fault,
        } = self;
        let faults = u8::from(fault.is_some());
        write!(
            f,
            "| {target:<14} | {executions:>10} | {per_second:>12} | {coverage:>8} | {corpus:>6} | {faults:>6} |"
        )
    }
}

/// The results of all targets as a table for a page.
fn table(runs: &[TargetResult]) -> String {
    let mut table = "| target         | executions | executions/s | coverage | corpus | faults |\n\
                     |---|---|---|---|---|---|"
        .to_owned();
    for run in runs {
        let _ = write!(table, "\n{run}");
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "INFO: Seed: 7
#2\tINITED cov: 10 ft: 11 corp: 1/1b exec/s: 0 rss: 30Mb
#9\tNEW    cov: 12 ft: 19 corp: 3/14b lim: 4 exec/s: 0 rss: 31Mb
";

    #[test]
    fn what_libfuzzer_says_last_is_a_row() {
        let log = format!(
            "{LOG}Done 99 runs in 1 second(s)\nstat::number_of_executed_units: 99\nstat::average_exec_per_sec:     49\n"
        );
        let run = TargetResult::parse("task", &log);
        let expected = TargetResult {
            target: "task".to_owned(),
            executions: 99,
            per_second: 49,
            coverage: 12,
            corpus: 3,
            fault: None,
        };
        assert_eq!(run, expected);
        let table = table(&[run]);
        let cells: Vec<_> = table
            .lines()
            .last()
            .unwrap_or_default()
            .split('|')
            .map(str::trim)
            .collect();
        assert_eq!(cells, ["", "task", "99", "49", "12", "3", "0", ""]);
    }

    #[test]
    fn the_input_that_made_a_target_fall_is_told() {
        let log = format!(
            "{LOG}==1== ERROR: libFuzzer: deadly signal\nartifact_prefix='/a b/'; Test unit written to /a b/crash-1\n"
        );
        let run = TargetResult::parse("task", &log);
        assert_eq!(run.fault, Some(PathBuf::from("/a b/crash-1")));
        assert!(run.to_string().ends_with(" 1 |"), "{run}");
    }

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
