//! Results of any type: a device can return grids and values that are held like them, but no lists, so it compares
//! its result with the reference's itself.

use std::ops::Range;

use arc_dsl::generate::Generator;
use arc_dsl::{
    EvalError, Grid, Interpreter, Operand, Primitive, Program, ProgramBuilder, Type, Value, builtin,
};
use arc_form::{Options, specialise_with};
use gpu_kernels::device::{Device, DeviceError};
use gpu_kernels::{BailOut, DeviceProgram, Engine, Evaluation, Place, Pool, Verdict, encode};

use super::{ExpectedVerdict, ProgramTally, is_same};

/// One program on one input.
#[derive(Debug, Clone)]
pub struct ResultCase {
    /// The program.
    pub program: Program,
    /// Its input.
    pub input: Grid,
    /// Whether known values are folded when its form is built.
    pub fold: bool,
}

/// The evaluations of one launch, each with its expected result.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    programs: Vec<DeviceProgram>,
    pool: Pool,
    evaluations: Vec<Evaluation>,
    expected: Vec<Expected>,
}

/// The expected result of an evaluation.
#[derive(Debug)]
enum Expected {
    /// A bail-out: the reference fails.
    Failure,
    /// The comparison that was added to the program is true.
    Equal,
    /// This value and this verdict.
    Value(Value, ExpectedVerdict),
}

/// Why an evaluation is not part of a batch.
#[derive(Debug)]
pub(crate) enum NotRun {
    /// Only the host runs the program.
    HostOnly(String),
    /// The input does not fit the device.
    Input(BailOut),
}

/// How an evaluation ended on a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DeviceResult {
    BailedOut(BailOut),
    /// With the reference's value.
    Same,
    /// With another value, or with any if the reference fails.
    Unlike(String),
    /// The kernel broke this rule of the device.
    Broken(String),
}

impl Batch {
    /// Adds an evaluation of a program that compares its result with the reference's on the device, whatever its
    /// type.
    pub(crate) fn add_compared(
        &mut self,
        case: &ResultCase,
        reference: &Result<Value, EvalError>,
    ) -> Result<&DeviceProgram, NotRun> {
        // If the reference fails, there is nothing to compare with.
        let compared = reference.clone().unwrap_or(Value::Int(0));
        let program = encoded(case, &compared).map_err(NotRun::HostOnly)?;
        let expected = match reference {
            Ok(_) => Expected::Equal,
            Err(_) => Expected::Failure,
        };
        let arguments = self.pool.push_grid(&case.input).map_err(NotRun::Input)?;
        self.programs.push(program);
        self.evaluate(arguments, None, expected);
        Ok(&self.programs[self.programs.len() - 1])
    }

    /// Adds a program, to which the evaluations added next belong.
    pub(crate) fn add_program(&mut self, program: DeviceProgram) {
        self.programs.push(program);
    }

    /// Adds an evaluation of the last program; its result and verdict are fetched.
    pub(crate) fn add_fetched(
        &mut self,
        input: &Grid,
        reference: &Result<Value, EvalError>,
    ) -> Result<(), NotRun> {
        let arguments = self.pool.push_grid(input).map_err(NotRun::Input)?;
        let expected_verdict = ExpectedVerdict::of(input, reference, self.evaluations.len());
        let given = expected_verdict.expected.as_ref();
        let given = given.and_then(|grid| self.pool.push_grid(grid).ok());
        let expected = match reference {
            Ok(value) => Expected::Value(value.clone(), expected_verdict),
            Err(_) => Expected::Failure,
        };
        self.evaluate(arguments, given, expected);
        Ok(())
    }

    fn evaluate(&mut self, arguments: Place, given: Option<Place>, expected: Expected) {
        self.evaluations.push(Evaluation {
            program: self.programs.len() as u32 - 1,
            arguments,
            expected: given,
            fetch: true,
            hash: true,
        });
        self.expected.push(expected);
    }

    /// The number of evaluations.
    pub(crate) fn len(&self) -> usize {
        self.evaluations.len()
    }

    /// Runs all in one launch; returns how each evaluation ended, in their order.
    pub(crate) fn run<D: Device>(
        &self,
        engine: &Engine<D>,
    ) -> Result<Vec<DeviceResult>, DeviceError> {
        self.run_part(engine, 0..self.len())
    }

    /// The same for a range of them.
    pub(crate) fn run_part<D: Device>(
        &self,
        engine: &Engine<D>,
        part: Range<usize>,
    ) -> Result<Vec<DeviceResult>, DeviceError> {
        let loaded = engine.load(&self.programs)?;
        let evaluations = &self.evaluations[part.clone()];
        let (verdicts, results) = engine.run(&loaded, &self.pool, evaluations)?;
        let ended = |(number, (verdict, expected)): (usize, (Verdict, &Expected))| {
            if let Verdict::BailedOut { reason, .. } = verdict {
                return DeviceResult::BailedOut(reason);
            }
            let found = results.value(number).unwrap_or(Value::Nothing);
            match expected {
                Expected::Equal if found == Value::Int(1) => DeviceResult::Same,
                Expected::Equal => {
                    DeviceResult::Unlike("a value other than the reference's".to_owned())
                }
                Expected::Value(value, expected_verdict)
                    if is_same(&found, value) && expected_verdict.agrees(verdict) =>
                {
                    DeviceResult::Same
                }
                Expected::Failure | Expected::Value(..) => {
                    DeviceResult::Unlike(format!("{found} with {verdict:?}"))
                }
            }
        };
        let expected = &self.expected[part];
        let all = verdicts.into_iter().zip(expected).enumerate();
        Ok(all.map(ended).collect())
    }
}

/// The program with a last step that compares its result with this value.
fn compared(program: &Program, expected: &Value) -> Option<Program> {
    let mut builder = ProgramBuilder::new(program.name());
    let output = builder.inline(program, &[builder.input()]).ok()?;
    let arguments = [output, Operand::Literal(expected.clone())];
    let equal = builder.call(Primitive::Equality, arguments).ok()?;
    builder.finish(equal).ok()
}

/// The device program, with the comparison.
fn encoded(case: &ResultCase, expected: &Value) -> Result<DeviceProgram, String> {
    let program = compared(&case.program, expected).ok_or("no last step can be added")?;
    let options = Options {
        fold: case.fold,
        ..Options::default()
    };
    let form = specialise_with(&program, &options).map_err(|_| "no first-order form")?;
    encode(&form).map_err(|reason| reason.summary())
}

/// Runs each program on its input, all in one launch, and compares the results on the device. If the reference fails,
/// the device has to bail out.
pub fn results<D: Device>(
    engine: &Engine<D>,
    cases: Vec<ResultCase>,
) -> Result<ProgramTally, DeviceError> {
    let mut tally = ProgramTally::default();
    let mut interpreter = Interpreter::default();
    let mut batch = Batch::default();
    let mut launched = Vec::new();
    for case in cases {
        let reference = interpreter.run(&case.program, case.input.clone());
        let added = batch.add_compared(&case, &reference);
        match added.map(DeviceProgram::has_arena) {
            Ok(has_arena) => {
                tally.device += 1;
                launched.push((case, reference, has_arena));
            }
            Err(NotRun::HostOnly(reason)) => *tally.host_only.entry(reason).or_default() += 1,
            Err(NotRun::Input(reason)) => *tally.bail_outs.entry(reason).or_default() += 1,
        }
    }
    let ended = batch.run(engine)?;
    let all = launched.into_iter().zip(ended).zip(&batch.programs);
    for (((case, reference, has_arena), ended), program) in all {
        match ended {
            DeviceResult::BailedOut(_) if reference.is_err() => tally.failing += 1,
            DeviceResult::BailedOut(reason) => *tally.bail_outs.entry(reason).or_default() += 1,
            DeviceResult::Same => {
                tally.same += 1;
                tally.with_arena += u64::from(has_arena);
            }
            DeviceResult::Unlike(_) | DeviceResult::Broken(_) => {
                tally.different += 1;
                tally
                    .first
                    .get_or_insert_with(|| described(&case, reference, program));
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

/// A quarter each of random programs on suitable inputs, calls of every primitive in turn, variations of built-in
/// programs, and calls of every primitive on degenerate values.
pub fn random_results(seed: u64, count: u64) -> Vec<ResultCase> {
    let mut generator = Generator::new(seed);
    let mut cases = Vec::new();
    for number in 0..count {
        let (kind, number) = (number % 4, number / 4);
        if kind == 3 {
            cases.extend(degenerate(&mut generator, seed, number));
            continue;
        }
        let built_ins = builtin::all();
        let built_in = built_ins.get(number as usize % built_ins.len());
        let program = match (kind, built_in) {
            (0, _) => generator.program(1 + number as usize % 14).ok(),
            (1, _) => generator.case(primitive(seed, number)).program().ok(),
            (_, Some(built_in)) => Some(generator.variation(built_in.program())),
            _ => None,
        };
        let input = match (kind, built_in) {
            (2, Some(built_in)) => built_in.input(seed ^ number, 0, 30),
            _ => grid(&mut generator),
        };
        if let Some(program) = program {
            cases.push(ResultCase {
                program,
                input,
                // Calls with known arguments would be folded away.
                fold: kind == 0 && number % 2 == 0,
            });
        }
    }
    cases
}

/// Calls of every primitive in turn on degenerate values, followed by calls of others.
pub fn degenerate_results(seed: u64, count: u64) -> Vec<ResultCase> {
    let mut generator = Generator::new(seed);
    let cases = (0..count).filter_map(|number| degenerate(&mut generator, seed, number));
    cases.collect()
}

fn degenerate(generator: &mut Generator, seed: u64, number: u64) -> Option<ResultCase> {
    let primitive = primitive(seed, number);
    let program = generator.degenerate_program(primitive, number as usize % 4);
    let mut input = grid(generator);
    for cell in input.cells_mut() {
        *cell %= 9;
    }
    Some(ResultCase {
        program: program.ok()?,
        input,
        fold: number.is_multiple_of(2),
    })
}

/// One primitive after the other, starting at a different one for each seed.
fn primitive(seed: u64, number: u64) -> Primitive {
    let all = Primitive::ALL;
    let at = number.wrapping_add(seed.wrapping_mul(37)) as usize % all.len();
    all.get(at).copied().unwrap_or(Primitive::Identity)
}

fn grid(generator: &mut Generator) -> Grid {
    match generator.value(Type::Grid) {
        Value::Grid(grid) => (*grid).clone(),
        _ => Grid::default(),
    }
}
