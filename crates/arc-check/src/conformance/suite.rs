//! [`Test`]: the suite that every device has to pass, test by test.

use arc_dsl::generate::Generator;
use arc_dsl::{Grid, Interpreter, Primitive, Program, Type, Value, builtin};
use gpu_kernels::batch::{BatchError, Column, GridBatch};
use gpu_kernels::device::{Device, DeviceError};
use gpu_kernels::interface::Representation;
use gpu_kernels::lane_operations;
use gpu_kernels::list_operations::ListOperation;
use gpu_kernels::operations::OPERATIONS;
use gpu_kernels::{BailOut, Builder, Engine, Evaluation, Immediate, Pool, Verdict};

use super::{
    Cases, ListCase, ProgramTally, ResultTally, Tally, check, check_lists, programs,
    random_results, results,
};

/// One test of the suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Test {
    /// Random cases of the operation of this opcode.
    Operation(usize),
    /// Random cases of an operation on lists.
    ListOperation(ListOperation),
    /// An operation by lanes, by its opcode.
    LaneOperation(u16),
    /// The built-in programs on inputs of their tasks.
    BuiltInPrograms,
    /// Random programs on random grids.
    RandomPrograms,
    /// Programs with loops and lists, and calls of every primitive, whose results of any type are
    /// compared on the device.
    Results,
    /// As many grids as end in the middle of a warp's work, and many.
    Batches,
    /// Grids of all sizes up to what the device holds, and past it.
    Grids,
    /// Evaluations of one program next to each other that bail out at different instructions.
    SideBySide,
}

/// Programs of a launch.
const PROGRAMS: usize = 120;

/// How much is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Cases of an operation.
    pub cases: usize,
    /// Random programs.
    pub programs: usize,
    /// Grids of the largest batch.
    pub batch: usize,
    /// What all random cases are made of.
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

/// Why a test is not passed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The device gives another result, or bails out without a reason.
    #[error("{0}")]
    Different(String),
    /// So little was compared that it shows nothing.
    #[error("too few compared: {0}")]
    Few(String),
    /// The device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A batch could not be made.
    #[error(transparent)]
    Batch(#[from] BatchError),
}

impl Test {
    /// The whole suite.
    pub fn all() -> impl Iterator<Item = Test> {
        let operations = (0..OPERATIONS.len()).map(Test::Operation);
        let of_lists = ListOperation::ALL.iter().copied().map(Test::ListOperation);
        let by_lanes = lane_operations::all().map(Test::LaneOperation);
        operations.chain(of_lists).chain(by_lanes).chain([
            Test::BuiltInPrograms,
            Test::RandomPrograms,
            Test::Results,
            Test::Batches,
            Test::Grids,
            Test::SideBySide,
        ])
    }

    /// Its name: that of the operation, or what it tries.
    pub fn name(self) -> String {
        let name = match self {
            Test::Operation(opcode) => OPERATIONS.get(opcode).map_or("none", |row| row.name),
            Test::ListOperation(operation) => operation.name(),
            Test::LaneOperation(opcode) => {
                return format!("{} by lanes", lane_operations::name(opcode));
            }
            Test::BuiltInPrograms => "built-in programs",
            Test::RandomPrograms => "random programs",
            Test::Results => "results of any type",
            Test::Batches => "batches of every size",
            Test::Grids => "grids of every size",
            Test::SideBySide => "bail-outs side by side",
        };
        name.to_owned()
    }

    /// Runs it.
    pub fn run<D: Device>(self, engine: &Engine<D>, extent: Extent) -> Result<(), Failure> {
        match self {
            Test::Operation(opcode) => random_cases(engine, opcode, extent),
            Test::ListOperation(operation) => {
                let compared = |tally: &Tally| match operation {
                    // What always fails has no other cases.
                    ListOperation::Fail => tally.failing,
                    _ => tally.same,
                };
                let made = |cases: &mut Cases| cases.of_list(operation);
                list_cases(engine, operation.opcode(), made, compared, extent)
            }
            Test::LaneOperation(opcode) => {
                let made = |cases: &mut Cases| cases.by_lanes(opcode);
                list_cases(engine, opcode, made, |tally| tally.same, extent)
            }
            Test::BuiltInPrograms => built_in_programs(engine),
            Test::RandomPrograms => random_programs(engine, extent),
            Test::Results => results_of_any_type(engine, extent),
            Test::Batches => batches(engine, extent.batch),
            Test::Grids => grids_of_every_size(engine),
            Test::SideBySide => bail_outs_side_by_side(engine),
        }
    }
}

fn random_cases<D: Device>(
    engine: &Engine<D>,
    opcode: usize,
    Extent { cases, seed, .. }: Extent,
) -> Result<(), Failure> {
    let mut made = Cases::new(seed ^ (opcode as u64) << 32);
    let made: Vec<_> = (0..cases * 8)
        .filter_map(|_| made.of(opcode))
        .take(cases)
        .collect();
    let total = made.len();
    let tally = check(engine, made)?.remove(&opcode).unwrap_or_default();
    if let Some(first) = &tally.first {
        return Err(Failure::Different(format!(
            "{} of {total} cases differ; the first:\n{first}",
            tally.different
        )));
    }
    // A row that is hardly ever compared shows nothing.
    let least = (cases as u64 / 8).min(30);
    if total < cases || tally.same < least {
        return Err(Failure::Few(format!("{total} cases made: {tally}")));
    }
    Ok(())
}

fn list_cases<D: Device>(
    engine: &Engine<D>,
    opcode: u16,
    make: impl Fn(&mut Cases) -> Option<ListCase>,
    compared: impl Fn(&Tally) -> u64,
    Extent { cases, seed, .. }: Extent,
) -> Result<(), Failure> {
    let mut made = Cases::new(seed ^ u64::from(opcode) << 32);
    let made: Vec<_> = (0..cases * 8)
        .filter_map(|_| make(&mut made))
        .take(cases)
        .collect();
    let total = made.len();
    let mut tally = Tally::default();
    // Each case is a program of its own.
    let mut left = made.into_iter().peekable();
    while left.peek().is_some() {
        let some = left.by_ref().take(PROGRAMS).collect();
        tally.add(check_lists(engine, some)?);
    }
    if let Some(first) = &tally.first_of_lists {
        return Err(Failure::Different(format!(
            "{} of {total} cases differ; the first:\n{first}",
            tally.different
        )));
    }
    if total < cases || compared(&tally) < (cases as u64 / 8).min(30) {
        return Err(Failure::Few(format!("{total} cases made: {tally}")));
    }
    Ok(())
}

fn all_same(tally: &ProgramTally, least: u64) -> Result<(), Failure> {
    if let Some(first) = &tally.first {
        return Err(Failure::Different(format!(
            "{} evaluations differ; the first:\n{first}",
            tally.different
        )));
    }
    if tally.same < least {
        return Err(Failure::Few(format!("{tally:?}")));
    }
    Ok(())
}

fn built_in_programs<D: Device>(engine: &Engine<D>) -> Result<(), Failure> {
    let inputs =
        |built_in: &builtin::BuiltIn| (0..12).map(|pair| built_in.input(5, pair, 30)).collect();
    let all: Vec<(Program, Vec<Grid>)> = builtin::all()
        .iter()
        .map(|built_in| (built_in.program().clone(), inputs(built_in)))
        .collect();
    all_same(&programs(engine, &all)?, 200)
}

fn random_programs<D: Device>(engine: &Engine<D>, extent: Extent) -> Result<(), Failure> {
    let mut generator = Generator::new(extent.seed);
    let mut all = Vec::new();
    for number in 0..extent.programs {
        let program = generator.program(1 + number % 12);
        let program = program.map_err(|error| Failure::Few(error.to_string()))?;
        let inputs = (0..3).filter_map(|_| match generator.value(Type::Grid) {
            Value::Grid(grid) => Some((*grid).clone()),
            _ => None,
        });
        let inputs = inputs.collect();
        all.push((program, inputs));
    }
    all_same(&programs(engine, &all)?, extent.programs as u64 * 3 / 20)
}

/// What each program gives is compared where it is, since lists stay on the device.
fn results_of_any_type<D: Device>(engine: &Engine<D>, extent: Extent) -> Result<(), Failure> {
    const PORTION: u64 = 300;
    let count = extent.programs as u64 * 3 / 5;
    let mut tally = ResultTally::default();
    for portion in 0..count.div_ceil(PORTION) {
        let seed = extent.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let cases = PORTION.min(count - portion * PORTION);
        let cases = random_results(seed.wrapping_add(portion), cases);
        tally.add(results(engine, cases)?);
    }
    if let Some(first) = &tally.first {
        let different = tally.different;
        let told = format!("{different} results differ; the first:\n{first}");
        return Err(Failure::Different(told));
    }
    // Bounds of memory and of rounds are hardly ever met.
    let met = [BailOut::Arena, BailOut::Rounds];
    let met = met.map(|reason| tally.bail_outs.get(&reason).copied().unwrap_or(0));
    let few = tally.with_arena < count / 8 || tally.failing < count / 200;
    if few || met.iter().sum::<u64>() > count / 100 {
        return Err(Failure::Few(format!("{tally:?}")));
    }
    Ok(())
}

fn batches<D: Device>(engine: &Engine<D>, most: usize) -> Result<(), Failure> {
    for count in [0, 1, 31, 32, 33, most] {
        let grids: Vec<Grid> = (0..count)
            .map(|number| {
                let mut grid = Grid::filled(1 + number % 3, 1 + number % 5, 0);
                grid.cells_mut()[0] = (number % 10) as i8;
                grid
            })
            .collect();
        let mirrored = engine.batch_hmirror(&GridBatch::new(&grids))?;
        if mirrored.len() != count {
            let found = mirrored.len();
            return Err(Failure::Different(format!("{found} results of {count}")));
        }
        for (grid, result) in grids.iter().zip(mirrored.grids()) {
            let mut rows: Vec<&[i8]> = grid.rows().collect();
            rows.reverse();
            let right = result.as_ref().is_ok_and(|result| {
                result.width() == grid.width() && result.rows().eq(rows.iter().copied())
            });
            if !right {
                return Err(Failure::Different(format!("{grid:?} gives {result:?}")));
            }
        }
    }
    Ok(())
}

fn grids_of_every_size<D: Device>(engine: &Engine<D>) -> Result<(), Failure> {
    let interpreter = Interpreter::default();
    let mut grids = Vec::new();
    for height in 1..=34usize {
        for width in 1..=34usize {
            let cells = (0..height * width).map(|at| (at * at % 10) as i8).collect();
            grids.push(Grid::from_cells(height, width, cells));
        }
    }
    let batch = GridBatch::new(&grids);
    for primitive in [Primitive::Rot90, Primitive::Hmirror, Primitive::Mostcolor] {
        let results = engine.batch(primitive, None, &[Column::Grids(&batch)])?;
        for (grid, result) in grids.iter().zip(results) {
            let fits = grid.height() <= 32 && grid.width() <= 32;
            let value = Value::from(grid.clone());
            let expected = interpreter.call(&Value::from(primitive), &[&value]);
            let right = match (fits, &expected) {
                (true, Ok(expected)) => result.as_ref() == Ok(expected),
                (true, Err(_)) => false,
                (false, _) => result == Err(BailOut::Grid),
            };
            if !right {
                let told = format!("{primitive} of {grid:?} gives {result:?}");
                return Err(Failure::Different(told));
            }
        }
    }
    Ok(())
}

/// Each of four evaluations bails out at any of four instructions or at none, in all ways there are: each
/// instruction makes a grid twice as wide.
fn bail_outs_side_by_side<D: Device>(engine: &Engine<D>) -> Result<(), Failure> {
    const WIDTHS: [usize; 5] = [32, 16, 8, 4, 2];
    const SIDE_BY_SIDE: usize = 4;
    let few = |what: &str| Failure::Few(what.to_owned());
    let hconcat = OPERATIONS.iter().position(|row| row.name == "hconcat");
    let hconcat = hconcat.ok_or_else(|| few("there is no hconcat"))?;
    let mut builder = Builder::default();
    let mut grid = builder.parameter(Representation::Grid);
    for _ in 1..WIDTHS.len() {
        grid = builder.emit(hconcat, Immediate::default(), &[grid, grid], 0);
    }
    let program = builder.finish(grid, Representation::Grid, None);
    let program = program.map_err(|error| few(&error.to_string()))?;
    let (mut pool, mut evaluations, mut expected) = (Pool::default(), Vec::new(), Vec::new());
    for combination in 0..WIDTHS.len().pow(SIDE_BY_SIDE as u32) {
        for place in 0..SIDE_BY_SIDE {
            let fits = combination / WIDTHS.len().pow(place as u32) % WIDTHS.len();
            let colour = (combination + place) % 10;
            let grid = Grid::filled(1 + place, WIDTHS[fits], colour as i8);
            let arguments = pool.push_grid(&grid);
            evaluations.push(Evaluation {
                program: 0,
                arguments: arguments.map_err(|reason| few(&format!("{reason:?}")))?,
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
    for (number, (verdict, expected)) in verdicts.into_iter().zip(expected).enumerate() {
        let found = match verdict {
            Verdict::Done { .. } => results.grid(number).ok_or(0),
            Verdict::BailedOut {
                reason: BailOut::Grid,
                instruction,
            } => Err(instruction),
            Verdict::BailedOut { .. } => Err(0),
        };
        if found != expected {
            let told =
                format!("evaluation {number}: {verdict:?}, {found:?} instead of {expected:?}");
            return Err(Failure::Different(told));
        }
    }
    Ok(())
}
