//! What the command does if nobody reads its output any more.

use std::io;
use std::process::Stdio;

use super::support::{Done, Folder, done, mirror_program, mirror_task};

fn folder() -> Folder {
    let folder = Folder::new();
    folder
        .write("a.json", mirror_task())
        .write("a.py", mirror_program("solve_a"));
    folder
}

/// A pipe that nobody reads.
fn unread() -> Stdio {
    let (reader, writer) = io::pipe().unwrap();
    drop(reader);
    writer.into()
}

fn without_reader(folder: &Folder, arguments: &str) -> Done {
    let mut command = folder.command(arguments);
    done(command.stdout(unread()).output().unwrap())
}

#[test]
fn every_command_ends_quietly() {
    let folder = folder();
    for arguments in [
        "--help",
        "--version",
        "run --help",
        "bench --help",
        "run --tasks a.json --programs a.py",
        "run --tasks a.json --programs a.py --json -",
        "run --tasks a.json --programs a.py --json /dev/stdout",
        "show a.json",
        "show a.json --program a.py",
        "show a.json --svg -",
        "show a.json --png -",
        "search a.json --nodes 50",
        "search a.json --nodes 50 --explain",
        "search --tasks a.json --nodes 50 --programs-out -",
        "search --tasks a.json --nodes 50 --json -",
        "explain",
        "explain --programs a.py",
        "coverage",
        "coverage --json",
        "selfcheck --cases 5",
        "selfcheck --cases 5 --programs a.py --tasks a.json",
    ] {
        let done = without_reader(&folder, arguments);
        assert_eq!(done.code, 141, "{arguments}: {}", done.stderr);
        // A document for the standard output leaves the table to the standard error.
        let quiet = done.stderr.is_empty() || done.stderr.contains("\ntasks solved");
        assert!(
            quiet && !done.stderr.contains("mega-batch:"),
            "{arguments}: {}",
            done.stderr
        );
    }
}

#[test]
fn documents_are_written_all_the_same() {
    let folder = folder();
    let done = without_reader(
        &folder,
        "run --tasks a.json --programs a.py --json out.json",
    );
    assert_eq!((done.code, done.stderr.as_str()), (141, ""));
    let document = std::fs::read(folder.path().join("out.json")).unwrap();
    let document: serde_json::Value = serde_json::from_slice(&document).unwrap();
    assert_eq!(document["tasks_solved"], 1);

    let done = without_reader(&folder, "bench --quick --sizes 1 --out results");
    assert_eq!((done.code, done.stderr.as_str()), (141, ""));
    let machines = std::fs::read_dir(folder.path().join("results")).unwrap();
    let [machine] = machines
        .collect::<Result<Vec<_>, _>>()
        .unwrap()
        .try_into()
        .unwrap();
    let document = std::fs::read(machine.path().join("bench-quick.json")).unwrap();
    assert!(serde_json::from_slice::<serde_json::Value>(&document).is_ok());
}

#[test]
fn errors_that_nobody_reads_stop_nothing() {
    let folder = folder();
    folder.write("bad.json", "{");
    let mut command = folder.command("run --tasks bad.json a.json --programs a.py");
    let done = done(command.stderr(unread()).output().unwrap());
    assert_eq!(done.code, 2);
    assert!(done.stdout.contains("tasks solved"), "{}", done.stdout);
}
