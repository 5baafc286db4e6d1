//! [`Case`]: a test in its own process, because a process opens the driver's library only once.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs, thread};

use libtest_mimic::{Arguments, Failed, Trial};

/// The environment variable that names the case for a child process to run.
const CASE: &str = "FAKE_CUDA_DRIVER_CASE";

/// What a case prints when it has finished.
const FINISHED: &str = "the case has finished";

/// A test case, and the driver for it.
pub(crate) struct Case {
    name: String,
    run: fn(),
    library: Library,
    settings: String,
    end: End,
    check: fn(&Log),
}

/// What a process finds as the driver's library.
enum Library {
    Whole,
    /// It lacks these functions.
    Without(&'static [&'static str]),
    /// Files with its name that are not libraries.
    Unusable,
}

/// How the log must say that contexts ended.
#[derive(Clone, Copy)]
enum End {
    /// There is at least one, and everything was freed in each.
    Released,
    /// At least one is broken, and everything was freed in the others.
    Broken,
    /// There is none.
    NoContext,
    /// Everything was freed in those that are not broken.
    Anyhow,
}

/// What the driver wrote.
pub(crate) struct Log(String);

/// A case with one GPU and no faults, in which everything must be freed.
pub(crate) fn case(name: impl Into<String>, run: fn()) -> Case {
    Case {
        name: name.into(),
        run,
        library: Library::Whole,
        settings: String::new(),
        end: End::Released,
        check: |_| {},
    }
}

impl Case {
    /// Adds settings of the driver.
    pub(crate) fn with(mut self, settings: &str) -> Self {
        self.settings = format!("{};{settings}", self.settings);
        self
    }

    /// A library without some functions.
    pub(crate) fn without(mut self, functions: &'static [&'static str]) -> Self {
        self.library = Library::Without(functions);
        self
    }

    /// Without a driver.
    pub(crate) fn unusable(mut self) -> Self {
        self.library = Library::Unusable;
        self.end = End::NoContext;
        self
    }

    /// Expects that no GPU is opened.
    pub(crate) fn opens_none(mut self) -> Self {
        self.end = End::NoContext;
        self
    }

    /// Expects a GPU to break.
    pub(crate) fn breaks(mut self) -> Self {
        self.end = End::Broken;
        self
    }

    /// The faults decide how many GPUs are opened, and how they end.
    pub(crate) fn ends_anyhow(mut self) -> Self {
        self.end = End::Anyhow;
        self
    }

    /// Adds a check of the log.
    pub(crate) fn logs(mut self, check: fn(&Log)) -> Self {
        self.check = check;
        self
    }

    fn trial(self) -> Trial {
        let name = self.name.clone();
        // Other systems look for other libraries.
        Trial::test(name, move || self.in_a_process()).with_ignored_flag(!cfg!(target_os = "linux"))
    }

    fn in_a_process(&self) -> Result<(), Failed> {
        let folder = tempfile::tempdir()?;
        let libraries = self.install(folder.path())?;
        let log = folder.path().join("log");
        let settings = format!("{};log={}", self.settings, log.display());
        let output = Command::new(env::current_exe()?)
            .env(CASE, &self.name)
            .env("LD_LIBRARY_PATH", libraries)
            .env(fake_cuda_driver::VARIABLE, &settings)
            // A broken GPU frees nothing; the log lists leaks of other GPUs.
            .env("ASAN_OPTIONS", "detect_leaks=0")
            .output()?;
        let log = Log(fs::read_to_string(&log).unwrap_or_default());
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        let told = format!("{settings}\n{said}\n{}", log.0);
        if !output.status.success() || !said.contains(FINISHED) {
            return Err(format!("{}: {told}", output.status).into());
        }
        if !log.ends(self.end) {
            return Err(format!("not everything was freed: {told}").into());
        }
        (self.check)(&log);
        Ok(())
    }

    /// The folder with the library.
    fn install(&self, folder: &Path) -> Result<PathBuf, Failed> {
        match self.library {
            Library::Whole => return Ok(fake_cuda_driver::folder()?),
            Library::Without(functions) => fake_cuda_driver::install_without(functions, folder)?,
            Library::Unusable => {
                for name in [
                    "libcuda.so",
                    "libcuda.so.1",
                    "libnvcuda.so",
                    "libnvcuda.so.1",
                ] {
                    fs::write(folder.join(name), "no library")?;
                }
            }
        }
        Ok(folder.to_owned())
    }
}

impl Log {
    /// The lines that begin with this after the GPU's number; returns the rest of each.
    fn after<'a>(&'a self, begin: &str) -> impl Iterator<Item = &'a str> {
        let rests = self.0.lines().filter_map(|line| line.split_once(": "));
        rests.filter_map(move |(_, rest)| rest.strip_prefix(begin))
    }

    /// How contexts ended.
    fn released(&self) -> impl Iterator<Item = &str> {
        self.after("released, ")
    }

    fn ends(&self, end: End) -> bool {
        let is_broken = |line: &str| line.starts_with("broken by ");
        let broken = self.released().filter(|line| is_broken(line)).count();
        let good = |line: &&str| line.starts_with("everything was freed: ");
        let good = self.released().filter(good).count();
        let as_expected = match end {
            End::Released => good > 0 && broken == 0,
            End::Broken => broken > 0,
            End::NoContext => broken + good == 0,
            End::Anyhow => true,
        };
        as_expected && self.released().count() == broken + good
    }

    /// The length in bytes of each pinned allocation, in order.
    pub(crate) fn pinned(&self) -> Vec<usize> {
        let lines = self
            .after("")
            .filter_map(|line| line.strip_suffix(" bytes are pinned"));
        lines.filter_map(|bytes| bytes.parse().ok()).collect()
    }

    /// The number of kernels that ran in contexts in which everything was freed.
    pub(crate) fn kernels(&self) -> u64 {
        let counts = self.after("released, everything was freed: ");
        let counts = counts.filter_map(|line| line.split_once(' ')?.0.parse::<u64>().ok());
        counts.sum()
    }
}

/// Runs all cases, or in a child process the one that it was started for.
pub(crate) fn main(cases: Vec<Case>) -> ExitCode {
    if let Ok(wanted) = env::var(CASE) {
        let Some(case) = cases.iter().find(|case| case.name == wanted) else {
            eprintln!("there is no case {wanted}");
            return ExitCode::FAILURE;
        };
        (case.run)();
        println!("{FINISHED}");
        return ExitCode::SUCCESS;
    }
    let mut arguments = Arguments::from_args();
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    // Two cases wait half a minute for a GPU that hangs, and leave their cores to others.
    arguments.test_threads.get_or_insert(cores + 2);
    let trials = cases.into_iter().map(Case::trial).collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}
