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

pub(crate) const ALL: [Test; 5] = [
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
    (
        "without_a_driver_nothing_is_written",
        without_a_driver_nothing_is_written,
        false,
    ),
];

/// A small GPU: filling a large one takes the CPU long.
const GPU: &str = "bytes=20M;multiprocessors=1;threads=256";

/// How long a test waits for a stage.
const PATIENCE: Duration = Duration::from_secs(900);

/// The command in this folder, on a fake driver with these settings, started as by a terminal: the tests may have
/// been started with signals ignored, which the command would inherit.
fn command(folder: &TempDir, libraries: &Path, settings: &str, arguments: &str) -> Command {
    let mut command = Command::new("env");
    command
        .arg("--default-signal=HUP,INT,TERM")
        .arg(env!("CARGO_BIN_EXE_mega-batch"))
        .arg("prove")
        .args(arguments.split_whitespace())
        .current_dir(folder.path())
        .env("LD_LIBRARY_PATH", libraries)
        .env(fake_cuda_driver::VARIABLE, format!("{GPU};{settings}"))
        .env("MEGA_BATCH_CACHE", folder.path().join("cache"));
    command
}

fn said(output: &Output) -> String {
    let bytes = [&output.stdout[..], &output.stderr[..]].concat();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn document(folder: &TempDir, name: &str) -> Value {
    let text = fs::read_to_string(folder.path().join(name)).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}: {text}"))
}

/// The stages of a summary, each with its state.
fn states(summary: &Value) -> Vec<(String, String)> {
    let stages = summary["stages"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    stages
        .map(|stage| (text(&stage["stage"]), text(&stage["state"])))
        .collect()
}

/// Waits until a stage is in this state, and returns the summary.
fn wait_for(folder: &TempDir, stage: &str, state: &str) -> Value {
    let began = Instant::now();
    while began.elapsed() < PATIENCE {
        let file = folder.path().join("out/prove.json");
        // Whenever the file exists, it is complete.
        if let Ok(text) = fs::read_to_string(file) {
            let summary: Value = serde_json::from_str(&text).unwrap();
            let found = (stage.to_owned(), state.to_owned());
            if states(&summary).contains(&found) {
                return summary;
            }
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("{stage} is not {state}");
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
    let arguments =
        "--quick --out out --programs mine.py --tasks 67a3c6ac.json --workers 2 --commit abc";
    let prove = || command(&folder, libraries, "", arguments);

    let mut killed = prove().stdout(Stdio::null()).spawn().unwrap();
    wait_for(&folder, "self-check", "under_way");
    signal("KILL", killed.id());
    assert!(!killed.wait().unwrap().success());
    // The process of a stage ends with the proof.
    wait_for_processes(&folder);
    let before = document(&folder, "out/prove.json");
    let found = states(&before);
    let kept = ["start", "device"].map(|name| (name.to_owned(), "ended".to_owned()));
    assert_eq!(found[..2], kept);
    assert_eq!(found[2].1, "under_way");
    let device = fs::read(folder.path().join("out/device.json")).unwrap();

    // Other settings are another proof.
    let other = "--quick --out out --commit abc";
    let other = command(&folder, libraries, "", other).output().unwrap();
    assert_eq!(other.status.code(), Some(2), "{}", said(&other));
    let told =
        "prove.json: it is of another extent, by --quick or the given programs: --again begins";
    assert!(said(&other).contains(told), "{}", said(&other));

    let output = prove().output().unwrap();
    let told = said(&output);
    assert_eq!(output.status.code(), Some(0), "{told}");
    let kept = "kept, since they had ended before: Process start to first result, Device\n";
    assert!(told.contains(kept), "{told}");
    assert!(!told.contains("\nDevice: up to"), "{told}");
    assert_eq!(
        fs::read(folder.path().join("out/device.json")).unwrap(),
        device
    );

    summary_is_that_of_the_stages(&folder);
    results_are_right(&folder);

    let again = prove().output().unwrap();
    assert_eq!(again.status.code(), Some(0));
    assert!(
        !said(&again).contains("Out of memory: up to"),
        "{}",
        said(&again)
    );
}

/// Both forms of the summary agree with the documents of the stages.
fn summary_is_that_of_the_stages(folder: &TempDir) {
    let summary = document(folder, "out/prove.json");
    let page = fs::read_to_string(folder.path().join("out/prove.md")).unwrap();
    assert_eq!(summary["commit"], "abc");
    assert_eq!(summary["device"], "fake 0 (fake driver)");
    assert!(page.starts_with("# Proof on fake 0 (fake driver)\n"));
    assert!(page.contains("nothing here is a measurement of a GPU"));
    assert_eq!(states(&summary).len(), 10);
    for stage in summary["stages"].as_array().unwrap() {
        let name = stage["stage"].as_str().unwrap();
        let expected = if name == "cupy" { "skipped" } else { "ended" };
        assert_eq!(stage["state"], expected, "{stage}");
        let file = stage["file"].as_str().unwrap();
        let document = document(folder, &format!("out/{file}"));
        assert_eq!(document["ended"], true, "{file}");
        assert_eq!(document["device"], summary["device"], "{file}");
        assert_eq!(document["note"], summary["note"], "{file}");
        assert_eq!(document["lines"], stage["lines"], "{file}");
        let title = stage["title"].as_str().unwrap();
        assert!(page.contains(&format!("\n| {title} | {expected} | ")));
        for line in stage["lines"].as_array().unwrap() {
            assert!(page.contains(line.as_str().unwrap()), "{line}");
        }
    }
    // Every figure that was measured is reported, and marked as not a GPU's.
    let aims = summary["aims"].as_array().unwrap();
    let mut told = 0;
    for aim in aims {
        assert_eq!(
            (&aim["verdict"], &aim["measured"]),
            (&"not_measured".into(), &Value::Null)
        );
        let remark = aim["remark"].as_str().unwrap();
        assert!(page.contains(remark), "{remark}");
        told += usize::from(remark.starts_with("on the fake driver, which is no GPU: "));
    }
    // All aims but the one of CuPy.
    assert_eq!(told, aims.len() - 1, "{aims:?}");
}

fn results_are_right(folder: &TempDir) {
    let result = |name: &str| document(folder, &format!("out/{name}.json"))["result"].clone();
    let programs = result("programs");
    let rows = programs["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 4);
    assert!(rows.iter().all(|row| row["difference"].is_null()));
    assert!(
        rows.iter()
            .all(|row| row["found"]["by_device"].as_u64() > Some(0))
    );
    let check = &result("self-check")["passes"][0];
    assert_eq!(
        (&check["differ"], &check["tests_not_run"]),
        (&0.into(), &0.into())
    );
    assert_eq!(result("start")["rows"].as_array().unwrap().len(), 2);
    let memory = &result("memory")["rows"];
    let by_device = |at: usize| memory[at]["found"]["by_device"].as_u64().unwrap();
    // With no memory left the host takes over what does not fit, and afterwards the device works again.
    assert!(by_device(1) < by_device(0), "{memory}");
    assert!(
        memory[1]["found"]["launches_halved"].as_u64() > Some(0),
        "{memory}"
    );
    assert_eq!(by_device(0), by_device(4), "{memory}");
    assert_eq!(
        result("contexts")["rows"][0]["each"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
}

fn a_stage_that_fails_leaves_the_others_and_is_made_again(libraries: &Path) {
    let folder = tempfile::tempdir().unwrap();
    // The first stages do not need the device's own times.
    let fault = "fault=cuEventElapsedTime:1+:400";
    let arguments = "--quick --out out --workers 2";
    let output = command(&folder, libraries, fault, arguments);
    let output = output_of(output);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    let summary = document(&folder, "out/prove.json");
    for (stage, state) in states(&summary) {
        let expected = match &*stage {
            "device" | "start" | "self-check" => "ended",
            "cupy" => "skipped",
            _ => "failed",
        };
        assert_eq!(state, expected, "{stage} {}", said(&output));
    }
    let page = fs::read_to_string(folder.path().join("out/prove.md")).unwrap();
    assert!(
        page.contains("## Benchmark of the device, failed\n\n- driver error 400 ("),
        "{page}"
    );
    let document_of = document(&folder, "out/benchmark.json");
    assert_eq!(document_of["ended"], true);

    let output = output_of(command(&folder, libraries, "", arguments));
    let told = said(&output);
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(told.contains("\nBenchmark of the device: up to"), "{told}");
    assert!(!told.contains("\nSelf-check: up to"), "{told}");
}

fn output_of(mut command: Command) -> Output {
    command.output().unwrap()
}

fn a_stage_that_hangs_is_ended(libraries: &Path) {
    let folder = tempfile::tempdir().unwrap();
    // The first kernel never ends: the others are the stages that launch none.
    let fault = "fault=kernel:1:hang";
    let arguments = "--quick --out out --workers 2 --minutes 0.3";
    let output = output_of(command(&folder, libraries, fault, arguments));
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    let summary = document(&folder, "out/prove.json");
    let all = states(&summary);
    for name in ["start", "self-check", "benchmark", "contexts"] {
        let found = all.iter().find(|(stage, _)| stage == name).unwrap();
        assert_eq!(found.1, "failed", "{}", said(&output));
    }
    let of = &summary["stages"][2];
    let why = of["why"][0].as_str().unwrap();
    assert!(
        why.contains("its process was ended after") && why.contains("it hung, or"),
        "{why}"
    );
    assert_eq!(document(&folder, "out/self-check.json")["ended"], false);
    wait_for_processes(&folder);
}

fn what_is_interrupted_keeps_what_it_has(libraries: &Path) {
    let folder = tempfile::tempdir().unwrap();
    let mut prove = command(&folder, libraries, "", "--quick --out out");
    let mut prove = prove.stdout(Stdio::null()).spawn().unwrap();
    wait_for(&folder, "self-check", "under_way");
    signal("INT", prove.id());
    assert_eq!(prove.wait().unwrap().code(), Some(130));
    wait_for_processes(&folder);
    let states = states(&document(&folder, "out/prove.json"));
    assert!(
        states[..2].iter().all(|(_, state)| state == "ended"),
        "{states:?}"
    );
    assert!(
        states[3..].iter().all(|(_, state)| state == "not_run"),
        "{states:?}"
    );
}

fn without_a_driver_nothing_is_written(_: &Path) {
    let folder = tempfile::tempdir().unwrap();
    let libraries = tempfile::tempdir().unwrap();
    for name in [
        "libcuda.so",
        "libcuda.so.1",
        "libnvcuda.so",
        "libnvcuda.so.1",
    ] {
        fs::write(libraries.path().join(name), "no library").unwrap();
    }
    let output = output_of(command(&folder, libraries.path(), "", "--quick --out out"));
    assert_eq!(output.status.code(), Some(1));
    let told = "mega-batch: no NVIDIA driver: the library libcuda is not found\n";
    assert_eq!(said(&output), told);
    assert!(fs::read_dir(folder.path()).unwrap().next().is_none());
}
