//! `devices()`: the devices that can evaluate programs.

use gpu_kernels::device::{Device as _, Information, Unavailable};
use mega_batch::devices::{Devices, Host, simulated};
use pyo3::prelude::*;

use crate::{guard, python};

/// The fields of `mega_batch.Device`, in order.
type Device = (&'static str, String, u64, u64, Option<String>);

fn device(kind: &'static str, found: Result<&Information, &Unavailable>) -> Device {
    match found {
        Ok(of) => (
            kind,
            of.name.clone(),
            of.multiprocessors.into(),
            of.bytes,
            None,
        ),
        Err(why) => (kind, String::new(), 0, 0, Some(why.to_string())),
    }
}

/// The CPU, each NVIDIA GPU, the device that the CPU emulates, and the one whose PTX it executes; those that cannot
/// be used say why.
#[pyfunction]
pub(crate) fn devices(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyAny>>> {
    let all = guard::engine(py, || {
        let host = Host::this();
        let memory = host.memory.map_or(0, |memory| memory.total);
        let mut all = vec![("cpu", host.cpu, host.threads as u64, memory, None)];
        let devices = Devices::here();
        match &devices.gpus {
            Ok(gpus) => all.extend(gpus.iter().map(|gpu| device("gpu", gpu.as_ref()))),
            Err(why) => all.push(device("gpu", Err(why))),
        }
        let interpreted = simulated::interpreted().map(|device| device.information().clone());
        all.push(device("emulated", devices.emulated.as_ref()));
        all.push(device("interpreted", interpreted.as_ref()));
        all
    })?;
    let class = python(py, "Device")?;
    all.into_iter().map(|fields| class.call1(fields)).collect()
}
