//! `mega-batch selfcheck`.

use arc_check::conformance::suite::{Family, Test};
use gpu_sim::emulated::EmulatedDevice;

use super::support::{Folder, done, mirror_program, mirror_task};

/// The cells of a line of the table.
fn row<'a>(table: &'a str, name: &str) -> Vec<&'a str> {
    let line = table.lines().find_map(|line| line.strip_prefix(name));
    line.unwrap_or_else(|| panic!("{table}"))
        .split_whitespace()
        .collect()
}

#[test]
fn random_programs_are_checked_the_same_ones_for_the_same_seed() {
    let check = |seed: u32| {
        let done = Folder::new().run(&format!("selfcheck --cases 600 --seed {seed}"));
        assert_eq!(
            (done.code, done.stderr.as_str()),
            (0, ""),
            "{}",
            done.stdout
        );
        done.stdout
    };
    let table = check(1);
    assert!(table.starts_with("600 evaluations\n"), "{table}");
    assert_eq!(row(&table, "form ").last(), Some(&"0"), "{table}");
    assert_eq!(check(1), table);
    assert_ne!(check(2), table);
}

#[test]
fn programs_run_on_their_own_inputs_and_on_those_of_other_tasks() {
    let folder = Folder::new();
    folder
        .write("tasks/a.json", mirror_task())
        .write("tasks/b.json", mirror_task())
        .write("programs.py", mirror_program("solve_a"));
    let done = folder.run("selfcheck --programs programs.py --tasks tasks --cases 10");
    assert_eq!(done.code, 0, "{}", done.stdout);
    // Three pairs of its own task.
    assert!(
        done.stdout.starts_with("13 evaluations\n"),
        "{}",
        done.stdout
    );
    for name in ["form ", "compiled "] {
        assert_eq!(
            row(&done.stdout, name),
            ["13", "0", "0", "0", "0", "0", "0"]
        );
    }
}

#[test]
fn variations_of_programs_run_on_both_sorts_of_inputs() {
    let folder = Folder::new();
    folder
        .write("tasks/a.json", mirror_task())
        .write("tasks/b.json", mirror_task())
        .write("programs.py", mirror_program("solve_a"));
    let done = folder.run("selfcheck --programs programs.py --tasks tasks --cases 10 --vary");
    assert_eq!(done.code, 0, "{}", done.stdout);
    assert!(
        done.stdout.starts_with("33 evaluations\n"),
        "{}",
        done.stdout
    );
}

#[test]
fn what_cannot_be_read_is_told_and_the_rest_is_checked() {
    let folder = Folder::new();
    folder.write("programs.py", mirror_program("solve_a"));
    let done = folder.run("selfcheck --programs programs.py none.py --cases 4");
    assert_eq!(done.code, 2);
    assert_eq!(done.stderr, "none.py: no such file or folder\n");
    assert!(
        done.stdout.starts_with("4 evaluations\n"),
        "{}",
        done.stdout
    );
}

/// A line for each family: how many tests, how many cases compared, and that all passed.
fn expect_all_families(table: &str) {
    for family in Family::ALL {
        let tests = Test::all().filter(|test| test.family() == *family).count();
        // The names of some begin with those of others.
        let cells = row(table, &format!("{:<24}", family.name()));
        assert_eq!(cells[0], tests.to_string(), "{table}");
        assert_ne!(cells[2], "0", "{table}");
        assert_eq!(cells[6..].last(), Some(&"ok"), "{table}");
    }
}

#[test]
fn the_whole_suite_is_run_on_a_device_and_programs_from_files_beside_it() {
    let folder = Folder::new();
    folder
        .write("tasks/a.json", mirror_task())
        .write("programs.py", mirror_program("solve_a"));
    let done = folder.run("selfcheck --backend ptx --cases 1 --programs programs.py --tasks tasks");
    assert_eq!(
        (done.code, done.stderr.as_str()),
        (0, ""),
        "{}",
        done.stdout
    );
    expect_all_families(&done.stdout);
    let given = row(&done.stdout, "given programs");
    assert_eq!(
        given[..6],
        ["1", "3", "3", "0", "0", "0"],
        "{}",
        done.stdout
    );

    let done = folder.run("selfcheck --backend emulated --cases 1");
    if EmulatedDevice::fingerprint().is_some() {
        assert_eq!(
            (done.code, done.stderr.as_str()),
            (0, ""),
            "{}",
            done.stdout
        );
        expect_all_families(&done.stdout);
    } else {
        assert_eq!((done.code, done.stdout.as_str()), (1, ""));
        assert!(
            done.stderr.contains("nothing was checked"),
            "{}",
            done.stderr
        );
    }
}

#[test]
fn a_device_that_is_missing_is_told_and_not_passed() {
    let folder = Folder::new();
    let mut command = folder.command("selfcheck --backend cuda --cases 1");
    let done = done(command.env("CUDA_VISIBLE_DEVICES", "").output().unwrap());
    assert_eq!((done.code, done.stdout.as_str()), (1, ""));
    assert!(
        done.stderr.contains("nothing was checked: no NVIDIA")
            || done.stderr.contains("nothing was checked: the NVIDIA"),
        "{}",
        done.stderr
    );
}

#[test]
fn no_cases_are_no_check() {
    for backend in ["compiled", "ptx", "all"] {
        let done = Folder::new().run(&format!("selfcheck --backend {backend} --cases 0"));
        assert_eq!((done.code, done.stdout.as_str()), (2, ""));
        assert!(
            done.stderr.contains("expected a whole number of 1 or more"),
            "{}",
            done.stderr
        );
    }
}
