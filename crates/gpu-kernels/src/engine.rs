//! [`Engine`]: uploads programs and arguments to a device and launches many evaluations at once.

use std::cell::RefCell;
use std::ops::Range;
use std::time::Duration;

use bytemuck::{Pod, Zeroable as _};

use crate::device::{Device, DeviceError, Entry, Information, Launch};
use crate::interface::constants::{ARENA_WORDS, MAX_SIDE_BY_SIDE, MAX_WARPS, NOWHERE};
use crate::interface::records::{PairRecord, WorkRecord};
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

/// The shape of launches. Of 48 the default one was the fastest on an NVIDIA H200.
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

/// Where the arguments of an evaluation start, one after the other, in a pool, and where the grid lies that its result
/// is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PairPlace {
    /// The arguments.
    pub arguments: PoolPlace,
    /// The expected grid.
    pub expected: Option<PoolPlace>,
}

impl PairPlace {
    /// Where the pair is once its pool has been appended at `first` of another pool; places past all bounds, which
    /// nothing may be launched on, if that overflows.
    #[must_use]
    pub fn behind(self, first: PoolPlace) -> Self {
        let behind = |place: PoolPlace| place.behind(first).unwrap_or(NO_PLACE);
        Self {
            arguments: behind(self.arguments),
            expected: self.expected.map(behind),
        }
    }
}

/// One program on pairs that follow each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// The index of the program among those that were [loaded](Engine::load) or [added later](Engine::extend).
    pub program: u32,
    /// The indices of the pairs among those that were [uploaded](Engine::upload) or [appended](Engine::append).
    pub pairs: Range<u32>,
    /// The index of the first verdict; the others follow it.
    pub verdict: u32,
    /// Whether to fetch the results too, not only the verdicts.
    pub fetch: bool,
}

/// One evaluation: a program run on a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Evaluation {
    /// As of a [`Span`].
    pub program: u32,
    /// As of a [`PairPlace`].
    pub arguments: PoolPlace,
    /// As of a [`PairPlace`].
    pub expected: Option<PoolPlace>,
    /// As of a [`Span`].
    pub fetch: bool,
}

impl Evaluation {
    /// The pairs of evaluations, and the spans of those that follow each other and are of one program.
    pub fn spans(evaluations: &[Self]) -> (Vec<PairPlace>, Vec<Span>) {
        let pairs = evaluations.iter().map(|evaluation| PairPlace {
            arguments: evaluation.arguments,
            expected: evaluation.expected,
        });
        let mut first = 0;
        let spans = evaluations
            .chunk_by(|a, b| (a.program, a.fetch) == (b.program, b.fetch))
            .map(|alike| {
                let verdict = first;
                first += alike.len() as u32;
                Span {
                    program: alike[0].program,
                    pairs: verdict..first,
                    verdict,
                    fetch: alike[0].fetch,
                }
            });
        let spans = spans.collect();
        (pairs.collect(), spans)
    }
}

/// Runs programs on one device.
#[derive(Debug)]
pub struct Engine<D: Device> {
    /// Declared before `device`, so that they are dropped first.
    arenas: RefCell<Option<Arenas<D::Buffer>>>,
    device: D,
    config: LaunchConfig,
}

/// Pairs in device memory; more can be [appended](Engine::append).
#[derive(Debug)]
pub struct Arguments<D: Device> {
    words: DeviceVec<D::Buffer>,
    units: DeviceVec<D::Buffer>,
    records: DeviceVec<D::Buffer>,
    places: Vec<PairPlace>,
}

impl<D: Device> Arguments<D> {
    /// Bytes of device memory allocated for them, spare capacity included.
    pub fn bytes(&self) -> u64 {
        let vectors = [&self.words, &self.units, &self.records];
        vectors.iter().map(|vector| vector.capacity as u64).sum()
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
    works: D::Buffer,
    verdicts: D::Buffer,
    result_words: D::Buffer,
    result_units: D::Buffer,
    groups: Vec<LaunchGroup>,
    count: usize,
    layout: ResultLayout,
}

/// A span with what is known of its program.
struct Described<'s> {
    span: &'s Span,
    description: ProgramDescription,
}

impl Described<'_> {
    /// Spans of one class are launched together: their programs either all have an arena or all have none, and their
    /// pools are in the same size class.
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
    /// One entry per verdict; empty if no result is fetched.
    slots: Vec<Option<ResultSlot>>,
    /// The end of the last result.
    end: PoolPlace,
}

impl ResultLayout {
    fn of(spans: &[Described<'_>], count: usize) -> Self {
        let mut layout = Self::default();
        for Described { span, description } in spans.iter().filter(|it| it.span.fetch) {
            layout.slots.resize(count, None);
            for slot in &mut layout.slots[span.verdict as usize..][..span.pairs.len()] {
                *slot = Some(ResultSlot {
                    place: layout.end,
                    representation: description.gives,
                    structure: description.structure,
                });
                layout.end.word += 1;
                layout.end.unit += description.gives.units();
            }
        }
        layout
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

impl From<&PairPlace> for PairRecord {
    fn from(pair: &PairPlace) -> Self {
        let expected = pair.expected.unwrap_or(NO_PLACE);
        PairRecord {
            words: pair.arguments.word,
            units: pair.arguments.unit,
            expected_word: expected.word,
            expected_unit: expected.unit,
        }
    }
}

const NO_PLACE: PoolPlace = PoolPlace {
    word: NOWHERE,
    unit: NOWHERE,
};

fn launch_error(reason: String) -> DeviceError {
    DeviceError::Launch {
        kernel: Entry::Programs.symbol(),
        reason,
    }
}

/// A span with its program's description. Rejects one that names a program or a place that does not exist.
fn described<'s, D: Device>(
    programs: &Programs<D>,
    arguments: &Arguments<D>,
    span: &'s Span,
) -> Result<Described<'s>, DeviceError> {
    let Some(description) = programs.descriptions().get(span.program as usize).copied() else {
        let count = programs.len();
        let program = span.program;
        return Err(launch_error(format!(
            "a span is of program {program} of {count}"
        )));
    };
    let end = arguments.end();
    let fits = |place: PoolPlace, words: u32, units: u32| {
        place.word as usize + words as usize <= end.word as usize
            && place.unit as usize + units as usize <= end.unit as usize
    };
    let there = |pair: &PairPlace| {
        let grid = Representation::Grid.units();
        fits(pair.arguments, description.words, description.units)
            && pair.expected.is_none_or(|place| fits(place, 1, grid))
    };
    let pairs = span.pairs.start as usize..span.pairs.end as usize;
    match arguments.places.get(pairs) {
        Some(places) if places.iter().all(there) => Ok(Described { span, description }),
        _ => Err(launch_error(format!(
            "a span takes what lies past the arguments' end: pairs {:?} of {}",
            span.pairs,
            arguments.places.len()
        ))),
    }
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

    /// The device.
    pub fn device(&self) -> &D {
        &self.device
    }

    /// Uploads a pool to the device, and where pairs lie in it.
    pub fn upload(&self, pool: &Pool, pairs: &[PairPlace]) -> Result<Arguments<D>, DeviceError> {
        let records: Vec<_> = pairs.iter().map(PairRecord::from).collect();
        Ok(Arguments {
            words: self.device_vec(pool.words())?,
            units: self.device_vec(pool.units())?,
            records: self.device_vec(&records)?,
            places: pairs.to_vec(),
        })
    }

    /// Appends a pool with its pairs, and returns the index of the first pair. Those already there keep theirs. An
    /// error adds nothing.
    pub fn append(
        &self,
        arguments: &mut Arguments<D>,
        pool: &Pool,
        pairs: &[PairPlace],
    ) -> Result<u32, DeviceError> {
        let (first, first_pair) = (arguments.end(), arguments.places.len());
        let ends = [
            first.word as usize + pool.words().len(),
            first.unit as usize + pool.units().len(),
            first_pair + pairs.len(),
        ];
        if ends.iter().any(|end| *end > MAX_ELEMENTS) {
            return Err(launch_error(format!(
                "arguments have more than {MAX_ELEMENTS} words, units or pairs"
            )));
        }
        let places: Vec<_> = pairs.iter().map(|pair| pair.behind(first)).collect();
        let records: Vec<_> = places.iter().map(PairRecord::from).collect();
        // Commit only once all uploads have succeeded.
        let words = self.prepare_append(&mut arguments.words, pool.words())?;
        let units = self.prepare_append(&mut arguments.units, pool.units())?;
        let records = self.prepare_append(&mut arguments.records, &records)?;
        arguments.words.commit(words);
        arguments.units.commit(units);
        arguments.records.commit(records);
        arguments.places.extend(places);
        Ok(first_pair as u32)
    }

    fn uploaded<T: Pod>(&self, values: &[T]) -> Result<D::Buffer, DeviceError> {
        let bytes: &[u8] = bytemuck::cast_slice(values);
        let mut buffer = self.device.allocate(bytes.len().max(1))?;
        if !bytes.is_empty() {
            self.device.upload(bytes, &mut buffer, 0)?;
        }
        Ok(buffer)
    }

    /// Uploads spans, ready to be launched. Rejects those that name a program or a place that does not exist.
    pub fn prepare(
        &self,
        programs: &Programs<D>,
        arguments: &Arguments<D>,
        spans: &[Span],
    ) -> Result<Prepared<D>, DeviceError> {
        let ends = spans
            .iter()
            .map(|span| span.verdict as usize + span.pairs.len());
        let count = ends.max().unwrap_or(0);
        let spans = spans
            .iter()
            .map(|span| described(programs, arguments, span));
        let mut spans = spans.collect::<Result<Vec<_>, _>>()?;
        let layout = ResultLayout::of(&spans, count);
        // Groups programs of one class, and within it the spans of one program, in a stable order. Callers mostly pass
        // the spans of a program together, so there is little to sort.
        spans.sort_by_key(|it| (it.class(), it.span.program));
        let mut works: Vec<WorkRecord> = Vec::with_capacity(spans.len());
        let mut groups = Vec::new();
        for same_class in spans.chunk_by(|a, b| a.class() == b.class()) {
            let first_work = works.len() as u32;
            let pools = same_class.iter().map(|it| it.description.pool_bytes);
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
            for Described { span, .. } in same_class {
                let pairs = span.pairs.len() as u32;
                // Works of much the same size.
                let each = pairs.div_ceil(pairs.div_ceil(side_by_side).max(1)).max(1);
                for at in (0..pairs).step_by(each as usize) {
                    let verdict = span.verdict + at;
                    let result = layout.get(verdict as usize);
                    let result = result.map_or(NO_PLACE, |slot| slot.place);
                    works.push(WorkRecord {
                        program: span.program,
                        first: span.pairs.start + at,
                        count: each.min(pairs - at),
                        verdict,
                        result_word: result.word,
                        result_unit: result.unit,
                        spare: [0; 2],
                    });
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
        Ok(Prepared {
            works: self.uploaded(&works)?,
            verdicts: self.device.allocate(count.max(1))?,
            result_words: self.device.allocate((words * size_of::<u32>()).max(1))?,
            result_units: self.device.allocate((units * size_of::<Unit>()).max(1))?,
            groups,
            count,
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
                    pairs: &arguments.records.buffer,
                    works: &prepared.works,
                    first_work: group.works.start,
                    work_count: works,
                    result_words: &prepared.result_words,
                    result_units: &prepared.result_units,
                    verdicts: &prepared.verdicts,
                    taken: &arenas.taken,
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

    /// Waits for the launch, and returns the verdicts. One that no span has is meaningless.
    pub fn verdicts(&self, prepared: &Prepared<D>) -> Result<Vec<Verdict>, DeviceError> {
        let mut written = vec![Verdict::zeroed(); prepared.count];
        self.download(&prepared.verdicts, &mut written)?;
        Ok(written)
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
        let (pairs, spans) = Evaluation::spans(evaluations);
        let arguments = self.upload(pool, &pairs)?;
        let prepared = self.prepare(programs, &arguments, &spans)?;
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
