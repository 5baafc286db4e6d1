//! [`Case`]: a test in a process of its own, for a process opens the driver's library once.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs};

use libtest_mimic::{Arguments, Failed, Trial};

/// Which case a process is to run.
const CASE: &str = "FAKE_CUDA_DRIVER_CASE";

/// What a case prints when it came to its end.
const THROUGH: &str = "the case is through";

/// A case, and the driver that it meets.
pub(crate) struct Case {
    name: String,
    run: fn(),
    library: Library,
    settings: String,
    end: End,
    check: fn(&Log),
}

/// What a process finds where it looks for the driver's library.
enum Library {
    Whole,
    /// It lacks these functions.
    Without(&'static [&'static str]),
    /// Files of its name that are no library.
    Unusable,
}

/// What the log says of contexts when they go.
#[derive(Clone, Copy)]
enum End {
    /// All was given back, in each and at least one.
    Released,
    /// One at least was broken, and all was given back in the others.
    Broken,
    /// There is none.
    NoContext,
    /// What is not broken gives all back.
    Anyhow,
}

/// What the driver wrote.
pub(crate) struct Log(String);

/// A case with one GPU, on which nothing goes wrong, and which has to be given back.
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
    /// More words of the driver's variable.
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

    /// No GPU is opened.
    pub(crate) fn opens_none(mut self) -> Self {
        self.end = End::NoContext;
        self
    }

    /// A GPU does not come to a good end.
    pub(crate) fn breaks(mut self) -> Self {
        self.end = End::Broken;
        self
    }

    /// It depends on the faults how many GPUs are opened, and how they end.
    pub(crate) fn ends_anyhow(mut self) -> Self {
        self.end = End::Anyhow;
        self
    }

    /// What else is to be seen in the log.
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
            .env(mega_batch::costs::VARIABLE, folder.path())
            // A broken GPU gives nothing back; the log says what else was held.
            .env("ASAN_OPTIONS", "detect_leaks=0")
            .output()?;
        let log = Log(fs::read_to_string(&log).unwrap_or_default());
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        let told = format!("{settings}\n{said}\n{}", log.0);
        if !output.status.success() || !said.contains(THROUGH) {
            return Err(format!("{}: {told}", output.status).into());
        }
        if !log.ends(self.end) {
            return Err(format!("not all was given back: {told}").into());
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
    /// The rest of each line that begins so, behind the GPU's number.
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
        let good = |line: &&str| line.starts_with("all was given back: ");
        let good = self.released().filter(good).count();
        let as_expected = match end {
            End::Released => good > 0 && broken == 0,
            End::Broken => broken > 0,
            End::NoContext => broken + good == 0,
            End::Anyhow => true,
        };
        as_expected && self.released().count() == broken + good
    }

    /// Bytes of each piece of pinned memory, in the order in which they were asked for.
    pub(crate) fn pinned(&self) -> Vec<usize> {
        let lines = self
            .after("")
            .filter_map(|line| line.strip_suffix(" bytes are pinned"));
        lines.filter_map(|bytes| bytes.parse().ok()).collect()
    }

    /// Kernels that ran in contexts that ended well.
    pub(crate) fn kernels(&self) -> u64 {
        let counts = self.after("released, all was given back: ");
        let counts = counts.filter_map(|line| line.split_once(' ')?.0.parse::<u64>().ok());
        counts.sum()
    }
}

/// Runs all cases, or the one for which this process is there.
pub(crate) fn main(cases: Vec<Case>) -> ExitCode {
    if let Ok(wanted) = env::var(CASE) {
        let Some(case) = cases.iter().find(|case| case.name == wanted) else {
            eprintln!("there is no case {wanted}");
            return ExitCode::FAILURE;
        };
        (case.run)();
        println!("{THROUGH}");
        return ExitCode::SUCCESS;
    }
    let arguments = Arguments::from_args();
    let trials = cases.into_iter().map(Case::trial).collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}
