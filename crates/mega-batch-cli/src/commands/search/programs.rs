//! The programs of attempts as one text.

use std::collections::HashSet;

use arc_tasks::Task;
use mega_batch::search::{Searched, program_name};

use crate::commands::output::Destination;

/// Writes the programs of all attempts, grouped by task, the best first. Returns how many there are.
///
/// If a task's id cannot be part of a name, a comment above the program gives it; if several ids lead to the same
/// name, the later programs are numbered.
pub(super) fn write(
    tasks: &[Task],
    results: &[(usize, Searched)],
    to: Destination,
) -> anyhow::Result<usize> {
    let mut names = HashSet::new();
    to.write(|out| {
        writeln!(out, "from dsl import *")?;
        writeln!(out, "from constants import *")?;
        for (at, searched) in results {
            let comment = task_comment(&tasks[*at].id);
            for attempt in &searched.attempts {
                let program = unique(&attempt.program, &tasks[*at].id, &mut names);
                write!(out, "\n\n{comment}{program}")?;
            }
        }
        Ok(())
    })?;
    Ok(names.len())
}

/// The text of a function, renamed if its name is taken.
fn unique(function: &str, id: &str, names: &mut HashSet<String>) -> String {
    let name = function
        .strip_prefix("def ")
        .and_then(|it| it.split('(').next());
    let given = name.unwrap_or_default();
    let mut name = given.to_owned();
    // Past the number of a task's second attempt.
    let mut number = 3;
    while !names.insert(name.clone()) {
        name = program_name(number, id);
        number += 1;
    }
    function.replacen(given, &name, 1)
}

/// The comment with the task of a program, if its name cannot say it.
fn task_comment(id: &str) -> String {
    if !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return String::new();
    }
    let is_plain = id == id.trim() && !id.starts_with('"') && !id.chars().any(char::is_control);
    if is_plain && !id.is_empty() {
        format!("# task: {id}\n")
    } else {
        format!("# task: {}\n", serde_json::Value::from(id))
    }
}

#[cfg(test)]
mod tests {
    use arc_tasks::TaskIds;
    use arc_text::parse_programs;

    use super::*;

    #[test]
    fn no_two_programs_have_one_name() {
        let mut names = HashSet::new();
        let mut named = |id| {
            let text = format!("def {}(I):\n    return I\n", program_name(0, id));
            unique(&text, id, &mut names)
        };
        assert_eq!(named("a-b"), "def solve_a_b(I):\n    return I\n");
        assert_eq!(named("a_b"), "def attempt4_a_b(I):\n    return I\n");
        assert_eq!(named("a b"), "def attempt5_a_b(I):\n    return I\n");
        assert_eq!(named("c"), "def solve_c(I):\n    return I\n");
    }

    #[test]
    fn every_id_is_read_back() {
        for id in [
            "007bbfb7",
            "row_swap_7",
            "7",
            "a b",
            "1d-flip",
            " a ",
            "\"quoted\"",
            "a\nb",
            "é",
            "",
            "a.b",
            "\u{2028}",
            "solve",
            "a#b",
            "\r",
        ] {
            let name = program_name(0, id);
            let text = format!(
                "from dsl import *\n\n\n{}def {name}(I):\n    return I\n",
                task_comment(id)
            );
            let programs = parse_programs(&text);
            let [Ok(program)] = &programs[..] else {
                panic!("{text}{programs:?}")
            };
            let ids = TaskIds::new([id, "7", "b", "swap_7", "flip"]);
            assert_eq!(ids.of(program), Some(id), "{text}");
        }
    }
}
