//! [`Faulty`]: injects faults into a device according to a plan, to test how callers handle every kind of failure.
//!
//! Calls are counted for a device and its [further streams](Device::new_stream) together. If one thread drives
//! them, the same plan hits the same calls each time.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gpu_kernels::device::{Device, DeviceError, Information, Launch, Memory};

/// When a device fails, and how.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FaultPlan {
    /// Single calls that fail. If several name the same call, the first applies.
    pub faults: Vec<InjectedFault>,
    /// Periods in which the device is lost.
    pub outages: Vec<Outage>,
}

/// A call that fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InjectedFault {
    /// The kind of call.
    pub call: Call,
    /// Which call of its kind, counted from 0.
    pub number: u64,
    /// How it fails.
    pub effect: Effect,
}

/// The kinds of calls into which a fault can be injected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Call {
    /// [`Device::allocate`].
    Allocation,
    /// [`Device::upload`], [`Device::download`] and [`Device::copy`].
    Copy,
    /// [`Device::launch`].
    Launch,
    /// [`Device::synchronize`] and [`Device::elapsed`].
    Wait,
}

/// How a call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It fails as if the device were out of memory.
    OutOfMemory,
    /// It fails as if the device were lost; for a device that stays lost, use an [`Outage`].
    Lost,
    /// It fails with an unspecific error of the driver.
    Driver,
    /// It runs normally, after a delay of this many milliseconds.
    Slow(u64),
    /// It does not return until the [`Handle`] releases it, and then fails as if the device were lost.
    Hang,
}

/// A period in which the device is lost: all calls that can fail do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outage {
    /// The first call of the period, counting calls of any kind from 0.
    pub from: u64,
    /// How many calls it lasts; [`u64::MAX`] for a device that does not come back.
    pub calls: u64,
}

/// A device into which faults are injected by a [plan](FaultPlan); otherwise it behaves like the wrapped one.
#[derive(Debug)]
pub struct Faulty<D> {
    device: D,
    plan: Arc<FaultPlan>,
    handle: Handle,
}

/// Releases hanging calls, and counts calls.
#[derive(Debug, Clone, Default)]
pub struct Handle {
    shared: Arc<(Mutex<FaultState>, Condvar)>,
}

#[derive(Debug, Default)]
struct FaultState {
    calls: Calls,
    hanging: usize,
    released: bool,
}

/// How often a device was called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Calls {
    /// Calls of any kind that can fail.
    pub all: u64,
    /// Those of each kind, in the order of [`Call`].
    pub by_kind: [u64; 4],
}

/// The reason in injected errors.
const FAULT_INJECTION: &str = "fault injection";

impl Calls {
    /// Counts a call; returns its number among all calls and among its kind.
    fn count(&mut self, call: Option<Call>) -> (u64, Option<(Call, u64)>) {
        let counted = |count: &mut u64| {
            *count += 1;
            *count - 1
        };
        let of_kind = call.map(|call| (call, counted(&mut self.by_kind[call as usize])));
        (counted(&mut self.all), of_kind)
    }
}

impl FaultPlan {
    fn effect(&self, all: u64, of_kind: Option<(Call, u64)>) -> Option<Effect> {
        let is_out = |outage: &Outage| {
            let since = all.checked_sub(outage.from);
            since.is_some_and(|since| since < outage.calls)
        };
        if self.outages.iter().any(is_out) {
            return Some(Effect::Lost);
        }
        let mut faults = self.faults.iter();
        let fault = faults.find(|fault| Some((fault.call, fault.number)) == of_kind);
        fault.map(|fault| fault.effect)
    }
}

impl Handle {
    fn locked(&self) -> MutexGuard<'_, FaultState> {
        let state = self.shared.0.lock();
        state.unwrap_or_else(PoisonError::into_inner)
    }

    /// Releases all calls that hang, and those that would hang later.
    pub fn release(&self) {
        self.locked().released = true;
        self.shared.1.notify_all();
    }

    /// The calls so far.
    pub fn calls(&self) -> Calls {
        self.locked().calls
    }

    /// Waits to be released.
    fn hang(&self) {
        let mut state = self.locked();
        state.hanging += 1;
        while !state.released {
            let woken = self.shared.1.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
        state.hanging -= 1;
    }
}

impl<D: Device> Faulty<D> {
    /// Wraps a device, to inject faults by this plan.
    pub fn new(device: D, plan: FaultPlan) -> Self {
        Self {
            device,
            plan: Arc::new(plan),
            handle: Handle::default(),
        }
    }

    /// The handle that releases hanging calls, on this stream and others.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// The wrapped device.
    pub fn inner(&self) -> &D {
        &self.device
    }

    /// Counts a call, and fails if the plan says so. `requested` is the size of an allocation.
    fn inject(&self, call: Option<Call>, requested: usize) -> Result<(), DeviceError> {
        let (all, of_kind) = self.handle.locked().calls.count(call);
        match self.plan.effect(all, of_kind) {
            None => Ok(()),
            Some(Effect::Slow(milliseconds)) => {
                std::thread::sleep(Duration::from_millis(milliseconds));
                Ok(())
            }
            Some(Effect::OutOfMemory) => Err(DeviceError::OutOfMemory {
                requested: requested as u64,
                free: 0,
                total: self.device.information().bytes,
            }),
            Some(Effect::Driver) => Err(DeviceError::Driver {
                call: FAULT_INJECTION,
                code: 1,
                name: "a fault".to_owned(),
            }),
            Some(Effect::Hang) => {
                self.handle.hang();
                Err(lost())
            }
            Some(Effect::Lost) => Err(lost()),
        }
    }
}

fn lost() -> DeviceError {
    DeviceError::Lost {
        reason: FAULT_INJECTION.to_owned(),
    }
}

impl<D: Device> Device for Faulty<D> {
    type Buffer = D::Buffer;
    type Event = D::Event;

    fn information(&self) -> &Information {
        self.device.information()
    }

    fn new_stream(&self) -> Result<Self, DeviceError> {
        self.inject(None, 0)?;
        Ok(Self {
            device: self.device.new_stream()?,
            plan: Arc::clone(&self.plan),
            handle: self.handle(),
        })
    }

    fn memory(&self) -> Result<Memory, DeviceError> {
        self.inject(None, 0)?;
        self.device.memory()
    }

    fn allocate(&self, bytes: usize) -> Result<D::Buffer, DeviceError> {
        self.inject(Some(Call::Allocation), bytes)?;
        self.device.allocate(bytes)
    }

    fn discard(&self, buffer: &mut D::Buffer) -> Result<(), DeviceError> {
        // On a GPU this does nothing, so it does not count as a call.
        self.device.discard(buffer)
    }

    fn upload(&self, from: &[u8], to: &mut D::Buffer, at: usize) -> Result<(), DeviceError> {
        self.inject(Some(Call::Copy), 0)?;
        self.device.upload(from, to, at)
    }

    fn download(&self, from: &D::Buffer, at: usize, to: &mut [u8]) -> Result<(), DeviceError> {
        self.inject(Some(Call::Copy), 0)?;
        self.device.download(from, at, to)
    }

    fn copy(&self, from: &D::Buffer, to: &mut D::Buffer, bytes: usize) -> Result<(), DeviceError> {
        self.inject(Some(Call::Copy), 0)?;
        self.device.copy(from, to, bytes)
    }

    fn clear(&self, buffer: &mut D::Buffer) -> Result<(), DeviceError> {
        self.inject(None, 0)?;
        self.device.clear(buffer)
    }

    fn launch(&self, launch: &Launch<'_, D::Buffer>) -> Result<(), DeviceError> {
        self.inject(Some(Call::Launch), 0)?;
        self.device.launch(launch)
    }

    fn record(&self) -> Result<D::Event, DeviceError> {
        self.inject(None, 0)?;
        self.device.record()
    }

    fn elapsed(&self, from: &D::Event, to: &D::Event) -> Result<Duration, DeviceError> {
        self.inject(Some(Call::Wait), 0)?;
        self.device.elapsed(from, to)
    }

    fn synchronize(&self) -> Result<(), DeviceError> {
        self.inject(Some(Call::Wait), 0)?;
        self.device.synchronize()
    }
}

#[cfg(test)]
mod tests;
