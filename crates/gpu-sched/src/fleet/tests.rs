use std::sync::mpsc;
use std::thread::spawn;

use super::*;
use crate::order::Order;
use crate::scheduler::Placement;
use crate::scheduler::tests::description;
use crate::work::Kind;

/// The result of a batch.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Effect {
    OutOfMemory,
    Fail,
    Lose,
    Panic,
    /// It waits for the test to end.
    Hang,
}

/// A device that squares numbers.
struct Squares {
    /// The effect on each batch, by its count.
    plan: Vec<(u64, Effect)>,
    batches: u64,
    /// The largest batch that it accepts.
    room: usize,
    hold: mpsc::Receiver<()>,
}

impl Executor for Squares {
    type Batch = Vec<u64>;
    type Answer = Vec<u64>;
    type Begun = Vec<u64>;

    fn lanes(&self) -> usize {
        2
    }

    fn begin(&mut self, batch: Vec<u64>) -> Result<Vec<u64>, Failure> {
        if batch.len() > self.room {
            return Err(Failure::OutOfMemory);
        }
        Ok(batch)
    }

    fn finish(&mut self, begun: Vec<u64>) -> Result<(Vec<u64>, Made), Failure> {
        self.batches += 1;
        let planned = self.plan.iter().find(|(batch, _)| *batch == self.batches);
        match planned.map(|(_, effect)| *effect) {
            Some(Effect::OutOfMemory) => return Err(Failure::OutOfMemory),
            Some(Effect::Fail) => return Err(Failure::Failed("planned".to_owned())),
            Some(Effect::Lose) => return Err(Failure::Lost("planned".to_owned())),
            Some(Effect::Panic) => panic!("planned"),
            Some(Effect::Hang) => {
                let _ = self.hold.recv();
            }
            None => {}
        }
        let answer = begun.iter().map(|number| number * number).collect();
        Ok((answer, Made::default()))
    }

    fn recover(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    fn clean_up(&mut self) {}
}

fn policy(placement: Placement) -> Policy {
    Policy {
        placement,
        time_limit: Duration::from_millis(100),
        recovery: Duration::from_millis(5),
        ..Policy::default()
    }
}

type Squared = Fleet<Vec<u64>, Vec<u64>, Vec<u64>>;

/// Runs items through a fleet, preparing on other threads; returns the answers in order, and how many items devices
/// evaluated.
fn drive(fleet: &mut Squared, count: u64) -> (Vec<u64>, u64) {
    let item = Item {
        kind: Kind(0),
        bytes: 8,
    };
    let numbers = fleet.submit([(item, count)]);
    let first = numbers.start;
    let (mut order, mut answers, mut by_devices) = (Order::starting_at(first), Vec::new(), 0);
    while order.next() < numbers.end {
        while let Some(start) = fleet.start() {
            let handle = fleet.handle();
            spawn(move || {
                let batch: Vec<u64> = start.items.clone().map(|item| item - first).collect();
                if start.executor == HOST {
                    let squares = batch.iter().map(|number| number * number).collect();
                    handle.made(&start, squares, Duration::from_micros(10));
                } else {
                    handle.hand_over(&start, batch, Duration::from_micros(10));
                }
            });
        }
        match fleet.wait(Duration::from_secs(10)) {
            Event::ByHost { items, answer } => order.put(items, answer),
            Event::ByDevice { items, answer, .. } => {
                by_devices += items.end - items.start;
                order.put(items, answer);
            }
            Event::GivenUp(item, failure) => panic!("{item}: {failure}"),
            Event::Nothing => {}
        }
        while let Some((_, answer)) = order.take() {
            answers.extend(answer);
        }
    }
    (answers, by_devices)
}

fn fleet(plans: Vec<Vec<(u64, Effect)>>, placement: Placement) -> (Squared, Vec<mpsc::Sender<()>>) {
    let mut fleet = Fleet::new(description("host", 3), policy(placement));
    let mut holds = Vec::new();
    for (number, plan) in plans.into_iter().enumerate() {
        let (sender, hold) = mpsc::channel();
        let squares = Squares {
            plan,
            batches: 0,
            room: 100,
            hold,
        };
        let description = description(&format!("squares {number}"), 3);
        assert_eq!(fleet.add(description, squares).unwrap(), number + 1);
        holds.push(sender);
    }
    (fleet, holds)
}

#[test]
fn threads_give_all_answers_in_order() {
    for placement in [Placement::Auto, Placement::Devices, Placement::Host] {
        let (mut fleet, _holds) = fleet(vec![vec![]; 3], placement);
        for count in [0, 1, 19, 700, 5000] {
            let expected: Vec<_> = (0..count).map(|number| number * number).collect();
            let (answers, by_devices) = drive(&mut fleet, count);
            assert_eq!(answers, expected);
            match placement {
                Placement::Auto => {}
                Placement::Devices => assert_eq!(by_devices, count),
                Placement::Host => assert_eq!(by_devices, 0),
            }
        }
        fleet.clean_up();
    }
}

#[test]
fn whatever_fails_the_answers_are_the_same() {
    use Effect::{Fail, Hang, Lose, OutOfMemory, Panic};
    let expected: Vec<_> = (0..3000).map(|number| number * number).collect();
    for plans in [
        vec![vec![(1, Fail), (2, Fail), (3, Fail), (4, Fail)]],
        vec![vec![(1, Lose)], vec![(3, Panic), (4, OutOfMemory)]],
        vec![vec![(2, Hang)], vec![(1, OutOfMemory), (9, Lose)]],
        vec![vec![(1, Hang)], vec![(1, Hang)], vec![(2, Panic)]],
    ] {
        let count = plans.len();
        let (mut fleet, holds) = fleet(plans.clone(), Placement::Devices);
        assert_eq!(drive(&mut fleet, 3000).0, expected, "{plans:?}");
        let failed = (1..=count).filter(|device| fleet.failure(*device).is_some());
        assert_eq!(failed.count(), count, "{plans:?}");
        // Those that hung have answered, and are used again.
        drop(holds);
        assert_eq!(drive(&mut fleet, 3000).0, expected, "{plans:?}");
    }
}

#[test]
fn what_is_abandoned_is_never_answered() {
    let (mut fleet, _holds) = fleet(vec![vec![]], Placement::Devices);
    fleet.submit([(Item::default(), 50)]);
    let start = fleet.start().unwrap();
    fleet.handle().hand_over(&start, vec![1; 9], Duration::ZERO);
    fleet
        .handle()
        .fallback_done(start.items.clone(), Some(vec![2; 9]));
    fleet.abandon();
    // Nor when it comes later.
    fleet.handle().fallback_done(start.items, Some(vec![3; 9]));
    let expected: Vec<_> = (0..200).map(|number| number * number).collect();
    assert_eq!(drive(&mut fleet, 200).0, expected);
}
