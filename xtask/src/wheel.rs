//! `wheel`: builds the Python package and tests it in separate environments.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};

use crate::cargo::words;

mod sbom;
mod sdist;

/// The crate, whose folder also has the package's project file, tests and examples.
const CRATE: &str = "crates/mega-batch-py";

/// The crate of the command, which the wheel also contains, and the command's name.
const COMMAND_CRATE: &str = "crates/mega-batch-cli";
const COMMAND: &str = "mega-batch";

/// The oldest supported Python.
const LEAST_PYTHON: (u32, u32) = (3, 11);

/// Arguments of `wheel`.
#[derive(Debug, clap::Args)]
#[allow(clippy::struct_excessive_bools, reason = "they are flags")]
pub(crate) struct Arguments {
    /// Installs the wheel into a fresh environment and runs its tests, examples and type checks there.
    #[arg(long)]
    check: bool,
    /// Where the wheel goes [default: target/wheel/dist].
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// The Python to build and test with [default: the newest one of 3.11 or later].
    #[arg(long, value_name = "FILE")]
    python: Option<PathBuf>,
    /// Builds for glibc 2.17 (manylinux2014) with the linker of zig, which is installed from its package. Nothing
    /// built otherwise is reused.
    #[arg(long)]
    zig: bool,
    /// Builds the source distribution instead, which pip compiles if there is Rust; `--check` builds and installs it
    /// into a fresh environment and runs the tests there.
    #[arg(long, conflicts_with = "zig")]
    sdist: bool,
    /// The cargo profile of the build.
    #[arg(long, default_value = "release")]
    profile: String,
    /// Also tests it with everything that it integrates with: a Ray cluster, torch, TRL, data sets, pyright. They are
    /// installed from their packages, gigabytes.
    #[arg(long, requires = "check")]
    all: bool,
}

/// Why there is no wheel: skipped or failed.
enum Missing {
    /// The machine lacks something.
    Skipped(String),
    Failed(anyhow::Error),
}

impl From<anyhow::Error> for Missing {
    fn from(error: anyhow::Error) -> Self {
        Missing::Failed(error)
    }
}

pub(crate) fn run(root: &Path, arguments: &Arguments) -> Result<()> {
    match build_and_test(root, arguments) {
        Ok(wheel) => {
            let bytes = fs::metadata(&wheel)?.len();
            println!("{}: {bytes} bytes", wheel.display());
            Ok(())
        }
        Err(Missing::Skipped(reason)) => bail!("the wheel cannot be built here: {reason}"),
        Err(Missing::Failed(error)) => Err(error),
    }
}

/// Builds and tests the wheel; returns why not if the machine lacks Python or the network.
pub(crate) fn check_where_possible(root: &Path) -> Result<Option<String>> {
    let arguments = Arguments {
        check: true,
        out: None,
        python: None,
        zig: false,
        sdist: false,
        profile: crate::cargo::CHECKED.to_owned(),
        // Minutes, and gigabytes of packages. The logic that assigns evaluations to nodes is tested without Ray.
        all: false,
    };
    match build_and_test(root, &arguments) {
        Ok(_) => Ok(None),
        Err(Missing::Skipped(reason)) => Ok(Some(reason)),
        Err(Missing::Failed(error)) => Err(error),
    }
}

fn build_and_test(root: &Path, arguments: &Arguments) -> Result<PathBuf, Missing> {
    let folder = target(root)?.join("wheel");
    let python = python(arguments.python.as_deref())?;
    let build = environment(&python, &folder.join("build"))?;
    let requirements = root.join(CRATE).join("requirements");
    let mut tools = vec!["-r".into(), requirements.join("build.txt")];
    if arguments.zig {
        tools.push("ziglang".into());
    }
    stage("the tools that build it", || install(&build, &tools))?;
    let out = arguments.out.clone().unwrap_or(folder.join("dist"));
    // Relative to the current folder, since the tools run in other folders.
    let out = std::path::absolute(out).context("the folder of the wheel")?;
    let made = if arguments.sdist {
        fs::create_dir_all(&out).with_context(|| format!("{}", out.display()))?;
        stage("the source distribution", || {
            sdist::build(root, &build, &out)
        })?
    } else {
        build_wheel(root, &build, &out, arguments)?
    };
    if arguments.check {
        let test = environment(&python, &folder.join("test"))?;
        let mut packages = vec!["-r".into(), requirements.join("test.txt")];
        if arguments.all {
            packages.extend(["-r".into(), requirements.join("all.txt")]);
        }
        stage("the packages of the tests", || install(&test, &packages))?;
        stage("its installation", || {
            install_built(&test, &made, arguments.sdist)
        })?;
        stage("its tests", || test_wheel(root, &test, arguments.sdist))?;
    }
    Ok(made)
}

/// Runs a part of the work, and prints its name and duration.
fn stage<T, E>(name: &str, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    eprintln!("wheel: {name} ...");
    let began = Instant::now();
    let made = work()?;
    eprintln!("wheel: {name}: {:.1} s", began.elapsed().as_secs_f64());
    Ok(made)
}

/// Cargo's target folder, so that the command's dependencies are built once.
fn target(root: &Path) -> Result<PathBuf> {
    let metadata = crate::cargo::metadata(root, &["--no-deps"])?;
    let folder = metadata["target_directory"].as_str();
    folder
        .map(PathBuf::from)
        .context("`cargo metadata` tells no folder")
}

/// The Python to use: the given one, or the newest that is found.
fn python(given: Option<&Path>) -> Result<PathBuf, Missing> {
    if let Some(python) = given {
        let version =
            version(python).with_context(|| format!("{} is no Python", python.display()))?;
        if version < LEAST_PYTHON {
            let (major, minor) = version;
            return Err(Missing::Skipped(format!(
                "Python {major}.{minor}: 3.11 or later is needed"
            )));
        }
        return Ok(python.to_owned());
    }
    let names = [
        "python3",
        "python",
        "python3.15",
        "python3.14",
        "python3.13",
        "python3.12",
        "python3.11",
    ];
    let found = names
        .iter()
        .filter_map(|name| Some((version(Path::new(name))?, *name)));
    let newest = found.max_by_key(|(version, _)| *version);
    match newest {
        Some((version, name)) if version >= LEAST_PYTHON => Ok(name.into()),
        _ => Err(Missing::Skipped(
            "there is no Python of 3.11 or later with venv and pip".to_owned(),
        )),
    }
}

/// The version of a Python that can create environments.
fn version(python: &Path) -> Option<(u32, u32)> {
    let told = "import ensurepip, sys, venv; print(*sys.version_info[:2])";
    let output = Command::new(python).args(["-c", told]).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (major, minor) = text.trim().split_once(' ')?;
    let version = (major.parse().ok()?, minor.parse().ok()?);
    output.status.success().then_some(version)
}

/// Creates a fresh environment in a folder; returns its Python.
fn environment(python: &Path, folder: &Path) -> Result<PathBuf> {
    run_command(
        Command::new(python)
            .args(["-m", "venv", "--clear"])
            .arg(folder),
    )?;
    let (scripts, name) = if cfg!(windows) {
        ("Scripts", "python.exe")
    } else {
        ("bin", "python")
    };
    Ok(folder.join(scripts).join(name))
}

/// Installs packages from the index; if they are unavailable, that is a reason to skip.
fn install(python: &Path, packages: &[PathBuf]) -> Result<(), Missing> {
    let mut pip = pip(python);
    let output = pip.args(packages).output();
    let output = output.context("pip cannot be run")?;
    if output.status.success() {
        return Ok(());
    }
    let told = String::from_utf8_lossy(&output.stderr);
    let line = told
        .lines()
        .rfind(|line| line.starts_with("ERROR"))
        .unwrap_or("pip failed");
    Err(Missing::Skipped(format!(
        "packages of PyPI cannot be installed: {line}"
    )))
}

fn pip(python: &Path) -> Command {
    let mut pip = Command::new(python);
    pip.args(words("-m pip install --quiet --disable-pip-version-check"));
    pip
}

/// Builds the wheel; returns its path.
///
/// The module is the library without the command; the command is built as a separate wheel for the same systems and
/// then added to the wheel of the module.
fn build_wheel(root: &Path, python: &Path, out: &Path, arguments: &Arguments) -> Result<PathBuf> {
    let (package, command) = (out.join("package"), out.join("command"));
    for folder in [out, &package, &command] {
        if folder.exists() {
            fs::remove_dir_all(folder)
                .with_context(|| format!("{} cannot be emptied", folder.display()))?;
        }
    }
    stage("the command", || {
        maturin(root, python, COMMAND_CRATE, &command, arguments)
    })?;
    stage("the module", || {
        maturin(root, python, CRATE, &package, arguments)
    })?;
    let command = unpack(python, &command)?;
    let package = unpack(python, &package)?;
    let scripts = data(&package)?.join("scripts");
    fs::create_dir_all(&scripts)?;
    let program = format!("{COMMAND}{}", std::env::consts::EXE_SUFFIX);
    let from = data(&command)?.join("scripts").join(&program);
    fs::copy(&from, scripts.join(&program))
        .with_context(|| format!("{} cannot be copied", from.display()))?;
    stage("its bill of materials", || sbom::write(root, &package))?;
    let pack = ["-m", "wheel", "pack", "--dest-dir"];
    stage("one wheel of both", || {
        run_command(Command::new(python).args(pack).arg(out).arg(&package))
    })?;
    let wheel = only(out, |path| path.extension() == Some(OsStr::new("whl")))?;
    for folder in ["package", "command"] {
        fs::remove_dir_all(out.join(folder))?;
    }
    Ok(wheel)
}

/// Builds the wheel of a crate into a folder.
fn maturin(
    root: &Path,
    python: &Path,
    package: &str,
    out: &Path,
    arguments: &Arguments,
) -> Result<()> {
    let mut maturin = Command::new(python);
    maturin
        .args(["-m", "maturin", "build", "--locked", "--profile"])
        .arg(&arguments.profile)
        .arg("--out")
        .arg(out)
        // A free-threaded Python gets a separate wheel.
        .arg("--interpreter")
        .arg(python)
        .current_dir(root.join(package));
    if arguments.zig {
        maturin.args(["--zig", "--compatibility", "manylinux2014"]);
        // Zig is a package, found through the first Python on the path.
        maturin.env("PATH", first_in_path(python)?);
    }
    run_command(&mut maturin)
}

/// The executable search path, with this Python's environment first.
fn first_in_path(python: &Path) -> Result<OsString> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let own = python.parent().map(Path::to_path_buf);
    let folders = own.into_iter().chain(std::env::split_paths(&path));
    std::env::join_paths(folders).context("PATH cannot be extended")
}

/// Unpacks the wheel of a folder; returns the path of its files.
fn unpack(python: &Path, folder: &Path) -> Result<PathBuf> {
    let wheel = only(folder, |path| path.extension() == Some(OsStr::new("whl")))?;
    let unpack = ["-m", "wheel", "unpack", "--dest"];
    run_command(Command::new(python).args(unpack).arg(folder).arg(&wheel))?;
    only(folder, Path::is_dir)
}

/// The data folder of an unpacked wheel, named like its metadata folder.
fn data(package: &Path) -> Result<PathBuf> {
    Ok(only_dist_info(package)?.with_extension("data"))
}

/// The metadata folder of an unpacked wheel.
fn only_dist_info(package: &Path) -> Result<PathBuf> {
    only(package, |path| {
        path.extension() == Some(OsStr::new("dist-info"))
    })
}

/// The only entry of a folder for which `is_so` holds.
fn only(folder: &Path, is_so: impl Fn(&Path) -> bool) -> Result<PathBuf> {
    let files =
        fs::read_dir(folder).with_context(|| format!("{} cannot be read", folder.display()))?;
    let files = files.filter_map(|file| Some(file.ok()?.path()));
    let mut found: Vec<_> = files.filter(|path| is_so(path)).collect();
    ensure!(
        found.len() == 1,
        "expected one in {}, found {}",
        folder.display(),
        found.len()
    );
    Ok(found.remove(0))
}

/// Installs the wheel by its name from its folder without the index, as a notebook without internet does, or the source
/// distribution, for which pip downloads maturin. The dependencies are there.
fn install_built(python: &Path, made: &Path, is_source: bool) -> Result<()> {
    let mut pip = pip(python);
    if is_source {
        pip.arg("--no-deps").arg(made);
    } else {
        let folder = made.parent().context("a wheel lies in a folder")?;
        pip.args(["--no-index", "--find-links"]).arg(folder);
        pip.arg("mega_batch");
    }
    run_command(&mut pip)?;
    run_command(Command::new(python).args(["-m", "pip", "check"]))
}

/// Runs the tests, the examples and the type checks of the package; for a source distribution only the tests.
fn test_wheel(root: &Path, python: &Path, is_source: bool) -> Result<()> {
    let package = root.join(CRATE);
    let run = |module: &str, arguments: &[&str]| {
        let mut command = Command::new(python);
        // Bytecode would be written into the checkout.
        command
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .current_dir(&package);
        run_command(command.args(["-m", module]).args(arguments))
    };
    // On all cores, a file on one: what its tests share is made once.
    let tests = "-q -p no:cacheprovider -n auto --dist loadfile tests";
    run("pytest", &words(tests))?;
    if is_source {
        return Ok(());
    }
    let command = python.with_file_name(format!("{COMMAND}{}", std::env::consts::EXE_SUFFIX));
    run_command(Command::new(command).args(["run", "--quiet"]))?;
    let cache = ["--cache-dir", "/dev/null"];
    let cache: &[&str] = if cfg!(unix) { &cache } else { &[] };
    run("mypy", &[cache, &["tests", "examples"]].concat())?;
    let allowed = "mega_batch --mypy-config-file pyproject.toml --allowlist stubtest-allowed.txt \
                   --ignore-unused-allowlist";
    run("mypy.stubtest", &words(allowed))
}

/// Runs a command, which must succeed.
fn run_command(command: &mut Command) -> Result<()> {
    let shown = format!("{command:?}").replace('"', "");
    eprintln!("$ {shown}");
    let status = command
        .status()
        .with_context(|| format!("`{shown}` cannot be run"))?;
    ensure!(status.success(), "`{shown}` failed ({status})");
    Ok(())
}
