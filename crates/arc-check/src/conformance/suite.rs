//! [`Family`] and [`Test`]: the suite that every device has to pass. Every runner of the suite iterates over
//! [`Test::all`].

use arc_dsl::generate::Generator;
use arc_dsl::{Grid, Interpreter, Primitive, Program, ProgramBuilder, Value};
use arc_tasks::builtin;
use gpu_kernels::device::{Device, DeviceError, Unavailable};
use gpu_kernels::interface::Representation;
use gpu_kernels::lane_operations;
use gpu_kernels::list_operations::ListOperation;
use gpu_kernels::operations::OPERATIONS;
use gpu_kernels::{BailOut, Builder, DeviceProgram, Engine, Evaluation, Immediate, Pool};

use crate::agreement::grid;

use super::{
    Cases, ResultCase, Tally, check, check_lists, degenerate_results, programs, random_results,
    results,
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
    /// Random cases of each operation on values of the pool.
    Operations "operations",
    /// Random cases of each operation on lists.
    ListOperations "operations on lists",
    /// Random cases of each operation by lanes.
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
    /// The numbers of its tests.
    fn numbers(self) -> Vec<u16> {
        match self {
            Family::Operations => (0..OPERATIONS.len() as u16).collect(),
            Family::ListOperations => ListOperation::ALL.iter().map(|it| it.opcode()).collect(),
            Family::LaneOperations => lane_operations::all().collect(),
            _ => vec![0],
        }
    }
}

/// One test of the suite: a family and the number of a test in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Test {
    family: Family,
    /// The opcode of an operation, or 0.
    number: u16,
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

/// Why a test failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The device computed another result, or bailed out for a reason that is not allowed.
    #[error("{} of {} cases differ; the first:\n{}", .0.different, .0.cases(), .0.first.as_deref().unwrap_or_default())]
    Different(Tally),
    /// Too little was compared to show anything.
    #[error("too few compared: {0:?}")]
    Few(Tally),
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
    pub(crate) fn counts(self) -> Tally {
        match self {
            Failure::Different(tally) | Failure::Few(tally) => tally,
            _ => Tally::default(),
        }
    }
}

impl Test {
    /// The whole suite.
    pub fn all() -> impl Iterator<Item = Test> {
        let tests = |&family: &Family| {
            let numbers = family.numbers().into_iter();
            numbers.map(move |number| Test { family, number })
        };
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
        let name = || lane_operations::name(self.number);
        match self.family {
            Family::Operations | Family::ListOperations => name().to_owned(),
            Family::LaneOperations => format!("{} by lanes", name()),
            family => family.name().to_owned(),
        }
    }

    /// Runs it. Passes if no case differs and enough were compared; returns the results of its cases.
    pub fn run<D: Device>(self, engine: &Engine<D>, extent: Extent) -> Result<Tally, Failure> {
        let opcode = self.number;
        let lists = |some| check_lists(engine, some);
        match self.family {
            Family::Operations => {
                let make = |cases: &mut Cases| cases.of(opcode.into());
                self.random_cases(make, PORTION, |some| check(engine, some), extent)
            }
            Family::ListOperations => {
                let make = |cases: &mut Cases| cases.of_list(ListOperation::of(opcode)?);
                self.random_cases(make, PROGRAMS, lists, extent)
            }
            Family::LaneOperations => {
                let make = |cases: &mut Cases| cases.by_lanes(opcode);
                self.random_cases(make, PROGRAMS, lists, extent)
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

    /// Checks cases of an operation in portions of this size.
    fn random_cases<C>(
        self,
        make: impl Fn(&mut Cases) -> Option<C>,
        portion: usize,
        check: impl Fn(Vec<C>) -> Result<Tally, DeviceError>,
        Extent { cases, seed, .. }: Extent,
    ) -> Result<Tally, Failure> {
        let mut left = Cases::drawn(seed, self.number, cases, make);
        let (mut tally, mut total) = (Tally::default(), 0);
        loop {
            let some: Vec<_> = left.by_ref().take(portion).collect();
            if some.is_empty() {
                break;
            }
            total += some.len();
            tally.add(check(some)?);
        }
        enough(tally, |tally| {
            let compared = match ListOperation::of(self.number) {
                // An operation that always fails has no other cases.
                Some(ListOperation::Fail) => tally.failing,
                _ => tally.same,
            };
            total == cases && compared >= least(cases)
        })
    }
}

/// Passes unless a case differs, however few were compared.
pub(crate) fn none_differs(tally: Tally) -> Result<Tally, Failure> {
    match tally.first {
        Some(_) => Err(Failure::Different(tally)),
        None => Ok(tally),
    }
}

/// Passes unless a case differs or too few were compared to show anything.
fn enough(tally: Tally, is_enough: impl FnOnce(&Tally) -> bool) -> Result<Tally, Failure> {
    let tally = none_differs(tally)?;
    if is_enough(&tally) {
        Ok(tally)
    } else {
        Err(Failure::Few(tally))
    }
}

/// How many of an operation's cases have to be compared.
fn least(cases: usize) -> u64 {
    (cases as u64 / 8).clamp(1, 30)
}

fn built_in_programs<D: Device>(engine: &Engine<D>) -> Result<Tally, Failure> {
    let inputs =
        |built_in: &builtin::BuiltIn| (0..12).map(|pair| built_in.input(5, pair, 30)).collect();
    let all: Vec<(Program, Vec<Grid>)> = builtin::all()
        .iter()
        .map(|built_in| (built_in.program().clone(), inputs(built_in)))
        .collect();
    enough(programs(engine, &all)?, |tally| tally.same >= 200)
}

fn random_programs<D: Device>(engine: &Engine<D>, extent: Extent) -> Result<Tally, Failure> {
    let mut generator = Generator::new(extent.seed);
    let mut tally = Tally::default();
    for begin in (0..extent.programs).step_by(PORTION) {
        let mut some = Vec::with_capacity(PORTION);
        for number in begin..extent.programs.min(begin + PORTION) {
            let program = generator.program(1 + number % 12);
            let program = program.map_err(|error| Failure::NotMade(error.to_string()))?;
            let inputs = (0..3).map(|_| grid(&mut generator)).collect();
            some.push((program, inputs));
        }
        tally.add(programs(engine, &some)?);
    }
    enough(tally, |tally| tally.same >= extent.programs as u64 * 3 / 20)
}

/// The results are compared on the device, since lists do not leave it.
fn results_of_any_type<D: Device>(engine: &Engine<D>, extent: Extent) -> Result<Tally, Failure> {
    let count = extent.programs as u64 * 3 / 5;
    compared_on_device(engine, random_results, count, extent.seed, |tally| {
        // Limits of memory and of rounds are rarely hit.
        let met = [BailOut::Arena, BailOut::Rounds];
        let met = met.map(|reason| tally.bail_outs.get(&reason).copied().unwrap_or(0));
        let few = tally.with_arena < count / 8 || tally.failing < count / 200;
        !few && met.iter().sum::<u64>() <= count / 100
    })
}

fn values_of_nothing<D: Device>(engine: &Engine<D>, extent: Extent) -> Result<Tally, Failure> {
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
    is_enough: impl FnOnce(&Tally) -> bool,
) -> Result<Tally, Failure> {
    const PORTION: u64 = 300;
    let mut tally = Tally::default();
    for portion in 0..count.div_ceil(PORTION) {
        let seed = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let some = PORTION.min(count - portion * PORTION);
        tally.add(results(engine, cases(seed.wrapping_add(portion), some))?);
    }
    enough(tally, is_enough)
}

/// The device program of one call on a grid.
fn of_one_call(primitive: Primitive) -> Result<DeviceProgram, Failure> {
    let mut builder = ProgramBuilder::new("solve_one_call");
    let output = builder.call(primitive, [builder.input()]);
    let program = output.and_then(|output| builder.finish(output));
    let program = program.map_err(|error| Failure::NotMade(error.to_string()))?;
    super::compiled(&program).map_err(Failure::NotMade)
}

fn batches<D: Device>(engine: &Engine<D>, most: usize) -> Result<Tally, Failure> {
    let hmirror = of_one_call(Primitive::Hmirror)?;
    let mut tally = Tally::default();
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
            tally.differs(|| format!("{} results of {count}", mirrored.len()));
            continue;
        }
        for (grid, result) in grids.iter().zip(mirrored) {
            let mut rows: Vec<&[i8]> = grid.rows().collect();
            rows.reverse();
            let found = result.as_ref().ok().and_then(Value::as_grid);
            let right = found.is_some_and(|found| {
                found.width() == grid.width() && found.rows().eq(rows.iter().copied())
            });
            if right {
                tally.same += 1;
            } else {
                tally.differs(|| format!("{grid:?} gives {result:?}"));
            }
        }
    }
    none_differs(tally)
}

fn grids_of_every_size<D: Device>(engine: &Engine<D>) -> Result<Tally, Failure> {
    let mut tally = Tally::default();
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
            match (fits, &expected) {
                (true, Ok(expected)) if result.as_ref() == Ok(expected) => tally.same += 1,
                (false, _) if result == Err(BailOut::Grid) => {
                    tally.bails_out(BailOut::Grid, false);
                }
                _ => tally.differs(|| format!("{primitive} of {grid:?} gives {result:?}")),
            }
        }
    }
    none_differs(tally)
}

/// Each of four evaluations bails out at any of four instructions or at none, in all combinations: each instruction
/// doubles the width of a grid.
fn bail_outs_side_by_side<D: Device>(engine: &Engine<D>) -> Result<Tally, Failure> {
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
            });
            let made = Grid::filled(1 + place, 32, colour as i8);
            expected.push(
                (fits + 1 == WIDTHS.len())
                    .then_some(made)
                    .ok_or(BailOut::Grid),
            );
        }
    }
    let loaded = engine.load(&[program])?;
    let (verdicts, results) = engine.run(&loaded, &pool, &evaluations)?;
    let mut tally = Tally::default();
    for (number, (verdict, expected)) in verdicts.into_iter().zip(expected).enumerate() {
        let grid = |_| results.grid(number).ok_or(BailOut::Undefined);
        let found = verdict.ended().and_then(grid);
        match (found == expected, &expected) {
            (true, Ok(_)) => tally.same += 1,
            (true, Err(_)) => tally.bails_out(BailOut::Grid, false),
            (false, _) => tally.differs(|| {
                format!("evaluation {number}: {verdict:?}, {found:?} instead of {expected:?}")
            }),
        }
    }
    none_differs(tally)
}
