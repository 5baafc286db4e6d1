//! A library that stands in for that of NVIDIA's driver, so that all of the host's code for GPUs is
//! tested where there is no GPU.
//!
//! It has the functions that `gpu_kernels::device::cuda` calls. PTX is executed on the CPU, by
//! [`InterpretedDevice`](gpu_sim::interpreted::InterpretedDevice), so that results are
//! those of a GPU, though not its speed. What is asynchronous waits in its stream until it is waited
//! for, so that a wait which is missing shows; host memory that is freed or not pinned ends the
//! process. It is no more of a GPU than that: nothing runs side by side, nothing is fast, and PTX is not
//! compiled to machine code.
//!
//! The library is `libcuda.so` in [`folder`]; a process finds it by `LD_LIBRARY_PATH`. What it is like
//! is said by the environment variable [`VARIABLE`], in words with `;` between them:
//!
//! | word | meaning | unless told |
//! |---|---|---|
//! | `devices=N` | GPUs, all alike | 1 |
//! | `bytes=N` | memory of a GPU, as `400k`, `20M` or `1G` | 1G |
//! | `name=TEXT` | their name; `#` is the number | `fake #` |
//! | `capability=N` | compute capability, 90 for 9.0 | 90 |
//! | `multiprocessors=N` | of a GPU | 132 |
//! | `threads=N` | that a multiprocessor holds | 2048 |
//! | `shared=N` | bytes of shared memory that a block may ask for | 232448 |
//! | `static-shared=N` | bytes of those that each kernel has of itself | 0 |
//! | `version=N` | the CUDA that the driver knows, 12020 for 12.2 | 12020 |
//! | `progress=late` | a stream goes on when it is waited for, and only that | `late` |
//! | `progress=early` | all is done at once | |
//! | `progress=SEED` | at each call some of what waits is done, at random | |
//! | `kernels=executed` | kernels are executed | `executed` |
//! | `kernels=none` | kernels take no time and say of each evaluation that it is wrong: what the host takes is left | |
//! | `log=PATH` | the file to which is added what is pinned, what goes wrong, and what is still held when a context goes | none |
//! | `fault=[GPU/]CALL:WHICH:WHAT` | what goes wrong, as often as wanted | none |
//!
//! `CALL` is a function of the driver without its version, as `cuMemAlloc`; `any`, which is every call on a
//! GPU; or `kernel`, which is a kernel when it runs. `WHICH` counts them on each GPU from 1 on: `N`, `N+`
//! or `N-M`. `WHAT` is the `CUresult` with which they fail, `hang`, or a time by which they are slower, as
//! `20ms`. After a code that breaks a context, as 700 of a kernel or 999, each later call gives the
//! same.
//!
//! [`calls`] has the driver's functions, over `gpu` (a context), `stream` (what is under way), `memory` (of the GPU),
//! `host` (pinned memory) and `code` (results); `settings` reads the words above.

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

/// What a call gives, or with which code it fails.
type Outcome<T> = Result<T, i32>;

/// The folder with the library, beside the program that runs: that of the examples of this build.
///
/// # Errors
/// Where it was not built: `cargo test` of a single target builds no examples.
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

/// Makes a copy of the library without some of its functions, in a folder where there is none.
pub fn install_without(functions: &[&str], folder: &Path) -> io::Result<()> {
    let mut library = fs::read(self::folder()?.join(LIBRARY))?;
    for function in functions {
        // Names stand in a table, each with a zero after it: one with another end is not found.
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
