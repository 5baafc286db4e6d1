//! [`Resident`]: programs and pairs that stay on a lane of a device, each program and each group of pairs identified by a
//! number.

use std::sync::Arc;

use gpu_kernels::device::{Device, DeviceError};
use gpu_kernels::{Arguments, DeviceProgram, Engine, Programs, Span};
use rustc_hash::FxHashMap;

use super::{Evaluations, Pairs};
use crate::failure::Failure;

/// The most programs, and the most groups of pairs, that stay; and the most bytes of each.
pub(super) const MAX_ENTRIES: usize = 1 << 16;
const MAX_BYTES: u64 = 64 << 20;

/// The data that stays on a lane.
pub(super) struct Resident<D: Device> {
    programs: Table<Programs<D>>,
    pairs: Table<Arguments<D>>,
}

/// A table on the device, and the first index of each number's entry in it.
struct Table<T> {
    tables: Option<T>,
    places: FxHashMap<u64, u32>,
}

impl<D: Device> Default for Resident<D> {
    fn default() -> Self {
        Self {
            programs: Table::new(),
            pairs: Table::new(),
        }
    }
}

impl<T> Table<T> {
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
    fn places_of<V>(&self, of_batch: &[(u64, V)]) -> Vec<Option<u32>> {
        let all = of_batch.iter();
        all.map(|(number, _)| self.places.get(number).copied())
            .collect()
    }
}

impl<D: Device> Resident<D> {
    /// How many programs and groups of pairs stay.
    #[cfg(test)]
    pub(super) fn counts(&self) -> (usize, usize) {
        (self.programs.places.len(), self.pairs.places.len())
    }

    /// Loads the programs and pairs of a batch that are not resident, and returns its spans by indices of programs and
    /// pairs on the device: as one those of a program that follow each other there too.
    pub(super) fn load<N>(
        &mut self,
        engine: &Engine<D>,
        batch: &Evaluations<N>,
    ) -> Result<Vec<Span>, Failure> {
        self.load_programs(engine, &batch.programs)?;
        self.load_pairs(engine, &batch.pairs)?;
        let programs = self.programs.places_of(&batch.programs);
        let groups = self.pairs.places_of(&batch.pairs);
        let placed = |(group, span): &(u32, Span)| {
            let program = (*programs.get(span.program as usize)?)?;
            let (_, pairs) = batch.pairs.get(*group as usize)?;
            let first = (*groups.get(*group as usize)?)?;
            (span.pairs.end as usize <= pairs.places.len()).then(|| Span {
                program,
                pairs: first + span.pairs.start..first + span.pairs.end,
                ..span.clone()
            })
        };
        let mut spans: Vec<Span> = Vec::with_capacity(batch.spans.len());
        for span in &batch.spans {
            let span = placed(span).ok_or_else(|| {
                Failure::Failed("a span is of a program or pairs that are not there".to_owned())
            })?;
            match spans.last_mut() {
                Some(last)
                    if (last.program, last.fetch) == (span.program, span.fetch)
                        && last.pairs.end == span.pairs.start
                        && last.verdict + last.pairs.len() as u32 == span.verdict =>
                {
                    last.pairs.end = span.pairs.end;
                }
                _ => spans.push(span),
            }
        }
        Ok(spans)
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

    fn load_pairs(
        &mut self,
        engine: &Engine<D>,
        groups: &[(u64, Arc<Pairs>)],
    ) -> Result<(), DeviceError> {
        let missing = self.pairs.missing(engine, groups, Arguments::bytes)?;
        let Table { tables, places } = &mut self.pairs;
        if missing.is_empty() && tables.is_some() {
            return Ok(());
        }
        let mut all = Pairs::default();
        let mut firsts = Vec::with_capacity(missing.len());
        for (number, group) in missing {
            firsts.push((*number, all.places.len() as u32));
            let first = all.pool.append(&group.pool);
            all.places
                .extend(group.places.iter().map(|pair| pair.behind(first)));
        }
        let first = if let Some(arguments) = tables {
            engine.append(arguments, &all.pool, &all.places)?
        } else {
            *tables = Some(engine.upload(&all.pool, &all.places)?);
            0
        };
        places.extend(firsts.iter().map(|(number, at)| (*number, first + at)));
        Ok(())
    }

    /// The tables of both, once something was loaded.
    pub(super) fn loaded(&self) -> Result<(&Programs<D>, &Arguments<D>), Failure> {
        let both = self
            .programs
            .tables
            .as_ref()
            .zip(self.pairs.tables.as_ref());
        both.ok_or_else(|| Failure::Failed("nothing is loaded".to_owned()))
    }

    /// Waits for running work, then evicts everything, including the engine's arenas; returns whether there was
    /// anything.
    pub(super) fn evict(&mut self, engine: &Engine<D>) -> Result<bool, DeviceError> {
        if self.programs.tables.is_none() && self.pairs.tables.is_none() {
            return Ok(false);
        }
        engine.device().synchronize()?;
        *self = Self::default();
        engine.drop_arenas();
        Ok(true)
    }
}
