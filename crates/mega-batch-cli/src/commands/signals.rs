//! [`Signals`]: the end of a run that is asked for from outside.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use mega_batch::Cancellation;
#[cfg(unix)]
use signal_hook::consts::SIGHUP;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use super::exit::Exit;

/// Lets a file that has come to the most that the user's limits allow fail as a full disk does: the system sends a
/// signal then, which would end the process before it could say anything.
pub(crate) fn let_full_files_fail() {
    // A flag that nobody looks at: signals cannot be ignored without calls that are unsafe.
    #[cfg(unix)]
    let _ = flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
}

/// From now on signals that would end the process cancel its batch instead.
pub(crate) struct Signals {
    cancelled: Arc<AtomicBool>,
    received: Arc<AtomicUsize>,
}

#[cfg(unix)]
const HANDLED: [(i32, Exit); 3] = [
    (SIGHUP, Exit::HangUp),
    (SIGINT, Exit::Interrupted),
    (SIGTERM, Exit::Terminated),
];
#[cfg(not(unix))]
const HANDLED: [(i32, Exit); 2] = [(SIGINT, Exit::Interrupted), (SIGTERM, Exit::Terminated)];

impl Signals {
    /// Begins to listen.
    ///
    /// A SIGINT that follows ends the process at once. No other signal does: who closes a terminal,
    /// and `timeout`, may send theirs twice.
    pub(crate) fn listen() -> io::Result<Self> {
        let signals = Self {
            cancelled: Arc::default(),
            received: Arc::default(),
        };
        let ignored = ignored();
        for (signal, exit) in HANDLED {
            // Under `nohup`, and in the background of a script, they are to be ignored.
            if ignored & (1 << (signal - 1)) != 0 {
                continue;
            }
            let cancelled = || Arc::clone(&signals.cancelled);
            if signal == SIGINT {
                flag::register_conditional_shutdown(signal, exit.code().into(), cancelled())?;
            }
            flag::register_usize(signal, Arc::clone(&signals.received), signal as usize)?;
            flag::register(signal, cancelled())?;
        }
        Ok(signals)
    }

    /// What they cancel.
    pub(crate) fn cancellation(&self) -> Cancellation {
        Arc::clone(&self.cancelled).into()
    }

    /// How the command ends, where one came.
    pub(crate) fn received(&self) -> Option<Exit> {
        let received = self.received.load(Ordering::Relaxed);
        let mut handled = HANDLED.iter();
        handled.find_map(|&(signal, exit)| (signal as usize == received).then_some(exit))
    }
}

/// The signals that whoever started the process wants ignored, a bit each. Only Linux tells without
/// calls that are unsafe.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mut lines = status.lines();
    let mask = lines.find_map(|line| line.strip_prefix("SigIgn:"));
    mask.map_or(0, |mask| u64::from_str_radix(mask.trim(), 16).unwrap_or(0))
}
