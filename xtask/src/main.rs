//! The project's own commands.

use std::path::Path;
use anyhow::Result;
use clap::Parser;

mod conformance;

#[derive(Parser)]
enum Cli {
    /// conformance
    Conformance(conformance::Arguments),
}

fn main() -> Result<()> {
    match Cli::parse() {
        Cli::Conformance(arguments) => conformance::run(Path::new("."), &arguments),
    }
}
