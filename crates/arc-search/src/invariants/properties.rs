//! [`PROPERTIES`]: the properties of an input and its output.

use super::facts::{CONNECTIVITIES, Changes, Facts, PairFacts, SYMMETRIES, is_within};
use crate::colours::COLOURS;

/// A property of an input and its output, one for each parameter below `numbers`.
pub(super) struct Property {
    pub(super) name: &'static str,
    /// The number of parameters: colours, symmetries and so on; 1 if the property has none.
    pub(super) numbers: usize,
    /// Whether a value of 0 is no invariant.
    pub(super) if_any: bool,
    pub(super) of: Value,
}

/// The value of a property for a parameter, if it is defined.
type Value = fn(&PairFacts<'_>, usize) -> Option<u64>;

const fn value(name: &'static str, numbers: usize, of: Value) -> Property {
    Property {
        name,
        numbers,
        if_any: false,
        of,
    }
}

const fn holds(name: &'static str, numbers: usize, of: Value) -> Property {
    Property {
        if_any: true,
        ..value(name, numbers, of)
    }
}

#[expect(clippy::unnecessary_wraps, reason = "a property says it so")]
fn told(is_so: bool) -> Option<u64> {
    Some(is_so.into())
}

/// A property of a colour that the input has.
fn of_input(both: &PairFacts<'_>, colour: usize, says: fn(u32, u32) -> bool) -> Option<u64> {
    let (before, after) = (both.input.counts[colour], both.output.counts[colour]);
    (before > 0).then(|| says(before, after).into())
}

/// A property of a colour that the input has, if the sizes are the same, by the numbers of its cells that changed and
/// stayed.
fn of_changes(both: &PairFacts<'_>, colour: usize, says: fn(u32, u32) -> bool) -> Option<u64> {
    let (changed, same) = both.changes.as_ref()?.of_input(colour);
    (changed + same > 0).then(|| says(changed, same).into())
}

/// The colours of which `has` is true, as bits.
fn changed_colours(both: &PairFacts<'_>, has: fn(&Changes, usize) -> bool) -> Option<u64> {
    let changes = both.changes.as_ref()?;
    let colours = (0..COLOURS).filter(|colour| has(changes, *colour));
    Some(colours.fold(0, |all, colour| all | 1 << colour))
}

pub(super) const PROPERTIES: &[Property] = &[
    value("the output is the input", 1, |both, _| {
        told(both.input.grid == both.output.grid)
    }),
    value("number of colours", 1, |both, _| {
        Some(both.output.colours().count_ones().into())
    }),
    value("number of colours, less the input's", 1, |both, _| {
        let colours = |facts: &Facts<'_>| facts.colours().count_ones();
        Some((16 + colours(&both.output) - colours(&both.input)).into())
    }),
    value("new colours", 1, |both, _| {
        Some(both.output.colours() & !both.input.colours())
    }),
    value("lost colours", 1, |both, _| {
        Some(both.input.colours() & !both.output.colours())
    }),
    value("any new colour", 1, |both, _| {
        told(both.output.colours() & !both.input.colours() != 0)
    }),
    value("any lost colour", 1, |both, _| {
        told(both.input.colours() & !both.output.colours() != 0)
    }),
    value(
        "a colour that input or output lacks",
        COLOURS,
        |both, colour| {
            let has = both.output.counts[colour] > 0;
            (!has || both.input.counts[colour] == 0).then_some(has.into())
        },
    ),
    holds("a colour of the output", COLOURS, |both, colour| {
        told(both.output.counts[colour] > 0)
    }),
    holds("cells of a colour", COLOURS, |both, colour| {
        Some(both.output.counts[colour].into())
    }),
    holds("as many cells of each colour", 1, |both, _| {
        told(both.input.counts == both.output.counts)
    }),
    holds(
        "as many cells of each colour, whichever it is",
        1,
        |both, _| {
            let ordered = |facts: &Facts<'_>| {
                let mut counts = facts.counts;
                counts.sort_unstable();
                counts
            };
            told(ordered(&both.input) == ordered(&both.output))
        },
    ),
    holds("as many cells of a colour", COLOURS, |both, colour| {
        of_input(both, colour, |before, after| before == after)
    }),
    holds("no fewer cells of a colour", COLOURS, |both, colour| {
        of_input(both, colour, |before, after| before <= after)
    }),
    holds("no more cells of a colour", COLOURS, |both, colour| {
        of_input(both, colour, |before, after| before >= after)
    }),
    holds("symmetry", SYMMETRIES, |both, which| {
        told(both.output.symmetries[which])
    }),
    value(
        "number of components",
        CONNECTIVITIES.len(),
        |both, which| Some(both.output.components[which].into()),
    ),
    holds("as many components", CONNECTIVITIES.len(), |both, which| {
        told(both.input.components[which] == both.output.components[which])
    }),
    holds(
        "no fewer components",
        CONNECTIVITIES.len(),
        |both, which| told(both.input.components[which] <= both.output.components[which]),
    ),
    holds("no more components", CONNECTIVITIES.len(), |both, which| {
        told(both.input.components[which] >= both.output.components[which])
    }),
    value("different rows, different columns", 2, |both, which| {
        Some(both.output.lines[which] as u64)
    }),
    holds("as many different rows, columns", 2, |both, which| {
        told(both.input.lines[which] == both.output.lines[which])
    }),
    holds("touches the same sides", 1, |both, _| {
        told(both.input.touched == both.output.touched)
    }),
    holds("a part of the input", 1, |both, _| {
        told(both.changes.is_none() && is_within(both.output.grid, both.input.grid))
    }),
    holds("has the input as a part", 1, |both, _| {
        told(both.changes.is_none() && is_within(both.input.grid, both.output.grid))
    }),
    value("colours of cells that change", 1, |both, _| {
        changed_colours(both, |changes, colour| changes.of_input(colour).0 > 0)
    }),
    value("colours that cells change to", 1, |both, _| {
        changed_colours(both, |changes, colour| changes.to_output(colour) > 0)
    }),
    value("number of cells that change", 1, |both, _| {
        let changes = both.changes.as_ref()?;
        Some(
            (0..COLOURS)
                .map(|colour| u64::from(changes.of_input(colour).0))
                .sum(),
        )
    }),
    holds(
        "cells of a colour that all stay",
        COLOURS,
        |both, colour| of_changes(both, colour, |changed, _| changed == 0),
    ),
    holds(
        "cells of a colour that all change",
        COLOURS,
        |both, colour| of_changes(both, colour, |_, same| same == 0),
    ),
    holds(
        "cells of a colour that had it before",
        COLOURS,
        |both, colour| {
            let changes = both.changes.as_ref()?;
            (both.output.counts[colour] > 0).then(|| (changes.to_output(colour) == 0).into())
        },
    ),
];
