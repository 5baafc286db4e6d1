use super::*;

/// A folder with these files.
fn folder(files: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in files {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, file).unwrap();
    }
    folder
}

#[test]
fn programs_are_files_or_all_of_a_folder() {
    let folder = folder(&["mine/b.py", "mine/a.py", "mine/notes.txt", "one.py"]);
    let path = |name: &str| folder.path().join(name);
    let found = files(&[path("one.py"), path("mine")], "py").unwrap();
    assert_eq!(
        found,
        [path("one.py"), path("mine/a.py"), path("mine/b.py")]
    );
    assert_eq!(files(&[], "py").unwrap(), [""; 0].map(PathBuf::from));
}

#[test]
fn what_is_no_program_is_an_error_that_says_what_was_expected() {
    let folder = folder(&["a/same.py", "b/same.py", "none/notes.txt"]);
    let path = |name: &str| folder.path().join(name);
    let error = |names: &[&str]| {
        let places: Vec<_> = names.iter().map(|name| path(name)).collect();
        files(&places, "py").unwrap_err().to_string()
    };
    assert!(error(&["absent.py"]).ends_with("absent.py: expected a file or a folder, found none"));
    assert!(error(&["none"]).ends_with("expected *.py in this folder, found none"));
    assert!(error(&["none/notes.txt"]).ends_with("expected a file *.py or a folder of such files"));
    let twice = error(&["a", "b"]);
    assert!(twice.contains("expected another name for each"), "{twice}");
    assert!(
        twice.contains("a/same.py") && twice.contains("b/same.py"),
        "{twice}"
    );
}

#[test]
fn a_machine_shape_is_a_name_or_none() {
    assert_eq!(shape("NvidiaTeslaT4").unwrap(), Some("NvidiaTeslaT4"));
    assert_eq!(shape("none").unwrap(), None);
    assert!(shape("").is_err());
    assert!(
        shape("T4 x2")
            .unwrap_err()
            .to_string()
            .starts_with("--machine-shape `T4 x2`")
    );
    let page = include_str!("../../../docs/kaggle.md");
    for known in [DEFAULT_SHAPE, NO_GPU] {
        assert!(page.contains(&format!("| `{known}` |")), "{known}");
    }
}

#[test]
fn a_wheel_that_kaggle_s_pip_would_not_install_is_an_error() {
    for good in [
        "mega_batch-0.2.0-cp311-abi3-manylinux_2_34_x86_64.whl",
        "mega_batch-0.2.0-cp311-abi3-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
        "other-1.0-1-py3-none-any.whl",
    ] {
        check_wheel(Path::new(good)).unwrap();
    }
    for bad in [
        "mega_batch-0.2.0-cp311-abi3-manylinux_2_36_x86_64.whl",
        "mega_batch-0.2.0-cp311-abi3-manylinux_2_34_aarch64.whl",
        "mega_batch-0.2.0-cp311-abi3-linux_x86_64.whl",
        "mega_batch-0.2.0-cp311-abi3-win_amd64.whl",
        "any.whl",
    ] {
        let error = check_wheel(Path::new(bad)).unwrap_err().to_string();
        assert!(
            error.starts_with(&format!("{bad}: expected a wheel for Linux")),
            "{error}"
        );
    }
}

/// Packs these programs and wheels.
fn pack(out: &Path, binary: &Path, programs: &[PathBuf], wheels: &[PathBuf]) -> Result<()> {
    let names = Names::new("somebody", "Some runs", "some-competition").unwrap();
    let package = Package {
        names: &names,
        shape: Some("NvidiaTeslaT4"),
        binary,
        programs,
        wheels,
        licences: &[],
    };
    package.write(out)
}

#[test]
fn a_folder_is_made_anew_and_never_another_one_s() {
    let folder = folder(&["engine", "a.py", "b.py", "c.whl", "other/dataset/precious"]);
    let path = |name: &str| folder.path().join(name);
    let out = path("out");
    pack(&out, &path("engine"), &[path("a.py")], &[]).unwrap();
    let readme = || fs::read_to_string(out.join("dataset/README.md")).unwrap();
    assert!(!readme().contains("wheels"));
    pack(&out, &path("engine"), &[path("b.py")], &[path("c.whl")]).unwrap();
    assert!(readme().contains("pip install --no-index --find-links FOLDER/wheels mega_batch"));
    let files = |name: &str| {
        let entries = fs::read_dir(out.join(name)).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    assert_eq!(
        files("dataset"),
        [
            "README.md",
            "dataset-metadata.json",
            "mega-batch",
            "programs",
            "wheels"
        ]
    );
    assert_eq!(files("dataset/programs"), ["b.py"]);
    assert_eq!(files("dataset/wheels"), ["c.whl"]);
    assert_eq!(
        files("notebook"),
        ["kernel-metadata.json", "some-runs.ipynb"]
    );
    let metadata = fs::read(out.join("notebook/kernel-metadata.json")).unwrap();
    let metadata: Value = serde_json::from_slice(&metadata).unwrap();
    assert!(
        out.join("notebook")
            .join(metadata["code_file"].as_str().unwrap())
            .is_file()
    );

    let refused = pack(&path("other"), &path("engine"), &[], &[]).unwrap_err();
    assert!(
        refused
            .to_string()
            .contains("expected a folder that this command has made")
    );
    assert!(path("other/dataset/precious").is_file());
}

#[test]
fn an_engine_that_kaggle_cannot_run_is_an_error() {
    let folder = folder(&["engine"]);
    let error = check_requirements(&folder.path().join("engine"))
        .unwrap_err()
        .to_string();
    assert!(
        error.ends_with("engine: expected a program for Linux on x86-64"),
        "{error}"
    );
}

#[test]
fn a_submission_is_looked_at_place_by_place() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/python");
    let scorer = "import kaggle; kaggle.check_the_scorer()";
    let mut python = std::process::Command::new("python3");
    let output = python
        .args(["-B", "-c", scorer])
        .current_dir(folder)
        .output();
    // Without Python the notebook cannot be run either.
    if let Ok(output) = output {
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
    }
}
