//! Targets that evaluate: whatever program and grid come of the bytes, all evaluators give the same.

use std::cell::RefCell;
use std::sync::LazyLock;

use arc_check::agreement::{Checker, Gave, Path, Prepared, Tally, differs};
use arc_check::everywhere::Everywhere;
use arc_cpu::{Batt, Bounds};
use arc_dsl::generate::Generator;
use arc_dsl::{Dialect, Grid, Interpreter, Limits, Primitive, Program, Type, Value};
use arc_tasks::builtin;
use arc_text::parse_programs;

/// The most programs of a text, and the most steps of one.
const MOST_PROGRAMS: usize = 4;
const MOST_STEPS: usize = 40;

/// Bounds that a fuzzer reaches in milliseconds.
pub(crate) fn limits() -> Limits {
    Limits {
        max_steps: 200_000,
        max_cells: 20_000,
        max_elements: 50_000,
        max_memory: 200_000,
        max_nesting: 60,
        timeout: None,
    }
}

/// The inputs of programs that are text.
pub(crate) fn two_grids() -> [Grid; 2] {
    let first = Grid::from_rows(&[[0, 3, 3, 0], [0, 3, 0, 0], [5, 0, 0, 5], [1, 1, 2, 8]]);
    let second = Grid::from_rows(&[[4, 4, 4], [4, 0, 4]]);
    [first, second].map(Result::unwrap_or_default)
}

/// Programs with the inputs on which they are run.
struct Case {
    programs: Vec<Program>,
    inputs: Vec<Grid>,
}

/// The values that all cases draw from; what a case is comes of its bytes.
static GENERATOR: LazyLock<Generator> = LazyLock::new(|| Generator::with_scenes(0, 16));

impl Case {
    /// Text is read as programs. Otherwise the first byte says what is made, the second of what or how long,
    /// and the others make its choices.
    fn of(data: &[u8]) -> Self {
        if let Ok(text) = std::str::from_utf8(data) {
            let programs = parse_programs(text)
                .into_iter()
                .flatten()
                .filter(|program| {
                    program.dialect() == Dialect::Public && program.steps().len() <= MOST_STEPS
                });
            let programs: Vec<_> = programs.take(MOST_PROGRAMS).collect();
            if !programs.is_empty() {
                let inputs = two_grids().to_vec();
                return Case { programs, inputs };
            }
        }
        let (kind, number, choices) = match data {
            [kind, number, choices @ ..] => (*kind, usize::from(*number), choices),
            _ => (0, 0, data),
        };
        let mut generator = GENERATOR.choosing_by(choices);
        let inputs = (0..2).filter_map(|_| match generator.value(Type::Grid) {
            Value::Grid(grid) => Some((*grid).clone()),
            _ => None,
        });
        let inputs = inputs.collect();
        let primitive = Primitive::ALL[number % Primitive::ALL.len()];
        let built_in = builtin::all()[number % builtin::all().len()].program();
        let program = match kind % 6 {
            0 => generator.program(1 + number % 24),
            1 => generator.ill_typed_program(1 + number % 12),
            2 => generator.case(primitive).program(),
            3 => generator.case_of_any_types(primitive).program(),
            4 => Ok(generator.variation(built_in)),
            _ => Ok(generator.mutant(built_in)),
        };
        let programs = program.into_iter().collect();
        Case { programs, inputs }
    }
}

thread_local! {
    static CHECKER: RefCell<Checker> = RefCell::new(Checker::with_limits(&limits()));
    /// Nothing where no C++ compiler has made the emulated device.
    static EVERYWHERE: RefCell<Option<Everywhere>> =
        RefCell::new(Everywhere::with_limits(0, &limits()).ok());
}

/// The reference, the form's evaluator, the compiled path, and batts.
pub(crate) fn host(data: &[u8]) {
    let case = Case::of(data);
    CHECKER.with_borrow_mut(|checker| {
        let mut tally = Tally::default();
        for program in &case.programs {
            let prepared = Prepared::new(program);
            for input in &case.inputs {
                let _ = checker.check(&prepared, input, &mut tally);
            }
        }
        if let Some(disagreement) = tally.disagreements.first() {
            panic_with(&disagreement.to_string());
        }
    });
    in_a_batt(&case);
}

/// All programs in one batt, anew, from a mark on, after what was added since is taken back, and over
/// other inputs.
fn in_a_batt(case: &Case) {
    let (inputs, others) = (&case.inputs, case.inputs.get(1..).unwrap_or_default());
    let bounds = Bounds {
        call: limits(),
        ..Bounds::default()
    };
    let mut batt = Batt::new(inputs, &[], bounds);
    add_all(&mut batt, case, inputs, "in a batt");
    let mark = batt.mark();
    add_all(&mut batt, case, inputs, "in a batt behind a mark");
    batt.release(mark);
    add_all(&mut batt, case, inputs, "in a batt taken back to a mark");
    batt.restart(others, &[]);
    add_all(&mut batt, case, others, "in a batt over other inputs");
}

fn add_all(batt: &mut Batt, case: &Case, inputs: &[Grid], how: &str) {
    let mut interpreter = Interpreter::new(limits());
    for program in &case.programs {
        let Ok(merged) = batt.add(program) else {
            continue;
        };
        for (at, input) in inputs.iter().enumerate() {
            let reference = interpreter.run(program, input.clone());
            let gave = batt.result(&merged, at);
            // Bounds are those of each call there.
            let gave = match gave {
                Err(error) if error.limit().is_some() => continue,
                Ok(value) => Gave::Value(value),
                Err(error) => Gave::Error(error),
            };
            if differs(Path::Merged, &reference, &gave) {
                let reference = match reference {
                    Ok(value) => value.to_string(),
                    Err(error) => error.to_string(),
                };
                panic_with(&format!(
                    "{program}\ninput: {input}\nreference: {reference}\n{how}: {gave}"
                ));
            }
        }
    }
}

/// The host's evaluators, the emulated device and the interpreted PTX.
pub(crate) fn devices(data: &[u8]) {
    let case = Case::of(data);
    EVERYWHERE.with_borrow_mut(|everywhere| {
        let Some(everywhere) = everywhere else {
            return;
        };
        let inputs: Vec<_> = case.inputs.iter().collect();
        for program in &case.programs {
            let tally = everywhere
                .programs([(program, &*inputs)])
                .expect("a device that works");
            if tally.different() > 0 {
                panic_with(&tally.to_string());
            }
        }
    });
}

/// A fault, told with what a reader needs to see it again.
#[expect(
    clippy::panic,
    reason = "it is how a fuzz target says that something does not hold"
)]
fn panic_with(what: &str) -> ! {
    panic!("{what}")
}
