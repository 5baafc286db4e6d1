//! `mega-batch explain`.

use super::support::Folder;

const PROGRAMS: &str = "\
def solve_rings(I):
    x1 = objects(I, T, F, T)
    x2 = fork(recolor, color, outbox)
    x3 = mapply(x2, x1)
    x4 = height(I)
    O = paint(I, x3)
    return O

def solve_function(I):
    x1 = compose(first, last)
    return x1
";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("programs.py", PROGRAMS);
    folder
}

#[test]
fn a_form_is_printed_with_its_sizes() {
    let done = folder().run("explain --programs programs.py --name solve_rings --pass dead");
    let expected = "\
form solve_rings(v0: grid):
  v1: set<object> = objects(v0, True, False, True) @2
  v2: object = mapply(v1) @4 {v3: object ->
    v4: int = color(v3) @4
    v5: indices = outbox(v3) @4
    v6: object = recolor(v4, v5) @4
    yield v6
  }
  v7: grid = paint(v0, v2) @6
  return v7

6 instructions, loops, none in another
";
    assert_eq!(
        (done.code, done.stdout.as_str(), done.stderr.as_str()),
        (0, expected, "")
    );
}

#[test]
fn a_plan_says_how_values_are_held() {
    let done = folder().run("explain --program programs.py --name solve_rings");
    let expected = "\
form solve_rings(v0: grid):
  v1: set<object> = objects(v0, True, False, True) @2
  v2: object = mapply(v1) @4 [parts, clipped] {v3: object ->
    v4: int = color(v3) @4
    v5: indices = outbox(v3) @4 [clipped]
    v6: object = recolor(v4, v5) @4 [clipped]
    yield v6
  }
  v7: grid = paint(v0, v2) @6
  return v7

6 instructions, loops, none in another
values held as: typed 5, parts 1
values clipped to rows and columns 0 to 31: 3
";
    assert_eq!((done.code, done.stdout.as_str()), (0, expected));
    let done = folder().run("explain --program programs.py --name solve_rings --without plan");
    assert!(!done.stdout.contains("parts"), "{}", done.stdout);
}

#[test]
fn plans_of_several_programs_are_counted() {
    let done = folder().run("explain --programs programs.py");
    let expected = "\
1 of 2 programs have a form
instructions: median 6, p90 6, p99 6, most 6
loops 1 deep: 1
values held as: typed 5, parts 1
values clipped to rows and columns 0 to 31: 3
no form: a function is used as a value: 1 (solve_function, line 10)
";
    assert_eq!((done.code, done.stdout.as_str()), (0, expected));
}

#[test]
fn a_dead_step_stays_without_the_pass() {
    let done = folder().run("explain --programs programs.py --name solve_rings --without dead");
    assert!(
        done.stdout.contains("v7: int = height(v0) @5"),
        "{}",
        done.stdout
    );
}

#[test]
fn of_several_programs_the_reasons_are_counted() {
    let done = folder().run("explain --programs programs.py --pass dead");
    let expected = "\
1 of 2 programs have a form
instructions: median 6, p90 6, p99 6, most 6
loops 1 deep: 1
no form: a function is used as a value: 1 (solve_function, line 10)
";
    assert_eq!((done.code, done.stdout.as_str()), (0, expected));
}

#[test]
fn a_name_that_is_not_there_is_told() {
    let done = folder().run("explain --programs programs.py --name solve_other");
    let expected = "programs.py: no program named solve_other\n";
    assert_eq!(
        (done.code, done.stdout.as_str(), done.stderr.as_str()),
        (2, "", expected)
    );
}

#[test]
fn a_name_that_is_not_built_in_is_bad_input() {
    let done = folder().run("explain --name nope");
    let expected = "mega-batch: no program named nope is built in\n";
    assert_eq!(
        (done.code, done.stdout.as_str(), done.stderr.as_str()),
        (2, "", expected)
    );
}

#[test]
fn all_built_in_programs_have_a_form() {
    let done = folder().run("explain");
    let (first, rest) = done.stdout.split_once('\n').unwrap();
    let (forms, programs) = first.split_once(" of ").unwrap();
    assert_eq!(format!("{forms} programs have a form"), programs);
    assert!(!rest.contains("no form"), "{rest}");
}
