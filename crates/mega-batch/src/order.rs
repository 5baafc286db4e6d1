//! [`OrderCheck`]: finds results that depend on the iteration order of sets.
//!
//! Python does not define that order, and it differs between equal sets, depending on how they were built. The engine
//! has one fixed order. If the result of a program changes when sets are iterated in reverse, it may differ in Python
//! too.

use arc_dsl::{Dialect, Interpreter, Limits, PairId};
use rayon::iter::{IntoParallelIterator, ParallelIterator};

use crate::batch::{Batch, Job};
use crate::cancellation::Cancellation;

/// The results of evaluating with sets in both orders.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OrderCheck {
    /// How many evaluations were checked: those of programs of the public dialect.
    pub checked: u64,
    /// The evaluations whose results differ, in the order of the batch.
    pub dependent: Vec<(Job, PairId)>,
}

impl OrderCheck {
    /// Evaluates a batch twice with the reference interpreter. If it is cancelled, jobs are missing.
    pub fn of(batch: &Batch<'_>, limits: &Limits, cancellation: &Cancellation) -> Self {
        let interpreters = || {
            let ordered = Interpreter::new(limits.clone());
            (ordered, Interpreter::in_reverse(limits.clone()))
        };
        let jobs = (0..batch.job_count()).into_par_iter();
        let checked = jobs.map_init(interpreters, |(ordered, reversed), at| {
            let mut found = Self::default();
            let job = batch.job(at);
            let program = batch.program(job);
            if program.dialect() != Dialect::Public || cancellation.is_cancelled() {
                return found;
            }
            for (id, pair) in batch.pairs(batch.task(job)) {
                let input = || (*pair.input).clone();
                let results = [
                    ordered.run(program, input()),
                    reversed.run(program, input()),
                ];
                found.checked += 1;
                if results[0] != results[1] {
                    found.dependent.push((job, id));
                }
            }
            found
        });
        checked.reduce(Self::default, |mut all, found| {
            all.checked += found.checked;
            all.dependent.extend(found.dependent);
            all
        })
    }
}

#[cfg(test)]
mod tests {
    use arc_dsl::{Grid, Pair, Task, parse_programs};

    use super::*;

    #[test]
    fn results_that_are_others_in_reverse_are_found() {
        let ways = [
            // Ties, first elements, cells painted over one another, sets that become tuples.
            ("first(palette(I))", true),
            ("mostcolor(I)", true),
            ("leastcommon(astuple(ONE, TWO))", true),
            ("argmax(objects(I, T, F, F), size)", true),
            ("paint(I, combine(recolor(1, {0}), recolor(2, {0})))", true),
            ("totuple(palette(I))", true),
            ("merge(insert(palette(I), initset(initset(7))))", false),
            ("order(palette(I), identity)", false),
            ("sfilter(objects(I, T, F, F), vline)", false),
            ("mapply(toindices, objects(I, T, F, F))", false),
            ("product(palette(I), palette(I))", false),
            ("remove(ZERO, palette(I))", false),
        ];
        let corner = "frozenset({(0, 0)})";
        let texts = ways.iter().enumerate().map(|(at, (way, _))| {
            let way = way.replace("{0}", corner);
            format!("def f{at}(I):\n    return {way}\n")
        });
        let programs = parse_programs(&texts.collect::<String>());
        let programs: Vec<_> = programs.into_iter().map(Result::unwrap).collect();
        let grid = Grid::from_rows(&[[1, 1], [2, 2]]).unwrap();
        let task = Task {
            id: "a".into(),
            train: vec![Pair::new(grid, None)],
            ..Task::default()
        };
        let tasks = [task];
        let batch = Batch::all_pairs(&programs, &tasks);
        let check = OrderCheck::of(&batch, &Limits::default(), &Cancellation::default());
        assert_eq!(check.checked, ways.len() as u64);
        let found: Vec<_> = check
            .dependent
            .iter()
            .map(|(job, _)| job.program as usize)
            .collect();
        let expected: Vec<_> = (0..ways.len()).filter(|at| ways[*at].1).collect();
        assert_eq!(found, expected);
    }
}
