//! The colours of an input: those that a recipe allows, and those drawn from them.

use super::random::Random;

/// All colours of the ARC data.
pub(super) const ANY: &[i8] = &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9];

/// The colours that an input may have.
#[derive(Debug, Clone, Copy)]
pub(super) struct Colours {
    /// The background; `None` if it may be any colour.
    pub(super) ground: Option<i8>,
    /// The colours of the first objects, in this order; other objects have them only if they are also in `may`.
    pub(super) must: &'static [i8],
    /// The colours from which those of the other objects are drawn.
    pub(super) may: &'static [i8],
}

/// The colours drawn for one input.
#[derive(Debug, Clone)]
pub(super) struct Palette {
    pub(super) ground: i8,
    pub(super) must: &'static [i8],
    /// Further colours: at least one, unless the recipe has none.
    pub(super) may: Vec<i8>,
}

impl Palette {
    pub(super) fn draw(random: &mut Random, colours: Colours) -> Self {
        // Black as often as all others together, as in the ARC data.
        let ground = colours.ground.unwrap_or_else(|| match random.below(2) {
            0 => 0,
            _ => random.between(1, 9) as i8,
        });
        let wanted = |&c: &i8| c != ground && (colours.may != ANY || !colours.must.contains(&c));
        let mut may: Vec<i8> = colours.may.iter().copied().filter(wanted).collect();
        random.shuffle(&mut may);
        may.truncate(random.between(1, 4));
        Self {
            ground,
            must: colours.must,
            may,
        }
    }

    /// Any colour except the background.
    pub(super) fn ink(&self, random: &mut Random) -> i8 {
        let at = random.below(self.must.len() + self.may.len());
        self.must
            .iter()
            .chain(&self.may)
            .nth(at)
            .copied()
            .unwrap_or(self.ground)
    }

    /// The colour of object number `at`, counted from 0.
    pub(super) fn ink_of(&self, random: &mut Random, at: usize) -> i8 {
        let first = self.must.get(at).copied();
        first
            .or_else(|| random.pick(&self.may))
            .unwrap_or(self.ground)
    }
}
