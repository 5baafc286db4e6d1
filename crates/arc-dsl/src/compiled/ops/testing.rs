//! Calls at random, run by the machine and by the reference.

use crate::compiled::{Compiled, Machine, Stop, Vectors};
use crate::form::{Options, specialise_with};
use crate::generate::Generator;
use crate::{Grid, Interpreter, Primitive};

/// Checks that the machine gives what the reference gives for calls of the primitive, or hands
/// back, and gives the numbers of calls that it answered and of all that it has kernels for.
pub(super) fn check(primitive: Primitive, seed: u64, calls: usize) -> (usize, usize) {
    let mut generator = Generator::with_scenes(seed, 60);
    let mut interpreter = Interpreter::default();
    let mut machine = Machine::default();
    // The arguments are constants; folded, nothing would be left to run.
    let options = Options {
        fold: false,
        ..Options::default()
    };
    let (mut answered, mut run) = (0, 0);
    for at in 0..calls {
        let case = generator.case(primitive);
        let program = case.program().unwrap();
        let form = specialise_with(&program, &options).unwrap();
        let vectors = [Vectors::Baseline, Vectors::Wide][at % 2];
        let Ok(compiled) = Compiled::with_vectors(&form, vectors) else {
            continue;
        };
        run += 1;
        let expected = interpreter.run(&program, Grid::default());
        let found = machine.run(&compiled, &Grid::default());
        match found.map(|output| output.value()) {
            Ok(value) => assert_eq!(Ok(value), expected, "{case}"),
            Err(Stop::Error(error)) => assert_eq!(Err(error), expected, "{case}"),
            Err(Stop::HandBack(_)) => continue,
        }
        answered += 1;
    }
    (answered, run)
}
