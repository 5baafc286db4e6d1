//! What it saves to evaluate many programs as one batt per task: variations of programs, which keep types, mutants,
//! which do not, and unrelated programs, alternating with the runner that compiles or interprets each separately.
//!
//! `cargo bench --package mega-batch --bench merged -- TASKS PROGRAMS [MUTANTS] [ROUNDS] [WHAT]
//! [WAY]`
//!
//! TASKS is a folder of tasks as JSON, PROGRAMS a file of programs, MUTANTS how many are generated from each program,
//! 1,000 by default, ROUNDS how often everything is run, 1 by default. WHAT is `all`, or one of `unrelated`,
//! `variations` and `mutants`; WAY is `both`, or for a profile one of `apart` and `merged`. It uses one worker, and
//! fails if any outcome differs.

mod arguments;

use std::error::Error;
use std::path::PathBuf;

use arc_dsl::Program;
use arc_dsl::generate::Generator;
use arc_tasks::{Task, TaskIds};
use arc_text::Reading;
use mega_batch::inputs::{read_programs, read_tasks};
use mega_batch::{Batch, Job, JobResult, Merging, Mode, Options, Outcome, Runner, Summary};

use arguments::arguments;

/// The results of one way of running.
#[derive(Default)]
struct Way {
    seconds: f64,
    compiling: f64,
    evaluations: u64,
    merged: u64,
    calls: u64,
    shared: u64,
}

impl Way {
    fn add(&mut self, summary: &Summary) {
        let (calls, shared) = summary.backends.merged_calls;
        self.seconds += summary.elapsed.as_secs_f64();
        self.compiling += summary.backends.compile_time.as_secs_f64();
        self.evaluations += summary.totals.evaluations;
        self.merged += summary.backends.merged;
        self.calls += calls;
        self.shared += shared;
    }
}

/// The outcomes, in their order.
fn outcomes(results: &[JobResult]) -> impl Iterator<Item = (Job, &Outcome)> {
    let pairs = |result: &JobResult| result.job;
    results.iter().flat_map(move |result| {
        result
            .pairs
            .iter()
            .map(move |pair| (pairs(result), &pair.outcome))
    })
}

/// Which programs are run, and how.
struct Selection {
    what: String,
    ways: [bool; 2],
}

impl Selection {
    fn new(what: &str, way: &str) -> Result<Self, Box<dyn Error>> {
        let ways = match way {
            "both" => [true, true],
            "apart" => [true, false],
            "merged" => [false, true],
            _ => return Err(format!("WAY: expected both, apart or merged, found {way}").into()),
        };
        if !["all", "unrelated", "variations", "mutants"].contains(&what) {
            let expected = "all, unrelated, variations or mutants";
            return Err(format!("WHAT: expected {expected}, found {what}").into());
        }
        let what = what.to_owned();
        Ok(Self { what, ways })
    }

    fn has(&self, what: &str) -> bool {
        self.what == "all" || self.what == what
    }
}

/// Two runners, of which one merges programs.
struct Comparison {
    runners: [Runner; 2],
    /// Which of them to run.
    asked: [bool; 2],
    ways: [Way; 2],
    outcomes: u64,
    differences: u64,
}

impl Comparison {
    fn new(merging: Merging, asked: [bool; 2]) -> Result<Self, Box<dyn Error>> {
        let runner = |merging| {
            let mut options = Options::default();
            options.mode = Mode::Sequential;
            options.merging = merging;
            Runner::new(&options)
        };
        Ok(Self {
            runners: [runner(Merging::Never)?, runner(merging)?],
            asked,
            ways: Default::default(),
            outcomes: 0,
            differences: 0,
        })
    }

    /// Runs the batch both ways; returns the seconds of each.
    fn compare(&mut self, batch: &Batch<'_>, round: usize) -> Result<[f64; 2], Box<dyn Error>> {
        let mut seconds = [0.0; 2];
        let mut reports = Vec::new();
        // Alternate the order, since the second finds the tasks in the caches.
        for at in 0..2 {
            let way = (at + round) % 2;
            if !self.asked[way] {
                continue;
            }
            let report = self.runners[way].run(batch)?;
            self.ways[way].add(&report.summary);
            seconds[way] = report.summary.elapsed.as_secs_f64();
            reports.push(report);
        }
        let [a, b] = &reports[..] else {
            return Ok(seconds);
        };
        let [a, b] = [a, b].map(|report| outcomes(&report.results));
        for ((job, a), (_, b)) in a.zip(b) {
            self.outcomes += 1;
            if a != b {
                self.differences += 1;
                if self.differences <= 3 {
                    let program = batch.program(job);
                    println!("{a:?}\n{b:?}\n{program}{}\n", batch.task(job).id);
                }
            }
        }
        Ok(seconds)
    }

    fn tell(&self, name: &str) -> Result<(), Box<dyn Error>> {
        let [one, merged] = &self.ways;
        println!(
            "{name}: {} evaluations; one by one {:.3} s (compiling {:.3}), merged {:.3} s (compiling \
             {:.3}): {:.2} times as fast; {:.1}% by batts, {:.1}% of their calls shared; {} \
             differences",
            one.evaluations,
            one.seconds,
            one.compiling,
            merged.seconds,
            merged.compiling,
            one.seconds / merged.seconds,
            percent(merged.merged, merged.evaluations),
            percent(merged.shared, merged.calls),
            self.differences
        );
        if self.differences > 0 {
            return Err(format!("{name}: {} outcomes differ", self.differences).into());
        }
        Ok(())
    }
}

fn percent(part: u64, all: u64) -> f64 {
    100.0 * part as f64 / all.max(1) as f64
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = arguments();
    let usage = "expected TASKS PROGRAMS [MUTANTS] [ROUNDS] [WHAT] [WAY]";
    let (tasks, programs) = (
        arguments.next().ok_or(usage)?,
        arguments.next().ok_or(usage)?,
    );
    let mut number = |otherwise| match arguments.next() {
        Some(text) => text
            .parse::<usize>()
            .map_err(|error| format!("{text}: {error}")),
        None => Ok(otherwise),
    };
    let (count, rounds) = (number(1000)?, number(1)?);
    let (what, way) = (arguments.next(), arguments.next());
    let selection = Selection::new(
        what.as_deref().unwrap_or("all"),
        way.as_deref().unwrap_or("both"),
    )?;
    let read = read_tasks(&[PathBuf::from(tasks)], &[]);
    let (tasks, errors) = (read.tasks, read.errors);
    let read = read_programs(&[PathBuf::from(programs)], &Reading::default());
    let programs = read.programs;
    let ids = TaskIds::new(tasks.iter().map(|task| &*task.id));
    for error in errors.iter().chain(&read.errors) {
        eprintln!("{error}");
    }
    let own: Vec<(&Program, &Task)> = programs
        .iter()
        .filter_map(|program| {
            let id = ids.of(program)?;
            let task = tasks.iter().find(|task| task.id == id)?;
            Some((program, task))
        })
        .collect();
    println!("{} programs, {} tasks", programs.len(), tasks.len());

    if selection.has("unrelated") {
        compare_unrelated(&programs, &tasks, rounds, selection.ways)?;
    }

    let variation: Change = |generator, program| generator.variation(program);
    let mutant: Change = |generator, program| generator.mutant(program);
    for (name, change) in [("variations", variation), ("mutants", mutant)] {
        if selection.has(name) {
            let name = format!("{count} {name}");
            compare_changed(&own, change, &name, [count, rounds], selection.ways)?;
        }
    }
    Ok(())
}

fn compare_unrelated(
    programs: &[Program],
    tasks: &[Task],
    rounds: usize,
    ways: [bool; 2],
) -> Result<(), Box<dyn Error>> {
    let mut unrelated = Comparison::new(Merging::Auto, ways)?;
    let mut on_few = Comparison::new(Merging::Auto, ways)?;
    let few: Vec<_> = tasks.iter().step_by(20).take(20).cloned().collect();
    for round in 0..20 {
        unrelated.compare(&Batch::own_tasks(programs, tasks), round)?;
    }
    unrelated.tell("each program on its task, 20 times")?;
    for round in 0..rounds {
        on_few.compare(&Batch::all_pairs(programs, &few), round)?;
    }
    on_few.tell("all programs on 20 tasks")?;

    let mut always = Comparison::new(Merging::Always, ways)?;
    for round in 0..rounds {
        always.compare(&Batch::all_pairs(programs, &few), round)?;
    }
    always.tell("the same, merged although they share little")?;
    Ok(())
}

/// Derives another program from one.
type Change = fn(&mut Generator, &Program) -> Program;

fn compare_changed(
    own: &[(&Program, &Task)],
    change: Change,
    name: &str,
    [count, rounds]: [usize; 2],
    ways: [bool; 2],
) -> Result<(), Box<dyn Error>> {
    let mut generator = Generator::new(1);
    let mut mutants = Comparison::new(Merging::Auto, ways)?;
    let mut slowest = Vec::new();
    for (program, task) in own {
        let all: Vec<_> = (0..count)
            .map(|_| change(&mut generator, program))
            .collect();
        for round in 0..rounds {
            let batch = Batch::all_pairs(&all, std::slice::from_ref(*task));
            let [one, merged] = mutants.compare(&batch, round)?;
            slowest.push((one + merged, one, merged, program.name()));
        }
    }
    slowest.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (_, one, merged, name) in slowest.iter().take(10) {
        println!("  {name}: one by one {one:.3} s, merged {merged:.3} s");
    }
    let mut ratios: Vec<_> = slowest
        .iter()
        .map(|(_, one, merged, _)| one / merged)
        .collect();
    ratios.sort_by(f64::total_cmp);
    if let Some(median) = ratios.get(ratios.len() / 2) {
        println!("  median over the programs: {median:.2} times as fast");
    }
    mutants.tell(&format!("{name} of each program on its task"))
}
