//! Tells the build script of gpu-sim where the kernel sources are.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Read at run time: the checkout may have moved since this was compiled.
    let folder = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    println!("cargo::metadata=sources={folder}");
}
