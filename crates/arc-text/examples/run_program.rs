//! Parses a program from text and runs it on a grid.
//!
//! `cargo run --package arc-dsl --example run_program`

use arc_dsl::{Grid, Interpreter};
use arc_text::parse_programs;

const TEXT: &str = "\
def solve_mirrored(I):
    \"\"\" The input with its mirror image at its right. \"\"\"
    x1 = vmirror(I)
    O = hconcat(I, x1)
    return O

def solve_misspelt(I):
    O = vmiror(I)
    return O

def solve_failing(I):
    x1 = height(I)
    O = vmirror(x1)
    return O
";

fn main() -> Result<(), arc_dsl::GridError> {
    let input = Grid::from_rows(&[[1, 2, 3], [4, 5, 6]])?;
    let mut interpreter = Interpreter::default();
    for program in parse_programs(TEXT) {
        let program = match program {
            Ok(program) => program,
            Err(error) => {
                println!("not a program: {error}\n");
                continue;
            }
        };
        match interpreter.run(&program, input.clone()) {
            Ok(output) => {
                println!("{} gives {output}", program.name());
                if let Some(grid) = output.as_grid() {
                    println!("{}", grid.to_ansi());
                }
            }
            Err(error) => println!("{} failed: {error}\n", program.name()),
        }
    }
    Ok(())
}
