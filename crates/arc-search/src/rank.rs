//! [`Ranker`]: selects the proposals that become attempts.

use crate::propose::Proposal;

/// Scores proposals and their answers.
pub trait Ranker {
    /// The score of a proposal; greater is better. Among equal scores the proposal that came first stays first.
    fn score(&self, proposal: &Proposal) -> f64;

    /// The score of a proposal's answers, given the proposal's score; greater is better. It is called only for the
    /// best proposals, up to [`CANDIDATES`] with distinct answers. By default it returns the given score.
    fn of_answers(&self, score: f64, answers: &Answers<'_>) -> f64 {
        let _ = answers;
        score
    }
}

/// How many proposals with distinct answers are compared by their answers.
pub const CANDIDATES: usize = 60;

/// The answers of a proposal to the test inputs.
#[derive(Debug, Clone, Copy)]
pub struct Answers<'a> {
    /// The proposal.
    pub proposal: &'a Proposal,
    /// Of each other proposer the best proposal that gives the same answers.
    pub same: &'a [&'a Proposal],
    /// How many train pairs the task has.
    pub train: usize,
    /// The invariants of the train pairs that each answer breaks, by [name](crate::invariants::Invariants::broken).
    pub broken: &'a [Vec<&'static str>],
}

/// The features of a proposal: 1, its cost divided by 20, the square root of the number of invariants that its
/// answers break, and a third of the number of layers after the first, or the number of train pairs on which it is
/// wrong.
pub type Known = [f64; 4];

/// The features of a proposal with these numbers of fitting train pairs, cost and layers, whose answers break this
/// many invariants, for a task of this many train pairs.
pub fn known(fits: u32, total: u32, layers: usize, broken: f64, train: usize) -> Known {
    let wrong = train.saturating_sub(fits as usize);
    let last = if wrong > 0 {
        wrong as f64
    } else {
        layers.saturating_sub(1) as f64 / 3.0
    };
    [1.0, f64::from(total) / 20.0, broken.sqrt(), last]
}

/// Weights of the [known] features for the log odds that the answers of a proposal are right: for proposals that are
/// right on all train pairs by their proposer, and for all others under `partly`.
///
/// They were learned on the even-numbered training tasks of ARC-AGI-1, with `--example solved -- TASKS --estimate`.
#[allow(clippy::approx_constant, reason = "weights that were learned")]
pub const ESTIMATES: [(&str, Known); 4] = [
    ("stacks", [2.44, -1.02, -2.06, 0.69]),
    ("partly", [-0.25, -0.73, -0.86, -0.79]),
    ("cells", [1.13, -0.97, -1.50, 0.00]),
    ("objects", [2.90, -3.14, -1.23, 0.00]),
];

/// The index of the estimate for a proposal; other proposers use that of stacks.
pub fn estimate_of(by: &str, is_exact: bool) -> usize {
    let name = if is_exact { by } else { "partly" };
    let place = ESTIMATES.iter().position(|(known, _)| *known == name);
    place.unwrap_or(0)
}

/// Scores by the number of train pairs on which a proposal is right, minus a little for each layer and for its costs;
/// answers by the probability that they are right, by [`ESTIMATES`], combined over all proposers that give them.
#[derive(Debug, Clone, Copy, Default)]
pub struct ByFit;

/// What [`ByFit`] takes away for each layer, and for a unit of the sum of the costs.
const LITTLE: f64 = 0.02;

impl Ranker for ByFit {
    fn score(&self, proposal: &Proposal) -> f64 {
        let layers = proposal.layers.len() as f64;
        f64::from(proposal.fits) - LITTLE * layers - LITTLE * f64::from(proposal.total)
    }

    fn of_answers(&self, _: f64, answers: &Answers<'_>) -> f64 {
        let broken: usize = answers.broken.iter().map(Vec::len).sum();
        let broken = broken as f64 / answers.broken.len().max(1) as f64;
        let wrong = |proposal: &&Proposal| {
            let is_exact = proposal.fits as usize >= answers.train;
            let (_, weights) = ESTIMATES[estimate_of(proposal.by, is_exact)];
            let both = weights.iter().zip(known(
                proposal.fits,
                proposal.total,
                proposal.layers.len(),
                broken,
                answers.train,
            ));
            1.0 / (1.0
                + both
                    .map(|(weight, known)| weight * known)
                    .sum::<f64>()
                    .exp())
        };
        // The answer is wrong only if all of its proposals are.
        let all = answers.same.iter().copied().chain([answers.proposal]);
        let wrong: f64 = all.map(|proposal| wrong(&proposal)).product();
        // Keeps the score finite: JSON has no infinity.
        let wrong = wrong.clamp(f64::MIN_POSITIVE, 1.0 - f64::EPSILON);
        ((1.0 - wrong) / wrong).ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pieces::Layer;
    use crate::testing::{batt, task};

    fn stack(fits: u32, layers: usize, cost: u8, total: u32) -> Proposal {
        let layer = Layer::All(batt(&task(&[], &[])).input());
        Proposal {
            layers: vec![layer; layers],
            fits,
            cost,
            total,
            rule: None,
            by: "stacks",
        }
    }

    #[test]
    fn more_pairs_count_before_all_else_and_then_what_is_cheaper() {
        let ranker = ByFit;
        let descending = [
            stack(3, 1, 5, 5),
            stack(3, 1, 6, 6),
            stack(3, 2, 3, 6),
            stack(3, 2, 4, 7),
            stack(2, 1, 1, 1),
        ];
        for two in descending.windows(2) {
            assert!(ranker.score(&two[0]) > ranker.score(&two[1]), "{two:?}");
        }
    }
}
