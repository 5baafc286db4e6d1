//! Statistics of repeated times: [`Spread`].

use serde::{Deserialize, Serialize};

/// Times of one thing in seconds, or speed-ups.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) lower_quartile: f64,
    pub(crate) upper_quartile: f64,
    pub(crate) least: f64,
    pub(crate) greatest: f64,
    /// How many there are.
    #[serde(default)]
    pub(crate) samples: usize,
}

impl Spread {
    /// Of these times; `None` if there are none.
    pub(crate) fn of(samples: &[f64]) -> Option<Self> {
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        Some(Self {
            median: quantile(&sorted, 0.5)?,
            lower_quartile: quantile(&sorted, 0.25)?,
            upper_quartile: quantile(&sorted, 0.75)?,
            least: *sorted.first()?,
            greatest: *sorted.last()?,
            samples: sorted.len(),
        })
    }
}

/// How many times as fast one thing is as another, by times measured in turns: in each turn, the base's time over the
/// other's.
pub(crate) fn ratios(base: &[f64], times: &[f64]) -> Option<Spread> {
    let ratios = base.iter().zip(times).filter(|(_, time)| **time > 0.0);
    let ratios: Vec<f64> = ratios.map(|(base, time)| base / time).collect();
    Spread::of(&ratios)
}

/// The quantile of sorted values at this share, interpolated between two of them.
fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let place = share * sorted.len().checked_sub(1)? as f64;
    let (below, above) = (
        sorted[place.floor() as usize],
        sorted[place.ceil() as usize],
    );
    Some(below + (above - below) * place.fract())
}

/// The geometric mean; `None` if there are no values.
pub(crate) fn geometric_mean(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let logarithms: Vec<f64> = values.into_iter().map(f64::ln).collect();
    let count = logarithms.len();
    (count > 0).then(|| (logarithms.iter().sum::<f64>() / count as f64).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_has_its_quartiles() {
        let spread = Spread::of(&[5.0, 1.0, 2.0, 4.0, 3.0]).unwrap();
        let Spread {
            median,
            lower_quartile,
            upper_quartile,
            least,
            greatest,
            samples,
        } = spread;
        let found = [least, lower_quartile, median, upper_quartile, greatest];
        assert_eq!((found, samples), ([1.0, 2.0, 3.0, 4.0, 5.0], 5));
        let even = Spread::of(&[1.0, 2.0]).unwrap();
        assert!((even.median - 1.5).abs() < 1e-12 && (even.upper_quartile - 1.75).abs() < 1e-12);
        assert_eq!(Spread::of(&[]), None);
    }

    #[test]
    fn ratios_are_of_turns() {
        let ratio = ratios(&[1.0, 2.0, 9.0], &[1.0, 1.0, 3.0]).unwrap();
        assert_eq!((ratio.least, ratio.median, ratio.greatest), (1.0, 2.0, 3.0));
        assert!((ratio.lower_quartile - 1.5).abs() < 1e-12);
        assert!((ratio.upper_quartile - 2.5).abs() < 1e-12);
        assert_eq!(ratios(&[1.0], &[0.0]), None);
    }

    #[test]
    fn means_are_geometric() {
        let mean = geometric_mean([1.0, 4.0]).unwrap();
        assert!((mean - 2.0).abs() < 1e-12);
        assert_eq!(geometric_mean([]), None);
    }
}
