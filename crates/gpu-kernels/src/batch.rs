//! Batches of grids and other values through single operations and pipelines, in one launch.
//!
//! ```no_run
//! use arc_dsl::{Grid, Primitive, Value};
//! use gpu_kernels::batch::{Given, GridBatch, Pipeline};
//! use gpu_kernels::Engine;
//! # fn of<D: gpu_kernels::device::Device>(engine: &Engine<D>, grids: &[Grid]) -> Result<(), Box<dyn std::error::Error>> {
//! let batch = GridBatch::new(grids);
//! let turned = engine.batch_rot90(&batch)?;
//! let pipeline = Pipeline::new()
//!     .then(Primitive::Rot90, &[Given::Previous])?
//!     .then(Primitive::Replace, &[Given::Previous, Value::Int(1).into(), Value::Int(2).into()])?;
//! for result in engine.run_pipeline(pipeline, &batch)?.grids() {
//!     match result {
//!         Ok(grid) => println!("{grid:?}"),
//!         Err(bail_out) => println!("for the host: {bail_out}"),
//!     }
//! }
//! # Ok(())
//! # }
//! ```

use arc_dsl::{Grid, Primitive, Value};

use crate::device::{Device, DeviceError};
use crate::encode::{Encoder, HostOnly, SymbolicValue};
use crate::engine::{Engine, Evaluation};
use crate::interface::constants::FIRST_COLOUR;
use crate::interface::{BailOut, COLOURS, Representation};
use crate::pool::{Place, Pool};
use crate::program::DeviceProgram;
use crate::verdict::Verdict;

/// Grids as the device holds them, in their order. One that it cannot hold keeps its place, and
/// has a reason there.
#[derive(Debug, Clone, Default)]
pub struct GridBatch {
    pool: Pool,
    places: Vec<Result<Place, BailOut>>,
}

impl GridBatch {
    /// The batch of these grids.
    pub fn new<'a>(grids: impl IntoIterator<Item = &'a Grid>) -> Self {
        let mut batch = Self::default();
        for grid in grids {
            batch.push(grid);
        }
        batch
    }

    /// Adds a grid; [`BailOut`] where the device cannot hold it.
    pub fn push(&mut self, grid: &Grid) {
        self.places.push(self.pool.push_grid(grid));
    }

    /// Number of grids.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// A grid, or why it is none of the device's; nothing past the batch's end.
    pub fn grid(&self, number: usize) -> Option<Result<Grid, BailOut>> {
        Some(match self.places.get(number)? {
            // Places of a batch lie in its own pool.
            Ok(place) => Ok(self.pool.grid(*place).unwrap_or_default()),
            Err(bail_out) => Err(*bail_out),
        })
    }

    /// All grids in their order.
    pub fn grids(&self) -> impl Iterator<Item = Result<Grid, BailOut>> + '_ {
        (0..self.len()).filter_map(|number| self.grid(number))
    }
}

/// An argument of a batched operation: one value for all items, or one each.
#[derive(Debug, Clone, Copy)]
pub enum Column<'a> {
    /// The same for all items; it becomes part of the program.
    Same(&'a Value),
    /// A grid an item.
    Grids(&'a GridBatch),
    /// A value an item, all so represented.
    Each(Representation, &'a [Value]),
}

impl Column<'_> {
    fn len(&self) -> Option<usize> {
        match self {
            Column::Same(_) => None,
            Column::Grids(batch) => Some(batch.len()),
            Column::Each(_, values) => Some(values.len()),
        }
    }
}

/// Why a batch was not run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BatchError {
    /// The columns have different numbers of items.
    #[error("columns of {0} and {1} items")]
    Lengths(usize, usize),
    /// The device has no such operation.
    #[error(transparent)]
    HostOnly(#[from] HostOnly),
    /// The device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

/// An argument of a step of a [`Pipeline`].
#[derive(Debug, Clone, PartialEq)]
pub enum Given {
    /// What the step before gives; of the first step, the pipeline's first input.
    Previous,
    /// An input of the pipeline, counted from 0.
    Input(usize),
    /// A value; for a function, that of a [`Key`](crate::interface::Key).
    Value(Value),
}

impl<V: Into<Value>> From<V> for Given {
    fn from(value: V) -> Self {
        Given::Value(value.into())
    }
}

/// Operations chained: run as one program, so that nothing in between leaves the chip.
#[derive(Debug)]
pub struct Pipeline {
    encoder: Encoder,
    inputs: Vec<SymbolicValue>,
    last: SymbolicValue,
}

impl Default for Pipeline {
    fn default() -> Self {
        Self::new()
    }
}

impl Pipeline {
    /// A pipeline that takes a grid.
    pub fn new() -> Self {
        Self::of(Representation::Grid, &[])
    }

    /// A pipeline that takes values so represented, at least one.
    pub fn of(first: Representation, more: &[Representation]) -> Self {
        let mut encoder = Encoder::default();
        let last = encoder.input(first, None);
        let mut inputs = vec![last.clone()];
        inputs.extend(
            more.iter()
                .map(|representation| encoder.input(*representation, None)),
        );
        Self {
            encoder,
            inputs,
            last,
        }
    }

    /// Adds a call of a primitive. [`HostOnly`] where the device has no such operation.
    pub fn then(mut self, primitive: Primitive, arguments: &[Given]) -> Result<Self, HostOnly> {
        let mut key = None;
        let mut held = Vec::with_capacity(arguments.len());
        for argument in arguments {
            held.push(match argument {
                Given::Previous => self.last.clone(),
                Given::Input(number) => {
                    let input = self.inputs.get(*number).cloned();
                    input.ok_or(HostOnly::Step("an input that the pipeline does not have"))?
                }
                Given::Value(Value::Primitive(function)) => {
                    key = Some(*function);
                    continue;
                }
                Given::Value(value) => SymbolicValue::Constant(value.clone()),
            });
        }
        self.last = self.encoder.apply(primitive, key, &held)?;
        Ok(self)
    }

    /// The program. [`HostOnly`] where it needs more memory than an evaluation has.
    pub fn program(self) -> Result<DeviceProgram, HostOnly> {
        self.encoder.finish(&self.last)
    }
}

/// The program of [`Engine::batch`].
fn single(
    primitive: Primitive,
    key: Option<Primitive>,
    columns: &[Column<'_>],
) -> Result<DeviceProgram, HostOnly> {
    let mut encoder = Encoder::default();
    let held: Vec<SymbolicValue> = columns
        .iter()
        .map(|column| match column {
            Column::Same(value) => SymbolicValue::Constant((*value).clone()),
            Column::Grids(_) => encoder.input(Representation::Grid, None),
            Column::Each(representation, _) => encoder.input(*representation, None),
        })
        .collect();
    let result = encoder.apply(primitive, key, &held)?;
    encoder.finish(&result)
}

impl<D: Device> Engine<D> {
    /// One call of a primitive for each item of the columns, which are its arguments in order; in
    /// the place of a function stands `key`. Results in the items' order; a set of objects is the
    /// set that the primitive gives.
    pub fn batch(
        &self,
        primitive: Primitive,
        key: Option<Primitive>,
        columns: &[Column<'_>],
    ) -> Result<Vec<Result<Value, BailOut>>, BatchError> {
        self.run_batch(&single(primitive, key, columns)?, columns)
    }

    /// A program whose inputs are the columns that have a value an item.
    fn run_batch(
        &self,
        program: &DeviceProgram,
        columns: &[Column<'_>],
    ) -> Result<Vec<Result<Value, BailOut>>, BatchError> {
        let mut lengths = columns.iter().filter_map(Column::len);
        let count = lengths.next().unwrap_or(1);
        if let Some(other) = lengths.find(|other| *other != count) {
            return Err(BatchError::Lengths(count, other));
        }
        // The arguments of an item have to lie side by side, which those of one batch do.
        let mut pool = Pool::default();
        let mut places: Vec<Result<Place, BailOut>> = Vec::with_capacity(count);
        let lone = columns
            .iter()
            .filter(|column| column.len().is_some())
            .count()
            == 1;
        let pool = match columns.iter().find(|column| column.len().is_some()) {
            Some(Column::Grids(batch)) if lone => {
                places.clone_from(&batch.places);
                &batch.pool
            }
            _ => {
                for item in 0..count {
                    let begin = pool.end();
                    let pushed = columns.iter().try_for_each(|column| match column {
                        Column::Same(_) => Ok(()),
                        Column::Grids(batch) => match batch.places[item] {
                            Ok(place) => {
                                pool.copy_from(&batch.pool, Representation::Grid, place);
                                Ok(())
                            }
                            Err(bail_out) => Err(bail_out),
                        },
                        Column::Each(representation, values) => {
                            pool.push(*representation, &values[item]).map(|_| ())
                        }
                    });
                    places.push(pushed.map(|()| begin));
                }
                &pool
            }
        };
        let evaluations: Vec<Evaluation> = places
            .iter()
            .flatten()
            .map(|place| Evaluation {
                program: 0,
                arguments: *place,
                expected: None,
                fetch: true,
                hash: false,
            })
            .collect();
        let programs = self.load(std::slice::from_ref(program))?;
        let (verdicts, results) = self.run(&programs, pool, &evaluations)?;
        let mut done = verdicts.into_iter().enumerate();
        let result = |place: Result<Place, BailOut>| {
            let _ = place?;
            match done.next() {
                Some((number, Verdict::Done { .. })) => {
                    let value = results.value(number).unwrap_or(Value::Nothing);
                    Ok(value)
                }
                Some((_, Verdict::BailedOut { reason, .. })) => Err(reason),
                None => Err(BailOut::Operation),
            }
        };
        Ok(places.into_iter().map(result).collect())
    }

    /// A pipeline of one input, a grid, for each grid of a batch. Of a pipeline that gives no grid,
    /// every item is [`BailOut::Undefined`].
    pub fn run_pipeline(
        &self,
        pipeline: Pipeline,
        batch: &GridBatch,
    ) -> Result<GridBatch, BatchError> {
        let program = pipeline.program()?;
        self.run_batch(&program, &[Column::Grids(batch)])
            .map(collected)
    }

    /// `function` for every element of each container, as `apply` does: results in the elements'
    /// order. All elements are one batch.
    pub fn batch_apply(
        &self,
        function: Pipeline,
        representation: Representation,
        containers: &[Vec<Value>],
    ) -> Result<Vec<Vec<Result<Value, BailOut>>>, BatchError> {
        let program = function.program()?;
        let elements: Vec<Value> = containers.iter().flatten().cloned().collect();
        let mut results = self
            .run_batch(&program, &[Column::Each(representation, &elements)])?
            .into_iter();
        Ok(containers
            .iter()
            .map(|container| results.by_ref().take(container.len()).collect())
            .collect())
    }

    /// [`batch_apply`](Self::batch_apply), and the results of each container merged: the set of all
    /// their elements. An item for the host makes its container one.
    pub fn batch_mapply(
        &self,
        function: Pipeline,
        representation: Representation,
        containers: &[Vec<Value>],
    ) -> Result<Vec<Result<Value, BailOut>>, BatchError> {
        let merged = |results: Vec<Result<Value, BailOut>>| {
            let mut elements = Vec::new();
            for result in results {
                let value = result?;
                let container = value.as_container().ok_or(BailOut::Undefined)?;
                elements.extend(container.iter().map(std::borrow::Cow::into_owned));
            }
            Ok(Value::set(elements))
        };
        Ok(self
            .batch_apply(function, representation, containers)?
            .into_iter()
            .map(merged)
            .collect())
    }

    /// The connected objects of each grid, as `objects` gives them.
    pub fn batch_o_g(
        &self,
        grids: &GridBatch,
        univalued: bool,
        diagonal: bool,
        without_bg: bool,
    ) -> Result<Vec<Result<Value, BailOut>>, BatchError> {
        let [univalued, diagonal, without_bg] = [univalued, diagonal, without_bg].map(Value::from);
        let columns = [
            Column::Grids(grids),
            Column::Same(&univalued),
            Column::Same(&diagonal),
            Column::Same(&without_bg),
        ];
        self.batch(Primitive::Objects, None, &columns)
    }

    /// Each grid with a patch in one colour.
    pub fn batch_fill(
        &self,
        grids: &GridBatch,
        colour: i32,
        patches: &[Value],
    ) -> Result<GridBatch, BatchError> {
        let colour = Value::Int(colour);
        let columns = [
            Column::Grids(grids),
            Column::Same(&colour),
            Column::Each(Representation::Patch, patches),
        ];
        self.batch(Primitive::Fill, None, &columns).map(collected)
    }

    /// Of the objects of each grid those of a colour: `objects`, then `colorfilter`, in one launch.
    pub fn batch_colorfilter(
        &self,
        grids: &GridBatch,
        flags: [bool; 3],
        colour: i32,
    ) -> Result<Vec<Result<Value, BailOut>>, BatchError> {
        let [univalued, diagonal, without_bg] = flags.map(Given::from);
        let pipeline = Pipeline::new()
            .then(
                Primitive::Objects,
                &[Given::Previous, univalued, diagonal, without_bg],
            )?
            .then(Primitive::Colorfilter, &[Given::Previous, colour.into()])?;
        self.run_batch(&pipeline.program()?, &[Column::Grids(grids)])
    }

    /// How many cells of each grid have each colour, those of colour c at place c + 1: -1 comes first.
    pub fn batch_histogram(
        &self,
        grids: &GridBatch,
    ) -> Result<Vec<Result<[u32; COLOURS as usize], BailOut>>, BatchError> {
        let mut programs = Vec::with_capacity(COLOURS as usize);
        for colour in FIRST_COLOUR..FIRST_COLOUR + COLOURS as i32 {
            let pipeline = Pipeline::new();
            let pipeline = pipeline.then(Primitive::Colorcount, &[Given::Previous, colour.into()]);
            programs.push(pipeline?.program()?);
        }
        // A program a colour on each grid.
        let evaluations: Vec<Evaluation> = (0..COLOURS)
            .flat_map(|program| {
                grids
                    .places
                    .iter()
                    .flatten()
                    .map(move |arguments| Evaluation {
                        program,
                        arguments: *arguments,
                        expected: None,
                        fetch: true,
                        hash: false,
                    })
            })
            .collect();
        let programs = self.load(&programs)?;
        let (verdicts, results) = self.run(&programs, &grids.pool, &evaluations)?;
        let held = evaluations.len() / COLOURS as usize;
        let mut number = 0;
        let mut histogram = |place: &Result<Place, BailOut>| {
            (*place)?;
            let grid = number;
            number += 1;
            let mut counts = [0; COLOURS as usize];
            for (colour, count) in counts.iter_mut().enumerate() {
                let at = colour * held + grid;
                if let Some(Verdict::BailedOut { reason, .. }) = verdicts.get(at) {
                    return Err(*reason);
                }
                let found = results.value(at).and_then(|value| value.as_int());
                *count = found.unwrap_or_default() as u32;
            }
            Ok(counts)
        };
        Ok(grids.places.iter().map(&mut histogram).collect())
    }

    /// Each grid mirrored or turned by a code of its own: 0 as it is, 1 `hmirror`, 2 `vmirror`, 3
    /// `dmirror`, 4 `cmirror`, 5 `rot90`, 6 `rot180`, 7 `rot270`; [`BailOut::Undefined`] for others.
    pub fn batch_mir_rot(&self, grids: &GridBatch, codes: &[u8]) -> Result<GridBatch, BatchError> {
        const TURNS: [Primitive; 8] = [
            Primitive::Identity,
            Primitive::Hmirror,
            Primitive::Vmirror,
            Primitive::Dmirror,
            Primitive::Cmirror,
            Primitive::Rot90,
            Primitive::Rot180,
            Primitive::Rot270,
        ];
        if codes.len() != grids.len() {
            return Err(BatchError::Lengths(grids.len(), codes.len()));
        }
        let mut programs = Vec::with_capacity(TURNS.len());
        for turn in TURNS {
            programs.push(Pipeline::new().then(turn, &[Given::Previous])?.program()?);
        }
        // Eight programs on one batch: every item names its own.
        let mut evaluations = Vec::with_capacity(codes.len());
        let mut places = grids.places.clone();
        for (place, code) in places.iter_mut().zip(codes) {
            if usize::from(*code) >= TURNS.len() {
                *place = Err(BailOut::Undefined);
            }
            if let Ok(arguments) = *place {
                evaluations.push(Evaluation {
                    program: u32::from(*code),
                    arguments,
                    expected: None,
                    fetch: true,
                    hash: false,
                });
            }
        }
        let programs = self.load(&programs)?;
        let (_, results) = self.run(&programs, &grids.pool, &evaluations)?;
        let mut number = 0;
        let mut turned = GridBatch::default();
        for place in places {
            match place {
                Ok(_) => {
                    turned.push(&results.grid(number).unwrap_or_default());
                    number += 1;
                }
                Err(bail_out) => turned.places.push(Err(bail_out)),
            }
        }
        Ok(turned)
    }
}

/// Functions of one grid an item.
macro_rules! of_grids {
    ($($(#[$doc:meta])* $name:ident: $primitive:ident),* $(,)?) => {
        impl<D: Device> Engine<D> {
            $($(#[$doc])*
            pub fn $name(&self, grids: &GridBatch) -> Result<GridBatch, BatchError> {
                self.batch(Primitive::$primitive, None, &[Column::Grids(grids)]).map(collected)
            })*
        }
    };
}

of_grids! {
    /// Each grid a quarter turn clockwise.
    batch_rot90: Rot90,
    /// Each grid a half turn.
    batch_rot180: Rot180,
    /// Each grid a quarter turn anticlockwise.
    batch_rot270: Rot270,
    /// Each grid upside down.
    batch_hmirror: Hmirror,
    /// Each grid with left and right exchanged.
    batch_vmirror: Vmirror,
    /// Each grid mirrored along its diagonal.
    batch_dmirror: Dmirror,
    /// Each grid mirrored along its counterdiagonal.
    batch_cmirror: Cmirror,
    /// Each grid without its outermost rows and columns.
    batch_trim: Trim,
    /// Each grid without the rows and columns of one colour.
    batch_compress: Compress,
}

/// Results that are grids, as a batch; another value is for the host.
fn collected(results: Vec<Result<Value, BailOut>>) -> GridBatch {
    let mut batch = GridBatch::default();
    for result in results {
        match result {
            Ok(value) => match value.as_grid() {
                Some(grid) => batch.push(&grid),
                None => batch.places.push(Err(BailOut::Undefined)),
            },
            Err(bail_out) => batch.places.push(Err(bail_out)),
        }
    }
    batch
}

#[cfg(all(test, emulated))]
mod tests;
