//! `mega-batch explain`: programs in first-order form.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use arc_dsl::{Program, builtin};
use arc_form::{Form, Holding, Options, PlanOptions, Sizes, Unspecialised};
use mega_batch::escaped;
use mega_batch::inputs::{InputError, read_programs};

use crate::table::program_label;

use super::exit::Exit;
use super::terminal::print;
use super::{exit, tell, warn};

/// Shows what a program is turned into before it is compiled: its first-order form.
///
/// Of one program the form is printed as text, as the passes leave it: how each value is held, what
/// is fused, what is clipped, where values lie in the arena and what may not fit. Its sizes follow,
/// or the reason why it has no form. Of several programs a summary is printed: how many have a form,
/// how large the forms are, and the reasons of the others.
#[derive(Debug, clap::Args)]
pub(crate) struct Explain {
    /// Programs: `.py` files or folders of them [default: the built-in programs].
    #[arg(long, alias = "program", value_name = "PATH", num_args = 1..)]
    programs: Vec<PathBuf>,

    /// The name of the program to print.
    #[arg(long, value_name = "PROGRAM")]
    name: Option<String>,

    /// Stop after this pass [default: the last one].
    #[arg(long, value_name = "PASS", value_enum)]
    pass: Option<Pass>,

    /// Leave out a pass.
    #[arg(long, value_name = "PASS", value_enum)]
    without: Vec<Pass>,
}

/// The passes, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
enum Pass {
    /// Evaluating steps whose arguments are known.
    Fold,
    /// Making the same step once.
    Share,
    /// Taking out steps whose value nothing uses.
    Dead,
    /// Settling how each value is held: label maps, views, what is fused.
    Representation,
    /// Finding patches that may lose their cells off the grid.
    Clipping,
    /// Giving every value a place in the arena.
    Liveness,
    /// Marking what may pass a fixed size.
    Guards,
}

/// How forms are made and planned.
struct Passes {
    options: Options,
    plan: PlanOptions,
}

impl Passes {
    fn form(&self, program: &Program) -> Result<Form, Unspecialised> {
        let form = arc_form::specialise_with(program, &self.options)?;
        Ok(arc_form::plan(&form, &self.plan))
    }
}

impl Explain {
    pub(crate) fn run(self) -> anyhow::Result<Exit> {
        let (mut programs, mut errors) = if self.programs.is_empty() {
            let programs = builtin::all().iter().map(|one| one.program().clone());
            (programs.collect(), Vec::new())
        } else {
            read_programs(&self.programs)
        };
        if let Some(name) = &self.name {
            programs.retain(|program| program.name() == name);
            let message = format!("no program named {name}");
            match (programs.is_empty(), self.programs.first()) {
                // What is wrong with other programs is of no interest here.
                (false, _) => errors.clear(),
                (true, Some(file)) => errors.push(InputError::whole(file, message)),
                (true, None) => {
                    warn(format_args!("{message} is built in"));
                    return Ok(Exit::BadInput);
                }
            }
        }
        tell(&errors);
        let passes = self.passes();
        let text = match programs.as_slice() {
            [] => String::new(),
            [program] => one(program, &passes),
            programs => summary(programs, &passes),
        };
        print(&text)?;
        Ok(exit(&errors))
    }

    fn passes(&self) -> Passes {
        let last = self.pass.unwrap_or(Pass::Guards);
        let with = |pass| pass <= last && !self.without.contains(&pass);
        Passes {
            options: Options {
                fold: with(Pass::Fold),
                share: with(Pass::Share),
                dead: with(Pass::Dead),
                ..Options::default()
            },
            plan: PlanOptions {
                representation: with(Pass::Representation),
                clipping: with(Pass::Clipping),
                liveness: with(Pass::Liveness),
                guards: with(Pass::Guards),
            },
        }
    }
}

fn one(program: &Program, passes: &Passes) -> String {
    match passes.form(program) {
        Ok(form) => format!("{form}\n{}", sizes(&form.sizes())),
        Err(error) => format!("{} has no form: {error}\n", escaped(program.name())),
    }
}

fn sizes(sizes: &Sizes) -> String {
    let plural = if sizes.instructions == 1 { "" } else { "s" };
    let loops = match sizes.loop_depth {
        0 => "no loop".to_owned(),
        1 => "loops, none in another".to_owned(),
        depth => format!("loops {depth} deep"),
    };
    let mut text = format!("{} instruction{plural}, {loops}\n", sizes.instructions);
    if let Some(bytes) = sizes.bytes {
        let _ = writeln!(text, "{bytes} bytes at most");
    }
    let held = Holding::ALL.iter().zip(sizes.held);
    let held = held.filter(|(_, count)| *count > 0);
    let held: Vec<_> = held
        .map(|(holding, count)| format!("{} {count}", holding.name()))
        .collect();
    if !held.is_empty() {
        let _ = writeln!(text, "held as: {}", held.join(", "));
    }
    if sizes.clipped > 0 {
        let _ = writeln!(text, "clipped: {}", sizes.clipped);
    }
    for overflow in &sizes.overflows {
        let _ = writeln!(text, "{overflow}");
    }
    text
}

/// The value at that percentage of all of them, which are sorted.
fn at<T: Copy>(sorted: &[T], percent: usize) -> Option<T> {
    let last = sorted.len().checked_sub(1)?;
    sorted
        .get((sorted.len() * percent / 100).min(last))
        .copied()
}

/// What the plans of all forms together say.
fn planned(all: &[Sizes]) -> String {
    let mut text = String::new();
    let mut bytes: Vec<_> = all.iter().filter_map(|sizes| sizes.bytes).collect();
    bytes.sort_unstable();
    if let (Some(median), Some(p90), Some(p99), Some(max)) = (
        at(&bytes, 50),
        at(&bytes, 90),
        at(&bytes, 99),
        at(&bytes, 100),
    ) {
        let _ = writeln!(
            text,
            "bytes: median {median}, p90 {p90}, p99 {p99}, most {max}"
        );
        let within = [2, 4, 8, 16].map(|most| {
            let fit = bytes.partition_point(|one| *one <= most * 1024);
            format!("{most} KB {fit}")
        });
        let _ = writeln!(text, "forms within: {}", within.join(", "));
    }
    let held = Holding::ALL.iter().enumerate().filter_map(|(at, holding)| {
        let count: usize = all.iter().map(|sizes| sizes.held[at]).sum();
        (count > 0).then(|| format!("{} {count}", holding.name()))
    });
    let held: Vec<_> = held.collect();
    if !held.is_empty() {
        let without = all.iter().filter(|sizes| sizes.nested == 0).count();
        let _ = writeln!(text, "values held as: {}", held.join(", "));
        let _ = writeln!(
            text,
            "forms that make no container of containers: {without}"
        );
    }
    let clipped: usize = all.iter().map(|sizes| sizes.clipped).sum();
    if clipped > 0 {
        let forms = all.iter().filter(|sizes| sizes.clipped > 0).count();
        let _ = writeln!(text, "clipped values: {clipped}, in {forms} forms");
    }
    let mut overflows = BTreeMap::<_, (usize, usize)>::new();
    for sizes in all {
        let mut names: Vec<_> = sizes
            .overflows
            .iter()
            .map(|one| (one.overflow.name(), one.op.to_string()))
            .collect();
        names.sort_unstable();
        for same in names.chunk_by(|a, b| a == b) {
            let entry = overflows.entry(same[0].clone()).or_default();
            entry.0 += same.len();
            entry.1 += 1;
        }
    }
    let mut overflows: Vec<_> = overflows.into_iter().collect();
    overflows.sort_by_key(|(_, counts)| std::cmp::Reverse(*counts));
    for ((overflow, op), (count, forms)) in overflows {
        let _ = writeln!(
            text,
            "may overflow {overflow}: {op}: {count}, in {forms} forms"
        );
    }
    text
}

fn summary(programs: &[Program], passes: &Passes) -> String {
    let (mut all, mut depths) = (Vec::new(), BTreeMap::<usize, usize>::new());
    let mut reasons = BTreeMap::<String, Vec<(&Program, Unspecialised)>>::new();
    for program in programs {
        match passes.form(program) {
            Ok(form) => {
                let sizes = form.sizes();
                *depths.entry(sizes.loop_depth).or_default() += 1;
                all.push(sizes);
            }
            Err(error) => {
                let same = reasons.entry(error.reason.to_string()).or_default();
                same.push((program, error));
            }
        }
    }
    let mut lengths: Vec<_> = all.iter().map(|sizes| sizes.instructions).collect();
    lengths.sort_unstable();
    let mut text = format!(
        "{} of {} programs have a form\n",
        lengths.len(),
        programs.len()
    );
    if let (Some(median), Some(p90), Some(p99), Some(max)) = (
        at(&lengths, 50),
        at(&lengths, 90),
        at(&lengths, 99),
        at(&lengths, 100),
    ) {
        let _ = writeln!(
            text,
            "instructions: median {median}, p90 {p90}, p99 {p99}, most {max}"
        );
    }
    for (depth, count) in depths {
        let _ = writeln!(text, "loops {depth} deep: {count}");
    }
    text.push_str(&planned(&all));
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, programs)| std::cmp::Reverse(programs.len()));
    for (reason, failed) in reasons {
        let (program, error) = &failed[0];
        let _ = writeln!(
            text,
            "no form: {reason}: {} ({}, line {})",
            failed.len(),
            program_label(program, programs),
            error.line
        );
    }
    text
}
