//! Calls the kernels compiled for the host (`kernels/host/emulation.cpp`).

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr::NonNull;

use super::{RawArgument, Refusal, Settings};

/// A kernel of the image: a row of its table.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kernel(NonNull<c_void>);

/// What an argument points to.
#[repr(C)]
union Value {
    memory: *mut u8,
    number: u32,
}

/// One launch; the same struct is in `kernels/host/emulation.cpp`.
#[repr(C)]
struct Launch {
    kernel: *const c_void,
    arguments: *const *const Value,
    parameters: *const c_char,
    settings: Settings,
    error: *mut c_char,
    error_bytes: usize,
}

unsafe extern "C" {
    fn arc_emulation_arena() -> *mut c_void;
    fn arc_emulation_free(arena: *mut c_void);
    fn arc_emulation_fingerprint() -> u64;
    fn arc_emulation_kernel(name: *const c_char) -> *mut c_void;
    fn arc_emulation_launch(arena: *mut c_void, launch: *const Launch) -> i32;
}

#[cfg(test)]
#[link(name = "arc_emulation_tests", kind = "static")]
unsafe extern "C" {
    fn arc_test_kernel(name: *const c_char) -> *mut c_void;
}

/// The fingerprint of the interface that the image was compiled for.
#[allow(clippy::unnecessary_wraps, reason = "there may be no image")]
pub(super) fn fingerprint() -> Option<u64> {
    // SAFETY: it reads a constant.
    Some(unsafe { arc_emulation_fingerprint() })
}

impl Kernel {
    /// The kernel of this name.
    pub(super) fn named(name: &str) -> Option<Kernel> {
        let name = CString::new(name).ok()?;
        // SAFETY: the name ends with 0; the function returns a row of a constant table, or null.
        NonNull::new(unsafe { arc_emulation_kernel(name.as_ptr()) }).map(Kernel)
    }

    /// The kernel of this name among those that are for tests only.
    #[cfg(test)]
    pub(super) fn of_tests(name: &str) -> Option<Kernel> {
        let name = CString::new(name).ok()?;
        // SAFETY: as above.
        NonNull::new(unsafe { arc_test_kernel(name.as_ptr()) }).map(Kernel)
    }

    /// Runs it. Arguments of the wrong kind are refused; as on a GPU, the caller must pass memory as long as the kernel
    /// expects.
    pub(super) fn launch(self, given: &[RawArgument], settings: Settings) -> Result<(), Refusal> {
        let values: Vec<_> = given
            .iter()
            .map(|given| match *given {
                RawArgument::Memory(memory) => Value { memory },
                RawArgument::Number(number) => Value { number },
            })
            .collect();
        let arguments: Vec<_> = values.iter().map(std::ptr::from_ref).collect();
        let mut parameters: Vec<_> = given
            .iter()
            .map(|given| match given {
                RawArgument::Memory(_) => b'p',
                RawArgument::Number(_) => b'n',
            })
            .collect();
        parameters.push(0);
        let mut error = [0; 512];
        let launch = Launch {
            kernel: self.0.as_ptr(),
            arguments: arguments.as_ptr(),
            parameters: parameters.as_ptr().cast(),
            settings,
            error: error.as_mut_ptr().cast(),
            error_bytes: error.len(),
        };
        let result = ARENA.with_borrow_mut(|arena| {
            if arena.is_none() {
                *arena = Arena::new();
            }
            let arena = arena.as_ref()?;
            // SAFETY: everything that the struct points to lives until the call returns. The callee compares the
            // arguments' kinds with the kernel's parameters before it runs the kernel. The arena is this thread's.
            Some(unsafe { arc_emulation_launch(arena.0.as_ptr(), &raw const launch) })
        });
        let reason = || {
            let text = CStr::from_bytes_until_nul(&error).unwrap_or_default();
            text.to_string_lossy().into_owned()
        };
        match result {
            Some(0) => Ok(()),
            Some(1) => Err(Refusal::Launch(reason())),
            Some(_) => Err(Refusal::Kernel(reason())),
            None => Err(Refusal::Launch("no memory for stacks".to_owned())),
        }
    }
}

/// The fibers of a warp and their stacks.
struct Arena(NonNull<c_void>);

thread_local! {
    /// Created at the thread's first launch and reused by later ones.
    static ARENA: RefCell<Option<Arena>> = const { RefCell::new(None) };
}

impl Arena {
    fn new() -> Option<Arena> {
        // SAFETY: it has no preconditions.
        NonNull::new(unsafe { arc_emulation_arena() }).map(Arena)
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: it is dropped once, and no launch is running.
        unsafe { arc_emulation_free(self.0.as_ptr()) };
    }
}
