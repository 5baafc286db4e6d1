//! What the scheduler learns from a finished batch: the cost of its items, which of them fell back, and how large the
//! next batches may be.

use std::time::Duration;

use super::fallback::of_kind;
use super::{HOST, InFlight, Made, Scheduler};
use crate::cost::Measured;
use crate::runs::Mix;
use crate::work::Fallback;

impl Scheduler {
    /// The expected seconds for a mix as one batch of which nothing is skipped, and the overhead included in them.
    pub(super) fn expected(&self, executor: usize, mix: &Mix) -> (f64, f64) {
        let costs = &self.executors[executor].costs;
        let (mut overhead, mut rest): (f64, f64) = (0.0, 0.0);
        for (kind, items, bytes) in mix.kinds() {
            let cost = costs.of(kind);
            overhead = overhead.max(cost.overhead);
            rest += cost.seconds(items, bytes) - cost.overhead;
        }
        (overhead + rest, overhead)
    }

    /// Learns from a finished batch. Costs were last updated at `until`.
    pub(super) fn learn_from_batch(
        &mut self,
        now: Duration,
        flight: &InFlight,
        made: &Made,
        until: Duration,
    ) {
        let executor = flight.executor;
        let mix = self.items.mix(&flight.items);
        let (began, tried) = if executor == HOST {
            let (mix, began) = self.finished_fallback.with(mix.clone(), flight.began);
            (began, mix)
        } else {
            let skipped = |kind| of_kind(&made.fallback, kind).skipped;
            let tried = mix.part(|kind, items| items.saturating_sub(skipped(kind)));
            (flight.began, tried)
        };
        let since = began.max(until);
        let seconds = now.saturating_sub(since).as_secs_f64();
        let copies = (made.stages.upload + made.stages.download).as_secs_f64();
        self.learn_times(executor, &tried, seconds, copies);
        let mut count = mix.items();
        if executor != HOST {
            self.learn_fallback(executor, &mix, &made.fallback);
            self.begin_fallback(now, flight.items.start, &mix, &made.fallback);
            let pending = self.pending.get(&flight.items.start);
            count -= pending.map_or(0, |pending| pending.mix.items());
        }
        let state = &mut self.executors[executor];
        state.standing.succeeded();
        state.activity.add(count, &made.stages, made.memory);
        if let Some(began) = state.began {
            state.activity.elapsed = now.saturating_sub(began);
        }
        let tried = tried.items().min(mix.items());
        state.record_batch(mix.items(), tried, made, seconds);
    }

    /// Learns which part of a mix fell back.
    fn learn_fallback(&mut self, device: usize, mix: &Mix, fallback: &[Fallback]) {
        let costs = &mut self.executors[device].costs;
        for (kind, items, _) in mix.kinds() {
            costs.learn_fallback(kind, items as u64, &of_kind(fallback, kind));
        }
    }

    /// Learns the cost of a mix that was run as one batch, or tried. The time is divided among several kinds in
    /// proportion to their expected times.
    pub(super) fn learn_times(&mut self, executor: usize, mix: &Mix, seconds: f64, copies: f64) {
        let (expected, overhead) = self.expected(executor, mix);
        let sum = expected - overhead;
        // Each kind alone would have had the overhead too.
        let overhead = overhead.min(seconds / 2.0);
        let is_alone = mix.kinds().count() == 1;
        let costs = &mut self.executors[executor].costs;
        let shares: Vec<_> = mix
            .kinds()
            .map(|(kind, items, bytes)| {
                let cost = costs.of(kind);
                let part = cost.seconds(items, bytes) - cost.overhead;
                (kind, items, bytes, if sum > 0.0 { part / sum } else { 1.0 })
            })
            .collect();
        for (kind, items, bytes, share) in shares {
            let own = if is_alone {
                seconds
            } else {
                overhead + (seconds - overhead) * share
            };
            let measured = Measured {
                items,
                bytes,
                seconds: own,
                copies: copies * share,
            };
            costs.learn(kind, measured);
        }
    }
}
