//! All evaluators that need no GPU on the same cases: the reference, the form evaluator, the compiled path, a batt,
//! the emulated device and the interpreted PTX.
//!
//! Those of the CPU are compared as [`agreement`] describes. A device may bail out, whether the reference fails or
//! not, which is counted by reason; both devices have to end each evaluation in the same way, including the reason.
//! The result of a random program is compared on the device, whatever its type; the result of a program on a foreign
//! input is fetched, with its verdict.

use std::fmt;

use arc_dsl::{EvalError, Grid, Limits, Program, Value};
use gpu_kernels::Engine;
use gpu_kernels::device::{Device, DeviceError, Unavailable};

use crate::agreement::{
    self, Checker, Comparison, Gave, Path, Prepared, is_counted_differently, options,
};
use crate::conformance::{self, Batch, DeviceResult, NotRun, ResultCase, random_results};
use crate::selfcheck::device::NotChecked;
use crate::simulated::{EmulatedDevice, InterpretedDevice, emulated, interpreted};

/// The number of random cases per seed that run on all evaluators: few enough to divide the work among cores.
pub const PORTION: u64 = 250;

/// The approximate number of evaluations per launch that run on all evaluators: this bounds the memory.
pub(crate) const LAUNCH: u64 = 250;

/// The maximum number of launches per portion, in case hardly anything runs.
const ROUNDS: u64 = 64;

/// The maximum number of differences that are reported.
const MAX_REPORTED: usize = 5;

/// The results of cases that all evaluators got.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    /// The results by evaluator.
    pub evaluators: agreement::Tally,
    /// Evaluations in which all evaluators gave the reference's value, or failed like it.
    pub everywhere: u64,
    /// The first evaluations on which a device differs, as text.
    pub first: Vec<String>,
}

impl Tally {
    /// The number of differing results, summed over all evaluators.
    pub fn different(&self) -> u64 {
        let all = self.evaluators.by_path.values();
        all.map(|counts| counts.differ).sum()
    }

    /// Adds the results of other cases.
    pub fn add(&mut self, other: Tally) {
        self.evaluators.add(other.evaluators);
        self.everywhere += other.everywhere;
        self.first.extend(other.first);
        self.first.truncate(MAX_REPORTED);
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.evaluators)?;
        let all = self.evaluators.evaluations;
        writeln!(
            f,
            "\n{} of {all} ran on all of them to the reference's end; {} differ",
            self.everywhere,
            self.different()
        )?;
        self.first.iter().try_for_each(|one| writeln!(f, "\n{one}"))
    }
}

/// The evaluators that need no GPU. They are kept from one portion of cases to the next, which must not matter.
#[derive(Debug)]
pub struct Everywhere {
    checker: Checker,
    /// `None` in a build without simulated devices.
    devices: Option<Devices>,
}

/// The devices.
#[derive(Debug)]
struct Devices {
    /// Determines the order in which the emulated device's lanes run.
    number: u64,
    emulated: Engine<EmulatedDevice>,
    interpreted: Engine<InterpretedDevice>,
}

/// How evaluations end on a device. If a kernel breaks a rule, the device is lost, and each evaluation is repeated on
/// a new device to find the one that did.
fn ended<D: Device>(
    engine: &mut Engine<D>,
    open: impl Fn() -> Result<Engine<D>, Unavailable>,
    batch: &Batch,
) -> Result<Vec<DeviceResult>, NotChecked> {
    match batch.run(engine) {
        Err(DeviceError::Kernel { .. }) => {}
        all => return Ok(all?),
    }
    *engine = open()?;
    let mut all = Vec::with_capacity(batch.len());
    for at in 0..batch.len() {
        match batch.run_part(engine, at..at + 1) {
            Err(DeviceError::Kernel { reason, .. }) => {
                all.push(DeviceResult::Broken(reason));
                *engine = open()?;
            }
            one => all.extend(one?),
        }
    }
    Ok(all)
}

impl Everywhere {
    /// Opens the devices; `number` determines the order in which the emulated one's lanes run.
    ///
    /// # Errors
    /// A device is unavailable.
    pub fn new(number: u64) -> Result<Self, Unavailable> {
        Self::with_limits(number, &Limits::default())
    }

    /// The same, or only the CPU's evaluators in a build without simulated devices.
    ///
    /// # Errors
    /// A device of this build is unavailable.
    pub(crate) fn of_this_build(number: u64) -> Result<Self, Unavailable> {
        match Self::new(number) {
            Err(Unavailable::NotSimulated) => Ok(Everywhere {
                checker: Checker::with_limits(&Limits::default()),
                devices: None,
            }),
            all => all,
        }
    }

    /// The same with these limits for the CPU's evaluators.
    ///
    /// # Errors
    /// A device is unavailable.
    pub fn with_limits(number: u64, limits: &Limits) -> Result<Self, Unavailable> {
        Ok(Everywhere {
            checker: Checker::with_limits(limits),
            devices: Some(Devices {
                number,
                emulated: emulated(number)?,
                interpreted: interpreted()?,
            }),
        })
    }

    /// Checks random programs with a loop in their form, on one input each, until `count` ran on all evaluators:
    /// well-typed programs, calls of primitives that take functions, variations of built-in programs. Cases that some
    /// evaluator has no program for, or bails out of, are counted separately. The same seed gives the same cases on
    /// every machine.
    ///
    /// # Errors
    /// A device failed.
    pub fn random(&mut self, seed: u64, count: u64) -> Result<Tally, NotChecked> {
        let mut tally = Tally::default();
        for round in 0..ROUNDS {
            let missing = count.saturating_sub(tally.everywhere);
            if missing == 0 {
                break;
            }
            // Two fifths of the cases have a loop, and two fifths of these run on all evaluators.
            let cases = (missing * 6).clamp(100, 6 * LAUNCH);
            let mut portion = self.portion();
            for case in random_results(seed.wrapping_add(round), cases) {
                portion.random(&mut self.checker, case);
            }
            tally.add(portion.run(self.devices.as_mut())?);
        }
        Ok(tally)
    }

    /// Checks programs, each on its inputs.
    ///
    /// # Errors
    /// A device failed.
    pub fn programs<'p>(
        &mut self,
        programs: impl IntoIterator<Item = (&'p Program, &'p [&'p Grid])>,
    ) -> Result<Tally, NotChecked> {
        let mut portion = self.portion();
        for (program, inputs) in programs {
            portion.program(&mut self.checker, program, inputs);
        }
        portion.run(self.devices.as_mut())
    }

    fn portion(&self) -> Portion {
        Portion {
            has_devices: self.devices.is_some(),
            ..Portion::default()
        }
    }
}

/// Evaluations that the CPU has done and that the devices are to do in one launch.
#[derive(Default)]
struct Portion {
    has_devices: bool,
    tally: Tally,
    batch: Batch,
    /// Of each case of the batch, whether the CPU's evaluators agreed.
    agreed: Vec<bool>,
}

impl Portion {
    /// A random program, if its form has a loop.
    fn random(&mut self, checker: &mut Checker, case: ResultCase) {
        let prepared = Prepared::with(&case.program, &options(case.fold));
        if prepared.loop_depth().is_some_and(|depth| depth > 0) {
            let evaluators = &mut self.tally.evaluators;
            let (reference, agreed) = checker.check_all(&prepared, &case.input, evaluators);
            let added = self.batch.add_compared(case, reference);
            self.add(agreed, added);
        }
    }

    fn program(&mut self, checker: &mut Checker, program: &Program, inputs: &[&Grid]) {
        let prepared = Prepared::new(program);
        let on_device = conformance::compiled(program);
        let missing = on_device.as_ref().err().cloned();
        if let Ok(on_device) = on_device {
            self.batch.add_program(on_device);
        }
        for &input in inputs {
            let evaluators = &mut self.tally.evaluators;
            let (reference, agreed) = checker.check_all(&prepared, input, evaluators);
            let added = match &missing {
                Some(reason) => Err(NotRun::HostOnly(reason.clone())),
                None => self.batch.add_fetched(program, input, reference),
            };
            self.add(agreed, added);
        }
    }

    /// Cases that no device gets are counted at once.
    fn add(&mut self, agreed: bool, added: Result<(), NotRun>) {
        if !self.has_devices {
            self.tally.everywhere += u64::from(agreed);
            return;
        }
        let gave = match added {
            Ok(()) => return self.agreed.push(agreed),
            Err(NotRun::HostOnly(reason)) => Gave::NotCompiled(reason),
            Err(NotRun::Input(reason)) => Gave::BailedOut(reason.to_string()),
        };
        for path in [Path::Emulated, Path::Interpreted] {
            self.tally
                .evaluators
                .count(path, &gave, Comparison::Nothing);
        }
    }

    fn run(self, devices: Option<&mut Devices>) -> Result<Tally, NotChecked> {
        let mut tally = self.tally;
        let Some(devices) = devices else {
            return Ok(tally);
        };
        let reopened = || emulated(devices.number);
        let of_emulated = ended(&mut devices.emulated, reopened, &self.batch)?;
        let of_interpreted = ended(&mut devices.interpreted, interpreted, &self.batch)?;
        let both = of_emulated.into_iter().zip(of_interpreted);
        let cases = self.batch.cases().iter().zip(self.agreed);
        for ((case, agreed), (emulated, interpreted)) in cases.zip(both) {
            let (gave, comparison) = compared(&case.reference, &emulated);
            tally.evaluators.count(Path::Emulated, &gave, comparison);
            // Bailing out for another reason is a difference too.
            let (other_gave, other) = if interpreted == emulated {
                (gave, comparison)
            } else {
                (
                    compared(&case.reference, &interpreted).0,
                    Comparison::Differs,
                )
            };
            tally
                .evaluators
                .count(Path::Interpreted, &other_gave, other);
            tally.everywhere += u64::from(agreed && comparison.is_same() && other.is_same());
            let differs = [comparison, other].contains(&Comparison::Differs);
            if differs && tally.first.len() < MAX_REPORTED {
                tally.first.push(format!(
                    "{}\ninput: {}\nreference: {}\nemulated: {emulated}\ninterpreted: {interpreted}",
                    case.case.program,
                    case.case.input,
                    case.reference()
                ));
            }
        }
        Ok(tally)
    }
}

/// The result of a device compared with the reference.
fn compared(reference: &Result<Value, EvalError>, ended: &DeviceResult) -> (Gave, Comparison) {
    let bound = reference.as_ref().is_err_and(is_counted_differently);
    match (ended, reference) {
        (DeviceResult::BailedOut(reason), reference) => {
            let comparison = match reference {
                _ if bound => Comparison::Bound,
                Ok(_) => Comparison::Nothing,
                Err(_) => Comparison::SameError,
            };
            (Gave::BailedOut(reason.to_string()), comparison)
        }
        (DeviceResult::Broken(rule), _) => (Gave::Panic(rule.clone()), Comparison::Differs),
        (DeviceResult::Same, Ok(value)) => (Gave::Value(value.clone()), Comparison::SameValue),
        (DeviceResult::Same | DeviceResult::Unlike(_), _) => {
            let comparison = if bound {
                Comparison::Bound
            } else {
                Comparison::Differs
            };
            (Gave::Value(Value::Nothing), comparison)
        }
    }
}
