//! [`Cancellation`]: ends a batch before its end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Asks runners to end the batch that they run, from another thread or from a signal handler.
///
/// Clones are the same request. What is finished then is delivered, and the
/// [`Summary`](crate::Summary) says that it is not all. A request stays: batches that are run later
/// end before they begin.
///
/// ```
/// use mega_batch::{Batch, Cancellation, Options};
///
/// let cancellation = Cancellation::default();
/// let mut options = Options::default();
/// options.cancellation = cancellation.clone();
/// cancellation.cancel();
/// # let pair = arc_dsl::Pair::new(arc_dsl::Grid::filled(1, 1, 3), None);
/// # let tasks = [arc_dsl::Task { id: "a".into(), train: vec![pair], test: vec![], ..arc_dsl::Task::default() }];
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
    /// Asks for the end.
    pub fn cancel(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }

    /// Whether the end was asked for.
    pub fn is_cancelled(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }

    /// What is set when it was.
    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.flag)
    }
}

/// The request that is made by setting this flag, which is all that a signal handler can do.
impl From<Arc<AtomicBool>> for Cancellation {
    fn from(flag: Arc<AtomicBool>) -> Self {
        Self { flag }
    }
}
