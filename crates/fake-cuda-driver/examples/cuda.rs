//! `libcuda.so`: the functions of the library, for a dynamic linker to find.

pub use fake_cuda_driver::calls::*;
