//! [`Stream`]: a queue of operations, which run when a call lets the stream make progress.

use std::collections::VecDeque;
use std::time::Duration;

use gpu_kernels::device::Entry;

/// An operation in a stream. Addresses of the device are [`u64`], those of the host [`usize`].
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
    /// Records the event with this number.
    Record(u64),
}

impl Operation {
    /// The device memory that it reads or writes; not known for kernels.
    pub(crate) fn device(&self) -> [Option<(u64, usize)>; 2] {
        match *self {
            Self::Up { to, bytes, .. } | Self::Set { to, bytes, .. } => [Some((to, bytes)), None],
            Self::Down { from, bytes, .. } => [Some((from, bytes)), None],
            Self::Copy { to, from, bytes } => [Some((from, bytes)), Some((to, bytes))],
            Self::Launch(_) | Self::Record(_) => [None; 2],
        }
    }

    /// The host memory that it reads or writes.
    pub(crate) fn host(&self) -> Option<(usize, usize)> {
        match *self {
            Self::Up { from, bytes, .. } => Some((from, bytes)),
            Self::Down { to, bytes, .. } => Some((to, bytes)),
            _ => None,
        }
    }
}

/// A launch of a kernel.
#[derive(Debug)]
pub(crate) struct Launch {
    /// The kernel's image.
    pub(crate) module: u64,
    pub(crate) entry: Entry,
    pub(crate) blocks: u32,
    pub(crate) threads: u32,
    pub(crate) shared_bytes: u32,
    pub(crate) parameters: Vec<Parameter>,
}

/// A parameter. Its size tells which it is: only addresses have eight bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Parameter {
    Address(u64),
    Number(u32),
}

/// The queued operations of a stream, and how many have finished.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    pub(crate) queue: VecDeque<Operation>,
    /// How many operations have finished.
    pub(crate) finished: u64,
    /// How long they took.
    pub(crate) busy: Duration,
    /// Whether the next operation hangs.
    pub(crate) hung: bool,
}

impl Stream {
    /// The number of finished operations once the queue is empty.
    pub(crate) fn end(&self) -> u64 {
        self.finished + self.queue.len() as u64
    }
}

/// A point in a stream.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Event {
    /// The stream, and how many of its operations have finished when it reaches this point; `None` if the event was
    /// never recorded.
    pub(crate) point: Option<(u64, u64)>,
    /// The stream's time when it reached this point.
    pub(crate) time: Option<Duration>,
}
