//! Input from the standard input.

use std::io::Write;
use std::process::Stdio;

use serde_json::json;

use super::support::{Done, Folder, done, gzipped, mirror_program, mirror_task, zipped};

/// Runs the command with this on its standard input, which is a pipe.
fn piped(folder: &Folder, arguments: &str, text: impl AsRef<[u8]>) -> Done {
    let mut command = folder.command(arguments);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // If it reads nothing, writing to it fails.
    let _ = child.stdin.take().unwrap().write_all(text.as_ref());
    done(child.wait_with_output().unwrap())
}

#[test]
fn the_standard_input_is_a_file_of_any_kind() {
    let folder = Folder::new();
    let program = mirror_program("solve_a");
    let task = mirror_task();
    let in_json = json!({ "task_id": "a", "program": "O = vmirror(I)" }).to_string();
    let by_id = format!("{{\"a\": {task}}}");
    let attempts = "{\"a\": [{\"attempt_1\": [[4, 3]], \"attempt_2\": [[0]]}]}";
    folder.write("a.json", &task).write("a.py", &program);
    let (_, document) = folder.run_json("--tasks a.json --programs a.py --attempts");
    let document = document.to_string();
    for name in ["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"] {
        for (arguments, text) in [
            ("run --tasks a.json --programs @", program.as_bytes()),
            ("run --tasks a.json --programs @", in_json.as_bytes()),
            ("run --tasks a.json --programs @", &gzipped(&program)),
            (
                "run --tasks a.json --programs @",
                &zipped(&[("a.py", &*program)]),
            ),
            ("run --tasks @ --programs a.py", by_id.as_bytes()),
            ("run --tasks a.json --programs a.py --ids-file @", b"a"),
            ("run --tasks @ --programs a.py --all-pairs", task.as_bytes()),
            ("show @", task.as_bytes()),
            ("score @ --tasks a.json", attempts.as_bytes()),
            ("check @ --tasks a.json", attempts.as_bytes()),
            ("report @ --html x.html", document.as_bytes()),
            ("explain --programs @", program.as_bytes()),
        ] {
            let arguments = arguments.replace('@', name);
            let done = piped(&folder, &arguments, text);
            assert_eq!((done.code, done.stderr.as_str()), (0, ""), "{arguments}");
        }
    }
    let done = piped(&folder, "show -", &task);
    assert!(done.stdout.starts_with("stdin\n"), "{}", done.stdout);
    let done = piped(
        &folder,
        "run --tasks a.json --programs -",
        "def solve_a(I):\n    return vmiror(I)\n",
    );
    let message = "-:2:12: unknown primitive `vmiror`, did you mean `vmirror`?\n";
    assert_eq!((done.code, done.stderr.as_str()), (2, message));
    let done = piped(&folder, "run --tasks - --programs a.py", "");
    assert_eq!(
        (done.code, done.stderr.as_str()),
        (2, "-:1:1: empty: expected JSON\n")
    );
    for arguments in [
        "run --tasks - --programs -",
        "run --tasks - --programs /dev/stdin",
        "run --tasks - a.json /dev/fd/0 --programs a.py",
        "score - --solutions -",
    ] {
        let done = piped(&folder, arguments, &task);
        assert_eq!(done.code, 2, "{arguments}");
        assert!(
            done.stderr.contains("the standard input") && done.stderr.contains("can be read once"),
            "{}",
            done.stderr
        );
    }
}
