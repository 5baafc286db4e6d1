//! `costs`: counts the calls in programs, for the costs of a search.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use arc_dsl::{Callee, Dialect, Operand, Program};
use arc_search::language::{Producer, UseCounts};
use arc_text::parse_programs;
use xxhash_rust::xxh3::Xxh3;

/// The path of the table.
const TABLE: &str = "crates/arc-search/src/language/costs.txt";

/// Arguments of `costs`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Files of programs of the public dialect.
    #[arg(long, value_name = "FILE", num_args = 1.., required = true)]
    programs: Vec<PathBuf>,
}

/// Reads the programs, writes the table, and prints a summary.
pub(crate) fn run(root: &Path, arguments: &Arguments) -> Result<()> {
    let mut found = CountedPrograms::default();
    for path in &arguments.programs {
        let shown = path.display().to_string();
        let text = std::fs::read_to_string(path).with_context(|| shown.clone())?;
        found.read(&shown, &text);
    }
    for skipped in &found.skipped {
        eprintln!("skipped: {skipped}");
    }
    ensure!(found.programs > 0, "there is no program to count");
    let path = root.join(TABLE);
    std::fs::write(&path, found.table()).with_context(|| path.display().to_string())?;
    print!("{}", found.summary());
    Ok(())
}

/// The counts of files of programs.
#[derive(Default)]
struct CountedPrograms {
    /// The counts of all programs, and their number.
    counts: UseCounts,
    programs: usize,
    /// Programs that could not be counted, with place and reason.
    skipped: Vec<String>,
    /// Of all texts in order.
    digest: Xxh3,
}

impl CountedPrograms {
    /// Counts the programs of a file.
    fn read(&mut self, file: &str, text: &str) {
        self.digest.update(text.as_bytes());
        for program in parse_programs(text) {
            match program {
                Ok(program) if program.dialect() == Dialect::Public => {
                    self.counts.add(&count(&program));
                    self.programs += 1;
                }
                Ok(program) => {
                    let (line, name) = (program.line(), program.name());
                    let reason = format!("`{name}` is not of the public dialect");
                    self.skipped.push(format!("{file}: line {line}: {reason}"));
                }
                Err(error) => self.skipped.push(format!("{file}: {error}")),
            }
        }
    }

    /// The table with its header.
    fn table(&self) -> String {
        format!(
            "# What programs call and on what, counted by `cargo xtask costs`; not to be edited.\n\
             # Of {} programs with {} calls; XXH3 of their text {:016x}.\n{}",
            self.programs,
            calls(&self.counts),
            self.digest.digest(),
            self.counts
        )
    }

    /// The totals.
    fn summary(&self) -> String {
        let uses: u64 = self.counts.uses().map(|(_, count)| u64::from(count)).sum();
        format!(
            "{} programs, {} calls with {uses} arguments; {} skipped\n",
            self.programs,
            calls(&self.counts),
            self.skipped.len()
        )
    }
}

/// The number of calls.
fn calls(counts: &UseCounts) -> u64 {
    counts.calls().map(|(_, count)| u64::from(count)).sum()
}

/// The calls of a program. The result of calling a function value comes from the primitive that created the function;
/// such a call is not counted, nor are its arguments.
fn count(program: &Program) -> UseCounts {
    let mut counts = UseCounts::default();
    // The producer of each variable.
    let mut variables = vec![Producer::Input; program.inputs().len()];
    for step in program.steps() {
        let made = match step.callee {
            Callee::Primitive(primitive) => {
                let arguments = step.arguments.iter();
                let producers: Vec<_> =
                    arguments.map(|given| producer(&variables, given)).collect();
                counts.call(primitive, &producers);
                Producer::Result(primitive)
            }
            Callee::Slot(function) => variables[function.index()],
            // Calls of another dialect, whose programs are skipped.
            Callee::Typed(_) => Producer::Input,
        };
        variables.push(made);
    }
    counts
}

/// The producer of an argument.
fn producer(variables: &[Producer], argument: &Operand) -> Producer {
    match argument {
        Operand::Slot(slot) => variables[slot.index()],
        Operand::Primitive(primitive) => Producer::Function(*primitive),
        Operand::Constant(constant) => Producer::Constant(*constant),
        Operand::Literal(value) => Producer::Literal(value.kind()),
    }
}

#[cfg(test)]
mod tests {
    use arc_search::language::Costs;

    use super::*;

    const PROGRAMS: &str = "
def solve_a(I):
    x1 = objects(I, T, F, True)
    x2 = compose(size, toindices)
    x3 = argmax(x1, x2)
    x4 = x2(x3)
    x5 = multiply(x4, 2)
    O = fill(I, TWO, x3)
    return O

def solve_wrong(I):
    return rot91(I)

def solve_b(I):
    return fill(fill(I, TWO, ofcolor(I, 3)), x1, I)

def solve_c(grid):
    return fill(fill(grid, TWO, ofcolor(grid, 3)), THREE, frozenset({(0, 0)}))
";

    fn found(text: &str) -> CountedPrograms {
        let mut found = CountedPrograms::default();
        found.read("programs.py", text);
        found
    }

    #[test]
    fn a_file_of_programs_is_counted_byte_for_byte() {
        let found = found(PROGRAMS);
        let digest = xxhash_rust::xxh3::xxh3_64(PROGRAMS.as_bytes());
        let expected = format!(
            "\
# What programs call and on what, counted by `cargo xtask costs`; not to be edited.
# Of 2 programs with 8 calls; XXH3 of their text {digest:016x}.
multiply 1
multiply 0 1 compose
multiply 1 1 literal:Integer
compose 1
compose 0 1 function:size
compose 1 1 function:toindices
argmax 1
argmax 0 1 objects
argmax 1 1 compose
ofcolor 1
ofcolor 0 1 I
ofcolor 1 1 literal:Integer
objects 1
objects 0 1 I
objects 1 1 T
objects 2 1 F
objects 3 1 literal:Boolean
fill 3
fill 0 2 I
fill 0 1 fill
fill 1 2 TWO
fill 1 1 THREE
fill 2 1 argmax ofcolor literal:Indices
"
        );
        assert_eq!(found.table(), expected);
        // The search can parse the table.
        assert!(Costs::parse(&found.table()).is_ok());
    }

    #[test]
    fn what_is_skipped_is_named_by_file_and_line() {
        let typed = "def solve_d(S, I, C):\n    return rot90(I)\n";
        let mut found = found(PROGRAMS);
        found.read("typed.py", typed);
        let skipped = [
            "programs.py: line 12, column 12: unknown primitive `rot91`, did you mean `rot90`?",
            "programs.py: line 15, column 46: unknown name `x1`, expected a variable, a primitive or a constant",
            "typed.py: line 1: `solve_d` is not of the public dialect",
        ];
        assert_eq!(found.skipped, skipped);
        let summary = "2 programs, 8 calls with 21 arguments; 3 skipped\n";
        assert_eq!(found.summary(), summary);
    }

    #[test]
    fn without_a_program_nothing_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("none.py");
        std::fs::write(&file, "from dsl import *\n").unwrap();
        let arguments = Arguments {
            programs: vec![file],
        };
        let error = run(folder.path(), &arguments).unwrap_err();
        assert_eq!(error.to_string(), "there is no program to count");
    }

    #[test]
    fn the_table_lies_where_the_search_reads_it() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join(TABLE).parent().unwrap()).unwrap();
        let file = folder.path().join("programs.py");
        std::fs::write(&file, PROGRAMS).unwrap();
        let programs = vec![file];
        run(folder.path(), &Arguments { programs }).unwrap();
        let written = std::fs::read_to_string(folder.path().join(TABLE)).unwrap();
        assert_eq!(written, found(PROGRAMS).table());
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        assert!(root.join(TABLE).is_file());
    }
}
