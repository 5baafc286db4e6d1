//! `mega-batch bench`: the benchmark of this machine or of a device.

use std::ffi::OsString;
use std::iter;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::bench::device::{self, Given, Progress, Target};
use crate::bench::{self, Environment, Event, Plan};
use arc_dsl::Reading;
use mega_batch::inputs::{InputError, read_programs, read_tasks};
use serde::Serialize;

use super::exit::Exit;
use super::output::{self, Destination, Folders, shown};
use super::terminal::Lines;
use super::{exit, note, tell, threads, warn};

/// Checks the machine, measures the built-in programs by mode, kind and batch size, compares the results of all
/// modes, and says which targets are met: on one core, on all, on one GPU and on several. With a device as backend,
/// it measures the device instead: its limits, operations by family, pipelines and the built-in programs on up to
/// 1,000,000 grids, and the same on the CPU for comparison.
#[derive(Debug, clap::Args)]
pub(crate) struct Bench {
    /// The device to measure [default: this machine as a whole].
    #[arg(long, value_enum)]
    backend: Option<Backend>,

    /// A quick look of some seconds: fewer sizes, less time; up to 100,000 grids on a GPU, up to 100 on the emulated
    /// device.
    #[arg(long)]
    quick: bool,

    /// Evaluations of a batch [default: 1 to 100,000 by tens].
    #[arg(long, value_name = "N,N", value_delimiter = ',', value_parser = size)]
    #[arg(conflicts_with = "backend")]
    sizes: Vec<usize>,

    /// Measure the emulated device too, on small batches: to see that it works, not how fast it is.
    #[arg(long, conflicts_with = "backend")]
    emulated: bool,

    /// The document of an earlier benchmark, bench.json, to compare this one with.
    #[arg(long, value_name = "FILE", conflicts_with = "backend")]
    compare: Option<PathBuf>,

    /// Threads of the parallel modes [default: one for each core].
    #[arg(long, value_name = "N", value_parser = super::workers)]
    workers: Option<NonZeroUsize>,

    /// Where the document goes, with its page and its charts: a folder, in which they get a folder of the machine's
    /// name; with a backend, the file of the document [default: in benches/results].
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,

    /// The commit that this was built from, to be noted in the JSON document [default: the one found when it was
    /// built].
    #[arg(long, value_name = "HASH")]
    commit: Option<String>,

    /// The time limit of a device's benchmark: repetitions are dropped to keep within it, and then the largest
    /// batches [default: 300, quick 60].
    #[arg(long, value_name = "N", requires = "backend", value_parser = super::number::<u64>)]
    #[arg(conflicts_with_all = ["sizes", "emulated", "compare"])]
    seconds: Option<u64>,

    /// Write grids and the outputs of the pipelines on them to this file, as JSON, for `cupy_pipeline.py`.
    #[arg(long, value_name = "FILE", requires = "backend")]
    #[arg(conflicts_with_all = ["sizes", "emulated", "compare"])]
    export: Option<PathBuf>,

    #[command(flatten)]
    given: GivenArguments,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Backend {
    /// The kernels of the GPU, run by the CPU, on small batches: to see that they work, not how fast they are.
    Emulated,
    /// The first NVIDIA GPU.
    Cuda,
}

/// The folder of results, with a folder for each machine.
const RESULTS: &str = "benches/results";

impl Bench {
    pub(crate) fn run(self) -> anyhow::Result<Exit> {
        let began = Instant::now();
        threads::share()?;
        match self.backend {
            None if !self.given.is_empty() => {
                warn(format_args!(
                    "--programs and --tasks are for the benchmark of a device: name it with --backend"
                ));
                Ok(Exit::BadInput)
            }
            None => self.machine(),
            Some(Backend::Emulated) => self.device(Target::Emulated, began),
            Some(Backend::Cuda) => self.device(Target::Cuda, began),
        }
    }

    /// The suffix of file names.
    fn suffix(&self) -> &'static str {
        if self.quick { "-quick" } else { "" }
    }

    fn plan(&self) -> Plan {
        let plan = if self.quick {
            Plan::quick()
        } else {
            Plan::full()
        };
        let plan = if self.sizes.is_empty() {
            plan
        } else {
            plan.with_sizes(self.sizes.clone())
        };
        Plan {
            workers: self.workers,
            emulated: self.emulated,
            ..plan
        }
    }

    fn machine(self) -> anyhow::Result<Exit> {
        // Errors in it should be known before minutes have gone into measuring.
        let kept = self.compare.as_deref().map(bench::read_kept).transpose();
        let kept = match kept {
            Ok(kept) => kept,
            Err(error) => {
                warn(format_args!("{error:#}"));
                return Ok(Exit::BadInput);
            }
        };
        let environment = Environment::here(
            self.emulated,
            self.commit.clone().or_else(crate::built_from),
        );
        let folder = self.out.clone().unwrap_or_else(|| RESULTS.into());
        let folder = folder.join(environment.folder());
        let suffix = self.suffix();
        let open = |name: &str| Destination::open(&folder.join(name), Folders::Created);
        let json = format!("bench{suffix}.json");
        let (document_file, page_file) = (open(&json)?, open(&format!("bench{suffix}.md"))?);
        let charts: Result<Vec<_>, _> = bench::chart_files(suffix)
            .into_iter()
            .map(|name| Ok::<_, anyhow::Error>((open(&name)?, name)))
            .collect();
        let chart_files = charts?;

        let mut lines = Lines::default();
        lines.print(&environment);
        lines.print(bench::Heading);
        let mut document = bench::measure(&self.plan(), environment, |event| match event {
            Event::Cells(cells) => cells.iter().for_each(|cell| lines.print(bench::Row(cell))),
            Event::Scales(all) => all
                .iter()
                .for_each(|scale| lines.print(bench::ScaleRow(scale))),
        })?;
        lines.print("");
        for judgement in &document.verdict {
            lines.print(judgement);
        }
        if let (Some(kept), Some(file)) = (kept, &self.compare) {
            let comparison = bench::compare(&document, &kept, file);
            lines.print(format_args!("\n{}", bench::ComparisonLines(&comparison)));
            document.comparison = Some(comparison);
        }

        let charts = bench::charts(&document, suffix)?;
        write(document_file, &document)?;
        write_text(page_file, &bench::page(&document, &charts))?;
        for (destination, name) in chart_files {
            if let Some(chart) = charts.iter().find(|chart| chart.file == name) {
                write_text(destination, &chart.svg)?;
            }
        }
        let file = folder.join(json);
        lines.print(format_args!(
            "\nwritten to {}, with its page and charts",
            shown(&file)
        ));
        lines.end()?;
        Ok(Exit::Success)
    }

    fn device(self, target: Target, began: Instant) -> anyhow::Result<Exit> {
        let open = |file: &PathBuf| Destination::open(file, Folders::Created);
        let export = self.export.as_ref().map(open).transpose()?;
        let out = self.out.as_ref().map(open).transpose()?;
        if out.is_none() {
            // The folder is named after the device, which is not known yet.
            output::check_folder(Path::new(RESULTS))?;
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
        let (given, errors) = self.given.read();
        tell(&errors);
        let mut document = device::measure(&plan, &given, began, |told| {
            let Progress::Row(row) = told else { return };
            // Without a device there are no rows, and no header.
            if let Some(heading) = heading.take() {
                lines.print(heading);
            }
            lines.print(row);
        })?;
        document.commit = self.commit.clone().or_else(crate::built_from);
        lines.print(format_args!("\n{document}"));

        if let Some(export) = export {
            write(export, &device::export()?)?;
        }
        let suffix = self.suffix();
        let file = self.out.clone().unwrap_or_else(|| {
            let folder = bench::folder_name(&document.device);
            Path::new(RESULTS)
                .join(folder)
                .join(format!("device{suffix}.json"))
        });
        let out = match out {
            Some(out) => out,
            None => open(&file)?,
        };
        write(out, &document)?;
        lines.print(format_args!("written to {}", shown(&file)));
        lines.end()?;
        Ok(exit(&errors))
    }
}

/// Programs of the user that are measured too.
#[derive(Debug, clap::Args)]
pub(super) struct GivenArguments {
    /// Programs to run on a device besides the built-in ones: `.py` files or folders of them.
    #[arg(long, value_name = "PATH", num_args = 1.., requires = "tasks")]
    programs: Vec<PathBuf>,

    /// The tasks of these programs: folders, files or archives of them, in any common layout.
    #[arg(long, value_name = "PATH", num_args = 1.., requires = "programs")]
    tasks: Vec<PathBuf>,
}

impl GivenArguments {
    /// Whether none were given.
    pub(super) fn is_empty(&self) -> bool {
        self.programs.is_empty()
    }

    /// As arguments of another process.
    pub(super) fn arguments(&self) -> Vec<OsString> {
        if self.is_empty() {
            return Vec::new();
        }
        let named = [("--programs", &self.programs), ("--tasks", &self.tasks)];
        let words = named.into_iter().flat_map(|(name, paths)| {
            let paths = paths.iter().map(|path| path.clone().into_os_string());
            iter::once(name.into()).chain(paths)
        });
        words.collect()
    }

    /// Reads them, with the errors in them.
    pub(super) fn read(&self) -> (Given, Vec<InputError>) {
        if self.is_empty() {
            return (Given::default(), Vec::new());
        }
        let programs = read_programs(&self.programs, &Reading::default());
        let tasks = read_tasks(&self.tasks, &[]);
        note(&programs.notes);
        note(&tasks.notes);
        let given = Given {
            programs: programs.programs,
            tasks: tasks.tasks,
        };
        (given, [programs.errors, tasks.errors].concat())
    }
}

/// Writes a document, creating its folder.
fn write(destination: Destination, document: &impl Serialize) -> anyhow::Result<()> {
    let text = serde_json::to_string_pretty(document)? + "\n";
    write_text(destination, &text)
}

fn write_text(destination: Destination, text: &str) -> anyhow::Result<()> {
    destination.write(|out| out.write_all(text.as_bytes()))
}

/// Reads a number of evaluations of a batch.
fn size(text: &str) -> Result<usize, String> {
    let size = text.parse().ok();
    size.filter(|size| (1..=bench::MOST_EVALUATIONS).contains(size))
        .ok_or_else(|| format!("expected 1 to {} evaluations", bench::MOST_EVALUATIONS))
}
