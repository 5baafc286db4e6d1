//! Whether a device computes what the reference computes: every operation on random operands, and whole programs.
//!
//! This suite is the same for all devices: tests run it on the emulated one, `mega-batch selfcheck` on the user's
//! own. A device may bail out of a case for the reasons that the operation's specification allows (`reasons.rs`); it
//! may not return another value, nor any value if the reference fails.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use arc_dsl::{ContainerKind, ErrorKind, EvalError, Grid, Loc, Program, Value};

use gpu_kernels::Verdict;
use gpu_kernels::device::{Device, DeviceError};
use gpu_kernels::interface::{BailOut, Representation, Structure};
use gpu_kernels::operations::{OPERATIONS, Operation};
use gpu_kernels::{Builder, DeviceProgram, Immediate};
use gpu_kernels::{Engine, Evaluation};
use gpu_kernels::{HostOnly, encode};
use gpu_kernels::{LANES, Pool};

use crate::agreement::add_counts;

mod cases;
mod lists;
mod reasons;
mod results;
pub mod suite;

pub use cases::Cases;
pub use lists::{ListCase, check_lists};
pub(crate) use results::{Batch, DeviceResult, NotRun};
pub use results::{ResultCase, degenerate_results, programs, random_results, results};

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
    let set = value.as_container();
    let set = set.filter(|all| all.kind == ContainerKind::Set)?;
    let sides = 0..LANES as i32;
    let inside = |loc: Loc| sides.contains(&loc.i) && sides.contains(&loc.j);
    let elements = set.iter_stored().map(Cow::into_owned);
    Some(Value::set(elements.filter(|element| match element {
        Value::Loc(loc) => inside(*loc),
        Value::Cell(cell) => inside(cell.loc),
        _ => true,
    })))
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

/// The difference of the device's value, or of its reason to bail out, from a case's expected result. A value is clean,
/// as operations require, if no bits are set outside its cells.
fn difference(case: &Case, found: Result<Value, BailOut>, is_clean: bool) -> String {
    let operation = case.operation();
    let mut lines = vec![
        format!("{} differs on", operation.name),
        format!("    {case}"),
    ];
    if case.immediate != Immediate::default() {
        lines.push(format!("  with {:?}", case.immediate));
    }
    if case.before != (0, 0) {
        lines.push(format!("  in windows from {:?} before", case.before));
    }
    if operation.of_tuple {
        let key = case.immediate.key;
        lines.push(format!("  of which it gives element {key}"));
    }
    lines.push(match &case.expected {
        Ok(expected) => format!("  reference: {expected}"),
        Err(error) => format!("  reference: {error}"),
    });
    let beside = if is_clean {
        ""
    } else {
        ", and bits beside its cells"
    };
    lines.push(match found {
        Ok(found) => format!("  device:    {found}{beside}"),
        Err(reason) => {
            let allowed = reasons::allowed(case);
            format!("  device:    bails out: {reason}; it may for {allowed:?}")
        }
    });
    lines.join("\n")
}

/// The results of cases, including programs that only the host runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// Cases in which the device computed the reference's value.
    pub same: u64,
    /// Those of them whose programs have jumps or lists; counted for programs.
    pub with_arena: u64,
    /// Cases in which the reference fails and the device bails out.
    pub failing: u64,
    /// Other cases that the device bailed out of, by reason.
    pub bail_outs: BTreeMap<BailOut, u64>,
    /// Programs that only the host runs, by reason.
    pub host_only: BTreeMap<String, u64>,
    /// Cases that differ.
    pub different: u64,
    /// The first of them, as text.
    pub first: Option<String>,
}

impl Tally {
    /// The number of cases that the device ran.
    pub fn cases(&self) -> u64 {
        self.same + self.failing + self.different + self.bailed_out()
    }

    /// The cases that the device bailed out of although the reference does not fail.
    pub fn bailed_out(&self) -> u64 {
        self.bail_outs.values().sum()
    }

    /// Adds a bail-out for an allowed reason.
    fn bails_out(&mut self, reason: BailOut, reference_fails: bool) {
        if reference_fails {
            self.failing += 1;
        } else {
            *self.bail_outs.entry(reason).or_default() += 1;
        }
    }

    fn differs(&mut self, case: impl FnOnce() -> String) {
        self.different += 1;
        self.first.get_or_insert_with(case);
    }

    /// Adds the results of other cases.
    pub fn add(&mut self, other: Tally) {
        self.same += other.same;
        self.with_arena += other.with_arena;
        self.failing += other.failing;
        add_counts(&mut self.bail_outs, other.bail_outs);
        add_counts(&mut self.host_only, other.host_only);
        self.different += other.different;
        self.first = self.first.take().or(other.first);
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

/// The first argument of a program with the one instruction of a case, which does not take it.
fn unused_argument() -> Value {
    Value::set([Value::from(arc_dsl::Cell::new(3, Loc::new(1, 2)))])
}

/// Runs cases of one operation in one launch and compares.
pub fn check<D: Device>(engine: &Engine<D>, mut cases: Vec<Case>) -> Result<Tally, DeviceError> {
    // A warp runs adjacent evaluations of the same program side by side.
    cases.sort_by_key(|case| case.immediate.bits());
    let mut programs: Vec<DeviceProgram> = Vec::new();
    let mut numbers: BTreeMap<u16, u32> = BTreeMap::new();
    let mut pool = Pool::default();
    let mut evaluations = Vec::with_capacity(cases.len());
    let mut launched = Vec::with_capacity(cases.len());
    for case in cases {
        let Some(program) = program_of(&case) else {
            continue;
        };
        let number = *numbers.entry(case.immediate.bits()).or_insert_with(|| {
            programs.push(program);
            programs.len() as u32 - 1
        });
        let arguments = pool.end();
        if pool
            .push(Representation::Object, &unused_argument())
            .is_err()
        {
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
        });
        launched.push(case);
    }
    let loaded = engine.load(&programs)?;
    let (verdicts, results) = engine.run(&loaded, &pool, &evaluations)?;
    let mut tally = Tally::default();
    for (number, (case, verdict)) in launched.iter().zip(verdicts).enumerate() {
        match verdict.ended() {
            Err(reason) if reasons::allowed(case).contains(&reason) => {
                tally.bails_out(reason, case.expected.is_err());
            }
            Err(reason) => tally.differs(|| difference(case, Err(reason), true)),
            Ok(_) => {
                let found = results.value(number).unwrap_or(Value::Nothing);
                let is_clean = results.is_clean(number);
                if is_clean && case.agrees(&found) {
                    tally.same += 1;
                } else {
                    tally.differs(|| difference(case, Ok(found), is_clean));
                }
            }
        }
    }
    Ok(tally)
}

/// The device program of a program, or why only the host can run it.
pub fn compiled(program: &Program) -> Result<DeviceProgram, String> {
    let form =
        arc_form::specialise(program).map_err(|error| format!("no first-order form: {error}"))?;
    encode(&form).map_err(|reason: HostOnly| reason.summary())
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
    right: bool,
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
        let fits = |grid: &&Grid| Pool::default().push_grid(grid).is_ok();
        let given = expected.as_ref().filter(fits);
        let right = given.is_some() && given == result.as_deref();
        let is_empty = result.is_some_and(|result| result.height() == 0);
        Self {
            expected,
            right,
            is_empty,
        }
    }

    /// The empty tuple is either an empty grid or a missing pair, so its verdict is not checked.
    fn agrees(&self, verdict: Verdict) -> bool {
        self.is_empty || verdict.ended() == Ok(self.right)
    }
}
