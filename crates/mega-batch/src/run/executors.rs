//! [`Executors`]: what may evaluate a batch.

use std::num::NonZeroUsize;

use gpu_sched::Placement;

use crate::batch::options::{Backend, Mode, Options};
use crate::run::devices::{Request, gpus};

/// What may evaluate a batch, as a [`Runner`](crate::Runner) uses it.
///
/// [`Options::executors`] resolves [`Mode`], [`Backend`], [`Placement`], and the numbers of workers and GPUs in
/// [`Options`] to this. Results do not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Executors {
    /// How many threads evaluate at a time; if `None`, the calling thread does one evaluation after another.
    pub threads: Option<NonZeroUsize>,
    /// Which programs the host compiles. The reference interpreter evaluates the others.
    pub compilation: Compilation,
    /// The devices that evaluate besides the host.
    pub devices: Request,
    /// Whether the host or a device runs an evaluation that both can run.
    pub placement: Placement,
}

/// Which programs the host compiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compilation {
    /// None.
    Never,
    /// Every program that has a compiled form.
    Always,
    /// Programs that are evaluated [often enough](Backend::least_evaluations) in the batch, or were compiled in an
    /// earlier one. Programs that share steps may be [merged](crate::Merging).
    Auto,
}

impl Executors {
    /// Resolves the options; `has_gpu` is called only in [`Mode::Auto`].
    pub(crate) fn of(options: &Options, has_gpu: impl FnOnce() -> bool) -> Self {
        let cpu = |compilation| (compilation, Request::NoDevice);
        let gpus = || options.gpus.map_or(Request::AllGpus, Request::Gpus);
        let (compilation, devices) = match (options.backend, options.mode) {
            (Backend::Reference, _) => cpu(Compilation::Never),
            (Backend::Compiled, _) => cpu(Compilation::Always),
            (Backend::Auto, Mode::Sequential | Mode::Parallel) => cpu(Compilation::Auto),
            (Backend::Auto, Mode::Auto) if options.gpus == Some(0) || !has_gpu() => {
                cpu(Compilation::Auto)
            }
            (Backend::Auto, Mode::Gpu | Mode::Auto) | (Backend::Cuda, _) => {
                (Compilation::Auto, gpus())
            }
            (Backend::Emulated, _) => (Compilation::Auto, Request::Emulated),
            (Backend::Interpreted, _) => (Compilation::Auto, Request::Interpreted),
        };
        let is_simulated = matches!(devices, Request::Emulated | Request::Interpreted);
        let default = match options.mode {
            Mode::Gpu => Placement::Devices,
            // A simulated device is too slow to be given much beside the host.
            Mode::Sequential | Mode::Parallel if is_simulated => Placement::Devices,
            Mode::Sequential | Mode::Parallel | Mode::Auto => Placement::Auto,
        };
        Self {
            threads: options.mode.is_parallel().then(|| {
                let cores = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
                options.workers.unwrap_or_else(cores)
            }),
            compilation,
            devices,
            placement: options.placement.unwrap_or(default),
        }
    }

    /// How many threads evaluate, including the calling one.
    pub(crate) fn thread_count(&self) -> usize {
        self.threads.map_or(1, NonZeroUsize::get)
    }

    /// The backend that reports name.
    pub(crate) fn backend(&self) -> Backend {
        match (self.devices, self.compilation) {
            (Request::AllGpus | Request::Gpus(_), _) => Backend::Cuda,
            (Request::Emulated, _) => Backend::Emulated,
            (Request::Interpreted, _) => Backend::Interpreted,
            (Request::NoDevice, Compilation::Never) => Backend::Reference,
            (Request::NoDevice, Compilation::Always) => Backend::Compiled,
            (Request::NoDevice, Compilation::Auto) => Backend::Auto,
        }
    }
}

impl Options {
    /// The executors that these options select on this machine. [`Mode::Auto`] looks for GPUs.
    pub fn executors(&self) -> Executors {
        Executors::of(self, || {
            gpus().is_ok_and(|gpus| gpus.iter().any(Result::is_ok))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODES: [Mode; 4] = [Mode::Sequential, Mode::Parallel, Mode::Gpu, Mode::Auto];
    const BACKENDS: [Backend; 6] = [
        Backend::Reference,
        Backend::Compiled,
        Backend::Auto,
        Backend::Emulated,
        Backend::Interpreted,
        Backend::Cuda,
    ];

    fn options(mode: Mode, backend: Backend) -> Options {
        Options {
            mode,
            backend,
            ..Options::default()
        }
    }

    #[test]
    fn shorthands_name_devices_threads_and_placement() {
        let of = |mode, backend, has_gpu| {
            let executors = Executors::of(&options(mode, backend), || has_gpu);
            (executors.devices, executors.placement)
        };
        let gpus = Request::AllGpus;
        let table = [
            (
                Mode::Parallel,
                Backend::Auto,
                Request::NoDevice,
                Placement::Auto,
            ),
            (Mode::Gpu, Backend::Auto, gpus, Placement::Devices),
            (Mode::Auto, Backend::Auto, gpus, Placement::Auto),
            (Mode::Parallel, Backend::Cuda, gpus, Placement::Auto),
            (Mode::Gpu, Backend::Cuda, gpus, Placement::Devices),
            (
                Mode::Sequential,
                Backend::Emulated,
                Request::Emulated,
                Placement::Devices,
            ),
            (
                Mode::Parallel,
                Backend::Interpreted,
                Request::Interpreted,
                Placement::Devices,
            ),
            (
                Mode::Auto,
                Backend::Emulated,
                Request::Emulated,
                Placement::Auto,
            ),
        ];
        for (mode, backend, devices, placement) in table {
            assert_eq!(
                of(mode, backend, true),
                (devices, placement),
                "{mode} {backend}"
            );
        }
        // Without a GPU, the mode auto requests no device; the mode gpu does, to report why there is none.
        assert_eq!(of(Mode::Auto, Backend::Auto, false).0, Request::NoDevice);
        assert_eq!(of(Mode::Gpu, Backend::Auto, false).0, gpus);
        for mode in MODES {
            let executors = Executors::of(&options(mode, Backend::Auto), || false);
            assert_eq!(executors.threads.is_some(), mode != Mode::Sequential);
        }
        let mut two = options(Mode::Auto, Backend::Auto);
        two.gpus = Some(2);
        two.placement = Some(Placement::Host);
        two.workers = NonZeroUsize::new(3);
        let executors = Executors::of(&two, || true);
        assert_eq!(executors.devices, Request::Gpus(2));
        assert_eq!(executors.placement, Placement::Host);
        assert_eq!(executors.thread_count(), 3);
        two.gpus = Some(0);
        let executors = Executors::of(&two, || true);
        assert_eq!(executors.devices, Request::NoDevice);
    }

    #[test]
    fn the_named_backend_is_the_requested_one() {
        for mode in MODES {
            for backend in BACKENDS {
                for has_gpu in [false, true] {
                    let executors = Executors::of(&options(mode, backend), || has_gpu);
                    let takes_gpus = backend == Backend::Auto
                        && (mode == Mode::Gpu || mode == Mode::Auto && has_gpu);
                    let expected = if takes_gpus { Backend::Cuda } else { backend };
                    assert_eq!(executors.backend(), expected, "{mode} {backend}");
                }
            }
        }
    }
}
