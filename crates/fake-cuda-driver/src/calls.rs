//! The functions of the driver's library that we use, with the signatures of its API.
//!
//! Handles are numbers that are never reused, so a handle that was destroyed or belongs to another GPU is not
//! found. The same goes for device addresses.
#![allow(
    unsafe_code,
    non_snake_case,
    clippy::missing_safety_doc,
    clippy::too_many_arguments,
    missing_docs,
    reason = "the driver is a C library, and its documentation says what its functions take"
)]

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr;
use std::sync::MutexGuard;

use crate::Outcome;
use crate::gpu::{self, Gpu, Ran, abort_with};
use crate::stream::{Operation, Parameter};
use crate::{code, host};

type Handle = *mut c_void;

thread_local! {
    /// The GPU whose context is current on this thread.
    static CURRENT: Cell<Option<u32>> = const { Cell::new(None) };
}

/// The code of an outcome.
fn code_of(outcome: Outcome<()>) -> c_int {
    outcome.err().unwrap_or(0)
}

/// The number of this thread's GPU.
fn current() -> Outcome<u32> {
    CURRENT.get().ok_or(code::INVALID_CONTEXT)
}

/// This thread's GPU, at a call that needs its context.
fn ready(call: &'static str) -> Outcome<MutexGuard<'static, Gpu>> {
    gpu::ready(current()?, call)
}

/// A GPU by its number, at a call that needs no context.
fn called(device: c_int, call: &'static str) -> Outcome<MutexGuard<'static, Gpu>> {
    let number = u32::try_from(device).map_err(|_| code::INVALID_DEVICE)?;
    gpu::called(number, call)
}

/// Ends a call that waited: never returns if the GPU hangs; otherwise reports what has broken meanwhile.
fn waited(gpu: MutexGuard<'static, Gpu>, ran: Outcome<Ran>) -> Outcome<()> {
    if ran? == Ran::Hung {
        drop(gpu);
        gpu::hang();
    }
    gpu.intact()
}

fn number(handle: Handle) -> u64 {
    handle.addr() as u64
}

fn handle(number: u64) -> Handle {
    ptr::without_provenance_mut(number as usize)
}

/// Writes a result to the caller's pointer.
///
/// # Safety
/// The pointer is valid for its type, or null.
unsafe fn give<T>(to: *mut T, value: T) -> Outcome<()> {
    if to.is_null() {
        return Err(code::INVALID_VALUE);
    }
    // SAFETY: The caller guarantees it.
    unsafe { to.write(value) };
    Ok(())
}

/// Defines functions of the library, each with the name that faults use for it, `CALL`. Their bodies return an
/// [`Outcome`].
macro_rules! functions {
    ($($call:literal $name:ident($($argument:ident: $ty:ty),* $(,)?) $body:block)*) => {
        $(
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($argument: $ty),*) -> c_int {
                const CALL: &str = $call;
                // SAFETY: The caller keeps to the documentation of the driver.
                #[allow(unused_unsafe, reason = "some take no pointers")]
                let body = || -> Outcome<()> { unsafe { $body } };
                code_of(body())
            }
        )*
    };
}

// The driver.
functions! {
    "cuInit" cuInit(flags: c_uint) {
        gpu::driver_called(CALL)?;
        if flags == 0 { Ok(()) } else { Err(code::INVALID_VALUE) }
    }

    "cuDriverGetVersion" cuDriverGetVersion(version: *mut c_int) {
        gpu::driver_called(CALL)?;
        give(version, gpu::settings()?.version)
    }

    "cuDeviceGetCount" cuDeviceGetCount(count: *mut c_int) {
        gpu::driver_called(CALL)?;
        give(count, gpu::settings()?.devices)
    }

    "cuGetErrorName" cuGetErrorName(code: c_int, name: *mut *const c_char) {
        gpu::driver_called(CALL)?;
        let found = code::name(code);
        give(name, found.map_or(ptr::null(), |name| name.as_ptr().cast()))?;
        found.map(drop).ok_or(code::INVALID_VALUE)
    }
}

// Devices and their contexts.
functions! {
    "cuDeviceGet" cuDeviceGet(device: *mut c_int, ordinal: c_int) {
        drop(called(ordinal, CALL)?);
        give(device, ordinal)
    }

    "cuDeviceGetName" cuDeviceGetName(name: *mut c_char, length: c_int, device: c_int) {
        let text = called(device, CALL)?.name();
        let room = usize::try_from(length).ok().and_then(|length| length.checked_sub(1));
        let length = text.len().min(room.ok_or(code::INVALID_VALUE)?);
        ptr::copy_nonoverlapping(text.as_ptr().cast(), name, length);
        give(name.add(length), 0)
    }

    "cuDeviceTotalMem" cuDeviceTotalMem_v2(bytes: *mut usize, device: c_int) {
        give(bytes, called(device, CALL)?.settings().bytes as usize)
    }

    "cuDeviceGetAttribute" cuDeviceGetAttribute(value: *mut c_int, attribute: c_int, device: c_int) {
        let settings = called(device, CALL)?.settings();
        // The codes of `CUdevice_attribute`.
        let found = match attribute {
            16 => settings.multiprocessors,
            39 => settings.threads,
            75 => settings.capability / 10,
            76 => settings.capability % 10,
            // The driver reserves a kibibyte of each block's shared memory.
            81 => settings.shared as c_int + 1024,
            97 => settings.shared as c_int,
            _ => return Err(code::INVALID_VALUE),
        };
        give(value, found)
    }

    "cuDevicePrimaryCtxRetain" cuDevicePrimaryCtxRetain(context: *mut Handle, device: c_int) {
        called(device, CALL)?.retain();
        give(context, handle(device as u64 + 1))
    }

    "cuDevicePrimaryCtxRelease" cuDevicePrimaryCtxRelease_v2(device: c_int) {
        called(device, CALL)?.release()
    }

    "cuCtxSetCurrent" cuCtxSetCurrent(context: Handle) {
        let device = number(context).checked_sub(1).ok_or(code::INVALID_CONTEXT)?;
        let device = u32::try_from(device).map_err(|_| code::INVALID_CONTEXT)?;
        drop(gpu::called(device, CALL)?);
        CURRENT.set(Some(device));
        Ok(())
    }
}

// Memory.
functions! {
    "cuMemGetInfo" cuMemGetInfo_v2(free: *mut usize, total: *mut usize) {
        let found = ready(CALL)?.memory()?.free_and_total()?;
        give(free, found.0 as usize)?;
        give(total, found.1 as usize)
    }

    "cuMemAlloc" cuMemAlloc_v2(address: *mut u64, bytes: usize) {
        let found = ready(CALL)?.memory()?.allocate(bytes)?;
        give(address, found)
    }

    "cuMemFree" cuMemFree_v2(address: u64) {
        let mut gpu = ready(CALL)?;
        let ran = gpu.free(address);
        waited(gpu, ran)
    }

    "cuMemHostAlloc" cuMemHostAlloc(start: *mut *mut c_void, bytes: usize, flags: c_uint) {
        let mut gpu = ready(CALL)?;
        // Only `CU_MEMHOSTALLOC_WRITECOMBINED` is supported.
        if flags & !4 != 0 {
            return Err(code::INVALID_VALUE);
        }
        let found = host::allocate(bytes).ok_or(code::OUT_OF_MEMORY)?;
        gpu.pin(found, bytes);
        give(start, ptr::with_exposed_provenance_mut(found))
    }

    "cuMemFreeHost" cuMemFreeHost(start: *mut c_void) {
        let start = start.addr();
        let bytes = ready(CALL)?.unpin(start)?;
        host::free(start, bytes);
        Ok(())
    }
}

// Streams and events.
functions! {
    "cuStreamCreate" cuStreamCreate(stream: *mut Handle, flags: c_uint) {
        let mut gpu = ready(CALL)?;
        // `CU_STREAM_NON_BLOCKING` is required: there is no default stream to synchronize with.
        if flags != 1 {
            return Err(code::INVALID_VALUE);
        }
        give(stream, handle(gpu.create_stream()))
    }

    "cuStreamDestroy" cuStreamDestroy_v2(stream: Handle) {
        let mut gpu = ready(CALL)?;
        let ran = gpu.destroy_stream(number(stream));
        waited(gpu, ran)
    }

    "cuStreamSynchronize" cuStreamSynchronize(stream: Handle) {
        let mut gpu = ready(CALL)?;
        let ran = gpu.run(number(stream), u64::MAX);
        waited(gpu, ran)
    }

    "cuMemcpyHtoDAsync" cuMemcpyHtoDAsync_v2(to: u64, from: *const c_void, bytes: usize, stream: Handle) {
        let from = from.addr();
        ready(CALL)?.enqueue(number(stream), Operation::Up { to, from, bytes })
    }

    "cuMemcpyDtoHAsync" cuMemcpyDtoHAsync_v2(to: *mut c_void, from: u64, bytes: usize, stream: Handle) {
        let to = to.addr();
        ready(CALL)?.enqueue(number(stream), Operation::Down { to, from, bytes })
    }

    "cuMemcpyDtoDAsync" cuMemcpyDtoDAsync_v2(to: u64, from: u64, bytes: usize, stream: Handle) {
        ready(CALL)?.enqueue(number(stream), Operation::Copy { to, from, bytes })
    }

    "cuMemsetD8Async" cuMemsetD8Async(to: u64, value: u8, bytes: usize, stream: Handle) {
        ready(CALL)?.enqueue(number(stream), Operation::Set { to, value, bytes })
    }

    "cuEventCreate" cuEventCreate(event: *mut Handle, flags: c_uint) {
        let mut gpu = ready(CALL)?;
        if flags != 0 {
            return Err(code::INVALID_VALUE);
        }
        give(event, handle(gpu.create_event()))
    }

    "cuEventRecord" cuEventRecord(event: Handle, stream: Handle) {
        ready(CALL)?.record(number(event), number(stream))
    }

    "cuEventSynchronize" cuEventSynchronize(event: Handle) {
        let mut gpu = ready(CALL)?;
        let ran = gpu.wait(number(event));
        waited(gpu, ran)
    }

    "cuEventElapsedTime" cuEventElapsedTime(milliseconds: *mut f32, from: Handle, to: Handle) {
        let found = ready(CALL)?.elapsed(number(from), number(to))?;
        give(milliseconds, found)
    }

    "cuEventDestroy" cuEventDestroy_v2(event: Handle) {
        ready(CALL)?.destroy_event(number(event))
    }
}

// Images and their kernels.
functions! {
    "cuModuleLoadDataEx" cuModuleLoadDataEx(
        module: *mut Handle,
        image: *const c_void,
        count: c_uint,
        options: *const c_int,
        values: *const *mut c_void,
    ) {
        let text = CStr::from_ptr(image.cast()).to_string_lossy();
        let loaded = match ready(CALL) {
            Ok(mut gpu) => gpu.load(&text),
            Err(code) => Err((code, "an injected fault".to_owned())),
        };
        let (code, message) = match loaded {
            Ok(loaded) => return give(module, handle(loaded)),
            Err(error) => error,
        };
        // `CU_JIT_ERROR_LOG_BUFFER` and its size, which is passed as a pointer value.
        let option = |wanted: c_int| (0..count as usize).find(|at| *options.add(*at) == wanted);
        if let (Some(log), Some(size)) = (option(5), option(6)) {
            let (log, size) = (*values.add(log), (*values.add(size)).addr());
            let message = format!("ptxas fatal : {message}\n");
            let length = message.len().min(size);
            ptr::copy_nonoverlapping(message.as_ptr(), log.cast(), length);
        }
        Err(code)
    }

    "cuModuleUnload" cuModuleUnload(module: Handle) {
        ready(CALL)?.unload(number(module))
    }

    "cuModuleGetFunction" cuModuleGetFunction(function: *mut Handle, module: Handle, name: *const c_char) {
        let name = CStr::from_ptr(name).to_string_lossy();
        let found = ready(CALL)?.function(number(module), &name)?;
        give(function, handle(found))
    }

    "cuFuncGetAttribute" cuFuncGetAttribute(value: *mut c_int, attribute: c_int, _function: Handle) {
        let gpu = ready(CALL)?;
        // `CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES`.
        if attribute != 1 {
            return Err(code::INVALID_VALUE);
        }
        give(value, gpu.settings().static_shared as c_int)
    }

    "cuFuncSetAttribute" cuFuncSetAttribute(function: Handle, attribute: c_int, value: c_int) {
        let mut gpu = ready(CALL)?;
        // `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`.
        match (attribute, u32::try_from(value)) {
            (8, Ok(bytes)) => gpu.allow_shared(number(function), bytes),
            _ => Err(code::INVALID_VALUE),
        }
    }

    "cuLaunchKernel" cuLaunchKernel(
        function: Handle,
        blocks: c_uint,
        blocks_y: c_uint,
        blocks_z: c_uint,
        threads: c_uint,
        threads_y: c_uint,
        threads_z: c_uint,
        shared_bytes: c_uint,
        stream: Handle,
        parameters: *const *const c_void,
        extra: *const *const c_void,
    ) {
        let mut gpu = ready(CALL)?;
        let row = [blocks_y, blocks_z, threads_y, threads_z] == [1; 4];
        if !row || !extra.is_null() {
            return Err(code::INVALID_VALUE);
        }
        let sizes = gpu.parameters(number(function))?;
        let given = sizes.iter().enumerate().map(|(at, bytes)| {
            let given = *parameters.add(at);
            match bytes {
                8 => Parameter::Address(given.cast::<u64>().read()),
                4 => Parameter::Number(given.cast::<u32>().read()),
                _ => abort_with("a parameter has neither four nor eight bytes"),
            }
        });
        let given = given.collect();
        gpu.launch_kernel(number(function), (blocks, threads), shared_bytes, number(stream), given)
    }
}
