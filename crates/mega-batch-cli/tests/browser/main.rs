//! The page of the report in a real browser. Without Chromium the tests are ignored, and say so; `CHROMIUM` names the
//! program if it is not on the path.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by a panic, its helpers too"
)]

use std::process::ExitCode;

#[cfg(unix)]
mod chromium;
#[path = "../sample/mod.rs"]
mod sample;
#[cfg(unix)]
mod tests;

#[cfg(unix)]
fn main() -> ExitCode {
    use libtest_mimic::{Arguments, Trial};

    let program = chromium::find();
    if program.is_none() {
        eprintln!("the report in a browser: skipped: there is no Chromium");
    }
    let trials = tests::ALL.map(|(name, test)| {
        let (program, missing) = (program.clone(), program.is_none());
        let run = move || {
            let program = program.ok_or("there is no Chromium")?;
            Ok(test(&program)?)
        };
        Trial::test(format!("browser::{name}"), run).with_ignored_flag(missing)
    });
    libtest_mimic::run(&Arguments::from_args(), trials.into()).exit_code()
}

/// The browser is driven through inherited file descriptors.
#[cfg(not(unix))]
fn main() -> ExitCode {
    eprintln!("the report in a browser: skipped: this is not Unix");
    ExitCode::SUCCESS
}
