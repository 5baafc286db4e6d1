//! Tells the build script of gpu-sim where the kernel sources are.

use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Read at run time: the checkout may have moved since this was compiled.
    let project = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    let kernels = Path::new(&project).join("kernels");
    println!("cargo::metadata=sources={}", kernels.display());
}
