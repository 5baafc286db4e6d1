//! `mega-batch bench`: the benchmark of this machine.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use arc_text::Reading;
use mega_batch::Cancellation;
use mega_batch::files::{is_descriptor, is_standard_input};
use mega_batch::inputs::{InputError, read_programs, read_tasks};

use super::exit::Exit;
use super::output::{Destination, Folders, shown};
use super::signals::Signals;
use super::terminal::Lines;
use super::{exit, note, tell, threads, warn};
use crate::bench::{
    self, BenchPlan, Context, DRIVER_CACHE, Document, Ended, Environment, ExpectationState, Found,
    Given, Part, SCHEMA, STAGES, Sheet, Stage, StageReport,
};

/// Checks the machine, measures programs by mode, kind and batch size, compares the results of all modes, and says
/// which expectations are met: on one core, on all, on one GPU and on several.
///
/// With an NVIDIA GPU it also runs the self-check on it, measures single operations, fused pipelines and their
/// kernels, and the same in `CuPy` and JAX where they are installed, and looks at a GPU with full memory and at several
/// contexts. It needs only this binary and a driver. Each stage is a process of its own: one that fails, hangs or is
/// killed does not affect the others, and the exit code is 1. It may be ended at any moment: the same command goes on
/// after the stages that have finished.
#[derive(Debug, clap::Args)]
pub(crate) struct Bench {
    /// A quick look of some seconds, with a GPU of a minute or two: fewer sizes, less time.
    #[arg(long)]
    quick: bool,

    /// Evaluations of a batch [default: 1 to 100,000 by tens; of given programs 1,000 to 1,000,000].
    #[arg(long, value_name = "N,N", value_delimiter = ',', value_parser = size)]
    sizes: Vec<usize>,

    /// Measure the emulated device too, on small batches: to see that it works, not how fast it is.
    #[arg(long)]
    emulated: bool,

    /// Programs to measure besides the built-in ones: `.py` files or folders of them.
    #[arg(long, value_name = "PATH", num_args = 1.., requires = "tasks")]
    programs: Vec<PathBuf>,

    /// The tasks of these programs: folders, files or archives of them, in any common layout.
    #[arg(long, value_name = "PATH", num_args = 1.., requires = "programs")]
    tasks: Vec<PathBuf>,

    /// The document of an earlier benchmark, bench.json, to compare this one with.
    #[arg(long, value_name = "FILE")]
    compare: Option<PathBuf>,

    /// Threads of the parallel modes [default: one for each core].
    #[arg(long, value_name = "N", value_parser = super::workers)]
    workers: Option<NonZeroUsize>,

    /// Where the document goes, with its page: a folder, in which they get a folder of the machine's name.
    #[arg(long, value_name = "PATH", default_value = "benches/results")]
    out: PathBuf,

    /// The time limit. Each stage has a share of it, and leaves out what there is no time for.
    #[arg(long, value_name = "N", default_value_t = 10.0, value_parser = minutes)]
    minutes: f64,

    /// The commit that this was built from, to be noted in the document [default: the one found when it was built].
    #[arg(long, value_name = "HASH")]
    commit: Option<String>,

    #[command(flatten)]
    process: Process,
}

/// Hidden arguments of the process of a stage.
#[derive(Debug, clap::Args)]
struct Process {
    #[arg(long, hide = true)]
    stage: Option<String>,
    /// The file of its part of the document.
    #[arg(long, hide = true, default_value = "part.json")]
    part: PathBuf,
    /// When it leaves out the rest.
    #[arg(long, hide = true, default_value_t = 0.0)]
    seconds: f64,
}

/// The fraction of a stage's time after which it leaves out what remains. The rest is for work in progress by then.
const SOFT: f64 = 0.85;

impl Bench {
    pub(crate) fn run(self) -> anyhow::Result<Exit> {
        threads::share()?;
        match &self.process.stage {
            Some(stage) => self.stage(stage),
            None => self.benchmark(),
        }
    }

    /// Runs a stage in this process.
    fn stage(&self, name: &str) -> anyhow::Result<Exit> {
        bench::end_with_parent()?;
        let mut stages = STAGES.iter();
        let stage = stages.find(|stage| stage.name == name);
        let stage = stage.ok_or_else(|| anyhow::anyhow!("there is no stage {name}"))?;
        let part = Part::read(&self.process.part)?;
        let environment = part.environment.clone();
        let (given, _) = self.given();
        let until = Instant::now() + Duration::from_secs_f64(self.process.seconds);
        let context = Context {
            plan: self.plan(until, environment.note.is_some()),
            given: &given,
            environment,
        };
        let mut sheet = Sheet::new(self.process.part.clone(), part);
        let result = (stage.run)(&context, &mut sheet);
        sheet.end(result)?;
        Ok(Exit::Success)
    }

    /// The plan until then.
    fn plan(&self, until: Instant, is_fake: bool) -> BenchPlan {
        let mut sizes = self.sizes.clone();
        sizes.sort_unstable();
        sizes.dedup();
        BenchPlan {
            quick: self.quick,
            sizes: (!sizes.is_empty()).then_some(sizes),
            workers: self.workers,
            emulated: self.emulated,
            is_fake,
            until,
        }
    }

    fn benchmark(self) -> anyhow::Result<Exit> {
        let until = Instant::now() + Duration::from_secs_f64(self.minutes * 60.0);
        // Errors in it should be known before minutes have gone into measuring.
        let kept = match self.compare.as_deref().map(bench::read_kept).transpose() {
            Ok(kept) => kept,
            Err(error) => {
                warn(format_args!("{error:#}"));
                return Ok(Exit::BadInput);
            }
        };
        let paths = self.programs.iter().chain(&self.tasks);
        let mut once = paths.filter(|path| is_standard_input(path) || is_descriptor(path));
        if let Some(path) = once.next() {
            let path = shown(path);
            warn(format_args!(
                "{path}: expected files: each stage is a process that reads them again"
            ));
            return Ok(Exit::BadInput);
        }
        let (given, errors) = self.given();
        tell(&errors);
        if !self.programs.is_empty() && (given.programs.is_empty() || given.tasks.is_empty()) {
            warn(format_args!(
                "of the given programs and tasks none can be run"
            ));
            return Ok(Exit::BadInput);
        }
        let commit = self.commit.clone().or_else(crate::built_from);
        let environment = Environment::here(self.emulated, commit);
        let folder = self.out.join(environment.folder());
        let suffix = if self.quick { "-quick" } else { "" };
        let json = folder.join(format!("bench{suffix}.json"));
        for file in [&json, &json.with_extension("md")] {
            Destination::open(file, Folders::Created)?;
        }

        let signals = Signals::listen()?;
        let mut lines = Lines::default();
        lines.print(&environment);
        let threads = environment.machine.host.threads;
        let workers = self.workers.map_or(threads, NonZeroUsize::get);
        let stages = STAGES.iter();
        let stages = stages.filter(|stage| stage.is_for(&environment, &given));
        let stages: Vec<&Stage> = stages.collect();
        let mut work = Work {
            document: Document {
                schema: SCHEMA,
                environment,
                plan: self.plan(until, false).note(workers),
                stages: Vec::new(),
                found: Found::default(),
                verdict: Vec::new(),
                comparison: None,
            },
            compared: kept.zip(self.compare.clone()),
            parts: folder.join("parts"),
            json,
            arguments: std::env::args_os()
                .skip(1)
                .map(|word| word.to_string_lossy().into_owned())
                .collect(),
            until,
            cancellation: signals.cancellation(),
        };
        std::fs::create_dir_all(&work.parts)
            .with_context(|| format!("{}: cannot be created", shown(&work.parts)))?;
        work.run(&stages, &mut lines)?;

        let document = &work.document;
        lines.print("");
        for judgement in &document.verdict {
            lines.print(judgement);
        }
        if let Some(comparison) = &document.comparison {
            lines.print(format_args!("\n{comparison}"));
        }
        if document.is_whole() {
            // What is left there is not needed.
            let _ = std::fs::remove_dir_all(&work.parts);
        }
        let file = shown(&work.json);
        lines.print(format_args!("\nwritten to {file}, with its page"));
        lines.end()?;
        for stage in &document.stages {
            if stage.state == ExpectationState::Failed {
                let why = stage.reasons.first().map_or("", |why| why);
                warn(format_args!("{}: {why}", stage.stage));
            }
        }
        Ok(match signals.received() {
            Some(ended) => ended,
            None if !document.is_whole() => Exit::Failure,
            None => exit(&errors),
        })
    }

    /// The given programs and tasks, with the errors in them.
    fn given(&self) -> (Given, Vec<InputError>) {
        if self.programs.is_empty() {
            return (Given::default(), Vec::new());
        }
        let programs = read_programs(&self.programs, &Reading::default());
        let tasks = read_tasks(&self.tasks, &[]);
        if self.process.stage.is_none() {
            note(&programs.notes);
            note(&tasks.notes);
        }
        let given = Given {
            programs: programs.programs,
            tasks: tasks.tasks,
        };
        (given, [programs.errors, tasks.errors].concat())
    }
}

/// A benchmark in progress.
struct Work {
    document: Document,
    /// An earlier one, with its file.
    compared: Option<(Document, PathBuf)>,
    /// The folder of the parts.
    parts: PathBuf,
    /// The file of the document; its page is beside it.
    json: PathBuf,
    arguments: Vec<String>,
    until: Instant,
    cancellation: Cancellation,
}

impl Work {
    /// Runs the stages one after the other, but those that an earlier run has finished.
    fn run(&mut self, stages: &[&Stage], lines: &mut Lines) -> anyhow::Result<()> {
        let fresh = Part::new(self.document.environment.clone(), self.arguments.clone());
        for (at, stage) in stages.iter().enumerate() {
            let file = self.parts.join(format!("{}.json", stage.name));
            let kept = Part::read(&file).ok();
            let kept = kept.filter(|part| part.is_kept_by(&fresh));
            let shares = stages[at..].iter().map(|stage| stage.share).sum();
            let left = self.until.saturating_duration_since(Instant::now());
            let began = Instant::now();
            let (mut part, unended) = match kept {
                Some(part) => {
                    lines.print(format_args!("{}: kept from before", stage.title));
                    (part, None)
                }
                None if self.cancellation.is_cancelled() || left.is_zero() => {
                    let why = "the benchmark ended before it".to_owned();
                    self.document.stages.push(StageReport {
                        stage: stage.name.to_owned(),
                        state: ExpectationState::NotRun,
                        seconds: 0.0,
                        reasons: vec![why],
                        lines: Vec::new(),
                    });
                    continue;
                }
                None => {
                    let time = stage.time(left, shares);
                    if stages.len() > 1 {
                        let seconds = time.as_secs_f64();
                        lines.print(format_args!("{}: up to {seconds:.0} s", stage.title));
                    }
                    lines.flush();
                    fresh.write(&file)?;
                    let unended = self.process(stage, &file, time)?.err();
                    (Part::read(&file)?, unended)
                }
            };
            if !part.ended {
                let why = unended.unwrap_or_else(|| "it did not come to its end".to_owned());
                part.failures.push(why);
            }
            self.document.stages.push(StageReport {
                stage: stage.name.to_owned(),
                state: part.state(),
                seconds: began.elapsed().as_secs_f64(),
                reasons: part.failures.into_iter().chain(part.skipped).collect(),
                lines: part.lines,
            });
            self.document.found.add(part.found);
            self.write()?;
        }
        self.write()
    }

    /// Writes the document and its page, so far.
    fn write(&mut self) -> anyhow::Result<()> {
        let document = &mut self.document;
        document.verdict = bench::judge(document);
        let compared = self.compared.as_ref();
        document.comparison = compared.map(|(kept, file)| bench::compare(document, kept, file));
        let text = serde_json::to_string_pretty(document)? + "\n";
        let page = bench::page(document);
        let write = |file: &Path, text: &str| {
            Destination::open(file, Folders::Created)?.write(|out| out.write_all(text.as_bytes()))
        };
        write(&self.json, &text)?;
        write(&self.json.with_extension("md"), &page)
    }

    /// Runs the process of a stage; if it does not come to its end, says why.
    fn process(
        &self,
        stage: &Stage,
        file: &Path,
        time: Duration,
    ) -> anyhow::Result<Result<(), String>> {
        let soft = time.mul_f64(SOFT).as_secs_f64();
        let mut command = bench::command(stage.name, file, soft)?;
        // Processes may run in other working directories.
        let cache = std::path::absolute(self.parts.join(DRIVER_CACHE))?;
        command
            .env("CUDA_CACHE_PATH", cache)
            .env("CUDA_CACHE_DISABLE", "0");
        let began = Instant::now();
        let until = began + time;
        Ok(match bench::run(command, until, &self.cancellation)? {
            Ended::Alone(status) if status.success() => Ok(()),
            Ended::Alone(status) => Err(format!("its process ended with {status}")),
            Ended::TooLong => Err(format!(
                "its process was ended after {:.0} s: it hung, or its work took longer than its share of the time",
                began.elapsed().as_secs_f64()
            )),
            Ended::Cancelled => Err("it was ended by a signal".to_owned()),
        })
    }
}

/// Reads a number of evaluations of a batch.
fn size(text: &str) -> Result<usize, String> {
    let size = text.parse().ok();
    size.filter(|size| (1..=bench::MOST_EVALUATIONS).contains(size))
        .ok_or_else(|| format!("expected 1 to {} evaluations", bench::MOST_EVALUATIONS))
}

/// Reads a number of minutes.
fn minutes(text: &str) -> Result<f64, String> {
    let minutes = text.parse().ok();
    minutes
        .filter(|minutes: &f64| (0.01..=10_000.0).contains(minutes))
        .ok_or_else(|| "expected 0.01 to 10000 minutes".to_owned())
}
