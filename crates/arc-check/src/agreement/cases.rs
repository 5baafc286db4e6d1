//! Random programs and inputs, on which evaluators should agree.

use super::{Checker, Prepared, Tally};
use arc_dsl::generate::{Generator, Sketch};
use arc_dsl::{EvalError, Grid, Operand, Primitive, Program, Slot, Type, Value};
use arc_form::Options;
use arc_tasks::builtin;

/// The number of cases per chunk: few enough to divide the work among many cores, enough that the cost of setting up
/// the generator does not matter.
pub const CHUNK: u64 = 500;

/// The maximum number of steps of a well-typed and of an ill-typed program.
const STEPS: usize = 24;
const ILL_TYPED_STEPS: usize = 12;

/// Checks `cases` cases, at most [`CHUNK`], of the chunk with this number: well-typed programs, ill-typed ones,
/// variations of built-in programs, single calls of every primitive, and calls on degenerate values, each on suitable
/// inputs.
///
/// The same seed and chunk give the same cases on every machine.
pub fn random(seed: u64, chunk: u64, cases: u64, checker: &mut Checker) -> Tally {
    let mut tally = Tally::default();
    // Adjacent seeds must not give similar chunks.
    let mixed = seed
        .wrapping_mul(0x9E37_79B9_7F4A_7C15)
        .wrapping_add(chunk.wrapping_mul(0xD1B5_4A32_D192_ED03));
    let mut generator = Generator::new(mixed);
    let first = chunk.wrapping_mul(CHUNK);
    while tally.evaluations < cases.min(CHUNK) {
        let left = cases.min(CHUNK) - tally.evaluations;
        let number = first.wrapping_add(tally.evaluations);
        match number % 8 {
            0..3 => program(&mut generator, number, left, checker, &mut tally),
            3 => variation(&mut generator, number, left, checker, &mut tally),
            4 if number % 16 < 8 => ill_typed(&mut generator, number, checker, &mut tally),
            4 => degenerate(&mut generator, number, checker, &mut tally),
            _ => call(&mut generator, number, checker, &mut tally),
        }
    }
    tally
}

/// The options of a form, with or without folding of known values.
pub(crate) fn options(fold: bool) -> Options {
    Options {
        fold,
        ..Options::default()
    }
}

/// A grid from the generator, or a larger one from a built-in task.
fn input(generator: &mut Generator, number: u64) -> Grid {
    let built_in = builtin::all().get((number / 5) as usize % builtin::all().len());
    match (number % 5, built_in) {
        (0, Some(built_in)) => built_in.input(number, 0, 30),
        _ => grid(generator),
    }
}

/// A grid from the generator.
pub(crate) fn grid(generator: &mut Generator) -> Grid {
    match generator.value(Type::Grid) {
        Value::Grid(grid) => (*grid).clone(),
        _ => Grid::default(),
    }
}

/// A well-typed program on two inputs. Steps after a failing one do not count, so a program that fails is also
/// checked up to that step.
fn program(
    generator: &mut Generator,
    number: u64,
    left: u64,
    checker: &mut Checker,
    tally: &mut Tally,
) {
    let steps = 1 + number as usize / 8 % STEPS;
    let Ok(program) = generator.program(steps) else {
        return;
    };
    let prepared = Prepared::with(&program, &options(!number.is_multiple_of(3)));
    let first = input(generator, number);
    let result = checker.check(&prepared, &first, tally);
    if left > 1 {
        let second = input(generator, number + 1);
        let _ = checker.check(&prepared, &second, tally);
    }
    if left > 2
        && let Err(EvalError { line, .. }) = result
        && let Some(part) = until(&program, line)
    {
        let _ = checker.check(&Prepared::new(&part), &first, tally);
    }
}

/// A built-in program with changes, on two inputs of its own kind.
fn variation(
    generator: &mut Generator,
    number: u64,
    left: u64,
    checker: &mut Checker,
    tally: &mut Tally,
) {
    let built_ins = builtin::all();
    let Some(built_in) = built_ins.get((number / 8) as usize % built_ins.len()) else {
        return;
    };
    let program = generator.variation(built_in.program());
    let prepared = Prepared::with(&program, &options(number % 16 < 8));
    for index in 0..left.min(2) {
        let input = built_in.input(number, index as usize, 30);
        let _ = checker.check(&prepared, &input, tally);
    }
}

fn ill_typed(generator: &mut Generator, number: u64, checker: &mut Checker, tally: &mut Tally) {
    let steps = 1 + number as usize / 8 % ILL_TYPED_STEPS;
    if let Ok(program) = generator.ill_typed_program(steps) {
        let input = input(generator, number);
        let _ = checker.check(&Prepared::new(&program), &input, tally);
    }
}

/// Calls of each primitive in turn on degenerate values.
fn degenerate(generator: &mut Generator, number: u64, checker: &mut Checker, tally: &mut Tally) {
    let at = (number / 16) as usize % Primitive::ALL.len();
    let Some(primitive) = Primitive::ALL.get(at) else {
        return;
    };
    if let Ok(program) = generator.degenerate_program(*primitive, at % 4) {
        let mut input = input(generator, number);
        for cell in input.cells_mut() {
            *cell %= 9;
        }
        let prepared = Prepared::with(&program, &options(number % 32 < 16));
        let _ = checker.check(&prepared, &input, tally);
    }
}

/// Calls of each primitive in turn, one in four on arguments of any types. The arguments are known, so folding is off;
/// half of the grids are the program's input.
fn call(generator: &mut Generator, number: u64, checker: &mut Checker, tally: &mut Tally) {
    let at = (number / 8 * 3 + number % 8 - 5) as usize % Primitive::ALL.len();
    let Some(primitive) = Primitive::ALL.get(at) else {
        return;
    };
    let case = match number / 8 % 4 {
        0 => generator.case_of_any_types(*primitive),
        _ => generator.case(*primitive),
    };
    let Ok(case) = case.program() else {
        return;
    };
    let (case, input): (Program, Grid) = match input_for_first_grid(&case) {
        Some(with_input) if number.is_multiple_of(2) => with_input,
        _ => (case, Grid::default()),
    };
    let _ = checker.check(&Prepared::with(&case, &options(false)), &input, tally);
}

/// The program before a line, returning the result of its last step; `None` if no step precedes the line.
fn until(program: &Program, line: u32) -> Option<Program> {
    let steps = program.steps().iter();
    match steps.take_while(|step| step.line < line).count() {
        0 => None,
        count => Sketch::new(program).prefix(count).build().ok(),
    }
}

/// The program with its first grid literal replaced by its input, and that grid.
fn input_for_first_grid(program: &Program) -> Option<(Program, Grid)> {
    let mut sketch = Sketch::new(program);
    for number in 0..sketch.operands() {
        if let Some(operand) = sketch.operand_mut(number)
            && let Operand::Literal(Value::Grid(grid)) = operand
        {
            let grid = (**grid).clone();
            *operand = Operand::Slot(Slot::INPUT);
            return Some((sketch.build().ok()?, grid));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agreement::Path;
    use arc_dsl::ProgramBuilder;
    use arc_text::parse_programs;

    #[test]
    fn a_seed_and_a_chunk_fix_the_cases() {
        let run = |seed, chunk| random(seed, chunk, 60, &mut Checker::default()).to_string();
        assert_eq!(run(1, 2), run(1, 2));
        assert_ne!(run(1, 2), run(1, 3));
        assert_ne!(run(1, 2), run(2, 2));
    }

    #[test]
    fn there_are_as_many_cases_as_asked_for_and_most_are_compared() {
        for cases in [1, 7, 200] {
            let tally = random(4, 0, cases, &mut Checker::default());
            assert_eq!(tally.evaluations, cases);
        }
        let tally = random(4, 1, CHUNK + 1, &mut Checker::default());
        assert_eq!(tally.evaluations, CHUNK);
        assert!(tally.agreed(Path::Form) > CHUNK / 2, "{tally}");
        assert!(tally.agreed(Path::Baseline) > CHUNK / 3, "{tally}");
    }

    #[test]
    fn a_program_up_to_a_line_returns_what_it_has_by_then() {
        let text = "def f(I):\n x1 = vmirror(I)\n x2 = size(x1)\n return x1";
        let read = parse_programs(text).remove(0).unwrap();
        let part = until(&read, 3).unwrap().to_string();
        assert_eq!(part, "def f(I):\n    x1 = vmirror(I)\n    return x1\n");
        assert_eq!(until(&read, 2), None);
    }

    #[test]
    fn a_grid_that_is_written_out_becomes_the_input() {
        let mut builder = ProgramBuilder::new("f");
        let grids = [[1, 2], [3, 4]].map(|row| Grid::from_rows(&[row]).unwrap());
        let grids = grids.map(|grid| Operand::Literal(grid.into()));
        let joined = builder.call(Primitive::Hconcat, grids).unwrap();
        let (first, grid) = input_for_first_grid(&builder.finish(joined).unwrap()).unwrap();
        assert_eq!(grid.to_string(), "((1, 2),)");
        assert!(first.to_string().contains("hconcat(I, ((3, 4),))"));
        let (second, grid) = input_for_first_grid(&first).unwrap();
        assert_eq!(grid.to_string(), "((3, 4),)");
        assert_eq!(input_for_first_grid(&second), None);
    }
}
