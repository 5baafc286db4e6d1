//! `mega-batch devices`: the available devices, and which of them a run uses.

mod document;

use std::path::PathBuf;

use mega_batch::devices::Request;

use super::exit::Exit;
use super::output::{Destination, write_json};
use super::terminal::print;
use crate::machine::MachineReport;
use document::Document;

/// Lists the available devices, and which of them a run uses.
///
/// A run with --backend cuda uses every usable GPU.
#[derive(Debug, clap::Args)]
pub(crate) struct Devices {
    /// List the emulated device too, and what a run with --backend emulated uses.
    #[arg(long)]
    emulated: bool,

    /// List the device that executes PTX on the CPU too, and what a run with --backend ptx uses.
    #[arg(long, conflicts_with = "emulated")]
    ptx: bool,

    /// Show what a run with this many GPUs uses [default: all].
    #[arg(long, value_name = "N", conflicts_with_all = ["emulated", "ptx"], value_parser = super::number::<usize>)]
    gpus: Option<usize>,

    /// Write the same as one JSON document; `-` is the standard output. A file is replaced once the document is
    /// complete.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl Devices {
    pub(crate) fn run(self) -> anyhow::Result<Exit> {
        let json = Destination::of_option(self.json.as_ref())?;
        let (found, machine) = MachineReport::here(self.emulated, self.ptx);
        let document = Document::new(&found, machine, self.request());
        let text = document.to_string();
        let on_stdout = write_json(json, &document)?;
        if !on_stdout {
            print(&text)?;
        }
        Ok(Exit::Success)
    }

    fn request(&self) -> Request {
        match self.gpus {
            _ if self.emulated => Request::Emulated,
            _ if self.ptx => Request::Interpreted,
            Some(gpus) => Request::Gpus(gpus),
            None => Request::AllGpus,
        }
    }
}
