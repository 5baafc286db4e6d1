//! The options of a pool for programs in free Python.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use mega_batch::inputs::read_text;
use python_pool::{Axes, Pool, Settings};

/// How programs in free Python are run, if they are.
#[derive(Debug, clap::Args)]
pub(super) struct FreePython {
    /// Run programs in free Python too, each isolated in a process of its own, by this CPython of 3.11 or later
    /// [without a file: `python3`]. Without this option nothing is executed.
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "python3", requires = "programs")]
    python: Option<PathBuf>,

    /// The packages that these programs may import beside the standard library, separated by commas; none if empty.
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        default_value = "numpy",
        requires = "python"
    )]
    python_modules: Vec<String>,

    /// A module whose public names these programs have, and which they can import by its name.
    #[arg(long, value_name = "FILE", requires = "python")]
    python_prelude: Option<PathBuf>,

    /// How these programs index a grid: by row and column, or as `grid[x, y]`.
    #[arg(long, value_parser = super::named(&AXES), default_value = "rc", requires = "python")]
    python_axes: Axes,

    /// End such a program after this much CPU time on all pairs of a task [default: 2].
    #[arg(long, value_name = "SECONDS", value_parser = super::seconds::seconds, requires = "python")]
    python_seconds: Option<Duration>,
}

const AXES: [(&str, Axes); 2] = [("rc", Axes::RowColumn), ("xy", Axes::ColumnRow)];

impl FreePython {
    /// The pool, with so many workers.
    pub(super) fn pool(&self, workers: Option<NonZeroUsize>) -> anyhow::Result<Option<Pool>> {
        let Some(python) = &self.python else {
            return Ok(None);
        };
        let mut settings = Settings::of(python.clone());
        if let Some(workers) = workers {
            settings.workers = workers.get();
        }
        if let Some(time) = self.python_seconds {
            settings.cpu_time = time;
        }
        let modules = self.python_modules.iter().map(|name| name.trim());
        settings.modules = modules
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
            .collect();
        settings.prelude = self.python_prelude.as_deref().map(prelude).transpose()?;
        settings.axes = self.python_axes;
        Ok(Some(Pool::new(settings).context("--python")?))
    }
}

/// The name and the text of a module.
fn prelude(file: &Path) -> anyhow::Result<(String, String)> {
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    Ok((name.into_owned(), read_text(file)?))
}
