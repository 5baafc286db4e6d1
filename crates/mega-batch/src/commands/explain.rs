//! `mega-batch explain`: programs in first-order form.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use arc_dsl::form::{self, Form, Options, Unspecialised};
use arc_dsl::{Program, builtin};
use mega_batch::inputs::{InputError, read_programs};

use super::{exit_code, tell};

/// Shows what a program is turned into before it is compiled: its first-order form.
///
/// Of one program the form is printed as text, with its sizes, or the reason why it has none. Of
/// several programs a summary is printed: how many have a form, how large the forms are, and the
/// reasons of the others.
#[derive(Debug, clap::Args)]
pub(crate) struct Explain {
    /// Programs: `.py` files or folders of them [default: the built-in programs].
    #[arg(long, alias = "program", value_name = "PATH", num_args = 1..)]
    programs: Vec<PathBuf>,

    /// The name of the program to print.
    #[arg(long, value_name = "PROGRAM")]
    name: Option<String>,

    /// Leave out a pass.
    #[arg(long, value_name = "PASS", value_enum)]
    without: Vec<Pass>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Pass {
    /// Evaluating steps whose arguments are known.
    Fold,
    /// Making the same step once.
    Share,
    /// Taking out steps whose value nothing uses.
    Dead,
}

impl Explain {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
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
                (true, None) => anyhow::bail!("{message} is built in"),
            }
        }
        tell(&errors);
        let options = self.options();
        let text = match programs.as_slice() {
            [] => String::new(),
            [program] => one(program, &options),
            programs => summary(programs, &options),
        };
        io::stdout().lock().write_all(text.as_bytes())?;
        Ok(exit_code(&errors))
    }

    fn options(&self) -> Options {
        let with = |pass| !self.without.contains(&pass);
        Options {
            fold: with(Pass::Fold),
            share: with(Pass::Share),
            dead: with(Pass::Dead),
            ..Options::default()
        }
    }
}

fn one(program: &Program, options: &Options) -> String {
    match form::specialise_with(program, options) {
        Ok(form) => format!("{form}\n{}\n", sizes(&form)),
        Err(error) => format!("{} has no form: {error}\n", program.name()),
    }
}

fn sizes(form: &Form) -> String {
    let (instructions, depth) = (form.body.len(), form.body.loop_depth());
    let plural = if instructions == 1 { "" } else { "s" };
    let loops = match depth {
        0 => "no loop".to_owned(),
        1 => "loops, none in another".to_owned(),
        depth => format!("loops {depth} deep"),
    };
    format!("{instructions} instruction{plural}, {loops}")
}

fn summary(programs: &[Program], options: &Options) -> String {
    let (mut lengths, mut depths) = (Vec::new(), BTreeMap::<usize, usize>::new());
    let mut reasons = BTreeMap::<String, Vec<(&Program, Unspecialised)>>::new();
    for program in programs {
        match form::specialise_with(program, options) {
            Ok(form) => {
                lengths.push(form.body.len());
                *depths.entry(form.body.loop_depth()).or_default() += 1;
            }
            Err(error) => {
                let same = reasons.entry(error.reason.to_string()).or_default();
                same.push((program, error));
            }
        }
    }
    lengths.sort_unstable();
    let last = lengths.len().saturating_sub(1);
    let at = |percent: usize| lengths.get((lengths.len() * percent / 100).min(last));
    let mut text = format!(
        "{} of {} programs have a form\n",
        lengths.len(),
        programs.len()
    );
    if let (Some(median), Some(p90), Some(p99), Some(max)) = (at(50), at(90), at(99), at(100)) {
        let _ = writeln!(
            text,
            "instructions: median {median}, p90 {p90}, p99 {p99}, most {max}"
        );
    }
    for (depth, count) in depths {
        let _ = writeln!(text, "loops {depth} deep: {count}");
    }
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, programs)| std::cmp::Reverse(programs.len()));
    for (reason, programs) in reasons {
        let (program, error) = &programs[0];
        let _ = writeln!(
            text,
            "no form: {reason}: {} ({}, line {})",
            programs.len(),
            program.name(),
            error.line
        );
    }
    text
}
