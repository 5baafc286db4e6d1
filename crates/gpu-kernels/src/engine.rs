//! [`Engine`]: programs and arguments on a device, and launches of many evaluations at once.

use std::cell::RefCell;
use std::ops::Range;
use std::time::Duration;

use bytemuck::{Pod, Zeroable};

use crate::device::{Device, DeviceError, Entry, Information, Launch};
use crate::interface::constants::{ARENA_WORDS, MAX_SIDE_BY_SIDE, MAX_WARPS, NOWHERE};
use crate::interface::records::{EvaluationRecord, VerdictRecord, WorkRecord};
use crate::interface::{ProgramsArguments, Representation, Structure};
use crate::pool::{LANES, Place, Pool};
use crate::program::Unit;
use crate::verdict::Verdict;

mod arenas;
mod programs;
mod table;

pub use programs::Programs;

use arenas::Arenas;
use programs::About;
use table::{MOST_ROWS, Table};

/// How launches are cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaunchConfig {
    /// Warps of a block, 1 to 4.
    pub warps: u32,
    /// Evaluations of one program that a warp makes side by side, 1 to 4.
    pub side_by_side: u32,
    /// Blocks of a multiprocessor that a launch has at most; a warp goes on to the next work
    /// until all is done.
    pub blocks: u32,
}

impl Default for LaunchConfig {
    fn default() -> Self {
        Self {
            warps: MAX_WARPS,
            side_by_side: MAX_SIDE_BY_SIDE,
            blocks: 32,
        }
    }
}

impl LaunchConfig {
    fn within(self) -> Self {
        Self {
            warps: self.warps.clamp(1, MAX_WARPS),
            side_by_side: self.side_by_side.clamp(1, MAX_SIDE_BY_SIDE),
            blocks: self.blocks.max(1),
        }
    }
}

/// One evaluation: a program on arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Evaluation {
    /// The program, by its place among those that were [loaded](Engine::load), or came to
    /// [them](Engine::extend) later.
    pub program: u32,
    /// Where its arguments lie, one after the other, in the [uploaded](Engine::upload) pool.
    pub arguments: Place,
    /// Where the expected grid lies in that pool.
    pub expected: Option<Place>,
    /// Whether the result is to be fetched, and not only its verdict.
    pub fetch: bool,
    /// Whether the verdict is to have the [hash](crate::hash) of a result that is a grid.
    pub hash: bool,
}

/// Runs programs on one device.
#[derive(Debug)]
pub struct Engine<D: Device> {
    /// Before the device that it is of.
    arenas: RefCell<Option<Arenas<D::Buffer>>>,
    device: D,
    config: LaunchConfig,
}

/// Arguments and expected grids on a device, where they stay and become more.
#[derive(Debug)]
pub struct Arguments<D: Device> {
    words: Table<D::Buffer>,
    units: Table<D::Buffer>,
}

impl<D: Device> Arguments<D> {
    /// Bytes of the device's memory that they take, with the room for those to come.
    pub fn bytes(&self) -> u64 {
        (self.words.capacity + self.units.capacity) as u64
    }

    /// Where what comes next will lie.
    fn end(&self) -> Place {
        Place {
            word: self.words.elements::<u32>() as u32,
            unit: self.units.elements::<Unit>() as u32,
        }
    }
}

/// Evaluations on a device, ready to be launched any number of times.
#[derive(Debug)]
pub struct Prepared<D: Device> {
    evaluations: D::Buffer,
    works: D::Buffer,
    verdicts: D::Buffer,
    result_words: D::Buffer,
    result_units: D::Buffer,
    groups: Vec<Group>,
    count: usize,
    fetched: Fetching,
}

/// Consecutive evaluations of one program.
#[derive(Debug)]
struct Run {
    program: u32,
    about: About,
    evaluations: Range<u32>,
}

impl Run {
    /// Works of one class are launched together: of programs that have an arena or not, and whose pools are of like size.
    fn class(&self) -> (bool, u32) {
        (self.about.has_arena, size_class(self.about.pool_bytes))
    }
}

/// Where the results that are to be fetched will lie.
#[derive(Debug, Clone, Default)]
struct Fetching {
    /// Of each evaluation; empty where none is fetched.
    results: Vec<Option<Fetched>>,
    /// Where all of them end.
    end: Place,
}

impl Fetching {
    fn of(runs: &[Run], evaluations: &[Evaluation]) -> Self {
        if !evaluations.iter().any(|evaluation| evaluation.fetch) {
            return Self::default();
        }
        let mut end = Place::default();
        let numbered = runs.iter().flat_map(|run| {
            let numbers = run.evaluations.clone();
            numbers.map(|number| (number, &run.about))
        });
        let results = numbered.map(|(number, about)| {
            evaluations[number as usize].fetch.then(|| {
                let place = end;
                end.word += 1;
                end.unit += about.gives.units();
                Fetched {
                    place,
                    representation: about.gives,
                    structure: about.structure,
                }
            })
        });
        Self {
            results: results.collect(),
            end,
        }
    }

    /// Words and units of all of them.
    fn len(&self) -> (usize, usize) {
        (self.end.word as usize, self.end.unit as usize)
    }

    /// The result of an evaluation, if it is fetched.
    fn get(&self, evaluation: usize) -> Option<Fetched> {
        *self.results.get(evaluation)?
    }
}

/// Works that are launched together, since their pools are of like size.
#[derive(Debug)]
struct Group {
    /// Which of the works.
    works: Range<u32>,
    pool_bytes: u32,
    side_by_side: u32,
    /// For how many warps there should be arenas; `None` if no program of it has one.
    arenas: Option<u32>,
}

/// Blocks of a launch, and warps of a block.
#[derive(Debug, Clone, Copy)]
struct Shape {
    blocks: u32,
    warps: u32,
}

/// Results that were fetched.
#[derive(Debug, Default)]
pub struct Results {
    pool: Pool,
    fetched: Fetching,
}

/// Where a result lies, and how it is held.
#[derive(Debug, Clone, Copy)]
struct Fetched {
    place: Place,
    representation: Representation,
    structure: Option<Structure>,
}

impl Results {
    /// The result of an evaluation; `None` if it was not asked for. Of an evaluation of
    /// which the device bailed out it says nothing.
    pub fn value(&self, evaluation: usize) -> Option<arc_dsl::Value> {
        let fetched = self.fetched.get(evaluation)?;
        let value = self.pool.value(fetched.representation, fetched.place)?;
        Some(match fetched.structure {
            Some(structure) if fetched.representation == Representation::Objects => {
                structure.elements(&value)
            }
            _ => value,
        })
    }

    /// Whether the result of an evaluation is held as operations rely on; so is one that was not
    /// asked for.
    pub fn is_clean(&self, evaluation: usize) -> bool {
        let fetched = self.fetched.get(evaluation);
        fetched.is_none_or(|fetched| self.pool.is_clean(fetched.representation, fetched.place))
    }

    /// The result of an evaluation that gives a grid.
    pub fn grid(&self, evaluation: usize) -> Option<arc_dsl::Grid> {
        let fetched = self.fetched.get(evaluation)?;
        let is_grid = fetched.representation == Representation::Grid;
        is_grid.then(|| self.pool.grid(fetched.place)).flatten()
    }
}

impl EvaluationRecord {
    fn new(evaluation: &Evaluation, result: Option<Place>, verdict: u32) -> Self {
        let nowhere = Place {
            word: NOWHERE,
            unit: NOWHERE,
        };
        let expected = evaluation.expected.unwrap_or(nowhere);
        let result = result.unwrap_or(nowhere);
        EvaluationRecord {
            words: evaluation.arguments.word,
            units: evaluation.arguments.unit,
            verdict,
            wants_hash: evaluation.hash.into(),
            expected_word: expected.word,
            expected_unit: expected.unit,
            result_word: result.word,
            result_unit: result.unit,
        }
    }
}

fn refused(reason: String) -> DeviceError {
    DeviceError::Launch {
        kernel: Entry::Programs.symbol(),
        reason,
    }
}

/// The evaluations by runs of one program, in their order. Those of what is not there are refused.
fn runs<D: Device>(
    programs: &Programs<D>,
    arguments: &Arguments<D>,
    evaluations: &[Evaluation],
) -> Result<Vec<Run>, DeviceError> {
    let end = arguments.end();
    let past = |place: Place, words: u32, units: u32| {
        place.word as usize + words as usize > end.word as usize
            || place.unit as usize + units as usize > end.unit as usize
    };
    let grid = Representation::Grid.units();
    let mut runs = Vec::new();
    let mut start = 0;
    for of_program in evaluations.chunk_by(|a, b| a.program == b.program) {
        let program = of_program[0].program;
        let Some(about) = programs.about().get(program as usize).copied() else {
            let count = programs.len();
            return Err(refused(format!(
                "evaluation {start} is of program {program} of {count}"
            )));
        };
        let is_past = |evaluation: &Evaluation| {
            past(evaluation.arguments, about.words, about.units)
                || evaluation
                    .expected
                    .is_some_and(|place| past(place, 1, grid))
        };
        if let Some(at) = of_program.iter().position(is_past) {
            return Err(refused(format!(
                "evaluation {} takes what lies past the arguments' end",
                start as usize + at
            )));
        }
        let evaluations = start..start + of_program.len() as u32;
        start = evaluations.end;
        runs.push(Run {
            program,
            about,
            evaluations,
        });
    }
    Ok(runs)
}

impl<D: Device> Engine<D> {
    /// An engine on this device.
    pub fn new(device: D) -> Self {
        Self::with(device, LaunchConfig::default())
    }

    /// An engine on this device that cuts launches so; numbers outside their range are brought
    /// into it.
    pub fn with(device: D, config: LaunchConfig) -> Self {
        Self {
            arenas: RefCell::new(None),
            device,
            config: config.within(),
        }
    }

    /// Cuts what is prepared and launched from now on so; numbers outside their range are brought
    /// into it.
    pub fn configure(&mut self, config: LaunchConfig) {
        self.config = config.within();
    }

    /// The device.
    pub fn device(&self) -> &D {
        &self.device
    }

    /// Puts arguments and expected grids on the device.
    pub fn upload(&self, pool: &Pool) -> Result<Arguments<D>, DeviceError> {
        Ok(Arguments {
            words: self.table(pool.words())?,
            units: self.table(pool.units())?,
        })
    }

    /// Puts more of them on the device, and gives where the first of them lies: those that were there stay in
    /// their places, and after an error they are what there is.
    pub fn append(&self, arguments: &mut Arguments<D>, pool: &Pool) -> Result<Place, DeviceError> {
        let first = arguments.end();
        let ends = [
            first.word as usize + pool.words().len(),
            first.unit as usize + pool.units().len(),
        ];
        if ends.iter().any(|end| *end > MOST_ROWS) {
            return Err(refused(format!(
                "arguments have more than {MOST_ROWS} words or units"
            )));
        }
        // Nothing counts before there is room for all of it.
        let words = self.addition(&mut arguments.words, pool.words())?;
        let units = self.addition(&mut arguments.units, pool.units())?;
        arguments.words.add(words);
        arguments.units.add(units);
        Ok(first)
    }

    fn uploaded<T: Pod>(&self, values: &[T]) -> Result<D::Buffer, DeviceError> {
        let bytes: &[u8] = bytemuck::cast_slice(values);
        let mut buffer = self.device.allocate(bytes.len().max(1))?;
        if !bytes.is_empty() {
            self.device.upload(bytes, &mut buffer, 0)?;
        }
        Ok(buffer)
    }

    /// Makes evaluations ready for launches. Evaluations that name a program or a place that is
    /// not there are refused.
    pub fn prepare(
        &self,
        programs: &Programs<D>,
        arguments: &Arguments<D>,
        evaluations: &[Evaluation],
    ) -> Result<Prepared<D>, DeviceError> {
        let mut runs = runs(programs, arguments, evaluations)?;
        let fetched = Fetching::of(&runs, evaluations);
        // Programs with pools of like size stand together, and evaluations of one program; both in
        // their order otherwise. These mostly stand together as they come, so that there are few runs of them.
        runs.sort_by_key(|run| (run.class(), run.program));
        let mut records = Vec::with_capacity(evaluations.len());
        for number in runs.iter().flat_map(|run| run.evaluations.clone()) {
            let result = fetched.get(number as usize).map(|fetched| fetched.place);
            records.push(EvaluationRecord::new(
                &evaluations[number as usize],
                result,
                number,
            ));
        }

        let mut works: Vec<WorkRecord> = Vec::new();
        let mut groups = Vec::new();
        let mut at = 0;
        for same_class in runs.chunk_by(|a, b| a.class() == b.class()) {
            let first_work = works.len() as u32;
            let pools = same_class.iter().map(|run| run.about.pool_bytes);
            let pool_bytes = pools.max().unwrap_or_default();
            let has_arena = same_class[0].about.has_arena;
            let room = self.side_by_side(pool_bytes).ok_or_else(|| {
                refused(format!(
                    "an evaluation needs {pool_bytes} bytes of shared memory, a block has {}",
                    self.device.information().shared_bytes
                ))
            })?;
            // What jumps goes its own way.
            let side_by_side = if has_arena { 1 } else { room };
            for of_program in same_class.chunk_by(|a, b| a.program == b.program) {
                let count: u32 = of_program
                    .iter()
                    .map(|run| run.evaluations.len() as u32)
                    .sum();
                let end = at + count;
                while at < end {
                    let count = side_by_side.min(end - at);
                    works.push(WorkRecord {
                        program: of_program[0].program,
                        first: at,
                        count,
                        spare: 0,
                    });
                    at += count;
                }
            }
            let mut group = Group {
                works: first_work..works.len() as u32,
                pool_bytes,
                side_by_side,
                arenas: None,
            };
            if has_arena {
                let Shape { blocks, warps } = self.shape(&group, None);
                // Only as many as run at a time.
                let resident =
                    self.device.information().warps * self.device.information().multiprocessors;
                group.arenas = Some((blocks * warps).min(resident.max(warps)));
            }
            groups.push(group);
        }
        let (words, units) = fetched.len();
        let verdicts = evaluations.len() * size_of::<VerdictRecord>();
        Ok(Prepared {
            evaluations: self.uploaded(&records)?,
            works: self.uploaded(&works)?,
            verdicts: self.device.allocate(verdicts.max(1))?,
            result_words: self.device.allocate((words * size_of::<u32>()).max(1))?,
            result_units: self.device.allocate((units * size_of::<Unit>()).max(1))?,
            groups,
            count: evaluations.len(),
            fetched,
        })
    }

    /// How many blocks a group is launched in, and of how many warps, with as many arenas at most.
    fn shape(&self, group: &Group, arenas: Option<u32>) -> Shape {
        let about = self.device.information();
        let warps = self
            .warps(group.side_by_side * group.pool_bytes, about)
            .max(1);
        let warps = arenas.map_or(warps, |arenas| warps.min(arenas));
        let works = group.works.len() as u32;
        let blocks = works
            .div_ceil(warps)
            .min(self.config.blocks * about.multiprocessors.max(1));
        let blocks = arenas.map_or(blocks, |arenas| blocks.min(arenas / warps));
        Shape { blocks, warps }
    }

    /// How many evaluations a warp makes side by side with pools of this size: as many as keep half
    /// of the warps of a multiprocessor busy, and at least one if a block has room for it.
    fn side_by_side(&self, pool_bytes: u32) -> Option<u32> {
        let about = self.device.information();
        (1..=self.config.side_by_side).rev().find(|count| {
            let warp = count * pool_bytes;
            let fits = self.warps(warp, about) > 0;
            fits && (*count == 1 || warp * (about.warps / 2) <= about.multiprocessor_shared_bytes)
        })
    }

    /// Warps of a block, each with so many bytes of shared memory.
    fn warps(&self, warp_bytes: u32, about: &Information) -> u32 {
        (about.shared_bytes / warp_bytes.max(1)).min(self.config.warps)
    }

    /// Runs the evaluations; on a GPU the call returns before they are made.
    pub fn launch(
        &self,
        programs: &Programs<D>,
        arguments: &Arguments<D>,
        prepared: &Prepared<D>,
    ) -> Result<(), DeviceError> {
        let wanted = prepared.groups.iter().filter_map(|group| group.arenas);
        self.make_arenas(wanted.max().unwrap_or(0))?;
        let arenas = self.arenas.borrow();
        let arenas = arenas
            .as_ref()
            .ok_or_else(|| refused("no arena".to_owned()))?;
        for group in &prepared.groups {
            let warp_bytes = group.side_by_side * group.pool_bytes;
            let own = group.arenas.map(|own| own.min(arenas.warps));
            let Shape { blocks, warps } = self.shape(group, own);
            let works = group.works.len() as u32;
            self.device.launch(&Launch {
                entry: Entry::Programs,
                blocks,
                threads: warps * LANES as u32,
                shared_bytes: warps * warp_bytes,
                arguments: ProgramsArguments {
                    programs: programs.records(),
                    code: programs.code(),
                    constant_words: programs.constant_words(),
                    constant_units: programs.constant_units(),
                    words: &arguments.words.buffer,
                    units: &arguments.units.buffer,
                    evaluations: &prepared.evaluations,
                    works: &prepared.works,
                    first_work: group.works.start,
                    work_count: works,
                    result_words: &prepared.result_words,
                    result_units: &prepared.result_units,
                    verdicts: &prepared.verdicts,
                    pool_bytes: group.pool_bytes,
                    side_by_side: group.side_by_side,
                    arenas: &arenas.buffer,
                    arena_words: ARENA_WORDS,
                }
                .list(),
            })?;
        }
        Ok(())
    }

    /// Waits for the launch, and gives the verdicts in the order of the evaluations.
    pub fn verdicts(&self, prepared: &Prepared<D>) -> Result<Vec<Verdict>, DeviceError> {
        let mut written = vec![VerdictRecord::zeroed(); prepared.count];
        self.download(&prepared.verdicts, &mut written)?;
        Ok(written.into_iter().map(Verdict::from).collect())
    }

    /// Waits for the launch, and gives the results that were asked for.
    pub fn results(&self, prepared: &Prepared<D>) -> Result<Results, DeviceError> {
        let (words, units) = prepared.fetched.len();
        let (mut words, mut units) = (vec![0; words], vec![Unit::default(); units]);
        self.download(&prepared.result_words, &mut words)?;
        self.download(&prepared.result_units, &mut units)?;
        Ok(Results {
            pool: Pool::from_parts(words, units),
            fetched: prepared.fetched.clone(),
        })
    }

    fn download<T: Pod>(&self, buffer: &D::Buffer, to: &mut [T]) -> Result<(), DeviceError> {
        let to: &mut [u8] = bytemuck::cast_slice_mut(to);
        if to.is_empty() {
            Ok(())
        } else {
            self.device.download(buffer, 0, to)
        }
    }

    /// Uploads, runs and fetches: verdicts and results in the order of the evaluations.
    pub fn run(
        &self,
        programs: &Programs<D>,
        pool: &Pool,
        evaluations: &[Evaluation],
    ) -> Result<(Vec<Verdict>, Results), DeviceError> {
        let arguments = self.upload(pool)?;
        let prepared = self.prepare(programs, &arguments, evaluations)?;
        self.launch(programs, &arguments, &prepared)?;
        Ok((self.verdicts(&prepared)?, self.results(&prepared)?))
    }

    /// The device's time of a launch.
    pub fn timed(
        &self,
        programs: &Programs<D>,
        arguments: &Arguments<D>,
        prepared: &Prepared<D>,
    ) -> Result<Duration, DeviceError> {
        let from = self.device.record()?;
        self.launch(programs, arguments, prepared)?;
        let to = self.device.record()?;
        self.device.elapsed(&from, &to)
    }
}

/// Pools of 1, 2, 4, 8 ... KB are launched apart: shared memory decides how many warps a
/// multiprocessor has, and the largest pool of a launch decides for all.
fn size_class(pool_bytes: u32) -> u32 {
    pool_bytes.div_ceil(1024).next_power_of_two()
}
