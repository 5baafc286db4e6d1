use std::cell::Cell;

use gpu_kernels::device::{Information, Launch, Memory};
use gpu_sim::faulty::{FaultPlan, Faulty, Outage};
use gpu_sim::interpreted::{Interpretation, InterpretedDevice};

use super::*;

/// The smallest extent.
fn extent() -> Extent {
    Extent::of(1, 1)
}

/// A device that corrupts every fetched result but no verdict.
struct CorruptingDevice<D> {
    device: D,
    /// Downloads since the last launch, the first of which is that of the verdicts.
    downloads: Cell<u32>,
    /// Corrupts a result.
    spoil: fn(&mut [u8]),
}

/// Decrements the first of every four bytes.
fn one_less(bytes: &mut [u8]) {
    let firsts = bytes.iter_mut().step_by(4);
    firsts.for_each(|byte| *byte = byte.checked_sub(1).unwrap_or(1));
}

impl<D: Device> Device for CorruptingDevice<D> {
    type Buffer = D::Buffer;
    type Event = D::Event;

    fn information(&self) -> &Information {
        self.device.information()
    }

    fn new_stream(&self) -> Result<Self, DeviceError> {
        Ok(CorruptingDevice {
            device: self.device.new_stream()?,
            downloads: Cell::default(),
            spoil: self.spoil,
        })
    }

    fn memory(&self) -> Result<Memory, DeviceError> {
        self.device.memory()
    }

    fn allocate(&self, bytes: usize) -> Result<D::Buffer, DeviceError> {
        self.device.allocate(bytes)
    }

    fn upload(&self, from: &[u8], to: &mut D::Buffer, at: usize) -> Result<(), DeviceError> {
        self.device.upload(from, to, at)
    }

    fn download(&self, from: &D::Buffer, at: usize, to: &mut [u8]) -> Result<(), DeviceError> {
        self.device.download(from, at, to)?;
        if self.downloads.replace(self.downloads.get() + 1) > 0 {
            (self.spoil)(to);
        }
        Ok(())
    }

    fn copy(&self, from: &D::Buffer, to: &mut D::Buffer, bytes: usize) -> Result<(), DeviceError> {
        self.device.copy(from, to, bytes)
    }

    fn clear(&self, buffer: &mut D::Buffer) -> Result<(), DeviceError> {
        self.device.clear(buffer)
    }

    fn launch(&self, launch: &Launch<'_, D::Buffer>) -> Result<(), DeviceError> {
        self.downloads.set(0);
        self.device.launch(launch)
    }

    fn record(&self) -> Result<D::Event, DeviceError> {
        self.device.record()
    }

    fn elapsed(&self, from: &D::Event, to: &D::Event) -> Result<Duration, DeviceError> {
        self.device.elapsed(from, to)
    }

    fn synchronize(&self) -> Result<(), DeviceError> {
        self.device.synchronize()
    }
}

fn opened() -> Result<InterpretedDevice, Unavailable> {
    gpu_sim::open::interpreted(0, &Interpretation::default())
}

#[test]
fn every_test_of_the_suite_is_in_the_table() {
    let report = conformance(Checked::Interpreted, extent(), || {}).unwrap();
    assert!(report.is_passed(), "{report}");
    let names: Vec<&str> = report.rows.iter().map(|row| row.name).collect();
    let families: Vec<&str> = Family::ALL.iter().map(|family| family.name()).collect();
    assert_eq!(names, families);
    for (row, family) in report.rows.iter().zip(Family::ALL) {
        let tests = Test::all().filter(|test| test.family() == *family);
        assert_eq!(row.tests, tests.count(), "{report}");
    }
}

#[test]
fn a_wrong_result_is_noticed_by_every_test() {
    let open = |_| {
        let downloads = Cell::default();
        Ok(Engine::new(CorruptingDevice {
            device: opened()?,
            downloads,
            spoil: one_less,
        }))
    };
    let report = in_parallel(open, extent(), || {});
    for row in &report.rows {
        assert!(!row.is_passed(), "{report}");
        // An operation that always fails has no result.
        let exceptions = usize::from(row.name == Family::ListOperations.name());
        assert_eq!(row.failed, row.tests - exceptions, "{report}");
        assert!(row.counts.different > 0, "{report}");
        let (_, why) = row.first.as_ref().unwrap();
        assert!(why.contains("cases differ; the first:"), "{report}");
    }
}

/// Corrupted sizes of grids, for example, which no grid can have.
#[test]
fn what_is_no_value_costs_its_test() {
    let open = || {
        Ok(Engine::new(CorruptingDevice {
            device: opened()?,
            downloads: Cell::default(),
            spoil: |bytes| bytes.fill(0xA5),
        }))
    };
    let mut panicked = Vec::new();
    // Up to the test after the first panic.
    let report = one_by_one(open, extent(), |ended| {
        let why = ended.as_ref().unwrap_err().to_string();
        panicked.push(why.contains("the host panicked over"));
        !panicked.iter().rev().skip(1).any(|panicked| *panicked)
    });
    let report = report.unwrap();
    let first = panicked.iter().position(|panicked| *panicked);
    assert_eq!(first, Some(panicked.len() - 2), "{report}");
}

/// The reopened device works: only one test is lost.
#[test]
fn a_device_that_fails_passes_no_test() {
    let gone = FaultPlan {
        outages: vec![Outage {
            from: 0,
            calls: u64::MAX,
        }],
        faults: Vec::new(),
    };
    let times = Cell::new(0);
    let open = || {
        let plan = match times.replace(times.get() + 1) {
            0 => gone.clone(),
            _ => FaultPlan::default(),
        };
        Ok(Engine::new(Faulty::new(opened()?, plan)))
    };
    let report = one_by_one(open, extent(), |_| true).unwrap();
    let failed: Vec<usize> = report.rows.iter().map(|row| row.failed).collect();
    assert_eq!((failed[0], failed[1..].iter().sum()), (1, 0), "{report}");
    assert!(!report.is_passed());
    assert!(
        report.to_string().contains("the device is lost"),
        "{report}"
    );

    let missing = || Err::<Engine<InterpretedDevice>, _>(Unavailable::NoDevice);
    let none = one_by_one(missing, extent(), |_| true);
    assert!(matches!(none, Err(NotChecked::Unavailable(_))));
    // A device that has disappeared does not pass.
    let report = in_parallel(|_| missing(), extent(), || {});
    assert!(
        report.rows.iter().all(|row| row.failed == row.tests),
        "{report}"
    );
}

#[test]
fn nothing_compared_is_not_passed() {
    assert!(!Report::default().is_passed());
    let report = Report::of_families();
    assert!(report.rows.iter().all(|row| !row.is_passed()));
    assert!(report.to_string().contains("nothing compared"));
}
