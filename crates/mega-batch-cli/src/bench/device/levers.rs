//! [`Lever`]: the same launches with other settings.

use std::fmt;

use gpu_kernels::device::{Device, DeviceError};
use gpu_kernels::{Arguments, Engine, LaunchConfig};
use serde::Serialize;

use super::inputs::Load;
use super::timing::{Effort, Timing, repeat};
use super::work::Work;
use crate::table::thousands;

/// A launch with one setting changed.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Lever {
    /// What is launched.
    pub(crate) name: String,
    /// Evaluations.
    pub(crate) grids: usize,
    /// Which number of [`LaunchConfig`] differs from the default.
    #[serde(rename = "lever")]
    pub(crate) tuned: &'static str,
    /// Its value. Shared memory may leave room for fewer evaluations side by side, or fewer warps.
    pub(crate) setting: u32,
    /// Whether this is the default value.
    pub(crate) default: bool,
    /// The time on the device, writing nothing but verdicts.
    pub(crate) kernel: Timing,
}

/// A setting: its name, the values tried, and its field.
type Setting = (
    &'static str,
    &'static [u32],
    fn(&mut LaunchConfig) -> &mut u32,
);
const LEVERS: [Setting; 3] = [
    ("side_by_side", &[1, 2, 3, 4], |tuning| {
        &mut tuning.side_by_side
    }),
    ("warps", &[1, 2, 3, 4], |tuning| &mut tuning.warps),
    ("blocks", &[4, 8, 16, 32, 64], |tuning| &mut tuning.blocks),
];

/// Whether a work is measured with other settings: the works bound by memory, by flood fills, and by program length.
pub(super) fn takes_part(work: &Work) -> bool {
    ["rot90", "objects", "pipeline of 10", "built-in programs"].contains(&work.name.as_str())
}

/// Measures a work with every setting, and resets the engine to the defaults.
pub(super) fn measure<D: Device>(
    engine: &mut Engine<D>,
    work: &Work,
    load: &Load<'_>,
    arguments: &Arguments<D>,
    effort: Effort,
) -> Result<Vec<Lever>, DeviceError> {
    let mut measured = Vec::new();
    let programs = engine.load(&work.on_device)?;
    let count: usize = LEVERS.iter().map(|(_, settings, _)| settings.len()).sum();
    let effort = effort.part(count as u32);
    for (lever, settings, set) in LEVERS {
        for &setting in settings {
            let mut tuning = LaunchConfig::default();
            let default = *set(&mut tuning) == setting;
            *set(&mut tuning) = setting;
            engine.configure(tuning);
            let once = || {
                let prepared = engine.prepare(&programs, arguments, &load.evaluations)?;
                engine.launch(&programs, arguments, &prepared)?;
                repeat(effort, || engine.timed(&programs, arguments, &prepared))
            };
            let kernel = once();
            engine.configure(LaunchConfig::default());
            measured.push(Lever {
                name: work.name.clone(),
                grids: load.len(),
                tuned: lever,
                setting,
                default,
                kernel: kernel?,
            });
        }
    }
    Ok(measured)
}

impl fmt::Display for Lever {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rate = thousands(self.kernel.rate(self.grids as f64) as u64);
        let grids = thousands(self.grids as u64);
        let mark = if self.default { " (default)" } else { "" };
        write!(
            f,
            "{:<24}{grids:>10}{:>14} {:>4}{rate:>16} a second{mark}",
            self.name, self.tuned, self.setting
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lever_is_tried_at_its_default() {
        for (lever, settings, set) in LEVERS {
            let default = *set(&mut LaunchConfig::default());
            assert!(settings.contains(&default), "{lever}");
        }
    }

    #[test]
    fn works_that_take_part_are_there() {
        let singles = Work::singles().into_iter().map(Result::unwrap);
        assert_eq!(singles.filter(takes_part).count(), 3);
        assert!(takes_part(&Work::programs().0));
    }
}
