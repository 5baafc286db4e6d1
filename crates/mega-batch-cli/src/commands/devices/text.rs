//! The report of the command as text for people.

use std::fmt::{self, Display, Formatter};

use mega_batch::escaped;
use mega_batch::tuning::DeviceIdentity;

use super::document::{
    DevicesReport, Document, KeptReport, MeasuredReport, Thresholds, TuningReport,
};
use crate::machine::line;

impl Display for Document {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut is_first = true;
        let mut gap = |f: &mut Formatter<'_>| {
            if std::mem::take(&mut is_first) {
                return Ok(());
            }
            writeln!(f)
        };
        if let Some(devices) = &self.devices {
            gap(f)?;
            devices.fmt(f)?;
        }
        for measured in &self.measured {
            gap(f)?;
            measured.fmt(f)?;
        }
        if let Some(kept) = &self.kept {
            gap(f)?;
            kept.fmt(f)?;
        }
        Ok(())
    }
}

impl Display for DevicesReport {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.machine.fmt(f)?;
        let run = &self.run;
        let why = format!("with --backend {}: {}", run.backend, run.why);
        line(f, "a run takes", why)?;
        self.thresholds.write(f, run.emulated || run.interpreted)
    }
}

impl Thresholds {
    fn write(&self, f: &mut Formatter<'_>, is_simulated: bool) -> fmt::Result {
        let (gpu, each) = (self.gpu, self.each_of_several);
        let text = if is_simulated {
            // A run asks for a simulated device to try it, not to save time.
            let forced = "without --placement auto from the first one on";
            format!("the device from {gpu} evaluations on; {forced}")
        } else {
            format!("a GPU from {gpu} evaluations on, several from {each} a GPU on")
        };
        line(f, "thresholds", text)
    }
}

impl Display for KeptReport {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Some(file) = &self.file else {
            return line(f, "kept", "nothing: no cache folder is known");
        };
        line(f, "kept", file)?;
        match self.removed {
            Some(true) => line(f, "", "removed")?,
            Some(false) => line(f, "", "there was nothing to be removed")?,
            None if self.devices.is_empty() => line(f, "", "nothing is measured so far")?,
            None => {}
        }
        for device in &self.devices {
            writeln!(f)?;
            device.fmt(f)?;
        }
        Ok(())
    }
}

impl Display for TuningReport {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let DeviceIdentity {
            device,
            driver,
            engine,
            kernels,
        } = &self.id;
        write!(f, "{}, engine {}", escaped(device), escaped(engine))?;
        if let Some(driver) = driver {
            write!(f, ", CUDA {}", escaped(driver))?;
        }
        writeln!(f, ", kernels {}", escaped(kernels))?;
        writeln!(
            f,
            "  launches: {} warps a block, {} evaluations side by side, {} blocks a multiprocessor",
            self.warps, self.side_by_side, self.blocks
        )
    }
}

impl Display for MeasuredReport {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "measured: {}", self.tuning)?;
        let share = self.seconds / self.default_seconds.max(f64::MIN_POSITIVE);
        writeln!(
            f,
            "  found among {}: {:.0}% of the time of the default one",
            self.tried,
            share * 100.0
        )
    }
}
