//! Runs arbitrary programs, well typed and ill typed: the result is always a value within the limits or a typed error.

use arc_dsl::generate::Generator;
use arc_dsl::{EvalError, Grid, Interpreter, Limits, Program, Type, Value};
use arc_text::parse_programs;
use proptest::prelude::*;

/// Limits that random programs do reach.
fn tight() -> Limits {
    Limits {
        max_steps: 5_000,
        max_cells: 2_000,
        max_elements: 5_000,
        max_memory: 8_000,
        max_nesting: 20,
        timeout: None,
    }
}

/// How many elements a value holds, including those nested inside its elements.
fn elements(value: &Value) -> u64 {
    let inside = |c: arc_dsl::Container<'_>| c.iter().map(|v| 1 + elements(&v)).sum();
    value.as_container().map_or(0, inside)
}

/// Runs the program on a grid from the generator and checks what must hold for every program.
fn check(program: &Program, generator: &mut Generator) {
    let input = generator.value(Type::Grid);
    let limits = tight();
    let mut interpreter = Interpreter::new(limits.clone());
    let result = interpreter.run(program, input.clone());
    match &result {
        Ok(value) => {
            // A pair or a cell counts as one element inside a set of them, and as up to four here.
            assert!(elements(value) <= 5 * limits.max_elements + 5, "{program}");
            if let Some(grid) = value.as_grid() {
                assert!(
                    grid.cells().len() as u64 <= limits.max_cells.max(limits.max_elements),
                    "{program}"
                );
            }
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            let last = program.steps().last().map_or(0, |step| step.line);
            assert!(error.line <= last, "{error}\n{program}");
        }
    }
    // The interpreter keeps no state between runs. A function that is created again is a different one, so compare
    // texts.
    let text = |result: Result<Value, EvalError>| result.map(|value| value.to_string());
    let again = interpreter.run(program, input);
    assert_eq!(text(again), text(result), "{program}");
    let text = program.to_string();
    let parsed = parse_programs(&text);
    assert_eq!(parsed, [Ok(program.clone())], "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn well_typed_programs_end_within_the_bounds(seed: u64, steps in 1..40usize) {
        let mut generator = Generator::new(seed);
        let program = generator.program(steps).expect("the generator makes programs");
        check(&program, &mut generator);
    }

    #[test]
    fn ill_typed_programs_end_within_the_bounds(seed: u64, steps in 1..40usize) {
        let mut generator = Generator::new(seed);
        let program = generator.ill_typed_program(steps).expect("the generator makes programs");
        check(&program, &mut generator);
    }
}

#[test]
fn most_short_programs_succeed_and_every_bound_is_reached() {
    let mut generator = Generator::with_scenes(1, 100);
    let mut interpreter = Interpreter::default();
    let mut succeeded = 0;
    let mut limits = std::collections::HashSet::new();
    let mut bounded = Interpreter::new(tight());
    for _ in 0..1_000 {
        let program = generator.program(6).expect("the generator makes programs");
        let input = generator.value(Type::Grid);
        succeeded += u32::from(interpreter.run(&program, input).is_ok());
        let program = generator.program(40).expect("the generator makes programs");
        if let Err(error) = bounded.run(&program, Grid::filled(30, 30, 1)) {
            limits.extend(error.limit().map(|limit| limit.to_string()));
        }
    }
    assert!(succeeded > 600, "{succeeded} of 1000");
    for bound in ["steps", "elements of a container", "memory"] {
        assert!(limits.contains(bound), "{limits:?}");
    }
}
