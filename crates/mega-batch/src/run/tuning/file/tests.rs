use gpu_kernels::device::DeviceKind;

use super::*;

fn id(device: &str) -> DeviceIdentity {
    DeviceIdentity {
        device: device.to_owned(),
        driver: Some("12.2".to_owned()),
        engine: VERSION.to_owned(),
        kernels: "0x1".to_owned(),
    }
}

const CONFIG: LaunchConfig = LaunchConfig {
    warps: 2,
    side_by_side: 3,
    blocks: 16,
};

fn open(folder: &Path) -> TuningFile {
    TuningFile::at(Some(folder.to_owned()))
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.collect()
}

#[test]
fn what_is_kept_is_known_to_the_next_run() {
    let folder = tempfile::tempdir().unwrap();
    let deep = folder.path().join("a/b");
    let mut file = open(&deep);
    assert_eq!((file.notice(), file.recall(&id("x"))), (None, None));
    file.keep(&id("x"), CONFIG).unwrap();
    assert_eq!(file.recall(&id("x")), Some(CONFIG));
    let mut later = open(&deep);
    assert_eq!(later.notice(), None);
    assert_eq!(later.recall(&id("x")), Some(CONFIG));
    // With another driver or version it is another device.
    let driver = Some("12.4".to_owned());
    assert_eq!(later.recall(&DeviceIdentity { driver, ..id("x") }), None);
    let engine = "0.0.9".to_owned();
    assert_eq!(later.recall(&DeviceIdentity { engine, ..id("x") }), None);
    let kernels = "0x2".to_owned();
    assert_eq!(later.recall(&DeviceIdentity { kernels, ..id("x") }), None);

    let other = LaunchConfig { warps: 1, ..CONFIG };
    later.keep(&id("x"), other).unwrap();
    let last = open(&deep);
    assert_eq!(
        (last.recall(&id("x")), last.devices().count()),
        (Some(other), 1)
    );
    assert_eq!(names(&deep), [FILE]);
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
            b"{\"version\": 1, \"devices\": 3}",
            "line 1, column 27: invalid type: integer `3`, expected a sequence",
        ),
        (b"\xff\xfe", "line 1, column 1: expected value"),
        (&vec![b' '; MOST_BYTES as usize + 1], "expected at most"),
    ] {
        fs::write(&path, text).unwrap();
        let mut file = open(folder.path());
        let notice = file.notice().unwrap();
        let shown = format!("tuning.json: {reason}");
        assert!(notice.contains(&shown), "{notice} for {reason}");
        assert!(notice.ends_with(": GPUs are measured anew"), "{notice}");
        // The file is left alone until something is kept.
        assert_eq!(fs::read(&path).unwrap(), text);
        file.keep(&id("x"), CONFIG).unwrap();
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
        file.keep(&id("x"), CONFIG).unwrap();
        assert!(link.is_symlink());
        fs::set_permissions(&at, fs::Permissions::from_mode(mode)).unwrap();
        file.keep(&id("y"), CONFIG).unwrap();
        assert_eq!(
            fs::metadata(&at).unwrap().permissions().mode() & 0o777,
            mode
        );
    }
    assert!(open(folder.path()).recall(&id("y")).is_some());
}

#[test]
fn what_is_no_file_is_told_and_only_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join(FILE)).unwrap();
    let mut file = open(folder.path());
    let expected = "tuning.json: expected a regular file, found something else: ";
    assert!(file.notice().unwrap().contains(expected));
    assert!(file.keep(&id("x"), CONFIG).is_err());
    assert!(file.recall(&id("x")).is_some());
    // Nor is there a place below a file.
    fs::write(folder.path().join("file"), "").unwrap();
    let mut file = open(&folder.path().join("file"));
    assert!(file.notice().is_some());
    assert!(file.keep(&id("x"), CONFIG).is_err());
    assert_eq!(names(folder.path()).len(), 2, "nothing is left behind");
}

#[test]
fn without_a_folder_nothing_is_kept() {
    let mut file = TuningFile::at(None);
    assert!(file.notice().unwrap().contains(VARIABLE));
    assert_eq!(file.path(), None);
    file.keep(&id("x"), CONFIG).unwrap();
    assert!(file.recall(&id("x")).is_some());
    assert!(!file.reset().unwrap());
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
    let entry = |device: &str, warps: u32| {
        format!(
            r#"{{"device": "{device}", "driver": null, "engine": "1", "kernels": "0x1", "saved": 3,
            "warps": {warps}, "side_by_side": 1, "blocks": 8, "more": 0}}"#
        )
    };
    let (x, y) = (entry("x", 0), entry("y", 1));
    let text = format!(r#"{{"version": 1, "more": 0, "devices": [{x}, {y}]}}"#);
    fs::write(folder.path().join(FILE), text).unwrap();
    let file = open(folder.path());
    assert_eq!(file.notice(), None);
    let names: Vec<_> = file.devices().map(|(id, _)| id.device.as_str()).collect();
    assert_eq!(names, ["y"]);
}

#[test]
fn old_devices_go() {
    let folder = tempfile::tempdir().unwrap();
    let mut file = open(folder.path());
    for number in 0..=MOST_ENTRIES {
        file.keep(&id(&format!("device {number}")), CONFIG).unwrap();
    }
    let later = open(folder.path());
    assert_eq!(later.devices().count(), MOST_ENTRIES);
    assert!(later.recall(&id("device 0")).is_none());
    assert!(later.recall(&id("device 1")).is_some());
}

#[test]
fn a_reset_forgets_everything() {
    let folder = tempfile::tempdir().unwrap();
    let mut file = open(folder.path());
    assert!(!file.reset().unwrap());
    file.keep(&id("x"), CONFIG).unwrap();
    assert!(file.reset().unwrap());
    assert_eq!(file.devices().count(), 0);
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
                for _ in 0..20 {
                    let mut file = open(folder);
                    assert_eq!(file.notice(), None);
                    file.keep(&id(&format!("{run}")), CONFIG).unwrap();
                    std::thread::sleep(std::time::Duration::from_micros(100 * run));
                }
            });
        }
    });
    // Keeping one after the other loses nothing, though both were opened before.
    let (mut one, mut other) = (open(folder.path()), open(folder.path()));
    one.keep(&id("one"), CONFIG).unwrap();
    other.keep(&id("other"), CONFIG).unwrap();
    let last = open(folder.path());
    assert_eq!(last.notice(), None);
    assert!(last.recall(&id("one")).is_some() && last.recall(&id("other")).is_some());
    assert_eq!(names(folder.path()), [FILE]);
}

#[test]
fn a_gpu_is_told_by_its_name_driver_and_kernels() {
    let id = DeviceIdentity::of(&Information {
        name: "Tesla T4".to_owned(),
        kind: DeviceKind::Cuda,
        capability: (7, 5),
        multiprocessors: 40,
        warps: 32,
        shared_bytes: 0,
        multiprocessor_shared_bytes: 0,
        bytes: 0,
        driver: Some((12, 2)),
    });
    assert_eq!(
        (id.device.as_str(), id.engine.as_str()),
        ("Tesla T4", VERSION)
    );
    assert_eq!(id.driver.as_deref(), Some("12.2"));
    assert_eq!(id.kernels.len(), 18);
}
