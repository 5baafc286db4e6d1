//! Records the commit that the binary is built from, so that a copy of it can report it.

use std::path::Path;
use std::process::Command;

/// What the binary depends on, relative to this folder.
const SOURCES: [&str; 15] = [
    "../../Cargo.lock",
    "../arc-check/src",
    "../arc-cpu/src",
    "../arc-dsl/src",
    "../arc-form/src",
    "../arc-isa/src",
    "../arc-search/src",
    "../arc-tasks/src",
    "../arc-text/src",
    "../gpu-kernels/src",
    "../gpu-sched/src",
    "../mega-batch/src",
    "../python-pool/src",
    "../../kernels/ptx",
    "src",
];

/// The output of git, if it succeeds.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let said = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| said.trim().to_owned())
}

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for source in SOURCES {
        println!("cargo::rerun-if-changed={source}");
    }
    // The log grows with each commit and checkout.
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"]);
    if let Some(log) = log.filter(|log| Path::new(log).exists()) {
        println!("cargo::rerun-if-changed={log}");
    }
    // Outside a checkout of this project the commit is not known.
    let root = Path::new("../..").canonicalize().ok();
    let top = git(&["rev-parse", "--show-toplevel"]);
    if top.and_then(|top| Path::new(&top).canonicalize().ok()) != root {
        return;
    }
    let Some(commit) = git(&["rev-parse", "--short=12", "HEAD"]) else {
        return;
    };
    let status = ["status", "--porcelain", "--"];
    let changed = git(&[&status[..], &SOURCES].concat());
    let mark = if changed.is_none_or(|changed| changed.is_empty()) {
        ""
    } else {
        "-dirty"
    };
    println!("cargo::rustc-env=MEGA_BATCH_COMMIT={commit}{mark}");
}
