//! `mega-batch batt`, and programs of the typed dialect.

use serde_json::{Value, json};

use super::support::{Done, Folder, mirror_program, mirror_task};

/// A batt with this body.
fn batt(body: &str) -> String {
    let head = "def batt(task_id, S, I, C, log_path):\n    s = []\n    o = []\n";
    let lines = body.lines().map(|line| format!("    {line}\n"));
    format!("{head}{}    return o, s\n", lines.collect::<String>())
}

/// Runs the command with these words as arguments and reads the document.
fn batt_json(folder: &Folder, arguments: &str) -> (Done, Value) {
    let done = folder.run(&format!("batt {arguments} --quiet --json -"));
    let document = serde_json::from_str(&done.stdout)
        .unwrap_or_else(|error| panic!("{error}\n{}\n{}", done.stdout, done.stderr));
    (done, document)
}

/// A guarded step.
fn step(target: &str, callee: &str, arguments: &str) -> String {
    format!(
        "try:\n    {target} = {callee}({arguments})\n\
         except (TypeError, AttributeError, ValueError, IndexError, KeyError):\n    \
         {target} = _get_safe_default({callee})\n"
    )
}

#[test]
fn both_lists_are_told_by_pair() {
    let folder = Folder::new();
    let body = [
        step("t1", "vmirror_t", "I"),
        "o.append((1, False, 'good', t1))\n".to_owned(),
        step("t2", "cellwise", "t1, C, NEG_ONE"),
        step("t3", "f_ofcolor", "t2, NEG_ONE"),
        step("t4", "t3", "I"),
        "s.append((3, 'good', 'differ_a', t3))\n".to_owned(),
        "s.append((4, 'good', 'differ_b', t4))\n".to_owned(),
    ];
    folder
        .write("good.json", mirror_task())
        .write("batts/a.py", batt(&body.concat()))
        .write("batts/a_call.py", "t_call = {1: 'vmirror_t, I'}\n");
    let (done, document) = batt_json(&folder, "batts --tasks good.json --submission sub.json");
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    let submission = std::fs::read(folder.path().join("sub.json")).unwrap();
    let submission: Value = serde_json::from_slice(&submission).unwrap();
    let attempts = json!({ "attempt_1": [[4, 3]], "attempt_2": [[3, 4]] });
    assert_eq!(submission, json!({ "good": [attempts] }));
    let batt = &document["batts"][0];
    assert_eq!(
        [&batt["steps"], &batt["candidates"], &batt["measures"]],
        [&json!(4), &json!(1), &json!(2)]
    );
    let pair = &batt["tasks"][0]["pairs"][0];
    assert_eq!(pair["split"], "train");
    assert_eq!(pair["o"][0]["right"], true);
    assert_eq!(pair["o"][0]["id"], "good");
    // Without an expected output there is nothing to compare cell by cell.
    assert_ne!(pair["s"][0]["value"], "frozenset()");
    assert_eq!(pair["with_expected"]["s"][0]["value"], "frozenset()");
    // A set is not a function that can be called.
    assert_eq!(pair["s"][1]["value"], "()");
    let test = batt["tasks"][0]["pairs"]
        .as_array()
        .unwrap()
        .last()
        .unwrap();
    assert_eq!(test["split"], "test");
    assert_eq!(test.get("with_expected"), None);
    let printed = folder.run("batt batts/a.py --tasks good.json");
    assert!(
        printed.stdout.contains("good by t1\n"),
        "{}",
        printed.stdout
    );
}

#[test]
fn without_try_a_step_that_fails_ends_the_batt_on_that_pair() {
    let folder = Folder::new();
    folder.write("good.json", mirror_task()).write(
        "a.py",
        batt("t1 = identity(I)\nt2 = t1(I)\no.append((2, True, 'a', t2))\n"),
    );
    let (done, document) = batt_json(&folder, "a.py --tasks good.json");
    assert_eq!(done.code, 0);
    let pair = &document["batts"][0]["tasks"][0]["pairs"][0];
    let error = "line 5: expected a function to call, found a grid";
    assert_eq!(pair["error"], error);
    assert_eq!(pair["with_expected"]["error"], error);
}

#[test]
fn a_bound_is_told_in_the_place_of_the_value() {
    let folder = Folder::new();
    let body = "t1 = interval(0, 1000, 1)\nt2 = product(t1, t1)\nt3 = product(t2, t2)\n\
                o.append((3, True, 'a', t3))\no.append((4, True, 'a', I))\n";
    folder
        .write("good.json", mirror_task())
        .write("a.py", batt(body));
    let (_, document) = batt_json(&folder, "a.py --tasks good.json");
    let outputs = &document["batts"][0]["tasks"][0]["pairs"][0]["o"];
    let error = outputs[0]["error"].as_str().unwrap();
    assert!(error.starts_with("line 6: "), "{error}");
    assert!(error.contains("limit exceeded"), "{error}");
    assert!(outputs[1]["value"].is_string());
}

/// Checks that a batt is rejected with this line, and that the good one is still run.
#[track_caller]
fn refused(text: &str, expected: &str) {
    let folder = Folder::new();
    folder
        .write("good.json", mirror_task())
        .write("bad.py", text)
        .write(
            "good.py",
            batt("t1 = vmirror_t(I)\no.append((1, False, 'good', t1))\n"),
        );
    let (done, document) = batt_json(&folder, "bad.py good.py --tasks good.json");
    assert_eq!(done.stderr, format!("bad.py:{expected}\n"));
    assert_eq!(done.code, 2);
    assert_eq!(document["input_errors"].as_array().unwrap().len(), 1);
    assert_eq!(document["batts"].as_array().map(Vec::len), Some(1));
}

#[test]
fn broken_batts_are_told_where_and_what() {
    refused(
        "",
        "1:1: expected `def batt(task_id, S, I, C, log_path):`, found no function",
    );
    refused(
        &mirror_program("solve_a"),
        "1:5: expected `batt`, found `solve_a`",
    );
    refused(
        "def batt(task_id, S, I):\n    return o, s\n",
        "1:9: expected the parameters `(task_id, S, I, C, log_path)`, found `(task_id, S, I)`",
    );
    refused(
        &batt("t1 = hmirorr_t(I)"),
        "4:10: unknown primitive `hmirorr_t`, did you mean `hmirror_t`?",
    );
    refused(
        &batt("t1 = hmirror_t(t2)\nt2 = hmirror_t(I)"),
        "4:20: `t2` is used before it is set on line 5",
    );
    refused(
        &batt("t1 = hmirror_t(I)\nt1 = hmirror_t(I)"),
        "5:5: variable `t1` is assigned twice",
    );
    refused(
        &batt("try:\n    t1 = hmirror_t(I)\nt2 = hmirror_t(I)"),
        "6:5: expected `except (..):`, found `t2`",
    );
    refused(
        &batt(&step("t1", "hmirror_t", "I").replace("default(hmirror_t)", "default(vmirror_t)")),
        "7:32: expected what the step calls, found `vmirror_t`",
    );
    refused(
        &batt(&format!(
            "{}t2 = hmirror_t(I)",
            step("t1", "hmirror_t", "I")
        )),
        "8:5: expected `try:` as before the steps above, found `t2`",
    );
    refused(
        &batt("t1 = hmirror_t(I)\no.append((1, 'a', t1))"),
        "5:18: a batt of an older generation: its `o` has a name in the place of a flag, as in the \
         first ones; expected steps `tN = f(..)`, as card.py has written them since October 2025",
    );
    refused(
        &batt("t1 = hmirror_t(I)\ns.append((1, 'a', t1))"),
        "5:23: expected the name of the measure as a string, found `t1`",
    );
    refused(
        "def batt(task_id, S, I, C, log_path):\n    s = []\n    o = []\n",
        "3:11: expected `return o, s`, found the end of the program",
    );
    refused(
        &format!("{}    t1 = identity(I)\n", batt("")),
        "5:5: expected nothing more after `return`, found `t1`",
    );
}

#[test]
fn batts_of_older_generations_are_told_which_they_are() {
    let expected = "; expected steps `tN = f(..)`, as card.py has written them since October 2025";
    for (text, place) in [
        (
            batt("t1 = env.do_fluff(1, [identity, p_g]) # None - True"),
            "4:10: a batt of an older generation: its calls go through `env.do_fluff`, as until \
             September 2025",
        ),
        (
            batt("t1 = env.do_pile(1, [identity, p_g], True)"),
            "4:10: a batt of an older generation: its calls go through `env.do_pile`, as until \
             October 2025",
        ),
        (
            batt("").replace("S, I, C,", "S, I, O, C,"),
            "1:9: a batt of an older generation: it takes the expected output as `O`, as until \
             August 2025",
        ),
        (
            batt("").replace("o, s", "s, o"),
            "4:12: a batt of an older generation: it returns `s, o`, as the first ones",
        ),
    ] {
        refused(&text, &format!("{place}{expected}"));
    }
}

/// A program that fails in the public dialect, and its result in both.
const TYPED: &str = "def solve_good(S, I, C):
    x1 = apply(first_t, S)
    x2 = vmirror_t(I)
    x3 = astuple(x2, x1)
    x4 = height_f(C)
    x5 = subtract(x4, x4)
    x6 = get_nth_t(x3, x5)
    O = branch(x5, I, x6)
    return O
";

#[test]
fn programs_of_the_typed_dialect_are_recognised_or_chosen() {
    let folder = Folder::new();
    folder
        .write("good.json", mirror_task())
        .write("typed.py", TYPED)
        .write("one.py", "def solve_good(I):\n    return vmirror_t(I)\n")
        .write("batt.py", batt(""));
    let solved = |options: &str| {
        let (done, document) = folder.run_json(&format!("--tasks good.json {options} --quiet"));
        (
            done.stderr,
            document["tasks_solved"].clone(),
            document["backend"].clone(),
        )
    };
    let (stderr, tasks, backend) = solved("--programs typed.py");
    assert_eq!((stderr.as_str(), tasks), ("", json!(1)));
    let text = backend.to_string();
    assert!(text.contains("not of the public dialect"), "{text}");
    let (stderr, tasks, _) = solved("--programs one.py --dialect typed");
    assert_eq!((stderr.as_str(), tasks), ("", json!(1)));
    let (stderr, ..) = solved("--programs one.py");
    assert!(
        stderr.starts_with("one.py:2:12: unknown primitive `vmirror_t`"),
        "{stderr}"
    );
    let (stderr, ..) = solved("--programs typed.py --dialect public");
    assert_eq!(
        stderr,
        "typed.py:2:16: unknown name `first_t` in the public dialect, which the typed dialect has (`--dialect typed`)\n"
    );
    let (stderr, ..) = solved("--programs batt.py");
    assert_eq!(
        stderr,
        "batt.py:1:9: found a batt, expected programs; `mega-batch batt` runs it\n"
    );
    let done = folder.run("run --tasks good.json --dialect wrong");
    assert_eq!(done.code, 2);
    assert!(
        done.stderr.contains("expected one of public, typed"),
        "{}",
        done.stderr
    );
}

#[test]
fn a_program_without_train_pairs_goes_on_all_the_same() {
    let folder = Folder::new();
    let task: Value = serde_json::from_str(&mirror_task()).unwrap();
    let task = json!({"train": [], "test": task["test"]});
    folder
        .write("good.json", task.to_string())
        .write("typed.py", TYPED);
    let (done, document) = folder.run_json("--tasks good.json --programs typed.py --quiet");
    assert_eq!((done.code, &document["pairs_right"]), (0, &json!(1)));
}
