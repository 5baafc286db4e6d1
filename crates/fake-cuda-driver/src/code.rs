//! The codes that this driver returns without fault injection: `CUresult` of the driver's API.

pub(crate) const INVALID_VALUE: i32 = 1;
pub(crate) const OUT_OF_MEMORY: i32 = 2;
pub(crate) const NOT_INITIALIZED: i32 = 3;
pub(crate) const INVALID_DEVICE: i32 = 101;
pub(crate) const INVALID_CONTEXT: i32 = 201;
pub(crate) const INVALID_PTX: i32 = 218;
pub(crate) const INVALID_HANDLE: i32 = 400;
pub(crate) const NOT_FOUND: i32 = 500;
pub(crate) const NOT_READY: i32 = 600;
pub(crate) const ILLEGAL_ADDRESS: i32 = 700;

/// Codes that break a context: every later call returns the same code.
const STICKY: [i32; 13] = [
    214, 220, 226, 700, 702, 710, 714, 715, 716, 717, 718, 719, 999,
];

pub(crate) fn is_sticky(code: i32) -> bool {
    STICKY.contains(&code)
}

/// The driver's names, zero-terminated for C.
const NAMES: [(i32, &str); 32] = [
    (0, "CUDA_SUCCESS\0"),
    (1, "CUDA_ERROR_INVALID_VALUE\0"),
    (2, "CUDA_ERROR_OUT_OF_MEMORY\0"),
    (3, "CUDA_ERROR_NOT_INITIALIZED\0"),
    (4, "CUDA_ERROR_DEINITIALIZED\0"),
    (34, "CUDA_ERROR_STUB_LIBRARY\0"),
    (46, "CUDA_ERROR_DEVICE_UNAVAILABLE\0"),
    (100, "CUDA_ERROR_NO_DEVICE\0"),
    (101, "CUDA_ERROR_INVALID_DEVICE\0"),
    (200, "CUDA_ERROR_INVALID_IMAGE\0"),
    (201, "CUDA_ERROR_INVALID_CONTEXT\0"),
    (209, "CUDA_ERROR_NO_BINARY_FOR_GPU\0"),
    (214, "CUDA_ERROR_ECC_UNCORRECTABLE\0"),
    (218, "CUDA_ERROR_INVALID_PTX\0"),
    (220, "CUDA_ERROR_NVLINK_UNCORRECTABLE\0"),
    (222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION\0"),
    (226, "CUDA_ERROR_CONTAINED\0"),
    (400, "CUDA_ERROR_INVALID_HANDLE\0"),
    (500, "CUDA_ERROR_NOT_FOUND\0"),
    (600, "CUDA_ERROR_NOT_READY\0"),
    (700, "CUDA_ERROR_ILLEGAL_ADDRESS\0"),
    (701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES\0"),
    (702, "CUDA_ERROR_LAUNCH_TIMEOUT\0"),
    (709, "CUDA_ERROR_CONTEXT_IS_DESTROYED\0"),
    (710, "CUDA_ERROR_ASSERT\0"),
    (714, "CUDA_ERROR_HARDWARE_STACK_ERROR\0"),
    (715, "CUDA_ERROR_ILLEGAL_INSTRUCTION\0"),
    (716, "CUDA_ERROR_MISALIGNED_ADDRESS\0"),
    (717, "CUDA_ERROR_INVALID_ADDRESS_SPACE\0"),
    (718, "CUDA_ERROR_INVALID_PC\0"),
    (719, "CUDA_ERROR_LAUNCH_FAILED\0"),
    (999, "CUDA_ERROR_UNKNOWN\0"),
];

/// The name of a code, which ends in a zero.
pub(crate) fn name(code: i32) -> Option<&'static str> {
    let named = NAMES.iter().find(|(number, _)| *number == code);
    named.map(|(_, name)| *name)
}
