//! `mega-batch coverage`: which programs a device can run.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;

use arc_check::conformance;

use super::exit::Exit;
use super::{ProgramFormat, exit, tell};

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
        let mut out = io::stdout().lock();
        if self.json {
            writeln!(out, "{}", serde_json::to_string(&report)?)?;
            out.flush()?;
            return Ok(exit(&errors));
        }
        writeln!(
            out,
            "{} of {} programs run on a device",
            report.device, report.programs
        )?;
        let mut reasons: Vec<_> = report.host_only.into_iter().collect();
        reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        for (reason, count) in reasons {
            writeln!(out, "{count:>6}  {reason}")?;
        }
        out.flush()?;
        Ok(exit(&errors))
    }
}
