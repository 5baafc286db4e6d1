//! Learning with bits: conditions that hold wherever they must and nowhere that they must not.

/// Rows of bits of equal length.
#[derive(Debug)]
pub(super) struct Rows {
    words: usize,
    bits: Vec<u64>,
}

impl Rows {
    /// This many rows of zeros.
    pub(super) fn new(count: usize, words: usize) -> Self {
        Self {
            words,
            bits: vec![0; count * words],
        }
    }

    pub(super) fn of(&self, row: usize) -> &[u64] {
        &self.bits[row * self.words..][..self.words]
    }

    pub(super) fn set(&mut self, row: usize, bit: usize) {
        self.bits[row * self.words + bit / 64] |= 1 << (bit % 64);
    }

    pub(super) fn push(&mut self, bits: impl IntoIterator<Item = u64>) {
        self.bits.extend(bits);
    }
}

pub(super) fn meets(a: &[u64], b: &[u64]) -> bool {
    a.iter().zip(b).any(|(a, b)| a & b != 0)
}

pub(super) fn common(a: &[u64], b: &[u64]) -> u32 {
    a.iter().zip(b).map(|(a, b)| (a & b).count_ones()).sum()
}

pub(super) fn count(bits: &[u64]) -> u32 {
    bits.iter().map(|bits| bits.count_ones()).sum()
}

pub(super) fn without(a: &[u64], b: &[u64]) -> Vec<u64> {
    a.iter().zip(b).map(|(a, b)| a & !b).collect()
}

pub(super) fn both(a: &[u64], b: &[u64]) -> Vec<u64> {
    a.iter().zip(b).map(|(a, b)| a & b).collect()
}

/// The sum of the costs of conditions that must all hold, and their indices.
pub(super) type Conjunction = (u32, Vec<usize>);

/// The conditions on cells or objects.
#[derive(Debug)]
pub(super) struct Conditions {
    pub(super) holds: Rows,
    pub(super) costs: Vec<u32>,
    /// How often bits were compared.
    pub(super) steps: u64,
}

/// Of this many conditions pairs are tried, and of these many triples.
const PAIRED: usize = 250;
const TRIPLES: [usize; 3] = [40, 80, 160];

/// The extra cost of a third condition.
const THIRD: u32 = 4;

impl Conditions {
    pub(super) fn new(words: usize) -> Self {
        Self {
            holds: Rows::new(0, words),
            costs: Vec::new(),
            steps: 0,
        }
    }

    /// The conditions that hold wherever they must.
    pub(super) fn holding(&mut self, must: &[u64]) -> Vec<usize> {
        self.steps += self.costs.len() as u64;
        let holds = |condition: &usize| {
            let mut both = self.holds.of(*condition).iter().zip(must);
            both.all(|(holds, must)| must & !holds == 0)
        };
        (0..self.costs.len()).filter(holds).collect()
    }

    /// Conjunctions of these conditions that hold nowhere that they must not, the cheapest first: pairs only if no
    /// single condition works, triples only if no pair does.
    pub(super) fn conjunctions(
        &mut self,
        holding: &[usize],
        never: &[u64],
        most: usize,
    ) -> Vec<Conjunction> {
        let (cost, holds) = (|at: usize| self.costs[at], |at: usize| self.holds.of(at));
        let all = count(never);
        if all == 0 {
            return vec![(0, Vec::new())];
        }
        let mut steps = holding.len();
        let wrong = holding.iter().map(|at| (common(holds(*at), never), *at));
        let mut wrong: Vec<_> = wrong.filter(|(wrong, _)| *wrong < all).collect();
        let alone = wrong.iter().filter(|(wrong, _)| *wrong == 0);
        let mut found: Vec<Conjunction> = alone.map(|(_, at)| (cost(*at), vec![*at])).collect();
        if found.is_empty() {
            wrong.sort_by_key(|(wrong, at)| (wrong + 3 * cost(*at) * all / 100, *at));
            wrong.truncate(PAIRED);
            let wrong: Vec<_> = wrong.into_iter().map(|(_, at)| at).collect();
            for (place, a) in wrong.iter().enumerate() {
                let left = both(holds(*a), never);
                steps += wrong.len() - place;
                for b in &wrong[place + 1..] {
                    if !meets(holds(*b), &left) {
                        found.push((cost(*a) + cost(*b), vec![*a, *b]));
                    }
                }
            }
            let [first, second, third] = TRIPLES;
            let is_done = !found.is_empty();
            for (place, a) in wrong
                .iter()
                .enumerate()
                .take(if is_done { 0 } else { first })
            {
                let left = both(holds(*a), never);
                for (next, b) in wrong.iter().enumerate().take(second).skip(place + 1) {
                    let left = both(holds(*b), &left);
                    steps += third.saturating_sub(next);
                    for c in wrong.iter().take(third).skip(next + 1) {
                        if !meets(holds(*c), &left) {
                            let cost = cost(*a) + cost(*b) + cost(*c) + THIRD;
                            found.push((cost, vec![*a, *b, *c]));
                        }
                    }
                }
            }
        }
        self.steps += steps as u64;
        // The sort is stable: among equal costs the first one stays first.
        found.sort_by_key(|(cost, _)| *cost);
        found.truncate(most);
        found
    }
}
