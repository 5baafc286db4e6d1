//! Compiles the kernels for the host if there is a C++ compiler: `cfg(emulated)`.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::{fs, io};

fn main() {
    println!("cargo::rustc-check-cfg=cfg(emulated)");
    println!("cargo::rustc-check-cfg=cfg(sanitized)");
    println!("cargo::rerun-if-env-changed=ARC_SANITIZE");
    // Set by the build script of arc-kernels.
    let kernels = std::env::var_os("DEP_ARC_KERNELS_SOURCES").unwrap_or_default();
    let kernels = Path::new(&kernels);
    let host = kernels.join("host");
    if std::env::var_os("CARGO_FEATURE_EMULATED").is_none() || !host.is_dir() {
        // Not requested, or a copy of the crate without the kernels.
        return;
    }
    println!("cargo::rerun-if-changed={}", kernels.display());
    let unix = std::env::var_os("CARGO_CFG_UNIX").is_some();
    if !unix || !matches!(compiler().is_flag_supported("-std=c++17"), Ok(true)) {
        return;
    }
    println!("cargo::rustc-cfg=emulated");
    let sources = sources(kernels).expect("the sources of the kernels");
    library("arc_emulation", &host.join("emulation.cpp"), &sources, true);
    // Kernels for tests: the tests link this library themselves, where they declare the kernels.
    library(
        "arc_emulation_tests",
        &host.join("tests.cpp"),
        &sources,
        false,
    );
    if sanitized() {
        println!("cargo::rustc-cfg=sanitized");
        println!("cargo::rustc-link-lib=asan");
        println!("cargo::rustc-link-lib=ubsan");
    }
}

/// The content of all files that a kernel may include.
fn sources(folder: &Path) -> io::Result<BTreeMap<PathBuf, Vec<u8>>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            all.extend(sources(&path)?);
        } else if path.extension().is_some_and(|it| it != "ptx" && it != "rs") {
            all.insert(path.clone(), fs::read(&path)?);
        }
    }
    Ok(all)
}

/// Compiles a file into a library. Cargo runs this again for each profile and for Clippy, so a library already built
/// from the same sources by the same compiler is reused from the target folder.
fn library(name: &str, file: &Path, sources: &BTreeMap<PathBuf, Vec<u8>>, is_linked: bool) {
    let mut build = compiler();
    build.file(file);
    let tool = build.get_compiler();
    let mut hasher = DefaultHasher::new();
    (tool.path(), tool.args(), sanitized(), file, sources).hash(&mut hasher);
    let out = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default());
    // target/PROFILE/build/PACKAGE/out
    let target = out.ancestors().nth(4).unwrap_or(&out);
    let cached = target.join(format!("emulated/{name}-{:016x}.a", hasher.finish()));
    let library = out.join(format!("lib{name}.a"));
    if fs::copy(&cached, &library).is_err() {
        build.cargo_metadata(false).compile(name);
        // Under a temporary name first: several builds may run at once.
        let temporary = cached.with_extension(std::process::id().to_string());
        let store = || {
            fs::create_dir_all(target.join("emulated"))?;
            fs::copy(&library, &temporary)?;
            fs::rename(&temporary, &cached)
        };
        if let Err(error) = store() {
            println!(
                "cargo::warning={}: cannot be cached: {error}",
                cached.display()
            );
        }
    }
    if is_linked {
        println!("cargo::rustc-link-lib=static={name}");
        println!("cargo::rustc-link-search=native={}", out.display());
    }
}

/// Whether to compile the kernels for the address and undefined behaviour sanitizers:
/// `cargo xtask sanitize`.
fn sanitized() -> bool {
    std::env::var_os("ARC_SANITIZE").is_some_and(|value| value == "1")
}

/// The compiler with its options. Without exceptions and run-time type information, nothing of the C++ library needs to
/// be linked.
fn compiler() -> cc::Build {
    let mut build = cc::Build::new();
    build
        .cpp(true)
        .cpp_link_stdlib(None)
        .opt_level(2)
        .debug(false)
        .warnings(false)
        // Errors of the compiler reach cargo as warnings of this script; of warnings there are to be none.
        .flag_if_supported("-w")
        .flag("-std=c++17")
        .flag("-fno-exceptions")
        .flag("-fno-rtti")
        // The code switches stacks, which a processor's shadow stack would not follow.
        .flag_if_supported("-fcf-protection=none")
        .flag_if_supported("-Wno-unknown-pragmas");
    if sanitized() {
        build
            .flag("-fsanitize=address,undefined")
            .flag("-fno-sanitize-recover=all")
            .flag("-fno-omit-frame-pointer")
            .flag("-g")
            .define("EMULATION_SANITIZE", "1");
    } else {
        // A GPU has everything inlined where it is called. On the host that takes six times as long to compile.
        build.define("always_inline", "unused");
    }
    build
}
