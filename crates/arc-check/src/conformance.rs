//! Whether a device computes what the reference computes: every operation on random operands, and whole programs.
//!
//! This suite is the same for all devices: tests run it on the emulated one, `mega-batch selfcheck` on the user's
//! own. A device may bail out of a case for the reasons that the operation's specification allows (`reasons.rs`); it
//! may not return another value, nor any value if the reference fails.

use std::collections::BTreeMap;
use std::fmt;

use arc_dsl::{ContainerKind, ErrorKind, EvalError, Grid, Interpreter, Loc, Program, Value};

use gpu_kernels::Verdict;
use gpu_kernels::device::{Device, DeviceError};
use gpu_kernels::interface::{BailOut, Representation, Structure};
use gpu_kernels::operations::{OPERATIONS, Operation};
use gpu_kernels::{Builder, DeviceProgram, Immediate};
use gpu_kernels::{Engine, Evaluation};
use gpu_kernels::{HostOnly, encode};
use gpu_kernels::{LANES, Pool, hash};

mod cases;
mod lists;
mod reasons;
mod results;
pub mod suite;

pub use cases::Cases;
pub use lists::{ListCase, check_lists};
pub(crate) use results::{Batch, DeviceResult, NotRun};
pub use results::{ResultCase, degenerate_results, random_results, results};

/// One operation on values in device representations.
#[derive(Debug, Clone)]
pub struct Case {
    /// Its index into [`OPERATIONS`].
    pub opcode: usize,
    /// The immediate of its instruction.
    pub immediate: Immediate,
    /// The primitive's arguments, including flags and functions.
    pub arguments: Vec<Value>,
    /// How many rows and columns the windows of patches extend before their locations, as far as possible.
    pub before: (usize, usize),
    /// The value of the reference, or its error.
    pub expected: Result<Value, ErrorKind>,
}

impl Case {
    /// The operation.
    pub fn operation(&self) -> &'static Operation {
        &OPERATIONS[self.opcode]
    }

    /// The expected value as the device would hold it; `None` if the device cannot hold it.
    fn held(&self) -> Option<Value> {
        let mut pool = Pool::default();
        let representation = self.operation().gives;
        let place = pool.push(representation, self.expected.as_ref().ok()?);
        pool.value(representation, place.ok()?)
    }

    /// Whether a value from the device is the expected one.
    fn agrees(&self, found: &Value) -> bool {
        let Ok(expected) = &self.expected else {
            return false;
        };
        let representation = self.operation().gives;
        if representation == Representation::Objects
            && self.immediate.structure != Some(Structure::Frontiers)
        {
            return found == expected;
        }
        match self.held() {
            Some(held) if held == *found => true,
            // A truth value in a tuple or a set compares as an integer.
            None if expected == found => true,
            _ => self.immediate.clipped && seen(expected) == seen(found),
        }
    }
}

/// The part of a patch in rows and columns 0 to 31, which is all that a clipped one must have.
fn seen(value: &Value) -> Option<Value> {
    let sides = 0..LANES as i32;
    let inside = |loc: &Loc| sides.contains(&loc.i) && sides.contains(&loc.j);
    match value {
        Value::Indices(locs) => Some(Value::set(
            locs.as_slice()
                .iter()
                .copied()
                .filter(inside)
                .map(Value::from),
        )),
        Value::Object(cells) => {
            let cells = cells.as_slice().iter().copied();
            Some(Value::set(
                cells.filter(|cell| inside(&cell.loc)).map(Value::from),
            ))
        }
        Value::Set(_) => Some(value.clone()),
        _ => None,
    }
}

/// The call as program text.
impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.operation().primitive)?;
        for (number, argument) in self.arguments.iter().enumerate() {
            write!(f, "{}{argument}", if number == 0 { "" } else { ", " })?;
        }
        f.write_str(")")
    }
}

/// A case in which the device's result differs from the reference's.
#[derive(Debug, Clone)]
pub struct Difference {
    /// The case.
    pub case: Case,
    /// The device's value, or why it bailed out.
    pub found: Result<Value, BailOut>,
    /// Whether its representation is clean as operations require: no bits set outside its cells.
    pub clean: bool,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Difference { case, found, clean } = self;
        let operation = case.operation();
        writeln!(f, "{} differs on", operation.name)?;
        writeln!(f, "    {case}")?;
        if case.immediate != Immediate::default() {
            writeln!(f, "  with {:?}", case.immediate)?;
        }
        if case.before != (0, 0) {
            writeln!(f, "  in windows from {:?} before", case.before)?;
        }
        if operation.of_tuple {
            writeln!(f, "  of which it gives element {}", case.immediate.key)?;
        }
        match &case.expected {
            Ok(expected) => writeln!(f, "  reference: {expected}")?,
            Err(error) => writeln!(f, "  reference: {error}")?,
        }
        match found {
            Ok(found) => write!(f, "  device:    {found}")?,
            Err(reason) => {
                write!(
                    f,
                    "  device:    bails out: {reason}; it may for {:?}",
                    reasons::allowed(case)
                )?;
            }
        }
        if !clean {
            f.write_str(", and bits beside its cells")?;
        }
        Ok(())
    }
}

/// The results of the cases of an operation or of programs.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    /// Cases in which the device computed the reference's value.
    pub same: u64,
    /// Cases in which the reference fails and the device bails out.
    pub failing: u64,
    /// Other cases that the device bailed out of, by reason.
    pub bail_outs: BTreeMap<BailOut, u64>,
    /// Cases that differ.
    pub different: u64,
    /// The first of them.
    pub first: Option<Box<Difference>>,
    /// The first of operations on lists, as text.
    pub first_of_lists: Option<String>,
}

impl Tally {
    /// All cases.
    pub fn cases(&self) -> u64 {
        self.same + self.failing + self.different + self.bail_outs.values().sum::<u64>()
    }

    fn differs(&mut self, difference: Difference) {
        self.different += 1;
        self.first.get_or_insert_with(|| Box::new(difference));
    }

    /// Adds the results of other cases.
    pub fn add(&mut self, other: Tally) {
        self.same += other.same;
        self.failing += other.failing;
        self.different += other.different;
        for (reason, count) in other.bail_outs {
            *self.bail_outs.entry(reason).or_default() += count;
        }
        self.first = self.first.take().or(other.first);
        self.first_of_lists = self.first_of_lists.take().or(other.first_of_lists);
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>8} same {:>7} errors", self.same, self.failing)?;
        let bail_outs: u64 = self.bail_outs.values().sum();
        write!(
            f,
            " {bail_outs:>7} bail-outs {:>5} different",
            self.different
        )
    }
}

/// A program with the one instruction of a case. It has a first argument that the instruction does not take, so that
/// no operand lies at the beginning of the pool.
fn program_of(case: &Case) -> Option<DeviceProgram> {
    let mut builder = Builder::default();
    builder.parameter(Representation::Object);
    let representations = case
        .operation()
        .takes
        .iter()
        .filter(|representation| representation.is_operand());
    let operands: Vec<_> = representations
        .map(|representation| builder.parameter(*representation))
        .collect();
    let result = builder.emit(case.opcode, case.immediate, &operands, 0);
    builder
        .finish(result, case.operation().gives, case.immediate.structure)
        .ok()
}

/// Runs cases in one launch and compares.
pub fn check<D: Device>(
    engine: &Engine<D>,
    mut cases: Vec<Case>,
) -> Result<BTreeMap<usize, Tally>, DeviceError> {
    // A warp runs adjacent evaluations of the same program side by side.
    cases.sort_by_key(|case| (case.opcode, u32::from(case.immediate.bits())));
    let mut programs: Vec<DeviceProgram> = Vec::new();
    let mut numbers: BTreeMap<(usize, u32), u32> = BTreeMap::new();
    let mut pool = Pool::default();
    let mut evaluations = Vec::with_capacity(cases.len());
    let mut launched = Vec::with_capacity(cases.len());
    for case in cases {
        let Some(program) = program_of(&case) else {
            continue;
        };
        let key = (case.opcode, u32::from(case.immediate.bits()));
        let number = *numbers.entry(key).or_insert_with(|| {
            programs.push(program);
            programs.len() as u32 - 1
        });
        let arguments = pool.end();
        // The unused first argument: any object.
        let first = Value::from(arc_dsl::Cell::new(3, Loc::new(1, 2)));
        let first = pool.push(Representation::Object, &Value::set([first]));
        if first.is_err() {
            continue;
        }
        for (value, representation) in case.arguments.iter().zip(case.operation().takes) {
            if representation.is_operand() {
                // Cases hold only values that fit.
                if let Ok(place) = pool.push(*representation, value)
                    && matches!(
                        representation,
                        Representation::Patch | Representation::Object
                    )
                {
                    pool.widen(*representation, place, case.before);
                }
            }
        }
        evaluations.push(Evaluation {
            program: number,
            arguments,
            expected: None,
            fetch: true,
            hash: true,
        });
        launched.push(case);
    }
    let loaded = engine.load(&programs)?;
    let (verdicts, results) = engine.run(&loaded, &pool, &evaluations)?;
    let mut tallies: BTreeMap<usize, Tally> = BTreeMap::new();
    for (number, (case, verdict)) in launched.into_iter().zip(verdicts).enumerate() {
        let tally = tallies.entry(case.opcode).or_default();
        match verdict {
            Verdict::BailedOut { reason, .. } if !reasons::allowed(&case).contains(&reason) => {
                let (found, clean) = (Err(reason), true);
                tally.differs(Difference { case, found, clean });
            }
            Verdict::BailedOut { .. } if case.expected.is_err() => tally.failing += 1,
            Verdict::BailedOut { reason, .. } => {
                *tally.bail_outs.entry(reason).or_default() += 1;
            }
            Verdict::Done { .. } => {
                let found = results.value(number).unwrap_or(Value::Nothing);
                let clean = results.is_clean(number);
                if clean && case.agrees(&found) {
                    tally.same += 1;
                } else {
                    let found = Ok(found);
                    tally.differs(Difference { case, found, clean });
                }
            }
        }
    }
    Ok(tallies)
}

/// The device program of a program, or why only the host can run it.
pub fn compiled(program: &Program) -> Result<DeviceProgram, String> {
    let form =
        arc_form::specialise(program).map_err(|error| format!("no first-order form: {error}"))?;
    encode(&form).map_err(|reason: HostOnly| reason.summary())
}

/// The results of programs.
#[derive(Debug, Clone, Default)]
pub struct ProgramTally {
    /// Programs that the device runs.
    pub device: u64,
    /// Programs that only the host runs, by reason.
    pub host_only: BTreeMap<String, u64>,
    /// Evaluations with the reference's value.
    pub same: u64,
    /// Those of them that have jumps or lists; counted by the tests of results of any type.
    pub with_arena: u64,
    /// Evaluations that fail in the reference and that the device bailed out of.
    pub failing: u64,
    /// Evaluations that the device bailed out of, by reason.
    pub bail_outs: BTreeMap<BailOut, u64>,
    /// Evaluations that differ.
    pub different: u64,
    /// The first of them, as text.
    pub first: Option<String>,
}

impl ProgramTally {
    /// Adds the results of other programs.
    pub fn add(&mut self, other: ProgramTally) {
        self.device += other.device;
        for (reason, count) in other.host_only {
            *self.host_only.entry(reason).or_default() += count;
        }
        self.same += other.same;
        self.with_arena += other.with_arena;
        self.failing += other.failing;
        for (reason, count) in other.bail_outs {
            *self.bail_outs.entry(reason).or_default() += count;
        }
        self.different += other.different;
        self.first = self.first.take().or(other.first);
    }
}

/// Runs each program on its inputs, all in one launch, and compares with the reference.
pub fn programs<D: Device>(
    engine: &Engine<D>,
    programs: &[(Program, Vec<Grid>)],
) -> Result<ProgramTally, DeviceError> {
    let mut tally = ProgramTally::default();
    let mut encoded = Vec::new();
    let mut pool = Pool::default();
    let mut evaluations = Vec::new();
    let mut launched = Vec::new();
    let mut interpreter = Interpreter::default();
    for (program, inputs) in programs {
        match compiled(program) {
            Err(reason) => *tally.host_only.entry(reason).or_default() += 1,
            Ok(on_device) => {
                tally.device += 1;
                encoded.push(on_device);
                for input in inputs {
                    match pool.push_grid(input) {
                        Err(bail_out) => *tally.bail_outs.entry(bail_out).or_default() += 1,
                        Ok(arguments) => {
                            let reference = interpreter.run(program, input.clone());
                            let expected_verdict =
                                ExpectedVerdict::of(input, &reference, launched.len());
                            let expected = expected_verdict.expected.as_ref();
                            let expected = expected.and_then(|grid| pool.push_grid(grid).ok());
                            launched.push((program, input, reference, expected_verdict));
                            evaluations.push(Evaluation {
                                program: encoded.len() as u32 - 1,
                                arguments,
                                expected,
                                fetch: true,
                                hash: true,
                            });
                        }
                    }
                }
            }
        }
    }
    let loaded = engine.load(&encoded)?;
    let (verdicts, results) = engine.run(&loaded, &pool, &evaluations)?;
    for (number, (launched, verdict)) in launched.into_iter().zip(verdicts).enumerate() {
        let (program, input, expected, expected_verdict) = launched;
        match verdict {
            Verdict::BailedOut { .. } if expected.is_err() => tally.failing += 1,
            Verdict::BailedOut { reason, .. } => {
                *tally.bail_outs.entry(reason).or_default() += 1;
            }
            Verdict::Done { .. } => {
                let found = results.value(number).unwrap_or(Value::Nothing);
                let same = expected.as_ref().is_ok_and(|value| is_same(&found, value));
                if same && expected_verdict.agrees(verdict) {
                    tally.same += 1;
                } else {
                    tally.different += 1;
                    tally.first.get_or_insert_with(|| {
                        let reference = match expected {
                            Ok(value) => value.to_string(),
                            Err(error) => error.to_string(),
                        };
                        format!(
                            "{program}  on {}\n  reference: {reference}\n  device:    {found}\n  \
                             verdict:   {verdict:?}",
                            Value::from(input.clone())
                        )
                    });
                }
            }
        }
    }
    Ok(tally)
}

/// Whether a value from the device is the reference's. It prints alike too, but for what the device does not know:
/// truth values, and the order of sets.
fn is_same(found: &Value, expected: &Value) -> bool {
    fn is_known(value: &Value) -> bool {
        !matches!(value, Value::Bool(_))
            && value.as_container().is_none_or(|all| {
                (all.kind == ContainerKind::Tuple || all.len() < 2)
                    && all.iter_stored().all(|element| is_known(&element))
            })
    }
    found == expected && (!is_known(expected) || found.to_string() == expected.to_string())
}

/// The verdict that the device must give without its result being fetched.
#[derive(Debug)]
struct ExpectedVerdict {
    /// The grid to compare with: the right one, another one, or none.
    expected: Option<Grid>,
    verdict: Verdict,
    is_empty: bool,
}

impl ExpectedVerdict {
    fn of(input: &Grid, reference: &Result<Value, EvalError>, number: usize) -> Self {
        let result = reference.as_ref().ok().and_then(Value::as_grid);
        let expected = match number % 4 {
            0 => None,
            1 => Some(input.clone()),
            // Wrong in its last cell.
            2 => result.as_deref().map(|grid| {
                let mut grid = grid.clone();
                if let Some(cell) = grid.cells_mut().last_mut() {
                    *cell = (*cell + 1) % 10;
                }
                grid
            }),
            _ => result.as_deref().cloned(),
        };
        let given = expected.as_ref().filter(|grid| hash(grid).is_some());
        let (mut right, mut cells_right) = (false, 0);
        if let (Some(given), Some(result)) = (given, &result)
            && (given.height(), given.width()) == (result.height(), result.width())
        {
            let pairs = given.rows().flatten().zip(result.rows().flatten());
            cells_right = pairs.filter(|(given, found)| given == found).count() as u32;
            right = cells_right as usize == result.height() * result.width();
        }
        let hash = result.as_deref().and_then(hash);
        let verdict = Verdict::Done {
            right,
            cells_right,
            hash,
        };
        let is_empty = result.is_some_and(|result| result.height() == 0);
        Self {
            expected,
            verdict,
            is_empty,
        }
    }

    /// The empty tuple is either an empty grid or a missing pair, so its verdict is not checked.
    fn agrees(&self, verdict: Verdict) -> bool {
        self.is_empty || self.verdict == verdict
    }
}
