//! Assembles the PTX for GPUs of each generation and reports registers, spills and code size.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use super::elf;

/// GPUs of each generation: P100, T4, A100, L4, H100, and the 50 series.
const ARCHITECTURES: [u32; 6] = [60, 75, 80, 89, 90, 120];

/// An expected warning of the assembler; all others are errors.
#[derive(Debug)]
pub(crate) struct Exception {
    /// The function's name in quotes in the warning's text, such as `'arc_copy'`.
    function: &'static str,
    /// Another part of the text, such as `stack frame`.
    warning: &'static str,
    /// The affected architectures.
    architectures: &'static [u32],
    /// Why it is expected.
    why: &'static str,
}

impl Exception {
    fn explains(&self, architecture: u32, warning: &str) -> bool {
        self.architectures.contains(&architecture)
            && warning.contains(self.function)
            && warning.contains(self.warning)
    }
}

/// All expected warnings.
pub(crate) const EXCEPTIONS: &[Exception] = &[];

/// One function of the image, assembled.
#[derive(Debug, Default, PartialEq, Eq)]
struct Function {
    name: String,
    /// Registers per thread, reported for a kernel but not for a function that it calls.
    registers: Option<u32>,
    stack: u32,
    spill_stores: u32,
    spill_loads: u32,
    /// Bytes of static shared memory.
    shared: u32,
    /// Bytes of machine code, including the functions in it.
    code: Option<u64>,
}

/// The image, assembled for one architecture.
#[derive(Debug)]
pub(crate) struct Report {
    architecture: u32,
    functions: Vec<Function>,
    warnings: Vec<String>,
}

/// The assembler.
#[derive(Debug)]
pub(crate) struct Ptxas {
    path: PathBuf,
}

impl Ptxas {
    /// The assembler of an unpacked wheel.
    pub(crate) fn new(wheel: &Path) -> Self {
        Self {
            path: wheel.join("nvidia/cuda_nvcc/bin/ptxas"),
        }
    }

    /// A report per architecture.
    pub(crate) fn assemble_for_all(&self, image: &Path) -> Result<Vec<Report>> {
        let folder = tempfile::tempdir()?;
        let assemble = |architecture| {
            let object = folder.path().join(format!("sm_{architecture}.cubin"));
            self.assemble(image, architecture, &object)
        };
        ARCHITECTURES.into_iter().map(assemble).collect()
    }

    fn assemble(&self, image: &Path, architecture: u32, object: &Path) -> Result<Report> {
        // Without -Werror: warnings become errors below, except for the expected ones.
        let output = Command::new(&self.path)
            .args(["-v", "--warn-on-spills", "--warn-on-local-memory-usage"])
            .arg(format!("-arch=sm_{architecture}"))
            .arg(image)
            .arg("-o")
            .arg(object)
            .output()
            .with_context(|| format!("{} cannot be run", self.path.display()))?;
        let log = [output.stdout, output.stderr].concat();
        let log = String::from_utf8_lossy(&log);
        ensure!(
            output.status.success(),
            "the PTX does not assemble for sm_{architecture}:\n{}",
            log.trim()
        );
        let object = std::fs::read(object).with_context(|| object.display().to_string())?;
        let mut report = parse(architecture, &log);
        for function in &mut report.functions {
            function.code = elf::section_size(&object, &format!(".text.{}", function.name));
        }
        Ok(report)
    }
}

/// Parses the output of `ptxas -v`.
fn parse(architecture: u32, log: &str) -> Report {
    let mut report = Report {
        architecture,
        functions: Vec::new(),
        warnings: Vec::new(),
    };
    for line in log.lines() {
        let said = line
            .split_once(" : ")
            .map_or(line, |(_, said)| said)
            .trim_start();
        if line.starts_with("ptxas warning") {
            report.warnings.push(said.to_owned());
        } else if let Some(name) = said.strip_prefix("Function properties for ") {
            report.functions.push(Function {
                name: name.trim().to_owned(),
                ..Function::default()
            });
        } else if let Some(function) = report.functions.last_mut() {
            for part in said.strip_prefix("Used ").unwrap_or(said).split(',') {
                let Some((number, what)) = part.trim().split_once(' ') else {
                    continue;
                };
                let Ok(number) = number.parse() else {
                    continue;
                };
                match what {
                    "registers" => function.registers = Some(number),
                    "bytes stack frame" => function.stack = number,
                    "bytes spill stores" => function.spill_stores = number,
                    "bytes spill loads" => function.spill_loads = number,
                    "bytes smem" => function.shared = number,
                    _ => {}
                }
            }
        }
    }
    report
}

/// A table of the kernels by architecture, and of the functions that they call if these use local memory.
pub(crate) fn table(reports: &[Report]) -> String {
    let mut text = format!(
        "{:<24}{:>8}{:>11}{:>8}{:>8}{:>8}{:>8}{:>9}\n",
        "kernel", "for", "registers", "stored", "loaded", "stack", "shared", "code"
    );
    for report in reports {
        for function in &report.functions {
            let local = function.stack + function.spill_stores + function.spill_loads;
            if function.registers.is_none() && local == 0 {
                continue;
            }
            let number = |number: Option<u64>| number.map_or("-".to_owned(), |n| n.to_string());
            let _ = writeln!(
                text,
                "{:<24}{:>8}{:>11}{:>8}{:>8}{:>8}{:>8}{:>9}",
                function.name,
                format!("sm_{}", report.architecture),
                number(function.registers.map(u64::from)),
                function.spill_stores,
                function.spill_loads,
                function.stack,
                function.shared,
                number(function.code)
            );
        }
    }
    text + "stored and loaded are bytes of spills; stack, shared and code are bytes\n"
}

/// The warnings without an exception, and the exceptions without a warning.
pub(crate) fn complaints(reports: &[Report], exceptions: &[Exception]) -> Vec<String> {
    let warnings = || {
        reports.iter().flat_map(|report| {
            let warnings = report.warnings.iter();
            warnings.map(|warning| (report.architecture, warning.as_str()))
        })
    };
    let unexplained = warnings()
        .filter(|(architecture, warning)| {
            !exceptions
                .iter()
                .any(|exception| exception.explains(*architecture, warning))
        })
        .map(|(architecture, warning)| format!("sm_{architecture}: {warning}"));
    let idle = exceptions
        .iter()
        .filter(|exception| !warnings().any(|(a, warning)| exception.explains(a, warning)))
        .map(|exception| format!("there is no longer a warning of which: {}", exception.why));
    unexplained.chain(idle).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The output of ptxas 12.9 for a kernel with spills and one that calls a function.
    const LOG: &str = "\
ptxas warning : Local memory used for function 'arc_b', size of stack frame: 592 bytes
ptxas warning : Registers are spilled to local memory in function 'arc_b', 736 bytes spill stores, 884 bytes spill loads
ptxas info    : 304 bytes gmem, 8 bytes cmem[3], 304 bytes cmem[4]
ptxas info    : Compiling entry function 'arc_b' for 'sm_60'
ptxas info    : Function properties for arc_b
    592 bytes stack frame, 736 bytes spill stores, 884 bytes spill loads
ptxas info    : Used 32 registers, used 1 barriers, 592 bytes cumulative stack size, 328 bytes cmem[0]
ptxas info    : Compile time = 38.025 ms
ptxas info    : Compiling entry function 'arc_a' for 'sm_60'
ptxas info    : Function properties for arc_a
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 13 registers, used 0 barriers, 1024 bytes smem, 328 bytes cmem[0]
ptxas info    : Function properties for _Z6helperjj
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
";

    #[test]
    fn functions_and_warnings_are_read() {
        let report = parse(60, LOG);
        let expected = [
            Function {
                name: "arc_b".to_owned(),
                registers: Some(32),
                stack: 592,
                spill_stores: 736,
                spill_loads: 884,
                ..Function::default()
            },
            Function {
                name: "arc_a".to_owned(),
                registers: Some(13),
                shared: 1024,
                ..Function::default()
            },
            Function {
                name: "_Z6helperjj".to_owned(),
                ..Function::default()
            },
        ];
        assert_eq!(report.functions, expected);
        assert_eq!(report.warnings.len(), 2);
        assert!(report.warnings[0].starts_with("Local memory used for function 'arc_b'"));
    }

    #[test]
    fn the_table_leaves_out_functions_without_local_memory() {
        let table = table(&[parse(60, LOG)]);
        let rows: Vec<Vec<_>> = table
            .lines()
            .map(|line| line.split_whitespace().collect())
            .collect();
        assert_eq!(
            rows[1],
            ["arc_b", "sm_60", "32", "736", "884", "592", "0", "-"]
        );
        assert_eq!(rows[2][..3], ["arc_a", "sm_60", "13"]);
        assert!(!table.contains("helper"));
    }

    #[test]
    fn a_warning_needs_an_exception_and_an_exception_a_warning() {
        let reports = [parse(60, LOG)];
        assert_eq!(complaints(&reports, &[]).len(), 2);
        let exception = |warning, architectures| Exception {
            function: "'arc_b'",
            warning,
            architectures,
            why: "of a test",
        };
        let both = [
            exception("stack frame", &[60]),
            exception("spill stores", &[60, 75]),
        ];
        assert!(complaints(&reports, &both).is_empty());
        let elsewhere = [both[0].warning, both[1].warning].map(|w| exception(w, &[75]));
        let complaints = complaints(&reports, &elsewhere);
        assert_eq!(complaints.len(), 4);
        assert!(complaints[0].starts_with("sm_60: Local memory used"));
        assert!(complaints[3].ends_with("of a test"));
    }
}
