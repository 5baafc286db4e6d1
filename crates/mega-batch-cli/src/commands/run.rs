//! `mega-batch run`: runs programs on tasks.

use std::collections::HashSet;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use arc_dsl::Program;
use arc_tasks::builtin::{self, BuiltIn};
use arc_tasks::{MAX_SIDE, Task};
use mega_batch::inputs::{InputError, TasksRead, read_tasks};
use mega_batch::{
    Attempts, Backend, Batch, Cancellation, Coordinator, CoordinatorError, Finished, Job, Merging,
    Mode, Options, Placement, Summary, TaskDetails, TaskState, escaped,
};

use python_pool::Pool;
use rayon::prelude::*;

use super::exit::Exit;
use super::log::Log;
use super::output::Destination;
use super::python::FreePython;
use super::seconds::seconds;
use super::signals::Signals;
use super::terminal::print_beside;
use super::{
    ProgramFormat, Selection, TaskFilter, a_few, builtin_programs, exit, limits, named,
    no_checkpoint, note, tell, threads, warn,
};
use crate::table::{Table, program_label};
use watch::Watch;

mod watch;

/// Runs programs on tasks and says which outputs are right.
///
/// Each program is run on the task whose id ends its name (`solve_007bbfb7` on `007bbfb7`). A task is solved if one
/// program is right on every pair of it whose output is known. SIGINT, SIGTERM and SIGHUP end the run, and what is
/// finished is written; a second SIGINT ends it at once. With a checkpoint only the last moments are lost even then.
#[derive(Debug, clap::Args)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
pub(crate) struct Run {
    /// Tasks: folders, files or archives of them, in any common layout; `-` is the standard input, here as for every
    /// file that is read [default: the built-in tasks].
    #[arg(long, value_name = "PATH", num_args = 1..)]
    tasks: Vec<PathBuf>,

    /// Programs: `.py` files, folders or zip archives of them [default: the built-in programs].
    #[arg(long, value_name = "PATH", num_args = 1..)]
    programs: Vec<PathBuf>,

    #[command(flatten)]
    how: ProgramFormat,

    #[command(flatten)]
    python: FreePython,

    /// Files of solutions to the tasks, in Kaggle's format; those in a folder of tasks are found without it.
    // The parser does not require an option that conflicts with one that is given.
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "tasks", conflicts_with = "pairs")]
    solutions: Vec<PathBuf>,

    #[command(flatten)]
    chosen: TaskFilter,

    /// Pairs of each built-in task, at most 100,000. Use it with --all-pairs to generate any amount of work.
    #[arg(long, value_name = "N", default_value_t = 4, conflicts_with = "tasks", value_parser = pairs)]
    pairs: usize,

    /// Run every program on every task.
    #[arg(long)]
    all_pairs: bool,

    /// How evaluations are distributed; the results are the same. `gpu` gives NVIDIA GPUs all that they can run and
    /// the cores the rest, with `auto` GPUs and cores take the next evaluations as they are free; without a GPU both are
    /// `parallel`.
    #[arg(long, value_parser = named(&Mode::NAMES), default_value = "parallel")]
    mode: Mode,

    /// Threads, except in sequential mode; at most 1024 [default: one for each core].
    #[arg(long, value_name = "N", value_parser = super::workers)]
    workers: Option<NonZeroUsize>,

    /// What evaluates the programs; the results are the same. `auto` compiles programs that are evaluated often
    /// enough in this run. `cuda` runs what it can on NVIDIA GPUs too, as far as that is faster; for tests, `emulated`
    /// runs the same kernels on the CPU and `ptx` executes the PTX that GPUs are given; the rest is done as by `auto`. An evaluation ends at a limit if neither the reference nor a compiled program finishes within
    /// it; with a timeout the reference alone decides.
    #[arg(long, value_parser = named(&Backend::NAMES), default_value = "auto")]
    backend: Backend,

    /// With `cuda`, `emulated` and `ptx`, where evaluations may run: wherever is free first, on the CPU alone, or on
    /// devices whenever possible [default: auto with `cuda`, otherwise devices].
    #[arg(long, value_parser = named(&PLACEMENTS))]
    placement: Option<Placement>,

    /// With `cuda`, how many GPUs are used [default: all].
    #[arg(long, value_name = "N", value_parser = super::number::<usize>)]
    gpus: Option<usize>,

    /// With `cuda`, from how many evaluations on a GPU is used [default: 20].
    #[arg(long, value_name = "N", value_parser = super::number::<u64>)]
    threshold: Option<u64>,

    /// With `cuda`, `emulated` and `ptx`, the number of evaluations in a window of a device [default: by its speed and
    /// memory].
    #[arg(long, value_name = "N", value_parser = super::from_one::<u64>)]
    batch_size: Option<u64>,

    /// Write one JSON document of all results; `-` is the standard output. A file is replaced once the document is
    /// complete.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// With --json, put the grids that programs return into the document.
    #[arg(long, requires = "json")]
    outputs: bool,

    /// With --json, rank the candidates of each task, and put tasks, best candidates and attempts into the
    /// document, for `mega-batch report`.
    #[arg(long, requires = "json")]
    attempts: bool,

    /// Write the best two attempts for each test input of each task in the form of Kaggle's competitions. The file is
    /// there from the beginning, and complete at any time.
    #[arg(long, value_name = "FILE")]
    submission: Option<PathBuf>,

    /// Write the ids of the tasks for which no program is right on all train pairs, one a line, for `search
    /// --ids-file`; `-` is the standard output.
    #[arg(long, value_name = "FILE")]
    unsolved: Option<PathBuf>,

    /// Keep results in this file as they come, so that `--resume` can go on from there however the run ends.
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,

    /// Begin with the results in the checkpoint, if there are any; they must be of the same programs, tasks and
    /// limits.
    #[arg(long, requires = "checkpoint")]
    resume: bool,

    #[command(flatten)]
    log: Log,

    /// Run programs on the train pairs of tasks only. There is then nothing for a submission.
    #[arg(long, conflicts_with = "submission")]
    train_only: bool,

    /// Stop running a program on a task after the first pair on which it is wrong or fails.
    #[arg(long)]
    stop_after_wrong: bool,

    /// End the run this many seconds after its inputs are read: what is finished then is written, as after a signal.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    time_limit: Option<Duration>,

    /// Whether programs that have steps in common are evaluated together, by the backend `auto`; the results are the
    /// same.
    #[arg(long, value_parser = named(&Merging::NAMES), default_value = "auto")]
    merging: Merging,

    /// Stop an evaluation after this many steps of the reference, or as many of a compiled program [default:
    /// 10,000,000].
    #[arg(long, value_name = "N", value_parser = super::number::<u64>)]
    max_steps: Option<u64>,

    /// Stop an evaluation after this many milliseconds; what is stopped then depends on the machine [default: never].
    #[arg(long, value_name = "N", value_parser = super::number::<u64>)]
    timeout_ms: Option<u64>,

    /// Print nothing but errors.
    #[arg(long)]
    quiet: bool,
}

const PLACEMENTS: [(&str, Placement); 3] = [
    ("auto", Placement::Auto),
    ("host", Placement::Host),
    ("devices", Placement::Devices),
];

impl Run {
    pub(crate) fn run(self) -> anyhow::Result<Exit> {
        let json = Destination::of_option(self.json.as_ref())?;
        let spool = json.as_ref().map(Destination::spool).transpose()?;
        let submission = Destination::file_of_option(self.submission.as_ref())?;
        let unsolved = Destination::of_option(self.unsolved.as_ref())?;
        self.log.begin()?;
        self.warn_of_devices();
        if !self.is_sequential() && self.tasks.is_empty() {
            threads::share()?;
        }
        let one = self.is_sequential().then_some(NonZeroUsize::MIN);
        let python = self.python.pool(one.or(self.workers))?;
        let (tasks, programs, errors, meant) = self.inputs(python.as_ref());
        tell(&errors);
        let batch = if self.all_pairs {
            Batch::all_pairs(&programs, &tasks)
        } else {
            Batch::own_tasks(&programs, &tasks)
        };
        let batch = if self.train_only {
            batch.train_only()
        } else {
            batch
        };
        let batch = match &python {
            Some(pool) => batch.with_python(pool),
            None => batch,
        };
        if !self.quiet {
            for odd in batch.notes() {
                let _ = writeln!(io::stderr().lock(), "note: {odd}");
            }
        }
        // Before this point nothing is finished that could be written.
        let signals = Signals::listen()?;
        let options = self.options(signals.cancellation());
        let mut coordinator = Coordinator::new(&batch, &options);
        if self.attempts || unsolved.is_some() {
            coordinator = coordinator.attempts();
        }
        if let Some(file) = submission {
            coordinator = coordinator.submission(file);
        }
        coordinator = match &self.checkpoint {
            Some(file) if self.resume => coordinator.resume(file),
            Some(file) => coordinator.checkpoint(file),
            None => coordinator,
        };
        let mut watch = Watch::new(&batch, spool, self.quiet);
        let finished = match coordinator.run(&mut watch) {
            Err(CoordinatorError::Checkpoint(error)) => {
                watch.end();
                return Ok(no_checkpoint(&error));
            }
            finished => finished.map_err(threads::explain)?,
        };
        let Finished { summary, attempts } = finished;
        let report = watch.end();
        warn_of_failure(&summary);
        if let (Some(unsolved), Some(attempts)) = (unsolved, &attempts) {
            unsolved.write(|out| write_unsolved(attempts, &tasks, out))?;
        }
        let details = match attempts {
            Some(attempts) if self.attempts => {
                Some(TaskDetails::of_all(&attempts, &summary, &options)?)
            }
            _ => None,
        };

        // A document on the standard output is the only thing there.
        let on_stdout = matches!(json, Some(Destination::Stdout));
        let written = match (report, json) {
            (Some(report), Some(destination)) => report.and_then(|report| {
                let report = report.with(details);
                destination.write(|out| report.write(&summary, &errors, out))
            }),
            _ => Ok(()),
        };
        // The results are reported even if the document cannot be written.
        let text = self.closing_words(&batch, &summary);
        let printed = print_beside(&text, self.quiet, on_stdout);
        written?;
        if let Some(ended) = signals.received() {
            return Ok(ended);
        }
        printed?;
        if batch.evaluations() == 0 && meant == Selection::Tasks {
            // Without a program or a task, the errors say why.
            let is_told =
                !errors.is_empty() && (batch.programs().is_empty() || batch.tasks().is_empty());
            if !is_told {
                warn(format_args!("{}", nothing_run(&batch, self.all_pairs)));
            }
            return Ok(Exit::BadInput);
        }
        Ok(exit(&errors))
    }

    /// Whether to use one thread for everything.
    fn is_sequential(&self) -> bool {
        self.mode == Mode::Sequential
    }

    fn inputs(
        &self,
        python: Option<&Pool>,
    ) -> (Vec<Task>, Vec<Program>, Vec<InputError>, Selection) {
        let mut read = if self.tasks.is_empty() {
            TasksRead {
                tasks: builtin_tasks(self.pairs, self.is_sequential()),
                ..TasksRead::default()
            }
        } else {
            read_tasks(&self.tasks, &self.solutions)
        };
        let meant = self.chosen.choose(&mut read);
        if self.programs.is_empty()
            && let Some(file) = read.with_programs.first()
        {
            let count = read.with_programs.len();
            let message = format!(
                "programs beside the tasks, in {count} file{}: --programs runs them",
                if count == 1 { "" } else { "s" }
            );
            read.notes.push(InputError::whole(file, message));
        }
        let programs = if self.programs.is_empty() {
            builtin_programs()
        } else {
            let found = self.how.read(&self.programs, python);
            // A folder given as both is reported once.
            add_new(&mut read.notes, found.notes);
            add_new(&mut read.errors, found.errors);
            found.programs
        };
        if !self.quiet {
            note(&read.notes);
        }
        (read.tasks, programs, read.errors, meant)
    }

    fn options(&self, cancellation: Cancellation) -> Options {
        let mut options = Options::default();
        options.mode = self.mode;
        options.workers = self.workers;
        options.limits = limits(self.max_steps, self.timeout_ms);
        options.backend = self.backend;
        options.merging = self.merging;
        options.placement = self.placement;
        options.gpus = self.gpus;
        options.threshold = self.threshold;
        options.batch_size = self.batch_size;
        options.keep_outputs = self.outputs;
        options.scores = false;
        options.stop_after_wrong = self.stop_after_wrong;
        options.time_limit = self.time_limit;
        options.cancellation = cancellation;
        options
    }

    /// Warns about options for devices if none may be used.
    fn warn_of_devices(&self) {
        let is_said = self.gpus.is_some()
            || self.threshold.is_some()
            || self.batch_size.is_some()
            || self.placement.is_some();
        let has_mode = matches!(self.mode, Mode::Gpu | Mode::Auto);
        let devices = [Backend::Emulated, Backend::Interpreted, Backend::Cuda];
        if is_said && !has_mode && !devices.contains(&self.backend) {
            warn(format_args!(
                "--gpus, --threshold, --batch-size and --placement are for devices, of which this run has none: \
                 --backend cuda, or --mode gpu or auto"
            ));
        }
    }

    /// The table, and a note on what was not run.
    fn closing_words(&self, batch: &Batch<'_>, summary: &Summary) -> String {
        match (batch.tasks(), batch.programs()) {
            ([], _) => "nothing to run: no tasks\n".to_owned(),
            (_, []) => "nothing to run: no programs\n".to_owned(),
            _ if self.all_pairs || !summary.is_complete() => Table { batch, summary }.to_string(),
            _ => {
                let notes = [
                    idle_programs(batch, summary),
                    shared_names(batch),
                    idle_tasks(summary),
                ];
                let table = Table { batch, summary }.to_string();
                let notes = notes
                    .into_iter()
                    .flatten()
                    .map(|note| format!("\nnote: {note}\n"));
                std::iter::once(table).chain(notes).collect()
            }
        }
    }
}

/// Warns if a device has failed.
fn warn_of_failure(summary: &Summary) {
    if let Some(device) = &summary.backends.device
        && let Some(failure) = &device.failure
    {
        warn(format_args!(
            "{}: {failure}; the CPU did the rest",
            device.name
        ));
    }
}

/// Adds errors that are not in the list yet.
fn add_new(all: &mut Vec<InputError>, more: Vec<InputError>) {
    let known: HashSet<InputError> = all.iter().cloned().collect();
    all.extend(more.into_iter().filter(|error| !known.contains(error)));
}

/// Writes the ids of the tasks for which no program is right on all train pairs.
fn write_unsolved(attempts: &Attempts<'_>, tasks: &[Task], out: &mut dyn Write) -> io::Result<()> {
    let mut unsolved = (0..tasks.len()).filter(|at| !attempts.fits_train(*at));
    unsolved.try_for_each(|at| writeln!(out, "{}", tasks[at].id))
}

fn idle_programs(batch: &Batch<'_>, summary: &Summary) -> Option<String> {
    let programs = summary.by_program.iter().zip(batch.programs());
    // Tasks may have no pairs.
    let with_task: HashSet<u32> = batch.jobs().map(|job| job.program).collect();
    let programs = programs.zip(0..).filter(|(_, at)| !with_task.contains(at));
    let programs = programs.filter(|(_, at)| !batch.has_two_ids(*at));
    let programs = programs.map(|(program, _)| program);
    let mut idle = programs.filter(|(stats, _)| stats.evaluations == 0);
    let (_, first) = idle.next()?;
    let (count, have) = match idle.count() + 1 {
        1 => (1, "program has"),
        count => (count, "programs have"),
    };
    let name = program_label(first, batch.programs());
    let id = first.task_id();
    let why = if first.name().ends_with(id) {
        format!("the name {name} has none of their ids")
    } else {
        format!("{name} is said to be for {}", escaped(id))
    };
    Some(format!(
        "{count} {have} no task here ({why}); \
         --all-pairs runs every program on every task"
    ))
}

/// Which programs are run on several tasks, since these have one name.
fn shared_names(batch: &Batch<'_>) -> Option<String> {
    let jobs: Vec<_> = batch.jobs().collect();
    let of_program = jobs.chunk_by(|a, b| a.program == b.program);
    let id = |job: &Job| &*batch.tasks()[job.task as usize].id;
    let mut shared = of_program.filter(|jobs| jobs.iter().any(|job| id(job) != id(&jobs[0])));
    let first = shared.next()?;
    let name = program_label(
        &batch.programs()[first[0].program as usize],
        batch.programs(),
    );
    let more = match shared.count() {
        0 => String::new(),
        1 => ", and 1 more program likewise".to_owned(),
        count => format!(", and {count} more programs likewise"),
    };
    let tasks = a_few(first.iter().map(id));
    Some(format!(
        "{name} may be for each of {tasks}, and is run on each{more}; a line `# task: ID` above a program, or a folder \
         of that name, says which is meant"
    ))
}

/// Why there was nothing to run, with the names that should have matched.
fn nothing_run(batch: &Batch<'_>, all_pairs: bool) -> String {
    let programs = batch.programs().iter().map(Program::name);
    let tasks = batch.tasks().iter().map(|task| &*task.id);
    let found = format!("programs: {}; tasks: {}", a_few(programs), a_few(tasks));
    if all_pairs || batch.programs().is_empty() || batch.tasks().is_empty() {
        return format!("nothing was run; {found}");
    }
    format!(
        "nothing was run, expected the id of a task in the name of a program or of its file; {found}; \
         --all-pairs runs every program on every task"
    )
}

fn idle_tasks(summary: &Summary) -> Option<String> {
    let states = summary.by_task.iter();
    match states.filter(|&&state| state == TaskState::Untried).count() {
        0 => None,
        1 => Some("1 task has no program".to_owned()),
        count => Some(format!("{count} tasks have no program")),
    }
}

/// The most pairs of a built-in task: all tasks together then take some gigabytes.
const MAX_PAIRS: usize = 100_000;

/// Reads a number of pairs.
fn pairs(text: &str) -> Result<usize, String> {
    let pairs = text.parse().ok();
    pairs
        .filter(|pairs| (1..=MAX_PAIRS).contains(pairs))
        .ok_or_else(|| format!("expected 1 to {MAX_PAIRS} pairs"))
}

/// The built-in tasks are the same in every run.
const SEED: u64 = 0;

/// The built-in tasks with this many pairs each, the last one a test pair.
fn builtin_tasks(pairs: usize, is_sequential: bool) -> Vec<Task> {
    let (train, test) = (pairs.saturating_sub(1), pairs.min(1));
    let task = |program: &BuiltIn| program.task(SEED, train, test, MAX_SIDE);
    if is_sequential {
        builtin::all().iter().map(task).collect()
    } else {
        builtin::all().par_iter().map(task).collect()
    }
}
