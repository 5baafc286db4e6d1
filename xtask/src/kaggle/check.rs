//! Runs the notebook here, cell by cell, on generated tasks in a folder that imitates Kaggle's: whatever is missing
//! or fails, it must end without an exception and leave a valid submission.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use arc_dsl::{Task, builtin};
use serde_json::json;
use tempfile::TempDir;

use super::metadata::Names;
use super::{Package, engine, notebook, write_json};
use tasks::{data_dir, evaluation_tasks, of_tasks, right, rows, solutions, tasks};

mod tasks;

/// Runs the code cells of a notebook in their order, as a Jupyter kernel does.
const RUNNER: &str = "\
import json, sys
with open(sys.argv[1]) as file:
    cells = json.load(file)['cells']
names = {'__name__': '__main__'}
for number, cell in enumerate(cells):
    if cell['cell_type'] == 'code':
        exec(compile(''.join(cell['source']), f'cell {number}', 'exec'), names)
";

/// How many of the 419 test inputs of ARC-AGI-1's evaluation tasks the search must get right.
const FOUND: usize = 130;

/// The maximum number of lines that a rerun prints.
const MOST_LINES: usize = 100;

/// Runs every scenario; returns the reason if that is impossible here.
pub(crate) fn check(root: &Path, binary: Option<&Path>) -> Result<Option<String>> {
    if !cfg!(unix) {
        return Ok(Some("it is for Unix".to_owned()));
    }
    if !has_python() {
        return Ok(Some("there is no Python 3".to_owned()));
    }
    let names = Names::new("somebody", "mega-batch", "some-competition")?;
    let engine = engine(root, binary)?;
    for scenario in scenarios() {
        let shown = scenario.name;
        println!("notebook: {shown}");
        scenario
            .run(&names, &engine)
            .with_context(|| format!("the notebook, {shown}"))?;
    }
    if data_dir().is_none() {
        println!("notebook: the search on ARC tasks: skipped: ARC_DATA_DIR is not set");
    }
    Ok(None)
}

fn has_python() -> bool {
    let output = Command::new("python3").arg("--version").output();
    output.is_ok_and(|output| output.status.success())
}

/// Where Kaggle puts inputs; both layouts have occurred.
#[derive(Debug, Clone, Copy)]
enum Layout {
    /// `competitions/NAME` and `datasets/OWNER/NAME`.
    ByKind,
    /// `NAME`.
    Flat,
}

impl Layout {
    fn competition(self, input: &Path, names: &Names) -> PathBuf {
        match self {
            Layout::ByKind => input.join("competitions").join(&names.competition),
            Layout::Flat => input.join(&names.competition),
        }
    }

    fn dataset(self, input: &Path, names: &Names) -> PathBuf {
        match self {
            Layout::ByKind => input
                .join("datasets")
                .join(&names.owner)
                .join(&names.dataset),
            Layout::Flat => input.join(&names.dataset),
        }
    }
}

/// The contents of the dataset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Engine {
    /// The engine, with programs or with the built-in ones.
    Real { programs: bool },
    /// The engine, which crashes in its first run.
    CrashingOnce,
    /// There is no dataset.
    Missing,
    /// A program that crashes in every call.
    Crashing,
    /// A program that writes half a submission and crashes.
    Spoiling,
}

/// The files of the competition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tasks {
    Given,
    /// The file of challenges is truncated; there is a sample submission.
    Broken,
    /// The evaluation tasks of ARC-AGI-1, without programs.
    Evaluation,
}

/// One run of the notebook.
#[derive(Debug, Clone, Copy)]
struct Scenario {
    name: &'static str,
    layout: Layout,
    is_rerun: bool,
    engine: Engine,
    tasks: Tasks,
    bench: bool,
}

impl Engine {
    /// Whether it can produce a submission.
    fn works(self) -> bool {
        matches!(self, Engine::Real { .. } | Engine::CrashingOnce)
    }
}

fn scenarios() -> Vec<Scenario> {
    let first = Scenario {
        name: "all of it, folders by kind",
        layout: Layout::ByKind,
        is_rerun: false,
        engine: Engine::Real { programs: true },
        tasks: Tasks::Given,
        bench: true,
    };
    let engine = |name, engine| Scenario {
        name,
        engine,
        bench: false,
        ..first
    };
    let searched = Scenario {
        name: "a rerun that searches, ARC-AGI-1's evaluation tasks",
        is_rerun: true,
        engine: Engine::Real { programs: false },
        tasks: Tasks::Evaluation,
        bench: false,
        ..first
    };
    let searched = data_dir().is_some().then_some(searched);
    let others = [
        first,
        Scenario {
            name: "a rerun, folders by kind",
            is_rerun: true,
            ..first
        },
        Scenario {
            name: "without benchmark and programs, flat folders",
            layout: Layout::Flat,
            engine: Engine::Real { programs: false },
            bench: false,
            ..first
        },
        Scenario {
            name: "a rerun without programs, flat folders",
            layout: Layout::Flat,
            is_rerun: true,
            engine: Engine::Real { programs: false },
            ..first
        },
        Scenario {
            is_rerun: true,
            ..engine("a rerun without the dataset", Engine::Missing)
        },
        engine("an engine that crashes once", Engine::CrashingOnce),
        engine("an engine that crashes", Engine::Crashing),
        Scenario {
            is_rerun: true,
            ..engine(
                "a rerun, an engine that spoils the submission",
                Engine::Spoiling,
            )
        },
        Scenario {
            is_rerun: true,
            tasks: Tasks::Broken,
            ..engine("a rerun, broken tasks and no dataset", Engine::Missing)
        },
    ];
    others.into_iter().chain(searched).collect()
}

impl Scenario {
    fn run(self, names: &Names, engine: &Path) -> Result<()> {
        let place = Place::new()?;
        let tasks = match self.tasks {
            Tasks::Evaluation => evaluation_tasks()?,
            Tasks::Given | Tasks::Broken => tasks(),
        };
        self.write_tasks(&self.layout.competition(&place.input(), names), &tasks)?;
        self.write_dataset(&place, names, engine)?;
        let path = place.path("run.ipynb");
        write_json(&path, &notebook::notebook(names)?)?;
        let said = place.run(&path, self.is_rerun, self.bench)?;
        let checked = self.check_result(&place, &tasks, &said);
        // The notebook's output is what one has to read in that case.
        checked.map_err(|error| anyhow!("{error:#}; the notebook printed\n{said}"))
    }

    fn write_tasks(self, folder: &Path, tasks: &[Task]) -> Result<()> {
        fs::create_dir_all(folder)?;
        let challenges = of_tasks(tasks, |task| {
            let train = task.train.iter().map(|pair| {
                json!({"input": rows(&pair.input), "output": pair.output.as_ref().map(rows)})
            });
            let test = task
                .test
                .iter()
                .map(|pair| json!({"input": rows(&pair.input)}));
            json!({"train": train.collect::<Vec<_>>(), "test": test.collect::<Vec<_>>()})
        });
        let file = |name: &str| folder.join(name);
        if self.tasks == Tasks::Broken {
            let text = challenges.to_string();
            fs::write(
                file("arc-agi_test_challenges.json"),
                &text[..text.len() / 2],
            )?;
            let sample = of_tasks(tasks, |task| {
                let attempts = task.test.iter();
                let zeros = json!([[0, 0], [0, 0]]);
                let attempt = json!({"attempt_1": zeros, "attempt_2": zeros});
                attempts.map(|_| attempt.clone()).collect()
            });
            return write_json(&file("sample_submission.json"), &sample);
        }
        write_json(&file("arc-agi_test_challenges.json"), &challenges)?;
        write_json(&file("arc-agi_evaluation_challenges.json"), &challenges)?;
        write_json(
            &file("arc-agi_evaluation_solutions.json"),
            &solutions(tasks),
        )
    }

    /// The dataset as on Kaggle: read-only and not executable.
    fn write_dataset(self, place: &Place, names: &Names, engine: &Path) -> Result<()> {
        let script = |text: &str| -> Result<PathBuf> {
            let path = place.path("script");
            fs::write(
                &path,
                format!("#!/bin/sh\n[ \"$1\" = --version ] && exit 0\n{text}\n"),
            )?;
            Ok(path)
        };
        let binary = match self.engine {
            Engine::Missing => return Ok(()),
            Engine::Real { .. } => engine.to_owned(),
            Engine::CrashingOnce => script(&format!(
                "[ \"$1\" = run ] && [ ! -e \"$0.run\" ] && : > \"$0.run\" && kill -SEGV $$\n\
                 exec '{}' \"$@\"",
                engine.display()
            ))?,
            Engine::Crashing => script("kill -SEGV $$")?,
            Engine::Spoiling => script(
                "while [ $# -gt 0 ]; do\n\
                 [ \"$1\" = --submission ] && printf '{\"a' > \"$2\"\nshift\ndone\nkill -SEGV $$",
            )?,
        };
        let mut programs = Vec::new();
        if self.engine == (Engine::Real { programs: true }) {
            for program in builtin::all() {
                let path = place.path(&format!("{}.py", program.id()));
                fs::write(&path, program.text())?;
                programs.push(path);
            }
        }
        let package = Package {
            names,
            shape: None,
            binary: &binary,
            programs: &programs,
            wheels: &[],
            licences: &[],
        };
        let packed = place.path("packed");
        package.write(&packed)?;
        let dataset = self.layout.dataset(&place.input(), names);
        fs::create_dir_all(dataset.parent().context("a dataset lies in a folder")?)?;
        fs::rename(packed.join("dataset"), &dataset)?;
        let binary = dataset.join("mega-batch");
        let mut permissions = fs::metadata(&binary)?.permissions();
        permissions.set_readonly(true);
        #[cfg(unix)]
        std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o444);
        fs::set_permissions(&binary, permissions)?;
        Ok(())
    }

    /// Checks the result of a run.
    fn check_result(self, place: &Place, tasks: &[Task], said: &str) -> Result<()> {
        let text = fs::read_to_string(place.working().join("submission.json"))?;
        let submission = serde_json::from_str(&text).context("submission.json")?;
        let right = right(&submission, tasks)?;
        let works = self.engine.works();
        // Built-in tasks are generated from the programs; for them the input and a black cell are wrong answers.
        let all: usize = tasks.iter().map(|task| task.test.len()).sum();
        let (least, most) = if self.tasks == Tasks::Evaluation {
            (FOUND, all)
        } else if works {
            (all * 9 / 10, all)
        } else {
            (0, all / 10)
        };
        ensure!(
            (least..=most).contains(&right),
            "expected {least} to {most} of {all} test inputs to be right, found {right}"
        );
        let ends = said.lines().last().unwrap_or_default();
        let fails = !ends.starts_with("0 steps failed");
        ensure!(fails != works, "the last line is `{ends}`");
        let mut names: Vec<_> = fs::read_dir(place.working())?
            .map(|entry| entry.map(|entry| entry.file_name().to_string_lossy().into_owned()))
            .collect::<Result<_, _>>()?;
        names.sort();
        if self.is_rerun {
            ensure!(
                names == ["submission.json"],
                "expected nothing but submission.json, found {}",
                names.join(", ")
            );
            let lines = said.lines().count();
            ensure!(
                lines <= MOST_LINES,
                "a rerun printed {lines} lines, expected {MOST_LINES} at most"
            );
        } else if works {
            for name in ["mega-batch.log", "report-scored.html", "report-test.html"] {
                ensure!(names.iter().any(|it| it == name), "there is no {name}");
            }
            ensure!(
                self.bench == names.iter().any(|name| name == "bench"),
                "the benchmark"
            );
            ensure!(said.contains("test inputs right"), "nothing was scored");
        }
        let left: Vec<_> = fs::read_dir(place.path("tmp"))?.collect();
        ensure!(left.is_empty(), "the notebook left {left:?} behind");
        Ok(())
    }
}

/// Kaggle's folders.
struct Place(TempDir);

impl Place {
    fn new() -> Result<Self> {
        let place = Self(tempfile::tempdir()?);
        for folder in [place.input(), place.working(), place.path("tmp")] {
            fs::create_dir_all(folder)?;
        }
        Ok(place)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn input(&self) -> PathBuf {
        self.path("kaggle/input")
    }

    fn working(&self) -> PathBuf {
        self.path("kaggle/working")
    }

    /// Runs a notebook's cells; returns their output.
    fn run(&self, notebook: &Path, is_rerun: bool, bench: bool) -> Result<String> {
        let mut command = Command::new("python3");
        command
            .args(["-c", RUNNER])
            .arg(notebook)
            .current_dir(self.working())
            .stdin(Stdio::null())
            .env("MEGA_BATCH_KAGGLE_ROOT", self.path("kaggle"))
            .env("MEGA_BATCH_BENCH", if bench { "1" } else { "0" })
            .env("TMPDIR", self.path("tmp"))
            .env("PYTHONUNBUFFERED", "1");
        for name in ["MEGA_BATCH_MODE", "MEGA_BATCH_HOURS", "MEGA_BATCH_CACHE"] {
            command.env_remove(name);
        }
        let variable = "KAGGLE_IS_COMPETITION_RERUN";
        if is_rerun {
            command.env(variable, "1");
        } else {
            command.env_remove(variable);
        }
        let output = command.output().context("python3 cannot be run")?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        if !output.status.success() || !output.stderr.is_empty() {
            let errors = String::from_utf8_lossy(&output.stderr);
            bail!(
                "expected no exception, found ({})\n{errors}\n{said}",
                output.status
            );
        }
        Ok(said)
    }
}
