//! All evaluators that need no GPU on the same cases: the reference, the form's evaluator, the compiled
//! path, a batt, the emulated device and the interpreted PTX.
//!
//! The CPU's are compared as [`agreement`] says. A device may bail out, where the
//! reference fails and where it gives a value, which is counted by reason; both devices have to end
//! each evaluation alike, reason included. What a random program gives is compared on the device,
//! whatever its type; what a program gives on a foreign input is fetched, with its verdict.

use std::fmt;

use arc_dsl::{EvalError, Grid, Limits, Program, Value};
use arc_form::Options;
use gpu_kernels::Engine;
use gpu_kernels::device::{Device, DeviceError, Unavailable};

use crate::agreement::{self, Checker, Gave, Path, Prepared, Verdict, is_counted_otherwise};
use crate::conformance::{self, Batch, Ended, NotRun, ResultCase, random_results};
use crate::selfcheck::device::NotChecked;
use crate::simulated::{EmulatedDevice, InterpretedDevice, emulated, interpreted};

/// How many random cases that run everywhere one seed makes: few enough that the work divides among cores.
pub const PORTION: u64 = 250;

/// How many evaluations that run everywhere a launch is to have, about: memory stays flat.
pub(crate) const LAUNCH: u64 = 250;

/// How many launches of a portion there are at most, should hardly anything run.
const ROUNDS: u64 = 64;

/// How many differences are told.
const TOLD: usize = 5;

/// What came of cases that all evaluators were given.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    /// What came of each evaluator.
    pub evaluators: agreement::Tally,
    /// Evaluations in which all of them got to what the reference gives: its value, or that it fails.
    pub everywhere: u64,
    /// The first evaluations on which a device differs, as text.
    pub first: Vec<String>,
}

impl Tally {
    /// Evaluators that differ, summed over all evaluations.
    pub fn different(&self) -> u64 {
        let all = self.evaluators.by_path.values();
        all.map(|counts| counts.differ).sum()
    }

    /// Adds what came of other cases.
    pub fn add(&mut self, other: Tally) {
        self.evaluators.add(other.evaluators);
        self.everywhere += other.everywhere;
        self.first.extend(other.first);
        self.first.truncate(TOLD);
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

/// Evaluators that need no GPU. They are kept from one portion of cases to the next, which must not
/// matter.
#[derive(Debug)]
pub struct Everywhere {
    checker: Checker,
    /// `None` in a build without simulated devices.
    devices: Option<Devices>,
}

/// The devices.
#[derive(Debug)]
struct Devices {
    /// In which order the emulated one's lanes run.
    number: u64,
    emulated: Engine<EmulatedDevice>,
    interpreted: Engine<InterpretedDevice>,
}

impl Devices {
    fn new(number: u64) -> Result<Self, Unavailable> {
        Ok(Devices {
            number,
            emulated: emulated(number)?,
            interpreted: interpreted()?,
        })
    }

    fn run_emulated(&mut self, batch: &Batch) -> Result<Vec<Ended>, NotChecked> {
        let number = self.number;
        ended(&mut self.emulated, || emulated(number), batch)
    }

    fn run_interpreted(&mut self, batch: &Batch) -> Result<Vec<Ended>, NotChecked> {
        ended(&mut self.interpreted, interpreted, batch)
    }
}

/// How evaluations end on a device. Where a kernel breaks a rule the device is lost, and each evaluation
/// is made by one of its own, to tell which it was.
fn ended<D: Device>(
    engine: &mut Engine<D>,
    open: impl Fn() -> Result<Engine<D>, Unavailable>,
    batch: &Batch,
) -> Result<Vec<Ended>, NotChecked> {
    match batch.run(engine) {
        Err(DeviceError::Kernel { .. }) => {}
        all => return Ok(all?),
    }
    *engine = open()?;
    let mut all = Vec::with_capacity(batch.len());
    for at in 0..batch.len() {
        match batch.run_part(engine, at..at + 1) {
            Err(DeviceError::Kernel { reason, .. }) => {
                all.push(Ended::Broken(reason));
                *engine = open()?;
            }
            one => all.extend(one?),
        }
    }
    Ok(all)
}

/// An evaluation that waits for the devices.
struct Waiting {
    program: Program,
    input: Grid,
    reference: Result<Value, EvalError>,
    /// Whether the CPU's evaluators got to the same end.
    is_same: bool,
}

impl Everywhere {
    /// The devices are opened; `number` decides in which order the emulated one's lanes run.
    ///
    /// # Errors
    /// A device that is not there.
    pub fn new(number: u64) -> Result<Self, Unavailable> {
        Self::with_limits(number, &Limits::default())
    }

    /// The same, or the CPU's evaluators alone in a build without simulated devices.
    ///
    /// # Errors
    /// A device of this build that is not there.
    pub fn of_this_build(number: u64) -> Result<Self, Unavailable> {
        match Self::new(number) {
            Err(Unavailable::NotSimulated) => Ok(Everywhere {
                checker: Checker::with_limits(&Limits::default()),
                devices: None,
            }),
            all => all,
        }
    }

    /// The same with these bounds for the CPU's evaluators.
    ///
    /// # Errors
    /// A device that is not there.
    pub fn with_limits(number: u64, limits: &Limits) -> Result<Self, Unavailable> {
        Ok(Everywhere {
            checker: Checker::with_limits(limits),
            devices: Some(Devices::new(number)?),
        })
    }

    /// Checks random programs, each of which has a loop in its form, on an input each, until so many ran
    /// on all evaluators: well-typed programs, calls of primitives that take functions, variations of
    /// built-in programs. What some evaluator has no program for, or bails out of, is counted beside
    /// them. The same seed makes the same cases on every machine.
    ///
    /// # Errors
    /// A device that fails.
    pub fn random(&mut self, seed: u64, count: u64) -> Result<Tally, NotChecked> {
        let mut tally = Tally::default();
        for round in 0..ROUNDS {
            let missing = count.saturating_sub(tally.everywhere);
            if missing == 0 {
                break;
            }
            // Two fifths of the cases have a loop, two fifths of these run everywhere.
            let cases = (missing * 6).clamp(100, 6 * LAUNCH);
            let mut portion = self.portion();
            for case in random_results(seed.wrapping_add(round), cases) {
                let options = Options {
                    fold: case.fold,
                    ..Options::default()
                };
                let prepared = Prepared::with(&case.program, &options);
                if prepared.loop_depth().is_some_and(|depth| depth > 0) {
                    portion.random(&mut self.checker, &prepared, &case);
                }
            }
            tally.add(portion.run(self.devices.as_mut())?);
        }
        Ok(tally)
    }

    /// Checks programs, each on its inputs.
    ///
    /// # Errors
    /// A device that fails.
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

/// Evaluations that the CPU has made, and the devices are to make in one launch.
#[derive(Default)]
struct Portion {
    has_devices: bool,
    tally: Tally,
    batch: Batch,
    waiting: Vec<Waiting>,
}

impl Portion {
    fn random(&mut self, checker: &mut Checker, prepared: &Prepared<'_>, case: &ResultCase) {
        let evaluators = &mut self.tally.evaluators;
        let (reference, is_same) = checker.check_all(prepared, &case.input, evaluators);
        let added = self.batch.add_compared(case, &reference).map(|_| ());
        let waiting = Waiting {
            program: case.program.clone(),
            input: case.input.clone(),
            reference,
            is_same,
        };
        self.wait(waiting, added);
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
            let (reference, is_same) = checker.check_all(&prepared, input, evaluators);
            let added = match &missing {
                Some(reason) => Err(NotRun::HostOnly(reason.clone())),
                None => self.batch.add_fetched(input, &reference),
            };
            let waiting = Waiting {
                program: program.clone(),
                input: input.clone(),
                reference,
                is_same,
            };
            self.wait(waiting, added);
        }
    }

    /// What no device is given is counted at once.
    fn wait(&mut self, waiting: Waiting, added: Result<(), NotRun>) {
        if !self.has_devices {
            self.tally.everywhere += u64::from(waiting.is_same);
            return;
        }
        let gave = match added {
            Ok(()) => return self.waiting.push(waiting),
            Err(NotRun::HostOnly(reason)) => Gave::NotCompiled(reason),
            Err(NotRun::Input(reason)) => Gave::BailedOut(reason.to_string()),
        };
        for path in [Path::Emulated, Path::Interpreted] {
            self.tally.evaluators.count(path, &gave, Verdict::Nothing);
        }
    }

    fn run(self, devices: Option<&mut Devices>) -> Result<Tally, NotChecked> {
        let mut tally = self.tally;
        let Some(devices) = devices else {
            return Ok(tally);
        };
        let of_emulated = devices.run_emulated(&self.batch)?;
        let of_interpreted = devices.run_interpreted(&self.batch)?;
        let both = of_emulated.into_iter().zip(of_interpreted);
        for (waiting, (emulated, interpreted)) in self.waiting.iter().zip(both) {
            let (gave, verdict) = waiting.compared(&emulated);
            tally.evaluators.count(Path::Emulated, &gave, verdict);
            // Bailing out for another reason is a difference too.
            let (other_gave, other) = if interpreted == emulated {
                (gave, verdict)
            } else {
                (waiting.compared(&interpreted).0, Verdict::Differs)
            };
            tally
                .evaluators
                .count(Path::Interpreted, &other_gave, other);
            tally.everywhere += u64::from(waiting.is_same && verdict.is_same() && other.is_same());
            let differs = [verdict, other].contains(&Verdict::Differs);
            if differs && tally.first.len() < TOLD {
                tally.first.push(waiting.told(&emulated, &interpreted));
            }
        }
        Ok(tally)
    }
}

impl Waiting {
    /// How a device ended, beside the reference.
    fn compared(&self, ended: &Ended) -> (Gave, Verdict) {
        let bound = self.reference.as_ref().is_err_and(is_counted_otherwise);
        match (ended, &self.reference) {
            (Ended::BailedOut(reason), reference) => {
                let verdict = match reference {
                    _ if bound => Verdict::Bound,
                    Ok(_) => Verdict::Nothing,
                    Err(_) => Verdict::SameError,
                };
                (Gave::BailedOut(reason.to_string()), verdict)
            }
            (Ended::Broken(rule), _) => (Gave::Panic(rule.clone()), Verdict::Differs),
            (Ended::Same, Ok(value)) => (Gave::Value(value.clone()), Verdict::SameValue),
            (Ended::Same | Ended::Unlike(_), _) if bound => {
                (Gave::Value(Value::Nothing), Verdict::Bound)
            }
            (Ended::Same | Ended::Unlike(_), _) => (Gave::Value(Value::Nothing), Verdict::Differs),
        }
    }

    fn told(&self, emulated: &Ended, interpreted: &Ended) -> String {
        let reference = match &self.reference {
            Ok(value) => value.to_string(),
            Err(error) => format!("error: {error}"),
        };
        let ended = |ended: &Ended| match ended {
            Ended::BailedOut(reason) => format!("bails out: {reason}"),
            Ended::Same => "the same".to_owned(),
            Ended::Unlike(found) => found.clone(),
            Ended::Broken(rule) => format!("breaks a rule: {rule}"),
        };
        let Waiting { program, input, .. } = self;
        format!(
            "{program}\ninput: {input}\nreference: {reference}\nemulated: {}\ninterpreted: {}",
            ended(emulated),
            ended(interpreted)
        )
    }
}
