//! Where the time of a window goes, and what to change if a device is idle.

use std::fmt;
use std::ops::AddAssign;
use std::time::Duration;

use gpu_kernels::device::caching::MemoryUsage;

/// The time that a window took, by stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stages {
    /// Prepared on the host.
    pub prepare: Duration,
    /// Copied to the device.
    pub upload: Duration,
    /// Computed.
    pub compute: Duration,
    /// Copied from the device.
    pub download: Duration,
}

impl AddAssign for Stages {
    fn add_assign(&mut self, other: Self) {
        self.prepare += other.prepare;
        self.upload += other.upload;
        self.compute += other.compute;
        self.download += other.download;
    }
}

/// What a device did in a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Activity {
    /// Windows that it finished.
    pub batches: u64,
    /// The items of them that it answered.
    pub items: u64,
    /// Windows that were split because they did not fit into memory.
    pub split: u64,
    /// Items that did not fit into memory even alone.
    pub too_large: u64,
    /// Windows that went to others because it failed.
    pub failed: u64,
    /// The time of its windows, by stage. Stages of two windows may overlap.
    pub stages: Stages,
    /// From its first window to its last one.
    pub elapsed: Duration,
    /// Its memory usage after its last window.
    pub memory: MemoryUsage,
}

/// From this utilisation on a device counts as well used.
const WELL_USED: f64 = 0.8;

impl Activity {
    pub(crate) fn add(&mut self, items: u64, stages: &Stages, memory: MemoryUsage) {
        self.batches += 1;
        self.items += items;
        self.stages += *stages;
        // A window of which the device received nothing has no memory usage.
        if memory != MemoryUsage::default() {
            self.memory = memory;
        }
    }

    /// The share of the time in which it computed, 0 to 1.
    pub fn utilisation(&self) -> f64 {
        let elapsed = self.elapsed.as_secs_f64();
        if elapsed == 0.0 {
            return 0.0;
        }
        (self.stages.compute.as_secs_f64() / elapsed).min(1.0)
    }

    /// The time in which it computed nothing, if its windows did not overlap.
    pub fn waited(&self) -> Duration {
        self.elapsed.saturating_sub(self.stages.compute)
    }

    /// What it waits for, and what to change; `None` if it is well used, or has finished no window.
    fn bottleneck(&self) -> Option<(&'static str, &'static str)> {
        if self.batches == 0 || self.utilisation() >= WELL_USED {
            return None;
        }
        let Stages {
            prepare,
            upload,
            compute,
            download,
        } = self.stages;
        let copies = upload + download;
        // With two windows or fewer a device cannot be kept busy.
        let is_short = self.batches <= 2 || self.elapsed < compute * 2 && copies < compute;
        Some(if is_short {
            let more = "give it more items at a time, or smaller batches";
            ("a next batch", more)
        } else if prepare >= copies {
            (
                "preparation",
                "give it more host threads, or larger batches",
            )
        } else if upload >= download {
            let longer = "try more programs on the same inputs, or give it longer ones";
            ("uploads", longer)
        } else {
            ("downloads", "ask for verdicts and not for outputs")
        })
    }
}

impl fmt::Display for Activity {
    /// One line: `40% busy, waiting for preparation: give it more host threads, or larger batches`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.0}% busy", self.utilisation() * 100.0)?;
        if let Some((waits_for, advice)) = self.bottleneck() {
            write!(f, ", waiting for {waits_for}: {advice}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_waits_says_for_what() {
        let ms = Duration::from_millis;
        let activity = |prepare, upload, compute, download, elapsed| Activity {
            batches: 10,
            items: 1000,
            stages: Stages {
                prepare: ms(prepare),
                upload: ms(upload),
                compute: ms(compute),
                download: ms(download),
            },
            elapsed: ms(elapsed),
            ..Activity::default()
        };
        let line = |activity: Activity| activity.to_string();
        assert_eq!(
            line(activity(900, 50, 400, 50, 1000)),
            "40% busy, waiting for preparation: give it more host threads, or larger batches"
        );
        assert_eq!(line(activity(10, 10, 900, 10, 1000)), "90% busy");
        assert_eq!(activity(900, 50, 400, 50, 1000).waited(), ms(600));
        // Of two streams both may compute.
        assert_eq!(activity(10, 10, 1100, 10, 1000).waited(), ms(0));
        let upload = activity(10, 700, 300, 20, 1000);
        let waits_for = |activity: Activity| activity.bottleneck().map(|(what, _)| what);
        assert_eq!(waits_for(upload), Some("uploads"));
        let download = activity(10, 20, 300, 700, 1000);
        assert_eq!(waits_for(download), Some("downloads"));
        let few = Activity {
            batches: 1,
            ..activity(500, 20, 300, 20, 900)
        };
        assert_eq!(waits_for(few), Some("a next batch"));
        assert_eq!(waits_for(Activity::default()), None);
        assert_eq!(Activity::default().to_string(), "0% busy");
    }
}
