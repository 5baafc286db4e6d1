//! What the host makes since devices have left it, which is its work as any other: until it is made the host
//! is not ready for more, and what it costs the host is learned.

use std::ops::Range;
use std::time::Duration;

use super::{HOST, Scheduler};
use crate::runs::Mix;
use crate::work::{Kind, Left};

/// What comes back is measured with this many items at least, while the host has other work too: a few items
/// that wait behind a large batch would seem to take as long as that.
const MEASURED_TOGETHER: u64 = 256;

/// Items that a device has left, and the host has not made.
#[derive(Debug, Clone)]
pub(super) struct Owed {
    mix: Mix,
    pub(super) began: Duration,
    /// Seconds that the host is expected to take.
    pub(super) expected: f64,
}

impl Owed {
    pub(super) fn items(&self) -> u64 {
        self.mix.items()
    }
}

/// What the host made for devices since its costs were learned last.
#[derive(Debug, Default)]
pub(super) struct Followed {
    mix: Mix,
    /// When the first of them came back.
    began: Option<Duration>,
}

impl Followed {
    /// What there is to be learned of, with a batch that began then, and when all of it began.
    pub(super) fn with(&mut self, mut mix: Mix, began: Duration) -> (Mix, Duration) {
        let Followed {
            mix: own,
            began: before,
        } = std::mem::take(self);
        mix.join(&own);
        (mix, before.map_or(began, |before| before.min(began)))
    }
}

/// What is told to be left of a kind, in all.
pub(super) fn of_kind(left: &[Left], kind: Kind) -> Left {
    let mut sum = Left {
        kind,
        ..Left::default()
    };
    for left in left.iter().filter(|left| left.kind == kind) {
        sum.skipped = sum.skipped.saturating_add(left.skipped);
        sum.bailed_out = sum.bailed_out.saturating_add(left.bailed_out);
    }
    sum
}

impl Scheduler {
    /// Takes note of what a device has left of a batch.
    pub(super) fn owe(&mut self, now: Duration, first: u64, mix: &Mix, left: &[Left]) {
        let mix = mix.part(|kind, _| {
            let left = of_kind(left, kind);
            left.skipped.saturating_add(left.bailed_out)
        });
        if mix.items() > 0 {
            let (expected, _) = self.expected(HOST, &mix);
            let owed = Owed {
                mix,
                began: now,
                expected,
            };
            self.owed.insert(first, owed);
        }
    }

    /// Whether devices have left items that the host has not made.
    pub fn owes(&self) -> bool {
        !self.owed.is_empty()
    }

    /// Takes note that the host has made, or given up, what a device left of these items.
    pub fn followed(&mut self, now: Duration, items: &Range<u64>) {
        let Some(owed) = self.owed.remove(&items.start) else {
            return;
        };
        let host = &mut self.executors[HOST];
        let followed = &mut self.followed;
        followed.mix.join(&owed.mix);
        let began = followed.began.get_or_insert(owed.began);
        *began = owed.began.min(*began);
        let began = *began;
        let is_idle = host.flights.is_empty() && self.owed.is_empty();
        host.idle_since = now;
        let enough = MEASURED_TOGETHER.max(host.largest);
        if is_idle || followed.mix.items() >= enough {
            let since = began.max(host.measured_until);
            host.measured_until = now;
            let (mix, _) = self.followed.with(Mix::default(), began);
            let seconds = now.saturating_sub(since).as_secs_f64();
            self.learn_times(HOST, &mix, seconds, 0.0);
        }
    }

    /// Seconds of the host's that a mix is expected to cost where a device is given it.
    pub(super) fn comes_back(&self, device: usize, mix: &Mix) -> f64 {
        let (host, costs) = (&self.executors[HOST].costs, &self.executors[device].costs);
        let kinds = mix.kinds();
        kinds
            .map(|(kind, items, bytes)| {
                let cost = host.of(kind);
                (cost.seconds(items, bytes) - cost.overhead) * (1.0 - costs.left_of(kind).made())
            })
            .sum()
    }
}
