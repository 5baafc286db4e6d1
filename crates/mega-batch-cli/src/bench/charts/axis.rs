//! [`Axis`]: where a value lies in a picture, and which values are named beside it.

/// A range of values on a range of pixels.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Axis {
    scale: Scale,
    /// The least and the greatest value.
    values: (f64, f64),
    /// Where these lie.
    pixels: (f64, f64),
    /// The values that are named.
    pub(super) ticks: Vec<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scale {
    Linear,
    Logarithmic,
}

/// The most values that are named.
const MOST_TICKS: usize = 8;

impl Axis {
    /// Powers of ten are equally far apart, and the ends are named. Values that are not above zero are
    /// left out.
    pub(super) fn logarithmic(values: impl IntoIterator<Item = f64>, pixels: (f64, f64)) -> Self {
        let values = values
            .into_iter()
            .filter(|value| value.is_finite() && *value > 0.0);
        let (least, greatest) = ends(values).unwrap_or((1.0, 1.0));
        let decades = (least.log10().floor() as i32 - 1)..=(greatest.log10().ceil() as i32 + 1);
        let steps = |steps: &'static [f64]| -> Vec<f64> {
            let decades = decades.clone();
            let all = decades.flat_map(|at| steps.iter().map(move |step| step * 10_f64.powi(at)));
            // From the last one below all values to the first one above: what ends were rounded to is
            // one of them.
            let all: Vec<f64> = all.collect();
            let from = all.iter().rposition(|tick| *tick <= least * 1.001);
            let to = all.iter().position(|tick| *tick >= greatest * 0.999);
            let (mut from, mut to) = (from.unwrap_or(0), to.unwrap_or(all.len() - 1));
            // One value has room on both sides.
            if from == to {
                (from, to) = (from.saturating_sub(1), (to + 1).min(all.len() - 1));
            }
            all[from..=to].to_vec()
        };
        let mut ticks = steps(&[1.0, 2.0, 5.0]);
        if ticks.len() > MOST_TICKS || greatest >= least * 1e3 {
            ticks = steps(&[1.0]);
        }
        let values = (ticks[0], ticks[ticks.len() - 1]);
        while ticks.len() > MOST_TICKS {
            ticks = ticks.into_iter().step_by(2).collect();
        }
        Self {
            scale: Scale::Logarithmic,
            values,
            pixels,
            ticks,
        }
    }

    /// From zero, to a value that is named and not below any of these.
    pub(super) fn from_zero(values: impl IntoIterator<Item = f64>, pixels: (f64, f64)) -> Self {
        let values = values.into_iter().filter(|value| value.is_finite());
        let greatest = ends(values).map_or(1.0, |(_, greatest)| greatest.max(1e-9));
        let decade = 10_f64.powf(greatest.log10().floor());
        let steps = [0.1, 0.2, 0.25, 0.5, 1.0, 2.0, 2.5, 5.0].map(|step| step * decade);
        let fits = |step: &&f64| (greatest / **step).ceil() as usize <= MOST_TICKS - 2;
        let step = steps.iter().find(fits).copied().unwrap_or(decade * 5.0);
        // A whisker at the edge is no reason for another step.
        let count = (greatest / step - 1e-6).ceil().max(1.0) as usize;
        Self {
            scale: Scale::Linear,
            values: (0.0, step * count as f64),
            pixels,
            ticks: (0..=count).map(|at| at as f64 * step).collect(),
        }
    }

    /// Whole numbers, each named as far as there is room.
    pub(super) fn counts(most: usize, pixels: (f64, f64)) -> Self {
        let step = [1, 2, 4, 8, 16, 32, 64, 128]
            .into_iter()
            .find(|step| most / step < MOST_TICKS);
        let step = step.unwrap_or(most.div_ceil(MOST_TICKS).max(1));
        let mut ticks: Vec<f64> = (step..=most)
            .step_by(step)
            .map(|count| count as f64)
            .collect();
        if step > 1 {
            ticks.insert(0, 1.0);
        }
        Self {
            scale: Scale::Linear,
            values: (1.0, most.max(2) as f64),
            pixels,
            ticks,
        }
    }

    /// Where a value lies; what is past an end lies at the end.
    pub(super) fn at(&self, value: f64) -> f64 {
        let scaled = |value: f64| match self.scale {
            Scale::Linear => value,
            Scale::Logarithmic => value.max(f64::MIN_POSITIVE).ln(),
        };
        let (least, greatest) = (scaled(self.values.0), scaled(self.values.1));
        let share = ((scaled(value) - least) / (greatest - least)).clamp(0.0, 1.0);
        self.pixels.0 + share * (self.pixels.1 - self.pixels.0)
    }
}

fn ends(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |ends, value| {
        let (least, greatest) = ends.unwrap_or((value, value));
        Some((value.min(least), value.max(greatest)))
    })
}

/// A count, short: `1`, `10k`, `1M`.
pub(super) fn short_count(value: f64) -> String {
    let (value, unit) = match value {
        it if it >= 1e6 => (it / 1e6, "M"),
        it if it >= 1e3 => (it / 1e3, "k"),
        it => (it, ""),
    };
    format!("{}{unit}", short(value))
}

/// A speed-up, short: `0.5x`, `12x`.
pub(super) fn times(value: f64) -> String {
    format!("{}x", short(value))
}

fn short(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_named_by_powers_of_ten() {
        let axis = Axis::logarithmic([1.0, 100_000.0], (0.0, 100.0));
        let names: Vec<String> = axis.ticks.iter().copied().map(short_count).collect();
        assert_eq!(names, ["1", "10", "100", "1k", "10k", "100k"]);
        assert!((axis.at(10.0) - 20.0).abs() < 1e-9 && (axis.at(100_000.0) - 100.0).abs() < 1e-9);
        assert!(axis.at(0.0).abs() < 1e-9);
    }

    #[test]
    fn narrow_ranges_have_steps_between_powers_of_ten() {
        let axis = Axis::logarithmic([0.2, 4.0], (100.0, 0.0));
        let names: Vec<String> = axis.ticks.iter().copied().map(times).collect();
        assert_eq!(names, ["0.2x", "0.5x", "1x", "2x", "5x"]);
        assert!((axis.at(0.2) - 100.0).abs() < 1e-9);
        let one = Axis::logarithmic([10.0], (0.0, 100.0));
        assert!((one.at(10.0) - 50.0).abs() < 1e-9 && !one.ticks.is_empty());
        let none = Axis::logarithmic([f64::NAN, 0.0], (0.0, 100.0));
        assert!(none.at(1.0).is_finite());
        let wide = Axis::logarithmic([1e-9, 1e9], (0.0, 1.0));
        assert!(wide.ticks.len() <= MOST_TICKS, "{:?}", wide.ticks);
    }

    #[test]
    fn lengths_begin_at_zero() {
        for (greatest, last) in [
            (1.94, 2.0),
            (0.37, 0.4),
            (2.0, 2.0),
            (27.3, 30.0),
            (0.0, 1e-9),
        ] {
            let axis = Axis::from_zero([greatest], (0.0, 100.0));
            assert!((axis.values.1 - last).abs() <= last * 1e-6, "{axis:?}");
            assert!(
                axis.ticks.len() <= MOST_TICKS && axis.at(0.0) == 0.0,
                "{axis:?}"
            );
            assert_eq!(axis.ticks.last(), Some(&axis.values.1));
        }
    }

    #[test]
    fn counts_are_whole() {
        assert_eq!(Axis::counts(2, (0.0, 1.0)).ticks, [1.0, 2.0]);
        assert_eq!(
            Axis::counts(20, (0.0, 1.0)).ticks,
            [1.0, 4.0, 8.0, 12.0, 16.0, 20.0]
        );
        let many = Axis::counts(5_000, (0.0, 1.0));
        assert!(many.ticks.len() <= MOST_TICKS + 1, "{many:?}");
    }
}
