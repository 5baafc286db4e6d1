//! The project's own commands, run as `cargo xtask`.

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
mod lines;
mod msrv;
mod ptx;
mod python;
mod sanitize;
mod wheel;

/// The project's own commands.
#[derive(Debug, Parser)]
#[command(bin_name = "cargo xtask")]
enum Command {
    /// Runs all tests; if `ARC_DATA_DIR` is set, also those that read every ARC task.
    Test,
    /// Checks formatting, lints, documentation, generated files and the oldest supported Rust, runs all tests, and
    /// checks the documents.
    Ci {
        /// Also checks kernels that have not changed since they were last checked
        /// (kernels/checked.txt): against their PTX, and under the sanitizers.
        #[arg(long)]
        all: bool,
    },
    /// Fails if files of a crate depend on each other in a circle, and lists the dependencies.
    Circles,
    /// Generates files from the code: parts of docs/dialects.md and docs/form.md, and kernels/interface.cuh; and
    /// checks the links of all pages.
    Docs {
        /// Writes nothing; fails if a file is out of date or a link is broken.
        #[arg(long)]
        check: bool,
    },
    /// Builds an optimised mega-batch and runs `mega-batch bench`, which writes to benches/results.
    Bench {
        /// The cargo profile of the build.
        #[arg(long, default_value = "release")]
        profile: String,
        /// Arguments of `mega-batch bench`, such as `--quick`.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Prints how many lines of production code the command and the wheel link, by crate; fails if a crate has more
    /// than in xtask/lines.txt.
    Lines {
        /// Writes the counts to that file instead.
        #[arg(long)]
        write: bool,
    },
    /// Compares all primitives and programs with the Python reference.
    Conformance(conformance::Arguments),
    /// Counts the calls in programs and writes the table of costs for searches:
    /// crates/arc-search/src/language/costs.txt.
    Costs(costs::Arguments),
    /// Builds kernels/ptx/programs.ptx from the kernels.
    Ptx(ptx::Arguments),
    /// Tests the kernels, compiled for the host by GCC, under the address and undefined behaviour sanitizers.
    Sanitize,
    /// Fuzzes parsers and evaluators with libFuzzer.
    Fuzz(fuzz::Arguments),
    /// Writes two folders to upload to Kaggle: a dataset with the engine, and a notebook that runs it.
    Kaggle(kaggle::Arguments),
    /// Follows docs/extending.md in a copy of the project.
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
        Command::Lines { write } => lines::run(&root, write),
        Command::Conformance(arguments) => conformance::run(&root, &arguments),
        Command::Costs(arguments) => costs::run(&root, &arguments),
        Command::Ptx(arguments) => ptx::run(&root, &arguments),
        Command::Sanitize => sanitize::run(&root).map(|skipped| {
            if let Some(reason) = skipped {
                println!("kernels under the sanitizers: skipped: {reason}");
            }
        }),
        Command::Fuzz(arguments) => fuzz::run(&root, &arguments),
        Command::Kaggle(arguments) => kaggle::run(&root, arguments),
        Command::Walkthrough => python::run(python::PYTHON, &root, "walkthrough.py", [&root]),
        Command::Wheel(arguments) => wheel::run(&root, arguments),
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
