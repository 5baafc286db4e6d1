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
        "a GPU from 20 evaluations on, several from 30 a GPU on, until costs are measured"
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
    assert!(document.get("costs").is_none() && document.get("measured").is_none());
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
fn what_is_measured_is_kept_shown_and_removed() {
    let folder = Folder::new();
    let file = folder.path().join("cache/costs.json");
    let is_emulated = EmulatedDevice::fingerprint().is_some();
    let measured = run_json(&folder, "--measure --emulated");
    let executors = measured["measured"].as_array().unwrap();
    assert_eq!(executors.len(), 1 + usize::from(is_emulated));
    for executor in executors {
        let batches = executor["batches"].as_array().unwrap();
        assert!(batches.iter().any(|batch| batch["items"] == 8));
        for batch in batches {
            assert!(batch["seconds"].as_f64().unwrap() > 0.0);
        }
        for kind in executor["kinds"].as_array().unwrap() {
            assert!(kind["unit_seconds"].as_f64().unwrap() >= 0.0, "{kind}");
            assert!(kind["batches"].as_u64().unwrap() > 0, "{kind}");
        }
        assert!(executor.get("launch_shape").is_none(), "{executor}");
    }
    let kinds = measured["thresholds"]["measured_kinds"].as_array().unwrap();
    assert_eq!(!kinds.is_empty(), is_emulated);
    assert!(file.is_file());

    // What is kept is what was measured.
    let kept = run_json(&folder, "--costs");
    assert!(kept.get("host").is_none(), "{kept}");
    assert_eq!(kept["costs"]["file"], file.to_str().unwrap());
    let kept = kept["costs"]["executors"].as_array().unwrap();
    for executor in executors {
        let of = kept.iter().find(|one| one["device"] == executor["device"]);
        let kinds = |executor: &Value| executor["kinds"].as_array().unwrap().clone();
        let (before, after) = (kinds(executor), kinds(of.unwrap()));
        assert_eq!(before.len(), after.len());
        for (before, after) in before.iter().zip(&after) {
            for whole in ["kind", "steps", "batches"] {
                assert_eq!(before[whole], after[whole]);
            }
            // Printing as text may change the last bit of a number.
            for number in ["overhead_seconds", "unit_seconds"] {
                let [before, after] = [before, after].map(|kind| kind[number].as_f64().unwrap());
                assert!((before - after).abs() <= 1e-12 * before, "{before} {after}");
            }
        }
    }
    let done = run(&folder, "--costs");
    assert_eq!(row(&done.stdout, "costs"), file.to_str().unwrap());
    assert!(done.stdout.contains("us a batch"), "{}", done.stdout);
    if is_emulated {
        let text = run(&folder, "--emulated").stdout;
        let thresholds = row(&text, "thresholds");
        assert!(thresholds.contains("measured costs stand in"), "{text}");
    }

    let done = run(&folder, "--reset-costs");
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    assert!(done.stdout.contains("removed"), "{}", done.stdout);
    assert!(!file.exists());
    let done = run(&folder, "--reset-costs");
    assert!(done.stdout.contains("nothing to be removed"));
    let none = run_json(&folder, "--costs");
    assert_eq!(none["costs"]["executors"], Value::Array(Vec::new()));
    let done = run(&folder, "--costs");
    assert!(done.stdout.contains("nothing is measured so far"));
}

#[test]
fn a_broken_cache_is_told_and_no_failure() {
    let folder = Folder::new();
    folder.write("cache/costs.json", "{\"version\": 1,\n\"executors\": [3]}");
    let done = run(&folder, "--costs");
    assert_eq!(done.code, 0);
    assert!(
        done.stderr
            .contains("costs.json: line 2, column 15: invalid type"),
        "{}",
        done.stderr
    );
    assert!(done.stderr.contains("costs are learned anew"));
    assert!(done.stdout.contains("nothing is measured so far"));
    // Only what is broken is removed, without an error.
    let done = run(&folder, "--reset-costs");
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    assert!(!folder.path().join("cache/costs.json").exists());
}

#[test]
fn names_in_a_cache_are_escaped() {
    let folder = Folder::new();
    let text = r#"{"version": 1, "executors": [{"device": "a\u001b[31m", "driver": "1\n2",
        "engine": "0", "kernels": null, "saved": 1, "kinds": {}}]}"#;
    folder.write("cache/costs.json", text);
    let done = run(&folder, "--costs");
    assert!(!done.stdout.contains('\u{1b}'), "{}", done.stdout);
    assert!(done.stdout.contains("CUDA 1\\n2"), "{}", done.stdout);
}

#[test]
fn what_cannot_be_kept_is_told_and_measured_all_the_same() {
    let folder = Folder::new();
    folder.write("cache", "no folder");
    let done = run(&folder, "--measure");
    assert_eq!(done.code, 1);
    assert!(
        done.stderr.contains("costs are not kept"),
        "{}",
        done.stderr
    );
    assert!(done.stdout.contains("measured: "), "{}", done.stdout);
}

#[test]
fn bad_options_are_refused() {
    let folder = Folder::new();
    for (options, message) in [
        ("--gpus x", "--gpus"),
        ("--gpus -1", "-1"),
        ("--gpus 1 --emulated", "cannot be used with"),
        ("--costs --reset-costs", "cannot be used with"),
        ("--cost", "--costs"),
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
