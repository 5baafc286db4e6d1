//! [`Table`]: the results of a search as text.

use std::fmt;

use arc_tasks::Task;
use mega_batch::escaped;
use mega_batch::search::SearchSummary;

use crate::table::thousands;

/// How many slow tasks are listed.
const SLOWEST: usize = 5;

/// Prints the results of a search.
#[derive(Debug, Clone, Copy)]
pub(super) struct Table<'a> {
    pub(super) tasks: &'a [Task],
    pub(super) summary: &'a SearchSummary,
    /// The most answers to each test pair.
    pub(super) attempts: usize,
}

impl fmt::Display for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SearchSummary {
            tasks,
            workers,
            totals,
            ..
        } = self.summary;
        if *tasks == 0 {
            return writeln!(f, "nothing to search: no tasks");
        }
        let threads = if *workers == 1 { "worker" } else { "workers" };
        writeln!(f, "{workers} {threads}")?;
        if !self.summary.is_complete() {
            writeln!(f, "incomplete: stopped before all tasks were searched")?;
        }
        let count = |number: usize| thousands(number as u64);
        let mut row = |name: &str, value: String| writeln!(f, "{name:<30}{value:>14}");
        row("tasks", count(*tasks))?;
        if !self.summary.is_complete() {
            row("  finished", count(totals.tasks))?;
        }
        row("  right on all train pairs", count(totals.fitting))?;
        row("  right on some train pairs", count(totals.partly_fitting))?;
        row("  without an attempt", count(totals.without_attempt))?;
        for (name, number) in [
            ("  not searched", totals.failed),
            ("  ended by time", totals.interrupted),
        ] {
            if number > 0 {
                row(name, count(number))?;
            }
        }
        let attempts = totals.chains + totals.stacks + totals.partly;
        row("attempts", count(attempts))?;
        row("  chains", count(totals.chains))?;
        row("  stacks", count(totals.stacks))?;
        row("  right on some train pairs", count(totals.partly))?;
        row("nodes", thousands(totals.nodes))?;
        row("calls", thousands(totals.calls))?;
        let rate = self.summary.calls_per_second().round() as u64;
        row("calls/s of a worker", thousands(rate))?;
        let seconds = self.summary.elapsed.as_secs_f64();
        row("seconds", format!("{seconds:.1}"))?;
        let bytes = |bytes: u64| format!("{} MB", thousands(bytes >> 20));
        row("most values of a task", bytes(self.summary.most_bytes))?;
        if let Some(peak) = peak_memory() {
            row("peak memory", bytes(peak))?;
        }
        if totals.tests_known > 0 {
            row("test outputs known", count(totals.tests_known))?;
            row("  sizes predicted right", count(totals.sizes_right))?;
            let right = totals.tests_right.iter().zip(1..=self.attempts);
            for (right, within) in right {
                let name = match within {
                    1 => "  right by 1 attempt".to_owned(),
                    _ => format!("  right within {within} attempts"),
                };
                row(&name, count(*right))?;
            }
            row("tasks solved", count(totals.solved))?;
        }
        writeln!(f, "\nslowest tasks")?;
        for (at, time) in self.summary.slowest(SLOWEST) {
            let id = escaped(&self.tasks[at].id);
            writeln!(f, "  {id:<28}{:>12.2} s", time.as_secs_f64())?;
        }
        Ok(())
    }
}

/// The peak memory of the process, if the system tells.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes << 10)
}
