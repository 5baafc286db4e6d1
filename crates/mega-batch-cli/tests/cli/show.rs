//! `mega-batch show`.

use serde_json::json;

use super::support::{Folder, done, mirror_program, mirror_task};

fn folder() -> Folder {
    let folder = Folder::new();
    let task = json!({
        "train": [{ "input": [[1, 2, 3], [4, 5, 6]], "output": [[3, 2, 1], [6, 5, 9]] }],
        "test": [{ "input": [[7]] }],
    });
    folder.write("a.json", task.to_string());
    folder.write("many.json", json!({ "a": task, "b": task }).to_string());
    folder.write("one.py", mirror_program("mirror"));
    let wrong = "def wrong(I):\n    x1 = first(I)\n    x2 = first(x1)\n    x3 = vmirror(x2)\n    return x3\n";
    folder.write(
        "many.py",
        [
            &mirror_program("solve_b"),
            wrong,
            &mirror_program("solve_a"),
        ]
        .join("\n"),
    );
    folder
}

#[test]
fn grids_are_drawn_as_digits_where_there_is_no_terminal() {
    let done = folder().run("show a.json");
    let expected = "\
a

train[0]
input 2x3   expected 2x3
 1  2  3     3  2  1
 4  5  6     6  5  9

test[0]
input 1x1
 7
";
    assert_eq!(
        (done.code, done.stdout.as_str(), done.stderr.as_str()),
        (0, expected, "")
    );
}

#[test]
fn a_programs_output_stands_beside_the_expected_one() {
    let done = folder().run("show a.json --program one.py");
    let expected = "\
mirror on a

train[0]: mismatch: 1 of 6 cells differ
input 2x3   expected 2x3   output 2x3
 1  2  3     3  2  1        3  2  1
 4  5  6     6  5  9        6  5  4<

test[0]: no expected
input 1x1   output 1x1
 7           7
";
    assert_eq!(
        (done.code, done.stdout.as_str(), done.stderr.as_str()),
        (0, expected, "")
    );
}

#[test]
fn of_several_programs_the_tasks_own_or_the_named_one_is_run() {
    let folder = folder();
    let done = folder.run("show a.json --program many.py");
    assert!(done.stdout.starts_with("solve_a on a\n"), "{}", done.stdout);
    let done = folder.run("show a.json --program many.py --name wrong");
    assert!(done.stdout.starts_with("wrong on a\n"), "{}", done.stdout);
    let error =
        "train[0]: error: line 8: vmirror: argument `piece`: expected Piece, found an integer";
    assert!(done.stdout.contains(error), "{}", done.stdout);
    let done = folder.run("show a.json --program many.py --name none");
    assert_eq!(done.code, 2);
    assert_eq!(done.stderr, "many.py: no program named none in this file\n");
    folder.write("z.json", mirror_task());
    let done = folder.run("show z.json --program many.py");
    assert_eq!(done.code, 2);
    assert_eq!(
        done.stderr,
        "many.py: no program for the task z in this file; --name says which to run\n"
    );
}

#[test]
fn pictures_are_written_in_the_place_of_the_terminals() {
    let folder = folder();
    let done = folder.run("show a.json --program one.py --svg a.svg --png a.png");
    let all = (done.code, done.stdout.as_str(), done.stderr.as_str());
    assert_eq!(all, (0, "", ""));
    let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    let svg = String::from_utf8(read("a.svg")).unwrap();
    for text in [
        "mirror on a",
        "train[0]: mismatch: 1 of 6 cells differ",
        "output 2x3",
    ] {
        assert!(svg.contains(&format!(">{text}</text>")), "{text}: {svg}");
    }
    assert!(read("a.png").starts_with(b"\x89PNG\r\n"));
    let done = folder.run("show a.json --svg -");
    assert!(done.stdout.starts_with("<svg ") && done.stdout.ends_with("</svg>\n"));
    let done = folder.run("show a.json --program many.py --name none --svg b.svg");
    assert_eq!(done.code, 2);
    assert!(!folder.path().join("b.svg").exists());
    let done = folder.run("show a.json --png none/a.png");
    assert_eq!(done.code, 1);
    assert!(
        done.stderr.contains("none/a.png: cannot be written"),
        "{}",
        done.stderr
    );
}

#[test]
fn of_several_tasks_one_is_named() {
    let folder = folder();
    let done = folder.run("show many.json");
    assert_eq!(done.code, 2);
    assert_eq!(
        done.stderr,
        "many.json: 2 tasks in this file; --id says which is meant\n"
    );
    let done = folder.run("show many.json --id b");
    assert!(
        done.stdout.starts_with("b\n\ntrain[0]\n"),
        "{}",
        done.stdout
    );
    let done = folder.run("show many.json --id c");
    assert_eq!(
        (done.code, done.stderr.as_str()),
        (2, "many.json: no task c in this file\n")
    );
}

#[test]
fn bad_input_is_told_and_what_is_good_is_drawn() {
    let folder = folder();
    folder.write(
        "bad.py",
        "def solve_a(I):\n    x1 = vmiror(I)\n    return x1\n",
    );
    let drawn = folder.run("show a.json --program bad.py");
    assert_eq!(drawn.code, 2);
    assert!(
        drawn.stderr.starts_with("bad.py:2:10: "),
        "{}",
        drawn.stderr
    );
    assert!(
        drawn.stdout.starts_with("a\n\ntrain[0]\n"),
        "{}",
        drawn.stdout
    );
    let none = folder.run("show none.json");
    assert_eq!(none.stderr, "none.json: no such file or folder\n");
    assert_eq!((none.code, none.stdout.as_str()), (2, ""));
}

#[test]
fn colours_can_be_forced_and_refused() {
    let folder = folder();
    let forced = |arguments: &str, no_colour: &str| {
        let mut command = folder.command(arguments);
        command
            .env("CLICOLOR_FORCE", "1")
            .env("NO_COLOR", no_colour);
        done(command.output().unwrap()).stdout
    };
    let colours = forced("show a.json --program one.py", "");
    assert!(
        colours.contains("\x1b[97;48;2;0;116;217m  \x1b[0m"),
        "{colours}"
    );
    assert_eq!(colours.matches("><").count(), 1);
    for plain in [
        forced("show a.json", "1"),
        forced("show a.json --no-colour", ""),
        forced("show a.json --no-color", ""),
    ] {
        assert!(!plain.contains('\x1b'), "{plain}");
    }
}

#[test]
fn what_is_left_out_of_the_task_is_told() {
    let folder = Folder::new();
    let bad = "{\"train\": [{\"input\": [[1, 2], [3]], \"output\": [[1]]}, {\"input\": [[1]], \"output\": [[2]]}]}";
    let good = "{\"train\": [{\"input\": [[1]], \"output\": [[2]]}]}";
    folder
        .write("bad.json", bad)
        .write("many.json", format!("{{\"a\": {good}, \"b\": {bad}}}"));
    let told = "train[0].input[1]: row of 1 cells where row 0 has 2";
    for (arguments, is_told) in [
        ("show bad.json", true),
        ("show many.json --id b", true),
        ("show many.json --id a", false),
    ] {
        let done = folder.run(arguments);
        assert_eq!(
            done.stderr.contains(told),
            is_told,
            "{arguments}: {}",
            done.stderr
        );
        assert_eq!(done.code, if is_told { 2 } else { 0 }, "{arguments}");
        assert!(done.stdout.contains("train[0]"), "{}", done.stdout);
    }
}
