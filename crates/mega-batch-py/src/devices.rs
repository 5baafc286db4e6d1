//! `devices()`: the devices that can evaluate programs.

use gpu_kernels::device::{Device as _, Information, Unavailable};
use mega_batch::devices::{Devices, Host, simulated};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::guard;
use crate::pickle::{Reduced, reduced};

/// The kinds of devices.
const KINDS: [&str; 4] = ["cpu", "gpu", "emulated", "interpreted"];

/// A device that can evaluate programs. It can be pickled, is hashable, and compares by value.
#[pyclass(frozen, get_all, eq, hash, name = "Device", module = "mega_batch")]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct PyDevice {
    /// "cpu", "gpu", "emulated" or "interpreted".
    kind: &'static str,
    /// Its name; empty for a GPU that cannot be used.
    name: String,
    /// Threads of the CPU; multiprocessors of a GPU.
    units: u64,
    /// Total memory in bytes, 0 if not known.
    memory: u64,
    /// Why it cannot be used, or None.
    unavailable: Option<String>,
}

/// The fields of a `Device`, in order.
pub(crate) type PickledDevice = (String, String, u64, u64, Option<String>);

#[pymethods]
impl PyDevice {
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        let state: PickledDevice = (
            self.kind.to_owned(),
            self.name.clone(),
            self.units,
            self.memory,
            self.unavailable.clone(),
        );
        reduced(py, "Device", state)
    }

    fn __repr__(&self) -> String {
        let Self { kind, name, .. } = self;
        match &self.unavailable {
            Some(why) => format!("<Device {kind} {name}: {why}>"),
            None => format!("<Device {kind} {name}>"),
        }
    }
}

impl PyDevice {
    pub(crate) fn unpickled(state: PickledDevice) -> PyResult<Self> {
        let (kind, name, units, memory, unavailable) = state;
        let known = KINDS.into_iter().find(|known| *known == kind);
        Ok(Self {
            kind: known.ok_or_else(|| PyValueError::new_err(format!("Device: {kind:?}")))?,
            name,
            units,
            memory,
            unavailable,
        })
    }

    fn of(kind: &'static str, found: Result<&Information, &Unavailable>) -> Self {
        let information = found.ok();
        Self {
            kind,
            name: information.map_or(String::new(), |of| of.name.clone()),
            units: information.map_or(0, |of| of.multiprocessors.into()),
            memory: information.map_or(0, |of| of.bytes),
            unavailable: found.err().map(ToString::to_string),
        }
    }
}

/// The CPU, each NVIDIA GPU, the device that the CPU emulates, and the one whose PTX it executes; those that cannot
/// be used say why.
#[pyfunction]
pub(crate) fn devices(py: Python<'_>) -> PyResult<Vec<PyDevice>> {
    guard::engine(py, || {
        let host = Host::this();
        let mut all = vec![PyDevice {
            kind: "cpu",
            name: host.cpu,
            units: host.threads as u64,
            memory: host.memory.map_or(0, |memory| memory.total),
            unavailable: None,
        }];
        let devices = Devices::here();
        match &devices.gpus {
            Ok(gpus) => all.extend(gpus.iter().map(|gpu| PyDevice::of("gpu", gpu.as_ref()))),
            Err(why) => all.push(PyDevice::of("gpu", Err(why))),
        }
        let interpreted = simulated::interpreted().map(|device| device.information().clone());
        all.push(PyDevice::of("emulated", devices.emulated.as_ref()));
        all.push(PyDevice::of("interpreted", interpreted.as_ref()));
        all
    })
}
