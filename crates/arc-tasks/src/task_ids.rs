//! [`TaskIds`]: which task a program belongs to.

use std::collections::{HashMap, HashSet};
use std::path::{Component, Path, PathBuf};

use arc_dsl::Program;

/// Names of programs that do not identify a task.
const SAYING_NOTHING: &[&str] = &["solve", "transform", "main", "p", "program"];

/// Names of files and folders that do not identify a task, without an `s` at their end.
const COMMON_NAMES: &str = "answer arc attempt candidate challenge code completion data eval evaluation example json main output p \
     problem program puzzle py python response result run sample solution solve solver src submission task test \
     train training transform trial v validation version";

/// Words that may precede an id without a separator.
const BEFORE_ID: &[&str] = &["solve", "verify", "transform", "program", "task", "p"];

/// For names longer than this, only the whole name and its ends are looked up.
const LONGEST: usize = 1000;

/// Which of the known tasks a program belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnTask<'a> {
    /// None of them.
    None,
    /// The one with this id.
    One(&'a str),
    /// The one with the id `newest`, a later version of `named`, which is the program's own.
    Newest {
        /// The id that the program has.
        named: &'a str,
        /// The id of the newest version.
        newest: &'a str,
    },
    /// It has the ids of two tasks.
    Several(&'a str, &'a str),
}

impl<'a> OwnTask<'a> {
    /// The id of the task that the program is run on, if it is one.
    #[must_use]
    pub fn runs_on(self) -> Option<&'a str> {
        match self {
            OwnTask::One(id) | OwnTask::Newest { newest: id, .. } => Some(id),
            OwnTask::None | OwnTask::Several(..) => None,
        }
    }
}

/// The ids of known tasks, and which of them a program belongs to.
///
/// It is the longest id that occurs in the program's name, at its end or delimited by `_` or other signs. If there is
/// none, or if the name is `solve`, `transform`, `main`, `p` or `program`, the file name without the extension is
/// searched in the same way, and then the folder's, if the file's name is one like `solution` or `attempt_1`, or a
/// number, and so on for the folders around it. A comment `# task: ID`
/// above the program takes precedence over all of them.
///
/// Tasks whose files have the same name in several folders have ids such as `easy/7`. A program with `7` in its name is
/// for the one whose folder its name has too, as in `easy_7`, for those in whose folder its own file is, otherwise for
/// each of them.
///
/// A name with a second id beside the longest one belongs to neither; numbers of fewer than eight digits beside another
/// id do not count as ids. Of several versions of a task, such as `007bbfb7` and `007bbfb7_v2`, a program belongs to
/// the newest one, unless its name has a version.
///
/// ```
/// use arc_tasks::TaskIds;
/// use arc_text::parse_programs;
/// let program = parse_programs("def solve_row_swap_7(I): return I").remove(0)?;
/// let ids = TaskIds::new(["7", "row_swap_7", "swap"]);
/// assert_eq!(ids.of(&program), Some("row_swap_7"));
/// assert_eq!(ids.of(&program.clone().with_name("solve_7_again")), Some("7"));
/// let unnamed = program.with_name("solve").with_source("mine/row_swap_7.py");
/// assert_eq!(ids.of(&unnamed), Some("row_swap_7"));
/// # Ok::<(), arc_text::ParseError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct TaskIds<'a> {
    ids: HashSet<&'a str>,
    /// The newest version of a task by the id without it, with its number.
    newest: HashMap<&'a str, (u32, &'a str)>,
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
        let mut newest: HashMap<&str, (u32, &str)> = HashMap::new();
        for &id in &ids {
            if let Some((base, version)) = version_of(id) {
                let newest = newest.entry(base).or_insert((version, id));
                *newest = (*newest).max((version, id));
            }
        }
        let longest = ids.iter().map(|id| id.len()).max().unwrap_or_default();
        // A name may have an id without the version that all tasks have.
        let longest = newest.keys().map(|id| id.len()).fold(longest, usize::max);
        // Or the first version's number, which its id lacks.
        let longest = longest + FIRST.len();
        Self {
            ids,
            newest,
            longest,
            by_name,
        }
    }

    /// The id of the task that a program is run on; `None` if there is none, or if it may belong to several.
    #[must_use]
    pub fn of(&self, program: &Program) -> Option<&'a str> {
        match self.run_on(program, self.own(program))[..] {
            [id] => Some(id),
            _ => None,
        }
    }

    /// The ids of the tasks that a program is run on if this is [its own](Self::own): several if these have one name, in
    /// several folders.
    #[must_use]
    pub fn run_on(&self, program: &Program, own: OwnTask<'a>) -> Vec<&'a str> {
        let Some(name) = own.runs_on() else {
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
        let whole = whole_folder(source);
        let is_beside = |id: &&&str| {
            let folder = Path::new(id).parent().unwrap_or(Path::new(""));
            let own: Vec<_> = folder.components().collect();
            let is_given = folders.windows(own.len().max(1)).any(|part| part == own);
            is_given || whole.ends_with(folder)
        };
        let stem = source.file_stem().unwrap_or_default().to_string_lossy();
        let names = format!("_{}/_{stem}", program.name());
        let is_named = |id: &&&str| names.contains(&format!("_{}", id.replace('/', "_")));
        let named: Vec<_> = ids.iter().filter(is_named).copied().collect();
        let beside: Vec<_> = ids.iter().filter(is_beside).copied().collect();
        let meant = [named, beside].into_iter().find(|it| !it.is_empty());
        meant.unwrap_or_else(|| ids.clone())
    }

    /// The task that a program belongs to, or the last part of its id.
    #[must_use]
    pub fn own(&self, program: &Program) -> OwnTask<'a> {
        if let Some(task) = program.task() {
            let own = self.ids.get(task);
            return own.map_or(OwnTask::None, |id| OwnTask::One(id));
        }
        let by_name = || self.within(program.name());
        let by_file = || {
            let file = Path::new(program.source()?);
            let folders = file.ancestors().skip(1).map(Path::file_name);
            for name in [file.file_stem()].into_iter().chain(folders) {
                let name = name?.to_string_lossy();
                let found = self.within(&name);
                if found.is_some() || !is_common_name(&name) {
                    return found;
                }
            }
            None
        };
        let found = if program.is_named_by_file() || says_nothing(program.name()) {
            by_file().or_else(by_name)
        } else {
            by_name().or_else(by_file)
        };
        match found {
            None => OwnTask::None,
            Some((id, Some(other), _)) => OwnTask::Several(id, other),
            Some((first, None, true)) => OwnTask::One(first),
            Some((named, None, false)) => match self.newest.get(named) {
                Some(&(version, newest)) if version > 1 || !self.ids.contains(named) => {
                    OwnTask::Newest { named, newest }
                }
                _ => OwnTask::One(named),
            },
        }
    }

    /// The id, with or without a version, as the tasks have it.
    fn known(&self, id: &str) -> Option<&'a str> {
        let own = self.ids.get(id).copied();
        let own = own.or_else(|| self.newest.get_key_value(id).map(|(id, _)| *id));
        own.or_else(|| self.ids.get(id.strip_suffix(FIRST)?).copied())
    }

    /// The longest id in a name, delimited by signs or the ends of the name; of two equally long ones the later one.
    /// Another one beside it, if there is one, and whether the name says that it is the first version.
    fn within(&self, name: &str) -> Option<(&'a str, Option<&'a str>, bool)> {
        if let Some(id) = self.known(name) {
            return Some((id, None, id.len() < name.len()));
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
        let mut found: Vec<(usize, usize, &'a str)> = Vec::new();
        for &end in &ends {
            let starts = starts.iter().filter(|&&start| start < end);
            for &start in starts.filter(|&&start| end - start <= self.longest) {
                if let Some(id) = self.known(&name[start..end]) {
                    found.push((end - start, end, id));
                }
            }
        }
        let &(length, end, id) = found.iter().max()?;
        let base = |id: &'a str| version_of(id).map_or(id, |(base, _)| base);
        let is_number = |id: &str| id.len() < 8 && id.bytes().all(|byte| byte.is_ascii_digit());
        let others = found.iter().filter(|&&(other_length, other_end, other)| {
            let is_beside = other_end <= end - length || other_end - other_length >= end;
            is_beside && base(other) != base(id) && (!is_number(other) || is_number(id))
        });
        let other = others.max().map(|(_, _, other)| *other);
        Some((id, other, id.len() < length))
    }
}

/// The folder of a file from the root on, without `.` and `..`, however the file was given.
#[must_use]
pub fn whole_folder(file: &Path) -> PathBuf {
    let whole = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let mut folder = PathBuf::new();
    for part in whole.parent().into_iter().flat_map(Path::components) {
        if part == Component::ParentDir {
            folder.pop();
        } else {
            folder.push(part);
        }
    }
    folder
}

/// What a name may have behind the id of a task's first version.
const FIRST: &str = "_v1";

/// Whether the name of a file or a folder does not identify a task, since files of any task or program may have it.
#[must_use]
pub fn says_no_task(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is_common = |name: &str| COMMON_NAMES.split(' ').any(|common| common == name);
    is_common(&name) || name.strip_suffix('s').is_some_and(is_common)
}

/// The same of a name that may have a number behind it.
#[must_use]
pub fn is_common_name(name: &str) -> bool {
    let word = name.trim_end_matches(|c: char| c.is_ascii_digit() || "_-".contains(c));
    word.is_empty() || says_no_task(word)
}

/// The id of a task without its version, and the version: `("007bbfb7", 2)` of `007bbfb7_v2`.
fn version_of(id: &str) -> Option<(&str, u32)> {
    let (base, version) = id.rsplit_once(['_', '-', '.'])?;
    let digits = version.strip_prefix(['v', 'V'])?;
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let number = digits.parse().ok().filter(|_| is_number)?;
    (!base.is_empty()).then_some((base, number))
}

/// Whether a program's name does not identify its task.
#[must_use]
pub fn says_nothing(name: &str) -> bool {
    SAYING_NOTHING.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arc_dsl::ProgramBuilder;

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
    fn a_first_version_has_the_id_alone() {
        let ids = ["ab12cd34", "ab12cd34_v2", "x"];
        for (name, expected) in [
            ("solve_ab12cd34", "ab12cd34_v2"),
            ("solve_ab12cd34_v1", "ab12cd34"),
            ("ab12cd34_v1", "ab12cd34"),
            ("solve_ab12cd34_v1_b", "ab12cd34"),
            ("solve_ab12cd34_v2", "ab12cd34_v2"),
            ("solve_ab12cd34_v3", "ab12cd34_v2"),
        ] {
            assert_eq!(of(&ids, name, None), Some(expected), "{name}");
        }
        let ids = ["ab12cd34_v1", "ab12cd34_v2"];
        assert_eq!(of(&ids, "solve_ab12cd34_v1", None), Some("ab12cd34_v1"));
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
            ("solve", "11aa22bb/attempt_1.py", Some("11aa22bb")),
            ("solve", "11aa22bb/Solution2.py", Some("11aa22bb")),
            ("solve", "11aa22bb/0.py", Some("11aa22bb")),
            ("solve", "11aa22bb/v1.py", Some("11aa22bb")),
            ("p", "x/11aa22bb/run-2/attempt_1/main.py", Some("11aa22bb")),
            ("p", "11aa22bb/mine/main.py", None),
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
            let program = builder.finish(input).unwrap().with_source(source);
            ids.run_on(&program, ids.own(&program))
        };
        for (name, source, expected) in [
            ("solve_7", "p.py", &["easy/7", "hard/7"][..]),
            ("solve_7", "easy/p.py", &["easy/7"]),
            ("solve", "/x/hard/7.py", &["hard/7"]),
            ("solve", "hard/7/solution.py", &["hard/7"]),
            ("solve_hard/7", "p.py", &["hard/7"]),
            ("solve_hard_7", "p.py", &["hard/7"]),
            ("solve_hard_7", "easy/p.py", &["hard/7"]),
            ("solve_uneasy_7", "p.py", &["easy/7", "hard/7"]),
            ("solve", "easy_7.py", &["easy/7"]),
            ("solve_8", "p.py", &["hard/8"]),
            ("solve_9", "b/p.py", &["a/b/9", "c/b/9"]),
            ("solve_9", "c/b/p.py", &["c/b/9"]),
            ("solve_10", "x/p.py", &["10"]),
            ("solve_11", "p.py", &[]),
        ] {
            assert_eq!(all_of(name, source), expected, "{name} in {source}");
        }
        let read = |text: &str| arc_text::parse_programs(text).remove(0).unwrap();
        let program = read("# task: hard/7\n\n\n# why\n\n@cache\ndef solve(I): return I\n");
        assert_eq!(ids.of(&program), Some("hard/7"));
        assert_eq!(ids.of(&read("def solve_7(I): return I\n")), None);
    }

    #[test]
    fn a_file_that_is_given_without_its_folder_is_in_it_all_the_same() {
        let here = std::env::current_dir().unwrap();
        let folder = here.file_name().unwrap().to_string_lossy();
        let above = here.parent().unwrap().file_name().unwrap();
        let above = above.to_string_lossy();
        let ids = [format!("{folder}/7"), format!("{above}/7")];
        let ids = TaskIds::new(ids.iter().map(String::as_str));
        let all_of = |source: &str| {
            let program = arc_text::parse_programs("def solve_7(I): return I").remove(0);
            let program = program.unwrap().with_source(source);
            ids.run_on(&program, ids.own(&program))
        };
        for source in ["p.py", "./p.py", "x/../p.py", "x/.././p.py"] {
            assert_eq!(all_of(source), [format!("{folder}/7")], "{source}");
        }
        assert_eq!(all_of("../p.py"), [format!("{above}/7")]);
        assert_eq!(all_of("x/p.py").len(), 2);
        assert_eq!(whole_folder(Path::new("/a/./b/../c/7")), Path::new("/a/c"));
    }

    #[test]
    fn what_the_text_says_comes_first() {
        let ids = TaskIds::new(["7", "a b"]);
        let read = |text: &str| arc_text::parse_programs(text).remove(0).unwrap();
        let program = read("# task: a b\ndef solve_7(I): return I\n");
        assert_eq!(ids.of(&program), Some("a b"));
        let program = read("# task: \"\\u0061 b\"\n# mine\n@cache\ndef solve_7(I): return I\n");
        assert_eq!(ids.of(&program), Some("a b"));
        let program = read("# task: other\ndef solve_7(I): return I\n");
        assert_eq!(ids.of(&program), None);
        let program = read("# task: a b\n\ndef solve_7(I): return I\n");
        assert_eq!(ids.of(&program), Some("a b"));
        let program = read("# task: a b\nx = 1\ndef solve_7(I): return I\n");
        assert_eq!(ids.of(&program), Some("7"));
    }

    #[test]
    fn of_several_versions_the_newest_one_counts() {
        let read = |name: &str| {
            arc_text::parse_programs(&format!("def {name}(I): return I"))
                .remove(0)
                .unwrap()
        };
        let newest = |named, newest| OwnTask::Newest { named, newest };
        let old = "11aa22bb";
        for (ids, name, expected) in [
            (
                &[old, "11aa22bb_v2"][..],
                "solve_11aa22bb",
                newest(old, "11aa22bb_v2"),
            ),
            (
                &["11aa22bb_v2"],
                "solve_11aa22bb",
                newest(old, "11aa22bb_v2"),
            ),
            (
                &["11aa22bb_v2", "11aa22bb_v10", old],
                "solve_11aa22bb_7",
                newest(old, "11aa22bb_v10"),
            ),
            (
                &["11aa22bb_v2", "11aa22bb_v3"],
                "solve_11aa22bb_v2",
                OwnTask::One("11aa22bb_v2"),
            ),
            (
                &[old, "11aa22bb_v3"],
                "solve_11aa22bb_v2",
                newest(old, "11aa22bb_v3"),
            ),
            // A program's own version.
            (&[old], "solve_11aa22bb_v2", OwnTask::One(old)),
            (&[old, "11aa22bb_v1"], "solve_11aa22bb", OwnTask::One(old)),
            (
                &["11aa22bb_v1"],
                "solve_11aa22bb",
                newest(old, "11aa22bb_v1"),
            ),
            (&["11aa22bb_vx", "v2"], "solve_11aa22bb", OwnTask::None),
        ] {
            let ids = TaskIds::new(ids.iter().copied());
            assert_eq!(ids.own(&read(name)), expected, "{name}");
        }
        // What is said is meant.
        let ids = TaskIds::new([old, "11aa22bb_v2"]);
        let program = read("solve").with_task(old);
        assert_eq!(ids.own(&program), OwnTask::One(old));
    }

    #[test]
    fn a_name_with_two_ids_belongs_to_neither() {
        let ids = [
            "11aa22bb",
            "33cc44dd",
            "33cc44dd_v2",
            "flip",
            "flip_swap",
            "swap",
            "7",
            "12",
        ];
        let ids = TaskIds::new(ids);
        for (name, expected) in [
            (
                "solve_11aa22bb_33cc44dd",
                OwnTask::Several("33cc44dd", "11aa22bb"),
            ),
            (
                "solve_33cc44dd_11aa22bb",
                OwnTask::Several("11aa22bb", "33cc44dd"),
            ),
            (
                "solve_11aa22bb_like_33cc44dd_v2",
                OwnTask::Several("33cc44dd_v2", "11aa22bb"),
            ),
            ("solve_swap_of_flip", OwnTask::Several("flip", "swap")),
            ("solve_7_12", OwnTask::Several("12", "7")),
            // One is the whole.
            ("solve_flip_swap", OwnTask::One("flip_swap")),
            ("solve_11aa22bb_11aa22bb", OwnTask::One("11aa22bb")),
            ("solve_33cc44dd_33cc44dd_v2", OwnTask::One("33cc44dd_v2")),
            // The number of the program.
            ("solve_11aa22bb_7", OwnTask::One("11aa22bb")),
        ] {
            let program = arc_text::parse_programs(&format!("def {name}(I): return I")).remove(0);
            let program = program.unwrap();
            assert_eq!(ids.own(&program), expected, "{name}");
            let file = program
                .clone()
                .with_name("solve")
                .with_source(format!("a/{}.py", &name[6..]));
            assert_eq!(ids.own(&file), expected, "{name}");
            assert_eq!(ids.own(&program.with_task("flip")), OwnTask::One("flip"));
        }
    }
}
