//! `mega-batch bench` on devices.

use std::fs;

use gpu_kernels::device::emulated::EmulatedDevice;
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
        // Hardly anything is the host's, and nothing of a pipeline.
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
    // Where there is a GPU, it is not to be seen.
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
}
