//! No document is lost when a run is ended, a disk is full or a folder is missing.

use std::fs;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;

use super::support::{Done, Folder, done, mirror_program, mirror_task};

/// More work than any test waits for.
const LONG: &str = "run --pairs 500 --all-pairs --backend reference --outputs";

/// Work whose document has nearly a megabyte.
const MEGABYTE: &str = "run --all-pairs";

fn document(folder: &Folder, name: &str) -> Value {
    let text = fs::read(folder.path().join(name)).unwrap();
    serde_json::from_slice(&text).unwrap()
}

fn names(folder: &Folder) -> Vec<String> {
    let entries = fs::read_dir(folder.path()).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

/// Whether the process catches this signal.
fn catches(child: &Child, signal: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let mask = u64::from_str_radix(mask.unwrap().trim(), 16).unwrap();
    mask >> (signal - 1) & 1 == 1
}

/// Starts the command as a terminal does. The tests may have been started with signals ignored, as in the background
/// of a script, which the command would inherit.
fn spawned(command: &Command) -> Child {
    let mut spawned = Command::new("env");
    spawned
        .arg("--default-signal=HUP,INT,TERM")
        .arg(command.get_program())
        .args(command.get_args())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => spawned.env(name, value),
            None => spawned.env_remove(name),
        };
    }
    if let Some(folder) = command.get_current_dir() {
        spawned.current_dir(folder);
    }
    spawned.spawn().unwrap()
}

/// Starts the command and waits until it has read its input: the handler of SIGTERM is installed last.
fn started(command: &Command) -> Child {
    let mut child = spawned(command);
    while !catches(&child, 15) {
        assert_eq!(child.try_wait().unwrap(), None);
        sleep(Duration::from_millis(5));
    }
    child
}

/// A named pipe called `pipe`.
fn pipe(folder: &Folder) -> PathBuf {
    let pipe = folder.path().join("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    pipe
}

fn send(child: &Child, signal: &str) {
    let sent = Command::new("sh")
        .args(["-c", &format!("kill -{signal} {}", child.id())])
        .status();
    assert!(sent.unwrap().success());
}

/// The command, started by a shell that runs this first.
fn command_after(folder: &Folder, first: &str, arguments: &str) -> Command {
    let mut command = folder.command("");
    let shell = format!("{first}; exec \"$0\" {arguments}");
    let program = command.get_program().to_owned();
    command = Command::new("sh");
    command
        .arg("-c")
        .arg(shell)
        .arg(program)
        .current_dir(folder.path());
    command.env("TMPDIR", folder.path());
    command
}

/// Runs the command with a limit on file sizes in kilobytes, as if the disk were full at that point.
fn on_full_disk(folder: &Folder, kilobytes: usize, arguments: &str) -> Done {
    // The unit is 512 bytes in some shells and 1024 in others.
    let first = format!("ulimit -f {kilobytes}");
    done(command_after(folder, &first, arguments).output().unwrap())
}

/// Runs the command as a user who may have no other process, and no second thread; `None` if that is not possible
/// here.
fn alone(folder: &Folder, arguments: &str) -> Option<Done> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let limited = |arguments: &str| {
        let mut command = folder.command("");
        let program = command.get_program().to_owned();
        // The number of processes of a privileged user is not limited.
        let shell = format!(
            "ulimit -u 1 || exit; user=; \
             if [ $(id -u) = 0 ]; then user='setpriv --reuid 65533 --regid 65533 --clear-groups'; fi; \
             exec $user \"$0\" {arguments}"
        );
        // Not every `sh` limits processes.
        command = Command::new("bash");
        command.args(["-c", &shell]).arg(program);
        command.current_dir(folder.path()).output().ok()
    };
    let may = limited("--version").is_some_and(|it| it.status.success());
    may.then(|| limited(arguments).map(done)).flatten()
}

#[test]
fn a_thread_that_cannot_be_started_is_told() {
    let folder = Folder::new();
    folder.write("a.json", mirror_task());
    folder.write("a.py", mirror_program("solve_a"));
    let files = "--tasks a.json --programs a.py";
    for arguments in ["", files] {
        let arguments = format!("run --mode sequential --quiet {arguments}");
        let Some(done) = alone(&folder, &arguments) else {
            return;
        };
        assert_eq!((done.code, done.stderr.as_str()), (0, ""), "{arguments}");
    }
    for arguments in [
        "run --quiet --workers 2",
        &format!("run --quiet --workers 2 {files}"),
        "search --tasks a.json --quiet",
        "selfcheck --cases 10",
    ] {
        let Some(done) = alone(&folder, arguments) else {
            return;
        };
        let told = "mega-batch: a thread could not be started: Resource temporarily unavailable (os error 11)\n";
        assert_eq!((done.code, done.stderr.as_str()), (1, told), "{arguments}");
    }
}

#[test]
fn a_signal_ends_a_run_with_what_is_finished() {
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let folder = Folder::new();
        folder.write("out.json", "old");
        let child = started(&folder.command(&format!("{LONG} --json out.json")));
        sleep(Duration::from_millis(200));
        assert_eq!(
            fs::read_to_string(folder.path().join("out.json")).unwrap(),
            "old"
        );
        send(&child, signal);
        let done = done(child.wait_with_output().unwrap());
        assert_eq!((done.code, done.stderr.as_str()), (code, ""));
        assert_eq!(names(&folder), ["out.json"]);
        let document = document(&folder, "out.json");
        assert_eq!(document["incomplete"], true);
        let [made, planned] =
            ["evaluations", "evaluations_planned"].map(|key| document[key].as_u64().unwrap());
        assert!(made < planned);
        let results = document["results"].as_array().unwrap();
        let pairs = results
            .iter()
            .map(|result| result["pairs"].as_array().unwrap().len() as u64);
        assert_eq!(pairs.sum::<u64>(), made);
        let told = "incomplete: stopped before all evaluations were made\n";
        assert!(done.stdout.contains(told), "{}", done.stdout);
    }
}

#[test]
fn a_killed_run_leaves_the_old_document() {
    let folder = Folder::new();
    folder.write("out.json", "old");
    let mut child = started(&folder.command(&format!("{LONG} --json out.json")));
    send(&child, "KILL");
    child.wait().unwrap();
    assert_eq!(
        fs::read_to_string(folder.path().join("out.json")).unwrap(),
        "old"
    );
    assert_eq!(names(&folder), ["out.json"]);
}

#[test]
fn a_second_interrupt_ends_the_run_at_once() {
    let folder = Folder::new();
    let pipe = pipe(&folder);
    let mut child = spawned(&folder.command(&format!("{MEGABYTE} --json pipe")));
    let mut reader = fs::File::open(&pipe).unwrap();
    reader.read_exact(&mut [0; 100]).unwrap();
    // Now it waits for the rest to be read.
    send(&child, "INT");
    sleep(Duration::from_millis(300));
    assert_eq!(child.try_wait().unwrap(), None);
    send(&child, "INT");
    assert_eq!(done(child.wait_with_output().unwrap()).code, 130);
}

#[test]
fn signals_that_are_to_be_ignored_are() {
    let folder = Folder::new();
    let mut child = started(&command_after(
        &folder,
        "trap '' HUP",
        &format!("{LONG} --json out.json"),
    ));
    assert!(!catches(&child, 1) && catches(&child, 2));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_full_disk_leaves_the_old_document_and_the_table() {
    let folder = Folder::new();
    folder.write("out.json", "old");
    let done = on_full_disk(&folder, 200, &format!("{MEGABYTE} --json out.json"));
    assert_eq!(done.code, 1);
    assert!(
        done.stderr
            .starts_with("mega-batch: out.json: cannot be written: "),
        "{}",
        done.stderr
    );
    assert!(done.stdout.contains("\ntasks solved "), "{}", done.stdout);
    assert_eq!(
        fs::read_to_string(folder.path().join("out.json")).unwrap(),
        "old"
    );
    assert_eq!(names(&folder), ["out.json"]);

    // A disk that is full before the run is reported before it.
    for json in ["out.json", "-"] {
        let done = on_full_disk(&folder, 10, &format!("{MEGABYTE} --json {json}"));
        assert_eq!((done.code, done.stdout.as_str()), (1, ""));
        let path = if json == "-" {
            folder.path().to_str().unwrap()
        } else {
            json
        };
        let told = format!("{path}: cannot be written: ");
        assert!(done.stderr.contains(&told), "{}", done.stderr);
        assert_eq!(
            fs::read_to_string(folder.path().join("out.json")).unwrap(),
            "old"
        );
        assert_eq!(names(&folder), ["out.json"]);
    }
    let done = on_full_disk(&folder, 10, "bench --quick --out results");
    assert_eq!((done.code, done.stdout.as_str()), (1, ""));
    assert!(done.stderr.contains("results/"), "{}", done.stderr);
}

#[test]
fn results_that_find_no_room_cost_the_document_only() {
    let folder = Folder::new();
    let options = "run --pairs 16 --all-pairs --outputs --json -";
    let done = on_full_disk(&folder, 12_000, options);
    assert_eq!((done.code, done.stdout.as_str()), (1, ""));
    let path = folder.path().display();
    let told = format!("mega-batch: {path}: cannot be written: ");
    assert!(done.stderr.contains(&told), "{}", done.stderr);
    assert!(done.stderr.contains("\ntasks solved "), "{}", done.stderr);
    assert_eq!(names(&folder), Vec::<String>::new());
}

#[test]
fn what_cannot_be_written_is_told_before_the_run() {
    let folder = Folder::new();
    fs::create_dir(folder.path().join("folder")).unwrap();
    folder.write("file", "");
    for (command, path) in [
        ("run --json", "/proc/x"),
        ("run --json", "/proc/version"),
        ("run --json", "folder"),
        ("run --json", "folder/"),
        ("run --json", "no/such/folder.json"),
        ("run --json", "file/x.json"),
        ("bench --quick --out", "/proc/x"),
        ("bench --quick --out", "file/x"),
    ] {
        let done = folder.run(&format!("{command} {path}"));
        assert_eq!(
            (done.code, done.stdout.as_str()),
            (1, ""),
            "{command} {path}"
        );
        let told = format!("mega-batch: {path}");
        assert!(done.stderr.starts_with(&told), "{}", done.stderr);
        assert!(
            done.stderr.contains(": cannot be written: "),
            "{}",
            done.stderr
        );
    }
    assert_eq!(names(&folder), ["file", "folder"]);
}

#[test]
fn temporary_files_lie_where_the_document_will() {
    let folder = Folder::new();
    let run = |options: &str| {
        let mut command = folder.command(options);
        done(command.env("TMPDIR", "/no/such/folder").output().unwrap())
    };
    let there = run("run --pairs 1 --json out.json");
    assert_eq!((there.code, there.stderr.as_str()), (0, ""));
    let missing = run("run --pairs 1 --json -");
    assert_eq!((missing.code, missing.stdout.as_str()), (1, ""));
    assert!(missing.stderr.contains("TMPDIR"), "{}", missing.stderr);
    assert!(
        missing.stderr.contains("/no/such/folder"),
        "{}",
        missing.stderr
    );
}

#[test]
fn what_is_no_regular_file_is_written_as_it_is() {
    let folder = Folder::new();
    let pipe = pipe(&folder);
    let mut command = folder.command("run --pairs 1 --json pipe");
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let text = fs::read(&pipe).unwrap();
    let document: Value = serde_json::from_slice(&text).unwrap();
    assert_eq!(document["tasks_solved"], document["tasks"]);
    let out = done(child.wait_with_output().unwrap());
    assert_eq!((out.code, out.stderr.as_str()), (0, ""));
    assert!(out.stdout.contains("\ntasks solved "), "{}", out.stdout);

    for name in ["/dev/stdout", "/dev/fd/1"] {
        let out = folder.run(&format!("run --pairs 1 --json {name}"));
        assert!(serde_json::from_str::<Value>(&out.stdout).is_ok());
        assert!(out.stderr.contains("\ntasks solved "), "{}", out.stderr);
    }
    let out = folder.run("run --pairs 1 --json /dev/null");
    assert_eq!((out.code, out.stderr.as_str()), (0, ""));
    let out = folder.run("run --pairs 1 --json /dev/full");
    assert_eq!(out.code, 1);
    assert!(out.stdout.contains("\ntasks solved "), "{}", out.stdout);
    assert!(
        out.stderr
            .starts_with("mega-batch: /dev/full: cannot be written: "),
        "{}",
        out.stderr
    );
    let child = {
        let mut command = folder.command("run --all-pairs --json pipe");
        command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    drop(fs::File::open(&pipe).unwrap());
    let out = done(child.wait_with_output().unwrap());
    assert_eq!((out.code, out.stderr.as_str()), (141, ""));
    assert!(out.stdout.contains("\ntasks solved "), "{}", out.stdout);
}

#[test]
fn of_several_runs_that_write_one_file_one_is_there_whole() {
    let folder = Folder::new();
    let runs: Vec<_> = (1..=4)
        .map(|pairs| {
            let mut command =
                folder.command(&format!("run --pairs {pairs} --json out.json --quiet"));
            command.spawn().unwrap()
        })
        .collect();
    for mut run in runs {
        assert!(run.wait().unwrap().success());
    }
    let document = document(&folder, "out.json");
    assert_eq!(document["pairs_right"], document["evaluations"]);
    assert_eq!(names(&folder), ["out.json"]);
}

#[test]
fn what_is_read_is_not_overwritten_and_no_file_is_written_twice() {
    let folder = Folder::new();
    folder
        .write("tasks/a.json", mirror_task())
        .write("p/p.py", mirror_program("solve_a"));
    fs::create_dir(folder.path().join("empty")).unwrap();
    let run = "run --tasks tasks --programs p";
    assert_eq!(
        folder
            .run(&format!(
                "{run} --json r.json --attempts --submission s.json --quiet"
            ))
            .code,
        0
    );
    let all = |name: &str| fs::read(folder.path().join(name)).unwrap();
    let before = ["tasks/a.json", "p/p.py", "r.json", "s.json"].map(all);
    for (arguments, message) in [
        (
            &*format!("{run} --json p/p.py"),
            "p/p.py: --json would overwrite what --programs reads",
        ),
        (
            &format!("{run} --submission tasks/../tasks/a.json"),
            "a.json: --submission would overwrite what --tasks reads",
        ),
        (
            "run --tasks tasks/a.json --programs p/p.py --json tasks/a.json",
            "--json would overwrite what --tasks reads",
        ),
        (
            &format!("{run} --log p/p.py"),
            "--log would overwrite what --programs reads",
        ),
        (
            &format!("{run} --json x --submission ./x"),
            "./x: --json and --submission would both be written there",
        ),
        (
            &format!("{run} --checkpoint x --resume --json x"),
            "would both be written there",
        ),
        (
            "search --tasks tasks --programs-out tasks/a.json",
            "--programs-out would overwrite what --tasks reads",
        ),
        (
            "search --tasks tasks --programs-out x --json x",
            "would both be written there",
        ),
        (
            "show tasks/a.json --svg tasks/a.json",
            "--svg would overwrite what TASK reads",
        ),
        (
            "score s.json --tasks tasks --json s.json",
            "--json would overwrite what SUBMISSION reads",
        ),
        (
            "report r.json --html r.json",
            "--html would overwrite what RESULT.json reads",
        ),
    ] {
        let done = folder.run(arguments);
        assert_eq!(done.code, 2, "{arguments}: {}", done.stderr);
        assert!(
            done.stderr.starts_with("mega-batch: ") && done.stderr.contains(message),
            "{}",
            done.stderr
        );
    }
    assert_eq!(
        ["tasks/a.json", "p/p.py", "r.json", "s.json"].map(all),
        before
    );
    // Files that an earlier run wrote next to the tasks are not input, nor is a submission that is filled up.
    for _ in 0..2 {
        let done = folder.run(&format!(
            "{run} --json tasks/r.json --submission tasks/s.json --quiet"
        ));
        assert_eq!(done.code, 0, "{}", done.stderr);
    }
    for arguments in [
        "show tasks/a.json --svg - --png -",
        "show tasks/a.json --svg /dev/stdout --png -",
        "search --tasks tasks --json - --programs-out -",
    ] {
        let done = folder.run(arguments);
        assert_eq!((done.code, done.stdout.as_str()), (2, ""), "{arguments}");
        assert!(
            done.stderr
                .contains("expected one of them at most to be `-`"),
            "{}",
            done.stderr
        );
    }
    let over = "search --tasks tasks --nodes 300 --over s.json --submission s.json --quiet";
    assert_eq!(folder.run(over).code, 0);
}
