//! Which executor is given how much of what is left, so that all end together.
//!
//! A device relieves the host of a part of its items only: those that it leaves come back. So the host's
//! time is `ready + unit x (items - what devices make)`, whichever of the others it is given at once, and
//! the end is that at which what all can make by then makes up all items. Whoever relieves the host of a
//! smaller part has to be given more. Where devices would have to be given more than there is, they are
//! given all, and the host has what comes back: there is nothing better with one device; with several it
//! is an approximation that they then end together, whichever of them leaves less.

/// An executor's side of it, in seconds from now.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Side {
    /// When it is through with what it has, and could have begun more.
    pub(crate) ready: f64,
    /// Seconds an item that it is given.
    pub(crate) unit: f64,
    /// The part of the host's time for an item that is saved where this one is given it.
    pub(crate) relief: f64,
}

impl Side {
    fn per_item(&self) -> f64 {
        self.unit.max(1e-15)
    }

    fn relieves(&self) -> bool {
        self.relief >= USELESS
    }

    /// Whether it leaves some of its items, so that nobody knows before how much comes back.
    pub(crate) fn leaves_some(&self) -> bool {
        (USELESS..ALL).contains(&self.relief)
    }
}

/// Who relieves the host of less than this is given nothing beside the host: every batch costs somebody
/// some microseconds.
const USELESS: f64 = 0.01;

/// Who relieves the host of this much is counted on.
const ALL: f64 = 0.98;

/// The items that each is given, and the time when all is done: those who would begin after the others
/// have ended get nothing. The host is one of the sides, or takes no part.
pub(crate) fn shares(items: f64, sides: &[Side], host: Option<usize>) -> (Vec<f64>, f64) {
    let Some(host) = host else {
        return level(items, sides, |_| true, Side::per_item);
    };
    let (made, end) = level(items, sides, Side::relieves, |side| {
        side.per_item() / side.relief
    });
    let given = |at: usize| match sides[at].relief {
        relief if at != host && relief >= USELESS => made[at] / relief,
        _ => 0.0,
    };
    let mut shares: Vec<_> = (0..sides.len()).map(given).collect();
    let on_devices: f64 = shares.iter().sum();
    if on_devices <= items {
        shares[host] = items - on_devices;
        return (shares, end);
    }
    let devices: Vec<_> = (0..sides.len())
        .filter(|at| *at != host && sides[*at].relieves())
        .collect();
    let of_devices: Vec<_> = devices.iter().map(|at| sides[*at]).collect();
    let (given, end) = level(items, &of_devices, |_| true, Side::per_item);
    shares.fill(0.0);
    let mut fallback_seconds = 0.0;
    for (at, given) in devices.into_iter().zip(given) {
        shares[at] = given;
        fallback_seconds += given * (1.0 - sides[at].relief);
    }
    let end_of_host = sides[host].ready + fallback_seconds * sides[host].unit;
    (shares, end.max(end_of_host))
}

/// Shares of those that take part, with so many seconds an item, with which they end together, and when.
fn level(
    items: f64,
    sides: &[Side],
    takes_part: impl Fn(&Side) -> bool,
    unit: impl Fn(&Side) -> f64,
) -> (Vec<f64>, f64) {
    let mut order: Vec<usize> = (0..sides.len()).collect();
    order.retain(|at| takes_part(&sides[*at]));
    order.sort_by(|a, b| sides[*a].ready.total_cmp(&sides[*b].ready));
    let (mut rate, mut begun, mut end) = (0.0, 0.0, f64::INFINITY);
    for at in &order {
        let side = &sides[*at];
        if side.ready >= end {
            break;
        }
        let speed = unit(side).recip();
        rate += speed;
        begun += side.ready * speed;
        end = (items + begun) / rate;
    }
    let mut shares = vec![0.0; sides.len()];
    for at in order {
        shares[at] = ((end - sides[at].ready) / unit(&sides[at])).max(0.0);
    }
    (shares, end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side((ready, unit): (f64, f64), relief: f64) -> Side {
        Side {
            ready,
            unit,
            relief,
        }
    }

    fn of(items: f64, sides: &[(f64, f64)]) -> Vec<f64> {
        let sides: Vec<_> = sides.iter().map(|times| side(*times, 1.0)).collect();
        let (shares, end) = shares(items, &sides, Some(0));
        let sum: f64 = shares.iter().sum();
        assert!((sum - items).abs() < 1e-6, "{shares:?}");
        for (share, side) in shares.iter().zip(&sides) {
            assert!(*share < 1e-9 || (side.ready + share * side.unit - end).abs() < 1e-9);
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

    /// When the host and a device end that is given so many of the items.
    fn end(items: f64, host: Side, device: Side, given: f64) -> f64 {
        let on_host = host.ready + host.unit * (items - given * device.relief);
        on_host.max(device.ready + device.unit * given)
    }

    #[test]
    fn no_other_share_of_a_device_that_leaves_items_ends_sooner() {
        for relief in [1.0, 0.65, 0.35, 0.1, 0.01] {
            for unit in [0.01, 0.3, 1.0, 2.0, 100.0] {
                for ready in [0.0, 5.0, 50.0, 300.0] {
                    // What is skipped takes the device no time.
                    let (host, device) =
                        (side((1.0, 1.0), 1.0), side((ready, unit * relief), relief));
                    let (shares, at) = shares(100.0, &[host, device], Some(0));
                    let sum: f64 = shares.iter().sum();
                    assert!((sum - 100.0).abs() < 1e-6, "{shares:?}");
                    let found = match shares[1] {
                        // It is not waited for.
                        0.0 => end(100.0, host, side((0.0, 0.0), relief), 0.0),
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
        let (host, device) = (side((0.0, 1.0), 1.0), side((0.0, 0.0), 0.0));
        assert_eq!(shares(9.0, &[host, device], Some(0)), (vec![9.0, 0.0], 9.0));
        let (alone, _) = shares(9.0, &[device], None);
        assert!((alone[0] - 9.0).abs() < 1e-6);
    }

    #[test]
    fn who_leaves_less_is_given_more_of_what_counts() {
        let host = side((0.0, 1.0), 1.0);
        let (all, half) = (side((0.0, 10.0), 1.0), side((0.0, 5.0), 0.5));
        let (shares, end) = shares(120.0, &[host, all, half], Some(0));
        // Each device makes a tenth of what the host does by then, of 10 items and of 20; 10 come back.
        let expected = [90.0, 10.0, 20.0];
        let is_near = |(a, b): (&f64, f64)| (a - b).abs() < 1e-9;
        assert!(shares.iter().zip(expected).all(is_near), "{shares:?}");
        assert!((end - 100.0).abs() < 1e-9);
    }
}
