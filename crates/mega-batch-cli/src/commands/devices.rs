//! `mega-batch devices`: the available devices, which of them a run uses, and what evaluations cost on them.

mod document;
mod text;

use std::path::PathBuf;

use anyhow::Context;
use gpu_kernels::device::{Device as _, open};
use mega_batch::calibration::{self, BUDGET, Calibration, CalibrationError, Sample};
use mega_batch::costs::{CostFile, ExecutorId};
use mega_batch::devices::{Request, simulated};
use mega_batch::{Options, VERSION};

use super::exit::Exit;
use super::output::{Destination, shown};
use super::terminal::print;
use super::warn;
use crate::machine::Opened;
use document::{CostsReport, DevicesReport, Document};

pub(super) use document::MeasuredReport;

/// Lists the available devices, which of them a run uses, and what evaluations cost on them.
///
/// A run with --backend cuda uses every usable GPU. The number of evaluations from which it does so follows from
/// measured costs, which are kept between runs: in the folder that `MEGA_BATCH_CACHE` names, otherwise in the user's
/// cache folder. Runs measure as they go; --measure does it at once.
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

    /// Measure the host and every device on built-in programs, about a second each, and keep the costs.
    #[arg(long)]
    measure: bool,

    /// Print the costs that are kept, and their file.
    #[arg(long)]
    costs: bool,

    /// Remove the costs that are kept.
    #[arg(long, conflicts_with = "costs")]
    reset_costs: bool,

    /// Write the same as one JSON document; `-` is the standard output. A file is replaced once the document is
    /// complete.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// The calibration of an executor, or why there is none.
pub(super) struct Measured {
    pub(super) id: ExecutorId,
    pub(super) result: Result<Calibration, CalibrationError>,
}

impl Devices {
    pub(crate) fn run(self) -> anyhow::Result<Exit> {
        let json = Destination::of_option(self.json.as_ref())?;
        let mut file = CostFile::open();
        let removed = self.reset_costs.then(|| file.reset()).transpose();
        let removed = removed.with_context(|| match file.path() {
            Some(path) => format!("{}: cannot be removed", shown(path)),
            None => "no cache folder".to_owned(),
        })?;
        if let Some(notice) = file.notice() {
            warn(format_args!("{notice}"));
        }

        // Asking only for the costs should not wait for devices.
        let needs_devices = self.measure || !(self.costs || self.reset_costs);
        let opened = needs_devices.then(Opened::here);
        let mut exit = Exit::Success;
        let mut measured = Vec::new();
        if let Some(opened) = opened.as_ref().filter(|_| self.measure) {
            measured = self.measured(opened);
            for Measured { id, result } in &measured {
                match result {
                    Ok(found) => file.remember(id, found.learned()),
                    Err(reason) => {
                        warn(format_args!("{}: not measured: {reason}", id.device));
                        exit = Exit::Failure;
                    }
                }
            }
            if let Err(error) = file.save() {
                let path = file.path().map(shown).unwrap_or_default();
                warn(format_args!("{path}: costs are not kept: {error}"));
                exit = Exit::Failure;
            }
        }

        let document = Document {
            engine_version: VERSION,
            devices: opened.map(|opened| DevicesReport::new(&opened, &file, self.request())),
            measured: measured.iter().filter_map(MeasuredReport::new).collect(),
            costs: (self.costs || removed.is_some()).then(|| CostsReport::new(&file, removed)),
        };
        let text = document.to_string();
        let on_stdout = matches!(json, Some(Destination::Stdout));
        if let Some(destination) = json {
            destination.write(|out| {
                serde_json::to_writer(&mut *out, &document)?;
                out.write_all(b"\n")
            })?;
        }
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

    /// Measures the host, every usable GPU, and a simulated device if one is asked for.
    fn measured(&self, opened: &Opened) -> Vec<Measured> {
        let sample = Sample::builtin();
        let host = &opened.host;
        let mut all = vec![Measured {
            id: ExecutorId::host(host, host.threads),
            result: calibration::host(&Options::default(), &sample, BUDGET),
        }];
        for (number, gpu) in opened.found.gpus.iter().flatten().enumerate() {
            if let Ok(gpu) = gpu {
                let open = Box::new(move || open::gpu(number));
                all.push(Measured {
                    id: ExecutorId::device(gpu, host),
                    result: calibration::device(open, &sample, BUDGET),
                });
            }
        }
        if self.emulated
            && let Ok(emulated) = &opened.found.emulated
        {
            all.push(Measured {
                id: ExecutorId::device(emulated, host),
                result: calibration::device(Box::new(simulated::emulated), &sample, BUDGET),
            });
        }
        if self.ptx {
            match simulated::interpreted() {
                Ok(device) => all.push(Measured {
                    id: ExecutorId::device(device.information(), host),
                    result: calibration::device(Box::new(simulated::interpreted), &sample, BUDGET),
                }),
                Err(reason) => warn(format_args!("{reason}")),
            }
        }
        all
    }
}
