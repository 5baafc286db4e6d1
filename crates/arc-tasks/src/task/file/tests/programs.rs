//! Programs in files of JSON.

use super::*;

#[test]
fn programs_stand_beside_tasks_or_alone() {
    let text = format!(
        "{{\"task_id\": \"a1\", \"program\": \"O = vmirror(I)\", \"train\": {PAIRS}}}\n\
         {{\"task_id\": \"b2\", \"source\": \"def p(I):\\n    return I\\n\"}}\n\
         {{\"task_id\": \"c3\", \"source\": \"train\"}}\n"
    );
    let file = TaskFile::read("all", text.as_bytes());
    let programs: Vec<_> = file
        .programs
        .iter()
        .map(|it| {
            (
                it.task.as_str(),
                it.text.as_str(),
                it.line,
                it.path.as_str(),
            )
        })
        .collect();
    assert_eq!(
        programs,
        [
            ("a1", "O = vmirror(I)", 1, "program"),
            ("b2", "def p(I):\n    return I\n", 2, "source")
        ]
    );
    assert_eq!((file.form, file.tasks.len()), (FileForm::Tasks, 1));
    assert_eq!(file.errors.len(), 1, "{:?}", file.errors);
    let lines = r#"{"task_id": "a1", "code": ["def p(I):\n", "    return I\n"]}"#;
    let file = TaskFile::read("all", lines.as_bytes());
    assert_eq!(file.programs[0].text, "def p(I):\n    return I");
    assert_eq!(file.programs.len(), 1);
}

#[test]
fn rows_have_the_keys_of_data_sets() {
    let program = "def solve(I):\n    return vmirror(I)";
    let fenced = format!("It is mirrored:\n```python\n{program}\n```");
    let said = |role: &str, content: &str| json!({ "role": role, "content": content });
    let parts = json!({ "role": "assistant", "content": [{ "type": "text", "text": program }] });
    for (row, id, text, is_answer) in [
        (
            json!({ "index": 7, "solution": program }),
            "7",
            program,
            true,
        ),
        (
            json!({ "question_id": "q1", "index": 7, "generated_code": program }),
            "q1",
            program,
            false,
        ),
        (
            json!({ "index": 7, "metadata": { "task_id": "a1" }, "code": fenced }),
            "a1",
            &fenced,
            true,
        ),
        (
            json!({ "id": "run-1", "metadata": { "task_id": "a1", "id": 3 }, "code": program }),
            "a1",
            program,
            false,
        ),
        (
            json!({ "custom_id": "a1|0|2", "id": 3, "code": program }),
            "a1|0|2",
            program,
            false,
        ),
        (
            json!({ "task_id": "a1", "role": "assistant", "content": fenced }),
            "a1",
            &fenced,
            true,
        ),
        (
            json!({ "index": 7, "metadata": { "split": "x" }, "code": program }),
            "7",
            program,
            false,
        ),
        (
            json!({ "id": "a1", "messages": [said("user", "def p(I): return I"), said("assistant", "def no"),
                    said("user", "?"), said("assistant", &fenced)] }),
            "a1",
            &fenced,
            true,
        ),
        (
            json!({ "id": "a1", "messages": [parts, said("user", "def p(I): return I")] }),
            "a1",
            program,
            true,
        ),
        // A test output is no program.
        (
            json!({ "id": "a1", "solution": [[1]], "code": program }),
            "a1",
            program,
            false,
        ),
    ] {
        let file = TaskFile::read("all", row.to_string().as_bytes());
        let [found] = &file.programs[..] else {
            panic!("{row}: {:?}", file.errors);
        };
        assert_eq!(
            (found.task.as_str(), found.text.as_str()),
            (id, text),
            "{row}"
        );
        assert_eq!(found.is_answer(), is_answer, "{row}");
    }
    // The last answer counts, whether or not it has a program.
    let none =
        json!({ "id": "a1", "messages": [said("assistant", program), said("assistant", "no")] });
    let file = TaskFile::read("all", none.to_string().as_bytes());
    assert_eq!((file.programs.len(), file.errors.len()), (0, 1));
    let rows = [1, 2].map(|id| format!("{{\"index\": {id}, {}\n", &task()[1..]));
    let (_, tasks, errors) = read("rows", &rows.concat());
    assert_eq!(
        tasks,
        ["1: train 2 test 2", "2: train 2 test 2"],
        "{errors:?}"
    );
}

#[test]
fn what_services_return_is_searched_for_answers() {
    let program = "def solve(I):\n    return vmirror(I)";
    let text = format!("Mirrored:\n```python\n{program}\n```");
    let says = |role: &str, content: Value| json!({ "role": role, "content": content });
    let parts =
        json!([{ "type": "thinking", "thinking": "def no" }, { "type": "text", "text": text }]);
    let choices = json!([{ "index": 0, "message": says("assistant", json!(text)) },
                         { "index": 1, "message": says("assistant", json!("no")) }]);
    let (asked, answered) = (
        says("user", json!("def no(I):")),
        says("assistant", json!(text)),
    );
    for (mut row, without) in [
        (
            json!({ "response": { "status_code": 200, "body": { "choices": choices } } }),
            1,
        ),
        (
            json!({ "result": { "type": "succeeded", "message": says("assistant", parts) } }),
            0,
        ),
        (json!({ "choices": choices }), 1),
        (
            json!({ "output": [{ "type": "reasoning" }, says("assistant", json!([{ "text": text }]))] }),
            0,
        ),
        (
            json!({ "candidates": [{ "content": { "parts": [{ "text": text }], "role": "model" } }] }),
            0,
        ),
        (
            json!({ "prompt": "def no(I):", "outputs": [{ "text": text }] }),
            0,
        ),
        (
            json!({ "conversations": [{ "from": "human", "value": "def no" }, { "from": "gpt", "value": text }] }),
            0,
        ),
        (
            json!({ "messages": json!([asked, answered]).to_string() }),
            0,
        ),
        (json!({ "prompt": [asked], "completion": [answered] }), 0),
        (json!({ "chosen": text, "rejected": "def no(I):" }), 0),
        (
            json!({ "instruction": "def no(I):", "input": "", "Generated_Text": text }),
            0,
        ),
        (
            json!({ "reasoning_content": "def no(I):", "model_responses": [text, "no"] }),
            1,
        ),
    ] {
        row["custom_id"] = json!("a1");
        row["id"] = json!("batch_1");
        let file = TaskFile::read("all", row.to_string().as_bytes());
        let [found] = &file.programs[..] else {
            panic!("{row}: {file:?}");
        };
        assert_eq!(
            (found.task.as_str(), found.text.as_str()),
            ("a1", &*text),
            "{row}"
        );
        assert!(
            found.is_answer() && found.others.is_empty(),
            "{row}: {found:?}"
        );
        let counted = file.without_program.map_or(0, |(_, count)| count);
        assert_eq!(counted, without, "{row}");
    }
    let call = json!([{ "function": { "name": "run", "arguments": json!({ "code": program }).to_string() } }]);
    let row = json!({ "id": "a1", "messages": [asked, { "role": "assistant", "content": null, "tool_calls": call }] });
    let file = TaskFile::read("all", row.to_string().as_bytes());
    assert_eq!(
        file.programs[0].text,
        json!({ "code": program }).to_string()
    );
    let rows = json!({ "n": 1, "responses": [{ "task_id": "a1", "response": text }, { "task_id": "b2", "response": text }] });
    let file = TaskFile::read("all", rows.to_string().as_bytes());
    assert_eq!(
        file.programs.iter().map(|it| &*it.task).collect::<Vec<_>>(),
        ["a1", "b2"]
    );
    // A conversation by the id of its task; what the user says is none.
    let by_id = json!({ "a1": [asked, answered], "b2": [asked, answered, asked] });
    let file = TaskFile::read("all", by_id.to_string().as_bytes());
    assert!(
        file.programs
            .iter()
            .all(|it| it.text == text && it.is_answer())
    );
    assert_eq!((file.programs.len(), file.errors.len()), (2, 0));
    let file = TaskFile::read(
        "all",
        json!({ "a1": [asked, asked] }).to_string().as_bytes(),
    );
    assert_eq!((file.programs.len(), file.errors.len()), (0, 1));
}

/// Checks which tasks the programs of a JSON value are of, and whether it says so.
#[track_caller]
fn check_programs(text: &Value, program: &str, tasks: &str, is_said: bool) {
    let file = TaskFile::read("all", text.to_string().as_bytes());
    let found: Vec<_> = file.programs.iter().map(|it| it.task.as_str()).collect();
    assert_eq!(
        (found.join(" "), &file.errors[..]),
        (tasks.to_owned(), &[][..]),
        "{text}"
    );
    assert!(
        file.programs
            .iter()
            .all(|it| it.text == program && it.is_said == is_said),
        "{text}"
    );
}

#[test]
fn programs_stand_beside_other_things_and_under_other_keys() {
    let program = "def solve(I):\n    return vmirror(I)";
    for (text, tasks, is_said) in [
        (
            json!({ "puzzle_id": "a1", "python_code": program }),
            "a1",
            true,
        ),
        (
            json!({ "uid": "a1", "best_programs": [program, program] }),
            "a1 a1",
            true,
        ),
        (
            json!({ "extra_info": { "task_id": "a1" }, "solver": program }),
            "a1",
            true,
        ),
        (
            json!({ "task": { "id": "a1", "train": [{ "input": [[1]] }] }, "code": program }),
            "a1",
            true,
        ),
        (
            json!({ "model": "x", "results": { "a1": { "code": program } } }),
            "a1",
            true,
        ),
        (
            json!({ "n": 2, "results": [{ "task_id": "a1", "code": program }, { "id": "b2", "code": program }] }),
            "a1 b2",
            true,
        ),
        (
            json!({ "features": [], "rows": [{ "row_idx": 0, "row": { "id": "a1", "code": program } }] }),
            "a1",
            true,
        ),
        (
            json!({ "task_id": ["a1", "b2"], "code": [program, program] }),
            "a1 b2",
            true,
        ),
        (
            json!({ "task_id": { "0": "a1", "1": "b2" }, "code": { "0": program, "1": program } }),
            "a1 b2",
            true,
        ),
        (
            json!({ "x": { "task_id": "a1", "code": program }, "y": { "code": program } }),
            "a1 y",
            true,
        ),
        (
            json!({ "date": 1, "programs": [{ "task": "a1", "source": program }] }),
            "a1",
            true,
        ),
        // The program of a task without an id is the task's.
        (
            json!({ "examples": [[[[1]], [[1]]]], "source": program }),
            "all",
            true,
        ),
        (json!({ "code": program }), "all", false),
        (
            json!([{ "code": program, "score": 1 }, { "code": program }]),
            "all_0 all_1",
            false,
        ),
    ] {
        check_programs(&text, program, tasks, is_said);
    }
}

#[test]
fn rows_of_programs_may_be_split_and_nested() {
    let program = "def solve(I):\n    return vmirror(I)";
    for (text, tasks, is_said) in [
        (
            json!({ "train": [{ "task": "a1", "source": program }], "test": [{ "task": "b2", "code": program }] }),
            "b2 a1",
            true,
        ),
        (
            json!({ "train": [{ "prompt": "x", "completion": program }], "test": [] }),
            "train_0",
            false,
        ),
        (
            json!({ "task_id": "a1", "attempts": [{ "code": program }, { "program": program }] }),
            "a1 a1",
            true,
        ),
        (
            json!({ "task_id": "a1", "programs": [{ "code": program, "score": 1 }] }),
            "a1",
            true,
        ),
        (
            json!({ "task_id": "a1", "implementation": program }),
            "a1",
            true,
        ),
        (
            json!({ "doc_id": 0, "doc": { "task_id": "a1" }, "resps": [[program]] }),
            "a1",
            true,
        ),
        (
            json!({ "request_id": "a1", "outputs": [{ "index": 0, "text": program }] }),
            "a1",
            true,
        ),
        (
            json!({ "key": "a1", "response": { "candidates": [{ "content": { "parts": [{ "text": program }] } }] } }),
            "a1",
            true,
        ),
        (json!({ "arc_id": "a1", "code": program }), "a1", true),
        (json!({ "puzzle": "a1", "code": program }), "a1", true),
        // What names the task goes before what numbers a request.
        (
            json!({ "request_id": "7", "key": "8", "metadata": { "task_id": "a1" }, "code": program }),
            "a1",
            true,
        ),
        (json!([program, program]), "all_0 all_1", false),
    ] {
        check_programs(&text, program, tasks, is_said);
    }
}

#[test]
fn the_program_of_an_answer_may_be_a_call_alone() {
    for text in [
        "\\boxed{vmirror(I)}",
        "The answer is `hconcat(I, vmirror(I))`.",
    ] {
        let row = |key: &str| json!({ "task_id": "a1", key: text }).to_string();
        let file = TaskFile::read("all", row("completion").as_bytes());
        assert_eq!((file.programs.len(), file.errors.len()), (1, 0), "{text}");
        assert!(file.programs[0].is_answer());
        let file = TaskFile::read("all", row("code").as_bytes());
        assert_eq!(file.programs.len(), 0);
    }
    let prose = json!({ "task_id": "a1", "completion": "It (I think) is f(Input)." });
    let file = TaskFile::read("all", prose.to_string().as_bytes());
    assert_eq!(file.programs.len(), 0);
}

#[test]
fn a_text_that_is_no_program_is_told_where_programs_are_expected() {
    let document = json!({ "engine_version": "1", "results": [], "programs": [{ "name": "a1", "text": "def solve(I):" }] });
    let file = TaskFile::read("r", document.to_string().as_bytes());
    assert_eq!((file.form, file.programs.len()), (FileForm::Foreign, 0));
    for (row, message) in [
        (
            json!({ "id": "a1", "code": "I do not know" }),
            "code: expected the text of a program, found \"I do not know\" \
                                                         without `def` and `O =`",
        ),
        (
            json!({ "id": "a1", "code": null, "text": "x" }),
            "code: expected the text of a program, found null",
        ),
        (
            json!({ "id": "a1", "response": { "error": "x" } }),
            "response: expected the text of a program, found an object",
        ),
    ] {
        let mut file = TaskFile::read("all", row.to_string().as_bytes());
        assert!(
            file.errors[0].message.starts_with("expected a task"),
            "{row}"
        );
        file.expect_programs();
        let [found] = &messages(&file.errors)[..] else {
            panic!("{row}: {file:?}");
        };
        assert!(found.ends_with(message), "{row}: {found}");
    }
    let rows = json!({ "train": [{ "id": "a1", "code": null }], "test": [] });
    let mut file = TaskFile::read("all", rows.to_string().as_bytes());
    let first = file.expect_programs().unwrap();
    let expected = "train[0].code: expected the text of a program, found null";
    assert!(first.to_string().ends_with(expected), "{first}");
    assert_eq!(file.errors, [first]);
}

#[test]
fn texts_without_a_program_are_counted() {
    let texts = json!(["def p(I):\n    return I", "I do not know", "", "O = I"]);
    let row = json!({ "id": "a1", "response": texts });
    let file = TaskFile::read("all", format!("{row}\n{row}").as_bytes());
    let (first, count) = file.without_program.unwrap();
    assert_eq!((file.programs.len(), file.errors.len(), count), (4, 0, 4));
    assert_eq!((first.line, first.path.as_str()), (1, "response"));
    let lines = json!(["def p(I):", "    return I"]);
    let inside = json!({ "id": "a1", "code": lines.to_string() }).to_string();
    let lines = json!({ "id": "a1", "code": lines });
    let file = TaskFile::read("all", inside.as_bytes());
    assert_eq!(file.programs[0].text, "def p(I):\n    return I");
    let file = TaskFile::read("all", lines.to_string().as_bytes());
    assert_eq!(file.without_program, None);
}

#[test]
fn programs_stand_under_the_ids_of_their_tasks() {
    let mirror = r#"{"program": "O = vmirror(I)", "score": 1}"#;
    for (text, programs) in [
        (format!("{{\"a1\": {mirror}, \"b2\": {mirror}}}"), "a1 b2"),
        (
            format!("{{\"a1\": {{\"first\": {mirror}, \"O = vmirror(I)\": {mirror}}}}}"),
            "a1 a1",
        ),
        (format!("{{\"a1\": [{mirror}, \"def f(I):\"]}}"), "a1 a1"),
        (
            r#"{"a1": "def f(I):\n    return I", "b2": ["O = vmirror(I)"]}"#.to_owned(),
            "a1 b2",
        ),
        (r#"{"a1": ["O = vmirror(I)"]}"#.to_owned(), "a1"),
        (
            r#"{"a1": ["def f(I):", "    return I"], "b2": ["def f(I):\n", "  O = I\n", "  return O"]}"#
                .to_owned(),
            "a1 b2",
        ),
        (
            r#"{"a-model": {"007bbfb7": "O = I"}, "b-model": {"00d62c1b": "O = I"}}"#.to_owned(),
            "007bbfb7 00d62c1b",
        ),
        (
            r#"{"solvers": {"a1": "O = I", "b2": "O = I"}}"#.to_owned(),
            "a1 b2",
        ),
        ("\"O = I\"\n\"O = vmirror(I)\"\n".to_owned(), "all_0 all_1"),
        (
            r#"{"training": {"a1": "O = I"}, "evaluation": {"b2": {"code": "O = I"}}}"#.to_owned(),
            "a1 b2",
        ),
        (
            r#"{"train": {"x/007bbfb7": "O = I"}}"#.to_owned(),
            "007bbfb7",
        ),
        (
            r#"{"task_id": "x/007bbfb7", "code": ["O = I", "O = vmirror(I)"]}"#.to_owned(),
            "007bbfb7 007bbfb7",
        ),
        (r#"{"a1": ["0a1b2c3d"]}"#.to_owned(), ""),
        (
            r#"{"a1": 5, "b2": {"program": "vim"}, "c3": ["def"]}"#.to_owned(),
            "",
        ),
        // An object with the text of a program elsewhere is something else.
        (
            r#"{"x": 1, "messages": [{"role": "x", "content": "def f(I):"}]}"#.to_owned(),
            "",
        ),
        (
            r#"{"nbformat": 4, "cells": [{"type": "code", "source": "def f(I):"}]}"#.to_owned(),
            "",
        ),
    ] {
        let file = TaskFile::read("all", text.as_bytes());
        let found = file.programs.iter().map(|it| it.task.as_str());
        assert_eq!(found.collect::<Vec<_>>().join(" "), programs, "{text}");
        assert_eq!(file.errors.is_empty(), !programs.is_empty(), "{text}");
        assert!(
            programs.is_empty() || file.form == FileForm::Programs,
            "{text}"
        );
    }
}

#[test]
fn an_entry_that_is_no_program_does_not_hide_the_others() {
    let good = r#""def f(I):\n    return vmirror(I)\n""#;
    let expected = "expected the text of a program, with `def` or `O =` in it, or an object that has it as `program`";
    for (text, ids, errors) in [
        (
            format!("{{\"a\": {good},\n \"no\": \"x\"}}"),
            "a",
            vec![format!("line 2, column 8, no: {expected}, found \"x\"")],
        ),
        (
            format!("{{\"k\": 5, \"a\": {good}, \"l\": null}}"),
            "a",
            vec![
                format!("line 1, column 7, k: {expected}, found 5"),
                format!(
                    "line 1, column {}, l: {expected}, found null",
                    22 + good.len()
                ),
            ],
        ),
        (
            format!(
                "{{\"a\": {{\"program\": {good}}},\n\"b\": {{\"program\": 5}},\n\"c\": {{\"programm\": \"x\"}},\n\
                 \"d\": [],\n\"e\": {{\"source\": \" \"}},\n\"f\": {{}}}}"
            ),
            "a",
            vec![
                "line 2, column 18, b.program: expected the text of a program, found 5".to_owned(),
                format!("line 3, column 6, c: {expected}, found the key `programm`"),
                format!("line 4, column 6, d: {expected}, found an empty list"),
                "line 5, column 17, e.source: expected the text of a program, found an empty text"
                    .to_owned(),
                format!("line 6, column 6, f: {expected}, found an empty object"),
            ],
        ),
        (
            format!(
                "{{\"a\": [{good}, {good},\n5], \"b\": {{\"k\": {{\"program\": {good}}},\n\"l\": 7}}}}"
            ),
            "a a b",
            vec![
                format!("line 2, column 1, a[2]: {expected}, found 5"),
                format!("line 3, column 6, b.l: {expected}, found 7"),
            ],
        ),
        (
            format!("{{\"a\": {good}, \"b\": {good}, \"c"),
            "a b",
            vec![format!(
                "line 1, column {}: broken JSON: it ends within a string, and the rest is missing",
                17 + 2 * good.len()
            )],
        ),
    ] {
        let file = TaskFile::read("all", text.as_bytes());
        let found: Vec<_> = file.programs.iter().map(|it| it.task.as_str()).collect();
        assert_eq!(found.join(" "), ids, "{text}");
        assert_eq!(messages(&file.errors), errors, "{text}");
        assert_eq!(file.form, FileForm::Programs, "{text}");
    }
}
