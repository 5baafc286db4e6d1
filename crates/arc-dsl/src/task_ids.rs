//! [`TaskIds`]: which task a program belongs to.

use std::collections::HashSet;
use std::path::Path;

use crate::program::Program;

/// Names of programs that do not identify a task.
const SAYING_NOTHING: &[&str] = &["solve", "transform", "main", "p", "program"];

/// Words that may precede an id without a separator.
const BEFORE_ID: &[&str] = &["solve", "verify", "transform", "program", "task", "p"];

/// For names longer than this, only the whole name and its ends are looked up.
const LONGEST: usize = 1000;

/// The ids of known tasks, and which of them a program belongs to.
///
/// It is the longest id that occurs in the program's name, at its end or delimited by `_` or other signs. If there is
/// none, or if the name is `solve`, `transform`, `main`, `p` or `program`, the file name without the extension is
/// searched in the same way. A comment `# task: ID` above the program takes precedence over both.
///
/// ```
/// use arc_dsl::{TaskIds, parse_programs};
/// let program = parse_programs("def solve_row_swap_7(I): return I").remove(0)?;
/// let ids = TaskIds::new(["7", "row_swap_7", "swap"]);
/// assert_eq!(ids.of(&program), Some("row_swap_7"));
/// assert_eq!(ids.of(&program.clone().with_name("solve_7_again")), Some("7"));
/// let unnamed = program.with_name("solve").with_source("mine/row_swap_7.py");
/// assert_eq!(ids.of(&unnamed), Some("row_swap_7"));
/// # Ok::<(), arc_dsl::ParseError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct TaskIds<'a> {
    ids: HashSet<&'a str>,
    longest: usize,
}

impl<'a> TaskIds<'a> {
    /// Creates the lookup for these ids.
    pub fn new(ids: impl IntoIterator<Item = &'a str>) -> Self {
        let ids: HashSet<_> = ids.into_iter().collect();
        let longest = ids.iter().map(|id| id.len()).max().unwrap_or_default();
        Self { ids, longest }
    }

    /// The id of the task that a program belongs to.
    #[must_use]
    pub fn of(&self, program: &Program) -> Option<&'a str> {
        if let Some(task) = program.task() {
            return self.ids.get(task).copied();
        }
        let by_name = || self.within(program.name());
        let by_file = || {
            let stem = Path::new(program.source()?).file_stem()?;
            self.within(&stem.to_string_lossy())
        };
        if program.is_named_by_file() || says_nothing(program.name()) {
            by_file().or_else(by_name)
        } else {
            by_name().or_else(by_file)
        }
    }

    /// The longest id in a name, delimited by signs or the ends of the name; of two equally long ones the later one.
    fn within(&self, name: &str) -> Option<&'a str> {
        if let Some(id) = self.ids.get(name) {
            return Some(id);
        }
        let is_sign = |c: char| !c.is_alphanumeric();
        let mut starts = vec![0];
        let word = BEFORE_ID.iter().find_map(|word| name.strip_prefix(word));
        starts.extend(word.map(|rest| name.len() - rest.len()));
        let signs = name.match_indices(is_sign);
        starts.extend(signs.map(|(at, sign)| at + sign.len()));
        let mut ends = vec![name.len()];
        if name.len() <= LONGEST {
            let signs = name.match_indices(is_sign);
            ends.extend(signs.map(|(at, _)| at));
        }
        let mut found: Option<(usize, usize)> = None;
        for &end in &ends {
            for &start in starts
                .iter()
                .filter(|&&start| start < end && end - start <= self.longest)
            {
                let place = (end - start, end);
                if found.is_none_or(|best| best < place) && self.ids.contains(&name[start..end]) {
                    found = Some(place);
                }
            }
        }
        let (length, end) = found?;
        self.ids.get(&name[end - length..end]).copied()
    }
}

/// Whether a program's name does not identify its task.
#[must_use]
pub fn says_nothing(name: &str) -> bool {
    SAYING_NOTHING.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::ProgramBuilder;

    fn of(ids: &[&'static str], name: &str, source: Option<&str>) -> Option<&'static str> {
        let builder = ProgramBuilder::new(name);
        let input = builder.input();
        let mut program = builder.finish(input).unwrap();
        if let Some(source) = source {
            program = program.with_source(source);
        }
        TaskIds::new(ids.iter().copied()).of(&program)
    }

    #[test]
    fn the_longest_id_in_a_name_counts() {
        let ids = [
            "7",
            "row_swap_7",
            "row_swap",
            "1d-flip 3",
            "00576224",
            "ab12cd34",
        ];
        for (name, expected) in [
            ("solve_row_swap_7", Some("row_swap_7")),
            ("solve_row_swap_8", Some("row_swap")),
            ("solve_7", Some("7")),
            ("solve_17", None),
            ("solve7", Some("7")),
            ("solve17", None),
            ("row_swap_7", Some("row_swap_7")),
            ("solve_00576224", Some("00576224")),
            ("solve_ab12cd34_v2", Some("ab12cd34")),
            ("solve_ab12cd34_7", Some("ab12cd34")),
            ("arrow_swapped", None),
            ("solve", None),
            ("é_7_ü", Some("7")),
        ] {
            assert_eq!(of(&ids, name, None), expected, "{name}");
        }
    }

    #[test]
    fn where_the_name_says_nothing_the_file_does() {
        let ids = ["7", "row_swap_7", "1d-flip 3"];
        for (name, file, expected) in [
            ("solve", "a/row_swap_7.py", Some("row_swap_7")),
            ("p", "7.py", Some("7")),
            ("main", "1d-flip 3.py", Some("1d-flip 3")),
            ("transform", "mine-1d-flip 3.v2.py", Some("1d-flip 3")),
            ("flip", "row_swap_7.py", Some("row_swap_7")),
            ("solve_7", "row_swap_7.py", Some("7")),
            ("program", "8.py", None),
        ] {
            assert_eq!(of(&ids, name, Some(file)), expected, "{name} in {file}");
        }
        assert_eq!(of(&["p"], "p", Some("a.py")), Some("p"));
    }

    #[test]
    fn what_the_text_says_comes_first() {
        let ids = TaskIds::new(["7", "a b"]);
        let read = |text: &str| crate::parse_programs(text).remove(0).unwrap();
        let program = read("# task: a b\ndef solve_7(I): return I\n");
        assert_eq!(ids.of(&program), Some("a b"));
        let program = read("# task: \"\\u0061 b\"\n# mine\n@cache\ndef solve_7(I): return I\n");
        assert_eq!(ids.of(&program), Some("a b"));
        let program = read("# task: other\ndef solve_7(I): return I\n");
        assert_eq!(ids.of(&program), None);
        let program = read("# task: a b\n\ndef solve_7(I): return I\n");
        assert_eq!(ids.of(&program), Some("7"));
    }
}
