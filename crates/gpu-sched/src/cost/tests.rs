use super::*;

const KIND: Kind = Kind(3);

fn guess(overhead: f64, unit: f64) -> Costs {
    Costs::guessed(Cost {
        overhead,
        bandwidth: f64::INFINITY,
        unit,
    })
}

fn learn(costs: &mut Costs, items: f64, seconds: f64) {
    costs.learn(
        KIND,
        Measured {
            items,
            bytes: 0.0,
            seconds,
            copies: 0.0,
        },
    );
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-6 * b.abs().max(1e-9)
}

#[test]
fn batches_of_different_sizes_show_overhead_and_unit() {
    let mut costs = guess(1.0, 1e-9);
    for items in [1.0, 10.0, 100.0, 1000.0] {
        learn(&mut costs, items, 1e-4 + items * 2e-6);
    }
    let cost = costs.of(KIND);
    assert!(
        near(cost.overhead, 1e-4) && near(cost.unit, 2e-6),
        "{cost:?}"
    );
    assert_eq!(costs.batches(KIND), 4);
}

#[test]
fn batches_of_one_size_scale_the_guess() {
    let mut costs = guess(1e-3, 1e-5);
    for _ in 0..3 {
        learn(&mut costs, 100.0, 4e-3);
    }
    let cost = costs.of(KIND);
    assert!(
        near(cost.overhead, 2e-3) && near(cost.unit, 2e-5),
        "{cost:?}"
    );
}

#[test]
fn batches_that_are_known_at_once_are_fitted_whatever_their_order() {
    let batch = |items: f64| Measured {
        items,
        bytes: items * 1000.0,
        seconds: 1e-4 + items * 3e-6,
        copies: items * 1e-6,
    };
    let sizes = [1.0, 8.0, 64.0, 512.0, 4096.0].map(batch);
    let guess = guess(1.0, 1.0).of(KIND);
    for batches in [sizes.to_vec(), sizes.into_iter().rev().collect()] {
        let cost = Cost::fit(guess, &batches).unwrap();
        assert!(near(cost.overhead, 1e-4), "{cost:?}");
        assert!(
            near(cost.unit, 2e-6) && near(cost.bandwidth, 1e9),
            "{cost:?}"
        );
    }
    assert_eq!(Cost::fit(guess, &[]), None);
}

#[test]
fn costs_that_change_are_followed() {
    let mut costs = guess(1e-4, 1e-6);
    for unit in [1e-6, 5e-6] {
        for round in 0..60 {
            let items = f64::from(10 + round * 37 % 500);
            learn(&mut costs, items, 1e-4 + items * unit);
        }
        let cost = costs.of(KIND);
        assert!((cost.unit / unit - 1.0).abs() < 0.1, "{cost:?} for {unit}");
    }
    assert!(costs.error(KIND) < 0.1);
}

#[test]
fn copies_are_told_from_computing() {
    let mut costs = Costs::guessed(Cost {
        overhead: 1e-5,
        bandwidth: 1e9,
        unit: 1e-6,
    });
    for items in [10.0, 100.0, 1000.0, 50.0] {
        let (bytes, copies) = (items * 1000.0, items * 1000.0 / 4e9);
        let seconds = 1e-5 + copies + items * 1e-6;
        let measured = Measured {
            items,
            bytes,
            seconds,
            copies,
        };
        costs.learn(KIND, measured);
    }
    let cost = costs.of(KIND);
    assert!(
        near(cost.bandwidth, 4e9) && near(cost.unit, 1e-6),
        "{cost:?}"
    );
}

#[test]
fn what_is_measured_of_another_kind_is_the_first_guess() {
    let mut costs = guess(1.0, 1.0);
    assert!(!costs.is_measured(KIND) && near(costs.error(KIND), 1.0));
    learn(&mut costs, 1.0, 0.5);
    assert!(costs.is_measured(KIND) && !costs.is_measured(Kind(9)));
    assert_eq!(costs.of(Kind(9)), costs.of(KIND));
    assert_eq!(costs.of(Kind(0)), costs.of(KIND));
}

#[test]
fn costs_are_kept_between_runs() {
    let mut costs = guess(1e-3, 1e-5);
    learn(&mut costs, 100.0, 4e-3);
    let text = serde_json::to_string(&costs.remember()).unwrap();
    let remembered: Remembered = serde_json::from_str(&text).unwrap();
    let mut later = guess(1.0, 1.0);
    later.recall(&remembered);
    assert_eq!(later.of(KIND), costs.of(KIND));
    assert!(later.is_measured(KIND) && later.batches(KIND) == 0);
    assert_eq!(later.remember(), remembered);
    // An invalid cost is ignored.
    let broken = Cost {
        overhead: -1.0,
        ..costs.of(KIND)
    };
    let mut later = guess(1.0, 1.0);
    let parts = FallbackShares::default();
    later.recall(&Remembered([(KIND, (broken, parts))].into()));
    let wrong = FallbackShares {
        skipped: 2.0,
        ..parts
    };
    later.recall(&Remembered([(KIND, (costs.of(KIND), wrong))].into()));
    assert!(!later.is_measured(KIND));
}

#[test]
fn what_is_left_says_nothing_of_time() {
    let mut costs = guess(1e-3, 1e-5);
    let left = Fallback {
        kind: KIND,
        skipped: 10,
        bailed_out: 0,
    };
    for _ in 0..500 {
        costs.learn_fallback(KIND, 10, &left);
    }
    assert_eq!(costs.of(KIND), guess(1e-3, 1e-5).of(KIND));
    assert!(costs.fallback_of(KIND).made() < 0.01 && near(costs.error(KIND), 1.0));
    assert_eq!(costs.batches(KIND), 500);
    // Nothing else is known of a kind without batches, nor in a later run.
    assert_eq!(costs.fallback_of(Kind(9)), costs.fallback_of(KIND));
    let mut later = guess(1.0, 1.0);
    later.recall(&costs.remember());
    assert!(later.fallback_of(KIND).made() < 0.01);
    // More items than the batch had cannot fall back.
    let left = Fallback {
        bailed_out: u64::MAX,
        ..left
    };
    costs.learn_fallback(KIND, 20, &left);
    assert!(costs.fallback_of(KIND).is_sound());
}

#[test]
fn what_cannot_be_measured_teaches_nothing() {
    let mut costs = guess(1e-3, 1e-5);
    let before = costs.clone();
    learn(&mut costs, 0.0, 1.0);
    learn(&mut costs, 1.0, 0.0);
    learn(&mut costs, 1.0, f64::NAN);
    assert_eq!(costs, before);
}

fn batch(items: f64, seconds: f64) -> Measured {
    Measured {
        items,
        bytes: 0.0,
        seconds,
        copies: 0.0,
    }
}

fn fit_all(batches: &[Measured]) -> Option<Cost> {
    let guess = Cost {
        overhead: 50e-6,
        bandwidth: f64::INFINITY,
        unit: 5e-6,
    };
    Cost::fit(guess, batches)
}

#[test]
fn one_size_scales_the_proportions_and_none_gives_nothing() {
    let cost = fit_all(&[batch(10.0, 2e-4), batch(10.0, 2e-4)]).unwrap();
    assert!(
        near(cost.overhead, 1e-4) && near(cost.unit, 1e-5),
        "{cost:?}"
    );
    assert_eq!(fit_all(&[]), None);
    assert_eq!(fit_all(&[batch(1.0, 0.0)]), None);
}

#[test]
fn nothing_is_negative() {
    // Larger batches that take less time, and more than in proportion.
    let falling = fit_all(&[batch(1.0, 1.0), batch(100.0, 0.5)]).unwrap();
    assert!(falling.is_sound() && falling.unit > 1e-3, "{falling:?}");
    let rising = fit_all(&[batch(1.0, 1e-6), batch(8.0, 1e-4), batch(64.0, 1e-2)]).unwrap();
    assert!(rising.overhead >= 0.0 && rising.unit > 0.0, "{rising:?}");
    // Copies that are said to take longer than all of it.
    let odd = Measured {
        bytes: 1e6,
        copies: 5.0,
        ..batch(8.0, 1.0)
    };
    assert!(fit_all(&[odd]).unwrap().is_sound());
}

#[test]
fn no_batch_is_forgotten_where_sizes_grow_fast() {
    // Times in steps, far from any line: small batches must not be predicted many times too slow.
    let times = [6e-6, 24e-6, 40e-6, 170e-6, 2e-3];
    let sizes = [1.0, 8.0, 64.0, 512.0, 4096.0];
    let batches: Vec<_> = sizes
        .into_iter()
        .zip(times)
        .map(|(x, y)| batch(x, y))
        .collect();
    let cost = fit_all(&batches).unwrap();
    for batch in batches {
        let ratio = cost.seconds(batch.items, 0.0) / batch.seconds;
        assert!((0.2..5.0).contains(&ratio), "{ratio} for {batch:?}");
    }
}

#[test]
fn the_longest_batches_are_kept_in_mind_and_the_first_ones_are_not() {
    let mut costs = guess(1e-4, 1e-9);
    assert!(near(costs.worst(KIND), 1.0));
    let batch = |costs: &mut Costs, unit: f64| learn(costs, 100.0, 1e-4 + 100.0 * unit);
    for _ in 0..30 {
        batch(&mut costs, 1e-5);
    }
    // However wrong the guess was.
    assert!(costs.worst(KIND) < 1.1, "{}", costs.worst(KIND));
    batch(&mut costs, 1e-4);
    let worst = costs.worst(KIND);
    assert!((8.0..11.0).contains(&worst), "{worst}");
    for _ in 0..100 {
        batch(&mut costs, 1e-5);
    }
    let later = costs.worst(KIND);
    assert!((5.0..worst).contains(&later), "{later}");
    batch(&mut costs, 1.0);
    assert!(costs.worst(KIND) <= 16.0);
}
