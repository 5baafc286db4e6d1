//! [`Grids`]: the grids of a batch's pairs as devices hold them, each made once.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use arc_dsl::Pair;
use gpu_kernels::{BailOut, Place, Pool};

use crate::batch::Batch;

/// The most bytes that are kept. What comes then is made for each batch of a device anew.
const MOST_BYTES: u64 = 64 << 20;

/// The grids of a pair.
#[derive(Debug, Clone)]
pub(super) struct Held {
    pub(super) pool: Arc<Pool>,
    /// Where the input lies in the pool, or why no device can hold it.
    pub(super) input: Result<Place, BailOut>,
    /// Where the expected grid lies. One that a device cannot hold is none that it makes.
    pub(super) expected: Option<Place>,
    pub(super) has_expected: bool,
}

impl Held {
    fn of(pair: &Pair) -> Self {
        let mut pool = Pool::default();
        let input = pool.push_grid(&pair.input);
        let expected = pair.output.as_ref();
        Self {
            input,
            // Nothing is compared with it where there is no input.
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
    /// The place of the first pair of each task.
    firsts: Vec<usize>,
    /// By the place of the pair.
    held: Vec<OnceLock<Held>>,
    /// The number of the first of them on devices; that of each other one is by its place.
    first_number: u64,
    /// Bytes of those that are kept, and how many there may be.
    bytes: AtomicU64,
    most_bytes: u64,
}

impl<'b> Grids<'b> {
    /// Room for them, with numbers of their own.
    pub(super) fn new(batch: &'b Batch<'b>, numbers: &AtomicU64) -> Self {
        Self::keeping(MOST_BYTES, batch, numbers)
    }

    /// The same, so many bytes of which are kept.
    fn keeping(most_bytes: u64, batch: &'b Batch<'b>, numbers: &AtomicU64) -> Self {
        let mut count = 0;
        let firsts = batch.tasks().iter().map(|task| {
            let first = count;
            count += batch.pair_count(task);
            first
        });
        Self {
            batch,
            firsts: firsts.collect(),
            held: std::iter::repeat_with(OnceLock::new).take(count).collect(),
            first_number: numbers.fetch_add(count as u64, Ordering::Relaxed),
            bytes: AtomicU64::new(0),
            most_bytes,
        }
    }

    /// Those of a pair of a task, both by their places, with their number on devices.
    pub(super) fn of(&self, task: usize, pair: usize) -> (u64, Cow<'_, Held>) {
        let at = self.firsts[task] + pair;
        let number = self.first_number + at as u64;
        if let Some(held) = self.held[at].get() {
            return (number, Cow::Borrowed(held));
        }
        let (_, of_task) = self.batch.tasks()[task].pair_at(pair);
        let held = Held::of(of_task);
        let before = self.bytes.fetch_add(held.bytes(), Ordering::Relaxed);
        if before + held.bytes() > self.most_bytes {
            self.bytes.fetch_sub(held.bytes(), Ordering::Relaxed);
            return (number, Cow::Owned(held));
        }
        (number, Cow::Borrowed(self.held[at].get_or_init(|| held)))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use arc_dsl::{Grid, Task};

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
        // Of the second batch some are kept, of the third one none.
        for most in [MOST_BYTES, 1100, 0] {
            let grids = Grids::keeping(most, &batch, &numbers);
            let mut seen = HashSet::new();
            for (at, task) in tasks.iter().enumerate() {
                for pair in 0..batch.pair_count(task) {
                    let (number, held) = grids.of(at, pair);
                    assert!(number >= 100 && seen.insert(number));
                    let (_, of_task) = task.pair_at(pair);
                    let (input, output) = (&*of_task.input, of_task.output.as_ref());
                    assert_eq!(held.has_expected, output.is_some());
                    if input.height() > 32 {
                        assert_eq!((held.input, held.expected), (Err(BailOut::Grid), None));
                        continue;
                    }
                    let place = held.input.unwrap();
                    assert_eq!(held.pool.grid(place).as_ref(), Some(input));
                    let expected = held.expected.and_then(|place| held.pool.grid(place));
                    let output = output.filter(|grid| grid.height() <= 32);
                    assert_eq!(expected.as_ref(), output);
                    // Again it is the same.
                    let (again, same) = grids.of(at, pair);
                    assert_eq!((again, &same.pool), (number, &held.pool));
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
