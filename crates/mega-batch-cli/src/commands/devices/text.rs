//! The report of the command as text for people.

use std::fmt::{self, Display, Formatter};

use mega_batch::escaped;

use super::document::{
    CostsReport, DevicesReport, Document, ExecutorReport, MeasuredReport, Thresholds,
};
use crate::machine::{line, range};
use crate::table::thousands;

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
        if let Some(costs) = &self.costs {
            gap(f)?;
            costs.fmt(f)?;
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
        let until = match self.measured_kinds.len() {
            0 => ", until costs are measured".to_owned(),
            kinds => format!("; measured costs stand in their place for {kinds} kinds of work"),
        };
        let text = if is_simulated {
            // A run asks for a simulated device to try it, not to save time.
            let forced = "without --placement auto from the first one on";
            format!("the device from {gpu} evaluations on{until}; {forced}")
        } else {
            format!("a GPU from {gpu} evaluations on, several from {each} a GPU on{until}")
        };
        line(f, "thresholds", text)
    }
}

/// Microseconds with three digits.
fn micros(seconds: f64) -> String {
    let micros = seconds * 1e6;
    let decimals = if micros >= 99.95 {
        0
    } else if micros >= 9.995 {
        1
    } else {
        2
    };
    format!("{micros:.decimals$}")
}

impl Display for CostsReport {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Some(file) = &self.file else {
            return line(f, "costs", "not kept: no cache folder is known");
        };
        line(f, "costs", file)?;
        match self.removed {
            Some(true) => line(f, "", "removed")?,
            Some(false) => line(f, "", "there was nothing to be removed")?,
            None if self.executors.is_empty() => line(f, "", "nothing is measured so far")?,
            None => {}
        }
        for executor in &self.executors {
            writeln!(f)?;
            executor.fmt(f)?;
        }
        Ok(())
    }
}

impl Display for ExecutorReport {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}, engine {}",
            escaped(&self.id.device),
            escaped(&self.id.engine)
        )?;
        if let Some(driver) = &self.id.driver {
            write!(f, ", CUDA {}", escaped(driver))?;
        }
        if let Some(kernels) = &self.id.kernels {
            write!(f, ", kernels {}", escaped(kernels))?;
        }
        writeln!(f)?;
        if !self.kinds.is_empty() {
            writeln!(
                f,
                "  {:<16}{:>14}{:>18}{:>16}{:>10}",
                "steps", "us a batch", "GB/s of copies", "us each", "batches"
            )?;
        }
        for kind in &self.kinds {
            let steps = range(kind.steps);
            let copies = kind
                .bytes_per_second
                .map_or("none".to_owned(), |bytes| format!("{:.2}", bytes / 1e9));
            writeln!(
                f,
                "  {steps:<16}{:>14}{copies:>18}{:>16}{:>10}",
                micros(kind.overhead_seconds),
                micros(kind.unit_seconds),
                thousands(kind.batches)
            )?;
        }
        if let Some(shape) = &self.launch_shape {
            writeln!(
                f,
                "  launch shape: {} warps a block, {} evaluations side by side, {} blocks a \
                 multiprocessor",
                shape.warps, shape.side_by_side, shape.blocks
            )?;
        }
        Ok(())
    }
}

impl Display for MeasuredReport {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "measured: {}", self.costs)?;
        if let Some(shapes) = &self.shapes {
            let share = shapes.seconds / shapes.default_seconds.max(f64::MIN_POSITIVE);
            writeln!(
                f,
                "  found among {}: {:.0}% of the time of the default one",
                shapes.tried,
                share * 100.0
            )?;
        }
        let mut sizes: Vec<u64> = self.batches.iter().map(|batch| batch.items).collect();
        sizes.sort_unstable();
        sizes.dedup();
        if sizes.is_empty() {
            return Ok(());
        }
        write!(f, "  {:<16}", "us, batch of")?;
        for size in &sizes {
            write!(f, "{:>12}", thousands(*size))?;
        }
        writeln!(f)?;
        for kind in &self.costs.kinds {
            write!(f, "  {:<16}", range(kind.steps))?;
            for size in &sizes {
                let mut batches = self.batches.iter();
                let of = batches.find(|batch| batch.kind == kind.kind && batch.items == *size);
                let seconds = of.map_or("-".to_owned(), |batch| micros(batch.seconds));
                write!(f, "{seconds:>12}")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits() {
        let times = [
            0.0, 1.234e-6, 9.994e-6, 9.996e-6, 45.67e-6, 99.96e-6, 0.012_345,
        ];
        let expected = ["0.00", "1.23", "9.99", "10.0", "45.7", "100", "12345"];
        assert_eq!(times.map(micros), expected);
    }
}
