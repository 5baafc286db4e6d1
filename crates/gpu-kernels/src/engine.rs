//! [`Engine`]: uploads programs and arguments to a device and launches many evaluations at once.

use std::cell::RefCell;
use std::ops::Range;
use std::time::Duration;

use bytemuck::{Pod, Zeroable};

use crate::device::{Device, DeviceError, Entry, Information, Launch};
use crate::interface::constants::{ARENA_WORDS, MAX_SIDE_BY_SIDE, MAX_WARPS, NOWHERE};
use crate::interface::records::{EvaluationRecord, VerdictRecord, WorkRecord};
use crate::interface::{ProgramsArguments, Representation, Structure};
use crate::pool::{LANES, Pool, PoolPlace};
use crate::program::Unit;
use crate::verdict::Verdict;

mod arenas;
mod device_vec;
mod programs;

pub use programs::Programs;

use arenas::Arenas;
use device_vec::{DeviceVec, MAX_ELEMENTS};
use programs::ProgramDescription;

/// The shape of launches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaunchConfig {
    /// Warps per block, 1 to 4.
    pub warps: u32,
    /// Evaluations of one program that a warp runs side by side, 1 to 4.
    pub side_by_side: u32,
    /// The most blocks per multiprocessor in a launch. Warps take further work items until none is left.
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

/// One evaluation: a program run on arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Evaluation {
    /// The index of the program among those that were [loaded](Engine::load) or [added later](Engine::extend).
    pub program: u32,
    /// Where its arguments start, one after the other, in the [uploaded](Engine::upload) pool.
    pub arguments: PoolPlace,
    /// Where the expected grid lies in that pool.
    pub expected: Option<PoolPlace>,
    /// Whether to fetch the result too, not only the verdict.
    pub fetch: bool,
    /// Whether the verdict includes the [hash](crate::hash) of the result, if that is a grid.
    pub hash: bool,
}

/// Runs programs on one device.
#[derive(Debug)]
pub struct Engine<D: Device> {
    /// Declared before `device`, so that they are dropped first.
    arenas: RefCell<Option<Arenas<D::Buffer>>>,
    device: D,
    config: LaunchConfig,
}

/// Arguments and expected grids in device memory; more can be [appended](Engine::append).
#[derive(Debug)]
pub struct Arguments<D: Device> {
    words: DeviceVec<D::Buffer>,
    units: DeviceVec<D::Buffer>,
}

impl<D: Device> Arguments<D> {
    /// Bytes of device memory allocated for them, spare capacity included.
    pub fn bytes(&self) -> u64 {
        (self.words.capacity + self.units.capacity) as u64
    }

    /// Where the next value will be appended.
    fn end(&self) -> PoolPlace {
        PoolPlace {
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
    groups: Vec<LaunchGroup>,
    count: usize,
    layout: ResultLayout,
}

/// Consecutive evaluations of one program.
#[derive(Debug)]
struct Segment {
    program: u32,
    description: ProgramDescription,
    evaluations: Range<u32>,
}

impl Segment {
    /// Segments of one class are launched together: their programs either all have an arena or all have none, and
    /// their pools are in the same size class.
    fn class(&self) -> (bool, u32) {
        (
            self.description.has_arena,
            size_class(self.description.pool_bytes),
        )
    }
}

/// The layout of the results that are to be fetched.
#[derive(Debug, Clone, Default)]
struct ResultLayout {
    /// One entry per evaluation; empty if no result is fetched.
    slots: Vec<Option<ResultSlot>>,
    /// The end of the last result.
    end: PoolPlace,
}

impl ResultLayout {
    fn of(segments: &[Segment], evaluations: &[Evaluation]) -> Self {
        if !evaluations.iter().any(|evaluation| evaluation.fetch) {
            return Self::default();
        }
        let mut end = PoolPlace::default();
        let numbered = segments.iter().flat_map(|segment| {
            let numbers = segment.evaluations.clone();
            numbers.map(|number| (number, &segment.description))
        });
        let slots = numbered.map(|(number, description)| {
            evaluations[number as usize].fetch.then(|| {
                let place = end;
                end.word += 1;
                end.unit += description.gives.units();
                ResultSlot {
                    place,
                    representation: description.gives,
                    structure: description.structure,
                }
            })
        });
        Self {
            slots: slots.collect(),
            end,
        }
    }

    /// Words and units of all results.
    fn len(&self) -> (usize, usize) {
        (self.end.word as usize, self.end.unit as usize)
    }

    /// Where the result of an evaluation lies, if it is fetched.
    fn get(&self, evaluation: usize) -> Option<ResultSlot> {
        *self.slots.get(evaluation)?
    }
}

/// Work items launched together because their pools are of similar size.
#[derive(Debug)]
struct LaunchGroup {
    /// The range of work items.
    works: Range<u32>,
    pool_bytes: u32,
    side_by_side: u32,
    /// The number of arenas, one per warp, that the launch wants; `None` if its programs have no arena.
    arenas: Option<u32>,
}

/// Blocks of a launch, and warps per block.
#[derive(Debug, Clone, Copy)]
struct LaunchShape {
    blocks: u32,
    warps: u32,
}

/// Results that were fetched.
#[derive(Debug, Default)]
pub struct Results {
    pool: Pool,
    layout: ResultLayout,
}

/// Where a result lies, and how it is represented.
#[derive(Debug, Clone, Copy)]
struct ResultSlot {
    place: PoolPlace,
    representation: Representation,
    structure: Option<Structure>,
}

impl Results {
    /// The result of an evaluation; `None` if it was not requested. Meaningless if the device bailed out of the
    /// evaluation.
    pub fn value(&self, evaluation: usize) -> Option<arc_dsl::Value> {
        let slot = self.layout.get(evaluation)?;
        let value = self.pool.value(slot.representation, slot.place)?;
        Some(match slot.structure {
            Some(structure) if slot.representation == Representation::Objects => {
                structure.elements(&value)
            }
            _ => value,
        })
    }

    /// Whether the result of an evaluation satisfies the invariants that operations rely on
    /// ([`Pool::is_clean`]); true for a result that was not requested.
    pub fn is_clean(&self, evaluation: usize) -> bool {
        let slot = self.layout.get(evaluation);
        slot.is_none_or(|slot| self.pool.is_clean(slot.representation, slot.place))
    }

    /// The result of an evaluation whose program returns a grid.
    pub fn grid(&self, evaluation: usize) -> Option<arc_dsl::Grid> {
        let slot = self.layout.get(evaluation)?;
        let is_grid = slot.representation == Representation::Grid;
        is_grid.then(|| self.pool.grid(slot.place)).flatten()
    }
}

impl EvaluationRecord {
    fn new(evaluation: &Evaluation, result: Option<PoolPlace>, verdict: u32) -> Self {
        let nowhere = PoolPlace {
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

fn launch_error(reason: String) -> DeviceError {
    DeviceError::Launch {
        kernel: Entry::Programs.symbol(),
        reason,
    }
}

/// Splits the evaluations into segments of one program each, in their order. Rejects evaluations that name a program
/// or a place that does not exist.
fn segments<D: Device>(
    programs: &Programs<D>,
    arguments: &Arguments<D>,
    evaluations: &[Evaluation],
) -> Result<Vec<Segment>, DeviceError> {
    let end = arguments.end();
    let past = |place: PoolPlace, words: u32, units: u32| {
        place.word as usize + words as usize > end.word as usize
            || place.unit as usize + units as usize > end.unit as usize
    };
    let grid = Representation::Grid.units();
    let mut segments = Vec::new();
    let mut start = 0;
    for of_program in evaluations.chunk_by(|a, b| a.program == b.program) {
        let program = of_program[0].program;
        let Some(description) = programs.descriptions().get(program as usize).copied() else {
            let count = programs.len();
            return Err(launch_error(format!(
                "evaluation {start} is of program {program} of {count}"
            )));
        };
        let is_past = |evaluation: &Evaluation| {
            past(evaluation.arguments, description.words, description.units)
                || evaluation
                    .expected
                    .is_some_and(|place| past(place, 1, grid))
        };
        if let Some(at) = of_program.iter().position(is_past) {
            return Err(launch_error(format!(
                "evaluation {} takes what lies past the arguments' end",
                start as usize + at
            )));
        }
        let evaluations = start..start + of_program.len() as u32;
        start = evaluations.end;
        segments.push(Segment {
            program,
            description,
            evaluations,
        });
    }
    Ok(segments)
}

impl<D: Device> Engine<D> {
    /// An engine on this device.
    pub fn new(device: D) -> Self {
        Self::with(device, LaunchConfig::default())
    }

    /// An engine on this device with this launch configuration, whose numbers are clamped to their ranges.
    pub fn with(device: D, config: LaunchConfig) -> Self {
        Self {
            arenas: RefCell::new(None),
            device,
            config: config.within(),
        }
    }

    /// Sets the configuration of everything prepared and launched from now on; its numbers are clamped to their
    /// ranges.
    pub fn configure(&mut self, config: LaunchConfig) {
        self.config = config.within();
    }

    /// The device.
    pub fn device(&self) -> &D {
        &self.device
    }

    /// Uploads arguments and expected grids to the device.
    pub fn upload(&self, pool: &Pool) -> Result<Arguments<D>, DeviceError> {
        Ok(Arguments {
            words: self.device_vec(pool.words())?,
            units: self.device_vec(pool.units())?,
        })
    }

    /// Appends arguments and expected grids, and returns where the new ones start. Those already there keep their
    /// places. An error adds nothing.
    pub fn append(
        &self,
        arguments: &mut Arguments<D>,
        pool: &Pool,
    ) -> Result<PoolPlace, DeviceError> {
        let first = arguments.end();
        let ends = [
            first.word as usize + pool.words().len(),
            first.unit as usize + pool.units().len(),
        ];
        if ends.iter().any(|end| *end > MAX_ELEMENTS) {
            return Err(launch_error(format!(
                "arguments have more than {MAX_ELEMENTS} words or units"
            )));
        }
        // Commit only once both uploads have succeeded.
        let words = self.prepare_append(&mut arguments.words, pool.words())?;
        let units = self.prepare_append(&mut arguments.units, pool.units())?;
        arguments.words.commit(words);
        arguments.units.commit(units);
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

    /// Uploads evaluations, ready to be launched. Rejects evaluations that name a program or a place that does not
    /// exist.
    pub fn prepare(
        &self,
        programs: &Programs<D>,
        arguments: &Arguments<D>,
        evaluations: &[Evaluation],
    ) -> Result<Prepared<D>, DeviceError> {
        let mut segments = segments(programs, arguments, evaluations)?;
        let layout = ResultLayout::of(&segments, evaluations);
        // Groups programs of one class, and within it the evaluations of one program, in a stable order. Callers
        // mostly pass the evaluations of a program together, so there are few segments to sort.
        segments.sort_by_key(|segment| (segment.class(), segment.program));
        let mut records = Vec::with_capacity(evaluations.len());
        for number in segments
            .iter()
            .flat_map(|segment| segment.evaluations.clone())
        {
            let result = layout.get(number as usize).map(|slot| slot.place);
            records.push(EvaluationRecord::new(
                &evaluations[number as usize],
                result,
                number,
            ));
        }

        let mut works: Vec<WorkRecord> = Vec::new();
        let mut groups = Vec::new();
        let mut at = 0;
        for same_class in segments.chunk_by(|a, b| a.class() == b.class()) {
            let first_work = works.len() as u32;
            let pools = same_class
                .iter()
                .map(|segment| segment.description.pool_bytes);
            let pool_bytes = pools.max().unwrap_or_default();
            let has_arena = same_class[0].description.has_arena;
            let room = self.side_by_side(pool_bytes).ok_or_else(|| {
                launch_error(format!(
                    "an evaluation needs {pool_bytes} bytes of shared memory, a block has {}",
                    self.device.information().shared_bytes
                ))
            })?;
            // Evaluations that jump would diverge, so a warp runs one at a time.
            let side_by_side = if has_arena { 1 } else { room };
            for of_program in same_class.chunk_by(|a, b| a.program == b.program) {
                let count: u32 = of_program
                    .iter()
                    .map(|segment| segment.evaluations.len() as u32)
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
            let mut group = LaunchGroup {
                works: first_work..works.len() as u32,
                pool_bytes,
                side_by_side,
                arenas: None,
            };
            if has_arena {
                let LaunchShape { blocks, warps } = self.launch_shape(&group, None);
                // No more than the warps that can be resident at once.
                let resident =
                    self.device.information().warps * self.device.information().multiprocessors;
                group.arenas = Some((blocks * warps).min(resident.max(warps)));
            }
            groups.push(group);
        }
        let (words, units) = layout.len();
        let verdicts = evaluations.len() * size_of::<VerdictRecord>();
        Ok(Prepared {
            evaluations: self.uploaded(&records)?,
            works: self.uploaded(&works)?,
            verdicts: self.device.allocate(verdicts.max(1))?,
            result_words: self.device.allocate((words * size_of::<u32>()).max(1))?,
            result_units: self.device.allocate((units * size_of::<Unit>()).max(1))?,
            groups,
            count: evaluations.len(),
            layout,
        })
    }

    /// Blocks and warps per block for launching a group, with no more warps in all than arenas.
    fn launch_shape(&self, group: &LaunchGroup, arenas: Option<u32>) -> LaunchShape {
        let device = self.device.information();
        let warps = self
            .warps(group.side_by_side * group.pool_bytes, device)
            .max(1);
        let warps = arenas.map_or(warps, |arenas| warps.min(arenas));
        let works = group.works.len() as u32;
        let blocks = works
            .div_ceil(warps)
            .min(self.config.blocks * device.multiprocessors.max(1));
        let blocks = arenas.map_or(blocks, |arenas| blocks.min(arenas / warps));
        LaunchShape { blocks, warps }
    }

    /// How many evaluations with pools of this size a warp runs side by side: the most that still let half of a
    /// multiprocessor's warps be resident, and at least one if a block has room for it.
    fn side_by_side(&self, pool_bytes: u32) -> Option<u32> {
        let device = self.device.information();
        (1..=self.config.side_by_side).rev().find(|count| {
            let warp = count * pool_bytes;
            let fits = self.warps(warp, device) > 0;
            fits && (*count == 1 || warp * (device.warps / 2) <= device.multiprocessor_shared_bytes)
        })
    }

    /// Warps per block if each warp needs this many bytes of shared memory.
    fn warps(&self, warp_bytes: u32, device: &Information) -> u32 {
        (device.shared_bytes / warp_bytes.max(1)).min(self.config.warps)
    }

    /// Launches the evaluations; on a GPU the call returns before they have finished.
    pub fn launch(
        &self,
        programs: &Programs<D>,
        arguments: &Arguments<D>,
        prepared: &Prepared<D>,
    ) -> Result<(), DeviceError> {
        let wanted = prepared.groups.iter().filter_map(|group| group.arenas);
        self.ensure_arenas(wanted.max().unwrap_or(0))?;
        let arenas = self.arenas.borrow();
        let arenas = arenas
            .as_ref()
            .ok_or_else(|| launch_error("no arena".to_owned()))?;
        for group in &prepared.groups {
            let warp_bytes = group.side_by_side * group.pool_bytes;
            let available = group.arenas.map(|wanted| wanted.min(arenas.warps));
            let LaunchShape { blocks, warps } = self.launch_shape(group, available);
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

    /// Waits for the launch, and returns the verdicts in the order of the evaluations.
    pub fn verdicts(&self, prepared: &Prepared<D>) -> Result<Vec<Verdict>, DeviceError> {
        let mut written = vec![VerdictRecord::zeroed(); prepared.count];
        self.download(&prepared.verdicts, &mut written)?;
        Ok(written.into_iter().map(Verdict::from).collect())
    }

    /// Waits for the launch, and returns the requested results.
    pub fn results(&self, prepared: &Prepared<D>) -> Result<Results, DeviceError> {
        let (words, units) = prepared.layout.len();
        let (mut words, mut units) = (vec![0; words], vec![Unit::default(); units]);
        self.download(&prepared.result_words, &mut words)?;
        self.download(&prepared.result_units, &mut units)?;
        Ok(Results {
            pool: Pool::from_parts(words, units),
            layout: prepared.layout.clone(),
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

    /// Uploads, launches and fetches; returns verdicts and results in the order of the evaluations.
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

    /// Launches, and returns the time it took on the device.
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

/// Pools of up to 1, 2, 4, 8 ... KB go into separate launches: shared memory limits how many warps are resident on a
/// multiprocessor, and the largest pool of a launch sets the limit for all of its warps.
fn size_class(pool_bytes: u32) -> u32 {
    pool_bytes.div_ceil(1024).next_power_of_two()
}
