mod reuse;

use arc_dsl::generate::Generator;
use arc_dsl::{ErrorKind, EvalError, Grid, Interpreter, Limits, Primitive as P, Program, Value};
use arc_tasks::builtin;
use arc_text::parse_programs;

use super::super::tests::{grids, is_function};
use super::{Batt, Bounds, Merged, Refused};
use crate::batt::{Distance, Pushed};

fn bounds() -> Bounds {
    Bounds {
        call: Limits::default(),
        ..Bounds::default()
    }
}

fn programs(text: &str) -> Vec<Program> {
    parse_programs(text)
        .into_iter()
        .map(Result::unwrap)
        .collect()
}

/// Compares what a program gives with the reference, on every input; returns on how many it fails.
fn compare(batt: &Batt, merged: &Merged, program: &Program, inputs: &[Grid]) -> usize {
    let mut failures = 0;
    for (input, grid) in inputs.iter().enumerate() {
        let expected = Interpreter::default().run(program, grid.clone());
        let found = batt.result(merged, input);
        failures += usize::from(expected.is_err());
        match (&found, &expected) {
            (Ok(found), Ok(expected)) if is_function(expected) => assert!(is_function(found)),
            (Ok(found), Ok(expected)) => {
                assert_eq!(found.to_string(), expected.to_string(), "{program}");
            }
            _ => assert_eq!(found, expected, "{program}"),
        }
    }
    failures
}

#[test]
fn a_batt_goes_to_the_thread_that_needs_it() {
    fn is_send<T: Send>() {}
    is_send::<Batt>();
    is_send::<Merged>();
}

#[test]
fn mutants_in_one_batt_end_as_each_does_alone() {
    let mut generator = Generator::new(3);
    let [
        mut taken,
        mut refused,
        mut failures,
        mut some,
        mut shared,
        mut calls,
    ] = [0; 6];
    for built_in in builtin::all().iter().step_by(7) {
        let side = built_in.min_side().max(10).min(built_in.max_side());
        let inputs: Vec<_> = (0..3).map(|at| built_in.input(5, at, side)).collect();
        let mutants: Vec<_> = (0..400)
            .map(|_| generator.mutant(built_in.program()))
            .collect();
        let (batt, merged) = Batt::of(&mutants, &inputs, &[], bounds());
        for (program, merged) in mutants.iter().zip(&merged) {
            match merged {
                Ok(merged) => {
                    let failed = compare(&batt, merged, program, &inputs);
                    taken += 1;
                    failures += usize::from(failed == inputs.len());
                    some += usize::from((1..inputs.len()).contains(&failed));
                    calls += merged.calls() as usize;
                    shared += merged.shared() as usize;
                }
                Err(Refused::Function { line }) => {
                    assert!(program.steps().iter().any(|step| step.line == *line));
                    refused += 1;
                }
                Err(other) => panic!("{other}: {program}"),
            }
        }
    }
    assert!(
        taken > 10 * refused && failures > 100 && some > 5,
        "{taken} {refused} {some}"
    );
    assert!(2 * shared > calls, "{shared} of {calls}");
}

#[test]
fn random_programs_in_one_batt_end_as_each_does_alone() {
    for seed in 0..6 {
        let inputs = grids(3, seed);
        let mut generator = Generator::new(seed + 40);
        let all = (0..120).map(|at| match at % 4 {
            0 => generator.ill_typed_program(5),
            _ => generator.program(8),
        });
        let all: Vec<_> = all.map(Result::unwrap).collect();
        let (batt, merged) = Batt::of(&all, &inputs, &[], bounds());
        let taken = all.iter().zip(&merged).filter_map(|(program, merged)| {
            let merged = merged.as_ref().ok()?;
            Some(compare(&batt, merged, program, &inputs))
        });
        assert!(taken.count() > 100);
    }
}

const SOME_FAIL: &str = "
def largest(I):
    x1 = objects(I, T, F, T)
    x2 = argmax(x1, size)
    x3 = subgrid(x2, I)
    O = vmirror(x3)
    return O
def dead(I):
    x1 = objects(I, T, F, T)
    x2 = argmin(x1, size)
    O = hmirror(I)
    return O
def another(I):
    x1 = objects(I, T, F, T)
    x2 = argmax(x1, size)
    x3 = lbind(sfilter, x2)
    x4 = compose(x3, identity)
    x5 = height(x2)
    x6 = objects(I, T, T, T)
    x7 = last(x6)
    O = add(x5, FIVE)
    return O
";

fn with_and_without_objects() -> [Grid; 3] {
    let some = Grid::from_rows(&[[0, 3, 3], [0, 3, 0]]).unwrap();
    [some.clone(), Grid::filled(3, 3, 0), some]
}

#[test]
fn what_fails_on_some_inputs_goes_on_on_the_others() {
    let inputs = with_and_without_objects();
    let all = programs(SOME_FAIL);
    let (batt, merged) = Batt::of(&all, &inputs, &[], bounds());
    for (program, merged) in all.iter().zip(&merged) {
        let merged = merged.as_ref().unwrap();
        assert_eq!(compare(&batt, merged, program, &inputs), 1);
        let error = merged.error(1).unwrap();
        assert_eq!(error.kind, ErrorKind::Empty);
    }
    // The step that both programs share is on a different line in each.
    let lines = [0, 2].map(|at| merged[at].as_ref().unwrap().error(1).unwrap().line);
    assert_eq!(lines, [4, 15]);
    // A node that depends on it fails as its program does.
    let node = merged[0].as_ref().unwrap().output().unwrap();
    let alone = batt.program(node, "f").unwrap();
    let kind = |result: Result<Value, EvalError>| result.map_err(|error| error.kind);
    for (input, grid) in inputs.iter().enumerate() {
        let expected = Interpreter::default().run(&alone, grid.clone());
        assert_eq!(kind(batt.value(node, input)), kind(expected));
    }
    let kinds = (0..inputs.len()).map(|input| batt.error(node, input).map(|error| error.kind));
    assert_eq!(
        kinds.collect::<Vec<_>>(),
        [None, Some(ErrorKind::Empty), None]
    );
}

#[test]
fn nodes_are_the_same_only_where_they_fail_alike() {
    let inputs = with_and_without_objects();
    let targets = inputs.clone().map(Some);
    let keeping = Bounds {
        keeps_failing: true,
        ..bounds()
    };
    let mut batt = Batt::new(&inputs, &targets, keeping);
    let input = batt.input();
    let yes = batt.constant(&Value::Bool(true)).unwrap();
    let no = batt.constant(&Value::Bool(false)).unwrap();
    let mark = batt.mark();
    let mut push = |called: P, arguments: &[_]| batt.push(called, arguments).unwrap();
    let all = push(P::Objects, &[input, yes, no, yes]).node().unwrap();
    let Pushed::New(first) = push(P::First, &[all]) else {
        panic!("it fails on one input alone")
    };
    // There is one object, the first and the last, but `last` is a different call that fails.
    let Pushed::New(last) = push(P::Last, &[all]) else {
        panic!("it fails otherwise")
    };
    let [a, b] = [first, last].map(|node| push(P::Subgrid, &[node, input]).node().unwrap());
    assert_ne!(a, b);
    assert_eq!(push(P::Identity, &[a]), Pushed::Same(a));
    assert_eq!(batt.distance(a, 1), Some(Distance::Size));
    assert!(!batt.is_solution(a));
    let counts = batt.counts().evaluations;
    batt.push(P::Rot90, &[a]).unwrap();
    assert_eq!(batt.counts().evaluations - counts, 2);
    batt.release(mark);
    // Nodes that reuse their numbers do not inherit their errors.
    let again = batt.push(P::Hmirror, &[input]).unwrap().node().unwrap();
    for number in 0..3 {
        assert_eq!(batt.error(again, number), None);
    }
}

#[test]
fn a_full_batt_loses_nothing() {
    let mut generator = Generator::new(12);
    let program = builtin::all()
        .iter()
        .max_by_key(|built_in| built_in.program().steps().len())
        .unwrap();
    let inputs: Vec<_> = (0..3).map(|at| program.input(5, at, 12)).collect();
    let mutants: Vec<_> = (0..400)
        .map(|_| generator.mutant(program.program()))
        .collect();
    let full = Bounds {
        max_bytes: 1 << 20,
        ..bounds()
    };
    let (batt, merged) = Batt::of(&mutants, &inputs, &[], full);
    let (mut taken, mut refused) = (0, 0);
    for (program, merged) in mutants.iter().zip(&merged) {
        match merged {
            Ok(merged) => {
                compare(&batt, merged, program, &inputs);
                taken += 1;
            }
            Err(Refused::Full(full)) => {
                assert_eq!(full.most, 1 << 20);
                refused += 1;
            }
            Err(_) => {}
        }
    }
    assert!(taken > 10 && refused > 10, "{taken} taken, {refused} not");
}

#[test]
fn functions_that_are_passed_as_values_are_refused() {
    let text = "
def same(I):
    x1 = lbind(shift, I)
    x2 = lbind(shift, I)
    O = equality(x1, x2)
    return O
def gathered(I):
    x1 = lbind(compose, first)
    x2 = astuple(first, last)
    x3 = apply(x1, x2)
    x4 = apply(x1, x2)
    O = equality(x3, x4)
    return O
def turned(I):
    x1 = astuple(hmirror, vmirror)
    x2 = product(x1, x1)
    x3 = fork(compose, first, last)
    x4 = apply(x3, x2)
    x5 = lbind(rapply, x4)
    x6 = hsplit(I, TWO)
    x7 = mapply(x5, x6)
    x8 = size(x4)
    O = astuple(x7, x8)
    return O
def applied(I):
    x1 = compose(size, identity)
    x2 = lbind(apply, x1)
    x3 = rbind(sfilter, x1)
    x4 = fork(combine, x3, identity)
    x5 = rows(I)
    O = x2(x5)
    return O
def chosen(I):
    x1 = compose(size, identity)
    x2 = compose(height, identity)
    x3 = size(I)
    x4 = equality(x3, THREE)
    x5 = branch(x4, x1, x2)
    x6 = x5(I)
    x7 = hsplit(I, ONE)
    x8 = apply(x5, x7)
    O = astuple(x6, x8)
    return O
def much(I):
    x1 = compose(size, identity)
    O = x1(I, I, I, I, I)
    return O
";
    let text = text.replace("rows(I)", "hsplit(I, ONE)");
    let inputs = [Grid::filled(2, 2, 1)];
    let all = programs(&text);
    let (batt, merged) = Batt::of(&all, &inputs, &[], bounds());
    assert!(
        matches!(merged[0], Err(Refused::Function { line: 5 })),
        "{:?}",
        merged[0]
    );
    assert!(
        matches!(merged[1], Err(Refused::Function { line: 11 })),
        "{:?}",
        merged[1]
    );
    for at in 2..5 {
        let failed = compare(&batt, merged[at].as_ref().unwrap(), &all[at], &inputs);
        assert_eq!(failed, 0, "{}", all[at]);
    }
    assert!(
        matches!(merged[5], Err(Refused::Arguments { line: 46 })),
        "{:?}",
        merged[5]
    );
    // It does not panic either.
    let mut batt = batt;
    let input = batt.input();
    let function = batt.primitive(P::Size).unwrap();
    let pushed = batt.push(function, &[input; 5]).unwrap();
    assert!(matches!(pushed, Pushed::Failed(_)));
}

#[test]
fn what_the_reference_makes_is_held_as_the_type_that_it_has() {
    // Python takes the columns of a grid for those of a patch: it finds a tuple, not a location.
    let text = "
def corner(I):
    x1 = ulcorner(I)
    O = size(x1)
    return O
";
    let inputs = [
        Grid::from_rows(&[[1, 2, 0], [0, 2, 2]]).unwrap(),
        Grid::from_rows(&[[3, 2, 4, 4], [1, 3, 1, 1]]).unwrap(),
    ];
    let all = programs(text);
    let (batt, merged) = Batt::of(&all, &inputs, &[], bounds());
    assert_eq!(
        compare(&batt, merged[0].as_ref().unwrap(), &all[0], &inputs),
        0
    );
    assert!(batt.nodes().all(|node| batt.ty(node).is_some()));
    // The machine evaluates the call that follows.
    assert_eq!(batt.counts().by_reference, inputs.len() as u64);
}

#[test]
fn mutants_with_functions_in_a_container_end_as_each_does_alone() {
    let text = "
def turned(I):
    x1 = astuple(hmirror, vmirror)
    x2 = astuple(rot90, rot180)
    x3 = combine(x1, x2)
    x4 = product(x1, x3)
    x5 = fork(compose, first, last)
    x6 = apply(x5, x4)
    x7 = first(x6)
    x8 = remove(x7, x6)
    x9 = lbind(rapply, x6)
    x10 = hsplit(I, TWO)
    x11 = mapply(x9, x10)
    x12 = order(x11, height)
    O = first(x12)
    return O
";
    // Without the step that makes a second container of functions.
    let all = programs(text);
    let without = text.replace("    x8 = remove(x7, x6)\n", "");
    let inputs = [
        Grid::from_rows(&[[1, 2, 0, 4], [0, 2, 2, 3]]).unwrap(),
        Grid::from_rows(&[[3, 2], [4, 4], [5, 1]]).unwrap(),
    ];
    let mut generator = Generator::new(17);
    let base = &programs(&without)[0];
    let mut mutants: Vec<_> = (0..600).map(|_| generator.mutant(base)).collect();
    mutants.extend([base.clone(), all[0].clone()]);
    let (batt, merged) = Batt::of(&mutants, &inputs, &[], bounds());
    let (mut taken, mut refused) = (0, 0);
    for (program, merged) in mutants.iter().zip(&merged) {
        match merged {
            Ok(merged) => {
                compare(&batt, merged, program, &inputs);
                taken += usize::from(merged.holds_functions);
            }
            Err(Refused::Function { .. }) => refused += 1,
            Err(other) => panic!("{other}: {program}"),
        }
    }
    assert!(merged[600].is_ok());
    assert!(matches!(merged[601], Err(Refused::Function { line: 10 })));
    assert!(taken > 200 && refused > 1, "{taken} {refused}");
}

/// A batt that uses only the machine and whose first program is refused for passing a primitive: the
/// primitive's node is the only one.
fn refusing(inputs: &[Grid]) -> Batt {
    let machine_alone = Bounds {
        by_reference: false,
        ..bounds()
    };
    let mut batt = Batt::new(inputs, &[], machine_alone);
    let mark = batt.mark();
    let refused = &programs("def a(I):\n    return replace(I, hmirror, 0)\n")[0];
    assert!(matches!(batt.add(refused), Err(Refused::BailOut { .. })));
    batt.release(mark);
    let refused = batt.add(refused);
    assert!(matches!(refused, Err(Refused::BailOut { .. })));
    batt
}

#[test]
fn a_primitive_of_a_refused_program_is_forgotten_with_it() {
    let text = "
def turned(I):
    x1 = compose(rot90, rot180)
    x2 = x1(I)
    return x2
def mirrored(I):
    x1 = compose(hmirror, identity)
    x2 = x1(I)
    return x2
";
    let inputs = [Grid::from_rows(&[[1, 2], [3, 4]]).unwrap()];
    let mut restarted = refusing(&inputs);
    restarted.restart(&inputs, &[]);
    let mut released = refusing(&inputs);
    let mark = Batt::new(&inputs, &[], bounds()).mark();
    released.release(mark);
    for mut batt in [restarted, released] {
        for program in programs(text) {
            let merged = batt.add(&program).unwrap();
            assert_eq!(compare(&batt, &merged, &program, &inputs), 0);
        }
    }
}
