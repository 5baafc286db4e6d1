//! `mega-batch devices`: what there is to make evaluations, what a run takes of it, and what it costs.

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
use super::output::{Destination, Folders, shown};
use super::terminal::print;
use super::warn;
use crate::machine::Opened;
use document::{CostsReport, DevicesReport, Document};

pub(super) use document::MeasuredReport;

/// Tells which devices there are, what a run takes of them, and what evaluations cost them.
///
/// A run with --backend cuda takes every GPU that can be used. From how many evaluations on it does is
/// decided by measured costs, which are kept between runs: in the folder that `MEGA_BATCH_CACHE` names,
/// otherwise in that of the user's caches. Runs measure as they go; --measure does it at once.
#[derive(Debug, clap::Args)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
pub(crate) struct Devices {
    /// Tell of the emulated device too, and what a run with --backend emulated takes.
    #[arg(long)]
    emulated: bool,

    /// Tell of the device that executes PTX on the CPU too, and what a run with --backend ptx takes.
    #[arg(long, conflicts_with = "emulated")]
    ptx: bool,

    /// What a run takes that is to use so many GPUs [default: all].
    #[arg(long, value_name = "N", conflicts_with_all = ["emulated", "ptx"], value_parser = super::number::<usize>)]
    gpus: Option<usize>,

    /// Measure the host and every device on built-in programs, about a second each, and keep what is
    /// found.
    #[arg(long)]
    measure: bool,

    /// Tell the costs that are kept, and in which file.
    #[arg(long)]
    costs: bool,

    /// Remove the costs that are kept.
    #[arg(long, conflicts_with = "costs")]
    reset_costs: bool,

    /// Write the same as one JSON document; `-` is the standard output. A file is replaced when the
    /// document is whole.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// What was measured of an executor, or why nothing was.
pub(super) struct Measured {
    pub(super) id: ExecutorId,
    pub(super) result: Result<Calibration, CalibrationError>,
}

impl Devices {
    pub(crate) fn run(self) -> anyhow::Result<Exit> {
        let json = self.json.as_deref();
        let json = json.map(|path| Destination::open(path, Folders::Expected));
        let json = json.transpose()?;
        let mut file = CostFile::open();
        let removed = self.reset_costs.then(|| file.reset()).transpose();
        let removed = removed.with_context(|| match file.path() {
            Some(path) => format!("{}: cannot be removed", shown(path)),
            None => "no cache folder".to_owned(),
        })?;
        if let Some(notice) = file.notice() {
            warn(format_args!("{notice}"));
        }

        // To ask for the costs alone is not to wait for devices.
        let is_of_devices = self.measure || !(self.costs || self.reset_costs);
        let opened = is_of_devices.then(Opened::here);
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

    /// Measures the host, every GPU that can be used, and what stands in for one where it is asked for.
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
