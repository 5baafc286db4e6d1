//! Programs that the generator makes of other programs.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use arc_dsl::generate::{Generator, Sketch, composition, without_unused};
use arc_dsl::{ErrorKind, Interpreter, Operand, Primitive, Program, Slot, Value};
use arc_tasks::builtin;
use arc_text::parse_programs;

fn program(text: &str) -> Program {
    parse_programs(text).remove(0).unwrap()
}

#[test]
fn a_composition_gives_what_one_program_makes_of_the_other_ones_output() {
    let halves = program("def f(I):\n x1 = lefthalf(I)\n return x1");
    let doubled = program("def g(I):\n x1 = vmirror(I)\n x2 = hconcat(I, x1)\n return x2");
    let composed = composition(&halves, &doubled).unwrap();
    let text = "def g(I):\n    x1 = lefthalf(I)\n    x2 = vmirror(x1)\n    x3 = hconcat(x1, x2)\n    return x3\n";
    assert_eq!(composed.to_string(), text);
}

#[test]
fn steps_that_nothing_uses_are_taken_out_and_functions_that_are_called_stay() {
    let long = program(
        "def f(I):\n x1 = rot90(I)\n x2 = compose(first, last)\n x3 = trim(x1)\n x4 = x2(I)\n x5 = increment(x4)\n return x5",
    );
    let text = "def f(I):\n    x1 = compose(first, last)\n    x2 = x1(I)\n    x3 = increment(x2)\n    return x3\n";
    assert_eq!(without_unused(&long).unwrap().to_string(), text);
    let nothing = program("def f(I):\n x1 = rot90(I)\n return I");
    assert_eq!(without_unused(&nothing).unwrap().steps().len(), 0);
}

#[test]
fn crossovers_have_steps_of_both_and_many_run() {
    let mut generator = Generator::new(3);
    let all = builtin::all();
    let (mut runs, mut other) = (0, 0);
    for (at, from) in all.iter().enumerate() {
        let into = &all[(at * 7 + 3) % all.len()];
        let crossed = generator.crossover(from.program(), into.program()).unwrap();
        other += u32::from(crossed.steps() != into.program().steps());
        let input = into.input(1, 0, 8);
        runs += u32::from(Interpreter::default().run(&crossed, input).is_ok());
    }
    let all = all.len() as u32;
    assert!(runs > all / 4, "{runs} of {all} run");
    assert!(other > all * 9 / 10, "{other} of {all} differ");
}

#[test]
fn a_seed_fixes_the_crossovers() {
    let all = builtin::all();
    let crossed = |seed| {
        let mut generator = Generator::new(seed);
        generator.crossover(all[20].program(), all[30].program())
    };
    assert_eq!(crossed(3), crossed(3));
}

#[test]
fn variations_differ_from_the_program_and_most_of_them_run() {
    let mut generator = Generator::new(8);
    let (mut all, mut same, mut values) = (0, 0, 0);
    for built_in in builtin::all() {
        let input = built_in.input(1, 0, 8);
        for _ in 0..10 {
            let variation = generator.variation(built_in.program());
            all += 1;
            same += u32::from(variation == *built_in.program());
            let result = Interpreter::default().run(&variation, input.clone());
            values += u32::from(result.is_ok());
        }
    }
    assert!(same < all / 4, "{same} of {all} are the same");
    assert!(values > all / 2 && values < all, "{values} of {all} run");
}

#[test]
fn a_seed_fixes_the_variations() {
    let program = builtin::all()[20].program();
    let vary = |seed| Generator::new(seed).variation(program);
    assert_eq!(vary(3), vary(3));
    assert!((0..9).any(|seed| vary(seed) != vary(seed + 1)));
}

#[test]
fn mutants_differ_read_back_and_are_often_ill_typed_and_often_run() {
    let mut generator = Generator::new(8);
    let (mut all, mut same, mut values, mut ill_typed) = (0, 0, 0, 0);
    for built_in in builtin::all() {
        let input = built_in.input(1, 0, 8);
        for _ in 0..10 {
            let mutant = generator.mutant(built_in.program());
            assert_eq!(parse_programs(&mutant.to_string()), [Ok(mutant.clone())]);
            all += 1;
            same += u32::from(mutant == *built_in.program());
            match Interpreter::default().run(&mutant, input.clone()) {
                Ok(_) => values += 1,
                Err(error) => {
                    ill_typed += u32::from(matches!(error.kind, ErrorKind::Type { .. }));
                }
            }
        }
    }
    assert!(same < all / 4, "{same} of {all} are the same");
    assert!(values > all / 3, "{values} of {all} run");
    assert!(ill_typed > all / 10, "{ill_typed} of {all} are ill typed");
}

#[test]
fn a_seed_fixes_the_mutants() {
    let program = builtin::all()[20].program();
    let mutant = |seed| Generator::new(seed).mutant(program);
    assert_eq!(mutant(3), mutant(3));
    assert!((0..9).any(|seed| mutant(seed) != mutant(seed + 1)));
}

#[test]
fn a_step_is_taken_out_and_variables_after_it_are_renamed() {
    let read = program(
        "def f(I):\n x1 = vmirror(I)\n x2 = compose(first, last)\n x3 = x2(x1)\n x4 = add(x3, ONE)\n return x4",
    );
    let sketch = Sketch::new(&read);
    assert_eq!(sketch.build().unwrap(), read);
    let text = |step, instead: &Operand| {
        let without = sketch.without(step, instead)?;
        Some(without.build().unwrap().to_string())
    };
    let input = Operand::Slot(Slot::INPUT);
    let expected = "def f(I):\n    x1 = compose(first, last)\n    x2 = x1(I)\n    x3 = add(x2, ONE)\n    return x3\n";
    assert_eq!(text(0, &input).unwrap(), expected);
    let primitive = Operand::Primitive(Primitive::Size);
    assert!(text(1, &primitive).unwrap().contains("x2 = size(x1)"));
    assert_eq!(text(1, &Operand::Literal(Value::Int(3))), None);
    assert!(text(3, &input).unwrap().ends_with("return I\n"));
}
