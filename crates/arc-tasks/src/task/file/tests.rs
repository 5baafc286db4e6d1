use arc_dsl::Grid;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::task::MAX_CELLS;

mod programs;
mod rows;

fn error(text: &str) -> String {
    Task::from_json("id", text.as_bytes())
        .unwrap_err()
        .to_string()
}

/// The error of a task whose first training input is this.
fn grid_error(grid: &str) -> String {
    error(&format!(
        "{{\"train\": [{{\"input\":\n{grid}}}], \"test\": []}}"
    ))
}

#[test]
fn a_task_is_read_with_keys_it_does_not_know() {
    let text = r#"{"name": {"a": [1]}, "test": [{"input": [[0]]}, {"output": null, "input": [[5, 6]]}],
        "train": [{"output": [[1, 2], [3, 4]], "note": "x", "input": [[9]]}]}"#;
    let task = Task::from_json("x", text.as_bytes()).unwrap();
    assert_eq!(
        (task.id.as_str(), task.train.len(), task.test.len()),
        ("x", 1, 2)
    );
    assert_eq!(
        task.train[0].output.as_ref().unwrap().to_string(),
        "((1, 2), (3, 4))"
    );
    assert_eq!(task.test[1].input.to_string(), "((5, 6),)");
    assert_eq!(task.test[1].output, None);
    assert!(Task::from_json("x", format!("\u{feff}{text}").as_bytes()).is_ok());
}

#[test]
fn bad_grids_are_told_by_place_and_what_was_expected() {
    assert_eq!(
        grid_error("[[1, 2, 3, 4],\n[1, 2, 3, 4],\n[1, 2, 3]]"),
        "line 4, column 1, train[0].input[2]: row of 3 cells where row 0 has 4: \
         the rows of a grid are equally long"
    );
    assert_eq!(
        grid_error("[[1, 128]]"),
        "line 2, column 6, train[0].input[0][1]: colour 128: expected -128 to 127"
    );
    assert_eq!(
        grid_error("[[-129]]"),
        "line 2, column 3, train[0].input[0][0]: colour -129: expected -128 to 127"
    );
    assert_eq!(
        grid_error("[[1.5]]"),
        "line 2, column 3, train[0].input[0][0]: expected a colour: \
         an integer from -128 to 127, found number `1.5`"
    );
    assert_eq!(
        grid_error("[\"x2\"]"),
        "line 2, column 2, train[0].input[0]: expected a row: \
         a list of colours, found string \"x2\""
    );
    assert_eq!(
        grid_error("[]"),
        "line 2, column 1, train[0].input: grid of 0 rows: expected 1 at least"
    );
    assert_eq!(
        grid_error("[[1], []]"),
        "line 2, column 7, train[0].input[1]: row of 0 cells: expected 1 at least"
    );
    let row = format!("[{}]", vec!["0"; MAX_CELLS + 1].join(","));
    assert_eq!(
        grid_error(&format!("[{row}]")),
        "line 2, column 2, train[0].input[0]: grid of more than 1000000 cells: \
         expected 1000000 at most"
    );
    let largest = format!(
        "[{}]",
        vec![format!("[{}]", ["7"; 31].join(",")); 45].join(",")
    );
    let text = format!("{{\"train\": [{{\"input\": {largest}}}], \"test\": []}}");
    let task = Task::from_json("x", text.as_bytes()).unwrap();
    assert_eq!(*task.train[0].input, Grid::filled(45, 31, 7));
}

#[test]
fn numbers_that_are_no_colours_are_told_as_they_were_written() {
    for written in ["1e+32", "1.5", "-0.5", "100000000000000000000", "1E3"] {
        let expected = format!(
            "line 2, column 5, train[0].input[0][1]: expected a colour: \
             an integer from -128 to 127, found number `{written}`"
        );
        assert_eq!(grid_error(&format!("[[0,{written}]]")), expected);
    }
    let broken = |written: &str| grid_error(&format!("[[3], [{written}]]"));
    let found = |text: &str, end: &str| {
        assert!(text.ends_with(end), "{text}");
    };
    found(
        &broken("007"),
        "invalid number `007`: expected no leading zeros",
    );
    found(
        &broken("-01"),
        "invalid number `-01`: expected no leading zeros",
    );
    found(
        &broken("00"),
        "invalid number `00`: expected no leading zeros",
    );
    found(&broken("1."), "invalid number `1.`: expected more digits");
    found(&broken("-"), "invalid number `-`: expected more digits");
    found(
        &broken("1e999"),
        "number out of range `1e999`: expected an integer from -128 to 127",
    );
    let two = error("{\"train\": [{\"input\": [[1,\n2, -0.1]]}]}");
    found(&two, "found number `-0.1`");
    found(
        &broken("NaN"),
        "found `NaN`, which Python writes and JSON lacks: expected a number or null",
    );
    found(
        &broken("-Infinity"),
        "found `Infinity`, which Python writes and JSON lacks: expected a number or null",
    );
}

#[test]
fn a_misspelt_key_of_a_pair_is_no_unknown_output() {
    assert_eq!(
        error("{\"train\": [{\"Input\": [[1]]}]}"),
        "line 1, column 12, train[0]: expected the key `input` with a grid, found `Input`"
    );
    assert_eq!(
        error("{\"id\": \"a\", \"train\": [{\"Input\": [[1]], \"Output\": [[1]]}]}"),
        "line 1, column 23, train[0]: expected the key `input` with a grid, found `Input`"
    );
    for key in ["ouput", "outputs", "Output"] {
        let pair = format!("{{\"input\": [[1]], \"{key}\": [[1]]}}");
        assert_eq!(
            error(&format!("{{\"train\": [], \"test\": [{pair}]}}")),
            format!("line 1, column 24, test[0]: expected the key `output`, found `{key}`")
        );
        // Beside an output it is a key like any other.
        let both = pair.replacen("[[1]]", "[[1]], \"output\": [[2]]", 1);
        let text = format!("{{\"train\": [], \"test\": [{both}]}}");
        assert!(Task::from_json("a", text.as_bytes()).is_ok());
    }
}

#[test]
fn bad_tasks_are_told_by_place_and_what_was_expected() {
    assert_eq!(
        error("{\"test\": [], \"x\": 1}"),
        "line 1, column 1: expected the key `train` with a list of pairs, found the keys `test`, `x`"
    );
    assert_eq!(
        error("{\"train\": [{\"output\": [[1]]}]}"),
        "line 1, column 12, train[0]: expected the key `input` with a grid"
    );
    assert_eq!(
        error("{\"train\": [], \"train\": []}"),
        "line 1, column 24, train: the key `train` stands here twice"
    );
    assert_eq!(
        error("{\"train\": {}}"),
        "line 1, column 11, train: expected a list of pairs, found an object"
    );
    assert_eq!(
        error("[1]"),
        "line 1, column 1: expected a task: an object with the keys `train` and `test`, \
         found a list of something else than pairs and tasks"
    );
    assert_eq!(
        error("{\"train\": [{\"input\": [[1, 2"),
        "line 1, column 27, train[0].input[0]: broken JSON: it ends within a list, and the rest is missing"
    );
    assert_eq!(
        error("{\"train\": [], \"test\": []} x"),
        "line 1, column 27: broken JSON: expected nothing more behind the value, found `x`"
    );
    assert_eq!(error(""), "line 1, column 1: empty: expected JSON");
    for (text, message) in [
        ("\n \n", "nothing but blanks"),
        ("// a\n{}", "found a comment, which JSON lacks"),
        (
            "{\"train\": [], # a\n\"test\": []}",
            "found a comment, which JSON lacks",
        ),
        (
            "{'train': []}",
            "expected a key in double quotes, found `'`",
        ),
        (
            "{\"train\": [],}",
            "a comma behind the last element, which JSON lacks",
        ),
        (
            "{\"train\": [{\"input\": [[1,]]}]}",
            "a comma behind the last element, which JSON lacks",
        ),
        ("{\"train\": nil}", "expected a value"),
        (
            "{\"train",
            "it ends within a string, and the rest is missing",
        ),
        (
            "{\"a\nb\": 1}",
            "a string with a line break or another control character",
        ),
    ] {
        let found = error(text);
        assert!(found.contains(message), "{text}: {found}");
    }
    let long = error(&format!("{{\"train\": \"{}\"}}", "x".repeat(100_000)));
    assert!(
        long.contains("found string \"xxx") && long.ends_with("xx..") && long.len() < 200,
        "{long}"
    );
    let deep = error(&"[".repeat(10_000));
    assert!(
        deep.len() < 300 && deep.ends_with("lists and objects in each other, more than 127 deep"),
        "{deep}"
    );
    let error = Task::from_json("x", b"{\n\"a\xff\"}").unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 2, column 3: not UTF-8 text: byte 0xff"
    );
    for text in [&b"{\0\"\0"[..], b"\xff\xfe{\0", b"\0{\0\""] {
        let error = Task::from_json("x", text).unwrap_err();
        assert_eq!(error.message, "UTF-16 text: expected UTF-8");
    }
    for text in [
        &b"{\0\0\0\"\0\0\0"[..],
        b"\0\0\0{\0\0\0\"",
        b"\xff\xfe\0\0{\0\0\0",
        b"\0\0\xfe\xff\0\0\0{",
    ] {
        let error = Task::from_json("x", text).unwrap_err();
        assert_eq!(error.message, "UTF-32 text: expected UTF-8");
        assert!(crate::task::text::wide_text(text).is_some());
    }
    assert_eq!(crate::task::text::wide_text(b"{}"), None);
}

/// The contents of a file: its form, its tasks with the number of pairs by split, and its errors.
fn read(name: &str, text: &str) -> (FileForm, Vec<String>, Vec<String>) {
    let file = TaskFile::read(name, text.as_bytes());
    let tasks = file.tasks.iter().map(|FileTask { task, is_bare, .. }| {
        let splits = task
            .splits()
            .map(|(split, pairs)| format!(" {} {}", task.split_name(split), pairs.len()));
        let bare = if *is_bare { " bare" } else { "" };
        format!("{}:{}{bare}", task.id, splits.collect::<String>())
    });
    (file.form, tasks.collect(), messages(&file.errors))
}

const PAIRS: &str = r#"[{"input": [[1]], "output": [[2]]}, {"input": [[3]]}]"#;

fn task() -> String {
    format!("{{\"train\": {PAIRS}, \"test\": {PAIRS}}}")
}

#[test]
fn every_layout_is_known_by_its_structure() {
    let check = |name: &str, text: String, expected: &[&str]| {
        let expected: Vec<_> = expected.iter().map(|it| (*it).to_owned()).collect();
        assert_eq!(
            read(name, &text),
            (FileForm::Tasks, expected, vec![]),
            "{text}"
        );
    };
    let (task, one) = (task(), "train 2 test 2");
    check("a1", task.clone(), &[&format!("a1: {one}")]);
    check("a1", PAIRS.to_owned(), &["a1: train 2 test 0 bare"]);
    check(
        "all",
        format!("{{\"a1\": {task}, \"b2\": {PAIRS}}}"),
        &[&format!("a1: {one}"), "b2: train 2 test 0 bare"],
    );
    check(
        "all",
        format!("{{\"train\": {{\"a1\": {task}}}, \"eval\": {{\"b2\": {task}}}}}"),
        &[&format!("a1: {one}"), &format!("b2: {one}")],
    );
    let named = task.replacen('{', "{\"task_id\": \"c3\", ", 1);
    check(
        "all",
        format!("[{named}, {task}]"),
        &[&format!("c3: {one}"), &format!("all_1: {one}")],
    );
    check(
        "all",
        format!("{named}\n\n{task}\n"),
        &[&format!("c3: {one}"), &format!("all_1: {one}")],
    );
    check(
        "a1",
        format!("{{\"train\": {PAIRS}, \"arc-gen\": {PAIRS}, \"tags\": [\"x\"], \"more\": []}}"),
        &["a1: train 2 test 0 arc-gen 2"],
    );
    check(
        "a1",
        format!("{{\"train\": {PAIRS}, \"test\": null}}"),
        &["a1: train 2 test 0"],
    );
    // Under keys that are no ids, beside what is no task.
    for wrapped in [
        format!("{{\"version\": \"1\", \"tasks\": {{\"a1\": {task}}}, \"source\": {{\"x\": 1}}}}"),
        format!("{{\"id\": \"a1\", \"task\": {task}}}"),
        format!("{{\"task_id\": \"a1\", \"split\": \"training\", \"problem\": {task}}}"),
        format!("[{{\"id\": \"a1\", \"arc\": {task}}}]"),
        format!(
            "{{\"tasks\": [{}]}}",
            task.replacen('{', "{\"id\": \"a1\", ", 1)
        ),
        format!("[{{\"metadata\": {{\"id\": \"a1\"}}, {}]", &task[1..]),
        format!("{{\"training\": {{\"challenges\": {{\"a1\": {task}}}}}}}"),
    ] {
        check("all", wrapped, &[&format!("a1: {one}")]);
    }
    check(
        "a1",
        format!("{{\"task\": {task}}}"),
        &[&format!("a1: {one}")],
    );
    for [train, test] in [["train", "test"], ["training", "evaluation"]] {
        check(
            "all",
            format!(
                "{{\"{train}\": [{named}], \"{test}\": [{task}, {{\"id\": \"d4\", \"data\": {task}}}]}}"
            ),
            &[
                &format!("c3: {one}"),
                &format!("{test}_0: {one}"),
                &format!("d4: {one}"),
            ],
        );
    }
    // Only an id of the ARC data is one without its folder.
    for (id, known) in [
        ("training/007bbfb7", "007bbfb7"),
        ("data/training/007bbfb7.json", "007bbfb7"),
        ("easy/7", "easy/7"),
    ] {
        check(
            "all",
            format!("{{\"{id}\": {task}}}"),
            &[&format!("{known}: {one}")],
        );
        let named = task.replacen('{', &format!("{{\"id\": \"{id}\", "), 1);
        check(
            "all",
            format!("{named}\n{task}\n"),
            &[&format!("{known}: {one}"), &format!("all_1: {one}")],
        );
    }
    check(
        "0",
        format!(
            "{{\"training_examples\": {PAIRS}, \"test_examples\": {PAIRS}, \"task_key\": \"d4\"}}"
        ),
        &[&format!("d4: {one}")],
    );
}

#[test]
fn a_task_says_its_id_where_the_name_of_the_file_says_less() {
    let named = task().replacen('{', "{\"name\": \"67385a82.json\", ", 1);
    for (name, id) in [
        ("12", "67385a82"),
        ("task_7", "67385a82"),
        ("task", "67385a82"),
        ("67385082", "67385082"),
        ("a1", "a1"),
        ("row_swap_7", "row_swap_7"),
    ] {
        let file = TaskFile::read(name, named.as_bytes());
        assert_eq!(file.tasks[0].task.id, id, "{name}");
    }
    let no_id = task().replacen('{', "{\"name\": \"mirror, then turn\", ", 1);
    let file = TaskFile::read("12", no_id.as_bytes());
    assert_eq!(file.tasks[0].task.id, "12");
}

#[test]
fn what_is_no_task_is_told_with_what_it_seems_to_be() {
    let check = |text: &str, form: FileForm, found: &str| {
        let expected = format!(
            "line 1, column 1: expected a task: an object with the keys `train` and `test`, found {found}"
        );
        assert_eq!(read("a1", text), (form, vec![], vec![expected]), "{text}");
    };
    check(
        r#"{"training_examples": [{"input": [[1]]}], "test_examples": []}"#,
        FileForm::Other,
        "the keys `training_examples`, `test_examples`",
    );
    check(
        r#"{"a": [{"attempt_1": [[0]], "attempt_2": [[0]]}]}"#,
        FileForm::Submission,
        "a submission: attempts by task",
    );
    check(
        r#"{"name": "x", "version": "1.0", "dependencies": {"y": "2"}}"#,
        FileForm::Foreign,
        "a package.json, with the keys `name`, `version`, `dependencies`",
    );
    check(
        r#"{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6, "g": 7}"#,
        FileForm::Foreign,
        "the keys `a`, `b`, `c`, `d`, `e`, `f` and 1 more",
    );
    check("{}", FileForm::Foreign, "an empty object");
    check("[]", FileForm::Foreign, "an empty list");
    check(
        "[[[1]]]",
        FileForm::Foreign,
        "a list of lists, as grids are",
    );
    check(
        r#"{"input": [[1]], "output": [[1]]}"#,
        FileForm::Other,
        "a pair alone, with the keys `input`, `output`",
    );
    check("7", FileForm::Other, "integer `7`");
    let (form, tasks, errors) = read("a1", r#"{"a": [[[1]]], "b": [[[2]], [[3]]]}"#);
    assert_eq!(
        (form, tasks.len(), errors.len()),
        (FileForm::Solutions, 0, 0)
    );
}

#[test]
fn a_bad_pair_does_not_lose_its_task() {
    let text = r#"{"train": [{"input": [[1]], "output": [["x"]]}, {"input": [[1]], "output": [[1]]}, 5],
 "test": [{"input": [[]]}, {"input": [[2]], "output": []}]}"#;
    let (form, tasks, errors) = read("a1", text);
    assert_eq!(
        (form, tasks),
        (FileForm::Tasks, vec!["a1: train 1 test 1".to_owned()])
    );
    assert_eq!(
        errors,
        [
            "line 1, column 41, train[0].output[0][0]: expected a colour: an integer from -128 to 127, \
             found string \"x\"",
            "line 1, column 84, train[2]: expected a pair: an object with the key `input` and, where it is \
             known, `output`, found integer `5`",
            "line 2, column 22, test[0].input[0]: row of 0 cells: expected 1 at least",
        ]
    );
    let file = TaskFile::read("a1", text.as_bytes());
    assert_eq!(file.tasks[0].task.tests_left_out, [0]);
    assert_eq!(file.tasks[0].task.test[0].output, None);
    // A task without any valid pair is dropped.
    let (_, tasks, errors) = read("a1", r#"{"train": [{"input": 5}], "test": []}"#);
    assert_eq!((tasks.len(), errors.len()), (0, 1));
}

#[test]
fn strings_that_hold_json_are_read_as_it() {
    let pairs = serde_json::to_string(&format!(" {}", PAIRS.replace(' ', "\n"))).unwrap();
    let row = |id: &str| {
        format!("{{\"id\": \"{id}\", \"train\": {pairs}, \"test\" : {pairs}, \"x\": \"[\"}}\n")
    };
    let (_, tasks, errors) = read("rows", &(row("a1") + &row("b2")));
    assert_eq!(
        tasks,
        ["a1: train 2 test 2", "b2: train 2 test 2"],
        "{errors:?}"
    );
    let bad = row("b2").replacen("[[1]]", "[[1.5]]", 1);
    let (_, tasks, errors) = read("rows", &(row("a1") + &bad));
    assert_eq!(tasks, ["a1: train 2 test 2", "b2: train 1 test 2"]);
    assert!(errors[0].starts_with("line 2, column "), "{errors:?}");
    assert!(errors[0].contains("train[0].input[0][0]"), "{errors:?}");
    // A model's answer may be JSON.
    let answer = r#"{"code": "O = vmirror(I)"}"#;
    let text = json!({ "id": "a1", "response": answer }).to_string();
    assert_eq!(
        TaskFile::read("all", text.as_bytes()).programs[0].text,
        answer
    );
}

#[test]
fn what_is_told_of_a_file_is_bounded_however_long_it_is() {
    let digits = "9".repeat(5_000_000);
    for cell in [
        digits.clone(),
        format!("-{digits}"),
        format!("0{digits}"),
        format!("{digits}e"),
        format!("0.5{digits}"),
    ] {
        let told = grid_error(&format!("[[1, {cell}]]"));
        assert!(told.len() < 300, "{} bytes", told.len());
    }
    let file = TaskFile::read(
        "all",
        format!("{{\"{digits}\": [{{\"input\": 5}}]}}").as_bytes(),
    );
    assert!(file.errors[0].to_string().len() < 500);
}

const CHALLENGES: &str = r#"{
    "aaaa0000": {"train": [{"input": [[1]], "output": [[2]]}], "test": [{"input": [[3]]}]},
    "bbbb0000": {"train": [],
        "test": [{"input": [[3], [444]]}]},
    "aaaa0000": {"train": [], "test": []},
    "cccc0000": {"train": [], "test": [{"input": [[5]]}, {"input": [[6]]}]}}"#;

fn messages(errors: &[TaskError]) -> Vec<String> {
    errors.iter().map(TaskError::to_string).collect()
}

#[test]
fn a_bad_challenge_does_not_stop_the_others() {
    let challenges = TaskFile::read("all", CHALLENGES.as_bytes());
    let ids: Vec<_> = challenges
        .tasks
        .iter()
        .map(|task| task.task.id.as_str())
        .collect();
    assert_eq!(ids, ["aaaa0000", "cccc0000"]);
    assert_eq!(
        messages(&challenges.errors),
        [
            "line 4, column 35, bbbb0000.test[0].input[1][0]: colour 444: expected -128 to 127",
            "line 5, column 17, aaaa0000: the id stands here a second time; the first task is used",
        ]
    );
    assert_eq!(challenges.errors[0].task.as_deref(), Some("bbbb0000"));
}

#[test]
fn challenges_before_broken_json_are_read() {
    let cut = &CHALLENGES[..CHALLENGES.len() - 9];
    let challenges = TaskFile::read("all", cut.as_bytes());
    assert_eq!(challenges.tasks.len(), 1);
    assert!(
        challenges.errors[0]
            .to_string()
            .starts_with("line 6, column 67, cccc0000.test[1]"),
        "{}",
        challenges.errors[0]
    );
}

/// If lines were counted from the start for each task, this would take minutes.
#[test]
fn many_challenges_are_gone_through_once() {
    const TASKS: usize = 50_000;
    for separator in [",", ",\n", ",\n  \n "] {
        let task = |at| format!("\"{at:08x}\": {{\"train\": [], \"test\": []}}{separator}");
        let tasks: Vec<_> = (0..TASKS).map(task).collect();
        let mut text = "{".to_owned() + &tasks.concat();
        let (lines, bytes) = (text.matches('\n').count(), text.len());
        let column = bytes - text.rfind('\n').map_or(0, |at| at + 1) + 1;
        text += "\"bad\": {\"train\": [7], \"test\": []}}";
        let challenges = TaskFile::read("all", text.as_bytes());
        assert_eq!(challenges.tasks.len(), TASKS);
        let [error] = challenges.errors.as_slice() else {
            panic!("{:?}", challenges.errors)
        };
        let before = "\"bad\": {\"train\": [".len();
        assert_eq!((error.line, error.column), (lines + 1, column + before));
    }
}

#[test]
fn solutions_are_given_to_their_tasks() {
    let TaskFile { tasks, errors, .. } = TaskFile::read("all", CHALLENGES.as_bytes());
    let mut tasks: Vec<_> = tasks.into_iter().map(|task| task.task).collect();
    let rejected = errors.into_iter().filter_map(|error| error.task).collect();
    let text = br#"{"aaaa0000": [[[7, 7]]],
            "bbbb0000": [[[1]]],
            "cccc0000": [[[1]]],
            "dddd0000": [[[1]]],
            "aaaa0000": [[[8]]],
            "eeee0000": [[[1], [1, 2]]]}"#;
    let solutions = Solutions::from_json(text);
    assert_eq!(
        messages(&solutions.errors),
        [
            "line 5, column 25, aaaa0000: the id stands here a second time; the first solution is used",
            "line 6, column 32, eeee0000[0][1]: row of 2 cells where row 0 has 1: \
             the rows of a grid are equally long",
        ]
    );
    let errors = solutions.apply(&mut tasks, &rejected);
    assert_eq!(
        messages(&errors),
        [
            "line 3, column 25, cccc0000: expected 2 outputs, one for each test pair of \
             the task, found 1",
        ]
    );
    assert_eq!(
        tasks[0].test[0].output.as_ref().unwrap().to_string(),
        "((7, 7),)"
    );
    assert_eq!(tasks[1].test[0].output, None);
    let other = Solutions::from_json(br#"{"aaaa0000": [[[7, 8]]]}"#);
    assert_eq!(
        messages(&other.apply(&mut tasks, &HashSet::new())),
        [
            "line 1, column 14, aaaa0000[0]: differs from the output that the task has, which is used"
        ]
    );
}

#[test]
fn the_solution_of_one_test_pair_may_be_the_grid_itself() {
    let text = br#"{"007bbfb7": [[7, 8]], "00d62c1b": [[[1]], [[2]]]}"#;
    for (name, text) in [
        ("x", &text[..]),
        (
            "arc_solutions",
            &br#"{"a": [[7, 8]], "b": [[[1]], [[2]]]}"#[..],
        ),
    ] {
        let file = TaskFile::read(name, text);
        assert_eq!(file.form, FileForm::Solutions);
        let outputs = file.solutions.solutions.iter();
        let sizes: Vec<_> = outputs
            .map(|it| (it.outputs.len(), it.outputs[0].width()))
            .collect();
        assert_eq!(sizes, [(1, 2), (2, 1)]);
    }
    // Of what a pair or a grid has as its parts nothing is known.
    let file = TaskFile::read("x", br#"{"a": [[7, 8]], "b": [[1]]}"#);
    assert_ne!(file.form, FileForm::Solutions);
}

#[test]
fn solutions_of_other_tasks_are_wrong_where_there_are_no_others() {
    let mut tasks = [Task {
        id: "aaaa0000".to_owned(),
        ..Task::default()
    }];
    for (text, expected) in [
        (r#"{"bbbb0000": [[[1]]], "aaaa0000": [], "c": []}"#, None),
        ("{}", None),
        (r#"{"b": [[[1]]]}"#, Some("")),
        (r#"{"b": [[[1]]], "c": []}"#, Some(", like the other one")),
        (
            r#"{"b": [], "c": [], "d": []}"#,
            Some(", like the 2 others"),
        ),
    ] {
        let errors = Solutions::from_json(text.as_bytes()).apply(&mut tasks, &HashSet::new());
        let expected = expected.map(|more| {
            format!("line 1, column 7, b: a solution for a task that is not among the tasks{more}")
        });
        assert_eq!(messages(&errors), Vec::from_iter(expected), "{text}");
    }
}

/// Text that is almost JSON, so that parsing gets past the first character.
fn scraps() -> impl Strategy<Value = String> {
    let scrap = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"train\"",
        "\"test\"",
        "\"input\"",
        "\"output\"",
        "1",
        "10",
        "-1",
        "1e999",
        "null",
        "true",
        "\"\\ud800\"",
        "\n",
        "[[1]]",
        "\u{e9}",
        "{\"train\": [{\"input\": [[",
        "]]}], \"test\": []}",
    ]);
    prop::collection::vec(scrap, 0..12).prop_map(|scraps| scraps.concat())
}

fn read_in_every_way(text: &[u8]) {
    let _ = Task::from_json("id", text);
    let file = TaskFile::read("id", text);
    let mut tasks: Vec<_> = file.tasks.into_iter().map(|task| task.task).collect();
    Solutions::from_json(text).apply(&mut tasks, &HashSet::new());
    let _ = crate::task::SubmissionFile::read("id", text);
}

proptest! {
    #[test]
    fn arbitrary_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        read_in_every_way(&bytes);
    }

    #[test]
    fn scraps_of_json_are_read_or_refused(text in scraps()) {
        read_in_every_way(text.as_bytes());
    }

    #[test]
    fn a_grid_is_read_as_it_was_written(
        (height, width, cells) in (1..=40usize, 1..=40usize).prop_flat_map(|(height, width)| {
            let cells = prop::collection::vec(any::<i8>(), height * width);
            (Just(height), Just(width), cells)
        })
    ) {
        let grid = Grid::from_cells(height, width, cells);
        let rows: Vec<_> = grid.rows().collect();
        let text = serde_json::json!({ "train": [{ "input": rows }], "test": [] }).to_string();
        let task = Task::from_json("id", text.as_bytes()).unwrap();
        prop_assert_eq!(&*task.train[0].input, &grid);
    }
}
