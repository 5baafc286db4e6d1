//! Which executor makes how much of what is left, so that all end together.

/// An executor's side of it, in seconds from now.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Side {
    /// When it is through with what it has, and could have begun more.
    pub(crate) ready: f64,
    /// Seconds an item.
    pub(crate) unit: f64,
}

/// The share of each in `items` and the time when all is done: those who would begin after the others
/// have ended get nothing.
pub(crate) fn shares(items: f64, sides: &[Side]) -> (Vec<f64>, f64) {
    let mut order: Vec<usize> = (0..sides.len()).collect();
    order.sort_by(|a, b| sides[*a].ready.total_cmp(&sides[*b].ready));
    let (mut rate, mut begun, mut end) = (0.0, 0.0, f64::INFINITY);
    for at in order {
        let side = sides[at];
        if side.ready >= end {
            break;
        }
        let speed = side.unit.max(1e-15).recip();
        rate += speed;
        begun += side.ready * speed;
        end = (items + begun) / rate;
    }
    let share = |side: &Side| ((end - side.ready) / side.unit.max(1e-15)).max(0.0);
    (sides.iter().map(share).collect(), end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(items: f64, sides: &[(f64, f64)]) -> Vec<f64> {
        let sides: Vec<_> = sides
            .iter()
            .map(|(ready, unit)| Side {
                ready: *ready,
                unit: *unit,
            })
            .collect();
        let (shares, end) = shares(items, &sides);
        let sum: f64 = shares.iter().sum();
        assert!((sum - items).abs() < 1e-6, "{shares:?}");
        for (share, side) in shares.iter().zip(&sides) {
            assert!(*share == 0.0 || (side.ready + share * side.unit - end).abs() < 1e-9);
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
}
