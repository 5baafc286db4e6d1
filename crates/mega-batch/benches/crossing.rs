//! All programs on all pairs of all tasks, on one thread and on all, alternating with another build of the binary.
//!
//! `cargo bench --package mega-batch --bench crossing -- PROGRAMS TASKS [--against BINARY] [--rounds N]`
//!
//! PROGRAMS is a file of programs, TASKS a folder of tasks as JSON, BINARY a `mega-batch`. Prints the seconds of each
//! round, reading the files included, and their ratio; the processor time by evaluator, and by the reason for which
//! the machine passed evaluations on; and the programs that take longest.

mod arguments;

use std::error::Error;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use arc_text::Reading;
use mega_batch::inputs::{read_programs, read_tasks};
use mega_batch::{Batch, EvaluatedBy, Mode, Options, Report, Runner};

use arguments::arguments;

/// How many programs are listed.
const LISTED: usize = 10;

struct Arguments {
    programs: PathBuf,
    tasks: PathBuf,
    against: Option<PathBuf>,
    rounds: usize,
}

impl Arguments {
    fn parse() -> Result<Self, Box<dyn Error>> {
        let (mut paths, mut against, mut rounds) = (Vec::new(), None, 3);
        let mut arguments = arguments();
        while let Some(argument) = arguments.next() {
            let mut value = || {
                arguments
                    .next()
                    .ok_or(format!("{argument}: expected a value"))
            };
            match &*argument {
                "--against" => against = Some(PathBuf::from(value()?)),
                "--rounds" => rounds = value()?.parse()?,
                _ => paths.push(PathBuf::from(&argument)),
            }
        }
        let [programs, tasks] = paths
            .try_into()
            .map_err(|_| "expected PROGRAMS TASKS [--against BINARY] [--rounds N]")?;
        Ok(Self {
            programs,
            tasks,
            against,
            rounds,
        })
    }

    /// Runs the crossing here; also returns the programs' names.
    fn run(&self, mode: Mode) -> Result<(f64, Report, Vec<String>), Box<dyn Error>> {
        let began = Instant::now();
        let tasks = read_tasks(std::slice::from_ref(&self.tasks), &[]);
        let programs = [self.programs.clone()];
        let programs = read_programs(&programs, &Reading::default());
        let mut options = Options::default();
        options.mode = mode;
        let batch = Batch::all_pairs(&programs.programs, &tasks.tasks);
        let report = Runner::new(&options)?.run(&batch)?;
        let seconds = began.elapsed().as_secs_f64();
        let names = programs.programs.iter().map(|it| it.name().to_owned());
        Ok((seconds, report, names.collect()))
    }

    /// Has the other binary run it.
    fn run_other(&self, binary: &PathBuf, mode: &str) -> Result<f64, Box<dyn Error>> {
        let began = Instant::now();
        let status = Command::new(binary)
            .args(["run", "--all-pairs", "--mode", mode, "--programs"])
            .arg(&self.programs)
            .arg("--tasks")
            .arg(&self.tasks)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()?;
        // 1 says that there was bad input, which both pass over.
        match status.code() {
            Some(0 | 1) => Ok(began.elapsed().as_secs_f64()),
            _ => Err(format!("{}: {status}", binary.display()).into()),
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse()?;
    for (mode, name) in [
        (Mode::Sequential, "sequential"),
        (Mode::Parallel, "parallel"),
    ] {
        let (mut own, mut others) = (Vec::new(), Vec::new());
        for round in 0..arguments.rounds {
            let (seconds, report, names) = arguments.run(mode)?;
            own.push(seconds);
            if let Some(binary) = &arguments.against {
                others.push(arguments.run_other(binary, name)?);
            }
            if round + 1 == arguments.rounds && mode == Mode::Sequential {
                tell(&report, &names);
            }
        }
        println!("{name}: {own:.2?} s");
        if !others.is_empty() {
            let ratio = median(&mut others) / median(&mut own);
            println!("{name}, the other binary: {others:.2?} s, {ratio:.2} times as long");
        }
    }
    Ok(())
}

fn median(seconds: &mut [f64]) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
}

/// Where the time of a run went.
fn tell(report: &Report, names: &[String]) {
    let mut times: Vec<(EvaluatedBy, u64, Duration)> = Vec::new();
    let mut programs: Vec<(u32, Duration)> = Vec::new();
    for result in &report.results {
        let mut all = Duration::ZERO;
        for pair in &result.pairs {
            all += pair.time;
            let Some(by) = pair.evaluated_by else {
                continue;
            };
            match times.iter_mut().find(|(one, ..)| *one == by) {
                Some((_, count, time)) => (*count, *time) = (*count + 1, *time + pair.time),
                None => times.push((by, 1, pair.time)),
            }
        }
        match programs
            .iter_mut()
            .find(|(one, _)| *one == result.job.program)
        {
            Some((_, time)) => *time += all,
            None => programs.push((result.job.program, all)),
        }
    }
    let all: Duration = times.iter().map(|(.., time)| *time).sum();
    println!("{:?}", report.summary.totals);
    let tell = |name: String, count: u64, time: Duration| {
        let share = 100.0 * time.as_secs_f64() / all.as_secs_f64();
        println!(
            "{count:>10}  {:>8.3} s  {share:>4.1}%  {name}",
            time.as_secs_f64()
        );
    };
    for (by, count, time) in times {
        tell(format!("by {by:?}"), count, time);
    }
    let backends = &report.summary.backends;
    for (reason, time) in &backends.bail_out_times {
        let count = backends.bail_outs.get(reason).copied().unwrap_or_default();
        tell(format!("passed on: {reason}"), count, *time);
    }
    programs.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
    for (program, time) in programs.into_iter().take(LISTED) {
        tell(names[program as usize].clone(), 1, time);
    }
}
