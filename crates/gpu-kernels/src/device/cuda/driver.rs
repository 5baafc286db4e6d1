//! Safe wrappers for the part of the driver's library that we use: calls return errors, handles free
//! themselves.
//!
//! The library is opened at run time and may be missing, old, or a stub. The bindings panic if
//! it or one of its functions is missing. So [`Driver`] and [`Gpu`] are the only way in: they check first that all
//! functions exist.
#![allow(
    unsafe_code,
    reason = "the driver is a C library, and only its documentation says what its functions take"
)]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;
use std::sync::Arc;

use cudarc::driver::sys;
use cudarc::driver::sys::{CUdevice_attribute as Attribute, CUfunction_attribute};

use super::super::Unavailable;
use super::errors::{Failure, code};

/// The functions for counting devices.
const COUNTING: [&str; 4] = [
    "cuGetErrorName",
    "cuDriverGetVersion",
    "cuInit",
    "cuDeviceGetCount",
];

/// All other functions that we use.
const COMPUTING: [&str; 30] = [
    "cuCtxSetCurrent",
    "cuDeviceGet",
    "cuDeviceGetAttribute",
    "cuDeviceGetName",
    "cuDevicePrimaryCtxRelease_v2",
    "cuDevicePrimaryCtxRetain",
    "cuDeviceTotalMem_v2",
    "cuEventCreate",
    "cuEventDestroy_v2",
    "cuEventElapsedTime",
    "cuEventRecord",
    "cuEventSynchronize",
    "cuFuncGetAttribute",
    "cuFuncSetAttribute",
    "cuLaunchKernel",
    "cuMemAlloc_v2",
    "cuMemFreeHost",
    "cuMemFree_v2",
    "cuMemGetInfo_v2",
    "cuMemHostAlloc",
    "cuMemcpyDtoDAsync_v2",
    "cuMemcpyDtoHAsync_v2",
    "cuMemcpyHtoDAsync_v2",
    "cuMemsetD8Async",
    "cuModuleGetFunction",
    "cuModuleLoadDataEx",
    "cuModuleUnload",
    "cuStreamCreate",
    "cuStreamDestroy_v2",
    "cuStreamSynchronize",
];

/// Calls a function of the driver; an error names it.
macro_rules! call {
    ($function:ident($($argument:expr),* $(,)?)) => {
        succeeded(stringify!($function), sys::$function($($argument),*))
    };
}

/// `Ok` if a call succeeded, else the failure with the driver's name for its code.
fn succeeded(call: &'static str, status: sys::CUresult) -> Result<(), Failure> {
    // A number, not a variant: newer drivers return codes that the bindings do not have.
    let code = status as i32;
    if code == 0 {
        return Ok(());
    }
    let mut name: *const c_char = ptr::null();
    // SAFETY: The name is written to a place of its type; it is a constant of the library, and
    // null if the code is unknown.
    let name = unsafe {
        let _ = sys::cuGetErrorName(status, &raw mut name);
        (!name.is_null()).then(|| CStr::from_ptr(name).to_string_lossy().into_owned())
    };
    Err(Failure {
        call: call.strip_suffix("_v2").unwrap_or(call),
        code,
        name: name.unwrap_or_else(|| "unknown".to_owned()),
    })
}

/// Fails on the first function that the library lacks.
fn present(functions: &[&'static str]) -> Result<(), Unavailable> {
    for function in functions {
        // SAFETY: The library is loaded, and the function is only looked up, not called.
        let found = unsafe {
            let library = sys::culib();
            library
                .get::<unsafe extern "C" fn()>(function.as_bytes())
                .is_ok()
        };
        if !found {
            return Err(Unavailable::Driver {
                call: function,
                code: code::NOT_FOUND,
                name: "not in the library".to_owned(),
            });
        }
    }
    Ok(())
}

/// The driver, initialised.
#[derive(Debug, Clone, Copy)]
pub(super) struct Driver {
    /// The version of CUDA that it supports.
    pub(super) version: (u32, u32),
    /// The number of devices, at least one.
    pub(super) count: usize,
}

impl Driver {
    /// Opens the library and counts devices.
    pub(super) fn open() -> Result<Self, Unavailable> {
        // SAFETY: Opening the driver's library runs its initialisers, nothing else.
        if !unsafe { sys::is_culib_present() } {
            return Err(Unavailable::NoDriverLibrary);
        }
        present(&COUNTING)?;
        let mut version: c_int = 0;
        let mut count: c_int = 0;
        // SAFETY: The functions exist, and write to places of their types.
        unsafe {
            call!(cuInit(0))
                .and_then(|()| call!(cuDriverGetVersion(&raw mut version)))
                .and_then(|()| call!(cuDeviceGetCount(&raw mut count)))
        }
        .map_err(Failure::unavailable)?;
        let version = version.unsigned_abs();
        match usize::try_from(count) {
            Ok(count @ 1..) => Ok(Self {
                // 12020 is 12.2.
                version: (version / 1000, version % 1000 / 10),
                count,
            }),
            _ => Err(Unavailable::NoDevice),
        }
    }

    /// A device by index, without creating a context.
    pub(super) fn gpu(self, index: usize) -> Result<Gpu, Unavailable> {
        let count = self.count;
        let no_such = || Unavailable::NoSuchDevice { index, count };
        let ordinal = c_int::try_from(index).map_err(|_| no_such())?;
        if index >= count {
            return Err(no_such());
        }
        present(&COMPUTING)?;
        let mut device = 0;
        // SAFETY: The function exists, and writes to a place of its type.
        unsafe { call!(cuDeviceGet(&raw mut device, ordinal)) }.map_err(Failure::unavailable)?;
        Ok(Gpu { device })
    }
}

/// A device that exists, in a driver that has all functions that we use.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gpu {
    device: sys::CUdevice,
}

impl Gpu {
    /// Retains its primary context and makes it current on this thread.
    pub(super) fn context(self) -> Result<Arc<Context>, Failure> {
        let device = self.device;
        let mut context = ptr::null_mut();
        // SAFETY: The context is written to a place of its type.
        unsafe { call!(cuDevicePrimaryCtxRetain(&raw mut context, device))? };
        let context = Arc::new(Context { device, context });
        context.bind()?;
        Ok(context)
    }

    /// The device's name.
    pub(super) fn name(&self) -> Result<String, Failure> {
        let mut name = [0_u8; 256];
        // SAFETY: The length is that of the buffer.
        unsafe {
            call!(cuDeviceGetName(
                name.as_mut_ptr().cast(),
                name.len() as c_int,
                self.device
            ))?;
        }
        Ok(until_zero(&name))
    }

    /// An attribute of the device; negative numbers count as zero.
    pub(super) fn attribute(&self, attribute: Attribute) -> Result<u32, Failure> {
        let mut value = 0;
        // SAFETY: The value is written to a place of its type.
        unsafe {
            call!(cuDeviceGetAttribute(&raw mut value, attribute, self.device))?;
        }
        Ok(u32::try_from(value).unwrap_or(0))
    }

    /// Bytes of device memory.
    pub(super) fn bytes(&self) -> Result<u64, Failure> {
        let mut bytes = 0;
        // SAFETY: The value is written to a place of its type.
        unsafe { call!(cuDeviceTotalMem_v2(&raw mut bytes, self.device))? };
        Ok(bytes as u64)
    }
}

/// The primary context of a device. Every other handle here keeps it alive.
#[derive(Debug)]
pub(super) struct Context {
    device: sys::CUdevice,
    context: sys::CUcontext,
}

// SAFETY: The driver may be called from any thread on which the context is current, and each call
// here makes it current first.
unsafe impl Send for Context {}
// SAFETY: As above; the driver does its own locking.
unsafe impl Sync for Context {}

impl Context {
    /// Makes it current on this thread.
    pub(super) fn bind(&self) -> Result<(), Failure> {
        // SAFETY: The context is retained until this is dropped.
        unsafe { call!(cuCtxSetCurrent(self.context)) }
    }

    /// Bytes of device memory: free, and in all.
    pub(super) fn memory(&self) -> Result<(u64, u64), Failure> {
        self.bind()?;
        let (mut free, mut total) = (0, 0);
        // SAFETY: The values are written to places of their types.
        unsafe { call!(cuMemGetInfo_v2(&raw mut free, &raw mut total))? };
        Ok((free as u64, total as u64))
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: It was retained once, and everything in it has been freed.
        let _ = unsafe { sys::cuDevicePrimaryCtxRelease_v2(self.device) };
    }
}

/// The text before the first zero.
fn until_zero(bytes: &[u8]) -> String {
    let text = bytes.split(|byte| *byte == 0).next().unwrap_or(bytes);
    String::from_utf8_lossy(text).trim().to_owned()
}

/// Memory of the device.
#[derive(Debug)]
pub struct Buffer {
    context: Arc<Context>,
    pub(super) address: sys::CUdeviceptr,
    pub(super) length: usize,
}

impl Buffer {
    pub(super) fn new(context: &Arc<Context>, length: usize) -> Result<Self, Failure> {
        context.bind()?;
        let mut address = 0;
        // SAFETY: The address is written to a place of its type.
        unsafe { call!(cuMemAlloc_v2(&raw mut address, length))? };
        Ok(Self {
            context: Arc::clone(context),
            address,
            length,
        })
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.context.bind().is_ok() {
            // SAFETY: It was allocated once; the driver waits for work that still uses it. After a
            // fault this fails, and the memory is freed with the context.
            let _ = unsafe { sys::cuMemFree_v2(self.address) };
        }
    }
}

/// Memory of the host that the device copies from and to.
#[derive(Debug)]
pub(super) struct Pinned {
    context: Arc<Context>,
    start: *mut u8,
    length: usize,
}

// SAFETY: It is plain memory, and only its owner accesses it.
unsafe impl Send for Pinned {}

/// Which way pinned memory is copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    /// Written by the host and read by the device; the host reads it slowly.
    Up,
    /// Written by the device and read by the host.
    Down,
}

impl Pinned {
    pub(super) fn new(
        context: &Arc<Context>,
        length: usize,
        direction: Direction,
    ) -> Result<Self, Failure> {
        let flags = match direction {
            Direction::Up => sys::CU_MEMHOSTALLOC_WRITECOMBINED,
            Direction::Down => 0,
        };
        context.bind()?;
        let mut start = ptr::null_mut();
        // SAFETY: The address is written to a place of its type.
        unsafe { call!(cuMemHostAlloc(&raw mut start, length, flags))? };
        Ok(Self {
            context: Arc::clone(context),
            start: start.cast(),
            length,
        })
    }

    /// The address of `bytes` bytes from byte `at` on.
    ///
    /// # Panics
    /// If they are past the end.
    pub(super) fn part(&self, at: usize, bytes: usize) -> *mut u8 {
        let end = at.checked_add(bytes);
        assert!(end.is_some_and(|end| end <= self.length), "past the end");
        // SAFETY: It is in the allocation.
        unsafe { self.start.add(at) }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if self.context.bind().is_ok() {
            // SAFETY: It was allocated once; its owner has waited for the copies.
            let _ = unsafe { sys::cuMemFreeHost(self.start.cast()) };
        }
    }
}

/// A stream: an ordered queue of a device's work.
#[derive(Debug)]
pub(super) struct Stream {
    context: Arc<Context>,
    stream: sys::CUstream,
}

// SAFETY: A stream may be used from any thread.
unsafe impl Send for Stream {}
// SAFETY: As above; the driver does its own locking.
unsafe impl Sync for Stream {}

impl Stream {
    pub(super) fn new(context: &Arc<Context>) -> Result<Self, Failure> {
        context.bind()?;
        let mut stream = ptr::null_mut();
        // Not synchronized with the default stream, which other code in this process may use.
        let flags = sys::CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
        // SAFETY: The handle is written to a place of its type.
        unsafe { call!(cuStreamCreate(&raw mut stream, flags))? };
        Ok(Self {
            context: Arc::clone(context),
            stream,
        })
    }

    /// Its context.
    pub(super) fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// Waits for all work in it.
    pub(super) fn synchronize(&self) -> Result<(), Failure> {
        self.context.bind()?;
        // SAFETY: The stream is alive.
        unsafe { call!(cuStreamSynchronize(self.stream)) }
    }

    /// Copies from the host, without waiting.
    ///
    /// # Safety
    /// `from` is pinned, has this many bytes, and is not changed until the copy has finished.
    pub(super) unsafe fn copy_up(
        &self,
        from: *const u8,
        to: &Buffer,
        at: usize,
        bytes: usize,
    ) -> Result<(), Failure> {
        let to = to.address + at as u64;
        // SAFETY: The caller vouches for the host's side; the driver checks the device's.
        unsafe { call!(cuMemcpyHtoDAsync_v2(to, from.cast(), bytes, self.stream)) }
    }

    /// Copies to the host, without waiting.
    ///
    /// # Safety
    /// `to` is pinned, has room for this many bytes, and is not accessed until the copy has finished.
    pub(super) unsafe fn copy_down(
        &self,
        from: &Buffer,
        at: usize,
        to: *mut u8,
        bytes: usize,
    ) -> Result<(), Failure> {
        let from = from.address + at as u64;
        // SAFETY: The caller vouches for the host's side; the driver checks the device's.
        unsafe { call!(cuMemcpyDtoHAsync_v2(to.cast(), from, bytes, self.stream)) }
    }

    /// Copies within the device.
    pub(super) fn copy(&self, from: &Buffer, to: &Buffer, bytes: usize) -> Result<(), Failure> {
        self.context.bind()?;
        let (from, to) = (from.address, to.address);
        // SAFETY: Only device memory is accessed, and the driver checks its addresses.
        unsafe { call!(cuMemcpyDtoDAsync_v2(to, from, bytes, self.stream)) }
    }

    /// Sets all bytes of a buffer to zero.
    pub(super) fn clear(&self, buffer: &Buffer) -> Result<(), Failure> {
        self.context.bind()?;
        // SAFETY: Only device memory is accessed, and the buffer has this many bytes.
        unsafe {
            call!(cuMemsetD8Async(
                buffer.address,
                0,
                buffer.length,
                self.stream
            ))
        }
    }

    /// Launches a kernel.
    ///
    /// # Safety
    /// `parameters` has one for each parameter of the kernel, at least as large.
    pub(super) unsafe fn launch(
        &self,
        function: &Function,
        (blocks, threads): (u32, u32),
        shared_bytes: u32,
        parameters: &mut [u64],
    ) -> Result<(), Failure> {
        self.context.bind()?;
        let mut pointers: Vec<*mut c_void> = parameters
            .iter_mut()
            .map(|parameter| ptr::from_mut(parameter).cast())
            .collect();
        // SAFETY: The caller vouches for the parameters, which the driver copies before it
        // returns.
        unsafe {
            call!(cuLaunchKernel(
                function.function,
                blocks,
                1,
                1,
                threads,
                1,
                1,
                shared_bytes,
                self.stream,
                pointers.as_mut_ptr(),
                ptr::null_mut(),
            ))
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if self.context.bind().is_ok() {
            // SAFETY: It was created once. Work still in it runs to its end.
            let _ = unsafe { sys::cuStreamDestroy_v2(self.stream) };
        }
    }
}

/// A point in a stream, with its time.
#[derive(Debug)]
pub struct Event {
    context: Arc<Context>,
    event: sys::CUevent,
}

// SAFETY: An event may be used from any thread.
unsafe impl Send for Event {}

impl Event {
    /// An event that is not yet recorded, so waiting for it returns at once.
    pub(super) fn new(context: &Arc<Context>) -> Result<Self, Failure> {
        context.bind()?;
        let mut event = ptr::null_mut();
        let flags = sys::CUevent_flags::CU_EVENT_DEFAULT as u32;
        // SAFETY: The handle is written to a place of its type.
        unsafe { call!(cuEventCreate(&raw mut event, flags))? };
        Ok(Self {
            context: Arc::clone(context),
            event,
        })
    }

    /// Records the current point of a stream.
    pub(super) fn record(&self, stream: &Stream) -> Result<(), Failure> {
        self.context.bind()?;
        // SAFETY: Both are alive.
        unsafe { call!(cuEventRecord(self.event, stream.stream)) }
    }

    /// Waits until the device has reached it.
    pub(super) fn wait(&self) -> Result<(), Failure> {
        self.context.bind()?;
        // SAFETY: The event is alive.
        unsafe { call!(cuEventSynchronize(self.event)) }
    }

    /// Milliseconds on the device from this to a later event; the device must have reached both.
    pub(super) fn milliseconds_to(&self, later: &Event) -> Result<f32, Failure> {
        self.context.bind()?;
        let mut milliseconds = 0.0;
        // SAFETY: Both are alive, and the time is written to a place of its type.
        unsafe {
            call!(cuEventElapsedTime(
                &raw mut milliseconds,
                self.event,
                later.event
            ))?;
        }
        Ok(milliseconds)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if self.context.bind().is_ok() {
            // SAFETY: It was created once.
            let _ = unsafe { sys::cuEventDestroy_v2(self.event) };
        }
    }
}

/// An image loaded on a device.
#[derive(Debug)]
pub(super) struct Module {
    context: Arc<Context>,
    module: sys::CUmodule,
}

// SAFETY: A module may be used from any thread.
unsafe impl Send for Module {}
// SAFETY: As above; the driver does its own locking.
unsafe impl Sync for Module {}

impl Module {
    /// Compiles PTX for the device. An error comes with the compiler's log.
    pub(super) fn load(context: &Arc<Context>, ptx: &str) -> Result<Self, (Failure, String)> {
        let without_log = |failure| (failure, String::new());
        let ptx = CString::new(ptx).map_err(|_| {
            without_log(Failure {
                call: "cuModuleLoadDataEx",
                code: 200,
                name: "a zero byte in the image".to_owned(),
            })
        })?;
        context.bind().map_err(without_log)?;
        let mut log = [0_u8; 8192];
        let mut options = [
            sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
            sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        ];
        // The size is passed as a pointer value; one byte is kept for a zero at the end.
        let size = ptr::without_provenance_mut(log.len() - 1);
        let mut values: [*mut c_void; 2] = [log.as_mut_ptr().cast(), size];
        let mut module = ptr::null_mut();
        // SAFETY: The image ends in a zero; there are two options, and the log has the size given.
        let loaded = unsafe {
            call!(cuModuleLoadDataEx(
                &raw mut module,
                ptx.as_ptr().cast(),
                2,
                options.as_mut_ptr(),
                values.as_mut_ptr(),
            ))
        };
        loaded.map_err(|failure| (failure, until_zero(&log)))?;
        Ok(Self {
            context: Arc::clone(context),
            module,
        })
    }

    /// Looks up a kernel.
    pub(super) fn function(self: &Arc<Self>, name: &str) -> Result<Function, Failure> {
        self.context.bind()?;
        let text = CString::new(name).unwrap_or_default();
        let mut function = ptr::null_mut();
        // SAFETY: The module is alive, and the name ends in a zero.
        unsafe {
            call!(cuModuleGetFunction(
                &raw mut function,
                self.module,
                text.as_ptr()
            ))?;
        }
        Ok(Function {
            _module: Arc::clone(self),
            function,
        })
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        if self.context.bind().is_ok() {
            // SAFETY: It was loaded once, and all of its functions have been dropped.
            let _ = unsafe { sys::cuModuleUnload(self.module) };
        }
    }
}

/// A kernel in a loaded image.
#[derive(Debug)]
pub(super) struct Function {
    _module: Arc<Module>,
    function: sys::CUfunction,
}

// SAFETY: A function may be used from any thread.
unsafe impl Send for Function {}
// SAFETY: As above; the driver does its own locking.
unsafe impl Sync for Function {}

impl Function {
    /// Lets launches request all shared memory that a block may have, less the kernel's static shared memory; returns
    /// how many bytes that is. Without this, the driver refuses more than 48 KiB.
    pub(super) fn allow_shared(&self, most: u32) -> Result<u32, Failure> {
        let mut own = 0;
        // SAFETY: The function is alive, and the value is written to a place of its type.
        unsafe {
            call!(cuFuncGetAttribute(
                &raw mut own,
                CUfunction_attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
                self.function
            ))?;
        }
        let allowed = most.saturating_sub(u32::try_from(own).unwrap_or(0));
        // SAFETY: The function is alive.
        unsafe {
            call!(cuFuncSetAttribute(
                self.function,
                CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                allowed as c_int
            ))?;
        }
        Ok(allowed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_end_at_their_zero() {
        assert_eq!(until_zero(b"NVIDIA H200\0\0rest"), "NVIDIA H200");
        assert_eq!(until_zero(b"\0"), "");
        assert_eq!(until_zero(b" all \n"), "all");
    }

    #[test]
    fn every_function_called_is_looked_for() {
        let source = include_str!("driver.rs");
        let (source, _) = source.split_once("mod tests").unwrap();
        let mut named: Vec<_> = source
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .filter(|word| {
                word.starts_with("cu")
                    && word.as_bytes()[2..]
                        .first()
                        .is_some_and(u8::is_ascii_uppercase)
            })
            .collect();
        named.sort_unstable();
        let mut listed: Vec<_> = COUNTING.iter().chain(&COMPUTING).copied().collect();
        listed.sort_unstable();
        for function in &listed {
            let times = named.iter().filter(|name| name == &function).count();
            assert!(times >= 2, "{function} is listed but not called");
        }
        named.dedup();
        assert_eq!(named, listed);
    }
}
