//! [`fastest`]: finds the launch configuration in which a device runs a batch fastest.

use std::time::Duration;

use gpu_kernels::LaunchConfig;
use gpu_kernels::device::DeviceError;

/// The values that are tried. The first of each list is that of [`LaunchConfig::default`].
const WARPS: [u32; 4] = [4, 3, 2, 1];
const SIDE_BY_SIDE: [u32; 4] = [4, 3, 2, 1];
const BLOCKS: [u32; 3] = [32, 16, 8];

/// How many of the fastest configurations are timed again, and how often: a single fast time may be luck.
const FINALISTS: usize = 4;
const ROUNDS: usize = 3;

/// A configuration replaces the default one if it takes less than this part of its time.
const GAIN: f64 = 0.97;

/// The configuration that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Best {
    /// The shape.
    pub tuning: LaunchConfig,
    /// The time of the batch in it.
    pub time: Duration,
    /// The time in the default configuration.
    pub default_time: Duration,
    /// How many configurations were tried.
    pub tried: usize,
}

/// The fastest configuration, with `time` measuring each; the default one if no other is clearly faster. Stops when
/// `is_over`; `None` if no configuration was timed by then. Skips configurations that the device rejects.
///
/// # Errors
/// Any other error of the device.
pub fn fastest(
    mut is_over: impl FnMut() -> bool,
    mut time: impl FnMut(LaunchConfig) -> Result<Duration, DeviceError>,
) -> Result<Option<Best>, DeviceError> {
    let default = LaunchConfig::default();
    // The very first launch loads the kernel; it is not counted.
    let mut timed = |tuning: LaunchConfig| match time(tuning) {
        Ok(time) => Ok(Some(time)),
        Err(DeviceError::Launch { .. }) => Ok(None),
        Err(error) => Err(error),
    };
    if is_over() || timed(default)?.is_none() {
        return Ok(None);
    }
    let mut times: Vec<(LaunchConfig, Duration)> = Vec::new();
    for tuning in shapes() {
        // The default one is the reference for the others.
        if !times.is_empty() && is_over() {
            break;
        }
        times.extend(timed(tuning)?.map(|time| (tuning, time)));
    }
    let tried = times.len();
    times.sort_by_key(|(_, time)| *time);
    let is_default = |(tuning, _): &(LaunchConfig, Duration)| *tuning == default;
    let held_against = times.iter().copied().find(is_default);
    times.truncate(FINALISTS);
    if let Some(held_against) = held_against
        && !times.iter().any(is_default)
    {
        times.push(held_against);
    }
    for _ in 1..ROUNDS {
        for (tuning, least) in &mut times {
            if is_over() {
                break;
            }
            *least = timed(*tuning)?.map_or(*least, |time| time.min(*least));
        }
    }
    let Some((_, default_time)) = times.iter().copied().find(is_default) else {
        return Ok(None);
    };
    let best = times.into_iter().min_by_key(|(_, time)| *time);
    let best = best.filter(|(_, time)| time.as_secs_f64() < default_time.as_secs_f64() * GAIN);
    let (tuning, time) = best.unwrap_or((default, default_time));
    Ok(Some(Best {
        tuning,
        time,
        default_time,
        tried,
    }))
}

/// All configurations, the default one first.
fn shapes() -> impl Iterator<Item = LaunchConfig> {
    WARPS.into_iter().flat_map(|warps| {
        SIDE_BY_SIDE.into_iter().flat_map(move |side_by_side| {
            BLOCKS.into_iter().map(move |blocks| LaunchConfig {
                warps,
                side_by_side,
                blocks,
            })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device that is fastest in the configurations closest to this one.
    fn by_distance(
        best: LaunchConfig,
    ) -> impl FnMut(LaunchConfig) -> Result<Duration, DeviceError> {
        move |tuning| {
            let away = tuning.warps.abs_diff(best.warps)
                + tuning.side_by_side.abs_diff(best.side_by_side)
                + tuning.blocks.abs_diff(best.blocks);
            Ok(Duration::from_micros(1000 + 100 * u64::from(away)))
        }
    }

    #[test]
    fn every_shape_is_tried_once_and_the_default_one_first() {
        let all: Vec<_> = shapes().collect();
        assert_eq!((all.len(), all[0]), (48, LaunchConfig::default()));
        let different = |at: usize| !all[..at].contains(&all[at]);
        assert!((0..all.len()).all(different));
    }

    #[test]
    fn the_fastest_shape_is_found_wherever_it_is() {
        for shape in shapes() {
            let best = fastest(|| false, by_distance(shape)).unwrap().unwrap();
            assert_eq!((best.tuning, best.tried), (shape, 48));
            assert_eq!(best.time, Duration::from_millis(1));
            assert!(best.default_time >= best.time);
        }
    }

    #[test]
    fn the_default_shape_stays_where_another_is_hardly_faster_or_was_so_once() {
        let other = LaunchConfig {
            warps: 2,
            ..LaunchConfig::default()
        };
        let hardly = |tuning| {
            Ok(Duration::from_micros(if tuning == other {
                990
            } else {
                1000
            }))
        };
        let best = fastest(|| false, hardly).unwrap().unwrap();
        assert_eq!(best.tuning, LaunchConfig::default());

        // The first time of each is slow, like the very first launch.
        let mut calls = 0;
        let noisy = |tuning: LaunchConfig| {
            calls += 1;
            let is_first = calls == 1;
            let micros = 1000 + u64::from(tuning.warps) + if is_first { 9000 } else { 0 };
            Ok(Duration::from_micros(micros))
        };
        let best = fastest(|| false, noisy).unwrap().unwrap();
        assert_eq!(best.default_time, Duration::from_micros(1004));
    }

    #[test]
    fn the_search_ends_with_its_time() {
        for most in 1..60 {
            let mut calls = 0;
            let is_over = || {
                calls += 1;
                calls > most
            };
            let target = LaunchConfig {
                warps: 1,
                side_by_side: 1,
                blocks: 8,
            };
            let best = fastest(is_over, by_distance(target)).unwrap().unwrap();
            assert_eq!(best.tried, (most as usize).min(48));
            assert!(best.time <= best.default_time);
        }
        assert_eq!(
            fastest(|| true, by_distance(LaunchConfig::default())),
            Ok(None)
        );
    }

    #[test]
    fn shapes_that_are_refused_are_passed_over_and_other_errors_are_told() {
        let refused = || DeviceError::Launch {
            kernel: "programs",
            reason: "too much".to_owned(),
        };
        let best = fastest(
            || false,
            |tuning| match tuning.warps {
                4 => Ok(Duration::from_millis(2)),
                _ => Err(refused()),
            },
        );
        assert_eq!(best.unwrap().unwrap().tried, 12);
        assert_eq!(fastest(|| false, |_| Err(refused())), Ok(None));
        let lost = || DeviceError::Lost {
            reason: "gone".to_owned(),
        };
        assert_eq!(fastest(|| false, |_| Err(lost())), Err(lost()));
    }
}
