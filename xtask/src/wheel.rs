//! `wheel`: the Python package, built and tested in environments of its own.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};

/// The crate, where the package's project file, tests and examples lie too.
const CRATE: &str = "crates/mega-batch-py";

/// The oldest Python that the wheel is for.
const LEAST_PYTHON: (u32, u32) = (3, 11);

/// Arguments of `wheel`.
#[derive(Debug, clap::Args)]
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
    /// Builds for glibc 2.17 (manylinux2014) with the linker of zig, which is installed from its package.
    /// Nothing that is built otherwise is used again.
    #[arg(long)]
    zig: bool,
}

/// Why there is no wheel, or that something failed.
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
    match make(root, arguments) {
        Ok(wheel) => {
            let bytes = fs::metadata(&wheel)?.len();
            println!("{}: {bytes} bytes", wheel.display());
            Ok(())
        }
        Err(Missing::Skipped(reason)) => bail!("the wheel cannot be built here: {reason}"),
        Err(Missing::Failed(error)) => Err(error),
    }
}

/// Builds and tests the wheel; why not, where the machine lacks Python or the network.
pub(crate) fn check_where_possible(root: &Path) -> Result<Option<String>> {
    let arguments = Arguments {
        check: true,
        out: None,
        python: None,
        zig: false,
    };
    match make(root, &arguments) {
        Ok(_) => Ok(None),
        Err(Missing::Skipped(reason)) => Ok(Some(reason)),
        Err(Missing::Failed(error)) => Err(error),
    }
}

fn make(root: &Path, arguments: &Arguments) -> Result<PathBuf, Missing> {
    let folder = target(root)?.join("wheel");
    let python = python(arguments.python.as_deref())?;
    let build = environment(&python, &folder.join("build"))?;
    let requirements = root.join(CRATE).join("requirements");
    let mut tools = vec!["-r".into(), requirements.join("build.txt")];
    if arguments.zig {
        tools.push("ziglang".into());
    }
    install(&build, &tools)?;
    let out = arguments.out.clone();
    let wheel = build_wheel(
        root,
        &build,
        &out.unwrap_or(folder.join("dist")),
        arguments.zig,
    )?;
    if arguments.check {
        let test = environment(&python, &folder.join("test"))?;
        install(&test, &["-r".into(), requirements.join("test.txt")])?;
        install_wheel(&test, &wheel)?;
        test_wheel(root, &test)?;
    }
    Ok(wheel)
}

/// Cargo's folder of what is built, so that the command's dependencies are built once.
fn target(root: &Path) -> Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--no-deps"])
        .current_dir(root)
        .stderr(Stdio::inherit())
        .output()
        .context("`cargo metadata` cannot be run")?;
    ensure!(output.status.success(), "`cargo metadata` failed");
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let folder = metadata["target_directory"].as_str();
    folder
        .map(PathBuf::from)
        .context("`cargo metadata` tells no folder")
}

/// The Python to work with: the one that is given, or the newest that is found.
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

/// The version of a Python that can make environments.
fn version(python: &Path) -> Option<(u32, u32)> {
    let told = "import ensurepip, sys, venv; print(*sys.version_info[:2])";
    let output = Command::new(python).args(["-c", told]).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (major, minor) = text.trim().split_once(' ')?;
    let version = (major.parse().ok()?, minor.parse().ok()?);
    output.status.success().then_some(version)
}

/// A fresh environment in a folder; its Python.
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

/// Installs packages of the index; that they cannot be had is a reason to skip.
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
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ]);
    pip
}

/// Builds the wheel as users have it; where it lies.
fn build_wheel(root: &Path, python: &Path, out: &Path, zig: bool) -> Result<PathBuf> {
    if out.exists() {
        fs::remove_dir_all(out).with_context(|| format!("{} cannot be emptied", out.display()))?;
    }
    let mut maturin = Command::new(python);
    maturin.args([
        "-m",
        "maturin",
        "build",
        "--release",
        "--locked",
        "--strip",
        "--out",
    ]);
    maturin.arg(out).current_dir(root.join(CRATE));
    if zig {
        maturin.args(["--zig", "--compatibility", "manylinux2014"]);
    }
    run_command(&mut maturin)?;
    let files = fs::read_dir(out).with_context(|| format!("{} cannot be read", out.display()))?;
    let mut files = files.filter_map(|file| Some(file.ok()?.path()));
    let wheel = files.find(|file| file.extension() == Some(OsStr::new("whl")));
    wheel.with_context(|| format!("there is no wheel in {}", out.display()))
}

/// Installs the wheel, and nothing but it: what it needs is there.
fn install_wheel(python: &Path, wheel: &Path) -> Result<()> {
    run_command(pip(python).args(["--no-index", "--no-deps"]).arg(wheel))?;
    run_command(Command::new(python).args(["-m", "pip", "check"]))
}

/// Tests of the package, its examples, and its types.
fn test_wheel(root: &Path, python: &Path) -> Result<()> {
    let package = root.join(CRATE);
    let run = |module: &str, arguments: &[&str]| {
        let mut command = Command::new(python);
        // Bytecode would lie in the checkout.
        command
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .current_dir(&package);
        if !module.is_empty() {
            command.args(["-m", module]);
        }
        run_command(command.args(arguments))
    };
    run("pytest", &["-q", "-p", "no:cacheprovider", "tests"])?;
    run("", &["examples/trainer_loop.py", "--seconds", "0.2"])?;
    run("", &["examples/reward.py"])?;
    let cache = ["--cache-dir", "/dev/null"];
    let cache: &[&str] = if cfg!(unix) { &cache } else { &[] };
    run("mypy", &[cache, &["tests", "examples"]].concat())?;
    let allowed = [
        "mega_batch",
        "--mypy-config-file",
        "pyproject.toml",
        "--allowlist",
        "stubtest-allowed.txt",
    ];
    run("mypy.stubtest", &allowed)
}

/// Runs a command, which has to succeed.
fn run_command(command: &mut Command) -> Result<()> {
    let shown = format!("{command:?}").replace('"', "");
    eprintln!("$ {shown}");
    let status = command
        .status()
        .with_context(|| format!("`{shown}` cannot be run"))?;
    ensure!(status.success(), "`{shown}` failed ({status})");
    Ok(())
}
