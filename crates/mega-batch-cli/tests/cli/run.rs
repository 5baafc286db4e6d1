//! `mega-batch run` on good input.

use serde_json::{Value, json};

use super::support::{Folder, mirror_program, mirror_task};

/// A folder of three tasks, and programs that are right, wrong, failing and stopped on them.
fn folder() -> Folder {
    let folder = Folder::new();
    folder
        .write("tasks/b.json", mirror_task())
        .write("tasks/a.json", mirror_task());
    let unknown = json!({
        "train": [{ "input": [[1, 2]], "output": [[2, 1]] }],
        "test": [{ "input": [[1], [2]] }, { "input": [[3]] }],
    });
    folder.write("tasks/c.json", unknown.to_string());
    folder.write("tasks/notes.txt", "no task");
    let wrong = "def solve_b(I):\n    x1 = hmirror(I)\n    return x1\n";
    let failing = "def solve_c(I):\n    x1 = first(I)\n    x2 = vmirror(x1)\n    return x2\n";
    let stopped = "def fast_c(I):\n    x1 = upscale(I, 5000)\n    x2 = trim(x1)\n    return x2\n";
    folder.write(
        "programs.py",
        [
            &mirror_program("solve_a"),
            wrong,
            failing,
            stopped,
            &mirror_program("verify_c"),
        ]
        .join("\n\n"),
    );
    folder
}

/// The document without what varies from run to run.
fn without_times(mut document: Value) -> Value {
    let object = document.as_object_mut().unwrap();
    for key in ["seconds", "evaluation_seconds", "evaluations_per_second"] {
        assert!(object.remove(key).unwrap().as_f64().unwrap() > 0.0, "{key}");
    }
    let compiling = object.remove("compile_seconds").unwrap().as_f64().unwrap();
    let backend = &object["backend"];
    let on_device = backend["device"]["programs"].as_u64().unwrap_or_default();
    let compiled = backend["programs_compiled"].as_u64().unwrap() + on_device;
    assert_eq!(compiling > 0.0, compiled > 0);
    document
}

#[test]
fn the_document_has_its_form() {
    let folder = folder();
    let (done, document) =
        folder.run_json("--tasks tasks --programs programs.py --workers 2 --backend compiled");
    assert_eq!(
        (done.code, done.stderr.contains("tasks solved")),
        (0, true),
        "{}",
        done.stderr
    );
    let keys = [
        "engine_version",
        "schema",
        "mode",
        "workers",
        "tasks",
        "programs",
        "evaluations",
        "seconds",
    ];
    let more = [
        "compile_seconds",
        "evaluation_seconds",
        "evaluations_per_second",
        "tasks_solved",
        "pairs_right",
        "pairs_expected",
        "backend",
        "results",
        "input_errors",
    ];
    let at: Vec<_> = keys
        .iter()
        .chain(&more)
        .map(|key| {
            done.stdout
                .find(&format!("\"{key}\":"))
                .unwrap_or_else(|| panic!("no {key}"))
        })
        .collect();
    assert!(at.is_sorted(), "{at:?}");
    assert_eq!(document.as_object().unwrap().len(), keys.len() + more.len());

    let pair = |split: &str, index: u32, outcome: &str| json!({ "split": split, "index": index, "outcome": outcome });
    let failed = |split: &str, index: u32, outcome: &str, error: &str| json!({ "split": split, "index": index, "outcome": outcome, "error": error });
    let result = |task: &str, program: &str, pairs: Value| json!({ "task": task, "program": program, "file": "programs.py", "pairs": pairs });
    let type_error = "line 13: vmirror: argument `piece`: expected Piece, found ";
    let expected = json!({
        "engine_version": env!("CARGO_PKG_VERSION"),
        "schema": 1,
        "mode": "parallel",
        "workers": 2,
        "tasks": 3,
        "programs": 5,
        "evaluations": 15,
        "tasks_solved": 2,
        "pairs_right": 4,
        "pairs_expected": 7,
        "backend": {
            "name": "compiled",
            "compiled": 9,
            "merged": 0,
            "reference": 6,
            "bail_outs": {
                "a grid past 32 rows or columns": 3,
                "a value of another type": 3,
            },
            "programs_compiled": 5,
            "programs_not_compiled": {},
        },
        "results": [
            result("a", "solve_a", json!([pair("train", 0, "match"), pair("train", 1, "match"), pair("test", 0, "match")])),
            result("b", "solve_b", json!([pair("train", 0, "mismatch"), pair("train", 1, "mismatch"), pair("test", 0, "mismatch")])),
            result("c", "solve_c", json!([
                    failed("train", 0, "error", &format!("{type_error}a pair of integers")),
                    failed("test", 0, "error", &format!("{type_error}a tuple")),
                    failed("test", 1, "error", &format!("{type_error}a tuple")),
                ])),
            result("c", "fast_c", json!([
                    failed("train", 0, "limit", "line 18: upscale: limit exceeded: cells of a grid"),
                    failed("test", 0, "limit", "line 18: upscale: limit exceeded: cells of a grid"),
                    failed("test", 1, "limit", "line 18: upscale: limit exceeded: cells of a grid"),
                ])),
            result("c", "verify_c", json!([pair("train", 0, "match"), pair("test", 0, "no_expected"), pair("test", 1, "no_expected")])),
        ],
        "input_errors": [],
    });
    assert_eq!(without_times(document), expected);
}

#[test]
fn outputs_are_rows_where_they_are_asked_for() {
    let folder = folder();
    folder.write(
        "number.py",
        "def solve_a(I):\n    x1 = height(I)\n    return x1\n",
    );
    let (_, document) = folder.run_json("--tasks tasks/b.json --programs programs.py --outputs");
    let outputs: Vec<_> = document["results"][0]["pairs"]
        .as_array()
        .unwrap()
        .iter()
        .collect();
    assert_eq!(outputs[0]["output"], json!([[1, 2]]));
    assert_eq!(outputs[2]["output"], json!([[3, 4]]));
    let (_, document) = folder.run_json("--tasks tasks/a.json --programs number.py --outputs");
    let pair = json!({ "split": "train", "index": 0, "outcome": "mismatch" });
    assert_eq!(document["results"][0]["pairs"][0], pair);
}

#[test]
fn every_mode_and_number_of_workers_gives_the_same_bytes() {
    let folder = folder();
    let text = |options: &str| {
        let options =
            format!("--tasks tasks --programs programs.py --outputs --all-pairs {options}");
        let (done, document) = folder.run_json(&options);
        assert_eq!(done.code, 0);
        let mut document = without_times(document);
        let object = document.as_object_mut().unwrap();
        let how = [
            object.remove("mode").unwrap(),
            object.remove("workers").unwrap(),
        ];
        let results = done.stdout.find("\"results\":").unwrap();
        (how, document, done.stdout[results..].to_owned())
    };
    let (how, document, results) = text("--mode sequential");
    assert_eq!(how, [json!("sequential"), json!(1)]);
    assert_eq!(document["evaluations"], 45);
    for workers in 1..=3 {
        let (how, other, other_results) = text(&format!("--workers {workers}"));
        assert_eq!(how, [json!("parallel"), json!(workers)]);
        assert_eq!(other, document);
        assert_eq!(other_results, results);
    }
}

#[test]
fn every_backend_gives_the_same_results() {
    let folder = folder();
    let document = |programs: &str, options: &str| {
        let (done, document) =
            folder.run_json(&format!("--tasks tasks {programs} --all-pairs {options}"));
        assert_eq!(done.code, 0);
        let mut document = without_times(document);
        let backend = document.as_object_mut().unwrap().remove("backend");
        (document, backend.unwrap())
    };
    for programs in ["--programs programs.py", ""] {
        for options in ["--mode sequential", "--workers 2 --outputs"] {
            let (expected, by) = document(programs, &format!("{options} --backend reference"));
            assert_eq!(by["reference"], expected["evaluations"]);
            assert_eq!(by["compiled"], 0);
            for backend in ["compiled", "auto"] {
                let options = format!("{options} --backend {backend}");
                let (other, by) = document(programs, &options);
                assert_eq!(other, expected);
                assert_eq!(by["name"], backend);
                let count = |key: &str| by[key].as_u64().unwrap();
                // `auto` compiles no one-step program for nine pairs.
                let compiles = backend == "compiled" || programs.is_empty();
                assert_eq!(count("compiled") > 0, compiles);
                assert_eq!(
                    count("compiled") + count("merged") + count("reference"),
                    expected["evaluations"]
                );
                // Machines have smaller limits too; only the reference looks at the clock.
                let (other, by) = document(programs, &format!("{options} --max-steps 9999999"));
                assert_eq!(other, expected);
                assert_eq!(by["compiled"].as_u64() > Some(0), compiles);
                let (other, by) = document(programs, &format!("{options} --timeout-ms 60000"));
                assert_eq!(other, expected);
                assert_eq!(by["compiled"], 0);
                let reason = "a timeout, or fewer cells than a machine's grids may have";
                assert_eq!(by["programs_not_compiled"][reason], expected["programs"]);
            }
        }
    }
}

#[test]
fn a_device_gives_the_same_results_or_is_said_not_to_be_there() {
    let folder = folder();
    let run = |options: &str| {
        let (done, document) = folder.run_json(&format!("{options} --quiet"));
        assert_eq!(done.code, 0);
        let mut document = without_times(document);
        let by = document.as_object_mut().unwrap().remove("backend").unwrap();
        let results = done.stdout.find("\"results\":").unwrap();
        (document, done.stdout[results..].to_owned(), by, done.stderr)
    };
    for options in [
        "--pairs 2 --outputs",
        "--pairs 1 --all-pairs --programs programs.py",
        "--tasks tasks --programs programs.py --all-pairs --mode sequential --outputs",
    ] {
        let (expected, text, ..) = run(&format!("{options} --backend reference"));
        for backend in ["emulated", "ptx", "cuda"] {
            let device = format!("--backend {backend} --placement devices");
            let (document, other, by, told) = run(&format!("{options} {device}"));
            assert!(document == expected && other == text, "{backend} {options}");
            assert_eq!(by["name"], backend);
            let count = |by: &Value, key: &str| by[key].as_u64().unwrap();
            let by_cpu = count(&by, "compiled") + count(&by, "reference");
            let mut made = by_cpu;
            // Not every machine has a GPU, or a compiler for the emulated device.
            if let Some(reason) = by["no_device"].as_str() {
                let line = format!("mega-batch: {reason}");
                assert_eq!(told, format!("{line}\n"));
                assert!(by.get("device").is_none());
            } else {
                assert_eq!(told, "");
                let device = &by["device"];
                made += count(device, "evaluations");
                assert!(count(device, "evaluations") > 0);
                assert!(count(device, "programs") > 0);
            }
            assert_eq!(Some(made), expected["evaluations"].as_u64());
        }
    }
}

#[test]
fn the_table_tells_the_backends_apart() {
    let folder = folder();
    let table = |backend: &str| {
        let options = "run --tasks tasks --programs programs.py --mode sequential --backend";
        folder.run(&format!("{options} {backend}")).stdout
    };
    let lines = |table: &str| -> Vec<String> {
        let lines = table.lines();
        let told = lines.filter(|line| line.contains("backend") || line.contains("by reference"));
        told.map(str::to_owned).collect()
    };
    let reference = table("reference");
    assert_eq!(
        lines(&reference),
        ["sequential, 1 worker, backend reference"]
    );
    let compiled = table("compiled");
    let expected = [
        "sequential, 1 worker, backend compiled",
        "by reference               6",
    ];
    assert_eq!(lines(&compiled), expected);
    let reason = "                                     3  a grid past 32 rows or columns";
    assert!(
        compiled.lines().any(|line| line.starts_with(reason)),
        "{compiled}"
    );
}

#[test]
fn the_document_can_go_to_a_file_and_the_table_to_the_terminal() {
    let folder = folder();
    let done = folder.run("run --tasks tasks --programs programs.py --json out.json");
    let twins = "note: tasks/b.json: a and b have the same pairs\n";
    assert_eq!((done.code, done.stderr.as_str()), (0, twins));
    for line in [
        "tasks                      3",
        "  no expected              2",
        "tasks solved               2 of 3",
    ] {
        assert!(
            done.stdout.contains(&format!("\n{line}\n")),
            "{line}\n{}",
            done.stdout
        );
    }
    assert!(done.stdout.contains("\nnot solved: b\n"), "{}", done.stdout);
    assert!(
        done.stdout
            .contains("\nprograms that failed on some pair: 2\n"),
        "{}",
        done.stdout
    );
    let document = std::fs::read(folder.path().join("out.json")).unwrap();
    let document: Value = serde_json::from_slice(&document).unwrap();
    assert_eq!(document["pairs_right"], 4);

    let done = folder.run("run --tasks tasks --programs programs.py --quiet");
    assert_eq!(
        (done.code, done.stdout.as_str(), done.stderr.as_str()),
        (0, "", "")
    );
    let done = folder.run("run --tasks tasks --programs programs.py --json no/such/folder.json");
    assert_eq!(done.code, 1);
    assert!(
        done.stderr
            .starts_with("mega-batch: no/such/folder.json: cannot be written"),
        "{}",
        done.stderr
    );
}

#[test]
fn what_has_no_counterpart_is_noted() {
    let folder = folder();
    folder.write(
        "other.py",
        [mirror_program("solve_a"), mirror_program("solve_z")].join("\n"),
    );
    let done = folder.run("run --tasks tasks --programs other.py");
    assert_eq!(done.code, 0);
    assert!(
        done.stdout
            .contains("note: 1 program has no task here (the name solve_z has none of their ids)"),
        "{}",
        done.stdout
    );
    assert!(
        done.stdout.contains("note: 2 tasks have no program"),
        "{}",
        done.stdout
    );
    let done = folder.run("run --tasks tasks --programs other.py --all-pairs");
    assert!(!done.stdout.contains("note:"), "{}", done.stdout);
}

#[test]
fn kaggles_files_are_read_with_their_solutions() {
    let folder = folder();
    let challenges = json!({
        "a": { "train": [{ "input": [[1, 2]], "output": [[2, 1]] }], "test": [{ "input": [[3, 4]] }] },
        "b": { "train": [{ "input": [[1, 2]], "output": [[2, 1]] }], "test": [{ "input": [[3, 4]] }] },
    });
    let solutions = json!({ "a": [[[4, 3]]] });
    folder.write("k_challenges.json", challenges.to_string());
    folder.write("k_solutions.json", solutions.to_string());
    folder.write(
        "k.py",
        [mirror_program("solve_a"), mirror_program("solve_b")].join("\n"),
    );
    let outcomes = |options: &str| {
        let (done, document) = folder.run_json(&format!(
            "--tasks k_challenges.json --programs k.py {options}"
        ));
        assert_eq!(done.code, 0, "{}", done.stderr);
        let outcome = |at: usize| document["results"][at]["pairs"][1]["outcome"].clone();
        assert_eq!(document["tasks_solved"], 2);
        [outcome(0), outcome(1)]
    };
    assert_eq!(outcomes(""), ["no_expected", "no_expected"]);
    assert_eq!(
        outcomes("--solutions k_solutions.json"),
        ["match", "no_expected"]
    );
}

#[test]
fn bounds_can_be_set() {
    let folder = folder();
    let (_, document) =
        folder.run_json("--tasks tasks/a.json --programs programs.py --max-steps 0");
    let error = "line 2: vmirror: limit exceeded: steps";
    assert_eq!(document["results"][0]["pairs"][0]["error"], error);
    folder.write(
        "long.py",
        "def solve_a(I):\n    x1 = power(vmirror, 2000000)\n    x2 = x1(I)\n    return x2\n",
    );
    let (_, document) = folder.run_json("--tasks tasks/a.json --programs long.py --timeout-ms 0");
    let error = "line 2: power: limit exceeded: time";
    assert_eq!(document["results"][0]["pairs"][0]["error"], error);
}

#[test]
fn the_built_in_programs_are_right_on_the_built_in_tasks() {
    let folder = Folder::new();
    let (done, document) = folder.run_json("--pairs 2");
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(document["tasks"].as_u64().unwrap() >= 60);
    assert_eq!(document["tasks"], document["programs"]);
    assert_eq!(document["tasks_solved"], document["tasks"]);
    assert_eq!(document["pairs_right"], document["evaluations"]);
    assert_eq!(
        document["evaluations"].as_u64(),
        document["tasks"].as_u64().map(|tasks| 2 * tasks)
    );
}

#[test]
fn runs_end_early_where_that_is_asked_for() {
    let folder = folder();
    let run = |options: &str| {
        let (done, document) = folder.run_json(&format!(
            "--tasks tasks --programs programs.py --all-pairs {options}"
        ));
        (done, document)
    };
    let (_, all) = run("");
    assert_eq!(all["evaluations"], 45);
    assert!(all.get("evaluations_skipped").is_none());

    let (done, train) = run("--train-only");
    assert_eq!(done.code, 0);
    for result in train["results"].as_array().unwrap() {
        let pairs = result["pairs"].as_array().unwrap();
        assert!(!pairs.is_empty() && pairs.iter().all(|pair| pair["split"] == "train"));
    }

    let (done, stopped) = run("--stop-after-wrong");
    assert_eq!(done.code, 0);
    let evaluations = stopped["evaluations"].as_u64().unwrap();
    let skipped = stopped["evaluations_skipped"].as_u64().unwrap();
    assert!(skipped > 0 && evaluations + skipped == 45);
    assert!(stopped.get("incomplete").is_none());
    assert_eq!(stopped["tasks_solved"], all["tasks_solved"]);
    for result in stopped["results"].as_array().unwrap() {
        let pairs = result["pairs"].as_array().unwrap();
        let (_, before) = pairs.split_last().unwrap();
        let may_go_on =
            |pair: &Value| pair["outcome"] == "match" || pair["outcome"] == "no_expected";
        assert!(before.iter().all(may_go_on));
    }

    let (done, none) = run("--time-limit 0");
    assert_eq!(done.code, 0);
    assert_eq!(
        (&none["evaluations"], &none["incomplete"]),
        (&json!(0), &json!(true))
    );
    for line in [
        "tasks solved               0 of 0 evaluated\n",
        "pairs right                0 of 0 evaluated\n",
    ] {
        assert!(done.stderr.contains(line), "{}", done.stderr);
    }
    let done = folder.run("run --tasks tasks --programs programs.py --train-only --submission s");
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("--submission"), "{}", done.stderr);
    let done = folder.run("run --tasks tasks --programs programs.py --time-limit soon");
    assert_eq!(done.code, 2);
    assert!(
        done.stderr.contains("soon: expected seconds, 0 or more"),
        "{}",
        done.stderr
    );
}
