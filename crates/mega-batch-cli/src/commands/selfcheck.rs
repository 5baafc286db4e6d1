//! `mega-batch selfcheck`: whether all evaluators agree on this machine.

use std::io::{self, Write};
use std::path::PathBuf;

use arc_check::conformance::suite::{Extent, Test};
use arc_check::selfcheck;
use arc_check::selfcheck::device::Checked;
use arc_dsl::Program;
use arc_tasks::{MAX_SIDE, Task, builtin};
use arc_text::Reading;
use mega_batch::inputs::{InputError, read_programs};

use super::exit::Exit;
use super::terminal::progress_bar;
use super::{TaskFilter, builtin_programs, exit, note, tell, threads, warn};

/// Checks that the reference, the first-order form, the compiled path and batts agree on this machine.
///
/// They run random programs on random inputs, or, with programs or tasks, each program on the inputs of its own task
/// and on inputs of others. They agree if values are equal, and if errors are of the same kind at the same line;
/// bail-outs to the reference are counted, by reason. With a device as backend, the whole conformance suite is run on
/// it instead, with a line of the table for each family of its tests, and programs from files on the inputs of their
/// tasks. With all backends, random programs with loops and programs on foreign inputs are run by everything that
/// needs no GPU. If anything differs, the case is printed, and the exit code is 1; it is also 1 if there is no such
/// device.
#[derive(Debug, clap::Args)]
pub(crate) struct Selfcheck {
    /// What is compared with the reference.
    #[arg(long, value_enum, default_value = "compiled")]
    backend: Backend,

    /// How many random cases, or inputs of other tasks; with a device, how many cases of its operations in
    /// all, and 60 of each at least; with all backends, how many random cases have to run on each of them
    /// [default: 100000; with the compiled path, and programs or tasks, 10000].
    #[arg(long, value_name = "N", value_parser = super::from_one::<u64>)]
    cases: Option<u64>,

    /// With all backends, how many pairs of a program and an input are run besides the random cases: an input of
    /// another task, and for mutants as often one of their program's own [default: a tenth of their number].
    #[arg(long, value_name = "N", value_parser = super::number::<u64>)]
    pairs: Option<u64>,

    /// The seed of the cases: the same seed checks the same ones.
    #[arg(long, value_name = "S", default_value_t = 0, value_parser = super::number::<u64>)]
    seed: u64,

    /// Programs: `.py` files or folders of them [default with tasks: the built-in programs].
    #[arg(long, value_name = "PATH", num_args = 1..)]
    programs: Vec<PathBuf>,

    /// Tasks: folders, files or archives of them, in any common layout [default with programs: the built-in tasks].
    #[arg(long, value_name = "PATH", num_args = 1..)]
    tasks: Vec<PathBuf>,

    #[command(flatten)]
    chosen: TaskFilter,

    /// With programs or tasks, run mutants of the programs too: a number, a variable or a primitive is replaced by
    /// another, arguments are swapped, a step is removed or repeated. With all backends, mutants replace the
    /// programs.
    #[arg(long)]
    vary: bool,

    /// How many disagreements are printed.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = super::number::<usize>)]
    show: usize,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Backend {
    /// The compiled path, for every CPU and for wide vectors, and the form that it is compiled from.
    Compiled,
    /// The kernels of the GPU, run by the CPU.
    Emulated,
    /// The PTX that GPUs are given, interpreted by the CPU with checks that a GPU does not do.
    Ptx,
    /// The first NVIDIA GPU.
    Cuda,
    /// The compiled path, batts, the kernels run by the CPU, and their PTX, all on the same cases; if this build
    /// lacks the last two, it says so.
    All,
}

/// Pairs of a built-in task, and the seed that they are generated from.
const BUILTIN_PAIRS: usize = 3;
const BUILTIN_SEED: u64 = 0;

impl Selfcheck {
    pub(crate) fn run(self) -> anyhow::Result<Exit> {
        if self.chosen.is_given() && self.tasks.is_empty() {
            warn(format_args!(
                "--ids and --ids-file are for the tasks of files: expected --tasks"
            ));
            return Ok(Exit::BadInput);
        }
        threads::share()?;
        match self.backend {
            Backend::Compiled => self.compiled(),
            Backend::Emulated => self.device(Checked::Emulated),
            Backend::Ptx => self.device(Checked::Interpreted),
            Backend::Cuda => self.device(Checked::Cuda),
            Backend::All => self.everywhere(),
        }
    }

    /// Prints a table for random programs, and one for programs on foreign inputs.
    fn everywhere(self) -> anyhow::Result<Exit> {
        let cases = self.cases.unwrap_or(100_000);
        let pairs = self.pairs.unwrap_or(cases / 10);
        let mut errors = Vec::new();
        let (programs, tasks) = self.inputs(&mut errors);
        tell(&errors);
        let bar = progress_bar(cases + pairs);
        let done = |count| bar.inc(count);
        let random = selfcheck::everywhere::random(cases, self.seed, done)?;
        let foreign =
            selfcheck::everywhere::foreign(&programs, &tasks, pairs, self.seed, self.vary, done)?;
        bar.finish_and_clear();

        let mut out = io::stdout().lock();
        writeln!(out, "random programs with loops\n\n{random}")?;
        let what = if self.vary {
            "mutants of programs"
        } else {
            "programs on foreign inputs"
        };
        writeln!(out, "{what}\n\n{foreign}")?;
        let both = [&random, &foreign];
        for tally in both {
            for one in selfcheck::shrunk(&tally.evaluators.disagreements, self.show) {
                writeln!(out, "{one}")?;
            }
        }
        if let Some(reason) = selfcheck::everywhere::skipped() {
            writeln!(out, "emulated and ptx: skipped: {reason}")?;
        }
        let different = random.different() + foreign.different();
        writeln!(
            out,
            "{} evaluations, seed {}: {} ran on all, {different} differ",
            both.map(|tally| tally.evaluators.evaluations)
                .iter()
                .sum::<u64>(),
            self.seed,
            random.everywhere + foreign.everywhere
        )?;
        out.flush()?;
        Ok(if different > 0 {
            Exit::Failure
        } else {
            exit(&errors)
        })
    }

    /// Runs the conformance suite on a device, a line for each family, and programs from files.
    fn device(self, device: Checked) -> anyhow::Result<Exit> {
        let extent = Extent::of(self.cases.unwrap_or(100_000), self.seed);
        let bar = progress_bar(Test::all().count() as u64);
        let report = selfcheck::device::conformance(device, extent, || bar.inc(1));
        bar.finish_and_clear();
        let mut report = report?;
        let mut errors = Vec::new();
        if !(self.programs.is_empty() && self.tasks.is_empty()) {
            let (programs, tasks) = self.inputs(&mut errors);
            tell(&errors);
            let row = selfcheck::device::programs(device, &programs, &tasks)?;
            report.rows.push(row);
        }
        let mut out = io::stdout().lock();
        write!(out, "{report}")?;
        out.flush()?;
        Ok(if report.is_passed() {
            exit(&errors)
        } else {
            Exit::Failure
        })
    }

    fn compiled(self) -> anyhow::Result<Exit> {
        let from_files = !(self.programs.is_empty() && self.tasks.is_empty());
        let cases = self
            .cases
            .unwrap_or(if from_files { 10_000 } else { 100_000 });
        let bar = progress_bar(cases);
        let done = |count| bar.inc(count);
        let mut errors = Vec::new();
        let tally = if from_files {
            let (programs, tasks) = self.inputs(&mut errors);
            tell(&errors);
            selfcheck::programs(&programs, &tasks, cases, self.seed, self.vary, done)
        } else {
            selfcheck::random(cases, self.seed, done)
        };
        bar.finish_and_clear();

        let mut out = io::stdout().lock();
        write!(out, "{tally}")?;
        out.flush()?;
        if tally.disagreements.is_empty() {
            return Ok(exit(&errors));
        }
        for disagreement in selfcheck::shrunk(&tally.disagreements, self.show) {
            write!(out, "\n{disagreement}")?;
        }
        out.flush()?;
        Ok(Exit::Failure)
    }

    fn inputs(&self, errors: &mut Vec<InputError>) -> (Vec<Program>, Vec<Task>) {
        let programs = if self.programs.is_empty() {
            builtin_programs()
        } else {
            let read = read_programs(&self.programs, &Reading::default());
            note(&read.notes);
            errors.extend(read.errors);
            read.programs
        };
        let tasks = if self.tasks.is_empty() {
            let task = |one: &builtin::BuiltIn| one.task(BUILTIN_SEED, BUILTIN_PAIRS, 0, MAX_SIDE);
            builtin::all().iter().map(task).collect()
        } else {
            let read = self.chosen.read(&self.tasks, &[]);
            errors.extend(read.errors);
            read.tasks
        };
        (programs, tasks)
    }
}
