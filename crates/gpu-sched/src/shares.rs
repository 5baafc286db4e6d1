//! How to share the remaining items among executors so that all finish together.
//!
//! A device relieves the host of only a part of the items that it is given: the rest falls back. So the host's time
//! is `ready + unit x (items - what devices finish)`, and the common end is the time by which all executors together
//! can finish all items. A device that relieves the host of a smaller part has to be given more items. If devices
//! would have to be given more items than there are, they are given all, and the host does the fallback work. With
//! one device that is optimal; with several it is an approximation that they then finish together, however much each
//! leaves to the host.

/// An executor's capacity, in seconds from now.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Capacity {
    /// When it has finished its batches and paid the overhead of the next one.
    pub(crate) ready: f64,
    /// Seconds per item that it is given.
    pub(crate) unit: f64,
    /// The part of the host's time for an item that is saved if this executor gets it.
    pub(crate) relief: f64,
}

impl Capacity {
    fn per_item(&self) -> f64 {
        self.unit.max(1e-15)
    }

    fn relieves(&self) -> bool {
        self.relief >= MIN_RELIEF
    }

    /// Whether some of its items fall back, so that the amount of fallback work is uncertain.
    pub(crate) fn leaves_some(&self) -> bool {
        (MIN_RELIEF..FULL_RELIEF).contains(&self.relief)
    }
}

/// A device that relieves the host of less than this gets nothing if the host takes part: every batch costs the host
/// some microseconds.
const MIN_RELIEF: f64 = 0.01;

/// From this relief on, the fallback work of a device is negligible.
const FULL_RELIEF: f64 = 0.98;

/// The items for each executor, and the time when everything is finished. An executor that could begin only after the
/// others have finished gets nothing. `host` is the index of the host, if it takes part.
pub(crate) fn shares(items: f64, capacities: &[Capacity], host: Option<usize>) -> (Vec<f64>, f64) {
    let Some(host) = host else {
        return water_fill(items, capacities, |_| true, Capacity::per_item);
    };
    let (saved, end) = water_fill(items, capacities, Capacity::relieves, |capacity| {
        capacity.per_item() / capacity.relief
    });
    let given = |at: usize| match capacities[at].relief {
        relief if at != host && relief >= MIN_RELIEF => saved[at] / relief,
        _ => 0.0,
    };
    let mut shares: Vec<_> = (0..capacities.len()).map(given).collect();
    let on_devices: f64 = shares.iter().sum();
    if on_devices <= items {
        shares[host] = items - on_devices;
        return (shares, end);
    }
    let devices: Vec<_> = (0..capacities.len())
        .filter(|at| *at != host && capacities[*at].relieves())
        .collect();
    let of_devices: Vec<_> = devices.iter().map(|at| capacities[*at]).collect();
    let (given, end) = water_fill(items, &of_devices, |_| true, Capacity::per_item);
    shares.fill(0.0);
    let mut fallback_seconds = 0.0;
    for (at, given) in devices.into_iter().zip(given) {
        shares[at] = given;
        fallback_seconds += given * (1.0 - capacities[at].relief);
    }
    let end_of_host = capacities[host].ready + fallback_seconds * capacities[host].unit;
    (shares, end.max(end_of_host))
}

/// Water-filling: the shares of those that take part, so that they finish together, and the time when they do. `unit`
/// gives the seconds per item.
fn water_fill(
    items: f64,
    capacities: &[Capacity],
    takes_part: impl Fn(&Capacity) -> bool,
    unit: impl Fn(&Capacity) -> f64,
) -> (Vec<f64>, f64) {
    let mut order: Vec<usize> = (0..capacities.len()).collect();
    order.retain(|at| takes_part(&capacities[*at]));
    order.sort_by(|a, b| capacities[*a].ready.total_cmp(&capacities[*b].ready));
    let (mut rate, mut begun, mut end) = (0.0, 0.0, f64::INFINITY);
    for at in &order {
        let capacity = &capacities[*at];
        if capacity.ready >= end {
            break;
        }
        let speed = unit(capacity).recip();
        rate += speed;
        begun += capacity.ready * speed;
        end = (items + begun) / rate;
    }
    let mut shares = vec![0.0; capacities.len()];
    for at in order {
        shares[at] = ((end - capacities[at].ready) / unit(&capacities[at])).max(0.0);
    }
    (shares, end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capacity((ready, unit): (f64, f64), relief: f64) -> Capacity {
        Capacity {
            ready,
            unit,
            relief,
        }
    }

    fn of(items: f64, capacities: &[(f64, f64)]) -> Vec<f64> {
        let capacities: Vec<_> = capacities
            .iter()
            .map(|times| capacity(*times, 1.0))
            .collect();
        let (shares, end) = shares(items, &capacities, Some(0));
        let sum: f64 = shares.iter().sum();
        assert!((sum - items).abs() < 1e-6, "{shares:?}");
        for (share, capacity) in shares.iter().zip(&capacities) {
            assert!(*share < 1e-9 || (capacity.ready + share * capacity.unit - end).abs() < 1e-9);
        }
        shares.into_iter().map(f64::round).collect()
    }

    #[test]
    fn all_end_together() {
        assert_eq!(of(100.0, &[(0.0, 1.0), (0.0, 1.0)]), [50.0, 50.0]);
        assert_eq!(of(100.0, &[(0.0, 1.0), (0.0, 4.0)]), [80.0, 20.0]);
        assert_eq!(of(100.0, &[(50.0, 1.0), (0.0, 1.0)]), [25.0, 75.0]);
        // One begins when the other has ended.
        assert_eq!(of(10.0, &[(50.0, 1.0), (0.0, 1.0)]), [0.0, 10.0]);
        assert_eq!(of(7.0, &[(3.0, 2.0)]), [7.0]);
    }

    /// When host and device end, if the device is given this many items.
    fn end(items: f64, host: Capacity, device: Capacity, given: f64) -> f64 {
        let on_host = host.ready + host.unit * (items - given * device.relief);
        on_host.max(device.ready + device.unit * given)
    }

    #[test]
    fn no_other_share_of_a_device_that_leaves_items_ends_sooner() {
        for relief in [1.0, 0.65, 0.35, 0.1, 0.01] {
            for unit in [0.01, 0.3, 1.0, 2.0, 100.0] {
                for ready in [0.0, 5.0, 50.0, 300.0] {
                    // What is skipped takes the device no time.
                    let (host, device) = (
                        capacity((1.0, 1.0), 1.0),
                        capacity((ready, unit * relief), relief),
                    );
                    let (shares, at) = shares(100.0, &[host, device], Some(0));
                    let sum: f64 = shares.iter().sum();
                    assert!((sum - 100.0).abs() < 1e-6, "{shares:?}");
                    let found = match shares[1] {
                        // Nobody waits for a device without a share.
                        0.0 => end(100.0, host, capacity((0.0, 0.0), relief), 0.0),
                        share => end(100.0, host, device, share),
                    };
                    assert!((found - at).abs() < 1e-6, "{shares:?} {found} {at}");
                    let best = (0..=1000)
                        .map(|given| end(100.0, host, device, f64::from(given) / 10.0))
                        .fold(101.0, f64::min);
                    assert!(found <= best + 1e-6, "{device:?}: {found} {best}");
                }
            }
        }
    }

    #[test]
    fn who_leaves_all_is_given_nothing_unless_there_is_nobody_else() {
        let (host, device) = (capacity((0.0, 1.0), 1.0), capacity((0.0, 0.0), 0.0));
        assert_eq!(shares(9.0, &[host, device], Some(0)), (vec![9.0, 0.0], 9.0));
        let (alone, _) = shares(9.0, &[device], None);
        assert!((alone[0] - 9.0).abs() < 1e-6);
    }

    #[test]
    fn who_leaves_less_is_given_more_of_what_counts() {
        let host = capacity((0.0, 1.0), 1.0);
        let (all, half) = (capacity((0.0, 10.0), 1.0), capacity((0.0, 5.0), 0.5));
        let (shares, end) = shares(120.0, &[host, all, half], Some(0));
        // By then the host does 100 items' worth: the devices finish 10 of 10 and 10 of 20 items, and 10 come back.
        let expected = [90.0, 10.0, 20.0];
        let is_near = |(a, b): (&f64, f64)| (a - b).abs() < 1e-9;
        assert!(shares.iter().zip(expected).all(is_near), "{shares:?}");
        assert!((end - 100.0).abs() < 1e-9);
    }
}
