//! Assembles the PTX for GPUs of each generation and reports registers, spills and code size.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use object::LittleEndian;
use object::elf::FileHeader64;
use object::read::elf::{FileHeader as _, SectionHeader as _};

/// GPUs of each generation: P100, T4, A100, L4, H100, and the 50 series.
const ARCHITECTURES: [u32; 6] = [60, 75, 80, 89, 90, 120];

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

/// A report per architecture, by the assembler of an unpacked wheel.
pub(crate) fn assemble_for_all(wheel: &Path, image: &Path) -> Result<Vec<Report>> {
    let ptxas = wheel.join("nvidia/cuda_nvcc/bin/ptxas");
    let folder = tempfile::tempdir()?;
    let assemble = |architecture| {
        let object = folder.path().join(format!("sm_{architecture}.cubin"));
        assemble(&ptxas, image, architecture, &object)
    };
    ARCHITECTURES.into_iter().map(assemble).collect()
}

fn assemble(ptxas: &Path, image: &Path, architecture: u32, object: &Path) -> Result<Report> {
    // Without -Werror, so that the caller lists all warnings.
    let output = Command::new(ptxas)
        .args(["-v", "--warn-on-spills", "--warn-on-local-memory-usage"])
        .arg(format!("-arch=sm_{architecture}"))
        .arg(image)
        .arg("-o")
        .arg(object)
        .output()
        .with_context(|| format!("{} cannot be run", ptxas.display()))?;
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
        function.code = section_size(&object, &format!(".text.{}", function.name));
    }
    Ok(report)
}

/// The bytes of a section of an ELF file; `None` if there is none.
fn section_size(file: &[u8], name: &str) -> Option<u64> {
    let header = FileHeader64::<LittleEndian>::parse(file).ok()?;
    let sections = header.sections(LittleEndian, file).ok()?;
    let (_, section) = sections.section_by_name(LittleEndian, name.as_bytes())?;
    Some(section.sh_size(LittleEndian))
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

/// All warnings.
pub(crate) fn warnings(reports: &[Report]) -> Vec<String> {
    let warnings = reports.iter().flat_map(|report| {
        let told = |warning| format!("sm_{}: {warning}", report.architecture);
        report.warnings.iter().map(told)
    });
    warnings.collect()
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
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    fn a_section_is_found_by_its_name() {
        let file = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        assert!(section_size(&file, ".text").is_some_and(|size| size > 0));
        assert_eq!(section_size(&file, ".text.a"), None);
        assert_eq!(section_size(b"PK\x03\x04 and more", ".text"), None);
    }

    #[test]
    fn a_warning_names_its_architecture() {
        let warnings = warnings(&[parse(60, LOG)]);
        assert_eq!(warnings.len(), 2);
        assert!(warnings[0].starts_with("sm_60: Local memory used"));
    }
}
