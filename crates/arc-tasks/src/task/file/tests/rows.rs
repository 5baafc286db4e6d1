//! Tables: tasks in rows and columns.

use super::*;

/// A task in the layouts of rows of data sets: two train pairs and one test pair.
#[test]
fn rows_may_have_their_grids_in_columns_or_in_lists() {
    let (one, two, three, four) = ("[[1, 2]]", "[[2, 1]]", "[[3, 4]]", "[[4, 3]]");
    let (question, answer) = ("[[5, 6]]", "[[6, 5]]");
    let columns = |train: &str, test: &str, many: &str| {
        format!(
            r#"{{"id": "a1", "{train}_input{many}": [{one}, {three}], "{train}_output{many}": [{two}, {four}],
"{test}_input{many}": [{question}], "{test}_output{many}": [{answer}]}}"#
        )
    };
    let of_pairs = |key: &str| {
        format!(
            r#"{{"{key}": [[{one}, {two}], [{three}, {four}]], "test": [[{question}, {answer}]]}}"#
        )
    };
    let train = format!(
        r#""train": [{{"input": {one}, "output": {two}}}, {{"input": {three}, "output": {four}}}]"#
    );
    let whole = format!(r#"{{{train}, "test": [{{"input": {question}, "output": {answer}}}]}}"#);
    let outputs_beside = |outputs: &str| {
        let test = format!(
            r#""test": [{{"input": {question}, "output": [[7]]}}, {{"input": {question}}}]"#
        );
        TaskFile::read(
            "a1",
            format!(r#"{{{train}, {test}, "test_outputs": {outputs}}}"#).as_bytes(),
        )
    };
    for (outputs, message) in [
        (
            "[[[7]]]",
            "1 outputs for 2 test pairs: expected one for each",
        ),
        ("[[[8]], [[7]]]", "differs from the output of the test pair"),
    ] {
        let file = outputs_beside(outputs);
        assert_eq!((&*file.errors[0].message, file.tasks.len()), (message, 0));
    }
    // A pair that cannot be read keeps its place.
    let text = format!(
        r#"{{{train}, "test": [{{"input": [["x"]]}}, {{"input": {question}}}], "test_outputs": [[[7]], {answer}]}}"#
    );
    let file = TaskFile::read("a1", text.as_bytes());
    let [FileTask { task, .. }] = &file.tasks[..] else {
        panic!("{:?}", file.errors)
    };
    let answers: Vec<_> = task.test.iter().map(|pair| pair.output.clone()).collect();
    assert_eq!(
        (file.errors.len(), answers),
        (1, vec![Some(Grid::from_rows(&[[6, 5]]).unwrap())])
    );
    let file = outputs_beside("[[[7]], [[8]]]");
    assert!(file.errors.is_empty() && file.tasks[0].task.test[1].output.is_some());
    let renamed = [
        ("support", "query"),
        ("demonstrations", "question"),
        ("trainPairs", "testPairs"),
        ("few_shot", "query"),
    ];
    let renamed = renamed.map(|(train, test)| whole.replace("train", train).replace("test", test));
    let whole = Task::from_json("a1", whole.as_bytes()).unwrap();
    for text in [
        columns("example", "question", "s"),
        columns("train", "test", "s"),
        columns("train", "test", ""),
        columns("train", "test", "s")
            .replace("_i", "I")
            .replace("_o", "O"),
        columns("train", "test", "")
            .replace("_input", "_x")
            .replace("_output", "_y"),
        format!(
            r#"{{"list": [[{one}, {three}], [{two}, {four}], [{question}]], "label": [{answer}]}}"#
        ),
        format!(
            r#"{{"list": [[{one}, {three}], [{two}, {four}], [{question}]], "label": {answer}}}"#
        ),
        of_pairs("examples"),
        of_pairs("train"),
        format!(r#"{{{train}, "query": {question}, "answer": {answer}}}"#),
        format!(r#"{{{train}, "input": {question}, "output": {answer}}}"#),
        format!(r#"{{{train}, "test": [{{"input": {question}}}], "solution": [{answer}]}}"#),
        format!(r#"{{{train}, "test_inputs": [{question}], "test_outputs": [{answer}]}}"#),
        format!(r#"{{{train}, "test_input": {question}, "test_output": {answer}}}"#),
        format!(r#"{{{train}, "test": [{{"input": {question}}}], "test_outputs": [{answer}]}}"#),
    ]
    .into_iter()
    .chain(renamed)
    {
        let task = Task::from_json("a1", text.as_bytes());
        assert_eq!(task.as_ref(), Ok(&whole), "{text}");
        // In lines and by id, too.
        let lines = format!("{}\n{}\n", text.replace('\n', " "), text.replace('\n', " "));
        let by_id = format!(r#"{{"a1": {text}}}"#);
        for (text, count) in [(lines, 2), (by_id, 1)] {
            let file = TaskFile::read("a1", text.as_bytes());
            assert_eq!((file.tasks.len(), file.errors), (count, vec![]), "{text}");
            assert_eq!(file.tasks[0].task.train, whole.train);
            assert_eq!(file.tasks[0].task.test, whole.test);
        }
    }
}

#[test]
fn columns_may_have_their_names_the_other_way_round() {
    let text = r#"{"train_x": [[[1]]], "train_y": [[[2]]], "test_x": [[[3]]], "test_y": [[[4]]]}"#;
    let expected = Task::from_json("a1", text.as_bytes()).unwrap();
    for text in [
        r#"{"x_train": [[[1]]], "y_train": [[[2]]], "x_test": [[[3]]], "y_test": [[[4]]]}"#,
        r#"{"input_examples": [[[1]]], "output_examples": [[[2]]], "inputTest": [[[3]]], "outputTest": [[[4]]]}"#,
    ] {
        let task = Task::from_json("a1", text.as_bytes());
        assert_eq!(task.as_ref(), Ok(&expected), "{text}");
    }
}

#[test]
fn outputs_in_columns_may_not_be_known() {
    let text = r#"{"example_inputs": [[[1, 2]]], "example_outputs": [[[2, 1]]], "question_inputs": [[5, 6]]}"#;
    let task = Task::from_json("a1", text.as_bytes()).unwrap();
    assert_eq!((task.test.len(), &task.test[0].output), (1, &None));
}

/// What may be a model's answer is none of the task's outputs.
#[test]
fn outputs_beside_test_pairs_are_not_read() {
    for beside in [
        r#""test": [{"input": [[5]]}], "output": [[6]]"#,
        r#""test": [{"input": [[5]], "output": null}], "prediction": [[6]]"#,
        r#""test": [{"input": [[5]]}], "answer": "[6]""#,
    ] {
        let text = format!(r#"{{"train": [{{"input": [[1]], "output": [[2]]}}], {beside}}}"#);
        let task = Task::from_json("a1", text.as_bytes()).unwrap();
        assert_eq!(
            (task.test.len(), &task.test[0].output),
            (1, &None),
            "{beside}"
        );
    }
}

#[test]
fn what_is_wrong_with_a_row_is_told_of_tasks() {
    for (text, tasks, expected) in [
        (
            r#"{"id": "a", "example_inputs": [[[1]], [[2]]], "example_outputs": [[[1]]], "question_inputs": []}"#,
            0,
            "line 1, column 66, example_outputs: 1 outputs for 2 inputs: expected one for each",
        ),
        (
            r#"{"id": "a", "example_inputs": [[[1]], [["x"]]], "example_outputs": [[[1]], [[2]]]}"#,
            1,
            "line 1, column 41, example_inputs[1][0][0]: expected a colour: an integer from -128 to 127, found string \"x\"",
        ),
        (
            r#"{"id": "a", "train_inputs": [[[1]]], "train_outputs": [[[1]]], "train_input": [[[1]]]}"#,
            0,
            "line 1, column 79, train_input: the key `train_input` stands here a second time, under this or another name",
        ),
        (
            r#"{"examples": [[[[1]], [[1]]], [[[1]]], [[[1]], [[2]], [[3]]]]}"#,
            1,
            "line 1, column 31, examples[1]: expected a pair: an object, or a list of an input and an output",
        ),
        (
            r#"{"id": "a", "examples": [{"in": [[1]], "out": [[2]]}, {"in": [[1]]}]}"#,
            0,
            "line 1, column 26, examples[0]: expected the key `input` with a grid",
        ),
        (
            r#"{"id": "a", "examples": [[[[1]], [[1]], [[1]]]]}"#,
            0,
            "line 1, column 26, examples[0]: expected a pair: an object, or a list of an input and an output",
        ),
        (
            r#"{"id": "a", "grids": [[[1]], [[2]]]}"#,
            0,
            "line 1, column 1: expected a task: an object with the keys `train` and `test`, found the keys `id`, `grids`",
        ),
    ] {
        for text in [text.to_owned(), format!("{text}\n{text}\n")] {
            let file = TaskFile::read("b", text.as_bytes());
            let times = text.lines().count();
            assert_eq!(file.tasks.len(), tasks * times, "{text}");
            assert_eq!(file.errors[0].to_string(), expected);
            assert!(!file.errors.iter().any(|it| it.message.contains("solution")));
        }
    }
}

#[test]
fn grids_may_be_text_with_one_meaning() {
    let grid = r"[[1, 2], [3, 4]]";
    let texts = [
        r#""1 2\n3 4""#,
        r#""12\n34\n""#,
        r#""1,2\n3,4""#,
        r#""|12|34|""#,
        r#""[[1 2]\n [3 4]]""#,
        r#""((1, 2), (3, 4))""#,
        r#""[1, 2]\n[3, 4]""#,
        r#""[[1, 2], [3, 4]]""#,
        r#"["12", "34"]"#,
        r#"["1 2", "3 4"]"#,
    ];
    for layout in [
        r#"{"train": [{"input": GRID, "output": GRID}]}"#,
        r#"{"train": {"inputs": [GRID], "outputs": [GRID]}}"#,
        r#"{"id": "12", "train_inputs": [GRID], "train_outputs": [GRID], "test_inputs": []}"#,
    ] {
        let expected = Task::from_json("a1", layout.replace("GRID", grid).as_bytes());
        let expected = expected.unwrap();
        let is_single = layout.contains(r#""input""#);
        for text in texts
            .iter()
            .filter(|text| is_single || !text.starts_with('['))
        {
            let task = Task::from_json("a1", layout.replace("GRID", text).as_bytes());
            assert_eq!(task.as_ref(), Ok(&expected), "{layout} {text}");
        }
    }
    // Numbers and negative ones have something between them.
    for (text, told) in [
        (r#""10 -1\n0 3""#, "((10, -1), (0, 3))"),
        (r#""10""#, "((1, 0),)"),
        (r#""1\n0""#, "((1,), (0,))"),
    ] {
        let task = format!(r#"{{"train": [{{"input": {text}}}]}}"#);
        let task = Task::from_json("a1", task.as_bytes()).unwrap();
        assert_eq!(task.train[0].input.to_string(), told);
    }
    for text in [
        r#""1 2\n\n3 4""#,
        r#""[[[1 2]]]""#,
        r#""a b\nc d""#,
        r#""-1-2""#,
        r#""""#,
        r#""1 200""#,
        r#"["12", 3]"#,
        r#"[[1, "2"]]"#,
        r#"[["1", "2"]]"#,
    ] {
        let error = grid_error(text);
        assert!(error.contains(": expected a"), "{text}: {error}");
    }
    let file = crate::task::SubmissionFile::read("id", br#"{"a": [{"attempt_1": "1 2"}]}"#);
    assert!(!file.errors.is_empty(), "no competition takes text");
}

#[test]
fn one_row_gives_its_id_too() {
    let row = task().replacen('{', "{\"id\": \"a1\", \"code\": \"O = I\", ", 1);
    let file = TaskFile::read_rows("x", row.as_bytes());
    let FileTask {
        task: read, is_row, ..
    } = &file.tasks[0];
    assert_eq!(
        (&*read.id, *is_row, &*file.programs[0].task),
        ("a1", true, "a1")
    );
    assert_eq!(
        TaskFile::read_rows("x", task().as_bytes()).tasks[0].task.id,
        "x"
    );
    assert_eq!(TaskFile::read("x", row.as_bytes()).tasks[0].task.id, "x");
}

#[test]
fn rows_tell_their_test_input() {
    let row = task().replacen('{', "{\"id\": \"a1\", \"test_index\": 3, ", 1);
    let file = TaskFile::read("x", format!("{row}\n{}\n", task()).as_bytes());
    let told: Vec<_> = file
        .tasks
        .iter()
        .map(|it| (it.is_row, it.test_index))
        .collect();
    assert_eq!(told, [(true, Some(3)), (false, None)]);
    let file = TaskFile::read("task", row.as_bytes());
    assert!(!file.tasks[0].is_row);
}

#[test]
fn rows_may_be_named_by_task_and_test_input() {
    let row = |id: &str, train: i32| {
        json!({ "id": id, "train": [{ "input": [[train]], "output": [[1]] }], "test": [{ "input": [[2]] }], "code": "O = I" })
            .to_string()
    };
    let read = |rows: &[String]| {
        let file = TaskFile::read("x", rows.join("\n").as_bytes());
        let programs = file.programs.iter().map(|it| &it.task);
        assert!(programs.eq(file.tasks.iter().map(|it| &it.task.id)));
        let told = file.tasks.into_iter().map(|it| (it.task.id, it.test_index));
        told.collect::<Vec<_>>()
    };
    let [a, b] = ["11aa22bb", "33cc44dd"];
    let told = |rows: [(&str, Option<usize>); 3]| rows.map(|(id, at)| (id.to_owned(), at));
    let names = [1, 0, 0].map(|at| format!("{}_{at}", if at == 1 { a } else { b }));
    let rows = [row(&names[0], 3), row("11aa22bb_0", 3), row(&names[1], 4)];
    let expected = told([(a, Some(1)), (a, Some(0)), (b, Some(0))]);
    assert_eq!(read(&rows), expected);
    // Counted from 1.
    let rows = rows.map(|row| row.replace("_1", "_2").replace("_0", "_1"));
    assert_eq!(read(&rows), expected);
    // Variants of a task are tasks, as is a part of one.
    let rows = [
        row("11aa22bb_1", 3),
        row("11aa22bb_0", 5),
        row("33cc44dd_0", 4),
    ];
    let expected = told([
        ("11aa22bb_1", None),
        ("11aa22bb_0", None),
        ("33cc44dd_0", None),
    ]);
    assert_eq!(read(&rows), expected);
    let lone = [rows[0].clone(), row("x_0", 3)];
    assert_eq!(read(&lone)[0].0, "11aa22bb_1");
    let hashed = [row("11aa22bb#1", 3), row("11aa22bb#0", 3)];
    assert_eq!(
        read(&hashed)[..],
        told([(a, Some(1)), (a, Some(0)), (b, None)])[..2]
    );
    let named = [row("set:11aa22bb", 3), row("set:33cc44dd", 4)];
    assert_eq!(read(&named)[0].0, "set:11aa22bb");
}

#[test]
fn a_row_may_have_the_outputs_beside_the_task() {
    let task = json!({ "train": [{ "input": [[1]], "output": [[2]] }], "test": [{ "input": [[3]] }, { "input": [[4]] }] });
    for key in ["solution", "solutions", "answer", "output"] {
        let row = |id: &str| json!({ "task_id": id, "challenge": task, key: [[[5]], [[6]]] });
        let text = format!("{}\n{}", row("11aa22bb"), row("33cc44dd"));
        let file = TaskFile::read("rows", text.as_bytes());
        assert_eq!(file.errors, []);
        let tests = file.tasks.iter().map(|it| {
            let outputs = it
                .task
                .test
                .iter()
                .map(|pair| pair.output.as_ref().unwrap().at(0, 0));
            (&*it.task.id, outputs.collect())
        });
        let expected = ["11aa22bb", "33cc44dd"].map(|id| (id, vec![5, 6]));
        assert_eq!(tests.collect::<Vec<_>>(), expected, "{key}");
    }
    let row = json!({ "task_id": "11aa22bb", "challenge": task, "solution": [[[5]]] }).to_string();
    let file = TaskFile::read("rows", row.as_bytes());
    assert_eq!(
        file.errors[0].message,
        "1 outputs for 2 test pairs: expected one for each"
    );
}

#[test]
fn tables_are_read_by_their_columns_too() {
    let task: Value = serde_json::from_str(&task()).unwrap();
    let (train, test) = (&task["train"], &task["test"]);
    let whole = ["a1: train 2 test 2", "b2: train 2 test 2"];
    for (text, expected) in [
        (
            json!({ "task_id": ["a1", "b2"], "train": [train, train], "test": [test, test] }),
            &whole[..],
        ),
        (
            json!({ "id": { "0": "a1", "1": "b2" }, "train": { "0": train, "1": train }, "test": { "0": test, "1": test } }),
            &whole,
        ),
        (
            json!({ "train": { "a1": train, "b2": train }, "test": { "a1": test, "b2": test } }),
            &whole,
        ),
        (
            json!({ "columns": ["task_id", "train", "test"], "index": [0, 1],
                    "data": [["a1", train, test], ["b2", train, test]] }),
            &whole,
        ),
        (
            json!({ "columns": ["train", "test"], "index": ["a1", "b2"], "data": [[train, test], [train, test]] }),
            &whole,
        ),
        (
            json!({ "0": { "id": "a1", "train": train, "test": test }, "1": { "id": "b2", "train": train, "test": test } }),
            &whole,
        ),
        (
            json!({ "rows": [{ "row_idx": 0, "row": { "id": "a1", "train": train, "test": test } }] }),
            &whole[..1],
        ),
        (
            json!({ "task_id": "a1", "train": { "input": [[[1]], [[2]]], "output": [[[1]], [[2]]] },
                 "test": { "inputs": [[[1]], [[2]]] } }),
            &["all: train 2 test 2"],
        ),
    ] {
        let (_, tasks, errors) = read("all", &text.to_string());
        assert_eq!(tasks, expected, "{text}");
        assert!(errors.is_empty(), "{text}: {errors:?}");
    }
    // Errors are told by the number of the row.
    let bad = json!({ "id": ["a1", "b2"], "train": [train, [{ "input": [[1, 500]] }]] });
    let (_, tasks, errors) = read("all", &bad.to_string().replace(':', ":\n"));
    assert_eq!(tasks, ["a1: train 2 test 0"]);
    assert!(
        errors[0].starts_with("line 2, column ") && errors[0].contains("colour 500"),
        "{errors:?}"
    );
    // Lists by split, columns of different lengths, and tables of something else are none.
    for data in ["[]", "[[1, 2]]"] {
        let other = format!(r#"{{"columns": ["score", "cost"], "index": [0], "data": {data}}}"#);
        assert_eq!(read("all", &other).0, FileForm::Foreign, "{other}");
    }
    let (_, tasks, _) = read("all", &json!({ "id": ["a1"], "train": train }).to_string());
    assert_eq!(tasks, ["all: train 2 test 0"]);
    let both = json!({ "challenges": { "a1": { "train": train, "test": [{ "input": [[1]] }] } },
                       "solutions": { "a1": [[[7]]] } });
    let file = TaskFile::read("all", both.to_string().as_bytes());
    assert_eq!(
        (
            file.tasks.len(),
            file.solutions.solutions.len(),
            file.errors.len()
        ),
        (1, 1, 0)
    );
}

#[test]
fn columns_are_where_what_is_bad_begins() {
    let text = "{\"train\": [{\"input\": [[1]], \"input\": [[0, VALUE, 6]], \"output\": [[7]]}]}";
    for value in [
        "128",
        "null",
        "\"x\"",
        "1.5",
        "{\"a\": 1}",
        "[1]",
        "-200",
        "true",
    ] {
        let text = text.replace("VALUE", value);
        let column = text.find("[0, ").unwrap() + 5;
        let expected = format!("line 1, column {column}, train[0].input[0][1]: ");
        assert!(error(&text).starts_with(&expected), "{}", error(&text));
    }
    let row = "{\"train\": [{\"input\":\n [\n  [1, 2],\n   []\n]}]}";
    assert!(error(row).starts_with("line 4, column 4, train[0].input[1]: "));
}
