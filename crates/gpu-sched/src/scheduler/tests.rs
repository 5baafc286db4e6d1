mod simulated;

use super::*;
use crate::work::Kind;

/// An executor with this name that may have this many batches in flight.
pub(crate) fn description(name: &str, in_flight: usize) -> ExecutorDescription {
    ExecutorDescription {
        name: name.to_owned(),
        guess: Cost {
            overhead: 1e-5,
            bandwidth: f64::INFINITY,
            unit: 1e-6,
        },
        batch: (1, 1000),
        in_flight,
        free: None,
    }
}

fn scheduler(devices: usize) -> Scheduler {
    let policy = Policy {
        placement: Placement::Devices,
        batch: Some(100),
        time_limit: Duration::from_secs(5),
        patience: 1.0,
        recovery: Duration::from_secs(1),
        ..Policy::default()
    };
    let mut scheduler = Scheduler::new(description("host", 1), policy);
    for device in 0..devices {
        scheduler.add(description(&format!("device {device}"), 1));
    }
    scheduler
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn submit(scheduler: &mut Scheduler, count: u64) {
    let item = Item {
        kind: Kind(1),
        bytes: 1,
    };
    scheduler.submit([(item, count)]);
}

fn lost() -> Result<Made, Failure> {
    Err(Failure::Lost("gone".to_owned()))
}

fn failed() -> Result<Made, Failure> {
    Err(Failure::Failed("no".to_owned()))
}

/// The batches to start now.
fn started(scheduler: &mut Scheduler, now: Duration) -> Vec<Start> {
    std::iter::from_fn(|| scheduler.start(now)).collect()
}

#[test]
fn what_does_not_fit_is_halved_in_order_down_to_the_host() {
    let mut scheduler = scheduler(1);
    submit(&mut scheduler, 5);
    let mut seen = Vec::new();
    while let Some(start) = scheduler.start(seconds(1)) {
        seen.push((start.executor, start.items.clone()));
        let result = match start.executor {
            HOST => Ok(Made::default()),
            _ => Err(Failure::OutOfMemory),
        };
        scheduler.ended(seconds(1), start.batch, result);
    }
    // Three single items in a row do not fit: the device counts as lost.
    let expected = [
        (1, 0..5),
        (1, 0..2),
        (1, 0..1),
        (HOST, 0..1),
        (1, 1..2),
        (HOST, 1..2),
        (1, 2..3),
    ];
    assert_eq!(seen[..expected.len()], expected);
    assert!(
        seen[expected.len()..]
            .iter()
            .all(|(executor, _)| *executor == HOST)
    );
    assert_eq!(scheduler.left(), 0);
    assert_eq!(scheduler.activity(1).too_large, 3);
}

#[test]
fn a_batch_that_fails_goes_to_another() {
    let mut scheduler = scheduler(2);
    submit(&mut scheduler, 50);
    let first = scheduler.start(seconds(1)).unwrap();
    assert_eq!(
        scheduler.ended(seconds(1), first.batch, failed()),
        Ended::Dropped
    );
    let second = scheduler.start(seconds(1)).unwrap();
    assert_eq!(second.items, first.items);
    assert_ne!(second.executor, first.executor);
    scheduler.ended(seconds(1), second.batch, failed());
    let third = scheduler.start(seconds(1)).unwrap();
    assert_eq!((third.executor, &third.items), (HOST, &first.items));
    let ended = scheduler.ended(seconds(2), third.batch, Ok(Made::default()));
    assert_eq!(ended, Ended::Done(0..50));
    assert_eq!(scheduler.left(), 0);
}

#[test]
fn a_lost_device_is_opened_anew_later_each_time_and_given_up_at_last() {
    let mut scheduler = scheduler(1);
    let mut now = seconds(1);
    let mut waits = Vec::new();
    for _ in 0..8 {
        submit(&mut scheduler, 10);
        for start in started(&mut scheduler, now) {
            let result = match start.executor {
                HOST => Ok(Made::default()),
                _ => lost(),
            };
            scheduler.ended(now, start.batch, result);
        }
        // The host has finished the fallback work.
        for start in started(&mut scheduler, now) {
            assert_eq!(start.executor, HOST);
            scheduler.ended(now, start.batch, Ok(Made::default()));
        }
        assert_eq!(scheduler.left(), 0);
        let lost_at = now;
        while !scheduler.executors[1].standing.is_asked() && now < lost_at + seconds(100) {
            now += Duration::from_millis(500);
            scheduler.revive(now);
        }
        waits.push(now.as_secs_f64() - lost_at.as_secs_f64());
    }
    assert_eq!(waits, [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 100.0, 100.0]);
}

#[test]
fn who_comes_back_is_opened_anew_with_one_batch() {
    let mut scheduler = scheduler(1);
    submit(&mut scheduler, 300);
    let start = scheduler.start(seconds(1)).unwrap();
    assert!(!start.recover);
    scheduler.ended(seconds(1), start.batch, lost());
    let on_host = scheduler.start(seconds(1)).unwrap();
    assert_eq!(on_host.executor, HOST);
    let again = scheduler.start(seconds(3)).unwrap();
    assert_eq!((again.executor, again.recover), (1, true));
    scheduler.ended(seconds(3), again.batch, Ok(Made::default()));
    let next = scheduler.start(seconds(3)).unwrap();
    assert_eq!((next.executor, next.recover), (1, false));
}

#[test]
fn who_hangs_is_left_alone_until_it_answers_and_then_not_believed() {
    let mut scheduler = scheduler(2);
    submit(&mut scheduler, 200);
    let both = started(&mut scheduler, seconds(1));
    assert_eq!(both.len(), 2);
    for start in &both {
        scheduler.handed_over(seconds(1), start.batch);
    }
    assert_eq!(scheduler.wake(), Some(seconds(6)));
    scheduler.ended(seconds(2), both[1].batch, Ok(Made::default()));
    assert_eq!(scheduler.expire(seconds(5)), []);
    let given_up = scheduler.expire(seconds(6));
    assert_eq!(given_up, [(both[0].batch, both[0].executor)]);
    let again = scheduler.start(seconds(6)).unwrap();
    assert_eq!(again.items, both[0].items);
    assert_eq!(again.executor, both[1].executor);
    // The late answer arrives.
    let late = scheduler.ended(seconds(7), both[0].batch, Ok(Made::default()));
    assert_eq!(late, Ended::Dropped);
    assert!(!scheduler.executors[both[0].executor].standing.is_asked());
    scheduler.answered(both[0].executor);
    assert!(scheduler.executors[both[0].executor].standing.is_asked());
    let ended = scheduler.ended(seconds(8), again.batch, Ok(Made::default()));
    assert_eq!(ended, Ended::Done(both[0].items.clone()));
    assert_eq!(scheduler.left(), 0);
}

#[test]
fn what_waits_for_its_preparation_is_not_late() {
    let mut scheduler = scheduler(1);
    submit(&mut scheduler, 100);
    let start = scheduler.start(seconds(1)).unwrap();
    assert_eq!(scheduler.wake(), None);
    assert_eq!(scheduler.expire(seconds(1000)), []);
    // The time limit of five seconds begins when the device has received the batch.
    scheduler.handed_over(seconds(1000), start.batch);
    assert_eq!(scheduler.wake(), Some(seconds(1005)));
    assert_eq!(scheduler.expire(seconds(1004)), []);
    let given_up = scheduler.expire(seconds(1005));
    assert_eq!(given_up, [(start.batch, 1)]);
    // A batch that was given up meanwhile is ignored.
    scheduler.handed_over(seconds(1005), start.batch);
    assert_eq!(scheduler.wake(), None);
}

#[test]
fn what_is_abandoned_is_dropped() {
    let mut scheduler = scheduler(1);
    submit(&mut scheduler, 10);
    let start = scheduler.start(seconds(1)).unwrap();
    scheduler.abandon();
    assert_eq!(scheduler.left(), 0);
    assert_eq!(
        scheduler.ended(seconds(1), start.batch, Ok(Made::default())),
        Ended::Dropped
    );
    submit(&mut scheduler, 10);
    assert_eq!(scheduler.start(seconds(1)).unwrap().items, 10..20);
}

#[test]
fn there_is_a_most_number_of_executors() {
    let mut scheduler = scheduler(MOST_EXECUTORS - 1);
    assert_eq!(scheduler.executors(), MOST_EXECUTORS);
    assert_eq!(scheduler.add(description("one more", 1)), None);
}

#[test]
fn ten_thousand_batches_leave_nothing_behind() {
    let mut scheduler = scheduler(2);
    for round in 0..10_000_u64 {
        submit(&mut scheduler, round % 300);
        while let Some(start) = scheduler.start(seconds(round)) {
            let result = match round % 7 {
                3 => Err(Failure::OutOfMemory),
                5 => failed(),
                _ => Ok(Made::default()),
            };
            let result = match start.executor {
                HOST => Ok(Made::default()),
                _ => result,
            };
            scheduler.ended(seconds(round), start.batch, result);
        }
        assert_eq!(scheduler.left(), 0);
    }
    assert_eq!(scheduler.items.runs(), 0);
    assert!(scheduler.waiting.is_empty() && scheduler.in_flight.is_empty());
    assert_eq!(scheduler.mix, Mix::default());
}
