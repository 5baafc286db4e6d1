//! `mega-batch bench`: the benchmark matrix on this machine, or the benchmark of a device.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::bench::device::{self, Target};
use crate::bench::{self, Machine, measure};
use mega_batch::Options;
use serde::Serialize;

use super::exit::Exit;
use super::output::{self, Destination, Folders, shown};
use super::terminal::Lines;

/// Measures the built-in programs by kind of operation and size of batch, by the reference and
/// compiled, sequential and parallel, and checks every outcome. With a device as backend, it
/// measures the device instead: what bounds it, operations by family, pipelines and the built-in
/// programs on up to 1,000,000 grids, and the same on the CPU beside it.
#[derive(Debug, clap::Args)]
pub(crate) struct Bench {
    /// The device that is measured [default: the CPU].
    #[arg(long, value_enum)]
    backend: Option<Backend>,

    /// A look in some seconds: batches of up to 1,000 pairs; on a GPU of up to 100,000 grids, on the
    /// emulated device of up to 100.
    #[arg(long)]
    quick: bool,

    /// Threads of the parallel columns [default: one for each core].
    #[arg(long, value_name = "N", value_parser = super::workers)]
    workers: Option<NonZeroUsize>,

    /// Where the JSON document goes: a folder, in which it is in a folder of the machine's name; with
    /// a backend, the file itself [default: in benches/results].
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,

    /// The commit that this was built from, to be noted in the JSON document.
    #[arg(long, value_name = "HASH")]
    commit: Option<String>,

    /// Time of a device's benchmark: repetitions are dropped to keep within it, and then the largest
    /// batches [default: 300, quick 60].
    #[arg(long, value_name = "N", requires = "backend")]
    seconds: Option<u64>,

    /// A file for grids and the outputs of the pipelines on them, as JSON, for
    /// `benches/peers/cupy_pipeline.py`.
    #[arg(long, value_name = "FILE", requires = "backend")]
    export: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Backend {
    /// The kernels of the GPU, run by the CPU, on small batches: that they work, not how fast.
    Emulated,
    /// The first NVIDIA GPU.
    Cuda,
}

/// Folder of results, in folders of the machines' names.
const RESULTS: &str = "benches/results";

impl Bench {
    pub(crate) fn run(self) -> anyhow::Result<Exit> {
        let began = Instant::now();
        match self.backend {
            None => self.matrix(),
            Some(Backend::Emulated) => self.device(Target::Emulated, began),
            Some(Backend::Cuda) => self.device(Target::Cuda, began),
        }
    }

    /// The name of the document's file.
    fn file(&self, name: &str) -> String {
        let quick = if self.quick { "-quick" } else { "" };
        format!("{name}{quick}.json")
    }

    fn matrix(self) -> anyhow::Result<Exit> {
        let folder = self.out.clone().unwrap_or_else(|| RESULTS.into());
        let file = folder
            .join(Machine::this().slug())
            .join(self.file("matrix"));
        let destination = Destination::open(&file, Folders::Made)?;
        let options = Options {
            workers: self.workers,
            ..Options::default()
        };
        let plan = if self.quick {
            bench::Plan::quick(options)
        } else {
            bench::Plan::full(options)
        };
        let mut lines = Lines::default();
        lines.print(bench::Heading);
        let mut matrix = measure(&plan, |row| lines.print(row))?;
        matrix.commit.clone_from(&self.commit);

        write(destination, &matrix)?;
        lines.print(format_args!(
            "\n{}, {} workers; written to {}",
            matrix.machine.cpu,
            matrix.workers,
            shown(&file)
        ));
        lines.end()?;
        Ok(Exit::Success)
    }

    fn device(self, target: Target, began: Instant) -> anyhow::Result<Exit> {
        let open = |file: &PathBuf| Destination::open(file, Folders::Made);
        let export = self.export.as_ref().map(open).transpose()?;
        let out = self.out.as_ref().map(open).transpose()?;
        if out.is_none() {
            // The folder's name is the device's, which is not known yet.
            output::try_to_make(Path::new(RESULTS))?;
        }
        let mut plan = if self.quick {
            device::Plan::quick(target)
        } else {
            device::Plan::full(target)
        };
        plan.workers = self.workers;
        if let Some(seconds) = self.seconds {
            plan.time = Duration::from_secs(seconds);
        }
        let mut lines = Lines::default();
        let mut heading = Some(device::Heading);
        let mut document = device::measure(&plan, began, |row| {
            // Without a device there are no rows, and no line above them.
            if let Some(heading) = heading.take() {
                lines.print(heading);
            }
            lines.print(row);
        })?;
        document.commit.clone_from(&self.commit);
        lines.print(format_args!("\n{document}"));

        if let Some(export) = export {
            write(export, &device::export()?)?;
        }
        let file = self.out.clone().unwrap_or_else(|| {
            let folder = Machine::folder(&document.device);
            Path::new(RESULTS).join(folder).join(self.file("device"))
        });
        let out = match out {
            Some(out) => out,
            None => open(&file)?,
        };
        write(out, &document)?;
        lines.print(format_args!("written to {}", shown(&file)));
        lines.end()?;
        Ok(Exit::Success)
    }
}

/// Writes a document, and the folder that it is in.
fn write(destination: Destination, document: &impl Serialize) -> anyhow::Result<()> {
    let text = serde_json::to_string_pretty(document)? + "\n";
    destination.write(|out| out.write_all(text.as_bytes()))
}
