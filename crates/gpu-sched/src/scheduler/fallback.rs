//! Fallback work: what the host evaluates because devices did not. It counts as the host's work: the host is not
//! ready for more until it is finished, and its cost is learned.

use std::ops::Range;
use std::time::Duration;

use super::{HOST, Scheduler};
use crate::runs::Mix;
use crate::work::{Fallback, Kind};

/// While the host has other work too, fallback work is measured in groups of at least this many items: a few items
/// that wait behind a large batch would seem to take as long as that.
const MEASURED_TOGETHER: u64 = 256;

/// Items that fell back from a device and that the host has not evaluated yet.
#[derive(Debug, Clone)]
pub(super) struct PendingFallback {
    pub(super) mix: Mix,
    pub(super) began: Duration,
    /// Seconds that the host is expected to take.
    pub(super) expected: f64,
}

/// The fallback work that the host has finished since its costs were last updated.
#[derive(Debug, Default)]
pub(super) struct FinishedFallback {
    mix: Mix,
    /// When the first of them came back.
    began: Option<Duration>,
}

impl FinishedFallback {
    /// Takes all items to learn from, joined with a batch that began at `began`, and the time when the first of all
    /// these began.
    pub(super) fn with(&mut self, mut mix: Mix, began: Duration) -> (Mix, Duration) {
        let FinishedFallback {
            mix: own,
            began: before,
        } = std::mem::take(self);
        mix.join(&own);
        (mix, before.map_or(began, |before| before.min(began)))
    }
}

/// What falls back of one kind.
pub(super) fn of_kind(fallback: &[Fallback], kind: Kind) -> Fallback {
    let mut kinds = fallback.iter();
    let of_kind = kinds.find(|of_kind| of_kind.kind == kind);
    of_kind.copied().unwrap_or_default()
}

impl Scheduler {
    /// Records which items of a batch fall back.
    pub(super) fn begin_fallback(
        &mut self,
        now: Duration,
        first: u64,
        mix: &Mix,
        fallback: &[Fallback],
    ) {
        let mix = mix.part(|kind, _| {
            let of_kind = of_kind(fallback, kind);
            of_kind.skipped.saturating_add(of_kind.bailed_out)
        });
        if mix.items() > 0 {
            let (expected, _) = self.expected(HOST, &mix);
            let pending = PendingFallback {
                mix,
                began: now,
                expected,
            };
            self.pending.insert(first, pending);
        }
    }

    /// Records that the host has evaluated, or given up, the items of this range that fell back.
    pub fn fallback_done(&mut self, now: Duration, items: &Range<u64>) {
        let Some(pending) = self.pending.remove(&items.start) else {
            return;
        };
        let host = &mut self.executors[HOST];
        let made = &mut self.finished_fallback;
        made.mix.join(&pending.mix);
        let began = made.began.get_or_insert(pending.began);
        *began = pending.began.min(*began);
        let began = *began;
        let is_idle = host.in_flight.is_empty() && self.pending.is_empty();
        host.idle_since = now;
        let enough = MEASURED_TOGETHER.max(host.largest);
        if is_idle || made.mix.items() >= enough {
            let since = began.max(host.measured_until);
            host.measured_until = now;
            let (mix, _) = self.finished_fallback.with(Mix::default(), began);
            let seconds = now.saturating_sub(since).as_secs_f64();
            self.learn_times(HOST, &mix, seconds, 0.0);
        }
    }

    /// Seconds of host time that a mix is expected to cost in fallback work if it is given to a device.
    pub(super) fn fallback_seconds(&self, device: usize, mix: &Mix) -> f64 {
        let (host, costs) = (&self.executors[HOST].costs, &self.executors[device].costs);
        let kinds = mix.kinds();
        kinds
            .map(|(kind, items, bytes)| {
                let cost = host.of(kind);
                (cost.seconds(items, bytes) - cost.overhead)
                    * (1.0 - costs.fallback_of(kind).made())
            })
            .sum()
    }
}
