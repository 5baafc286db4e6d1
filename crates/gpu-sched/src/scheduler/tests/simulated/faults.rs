//! Fault injection for simulated devices.

/// A call to a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Call {
    /// Memory.
    Allocate,
    /// A copy, either way.
    Copy,
    /// A launch.
    Launch,
    /// Waiting for everything.
    Wait,
}

impl Call {
    pub(super) const COUNT: usize = 4;
    /// All of them.
    pub(crate) const ALL: [Call; Self::COUNT] =
        [Call::Allocate, Call::Copy, Call::Launch, Call::Wait];
}

/// The result of a faulty call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Effect {
    /// There is no memory.
    OutOfMemory,
    /// It fails.
    Fail,
    /// It takes this many times as long.
    Slow(f64),
    /// It does not return.
    Never,
    /// The device disappears, and comes back this many seconds later.
    Disappear {
        /// `None` if it does not come back.
        back: Option<f64>,
    },
}

/// One injected fault.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Fault {
    /// The device, from 0 on.
    pub(crate) device: usize,
    /// The call.
    pub(crate) call: Call,
    /// Counts calls of this sort, from 0 on.
    pub(crate) nth: u64,
    /// Its effect.
    pub(crate) effect: Effect,
}

/// The effect of this call.
pub(super) fn of(faults: &[Fault], device: usize, call: Call, nth: u64) -> Option<Effect> {
    let mut faults = faults.iter();
    let fault = faults.find(|fault| (fault.device, fault.call, fault.nth) == (device, call, nth));
    fault.map(|fault| fault.effect)
}
