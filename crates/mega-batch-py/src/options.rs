//! Options of runs: the keywords of `run`, `Engine` and `Coordinator`.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use mega_batch::{Backend, Cancellation, Merging, Mode, Options, Placement, Runner};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arguments::{ANY, flag, seconds, text, whole};
use crate::programs::limits;

/// The value for a keyword's word.
pub(crate) fn word<T: Copy>(
    name: &str,
    value: &Bound<'_, PyAny>,
    words: &[(&str, T)],
) -> PyResult<T> {
    let found = text(name, value)?;
    let known = words.iter().find(|(word, _)| *word == found);
    known.map(|(_, value)| *value).ok_or_else(|| {
        let words: Vec<_> = words.iter().map(|(word, _)| format!("{word:?}")).collect();
        let words = words.join(", ");
        PyValueError::new_err(format!("{name}: expected one of {words}, found {found:?}"))
    })
}

/// The options given by keywords, and the flag that ends a run.
pub(crate) fn options(
    keywords: Option<&Bound<'_, PyDict>>,
) -> PyResult<(Options, Arc<AtomicBool>)> {
    let cancelled = Arc::new(AtomicBool::new(false));
    let mut options = Options::default();
    options.cancellation = Cancellation::from(Arc::clone(&cancelled));
    let (mut max_steps, mut timeout) = (None, None);
    for (name, value) in keywords.into_iter().flatten() {
        let name: String = name.extract()?;
        if value.is_none() {
            continue;
        }
        let (name, value) = (name.as_str(), &value);
        match name {
            "mode" => {
                let words = [Mode::Sequential, Mode::Parallel, Mode::Gpu, Mode::Auto];
                let words = words.map(|mode| (mode.to_string(), mode));
                let words = words.each_ref().map(|(word, mode)| (word.as_str(), *mode));
                options.mode = word(name, value, &words)?;
            }
            "workers" => options.workers = Some(workers(name, value)?),
            "backend" => {
                let words = [
                    ("reference", Backend::Reference),
                    ("compiled", Backend::Compiled),
                    ("auto", Backend::Auto),
                    ("emulated", Backend::Emulated),
                    ("ptx", Backend::Interpreted),
                    ("cuda", Backend::Cuda),
                ];
                options.backend = word(name, value, &words)?;
            }
            "placement" => {
                let words = [
                    ("auto", Placement::Auto),
                    ("host", Placement::Host),
                    ("devices", Placement::Devices),
                ];
                options.placement = Some(word(name, value, &words)?);
            }
            "merging" => {
                let words = [
                    ("auto", Merging::Auto),
                    ("never", Merging::Never),
                    ("always", Merging::Always),
                ];
                options.merging = word(name, value, &words)?;
            }
            "gpus" => options.gpus = Some(whole(name, value, 0..=ANY)?),
            "threshold" => options.threshold = Some(whole(name, value, 0..=ANY)?),
            "batch_size" => options.batch_size = Some(whole(name, value, 1..=ANY)?),
            "max_steps" => max_steps = Some(whole(name, value, 0..=ANY)?),
            "timeout" => timeout = seconds(name, value)?,
            "time_limit" => options.time_limit = seconds(name, value)?,
            "outputs" => options.keep_outputs = flag(name, value)?,
            "scores" => options.scores = flag(name, value)?,
            "stop_after_wrong" => options.stop_after_wrong = flag(name, value)?,
            _ => {
                let message = format!("unexpected keyword {name:?}");
                return Err(PyTypeError::new_err(message));
            }
        }
    }
    options.limits = limits(max_steps, timeout);
    Ok((options, cancelled))
}

/// A number of threads.
pub(crate) fn workers(name: &str, value: &Bound<'_, PyAny>) -> PyResult<NonZeroUsize> {
    let workers = whole(name, value, 1..=Runner::MAX_WORKERS as i128)?;
    NonZeroUsize::new(workers).ok_or_else(|| crate::internal("no workers"))
}
