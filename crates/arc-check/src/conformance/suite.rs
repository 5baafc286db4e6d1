//! [`Family`] and [`Test`]: the suite that every device has to pass. Every runner of the suite iterates over
//! [`Test::all`].

use std::borrow::Cow;

use arc_dsl::generate::Generator;
use arc_dsl::{Grid, Interpreter, Primitive, Program, ProgramBuilder, Type, Value, builtin};
use gpu_kernels::device::{Device, DeviceError, Unavailable};
use gpu_kernels::interface::Representation;
use gpu_kernels::lane_operations;
use gpu_kernels::list_operations::ListOperation;
use gpu_kernels::operations::OPERATIONS;
use gpu_kernels::{BailOut, Builder, DeviceProgram, Engine, Evaluation, Immediate, Pool, Verdict};

use super::{
    Cases, ProgramTally, ResultCase, Tally, check, check_lists, degenerate_results, programs,
    random_results, results,
};

/// Declares [`Family`] together with [`Family::ALL`], so that it cannot miss a family.
macro_rules! families {
    ($($(#[$about:meta])+ $family:ident $name:literal,)+) => {
        /// A family of tests of one kind.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Family {
            $($(#[$about])+ $family,)+
        }

        impl Family {
            /// Every family.
            pub const ALL: &[Family] = &[$(Family::$family),+];

            /// Its name.
            pub fn name(self) -> &'static str {
                match self {
                    $(Family::$family => $name,)+
                }
            }
        }
    };
}

families! {
    /// Random cases of each operation on values of the pool; a test's number is its opcode.
    Operations "operations",
    /// Random cases of each operation on lists; a test's number is its index in [`ListOperation::ALL`].
    ListOperations "operations on lists",
    /// Random cases of each operation by lanes; a test's number is its index among them.
    LaneOperations "operations by lanes",
    /// The built-in programs on inputs of their tasks.
    BuiltInPrograms "built-in programs",
    /// Random programs on random grids.
    RandomPrograms "random programs",
    /// Programs with loops and lists, and calls of every primitive, whose results of any type are compared on the
    /// device.
    Results "results of any type",
    /// Calls of every primitive on empty grids and patches, empty containers and sizes of 0 and below, one after the
    /// other.
    Degenerate "values of nothing",
    /// Numbers of grids that end in the middle of a warp's work, and large numbers.
    Batches "batches of every size",
    /// Grids of all sizes up to the largest that the device holds, and larger ones.
    Grids "grids of every size",
    /// Adjacent evaluations of one program that bail out at different instructions.
    SideBySide "bail-outs side by side",
}

impl Family {
    /// The number of its tests.
    pub(crate) fn test_count(self) -> usize {
        match self {
            Family::Operations => OPERATIONS.len(),
            Family::ListOperations => ListOperation::ALL.len(),
            Family::LaneOperations => lane_operations::all().count(),
            _ => 1,
        }
    }
}

/// One test of the suite: a family and the number of a test in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Test {
    family: Family,
    number: usize,
}

/// Programs per launch, each for one case.
const PROGRAMS: usize = 120;

/// Cases of an operation, or programs with three inputs each, per launch: this bounds the memory.
const PORTION: usize = 500;

/// The size of the suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Cases per operation.
    pub cases: usize,
    /// Random programs.
    pub programs: usize,
    /// Grids in the largest batch.
    pub batch: usize,
    /// The seed of all random cases.
    pub seed: u64,
}

impl Default for Extent {
    fn default() -> Self {
        Extent {
            cases: 240,
            programs: 2000,
            batch: 100_000,
            seed: 1,
        }
    }
}

impl Extent {
    /// At least this many cases for all operations together, with the other tests in the same proportion as by
    /// default. Every test has at least as many as it needs to be meaningful.
    pub fn of(cases: u64, seed: u64) -> Extent {
        const CASES: u64 = 60;
        const PROGRAMS: u64 = 1000;
        const BATCH: std::ops::RangeInclusive<u64> = 1000..=100_000;
        let operations = Test::all().filter(|test| test.is_of_operation()).count() as u64;
        Extent {
            cases: cases.div_ceil(operations).max(CASES) as usize,
            programs: (cases / 50).max(PROGRAMS) as usize,
            batch: cases.clamp(*BATCH.start(), *BATCH.end()) as usize,
            seed,
        }
    }
}

/// The results of a test's cases, including programs that only the host runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Cases in which the device computed the reference's value.
    pub same: u64,
    /// Cases in which the reference fails and the device bails out.
    pub failing: u64,
    /// Other cases that the device bailed out of, for an allowed reason.
    pub bail_outs: u64,
    /// Programs that only the host runs.
    pub host_only: u64,
    /// Cases that differ.
    pub different: u64,
}

impl Counts {
    /// The number of cases that the device ran.
    pub fn cases(&self) -> u64 {
        self.same + self.failing + self.bail_outs + self.different
    }

    /// Adds the results of other cases.
    pub fn add(&mut self, other: Counts) {
        self.same += other.same;
        self.failing += other.failing;
        self.bail_outs += other.bail_outs;
        self.host_only += other.host_only;
        self.different += other.different;
    }
}

impl From<&Tally> for Counts {
    fn from(tally: &Tally) -> Self {
        Counts {
            same: tally.same,
            failing: tally.failing,
            bail_outs: tally.bail_outs.values().sum(),
            host_only: 0,
            different: tally.different,
        }
    }
}

impl From<&ProgramTally> for Counts {
    fn from(tally: &ProgramTally) -> Self {
        Counts {
            same: tally.same,
            failing: tally.failing,
            bail_outs: tally.bail_outs.values().sum(),
            host_only: tally.host_only.values().sum(),
            different: tally.different,
        }
    }
}

/// Why a test failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The device computed another result, or bailed out for a reason that is not allowed.
    #[error("{} of {} cases differ; the first:\n{first}", counts.different, counts.cases())]
    Different {
        /// The results of all cases.
        counts: Counts,
        /// The first that differs, as text.
        first: String,
    },
    /// Too little was compared to show anything.
    #[error("too few compared: {what}")]
    Few {
        /// The results of all cases.
        counts: Counts,
        /// What was too few.
        what: String,
    },
    /// The cases could not be generated.
    #[error("no cases: {0}")]
    NotMade(String),
    /// The device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// There is no device.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    /// The device returned data of no valid form, or the suite has a bug.
    #[error("the host panicked over what the device gave: {0}")]
    Panicked(String),
}

impl Failure {
    /// The results of the cases, as far as they are known.
    pub fn counts(&self) -> Counts {
        match self {
            Failure::Different { counts, .. } | Failure::Few { counts, .. } => *counts,
            _ => Counts::default(),
        }
    }
}

impl Test {
    /// The whole suite.
    pub fn all() -> impl Iterator<Item = Test> {
        let tests =
            |&family: &Family| (0..family.test_count()).map(move |number| Test { family, number });
        Family::ALL.iter().flat_map(tests)
    }

    /// Its family.
    pub fn family(self) -> Family {
        self.family
    }

    /// Whether it checks a single operation.
    fn is_of_operation(self) -> bool {
        matches!(
            self.family,
            Family::Operations | Family::ListOperations | Family::LaneOperations
        )
    }

    /// Its name: that of the operation, or of what it checks.
    pub fn name(self) -> String {
        let none = || "none".to_owned();
        match self.family {
            Family::Operations => {
                let row = OPERATIONS.get(self.number);
                row.map_or_else(none, |row| row.name.to_owned())
            }
            Family::ListOperations => {
                let operation = ListOperation::ALL.get(self.number);
                operation.map_or_else(none, |operation| operation.name().to_owned())
            }
            Family::LaneOperations => {
                let opcode = lane_operations::all().nth(self.number);
                let name = |opcode| format!("{} by lanes", lane_operations::name(opcode));
                opcode.map_or_else(none, name)
            }
            family => family.name().to_owned(),
        }
    }

    /// Runs it. Passes if no case differs and enough were compared; returns the results of its cases.
    pub fn run<D: Device>(self, engine: &Engine<D>, extent: Extent) -> Result<Counts, Failure> {
        let none = || Failure::NotMade("there is no such operation".to_owned());
        let check_lists = |some| check_lists(engine, some);
        match self.family {
            Family::Operations => {
                let opcode = self.number;
                let check = |some| {
                    let tallies = check(engine, some);
                    tallies.map(|mut tallies| tallies.remove(&opcode).unwrap_or_default())
                };
                let make = |cases: &mut Cases| cases.of(opcode);
                random_cases(
                    opcode as u64,
                    make,
                    PORTION,
                    check,
                    |tally| tally.same,
                    extent,
                )
            }
            Family::ListOperations => {
                let operation = *ListOperation::ALL.get(self.number).ok_or_else(none)?;
                let compared = |tally: &Tally| match operation {
                    // An operation that always fails has no other cases.
                    ListOperation::Fail => tally.failing,
                    _ => tally.same,
                };
                let make = |cases: &mut Cases| cases.of_list(operation);
                random_cases(
                    operation.opcode().into(),
                    make,
                    PROGRAMS,
                    check_lists,
                    compared,
                    extent,
                )
            }
            Family::LaneOperations => {
                let opcode = lane_operations::all().nth(self.number).ok_or_else(none)?;
                let make = |cases: &mut Cases| cases.by_lanes(opcode);
                random_cases(
                    opcode.into(),
                    make,
                    PROGRAMS,
                    check_lists,
                    |tally| tally.same,
                    extent,
                )
            }
            Family::BuiltInPrograms => built_in_programs(engine),
            Family::RandomPrograms => random_programs(engine, extent),
            Family::Results => results_of_any_type(engine, extent),
            Family::Degenerate => values_of_nothing(engine, extent),
            Family::Batches => batches(engine, extent.batch),
            Family::Grids => grids_of_every_size(engine),
            Family::SideBySide => bail_outs_side_by_side(engine),
        }
    }
}

/// Passes unless a case differs.
fn none_differs(counts: Counts, first: Option<String>) -> Result<Counts, Failure> {
    match first {
        Some(first) => Err(Failure::Different { counts, first }),
        None => Ok(counts),
    }
}

/// Passes unless a case differs or too few were compared to show anything.
fn enough(
    counts: Counts,
    first: Option<String>,
    is_enough: bool,
    what: impl FnOnce() -> String,
) -> Result<Counts, Failure> {
    let counts = none_differs(counts, first)?;
    if is_enough {
        Ok(counts)
    } else {
        let what = what();
        Err(Failure::Few { counts, what })
    }
}

/// Checks cases of an operation in portions of this size; `compared` says how many show something.
fn random_cases<C>(
    opcode: u64,
    make: impl Fn(&mut Cases) -> Option<C>,
    portion: usize,
    check: impl Fn(Vec<C>) -> Result<Tally, DeviceError>,
    compared: impl Fn(&Tally) -> u64,
    Extent { cases, seed, .. }: Extent,
) -> Result<Counts, Failure> {
    let mut generator = Cases::new(seed ^ opcode << 32);
    let mut left = (0..cases * 8)
        .filter_map(|_| make(&mut generator))
        .take(cases);
    let (mut tally, mut total) = (Tally::default(), 0);
    loop {
        let some: Vec<_> = left.by_ref().take(portion).collect();
        if some.is_empty() {
            break;
        }
        total += some.len();
        tally.add(check(some)?);
    }
    let first = tally.first.as_ref().map(ToString::to_string);
    let first = first.or_else(|| tally.first_of_lists.clone());
    let is_enough = total == cases && compared(&tally) >= least(cases);
    enough(Counts::from(&tally), first, is_enough, || {
        format!("{total} cases made: {tally}")
    })
}

/// How many of an operation's cases have to be compared.
fn least(cases: usize) -> u64 {
    (cases as u64 / 8).clamp(1, 30)
}

/// Passes unless a case differs, however few were compared.
pub(crate) fn check_programs(tally: &ProgramTally) -> Result<Counts, Failure> {
    none_differs(Counts::from(tally), tally.first.clone())
}

fn enough_programs(tally: &ProgramTally, is_enough: bool) -> Result<Counts, Failure> {
    let first = tally.first.clone();
    enough(Counts::from(tally), first, is_enough, || {
        format!("{tally:?}")
    })
}

fn built_in_programs<D: Device>(engine: &Engine<D>) -> Result<Counts, Failure> {
    let inputs =
        |built_in: &builtin::BuiltIn| (0..12).map(|pair| built_in.input(5, pair, 30)).collect();
    let all: Vec<(Program, Vec<Grid>)> = builtin::all()
        .iter()
        .map(|built_in| (built_in.program().clone(), inputs(built_in)))
        .collect();
    let tally = programs(engine, &all)?;
    enough_programs(&tally, tally.same >= 200)
}

fn random_programs<D: Device>(engine: &Engine<D>, extent: Extent) -> Result<Counts, Failure> {
    let mut generator = Generator::new(extent.seed);
    let mut tally = ProgramTally::default();
    for begin in (0..extent.programs).step_by(PORTION) {
        let mut some = Vec::with_capacity(PORTION);
        for number in begin..extent.programs.min(begin + PORTION) {
            let program = generator.program(1 + number % 12);
            let program = program.map_err(|error| Failure::NotMade(error.to_string()))?;
            let inputs = (0..3).filter_map(|_| match generator.value(Type::Grid) {
                Value::Grid(grid) => Some((*grid).clone()),
                _ => None,
            });
            let inputs = inputs.collect();
            some.push((program, inputs));
        }
        tally.add(programs(engine, &some)?);
    }
    enough_programs(&tally, tally.same >= extent.programs as u64 * 3 / 20)
}

/// The results are compared on the device, since lists do not leave it.
fn results_of_any_type<D: Device>(engine: &Engine<D>, extent: Extent) -> Result<Counts, Failure> {
    let count = extent.programs as u64 * 3 / 5;
    compared_on_device(engine, random_results, count, extent.seed, |tally| {
        // Limits of memory and of rounds are rarely hit.
        let met = [BailOut::Arena, BailOut::Rounds];
        let met = met.map(|reason| tally.bail_outs.get(&reason).copied().unwrap_or(0));
        let few = tally.with_arena < count / 8 || tally.failing < count / 200;
        !few && met.iter().sum::<u64>() <= count / 100
    })
}

fn values_of_nothing<D: Device>(engine: &Engine<D>, extent: Extent) -> Result<Counts, Failure> {
    // One fault showed in only one of several thousand programs.
    let count = extent.programs as u64 * 3;
    compared_on_device(engine, degenerate_results, count, extent.seed, |tally| {
        let enough = [tally.same / 4, tally.with_arena, tally.failing];
        enough.iter().all(|compared| *compared > count / 40)
    })
}

fn compared_on_device<D: Device>(
    engine: &Engine<D>,
    cases: fn(u64, u64) -> Vec<ResultCase>,
    count: u64,
    seed: u64,
    is_enough: impl Fn(&ProgramTally) -> bool,
) -> Result<Counts, Failure> {
    const PORTION: u64 = 300;
    let mut tally = ProgramTally::default();
    for portion in 0..count.div_ceil(PORTION) {
        let seed = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let some = PORTION.min(count - portion * PORTION);
        tally.add(results(engine, cases(seed.wrapping_add(portion), some))?);
    }
    enough_programs(&tally, is_enough(&tally))
}

/// The device program of one call on a grid.
fn of_one_call(primitive: Primitive) -> Result<DeviceProgram, Failure> {
    let mut builder = ProgramBuilder::new("solve_one_call");
    let output = builder.call(primitive, [builder.input()]);
    let program = output.and_then(|output| builder.finish(output));
    let program = program.map_err(|error| Failure::NotMade(error.to_string()))?;
    super::compiled(&program).map_err(Failure::NotMade)
}

fn batches<D: Device>(engine: &Engine<D>, most: usize) -> Result<Counts, Failure> {
    let hmirror = of_one_call(Primitive::Hmirror)?;
    let (mut counts, mut first) = (Counts::default(), None);
    for count in [0, 1, 31, 32, 33, most] {
        let grids: Vec<Grid> = (0..count)
            .map(|number| {
                let mut grid = Grid::filled(1 + number % 3, 1 + number % 5, 0);
                grid.cells_mut()[0] = (number % 10) as i8;
                grid
            })
            .collect();
        let mirrored = engine.batch(&hmirror, &grids)?;
        if mirrored.len() != count {
            let found = mirrored.len();
            counts.different += 1;
            first.get_or_insert_with(|| format!("{found} results of {count}"));
            continue;
        }
        for (grid, result) in grids.iter().zip(mirrored) {
            let mut rows: Vec<&[i8]> = grid.rows().collect();
            rows.reverse();
            let grid_of = |value: &Value| value.as_grid().map(Cow::into_owned);
            let right = result
                .as_ref()
                .ok()
                .and_then(grid_of)
                .is_some_and(|result| {
                    result.width() == grid.width() && result.rows().eq(rows.iter().copied())
                });
            if right {
                counts.same += 1;
            } else {
                counts.different += 1;
                first.get_or_insert_with(|| format!("{grid:?} gives {result:?}"));
            }
        }
    }
    none_differs(counts, first)
}

fn grids_of_every_size<D: Device>(engine: &Engine<D>) -> Result<Counts, Failure> {
    let (mut counts, mut first) = (Counts::default(), None);
    let interpreter = Interpreter::default();
    let mut grids = Vec::new();
    for height in 1..=34usize {
        for width in 1..=34usize {
            // The slots of these colours in the table of a set do not depend on which comes first.
            let cells = (0..height * width).map(|at| (at * at % 7) as i8).collect();
            grids.push(Grid::from_cells(height, width, cells));
        }
    }
    for primitive in [Primitive::Rot90, Primitive::Hmirror, Primitive::Mostcolor] {
        let results = engine.batch(&of_one_call(primitive)?, &grids)?;
        for (grid, result) in grids.iter().zip(results) {
            let fits = grid.height() <= 32 && grid.width() <= 32;
            let value = Value::from(grid.clone());
            let expected = interpreter.call(&Value::from(primitive), &[&value]);
            let right = match (fits, &expected) {
                (true, Ok(expected)) => result.as_ref() == Ok(expected),
                (true, Err(_)) => false,
                (false, _) => result == Err(BailOut::Grid),
            };
            match (right, fits) {
                (true, true) => counts.same += 1,
                (true, false) => counts.bail_outs += 1,
                (false, _) => {
                    counts.different += 1;
                    first
                        .get_or_insert_with(|| format!("{primitive} of {grid:?} gives {result:?}"));
                }
            }
        }
    }
    none_differs(counts, first)
}

/// Each of four evaluations bails out at any of four instructions or at none, in all combinations: each instruction
/// doubles the width of a grid.
fn bail_outs_side_by_side<D: Device>(engine: &Engine<D>) -> Result<Counts, Failure> {
    const WIDTHS: [usize; 5] = [32, 16, 8, 4, 2];
    const SIDE_BY_SIDE: usize = 4;
    let hconcat = OPERATIONS.iter().position(|row| row.name == "hconcat");
    let hconcat = hconcat.ok_or_else(|| Failure::NotMade("there is no hconcat".to_owned()))?;
    let mut builder = Builder::default();
    let mut grid = builder.parameter(Representation::Grid);
    for _ in 1..WIDTHS.len() {
        grid = builder.emit(hconcat, Immediate::default(), &[grid, grid], 0);
    }
    let program = builder.finish(grid, Representation::Grid, None);
    let program = program.map_err(|error| Failure::NotMade(error.to_string()))?;
    let (mut pool, mut evaluations, mut expected) = (Pool::default(), Vec::new(), Vec::new());
    for combination in 0..WIDTHS.len().pow(SIDE_BY_SIDE as u32) {
        for place in 0..SIDE_BY_SIDE {
            let fits = combination / WIDTHS.len().pow(place as u32) % WIDTHS.len();
            let colour = (combination + place) % 10;
            let grid = Grid::filled(1 + place, WIDTHS[fits], colour as i8);
            let arguments = pool.push_grid(&grid);
            evaluations.push(Evaluation {
                program: 0,
                arguments: arguments.map_err(|reason| Failure::NotMade(reason.to_string()))?,
                expected: None,
                fetch: true,
                hash: false,
            });
            let made = Grid::filled(1 + place, 32, colour as i8);
            expected.push(
                (fits + 1 == WIDTHS.len())
                    .then_some(made)
                    .ok_or(1 + fits as u16),
            );
        }
    }
    let loaded = engine.load(&[program])?;
    let (verdicts, results) = engine.run(&loaded, &pool, &evaluations)?;
    let (mut counts, mut first) = (Counts::default(), None);
    for (number, (verdict, expected)) in verdicts.into_iter().zip(expected).enumerate() {
        let found = match verdict {
            Verdict::Done { .. } => results.grid(number).ok_or(0),
            Verdict::BailedOut {
                reason: BailOut::Grid,
                instruction,
            } => Err(instruction),
            Verdict::BailedOut { .. } => Err(0),
        };
        match (found == expected, &expected) {
            (true, Ok(_)) => counts.same += 1,
            (true, Err(_)) => counts.bail_outs += 1,
            (false, _) => {
                counts.different += 1;
                first.get_or_insert_with(|| {
                    format!("evaluation {number}: {verdict:?}, {found:?} instead of {expected:?}")
                });
            }
        }
    }
    none_differs(counts, first)
}
