//! [`Grids`]: the pairs of a batch in the format of devices, each converted once.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use arc_tasks::Task;
use gpu_kernels::{BailOut, PairPlace};
use gpu_sched::launcher::Pairs;

use crate::batch::Batch;

/// The most bytes that are cached. Grids beyond that are converted again for each batch of a device.
const MOST_BYTES: u64 = 64 << 20;

/// The pairs of a task.
#[derive(Debug, Clone)]
pub(super) struct TaskPairs {
    /// Those that devices can hold.
    pub(super) pairs: Arc<Pairs>,
    /// The index of each pair of the task among them, or why no device can hold it.
    pub(super) places: Vec<Result<u32, BailOut>>,
}

impl TaskPairs {
    fn of(task: &Task, count: usize) -> Self {
        let mut all = Pairs::default();
        let places = (0..count).map(|at| {
            let (_, pair) = task.pair_at(at);
            let arguments = all.pool.push_grid(&pair.input)?;
            // No device's output equals a grid that no device can hold.
            let expected = pair.output.as_ref();
            let expected = expected.and_then(|grid| all.pool.push_grid(grid).ok());
            all.places.push(PairPlace {
                arguments,
                expected,
            });
            Ok(all.places.len() as u32 - 1)
        });
        let places = places.collect();
        Self {
            pairs: Arc::new(all),
            places,
        }
    }

    fn bytes(&self) -> u64 {
        let Pairs { pool, places } = &*self.pairs;
        (size_of_val(pool.words()) + size_of_val(pool.units()) + size_of_val(&places[..])) as u64
    }
}

/// The pairs of a batch.
#[derive(Debug)]
pub(super) struct Grids<'b> {
    batch: &'b Batch<'b>,
    /// By the index of the task.
    cached: Vec<OnceLock<TaskPairs>>,
    /// The number of the first task's pairs on devices; the others follow in order.
    first_number: u64,
    /// Bytes that are cached, and their maximum.
    bytes: AtomicU64,
    most_bytes: u64,
}

impl<'b> Grids<'b> {
    /// An empty cache, with numbers for all tasks.
    pub(super) fn new(batch: &'b Batch<'b>, numbers: &AtomicU64) -> Self {
        Self::with_capacity(MOST_BYTES, batch, numbers)
    }

    /// The same, with this maximum of bytes.
    fn with_capacity(most_bytes: u64, batch: &'b Batch<'b>, numbers: &AtomicU64) -> Self {
        let count = batch.tasks().len();
        Self {
            batch,
            cached: std::iter::repeat_with(OnceLock::new).take(count).collect(),
            first_number: numbers.fetch_add(count as u64, Ordering::Relaxed),
            bytes: AtomicU64::new(0),
            most_bytes,
        }
    }

    /// The pairs of a task, given as index, with their number on devices.
    pub(super) fn of(&self, task: usize) -> (u64, Cow<'_, TaskPairs>) {
        let number = self.first_number + task as u64;
        if let Some(cached) = self.cached[task].get() {
            return (number, Cow::Borrowed(cached));
        }
        let cached = TaskPairs::of(&self.batch.tasks()[task], self.batch.pairs_in(task));
        let before = self.bytes.fetch_add(cached.bytes(), Ordering::Relaxed);
        if before + cached.bytes() > self.most_bytes {
            self.bytes.fetch_sub(cached.bytes(), Ordering::Relaxed);
            return (number, Cow::Owned(cached));
        }
        (
            number,
            Cow::Borrowed(self.cached[task].get_or_init(|| cached)),
        )
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use arc_dsl::Grid;
    use arc_tasks::Pair;

    use super::*;

    fn task(sides: &[usize]) -> Task {
        let pair = |side: &usize| {
            Pair::new(
                Grid::filled(*side, *side, 3),
                Some(Grid::filled(40 - side, 2, 5)),
            )
        };
        Task {
            id: "a".into(),
            train: sides.iter().map(pair).collect(),
            test: vec![Pair::new(Grid::filled(1, 2, 0), None)],
            ..Task::default()
        }
    }

    #[test]
    fn each_task_has_a_number_and_its_pairs() {
        let tasks = [task(&[1, 30]), task(&[]), task(&[33, 4])];
        let batch = Batch::all_pairs(&[], &tasks);
        let numbers = AtomicU64::new(100);
        // Of the second batch some are cached, of the third one none.
        for most in [MOST_BYTES, 2100, 0] {
            let grids = Grids::with_capacity(most, &batch, &numbers);
            let mut seen = HashSet::new();
            for (at, task) in tasks.iter().enumerate() {
                let (number, cached) = grids.of(at);
                assert!(number >= 100 && seen.insert(number));
                let TaskPairs { pairs, places } = &*cached;
                assert_eq!(places.len(), batch.pair_count(task));
                for (pair, place) in places.iter().enumerate() {
                    let (_, of_task) = task.pair_at(pair);
                    let (input, output) = (&*of_task.input, of_task.output.as_ref());
                    if input.height() > 32 {
                        assert_eq!(*place, Err(BailOut::Grid));
                        continue;
                    }
                    let place = pairs.places[place.unwrap() as usize];
                    assert_eq!(pairs.pool.grid(place.arguments).as_ref(), Some(input));
                    let expected = place.expected.and_then(|place| pairs.pool.grid(place));
                    let output = output.filter(|grid| grid.height() <= 32);
                    assert_eq!(expected.as_ref(), output);
                }
                // Again they are the same.
                let (again, same) = grids.of(at);
                assert_eq!((again, &same.pairs.pool), (number, &pairs.pool));
            }
            assert_eq!(seen.len(), 3);
            assert!(grids.bytes.into_inner() <= most);
        }
        assert_eq!(numbers.into_inner(), 109);
    }

    #[test]
    fn of_train_pairs_alone_the_test_pairs_are_left_out() {
        let tasks = [task(&[1, 2]), task(&[3])];
        let batch = Batch::all_pairs(&[], &tasks).train_only();
        let grids = Grids::new(&batch, &AtomicU64::new(0));
        let all = [0, 1].map(|task| grids.of(task));
        let all = all.map(|(number, of_task)| (number, of_task.places.clone()));
        assert_eq!(all, [(0, vec![Ok(0), Ok(1)]), (1, vec![Ok(0)])]);
    }
}
