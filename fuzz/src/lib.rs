//! Fuzz targets: functions that take any bytes and panic where the engine has a fault.
//!
//! A target says what has to hold of whatever it is given: nothing panics, what is read and written is read
//! as the same, and all evaluators agree. `cargo xtask fuzz` lets libFuzzer look for bytes of which that does
//! not hold; the tests of this crate replay those that it has found worth keeping, under `corpus/TARGET`, and
//! those that once made a target fall, under `regressions/TARGET`, with every compiler and without libFuzzer.

mod evaluators;
mod files;
mod texts;

/// A fuzz target.
#[derive(Debug)]
pub struct Target {
    /// What it is called, and the folder with its inputs.
    pub name: &'static str,
    /// Tries it on these bytes.
    ///
    /// # Panics
    /// Where something does not hold of them.
    pub run: fn(&[u8]),
}

/// All targets.
pub const TARGETS: &[Target] = &[
    Target {
        name: "task",
        run: texts::task,
    },
    Target {
        name: "program",
        run: texts::program,
    },
    Target {
        name: "typed",
        run: texts::typed,
    },
    Target {
        name: "batt",
        run: texts::batt,
    },
    Target {
        name: "form",
        run: texts::form,
    },
    Target {
        name: "language",
        run: texts::language,
    },
    Target {
        name: "search_costs",
        run: texts::search_costs,
    },
    Target {
        name: "ptx",
        run: texts::ptx,
    },
    Target {
        name: "checkpoint",
        run: files::checkpoint,
    },
    Target {
        name: "packed",
        run: files::packed,
    },
    Target {
        name: "input_file",
        run: files::input_file,
    },
    Target {
        name: "evaluators",
        run: evaluators::host,
    },
    Target {
        name: "devices",
        run: evaluators::devices,
    },
];

/// The target of this name.
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}
