use std::time::Duration;

use gpu_sched::{Fallback, Measured};

use super::*;

fn id(device: &str) -> ExecutorId {
    ExecutorId {
        device: device.to_owned(),
        driver: Some("12.2".to_owned()),
        engine: VERSION.to_owned(),
        kernels: Some("0x1".to_owned()),
    }
}

fn cost(unit: f64) -> Cost {
    Cost {
        overhead: 1e-4,
        bandwidth: f64::INFINITY,
        unit,
    }
}

fn learned(kind: u16, unit: f64, batches: u64) -> Learned {
    let known = KindCost {
        cost: cost(unit),
        left: None,
        batches,
    };
    Learned {
        kinds: [(Kind(kind), known)].into(),
        tuning: None,
    }
}

fn open(folder: &Path) -> CostFile {
    CostFile::at(Some(folder.to_owned()))
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.collect()
}

#[test]
fn what_is_learned_is_known_to_the_next_run() {
    let folder = tempfile::tempdir().unwrap();
    let deep = folder.path().join("a/b");
    let mut file = open(&deep);
    assert_eq!((file.notice(), file.recall(&id("x"))), (None, None));
    let tuning = LaunchConfig {
        warps: 2,
        side_by_side: 3,
        blocks: 16,
    };
    let of_x = Learned {
        tuning: Some(tuning),
        ..learned(3, 1e-6, 5)
    };
    file.remember(&id("x"), of_x.clone());
    assert_eq!(file.recall(&id("x")), Some(&of_x));
    assert!(file.save().unwrap());
    let mut later = open(&deep);
    assert_eq!(later.notice(), None);
    assert_eq!(later.recall(&id("x")), Some(&of_x));
    // Another driver or version is another executor.
    let driver = Some("12.4".to_owned());
    assert_eq!(later.recall(&ExecutorId { driver, ..id("x") }), None);
    let engine = "0.0.9".to_owned();
    assert_eq!(later.recall(&ExecutorId { engine, ..id("x") }), None);
    let kernels = Some("0x2".to_owned());
    assert_eq!(later.recall(&ExecutorId { kernels, ..id("x") }), None);

    // New kinds replace old ones, counts of batches are added, and the launch configuration is kept.
    later.remember(&id("x"), learned(3, 2e-6, 2));
    later.remember(&id("x"), learned(4, 9e-6, 1));
    later.save().unwrap();
    let last = open(&deep);
    let known = last.recall(&id("x")).unwrap();
    assert_eq!(known.kinds[&Kind(3)].cost, cost(2e-6));
    assert_eq!(known.kinds[&Kind(3)].batches, 7);
    assert_eq!(known.kinds[&Kind(4)].batches, 1);
    assert_eq!(known.tuning, Some(tuning));
    assert_eq!(names(&deep), [FILE]);
}

#[test]
fn costs_are_learned_from_what_was_measured_in_this_run() {
    let mut costs = Costs::guessed(cost(1e-3));
    let parts = FallbackShares::default();
    costs.recall(&Remembered([(Kind(1), (cost(5e-6), parts))].into()));
    assert!(Learned::of(&costs).is_empty());
    let measured = Measured {
        items: 100.0,
        bytes: 0.0,
        seconds: 1.0,
        copies: 0.0,
    };
    costs.learn(Kind(2), measured);
    let learned = Learned::of(&costs);
    assert_eq!(learned.kinds.keys().collect::<Vec<_>>(), [&Kind(2)]);
    assert_eq!(learned.kinds[&Kind(2)].batches, 1);
    let mut later = Costs::guessed(cost(1e-3));
    later.recall(&learned.remembered());
    assert_eq!(later.of(Kind(2)), costs.of(Kind(2)));
}

#[test]
fn the_part_that_is_left_is_kept_and_files_without_it_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE);
    let mut file = open(folder.path());
    file.remember(&id("x"), learned(3, 1e-6, 5));
    file.save().unwrap();
    assert!(!fs::read_to_string(&path).unwrap().contains("skipped"));
    let mut costs = Costs::guessed(cost(1e-3));
    let fallback_of = |file: &CostFile| {
        let mut costs = Costs::guessed(cost(1e-3));
        costs.recall(&file.recall(&id("x")).unwrap().remembered());
        costs.fallback_of(Kind(3))
    };
    assert_eq!(fallback_of(&open(folder.path())), FallbackShares::default());
    let left = Fallback {
        kind: Kind(3),
        skipped: 30,
        bailed_out: 8,
    };
    for _ in 0..200 {
        costs.learn_fallback(Kind(3), 100, &left);
        costs.learn(
            Kind(3),
            Measured {
                items: 70.0,
                bytes: 0.0,
                seconds: 1e-3,
                copies: 0.0,
            },
        );
    }
    let mut file = open(folder.path());
    file.remember(&id("x"), Learned::of(&costs));
    // A measurement without fallback shares keeps the old ones.
    file.remember(&id("x"), learned(3, 1e-6, 5));
    file.save().unwrap();
    let kept = fallback_of(&open(folder.path()));
    let near = |a: f64, b: f64| (a - b).abs() < 0.01;
    assert!(
        near(kept.skipped, 0.3) && near(kept.bailed_out, 0.08),
        "{kept:?}"
    );
    // Invalid fallback shares are ignored, but the costs beside them are not.
    let text = fs::read_to_string(&path).unwrap();
    let at = text.find("\"skipped\": ").unwrap() + "\"skipped\": ".len();
    fs::write(&path, format!("{}7{}", &text[..at], &text[at + 1..])).unwrap();
    let file = open(folder.path());
    assert_eq!(file.notice(), None);
    assert_eq!(fallback_of(&file), FallbackShares::default());
    assert_eq!(
        file.recall(&id("x")).unwrap().kinds[&Kind(3)].cost,
        cost(1e-6)
    );
}

#[test]
fn nothing_is_written_where_nothing_was_learned() {
    let folder = tempfile::tempdir().unwrap();
    let mut file = open(&folder.path().join("new"));
    assert!(!file.save().unwrap());
    file.remember(&id("x"), Learned::default());
    // An invalid cost and an invalid launch configuration.
    let mut broken = learned(1, f64::NAN, 1);
    broken.tuning = Some(LaunchConfig {
        warps: 9,
        ..LaunchConfig::default()
    });
    file.remember(&id("x"), broken);
    assert!(!file.save().unwrap());
    assert!(names(folder.path()).is_empty());
    file.remember(&id("x"), learned(1, 1e-6, 1));
    assert!(file.save().unwrap() && !file.save().unwrap());
}

#[test]
fn a_file_that_cannot_be_read_is_told_and_written_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE);
    for (text, reason) in [
        (&b""[..], "line 1, column 0: EOF while parsing a value"),
        (b"{\n \"version\": 1,\n x", "line 3, column 2: key must be"),
        (b"[]", "line 1, column 2: invalid length 0"),
        (b"{\"version\": 7}", "expected version 1, found 7"),
        (b"{\"a\": 1}", "line 1, column 8: missing field `version`"),
        (
            b"{\"version\": 1, \"executors\": 3}",
            "line 1, column 29: invalid type: integer `3`, expected a sequence",
        ),
        (b"\xff\xfe", "line 1, column 1: expected value"),
        (&vec![b' '; MOST_BYTES as usize + 1], "expected at most"),
    ] {
        fs::write(&path, text).unwrap();
        let mut file = open(folder.path());
        let notice = file.notice().unwrap();
        let shown = format!("costs.json: {reason}");
        assert!(notice.contains(&shown), "{notice} for {reason}");
        assert!(notice.ends_with(": costs are learned anew"), "{notice}");
        // The file is left alone until something is learned.
        assert!(!file.save().unwrap());
        assert_eq!(fs::read(&path).unwrap(), text);
        file.remember(&id("x"), learned(1, 1e-6, 1));
        assert!(file.save().unwrap());
        assert_eq!(file.notice(), None);
        let later = open(folder.path());
        assert!(later.notice().is_none() && later.recall(&id("x")).is_some());
    }
}

#[test]
#[cfg(unix)]
fn a_link_stays_and_so_do_permissions() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let (link, at) = (folder.path().join(FILE), folder.path().join("elsewhere"));
    symlink("elsewhere", &link).unwrap();
    for mode in [0o600, 0o644] {
        let mut file = open(folder.path());
        file.remember(&id("x"), learned(1, 1e-6, 1));
        assert!(file.save().unwrap());
        assert!(link.is_symlink());
        fs::set_permissions(&at, fs::Permissions::from_mode(mode)).unwrap();
        file.remember(&id("y"), learned(1, 1e-6, 1));
        assert!(file.save().unwrap());
        assert_eq!(
            fs::metadata(&at).unwrap().permissions().mode() & 0o777,
            mode
        );
    }
    assert!(open(folder.path()).recall(&id("y")).is_some());
}

#[test]
fn what_is_no_file_is_told_and_costs_no_more_than_what_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join(FILE)).unwrap();
    let mut file = open(folder.path());
    let expected = "costs.json: expected a regular file, found something else: ";
    assert!(file.notice().unwrap().contains(expected));
    file.remember(&id("x"), learned(1, 1e-6, 1));
    assert!(file.save().is_err());
    assert!(file.recall(&id("x")).is_some());
    // Nor is there a place below a file.
    fs::write(folder.path().join("file"), "").unwrap();
    let mut file = open(&folder.path().join("file"));
    assert!(file.notice().is_some());
    file.remember(&id("x"), learned(1, 1e-6, 1));
    assert!(file.save().is_err());
    assert_eq!(names(folder.path()).len(), 2, "nothing is left behind");
}

#[test]
fn without_a_folder_nothing_is_kept() {
    let mut file = CostFile::at(None);
    assert!(file.notice().unwrap().contains(VARIABLE));
    assert_eq!(file.path(), None);
    file.remember(&id("x"), learned(1, 1e-6, 1));
    assert!(file.recall(&id("x")).is_some());
    assert!(!file.save().unwrap() && !file.reset().unwrap());
}

#[test]
fn the_folder_is_the_one_that_is_asked_for() {
    let own = || Some(PathBuf::from("own"));
    let none = || None;
    assert_eq!(folder(Some("x".into()), own), Some("x".into()));
    assert_eq!(folder(Some("x".into()), none), Some("x".into()));
    for asked in [None, Some(OsString::new())] {
        assert_eq!(folder(asked.clone(), own), Some("own/mega-batch".into()));
        assert_eq!(folder(asked, none), None);
    }
}

#[test]
fn what_is_unsound_in_a_file_is_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let text = r#"{"version": 1, "more": 0, "executors": [{"device": "x", "driver": null,
        "engine": "1", "kernels": null, "saved": 3, "kinds": {
        "1": {"overhead": -1.0, "bandwidth": null, "unit": 1e-6, "batches": 3},
        "2": {"overhead": 1e-4, "bandwidth": 1e9, "unit": 1e-6, "batches": 3}},
        "tuning": {"warps": 0, "side_by_side": 1, "blocks": 8}}]}"#;
    fs::write(folder.path().join(FILE), text).unwrap();
    let file = open(folder.path());
    assert_eq!(file.notice(), None);
    let (_, learned) = file.executors().next().unwrap();
    assert_eq!(learned.kinds.keys().collect::<Vec<_>>(), [&Kind(2)]);
    assert_eq!(learned.tuning, None);
}

#[test]
fn old_executors_go() {
    let folder = tempfile::tempdir().unwrap();
    let entry = |number: u64| Entry {
        id: id(&format!("device {number}")),
        learned: learned(1, 1e-6, 1),
        saved: number,
    };
    let entries: Vec<_> = (0..MOST_ENTRIES as u64).map(entry).collect();
    let text = format::text(&entries).unwrap();
    fs::write(folder.path().join(FILE), text).unwrap();
    let mut file = open(folder.path());
    file.remember(&id("new"), learned(1, 1e-6, 1));
    file.save().unwrap();
    let later = open(folder.path());
    assert_eq!(later.executors().count(), MOST_ENTRIES);
    assert!(later.recall(&id("new")).is_some());
    assert!(later.recall(&id("device 0")).is_none());
    assert!(later.recall(&id("device 1")).is_some());
}

#[test]
fn a_reset_forgets_everything() {
    let folder = tempfile::tempdir().unwrap();
    let mut file = open(folder.path());
    assert!(!file.reset().unwrap());
    file.remember(&id("x"), learned(1, 1e-6, 1));
    file.save().unwrap();
    assert!(file.reset().unwrap());
    assert_eq!(file.executors().count(), 0);
    assert!(names(folder.path()).is_empty());
    // Broken files too.
    fs::write(folder.path().join(FILE), "x").unwrap();
    let mut file = open(folder.path());
    assert!(file.notice().is_some() && file.reset().unwrap());
    assert_eq!(file.notice(), None);
}

#[test]
fn runs_at_the_same_time_leave_a_whole_file() {
    let folder = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for run in 0..8 {
            let folder = folder.path();
            scope.spawn(move || {
                for round in 0..20_u64 {
                    let mut file = open(folder);
                    assert_eq!(file.notice(), None);
                    file.remember(&id(&format!("{run}")), learned(1, 1e-6, round));
                    file.save().unwrap();
                    std::thread::sleep(Duration::from_micros(100 * run));
                }
            });
        }
    });
    // Saving one after the other loses nothing, though both were opened before.
    let (mut one, mut other) = (open(folder.path()), open(folder.path()));
    one.remember(&id("one"), learned(1, 1e-6, 1));
    other.remember(&id("other"), learned(1, 1e-6, 1));
    one.save().unwrap();
    other.save().unwrap();
    let last = open(folder.path());
    assert_eq!(last.notice(), None);
    assert!(last.recall(&id("one")).is_some() && last.recall(&id("other")).is_some());
    assert_eq!(names(folder.path()), [FILE]);
}

#[test]
fn executors_are_told_apart_by_all_that_changes_their_costs() {
    let host = Host {
        cpu: "AMD EPYC".to_owned(),
        threads: 2,
        memory: None,
    };
    assert_eq!(ExecutorId::host(&host, 2).device, "AMD EPYC, 2 threads");
    assert_eq!(ExecutorId::host(&host, 1).device, "AMD EPYC, 1 thread");
    let mut device = Information {
        name: "Tesla T4".to_owned(),
        kind: device::Kind::Cuda,
        capability: (7, 5),
        multiprocessors: 40,
        warps: 32,
        shared_bytes: 0,
        multiprocessor_shared_bytes: 0,
        bytes: 0,
        driver: Some((12, 2)),
    };
    let of_gpu = ExecutorId::device(&device, &host);
    assert_eq!(of_gpu.device, "Tesla T4");
    assert_eq!(of_gpu.driver.as_deref(), Some("12.2"));
    assert_eq!(of_gpu.kernels.unwrap().len(), 18);
    device.kind = device::Kind::Emulated;
    assert_eq!(
        ExecutorId::device(&device, &host).device,
        "Tesla T4 on AMD EPYC"
    );
}
