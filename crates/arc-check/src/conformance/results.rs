//! Results of any type: a device can return grids and values that are held like them, but no lists, so it compares
//! its result with the reference's itself.

use std::fmt;
use std::ops::Range;

use arc_dsl::generate::Generator;
use arc_dsl::{EvalError, Grid, Interpreter, Operand, Primitive, Program, ProgramBuilder, Value};
use arc_form::specialise_with;
use arc_tasks::builtin;
use gpu_kernels::device::{Device, DeviceError};
use gpu_kernels::{BailOut, DeviceProgram, Engine, Evaluation, Pool, PoolPlace, Verdict, encode};

use crate::agreement::{grid, options};

use super::{ExpectedVerdict, Tally, compiled, is_same};

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

/// The evaluations of one launch.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    programs: Vec<DeviceProgram>,
    pool: Pool,
    evaluations: Vec<Evaluation>,
    cases: Vec<BatchCase>,
}

/// A case of a batch with its expected result.
#[derive(Debug)]
pub(crate) struct BatchCase {
    pub(crate) case: ResultCase,
    pub(crate) reference: Result<Value, EvalError>,
    /// `None` if the program compares its result with the reference's itself.
    verdict: Option<ExpectedVerdict>,
}

impl BatchCase {
    /// The reference's value or error.
    pub(crate) fn reference(&self) -> String {
        match &self.reference {
            Ok(value) => value.to_string(),
            Err(error) => format!("error: {error}"),
        }
    }
}

/// Why an evaluation is not part of a batch.
#[derive(Debug)]
pub(crate) enum NotRun {
    /// Only the host runs the program.
    HostOnly(String),
    /// The input does not fit the device.
    Input(BailOut),
}

impl Tally {
    fn is_not_run(&mut self, reason: NotRun) {
        match reason {
            NotRun::HostOnly(reason) => *self.host_only.entry(reason).or_default() += 1,
            NotRun::Input(reason) => self.bails_out(reason, false),
        }
    }
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

impl fmt::Display for DeviceResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceResult::BailedOut(reason) => write!(f, "bails out: {reason}"),
            DeviceResult::Same => f.write_str("the same"),
            DeviceResult::Unlike(found) => f.write_str(found),
            DeviceResult::Broken(rule) => write!(f, "breaks a rule: {rule}"),
        }
    }
}

impl Batch {
    /// Adds an evaluation of a program that compares its result with the reference's on the device, whatever its
    /// type.
    pub(crate) fn add_compared(
        &mut self,
        case: ResultCase,
        reference: Result<Value, EvalError>,
    ) -> Result<(), NotRun> {
        // If the reference fails, there is nothing to compare with.
        let compared = reference.clone().unwrap_or(Value::Int(0));
        let program = encoded(&case, &compared).map_err(NotRun::HostOnly)?;
        let arguments = self.pool.push_grid(&case.input).map_err(NotRun::Input)?;
        self.programs.push(program);
        self.evaluate(arguments, None, case, reference, None);
        Ok(())
    }

    /// Adds a program, to which the evaluations added next belong.
    pub(crate) fn add_program(&mut self, program: DeviceProgram) {
        self.programs.push(program);
    }

    /// Adds an evaluation of the last program; its result and verdict are fetched.
    pub(crate) fn add_fetched(
        &mut self,
        program: &Program,
        input: &Grid,
        reference: Result<Value, EvalError>,
    ) -> Result<(), NotRun> {
        let arguments = self.pool.push_grid(input).map_err(NotRun::Input)?;
        let verdict = ExpectedVerdict::of(input, &reference, self.len());
        let given = verdict.expected.as_ref();
        let given = given.and_then(|grid| self.pool.push_grid(grid).ok());
        let case = ResultCase {
            program: program.clone(),
            input: input.clone(),
            fold: true,
        };
        self.evaluate(arguments, given, case, reference, Some(verdict));
        Ok(())
    }

    fn evaluate(
        &mut self,
        arguments: PoolPlace,
        given: Option<PoolPlace>,
        case: ResultCase,
        reference: Result<Value, EvalError>,
        verdict: Option<ExpectedVerdict>,
    ) {
        self.evaluations.push(Evaluation {
            program: self.programs.len() as u32 - 1,
            arguments,
            expected: given,
            fetch: true,
        });
        self.cases.push(BatchCase {
            case,
            reference,
            verdict,
        });
    }

    /// The case of each evaluation.
    pub(crate) fn cases(&self) -> &[BatchCase] {
        &self.cases
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
        let ended = |(number, (verdict, case)): (usize, (Verdict, &BatchCase))| {
            if let Err(reason) = verdict.ended() {
                return DeviceResult::BailedOut(reason);
            }
            let found = results.value(number).unwrap_or(Value::Nothing);
            match (&case.reference, &case.verdict) {
                (Ok(value), Some(expected))
                    if is_same(&found, value) && expected.agrees(verdict) =>
                {
                    DeviceResult::Same
                }
                (Ok(_), None) if found == Value::Int(1) => DeviceResult::Same,
                (Ok(_), None) => {
                    DeviceResult::Unlike("a value other than the reference's".to_owned())
                }
                _ => DeviceResult::Unlike(format!("{found} with {verdict:?}")),
            }
        };
        let all = verdicts.into_iter().zip(&self.cases[part]).enumerate();
        Ok(all.map(ended).collect())
    }

    /// Runs all in one launch and adds the results. If the reference fails, the device has to bail out.
    fn count<D: Device>(&self, engine: &Engine<D>, tally: &mut Tally) -> Result<(), DeviceError> {
        let all = self.evaluations.iter().zip(&self.cases);
        for ((evaluation, of_case), ended) in all.zip(self.run(engine)?) {
            let BatchCase {
                case, reference, ..
            } = of_case;
            let program = &self.programs[evaluation.program as usize];
            match &ended {
                DeviceResult::BailedOut(reason) => tally.bails_out(*reason, reference.is_err()),
                DeviceResult::Same => {
                    tally.same += 1;
                    tally.with_arena += u64::from(program.has_arena());
                }
                DeviceResult::Unlike(_) | DeviceResult::Broken(_) => tally.differs(|| {
                    format!(
                        "{}  on {}\n  folded: {}\n  reference: {}\n  device:    {ended}\n{program}",
                        case.program,
                        case.input,
                        case.fold,
                        of_case.reference(),
                    )
                }),
            }
        }
        Ok(())
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
    let form = specialise_with(&program, &options(case.fold)).map_err(|_| "no first-order form")?;
    encode(&form).map_err(|reason| reason.summary())
}

/// Runs each program on its inputs, all in one launch, and compares with the reference.
pub fn programs<D: Device>(
    engine: &Engine<D>,
    programs: &[(Program, Vec<Grid>)],
) -> Result<Tally, DeviceError> {
    let (mut tally, mut batch) = (Tally::default(), Batch::default());
    let mut interpreter = Interpreter::default();
    for (program, inputs) in programs {
        match compiled(program) {
            Err(reason) => tally.is_not_run(NotRun::HostOnly(reason)),
            Ok(on_device) => {
                batch.add_program(on_device);
                for input in inputs {
                    let reference = interpreter.run(program, input.clone());
                    let added = batch.add_fetched(program, input, reference);
                    added.unwrap_or_else(|reason| tally.is_not_run(reason));
                }
            }
        }
    }
    batch.count(engine, &mut tally)?;
    Ok(tally)
}

/// Runs each program on its input, all in one launch, and compares the results on the device.
pub fn results<D: Device>(
    engine: &Engine<D>,
    cases: Vec<ResultCase>,
) -> Result<Tally, DeviceError> {
    let (mut tally, mut batch) = (Tally::default(), Batch::default());
    let mut interpreter = Interpreter::default();
    for case in cases {
        let reference = interpreter.run(&case.program, case.input.clone());
        let added = batch.add_compared(case, reference);
        added.unwrap_or_else(|reason| tally.is_not_run(reason));
    }
    batch.count(engine, &mut tally)?;
    Ok(tally)
}

/// A quarter each of random programs on suitable inputs, calls of every primitive in turn, variations of built-in
/// programs, and calls of every primitive on degenerate values.
pub fn random_results(seed: u64, count: u64) -> Vec<ResultCase> {
    let mut generator = Generator::new(seed);
    let cases = (0..count).filter_map(|number| random_result(&mut generator, seed, number));
    cases.collect()
}

fn random_result(generator: &mut Generator, seed: u64, number: u64) -> Option<ResultCase> {
    let (kind, number) = (number % 4, number / 4);
    let built_ins = builtin::all();
    let built_in = built_ins.get(number as usize % built_ins.len())?;
    let program = match kind {
        0 => generator.program(1 + number as usize % 14).ok(),
        1 => generator.case(primitive(seed, number)).program().ok(),
        2 => Some(generator.variation(built_in.program())),
        _ => return degenerate(generator, seed, number),
    };
    let input = match kind {
        2 => built_in.input(seed ^ number, 0, 30),
        _ => grid(generator),
    };
    Some(ResultCase {
        program: program?,
        input,
        // Calls with known arguments would be folded away.
        fold: kind == 0 && number.is_multiple_of(2),
    })
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
