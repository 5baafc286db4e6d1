//! `mega-batch report`: the document of a run or a search as a page.

use std::path::PathBuf;

use mega_batch::files::is_standard_input;

use super::exit::Exit;
use super::output::{Destination, Folders, shown};
use super::tell;
use super::terminal::print;
use crate::report;

/// Turns the document of a run or a search into one page for a browser.
///
/// The page is one file that needs no network: the results, charts, the tasks as coloured grids with the outputs of
/// their best programs, slow and failing programs, and where the time of devices went. The grids are there if the
/// document was written by `run --attempts`. For a search it shows what was found for each task, attempts layer by
/// layer.
#[derive(Debug, clap::Args)]
pub(crate) struct Report {
    /// The document, as `run --json` or `search --json` wrote it.
    #[arg(value_name = "RESULT.json")]
    document: PathBuf,

    /// Where the page goes; `-` is the standard output. A file is replaced once the page is complete.
    #[arg(long, value_name = "FILE")]
    html: PathBuf,

    /// Print nothing but errors.
    #[arg(long)]
    quiet: bool,
}

impl Report {
    pub(crate) fn run(self) -> anyhow::Result<Exit> {
        let html = Destination::open(&self.html, Folders::Expected)?;
        let on_stdout = matches!(html, Destination::Stdout);
        let document = match report::read(&self.document) {
            Ok(document) => document,
            Err(error) => {
                tell(&[error]);
                return Ok(Exit::BadInput);
            }
        };
        let name = if is_standard_input(&self.document) {
            "standard input".into()
        } else {
            self.document
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
        };
        html.write(|out| report::write(&document, &name, out))?;
        if !(self.quiet || on_stdout) {
            let about = document.about();
            print(format!("{}: {about}\n", shown(&self.html)))?;
        }
        Ok(Exit::Success)
    }
}
