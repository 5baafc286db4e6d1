//! The colours of an input: which a recipe allows, and which are drawn of them.

use super::random::Random;

/// All colours of the ARC data.
pub(super) const ANY: &[i8] = &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9];

/// Which colours an input has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Colours {
    /// The background; `None` if it may be any colour.
    pub(super) ground: Option<i8>,
    /// Those of the first things, in this order; no other thing has them unless `may` names them.
    pub(super) must: &'static [i8],
    /// Those from which the others are drawn.
    pub(super) may: &'static [i8],
}

/// The colours drawn for one input.
#[derive(Debug, Clone)]
pub(super) struct Palette {
    pub(super) ground: i8,
    pub(super) must: &'static [i8],
    /// Further colours: at least one, unless the recipe names none.
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

    /// Any colour but the background.
    pub(super) fn ink(&self, random: &mut Random) -> i8 {
        let at = random.below(self.must.len() + self.may.len());
        self.must
            .iter()
            .chain(&self.may)
            .nth(at)
            .copied()
            .unwrap_or(self.ground)
    }

    /// The colour of the thing `at`, counted from 0.
    pub(super) fn ink_of(&self, random: &mut Random, at: usize) -> i8 {
        let first = self.must.get(at).copied();
        first
            .or_else(|| random.pick(&self.may))
            .unwrap_or(self.ground)
    }
}
