//! `kaggle`: writes two folders to upload to Kaggle, a dataset with the engine and a notebook that runs it.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;
use walkdir::WalkDir;

mod check;
mod linked;
mod metadata;
mod notebook;

use linked::Requirements;
use metadata::Names;

pub(crate) use check::check;

/// The page that explains how to use the folders.
const PAGE: &str = "docs/kaggle.md";

/// The uploader, if none is given.
const DEFAULT_OWNER: &str = "KAGGLE_USER";

/// The machine shape that everyone may have, with two T4; and the one that means no GPU. The page lists all.
const DEFAULT_SHAPE: &str = "NvidiaTeslaT4";
const NO_GPU: &str = "none";

/// The competition, if none is given, and the last day of its submissions.
const COMPETITION: &str = "arc-prize-2026-arc-agi-2";
const CLOSED: &str = "2 November 2026";

/// The names of the metadata's files, by which the command line tool of Kaggle finds them.
const DATASET_METADATA: &str = "dataset-metadata.json";
const NOTEBOOK_METADATA: &str = "kernel-metadata.json";

/// The licences under which the engine may be distributed.
const LICENCES: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];

/// Arguments of `kaggle`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Where the folders `dataset` and `notebook` go [default: target/kaggle].
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// The uploader: the name in the address of your profile at Kaggle.
    #[arg(long, value_name = "NAME", default_value = DEFAULT_OWNER)]
    owner: String,
    /// The title of the notebook; that of the dataset is the same followed by `engine`.
    #[arg(long, value_name = "TEXT", default_value = "mega-batch")]
    title: String,
    /// The competition: the name in its address.
    #[arg(long, value_name = "NAME", default_value = COMPETITION)]
    competition: String,
    /// Programs that the notebook runs: `.py` files or folders of them [default: the built-in ones].
    #[arg(long, value_name = "PATH", num_args = 1..)]
    programs: Vec<PathBuf>,
    /// Wheels for notebooks of your own, which install from them without internet: `.whl` files or folders of them, as
    /// `cargo xtask wheel` writes one.
    #[arg(long, value_name = "PATH", num_args = 1..)]
    wheels: Vec<PathBuf>,
    /// The engine, if it is not to be built.
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// The GPUs that the notebook requests, by Kaggle's name: `NvidiaTeslaT4`, `NvidiaL4`, `NvidiaRtxPro6000` or
    /// another one; `none` requests no GPU.
    #[arg(long, value_name = "NAME", default_value = DEFAULT_SHAPE)]
    machine_shape: String,
    /// Writes no folders; runs the notebook here as Kaggle would, on generated tasks, and fails if a run leaves no
    /// valid submission.
    #[arg(long, conflicts_with_all = ["out", "owner", "title", "competition", "programs", "wheels"])]
    check: bool,
}

/// Writes the folders, or checks the notebook.
pub(crate) fn run(root: &Path, arguments: &Arguments) -> Result<()> {
    if arguments.check {
        return match check(root, arguments.binary.as_deref())? {
            None => Ok(()),
            Some(reason) => bail!("the notebook cannot be run: {reason}"),
        };
    }
    let names = Names::new(&arguments.owner, &arguments.title, &arguments.competition)?;
    let shape = shape(&arguments.machine_shape)?;
    let programs = files(&arguments.programs, "py")?;
    let wheels = files(&arguments.wheels, "whl")?;
    wheels.iter().try_for_each(|wheel| check_wheel(wheel))?;
    let binary = engine(root, arguments.binary.as_deref())?;
    let needs = check_requirements(&binary)?;
    let out = arguments.out.clone();
    let out = out.unwrap_or_else(|| root.join("target/kaggle"));
    let licences = LICENCES.map(|name| root.join(name));
    let package = Package {
        names: &names,
        shape,
        binary: &binary,
        programs: &programs,
        wheels: &wheels,
        licences: &licences,
    };
    package.write(&out)?;
    let version = needs.newest().map(|version| version.to_string());
    let version = version.unwrap_or_else(|| "none".to_owned());
    let shown = out.display();
    println!(
        "{shown}/dataset: the engine (glibc needed: {version}), {} files of programs, {} wheels",
        programs.len(),
        wheels.len()
    );
    println!(
        "{shown}/notebook: for {}, machine shape {}",
        names.competition, arguments.machine_shape
    );
    if names.competition == COMPETITION {
        println!(
            "note: {COMPETITION} took submissions until {CLOSED}: say --competition NAME for another one"
        );
    }
    if names.owner == DEFAULT_OWNER {
        println!(
            "note: the owner is {DEFAULT_OWNER}, whom Kaggle does not know: say --owner NAME before you upload"
        );
    }
    println!("kaggle datasets create -p {shown}/dataset -r zip   # then: datasets version -m TEXT");
    // The same as in the metadata: users disagree on which of the two counts.
    let accelerator = shape.map_or_else(String::new, |shape| format!(" --accelerator {shape}"));
    println!(
        "kaggle kernels push -p {shown}/notebook{accelerator}   # {PAGE} says what comes then"
    );
    Ok(())
}

/// The machine shape, if one is requested. Kaggle adds new ones from time to time, so the names are not checked here.
fn shape(name: &str) -> Result<Option<&str>> {
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric());
    ensure!(
        is_name,
        "--machine-shape `{name}`: expected a name as {DEFAULT_SHAPE}, or `{NO_GPU}`"
    );
    Ok((name != NO_GPU).then_some(name))
}

/// The engine: this file, or a new build.
fn engine(root: &Path, binary: Option<&Path>) -> Result<PathBuf> {
    if let Some(file) = binary {
        return Ok(file.to_owned());
    }
    let arguments = ["--release", "--package", "mega-batch-cli"];
    crate::cargo::binary(root, &arguments, &[], "mega-batch")
}

/// What the engine requires, if Kaggle has it.
fn check_requirements(binary: &Path) -> Result<Requirements> {
    let needs = Requirements::of_file(binary)?;
    let lacking = needs.lacking(linked::GLIBC);
    ensure!(
        lacking.is_empty(),
        "{}: expected what a machine with glibc {} has, found that it needs\n  {}\n\
         {PAGE} says how it is built for an older glibc",
        binary.display(),
        linked::GLIBC,
        lacking.join("\n  ")
    );
    Ok(needs)
}

/// Whether pip installs a wheel at Kaggle, by its name.
fn check_wheel(path: &Path) -> Result<()> {
    let name = path.file_stem().and_then(OsStr::to_str).unwrap_or_default();
    let tags: Vec<&str> = name.split('-').collect();
    // The name, the version, perhaps the number of a build, the Python, its interface, and the platforms.
    let platforms = match tags.len() {
        5 | 6 => tags[tags.len() - 1],
        _ => "",
    };
    let suits = platforms.split('.').any(|platform| match platform {
        "any" | "manylinux1_x86_64" | "manylinux2010_x86_64" | "manylinux2014_x86_64" => true,
        _ => linked::Version::of_platform(platform).is_some_and(|version| version <= linked::GLIBC),
    });
    ensure!(
        suits,
        "{}: expected a wheel for Linux on x86-64 with glibc {} at most, as manylinux_2_34_x86_64 at the end of its \
         name says, or for any machine; `cargo xtask wheel --zig` builds one",
        path.display(),
        linked::GLIBC
    );
    Ok(())
}

/// The files with this extension at these paths. Their names must differ, since they go into one folder.
fn files(places: &[PathBuf], extension: &str) -> Result<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> = Vec::new();
    for place in places {
        let shown = place.display();
        ensure!(
            place.exists(),
            "{shown}: expected a file or a folder, found none"
        );
        let known = files.len();
        for entry in WalkDir::new(place).max_depth(1).sort_by_file_name() {
            let path = entry?.into_path();
            if path.is_file() && path.extension() == Some(OsStr::new(extension)) {
                files.push(path);
            }
        }
        let found = files.len() > known;
        ensure!(
            found || !place.is_dir(),
            "{shown}: expected *.{extension} in this folder, found none"
        );
        ensure!(
            found,
            "{shown}: expected a file *.{extension} or a folder of such files"
        );
    }
    for (at, file) in files.iter().enumerate() {
        let same = files[..at]
            .iter()
            .find(|other| other.file_name() == file.file_name());
        if let Some(same) = same {
            bail!(
                "{} and {}: expected another name for each, since they go into one folder",
                same.display(),
                file.display()
            );
        }
    }
    Ok(files)
}

/// The contents of the folders.
#[derive(Debug)]
struct Package<'a> {
    names: &'a Names,
    shape: Option<&'a str>,
    binary: &'a Path,
    programs: &'a [PathBuf],
    wheels: &'a [PathBuf],
    licences: &'a [PathBuf],
}

impl Package<'_> {
    /// Writes both folders, replacing those written before.
    fn write(&self, out: &Path) -> Result<()> {
        let dataset = emptied(&out.join("dataset"), DATASET_METADATA)?;
        // First, so that an incomplete folder is known to be ours.
        write_json(&dataset.join(DATASET_METADATA), &self.names.of_dataset())?;
        copy(self.binary, &dataset.join("mega-batch"))?;
        for file in self.licences {
            copy(file, &dataset.join(file.file_name().unwrap_or_default()))?;
        }
        for (name, files) in [("programs", self.programs), ("wheels", self.wheels)] {
            if files.is_empty() {
                continue;
            }
            let folder = dataset.join(name);
            fs::create_dir(&folder).with_context(|| folder.display().to_string())?;
            for file in files {
                let name = file.file_name().unwrap_or_default();
                copy(file, &folder.join(name))?;
            }
        }
        let readme = dataset.join("README.md");
        fs::write(&readme, self.readme()).with_context(|| readme.display().to_string())?;

        let notebook = emptied(&out.join("notebook"), NOTEBOOK_METADATA)?;
        let file = format!("{}.ipynb", self.names.notebook);
        let metadata = self.names.of_notebook(&file, self.shape);
        write_json(&notebook.join(NOTEBOOK_METADATA), &metadata)?;
        write_json(&notebook.join(file), &notebook::notebook(self.names)?)
    }

    fn readme(&self) -> String {
        let programs = match self.programs.len() {
            0 => "There are no programs here: the notebook runs the built-in ones.".to_owned(),
            count => format!("`programs/` has {count} files of programs in the ARC DSL."),
        };
        let wheels = match self.wheels.len() {
            0 => "",
            _ => {
                "`wheels/` has the Python package. In a notebook, with this dataset as FOLDER below /kaggle/input:\n\n\
                 ```\n\
                 !pip install --no-index --find-links FOLDER/wheels mega_batch\n\
                 import mega_batch\n\
                 ```\n\n"
            }
        };
        format!(
            "# {}\n\n\
             `mega-batch` runs programs in the ARC DSL on ARC tasks; this is the program for Linux on \
             x86-64, with the kernels for NVIDIA GPUs in it. {programs}\n\n\
             The notebook {}/{} copies it to where it may be executed. By hand:\n\n\
             ```\n\
             cp mega-batch /tmp/ && chmod +x /tmp/mega-batch && /tmp/mega-batch --help\n\
             ```\n\n\
             {wheels}\
             mega-batch is licensed under either of MIT or Apache-2.0, at your option.\n",
            self.names.title, self.names.owner, self.names.notebook
        )
    }
}

/// The folder, emptied. An existing one is removed only if it has the file that this command writes into its folders.
fn emptied(folder: &Path, mark: &str) -> Result<PathBuf> {
    let shown = folder.display();
    if folder.exists() {
        ensure!(
            folder.join(mark).is_file(),
            "{shown}: expected a folder that this command has made, with {mark} in it, or none"
        );
        fs::remove_dir_all(folder).with_context(|| shown.to_string())?;
    }
    fs::create_dir_all(folder).with_context(|| shown.to_string())?;
    Ok(folder.to_owned())
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    let copied = fs::copy(from, to);
    copied.with_context(|| format!("{} to {}", from.display(), to.display()))?;
    Ok(())
}

fn write_json(path: &Path, value: &Value) -> Result<()> {
    let text = serde_json::to_string_pretty(value)? + "\n";
    fs::write(path, text).with_context(|| path.display().to_string())
}

#[cfg(test)]
mod tests;
