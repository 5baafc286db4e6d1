//! `mega-batch explain`: the first-order form of programs; `mega-batch coverage`: which of them a device can run.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::path::PathBuf;

use arc_check::conformance;
use arc_dsl::Program;
use arc_form::{Form, Op, Options, Plan, Region, Representation, Unspecialised, plan};
use mega_batch::escaped;
use mega_batch::inputs::InputError;

use crate::table::program_label;

use super::exit::Exit;
use super::terminal::print;
use super::{ProgramFormat, exit, tell, warn};

/// Shows what a program is turned into before it is compiled: its first-order form.
///
/// For one program, the form is printed as text, as the passes leave it, with a note behind each value that the CPU's
/// plan clips or represents in another way than its type says. Its size follows, or the reason why it has no form.
/// For several programs a summary is printed: how many have a form, how large the forms are, what was fused, how
/// values are represented, and the reasons of the others.
#[derive(Debug, clap::Args)]
pub(crate) struct Explain {
    /// Programs: `.py` files or folders of them [default: the built-in programs].
    #[arg(long, alias = "program", value_name = "PATH", num_args = 1..)]
    programs: Vec<PathBuf>,

    #[command(flatten)]
    how: ProgramFormat,

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
    /// Evaluating steps whose arguments are constant.
    Fold,
    /// Sharing equal steps.
    Share,
    /// Replacing several steps by a cheaper one.
    Rewrite,
    /// Removing steps whose value nothing uses.
    Dead,
    /// Choosing how the CPU represents each value.
    Plan,
}

/// How forms are built and planned.
struct Passes {
    options: Options,
    plan: bool,
}

impl Passes {
    fn form(&self, program: &Program) -> Result<(Form, Option<Plan>), Unspecialised> {
        let form = arc_form::specialise_with(program, &self.options)?;
        let plan = self.plan.then(|| plan(&form, &arc_cpu::TARGET));
        Ok((form, plan))
    }
}

/// Counts over one form or all of them.
#[derive(Default)]
struct FormCounts {
    /// How many values have each representation, in the order of [`Representation::ALL`].
    held: [usize; Representation::ALL.len()],
    clipped: usize,
    fused: BTreeMap<&'static str, usize>,
}

impl FormCounts {
    fn add(&mut self, region: &Region, plan: Option<&Plan>) {
        for instruction in &region.instructions {
            if let Op::Fused(fused) = instruction.op {
                *self.fused.entry(fused.name()).or_default() += 1;
                continue;
            }
            if let Some(plan) = plan {
                let held = plan.representation(instruction.id);
                let places = Representation::ALL.iter().zip(&mut self.held);
                for (_, count) in places.filter(|(one, _)| **one == held) {
                    *count += 1;
                }
                self.clipped += usize::from(plan.is_clipped(instruction.id));
            }
            for region in &instruction.regions {
                self.add(region, plan);
            }
        }
    }
}

impl fmt::Display for FormCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let listed = |all: Vec<String>| all.join(", ");
        let held = Representation::ALL.iter().zip(self.held);
        let held = held.filter(|(_, count)| *count > 0);
        let held: Vec<_> = held.map(|(one, n)| format!("{} {n}", one.name())).collect();
        if !held.is_empty() {
            writeln!(f, "values held as: {}", listed(held))?;
        }
        if let (Some(window), 1..) = (arc_cpu::TARGET.window, self.clipped) {
            let (last, clipped) = (window - 1, self.clipped);
            writeln!(
                f,
                "values clipped to rows and columns 0 to {last}: {clipped}"
            )?;
        }
        if !self.fused.is_empty() {
            let fused = self.fused.iter().map(|(name, n)| format!("{name} {n}"));
            writeln!(f, "fused: {}", listed(fused.collect()))?;
        }
        Ok(())
    }
}

impl Explain {
    pub(crate) fn run(self) -> anyhow::Result<Exit> {
        let (mut programs, mut errors) = self.how.read_or_builtin(&self.programs);
        if let Some(name) = &self.name {
            programs.retain(|program| program.name() == name);
            let message = format!("no program named {name}");
            match (programs.is_empty(), self.programs.first()) {
                // Errors in other programs are of no interest here.
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
        let last = self.pass.unwrap_or(Pass::Plan);
        let with = |pass| pass <= last && !self.without.contains(&pass);
        Passes {
            options: Options {
                fold: with(Pass::Fold),
                share: with(Pass::Share),
                rewrite: with(Pass::Rewrite),
                dead: with(Pass::Dead),
                ..Options::default()
            },
            plan: with(Pass::Plan),
        }
    }
}

fn one(program: &Program, passes: &Passes) -> String {
    match passes.form(program) {
        Ok((form, plan)) => {
            let text = match &plan {
                Some(plan) => plan.show(&form).to_string(),
                None => form.to_string(),
            };
            format!("{text}\n{}", size(&form, plan.as_ref()))
        }
        Err(error) => format!("{} has no form: {error}\n", escaped(program.name())),
    }
}

fn size(form: &Form, plan: Option<&Plan>) -> String {
    let plural = if form.body.len() == 1 { "" } else { "s" };
    let loops = match form.body.loop_depth() {
        0 => "no loop".to_owned(),
        1 => "loops, none in another".to_owned(),
        depth => format!("loops {depth} deep"),
    };
    let mut counts = FormCounts::default();
    counts.add(&form.body, plan);
    format!("{} instruction{plural}, {loops}\n{counts}", form.body.len())
}

/// The value at this percentage of the sorted values.
fn at<T: Copy>(sorted: &[T], percent: usize) -> Option<T> {
    let last = sorted.len().checked_sub(1)?;
    sorted
        .get((sorted.len() * percent / 100).min(last))
        .copied()
}

fn summary(programs: &[Program], passes: &Passes) -> String {
    let (mut lengths, mut depths) = (Vec::new(), BTreeMap::<usize, usize>::new());
    let mut counts = FormCounts::default();
    let mut reasons = BTreeMap::<String, Vec<(&Program, Unspecialised)>>::new();
    for program in programs {
        match passes.form(program) {
            Ok((form, plan)) => {
                *depths.entry(form.body.loop_depth()).or_default() += 1;
                lengths.push(form.body.len());
                counts.add(&form.body, plan.as_ref());
            }
            Err(error) => {
                let same = reasons.entry(error.reason.to_string()).or_default();
                same.push((program, error));
            }
        }
    }
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
    let _ = write!(text, "{counts}");
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

/// Prints how many programs run on a GPU, and why the others run on the host only.
#[derive(Debug, clap::Args)]
pub(crate) struct Coverage {
    /// Programs: `.py` files or folders of them [default: the built-in programs].
    #[arg(long, value_name = "PATH", num_args = 1..)]
    programs: Vec<PathBuf>,

    #[command(flatten)]
    how: ProgramFormat,

    /// Print one JSON object: `programs`, `device`, and `host_only` with a count for each reason.
    #[arg(long)]
    json: bool,
}

/// What `--json` prints.
#[derive(Debug, serde::Serialize)]
struct Report {
    programs: u64,
    device: u64,
    host_only: BTreeMap<String, u64>,
}

impl Coverage {
    pub(crate) fn run(self) -> anyhow::Result<Exit> {
        let (programs, errors) = self.how.read_or_builtin(&self.programs);
        tell(&errors);
        let mut report = Report {
            programs: programs.len() as u64,
            device: 0,
            host_only: BTreeMap::new(),
        };
        for program in &programs {
            match conformance::compiled(program) {
                Ok(_) => report.device += 1,
                Err(reason) => *report.host_only.entry(reason).or_default() += 1,
            }
        }
        if self.json {
            print(serde_json::to_string(&report)? + "\n")?;
            return Ok(exit(&errors));
        }
        let Report {
            programs, device, ..
        } = report;
        let mut text = format!("{device} of {programs} programs run on a device\n");
        let mut reasons: Vec<_> = report.host_only.into_iter().collect();
        reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        for (reason, count) in reasons {
            let _ = writeln!(text, "{count:>6}  {reason}");
        }
        print(text)?;
        Ok(exit(&errors))
    }
}
