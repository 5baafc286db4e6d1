//! [`Stream`]: operations in order, which wait until something makes them go on.

use std::collections::VecDeque;
use std::time::Duration;

use gpu_kernels::device::Entry;

/// What a stream does. Addresses of the device are [`u64`], those of the host [`usize`].
#[derive(Debug)]
pub(crate) enum Operation {
    Up {
        to: u64,
        from: usize,
        bytes: usize,
    },
    Down {
        to: usize,
        from: u64,
        bytes: usize,
    },
    Copy {
        to: u64,
        from: u64,
        bytes: usize,
    },
    Set {
        to: u64,
        value: u8,
        bytes: usize,
    },
    Launch(Box<Launch>),
    /// An event of this number is passed.
    Record(u64),
}

impl Operation {
    /// Memory of the device that it reads or writes, but for kernels.
    pub(crate) fn device(&self) -> [Option<(u64, usize)>; 2] {
        match *self {
            Self::Up { to, bytes, .. } | Self::Set { to, bytes, .. } => [Some((to, bytes)), None],
            Self::Down { from, bytes, .. } => [Some((from, bytes)), None],
            Self::Copy { to, from, bytes } => [Some((from, bytes)), Some((to, bytes))],
            Self::Launch(_) | Self::Record(_) => [None; 2],
        }
    }

    /// The host's memory that it reads or writes.
    pub(crate) fn host(&self) -> Option<(usize, usize)> {
        match *self {
            Self::Up { from, bytes, .. } => Some((from, bytes)),
            Self::Down { to, bytes, .. } => Some((to, bytes)),
            _ => None,
        }
    }
}

/// A kernel with what it is given.
#[derive(Debug)]
pub(crate) struct Launch {
    /// Which image it is of.
    pub(crate) module: u64,
    pub(crate) entry: Entry,
    pub(crate) blocks: u32,
    pub(crate) threads: u32,
    pub(crate) shared_bytes: u32,
    pub(crate) parameters: Vec<Parameter>,
}

/// A parameter by its size: only addresses have eight bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Parameter {
    Address(u64),
    Number(u32),
}

/// Operations that are not done yet, and how many are.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    pub(crate) queue: VecDeque<Operation>,
    /// How many were done.
    pub(crate) through: u64,
    /// How long they took.
    pub(crate) busy: Duration,
    /// Whether the next one never comes to its end.
    pub(crate) hung: bool,
}

impl Stream {
    /// The number of operations once all are done.
    pub(crate) fn end(&self) -> u64 {
        self.through + self.queue.len() as u64
    }
}

/// A point in a stream.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Event {
    /// The stream, and how many of its operations are done when this is passed; `None` if it was
    /// never recorded.
    pub(crate) point: Option<(u64, u64)>,
    /// The stream's time when it was passed.
    pub(crate) time: Option<Duration>,
}
