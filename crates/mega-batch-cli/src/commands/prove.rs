//! `mega-batch prove`: shows in one command all that is to be shown of a GPU.
//!
//! Each stage is a process of its own: a GPU with a broken context, a driver that hangs and a process that is killed
//! for its memory end that stage and no other. A stage writes its document as it goes on, this process the summary
//! after each stage.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use mega_batch::{Cancellation, VERSION, devices};

use super::bench::GivenArguments;
use super::exit::Exit;
use super::output::{check_folder, shown};
use super::signals::Signals;
use super::terminal::Lines;
use super::{tell, warn};
use aims::Results;
use processes::How;
use record::{Entry, JSON, MARKDOWN, Page, SCHEMA, Settings, Sheet, State, Subject, Summary};
use stages::{Execution, PARTS, STAGES, Stage};

mod aims;
mod cupy;
mod driver;
mod processes;
mod record;
mod stages;

/// Shows that the first NVIDIA GPU gives the results of the reference, and how fast it is.
///
/// Self-check, whole programs, benchmarks beside the CPU, launch shapes, a GPU with full memory, several contexts,
/// and `CuPy` if it is installed, each in a process and a document of its own, and a summary of all that says which
/// aims are reached. It needs only this binary and a driver. It may be ended at any moment: what is written stays,
/// and the same command goes on after the stages that have finished. A stage that fails, hangs or is killed does not
/// affect the others, and the exit code is 1.
#[derive(Debug, clap::Args)]
pub(crate) struct Prove {
    /// The folder for everything that is written.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,

    /// The time limit. Each stage has a share of it, and leaves out what there is no time for.
    #[arg(long, value_name = "N", default_value_t = 25.0, value_parser = minutes)]
    minutes: f64,

    /// A small run of every stage, to see that all of them work.
    #[arg(long)]
    quick: bool,

    /// Begin anew, and replace the results of an earlier proof in the folder.
    #[arg(long)]
    again: bool,

    #[command(flatten)]
    given: GivenArguments,

    /// Threads of the CPU [default: one for each core].
    #[arg(long, value_name = "N", value_parser = super::workers)]
    workers: Option<NonZeroUsize>,

    /// The commit that this was built from [default: the one found when it was built].
    #[arg(long, value_name = "HASH")]
    commit: Option<String>,

    #[command(flatten)]
    part: Part,
}

/// Hidden arguments for the process of a stage.
#[derive(Debug, Clone, Default, clap::Args)]
struct Part {
    /// The stage to run.
    #[arg(long, hide = true)]
    stage: Option<String>,
    /// Its number, if there are several processes.
    #[arg(long, hide = true, default_value_t = 0)]
    number: usize,
    /// The file of its document.
    #[arg(long, hide = true, default_value = "part.json")]
    document: PathBuf,
    /// Its time limit.
    #[arg(long, hide = true, default_value_t = 0.0)]
    seconds: f64,
    #[arg(long, hide = true, default_value = "")]
    device: String,
    #[arg(long, hide = true)]
    note: Option<String>,
}

/// The note on results of a driver other than NVIDIA's.
const FAKE_DRIVER: &str = "made with a fake driver, which executes the kernels on the CPU: nothing here is a \
                        measurement of a GPU";

/// The fraction of a stage's time after which it leaves out what remains. The rest is for work in progress by then.
const SOFT: f64 = 0.85;

/// The folder used for the driver's cache, in place of the user's.
const DRIVER_CACHE: &str = "driver-cache";

/// The folder for the documents of processes that run a part of a stage.
const PARTS_FOLDER: &str = "parts";

/// Other files of a proof.
const OTHERS: [&str; 3] = ["cupy_pipeline.py", "grids.json", "cupy-rows.json"];

/// The context of a stage in its process.
struct StageContext<'p> {
    began: Instant,
    deadline: Instant,
    quick: bool,
    given: &'p GivenArguments,
    workers: Option<NonZeroUsize>,
    part: usize,
    note: Option<&'p str>,
}

impl StageContext<'_> {
    fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    fn is_over(&self) -> bool {
        self.left().is_zero()
    }

    fn is_fake_driver(&self) -> bool {
        self.note.is_some()
    }
}

impl Prove {
    pub(crate) fn run(self) -> anyhow::Result<Exit> {
        match &self.part.stage {
            Some(stage) => self.run_part(stage),
            None => self.prove(),
        }
    }

    /// Runs a stage in this process, or a part of it.
    fn run_part(&self, name: &str) -> anyhow::Result<Exit> {
        processes::end_with_parent()?;
        let of = Subject {
            device: self.part.device.clone(),
            note: self.part.note.clone(),
            engine_version: VERSION.to_owned(),
            commit: self.commit.clone(),
        };
        let mut all = STAGES.iter();
        let stage = all.find_map(|stage| match stage.execution {
            Execution::Process(make) if stage.name == name => Some(make),
            _ => None,
        });
        let part = || PARTS.iter().find(|(part, _)| *part == name);
        let make = stage.or_else(|| part().map(|(_, make)| *make));
        let make = make.with_context(|| format!("there is no stage {name}"))?;
        let began = Instant::now();
        let inside = StageContext {
            began,
            deadline: began + Duration::from_secs_f64(self.part.seconds),
            quick: self.quick,
            given: &self.given,
            workers: self.workers,
            part: self.part.number,
            note: self.part.note.as_deref(),
        };
        let mut sheet = Sheet::new(self.part.document.clone(), name, of);
        let made = make(&inside, &mut sheet);
        sheet.page.ended = true;
        if let Err(error) = &made {
            sheet.page.failures.push(format!("{error:#}"));
        }
        sheet.write()?;
        made.map(|()| Exit::Success)
    }

    fn prove(self) -> anyhow::Result<Exit> {
        let began = Instant::now();
        // Without a GPU, one message and no files, as with `bench`.
        let gpus = devices::gpus()?;
        let first = gpus.into_iter().next().context("there is no GPU")??;
        let is_fake_driver = driver::is_fake_driver();
        let of = Subject {
            device: if is_fake_driver {
                format!("{} (fake driver)", first.name)
            } else {
                first.name
            },
            note: is_fake_driver.then(|| FAKE_DRIVER.to_owned()),
            engine_version: VERSION.to_owned(),
            commit: self.commit.clone().or_else(crate::built_from),
        };
        let (given, errors) = self.given.read();
        tell(&errors);
        if !self.given.is_empty() && (given.programs.is_empty() || given.tasks.is_empty()) {
            warn(format_args!(
                "of the given programs and tasks none can be run"
            ));
            return Ok(Exit::BadInput);
        }
        let given = self.given.arguments();
        let given = given.iter().map(|word| word.to_string_lossy().into_owned());
        let settings = Settings {
            quick: self.quick,
            given: given.collect(),
        };
        check_folder(&self.out)?;
        fs::create_dir_all(&self.out).with_context(|| shown(&self.out))?;
        if self.again {
            clear(&self.out)?;
        }
        let kept = match self.kept(&of, &settings) {
            Ok(kept) => kept,
            Err(error) => {
                warn(format_args!("{error:#}"));
                return Ok(Exit::BadInput);
            }
        };
        let entry = |stage: &Stage| Entry {
            stage: stage.name.to_owned(),
            title: stage.title.to_owned(),
            state: State::NotRun,
            why: Vec::new(),
            seconds: 0.0,
            file: None,
            lines: Vec::new(),
        };
        let signals = Signals::listen()?;
        let mut proof = Proof {
            summary: Summary {
                schema: SCHEMA,
                of,
                settings,
                minutes: self.minutes,
                stages: STAGES
                    .iter()
                    .map(|stage| {
                        let mut kept = kept.iter();
                        let kept = kept.find(|entry| entry.stage == stage.name);
                        kept.cloned().unwrap_or_else(|| entry(stage))
                    })
                    .collect(),
                aims: Vec::new(),
            },
            program: std::env::current_exe().context("the name of this program is not known")?,
            until: began + Duration::from_secs_f64(self.minutes * 60.0),
            cancellation: signals.cancellation(),
            is_fake_driver,
            prove: self,
        };
        let mut lines = Lines::default();
        proof.run_stages(&mut lines)?;
        let folder = &proof.prove.out;
        lines.print(format_args!(
            "written to {} and {}",
            shown(&folder.join(JSON)),
            shown(&folder.join(MARKDOWN))
        ));
        lines.end()?;
        if let Some(ended) = signals.received() {
            return Ok(ended);
        }
        Ok(if proof.summary.is_whole() {
            Exit::Success
        } else {
            Exit::Failure
        })
    }

    /// The stages of an earlier proof in the folder, which must be of the same device, version and settings.
    fn kept(&self, of: &Subject, settings: &Settings) -> anyhow::Result<Vec<Entry>> {
        let file = self.out.join(JSON);
        if !file.exists() {
            return Ok(Vec::new());
        }
        let summary = Summary::read(&file)?;
        let differs = |what: &str| {
            let file = shown(&file);
            anyhow!("{file}: it is of another {what}: --again begins anew, or take another folder")
        };
        if summary.schema != SCHEMA || summary.of.engine_version != of.engine_version {
            return Err(differs("version of the engine"));
        }
        if summary.of.commit != of.commit {
            return Err(differs("commit"));
        }
        if summary.of != *of {
            return Err(differs("device"));
        }
        if summary.settings != *settings {
            return Err(differs("extent, by --quick or the given programs"));
        }
        Ok(summary.stages)
    }
}

/// Removes the files of an earlier proof.
fn clear(folder: &Path) -> anyhow::Result<()> {
    let stages = STAGES.iter().map(|stage| stage.name);
    let names = stages.chain(PARTS.iter().map(|(name, _)| *name));
    let mut files = vec![JSON.to_owned(), MARKDOWN.to_owned()];
    files.extend(OTHERS.iter().map(ToString::to_string));
    for name in names {
        files.push(format!("{name}.log"));
        files.push(format!("{name}.json"));
    }
    for file in files {
        let file = folder.join(file);
        match fs::remove_file(&file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(error).with_context(|| format!("{}: cannot be removed", shown(&file)));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Creates an empty folder.
fn emptied(folder: &Path) -> anyhow::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => fs::create_dir_all(folder),
    }
    .with_context(|| format!("{}: cannot be emptied", shown(folder)))
}

/// A proof in progress.
struct Proof {
    prove: Prove,
    summary: Summary,
    program: PathBuf,
    until: Instant,
    cancellation: Cancellation,
    is_fake_driver: bool,
}

/// The context of a stage that runs several processes.
struct Parts<'p> {
    proof: &'p Proof,
    /// When its processes are killed.
    until: Instant,
    /// When it is to leave out what remains.
    soft: Instant,
    /// Whether some were killed because the proof was cancelled.
    cut_off: bool,
}

impl Proof {
    fn folder(&self) -> &Path {
        &self.prove.out
    }

    /// Runs the stages that have not finished before: those that have failed before last.
    fn run_stages(&mut self, lines: &mut Lines) -> anyhow::Result<()> {
        lines.print(format_args!("{}", self.summary.of.device));
        if let Some(note) = &self.summary.of.note {
            lines.print(note);
        }
        let all = self.summary.stages.iter();
        let kept: Vec<&str> = all
            .filter(|entry| entry.state.is_kept())
            .map(|entry| &*entry.title)
            .collect();
        if !kept.is_empty() {
            lines.print(format_args!(
                "kept, since they had ended before: {}",
                kept.join(", ")
            ));
        }
        let state = |at: &usize| self.summary.stages.get(*at).map(|entry| entry.state);
        let (mut order, mut failed) = (Vec::new(), Vec::new());
        for at in 0..STAGES.len() {
            match state(&at) {
                Some(State::Failed) => failed.push(at),
                Some(state) if state.is_kept() => {}
                _ => order.push(at),
            }
        }
        order.extend(failed);
        self.write()?;
        for (done, &at) in order.iter().enumerate() {
            let Some(stage) = STAGES.get(at) else {
                continue;
            };
            if self.cancellation.is_cancelled() {
                break;
            }
            let shares = order.iter().skip(done).filter_map(|at| STAGES.get(*at));
            let shares: f64 = shares.map(|stage| stage.share).sum();
            let left = self.until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                self.enter(at, |entry| entry.why = vec!["no time was left".to_owned()]);
                continue;
            }
            let time = stage.time(left, shares);
            lines.print(format_args!(
                "{}: up to {:.0} s",
                stage.title,
                time.as_secs_f64()
            ));
            self.enter(at, |entry| {
                entry.state = State::UnderWay;
                entry.why = vec!["it was ended from outside".to_owned()];
                entry.file = Some(format!("{}.json", stage.name));
                entry.lines.clear();
            });
            self.write()?;
            let began = Instant::now();
            let failed = |error| (State::Failed, vec![format!("{error:#}")], Vec::new());
            let (state, why, told) = self.stage(stage, time).unwrap_or_else(failed);
            let seconds = began.elapsed().as_secs_f64();
            let name = state.name();
            let first = why.first().map(|why| format!(": {why}"));
            lines.print(format_args!(
                "  {name} after {seconds:.1} s{}",
                first.unwrap_or_default()
            ));
            self.enter(at, |entry| {
                entry.state = state;
                entry.why = why;
                entry.seconds = seconds;
                entry.lines = told;
            });
            self.write()?;
        }
        self.write()?;
        for aim in &self.summary.aims {
            lines.print(format_args!(
                "{}: {}; wanted: {}",
                aim.name,
                aim.found(),
                aim.wanted()
            ));
        }
        Ok(())
    }

    fn enter(&mut self, at: usize, change: impl FnOnce(&mut Entry)) {
        if let Some(entry) = self.summary.stages.get_mut(at) {
            change(entry);
        }
    }

    /// Writes the summary so far, with the aims.
    fn write(&mut self) -> anyhow::Result<()> {
        let read = |entry: &Entry| {
            let page = Page::read(&self.folder().join(entry.file.as_ref()?)).ok()?;
            Some((entry.stage.clone(), page.result))
        };
        let results: BTreeMap<_, _> = self.summary.stages.iter().filter_map(read).collect();
        self.summary.aims = aims::judge(&Results(results), self.is_fake_driver);
        self.summary.write(self.folder())
    }

    /// Runs a stage. Returns its state, the reasons, and its lines.
    fn stage(
        &self,
        stage: &Stage,
        time: Duration,
    ) -> anyhow::Result<(State, Vec<String>, Vec<String>)> {
        let (name, began) = (stage.name, Instant::now());
        let file = self.folder().join(format!("{name}.json"));
        // The document of an earlier run is replaced.
        let mut sheet = Sheet::new(file.clone(), name, self.summary.of.clone());
        sheet.write()?;
        let mut parts = Parts {
            proof: self,
            until: began + time,
            soft: began + time.mul_f64(SOFT),
            cut_off: false,
        };
        let unended = match stage.execution {
            Execution::Process(_) => {
                let command = parts.command(name, 0, &file);
                parts.watch(vec![command], name)?.err()
            }
            Execution::Parts(make) => {
                let made = make(&mut parts, &mut sheet);
                // A signal may have reached the processes first.
                let cut_off = parts.cut_off || self.cancellation.is_cancelled();
                sheet.page.ended = !cut_off;
                let made = made.map_err(|error| format!("{error:#}"));
                match made {
                    Err(why) if !cut_off => sheet.page.failures.push(why),
                    _ => {}
                }
                sheet.write()?;
                None
            }
        };
        let page = Page::read(&file)?;
        let lines = page.lines;
        if self.cancellation.is_cancelled() && !page.ended {
            let why = vec!["it was ended by a signal".to_owned()];
            return Ok((State::UnderWay, why, lines));
        }
        let mut failures = page.failures;
        if !page.ended {
            failures.push(unended.unwrap_or_else(|| "it did not come to its end".to_owned()));
        }
        Ok(if !failures.is_empty() {
            (State::Failed, failures, lines)
        } else if let Some(why) = page.skipped {
            (State::Skipped, vec![why], lines)
        } else if page.left_out.is_empty() {
            (State::Ended, Vec::new(), lines)
        } else {
            let left = page.left_out.iter();
            let left = left.map(|what| format!("left out: {what}"));
            (State::Cut, left.collect(), lines)
        })
    }
}

impl Parts<'_> {
    fn folder(&self) -> &Path {
        self.proof.folder()
    }

    fn is_quick(&self) -> bool {
        self.proof.prove.quick
    }

    fn is_fake_driver(&self) -> bool {
        self.proof.is_fake_driver
    }

    /// Whether what remains is to be left out.
    fn is_over(&self) -> bool {
        Instant::now() >= self.soft || self.proof.cancellation.is_cancelled()
    }

    /// This program, as a command that runs a stage or a part of one.
    fn command(&self, name: &str, number: usize, document: &Path) -> Command {
        let Proof {
            prove,
            summary,
            program,
            ..
        } = self.proof;
        let left = self.soft.saturating_duration_since(Instant::now());
        let mut command = Command::new(program);
        command
            .args(["prove", "--stage", name, "--out"])
            .arg(&prove.out)
            .arg("--document")
            .arg(document)
            .args(["--number", &number.to_string()])
            .args(["--seconds", &left.as_secs_f64().to_string()])
            .args(["--device", &summary.of.device])
            .args(prove.given.arguments());
        let mut with = |name: &str, value: Option<OsString>| {
            if let Some(value) = value {
                command.arg(name).arg(value);
            }
        };
        with("--note", summary.of.note.as_ref().map(Into::into));
        with("--commit", summary.of.commit.as_ref().map(Into::into));
        with("--workers", prove.workers.map(|n| n.to_string().into()));
        if prove.quick {
            command.arg("--quick");
        }
        command
            .env("CUDA_CACHE_PATH", self.driver_cache())
            .env("CUDA_CACHE_DISABLE", "0");
        command
    }

    fn driver_cache(&self) -> PathBuf {
        let folder = self.folder().join(DRIVER_CACHE);
        // Processes may run in other working directories.
        std::path::absolute(&folder).unwrap_or(folder)
    }

    /// Empties the driver's cache.
    fn empty_cache(&self) -> anyhow::Result<()> {
        emptied(&self.driver_cache())
    }

    /// Waits for processes; if one fails, returns why.
    fn watch(&mut self, commands: Vec<Command>, name: &str) -> anyhow::Result<Result<(), String>> {
        let log = self.folder().join(format!("{name}.log"));
        self.watch_with(commands, &log)
    }

    fn watch_with(
        &mut self,
        commands: Vec<Command>,
        log: &Path,
    ) -> anyhow::Result<Result<(), String>> {
        let began = Instant::now();
        let cancellation = &self.proof.cancellation;
        let how = processes::watch(commands, log, self.until, cancellation).with_context(|| {
            format!("a process cannot be run, with its output in {}", shown(log))
        })?;
        let reason = || {
            let reason = processes::reason(log);
            reason.map_or_else(String::new, |reason| format!(": {reason}"))
        };
        Ok(match how {
            How::Ended(all) if all.iter().all(ExitStatus::success) => Ok(()),
            How::Ended(all) => {
                let failed = all.iter().find(|status| !status.success());
                let status = failed.map(ToString::to_string).unwrap_or_default();
                Err(format!("its process ended with {status}{}", reason()))
            }
            How::TooLong => Err(format!(
                "its process was ended after {:.0} s: it hung, or its work took longer than its share of the time",
                began.elapsed().as_secs_f64()
            )),
            How::Cancelled => {
                self.cut_off = true;
                Err("it was ended by a signal".to_owned())
            }
        })
    }

    /// Runs `count` processes of a part at the same time, and returns their documents.
    fn run(&mut self, part: &str, count: usize) -> anyhow::Result<Vec<Page>> {
        let folder = self.folder().join(PARTS_FOLDER);
        emptied(&folder)?;
        let file = |number: usize| folder.join(format!("{part}-{number}.json"));
        let commands = (0..count).map(|number| self.command(part, number, &file(number)));
        let commands = commands.collect();
        let ended = self.watch(commands, part)?;
        let pages: Vec<Page> = (0..count)
            .filter_map(|number| Page::read(&file(number)).ok())
            .collect();
        // What is left there is not needed.
        let _ = fs::remove_dir_all(&folder);
        // The caller reports what the processes themselves have reported.
        let is_told = pages.iter().any(|page| !page.failures.is_empty());
        match ended {
            Err(why) if !(is_told && count > 1) => Err(anyhow!(why)),
            _ => Ok(pages),
        }
    }

    /// Runs another program, and returns its output.
    fn run_other(
        &mut self,
        command: Command,
        log: &Path,
    ) -> anyhow::Result<Result<String, String>> {
        let ended = self.watch_with(vec![command], log)?;
        let text = fs::read(log).with_context(|| shown(log))?;
        Ok(ended.map(|()| String::from_utf8_lossy(&text).into_owned()))
    }
}

/// Reads a number of minutes.
fn minutes(text: &str) -> Result<f64, String> {
    let minutes = text.parse().ok();
    minutes
        .filter(|minutes: &f64| (0.01..=10_000.0).contains(minutes))
        .ok_or_else(|| "expected 0.01 to 10000 minutes".to_owned())
}
