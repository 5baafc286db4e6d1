mod simulated;

use super::*;

/// A device with this name that may have this many windows in flight.
pub(crate) fn description(name: &str, in_flight: usize) -> DeviceDescription {
    DeviceDescription {
        name: name.to_owned(),
        unit: 1e-6,
        most: 1000,
        in_flight,
        free: None,
    }
}

/// Any number of items may be claimed.
pub(crate) const HOST: Host = Host {
    room: u64::MAX,
    unit: 1e-6,
};

fn scheduler(devices: usize) -> Scheduler {
    let policy = Policy {
        placement: Placement::Devices,
        batch: Some(100),
        time_limit: Duration::from_secs(5),
        recovery: Duration::from_secs(1),
        ..Policy::default()
    };
    let mut scheduler = Scheduler::new(policy);
    for device in 0..devices {
        scheduler.add(description(&format!("device {device}"), 1));
    }
    scheduler
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn lost() -> Result<Made, Failure> {
    Err(Failure::Lost("gone".to_owned()))
}

fn failed() -> Result<Made, Failure> {
    Err(Failure::Failed("no".to_owned()))
}

fn activity(scheduler: &Scheduler) -> Activity {
    *scheduler.activities().next().unwrap().1
}

/// Who claims the next items: a device, or the host if no device may.
fn claimed(scheduler: &mut Scheduler, now: Duration) -> Option<(Option<Window>, Range<u64>)> {
    if let Some(window) = scheduler.claim(now, HOST) {
        let items = window.items.clone();
        return Some((Some(window), items));
    }
    let items = scheduler.for_host()?;
    scheduler.take(items.start, items.end);
    Some((None, items))
}

#[test]
fn what_does_not_fit_is_halved_in_order_down_to_the_host() {
    let mut scheduler = scheduler(1);
    scheduler.begin(0..5);
    let mut seen = Vec::new();
    while let Some((window, items)) = claimed(&mut scheduler, seconds(1)) {
        seen.push((window.is_some(), items));
        if let Some(window) = window {
            scheduler.ended(seconds(1), window.id, Err(Failure::OutOfMemory));
        }
    }
    // Three single items in a row do not fit: the device counts as lost.
    let expected = [0..5, 0..2, 0..1, 1..2, 2..3].map(|items| (true, items));
    assert_eq!(seen[..expected.len()], expected);
    let others = [0..1, 1..2, 2..3, 3..5].map(|items| (false, items));
    assert_eq!(seen[expected.len()..], others);
    assert!(scheduler.is_over());
    assert_eq!(activity(&scheduler).too_large, 3);
}

#[test]
fn a_window_that_fails_goes_to_another() {
    let mut scheduler = scheduler(2);
    scheduler.begin(0..50);
    let first = scheduler.claim(seconds(1), HOST).unwrap();
    assert_eq!(scheduler.ended(seconds(1), first.id, failed()), None);
    let second = scheduler.claim(seconds(1), HOST).unwrap();
    assert_eq!(second.items, first.items);
    assert_ne!(second.device, first.device);
    assert_eq!(scheduler.for_host(), None);
    scheduler.ended(seconds(1), second.id, failed());
    assert_eq!(scheduler.claim(seconds(1), HOST), None);
    let third = scheduler.for_host().unwrap();
    assert_eq!((&third, scheduler.waiting()), (&first.items, 50));
    // The host claims some of them.
    scheduler.take(third.start, 20);
    assert_eq!(scheduler.for_host(), Some(20..50));
    scheduler.take(20, 50);
    assert!(scheduler.is_over());
}

#[test]
fn a_lost_device_is_opened_anew_later_each_time_and_given_up_at_last() {
    let mut scheduler = scheduler(1);
    let mut now = seconds(1);
    let mut waits = Vec::new();
    for _ in 0..8 {
        scheduler.begin(0..10);
        while let Some((window, _)) = claimed(&mut scheduler, now) {
            if let Some(window) = window {
                scheduler.ended(now, window.id, lost());
            }
        }
        assert!(scheduler.is_over());
        let lost_at = now;
        while !scheduler.devices[0].standing.is_asked() && now < lost_at + seconds(100) {
            now += Duration::from_millis(500);
            scheduler.revive(now);
        }
        waits.push(now.as_secs_f64() - lost_at.as_secs_f64());
    }
    assert_eq!(waits, [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 100.0, 100.0]);
}

#[test]
fn who_comes_back_is_opened_anew_with_one_window() {
    let mut scheduler = scheduler(1);
    scheduler.begin(0..300);
    let window = scheduler.claim(seconds(1), HOST).unwrap();
    assert!(!window.recover);
    scheduler.ended(seconds(1), window.id, lost());
    assert_eq!(scheduler.for_host(), Some(0..100));
    assert_eq!(scheduler.wake(), Some(seconds(2)));
    scheduler.take(0, 100);
    let again = scheduler.claim(seconds(3), HOST).unwrap();
    assert!(again.recover);
    scheduler.ended(seconds(3), again.id, Ok(Made::default()));
    let next = scheduler.claim(seconds(3), HOST).unwrap();
    assert!(!next.recover);
}

#[test]
fn who_hangs_is_left_alone_until_it_answers_and_then_not_believed() {
    let mut scheduler = scheduler(2);
    scheduler.begin(0..200);
    let both = [(); 2].map(|()| scheduler.claim(seconds(1), HOST).unwrap());
    for window in &both {
        assert!(scheduler.handed_over(seconds(1), window.id, &[]));
    }
    assert_eq!(scheduler.wake(), Some(seconds(6)));
    scheduler.ended(seconds(2), both[1].id, Ok(Made::default()));
    assert_eq!(scheduler.expire(seconds(5)), []);
    let given_up = scheduler.expire(seconds(6));
    assert_eq!(given_up, [(both[0].id, both[0].device)]);
    let again = scheduler.claim(seconds(6), HOST).unwrap();
    assert_eq!(again.items, both[0].items);
    assert_eq!(again.device, both[1].device);
    // The late answer arrives.
    assert_eq!(
        scheduler.ended(seconds(7), both[0].id, Ok(Made::default())),
        None
    );
    assert!(!scheduler.devices[both[0].device].standing.is_asked());
    scheduler.answered(both[0].device);
    assert!(scheduler.devices[both[0].device].standing.is_asked());
    let ended = scheduler.ended(seconds(8), again.id, Ok(Made::default()));
    assert_eq!(ended.unwrap(), [both[0].items.clone()]);
    assert!(scheduler.is_over());
}

#[test]
fn what_waits_for_its_preparation_is_not_late() {
    let mut scheduler = scheduler(1);
    scheduler.begin(0..100);
    let window = scheduler.claim(seconds(1), HOST).unwrap();
    assert_eq!(scheduler.wake(), None);
    assert_eq!(scheduler.expire(seconds(1000)), []);
    // The time limit of five seconds begins when the device has received the window.
    assert!(scheduler.handed_over(seconds(1000), window.id, &[]));
    assert_eq!(scheduler.wake(), Some(seconds(1005)));
    assert_eq!(scheduler.expire(seconds(1004)), []);
    let given_up = scheduler.expire(seconds(1005));
    assert_eq!(given_up, [(window.id, 0)]);
    // A window that was given up meanwhile is ignored.
    assert!(!scheduler.handed_over(seconds(1005), window.id, &[]));
    assert_eq!(scheduler.wake(), None);
}

#[test]
fn a_slow_device_has_the_time_that_its_window_is_expected_to_take() {
    let mut scheduler = scheduler(1);
    scheduler.begin(0..200);
    let window = scheduler.claim(seconds(0), HOST).unwrap();
    assert!(scheduler.handed_over(seconds(0), window.id, &[]));
    let made = Made {
        tried: 100,
        ..Made::default()
    };
    // A second per item.
    scheduler.ended(seconds(100), window.id, Ok(made));
    let window = scheduler.claim(seconds(100), HOST).unwrap();
    assert!(scheduler.handed_over(seconds(100), window.id, &[]));
    let limit = scheduler.wake().unwrap();
    assert!((limit.as_secs_f64() - 2100.0).abs() < 1.0, "{limit:?}");
}

#[test]
fn what_is_left_of_an_earlier_batch_is_dropped() {
    let mut scheduler = scheduler(1);
    scheduler.begin(0..10);
    let window = scheduler.claim(seconds(1), HOST).unwrap();
    scheduler.begin(0..7);
    assert_eq!(
        scheduler.ended(seconds(1), window.id, Ok(Made::default())),
        None
    );
    assert_eq!(scheduler.claim(seconds(1), HOST).unwrap().items, 0..7);
}

#[test]
fn after_a_stop_windows_in_flight_are_finished_and_no_other_begins() {
    let mut scheduler = scheduler(2);
    scheduler.begin(0..1000);
    let both = [(); 2].map(|()| scheduler.claim(seconds(1), HOST).unwrap());
    scheduler.ended(seconds(1), both[0].id, failed());
    assert_eq!(scheduler.stop(), [both[0].items.clone()]);
    assert_eq!(scheduler.claim(seconds(2), HOST), None);
    assert_eq!((scheduler.for_host(), scheduler.is_over()), (None, false));
    let ended = scheduler.ended(seconds(2), both[1].id, Ok(Made::default()));
    assert_eq!(ended.unwrap(), [both[1].items.clone()]);
    assert!(scheduler.is_over());
}

#[test]
fn there_is_a_most_number_of_devices() {
    let mut scheduler = scheduler(MOST_DEVICES);
    assert_eq!(scheduler.activities().len(), MOST_DEVICES);
    assert_eq!(scheduler.add(description("one more", 1)), None);
}

#[test]
fn what_the_host_keeps_of_a_window_is_its_own_whatever_becomes_of_the_rest() {
    let mut scheduler = scheduler(1);
    scheduler.begin(0..100);
    let window = scheduler.claim(seconds(1), HOST).unwrap();
    let nothing = Keep {
        dear: f64::INFINITY,
        long: f64::INFINITY,
    };
    assert_eq!(window.keep, nothing);
    assert!(scheduler.handed_over(seconds(1), window.id, &[0..10, 30..31, 31..40, 99..100]));
    scheduler.ended(seconds(1), window.id, Err(Failure::OutOfMemory));
    let mut halves = Vec::new();
    while let Some(window) = scheduler.claim(seconds(1), HOST) {
        halves.push(window.items);
        let ended = scheduler.ended(seconds(2), window.id, Ok(Made::default()));
        assert_eq!(ended.unwrap(), [halves[halves.len() - 1].clone()]);
    }
    assert_eq!(halves, [10..20, 20..30, 40..69, 69..99]);
    assert!(scheduler.is_over());
    // Of a window that was given up meanwhile nothing is kept.
    scheduler.begin(0..100);
    let window = scheduler.claim(seconds(2), HOST).unwrap();
    scheduler.ended(seconds(2), window.id, failed());
    assert!(!scheduler.handed_over(seconds(2), window.id, &[0..10, 20..30]));
    assert_eq!(scheduler.for_host(), Some(window.items));
}

#[test]
fn beside_a_faster_device_the_host_keeps_only_what_is_much_dearer_there() {
    for (unit, expected) in [(1e-6, 3.0), (1e-5, 3.0), (1e-7, 10.0)] {
        let mut scheduler = Scheduler::new(Policy::default());
        scheduler.add(DeviceDescription {
            unit,
            ..description("one", 1)
        });
        scheduler.begin(0..100_000);
        let window = scheduler.claim(seconds(1), HOST).unwrap();
        assert!((window.keep.dear - expected).abs() < 1e-9, "{unit}");
        assert!(
            (window.keep.long - 100_000.0 * 1e-6 * LONG).abs() < 1e-9,
            "{unit}"
        );
    }
}
