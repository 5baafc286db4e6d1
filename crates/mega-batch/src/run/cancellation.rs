//! [`Cancellation`]: ends a batch early.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Asks runners to stop their batch, from another thread or from a signal handler.
///
/// Clones share one request. Everything finished by then is delivered, and the [`Summary`](crate::Summary) says that
/// it is incomplete. A request is permanent: later batches end before they begin.
///
/// ```
/// use mega_batch::{Batch, Cancellation, Options};
///
/// let cancellation = Cancellation::default();
/// let mut options = Options::default();
/// options.cancellation = cancellation.clone();
/// cancellation.cancel();
/// # let pair = arc_tasks::Pair::new(arc_dsl::Grid::filled(1, 1, 3), None);
/// # let tasks = [arc_tasks::Task { id: "a".into(), train: vec![pair], test: vec![], ..arc_tasks::Task::default() }];
/// # let builder = arc_dsl::ProgramBuilder::new("solve_a");
/// # let input = builder.input();
/// # let programs = [builder.finish(input)?];
/// let report = mega_batch::run(&Batch::own_tasks(&programs, &tasks), &options)?;
/// assert!(report.results.is_empty() && !report.summary.is_complete());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Cancellation {
    flag: Arc<AtomicBool>,
}

impl Cancellation {
    /// Requests the end.
    pub fn cancel(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }

    /// Whether the end was requested.
    pub fn is_cancelled(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }

    /// The flag that requests set.
    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.flag)
    }
}

/// The request that consists of setting this flag, which is all that a signal handler can do.
impl From<Arc<AtomicBool>> for Cancellation {
    fn from(flag: Arc<AtomicBool>) -> Self {
        Self { flag }
    }
}
