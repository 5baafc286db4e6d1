//! `mega-batch bench`: the benchmark matrix on this machine.

use std::fs;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use mega_batch::Options;
use mega_batch::bench::{Heading, Plan, measure};

/// Measures the built-in programs by kind of operation and size of batch, by the reference and
/// compiled, sequential and parallel, and checks every outcome.
#[derive(Debug, clap::Args)]
pub(crate) struct Bench {
    /// A look in some seconds: batches of up to 1,000 pairs.
    #[arg(long)]
    quick: bool,

    /// Threads of the parallel columns [default: one for each core].
    #[arg(long, value_name = "N")]
    workers: Option<NonZeroUsize>,

    /// Folder for the JSON document, in a folder of the machine's name.
    #[arg(long, value_name = "DIR", default_value = "benches/results")]
    out: PathBuf,

    /// The commit that this was built from, to be noted in the JSON document.
    #[arg(long, value_name = "HASH")]
    commit: Option<String>,
}

impl Bench {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let options = Options {
            workers: self.workers,
            ..Options::default()
        };
        let plan = if self.quick {
            Plan::quick(options)
        } else {
            Plan::full(options)
        };
        println!("{Heading}");
        let mut matrix = measure(&plan, |row| {
            // Whoever no longer reads the rows still gets the document.
            let _ = writeln!(io::stdout(), "{row}");
        })?;
        matrix.commit = self.commit;

        let folder = self.out.join(matrix.machine.slug());
        let file = folder.join(if self.quick {
            "matrix-quick.json"
        } else {
            "matrix.json"
        });
        let text = serde_json::to_string_pretty(&matrix)? + "\n";
        fs::create_dir_all(&folder)
            .and_then(|()| fs::write(&file, text))
            .with_context(|| format!("{}: cannot be written", file.display()))?;
        println!(
            "\n{}, {} workers; written to {}",
            matrix.machine.cpu,
            matrix.workers,
            file.display()
        );
        Ok(ExitCode::SUCCESS)
    }
}
