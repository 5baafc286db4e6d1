//! From how many evaluations on compiling a program pays, by its number of steps.
//!
//! `cargo bench --package mega-batch --bench compiling -- TASKS PROGRAMS [ROUNDS]`
//!
//! TASKS is a folder of tasks as JSON, PROGRAMS a file of programs, each of which is measured on the
//! pairs of its own task: the least time of ROUNDS (20), each of which goes through all programs.
//! Programs that have no compiled form, and those of which some evaluation bails out, are left out.

mod arguments;

use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;

use arc_cpu::{Compiled, Compiler, Machine};
use arc_dsl::{Interpreter, Program};
use arc_form::Specialiser;
use arc_tasks::{Task, TaskIds};
use arc_text::Reading;
use mega_batch::Backend;
use mega_batch::inputs::{read_programs, read_tasks};

use arguments::arguments;

/// The times of one program in seconds, for the evaluations of all pairs together.
struct Row<'a> {
    program: &'a Program,
    task: &'a Task,
    compiled: Compiled,
    compiling: f64,
    reference: f64,
    machine: f64,
}

/// A range of numbers of steps; the last number is included.
const BUCKETS: [usize; 8] = [1, 2, 4, 6, 10, 16, 25, usize::MAX];

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = arguments();
    let usage = "expected TASKS PROGRAMS [ROUNDS]";
    let (tasks, programs) = (
        arguments.next().ok_or(usage)?,
        arguments.next().ok_or(usage)?,
    );
    let rounds = arguments
        .next()
        .map_or(Ok(20), |text| text.parse::<usize>())?;
    let tasks = read_tasks(&[PathBuf::from(tasks)], &[]).tasks;
    let programs = read_programs(&[PathBuf::from(programs)], &Reading::default()).programs;
    let ids = TaskIds::new(tasks.iter().map(|task| &*task.id));
    let (mut specialiser, mut compiler) = (Specialiser::default(), Compiler::default());
    let (mut machine, mut interpreter) = (Machine::default(), Interpreter::default());
    let mut rows = Vec::new();
    for program in &programs {
        let own = ids
            .of(program)
            .and_then(|id| tasks.iter().find(|task| task.id == id));
        let form = specialiser.specialise(program).ok();
        let compiled = form.and_then(|form| compiler.compile(&form).ok());
        let (Some(task), Some(compiled)) = (own, compiled) else {
            continue;
        };
        if task
            .pairs()
            .any(|(_, pair)| machine.run(&compiled, &pair.input).is_err())
        {
            continue;
        }
        rows.push(Row {
            program,
            task,
            compiled,
            compiling: f64::INFINITY,
            reference: f64::INFINITY,
            machine: f64::INFINITY,
        });
    }
    for _ in 0..rounds {
        for row in &mut rows {
            let began = Instant::now();
            if let Ok(form) = specialiser.specialise(row.program) {
                row.compiled = compiler.compile(&form)?;
            }
            row.compiling = row.compiling.min(began.elapsed().as_secs_f64());
        }
        for row in &mut rows {
            let began = Instant::now();
            for (_, pair) in row.task.pairs() {
                // If there is a value, the machine returns one.
                let _ = interpreter.run(row.program, pair.input.clone());
            }
            row.reference = row.reference.min(began.elapsed().as_secs_f64());
        }
        for row in &mut rows {
            let began = Instant::now();
            for (_, pair) in row.task.pairs() {
                machine.run(&row.compiled, &pair.input)?;
            }
            row.machine = row.machine.min(began.elapsed().as_secs_f64());
        }
    }
    println!(
        "{} of {} programs; times in us, means of programs",
        rows.len(),
        programs.len()
    );
    println!("   steps  programs  compiling  reference  machine   pays from: median, total   rule");
    let mut from = 0;
    for to in BUCKETS {
        let steps = |row: &&Row| row.program.steps().len();
        let all: Vec<_> = rows
            .iter()
            .filter(|row| (from..=to).contains(&steps(row)))
            .collect();
        if !all.is_empty() {
            tell(
                &all,
                from,
                steps(all.iter().max_by_key(|row| steps(row)).unwrap_or(&all[0])),
            );
        }
        from = to.saturating_add(1);
    }
    totals(&rows);
    Ok(())
}

fn tell(rows: &[&Row<'_>], from: usize, to: usize) {
    let count = rows.len() as f64;
    let evaluations = |row: &Row| row.task.pair_count() as f64;
    let mean = |of: &dyn Fn(&Row) -> f64| rows.iter().map(|row| of(row)).sum::<f64>() / count * 1e6;
    let compiling = mean(&|row| row.compiling);
    let reference = mean(&|row| row.reference / evaluations(row));
    let machine = mean(&|row| row.machine / evaluations(row));
    let mut pays: Vec<_> = rows
        .iter()
        .map(|row| row.compiling / ((row.reference - row.machine) / evaluations(row)).max(1e-12))
        .collect();
    pays.sort_by(f64::total_cmp);
    println!(
        "{from:>4} to {to:<4}{:>6} {compiling:>10.2} {reference:>10.2} {machine:>8.2} {:>20.1} {:>6.1} {:>6}",
        rows.len(),
        pays[pays.len() / 2],
        compiling / (reference - machine),
        Backend::least_evaluations(usize::midpoint(from, to)),
    );
}

/// The costs of several rules if every program is evaluated this often.
fn totals(rows: &[Row<'_>]) {
    println!("\nevaluations   reference   compiled   from 3   the rule   each as is best, ms");
    for evaluations in [1_u32, 2, 3, 4, 6, 8, 12, 16, 24] {
        let sum = |compiles: &dyn Fn(&Row, f64, f64) -> bool| {
            let times = rows.iter().map(|row| {
                let share = f64::from(evaluations) / row.task.pair_count() as f64;
                let by_reference = row.reference * share;
                let by_machine = row.compiling + row.machine * share;
                if compiles(row, by_reference, by_machine) {
                    by_machine
                } else {
                    by_reference
                }
            });
            times.sum::<f64>() * 1e3
        };
        let rule = |row: &Row, _, _| {
            u64::from(evaluations) >= Backend::least_evaluations(row.program.steps().len())
        };
        println!(
            "{evaluations:>11} {:>11.2} {:>10.2} {:>8.2} {:>10.2} {:>10.2}",
            sum(&|_, _, _| false),
            sum(&|_, _, _| true),
            sum(&|_, _, _| evaluations >= 3),
            sum(&rule),
            sum(&|_, reference, machine| machine < reference),
        );
    }
}
