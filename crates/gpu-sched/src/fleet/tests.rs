use std::sync::mpsc;

use super::*;
use crate::order::Order;
use crate::scheduler::Placement;
use crate::scheduler::tests::{HOST, description};

/// The result of a window.
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
    /// The effect on each window, by its count.
    plan: Vec<(u64, Effect)>,
    batches: u64,
    /// The largest window that it accepts.
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

type Squared = Fleet<Vec<u64>, Vec<u64>>;

/// Runs items through a fleet and, where it may, the host; returns the answers in order, and how many items devices
/// evaluated.
fn drive(fleet: &mut Squared, count: u64) -> (Vec<u64>, u64) {
    let squares = |items: Range<u64>| items.map(|number| number * number).collect();
    fleet.scheduler_mut().begin(0..count);
    let (mut order, mut answers, mut by_devices) = (Order::<Vec<u64>>::default(), Vec::new(), 0);
    while order.next() < count {
        let changes = fleet.signal().changes();
        if let Some(Finished { items, answer, .. }) = fleet.receive() {
            let [items] = items.try_into().unwrap();
            by_devices += items.end - items.start;
            order.put(items, answer);
        } else if let Some(window) = fleet.claim(HOST) {
            let batch = window.items.clone().collect();
            assert!(fleet.hand_over(&window, batch, &[], Duration::from_micros(10)));
        } else if let Some(items) = fleet.scheduler().for_host() {
            let end = items.end.min(items.start + 5);
            fleet.scheduler_mut().take(items.start, end);
            order.put(items.start..end, squares(items.start..end));
        } else {
            let signal = Arc::clone(fleet.signal());
            signal.wait(changes, Duration::from_millis(5));
        }
        while let Some((_, answer)) = order.take() {
            answers.extend(answer);
        }
    }
    (answers, by_devices)
}

fn fleet(plans: Vec<Vec<(u64, Effect)>>, placement: Placement) -> (Squared, Vec<mpsc::Sender<()>>) {
    let mut fleet = Fleet::new(policy(placement));
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
        fleet.add(description, squares).unwrap();
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
        let (mut fleet, holds) = fleet(plans.clone(), Placement::Devices);
        assert_eq!(drive(&mut fleet, 3000).0, expected, "{plans:?}");
        assert!(
            fleet.failures().all(|failure| failure.is_some()),
            "{plans:?}"
        );
        // Those that hung have answered, and are used again.
        drop(holds);
        assert_eq!(drive(&mut fleet, 3000).0, expected, "{plans:?}");
    }
}

#[test]
fn what_was_not_finished_in_an_earlier_batch_is_never_answered() {
    let (mut fleet, _holds) = fleet(vec![vec![]], Placement::Devices);
    fleet.scheduler_mut().begin(0..50);
    let window = fleet.claim(HOST).unwrap();
    assert!(fleet.hand_over(&window, vec![1; 9], &[], Duration::ZERO));
    let expected: Vec<_> = (0..200).map(|number| number * number).collect();
    assert_eq!(drive(&mut fleet, 200).0, expected);
}

#[test]
fn who_waits_is_woken_by_a_change() {
    let signal = Arc::new(Signal::default());
    for round in 0..200 {
        let changes = signal.changes();
        let other = Arc::clone(&signal);
        let thread = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_micros(round));
            other.ring();
        });
        let began = Instant::now();
        signal.wait(changes, Duration::from_secs(60));
        assert!(began.elapsed() < Duration::from_secs(30));
        thread.join().unwrap();
    }
}
