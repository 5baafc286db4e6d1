//! [`Resident`]: programs and values that stay on a lane of a device, each under a number.

use std::sync::Arc;

use gpu_kernels::device::{Device, DeviceError};
use gpu_kernels::{Arguments, DeviceProgram, Engine, Evaluation, Place, Pool, Programs};
use rustc_hash::FxHashMap;

use super::{Evaluations, NOWHERE, placed};
use crate::work::Failure;

/// The most programs, and pools of values, that stay, and the most bytes of either.
pub(super) const MOST: usize = 1 << 16;
const MOST_BYTES: u64 = 64 << 20;

/// What stays on a lane.
pub(super) struct Resident<D: Device> {
    programs: Kept<Programs<D>, u32>,
    values: Kept<Arguments<D>, Place>,
}

/// Tables on the device, and where in them the things of each number begin.
struct Kept<T, P> {
    tables: Option<T>,
    places: FxHashMap<u64, P>,
}

impl<D: Device> Default for Resident<D> {
    fn default() -> Self {
        Self {
            programs: Kept::new(),
            values: Kept::new(),
        }
    }
}

impl<T, P: Copy> Kept<T, P> {
    fn new() -> Self {
        Self {
            tables: None,
            places: FxHashMap::default(),
        }
    }

    /// Those of a batch that are not there. Where there is no room for them, beside tables of so many bytes, all that is
    /// there is forgotten, after what is under way: what is needed again is loaded again.
    fn missing<'b, V, D: Device>(
        &mut self,
        engine: &Engine<D>,
        of_batch: &'b [(u64, V)],
        bytes: impl Fn(&T) -> u64,
    ) -> Result<Vec<&'b (u64, V)>, DeviceError> {
        let missing = of_batch
            .iter()
            .filter(|(number, _)| !self.places.contains_key(number));
        let missing: Vec<_> = missing.collect();
        let bytes = self.tables.as_ref().map_or(0, bytes);
        let is_full = self.places.len() + missing.len() > MOST || bytes > MOST_BYTES;
        if missing.is_empty() || !is_full {
            return Ok(missing);
        }
        engine.device().synchronize()?;
        *self = Self::new();
        Ok(of_batch.iter().collect())
    }

    /// Where those of a batch begin.
    fn places_of<V>(&self, of_batch: &[(u64, V)]) -> Vec<Option<P>> {
        let all = of_batch.iter();
        all.map(|(number, _)| self.places.get(number).copied())
            .collect()
    }
}

impl<D: Device> Resident<D> {
    /// How many programs and pools stay.
    #[cfg(test)]
    pub(super) fn counts(&self) -> (usize, usize) {
        (self.programs.places.len(), self.values.places.len())
    }

    /// Loads the programs and values of a batch that are not there, and gives its evaluations, each with the
    /// place of its program, and of its values, on the device.
    pub(super) fn load<N>(
        &mut self,
        engine: &Engine<D>,
        batch: &Evaluations<N>,
    ) -> Result<Vec<Evaluation>, DeviceError> {
        self.load_programs(engine, &batch.programs)?;
        self.load_values(engine, &batch.pools)?;
        let programs = self.programs.places_of(&batch.programs);
        let pools = self.values.places_of(&batch.pools);
        let evaluations = batch.evaluations.iter().zip(&batch.pools_of);
        let evaluations = evaluations.map(|(evaluation, pool)| {
            let program = programs.get(evaluation.program as usize);
            let pool = pools.get(*pool as usize).copied().flatten();
            Evaluation {
                program: program.copied().flatten().unwrap_or(u32::MAX),
                ..placed(evaluation, pool)
            }
        });
        Ok(evaluations.collect())
    }

    fn load_programs(
        &mut self,
        engine: &Engine<D>,
        programs: &[(u64, Arc<DeviceProgram>)],
    ) -> Result<(), DeviceError> {
        let missing = self.programs.missing(engine, programs, Programs::bytes)?;
        let Kept { tables, places } = &mut self.programs;
        if missing.is_empty() && tables.is_some() {
            return Ok(());
        }
        let new: Vec<_> = missing
            .iter()
            .map(|(_, program)| DeviceProgram::clone(program))
            .collect();
        let loaded = if let Some(programs) = tables {
            engine.extend(programs, &new)?
        } else {
            *tables = Some(engine.load(&new)?);
            0..new.len() as u32
        };
        places.extend(missing.iter().map(|(number, _)| *number).zip(loaded));
        Ok(())
    }

    fn load_values(
        &mut self,
        engine: &Engine<D>,
        pools: &[(u64, Arc<Pool>)],
    ) -> Result<(), DeviceError> {
        let missing = self.values.missing(engine, pools, Arguments::bytes)?;
        let Kept { tables, places } = &mut self.values;
        if missing.is_empty() && tables.is_some() {
            return Ok(());
        }
        let mut all = Pool::default();
        let begins: Vec<_> = missing
            .iter()
            .map(|(number, pool)| (*number, all.append(pool)))
            .collect();
        let first = if let Some(values) = tables {
            engine.append(values, &all)?
        } else {
            *tables = Some(engine.upload(&all)?);
            Place::default()
        };
        // `append` has counted them all.
        let begins = begins
            .into_iter()
            .map(|(number, place)| (number, place.behind(first).unwrap_or(NOWHERE)));
        places.extend(begins);
        Ok(())
    }

    /// The tables of both, once something was loaded.
    pub(super) fn loaded(&self) -> Result<(&Programs<D>, &Arguments<D>), Failure> {
        let both = self
            .programs
            .tables
            .as_ref()
            .zip(self.values.tables.as_ref());
        both.ok_or_else(|| Failure::Failed("nothing is loaded".to_owned()))
    }

    /// Forgets all that stays, the engine's arenas with it, after what is under way; whether there was something.
    pub(super) fn evict(&mut self, engine: &Engine<D>) -> Result<bool, DeviceError> {
        if self.programs.tables.is_none() && self.values.tables.is_none() {
            return Ok(false);
        }
        engine.device().synchronize()?;
        *self = Self::default();
        engine.drop_arenas();
        Ok(true)
    }
}
