//! `libcuda.so`: the functions of the library, for a dynamic linker to find.

pub use cuda_stand_in::calls::*;
