//! `mega-batch bench`, for this machine and for devices.

use std::fs;
use std::path::{Path, PathBuf};

use gpu_sim::emulated::EmulatedDevice;
use serde_json::Value;

use super::support::Folder;

fn document(folder: &Folder, name: &str) -> Value {
    let text = fs::read_to_string(folder.path().join(name)).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn a_quick_look_at_the_emulated_device_says_that_it_is_no_gpu() {
    let folder = Folder::new();
    let done = folder.run(
        "bench --backend emulated --quick --out new/device.json --export grids.json --commit abc",
    );
    if EmulatedDevice::fingerprint().is_none() {
        assert_eq!(done.code, 1);
        assert!(
            done.stderr.contains("no emulated device"),
            "{}",
            done.stderr
        );
        assert!(!folder.path().join("new").exists());
        return;
    }
    assert_eq!(
        (done.code, done.stderr.as_str()),
        (0, ""),
        "{}",
        done.stdout
    );
    assert!(done.stdout.contains("not run on a GPU"), "{}", done.stdout);

    let document = document(&folder, "new/device.json");
    assert_eq!(document["device"], "emulated device");
    assert_eq!(document["note"], "not run on a GPU");
    assert_eq!(document["commit"], "abc");
    assert_eq!(document["left_out"], Value::Array(Vec::new()));
    assert!(
        document["limits"]["copy_bytes_per_second"]
            .as_f64()
            .unwrap()
            > 0.0
    );
    let rows = document["rows"].as_array().unwrap();
    let count = |key: &str, value: Value| rows.iter().filter(|row| row[key] == value).count();
    assert_eq!(count("section", "pipeline".into()), 4 * 3);
    assert_eq!(count("section", "programs".into()), 1);
    assert_eq!(count("name", "rot90".into()), 3);
    for row in rows {
        let grids = row["grids"].as_u64().unwrap();
        let bail_outs = row["bail_outs"].as_u64().unwrap();
        let compared = row["compared"].as_u64().unwrap();
        assert_eq!(compared + bail_outs, grids, "{row}");
        assert!(grids <= 100, "{row}");
        assert!(row["kernel"]["seconds"].as_f64().unwrap() > 0.0, "{row}");
        if row["section"] == "programs" {
            assert_eq!(row["right"].as_u64().unwrap() + bail_outs, grids, "{row}");
        }
        // The host does almost nothing, and nothing of a pipeline.
        assert!(bail_outs * 10 <= grids, "{row}");
        assert!(row["section"] != "pipeline" || bail_outs == 0, "{row}");
    }

    let export = self::document(&folder, "grids.json");
    let grids = export["grids"].as_array().unwrap().len();
    assert_eq!(export["outputs"]["30"].as_array().unwrap().len(), grids);
}

#[test]
fn without_a_gpu_it_says_why_and_writes_nothing() {
    let folder = Folder::new();
    let mut command = folder.command("bench --backend cuda --quick --seconds 1 --out device.json");
    // If there is a GPU, it is hidden.
    let done = super::support::done(command.env("CUDA_VISIBLE_DEVICES", "").output().unwrap());
    assert_eq!((done.code, done.stdout.as_str()), (1, ""));
    assert!(done.stderr.starts_with("mega-batch: "), "{}", done.stderr);
    assert!(done.stderr.contains("NVIDIA"), "{}", done.stderr);
    assert!(!folder.path().join("device.json").exists());
}

#[test]
fn options_of_a_device_need_one() {
    let done = Folder::new().run("bench --seconds 1");
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("--backend"), "{}", done.stderr);
    for option in ["--emulated", "--sizes 1", "--compare a.json"] {
        let done = Folder::new().run(&format!("bench --backend emulated {option}"));
        assert_eq!(done.code, 2, "{option}");
    }
}

/// The folder of the only machine in a folder of results.
fn machine(results: &Path) -> PathBuf {
    let mut machines = fs::read_dir(results).unwrap();
    let machine = machines.next().unwrap().unwrap().path();
    assert!(machines.next().is_none());
    machine
}

#[test]
fn a_benchmark_is_a_table_a_document_a_page_and_charts() {
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
    for chart in ["speedup-by-size", "speedup-by-kind", "scaling"] {
        let chart = format!("{chart}-quick.svg");
        assert!(page.contains(&format!("]({chart})")), "{page}");
        assert!(read(&chart).starts_with("<svg "));
    }

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
    assert!(!again.join("scaling-quick.svg").exists());
}

#[test]
fn what_a_benchmark_cannot_use_is_told_before_it_runs() {
    let folder = Folder::new();
    folder.write("kept.json", "{\n  \"schema\": 1,\n  \"cells\": [,]\n}");
    for (arguments, told) in [
        (
            "--compare kept.json",
            "kept.json:3:13: expected the document of a benchmark: broken JSON: ",
        ),
        ("--compare none.json", "none.json: no such file or folder"),
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
