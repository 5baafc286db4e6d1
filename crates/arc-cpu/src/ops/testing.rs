//! Random calls, run by the machine and by the reference.

use std::fmt::Display;

use crate::{Compiled, Machine, Output, Stop, Vectors};
use arc_dsl::generate::Generator;
use arc_dsl::{EvalError, Grid, Interpreter, Primitive, Type, Value};
use arc_form::{Options, specialise, specialise_with};
use arc_text::parse_programs;

/// Checks that the machine gave what the reference gives, and if it knows the order of its sets, also that.
fn same(output: Output<'_>, expected: &Result<Value, EvalError>, call: &dyn Display) {
    assert_eq!(Ok(&output.unordered_value()), expected.as_ref(), "{call}");
    if let (Ok(value), Ok(expected)) = (output.value(), expected) {
        assert_eq!(value.to_string(), expected.to_string(), "{call}");
    }
}

/// Checks that the machine ends with the error of the reference, which may name another primitive of the line.
fn fails_alike(error: EvalError, expected: &Result<Value, EvalError>, call: &dyn Display) {
    let expected = expected.as_ref().map_err(|error| (error.line, error.kind));
    assert_eq!(Err((error.line, error.kind)), expected, "{call}");
}

/// Checks that the machine gives what the reference gives for calls of the primitive, or bails out. Returns the
/// numbers of calls that it answered and of all that it has kernels for.
fn check(primitive: Primitive, seed: u64, calls: usize) -> (usize, usize) {
    let mut generator = Generator::with_scenes(seed, 60);
    let mut interpreter = Interpreter::default();
    let mut machine = Machine::default();
    // The arguments are constants: with folding, nothing would be left to run.
    let options = Options {
        fold: false,
        ..Options::default()
    };
    let (mut answered, mut run) = (0, 0);
    for at in 0..calls {
        let case = generator.case(primitive);
        let program = case.program().unwrap();
        let Ok(form) = specialise_with(&program, &options) else {
            continue;
        };
        let vectors = [Vectors::Baseline, Vectors::Wide][at % 2];
        let Ok(compiled) = Compiled::with_vectors(&form, vectors) else {
            continue;
        };
        run += 1;
        let expected = interpreter.run(&program, Grid::default());
        let found = machine.run(&compiled, &Grid::default());
        match found {
            Ok(output) => same(output, &expected, &case),
            Err(Stop::Error(error)) => fails_alike(error, &expected, &case),
            Err(Stop::BailOut(_)) => continue,
        }
        answered += 1;
    }
    (answered, run)
}

/// The same for a program on random grids; returns the number that the machine answered.
pub(crate) fn check_text(text: &str, seed: u64, grids: usize) -> usize {
    let program = parse_programs(text).remove(0).unwrap();
    let form = specialise(&program).unwrap();
    let versions = [Vectors::Baseline, Vectors::Wide]
        .map(|vectors| Compiled::with_vectors(&form, vectors).unwrap());
    let mut generator = Generator::new(seed);
    let mut interpreter = Interpreter::default();
    let mut machine = Machine::default();
    let mut answered = 0;
    for at in 0..grids {
        let compiled = &versions[at % 2];
        let value = generator.value(Type::Grid);
        let grid = value.as_grid().unwrap();
        let expected = interpreter.run(&program, grid.as_ref().clone());
        let found = machine.run(compiled, &grid);
        match found {
            Ok(output) => same(output, &expected, &format_args!("{text}{grid}")),
            Err(Stop::Error(error)) => fails_alike(error, &expected, &text),
            Err(Stop::BailOut(_)) => continue,
        }
        answered += 1;
    }
    answered
}

/// All primitives that have kernels, loops included: none gives a wrong value or a wrong error, and most calls are
/// answered. A new kernel is tested here without being listed.
#[test]
fn calls_give_what_the_reference_gives() {
    let mut tested = 0;
    for &primitive in Primitive::ALL {
        let (answered, run) = check(primitive, 3, 300);
        // Two of the colours of `switch` are usually outside the range of planes.
        let percent = if primitive == Primitive::Switch {
            60
        } else {
            75
        };
        assert!(
            100 * answered >= percent * run,
            "{primitive}: {answered} of {run}"
        );
        tested += usize::from(run >= 100);
    }
    assert!(tested > 140, "{tested}");
}
