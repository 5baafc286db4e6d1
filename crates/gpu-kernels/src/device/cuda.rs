//! [`CudaDevice`]: an NVIDIA GPU, through the CUDA driver API.
//!
//! A device has one context and one module, shared by its streams. The driver's library is loaded when a device is
//! opened, so a program built with this also runs without one.
//!
//! `driver` wraps the driver's library with typed errors, `staging` does the copies, and `image`, beside this
//! module, has the PTX. Unsafe code is confined to the first two, except for the launch.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::time::Duration;

use cudarc::driver::sys::CUdevice_attribute as Attribute;

use super::{
    Device, DeviceError, DeviceKind, Entry, Information, Launch, Memory, Unavailable, bytes_within,
};

mod arguments;
mod driver;
mod errors;
mod staging;

pub use driver::{Buffer, Event};

use super::image::{Image, PTX};
use crate::pool::LANES;
use driver::{Driver, Function, Gpu, Module, Stream};
use errors::Failure;
use staging::Staging;

/// An NVIDIA GPU with the kernels loaded.
#[derive(Debug)]
pub struct CudaDevice {
    information: Information,
    /// The kernel launched last: a fault that a later call reports is attributed to it.
    last_kernel: Cell<Option<&'static str>>,
    /// Declared before `kernels`, so that it is dropped first: it then waits for running work.
    staging: RefCell<Staging>,
    kernels: Arc<[Kernel]>,
    stream: Arc<Stream>,
}

/// A kernel of the image, ready to be launched.
#[derive(Debug)]
struct Kernel {
    entry: Entry,
    function: Function,
    /// Bytes of dynamic shared memory that a launch may request.
    shared_bytes: u32,
}

impl CudaDevice {
    /// The number of GPUs, at least one; the error says why there is none.
    pub fn count() -> Result<usize, Unavailable> {
        Driver::open().map(|driver| driver.count)
    }

    /// The properties of each GPU, by index, or why it cannot be used; the error says why none can be. Creates no
    /// context.
    pub(super) fn all(expected: u64) -> Result<Vec<Result<Information, Unavailable>>, Unavailable> {
        let image = &Image::new(PTX);
        let driver = open_driver(image, expected)?;
        let information = |index| usable_information(driver.gpu(index)?, driver, image);
        Ok((0..driver.count).map(information).collect())
    }

    /// Opens a GPU by index and loads the kernels, which must have been built for the interface with this
    /// fingerprint. The driver compiles them for the GPU when it first sees them, which takes a while.
    pub(super) fn new(index: usize, expected_fingerprint: u64) -> Result<Self, Unavailable> {
        let image = &Image::new(PTX);
        let driver = open_driver(image, expected_fingerprint)?;
        let gpu = driver.gpu(index)?;
        let information = usable_information(gpu, driver, image)?;
        let context = gpu.context().map_err(Failure::unavailable)?;
        let needed_driver = image.needed_driver();
        let module = Module::load(&context, image.text())
            .map_err(|(failure, log)| failure.image(&log, driver.version, needed_driver))?;
        let module = Arc::new(module);
        let kernels = Entry::ALL.iter().copied().map(|entry| {
            let refused = |failure: Failure| failure.image("", driver.version, needed_driver);
            let function = module.function(entry.symbol()).map_err(refused)?;
            let shared_bytes = function
                .allow_shared(information.shared_bytes)
                .map_err(refused)?;
            Ok(Kernel {
                entry,
                function,
                shared_bytes,
            })
        });
        let kernels = kernels.collect::<Result<_, _>>()?;
        let stream = Stream::new(&context).map_err(Failure::unavailable)?;
        let stream = Arc::new(stream);
        let staging =
            Staging::new(&stream, staging::UPLOAD_CHUNKS).map_err(Failure::unavailable)?;
        Ok(Self {
            information,
            kernels,
            last_kernel: Cell::new(None),
            staging: RefCell::new(staging),
            stream,
        })
    }

    /// Converts a failure, given the kernel launched last.
    fn error(&self, failure: Failure) -> DeviceError {
        self.error_asking_for(0, failure)
    }

    fn error_asking_for(&self, requested: usize, failure: Failure) -> DeviceError {
        failure.device_error(self.last_kernel.get(), requested as u64, || {
            let (free, total) = self
                .stream
                .context()
                .memory()
                .unwrap_or((0, self.information.bytes));
            Memory { free, total }
        })
    }
}

/// Opens the driver. Fails if it is too old for the image, or the image is for another interface.
fn open_driver(image: &Image<'_>, expected: u64) -> Result<Driver, Unavailable> {
    let driver = Driver::open()?;
    if let Some(needed) = image.needed_driver()
        && driver.version < needed
    {
        let driver = driver.version;
        return Err(Unavailable::DriverTooOld { driver, needed });
    }
    image.check(expected)?;
    Ok(driver)
}

/// The properties of a GPU; fails if it is too old for the image.
fn usable_information(
    gpu: Gpu,
    driver: Driver,
    image: &Image<'_>,
) -> Result<Information, Unavailable> {
    let information = information(gpu, driver).map_err(Failure::unavailable)?;
    match image.needed_capability() {
        Some(needed) if information.capability < needed => Err(Unavailable::TooOld {
            name: information.name,
            found: information.capability,
            needed,
        }),
        _ => Ok(information),
    }
}

/// The properties of a device, as the driver reports them.
fn information(gpu: Gpu, driver: Driver) -> Result<Information, Failure> {
    let threads = gpu.attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)?;
    Ok(Information {
        name: gpu.name()?,
        kind: DeviceKind::Cuda,
        capability: (
            gpu.attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            gpu.attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        ),
        multiprocessors: gpu.attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        warps: threads / LANES as u32,
        shared_bytes: gpu
            .attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
        multiprocessor_shared_bytes: gpu
            .attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)?,
        bytes: gpu.bytes()?,
        driver: Some(driver.version),
    })
}

impl Device for CudaDevice {
    type Buffer = Buffer;
    type Event = Event;

    fn information(&self) -> &Information {
        &self.information
    }

    fn new_stream(&self) -> Result<Self, DeviceError> {
        let stream = Stream::new(self.stream.context()).map_err(|failure| self.error(failure))?;
        let stream = Arc::new(stream);
        let staging = Staging::new(&stream, staging::UPLOAD_CHUNKS_OF_FURTHER_STREAM);
        let staging = staging.map_err(|failure| self.error(failure))?;
        Ok(Self {
            information: self.information.clone(),
            kernels: Arc::clone(&self.kernels),
            last_kernel: Cell::new(None),
            staging: RefCell::new(staging),
            stream,
        })
    }

    fn memory(&self) -> Result<Memory, DeviceError> {
        let memory = self.stream.context().memory();
        let (free, total) = memory.map_err(|failure| self.error(failure))?;
        Ok(Memory { free, total })
    }

    fn allocate(&self, bytes: usize) -> Result<Buffer, DeviceError> {
        Buffer::new(self.stream.context(), bytes.max(1))
            .map_err(|failure| self.error_asking_for(bytes, failure))
    }

    fn upload(&self, from: &[u8], to: &mut Buffer, at: usize) -> Result<(), DeviceError> {
        bytes_within(at, from.len(), to.length)?;
        let mut staging = self.staging.borrow_mut();
        let copied = staging.upload(from, to, at);
        copied.map_err(|failure| self.error(failure))
    }

    fn download(&self, from: &Buffer, at: usize, to: &mut [u8]) -> Result<(), DeviceError> {
        bytes_within(at, to.len(), from.length)?;
        let mut staging = self.staging.borrow_mut();
        let copied = staging.download(from, at, to);
        copied.map_err(|failure| self.error(failure))
    }

    fn copy(&self, from: &Buffer, to: &mut Buffer, bytes: usize) -> Result<(), DeviceError> {
        bytes_within(0, bytes, from.length.min(to.length))?;
        if bytes == 0 {
            return Ok(());
        }
        let copied = self.stream.copy(from, to, bytes);
        copied.map_err(|failure| self.error(failure))
    }

    fn clear(&self, buffer: &mut Buffer) -> Result<(), DeviceError> {
        let cleared = self.stream.clear(buffer);
        cleared.map_err(|failure| self.error(failure))
    }

    fn launch(&self, launch: &Launch<'_, Buffer>) -> Result<(), DeviceError> {
        let kernel = launch.entry.symbol();
        let refused = |reason| DeviceError::Launch { kernel, reason };
        let found = self.kernels.iter().find(|k| k.entry == launch.entry);
        let found = found.ok_or_else(|| refused("there is no such kernel".to_owned()))?;
        let shape = (launch.blocks, launch.threads);
        launch.check(found.shared_bytes).map_err(refused)?;
        let address = |buffer: &Buffer| buffer.address;
        let parameters = launch.entry.parameters();
        let mut parameters =
            arguments::pack(parameters, &launch.arguments, address).map_err(refused)?;
        #[expect(unsafe_code, reason = "a kernel is trusted as far as its image is")]
        // SAFETY: The parameters are packed by the kernel's own sizes.
        let launched = unsafe {
            self.stream
                .launch(&found.function, shape, launch.shared_bytes, &mut parameters)
        };
        launched.map_err(|failure| match self.error(failure.clone()) {
            DeviceError::Driver { .. } => refused(failure.reason()),
            error => error,
        })?;
        self.last_kernel.set(Some(kernel));
        Ok(())
    }

    fn record(&self) -> Result<Event, DeviceError> {
        let event = Event::new(self.stream.context());
        let recorded = event.and_then(|event| event.record(&self.stream).map(|()| event));
        recorded.map_err(|failure| self.error(failure))
    }

    fn elapsed(&self, from: &Event, to: &Event) -> Result<Duration, DeviceError> {
        let milliseconds = from
            .wait()
            .and_then(|()| to.wait())
            .and_then(|()| from.milliseconds_to(to))
            .map_err(|failure| self.error(failure))?;
        // Zero if the events are in the wrong order.
        Ok(Duration::try_from_secs_f64(f64::from(milliseconds) / 1e3).unwrap_or_default())
    }

    fn synchronize(&self) -> Result<(), DeviceError> {
        let synchronized = self.stream.synchronize();
        synchronized.map_err(|failure| self.error(failure))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_and_its_memory_go_from_thread_to_thread() {
        fn sent<T: Send>() {}
        sent::<CudaDevice>();
        sent::<Buffer>();
        sent::<Event>();
    }

    #[test]
    fn an_image_for_another_interface_is_stale() {
        let of = |fingerprint| format!(".const .align 8 .u64 arc_fingerprint = {fingerprint};");
        let text = of(255);
        assert_eq!(Image::new(&text).check(255), Ok(()));
        let stale = |text: &str| Image::new(text).check(1);
        let expected = 1;
        let found = "0x00000000000000ff".to_owned();
        assert_eq!(
            stale(&text),
            Err(Unavailable::StaleImage { expected, found })
        );
        let found = "none".to_owned();
        assert_eq!(stale(""), Err(Unavailable::StaleImage { expected, found }));
    }
}
