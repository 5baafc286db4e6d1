//! `mega-batch report`: documents as pages.

use std::fs;

use serde_json::{Value, json};

use super::sample::{HOSTILE, document};
use super::support::Folder;

/// A folder with this document.
fn folder(document: &Value) -> Folder {
    let folder = Folder::new();
    folder.write("result.json", document.to_string());
    folder
}

/// The page of a valid document.
fn page(document: &Value) -> String {
    let folder = folder(document);
    let done = folder.run("report result.json --html page.html");
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    fs::read_to_string(folder.path().join("page.html")).unwrap()
}

/// The message for an invalid document, after the name of its file.
fn complaint(text: &str) -> String {
    let folder = Folder::new();
    folder.write("result.json", text).write("page.html", "old");
    let done = folder.run("report result.json --html page.html");
    assert_eq!(
        (done.code, done.stdout.as_str()),
        (2, ""),
        "{}",
        done.stderr
    );
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert_eq!(page, "old");
    let told = done.stderr.strip_prefix("result.json:");
    told.unwrap_or_else(|| panic!("{}", done.stderr)).to_owned()
}

/// The lines of data in a page: one shared by all tasks, then one for each task.
fn data(page: &str) -> Vec<Value> {
    let (_, rest) = page
        .split_once("<script id=\"data\" type=\"application/json\">")
        .unwrap();
    let (data, _) = rest.split_once("</script>").unwrap();
    let lines = data.trim().lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn a_page_has_the_tasks_with_their_grids() {
    let document = document(20);
    let page = page(&document);
    assert_eq!(page.matches("<article class=\"task\"").count(), 20);
    let tasks = document["by_task"].as_array().unwrap();
    for state in ["solved", "unsolved", "untried"] {
        let found = page.matches(&format!("data-state=\"{state}\"")).count();
        let expected = tasks.iter().filter(|task| task["state"] == state).count();
        assert_eq!(found, expected, "{state}");
        assert!(found > 0, "{state}");
    }
    let lines = data(&page);
    assert_eq!(lines.len(), 21);
    assert_eq!(lines[0]["palette"][1], json!([0, 116, 217]));
    for (line, task) in lines[1..].iter().zip(tasks) {
        let unpacked = |place: &Value| match place.as_i64().unwrap() {
            -1 => Value::Null,
            place => unpacked(line["grids"][place as usize].as_str().unwrap()),
        };
        let trains = line["trains"].as_u64().unwrap() as usize;
        let pairs = line["pairs"].as_array().unwrap().iter();
        let pairs: Vec<_> = pairs
            .map(|pair| json!({"input": unpacked(&pair[0]), "output": unpacked(&pair[1])}))
            .collect();
        assert_eq!(json!(pairs[..trains]), task["train"]);
        assert_eq!(json!(pairs[trains..]), task["test"]);
        for (packed, best) in line["best"]
            .as_array()
            .unwrap()
            .iter()
            .zip(task["best"].as_array().unwrap())
        {
            let outputs: Vec<_> = packed.as_array().unwrap().iter().map(unpacked).collect();
            assert_eq!(json!(outputs[..trains]), best["train"]);
            assert_eq!(json!(outputs[trains..]), best["test"]);
        }
        let attempts = line["attempts"].as_array().unwrap().iter();
        let attempts: Vec<Vec<_>> = attempts
            .map(|attempts| attempts.as_array().unwrap().iter().map(unpacked).collect())
            .collect();
        assert_eq!(json!(attempts), task["attempts"]);
    }
}

/// The rows of a packed grid.
fn unpacked(text: &str) -> Value {
    let (sides, cells) = text.split_once(':').unwrap();
    let (height, width) = sides.split_once('x').unwrap();
    let [height, width] = [height, width].map(|side| side.parse::<usize>().unwrap());
    let colours = cells.chars().map(|c| match c {
        '0'..='9' => c as i32 - '0' as i32,
        c => c as i32 - 384,
    });
    let colours: Vec<i32> = colours.collect();
    let rows = (0..height).map(|row| &colours[row * width..][..width]);
    json!(rows.collect::<Vec<_>>())
}

#[test]
fn names_are_never_markup() {
    let page = page(&document(20));
    assert!(!page.contains("<img"));
    assert!(!page.contains('\u{202e}'));
    assert_eq!(page.matches("</script>").count(), 2);
    // A task, a program, a reason, a file and a message have that name.
    let shown =
        "&lt;/script&gt;&lt;img src=x onerror=&quot;hostile()&quot;&gt;&#39;&amp;lt;\\u{202e}";
    assert!(page.matches(shown).count() >= 5);
    assert!(page.contains("dir/solvers &amp; more.py"));

    let folder = folder(&document(1));
    fs::rename(
        folder.path().join("result.json"),
        folder.path().join("<b>&.json"),
    )
    .unwrap();
    let done = folder.run("report <b>&.json --html -");
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    assert!(done.stdout.contains("<h1>&lt;b&gt;&amp;.json</h1>"));
    assert!(!HOSTILE.is_empty());
}

#[test]
fn the_page_asks_for_nothing_from_elsewhere() {
    let page = page(&document(20));
    for reference in [
        "src=",
        "href=\"http",
        "url(",
        "@import",
        "http://",
        "https://",
        "//cdn",
    ] {
        let outside = page.replace("&lt;img src=x", "");
        assert!(!outside.contains(reference), "{reference}");
    }
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn what_a_run_writes_today_is_read() {
    let folder = Folder::new();
    let ran = folder.run("run --pairs 2 --json result.json --quiet");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let done = folder.run("report result.json --html page.html");
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    assert!(done.stdout.starts_with("page.html: "), "{}", done.stdout);
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    for part in [
        "Tasks solved",
        "Evaluations by outcome",
        "Who made the evaluations",
    ] {
        assert!(page.contains(part), "{part}");
    }
    let quiet = folder.run("report result.json --html page.html --quiet");
    assert_eq!((quiet.code, quiet.stdout.as_str()), (0, ""));
}

#[test]
fn without_attempts_the_page_says_how_to_get_the_grids() {
    let mut document = document(20);
    for member in [
        "by_task",
        "slowest_programs",
        "backend",
        "compile_seconds",
        "input_errors",
    ] {
        document.as_object_mut().unwrap().remove(member).unwrap();
    }
    let page = page(&document);
    assert!(page.contains("<code>mega-batch run --attempts --json FILE</code>"));
    assert!(!page.contains("<article"));
    // The outcomes of each task are still known.
    assert!(page.contains("<th scope=\"row\"><code>00000000</code></th>"));
}

#[test]
fn what_the_run_came_to_stands_in_the_page_without_a_script() {
    let mut document = document(20);
    document["incomplete"] = json!(true);
    document["evaluations_planned"] = json!(123_456);
    document["backend"]["device"]["failure"] = json!("it fell over");
    let page = page(&document);
    let (before, _) = page.split_once("<script").unwrap();
    for part in [
        "of 123,456 evaluations",
        "it fell over",
        "2 input errors",
        "grid of 0 rows: expected 1 to 30",
        "waiting for preparation: give it more host threads, or larger batches",
        "90% busy",
        "Slowest programs",
        "Programs that failed",
        "two attempts each",
    ] {
        assert!(before.contains(part), "{part}");
    }
}

#[test]
fn broken_documents_say_where_and_what_was_expected() {
    let whole = document(3).to_string();
    for (text, told) in [
        ("", "1:1: empty: expected JSON"),
        (
            "[1, 2]\n",
            "1:3: expected a string, found integer `1`: no document of `mega-batch run --json`",
        ),
        (
            "7",
            "1:1: expected an object, the document of `mega-batch run --json`, found integer `7`",
        ),
        ("{\"a\": 1,\n \"b\" 2}", "2:6: broken JSON: expected `:`"),
        (
            "{\"engine_version\": \"1\"}",
            "1:23: the key `mode` is missing: no document of",
        ),
        (
            "{\"engine_version\": \"9\", \"schema\": 99}",
            "1:37: schema 99: expected 1 at most; a later version of mega-batch wrote this document",
        ),
        (
            "{\"engine_version\": 1}",
            "1:21: expected a string, found integer `1`",
        ),
        (
            "{\"seconds\": -1}",
            "1:15: expected seconds, 0 or more, found floating point `-1.0`",
        ),
        (
            "{\"results\": [\n{\"task\": \"a\", \"program\": \"p\", \"pairs\": [{\"split\": \"train\", \"index\": 0, \"outcome\": \"good\"}]}]}",
            "2:88: expected one of `match`, `mismatch`, `no_expected`, `error`, `limit`, found `good`",
        ),
        (
            "{\"results\": [{\"task\": \"a\"}]}",
            "1:26: the key `program` is missing",
        ),
        (
            "{\"by_task\": [{\"task\": \"a\", \"state\": \"solved\", \"train\": [{\"input\": [[1],[1,2]]}]}]}",
            "row of 2 cells: expected 1, as in row 0",
        ),
        (
            "{\"by_task\": [{\"state\": \"good\"}]}",
            "1:29: expected one of `solved`, `unsolved`, `untried`, found `good`",
        ),
        (
            &format!("{whole} x"),
            "broken JSON: expected nothing more behind the value",
        ),
        (&whole[..whole.len() / 2], "broken JSON: it ends within"),
    ] {
        let found = complaint(text);
        assert!(found.contains(told), "{told}\n{found}");
        let place = found.split(':').take(2);
        assert!(
            place
                .into_iter()
                .all(|number| number.parse::<u32>().is_ok_and(|at| at > 0)),
            "{found}"
        );
    }
    // However deep the nesting, the stack stays bounded.
    let deep = "[".repeat(100_000);
    for (member, told) in [
        ("later", "broken JSON: it ends within a list"),
        ("by_task", "expected a string, found a list"),
    ] {
        let found = complaint(&format!("{{\"{member}\": {deep}"));
        assert!(found.contains(told), "{found}");
    }
}

#[test]
fn what_is_no_file_is_refused() {
    let folder = Folder::new();
    fs::create_dir(folder.path().join("folder")).unwrap();
    folder.write("result.json", document(1).to_string());
    let done = folder.run("report missing.json --html page.html");
    assert_eq!(
        (done.code, done.stderr.as_str()),
        (2, "missing.json: no such file\n")
    );
    let done = folder.run("report folder --html page.html");
    assert_eq!(done.code, 2);
    assert!(
        done.stderr.starts_with("folder: expected a regular file"),
        "{}",
        done.stderr
    );
    let done = folder.run("report result.json");
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("--html <FILE>"), "{}", done.stderr);
    let done = folder.run("report result.json --html no/such/page.html");
    assert_eq!(done.code, 1);
    assert!(
        done.stderr
            .contains("no/such/page.html: cannot be written: "),
        "{}",
        done.stderr
    );
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[test]
fn long_documents_are_counted_and_not_kept() {
    // 60 MB of results: the memory of the process stays far below.
    let folder = Folder::new();
    let result = |at: usize| {
        let pairs = r#"{"split":"train","index":0,"outcome":"match"},{"split":"test","index":0,"outcome":"error","error":"line 7: first: empty"}"#;
        format!(
            "{{\"task\":\"t{}\",\"program\":\"p{at}\",\"pairs\":[{pairs}]}}",
            at % 400
        )
    };
    let results: Vec<String> = (0..300_000).map(result).collect();
    let document = format!(
        "{{\"engine_version\":\"0\",\"mode\":\"parallel\",\"workers\":2,\"tasks\":400,\"programs\":300000,\
         \"evaluations\":600000,\"seconds\":1.0,\"results\":[{}]}}",
        results.join(",\n")
    );
    folder.write("result.json", &document);
    let done = folder.run("report result.json --html page.html");
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert!(page.len() < 1 << 20, "{} bytes", page.len());
    assert!(page.contains("300,000 right, 300,000 errors"));
    assert!(page.contains("<code>t399</code>"));
}
