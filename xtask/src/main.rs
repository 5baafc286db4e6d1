//! The project's own commands, by way of `cargo xtask`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::Parser;

mod cargo;
mod ci;
mod circles;
mod conformance;
mod costs;
mod docs;
mod fuzz;
mod kaggle;
mod msrv;
mod ptx;
mod sanitize;
mod site;
mod walkthrough;
mod wheel;

/// The project's own commands.
#[derive(Debug, Parser)]
#[command(bin_name = "cargo xtask")]
enum Command {
    /// Runs all tests, with `ARC_DATA_DIR` set those that read every ARC task too.
    Test,
    /// Checks formatting, lints, documentation, generated files and the oldest Rust that is supported, runs all tests, and
    /// follows the documents.
    Ci {
        /// Checks the kernels too where they are as they were when they were checked last
        /// (crates/gpu-kernels/kernels/checked.txt): against their PTX, and under the sanitizers.
        #[arg(long)]
        all: bool,
    },
    /// Fails where files of a crate need each other in a circle, and says what ties them.
    Circles,
    /// Writes what is made of the code: docs/primitives.md, docs/device-interface.md, parts of
    /// docs/form.md, and crates/gpu-kernels/kernels/interface.cuh; and checks the links of all pages.
    Docs {
        /// Writes nothing; fails where a file is out of date or a link leads nowhere.
        #[arg(long)]
        check: bool,
    },
    /// Builds mega-batch for speed and runs `mega-batch bench`, which writes into benches/results.
    Bench {
        /// The profile of cargo for which it is built.
        #[arg(long, default_value = "release")]
        profile: String,
        /// What `mega-batch bench` is to be told, as `--quick`.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Compares all primitives and programs with the Python reference.
    Conformance(conformance::Arguments),
    /// Counts what programs call and writes the table by which a search goes through programs:
    /// crates/arc-search/src/language/costs.txt.
    Costs(costs::Arguments),
    /// Builds crates/gpu-kernels/kernels/ptx/programs.ptx from the kernels.
    Ptx(ptx::Arguments),
    /// Tests the kernels, compiled for the host by GCC, under the sanitizers of addresses and of
    /// undefined behaviour.
    Sanitize,
    /// Looks for inputs of which something does not hold that has to, by libFuzzer.
    Fuzz(fuzz::Arguments),
    /// Makes two folders to upload to Kaggle: a dataset with the engine, and a notebook that runs it.
    Kaggle(kaggle::Arguments),
    /// Builds the site of the Python package, where `MkDocs` is installed.
    Site(site::Arguments),
    /// Follows docs/adding-a-primitive.md and docs/adding-a-rewrite.md in a copy of the project.
    Walkthrough,
    /// Builds the Python package, and tests it in a fresh environment.
    Wheel(wheel::Arguments),
}

fn main() -> ExitCode {
    let result = root().and_then(|root| match Command::parse() {
        Command::Test => cargo::test(&root),
        Command::Ci { all } => ci::run(&root, all),
        Command::Circles => circles::run(&root),
        Command::Docs { check } => docs::run(&root, check),
        Command::Bench { profile, arguments } => cargo::bench(&root, &profile, &arguments),
        Command::Conformance(arguments) => conformance::run(&root, &arguments),
        Command::Costs(arguments) => costs::run(&root, &arguments),
        Command::Ptx(arguments) => ptx::run(&root, &arguments),
        Command::Sanitize => sanitize::run(&root).map(|skipped| {
            if let Some(reason) = skipped {
                println!("kernels under the sanitizers: skipped: {reason}");
            }
        }),
        Command::Fuzz(arguments) => fuzz::run(&root, &arguments),
        Command::Kaggle(arguments) => kaggle::run(&root, &arguments),
        Command::Site(arguments) => site::run(&root, &arguments),
        Command::Walkthrough => walkthrough::run(&root),
        Command::Wheel(arguments) => wheel::run(&root, &arguments),
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The root of the project.
fn root() -> Result<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    root.map(Path::to_owned).context("xtask lies in no project")
}
