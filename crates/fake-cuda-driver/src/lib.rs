//! A fake of NVIDIA's driver library, to test all of the host's GPU code without a GPU.
//!
//! It has the functions that `gpu_kernels::device::cuda` calls.
//! [`InterpretedDevice`](gpu_sim::interpreted::InterpretedDevice) executes PTX on the CPU, so results are
//! those of a GPU, though not its speed. Asynchronous operations stay queued in their stream until the host waits
//! for them, which exposes missing waits; using host memory that is freed or not pinned aborts the
//! process. It imitates a GPU no further: nothing runs in parallel, nothing is fast, and PTX is not
//! compiled to machine code.
//!
//! The library is `libcuda.so` in [`folder`]; a process finds it by `LD_LIBRARY_PATH`. The environment variable
//! [`VARIABLE`] configures it, with settings separated by `;`:
//!
//! | setting | meaning | default |
//! |---|---|---|
//! | `devices=N` | number of GPUs, all alike | 1 |
//! | `bytes=N` | memory per GPU, such as `400k`, `20M` or `1G` | 1G |
//! | `name=TEXT` | their name; `#` is replaced by the index | `fake #` |
//! | `capability=N` | compute capability, 90 for 9.0 | 90 |
//! | `multiprocessors=N` | multiprocessors per GPU | 132 |
//! | `threads=N` | resident threads per multiprocessor | 2048 |
//! | `shared=N` | bytes of shared memory that a block may use | 232448 |
//! | `static-shared=N` | bytes of it that each kernel uses statically | 0 |
//! | `version=N` | the version of CUDA that the driver supports, 12020 for 12.2 | 12020 |
//! | `progress=late` | only the stream that the host waits for makes progress | `late` |
//! | `progress=early` | everything runs at once | |
//! | `progress=SEED` | each call runs some queued operations, at random | |
//! | `kernels=executed` | kernels are executed | `executed` |
//! | `kernels=none` | kernels take no time and report every evaluation as wrong, which leaves only the host's time | |
//! | `log=PATH` | a log file: pinned memory, faults, and what has not been freed when a context is released | none |
//! | `fault=[GPU/]CALL:WHICH:WHAT` | injects a fault; may be repeated | none |
//!
//! `CALL` is a function of the driver without its version, such as `cuMemAlloc`; `any`, which is every call on a
//! GPU; or `kernel`, which is the execution of a kernel. `WHICH` says which calls, counted from 1 on each GPU: `N`,
//! `N+` or `N-M`. `WHAT` is the `CUresult` with which they fail, `hang`, or a delay such as
//! `20ms`. After a code that breaks a context, such as 700 from a kernel or 999, every later call returns the
//! same code.
//!
//! [`calls`] has the driver's functions, built on `gpu` (a context), `stream` (queued operations), `memory` (of the
//! GPU), `host` (pinned memory) and `code` (result codes); `settings` parses the settings above.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub mod calls;
mod code;
mod gpu;
mod host;
mod memory;
mod settings;
mod stream;

/// The environment variable with the settings.
pub const VARIABLE: &str = "FAKE_CUDA_DRIVER";

/// The name that a dynamic linker looks for.
const LIBRARY: &str = "libcuda.so";

/// The result of a call, or the code with which it fails.
type Outcome<T> = Result<T, i32>;

/// The folder with the library: that of this build's examples, found from the running program's path.
///
/// # Errors
/// If it was not built: `cargo test` of a single target builds no examples.
pub fn folder() -> io::Result<PathBuf> {
    let program = std::env::current_exe()?;
    let folders = program.ancestors().skip(1);
    let mut candidates = folders.map(|folder| folder.join("examples"));
    let found = candidates.find(|folder| folder.join(LIBRARY).is_file());
    found.ok_or_else(|| {
        let message = format!(
            "no {LIBRARY} in a folder `examples` above {}: build it with \
             `cargo build -p fake-cuda-driver --examples`",
            program.display()
        );
        io::Error::new(io::ErrorKind::NotFound, message)
    })
}

/// Writes a copy of the library without some of its functions to another folder.
pub fn install_without(functions: &[&str], folder: &Path) -> io::Result<()> {
    let mut library = fs::read(self::folder()?.join(LIBRARY))?;
    for function in functions {
        // The symbol table has zero-terminated names: changing the last byte hides a function.
        let name = [b"\0", function.as_bytes(), b"\0"].concat();
        let at = library.windows(name.len()).position(|bytes| bytes == name);
        let at = at.ok_or_else(|| {
            let message = format!("{LIBRARY} has no function {function}");
            io::Error::new(io::ErrorKind::NotFound, message)
        })?;
        library[at + function.len()] = b'-';
    }
    fs::write(folder.join(LIBRARY), library)
}
