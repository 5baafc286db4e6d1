//! `mega-batch check`: whether a competition would accept a submission.

use std::path::PathBuf;

use mega_batch::Submitted;

use super::exit::Exit;
use super::terminal::print;
use super::{TaskFilter, exit, note, tell};

/// Says whether a competition would accept a submission.
///
/// It must have two attempts for each test input of each task, and no other tasks; grids of 1 to 30 rows and columns
/// with the colours 0 to 9. The CSV file of the competition of 2020 has one to three attempts. Errors are reported
/// with their place, and the exit code is 2.
#[derive(Debug, clap::Args)]
pub(crate) struct Check {
    /// The submission: a file or a folder.
    #[arg(value_name = "SUBMISSION")]
    submission: PathBuf,

    /// The tasks of the competition: folders, files or archives.
    #[arg(long, value_name = "PATH", num_args = 1.., required = true)]
    tasks: Vec<PathBuf>,

    #[command(flatten)]
    chosen: TaskFilter,

    /// Print nothing but errors.
    #[arg(long)]
    quiet: bool,
}

impl Check {
    pub(crate) fn run(self) -> anyhow::Result<Exit> {
        let read = self.chosen.read(&self.tasks, &[]);
        let submitted = Submitted::read(&self.submission);
        if !self.quiet {
            note(&read.notes);
            note(&submitted.notes);
        }
        let mut errors = read.errors;
        let faults = submitted.faults(&self.submission, &read.tasks);
        let count = faults.len();
        errors.extend(faults);
        tell(&errors);
        let tests: usize = submitted.tasks.iter().map(|(_, it)| it.tests.len()).sum();
        if !self.quiet {
            let tasks = submitted.tasks.len();
            print(&if count == 0 {
                format!("a competition would take it: {tasks} tasks, {tests} test inputs\n")
            } else {
                let faults = if count == 1 { "fault" } else { "faults" };
                format!("a competition would not take it: {count} {faults}\n")
            })?;
        }
        Ok(exit(&errors))
    }
}
