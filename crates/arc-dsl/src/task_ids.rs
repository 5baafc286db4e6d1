//! [`TaskIds`]: which task a program belongs to.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use crate::program::Program;

/// Names of programs that do not identify a task.
const SAYING_NOTHING: &[&str] = &["solve", "transform", "main", "p", "program"];

/// Names of files and folders that do not identify a task, without an `s` at their end.
const COMMON_NAMES: &[&str] = &[
    "answer",
    "arc",
    "challenge",
    "code",
    "data",
    "eval",
    "evaluation",
    "example",
    "json",
    "main",
    "p",
    "problem",
    "program",
    "puzzle",
    "py",
    "python",
    "sample",
    "solution",
    "solve",
    "solver",
    "src",
    "submission",
    "task",
    "test",
    "train",
    "training",
    "transform",
    "validation",
];

/// Words that may precede an id without a separator.
const BEFORE_ID: &[&str] = &["solve", "verify", "transform", "program", "task", "p"];

/// For names longer than this, only the whole name and its ends are looked up.
const LONGEST: usize = 1000;

/// The ids of known tasks, and which of them a program belongs to.
///
/// It is the longest id that occurs in the program's name, at its end or delimited by `_` or other signs. If there is
/// none, or if the name is `solve`, `transform`, `main`, `p` or `program`, the file name without the extension is
/// searched in the same way, and then the folder's, if the file's name is one like `solution`. A comment `# task: ID`
/// above the program takes precedence over all of them.
///
/// Tasks whose files have the same name in several folders have ids such as `easy/7`. A program with `7` in its name is
/// for those in whose folder its own file is, otherwise for each of them.
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
    /// The ids with folders in them, by their last parts.
    by_name: HashMap<&'a str, Vec<&'a str>>,
}

impl<'a> TaskIds<'a> {
    /// Creates the lookup for these ids.
    pub fn new(ids: impl IntoIterator<Item = &'a str>) -> Self {
        let mut ids: HashSet<_> = ids.into_iter().collect();
        let mut by_name: HashMap<_, Vec<_>> = HashMap::new();
        for &id in &ids {
            if let Some((_, name)) = id.rsplit_once('/').filter(|(_, name)| !ids.contains(name)) {
                by_name.entry(name).or_default().push(id);
            }
        }
        for ids in by_name.values_mut() {
            ids.sort_unstable();
        }
        ids.extend(by_name.keys());
        let longest = ids.iter().map(|id| id.len()).max().unwrap_or_default();
        Self {
            ids,
            longest,
            by_name,
        }
    }

    /// The id of the task that a program belongs to; `None` if there is none, or if it may belong to several.
    #[must_use]
    pub fn of(&self, program: &Program) -> Option<&'a str> {
        match self.all_of(program)[..] {
            [id] => Some(id),
            _ => None,
        }
    }

    /// The ids of the tasks that a program may belong to: several if these have one name, in several folders.
    #[must_use]
    pub fn all_of(&self, program: &Program) -> Vec<&'a str> {
        let Some(name) = self.name_of(program) else {
            return Vec::new();
        };
        let Some(ids) = self.by_name.get(name) else {
            return vec![name];
        };
        let source = program.source().map_or(Path::new(""), Path::new);
        let folders: Vec<_> = source
            .parent()
            .into_iter()
            .flat_map(Path::components)
            .collect();
        let is_beside = |id: &&&str| {
            let own: Vec<_> = Path::new(id)
                .parent()
                .into_iter()
                .flat_map(Path::components)
                .collect();
            folders.windows(own.len().max(1)).any(|part| part == own)
        };
        let beside: Vec<_> = ids.iter().filter(is_beside).copied().collect();
        if beside.is_empty() {
            ids.clone()
        } else {
            beside
        }
    }

    /// The id, or the last part of one, that a program names.
    fn name_of(&self, program: &Program) -> Option<&'a str> {
        if let Some(task) = program.task() {
            return self.ids.get(task).copied();
        }
        let by_name = || self.within(program.name());
        let by_file = || {
            let file = Path::new(program.source()?);
            let stem = file.file_stem()?.to_string_lossy();
            let of_folder = || {
                let folder = file.parent()?.file_name()?.to_string_lossy();
                says_no_task(&stem).then(|| self.within(&folder))?
            };
            self.within(&stem).or_else(of_folder)
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

/// Whether the name of a file or a folder does not identify a task, since files of any task or program may have it.
#[must_use]
pub fn says_no_task(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is_common = |name: &str| COMMON_NAMES.contains(&name);
    is_common(&name) || name.strip_suffix('s').is_some_and(is_common)
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
    fn where_the_file_says_nothing_its_folder_does() {
        let ids = ["11aa22bb", "row_swap_7"];
        for (name, file, expected) in [
            ("solve", "x/11aa22bb/solution.py", Some("11aa22bb")),
            ("p", "11aa22bb/main.py", Some("11aa22bb")),
            ("solve", "mine_row_swap_7/solve.py", Some("row_swap_7")),
            ("solve", "11aa22bb/row_swap_7.py", Some("row_swap_7")),
            ("solve", "11aa22bb/flip.py", None),
            (
                "solve_row_swap_7",
                "11aa22bb/solution.py",
                Some("row_swap_7"),
            ),
            ("solve", "solution.py", None),
        ] {
            assert_eq!(of(&ids, name, Some(file)), expected, "{name} in {file}");
        }
        assert!(says_no_task("Tasks") && says_no_task("solution") && !says_no_task("s"));
    }

    #[test]
    fn tasks_of_one_name_are_told_apart_by_their_folders() {
        let ids = TaskIds::new(["easy/7", "hard/7", "hard/8", "a/b/9", "c/b/9", "10", "x/10"]);
        let all_of = |name: &str, source: &str| {
            let builder = ProgramBuilder::new(name);
            let input = builder.input();
            ids.all_of(&builder.finish(input).unwrap().with_source(source))
        };
        for (name, source, expected) in [
            ("solve_7", "p.py", &["easy/7", "hard/7"][..]),
            ("solve_7", "easy/p.py", &["easy/7"]),
            ("solve", "/x/hard/7.py", &["hard/7"]),
            ("solve", "hard/7/solution.py", &["hard/7"]),
            ("solve_hard/7", "p.py", &["hard/7"]),
            ("solve_8", "p.py", &["hard/8"]),
            ("solve_9", "b/p.py", &["a/b/9", "c/b/9"]),
            ("solve_9", "c/b/p.py", &["c/b/9"]),
            ("solve_10", "x/p.py", &["10"]),
            ("solve_11", "p.py", &[]),
        ] {
            assert_eq!(all_of(name, source), expected, "{name} in {source}");
        }
        let read = |text: &str| crate::parse_programs(text).remove(0).unwrap();
        let program = read("# task: hard/7\ndef solve(I): return I\n");
        assert_eq!(ids.of(&program), Some("hard/7"));
        assert_eq!(ids.of(&read("def solve_7(I): return I\n")), None);
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
