use arc_tasks::Pair;

use super::*;

fn grid(colour: i8) -> Grid {
    Grid::filled(1, 2, colour)
}

fn submission() -> Submission {
    let pair = |a, b| [grid(a), grid(b)];
    Submission {
        tasks: vec![
            ("a".into(), vec![pair(1, 2), pair(3, 4)]),
            ("b\"<".into(), vec![pair(5, 6)]),
            ("x".into(), vec![]),
        ],
    }
}

/// The same as written in a file.
fn submitted() -> Submitted {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("submission.json");
    let mut text = Vec::new();
    submission().write(&mut text).unwrap();
    std::fs::write(&file, text).unwrap();
    Submitted::read(&file)
}

fn read(text: &str) -> Result<Submission, String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("submission.json");
    std::fs::write(&file, text).unwrap();
    let read = Submission::read(&file).map_err(|error| error.to_string());
    read.map_err(|error| error.rsplit_once('/').map_or("", |it| it.1).to_owned())
}

#[test]
fn what_is_written_is_read() {
    for submission in [submission(), Submission::default()] {
        let mut text = Vec::new();
        submission.write(&mut text).unwrap();
        assert_eq!(read(std::str::from_utf8(&text).unwrap()), Ok(submission));
    }
    let mut text = Vec::new();
    submission().write(&mut text).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&text).unwrap();
    assert_eq!(json["a"][1]["attempt_2"], serde_json::json!([[4, 4]]));
}

#[test]
fn errors_say_where_and_what() {
    for (text, error) in [
        (
            "7",
            "submission.json:1:1: expected a submission: an object that holds for each task a list of \
             attempts, found integer `7`",
        ),
        (
            "{\"a\": [{\"attempt_1\": [[1]]}]}",
            "submission.json:1:8: a[0]: no `attempt_2`: it counts as wrong",
        ),
        (
            "{\"a\": [{\"attempt_1\": [[1]],\n\"attempt_2\": [[1, \"x\"]]}]}",
            "submission.json:2:19: a[0].attempt_2[0][1]: expected a colour: an integer from -128 to 127, found string \"x\"",
        ),
        (
            "{\"a\": []}}",
            "submission.json:1:10: broken JSON: expected nothing more behind the value, found `}`",
        ),
        (
            "{\"a\": [], \"b\": [], \"a\": []}",
            "submission.json:1:25: a: the id stands here a second time: expected each once",
        ),
    ] {
        assert_eq!(read(text), Err(error.to_owned()), "{text}");
    }
    let rows = read("{\"a\": [{\"attempt_1\": [[1, 2], [3]], \"attempt_2\": [[1]]}]}").unwrap_err();
    assert!(rows.contains("a[0].attempt_1"), "{rows}");
}

#[test]
fn one_of_both_attempts_has_to_be_right() {
    let task = |id: &str, outputs: &[i8]| Task {
        id: id.into(),
        train: vec![],
        test: outputs
            .iter()
            .map(|it| Pair::new(grid(0), grid(*it)))
            .collect(),
        ..Task::default()
    };
    // One of two; the second attempt; missing; more test inputs than attempts.
    let tasks = [
        task("a", &[2, 5]),
        task("b\"<", &[6]),
        task("c", &[1]),
        task("x", &[1]),
    ];
    let score = submitted().score(&KnownOutputs::of_tasks(&tasks));
    assert_eq!(score.outputs(), (2, 5));
    assert_eq!(score.tasks_right(), 1);
    assert!((score.ratio() - 0.4).abs() < 1e-12);
    assert!((score.mean_by_task() - 0.375).abs() < 1e-12);
    assert_eq!(score.tasks[2].attempted, None);
    assert_eq!(score.tasks[3].attempted, Some(0));
    assert!(score.unknown.is_empty());
    let score = submitted().score(&KnownOutputs::of_tasks(&tasks[..1]));
    assert_eq!(score.unknown, ["b\"<", "x"]);
    // Tasks with an unknown output do not count.
    let mut unknown = task("a", &[1, 2]);
    unknown.test[1].output = None;
    assert!(KnownOutputs::of_tasks(&[unknown]).is_empty());
    let nothing = SubmissionScore::default();
    assert!(nothing.mean_by_task().abs() < 1e-12 && nothing.ratio().abs() < 1e-12);
}
