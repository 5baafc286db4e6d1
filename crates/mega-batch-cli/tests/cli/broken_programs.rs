//! A batch in which every tenth program is broken, each in another way.

use serde_json::Value;

use super::support::{Folder, mirror_program, mirror_task};

const PROGRAMS: usize = 120;

/// What is broken, the body of the program, and the message: for the file if it cannot be read, for the outcome if it
/// cannot be run.
enum Broken {
    Unreadable(&'static str, &'static str),
    Failing(&'static str, &'static str),
    Stopped(&'static str, &'static str),
}

use Broken::{Failing, Stopped, Unreadable};

const BROKEN: [Broken; PROGRAMS / 10] = [
    Unreadable(
        "x1 = vmiror(I)",
        "unknown primitive `vmiror`, did you mean `vmirror`?",
    ),
    Unreadable(
        "x1 = vmirror(I, I)",
        "`vmirror` takes 1 argument (piece), found 2",
    ),
    Unreadable("x1 = vmirror(x9)", "unknown name `x9`"),
    Unreadable("x1 = vmirror(I", "`(` is never closed"),
    Failing(
        "x1 = height(I)\n    x2 = vmirror(x1)",
        "vmirror: argument `piece`: expected Piece, found an integer",
    ),
    Failing(
        "x1 = remove(I, I)\n    x2 = divide(1, 0)",
        "divide: division by zero",
    ),
    Failing(
        "x0 = initset(1)\n    x1 = remove(1, x0)\n    x2 = first(x1)",
        "first: expected at least one element, found none",
    ),
    Failing(
        "x1 = height(I)\n    x2 = x1(I)",
        "expected a function to call, found an integer",
    ),
    Stopped(
        "x1 = upscale(I, 1000)\n    x2 = upscale(x1, 1000)",
        "upscale: limit exceeded: cells of a grid",
    ),
    Stopped(
        "x0 = interval(0, 3000, 1)\n    x1 = product(x0, x0)",
        "product: limit exceeded: elements of a container",
    ),
    // f(f), where f(x) is the set of x(x): it would never end.
    Stopped(
        "x1 = fork(rapply, initset, identity)\n    x2 = x1(x1)",
        "limit exceeded: nesting",
    ),
    Stopped(
        "x1 = power(increment, 20)\n    x2 = interval(0, 900000, 1)\n    x3 = apply(x1, x2)",
        "limit exceeded: steps",
    ),
];

fn name(at: usize) -> String {
    format!("solve_{at:03}")
}

fn folder(break_some: bool) -> Folder {
    let folder = Folder::new();
    for at in 0..PROGRAMS {
        folder.write(&format!("tasks/{at:03}.json"), mirror_task());
        let broken = &BROKEN[at / 10];
        let text = match broken {
            Unreadable(body, _) | Failing(body, _) | Stopped(body, _)
                if break_some && at % 10 == 3 =>
            {
                format!("def {}(I):\n    {body}\n    return I\n", name(at))
            }
            _ => mirror_program(&name(at)),
        };
        folder.write(&format!("programs/{at:03}.py"), text);
    }
    folder
}

fn results(document: &Value) -> Vec<Value> {
    document["results"].as_array().unwrap().clone()
}

#[test]
fn each_is_reported_and_all_other_results_are_unchanged() {
    let (done, whole) = folder(false).run_json("--tasks tasks --programs programs --outputs");
    assert_eq!(
        (done.code, &whole["tasks_solved"]),
        (0, &Value::from(PROGRAMS))
    );
    let whole = results(&whole);

    for mode in ["sequential", "parallel"] {
        let options = format!("--tasks tasks --programs programs --outputs --mode {mode}");
        let (done, document) = folder(true).run_json(&options);
        assert_eq!(done.code, 2);
        assert_eq!(document["tasks_solved"], PROGRAMS - BROKEN.len());
        let input_errors = document["input_errors"].as_array().unwrap();
        let mut input_errors = input_errors.iter();
        let results = results(&document);
        let mut results = results.iter();
        for (at, unbroken) in whole.iter().enumerate() {
            if at % 10 != 3 {
                assert_eq!(results.next(), Some(unbroken));
                continue;
            }
            let (message, outcome) = match &BROKEN[at / 10] {
                Unreadable(_, message) => {
                    let error = input_errors.next().unwrap();
                    assert_eq!(error["file"], format!("programs/{at:03}.py"));
                    let line = format!("{}:{}:", error["file"].as_str().unwrap(), error["line"]);
                    assert!(done.stderr.contains(&line), "{}", done.stderr);
                    let text = error["message"].as_str().unwrap();
                    assert!(text.contains(message), "{text}");
                    continue;
                }
                Failing(_, message) => (message, "error"),
                Stopped(_, message) => (message, "limit"),
            };
            let result = results.next().unwrap();
            assert_eq!(result["program"], name(at));
            let pairs = result["pairs"].as_array().unwrap();
            assert_eq!(pairs.len(), 3);
            for pair in pairs {
                let error = pair["error"].as_str().unwrap();
                assert_eq!(pair["outcome"], outcome, "{error}");
                assert!(error.contains(message), "{error}");
            }
        }
        assert_eq!((results.next(), input_errors.next()), (None, None));
    }
}
