//! `mega-batch run --python`. A CPython can be named by `PYTHON`; without one of 3.11 these tests say that they were
//! skipped.

use std::ffi::OsString;
use std::fs;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::support::{Folder, mirror_program, mirror_task};

/// The options for a Python without packages, or None where there is no Python.
fn python() -> Option<String> {
    let python = std::env::var_os("PYTHON").unwrap_or_else(|| OsString::from("python3"));
    let is_new = "import sys; sys.exit(sys.version_info < (3, 11))";
    let status = Command::new(&python).args(["-c", is_new]).status();
    if !status.is_ok_and(|status| status.success()) {
        eprintln!("skipped: there is no CPython of 3.11 or later");
        return None;
    }
    let python = python.into_string().unwrap();
    Some(format!("--python {python} --python-modules="))
}

const MIRROR: &str = "def transform(grid):\n    return [row[::-1] for row in grid]\n";
const ENDLESS: &str = "def transform(grid):\n    while True:\n        pass\n";

/// A folder of tasks, and programs in both languages, good and bad ones.
fn folder() -> Folder {
    let folder = Folder::new();
    for name in "abcdefgh".chars() {
        folder.write(&format!("tasks/{name}.json"), mirror_task());
    }
    let zero = "def transform(grid):\n    if grid[0][0] == 0:\n        raise ValueError('zero')\n    return grid\n";
    let response = format!("They are mirrored.\n```python\n{MIRROR}```\n");
    let responses = serde_json::json!([
        { "task_id": "f", "response": response },
        { "task_id": "f", "program": "def solve(I):\n    return vmiror(I)\n" },
        { "task_id": "g", "program": zero },
    ]);
    folder
        .write("programs/solve_a.py", mirror_program("solve_a"))
        .write("programs/b.py", MIRROR)
        .write("programs/c.py", zero)
        .write("programs/d.py", "def solve(I):\n    return vmiror(I)\n")
        .write("programs/e.py", "def transform(grid):\n    return (\n")
        .write(
            "programs/helpers.py",
            "import os\ndef add(a, b):\n    return a + b\n",
        )
        .write("programs/more.json", responses.to_string())
        .write(
            "programs/solve_h.py",
            "def solve_h(I):\n    O = hmirror(I)\n    return O\n",
        );
    folder
}

/// The results of a document, one in a line.
fn told(document: &Value) -> Vec<String> {
    let results = document["results"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let told = results.map(|result| {
        let pairs = result["pairs"].as_array().unwrap().iter();
        let pairs = pairs.map(|pair| match &pair["error"] {
            Value::Null => text(&pair["outcome"]),
            error => format!("{}: {}", text(&pair["outcome"]), text(error)),
        });
        let pairs = pairs.collect::<Vec<_>>().join(", ");
        format!(
            "{} {} {pairs}",
            text(&result["program"]),
            text(&result["language"])
        )
    });
    told.collect()
}

#[test]
fn both_languages_are_in_one_batch_in_its_order() {
    let Some(python) = python() else { return };
    let folder = folder();
    let zero = "mismatch, error: line 3: ValueError: zero, mismatch";
    let expected = [
        "solve_b python match, match, match".to_owned(),
        format!("solve_c python {zero}"),
        "solve_a - match, match, match".to_owned(),
        "solve_h - mismatch, mismatch, mismatch".to_owned(),
        "solve_f python match, match, match".to_owned(),
        format!("solve_g python {zero}"),
    ];
    for how in [
        "--mode sequential",
        "--workers 3",
        "--backend reference",
        "--backend emulated",
    ] {
        let inputs = format!("--tasks tasks --programs programs {python} {how}");
        let (done, document) = folder.run_json(&format!("{inputs} --submission s.json --attempts"));
        assert_eq!(told(&document), expected, "{how}");
        assert_eq!(document["backend"]["python"], 12);
        let errors = document["input_errors"].as_array().unwrap().iter();
        let errors: Vec<_> = errors.map(|it| it["message"].as_str().unwrap()).collect();
        let misspelt = "unknown primitive `vmiror`, did you mean `vmirror`?";
        assert_eq!(errors.len(), 3, "{errors:?}");
        assert!(errors.contains(&misspelt));
        assert!(errors.contains(&"not Python: '(' was never closed"));
        assert!(
            errors
                .iter()
                .any(|it| it.ends_with(misspelt) && it.starts_with("line 2"))
        );
        assert!(
            done.stderr.contains("no programs in `helpers.py`"),
            "{}",
            done.stderr
        );
        assert!(
            done.stderr.contains("in Python                 12"),
            "{}",
            done.stderr
        );
        assert_eq!(done.code, 2);
        let submission: Value =
            serde_json::from_slice(&fs::read(folder.path().join("s.json")).unwrap()).unwrap();
        assert_eq!(submission["b"][0]["attempt_1"], serde_json::json!([[4, 3]]));
    }
    let (_, all) = folder.run_json(&format!(
        "--tasks tasks --programs programs/b.py programs/solve_a.py {python} --all-pairs"
    ));
    assert_eq!(all["tasks_solved"], 8);
}

#[test]
fn nothing_is_executed_unless_asked() {
    let Some(python) = python() else { return };
    let folder = folder();
    let writes =
        "open('ran', 'w').close()\ndef transform(grid):\n    return [row for row in grid]\n";
    folder.write("programs/b.py", writes);
    let done = folder.run("run --tasks tasks --programs programs");
    assert_eq!(done.code, 2);
    assert!(!folder.path().join("ran").exists());
    // Nor can it do that if asked.
    let (_, document) =
        folder.run_json(&format!("--tasks tasks --programs programs/b.py {python}"));
    let told = told(&document);
    assert!(told[0].contains("line 1: PermissionError"), "{told:?}");
    assert!(!folder.path().join("ran").exists());
    let done = folder.run("run --tasks tasks --programs programs --python nowhere/python");
    assert_eq!(done.code, 1);
    let reason = "mega-batch: --python: nowhere/python: No such file";
    assert!(done.stderr.starts_with(reason), "{}", done.stderr);
    let done = folder.run("run --tasks tasks --python-axes xy");
    assert_eq!(done.code, 2, "{}", done.stderr);
}

#[test]
fn a_run_is_resumed_with_the_same_options_of_python() {
    let Some(python) = python() else { return };
    let folder = folder();
    let inputs = format!("run --tasks tasks --programs programs {python} --checkpoint c --quiet");
    assert_eq!(folder.run(&inputs).code, 2);
    let again = folder.run(&format!("{inputs} --resume --json again.json"));
    assert_eq!(again.code, 2, "{}", again.stderr);
    let again = fs::read(folder.path().join("again.json")).unwrap();
    let again: Value = serde_json::from_slice(&again).unwrap();
    assert!(told(&again)[1].contains("ValueError: zero"));
    let other = folder.run(&format!("{inputs} --resume --python-axes xy"));
    assert!(other.stderr.contains("other programs"), "{}", other.stderr);
}

#[test]
fn a_prelude_has_names_and_axes_need_arrays() {
    let Some(python) = python() else { return };
    let folder = folder();
    folder
        .write(
            "common.py",
            "def mirrored(grid):\n    return [row[::-1] for row in grid]\n",
        )
        .write(
            "p/b.py",
            "from common import *\ndef main(grid):\n    return mirrored(grid)\n",
        )
        .write("p/c.py", "def main(grid):\n    return mirrored(grid)\n");
    let options = format!("--tasks tasks --programs p {python} --python-prelude common.py");
    let (done, document) = folder.run_json(&options);
    assert_eq!(
        (done.code, &document["tasks_solved"]),
        (0, &2.into()),
        "{}",
        done.stderr
    );
    let (_, document) = folder.run_json(&format!("{options} --python-axes xy"));
    let reason = "the program takes an array: No module named 'numpy'";
    assert!(told(&document)[0].contains(reason), "{document}");
}

/// The processes whose parent is this one.
fn children(process: u32) -> Vec<u32> {
    let folders = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let ids = folders.filter_map(|it| it.file_name().to_str()?.parse().ok());
    ids.filter(|id: &u32| {
        let status = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        let fields = status.rsplit(") ").next().unwrap_or_default();
        fields.split(' ').nth(1) == Some(&process.to_string())
    })
    .collect()
}

/// Whether a condition is met within half a minute.
fn soon(mut is_so: impl FnMut() -> bool) -> bool {
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(30) {
        if is_so() {
            return true;
        }
        sleep(Duration::from_millis(20));
    }
    false
}

#[test]
fn no_process_is_left_of_a_run_that_is_ended() {
    let Some(python) = python() else { return };
    let folder = folder();
    folder
        .write("programs/b.py", ENDLESS)
        .write("programs/c.py", ENDLESS);
    for (signal, code) in [("INT", Some(130)), ("TERM", Some(143)), ("KILL", None)] {
        let arguments = format!(
            "run --tasks tasks --programs programs {python} --python-seconds 1000 --workers 2 --json out-{signal}.json"
        );
        let mut command = folder.command(&arguments);
        let mut run = command
            .stderr(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let (mut workers, mut programs) = (Vec::new(), Vec::new());
        assert!(soon(|| {
            // A process that only reads texts, or tries what isolates it, ends at once.
            sleep(Duration::from_millis(300));
            let before = programs.clone();
            workers = children(run.id());
            let of_workers = workers.iter().flat_map(|worker| children(*worker));
            programs = of_workers.collect::<Vec<_>>();
            programs.len() == 2 && programs == before
        }));
        let id = run.id().to_string();
        let killed = Command::new("kill")
            .args([&format!("-{signal}"), &id])
            .status();
        assert!(killed.unwrap().success());
        let began = Instant::now();
        assert_eq!(run.wait().unwrap().code(), code, "{signal}");
        assert!(began.elapsed() < Duration::from_secs(10), "{signal}");
        workers.append(&mut programs);
        assert!(soon(|| workers
            .iter()
            .all(|it| !fs::exists(format!("/proc/{it}")).unwrap())));
        // What is finished is written.
        let document = folder.path().join(format!("out-{signal}.json"));
        assert_eq!(document.exists(), code.is_some(), "{signal}");
    }
}

#[test]
fn without_the_option_numpy_is_said_to_need_it() {
    let folder = Folder::new();
    folder.write("a.json", mirror_task());
    let text = "import numpy as np\n\ndef solve_a(I):\n    return np.fliplr(I)\n";
    folder.write("a.py", text);
    folder.write("b.py", text);
    let done = folder.run("run --tasks a.json --programs a.py b.py");
    let note = "a.py: may be a program in free Python, as may 1 more: these run with `--python`, `python=True`";
    assert!(done.stderr.contains(note), "{}", done.stderr);
    // As in code golf, in a folder of such files.
    let golf = "p=lambda g:[r[::-1]for r in g]\n";
    folder.write("golf/task001.py", golf);
    folder.write("golf/task002.py", golf.replace("p=", "transform = "));
    let done = folder.run("run --tasks a.json --programs golf");
    let note =
        "task001.py: may be a program in free Python, as may 1 more: these run with `--python`";
    assert!(done.stderr.contains(note), "{}", done.stderr);
    // What imports the DSL never is.
    for import in ["from dsl import *", "import constants as c"] {
        folder.write("a.py", format!("{import}\n{text}"));
        let done = folder.run("run --tasks a.json --programs a.py");
        assert!(!done.stderr.contains("free Python"), "{}", done.stderr);
    }
}

/// In whatever form the text comes, and wherever the helper is.
#[test]
fn a_helper_is_no_program_beside_an_entry() {
    let Some(python) = python() else { return };
    let entry = MIRROR;
    let of_id = MIRROR.replace("transform", "solve_0a1b2c3d");
    let texts = [
        format!("def unused(g):\n    return g\n{entry}"),
        format!("{entry}def unused(g):\n    return g\n"),
        format!("ident = lambda g: g\n{entry}"),
        format!("def count(g): return len(g)\ndef is_empty(g): return g == 0\n{entry}"),
        format!("def ident(g):\n    return g\nOPS = {{\"a\": ident}}\n{entry}"),
        format!("def main(I): return I\n{entry}"),
        format!("{entry}def solve_helper(g): return g\n"),
        format!("def unused(g):\n    return g\n{of_id}"),
    ];
    let folder = Folder::new();
    let id = "0a1b2c3d";
    folder.write(&format!("{id}.json"), mirror_task());
    for text in texts {
        let row = |key: &str, text: &str| serde_json::json!({ "task_id": id, key: text });
        let fenced = format!("So:\n```python\n{text}```\n");
        let draft = format!("```python\ndef solve(I):\n    return rot90(I)\n```\nNo.\n{fenced}");
        folder
            .write(&format!("{id}.py"), &text)
            .write("code.json", row("code", &text).to_string())
            .write("response.json", row("response", &fenced).to_string())
            .write("draft.json", row("response", &draft).to_string());
        for file in [
            &format!("{id}.py"),
            "code.json",
            "response.json",
            "draft.json",
        ] {
            let inputs = format!("--tasks {id}.json --programs {file}");
            let (done, document) = folder.run_json(&format!("{inputs} {python}"));
            let expected = format!("solve_{id} python match, match, match");
            assert_eq!(
                told(&document),
                [expected],
                "{file}: {text}\n{}",
                done.stderr
            );
            assert_eq!(done.code, 0, "{}", done.stderr);
            let (done, document) = folder.run_json(&inputs);
            assert_eq!((told(&document).len(), done.code), (0, 2), "{file}: {text}");
            let note = "may be a program in free Python: these run with `--python`";
            assert!(done.stderr.contains(note), "{text}\n{}", done.stderr);
        }
    }
}

/// A later block counts if it is a program in either language.
#[test]
fn the_last_readable_program_of_an_answer_counts_in_whatever_language() {
    let Some(python) = python() else { return };
    let folder = Folder::new();
    folder.write("a.json", mirror_task());
    let fenced = |text: &str| format!("```python\n{text}```\n");
    let dsl = fenced("def solve(I):\n    return vmirror(I)\n");
    let wrong = fenced("def transform(grid):\n    return grid\n");
    for (answer, language) in [
        (format!("{wrong}Final:\n{}", fenced(MIRROR)), "python"),
        (
            format!("{}Better:\n{dsl}", fenced(&MIRROR.replace("::-1", ":"))),
            "-",
        ),
        (
            format!(
                "{dsl}Then:\n{}",
                fenced("def transform(grid):\n    return [row for row in\n")
            ),
            "-",
        ),
        (
            format!(
                "{dsl}Or:\n{}",
                fenced("def solve(I):\n    for x in I:\n        y = fill(I, 1, x)\n    return y\n")
            ),
            "-",
        ),
        (
            format!(
                "{dsl}It prints:\n{}",
                fenced("for row in solve(grid):\n    print(row)\n")
            ),
            "-",
        ),
    ] {
        let row = serde_json::json!({ "task_id": "a", "response": answer });
        folder.write("r.json", row.to_string());
        let (done, document) =
            folder.run_json(&format!("--tasks a.json --programs r.json {python}"));
        let expected = format!("solve_a {language} match, match, match");
        assert_eq!(told(&document), [expected], "{answer}\n{}", done.stderr);
        let (_, document) = folder.run_json("--tasks a.json --programs r.json");
        assert_eq!(
            told(&document).len(),
            usize::from(language == "-"),
            "{answer}"
        );
    }
}

#[test]
fn programs_for_several_tasks_in_a_file_stay_so() {
    let Some(python) = python() else { return };
    let folder = Folder::new();
    folder
        .write("a.json", mirror_task())
        .write("b.json", mirror_task());
    let other = MIRROR.replace("transform", "solve_b");
    folder.write(
        "p.py",
        format!(
            "def solve_a(I):\n    return vmirror(I)\n\n{other}\ndef unused(I):\n    return I\n"
        ),
    );
    let (done, document) =
        folder.run_json(&format!("--tasks a.json b.json --programs p.py {python}"));
    assert_eq!(told(&document), ["solve_a - match, match, match"]);
    assert!(
        done.code == 2 && done.stderr.contains("p.py:5:"),
        "{}",
        done.stderr
    );
}
