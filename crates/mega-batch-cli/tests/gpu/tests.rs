//! The tests, each of which gets the folder with the driver's library.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// A named test, and whether it is too slow without optimisation.
type Test = (&'static str, fn(&Path), bool);

pub(crate) const ALL: [Test; 4] = [
    (
        "what_is_killed_goes_on_and_all_stages_end",
        what_is_killed_goes_on_and_all_stages_end,
        false,
    ),
    (
        "a_stage_that_fails_leaves_the_others_and_is_made_again",
        a_stage_that_fails_leaves_the_others_and_is_made_again,
        true,
    ),
    (
        "a_stage_that_hangs_is_ended",
        a_stage_that_hangs_is_ended,
        false,
    ),
    (
        "what_is_interrupted_keeps_what_it_has",
        what_is_interrupted_keeps_what_it_has,
        false,
    ),
];

/// A small GPU: filling a large one takes the CPU long.
const GPU: &str = "bytes=20M;multiprocessors=1;threads=256";

/// The folder of the machine, with the number of cores and the name of the fake GPU in it.
fn machine(folder: &TempDir) -> std::path::PathBuf {
    let mut machines = fs::read_dir(folder.path().join("out")).unwrap();
    machines.next().unwrap().unwrap().path()
}

/// How long a test waits for a stage.
const PATIENCE: Duration = Duration::from_secs(900);

/// The command in this folder, on a fake driver with these settings, started as by a terminal: the tests may have
/// been started with signals ignored, which the command would inherit.
fn command(folder: &TempDir, libraries: &Path, settings: &str, arguments: &str) -> Command {
    let mut command = Command::new("env");
    command
        .arg("--default-signal=HUP,INT,TERM")
        .arg(env!("CARGO_BIN_EXE_mega-batch"))
        .arg("bench")
        .args(arguments.split_whitespace())
        .current_dir(folder.path())
        .env("LD_LIBRARY_PATH", libraries)
        .env(fake_cuda_driver::VARIABLE, format!("{GPU};{settings}"));
    command
}

fn said(output: &Output) -> String {
    let bytes = [&output.stdout[..], &output.stderr[..]].concat();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn document(folder: &TempDir) -> Value {
    let text = fs::read_to_string(machine(folder).join("bench-quick.json")).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn page(folder: &TempDir) -> String {
    fs::read_to_string(machine(folder).join("bench-quick.md")).unwrap()
}

/// The stages of a summary, each with its state.
fn states(summary: &Value) -> Vec<(String, String)> {
    let stages = summary["stages"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    stages
        .map(|stage| (text(&stage["stage"]), text(&stage["state"])))
        .collect()
}

/// Waits until a stage has begun.
fn wait_for(folder: &TempDir, stage: &str) {
    let began = Instant::now();
    let has_begun = || {
        let machines = fs::read_dir(folder.path().join("out")).ok()?;
        let file = format!("parts/{stage}.json");
        machines
            .flatten()
            .find(|one| one.path().join(&file).exists())
    };
    while has_begun().is_none() {
        assert!(began.elapsed() < PATIENCE, "{stage} has not begun");
        thread::sleep(Duration::from_millis(10));
    }
}

/// Waits until no process works in this folder.
fn wait_for_processes(folder: &TempDir) {
    let name = folder.path().to_string_lossy().into_owned();
    let works_here = || {
        let all = fs::read_dir("/proc").unwrap().flatten();
        all.map(|entry| fs::read_link(entry.path().join("cwd")))
            .any(|cwd| cwd.is_ok_and(|cwd| cwd.to_string_lossy() == name))
    };
    let began = Instant::now();
    while works_here() {
        assert!(began.elapsed() < PATIENCE, "a process is left in {name}");
        thread::sleep(Duration::from_millis(10));
    }
}

fn signal(name: &str, process: u32) {
    let status = Command::new("kill")
        .args([format!("-{name}"), process.to_string()])
        .status();
    assert!(status.unwrap().success());
}

fn what_is_killed_goes_on_and_all_stages_end(libraries: &Path) {
    let folder = tempfile::tempdir().unwrap();
    let task = r#"{"train": [{"input": [[1, 2]], "output": [[2, 1]]}], "test": []}"#;
    fs::write(folder.path().join("67a3c6ac.json"), task).unwrap();
    let program = "def solve_67a3c6ac(I):\n    O = vmirror(I)\n    return O\n";
    fs::write(folder.path().join("mine.py"), program).unwrap();
    let arguments = "--quick --sizes 4 --out out --programs mine.py --tasks 67a3c6ac.json \
                     --workers 2 --commit abc";
    let bench = || command(&folder, libraries, "", arguments);

    let mut killed = bench().stdout(Stdio::null()).spawn().unwrap();
    wait_for(&folder, "self-check");
    signal("KILL", killed.id());
    assert!(!killed.wait().unwrap().success());
    // The process of a stage ends with the benchmark.
    wait_for_processes(&folder);
    let before = document(&folder);
    let found = states(&before);
    let found: Vec<(&str, &str)> = found.iter().map(|(a, b)| (&**a, &**b)).collect();
    assert_eq!(found, [("start", "ended")]);

    let output = bench().output().unwrap();
    let told = said(&output);
    assert_eq!(output.status.code(), Some(0), "{told}");
    let kept = "\nFrom the start of a process to an open GPU: kept from before\n";
    assert!(told.contains(kept), "{told}");
    assert!(told.contains("\nSelf-check: up to"), "{told}");

    let summary = document(&folder);
    let page = page(&folder);
    assert_eq!(summary["environment"]["commit"], "abc");
    assert!(page.contains("nothing here is a measurement of a GPU"));
    for (name, state) in states(&summary) {
        let is_missing = name == "tensors";
        assert_eq!(
            state,
            if is_missing { "skipped" } else { "ended" },
            "{name}"
        );
        assert!(page.contains(&format!("\n| {name} | {state} | ")), "{page}");
    }
    results_are_right(&summary);
    // Nothing is left but the document and its page.
    assert_eq!(fs::read_dir(machine(&folder)).unwrap().count(), 2);
}

fn results_are_right(summary: &Value) {
    let cells = summary["cells"].as_array().unwrap();
    let of = |kind: &str, mode: &str| {
        let mut cells = cells.iter();
        let cell = cells.find(|cell| cell["kind"] == kind && cell["mode"] == mode);
        cell.unwrap_or_else(|| panic!("no cell of {kind}, {mode}"))
    };
    for kind in [
        "given programs",
        "given programs on all tasks",
        "batt",
        "rot90",
    ] {
        let share = &of(kind, "gpu")["on_device"]["evaluations"];
        assert!(share.as_f64() > Some(0.0), "{kind}: {share}");
    }
    for kind in ["rot90", "objects", "pipeline of 30"] {
        let median = &of(kind, "kernel")["seconds"]["median"];
        assert!(median.as_f64() > Some(0.0), "{kind}");
    }
    assert_eq!(of("pipeline of 30", "kernel")["steps"], 30.0);
    // Every figure that was measured is reported, and marked as not a GPU's.
    let verdict = summary["verdict"].as_array().unwrap();
    let of_gpus = verdict
        .iter()
        .filter(|one| one["wording"] == "" || one["target"] == "GPU");
    let mut told = 0;
    for one in of_gpus.clone() {
        let found = (&one["finding"], &one["measured"]);
        assert_eq!(found, (&"not_measured".into(), &Value::Null));
        let remark = one["remarks"][0].as_str().unwrap();
        told += usize::from(remark.starts_with("on the fake driver, which is no GPU: "));
    }
    // All but those of tensors, of one grid and of 10,000.
    assert_eq!(told, of_gpus.count() - 4, "{verdict:?}");

    let stage = |name: &str| {
        let mut stages = summary["stages"].as_array().unwrap().iter();
        let stage = stages.find(|stage| stage["stage"] == name).unwrap();
        let lines = stage["lines"].as_array().unwrap().iter();
        let lines: Vec<String> = lines
            .map(|line| line.as_str().unwrap().to_owned())
            .collect();
        lines
    };
    // With no memory left the host takes over what does not fit, and afterwards the device works again.
    let memory = stage("memory");
    let by_device = |at: usize| {
        let (before, _) = memory[at].split_once(" by the device").unwrap();
        before.rsplit(' ').next().unwrap().parse::<u64>().unwrap()
    };
    assert!(by_device(1) < by_device(0), "{memory:?}");
    assert!(
        !memory[1].contains(", 0 batches made in halves"),
        "{memory:?}"
    );
    assert_eq!(by_device(0), by_device(4), "{memory:?}");
    let check = stage("self-check");
    assert!(
        check
            .iter()
            .any(|line| line.starts_with("built-in programs") && line.ends_with(" ok"))
    );
    assert!(stage("contexts")[0].starts_with("evaluations by 2 processes at a time: "));
}

fn a_stage_that_fails_leaves_the_others_and_is_made_again(libraries: &Path) {
    let folder = tempfile::tempdir().unwrap();
    // The first stages do not need the device's own times.
    let fault = "fault=cuEventElapsedTime:1+:400";
    let arguments = "--quick --sizes 4 --out out --workers 2";
    let output = command(&folder, libraries, fault, arguments)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    for (stage, state) in states(&document(&folder)) {
        let expected = match &*stage {
            "start" | "self-check" => "ended",
            "programs" | "tensors" => "skipped",
            _ => "failed",
        };
        assert_eq!(state, expected, "{stage} {}", said(&output));
    }
    let page = page(&folder);
    let row = page
        .lines()
        .find(|line| line.starts_with("| operations | failed | "));
    assert!(row.unwrap().contains(" | driver error 400 ("), "{page}");

    let output = command(&folder, libraries, "", arguments).output().unwrap();
    let told = said(&output);
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(told.contains("\nSelf-check: kept from before\n"), "{told}");
    assert!(
        told.contains("\nSingle operations and pipelines: up to"),
        "{told}"
    );
}

fn a_stage_that_hangs_is_ended(libraries: &Path) {
    let folder = tempfile::tempdir().unwrap();
    // The first kernel never ends: the others are the stages that launch none.
    let fault = "fault=kernel:1:hang";
    let arguments = "--quick --sizes 4 --out out --workers 2 --minutes 0.3";
    let output = command(&folder, libraries, fault, arguments)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    let summary = document(&folder);
    for (stage, state) in states(&summary) {
        if ["modes", "operations", "memory"].contains(&&*stage) {
            assert_eq!(state, "failed", "{stage} {}", said(&output));
        }
    }
    let stages = summary["stages"].as_array().unwrap();
    let operations = stages.iter().find(|stage| stage["stage"] == "operations");
    let why = operations.unwrap()["reasons"][0].as_str().unwrap();
    assert!(
        why.contains("its process was ended after") && why.contains("it hung, or"),
        "{why}"
    );
    wait_for_processes(&folder);
}

fn what_is_interrupted_keeps_what_it_has(libraries: &Path) {
    let folder = tempfile::tempdir().unwrap();
    let mut bench = command(&folder, libraries, "", "--quick --sizes 4 --out out");
    let mut bench = bench.stdout(Stdio::null()).spawn().unwrap();
    wait_for(&folder, "self-check");
    signal("INT", bench.id());
    assert_eq!(bench.wait().unwrap().code(), Some(130));
    wait_for_processes(&folder);
    let states = states(&document(&folder));
    let states: Vec<&str> = states.iter().map(|(_, state)| &**state).collect();
    assert_eq!(states[..2], ["ended", "failed"]);
    assert!(
        states[2..].iter().all(|state| *state == "not_run"),
        "{states:?}"
    );
}
