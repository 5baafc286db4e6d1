//! `mega-batch devices`.

use std::fs;

use gpu_sim::emulated::EmulatedDevice;
use serde_json::Value;

use super::support::{Done, Folder, done};

/// The command with GPUs hidden, if there are any.
fn run(folder: &Folder, arguments: &str) -> Done {
    let mut command = folder.command(&format!("devices {arguments}"));
    done(command.env("CUDA_VISIBLE_DEVICES", "").output().unwrap())
}

fn run_json(folder: &Folder, arguments: &str) -> Value {
    let done = run(folder, &format!("{arguments} --json -"));
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    serde_json::from_str(&done.stdout).unwrap()
}

fn row<'a>(text: &'a str, name: &str) -> &'a str {
    let mut lines = text.lines();
    let value = lines.find_map(|line| line.strip_prefix(name));
    value.unwrap_or_else(|| panic!("{name} in\n{text}")).trim()
}

#[test]
fn without_a_gpu_it_says_why_and_what_a_run_takes() {
    let folder = Folder::new();
    let done = run(&folder, "");
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    let text = done.stdout.as_str();
    assert!(row(text, "host").contains("thread"), "{text}");
    let why = row(text, "GPUs").strip_prefix("none: ").unwrap();
    assert!(why.contains("NVIDIA"), "{text}");
    let taken = format!("with --backend cuda: the CPU alone: {why}");
    assert_eq!(row(text, "a run takes"), taken);
    assert_eq!(
        row(text, "thresholds"),
        "a GPU from 20 evaluations on, several from 30 a GPU on"
    );
    assert!(!text.contains("emulated"), "{text}");
    // Listing devices must not write.
    assert!(!folder.path().join("cache").exists());

    let document = run_json(&folder, "");
    assert_eq!(document["no_gpu"], why);
    assert_eq!(document["gpus"], Value::Array(Vec::new()));
    assert_eq!(document["run"]["why"], format!("the CPU alone: {why}"));
    assert!(document["host"]["threads"].as_u64().unwrap() > 0);
    assert_eq!(document["thresholds"]["gpu"], 20);
    assert_eq!(document["thresholds"]["each_of_several"], 30);
    assert!(document.get("kept").is_none() && document.get("measured").is_none());
}

#[test]
fn the_interpreted_device_is_shown() {
    let folder = Folder::new();
    let done = run(&folder, "--ptx --json devices.json");
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    let text = fs::read_to_string(folder.path().join("devices.json")).unwrap();
    let document: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["interpreted"]["name"], "interpreted PTX");
    assert_eq!(document["run"]["backend"], "ptx");
    assert_eq!(document["run"]["interpreted"], true);
    let taken = "with --backend ptx: the interpreted device";
    assert!(done.stdout.contains(taken), "{}", done.stdout);
}

#[test]
fn the_emulated_device_is_shown_or_why_there_is_none() {
    let folder = Folder::new();
    let done = run(&folder, "--emulated --json devices.json");
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    let text = fs::read_to_string(folder.path().join("devices.json")).unwrap();
    let document: Value = serde_json::from_str(&text).unwrap();
    let emulated = &document["emulated"];
    let taken = row(&done.stdout, "a run takes");
    if EmulatedDevice::fingerprint().is_none() {
        let reason = emulated["unusable"].as_str().unwrap();
        assert!(reason.contains("C++ compiler"), "{reason}");
        assert!(done.stdout.contains("cannot be used: "), "{}", done.stdout);
        assert!(taken.contains("the CPU alone: no emulated device"));
        return;
    }
    assert_eq!(emulated["name"], "emulated device");
    let memory = &emulated["memory"];
    let bytes = |name: &str| memory[name].as_u64().unwrap();
    assert_eq!(bytes("free") + bytes("in_use"), bytes("total"));
    assert_eq!(emulated["suggested_batch"][0], 128);
    assert_eq!(document["run"]["emulated"], true);
    assert!(taken.starts_with("with --backend emulated: the emulated device"));
    assert_eq!(
        row(&done.stdout, "  batches"),
        "128 to 4,096 evaluations suggested"
    );
}

#[test]
fn bad_options_are_refused() {
    let folder = Folder::new();
    for (options, message) in [
        ("--gpus x", "--gpus"),
        ("--gpus -1", "-1"),
        ("--gpus 1 --emulated", "cannot be used with"),
        ("more", "more"),
    ] {
        let done = run(&folder, options);
        assert_eq!((done.code, done.stdout.as_str()), (2, ""), "{options}");
        assert!(done.stderr.contains(message), "{}", done.stderr);
    }
    let done = run(&folder, "--json missing/devices.json");
    assert_eq!((done.code, done.stdout.as_str()), (1, ""));
    assert!(done.stderr.contains("cannot be written"), "{}", done.stderr);
    let none = run_json(&folder, "--gpus 0");
    assert_eq!(none["run"]["why"], "the CPU alone: no GPU was asked for");
}
