//! The programs of attempts as one text.

use arc_dsl::{Task, parse_programs};
use mega_batch::escaped;
use mega_batch::search::Searched;

use crate::commands::output::Destination;
use crate::commands::warn;

/// Writes the programs of all attempts, those of a task after each other, the best one first.
///
/// One that could not be read again as a program of its task, since the id is no name, is left out and told.
pub(super) fn write(
    tasks: &[Task],
    results: &[(usize, Searched)],
    to: Destination,
) -> anyhow::Result<()> {
    to.write(|out| {
        writeln!(out, "from dsl import *")?;
        writeln!(out, "from constants import *")?;
        for (at, searched) in results {
            let id = &tasks[*at].id;
            for attempt in &searched.attempts {
                if is_of_task(&attempt.program, id) {
                    write!(out, "\n\n{}", attempt.program)?;
                } else {
                    let id = escaped(id);
                    warn(format_args!(
                        "{id}: no programs are written: expected an id of letters and digits"
                    ));
                    break;
                }
            }
        }
        Ok(())
    })
}

/// Whether it is read as one program, whose name says that it is of this task.
fn is_of_task(program: &str, id: &str) -> bool {
    let mut programs = parse_programs(program).into_iter();
    let first = programs.next();
    let is_own = first.is_some_and(|read| read.is_ok_and(|program| program.task_id() == id));
    is_own && programs.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_are_no_names_are_seen() {
        let program = |name: &str| format!("def {name}(I):\n    O = vmirror(I)\n    return O\n");
        assert!(is_of_task(&program("second_007bbfb7"), "007bbfb7"));
        assert!(!is_of_task(&program("solve_my_task"), "my_task"));
        assert!(!is_of_task(&program("solve_a b"), "a b"));
        assert!(!is_of_task(&(program("solve_a") + &program("b_a")), "a"));
    }
}
