//! [`Invariants`]: the properties that all train pairs of a task share, so that an answer to a test input should have
//! them too. Few of the right answers break any of them; most of the wrong ones do.
//!
//! A property says something of an input and its output: that the output has three colours, that no cell of colour 5
//! has changed. If it says the same of all train pairs, it is an invariant; an answer of which it says something else
//! breaks it. Properties do not look at how an answer was computed. They are as general as possible and all have the
//! same weight, so there is nothing to tune.

use arc_dsl::Grid;

mod facts;
mod properties;

use crate::colours::COLOURS;
use facts::{ColourPairs, PairFacts};
use properties::PROPERTIES;

/// The invariants of all train pairs of a task; see the [module](self).
#[derive(Debug, Clone, Default)]
pub struct Invariants {
    /// Property, its parameter, and its value for all train pairs.
    said: Vec<(usize, usize, u64)>,
    /// The changes of colours in all train pairs, if they are the same in each.
    same_changes: Option<ColourPairs>,
    /// The changes of colours in any train pair, if all outputs have the size of their inputs.
    became: Option<ColourPairs>,
}

impl Invariants {
    /// The invariants of these inputs and their outputs.
    pub fn of<'g>(pairs: impl Iterator<Item = (&'g Grid, &'g Grid)>) -> Self {
        let pairs = pairs.map(|(input, output)| PairFacts::of(input, output));
        let pairs: Vec<_> = pairs.collect();
        let mut said = Vec::new();
        for (at, property) in PROPERTIES.iter().enumerate() {
            for number in 0..property.numbers {
                let mut all = pairs.iter().map(|both| (property.of)(both, number));
                let Some(Some(first)) = all.next() else {
                    continue;
                };
                if all.all(|other| other == Some(first)) && !(property.if_any && first == 0) {
                    said.push((at, number, first));
                }
            }
        }
        let changes = |with_same| {
            let changes = pairs.iter().map(|both| both.changes.as_ref());
            let changes = changes.map(|changes| Some(changes?.pairs(with_same)));
            let changes: Option<Vec<_>> = changes.collect();
            changes.filter(|changes| !changes.is_empty())
        };
        Self {
            said,
            same_changes: changes(false).and_then(|all| {
                let is_same = all.iter().all(|pairs| *pairs == all[0]);
                is_same.then_some(all[0])
            }),
            became: changes(true).map(|all| all.iter().fold(0, |all, pairs| all | pairs)),
        }
    }

    /// The invariants that an answer to an input breaks, by name.
    ///
    /// ```
    /// use arc_dsl::Grid;
    /// use arc_search::invariants::Invariants;
    /// let grid = |rows: &[[i32; 3]]| Grid::from_rows(rows);
    /// let train = [(grid(&[[1, 0, 0]])?, grid(&[[0, 0, 1]])?), (grid(&[[0, 2, 2]])?, grid(&[[2, 2, 0]])?)];
    /// let invariants = Invariants::of(train.iter().map(|(input, output)| (input, output)));
    /// let input = grid(&[[0, 0, 2]])?;
    /// assert!(invariants.broken(&input, &grid(&[[2, 0, 0]])?).is_empty());
    /// let broken = invariants.broken(&input, &grid(&[[2, 2, 0]])?);
    /// assert!(broken.contains(&"as many cells of each colour"));
    /// # Ok::<(), arc_dsl::GridError>(())
    /// ```
    pub fn broken(&self, input: &Grid, output: &Grid) -> Vec<&'static str> {
        let both = PairFacts::of(input, output);
        let said = self.said.iter().filter(|(property, number, said)| {
            let told = (PROPERTIES[*property].of)(&both, *number);
            told.is_some_and(|told| told != *said)
        });
        let mut broken: Vec<_> = said
            .map(|(property, ..)| PROPERTIES[*property].name)
            .collect();
        if let Some(changes) = &both.changes {
            let differs =
                |said: Option<ColourPairs>| said.is_some_and(|said| said != changes.pairs(false));
            if differs(self.same_changes) {
                broken.push("which colours change to which");
            }
            // Nothing is known about a colour that no train pair has.
            let row = |from: usize| ((1 << COLOURS) - 1) << (from * COLOURS);
            let is_new = |became: ColourPairs| {
                let known = (0..COLOURS).filter(|from| became & row(*from) != 0);
                let known = known.fold(0, |all, from| all | row(from));
                changes.pairs(true) & known & !became != 0
            };
            if self.became.is_some_and(is_new) {
                broken.push("what colours may become");
            }
        }
        broken
    }
}

#[cfg(test)]
mod tests;
