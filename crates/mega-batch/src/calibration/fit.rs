//! [`fit`]: the costs that agree best with batches of several sizes.
//!
//! [`Costs`](gpu_sched::Costs) learns from one batch after the other and begins anew where it is surprised
//! again and again, as it would be by sizes that grow eightfold. Here all batches are known at once.

use gpu_sched::{Cost, Measured};

/// Proportions of what was only measured in one size: seconds a batch and an item.
const GUESS: (f64, f64) = (50e-6, 5e-6);

/// What is left for the batch itself at least, however long copies are said to take.
const LEAST: f64 = 0.05;

/// Overhead, bandwidth and unit with the least squares of relative errors, none of them negative;
/// nothing without a batch that took time.
pub(super) fn fit(batches: &[Measured]) -> Option<Cost> {
    let (mut bytes, mut copies) = (0.0, 0.0);
    for batch in batches.iter().filter(|batch| batch.copies > 0.0) {
        bytes += batch.bytes;
        copies += batch.copies.min(batch.seconds * (1.0 - LEAST));
    }
    let bandwidth = if bytes > 0.0 {
        bytes / copies
    } else {
        f64::INFINITY
    };

    // Sums over `(items, seconds)`, each weighted by the square of the seconds.
    let (mut w, mut wx, mut wy, mut wxx, mut wxy) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for batch in batches.iter().filter(|batch| batch.seconds > 0.0) {
        let (x, y) = (batch.items, batch.seconds - batch.bytes / bandwidth);
        let y = y.max(batch.seconds * LEAST);
        let weight = (y * y).recip();
        w += weight;
        wx += weight * x;
        wy += weight * y;
        wxx += weight * x * x;
        wxy += weight * x * y;
    }
    if w == 0.0 {
        return None;
    }
    let determinant = w * wxx - wx * wx;
    // All of one size, but for what rounding leaves.
    let (overhead, unit) = if determinant <= 1e-9 * w * wxx {
        let (overhead, unit) = GUESS;
        let guessed = overhead * overhead * w + 2.0 * overhead * unit * wx + unit * unit * wxx;
        let ratio = (overhead * wy + unit * wxy) / guessed;
        (overhead * ratio, unit * ratio)
    } else {
        let unit = (w * wxy - wx * wy) / determinant;
        let overhead = (wy - unit * wx) / w;
        if unit < 0.0 {
            (wy / w, 0.0)
        } else if overhead < 0.0 {
            (0.0, wxy / wxx)
        } else {
            (overhead, unit)
        }
    };
    let cost = Cost {
        overhead,
        bandwidth,
        unit,
    };
    cost.is_sound().then_some(cost)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(items: f64, seconds: f64) -> Measured {
        Measured {
            items,
            bytes: 0.0,
            seconds,
            copies: 0.0,
        }
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * b.abs()
    }

    const SIZES: [f64; 5] = [1.0, 8.0, 64.0, 512.0, 4096.0];

    #[test]
    fn a_line_is_found_whatever_the_sizes() {
        for (overhead, unit) in [(1e-4, 1e-6), (1e-6, 1e-3), (0.1, 1e-9)] {
            for count in 2..=SIZES.len() {
                let batches = SIZES[..count].iter();
                let line = |&items: &f64| batch(items, overhead + items * unit);
                let cost = fit(&batches.map(line).collect::<Vec<_>>()).unwrap();
                for items in [1.0, 7.0, 4096.0] {
                    let ratio = cost.seconds(items, 0.0) / (overhead + items * unit);
                    assert!((ratio - 1.0).abs() < 1e-6, "{cost:?}");
                }
                assert!(cost.bandwidth.is_infinite());
            }
        }
    }

    #[test]
    fn copies_are_told_from_computing() {
        let copied = SIZES.map(|items| {
            let (bytes, copies) = (items * 1000.0, items * 1000.0 / 4e9);
            Measured {
                items,
                bytes,
                seconds: 1e-4 + copies + items * 1e-6,
                copies,
            }
        });
        let cost = fit(&copied).unwrap();
        assert!(near(cost.bandwidth, 4e9), "{cost:?}");
        assert!((cost.unit / 1e-6 - 1.0).abs() < 1e-6, "{cost:?}");
    }

    #[test]
    fn one_size_scales_the_proportions_and_none_gives_nothing() {
        let cost = fit(&[batch(10.0, 2e-4), batch(10.0, 2e-4)]).unwrap();
        assert!(
            near(cost.overhead, 1e-4) && near(cost.unit, 1e-5),
            "{cost:?}"
        );
        assert_eq!(fit(&[]), None);
        assert_eq!(fit(&[batch(1.0, 0.0)]), None);
    }

    #[test]
    fn nothing_is_negative() {
        // Larger batches that take less time, and more than in proportion.
        let falling = fit(&[batch(1.0, 1.0), batch(100.0, 0.5)]).unwrap();
        assert!(falling.unit == 0.0 && falling.overhead > 0.5, "{falling:?}");
        let rising = fit(&[batch(1.0, 1e-6), batch(8.0, 1e-4), batch(64.0, 1e-2)]).unwrap();
        assert!(rising.overhead == 0.0 && rising.unit > 0.0, "{rising:?}");
        // Copies that are said to take longer than all of it.
        let odd = Measured {
            bytes: 1e6,
            copies: 5.0,
            ..batch(8.0, 1.0)
        };
        assert!(fit(&[odd]).unwrap().is_sound());
    }

    #[test]
    fn no_batch_is_forgotten_where_sizes_grow_fast() {
        // Steps that are far from any line: small ones must not come out many times too long.
        let times = [6e-6, 24e-6, 40e-6, 170e-6, 2e-3];
        let batches: Vec<_> = SIZES.iter().zip(times).map(|(x, y)| batch(*x, y)).collect();
        let cost = fit(&batches).unwrap();
        for batch in batches {
            let ratio = cost.seconds(batch.items, 0.0) / batch.seconds;
            assert!((0.2..5.0).contains(&ratio), "{ratio} for {batch:?}");
        }
    }
}
