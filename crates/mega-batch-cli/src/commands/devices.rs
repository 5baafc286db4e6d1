//! `mega-batch devices`: the available devices, which of them a run uses, and in which configuration GPUs are launched.

mod document;

use std::path::PathBuf;

use anyhow::Context;
use gpu_kernels::device::open;
use mega_batch::VERSION;
use mega_batch::devices::{Devices as Found, Request};
use mega_batch::tuning::{self, BUDGET, DeviceIdentity, TuningFile};

use super::exit::Exit;
use super::output::{Destination, shown, write_json};
use super::terminal::print;
use super::warn;
use crate::machine::MachineReport;
use document::{DevicesReport, Document, KeptReport};

pub(super) use document::MeasuredReport;

/// Lists the available devices, which of them a run uses, and in which configuration GPUs are launched.
///
/// A run with --backend cuda uses every usable GPU. Each is launched in its fastest configuration, which the first run
/// searches for about a second, and which is kept between runs: in the folder that `MEGA_BATCH_CACHE` names, otherwise in
/// the user's cache folder. --measure searches at once.
#[derive(Debug, clap::Args)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
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

    /// Search the fastest configuration of every GPU on built-in programs, about a second each, and keep it.
    #[arg(long)]
    measure: bool,

    /// Print the configurations that are kept, and their file.
    #[arg(long)]
    kept: bool,

    /// Remove the configurations that are kept.
    #[arg(long, conflicts_with = "kept")]
    reset: bool,

    /// Write the same as one JSON document; `-` is the standard output. A file is replaced once the document is
    /// complete.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl Devices {
    pub(crate) fn run(self) -> anyhow::Result<Exit> {
        let json = Destination::of_option(self.json.as_ref())?;
        let mut file = TuningFile::open();
        let removed = self.reset.then(|| file.reset()).transpose();
        let removed = removed.with_context(|| match file.path() {
            Some(path) => format!("{}: cannot be removed", shown(path)),
            None => "no cache folder".to_owned(),
        })?;
        if let Some(notice) = file.notice() {
            warn(format_args!("{notice}"));
        }

        // Asking only for what is kept should not wait for devices.
        let needs_devices = self.measure || !(self.kept || self.reset);
        let here = needs_devices.then(|| MachineReport::here(self.emulated, self.ptx));
        let (measured, exit) = match &here {
            Some((found, _)) if self.measure => measure(found, &mut file),
            _ => (Vec::new(), Exit::Success),
        };
        let document = Document {
            engine_version: VERSION,
            devices: here
                .map(|(found, machine)| DevicesReport::new(&found, machine, self.request())),
            measured,
            kept: (self.kept || removed.is_some()).then(|| KeptReport::new(&file, removed)),
        };
        let text = document.to_string();
        let on_stdout = write_json(json, &document)?;
        if !on_stdout {
            print(&text)?;
        }
        Ok(exit)
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

/// Searches the fastest configuration of every usable GPU, and keeps it.
fn measure(found: &Found, file: &mut TuningFile) -> (Vec<MeasuredReport>, Exit) {
    let (mut measured, mut exit) = (Vec::new(), Exit::Success);
    for (number, gpu) in found.gpus.iter().flatten().enumerate() {
        let Ok(gpu) = gpu else {
            continue;
        };
        let id = DeviceIdentity::of(gpu);
        let best = match tuning::tune(Box::new(move || open::gpu(number)), BUDGET) {
            Ok(Some(best)) => best,
            found => {
                let reason = found.err().map(|reason| reason.to_string());
                let reason = reason.as_deref().unwrap_or("out of device memory");
                warn(format_args!("{}: not measured: {reason}", id.device));
                exit = Exit::Failure;
                continue;
            }
        };
        measured.push(MeasuredReport::new(&id, &best));
        if let Err(error) = file.keep(&id, best.tuning) {
            let path = file.path().map(shown).unwrap_or_default();
            warn(format_args!("{path}: not kept: {error}"));
            exit = Exit::Failure;
        }
    }
    (measured, exit)
}
