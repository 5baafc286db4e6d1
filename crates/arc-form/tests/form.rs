//! The first-order form against the reference interpreter: built-in programs and random ones, on inputs for
//! them and on others.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by a panic, its helpers too"
)]

use arc_dsl::generate::Generator;
use arc_dsl::{ErrorKind, EvalError, Grid, Interpreter, Limit, Program, Type, Value};
use arc_form::{self, BailOut, Evaluator, Form, Options, Stop};
use arc_tasks::builtin;
use arc_text::parse_programs;
use proptest::prelude::*;

/// The result of comparing one evaluation.
#[derive(Debug, PartialEq, Eq)]
enum Compared {
    Value,
    Error,
    BailedOut,
    /// The reference stopped at a bound that the form counts differently.
    Further,
}

/// Whether both are errors of one kind: the same variant, and for limits the same limit.
fn same_kind(a: &EvalError, b: &EvalError) -> bool {
    match (a.kind, b.kind) {
        (ErrorKind::Limit(a), ErrorKind::Limit(b)) => a == b,
        (a, b) => std::mem::discriminant(&a) == std::mem::discriminant(&b),
    }
}

fn compare(program: &Program, form: &Form, input: &Grid) -> Compared {
    let expected = Interpreter::default().run(program, input.clone());
    let found = Evaluator::default().run(form, input);
    let show = || format!("{program}\n{form}\n{input}\n{expected:?}\n{found:?}");
    match (&expected, &found) {
        (_, Err(Stop::BailOut(BailOut::Type(_)))) => Compared::BailedOut,
        (Ok(a), Ok(b)) => {
            assert_eq!(a, b, "{}", show());
            assert_eq!(a.to_string(), b.to_string(), "{}", show());
            Compared::Value
        }
        (Err(a), _)
            if matches!(
                a.limit(),
                Some(Limit::Steps | Limit::Memory | Limit::Nesting | Limit::Elements)
            ) =>
        {
            Compared::Further
        }
        (_, Err(Stop::BailOut(BailOut::Limit(_)))) => Compared::BailedOut,
        (Err(a), Err(Stop::Error(b))) => {
            assert!(same_kind(a, b), "{}", show());
            assert_eq!(a.line, b.line, "{}", show());
            Compared::Error
        }
        _ => panic!("{}", show()),
    }
}

/// Invariants of every form.
fn check_form(form: &Form) {
    form.verify()
        .unwrap_or_else(|fault| panic!("{fault}\n{form}"));
    let text = form.to_string();
    let read = arc_form::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(&read, form, "{text}");
}

/// Variants of specialising that must not change a result.
fn without_passes() -> [Options; 3] {
    let all = Options {
        max_instructions: 20_000,
        max_work: 200_000,
        ..Options::default()
    };
    [
        Options {
            fold: false,
            ..all.clone()
        },
        Options {
            dead: false,
            ..all.clone()
        },
        Options {
            share: false,
            ..all
        },
    ]
}

#[test]
fn every_built_in_program_has_a_form_that_gives_its_results() {
    for built_in in builtin::all() {
        let program = built_in.program();
        let form = arc_form::specialise(program)
            .unwrap_or_else(|error| panic!("{}: {error}", program.name()));
        check_form(&form);
        for at in 0..4 {
            let input = built_in.input(3, at, 30);
            assert_eq!(compare(program, &form, &input), Compared::Value);
        }
    }
}

#[test]
fn every_built_in_program_on_inputs_of_others_ends_alike() {
    let mut bail_outs = 0;
    for (at, built_in) in builtin::all().iter().enumerate() {
        let form = arc_form::specialise(built_in.program()).unwrap();
        for (other, from) in builtin::all().iter().enumerate().skip(at % 7).step_by(7) {
            let input = from.input(at as u64, other, 12);
            let compared = compare(built_in.program(), &form, &input);
            bail_outs += u32::from(compared == Compared::BailedOut);
        }
    }
    assert!(bail_outs < 20, "{bail_outs}");
}

#[test]
fn without_a_pass_results_are_the_same() {
    for built_in in builtin::all() {
        let program = built_in.program();
        let input = built_in.input(11, 0, 10);
        for options in without_passes() {
            let form = arc_form::specialise_with(program, &options)
                .unwrap_or_else(|error| panic!("{}: {error} {options:?}", program.name()));
            check_form(&form);
            assert_eq!(
                compare(program, &form, &input),
                Compared::Value,
                "{options:?}"
            );
        }
    }
}

#[test]
fn forms_are_made_of_most_random_programs_and_hardly_any_hands_back() {
    let mut generator = Generator::with_scenes(2, 200);
    let (mut forms, mut values, mut errors, mut bail_outs) = (0, 0, 0, 0);
    for _ in 0..1_500 {
        let program = generator.program(10).unwrap();
        let Value::Grid(input) = generator.value(Type::Grid) else {
            continue;
        };
        let Ok(form) = arc_form::specialise(&program) else {
            continue;
        };
        forms += 1;
        match compare(&program, &form, &input) {
            Compared::Value => values += 1,
            Compared::Error => errors += 1,
            Compared::BailedOut => bail_outs += 1,
            Compared::Further => {}
        }
    }
    assert!(forms > 1_200, "{forms} {values} {errors} {bail_outs}");
    assert!(
        values > 500 && errors > 100,
        "{forms} {values} {errors} {bail_outs}"
    );
    assert!(
        bail_outs < forms / 20,
        "{forms} {values} {errors} {bail_outs}"
    );
}

#[test]
fn an_empty_container_of_anything_may_be_a_grid() {
    let text = "def f(I):\n x1 = mostcommon(I)\n x2 = objects(x1, paint, I, dneighbors)\n return I";
    let program = parse_programs(text).remove(0).unwrap();
    let form = arc_form::specialise(&program).unwrap();
    // A row without cells is the empty grid, and a function counts as true.
    compare(&program, &form, &Grid::filled(1, 0, 0));
    let compared = compare(&program, &form, &Grid::filled(1, 2, 0));
    assert_eq!(compared, Compared::Error);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn well_typed_programs_end_as_in_the_reference(seed: u64, steps in 1..25usize) {
        let mut generator = Generator::new(seed);
        let program = generator.program(steps).expect("the generator makes programs");
        let input = generator.value(Type::Grid);
        if let (Ok(form), Some(input)) = (arc_form::specialise(&program), input.as_grid()) {
            check_form(&form);
            compare(&program, &form, &input);
            for options in without_passes() {
                if let Ok(form) = arc_form::specialise_with(&program, &options) {
                    check_form(&form);
                    compare(&program, &form, &input);
                }
            }
        }
    }

    #[test]
    fn ill_typed_programs_end_as_in_the_reference(seed: u64, steps in 1..12usize) {
        let mut generator = Generator::new(seed);
        let program = generator.ill_typed_program(steps).expect("the generator makes programs");
        let input = generator.value(Type::Grid);
        if let (Ok(form), Some(input)) = (arc_form::specialise(&program), input.as_grid()) {
            check_form(&form);
            compare(&program, &form, &input);
        }
    }
}
