//! Forms of several results: each ends as its program does alone, on all evaluators, whatever happens to the others.

#![allow(clippy::panic, reason = "a test fails by a panic, its helpers too")]

use arc_check::agreement::{Gave, Path, differs};
use arc_cpu::{Compiled, Machine, Vectors};
use arc_dsl::generate::{Generator, Sketch};
use arc_dsl::{EvalError, Grid, Interpreter, Program, Value, builtin, parse_programs};
use arc_form::{Evaluator, Form, Options, specialise_all};
use gpu_kernels::interface::Representation;
use gpu_kernels::{Engine, Evaluation, Pool, Verdict, encode_all};
use gpu_sim::emulated::Emulation;
use gpu_sim::open;

/// Programs of few steps that fail, on different lines and in different ways, some on every grid.
fn failing(number: usize) -> Program {
    let lead = ["x1 = rot90(I)", "x1 = hmirror(I)", "x1 = identity(I)"][number % 3];
    let steps = match number % 7 {
        0 => {
            "x2 = objects(x1, T, F, T)\nx3 = colorfilter(x2, 77)\nx4 = argmax(x3, size)\nreturn x4"
        }
        1 => "x2 = ofcolor(I, 77)\nx3 = first(x2)\nreturn I",
        2 => "x2 = width(x1)\nx3 = subtract(x2, x2)\nx4 = divide(9, x3)\nreturn x1",
        3 => "x2 = index(x1, (99, 99))\nreturn x2",
        4 => {
            "x2 = matcher(size, 1000)\nx3 = objects(x1, T, F, T)\nx4 = extract(x3, x2)\nx5 = subgrid(x4, I)\nreturn x5"
        }
        5 => "x2 = ofcolor(x1, 77)\nx3 = leftmost(x2)\nx4 = add(x3, 1)\nreturn x4",
        _ => {
            "x2 = objects(I, T, F, T)\nx3 = colorfilter(x2, 77)\nx4 = valmax(x3, height)\nx5 = upscale(I, x4)\nx6 = argmin(x3, width)\nreturn x5"
        }
    };
    let pad = (0..number % 5).map(|at| format!("y{at} = height(I)"));
    let steps = pad.chain([lead.to_owned(), steps.replace('\n', "\n    ")]);
    let lines = steps.collect::<Vec<_>>().join("\n    ");
    let text = format!("def fails_{number}(I):\n    {lines}\n");
    match parse_programs(&text).pop() {
        Some(Ok(program)) => program,
        other => panic!("{text}: {other:?}"),
    }
}

/// A thousand programs, a tenth of which fail on purpose; many are variations of others.
fn thousand() -> Vec<Program> {
    let mut generator = Generator::with_scenes(23, 60);
    let built_ins = builtin::all();
    let made = (0..).map(|number| {
        let built_in = built_ins[number * 7 % built_ins.len()].program();
        match number % 10 {
            0 => failing(number / 10),
            1..4 => generator.variation(built_in),
            4..6 => generator.mutant(built_in),
            6 => Sketch::new(built_in)
                .prefix(built_in.steps().len() / 2 + 1)
                .build()
                .unwrap_or_else(|_| built_in.clone()),
            7 => built_in.clone(),
            _ => generator
                .program(3 + number % 9)
                .unwrap_or_else(|_| built_in.clone()),
        }
    });
    let has_form = |program: &Program| arc_form::specialise(program).is_ok();
    made.filter(has_form).take(1000).collect()
}

#[derive(Debug, Default)]
struct Tally {
    values: usize,
    errors: usize,
    bail_outs: usize,
}

impl Tally {
    /// Counts a result that equals the reference's; panics otherwise.
    fn count(
        &mut self,
        path: Path,
        program: &Program,
        reference: &Result<Value, EvalError>,
        gave: &Gave,
    ) {
        assert!(
            !differs(path, reference, gave),
            "{path:?}: {gave}, the reference: {reference:?}\n{program}"
        );
        match (reference, gave) {
            (_, Gave::BailedOut(_)) => self.bail_outs += 1,
            (Ok(_), _) => self.values += 1,
            (Err(_), Gave::Error(_)) => self.errors += 1,
            // A limit that is counted differently.
            (Err(_), _) => {}
        }
    }
}

fn by_form(end: Result<Value, arc_form::Stop>) -> Gave {
    match end {
        Ok(value) => Gave::Value(value),
        Err(arc_form::Stop::Error(error)) => Gave::Error(error),
        Err(arc_form::Stop::BailOut(why)) => Gave::BailedOut(why.to_string()),
    }
}

fn by_machine(end: Result<arc_cpu::Output<'_>, arc_cpu::Stop>) -> Gave {
    match end {
        Ok(output) => Gave::Value(output.value()),
        Err(arc_cpu::Stop::Error(error)) => Gave::Error(error),
        Err(arc_cpu::Stop::BailOut(why)) => Gave::BailedOut(why.to_string()),
    }
}

/// The programs in the form, in the order of its outputs.
fn of_outputs<'p>(form: &Form, programs: &'p [Program]) -> Vec<&'p Program> {
    let numbers = form.outputs.iter().map(|output| output.id as usize);
    numbers.map(|number| &programs[number]).collect()
}

/// Runs the form on both machines and with the form evaluator, and compares with the reference. Returns the results
/// of the form evaluator and of the machine with narrow vectors, and how often that machine bails out of the programs
/// alone.
fn check(form: &Form, programs: &[Program], inputs: &[Grid]) -> (Tally, Tally, usize) {
    let programs = of_outputs(form, programs);
    let (mut interpreter, mut evaluator) = (Interpreter::default(), Evaluator::default());
    let mut machine = Machine::default();
    let compiled = [Vectors::Baseline, Vectors::Wide].map(|vectors| {
        Compiled::with_vectors(form, vectors).unwrap_or_else(|error| panic!("{error}\n{form}"))
    });
    let alone: Vec<_> = (0..programs.len())
        .map(|at| Compiled::with_vectors(&form.slice(at)?, Vectors::Baseline).ok())
        .collect();
    for (at, alone) in alone.iter().enumerate() {
        assert!(alone.is_some() || compiled[0].unsupported(at).is_some());
    }
    let (mut by_forms, mut by_machines, mut alone_back) = (Tally::default(), Tally::default(), 0);
    for input in inputs {
        let reference: Vec<_> = programs
            .iter()
            .map(|program| interpreter.run(program, input.clone()))
            .collect();
        let ends = evaluator.run_all(form, input);
        assert_eq!(ends.len(), programs.len());
        for ((program, reference), end) in programs.iter().zip(&reference).zip(ends) {
            by_forms.count(Path::Form, program, reference, &by_form(end));
        }
        for (compiled, path) in compiled.iter().zip([Path::Baseline, Path::Wide]) {
            assert_eq!(compiled.outputs(), programs.len());
            let outputs = machine.run_all(compiled, input);
            assert_eq!(outputs.len(), programs.len());
            for ((at, program), reference) in programs.iter().enumerate().zip(&reference) {
                let end = outputs.get(at).unwrap_or_else(|| panic!("{at}"));
                if let (Ok(output), Ok(value)) = (&end, reference)
                    && let Some(grid) = value.as_grid()
                {
                    assert!(output.equals(&grid), "{program}");
                }
                let tally = if path == Path::Baseline {
                    &mut by_machines
                } else {
                    &mut Tally::default()
                };
                tally.count(path, program, reference, &by_machine(end));
            }
        }
        for compiled in &alone {
            let end = compiled
                .as_ref()
                .map(|compiled| machine.run(compiled, input));
            let is_back = end.is_none_or(|end| matches!(end, Err(arc_cpu::Stop::BailOut(_))));
            alone_back += usize::from(is_back);
        }
    }
    (by_forms, by_machines, alone_back)
}

fn inputs(count: usize) -> Vec<Grid> {
    let built_ins = builtin::all();
    let inputs = (0..count).map(|at| built_ins[at * 31 % built_ins.len()].input(3, at, 18));
    inputs.collect()
}

#[test]
fn a_thousand_results_end_each_in_its_own_way() {
    let programs = thousand();
    let merged = specialise_all("thousand", &programs, &Options::default());
    let form = merged
        .form
        .unwrap_or_else(|| panic!("no program has a form"));
    let slices = (0..form.outputs.len()).filter_map(|at| form.slice(at));
    let alone: usize = slices.map(|slice| slice.body.len()).sum();
    println!(
        "{} results, {} instructions, {alone} in forms of one",
        form.outputs.len(),
        form.body.len()
    );
    assert_eq!(form.outputs.len(), 1000);
    assert!(form.body.len() < alone * 3 / 4);
    let inputs = inputs(3);
    let (forms, machines, alone_back) = check(&form, &programs, &inputs);
    println!("form: {forms:?}\nmachine: {machines:?}, alone: {alone_back} bailed out");
    assert!(forms.errors > 3 * 90 && forms.values > 3 * 400, "{forms:?}");
    assert!(
        machines.errors > 3 * 40 && machines.values > 3 * 350,
        "{machines:?}"
    );
    // Results that do not bail out alone do not bail out together.
    assert_eq!(machines.bail_outs, alone_back);
}

#[test]
fn a_device_has_a_verdict_for_each_result() {
    let device = match open::emulated(0, &Emulation::default()) {
        Ok(device) => device,
        Err(reason) => return println!("skipped: {reason}"),
    };
    let engine = Engine::new(device);
    let all = thousand();
    let merged = specialise_all("thousand", &all, &Options::default());
    let form = merged
        .form
        .unwrap_or_else(|| panic!("no program has a form"));
    let programs = of_outputs(&form, &all);
    let input = inputs(1).remove(0);
    let mut interpreter = Interpreter::default();
    let (mut pool, mut encoded, mut evaluations, mut expected) =
        (Pool::default(), Vec::new(), Vec::new(), Vec::new());
    let arguments = pool
        .push_grid(&input)
        .unwrap_or_else(|punt| panic!("{punt}"));
    for (program, device_program) in programs.iter().zip(encode_all(&form)) {
        // Values other than grids have more types on the host than representations on the device.
        let Some(device_program) = device_program
            .ok()
            .filter(|one| one.gives() == Representation::Grid)
        else {
            continue;
        };
        let reference = interpreter.run(program, input.clone());
        let grid = reference.as_ref().ok().and_then(Value::as_grid);
        evaluations.push(Evaluation {
            program: encoded.len() as u32,
            arguments,
            expected: grid.and_then(|grid| pool.push_grid(&grid).ok()),
            fetch: true,
            hash: false,
        });
        encoded.push(device_program);
        expected.push((program, reference));
    }
    let run = engine
        .load(&encoded)
        .and_then(|loaded| engine.run(&loaded, &pool, &evaluations));
    let (verdicts, results) = run.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(verdicts.len(), encoded.len());
    let (mut tally, mut failed) = (Tally::default(), 0);
    for (at, (program, reference)) in expected.iter().enumerate() {
        failed += usize::from(reference.is_err());
        let gave = match verdicts[at] {
            Verdict::BailedOut { reason, .. } => Gave::BailedOut(reason.to_string()),
            Verdict::Done { right, .. } => {
                assert!(right || evaluations[at].expected.is_none(), "{program}");
                let none = || Gave::BailedOut("no value".to_owned());
                results.value(at).map_or_else(none, Gave::Value)
            }
        };
        tally.count(Path::Emulated, program, reference, &gave);
    }
    println!(
        "{} programs on the device, {failed} fail: {tally:?}",
        encoded.len()
    );
    assert!(
        tally.values > 100 && failed > 20 && tally.bail_outs >= failed,
        "{tally:?}"
    );
}

#[test]
fn random_programs_merged_end_as_each_does_alone() {
    let mut generator = Generator::with_scenes(5, 60);
    let built_ins = builtin::all();
    let (mut values, mut errors, mut back, mut back_alone) = (0, 0, 0, 0);
    for round in 0..120 {
        let first = match round % 3 {
            0 => built_ins[round * 5 % built_ins.len()].program().clone(),
            1 => generator
                .program(14)
                .unwrap_or_else(|error| panic!("{error}")),
            _ => generator
                .program(8)
                .unwrap_or_else(|error| panic!("{error}")),
        };
        let mut programs = vec![failing(round)];
        programs.extend((0..5).map(|_| generator.mutant(&first)));
        programs.extend((0..2).map(|_| generator.variation(&first)));
        programs.insert(round % programs.len(), first);
        let options = Options {
            fold: round % 2 == 0,
            dead: round % 4 != 0,
            ..Options::default()
        };
        let Some(form) = specialise_all("merged", &programs, &options).form else {
            continue;
        };
        let mut inputs = inputs(1);
        inputs.push(built_ins[round * 5 % built_ins.len()].input(9, round, 12));
        inputs.push(match generator.value(arc_dsl::Type::Grid) {
            Value::Grid(grid) => (*grid).clone(),
            _ => Grid::filled(33, 2, 1),
        });
        let (_, machines, alone) = check(&form, &programs, &inputs);
        values += machines.values;
        errors += machines.errors;
        back += machines.bail_outs;
        back_alone += alone;
    }
    println!("{values} values, {errors} errors, {back} bailed out, {back_alone} alone");
    assert!(values > 600 && errors > 300);
    // Rarely, an error may come from either of two instructions that were merged.
    assert!(back <= back_alone + back_alone / 100);
}
