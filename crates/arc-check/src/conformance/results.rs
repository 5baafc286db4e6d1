//! Results of any type: a device hands over grids and what is held like them, no lists, so that it
//! compares its result with the reference's by itself.

use std::collections::BTreeMap;

use arc_dsl::generate::Generator;
use arc_dsl::{
    EvalError, Grid, Interpreter, Operand, Primitive, Program, ProgramBuilder, Type, Value, builtin,
};
use arc_form::{Options, specialise_with};
use gpu_kernels::device::{Device, DeviceError};
use gpu_kernels::{BailOut, DeviceProgram, Engine, Evaluation, Pool, Verdict, encode};

/// What came of programs whose results were compared on the device.
#[derive(Debug, Clone, Default)]
pub struct ResultTally {
    /// Evaluations whose result the device found equal to the reference's.
    pub same: u64,
    /// Evaluations of them that have jumps or lists.
    pub with_arena: u64,
    /// Evaluations that fail in the reference and bailed out.
    pub failing: u64,
    /// Programs that only the host runs, by reason.
    pub host_only: BTreeMap<String, u64>,
    /// Evaluations that the device bailed out of, by reason.
    pub bail_outs: BTreeMap<BailOut, u64>,
    /// Evaluations that differ.
    pub different: u64,
    /// The first of them, as text.
    pub first: Option<String>,
}

impl ResultTally {
    /// Adds what came of other evaluations.
    pub fn add(&mut self, other: ResultTally) {
        self.same += other.same;
        self.with_arena += other.with_arena;
        self.failing += other.failing;
        for (reason, count) in other.host_only {
            *self.host_only.entry(reason).or_default() += count;
        }
        for (reason, count) in other.bail_outs {
            *self.bail_outs.entry(reason).or_default() += count;
        }
        self.different += other.different;
        self.first = self.first.take().or(other.first);
    }
}

/// One program on one input.
#[derive(Debug, Clone)]
pub struct ResultCase {
    /// The program.
    pub program: Program,
    /// Its input.
    pub input: Grid,
    /// Whether known values are folded when its form is made.
    pub fold: bool,
}

/// The program with a last step that says whether its result is this one.
fn compared(program: &Program, expected: &Value) -> Option<Program> {
    let mut builder = ProgramBuilder::new(program.name());
    let output = builder.inline(program, &[builder.input()]).ok()?;
    let arguments = [output, Operand::Literal(expected.clone())];
    let equal = builder.call(Primitive::Equality, arguments).ok()?;
    builder.finish(equal).ok()
}

/// The program as the device runs it, with the comparison.
fn encoded(case: &ResultCase, expected: &Value) -> Result<DeviceProgram, String> {
    let program = compared(&case.program, expected).ok_or("no last step can be added")?;
    let options = Options {
        fold: case.fold,
        ..Options::default()
    };
    let form = specialise_with(&program, &options).map_err(|_| "no first-order form")?;
    encode(&form).map_err(|reason| reason.summary())
}

/// Runs each program on its input, all in one launch, and has each result compared. Where the reference
/// fails the device has to bail out.
pub fn results<D: Device>(
    engine: &Engine<D>,
    cases: Vec<ResultCase>,
) -> Result<ResultTally, DeviceError> {
    let mut tally = ResultTally::default();
    let mut interpreter = Interpreter::default();
    let mut programs = Vec::new();
    let mut pool = Pool::default();
    let mut evaluations = Vec::new();
    let mut launched = Vec::new();
    for case in cases {
        let expected = interpreter.run(&case.program, case.input.clone());
        // Of what fails there is nothing to compare with.
        let compared = expected.clone().unwrap_or(Value::Int(0));
        let program = match encoded(&case, &compared) {
            Ok(program) => program,
            Err(reason) => {
                *tally.host_only.entry(reason).or_default() += 1;
                continue;
            }
        };
        match pool.push_grid(&case.input) {
            Err(bail_out) => *tally.bail_outs.entry(bail_out).or_default() += 1,
            Ok(arguments) => {
                evaluations.push(Evaluation {
                    program: programs.len() as u32,
                    arguments,
                    expected: None,
                    fetch: true,
                    hash: false,
                });
                launched.push((case, expected, program.has_arena()));
                programs.push(program);
            }
        }
    }
    let loaded = engine.load(&programs)?;
    let (verdicts, found) = engine.run(&loaded, &pool, &evaluations)?;
    for (number, ((case, expected, has_arena), verdict)) in
        launched.into_iter().zip(verdicts).enumerate()
    {
        match (verdict, &expected) {
            (Verdict::BailedOut { .. }, Err(_)) => tally.failing += 1,
            (Verdict::BailedOut { reason, .. }, Ok(_)) => {
                *tally.bail_outs.entry(reason).or_default() += 1;
            }
            (Verdict::Done { .. }, Ok(_)) if found.value(number) == Some(Value::Int(1)) => {
                tally.same += 1;
                tally.with_arena += u64::from(has_arena);
            }
            (Verdict::Done { .. }, _) => {
                tally.different += 1;
                tally
                    .first
                    .get_or_insert_with(|| described(&case, expected, &programs[number]));
            }
        }
    }
    Ok(tally)
}

fn described(
    case: &ResultCase,
    expected: Result<Value, EvalError>,
    program: &DeviceProgram,
) -> String {
    let reference = match expected {
        Ok(value) => value.to_string(),
        Err(error) => error.to_string(),
    };
    let ResultCase { input, fold, .. } = case;
    format!(
        "{}  on {}\n  folded: {fold}\n  reference: {reference}\n  device finds it unlike:\n{program}",
        case.program,
        Value::from(input.clone())
    )
}

/// Random programs on inputs that suit them, calls of every primitive in turn, and variations of
/// built-in programs: each third of the numbers.
pub fn random_results(seed: u64, count: u64) -> Vec<ResultCase> {
    let mut generator = Generator::new(seed);
    let mut cases = Vec::new();
    let built_ins = builtin::all();
    for number in 0..count {
        let built_in = built_ins.get((number / 3) as usize % built_ins.len());
        let program = match (number % 3, built_in) {
            (0, _) => generator.program(1 + (number / 3) as usize % 14).ok(),
            (1, _) => {
                let all = Primitive::ALL;
                let at = (number / 3 + seed.wrapping_mul(37)) as usize % all.len();
                generator.case(all[at]).program().ok()
            }
            (_, Some(built_in)) => Some(generator.variation(built_in.program())),
            _ => None,
        };
        let random = |generator: &mut Generator| match generator.value(Type::Grid) {
            Value::Grid(grid) => (*grid).clone(),
            _ => Grid::default(),
        };
        let input = match (number % 3, built_in) {
            (2, Some(built_in)) => built_in.input(seed ^ number, 0, 30),
            _ => random(&mut generator),
        };
        if let Some(program) = program {
            cases.push(ResultCase {
                program,
                input,
                // Calls whose arguments are known would be folded away.
                fold: number % 3 == 0 && number % 2 == 0,
            });
        }
    }
    cases
}
