//! [`Signals`]: signals that end a run.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use mega_batch::Cancellation;
#[cfg(unix)]
use signal_hook::consts::SIGHUP;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use super::exit::Exit;

/// Makes writing a file past the user's size limit fail as on a full disk: the system sends a signal then, which
/// would end the process without a message.
pub(crate) fn let_full_files_fail() {
    // A flag that nobody reads: ignoring signals takes unsafe calls.
    #[cfg(unix)]
    let _ = flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
}

/// Turns signals that would end the process into the cancellation of its batch.
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
    /// A second SIGINT ends the process at once. No other signal does: a closing terminal, and `timeout`, may send
    /// theirs twice.
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

    /// The cancellation that they trigger.
    pub(crate) fn cancellation(&self) -> Cancellation {
        Arc::clone(&self.cancelled).into()
    }

    /// The exit code of the signal received, if any.
    pub(crate) fn received(&self) -> Option<Exit> {
        let received = self.received.load(Ordering::Relaxed);
        let mut handled = HANDLED.iter();
        handled.find_map(|&(signal, exit)| (signal as usize == received).then_some(exit))
    }
}

/// The signals that the parent process set to be ignored, one bit each. Only Linux tells without unsafe calls.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mut lines = status.lines();
    let mask = lines.find_map(|line| line.strip_prefix("SigIgn:"));
    mask.map_or(0, |mask| u64::from_str_radix(mask.trim(), 16).unwrap_or(0))
}
