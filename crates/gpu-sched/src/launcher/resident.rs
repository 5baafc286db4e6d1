//! [`Resident`]: programs and values that stay on a lane of a device, each identified by a number.

use std::sync::Arc;

use gpu_kernels::device::{Device, DeviceError};
use gpu_kernels::{Arguments, DeviceProgram, Engine, Evaluation, Pool, PoolPlace, Programs};
use rustc_hash::FxHashMap;

use super::{Evaluations, INVALID_PLACE, with_pool_at};
use crate::failure::Failure;

/// The most programs, and the most pools, that stay; and the most bytes of each.
pub(super) const MAX_ENTRIES: usize = 1 << 16;
const MAX_BYTES: u64 = 64 << 20;

/// The data that stays on a lane.
pub(super) struct Resident<D: Device> {
    programs: Table<Programs<D>, u32>,
    values: Table<Arguments<D>, PoolPlace>,
}

/// A table on the device, and the place of each number's entry in it.
struct Table<T, P> {
    tables: Option<T>,
    places: FxHashMap<u64, P>,
}

impl<D: Device> Default for Resident<D> {
    fn default() -> Self {
        Self {
            programs: Table::new(),
            values: Table::new(),
        }
    }
}

impl<T, P: Copy> Table<T, P> {
    fn new() -> Self {
        Self {
            tables: None,
            places: FxHashMap::default(),
        }
    }

    /// The entries of a batch that are not resident. If there is no room for them beside the `bytes` of the table,
    /// waits for running work and evicts everything: what is needed again is loaded again.
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
        let is_full = self.places.len() + missing.len() > MAX_ENTRIES || bytes > MAX_BYTES;
        if missing.is_empty() || !is_full {
            return Ok(missing);
        }
        engine.device().synchronize()?;
        *self = Self::new();
        Ok(of_batch.iter().collect())
    }

    /// The places of a batch's entries.
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

    /// Loads the programs and values of a batch that are not resident, and returns its evaluations with the places of
    /// programs and values on the device.
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
                ..with_pool_at(evaluation, pool)
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
        let Table { tables, places } = &mut self.programs;
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
        let Table { tables, places } = &mut self.values;
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
            PoolPlace::default()
        };
        // `append` checked that all places fit.
        let begins = begins
            .into_iter()
            .map(|(number, place)| (number, place.behind(first).unwrap_or(INVALID_PLACE)));
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

    /// Waits for running work, then evicts everything, including the engine's arenas; returns whether there was
    /// anything.
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
