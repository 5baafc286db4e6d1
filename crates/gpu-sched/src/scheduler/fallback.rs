//! Fallback work: what the host makes since devices did not. It is the host's work as any other: until it is made the
//! host is not ready for more, and what it costs the host is learned.

use std::ops::Range;
use std::time::Duration;

use super::{HOST, Scheduler};
use crate::runs::Mix;
use crate::work::{Fallback, Kind};

/// What comes back is measured with this many items at least, while the host has other work too: a few items
/// that wait behind a large batch would seem to take as long as that.
const MEASURED_TOGETHER: u64 = 256;

/// Items that fell back from a device and that the host has not made yet.
#[derive(Debug, Clone)]
pub(super) struct PendingFallback {
    mix: Mix,
    pub(super) began: Duration,
    /// Seconds that the host is expected to take.
    pub(super) expected: f64,
}

impl PendingFallback {
    pub(super) fn items(&self) -> u64 {
        self.mix.items()
    }
}

/// The fallback work that the host has made since its costs were learned last.
#[derive(Debug, Default)]
pub(super) struct FallbackMade {
    mix: Mix,
    /// When the first of them came back.
    began: Option<Duration>,
}

impl FallbackMade {
    /// What there is to be learned of, with a batch that began then, and when all of it began.
    pub(super) fn with(&mut self, mut mix: Mix, began: Duration) -> (Mix, Duration) {
        let FallbackMade {
            mix: own,
            began: before,
        } = std::mem::take(self);
        mix.join(&own);
        (mix, before.map_or(began, |before| before.min(began)))
    }
}

/// What falls back of a kind, in all.
pub(super) fn of_kind(fallback: &[Fallback], kind: Kind) -> Fallback {
    let mut sum = Fallback {
        kind,
        ..Fallback::default()
    };
    for part in fallback.iter().filter(|part| part.kind == kind) {
        sum.skipped = sum.skipped.saturating_add(part.skipped);
        sum.bailed_out = sum.bailed_out.saturating_add(part.bailed_out);
    }
    sum
}

impl Scheduler {
    /// Takes note of what falls back of a batch.
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

    /// Whether there is fallback work that the host has not made.
    pub fn has_pending_fallback(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Takes note that the host has made, or given up, what fell back of these items.
    pub fn fallback_done(&mut self, now: Duration, items: &Range<u64>) {
        let Some(pending) = self.pending.remove(&items.start) else {
            return;
        };
        let host = &mut self.executors[HOST];
        let made = &mut self.fallback_made;
        made.mix.join(&pending.mix);
        let began = made.began.get_or_insert(pending.began);
        *began = pending.began.min(*began);
        let began = *began;
        let is_idle = host.flights.is_empty() && self.pending.is_empty();
        host.idle_since = now;
        let enough = MEASURED_TOGETHER.max(host.largest);
        if is_idle || made.mix.items() >= enough {
            let since = began.max(host.measured_until);
            host.measured_until = now;
            let (mix, _) = self.fallback_made.with(Mix::default(), began);
            let seconds = now.saturating_sub(since).as_secs_f64();
            self.learn_times(HOST, &mix, seconds, 0.0);
        }
    }

    /// Seconds of the host's that a mix is expected to cost where a device is given it.
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
