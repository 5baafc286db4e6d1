//! Compiles the kernels for the host, where there is a C++ compiler: `cfg(emulated)`.

use std::path::Path;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(emulated)");
    println!("cargo::rustc-check-cfg=cfg(sanitized)");
    println!("cargo::rerun-if-env-changed=ARC_SANITIZE");
    // Asked for when this runs: a checkout may have moved since this was compiled.
    let project = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    let kernels = Path::new(&project).join("../../kernels");
    let host = kernels.join("host");
    if std::env::var_os("CARGO_FEATURE_EMULATED").is_none() || !host.is_dir() {
        // Not asked for, or the crate alone, without the project.
        return;
    }
    println!("cargo::rerun-if-changed={}", kernels.display());
    let unix = std::env::var_os("CARGO_CFG_UNIX").is_some();
    if !unix || !matches!(compiler().is_flag_supported("-std=c++17"), Ok(true)) {
        return;
    }
    println!("cargo::rustc-cfg=emulated");
    compiler()
        .file(host.join("emulation.cpp"))
        .compile("arc_emulation");
    // Kernels for tests: only these name the library, beside their declarations.
    compiler()
        .file(host.join("tests.cpp"))
        .cargo_metadata(false)
        .compile("arc_emulation_tests");
    if sanitized() {
        println!("cargo::rustc-cfg=sanitized");
        println!("cargo::rustc-link-lib=asan");
        println!("cargo::rustc-link-lib=ubsan");
    }
}

/// Whether the kernels are to be compiled for the address and undefined behaviour sanitizers:
/// `cargo xtask sanitize`.
fn sanitized() -> bool {
    std::env::var_os("ARC_SANITIZE").is_some_and(|value| value == "1")
}

/// How a file is compiled. Without exceptions and run-time types nothing of the C++ library is
/// linked.
fn compiler() -> cc::Build {
    let mut build = cc::Build::new();
    build
        .cpp(true)
        .cpp_link_stdlib(None)
        .opt_level(2)
        .warnings(false)
        .cargo_warnings(false)
        .flag("-std=c++17")
        .flag("-fno-exceptions")
        .flag("-fno-rtti")
        // Stacks are switched, which a processor's shadow stack would not know.
        .flag_if_supported("-fcf-protection=none")
        .flag_if_supported("-Wno-unknown-pragmas");
    if sanitized() {
        build
            .flag("-fsanitize=address,undefined")
            .flag("-fno-sanitize-recover=all")
            .flag("-fno-omit-frame-pointer")
            .flag("-g")
            .define("EMULATION_SANITIZE", "1");
    }
    build
}
