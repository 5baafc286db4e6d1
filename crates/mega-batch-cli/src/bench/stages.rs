//! [`STAGES`]: the stages of a benchmark, each run in a process of its own.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::Context as _;

use super::clock::Clock;
use super::environment::Environment;
use super::plan::BenchMode;
use super::sheet::{Context, Sheet};
use super::workload::{Given, OF_GUIDES, Workload, singles};
use super::{gpu, matrix, tensors};

/// A part of the benchmark, which may fail without the others.
pub(crate) struct Stage {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// Its share of the time, relative to the other stages.
    pub(crate) share: f64,
    /// The seconds that it gets if its share is less, up to half of the time left.
    least: f64,
    pub(crate) run: fn(&Context<'_>, &mut Sheet) -> anyhow::Result<()>,
}

/// The stages, in their order. In the first one a driver compiles the kernels, which takes 17 s with an H200 however
/// long the benchmark may take; the others find them in the driver's cache.
#[rustfmt::skip]
pub(crate) const STAGES: &[Stage] = &[
    Stage { name: "start", title: "From the start of a process to an open GPU", share: 2.0, least: 60.0, run: gpu::start },
    Stage { name: "self-check", title: "Self-check", share: 2.5, least: 0.0, run: gpu::self_check },
    Stage { name: "programs", title: "Given programs", share: 7.0, least: 0.0, run: programs },
    Stage { name: "modes", title: "Modes by kind and size", share: 8.0, least: 0.0, run: modes },
    Stage { name: "operations", title: "Single operations and pipelines", share: 4.0, least: 0.0, run: operations },
    Stage { name: "memory", title: "Out of memory", share: 0.5, least: 0.0, run: gpu::memory },
    Stage { name: "contexts", title: "Several contexts on one GPU", share: 1.0, least: 0.0, run: gpu::contexts },
    Stage { name: "tensors", title: "The same pipelines on tensors", share: 1.5, least: 0.0, run: tensors::stage },
];

impl Stage {
    /// Whether a benchmark of this machine has it.
    pub(crate) fn is_for(&self, environment: &Environment, given: &Given) -> bool {
        match self.name {
            "modes" => true,
            "programs" if !given.programs.is_empty() => true,
            _ => !environment.gpus().is_empty(),
        }
    }

    /// The time for this stage, given the time left and the total share of the stages left, including this one.
    pub(crate) fn time(&self, left: Duration, shares: f64) -> Duration {
        let least = Duration::from_secs_f64(self.least).min(left / 2);
        left.mul_f64(self.share / shares).max(least)
    }
}

/// This program with the same arguments, as a command that runs a stage whose part is in this file.
pub(crate) fn command(stage: &str, file: &Path, seconds: f64) -> anyhow::Result<Command> {
    let program = std::env::current_exe().context("the name of this program is not known")?;
    let mut command = Command::new(program);
    command
        .args(std::env::args_os().skip(1))
        .args([
            "--stage",
            stage,
            "--seconds",
            &seconds.to_string(),
            "--part",
        ])
        .arg(file);
    Ok(command)
}

/// The given programs by mode and size, on the pairs of their tasks and on all.
fn programs(stage: &Context<'_>, sheet: &mut Sheet) -> anyhow::Result<()> {
    if stage.given.programs.is_empty() {
        let why = "no programs were given: --programs FILE --tasks DIR";
        sheet.part.skipped = Some(why.to_owned());
        return Ok(());
    }
    let kinds = [
        Workload::Given(stage.given),
        Workload::Crossing(stage.given),
    ];
    matrix::measure(stage, sheet, &kinds, BenchMode::RUNNERS)
}

/// The engine by mode, kind and size, on built-in programs.
fn modes(stage: &Context<'_>, sheet: &mut Sheet) -> anyhow::Result<()> {
    matrix::measure(stage, sheet, &OF_GUIDES, BenchMode::RUNNERS)
}

/// Single operations and fused pipelines, to the kernel.
fn operations(stage: &Context<'_>, sheet: &mut Sheet) -> anyhow::Result<()> {
    // A small copy where the CPU makes it.
    let bytes = if stage.plan.is_fake { 1 << 16 } else { 1 << 30 };
    for (name, rate) in Clock::open()?.copies(bytes)? {
        sheet.say(format_args!("{name:<24}{:>12.1} GB/s", rate / 1e9));
        sheet.figure(name, rate, "bytes a second");
    }
    let kinds: Vec<Workload<'_>> = (0..singles().count()).map(Workload::Single).collect();
    let modes = [
        BenchMode::Sequential,
        BenchMode::Parallel,
        BenchMode::Gpu,
        BenchMode::Kernel,
    ];
    matrix::measure(stage, sheet, &kinds, &modes)
}

#[cfg(test)]
mod tests {
    use super::super::environment::tests::environment;
    use super::*;

    #[test]
    fn stages_have_names_of_their_own() {
        let mut names: Vec<&str> = STAGES.iter().map(|stage| stage.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), STAGES.len());
        let here = |gpus| {
            let (environment, given) = (environment(2, gpus), Given::default());
            let here = |stage: &&Stage| stage.is_for(&environment, &given);
            STAGES.iter().filter(here).count()
        };
        assert_eq!((here(0), here(1)), (1, STAGES.len()));
    }

    #[test]
    fn a_short_benchmark_leaves_the_driver_time_to_compile() {
        let all: f64 = STAGES.iter().map(|stage| stage.share).sum();
        let time = |stage: &Stage, left| stage.time(Duration::from_secs(left), all);
        let [first, others @ ..] = STAGES else {
            panic!("there are stages");
        };
        assert_eq!(time(first, 90), Duration::from_secs(45));
        let share = Duration::from_secs(1_500).mul_f64(first.share / all);
        assert_eq!(time(first, 1_500), share);
        for other in others {
            let share = Duration::from_secs(90).mul_f64(other.share / all);
            assert_eq!(time(other, 90), share);
        }
    }

    #[test]
    fn the_page_has_every_stage_with_its_share() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/performance.md");
        let page = std::fs::read_to_string(page).unwrap();
        let all: f64 = STAGES.iter().map(|stage| stage.share).sum();
        for Stage { name, share, .. } in STAGES {
            let mut lines = page.lines();
            let begin = format!("| `{name}` | ");
            let line = lines.find(|line| line.starts_with(&begin)).unwrap();
            let end = format!(" | {:.0}% |", share / all * 100.0);
            assert!(line.ends_with(&end), "{line}{end}");
        }
    }
}
