//! The project's own commands.

use anyhow::Result;
use clap::Parser;
use std::path::Path;

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
