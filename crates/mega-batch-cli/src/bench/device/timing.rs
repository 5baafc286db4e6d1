//! [`Timing`]: how long something took, over how many repetitions.

use std::time::{Duration, Instant};

use serde::Serialize;

/// How much may be spent on a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Effort {
    /// The most repetitions.
    pub(super) repetitions: usize,
    /// No repetition begins after this time, except the first.
    pub(super) time: Duration,
}

impl Effort {
    /// The same number of repetitions in a part of the time.
    pub(super) fn part(self, parts: u32) -> Self {
        Self {
            time: self.time / parts.max(1),
            ..self
        }
    }
}

/// Seconds of the repetitions of a measurement.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct Timing {
    /// Their median.
    pub(crate) seconds: f64,
    /// The shortest.
    pub(crate) least: f64,
    /// The longest.
    pub(crate) greatest: f64,
    /// How many there were.
    pub(crate) repetitions: usize,
}

impl Timing {
    /// The summary of these times; `None` if there are none.
    pub(super) fn of(times: &[Duration]) -> Option<Self> {
        let mut seconds: Vec<f64> = times.iter().map(Duration::as_secs_f64).collect();
        seconds.sort_by(f64::total_cmp);
        Some(Self {
            seconds: *seconds.get(seconds.len() / 2)?,
            least: *seconds.first()?,
            greatest: *seconds.last()?,
            repetitions: seconds.len(),
        })
    }

    /// A count per second.
    pub(super) fn rate(&self, count: f64) -> f64 {
        // A clock that has not moved has too low a resolution.
        count / self.seconds.max(1e-9)
    }
}

/// Repeats something that returns its own time, at least once.
pub(super) fn repeat<E>(
    effort: Effort,
    mut once: impl FnMut() -> Result<Duration, E>,
) -> Result<Timing, E> {
    let began = Instant::now();
    let mut times = vec![once()?];
    while times.len() < effort.repetitions && began.elapsed() < effort.time {
        times.push(once()?);
    }
    // There is one at least.
    Ok(Timing::of(&times).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    fn times(effort: Effort, milliseconds: &[u64]) -> Timing {
        let mut next = milliseconds.iter().cycle();
        let once = || Ok::<_, Infallible>(Duration::from_millis(*next.next().unwrap()));
        repeat(effort, once).unwrap()
    }

    #[test]
    fn the_median_stands_between_the_least_and_the_greatest() {
        let effort = Effort {
            repetitions: 5,
            time: Duration::from_secs(60),
        };
        let timing = times(effort, &[9, 2, 4, 3, 8]);
        let expected = Timing {
            seconds: 0.004,
            least: 0.002,
            greatest: 0.009,
            repetitions: 5,
        };
        assert_eq!(timing, expected);
        assert!((timing.rate(8.0) - 2000.0).abs() < 1e-6);
    }

    #[test]
    fn where_there_is_no_time_there_is_one_repetition() {
        let effort = Effort {
            repetitions: 5,
            time: Duration::ZERO,
        };
        assert_eq!(times(effort, &[7]).repetitions, 1);
        assert_eq!(Timing::of(&[]), None);
    }

    #[test]
    fn an_error_ends_the_repetitions() {
        let effort = Effort {
            repetitions: 5,
            time: Duration::from_secs(60),
        };
        let mut left = 3;
        let result = repeat(effort, || {
            left -= 1;
            if left == 0 {
                Err("broken")
            } else {
                Ok(Duration::ZERO)
            }
        });
        assert_eq!(result, Err("broken"));
        assert_eq!(left, 0);
    }
}
