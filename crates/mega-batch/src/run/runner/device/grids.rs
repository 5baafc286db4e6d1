//! [`Grids`]: the grids of a batch's pairs in the format of devices, each converted once.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use arc_tasks::Pair;
use gpu_kernels::{BailOut, Pool, PoolPlace};

use crate::batch::Batch;

/// The most bytes that are cached. Grids beyond that are converted again for each batch of a device.
const MOST_BYTES: u64 = 64 << 20;

/// The grids of a pair.
#[derive(Debug, Clone)]
pub(super) struct PairGrids {
    pub(super) pool: Arc<Pool>,
    /// The place of the input in the pool, or why no device can hold it.
    pub(super) input: Result<PoolPlace, BailOut>,
    /// The place of the expected grid; `None` also if no device can hold it, since then no device's output equals it.
    pub(super) expected: Option<PoolPlace>,
    pub(super) has_expected: bool,
}

impl PairGrids {
    fn of(pair: &Pair) -> Self {
        let mut pool = Pool::default();
        let input = pool.push_grid(&pair.input);
        let expected = pair.output.as_ref();
        Self {
            input,
            // Without the input nothing is compared.
            expected: expected
                .filter(|_| input.is_ok())
                .and_then(|grid| pool.push_grid(grid).ok()),
            has_expected: expected.is_some(),
            pool: Arc::new(pool),
        }
    }

    fn bytes(&self) -> u64 {
        (size_of_val(self.pool.words()) + size_of_val(self.pool.units())) as u64
    }
}

/// The grids of the pairs of a batch.
#[derive(Debug)]
pub(super) struct Grids<'b> {
    batch: &'b Batch<'b>,
    /// By the index of the pair.
    cached: Vec<OnceLock<PairGrids>>,
    /// The number of the first pair's pool on devices; the others follow in order.
    first_number: u64,
    /// Bytes that are cached, and their maximum.
    bytes: AtomicU64,
    most_bytes: u64,
}

impl<'b> Grids<'b> {
    /// An empty cache, with numbers for all pairs.
    pub(super) fn new(batch: &'b Batch<'b>, numbers: &AtomicU64) -> Self {
        Self::with_capacity(MOST_BYTES, batch, numbers)
    }

    /// The same, with this maximum of bytes.
    fn with_capacity(most_bytes: u64, batch: &'b Batch<'b>, numbers: &AtomicU64) -> Self {
        let count = batch.pairs_before(batch.tasks().len());
        Self {
            batch,
            cached: std::iter::repeat_with(OnceLock::new).take(count).collect(),
            first_number: numbers.fetch_add(count as u64, Ordering::Relaxed),
            bytes: AtomicU64::new(0),
            most_bytes,
        }
    }

    /// The grids of a pair of a task, both given as indices, with the number of their pool on devices.
    pub(super) fn of(&self, task: usize, pair: usize) -> (u64, Cow<'_, PairGrids>) {
        let at = self.batch.pairs_before(task) + pair;
        let number = self.first_number + at as u64;
        if let Some(cached) = self.cached[at].get() {
            return (number, Cow::Borrowed(cached));
        }
        let (_, of_task) = self.batch.tasks()[task].pair_at(pair);
        let cached = PairGrids::of(of_task);
        let before = self.bytes.fetch_add(cached.bytes(), Ordering::Relaxed);
        if before + cached.bytes() > self.most_bytes {
            self.bytes.fetch_sub(cached.bytes(), Ordering::Relaxed);
            return (number, Cow::Owned(cached));
        }
        (
            number,
            Cow::Borrowed(self.cached[at].get_or_init(|| cached)),
        )
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use arc_dsl::Grid;
    use arc_tasks::Task;

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
    fn each_pair_has_a_number_and_its_grids() {
        let tasks = [task(&[1, 30]), task(&[]), task(&[33, 4])];
        let batch = Batch::all_pairs(&[], &tasks);
        let numbers = AtomicU64::new(100);
        // Of the second batch some are cached, of the third one none.
        for most in [MOST_BYTES, 1100, 0] {
            let grids = Grids::with_capacity(most, &batch, &numbers);
            let mut seen = HashSet::new();
            for (at, task) in tasks.iter().enumerate() {
                for pair in 0..batch.pair_count(task) {
                    let (number, cached) = grids.of(at, pair);
                    assert!(number >= 100 && seen.insert(number));
                    let (_, of_task) = task.pair_at(pair);
                    let (input, output) = (&*of_task.input, of_task.output.as_ref());
                    assert_eq!(cached.has_expected, output.is_some());
                    if input.height() > 32 {
                        assert_eq!((cached.input, cached.expected), (Err(BailOut::Grid), None));
                        continue;
                    }
                    let place = cached.input.unwrap();
                    assert_eq!(cached.pool.grid(place).as_ref(), Some(input));
                    let expected = cached.expected.and_then(|place| cached.pool.grid(place));
                    let output = output.filter(|grid| grid.height() <= 32);
                    assert_eq!(expected.as_ref(), output);
                    // Again it is the same.
                    let (again, same) = grids.of(at, pair);
                    assert_eq!((again, &same.pool), (number, &cached.pool));
                }
            }
            assert_eq!(seen.len(), 7);
            assert!(grids.bytes.into_inner() <= most);
        }
        assert_eq!(numbers.into_inner(), 121);
    }

    #[test]
    fn train_pairs_alone_have_numbers_one_after_the_other() {
        let tasks = [task(&[1, 2]), task(&[3])];
        let batch = Batch::all_pairs(&[], &tasks).train_only();
        let grids = Grids::new(&batch, &AtomicU64::new(0));
        let numbers = [(0, 0), (0, 1), (1, 0)].map(|(task, pair)| grids.of(task, pair).0);
        assert_eq!(numbers, [0, 1, 2]);
    }
}
