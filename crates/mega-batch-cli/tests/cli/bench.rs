//! `mega-batch bench` on a machine without a GPU.

use std::fs;
use std::path::{Path, PathBuf};

use gpu_sim::emulated::EmulatedDevice;
use serde_json::Value;

use super::support::Folder;

/// The folder of the only machine in a folder of results.
fn machine(results: &Path) -> PathBuf {
    let mut machines = fs::read_dir(results).unwrap();
    let machine = machines.next().unwrap().unwrap().path();
    assert!(machines.next().is_none());
    machine
}

#[test]
fn a_benchmark_is_a_table_a_document_and_a_page() {
    let folder = Folder::new();
    let mut command =
        folder.command("bench --quick --sizes 8,1 --workers 2 --emulated --out new --commit abc");
    command
        .env("CUDA_VISIBLE_DEVICES", "")
        .env("KAGGLE_KERNEL_RUN_TYPE", "Batch");
    let done = super::support::done(command.output().unwrap());
    assert_eq!(
        (done.code, done.stderr.as_str()),
        (0, ""),
        "{}",
        done.stdout
    );
    for part in [
        "abc",
        "GPUs",
        "yes, Batch",
        "whole programs",
        "2 workers",
        "not measured",
    ] {
        assert!(done.stdout.contains(part), "{part}: {}", done.stdout);
    }

    let machine = machine(&folder.path().join("new"));
    let read = |name: &str| fs::read_to_string(machine.join(name)).unwrap();
    let document: Value = serde_json::from_str(&read("bench-quick.json")).unwrap();
    assert_eq!(
        (&document["schema"], &document["plan"]["workers"]),
        (&1.into(), &2.into())
    );
    assert_eq!(document["environment"]["commit"], "abc");
    assert_eq!(document["environment"]["kaggle"]["run_type"], "Batch");
    let cells = document["cells"].as_array().unwrap();
    let count = |mode: &str| cells.iter().filter(|cell| cell["mode"] == mode).count();
    assert_eq!(
        (count("reference"), count("sequential"), count("parallel")),
        (14, 14, 14)
    );
    let emulated = if EmulatedDevice::fingerprint().is_some() {
        14
    } else {
        0
    };
    assert_eq!((count("emulated"), count("gpu")), (emulated, 0));
    for cell in cells {
        assert!(cell["seconds"]["median"].as_f64().unwrap() > 0.0, "{cell}");
        let is_emulated = cell["mode"] == "emulated";
        assert_eq!(cell["speedup"].is_null(), is_emulated, "{cell}");
        assert_eq!(cell["on_device"].is_object(), is_emulated, "{cell}");
    }
    let verdict = document["verdict"].as_array().unwrap();
    let gpu = verdict
        .iter()
        .find(|judgement| judgement["target"] == "GPU")
        .unwrap();
    assert_eq!(gpu["finding"], "not_measured");
    assert!(!gpu["remarks"][0].as_str().unwrap().is_empty());

    let page = read("bench-quick.md");
    let row = "\n| batt | 8 | parallel | ";
    assert!(
        page.contains(row) && page.contains("\n| batt | 8 | 2 workers | "),
        "{page}"
    );
    let files = fs::read_dir(&machine).unwrap().count();
    assert_eq!(files, 2, "nothing else is left");

    // Compared with itself, with another plan.
    let kept = machine.join("bench-quick.json");
    let compare = format!(
        "bench --quick --sizes 1 --workers 1 --out again --compare {}",
        kept.display()
    );
    let done = folder.run(&compare);
    assert_eq!(
        (done.code, done.stderr.as_str()),
        (0, ""),
        "{}",
        done.stdout
    );
    for part in [
        "beside ",
        "another number of workers: 1 here, 2 there",
        " cells were measured there alone",
    ] {
        assert!(done.stdout.contains(part), "{part}: {}", done.stdout);
    }
    let again = self::machine(&folder.path().join("again"));
    let document: Value =
        serde_json::from_str(&fs::read_to_string(again.join("bench-quick.json")).unwrap()).unwrap();
    assert_eq!(
        document["comparison"]["cells"].as_array().unwrap().len(),
        21
    );
    // There is no scaling with one worker.
    assert_eq!(document["by_count"].as_array().unwrap().len(), 0);
}

/// Programs of the user are measured on their own pairs and on all.
#[test]
fn given_programs_are_measured_too() {
    let folder = Folder::new();
    folder.write("67a3c6ac.json", super::support::mirror_task());
    folder.write("mine.py", super::support::mirror_program("solve_67a3c6ac"));
    let mut command = folder.command(
        "bench --quick --sizes 3 --workers 1 --out new --programs mine.py --tasks 67a3c6ac.json",
    );
    let done = super::support::done(command.env("CUDA_VISIBLE_DEVICES", "").output().unwrap());
    assert_eq!(
        (done.code, done.stderr.as_str()),
        (0, ""),
        "{}",
        done.stdout
    );
    let machine = machine(&folder.path().join("new"));
    let text = fs::read_to_string(machine.join("bench-quick.json")).unwrap();
    let document: Value = serde_json::from_str(&text).unwrap();
    for kind in ["given programs", "given programs on all tasks", "batt"] {
        let cells = document["cells"].as_array().unwrap().iter();
        assert_eq!(
            cells.filter(|cell| cell["kind"] == kind).count(),
            3,
            "{kind}"
        );
    }
    let stages = document["stages"].as_array().unwrap().iter();
    let stages: Vec<_> = stages
        .map(|stage| (&stage["stage"], &stage["state"]))
        .collect();
    let ended = |name: &'static str| (Value::from(name), Value::from("ended"));
    let expected = [ended("programs"), ended("modes")];
    assert!(
        stages
            .into_iter()
            .eq(expected.iter().map(|(name, state)| (name, state)))
    );
}

#[test]
fn what_a_benchmark_cannot_use_is_told_before_it_runs() {
    let folder = Folder::new();
    folder.write("kept.json", "{\n  \"schema\": 1,\n  \"cells\": [,]\n}");
    folder.write(
        "prove.json",
        r#"{"schema": 1, "settings": {}, "stages": []}"#,
    );
    for (arguments, told) in [
        (
            "--compare kept.json",
            "kept.json:3:13: expected the document of a benchmark: broken JSON: ",
        ),
        ("--compare none.json", "none.json: no such file or folder"),
        (
            "--compare prove.json",
            "prove.json: expected the bench.json of a benchmark, found a document of an earlier version's `prove`",
        ),
        ("--programs - --tasks t", "-: expected files"),
        ("--minutes 0", "expected 0.01 to 10000 minutes"),
        ("--sizes 0", "expected 1 to 1000000 evaluations"),
        ("--sizes 1,x", "expected 1 to 1000000 evaluations"),
    ] {
        let done = folder.run(&format!("bench --quick --out new {arguments}"));
        assert_eq!((done.code, done.stdout.as_str()), (2, ""), "{arguments}");
        assert!(done.stderr.contains(told), "{}", done.stderr);
        assert!(!folder.path().join("new").exists());
    }
    folder.write("file", "");
    let done = folder.run("bench --quick --out file");
    assert_eq!(done.code, 1);
    assert!(done.stderr.contains("cannot be written"), "{}", done.stderr);
}
