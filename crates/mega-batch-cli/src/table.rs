//! [`Table`]: the results of a batch as text.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use arc_dsl::Program;
use indicatif::HumanCount;
use mega_batch::{Activity, Backend, Backends, Batch, Stages, Summary, TaskState, escaped};

/// The most programs and tasks that a list in the table names.
const LISTED: usize = 5;

/// Prints the results of a batch: the counts, the slowest programs, and the failures.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Table<'a> {
    /// The batch.
    pub(crate) batch: &'a Batch<'a>,
    /// The results.
    pub(crate) summary: &'a Summary,
}

impl fmt::Display for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Summary {
            totals,
            mode,
            workers,
            backends,
            ..
        } = self.summary;
        let threads = if *workers == 1 { "worker" } else { "workers" };
        writeln!(
            f,
            "{mode}, {workers} {threads}, backend {}",
            backends.backend
        )?;
        if !self.summary.is_complete() {
            writeln!(f, "incomplete: stopped before all evaluations were made")?;
        }
        // Programs that were not evaluated are not known to be right or wrong.
        let of_made = |count: u64| {
            let made = if self.summary.is_complete() {
                ""
            } else {
                " evaluated"
            };
            of(count) + made
        };
        let tried = self
            .summary
            .by_task
            .iter()
            .filter(|&&state| state != TaskState::Untried);
        let planned = if self.summary.is_complete() {
            String::new()
        } else {
            of(self.summary.planned)
        };
        let mut row =
            |name: &str, value: String, of: &str| writeln!(f, "{name:<14}{value:>14}{of}");
        let seconds = |time: Duration| format!("{:.3}", time.as_secs_f64());
        row("tasks", thousands(self.summary.tasks as u64), "")?;
        row("programs", thousands(self.summary.programs as u64), "")?;
        row("evaluations", thousands(totals.evaluations), &planned)?;
        row("  right", thousands(totals.right), "")?;
        row("  wrong", thousands(totals.wrong), "")?;
        row("  errors", thousands(totals.errors), "")?;
        row("  limits", thousands(totals.limits), "")?;
        row("  no expected", thousands(totals.no_expected), "")?;
        if self.summary.skipped > 0 {
            row("  skipped", thousands(self.summary.skipped), "")?;
        }
        row("seconds", seconds(self.summary.elapsed), "")?;
        let compiling = seconds(backends.compile_time);
        row("  compiling", compiling, &on_all(*workers))?;
        let rate = self.summary.evaluations_per_second().round() as u64;
        row("evaluations/s", thousands(rate), "")?;
        let tried = of_made(tried.count() as u64);
        row("tasks solved", thousands(self.summary.tasks_solved), &tried)?;
        let expected = of_made(self.summary.pairs_expected);
        row(
            "pairs right",
            thousands(self.summary.pairs_right),
            &expected,
        )?;
        for (split, counts) in &self.summary.by_split {
            let name = format!("  {}", escaped(split));
            let expected = of_made(counts.pairs_expected);
            row(&name, thousands(counts.pairs_right), &expected)?;
        }
        write_backends(f, backends)?;
        self.write_slowest(f)?;
        self.write_unsolved(f)?;
        self.write_failures(f)
    }
}

fn of(count: u64) -> String {
    format!(" of {}", thousands(count))
}

/// What times are summed over.
fn on_all(workers: usize) -> String {
    if workers == 1 {
        String::new()
    } else {
        format!(" on {workers} workers together")
    }
}

fn write_backends(f: &mut fmt::Formatter<'_>, backends: &Backends) -> fmt::Result {
    if backends.python > 0 {
        writeln!(f, "in Python     {:>14}", thousands(backends.python))?;
    }
    if backends.backend == Backend::Reference {
        return Ok(());
    }
    if let Some(device) = &backends.device {
        let (made, name) = (thousands(device.evaluations), &device.name);
        writeln!(f, "on the device {made:>14} ({name})")?;
    }
    if let Some(reason) = &backends.no_device {
        writeln!(f, "on the device {:>14} ({reason})", 0)?;
    }
    writeln!(f, "compiled      {:>14}", thousands(backends.compiled))?;
    if backends.merged > 0 {
        writeln!(f, "merged        {:>14}", thousands(backends.merged))?;
    }
    writeln!(f, "by reference  {:>14}", thousands(backends.reference))?;
    if let Some(device) = &backends.device {
        for (name, activity) in &device.activities {
            write_activity(f, name, activity)?;
        }
        if device.launches_halved > 0 {
            let halved = thousands(device.launches_halved);
            writeln!(f, "\nlaunches halved {halved:>12}, out of device memory")?;
        }
        if let Some(failure) = &device.failure {
            writeln!(
                f,
                "\ndevice failed: {}; others made its evaluations",
                escaped(failure)
            )?;
        }
        write_reasons(f, "bail-outs of the device", &device.bail_outs, None)?;
        let programs = &device.programs_host_only;
        write_reasons(f, "programs not on the device", programs, None)?;
    }
    let times = Some(&backends.bail_out_times);
    write_reasons(f, "evaluations bailed out", &backends.bail_outs, times)?;
    write_reasons(
        f,
        "programs not compiled",
        &backends.programs_not_compiled,
        None,
    )
}

/// The activity of a device: how busy it was, and where the time of its batches went.
fn write_activity(f: &mut fmt::Formatter<'_>, name: &str, activity: &Activity) -> fmt::Result {
    let (batches, items) = (thousands(activity.batches), thousands(activity.items));
    writeln!(
        f,
        "\n{name}: {items} evaluations in {batches} batches, {activity}"
    )?;
    let Stages {
        prepare,
        upload,
        compute,
        download,
    } = activity.stages;
    for (stage, time) in [
        ("prepare", prepare),
        ("upload", upload),
        ("compute", compute),
        ("download", download),
        ("wait", activity.waited()),
        ("elapsed", activity.elapsed),
    ] {
        writeln!(f, "  {stage:<12}{:>14.3} s", time.as_secs_f64())?;
    }
    let mebibytes = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    let memory = activity.memory;
    writeln!(
        f,
        "  {:<12}{:>14.1} MiB in use, {:.1} reserved, {:.1} in use at most",
        "memory",
        mebibytes(memory.in_use),
        mebibytes(memory.reserved),
        mebibytes(memory.most)
    )
}

/// The most frequent reasons with their counts, and how long others took instead.
fn write_reasons(
    f: &mut fmt::Formatter<'_>,
    title: &str,
    reasons: &BTreeMap<String, u64>,
    times: Option<&BTreeMap<String, Duration>>,
) -> fmt::Result {
    if reasons.is_empty() {
        return Ok(());
    }
    let total = thousands(reasons.values().sum());
    writeln!(f, "\n{title:<24}{total:>14}")?;
    let mut reasons: Vec<(&String, &u64)> = reasons.iter().collect();
    reasons.sort_by_key(|&(_, &count)| Reverse(count));
    for (reason, count) in reasons.iter().take(LISTED) {
        write!(f, "{:>38}  {reason}", thousands(**count))?;
        match times.and_then(|times| times.get(*reason)) {
            Some(time) => writeln!(f, "  {:.3} s", time.as_secs_f64())?,
            None => writeln!(f)?,
        }
    }
    if reasons.len() > LISTED {
        writeln!(f, "{:>38} {}", "", and_more(reasons.len()))?;
    }
    Ok(())
}

/// The number with its digits in groups of three.
pub(crate) fn thousands(number: u64) -> String {
    HumanCount(number).to_string()
}

/// The number with at most this many decimals, without zeros at the end.
pub(crate) fn short(number: f64, decimals: usize) -> String {
    let text = format!("{number:.decimals$}");
    if !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

impl Table<'_> {
    fn write_slowest(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let slowest = self.summary.slowest(LISTED);
        if slowest.is_empty() {
            return Ok(());
        }
        writeln!(
            f,
            "\n{:<28}{:>10}{:>14}{:>12}",
            "slowest programs", "seconds", "evaluations", "ms each"
        )?;
        for program in slowest {
            let stats = &self.summary.by_program[program];
            let seconds = stats.time.as_secs_f64();
            writeln!(
                f,
                "  {:<26}{seconds:>10.3}{:>14}{:>12.3}",
                program_label(&self.batch.programs()[program], self.batch.programs()),
                thousands(stats.evaluations),
                seconds * 1e3 / stats.evaluations as f64,
            )?;
        }
        Ok(())
    }

    fn write_unsolved(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let states = self.summary.by_task.iter().zip(self.batch.tasks());
        let unsolved: Vec<_> = states
            .filter(|&(&state, _)| state == TaskState::Unsolved)
            .map(|(_, task)| escaped(&task.id))
            .collect();
        if unsolved.is_empty() {
            return Ok(());
        }
        let listed = unsolved[..unsolved.len().min(LISTED)].join(", ");
        writeln!(f, "\nnot solved: {listed}{}", and_more(unsolved.len()))
    }

    fn write_failures(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let failing = self.summary.failing_programs();
        if failing == 0 {
            return Ok(());
        }
        writeln!(
            f,
            "\nprograms that failed on some pair: {}",
            thousands(failing as u64)
        )?;
        for (job, pair, outcome) in self.summary.failures.iter().take(LISTED) {
            let (job, pair) = (*job, *pair);
            let stats = &self.summary.by_program[job.program as usize];
            writeln!(
                f,
                "  {} on {} {}: {}: {} ({} of {} evaluations)",
                program_label(self.batch.program(job), self.batch.programs()),
                escaped(&self.batch.task(job).id),
                escaped(&self.batch.task(job).pair_name(pair)),
                outcome.name(),
                escaped(&outcome.error().unwrap_or_default()),
                thousands(stats.failures),
                thousands(stats.evaluations),
            )?;
        }
        if failing > LISTED {
            writeln!(f, " {}", and_more(failing))
        } else {
            Ok(())
        }
    }
}

/// The program's name in messages and tables: with its source in brackets if another program has the same name.
pub(crate) fn program_label(program: &Program, among: &[Program]) -> String {
    let name = escaped(program.name());
    let of_that_name = among.iter().filter(|other| other.name() == program.name());
    match program.source() {
        Some(source) if of_that_name.take(2).count() > 1 => {
            format!("{name} ({})", escaped(source))
        }
        _ => name.into_owned(),
    }
}

fn and_more(count: usize) -> String {
    match count.checked_sub(LISTED) {
        None | Some(0) => String::new(),
        Some(more) => format!(" and {} more", thousands(more as u64)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_stand_in_groups_of_three() {
        let numbers = [0, 999, 1000, 1_234_567, 100_000];
        assert_eq!(
            numbers.map(thousands),
            ["0", "999", "1,000", "1,234,567", "100,000"]
        );
    }

    #[test]
    fn programs_of_one_name_are_told_apart_by_their_files() {
        let program = |name: &str, file: &str| {
            let builder = arc_dsl::ProgramBuilder::new(name);
            let input = builder.input();
            builder.finish(input).unwrap().with_source(file)
        };
        let programs = [
            program("solve_a", "x.py"),
            program("solve_b", "x.py"),
            program("solve_a", "y\n.py"),
        ];
        let labels = programs.each_ref().map(|one| program_label(one, &programs));
        assert_eq!(labels, ["solve_a (x.py)", "solve_b", "solve_a (y\\n.py)"]);
    }

    #[test]
    fn lists_say_how_many_they_leave_out() {
        assert_eq!(
            [0, LISTED, LISTED + 1, 2000].map(and_more),
            ["", "", " and 1 more", " and 1,995 more"]
        );
    }
}
