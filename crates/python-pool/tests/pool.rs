//! The guards, with harmless inputs. A Python with numpy can be named by `PYTHON`; without a CPython of 3.11 these
//! tests say that they were skipped.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::ffi::OsStr;
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use arc_dsl::{Block, Grid};
use python_pool::{
    Axes, FailureKind, GridForm, Guards, Isolation, Outputs, Pool, PoolError, Settings,
};

/// Settings for tests, or None where there is no Python.
fn settings() -> Option<Settings> {
    let python = std::env::var_os("PYTHON").unwrap_or("python3".into());
    let is_new = "import sys; sys.exit(sys.version_info < (3, 11))";
    let status = Command::new(&python).args(["-c", is_new]).status();
    if !status.is_ok_and(|status| status.success()) {
        eprintln!("skipped: there is no CPython of 3.11 or later");
        return None;
    }
    Some(Settings {
        workers: 1,
        modules: Vec::new(),
        cpu_time: Duration::from_millis(300),
        wall_time: Duration::from_secs(3),
        ..Settings::of(python.into())
    })
}

fn inputs() -> Vec<Grid> {
    vec![
        Grid::from_cells(2, 2, vec![1, 2, 3, 4]),
        Grid::from_cells(1, 3, vec![5, 6, 7]),
    ]
}

fn tries(text: &str) -> Vec<Vec<Block>> {
    vec![vec![(0, text.to_owned())]]
}

fn run(pool: &Pool, text: &str, inputs: &[Grid]) -> Outputs {
    pool.run(&tries(text), inputs, &mut || false).unwrap()
}

/// What became of a program, in one line.
fn told(pool: &Pool, text: &str) -> String {
    let outputs = run(pool, text, &inputs());
    let outputs = outputs.into_iter().map(|output| match output {
        Ok(grid) => format!("{}x{} {:?}", grid.height(), grid.width(), grid.cells()),
        Err(it) if it.kind == FailureKind::NoProgram => format!("no program: {it}"),
        Err(it) => format!("{:?} line {}: {}", it.kind, it.line, it.message),
    });
    let mut outputs: Vec<_> = outputs.collect();
    outputs.dedup();
    outputs.join("; ")
}

const MIRROR: &str = "def transform(g):\n    return [r[::-1] for r in g]\n";

/// What programs of `guards.txt` must be told; each is followed by one that must see nothing of it.
fn check_guards(settings: Settings) {
    let pool = Pool::new(settings).unwrap();
    let opens = pool.guards().landlock > 0;
    for case in include_str!("guards.txt").trim_end().split("\n====\n") {
        let (text, expected) = case.rsplit_once("\n--> ").unwrap();
        let found = told(&pool, text);
        // Where no file is opened, most modules cannot be imported.
        let is_missing = !opens && found.starts_with("Exception line 1: PermissionError");
        assert!(found.starts_with(expected) || is_missing, "{text}\n{found}");
        let mirrored = told(&pool, MIRROR);
        assert_eq!(mirrored, "2x2 [2, 1, 4, 3]; 1x3 [7, 6, 5]", "after {text}");
    }
    assert!(!std::path::Path::new("x.txt").exists());
}

#[test]
fn each_guard_has_its_verdict_and_the_next_program_sees_nothing() {
    let Some(settings) = settings() else { return };
    check_guards(settings);
}

/// What root may do it may not rely on, and another user must have it too.
#[test]
fn another_user_has_the_same_guards() {
    let Some(settings) = settings() else { return };
    let id = |option| Command::new("id").arg(option).output().unwrap().stdout;
    if id("-u") != b"0\n" {
        eprintln!("skipped: this is not root, so these tests run as another user anyhow");
        return;
    }
    let as_nobody = |program: &OsStr| {
        let mut command = Command::new(program);
        command.current_dir("/").uid(65534).gid(65534);
        command
    };
    let python = as_nobody(settings.python.as_os_str())
        .arg("--version")
        .output();
    let this = std::env::current_exe().unwrap();
    let found = as_nobody(this.as_os_str())
        .args(["guard", "without_landlock", "--skip", "another_user"])
        .output();
    let has_python = python.is_ok_and(|python| python.status.success());
    let Some(found) = found.ok().filter(|_| has_python) else {
        eprintln!("skipped: another user cannot run Python or this test");
        return;
    };
    let told = String::from_utf8_lossy(&found.stdout);
    assert!(
        found.status.success() && told.contains(" 2 passed"),
        "{told}"
    );
}

#[test]
fn without_landlock_no_file_is_opened() {
    let Some(settings) = settings() else { return };
    let late = "import xml.dom.minidom\ndef transform(g):\n    return [[1]]";
    let pool = Pool::new(settings.clone()).unwrap();
    if pool.guards().landlock == 0 {
        println!("skipped: this kernel has no Landlock");
        return;
    }
    assert_eq!(told(&pool, late), "1x1 [1]");
    let without = Settings {
        landlock: false,
        ..settings
    };
    let pool = Pool::new(without.clone()).unwrap();
    assert_eq!(pool.guards().landlock, 0);
    assert!(pool.guards().seccomp);
    let found = told(&pool, late);
    assert!(found.starts_with("Exception line 1: "), "{found}");
    check_guards(without);
}

#[test]
fn a_program_without_isolation_still_has_its_limits() {
    let Some(settings) = settings() else { return };
    let pool = Pool::new(Settings {
        isolation: Isolation::None,
        ..settings
    })
    .unwrap();
    assert_eq!(pool.guards(), Guards::default());
    let found = told(&pool, "def transform(g):\n    while True: pass");
    assert!(found.starts_with("Cpu line 2"), "{found}");
}

#[test]
fn which_text_is_a_program() {
    let Some(settings) = settings() else { return };
    let pool = Pool::new(settings).unwrap();
    let one = "1x1 [1]";
    let cases = [
        // The last function with the name of an answer that takes one argument.
        (
            "def solve(g):\n    return [[1]]\ndef main():\n    pass",
            one,
        ),
        (
            "def solve(g):\n    return 0\ndef transform(g):\n    return [[1]]",
            one,
        ),
        ("p = lambda g: [[1]]", one),
        ("def f(g, n=0):\n    return [[1]]\ntransform = f", one),
        (
            "def helper(g):\n    return [[1]]\ndef fit(g):\n    return helper(g)",
            one,
        ),
        (
            "def a(g):\n    return g\ndef b(g):\n    return g",
            "no program: line 1: no function `transform`, nor a single one of one argument",
        ),
        // Names are bound in any way there is.
        (
            "from math import *\ndef solve(g):\n    return [[int(floor(1.5))]]",
            one,
        ),
        (
            "def solve(g):\n    global n\n    n = 1\n    return [[n]]",
            one,
        ),
        ("def solve(g):\n    global unused\n    return [[1]]", one),
        (
            "if True:\n    k = 1\ndef solve(g):\n    return [[(lambda: k)()]]",
            one,
        ),
        (
            "class C:\n    x = 1\ndef solve(g):\n    return [[C.x for _ in g if _][:1]] if 0 else [[1]]",
            one,
        ),
        (
            "def solve(g):\n    return f(g)\ndef f(g):\n    return vmiror(g)",
            "no program: line 4: the name `vmiror` is not defined",
        ),
        (
            "solve = lambda g: [[y for x in g]]",
            "no program: line 1: the name `y` is not defined",
        ),
        (
            "from dsl import *\ndef solve(g):\n    return [[1]]",
            "no program: line 1: it imports the DSL, as no free Python does",
        ),
        (
            "def solve(g):\n    return (",
            "no program: line 2: not Python: '(' was never closed",
        ),
        (
            "import nothing_at_all\ndef solve(g):\n    return g",
            "Exception line 1: ModuleNotFoundError: No module named 'nothing_at_all' (`modules` names",
        ),
        // What is in a main block belongs to whoever ran the file.
        (
            "def solve(g):\n    return [[1]]\nif __name__ == '__main__':\n    print(solve(task))",
            one,
        ),
        (
            "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: 'int'\ndef solve(g):\n    return [[P(1).x]]",
            one,
        ),
        (
            "def solve(g: tuple):\n    return [[int(type(g) is tuple)]]",
            one,
        ),
        ("def solve(g):\n    return [[int(type(g) is list)]]", one),
    ];
    for (text, expected) in cases {
        let found = told(&pool, text);
        assert!(found.starts_with(expected), "{text}\n{found}");
    }
}

#[test]
fn a_block_may_need_those_before_it() {
    let Some(settings) = settings() else { return };
    let pool = Pool::new(settings).unwrap();
    let block = |before, text: &str| (before, text.to_owned());
    let helper = block(3, "def helper(g):\n    return [[1]]");
    let answer = block(8, "def solve(g):\n    return helper(g)");
    let test = block(12, "print(solve([[1]]))");
    let broken = block(20, "def solve(g)\n    return g");
    let bad = block(20, "def solve(g):\n    return g[100]");
    let inputs = inputs();
    let run = |tries: &[Vec<Block>]| pool.run(tries, &inputs, &mut || false).unwrap();
    let is_right = |outputs: Outputs| outputs[1].is_ok();
    assert!(is_right(run(&[vec![helper.clone(), answer.clone(), test]])));
    // An answer that cannot be read is not replaced by an earlier one.
    let found = run(&[vec![helper.clone(), broken.clone()]]).remove(1);
    let found = found.unwrap_err();
    assert_eq!(found.kind, FailureKind::NoProgram);
    assert_eq!(found.to_string(), "line 21: not Python: expected ':'");
    assert!(is_right(run(&[vec![broken], vec![helper]])));
    assert_eq!(run(&[vec![bad]])[0].as_ref().unwrap_err().line, 22);
}

#[test]
fn steps_are_counted_alike_everywhere() {
    let Some(settings) = settings() else { return };
    let text = "def f(n):\n    return n\ndef transform(g):\n    \"\"\"Eleven.\"\"\"\n    for i in range(2):\n        f(i)\n    \
                x = [i for i in range(3) if i]\n    return [[(lambda: x)()[1], *{i: 0 for i in (1, 2)}]]";
    let inputs = inputs();
    let of = |max_steps| {
        let pool = Pool::new(Settings {
            max_steps: Some(max_steps),
            ..settings.clone()
        });
        run(&pool.unwrap(), text, &inputs)
    };
    // Two rounds with two calls, three elements, a lambda, two keys, and `transform`; for each input anew.
    assert!(of(11).iter().all(Result::is_ok));
    let found = of(10).remove(0).unwrap_err();
    assert_eq!((found.kind, found.line), (FailureKind::Steps, 8));
    assert_eq!(of(0).remove(0).unwrap_err().line, 4);
}

#[test]
fn a_prelude_its_axes_and_an_entry() {
    let Some(settings) = settings() else { return };
    let prelude = "seen = []\ndef first(g):\n    seen.append(g)\n    return [[g[0][1], len(seen)]]";
    let settings = Settings {
        prelude: Some(("common".to_owned(), prelude.to_owned())),
        entry: Some("run".to_owned()),
        axes: Axes::ColumnRow,
        grid: GridForm::List,
        ..settings
    };
    let pool = Pool::new(settings.clone()).unwrap();
    let text =
        "from common import *\ndef run(g):\n    return first(g)\ndef transform(g):\n    return g";
    for text in [text, &text.replace("from common import *", "")] {
        assert_eq!(
            told(&pool, text),
            "2x1 [3, 1]; Exception line 3: IndexError: list index out of range"
        );
    }
    let found = told(&pool, MIRROR);
    assert_eq!(
        found,
        "no program: line 1: no function `run` of one argument"
    );
    let broken = Settings {
        prelude: Some(("common".to_owned(), "x = 1\ny".to_owned())),
        ..settings
    };
    let error = Pool::new(broken).unwrap_err().to_string();
    assert_eq!(
        error,
        "the prelude `common` failed: line 2: NameError: name 'y' is not defined"
    );
}

#[test]
fn what_cannot_start_says_why() {
    let Some(settings) = settings() else { return };
    let error = |settings| Pool::new(settings).unwrap_err().to_string();
    let missing = Settings {
        modules: vec!["no_such_package".to_owned()],
        ..settings.clone()
    };
    let found = error(missing);
    assert!(
        found.starts_with("the module `no_such_package` cannot be imported: "),
        "{found}"
    );
    let found = error(Settings::of("/nowhere/python".into()));
    assert!(found.starts_with("/nowhere/python: "), "{found}");
    let found = error(Settings::of("true".into()));
    assert!(found.starts_with("true: "), "{found}");
}

#[test]
fn threads_share_a_pool_and_a_run_can_be_ended() {
    let Some(settings) = settings() else { return };
    let pool = Pool::new(Settings {
        workers: 2,
        ..settings
    })
    .unwrap();
    let inputs = inputs();
    let waits = tries("import time\ndef transform(g):\n    time.sleep(9)");
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                assert!(run(&pool, MIRROR, &inputs)[0].is_ok());
            });
        }
    });
    let began = Instant::now();
    let is_over = &mut || began.elapsed() > Duration::from_millis(200);
    let ended = pool.run(&waits, &inputs, is_over);
    assert!(matches!(ended, Err(PoolError::Cancelled)));
    assert!(began.elapsed() < Duration::from_secs(5));
    // Its worker was ended; the next run starts another.
    for _ in 0..2 {
        assert!(run(&pool, MIRROR, &inputs)[0].is_ok());
    }
}

#[test]
fn programs_are_recognised_and_not_executed() {
    let Some(settings) = settings() else { return };
    let pool = Pool::new(settings).unwrap();
    let endless = tries("while True:\n    pass\ndef transform(g):\n    return g");
    let none = tries("x = 1");
    let deep = tries(&format!("def p(g):\n    return {}1", "-".repeat(200_000)));
    let broken = tries("def transform(g) return g");
    let codes = [&endless, &deep, &none, &broken, &endless];
    let codes: Vec<_> = std::iter::repeat_n(codes, 30)
        .flatten()
        .map(|it| &it[..])
        .collect();
    let found = pool.recognise(&codes).unwrap();
    assert_eq!(found.len(), codes.len());
    let lines = found
        .iter()
        .map(|it| it.as_ref().map(|failure| failure.line));
    let lines: Vec<_> = lines.collect();
    for of_five in lines.chunks(5) {
        assert_eq!((of_five[0], of_five[4]), (None, None));
        assert_eq!((of_five[2], of_five[3]), (Some(1), Some(1)));
        assert!(of_five[1].is_some());
    }
}
