//! [`Nvrtc`]: NVIDIA's compiler from CUDA C++ to PTX, a library that is loaded at run time.
#![allow(
    unsafe_code,
    reason = "the compiler is a C library, of which only its header says what its functions take"
)]

use std::ffi::{CStr, CString, c_char, c_int};
use std::path::Path;
use std::ptr;

use anyhow::{Context as _, Result, ensure};
use libloading::{Library, Symbol};

/// `nvrtcProgram`, an opaque pointer.
type Program = *mut std::ffi::c_void;

/// `nvrtcResult`: 0 is success.
type Status = c_int;

/// `nvrtcGetPTXSize` and `nvrtcGetProgramLogSize`.
type Size = unsafe extern "C" fn(Program, *mut usize) -> Status;

/// `nvrtcGetPTX` and `nvrtcGetProgramLog`.
type Text = unsafe extern "C" fn(Program, *mut c_char) -> Status;

/// `nvrtcCreateProgram`: source, its name, and headers with their names.
type Create = unsafe extern "C" fn(
    *mut Program,
    *const c_char,
    *const c_char,
    c_int,
    *const *const c_char,
    *const *const c_char,
) -> Status;

/// The opened library.
#[derive(Debug)]
pub(crate) struct Nvrtc {
    library: Library,
    /// `library` opens it by its bare name, which succeeds because it is already open.
    _builtins: Library,
}

impl Nvrtc {
    /// Opens the library in an unpacked wheel.
    pub(crate) fn open(wheel: &Path) -> Result<Self> {
        let open = |name: &str| {
            let path = wheel.join("nvidia/cuda_nvrtc/lib").join(name);
            // SAFETY: The wheel is pinned by its hash, and opening its libraries does nothing but initialise them.
            let library = unsafe { Library::new(&path) };
            library.with_context(|| format!("{} cannot be opened", path.display()))
        };
        let builtins = open("libnvrtc-builtins.so.12.2")?;
        Ok(Self {
            library: open("libnvrtc.so.12")?,
            _builtins: builtins,
        })
    }

    /// The PTX of a source. A non-empty log is an error, since every line of it has a reason.
    pub(crate) fn compile(&self, name: &str, source: &str, options: &[String]) -> Result<String> {
        let name_text = CString::new(name)?;
        let source = CString::new(source)?;
        let options = options
            .iter()
            .map(|option| CString::new(option.as_str()))
            .collect::<Result<Vec<_>, _>>()?;
        let options: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();

        // SAFETY: The types are those of nvrtc.h.
        let (create, destroy, compile, ptx_size, ptx, log_size, log) = unsafe {
            (
                self.function::<Create>("nvrtcCreateProgram")?,
                self.function::<unsafe extern "C" fn(*mut Program) -> Status>(
                    "nvrtcDestroyProgram",
                )?,
                self.function::<unsafe extern "C" fn(Program, c_int, *const *const c_char) -> Status>(
                    "nvrtcCompileProgram",
                )?,
                self.function::<Size>("nvrtcGetPTXSize")?,
                self.function::<Text>("nvrtcGetPTX")?,
                self.function::<Size>("nvrtcGetProgramLogSize")?,
                self.function::<Text>("nvrtcGetProgramLog")?,
            )
        };
        let mut program: Program = ptr::null_mut();
        // SAFETY: The texts outlive the call and end in a zero; there are no headers.
        let status = unsafe {
            create(
                &raw mut program,
                source.as_ptr(),
                name_text.as_ptr(),
                0,
                ptr::null(),
                ptr::null(),
            )
        };
        self.succeeded("nvrtcCreateProgram", status)?;
        // SAFETY: The program was created above, and the number of options is right.
        let compiled = unsafe { compile(program, options.len() as c_int, options.as_ptr()) };
        let log = self.text(program, &log_size, &log);
        let image = match compiled {
            0 => self.text(program, &ptx_size, &ptx),
            _ => Ok(String::new()),
        };
        // SAFETY: The program was created above and is not used below.
        let destroyed = unsafe { destroy(&raw mut program) };

        let log = log?;
        ensure!(
            compiled == 0 && log.trim().is_empty(),
            "{name} does not compile without errors and warnings:\n{}",
            log.trim()
        );
        self.succeeded("nvrtcDestroyProgram", destroyed)?;
        image
    }

    /// A function of the library.
    ///
    /// # Safety
    /// `T` is its type.
    unsafe fn function<T>(&self, name: &'static str) -> Result<Symbol<'_, T>> {
        // SAFETY: The caller vouches for the type.
        let symbol = unsafe { self.library.get(name.as_bytes()) };
        symbol.with_context(|| format!("NVRTC has no {name}"))
    }

    /// A text of a program, given the functions that return its size and content.
    fn text(&self, program: Program, size: &Size, text: &Text) -> Result<String> {
        let mut bytes = 0;
        // SAFETY: The program is alive, and the size is written to a variable of its type.
        let status = unsafe { size(program, &raw mut bytes) };
        self.succeeded("asking for a size", status)?;
        let mut buffer = vec![0_u8; bytes];
        // SAFETY: The buffer has the size just returned.
        let status = unsafe { text(program, buffer.as_mut_ptr().cast()) };
        self.succeeded("asking for a text", status)?;
        // The size includes a terminating zero.
        while buffer.last() == Some(&0) {
            buffer.pop();
        }
        Ok(String::from_utf8(buffer)?)
    }

    /// Fails with the library's name of the error if a call failed.
    fn succeeded(&self, call: &str, status: Status) -> Result<()> {
        if status == 0 {
            return Ok(());
        }
        // SAFETY: The type is that of nvrtc.h; the name is a constant of the library.
        let name = unsafe {
            let name_of = self
                .function::<unsafe extern "C" fn(Status) -> *const c_char>("nvrtcGetErrorString")?;
            CStr::from_ptr(name_of(status))
        };
        anyhow::bail!("{call}: {}", name.to_string_lossy())
    }
}
